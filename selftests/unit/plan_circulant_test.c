// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Circulant schedules: Table 1 of the paper; the four conditions of section 2 and the bounds on calls and
 * violations, for small p and some larger ones. All that matter: make check-circulant.
 */
#include "circulant_rules.h"
#include "host_env.h"

#define ALL_TO	600

static void circulant__table_1(void **state)
{
	static const s8 table[5][17] = {
		{ -4, 0, -5, -4, -3, -5, -2, -5, -4, -3, -1, -5, -4, -3, -5, -2, -5 },
		{ -5, -4, 1, -5, -4, -3, -3, -2, -5, -4, -3, -1, -5, -4, -3, -3, -2 },
		{ -2, -2, -2, 2, 0, -4, -4, -3, -2, -2, -4, -3, -1, -1, -4, -4, -3 },
		{ -1, -3, -3, -2, -2, 3, 0, 1, 2, -5, -2, -2, -2, -2, -1, -1, -1 },
		{ -3, -1, -1, -1, -1, -1, -1, -1, -1, 4, 0, 1, 2, 0, 3, 0, 1 },
	};
	s8 recv[TOR_CIRCULANT_ROUNDS], send[TOR_CIRCULANT_ROUNDS];
	struct tor_circulant c;
	u32 k, r;

	tor_circulant_init(&c, 17);
	for (r = 0; r < 17; r++) {
		tor_circulant_recv(&c, r, recv);
		for (k = 0; k < 5; k++)
			assert_int_equal(recv[k], table[k][r]);
		/* and what is sent is what comes where it goes; to the root goes nothing */
		tor_circulant_send(&c, r, send);
		for (k = 0; k < 5; k++)
			if ((r + c.skip[k]) % 17)
				assert_int_equal(send[k], table[k][(r + c.skip[k]) % 17]);
	}
}

static void check(u32 p)
{
	const char *why = circulant_rules(p);

	if (why)
		fail_msg("p = %u: %s", p, why);
}

static void circulant__all_small(void **state)
{
	u32 p;

	for (p = 2; p <= ALL_TO; p++)
		check(p);
}

static void circulant__larger(void **state)
{
	static const u32 larger[] = { 1023, 1024, 1025, 4097, 9999, 65535, 65536, 65537 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(larger); i++)
		check(larger[i]);
}

static void circulant__slow_form_is_the_same(void **state)
{
	s8 fast[TOR_CIRCULANT_ROUNDS], slow[TOR_CIRCULANT_ROUNDS];
	struct tor_circulant c;
	u32 p, r;

	for (p = 2; p <= 100; p++) {
		tor_circulant_init(&c, p);
		for (r = 1; r < p; r++) {
			tor_circulant_send(&c, r, fast);
			circulant_send_slow(&c, r, slow);
			assert_memory_equal(fast, slow, c.q);
		}
	}
}

/* What each rank sends, one after the other; in all, as many skips come and go as there are ranks, twice. */
static void check_walk(u32 p)
{
	s8 send[TOR_CIRCULANT_ROUNDS];
	struct tor_circulant_walk w;
	u32 k, r, before, changed;
	struct tor_circulant c;

	tor_circulant_init(&c, p);
	for (k = 0; k < c.q; k++) {
		changed = 0;
		tor_circulant_walk_begin(&c, &w, k);
		for (r = 0; r < p; r++) {
			before = w.taken;
			tor_circulant_send(&c, r, send);
			if (tor_circulant_walk_next(&c, &w) != send[k])
				fail_msg("p = %u, rank %u, round %u", p, r, k);
			changed += hweight64(w.taken ^ before);
		}
		assert_in_range(changed, 0, 2 * p);
	}
}

static void tor_circulant_walk__is_what_each_rank_sends(void **state)
{
	static const u32 larger[] = { 1023, 1024, 1025, 4097, 9999, 16385 };
	u32 p, i;

	for (p = 2; p <= ALL_TO; p++)
		check_walk(p);
	for (i = 0; i < ARRAY_SIZE(larger); i++)
		check_walk(larger[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(circulant__table_1),
		cmocka_unit_test(circulant__all_small),
		cmocka_unit_test(circulant__larger),
		cmocka_unit_test(circulant__slow_form_is_the_same),
		cmocka_unit_test(tor_circulant_walk__is_what_each_rank_sends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
