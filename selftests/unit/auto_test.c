// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What auto stands for: by tables where there are some, plainly elsewhere, and never what is not wanted. */
#include "host_env.h"

#include "core/choose/auto.h"

static const u32 side[] = { 5, 4 };
static struct tor_torus torus;
static struct tor_chooser chooser;

static struct tor_call request(u32 collective, u64 count)
{
	return (struct tor_call){
		.torus = &torus, .ranks = torus.nodes, .collective = collective, .count = count,
	};
}

static u32 chosen(const struct tor_chooser *c, const struct tor_call *call, enum tor_level level)
{
	struct tor_plan plan;
	const char *why;

	assert_int_equal(tor_auto_plan(&plan, c, call, level, 4, 0, &why), 0);
	assert_int_equal(plan.call.param[TORCOLL_PARAM_EXCLUDE], 0);
	return plan.call.algorithm;
}

static int refusal(const struct tor_chooser *c, const struct tor_call *call,
		   enum tor_level level)
{
	struct tor_plan plan;
	const char *why = NULL;
	int err = tor_auto_plan(&plan, c, call, level, 4, 0, &why);

	assert_non_null(why);
	return err;
}

static void auto__by_tables(void **state)
{
	struct tor_call call;
	struct tor_choice choice;
	u64 count;

	for (count = 1; count < 1 << 26; count *= 4) {
		call = request(TORCOLL_ALLREDUCE, count);
		assert_true(tor_choose(&chooser, call.collective, TOR_LEVEL_AGREES, 0, count * 4,
				       &choice));
		assert_int_equal(chosen(&chooser, &call, TOR_LEVEL_AGREES), choice.algorithm);
	}
}

/* One after the other is excluded, until nothing is left. */
static void check_exclusion(const struct tor_chooser *c, u32 collective, u32 least)
{
	struct tor_call call = request(collective, 1000);
	struct tor_plan plan;
	u32 algorithm, n = 0;
	const char *why;

	while (!tor_auto_plan(&plan, c, &call, TOR_LEVEL_ANY, 4, 0, &why)) {
		algorithm = plan.call.algorithm;
		assert_false(call.param[TORCOLL_PARAM_EXCLUDE] & 1U << algorithm);
		call.param[TORCOLL_PARAM_EXCLUDE] |= 1U << algorithm;
		n++;
	}
	assert_true(n >= least);
	assert_int_equal(refusal(c, &call, TOR_LEVEL_ANY), -EOPNOTSUPP);
}

static void auto__excluded(void **state)
{
	check_exclusion(&chooser, TORCOLL_ALLREDUCE, 6);
	check_exclusion(&chooser, TORCOLL_BROADCAST, 3);
	check_exclusion(&chooser, TORCOLL_BARRIER, 6);
	check_exclusion(NULL, TORCOLL_ALLREDUCE, 2);
	check_exclusion(NULL, TORCOLL_SCATTER, 1);
}

/* Whatever the tables say, something serves every call; blocks of all lengths included. */
static void auto__serves_all(void **state)
{
	static const u32 members[] = { 7, 3, 11, 0, 19 };
	u64 counts[20] = { 0, 5, 0, 1000 };
	const u64 sizes[] = { 0, 1, 1005, 100000 };
	struct tor_call call;
	u32 collective, i;

	for (collective = TORCOLL_ALLREDUCE; collective <= TORCOLL_SCATTER; collective++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			call = request(collective, sizes[i]);
			chosen(&chooser, &call, TOR_LEVEL_AGREES);
			chosen(NULL, &call, TOR_LEVEL_AGREES);
			call.members = members;
			call.ranks = ARRAY_SIZE(members);
			chosen(NULL, &call, TOR_LEVEL_AGREES);
		}
	call = request(TORCOLL_ALLGATHER, 1005);
	call.counts = counts;
	chosen(&chooser, &call, TOR_LEVEL_ANY);
	call.collective = TORCOLL_REDUCE_SCATTER;
	chosen(&chooser, &call, TOR_LEVEL_AGREES);
}

static void auto__sequential(void **state)
{
	struct tor_call call = request(TORCOLL_ALLREDUCE, 10);

	assert_int_equal(chosen(&chooser, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_FLOOD);
	assert_int_equal(chosen(NULL, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_FLOOD);
	call.count = 100000;
	assert_int_equal(chosen(&chooser, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_DIRECT);
	assert_int_equal(chosen(NULL, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_DIRECT);
	call.param[TORCOLL_PARAM_EXCLUDE] = 1U << TORCOLL_FLOOD | 1U << TORCOLL_DIRECT;
	assert_int_equal(refusal(&chooser, &call, TOR_LEVEL_SEQUENTIAL), -EOPNOTSUPP);
	assert_int_equal(refusal(NULL, &call, TOR_LEVEL_SEQUENTIAL), -EOPNOTSUPP);
}

/* Where `direct` takes long to walk, tables do not have it, and nothing else serves. */
static void auto__sequential_beyond_tables(void **state)
{
	static const u32 long_side[] = { 256, 2 };
	struct tor_chooser c;
	struct tor_torus t;
	struct tor_call call = { .torus = &t, .count = 100000 };

	assert_int_equal(tor_torus_init(&t, ARRAY_SIZE(long_side), long_side, 2), 0);
	call.ranks = t.nodes;
	tor_chooser_init(&c, &t, NULL, t.nodes, &tor_rates_default);
	assert_int_equal(tor_auto_prepare(&c, TORCOLL_ALLREDUCE), 0);
	assert_int_equal(tor_auto_prepare(&c, TORCOLL_REDUCE_SCATTER), 0);
	call.collective = TORCOLL_REDUCE_SCATTER;
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_DIRECT);
	call.collective = TORCOLL_ALLREDUCE;
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_DIRECT);
	call.count = 10;
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_FLOOD);
	tor_chooser_free(&c);
}

/* A plan that keeps the vectors of all ranks is faster for a while, but not at any price of memory. */
static void auto__sequential_within_memory(void **state)
{
	static const u32 ring_side[] = { 256 };
	struct tor_chooser c = { 0 };
	struct tor_torus t;
	struct tor_call call = { .torus = &t, .collective = TORCOLL_ALLREDUCE };

	assert_int_equal(tor_torus_init(&t, 1, ring_side, 2), 0);
	call.ranks = t.nodes;
	tor_chooser_init(&c, &t, NULL, t.nodes, &tor_rates_default);
	assert_int_equal(tor_auto_prepare(&c, call.collective), 0);
	/* 256 vectors of 64 KiB are 16 MiB */
	call.count = (64 << 10) / 4;
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_FLOOD);
	call.count++;
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_DIRECT);
	/* nothing has few temporaries: that with the fewest */
	call.count = 1 << 28;
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_DIRECT);
	call.param[TORCOLL_PARAM_EXCLUDE] = 1U << TORCOLL_DIRECT;
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_FLOOD);
	assert_int_equal(chosen(NULL, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_FLOOD);
	tor_chooser_free(&c);
}

/* The same without tables. */
static void auto__sequential_plainly_within_memory(void **state)
{
	static const u32 many_sides[] = { 64, 64 };
	struct tor_torus t;
	struct tor_call call = { .torus = &t, .collective = TORCOLL_ALLREDUCE };

	assert_int_equal(tor_torus_init(&t, 2, many_sides, 2), 0);
	call.ranks = t.nodes;
	call.count = 1024;
	assert_int_equal(chosen(NULL, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_FLOOD);
	call.count++;
	assert_int_equal(chosen(NULL, &call, TOR_LEVEL_SEQUENTIAL), TORCOLL_DIRECT);
}

static void auto__gather_without_tree(void **state)
{
	struct tor_call call = request(TORCOLL_GATHER, 1000);

	call.param[TORCOLL_PARAM_EXCLUDE] = 1U << TORCOLL_TREE;
	assert_int_equal(chosen(&chooser, &call, TOR_LEVEL_ANY), TORCOLL_DIRECT);
	call.collective = TORCOLL_SCATTER;
	assert_int_equal(chosen(&chooser, &call, TOR_LEVEL_ANY), TORCOLL_DIRECT);
}

/* Lists for which there are no tables, and on which a ring has more rounds than frames can number. */
static void auto__very_long_lists(void **state)
{
	static const u32 collectives[] = {
		TORCOLL_ALLREDUCE, TORCOLL_REDUCE_SCATTER, TORCOLL_ALLGATHER,
		TORCOLL_BROADCAST, TORCOLL_REDUCE,
	};
	static const u32 large_side[] = { 128, 128, 4 };
	static u32 members[(1 << 16) - 1];
	struct tor_call call = { .members = members, .ranks = ARRAY_SIZE(members), .count = 1 << 20 };
	struct tor_torus t;
	struct tor_plan plan;
	const char *why;
	u32 i;

	assert_int_equal(tor_torus_init(&t, ARRAY_SIZE(large_side), large_side, 2), 0);
	call.torus = &t;
	/* without one in the middle */
	for (i = 0; i < ARRAY_SIZE(members); i++)
		members[i] = i + (i >= 1000);
	for (i = 0; i < ARRAY_SIZE(collectives); i++) {
		call.collective = collectives[i];
		assert_int_equal(tor_auto_plan(&plan, NULL, &call, TOR_LEVEL_AGREES, 4, 0, &why), 0);
		assert_true(plan.shape.rounds <= U16_MAX);
		assert_true(call.collective != TORCOLL_ALLREDUCE || plan.shape.agrees);
	}
	call.collective = TORCOLL_SCAN;
	assert_int_equal(tor_auto_plan(&plan, NULL, &call, TOR_LEVEL_ANY, 4, 0, &why), -EOPNOTSUPP);
}

/* Where ranks are too many to walk a plan from each of them, long vectors go in blocks all the same. */
static void auto__rooted_on_many_nodes(void **state)
{
	static const u32 many_sides[][3] = { { 32, 64 }, { 16, 16, 16 }, { 128, 128 } };
	struct tor_chooser c;
	struct tor_torus t;
	struct tor_call call = { .torus = &t };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(many_sides); i++) {
		assert_int_equal(tor_torus_init(&t, many_sides[i][2] ? 3 : 2, many_sides[i], 2), 0);
		memset(&c, 0, sizeof(c));
		tor_chooser_init(&c, &t, NULL, t.nodes, &tor_rates_default);
		call.ranks = t.nodes;
		for (call.collective = TORCOLL_BROADCAST; call.collective <= TORCOLL_REDUCE; call.collective++) {
			assert_int_equal(tor_auto_prepare(&c, call.collective), 0);
			call.count = 10;
			call.param[TORCOLL_PARAM_EXCLUDE] = 0;
			if (!i)
				assert_int_equal(chosen(&c, &call, TOR_LEVEL_AGREES), TORCOLL_TREE);
			call.count = 64 << 18;
			assert_int_not_equal(chosen(&c, &call, TOR_LEVEL_AGREES), TORCOLL_TREE);
			call.param[TORCOLL_PARAM_EXCLUDE] = 1U << TORCOLL_TREE;
			assert_int_not_equal(chosen(&c, &call, TOR_LEVEL_AGREES), TORCOLL_TREE);
			call.count = 10;
			assert_int_not_equal(chosen(&c, &call, TOR_LEVEL_AGREES), TORCOLL_TREE);
		}
		tor_chooser_free(&c);
	}
}

/* What takes too long to walk is in no table, but serves where nothing else may. */
static void auto__left_out_of_tables(void **state)
{
	static const u32 chords[] = { 512, TORCOLL_SIDE(2, TORCOLL_KIND_CHORD) };
	struct tor_chooser c = { 0 };
	struct tor_torus t;
	struct tor_call call = {
		.torus = &t, .count = 1000, .collective = TORCOLL_BROADCAST,
		.param = { [TORCOLL_PARAM_EXCLUDE] = ~(1U << TORCOLL_TREE) },
	};

	assert_int_equal(tor_torus_init(&t, ARRAY_SIZE(chords), chords, 2), 0);
	call.ranks = t.nodes;
	tor_chooser_init(&c, &t, NULL, t.nodes, &tor_rates_default);
	assert_int_equal(tor_auto_prepare(&c, call.collective), 0);
	assert_int_equal(chosen(&c, &call, TOR_LEVEL_AGREES), TORCOLL_TREE);
	tor_chooser_free(&c);
}

/* A block of the torus, of more ranks than a list may have to be walked, has the plans of a torus. */
static void auto__block_of_a_torus(void **state)
{
	static const struct {
		u32 side[2], block[2];
	} cases[] = { { { 16, 16 }, { 16, 5 } }, { { 16, 16 }, { 9, 8 } }, { { 32, 32 }, { 16, 16 } } };
	static const u32 of_lists = 1U << TORCOLL_RING | 1U << TORCOLL_TREE | 1U << TORCOLL_GENERAL |
				    1U << TORCOLL_CIRCULANT;
	u32 members[256], i, k, algorithm;
	struct tor_placement placed;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tor_chooser c = { 0 };
		struct tor_torus t;
		struct tor_call call = { .torus = &t, .collective = TORCOLL_ALLREDUCE, .members = members };

		assert_int_equal(tor_torus_init(&t, 2, cases[i].side, 2), 0);
		call.ranks = cases[i].block[0] * cases[i].block[1];
		for (k = 0; k < call.ranks; k++)
			members[k] = (3 + k % cases[i].block[0]) % cases[i].side[0] +
				     (2 + k / cases[i].block[0]) * cases[i].side[0];
		tor_chooser_init(&c, &t, members, call.ranks, &tor_rates_default);
		assert_int_equal(tor_auto_prepare(&c, TORCOLL_ALLREDUCE), 0);
		for (call.count = 1 << 18; call.count <= 1 << 24; call.count *= 4)
			assert_false(of_lists & 1U << chosen(&c, &call, TOR_LEVEL_AGREES));
		/* whether or not whoever asks knows what the members form */
		call.count = 1 << 14;
		algorithm = chosen(&c, &call, TOR_LEVEL_SEQUENTIAL);
		assert_true(tor_placement_find(&placed, &call));
		call.placed = &placed;
		assert_int_equal(chosen(&c, &call, TOR_LEVEL_SEQUENTIAL), algorithm);
		tor_chooser_free(&c);
	}
}

static void auto__parameters_stand(void **state)
{
	struct tor_call call = request(TORCOLL_REDUCE, 1 << 20);
	struct tor_plan plan;
	const char *why;

	/* pipelines alone have blocks */
	call.param[TORCOLL_PARAM_BLOCKS] = 3;
	call.param[TORCOLL_PARAM_EXCLUDE] = ~(1U << TORCOLL_CIRCULANT);
	assert_int_equal(tor_auto_plan(&plan, &chooser, &call, TOR_LEVEL_ANY, 4, 0, &why), 0);
	assert_int_equal(plan.call.param[TORCOLL_PARAM_BLOCKS], 3);
	call.param[TORCOLL_PARAM_EXCLUDE] = ~(1U << TORCOLL_TREE);
	assert_int_equal(refusal(&chooser, &call, TOR_LEVEL_ANY), -EINVAL);
}

/* A rank without tables must not choose otherwise than the others. */
static void auto__without_tables(void **state)
{
	struct tor_call call = { .torus = &torus, .ranks = torus.nodes, .count = 64 };
	struct tor_chooser unmade = { .ranks = 0 };

	call.collective = TORCOLL_BARRIER;
	assert_int_equal(refusal(&unmade, &call, TOR_LEVEL_ANY), -ENOMEM);
	call.collective = TORCOLL_SCAN;
	chosen(&unmade, &call, TOR_LEVEL_ANY);
}

static int setup(void **state)
{
	u32 collective;

	assert_int_equal(tor_torus_init(&torus, ARRAY_SIZE(side), side, 2), 0);
	tor_chooser_init(&chooser, &torus, NULL, torus.nodes, &tor_rates_default);
	for (collective = 1; collective < TORCOLL_COLL_COUNT; collective++)
		assert_int_equal(tor_auto_prepare(&chooser, collective), 0);
	return 0;
}

static int teardown(void **state)
{
	tor_chooser_free(&chooser);
	host_check_idle();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto__by_tables),
		cmocka_unit_test(auto__without_tables),
		cmocka_unit_test(auto__excluded),
		cmocka_unit_test(auto__serves_all),
		cmocka_unit_test(auto__sequential),
		cmocka_unit_test(auto__sequential_beyond_tables),
		cmocka_unit_test(auto__sequential_within_memory),
		cmocka_unit_test(auto__sequential_plainly_within_memory),
		cmocka_unit_test(auto__gather_without_tree),
		cmocka_unit_test(auto__very_long_lists),
		cmocka_unit_test(auto__rooted_on_many_nodes),
		cmocka_unit_test(auto__left_out_of_tables),
		cmocka_unit_test(auto__block_of_a_torus),
		cmocka_unit_test(auto__parameters_stand),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
