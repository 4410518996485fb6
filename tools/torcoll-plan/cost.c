// SPDX-License-Identifier: GPL-2.0
/*
 * What a dump costs on its torus: rounds, hops, bytes on links, messages. Dimension 0 is routed first, the
 * shorter way round, an exact tie half each way.
 */
#include "dump.h"

#include <stdlib.h>

struct tally {
	const struct dump *d;
	double *load;			/* [node][port] of this round */
	double *total;			/* of all rounds */
	double *sent;			/* [node] elements */
	double *handled;		/* [node] messages */
	double peak;			/* of load */
};

static u32 node_of(const struct dump *d, u32 rank)
{
	return d->members ? d->members[rank] : rank;
}

/* @share of a message of @n elements goes @hops from @node through @port. */
static void walk(struct tally *t, u32 node, u32 port, u32 hops, double n, double share)
{
	u32 ports = 2 * t->d->torus.ndim;

	while (hops--) {
		double *load = &t->load[node * ports + port];

		*load += n * share;
		t->total[node * ports + port] += n * share;
		t->peak = *load > t->peak ? *load : t->peak;
		/* whoever passes it on, or sends it: the receiver is counted by its own */
		t->handled[node] += share;
		node = tor_torus_neighbour(&t->d->torus, node, port);
	}
}

/* Returns the hops of the way. */
static u32 route(struct tally *t, u32 src, u32 dst, double n)
{
	const struct tor_torus *torus = &t->d->torus;
	u32 d, hops = 0, node = src;

	for (d = 0; d < torus->ndim; d++) {
		u32 side = torus->side[d];
		u32 up = (tor_torus_coord(torus, dst, d) + side - tor_torus_coord(torus, node, d)) %
			 side;
		u32 way = min(up, side - up);
		double share = 2 * up == side ? 0.5 : 1;

		/* one cable between the two of a side of 2: up from 0, down from 1 */
		if (side == 2 && torus->cables == 1)
			walk(t, node, tor_port(d, tor_torus_coord(torus, node, d)), up, n, 1);
		else {
			if (2 * up <= side)
				walk(t, node, tor_port(d, TOR_PLUS), way, n, share);
			if (2 * up >= side && up)
				walk(t, node, tor_port(d, TOR_MINUS), way, n, share);
		}
		hops += way;
		node = tor_torus_shift(torus, node, d, up);
	}
	t->sent[src] += n;
	t->handled[dst] += 1;
	return hops;
}

/* Pieces of one transfer lie together only by chance: messages are told by (t, ch, src, dst). */
static int compare(const void *a, const void *b)
{
	const struct dump_piece *x = *(const struct dump_piece *const *)a;
	const struct dump_piece *y = *(const struct dump_piece *const *)b;

	if (x->ch != y->ch)
		return x->ch < y->ch ? -1 : 1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static void cost_round(struct tally *t, const struct dump_piece **p, size_t pieces,
		       struct dump_cost *cost)
{
	const struct dump *d = t->d;
	u32 hops, longest = 0;
	bool any = false;
	size_t i, j;
	double n;

	memset(t->load, 0, d->torus.nodes * 2 * d->torus.ndim * sizeof(*t->load));
	t->peak = 0;
	qsort(p, pieces, sizeof(*p), compare);
	for (i = 0; i < pieces; i = j) {
		n = 0;
		for (j = i; j < pieces && !compare(&p[i], &p[j]); j++)
			n += p[j]->n;
		if (p[i]->src == p[i]->dst)
			continue;
		hops = route(t, node_of(d, p[i]->src), node_of(d, p[i]->dst), n);
		longest = max(longest, hops);
		cost->messages++;
		any = true;
	}
	cost->rounds += any;
	cost->hops += longest;
	cost->w += t->peak;
}

static void summarize(const struct tally *t, struct dump_cost *cost)
{
	const struct tor_torus *torus = &t->d->torus;
	u32 i, dims = 0;

	for (i = 0; i < torus->nodes; i++) {
		cost->sent_max = t->sent[i] > cost->sent_max ? t->sent[i] : cost->sent_max;
		cost->sent_mean += t->sent[i] / t->d->ranks;
		cost->handled_max = t->handled[i] > cost->handled_max ? t->handled[i] :
									cost->handled_max;
		cost->handled_mean += t->handled[i] / torus->nodes;
	}
	for (i = 0; i < torus->nodes * 2 * torus->ndim; i++)
		cost->busiest = t->total[i] > cost->busiest ? t->total[i] : cost->busiest;
	for (i = 0; i < torus->ndim; i++)
		dims += torus->side[i] > 1;
	cost->w = t->d->count ? cost->w / t->d->count : 0;
	cost->factor = cost->w * dims;
}

void dump_cost(const struct dump *d, struct dump_cost *cost)
{
	u32 links = d->torus.nodes * 2 * d->torus.ndim;
	struct tally t = {
		.d = d,
		.load = dump_alloc(links, sizeof(double)),
		.total = dump_alloc(links, sizeof(double)),
		.sent = dump_alloc(d->torus.nodes, sizeof(double)),
		.handled = dump_alloc(d->torus.nodes, sizeof(double)),
	};
	const struct dump_piece **p = dump_alloc(d->pieces, sizeof(*p));
	size_t i, end;

	memset(cost, 0, sizeof(*cost));
	for (i = 0; i < d->pieces; i = end) {
		for (end = i; end < d->pieces && d->piece[end].t == d->piece[i].t; end++)
			p[end - i] = &d->piece[end];
		cost_round(&t, p, end - i, cost);
	}
	summarize(&t, cost);
	free(p);
	free(t.load);
	free(t.total);
	free(t.sent);
	free(t.handled);
}
