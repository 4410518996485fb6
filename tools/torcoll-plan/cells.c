// SPDX-License-Identifier: GPL-2.0
/*
 * Boundaries of cells in the vector. See cells.h.
 *
 * Many pieces share an edge: a hash table removes duplicates before edges are
 * sorted, and finds them again.
 */
#include "cells.h"

#include <stdlib.h>

#define FEWEST		64
#define FEWEST_BITS	8

/* --- the set --- */

/* Return the slot of an edge, or the empty one where it belongs. */
static u32 *find_slot(const struct cells *x, u64 off)
{
	size_t mask = ((size_t)1 << x->bits) - 1, i = off * 0x9e3779b97f4a7c15 >> (64 - x->bits);

	while (x->slot[i] && x->edge[x->slot[i] - 1] != off)
		i = (i + 1) & mask;
	return &x->slot[i];
}

/* Number all edges again; at most a quarter of the slots is in use. */
static void number_edges(struct cells *x)
{
	size_t i;

	while ((size_t)1 << x->bits < 4 * x->edges)
		x->bits++;
	free(x->slot);
	x->slot = dump_alloc((size_t)1 << x->bits, sizeof(*x->slot));
	for (i = 0; i < x->edges; i++)
		*find_slot(x, x->edge[i]) = i + 1;
}

static void add_edge(struct cells *x, u64 off)
{
	u32 *slot = find_slot(x, off);

	if (*slot)
		return;
	if (x->edges == x->room) {
		x->room *= 2;
		x->edge = realloc(x->edge, x->room * sizeof(*x->edge));
		if (!x->edge)
			dump_no_memory();
	}
	x->edge[x->edges++] = off;
	*slot = x->edges;
	if (x->edges > (size_t)1 << (x->bits - 1))
		number_edges(x);
}

static int compare_edges(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void sort_edges(struct cells *x)
{
	qsort(x->edge, x->edges, sizeof(u64), compare_edges);
	number_edges(x);
}

size_t cells_at(const struct cells *x, u64 off)
{
	size_t low = 0, high = x->n;
	u32 number = *find_slot(x, off);

	if (number)
		return number - 1;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (x->edge[mid] < off)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- search --- */

/*
 * Copy the edges inside a range, of those @sorted, to the other end of a piece
 * that moves elements.
 */
static void carry_edges(struct cells *x, size_t sorted, u64 from, u64 to, u64 n)
{
	size_t i;

	for (i = *find_slot(x, from) - 1; i < sorted && x->edge[i] < from + n; i++)
		add_edge(x, x->edge[i] - from + to);
}

/*
 * A piece that moves elements to another place must have the same cells at
 * both.
 */
static bool close_edges(struct cells *x, const struct dump *d, struct dump_error *e)
{
	size_t i, sorted;

	do {
		sort_edges(x);
		sorted = x->edges;
		for (i = 0; i < d->pieces; i++) {
			const struct dump_piece *p = &d->piece[i];

			if (p->soff == p->doff)
				continue;
			carry_edges(x, sorted, p->soff, p->doff, p->n);
			carry_edges(x, sorted, p->doff, p->soff, p->n);
			if (x->edges * d->ranks > 8 * MAX_CELLS)
				return dump_fail(e, "too many different ranges to check");
		}
	} while (x->edges > sorted);
	return true;
}

/* Return whether blocks matter: edges elsewhere have no meaning. */
static bool has_blocks(const struct dump *d)
{
	return tor_collective_has_blocks(d->collective) || d->collective == TORCOLL_ALLTOALL;
}

static void add_edges(struct cells *x, const struct dump *d)
{
	u64 start = 0;
	size_t i;

	for (i = 0; i < d->pieces; i++) {
		const struct dump_piece *p = &d->piece[i];

		add_edge(x, p->soff);
		add_edge(x, p->soff + p->n);
		add_edge(x, p->doff);
		add_edge(x, p->doff + p->n);
	}
	for (i = 0; has_blocks(d) && i < d->ranks; i++) {
		add_edge(x, start);
		start += d->counts ? d->counts[i] : tor_block_len(d->count, d->ranks, i);
	}
	add_edge(x, 0);
	add_edge(x, d->count);
}

bool cells_find(struct cells *x, const struct dump *d, struct dump_error *e)
{
	*x = (struct cells){ .room = FEWEST, .bits = FEWEST_BITS };
	x->edge = dump_alloc(x->room, sizeof(*x->edge));
	number_edges(x);
	add_edges(x, d);
	if (!close_edges(x, d, e))
		return false;
	x->n = x->edges - 1;
	if (x->n * d->ranks > MAX_CELLS)
		return dump_fail(e, "too many different ranges to check");
	return true;
}

void cells_free(struct cells *x)
{
	free(x->edge);
	free(x->slot);
}
