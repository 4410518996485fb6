// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Messages of moore, the boxes that they sum up, and their parts. See
 * plan/distance/moore.c.
 */
#include "core/plan/distance/moore.h"

static const struct tor_moore *moore_box_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_moore);
}

/* --- along one side --- */

bool tor_moore_active(const struct tor_plan *p, u32 d, u32 k)
{
	return k < moore_box_state(p)->steps[d];
}

/*
 * Further steps are those of powers of three, which send everything as one sum
 * from either side.
 */
static u32 moore_groups(const struct tor_plan *p, u32 d, u32 k)
{
	return k < TOR_MOORE_CUT_STEPS ? moore_box_state(p)->groups[d][k] : 1;
}

/* The sides from which something comes in step @k. */
static u32 moore_comes(const struct tor_plan *p, u32 d, u32 k)
{
	if (k < TOR_MOORE_CUT_STEPS)
		return moore_box_state(p)->comes[d][k];
	return tor_moore_active(p, d, k) ? 3 : 0;
}

u32 tor_moore_slots(const struct tor_plan *p, u32 d, u32 k)
{
	return k < TOR_MOORE_CUT_STEPS ? moore_box_state(p)->slots[d][k] :
					 tor_moore_active(p, d, k) ? 3 : 1;
}

u32 tor_moore_distance(const struct tor_plan *p, u32 d, u32 side, u32 k, bool back)
{
	u32 by = k < TOR_MOORE_CUT_STEPS ? moore_box_state(p)->distance[d][k][side] : tor_power3(k);

	return (side == 0) != back ? by : p->grid.side[d] - by;
}

/* --- messages --- */

void tor_moore_begin_step(const struct tor_plan *p, struct tor_moore_at *at, u32 k)
{
	u32 d, unit = 1;

	at->k = k;
	at->place = 0;
	for (d = 0; d < p->grid.ndim; d++) {
		at->digit[d] = 0;
		at->group[d] = 0;
		at->groups[d] = moore_groups(p, d, k);
		at->comes[d] = moore_comes(p, d, k);
		at->unit[d] = unit;
		unit *= tor_moore_slots(p, d, k);
	}
}

/* Slots of groups precede those of directions. */
static u32 moore_slot(const struct tor_moore_at *at, u32 d)
{
	return at->digit[d] ? at->groups[d] + ((at->digit[d] - 1U) & at->comes[d]) : at->group[d];
}

bool tor_moore_next_pattern(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, digit;

	for (d = 0; d < p->grid.ndim; d++) {
		at->place -= moore_slot(at, d) * at->unit[d];
		/* skips directions from which nothing comes */
		digit = at->digit[d] + 1;
		if (digit == 1 && !(at->comes[d] & 1))
			digit = 2;
		if (digit == 2 && !(at->comes[d] & 2))
			digit = 3;
		at->digit[d] = digit < 3 ? digit : 0;
		at->place += moore_slot(at, d) * at->unit[d];
		if (digit < 3) {
			at->valid = true;
			return true;
		}
	}
	at->valid = false;
	return false;
}

void tor_moore_restart(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		if (!at->digit[d])
			at->place -= at->group[d] * at->unit[d];
		at->group[d] = 0;
	}
}

/*
 * Advances the group of the first dimension that has another one; those before
 * restart.
 */
bool tor_moore_next_message(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		if (at->digit[d] || at->groups[d] == 1)
			continue;
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

/* The node's own value is a plane of its own. */
static void moore_begin_parts(struct tor_moore_at *at, bool own)
{
	at->j = 0;
	at->entered = false;
	at->base = TOR_BUF_DATA;
	at->rest = own;
}

void tor_moore_begin_box(const struct tor_plan *p, struct tor_moore_at *at)
{
	bool own = true;
	u32 d, slot;

	at->all = at->k >= TOR_MOORE_CUT_STEPS;
	for (d = 0; !at->all && d < p->grid.ndim; d++) {
		slot = moore_slot(at, d);
		at->row[d] = tor_moore_row(at->k, slot);
		own &= moore_box_state(p)->own[d][at->k] >> slot & 1;
	}
	moore_begin_parts(at, own);
}

void tor_moore_begin_all(struct tor_moore_at *at)
{
	at->all = true;
	moore_begin_parts(at, true);
}

/* Slots of step j along a side that are inside. */
static u32 moore_inside(const struct tor_plan *p, const struct tor_moore_at *at, u32 d)
{
	return at->all ? (1U << tor_moore_slots(p, d, at->j)) - 1 :
			 moore_box_state(p)->inside[d][at->row[d] + at->j];
}

/* --- parts --- */

/* A plane has at most 7 x 7 parts: 5 groups and two directions, in step 2. */
static void moore_find_planes(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 row = at->inside[0], aside = row & ~((1U << moore_groups(p, 0, at->j)) - 1);
	u32 slot, width = tor_moore_slots(p, 0, at->j), rest = 1, groups = 1;

	if (p->grid.ndim > 1) {
		rest = at->inside[1];
		groups = moore_groups(p, 1, at->j);
	}
	at->plane = 0;
	at->aside = 0;
	for (; rest; rest &= rest - 1) {
		slot = ffs(rest) - 1;
		at->plane |= (u64)row << slot * width;
		at->aside |= (u64)(slot < groups ? aside : row) << slot * width;
	}
}

/*
 * Selects the parts with these slots in the further dimensions. What is groups
 * in all dimensions is not a part.
 */
static void moore_begin_plane(const struct tor_plan *p, struct tor_moore_at *at)
{
	bool groups = true;
	u32 d;

	at->base = moore_box_state(p)->part[at->j];
	for (d = 2; d < p->grid.ndim; d++) {
		groups &= at->slot[d] < moore_groups(p, d, at->j);
		at->base += at->slot[d] * at->part_unit[d];
	}
	at->rest = groups ? at->aside : at->plane;
}

/*
 * Enters the first plane of step j. Returns false if in some dimension no slot
 * is inside the box.
 */
static bool moore_enter_step(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, inside, unit = 1;

	for (d = 0; d < p->grid.ndim; d++) {
		inside = moore_inside(p, at, d);
		if (!inside)
			return false;
		at->inside[d] = inside;
		at->slot[d] = ffs(inside) - 1;
		at->part_unit[d] = unit;
		unit *= tor_moore_slots(p, d, at->j);
	}
	moore_find_planes(p, at);
	moore_begin_plane(p, at);
	return true;
}

/*
 * Advances to the next combination of slots in the further dimensions,
 * dimension 2 fastest.
 */
static bool moore_next_slots(const struct tor_plan *p, struct tor_moore_at *at)
{
	u32 d, rest;

	for (d = 2; d < p->grid.ndim; d++) {
		rest = at->inside[d] & ~((2U << at->slot[d]) - 1);
		at->slot[d] = ffs(rest ? rest : at->inside[d]) - 1;
		if (rest) {
			moore_begin_plane(p, at);
			return true;
		}
	}
	return false;
}

bool tor_moore_next_plane(const struct tor_plan *p, struct tor_moore_at *at)
{
	at->rest = 0;
	while (!at->rest) {
		if (at->entered && moore_next_slots(p, at))
			continue;
		at->j += at->entered;
		if (at->j >= at->k)
			return false;
		at->entered = moore_enter_step(p, at);
		at->j += !at->entered;
	}
	return true;
}
