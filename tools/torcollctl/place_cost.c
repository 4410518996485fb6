// SPDX-License-Identifier: GPL-2.0
/* What a placement costs, and exchanges that make it cheaper. See place.c. */
#include "place_search.h"

#define REPAIRS		96	/* hosts that are exchanged with each other, at most */

uint32_t search_torus_cables(const struct search *s, uint32_t a, uint32_t b)
{
	const struct near *near = &s->near[a * TOR_MAX_PORTS];
	uint32_t i;

	for (i = 0; i < s->nnear[a]; i++)
		if (near[i].node == b)
			return near[i].cables;
	return 0;
}

static uint32_t differ(uint32_t want, uint32_t have)
{
	return want > have ? want - have : SURPLUS * (have - want);
}

/* Return the cost of cables between two hosts, which are placed. */
static uint32_t pair_cost(const struct search *s, uint32_t a, uint32_t b)
{
	return differ(search_torus_cables(s, s->at[a], s->at[b]), graph_cables(s->g, a, b));
}

uint32_t search_cables_cost(const struct search *s, uint32_t host)
{
	const struct near *near = &s->near[s->at[host] * TOR_MAX_PORTS];
	const struct graph_host *h = &s->g->host[host];
	uint32_t cost = 0, i;

	for (i = 0; i < s->nnear[s->at[host]]; i++)
		if (s->who[near[i].node] != GRAPH_NONE)
			cost += pair_cost(s, host, s->who[near[i].node]);
	for (i = 0; i < h->npeers; i++)
		if (s->at[h->peer[i].host] != GRAPH_NONE &&
		    !search_torus_cables(s, s->at[host], s->at[h->peer[i].host]))
			cost += SURPLUS * h->peer[i].cables;
	return cost;
}

/* Return the cost of cables to hosts that do not answer. */
static uint32_t silent_cost(const struct search *s, uint32_t host)
{
	const struct near *near = &s->near[s->at[host] * TOR_MAX_PORTS];
	uint32_t want = 0, have = s->g->host[host].silent, i;

	for (i = 0; i < s->nnear[s->at[host]]; i++)
		if (s->who[near[i].node] == GRAPH_NONE)
			want += near[i].cables;
	return want > have ? want - have : have - want;
}

uint32_t search_total_cost(const struct search *s)
{
	uint32_t twice = 0, silent = 0, i;

	for (i = 0; i < s->g->nhosts; i++) {
		twice += search_cables_cost(s, i);
		silent += silent_cost(s, i);
	}
	return twice / 2 + silent + s->t->nodes - s->g->nhosts;
}

/* A number for a fault; faults are summed up, in any order. */
static uint64_t fault_hash(uint32_t a, uint32_t b, uint32_t want, uint32_t have)
{
	uint64_t x = ((uint64_t)a << 42 ^ (uint64_t)b << 20 ^ want << 10 ^ have) +
		     0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t search_faults(const struct search *s)
{
	uint64_t sum = 0;
	uint32_t a, b;

	for (a = 0; a < s->g->nhosts; a++) {
		for (b = 0; b < a; b++) {
			uint32_t want = search_torus_cables(s, s->at[a], s->at[b]);
			uint32_t have = graph_cables(s->g, a, b);

			if (want != have)
				sum += fault_hash(a, b, want, have);
		}
		if (silent_cost(s, a))
			sum += fault_hash(a, a, silent_cost(s, a), 0);
	}
	return sum;
}

/* ---- exchanging ---- */

static uint32_t host_cost(const struct search *s, uint32_t host)
{
	return search_cables_cost(s, host) + silent_cost(s, host);
}

static void move_host(struct search *s, uint32_t host, uint32_t node)
{
	if (host != GRAPH_NONE)
		s->at[host] = node;
	s->who[node] = host;
}

/*
 * Return the cost of the cables of the hosts at two nodes, at most one free;
 * with those of hosts next to them that lead to hosts that do not answer.
 */
static uint32_t nodes_cost(const struct search *s, uint32_t a, uint32_t b)
{
	uint32_t x = s->who[a], y = s->who[b], node[2] = { a, b };
	uint32_t cost = 0, i, j;

	if (x != GRAPH_NONE && y != GRAPH_NONE)
		return host_cost(s, x) + host_cost(s, y) - pair_cost(s, x, y);
	cost = host_cost(s, x == GRAPH_NONE ? y : x);
	for (j = 0; j < 2; j++) {
		const struct near *near = &s->near[node[j] * TOR_MAX_PORTS];

		for (i = 0; i < s->nnear[node[j]]; i++) {
			uint32_t at = near[i].node;

			if (s->who[at] != GRAPH_NONE && at != a && at != b &&
			    !(j && search_torus_cables(s, a, at)))
				cost += silent_cost(s, s->who[at]);
		}
	}
	return cost;
}

/* Exchange what is at two nodes if that is cheaper. */
static bool exchange(struct search *s, uint32_t a, uint32_t b)
{
	uint32_t x = s->who[a], y = s->who[b], before;

	if (x == y)
		return false;
	before = nodes_cost(s, a, b);
	move_host(s, x, b);
	move_host(s, y, a);
	if (nodes_cost(s, a, b) < before)
		return true;
	move_host(s, x, a);
	move_host(s, y, b);
	return false;
}

void search_repair(struct search *s)
{
	uint32_t bad[REPAIRS], n = 0, node, i, j;
	bool better = true;

	for (node = 0; node < s->t->nodes && n < REPAIRS; node++)
		if (s->who[node] == GRAPH_NONE || host_cost(s, s->who[node]))
			bad[n++] = node;
	while (better) {
		better = false;
		for (i = 0; i < n; i++)
			for (j = 0; j < i; j++)
				better |= exchange(s, bad[i], bad[j]);
	}
}
