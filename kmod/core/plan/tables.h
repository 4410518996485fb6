/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tables found by search. plan/tables.c is made by selftests/unit/plan_tables_test --print, which also
 * tests it.
 */
#ifndef _TOR_CORE_PLAN_TABLES_H
#define _TOR_CORE_PLAN_TABLES_H

#include "core/env.h"

#define TOR_TRIVANCE_DISTANCES	65	/* sides to 64 */
#define TOR_TRIVANCE_INTERVALS	73	/* the longest one is 72 */

/*
 * Distances of trivance-bw by side, variant, step. Variants: least bytes on square tori of 1, 2, 3
 * dimensions; fewest hops.
 */
extern const u8 tor_trivance_distances[TOR_TRIVANCE_DISTANCES][4][4];

/*
 * Interval schedules of trivance-lat by side, direction (from the right, from the left), step: the sum of
 * so many nodes, from the one at that distance. All 0 where there is none.
 */
extern const u8 tor_trivance_intervals[TOR_TRIVANCE_INTERVALS][2][4][2];

#endif
