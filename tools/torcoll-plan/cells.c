// SPDX-License-Identifier: GPL-2.0
/* Where the vector must be cut. See cells.h. */
#include "cells.h"

#include <stdlib.h>

static int compare_edges(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void sort_edges(struct cells *x, size_t n)
{
	size_t i, k = 0;

	qsort(x->edge, n, sizeof(u64), compare_edges);
	for (i = 0; i < n; i++)
		if (!k || x->edge[i] != x->edge[k - 1])
			x->edge[k++] = x->edge[i];
	x->n = k - 1;
}

size_t cells_at(const struct cells *x, u64 off)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (x->edge[mid] < off)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Edges inside a range, carried to the other end of a piece that moves elements. */
static size_t carry_edges(const struct cells *x, u64 from, u64 to, u64 n, u64 *out)
{
	size_t i, k = 0;

	for (i = cells_at(x, from); i <= x->n && x->edge[i] < from + n; i++) {
		u64 there = x->edge[i] - from + to;

		if (x->edge[cells_at(x, there)] == there)
			continue;
		if (out)
			out[k] = there;
		k++;
	}
	return k;
}

/* A piece that moves elements to another place must find the same cells at both. */
static bool close_edges(struct cells *x, const struct dump *d, struct dump_error *e)
{
	size_t i, more;

	do {
		u64 *edge;

		more = 0;
		for (i = 0; i < d->pieces; i++) {
			const struct dump_piece *p = &d->piece[i];

			if (p->soff == p->doff)
				continue;
			more += carry_edges(x, p->soff, p->doff, p->n, NULL);
			more += carry_edges(x, p->doff, p->soff, p->n, NULL);
		}
		if ((x->n + more) * d->ranks > 8 * MAX_CELLS)
			return dump_fail(e, "too many different ranges to check");
		edge = dump_alloc(x->n + 1 + more, sizeof(u64));
		memcpy(edge, x->edge, (x->n + 1) * sizeof(u64));
		more = x->n + 1;
		for (i = 0; i < d->pieces; i++) {
			const struct dump_piece *p = &d->piece[i];

			if (p->soff == p->doff)
				continue;
			more += carry_edges(x, p->soff, p->doff, p->n, edge + more);
			more += carry_edges(x, p->doff, p->soff, p->n, edge + more);
		}
		more -= x->n + 1;
		free(x->edge);
		x->edge = edge;
		sort_edges(x, x->n + 1 + more);
	} while (more);
	return true;
}

bool cells_find(struct cells *x, const struct dump *d, struct dump_error *e)
{
	size_t i, n = 0;
	u64 start = 0;

	x->edge = dump_alloc(4 * d->pieces + d->ranks + 2, sizeof(u64));
	for (i = 0; i < d->pieces; i++) {
		const struct dump_piece *p = &d->piece[i];

		x->edge[n++] = p->soff;
		x->edge[n++] = p->soff + p->n;
		x->edge[n++] = p->doff;
		x->edge[n++] = p->doff + p->n;
	}
	/* elsewhere blocks mean nothing */
	for (i = 0; (tor_collective_has_blocks(d->collective) ||
		     d->collective == TORCOLL_ALLTOALL) && i < d->ranks; i++) {
		x->edge[n++] = start;
		start += d->counts ? d->counts[i] : tor_block_len(d->count, d->ranks, i);
	}
	x->edge[n++] = 0;
	x->edge[n++] = d->count;
	sort_edges(x, n);
	if (!close_edges(x, d, e))
		return false;
	if (x->n * d->ranks * d->nbufs > MAX_CELLS)
		return dump_fail(e, "too many different ranges to check");
	return true;
}
