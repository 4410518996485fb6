/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The sets of trivance-bw as words of bits. See plan/distance/trivance.c for what they are. */
#ifndef _TOR_CORE_PLAN_TRIVANCE_H
#define _TOR_CORE_PLAN_TRIVANCE_H

#include "core/plan/neighbour/intervals.h"
#include "core/plan/neighbour/lines.h"

#define TOR_TRIVANCE_WORD	64	/* places of a level, at most */
#define TOR_TRIVANCE_LEVELS	8	/* no torus of TOR_MAX_NODES has more: two sides beyond a word */

/*
 * Some steps of a side, those with distances that are multiples of @unit. Coordinates that differ by other
 * than these are all the same to them, so that its places are coordinates divided by unit, modulo @n. A
 * place is the coordinate's number if one counts by threes, where that reaches all: live sets, of distances
 * near powers of three, then have few gaps.
 */
struct tor_trivance_level {
	u8 dim;
	u8 first, steps;		/* of the side's steps */
	u8 unit;
	u8 n;				/* places */
	u8 spread;			/* the place of coordinate unit */
	u8 d[4];			/* distances, in places */
};

struct tor_trivance {
	struct tor_lines_state lines;
	u64 live[TOR_TRIVANCE_LEVELS][3];	/* places before each step but the first */
	struct tor_trivance_level level[TOR_TRIVANCE_LEVELS];
	u8 levels;
	bool words;			/* every side has levels */
};

static inline u64 tor_trivance_all(u32 n)
{
	return n == 64 ? ~0ULL : (1ULL << n) - 1;
}

static inline u64 tor_trivance_rotate(u64 set, u32 n, u32 by)
{
	return by ? ((set << by) | (set >> (n - by))) & tor_trivance_all(n) : set;
}

static inline const struct tor_trivance *tor_trivance_of(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_trivance);
}

static inline u32 tor_trivance_place(const struct tor_trivance_level *l, u32 coord)
{
	return coord / l->unit % l->n * l->spread % l->n;
}

/* The set, from place 0, that a level has to do with before the side's step @step; outside of it, all or 0 alone. */
u64 tor_trivance_live(const struct tor_trivance *t, u32 level, u32 step);

/**
 * tor_trivance_given - what goes from place 0 in a step of a level
 * @t: state
 * @level: its number
 * @step: of the side, one of the level's
 * @way: 0 up, 1 down, 2 both, which are the same node
 * @half: out: the place of whose blocks half goes, the first half up; 0 if there is none
 *
 * Return: those that go as a whole.
 */
u64 tor_trivance_given(const struct tor_trivance *t, u32 level, u32 step, u32 way, u64 *half);

/* The level of a step of a side; all levels if there is none. */
u32 tor_trivance_level(const struct tor_trivance *t, u32 dim, u32 step);

/* Find levels for a side; the others do without. */
void tor_trivance_add_levels(struct tor_plan *p, u32 dim);

/* Steps and distances of a side. */
u32 tor_trivance_steps(const struct tor_plan *p, u32 dim);
u32 tor_trivance_distance(const struct tor_plan *p, u32 dim, u32 step);

/* An allreduce if every side has levels: transfers and pieces. */
bool tor_trivance_runs_transfer(const struct tor_plan *p, struct tor_cursor *c);
bool tor_trivance_runs_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out);

#endif
