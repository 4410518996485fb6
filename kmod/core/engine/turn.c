// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Turns: the ops that use a slot one after the other. See turn.h.
 *
 * Most plans use one channel of the many of a slot. The others are not visited
 * in each turn: they follow when something arrives for them, and are visited
 * from then on for as long as they keep anything, so that what came before the
 * call is compared with it, and waiting senders are invited.
 *
 * A frame and a turn may meet in a channel that is not marked. The frame marks
 * it and then reads the turn's number; the turn changes its number and then
 * reads the marks; both steps are fully ordered. So either the frame finds the
 * new number, or the turn finds the mark and waits for the channel's lock.
 * Whatever a frame reads of the op is therefore valid for as long as it holds
 * the lock, as in channels that are used.
 */
#include "core/engine/chan.h"

_Static_assert(TOR_MAX_CHANNELS <= 32, "a bit for each channel");

static u32 chan_bit(const struct tor_chan *chan)
{
	return 1U << chan->index;
}

u32 tor_turn_begin(struct tor_op *op)
{
	struct tor_turn *turn = &op->turn;
	u32 used = op->plan.shape.channels;

	WRITE_ONCE(turn->used, used < 32 ? (1U << used) - 1 : ~0U);
	atomic_add_return(1, &turn->number);
	return turn->used | atomic_read(&turn->marked);
}

u32 tor_turn_end(struct tor_op *op)
{
	struct tor_turn *turn = &op->turn;
	u32 next = (u32)atomic_read(&turn->number) / 2 + 1;

	/* those who read about the turn before the last find that it is over */
	WRITE_ONCE(turn->before[next % 2].digest, op->digest);
	WRITE_ONCE(turn->before[next % 2].own_lengths, op->own_lengths);
	WRITE_ONCE(turn->before[next % 2].seq, op->seq);
	turn->before[next % 2].stated = op->stated;
	atomic_add_return(1, &turn->number);
	return turn->used | atomic_read(&turn->marked);
}

/*
 * Return what is stated of op @seq at the turn @number, in which it does not
 * change: of the op before it, and of the turn's own once that has begun. Until
 * then that is being written, and what is remembered of the op before the last
 * may be, once the turn has begun.
 */
static const struct tor_wire_call *stated_at(const struct tor_op *op, u32 number, u32 seq)
{
	u32 i = number / 2 % 2;

	if (number % 2 && READ_ONCE(op->seq) == seq)
		return &op->stated;
	if (READ_ONCE(op->turn.before[i].digest) && READ_ONCE(op->turn.before[i].seq) == seq)
		return &op->turn.before[i].stated;
	return NULL;
}

bool tor_turn_call(const struct tor_op *op, u32 seq, struct tor_wire_call *call)
{
	const struct tor_wire_call *stated;
	struct tor_wire_call copy;
	u32 number;

	do {
		number = atomic_read_acquire(&op->turn.number);
		stated = stated_at(op, number, seq);
		if (stated) {
			/* if it is being written meanwhile, another copy is taken */
			data_race(copy = *stated);
		}
		/* all of this before the number again, as in turn_read() */
		smp_rmb();
	} while ((u32)atomic_read(&op->turn.number) != number);
	if (stated)
		*call = copy;
	return stated;
}

static void chan_mark(struct tor_chan *chan)
{
	if (chan->marked)
		return;
	chan->marked = true;
	atomic_or(chan_bit(chan), &chan->op->turn.marked);
	/* before the turn is read: see above */
	smp_mb__after_atomic();
}

/* Nothing waits for the next turn of a channel: it needs no visit. */
static void chan_unmark(struct tor_chan *chan)
{
	if (!chan->marked || chan->nwaiting || !tor_chan_is_clear(chan))
		return;
	chan->marked = false;
	atomic_andnot(chan_bit(chan), &chan->op->turn.marked);
}

/* What a channel must know of the turn that it is to serve; @past...: of the op before. */
struct turn_read {
	u32 number;
	bool used;
	u32 past_seq;
	u32 past;
	bool past_own_lengths;
};

/* Turns may begin and end meanwhile, of ops that do not use the channel. */
static struct turn_read turn_read(const struct tor_chan *chan)
{
	const struct tor_turn *turn = &chan->op->turn;
	struct turn_read r;

	do {
		r.number = atomic_read_acquire(&turn->number);
		r.used = READ_ONCE(turn->used) & chan_bit(chan);
		r.past_seq = READ_ONCE(turn->before[r.number / 2 % 2].seq);
		r.past = READ_ONCE(turn->before[r.number / 2 % 2].digest);
		r.past_own_lengths = READ_ONCE(turn->before[r.number / 2 % 2].own_lengths);
		/* all of this before the number again */
		smp_rmb();
	} while ((u32)atomic_read(&turn->number) != r.number);
	return r;
}

/*
 * Serve the op of another turn: it has not begun here. Its number does not follow
 * from that of the turn, which with a depth of one wraps around twice as often.
 */
static void chan_renew(struct tor_ctx *ctx, struct tor_chan *chan, const struct turn_read *r)
{
	if (unlikely(!tor_chan_is_clear(chan)))
		tor_chan_clear(chan, false);
	chan->turn = r->number & ~1U;
	chan->past = r->past;
	chan->past_own_lengths = r->past_own_lengths;
	chan->seq = r->past_seq + chan->op->comm->depth;
	chan->state = TOR_CHAN_IDLE;
	chan->round = 0;
	chan->entered = false;
	if (unlikely(chan->nwaiting))
		tor_chan_invite_early(ctx, chan);
}

void tor_chan_follow(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct turn_read r;

	chan_mark(chan);
	r = turn_read(chan);
	if (r.number / 2 != chan->turn / 2)
		chan_renew(ctx, chan, &r);
	if (r.number % 2 && !r.used && chan->turn != r.number) {
		chan->turn = r.number;
		tor_chan_start_unused(ctx, chan);
	}
}

void tor_chan_recycle(struct tor_ctx *ctx, struct tor_chan *chan)
{
	tor_chan_keep_up(ctx, chan);
	if (!(chan->op->turn.used & chan_bit(chan)))
		chan_unmark(chan);
}
