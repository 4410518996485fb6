// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What plans cost: rounds, hops and loads that papers state, or that follow from how a plan works. */
#include "host_env.h"
#include "plan_cases.h"
#include "plan_rules.h"

static void near_number(double x, double expected, double tolerance)
{
	if (x < expected - tolerance || x > expected + tolerance)
		fail_msg("%.5f instead of %.5f", x, expected);
}

/* --- numbers of the papers --- */

/* The cost of an allreduce of @per elements per rank; sides end with 0. */
static struct dump_cost cost_of(u32 algorithm, u32 per, const u32 *side)
{
	struct tor_call call;
	struct dump_cost cost;
	struct tor_torus t;
	struct dump d = {};
	u32 ndim = 0;

	while (side[ndim])
		ndim++;
	assert_int_equal(tor_torus_init(&t, ndim, side, 2), 0);
	call = plan_request(&t, algorithm, TORCOLL_ALLREDUCE, (u64)per * t.nodes);
	assert_int_equal(dump_make(&d, &call, NULL), 0);
	dump_cost(&d, &cost);
	dump_free(&d);
	return cost;
}

#define COST(algorithm, per, ...) \
	cost_of(TORCOLL_##algorithm, per, (u32[]){ __VA_ARGS__, 0 })

static void plan_cost__swing_bw(void **state)
{
	near_number(COST(SWING_BW, 4, 8, 8).factor, 1.0781, 0.00005);
	near_number(COST(SWING_BW, 4, 16, 16).factor, 1.1367, 0.00005);
	near_number(COST(SWING_BW, 4, 32, 32).factor, 1.1689, 0.00005);
	near_number(COST(SWING_BW, 6, 16, 16, 16).factor, 1.0339, 0.00005);
	near_number(COST(SWING_BW, 2, 10).factor, 1.70, 0.005);
	near_number(COST(SWING_BW, 2, 16).factor, 1.44, 0.005);
	near_number(COST(SWING_BW, 4, 10, 10).factor, 1.35, 0.005);
	near_number(COST(SWING_BW, 2, 7).factor, 2.86, 0.005);
	near_number(COST(SWING_BW, 4, 7, 7).factor, 3.43, 0.005);
}

static void plan_cost__bibucket(void **state)
{
	struct dump_cost c = COST(BIBUCKET, 4, 8, 8);

	assert_int_equal(c.rounds, 16);
	assert_int_equal(c.hops, 16);
	near_number(c.factor, 63.0 / 64, 1e-9);
	near_number(COST(BIBUCKET, 12, 5, 5, 5).factor, 124.0 / 125, 1e-9);
	c = COST(BIBUCKET, 4, 8, 4);
	assert_int_equal(c.rounds, 12);
	near_number(c.factor, 1.47, 0.005);
	near_number(COST(BIBUCKET, 4, 16, 4).factor, 1.73, 0.005);
}

static void plan_cost__recdoub(void **state)
{
	near_number(COST(RECDOUB_BW_MIRRORED, 4, 8, 8).factor, 1.5, 0.00005);
	near_number(COST(RECDOUB_BW_MIRRORED, 4, 16, 16).factor, 1.7344, 0.00005);
	near_number(COST(RECDOUB_BW_MIRRORED, 4, 32, 32).factor, 1.8633, 0.00005);
}

static void plan_cost__trivance_bw(void **state)
{
	near_number(COST(TRIVANCE_BW, 4, 27, 27).factor, 1.2840, 0.00005);
	near_number(COST(TRIVANCE_BW, 4, 6, 6).factor, 1.139, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 7, 7).factor, 1.143, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 10, 10).factor, 1.110, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 15, 15).factor, 1.138, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 16, 16).factor, 1.328, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 24, 24).factor, 1.300, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 32, 32).factor, 1.218, 0.0005);
	/* beyond the table, by two levels */
	near_number(COST(TRIVANCE_BW, 2, 72).factor, 2.7083, 0.00005);
	near_number(COST(TRIVANCE_BW, 2, 128).factor, 3.2344, 0.00005);
}

static void plan_cost__bruck_bw(void **state)
{
	/* limits 4.0 and 3.25, from below */
	near_number(COST(BRUCK_BW, 2, 27, 27).factor, 3.654, 0.0005);
	near_number(COST(BRUCK_BW, 3, 9, 9, 9).factor, 2.9959, 0.00005);
}

static void plan_cost__latency_forms(void **state)
{
	struct dump_cost c = COST(SWING_LAT, 1, 64, 64);

	assert_int_equal(c.rounds, 12);
	assert_int_equal(c.hops, 84);
	c = COST(RECDOUB_LAT, 1, 64, 64);
	assert_int_equal(c.rounds, 12);
	assert_int_equal(c.hops, 126);
	c = COST(TRIVANCE_LAT, 1, 27, 27);
	assert_int_equal(c.rounds, 6);
	assert_int_equal(c.hops, 26);
	assert_int_equal(COST(TRIVANCE_LAT, 1, 16, 10).rounds, 6);
	c = COST(WINDOW, 2, 8, 4);
	assert_int_equal(c.rounds, 6);
	near_number(c.w, 5.0, 1e-9);
	assert_int_equal(COST(MOORE, 1, 9, 9).rounds, 2);
	assert_int_equal(COST(MOORE, 1, 3, 3, 3).rounds, 1);
	assert_int_equal(COST(ALLPORT, 1, 5, 5).rounds, 2);
	assert_int_equal(COST(ALLPORT, 1, 25, 25).rounds, 4);
	assert_int_equal(COST(ALLPORT, 1, 7, 7, 7).rounds, 3);
}

/* Bytes per node as the paper says, cyclic and XOR. */
static void check_general(u32 n, u32 r, u32 group)
{
	struct tor_call call;
	struct tor_torus t;
	struct dump_cost cost;
	struct dump d = {};
	u32 k, left = n, steps = 0;
	double blocks;

	while (1u << steps < n)
		steps++;
	tor_torus_init(&t, 1, &n, 1);
	call = plan_request(&t, TORCOLL_GENERAL, TORCOLL_ALLREDUCE, 2 * n);
	call.param[TORCOLL_PARAM_R] = r + 1;
	call.param[TORCOLL_PARAM_GROUP] = group;
	for (k = 0; k < steps - r; k++)
		left = (left + 1) / 2;
	if (group == 2)
		blocks = 2 * n + ((double)r - 2) * left;
	else
		blocks = r < steps ? 2 * (n - 1) + (left - 1) * (steps - 1) : steps * n;
	assert_int_equal(dump_make(&d, &call, NULL), 0);
	dump_cost(&d, &cost);
	dump_free(&d);
	assert_int_equal(cost.rounds, 2 * steps - r);
	near_number(cost.sent_max, 2 * blocks, 1e-9);
}

static void plan_cost__general(void **state)
{
	u32 n, r;

	for (n = 2; n <= 36; n++)
		for (r = 0; r == 0 || 1u << (r - 1) < n; r++) {
			check_general(n, r, 1);
			if (!(n & (n - 1)))
				check_general(n, r, 2);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_cost__swing_bw),
		cmocka_unit_test(plan_cost__bibucket),
		cmocka_unit_test(plan_cost__recdoub),
		cmocka_unit_test(plan_cost__trivance_bw),
		cmocka_unit_test(plan_cost__bruck_bw),
		cmocka_unit_test(plan_cost__latency_forms),
		cmocka_unit_test(plan_cost__general),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
