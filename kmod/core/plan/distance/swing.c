// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `swing-bw`: De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth
 * Allreduce" (NSDI 2024), sections 3 and 4.
 *
 * Along a side, in step s, the node at an even coordinate exchanges with the
 * node rho(s) = 1 - 2 + 4 - ... further up, the node at an odd coordinate with
 * the node equally far down: 1, -1, 3, -5, 11 away. In the reduce-scatter each
 * sends the blocks that its peer keeps or passes on later and that it does not
 * pass on itself; the allgather is the reversal. Each of the 2D channels starts
 * in a different dimension, half of them with the directions mirrored. A
 * dimension that is finished is skipped.
 *
 * The coordinates reachable in steps s and later from an even coordinate are
 * (as base -2 numbers) all multiples of 2^(s+1) in a range, and rho(s) minus
 * each of them. No table is needed to decide whether a block is sent. On sides
 * that are not powers of two several of these fall on the same coordinate, so a
 * block is sent only if the sender cannot pass it on later itself.
 *
 * Odd sides (section 3.3): all coordinates but the last do the above on a side
 * that is shorter by one. The last one exchanges its blocks directly with half
 * of the others in each step.
 *
 * Order of blocks in an allreduce with all sides powers of two: by bits that
 * say, step by step, in which half of the remaining nodes a rank stays, so that
 * every transfer is one range.
 */
#include "core/plan/distance/swing.h"
#include "core/plan/neighbour/lines.h"

/* rho(s) of the paper: 1, -1, 3, -5, 11, ... */
static s32 swing_rho(u32 s)
{
	s32 power = 2 << s;

	return (s % 2 ? 1 - power : 1 + power) / 3;
}

static u32 swing_log2_up(u32 n)
{
	return n > 1 ? fls(n - 1) : 0;
}

static u32 swing_wrap(s32 c, u32 n)
{
	c %= (s32)n;
	return c < 0 ? (u32)c + n : (u32)c;
}

/* Coordinates of a side that take part in the pattern. */
static u32 swing_pattern_side(u32 side)
{
	return side & ~1U;
}

static s32 swing_sign(u32 coord, bool mirrored)
{
	return (coord % 2 != 0) != mirrored ? -1 : 1;
}

u32 tor_swing_peer(u32 m, u32 x, u32 step, bool mirrored)
{
	return swing_wrap((s32)x + swing_sign(x, mirrored) * swing_rho(step), m);
}

/*
 * The nodes that an even coordinate exchanges with, directly or through others,
 * in later steps are the even ones congruent to it modulo 2^(step + 2), and the
 * odd ones rho further. In the last step the two peers remain.
 */
u32 tor_swing_half(u32 n, u32 x, u32 step, bool mirrored)
{
	u32 steps = swing_log2_up(n), even = x;

	if (step == steps - 1)
		return x & 1;
	if (x % 2)
		even = x - swing_sign(0, mirrored) * swing_rho(steps);
	return even >> (step + 1) & 1;
}

/* --- coordinates reachable in steps @s and later, of @steps --- */

static s32 swing_reach_low(u32 s, u32 steps)
{
	return -(s32)(((1U << steps) - (2U << s)) & 0x55555555);
}

static s32 swing_reach_high(u32 s, u32 steps)
{
	return ((1U << steps) - (2U << s)) & 0xaaaaaaaa;
}

/*
 * The @i-th of 2^(steps - s) candidates from @base; false if it repeats an
 * earlier one.
 */
static bool swing_reach_nth(u32 base, s32 sign, u32 s, u32 steps, u32 m, u32 i, u32 *coord)
{
	s32 unit = 2 << s, low = swing_reach_low(s, steps), v;

	if (s >= steps) {
		*coord = base;
		return true;
	}
	v = low + (s32)(i / 2) * unit;
	if (m % unit == 0 && v - (s32)m >= low)
		return false;
	*coord = swing_wrap((s32)base + sign * (i % 2 ? swing_rho(s) - v : v), m);
	return true;
}

static bool swing_reach_has(u32 base, s32 sign, u32 s, u32 steps, u32 m, u32 coord)
{
	u32 way = swing_wrap(sign * ((s32)coord - (s32)base), m);
	s32 unit = 2 << s, low = swing_reach_low(s, steps), high = swing_reach_high(s, steps), v;

	if (s >= steps)
		return coord == base;
	for (v = low + swing_wrap((way % 2 ? swing_rho(s) - (s32)way : (s32)way) - low, m);
	     v <= high; v += m)
		if (v % unit == 0)
			return true;
	return false;
}

/* --- odd sides: peers of the last coordinate in step @s --- */

static u32 swing_turns_begin(u32 m, u32 s, u32 steps)
{
	return s >= steps ? m : m - (m >> s);
}

/* --- as a line --- */

static u32 swing_steps(const struct tor_plan *p, u32 dim)
{
	return swing_log2_up(swing_pattern_side(p->grid.side[dim]));
}

/*
 * The last coordinate first exchanges with half of the others, or with both of
 * two.
 */
static u32 swing_peers(const struct tor_plan *p, u32 dim)
{
	u32 n = p->grid.side[dim];

	return n % 2 ? max_t(u32, 2, n / 2) : 1;
}

static bool swing_peer(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y)
{
	u32 m = swing_pattern_side(l->n);
	u32 begin = swing_turns_begin(m, step, l->steps);
	u32 end = swing_turns_begin(m, step + 1, l->steps);

	if (x == m) {
		*y = begin + i;
		return *y < end;
	}
	if (i == 0) {
		*y = tor_swing_peer(m, x, step, l->mirrored);
		return true;
	}
	*y = m;
	return i == 1 && l->n % 2 && x >= begin && x < end;
}

static u32 swing_size(const struct tor_side *l, const struct tor_set *set)
{
	u32 m = swing_pattern_side(l->n);

	if (set->given)
		return set->from == m || set->to == m ? 1 : 1U << (l->steps - set->step - 1);
	if (set->from == m)
		return m + 1;
	return (1U << (l->steps - set->step)) + l->n % 2;
}

/* The coordinates that @set->to reaches in later steps and @set->from does not. */
static bool swing_given_nth(const struct tor_side *l, struct tor_set *set, u32 i)
{
	u32 m = swing_pattern_side(l->n);

	if (set->from == m || set->to == m) {
		set->coord = set->to;
		return true;
	}
	return swing_reach_nth(set->to, swing_sign(set->to, l->mirrored), set->step + 1, l->steps,
			       m, i, &set->coord) && !swing_reach_has(set->from,
								      swing_sign(set->from,
										 l->mirrored),
								      set->step + 1, l->steps, m,
								      set->coord);
}

static bool swing_nth(const struct tor_side *l, struct tor_set *set, u32 i)
{
	u32 m = swing_pattern_side(l->n), turn = swing_turns_begin(m, set->step, l->steps);

	if (set->given)
		return swing_given_nth(l, set, i);
	if (set->from == m) {
		set->coord = i;
		return i >= turn;
	}
	if (i == 1U << (l->steps - set->step)) {
		/* the last coordinate, if its turn is still to come */
		set->coord = m;
		return set->from >= turn;
	}
	return swing_reach_nth(set->from, swing_sign(set->from, l->mirrored), set->step, l->steps,
			       m, i, &set->coord);
}

static u32 swing_radix(const struct tor_plan *p, u32 dim)
{
	u32 n = p->grid.side[dim];

	return n & (n - 1) ? 0 : 2;
}

static u32 swing_digit(const struct tor_side *l, u32 step, u32 from, u32 to)
{
	return tor_swing_half(l->n, to, step, l->mirrored);
}

/* All of tor_swing_half() at once. */
static u32 swing_code(const struct tor_side *l, u32 x)
{
	u32 even = x % 2 ? x - swing_sign(0, l->mirrored) * swing_rho(l->steps) : x;
	u32 last = l->steps - 1;

	return (even >> 1 & ((1U << last) - 1)) | (x & 1) << last;
}

static const struct tor_lines swing_lines = {
	.mirrors = true,
	.steps = swing_steps,
	.peers = swing_peers,
	.peer = swing_peer,
	.size = swing_size,
	.nth = swing_nth,
	.radix = swing_radix,
	.digit = swing_digit,
	.code = swing_code,
};

const struct tor_family tor_family_swing_bw = {
	TOR_LINES_FAMILY(swing_lines),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS),
};
