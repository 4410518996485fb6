// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The cables of a link: several of them, what each takes, and what is forgotten with one. */
#include "link_nodes.h"

/* The last frame that was sent by @cable. */
static struct host_frame *last_cable_sent(u32 cable)
{
	u32 i = host.nsent;

	do
		assert_true(i > 0);
	while (host.sent[--i].port != cable);
	return &host.sent[i];
}

/* Cable @x of a's link to b is cable @y of b's. */
static void cable_up(struct tor_node *a, u32 x, struct tor_node *b, u32 y, u32 frame)
{
	tor_cable_open(&ctx, a, tor_cable(0, x), frame);
	tor_cable_open(&ctx, b, tor_cable(1, y), frame);
	deliver(last_cable_sent(tor_cable(0, x)), b, tor_cable(1, y));
	deliver(last_cable_sent(tor_cable(1, y)), a, tor_cable(0, x));
	deliver(last_cable_sent(tor_cable(0, x)), b, tor_cable(1, y));
	assert_int_equal(a->cable[tor_cable(0, x)].state, TOR_CABLE_UP);
	assert_int_equal(b->cable[tor_cable(1, y)].state, TOR_CABLE_UP);
}

/* A link is dead when the last of its cables is down, and only then others hear of it. */
static void tor_cable_close__a_link_lives_by_any_cable(void **state)
{
	struct tor_node a, b;
	u32 seq, views;

	(void)state;
	pair_up(&a, &b);
	/* they are crossed: nobody has numbered them */
	cable_up(&a, 1, &b, 2, 9000);
	cable_up(&a, 2, &b, 1, 9000);
	assert_int_equal(a.link[0].up, 7);
	assert_int_equal(b.link[1].up, 7);
	assert_int_equal(a.live, 1);
	seq = a.view.entry[0].seq;
	views = host.views_changed;
	tor_cable_close(&ctx, &a, 0, false);
	assert_int_equal(a.link[0].up, 6);
	assert_int_equal(a.live, 1);
	tor_cable_close(&ctx, &a, tor_cable(0, 2), true);
	assert_int_equal(a.link[0].up, 2);
	assert_int_equal(a.view.entry[0].dead, 0);
	assert_int_equal(host.counters[TOR_C_LINK_DOWNS], 2);
	/* the frame of the last one is larger than that of the first */
	assert_int_equal(a.view.entry[0].seq, seq + 1);
	assert_int_equal(host.views_changed, views + 1);
	tor_cable_close(&ctx, &a, tor_cable(0, 1), false);
	assert_int_equal(a.link[0].up, 0);
	assert_int_equal(a.live, 0);
	/* the other one was never up, and is awaited */
	assert_int_equal(a.view.entry[0].dead, 1);
}

/* A link that was never up is dead at once for the own routes, and later for others. */
static void tor_link_tick__awaited_links_are_told_in_time(void **state)
{
	struct tor_node a, b;
	u16 dead[8];
	u32 seq, views;

	(void)state;
	pair_up(&a, &b);
	seq = a.view.entry[0].seq;
	assert_int_equal(a.awaited, 2);
	assert_int_equal(a.view.entry[0].dead, 0);
	assert_int_equal(a.view.digest, 0);
	assert_int_equal(tor_link_count_dead(&a), 1);
	assert_false(tor_link_is_ready(&a));
	tor_link_copy_dead(&a, dead, 0, a.torus.nodes);
	assert_int_equal(dead[0], 2);
	assert_int_equal(dead[1], 0);
	ctx.now = a.patience - 1;
	tor_cable_alive(&a, 0);
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.view.entry[0].seq, seq);
	views = host.views_changed;
	ctx.now = a.patience;
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.view.entry[0].dead, 2);
	assert_int_equal(a.view.entry[0].seq, seq + 1);
	assert_int_equal(host.views_changed, views + 1);
	assert_int_equal(tor_link_count_dead(&a), 1);
	assert_true(tor_link_is_ready(&a));
	/* told once */
	ctx.now += a.hello_ns;
	tor_cable_alive(&a, 0);
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.view.entry[0].seq, seq + 1);
}

/* Each cable is heard by itself. */
static void tor_link_tick__one_silent_cable(void **state)
{
	struct tor_node a, b;

	(void)state;
	pair_up(&a, &b);
	cable_up(&a, 3, &b, 3, 9000);
	ctx.now += TOR_HELLO_MISSES * a.hello_ns;
	tor_cable_alive(&a, tor_cable(0, 3));
	tor_link_tick(&ctx, &a);
	ctx.now += a.hello_ns;
	tor_cable_alive(&a, tor_cable(0, 3));
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_WAITING);
	assert_int_equal(a.cable[tor_cable(0, 3)].state, TOR_CABLE_UP);
	assert_int_equal(a.live, 1);
	assert_int_equal(a.link[0].up, 8);
	tor_cable_damaged(&a, tor_cable(0, 3));
	assert_int_equal(atomic64_read(&a.cable[0].damaged), 0);
}

/* A frame may leave by any cable, so a link takes what the least of them takes. */
static void tor_cable_open__a_link_takes_what_all_take(void **state)
{
	struct tor_node a, b;

	(void)state;
	pair_up(&a, &b);
	assert_int_equal(a.link[0].takes, 1500);
	cable_up(&a, 1, &b, 1, 1400);
	assert_int_equal(a.link[0].takes, 1400);
	assert_int_equal(a.view.entry[0].frame, 1400);
	/* a frame in use is larger: the others carry it */
	tor_link_too_small(&ctx, &a, 0, 1450);
	assert_int_equal(a.cable[tor_cable(0, 1)].state, TOR_CABLE_TOO_SMALL);
	assert_int_equal(a.link[0].takes, 1500);
	assert_int_equal(a.link[0].up, 1);
	assert_int_equal(a.live, 1);
	assert_int_equal(a.view.entry[0].frame, 1500);
	/* the MTU of a device of a link that is up */
	tor_cable_open(&ctx, &a, 0, 1480);
	assert_int_equal(a.link[0].takes, 1480);
	/* and that of the other end */
	tor_cable_open(&ctx, &b, 1, 1470);
	deliver(last_cable_sent(1), &a, 0);
	assert_int_equal(a.link[0].takes, 1470);
}

/* Frames that were too large are no longer sent, which nobody says: the cable is tried again. */
static void tor_link_too_small__is_not_for_ever(void **state)
{
	struct tor_node a, b;
	u64 down, before = 0;
	u32 times;

	(void)state;
	pair_up(&a, &b);
	for (times = 0; times < 3; times++) {
		down = ctx.now;
		tor_link_too_small(&ctx, &a, 0, 9000);
		assert_int_equal(a.cable[0].state, TOR_CABLE_TOO_SMALL);
		while (a.cable[0].state != TOR_CABLE_UP) {
			assert_in_range(ctx.now - down, 0, 5 * TOR_CABLE_SMALL);
			ctx.now += tor_link_tick_ns(&a);
			host_forget_sent();
			tor_link_tick(&ctx, &a);
			if (host.nsent)
				deliver(last_sent(), &b, 1);
			host_forget_sent();
			tor_link_tick(&ctx, &b);
			if (host.nsent)
				deliver(last_sent(), &a, 0);
		}
		/* after a longer time, if it was of no use */
		assert_in_range(ctx.now - down, max(TOR_CABLE_SMALL, before + TOR_CABLE_SMALL / 2),
				5 * TOR_CABLE_SMALL);
		before = ctx.now - down;
	}
}

/* What a cable took says nothing of what comes next: another device, or another neighbour. */
static void tor_cable_close__forgets_what_it_took(void **state)
{
	struct tor_node a, b;

	(void)state;
	pair_up(&a, &b);
	tor_cable_close(&ctx, &b, 1, false);
	assert_int_equal(b.cable[1].takes, 0);
}

static void tor_cable_hello__forgets_another_version(void **state)
{
	struct tor_node a, b;

	(void)state;
	node_up(&a, 1, ring, 1, 0);
	node_up(&b, 1, ring, 1, 1);
	tor_cable_open(&ctx, &a, 0, 1500);
	tor_cable_foreign(&ctx, &a, 0, 7);
	tor_cable_open(&ctx, &b, 1, 1500);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].peer_wire, 0);
}

/* Immediate hellos are replenished in full, however the calls fall between the intervals. */
static void tor_hello_spread_news__as_often_as_promised(void **state)
{
	struct tor_node a, b;
	u32 calls, sent = 0;

	(void)state;
	pair_up(&a, &b);
	for (calls = 0; calls < 200; calls++) {
		ctx.now += 49 * NSEC_PER_MSEC;
		a.news = true;
		a.view.downs++;
		sent += tor_hello_spread_news(&ctx, &a);
		a.news = true;
		a.view.downs++;
		sent += tor_hello_spread_news(&ctx, &a);
		host_forget_sent();
	}
	/* 40 a second for 9.8 seconds */
	assert_true(sent >= 380);
}

/* A cable of another link is miswired, whichever it is of it. */
static void tor_cable_hello__a_cable_of_another_link(void **state)
{
	struct tor_node a, b;

	(void)state;
	pair_up(&a, &b);
	tor_cable_open(&ctx, &a, tor_cable(0, 1), 1500);
	tor_cable_open(&ctx, &b, tor_cable(0, 1), 1500);
	deliver(last_cable_sent(tor_cable(0, 1)), &a, tor_cable(0, 1));
	assert_int_equal(a.cable[tor_cable(0, 1)].state, TOR_CABLE_MISWIRED);
	assert_int_equal(a.cable[tor_cable(0, 1)].peer_dir, TOR_PLUS);
	assert_int_equal(a.link[0].up, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINK_TEST(tor_cable_close__a_link_lives_by_any_cable),
		LINK_TEST(tor_link_tick__awaited_links_are_told_in_time),
		LINK_TEST(tor_link_tick__one_silent_cable),
		LINK_TEST(tor_cable_open__a_link_takes_what_all_take),
		LINK_TEST(tor_link_too_small__is_not_for_ever),
		LINK_TEST(tor_cable_close__forgets_what_it_took),
		LINK_TEST(tor_cable_hello__forgets_another_version),
		LINK_TEST(tor_hello_spread_news__as_often_as_promised),
		LINK_TEST(tor_cable_hello__a_cable_of_another_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
