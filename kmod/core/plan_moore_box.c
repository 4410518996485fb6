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
		if (!tor_moore_active(p, d, k))
			continue;
		s->cuts[d][k] = find_cuts(n, k, s->steps[d]);
		s->groups[d][k] += hweight8(s->cuts[d][k]);
		for (side = 0; side < 2; side++) {
			s->comes[d][k] |= (tor_interval_nodes(n, side, k) > 0) << side;
			find_window(n, k, side, s->window[d][k][side]);
		}
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

/* Groups, then directions. */
u32 tor_moore_slots(const struct tor_plan *p, u32 d, u32 k)
{
	u32 sides = comes(p, d, k);

	return groups_of(p, d, k) + (sides & 1) + (sides >> 1);
}

static u32 slot_of_side(const struct tor_plan *p, u32 d, u32 side, u32 k)
{
	return groups_of(p, d, k) + (side & comes(p, d, k));
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

/* --- boxes --- */

bool tor_moore_set_pattern(const struct tor_plan *p, struct tor_moore_at *at, u32 pattern)
{
	u32 d, rest = pattern;

	at->pattern = pattern;
	at->next = 0;
	at->valid = pattern;
	for (d = 0; d < p->grid.ndim; d++, rest /= 3) {
		at->digit[d] = rest % 3;
		if (at->digit[d] && !(comes(p, d, at->k) & at->digit[d]))
			at->valid = false;
	}
	return at->valid;
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
		digit = at->digit[d];
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

/* The parts with these slots in all dimensions but the first; what is groups in all of them is none. */
static void begin_row(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, unit = tor_moore_slots(p, 0, at->j);
	bool groups = true;

	at->base = state_of(p)->part[at->j];
	for (d = 1; d < p->grid.ndim; d++) {
		groups &= at->slot[d] < groups_of(p, d, at->j);
		at->base += at->slot[d] * unit;
		unit *= tor_moore_slots(p, d, at->j);
	}
	at->rest = at->slots[0];
	if (groups)
		at->rest &= ~((1U << groups_of(p, 0, at->j)) - 1);
}

/* Which slots of step j are inside the box; the first row of them. False: in some dimension none is. */
static bool enter_step(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		at->slots[d] = slots_inside(p, d, at->j, at->low[d], at->high[d]);
		if (!at->slots[d])
			return false;
		at->slot[d] = ffs(at->slots[d]) - 1;
	}
	begin_row(p, at);
	return true;
}

/* The next combination of slots, dimension 1 fastest. */
static bool next_row(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, rest;

	for (d = 1; d < p->grid.ndim; d++) {
		rest = at->slots[d] & ~((2U << at->slot[d]) - 1);
		at->slot[d] = ffs(rest ? rest : at->slots[d]) - 1;
		if (rest) {
			begin_row(p, at);
			return true;
		}
	}
	return false;
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
	if (!at->begun) {
		at->begun = true;
		at->rest = 0;
		*buf = TOR_BUF_DATA;
		if (own_inside(p, at))
			return true;
	}
	while (!at->rest) {
		if (at->entered && next_row(p, at))
			continue;
		at->j += at->entered;
		if (at->j >= at->k)
			return false;
		at->entered = enter_step(p, at);
		at->j += !at->entered;
	}
	*buf = at->base + ffs(at->rest) - 1;
	at->rest &= at->rest - 1;
	return true;
}

void tor_moore_all(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		at->low[d] = -(s32)TOR_MOORE_STEPS;
		at->high[d] = TOR_MOORE_STEPS;
	}
}
