/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Turns: the ops that use a slot one after the other, and which of its channels
 * have to do with each. See turn.c.
 */
#ifndef _TOR_CORE_TURN_H
#define _TOR_CORE_TURN_H

#include "core/env.h"
#include "core/wire/wire.h"

struct tor_chan;
struct tor_op;

/**
 * struct tor_turn - the ops that use a slot one after the other
 * @number: 2n: the nth has not begun, 2n + 1: it has
 * @used: bit per channel of its plan, if it has begun
 * @marked: bit per channel that turns visit though they do not use it: it may
 *	have something for one of them
 * @before: by n % 2, what is remembered of the op before the nth: @seq, @digest,
 *	and @stated as of struct tor_op. For a channel it is valid while that is
 *	locked and has followed; for others see tor_turn_call()
 *
 * A channel's own number is that of the turn that it has followed.
 */
struct tor_turn {
	atomic_t number;
	u32 used;
	atomic_t marked;
	struct {
		u32 seq;
		u32 digest;
		bool own_lengths;
		struct tor_wire_call stated;
	} before[2];
};

/*
 * The op in a slot that was begun starts. Return a bit per channel that needs
 * tor_chan_start(), others do not.
 */
u32 tor_turn_begin(struct tor_op *op);

/*
 * The slot is free (tor_env_op_retired()) for the op that is the comm's depth
 * behind. Return a bit per channel that needs tor_chan_recycle(), after which
 * that may begin.
 */
u32 tor_turn_end(struct tor_op *op);

/**
 * tor_turn_call - what others are told of an op that this slot serves or has served
 * @op: the slot
 * @seq: the op's number
 * @call: out: the call
 *
 * Context: any, without a lock; turns may begin and end meanwhile.
 * Return: false: the op has not begun here, or others have followed it.
 */
bool tor_turn_call(const struct tor_op *op, u32 seq, struct tor_wire_call *call);

/*
 * Serve the op of the slot's present turn, before anything that arrives is
 * compared with it; tor_chan_data() and tor_chan_ack() do so themselves. Context:
 * as all of @chan.
 */
void tor_chan_follow(struct tor_ctx *ctx, struct tor_chan *chan);

#endif
