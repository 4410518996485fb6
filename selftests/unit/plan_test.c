// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Requests for plans: names, what is refused, members that are not all nodes of a torus. */
#include "host_env.h"
#include "plan_cases.h"
#include "plan_rules.h"

#include <stdlib.h>

/* Is it served? Then it is right. */
static bool right(const struct tor_call *call)
{
	struct dump_error e;
	int ret = plan_rules(call, true, &e);

	if (ret == 0 || ret == -EINVAL)
		fail_msg("%s %s, %u ranks, root %u, count %llu: %s",
			 tor_algorithm_name(call->algorithm), tor_collective_name(call->collective),
			 call->ranks, call->root, (unsigned long long)call->count, e.text);
	return ret == 1;
}

static void refused(const struct tor_call *call, int err)
{
	struct tor_plan p;
	const char *why = NULL;

	assert_int_equal(tor_plan_init(&p, call, 0, &why), err);
	assert_non_null(why);
	assert_null(strchr(why, '\n'));
}

static void plan_init__refuses(void **state)
{
	u32 side[] = { 4, 3 }, members[] = { 0, 1, 5, 12 };
	u64 counts[12] = { 5 };
	struct tor_torus t;
	struct tor_call call, good;

	tor_torus_init(&t, 2, side, 1);
	good = plan_request(&t, TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, 10);
	call = good;
	call.collective = TORCOLL_COLL_COUNT;
	refused(&call, -EINVAL);
	call.collective = TORCOLL_ALLTOALL;
	refused(&call, -EOPNOTSUPP);
	call = good;
	call.algorithm = TORCOLL_ALGO_AUTO;
	refused(&call, -EINVAL);
	call.algorithm = TORCOLL_BINE;
	refused(&call, -EOPNOTSUPP);
	call.algorithm = TORCOLL_ALGO_COUNT;
	refused(&call, -EINVAL);
	call = good;
	call.root = 12;
	refused(&call, -EINVAL);
	call.root = 1;
	refused(&call, -EINVAL);
	call = good;
	call.counts = counts;
	refused(&call, -EINVAL);
	call.collective = TORCOLL_ALLGATHER;
	refused(&call, -EINVAL);
	counts[11] = 6;
	refused(&call, -EINVAL);
	call = good;
	call.param[TORCOLL_PARAM_CHANNELS] = 3;
	refused(&call, -EINVAL);
	call.param[TORCOLL_PARAM_CHANNELS] = 100;
	refused(&call, -EINVAL);
	call = good;
	call.param[TORCOLL_PARAM_CHUNKS] = 5;
	refused(&call, -EINVAL);
	call.param[TORCOLL_PARAM_CHUNKS] = U32_MAX;
	refused(&call, -EINVAL);
	call = good;
	call.param[TORCOLL_PARAM_R] = 1;
	refused(&call, -EINVAL);
	call = good;
	call.ranks = 0;
	refused(&call, -EINVAL);
	call.ranks = 4;
	refused(&call, -EINVAL);
	call.members = members;
	refused(&call, -EINVAL);
	members[3] = 11;
	refused(&call, -EOPNOTSUPP);
}

/* A row, a column, a plane that wraps, a block; in the order of their nodes. */
static void plan_members__sub_tori(void **state)
{
	u32 side[] = { 4, 3, 5 }, ext[][3] = {
		{ 4, 1, 1 }, { 1, 3, 1 }, { 4, 3, 1 }, { 2, 2, 2 }, { 3, 1, 4 }, { 1, 1, 1 },
	};
	u32 members[60], i, k, n;
	struct tor_call call;
	struct tor_torus t;

	tor_torus_init(&t, 3, side, 1);
	for (k = 0; k < ARRAY_SIZE(ext); k++) {
		n = ext[k][0] * ext[k][1] * ext[k][2];
		for (i = 0; i < n; i++) {
			u32 node = 3 + 4 * (2 + 3 * 4);

			node = tor_torus_shift(&t, node, 0, i % ext[k][0]);
			node = tor_torus_shift(&t, node, 1, i / ext[k][0] % ext[k][1]);
			members[i] = tor_torus_shift(&t, node, 2, i / ext[k][0] / ext[k][1]);
		}
		call = plan_request(&t, TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, 5 * n);
		call.members = members;
		call.ranks = n;
		assert_true(right(&call));
		call.algorithm = TORCOLL_SWING_BW;
		assert_true(right(&call));
	}
}

/* A random block, which may wrap, its edges in a random order and direction. */
static u32 random_block(const struct tor_torus *t, unsigned int *seed, u32 *members, u32 *ext, u32 *edges)
{
	u32 order[TOR_MAX_DIMS], d, k, i, n = 1, base = rand_r(seed) % t->nodes;
	s32 sign[TOR_MAX_DIMS];

	for (d = 0; d < t->ndim; d++)
		order[d] = d;
	*edges = 0;
	for (k = 0; k < t->ndim; k++) {
		i = k + rand_r(seed) % (t->ndim - k);
		swap(order[k], order[i]);
		ext[k] = rand_r(seed) % 3 ? t->side[order[k]] : 1 + rand_r(seed) % t->side[order[k]];
		sign[k] = rand_r(seed) % 2 ? 1 : -1;
		n *= ext[k];
		*edges += ext[k] > 1;
	}
	for (i = 0; i < n; i++) {
		u32 rest = i;

		members[i] = base;
		for (k = 0; k < t->ndim; rest /= ext[k++])
			members[i] = tor_torus_shift(t, members[i], order[k],
						     sign[k] * (s32)(rest % ext[k]));
	}
	return n;
}

static const struct {
	u32 ndim, side[4];
} block_shapes[] = {
	{ 1, { 7 } }, { 2, { 4, 4 } }, { 2, { 5, 3 } }, { 3, { 2, 3, 4 } }, { 4, { 2, 2, 2, 3 } },
	{ 3, { 2, 1, 5 } },
};

/* Blocks get the families of tori, with the block's own sides. */
static void plan_members__blocks_in_any_order(void **state)
{
	u32 members[64], ext[TOR_MAX_DIMS], edges, i, k, g, turn;
	struct tor_call call;
	unsigned int seed = 7;
	struct tor_plan p;
	struct tor_torus t;

	for (turn = 0; turn < 300; turn++) {
		i = turn % ARRAY_SIZE(block_shapes);
		tor_torus_init(&t, block_shapes[i].ndim, block_shapes[i].side, 1);
		call = plan_request(&t, TORCOLL_TRIVANCE_BW, TORCOLL_ALLREDUCE, 100);
		call.ranks = random_block(&t, &seed, members, ext, &edges);
		call.members = members;
		assert_int_equal(tor_plan_init(&p, &call, 0, NULL), 0);
		assert_false(p.list);
		if (edges)
			assert_int_equal(p.grid.ndim, edges);
		for (k = 0, g = 0; k < t.ndim; k++)
			if (ext[k] > 1)
				assert_int_equal(p.grid.side[g++], ext[k]);
		if (turn % 10 == 0)
			assert_true(right(&call));
	}
}

/* Whatever is taken for a torus is one: who are neighbours on it are so in the fabric, each node is there once. */
static void check_neighbours(const struct tor_plan *p, u32 *blocks)
{
	const u32 *member = p->call.members;
	u32 i, j, d, c;

	if (p->list)
		return;
	++*blocks;
	for (i = 0; i < p->call.ranks; i++) {
		for (j = 0; j < i; j++)
			assert_int_not_equal(member[i], member[j]);
		for (d = 0; d < p->grid.ndim; d++) {
			c = tor_torus_coord(&p->grid, i, d);
			if (c + 1 == p->grid.side[d])
				continue;
			j = i + p->grid.stride[d];
			assert_int_equal(tor_torus_distance(p->call.torus, member[i], member[j]), 1);
		}
	}
}

static void plan_members__nothing_else_is_a_torus(void **state)
{
	u32 members[64], ext[TOR_MAX_DIMS], edges, i, turn, blocks = 0;
	struct tor_call call;
	unsigned int seed = 8;
	struct tor_plan p;
	struct tor_torus t;

	for (turn = 0; turn < 3000; turn++) {
		i = turn % ARRAY_SIZE(block_shapes);
		tor_torus_init(&t, block_shapes[i].ndim, block_shapes[i].side, 1);
		call = plan_request(&t, TORCOLL_RING, TORCOLL_ALLREDUCE, 100);
		call.ranks = random_block(&t, &seed, members, ext, &edges);
		call.members = members;
		i = rand_r(&seed) % call.ranks;
		if (turn % 3)
			swap(members[i], members[call.ranks - 1]);
		else if (turn % 2)
			members[i] = rand_r(&seed) % t.nodes;
		else
			call.ranks = i + 1;
		assert_int_equal(tor_plan_init(&p, &call, 0, NULL), 0);
		check_neighbours(&p, &blocks);
	}
	assert_in_range(blocks, 300, 2700);
}

/* Any order of any nodes, by every family that takes lists. */
static void plan_members__any_list(void **state)
{
	u32 side[] = { 4, 3, 2 }, members[20], n, i, a, c, served = 0;
	struct tor_call call;
	struct tor_torus t;

	tor_torus_init(&t, 3, side, 1);
	for (n = 1; n <= ARRAY_SIZE(members); n++)
		for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++)
			for (c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
				for (i = 0; i < n; i++)
					members[i] = (i * 7 + i * i % 5 * 3) % t.nodes;
				call = plan_request(&t, a, c, 3 * n + 1);
				call.members = members;
				call.ranks = n;
				served += right(&call) && n > 4;
				if (c == TORCOLL_BROADCAST || c == TORCOLL_REDUCE)
					call.root = n / 2;
				right(&call);
			}
	assert_true(served >= 16 * (3 + 1 + 5 + 3));
}

/* Nobody else can see that what a rank sends itself is not what it receives: it is moved within its memory, at once. */
static void plan_init__exchange_with_itself(void **state)
{
	static const u64 sends[] = { 3, 1 }, gets[] = { 1, 1 };
	static const u32 two = 2;
	struct tor_torus t;
	struct tor_call call = {
		.torus = &t, .ranks = 2, .collective = TORCOLL_ALLTOALL, .algorithm = TORCOLL_DIRECT,
		.count = 2, .counts = sends, .from_counts = gets,
	};
	struct tor_plan p;

	assert_int_equal(tor_torus_init(&t, 1, &two, 1), 0);
	assert_int_equal(tor_plan_init(&p, &call, 0, NULL), -EINVAL);
	assert_int_equal(tor_plan_init(&p, &call, 1, NULL), 0);
}

static void plan_names__both_ways(void **state)
{
	u32 i;

	for (i = 0; i < TORCOLL_ALGO_COUNT; i++)
		assert_int_equal(tor_algorithm_parse(tor_algorithm_name(i)), i);
	for (i = TORCOLL_ALLREDUCE; i < TORCOLL_COLL_COUNT; i++)
		assert_int_equal(tor_collective_parse(tor_collective_name(i)), i);
	assert_null(tor_algorithm_name(TORCOLL_ALGO_COUNT));
	assert_null(tor_collective_name(TORCOLL_COLL_NONE));
	assert_int_equal(tor_algorithm_parse("swing"), -EINVAL);
	assert_int_equal(tor_collective_parse(""), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_names__both_ways),
		cmocka_unit_test(plan_init__refuses),
		cmocka_unit_test(plan_init__exchange_with_itself),
		cmocka_unit_test(plan_members__sub_tori),
		cmocka_unit_test(plan_members__blocks_in_any_order),
		cmocka_unit_test(plan_members__nothing_else_is_a_torus),
		cmocka_unit_test(plan_members__any_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
