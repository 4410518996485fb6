// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Views: whole fabrics that say hello over cables that are cut, mended and lossy. Once nothing changes any more, all
 * who can reach each other know the same.
 */
#include "host_env.h"

#include "core/engine/engine.h"
#include "core/link/hello.h"
#include "core/link/link.h"
#include "core/link/node.h"

#define NODES_MAX	32

static struct tor_ctx ctx;
static struct tor_torus t;
static struct tor_node node[NODES_MAX];
static u16 broken[NODES_MAX];		/* ports that nothing leaves by */
static u32 loss;			/* one hello in so many is lost, 0: none */
static u32 delivered;
static u64 seed;

static void node_start(u32 i)
{
	u32 port;

	tor_node_destroy(&node[i]);
	memset(&node[i], 0, sizeof(node[i]));
	assert_int_equal(tor_node_init(&node[i], &t, 1, i), 0);
	for (port = 0; port < t.ports; port++)
		if (tor_torus_has_port(&t, i, port))
			tor_cable_open(&ctx, &node[i], port, 1500);
}

static void fabric_start(u32 ndim, const u32 *side, u32 cables)
{
	u32 i;

	assert_int_equal(tor_torus_init(&t, ndim, side, cables), 0);
	memset(broken, 0, sizeof(broken));
	for (i = 0; i < t.nodes; i++)
		node_start(i);
}

static void deliver(const struct host_frame *f)
{
	struct tor_hello hello;
	enum tor_counter why;
	struct tor_hdr h;
	u32 peer;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	assert_true(f->len <= 1500);
	if (broken[h.src] >> f->port & 1 || (loss && !(host_rand(&seed) % loss)))
		return;
	peer = tor_torus_neighbour(&t, h.src, f->port);
	assert_int_equal(tor_wire_get_hello(f->bytes + 64, h.length, &hello), 0);
	tor_cable_hello(&ctx, &node[peer], tor_torus_peer_port(&t, f->port), &h, &hello);
}

/* Until nothing is under way. */
static void settle(void)
{
	while (delivered < host.nsent) {
		struct host_frame f = host.sent[delivered++];

		deliver(&f);
	}
	host_forget_sent();
	delivered = 0;
}

static void run(u64 ns)
{
	u64 end = ctx.now + ns;
	u32 i;

	settle();
	while (ctx.now < end) {
		ctx.now += tor_link_tick_ns(&node[0]);
		for (i = 0; i < t.nodes; i++)
			tor_link_tick(&ctx, &node[i]);
		settle();
	}
}

static bool is_up(u32 i, u32 port)
{
	u32 peer = tor_torus_neighbour(&t, i, port);

	return tor_torus_has_port(&t, i, port) &&
	       !((broken[i] >> port | broken[peer] >> tor_torus_peer_port(&t, port)) & 1);
}

/* The nodes that node @i can reach. */
static u32 reach(u32 i, bool *in)
{
	u32 queue[NODES_MAX], head = 0, tail = 0, port;

	memset(in, 0, NODES_MAX * sizeof(*in));
	in[i] = true;
	queue[tail++] = i;
	for (; head < tail; head++) {
		for (port = 0; port < t.ports; port++) {
			u32 peer = tor_torus_neighbour(&t, queue[head], port);

			if (!is_up(queue[head], port) || in[peer])
				continue;
			in[peer] = true;
			queue[tail++] = peer;
		}
	}
	return tail;
}

/* What everyone should know now, everyone knows. */
static void check_views(void)
{
	struct tor_routes *routes;
	u16 dead[NODES_MAX];
	bool in[NODES_MAX];
	u32 i, k, n;

	for (i = 0; i < t.nodes; i++) {
		n = reach(i, in);
		tor_view_copy_dead(&node[i].view, dead, 0, t.nodes);
		routes = tor_routes_build(&t, i, dead);
		assert_int_equal(routes->reached, n);
		for (k = 0; k < t.nodes; k++) {
			assert_int_equal(tor_routes_reach(routes, k), in[k]);
			if (!in[k])
				continue;
			assert_int_equal(node[i].view.entry[k].dead, tor_link_dead(&node[k]));
			assert_int_equal(node[i].view.entry[k].epoch, node[k].epoch);
		}
		tor_env_table_free(routes);
	}
}

static int setup(void **state)
{
	host_reset();
	ctx.now = NSEC_PER_SEC;
	delivered = 0;
	loss = 0;
	seed = 7;
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	for (i = 0; i < NODES_MAX; i++)
		tor_node_destroy(&node[i]);
	host_check_idle();
	host_forget_sent();
	return 0;
}

static const u32 square[] = { 4, 4 };

static void tor_view_learn__all_agree_at_once(void **state)
{
	u32 i;

	fabric_start(2, square, 1);
	/* no time passes: links come up and news spread by answers alone */
	settle();
	for (i = 0; i < t.nodes; i++)
		assert_int_equal(node[i].live, 0xf);
	run(NSEC_PER_SEC);
	check_views();
	for (i = 0; i < t.nodes; i++)
		assert_int_equal(node[i].view.dead, 0);
}

static void tor_view_learn__carrier_loss_is_known_at_once(void **state)
{
	u32 i;

	fabric_start(2, square, 1);
	run(2 * NSEC_PER_SEC);
	broken[5] |= 1;
	tor_cable_close(&ctx, &node[5], 0, false);
	settle();
	for (i = 0; i < t.nodes; i++) {
		assert_int_equal(node[i].view.entry[5].dead, 1);
		/* and the other end hears that it is not heard */
		assert_int_equal(node[i].view.digest, node[0].view.digest);
	}
	assert_int_equal(node[6].cable[1].state, TOR_CABLE_UP);
	run(NSEC_PER_SEC);
	assert_int_equal(node[6].cable[1].state, TOR_CABLE_WAITING);
	check_views();
	/* it comes back */
	broken[5] = 0;
	tor_cable_open(&ctx, &node[5], 0, 1500);
	run(NSEC_PER_SEC);
	check_views();
	assert_int_equal(node[12].view.dead, 0);
}

static void tor_link_tick__silence_is_known_within_bounds(void **state)
{
	u64 start;
	u32 i;

	fabric_start(2, square, 1);
	run(2 * NSEC_PER_SEC);
	start = ctx.now;
	broken[5] |= 1;
	while (!(node[10].view.entry[6].dead & 2))
		run(1);
	assert_true(ctx.now - start <= (TOR_HELLO_MISSES + 1) * node[0].hello_ns);
	run(node[0].hello_ns);
	for (i = 0; i < t.nodes; i++)
		assert_int_equal(node[i].view.entry[5].dead, 1);
	check_views();
}

/* A line's end misses that a link behind its neighbour is up again, and has nobody else to hear it from. */
static void tor_view_contradict__older_is_answered(void **state)
{
	static const u32 line[] = { TORCOLL_SIDE(3, TORCOLL_KIND_LINE) };
	u32 i, ticks;

	fabric_start(1, line, 1);
	run(3 * NSEC_PER_SEC);
	broken[1] |= 1;
	broken[2] |= 2;
	run(2 * NSEC_PER_SEC);
	assert_int_not_equal(node[0].view.entry[1].dead, 0);
	/* hellos to the end are lost, and other frames are not */
	broken[1] = 2;
	broken[2] = 0;
	for (ticks = 0; ticks < 40; ticks++) {
		ctx.now += tor_link_tick_ns(&node[0]);
		tor_cable_alive(&node[0], 0);
		for (i = 0; i < t.nodes; i++)
			tor_link_tick(&ctx, &node[i]);
		settle();
	}
	assert_int_equal(node[1].view.entry[1].dead, 0);
	assert_int_not_equal(node[0].view.entry[1].dead, 0);
	broken[1] = 0;
	run(5 * NSEC_PER_SEC);
	assert_int_equal(node[0].view.entry[1].dead, 0);
	assert_int_equal(node[0].cable[0].downs, 0);
}

static void tor_view_contradict__restarted_node_is_believed(void **state)
{
	u32 before, i;

	fabric_start(2, square, 1);
	run(2 * NSEC_PER_SEC);
	for (i = 0; i < 5; i++) {
		tor_cable_close(&ctx, &node[5], 0, false);
		tor_cable_open(&ctx, &node[5], 0, 1500);
		run(NSEC_PER_SEC);
	}
	before = node[5].epoch;
	assert_true(node[5].view.entry[5].seq > 5);
	/* so quickly that no link is missed */
	node_start(5);
	assert_int_not_equal(node[5].epoch, before);
	run(NSEC_PER_SEC);
	check_views();
	assert_int_equal(node[15].view.dead, 0);
}

static void tor_view_learn__any_cuts_and_restarts(void **state)
{
	static const struct {
		u32 ndim, side[3], cables;
	} shapes[] = {
		{ 1, { 2 }, 2 }, { 1, { 5 }, 1 }, { 2, { 4, 4 }, 1 }, { 2, { 2, 5 }, 2 },
		{ 3, { 2, 3, 4 }, 1 }, { 1, { TORCOLL_SIDE(4, TORCOLL_KIND_LINE) }, 1 },
		{ 2, { TORCOLL_SIDE(4, TORCOLL_KIND_MESH), 3 }, 1 },
		{ 2, { 13, TORCOLL_SIDE(5, TORCOLL_KIND_CHORD) }, 1 },
	};
	u32 round, i, k, port;

	for (round = 0; round < 10 * ARRAY_SIZE(shapes); round++) {
		i = round % ARRAY_SIZE(shapes);
		loss = round & 1 ? 20 : 0;
		fabric_start(shapes[i].ndim, shapes[i].side, shapes[i].cables);
		run(NSEC_PER_SEC);
		for (k = 0; k < 12; k++) {
			i = host_rand(&seed) % t.nodes;
			port = host_rand(&seed) % t.ports;
			if (!tor_torus_has_port(&t, i, port))
				continue;
			switch (host_rand(&seed) % 4) {
			case 0:
				node_start(i);
				break;
			case 1:
				tor_cable_close(&ctx, &node[i], port, false);
				tor_cable_open(&ctx, &node[i], port, 1500);
				break;
			default:
				broken[i] ^= 1U << port;
			}
			run(host_rand(&seed) % NSEC_PER_SEC);
		}
		loss = 0;
		run(5 * NSEC_PER_SEC);
		check_views();
	}
}

/* Without news, a fabric without faults says nothing of links; news end. */
static void tor_view_pick__silence_in_a_sound_fabric(void **state)
{
	u32 i;

	fabric_start(2, square, 1);
	run(4 * NSEC_PER_SEC);
	for (i = 0; i < t.nodes; i++) {
		tor_link_tick(&ctx, &node[i]);
		assert_true(list_empty(&node[i].view.news));
		assert_true(list_empty(&node[i].view.tell));
	}
	settle();
}

static void tor_view_pick__more_than_fit_are_told_in_turn(void **state)
{
	struct tor_view view;
	struct tor_record r[8];
	u32 told[100] = {};
	u32 i, k, n;

	assert_int_equal(tor_view_init(&view, 100), 0);
	for (i = 0; i < 100; i++) {
		struct tor_record one = { .node = i, .epoch = 1, .seq = 1, .dead = i % 2 };

		assert_int_equal(tor_view_learn(&view, &one), TOR_VIEW_NEW);
		assert_int_equal(tor_view_learn(&view, &one), TOR_VIEW_KNOWN);
	}
	assert_int_equal(view.dead, 50);
	/* the last news first */
	assert_int_equal(tor_view_pick(&view, r, 8, TOR_VIEW_ANSWER), 8);
	assert_int_equal(r[0].node, 99);
	for (k = 0; k < 13 * 10; k++) {
		n = tor_view_pick(&view, r, 8, TOR_VIEW_REGULAR);
		for (i = 0; i < n; i++)
			told[r[i].node]++;
	}
	for (i = 0; i < 100; i++) {
		if (i % 2)
			assert_true(told[i] > TOR_VIEW_TELL);
		else
			assert_int_equal(told[i], TOR_VIEW_TELL);
	}
	tor_view_destroy(&view);
}

/* Immediate hellos carry all news, the latest first, and repeat it while there is room. */
static void tor_view_pick__news_that_does_not_fit_comes_next(void **state)
{
	static const u32 told[4][4] = { { 9, 8, 7, 6 }, { 5, 4, 3, 2 }, { 1, 0, 5, 4 }, { 1, 0, 5, 4 } };
	struct tor_record r[4], one = { .epoch = 1, .seq = 1, .frame = 9000 };
	struct tor_view view;
	u32 i, k;

	(void)state;
	assert_int_equal(tor_view_init(&view, 10), 0);
	for (one.node = 0; one.node < 10; one.node++)
		tor_view_learn(&view, &one);
	/* an answer to one neighbour leaves the news to the others */
	assert_int_equal(tor_view_pick(&view, r, 4, TOR_VIEW_ANSWER), 4);
	for (k = 0; k < 4; k++) {
		assert_int_equal(!list_empty(&view.news), k < 3);
		assert_int_equal(tor_view_pick(&view, r, 4, TOR_VIEW_NEWS), 4);
		for (i = 0; i < 4; i++)
			assert_int_equal(r[i].node, told[k][i]);
	}
	/* none of these was a turn */
	for (i = 0; i < 10 * TOR_VIEW_TELL / 4; i++)
		assert_int_equal(tor_view_pick(&view, r, 4, TOR_VIEW_REGULAR), 4);
	assert_int_equal(tor_view_pick(&view, r, 4, TOR_VIEW_REGULAR), 0);
	tor_view_destroy(&view);
}

/* A new neighbour hears first of what its routes depend on. */
static void tor_view_tell_all__dead_links_first(void **state)
{
	struct tor_record r, one = { .epoch = 1, .seq = 1 };
	struct tor_view view;
	u32 i;

	(void)state;
	assert_int_equal(tor_view_init(&view, 10), 0);
	for (one.node = 0; one.node < 10; one.node++) {
		one.dead = one.node == 7;
		tor_view_learn(&view, &one);
	}
	for (i = 0; i < 10; i++)
		assert_int_equal(tor_view_pick(&view, &r, 1, TOR_VIEW_REGULAR), 1);
	tor_view_tell_all(&view);
	assert_int_equal(tor_view_pick(&view, &r, 1, TOR_VIEW_NEWS), 1);
	assert_int_equal(r.node, 7);
	assert_true(list_empty(&view.news));
	tor_view_destroy(&view);
}

/* Routes are searched for what concerns them. */
static void tor_view_learn__changes_of_links_are_counted(void **state)
{
	struct tor_record one = { .epoch = 1, .seq = 1, .frame = 9000 };
	struct tor_view view;

	(void)state;
	assert_int_equal(tor_view_init(&view, 2), 0);
	tor_view_learn(&view, &one);
	assert_int_equal(view.changes, 0);
	one.seq++;
	one.dead = 2;
	tor_view_learn(&view, &one);
	one.seq++;
	one.dead = 0;
	tor_view_learn(&view, &one);
	assert_int_equal(view.changes, 2);
	assert_int_equal(view.downs, 1);
	tor_view_destroy(&view);
}

/* What a new neighbour is told, and the smallest frame, are looked for in portions of many nodes. */
static void tor_view_tell_all__in_portions(void **state)
{
	struct tor_record r, one = { .epoch = 1, .seq = 1, .frame = 9000 };
	struct tor_view view;
	u32 i, k, told = 0;

	(void)state;
	host.budget = (struct tor_budget){ 1, 1, 1 };
	assert_int_equal(tor_view_init(&view, 100), 0);
	for (i = 0; i < 100; i++) {
		one.node = i;
		one.frame = i == 50 ? 1500 : 9000;
		tor_view_learn(&view, &one);
	}
	while (tor_view_pick(&view, &r, 1, TOR_VIEW_REGULAR))
		;
	tor_view_tell_all(&view);
	for (i = 0; i < 100; i++) {
		/* one each time; another neighbour comes in the middle of it, and is told of all as well */
		assert_int_equal(view.untold, i < 30 ? 99 - i : 128 - i);
		if (i == 29)
			tor_view_tell_all(&view);
		told += tor_view_pick(&view, &r, 1, TOR_VIEW_REGULAR);
	}
	for (k = 0; k < 1000 && tor_view_pick(&view, &r, 1, TOR_VIEW_REGULAR); k++)
		told++;
	assert_in_range(told, 100 * TOR_VIEW_TELL, 130 * TOR_VIEW_TELL);
	one.node = 50;
	one.seq++;
	one.frame = 9000;
	tor_view_learn(&view, &one);
	for (i = 0; i < 99; i++)
		assert_int_equal(tor_view_frame(&view), 1500);
	/* what was looked at has changed: from the beginning */
	one.node = 3;
	one.frame = 4000;
	tor_view_learn(&view, &one);
	for (i = 0; i < 99; i++)
		assert_int_equal(tor_view_frame(&view), 1500);
	assert_int_equal(tor_view_frame(&view), 4000);
	tor_view_destroy(&view);
}

static void tor_view_learn__older_is_answered(void **state)
{
	struct tor_record old = { .node = 3, .epoch = 9, .seq = ~0U, .dead = 1 };
	struct tor_record new = { .node = 3, .epoch = 9, .seq = 2, .dead = 2, .frame = 1500 };
	struct tor_record r[4];
	struct tor_view view;
	u32 i;

	assert_int_equal(tor_view_init(&view, 4), 0);
	assert_int_equal(tor_view_learn(&view, &old), TOR_VIEW_NEW);
	assert_int_equal(tor_view_frame(&view), U16_MAX);
	/* the number has come round */
	assert_int_equal(tor_view_learn(&view, &new), TOR_VIEW_NEW);
	assert_int_equal(tor_view_frame(&view), 1500);
	new.seq++;
	new.dead = 0;
	new.frame = 9000;
	assert_int_equal(tor_view_learn(&view, &new), TOR_VIEW_NEW);
	assert_int_equal(tor_view_frame(&view), 9000);
	for (i = 0; i < TOR_VIEW_TELL; i++)
		assert_int_equal(tor_view_pick(&view, r, 4, TOR_VIEW_REGULAR), 1);
	assert_int_equal(tor_view_pick(&view, r, 4, TOR_VIEW_REGULAR), 0);
	assert_int_equal(tor_view_learn(&view, &old), TOR_VIEW_STALE);
	assert_int_equal(tor_view_pick(&view, r, 4, TOR_VIEW_REGULAR), 1);
	assert_int_equal(r[0].seq, 3);
	tor_view_destroy(&view);
}

/* A neighbour says what it likes of nodes that are not there, and so cannot say otherwise. */
static void tor_view_frame_reached__absent_nodes_do_not_count(void **state)
{
	static const u32 side[] = { 6 };
	struct torcoll_link_record raw = {
		.node = cpu_to_be32(3), .epoch = cpu_to_be32(9), .seq = cpu_to_be32(1),
		.frame = cpu_to_be16(400),
	};
	struct tor_hello hello = { .ndim = 1, .hears = 1, .side = { 6 }, .frame_size = 1500,
				   .way = 1, .records = 1, .record = &raw };
	struct tor_routes *routes;
	struct tor_hdr h;
	u16 dead[6];

	(void)state;
	fabric_start(1, side, 1);
	/* nodes 2, 3 and 4 are not there */
	broken[2] = broken[3] = broken[4] = 3;
	broken[1] = 1;
	broken[5] = 2;
	run(2 * NSEC_PER_SEC);
	assert_int_equal(tor_view_frame(&node[0].view), 1500);
	tor_node_header(&node[1], &h, TORCOLL_FRAME_HELLO, ~0U);
	hello.heard_node = 0;
	hello.heard_epoch = node[0].epoch;
	/* less than any port takes: not even looked at */
	raw.frame = cpu_to_be16(1);
	tor_cable_hello(&ctx, &node[0], 0, &h, &hello);
	assert_int_equal(host.counters[TOR_C_DROP_RANGE], 1);
	assert_int_equal(tor_view_frame(&node[0].view), 1500);
	raw.frame = cpu_to_be16(400);
	tor_cable_hello(&ctx, &node[0], 0, &h, &hello);
	assert_int_equal(tor_view_frame(&node[0].view), 400);
	tor_view_copy_dead(&node[0].view, dead, 0, t.nodes);
	routes = tor_routes_build(&t, 0, dead);
	assert_int_equal(tor_view_frame_reached(&node[0].view, routes, 0, ~0U), 1500);
	/* it is there, and says so */
	assert_int_equal(tor_view_frame_reached(&node[0].view, routes, 6, 6), U16_MAX);
	tor_env_table_free(routes);
	routes = tor_routes_build(&t, 0, NULL);
	assert_int_equal(tor_view_frame_reached(&node[0].view, routes, 0, ~0U), 400);
	tor_env_table_free(routes);
}

/*
 * A fabric comes up node by node, and everyone has more to pass on than may be said in a row. Comms that begin then must
 * not fail for what was so before.
 */
static void tor_link_tick__news_do_not_wait_for_hellos(void **state)
{
	static const u32 ring[] = { 8 };
	u32 i;

	assert_int_equal(tor_torus_init(&t, 1, ring, 1), 0);
	memset(broken, 0, sizeof(broken));
	memset(node, 0, sizeof(node));
	for (i = 0; i < t.nodes; i++) {
		node_start(i);
		node[i].hello_ns = NSEC_PER_SEC;
		/* that the regular ones are all said now, and not at the first tick */
		node[i].said_at = ctx.now;
		settle();
	}
	for (i = 0; i < t.nodes; i++)
		assert_int_equal(node[i].live, 3);
	run(tor_watch_grace(&node[0]) - tor_link_tick_ns(&node[0]));
	for (i = 0; i < t.nodes; i++)
		assert_int_equal(node[i].view.dead, 0);
}

/* A link that flaps must not make the fabric talk of nothing else. */
static void tor_cable_hello__flapping_is_bounded(void **state)
{
	u32 i, k, sent = 0;

	fabric_start(2, square, 1);
	run(2 * NSEC_PER_SEC);
	for (i = 0; i < 1000; i++) {
		ctx.now += NSEC_PER_MSEC;
		tor_cable_close(&ctx, &node[5], 0, false);
		tor_cable_open(&ctx, &node[5], 0, 1500);
		while (delivered < host.nsent) {
			struct host_frame f = host.sent[delivered++];

			deliver(&f);
		}
		if (i % 50)
			continue;
		for (k = 0; k < t.nodes; k++)
			tor_link_tick(&ctx, &node[k]);
		sent += host.nsent;
		host_forget_sent();
		delivered = 0;
	}
	/* a second: 5 regular ones, and 5 times as many as are allowed at once, on 64 ports */
	assert_true(sent < 64 * 5 * (1 + TOR_FLOODS_PER_HELLO) + 64 * TOR_FLOODS + 2000);
	run(2 * NSEC_PER_SEC);
	check_views();
}

/* What a user is charged for. */
static void tor_view_bytes__all_that_is_allocated(void **state)
{
	struct tor_view view;

	assert_int_equal(tor_view_init(&view, 100), 0);
	assert_int_equal(host.table_bytes, tor_view_bytes(100));
	tor_view_destroy(&view);
}

#define VIEW_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VIEW_TEST(tor_view_learn__all_agree_at_once),
		VIEW_TEST(tor_view_learn__carrier_loss_is_known_at_once),
		VIEW_TEST(tor_link_tick__silence_is_known_within_bounds),
		VIEW_TEST(tor_view_contradict__older_is_answered),
		VIEW_TEST(tor_view_contradict__restarted_node_is_believed),
		VIEW_TEST(tor_view_learn__any_cuts_and_restarts),
		VIEW_TEST(tor_view_pick__silence_in_a_sound_fabric),
		VIEW_TEST(tor_view_pick__more_than_fit_are_told_in_turn),
		VIEW_TEST(tor_view_pick__news_that_does_not_fit_comes_next),
		VIEW_TEST(tor_view_tell_all__dead_links_first),
		VIEW_TEST(tor_view_learn__changes_of_links_are_counted),
		VIEW_TEST(tor_view_tell_all__in_portions),
		VIEW_TEST(tor_view_learn__older_is_answered),
		VIEW_TEST(tor_view_frame_reached__absent_nodes_do_not_count),
		VIEW_TEST(tor_link_tick__news_do_not_wait_for_hellos),
		VIEW_TEST(tor_cable_hello__flapping_is_bounded),
		VIEW_TEST(tor_view_bytes__all_that_is_allocated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
