// SPDX-License-Identifier: GPL-2.0
/*
 * Fit of rates to measurements: the non-negative rates whose model times have
 * the smallest relative error. Each sample counts with its median, since other
 * load on a host makes some times many times as long. The uncertainty is
 * estimated by a bootstrap: as many samples are drawn from the samples, some
 * twice, some not, and likewise the times of each, many times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"

#define DRAWS		60
#define SWEEPS		4000
#define LARGE		65536

void sample_set(struct sample *s, const struct tor_cost *cost, u64 bytes)
{
	double one = TOR_COST_ONE;

	/* of a plan without chunks: with them it would be no sum */
	*s = (struct sample){
		/* rates of bytes are in fs */
		.x = {
			1, cost->rounds, cost->hops - cost->rounds, cost->messages / one,
			cost->w / one * bytes / 1000, cost->moved / one * bytes / 1000,
		},
		.bytes = bytes,
	};
}

void sample_add(struct sample *s, double ps)
{
	if (s->times < TIMES_MOST)
		s->ps[s->times++] = ps;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the median; sorts the values. */
static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Draw a random index. Knuth's MMIX generator: the same draws on all nodes. */
static size_t draw(u64 *state, size_t n)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*state >> 33) % n;
}

/*
 * Return the sample's median, or, with @random, that of times drawn from its
 * times.
 */
static double time_of(const struct sample *s, u64 *random)
{
	double ps[TIMES_MOST];
	size_t i;

	for (i = 0; i < s->times; i++)
		ps[i] = s->ps[random ? draw(random, s->times) : i];
	return median(ps, s->times);
}

/*
 * Minimise the squares of (x * rate - ps) / ps with non-negative rates: one
 * rate after the other, repeatedly.
 */
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

/* Solve for the samples, or for a draw from them. */
static void solve_samples(const struct sample *const *s, size_t n, u64 *random, double *rate)
{
	double a[RATES][RATES] = { 0 }, b[RATES] = { 0 }, ps;
	const struct sample *one;
	size_t i, j, k;

	for (k = 0; k < n; k++) {
		one = s[random ? draw(random, n) : k];
		ps = time_of(one, random);
		for (i = 0; i < RATES; i++) {
			b[i] += one->x[i] / ps;
			for (j = 0; j < RATES; j++)
				a[i][j] += one->x[i] * one->x[j] / (ps * ps);
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

static double mean_error(const struct sample *const *s, size_t n, const double *rate, u64 from)
{
	size_t k, count = 0;
	double sum = 0, e;

	for (k = 0; k < n; k++) {
		if (s[k]->bytes < from)
			continue;
		e = predict(s[k], rate) / time_of(s[k], NULL) - 1;
		sum += e < 0 ? -e : e;
		count++;
	}
	return count ? sum / count : 0;
}

static void find_spread(struct fit *fit, const struct sample *const *s, size_t n)
{
	double drawn[RATES][DRAWS], rate[RATES];
	u64 random = 1;
	size_t i, k;

	for (k = 0; k < DRAWS; k++) {
		solve_samples(s, n, &random, rate);
		for (i = 0; i < RATES; i++)
			drawn[i][k] = rate[i];
	}
	for (i = 0; i < RATES; i++) {
		qsort(drawn[i], DRAWS, sizeof(double), compare);
		fit->low[i] = drawn[i][DRAWS / 10];
		fit->high[i] = drawn[i][DRAWS - 1 - DRAWS / 10];
	}
}

int fit_samples(struct fit *fit, const struct sample *s, size_t n)
{
	const struct sample **timed = calloc(n + 1, sizeof(*timed));
	size_t k, m = 0;

	*fit = (struct fit){ 0 };
	if (!timed)
		return -ENOMEM;
	for (k = 0; k < n; k++)
		if (s[k].times)
			timed[m++] = &s[k];
	if (m) {
		solve_samples(timed, m, NULL, fit->rate);
		find_spread(fit, timed, m);
		fit->error = mean_error(timed, m, fit->rate, 0);
		fit->error_large = mean_error(timed, m, fit->rate, LARGE);
	}
	free(timed);
	return 0;
}
