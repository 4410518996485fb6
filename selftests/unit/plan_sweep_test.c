// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Every family and collective on every small shape, and some larger ones: served where it must be, right
 * and by the rules. The same on all shapes that matter: make check-plans.
 */
#include "host_env.h"
#include "plan_cases.h"
#include "plan_rules.h"

#define NODES	16

static void check(const struct tor_plan_req *req, void *arg)
{
	struct dump_error e = {};
	int ret = plan_rules(req, req->ranks <= 16 && req->count <= 20, &e);

	if (ret != (plan_is_served(req, false) ? 1 : -EOPNOTSUPP))
		fail_msg("%s %s on %u, %u sides, %u ranks, root %u, count %llu: %s",
			 tor_algorithm_name(req->algorithm), tor_collective_name(req->collective),
			 req->torus->side[0], req->torus->ndim, req->ranks, req->root,
			 (unsigned long long)req->count, ret == 1 ? "served" : e.text);
}

static void sweep_shape(const struct tor_torus *t, void *arg)
{
	struct tor_plan_req req;
	u32 c;

	for (c = TORCOLL_ALLREDUCE; c < TORCOLL_COLL_COUNT; c++) {
		req = plan_request(t, *(u32 *)arg, c, 3 * t->nodes + 2);
		plan_vary(&req, false, check, NULL);
	}
}

/* The state that a test is given is the algorithm. */
static void plan__sweep(void **state)
{
	plan_every_shape(NODES, sweep_shape, *state);
}

static void larger_shape(const struct tor_torus *t, void *arg)
{
	struct tor_plan_req req;
	u32 a, c;

	for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++)
		for (c = TORCOLL_ALLREDUCE; c < TORCOLL_COLL_COUNT; c++) {
			req = plan_request(t, a, c, 2 * t->nodes + 1);
			check(&req, NULL);
		}
}

static void plan__larger_shapes(void **state)
{
	static const u32 sides[][TOR_MAX_DIMS] = {
		{ 66 }, { 65 }, { 81 }, { 72 }, { 100 }, { 128, 2 }, { 2, 96 },
		{ 4, 16 }, { 5, 5, 3 }, { 9, 7 }, { 25, 5 }, { 2, 2, 2, 2, 2, 2 },
	};
	struct tor_torus t;
	u32 i, ndim;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		for (ndim = 0; ndim < TOR_MAX_DIMS && sides[i][ndim]; ndim++)
			;
		assert_int_equal(tor_torus_init(&t, ndim, sides[i], 1), 0);
		larger_shape(&t, NULL);
	}
}

int main(void)
{
	struct CMUnitTest tests[TORCOLL_ALGO_COUNT] = { cmocka_unit_test(plan__larger_shapes) };
	static u32 algorithm[TORCOLL_ALGO_COUNT];
	u32 a;

	for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++) {
		algorithm[a] = a;
		tests[a] = (struct CMUnitTest){
			.name = tor_algorithm_name(a),
			.test_func = plan__sweep,
			.initial_state = &algorithm[a],
		};
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
