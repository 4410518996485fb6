/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the files of the engine share about a channel; nobody else includes this. Every function here runs under
 * the channel's lock, like those of engine.h.
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
 * What stays here of a round, and how far that has come: @done elements of @piece, @c stands behind it. First what is copied,
 * then what is reduced: @pass, an enum tor_piece_op; @open: @c has begun there.
 */
struct tor_local {
	struct tor_cursor c;
	struct tor_piece piece;
	u64 done;
	u32 pass;
	bool open;
};

/* What a channel is called in frames. */
static inline u8 tor_chan_name(const struct tor_chan *chan)
{
	return chan->op->role ? chan->op->role : chan->index;
}

/* What a kept frame counts for, against TOR_KEPT_MAX: it may have brought a record of its own. */
static inline u32 tor_kept_size(u32 len)
{
	return sizeof(struct tor_kept) + sizeof(struct tor_rx) + len;
}

/* --- record.c --- */

/* The record of what @rank sends us in @round, or of what we send it; NULL if there is none. */
struct tor_rx *tor_chan_rx_find(struct tor_chan *chan, u32 rank, u32 round);
struct tor_tx *tor_chan_tx_find(struct tor_chan *chan, u32 rank, u32 round);

/* A new one, listed; NULL: no memory. */
struct tor_rx *tor_chan_rx_get(struct tor_chan *chan, u32 rank, u32 round);
struct tor_tx *tor_chan_tx_get(struct tor_chan *chan);

/* Give one up, with what it holds. */
void tor_chan_rx_put(struct tor_chan *chan, struct tor_rx *rx);
void tor_chan_tx_put(struct tor_chan *chan, struct tor_tx *tx);

/* Memory for an early frame of @len bytes, not listed yet, or NULL: it cannot be kept. */
struct tor_kept *tor_chan_kept_get(struct tor_chan *chan, u32 len);
void tor_chan_kept_put(struct tor_chan *chan, struct tor_kept *kept);
void tor_chan_kept_free(struct tor_chan *chan, struct tor_rx *rx, struct tor_kept *kept);

/* What tor_chan_hold() has kept is over, if there is any. */
void tor_chan_let_go(struct tor_chan *chan);

/* Remember checksums, for a transfer of @frames, of what is received; without memory, none. */
void tor_chan_crcs_get(struct tor_chan *chan, u32 frames);

/* The state of pieces that stay here, at the beginning of the round; false: no memory. And the end of it. */
bool tor_chan_local_get(struct tor_chan *chan);
void tor_chan_local_put(struct tor_chan *chan);

/* Forget everything about the present op; @records: the spare ones, too. */
void tor_chan_clear(struct tor_chan *chan, bool records);

/* --- input.c: only of ops whose input stays where it is; offsets are those in the vector --- */

/* Where the next bytes are; @len: of them, then of those that are there. */
struct tor_mem *tor_input_find(const struct tor_op *op, u32 channel, u64 off, u64 *len);

/* The next @len bytes of @s, whole elements, are reduced into the vector, or written there. */
void tor_input_reduce(const struct tor_op *op, u32 channel, struct tor_stream *s, u64 off, u32 len);
void tor_input_copy(const struct tor_op *op, u32 channel, struct tor_stream *s, u64 off, u32 len);

/* --- memory: inline, for every range of every frame --- */

/* The memory of one of the plan's buffers; @off: in the buffer, then in that memory. */
static inline struct tor_mem *tor_op_mem(const struct tor_op *op, u32 buf, u64 *off)
{
	const struct tor_plan *p = &op->plan;

	if (buf == TOR_BUF_DATA)
		return op->data;
	*off += ((buf - 1) * p->temp.n - p->temp.off) * op->elem;
	return op->temp;
}

/*
 * The same for what is read, where the input may be in another place: @len: of it, then as much as lies there.
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

/* A window [off, off + len) of a transfer's byte stream, while its pieces go by. */
struct tor_window {
	u64 off;
	u64 len;
	u64 pos;			/* stream offset of the piece at hand */
};

/* Cut what [off, off + len) has in common with a piece of @bytes: false if nothing. */
static inline bool tor_window_cut(struct tor_window *s, u64 bytes, u64 *skip, u64 *take)
{
	u64 from = max(s->pos, s->off);
	u64 to = min(s->pos + bytes, s->off + s->len);

	*skip = from - s->pos;
	*take = to > from ? to - from : 0;
	s->pos += bytes;
	return *take;
}

/* Payload bytes of frame @index. */
static inline u32 tor_chan_frame_len(const struct tor_comm *comm, const struct tor_rx *rx, u32 index)
{
	return min_t(u64, comm->unit, rx->bytes - (u64)index * comm->unit);
}

/* --- send.c --- */

/* Copy bytes [at, at + bytes) of @mem to @to. Return: what lies behind them there. */
u8 *tor_chan_copy_out(const struct tor_mem *mem, u64 at, u64 bytes, u8 *to);

/* Send what window, receiver and budget allow; what is above the budget, a process sends. */
void tor_chan_push(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx);

/* Send, or send again, or probe, what is due; what is too much for this entry, a process sends. */
void tor_chan_tx_due(struct tor_ctx *ctx, struct tor_chan *chan);

/**
 * tor_chan_send_ack - say what has arrived
 * @rank: to whom
 * @seq, @round: of which transfer
 * @rx: its record; NULL: nothing has, or (DONE) everything
 * @state: and whether more may come
 * @stamp: of the frame that asked, or 0
 */
void tor_chan_send_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round,
		       const struct tor_rx *rx, enum torcoll_ack_state state, u32 stamp);

/* Ask the sender of @rx for more, and say what was called here. */
void tor_chan_ask(struct tor_ctx *ctx, struct tor_chan *chan, const struct tor_rx *rx);

/*
 * Ask ranks of the op, from chan->asked on, whether they have called it: those that have not say so, to tor_op.late. Return:
 * were these the last?
 */
bool tor_chan_ask_some(struct tor_ctx *ctx, struct tor_chan *chan);

/* Make a send, or all of them, independent of the op's memory; false: must be waited for. */
bool tor_chan_copy_send(struct tor_chan *chan, struct tor_tx *tx);
bool tor_chan_copy_sends(struct tor_chan *chan);

/* --- due.c --- */

/* All of the transfer of @round of op @seq has come from @rank: tell it soon. */
void tor_chan_owe(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round);

/* The time of some is up: send those that have found no company. */
void tor_chan_pay(struct tor_ctx *ctx, struct tor_chan *chan);

/* Something leaves for @rank: what is owed to it may come along, @acks[TOR_DUE_WORDS]. Return: how many. */
u32 tor_comm_take_due(struct tor_comm *comm, u32 rank, struct tor_ack *acks);

/* Send a frame of @n acknowledgements, 1 to TOR_DUE_WORDS + 1. */
void tor_comm_send_acks(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
			const struct tor_ack *acks, u32 n);

/* --- receive.c --- */

/* Apply kept frames of the current round whose turn it is, until no more can be, or may be in this entry. */
void tor_chan_release(struct tor_ctx *ctx, struct tor_chan *chan);

/* Tell those that had to wait, and need not any longer, to go on. */
void tor_chan_invite(struct tor_ctx *ctx, struct tor_chan *chan);

/* --- round.c --- */

/*
 * Run what stays here, set up the transfers of the current round and start its sends. False: not now, the
 * acknowledgement, the timer or the process that it waits for calls again.
 */
bool tor_chan_enter(struct tor_ctx *ctx, struct tor_chan *chan);

bool tor_chan_round_done(const struct tor_chan *chan);
void tor_chan_finish_round(struct tor_chan *chan);

/* --- engine.c --- */

/* The first round from @from on that is not known to be empty here. */
u32 tor_chan_next_round(const struct tor_chan *chan, u32 from);

/* How many bytes may still be moved in this entry? */
static inline u32 tor_ctx_room(const struct tor_ctx *ctx)
{
	u32 most = tor_env_budget().bytes;

	return ctx->moved < most ? most - ctx->moved : 0;
}

/* Have all frames been sent that may be in this entry? */
static inline bool tor_ctx_is_spent(const struct tor_ctx *ctx)
{
	return ctx->sent >= tor_env_budget().frames;
}

/* It was too much for this entry: a process goes on. */
void tor_chan_put_off(struct tor_ctx *ctx, struct tor_chan *chan);

/* Go on as far as possible. */
void tor_chan_run(struct tor_ctx *ctx, struct tor_chan *chan);

/* Ask for the timer at the time of what is due first. */
void tor_chan_arm(struct tor_chan *chan);

/* @rank is at another op than we are: the comm fails. */
void tor_chan_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 digest);

/* @rank is at op @seq; was that the one before, and another here? Then the comm fails: true. */
bool tor_chan_past_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq,
			    u32 digest);

#endif
