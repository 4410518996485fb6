/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tables found by search. selftests/unit/plan_tables_test --print generates
 * plan/tables.c and tests it.
 */
#ifndef _TOR_CORE_PLAN_TABLES_H
#define _TOR_CORE_PLAN_TABLES_H

#include "core/env.h"

#define TOR_TRIVANCE_DISTANCES	65	/* sides to 64 */
#define TOR_TRIVANCE_INTERVALS	73	/* the longest one is 72 */

/*
 * Distances of trivance-bw by side, variant, step. Variants: fewest bytes on
 * square tori of 1, 2, 3 dimensions; fewest hops.
 */
extern const u8 tor_trivance_distances[TOR_TRIVANCE_DISTANCES][4][4];

/*
 * Interval schedules of trivance-lat by side, direction (from the right, from
 * the left), step: number of nodes in the sum, distance of the node that sends
 * it. All 0 where there is no schedule.
 */
extern const u8 tor_trivance_intervals[TOR_TRIVANCE_INTERVALS][2][4][2];

#endif
