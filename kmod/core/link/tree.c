// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The spanning tree of group frames. See tree.h. */
#include "core/link/tree.h"

#define TREE_FAR	U8_MAX	/* not reached */

/*
 * Distances from the root: by arithmetic, or found by a breadth-first search.
 *
 * @dead: NULL: no link is dead
 * @hops: by node; NULL: by arithmetic
 */
struct tree_search {
	const struct tor_torus *t;
	const u16 *dead;
	u32 root;
	u8 *hops;
	u32 *queue;
	u32 tail;
};

/* Find the neighbour at @port. False: there is no live link. */
static bool tree_peer(const struct tree_search *s, u32 node, u32 port, u32 *peer)
{
	if (!tor_torus_has_port(s->t, node, port))
		return false;
	*peer = tor_torus_neighbour(s->t, node, port);
	return !s->dead || !(s->dead[node] >> port & 1 ||
			     s->dead[*peer] >> tor_torus_peer_port(s->t, port) & 1);
}

static void tree_expand(struct tree_search *s, u32 node)
{
	u32 port, peer;

	for (port = 0; port < s->t->ports; port++) {
		if (!tree_peer(s, node, port, &peer) || s->hops[peer] != TREE_FAR)
			continue;
		s->hops[peer] = s->hops[node] + 1;
		s->queue[s->tail++] = peer;
	}
}

static int tree_search(struct tree_search *s)
{
	u32 head;

	s->hops = tor_env_table_alloc(s->t->nodes * sizeof(*s->hops));
	s->queue = tor_env_table_alloc(s->t->nodes * sizeof(*s->queue));
	if (!s->hops || !s->queue) {
		tor_env_table_free(s->queue);
		tor_env_table_free(s->hops);
		return -ENOMEM;
	}
	memset(s->hops, TREE_FAR, s->t->nodes * sizeof(*s->hops));
	s->hops[s->root] = 0;
	s->queue[s->tail++] = s->root;
	for (head = 0; head < s->tail; head++) {
		tor_env_walked(head);
		if (s->hops[s->queue[head]] < TREE_FAR - 1)
			tree_expand(s, s->queue[head]);
	}
	tor_env_table_free(s->queue);
	return 0;
}

static u32 tree_hops(const struct tree_search *s, u32 node)
{
	return s->hops ? s->hops[node] : tor_torus_distance(s->t, s->root, node);
}

/* The port to the parent of @node; TOR_NO_PORT: it is the root, or not in the tree. */
static u32 tree_parent(const struct tree_search *s, u32 node)
{
	u32 hops = tree_hops(s, node);
	u32 port, peer;

	for (port = 0; port < s->t->ports; port++)
		if (tree_peer(s, node, port, &peer) && tree_hops(s, peer) + 1 == hops)
			return port;
	return TOR_NO_PORT;
}

static u16 tree_ports(const struct tree_search *s, u32 self)
{
	u32 parent = tree_parent(s, self);
	u16 ports = parent == TOR_NO_PORT ? 0 : 1U << parent;
	u32 port, peer;

	for (port = 0; port < s->t->ports; port++)
		if (tree_peer(s, self, port, &peer) &&
		    tree_parent(s, peer) == tor_torus_peer_port(s->t, port))
			ports |= 1U << port;
	return ports;
}

static bool tree_is_whole(const struct tor_torus *t, const struct tor_routes *routes,
			  const u16 *dead)
{
	u32 node;

	if (routes->reached < t->nodes)
		return false;
	for (node = 0; dead && node < t->nodes; node++) {
		tor_env_walked(node);
		if (dead[node])
			return false;
	}
	return true;
}

static u32 tree_root(const struct tor_routes *routes)
{
	u32 node = 0;

	/* this node reaches itself */
	while (!tor_routes_reach(routes, node))
		tor_env_walked(node++);
	return node;
}

int tor_tree_build(struct tor_tree *tree, const struct tor_torus *t, u32 self,
		   const struct tor_routes *routes, const u16 *dead)
{
	struct tree_search s = { .t = t, .dead = dead, .root = tree_root(routes) };
	int err;

	if (tree_is_whole(t, routes, dead)) {
		s.dead = NULL;
	} else {
		err = tree_search(&s);
		if (err)
			return err;
	}
	tree->root = s.root;
	tree->ports = tree_ports(&s, self);
	tor_env_table_free(s.hops);
	return 0;
}
