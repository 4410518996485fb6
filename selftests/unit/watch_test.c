// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What a comm makes of links and nodes that go. */
#include "host_env.h"

#include "core/link/node.h"

static struct tor_node node;
static struct tor_comm comm;
static struct tor_ctx ctx;
static u32 epoch[16], away[1];
static u32 steps;			/* of an entry, if not as many as there are */

#define HOST_EPOCH(i)	(100 + (i))

static void learn(u32 i, u32 life, u16 dead)
{
	struct tor_record r = {
		.node = i,
		.epoch = life,
		.seq = node.view.entry[i].seq + 1,
		.dead = dead,
	};

	assert_int_equal(tor_view_learn(&node.view, &r), TOR_VIEW_NEW);
}

/* A whole pass. */
static u64 pass(const struct tor_routes *routes)
{
	struct tor_watch pass = {};

	while (!tor_comm_watch(&ctx, &comm, routes, &pass))
		assert_true(pass.rank && pass.rank % tor_env_budget().steps == 0);
	return pass.when;
}

static u64 watch(void)
{
	struct tor_routes *routes;
	u16 dead[16];
	u64 when;

	tor_view_copy_dead(&node.view, dead, 0, 16);
	routes = tor_routes_build(&node.torus, node.self, dead);
	when = pass(routes);
	tor_env_table_free(routes);
	return when;
}

/* Node 0 of 4x4, all of its links up, in a comm of all nodes. */
static int setup(void **state)
{
	static const u32 side[] = { 4, 4 };
	struct tor_torus t;
	u32 i;

	host_reset();
	host.budget = (struct tor_budget){ 1, 1, steps ?: TOR_BUDGET.steps };
	ctx.now = NSEC_PER_SEC;
	memset(&node, 0, sizeof(node));
	memset(&comm, 0, sizeof(comm));
	assert_int_equal(tor_torus_init(&t, 2, side, 1), 0);
	assert_int_equal(tor_node_init(&node, &t, 1, 0), 0);
	tor_view_say(&node.view, 0, node.epoch, 0, 1500);
	node.live = 0xf;
	for (i = 1; i < 16; i++)
		learn(i, HOST_EPOCH(i), 0);
	for (i = 0; i < 16; i++)
		epoch[i] = i ? HOST_EPOCH(i) : node.epoch;
	comm.node = &node;
	comm.ranks = 16;
	comm.joined = true;
	comm.epoch = epoch;
	memset(away, 0, sizeof(away));
	comm.away = away;
	comm.error_rank = TOR_NO_RANK;
	tor_comm_note_births(&comm);
	assert_int_equal(watch(), 0);
	return 0;
}

static int teardown(void **state)
{
	tor_node_destroy(&node);
	host_check_idle();
	return 0;
}

/* All neighbours of node 5 say that their link to it is dead. */
static void lose_node_5(void)
{
	learn(6, HOST_EPOCH(6), 1 << 1);
	learn(4, HOST_EPOCH(4), 1 << 0);
	learn(9, HOST_EPOCH(9), 1 << 3);
	assert_int_equal(watch(), 0);
	learn(1, HOST_EPOCH(1), 1 << 2);
}

static void tor_comm_watch__node_lost_by_all(void **state)
{
	u64 when;

	lose_node_5();
	when = watch();
	assert_true(when > ctx.now && when <= ctx.now + TOR_WATCH_GRACE);
	assert_false(atomic_read(&comm.failed));
	ctx.now = when;
	assert_int_equal(watch(), 0);
	assert_int_equal(comm.error, -EHOSTDOWN);
	assert_int_equal(comm.error_rank, 5);
	assert_int_equal(comm.error_node, 5);
	assert_int_equal(host.comms_failed, 1);
	watch();
	assert_int_equal(host.comms_failed, 1);
}

static void tor_comm_watch__back_in_time(void **state)
{
	lose_node_5();
	ctx.now = watch() - 1;
	learn(9, HOST_EPOCH(9), 0);
	assert_int_equal(watch(), 0);
	/* and lost again: it counts from now */
	learn(9, HOST_EPOCH(9), 1 << 3);
	assert_true(watch() > ctx.now + 100 * NSEC_PER_MSEC);
	assert_false(atomic_read(&comm.failed));
}

/* The routes at hand are older than what is known: nobody is said to be lost by them, but who restarted is. */
static void tor_comm_watch__no_routes_yet(void **state)
{
	(void)state;
	lose_node_5();
	ctx.now = watch() + 10 * NSEC_PER_SEC;
	learn(9, HOST_EPOCH(9), 0);
	assert_int_equal(pass(NULL), 0);
	assert_false(atomic_read(&comm.failed));
	learn(3, 7, 0);
	/* whether node 5 is back is not known */
	assert_int_equal(pass(NULL), 0);
	assert_int_equal(watch(), ctx.now);
	ctx.now = pass(NULL);
	pass(NULL);
	assert_int_equal(comm.error, -EHOSTDOWN);
	assert_int_equal(comm.error_rank, 3);
}

static void tor_comm_watch__partition(void **state)
{
	u32 i;

	/* rows 0 and 1 from rows 2 and 3 */
	for (i = 4; i < 8; i++)
		learn(i, HOST_EPOCH(i), 1 << 2);
	for (i = 1; i < 4; i++)
		learn(i, HOST_EPOCH(i), 1 << 3);
	assert_int_equal(watch(), 0);
	tor_view_say(&node.view, 0, node.epoch, 1 << 3, 1500);
	ctx.now = watch();
	assert_int_equal(watch(), 0);
	assert_int_equal(comm.error, -EHOSTUNREACH);
	assert_int_equal(comm.error_rank, 8);
}

/* Whoever still creates the comm waits for its own deadline, and counts from when it is done. */
static void tor_comm_watch__being_created(void **state)
{
	comm.joined = false;
	lose_node_5();
	assert_int_equal(watch(), 0);
	ctx.now += 10 * NSEC_PER_SEC;
	assert_int_equal(watch(), 0);
	assert_false(atomic_read(&comm.failed));
	comm.joined = true;
	assert_int_equal(watch(), ctx.now + tor_watch_grace(&node));
}

static void tor_comm_watch__alone(void **state)
{
	tor_view_say(&node.view, 0, node.epoch, 0xf, 0);
	node.live = 0;
	ctx.now = watch();
	watch();
	/* not that all others are down */
	assert_int_equal(comm.error, -EHOSTUNREACH);
	assert_int_equal(comm.error_rank, 1);
}

static void tor_comm_watch__restarted(void **state)
{
	u64 when;

	learn(7, 777, 0xf);
	when = watch();
	assert_true(when > ctx.now && when <= ctx.now + TOR_WATCH_GRACE);
	assert_false(atomic_read(&comm.failed));
	ctx.now = when;
	assert_int_equal(watch(), 0);
	assert_int_equal(comm.error, -EHOSTDOWN);
	assert_int_equal(comm.error_rank, 7);
}

/* While the ranks agreed, which nobody noticed: it has accepted the comm, and is not the one that did. */
static void tor_comm_watch__restarted_before_it_was_watched(void **state)
{
	tor_comm_note_births(&comm);
	learn(7, 777, 0);
	ctx.now = watch();
	watch();
	assert_int_equal(comm.error, -EHOSTDOWN);
	assert_int_equal(comm.error_rank, 7);
}

/* Nodes that a neighbour has made up, or that restart for ever, hide nobody's restart, however many these were. */
static void tor_comm_watch__restarted_after_very_many(void **state)
{
	node.view.births += 0x80000000;
	learn(7, 777, 0);
	ctx.now = watch();
	watch();
	assert_int_equal(comm.error, -EHOSTDOWN);
	assert_int_equal(comm.error_rank, 7);
}

/* A record of a node's former life came late, and the node said so. */
static void tor_comm_watch__former_life(void **state)
{
	learn(7, 777, 0);
	ctx.now = watch() - 1;
	learn(7, HOST_EPOCH(7), 0);
	assert_int_equal(watch(), 0);
	ctx.now += 10 * NSEC_PER_SEC;
	assert_int_equal(watch(), 0);
	assert_false(atomic_read(&comm.failed));
}

/* All four links of node 10 are dead. */
static void lose_node_10(void)
{
	learn(6, HOST_EPOCH(6), 1 << 2);
	learn(9, HOST_EPOCH(9), 1 << 0);
	learn(11, HOST_EPOCH(11), 1 << 1);
	learn(14, HOST_EPOCH(14), 1 << 3);
}

/* The grace of one rank is not spent by another that is back. */
static void tor_comm_watch__another_is_lost_meanwhile(void **state)
{
	u64 first;

	lose_node_5();
	first = watch();
	ctx.now = first - 1;
	learn(9, HOST_EPOCH(9), 0);
	lose_node_10();
	assert_int_equal(watch(), ctx.now);
	assert_int_equal(watch(), ctx.now + tor_watch_grace(&node));
	ctx.now = first;
	watch();
	assert_false(atomic_read(&comm.failed));
	ctx.now = first - 1 + tor_watch_grace(&node);
	watch();
	assert_int_equal(comm.error, -EHOSTDOWN);
	assert_int_equal(comm.error_rank, 10);
}

/* Nor does one that comes and goes keep the others waiting for one that is dead. */
static void tor_comm_watch__dead_behind_one_that_flaps(void **state)
{
	u64 until;

	lose_node_5();
	lose_node_10();
	until = watch();
	ctx.now += tor_watch_grace(&node) / 2;
	learn(9, HOST_EPOCH(9), 1 << 0);
	assert_int_equal(watch(), until);
	learn(9, HOST_EPOCH(9), 1 << 0 | 1 << 3);
	assert_int_equal(watch(), until);
	ctx.now = until;
	watch();
	assert_int_equal(comm.error_rank, 10);
}

/* A view that lags behind the comm's creation is not about a restart. */
static void tor_comm_watch__view_lags_behind(void **state)
{
	epoch[7] = 777;
	assert_int_equal(watch(), 0);
	assert_false(atomic_read(&comm.failed));
	learn(7, 777, 0);
	assert_int_equal(watch(), 0);
	assert_false(atomic_read(&comm.failed));
	learn(7, 778, 0);
	ctx.now = watch();
	watch();
	assert_int_equal(comm.error, -EHOSTDOWN);
}

static void tor_comm_watch__who_is_no_member_does_not_matter(void **state)
{
	static const u32 member[] = { 0, 1, 10 };

	comm.member = member;
	comm.ranks = 3;
	tor_comm_note_births(&comm);
	epoch[1] = HOST_EPOCH(1);
	epoch[2] = HOST_EPOCH(10);
	assert_int_equal(watch(), 0);
	lose_node_5();
	learn(7, 777, 0xf);
	assert_int_equal(watch(), 0);
	assert_false(atomic_read(&comm.failed));
}

#define WATCH_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(tor_comm_watch__node_lost_by_all),
		WATCH_TEST(tor_comm_watch__back_in_time),
		WATCH_TEST(tor_comm_watch__no_routes_yet),
		WATCH_TEST(tor_comm_watch__partition),
		WATCH_TEST(tor_comm_watch__being_created),
		WATCH_TEST(tor_comm_watch__alone),
		WATCH_TEST(tor_comm_watch__restarted),
		WATCH_TEST(tor_comm_watch__restarted_before_it_was_watched),
		WATCH_TEST(tor_comm_watch__restarted_after_very_many),
		WATCH_TEST(tor_comm_watch__former_life),
		WATCH_TEST(tor_comm_watch__another_is_lost_meanwhile),
		WATCH_TEST(tor_comm_watch__dead_behind_one_that_flaps),
		WATCH_TEST(tor_comm_watch__view_lags_behind),
		WATCH_TEST(tor_comm_watch__who_is_no_member_does_not_matter),
	};

	int failed = cmocka_run_group_tests_name("all ranks at once", tests, NULL, NULL);

	steps = 1;
	return failed + cmocka_run_group_tests_name("rank by rank", tests, NULL, NULL);
}
