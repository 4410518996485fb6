/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the two files about joins share: join.c, every rank's part and a
 * member's, and join_chief.c, that of rank 0, which collects the calls and
 * tells the agreement.
 *
 * Serialisation: as in join.h; the caller holds the node's lock.
 */
#ifndef _TOR_CORE_JOIN_CHIEF_H
#define _TOR_CORE_JOIN_CHIEF_H

#include "core/agree/join.h"

/* Of rank 0; of members, its end. */
extern const struct tor_agree_policy tor_join_policy;

/**
 * tor_join_chief_start - begin to collect
 * @ctx: entry
 * @join: of rank 0, in the node's list
 *
 * Context: the node's lock. May end the join: of one rank, or if it fails.
 */
void tor_join_chief_start(struct tor_ctx *ctx, struct tor_join *join);

/**
 * tor_join_chief_fail - refuse the comm to all that have called
 * @ctx: entry
 * @join: of rank 0
 * @error: negative errno, for this rank; others get what the wire has for it
 *
 * Context: the node's lock. May end the join, or its timer does later.
 */
void tor_join_chief_fail(struct tor_ctx *ctx, struct tor_join *join, int error);

/**
 * tor_join_chief_rx - handle the message of a member
 * @ctx: entry
 * @join: of rank 0, of the name in the message
 * @h: header
 * @msg: its step is JOIN, LEAVE or ACCEPT
 *
 * Context: the node's lock. May end the join.
 * Return: false if the message concerns another join of that name.
 */
bool tor_join_chief_rx(struct tor_ctx *ctx, struct tor_join *join, const struct tor_hdr *h,
		       const struct tor_comm_msg *msg);

/* Return the node of a rank. */
static inline u32 tor_join_node(const struct tor_join *join, u32 rank)
{
	return join->member ? join->member[rank] : rank;
}

/**
 * tor_join_say - send a message without a list
 * @ctx: entry
 * @join: join
 * @rank: receiver: rank 0, or of rank 0 a member
 * @step: enum torcoll_comm_step
 * @error: negative errno of a refusal, or 0
 *
 * Context: the node's lock.
 */
void tor_join_say(struct tor_ctx *ctx, const struct tor_join *join, u32 rank, u8 step, int error);

/**
 * tor_join_answer - answer without a record of the sender
 * @ctx: entry
 * @node: this node
 * @h: header of the message received
 * @msg: that message
 * @step: of the answer
 * @error: negative errno of a refusal, or 0
 * @terms: of a refusal, or NULL
 *
 * The answer is the message received in the other direction.
 *
 * Context: the node's lock.
 */
void tor_join_answer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		     const struct tor_comm_msg *msg, u8 step, int error,
		     const struct tor_comm_terms *terms);

#endif
