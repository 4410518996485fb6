// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Rounds of a channel: the plan sets up the transfers, local pieces are
 * executed, and the round is over when everything it receives is applied. See
 * chan.h.
 */
#include "core/engine/chan.h"

/* Open transfers of a channel with which no round begins, unless a round has as many. */
#define AHEAD_MAX	1024

/*
 * Check that early frames fit the transfer that they belong to; its digest is
 * required of the others too. Otherwise rx->digest stays what its sender said,
 * for the error report.
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
		    kept->len != tor_chan_frame_len(chan->op, rx, kept->index))
			return false;
	return true;
}

/* Find the record of the present round, which has the last ones, for @rank; NULL: there is none. */
static struct tor_tx *present_send(struct tor_chan *chan, u32 rank)
{
	struct tor_tx *tx;

	list_for_each_entry_reverse(tx, &chan->tx, list) {
		if (tx->round != chan->round)
			break;
		if (tx->rank == rank)
			return tx;
	}
	return NULL;
}

/* Add a piece of the round to the record of its transfer; false: no memory. */
static bool add_send(struct tor_chan *chan, const struct tor_piece *piece)
{
	struct tor_op *op = chan->op;
	struct tor_tx *tx = present_send(chan, piece->dst);

	if (tx) {
		tx->single = false;
	} else {
		tx = tor_chan_tx_get(chan);
		if (!tx)
			return false;
		tx->rank = piece->dst;
		tx->round = chan->round;
		tx->single = true;
		tx->dense = false;
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
		rx = tor_chan_rx_get(chan, piece->src);
		if (!rx)
			return false;
	}
	rx->single = !rx->bytes;
	if (rx->single) {
		rx->buf = piece->dbuf;
		rx->op = TOR_PIECE_COPY;
		rx->off = piece->doff * op->elem;
		/*
		 * move it to the plan's order; early ones are in order of
		 * arrival
		 */
		if (!list_is_last(&rx->list, &chan->rx)) {
			list_del(&rx->list);
			list_add_tail(&rx->list, &chan->rx);
		}
	}
	if (piece->op == TOR_PIECE_REDUCE)
		rx->op = TOR_PIECE_REDUCE;
	rx->bytes += piece->n * op->elem;
	return true;
}

/* Execute elements [at, at + n) of a local piece. */
static void local_part(const struct tor_chan *chan, const struct tor_piece *piece, u64 at, u64 n)
{
	struct tor_op *op = chan->op;
	u64 from = (piece->soff + at) * op->elem;
	u64 to = (piece->doff + at) * op->elem;
	u64 end = to + n * op->elem;
	u32 len;

	for (; to < end; from += len, to += len) {
		struct tor_bytes runs[TOR_STREAM_RUNS] __uninitialized;
		u64 off = from, there = end - to;
		struct tor_mem *mem;
		struct tor_stream s;

		mem = tor_op_source(op, chan->index, piece->sbuf, &off, &there);
		len = tor_stream_of(&s, runs, mem, off, there, op->elem);
		tor_chan_put(chan, &s, piece->dbuf, to, len, piece->op);
	}
}

/* Find the next local piece: copies, then reductions. */
static bool next_local(const struct tor_chan *chan, struct tor_local *l)
{
	const struct tor_plan *p = &chan->op->plan;

	for (; l->pass <= TOR_PIECE_REDUCE; l->pass++, l->open = false) {
		if (!l->open)
			tor_plan_begin(p, chan->index, chan->round, &l->c);
		l->open = true;
		while (tor_plan_next(p, &l->c, &l->piece)) {
			if (l->piece.src == l->piece.dst && l->piece.op == l->pass)
				return true;
			if (l->piece.src != l->piece.dst)
				tor_plan_skip(&l->c);
		}
	}
	/* it may be called again */
	l->piece.n = 0;
	return false;
}

/*
 * Execute as many local pieces as this entry may, but at least a part. Return
 * true if all are done.
 */
static bool local_portion(struct tor_ctx *ctx, const struct tor_chan *chan, struct tor_local *l)
{
	u32 elem = chan->op->elem, room;
	u64 n;

	do {
		for (; l->done < l->piece.n; l->done += n) {
			room = tor_ctx_room(ctx);
			if (!room)
				return false;
			n = min_t(u64, l->piece.n - l->done, max(room / elem, 1U));
			local_part(chan, &l->piece, l->done, n);
			ctx->moved += n * elem;
		}
		l->done = 0;
	} while (next_local(chan, l));
	return true;
}

/*
 * Continue the local pieces. False: there are more, or the FPU is not usable
 * now.
 */
static bool local_go_on(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_local *l)
{
	bool all;

	if (chan->op->is_float && !tor_env_fpu_begin()) {
		chan->retry = ctx->now + TOR_RETRY;
		return false;
	}
	all = local_portion(ctx, chan, l);
	if (chan->op->is_float)
		tor_env_fpu_end();
	if (!all)
		tor_chan_put_off(ctx, chan);
	return all;
}

static void local_begin(struct tor_local *l)
{
	l->pass = TOR_PIECE_COPY;
	l->open = false;
	l->piece.n = 0;
	l->done = 0;
}

/*
 * Execute @bytes of local pieces: all of them, or none yet if that exceeds the
 * budget of this entry. Frames that come meanwhile are early.
 */
static bool local_pieces(struct tor_ctx *ctx, struct tor_chan *chan, u64 bytes)
{
	struct tor_local l;

	if (bytes <= tor_ctx_room(ctx)) {
		local_begin(&l);
		return local_go_on(ctx, chan, &l);
	}
	if (!tor_chan_local_get(chan)) {
		chan->retry = ctx->now + TOR_RETRY;
		return false;
	}
	local_begin(chan->local);
	tor_chan_put_off(ctx, chan);
	return false;
}

/* Release the records of a round that could not be entered. */
static void round_leave(struct tor_chan *chan)
{
	struct tor_tx *tx, *next_tx;
	struct tor_rx *rx, *next_rx;

	list_for_each_entry_safe(tx, next_tx, &chan->tx, list)
		if (tx->round == chan->round)
			tor_chan_tx_put(chan, tx);
	list_for_each_entry_safe(rx, next_rx, &chan->rx, list) {
		rx->bytes = 0;
		rx->frames = 0;
		if (!rx->nkept)
			tor_chan_rx_put(chan, rx);
	}
}

/*
 * Return whether the round may begin without changing data in flight. See
 * plan.h, "Stability".
 */
static bool sends_are_stable(struct tor_chan *chan)
{
	u32 lag = chan->op->plan.shape.lag;
	struct tor_tx *tx;

	if (!lag)
		return true;
	list_for_each_entry(tx, &chan->tx, list)
		if (tx->round + lag <= chan->round && !tor_chan_copy_send(chan, tx))
			return false;
	return true;
}

/*
 * Return whether as many transfers are open as there may be before a round.
 * A root that only sends would have one for each rank: each acknowledgement and
 * each timer looks at all of them, and thousands of late ranks would take a
 * processor. Answers do not depend on what comes after: the rank in the lowest
 * round gets them, since all others have reached it.
 */
static bool is_far_ahead(const struct tor_chan *chan)
{
	return chan->nopen >= max_t(u32, AHEAD_MAX, 2 * chan->op->plan.shape.peers);
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

/*
 * Find the transfer that @rx must wait for, so that the bits do not depend on
 * the order of arrival.
 */
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
		if (before->op != TOR_PIECE_REDUCE || !rx_meets(before, rx))
			continue;
		/*
		 * the same place as the latest one, which in turn waits for
		 * those before it
		 */
		rx->after = same_place(before, rx) ? before : NULL;
		rx->last = !rx->after;
	}
}

/* Return whether the frames of a transfer to @rank use two routes. */
static bool splits(const struct tor_comm *comm, u32 rank)
{
	return tor_torus_ties(&comm->node->torus, comm->node->self, tor_comm_node(comm, rank));
}

/*
 * Add a piece of the round, or its bytes to @local if it stays here; false: no
 * memory.
 */
static bool add_piece(struct tor_chan *chan, const struct tor_piece *piece, u64 *local)
{
	const struct tor_op *op = chan->op;

	if (piece->src == piece->dst)
		*local += piece->n * op->elem;
	else
		return piece->src == op->plan.rank ? add_send(chan, piece) :
						     add_receive(chan, piece);
	return true;
}

/*
 * Add all pieces of the round, by the script or by the plan; false: no memory.
 * @any: whether there are any.
 */
static bool add_pieces(struct tor_chan *chan, u64 *local, bool *any)
{
	const struct tor_plan *plan = &chan->op->plan;
	struct tor_piece piece __uninitialized;
	struct tor_cursor c __uninitialized;
	const struct tor_piece *known;
	bool ok = true;
	u32 i = 0;

	if (tor_script_is_whole(chan)) {
		for (; ok && (known = tor_script_next(chan, &i)); *any = true)
			ok = add_piece(chan, known, local);
		return ok;
	}
	tor_plan_begin(plan, chan->index, chan->round, &c);
	while (ok && tor_plan_next(plan, &c, &piece)) {
		*any = true;
		tor_script_note(chan, &piece);
		ok = add_piece(chan, &piece, local);
	}
	tor_script_round(chan, ok);
	return ok;
}

bool tor_chan_enter(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	u32 unit = tor_op_unit(op);
	struct tor_tx *tx, *next;
	struct tor_rx *rx;
	bool patient, any = false;
	u64 local = 0;

	/*
	 * a message that stays on the node waits for its other end: see
	 * tor_chan_meet()
	 */
	if (is_far_ahead(chan) || !sends_are_stable(chan) || tor_op_stays(op))
		return false;
	if (chan->local && !local_go_on(ctx, chan, chan->local))
		return false;
	if (chan->nearly)
		tor_chan_early_take(chan);
	if (!add_pieces(chan, &local, &any)) {
		round_leave(chan);
		chan->retry = ctx->now + TOR_RETRY;
		return false;
	}
	if (local && !chan->local && !local_pieces(ctx, chan, local)) {
		round_leave(chan);
		return false;
	}
	if (chan->local)
		tor_chan_local_put(chan);
	list_for_each_entry(rx, &chan->rx, list) {
		order_receive(chan, rx);
		rx->frames = tor_div64(rx->bytes + unit - 1, unit);
		if (!rx->frames || !early_fits(chan, rx)) {
			tor_chan_mismatch(ctx, chan, rx->rank, rx->digest);
			return false;
		}
	}
	chan->entered = true;
	if (!any && chan->round < TOR_EMPTY_MAX)
		chan->empty |= BIT_ULL(chan->round);
	/*
	 * a slot can wait if there are others; at times one is in a hurry, to
	 * measure the round trip, or to go on before it is too far ahead
	 */
	patient = op->comm->depth > 2 && chan->seq % TOR_MEASURE_EVERY &&
		  chan->nopen < AHEAD_MAX / 2 && READ_ONCE(op->comm->eager) <= 0;
	list_for_each_entry_safe(tx, next, &chan->tx, list) {
		if (tx->round != chan->round)
			continue;
		tx->split = tx->bytes > unit && splits(op->comm, tx->rank);
		tor_tx_init(tx, tor_comm_path(op->comm, tx->rank), &op->comm->node->slowest,
			    tx->rank, tx->round, tx->bytes, unit, patient);
		tor_chan_push(ctx, chan, tx);
		if (chan->hurried)
			tor_tx_hurry(tx);
	}
	return true;
}

/* Return whether everything that the round sends has left once. */
static bool is_sent(const struct tor_chan *chan)
{
	const struct tor_tx *tx;

	list_for_each_entry_reverse(tx, &chan->tx, list) {
		if (tx->round != chan->round)
			break;
		if (tx->next < tx->frames)
			return false;
	}
	return true;
}

/*
 * A rank that receives something in each round cannot be far ahead of the
 * others. A rank that only sends could begin all rounds at once and flood the
 * others with early frames: it sends them one after the other. The rank in the
 * lowest round can always continue, so nobody waits for ever.
 */
bool tor_chan_round_done(const struct tor_chan *chan)
{
	const struct tor_rx *rx;
	bool receives = false;

	list_for_each_entry(rx, &chan->rx, list) {
		if (!tor_rx_done(rx) || rx->nkept)
			return false;
		receives = true;
	}
	return receives || is_sent(chan);
}

void tor_chan_finish_round(struct tor_chan *chan)
{
	struct tor_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &chan->rx, list)
		tor_chan_rx_put(chan, rx);
	chan->round++;
	chan->entered = false;
}
