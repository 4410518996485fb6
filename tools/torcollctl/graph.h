/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hosts and cables of a survey as a graph, and the use that each network
 * device has in it.
 */
#ifndef _CTL_GRAPH_H
#define _CTL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "survey.h"

#define GRAPH_MAX_HOSTS	1024
#define GRAPH_NONE	(~0U)

enum graph_use {
	GRAPH_CABLE,	/* leads to another host that answered */
	GRAPH_LOOP,	/* leads to the same host */
	GRAPH_SILENT,	/* has a carrier, but no host answers there */
	GRAPH_OUTSIDE,	/* the same, like the device of that name on most hosts */
	GRAPH_SWITCH,	/* several hosts are heard there */
	GRAPH_DARK,	/* no carrier, or not up */
};

/**
 * struct graph_port - a network device
 * @port: of the survey
 * @host: index of its host
 * @to: index of the port at the other end of its cable, or GRAPH_NONE
 * @use: what it is good for
 */
struct graph_port {
	const struct survey_port *port;
	uint32_t host;
	uint32_t to;
	enum graph_use use;
};

/* A host that cables lead to: how many of them. */
struct graph_peer {
	uint32_t host;
	uint32_t cables;
};

/**
 * struct graph_host - a host
 * @host: of the survey; the graph has its order
 * @port: index of its first port; @nports of them
 * @peer: hosts that its cables lead to, in order; @npeers of them
 * @silent: ports that are GRAPH_SILENT
 */
struct graph_host {
	const struct survey_host *host;
	uint32_t port, nports;
	struct graph_peer *peer;
	uint32_t npeers;
	uint32_t silent;
};

/**
 * struct graph - hosts and cables
 * @host: @nhosts of them
 * @port: of all hosts, @nports of them
 * @peers: of all hosts
 * @cables: number of cables between two hosts: row of one, column of the other
 * @ncables: between different hosts
 * @silent: ports that are GRAPH_SILENT
 */
struct graph {
	struct graph_host *host;
	struct graph_port *port;
	struct graph_peer *peers;
	uint8_t *cables;
	uint32_t nhosts, nports, ncables, silent;
};

/*
 * Make the graph of a survey that survey_link() has completed, of up to
 * GRAPH_MAX_HOSTS hosts. Return NULL without memory. The survey must outlive
 * the graph.
 */
struct graph *graph_new(const struct survey *s);
void graph_free(struct graph *g);

static inline uint32_t graph_cables(const struct graph *g, uint32_t a, uint32_t b)
{
	return g->cables[a * g->nhosts + b];
}

#endif
