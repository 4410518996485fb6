/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Routes: by which port a frame leaves for a node.
 *
 * A table holds, for every node, the ports that begin a shortest way around the links that are
 * known to be dead. Of those ports the one of the lowest dimension is taken, and if both of its
 * directions will do, a tie bit that the frame keeps chooses: without dead links that is
 * dimension-ordered routing, the shorter way round each ring. With a cut ring it is the other way
 * round, or through other dimensions where that is shorter.
 *
 * Loops. Where all nodes on the way know of the same dead links, every hop brings the frame one nearer
 * to its destination: there is none, and whoever can be reached is. While news spread, two
 * nodes may think of each other as the nearer one. A frame never goes back to the neighbour that it
 * came from: it takes another port of a shortest way, or is dropped. No agreeing nodes ever want it to,
 * so that costs nothing, and it turns the ping-pong of two neighbours, by far the most frequent case
 * since news travel hop by hop, into one lost frame. Longer loops need three nodes with views that
 * differ, end as soon as the news have gone round, and end at the hop limit at the latest. What
 * is dropped is sent again by its sender, end to end.
 */
#ifndef _TOR_CORE_ROUTE_H
#define _TOR_CORE_ROUTE_H

#include "core/link/damper.h"
#include "core/torus.h"

#define TOR_NO_PORT	(~0U)
#define TOR_HOP_LIMIT	255

/**
 * struct tor_routes - a node's table
 * @reached: nodes that there is a way to, this one included
 * @ports: by node: bit per port that begins a shortest way; 0: none
 */
struct tor_routes {
	u32 self;
	u32 reached;
	u16 ports[];
};

/**
 * tor_routes_build - find all shortest ways
 * @t: shape
 * @self: from this node
 * @dead: each node's dead ports, as tor_view_copy_dead() gives them; NULL: none
 *
 * Context: may sleep; takes some 50 ns per node and port.
 * Return: a table for tor_env_table_free(), or NULL for want of memory.
 */
struct tor_routes *tor_routes_build(const struct tor_torus *t, u32 self, const u16 *dead);

/* The first wait between two searches, ns (damper.h): some three times what one takes. */
static inline u64 tor_routes_pause(const struct tor_torus *t)
{
	return min_t(u64, t->nodes * NSEC_PER_USEC, TOR_DAMPER_FIRST);
}

static inline size_t tor_routes_bytes(const struct tor_torus *t)
{
	return sizeof(struct tor_routes) + t->nodes * sizeof(u16);
}

/**
 * tor_routes_port - where a frame leaves
 * @t: shape
 * @routes: table
 * @dst: node it goes to
 * @tie: 0 or 1: which way round if both are equally long
 * @live: bit per port that can be used now: a link that went down a moment ago is avoided before the
 *	table knows of it
 * @from: port that it came in by, TOR_NO_PORT if it begins here
 *
 * Return: port, or TOR_NO_PORT if none will do.
 */
u32 tor_routes_port(const struct tor_torus *t, const struct tor_routes *routes, u32 dst, u32 tie,
		    u32 live, u32 from);

static inline bool tor_routes_reach(const struct tor_routes *routes, u32 dst)
{
	return dst == routes->self || routes->ports[dst];
}

#endif
