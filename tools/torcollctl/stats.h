/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of torcollctl stats, and their output for Prometheus. */
#ifndef _STATS_H
#define _STATS_H

#include "ctl.h"

extern const struct field stats_counter[];
extern const size_t stats_counters;

/* Execute "stats --prometheus [FILE]"; @a holds the words behind. */
int stats_prometheus(struct args *a);

#endif
