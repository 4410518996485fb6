// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Boxes, atoms, groups and slots of moore. See plan_moore.c for what they are. */
#include "plan_moore.h"

static const struct tor_moore *state_of(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_moore);
}

/* --- along one side --- */

bool tor_moore_active(const struct tor_plan *p, u32 d, u32 k)
{
	return k < state_of(p)->steps[d];
}

/* Is atom @x inside of what goes to those who get it from @side in step @j? */
static bool atom_goes(u32 n, s32 x, u32 side, u32 j)
{
	u32 from = x > 0 ? 0 : 1, away = x > 0 ? x : -x;
	s32 first, last, place = 0;

	/* one without nodes does what the one before it does */
	while (away && !tor_interval_nodes(n, from, away - 1))
		away--;
	if (away)
		place = tor_interval_reach(n, from, away - 1) + 1;
	tor_interval_window(n, side, j, &first, &last);
	if (from != side)
		place = -place;
	return place >= first && place <= last;
}

/* Before step @k: which of the atoms -@k .. @k must stay apart for steps after it. */
u32 tor_moore_cuts(u32 n, u32 k, u32 steps)
{
	u32 j, side, cuts = 0;
	s32 x;

	for (x = -(s32)k; x < (s32)k; x++)
		for (j = k + 1; j < steps; j++)
			for (side = 0; side < 2; side++)
				if (atom_goes(n, x, side, j) != atom_goes(n, x + 1, side, j))
					cuts |= 1U << (x + (s32)k);
	return cuts;
}

static u32 cuts_of(const struct tor_plan *p, u32 d, u32 k)
{
	return tor_moore_active(p, d, k) && k < TOR_MOORE_CUT_STEPS ? state_of(p)->cuts[d][k] : 0;
}

static u32 groups_of(const struct tor_plan *p, u32 d, u32 k)
{
	return 1 + hweight64(cuts_of(p, d, k));
}

/* Does something come from @side in step @k? */
static bool comes(const struct tor_plan *p, u32 d, u32 side, u32 k)
{
	return tor_moore_active(p, d, k) && tor_interval_nodes(p->grid.side[d], side, k);
}

/* Groups, then directions. */
u32 tor_moore_slots(const struct tor_plan *p, u32 d, u32 k)
{
	return groups_of(p, d, k) + comes(p, d, 0, k) + comes(p, d, 1, k);
}

static u32 slot_of_side(const struct tor_plan *p, u32 d, u32 side, u32 k)
{
	return groups_of(p, d, k) + (side && comes(p, d, 0, k));
}

/* The atoms of a group. */
static void group_atoms(const struct tor_plan *p, u32 d, u32 k, u32 group, s8 *low, s8 *high)
{
	u32 cuts = cuts_of(p, d, k), known = min_t(u32, k, state_of(p)->steps[d]);

	*low = -(s32)known;
	for (; group; group--) {
		*low += ffs(cuts);
		cuts >>= ffs(cuts);
	}
	*high = cuts ? *low + ffs(cuts) - 1 : (s32)known;
}

/* The atoms, where it is received, of what has this slot in step @k. */
static void slot_atoms(const struct tor_plan *p, u32 d, u32 k, u32 slot, s8 *low, s8 *high)
{
	if (slot < groups_of(p, d, k)) {
		group_atoms(p, d, k, slot, low, high);
		return;
	}
	*low = k + 1;
	if (!comes(p, d, 0, k) || slot != slot_of_side(p, d, 0, k))
		*low = -*low;
	*high = *low;
}

/* The atoms that the sender puts together for those who get it from @side. */
static void window_atoms(const struct tor_plan *p, u32 d, u32 k, u32 side, s8 *low, s8 *high)
{
	s32 x, known = k;
	bool any = false;

	for (x = -known; x <= known; x++) {
		if (!atom_goes(p->grid.side[d], x, side, k))
			continue;
		*low = any ? *low : x;
		*high = x;
		any = true;
	}
}

/* --- boxes --- */

u32 tor_moore_digit(u32 pattern, u32 d)
{
	return pattern / tor_power3(d) % 3;
}

/* Is there such a message in step @k? */
bool tor_moore_pattern(const struct tor_plan *p, u32 pattern, u32 k)
{
	u32 d, digit;

	for (d = 0; d < p->grid.ndim; d++) {
		digit = tor_moore_digit(pattern, d);
		if (digit && !comes(p, d, digit - 1, k))
			return false;
	}
	return pattern;
}

/*
 * Message @i of a pattern: its box where it is sent, and its place among all of the step. False: there are no
 * more.
 */
bool tor_moore_message(const struct tor_plan *p, struct tor_moore_at *at, u32 i, u32 *place)
{
	u32 d, digit, slot, unit = 1;

	*place = 0;
	for (d = 0; d < p->grid.ndim; d++) {
		digit = tor_moore_digit(at->pattern, d);
		if (digit) {
			slot = slot_of_side(p, d, digit - 1, at->k);
			window_atoms(p, d, at->k, digit - 1, &at->low[d], &at->high[d]);
		} else {
			slot = i % groups_of(p, d, at->k);
			i /= groups_of(p, d, at->k);
			group_atoms(p, d, at->k, slot, &at->low[d], &at->high[d]);
		}
		*place += slot * unit;
		unit *= tor_moore_slots(p, d, at->k);
	}
	return !i;
}

/* Which slots of step j are inside the box; the first ones. False: in some dimension none is. */
static bool enter_step(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, slot, n;
	s8 low, high;

	for (d = 0; d < p->grid.ndim; d++) {
		at->slots[d] = 0;
		n = tor_moore_slots(p, d, at->j);
		for (slot = 0; slot < n; slot++) {
			slot_atoms(p, d, at->j, slot, &low, &high);
			if (low >= at->low[d] && high <= at->high[d])
				at->slots[d] |= 1U << slot;
		}
		if (!at->slots[d])
			return false;
		at->slot[d] = ffs(at->slots[d]) - 1;
	}
	return true;
}

/* The next combination of slots, dimension 0 fastest. */
static bool next_slots(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, rest;

	for (d = 0; d < p->grid.ndim; d++) {
		rest = at->slots[d] & ~((2U << at->slot[d]) - 1);
		at->slot[d] = ffs(rest ? rest : at->slots[d]) - 1;
		if (rest)
			return true;
	}
	return false;
}

/* The part with these slots, by its number in step j. False: it is none, but groups in all dimensions. */
static bool is_part(const struct tor_plan *p, const struct tor_moore_at *at, u32 *part)
{
	u32 d, unit = 1;
	bool groups = true;

	*part = 0;
	for (d = 0; d < p->grid.ndim; d++) {
		groups &= at->slot[d] < groups_of(p, d, at->j);
		*part += at->slot[d] * unit;
		unit *= tor_moore_slots(p, d, at->j);
	}
	return !groups;
}

static bool own_inside(const struct tor_plan *p, const struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++)
		if (at->low[d] > 0 || at->high[d] < 0)
			return false;
	return true;
}

/* The buffer of the next part inside the box: data, then temporaries. False: there are no more. */
bool tor_moore_part(const struct tor_plan *p, struct tor_moore_at *at, u32 *buf)
{
	const struct tor_moore *s = state_of(p);

	if (!at->begun) {
		at->begun = true;
		*buf = TOR_BUF_DATA;
		if (own_inside(p, at))
			return true;
	}
	for (; at->j < at->k; at->j++, at->entered = false) {
		bool any = at->entered ? next_slots(p, at) : enter_step(p, at);

		at->entered = true;
		for (; any; any = next_slots(p, at))
			if (is_part(p, at, buf)) {
				*buf += s->part[at->j];
				return true;
			}
	}
	return false;
}

void tor_moore_all(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		at->low[d] = -(s32)TOR_MOORE_STEPS;
		at->high[d] = TOR_MOORE_STEPS;
	}
}
