// SPDX-License-Identifier: GPL-2.0
/*
 * Symbolic execution of a dump.
 *
 * The value of a cell at a rank is a sum of contributions. It is stored as the
 * number of contributions and the sum of a 64-bit hash of each (rank, cell), so
 * that a missing, doubled or displaced contribution is detected, with a
 * probability of error of one in 2^64.
 */
#include "cells.h"

#include <inttypes.h>
#include <stdlib.h>

/* Contents of a rank's buffer in a cell. */
struct value {
	u64 hash;
	u32 contributions;		/* 0: nothing */
	u32 owner : 8;			/* channel + 1 that uses it */
	u32 copied : 24;		/* round + 1 of the last copy */
};

/* A value read before the round. */
struct reading {
	u64 hash;
	u32 contributions;
};

/* The cells of a rank's buffer that are used, and the place of their values. */
struct area {
	size_t first, end;
	size_t values;
};

/* A piece of the round, in cells. */
struct move {
	const struct dump_piece *piece;
	size_t from, to, n;
	size_t reading;			/* the first */
};

struct exec {
	const struct dump *d;
	struct dump_error *e;
	struct cells cells;
	struct area *area;		/* [buffer][rank] */
	struct value *value;
	struct move *move;		/* as many as pieces in the longest round */
	struct reading *reading;
	size_t readings;
	u32 *owner;			/* [cell], of its block */
	/* [cell], of an element that all contribute to; for a scan, so far */
	struct value *expected;
	u32 input;			/* the buffer that also has the input, or 0 */
	struct tor_torus grid;		/* of a halo */
};

static u64 mix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static u64 contribution(u32 rank, size_t cell)
{
	return mix(mix(rank + 0x9e3779b97f4a7c15) + cell);
}

static bool is_scan(const struct dump *d)
{
	return d->collective == TORCOLL_SCAN || d->collective == TORCOLL_EXSCAN;
}

/*
 * --- areas: there may be one temporary per rank, each using a block only ---
 */

static struct area *area_of(const struct exec *x, u32 buf, u32 rank)
{
	return &x->area[(size_t)buf * x->d->ranks + rank];
}

static struct value *value_of(const struct exec *x, u32 buf, u32 rank, size_t cell)
{
	const struct area *area = area_of(x, buf, rank);

	return &x->value[area->values + cell - area->first];
}

static void use_cells(const struct exec *x, u32 buf, u32 rank, u64 off, u64 n)
{
	struct area *area = area_of(x, buf, rank);

	area->first = min(area->first, cells_at(&x->cells, off));
	area->end = max(area->end, cells_at(&x->cells, off + n));
}

static bool find_areas(struct exec *x)
{
	size_t i, areas = (size_t)x->d->nbufs * x->d->ranks, values = 0;
	const struct dump_piece *p;

	if (areas > MAX_CELLS)
		return dump_fail(x->e, "too many buffers to check");
	x->area = dump_alloc(areas, sizeof(*x->area));
	for (i = 0; i < areas; i++) {
		u32 buf = i / x->d->ranks;
		bool whole = buf == TOR_BUF_DATA || (x->input && buf == x->input);

		x->area[i].first = whole ? 0 : x->cells.n;
		x->area[i].end = whole ? x->cells.n : 0;
	}
	for (i = 0; i < x->d->pieces; i++) {
		p = &x->d->piece[i];
		use_cells(x, p->sbuf, p->src, p->soff, p->n);
		use_cells(x, p->dbuf, p->dst, p->doff, p->n);
	}
	for (i = 0; i < areas; i++) {
		x->area[i].values = values;
		if (x->area[i].end > x->area[i].first)
			values += x->area[i].end - x->area[i].first;
	}
	if (values > MAX_CELLS)
		return dump_fail(x->e, "too many different ranges to check");
	x->value = dump_alloc(values, sizeof(*x->value));
	return true;
}

/* --- begin and end --- */

/* Return whether a rank's input holds this cell. @owner: of its block. */
static bool has_input(const struct dump *d, u32 rank, u32 owner)
{
	switch (d->collective) {
	case TORCOLL_ALLGATHER:
	case TORCOLL_GATHER:
		return rank == owner;
	case TORCOLL_BROADCAST:
	case TORCOLL_SCATTER:
		return rank == d->root;
	default:
		return true;
	}
}

/* Return whether the result in this cell is defined at this rank. */
static bool has_result(const struct dump *d, u32 rank, u32 owner)
{
	switch (d->collective) {
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_SCATTER:
		return rank == owner;
	case TORCOLL_REDUCE:
	case TORCOLL_GATHER:
		return rank == d->root;
	case TORCOLL_EXSCAN:
		return rank > 0;
	default:
		return true;
	}
}

static void find_owners(struct exec *x)
{
	u32 owner = ~0U;
	u64 end = 0;
	size_t cell;

	for (cell = 0; cell < x->cells.n; cell++) {
		while (end <= x->cells.edge[cell]) {
			owner++;
			end += x->d->counts ? x->d->counts[owner] :
					      tor_block_len(x->d->count, x->d->ranks, owner);
		}
		x->owner[cell] = owner;
	}
}

static void set_input(struct exec *x, u32 rank)
{
	struct value *v = value_of(x, TOR_BUF_DATA, rank, 0);
	size_t cell;

	for (cell = 0; cell < x->cells.n; cell++) {
		if (!has_input(x->d, rank, x->owner[cell]))
			continue;
		v[cell].hash = contribution(rank, cell);
		v[cell].contributions = 1;
		if (x->input)
			*value_of(x, x->input, rank, cell) = v[cell];
		if (!is_scan(x->d)) {
			x->expected[cell].hash += v[cell].hash;
			x->expected[cell].contributions++;
		}
	}
}

static void set_inputs(struct exec *x)
{
	u32 r;

	x->expected = dump_alloc(x->cells.n, sizeof(*x->expected));
	x->owner = dump_alloc(x->cells.n, sizeof(*x->owner));
	find_owners(x);
	for (r = 0; r < x->d->ranks; r++)
		set_input(x, r);
}

/* --- results --- */

/* Return a contribution of @rank, from element @from of its vector. */
static struct value contributed(const struct exec *x, u32 rank, u64 from)
{
	return (struct value){ contribution(rank, cells_at(&x->cells, from)), 1 };
}

/* The grid on which ranks of a halo are neighbours: see core/plan/halo.c. */
static void find_grid(struct exec *x)
{
	const struct dump *d = x->d;
	struct tor_call call = { .torus = &d->torus, .members = d->members, .ranks = d->ranks };
	struct tor_placement placed = { .ndim = d->torus.ndim };
	u32 side[TOR_MAX_DIMS], dim, n = 0;

	if (d->members)
		tor_placement_find(&placed, &call);
	else
		memcpy(placed.extent, d->torus.side, sizeof(placed.extent));
	for (dim = 0; dim < placed.ndim; dim++)
		if (placed.extent[dim] > 1)
			side[n++] = placed.extent[dim];
	/* a list is a ring, and a rank alone has itself on both sides */
	if (!n)
		side[n++] = d->ranks;
	tor_torus_init(&x->grid, n, side, 1);
}

/* Return the neighbour whose block is block @way of a halo at @rank. */
static u32 halo_neighbour(const struct exec *x, u32 rank, u32 way)
{
	return tor_torus_shift(&x->grid, rank, way / 2, way % 2 ? 1 : -1);
}

static u32 halo_ways(const struct exec *x)
{
	return 2 * x->grid.ndim;
}

/*
 * Return the final value of @rank in a cell; for scans, ranks must be passed in
 * order.
 */
static struct value expected(struct exec *x, u32 rank, size_t cell)
{
	const struct dump *d = x->d;
	struct value *sum = &x->expected[cell], before = *sum;
	u64 at = x->cells.edge[cell], n;

	switch (d->collective) {
	case TORCOLL_SCAN:
	case TORCOLL_EXSCAN:
		sum->hash += contribution(rank, cell);
		sum->contributions++;
		return d->collective == TORCOLL_SCAN ? *sum : before;
	case TORCOLL_ALLTOALL:
		n = d->count / d->ranks;
		return contributed(x, at / n, at % n + rank * n);
	case TORCOLL_HALO:
		n = d->count / halo_ways(x);
		return contributed(x, halo_neighbour(x, rank, at / n), at % n + (at / n ^ 1) * n);
	default:
		return *sum;
	}
}

static bool explain(struct exec *x, u32 rank, size_t cell, const struct value *want)
{
	const struct dump *d = x->d;
	const struct value *v = value_of(x, TOR_BUF_DATA, rank, cell);
	u64 at = x->cells.edge[cell];

	if (!v->contributions)
		return dump_fail(x->e, "rank %u ends without element %" PRIu64, rank, at);
	if (v->contributions < want->contributions)
		return dump_fail(x->e, "rank %u ends with %u of %u contributions to element %" PRIu64,
				 rank, v->contributions, want->contributions, at);
	if (v->contributions > want->contributions)
		return dump_fail(x->e,
				 "rank %u ends with %u contributions to element %" PRIu64 " of %u ranks",
				 rank, v->contributions, at, want->contributions);
	return dump_fail(x->e, "rank %u ends with a contribution to element %" PRIu64
			 " that is doubled, displaced or of the wrong rank (%s)", rank, at,
			 tor_collective_name(d->collective));
}

static bool check_result(struct exec *x, u32 rank)
{
	const struct value *v = value_of(x, TOR_BUF_DATA, rank, 0);
	struct value want;
	size_t cell;

	for (cell = 0; cell < x->cells.n; cell++) {
		want = expected(x, rank, cell);
		if (has_result(x->d, rank, x->owner[cell]) &&
		    (v[cell].hash != want.hash || v[cell].contributions != want.contributions))
			return explain(x, rank, cell, &want);
	}
	return true;
}

static bool check_results(struct exec *x)
{
	u32 r;

	for (r = 0; r < x->d->ranks; r++)
		if (!check_result(x, r))
			return false;
	return true;
}

/* --- execution --- */

static bool fail_at(struct exec *x, const struct dump_piece *p, const char *what, u32 rank, u32 buf,
		    size_t cell)
{
	return dump_fail(x->e, "t %u, channel %u, %u to %u: %s element %" PRIu64 " of %s at rank %u",
			 p->t, p->ch, p->src, p->dst, what, x->cells.edge[cell], x->d->bufs[buf], rank);
}

static bool claim(struct exec *x, const struct dump_piece *p, struct value *v, u32 rank, u32 buf,
		  size_t cell)
{
	if (v->owner && v->owner != p->ch + 1)
		return fail_at(x, p, "another channel uses", rank, buf, cell);
	v->owner = p->ch + 1;
	return true;
}

static bool read_piece(struct exec *x, const struct move *m)
{
	const struct dump_piece *p = m->piece;
	struct value *v = value_of(x, p->sbuf, p->src, m->from);
	struct reading *to = &x->reading[m->reading];
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (!claim(x, p, &v[i], p->src, p->sbuf, m->from + i))
			return false;
		if (!v[i].contributions)
			return fail_at(x, p, "nothing is there to send in", p->src, p->sbuf,
				       m->from + i);
		to[i] = (struct reading){ v[i].hash, v[i].contributions };
	}
	return true;
}

static bool copy_piece(struct exec *x, const struct move *m)
{
	const struct dump_piece *p = m->piece;
	struct value *v = value_of(x, p->dbuf, p->dst, m->to);
	const struct reading *from = &x->reading[m->reading];
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (!claim(x, p, &v[i], p->dst, p->dbuf, m->to + i))
			return false;
		if (v[i].copied == p->t + 1)
			return fail_at(x, p, "a second copy in one round to", p->dst, p->dbuf,
				       m->to + i);
		v[i].copied = p->t + 1;
		v[i].hash = from[i].hash;
		v[i].contributions = from[i].contributions;
	}
	return true;
}

static bool reduce_piece(struct exec *x, const struct move *m)
{
	const struct dump_piece *p = m->piece;
	struct value *v = value_of(x, p->dbuf, p->dst, m->to);
	const struct reading *from = &x->reading[m->reading];
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (!claim(x, p, &v[i], p->dst, p->dbuf, m->to + i))
			return false;
		v[i].hash += from[i].hash;
		/* an invalid dump may double without end */
		v[i].contributions = min_t(u64, (u64)v[i].contributions + from[i].contributions,
					   U32_MAX);
	}
	return true;
}

/* Find the cells of all pieces, and memory for the values they read. */
static void find_moves(struct exec *x, const struct dump_piece *p, size_t pieces)
{
	size_t i, need = 0, from;

	for (i = 0; i < pieces; i++) {
		from = cells_at(&x->cells, p[i].soff);
		x->move[i] = (struct move){
			.piece = &p[i], .from = from, .reading = need,
			.to = p[i].doff == p[i].soff ? from : cells_at(&x->cells, p[i].doff),
			.n = cells_at(&x->cells, p[i].soff + p[i].n) - from,
		};
		need += x->move[i].n;
	}
	if (need > x->readings) {
		free(x->reading);
		x->reading = dump_alloc(need, sizeof(*x->reading));
		x->readings = need;
	}
}

/*
 * Execute all pieces of one t: first all reads, then copies, then reductions.
 */
static bool execute_round(struct exec *x, const struct dump_piece *p, size_t pieces)
{
	size_t i;

	find_moves(x, p, pieces);
	for (i = 0; i < pieces; i++)
		if (!read_piece(x, &x->move[i]))
			return false;
	for (i = 0; i < pieces; i++)
		if (p[i].op == TOR_PIECE_COPY && !copy_piece(x, &x->move[i]))
			return false;
	for (i = 0; i < pieces; i++)
		if (p[i].op == TOR_PIECE_REDUCE && !reduce_piece(x, &x->move[i]))
			return false;
	return true;
}

static size_t round_end(const struct dump *d, size_t i)
{
	u32 t = d->piece[i].t;

	while (i < d->pieces && d->piece[i].t == t)
		i++;
	return i;
}

static bool execute(struct exec *x)
{
	const struct dump *d = x->d;
	size_t i, end, most = 0;

	for (i = 0; i < d->pieces; i = end) {
		end = round_end(d, i);
		most = max(most, end - i);
	}
	x->move = dump_alloc(most, sizeof(*x->move));
	for (i = 0; i < d->pieces; i = end) {
		end = round_end(d, i);
		if (!execute_round(x, &d->piece[i], end - i))
			return false;
	}
	return true;
}

/* --- checks without execution --- */

static bool check_piece(const struct dump *d, const struct dump_piece *p, struct dump_error *e)
{
	const char *bad = NULL;

	if (p->src >= d->ranks || p->dst >= d->ranks)
		bad = "no such rank";
	else if (p->ch >= d->channels)
		bad = "no such channel";
	else if (!p->n)
		bad = "an empty piece";
	else if (p->soff > d->count || p->n > d->count - p->soff || p->doff > d->count ||
		 p->n > d->count - p->doff)
		bad = "outside of the vector";
	else if (p->t >= (1U << 24) - 1)
		bad = "t is too large";
	return !bad || dump_fail(e, "t %u, channel %u, %u to %u: %s", p->t, p->ch, p->src, p->dst,
				 bad);
}

static bool check_header(const struct dump *d, struct dump_error *e)
{
	u64 sum = 0;
	u32 i;

	if (!d->ranks)
		return dump_fail(e, "no ranks");
	if (d->root >= d->ranks)
		return dump_fail(e, "root is not a rank");
	if (d->channels < 1 || d->channels > 254)
		return dump_fail(e, "channels out of range");
	for (i = 0; d->counts && i < d->ranks; i++) {
		if (d->counts[i] > d->count - sum)
			return dump_fail(e, "counts do not sum up to count");
		sum += d->counts[i];
	}
	if (d->counts && sum != d->count)
		return dump_fail(e, "counts do not sum up to count");
	for (i = 0; d->members && i < d->ranks; i++)
		if (d->members[i] >= d->torus.nodes)
			return dump_fail(e, "member %u is not a node", d->members[i]);
	if (!d->members && d->ranks != d->torus.nodes)
		return dump_fail(e, "nodes are not those of dims");
	if (d->collective < TORCOLL_ALLREDUCE || d->collective > TORCOLL_HALO)
		return dump_fail(e, "a collective that cannot be checked");
	return true;
}

bool dump_valid(const struct dump *d, struct dump_error *e)
{
	size_t i;

	if (!check_header(d, e))
		return false;
	for (i = 0; i < d->pieces; i++)
		if (!check_piece(d, &d->piece[i], e))
			return false;
	return true;
}

bool dump_check(const struct dump *d, struct dump_error *e)
{
	struct exec x = { .d = d, .e = e };
	bool ok;
	u32 i;

	if (!dump_valid(d, e))
		return false;
	if (!d->count)
		return true;
	for (i = 1; i < d->nbufs; i++)
		if (!strcmp(d->bufs[i], "input"))
			x.input = i;
	ok = cells_find(&x.cells, d, e) && find_areas(&x);
	if (ok) {
		set_inputs(&x);
		find_grid(&x);
		ok = execute(&x) && check_results(&x);
	}
	cells_free(&x.cells);
	free(x.area);
	free(x.value);
	free(x.expected);
	free(x.owner);
	free(x.move);
	free(x.reading);
	return ok;
}
