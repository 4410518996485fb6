/* SPDX-License-Identifier: GPL-2.0 */
/* A search for the best placement: what the files of place.h share. */
#ifndef _CTL_PLACE_SEARCH_H
#define _CTL_PLACE_SEARCH_H

#include "place.h"

#define SURPLUS		2	/* the cost of a cable too many; one too few costs 1 */

/* A node next to another, with so many cables between them. */
struct near {
	uint32_t node;
	uint32_t cables;
};

/* The best node of a host that is not placed. */
struct choice {
	uint32_t node;		/* GRAPH_NONE: no vote */
	int margin;		/* votes more than for any rival */
	int votes;
};

struct search {
	const struct graph *g;
	const struct tor_torus *t;
	uint32_t open;		/* dimensions that are lines */
	struct near *near;	/* TOR_MAX_PORTS for each node */
	uint32_t *nnear;
	uint32_t *at, *who;	/* node of each host, host at each node; or GRAPH_NONE */
	uint8_t *vote;		/* row of a host, column of a node */
	struct choice *choice;
	bool *stale;		/* choices to be made again */
	uint32_t cost;		/* of what is placed */

	uint32_t first[TOR_MAX_PORTS + 1], node[TOR_MAX_PORTS + 1];	/* hosts at the start */
	uint32_t nfirst;
	uint32_t steps;

	struct place *best;
	uint32_t limit;
	bool found;		/* best is valid */
	uint32_t seeds;		/* tried since the best was found */
	uint32_t agree;		/* of them, those that found one as good */
	bool seed_found;
};

/* --- place_cost.c --- */

/* The cables that the torus has between two nodes. */
uint32_t search_torus_cables(const struct search *s, uint32_t a, uint32_t b);

/* The cost of cables between a host and those that are placed. */
uint32_t search_cables_cost(const struct search *s, uint32_t host);

/* The cost of all cables; after the last host was placed. */
uint32_t search_total_cost(const struct search *s);

/* A hash of what does not fit: the same whatever nodes the hosts are at. */
uint64_t search_faults(const struct search *s);

/* Exchange hosts whose cables do not fit as long as that is cheaper. */
void search_repair(struct search *s);

/* --- place_grow.c --- */

/*
 * Place all hosts, from those at the start. Return false if that becomes too
 * expensive.
 */
bool search_grow(struct search *s);

#endif
