// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Offers and tables: a table has the fastest offer for every size, of those that may be used. */
#include "host_env.h"

#include <time.h>

#include "core/choose/choose.h"

static const struct tor_rates software = {
	.e = 12000000, .f = 3000000, .link = 800000, .message = 1500000, .byte = 400000,
};

static const struct tor_rates paper = { .e = 900000, .f = 400000, .link = 20000 };

static struct tor_torus torus_of(const u32 *side)
{
	struct tor_torus t;
	u32 ndim = 0;

	while (side[ndim])
		ndim++;
	assert_int_equal(tor_torus_init(&t, ndim, side, 2), 0);
	return t;
}

static struct tor_offers offers_on(const struct tor_torus *t, u32 collective)
{
	struct tor_call call = { .torus = t, .ranks = t->nodes, .collective = collective };
	struct tor_offers o;

	assert_int_equal(tor_offers_make(&o, &call), 0);
	return o;
}

static u64 time_of(const struct tor_offer *offer, const struct tor_rates *rates, u64 bytes)
{
	return tor_line_at(tor_cost_line(&offer->cost, rates), bytes);
}

static const struct tor_offer *offer_of(const struct tor_offers *o, const struct tor_choice *choice)
{
	u32 i;

	for (i = 0; i < o->n; i++)
		if (o->offer[i].algorithm == choice->algorithm &&
		    !memcmp(o->offer[i].param, choice->param, sizeof(choice->param)))
			return &o->offer[i];
	fail_msg("a choice that was not offered");
	return NULL;
}

/* At sizes all over, and at and behind the ends of choices, nothing that may be used is faster. */
static void check_size(const struct tor_table *table, const struct tor_offers *o,
		       const struct tor_rates *rates, enum tor_level level, u32 algorithms, u64 bytes)
{
	const struct tor_choice *choice = tor_table_find(table, bytes);
	const struct tor_offer *chosen;
	u64 time;
	u32 i;

	assert_non_null(choice);
	chosen = offer_of(o, choice);
	assert_true(tor_offer_meets(chosen, level));
	assert_true(algorithms & (1U << chosen->algorithm));
	time = time_of(chosen, rates, bytes);
	for (i = 0; i < o->n; i++) {
		u64 other = time_of(&o->offer[i], rates, bytes);

		if (algorithms & (1U << o->offer[i].algorithm) &&
		    tor_offer_meets(&o->offer[i], level) && other + other / 100000 + 2 < time)
			fail_msg("%llu bytes: %s takes %llu ps, %s %llu", (unsigned long long)bytes,
				 tor_algorithm_name(chosen->algorithm), (unsigned long long)time,
				 tor_algorithm_name(o->offer[i].algorithm),
				 (unsigned long long)other);
	}
}

static void check_table(const struct tor_offers *o, const struct tor_rates *rates,
			enum tor_level level, u32 algorithms)
{
	struct tor_table table;
	u64 bytes;
	u32 i;

	tor_table_make(&table, o, rates, level, algorithms);
	assert_in_range(table.n, 1, TOR_TABLE_ROOM);
	for (bytes = 0; bytes < 1ULL << 40; bytes = bytes ? bytes * 3 / 2 + 1 : 1)
		check_size(&table, o, rates, level, algorithms, bytes);
	for (i = 0; i + 1 < table.n; i++) {
		assert_true(table.choice[i].upto <= table.choice[i + 1].upto);
		check_size(&table, o, rates, level, algorithms, table.choice[i].upto);
		check_size(&table, o, rates, level, algorithms, table.choice[i].upto + 1);
	}
}

static void table__fastest_for_every_size(void **state)
{
	static const u32 shapes[][4] = {
		{ 8 }, { 4, 4 }, { 3, 3 }, { 7, 5 }, { 8, 4 }, { 16, 16 }, { 4, 4, 4 }, { 2 },
	};
	u32 i, c;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct tor_torus t = torus_of(shapes[i]);

		for (c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
			struct tor_offers o = offers_on(&t, c);

			check_table(&o, &software, TOR_LEVEL_ANY, TOR_ALGO_MASK_ALL);
			check_table(&o, &paper, TOR_LEVEL_ANY, TOR_ALGO_MASK_ALL);
			check_table(&o, &software, TOR_LEVEL_AGREES, TOR_ALGO_MASK_ALL);
			tor_offers_free(&o);
		}
	}
}

static void table__only_what_may_be_used(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 });
	struct tor_offers o = offers_on(&t, TORCOLL_ALLREDUCE);
	struct tor_table table;

	check_table(&o, &software, TOR_LEVEL_ANY, 1U << TORCOLL_GENERAL | 1U << TORCOLL_RING);
	check_table(&o, &software, TOR_LEVEL_SEQUENTIAL, TOR_ALGO_MASK_ALL);
	tor_table_make(&table, &o, &software, TOR_LEVEL_ANY, 1U << TORCOLL_BINE);
	assert_int_equal(table.n, 0);
	assert_null(tor_table_find(&table, 1));
	tor_offers_free(&o);
}

/* All rates 0: everything takes no time, and something is chosen all the same. */
static void table__rates_of_nothing(void **state)
{
	static const struct tor_rates nothing = { 0 };
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 });
	struct tor_offers o = offers_on(&t, TORCOLL_ALLREDUCE);
	struct tor_table table;

	tor_table_make(&table, &o, &nothing, TOR_LEVEL_ANY, TOR_ALGO_MASK_ALL);
	assert_int_equal(table.n, 1);
	assert_non_null(tor_table_find(&table, ~0ULL));
	tor_offers_free(&o);
}

static void offers__alone_none(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 1, 0 });
	struct tor_offers o = offers_on(&t, TORCOLL_ALLREDUCE);

	assert_int_equal(o.n, 0);
}

/* Several algorithms of every collective, and parameters of those that have some. */
static void offers__of_many_kinds(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 8, 8, 0 });
	u32 c, i, kinds;

	for (c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
		struct tor_offers o = offers_on(&t, c);
		u32 seen = 0, r = 0, blocks = 0;

		for (i = 0; i < o.n; i++) {
			seen |= 1U << o.offer[i].algorithm;
			r += o.offer[i].param[TORCOLL_PARAM_R] > 1;
			blocks += o.offer[i].param[TORCOLL_PARAM_BLOCKS] > 1;
		}
		kinds = hweight64(seen);
		assert_true(kinds >= (c <= TORCOLL_ALLGATHER ? 10 : 5));
		assert_int_equal(r, c == TORCOLL_ALLREDUCE ? 6 : 0);
		assert_int_equal(blocks, c >= TORCOLL_BROADCAST ? 16 : 0);
		tor_offers_free(&o);
	}
}

static void offers__without_memory(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 3, 3, 0 });
	struct tor_call call = { .torus = &t, .ranks = 9, .collective = TORCOLL_ALLREDUCE };
	struct tor_offers o;
	u32 i;

	for (i = 0; i < 12; i++) {
		host_reset();
		host.fail_mask = 1ULL << i;
		assert_int_equal(tor_offers_make(&o, &call), -ENOMEM);
		assert_int_equal(o.n, 0);
		host_check_idle();
	}
	host_reset();
}

/* The table's choice; with some excluded the fastest of the others; nothing where nothing serves. */
static void choose__as_asked(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 });
	struct tor_chooser *c = calloc(1, sizeof(*c));
	u32 small = 1U << TORCOLL_TREE | 1U << TORCOLL_RING;
	struct tor_choice choice;
	u32 first;

	tor_chooser_init(c, &t, NULL, 16, &software);
	assert_int_equal(tor_chooser_make(c, TORCOLL_ALLREDUCE), 0);
	assert_int_equal(tor_chooser_make(c, TORCOLL_REDUCE), 0);
	assert_true(tor_choose(c, TORCOLL_ALLREDUCE, TOR_LEVEL_ANY, 0, 1 << 20, &choice));
	first = choice.algorithm;
	assert_true(tor_choose(c, TORCOLL_ALLREDUCE, TOR_LEVEL_ANY, 1U << first, 1 << 20, &choice));
	assert_int_not_equal(choice.algorithm, first);
	check_size(&c->table[TORCOLL_ALLREDUCE][TOR_LEVEL_ANY], &c->offers[TORCOLL_ALLREDUCE],
		   &software, TOR_LEVEL_ANY, TOR_ALGO_MASK_ALL, 1 << 20);
	assert_true(tor_choose(c, TORCOLL_REDUCE, TOR_LEVEL_AGREES, ~small, 64, &choice));
	assert_true(small & (1U << choice.algorithm));
	assert_false(tor_choose(c, TORCOLL_ALLREDUCE, TOR_LEVEL_ANY, ~0U, 64, &choice));
	assert_false(tor_choose(c, TORCOLL_ALLTOALL, TOR_LEVEL_ANY, 0, 64, &choice));
	tor_chooser_free(c);
	free(c);
}

/* A comm is made by a process that may wait: it does not need what softirqs live on, nor it all in one piece. */
static void choose__waits_for_memory(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 });
	struct tor_chooser *c = calloc(1, sizeof(*c));

	tor_chooser_init(c, &t, NULL, 16, &software);
	assert_int_equal(tor_chooser_make(c, TORCOLL_ALLREDUCE), 0);
	assert_true(host.allocs);
	assert_int_equal(host.table_allocs, host.allocs);
	tor_chooser_free(c);
	free(c);
}

/* What one has walked, another one with the same ranks need not; by its own rates. */
static void choose__copies(void **state)
{
	static const u32 some[] = { 0, 1, 2, 4, 5, 6 }, others[] = { 0, 1, 2, 4, 5, 7 };
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 });
	struct tor_chooser *c = calloc(4, sizeof(*c));
	struct tor_rates rates = software;
	u32 i;

	rates.link *= 50;
	tor_chooser_init(&c[0], &t, some, 6, &software);
	tor_chooser_init(&c[1], &t, some, 6, &rates);
	tor_chooser_init(&c[2], &t, others, 6, &rates);
	tor_chooser_init(&c[3], &t, some, 6, &rates);
	assert_true(tor_chooser_is_like(&c[1], &c[0]));
	assert_false(tor_chooser_is_like(&c[2], &c[0]));
	c[2].members = NULL;
	assert_false(tor_chooser_is_like(&c[2], &c[0]));
	assert_int_equal(tor_chooser_make(&c[0], TORCOLL_ALLREDUCE), 0);
	assert_int_equal(tor_chooser_make(&c[3], TORCOLL_ALLREDUCE), 0);
	host_reset();
	host.fail_mask = 1;
	assert_int_equal(tor_chooser_copy(&c[1], &c[0], TORCOLL_ALLREDUCE), -ENOMEM);
	assert_false(tor_chooser_ready(&c[1], TORCOLL_ALLREDUCE));
	host_reset();
	assert_int_equal(tor_chooser_copy(&c[1], &c[0], TORCOLL_ALLREDUCE), 0);
	assert_int_equal(tor_chooser_memory(&c[1]), tor_chooser_memory(&c[0]));
	assert_memory_equal(c[1].table, c[3].table, sizeof(c->table));
	for (i = 0; i < 4; i++)
		tor_chooser_free(&c[i]);
	free(c);
}

/* A collective's tables are made when asked for, once; memory that could not be had is asked for again. */
static void choose__when_asked(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 });
	struct tor_chooser *c = calloc(1, sizeof(*c));
	u64 empty, one;
	u32 allocs;

	tor_chooser_init(c, &t, NULL, 16, &software);
	empty = tor_chooser_memory(c);
	assert_false(tor_chooser_ready(c, TORCOLL_ALLREDUCE));
	assert_true(tor_chooser_ready(c, TORCOLL_ALLTOALL));
	host_reset();
	host.fail_mask = 1;
	assert_int_equal(tor_chooser_make(c, TORCOLL_ALLREDUCE), -ENOMEM);
	host_reset();
	assert_false(tor_chooser_ready(c, TORCOLL_ALLREDUCE));
	assert_int_equal(tor_chooser_memory(c), empty);
	assert_int_equal(tor_chooser_make(c, TORCOLL_ALLREDUCE), 0);
	one = tor_chooser_memory(c);
	assert_true(one > empty);
	allocs = host.allocs;
	assert_int_equal(tor_chooser_make(c, TORCOLL_ALLREDUCE), 0);
	assert_int_equal(tor_chooser_make(c, TORCOLL_ALLTOALL), 0);
	assert_int_equal(host.allocs, allocs);
	assert_false(tor_chooser_ready(c, TORCOLL_REDUCE));
	tor_chooser_forget(c, TORCOLL_ALLREDUCE);
	assert_false(tor_chooser_ready(c, TORCOLL_ALLREDUCE));
	assert_int_equal(tor_chooser_memory(c), empty);
	tor_chooser_free(c);
	free(c);
	host_check_idle();
}

/* Members that form no torus, and many of them. */
static void choose__lists(void **state)
{
	static const u32 few[] = { 5, 1, 9, 14, 3 };
	struct tor_torus t = torus_of((u32[]){ 32, 8, 0 });
	struct tor_chooser *c = calloc(1, sizeof(*c));
	struct tor_choice choice;
	u32 many[200], i, coll;

	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = i * 7 % 256;
	for (i = 0; i < 2; i++) {
		tor_chooser_init(c, &t, i ? many : few, i ? 200 : 5, &software);
		for (coll = TORCOLL_ALLREDUCE; coll <= TORCOLL_REDUCE; coll++) {
			assert_int_equal(tor_chooser_make(c, coll), 0);
			assert_true(tor_choose(c, coll, TOR_LEVEL_AGREES, 0, 8, &choice));
			assert_true(tor_choose(c, coll, TOR_LEVEL_ANY, 0, 1 << 24, &choice));
		}
		tor_chooser_free(c);
	}
	free(c);
}

static void choose__levels(void **state)
{
	u32 c = TORCOLL_ALLREDUCE;

	assert_int_equal(tor_level_of(c, TORCOLL_I32, TORCOLL_SUM, TORCOLL_BITS_AGREE), TOR_LEVEL_ANY);
	assert_int_equal(tor_level_of(c, TORCOLL_F32, TORCOLL_SUM, 0), TOR_LEVEL_AGREES);
	assert_int_equal(tor_level_of(c, TORCOLL_F32, TORCOLL_MAX, 0), TOR_LEVEL_ANY);
	assert_int_equal(tor_level_of(c, TORCOLL_F64, TORCOLL_SUM, TORCOLL_BITS_RELAXED),
			 TOR_LEVEL_ANY);
	assert_int_equal(tor_level_of(c, TORCOLL_F64, TORCOLL_SUM, TORCOLL_BITS_ORDERED),
			 TOR_LEVEL_SEQUENTIAL);
	assert_int_equal(tor_level_of(TORCOLL_BROADCAST, TORCOLL_F32, 0, TORCOLL_BITS_ORDERED),
			 TOR_LEVEL_ANY);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Every rank's part of an allreduce by swing-bw, piece by piece. */
static void walk(const struct tor_torus *t)
{
	struct tor_call call = {
		.torus = t, .ranks = t->nodes, .collective = TORCOLL_ALLREDUCE,
		.algorithm = TORCOLL_SWING_BW, .count = 1 << 20,
	};
	struct tor_piece piece;
	struct tor_plan plan;
	struct tor_cursor c;
	u32 rank, channel, round;

	for (rank = 0; rank < call.ranks; rank++) {
		assert_int_equal(tor_plan_init(&plan, &call, rank, NULL), 0);
		for (channel = 0; channel < plan.shape.channels; channel++)
			for (round = 0; round < tor_plan_rounds(&plan, channel); round++) {
				tor_plan_begin(&plan, channel, round, &c);
				while (tor_plan_next(&plan, &c, &piece))
					;
			}
	}
}

/* At a comm's creation: all plans that serve take a hundred times as long as one of them, walked through by all ranks. */
static void offers__soon_made(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 8, 8, 0 });
	double begin = cpu_seconds(), one;
	u32 i, c;

	for (i = 0; i < 4; i++)
		walk(&t);
	one = (cpu_seconds() - begin) / 4;
	begin = cpu_seconds();
	for (c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
		struct tor_offers o = offers_on(&t, c);

		tor_offers_free(&o);
	}
	assert_true(cpu_seconds() - begin < 300 * one);
}

static u32 params_of(const struct tor_offers *o, u32 algorithm)
{
	u32 i, n = 0;

	for (i = 0; i < o->n; i++)
		n += o->offer[i].algorithm == algorithm;
	return n;
}

/* With few steps there are fewer parameters of each algorithm, the same ones again; and all those that take no walk. */
static void offers__within_steps(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 8, 8, 0 });
	struct tor_call call = { .torus = &t, .ranks = 64, .collective = TORCOLL_BROADCAST };
	struct tor_offers all, few, again;
	u64 steps;

	assert_int_equal(tor_offers_make(&all, &call), 0);
	for (steps = all.steps; steps > 100; steps /= 4) {
		assert_int_equal(tor_offers_make_within(&few, &call, steps), 0);
		assert_int_equal(tor_offers_make_within(&again, &call, steps), 0);
		assert_true(few.steps <= steps + steps / 10 + 1000);
		assert_int_equal(few.n, again.n);
		assert_memory_equal(few.offer, again.offer, few.n * sizeof(*few.offer));
		assert_int_equal(params_of(&few, TORCOLL_RING), params_of(&all, TORCOLL_RING));
		assert_int_equal(params_of(&few, TORCOLL_CIRCULANT), params_of(&all, TORCOLL_CIRCULANT));
		tor_offers_free(&few);
		tor_offers_free(&again);
	}
	tor_offers_free(&all);
	call.collective = TORCOLL_ALLREDUCE;
	assert_int_equal(tor_offers_make(&all, &call), 0);
	assert_int_equal(tor_offers_make_within(&few, &call, all.steps * 2 / 3), 0);
	assert_true(few.n < all.n);
	assert_in_range(params_of(&few, TORCOLL_TRIVANCE_BW), 1, params_of(&all, TORCOLL_TRIVANCE_BW) - 1);
	assert_true(params_of(&few, TORCOLL_TREE) && params_of(&few, TORCOLL_BIBUCKET));
	tor_offers_free(&few);
	tor_offers_free(&all);
}

/* Lines are alike nowhere: every plan of many nodes would be walked from each of them. */
static void offers__of_many_lines_take_no_minutes(void **state)
{
	static const u32 sides[] = { TORCOLL_SIDE(8, TORCOLL_KIND_LINE), TORCOLL_SIDE(8, TORCOLL_KIND_LINE),
				     TORCOLL_SIDE(8, TORCOLL_KIND_LINE), 32, 0 };
	struct tor_torus t = torus_of(sides);
	struct tor_offers o = offers_on(&t, TORCOLL_ALLREDUCE);

	assert_true(o.steps < 80000000);
	assert_true(params_of(&o, TORCOLL_TREE) && params_of(&o, TORCOLL_BIBUCKET));
	tor_offers_free(&o);
	/* the fast ones are the longest to walk */
	o = offers_on(&t, TORCOLL_REDUCE_SCATTER);
	assert_true(o.steps < 80000000);
	assert_true(params_of(&o, TORCOLL_BIBUCKET));
	tor_offers_free(&o);
}

/* In another order of ranks than the torus's, where nothing but a walk tells what a pipeline takes. */
static void offers__of_pipelines_are_complete(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 1024, 0 });
	struct tor_call call = { .torus = &t, .ranks = 1024, .collective = TORCOLL_BROADCAST };
	struct tor_placement placed;
	u32 members[1024];
	struct tor_offers o;

	for (u32 i = 0; i < ARRAY_SIZE(members); i++)
		members[i] = 1023 - i;
	call.members = members;
	assert_true(tor_placement_find(&placed, &call));
	call.placed = &placed;
	assert_int_equal(tor_offers_make(&o, &call), 0);
	assert_int_equal(params_of(&o, TORCOLL_RING), 9);
	tor_offers_free(&o);
}

/* A process that is being killed is not kept until all is walked. */
static void choose__killed(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 8, 8, 0 });
	struct tor_chooser *c = calloc(1, sizeof(*c));

	tor_chooser_init(c, &t, NULL, 64, &software);
	host_reset();
	host.killed_after = 5;
	assert_int_equal(tor_chooser_make(c, TORCOLL_REDUCE), -EINTR);
	assert_int_equal(host.looks, 6);
	assert_false(tor_chooser_ready(c, TORCOLL_REDUCE));
	host_check_idle();
	host_reset();
	assert_int_equal(tor_chooser_make(c, TORCOLL_REDUCE), 0);
	tor_chooser_free(c);
	free(c);
}

static int setup(void **state)
{
	host_reset();
	return 0;
}

static int teardown(void **state)
{
	host_check_idle();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table__fastest_for_every_size),
		cmocka_unit_test(table__only_what_may_be_used),
		cmocka_unit_test(table__rates_of_nothing),
		cmocka_unit_test(offers__alone_none),
		cmocka_unit_test(offers__of_many_kinds),
		cmocka_unit_test(offers__without_memory),
		cmocka_unit_test(choose__as_asked),
		cmocka_unit_test(choose__waits_for_memory),
		cmocka_unit_test(choose__copies),
		cmocka_unit_test(choose__when_asked),
		cmocka_unit_test(choose__lists),
		cmocka_unit_test(choose__levels),
		cmocka_unit_test(offers__soon_made),
		cmocka_unit_test(offers__within_steps),
		cmocka_unit_test(offers__of_many_lines_take_no_minutes),
		cmocka_unit_test(offers__of_pipelines_are_complete),
		cmocka_unit_test(choose__killed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
