// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The allreduce of trivance-bw on sides with levels: the order of blocks, and
 * transfers as runs of it.
 *
 * A block's number has a digit for each level: the place of its rank there.
 * First come the first levels of all sides, beginning with the side in which
 * the channel starts, then the second levels. A transfer carries a product of
 * sets of places, each a word of bits. A run of neighbouring places of the last
 * level that is not complete is one range of blocks.
 *
 * Sets that are equal from every place except for a shift cannot be single
 * ranges in any order unless they are cosets: of all windows of v by w places
 * of a torus, each two neighbouring places are separated by 2v or 2w of them,
 * so that a window has at least min(v, w) ranges on average.
 */
#include "core/plan/distance/trivance.h"

struct at {
	struct tor_lines_step step;
	bool gather;
	bool halves;			/* the walk is over the place of which half is sent */
	u8 way;
	u8 given;			/* digit of the level of this step */
	u8 split;			/* the last digit that is not complete */
	u8 order[TOR_TRIVANCE_LEVELS];	/* levels, most significant first */
	u8 place[TOR_TRIVANCE_LEVELS];	/* of digits before the split */
	u32 base;			/* number formed by them */
	u32 unit;			/* blocks in a place of the split */
	u32 longer;			/* this many blocks have one element more */
	u64 off, len;			/* of the slice; elements of a block */
	u64 rest;			/* places of the split not yet visited */
	u64 half;
	u64 set[TOR_TRIVANCE_LEVELS];	/* by digit */
};

static const struct tor_trivance_level *runs_digit(const struct tor_plan *p, const struct at *at,
						   u32 i)
{
	return &tor_trivance_of(p)->level[at->order[i]];
}

/* --- rounds --- */

static void runs_find_order(const struct tor_plan *p, u32 channel, struct at *at)
{
	const struct tor_trivance *t = tor_trivance_of(p);
	u32 second, i, g, n = 0;

	for (second = 0; second < 2; second++)
		for (i = 0; i < p->grid.ndim; i++)
			for (g = 0; g < t->levels; g++)
				if (t->level[g].dim ==
				    (tor_plan_way(p, channel) + i) % p->grid.ndim &&
				    (t->level[g].first > 0) == second)
					at->order[n++] = g;
}

/* Finds the live set of each digit, and the digit of this step. */
static void runs_find_sets(const struct tor_plan *p, u32 channel, struct at *at)
{
	const struct tor_trivance *t = tor_trivance_of(p);
	const struct tor_trivance_level *l;
	u32 i, x, step, level = tor_trivance_level(t, at->step.dim, at->step.step);

	for (i = 0; i < t->levels; i++) {
		l = runs_digit(p, at, i);
		x = tor_torus_coord(&p->grid, p->rank, l->dim);
		step = tor_lines_before(p, channel, &at->step, l->dim);
		at->set[i] = tor_trivance_rotate(tor_trivance_live(t, at->order[i], step), l->n,
						 tor_trivance_place(l, x));
		if (at->order[i] == level)
			at->given = i;
	}
}

static void runs_begin_round(const struct tor_plan *p, const struct tor_cursor *c, struct at *at)
{
	u32 k = tor_plan_fold(p, c->round, tor_trivance_of(p)->lines.half, &at->gather);
	struct tor_span s = tor_plan_slice(p, c->channel);

	at->off = s.off;
	at->len = tor_div64(s.n, p->call.ranks);
	at->longer = s.n - at->len * p->call.ranks;
	tor_lines_find_step(p, c->channel, k, &at->step);
	runs_find_order(p, c->channel, at);
	runs_find_sets(p, c->channel, at);
}

/* --- runs --- */

static void runs_find_base(const struct tor_plan *p, struct at *at)
{
	u32 i;

	at->base = 0;
	for (i = 0; i < at->split; i++)
		at->base = at->base * runs_digit(p, at, i)->n + at->place[i];
	at->base *= runs_digit(p, at, i)->n;
	at->rest = at->set[i];
}

/* Advances to the first run of the product of the sets. */
static void runs_begin(const struct tor_plan *p, struct at *at)
{
	u32 i = tor_trivance_of(p)->levels - 1;

	for (at->unit = 1; i && at->set[i] == tor_trivance_all(runs_digit(p, at, i)->n); i--)
		at->unit *= runs_digit(p, at, i)->n;
	at->split = i;
	while (i-- > 0)
		at->place[i] = __ffs64(at->set[i]);
	runs_find_base(p, at);
}

/* Advances to the next places of the digits before the split. */
static bool runs_next_base(const struct tor_plan *p, struct at *at)
{
	u32 i = at->split;
	u64 rest;

	while (i-- > 0) {
		rest = at->set[i] & ~((2ULL << at->place[i]) - 1);
		at->place[i] = __ffs64(rest ? rest : at->set[i]);
		if (rest) {
			runs_find_base(p, at);
			return true;
		}
	}
	return false;
}

static bool runs_begin_halves(const struct tor_plan *p, struct at *at)
{
	if (at->halves || !at->half)
		return false;
	at->halves = true;
	at->set[at->given] = at->half;
	runs_begin(p, at);
	return true;
}

/* --- as a family --- */

/* Transfers: sent up, received from below, sent down, received from above. */
bool tor_trivance_runs_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	const struct tor_trivance *t = tor_trivance_of(p);
	const struct tor_trivance_level *l;
	struct at *at = (struct at *)c->family;
	u32 way = c->transfer / 2, from = c->transfer % 2, n, d, x, y;
	u64 set;

	if (!c->transfer)
		runs_begin_round(p, c, at);
	n = p->grid.side[at->step.dim];
	d = tor_trivance_distance(p, at->step.dim, at->step.step);
	if (way > (2 * d != n))
		return false;
	x = tor_torus_coord(&p->grid, p->rank, at->step.dim);
	y = (way == from ? x + d : x + n - d) % n;
	c->src = c->dst = p->rank;
	*(from ? &c->src : &c->dst) += (y - x) * p->grid.stride[at->step.dim];
	if (at->gather) {
		swap(c->src, c->dst);
		c->op = TOR_PIECE_COPY;
	}
	l = runs_digit(p, at, at->given);
	set = tor_trivance_given(t, at->order[at->given], at->step.step, 2 * d == n ? 2 : way,
				 &at->half);
	x = tor_trivance_place(l, from ? y : x);
	at->half = tor_trivance_rotate(at->half, l->n, x);
	at->set[at->given] = tor_trivance_rotate(set, l->n, x);
	at->way = way;
	at->halves = false;
	if (set)
		runs_begin(p, at);
	else if (!runs_begin_halves(p, at))
		at->rest = 0;
	return true;
}

bool tor_trivance_runs_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 low, places, first, last;
	struct tor_span s;
	u64 other;

	if (!at->rest && !(at->set[at->given] && runs_next_base(p, at)) &&
	    !runs_begin_halves(p, at))
		return false;
	low = __ffs64(at->rest);
	other = ~(at->rest >> low);
	places = other ? __ffs64(other) : 64;
	/* adding its lowest place carries over the run */
	at->rest &= at->rest + (1ULL << low);
	first = (at->base + low) * at->unit;
	last = first + places * at->unit;
	s.off = at->off + first * at->len + min(first, at->longer);
	s.n = at->off + last * at->len + min(last, at->longer) - s.off;
	tor_piece_in_place(out, at->halves ? tor_span_half(s, at->way) : s);
	return true;
}
