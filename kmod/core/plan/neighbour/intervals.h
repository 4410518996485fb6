/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Schedules of intervals along a side, in ceil(log3 n) steps: a node keeps its own value and what came from
 * either side in each step apart, and gets in step k the sum of the next nodes to either side from one
 * node that has just these as some of its parts. For trivance-lat and moore.
 *
 * @side 0 is the right, upwards; 1 the left.
 */
#ifndef _TOR_CORE_PLAN_INTERVALS_H
#define _TOR_CORE_PLAN_INTERVALS_H

#include "core/plan/tables.h"

static inline u32 tor_log3_up(u32 n)
{
	u32 k, power = 1;

	for (k = 0; power < n; k++)
		power *= 3;
	return k;
}

static inline u32 tor_power3(u32 k)
{
	u32 power = 1;

	while (k--)
		power *= 3;
	return power;
}

static inline bool tor_is_power3(u32 n)
{
	/* of 3^12, the last one up to TOR_MAX_NODES, exactly these are divisors */
	return 531441 % n == 0;
}

/* Nodes whose sum comes from @side in step @k; may be 0. */
static inline u32 tor_interval_nodes(u32 n, u32 side, u32 k)
{
	return tor_is_power3(n) ? tor_power3(k) : tor_trivance_intervals[n][side][k][0];
}

/* How far away the node is that sends it. */
static inline u32 tor_interval_distance(u32 n, u32 side, u32 k)
{
	return tor_is_power3(n) ? tor_power3(k) : tor_trivance_intervals[n][side][k][1];
}

/* Nodes known on a side before step @k. */
static inline u32 tor_interval_reach(u32 n, u32 side, u32 k)
{
	u32 reach = 0;

	while (k--)
		reach += tor_interval_nodes(n, side, k);
	return reach;
}

/* Is there a schedule for this side? */
static inline bool tor_has_intervals(u32 n)
{
	return tor_is_power3(n) ||
	       (n < ARRAY_SIZE(tor_trivance_intervals) && tor_trivance_intervals[n][1][0][0]);
}

/*
 * The first and the last node that the sender's message of step @k to those who get it from @side sums, as
 * seen by the sender and counted towards @side.
 */
static inline void tor_interval_window(u32 n, u32 side, u32 k, s32 *first, s32 *last)
{
	*first = (s32)tor_interval_reach(n, side, k) + 1 - (s32)tor_interval_distance(n, side, k);
	*last = *first + (s32)tor_interval_nodes(n, side, k) - 1;
}

#endif
