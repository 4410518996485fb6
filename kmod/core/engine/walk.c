// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Walks over the pieces of a transfer, for frames that begin anywhere in it.
 * See chan.h.
 *
 * The plan yields the pieces of a round from its beginning, and a round may
 * have as many as there are ranks. Frames come and leave mostly in order, so a
 * walk continues where the frame before ended, and begins anew only for a frame
 * before that.
 */
#include "core/engine/chan.h"

/* Move to the next piece of the transfer; false: there is none. */
static bool walk_step(const struct tor_op *op, struct tor_walk *w)
{
	w->pos += w->piece.n * op->elem;
	while (tor_plan_next(&op->plan, &w->c, &w->piece)) {
		if (w->piece.src == w->src && w->piece.dst == w->dst)
			return true;
		tor_plan_skip(&w->c);
	}
	w->piece.n = 0;
	return false;
}

/*
 * Find the walk of a transfer of @frames, or make one; @here if it is of one
 * frame, or memory is short.
 */
static struct tor_walk *walk_of(struct tor_walk **kept, struct tor_walk *here, u32 frames)
{
	if (!*kept && frames > 1)
		*kept = tor_env_alloc(sizeof(**kept));
	if (*kept)
		return *kept;
	here->begun = false;
	return here;
}

static void walk_to(const struct tor_chan *chan, struct tor_walk *w, u32 round, u64 off, u64 len)
{
	w->off = off;
	w->len = len;
	if (w->begun && w->pos <= off)
		return;
	tor_plan_begin(&chan->op->plan, chan->index, round, &w->c);
	w->piece.n = 0;
	w->pos = 0;
	w->begun = true;
}

struct tor_walk *tor_chan_tx_walk(const struct tor_chan *chan, struct tor_tx *tx,
				  struct tor_walk *here, u64 off, u64 len)
{
	struct tor_walk *w = walk_of(&tx->walk, here, tx->frames);

	w->src = chan->op->plan.rank;
	w->dst = tx->rank;
	walk_to(chan, w, tx->round, off, len);
	return w;
}

struct tor_walk *tor_chan_rx_walk(const struct tor_chan *chan, struct tor_rx *rx,
				  struct tor_walk *here, u64 off, u64 len)
{
	struct tor_walk *w = walk_of(&rx->walk, here, rx->frames);

	w->src = rx->rank;
	w->dst = chan->op->plan.rank;
	walk_to(chan, w, rx->round, off, len);
	return w;
}

bool tor_walk_next(const struct tor_op *op, struct tor_walk *w, u64 *skip, u64 *take)
{
	if (!w->len)
		return false;
	while (w->pos + w->piece.n * op->elem <= w->off)
		if (!walk_step(op, w))
			return false;
	*skip = w->off - w->pos;
	*take = min(w->piece.n * op->elem - *skip, w->len);
	w->off += *take;
	w->len -= *take;
	return true;
}
