// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Requests for plans: names, what is refused, members that are not all nodes of a torus. */
#include "host_env.h"
#include "plan_cases.h"
#include "plan_rules.h"

/* Is it served? Then it is right. */
static bool right(const struct tor_plan_req *req)
{
	struct dump_error e;
	int ret = plan_rules(req, true, &e);

	if (ret == 0 || ret == -EINVAL)
		fail_msg("%s %s, %u ranks, root %u, count %llu: %s",
			 tor_algorithm_name(req->algorithm), tor_collective_name(req->collective),
			 req->ranks, req->root, (unsigned long long)req->count, e.text);
	return ret == 1;
}

static void refused(const struct tor_plan_req *req, int err)
{
	struct tor_plan p;
	const char *why = NULL;

	assert_int_equal(tor_plan_init(&p, req, 0, &why), err);
	assert_non_null(why);
	assert_null(strchr(why, '\n'));
}

static void plan_init__refuses(void **state)
{
	u32 side[] = { 4, 3 }, members[] = { 0, 1, 5, 12 };
	u64 counts[12] = { 5 };
	struct tor_torus t;
	struct tor_plan_req req, good;

	tor_torus_init(&t, 2, side, 1);
	good = plan_request(&t, TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, 10);
	req = good;
	req.collective = TORCOLL_COLL_COUNT;
	refused(&req, -EINVAL);
	req.collective = TORCOLL_ALLTOALL;
	refused(&req, -EOPNOTSUPP);
	req = good;
	req.algorithm = TORCOLL_ALGO_AUTO;
	refused(&req, -EINVAL);
	req.algorithm = TORCOLL_BINE;
	refused(&req, -EOPNOTSUPP);
	req.algorithm = TORCOLL_ALGO_COUNT;
	refused(&req, -EINVAL);
	req = good;
	req.root = 12;
	refused(&req, -EINVAL);
	req.root = 1;
	refused(&req, -EINVAL);
	req = good;
	req.counts = counts;
	refused(&req, -EINVAL);
	req.collective = TORCOLL_ALLGATHER;
	refused(&req, -EINVAL);
	counts[11] = 6;
	refused(&req, -EINVAL);
	req = good;
	req.param[TORCOLL_PARAM_CHANNELS] = 3;
	refused(&req, -EINVAL);
	req.param[TORCOLL_PARAM_CHANNELS] = 100;
	refused(&req, -EINVAL);
	req = good;
	req.param[TORCOLL_PARAM_R] = 1;
	refused(&req, -EINVAL);
	req = good;
	req.ranks = 0;
	refused(&req, -EINVAL);
	req.ranks = 4;
	refused(&req, -EINVAL);
	req.members = members;
	refused(&req, -EINVAL);
	members[3] = 11;
	refused(&req, -EOPNOTSUPP);
}

/* A row, a column, a plane that wraps, a block; in the order of their nodes. */
static void plan_members__sub_tori(void **state)
{
	u32 side[] = { 4, 3, 5 }, ext[][3] = {
		{ 4, 1, 1 }, { 1, 3, 1 }, { 4, 3, 1 }, { 2, 2, 2 }, { 3, 1, 4 }, { 1, 1, 1 },
	};
	u32 members[60], i, k, n;
	struct tor_plan_req req;
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
		req = plan_request(&t, TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, 5 * n);
		req.members = members;
		req.ranks = n;
		assert_true(right(&req));
		req.algorithm = TORCOLL_SWING_BW;
		assert_true(right(&req));
	}
}

/* Any order of any nodes, by every family that takes lists. */
static void plan_members__any_list(void **state)
{
	u32 side[] = { 4, 3, 2 }, members[20], n, i, a, c, served = 0;
	struct tor_plan_req req;
	struct tor_torus t;

	tor_torus_init(&t, 3, side, 1);
	for (n = 1; n <= ARRAY_SIZE(members); n++)
		for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++)
			for (c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
				for (i = 0; i < n; i++)
					members[i] = (i * 7 + i * i % 5 * 3) % t.nodes;
				req = plan_request(&t, a, c, 3 * n + 1);
				req.members = members;
				req.ranks = n;
				served += right(&req) && n > 4;
				if (c == TORCOLL_BROADCAST || c == TORCOLL_REDUCE)
					req.root = n / 2;
				right(&req);
			}
	assert_true(served >= 16 * (3 + 1 + 5 + 3));
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
		cmocka_unit_test(plan_members__sub_tori),
		cmocka_unit_test(plan_members__any_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
