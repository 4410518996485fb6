/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shrinking: the living ranks of a comm that failed agree on who they are, and make a comm of them.
 *
 *	rank              chief: the lowest rank that lives
 *	CALL  ----------->        I live and shrink
 *	      <-----------  CALL  do you? (to those that were not heard of)
 *	LEFT  ----------->        no process here belongs to it any more
 *	      <-----------  WAIT  heard you, but not @missing
 *	      <-----------  READY all who live have called: tag, frame size, nodes and epochs of the heir
 *	ACCEPT ---------->        tag installed
 *	      <-----------  GO    all have installed it
 *	      <-----------  OUT   we went on without you
 *
 * A rank is gone when its node has restarted or is out of reach (longer than tor_comm_watch() would
 * wait), or when its node says that no process there has the comm open (LEFT). All others are waited
 * for. The chief alone decides who belongs to the heir, so all that accept agree.
 *
 * Everything is keyed by the lineage, which a comm shares with all its heirs, and members are known by their
 * nodes. So it does not matter whether a rank shrinks the comm that failed first or an heir of it: if the
 * chief dies while its GO is under way, some ranks have the heir already and others fall back. The
 * former find the heir failed as soon as they use it, since its chief is dead, shrink that, and meet the others in the
 * next agreement. For the same reason nothing has to be undone: an agreement that breaks ends with @again,
 * and is begun anew with fresh state.
 *
 * Messages are repeated until their answer comes. Serialisation: the node's join lock, as for joins.
 */
#ifndef _TOR_CORE_SHRINK_H
#define _TOR_CORE_SHRINK_H

#include "core/agree/agree.h"

/* What a node has of a lineage. */
enum tor_heritage {
	TOR_HERITAGE_NONE,		/* no process has a comm of it open */
	TOR_HERITAGE_COMMON,		/* a process has one, which the asking node is a member of */
	TOR_HERITAGE_WITHOUT,		/* a process has one, without the asking node */
};

/**
 * struct tor_shrink_rank - what is known of a rank
 * @lost: since when it is out of reach, ns; 0: it is not
 * @unit: payload bytes per frame that it offered, 0: none
 * @heard: enum tor_agree_heard
 * @gone: has left, or was out of reach for too long when it was looked at; never the own rank
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
 * @a: the agreement on the heir, whose ranks it counts; what is missing is a rank of @from
 * @from: the comm that failed; stays until the call is over
 * @of: by rank of @from
 * @chief: rank of @from that collects the others
 * @rank: own one of the heir
 * @member, @order: as in struct tor_comm, as long as a.epoch; @whole: rank i is node i, of all there are
 * @decided: payload bytes per frame by what the chief says, not agreed yet
 * @again: it is to be called again, with everything anew
 * @looked: ranks of @from that were looked at, of those that are to be
 * @considered: the chief only: ranks of @from that were chosen, or not
 * @sorted, @checked: steps of sorting the list, and its entries that were looked at then; @sane: these make sense
 * @living: no rank below it lives
 * @waited_for: the chief only: how many ranks all wait for; @absent: none of them is below it
 * @doomed: how many were chosen and are gone
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
 * tor_shrink_start - call
 * @ctx: entry
 * @shrink: from, a.node, a.room and a.unit are set, and the arrays, zeroed; the caller owns it until
 *	tor_env_shrink_done()
 * @routes: by what is known now
 *
 * Return: 0, or -EEXIST if a comm of that lineage is being shrunk on this node.
 */
int tor_shrink_start(struct tor_ctx *ctx, struct tor_shrink *shrink,
		     const struct tor_routes *routes);

/* Give up: calls tor_env_shrink_done() with @error, unless it was done. */
void tor_shrink_cancel(struct tor_ctx *ctx, struct tor_shrink *shrink, int error);

/* Give up all calls of @node. */
void tor_shrink_cancel_all(struct tor_ctx *ctx, struct tor_node *node, int error);

/**
 * tor_shrink_rx - a comm message of shrinking came in
 * @ctx: entry
 * @node: here
 * @h: header
 * @msg: body
 * @known: the comm with tag @msg->tag has been created here
 */
void tor_shrink_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		   const struct tor_comm_msg *msg, bool known);

/* When tor_shrink_timer() has something to do, ns; 0: nothing is waiting. Any other call may bring it forward. */
u64 tor_shrink_due(const struct tor_node *node);

/* Look for those that are gone, repeat what was not answered, go on with what is too much for an entry. Return: tor_shrink_due(). */
u64 tor_shrink_timer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_routes *routes);

#endif
