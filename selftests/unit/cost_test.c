// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Costs: a walk by symmetry counts what one of all ranks does; that is what a dump costs; times are sums of
 * their parts; the reference numbers on shapes that are too large for a dump.
 */
#include "host_env.h"
#include "../../tools/torcoll-plan/dump.h"

#include "core/choose/cost.h"
#include "core/link/route.h"

#define LINE(n)	TORCOLL_SIDE(n, TORCOLL_KIND_LINE)
#define MESH(n)	TORCOLL_SIDE(n, TORCOLL_KIND_MESH)
#define CHORD(n)	TORCOLL_SIDE(n, TORCOLL_KIND_CHORD)

static struct tor_torus torus_of(const u32 *side, u32 cables)
{
	struct tor_torus t;
	u32 ndim = 0;

	while (side[ndim])
		ndim++;
	assert_int_equal(tor_torus_init(&t, ndim, side, cables), 0);
	return t;
}

static struct tor_call request(const struct tor_torus *t, u32 algorithm, u32 collective)
{
	return (struct tor_call){
		.torus = t,
		.ranks = t->nodes,
		.algorithm = algorithm,
		.collective = collective,
	};
}

/* Parameters for which a preset depends on the count, and some that change a plan. */
static void set_variant(struct tor_call *call, u32 variant)
{
	bool piped = (TOR_COLL(BROADCAST) | TOR_COLL(REDUCE) | TOR_COLL(SCAN) | TOR_COLL(EXSCAN)) >>
		     call->collective & 1;

	memset(call->param, 0, sizeof(call->param));
	if (piped && (call->algorithm == TORCOLL_CIRCULANT || call->algorithm == TORCOLL_RING))
		call->param[TORCOLL_PARAM_BLOCKS] = 1 + 4 * variant;
	else if (call->algorithm == TORCOLL_GENERAL)
		call->param[TORCOLL_PARAM_R] = variant;
	else if (variant == 1)
		call->param[TORCOLL_PARAM_CHANNELS] = 1;
	else if (variant == 2)
		call->param[TORCOLL_PARAM_VARIANT] = 4;
	else if (variant == 3)
		call->param[TORCOLL_PARAM_CHUNKS] = 2;
}

static void near_number(double x, double expected, double tolerance)
{
	if (!(x >= expected - tolerance && x <= expected + tolerance))
		fail_msg("%.6f instead of %.6f", x, expected);
}

static double ratio(u64 fraction)
{
	return fraction / (double)TOR_COST_ONE;
}

static const char *name_of(const struct tor_call *call)
{
	static char name[128];
	u32 d, n = 0;

	for (d = 0; d < call->torus->ndim; d++)
		n += snprintf(name + n, sizeof(name) - n, "%s%u", d ? "x" : "",
			      call->torus->side[d]);
	snprintf(name + n, sizeof(name) - n, " (%u) %s %s", call->torus->cables,
		 tor_algorithm_name(call->algorithm), tor_collective_name(call->collective));
	return name;
}

/* Walk by symmetry, every rank's walk, and a dump that is costed say the same. */
static bool same_costs(struct tor_call *call)
{
	u32 blocks = max(call->param[TORCOLL_PARAM_BLOCKS], 1U);
	struct tor_cost quick, slow;
	struct dump_cost cost;
	struct dump d = { 0 };
	struct tor_tally t;
	int err;

	err = tor_cost_plan(call, &quick, NULL);
	if (err) {
		assert_true(err == -EOPNOTSUPP || err == -EINVAL);
		return false;
	}
	tor_tally_init(&t, call->torus);
	assert_int_equal(tor_cost_walk(&t, call, call->torus->side, TOR_WALK_ANY, &slow, NULL), 0);
	tor_tally_free(&t);
	if (memcmp(&quick, &slow, sizeof(quick)))
		fail_msg("%s: by symmetry S %u H %u W %f M %f, by every rank %u %u %f %f",
			 name_of(call), quick.rounds, quick.hops, ratio(quick.w),
			 ratio(quick.messages), slow.rounds, slow.hops, ratio(slow.w),
			 ratio(slow.messages));
	/* what all families' channels divide */
	call->count = 2ULL * 60 * 16 * blocks * call->ranks;
	assert_int_equal(dump_make(&d, call, NULL), 0);
	dump_cost(&d, &cost);
	dump_free(&d);
	if (cost.rounds != quick.rounds || cost.hops != quick.hops)
		fail_msg("%s: S %u H %u, of the dump %u %u", name_of(call), quick.rounds, quick.hops,
			 cost.rounds, cost.hops);
	/* ports of chords share blocks by fractions that no count divides */
	near_number(ratio(quick.w), cost.w, tor_torus_has_chords(call->torus) ? 1e-3 : 1e-6);
	near_number(ratio(quick.sent) * call->count, cost.sent_mean, 1e-6 * call->count);
	near_number(ratio(quick.messages) * call->ranks,
		    cost.handled_mean * call->torus->nodes, 1e-5 * call->ranks);
	return true;
}

static u32 sweep_costs(const struct tor_torus *t)
{
	u32 a, c, v, served = 0;

	for (a = TORCOLL_ALGO_AUTO + 1; a < TORCOLL_ALGO_COUNT; a++)
		for (c = 0; c < TORCOLL_COLL_COUNT; c++)
			for (v = 0; v < 4 && tor_algorithm_serves(a) & (1U << c); v++) {
				struct tor_call call = request(t, a, c);

				set_variant(&call, v);
				served += same_costs(&call);
			}
	return served;
}

/* Powers of two and of three, even and odd sides, plus shapes, cycles, single cables, sides of 1. */
/* Links that frames to @dst cross, half of them with each tie bit. */
static void follow_frames(const struct tor_torus *t, struct tor_routes **routes, u32 dst, u64 *load)
{
	u32 tie, at, port, from;

	for (tie = 0; tie < 2; tie++)
		for (at = 0, from = TOR_NO_PORT; at != dst; at = tor_torus_neighbour(t, at, port)) {
			port = tor_routes_port(t, routes[at], dst, tie, ~0U, from);
			assert_int_not_equal(port, TOR_NO_PORT);
			load[at * t->ports + port]++;
			from = tor_torus_peer_port(t, port);
		}
}

/* What is counted for a message is where its frames go. */
static void tally_message__goes_the_ways_of_frames(void **state)
{
	static const u32 shapes[][4] = {
		{ 8 }, { 4, 4 }, { MESH(4), 3 }, { 8, CHORD(3) }, { 16, CHORD(4) }, { 18, CHORD(3), CHORD(8) },
	};
	struct tor_routes *routes[18];
	struct tor_tally tally;
	u64 load[18 * 6];
	u32 i, node;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct tor_torus t = torus_of(shapes[i], 1);

		for (node = 0; node < t.nodes; node++)
			routes[node] = tor_routes_build(&t, node, NULL);
		for (node = 1; node < t.nodes; node++) {
			memset(load, 0, sizeof(load));
			follow_frames(&t, routes, node, load);
			tor_tally_init(&tally, &t);
			tor_tally_begin(&tally);
			assert_int_equal(tor_tally_part(&tally, NULL), 0);
			tor_tally_message(&tally, 0, node, 1);
			assert_memory_equal(tally.load, load, t.nodes * t.ports * sizeof(*load));
			assert_int_equal(tally.longest, tor_torus_distance(&t, 0, node));
			tor_tally_free(&tally);
		}
		for (node = 0; node < t.nodes; node++)
			tor_env_table_free(routes[node]);
	}
}

static void cost_plan__symmetry_is_no_guess(void **state)
{
	static const u32 shapes[][4] = {
		{ 2 }, { 3 }, { 5 }, { 8 }, { 9 }, { 12 }, { 7 }, { 2, 2 }, { 4, 4 }, { 3, 3 },
		{ 5, 5 }, { 4, 2 }, { 2, 4 }, { 6, 4 }, { 6, 3 }, { 3, 6 }, { 7, 2 }, { 1, 4, 3 },
		{ 8, 4 }, { 2, 2, 2 }, { 4, 1, 4 }, { 3, 3, 3 }, { 4, 2, 3 },
		{ LINE(2) }, { LINE(3) }, { LINE(4) }, { LINE(7) }, { MESH(3) }, { MESH(4) }, { MESH(8) },
		{ 5, LINE(3) }, { LINE(4), 4 }, { MESH(4), 4 }, { 4, MESH(4) }, { LINE(3), MESH(3), 2 },
		{ MESH(3), LINE(3) }, { MESH(4), MESH(4) },
		{ 5, CHORD(2) }, { 8, CHORD(3) }, { 13, CHORD(5) }, { 16, CHORD(4) }, { 12, CHORD(3), CHORD(5) },
	};
	u32 i, served = 0;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct tor_torus t = torus_of(shapes[i], 2);

		served += sweep_costs(&t);
		t = torus_of(shapes[i], 1);
		served += sweep_costs(&t);
	}
	/* not all of it was refused */
	assert_true(served > 20 * ARRAY_SIZE(shapes));
}

static void cost_plan__lists_are_walked_through(void **state)
{
	static const u32 members[] = { 5, 1, 9, 14, 3 };
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 }, 2);
	u32 a, served = 0;

	for (a = TORCOLL_ALGO_AUTO + 1; a < TORCOLL_ALGO_COUNT; a++) {
		struct tor_call call = request(&t, a, TORCOLL_ALLREDUCE);

		if (!(tor_algorithm_serves(a) & (1U << TORCOLL_ALLREDUCE)))
			continue;
		call.members = members;
		call.ranks = ARRAY_SIZE(members);
		served += same_costs(&call);
	}
	assert_true(served >= 5);
}

/* Partners at distances of 1, 2 and 4: 3 vectors are sent and received, and 0 + 1 + 3 passed on. */
static void cost_plan__bytes_passed_on_count_a_quarter(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 8, 0 }, 2);
	struct tor_call call = request(&t, TORCOLL_RECDOUB_LAT, TORCOLL_ALLREDUCE);
	struct tor_cost cost;

	assert_int_equal(tor_cost_plan(&call, &cost, NULL), 0);
	near_number(ratio(cost.messages), 2 * 3 + 4, 1e-6);
	near_number(ratio(cost.sent), 3, 1e-6);
	near_number(ratio(cost.moved), 2 * 3 + 4 / 4.0, 1e-6);
}

static void cost_plan__alone(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 1, 0 }, 2);
	struct tor_call call = request(&t, TORCOLL_TREE, TORCOLL_ALLREDUCE);
	struct tor_cost cost;

	assert_int_equal(tor_cost_plan(&call, &cost, NULL), 0);
	assert_int_equal(cost.rounds, 0);
	assert_true(!cost.w && !cost.messages && !cost.sent && !cost.reduced);
}

static void cost_plan__without_memory(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 }, 2);
	struct tor_call call = request(&t, TORCOLL_TREE, TORCOLL_ALLREDUCE);
	struct tor_cost cost;
	u32 i;

	for (i = 0; i < 2; i++) {
		host_reset();
		host.fail_mask = 1ULL << i;
		assert_int_equal(tor_cost_plan(&call, &cost, NULL), -ENOMEM);
		host_check_idle();
	}
	host_reset();
}

/* --- time --- */

static const struct tor_rates some_rates = {
	.e = 7000000, .f = 2000000, .link = 800123, .message = 900000, .byte = 333000,
};

static void cost_line__is_the_sum_of_parts(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 8, 4, 0 }, 2);
	struct tor_call call = request(&t, TORCOLL_SWING_BW, TORCOLL_ALLREDUCE);
	struct tor_cost cost;
	struct tor_time time;
	u64 bytes, sum;

	assert_int_equal(tor_cost_plan(&call, &cost, NULL), 0);
	for (bytes = 0; bytes < 1ULL << 41; bytes = bytes ? 7 * bytes : 1) {
		tor_cost_parts(&cost, &some_rates, bytes, &time);
		sum = time.rounds + time.hops + time.link + time.messages + time.bytes;
		near_number(tor_line_at(tor_cost_line(&cost, &some_rates), bytes), sum,
			    2 + 1e-6 * sum);
	}
	tor_cost_parts(&cost, &some_rates, 1 << 20, &time);
	assert_int_equal(time.rounds, cost.rounds * 7000000);
	assert_int_equal(time.hops, (cost.hops - cost.rounds) * 2000000);
	near_number(time.link, ratio(cost.w) * (1 << 20) * 800.123, 2000);
	near_number(time.messages, ratio(cost.messages) * 900000, 2);
	near_number(time.bytes, ratio(cost.moved) * (1 << 20) * 333, 2000);
}

/* As many times the messages; of links and nodes, whichever is quicker works while the other does. */
static void cost_line__chunks_share_the_quicker_of_links_and_nodes(void **state)
{
	struct tor_torus t = torus_of((u32[]){ 4, 4, 0 }, 2);
	struct tor_call call = request(&t, TORCOLL_BIBUCKET, TORCOLL_ALLREDUCE);
	struct tor_rates rates = some_rates;
	struct tor_cost whole, four;
	struct tor_time a, b;

	assert_int_equal(tor_cost_plan(&call, &whole, NULL), 0);
	call.param[TORCOLL_PARAM_CHUNKS] = 4;
	assert_int_equal(tor_cost_plan(&call, &four, NULL), 0);
	assert_int_equal(four.messages, 4 * whole.messages);
	assert_int_equal(four.moved, whole.moved);
	assert_int_equal(four.w, whole.w);
	/* nodes take longer than links: 3.75 of a third against 0.47 of 0.8 */
	tor_cost_parts(&whole, &rates, 1 << 20, &a);
	tor_cost_parts(&four, &rates, 1 << 20, &b);
	assert_int_equal(a.bytes, b.bytes);
	near_number(b.link, a.link / 4.0, 1000);
	rates.link *= 10;
	tor_cost_parts(&whole, &rates, 1 << 20, &a);
	tor_cost_parts(&four, &rates, 1 << 20, &b);
	assert_int_equal(a.link, b.link);
	near_number(b.bytes, a.bytes / 4.0, 1000);
}

/* --- numbers of the papers, and limits --- */

static struct tor_cost cost_on(u32 algorithm, const u32 *side)
{
	struct tor_torus t = torus_of(side, 2);
	struct tor_call call = request(&t, algorithm, TORCOLL_ALLREDUCE);
	struct tor_cost cost;

	assert_int_equal(tor_cost_plan(&call, &cost, NULL), 0);
	return cost;
}

static double factor_on(u32 algorithm, const u32 *side)
{
	u32 d = 0;

	while (side[d])
		d++;
	return ratio(cost_on(algorithm, side).w) * d;
}

#define FACTOR(algorithm, ...)	factor_on(TORCOLL_##algorithm, (u32[]){ __VA_ARGS__, 0 })
#define COST(algorithm, ...)	cost_on(TORCOLL_##algorithm, (u32[]){ __VA_ARGS__, 0 })

static void cost_numbers__factors(void **state)
{
	near_number(FACTOR(SWING_BW, 8, 8), 1.0781, 0.00005);
	near_number(FACTOR(SWING_BW, 16, 16), 1.1367, 0.00005);
	near_number(FACTOR(SWING_BW, 32, 32), 1.1689, 0.00005);
	near_number(FACTOR(SWING_BW, 64, 64), 1.1843, 0.00005);
	near_number(FACTOR(SWING_BW, 128, 128), 1.1922, 0.00005);
	near_number(FACTOR(SWING_BW, 16, 16, 16), 1.0339, 0.00005);
	near_number(FACTOR(TRIVANCE_BW, 27, 27), 1.2840, 0.00005);
	near_number(FACTOR(RECDOUB_BW_MIRRORED, 8, 8), 1.5, 0.00005);
	near_number(FACTOR(RECDOUB_BW_MIRRORED, 16, 16), 1.7344, 0.00005);
	near_number(FACTOR(RECDOUB_BW_MIRRORED, 32, 32), 1.8633, 0.00005);
	near_number(FACTOR(RECDOUB_BW_MIRRORED, 64, 64), 1.9307, 0.00005);
	near_number(FACTOR(BIBUCKET, 64, 64), 4095 / 4096., 0.00005);
}

/* Limits are approached from below, and come near on the largest shapes. */
static void cost_numbers__limits(void **state)
{
	near_number(FACTOR(SWING_BW, 1024, 1024), 1.2, 0.002);
	near_number(FACTOR(SWING_BW, 64, 64, 64), 1.0370, 0.0005);
	near_number(FACTOR(SWING_BW, 32, 32, 32, 32), 1.0084, 0.0003);
	near_number(FACTOR(TRIVANCE_BW, 729, 729), 1.3333, 0.003);
	near_number(FACTOR(TRIVANCE_BW, 81, 81, 81), 1.0833, 0.0005);
	near_number(FACTOR(TRIVANCE_BW, 27, 27, 27, 27), 1.0256, 0.0005);
	near_number(FACTOR(BRUCK_BW, 729, 729), 4.0, 0.03);
	near_number(FACTOR(BRUCK_BW, 81, 81, 81), 3.25, 0.005);
	near_number(FACTOR(BRUCK_BW, 27, 27, 27, 27), 3.077, 0.005);
}

static void cost_numbers__rounds_and_hops(void **state)
{
	struct tor_cost c;

	c = COST(SWING_LAT, 64, 64);
	assert_true(c.rounds == 12 && c.hops == 84);
	c = COST(RECDOUB_LAT, 64, 64);
	assert_true(c.rounds == 12 && c.hops == 126);
	c = COST(TRIVANCE_LAT, 27, 27);
	assert_true(c.rounds == 6 && c.hops == 26);
	c = COST(BIBUCKET, 8, 8);
	assert_true(c.rounds == 16 && c.hops == 16);
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

/* Walks that would take seconds are not quick, wherever the symmetry of a plan leads. */
static void tor_cost_is_quick__no_walk_of_seconds(void **state)
{
	static const struct {
		u32 side[5];
		u32 ndim;
		u32 collective;
		u32 algorithm;
		bool quick;
	} cases[] = {
		{ { 16, 16 }, 2, TORCOLL_ALLREDUCE, TORCOLL_DIRECT, true },
		{ { 32, 32 }, 2, TORCOLL_ALLREDUCE, TORCOLL_DIRECT, true },
		{ { 64, 64 }, 2, TORCOLL_ALLREDUCE, TORCOLL_DIRECT, false },
		{ { 16, 16, 16 }, 3, TORCOLL_ALLREDUCE, TORCOLL_DIRECT, false },
		{ { 8, 8, 8, 8, 8 }, 5, TORCOLL_ALLREDUCE, TORCOLL_DIRECT, false },
		{ { 16, CHORD(4) }, 2, TORCOLL_BROADCAST, TORCOLL_FLOOD, true },
		{ { 512, CHORD(2) }, 2, TORCOLL_BROADCAST, TORCOLL_FLOOD, false },
		{ { 512, CHORD(2) }, 2, TORCOLL_BROADCAST, TORCOLL_TREE, false },
		{ { 512, CHORD(2) }, 2, TORCOLL_BROADCAST, TORCOLL_CIRCULANT, true },
	};
	struct tor_torus t;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tor_call call = {
			.collective = cases[i].collective,
			.algorithm = cases[i].algorithm,
		};

		assert_int_equal(tor_torus_init(&t, cases[i].ndim, cases[i].side, 1), 0);
		call.torus = &t;
		call.ranks = t.nodes;
		assert_int_equal(tor_cost_is_quick(&call), cases[i].quick);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_cost_is_quick__no_walk_of_seconds),
		cmocka_unit_test(cost_plan__symmetry_is_no_guess),
		cmocka_unit_test(tally_message__goes_the_ways_of_frames),
		cmocka_unit_test(cost_plan__lists_are_walked_through),
		cmocka_unit_test(cost_plan__bytes_passed_on_count_a_quarter),
		cmocka_unit_test(cost_plan__alone),
		cmocka_unit_test(cost_plan__without_memory),
		cmocka_unit_test(cost_line__is_the_sum_of_parts),
		cmocka_unit_test(cost_line__chunks_share_the_quicker_of_links_and_nodes),
		cmocka_unit_test(cost_numbers__factors),
		cmocka_unit_test(cost_numbers__limits),
		cmocka_unit_test(cost_numbers__rounds_and_hops),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
