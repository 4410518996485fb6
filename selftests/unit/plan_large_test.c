// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Every family and collective on some larger shapes: sides beyond the tables, powers, up to six dimensions.
 * See plan_sweep_test for all small ones.
 */
#include "host_env.h"
#include "plan_cases.h"
#include "plan_rules.h"

#include <stdio.h>

static const u32 sides[][TOR_MAX_DIMS] = {
	{ 66 }, { 65 }, { 81 }, { 72 }, { 100 }, { 128, 2 }, { 2, 96 },
	{ 4, 16 }, { 5, 5, 3 }, { 9, 7 }, { 25, 5 }, { 2, 2, 2, 2, 2, 2 },
};

static void check(const struct tor_call *call)
{
	struct dump_error e = {};
	int ret = plan_rules(call, false, &e);

	if (ret != (plan_is_served(call, false) ? 1 : -EOPNOTSUPP))
		fail_msg("%s: %s", plan_request_name(call), ret == 1 ? "served" : e.text);
}

/* The state that a test is given is the shape's sides. */
static void plan__larger_shape(void **state)
{
	const u32 *side = *state;
	struct tor_call call;
	struct tor_torus t;
	u32 ndim, a, c;

	for (ndim = 0; ndim < TOR_MAX_DIMS && side[ndim]; ndim++)
		;
	assert_int_equal(tor_torus_init(&t, ndim, side, 1), 0);
	for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++)
		for (c = TORCOLL_ALLREDUCE; c < TORCOLL_COLL_COUNT; c++) {
			/* which is an allreduce, as the small ones show */
			if (c == TORCOLL_BARRIER)
				continue;
			call = plan_request(&t, a, c, 2 * t.nodes + 1);
			check(&call);
		}
}

/* Whatever the tables have for a side. */
static void plan__every_side(void **state)
{
	static const u32 algorithm[] = { TORCOLL_TRIVANCE_BW, TORCOLL_TRIVANCE_LAT, TORCOLL_MOORE };
	struct tor_call call;
	struct tor_torus t;
	u32 n, i;

	for (n = 2; n <= 81; n++)
		for (i = 0; i < ARRAY_SIZE(algorithm); i++) {
			assert_int_equal(tor_torus_init(&t, 1, &n, 1), 0);
			call = plan_request(&t, algorithm[i], TORCOLL_ALLREDUCE, 5);
			check(&call);
		}
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(sides) + 1];
	static char name[ARRAY_SIZE(sides)][64];
	u32 i, d, n;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		for (d = 0, n = 0; d < TOR_MAX_DIMS && sides[i][d]; d++)
			n += snprintf(name[i] + n, sizeof(name[i]) - n, d ? "x%u" : "plan__%u",
				      sides[i][d]);
		tests[i] = (struct CMUnitTest){
			.name = name[i],
			.test_func = plan__larger_shape,
			.initial_state = (void *)sides[i],
		};
	}
	tests[i] = (struct CMUnitTest)cmocka_unit_test(plan__every_side);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
