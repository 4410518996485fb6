// SPDX-License-Identifier: GPL-2.0
/*
 * Rates from measurements: those, none below zero, with which the model's times are nearest to the measured
 * ones, relative to these. How sure they are is told by drawing as many samples again from the
 * samples, some twice, some not, many times.
 */
#include <stdlib.h>
#include <string.h>

#include "fit.h"

#define DRAWS		60
#define SWEEPS		4000
#define LARGE		65536

void sample_set(struct sample *s, const struct tor_cost *cost, u64 bytes, double ps)
{
	double one = TOR_COST_ONE;

	*s = (struct sample){
		/* rates of bytes are in fs */
		.x = {
			cost->rounds, cost->hops - cost->rounds, cost->messages / one,
			cost->w / one * bytes / 1000, cost->moved / one * bytes / 1000,
		},
		.ps = ps,
		.bytes = bytes,
	};
}

/* Least squares of (x * rate - ps) / ps with rates not below 0: one rate after the other, over and over. */
static void solve(const double a[RATES][RATES], const double b[RATES], double *rate)
{
	size_t i, j, k;
	double rest;

	memset(rate, 0, RATES * sizeof(*rate));
	for (k = 0; k < SWEEPS; k++) {
		for (i = 0; i < RATES; i++) {
			if (!a[i][i])
				continue;
			rest = b[i];
			for (j = 0; j < RATES; j++)
				if (j != i)
					rest -= a[i][j] * rate[j];
			rate[i] = rest > 0 ? rest / a[i][i] : 0;
		}
	}
}

static void solve_samples(const struct sample *s, const size_t *weight, size_t n, double *rate)
{
	double a[RATES][RATES] = { 0 }, b[RATES] = { 0 }, w;
	size_t i, j, k;

	for (k = 0; k < n; k++) {
		w = weight ? weight[k] : 1;
		for (i = 0; i < RATES; i++) {
			b[i] += w * s[k].x[i] / s[k].ps;
			for (j = 0; j < RATES; j++)
				a[i][j] += w * s[k].x[i] * s[k].x[j] / (s[k].ps * s[k].ps);
		}
	}
	solve(a, b, rate);
}

static double predict(const struct sample *s, const double *rate)
{
	double ps = 0;
	size_t i;

	for (i = 0; i < RATES; i++)
		ps += s->x[i] * rate[i];
	return ps;
}

static double mean_error(const struct sample *s, size_t n, const double *rate, u64 from)
{
	double sum = 0, e;
	size_t k, count = 0;

	for (k = 0; k < n; k++) {
		if (s[k].bytes < from)
			continue;
		e = predict(&s[k], rate) / s[k].ps - 1;
		sum += e < 0 ? -e : e;
		count++;
	}
	return count ? sum / count : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void fit_samples(struct fit *fit, const struct sample *s, size_t n)
{
	double drawn[RATES][DRAWS], rate[RATES];
	size_t *weight = calloc(n + 1, sizeof(*weight));
	size_t i, k, draw;
	u64 random = 1;

	*fit = (struct fit){ 0 };
	if (!n || !weight)
		goto out;
	solve_samples(s, NULL, n, fit->rate);
	for (draw = 0; draw < DRAWS; draw++) {
		memset(weight, 0, n * sizeof(*weight));
		for (k = 0; k < n; k++) {
			/* Knuth's MMIX; the same on all nodes */
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			weight[(random >> 33) % n]++;
		}
		solve_samples(s, weight, n, rate);
		for (i = 0; i < RATES; i++)
			drawn[i][draw] = rate[i];
	}
	for (i = 0; i < RATES; i++) {
		qsort(drawn[i], DRAWS, sizeof(double), compare);
		fit->low[i] = drawn[i][DRAWS / 10];
		fit->high[i] = drawn[i][DRAWS - 1 - DRAWS / 10];
	}
	fit->error = mean_error(s, n, fit->rate, 0);
	fit->error_large = mean_error(s, n, fit->rate, LARGE);
out:
	free(weight);
}
