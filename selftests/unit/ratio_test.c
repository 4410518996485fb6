// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Ratios of 64 bits against the compiler's arithmetic of 128. */
#include "host_env.h"

#include "core/ratio.h"

static void check_ratio(u64 a, u64 b, u64 d)
{
	__uint128_t quotient = (__uint128_t)a * b / d;

	if (quotient >> 64)
		return;
	assert_int_equal(tor_mul_div64(a, b, d), (u64)quotient);
}

static void tor_mul_div64__edges(void **state)
{
	static const u64 edge[] = { 1, 2, 3, 0xffffffff, 1ULL << 32, (1ULL << 63) - 1, 1ULL << 63, ~0ULL - 1, ~0ULL };
	u32 a, b, d;

	(void)state;
	for (a = 0; a < ARRAY_SIZE(edge); a++)
		for (b = 0; b < ARRAY_SIZE(edge); b++)
			for (d = 0; d < ARRAY_SIZE(edge); d++)
				check_ratio(edge[a], edge[b], edge[d]);
	assert_int_equal(tor_mul_div64(0, ~0ULL, 7), 0);
	assert_int_equal(tor_mul_div64(~0ULL, ~0ULL, ~0ULL), ~0ULL);
}

/* Numbers of every length. */
static void tor_mul_div64__random(void **state)
{
	u64 seed = 5;
	u32 i;

	(void)state;
	for (i = 0; i < 1000000; i++) {
		u64 a = host_rand(&seed) >> host_rand(&seed) % 64;
		u64 b = host_rand(&seed) >> host_rand(&seed) % 64;
		u64 d = host_rand(&seed) >> host_rand(&seed) % 64;

		check_ratio(a, b, d ?: 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_mul_div64__edges),
		cmocka_unit_test(tor_mul_div64__random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
