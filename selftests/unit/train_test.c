// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The rate of a cable, by arrivals of trains: through shapers, and past softirqs that are late or drain queues at once. */
#include "host_env.h"

#include "core/survey/train.h"

#define FRAMES	64
#define LEN	8962		/* 9000 bytes on the cable */
#define CLOCK	7777777777ULL	/* by which the receiver's is ahead */
#define MS	NSEC_PER_MSEC

static struct tor_trains trains;

static int setup(void **state)
{
	trains = (struct tor_trains){ 0 };
	return 0;
}

static void frame(u32 train, u32 number, u64 sent, u64 now)
{
	struct tor_train f = {
		.train = train, .frames = FRAMES, .number = number, .len = LEN, .sent = sent, .now = now,
	};

	tor_trains_frame(&trains, &f);
}

/* A delay of the receiver: what arrives from then on, and until then, is seen then. */
struct late {
	u64 from, until;
};

static u64 seen(u64 at, struct late late)
{
	return at >= late.from && at < late.until ? late.until : at;
}

/* ns that a frame takes at that rate. */
static u64 frame_ns(u32 mbit)
{
	return 9000ULL * 8 * 1000 / mbit;
}

/*
 * A train, sent every 100 ms, of which @burst frames pass at once. Those that are seen at the same time are taken
 * from their queue one per microsecond, as 72 Gbit/s.
 */
static void train(u32 number, u32 mbit, u32 burst, struct late late)
{
	u64 sent = number * 100 * MS, last = 0;
	u32 i;

	for (i = 0; i < FRAMES; i++) {
		u64 at = i < burst ? 0 : (i - burst + 1) * frame_ns(mbit);

		last = max(seen(at, late), last + NSEC_PER_USEC);
		frame(number, i, i ? 0 : sent, CLOCK + sent + last);
	}
}

static void is_rate(u32 mbit)
{
	assert_in_range(tor_trains_rate(&trains), mbit * 98 / 100, mbit * 102 / 100);
}

static const struct late never;

static void tor_trains_rate__of_one_train(void **state)
{
	train(1, 1000, 0, never);
	is_rate(1000);
	assert_int_equal(trains.arrived, FRAMES);
	assert_int_equal(tor_trains_sent(&trains), FRAMES);
}

static void tor_trains_rate__not_known(void **state)
{
	u32 i;

	assert_int_equal(tor_trains_rate(&trains), 0);
	for (i = 0; i < FRAMES * 7 / 8 - 1; i++)
		frame(1, i, 5, 1000 + i);
	assert_int_equal(tor_trains_rate(&trains), 0);
	/* without its first frame it is not known when a train was sent */
	for (i = 1; i < FRAMES; i++)
		frame(2, i, 5, 1000 + i);
	assert_int_equal(tor_trains_rate(&trains), 0);
	assert_int_equal(trains.timed, 0);
	/* all at once */
	for (i = 0; i < FRAMES; i++)
		frame(3, i, 5, 1000);
	assert_int_equal(trains.timed, 1);
	assert_int_equal(tor_trains_rate(&trains), 0);
}

/* The softirq is late at the end of trains: a single train would be too slow. */
static void tor_trains_rate__late_softirq(void **state)
{
	static const struct late end = { 4 * MS, 14 * MS };

	train(1, 1000, 0, end);
	assert_in_range(tor_trains_rate(&trains), 1, 250);
	train(2, 1000, 0, end);
	assert_in_range(tor_trains_rate(&trains), 1, 250);
	train(3, 1000, 0, never);
	is_rate(1000);
	train(4, 1000, 0, end);
	is_rate(1000);
}

static void tor_trains_rate__drained_burst(void **state)
{
	static const struct late all = { 0, 5 * MS };

	train(1, 1000, 0, all);
	assert_true(tor_trains_rate(&trains) > 50000);
	train(2, 1000, 0, never);
	is_rate(1000);
	train(3, 1000, 0, all);
	is_rate(1000);
}

/* No train is undisturbed, but each frame that is timed was on time in one of them. */
static void tor_trains_rate__every_train_is_disturbed(void **state)
{
	static const struct late start = { 1 * MS, 3 * MS }, end = { 3 * MS, 9 * MS };

	train(1, 1000, 0, start);
	train(2, 1000, 0, end);
	is_rate(1000);
}

/* A shaper of half the rate, whose bucket holds 32 kB, while softirqs are 8 ms late. */
static void tor_trains_rate__shaped(void **state)
{
	static const struct late late[] = {
		{ 2 * MS, 10 * MS }, { 60 * MS, 68 * MS }, { 95 * MS, 103 * MS }, { 82 * MS, 90 * MS },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(late); i++)
		train(i + 1, 50, 4, late[i]);
	is_rate(50);
	setup(state);
	for (i = 0; i < ARRAY_SIZE(late); i++)
		train(i + 1, 25, 4, late[i]);
	is_rate(25);
}

/* All trains are slow: that is the cable. */
static void tor_trains_rate__in_all_trains(void **state)
{
	u32 i;

	for (i = 1; i <= TOR_TRAINS; i++)
		train(i, 1000, 0, (struct late){ 1 * MS + i, 11 * MS });
	assert_true(tor_trains_rate(&trains) > 1100 || tor_trains_rate(&trains) < 900);
	assert_int_equal(trains.timed, TOR_TRAINS);
}

/* However wrong the clocks are, the rate is between those of single trains. */
static void tor_trains_rate__drifting_clocks(void **state)
{
	u32 k, i;

	for (k = 1; k <= TOR_TRAINS; k++)
		for (i = 0; i < FRAMES; i++)
			frame(k, i, k * MS, -k * k * MS + i * frame_ns(1000 + k % 2 * 100));
	assert_in_range(tor_trains_rate(&trains), 1000, 1100);
}

static void tor_trains_frame__lost_ones(void **state)
{
	u32 i, k;

	/* every tenth; the cable was busy with it */
	for (k = 1; k <= 2; k++)
		for (i = 0; i < FRAMES; i++)
			if (i % 10 != 9)
				frame(k, i, 0, i * frame_ns(1000));
	assert_int_equal(trains.arrived, 2 * (FRAMES - 6));
	assert_int_equal(tor_trains_sent(&trains), 2 * FRAMES);
	assert_in_range(tor_trains_rate(&trains), 850, 1000);
	/* a whole train */
	tor_trains_mark(&trains, 3, FRAMES);
	assert_int_equal(tor_trains_sent(&trains), 3 * FRAMES);
}

static void tor_trains_frame__not_believed(void **state)
{
	struct tor_train f = { .train = 1, .frames = TOR_TRAIN_FRAMES_MAX + 1, .len = LEN };
	u32 i;

	tor_trains_frame(&trains, &f);
	f.frames = 7;
	tor_trains_frame(&trains, &f);
	f.frames = FRAMES;
	f.number = FRAMES;
	tor_trains_frame(&trains, &f);
	f.number = 0;
	f.train = 0;
	tor_trains_frame(&trains, &f);
	f.train = TOR_TRAINS_MAX + 1;
	tor_trains_frame(&trains, &f);
	tor_trains_mark(&trains, TOR_TRAINS_MAX + 1, FRAMES);
	assert_int_equal(trains.arrived, 0);
	assert_int_equal(tor_trains_sent(&trains), 0);
	f.train = 2;
	for (i = 0; i < FRAMES + 5; i++)
		tor_trains_frame(&trains, &f);
	assert_int_equal(trains.arrived, FRAMES);
	/* of an earlier train, and of another length */
	f.train = 1;
	tor_trains_frame(&trains, &f);
	f.train = 3;
	f.frames = FRAMES + 1;
	tor_trains_frame(&trains, &f);
	tor_trains_mark(&trains, 3, FRAMES + 1);
	assert_int_equal(trains.arrived, FRAMES);
	assert_int_equal(tor_trains_sent(&trains), 2 * FRAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tor_trains_rate__of_one_train, setup),
		cmocka_unit_test_setup(tor_trains_rate__not_known, setup),
		cmocka_unit_test_setup(tor_trains_rate__late_softirq, setup),
		cmocka_unit_test_setup(tor_trains_rate__drained_burst, setup),
		cmocka_unit_test_setup(tor_trains_rate__every_train_is_disturbed, setup),
		cmocka_unit_test_setup(tor_trains_rate__shaped, setup),
		cmocka_unit_test_setup(tor_trains_rate__in_all_trains, setup),
		cmocka_unit_test_setup(tor_trains_rate__drifting_clocks, setup),
		cmocka_unit_test_setup(tor_trains_frame__lost_ones, setup),
		cmocka_unit_test_setup(tor_trains_frame__not_believed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
