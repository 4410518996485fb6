// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The state of moore per side: atoms, groups, slots, and the slots of earlier
 * steps that make up each slot of a step. Computed once. See
 * plan/distance/moore.c.
 */
#include "core/plan/distance/moore.h"

/* --- atoms --- */

/*
 * True if atom @x is inside the message to those who receive it from @side in
 * step @j.
 */
static bool side_atom_goes(u32 n, s32 x, u32 side, u32 j)
{
	u32 from = x > 0 ? 0 : 1, away = x > 0 ? x : -x;
	s32 first, last, place = 0;

	/* an atom without nodes behaves like the one before it */
	while (away && !tor_interval_nodes(n, from, away - 1))
		away--;
	if (away)
		place = tor_interval_reach(n, from, away - 1) + 1;
	tor_interval_window(n, side, j, &first, &last);
	if (from != side)
		place = -place;
	return place >= first && place <= last;
}

/*
 * The cuts between atoms -@k .. @k that must stay apart for steps after @k, as
 * bits.
 */
static u32 side_find_cuts(u32 n, u32 k, u32 steps)
{
	u32 j, side, cuts = 0;
	s32 x;

	for (x = -(s32)k; x < (s32)k; x++)
		for (j = k + 1; j < steps; j++)
			for (side = 0; side < 2; side++)
				if (side_atom_goes(n, x, side, j) !=
				    side_atom_goes(n, x + 1, side, j))
					cuts |= 1U << (x + (s32)k);
	return cuts;
}

/* The atoms that the sender sums up for those who receive from @side. */
static void side_find_window(u32 n, u32 k, u32 side, s32 *low, s32 *high)
{
	bool any = false;
	s32 x;

	for (x = -(s32)k; x <= (s32)k; x++) {
		if (!side_atom_goes(n, x, side, k))
			continue;
		*low = any ? *low : x;
		*high = x;
		any = true;
	}
}

/* Atoms that are known on either side before step @k. */
static s32 side_known_atoms(const struct tor_moore *s, u32 d, u32 k)
{
	return min_t(u32, k, s->steps[d]);
}

static void side_find_group(u32 cuts, s32 known, u32 group, s32 *low, s32 *high)
{
	*low = -known;
	for (; group; group--) {
		*low += ffs(cuts);
		cuts >>= ffs(cuts);
	}
	*high = cuts ? *low + ffs(cuts) - 1 : known;
}

/* --- slots --- */

/* Counts the slots: groups, then directions from which something comes. */
static void side_find_slots(struct tor_moore *s, u32 n, u32 d, u32 k, u8 *cuts)
{
	u32 side;

	s->groups[d][k] = 1;
	s->slots[d][k] = 1;
	*cuts = 0;
	if (k >= s->steps[d])
		return;
	*cuts = side_find_cuts(n, k, s->steps[d]);
	s->groups[d][k] += hweight8(*cuts);
	for (side = 0; side < 2; side++) {
		s->comes[d][k] |= (tor_interval_nodes(n, side, k) > 0) << side;
		s->distance[d][k][side] = tor_interval_distance(n, side, k);
	}
	s->slots[d][k] = s->groups[d][k] + hweight8(s->comes[d][k]);
}

/* The atoms of a slot, as its sender sums them up. */
static void side_find_atoms(const struct tor_moore *s, u32 n, u32 d, u32 k, u32 cuts, u32 slot,
			    s32 *low, s32 *high)
{
	u32 side = slot - s->groups[d][k];

	if (slot < s->groups[d][k])
		side_find_group(cuts, side_known_atoms(s, d, k), slot, low, high);
	else
		side_find_window(n, k, s->comes[d][k] == 2 ? 1 : side, low, high);
}

/* The slots of step @j that are inside an interval of atoms, as bits. */
static u32 side_slots_inside(const struct tor_moore *s, u32 d, u32 j, u32 cuts, s32 low, s32 high)
{
	s32 known = side_known_atoms(s, d, j);
	s32 first = max(low, -known) + known, last = min(high, known) + known;
	u32 slots = 0, begin, end, slot = s->groups[d][j];

	if (first <= last) {
		/* groups that begin before it; groups that end in or before it */
		begin = first ? 1 + hweight8(cuts & ((1U << (first - 1)) - 1)) : 0;
		end = hweight8(cuts & ((2U << last) - 1)) + (last == 2 * known);
		slots = begin < end ? (1U << end) - (1U << begin) : 0;
	}
	if (s->comes[d][j] & 1)
		slots |= (low <= (s32)j + 1 && high >= (s32)j + 1) << slot++;
	if (s->comes[d][j] & 2)
		slots |= (low <= -(s32)j - 1 && high >= -(s32)j - 1) << slot;
	return slots;
}

static void side_find_inside(struct tor_moore *s, u32 n, u32 d, const u8 *cuts)
{
	u32 k, slot, j;
	s32 low = 0, high = 0;

	for (k = 0; k < TOR_MOORE_CUT_STEPS; k++)
		for (slot = 0; slot < s->slots[d][k]; slot++) {
			side_find_atoms(s, n, d, k, cuts[k], slot, &low, &high);
			s->own[d][k] |= (low <= 0 && high >= 0) << slot;
			for (j = 0; j < k; j++)
				s->inside[d][tor_moore_row(k, slot) + j] =
					side_slots_inside(s, d, j, cuts[j], low, high);
		}
}

static void side_copy(struct tor_moore *s, u32 to, u32 from)
{
	memcpy(s->groups[to], s->groups[from], sizeof(s->groups[to]));
	memcpy(s->slots[to], s->slots[from], sizeof(s->slots[to]));
	memcpy(s->distance[to], s->distance[from], sizeof(s->distance[to]));
	memcpy(s->comes[to], s->comes[from], sizeof(s->comes[to]));
	memcpy(s->own[to], s->own[from], sizeof(s->own[to]));
	memcpy(s->inside[to], s->inside[from], sizeof(s->inside[to]));
}

void tor_moore_init_side(struct tor_plan *p, u32 d)
{
	struct tor_moore *s = tor_plan_state(p, struct tor_moore);
	/* bit x + k: atoms x and x + 1 are in different groups */
	u8 cuts[TOR_MOORE_CUT_STEPS];
	u32 n = p->grid.side[d], k;

	for (k = 0; k < d; k++)
		if (p->grid.side[k] == n) {
			side_copy(s, d, k);
			return;
		}
	for (k = 0; k < TOR_MOORE_CUT_STEPS; k++)
		side_find_slots(s, n, d, k, &cuts[k]);
	side_find_inside(s, n, d, cuts);
}
