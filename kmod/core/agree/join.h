/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Creating a comm: every member calls, rank 0 collects them, all install the tag, then all start.
 *
 *	member              rank 0
 *	JOIN  ----------->          until all have come
 *	      <-----------  WAIT    so that the member knows who is missing
 *	      <-----------  READY   all are here: tag, frame size, epochs of all
 *	ACCEPT ---------->          tag installed
 *	      <-----------  GO      all have installed it: frames may flow
 *
 * Every message is repeated until its answer comes; a late ACCEPT is answered by the comm itself. What rank 0 tells everyone is
 * a cursor: an entry sends tor_budget.frames of it at most, the next ones follow by the timer, and READY is repeated at intervals
 * that double. A
 * secret never travels, only a hash of it with the name: the cable is not protected (macsec is),
 * other processes are.
 *
 * Serialisation: one lock per node, held around every call here.
 */
#ifndef _TOR_CORE_JOIN_H
#define _TOR_CORE_JOIN_H

#include "core/agree/agree.h"
#include "core/choose/cost.h"

#define TOR_JOIN_READY_MAX	(1000 * NSEC_PER_MSEC)	/* rank 0's, which says a lot */
#define TOR_JOIN_PER_RANK	(250 * NSEC_PER_USEC)	/* repeats are less seldom for few ranks: so much for each */

/**
 * struct tor_join - one call to create a comm
 * @a: the agreement; what is missing is the first rank that is not known to have come, or else one that gave up
 * @name: hash of the name; @proof: of name and secret; @members: of the list, and @tuning
 * @tuning: hash of what plans are chosen by, which must be the same everywhere
 * @nonce: of this call
 * @rank: own rank, of @a.ranks
 * @member: node of each rank, or NULL: rank i is node i
 * @team: who sits where, or NULL; ranks are those of nodes then
 * @seen: rank 0 only: enum tor_agree_heard of each rank; @seen_nonce: and of which call
 * @here, @accepted: rank 0 only: others that are there, and of those that have the tag; @absent, @left: up to where nobody is
 *	that never came, or that gave up
 */
struct tor_join {
	struct tor_agree a;
	u64 name;
	u64 proof;
	u64 members;
	u64 tuning;
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
};

/* What stands for rates in tor_join.tuning: the same on every machine. */
u64 tor_join_tuning(const struct tor_rates *rates);

/*
 * The same, of a machine of this byte order: payloads travel as they are in memory, so those of a comm must have one. What
 * machines of the usual one say is @tuning itself.
 */
u64 tor_join_byte_order(u64 tuning, bool big_endian);

/*
 * The same, of a node whose data frames have a checksum of their payload, or none: who expects one drops all frames of who
 * sends none.
 */
u64 tor_join_checksum(u64 tuning, bool payload);

/* What stands for a comm's name, and for its secret: @name is the former. */
u64 tor_join_name(const void *name, u32 len);
u64 tor_join_proof(const void *secret, u32 len, u64 name);

/**
 * tor_join_prepare - work out what stands for the call on the wire
 * @join: a.node, a.ranks, member, team, tuning are set
 * @name, @name_len: of the comm
 * @secret, @secret_len: what members must know
 *
 * A hash over all members. Context: may sleep, no lock is needed.
 */
void tor_join_prepare(struct tor_join *join, const void *name, u32 name_len, const void *secret,
		      u32 secret_len);

/**
 * tor_join_start - call
 * @ctx: entry
 * @join: prepared; rank, a.epoch (@a.ranks long, zeroed), a.unit are set, and for rank 0 seen and seen_nonce (as long, zeroed); the caller owns it
 *	until tor_env_join_done()
 *
 * Return: 0, or -EEXIST if such a call is being made on this node.
 */
int tor_join_start(struct tor_ctx *ctx, struct tor_join *join);

/*
 * Give up: tells the others, then calls tor_env_join_done() with @error, unless it was done, or decided: perhaps later, from
 * tor_join_timer().
 */
void tor_join_cancel(struct tor_ctx *ctx, struct tor_join *join, int error);

/* Give up all joins of @node. Return: some of them have not told everyone yet. */
bool tor_join_cancel_all(struct tor_ctx *ctx, struct tor_node *node, int error);

/**
 * tor_join_rx - a comm message came in
 * @ctx: entry
 * @node: here
 * @h: header
 * @msg: body
 * @known: the comm with tag @msg->tag has been created here
 */
void tor_join_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		 const struct tor_comm_msg *msg, bool known);

/* The tag of a comm that this node makes, and its @generation. @proof, @members: what else it depends on. */
u32 tor_join_tag(struct tor_node *node, u64 proof, u64 members, u32 *generation);

/* What a comm and all that it shrinks to have in common, the same on all ranks. Once tag and generation are agreed. */
u64 tor_join_lineage(const struct tor_join *join);

/* When tor_join_timer() has something to do, ns; 0: nothing is waiting. Any other call may bring it forward. */
u64 tor_join_due(const struct tor_node *node);

/* Repeat what was not answered, and go on telling. Return: tor_join_due(). */
u64 tor_join_timer(struct tor_ctx *ctx, struct tor_node *node);

#endif
