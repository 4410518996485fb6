// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Links: two nodes that say hello to each other, rightly wired and otherwise. */
#include "link_nodes.h"

static void tor_cable_hello__up_after_a_round_trip(void **state)
{
	struct tor_node a, b;

	pair_up(&a, &b);
	assert_int_equal(a.cable[0].peer_node, 1);
	assert_int_equal(a.cable[0].peer_dir, TOR_MINUS);
	assert_int_equal(a.cable[0].peer_epoch, b.epoch);
	assert_int_equal(a.cable[0].peer_frame_size, 9000);
	assert_int_equal(b.cable[1].peer_frame_size, 1500);
	assert_true(host.links_changed >= 4);
	assert_int_equal(host.counters[TOR_C_RX_HELLOS], 3);
}

static void tor_link_tick__silence_takes_it_down(void **state)
{
	struct tor_node a, b;

	pair_up(&a, &b);
	ctx.now += TOR_HELLO_MISSES * a.hello_ns;
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
	ctx.now++;
	assert_int_equal(a.cable[0].downs, 0);
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_WAITING);
	assert_int_equal(a.cable[0].was, TOR_CABLE_UP);
	assert_int_equal(a.cable[0].since, ctx.now);
	assert_int_equal(a.cable[0].downs, 1);
	/* its next hello says that it hears nothing: the other side goes down as well */
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].state, TOR_CABLE_ONE_WAY);
}

static void tor_link_tick__lost_time_is_nobodys_silence(void **state)
{
	struct tor_node a, b;
	u32 ticks;

	pair_up(&a, &b);
	tor_link_tick(&ctx, &a);
	/* a processor that was busy with other things: the neighbour's hellos wait in its queue */
	ctx.now += 10 * a.hello_ns;
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
	/* there were none: it counts from here */
	for (ticks = 0; a.cable[0].state == TOR_CABLE_UP; ticks++) {
		ctx.now += tor_link_tick_ns(&a);
		tor_link_tick(&ctx, &a);
	}
	assert_in_range(ticks * tor_link_tick_ns(&a), (TOR_HELLO_MISSES - 1) * a.hello_ns,
			TOR_HELLO_MISSES * a.hello_ns + tor_link_tick_ns(&a));
}

/* Hand all that was sent to the other one. */
static void exchange(struct tor_node *a, struct tor_node *b)
{
	struct host_frame f;
	u32 i;

	for (i = 0; i < host.nsent; i++) {
		/* an answer may move the others */
		f = host.sent[i];
		if (!f.port)
			deliver(&f, b, 1);
		else if (f.port == 1)
			deliver(&f, a, 0);
	}
	host_forget_sent();
}

/* So many ms pass, and none hears anything but hellos. */
static void hellos_pass(struct tor_node *a, struct tor_node *b, u32 ms)
{
	u32 i;

	for (i = 0; i < ms; i += 5) {
		ctx.now += 5 * NSEC_PER_MSEC;
		if (ctx.now >= a->ticked + tor_link_tick_ns(a))
			tor_link_tick(&ctx, a);
		exchange(a, b);
		if (ctx.now >= b->ticked + tor_link_tick_ns(b))
			tor_link_tick(&ctx, b);
		exchange(a, b);
	}
}

/* Where intervals differ, the longer one says when a neighbour is silent. */
static void tor_cable_tick__neighbour_says_hello_rarely(void **state)
{
	static const u32 interval[][2] = { { 200, 1000 }, { 200, 800 }, { 100, 400 }, { 1000, 200 } };
	struct tor_node a, b;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(interval); i++) {
		pair_up(&a, &b);
		host_forget_sent();
		a.hello_ns = interval[i][0] * NSEC_PER_MSEC;
		b.hello_ns = interval[i][1] * NSEC_PER_MSEC;
		/* as the first hello has said: a fabric's interval never changes */
		a.cable[0].peer_interval = b.hello_ns;
		b.cable[1].peer_interval = a.hello_ns;
		hellos_pass(&a, &b, 20000);
		assert_int_equal(a.cable[0].downs, 0);
		assert_int_equal(b.cable[1].downs, 0);
	}
	/* a has said that it is the rare one */
	assert_int_equal(tor_cable_patience(&b, 1), TOR_HELLO_MISSES * a.hello_ns);
	for (i = 0; i < 60; i++) {
		ctx.now += 50 * NSEC_PER_MSEC;
		tor_link_tick(&ctx, &b);
		/* it has heard one in the last second */
		assert_true(b.cable[1].state == TOR_CABLE_UP || i > 35);
	}
	ctx.now += 50 * NSEC_PER_MSEC;
	tor_link_tick(&ctx, &b);
	assert_int_equal(b.cable[1].state, TOR_CABLE_WAITING);
	/* for whom another device is to be awaited that long */
	tor_cable_close(&ctx, &b, 1, false);
	assert_int_equal(tor_cable_patience(&b, 1), TOR_HELLO_MISSES * b.hello_ns);
}

/* Who claims to say hello once a day is not waited for that long. */
static void tor_cable_hello__interval_has_a_bound(void **state)
{
	struct tor_node a, b;

	(void)state;
	pair_up(&a, &b);
	a.hello_ns = 86400 * (u64)NSEC_PER_SEC;
	tor_hello_tick(&ctx, &a);
	deliver(last_sent(), &b, 1);
	assert_int_equal(tor_cable_patience(&b, 1), TOR_HELLO_MISSES * TOR_HELLO_RAREST);
}

static void tor_cable_alive__as_good_as_a_hello(void **state)
{
	struct tor_node a, b;
	u32 ticks;

	pair_up(&a, &b);
	/* far longer than a silent neighbour has */
	for (ticks = 0; ticks < 10 * TOR_HELLO_MISSES * TOR_HELLO_TICKS; ticks++) {
		tor_cable_alive(&a, 0);
		ctx.now += tor_link_tick_ns(&a);
		tor_link_tick(&ctx, &a);
		assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
	}
	/* no more frames */
	for (ticks = 0; a.cable[0].state == TOR_CABLE_UP; ticks++) {
		ctx.now += tor_link_tick_ns(&a);
		tor_link_tick(&ctx, &a);
	}
	assert_int_equal(ticks, TOR_HELLO_MISSES * TOR_HELLO_TICKS + 1);
}

static void tor_cable_alive__only_what_is_up(void **state)
{
	struct tor_node a, b;

	pair_up(&a, &b);
	ctx.now += TOR_HELLO_MISSES * a.hello_ns + 1;
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_WAITING);
	tor_cable_alive(&a, 0);
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_WAITING);
	assert_int_equal(a.cable[0].heard, 0);
}

static void tor_link_tick__comes_back(void **state)
{
	struct tor_node a, b;

	pair_up(&a, &b);
	ctx.now += NSEC_PER_SEC;
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_WAITING);
	deliver(last_sent(), &b, 1);
	tor_link_tick(&ctx, &b);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].state, TOR_CABLE_UP);
}

static void tor_cable_close__carrier_counts_at_once(void **state)
{
	struct tor_node a, b;
	u32 sent;

	pair_up(&a, &b);
	tor_cable_close(&ctx, &a, 0, false);
	assert_int_equal(a.cable[0].state, TOR_CABLE_NO_CARRIER);
	/* a frame that was still under way changes nothing, and nothing is said */
	tor_link_tick(&ctx, &b);
	sent = host.nsent;
	deliver(last_sent(), &a, 0);
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_NO_CARRIER);
	assert_int_equal(host.nsent, sent);
	tor_cable_open(&ctx, &a, 0, 1500);
	assert_int_equal(a.cable[0].state, TOR_CABLE_WAITING);
	tor_cable_close(&ctx, &a, 0, true);
	assert_int_equal(a.cable[0].state, TOR_CABLE_ABSENT);
}

static void tor_cable_hello__miswired(void **state)
{
	struct tor_node a, b, c;

	node_up(&a, 1, ring, 1, 0);
	node_up(&b, 1, ring, 1, 1);
	node_up(&c, 1, ring, 1, 2);
	/* the wrong node */
	tor_cable_open(&ctx, &a, 0, 1500);
	tor_cable_open(&ctx, &c, 1, 1500);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].state, TOR_CABLE_MISWIRED);
	assert_int_equal(a.cable[0].peer_node, 2);
	/* the right node by the wrong port */
	tor_cable_open(&ctx, &b, 0, 1500);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].state, TOR_CABLE_MISWIRED);
	assert_int_equal(a.cable[0].peer_dir, TOR_PLUS);
	/* itself: a cable from a port to the same host */
	tor_cable_open(&ctx, &a, 1, 1500);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].state, TOR_CABLE_MISWIRED);
}

static void tor_cable_hello__another_shape(void **state)
{
	static const u32 square[] = { 2, 2 }, five[] = { 5 };
	struct tor_node a, b;

	node_up(&a, 1, ring, 1, 0);
	tor_cable_open(&ctx, &a, 0, 1500);
	node_up(&b, 2, square, 1, 1);
	tor_cable_open(&ctx, &b, 1, 1500);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].state, TOR_CABLE_FABRIC);
	node_up(&b, 1, five, 1, 1);
	tor_cable_open(&ctx, &b, 1, 1500);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].state, TOR_CABLE_FABRIC);
}

/* Whose payloads are in another order can still pass frames on: the link is a good one, and says so of itself. */
static void tor_cable_hello__byte_order(void **state)
{
	struct tor_node a, b;
	u32 i;

	for (i = 0; i < 2; i++) {
		pair_up(&a, &b);
		assert_int_equal(b.cable[1].peer_big_endian, b.big_endian);
		a.big_endian = i;
		a.said_at = 0;
		host_forget_sent();
		tor_link_tick(&ctx, &a);
		deliver(last_sent(), &b, 1);
		assert_int_equal(b.cable[1].state, TOR_CABLE_UP);
		assert_int_equal(b.cable[1].peer_big_endian, i);
		tor_cable_close(&ctx, &b, 1, false);
		assert_false(b.cable[1].peer_big_endian);
	}
}

/* The same is true of one whose frames have other checksums. */
static void tor_cable_hello__checksum(void **state)
{
	struct tor_node a, b;
	u32 i;

	for (i = 0; i < 2; i++) {
		pair_up(&a, &b);
		assert_false(b.cable[1].peer_unsummed);
		a.checksum_payload = !i;
		a.said_at = 0;
		host_forget_sent();
		tor_link_tick(&ctx, &a);
		deliver(last_sent(), &b, 1);
		assert_int_equal(b.cable[1].state, TOR_CABLE_UP);
		assert_int_equal(b.cable[1].peer_unsummed, i);
		tor_cable_close(&ctx, &b, 1, false);
		assert_false(b.cable[1].peer_unsummed);
	}
}

static void tor_cable_hello__restarted_neighbour(void **state)
{
	struct tor_node a, b;
	u32 before, sent;

	pair_up(&a, &b);
	before = b.epoch;
	node_up(&b, 1, ring, 1, 1);
	assert_int_not_equal(b.epoch, before);
	/* a restart takes its time */
	ctx.now += a.hello_ns;
	tor_cable_open(&ctx, &b, 1, 1500);
	sent = host.nsent;
	deliver(last_sent(), &a, 0);
	/* it does not know this node yet, and is told at once */
	assert_int_equal(a.cable[0].state, TOR_CABLE_ONE_WAY);
	assert_int_equal(a.cable[0].peer_epoch, b.epoch);
	assert_int_equal(host.nsent, sent + 1);
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].state, TOR_CABLE_UP);
}

/* What @from says of its links comes to @to by another way. */
static void tell(struct tor_node *from, struct tor_node *to)
{
	const struct tor_view_entry *own = &from->view.entry[from->self];
	struct tor_record r = {
		.node = from->self,
		.epoch = own->epoch,
		.seq = own->seq,
		.dead = own->dead,
		.frame = own->frame,
	};

	tor_view_learn(&to->view, &r);
}

/* Carrier comes to both ends at once: both have just said hello, hearing nobody yet, and have no other news. */
static void tor_cable_open__both_at_once(void **state)
{
	struct host_frame first[2];
	struct tor_node a, b;

	pair_up(&a, &b);
	ctx.now += a.hello_ns;
	tor_cable_close(&ctx, &a, 0, false);
	tor_cable_close(&ctx, &b, 1, false);
	tell(&a, &b);
	tell(&b, &a);
	ctx.now++;
	tor_cable_open(&ctx, &a, 0, 9000);
	first[0] = *last_sent();
	tor_cable_open(&ctx, &b, 1, 1500);
	first[1] = *last_sent();
	deliver(&first[0], &b, 1);
	deliver(last_sent(), &a, 0);
	assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
	deliver(&first[1], &a, 0);
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].state, TOR_CABLE_UP);
}

static void tor_cable_hello__three_on_a_wire_are_answered_seldom(void **state)
{
	struct tor_node a, b;
	u32 sent, i;

	pair_up(&a, &b);
	ctx.now += a.hello_ns;
	/* a port on a switch hears now this one, now that one: each time somebody new */
	node_up(&b, 1, ring, 1, 1);
	tor_cable_open(&ctx, &b, 1, 1500);
	sent = host.nsent;
	for (i = 0; i < 10; i++) {
		node_up(&b, 1, ring, 1, 1);
		tor_cable_open(&ctx, &b, 1, 1500);
		deliver(last_sent(), &a, 0);
	}
	/* ten hellos said by them, the news that one is gone, and one answer */
	assert_int_equal(host.nsent, sent + 10 + 2);
}

/*
 * Of entries on two processors the one that began later may have the lock first: time goes back for the other, and is no time in
 * which anything was earned.
 */
static void tor_hello_spread_news__time_goes_back(void **state)
{
	struct tor_node a, b;
	u32 sent;

	(void)state;
	pair_up(&a, &b);
	do {
		a.news = true;
		a.view.downs++;
	} while (tor_hello_spread_news(&ctx, &a));
	assert_int_equal(a.floods, 0);
	a.cable[0].answered = ctx.now;
	ctx.now -= NSEC_PER_MSEC;
	assert_false(tor_hello_spread_news(&ctx, &a));
	assert_int_equal(a.floods, 0);
	sent = host.nsent;
	tor_hello_answer(&ctx, &a, 0);
	assert_int_equal(host.nsent, sent);
}

/* The neighbour says that it hears @node, or that it does not. */
static void hear(struct tor_node *node, struct tor_node *peer, bool hears)
{
	struct tor_hello hello = {
		.ndim = 1, .way = 1, .side = { 4 }, .frame_size = 1500,
		.hears = hears, .heard_node = node->self, .heard_epoch = node->epoch,
	};
	struct tor_hdr h;

	tor_node_header(peer, &h, TORCOLL_FRAME_HELLO, ~0U);
	tor_cable_hello(&ctx, node, 0, &h, &hello);
}

static void tor_cable_hello__who_flaps_is_held_down(void **state)
{
	u32 i, ups = 0;
	struct tor_node a, b;

	(void)state;
	pair_up(&a, &b);
	for (i = 0; i < 10000; i++) {
		ctx.now += NSEC_PER_MSEC;
		hear(&a, &b, true);
		ups += a.cable[0].state == TOR_CABLE_UP;
		assert_true(a.cable[0].state == TOR_CABLE_UP || a.cable[0].state == TOR_CABLE_FLAPPING);
		/* the first few times, nothing is held back */
		assert_true(i >= TOR_DAMPER_FREE - 1 || a.live);
		/* down is down at once */
		hear(&a, &b, false);
		assert_int_equal(a.cable[0].state, TOR_CABLE_ONE_WAY);
		assert_int_equal(a.live, 0);
	}
	assert_in_range(ups, 10, TOR_DAMPER_FREE + TOR_DAMPER_DOUBLINGS + 10);
	/* it settles, and is up with the next hello behind the longest wait */
	ctx.now += TOR_DAMPER_LONGEST;
	hear(&a, &b, true);
	assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
	/* much later, a single failure is as if nothing had been */
	ctx.now += 10 * NSEC_PER_SEC;
	hear(&a, &b, false);
	hear(&a, &b, true);
	assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
}

/* All that is known is told to neighbours that are new as often as a damper lets it, on whichever ports they are. */
static void tor_cable_hello__all_is_told_seldom(void **state)
{
	struct tor_record r = { .node = 2, .epoch = 5, .seq = 1 };
	struct tor_node a, b;
	u32 i, told = 0;

	(void)state;
	pair_up(&a, &b);
	tor_view_learn(&a.view, &r);
	for (i = 0; i < 1000; i++) {
		ctx.now += NSEC_PER_MSEC;
		/* as if it were another port each time */
		memset(&a.cable[0].ups, 0, sizeof(a.cable[0].ups));
		a.view.entry[2].tell = 0;
		hear(&a, &b, false);
		hear(&a, &b, true);
		assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
		told += a.view.entry[2].tell == TOR_VIEW_TELL;
		assert_true(i >= TOR_DAMPER_FREE - 1 || told == i + 1);
	}
	assert_in_range(told, TOR_DAMPER_FREE - 1, TOR_DAMPER_FREE + TOR_DAMPER_DOUBLINGS);
	/* what was put off is not forgotten */
	assert_true(a.tell_all);
	ctx.now += TOR_DAMPER_LONGEST;
	tor_cable_alive(&a, 0);
	tor_link_tick(&ctx, &a);
	assert_false(a.tell_all);
	assert_in_range(a.view.entry[2].tell, TOR_VIEW_TELL - 1, TOR_VIEW_TELL);
}

static void tor_cable_foreign__another_version(void **state)
{
	struct tor_node a, b;

	node_up(&a, 1, ring, 1, 0);
	tor_cable_foreign(&ctx, &a, 0, 7);
	assert_int_equal(a.cable[0].state, TOR_CABLE_ABSENT);
	tor_cable_open(&ctx, &a, 0, 1500);
	tor_cable_foreign(&ctx, &a, 0, 7);
	assert_int_equal(a.cable[0].state, TOR_CABLE_VERSION);
	ctx.now += NSEC_PER_SEC;
	tor_link_tick(&ctx, &a);
	assert_int_equal(a.cable[0].state, TOR_CABLE_WAITING);
	/* a stray frame does not take a good link down */
	pair_up(&a, &b);
	tor_cable_foreign(&ctx, &a, 0, 7);
	assert_int_equal(a.cable[0].state, TOR_CABLE_UP);
}

static void tor_cable_state_name__all(void **state)
{
	u32 i, k;

	for (i = 0; i < TOR_CABLE_STATES; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(tor_cable_state_name(i), tor_cable_state_name(k));
	assert_non_null(tor_cable_state_name(TOR_CABLE_STATES));
}

static void tor_node_init__refuses_what_is_outside(void **state)
{
	struct tor_node node;
	struct tor_torus t;

	assert_int_equal(tor_torus_init(&t, 1, ring, 1), 0);
	assert_int_equal(tor_node_init(&node, &t, 1, 4), -EINVAL);
}

static void tor_node_init__tags_differ_by_key(void **state)
{
	struct tor_node a, b, c;

	node_up(&a, 1, ring, 1, 0);
	node_up(&b, 1, ring, 2, 0);
	node_up(&c, 1, ring, 1, 1);
	assert_int_not_equal(a.tag, b.tag);
	assert_int_equal(a.tag, c.tag);
	assert_true(a.epoch && b.epoch && c.epoch);
}

/* Whose rates they are, who it is, and how much it has sent: as of each hello. */
static void tor_cable_hello__more_is_kept(void **state)
{
	struct tor_record record = { .epoch = 1, .seq = 1, .dead = 1 };
	const u32 side = 20;
	struct tor_node a, b;

	(void)state;
	host.name = "rack1\tshelf2";
	host.port_sent = U32_MAX;
	node_up(&a, 1, &side, 1, 0);
	node_up(&b, 1, &side, 1, 1);
	a.rates = 0x5eed;
	tor_cable_open(&ctx, &b, 1, 1500);
	tor_cable_open(&ctx, &a, 0, 1500);
	deliver(last_sent(), &b, 1);
	assert_true(b.cable[1].peer_more);
	assert_string_equal(b.cable[1].peer_name, "rack1?shelf2");
	assert_int_equal(b.cable[1].peer_rates, 0x5eed);
	assert_int_equal(b.cable[1].peer_cables, 1);
	/* the hello itself counts */
	assert_int_equal(b.cable[1].peer_sent, 0);
	/* a hello whose records leave no room for it changes nothing of that */
	host.port_sent = 99;
	for (record.node = 2; record.node < side; record.node++)
		tor_view_learn(&a.view, &record);
	tor_cable_open(&ctx, &a, 0, TOR_WIRE_FRAME_MIN);
	assert_int_equal(last_sent()->len, 64 + 72 + 15 * 16);
	deliver(last_sent(), &b, 1);
	assert_string_equal(b.cable[1].peer_name, "rack1?shelf2");
	assert_int_equal(b.cable[1].peer_sent, 0);
	tor_cable_open(&ctx, &a, 0, 1500);
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].peer_sent, 100);
	/* but one of another incarnation does */
	a.epoch++;
	tor_cable_open(&ctx, &a, 0, TOR_WIRE_FRAME_MIN);
	deliver(last_sent(), &b, 1);
	assert_false(b.cable[1].peer_more);
	tor_cable_close(&ctx, &b, 1, false);
	assert_string_equal(b.cable[1].peer_name, "");
}

/* With a side of 2, two nodes that count its cables differently have different neighbours elsewhere. */
static void tor_cable_hello__other_cables(void **state)
{
	const u32 four[] = { 4 }, two[] = { 2 };
	struct tor_node a, b;

	(void)state;
	node_up(&a, 1, two, 1, 0);
	node_up(&b, 1, two, 1, 1);
	a.torus.cables = 2;
	tor_cable_open(&ctx, &b, 1, 1500);
	tor_cable_open(&ctx, &a, 0, 1500);
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].state, TOR_CABLE_FABRIC);
	assert_int_equal(b.cable[1].peer_tag, 0);
	assert_int_equal(b.cable[1].peer_side[0], 2);
	/* and without one it does not matter */
	node_up(&a, 1, four, 1, 0);
	node_up(&b, 1, four, 1, 1);
	a.torus.cables = 2;
	tor_cable_open(&ctx, &b, 1, 1500);
	tor_cable_open(&ctx, &a, 0, 1500);
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].state, TOR_CABLE_ONE_WAY);
}

/* Nobody of this fabric is heard, but somebody is. */
static void tor_cable_stranger__until_silence_or_one_of_ours(void **state)
{
	const u32 side = 4;
	struct tor_node a, b;

	(void)state;
	node_up(&a, 1, &side, 1, 0);
	node_up(&b, 1, &side, 1, 1);
	tor_cable_stranger(&ctx, &b, 1, 0x1234);
	assert_int_equal(b.cable[1].state, TOR_CABLE_ABSENT);
	tor_cable_open(&ctx, &b, 1, 1500);
	tor_cable_stranger(&ctx, &b, 1, 0x1234);
	assert_int_equal(b.cable[1].state, TOR_CABLE_FABRIC);
	assert_int_equal(b.cable[1].peer_tag, 0x1234);
	ctx.now += 4 * b.hello_ns;
	b.ticked = ctx.now - 1;
	tor_link_tick(&ctx, &b);
	assert_int_equal(b.cable[1].state, TOR_CABLE_WAITING);
	assert_int_equal(b.cable[1].peer_tag, 0);
	/* with both on a hub, another version counts, until it is silent */
	tor_cable_stranger(&ctx, &b, 1, 0x1234);
	tor_cable_foreign(&ctx, &b, 1, 7);
	tor_cable_stranger(&ctx, &b, 1, 0x1234);
	assert_int_equal(b.cable[1].state, TOR_CABLE_VERSION);
	ctx.now += 4 * b.hello_ns;
	b.ticked = ctx.now - 1;
	tor_link_tick(&ctx, &b);
	assert_int_equal(b.cable[1].state, TOR_CABLE_WAITING);
	/* with both on a hub, the neighbour counts */
	tor_cable_stranger(&ctx, &b, 1, 0x1234);
	tor_cable_open(&ctx, &a, 0, 1500);
	deliver(last_sent(), &b, 1);
	assert_int_equal(b.cable[1].state, TOR_CABLE_ONE_WAY);
	assert_int_equal(b.cable[1].peer_tag, 0);
	tor_cable_stranger(&ctx, &b, 1, 0x1234);
	assert_int_equal(b.cable[1].state, TOR_CABLE_ONE_WAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINK_TEST(tor_cable_hello__up_after_a_round_trip),
		LINK_TEST(tor_cable_hello__byte_order),
		LINK_TEST(tor_cable_hello__checksum),
		LINK_TEST(tor_cable_hello__more_is_kept),
		LINK_TEST(tor_cable_hello__other_cables),
		LINK_TEST(tor_cable_stranger__until_silence_or_one_of_ours),
		LINK_TEST(tor_link_tick__silence_takes_it_down),
		LINK_TEST(tor_link_tick__lost_time_is_nobodys_silence),
		LINK_TEST(tor_cable_tick__neighbour_says_hello_rarely),
		LINK_TEST(tor_cable_hello__interval_has_a_bound),
		LINK_TEST(tor_cable_alive__as_good_as_a_hello),
		LINK_TEST(tor_cable_alive__only_what_is_up),
		LINK_TEST(tor_link_tick__comes_back),
		LINK_TEST(tor_cable_close__carrier_counts_at_once),
		LINK_TEST(tor_cable_hello__miswired),
		LINK_TEST(tor_cable_hello__another_shape),
		LINK_TEST(tor_cable_hello__restarted_neighbour),
		LINK_TEST(tor_cable_open__both_at_once),
		LINK_TEST(tor_cable_hello__three_on_a_wire_are_answered_seldom),
		LINK_TEST(tor_hello_spread_news__time_goes_back),
		LINK_TEST(tor_cable_hello__who_flaps_is_held_down),
		LINK_TEST(tor_cable_hello__all_is_told_seldom),
		LINK_TEST(tor_cable_foreign__another_version),
		LINK_TEST(tor_cable_state_name__all),
		LINK_TEST(tor_node_init__refuses_what_is_outside),
		LINK_TEST(tor_node_init__tags_differ_by_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
