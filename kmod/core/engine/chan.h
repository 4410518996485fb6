/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Internals of channels that the files of the engine share; no other file
 * includes this. Every function here runs under the channel's lock, like those
 * of engine.h.
 */
#ifndef _TOR_CORE_CHAN_H
#define _TOR_CORE_CHAN_H

#include "core/engine/engine.h"
#include "core/engine/input.h"
#include "core/transfer/crcs.h"
#include "core/transfer/stream.h"

/* A frame that has arrived and cannot be applied yet. */
struct tor_kept {
	struct list_head list;
	u32 index;
	u32 len;
	u32 crc;
	u8 data[];
};

/*
 * Progress of the local pieces of a round: @done elements of @piece are done,
 * @c points behind it. Copies come first, then reductions: @pass is an enum
 * tor_piece_op. @open: @c has begun in this pass.
 */
struct tor_local {
	struct tor_cursor c;
	struct tor_piece piece;
	u64 done;
	u32 pass;
	bool open;
};

#define TOR_SCRIPT_MAX	16	/* pieces; more are asked of the plan in each run */

enum tor_script_state {
	TOR_SCRIPT_UNUSED,		/* the plan has run once, or never */
	TOR_SCRIPT_BEGUN,
	TOR_SCRIPT_WHOLE,
	TOR_SCRIPT_TOO_LONG,
};

/*
 * The pieces that a plan yields for a channel, in its order. While they are
 * written down: @n of the rounds below @rounds, @noted with those of the round
 * that is being entered.
 */
struct tor_script {
	enum tor_script_state state;
	u32 rounds;
	u32 n;
	u32 noted;
	struct {
		u32 round;
		struct tor_piece piece;
	} step[TOR_SCRIPT_MAX];
};

/* Return what frames of @round state. A message has one round, 0. */
static inline struct tor_where tor_chan_where(const struct tor_chan *chan, u32 round)
{
	return (struct tor_where){
		.role = chan->op->role,
		.channel = chan->index,
		.round = round,
		.pair = chan->op->pair,
	};
}

/*
 * Return the size of a kept frame that counts against TOR_KEPT_MAX: it may have
 * required a record of its own.
 */
static inline u32 tor_kept_size(u32 len)
{
	return sizeof(struct tor_kept) + sizeof(struct tor_rx) + len;
}

/* --- record.c --- */

/*
 * Find the record of the transfer from or to @rank in @round; NULL if there is
 * none.
 */
struct tor_rx *tor_chan_rx_find(struct tor_chan *chan, u32 rank, u32 round);
struct tor_tx *tor_chan_tx_find(struct tor_chan *chan, u32 rank, u32 round);

/* Make a record of the present round and list it; NULL: no memory. */
struct tor_rx *tor_chan_rx_get(struct tor_chan *chan, u32 rank);
struct tor_tx *tor_chan_tx_get(struct tor_chan *chan);

/*
 * The same for an early frame, whose round has not been entered; NULL: no
 * memory, or TOR_EARLY_MAX of them.
 */
struct tor_rx *tor_chan_early_get(struct tor_chan *chan, u32 rank, u32 round);

/* The present round is being entered: its early records are of it now. */
void tor_chan_early_take(struct tor_chan *chan);

/*
 * Allocate a copy of @bytes to send, charged to the owner of the comm; it is
 * freed with the record. NULL: no memory, or a limit.
 */
void *tor_chan_copy_get(struct tor_chan *chan, u32 bytes);

/* Free a record and everything it holds. */
void tor_chan_rx_put(struct tor_chan *chan, struct tor_rx *rx);
void tor_chan_tx_put(struct tor_chan *chan, struct tor_tx *tx);

/*
 * Allocate an early frame of @len bytes, not listed yet; NULL: it cannot be
 * kept.
 */
struct tor_kept *tor_chan_kept_get(struct tor_chan *chan, u32 len);
void tor_chan_kept_put(struct tor_chan *chan, struct tor_kept *kept);

/* List an early frame, in the order of the transfer. */
void tor_chan_kept_add(struct tor_rx *rx, struct tor_kept *kept);
void tor_chan_kept_free(struct tor_chan *chan, struct tor_rx *rx, struct tor_kept *kept);

/* Free the copy that tor_chan_hold() made, if any. */
void tor_chan_let_go(struct tor_chan *chan);

/*
 * Remember checksums of received data, for a transfer of @frames; without
 * memory, none.
 */
void tor_chan_crcs_get(struct tor_chan *chan, u32 frames);

/*
 * Allocate the state of local pieces at the beginning of a round; false: no
 * memory. Free it at the end.
 */
bool tor_chan_local_get(struct tor_chan *chan);
void tor_chan_local_put(struct tor_chan *chan);

/* Return whether there is nothing to drop: most channels of a slot are not used. */
static inline bool tor_chan_is_clear(const struct tor_chan *chan)
{
	return list_empty(&chan->rx) && list_empty(&chan->early) && list_empty(&chan->tx) &&
	       !chan->held && !chan->crcs && !chan->local;
}

/* Drop all state of the present op; @records: spare records too. */
void tor_chan_clear(struct tor_chan *chan, bool records);

/* --- input.c: ops whose input stays in place; offsets into the vector --- */

/*
 * Find the bytes at @off; @len: in: wanted, out: contiguous bytes in the
 * returned memory.
 */
struct tor_mem *tor_input_find(const struct tor_op *op, u32 channel, u64 off, u64 *len);

/* Reduce or copy the next @len bytes of @s, whole elements, into the vector. */
void tor_input_reduce(const struct tor_op *op, u32 channel, struct tor_stream *s, u64 off, u32 len);
void tor_input_copy(const struct tor_op *op, u32 channel, struct tor_stream *s, u64 off, u32 len);

/* --- turns, see turn.h --- */

/* tor_chan_follow(), which has seldom anything to do. */
static inline void tor_chan_keep_up(struct tor_ctx *ctx, struct tor_chan *chan)
{
	if (unlikely(chan->turn != (u32)atomic_read_acquire(&chan->op->turn.number) ||
		     !chan->marked))
		tor_chan_follow(ctx, chan);
}

/* Return the call before the one that @chan serves, what others are told of it. */
static inline const struct tor_wire_call *tor_chan_past_call(const struct tor_chan *chan)
{
	return &chan->op->turn.before[chan->turn / 2 % 2].stated;
}

/* --- engine.c --- */

/*
 * Start a channel that the plan does not have: the op does not wait for it. The
 * digests of its frames are checked like those of any other.
 */
void tor_chan_start_unused(struct tor_ctx *ctx, struct tor_chan *chan);

/* The channel serves another op: the frames of waiting senders can be kept from now on. */
void tor_chan_invite_early(struct tor_ctx *ctx, struct tor_chan *chan);

/* --- memory: inline, for every range of every frame --- */

/*
 * Return the memory of one of the plan's buffers; @off: in: offset in the
 * buffer, out: in that memory.
 */
static inline struct tor_mem *tor_op_mem(const struct tor_op *op, u32 buf, u64 *off)
{
	const struct tor_plan *p = &op->plan;

	if (buf == TOR_BUF_DATA)
		return op->data;
	if (buf < p->shape.vectors)
		return op->vector[buf];
	*off += ((buf - p->shape.vectors) * p->temp.n - p->temp.off) * op->elem;
	return op->temp;
}

/*
 * The same for reading, where the input may be separate; @len: in: wanted, out:
 * contiguous bytes.
 */
static inline struct tor_mem *tor_op_source(const struct tor_op *op, u32 channel, u32 buf, u64 *off,
					    u64 *len)
{
	if (op->input && buf == TOR_BUF_DATA)
		return tor_input_find(op, channel, *off, len);
	return tor_op_mem(op, buf, off);
}

/* Reduce or copy the next @len bytes of @s into a buffer. */
static inline void tor_chan_put(const struct tor_chan *chan, struct tor_stream *s, u32 buf, u64 off,
				u32 len, u8 how)
{
	struct tor_op *op = chan->op;
	struct tor_mem *mem;

	if (chan->crcs && buf == TOR_BUF_DATA)
		tor_crcs_forget(chan->crcs, off, len);
	if (op->input && buf == TOR_BUF_DATA) {
		if (how == TOR_PIECE_REDUCE)
			tor_input_reduce(op, chan->index, s, off, len);
		else
			tor_input_copy(op, chan->index, s, off, len);
		return;
	}
	mem = tor_op_mem(op, buf, &off);
	if (how == TOR_PIECE_REDUCE)
		tor_stream_reduce(s, mem, off, len / op->elem, op->elem, op->reduce);
	else
		tor_stream_copy(s, mem, off, len);
}

/* --- script.c --- */

/* An op starts; @same: with the plan of the one before. */
void tor_script_start(struct tor_chan *chan, bool same);

/* The plan has yielded a piece of the current round. */
void tor_script_note(struct tor_chan *chan, const struct tor_piece *piece);

/* It has yielded all of them; @entered: the round begins with them. */
void tor_script_round(struct tor_chan *chan, bool entered);

/* The last round is over. */
void tor_script_end(struct tor_chan *chan);

/* Return whether the script says what the plan would. */
static inline bool tor_script_is_whole(const struct tor_chan *chan)
{
	return chan->script && chan->script->state == TOR_SCRIPT_WHOLE;
}

/*
 * Return the next piece of the current round, or NULL. @i: from 0; whole scripts
 * only.
 */
static inline const struct tor_piece *tor_script_next(struct tor_chan *chan, u32 *i)
{
	const struct tor_script *s = chan->script;
	u32 at;

	while (chan->step < s->n && s->step[chan->step].round < chan->round)
		chan->step++;
	at = chan->step + (*i)++;
	return at < s->n && s->step[at].round == chan->round ? &s->step[at].piece : NULL;
}

/* --- walk.c --- */

/*
 * A position in a transfer of several pieces: @piece of the plan, whose first
 * byte is byte @pos of the transfer; @c points behind it. Bytes [off, off +
 * len) are still to be visited.
 */
struct tor_walk {
	struct tor_cursor c;
	struct tor_piece piece;
	u64 pos, off, len;
	u32 src, dst;
	bool begun;
};

/**
 * tor_chan_tx_walk - walk over bytes of a transfer that is sent
 * @chan: channel
 * @tx: transfer; keeps the walk
 * @here: used if it cannot
 * @off, @len: bytes of the transfer
 *
 * Return: the walk, for tor_walk_next().
 */
struct tor_walk *tor_chan_tx_walk(const struct tor_chan *chan, struct tor_tx *tx,
				  struct tor_walk *here, u64 off, u64 len);

/* The same for a transfer that is received. */
struct tor_walk *tor_chan_rx_walk(const struct tor_chan *chan, struct tor_rx *rx,
				  struct tor_walk *here, u64 off, u64 len);

/**
 * tor_walk_next - go to the next piece
 * @op: op
 * @w: walk; out: the piece in w->piece
 * @skip: out: bytes of the piece that come before
 * @take: out: bytes behind those that the walk visits
 *
 * Return: false if all were visited.
 */
bool tor_walk_next(const struct tor_op *op, struct tor_walk *w, u64 *skip, u64 *take);

/* Return the payload bytes of frame @index. */
static inline u32 tor_chan_frame_len(const struct tor_op *op, const struct tor_rx *rx, u32 index)
{
	u32 unit = tor_op_unit(op);

	return min_t(u64, unit, rx->bytes - (u64)index * unit);
}

/* --- send.c --- */

/*
 * Copy bytes [at, at + bytes) of @mem to @to. Return the position behind them
 * in @to.
 */
u8 *tor_chan_copy_out(const struct tor_mem *mem, u64 at, u64 bytes, u8 *to);

/*
 * Send what window, receiver and budget allow; a process sends what exceeds the
 * budget.
 */
void tor_chan_push(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx);

/* Send, resend or probe what is due; a process does what exceeds the budget. */
void tor_chan_tx_due(struct tor_ctx *ctx, struct tor_chan *chan);

/**
 * tor_chan_send_ack - acknowledge what has arrived
 * @ctx: entry
 * @chan: channel
 * @rank: receiver of the acknowledgement
 * @seq, @round: the transfer
 * @rx: its record; NULL: nothing has arrived, or (DONE) everything
 * @state: says whether more may come
 * @stamp: of the frame that asked, or 0
 */
void tor_chan_send_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round,
		       const struct tor_rx *rx, enum torcoll_ack_state state, u32 stamp);

/* Ask the sender of @rx for more, and tell it what was called here. */
void tor_chan_ask(struct tor_ctx *ctx, struct tor_chan *chan, const struct tor_rx *rx);

/*
 * Ask ranks of the op, from chan->asked on, whether they have called it. Those
 * that have not say so, see tor_op.late. Return true if these were the last.
 */
bool tor_chan_ask_some(struct tor_ctx *ctx, struct tor_chan *chan);

/*
 * Make one or all sends independent of the op's memory; false: wait for their
 * acknowledgements.
 */
bool tor_chan_copy_send(struct tor_chan *chan, struct tor_tx *tx);
bool tor_chan_copy_sends(struct tor_chan *chan);

/* --- due.c --- */

/*
 * All of the transfer of @round of op @seq has come from @rank: acknowledge it
 * soon, at the latest when tor_comm_pay() has twice found it owed.
 */
void tor_chan_owe(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round);

/*
 * A call had to wait for the slot of an op whose frames were patient, until they
 * asked: those of the next ops ask at once. A stream that stalls once does so
 * again, and for other slots than this one: if it does soon after that, it
 * takes four times as many.
 */
void tor_comm_be_eager(struct tor_comm *comm);

/* An op begins. */
void tor_comm_count_op(struct tor_comm *comm);

/*
 * A frame leaves for @rank: collect the acknowledgements owed to it, at most
 * @most, in @acks, of which there need not be more than TOR_DUE_WORDS. Return
 * their number.
 */
u32 tor_comm_take_due(struct tor_comm *comm, u32 rank, struct tor_ack *acks, u32 most);

/*
 * That frame did not leave: they are owed again, or leave at once if others have
 * taken their places.
 */
void tor_comm_put_due(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
		      const struct tor_ack *acks, u32 n);

/*
 * Send an acknowledgement, together with everything that is owed to @rank: the
 * slots of its ops wait for that, and maybe nothing else leaves for it.
 */
void tor_comm_send_ack(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
		       const struct tor_ack *ack);

/* Send a frame of @n acknowledgements, 1 to TOR_DUE_WORDS + 1. */
void tor_comm_send_acks(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
			const struct tor_ack *acks, u32 n);

/* --- receive.c --- */

/*
 * Apply kept frames of the current round that are in turn, until none is left,
 * the budget of this entry is spent, or the FPU is not usable.
 */
void tor_chan_release(struct tor_ctx *ctx, struct tor_chan *chan);

/* Tell waiting senders that no longer have to wait to continue. */
void tor_chan_invite(struct tor_ctx *ctx, struct tor_chan *chan);

/*
 * The round has been entered: tell ranks that were told to wait, and for which
 * there was no place among those that are remembered, to continue.
 */
void tor_chan_invite_forgotten(struct tor_ctx *ctx, struct tor_chan *chan);

/* --- round.c --- */

/*
 * Run the local pieces, set up the transfers of the current round and start its
 * sends. False: not now; an acknowledgement, the timer or a process calls
 * again.
 */
bool tor_chan_enter(struct tor_ctx *ctx, struct tor_chan *chan);

bool tor_chan_round_done(const struct tor_chan *chan);
void tor_chan_finish_round(struct tor_chan *chan);

/* --- engine.c --- */

/* Return the first round from @from on that is not known to be empty here. */
u32 tor_chan_next_round(const struct tor_chan *chan, u32 from);

/* Return how many bytes this entry may still move. */
static inline u32 tor_ctx_room(const struct tor_ctx *ctx)
{
	u32 most = tor_env_budget().bytes;

	return ctx->moved < most ? most - ctx->moved : 0;
}

/* Return whether this entry has sent all frames that it may. */
static inline bool tor_ctx_is_spent(const struct tor_ctx *ctx)
{
	return ctx->sent >= tor_env_budget().frames;
}

/* The budget of this entry is spent: let a process continue. */
void tor_chan_put_off(struct tor_ctx *ctx, struct tor_chan *chan);

/* Continue as far as possible. */
void tor_chan_run(struct tor_ctx *ctx, struct tor_chan *chan);

/* Request the timer for the earliest time due. */
void tor_chan_arm(struct tor_chan *chan);

/* @rank called another op than this rank: make the comm fail. */
void tor_chan_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 digest);

/*
 * @rank is at op @seq. If that is the previous one and it was a different call
 * here, make the comm fail and return true.
 */
bool tor_chan_past_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq,
			    u32 digest);

#endif
