// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The spanning tree of group frames: around any set of dead links, whole, and without loops. */
#include "host_env.h"

#include "core/link/tree.h"

#define NODES_MAX	64

static struct tor_torus t;
static u16 dead[NODES_MAX];
static struct tor_routes *routes[NODES_MAX];
static struct tor_tree tree[NODES_MAX];
static u64 seed;

#define LINE(n)	TORCOLL_SIDE(n, TORCOLL_KIND_LINE)
#define MESH(n)	TORCOLL_SIDE(n, TORCOLL_KIND_MESH)
#define CHORD(n)	TORCOLL_SIDE(n, TORCOLL_KIND_CHORD)

static const struct {
	u32 ndim, side[TOR_MAX_DIMS], cables;
} shapes[] = {
	{ 1, { 1 }, 1 }, { 1, { 2 }, 1 }, { 1, { 2 }, 2 }, { 1, { 3 }, 1 }, { 1, { 8 }, 1 },
	{ 2, { 4, 4 }, 1 }, { 2, { 2, 5 }, 2 }, { 2, { 5, 3 }, 1 }, { 2, { 1, 6 }, 1 },
	{ 1, { LINE(2) }, 2 }, { 1, { LINE(7) }, 1 }, { 1, { MESH(2) }, 1 }, { 1, { MESH(5) }, 1 },
	{ 2, { 5, LINE(3) }, 1 }, { 2, { 16, CHORD(4) }, 1 }, { 2, { MESH(4), 4 }, 1 }, { 3, { LINE(3), MESH(3), 2 }, 1 },
	{ 3, { 2, 3, 4 }, 2 }, { 3, { 4, 4, 2 }, 1 }, { 6, { 2, 2, 2, 2, 2, 2 }, 2 },
};

static void shape_set(u32 i)
{
	assert_int_equal(tor_torus_init(&t, shapes[i].ndim, shapes[i].side, shapes[i].cables), 0);
	memset(dead, 0, sizeof(dead));
}

/* Each cable is dead, as one or both ends say, with a probability of one in @odds. */
static void cut(u32 odds)
{
	u32 node, port;

	for (node = 0; node < t.nodes; node++)
		for (port = 0; port < t.ports; port++)
			if (tor_torus_has_port(&t, node, port) && !(host_rand(&seed) % odds))
				dead[node] |= 1U << port;
}

static bool link_dead(u32 node, u32 port)
{
	u32 peer = tor_torus_neighbour(&t, node, port);

	return dead[node] >> port & 1 || dead[peer] >> tor_torus_peer_port(&t, port) & 1;
}

static void trees_build(const u16 *view)
{
	u32 i;

	for (i = 0; i < t.nodes; i++) {
		tor_env_table_free(routes[i]);
		routes[i] = tor_routes_build(&t, i, view);
		assert_non_null(routes[i]);
		assert_int_equal(tor_tree_build(&tree[i], &t, i, routes[i], view), 0);
	}
}

/* The lowest node that @node reaches. */
static u32 lowest(u32 node)
{
	u32 i;

	for (i = 0; !tor_routes_reach(routes[node], i); i++)
		;
	return i;
}

/* Both ends count a link to the tree, and only if it is alive. Return: ends of links in it. */
static u32 check_links(void)
{
	u32 node, port, peer, ends = 0;

	for (node = 0; node < t.nodes; node++) {
		for (port = 0; port < TOR_MAX_PORTS; port++) {
			if (!(tree[node].ports >> port & 1))
				continue;
			assert_true(tor_torus_has_port(&t, node, port));
			assert_false(link_dead(node, port));
			peer = tor_torus_neighbour(&t, node, port);
			assert_true(tree[peer].ports >> tor_torus_peer_port(&t, port) & 1);
			ends++;
		}
	}
	return ends;
}

/* Walk the tree from @from by all its links, each once. Return: nodes that are met, none twice. */
static u32 walk(u32 from)
{
	struct { u32 node, in; } todo[NODES_MAX];
	bool met[NODES_MAX] = { false };
	u32 n = 0, port, peer, nodes = 1;

	met[from] = true;
	todo[n].node = from;
	for (todo[n++].in = TOR_NO_PORT; n;) {
		u32 at = todo[--n].node, in = todo[n].in;

		for (port = 0; port < TOR_MAX_PORTS; port++) {
			if (!(tree[at].ports >> port & 1) || port == in)
				continue;
			peer = tor_torus_neighbour(&t, at, port);
			assert_false(met[peer]);
			met[peer] = true;
			nodes++;
			todo[n].node = peer;
			todo[n++].in = tor_torus_peer_port(&t, port);
		}
	}
	return nodes;
}

/* All trees are one in each part of the fabric: it has all nodes, and a link less than nodes. */
static void check_trees(void)
{
	u32 node, want = 0;

	for (node = 0; node < t.nodes; node++) {
		assert_int_equal(tree[node].root, lowest(node));
		assert_int_equal(walk(node), routes[node]->reached);
		want += node != tree[node].root;
	}
	assert_int_equal(check_links(), 2 * want);
}

static int setup(void **state)
{
	host_reset();
	seed = 1;
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	for (i = 0; i < NODES_MAX; i++) {
		tor_env_table_free(routes[i]);
		routes[i] = NULL;
	}
	host_check_idle();
	return 0;
}

static void tor_tree_build__spans_whole_fabrics(void **state)
{
	struct tor_tree before[NODES_MAX];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		shape_set(i);
		trees_build(NULL);
		check_trees();
		memcpy(before, tree, sizeof(before));
		trees_build(dead);
		assert_memory_equal(before, tree, t.nodes * sizeof(*tree));
	}
}

static void tor_tree_build__spans_around_any_cuts(void **state)
{
	u32 round;

	for (round = 0; round < 40 * ARRAY_SIZE(shapes); round++) {
		shape_set(round % ARRAY_SIZE(shapes));
		cut(2 + round % 13);
		trees_build(dead);
		check_trees();
	}
}

/* The search, with one dead link far away, and arithmetic agree wherever that link is not used. */
static void tor_tree_build__search_agrees_with_arithmetic(void **state)
{
	static const u32 side[] = { 5, 5 };
	struct tor_tree before[NODES_MAX];
	u32 node, port;

	tor_torus_init(&t, 2, side, 1);
	memset(dead, 0, sizeof(dead));
	trees_build(NULL);
	memcpy(before, tree, sizeof(before));
	/* of two equally distant nodes: no tree needs it */
	node = tor_torus_shift(&t, 0, 0, 2);
	port = tor_torus_port(&t, 0, TOR_PLUS);
	assert_false(before[node].ports >> port & 1);
	dead[node] = 1U << port;
	trees_build(dead);
	assert_memory_equal(before, tree, t.nodes * sizeof(*tree));
}

static void tor_tree_build__takes_one_of_two_cables(void **state)
{
	static const u32 side[] = { 2 };

	tor_torus_init(&t, 1, side, 2);
	memset(dead, 0, sizeof(dead));
	trees_build(dead);
	assert_int_equal(tree[1].ports, 1);
	assert_int_equal(tree[0].ports, 2);
	dead[0] = 2;
	trees_build(dead);
	assert_int_equal(tree[1].ports, 2);
	assert_int_equal(tree[0].ports, 1);
}

/* A ring that is longer than frames live: the part that is reached has a tree. */
static void tor_tree_build__no_farther_than_frames_live(void **state)
{
	static const u32 side[] = { 600 };
	struct tor_routes *far;
	struct tor_tree own;

	tor_torus_init(&t, 1, side, 1);
	far = tor_routes_build(&t, 300, NULL);
	assert_non_null(far);
	assert_int_equal(tor_tree_build(&own, &t, 300, far, NULL), 0);
	assert_int_equal(own.root, 300 - TOR_HOP_LIMIT);
	tor_env_table_free(far);
}

static void tor_tree_build__no_memory(void **state)
{
	struct tor_tree own = { .root = 7, .ports = 9 };
	u32 i;

	shape_set(5);
	dead[3] = 1;
	routes[0] = tor_routes_build(&t, 0, dead);
	for (i = 0; i < 2; i++) {
		host.fail_mask = BIT_ULL(host.allocs + i);
		assert_int_equal(tor_tree_build(&own, &t, 0, routes[0], dead), -ENOMEM);
		assert_int_equal(own.root, 7);
		assert_int_equal(own.ports, 9);
	}
}

#define TREE_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(tor_tree_build__spans_whole_fabrics),
		TREE_TEST(tor_tree_build__spans_around_any_cuts),
		TREE_TEST(tor_tree_build__search_agrees_with_arithmetic),
		TREE_TEST(tor_tree_build__takes_one_of_two_cables),
		TREE_TEST(tor_tree_build__no_farther_than_frames_live),
		TREE_TEST(tor_tree_build__no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
