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
	tor_gauge_init(&d->gauge);
	d->cost = cost;
	d->busy = 0;
	d->got = 0;
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

/* Send @n frames, each by the cable of which there is least to wait for; at most @window at a time. */
static void send_all(struct device *d, u32 cables, u32 n, u32 window)
{
	while (n) {
		struct device *best = &d[0];
		u32 i, held = 0;

		for (i = 0; i < cables; i++) {
			held += device_held(&d[i]);
			if (tor_gauge_wait(&d[i].gauge, BYTES, device_held(&d[i])) <
			    tor_gauge_wait(&best->gauge, BYTES, device_held(best)))
				best = &d[i];
		}
		if (held >= window * BYTES) {
			now += 10 * NSEC_PER_USEC;
			continue;
		}
		device_get(best);
		n--;
	}
	for (; cables; cables--)
		now = max(now, d[cables - 1].busy);
}

static int setup(void **state)
{
	now = SECOND;
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
	assert_int_equal(d.gauge.cost, TOR_GAUGE_FIRST);
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
	struct tor_gauge gauge;

	tor_gauge_init(&gauge);
	tor_gauge_take(&gauge, now, 10 * BYTES, BYTES);
	tor_gauge_take(&gauge, now, 10 * BYTES, 3 * BYTES);
	tor_gauge_take(&gauge, now + 1, BYTES, 3 * BYTES);
	assert_int_equal(gauge.cost, TOR_GAUGE_FIRST);
}

static void tor_gauge_wait__two_alike_are_twice_as_fast(void **state)
{
	struct device d[2];
	u64 one, start = now;

	device_init(&d[0], 40960);
	send_all(d, 1, 400, 32);
	one = now - start;
	device_init(&d[0], 40960);
	device_init(&d[1], 40960);
	start = now;
	send_all(d, 2, 400, 32);
	assert_in_range(now - start, one / 2, one / 2 + one / 50);
}

/* A slow cable beside a fast one does not delay what the fast one would have brought earlier. */
static void tor_gauge_wait__a_slow_one_does_no_harm(void **state)
{
	u64 fast, both, start = now;
	struct device d[2];

	device_init(&d[0], 40960);
	send_all(d, 1, 30, 32);
	fast = now - start;
	device_init(&d[0], 40960);
	device_init(&d[1], 409600);
	/* the first ones are needed to see how slow it is */
	send_all(d, 2, 100, 32);
	start = now;
	send_all(d, 2, 30, 32);
	both = now - start;
	assert_in_range(both, fast * 8 / 10, fast * 105 / 100);
}

static void tor_gauge_doubt__a_slow_one_is_tried_again(void **state)
{
	struct device d;
	u32 i;

	device_init(&d, 409600);
	tor_gauge_doubt(&d.gauge, now + 1000 * SECOND);
	assert_int_equal(d.gauge.cost, TOR_GAUGE_FIRST);
	send_all(&d, 1, 100, 16);
	tor_gauge_doubt(&d.gauge, d.gauge.known + TOR_GAUGE_DOUBT - 1);
	assert_in_range(d.gauge.cost, 300000, 500000);
	for (i = 0; i < 20; i++) {
		now = d.gauge.known + TOR_GAUGE_DOUBT;
		tor_gauge_doubt(&d.gauge, now);
	}
	assert_int_equal(d.gauge.cost, TOR_GAUGE_FIRST);
	/* one that is faster than that is not doubted */
	device_init(&d, 82);
	send_all(&d, 1, 1000, 16);
	tor_gauge_doubt(&d.gauge, now + 1000 * SECOND);
	assert_in_range(d.gauge.cost, 60, 105);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tor_gauge_take__measures_what_is_busy, setup),
		cmocka_unit_test_setup(tor_gauge_take__knows_nothing_of_an_idle_one, setup),
		cmocka_unit_test_setup(tor_gauge_take__sees_one_that_stands_still, setup),
		cmocka_unit_test_setup(tor_gauge_take__survives_figures_that_run_back, setup),
		cmocka_unit_test_setup(tor_gauge_wait__two_alike_are_twice_as_fast, setup),
		cmocka_unit_test_setup(tor_gauge_wait__a_slow_one_does_no_harm, setup),
		cmocka_unit_test_setup(tor_gauge_doubt__a_slow_one_is_tried_again, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
