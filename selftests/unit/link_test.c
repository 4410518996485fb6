// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Links: two nodes that say hello to each other, rightly wired and otherwise. */
#include "host_env.h"

#include "core/link/hello.h"
#include "core/link/link.h"
#include "core/link/node.h"

static struct tor_ctx ctx;

/* What nodes hold of memory: they come and go on the stack. */
static struct tor_node nodes[64];
static u32 nnodes;

/* Every frame is its sender's, so that tests can pass them on. */
static void node_up(struct tor_node *node, u32 ndim, const u32 *side, u64 key, u32 self)
{
	struct tor_torus t;

	memset(node, 0, sizeof(*node));
	assert_int_equal(tor_torus_init(&t, ndim, side, 1), 0);
	assert_int_equal(tor_node_init(node, &t, key, self), 0);
	nodes[nnodes++] = *node;
}

/* Hand the last frame that was sent to @to at @port, as a receiver would. */
static void deliver(const struct host_frame *f, struct tor_node *to, u32 port)
{
	enum tor_counter why;
	struct tor_hello hello;
	struct tor_hdr h;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	assert_int_equal(h.type, TORCOLL_FRAME_HELLO);
	assert_int_equal(h.hop_limit, 1);
	assert_int_equal(tor_wire_crc(f->bytes + 64, h.length), h.payload_crc);
	assert_int_equal(tor_wire_get_hello(f->bytes + 64, h.length, &hello), 0);
	tor_cable_hello(&ctx, to, port, &h, &hello);
}

static struct host_frame *last_sent(void)
{
	assert_true(host.nsent > 0);
	return &host.sent[host.nsent - 1];
}

static int setup(void **state)
{
	host_reset();
	ctx.now = NSEC_PER_SEC;
	return 0;
}

static int teardown(void **state)
{
	while (nnodes)
		tor_node_destroy(&nodes[--nnodes]);
	host_check_idle();
	host_forget_sent();
	return 0;
}

static const u32 ring[] = { 4 };

/* Nodes 0 and 1 of a ring of 4, up. */
static void pair_up(struct tor_node *a, struct tor_node *b)
{
	host_forget_sent();
	node_up(a, 1, ring, 1, 0);
	node_up(b, 1, ring, 1, 1);
	tor_cable_open(&ctx, a, 0, 1500);
	tor_cable_open(&ctx, b, 1, 9000);
	deliver(&host.sent[0], b, 1);
	assert_int_equal(b->cable[1].state, TOR_CABLE_ONE_WAY);
	/* the answer comes at once, and so does the answer to it */
	deliver(last_sent(), a, 0);
	assert_int_equal(a->cable[0].state, TOR_CABLE_UP);
	deliver(last_sent(), b, 1);
	assert_int_equal(b->cable[1].state, TOR_CABLE_UP);
}

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

#define LINK_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

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
		LINK_TEST(tor_cable_hello__up_after_a_round_trip),
		LINK_TEST(tor_cable_hello__byte_order),
		LINK_TEST(tor_cable_hello__checksum),
		LINK_TEST(tor_cable_hello__more_is_kept),
		LINK_TEST(tor_cable_hello__other_cables),
		LINK_TEST(tor_cable_stranger__until_silence_or_one_of_ours),
		LINK_TEST(tor_link_tick__silence_takes_it_down),
		LINK_TEST(tor_link_tick__lost_time_is_nobodys_silence),
		LINK_TEST(tor_cable_alive__as_good_as_a_hello),
		LINK_TEST(tor_cable_alive__only_what_is_up),
		LINK_TEST(tor_link_tick__comes_back),
		LINK_TEST(tor_cable_close__carrier_counts_at_once),
		LINK_TEST(tor_cable_hello__miswired),
		LINK_TEST(tor_cable_hello__another_shape),
		LINK_TEST(tor_cable_hello__restarted_neighbour),
		LINK_TEST(tor_cable_open__both_at_once),
		LINK_TEST(tor_cable_hello__three_on_a_wire_are_answered_seldom),
		LINK_TEST(tor_cable_hello__who_flaps_is_held_down),
		LINK_TEST(tor_cable_hello__all_is_told_seldom),
		LINK_TEST(tor_cable_foreign__another_version),
		LINK_TEST(tor_cable_state_name__all),
		LINK_TEST(tor_cable_close__a_link_lives_by_any_cable),
		LINK_TEST(tor_link_tick__awaited_links_are_told_in_time),
		LINK_TEST(tor_link_tick__one_silent_cable),
		LINK_TEST(tor_cable_open__a_link_takes_what_all_take),
		LINK_TEST(tor_link_too_small__is_not_for_ever),
		LINK_TEST(tor_cable_close__forgets_what_it_took),
		LINK_TEST(tor_cable_hello__forgets_another_version),
		LINK_TEST(tor_hello_spread_news__as_often_as_promised),
		LINK_TEST(tor_cable_hello__a_cable_of_another_link),
		LINK_TEST(tor_node_init__refuses_what_is_outside),
		LINK_TEST(tor_node_init__tags_differ_by_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
