// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Messages between two ranks, where they differ from other ops: replies while
 * one end has never called, and messages on one node. See pair.h.
 */
#include "core/engine/pair.h"

#include "core/engine/chan.h"
#include "core/transfer/stream.h"

static void pair_say(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, struct tor_ack *ack)
{
	ack->comm = comm->tag;
	tor_comm_send_ack(ctx, comm, rank, ack);
}

void tor_pair_refuse(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const struct tor_hdr *h)
{
	struct tor_ack ack = {
		.op = h->op,
		.where = { .role = TOR_ROLE_RECV, .pair = h->where.pair },
		.state = TORCOLL_ACK_NOT_READY,
		.stamp = h->stamp,
	};

	tor_env_count(comm->node, TOR_C_RX_NOT_READY, 1);
	pair_say(ctx, comm, rank, &ack);
}

void tor_pair_invite(struct tor_ctx *ctx, struct tor_chan *chan)
{
	tor_chan_send_ack(ctx, chan, chan->op->peer, chan->seq, 0, NULL, TORCOLL_ACK_OK, 0);
}

void tor_pair_absent(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const struct tor_ack *ack)
{
	struct tor_ack answer = {
		.op = ack->op,
		.where = {
			.role = tor_role_opposite(ack->where.role),
			.pair = ack->where.pair,
		},
		.state = TORCOLL_ACK_ABSENT,
	};

	if (!tor_comm_failed(comm) && !ack->digest)
		return;
	if (!tor_ctx_may_answer(ctx))
		return;
	if (tor_comm_failed(comm))
		tor_comm_send_abort(ctx, comm, rank);
	else
		pair_say(ctx, comm, rank, &answer);
}

/*
 * Return the call at the other end that corresponds to @chan's op; NULL: there
 * is none yet, or it is forgotten.
 */
static const struct tor_wire_call *called_as(const struct tor_chan *chan,
					     const struct tor_chan *other, u32 *digest)
{
	if (other->seq == chan->seq) {
		/* it may be in preparation */
		if (other->state == TOR_CHAN_IDLE)
			return NULL;
		*digest = other->op->digest;
		return &other->op->stated;
	}
	*digest = other->past;
	return other->past && other->seq == chan->seq + chan->op->comm->depth ?
		       tor_chan_past_call(other) : NULL;
}

/*
 * Copy the next bytes of a message, from the sender's vector or the held copy,
 * to the receiver's.
 */
static void pair_bring(struct tor_chan *to, struct tor_chan *from, u64 bytes)
{
	u64 end = to->met + bytes;

	while (to->met < end) {
		u32 run = min_t(u64, end - to->met, U32_MAX);
		struct tor_bytes part;
		struct tor_stream s;

		part.p = from->held ? from->held->data + to->met :
				      tor_env_mem(from->op->data, to->met, &run);
		part.len = run;
		tor_stream_init(&s, &part, 1);
		tor_stream_copy(&s, to->op->data, to->met, run);
		to->met += run;
	}
}

static void finish(struct tor_ctx *ctx, struct tor_chan *chan)
{
	chan->round = chan->rounds;
	tor_chan_run(ctx, chan);
}

/* Return whether an end has data to send or receive. */
static bool can_meet(const struct tor_chan *chan)
{
	return chan->state == TOR_CHAN_RUNNING || chan->held;
}

/*
 * Return whether the two ends mean the same message. The calls themselves are
 * compared: digests can be made to collide, and the receiver's call says how much
 * is read of what the sender has.
 */
static bool is_same(const struct tor_wire_call *call[2], const u32 digest[2])
{
	return digest[0] == digest[1] && call[0]->type == call[1]->type &&
	       call[0]->count == call[1]->count;
}

bool tor_chan_meet(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_chan *other)
{
	bool sends = chan->op->role == TOR_ROLE_SEND;
	struct tor_chan *to = sends ? other : chan, *from = sends ? chan : other;
	const struct tor_wire_call *call[2] = { &chan->op->stated };
	u64 left, bytes;
	u32 digest[2];

	/*
	 * a message without elements may be over, and the channel at the next
	 * op
	 */
	if (tor_comm_failed(chan->op->comm) || chan->state == TOR_CHAN_IDLE ||
	    chan->seq != chan->op->seq)
		return false;
	digest[0] = chan->op->digest;
	call[1] = called_as(chan, other, &digest[1]);
	if (call[1] && !is_same(call, digest))
		tor_comm_mismatch_here(ctx, chan->op->comm, chan->seq, call, digest);
	if (!call[1] || !is_same(call, digest) || other->seq != chan->seq ||
	    chan->state != TOR_CHAN_RUNNING || !can_meet(other))
		return false;
	left = to->op->plan.call.count * to->op->elem - to->met;
	bytes = min_t(u64, left, tor_env_budget().bytes);
	pair_bring(to, from, bytes);
	if (left > bytes)
		return true;
	tor_chan_let_go(from);
	finish(ctx, from);
	finish(ctx, to);
	return false;
}

void tor_chan_hold(struct tor_ctx *ctx, struct tor_chan *chan)
{
	const struct tor_op *op = chan->op;
	u64 bytes = op->plan.call.count * op->elem;

	if (chan->state != TOR_CHAN_RUNNING || chan->seq != op->seq ||
	    op->role != TOR_ROLE_SEND || bytes > tor_op_unit(op) ||
	    atomic_read(&op->comm->kept) > TOR_KEPT_HIGH)
		return;
	chan->held = tor_chan_kept_get(chan, bytes);
	if (!chan->held)
		return;
	tor_chan_copy_out(op->data, 0, bytes, chan->held->data);
	finish(ctx, chan);
}

void tor_chan_unhold(struct tor_ctx *ctx, struct tor_chan *chan)
{
	if (!chan->held)
		return;
	tor_chan_let_go(chan);
	tor_chan_run(ctx, chan);
}
