// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Dampers: how often something is done for which cause is given all the time, and that a single cause is not delayed. */
#include "host_env.h"

#include "core/link/damper.h"

/* How often it is done from @from to @to, with cause every @step. */
static u32 done(struct tor_damper *damper, u64 from, u64 to, u64 step)
{
	u64 now;
	u32 n = 0;

	for (now = from; now < to; now += step)
		n += tor_damper_may(damper, now);
	return n;
}

static void tor_damper_may__at_once_then_ever_more_seldom(void **state)
{
	struct tor_damper damper = {};
	u64 now = NSEC_PER_SEC, wait = TOR_DAMPER_FIRST;
	u32 i;

	(void)state;
	for (i = 0; i < TOR_DAMPER_FREE; i++)
		assert_true(tor_damper_may(&damper, now));
	for (i = 0; i < TOR_DAMPER_DOUBLINGS + 3; i++) {
		assert_int_equal(tor_damper_due(&damper), now + wait);
		assert_false(tor_damper_may(&damper, now + wait - 1));
		assert_true(tor_damper_may(&damper, now + wait));
		now += wait;
		wait = min_t(u64, 2 * wait, TOR_DAMPER_LONGEST);
	}
	assert_int_equal(wait, 1600 * NSEC_PER_MSEC);
}

static void tor_damper_due__waits_begin_with_the_first(void **state)
{
	struct tor_damper damper = { .first = NSEC_PER_USEC };
	u32 i;

	(void)state;
	for (i = 0; i < TOR_DAMPER_FREE; i++)
		assert_true(tor_damper_may(&damper, NSEC_PER_SEC));
	for (i = 0; i < TOR_DAMPER_DOUBLINGS; i++) {
		assert_int_equal(tor_damper_due(&damper), damper.last + (NSEC_PER_USEC << i));
		assert_true(tor_damper_may(&damper, tor_damper_due(&damper)));
	}
}

static void tor_damper_may__rate_is_bounded(void **state)
{
	struct tor_damper damper = {};
	u64 step;
	u32 n, i;

	(void)state;
	n = done(&damper, 0, NSEC_PER_SEC, NSEC_PER_USEC);
	assert_in_range(n, TOR_DAMPER_FREE, TOR_DAMPER_FREE + TOR_DAMPER_DOUBLINGS);
	n = done(&damper, NSEC_PER_SEC, 101 * NSEC_PER_SEC, NSEC_PER_USEC);
	assert_in_range(n, 100 / 2, 100);
	/* however it is spread in time, evenly or in bursts */
	for (step = TOR_DAMPER_FIRST; step < 10 * NSEC_PER_SEC; step += step / 3) {
		memset(&damper, 0, sizeof(damper));
		assert_in_range(done(&damper, 0, 100 * NSEC_PER_SEC, step), 10,
				TOR_DAMPER_FREE / 2 * 100 * NSEC_PER_SEC / TOR_DAMPER_HALF);
		memset(&damper, 0, sizeof(damper));
		for (n = 0, i = 0; i < 1000; i++)
			n += done(&damper, i * step, i * step + TOR_DAMPER_FIRST, NSEC_PER_MSEC);
		assert_in_range(n, 1, TOR_DAMPER_FREE + TOR_DAMPER_DOUBLINGS +
				1000 * step * TOR_DAMPER_FREE / 2 / TOR_DAMPER_HALF);
	}
}

static void tor_damper_may__quiet_is_forgotten_by_halves(void **state)
{
	struct tor_damper damper = {};
	u64 now = 50 * NSEC_PER_SEC;

	(void)state;
	done(&damper, 0, now, NSEC_PER_MSEC);
	assert_int_equal(damper.count, TOR_DAMPER_FREE + TOR_DAMPER_DOUBLINGS);
	/* whatever was before: one that comes after the longest wait is not delayed */
	assert_true(tor_damper_due(&damper) < now + TOR_DAMPER_LONGEST);
	now = tor_damper_due(&damper);
	assert_true(tor_damper_may(&damper, now));
	now = tor_damper_due(&damper) + TOR_DAMPER_HALF;
	assert_true(tor_damper_may(&damper, now));
	assert_int_equal(damper.count, (TOR_DAMPER_FREE + TOR_DAMPER_DOUBLINGS) / 2 + 1);
	now += 100 * TOR_DAMPER_HALF;
	assert_int_equal(done(&damper, now, now + TOR_DAMPER_FIRST, NSEC_PER_USEC), TOR_DAMPER_FREE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_damper_may__at_once_then_ever_more_seldom),
		cmocka_unit_test(tor_damper_due__waits_begin_with_the_first),
		cmocka_unit_test(tor_damper_may__rate_is_bounded),
		cmocka_unit_test(tor_damper_may__quiet_is_forgotten_by_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
