// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a plan costs to compute: init and all pieces of all rounds of one rank, on 16,384 nodes or so, on this
 * host. In microseconds per op; in nanoseconds per transfer and per piece. Nothing is allocated: only the stack
 * is used.
 *
 * What is wanted: the short families' plans in 20 us, the long families' transfers in 50 ns. Where a transfer
 * is many ranges of the vector, or each of its contributions is reduced by itself, that many pieces are what
 * there is to yield: 50 ns for each of them.
 *
 * Usage: bench [ALGORITHM]
 */
#include "core/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RANKS		8		/* timed, spread over all */
#define LEAST_NS	100000000	/* spent on each; the least time counts */

enum limit { PLAN, TRANSFER, PIECE };

static const struct {
	const char *name;
	double value;			/* us, ns, ns */
} limits[] = {
	[PLAN] = { "20 us", 20 },
	[TRANSFER] = { "50 ns per transfer", 50 },
	[PIECE] = { "50 ns per piece", 50 },
};

static const struct {
	u32 algorithm, collective;
	u32 side[TOR_MAX_DIMS];
	enum limit limit;
	u32 blocks;			/* 0: its default */
} plans[] = {
	{ TORCOLL_SWING_BW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_SWING_BW, TORCOLL_ALLREDUCE, { 16, 32, 32 } },
	{ TORCOLL_SWING_LAT, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_SWING_LAT, TORCOLL_BROADCAST, { 128, 128 } },
	{ TORCOLL_TRIVANCE_LAT, TORCOLL_ALLREDUCE, { 16, 32, 32 } },
	{ TORCOLL_TRIVANCE_LAT, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_TRIVANCE_BW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_TRIVANCE_BW, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_RECDOUB_LAT, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_RECDOUB_BW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_RECDOUB_BW, TORCOLL_ALLREDUCE, { 16, 32, 32 } },
	{ TORCOLL_RECDOUB_BW_MIRRORED, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_MOORE, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_MOORE, TORCOLL_ALLREDUCE, { 16, 32, 32 } },
	{ TORCOLL_BRUCK_LAT, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_BRUCK_BW, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_CIRCULANT, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_CIRCULANT, TORCOLL_BROADCAST, { 128, 128 } },
	{ TORCOLL_GENERAL, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_TREE, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_WINDOW, TORCOLL_ALLREDUCE, { 128, 128 }, TRANSFER },
	{ TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, { 128, 128 }, TRANSFER },
	{ TORCOLL_BUCKET, TORCOLL_ALLREDUCE, { 128, 128 }, TRANSFER },
	{ TORCOLL_RING, TORCOLL_ALLREDUCE, { 128, 128 }, TRANSFER },
	{ TORCOLL_RING, TORCOLL_ALLGATHER, { 128, 128 }, TRANSFER },
	{ TORCOLL_HAMILTONIAN, TORCOLL_ALLREDUCE, { 128, 128 }, TRANSFER },
	{ TORCOLL_FLOOD, TORCOLL_ALLGATHER, { 128, 128 }, TRANSFER },
	{ TORCOLL_FLOOD, TORCOLL_ALLREDUCE, { 128, 128 }, PIECE },
	/* no order of blocks makes their transfers few ranges: see plan/distance/trivance_runs.c */
	{ TORCOLL_TRIVANCE_BW, TORCOLL_ALLREDUCE, { 16, 32, 32 }, PIECE },
	{ TORCOLL_BRUCK_BW, TORCOLL_ALLREDUCE, { 128, 128 }, PIECE },
	{ TORCOLL_SWING_BW, TORCOLL_ALLGATHER, { 128, 128 }, PIECE },
	{ TORCOLL_BIBUCKET, TORCOLL_ALLGATHER, { 128, 128 }, PIECE },
	{ TORCOLL_CIRCULANT, TORCOLL_ALLREDUCE, { 128, 128 }, PIECE, 40 },
	{ TORCOLL_CIRCULANT, TORCOLL_ALLREDUCE, { 113, 145 }, PIECE, 40 },
};

struct walk {
	u64 transfers, pieces;
};

static u64 now(void)
{
	struct timespec t;

	/*
	 * Whatever interrupts adds to it, and the least counts. Processor time would be less than the truth in
	 * a guest: what the host took is subtracted, at times from those it was not taken from.
	 */
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* What is timed: as the engine does it, but that nothing is done with what comes. */
static int walk(const struct tor_call *call, u32 rank)
{
	struct tor_cursor c;
	struct tor_piece x;
	struct tor_plan p;
	u32 ch, t;
	int err;

	err = tor_plan_init(&p, call, rank, NULL);
	for (ch = 0; !err && ch < p.shape.channels; ch++)
		for (t = 0; t < tor_plan_rounds(&p, ch); t++) {
			tor_plan_begin(&p, ch, t, &c);
			while (tor_plan_next(&p, &c, &x))
				;
		}
	return err;
}

static struct walk count(const struct tor_call *call, u32 rank)
{
	u32 ch, t, src, dst;
	struct walk w = {};
	struct tor_cursor c;
	struct tor_piece x;
	struct tor_plan p;

	if (tor_plan_init(&p, call, rank, NULL))
		exit(2);
	for (ch = 0; ch < p.shape.channels; ch++)
		for (t = 0; t < tor_plan_rounds(&p, ch); t++) {
			src = ~0U;
			dst = ~0U;
			tor_plan_begin(&p, ch, t, &c);
			for (; tor_plan_next(&p, &c, &x); w.pieces++) {
				w.transfers += x.src != src || x.dst != dst;
				src = x.src;
				dst = x.dst;
			}
		}
	return w;
}

/* Is it as fast as wanted? */
static bool report(u32 i, u64 ns, const struct walk *w)
{
	double took[] = {
		[PLAN] = ns * 1e-3,
		[TRANSFER] = (double)ns / w->transfers,
		[PIECE] = (double)ns / w->pieces,
	};
	enum limit limit = plans[i].limit;
	bool ok = took[limit] < limits[limit].value;

	printf("%9.2f us, %6llu transfers, %8.1f ns each, %6llu pieces, %5.1f ns each; %s: %s\n",
	       took[PLAN], (unsigned long long)w->transfers, took[TRANSFER],
	       (unsigned long long)w->pieces, took[PIECE], limits[limit].name, ok ? "ok" : "FAIL");
	return ok;
}

static bool time_plan(u32 i)
{
	u32 ndim = 0, n, rank, least_rank = 0;
	u64 begin, ns, least = ~0ULL, spent = 0;
	struct tor_call call;
	struct tor_torus torus;
	struct walk w;

	while (ndim < TOR_MAX_DIMS && plans[i].side[ndim])
		ndim++;
	if (tor_torus_init(&torus, ndim, plans[i].side, 2))
		exit(2);
	call = (struct tor_call){
		.torus = &torus, .ranks = torus.nodes, .algorithm = plans[i].algorithm,
		.collective = plans[i].collective, .count = 64ULL * torus.nodes,
		.param = { [TORCOLL_PARAM_BLOCKS] = plans[i].blocks },
	};
	printf("%-20s %-10s", tor_algorithm_name(call.algorithm), tor_collective_name(call.collective));
	for (n = 0; n < ndim; n++)
		printf("%s%u", n ? "x" : " ", torus.side[n]);
	for (n = 0; n < RANKS || spent < LEAST_NS; n++) {
		rank = (u64)(n % RANKS) * torus.nodes / RANKS + 11 * (n % RANKS);
		begin = now();
		if (walk(&call, rank)) {
			printf(": not served\n");
			return false;
		}
		ns = now() - begin;
		spent += ns;
		if (ns < least) {
			least = ns;
			least_rank = rank;
		}
	}
	/* of that very rank: others may have more */
	w = count(&call, least_rank);
	printf(":%*s", ndim > 2 ? 1 : 2, "");
	return report(i, least, &w);
}

int main(int argc, char **argv)
{
	int only = argc > 1 ? tor_algorithm_parse(argv[1]) : 0;
	bool ok = true;
	u32 i;

	if (only < 0) {
		fprintf(stderr, "bench: no algorithm: %s\n", argv[1]);
		return 2;
	}
	for (i = 0; i < ARRAY_SIZE(plans); i++)
		if (!only || only == (int)plans[i].algorithm)
			ok &= time_plan(i);
	return !ok;
}
