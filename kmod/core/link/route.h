/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Routes: the port by which a frame leaves for a node.
 *
 * A table holds, for every node, the ports that begin a shortest path around
 * the links known to be dead. Of those ports the one of the lowest dimension is
 * taken. If both directions of a ring qualify, a tie bit carried by the frame
 * decides. Without dead links that is dimension-ordered routing, the
 * shorter way round each ring. In a ring with chords the tie bit decides between
 * the lowest port and the highest: the same steps in one order or the other. With
 * a cut ring it is the other way round, or a path through other dimensions if that
 * is shorter.
 *
 * Loops. If all nodes on the path know the same dead links, every hop brings
 * the frame one hop nearer to its destination: there is no loop, and every
 * reachable node is reached. While news spreads, two nodes may each consider the
 * other the nearer one. A frame therefore does not return to the neighbour it
 * came from: it takes another port of a shortest path. Nodes that agree never
 * want to return a frame, so the rule costs nothing, and it ends the loop between
 * two neighbours, by far the most frequent case since news travels hop by hop.
 *
 * If there is no other port, as in a ring that was cut, the frame turns round,
 * for TOR_ROUTES_TURN after news of a dead link and as long as the table is up to
 * date with all news, and all of it has been sent; else it is dropped. News is sent
 * before such a frame, by the same link, so that the neighbour usually knows what
 * this node knows, or more, and does not return it again. Where that is lost, or
 * comes later by another cable, the frame goes back and forth until the neighbour
 * hears of it, up to the hop limit.
 *
 * Longer loops need three nodes with different views. They end when the news has
 * reached all of them, and at the latest at the hop limit. The sender retransmits
 * dropped frames, end to end. A fabric that begins has no such news: link.h.
 *
 * Packets of the network device are spread over all ports that begin a shortest
 * path, by the hash of their flow (tor_routes_spread()). Every hop still brings
 * them one hop nearer, and the same argument holds.
 *
 * By which cable of a link a frame leaves is no matter of routes, but for
 * packets: those of a flow stay on one (tor_routes_cable()).
 */
#ifndef _TOR_CORE_ROUTE_H
#define _TOR_CORE_ROUTE_H

#include "core/link/damper.h"
#include "core/torus.h"

#define TOR_NO_PORT	(~0U)
#define TOR_HOP_LIMIT	255
/* how long after news of a dead link frames may turn round: see above */
#define TOR_ROUTES_TURN	(20 * NSEC_PER_MSEC)

/**
 * struct tor_routes - routing table of a node
 * @self: this node
 * @reached: nodes that are reachable, this one included
 * @ports: by node: bit per port that begins a shortest path; 0: none
 */
struct tor_routes {
	u32 self;
	u32 reached;
	u16 ports[];
};

/**
 * tor_routes_build - find all shortest paths
 * @t: shape
 * @self: from this node
 * @dead: dead ports of each node, as from tor_view_copy_dead(); NULL: none
 *
 * Context: may sleep; takes some 50 ns per node and port.
 * Return: a table to free with tor_env_table_free(), or NULL if out of memory.
 */
struct tor_routes *tor_routes_build(const struct tor_torus *t, u32 self, const u16 *dead);

/*
 * The first wait between two searches, ns (damper.h): about three times the
 * duration of one.
 */
static inline u64 tor_routes_pause(const struct tor_torus *t)
{
	return min_t(u64, t->nodes * NSEC_PER_USEC, TOR_DAMPER_FIRST);
}

static inline size_t tor_routes_bytes(const struct tor_torus *t)
{
	return sizeof(struct tor_routes) + t->nodes * sizeof(u16);
}

/**
 * tor_routes_port - the port by which a frame leaves
 * @t: shape
 * @routes: table
 * @dst: destination
 * @tie: 0 or 1: direction if both are equally long
 * @live: bit per usable port: avoids a link that has just gone down before the
 *	table is rebuilt
 * @from: port on which the frame came in, TOR_NO_PORT if it starts here
 *
 * Context: any; @routes must stay valid (RCU in the module).
 * Return: port, or TOR_NO_PORT if there is none.
 */
u32 tor_routes_port(const struct tor_torus *t, const struct tor_routes *routes, u32 dst, u32 tie,
		    u32 live, u32 from);

/**
 * tor_routes_spread - the port by which a packet of a flow leaves
 * @t: shape
 * @routes: table
 * @dst: destination
 * @flow: hash of its flow
 * @live: bit per usable port, as for tor_routes_port()
 * @from: port on which it came in, TOR_NO_PORT if it starts here
 *
 * Unlike tor_routes_port(), uses all ports that begin a shortest path. The
 * packets of a flow take the same one as long as it is usable: if a port goes
 * down, only the flows that left by it move.
 *
 * Context: any; @routes must stay valid (RCU in the module).
 * Return: port, or TOR_NO_PORT if there is none.
 */
u32 tor_routes_spread(const struct tor_torus *t, const struct tor_routes *routes, u32 dst, u32 flow,
		      u32 live, u32 from);

/**
 * tor_routes_cable - the cable of a link by which a packet of a flow leaves
 * @routes: table
 * @flow: hash of its flow
 * @up: bit per usable cable of the link, not 0
 *
 * As with ports, only the flows of a cable that goes down move.
 *
 * Context: any; @routes must stay valid (RCU in the module).
 * Return: which cable of the link.
 */
u32 tor_routes_cable(const struct tor_routes *routes, u32 flow, u32 up);

static inline bool tor_routes_reach(const struct tor_routes *routes, u32 dst)
{
	return dst == routes->self || routes->ports[dst];
}

#endif
