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

/* A message of so many frames, of which one short one is answered like this after @ns. */
static void short_last_frame(u32 frames, struct tor_ack a, u64 ns)
{
	u8 flags;

	begin((u64)(frames - 1) * UNIT + 64);
	while (tor_tx_next(&tx, now, &flags) != TOR_NO_FRAME)
		;
	a.stamp = now / US;
	now += ns;
	tor_tx_ack(&tx, &a, now);
}

static u32 stamp(void)
{
	return now / US;
}

/* Messages of one short frame, each of whose answers comes after @ns. */
static void short_messages(u32 n, u64 ns)
{
	u32 stamped;
	u8 flags;

	while (n--) {
		begin(64);
		assert_int_equal(tor_tx_next(&tx, now, &flags), 0);
		stamped = stamp();
		now += ns;
		answer(1, stamped);
		assert_true(tor_tx_done(&tx));
	}
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

/*
 * A transfer of so many frames over a path that nothing else uses: each takes @frame ns of the first cable, and is answered @far ns
 * later, if it asks. Return the part of the time in which that cable was in use, percent.
 */
static u32 used(u32 frames, u64 frame, u64 far)
{
	struct { u64 at; u32 base, stamp; } asked[2 * TOR_WINDOW], a;
	u64 start = now, free_at = now;
	u32 head = 0, tail = 0, index;
	u8 flags;

	begin((u64)frames * UNIT);
	while (!tor_tx_done(&tx)) {
		while ((index = tor_tx_next(&tx, now, &flags)) != TOR_NO_FRAME) {
			free_at = max(free_at, now) + frame;
			if (!(flags & TORCOLL_FLAG_ACK))
				continue;
			asked[tail % ARRAY_SIZE(asked)].at = free_at + far;
			asked[tail % ARRAY_SIZE(asked)].base = index + 1;
			asked[tail++ % ARRAY_SIZE(asked)].stamp = stamp();
			assert_true(tail - head <= ARRAY_SIZE(asked));
		}
		assert_true(head != tail);
		a = asked[head++ % ARRAY_SIZE(asked)];
		now = a.at;
		answer(a.base, a.stamp);
	}
	return 100 * frames * frame / (now - start);
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

/* Short frames cross many hops sooner than long ones, which is no queue of these. */
static void tor_tx_ack__short_messages_say_nothing_of_long_ones(void **state)
{
	/* frames of 9000 bytes on 8 hops of 1 and of 2.5 Gb/s; 10 us of each hop are the host's */
	static const u64 frame[] = { 72 * US, 29 * US };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(frame); i++) {
		setup(state);
		assert_in_range(used(20000, frame[i], 7 * frame[i] + 160 * US), 90, 100);
		setup(state);
		short_messages(1, 160 * US);
		assert_in_range(used(20000, frame[i], 7 * frame[i] + 160 * US), 90, 100);
	}
}

/* The last one of few frames may be short, and take another way, or another cable, than those before it. */
static void tor_tx_ack__short_last_frame_says_nothing_of_long_ones(void **state)
{
	static const struct { u32 frames; struct tor_ack a; } last[] = {
		{ 2, { .state = TORCOLL_ACK_OK, .base = 2 } },
		/* it came first, and there was room, or was none */
		{ 2, { .state = TORCOLL_ACK_OK, .base = 0, .mask = 2 } },
		{ 2, { .state = TORCOLL_ACK_NOT_READY, .base = 0 } },
		{ 7, { .state = TORCOLL_ACK_OK, .base = 3, .mask = 8 } },
		{ 7, { .state = TORCOLL_ACK_OK, .base = 7 } },
		{ 7, { .state = TORCOLL_ACK_DONE } },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(last); i++) {
		setup(state);
		short_last_frame(last[i].frames, last[i].a, 160 * US);
		assert_int_equal(path.srtt, 160);
		assert_in_range(used(20000, 72 * US, 7 * 72 * US + 160 * US), 90, 100);
	}
}

/* Nor does a short last frame of many that is sent again, alone, after a loss or when the own queue has refused it. */
static void tor_tx_ack__last_frame_sent_again_says_nothing(void **state)
{
	bool refused;
	u32 stamped;
	u8 flags;

	for (refused = false;; refused = true) {
		setup(state);
		used(1000, 72 * US, 7 * 72 * US + 160 * US);
		begin(100ULL * UNIT + 64);
		tx.base = 100;
		tx.next = 100;
		assert_int_equal(tor_tx_next(&tx, now, &flags), 100);
		if (refused)
			tor_tx_dropped(&tx, 100, now);
		now = tor_tx_deadline(&tx);
		tor_tx_timer(&tx, now);
		stamped = stamp();
		assert_int_equal(tor_tx_next(&tx, now, &flags), 100);
		assert_int_equal(flags, TORCOLL_FLAG_RETRANSMIT | TORCOLL_FLAG_ACK);
		now += 160 * US;
		answer(101, stamped);
		assert_true(tor_tx_done(&tx));
		assert_in_range(used(20000, 72 * US, 7 * 72 * US + 160 * US), 90, 100);
		if (refused)
			return;
	}
}

/* What is answered before the last frame has arrived is of a long one, though all have left. */
static void tor_tx_ack__messages_of_a_window_tell_the_minimum(void **state)
{
	(void)state;
	short_last_frame(TOR_WINDOW_FIRST, (struct tor_ack){ .base = 4 }, 700 * US);
	assert_int_equal(path.rtt_min, 700 * TOR_RTT_FINE);
	short_last_frame(TOR_WINDOW_FIRST, (struct tor_ack){ .base = 2, .mask = 8 }, 600 * US);
	assert_int_equal(path.rtt_min, 600 * TOR_RTT_FINE);
}

/* Messages of one frame alone do not tell how long a round trip is without a queue: the window stays. */
static void tor_tx_ack__short_messages_keep_the_window(void **state)
{
	struct tor_ack unasked = { .state = TORCOLL_ACK_OK, .base = TOR_WINDOW_FIRST };
	u8 flags;

	(void)state;
	short_messages(10, 20 * US);
	begin(1000 * UNIT);
	while (tor_tx_next(&tx, now, &flags) != TOR_NO_FRAME)
		;
	/* of a frame that asked for nothing: no time is measured */
	tor_tx_ack(&tx, &unasked, now + 20 * US);
	assert_true(tx.window > TOR_WINDOW_FIRST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tor_tx_ack__forgets_a_slow_answer, setup),
		cmocka_unit_test_setup(tor_tx_ack__short_messages_say_nothing_of_long_ones, setup),
		cmocka_unit_test_setup(tor_tx_ack__short_last_frame_says_nothing_of_long_ones, setup),
		cmocka_unit_test_setup(tor_tx_ack__last_frame_sent_again_says_nothing, setup),
		cmocka_unit_test_setup(tor_tx_ack__messages_of_a_window_tell_the_minimum, setup),
		cmocka_unit_test_setup(tor_tx_ack__short_messages_keep_the_window, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
