// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plans: every family and collective over every shape to SWEEP nodes, in four dimensions, right and by the
 * rules; refusals; the reference numbers. An argument is the number of nodes; from 64 on everything is
 * thorough, and takes many minutes.
 */
#include "host_env.h"
#include "plan_rules.h"

static u32 sweep_nodes = 24;
static bool thorough;

/* --- shapes --- */

typedef void (*shape_fn)(const struct tor_torus *t, void *arg);

static void shapes_from(u32 *side, u32 ndim, u32 nodes, u32 most, shape_fn fn, void *arg)
{
	struct tor_torus t;
	u32 n;

	if (ndim) {
		assert_int_equal(tor_torus_init(&t, ndim, side, 2), 0);
		fn(&t, arg);
	}
	for (n = 2; ndim < 4 && nodes * n <= most; n++) {
		side[ndim] = n;
		shapes_from(side, ndim + 1, nodes * n, most, fn, arg);
	}
}

/* Every shape to @most nodes in up to four dimensions, and a single node. */
static void every_shape(u32 most, shape_fn fn, void *arg)
{
	u32 side[TOR_MAX_DIMS] = { 1 };
	struct tor_torus t;

	tor_torus_init(&t, 1, side, 1);
	fn(&t, arg);
	shapes_from(side, 0, 1, most, fn, arg);
}

static const char *shape_name(const struct tor_torus *t)
{
	static char name[64];
	u32 d, n = 0;

	for (d = 0; d < t->ndim; d++)
		n += snprintf(name + n, sizeof(name) - n, "%s%u", d ? "x" : "", t->side[d]);
	return name;
}

static void near_number(double x, double expected, double tolerance)
{
	if (x < expected - tolerance || x > expected + tolerance)
		fail_msg("%.5f instead of %.5f", x, expected);
}

/* --- requests --- */

static struct tor_plan_req request(const struct tor_torus *t, u32 algorithm, u32 collective,
				   u64 count)
{
	return (struct tor_plan_req){
		.torus = t,
		.ranks = t->nodes,
		.algorithm = algorithm,
		.collective = collective,
		.count = count,
	};
}

/* Whether it was served. */
static bool right(const struct tor_plan_req *req, bool stability)
{
	struct dump_error e;
	int ret = plan_rules(req, stability, &e);

	if (ret == 0 || ret == -EINVAL)
		fail_msg("%s %s on %s, %u ranks, root %u, count %llu: %s",
			 tor_algorithm_name(req->algorithm), tor_collective_name(req->collective),
			 shape_name(req->torus), req->ranks, req->root,
			 (unsigned long long)req->count, e.text);
	return ret == 1;
}

/* Blocks of all sizes, many of them empty; @kind 0: one rank has all. */
static u64 odd_counts(u64 *counts, u32 ranks, u32 kind)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ranks; i++) {
		counts[i] = kind ? (i * 7 + kind) % 5 * (i % 3) : (i == ranks / 2) * 9;
		sum += counts[i];
	}
	return sum;
}

static void sweep_collective(const struct tor_torus *t, u32 algorithm, u32 collective)
{
	struct tor_plan_req req = request(t, algorithm, collective, 5 * t->nodes + 3);
	u64 counts[1024];
	u32 kind;

	if (!right(&req, t->nodes <= 32))
		return;
	if (collective == TORCOLL_BROADCAST || collective == TORCOLL_REDUCE)
		for (req.root = t->nodes - 1; req.root && t->nodes <= 17; req.root--)
			right(&req, true);
	req.root = t->nodes / 3;
	if (collective != TORCOLL_BROADCAST && collective != TORCOLL_REDUCE)
		req.root = 0;
	req.count = 1;
	right(&req, true);
	req.count = t->nodes / 2;
	right(&req, false);
	req.count = 0;
	right(&req, false);
	req.count = 2 * t->nodes + 1;
	for (req.param[TORCOLL_PARAM_CHANNELS] = 1; req.param[TORCOLL_PARAM_CHANNELS] <= 2;
	     req.param[TORCOLL_PARAM_CHANNELS]++) {
		struct tor_plan p;

		if (!tor_plan_init(&p, &req, 0, NULL))
			right(&req, t->nodes <= 16);
	}
	req.param[TORCOLL_PARAM_CHANNELS] = 0;
	if (collective != TORCOLL_REDUCE_SCATTER && collective != TORCOLL_ALLGATHER)
		return;
	for (kind = 0; kind < 2; kind++) {
		req.counts = counts;
		req.count = odd_counts(counts, t->nodes, kind);
		right(&req, false);
	}
}

static void sweep_shape(const struct tor_torus *t, void *arg)
{
	u32 coll;

	for (coll = TORCOLL_ALLREDUCE; coll <= TORCOLL_REDUCE; coll++)
		sweep_collective(t, *(u32 *)arg, coll);
}

static void sweep(u32 algorithm)
{
	every_shape(sweep_nodes, sweep_shape, &algorithm);
}

/* A few larger ones, every collective. */
static void plan__larger_shapes(void **state)
{
	static const u32 sides[][TOR_MAX_DIMS + 1] = {
		{ 66 }, { 2, 2, 2, 2, 2, 2 }, { 5, 5, 3 }, { 65 }, { 81 }, { 81, 2 }, { 243 }, { 100 }, { 128 }, { 9, 14 },
		{ 3, 3, 3, 2, 2, 2 }, { 16, 16 }, { 5, 5, 5, 5 }, { 1000 }, { 32, 32 },
	};
	struct tor_torus t;
	u32 i, a, c, ndim;

	for (i = 0; i < (thorough ? ARRAY_SIZE(sides) : 3); i++) {
		for (ndim = 0; sides[i][ndim]; ndim++)
			;
		tor_torus_init(&t, ndim, sides[i], 1);
		for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++)
			for (c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
				struct tor_plan_req req = request(&t, a, c, 2 * t.nodes + 1);

				right(&req, false);
			}
	}
}

/* Every number of blocks, every collective, irregular counts; several p. */
static void plan_circulant__blocks(void **state)
{
	static const u32 ranks[] = { 2, 3, 5, 8, 13, 17, 24 };
	struct tor_plan_req req;
	u64 counts[24];
	struct tor_torus t;
	u32 i, n, c;

	for (i = 0; i < ARRAY_SIZE(ranks); i++) {
		tor_torus_init(&t, 1, &ranks[i], 1);
		for (n = 1; n <= 40; n += thorough ? 1 : 1 + n / 3)
			for (c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
				req = request(&t, TORCOLL_CIRCULANT, c, 45);
				req.param[TORCOLL_PARAM_BLOCKS] = n;
				if (c == TORCOLL_BROADCAST || c == TORCOLL_REDUCE)
					req.root = n % ranks[i];
				right(&req, n % 8 == 3);
				if (c != TORCOLL_REDUCE_SCATTER && c != TORCOLL_ALLGATHER)
					continue;
				req.counts = counts;
				req.count = odd_counts(counts, ranks[i], n % 4);
				right(&req, false);
			}
	}
}

/* Every r, both groups. Bytes per node as the paper says, cyclic and XOR. */
static void check_general(u32 n, u32 r, u32 group)
{
	struct tor_plan_req req;
	struct tor_torus t;
	struct dump_cost cost;
	struct dump d = {};
	u32 k, left = n, steps = 0;
	double blocks;

	while (1u << steps < n)
		steps++;
	tor_torus_init(&t, 1, &n, 1);
	req = request(&t, TORCOLL_GENERAL, TORCOLL_ALLREDUCE, 2 * n);
	req.param[TORCOLL_PARAM_R] = r + 1;
	req.param[TORCOLL_PARAM_GROUP] = group;
	assert_true(right(&req, true));
	for (k = 0; k < steps - r; k++)
		left = (left + 1) / 2;
	if (group == 2)
		blocks = 2 * n + ((double)r - 2) * left;
	else
		blocks = r < steps ? 2 * (n - 1) + (left - 1) * (steps - 1) : steps * n;
	assert_int_equal(dump_make(&d, &req, NULL), 0);
	dump_cost(&d, &cost);
	dump_free(&d);
	assert_int_equal(cost.rounds, 2 * steps - r);
	near_number(cost.sent_max, 2 * blocks, 1e-9);
}

static void plan_general__every_r(void **state)
{
	u32 n, r;

	for (n = 2; n <= 36; n++)
		for (r = 0; r == 0 || 1u << (r - 1) < n; r++) {
			check_general(n, r, 1);
			if (!(n & (n - 1)))
				check_general(n, r, 2);
		}
}

#define SWEEP(name, algorithm)				\
static void plan__##name(void **state)			\
{							\
	sweep(TORCOLL_##algorithm);			\
}

SWEEP(swing_bw, SWING_BW)
SWEEP(bucket, BUCKET)
SWEEP(bibucket, BIBUCKET)
SWEEP(recdoub_bw, RECDOUB_BW)
SWEEP(trivance_lat, TRIVANCE_LAT)
SWEEP(window, WINDOW)
SWEEP(general, GENERAL)
SWEEP(circulant, CIRCULANT)
SWEEP(flood, FLOOD)
SWEEP(tree, TREE)
SWEEP(hamiltonian, HAMILTONIAN)
SWEEP(ring, RING)
SWEEP(allport, ALLPORT)
SWEEP(moore, MOORE)
SWEEP(bruck_lat, BRUCK_LAT)
SWEEP(recdoub_lat, RECDOUB_LAT)
SWEEP(swing_lat, SWING_LAT)
SWEEP(bruck_bw, BRUCK_BW)
SWEEP(trivance_bw, TRIVANCE_BW)
SWEEP(recdoub_bw_mirrored, RECDOUB_BW_MIRRORED)

/* --- numbers of the papers --- */

/* The cost of an allreduce of @per elements per rank; sides end with 0. */
static struct dump_cost cost_of(u32 algorithm, u32 per, const u32 *side)
{
	struct tor_plan_req req;
	struct dump_cost cost;
	struct tor_torus t;
	struct dump d = {};
	u32 ndim = 0;

	while (side[ndim])
		ndim++;
	assert_int_equal(tor_torus_init(&t, ndim, side, 2), 0);
	req = request(&t, algorithm, TORCOLL_ALLREDUCE, (u64)per * t.nodes);
	assert_int_equal(dump_make(&d, &req, NULL), 0);
	dump_cost(&d, &cost);
	dump_free(&d);
	return cost;
}

#define COST(algorithm, per, ...) \
	cost_of(TORCOLL_##algorithm, per, (u32[]){ __VA_ARGS__, 0 })

static void plan_cost__swing_bw(void **state)
{
	near_number(COST(SWING_BW, 4, 8, 8).factor, 1.0781, 0.00005);
	near_number(COST(SWING_BW, 4, 16, 16).factor, 1.1367, 0.00005);
	near_number(COST(SWING_BW, 4, 32, 32).factor, 1.1689, 0.00005);
	near_number(COST(SWING_BW, 4, 64, 64).factor, 1.1843, 0.00005);
	near_number(COST(SWING_BW, 6, 16, 16, 16).factor, 1.0339, 0.00005);
	near_number(COST(SWING_BW, 2, 10).factor, 1.70, 0.005);
	near_number(COST(SWING_BW, 2, 16).factor, 1.44, 0.005);
	near_number(COST(SWING_BW, 4, 10, 10).factor, 1.35, 0.005);
	near_number(COST(SWING_BW, 2, 7).factor, 2.86, 0.005);
	near_number(COST(SWING_BW, 4, 7, 7).factor, 3.43, 0.005);
}

static void plan_cost__bibucket(void **state)
{
	struct dump_cost c = COST(BIBUCKET, 4, 8, 8);

	assert_int_equal(c.rounds, 16);
	assert_int_equal(c.hops, 16);
	near_number(c.factor, 63.0 / 64, 1e-9);
	near_number(COST(BIBUCKET, 12, 5, 5, 5).factor, 124.0 / 125, 1e-9);
	c = COST(BIBUCKET, 4, 8, 4);
	assert_int_equal(c.rounds, 12);
	near_number(c.factor, 1.47, 0.005);
	near_number(COST(BIBUCKET, 4, 16, 4).factor, 1.73, 0.005);
}

static void plan_cost__recdoub(void **state)
{
	near_number(COST(RECDOUB_BW_MIRRORED, 4, 8, 8).factor, 1.5, 0.00005);
	near_number(COST(RECDOUB_BW_MIRRORED, 4, 16, 16).factor, 1.7344, 0.00005);
	near_number(COST(RECDOUB_BW_MIRRORED, 4, 32, 32).factor, 1.8633, 0.00005);
	near_number(COST(RECDOUB_BW_MIRRORED, 4, 64, 64).factor, 1.9307, 0.00005);
}

static void plan_cost__trivance_bw(void **state)
{
	near_number(COST(TRIVANCE_BW, 4, 27, 27).factor, 1.2840, 0.00005);
	near_number(COST(TRIVANCE_BW, 4, 6, 6).factor, 1.139, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 7, 7).factor, 1.143, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 10, 10).factor, 1.110, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 15, 15).factor, 1.138, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 16, 16).factor, 1.328, 0.0005);
	if (!thorough)
		return;
	near_number(COST(TRIVANCE_BW, 4, 24, 24).factor, 1.300, 0.0005);
	near_number(COST(TRIVANCE_BW, 4, 32, 32).factor, 1.218, 0.0005);
}

static void plan_cost__bruck_bw(void **state)
{
	/* limits 4.0 and 3.25, from below */
	near_number(COST(BRUCK_BW, 2, 27, 27).factor, 3.654, 0.0005);
	near_number(COST(BRUCK_BW, 3, 9, 9, 9).factor, 2.9959, 0.00005);
}

static void plan_cost__latency_forms(void **state)
{
	struct dump_cost c = COST(SWING_LAT, 1, 64, 64);

	assert_int_equal(c.rounds, 12);
	assert_int_equal(c.hops, 84);
	c = COST(RECDOUB_LAT, 1, 64, 64);
	assert_int_equal(c.rounds, 12);
	assert_int_equal(c.hops, 126);
	c = COST(TRIVANCE_LAT, 1, 27, 27);
	assert_int_equal(c.rounds, 6);
	assert_int_equal(c.hops, 26);
	assert_int_equal(COST(TRIVANCE_LAT, 1, 16, 10).rounds, 6);
	c = COST(WINDOW, 2, 8, 4);
	assert_int_equal(c.rounds, 6);
	near_number(c.w, 5.0, 1e-9);
	assert_int_equal(COST(MOORE, 1, 9, 9).rounds, 2);
	assert_int_equal(COST(MOORE, 1, 3, 3, 3).rounds, 1);
	assert_int_equal(COST(ALLPORT, 1, 5, 5).rounds, 2);
	assert_int_equal(COST(ALLPORT, 1, 25, 25).rounds, 4);
	assert_int_equal(COST(ALLPORT, 1, 7, 7, 7).rounds, 3);
}

/* --- requests --- */

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
	good = request(&t, TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, 10);
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
		req = request(&t, TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE, 5 * n);
		req.members = members;
		req.ranks = n;
		assert_true(right(&req, true));
		req.algorithm = TORCOLL_SWING_BW;
		assert_true(right(&req, true));
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
				req = request(&t, a, c, 3 * n + 1);
				req.members = members;
				req.ranks = n;
				served += right(&req, true) && n > 4;
				if (c == TORCOLL_BROADCAST || c == TORCOLL_REDUCE)
					req.root = n / 2;
				right(&req, true);
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_names__both_ways),
		cmocka_unit_test(plan_init__refuses),
		cmocka_unit_test(plan_members__sub_tori),
		cmocka_unit_test(plan_members__any_list),
		cmocka_unit_test(plan_cost__swing_bw),
		cmocka_unit_test(plan_cost__bibucket),
		cmocka_unit_test(plan_cost__recdoub),
		cmocka_unit_test(plan_cost__trivance_bw),
		cmocka_unit_test(plan_cost__bruck_bw),
		cmocka_unit_test(plan_cost__latency_forms),
		cmocka_unit_test(plan_circulant__blocks),
		cmocka_unit_test(plan_general__every_r),
		cmocka_unit_test(plan__larger_shapes),
		cmocka_unit_test(plan__swing_bw),
		cmocka_unit_test(plan__bucket),
		cmocka_unit_test(plan__bibucket),
		cmocka_unit_test(plan__recdoub_bw),
		cmocka_unit_test(plan__trivance_lat),
		cmocka_unit_test(plan__window),
		cmocka_unit_test(plan__general),
		cmocka_unit_test(plan__circulant),
		cmocka_unit_test(plan__flood),
		cmocka_unit_test(plan__tree),
		cmocka_unit_test(plan__hamiltonian),
		cmocka_unit_test(plan__ring),
		cmocka_unit_test(plan__allport),
		cmocka_unit_test(plan__moore),
		cmocka_unit_test(plan__bruck_lat),
		cmocka_unit_test(plan__recdoub_lat),
		cmocka_unit_test(plan__swing_lat),
		cmocka_unit_test(plan__bruck_bw),
		cmocka_unit_test(plan__trivance_bw),
		cmocka_unit_test(plan__recdoub_bw_mirrored),
	};

	if (argc > 1) {
		sweep_nodes = atoi(argv[1]);
		thorough = sweep_nodes >= 64;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
