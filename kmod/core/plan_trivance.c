// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `trivance-bw` (Trivance, 2026): along a side, in step k, a coordinate talks to the two that are d_k
 * away, on either side, at once: ceil(log3 n) steps. `bruck-bw`: the same with both on one side, d_k and
 * 2 d_k away, as in Bruck's algorithm with two ports; frames take the shorter way.
 *
 * For any n: with distances d_0 .. d_(K-1), live offsets are L_K = {0} and L_k = L_(k+1) + {0, d_k, -d_k}
 * modulo n; the schedule is valid if L_0 is everything. Step k gives the blocks at offsets in L_k
 * without L_(k+1): that is right for every n, since a block leaves a live set once. Offsets o and -o go
 * opposite ways; what lies opposite (o = -o) goes in halves.
 *
 * Distances for sides to 64 come from a table made by a search; beyond, they are 1, 3, 9, ... and a
 * last one of ceil((n - 3^(K-1)) / 2), so that the three windows of 3^(K-1) around 0 and the last
 * distance cover the side. (The paper prints ceil((3^K - n) / 2), which leaves nodes out.)
 */
#include "plan_intervals.h"
#include "plan_lines.h"

#define SMALL_SIDE	64		/* live offsets fit a word */

/* For small sides: live offsets before each step but the first, where all are. */
struct trivance {
	struct tor_lines_state lines;
	u64 live[TOR_MAX_DIMS][3];
};

/* --- live offsets --- */

static u64 rotate(u64 set, u32 n, u32 by)
{
	u64 all = n == 64 ? ~0ULL : (1ULL << n) - 1;

	return by % n ? ((set << by % n) | (set >> (n - by % n))) & all : set;
}

static u32 distance(const struct tor_plan *p, u32 n, u32 k, u32 steps)
{
	u32 variant = p->req.param[TORCOLL_PARAM_VARIANT];

	if (!variant)
		variant = min_t(u32, p->grid.ndim, 3);
	if (n <= SMALL_SIDE)
		return tor_trivance_distances[n][variant - 1][k];
	return k < steps - 1 ? tor_power3(k) : (n - tor_power3(steps - 1) + 1) / 2;
}

/* Beyond the table: is offset @o a multiple of 3^k in a window around @center? */
static bool in_window(u32 n, u32 o, u32 center, u32 k, u32 steps)
{
	u32 up = (o + n - center) % n, away = min(up, n - up), unit = tor_power3(k);

	return away % unit == 0 && away / unit <= (tor_power3(steps - 1 - k) - 1) / 2;
}

/* Is @o in L_k? */
static bool is_live(const struct tor_side *l, u32 k, u32 o)
{
	u32 d;

	if (k == 0)
		return true;
	if (k == l->steps)
		return o == 0;
	if (l->n <= SMALL_SIDE)
		return tor_plan_state_const(l->p, struct trivance)->live[l->dim][k - 1] >> o & 1;
	d = distance(l->p, l->n, l->steps - 1, l->steps);
	return in_window(l->n, o, 0, k, l->steps) || in_window(l->n, o, d, k, l->steps) ||
	       in_window(l->n, o, l->n - d, k, l->steps);
}

static u32 trivance_steps(const struct tor_plan *p, u32 dim)
{
	return tor_log3_up(p->grid.side[dim]);
}

static u32 trivance_peers(const struct tor_plan *p, u32 dim)
{
	return 2;
}

static int trivance_setup(struct tor_plan *p, u32 dim, const char **why)
{
	struct trivance *t = tor_plan_state(p, struct trivance);
	u32 n = p->grid.side[dim], steps = tor_log3_up(n), k, d;
	u64 live = 1;

	if (p->req.param[TORCOLL_PARAM_VARIANT] > 4) {
		*why = "trivance-bw has variants 1 to 4";
		return -EINVAL;
	}
	if (n > SMALL_SIDE)
		return 0;
	for (k = steps - 1; k > 0; k--) {
		d = distance(p, n, k, steps);
		live |= rotate(live, n, d) | rotate(live, n, n - d);
		t->live[dim][k - 1] = live;
	}
	return 0;
}

static bool trivance_peer(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y)
{
	u32 d = distance(l->p, l->n, step, l->steps);

	*y = (i ? x + l->n - d : x + d) % l->n;
	return i == 0 || (i == 1 && 2 * d != l->n);
}

static u32 line_size(const struct tor_side *l, const struct tor_set *set)
{
	return !set->given && set->step == l->steps ? 1 : l->n;
}

/* Candidates are offsets from the coordinate. */
static bool trivance_nth(const struct tor_side *l, struct tor_set *set, u32 i)
{
	u32 n = l->n, d, way;
	bool up, down;

	set->coord = (set->from + i) % n;
	if (!set->given)
		return is_live(l, set->step, i);
	if (!is_live(l, set->step, i) || is_live(l, set->step + 1, i))
		return false;
	d = distance(l->p, n, set->step, l->steps);
	if (2 * d == n)
		return true;
	up = is_live(l, set->step + 1, (i + n - d) % n);
	down = is_live(l, set->step + 1, (i + d) % n);
	way = (set->to + n - set->from) % n == d ? 0 : 1;
	if (up && down && 2 * i == n)
		set->part = way;
	if (up && down)
		return 2 * i == n || (2 * i < n) == (way == 0);
	return way ? down : up;
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
	.steps = trivance_steps,
	.peers = trivance_peers,
	.peer = trivance_peer,
	.size = line_size,
	.nth = trivance_nth,
	.radix = trivance_radix,
	.digit = trivance_digit,
};

const struct tor_family tor_family_trivance_bw = {
	TOR_LINES_FAMILY(trivance_lines),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(VARIANT),
};

/* --- bruck-bw: in step k, to those 3^k and 2 * 3^k further, what lies there or beyond --- */

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
	.steps = trivance_steps,
	.peers = trivance_peers,
	.peer = bruck_peer,
	.size = line_size,
	.nth = bruck_nth,
	.radix = trivance_radix,
	.digit = trivance_digit,
};

const struct tor_family tor_family_bruck_bw = {
	TOR_LINES_FAMILY(bruck_lines),
	.params = TOR_PARAM(CHANNELS),
};
