/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dampers: how often something is done for which others may give cause as often as they like.
 *
 * TOR_DAMPER_FREE times in a row it is done at once: a cable that is cut makes no more news than that. Then every time doubles
 * how long the next one waits, from TOR_DAMPER_FIRST to TOR_DAMPER_LONGEST, or from less where it costs less. Each TOR_DAMPER_HALF without cause behind
 * such a wait forgets half of the times, as the penalties of BGP's route flap damping (RFC 2439) are. So whoever gives
 * cause all the time gets less than one time per second, whoever times it well at most TOR_DAMPER_FREE / 2 in each
 * TOR_DAMPER_HALF, and a cause that comes alone is not delayed.
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
 * struct tor_damper - all zero: nothing was done yet
 * @first: how long the first wait is, ns; 0: TOR_DAMPER_FIRST
 * @last: when it was done, ns
 * @count: how often lately
 */
struct tor_damper {
	u64 first;
	u64 last;
	u32 count;
};

/* From when on it may be done again, ns; that may be past. */
u64 tor_damper_due(const struct tor_damper *damper);

/* May it be done @now? Then it counts as done. */
bool tor_damper_may(struct tor_damper *damper, u64 now);

#endif
