// SPDX-License-Identifier: GPL-2.0
/* A placement grows from its first hosts, by their peers' votes. See place.c. */
#include <string.h>

#include "place_search.h"

#define SLACK		8	/* of cost before exchanges that these may save */

/* The choices of hosts that might take @node change. */
static void mark_stale(struct search *s, uint32_t node)
{
	const struct near *near = &s->near[node * TOR_MAX_PORTS];
	uint32_t i, j;

	for (i = 0; i < s->nnear[node]; i++) {
		uint32_t host = s->who[near[i].node];

		if (host == GRAPH_NONE)
			continue;
		for (j = 0; j < s->g->host[host].npeers; j++)
			s->stale[s->g->host[host].peer[j].host] = true;
	}
}

static void put_host(struct search *s, uint32_t host, uint32_t node)
{
	const struct near *near = &s->near[node * TOR_MAX_PORTS];
	const struct graph_host *h = &s->g->host[host];
	uint32_t i, j;

	s->at[host] = node;
	s->who[node] = host;
	s->cost += search_cables_cost(s, host);
	s->steps++;
	for (i = 0; i < s->nnear[node]; i++) {
		if (s->who[near[i].node] != GRAPH_NONE)
			continue;
		for (j = 0; j < h->npeers; j++)
			s->vote[h->peer[j].host * s->t->nodes + near[i].node] +=
				min(near[i].cables, h->peer[j].cables);
	}
	mark_stale(s, node);
	for (i = 0; i < s->nnear[node]; i++)
		mark_stale(s, near[i].node);
}

/* Return the most votes that another host has for @node. */
static int rival_votes(const struct search *s, uint32_t host, uint32_t node)
{
	const struct near *near = &s->near[node * TOR_MAX_PORTS];
	int most = 0;
	uint32_t i, j;

	for (i = 0; i < s->nnear[node]; i++) {
		const struct graph_host *h;

		if (s->who[near[i].node] == GRAPH_NONE)
			continue;
		h = &s->g->host[s->who[near[i].node]];
		for (j = 0; j < h->npeers; j++) {
			uint32_t other = h->peer[j].host;

			if (other != host && s->at[other] == GRAPH_NONE)
				most = max(most, (int)s->vote[other * s->t->nodes + node]);
		}
	}
	return most;
}

static void choose_node(struct search *s, uint32_t host)
{
	const struct graph_host *h = &s->g->host[host];
	struct choice best = { .node = GRAPH_NONE };
	int second = 0;
	uint32_t i, j;

	for (i = 0; i < h->npeers; i++) {
		uint32_t at = s->at[h->peer[i].host];

		if (at == GRAPH_NONE)
			continue;
		for (j = 0; j < s->nnear[at]; j++) {
			uint32_t node = s->near[at * TOR_MAX_PORTS + j].node;
			int votes = s->vote[host * s->t->nodes + node];

			if (s->who[node] != GRAPH_NONE || node == best.node)
				continue;
			if (votes > best.votes) {
				second = best.votes;
				best.node = node;
				best.votes = votes;
			} else {
				second = max(second, votes);
			}
		}
	}
	if (best.node != GRAPH_NONE)
		best.margin = best.votes - max(second, rival_votes(s, host, best.node));
	s->choice[host] = best;
	s->stale[host] = false;
}

/* Return the host that is to be placed next; its choice may be GRAPH_NONE. */
static uint32_t next_host(struct search *s)
{
	uint32_t best = GRAPH_NONE, i;

	for (i = 0; i < s->g->nhosts; i++) {
		const struct choice *a = &s->choice[i], *b;

		if (s->at[i] != GRAPH_NONE)
			continue;
		if (s->stale[i])
			choose_node(s, i);
		if (best == GRAPH_NONE) {
			best = i;
			continue;
		}
		b = &s->choice[best];
		if (a->node != GRAPH_NONE &&
		    (b->node == GRAPH_NONE || a->margin > b->margin ||
		     (a->margin == b->margin && a->votes > b->votes)))
			best = i;
	}
	return best;
}

static uint32_t first_free(const struct search *s)
{
	uint32_t node = 0;

	while (s->who[node] != GRAPH_NONE)
		node++;
	return node;
}

bool search_grow(struct search *s)
{
	uint32_t nodes = s->t->nodes, hosts = s->g->nhosts, i;

	memset(s->at, -1, hosts * sizeof(*s->at));
	memset(s->who, -1, nodes * sizeof(*s->who));
	memset(s->vote, 0, (size_t)nodes * hosts);
	memset(s->stale, 0, hosts * sizeof(*s->stale));
	for (i = 0; i < hosts; i++)
		s->choice[i] = (struct choice){ .node = GRAPH_NONE };
	s->cost = 0;
	for (i = 0; i < s->nfirst; i++)
		put_host(s, s->first[i], s->node[i]);
	for (; i < hosts; i++) {
		uint32_t host = next_host(s), node = s->choice[host].node;

		put_host(s, host, node == GRAPH_NONE ? first_free(s) : node);
		if (s->cost > s->limit + s->limit / 2 + SLACK)
			return false;
	}
	return true;
}
