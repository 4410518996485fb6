// SPDX-License-Identifier: GPL-2.0 OR MIT
/* How many frames of a transfer are in flight, by the length of the path: enough to fill it, whatever was measured before. */
#include "host_env.h"

#include "core/transfer/xfer.h"

#define UNIT	8000
#define US	NSEC_PER_USEC

static struct tor_path path;
static u32 slowest;
static struct tor_tx tx;
static u64 now;

static int setup(void **state)
{
	(void)state;
	memset(&path, 0, sizeof(path));
	slowest = 0;
	now = NSEC_PER_SEC;
	return 0;
}

static void begin(u64 bytes)
{
	memset(&tx, 0, sizeof(tx));
	tor_tx_init(&tx, &path, &slowest, 1, 0, bytes, UNIT, false);
}

static void answer(u32 base, u32 stamp)
{
	struct tor_ack a = { .state = TORCOLL_ACK_OK, .base = base, .stamp = stamp };

	tor_tx_ack(&tx, &a, now);
}

static u32 stamp(void)
{
	return now / US;
}

/* Windows of a transfer, each of which is answered as a whole after @ns. */
static void windows(u32 n, u64 ns)
{
	u32 stamped;
	u8 flags;

	while (n--) {
		stamped = stamp();
		while (tor_tx_next(&tx, now, &flags) != TOR_NO_FRAME)
			;
		now += ns;
		answer(tx.next, stamped);
	}
}

/* An answer that was slow is forgotten: what is left of it would be a queue on a path of some us. */
static void tor_tx_ack__forgets_a_slow_answer(void **state)
{
	static const u32 us[] = { 1, 8, 16, 24, 31, 40, 64, 200 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(us); i++) {
		setup(state);
		begin(1ULL << 40);
		windows(200, us[i] * US);
		windows(1, 300 * US);
		windows(20000, us[i] * US);
		assert_int_equal(path.srtt, us[i]);
		assert_int_equal(tx.window, TOR_WINDOW);
		windows(1, 1 * US);
		windows(20000, us[i] * US);
		assert_int_equal(path.srtt, us[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tor_tx_ack__forgets_a_slow_answer, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
