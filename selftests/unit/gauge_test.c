// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Gauges: cables of given rates, measured by what their devices got and hold. */
#include "host_env.h"

#include "core/link/gauge.h"

#define BYTES	8192		/* of a frame */
#define SECOND	NSEC_PER_SEC

/* A device that sends one frame after the other. */
struct device {
	struct tor_gauge gauge;
	u64 cost;		/* of a KiB, ns */
	u64 busy;		/* until then, ns */
	u64 got;
};

static u64 now;

static void device_init(struct device *d, u64 cost)
{
	*d = (struct device){ .cost = cost };
}

/* Whole frames: one that is being sent is held. */
static u32 device_held(const struct device *d)
{
	u64 frame = d->cost * BYTES >> 10;

	return d->busy <= now ? 0 : (d->busy - now + frame - 1) / frame * BYTES;
}

static void device_get(struct device *d)
{
	tor_gauge_take(&d->gauge, now, d->got, device_held(d));
	d->got += BYTES;
	d->busy = max(d->busy, now) + (d->cost * BYTES >> 10);
}

/* By how much frames of two cables can overtake each other. */
static u64 apart;

static void most_apart(const struct device *d, u32 cables)
{
	u32 i;

	for (i = 1; i < cables; i++)
		apart = max_t(u64, apart, llabs((s64)(max(d[i].busy, now) - max(d[0].busy, now))));
}

/* Send @n frames, each by the cable of which there is least to wait for; at most @window at a time. */
static void send_all(struct device *d, u32 cables, u32 n, u32 window)
{
	while (n) {
		struct tor_gauge *gauge[TOR_LINK_CABLES] = { NULL };
		u32 held[TOR_LINK_CABLES] = { 0 };
		u32 i, all = 0;

		for (i = 0; i < cables; i++) {
			gauge[i] = &d[i].gauge;
			held[i] = device_held(&d[i]);
			all += held[i];
		}
		if (all >= window * BYTES) {
			now += 10 * NSEC_PER_USEC;
			continue;
		}
		i = tor_gauge_pick(gauge, held, 0, BYTES, now);
		most_apart(d, cables);
		device_get(&d[i]);
		n--;
	}
	for (; cables; cables--)
		now = max(now, d[cables - 1].busy);
}

static int setup(void **state)
{
	now = SECOND;
	apart = 0;
	return 0;
}

static void tor_gauge_take__measures_what_is_busy(void **state)
{
	const u64 costs[] = { 82, 819, 40960, 409600 };
	struct device d;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		device_init(&d, costs[i]);
		send_all(&d, 1, 200, 16);
		assert_in_range(d.gauge.cost, costs[i] - costs[i] / 4, costs[i] + costs[i] / 4);
	}
}

static void tor_gauge_take__knows_nothing_of_an_idle_one(void **state)
{
	struct device d;
	u32 i;

	device_init(&d, 819);
	for (i = 0; i < 1000; i++) {
		device_get(&d);
		now += NSEC_PER_MSEC;
	}
	assert_int_equal(d.gauge.cost, 0);
}

static void tor_gauge_take__sees_one_that_stands_still(void **state)
{
	struct device d;

	device_init(&d, TOR_GAUGE_MOST);
	device_get(&d);
	device_get(&d);
	now += TOR_GAUGE_LONGEST;
	device_get(&d);
	assert_int_equal(d.gauge.cost, TOR_GAUGE_MOST);
}

/* Two processors may see a device's figures in another order than they changed. */
static void tor_gauge_take__survives_figures_that_run_back(void **state)
{
	struct tor_gauge gauge = { 0 };

	tor_gauge_take(&gauge, now, 10 * BYTES, BYTES);
	tor_gauge_take(&gauge, now, 10 * BYTES, 3 * BYTES);
	tor_gauge_take(&gauge, now + 1, BYTES, 3 * BYTES);
	assert_int_equal(gauge.cost, 0);
}

/* Two processors: the one that looked at the clock first comes second. */
static void tor_gauge_take__survives_a_clock_that_runs_back(void **state)
{
	struct tor_gauge gauge = { 0 }, *list[TOR_LINK_CABLES] = { &gauge };
	u32 held[TOR_LINK_CABLES] = { 0 };

	tor_gauge_take(&gauge, now, BYTES, BYTES);
	tor_gauge_take(&gauge, now - 50, BYTES, BYTES);
	assert_int_equal(gauge.cost, 0);
	/* the measurement goes on */
	tor_gauge_take(&gauge, now + 10 * TOR_GAUGE_FAST, 1024 * BYTES, BYTES);
	assert_true(gauge.cost);
	gauge.cost = 8 * TOR_GAUGE_FAST;
	tor_gauge_pick(list, held, 0, 1000, gauge.known - 50);
	assert_int_equal(gauge.cost, 8 * TOR_GAUGE_FAST);
}

static void tor_gauge_pick__two_alike_are_twice_as_fast(void **state)
{
	struct device d[2];
	u64 one, start = now;

	device_init(&d[0], 40960);
	send_all(d, 1, 400, 32);
	apart = 0;
	one = now - start;
	device_init(&d[0], 40960);
	device_init(&d[1], 40960);
	start = now;
	send_all(d, 2, 400, 32);
	assert_in_range(now - start, one / 2, one / 2 + one / 50);
	/* also while only one of them has been measured: they hardly overtake each other */
	assert_in_range(apart, 1, 2 * (40960 * BYTES >> 10));
}

/* A slow cable beside a fast one does not delay what the fast one would have brought earlier. */
static void tor_gauge_pick__a_slow_one_does_no_harm(void **state)
{
	u64 fast, both, start = now;
	struct device d[2];

	device_init(&d[0], 40960);
	send_all(d, 1, 30, 32);
	fast = now - start;
	device_init(&d[0], 40960);
	device_init(&d[1], 409600);
	/* the first ones are needed to see how slow it is */
	send_all(d, 2, 400, 32);
	start = now;
	send_all(d, 2, 30, 32);
	both = now - start;
	assert_in_range(both, fast * 8 / 10, fast * 105 / 100);
}

static void tor_gauge_pick__a_slow_one_is_tried_again(void **state)
{
	struct tor_gauge slow = { .cost = 409600, .known = now }, fast = { .cost = 40960, .known = now };
	struct tor_gauge *const gauge[TOR_LINK_CABLES] = { &slow, &fast };
	const u32 held[TOR_LINK_CABLES] = { 0 };
	u32 i;

	assert_int_equal(tor_gauge_pick(gauge, held, 0, BYTES, now), 1);
	tor_gauge_pick(gauge, held, 0, BYTES, now + TOR_GAUGE_DOUBT - 1);
	assert_int_equal(slow.cost, 409600);
	for (i = 0; i < 20; i++) {
		now += TOR_GAUGE_DOUBT;
		tor_gauge_pick(gauge, held, 0, BYTES, now);
	}
	assert_int_equal(slow.cost, TOR_GAUGE_FAST);
	assert_int_equal(tor_gauge_pick(gauge, held, 0, BYTES, now), 0);
	/* one that is faster than that is not doubted */
	fast.cost = 82;
	now += 10 * TOR_GAUGE_DOUBT;
	tor_gauge_pick(gauge, held, 0, BYTES, now);
	assert_int_equal(fast.cost, 82);
}

static void tor_gauge_pick__only_what_is_to_be_used(void **state)
{
	struct tor_gauge gauge = { 0 };
	struct tor_gauge *list[TOR_LINK_CABLES] = { NULL };
	u32 held[TOR_LINK_CABLES] = { 0 };

	assert_int_equal(tor_gauge_pick(list, held, 1, BYTES, now), TOR_LINK_CABLES);
	list[2] = &gauge;
	held[2] = UINT32_MAX;
	assert_int_equal(tor_gauge_pick(list, held, 1, BYTES, now), 2);
	/* among equals the one that was asked for */
	list[0] = &gauge;
	held[2] = 0;
	assert_int_equal(tor_gauge_pick(list, held, 2, BYTES, now), 2);
	assert_int_equal(tor_gauge_pick(list, held, 0, BYTES, now), 0);
	assert_int_equal(tor_gauge_pick(list, held, 3, BYTES, now), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tor_gauge_take__measures_what_is_busy, setup),
		cmocka_unit_test_setup(tor_gauge_take__knows_nothing_of_an_idle_one, setup),
		cmocka_unit_test_setup(tor_gauge_take__sees_one_that_stands_still, setup),
		cmocka_unit_test_setup(tor_gauge_take__survives_figures_that_run_back, setup),
		cmocka_unit_test_setup(tor_gauge_take__survives_a_clock_that_runs_back, setup),
		cmocka_unit_test_setup(tor_gauge_pick__two_alike_are_twice_as_fast, setup),
		cmocka_unit_test_setup(tor_gauge_pick__a_slow_one_does_no_harm, setup),
		cmocka_unit_test_setup(tor_gauge_pick__a_slow_one_is_tried_again, setup),
		cmocka_unit_test_setup(tor_gauge_pick__only_what_is_to_be_used, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
