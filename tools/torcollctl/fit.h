/* SPDX-License-Identifier: GPL-2.0 */
/* The model's rates that are nearest to measured times. */
#ifndef _CTL_FIT_H
#define _CTL_FIT_H

#include "cost.h"

#define RATES		5	/* of struct tor_rates: e, f, message, link, byte */

/* A measured time, and how much of each rate's stuff the model sees in it: ps = sum x[i] * rate[i]. */
struct sample {
	double x[RATES];
	double ps;
	u64 bytes;
};

struct fit {
	double rate[RATES];
	double low[RATES], high[RATES];	/* 10 % and 90 % of fits to samples drawn from the samples */
	double error;			/* mean of |predicted - measured| / measured */
	double error_large;		/* of those of 64 KiB and more */
};

/* What a plan's time is made of. */
void sample_set(struct sample *s, const struct tor_cost *cost, u64 bytes, double ps);
void fit_samples(struct fit *fit, const struct sample *s, size_t n);

#endif
