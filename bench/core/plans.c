// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Makes plans of allreduces for ranks all over a fabric, as calls do, for callgrind to count:
 * plans ALGORITHM DIMS. Half of them of a comm whose members are listed; what those form is found
 * once per comm.
 *
 * plans ALGORITHM DIMS BLOCKS yields all pieces of one rank's reduce-scatter with so many blocks, and
 * prints their number.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/host_shape.h"
#include "core/plan/plan.h"

#define PLANS	100

static int make(const struct tor_call *call, u32 rank)
{
	const char *why = "no reason";
	static struct tor_plan plan;
	int err = tor_plan_init(&plan, call, rank, &why);

	if (err)
		fprintf(stderr, "plans: %s\n", why);
	return err;
}

static int yield_pieces(struct tor_call *call, u32 blocks)
{
	const char *why = "no reason";
	static struct tor_plan plan;
	struct tor_cursor c;
	struct tor_piece x;
	u32 round, n = 0;

	call->collective = TORCOLL_REDUCE_SCATTER;
	call->param[TORCOLL_PARAM_BLOCKS] = blocks;
	if (tor_plan_init(&plan, call, call->ranks / 3, &why)) {
		fprintf(stderr, "plans: %s\n", why);
		return 1;
	}
	for (round = 0; round < tor_plan_rounds(&plan, 0); round++) {
		tor_plan_begin(&plan, 0, round, &c);
		while (tor_plan_next(&plan, &c, &x))
			n++;
	}
	printf("%u\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	int algorithm = argc == 3 || argc == 4 ? tor_algorithm_parse(argv[1]) : -1;
	struct tor_call call, listed;
	struct tor_placement placed;
	u32 side[TOR_MAX_DIMS], ndim, i, *member, err = 0;
	struct tor_torus torus;

	ndim = algorithm > 0 ? host_shape_parse(argv[2], side) : 0;
	if (!ndim || tor_torus_init(&torus, ndim, side, 2)) {
		fprintf(stderr, "usage: plans ALGORITHM DIMS [BLOCKS]\n");
		return 2;
	}
	call = (struct tor_call){
		.torus = &torus, .ranks = torus.nodes, .collective = TORCOLL_ALLREDUCE,
		.algorithm = algorithm, .count = 1 << 20,
	};
	if (argc == 4)
		return yield_pieces(&call, atoi(argv[3]));
	member = malloc(torus.nodes * sizeof(*member));
	for (i = 0; i < torus.nodes; i++)
		member[i] = i;
	listed = call;
	listed.members = member;
	if (!tor_placement_find(&placed, &listed))
		return 1;
	listed.placed = &placed;
	for (i = 0; i < PLANS && !err; i++)
		err = make(i % 2 ? &listed : &call, (u64)i * torus.nodes / PLANS);
	free(member);
	return !!err;
}
