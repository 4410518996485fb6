/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The sets of trivance-bw as words of bits. See plan/distance/trivance.c. */
#ifndef _TOR_CORE_PLAN_TRIVANCE_H
#define _TOR_CORE_PLAN_TRIVANCE_H

#include "core/plan/neighbour/intervals.h"
#include "core/plan/neighbour/lines.h"

#define TOR_TRIVANCE_WORD	64	/* most places of a level */
/* the most on a torus of TOR_MAX_NODES: two sides beyond a word */
#define TOR_TRIVANCE_LEVELS	8

/*
 * The steps of a side whose distances are multiples of @unit. Coordinates
 * congruent modulo these distances are equivalent for them, so the places of a
 * level are coordinates divided by unit, modulo @n. If counting by threes
 * reaches all of them, places are numbered in that order: live sets, made of
 * distances near powers of three, then have few gaps.
 */
struct tor_trivance_level {
	u8 dim;
	u8 first, steps;		/* of the steps of the side */
	u8 unit;
	u8 n;				/* places */
	u8 spread;			/* place of coordinate unit */
	u8 d[4];			/* distances, in places */
};

struct tor_trivance {
	struct tor_lines_state lines;
	u64 live[TOR_TRIVANCE_LEVELS][3];	/* live places before each step but the first */
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

/*
 * The live set of place 0 of a level before step @step of the side. Outside of
 * the level's steps: all places, or 0 alone.
 */
u64 tor_trivance_live(const struct tor_trivance *t, u32 level, u32 step);

/**
 * tor_trivance_given - the places that place 0 sends in a step of a level
 * @t: state
 * @level: its number
 * @step: of the side, one of the level's
 * @way: 0 up, 1 down, 2 both, which are the same node
 * @half: out: the place whose blocks are halved, the first half sent up; 0 if
 *	there is none
 *
 * Return: the places sent as a whole.
 */
u64 tor_trivance_given(const struct tor_trivance *t, u32 level, u32 step, u32 way, u64 *half);

/* The level of a step of a side; the number of levels if there is none. */
u32 tor_trivance_level(const struct tor_trivance *t, u32 dim, u32 step);

/* Find levels for a side. Not every side has them. */
void tor_trivance_add_levels(struct tor_plan *p, u32 dim);

/* Steps and distances of a side. */
u32 tor_trivance_steps(const struct tor_plan *p, u32 dim);
u32 tor_trivance_distance(const struct tor_plan *p, u32 dim, u32 step);

/*
 * Transfers and pieces of an allreduce if every side has levels. Members of
 * struct tor_family.
 */
bool tor_trivance_runs_transfer(const struct tor_plan *p, struct tor_cursor *c);
bool tor_trivance_runs_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out);

#endif
