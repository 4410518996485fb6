// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Levels of the sides of trivance-bw. See plan/distance/trivance.h. */
#include "core/plan/distance/trivance.h"

/*
 * A row of the table: the variant requested, or the one for this number of
 * dimensions.
 */
static const u8 *level_distances(const struct tor_plan *p, u32 n)
{
	u32 variant = p->call.param[TORCOLL_PARAM_VARIANT];

	return tor_trivance_distances[n][(variant ? variant : min_t(u32, p->grid.ndim, 3)) - 1];
}

static u32 level_hops(const struct tor_plan *p, u32 n)
{
	const u8 *d = level_distances(p, n);

	return d[0] + d[1] + d[2] + d[3];
}

/*
 * Splits a side beyond the table into two levels. Returns the places of the
 * first, or 0 if two levels would take more steps than the side has. Of several
 * splits it takes the one with the fewest hops.
 */
static u32 level_find_split(const struct tor_plan *p, u32 n)
{
	u32 m, least = U32_MAX, best = 0;

	for (m = 2; m <= TOR_TRIVANCE_WORD; m++) {
		if (n % m || n / m > TOR_TRIVANCE_WORD ||
		    tor_log3_up(m) + tor_log3_up(n / m) != tor_log3_up(n))
			continue;
		if (level_hops(p, m) + m * level_hops(p, n / m) < least) {
			least = level_hops(p, m) + m * level_hops(p, n / m);
			best = m;
		}
	}
	return best;
}

/* The inverse of 3 modulo @n, or 1 if there is none. */
static u32 level_find_spread(u32 n)
{
	return n % 3 == 1 ? (2 * n + 1) / 3 : n % 3 == 2 ? (n + 1) / 3 : 1;
}

static void level_add(struct tor_plan *p, u32 dim, u32 first, u32 unit, u32 n)
{
	struct tor_trivance *t = tor_plan_state(p, struct tor_trivance);
	struct tor_trivance_level *l = &t->level[t->levels];
	u32 k, spread = level_find_spread(n);
	u64 live = 1;

	*l = (struct tor_trivance_level){
		.dim = dim, .first = first, .steps = tor_log3_up(n), .unit = unit, .n = n,
		.spread = spread,
	};
	for (k = l->steps; k-- > 0;) {
		l->d[k] = level_distances(p, n)[k] * spread % n;
		if (!k)
			break;
		live |= tor_trivance_rotate(live, n, l->d[k]) |
			tor_trivance_rotate(live, n, (n - l->d[k]) % n);
		t->live[t->levels][k - 1] = live;
	}
	t->levels++;
}

void tor_trivance_add_levels(struct tor_plan *p, u32 dim)
{
	struct tor_trivance *t = tor_plan_state(p, struct tor_trivance);
	u32 n = p->grid.side[dim], m;

	if (!dim)
		t->words = true;
	if (n <= TOR_TRIVANCE_WORD) {
		level_add(p, dim, 0, 1, n);
		return;
	}
	m = level_find_split(p, n);
	if (!m) {
		t->words = false;
		return;
	}
	level_add(p, dim, 0, 1, m);
	level_add(p, dim, tor_log3_up(m), m, n / m);
}

u32 tor_trivance_level(const struct tor_trivance *t, u32 dim, u32 step)
{
	u32 i;

	for (i = 0; i < t->levels; i++)
		if (t->level[i].dim == dim && step - t->level[i].first < t->level[i].steps)
			break;
	return i;
}

u32 tor_trivance_steps(const struct tor_plan *p, u32 dim)
{
	return tor_log3_up(p->grid.side[dim]);
}

u32 tor_trivance_distance(const struct tor_plan *p, u32 dim, u32 step)
{
	const struct tor_trivance *t = tor_trivance_of(p);
	u32 i = tor_trivance_level(t, dim, step), n = p->grid.side[dim], steps;

	if (i < t->levels)
		return t->level[i].unit *
		       level_distances(p, t->level[i].n)[step - t->level[i].first];
	/*
	 * at least as far as the step before: live sets grow less, and fewer
	 * bytes go that far
	 */
	steps = tor_log3_up(n);
	return step < steps - 1 ? tor_power3(step) :
				  max((n - tor_power3(steps - 1) + 1) / 2, tor_power3(steps - 2));
}

u64 tor_trivance_live(const struct tor_trivance *t, u32 level, u32 step)
{
	const struct tor_trivance_level *l = &t->level[level];

	if (step <= l->first)
		return tor_trivance_all(l->n);
	return step >= l->first + l->steps ? 1 : t->live[level][step - l->first - 1];
}

u64 tor_trivance_given(const struct tor_trivance *t, u32 level, u32 step, u32 way, u64 *half)
{
	const struct tor_trivance_level *l = &t->level[level];
	u32 n = l->n, d = l->d[step - l->first];
	u64 kept = tor_trivance_live(t, level, step + 1);
	u64 given = tor_trivance_live(t, level, step) & ~kept, up, down, both, near, opposite;

	*half = 0;
	if (way == 2)
		return given;
	up = given & tor_trivance_rotate(kept, n, d);
	down = given & tor_trivance_rotate(kept, n, (n - d) % n);
	both = up & down;
	near = tor_trivance_all((n + 1) / 2);
	opposite = n % 2 ? 0 : 1ULL << n / 2;
	*half = both & opposite;
	return way ? (down & ~both) | (both & ~near & ~opposite) : (up & ~both) | (both & near);
}
