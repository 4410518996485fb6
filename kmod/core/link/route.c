// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Shortest paths around dead links. See route.h. */
#include "core/link/route.h"

/* A breadth-first search from @routes->self. */
struct search {
	const struct tor_torus *t;
	const u16 *dead;
	struct tor_routes *routes;
	u8 *hops;
	u32 *queue;
	u32 tail;
};

static bool route_link_is_dead(const struct search *s, u32 node, u32 port, u32 peer)
{
	return s->dead && (s->dead[node] >> port & 1 ||
			   s->dead[peer] >> tor_torus_peer_port(s->t, port) & 1);
}

/* Neighbours of @node are one hop further, by the same first ports. */
static void route_expand(struct search *s, u32 node)
{
	struct tor_routes *routes = s->routes;
	u32 port;

	for (port = 0; port < s->t->ports; port++) {
		u16 first = node == routes->self ? 1U << port : routes->ports[node];
		u32 peer;

		if (!tor_torus_has_port(s->t, node, port))
			continue;
		peer = tor_torus_neighbour(s->t, node, port);
		if (peer == routes->self || route_link_is_dead(s, node, port, peer))
			continue;
		if (!routes->ports[peer]) {
			s->hops[peer] = s->hops[node] + 1;
			s->queue[s->tail++] = peer;
		}
		if (s->hops[peer] == s->hops[node] + 1)
			routes->ports[peer] |= first;
	}
}

struct tor_routes *tor_routes_build(const struct tor_torus *t, u32 self, const u16 *dead)
{
	struct search s = { .t = t, .dead = dead };
	u32 head;

	s.routes = tor_env_table_alloc(tor_routes_bytes(t));
	s.hops = tor_env_table_alloc(t->nodes * sizeof(*s.hops));
	s.queue = tor_env_table_alloc(t->nodes * sizeof(*s.queue));
	if (!s.routes || !s.hops || !s.queue) {
		tor_env_table_free(s.routes);
		s.routes = NULL;
		goto out;
	}
	s.routes->self = self;
	s.queue[s.tail++] = self;
	/* no frame arrives beyond the hop limit */
	for (head = 0; head < s.tail; head++) {
		tor_env_walked(head);
		if (s.hops[s.queue[head]] < TOR_HOP_LIMIT)
			route_expand(&s, s.queue[head]);
	}
	s.routes->reached = s.tail;
out:
	tor_env_table_free(s.queue);
	tor_env_table_free(s.hops);
	return s.routes;
}

/* The ports to the neighbour at @port: up to two cables lead there. */
static u32 route_ports_beside(const struct tor_torus *t, u32 port)
{
	u32 dim = tor_port_dim(t, port);

	return t->kind[dim] == TORCOLL_KIND_RING && t->side[dim] == 2 ? 3U << t->first[dim] : 1U << port;
}

/* The usable ports that begin a shortest path to @dst; none leads back to @from. */
static u32 route_ports(const struct tor_torus *t, const struct tor_routes *routes, u32 dst,
		       u32 live, u32 from)
{
	u32 ports;

	if (dst >= t->nodes)
		return 0;
	ports = routes->ports[dst] & live;
	if (from != TOR_NO_PORT)
		ports &= ~route_ports_beside(t, from);
	return ports;
}

u32 tor_routes_port(const struct tor_torus *t, const struct tor_routes *routes, u32 dst, u32 tie,
		    u32 live, u32 from)
{
	u32 ports = route_ports(t, routes, dst, live, from);
	u32 port, dim;

	if (!ports)
		return TOR_NO_PORT;
	port = __ffs64(ports);
	dim = tor_port_dim(t, port);
	/* a ring with chords: steps in the order of ports, or the other way round */
	if (tor_torus_has_chords(t))
		return tie & 1 ? fls(ports) - 1 : port;
	if (t->kind[dim] == TORCOLL_KIND_RING && (ports >> t->first[dim] & 3) == 3)
		return tor_torus_port(t, dim, tie & 1);
	return port;
}

/* The finalizer of MurmurHash3 (Appleby): every bit of @x changes half of the result's. */
static u32 route_mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bU;
	x ^= x >> 13;
	x *= 0xc2b2ae35U;
	return x ^ x >> 16;
}

/*
 * The way of @ways, a bit each, of the greatest weight: without a way that it
 * does not use, a flow stays where it is. @ways is not 0.
 */
static u32 route_heaviest(u32 ways, u32 seed)
{
	u32 way, weight, best = TOR_NO_PORT, most = 0;

	if (!(ways & (ways - 1)))
		return __ffs64(ways);
	for (; ways; ways &= ways - 1) {
		way = __ffs64(ways);
		weight = route_mix(seed + (way + 1) * 0x9e3779b9U);
		if (best == TOR_NO_PORT || weight > most) {
			best = way;
			most = weight;
		}
	}
	return best;
}

/*
 * With the node in the hash, the flows that one node sent by the same port are
 * spread again by the next.
 */
static u32 route_seed(const struct tor_routes *routes, u32 flow)
{
	return flow ^ route_mix(routes->self + 1);
}

u32 tor_routes_spread(const struct tor_torus *t, const struct tor_routes *routes, u32 dst, u32 flow,
		      u32 live, u32 from)
{
	u32 ports = route_ports(t, routes, dst, live, from);

	return ports ? route_heaviest(ports, route_seed(routes, flow)) : TOR_NO_PORT;
}

u32 tor_routes_cable(const struct tor_routes *routes, u32 flow, u32 up)
{
	/* mixed once more: the flows of a port are those of which it is the heaviest */
	return route_heaviest(up, route_mix(route_seed(routes, flow)));
}
