// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What tune makes of measurements: the rates they were made with, and how sure these are. */
#include "host_env.h"

#include "../../tools/torcollctl/fit.c"

static const u32 algorithms[] = {
	TORCOLL_TREE, TORCOLL_BIBUCKET, TORCOLL_RING, TORCOLL_SWING_BW, TORCOLL_GENERAL,
	TORCOLL_RECDOUB_LAT,
};

/* Times by the model, up to @noise above it, and one of ten far above it. */
static size_t measure(struct sample *s, const struct tor_rates *rates, double noise)
{
	u32 side[] = { 4, 4 }, a, bytes, again;
	struct tor_torus t;
	size_t n = 0;
	u64 seed = 5;

	assert_int_equal(tor_torus_init(&t, 2, side, 2), 0);
	for (a = 0; a < ARRAY_SIZE(algorithms); a++) {
		struct tor_call call = {
			.torus = &t, .ranks = 16, .collective = TORCOLL_ALLREDUCE,
			.algorithm = algorithms[a],
		};
		struct tor_cost cost;

		assert_int_equal(tor_cost_plan(&call, &cost, NULL), 0);
		for (bytes = 64; bytes <= 1 << 20; bytes *= 16) {
			sample_set(&s[n], &cost, bytes);
			for (again = 0; again < 10; again++) {
				double ps = tor_line_at(tor_cost_line(&cost, rates), bytes);

				ps *= 1 + noise * (host_rand(&seed) % 1000) / 1000;
				sample_add(&s[n], noise && again == 7 ? 30 * ps : ps);
			}
			n++;
		}
	}
	return n;
}

static void near(double x, double expected, double share)
{
	if (x < expected * (1 - share) || x > expected * (1 + share))
		fail_msg("%g instead of %g", x, expected);
}

static void fit__finds_what_it_was_made_with(void **state)
{
	static const struct tor_rates rates = {
		.op = 200000000, .e = 30000000, .f = 9000000, .link = 500000, .message = 4000000,
		.byte = 800000,
	};
	struct sample s[40];
	struct fit fit;
	size_t n = measure(s, &rates, 0);

	assert_int_equal(fit_samples(&fit, s, n), 0);
	near(fit.rate[0], 200000000, 0.01);
	near(fit.rate[1], 30000000, 0.01);
	near(fit.rate[2], 9000000, 0.01);
	near(fit.rate[3], 4000000, 0.01);
	near(fit.rate[4], 500000, 0.01);
	near(fit.rate[5], 800000, 0.01);
	assert_true(fit.error < 0.01 && fit.error_large < 0.01);
	near(fit.high[0], fit.low[0], 0.01);
}

static void fit__noise_shows_as_spread(void **state)
{
	static const struct tor_rates rates = {
		.op = 200000000, .e = 30000000, .f = 9000000, .link = 500000, .message = 4000000,
		.byte = 800000,
	};
	struct sample s[40];
	struct fit fit;
	size_t n = measure(s, &rates, 0.3), i;

	assert_int_equal(fit_samples(&fit, s, n), 0);
	for (i = 0; i < RATES; i++)
		assert_true(fit.low[i] <= fit.rate[i] && fit.rate[i] <= fit.high[i] &&
			    fit.low[i] < fit.high[i]);
	/* a third at most, and medians are nearer to each other than single times */
	assert_true(fit.error > 0.005 && fit.error < 0.1);
	near(fit.rate[5], 800000 * 1.15, 0.1);
}

/* What a fabric does not show is 0, never below. */
static void fit__nothing_below_zero(void **state)
{
	static const struct tor_rates rates = { .message = 4000000, .byte = 800000 };
	struct sample s[40];
	struct fit fit;
	size_t n = measure(s, &rates, 0.2), i;

	assert_int_equal(fit_samples(&fit, s, n), 0);
	for (i = 0; i < RATES; i++)
		assert_true(fit.rate[i] >= 0 && fit.low[i] >= 0);
	near(fit.rate[5], 880000, 0.05);
}

static void fit__of_nothing(void **state)
{
	struct sample untimed = { .x = { 1, 1, 2, 3, 4, 5 }, .bytes = 64 };
	struct fit fit;

	assert_int_equal(fit_samples(&fit, NULL, 0), 0);
	assert_true(fit.rate[0] == 0 && fit.error == 0);
	assert_int_equal(fit_samples(&fit, &untimed, 1), 0);
	assert_true(fit.rate[0] == 0 && fit.error == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit__finds_what_it_was_made_with),
		cmocka_unit_test(fit__noise_shows_as_spread),
		cmocka_unit_test(fit__nothing_below_zero),
		cmocka_unit_test(fit__of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
