// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a dump on its torus: rounds, hops, bytes on links, messages.
 * Core's tally computes routes and loads, as for the module's choice; here
 * every node is included.
 */
#include "dump.h"

#include <stdlib.h>

#include "core/choose/tally.h"

/* Sums over rounds, which the tally does not keep per node. */
struct totals {
	u64 *load;			/* [node][port] half elements */
	u64 *sent;			/* [node] elements */
	u64 *handled;			/* [node] half messages */
};

static u32 node_of(const struct dump *d, u32 rank)
{
	return d->members ? d->members[rank] : rank;
}

/*
 * Pieces of one transfer need not be adjacent: messages are identified by (t,
 * ch, src, dst).
 */
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

static void add_message(const struct dump *d, struct tor_tally *t, struct totals *totals, u32 src,
			u32 dst, u64 n)
{
	if (src == dst)
		return;
	tor_tally_message(t, node_of(d, src), node_of(d, dst), n);
	totals->sent[node_of(d, src)] += n;
}

static void cost_round(const struct dump *d, struct tor_tally *t, struct totals *totals,
		       const struct dump_piece **p, size_t pieces, struct dump_cost *cost)
{
	size_t i, j;
	u64 n;

	tor_tally_begin(t);
	if (tor_tally_part(t, NULL))
		dump_no_memory();
	qsort(p, pieces, sizeof(*p), compare);
	for (i = 0; i < pieces; i = j) {
		n = 0;
		for (j = i; j < pieces && !compare(&p[i], &p[j]); j++)
			n += p[j]->n;
		add_message(d, t, totals, p[i]->src, p[i]->dst, n);
		cost->messages += p[i]->src != p[i]->dst;
	}
	for (i = 0; i < (size_t)t->classes * t->links; i++)
		totals->load[i] += t->load[i];
	for (i = 0; i < t->classes; i++)
		totals->handled[i] += t->handled[i];
	tor_tally_end(t, 1);
}

static void summarize(const struct dump *d, const struct tor_tally *t, const struct totals *totals,
		      struct dump_cost *cost)
{
	u32 i, dims = 0;
	u64 busiest = 0;

	for (i = 0; i < d->torus.nodes; i++) {
		cost->sent_max = max_t(double, cost->sent_max, totals->sent[i]);
		cost->handled_max = max(cost->handled_max, totals->handled[i] / 2.0);
	}
	for (i = 0; i < d->torus.nodes * t->links; i++)
		busiest = max(busiest, totals->load[i]);
	for (i = 0; i < d->torus.ndim; i++)
		dims += d->torus.side[i] > 1 || d->torus.kind[i] == TORCOLL_KIND_CHORD;
	cost->rounds = t->rounds;
	cost->hops = t->hops;
	cost->sent_mean = (double)t->sent / d->ranks;
	cost->handled_mean = t->messages / 2.0 / d->torus.nodes;
	cost->busiest = busiest / 2.0;
	cost->w = d->count ? t->w / 2.0 / d->count : 0;
	cost->factor = cost->w * dims;
}

void dump_cost(const struct dump *d, struct dump_cost *cost)
{
	struct totals totals = {
		.load = dump_alloc((u64)d->torus.ports * d->torus.nodes, sizeof(u64)),
		.sent = dump_alloc(d->torus.nodes, sizeof(u64)),
		.handled = dump_alloc(d->torus.nodes, sizeof(u64)),
	};
	const struct dump_piece **p = dump_alloc(d->pieces, sizeof(*p));
	struct tor_tally t;
	size_t i, end;

	memset(cost, 0, sizeof(*cost));
	tor_tally_init(&t, &d->torus);
	for (i = 0; i < d->pieces; i = end) {
		for (end = i; end < d->pieces && d->piece[end].t == d->piece[i].t; end++)
			p[end - i] = &d->piece[end];
		cost_round(d, &t, &totals, p, end - i, cost);
	}
	summarize(d, &t, &totals, cost);
	tor_tally_free(&t);
	free(p);
	free(totals.load);
	free(totals.sent);
	free(totals.handled);
}
