// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Routes: around any set of dead links, with views that agree and views that do not. */
#include "host_env.h"

#include "core/link/route.h"

#define NODES_MAX	64

static struct tor_torus t;
static u16 dead[NODES_MAX];
static struct tor_routes *routes[NODES_MAX];
static u64 seed;

#define LINE(n)	TORCOLL_SIDE(n, TORCOLL_KIND_LINE)
#define MESH(n)	TORCOLL_SIDE(n, TORCOLL_KIND_MESH)
#define CHORD(n)	TORCOLL_SIDE(n, TORCOLL_KIND_CHORD)

static const struct {
	u32 ndim, side[TOR_MAX_DIMS], cables;
} shapes[] = {
	{ 1, { 2 }, 1 }, { 1, { 2 }, 2 }, { 1, { 3 }, 1 }, { 1, { 7 }, 1 }, { 1, { 8 }, 1 },
	{ 2, { 4, 4 }, 1 }, { 2, { 2, 5 }, 2 }, { 2, { 5, 3 }, 1 }, { 2, { 1, 6 }, 1 },
	{ 1, { LINE(2) }, 2 }, { 1, { LINE(7) }, 1 }, { 1, { MESH(2) }, 1 }, { 1, { MESH(5) }, 1 },
	{ 2, { 5, LINE(3) }, 1 }, { 2, { MESH(4), 4 }, 1 }, { 3, { LINE(3), MESH(3), 2 }, 1 },
	{ 2, { 5, CHORD(2) }, 1 }, { 2, { 16, CHORD(4) }, 1 }, { 3, { 18, CHORD(3), CHORD(8) }, 1 },
	{ 3, { 2, 3, 4 }, 2 }, { 3, { 4, 4, 2 }, 1 }, { 6, { 2, 2, 2, 2, 2, 2 }, 1 },
};

static void shape_set(u32 i)
{
	assert_int_equal(tor_torus_init(&t, shapes[i].ndim, shapes[i].side, shapes[i].cables), 0);
	memset(dead, 0, sizeof(dead));
}

static void tables_free(void)
{
	u32 i;

	for (i = 0; i < NODES_MAX; i++) {
		tor_env_table_free(routes[i]);
		routes[i] = NULL;
	}
}

/* Every node's table by what is dead; @knows: one in so many of others' dead links is known, 0: all */
static void tables_build(u32 knows)
{
	u16 view[NODES_MAX];
	u32 i, k;

	tables_free();
	for (i = 0; i < t.nodes; i++) {
		for (k = 0; k < t.nodes; k++)
			view[k] = !knows || k == i || !(host_rand(&seed) % knows) ? dead[k] : 0;
		routes[i] = tor_routes_build(&t, i, view);
		assert_non_null(routes[i]);
	}
}

static bool link_dead(u32 node, u32 port)
{
	u32 peer = tor_torus_neighbour(&t, node, port);

	return dead[node] >> port & 1 || dead[peer] >> tor_torus_peer_port(&t, port) & 1;
}

/* What a node's own links can carry: it sees both ends of them. */
static u32 live(u32 node)
{
	u32 port, mask = 0;

	for (port = 0; port < t.ports; port++)
		if (tor_torus_has_port(&t, node, port) && !link_dead(node, port))
			mask |= 1U << port;
	return mask;
}

/* Each cable is cut, as one or both ends see it, with a probability of one in @odds. */
static void cut(u32 odds)
{
	u32 node, port;

	for (node = 0; node < t.nodes; node++)
		for (port = 0; port < t.ports; port++)
			if (tor_torus_has_port(&t, node, port) && !(host_rand(&seed) % odds))
				dead[node] |= 1U << port;
}

/* Hops to each node over what is alive; ~0: none. */
static void distances(u32 from, u32 hops[NODES_MAX])
{
	u32 queue[NODES_MAX], head = 0, tail = 0, port;

	memset(hops, 0xff, NODES_MAX * sizeof(*hops));
	hops[from] = 0;
	queue[tail++] = from;
	for (; head < tail; head++) {
		for (port = 0; port < t.ports; port++) {
			u32 peer;

			if (!(live(queue[head]) >> port & 1))
				continue;
			peer = tor_torus_neighbour(&t, queue[head], port);
			if (hops[peer] == ~0U) {
				hops[peer] = hops[queue[head]] + 1;
				queue[tail++] = peer;
			}
		}
	}
}

typedef u32 (*next_port_fn)(const struct tor_torus *t, const struct tor_routes *routes, u32 dst,
			    u32 tie, u32 live, u32 from);

/* Follow a frame, with tor_routes_port() or tor_routes_spread(). Return: hops, or ~0 if it was dropped. */
static u32 follow_by(next_port_fn next_port, u32 from, u32 to, u32 tie)
{
	u32 at = from, in = TOR_NO_PORT, hops = 0;

	while (at != to) {
		u32 port = next_port(&t, routes[at], to, tie, live(at), in);
		u32 next;

		if (port == TOR_NO_PORT || hops == TOR_HOP_LIMIT)
			return ~0U;
		assert_true(live(at) >> port & 1);
		next = tor_torus_neighbour(&t, at, port);
		/* never back to where it came from */
		assert_true(in == TOR_NO_PORT || next != tor_torus_neighbour(&t, at, in));
		in = tor_torus_peer_port(&t, port);
		at = next;
		hops++;
	}
	return hops;
}

static u32 follow(u32 from, u32 to, u32 tie)
{
	return follow_by(tor_routes_port, from, to, tie);
}

static int setup(void **state)
{
	host_reset();
	seed = 1;
	return 0;
}

static int teardown(void **state)
{
	tables_free();
	host_check_idle();
	return 0;
}

/* The shorter way round, or the only one, dimension 0 first, by arithmetic. */
static u32 ordered(u32 self, u32 dst, u32 tie)
{
	u32 dim, i, port;

	/* the lowest port that leads nearer, or the highest */
	for (i = 0; tor_torus_has_chords(&t) && i < t.ports; i++) {
		port = tie ? t.ports - 1 - i : i;
		if (tor_torus_distance(&t, tor_torus_neighbour(&t, self, port), dst) <
		    tor_torus_distance(&t, self, dst))
			return port;
	}
	for (dim = 0; dim < t.ndim; dim++) {
		u32 side = t.side[dim];
		u32 from = tor_torus_coord(&t, self, dim);
		u32 ahead = (tor_torus_coord(&t, dst, dim) + side - from) % side;

		if (!ahead)
			continue;
		if (t.kind[dim] == TORCOLL_KIND_MESH)
			return tor_torus_port(&t, dim, ahead - 1);
		if (t.kind[dim] == TORCOLL_KIND_LINE)
			return tor_torus_port(&t, dim, from + ahead < side ? TOR_PLUS : TOR_MINUS);
		if (side == 2 && t.cables == 1)
			return tor_torus_port(&t, dim, from ? TOR_MINUS : TOR_PLUS);
		if (2 * ahead == side)
			return tor_torus_port(&t, dim, tie ? TOR_MINUS : TOR_PLUS);
		return tor_torus_port(&t, dim, 2 * ahead < side ? TOR_PLUS : TOR_MINUS);
	}
	return TOR_NO_PORT;
}

static void tor_routes_port__dimension_order_without_faults(void **state)
{
	u32 i, from, to, tie;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		shape_set(i);
		tables_build(0);
		for (from = 0; from < t.nodes; from++) {
			assert_int_equal(routes[from]->reached, t.nodes);
			for (to = 0; to < t.nodes; to++)
				for (tie = 0; tie < 2; tie++)
					assert_int_equal(tor_routes_port(&t, routes[from], to, tie,
									 ~0U, TOR_NO_PORT),
							 ordered(from, to, tie));
			assert_int_equal(tor_routes_port(&t, routes[from], t.nodes, 0, ~0U,
							 TOR_NO_PORT), TOR_NO_PORT);
		}
	}
}

static void tor_routes_build__shortest_around_any_cuts(void **state)
{
	u32 round, from, to, reached, want[NODES_MAX];

	for (round = 0; round < 40 * ARRAY_SIZE(shapes); round++) {
		shape_set(round % ARRAY_SIZE(shapes));
		cut(2 + round % 13);
		tables_build(0);
		for (from = 0; from < t.nodes; from++) {
			reached = 0;
			distances(from, want);
			for (to = 0; to < t.nodes; to++) {
				reached += want[to] != ~0U;
				assert_int_equal(tor_routes_reach(routes[from], to),
						 want[to] != ~0U);
				assert_int_equal(follow(from, to, round & 1), want[to]);
			}
			assert_int_equal(routes[from]->reached, reached);
		}
	}
}

/* While news spread: each node knows its own links, and some of the others'. */
static void tor_routes_port__views_that_differ(void **state)
{
	u32 round, from, to, arrived = 0, dropped = 0;

	for (round = 0; round < 40 * ARRAY_SIZE(shapes); round++) {
		shape_set(round % ARRAY_SIZE(shapes));
		cut(3 + round % 17);
		tables_build(2 + round % 3);
		for (from = 0; from < t.nodes; from++) {
			for (to = 0; to < t.nodes; to++) {
				if (follow(from, to, round & 1) == ~0U)
					dropped++;
				else
					arrived++;
			}
		}
	}
	/* most find their way all the same, some cannot */
	assert_true(arrived > 2 * dropped && dropped);
}

static void tor_routes_port__own_link_down_before_the_table_knows(void **state)
{
	static const u32 side[] = { 4, 4 };
	u32 port;

	tor_torus_init(&t, 2, side, 1);
	memset(dead, 0, sizeof(dead));
	tables_build(0);
	/* to the node across: by dimension 0, either way round; else by dimension 1 */
	assert_int_equal(tor_routes_port(&t, routes[0], 10, 0, 0xf, TOR_NO_PORT), 0);
	assert_int_equal(tor_routes_port(&t, routes[0], 10, 1, 0xf, TOR_NO_PORT), 1);
	assert_int_equal(tor_routes_port(&t, routes[0], 10, 0, 0xe, TOR_NO_PORT), 1);
	port = tor_routes_port(&t, routes[0], 10, 1, 0xc, TOR_NO_PORT);
	assert_int_equal(port, 3);
	assert_int_equal(tor_routes_port(&t, routes[0], 10, 0, 0, TOR_NO_PORT), TOR_NO_PORT);
	/* to a neighbour there is no other shortest way: wait for the table */
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 0, 0xe, TOR_NO_PORT), TOR_NO_PORT);
}

static void tor_routes_port__two_cables_share_and_stand_in(void **state)
{
	static const u32 side[] = { 2 };

	tor_torus_init(&t, 1, side, 2);
	memset(dead, 0, sizeof(dead));
	tables_build(0);
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 0, 3, TOR_NO_PORT), 0);
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 1, 3, TOR_NO_PORT), 1);
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 0, 2, TOR_NO_PORT), 1);
	dead[1] = 2;
	tables_build(0);
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 1, 3, TOR_NO_PORT), 1);
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 0, 3, TOR_NO_PORT), 1);
	/* either cable is the way back */
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 0, 3, 0), TOR_NO_PORT);
	assert_int_equal(tor_routes_port(&t, routes[0], 1, 0, 3, 1), TOR_NO_PORT);
}

static void tor_routes_build__no_farther_than_frames_live(void **state)
{
	static const u32 side[] = { 600 };
	struct tor_routes *far;

	tor_torus_init(&t, 1, side, 1);
	far = tor_routes_build(&t, 0, NULL);
	assert_true(tor_routes_reach(far, 255));
	assert_false(tor_routes_reach(far, 256));
	assert_int_equal(far->reached, 2 * 255 + 1);
	tor_env_table_free(far);
}

static void tor_routes_build__no_memory(void **state)
{
	u32 i;

	shape_set(5);
	for (i = 0; i < 3; i++) {
		host_reset();
		host.fail_mask = BIT_ULL(i);
		assert_null(tor_routes_build(&t, 0, NULL));
		host_check_idle();
	}
}

/* Flows arrive by shortest ways around any cuts, and none loops if views differ. */
static void tor_routes_spread__shortest_around_any_cuts(void **state)
{
	u32 round, from, to, flow, dropped = 0, want[NODES_MAX];

	for (round = 0; round < 20 * ARRAY_SIZE(shapes); round++) {
		shape_set(round % ARRAY_SIZE(shapes));
		cut(2 + round % 13);
		tables_build(0);
		for (from = 0; from < t.nodes; from++) {
			distances(from, want);
			for (to = 0; to < t.nodes; to++)
				assert_int_equal(follow_by(tor_routes_spread, from, to,
							   host_rand(&seed)), want[to]);
		}
		tables_build(2 + round % 3);
		for (from = 0; from < t.nodes; from++) {
			flow = host_rand(&seed);
			dropped += follow_by(tor_routes_spread, from, t.nodes - 1, flow) == ~0U;
		}
	}
	assert_true(dropped);
}

/* How many of @flows leave @self for @dst by each port. */
static void count_flows(u32 self, u32 dst, u32 live, u32 from, u32 flows, u32 *count)
{
	u32 flow, port;

	memset(count, 0, TOR_MAX_PORTS * sizeof(*count));
	for (flow = 0; flow < flows; flow++) {
		port = tor_routes_spread(&t, routes[self], dst, flow, live, from);
		if (port == TOR_NO_PORT)
			continue;
		assert_true(port < TOR_MAX_PORTS && live >> port & 1);
		count[port]++;
	}
}

/* Every port that begins a shortest way gets its share of flows, within a twentieth of all. */
static void tor_routes_spread__uses_all_ports(void **state)
{
	const u32 flows = 10000;
	u32 count[TOR_MAX_PORTS], i, to, port, ports;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		shape_set(i);
		tables_build(0);
		for (to = 1; to < t.nodes; to++) {
			ports = hweight64(routes[0]->ports[to]);
			count_flows(0, to, ~0U, TOR_NO_PORT, flows, count);
			for (port = 0; port < TOR_MAX_PORTS; port++) {
				if (!(routes[0]->ports[to] >> port & 1)) {
					assert_int_equal(count[port], 0);
					continue;
				}
				assert_true(count[port] + flows / 20 > flows / ports);
				assert_true(count[port] < flows / ports + flows / 20);
			}
		}
	}
}

/* The flows that one node sent by one port are not all sent by one port of the next. */
static void tor_routes_spread__nodes_choose_independently(void **state)
{
	static const u32 side[] = { 4, 4, 4 };
	u32 flow, next, count[TOR_MAX_PORTS] = { 0 };

	tor_torus_init(&t, 3, side, 1);
	memset(dead, 0, sizeof(dead));
	tables_build(0);
	/* one step in each dimension: three ways to begin, then two */
	next = tor_torus_neighbour(&t, 0, tor_torus_port(&t, 0, TOR_PLUS));
	for (flow = 0; flow < 9000; flow++) {
		if (tor_routes_spread(&t, routes[0], 21, flow, ~0U, TOR_NO_PORT) != tor_torus_port(&t, 0, TOR_PLUS))
			continue;
		count[tor_routes_spread(&t, routes[next], 21, flow, ~0U, tor_torus_port(&t, 0, TOR_MINUS))]++;
	}
	assert_true(count[tor_torus_port(&t, 1, TOR_PLUS)] > 1000);
	assert_true(count[tor_torus_port(&t, 2, TOR_PLUS)] > 1000);
	assert_int_equal(count[tor_torus_port(&t, 0, TOR_PLUS)] + count[tor_torus_port(&t, 0, TOR_MINUS)], 0);
}

/* Only the flows of a port that goes down move, to any of the others. */
static void tor_routes_spread__flows_stay(void **state)
{
	static const u32 side[] = { 4, 4 };
	u32 flow, port, now, moved[TOR_MAX_PORTS] = { 0 };

	tor_torus_init(&t, 2, side, 1);
	memset(dead, 0, sizeof(dead));
	tables_build(0);
	assert_int_equal(routes[0]->ports[10], 0xf);
	for (flow = 0; flow < 4000; flow++) {
		port = tor_routes_spread(&t, routes[0], 10, flow, 0xf, TOR_NO_PORT);
		now = tor_routes_spread(&t, routes[0], 10, flow, 0xd, TOR_NO_PORT);
		if (port == 1)
			moved[now]++;
		else
			assert_int_equal(now, port);
	}
	assert_int_equal(moved[1], 0);
	assert_true(moved[0] > 200 && moved[2] > 200 && moved[3] > 200);
	/* not back where it came from, whatever is shortest */
	for (flow = 0; flow < 100; flow++)
		assert_int_not_equal(tor_routes_spread(&t, routes[0], 10, flow, 0xf, 2), 2);
	assert_int_equal(tor_routes_spread(&t, routes[0], 10, 0, 0, TOR_NO_PORT), TOR_NO_PORT);
	assert_int_equal(tor_routes_spread(&t, routes[0], 16, 0, 0xf, TOR_NO_PORT), TOR_NO_PORT);
	/* to itself */
	assert_int_equal(tor_routes_spread(&t, routes[0], 0, 0, 0xf, TOR_NO_PORT), TOR_NO_PORT);
}

/* The flows of a link, which are not all flows, are spread over its cables, and stay as long as theirs is up. */
static void tor_routes_cable__flows_stay(void **state)
{
	static const u32 side[] = { 4, 4 };
	u32 flow, k, now, n = 0, count[4] = { 0 }, moved[4] = { 0 };

	tor_torus_init(&t, 2, side, 1);
	memset(dead, 0, sizeof(dead));
	tables_build(0);
	for (flow = 0; flow < 8000; flow++) {
		if (tor_routes_spread(&t, routes[0], 10, flow, 0xf, TOR_NO_PORT) != 2)
			continue;
		k = tor_routes_cable(routes[0], flow, 0xf);
		now = tor_routes_cable(routes[0], flow, 0xb);
		assert_true(k < 4 && now < 4);
		count[k]++;
		n++;
		if (k == 2)
			moved[now]++;
		else
			assert_int_equal(now, k);
		assert_int_equal(tor_routes_cable(routes[0], flow, 1 << 3), 3);
	}
	for (k = 0; k < 4; k++)
		assert_in_range(count[k], n / 5, n / 3);
	assert_int_equal(moved[2], 0);
	assert_true(moved[0] > n / 20 && moved[1] > n / 20 && moved[3] > n / 20);
}

#define ROUTE_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROUTE_TEST(tor_routes_port__dimension_order_without_faults),
		ROUTE_TEST(tor_routes_build__shortest_around_any_cuts),
		ROUTE_TEST(tor_routes_port__views_that_differ),
		ROUTE_TEST(tor_routes_port__own_link_down_before_the_table_knows),
		ROUTE_TEST(tor_routes_port__two_cables_share_and_stand_in),
		ROUTE_TEST(tor_routes_build__no_farther_than_frames_live),
		ROUTE_TEST(tor_routes_build__no_memory),
		ROUTE_TEST(tor_routes_spread__shortest_around_any_cuts),
		ROUTE_TEST(tor_routes_spread__uses_all_ports),
		ROUTE_TEST(tor_routes_spread__nodes_choose_independently),
		ROUTE_TEST(tor_routes_spread__flows_stay),
		ROUTE_TEST(tor_routes_cable__flows_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
