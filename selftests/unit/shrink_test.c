// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Shrinking a comm: ranks that are dead, left, late, or die in the middle of it, chiefs above all. */
#include "shrink_members.h"

static void tor_shrink__nobody_died(void **state)
{
	call_everywhere();
	pass(NSEC_PER_SEC);
	assert_shrunk();
	/* what the one with the least offers */
	assert_int_equal(member[0].shrink.a.unit, 1344 - 64 * (NODES - 1));
}

static void tor_shrink__dead_nodes(void **state)
{
	u32 dead;

	for (dead = 0; dead < NODES; dead++) {
		setup(NULL);
		node_dies(dead);
		node_dies((dead + 2) % NODES);
		call_everywhere();
		pass(2 * (u64)NSEC_PER_SEC);
		assert_shrunk();
	}
}

static void tor_shrink__dead_processes_say_so_at_once(void **state)
{
	u32 dead;

	for (dead = 0; dead < NODES; dead++) {
		setup(NULL);
		process_dies(dead);
		process_dies((dead + 1) % NODES);
		call_everywhere();
		/* that is what LEFT is for: no timer has run */
		assert_shrunk();
	}
}

static void tor_shrink__alone(void **state)
{
	u32 i;

	for (i = 1; i < NODES; i++)
		process_dies(i);
	call_on(0);
	assert_shrunk();
	assert_int_equal(member[0].heir_ranks, 1);
}

static void tor_shrink__waits_for_the_living(void **state)
{
	u32 i;

	node_dies(5);
	for (i = 0; i < 4; i++)
		call_on(i);
	pass(10 * (u64)NSEC_PER_SEC);
	for (i = 0; i < 4; i++) {
		assert_true(member[i].calling);
		/* rank 4 is on node 4 */
		assert_int_equal(member[i].shrink.a.missing, 4);
	}
	call_on(4);
	pass(NSEC_PER_SEC);
	assert_shrunk();
}

static void tor_shrink__a_rank_gives_up_and_comes_back(void **state)
{
	call_on(2);
	call_on(0);
	call_on(1);
	tor_shrink_cancel(&ctx, &member[1].shrink, -ETIMEDOUT);
	call_on(3);
	call_on(4);
	call_on(5);
	pass(NSEC_PER_SEC);
	assert_false(member[0].shrunk || member[2].shrunk);
	assert_int_equal(member[2].shrink.a.missing, 3);
	call_on(1);
	pass(NSEC_PER_SEC);
	assert_shrunk();
}

static void tor_shrink__the_chief_gives_up_and_comes_back(void **state)
{
	u32 i;

	for (i = 0; i < NODES - 1; i++)
		call_on(i);
	tor_shrink_cancel(&ctx, &member[2].shrink, -ETIMEDOUT);
	call_on(5);
	pass(NSEC_PER_SEC);
	for (i = 0; i < NODES; i++)
		assert_false(member[i].shrunk);
	call_on(2);
	pass(NSEC_PER_SEC);
	assert_shrunk();
}

static void tor_shrink__out_of_reach_for_a_moment(void **state)
{
	u32 i;

	routes->ports[3] = 0;
	for (i = 0; i < NODES; i++)
		if (i != 3)
			call_on(i);
	pass(tor_watch_grace(&member[0].node) - 50 * NSEC_PER_MSEC);
	assert_false(member[0].shrunk);
	routes->ports[3] = 1;
	call_on(3);
	pass(NSEC_PER_SEC);
	assert_shrunk();
	assert_int_equal(member[0].heir_ranks, NODES);
}

static void tor_shrink__out_of_reach_for_too_long(void **state)
{
	u32 i;

	routes->ports[3] = 0;
	for (i = 0; i < NODES; i++)
		if (i != 3)
			call_on(i);
	pass(NSEC_PER_SEC);
	assert_true(member[0].shrunk);
	assert_int_equal(member[0].heir_ranks, NODES - 1);
	routes->ports[3] = 1;
	call_on(3);
	assert_false(member[3].shrunk);
	assert_int_equal(member[3].shrink.a.error, -EHOSTUNREACH);
}

/* @m hears that the epoch of @node is another. */
static void hear_of(struct member *m, u32 node, u32 epoch)
{
	const struct tor_view_entry *e = &m->node.view.entry[node];
	struct tor_record r = {
		.node = node,
		.epoch = epoch,
		.seq = e->seq + 1,
		.dead = e->dead,
		.frame = e->frame,
	};

	assert_int_equal(tor_view_learn(&m->node.view, &r), TOR_VIEW_NEW);
}

static void tor_shrink__restarted_node_is_dead(void **state)
{
	u32 i;

	member[4].left = true;
	for (i = 0; i < NODES; i++)
		hear_of(&member[i], 4, member[4].node.epoch + 1);
	call_everywhere();
	pass(NSEC_PER_SEC);
	assert_shrunk();
}

/* The comm failed at once, before anyone looked after its ranks. */
static void tor_shrink__restarted_node_of_a_short_comm(void **state)
{
	struct tor_watch at_once = {};
	u32 i;

	member[4].left = true;
	member[4].node.epoch++;
	for (i = 0; i < NODES; i++) {
		tor_comm_fail(&ctx, &member[i].from, -ECANCELED, 0, 0);
		assert_true(tor_comm_watch(&ctx, &member[i].from, routes, &at_once));
		if (i != 4)
			hear_of(&member[i], 4, member[4].node.epoch);
	}
	call_everywhere();
	pass(NSEC_PER_SEC);
	assert_shrunk();
}

/* A record of a node's former life comes late, to one rank or to the chief, and is mended: nobody is out, nobody waits. */
static void tor_shrink__a_record_of_a_former_life(void **state)
{
	static const struct { u32 where, of; } cases[] = { { 5, 2 }, { 2, 5 }, { 3, 1 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct member *m = &member[cases[i].where];
		u32 of = cases[i].of;

		teardown(NULL);
		setup(NULL);
		hear_of(m, of, member[of].node.epoch + 1);
		call_everywhere();
		pass(tor_watch_grace(&member[0].node) - 50 * NSEC_PER_MSEC);
		hear_of(m, of, member[of].node.epoch);
		pass(NSEC_PER_SEC);
		assert_shrunk();
		assert_int_equal(member[0].heir_ranks, NODES);
	}
}

static void tor_shrink_start__twice_on_a_node(void **state)
{
	struct tor_shrink second = { .a.node = &member[1].node, .from = &member[1].from };

	call_on(1);
	assert_int_equal(tor_shrink_start(&ctx, &second, routes), -EEXIST);
}

/* The heir as a comm to be shrunk in its turn. */
static void inherit(u32 node)
{
	struct member *m = &member[node];
	u32 list[NODES], n = m->heir_ranks;

	memcpy(list, m->heir, sizeof(list));
	make_comm(node, n, list);
	m->shrunk = false;
}

/* Those whose heir contains the dead @victim find that, and shrink it; others that have none go on. */
static void inherit_from(u32 victim)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		if (member[victim].left && member[i].shrunk && !member[i].left &&
		    is_in(member[i].heir, member[i].heir_ranks, victim))
			inherit(i);
	for (i = 0; i < NODES; i++)
		if (!member[i].left && !member[i].calling && !member[i].shrunk)
			call_on(i);
}

/*
 * A node or a process dies after any message of the agreement. Those that have an heir find it dead (it contains
 * who died) and shrink it; those that have none go on. They meet.
 */
static void any_moment(u32 victim, bool process, u32 lose)
{
	u32 moment, last = ~0U;

	for (moment = 1; moment < last && moment < 200; moment++) {
		setup(NULL);
		loss = lose;
		seed = moment;
		killed = victim;
		killed_at = moment;
		only_process = process;
		call_everywhere();
		pass(4 * (u64)NSEC_PER_SEC);
		if (!member[victim].left) {
			/* the agreement had fewer messages */
			last = moment;
			continue;
		}
		inherit_from(victim);
		pass(20 * (u64)NSEC_PER_SEC);
		assert_shrunk();
	}
	assert_in_range(moment, 10, 199);
}

static void tor_shrink__the_chief_dies_at_any_moment(void **state)
{
	any_moment(2, false, 0);
}

static void tor_shrink__the_chiefs_process_dies_at_any_moment(void **state)
{
	any_moment(2, true, 0);
}

static void tor_shrink__a_rank_dies_at_any_moment(void **state)
{
	any_moment(5, false, 0);
	any_moment(3, true, 0);
}

static void assert_nobody_is_shrunk(void)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		assert_false(member[i].shrunk);
}

/*
 * A signal interrupts a call after any message of the agreement, and the process calls again much later. The others do
 * not notice, also if the chief dies in between.
 */
static void interrupted_at_any_moment(u32 who, bool deadline, u32 chief_dies_after)
{
	u32 moment, last = ~0U;

	for (moment = 1; moment < last && moment < 200; moment++) {
		teardown(NULL);
		setup(NULL);
		interrupted = who;
		interrupted_at = moment;
		by_deadline = deadline;
		if (chief_dies_after) {
			killed = 2;
			killed_at = moment + chief_dies_after;
		}
		call_everywhere();
		pass(4 * (u64)NSEC_PER_SEC);
		if (!member[who].away) {
			/* the agreement had fewer messages */
			last = moment;
			continue;
		}
		if (!chief_dies_after && (!deadline || member[who].shrunk))
			assert_shrunk();
		else if (!chief_dies_after && !member[who].calling)
			assert_nobody_is_shrunk();
		call_again(who);
		pass(20 * (u64)NSEC_PER_SEC);
		inherit_from(2);
		pass(20 * (u64)NSEC_PER_SEC);
		assert_shrunk();
	}
	assert_in_range(moment, 10, 199);
}

static void tor_shrink__interrupted_at_any_moment(void **state)
{
	u32 who;

	for (who = 0; who < NODES; who++)
		interrupted_at_any_moment(who, false, 0);
}

static void tor_shrink__interrupted_when_the_chief_dies(void **state)
{
	u32 after;

	for (after = 1; after < 8; after++) {
		interrupted_at_any_moment(0, false, after);
		interrupted_at_any_moment(5, false, after);
	}
}

/*
 * The deadline of a call passes, at any moment: the others wait for the next one, or have an heir, which that one gets
 * too.
 */
static void tor_shrink_expire__at_any_moment(void **state)
{
	u32 who, after;

	for (who = 0; who < NODES; who++)
		interrupted_at_any_moment(who, true, 0);
	for (after = 1; after < 8; after++) {
		interrupted_at_any_moment(0, true, after);
		interrupted_at_any_moment(5, true, after);
	}
}

/* As among very many: a frame at a time, and two steps over ranks. */
static void tor_shrink__all_are_told_in_portions(void **state)
{
	budget = (struct tor_budget){ .bytes = 1, .frames = 1, .steps = 2 };
	host.budget = budget;
	tor_shrink__nobody_died(state);
	tor_shrink__dead_nodes(state);
	tor_shrink__the_chief_dies_at_any_moment(state);
	tor_shrink__a_rank_dies_at_any_moment(state);
	budget = (struct tor_budget){};
}

static void tor_shrink_timer__repeats_until_heard(void **state)
{
	u32 k;

	for (k = 0; k < 300; k++) {
		setup(NULL);
		seed = k;
		loss = 2 + k % 5;
		node_dies(k % NODES);
		process_dies((k / 7) % NODES);
		call_everywhere();
		pass(120 * (u64)NSEC_PER_SEC);
		assert_shrunk();
	}
}

static void tor_shrink_timer__quiet_when_done(void **state)
{
	u32 sent, i;

	call_everywhere();
	pass(NSEC_PER_SEC);
	sent = host.nsent;
	pass(10 * (u64)NSEC_PER_SEC);
	assert_int_equal(host.nsent, sent);
	for (i = 0; i < NODES; i++)
		assert_int_equal(run_timer(&member[i].node, routes), 0);
}

/* The chief says to node 0 who belongs to the heir: the first two, then itself twice, or not. */
static void chief_lists(bool sense, u32 tag, u32 unit)
{
	u8 body[sizeof(struct torcoll_comm_msg) + 4 * sizeof(__be32)];
	const u32 word[] = { 2, member[2].node.epoch, sense ? 0 : 2, member[0].node.epoch };
	struct tor_hdr h = { .src = 2, .src_epoch = member[2].node.epoch };
	struct tor_comm_msg msg = { .step = TORCOLL_COMM_SHRINK_READY, .name = 0x1234, .ranks = 2,
				    .tag = tag, .frame_bytes = unit, .epochs = 4 };

	tor_wire_put_comm(body, &msg, word);
	assert_int_equal(tor_wire_get_comm(body, sizeof(body), &msg), 0);
	tor_shrink_rx(&ctx, &member[0].node, &h, &msg, false);
	delivered = host.nsent;
}

/* A list that makes no sense changes nothing: neither what is offered, nor what is made of the next one. */
static void tor_shrink_rx__nonsense_is_forgotten(void **state)
{
	u32 offered;

	begin(&member[0]);
	offered = member[0].shrink.a.unit;
	chief_lists(false, 7, TOR_WIRE_UNIT_MIN);
	assert_int_equal(member[0].shrink.a.state, TOR_AGREE_CALLING);
	assert_int_equal(member[0].shrink.a.unit, offered);
	chief_lists(true, 7, offered);
	assert_int_equal(member[0].shrink.a.state, TOR_AGREE_ACCEPTING);
	assert_int_equal(member[0].installed, 7);
	assert_int_equal(member[0].shrink.rank, 1);
	assert_false(member[0].shrink.whole);
}

#define CROWD	(1 << 18)

/* A chief among very many, who are all there. */
static struct {
	struct tor_node node;
	struct tor_comm from;
	struct tor_shrink shrink;
	struct tor_shrink_rank of[CROWD];
	u32 from_epoch[CROWD], list[CROWD], order[CROWD], epoch[CROWD];
} *crowd;

static void crowd_hears(u32 rank, u8 step)
{
	struct tor_hdr h = { .src = rank, .src_epoch = 1 };
	struct tor_comm_msg msg = { .step = step, .name = crowd->from.lineage,
				    .tag = crowd->shrink.a.tag, .frame_bytes = 1344 };

	tor_shrink_rx(&ctx, &crowd->node, &h, &msg, false);
	host_forget_sent();
}

static struct tor_routes *crowd_begin(void)
{
	static const u32 side[] = { 1 << 9, 1 << 9 };
	struct tor_routes *ways;
	struct tor_torus t;
	u32 rank;

	crowd = calloc(1, sizeof(*crowd));
	assert_non_null(crowd);
	assert_int_equal(tor_torus_init(&t, 2, side, 1), 0);
	assert_int_equal(tor_node_init(&crowd->node, &t, 1, 0), 0);
	ways = tor_routes_build(&t, 0, NULL);
	assert_non_null(ways);
	for (rank = 0; rank < CROWD; rank++) {
		crowd->from_epoch[rank] = rank ? 1 : crowd->node.epoch;
		ways->ports[rank] = 1;
	}
	crowd->from = (struct tor_comm){ .node = &crowd->node, .lineage = 5, .ranks = CROWD,
					 .epoch = crowd->from_epoch };
	crowd->shrink = (struct tor_shrink){ .a.node = &crowd->node, .from = &crowd->from,
					     .of = crowd->of, .a.room = CROWD, .a.unit = 1344,
					     .member = crowd->list, .order = crowd->order,
					     .a.epoch = crowd->epoch };
	assert_int_equal(tor_shrink_start(&ctx, &crowd->shrink, ways), 0);
	return ways;
}

/* Choosing and sorting take an entry of the timer for each portion: in all some 4 * 2.5 + 2 steps for each rank. */
static void crowd_lists(const struct tor_routes *ways)
{
	u32 portions = 1;

	for (; crowd->shrink.a.state == TOR_AGREE_LISTING; portions++) {
		ctx.now = crowd->shrink.a.repeat;
		run_timer(&crowd->node, ways);
		host_forget_sent();
	}
	assert_in_range(portions, CROWD / TOR_BUDGET.steps, 13 * (CROWD / TOR_BUDGET.steps));
	assert_int_equal(crowd->shrink.a.state, TOR_AGREE_ACCEPTING);
}

/*
 * Each message of very many ranks is heard in a time that does not depend on how many there are: if it walked over all
 * of them, this test would take hours. Looking at them takes an entry of the timer for each portion.
 */
static void tor_shrink_rx__no_walk_over_ranks_per_message(void **state)
{
	struct tor_routes *ways = crowd_begin();
	u32 rank, portions = 1;

	host.budget = TOR_BUDGET;
	while (crowd->shrink.looked < CROWD) {
		ctx.now = crowd->shrink.a.repeat;
		run_timer(&crowd->node, ways);
		portions++;
	}
	assert_in_range(portions, CROWD / TOR_BUDGET.steps, CROWD / TOR_BUDGET.steps + 1);
	assert_int_equal(crowd->shrink.chief, 0);
	for (rank = 1; rank < CROWD; rank++) {
		assert_int_equal(crowd->shrink.a.missing, rank);
		crowd_hears(rank, TORCOLL_COMM_SHRINK_CALL);
	}
	crowd_lists(ways);
	for (rank = CROWD - 1; rank; rank--) {
		assert_int_equal(crowd->shrink.a.state, TOR_AGREE_ACCEPTING);
		assert_int_equal(crowd->shrink.a.missing, 1);
		crowd_hears(rank, TORCOLL_COMM_SHRINK_ACCEPT);
	}
	assert_int_equal(crowd->shrink.a.state, TOR_AGREE_GOING);
	list_del(&crowd->shrink.a.list);
	tor_env_table_free(ways);
	tor_node_destroy(&crowd->node);
	free(crowd);
}

/* Nonsense from a member that knows the lineage: no list that makes no sense is installed, nothing crashes. */
static void tor_shrink_rx__random_messages(void **state)
{
	u8 body[sizeof(struct torcoll_comm_msg) + 2 * NODES * sizeof(__be32) +
		sizeof(struct torcoll_comm_terms)];
	struct tor_comm_msg msg;
	struct tor_hdr h = { .type = TORCOLL_FRAME_COMM };
	u32 word[2 * NODES];
	u32 i, k;

	for (i = 0; i < 100000; i++) {
		struct member *m = &member[i % 2 ? 0 : 2];

		if (!m->calling)
			begin(m);
		host_fill(&msg, sizeof(msg), &seed);
		msg.has_terms = i & 1;
		msg.name = m->from.lineage;
		msg.step = TORCOLL_COMM_SHRINK_CALL +
			   msg.nonce % (TORCOLL_COMM_STEP_END - TORCOLL_COMM_SHRINK_CALL);
		msg.error = 0;
		msg.ranks %= NODES + 2;
		msg.missing %= NODES + 1;
		msg.epochs %= 2 * NODES + 1;
		msg.frame_bytes = msg.frame_bytes % 32 * TOR_WIRE_UNIT_ALIGN;
		if (i % 5)
			msg.tag = m->shrink.a.tag ? m->shrink.a.tag : 7;
		for (k = 0; k < msg.epochs; k++)
			word[k] = k & 1 ? member[k / 2].node.epoch : host_rand(&seed) % (NODES + 1);
		tor_wire_put_comm(body, &msg, word);
		if (tor_wire_get_comm(body, tor_wire_comm_bytes(&msg), &msg))
			continue;
		h.src = host_rand(&seed) % NODES;
		h.src_epoch = member[h.src].node.epoch;
		tor_shrink_rx(&ctx, &m->node, &h, &msg, i % 3 == 0);
		m->again = 0;
		if (host.nsent > 1000)
			host_forget_sent();
		delivered = host.nsent;
	}
}

/* Comms that one node shrinks at a time share what an entry may send. */
static void tor_shrink_timer__many_share_an_entry(void **state)
{
	static struct tor_shrink_rank of[8][NODES];
	static u32 list[8][NODES], order[8][NODES], epoch[8][NODES];
	static struct tor_shrink shrink[8];
	static struct tor_comm from[8];
	u32 i, sent, all = 0;

	for (i = 0; i < 8; i++) {
		from[i] = member[2].from;
		from[i].lineage = 100 + i;
		shrink[i] = (struct tor_shrink){
			.a = { .node = &member[2].node, .room = NODES, .epoch = epoch[i], .unit = 1344 },
			.from = &from[i],
			.of = of[i],
			.member = list[i],
			.order = order[i],
		};
		tor_shrink_start(&ctx, &shrink[i], routes);
	}
	budget = (struct tor_budget){ .bytes = 1, .frames = 8 };
	host.budget = budget;
	/* all are due at once, and each tells five others */
	ctx.now += NSEC_PER_SEC;
	for (i = 0; i < 8; i++) {
		sent = host.nsent;
		run_timer(&member[2].node, routes);
		/* the last one may begin with one frame left */
		assert_in_range(host.nsent - sent, 0, 2 * budget.frames);
		all += host.nsent - sent;
		ctx.now += TOR_AGREE_PACE;
	}
	assert_int_equal(all, 8 * (NODES - 1));
	for (i = 0; i < 8; i++)
		list_del(&shrink[i].a.list);
	delivered = host.nsent;
	budget = (struct tor_budget){};
	host.budget = TOR_BUDGET;
}

#define SHRINK_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHRINK_TEST(tor_shrink__nobody_died),
		SHRINK_TEST(tor_shrink__dead_nodes),
		SHRINK_TEST(tor_shrink__dead_processes_say_so_at_once),
		SHRINK_TEST(tor_shrink__alone),
		SHRINK_TEST(tor_shrink__waits_for_the_living),
		SHRINK_TEST(tor_shrink__a_rank_gives_up_and_comes_back),
		SHRINK_TEST(tor_shrink__the_chief_gives_up_and_comes_back),
		SHRINK_TEST(tor_shrink__out_of_reach_for_a_moment),
		SHRINK_TEST(tor_shrink__out_of_reach_for_too_long),
		SHRINK_TEST(tor_shrink__restarted_node_is_dead),
		SHRINK_TEST(tor_shrink__restarted_node_of_a_short_comm),
		SHRINK_TEST(tor_shrink__a_record_of_a_former_life),
		SHRINK_TEST(tor_shrink_start__twice_on_a_node),
		SHRINK_TEST(tor_shrink__the_chief_dies_at_any_moment),
		SHRINK_TEST(tor_shrink__the_chiefs_process_dies_at_any_moment),
		SHRINK_TEST(tor_shrink__a_rank_dies_at_any_moment),
		SHRINK_TEST(tor_shrink__interrupted_at_any_moment),
		SHRINK_TEST(tor_shrink__interrupted_when_the_chief_dies),
		SHRINK_TEST(tor_shrink_expire__at_any_moment),
		SHRINK_TEST(tor_shrink__all_are_told_in_portions),
		SHRINK_TEST(tor_shrink_timer__many_share_an_entry),
		SHRINK_TEST(tor_shrink_timer__repeats_until_heard),
		SHRINK_TEST(tor_shrink_timer__quiet_when_done),
		SHRINK_TEST(tor_shrink_rx__nonsense_is_forgotten),
		SHRINK_TEST(tor_shrink_rx__no_walk_over_ranks_per_message),
		SHRINK_TEST(tor_shrink_rx__random_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
