/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages between two ranks, where they differ from other ops: replies while
 * one end has never called, and messages on one node.
 */
#ifndef _TOR_PAIR_H
#define _TOR_PAIR_H

#include "core/engine/engine.h"

/* Return the role of a message's end whose other end has @role. */
static inline u8 tor_role_opposite(u8 role)
{
	return role == TOR_ROLE_SEND ? TOR_ROLE_RECV : TOR_ROLE_SEND;
}

/**
 * tor_pair_refuse - refuse the first message from a rank
 * @ctx: entry
 * @comm: comm
 * @rank: sender
 * @h: data frame from TOR_ROLE_SEND
 *
 * There are no slots yet that could keep it. When there are, tor_pair_invite()
 * makes the sender repeat it.
 */
void tor_pair_refuse(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const struct tor_hdr *h);

/*
 * Slots for messages from @chan's peer were made: tell its sender to continue
 * if it was refused before. To be called for each channel.
 */
void tor_pair_invite(struct tor_ctx *ctx, struct tor_chan *chan);

/*
 * Answer @ack, which is about a message of a pair that has no slots: if it asks
 * whether the message was called here, the answer is no.
 */
void tor_pair_absent(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const struct tor_ack *ack);

/**
 * tor_chan_meet - transfer a message between ranks of a node, or to oneself
 * @ctx: entry
 * @chan: of one end of the message
 * @other: the channel, at the other end, of the slot of the same number
 *
 * Both channels are locked. To be called after the start of either end,
 * repeatedly as long as it returns true; between calls locks may be dropped.
 *
 * Return: true if there is more to do.
 */
bool tor_chan_meet(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_chan *other);

/*
 * Keep a copy of the message of @chan, which stays on the node and whose
 * receiver has not called, if the message is short and there is room. Its
 * sender then does not wait for the receiver, as with a message to another
 * node.
 */
void tor_chan_hold(struct tor_ctx *ctx, struct tor_chan *chan);

/* The receiver has left: drop what is held for it, if anything is. */
void tor_chan_unhold(struct tor_ctx *ctx, struct tor_chan *chan);

#endif
