// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The sender of a transfer: windows, acknowledgements, loss, receivers that are not ready. */
#include "host_env.h"

#include "core/transfer/xfer.h"

#define UNIT	1000
#define MS	NSEC_PER_MSEC
#define START	NSEC_PER_SEC

static struct tor_path path;
static u32 slowest;
static struct tor_tx tx;

static void begin(u32 frames)
{
	memset(&path, 0, sizeof(path));
	slowest = 0;
	memset(&tx, 0, sizeof(tx));
	tor_tx_init(&tx, &path, &slowest, 1, 2, (u64)frames * UNIT, UNIT, false);
	assert_int_equal(tx.frames, frames);
}

/* Send all that may be sent. Return: how many; *last: the flags of the last one. */
static u32 burst(u64 now, u8 *last)
{
	u32 n = 0;
	u8 flags;

	while (tor_tx_next(&tx, now, &flags) != TOR_NO_FRAME) {
		*last = flags;
		n++;
	}
	return n;
}

static void ack(u32 base, u64 mask, u64 now)
{
	struct tor_ack a = { .state = TORCOLL_ACK_OK, .base = base, .mask = mask };

	tor_tx_ack(&tx, &a, now);
}

static void refuse(u64 now)
{
	struct tor_ack a = { .state = TORCOLL_ACK_NOT_READY };

	tor_tx_ack(&tx, &a, now);
}

static void tor_tx_init__counts_frames(void **state)
{
	(void)state;
	tor_tx_init(&tx, &path, &slowest, 0, 0, 1, UNIT, false);
	assert_int_equal(tx.frames, 1);
	tor_tx_init(&tx, &path, &slowest, 0, 0, UNIT, UNIT, false);
	assert_int_equal(tx.frames, 1);
	tor_tx_init(&tx, &path, &slowest, 0, 0, UNIT + 1, UNIT, false);
	assert_int_equal(tx.frames, 2);
	tor_tx_init(&tx, &path, &slowest, 0, 0, (1ULL << 40) + 1, 8192, false);
	assert_int_equal(tx.frames, (1U << 27) + 1);
}

static void tor_tx_next__first_window(void **state)
{
	u32 i;
	u8 flags;

	(void)state;
	begin(100);
	for (i = 0; i < TOR_WINDOW_FIRST; i++)
		assert_int_equal(tor_tx_next(&tx, START, &flags), i);
	assert_true(flags & TORCOLL_FLAG_ACK);
	assert_false(flags & TORCOLL_FLAG_RETRANSMIT);
	assert_int_equal(tor_tx_next(&tx, START, &flags), TOR_NO_FRAME);
	assert_false(tor_tx_done(&tx));
}

static void tor_tx_next__last_frame_asks(void **state)
{
	u32 frames;
	u8 flags = 0;

	(void)state;
	for (frames = 1; frames <= TOR_WINDOW_FIRST; frames++) {
		begin(frames);
		assert_int_equal(burst(START, &flags), frames);
		assert_true(flags & TORCOLL_FLAG_ACK);
		ack(frames, 0, START + MS);
		assert_true(tor_tx_done(&tx));
		assert_int_equal(tor_tx_deadline(&tx), 0);
	}
}

/* A window that is used up grows to its bound, and the next transfer starts with it. */
static void tor_tx_ack__opens_the_window(void **state)
{
	u64 now = START;
	u32 sent = 0;
	u8 flags;

	(void)state;
	begin(10000);
	while (sent < 9000) {
		sent += burst(now, &flags);
		assert_true(tx.next - tx.base <= TOR_WINDOW);
		now += MS / 10;
		ack(tx.next, 0, now);
	}
	assert_int_equal(tx.window, TOR_WINDOW);
	assert_int_equal(path.window, TOR_WINDOW);
	tor_tx_init(&tx, &path, &slowest, 1, 3, 1000 * UNIT, UNIT, false);
	assert_int_equal(burst(now, &flags), TOR_WINDOW);
}

/* A cable was cut, and the way round is longer by less than a millisecond: that is no queue. */
static void learns_a_longer_path(u32 before, u32 after)
{
	struct tor_ack a = { .state = TORCOLL_ACK_OK };
	u64 now = START;
	u32 i;
	u8 flags;

	begin(1U << 23);
	for (i = 0; i < 100000; i++) {
		burst(now, &flags);
		a.stamp = now / NSEC_PER_USEC;
		a.base = tx.next;
		now += (i < 100 ? before : after) * NSEC_PER_USEC;
		tor_tx_ack(&tx, &a, now);
	}
	assert_true(tx.window > 32);
}

static void tor_tx_ack__learns_a_longer_path(void **state)
{
	(void)state;
	learns_a_longer_path(60, 600);
	learns_a_longer_path(10, 60);
}

static void tor_tx_ack__done_is_all(void **state)
{
	struct tor_ack a = { .state = TORCOLL_ACK_DONE };
	u8 flags;

	(void)state;
	begin(1000);
	burst(START, &flags);
	tor_tx_ack(&tx, &a, START + MS);
	assert_true(tor_tx_done(&tx));
	assert_int_equal(tor_tx_next(&tx, START + MS, &flags), TOR_NO_FRAME);
}

static void tor_tx_ack__old_news_change_nothing(void **state)
{
	u8 flags;

	(void)state;
	begin(100);
	burst(START, &flags);
	ack(6, 2, START + MS);
	assert_int_equal(tx.base, 6);
	assert_int_equal(tx.acked, 2);
	ack(2, 1, START + 2 * MS);
	assert_int_equal(tx.base, 6);
	assert_int_equal(tx.acked, 2);
	/* what it says of later frames counts all the same: frame 6 is bit 4 */
	ack(2, 1 << 4, START + 2 * MS);
	assert_int_equal(tx.base, 8);
}

/* Whatever a receiver says, the sender's state stays sound. */
static void tor_tx_ack__any_content_is_safe(void **state)
{
	u64 seed = 9, now = START;
	struct tor_ack a;
	u32 i, k;
	u8 flags;

	(void)state;
	for (i = 0; i < 20000; i++) {
		begin(1 + host_rand(&seed) % 300);
		for (k = 0; k < 20 && !tor_tx_done(&tx); k++) {
			now += host_rand(&seed) % (300 * MS);
			burst(now, &flags);
			host_fill(&a, sizeof(a), &seed);
			a.state %= 5;
			if (host_rand(&seed) % 2)
				a.base = tx.base + host_rand(&seed) % 80 - 8;
			if (a.state == TORCOLL_ACK_DONE && host_rand(&seed) % 8)
				a.state = TORCOLL_ACK_OK;
			tor_tx_ack(&tx, &a, now);
			tor_tx_dropped(&tx, host_rand(&seed) % 320, now);
			tor_tx_timer(&tx, now + host_rand(&seed) % (300 * MS));

			assert_true(tx.base <= tx.next && tx.next <= tx.frames);
			assert_true(tx.next - tx.base <= TOR_WINDOW);
			assert_true((tx.acked & tx.lost) == 0);
			if (tx.next - tx.base < 64)
				assert_true((tx.acked | tx.lost) >> (tx.next - tx.base) == 0);
			assert_in_range(tx.window, TOR_WINDOW_MIN, TOR_WINDOW);
			/* somebody will act once all is sent that may be */
			burst(now, &flags);
			assert_true(tor_tx_done(&tx) || tor_tx_deadline(&tx));
		}
	}
}

static void tor_tx_timer__gap_is_repeated_after_a_while(void **state)
{
	u64 now = START + MS;
	u8 flags;

	(void)state;
	begin(8);
	burst(START, &flags);
	ack(2, 7 << 2, now);			/* 4, 5 and 6, so 2 and 3 are missing */
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_NO_FRAME);
	assert_true(tor_tx_deadline(&tx) > now);
	assert_int_equal(tor_tx_timer(&tx, tor_tx_deadline(&tx) - 1), TOR_TX_NOTHING);
	now = tor_tx_deadline(&tx);
	assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_REPEAT);
	assert_int_equal(tor_tx_next(&tx, now, &flags), 2);
	assert_true(flags & TORCOLL_FLAG_RETRANSMIT);
	assert_int_equal(tor_tx_next(&tx, now, &flags), 3);
	assert_int_equal(flags, TORCOLL_FLAG_RETRANSMIT | TORCOLL_FLAG_ACK);
	/* 7 was not acknowledged, but nothing says that it is lost */
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_NO_FRAME);
	ack(8, 0, now + MS);
	assert_true(tor_tx_done(&tx));
}

static void tor_tx_timer__late_frame_is_not_repeated(void **state)
{
	u8 flags;

	(void)state;
	begin(20);
	burst(START, &flags);
	ack(2, 0xe, START + MS);
	ack(6, 0, START + MS + 1000);
	burst(START + MS + 1000, &flags);
	assert_int_equal(tx.hole, 0);
	assert_int_equal(tor_tx_timer(&tx, START + 10 * MS), TOR_TX_NOTHING);
}

/* Of two ways one may be slower by any time: only a later frame of the same way tells of a loss. */
static void tor_tx_timer__other_way_says_nothing(void **state)
{
	u64 now = START + MS;
	u32 base;
	u8 flags;

	(void)state;
	for (base = 0; base < 2; base++) {
		begin(20);
		tx.split = true;
		burst(START, &flags);
		ack(base, 0x2a, now);			/* every other one behind the first */
		assert_int_equal(tx.hole, 0);
		assert_int_equal(tor_tx_timer(&tx, now + 10 * MS), TOR_TX_NOTHING);
		ack(base, 0x3a, now);			/* and the fourth of those that are missing */
		assert_int_equal(tor_tx_timer(&tx, now + TOR_RTO_FIRST), TOR_TX_REPEAT);
		assert_int_equal(tor_tx_next(&tx, now, &flags), base);
		assert_int_equal(tor_tx_next(&tx, now, &flags), base + 2);
	}
}

/* Nor does one that leaves by the same cable, and takes the other way from a forwarder. */
static void tor_tx_timer__other_way_of_a_forwarder(void **state)
{
	u64 now = START + MS;
	u32 i;
	u8 flags;

	(void)state;
	begin(20);
	tx.split = true;
	burst(START, &flags);
	for (i = 0; i < tx.next; i++)
		tor_tx_tie(&tx, i, i < 4);
	ack(0, 0xf0, now);		/* those of one tie */
	assert_int_equal(tx.hole, 0);
	assert_int_equal(tor_tx_timer(&tx, now + 10 * MS), TOR_TX_NOTHING);
	ack(0, 0xf4, now);		/* and the third of the other, of even index as the first */
	assert_int_equal(tor_tx_timer(&tx, now + TOR_RTO_FIRST), TOR_TX_REPEAT);
	assert_int_equal(tor_tx_next(&tx, now, &flags), 0);
	assert_int_equal(tx.lost, 0);
	/* frames keep theirs when the window moves */
	begin(20);
	tx.split = true;
	burst(START, &flags);
	tor_tx_tie(&tx, 5, 1);
	ack(2, 0, now);
	assert_int_equal(tx.tied, 1 << 3);
}

/* A queue builds up that others feel first: until it is clear how long it is, silence says nothing. */
static void tor_tx_timer__others_wait_longer_as_well(void **state)
{
	u64 when;
	u8 flags;

	(void)state;
	begin(100);
	path.srtt = 1000;
	burst(START, &flags);
	assert_int_equal(tor_tx_deadline(&tx), START + TOR_TAIL_MIN);
	slowest = 90000;
	assert_int_equal(tor_tx_timer(&tx, START + TOR_TAIL_MIN), TOR_TX_NOTHING);
	when = tor_tx_deadline(&tx);
	assert_in_range(when, START + 90 * MS, START + 180 * MS);
	assert_int_equal(tor_tx_timer(&tx, when), TOR_TX_TAIL);
	/* short round trips make it forgotten */
	begin(20000);
	path.srtt = 1000;
	slowest = 90000;
	while (slowest > 2000) {
		struct tor_ack a = { .base = tx.base + 1, .stamp = START / 1000 };

		burst(START + MS, &flags);
		tor_tx_ack(&tx, &a, START + MS);
	}
	assert_true(tx.base < 1000);
}

/* A host that takes seconds for each frame receives none of them again before it can have answered. */
static void tor_tx_timer__follows_long_round_trips(void **state)
{
	u64 now = START, answer = 3000 * MS;
	struct tor_ack a = { .base = 0 };
	u32 i, repeats = 0;
	u8 flags;

	(void)state;
	begin(100000);
	for (i = 0; i < 50; i++) {
		burst(now, &flags);
		a.stamp = now / 1000;
		a.base = tx.next;
		now += answer;
		tor_tx_ack(&tx, &a, now);
	}
	burst(now, &flags);
	assert_true(tor_tx_deadline(&tx) >= now + answer);
	/* the last one alone, and then all of them, not more often than answers can come */
	while (tor_tx_deadline(&tx) < now + 4 * answer) {
		tor_tx_timer(&tx, tor_tx_deadline(&tx));
		while (tor_tx_next(&tx, tx.since, &flags) != TOR_NO_FRAME)
			;
		repeats++;
	}
	assert_in_range(repeats, 1, 4);
	/* others' count no more than TOR_RTO_MAX */
	begin(1000);
	path.srtt = 1000;
	path.rttvar = 0;
	slowest = 3000000;
	burst(START, &flags);
	assert_int_equal(tor_tx_deadline(&tx), START + TOR_RTO_MAX);
}

/*
 * A receiver that waits asks every second, without an answer to any frame. Where a time-out is as long, since an answer once
 * took a second, the frame that is missing is nevertheless sent again.
 */
static void tor_tx_timer__questions_do_not_put_it_off(void **state)
{
	u64 now = START, asked = START;
	u8 flags;

	(void)state;
	begin(8);
	burst(now, &flags);
	ack(7, 0, now + MS);
	path.srtt = 126000;
	path.rttvar = 250000;
	now += MS;
	tor_tx_timer(&tx, tor_tx_deadline(&tx));
	assert_true(tor_tx_deadline(&tx) > asked + TOR_RTO_MAX);
	while (asked < START + 5 * NSEC_PER_SEC && tor_tx_deadline(&tx) > asked + NSEC_PER_SEC) {
		asked += NSEC_PER_SEC;
		ack(7, 0, asked);
	}
	assert_true(asked < START + 3 * NSEC_PER_SEC);
	assert_int_equal(tor_tx_timer(&tx, tor_tx_deadline(&tx)), TOR_TX_TAIL);
	assert_int_equal(tor_tx_next(&tx, now, &flags), 7);
}

/* Most of a window is lost, which halves it: what is in flight exceeds it, and still one frame asks. */
static void tor_tx_timer__asks_though_the_window_is_full(void **state)
{
	u64 now;
	u8 flags;

	(void)state;
	begin(1000);
	path.srtt = 100;
	path.rtt_min = 100 * TOR_RTT_FINE;
	tx.window = TOR_WINDOW;
	assert_int_equal(burst(START, &flags), TOR_WINDOW);
	ack(0, 0xe, START + MS);
	now = tor_tx_deadline(&tx);
	assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_REPEAT);
	assert_int_equal(tor_tx_next(&tx, now, &flags), 0);
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_NO_FRAME);
	now = tor_tx_deadline(&tx);
	assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_TAIL);
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_WINDOW - 1);
}

/* That frame leaves beside the window, which stays reduced. */
static void tor_tx_timer__a_loss_halves_a_full_window(void **state)
{
	u64 now;
	u8 flags;

	(void)state;
	begin(100000);
	path.srtt = 100;
	path.rtt_min = 100 * TOR_RTT_FINE;
	tx.window = 16;
	burst(START, &flags);
	ack(0, 2, START + MS);
	burst(START + MS, &flags);
	now = tor_tx_deadline(&tx);
	assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_REPEAT);
	assert_in_range(tx.window, 8, 9);
	assert_int_equal(tor_tx_next(&tx, now, &flags), 0);
	assert_in_range(tx.window, 8, 9);
}

static void tor_tx_timer__silence_backs_off(void **state)
{
	u64 now = START, last = 0, wait;
	u32 i;
	u8 flags;

	(void)state;
	begin(100);
	assert_int_equal(burst(now, &flags), TOR_WINDOW_FIRST);
	/* first the last frame alone, to learn what is missing */
	now = tor_tx_deadline(&tx);
	assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_TAIL);
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_WINDOW_FIRST - 1);
	assert_int_equal(flags, TORCOLL_FLAG_RETRANSMIT | TORCOLL_FLAG_ACK);
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_NO_FRAME);
	for (i = 0; i < 12; i++) {
		wait = tor_tx_deadline(&tx) - now;
		assert_true(wait >= last && wait <= TOR_RTO_MAX);
		last = wait;
		now = tor_tx_deadline(&tx);
		assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_TIMEOUT);
		/* from the beginning, and little of it */
		assert_int_equal(tor_tx_next(&tx, now, &flags), 0);
		assert_true(flags & TORCOLL_FLAG_RETRANSMIT);
		assert_int_equal(burst(now, &flags), TOR_WINDOW_MIN - 1);
	}
	assert_int_equal(last, TOR_RTO_MAX);
	ack(TOR_WINDOW_FIRST, 0, now + 1);
	assert_int_equal(tx.backoff, 0);
}

/* A frame that may be answered late, to a receiver whose round trip is known. */
static void begin_patient(void)
{
	begin(1);
	path.srtt = 100;
	path.rttvar = 10;
	tor_tx_init(&tx, &path, &slowest, 1, 2, UNIT, UNIT, true);
}

/* Nobody waits for the answer, then somebody does: the frame asks after all, once, but not while an answer may be on its way. */
static void tor_tx_hurry__asks_for_the_answer(void **state)
{
	u64 now = START;
	u8 flags;

	(void)state;
	begin_patient();
	assert_int_equal(burst(now, &flags), 1);
	assert_int_equal(flags, TORCOLL_FLAG_WHOLE);
	assert_true(tor_tx_deadline(&tx) > now + 50 * MS);
	tor_tx_hurry(&tx);
	assert_true(tor_tx_deadline(&tx) == now + TOR_HURRY);
	assert_int_equal(tor_tx_timer(&tx, now + TOR_HURRY - 1), TOR_TX_NOTHING);
	assert_int_equal(tor_tx_timer(&tx, now + TOR_HURRY), TOR_TX_PROBE);
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_NO_FRAME);
	/* again as late as ever */
	tor_tx_hurry(&tx);
	assert_true(tor_tx_deadline(&tx) >= now + TOR_HURRY + TOR_RTO_MIN);
	assert_int_equal(tor_tx_timer(&tx, tor_tx_deadline(&tx)), TOR_TX_TIMEOUT);
	ack(1, 0, now + TOR_RTO_MAX);
	assert_true(tor_tx_done(&tx));
	/* a long way: not before its round trip */
	begin_patient();
	path.srtt = 2000;
	assert_int_equal(burst(now, &flags), 1);
	tor_tx_hurry(&tx);
	assert_true(tor_tx_deadline(&tx) == now + (2000 + 4 * 10) * NSEC_PER_USEC);
}

/* Who asks already, or waits for the receiver, goes on with that. */
static void tor_tx_hurry__only_what_did_not_ask(void **state)
{
	u64 before;
	u8 flags;

	(void)state;
	begin(1);
	assert_int_equal(burst(START, &flags), 1);
	before = tor_tx_deadline(&tx);
	tor_tx_hurry(&tx);
	assert_true(tor_tx_deadline(&tx) == before);
	/* one that has not left asks when it does */
	begin_patient();
	tor_tx_hurry(&tx);
	assert_true(tor_tx_deadline(&tx) == 0);
	assert_int_equal(burst(START, &flags), 1);
	assert_int_equal(flags, TORCOLL_FLAG_ACK);
	begin_patient();
	assert_int_equal(burst(START, &flags), 1);
	refuse(START + 1);
	before = tor_tx_deadline(&tx);
	tor_tx_hurry(&tx);
	assert_true(tor_tx_deadline(&tx) == before);
	assert_true(tx.blocked);
}

static void tor_tx_dropped__again_soon_and_less(void **state)
{
	u32 window;
	u8 flags;

	(void)state;
	begin(8);
	burst(START, &flags);
	window = tx.window;
	tor_tx_dropped(&tx, 7, START);
	tor_tx_dropped(&tx, 6, START);
	assert_int_equal(tx.window, window / 2);	/* one event, one answer */
	assert_int_equal(tor_tx_deadline(&tx), START + TOR_DROP_RETRY);
	ack(6, 0, START + 1000);
	assert_int_equal(tor_tx_timer(&tx, START + TOR_DROP_RETRY), TOR_TX_REPEAT);
	assert_int_equal(tor_tx_next(&tx, START + MS, &flags), 6);
	assert_int_equal(tor_tx_next(&tx, START + MS, &flags), 7);
	/* not of this transfer, or known to have arrived */
	tor_tx_dropped(&tx, 5, START);
	tor_tx_dropped(&tx, 8, START);
	assert_int_equal(tx.lost, 0);
}

/* A gap that turns out to be a frame which never left is no loss on the way. */
static void tor_tx_dropped__explains_the_gap(void **state)
{
	u64 gap = START + MS, now;
	u32 window;
	u8 flags;

	(void)state;
	begin(8);
	burst(START, &flags);
	ack(0, 2, gap);
	now = tor_tx_deadline(&tx) - 1;
	tor_tx_dropped(&tx, 0, now);
	window = tx.window;
	assert_int_equal(tor_tx_timer(&tx, now + 1), TOR_TX_NOTHING);
	assert_int_equal(tx.window, window);
	assert_int_equal(tor_tx_timer(&tx, now + TOR_DROP_RETRY), TOR_TX_REPEAT);
	assert_int_equal(tx.lost, 1);
}

static void tor_tx_ack__not_ready_waits_and_asks(void **state)
{
	u64 now = START, wait, last = 0;
	u32 i;
	u8 flags;

	(void)state;
	begin(100);
	burst(now, &flags);
	refuse(now);
	for (i = 0; i < 12; i++) {
		assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_NO_FRAME);
		wait = tor_tx_deadline(&tx) - now;
		assert_true(wait >= TOR_PROBE_FIRST && wait >= last && wait <= TOR_PROBE_MAX);
		last = wait;
		now += wait;
		assert_int_equal(tor_tx_timer(&tx, now - 1), TOR_TX_NOTHING);
		assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_PROBE);
		refuse(now);
	}
	assert_int_equal(last, TOR_PROBE_MAX);
	/* the first word opens it again, from the start */
	ack(0, 0, now);
	assert_int_equal(tor_tx_next(&tx, now, &flags), 0);
	assert_true(flags & TORCOLL_FLAG_RETRANSMIT);
	assert_int_equal(tx.backoff, 0);
}

/* Not ready for more, but what is under way is taken: then nothing is sent twice, and a probe is a new frame. */
static void tor_tx_ack__waits_with_all_there(void **state)
{
	struct tor_ack a = { .state = TORCOLL_ACK_NOT_READY };
	u64 now = START + MS;
	u8 flags;

	(void)state;
	begin(20);
	burst(START, &flags);
	a.base = 3;
	tor_tx_ack(&tx, &a, now);
	assert_int_equal(tx.lost, 0);
	assert_int_equal(tor_tx_next(&tx, now, &flags), TOR_NO_FRAME);
	a.base = TOR_WINDOW_FIRST;
	tor_tx_ack(&tx, &a, now);
	now = tor_tx_deadline(&tx);
	assert_int_equal(tor_tx_timer(&tx, now), TOR_TX_PROBE);
	assert_int_equal(tx.base, TOR_WINDOW_FIRST);
	assert_int_equal(tx.next, TOR_WINDOW_FIRST + 1);
	/* that one was refused */
	tor_tx_ack(&tx, &a, now + MS);
	assert_int_equal(tx.lost, 1);
	ack(TOR_WINDOW_FIRST, 0, now + 2 * MS);
	assert_int_equal(tor_tx_next(&tx, now + 2 * MS, &flags), TOR_WINDOW_FIRST);
	assert_true(flags & TORCOLL_FLAG_RETRANSMIT);
	assert_int_equal(tor_tx_next(&tx, now + 2 * MS, &flags), TOR_WINDOW_FIRST + 1);
}

static void tor_tx_ack__measures_round_trips(void **state)
{
	struct tor_ack a = { .state = TORCOLL_ACK_OK, .base = 1 };
	u8 flags;
	u32 i;

	(void)state;
	for (i = 0; i < 50; i++) {
		tor_tx_init(&tx, &path, &slowest, 1, i, UNIT, UNIT, false);
		burst(START, &flags);
		a.stamp = START / NSEC_PER_USEC;
		tor_tx_ack(&tx, &a, START + 70 * NSEC_PER_USEC);
	}
	assert_in_range(path.srtt, 60, 80);
	assert_in_range(path.rttvar, 0, 10);
	/* no stamp, and stamps from the future or long ago, are no measurement */
	a.stamp = 0;
	tor_tx_ack(&tx, &a, START);
	a.stamp = START / NSEC_PER_USEC + 5;
	tor_tx_ack(&tx, &a, START);
	a.stamp = START / NSEC_PER_USEC - 20 * 1000000;
	tor_tx_ack(&tx, &a, START);
	assert_in_range(path.srtt, 60, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_tx_init__counts_frames),
		cmocka_unit_test(tor_tx_next__first_window),
		cmocka_unit_test(tor_tx_next__last_frame_asks),
		cmocka_unit_test(tor_tx_ack__opens_the_window),
		cmocka_unit_test(tor_tx_ack__learns_a_longer_path),
		cmocka_unit_test(tor_tx_ack__done_is_all),
		cmocka_unit_test(tor_tx_ack__old_news_change_nothing),
		cmocka_unit_test(tor_tx_ack__any_content_is_safe),
		cmocka_unit_test(tor_tx_timer__gap_is_repeated_after_a_while),
		cmocka_unit_test(tor_tx_timer__late_frame_is_not_repeated),
		cmocka_unit_test(tor_tx_timer__other_way_says_nothing),
		cmocka_unit_test(tor_tx_timer__other_way_of_a_forwarder),
		cmocka_unit_test(tor_tx_timer__others_wait_longer_as_well),
		cmocka_unit_test(tor_tx_timer__follows_long_round_trips),
		cmocka_unit_test(tor_tx_timer__questions_do_not_put_it_off),
		cmocka_unit_test(tor_tx_timer__asks_though_the_window_is_full),
		cmocka_unit_test(tor_tx_timer__a_loss_halves_a_full_window),
		cmocka_unit_test(tor_tx_timer__silence_backs_off),
		cmocka_unit_test(tor_tx_hurry__asks_for_the_answer),
		cmocka_unit_test(tor_tx_hurry__only_what_did_not_ask),
		cmocka_unit_test(tor_tx_dropped__again_soon_and_less),
		cmocka_unit_test(tor_tx_dropped__explains_the_gap),
		cmocka_unit_test(tor_tx_ack__not_ready_waits_and_asks),
		cmocka_unit_test(tor_tx_ack__waits_with_all_there),
		cmocka_unit_test(tor_tx_ack__measures_round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
