// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A round of a channel: its transfers are set up from the plan, its local pieces are run, and when all that it
 * receives is applied it is over. See chan.h.
 */
#include "chan.h"
#include "stream.h"

/*
 * What came early must fit the transfer that it turns out to belong to, whose digest is what the rest must have. If it
 * does not, rx->digest stays what its sender said, to be named.
 */
static bool early_fits(const struct tor_chan *chan, struct tor_rx *rx)
{
	u32 digest = tor_op_transfer_digest(chan->op, rx->rank, false, rx->bytes);
	const struct tor_kept *kept;

	if (rx->nkept && rx->digest != digest)
		return false;
	rx->digest = digest;
	list_for_each_entry(kept, &rx->kept, list)
		if (kept->index >= rx->frames ||
		    kept->len != tor_chan_frame_len(chan->op->comm, rx, kept->index))
			return false;
	return true;
}

/* Add a piece of the round to the record of its transfer; false: no memory. */
static bool add_send(struct tor_chan *chan, const struct tor_piece *piece)
{
	struct tor_op *op = chan->op;
	struct tor_tx *tx = tor_chan_tx_find(chan, piece->dst, chan->round);

	if (tx) {
		tx->single = false;
	} else {
		tx = tor_chan_tx_get(chan);
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
	struct tor_rx *rx = tor_chan_rx_find(chan, piece->src, chan->round);

	if (!rx) {
		rx = tor_chan_rx_get(chan, piece->src, chan->round);
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

/* A piece that stays here has to do with all of a slice, so that little would be won. */
static void take_local(struct tor_chan *chan, u32 buf, u64 off, u64 len)
{
	if (chan->op->input && buf == TOR_BUF_DATA)
		tor_input_take(chan->op, chan->index, off, len);
}

/* Run a piece that stays here. */
static void local_piece(struct tor_chan *chan, const struct tor_piece *piece)
{
	struct tor_op *op = chan->op;
	u64 from = piece->soff * op->elem;
	u64 to = piece->doff * op->elem;
	u64 bytes = piece->n * op->elem;
	struct tor_mem *src, *dst;

	take_local(chan, piece->sbuf, from, bytes);
	take_local(chan, piece->dbuf, to, bytes);
	src = tor_op_mem(op, piece->sbuf, &from);
	dst = tor_op_mem(op, piece->dbuf, &to);
	tor_stream_between(src, from, dst, to, bytes, op->elem,
			   piece->op == TOR_PIECE_REDUCE ? op->reduce : NULL);
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
			tor_chan_tx_put(chan, tx);
	list_for_each_entry_safe(rx, next_rx, &chan->rx, list) {
		if (rx->round != chan->round)
			continue;
		rx->bytes = 0;
		rx->frames = 0;
		if (!rx->nkept)
			tor_chan_rx_put(chan, rx);
	}
}

/* May the round begin without changing what is still being sent? See plan.h, "Stability". */
static bool sends_are_stable(struct tor_chan *chan)
{
	struct tor_tx *tx;

	if (!chan->op->plan.shape.alternates)
		return true;
	list_for_each_entry(tx, &chan->tx, list)
		if (tx->round + 2 <= chan->round && !tor_chan_copy_send(chan, tx))
			return false;
	return true;
}

static bool same_place(const struct tor_rx *a, const struct tor_rx *b)
{
	return a->single && b->single && a->buf == b->buf && a->off == b->off &&
	       a->bytes == b->bytes;
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

/* Do the frames of a transfer to @rank take two ways? */
static bool splits(const struct tor_comm *comm, u32 rank)
{
	return tor_torus_ties(&comm->node->torus, comm->node->self, tor_comm_node(comm, rank));
}

bool tor_chan_enter(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	bool local = false, patient;
	struct tor_piece piece;
	struct tor_cursor c;
	struct tor_tx *tx, *next;
	struct tor_rx *rx;

	/* what stays on the node waits for its other end: see tor_chan_meet() */
	if (!sends_are_stable(chan) || tor_op_stays(op))
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
			tor_chan_mismatch(ctx, chan, rx->rank, rx->digest);
			return false;
		}
	}
	chan->entered = true;
	/* a slot waits, if there are others; and now and then one is in a hurry, for the round trip to be known */
	patient = op->comm->depth > 2 && chan->seq % TOR_MEASURE_EVERY;
	list_for_each_entry_safe(tx, next, &chan->tx, list) {
		if (tx->round != chan->round)
			continue;
		tx->split = tx->bytes > op->comm->unit && splits(op->comm, tx->rank);
		tor_tx_init(tx, tor_comm_path(op->comm, tx->rank), &op->comm->node->slowest,
			    tx->rank, tx->round, tx->bytes, op->comm->unit, patient);
		tor_chan_push(ctx, chan, tx);
	}
	return true;
later:
	leave(chan);
	chan->retry = ctx->now + TOR_RETRY;
	return false;
}

bool tor_chan_round_done(const struct tor_chan *chan)
{
	const struct tor_rx *rx;

	list_for_each_entry(rx, &chan->rx, list)
		if (rx->round == chan->round && (!tor_rx_done(rx) || rx->nkept))
			return false;
	return true;
}

void tor_chan_finish_round(struct tor_chan *chan)
{
	struct tor_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &chan->rx, list)
		if (rx->round == chan->round)
			tor_chan_rx_put(chan, rx);
	chan->round++;
	chan->entered = false;
}
