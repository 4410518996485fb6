// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a plan costs to compute: init and all pieces of all rounds of one rank, on some 16,384 nodes, on this
 * host. In microseconds per op; and in nanoseconds per transfer and per piece, what the long families
 * are measured by. Nothing is allocated: only the stack is used.
 */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RANKS		8		/* timed, spread over all */
#define LEAST_NS	20000000	/* spent on each */

static const struct {
	u32 algorithm, collective;
	u32 side[TOR_MAX_DIMS];
} plans[] = {
	{ TORCOLL_SWING_BW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_SWING_BW, TORCOLL_ALLREDUCE, { 16, 32, 32 } },
	{ TORCOLL_SWING_LAT, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_SWING_LAT, TORCOLL_BROADCAST, { 128, 128 } },
	{ TORCOLL_TRIVANCE_LAT, TORCOLL_ALLREDUCE, { 16, 32, 32 } },
	{ TORCOLL_TRIVANCE_LAT, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_TRIVANCE_BW, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_RECDOUB_LAT, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_RECDOUB_BW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_RECDOUB_BW_MIRRORED, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_MOORE, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_MOORE, TORCOLL_ALLREDUCE, { 16, 32, 32 } },
	{ TORCOLL_BRUCK_LAT, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_BRUCK_BW, TORCOLL_ALLREDUCE, { 27, 27, 27 } },
	{ TORCOLL_CIRCULANT, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_CIRCULANT, TORCOLL_BROADCAST, { 128, 128 } },
	{ TORCOLL_GENERAL, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_TREE, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_WINDOW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_BUCKET, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_RING, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_RING, TORCOLL_ALLGATHER, { 128, 128 } },
	{ TORCOLL_HAMILTONIAN, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_FLOOD, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_FLOOD, TORCOLL_ALLGATHER, { 128, 128 } },
	/* no order of blocks makes their transfers single ranges */
	{ TORCOLL_TRIVANCE_BW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_BRUCK_BW, TORCOLL_ALLREDUCE, { 128, 128 } },
	{ TORCOLL_SWING_BW, TORCOLL_ALLGATHER, { 128, 128 } },
	{ TORCOLL_BIBUCKET, TORCOLL_ALLGATHER, { 128, 128 } },
};

struct walk {
	u64 transfers, pieces, sum;
};

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int walk(const struct tor_plan_req *req, u32 rank, struct walk *w)
{
	u32 ch, t, src, dst;
	struct tor_cursor c;
	struct tor_piece x;
	struct tor_plan p;
	int err;

	err = tor_plan_init(&p, req, rank, NULL);
	for (ch = 0; !err && ch < p.shape.channels; ch++)
		for (t = 0; t < tor_plan_rounds(&p, ch); t++) {
			src = ~0U;
			dst = ~0U;
			tor_plan_begin(&p, ch, t, &c);
			for (; tor_plan_next(&p, &c, &x); w->pieces++) {
				w->transfers += x.src != src || x.dst != dst;
				src = x.src;
				dst = x.dst;
				w->sum += x.soff ^ x.n;
			}
		}
	return err;
}

static void time_plan(u32 i)
{
	u32 ndim = 0, n, rank;
	u64 begin, ns, least = ~0ULL, spent = 0;
	struct tor_plan_req req;
	struct tor_torus torus;
	struct walk w = {};

	while (ndim < TOR_MAX_DIMS && plans[i].side[ndim])
		ndim++;
	if (tor_torus_init(&torus, ndim, plans[i].side, 2))
		exit(2);
	req = (struct tor_plan_req){
		.torus = &torus, .ranks = torus.nodes, .algorithm = plans[i].algorithm,
		.collective = plans[i].collective, .count = 64ULL * torus.nodes,
	};
	printf("%-20s %-10s", tor_algorithm_name(req.algorithm), tor_collective_name(req.collective));
	for (n = 0; n < ndim; n++)
		printf("%s%u", n ? "x" : " ", torus.side[n]);
	for (n = 0; n < RANKS || spent < LEAST_NS; n++) {
		rank = (u64)(n % RANKS) * torus.nodes / RANKS + 11 * (n % RANKS);
		w = (struct walk){};
		begin = now();
		if (walk(&req, rank, &w)) {
			printf(": not served\n");
			return;
		}
		ns = now() - begin;
		spent += ns;
		least = min(least, ns);
	}
	printf(": %.2f us, %llu transfers, %.1f ns each, %llu pieces, %.1f ns each\n", least * 1e-3,
	       (unsigned long long)w.transfers, (double)least / w.transfers,
	       (unsigned long long)w.pieces, (double)least / w.pieces);
}

int main(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(plans); i++)
		time_plan(i);
	return 0;
}
