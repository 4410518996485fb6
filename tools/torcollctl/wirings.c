// SPDX-License-Identifier: GPL-2.0
/* Wirings of a number of hosts, and what they are good for. See wirings.h. */
#include "wirings.h"

#include <errno.h>
#include <stdlib.h>

#include "core/choose/choose.h"
#include "core/link/route.h"

#define MESH_LEAST	4	/* hosts of a full mesh; three are a ring */
/* Hosts up to which chords of one step, and of more, are searched: seconds for the most. */
#define CHORD_HOSTS	256
#define CHORDS_HOSTS	128

const uint32_t wirings_sizes[WIRINGS_SIZES] = { 8, 4 << 10, 256 << 10, 4 << 20 };

/* What is looked for, and the chords that were best so far. */
struct hunt {
	struct wirings *w;
	uint32_t ports;
	bool no_memory;
	struct tor_torus closest;
	uint32_t hops;
	double load;
};

static uint32_t count_ports(const struct tor_torus *t, uint32_t node)
{
	uint32_t port, n = 0;

	for (port = 0; port < t->ports; port++)
		n += tor_torus_has_port(t, node, port);
	return n;
}

/* Time the shape by the fastest plan for each size that gives all ranks the same bits. */
static bool time_it(struct wirings_one *one)
{
	struct tor_call call = {
		.torus = &one->t, .ranks = one->t.nodes, .collective = TORCOLL_ALLREDUCE,
	};
	struct tor_offers o;
	uint32_t i, k;

	if (tor_offers_make(&o, &call))
		return false;
	for (i = 0; i < o.n; i++)
		for (k = 0; k < WIRINGS_SIZES; k++) {
			struct tor_line line = tor_cost_line(&o.offer[i].cost, &tor_rates_default);
			uint64_t ps = tor_line_at(line, wirings_sizes[k]);

			if (o.offer[i].agrees && (!one->ps[k] || ps < one->ps[k]))
				one->ps[k] = ps;
		}
	tor_offers_free(&o);
	return true;
}

uint32_t wirings_ports(const struct tor_torus *t)
{
	uint32_t ports = 0, node;

	for (node = 0; node < t->nodes; node++)
		ports = max(ports, count_ports(t, node));
	return ports;
}

static void add_shape(struct hunt *h, const struct tor_torus *t)
{
	struct wirings_one *list, one = {
		.t = *t, .ports = wirings_ports(t), .hops = tor_torus_diameter(t),
	};
	uint32_t node;

	for (node = 0; node < t->nodes; node++)
		one.cables += count_ports(t, node);
	one.cables /= 2;
	/* a fabric of more hops is refused, as no frame arrives there */
	if (one.ports > h->ports || one.hops > TOR_HOP_LIMIT)
		return;
	list = realloc(h->w->list, (h->w->n + 1) * sizeof(*list));
	if (list)
		h->w->list = list;
	if (!list || !time_it(&one))
		h->no_memory = true;
	else
		list[h->w->n++] = one;
}

/* Add products of rings and meshes: sides from the @ndim-th on have the product @nodes. */
static void add_products(struct hunt *h, uint32_t ndim, uint32_t *side, uint32_t nodes)
{
	uint32_t least = ndim ? tor_side_nodes(side[ndim - 1]) : 2, n;
	struct tor_torus t;

	if (nodes == 1) {
		if (!tor_torus_init(&t, ndim, side, 1))
			add_shape(h, &t);
		return;
	}
	for (n = least; ndim < TOR_MAX_DIMS && n <= nodes; n++) {
		if (nodes % n || (n != nodes && n > nodes / n))
			continue;
		side[ndim] = n;
		add_products(h, ndim + 1, side, nodes / n);
		side[ndim] = TORCOLL_SIDE(n, TORCOLL_KIND_MESH);
		if (n >= MESH_LEAST && n <= TOR_MAX_PORTS + 1)
			add_products(h, ndim + 1, side, nodes / n);
	}
}

/* ---- chords ---- */

/*
 * The load of the busiest cable in an allgather, and a little for each message
 * of a short allreduce.
 */
static double load_of(const struct tor_torus *t)
{
	struct tor_call call = {
		.torus = t, .ranks = t->nodes, .collective = TORCOLL_ALLGATHER,
		.algorithm = TORCOLL_LAYERS,
	};
	struct tor_cost longest = { 0 }, shortest = { 0 };

	/* without memory all are alike */
	tor_cost_plan(&call, &longest, NULL);
	call.collective = TORCOLL_ALLREDUCE;
	call.algorithm = TORCOLL_FLOOD;
	tor_cost_plan(&call, &shortest, NULL);
	return longest.w + shortest.messages / 1000.0;
}

/* Keep the chords by which nodes are closest, and of these those with the least load. */
static void consider_chords(struct hunt *h, const struct tor_torus *t)
{
	uint32_t hops = tor_torus_diameter(t);
	double load;

	if (h->hops && hops > h->hops)
		return;
	load = load_of(t);
	if (h->hops && hops == h->hops && load >= h->load)
		return;
	h->closest = *t;
	h->hops = hops;
	h->load = load;
}

static void search_chords(struct hunt *h, uint32_t ndim, uint32_t *side, uint32_t chords)
{
	uint32_t step = ndim > 1 ? tor_side_nodes(side[ndim - 1]) + 1 : 2;
	struct tor_torus t;

	if (!chords) {
		if (!tor_torus_init(&t, ndim, side, 1))
			consider_chords(h, &t);
		return;
	}
	for (; 2 * step < side[0]; step++) {
		side[ndim] = TORCOLL_SIDE(step, TORCOLL_KIND_CHORD);
		search_chords(h, ndim + 1, side, chords - 1);
	}
}

/* Of each number of chords that the ports allow, one. */
static void add_chords(struct hunt *h, uint32_t hosts)
{
	uint32_t side[TOR_MAX_DIMS] = { hosts }, chords;

	for (chords = 1; chords <= TOR_MAX_CHORDS && 2 * (chords + 1) <= h->ports; chords++) {
		if (hosts > (chords > 1 ? CHORDS_HOSTS : CHORD_HOSTS))
			return;
		h->hops = 0;
		search_chords(h, 1, side, chords);
		if (h->hops)
			add_shape(h, &h->closest);
	}
}

/* ---- the order ---- */

static void find_loss(struct wirings *w)
{
	uint32_t i, k;

	for (k = 0; k < WIRINGS_SIZES; k++) {
		uint64_t best = ~0ULL;

		for (i = 0; i < w->n; i++)
			best = min(best, w->list[i].ps[k]);
		for (i = 0; i < w->n; i++)
			w->list[i].loss += (double)w->list[i].ps[k] / best / WIRINGS_SIZES;
	}
}

/* Of those that are as good, the one with fewer cables, and ports. */
static int compare(const void *a, const void *b)
{
	const struct wirings_one *x = a, *y = b;

	if (x->loss != y->loss)
		return x->loss < y->loss ? -1 : 1;
	if (x->cables != y->cables)
		return x->cables < y->cables ? -1 : 1;
	return (x->t.ndim > y->t.ndim) - (x->t.ndim < y->t.ndim);
}

int wirings_find(struct wirings *w, uint32_t hosts, uint32_t ports, uint32_t ndim,
		 const uint32_t *side)
{
	struct hunt h = { .w = w, .ports = ports };
	uint32_t sides[TOR_MAX_DIMS];
	struct tor_torus t;

	if (ndim) {
		if (!tor_torus_init(&t, ndim, side, 1))
			add_shape(&h, &t);
	} else {
		add_products(&h, 0, sides, hosts);
		add_chords(&h, hosts);
	}
	if (h.no_memory)
		return -ENOMEM;
	find_loss(w);
	if (w->n)
		qsort(w->list, w->n, sizeof(*w->list), compare);
	return 0;
}

void wirings_free(struct wirings *w)
{
	free(w->list);
}
