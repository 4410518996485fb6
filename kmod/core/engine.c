// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One channel of an op: enter a round, send, receive, reduce, advance. See engine.h.
 *
 * Where a payload lies is not stored but asked of the plan again whenever a frame of a transfer with
 * several ranges is sent or applied; transfers of one range, the common case, remember it.
 */
#include "engine.h"

#include "stream.h"

/* A frame that has arrived and cannot be applied yet. */
struct tor_kept {
	struct list_head list;
	u32 index;
	u32 len;
	u8 data[];
};

/* What a kept frame counts for, against TOR_KEPT_MAX: it may have brought a record of its own. */
static u32 kept_size(u32 len)
{
	return sizeof(struct tor_kept) + sizeof(struct tor_rx) + len;
}

#define DIGEST_HASH_KEY		0x6469676573740000ULL

u32 tor_op_digest(const struct tor_plan_req *req, u32 type, u32 redop, u32 bits)
{
	u64 counts = req->counts ?
		     tor_env_hash(req->counts, req->ranks * sizeof(u64), DIGEST_HASH_KEY) : 0;
	u64 word[6 + TORCOLL_PARAM_COUNT];
	u32 i, digest;

	word[0] = (u64)req->collective << 32 | req->algorithm;
	word[1] = (u64)type << 32 | redop;
	word[2] = (u64)bits << 32 | req->root;
	word[3] = req->count;
	word[4] = counts;
	word[5] = req->ranks;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		word[6 + i] = req->param[i];
	/* hosts of either endianness meet on a cable */
	for (i = 0; i < ARRAY_SIZE(word); i++)
		word[i] = (__force u64)cpu_to_be64(word[i]);
	digest = tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY);
	return digest ? digest : 1;
}

static bool collective_reduces(u32 collective)
{
	return collective == TORCOLL_ALLREDUCE || collective == TORCOLL_REDUCE ||
	       collective == TORCOLL_REDUCE_SCATTER;
}

int tor_op_begin(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		 u32 bits, const char **why)
{
	bool reduces = collective_reduces(req->collective);
	int err;

	op->elem = tor_type_size(type);
	op->reduce = reduces ? tor_reduce_kernel(type, redop) : NULL;
	if (!op->elem || (reduces && !op->reduce)) {
		*why = "this module does not reduce that type with that operator";
		return -EOPNOTSUPP;
	}
	err = tor_plan_init(&op->plan, req, op->comm->rank, why);
	if (err)
		return err;
	if (op->plan.shape.channels > op->comm->channels) {
		*why = "the plan has more channels than the comm";
		return -EOPNOTSUPP;
	}
	if (op->plan.shape.rounds > U16_MAX) {
		*why = "the plan has more rounds than a frame can name";
		return -EOPNOTSUPP;
	}
	if (reduces && !tor_reduce_exact(type, redop) && bits != TORCOLL_BITS_RELAXED &&
	    !op->plan.shape.agrees) {
		*why = "this algorithm cannot give the same float bits on every rank";
		return -EOPNOTSUPP;
	}
	op->is_float = reduces && tor_type_is_float(type);
	/* min and max as well: which of two NaNs comes out depends on who was first */
	op->ordered = op->is_float;
	op->seq = seq;
	op->type = type;
	op->redop = redop;
	op->digest = tor_op_digest(req, type, redop, bits);
	op->aborted = false;
	atomic_set(&op->busy, op->comm->channels);
	atomic_set(&op->open, op->comm->channels);
	return 0;
}

void tor_chan_init(struct tor_chan *chan, struct tor_op *op, u32 index, u32 seq)
{
	memset(chan, 0, sizeof(*chan));
	chan->op = op;
	chan->index = index;
	chan->seq = seq;
	chan->state = TOR_CHAN_IDLE;
	INIT_LIST_HEAD(&chan->rx);
	INIT_LIST_HEAD(&chan->tx);
	INIT_LIST_HEAD(&chan->spare_rx);
	INIT_LIST_HEAD(&chan->spare_tx);
}

/* --- records --- */

static struct tor_rx *rx_get(struct tor_chan *chan, u32 rank, u32 round)
{
	struct tor_rx *rx;

	if (list_empty(&chan->spare_rx)) {
		rx = tor_env_alloc(sizeof(*rx));
		if (!rx)
			return NULL;
	} else {
		rx = list_first_entry(&chan->spare_rx, struct tor_rx, list);
		list_del(&rx->list);
		memset(rx, 0, sizeof(*rx));
	}
	INIT_LIST_HEAD(&rx->kept);
	rx->rank = rank;
	rx->round = round;
	list_add_tail(&rx->list, &chan->rx);
	return rx;
}

static void kept_free(struct tor_chan *chan, struct tor_rx *rx, struct tor_kept *kept)
{
	atomic_sub(kept_size(kept->len), &chan->op->comm->kept);
	list_del(&kept->list);
	rx->nkept--;
	tor_env_free(kept);
}

static void rx_put(struct tor_chan *chan, struct tor_rx *rx)
{
	struct tor_kept *kept, *next;

	list_for_each_entry_safe(kept, next, &rx->kept, list)
		kept_free(chan, rx, kept);
	list_del(&rx->list);
	/* what an early frame brought is not ours to hoard */
	if (rx->frames)
		list_add_tail(&rx->list, &chan->spare_rx);
	else
		tor_env_free(rx);
}

static struct tor_rx *rx_find(struct tor_chan *chan, u32 rank, u32 round)
{
	struct tor_rx *rx;

	list_for_each_entry(rx, &chan->rx, list)
		if (rx->rank == rank && rx->round == round)
			return rx;
	return NULL;
}

static struct tor_tx *tx_get(struct tor_chan *chan)
{
	struct tor_tx *tx;

	if (list_empty(&chan->spare_tx)) {
		tx = tor_env_alloc(sizeof(*tx));
		if (!tx)
			return NULL;
	} else {
		tx = list_first_entry(&chan->spare_tx, struct tor_tx, list);
		list_del(&tx->list);
		memset(tx, 0, sizeof(*tx));
	}
	list_add_tail(&tx->list, &chan->tx);
	return tx;
}

static void tx_put(struct tor_chan *chan, struct tor_tx *tx)
{
	tor_env_free(tx->copy);
	list_del(&tx->list);
	list_add_tail(&tx->list, &chan->spare_tx);
}

static struct tor_tx *tx_find(struct tor_chan *chan, u32 rank, u32 round)
{
	struct tor_tx *tx;

	list_for_each_entry(tx, &chan->tx, list)
		if (tx->rank == rank && tx->round == round)
			return tx;
	return NULL;
}

/* Forget everything about the present op; @records: the spare ones, too. */
static void chan_clear(struct tor_chan *chan, bool records)
{
	struct tor_rx *rx, *next_rx;
	struct tor_tx *tx, *next_tx;

	list_for_each_entry_safe(rx, next_rx, &chan->rx, list)
		rx_put(chan, rx);
	list_for_each_entry_safe(tx, next_tx, &chan->tx, list)
		tx_put(chan, tx);
	if (!records)
		return;
	list_for_each_entry_safe(rx, next_rx, &chan->spare_rx, list) {
		list_del(&rx->list);
		tor_env_free(rx);
	}
	list_for_each_entry_safe(tx, next_tx, &chan->spare_tx, list) {
		list_del(&tx->list);
		tor_env_free(tx);
	}
}

void tor_chan_destroy(struct tor_chan *chan)
{
	chan_clear(chan, true);
}

/* --- sending --- */

/* The memory of one of the plan's buffers; @off: in the buffer, then in that memory. */
static struct tor_mem *buf_mem(const struct tor_op *op, u32 buf, u64 *off)
{
	if (buf == TOR_BUF_DATA)
		return op->data;
	*off += (buf - 1) * op->plan.req.count * op->elem;
	return op->temp;
}

/* A window [off, off + len) of a transfer's byte stream, while its pieces go by. */
struct tor_span {
	u64 off;
	u64 len;
	u64 pos;			/* stream offset of the piece at hand */
};

/* Cut what [off, off + len) has in common with a piece of @bytes: false if nothing. */
static bool span_cut(struct tor_span *s, u64 bytes, u64 *skip, u64 *take)
{
	u64 from = max(s->pos, s->off);
	u64 to = min(s->pos + bytes, s->off + s->len);

	*skip = from - s->pos;
	*take = to > from ? to - from : 0;
	s->pos += bytes;
	return *take;
}

/*
 * The ranges of memory that hold bytes [off, off + len) of what @tx sends. Return: their number; if it is above
 * TOR_FRAME_RANGES, only that many were filled in.
 */
static u32 tx_ranges(struct tor_chan *chan, const struct tor_tx *tx, u64 off, u32 len,
		     struct tor_range *range)
{
	struct tor_op *op = chan->op;
	struct tor_span span = { .off = off, .len = len };
	struct tor_piece piece;
	struct tor_cursor c;
	u64 skip, take;
	u32 n = 0;

	if (tx->single) {
		range->off = tx->off + off;
		range->mem = buf_mem(op, tx->buf, &range->off);
		range->len = len;
		return 1;
	}
	tor_plan_begin(&op->plan, chan->index, tx->round, &c);
	while (span.pos < off + len && tor_plan_next(&op->plan, &c, &piece)) {
		if (piece.src != op->plan.rank || piece.dst != tx->rank)
			continue;
		if (!span_cut(&span, piece.n * op->elem, &skip, &take))
			continue;
		if (n < TOR_FRAME_RANGES) {
			range[n].off = piece.soff * op->elem + skip;
			range[n].mem = buf_mem(op, piece.sbuf, &range[n].off);
			range[n].len = take;
		}
		n++;
	}
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

/* Copy bytes [off, off + len) of what @tx sends to @to. */
static void tx_gather(struct tor_chan *chan, const struct tor_tx *tx, u64 off, u32 len, u8 *to)
{
	struct tor_op *op = chan->op;
	struct tor_span span = { .off = off, .len = len };
	struct tor_piece piece;
	struct tor_cursor c;
	u64 skip, take;

	tor_plan_begin(&op->plan, chan->index, tx->round, &c);
	while (span.pos < off + len && tor_plan_next(&op->plan, &c, &piece)) {
		struct tor_mem *mem;
		u64 at;

		if (piece.src != op->plan.rank || piece.dst != tx->rank)
			continue;
		if (!span_cut(&span, piece.n * op->elem, &skip, &take))
			continue;
		at = piece.soff * op->elem + skip;
		mem = buf_mem(op, piece.sbuf, &at);
		while (take) {
			u32 run = min_t(u64, take, U32_MAX);
			void *p = tor_env_mem(mem, at, &run);

			memcpy(to, p, run);
			to += run;
			at += run;
			take -= run;
		}
	}
}

static void send_frame(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx, u32 index,
		       u8 flags)
{
	struct tor_op *op = chan->op;
	struct tor_comm *comm = op->comm;
	struct tor_range range[TOR_FRAME_RANGES];
	u64 off = (u64)index * comm->unit;
	u32 len = min_t(u64, comm->unit, tx->bytes - off);
	u8 hdr[sizeof(struct torcoll_hdr)];
	struct tor_frame frame = { .port = ~0U, .hdr = hdr, .hdr_len = sizeof(hdr), .data = true };
	void *gathered = NULL;
	struct tor_hdr h;

	tor_node_header(comm->node, &h, TORCOLL_FRAME_DATA, tor_comm_node(comm, tx->rank));
	h.dst_epoch = READ_ONCE(comm->epoch[tx->rank]);
	h.comm = comm->tag;
	h.op = chan->seq;
	h.digest = op->digest;
	h.channel = chan->index;
	h.flags = flags;
	h.round = tx->round;
	h.offset = off;
	h.length = len;
	h.stamp = max_t(u32, tor_div64(ctx->now, NSEC_PER_USEC), 1);

	frame.dst = h.dst;
	frame.tie = (index ^ chan->index) & 1;
	if (tx->copy) {
		frame.linear = tx->copy;
	} else {
		frame.ranges = tx_ranges(chan, tx, off, len, range);
		frame.range = range;
		/* may be overwritten as soon as it has left: see complete() */
		frame.copy = tx->bytes <= comm->unit;
		if (frame.ranges > TOR_FRAME_RANGES) {
			gathered = tor_env_alloc(len);
			if (!gathered) {
				tor_tx_dropped(tx, index, ctx->now);
				return;
			}
			tx_gather(chan, tx, off, len, gathered);
			frame.linear = gathered;
			frame.ranges = 0;
		}
	}
	if (frame.linear)
		frame.linear_len = len;
	if (comm->node->checksum_payload)
		h.payload_crc = frame.linear ? tor_wire_crc(frame.linear, len) :
					       range_crc(range, frame.ranges);
	tor_wire_build(hdr, &h, NULL);
	if (flags & TORCOLL_FLAG_RETRANSMIT)
		tor_env_count(comm->node, TOR_C_TX_RETRANSMITS, 1);
	if (tor_env_send(ctx, comm->node, &frame))
		tor_tx_dropped(tx, index, ctx->now);
	tor_env_free(gathered);
}

static void push(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx)
{
	u32 index;
	u8 flags;

	while ((index = tor_tx_next(tx, ctx->now, &flags)) != TOR_NO_FRAME) {
		u64 lost = tx->lost;

		send_frame(ctx, chan, tx, index, flags);
		/* no memory or no way: the timer tries again */
		if (tx->lost & ~lost)
			break;
	}
}

static void send_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round,
		     const struct tor_rx *rx, enum torcoll_ack_state state, u32 stamp)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_ack ack = {
		.comm = comm->tag,
		.op = seq,
		.channel = chan->index,
		.state = state,
		.round = round,
		.base = rx ? rx->base : 0,
		.mask = rx ? rx->mask : 0,
		.stamp = stamp,
	};
	u8 hdr[sizeof(struct torcoll_hdr) + sizeof(struct torcoll_ack)];
	struct tor_frame frame = { .port = ~0U, .hdr = hdr, .hdr_len = sizeof(hdr) };
	struct tor_hdr h;

	tor_node_header(comm->node, &h, TORCOLL_FRAME_ACK, tor_comm_node(comm, rank));
	h.dst_epoch = READ_ONCE(comm->epoch[rank]);
	h.comm = comm->tag;
	h.acks = 1;
	tor_wire_build(hdr, &h, &ack);
	frame.dst = h.dst;
	tor_env_count(comm->node, TOR_C_TX_ACKS, 1);
	tor_env_send(ctx, comm->node, &frame);
}

/* --- receiving --- */

static void refuse(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		   const struct tor_rx *rx)
{
	u32 i;

	tor_env_count(chan->op->comm->node, TOR_C_RX_NOT_READY, 1);
	send_ack(ctx, chan, rank, h->op, h->round, rx, TORCOLL_ACK_NOT_READY, h->stamp);
	for (i = 0; i < chan->ntold; i++)
		if (chan->told[i].rank == rank && chan->told[i].round == h->round &&
		    chan->told[i].op == h->op)
			return;
	/* a sender that is not remembered finds out by its probe */
	if (chan->ntold == TOR_TOLD_MAX)
		return;
	chan->told[chan->ntold].rank = rank;
	chan->told[chan->ntold].round = h->round;
	chan->told[chan->ntold].op = h->op;
	chan->ntold++;
}

/*
 * A frame has arrived for good. Say so at once if asked, while something is missing in between, when nothing
 * is any longer (or the sender takes for lost what was only late), and at the end.
 */
static void accept(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_rx *rx,
		   const struct tor_hdr *h, u32 index)
{
	bool gap = rx->mask;

	chan->nudge = ctx->now + TOR_NUDGE;
	tor_rx_mark(rx, index);
	tor_env_count(chan->op->comm->node, TOR_C_RX_BYTES, h->length);
	if (h->flags & TORCOLL_FLAG_ACK || gap || rx->mask || tor_rx_done(rx))
		send_ack(ctx, chan, rx->rank, h->op, h->round, rx, TORCOLL_ACK_OK, h->stamp);
}

/* Keep a frame that cannot be applied now. Acknowledges it like any other. */
static void keep(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_rx *rx,
		 const struct tor_hdr *h, const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	u32 index = tor_div64(h->offset, comm->unit);
	u32 size = kept_size(h->length);
	struct tor_kept *kept;
	u8 *to;
	u32 i;

	if (atomic_add_return(size, &comm->kept) > TOR_KEPT_MAX)
		goto refuse;
	kept = tor_env_alloc(sizeof(*kept) + h->length);
	if (!kept)
		goto refuse;
	for (i = 0, to = kept->data; i < pieces; to += payload[i++].len)
		memcpy(to, payload[i].p, payload[i].len);
	if (comm->node->checksum_payload &&
	    tor_wire_crc(kept->data, h->length) != h->payload_crc) {
		tor_env_free(kept);
		atomic_sub(size, &comm->kept);
		tor_env_drop(ctx, comm->node, TOR_C_DROP_PAYLOAD_CRC);
		return;
	}
	kept->index = index;
	kept->len = h->length;
	list_add_tail(&kept->list, &rx->kept);
	rx->nkept++;
	tor_env_count(comm->node, TOR_C_RX_EARLY, 1);
	accept(ctx, chan, rx, h, index);
	return;
refuse:
	atomic_sub(size, &comm->kept);
	refuse(ctx, chan, rx->rank, h, rx);
}

/* Has frame @index of @rx been applied, not merely kept? */
static bool rx_applied(const struct tor_rx *rx, u32 index)
{
	const struct tor_kept *kept;

	if (tor_rx_look(rx, index) != TOR_RX_DUPLICATE)
		return false;
	list_for_each_entry(kept, &rx->kept, list)
		if (kept->index == index)
			return false;
	return true;
}

static bool same_place(const struct tor_rx *a, const struct tor_rx *b)
{
	return a->single && b->single && a->buf == b->buf && a->off == b->off &&
	       a->bytes == b->bytes;
}

/*
 * May frame @index of @rx be reduced now? Where two transfers of a round meet in the same elements
 * and order matters, the one that the plan yields first goes first.
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
		if (before->round == rx->round && (!tor_rx_done(before) || before->nkept))
			return false;
	}
	return true;
}

/* Tell those that had to wait, and need not any longer, to go on. */
static void invite(struct tor_ctx *ctx, struct tor_chan *chan)
{
	u32 i = 0;

	while (i < chan->ntold) {
		u32 rank = chan->told[i].rank;
		u32 round = chan->told[i].round;
		u32 seq = chan->told[i].op;
		struct tor_rx *rx = rx_find(chan, rank, round);

		if (seq != chan->seq || !chan->entered || round > chan->round ||
		    (rx && !rx_in_turn(chan, rx, rx->base))) {
			i++;
			continue;
		}
		chan->told[i] = chan->told[--chan->ntold];
		send_ack(ctx, chan, rank, seq, round, rx,
			 rx ? TORCOLL_ACK_OK : TORCOLL_ACK_DONE, 0);
	}
}

/* Reduce or copy bytes [off, off + len) of what @rx receives. False: the FPU is not usable now. */
static bool apply(struct tor_chan *chan, const struct tor_rx *rx, u64 off, u32 len,
		  const struct tor_bytes *payload, u32 pieces)
{
	struct tor_op *op = chan->op;
	struct tor_span span = { .off = off, .len = len };
	struct tor_stream s;
	struct tor_piece piece;
	struct tor_cursor c;
	struct tor_mem *mem;
	u64 skip, take, at;
	bool fpu = op->is_float && rx->op == TOR_PIECE_REDUCE;

	if (fpu && !tor_env_fpu_begin())
		return false;
	tor_stream_init(&s, payload, pieces);
	if (rx->single) {
		at = rx->off + off;
		mem = buf_mem(op, rx->buf, &at);
		if (rx->op == TOR_PIECE_REDUCE)
			tor_stream_reduce(&s, mem, at, len / op->elem, op->elem, op->reduce);
		else
			tor_stream_copy(&s, mem, at, len);
		goto out;
	}
	tor_plan_begin(&op->plan, chan->index, rx->round, &c);
	while (span.pos < off + len && tor_plan_next(&op->plan, &c, &piece)) {
		if (piece.dst != op->plan.rank || piece.src != rx->rank)
			continue;
		if (!span_cut(&span, piece.n * op->elem, &skip, &take))
			continue;
		at = piece.doff * op->elem + skip;
		mem = buf_mem(op, piece.dbuf, &at);
		if (piece.op == TOR_PIECE_REDUCE)
			tor_stream_reduce(&s, mem, at, tor_div64(take, op->elem), op->elem,
					  op->reduce);
		else
			tor_stream_copy(&s, mem, at, take);
	}
out:
	if (fpu)
		tor_env_fpu_end();
	return true;
}

/* Apply kept frames of the current round whose turn it is, until no more can be. */
static void release(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_kept *kept, *next;
	struct tor_rx *rx;
	bool again;

	do {
		again = false;
		list_for_each_entry(rx, &chan->rx, list) {
			if (rx->round != chan->round || !rx->nkept)
				continue;
			list_for_each_entry_safe(kept, next, &rx->kept, list) {
				struct tor_bytes bytes = { kept->data, kept->len };

				if (!rx_in_turn(chan, rx, kept->index))
					continue;
				if (!apply(chan, rx, (u64)kept->index * comm->unit, kept->len,
					   &bytes, 1)) {
					chan->retry = ctx->now + TOR_RETRY;
					return;
				}
				kept_free(chan, rx, kept);
				again = true;
			}
		}
	} while (again);
}

/* --- rounds --- */

static u32 frame_len(const struct tor_comm *comm, const struct tor_rx *rx, u32 index)
{
	return min_t(u64, comm->unit, rx->bytes - (u64)index * comm->unit);
}

/* What came early must fit the transfer that it turns out to belong to. */
static bool early_fits(const struct tor_chan *chan, const struct tor_rx *rx)
{
	const struct tor_kept *kept;

	if (!rx->nkept)
		return true;
	if (rx->digest != chan->op->digest)
		return false;
	list_for_each_entry(kept, &rx->kept, list)
		if (kept->index >= rx->frames ||
		    kept->len != frame_len(chan->op->comm, rx, kept->index))
			return false;
	return true;
}

static void mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 digest)
{
	struct tor_comm *comm = chan->op->comm;

	comm->digest[0] = chan->op->digest;
	comm->digest[1] = digest;
	tor_comm_fail(ctx, comm, -EPROTO, rank, chan->seq);
}

/* Add a piece of the round to the record of its transfer; false: no memory. */
static bool add_send(struct tor_chan *chan, const struct tor_piece *piece)
{
	struct tor_op *op = chan->op;
	struct tor_tx *tx = tx_find(chan, piece->dst, chan->round);

	if (tx) {
		tx->single = false;
	} else {
		tx = tx_get(chan);
		if (!tx)
			return false;
		tx->rank = piece->dst;
		tx->round = chan->round;
		tx->single = true;
		tx->buf = piece->sbuf;
		tx->off = piece->soff * op->elem;
		tx->bytes = 0;
	}
	tx->bytes += piece->n * op->elem;
	return true;
}

static bool add_receive(struct tor_chan *chan, const struct tor_piece *piece)
{
	struct tor_op *op = chan->op;
	struct tor_rx *rx = rx_find(chan, piece->src, chan->round);

	if (!rx) {
		rx = rx_get(chan, piece->src, chan->round);
		if (!rx)
			return false;
	}
	rx->single = !rx->bytes;
	if (rx->single) {
		rx->buf = piece->dbuf;
		rx->op = TOR_PIECE_COPY;
		rx->off = piece->doff * op->elem;
		/* into the order in which the plan yields them; early ones lie in order of arrival */
		list_del(&rx->list);
		list_add_tail(&rx->list, &chan->rx);
	}
	if (piece->op == TOR_PIECE_REDUCE)
		rx->op = TOR_PIECE_REDUCE;
	rx->bytes += piece->n * op->elem;
	return true;
}

/* Run a piece that stays here. */
static void local_piece(struct tor_chan *chan, const struct tor_piece *piece)
{
	struct tor_op *op = chan->op;
	u64 from = piece->soff * op->elem;
	u64 to = piece->doff * op->elem;
	u64 left = piece->n * op->elem;
	struct tor_mem *src = buf_mem(op, piece->sbuf, &from);
	struct tor_mem *dst = buf_mem(op, piece->dbuf, &to);

	while (left) {
		struct tor_bytes bytes[TOR_FRAME_RANGES];
		u64 chunk = 0;
		struct tor_stream s;
		u32 n;

		for (n = 0; n < ARRAY_SIZE(bytes) && chunk < left; n++) {
			u32 run = min_t(u64, left - chunk, U32_MAX);

			bytes[n].p = tor_env_mem(src, from + chunk, &run);
			bytes[n].len = run;
			chunk += run;
		}
		if (chunk < left)
			chunk -= chunk % op->elem;
		tor_stream_init(&s, bytes, n);
		if (piece->op == TOR_PIECE_REDUCE)
			tor_stream_reduce(&s, dst, to, tor_div64(chunk, op->elem), op->elem,
					  op->reduce);
		else
			tor_stream_copy(&s, dst, to, chunk);
		from += chunk;
		to += chunk;
		left -= chunk;
	}
}

/* The pieces of the round that stay here: copies, then reductions. False: no FPU now. */
static bool local_pieces(struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	struct tor_piece piece;
	struct tor_cursor c;
	u32 pass;

	if (op->is_float && !tor_env_fpu_begin())
		return false;
	for (pass = TOR_PIECE_COPY; pass <= TOR_PIECE_REDUCE; pass++) {
		tor_plan_begin(&op->plan, chan->index, chan->round, &c);
		while (tor_plan_next(&op->plan, &c, &piece))
			if (piece.src == piece.dst && piece.op == pass)
				local_piece(chan, &piece);
	}
	if (op->is_float)
		tor_env_fpu_end();
	return true;
}

/* Give up the records of a round that could not be entered. */
static void leave(struct tor_chan *chan)
{
	struct tor_tx *tx, *next_tx;
	struct tor_rx *rx, *next_rx;

	list_for_each_entry_safe(tx, next_tx, &chan->tx, list)
		if (tx->round == chan->round)
			tx_put(chan, tx);
	list_for_each_entry_safe(rx, next_rx, &chan->rx, list) {
		if (rx->round != chan->round)
			continue;
		rx->bytes = 0;
		rx->frames = 0;
		if (!rx->nkept)
			rx_put(chan, rx);
	}
}

/* May the round begin without changing what is still being sent? See plan.h, "Stability". */
static bool sends_are_stable(const struct tor_chan *chan)
{
	const struct tor_tx *tx;

	if (!chan->op->plan.shape.alternates)
		return true;
	list_for_each_entry(tx, &chan->tx, list)
		if (tx->round + 2 <= chan->round)
			return false;
	return true;
}

static bool rx_meets(const struct tor_rx *a, const struct tor_rx *b)
{
	if (!a->single || !b->single)
		return true;
	return a->buf == b->buf && a->off < b->off + b->bytes && b->off < a->off + a->bytes;
}

/* Whatever the order of arrival, the bits must be the same: find out who waits for whom. */
static void order_receive(struct tor_chan *chan, struct tor_rx *rx)
{
	struct tor_rx *before;

	rx->after = NULL;
	rx->last = false;
	if (!chan->op->ordered || rx->op != TOR_PIECE_REDUCE)
		return;
	list_for_each_entry(before, &chan->rx, list) {
		if (before == rx)
			break;
		if (before->round != rx->round || before->op != TOR_PIECE_REDUCE ||
		    !rx_meets(before, rx))
			continue;
		/* the same place as the latest one, which in turn waits for those before it */
		rx->after = same_place(before, rx) ? before : NULL;
		rx->last = !rx->after;
	}
}

/*
 * Set up the transfers of the current round and start its sends. False: not now, the acknowledgement or the
 * timer that it waits for calls again.
 */
static bool enter(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	bool local = false;
	struct tor_piece piece;
	struct tor_cursor c;
	struct tor_tx *tx, *next;
	struct tor_rx *rx;

	if (!sends_are_stable(chan))
		return false;
	tor_plan_begin(&op->plan, chan->index, chan->round, &c);
	while (tor_plan_next(&op->plan, &c, &piece)) {
		if (piece.src == piece.dst)
			local = true;
		else if (!(piece.src == op->plan.rank ? add_send(chan, &piece) :
							add_receive(chan, &piece)))
			goto later;
	}
	if (local && !local_pieces(chan))
		goto later;
	list_for_each_entry(rx, &chan->rx, list) {
		if (rx->round != chan->round)
			continue;
		order_receive(chan, rx);
		rx->frames = tor_div64(rx->bytes + op->comm->unit - 1, op->comm->unit);
		if (!rx->frames || !early_fits(chan, rx)) {
			mismatch(ctx, chan, rx->rank, rx->digest);
			return false;
		}
	}
	chan->entered = true;
	list_for_each_entry_safe(tx, next, &chan->tx, list) {
		if (tx->round != chan->round)
			continue;
		tor_tx_init(tx, &op->comm->path[tx->rank], tx->rank, tx->round, tx->bytes,
			    op->comm->unit);
		push(ctx, chan, tx);
	}
	return true;
later:
	leave(chan);
	chan->retry = ctx->now + TOR_RETRY;
	return false;
}

static bool round_done(const struct tor_chan *chan)
{
	const struct tor_rx *rx;

	list_for_each_entry(rx, &chan->rx, list)
		if (rx->round == chan->round && (!tor_rx_done(rx) || rx->nkept))
			return false;
	return true;
}

static void finish_round(struct tor_chan *chan)
{
	struct tor_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &chan->rx, list)
		if (rx->round == chan->round)
			rx_put(chan, rx);
	chan->round++;
	chan->entered = false;
}

/* --- the end --- */

/*
 * The memory of the op goes back to its owner when nothing refers to it: short messages that are not acknowledged
 * yet are copied, so that they can be sent again; longer ones are waited for.
 */
static bool sends_are_copied(struct tor_chan *chan)
{
	u32 unit = chan->op->comm->unit;
	struct tor_tx *tx;

	list_for_each_entry(tx, &chan->tx, list)
		if (tx->bytes > unit)
			return false;
	list_for_each_entry(tx, &chan->tx, list) {
		if (tx->copy)
			continue;
		tx->copy = tor_env_alloc(tx->bytes);
		if (!tx->copy)
			return false;
		tx_gather(chan, tx, 0, tx->bytes, tx->copy);
	}
	return true;
}

static void settle(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;

	if (chan->state == TOR_CHAN_RUNNING && chan->round >= chan->rounds &&
	    sends_are_copied(chan)) {
		chan->state = TOR_CHAN_COMPLETE;
		if (atomic_dec_and_test(&op->busy))
			tor_env_op_done(ctx, op);
	}
	if (chan->state == TOR_CHAN_COMPLETE && list_empty(&chan->tx)) {
		chan->state = TOR_CHAN_CLOSED;
		if (atomic_dec_and_test(&op->open))
			tor_env_op_retired(ctx, op);
	}
}

static u64 earlier(u64 a, u64 b)
{
	if (!a || !b)
		return a ? a : b;
	return min(a, b);
}

static void arm(struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	struct tor_tx *tx;
	u64 when = chan->retry;

	if (chan->state == TOR_CHAN_IDLE || chan->state == TOR_CHAN_CLOSED)
		when = 0;
	list_for_each_entry(tx, &chan->tx, list)
		when = earlier(when, tor_tx_deadline(tx));
	if (chan->state == TOR_CHAN_RUNNING) {
		when = earlier(when, op->deadline);
		when = earlier(when, chan->nudge);
	}
	/* a timer that comes too soon finds nothing and is set again: cheaper than moving it */
	if (when == chan->armed || (chan->armed && when > chan->armed))
		return;
	chan->armed = when;
	tor_env_chan_timer(chan, when);
}

/* Go on as far as possible. */
static void run(struct tor_ctx *ctx, struct tor_chan *chan)
{
	while (chan->state == TOR_CHAN_RUNNING && chan->round < chan->rounds) {
		if (!chan->entered && !enter(ctx, chan))
			break;
		release(ctx, chan);
		if (!round_done(chan))
			break;
		finish_round(chan);
	}
	if (chan->ntold)
		invite(ctx, chan);
	settle(ctx, chan);
	arm(chan);
}

/* --- entry points --- */

void tor_chan_start(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	bool used = chan->index < op->plan.shape.channels;

	chan->state = TOR_CHAN_RUNNING;
	chan->round = 0;
	chan->rounds = used ? tor_plan_rounds(&op->plan, chan->index) : 0;
	chan->entered = false;
	chan->retry = 0;
	chan->nudge = ctx->now + TOR_NUDGE;
	/* whoever fails the comm aborts its channels afterwards, or is seen here */
	if (atomic_read(&op->comm->failed))
		tor_chan_abort(ctx, chan);
	else
		run(ctx, chan);
}

/* A frame of an op, or for a round, that is behind us: its sender missed an acknowledgement. */
static void repeat(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h)
{
	tor_env_count(chan->op->comm->node, TOR_C_RX_DUPLICATES, 1);
	send_ack(ctx, chan, rank, h->op, h->round, NULL, TORCOLL_ACK_DONE, h->stamp);
}

static void early(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		  const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_rx *rx = rx_find(chan, rank, h->round);

	if (!rx) {
		rx = rx_get(chan, rank, h->round);
		if (!rx) {
			refuse(ctx, chan, rank, h, NULL);
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
		keep(ctx, chan, rx, h, payload, pieces);
		break;
	case TOR_RX_DUPLICATE:
		tor_env_count(comm->node, TOR_C_RX_DUPLICATES, 1);
		send_ack(ctx, chan, rank, h->op, h->round, rx, TORCOLL_ACK_OK, h->stamp);
		break;
	case TOR_RX_BEYOND:
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		break;
	}
	/* whoever was refused for good must not leave a record behind */
	if (!rx->nkept && !rx->base && !rx->mask)
		rx_put(chan, rx);
}

/* A frame of the current round. */
static void current_data(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
			 const struct tor_hdr *h, const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_rx *rx = rx_find(chan, rank, h->round);
	u32 index = tor_div64(h->offset, comm->unit);

	if (!rx || index >= rx->frames || h->length != frame_len(comm, rx, index) ||
	    tor_rx_look(rx, index) == TOR_RX_BEYOND) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		return;
	}
	if (tor_rx_look(rx, index) == TOR_RX_DUPLICATE) {
		tor_env_count(comm->node, TOR_C_RX_DUPLICATES, 1);
		send_ack(ctx, chan, rank, h->op, h->round, rx, TORCOLL_ACK_OK, h->stamp);
		return;
	}
	if (!rx_in_turn(chan, rx, index)) {
		keep(ctx, chan, rx, h, payload, pieces);
		return;
	}
	if (comm->node->checksum_payload &&
	    tor_wire_crc_bytes(payload, pieces) != h->payload_crc) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_PAYLOAD_CRC);
		return;
	}
	if (!apply(chan, rx, h->offset, h->length, payload, pieces)) {
		tor_env_count(comm->node, TOR_C_RX_DEFERRED, 1);
		chan->retry = ctx->now + TOR_RETRY;
		keep(ctx, chan, rx, h, payload, pieces);
		return;
	}
	accept(ctx, chan, rx, h, index);
}

void tor_chan_data(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		   const struct tor_bytes *payload, u32 pieces)
{
	struct tor_comm *comm = chan->op->comm;
	s32 ahead = h->op - chan->seq;
	bool started = chan->state == TOR_CHAN_RUNNING;

	if (atomic_read(&comm->failed))
		return;
	if (!h->length || h->length > comm->unit || !h->digest ||
	    h->offset != (u64)(u32)tor_div64(h->offset, comm->unit) * comm->unit) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		return;
	}
	if (ahead > 0) {
		refuse(ctx, chan, rank, h, NULL);
		return;
	}
	if (ahead < 0) {
		repeat(ctx, chan, rank, h);
		return;
	}
	if (chan->state != TOR_CHAN_IDLE && h->digest != chan->op->digest) {
		mismatch(ctx, chan, rank, h->digest);
		return;
	}
	if (chan->state != TOR_CHAN_IDLE && (!started || h->round < chan->round)) {
		repeat(ctx, chan, rank, h);
		return;
	}
	if (started && h->round >= chan->rounds) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_RANGE);
		return;
	}
	if (started && h->round == chan->round && chan->entered)
		current_data(ctx, chan, rank, h, payload, pieces);
	else
		early(ctx, chan, rank, h, payload, pieces);
	if (started)
		run(ctx, chan);
}

void tor_chan_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_ack *ack)
{
	struct tor_tx *tx;

	/* whoever still waits for us has not heard */
	if (atomic_read(&chan->op->comm->failed)) {
		tor_comm_send_abort(ctx, chan->op->comm, rank);
		return;
	}
	if (ack->op != chan->seq || chan->state == TOR_CHAN_IDLE)
		return;
	tx = tx_find(chan, rank, ack->round);
	/* a transfer of a round that is being set up has sent nothing */
	if (!tx || !tx->frames)
		return;
	tor_tx_ack(tx, ack, ctx->now);
	if (tor_tx_done(tx))
		tx_put(chan, tx);
	else
		push(ctx, chan, tx);
	run(ctx, chan);
}

static void tx_timer(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_tx *tx)
{
	struct tor_node *node = chan->op->comm->node;

	switch (tor_tx_timer(tx, ctx->now)) {
	case TOR_TX_NOTHING:
		return;
	case TOR_TX_PROBE:
		tor_env_count(node, TOR_C_TX_PROBES, 1);
		send_frame(ctx, chan, tx, tx->base, TORCOLL_FLAG_PROBE | TORCOLL_FLAG_ACK);
		return;
	case TOR_TX_TIMEOUT:
		tor_env_count(node, TOR_C_TX_TIMEOUTS, 1);
		fallthrough;
	case TOR_TX_TAIL:
	case TOR_TX_REPEAT:
		push(ctx, chan, tx);
		return;
	}
}

/*
 * Nothing new has come for a while. Whoever sends repeats what is not acknowledged, so either a sender has
 * not come so far, or it has given up and its abort was lost: then the answer is another one. An
 * acknowledgement of what has arrived does for a question, and for an invitation that was lost.
 */
static void nudge(struct tor_ctx *ctx, struct tor_chan *chan)
{
	const struct tor_rx *rx;

	chan->nudge = ctx->now + TOR_NUDGE;
	if (!chan->entered)
		return;
	list_for_each_entry(rx, &chan->rx, list)
		if (rx->round == chan->round && !tor_rx_done(rx))
			send_ack(ctx, chan, rx->rank, chan->seq, rx->round, rx, TORCOLL_ACK_OK, 0);
}

void tor_chan_timer(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	struct tor_tx *tx, *next;

	chan->armed = 0;
	if (chan->state == TOR_CHAN_IDLE || chan->state == TOR_CHAN_CLOSED ||
	    atomic_read(&op->comm->failed))
		return;
	if (chan->retry && ctx->now >= chan->retry)
		chan->retry = 0;
	if (chan->state == TOR_CHAN_RUNNING && op->deadline && ctx->now >= op->deadline) {
		const struct tor_rx *rx;
		u32 rank = TOR_NO_RANK;

		list_for_each_entry(rx, &chan->rx, list)
			if (rx->round == chan->round && !tor_rx_done(rx) && rank == TOR_NO_RANK)
				rank = rx->rank;
		op->deadline = 0;
		tor_comm_fail(ctx, op->comm, -ETIMEDOUT, rank, chan->seq);
		return;
	}
	if (chan->state == TOR_CHAN_RUNNING && ctx->now >= chan->nudge)
		nudge(ctx, chan);
	list_for_each_entry_safe(tx, next, &chan->tx, list)
		tx_timer(ctx, chan, tx);
	run(ctx, chan);
}

void tor_chan_dropped(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
		      const struct tor_hdr *h)
{
	struct tor_tx *tx;

	if (h->op != chan->seq || chan->state == TOR_CHAN_IDLE)
		return;
	tx = tx_find(chan, rank, h->round);
	if (!tx || !tx->frames)
		return;
	tor_tx_dropped(tx, tor_div64(h->offset, chan->op->comm->unit), ctx->now);
	arm(chan);
}

void tor_chan_abort(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	enum tor_chan_state state = chan->state;

	chan_clear(chan, false);
	chan->ntold = 0;
	chan->retry = 0;
	chan->armed = 0;
	tor_env_chan_timer(chan, 0);
	if (state == TOR_CHAN_IDLE || state == TOR_CHAN_CLOSED)
		return;
	if (state == TOR_CHAN_RUNNING) {
		op->aborted = true;
		if (atomic_dec_and_test(&op->busy))
			tor_env_op_done(ctx, op);
	}
	chan->state = TOR_CHAN_CLOSED;
	if (atomic_dec_and_test(&op->open))
		tor_env_op_retired(ctx, op);
}

void tor_chan_recycle(struct tor_ctx *ctx, struct tor_chan *chan, u32 seq)
{
	u32 i = 0;

	chan_clear(chan, false);
	chan->seq = seq;
	chan->state = TOR_CHAN_IDLE;
	chan->round = 0;
	chan->entered = false;
	/* their frames can be kept from now on */
	while (i < chan->ntold) {
		u32 rank = chan->told[i].rank;
		u32 round = chan->told[i].round;

		if ((s32)(chan->told[i].op - seq) < 0) {
			chan->told[i] = chan->told[--chan->ntold];
			continue;
		}
		if (chan->told[i].op != seq) {
			i++;
			continue;
		}
		chan->told[i] = chan->told[--chan->ntold];
		send_ack(ctx, chan, rank, seq, round, NULL, TORCOLL_ACK_OK, 0);
	}
}
