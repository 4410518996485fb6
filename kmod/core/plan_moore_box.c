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
static u32 find_cuts(u32 n, u32 k, u32 steps)
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

/* The atoms that the sender puts together for those who get it from @side. */
static void find_window(u32 n, u32 k, u32 side, s8 *window)
{
	bool any = false;
	s32 x;

	for (x = -(s32)k; x <= (s32)k; x++) {
		if (!atom_goes(n, x, side, k))
			continue;
		window[0] = any ? window[0] : x;
		window[1] = x;
		any = true;
	}
}

static void copy_side(struct tor_moore *s, u32 to, u32 from)
{
	memcpy(s->cuts[to], s->cuts[from], sizeof(s->cuts[to]));
	memcpy(s->groups[to], s->groups[from], sizeof(s->groups[to]));
	memcpy(s->slots[to], s->slots[from], sizeof(s->slots[to]));
	memcpy(s->distance[to], s->distance[from], sizeof(s->distance[to]));
	memcpy(s->comes[to], s->comes[from], sizeof(s->comes[to]));
	memcpy(s->window[to], s->window[from], sizeof(s->window[to]));
}

void tor_moore_init_side(struct tor_plan *p, u32 d)
{
	struct tor_moore *s = tor_plan_state(p, struct tor_moore);
	u32 n = p->grid.side[d], k, side;

	for (k = 0; k < d; k++)
		if (p->grid.side[k] == n) {
			copy_side(s, d, k);
			return;
		}
	for (k = 0; k < TOR_MOORE_CUT_STEPS; k++) {
		s->groups[d][k] = 1;
		s->slots[d][k] = 1;
		if (!tor_moore_active(p, d, k))
			continue;
		s->cuts[d][k] = find_cuts(n, k, s->steps[d]);
		s->groups[d][k] += hweight8(s->cuts[d][k]);
		for (side = 0; side < 2; side++) {
			s->comes[d][k] |= (tor_interval_nodes(n, side, k) > 0) << side;
			s->distance[d][k][side] = tor_interval_distance(n, side, k);
			find_window(n, k, side, s->window[d][k][side]);
		}
		s->slots[d][k] = s->groups[d][k] + hweight8(s->comes[d][k]);
	}
}

/* Steps beyond are those of powers of three, where everything goes, as one sum, from either side. */
static u32 cuts_of(const struct tor_plan *p, u32 d, u32 k)
{
	return k < TOR_MOORE_CUT_STEPS ? state_of(p)->cuts[d][k] : 0;
}

static u32 groups_of(const struct tor_plan *p, u32 d, u32 k)
{
	return k < TOR_MOORE_CUT_STEPS ? state_of(p)->groups[d][k] : 1;
}

/* The sides from which something comes in step @k. */
static u32 comes(const struct tor_plan *p, u32 d, u32 k)
{
	if (k < TOR_MOORE_CUT_STEPS)
		return state_of(p)->comes[d][k];
	return tor_moore_active(p, d, k) ? 3 : 0;
}

u32 tor_moore_slots(const struct tor_plan *p, u32 d, u32 k)
{
	return k < TOR_MOORE_CUT_STEPS ? state_of(p)->slots[d][k] : tor_moore_active(p, d, k) ? 3 : 1;
}

u32 tor_moore_distance(const struct tor_plan *p, u32 d, u32 side, u32 k, bool back)
{
	u32 by = k < TOR_MOORE_CUT_STEPS ? state_of(p)->distance[d][k][side] : tor_power3(k);

	return (side == 0) != back ? by : p->grid.side[d] - by;
}

/* Atoms that are known to either side before step @k. */
static u32 known_atoms(const struct tor_plan *p, u32 d, u32 k)
{
	return min_t(u32, k, state_of(p)->steps[d]);
}

/* The atoms of a group. */
static void group_atoms(const struct tor_plan *p, u32 d, u32 k, u32 group, s8 *low, s8 *high)
{
	u32 cuts = cuts_of(p, d, k), known = known_atoms(p, d, k);

	*low = -(s32)known;
	for (; group; group--) {
		*low += ffs(cuts);
		cuts >>= ffs(cuts);
	}
	*high = cuts ? *low + ffs(cuts) - 1 : (s32)known;
}

static void window_atoms(const struct tor_plan *p, u32 d, u32 k, u32 side, s8 *low, s8 *high)
{
	bool all = k >= TOR_MOORE_CUT_STEPS;

	*low = all ? -(s32)k : state_of(p)->window[d][k][side][0];
	*high = all ? (s32)k : state_of(p)->window[d][k][side][1];
}

/* Which slots of step @k are inside of an interval of atoms, as bits. */
static u32 slots_inside(const struct tor_plan *p, u32 d, u32 k, s32 low, s32 high)
{
	s32 known = known_atoms(p, d, k), first = max(low, -known) + known, last = min(high, known) + known;
	u32 cuts = cuts_of(p, d, k), slots = 0, begin, end, slot = groups_of(p, d, k), sides = comes(p, d, k);

	if (first <= last) {
		/* groups that begin before it; that end in or before it */
		begin = first ? 1 + hweight8(cuts & ((1U << (first - 1)) - 1)) : 0;
		end = hweight8(cuts & ((2U << last) - 1)) + (last == 2 * known);
		slots = begin < end ? (1U << end) - (1U << begin) : 0;
	}
	if (sides & 1)
		slots |= (low <= (s32)k + 1 && high >= (s32)k + 1) << slot++;
	if (sides & 2)
		slots |= (low <= -(s32)k - 1 && high >= -(s32)k - 1) << slot;
	return slots;
}

/* --- messages --- */

void tor_moore_begin_step(const struct tor_plan *p, struct tor_moore_at *at, u32 k)
{
	u32 d, unit = 1;

	at->k = k;
	at->place = 0;
	at->own = 0;
	at->stale = (1U << p->grid.ndim) - 1;
	for (d = 0; d < p->grid.ndim; d++) {
		at->digit[d] = 0;
		at->group[d] = 0;
		at->groups[d] = groups_of(p, d, k);
		at->comes[d] = comes(p, d, k);
		at->unit[d] = unit;
		unit *= tor_moore_slots(p, d, k);
	}
}

/* What a digit adds to the place: groups have slots before directions. */
static u32 digit_place(const struct tor_moore_at *at, u32 d, u32 digit)
{
	return digit ? (at->groups[d] + ((digit - 1) & at->comes[d])) * at->unit[d] : 0;
}

bool tor_moore_next_pattern(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, digit;

	for (d = 0; d < p->grid.ndim; d++) {
		at->stale |= 1U << d;
		at->place -= digit_place(at, d, at->digit[d]);
		/* if it comes from there at all */
		digit = at->digit[d] + 1;
		if (digit == 1 && !(at->comes[d] & 1))
			digit = 2;
		if (digit == 2 && !(at->comes[d] & 2))
			digit = 3;
		at->digit[d] = digit < 3 ? digit : 0;
		at->place += digit_place(at, d, at->digit[d]);
		if (digit < 3) {
			at->valid = true;
			return true;
		}
	}
	at->valid = false;
	return false;
}

/* One group further in the first dimension that has one; those before start again. */
bool tor_moore_next_message(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		if (at->digit[d] || at->groups[d] == 1)
			continue;
		at->stale |= 1U << d;
		at->place += at->unit[d];
		if (++at->group[d] < at->groups[d])
			return true;
		at->place -= at->group[d] * at->unit[d];
		at->group[d] = 0;
	}
	at->valid = false;
	return false;
}

/* --- boxes --- */

static void set_interval(const struct tor_plan *p, struct tor_moore_at *at, u32 d, s32 low, s32 high)
{
	u32 j;

	at->own &= ~(1U << d);
	at->own |= (low <= 0 && high >= 0) << d;
	for (j = 0; j < at->k; j++)
		at->inside[j][d] = slots_inside(p, d, j, low, high);
}

/* This node's own value is a plane of its own. */
static void begin_parts(const struct tor_plan *p, struct tor_moore_at *at)
{
	at->j = 0;
	at->entered = false;
	at->base = TOR_BUF_DATA;
	at->rest = at->own == (1U << p->grid.ndim) - 1;
}

void tor_moore_begin_box(const struct tor_plan *p, struct tor_moore_at *at)
{
	s8 low, high;
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		if (!(at->stale >> d & 1))
			continue;
		if (at->digit[d])
			window_atoms(p, d, at->k, at->digit[d] - 1, &low, &high);
		else
			group_atoms(p, d, at->k, at->group[d], &low, &high);
		set_interval(p, at, d, low, high);
	}
	at->stale = 0;
	begin_parts(p, at);
}

void tor_moore_begin_all(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++)
		set_interval(p, at, d, -TOR_MOORE_STEPS, TOR_MOORE_STEPS);
	begin_parts(p, at);
}

/* --- parts --- */

/* A plane has at most 7 x 7 parts: 5 groups and two directions, in step 2. */
static void find_planes(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 row = at->inside[at->j][0], aside = row & ~((1U << groups_of(p, 0, at->j)) - 1);
	u32 slot, width = tor_moore_slots(p, 0, at->j), rest = 1, groups = 1;

	if (p->grid.ndim > 1) {
		rest = at->inside[at->j][1];
		groups = groups_of(p, 1, at->j);
	}
	at->plane = 0;
	at->aside = 0;
	for (; rest; rest &= rest - 1) {
		slot = ffs(rest) - 1;
		at->plane |= (u64)row << slot * width;
		at->aside |= (u64)(slot < groups ? aside : row) << slot * width;
	}
}

/* The parts with these slots in the further dimensions; what is groups in all of them is none. */
static void begin_plane(const struct tor_plan *p, struct tor_moore_at *at)
{
	bool groups = true;
	u32 d;

	at->base = state_of(p)->part[at->j];
	for (d = 2; d < p->grid.ndim; d++) {
		groups &= at->slot[d] < groups_of(p, d, at->j);
		at->base += at->slot[d] * at->part_unit[d];
	}
	at->rest = groups ? at->aside : at->plane;
}

/* The first plane of step j. False: in some dimension no slot is inside the box. */
static bool enter_step(const struct tor_plan *p, struct tor_moore_at *at)
{
	const u8 *inside = at->inside[at->j];
	u32 d, unit = 1;

	for (d = 0; d < p->grid.ndim; d++) {
		if (!inside[d])
			return false;
		at->slot[d] = ffs(inside[d]) - 1;
		at->part_unit[d] = unit;
		unit *= tor_moore_slots(p, d, at->j);
	}
	find_planes(p, at);
	begin_plane(p, at);
	return true;
}

/* The next combination of slots in the further dimensions, dimension 2 fastest. */
static bool next_slots(const struct tor_plan *p, struct tor_moore_at *at)
{
	const u8 *inside = at->inside[at->j];
	u32 d, rest;

	for (d = 2; d < p->grid.ndim; d++) {
		rest = inside[d] & ~((2U << at->slot[d]) - 1);
		at->slot[d] = ffs(rest ? rest : inside[d]) - 1;
		if (rest) {
			begin_plane(p, at);
			return true;
		}
	}
	return false;
}

bool tor_moore_next_plane(const struct tor_plan *p, struct tor_moore_at *at)
{
	at->rest = 0;
	while (!at->rest) {
		if (at->entered && next_slots(p, at))
			continue;
		at->j += at->entered;
		if (at->j >= at->k)
			return false;
		at->entered = enter_step(p, at);
		at->j += !at->entered;
	}
	return true;
}
