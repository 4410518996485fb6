// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The receiver's record of a transfer, alone and with its sender over a bad channel. */
#include "host_env.h"

#include "core/transfer/xfer.h"

#define UNIT	1000
#define START	NSEC_PER_SEC

static struct tor_path path;
static u32 slowest;
static struct tor_tx tx;

static void tor_rx_look__once_each(void **state)
{
	u32 order[TOR_WINDOW], i, k;
	u64 seed = 10;

	(void)state;
	for (k = 0; k < 2000; k++) {
		struct tor_rx rx = { .frames = TOR_WINDOW };

		for (i = 0; i < TOR_WINDOW; i++) {
			u32 j = host_rand(&seed) % (i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		for (i = 0; i < TOR_WINDOW; i++) {
			assert_false(tor_rx_done(&rx));
			assert_int_equal(tor_rx_look(&rx, order[i]), TOR_RX_NEW);
			tor_rx_mark(&rx, order[i]);
			assert_int_equal(tor_rx_look(&rx, order[i]), TOR_RX_DUPLICATE);
		}
		assert_true(tor_rx_done(&rx));
		assert_int_equal(rx.base, TOR_WINDOW);
		assert_int_equal(rx.mask, 0);
	}
}

static void tor_rx_look__beyond_the_window(void **state)
{
	struct tor_rx rx = { .frames = 1000, .base = 10 };

	(void)state;
	assert_int_equal(tor_rx_look(&rx, 9), TOR_RX_DUPLICATE);
	assert_int_equal(tor_rx_look(&rx, 10), TOR_RX_NEW);
	assert_int_equal(tor_rx_look(&rx, 10 + TOR_WINDOW - 1), TOR_RX_NEW);
	assert_int_equal(tor_rx_look(&rx, 10 + TOR_WINDOW), TOR_RX_BEYOND);
	assert_int_equal(tor_rx_look(&rx, ~0U), TOR_RX_BEYOND);
	/* how many there will be is not known before the round is reached */
	rx.frames = 0;
	assert_false(tor_rx_done(&rx));
}

/*
 * Sender and receiver over a channel that loses and reorders both ways: every frame is taken exactly
 * once, and the end comes.
 */
struct letter {
	u64 when;
	u32 index;			/* of a frame; or */
	bool is_ack;
	struct tor_ack ack;
	bool asks;
};

static struct letter post[4096];
static u32 letters;

static void mail(struct letter l, u64 now, u32 loss, u64 *seed)
{
	if (host_rand(seed) % 100 < loss)
		return;
	l.when = now + 50000 + host_rand(seed) % 50000;
	assert_true(letters < ARRAY_SIZE(post));
	post[letters++] = l;
}

static void run(u32 frames, u32 loss, u64 *seed)
{
	struct tor_rx rx = { .frames = frames };
	u8 *taken = calloc(frames, 1);
	u64 now = START, next;
	u32 i, first, index;
	u8 flags;

	memset(&path, 0, sizeof(path));
	slowest = 0;
	tor_tx_init(&tx, &path, &slowest, 1, 2, (u64)frames * UNIT, UNIT, false);
	letters = 0;
	while (!tor_tx_done(&tx)) {
		while ((index = tor_tx_next(&tx, now, &flags)) != TOR_NO_FRAME)
			mail((struct letter){ .index = index, .asks = flags & TORCOLL_FLAG_ACK },
			     now, loss, seed);
		for (first = 0, i = 1; i < letters; i++)
			if (post[i].when < post[first].when)
				first = i;
		next = tor_tx_deadline(&tx);
		assert_true(next > 0);
		if (!letters || next < post[first].when) {
			now = max(now, next);
			tor_tx_timer(&tx, now);
			assert_true(now < START + 1000 * NSEC_PER_SEC);
			continue;
		}
		now = max(now, post[first].when);
		if (post[first].is_ack) {
			tor_tx_ack(&tx, &post[first].ack, now);
		} else if (tor_rx_look(&rx, post[first].index) == TOR_RX_NEW) {
			assert_int_equal(taken[post[first].index]++, 0);
			tor_rx_mark(&rx, post[first].index);
		}
		if (!post[first].is_ack && (post[first].asks || rx.mask || tor_rx_done(&rx)))
			mail((struct letter){ .is_ack = true,
					      .ack = { .base = rx.base, .mask = rx.mask } },
			     now, loss, seed);
		post[first] = post[--letters];
	}
	assert_true(tor_rx_done(&rx));
	for (i = 0; i < frames; i++)
		assert_int_equal(taken[i], 1);
	free(taken);
}

static void tor_tx_next__exactly_once_over_bad_channels(void **state)
{
	u64 seed = 11;
	u32 i;

	(void)state;
	for (i = 0; i < 300; i++)
		run(1 + host_rand(&seed) % 400, i % 60, &seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_rx_look__once_each),
		cmocka_unit_test(tor_rx_look__beyond_the_window),
		cmocka_unit_test(tor_tx_next__exactly_once_over_bad_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
