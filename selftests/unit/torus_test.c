// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Shapes: coordinates, neighbours, distances, ports. */
#include "host_env.h"

#include "core/torus.h"

static struct tor_torus torus(u32 cables, u32 ndim, const u32 *side)
{
	struct tor_torus t;

	assert_int_equal(tor_torus_init(&t, ndim, side, cables), 0);
	return t;
}

#define TORUS(cables, ...) \
	torus(cables, ARRAY_SIZE(((u32[]){ __VA_ARGS__ })), (u32[]){ __VA_ARGS__ })

#define LINE(n)	TORCOLL_SIDE(n, TORCOLL_KIND_LINE)
#define MESH(n)	TORCOLL_SIDE(n, TORCOLL_KIND_MESH)
#define CHORD(n)	TORCOLL_SIDE(n, TORCOLL_KIND_CHORD)

static void torus_init__refuses(void **state)
{
	u32 side[TOR_MAX_DIMS + 1] = { 2, 2, 2, 2, 2, 2, 2 };
	u32 zero[] = { 4, 0 }, large[] = { 1 << 11, 1 << 10 }, huge[] = { ~0U };
	struct tor_torus t;

	assert_int_equal(tor_torus_init(&t, 0, side, 1), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 7, side, 1), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 2, side, 0), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 2, side, 3), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 2, zero, 1), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 2, large, 1), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 1, huge, 1), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 6, side, 2), 0);
	large[0] = 1 << 10;
	assert_int_equal(tor_torus_init(&t, 2, large, 1), 0);
	assert_int_equal(t.nodes, TOR_MAX_NODES);
}

/* A node has at most 12 ports: links are named in 16 bits. */
static void torus_init__counts_the_ways(void **state)
{
	u32 mesh[] = { MESH(13) }, two[] = { MESH(10), 3 }, many[] = { MESH(10), 3, MESH(3) };
	u32 none[] = { MESH(0) }, what[] = { TORCOLL_SIDE(4, TORCOLL_KIND_COUNT) };
	struct tor_torus t;

	(void)state;
	assert_int_equal(tor_torus_init(&t, 1, mesh, 1), 0);
	assert_int_equal(t.ports, 12);
	assert_int_equal(tor_torus_init(&t, 2, two, 1), 0);
	assert_int_equal(t.ports, 11);
	assert_int_equal(tor_torus_init(&t, 3, many, 1), -EINVAL);
	mesh[0] = MESH(14);
	assert_int_equal(tor_torus_init(&t, 1, mesh, 1), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 1, none, 1), -EINVAL);
	assert_int_equal(tor_torus_init(&t, 1, what, 1), -EINVAL);
}

static int chords_init(u32 ndim, const u32 *side)
{
	struct tor_torus t;

	return tor_torus_init(&t, ndim, side, 1);
}

#define CHORDS_INIT(...) \
	chords_init(ARRAY_SIZE(((u32[]){ __VA_ARGS__ })), (u32[]){ __VA_ARGS__ })

/* Chords stand behind one ring, ascend, and have two ends each. */
static void torus_init__chords_of_a_ring(void **state)
{
	struct tor_torus t = TORUS(1, 16, CHORD(4), CHORD(7));

	(void)state;
	assert_int_equal(t.nodes, 16);
	assert_int_equal(t.ports, 6);
	assert_int_equal(t.axes, 1);
	assert_true(tor_torus_has_chords(&t));
	assert_int_equal(tor_torus_side(&t, 0), 16);
	assert_int_equal(tor_torus_side(&t, 2), CHORD(7));
	assert_int_equal(CHORDS_INIT(5, CHORD(2)), 0);
	assert_int_equal(CHORDS_INIT(TOR_CHORD_NODES, CHORD(31)), 0);
	assert_int_equal(CHORDS_INIT(16, CHORD(2), CHORD(3), CHORD(4)), 0);

	assert_int_equal(CHORDS_INIT(CHORD(4)), -EINVAL);
	assert_int_equal(CHORDS_INIT(16, CHORD(0)), -EINVAL);
	assert_int_equal(CHORDS_INIT(16, CHORD(1)), -EINVAL);
	assert_int_equal(CHORDS_INIT(16, CHORD(8)), -EINVAL);
	assert_int_equal(CHORDS_INIT(4, CHORD(2)), -EINVAL);
	assert_int_equal(CHORDS_INIT(16, CHORD(4), CHORD(4)), -EINVAL);
	assert_int_equal(CHORDS_INIT(16, CHORD(4), CHORD(3)), -EINVAL);
	assert_int_equal(CHORDS_INIT(LINE(16), CHORD(4)), -EINVAL);
	assert_int_equal(CHORDS_INIT(MESH(9), CHORD(4)), -EINVAL);
	assert_int_equal(CHORDS_INIT(16, 4, CHORD(4)), -EINVAL);
	assert_int_equal(CHORDS_INIT(4, 16, CHORD(4)), -EINVAL);
	assert_int_equal(CHORDS_INIT(16, CHORD(4), 4), -EINVAL);
	assert_int_equal(CHORDS_INIT(TOR_CHORD_NODES + 1, CHORD(4)), -EINVAL);
	assert_int_equal(CHORDS_INIT(30, CHORD(2), CHORD(3), CHORD(4), CHORD(5)), -EINVAL);
}

static void torus_shift__any_number_of_steps(void **state)
{
	struct tor_torus t = TORUS(1, 4, 3, 5);
	u32 node = 2 + 4 * (1 + 3 * 4);

	assert_int_equal(tor_torus_coord(&t, node, 0), 2);
	assert_int_equal(tor_torus_coord(&t, node, 1), 1);
	assert_int_equal(tor_torus_coord(&t, node, 2), 4);
	assert_int_equal(tor_torus_shift(&t, node, 0, 1), node + 1);
	assert_int_equal(tor_torus_shift(&t, node, 0, 2), node - 2);
	assert_int_equal(tor_torus_shift(&t, node, 0, -3), node + 1);
	assert_int_equal(tor_torus_shift(&t, node, 1, -4), node - 4);
	assert_int_equal(tor_torus_shift(&t, node, 2, 1), 2 + 4);
	assert_int_equal(tor_torus_shift(&t, node, 2, 5000000000), node);
	assert_int_equal(tor_torus_shift(&t, node, 2, -5000000000), node);
	assert_int_equal(tor_torus_shift(&t, node, 1, INT64_MIN), tor_torus_shift(&t, node, 1, 1));
	assert_int_equal(tor_torus_shift(&t, node, 0, 0), node);
}

/* Every cable has two ends that know each other; a node has as many ports as cables. */
static void check_ports(const struct tor_torus *t, u32 ports)
{
	u32 node, port, found = 0;

	for (node = 0; node < t->nodes; node++) {
		for (port = 0; port < t->ports; port++) {
			u32 there = tor_torus_neighbour(t, node, port);

			if (!tor_torus_has_port(t, node, port))
				continue;
			found++;
			assert_true(tor_torus_has_port(t, there, tor_torus_peer_port(t, port)));
			assert_int_equal(tor_torus_neighbour(t, there, tor_torus_peer_port(t, port)),
					 node);
			assert_int_equal(tor_torus_distance(t, node, there), 1);
		}
		assert_false(tor_torus_has_port(t, node, t->ports));
	}
	assert_int_equal(found, ports);
}

static void torus_ports__two_ends_each(void **state)
{
	struct tor_torus t = TORUS(1, 4, 3);

	check_ports(&t, 12 * 4);
	t = TORUS(1, 2, 1, 5);
	check_ports(&t, 10 * 3);
	t = TORUS(2, 2, 1, 5);
	check_ports(&t, 10 * 4);
	t = TORUS(1, 2);
	check_ports(&t, 2);
	assert_true(tor_torus_has_port(&t, 0, tor_torus_port(&t, 0, TOR_PLUS)));
	assert_true(tor_torus_has_port(&t, 1, tor_torus_port(&t, 0, TOR_MINUS)));
	t = TORUS(1, 1);
	check_ports(&t, 0);
}

static void torus_ports__lines_and_meshes(void **state)
{
	struct tor_torus t = TORUS(1, LINE(5));

	(void)state;
	check_ports(&t, 2 * 4);
	assert_false(tor_torus_has_port(&t, 0, TOR_MINUS));
	assert_false(tor_torus_has_port(&t, 4, TOR_PLUS));
	t = TORUS(2, LINE(2));
	check_ports(&t, 2);
	t = TORUS(1, MESH(2));
	check_ports(&t, 2);
	t = TORUS(1, LINE(1), MESH(1), 3);
	check_ports(&t, 6);
	t = TORUS(1, MESH(4));
	check_ports(&t, 4 * 3);
	t = TORUS(1, 4, MESH(4), LINE(3));
	check_ports(&t, 16 * 3 * 5 + 16 * 2 * 2);
	/* in fabrics of rings and lines a port is 2 * dim + dir */
	t = TORUS(1, 5, LINE(3), 2);
	assert_int_equal(tor_torus_port(&t, 2, TOR_MINUS), 5);
	assert_int_equal(tor_port_dim(&t, 3), 1);
	assert_int_equal(tor_port_way(&t, 3), TOR_MINUS);
}

static void torus_ports__chords(void **state)
{
	struct tor_torus t = TORUS(1, 16, CHORD(4), CHORD(6));

	(void)state;
	check_ports(&t, 16 * 6);
	assert_int_equal(tor_torus_neighbour(&t, 3, tor_port_find(&t, 0, TOR_MINUS)), 2);
	assert_int_equal(tor_torus_neighbour(&t, 3, tor_port_find(&t, 1, TOR_PLUS)), 7);
	assert_int_equal(tor_torus_neighbour(&t, 3, tor_port_find(&t, 2, TOR_MINUS)), 13);
	assert_int_equal(tor_port_dim(&t, 5), 2);
	assert_int_equal(tor_port_dir(&t, 5), TOR_MINUS);
	t = TORUS(1, 5, CHORD(2));
	check_ports(&t, 5 * 4);
	t = TORUS(1, 65, CHORD(32));
	check_ports(&t, 65 * 4);
}

/* A way of a mesh leads a number of steps up; a port has the name by which it is found. */
static void torus_ports__ways_and_names(void **state)
{
	struct tor_torus t = TORUS(1, 3, MESH(4), LINE(3));
	u32 port;

	(void)state;
	for (port = 2; port < 5; port++) {
		assert_int_equal(tor_port_dim(&t, port), 1);
		assert_int_equal(tor_torus_neighbour(&t, 3, port), (port - 2 + 2) % 4 * 3);
		assert_int_equal(tor_torus_peer_port(&t, port), 2 + 4 - port);
		assert_int_equal(tor_port_dir(&t, port), TOR_DIR_STEPS + port - 1);
	}
	assert_int_equal(tor_port_dir(&t, 6), TOR_MINUS);
	for (port = 0; port < t.ports; port++)
		assert_int_equal(tor_port_find(&t, tor_port_dim(&t, port), tor_port_dir(&t, port)),
				 port);
	/* in a mesh the first way and the last are up and down as well */
	assert_int_equal(tor_port_find(&t, 1, TOR_PLUS), 2);
	assert_int_equal(tor_port_find(&t, 1, TOR_MINUS), 4);
	assert_int_equal(tor_port_find(&t, 1, TOR_DIR_STEPS + 4), t.ports);
	assert_int_equal(tor_port_find(&t, 0, TOR_DIR_STEPS + 1), t.ports);
	assert_int_equal(tor_port_find(&t, 3, TOR_PLUS), t.ports);
	assert_int_equal(tor_port_find(&t, 1, ~0U), t.ports);
}

static void torus_sides__kinds_are_compared(void **state)
{
	struct tor_torus t = TORUS(1, 3, LINE(4));

	(void)state;
	assert_true(tor_torus_same_sides(&t, 2, (u32[]){ 3, LINE(4) }));
	assert_false(tor_torus_same_sides(&t, 2, (u32[]){ 3, 4 }));
	assert_false(tor_torus_same_sides(&t, 2, (u32[]){ 3, MESH(4) }));
	assert_false(tor_torus_same_sides(&t, 1, (u32[]){ 3 }));
	assert_int_equal(tor_torus_side(&t, 1), LINE(4));
}

/* By a search over the cables. */
static u32 walk_distance(const struct tor_torus *t, u32 from, u32 to)
{
	u32 hops[200], queue[200], head, tail = 0, port, peer;

	assert_true(t->nodes <= ARRAY_SIZE(hops));
	memset(hops, 0xff, sizeof(hops));
	hops[from] = 0;
	queue[tail++] = from;
	for (head = 0; head < tail; head++)
		for (port = 0; port < t->ports; port++) {
			peer = tor_torus_neighbour(t, queue[head], port);
			if (!tor_torus_has_port(t, queue[head], port) || hops[peer] != ~0U)
				continue;
			hops[peer] = hops[queue[head]] + 1;
			queue[tail++] = peer;
		}
	return hops[to];
}

static void torus_distance__is_that_of_the_cables(void **state)
{
	struct tor_torus t[] = {
		TORUS(1, LINE(7)), TORUS(1, MESH(5)), TORUS(1, 5, LINE(3)), TORUS(1, MESH(4), 4),
		TORUS(1, LINE(4), MESH(3), 4), TORUS(2, 2, LINE(2), MESH(2)), TORUS(1, LINE(3), LINE(4)),
		TORUS(1, MESH(4), MESH(4)), TORUS(1, 1, LINE(1), MESH(1)), TORUS(1, 8, 6),
	};
	u32 i, a, b, far;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		far = 0;
		for (a = 0; a < t[i].nodes; a++)
			for (b = 0; b < t[i].nodes; b++) {
				u32 hops = walk_distance(&t[i], a, b);

				assert_int_equal(tor_torus_distance(&t[i], a, b), hops);
				far = max(far, hops);
			}
		assert_int_equal(tor_torus_diameter(&t[i]), far);
	}
}

/* With all steps of chords up to some size, and words that end anywhere. */
static void torus_distance__is_that_of_chords(void **state)
{
	static const u32 nodes[] = { 5, 6, 7, 8, 13, 16, 31, 63, 64, 65, 127, 128, 200 };
	struct tor_torus t;
	u32 i, a, b, node, far;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(nodes); i++)
		for (a = 2; 2 * a < nodes[i]; a++) {
			b = a + nodes[i] / 5;
			t = 2 * b < nodes[i] && b > a ? TORUS(1, nodes[i], CHORD(a), CHORD(b)) :
							TORUS(1, nodes[i], CHORD(a));
			for (far = 0, node = 0; node < t.nodes; node++) {
				u32 hops = walk_distance(&t, 0, node);

				assert_int_equal(tor_torus_distance(&t, 3, (node + 3) % t.nodes), hops);
				far = max(far, hops);
			}
			assert_int_equal(tor_torus_diameter(&t), far);
		}
}

static void torus_diameter__of_known_chords(void **state)
{
	static const u32 known[][3] = {
		{ 8, 3, 2 }, { 8, 2, 2 }, { 16, 4, 3 }, { 25, 7, 3 }, { 32, 7, 4 }, { 64, 10, 6 },
	};
	struct tor_torus t;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		t = TORUS(1, known[i][0], CHORD(known[i][1]));
		assert_int_equal(tor_torus_diameter(&t), known[i][2]);
	}
	t = TORUS(1, 1024, CHORD(2));
	assert_int_equal(tor_torus_diameter(&t), 256);
}

static void torus_ties__two_steps_in_any_order(void **state)
{
	struct tor_torus t = TORUS(1, 16, CHORD(4));
	static const bool ties[] = { 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0 };
	u32 node;

	(void)state;
	for (node = 0; node < 16; node++)
		assert_int_equal(tor_torus_ties(&t, 5, (5 + node) % 16), ties[node]);
}

static void torus_distance__shortest(void **state)
{
	struct tor_torus t = TORUS(1, 8, 5, 2);
	u32 a, b, far = 0;

	assert_int_equal(tor_torus_distance(&t, 0, 4), 4);
	assert_int_equal(tor_torus_distance(&t, 0, 5), 3);
	assert_int_equal(tor_torus_distance(&t, 0, 8 * 3), 2);
	assert_int_equal(tor_torus_distance(&t, 0, 40 + 7), 2);
	for (a = 0; a < t.nodes; a++)
		for (b = 0; b < t.nodes; b++) {
			assert_int_equal(tor_torus_distance(&t, a, b), tor_torus_distance(&t, b, a));
			assert_int_equal(tor_torus_distance(&t, a, b) == 0, a == b);
			far = max(far, tor_torus_distance(&t, a, b));
		}
	assert_int_equal(far, tor_torus_diameter(&t));
}

static void torus_ties__half_way_round(void **state)
{
	struct tor_torus ring = TORUS(1, 8), odd = TORUS(1, 5, 3), mixed = TORUS(1, 5, 4);
	struct tor_torus one = TORUS(1, 2, 3), two = TORUS(2, 2, 3);
	u32 a, b;

	(void)state;
	for (a = 0; a < 8; a++)
		for (b = 0; b < 8; b++)
			assert_int_equal(tor_torus_ties(&ring, a, b), (a ^ b) == 4);
	for (a = 0; a < odd.nodes; a++)
		for (b = 0; b < odd.nodes; b++)
			assert_false(tor_torus_ties(&odd, a, b));
	assert_true(tor_torus_ties(&mixed, 1, 3 + 5 * 2));
	assert_false(tor_torus_ties(&mixed, 1, 3 + 5 * 3));
	/* a side of 2: by the other cable, if there is one */
	assert_false(tor_torus_ties(&one, 0, 1));
	assert_true(tor_torus_ties(&two, 0, 1));
	assert_false(tor_torus_ties(&two, 1, 1 + 2));
	/* half way round what is no ring */
	two = TORUS(2, LINE(4), MESH(4), LINE(2));
	for (b = 0; b < two.nodes; b++)
		assert_false(tor_torus_ties(&two, 0, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torus_init__refuses),
		cmocka_unit_test(torus_init__counts_the_ways),
		cmocka_unit_test(torus_ports__lines_and_meshes),
		cmocka_unit_test(torus_ports__ways_and_names),
		cmocka_unit_test(torus_init__chords_of_a_ring),
		cmocka_unit_test(torus_ports__chords),
		cmocka_unit_test(torus_distance__is_that_of_chords),
		cmocka_unit_test(torus_diameter__of_known_chords),
		cmocka_unit_test(torus_ties__two_steps_in_any_order),
		cmocka_unit_test(torus_sides__kinds_are_compared),
		cmocka_unit_test(torus_distance__is_that_of_the_cables),
		cmocka_unit_test(torus_shift__any_number_of_steps),
		cmocka_unit_test(torus_ports__two_ends_each),
		cmocka_unit_test(torus_distance__shortest),
		cmocka_unit_test(torus_ties__half_way_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
