/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What plan.h promises of every plan, checked by iterating over all ranks' plans.
 */
#ifndef _PLAN_RULES_H
#define _PLAN_RULES_H

#include "../../tools/torcoll-plan/dump.h"

/**
 * plan_rules - check one request
 * @call: the request
 * @stability: check that nothing in flight changes, too (time and memory ~ ranks^2)
 * @e: what is wrong
 *
 * The right result; both ends of each transfer yield the same pieces; bounds hold; and nothing that
 * is being sent is written before it has arrived, as far as a rank that goes on to a round only
 * when it has got all of the round before can know.
 *
 * Return: 1 right, 0 wrong, or the negative errno with which the plan is refused.
 */
int plan_rules(const struct tor_call *call, bool stability, struct dump_error *e);

/*
 * What of these rules concerns what is in flight: nothing that was sent less than @lag rounds before
 * (0: ever) is written before it has arrived.
 */
bool plan_stable(const struct dump *d, u32 lag, struct dump_error *e);

/* As plan_rules(), for the result alone. */
int plan_right(const struct tor_call *call, struct dump_error *e);

#endif
