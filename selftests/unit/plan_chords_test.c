// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plans on rings with chords: as many rounds as the diameter, cables that carry
 * no more than they must, and what becomes of lists of nodes.
 */
#include "host_env.h"
#include "plan_cases.h"
#include "plan_rules.h"

#include "core/choose/cost.h"

#define CHORD(n)	TORCOLL_SIDE(n, TORCOLL_KIND_CHORD)

static struct tor_torus ring_with(u32 nodes, u32 step)
{
	u32 side[] = { nodes, CHORD(step) };
	struct tor_torus t;

	assert_int_equal(tor_torus_init(&t, 2, side, 1), 0);
	return t;
}

static struct tor_cost cost_of(const struct tor_torus *t, u32 algorithm, u32 collective)
{
	struct tor_call call = plan_request(t, algorithm, collective, t->nodes);
	struct tor_cost cost;

	assert_int_equal(tor_cost_plan(&call, &cost, NULL), 0);
	return cost;
}

/*
 * The load of the busiest cable in an allgather, in that of one if all cables
 * carried the same.
 */
static double factor(const struct tor_torus *t)
{
	struct tor_cost cost = cost_of(t, TORCOLL_LAYERS, TORCOLL_ALLGATHER);

	assert_int_equal(cost.rounds, tor_torus_diameter(t));
	/* every message goes to a neighbour */
	assert_int_equal(cost.hops, cost.rounds);
	return cost.w / (double)TOR_COST_ONE * t->ports * t->nodes / (t->nodes - 1);
}

static void layers__no_cable_carries_more_than_it_must(void **state)
{
	static const u32 known[][2] = {
		{ 5, 2 }, { 8, 2 }, { 8, 3 }, { 13, 5 }, { 16, 4 }, { 25, 7 }, { 32, 7 }, { 64, 10 },
	};
	struct tor_torus t;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		t = ring_with(known[i][0], known[i][1]);
		assert_true(factor(&t) < 1.001);
	}
}

struct best {
	u32 nodes;
	u32 diameter;
	double factor;
};

/* Of the chords with the smallest diameter, keep the one that balances best. */
static void keep_best(const struct tor_torus *t, void *arg)
{
	struct best *best = arg;
	u32 diameter = tor_torus_diameter(t);
	double f = factor(t);

	assert_true(f > 0.999);
	if (best->diameter && (diameter > best->diameter ||
			       (diameter == best->diameter && f >= best->factor)))
		return;
	best->diameter = diameter;
	best->factor = f;
}

static void layers__every_number_of_nodes_has_chords_that_balance(void **state)
{
	struct best best;
	u32 nodes;

	(void)state;
	for (nodes = 5; nodes <= 64; nodes++) {
		best = (struct best){ .nodes = nodes };
		plan_every_chord(nodes, nodes, 1, keep_best, &best);
		if (best.factor > 1.02)
			fail_msg("%u nodes, diameter %u: %.3f", nodes, best.diameter, best.factor);
	}
}

/* All of the fabric from any node on, either way round: chords are where they were. */
static void layers__serves_turned_rings(void **state)
{
	struct tor_torus t = ring_with(13, 5);
	struct tor_call call = plan_request(&t, TORCOLL_LAYERS, TORCOLL_ALLREDUCE, 40);
	struct dump_error e = {};
	u32 members[13], i;

	(void)state;
	call.members = members;
	for (i = 0; i < 13; i++)
		members[i] = (i + 4) % 13;
	if (plan_rules(&call, true, &e) != 1)
		fail_msg("%s", e.text);
	for (i = 0; i < 13; i++)
		members[i] = (13 + 4 - i) % 13;
	if (plan_rules(&call, true, &e) != 1)
		fail_msg("%s", e.text);
	swap(members[2], members[7]);
	assert_int_equal(plan_rules(&call, true, &e), -EOPNOTSUPP);
	for (i = 0; i < 12; i++)
		members[i] = i;
	call.ranks = 12;
	assert_int_equal(plan_rules(&call, true, &e), -EOPNOTSUPP);
}

/* Layers of more than a word, and more than are kept. */
static void plans__of_many_nodes(void **state)
{
	static const u32 large[][2] = { { 130, 11 }, { 126, 2 }, { 170, 2 } };
	static const struct {
		u32 algorithm, collective;
	} which[] = {
		{ TORCOLL_LAYERS, TORCOLL_ALLREDUCE }, { TORCOLL_FLOOD, TORCOLL_ALLGATHER },
		{ TORCOLL_TREE, TORCOLL_ALLREDUCE },
	};
	struct dump_error e = {};
	struct tor_torus t;
	struct tor_call call;
	u32 i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(large); i++)
		for (k = 0; k < ARRAY_SIZE(which); k++) {
			t = ring_with(large[i][0], large[i][1]);
			call = plan_request(&t, which[k].algorithm, which[k].collective, 2 * t.nodes);
			if (plan_rules(&call, false, &e) != 1)
				fail_msg("%s: %s", plan_request_name(&call), e.text);
		}
}

/* Rounds of tree and flood are those of the diameter as well. */
static void plans__of_short_vectors(void **state)
{
	struct tor_torus t = ring_with(64, 10);

	(void)state;
	assert_int_equal(cost_of(&t, TORCOLL_FLOOD, TORCOLL_ALLREDUCE).rounds, 6);
	assert_int_equal(cost_of(&t, TORCOLL_TREE, TORCOLL_REDUCE).rounds, 6);
	/* the ports that are left out */
	assert_int_equal(cost_of(&t, TORCOLL_FLOOD, TORCOLL_ALLREDUCE).messages / TOR_COST_ONE, 2 * 18);
	t = ring_with(16, 4);
	assert_int_equal(cost_of(&t, TORCOLL_FLOOD, TORCOLL_ALLREDUCE).messages / TOR_COST_ONE, 2 * 7);
	t = ring_with(64, 10);
	assert_int_equal(cost_of(&t, TORCOLL_TREE, TORCOLL_ALLREDUCE).rounds, 12);
	assert_int_equal(cost_of(&t, TORCOLL_TREE, TORCOLL_ALLREDUCE).hops, 12);
	/* a rank has one parent: 2 messages for each but the root, at two nodes each */
	assert_int_equal(cost_of(&t, TORCOLL_TREE, TORCOLL_ALLREDUCE).messages * 64 / TOR_COST_ONE,
			 2 * 2 * 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers__no_cable_carries_more_than_it_must),
		cmocka_unit_test(layers__every_number_of_nodes_has_chords_that_balance),
		cmocka_unit_test(layers__serves_turned_rings),
		cmocka_unit_test(plans__of_many_nodes),
		cmocka_unit_test(plans__of_short_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
