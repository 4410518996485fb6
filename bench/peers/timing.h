/* SPDX-License-Identifier: MIT */
/*
 * What the rivals of a benchmark share: vectors of small integers whose sum is exact in any order, how long one
 * size is measured, and what the machine did meanwhile. C and C++.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define BENCH_MAX_ITERS	100000

/* A moment: seconds of the clock, seconds that all processors were busy, own voluntary context switches. */
struct bench_moment {
	double at;
	double busy;
	double switches;
};

static inline struct bench_moment bench_now(void)
{
	struct bench_moment m = { 0, 0, 0 };
	unsigned long v[7] = { 0 };
	FILE *f = fopen("/proc/stat", "r");
	struct rusage usage;
	struct timespec t;

	if (f && fscanf(f, "cpu %lu %lu %lu %lu %lu %lu %lu", v, v + 1, v + 2, v + 3, v + 4, v + 5,
			v + 6) == 7)
		m.busy = (double)(v[0] + v[1] + v[2] + v[5] + v[6]) / sysconf(_SC_CLK_TCK);
	if (f)
		fclose(f);
	getrusage(RUSAGE_SELF, &usage);
	m.switches = usage.ru_nvcsw;
	clock_gettime(CLOCK_MONOTONIC, &t);
	m.at = t.tv_sec + t.tv_nsec / 1e9;
	return m;
}

static inline void bench_fill(float *v, size_t n, int rank)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (float)(rank + (int)(i % 7));
}

/* Elements of @v that are not the sum over @size ranks of what bench_fill() gave. */
static inline size_t bench_wrong(const float *v, size_t n, int size)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong += v[i] != (float)(size * (size - 1) / 2 + size * (int)(i % 7));
	return wrong;
}

/*
 * Calls before those that are timed: connections are made, buffers found, and torcoll knows a plan by heart when each of the
 * 16 ops of a comm has had it twice. Of large ones each takes seconds in some guests.
 */
static inline int bench_warmup(size_t bytes)
{
	return bytes <= 64 << 10 ? 50 : bytes < 1 << 20 ? 3 : 1;
}

/* How many calls fill @seconds if the warm-up took @took. Rank 0 decides for all. */
static inline int bench_iters(double seconds, double took, size_t bytes)
{
	double n = took > 0 ? seconds * bench_warmup(bytes) / took : BENCH_MAX_ITERS;

	return n < 2 ? 2 : n > BENCH_MAX_ITERS ? BENCH_MAX_ITERS : (int)n;
}

/* A line: bytes, us per call (slowest rank), calls, wrong elements, busy us per call, switches per call of rank 0. */
static inline void bench_print(size_t bytes, double slowest, int iters, size_t wrong,
			       struct bench_moment from, struct bench_moment to)
{
	printf("%zu %.2f %d %zu %.2f %.2f\n", bytes, slowest / iters * 1e6, iters, wrong,
	       (to.busy - from.busy) / iters * 1e6, (to.switches - from.switches) / iters);
	fflush(stdout);
}

#endif
