// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Sending on a channel: data frames of its transfers, acknowledgements, and the
 * handling of the answers. See chan.h.
 *
 * The place of a payload is not stored, unless the transfer is one range, the
 * common case. For others the plan computes it, again if frames are sent again.
 */
#include "core/engine/chan.h"

/* Frames that are gathered without a look at their ranges, which takes a walk of its own. */
#define TX_LOOK_AGAIN	16

/*
 * Append the ranges of [off, off + len) of a buffer to @n existing ones. Return
 * the new number.
 */
static u32 add_ranges(struct tor_chan *chan, u32 buf, u64 off, u64 len, struct tor_range *range, u32 n)
{
	u64 take, at;

	for (; len; off += take, len -= take, n++) {
		struct tor_mem *mem;

		at = off;
		take = len;
		mem = tor_op_source(chan->op, chan->index, buf, &at, &take);
		if (n < TOR_FRAME_RANGES)
			range[n] = (struct tor_range){ .mem = mem, .off = at, .len = take };
	}
	return n;
}

/*
 * Find the ranges of memory with bytes [off, off + len) of the transfer @tx.
 * Return their number; if it exceeds TOR_FRAME_RANGES, only that many are
 * filled in.
 */
static u32 tx_ranges(struct tor_chan *chan, struct tor_tx *tx, u64 off, u32 len,
		     struct tor_range *range)
{
	struct tor_walk here __uninitialized, *w;
	struct tor_op *op = chan->op;
	u64 skip, take;
	u32 n = 0;

	if (tx->single && !op->input) {
		range->off = tx->off + off;
		range->mem = tor_op_mem(op, tx->buf, &range->off);
		range->len = len;
		return 1;
	}
	if (tx->single)
		return add_ranges(chan, tx->buf, tx->off + off, len, range, 0);
	w = tor_chan_tx_walk(chan, tx, &here, off, len);
	while (tor_walk_next(op, w, &skip, &take))
		n = add_ranges(chan, w->piece.sbuf, w->piece.soff * op->elem + skip, take, range, n);
	return n;
}

static u32 range_crc(const struct tor_range *range, u32 n)
{
	u32 crc = ~0U;
	u32 i;

	for (i = 0; i < n; i++) {
		u64 done = 0;

		while (done < range[i].len) {
			u32 run = min_t(u64, range[i].len - done, U32_MAX);
			void *p = tor_env_mem(range[i].mem, range[i].off + done, &run);

			crc = tor_env_crc32c(crc, p, run);
			done += run;
		}
	}
	return ~crc;
}

/*
 * The checksum of bytes [off, off + len) of what @tx sends, as they came, if
 * that is known.
 */
static bool known_crc(const struct tor_chan *chan, const struct tor_tx *tx, u64 off, u32 len,
		      u32 *crc)
{
	return chan->crcs && tx->single && tx->buf == TOR_BUF_DATA &&
	       tor_crcs_find(chan->crcs, tx->off + off, len, crc);
}

u8 *tor_chan_copy_out(const struct tor_mem *mem, u64 at, u64 bytes, u8 *to)
{
	while (bytes) {
		u32 run = min_t(u64, bytes, U32_MAX);
		void *p = tor_env_mem(mem, at, &run);

		tor_env_copy(to, p, run);
		to += run;
		at += run;
		bytes -= run;
	}
	return to;
}

/*
 * Copy bytes [off, off + len) of a buffer to @to. Return the position behind
 * them.
 */
static u8 *buffer_copy_out(struct tor_chan *chan, u32 buf, u64 off, u64 len, u8 *to)
{
	u64 take, at;

	for (; len; off += take, len -= take) {
		struct tor_mem *mem;

		at = off;
		take = len;
		mem = tor_op_source(chan->op, chan->index, buf, &at, &take);
		to = tor_chan_copy_out(mem, at, take, to);
	}
	return to;
}

/* Copy bytes [off, off + len) of the transfer @tx to @to. */
static void tx_gather(struct tor_chan *chan, struct tor_tx *tx, u64 off, u32 len, u8 *to)
{
	struct tor_walk here __uninitialized, *w;
	struct tor_op *op = chan->op;
	u64 skip, take;

	if (tx->single) {
		buffer_copy_out(chan, tx->buf, tx->off + off, len, to);
		return;
	}
	w = tor_chan_tx_walk(chan, tx, &here, off, len);
	while (tor_walk_next(op, w, &skip, &take))
		to = buffer_copy_out(chan, w->piece.sbuf, w->piece.soff * op->elem + skip, take, to);
}

/*
 * What is sent again is summed again: the memory may not be any more what it
 * was.
 */
static u32 payload_crc(const struct tor_chan *chan, const struct tor_tx *tx,
		       const struct tor_frame *frame, u64 off, u32 len, u8 flags)
{
	u32 crc;

	if (frame->linear)
		return tor_wire_crc(frame->linear, len);
	if (!(flags & (TORCOLL_FLAG_RETRANSMIT | TORCOLL_FLAG_PROBE)) && known_crc(chan, tx, off, len, &crc))
		return crc;
	return range_crc(frame->range, frame->ranges);
}

static void send_frame(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx, u32 index,
		       u8 flags)
{
	struct tor_op *op = chan->op;
	struct tor_comm *comm = op->comm;
	struct tor_range range[TOR_FRAME_RANGES] __uninitialized;
	u32 unit = tor_op_unit(op);
	u64 off = (u64)index * unit;
	u32 len = min_t(u64, unit, tx->bytes - off);
	u8 hdr[sizeof(struct torcoll_hdr) + TOR_DUE_WORDS * sizeof(struct torcoll_ack)] __uninitialized;
	struct tor_frame frame = { .cable = ~0U, .hdr = hdr, .data = true };
	struct tor_ack acks[TOR_DUE_WORDS] __uninitialized;
	struct tor_hdr h __uninitialized;
	void *gathered = NULL;

	tor_node_header(comm->node, &h, TORCOLL_FRAME_DATA, tor_comm_node(comm, tx->rank));
	h.dst_epoch = tor_comm_epoch(comm, tx->rank);
	h.comm = comm->tag;
	h.op = chan->seq;
	h.digest = tor_op_transfer_digest(op, tx->rank, true, tx->bytes);
	h.where = tor_chan_where(chan, tx->round);
	h.offset = (u64)index * comm->unit;
	h.length = len;
	h.stamp = max_t(u32, tor_div64(ctx->now, NSEC_PER_USEC), 1);

	ctx->sent++;
	frame.dst = h.dst;
	/* every other frame: see tx->split */
	frame.tie = (index ^ chan->index) & 1;
	/* forwarders in a ring have one way */
	if (tx->split && comm->node->torus.ndim > 1)
		tor_tx_tie(tx, index, tor_wire_tie(h.offset, 0));
	if (tor_chan_copy_send(chan, tx)) {
		frame.linear = tx->copy;
		frame.shared = tx->copy != tx->small;
	} else {
		/* without a copy the op waits for the acknowledgement */
		if (flags & TORCOLL_FLAG_WHOLE) {
			flags = TORCOLL_FLAG_ACK;
			tx->patient = false;
		}
		/* parts that are dense end somewhere */
		if (!tx->dense || !(index % TX_LOOK_AGAIN)) {
			frame.ranges = tx_ranges(chan, tx, off, len, range);
			tx->dense = !tx->single && frame.ranges > TOR_FRAME_RANGES;
		}
		frame.range = range;
		/*
		 * may be overwritten as soon as it has left: see chan_settle()
		 */
		frame.copy = tx->bytes <= unit;
		if (tx->dense || frame.ranges > TOR_FRAME_RANGES) {
			gathered = tor_env_shared_alloc(len);
			if (!gathered) {
				tor_tx_dropped(tx, index, ctx->now);
				return;
			}
			tx_gather(chan, tx, off, len, gathered);
			frame.linear = gathered;
			frame.shared = true;
			frame.ranges = 0;
		}
	}
	if (frame.linear)
		frame.linear_len = len;
	if (comm->node->checksum_payload)
		h.payload_crc = payload_crc(chan, tx, &frame, off, len, flags);
	h.flags = flags;
	h.acks = tor_comm_take_due(comm, tx->rank, acks, tor_wire_spare_acks(comm->unit - len));
	tor_wire_build(hdr, &h, acks);
	frame.hdr_len = tor_wire_header_bytes(&h);
	if (flags & TORCOLL_FLAG_RETRANSMIT)
		tor_env_count(comm->node, TOR_C_TX_RETRANSMITS, 1);
	if (tor_env_send(ctx, comm->node, &frame)) {
		tor_tx_dropped(tx, index, ctx->now);
		tor_comm_put_due(ctx, comm, tx->rank, acks, h.acks);
	}
	if (gathered)
		tor_env_shared_free(gathered, len);
}

void tor_chan_push(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx)
{
	u32 index;
	u8 flags;

	while (!tor_ctx_is_spent(ctx) &&
	       (index = tor_tx_next(tx, ctx->now, &flags)) != TOR_NO_FRAME) {
		u64 lost = tx->lost;

		send_frame(ctx, chan, tx, index, flags);
		/* no memory or no route: the timer tries again */
		if (tx->lost & ~lost)
			return;
		if (tx->next == tx->frames && !tx->lost)
			return;
	}
	if (tor_ctx_is_spent(ctx) && tor_tx_stopped(tx, ctx->now))
		tor_chan_put_off(ctx, chan);
}

/*
 * A message of one frame is copied when it is first sent: its memory may be used
 * for something else before it is acknowledged. The copy is sent, and sent again
 * if necessary. Longer messages are waited for.
 */
bool tor_chan_copy_send(struct tor_chan *chan, struct tor_tx *tx)
{
	if (tx->copy)
		return true;
	if (tx->bytes > tor_op_unit(chan->op))
		return false;
	tx->copy = tx->bytes <= sizeof(tx->small) ? tx->small :
						    tor_chan_copy_get(chan, tx->bytes);
	if (!tx->copy)
		return false;
	tx_gather(chan, tx, 0, tx->bytes, tx->copy);
	return true;
}

bool tor_chan_copy_sends(struct tor_chan *chan)
{
	u32 unit = tor_op_unit(chan->op);
	struct tor_tx *tx;

	list_for_each_entry(tx, &chan->tx, list)
		if (tx->bytes > unit)
			return false;
	list_for_each_entry(tx, &chan->tx, list)
		if (!tor_chan_copy_send(chan, tx))
			return false;
	return true;
}

void tor_comm_send_acks(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
			const struct tor_ack *acks, u32 n)
{
	u8 hdr[sizeof(struct torcoll_hdr) +
	       (TOR_DUE_WORDS + 1) * sizeof(struct torcoll_ack)] __uninitialized;
	struct tor_frame frame = { .cable = ~0U, .hdr = hdr };
	struct tor_hdr h __uninitialized;

	tor_node_header(comm->node, &h, TORCOLL_FRAME_ACK, tor_comm_node(comm, rank));
	h.dst_epoch = tor_comm_epoch(comm, rank);
	h.comm = comm->tag;
	h.acks = n;
	tor_wire_build(hdr, &h, acks);
	frame.hdr_len = tor_wire_header_bytes(&h);
	frame.dst = h.dst;
	tor_env_count(comm->node, TOR_C_TX_ACKS, 1);
	tor_env_send(ctx, comm->node, &frame);
}

void tor_chan_send_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round,
		       const struct tor_rx *rx, enum torcoll_ack_state state, u32 stamp)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_ack ack = {
		.comm = comm->tag,
		.op = seq,
		.where = tor_chan_where(chan, round),
		.state = state,
		.base = rx ? rx->base : 0,
		.mask = rx ? rx->mask : 0,
		.stamp = stamp,
	};

	tor_comm_send_ack(ctx, comm, rank, &ack);
}

/* @rx: the record of what came from @rank, or NULL. */
static void ack_ask(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_rx *rx)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_ack ack = {
		.comm = comm->tag,
		.op = chan->seq,
		/* a rank that has sent a message is beyond its round */
		.where = tor_chan_where(chan, rx ? rx->round : chan->op->role ? 0 : chan->round),
		.state = TORCOLL_ACK_OK,
		.base = rx ? rx->base : 0,
		.mask = rx ? rx->mask : 0,
		.digest = chan->op->digest,
	};

	tor_comm_send_ack(ctx, comm, rank, &ack);
}

void tor_chan_ask(struct tor_ctx *ctx, struct tor_chan *chan, const struct tor_rx *rx)
{
	ack_ask(ctx, chan, rx->rank, rx);
}

bool tor_chan_ask_some(struct tor_ctx *ctx, struct tor_chan *chan)
{
	const struct tor_op *op = chan->op;
	const struct tor_comm *comm = op->comm;
	u32 left = tor_env_budget().frames;
	u32 rank;

	for (; chan->asked < comm->ranks; chan->asked++) {
		rank = op->role ? op->peer : chan->asked;
		/* no other rank is concerned */
		if (op->role)
			chan->asked = comm->ranks - 1;
		if (tor_comm_node(comm, rank) == comm->node->self)
			continue;
		if (!left--)
			return false;
		ack_ask(ctx, chan, rank, tor_chan_rx_find(chan, rank, chan->round));
	}
	return true;
}

static void ack_answer(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
		       const struct tor_ack *ack, enum torcoll_ack_state state)
{
	if (tor_ctx_may_answer(ctx))
		tor_chan_send_ack(ctx, chan, rank, ack->op, ack->where.round, NULL, state, 0);
}

/*
 * Handle the call that @rank, which waits for a transfer of it, reports. True:
 * the rest of @ack does not matter.
 */
static bool ack_question(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
			 const struct tor_ack *ack)
{
	s32 ahead = ack->op - chan->seq;

	if (ahead > 0 || (!ahead && chan->state == TOR_CHAN_IDLE)) {
		ack_answer(ctx, chan, rank, ack, TORCOLL_ACK_ABSENT);
		return true;
	}
	if (ahead) {
		if (!tor_chan_past_mismatch(ctx, chan, rank, ack->op, ack->digest))
			ack_answer(ctx, chan, rank, ack, TORCOLL_ACK_PAST);
		return true;
	}
	if (ack->digest != chan->op->digest) {
		tor_chan_mismatch(ctx, chan, rank, ack->digest);
		return true;
	}
	if (chan->state == TOR_CHAN_CLOSED)
		ack_answer(ctx, chan, rank, ack, TORCOLL_ACK_PAST);
	return false;
}

/*
 * @rank has ended the op, after this rank has acknowledged all that it sent.
 * What this rank still waits for was never sent: the two called different
 * things, if only lengths that nobody else knows, or @rank has forgotten what
 * it called.
 */
static void ack_past(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
		     const struct tor_ack *ack)
{
	const struct tor_rx *rx = tor_chan_rx_find(chan, rank, ack->where.round);

	if (chan->state == TOR_CHAN_RUNNING && chan->entered && ack->where.round == chan->round &&
	    rx && rx->frames && !tor_rx_done(rx))
		tor_chan_mismatch(ctx, chan, rank, 0);
}

void tor_chan_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_ack *ack)
{
	struct tor_tx *tx;
	bool sent;

	/* a rank that still waits for this one has not heard of the failure */
	if (tor_comm_failed(chan->op->comm)) {
		if (tor_ctx_may_answer(ctx))
			tor_comm_send_abort(ctx, chan->op->comm, rank);
		return;
	}
	tor_chan_keep_up(ctx, chan);
	if (ack->digest && ack_question(ctx, chan, rank, ack))
		return;
	if (ack->op != chan->seq || chan->state == TOR_CHAN_IDLE)
		return;
	if (ack->state == TORCOLL_ACK_ABSENT) {
		/* it may have called after all but the last question */
		if (chan->give_up && rank < READ_ONCE(chan->op->late))
			WRITE_ONCE(chan->op->late, rank);
		return;
	}
	if (ack->state == TORCOLL_ACK_PAST) {
		ack_past(ctx, chan, rank, ack);
		return;
	}
	tx = tor_chan_tx_find(chan, rank, ack->where.round);
	/* a transfer of a round that is being set up has sent nothing */
	if (!tx || !tx->frames)
		return;
	sent = tx->next >= tx->frames;
	tor_tx_ack(tx, ack, ctx->now);
	if (!tor_tx_done(tx)) {
		tor_chan_push(ctx, chan, tx);
		tor_chan_run(ctx, chan);
		return;
	}
	tor_chan_tx_put(chan, tx);
	/* it waits for all of them, and there may be one for each rank */
	if (chan->state == TOR_CHAN_COMPLETE && !list_empty(&chan->tx))
		return;
	/*
	 * a round that was entered waits for what it receives and for its
	 * frames to leave, not for answers; and a timer that comes too soon
	 * finds nothing
	 */
	if (!sent || chan->state != TOR_CHAN_RUNNING || !chan->entered || !chan->armed)
		tor_chan_run(ctx, chan);
}

static void tx_due(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx)
{
	struct tor_node *node = chan->op->comm->node;

	switch (tor_tx_timer(tx, ctx->now)) {
	case TOR_TX_NOTHING:
		return;
	case TOR_TX_PROBE:
		tor_env_count(node, TOR_C_TX_PROBES, 1);
		if (tx->hurried)
			tor_comm_be_eager(chan->op->comm);
		send_frame(ctx, chan, tx, tx->base, TORCOLL_FLAG_PROBE | TORCOLL_FLAG_ACK);
		return;
	case TOR_TX_TIMEOUT:
		tor_env_count(node, TOR_C_TX_TIMEOUTS, 1);
		fallthrough;
	case TOR_TX_TAIL:
	case TOR_TX_REPEAT:
		tor_chan_push(ctx, chan, tx);
		return;
	}
}

void tor_chan_tx_due(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_tx *tx, *next;

	list_for_each_entry_safe(tx, next, &chan->tx, list) {
		if (tor_ctx_is_spent(ctx)) {
			tor_chan_put_off(ctx, chan);
			return;
		}
		tx_due(ctx, chan, tx);
	}
}

void tor_chan_dropped(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
		      const struct tor_hdr *h)
{
	struct tor_tx *tx;

	if (h->op != chan->seq || chan->state == TOR_CHAN_IDLE)
		return;
	tx = tor_chan_tx_find(chan, rank, h->where.round);
	if (!tx || !tx->frames)
		return;
	tor_tx_dropped(tx, tor_div64(h->offset, chan->op->comm->unit), ctx->now);
	tor_chan_arm(chan);
}
