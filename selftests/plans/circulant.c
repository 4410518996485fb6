// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Circulant schedules: the rules for all p to 20,000, and samples to 2,100,000. Then, in microseconds per
 * rank, what the receive and the send schedule take, beside the straightforward send schedule.
 *
 * Usage: circulant [check|bench [ALL_TO]]: both, without an argument.
 */
#include "circulant_rules.h"
#include "common/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK		50		/* p in an item */
#define TIMED		200000		/* ranks timed per range */
#define TOGETHER	100U		/* of these */
#define REPEATED	7		/* the least time counts */

/* The ranges of the paper's Table 4, and the end of the first one by itself. */
static const u32 ranges[][2] = {
	{ 1, 17000 }, { 17000, 17000 }, { 16000, 33000 }, { 64000, 73000 }, { 131000, 140000 }, { 262000, 267000 },
	{ 524000, 529000 }, { 1048000, 1050000 }, { 2097000, 2099000 },
};

static u32 all_to = 20000;
static u32 *sample;
static size_t samples;

/* --- rules --- */

/* Of each range both ends and a few between; around powers of two, and three times them; some more. */
static void make_samples(void)
{
	u32 i, k;

	sample = calloc(1000, sizeof(*sample));
	for (k = 22; k-- > 14;)
		for (i = 0; i < 6; i++) {
			u32 p = (i < 3 ? 1U << k : 3U << (k - 1)) + i % 3 - 1;

			if (p <= 2100000)
				sample[samples++] = p;
		}
	for (i = ARRAY_SIZE(ranges); i-- > 1;)
		for (k = 0; k <= 8; k++)
			sample[samples++] = ranges[i][0] + (ranges[i][1] - ranges[i][0]) / 8 * k;
	sample[samples++] = 2100000;
	for (k = 20011; k < 2000000; k += k / 7)
		sample[samples++] = k;
}

static void check(u32 p)
{
	const char *why = p < 2 ? NULL : circulant_rules(p);

	if (why)
		jobs_failed("p = %u: %s", p, why);
	else
		jobs_passed(p >= 2);
}

/* Samples first, then all, the large ones first: they take longest. */
static void check_item(size_t i)
{
	u32 p, chunks = (all_to + CHUNK - 1) / CHUNK;

	if (i < samples) {
		check(sample[i]);
		return;
	}
	i = chunks - 1 - (i - samples);
	for (p = i * CHUNK + 1; p <= (i + 1) * CHUNK && p <= all_to; p++)
		check(p);
}

/* --- time --- */

static double now(void)
{
	struct timespec t;

	/* others may be running, but not in the shortest of several short times: see bench.c */
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

struct times {
	double recv, send, slow;	/* us per rank */
};

static volatile u32 sink;

/* The least time of several, of some ranks. */
static double time_ranks(const struct tor_circulant *c, u32 first, u32 stride, u32 ranks, int form)
{
	s8 block[TOR_CIRCULANT_ROUNDS] = {};
	double begin, us, least = 0;
	u32 again, i, r;

	for (again = 0; again < REPEATED; again++) {
		begin = now();
		for (i = 0, r = first; i < ranks; i++, r += stride) {
			if (form == 0)
				tor_circulant_recv(c, r, block);
			else if (form == 1)
				tor_circulant_send(c, r, block);
			else
				circulant_send_slow(c, r, block);
			sink += block[0];
		}
		us = now() - begin;
		least = again && least < us ? least : us;
	}
	return least;
}

/* Some ranks of some p in a range, evenly spread. */
static double time_form(const u32 *range, u32 ranks, int form)
{
	u32 k, first, some, n = 0, steps = 20;
	struct tor_circulant c;
	double us = 0;

	for (k = 0; k < steps; k++) {
		u32 p = range[0] + (u64)(range[1] - range[0]) * (k + 1) / steps;
		u32 stride = max(1U, (u32)((u64)p * steps / ranks));

		tor_circulant_init(&c, p);
		for (first = 0; first < p; first += some * stride, n += some) {
			some = min(TOGETHER, (p - first - 1) / stride + 1);
			us += time_ranks(&c, first, stride, some, form);
		}
	}
	return us / n;
}

static struct times time_range(const u32 *range)
{
	return (struct times){
		.recv = time_form(range, TIMED, 0),
		.send = time_form(range, TIMED, 1),
		.slow = time_form(range, TIMED / 10, 2),
	};
}

/*
 * Ratios within this run: at about two million ranks the schedules take at most a quarter of the
 * straightforward form's time, and at most twice the time per rank at 17,000: at that p itself, and of all
 * up to it, the first range, which is less.
 */
static int bench(void)
{
	struct times t, upto = {}, at = {}, last = {};
	double gain, growth[2];
	u32 i;

	printf("microseconds per rank:\n");
	printf("%20s %8s %8s %8s %16s %6s\n", "p", "receive", "send", "both", "straightforward", "gain");
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		t = time_range(ranges[i]);
		printf("%9u..%9u %8.3f %8.3f %8.3f %16.3f %6.1f\n", ranges[i][0], ranges[i][1],
		       t.recv, t.send, t.recv + t.send, t.recv + t.slow,
		       (t.recv + t.slow) / (t.recv + t.send));
		if (ranges[i][0] == 1)
			upto = t;
		if (ranges[i][0] == 17000)
			at = t;
		last = t;
	}
	gain = (last.recv + last.slow) / (last.recv + last.send);
	growth[0] = (last.recv + last.send) / (at.recv + at.send);
	growth[1] = (last.recv + last.send) / (upto.recv + upto.send);
	printf("gain at two million: %.1f, at least 4 is wanted: %s\n", gain,
	       gain >= 4 ? "ok" : "FAIL");
	printf("growth since 17000: %.2f; since all up to it: %.2f; at most 2 is wanted: %s\n", growth[0],
	       growth[1], growth[0] <= 2 && growth[1] <= 2 ? "ok" : "FAIL");
	return gain < 4 || growth[0] > 2 || growth[1] > 2;
}

int main(int argc, char **argv)
{
	bool only_check = argc > 1 && !strcmp(argv[1], "check");
	bool only_bench = argc > 1 && !strcmp(argv[1], "bench");
	int code = 0;

	if (argc > 1 && !only_check && !only_bench) {
		fprintf(stderr, "usage: circulant [check|bench [ALL_TO]]\n");
		return 2;
	}
	if (argc > 2)
		all_to = atoi(argv[2]);
	if (!only_check)
		code = bench();
	if (only_bench)
		return code;
	make_samples();
	code |= jobs_run(samples + (all_to + CHUNK - 1) / CHUNK, "items", check_item);
	free(sample);
	return code;
}
