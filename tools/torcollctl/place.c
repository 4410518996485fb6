// SPDX-License-Identifier: GPL-2.0
/*
 * Placing hosts at the nodes of a torus. See place.h.
 *
 * A search begins with a host, its seed, at node 0, and with the hosts at the
 * other ends of its cables at the nodes next to it, in every order that differs
 * by more than a symmetry. From there the placement grows: each placed host
 * votes for its peers to be at the nodes next to it, and the host whose best
 * node is least disputed goes there. In a torus, squares make that unambiguous:
 * two nodes next to each other's neighbours share one more neighbour. A few
 * wrong cables are outvoted; what is wrong in the end is improved by exchanging
 * hosts. Seeds beside a wrong cable lead nowhere, so several are tried.
 */
#include "place_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS		48	/* that find nothing better end the search, */
#define AGREE		4	/* so do some that find the same */
#define STEPS		20000	/* hosts placed in all, and STEPS_NODE */
#define STEPS_NODE	100	/* for each node: a bound on time */

static uint32_t edges_along(const struct tor_torus *t, uint32_t dim)
{
	switch (t->kind[dim]) {
	case TORCOLL_KIND_LINE:
		return t->nodes - t->nodes / t->side[dim];
	case TORCOLL_KIND_MESH:
		return t->nodes * (t->side[dim] - 1) / 2;
	default:
		return t->side[dim] == 2 && t->cables == 1 ? t->nodes / 2 : t->nodes;
	}
}

uint32_t place_edges(const struct tor_torus *t, uint32_t open)
{
	uint32_t n = 0, d;

	for (d = 0; d < t->ndim; d++) {
		if (t->side[d] == 1 && t->kind[d] != TORCOLL_KIND_CHORD)
			continue;
		n += edges_along(t, d);
		if (open >> d & 1)
			n -= t->nodes / t->side[d];
	}
	return n;
}

/* A line is worth less than a ring, by as little as possible. */
static uint32_t open_cost(uint32_t open)
{
	return __builtin_popcount(open);
}

uint32_t place_least(const struct graph *g, const struct tor_torus *t, uint32_t open)
{
	uint32_t edges = place_edges(t, open), absent = t->nodes - g->nhosts;
	/* cables to hosts that do not answer, and between those */
	uint32_t seen = min(g->silent, absent * t->ports);
	uint32_t unseen = min(absent * t->ports / 2, absent * (absent - (absent > 0)));
	uint32_t least = absent + g->silent - seen + open_cost(open);

	if (edges > g->ncables + seen + unseen)
		least += edges - g->ncables - seen - unseen;
	if (g->ncables > edges)
		least += SURPLUS * (g->ncables - edges);
	return least;
}

static void add_near(struct search *s, uint32_t node, uint32_t to)
{
	struct near *near = &s->near[node * TOR_MAX_PORTS];
	uint32_t i;

	for (i = 0; i < s->nnear[node]; i++)
		if (near[i].node == to)
			break;
	if (i == s->nnear[node])
		near[s->nnear[node]++] = (struct near){ to, 0 };
	near[i].cables++;
}

static int search_init(struct search *s)
{
	uint32_t nodes = s->t->nodes, node, port;

	s->near = calloc(nodes, TOR_MAX_PORTS * sizeof(*s->near));
	s->nnear = calloc(nodes, sizeof(*s->nnear));
	s->at = calloc(s->g->nhosts, sizeof(*s->at));
	s->who = calloc(nodes, sizeof(*s->who));
	s->vote = calloc(nodes, s->g->nhosts);
	s->choice = calloc(s->g->nhosts, sizeof(*s->choice));
	s->stale = calloc(s->g->nhosts, sizeof(*s->stale));
	if (!s->near || !s->nnear || !s->at || !s->who || !s->vote || !s->choice || !s->stale)
		return -ENOMEM;
	for (node = 0; node < nodes; node++)
		for (port = 0; port < s->t->ports; port++)
			if (place_has_port(s->t, s->open, node, port))
				add_near(s, node, tor_torus_neighbour(s->t, node, port));
	return 0;
}

static void search_free(struct search *s)
{
	free(s->near);
	free(s->nnear);
	free(s->at);
	free(s->who);
	free(s->vote);
	free(s->choice);
	free(s->stale);
}

/* ---- results ---- */

static void count_faults(struct search *s, struct place *p)
{
	uint32_t node, i;

	p->missing = p->surplus = 0;
	p->absent = s->t->nodes - s->g->nhosts;
	for (node = 0; node < s->t->nodes; node++) {
		const struct near *near = &s->near[node * TOR_MAX_PORTS];
		uint32_t fit = 0;

		if (s->who[node] == GRAPH_NONE)
			continue;
		for (i = 0; i < s->nnear[node]; i++) {
			uint32_t other = s->who[near[i].node], have;

			if (other == GRAPH_NONE)
				continue;
			have = graph_cables(s->g, s->who[node], other);
			p->missing += near[i].cables - min(near[i].cables, have);
			fit += min(near[i].cables, have);
		}
		for (i = 0; i < s->g->host[s->who[node]].npeers; i++)
			p->surplus += s->g->host[s->who[node]].peer[i].cables;
		p->surplus -= fit;
	}
	/* from both ends */
	p->missing /= 2;
	p->surplus /= 2;
}

static void judge(struct search *s)
{
	uint64_t faults;
	uint32_t cost;

	if (!search_grow(s))
		return;
	if (s->cost || s->g->silent || s->t->nodes > s->g->nhosts)
		search_repair(s);
	cost = search_total_cost(s) + open_cost(s->open);
	if (cost > s->limit)
		return;
	s->seed_found = true;
	faults = search_faults(s);
	if (s->found && cost == s->best->cost) {
		s->best->ambiguous |= faults != s->best->faults;
		return;
	}
	s->found = true;
	memcpy(s->best->who, s->who, s->t->nodes * sizeof(*s->who));
	count_faults(s, s->best);
	s->best->cost = s->limit = cost;
	s->best->faults = faults;
	s->best->ambiguous = false;
	s->seeds = s->agree = 0;
}

/* ---- beginning ---- */

static bool search_over(const struct search *s)
{
	return (s->found && !s->best->cost) || s->steps > STEPS + STEPS_NODE * s->t->nodes;
}

/* Return whether a host at the start is at the node of that port of node 0. */
static bool start_has(const struct search *s, uint32_t port)
{
	uint32_t node = tor_torus_neighbour(s->t, 0, port), i;

	if (!place_has_port(s->t, s->open, 0, port))
		return false;
	for (i = 0; i < s->nfirst; i++)
		if (s->node[i] == node)
			return true;
	return false;
}

static bool start_has_dim(const struct search *s, uint32_t dim)
{
	return start_has(s, tor_torus_port(s->t, dim, TOR_PLUS)) ||
	       start_has(s, tor_torus_port(s->t, dim, TOR_MINUS));
}

/*
 * Return whether a host may begin at that port of node 0: not if another port
 * is the same but for a symmetry.
 */
static bool start_differs(const struct search *s, uint32_t port)
{
	uint32_t dim = tor_port_dim(s->t, port), d;

	if (!place_has_port(s->t, s->open, 0, port) || start_has(s, port))
		return false;
	/* a ring with chords may only be turned as a whole */
	if (tor_torus_has_chords(s->t))
		return s->nfirst > 1 || tor_port_way(s->t, port) == TOR_PLUS;
	if (start_has_dim(s, dim))
		return true;
	if (tor_port_way(s->t, port) == TOR_MINUS)
		return false;
	for (d = 0; d < dim; d++)
		if (s->t->side[d] == s->t->side[dim] && s->t->kind[d] == s->t->kind[dim] &&
		    (s->open >> d & 1) == (s->open >> dim & 1) && !start_has_dim(s, d))
			return false;
	return true;
}

/* Place the peers of the seed from the @i-th on; @spare need no place. */
static void start_peers(struct search *s, uint32_t i, uint32_t spare)
{
	const struct graph_host *h = &s->g->host[s->first[0]];
	uint32_t port;

	if (search_over(s))
		return;
	if (i == h->npeers) {
		judge(s);
		return;
	}
	for (port = 0; port < s->t->ports; port++) {
		if (!start_differs(s, port))
			continue;
		s->first[s->nfirst] = h->peer[i].host;
		s->node[s->nfirst++] = tor_torus_neighbour(s->t, 0, port);
		start_peers(s, i + 1, spare);
		s->nfirst--;
	}
	if (spare)
		start_peers(s, i + 1, spare - 1);
}

static void start_at(struct search *s, uint32_t seed)
{
	uint32_t peers = s->g->host[seed].npeers;

	s->first[0] = seed;
	s->node[0] = 0;
	s->nfirst = 1;
	s->seed_found = false;
	start_peers(s, 0, peers > s->nnear[0] ? peers - s->nnear[0] : 0);
	s->seeds++;
	s->agree += s->seed_found;
}

/* Begin at hosts that have as many peers as a node, as those far from faults. */
static void search_run(struct search *s)
{
	uint32_t hosts = s->g->nhosts, apart = 1 + (hosts - 1) / SEEDS;
	uint32_t off, first, i;

	for (off = 0; off <= TOR_MAX_PORTS; off++)
		for (first = 0; first < apart; first++)
			for (i = first; i < hosts; i += apart) {
				uint32_t peers = s->g->host[i].npeers;

				if (peers != s->nnear[0] + off && peers + off != s->nnear[0])
					continue;
				if (search_over(s) || s->agree >= AGREE || s->seeds >= SEEDS)
					return;
				start_at(s, i);
			}
}

int place_search(struct place *p, const struct graph *g, const struct tor_torus *t, uint32_t open,
		 uint32_t limit)
{
	struct search s = { .g = g, .t = t, .open = open, .best = p, .limit = limit };
	int err;

	*p = (struct place){ .t = *t, .open = open, .who = calloc(t->nodes, sizeof(*p->who)) };
	err = p->who ? search_init(&s) : -ENOMEM;
	if (!err) {
		search_run(&s);
		err = s.found ? 0 : -ENOENT;
	}
	search_free(&s);
	if (err) {
		free(p->who);
		p->who = NULL;
	}
	return err;
}
