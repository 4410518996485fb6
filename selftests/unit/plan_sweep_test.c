// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Every family and collective on every small shape: served where it must be, right and by the rules. Larger
 * shapes: plan_large_test; all shapes that matter: make check-plans.
 */
#include "host_env.h"
#include "plan_cases.h"
#include "plan_rules.h"

#define NODES	16

static void check(const struct tor_call *call, void *arg)
{
	struct dump_error e = {};
	int ret = plan_rules(call, call->ranks <= 16 && call->count <= 20, &e);

	if (ret != (plan_is_served(call, false) ? 1 : -EOPNOTSUPP))
		fail_msg("%s: %s", plan_request_name(call), ret == 1 ? "served" : e.text);
}

static void sweep_shape(const struct tor_torus *t, void *arg)
{
	struct tor_call call;
	u32 c;

	for (c = TORCOLL_ALLREDUCE; c < TORCOLL_COLL_COUNT; c++) {
		call = plan_request(t, *(u32 *)arg, c, 3 * t->nodes + 2);
		plan_vary(&call, false, check, NULL);
	}
}

/* The state that a test is given is the algorithm. */
static void plan__sweep(void **state)
{
	plan_every_shape(NODES, sweep_shape, *state);
	plan_every_chord(5, NODES, 1, sweep_shape, *state);
	plan_every_chord(7, 10, 2, sweep_shape, *state);
	plan_every_chord(12, 12, 3, sweep_shape, *state);
}

int main(void)
{
	struct CMUnitTest tests[TORCOLL_ALGO_COUNT - TORCOLL_SWING_BW];
	static u32 algorithm[TORCOLL_ALGO_COUNT];
	u32 a;

	for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++) {
		algorithm[a] = a;
		tests[a - TORCOLL_SWING_BW] = (struct CMUnitTest){
			.name = tor_algorithm_name(a),
			.test_func = plan__sweep,
			.initial_state = &algorithm[a],
		};
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
