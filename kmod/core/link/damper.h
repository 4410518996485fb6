/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dampers limit how often a node acts on events that others can trigger at
 * will.
 *
 * The first TOR_DAMPER_FREE actions in a row are immediate: a cable that is cut
 * triggers no more than that. After that each action doubles the wait before
 * the next one, from TOR_DAMPER_FIRST (or less, where an action is cheaper) to
 * TOR_DAMPER_LONGEST. Each TOR_DAMPER_HALF without an event after such a wait
 * halves the count, like the penalties of BGP's route flap damping (RFC 2439).
 * A constant source of events therefore triggers less than one action per
 * second, a well-timed one at most TOR_DAMPER_FREE / 2 per TOR_DAMPER_HALF, and
 * a single event is not delayed.
 */
#ifndef _TOR_CORE_DAMPER_H
#define _TOR_CORE_DAMPER_H

#include "core/env.h"

#define TOR_DAMPER_FREE		4
#define TOR_DAMPER_FIRST	(50 * NSEC_PER_MSEC)
#define TOR_DAMPER_DOUBLINGS	5
#define TOR_DAMPER_LONGEST	(TOR_DAMPER_FIRST << TOR_DAMPER_DOUBLINGS)
#define TOR_DAMPER_HALF		(400 * NSEC_PER_MSEC)

/**
 * struct tor_damper - state of a damper; all zero: no action yet
 * @first: length of the first wait, ns; 0: TOR_DAMPER_FIRST
 * @last: time of the last action, ns
 * @count: recent actions
 */
struct tor_damper {
	u64 first;
	u64 last;
	u32 count;
};

/* Earliest time of the next action, ns; may be in the past. */
u64 tor_damper_due(const struct tor_damper *damper);

/*
 * True if the action is allowed at @now; it is then counted as done. Context:
 * any; calls on a damper must be serialised.
 */
bool tor_damper_may(struct tor_damper *damper, u64 now);

#endif
