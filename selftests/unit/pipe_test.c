// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Pipelines: what arithmetic says of them is what a walk counts, but for rounds that are not full. */
#include "host_env.h"

#include "core/choose/pipe.h"

#define LINE(n)	TORCOLL_SIDE(n, TORCOLL_KIND_LINE)
#define MESH(n)	TORCOLL_SIDE(n, TORCOLL_KIND_MESH)

static const struct {
	u32 side[TOR_MAX_DIMS];
	u32 cables;
} shapes[] = {
	{ { 32, 32 }, 2 }, { { 20, 12 }, 2 }, { { 7, 5, 4 }, 1 }, { { 200 }, 2 }, { { 2, 2, 2, 2, 2, 2 }, 2 },
	{ { 2, 40 }, 1 }, { { LINE(12), 10 }, 2 }, { { 10, LINE(12) }, 2 }, { { MESH(6), 12 }, 2 },
	{ { LINE(90) }, 2 }, { { 3, 3, 3, 3 }, 2 },
};

static struct tor_torus torus_of(u32 i)
{
	struct tor_torus t;
	u32 ndim = 0;

	while (ndim < TOR_MAX_DIMS && shapes[i].side[ndim])
		ndim++;
	assert_int_equal(tor_torus_init(&t, ndim, shapes[i].side, shapes[i].cables), 0);
	return t;
}

static void within(const char *what, const struct tor_call *call, double got, double walked,
		   double less, double more)
{
	if (got < walked * (1 - less) || got > walked * (1 + more))
		fail_msg("%ux%u %s %s, %u blocks: %s %.4f, walked %.4f", call->torus->side[0],
			 call->torus->ndim > 1 ? call->torus->side[1] : 1,
			 tor_algorithm_name(call->algorithm), tor_collective_name(call->collective),
			 call->param[TORCOLL_PARAM_BLOCKS], what, got, walked);
}

static void compare(struct tor_call *call, u32 blocks)
{
	bool ring = call->algorithm == TORCOLL_RING, few = blocks < 64;
	struct tor_cost walked, cost;

	call->param[TORCOLL_PARAM_BLOCKS] = blocks;
	assert_int_equal(tor_cost_plan(call, &walked, NULL), 0);
	assert_int_equal(tor_pipe_cost(call, &cost), 0);
	assert_int_equal(cost.rounds, walked.rounds);
	assert_int_equal(cost.chunks, walked.chunks);
	within("hops", call, cost.hops, walked.hops, 0, few ? 5 : 0.3);
	within("W", call, cost.w, walked.w, 0.02, few && !ring ? 0.8 : 0.1);
	within("messages", call, cost.messages, walked.messages, few ? 0.65 : 0.02, few ? 0.35 : 0.05);
	within("sent", call, cost.sent, walked.sent, 0.02, 0);
	within("moved", call, cost.moved, walked.moved, few ? 0.6 : 0.02, few ? 0.1 : 0.05);
	within("reduced", call, cost.reduced, walked.reduced, 0.02, 0);
}

static void pipe_cost__as_walked(void **state)
{
	static const u32 algorithms[] = { TORCOLL_RING, TORCOLL_CIRCULANT };
	struct tor_torus t;
	u32 i, a, c, blocks;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		for (a = 0; a < 2; a++)
			for (c = TORCOLL_BROADCAST; c <= TORCOLL_REDUCE; c++)
				for (blocks = 1; blocks <= 256; blocks *= 4) {
					struct tor_call call = {
						.torus = &t, .collective = c, .algorithm = algorithms[a],
					};

					t = torus_of(i);
					call.ranks = t.nodes;
					compare(&call, blocks);
				}
}

static void pipe_cost__of_pipelines_alone(void **state)
{
	static const u32 members[] = { 0, 1 };
	struct tor_torus t = torus_of(0);
	struct tor_call call = { .torus = &t, .ranks = t.nodes, .collective = TORCOLL_BROADCAST };
	struct tor_cost cost;

	call.algorithm = TORCOLL_TREE;
	assert_int_equal(tor_pipe_cost(&call, &cost), -EOPNOTSUPP);
	call.algorithm = TORCOLL_RING;
	assert_int_equal(tor_pipe_cost(&call, &cost), 0);
	call.collective = TORCOLL_ALLREDUCE;
	assert_int_equal(tor_pipe_cost(&call, &cost), -EOPNOTSUPP);
	call.collective = TORCOLL_REDUCE;
	call.root = t.nodes;
	assert_int_equal(tor_pipe_cost(&call, &cost), -EINVAL);
	call.root = 0;
	call.members = members;
	call.ranks = 2;
	assert_int_equal(tor_pipe_cost(&call, &cost), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipe_cost__as_walked),
		cmocka_unit_test(pipe_cost__of_pipelines_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
