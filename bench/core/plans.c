// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Makes plans of allreduces for ranks all over a fabric, as calls do, for callgrind to count:
 * plans ALGORITHM DIMS. Half of them of a comm whose members are listed; what those form is found
 * once per comm.
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

int main(int argc, char **argv)
{
	int algorithm = argc == 3 ? tor_algorithm_parse(argv[1]) : -1;
	struct tor_call call, listed;
	struct tor_placement placed;
	u32 side[TOR_MAX_DIMS], ndim, i, *member, err = 0;
	struct tor_torus torus;

	ndim = algorithm > 0 ? host_shape_parse(argv[2], side) : 0;
	if (!ndim || tor_torus_init(&torus, ndim, side, 2)) {
		fprintf(stderr, "usage: plans ALGORITHM DIMS\n");
		return 2;
	}
	call = (struct tor_call){
		.torus = &torus, .ranks = torus.nodes, .collective = TORCOLL_ALLREDUCE,
		.algorithm = algorithm, .count = 1 << 20,
	};
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
