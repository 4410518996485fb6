/* SPDX-License-Identifier: GPL-2.0 */
/* The model's rates that are nearest to measured times. */
#ifndef _CTL_FIT_H
#define _CTL_FIT_H

#include "core/choose/cost.h"

#define RATES		6	/* of struct tor_rates: op, e, f, message, link, byte */

#define TIMES_MOST	40

/*
 * What was measured of a plan and a size, and how much of each rate's stuff the model sees in it:
 * ps = sum x[i] * rate[i].
 */
struct sample {
	double x[RATES];
	u64 bytes;
	double ps[TIMES_MOST];
	size_t times;
};

struct fit {
	double rate[RATES];
	double low[RATES], high[RATES];	/* 10 % and 90 % of fits to what is drawn from the samples */
	double error;			/* mean of |predicted - measured| / measured, of medians */
	double error_large;		/* of those of 64 KiB and more */
};

/* What a plan's time is made of; nothing measured yet. */
void sample_set(struct sample *s, const struct tor_cost *cost, u64 bytes);

/* One more time; what there is no room for is left out. */
void sample_add(struct sample *s, double ps);

/* Samples without a time do not count. Return: 0 or -ENOMEM. */
int fit_samples(struct fit *fit, const struct sample *s, size_t n);

#endif
