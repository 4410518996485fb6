/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Creating a comm: every member calls, rank 0 collects them, all install the
 * tag, then all start.
 *
 *	member              rank 0
 *	JOIN  ----------->          until all have come
 *	      <-----------  WAIT    tells the member which rank is missing
 *	      <-----------  READY   all are here: tag, frame size, all epochs
 *	ACCEPT ---------->          tag installed
 *	      <-----------  GO      all have installed it: frames may flow
 *
 * Every message is repeated until its answer comes; the comm itself answers a
 * late ACCEPT. Rank 0 tells all ranks by a cursor: one entry sends at most
 * tor_budget.frames, the timer sends the next ones, and READY is repeated at
 * intervals that double. A secret is never sent, only a hash of it with the
 * name: the secret keeps other processes out, while the cable itself is not
 * protected (MACsec protects it).
 *
 * Serialisation: the node's lock (node.h), held around tor_join_start(),
 * _cancel(), _rx(), _due() and _timer().
 */
#ifndef _TOR_CORE_JOIN_H
#define _TOR_CORE_JOIN_H

#include "core/agree/agree.h"
#include "core/agree/terms.h"

/* rank 0's, which sends many messages */
#define TOR_JOIN_READY_MAX	(1000 * NSEC_PER_MSEC)
/* the interval of repetition grows by this per rank */
#define TOR_JOIN_PER_RANK	(250 * NSEC_PER_USEC)

/**
 * struct tor_join - one call to create a comm
 * @a: the agreement; its missing rank is the first not known to have come, or
 *	else one that gave up
 * @name: hash of the name
 * @proof: hash of name and secret
 * @members: hash of the list
 * @rates: by which plans are chosen: those of this node, then those of rank 0
 * @fault: with -EPROTO: the rank at fault
 * @nonce: of this call
 * @rank: own rank, of @a.ranks
 * @member: node of each rank, or NULL: rank i is node i
 * @team: placement of ranks, or NULL; with it, the ranks of this struct are
 *	nodes
 * @seen: rank 0 only: enum tor_agree_heard of each rank
 * @seen_nonce: rank 0 only: nonce of that rank's call
 * @here: rank 0 only: other ranks that have come
 * @accepted: rank 0 only: those of them that have the tag
 * @absent, @left: no rank below has never come, or has given up
 * @coarse: rank 0 only: the agreed unit is a coarse one
 */
struct tor_join {
	struct tor_agree a;
	u64 name;
	u64 proof;
	u64 members;
	struct tor_rates rates;
	struct tor_comm_terms fault;
	u32 nonce;
	u32 rank;
	const u32 *member;
	const struct tor_team_map *team;
	u8 *seen;
	u32 *seen_nonce;
	u32 here;
	u32 accepted;
	u32 absent;
	u32 left;
	bool coarse;
};

/* Hash a comm's name; hash its secret, with @name from the former. */
u64 tor_join_name(const void *name, u32 len);
u64 tor_join_proof(const void *secret, u32 len, u64 name);

/**
 * tor_join_prepare - compute the hashes that represent the call in messages
 * @join: a.node, a.ranks, member, team are set
 * @name, @name_len: of the comm
 * @secret, @secret_len: shared by the members
 *
 * Hashes all members. Context: may sleep, no lock is needed.
 */
void tor_join_prepare(struct tor_join *join, const void *name, u32 name_len, const void *secret,
		      u32 secret_len);

/**
 * tor_join_start - start a join
 * @ctx: entry
 * @join: prepared; rank, a.epoch (@a.ranks long, zeroed), a.unit and rates are
 *	set, and for rank 0 seen and seen_nonce (as long, zeroed); the caller owns it
 *	again at tor_env_join_done()
 *
 * Return: 0, or -EEXIST if this node is already making such a call.
 */
int tor_join_start(struct tor_ctx *ctx, struct tor_join *join);

/*
 * Give up a join: tell the others, then call tor_env_join_done() with @error,
 * unless it is done or decided; possibly later, from tor_join_timer().
 */
void tor_join_cancel(struct tor_ctx *ctx, struct tor_join *join, int error);

/*
 * Give up all joins of @node. Return true if some have not told all ranks yet.
 */
bool tor_join_cancel_all(struct tor_ctx *ctx, struct tor_node *node, int error);

/**
 * tor_join_rx - handle a received comm message
 * @ctx: entry
 * @node: this node
 * @h: header
 * @msg: body
 * @known: the comm with tag @msg->tag has been created here
 */
void tor_join_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		 const struct tor_comm_msg *msg, bool known);

/*
 * A member has the comm of @lineage, so all have accepted it: end a join of it that
 * waits for word of that, as GO would.
 */
void tor_join_complete(struct tor_ctx *ctx, struct tor_node *node, u64 lineage);

/*
 * Return a tag for a comm that this node creates, and its @generation. @proof,
 * @members: other values that it depends on.
 */
u32 tor_join_tag(struct tor_node *node, u64 proof, u64 members, u32 *generation);

/*
 * Return the number that a comm shares with all that it shrinks to, the same on
 * all ranks. To be called once tag and generation are agreed.
 */
u64 tor_join_lineage(const struct tor_join *join);

/*
 * Return when tor_join_timer() has work to do, ns; 0: never. Any other call may
 * make it earlier.
 */
u64 tor_join_due(const struct tor_node *node);

/* Repeat unanswered messages and continue telling. Return tor_join_due(). */
u64 tor_join_timer(struct tor_ctx *ctx, struct tor_node *node);

#endif
