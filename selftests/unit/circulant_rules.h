/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the paper proves of circulant schedules, checked by computing those of all ranks. */
#ifndef _CIRCULANT_RULES_H
#define _CIRCULANT_RULES_H

#include "core/plan/distance/circulant.h"

#define CIRCULANT_MOST_CALLS(q)		((q) > 1 ? (q) - 1 : 0)
#define CIRCULANT_MOST_VIOLATIONS	4

/**
 * circulant_rules - the four conditions, and the bounds on recursive calls and violations
 * @p: ranks, 2 to 2^22
 *
 * Return: NULL, or what is wrong.
 */
const char *circulant_rules(u32 p);

/**
 * circulant_send_slow - the send schedule, read off the receivers' schedules
 * @c: graph
 * @r: rank
 * @block: q entries
 *
 * In O(log^2 p): the straightforward form, to compare with.
 */
void circulant_send_slow(const struct tor_circulant *c, u32 r, s8 *block);

#endif
