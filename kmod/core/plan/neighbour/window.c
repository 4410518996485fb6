// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `window`: an allreduce of whole slices between neighbours only. Along a side,
 * a node sends in both directions the sum of its own vector and of what came
 * from behind in the round before: the sum of a window that grows by one node
 * per round. After floor(n/2) rounds the windows from below and from above,
 * together with the own vector, cover the side. If n is even, the opposite node
 * would be in both windows: the last round adds what comes from below to the
 * first half of the slice, and what comes from above to the second half, on top
 * of the window of the other direction from the round before.
 *
 * A window is sent in the round after it was written. Three buffers per
 * direction take turns, so that a buffer is written two rounds after it was
 * last sent. The sums of whole sides take turns likewise. The last sum goes to
 * data, but not before round 2.
 */
#include "core/plan/family.h"

#define BUF_UP		1		/* windows that travel up: 1 to 3 */
#define BUF_DOWN	4
#define BUF_SIDE	7		/* sums of finished sides */
#define BUFS_WINDOW	10

struct window {
	u32 half;			/* rounds without the copy of an early result */
};

/* Position of a round. */
struct at {
	u32 dim, phase, t, last;	/* round t of the dimension, which has last + 1 */
};

static u32 window_sum_rounds(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct window)->half;
}

static int window_init(struct tor_plan *p, const char **why)
{
	p->shape.channels = tor_plan_channels(p, 1, p->grid.ndim);
	if (!p->shape.channels) {
		*why = "window has as many channels as sides longer than 1";
		return -EINVAL;
	}
	tor_plan_state(p, struct window)->half = tor_torus_diameter(&p->grid);
	p->shape.peers = 2;
	p->shape.bufs = BUFS_WINDOW;
	p->shape.alternates = true;
	p->shape.agrees = tor_plan_in_pairs(p);
	return 0;
}

static u32 window_rounds(const struct tor_plan *p, u32 channel)
{
	return max_t(u32, 3, window_sum_rounds(p));
}

static void window_find_round(const struct tor_plan *p, const struct tor_cursor *c, struct at *at)
{
	u32 k = c->round;

	at->phase = 0;
	at->dim = c->channel % p->grid.ndim;
	while (k >= p->grid.side[at->dim] / 2) {
		k -= p->grid.side[at->dim] / 2;
		at->dim = (c->channel + ++at->phase) % p->grid.ndim;
	}
	at->t = k;
	at->last = p->grid.side[at->dim] / 2 - 1;
}

/* The buffer with the sum over the first @phases dimensions. */
static u32 window_side_buf(const struct tor_plan *p, u32 phases)
{
	if (!phases || (phases == p->grid.ndim && window_sum_rounds(p) > 2))
		return TOR_BUF_DATA;
	return BUF_SIDE + phases % 3;
}

/* The buffer with the window of direction @base that is sent in this round. */
static u32 window_buf(const struct tor_plan *p, const struct tor_cursor *c, const struct at *at,
		      u32 base)
{
	return at->t ? base + c->round % 3 : window_side_buf(p, at->phase);
}

static bool window_set(const struct tor_plan *p, struct tor_cursor *c, u32 src, u32 dst, u32 sbuf,
		       u32 dbuf, u32 part)
{
	c->src = src;
	c->dst = dst;
	c->sbuf = sbuf;
	c->dbuf = dbuf;
	if (src == dst)
		c->op = TOR_PIECE_COPY;
	c->family[0] = part;
	/* no need to move what is there already */
	c->family[1] = src == dst && sbuf == dbuf;
	return true;
}

/*
 * The base to which the windows, or in the last round the sum, are added. On an
 * even side the last round continues from the windows that came in the round
 * before: that from above for the first half.
 */
static bool window_set_base(const struct tor_plan *p, struct tor_cursor *c, const struct at *at)
{
	u32 base = c->transfer ? BUF_DOWN : BUF_UP, sum = window_side_buf(p, at->phase + 1);
	bool even = p->grid.side[at->dim] % 2 == 0;

	if (at->t < at->last)
		return window_set(p, c, p->rank, p->rank, window_side_buf(p, at->phase),
				  base + (c->round + 1) % 3, 2);
	if (!even)
		return window_set(p, c, p->rank, p->rank, window_side_buf(p, at->phase), sum,
				  c->transfer ? 3 : 2);
	base = c->transfer ? BUF_UP : BUF_DOWN;
	return window_set(p, c, p->rank, p->rank, window_buf(p, c, at, base), sum, c->transfer);
}

/*
 * Transfers: two local copies, sent up, sent down, received from below,
 * received from above.
 */
static bool window_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	bool down = c->transfer % 2, mine = c->transfer < 4;
	u32 base = down ? BUF_DOWN : BUF_UP, peer, part = 2;
	struct at at;

	if (c->transfer > 5)
		return false;
	if (c->round >= window_sum_rounds(p))
		return c->round == 2 && !c->transfer &&
		       window_set(p, c, p->rank, p->rank, window_side_buf(p, p->grid.ndim),
				  TOR_BUF_DATA, 2);
	window_find_round(p, c, &at);
	if (c->transfer < 2)
		return window_set_base(p, c, &at);
	if (at.t == at.last && p->grid.side[at.dim] % 2 == 0)
		part = down;
	/* on a side of 2 both neighbours are the same: one transfer */
	if (p->grid.side[at.dim] == 2)
		part = down ? 3 : 2;
	peer = tor_torus_shift(&p->grid, p->rank, at.dim, mine == down ? -1 : 1);
	return window_set(p, c, mine ? p->rank : peer, mine ? peer : p->rank,
			  window_buf(p, c, &at, base),
			  at.t < at.last ? base + (c->round + 1) % 3 :
					   window_side_buf(p, at.phase + 1),
			  part);
}

/* Part 0, 1: a half; 2: all; 3: nothing. */
static bool window_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct tor_span s = tor_plan_slice(p, c->channel);
	u32 part = c->family[0];

	if (c->family[1]++ || part > 2)
		return false;
	tor_piece_in_place(out, part == 2 ? s : tor_span_half(s, part));
	return true;
}

const struct tor_family tor_family_window = {
	.serves = TOR_COLL(ALLREDUCE),
	.params = TOR_PARAM(CHANNELS),
	.init = window_init,
	.rounds = window_rounds,
	.transfer = window_transfer,
	.piece = window_piece,
};
