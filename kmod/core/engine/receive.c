// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reception on a channel. Frames enter at tor_chan_data(), at the end of this
 * file: those of the present round are applied in turn (rx_current()), early
 * ones are kept or refused (rx_early()), late ones are acknowledged again
 * (rx_repeat()). See chan.h.
 */
#include "core/engine/chan.h"
#include "core/wire/accept.h"

/* shortest transfer whose checksums are worth remembering: frames, or bytes of several */
#define CRCS_FROM	4
#define CRCS_BYTES	32768

/* Acknowledge frame @h; @rx: the record of its transfer, or NULL. */
static void rx_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		   const struct tor_rx *rx, enum torcoll_ack_state state)
{
	tor_chan_send_ack(ctx, chan, rank, h->op, h->where.round, rx, state, h->stamp);
}

/* Return whether a sender that waits is wanted after one of @op and @round. */
static bool waits_after(const struct tor_waiting *w, u32 op, u32 round)
{
	return w->op == op ? w->round > round : (s32)(w->op - op) > 0;
}

/*
 * Return a place for a sender of @op and @round: a free one, or else that of who
 * is wanted last, if that is later. NULL: there is none.
 */
static struct tor_waiting *waiting_place(struct tor_chan *chan, u32 op, u32 round)
{
	struct tor_waiting *w, *last = chan->waiting;

	if (chan->nwaiting < TOR_WAITING_MAX)
		return &chan->waiting[chan->nwaiting++];
	for (w = last + 1; w < chan->waiting + TOR_WAITING_MAX; w++)
		if (waits_after(w, last->op, last->round))
			last = w;
	return waits_after(last, op, round) ? last : NULL;
}

/* There is no place for a sender: remember its rank, or one of several. */
static void forget(struct tor_chan *chan, u32 rank, u32 op)
{
	const struct tor_comm *comm = chan->op->comm;

	/*
	 * each rank may be at a call in which it is the root, and be that in
	 * several in a row, as ranks of a node are; who is farther ahead, or
	 * claims to be, finds out by its probe
	 */
	if (op - chan->seq > TOR_FORGET_AHEAD * (comm->depth + tor_comm_user_ranks(comm)))
		return;
	if (!chan->forgotten || (s32)(op - chan->forgotten_op) > 0)
		chan->forgotten_op = op;
	chan->forgotten |= BIT_ULL(rank % 64);
}

/* Tell a sender to wait, and remember it. */
static void tell_to_wait(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
			 const struct tor_hdr *h, const struct tor_rx *rx)
{
	u32 i, known = chan->nwaiting;
	struct tor_waiting *place;

	rx_ack(ctx, chan, rank, h, rx, TORCOLL_ACK_NOT_READY);
	for (i = 0; i < chan->nwaiting; i++)
		if (chan->waiting[i].rank == rank && chan->waiting[i].round == h->where.round &&
		    chan->waiting[i].op == h->op)
			return;
	place = waiting_place(chan, h->op, h->where.round);
	if (!place)
		forget(chan, rank, h->op);
	else if (chan->nwaiting == known)
		forget(chan, place->rank, place->op);
	if (place)
		*place = (struct tor_waiting){
			.rank = rank,
			.round = h->where.round,
			.op = h->op,
		};
}

static void rx_not_ready(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
			 const struct tor_hdr *h, const struct tor_rx *rx)
{
	tor_env_count(chan->op->comm->node, TOR_C_RX_NOT_READY, 1);
	tell_to_wait(ctx, chan, rank, h, rx);
}

/*
 * Record the arrival of a frame, and acknowledge it: later, if it is a whole
 * transfer; at once, if the sender asks, while a frame before it is missing,
 * when it fills the last gap (or the sender takes for lost what was only late),
 * and at the end. With little room left, as not ready.
 */
static void rx_arrived(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_rx *rx,
		       const struct tor_hdr *h, u32 index)
{
	struct tor_comm *comm = chan->op->comm;
	bool gap = rx->mask;

	chan->nudge = ctx->now + TOR_NUDGE;
	tor_rx_mark(rx, index);
	tor_env_count(comm->node, TOR_C_RX_BYTES, h->length);
	/* stop a sender that has more, before frames must be refused and sent again */
	if (rx->nkept && atomic_read(&comm->kept) > TOR_KEPT_HIGH &&
	    !(h->flags & TORCOLL_FLAG_WHOLE) && !tor_rx_done(rx))
		tell_to_wait(ctx, chan, rx->rank, h, rx);
	else if (h->flags & TORCOLL_FLAG_WHOLE)
		tor_chan_owe(ctx, chan, rx->rank, h->op, h->where.round);
	else if (h->flags & TORCOLL_FLAG_ACK || gap || rx->mask || tor_rx_done(rx))
		rx_ack(ctx, chan, rx->rank, h, rx, TORCOLL_ACK_OK);
}

/* Keep a frame that cannot be applied now. Acknowledges it like any other. */
static void rx_keep(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_rx *rx,
		    const struct tor_hdr *h, const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	u32 index = tor_div64(h->offset, comm->unit);
	struct tor_kept *kept;
	u8 *to;
	u32 i;

	kept = tor_chan_kept_get(chan, h->length);
	if (!kept) {
		rx_not_ready(ctx, chan, rx->rank, h, rx);
		return;
	}
	for (i = 0, to = kept->data; i < pieces; to += payload[i++].len)
		tor_env_copy(to, payload[i].p, payload[i].len);
	if (comm->node->checksum_payload &&
	    tor_wire_crc(kept->data, h->length) != h->payload_crc) {
		tor_chan_kept_put(chan, kept);
		tor_env_drop(ctx, comm->node, TOR_C_DROP_PAYLOAD_CRC);
		return;
	}
	kept->index = index;
	kept->crc = h->payload_crc;
	tor_chan_kept_add(rx, kept);
	tor_env_count(comm->node, TOR_C_RX_EARLY, 1);
	rx_arrived(ctx, chan, rx, h, index);
}

/* Return whether frame @index of @rx has been applied, not merely kept. */
static bool rx_applied(const struct tor_rx *rx, u32 index)
{
	const struct tor_kept *kept;

	if (tor_rx_look(rx, index) != TOR_RX_DUPLICATE)
		return false;
	if (!rx->nkept)
		return true;
	/* those in front were applied: what is kept is in order */
	list_for_each_entry(kept, &rx->kept, list)
		if (kept->index >= index)
			return kept->index > index;
	return true;
}

/*
 * Return whether frame @index of @rx may be applied now. If two transfers of a
 * round write the same elements and order matters, the first that the plan
 * yields goes first.
 */
static bool rx_in_turn(const struct tor_chan *chan, const struct tor_rx *rx, u32 index)
{
	const struct tor_rx *before;

	if (rx->after)
		return rx_applied(rx->after, index);
	if (!rx->last)
		return true;
	list_for_each_entry(before, &chan->rx, list) {
		if (before == rx)
			break;
		if (!tor_rx_done(before) || before->nkept)
			return false;
	}
	return true;
}

void tor_chan_invite(struct tor_ctx *ctx, struct tor_chan *chan)
{
	u32 i = 0;

	while (i < chan->nwaiting) {
		u32 rank = chan->waiting[i].rank;
		u32 round = chan->waiting[i].round;
		u32 seq = chan->waiting[i].op;
		struct tor_rx *rx = tor_chan_rx_find(chan, rank, round);

		if (seq != chan->seq || !chan->entered || round > chan->round ||
		    (rx && !rx_in_turn(chan, rx, rx->base))) {
			i++;
			continue;
		}
		chan->waiting[i] = chan->waiting[--chan->nwaiting];
		/* no record: that round is over, so all of it has arrived */
		tor_chan_send_ack(ctx, chan, rank, seq, round, rx,
				  rx ? TORCOLL_ACK_OK : TORCOLL_ACK_DONE, 0);
	}
}

void tor_chan_invite_forgotten(struct tor_ctx *ctx, struct tor_chan *chan)
{
	u32 left = tor_env_budget().frames;
	const struct tor_rx *rx;

	if ((s32)(chan->forgotten_op - chan->seq) < 0) {
		chan->forgotten = 0;
		return;
	}
	list_for_each_entry(rx, &chan->rx, list) {
		if (tor_rx_done(rx) || !(chan->forgotten >> rx->rank % 64 & 1))
			continue;
		/* the others find out by their probes */
		if (!left--)
			return;
		tor_chan_send_ack(ctx, chan, rx->rank, chan->seq, rx->round, rx, TORCOLL_ACK_OK, 0);
	}
}

/* Return whether a transfer is long enough; what is sent on in one frame is a copy. */
static bool is_worth_crcs(const struct tor_rx *rx)
{
	return rx->frames >= CRCS_FROM || (rx->frames > 1 && rx->bytes >= CRCS_BYTES);
}

/*
 * Remember the checksum of a contiguous copy from @rx, which may be sent on.
 * Short transfers are not worth the memory.
 */
static void remember_crc(struct tor_chan *chan, const struct tor_rx *rx, u64 off, u32 len, u32 crc)
{
	if (rx->op != TOR_PIECE_COPY || rx->buf != TOR_BUF_DATA || !is_worth_crcs(rx) ||
	    tor_chan_next_round(chan, rx->round + 1) >= chan->rounds ||
	    !chan->op->comm->node->checksum_payload)
		return;
	/*
	 * tried at the first frame only: without memory they are computed again
	 * when they are sent
	 */
	if (!chan->crcs && !off)
		tor_chan_crcs_get(chan, rx->frames);
	if (chan->crcs)
		tor_crcs_set(chan->crcs, rx->off + off, len, crc);
}

/*
 * Reduce or copy frame @index of the transfer @rx, whose checksum is @crc.
 * False: the FPU is not usable now.
 */
static bool rx_apply(struct tor_chan *chan, struct tor_rx *rx, u32 index, u32 len,
		     const struct tor_bytes *payload, u32 pieces, u32 crc)
{
	struct tor_walk here __uninitialized, *w = NULL;
	struct tor_op *op = chan->op;
	u64 off = (u64)index * tor_op_unit(op);
	struct tor_stream s;
	u64 skip, take;
	bool fpu = op->is_float && rx->op == TOR_PIECE_REDUCE;

	/* it may allocate, which a section of the FPU must not */
	if (!rx->single)
		w = tor_chan_rx_walk(chan, rx, &here, off, len);
	if (fpu && !tor_env_fpu_begin())
		return false;
	tor_stream_init(&s, payload, pieces);
	if (!w)
		tor_chan_put(chan, &s, rx->buf, rx->off + off, len, rx->op);
	while (w && tor_walk_next(op, w, &skip, &take))
		tor_chan_put(chan, &s, w->piece.dbuf, w->piece.doff * op->elem + skip, take,
			     w->piece.op);
	if (fpu)
		tor_env_fpu_end();
	if (!w)
		remember_crc(chan, rx, off, len, crc);
	return true;
}

/*
 * Apply the kept frames of one transfer, up to the first that is not in turn:
 * those behind it are looked at when it is. False: stop for now, since the
 * budget of this entry is spent, or the FPU is not usable.
 */
static bool rx_release(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_rx *rx)
{
	struct tor_kept *kept, *next;

	list_for_each_entry_safe(kept, next, &rx->kept, list) {
		struct tor_bytes bytes = { kept->data, kept->len };

		if (!rx_in_turn(chan, rx, kept->index))
			return true;
		if (!tor_ctx_room(ctx)) {
			tor_chan_put_off(ctx, chan);
			return false;
		}
		ctx->moved += kept->len;
		if (!rx_apply(chan, rx, kept->index, kept->len, &bytes, 1,
			      kept->crc)) {
			chan->retry = ctx->now + TOR_RETRY;
			return false;
		}
		tor_chan_kept_free(chan, rx, kept);
	}
	return true;
}

void tor_chan_release(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_rx *rx;

	/*
	 * once is enough: transfers of a round are listed as the plan yields
	 * them, and wait only for those before them
	 */
	list_for_each_entry(rx, &chan->rx, list)
		if (rx->nkept && !rx_release(ctx, chan, rx))
			return;
}

/*
 * Handle a frame that has arrived before: its sender missed an acknowledgement.
 * @rx: its record; NULL: of a past op or round.
 */
static void rx_repeat(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		      const struct tor_rx *rx)
{
	tor_env_count(chan->op->comm->node, TOR_C_RX_DUPLICATES, 1);
	rx_ack(ctx, chan, rank, h, rx, rx ? TORCOLL_ACK_OK : TORCOLL_ACK_DONE);
}

/* Keep a frame of a later round, or of one that is not entered yet. */
static void rx_early(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		     const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_rx *rx = tor_chan_rx_find(chan, rank, h->where.round);

	if (!rx) {
		rx = tor_chan_early_get(chan, rank, h->where.round);
		if (!rx) {
			rx_not_ready(ctx, chan, rank, h, NULL);
			return;
		}
		rx->digest = h->digest;
	}
	if (rx->digest != h->digest) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		return;
	}
	switch (tor_rx_look(rx, tor_div64(h->offset, comm->unit))) {
	case TOR_RX_NEW:
		rx_keep(ctx, chan, rx, h, payload, pieces);
		break;
	case TOR_RX_DUPLICATE:
		rx_repeat(ctx, chan, rank, h, rx);
		break;
	case TOR_RX_BEYOND:
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		break;
	}
	/* a transfer of which nothing was kept must not leave a record behind */
	if (!rx->nkept && !rx->base && !rx->mask)
		tor_chan_rx_put(chan, rx);
}

/* Handle a frame of the current round. */
static void rx_current(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
		       const struct tor_hdr *h, const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_rx *rx = tor_chan_rx_find(chan, rank, h->where.round);
	u32 index = tor_div64(h->offset, comm->unit);

	/*
	 * the two ends of the transfer disagree about it; where all ranks know
	 * the call, this was found before
	 */
	if (chan->op->own_lengths && (!rx || rx->digest != h->digest)) {
		tor_chan_mismatch(ctx, chan, rank, h->digest);
		return;
	}
	if (!rx || index >= rx->frames || h->length != tor_chan_frame_len(chan->op, rx, index) ||
	    tor_rx_look(rx, index) == TOR_RX_BEYOND) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		return;
	}
	if (tor_rx_look(rx, index) == TOR_RX_DUPLICATE) {
		rx_repeat(ctx, chan, rank, h, rx);
		return;
	}
	if (!rx_in_turn(chan, rx, index)) {
		rx_keep(ctx, chan, rx, h, payload, pieces);
		return;
	}
	if (comm->node->checksum_payload &&
	    tor_wire_crc_bytes(payload, pieces) != h->payload_crc) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_PAYLOAD_CRC);
		return;
	}
	if (!rx_apply(chan, rx, index, h->length, payload, pieces, h->payload_crc)) {
		tor_env_count(comm->node, TOR_C_RX_DEFERRED, 1);
		chan->retry = ctx->now + TOR_RETRY;
		rx_keep(ctx, chan, rx, h, payload, pieces);
		return;
	}
	rx_arrived(ctx, chan, rx, h, index);
}

void tor_chan_data(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		   const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	bool idle, running;
	s32 ahead;

	/* it may have failed since the caller looked */
	if (tor_comm_failed(comm))
		return;
	tor_chan_keep_up(ctx, chan);
	ahead = h->op - chan->seq;
	idle = chan->state == TOR_CHAN_IDLE;
	running = chan->state == TOR_CHAN_RUNNING;
	if (!tor_wire_fits(h, comm->unit)) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		return;
	}
	if (ahead > 0) {
		rx_not_ready(ctx, chan, rank, h, NULL);
		return;
	}
	if (ahead < 0) {
		if (chan->past_own_lengths ||
		    !tor_chan_past_mismatch(ctx, chan, rank, h->op, h->digest))
			rx_repeat(ctx, chan, rank, h, NULL);
		return;
	}
	if (!idle && h->digest != chan->op->digest && !chan->op->own_lengths) {
		tor_chan_mismatch(ctx, chan, rank, h->digest);
		return;
	}
	if (!idle && (!running || h->where.round < chan->round)) {
		rx_repeat(ctx, chan, rank, h, NULL);
		return;
	}
	if (running && h->where.round >= chan->rounds) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		return;
	}
	if (running && h->where.round == chan->round && chan->entered)
		rx_current(ctx, chan, rank, h, payload, pieces);
	else
		rx_early(ctx, chan, rank, h, payload, pieces);
	/* an acknowledgement may be owed for an early frame, too */
	if (running)
		tor_chan_run(ctx, chan);
	else
		tor_chan_arm(chan);
}
