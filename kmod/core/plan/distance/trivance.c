// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `trivance-bw` (Trivance, 2026): along a side, in step k, a coordinate
 * exchanges with the two that are d_k away on either side, at once: ceil(log3
 * n) steps. `bruck-bw`: the same with both on one side, d_k and 2 d_k away, as
 * in Bruck's algorithm with two ports; frames take the shorter way.
 *
 * For any n: with distances d_0 .. d_(K-1), live offsets are L_K = {0} and L_k
 * = L_(k+1) + {0, d_k, -d_k} modulo n; the schedule is valid if L_0 is
 * everything. Step k gives the blocks at offsets in L_k without L_(k+1). That
 * is correct for every n, since a block leaves a live set once. Offsets o and
 * -o take opposite ways; the opposite offset (o = -o) is sent in halves.
 *
 * Distances for sides to 64 come from a table made by a search. Beyond, a side
 * of m * n nodes takes the steps of a side of m, and then those of a side of n,
 * m times as far, if these are together no more steps than it needs. Otherwise
 * distances are 1, 3, 9, ... and a last one of ceil((n - 3^(K-1)) / 2), so that
 * the three windows of 3^(K-1) around 0 and the last distance cover the side.
 * (The paper prints ceil((3^K - n) / 2), which leaves nodes out.)
 *
 * On sides of the table, or of two such levels, all sets are words of bits: see
 * plan/distance/trivance_levels.c. An allreduce then has an order of blocks in
 * which a transfer has few ranges: see plan/distance/trivance_runs.c.
 */
#include "core/plan/distance/trivance.h"

/* --- sides without levels --- */

/* True if offset @o is a multiple of 3^k in a window around @center. */
static bool trivance_in_window(u32 n, u32 o, u32 center, u32 k, u32 steps)
{
	u32 up = (o + n - center) % n, away = min(up, n - up), unit = tor_power3(k);

	return away % unit == 0 && away / unit <= (tor_power3(steps - 1 - k) - 1) / 2;
}

/* True if @o is in L_k. */
static bool trivance_is_live(const struct tor_side *l, u32 k, u32 o)
{
	u32 d;

	if (k == 0)
		return true;
	if (k == l->steps)
		return o == 0;
	d = tor_trivance_distance(l->p, l->dim, l->steps - 1);
	return trivance_in_window(l->n, o, 0, k, l->steps) ||
	       trivance_in_window(l->n, o, d, k, l->steps) ||
	       trivance_in_window(l->n, o, l->n - d, k, l->steps);
}

/* True if offset @i is given to set->to. */
static bool trivance_is_given(const struct tor_side *l, struct tor_set *set, u32 i, u32 d)
{
	u32 n = l->n, way;
	bool up, down;

	if (!trivance_is_live(l, set->step, i) || trivance_is_live(l, set->step + 1, i))
		return false;
	if (2 * d == n)
		return true;
	up = trivance_is_live(l, set->step + 1, (i + n - d) % n);
	down = trivance_is_live(l, set->step + 1, (i + d) % n);
	way = (set->to + n - set->from) % n == d ? 0 : 1;
	if (up && down && 2 * i == n)
		set->part = way;
	if (up && down)
		return 2 * i == n || (2 * i < n) == (way == 0);
	return way ? down : up;
}

/* --- as a line --- */

static int trivance_setup(struct tor_plan *p, u32 dim, const char **why)
{
	if (p->call.param[TORCOLL_PARAM_VARIANT] > 4) {
		*why = "trivance-bw has variants 1 to 4";
		return -EINVAL;
	}
	tor_trivance_add_levels(p, dim);
	return 0;
}

static u32 trivance_peers(const struct tor_plan *p, u32 dim)
{
	return 2;
}

static bool trivance_peer(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y)
{
	u32 d = tor_trivance_distance(l->p, l->dim, step);

	*y = (i ? x + l->n - d : x + d) % l->n;
	return i == 0 || (i == 1 && 2 * d != l->n);
}

static u32 trivance_size(const struct tor_side *l, const struct tor_set *set)
{
	return !set->given && set->step == l->steps ? 1 : l->n;
}

/*
 * On a level: only offsets that are multiples of its unit are distinct; those
 * congruent modulo the level are equivalent.
 */
static bool trivance_level_nth(const struct tor_side *l, struct tor_set *set, u32 i, u32 level)
{
	const struct tor_trivance *t = tor_trivance_of(l->p);
	const struct tor_trivance_level *v = &t->level[level];
	u64 place = 1ULL << tor_trivance_place(v, i), whole, half;
	u32 d, way;

	if (i % v->unit)
		return false;
	if (!set->given)
		return tor_trivance_live(t, level, set->step) & place;
	d = tor_trivance_distance(l->p, l->dim, set->step);
	way = (set->to + l->n - set->from) % l->n == d ? 0 : 1;
	whole = tor_trivance_given(t, level, set->step, 2 * d == l->n ? 2 : way, &half);
	if (half & place)
		set->part = way;
	return (whole | half) & place;
}

/* Candidates are offsets from the coordinate. */
static bool trivance_nth(const struct tor_side *l, struct tor_set *set, u32 i)
{
	const struct tor_trivance *t = tor_trivance_of(l->p);
	u32 level = tor_trivance_level(t, l->dim, set->step);

	set->coord = (set->from + i) % l->n;
	if (level < t->levels)
		return trivance_level_nth(l, set, i, level);
	return set->given ? trivance_is_given(l, set, i,
					      tor_trivance_distance(l->p, l->dim, set->step)) :
			    trivance_is_live(l, set->step, i);
}

static u32 trivance_radix(const struct tor_plan *p, u32 dim)
{
	return tor_is_power3(p->grid.side[dim]) ? 3 : 0;
}

static u32 trivance_digit(const struct tor_side *l, u32 step, u32 from, u32 to)
{
	return to / tor_power3(step) % 3;
}

static const struct tor_lines trivance_lines = {
	.setup = trivance_setup,
	.steps = tor_trivance_steps,
	.peers = trivance_peers,
	.peer = trivance_peer,
	.size = trivance_size,
	.nth = trivance_nth,
	.radix = trivance_radix,
	.digit = trivance_digit,
};

/* --- the family --- */

/*
 * True if transfers have runs of several blocks, but not a single range, as
 * where all sides are powers of three: see plan/neighbour/lines.c.
 */
static bool trivance_has_runs(const struct tor_plan *p)
{
	const struct tor_trivance *t = tor_trivance_of(p);

	return p->call.collective == TORCOLL_ALLREDUCE && t->words && !t->lines.ranges;
}

static bool trivance_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	return trivance_has_runs(p) ? tor_trivance_runs_transfer(p, c) : tor_lines_transfer(p, c);
}

static bool trivance_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	return trivance_has_runs(p) ? tor_trivance_runs_piece(p, c, out) :
				      tor_lines_piece(p, c, out);
}

const struct tor_family tor_family_trivance_bw = {
	.serves = TOR_COLL_BW,
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS) | TOR_PARAM(VARIANT),
	.lines = &trivance_lines,
	.init = tor_lines_init,
	.rounds = tor_lines_rounds,
	.transfer = trivance_transfer,
	.piece = trivance_piece,
};

/*
 * --- bruck-bw: in step k, to those 3^k and 2 * 3^k further, what lies there or
 * beyond ---
 */

static bool bruck_peer(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y)
{
	u32 d = (i + 1) * tor_power3(step);

	*y = (from ? x + l->n - d : x + d) % l->n;
	return i < 2 && d < l->n;
}

static bool bruck_nth(const struct tor_side *l, struct tor_set *set, u32 i)
{
	u32 unit = tor_power3(set->step);

	set->coord = (set->from + i) % l->n;
	if (i % unit)
		return false;
	return !set->given || i / unit % 3 * unit == (set->to + l->n - set->from) % l->n;
}

static const struct tor_lines bruck_lines = {
	.steps = tor_trivance_steps,
	.peers = trivance_peers,
	.peer = bruck_peer,
	.size = trivance_size,
	.nth = bruck_nth,
	.radix = trivance_radix,
	.digit = trivance_digit,
};

const struct tor_family tor_family_bruck_bw = {
	TOR_LINES_FAMILY(bruck_lines),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS),
};
