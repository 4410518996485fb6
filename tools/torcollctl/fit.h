/* SPDX-License-Identifier: GPL-2.0 */
/* Fit of the model's rates to measured times. */
#ifndef _CTL_FIT_H
#define _CTL_FIT_H

#include "core/choose/cost.h"

#define RATES		6	/* of struct tor_rates: op, e, f, message, link, byte */

#define TIMES_MOST	40

/*
 * Measured times of a plan and a size, and the coefficient of each rate in the
 * model: ps = sum x[i] * rate[i].
 */
struct sample {
	double x[RATES];
	u64 bytes;
	double ps[TIMES_MOST];
	size_t times;
};

struct fit {
	double rate[RATES];
	/* 10 % and 90 % quantiles of fits to draws from the samples */
	double low[RATES], high[RATES];
	double error;			/* mean of |predicted - measured| / measured, of medians */
	double error_large;		/* of samples of 64 KiB and more */
};

/* Set the coefficients of a plan; no time is measured yet. */
void sample_set(struct sample *s, const struct tor_cost *cost, u64 bytes);

/* Add a measured time; ignored if there is no room. */
void sample_add(struct sample *s, double ps);

/* Fit; samples without a time do not count. Return 0 or -ENOMEM. */
int fit_samples(struct fit *fit, const struct sample *s, size_t n);

#endif
