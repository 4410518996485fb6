/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shrinking: the living ranks of a failed comm agree on their list and make a
 * comm of it.
 *
 *	rank              chief: the lowest living rank
 *	CALL  ----------->        alive, and shrinks
 *	      <-----------  CALL  query to ranks not heard of
 *	LEFT  ----------->        no process here belongs to it any more
 *	      <-----------  WAIT  call received, @missing has not called
 *	      <-----------  READY all living ranks have called: tag, frame size,
 *	                          nodes and epochs of the heir
 *	ACCEPT ---------->        tag installed
 *	      <-----------  GO    all have installed it
 *	      <-----------  OUT   the others continued without this rank
 *
 * A rank is gone if its node has restarted or is unreachable, both for longer
 * than tor_comm_watch() would wait, or if its node reports that no process there
 * has the comm open (LEFT). All others are waited for. The chief alone decides
 * who belongs to the heir, so all that accept agree.
 *
 * Everything is keyed by the lineage, which a comm shares with all its heirs,
 * and members are identified by their nodes. A rank may therefore shrink the
 * comm that failed first or an heir of it: if the chief dies while its GO is in
 * flight, some ranks already have the heir and others fall back. The former see
 * the heir fail as soon as they use it, since its chief is dead, shrink it, and
 * meet the others in the next agreement. For the same reason nothing has to be
 * undone: an agreement that breaks ends with @again, and starts again with
 * fresh state.
 *
 * Messages are repeated until their answer comes. Serialisation: the node's
 * join lock, as for joins.
 */
#ifndef _TOR_CORE_SHRINK_H
#define _TOR_CORE_SHRINK_H

#include "core/agree/agree.h"

/* What a node has of a lineage. */
enum tor_heritage {
	TOR_HERITAGE_NONE,		/* no process has a comm of it open */
	TOR_HERITAGE_COMMON,		/* a process has one with the asking node as a member */
	TOR_HERITAGE_WITHOUT,		/* a process has one, without the asking node */
};

/**
 * struct tor_shrink_rank - state of a rank
 * @lost: time from which it has been unreachable, ns; 0: it is reachable
 * @unit: payload bytes per frame that it offered, 0: none
 * @heard: enum tor_agree_heard
 * @gone: has left, or was unreachable for too long at the last look; never the
 *	own rank
 * @chosen: belongs to the heir; known to the chief
 */
struct tor_shrink_rank {
	u64 lost;
	u32 unit;
	u8 heard;
	bool gone;
	bool chosen;
};

/**
 * struct tor_shrink - one call to shrink a comm
 * @a: the agreement on the heir, whose ranks it counts; its missing rank is one
 *	of @from
 * @from: the failed comm; stays until the call is over
 * @of: by rank of @from
 * @chief: rank of @from that collects the others
 * @rank: own rank in the heir
 * @member, @order: as in struct tor_comm, as long as a.epoch
 * @whole: rank i is node i, for all nodes
 * @decided: payload bytes per frame chosen by the chief, not agreed yet
 * @again: it must be called again, from the beginning
 * @looked: ranks of @from that the present walk has looked at
 * @considered: the chief only: ranks of @from whose membership is decided
 * @sorted: steps of sorting the list that are done
 * @checked: entries of the sorted list that are checked
 * @sane: the checked entries are valid
 * @living: no rank below it lives
 * @waited_for: the chief only: number of ranks that are waited for
 * @absent: the chief only: no rank below it is waited for
 * @doomed: number of chosen ranks that are gone
 */
struct tor_shrink {
	struct tor_agree a;
	const struct tor_comm *from;
	struct tor_shrink_rank *of;
	u32 chief;
	u32 rank;
	u32 *member;
	u32 *order;
	bool whole;
	u32 decided;
	bool again;
	u32 looked;
	u32 considered;
	u32 sorted;
	u32 checked;
	bool sane;
	u32 living;
	u32 waited_for;
	u32 absent;
	u32 doomed;
};

/**
 * tor_shrink_start - start to shrink a comm
 * @ctx: entry
 * @shrink: from, a.node, a.room and a.unit are set, and the arrays, zeroed; the
 *	caller owns it again at tor_env_shrink_done()
 * @routes: current routes
 *
 * Return: 0, or -EEXIST if a comm of that lineage is being shrunk on this node.
 */
int tor_shrink_start(struct tor_ctx *ctx, struct tor_shrink *shrink,
		     const struct tor_routes *routes);

/*
 * Give up: call tor_env_shrink_done() with @error, unless it was done. If this
 * rank has accepted, the others may have an heir with it, which fails when they
 * use it; until then a new call of this rank waits.
 */
void tor_shrink_cancel(struct tor_ctx *ctx, struct tor_shrink *shrink, int error);

/*
 * The deadline of the call has passed: give up with -ETIMEDOUT, unless this rank
 * has accepted. Then the others may have the heir, with this rank, and it would
 * fail: the agreement goes on, and the next call waits for it. Return whether it
 * is over.
 */
bool tor_shrink_expire(struct tor_ctx *ctx, struct tor_shrink *shrink);

/* Give up all calls of @node. */
void tor_shrink_cancel_all(struct tor_ctx *ctx, struct tor_node *node, int error);

/**
 * tor_shrink_rx - handle a received comm message about shrinking
 * @ctx: entry
 * @node: this node
 * @h: header
 * @msg: body
 * @known: the comm with tag @msg->tag has been created here
 */
void tor_shrink_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		   const struct tor_comm_msg *msg, bool known);

/*
 * Return when tor_shrink_timer() has work to do, ns; 0: never. Any other call
 * may make it earlier.
 */
u64 tor_shrink_due(const struct tor_node *node);

/*
 * Look for ranks that are gone, repeat unanswered messages, continue what
 * exceeded the budget of an entry. Return tor_shrink_due().
 */
u64 tor_shrink_timer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_routes *routes);

#endif
