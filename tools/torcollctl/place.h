/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts placed at the nodes of a torus so that as many cables as possible lead
 * where the torus has one.
 */
#ifndef _CTL_PLACE_H
#define _CTL_PLACE_H

#include "core/torus.h"
#include "graph.h"

/**
 * struct place - hosts at the nodes of a torus
 * @t: the torus
 * @open: dimensions, as bits, without the cables that wrap around: lines
 * @who: host at each node, or GRAPH_NONE
 * @absent: nodes without a host
 * @missing: cables that belong there and that the graph has not
 * @surplus: cables that the graph has and that do not belong there
 * @cost: how bad that is: 0 for a torus in which everything fits
 * @faults: which cables are missing or too many, as a hash
 * @ambiguous: another placement costs as much, with other faults
 */
struct place {
	struct tor_torus t;
	uint32_t open;
	uint32_t *who;
	uint32_t absent, missing, surplus;
	uint32_t cost;
	uint64_t faults;
	bool ambiguous;
};

/* Return whether a node has a cable at a port. */
static inline bool place_has_port(const struct tor_torus *t, uint32_t open, uint32_t node,
				  uint32_t port)
{
	uint32_t dim = tor_port_dim(t, port);
	uint32_t last = tor_port_way(t, port) == TOR_PLUS ? t->side[dim] - 1 : 0;

	return tor_torus_has_port(t, node, port) &&
	       !(open >> dim & 1 && tor_torus_coord(t, node, dim) == last);
}

/* The number of cables. */
uint32_t place_edges(const struct tor_torus *t, uint32_t open);

/* The least cost that place_search() can find. */
uint32_t place_least(const struct graph *g, const struct tor_torus *t, uint32_t open);

/**
 * place_search - place the hosts of a graph
 * @p: filled in on success; who is to be freed
 * @g: hosts, not more than @t has nodes
 * @t: torus
 * @open: its dimensions that are lines; not those with a side of 2
 * @limit: the most that the result may cost
 *
 * The same graph gives the same result.
 *
 * Return: 0, -ENOENT if every placement that was tried costs more, or -ENOMEM.
 */
int place_search(struct place *p, const struct graph *g, const struct tor_torus *t, uint32_t open,
		 uint32_t limit);

#endif
