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
		for (port = 0; port < 2 * t->ndim; port++) {
			u32 there = tor_torus_neighbour(t, node, port);

			if (!tor_torus_has_port(t, node, port))
				continue;
			found++;
			assert_true(tor_torus_has_port(t, there, tor_torus_peer_port(port)));
			assert_int_equal(tor_torus_neighbour(t, there, tor_torus_peer_port(port)),
					 node);
			assert_int_equal(tor_torus_distance(t, node, there), 1);
		}
		assert_false(tor_torus_has_port(t, node, 2 * t->ndim));
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
	assert_true(tor_torus_has_port(&t, 0, tor_port(0, TOR_PLUS)));
	assert_true(tor_torus_has_port(&t, 1, tor_port(0, TOR_MINUS)));
	t = TORUS(1, 1);
	check_ports(&t, 0);
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torus_init__refuses),
		cmocka_unit_test(torus_shift__any_number_of_steps),
		cmocka_unit_test(torus_ports__two_ends_each),
		cmocka_unit_test(torus_distance__shortest),
		cmocka_unit_test(torus_ties__half_way_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
