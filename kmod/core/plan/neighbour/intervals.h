/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Schedules of intervals along a side, in ceil(log3 n) steps. A node keeps its
 * own value and what came from either side in each step separately. In step k
 * it gets, for each side, the sum of the next nodes on that side from one node
 * that holds exactly these as some of its parts. Used by trivance-lat and
 * moore.
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
	/* exactly these divide 3^12, the largest up to TOR_MAX_NODES */
	return 531441 % n == 0;
}

/* Nodes in the sum that comes from @side in step @k; may be 0. */
static inline u32 tor_interval_nodes(u32 n, u32 side, u32 k)
{
	return tor_is_power3(n) ? tor_power3(k) : tor_trivance_intervals[n][side][k][0];
}

/* Distance of the node that sends it. */
static inline u32 tor_interval_distance(u32 n, u32 side, u32 k)
{
	return tor_is_power3(n) ? tor_power3(k) : tor_trivance_intervals[n][side][k][1];
}

/* Nodes on a side that are known before step @k. */
static inline u32 tor_interval_reach(u32 n, u32 side, u32 k)
{
	u32 reach = 0;

	while (k--)
		reach += tor_interval_nodes(n, side, k);
	return reach;
}

/* True if there is a schedule for a side of @n. */
static inline bool tor_has_intervals(u32 n)
{
	return tor_is_power3(n) ||
	       (n < ARRAY_SIZE(tor_trivance_intervals) && tor_trivance_intervals[n][1][0][0]);
}

/*
 * The first and last node summed up in the message of step @k to those who
 * receive it from @side, as seen by the sender and counted towards @side.
 */
static inline void tor_interval_window(u32 n, u32 side, u32 k, s32 *first, s32 *last)
{
	*first = (s32)tor_interval_reach(n, side, k) + 1 - (s32)tor_interval_distance(n, side, k);
	*last = *first + (s32)tor_interval_nodes(n, side, k) - 1;
}

#endif
