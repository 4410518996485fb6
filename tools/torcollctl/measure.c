// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl tune run: time some plans and sizes on the present fabric, with
 * all nodes, and fit the model's rates to the results. The plans differ in
 * their use of resources: few or many messages, near or far, many or few bytes
 * per link. They take turns, repeatedly, so that other load on the hosts
 * affects all of them alike. Vectors are of floats, as most reduced ones are.
 * All nodes compute the same numbers, and those of rank 0 are set on all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "torcoll.h"

#include "awaited.h"
#include "tune.h"

#define SECONDS_MOST	12.0		/* for measuring */
#define ROUNDS_WANTED	5
#define ROUNDS_LEAST	2
#define JOIN_SECONDS	60		/* unless TORCOLL_TIMEOUT says otherwise */
#define OP_MS		60000		/* of one op, whose other ranks may have been stopped */
#define NAME		"torcollctl tune"

/*
 * A plan to measure. Plans that send the whole vector repeatedly are not
 * measured with large ones, except the tree, whose time there separates links
 * from processors.
 */
struct cell {
	u32 algorithm;
	u32 channels;
	bool small;
};

static const struct cell cells[] = {
	{ TORCOLL_TREE, 0, false }, { TORCOLL_RING, 1, false }, { TORCOLL_BIBUCKET, 0, false },
	{ TORCOLL_BIBUCKET, 1, false }, { TORCOLL_SWING_BW, 0, false }, { TORCOLL_TRIVANCE_BW, 1, false },
	{ TORCOLL_RECDOUB_LAT, 0, true }, { TORCOLL_WINDOW, 0, true }, { TORCOLL_GENERAL, 0, false },
	{ TORCOLL_CIRCULANT, 0, false },
};

static const u32 sizes[] = { 64, 4 << 10, 64 << 10, 512 << 10 };

#define SMALL_MOST	(64 << 10)

#define SHORT_MOST	(4 << 10)	/* measured several times in a row */
#define SHORT_TIMES	8

struct bench {
	const struct place *place;
	struct torcoll_comm *comm;
	float *send, *recv;
	struct sample sample[ARRAY_SIZE(cells)][ARRAY_SIZE(sizes)];
	size_t measured;
	u32 short_times;
	double short_seconds;		/* time spent by this rank on short ones */
	double begin;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int failed(void)
{
	other_error("%s", torcoll_last_error());
	return CTL_REFUSED;
}

static int run_op(struct bench *b, struct torcoll_op *op)
{
	op->collective = TORCOLL_ALLREDUCE;
	op->deadline_ns = torcoll_deadline(OP_MS);
	return torcoll_run(b->comm, op) ? failed() : 0;
}

/* Compute the maximum over all ranks, on all ranks. */
static int agree(struct bench *b, double *value)
{
	struct torcoll_op op = {
		.type = TORCOLL_F64,
		.redop = TORCOLL_MAX,
		.count = 1,
		.send = value,
		.recv = value,
	};

	return run_op(b, &op);
}

static int run_once(struct bench *b, const struct cell *cell, u32 bytes)
{
	struct torcoll_op op = {
		.type = TORCOLL_F32,
		.redop = TORCOLL_SUM,
		.algorithm = cell->algorithm,
		/* also plans that do not give the same bits everywhere */
		.bits = TORCOLL_BITS_RELAXED,
		.count = bytes / sizeof(float),
		.send = b->send,
		.recv = b->recv,
		.param = { [TORCOLL_PARAM_CHANNELS] = cell->channels },
	};

	return run_op(b, &op);
}

/* Compute the cost of a plan; false if the shape has no such plan. */
static bool cost_of(const struct bench *b, const struct cell *cell, struct tor_cost *cost)
{
	struct tor_call call = {
		.torus = &b->place->torus,
		.ranks = b->place->torus.nodes,
		.collective = TORCOLL_ALLREDUCE,
		.algorithm = cell->algorithm,
		.param = { [TORCOLL_PARAM_CHANNELS] = cell->channels },
	};

	return tor_cost_is_quick(&call) && !tor_cost_plan(&call, cost, NULL);
}

/* Set up the samples: coefficients, and no times yet. */
static void set_samples(struct bench *b)
{
	struct tor_cost cost;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(cells); i++)
		for (k = 0; k < ARRAY_SIZE(sizes); k++)
			if ((!cells[i].small || sizes[k] <= SMALL_MOST) && cost_of(b, &cells[i], &cost))
				sample_set(&b->sample[i][k], &cost, sizes[k]);
}

/*
 * Measure the slowest rank's time per op, over some in a row, into @sample
 * unless that is NULL.
 */
static int measure_cell(struct bench *b, const struct cell *cell, u32 bytes, struct sample *sample)
{
	bool is_short = bytes <= SHORT_MOST;
	u32 i, times = is_short ? b->short_times : 1;
	double t = 0;

	/* start together */
	if (agree(b, &t))
		return CTL_REFUSED;
	t = now();
	for (i = 0; i < times; i++)
		if (run_once(b, cell, bytes))
			return CTL_REFUSED;
	t = now() - t;
	if (is_short)
		b->short_seconds += t;
	t /= times;
	if (agree(b, &t))
		return CTL_REFUSED;
	if (!sample)
		return 0;
	sample_add(sample, t * 1e12);
	b->measured++;
	return 0;
}

static void show_progress(const struct bench *b, u32 round)
{
	if (b->place->node)
		return;
	fprintf(stderr, isatty(2) ? "\rround %u, %zu measurements, %.1f s " :
				    "round %u, %zu measurements, %.1f s\n",
		round, b->measured, now() - b->begin);
}

static int measure_round(struct bench *b, bool counts)
{
	size_t i, k;
	int ret;

	for (i = 0; i < ARRAY_SIZE(cells); i++) {
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			if (!b->sample[i][k].bytes)
				continue;
			ret = measure_cell(b, &cells[i], sizes[k], counts ? &b->sample[i][k] : NULL);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int agreed_seconds(struct bench *b, double *seconds)
{
	*seconds = now() - b->begin;
	return agree(b, seconds);
}

/*
 * Measure. The first round, before caches are warm, determines the number of
 * repetitions: short ones several times in a row, as in programs, for up to
 * half of a round's time. A sufficient number of rounds matters more than exact
 * short times.
 */
static int measure_all(struct bench *b)
{
	double first, elapsed, each;
	u32 round;
	int ret;

	set_samples(b);
	b->begin = now();
	b->short_times = 1;
	ret = measure_round(b, false);
	if (ret || agree(b, &b->short_seconds) || agreed_seconds(b, &first))
		return CTL_REFUSED;
	show_progress(b, 0);
	b->short_times = clamp_t(double, SECONDS_MOST / ROUNDS_WANTED / 2 / b->short_seconds, 1,
				 SHORT_TIMES);
	for (round = 1; round <= TIMES_MOST; round++) {
		ret = measure_round(b, true);
		if (ret || agreed_seconds(b, &elapsed))
			return CTL_REFUSED;
		show_progress(b, round);
		each = (elapsed - first) / round;
		/*
		 * there must be time for another round, unless there are too
		 * few
		 */
		if (elapsed > SECONDS_MOST ||
		    (round >= ROUNDS_LEAST && elapsed + each > SECONDS_MOST))
			break;
	}
	if (!b->place->node && isatty(2))
		fputs("\r\033[K", stderr);
	return 0;
}

/* --- results --- */

static void print_fit(const struct bench *b, const struct fit *fit)
{
	size_t i;

	printf("%-10s %14s %14s %14s\n", "rate", "fitted", "from", "to");
	for (i = 0; i < RATES; i++)
		printf("%-10s %14.0f %14.0f %14.0f\n", rates_table[i].name, fit->rate[i], fit->low[i],
		       fit->high[i]);
	printf("%zu measurements in %.1f s; predictions are off by %.0f %% on average, by %.0f %% from 64 KiB on\n",
	       b->measured, now() - b->begin, 100 * fit->error, 100 * fit->error_large);
}

/* Distribute rank 0's numbers to all ranks. */
static int share(struct bench *b, const struct fit *fit, struct tor_rates *rates)
{
	uint64_t value[RATES];
	struct torcoll_op op = {
		.type = TORCOLL_U64,
		.redop = TORCOLL_SUM,
		.count = RATES,
		.send = value,
		.recv = value,
	};
	size_t i;

	for (i = 0; i < RATES; i++)
		value[i] = torcoll_comm_rank(b->comm) ? 0 : fit->rate[i] + 0.5;
	if (run_op(b, &op))
		return CTL_REFUSED;
	for (i = 0; i < RATES; i++)
		*rate_at(rates, i) = value[i];
	return 0;
}

static int measure(struct bench *b, struct conn *c)
{
	struct tor_rates rates;
	struct fit fit;
	int ret;

	ret = measure_all(b);
	if (ret)
		return ret;
	if (fit_samples(&fit, b->sample[0], ARRAY_SIZE(cells) * ARRAY_SIZE(sizes)))
		return other_error("out of memory");
	ret = share(b, &fit, &rates);
	if (!ret && !b->place->node)
		print_fit(b, &fit);
	return ret ? ret : rates_set(c, b->place->key, &rates);
}

/*
 * Return a vector with pages of its own: memory that was never written would be
 * one page of zeros.
 */
static float *vector(u32 bytes)
{
	float *v = malloc(bytes);
	u32 i;

	for (i = 0; v && i < bytes / sizeof(*v); i++)
		v[i] = 1;
	return v;
}

/* When to give up waiting for the other nodes, in ns; 0: never. */
static int join_deadline(uint64_t *deadline_ns)
{
	const char *word = getenv("TORCOLL_TIMEOUT");
	uint32_t seconds = JOIN_SECONDS;

	if (word && *word && parse_u32(word, "TORCOLL_TIMEOUT", &seconds))
		return CTL_USAGE;
	*deadline_ns = seconds ? torcoll_deadline(1000ULL * seconds) : 0;
	return CTL_OK;
}

/*
 * Join all other nodes. A name that others know, without a secret, lets them
 * keep a node out, or take part.
 */
static int join(struct bench *b, struct torcoll *t)
{
	const char *launched = getenv("TORCOLL_COMM");
	struct torcoll_comm_config config = {
		.fabric = b->place->key,
		.name = launched && *launched ? launched : NAME,
		.secret = getenv("TORCOLL_SECRET"),
		.rank = TORCOLL_RANK_SELF,
	};
	struct awaited *awaited = NULL;
	int ret = join_deadline(&config.deadline_ns);

	if (ret)
		return ret;
	/* of those that a launcher started, one is enough */
	if (config.name != launched || !b->place->node)
		awaited = awaited_begin(b->place->key, &b->place->torus, config.name);
	ret = torcoll_comm_create(t, &config, &b->comm);
	awaited_end(awaited);
	return ret ? failed() : CTL_OK;
}

int tune_measure(struct conn *c, const struct place *place)
{
	u32 largest = sizes[ARRAY_SIZE(sizes) - 1];
	struct bench *b = calloc(1, sizeof(*b));
	struct torcoll *t = NULL;
	int ret;

	if (!b)
		return other_error("out of memory");
	b->place = place;
	b->send = vector(largest);
	b->recv = vector(largest);
	if (!b->send || !b->recv)
		ret = other_error("out of memory");
	else if (torcoll_open(&t))
		ret = failed();
	else
		ret = join(b, t);
	if (!ret)
		ret = measure(b, c);
	torcoll_close(t);
	free(b->send);
	free(b->recv);
	free(b);
	return ret;
}
