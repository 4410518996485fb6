// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Loss on a cable: what is counted, and what only looks like loss. */
#include "host_env.h"

#include "core/link/loss.h"

#define INTERVAL	(200 * NSEC_PER_MSEC)

/* A cable: its two counters, as they are when the next hello arrives. */
struct cable {
	struct tor_loss loss;
	u64 now;
	u32 epoch;
	u32 sent;
	u32 received;
};

static struct cable cable;

static int setup(void **state)
{
	(void)state;
	cable = (struct cable){ .now = NSEC_PER_SEC, .epoch = 7 };
	return 0;
}

static void hello(void)
{
	tor_loss_hello(&cable.loss, cable.now, INTERVAL, cable.epoch, cable.sent, cable.received);
}

/* An interval with so many frames, and its hello, of which so many arrive. */
static void interval(u32 sent, u32 received)
{
	cable.now += INTERVAL;
	cable.sent += sent + 1;
	cable.received += received + 1;
	hello();
}

/* So much time without loss that the decision about all earlier frames is due. */
static void settle(void)
{
	u32 i;

	for (i = 0; i < 2 * TOR_LOSS_WINDOW + 2; i++)
		interval(10, 10);
}

static void begin(u32 sent, u32 received)
{
	u64 lost = cable.loss.lost;

	cable.sent = sent;
	cable.received = received;
	hello();
	settle();
	assert_int_equal(cable.loss.lost, lost);
}

static void tor_loss_hello__counts_each_lost_frame(void **state)
{
	u32 i;

	(void)state;
	begin(1000, 5);
	interval(100, 99);
	settle();
	assert_int_equal(cable.loss.lost, 1);
	for (i = 0; i < 100; i++)
		interval(1000, 970);
	settle();
	assert_int_equal(cable.loss.lost, 3001);
}

static void tor_loss_hello__is_in_time(void **state)
{
	u32 i;

	(void)state;
	begin(0, 0);
	interval(100, 90);
	for (i = 0; i < 2 * TOR_LOSS_WINDOW && !cable.loss.lost; i++)
		interval(0, 0);
	assert_int_equal(cable.loss.lost, 10);
}

static void tor_loss_hello__counts_from_the_first_hello_on(void **state)
{
	(void)state;
	hello();
	interval(100, 60);
	settle();
	assert_int_equal(cable.loss.lost, 40);
}

static void tor_loss_hello__a_lost_hello_is_a_lost_frame(void **state)
{
	(void)state;
	begin(0, 0);
	cable.sent++;
	settle();
	assert_int_equal(cable.loss.lost, 1);
}

static void tor_loss_hello__counters_wrap_around(void **state)
{
	u32 i;

	(void)state;
	begin(U32_MAX - 3000, U32_MAX - 400);
	for (i = 0; i < 10; i++)
		interval(1000, 999);
	settle();
	assert_true(cable.sent < 20000 && cable.received < 20000);
	assert_int_equal(cable.loss.lost, 10);
}

static void tor_loss_hello__neighbour_starts_again(void **state)
{
	(void)state;
	begin(0, 0);
	interval(50, 48);
	settle();
	/* it counts from 0, and says by its epoch that it does */
	cable.epoch++;
	cable.sent = 20000;
	hello();
	settle();
	assert_int_equal(cable.loss.lost, 2);
	/* its port does, which only the number shows; earlier and later than half of all numbers */
	cable.sent = 1;
	hello();
	settle();
	begin(3U << 30, 0);
	cable.sent = 1;
	hello();
	settle();
	assert_int_equal(cable.loss.lost, 2);
}

static void tor_loss_hello__any_count_that_cannot_be(void **state)
{
	(void)state;
	begin(0, 0);
	cable.now += INTERVAL;
	cable.sent += INTERVAL / TOR_LOSS_FRAME_NS + TOR_LOSS_BURST + 1;
	hello();
	settle();
	assert_int_equal(cable.loss.lost, 0);
	cable.now += INTERVAL;
	cable.sent += INTERVAL / TOR_LOSS_FRAME_NS;
	hello();
	settle();
	assert_int_equal(cable.loss.lost, INTERVAL / TOR_LOSS_FRAME_NS);
}

/* A hello overtakes up to so many frames, or they overtake it, at random. */
static void reordered(s32 most_late, s32 most_early, u32 intervals)
{
	s32 late = 0, was;
	u32 i;

	for (i = 0; i < intervals; i++) {
		was = late;
		late = rand() % (most_late + most_early + 1) - most_early;
		interval(1000, 1000 - late + was);
	}
	interval(1000, 1000 + late);
}

static void tor_loss_hello__reordering_is_no_loss(void **state)
{
	(void)state;
	srand(1);
	begin(0, 0);
	reordered(60, 0, 100000);
	settle();
	/* where a hello rarely meets no late frame: what was counted once, never more often */
	assert_true(cable.loss.lost < 60);
}

static void tor_loss_hello__reordering_both_ways_does_not_add_up(void **state)
{
	u64 lost;

	(void)state;
	srand(2);
	begin(0, 0);
	reordered(30, 30, 100000);
	settle();
	lost = cable.loss.lost;
	assert_true(lost < 30);
	reordered(30, 30, 100000);
	assert_true(cable.loss.lost < 30);
}

static void tor_loss_hello__reordering_hides_no_loss(void **state)
{
	u32 i;

	(void)state;
	srand(3);
	begin(0, 0);
	for (i = 0; i < 1000; i++) {
		reordered(30, 0, 10);
		cable.sent += 10;
	}
	settle();
	assert_in_range(cable.loss.lost, 10000, 10030);
}

static void tor_loss_hello__duplicates_hide_little(void **state)
{
	u32 i;

	(void)state;
	begin(0, 0);
	/* a cable that doubled 100000 frames */
	for (i = 0; i < 100; i++)
		interval(1000, 2000);
	settle();
	assert_int_equal(cable.loss.lost, 0);
	interval(4000, 1000);
	settle();
	assert_int_equal(cable.loss.lost, 3000 - TOR_LOSS_EARLY);
}

/* Acknowledgements pass hellos that wait in a queueing discipline, for a while. */
static void tor_loss_hello__a_long_queue_is_no_loss(void **state)
{
	u32 i;

	(void)state;
	begin(0, 0);
	interval(100, 350);
	for (i = 0; i < 3 * TOR_LOSS_WINDOW; i++)
		interval(100, 100);
	interval(350, 100);
	settle();
	assert_int_equal(cable.loss.lost, 0);
}

static void tor_loss_hello__a_doubled_hello(void **state)
{
	(void)state;
	begin(0, 0);
	interval(10, 10);
	cable.received++;
	hello();
	interval(100, 90);
	settle();
	assert_int_equal(cable.loss.lost, 9);
}

static void tor_loss_hello__an_older_hello_after_a_newer(void **state)
{
	(void)state;
	begin(0, 0);
	interval(10, 10);
	cable.received++;
	cable.sent -= 1;
	hello();
	cable.sent += 2;
	settle();
	assert_int_equal(cable.loss.lost, 0);
	interval(100, 95);
	settle();
	assert_int_equal(cable.loss.lost, 5);
}

/* A hello left by a queue that was so much behind that of the next one. */
static void tor_loss_hello__overtaken_by_many_frames(void **state)
{
	static const u32 behind[] = { 2, 64, 65, 200, 1000, TOR_LOSS_OVERTAKEN };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(behind); i++) {
		setup(state);
		begin(0, 0);
		interval(behind[i] + 50, behind[i] + 50);
		cable.sent -= behind[i];
		cable.received++;
		hello();
		cable.sent += behind[i] + 1;
		settle();
		assert_int_equal(cable.loss.lost, 0);
		interval(100, 95);
		settle();
		assert_int_equal(cable.loss.lost, 5);
	}
}

/* A count that goes on behind the last one is another: nothing is counted, and soon everything. */
static void tor_loss_hello__count_that_is_behind(void **state)
{
	(void)state;
	begin(0, 0);
	interval(1000, 1000);
	cable.sent -= 500;
	interval(0, 0);
	settle();
	assert_int_equal(cable.loss.lost, 0);
	interval(100, 95);
	settle();
	assert_int_equal(cable.loss.lost, 5);
}

/* Of two hellos, whose entries two processors began, the one that began first comes second. */
static void tor_loss_hello__time_goes_back(void **state)
{
	u32 i, k;

	/* at any place of a window */
	for (i = 0; i < 2 * TOR_LOSS_WINDOW; i++) {
		setup(state);
		begin(0, 0);
		interval(100, 50);
		for (k = 0; k < i; k++)
			interval(100, 100);
		cable.now -= INTERVAL + NSEC_PER_MSEC;
		interval(100, 100);
		settle();
		assert_int_equal(cable.loss.lost, 50);
	}
}

static void tor_loss_hello__silence(void **state)
{
	(void)state;
	begin(0, 0);
	/* a cable that lost all for ten seconds, hellos of other intervals between them */
	cable.now += 10 * NSEC_PER_SEC;
	cable.sent += 50;
	settle();
	assert_int_equal(cable.loss.lost, 50);
	/* so long that a difference means nothing */
	cable.now += TOR_LOSS_SILENCE;
	cable.sent += 50;
	settle();
	assert_int_equal(cable.loss.lost, 50);
}

static void tor_loss_stop__what_a_closed_port_misses(void **state)
{
	(void)state;
	begin(0, 0);
	interval(50, 47);
	settle();
	tor_loss_stop(&cable.loss);
	cable.sent += 1000;
	settle();
	assert_int_equal(cable.loss.lost, 3);
	interval(50, 49);
	settle();
	assert_int_equal(cable.loss.lost, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tor_loss_hello__counts_each_lost_frame, setup),
		cmocka_unit_test_setup(tor_loss_hello__is_in_time, setup),
		cmocka_unit_test_setup(tor_loss_hello__counts_from_the_first_hello_on, setup),
		cmocka_unit_test_setup(tor_loss_hello__a_lost_hello_is_a_lost_frame, setup),
		cmocka_unit_test_setup(tor_loss_hello__counters_wrap_around, setup),
		cmocka_unit_test_setup(tor_loss_hello__neighbour_starts_again, setup),
		cmocka_unit_test_setup(tor_loss_hello__any_count_that_cannot_be, setup),
		cmocka_unit_test_setup(tor_loss_hello__reordering_is_no_loss, setup),
		cmocka_unit_test_setup(tor_loss_hello__reordering_both_ways_does_not_add_up, setup),
		cmocka_unit_test_setup(tor_loss_hello__reordering_hides_no_loss, setup),
		cmocka_unit_test_setup(tor_loss_hello__duplicates_hide_little, setup),
		cmocka_unit_test_setup(tor_loss_hello__a_long_queue_is_no_loss, setup),
		cmocka_unit_test_setup(tor_loss_hello__a_doubled_hello, setup),
		cmocka_unit_test_setup(tor_loss_hello__an_older_hello_after_a_newer, setup),
		cmocka_unit_test_setup(tor_loss_hello__overtaken_by_many_frames, setup),
		cmocka_unit_test_setup(tor_loss_hello__count_that_is_behind, setup),
		cmocka_unit_test_setup(tor_loss_hello__time_goes_back, setup),
		cmocka_unit_test_setup(tor_loss_hello__silence, setup),
		cmocka_unit_test_setup(tor_loss_stop__what_a_closed_port_misses, setup),
	};

	return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
