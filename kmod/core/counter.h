/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Names of the counters as shown to users. */
#ifndef _TOR_CORE_COUNTER_H
#define _TOR_CORE_COUNTER_H

#include "core/env.h"

/*
 * The name of a counter: the enumerator in lower case without TOR_C_. NULL
 * beyond the last.
 */
const char *tor_counter_name(enum tor_counter what);

#endif
