/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The port of the torus that each network device is, and what has to be done so
 * that this is so: cables to be connected, and cables to be moved.
 */
#ifndef _CTL_ROLES_H
#define _CTL_ROLES_H

#include "wiring.h"

#define ROLE_NONE	0xff

/**
 * struct role_link - a cable that is missing
 * @node: its end with the direction plus
 * @port: of that node: see tor_port()
 * @from, @to: ports of the graph for its ends, or GRAPH_NONE: the host has none
 *	to spare, or does not answer
 */
struct role_link {
	uint32_t node, port;
	uint32_t from, to;
	bool moved;		/* a cable that is moved takes its place */
};

/**
 * struct role_move - a cable with one end in a wrong port
 * @keep: port of the graph at its other end
 * @from: the wrong port
 * @to: the right one, or GRAPH_NONE: that host has none to spare
 * @host: of the right one
 * @swap: index of the move from @to to @from, or GRAPH_NONE
 */
struct role_move {
	uint32_t keep, from, to;
	uint32_t host;
	uint32_t swap;
};

/**
 * struct roles - what ports are for
 * @w: the wiring
 * @role: port of the torus that each port of the graph is, or ROLE_NONE; several
 *	are the same if there are several cables
 * @missing: @nmissing cables, those to hosts that do not answer included
 * @move: @nmoves cables
 * @spare: @nspares cables that have no place: the first port of each
 */
struct roles {
	const struct wiring *w;
	uint8_t *role;
	struct role_link *missing;
	struct role_move *move;
	uint32_t *spare;
	uint32_t nmissing, nmoves, nspares;
};

/* Return 0 or -ENOMEM; @r is to be freed in either case. */
int roles_find(struct roles *r, const struct wiring *w);
void roles_free(struct roles *r);

/* The port of the graph that is port @port of @node, of several the first, or GRAPH_NONE. */
uint32_t roles_port(const struct roles *r, uint32_t node, uint32_t port);

#endif
