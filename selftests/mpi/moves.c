// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that move data. Blocks are of so many units of six integers, which each
 * rank and side describes by a type of its own; blocks with displacements are in
 * any order and have gaps. The whole of a buffer is compared, gaps too.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT	6	/* integers */
#define TYPES	4

static MPI_Datatype types[TYPES];
/*
 * Open MPI's own allgatherv chooses its algorithm by the size of the rank's own
 * type, and hangs where those differ: without torcoll all use one.
 */
static bool same_types;
static const int per_unit[TYPES] = { 6, 2, 2, 1 };

void calls_init(void)
{
	static const int lengths[] = { 1, 3, 2 }, places[] = { 7, 0, 4 };
	MPI_Datatype indexed;

	same_types = getenv("SAME_TYPES");
	types[0] = MPI_INT;
	MPI_Type_contiguous(3, MPI_INT, &types[1]);
	MPI_Type_vector(3, 1, 2, MPI_INT, &types[2]);
	MPI_Type_indexed(3, lengths, places, MPI_INT, &indexed);
	MPI_Type_create_resized(indexed, -8, 48, &types[3]);
	MPI_Type_free(&indexed);
	for (int i = 1; i < TYPES; i++)
		MPI_Type_commit(&types[i]);
	reduction_init();
}

void calls_end(void)
{
	for (int i = 1; i < TYPES; i++)
		MPI_Type_free(&types[i]);
	reduction_end();
}

/* Blocks may begin this much before a place, and end as much after it. */
#define MARGIN	64

static MPI_Aint extent_of(const struct side *s, int i)
{
	MPI_Aint lb, extent;

	MPI_Type_get_extent(s->types ? s->types[i] : s->type, &lb, &extent);
	return extent;
}

/* Place the blocks in a random order; each with a gap of up to two elements. */
static void side_scatter(struct side *s, uint32_t *state)
{
	int *order = need(s->n * sizeof(int)), at = 0;

	for (int i = 0; i < s->n; i++) {
		int j = draw(state, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (int k = 0; k < s->n; k++) {
		int i = order[k];

		at += draw(state, 3) * (s->types ? 48 : 1);
		s->displs[i] = at;
		at += s->counts[i] * (s->types ? extent_of(s, i) : 1);
	}
	s->bytes = s->types ? at : at * extent_of(s, 0);
	free(order);
}

/* @state: the rank's own. @scattered: blocks at any places; @many: a type for each. */
static void side_make(struct side *s, int n, const int *units, bool scattered, bool many,
		      uint32_t *state)
{
	int t = same_types ? 2 : draw(state, TYPES);

	s->n = n;
	s->type = types[t];
	s->counts = need(n * sizeof(int));
	s->displs = need(n * sizeof(int));
	s->types = many ? need(n * sizeof(MPI_Datatype)) : NULL;
	for (int i = 0; i < n; i++) {
		if (many) {
			t = same_types ? t : draw(state, TYPES);
			s->types[i] = types[t];
		}
		s->counts[i] = units[i] * per_unit[t];
		s->displs[i] = i * s->counts[i];
	}
	s->bytes = n * s->counts[0] * extent_of(s, 0);
	if (scattered)
		side_scatter(s, state);
	s->bytes += 2 * MARGIN;
	s->mem = need(s->bytes);
}

static char *block_at(const struct side *s, char *mem, int i)
{
	return mem + MARGIN + (MPI_Aint)s->displs[i] * (s->types ? 1 : extent_of(s, i));
}

/* What rank @from says to rank @to, in block @i of a buffer. */
static void side_put(const struct call *c, const struct side *s, char *mem, int i, int from, int to)
{
	MPI_Datatype type = s->types ? s->types[i] : s->type;
	int size, position = 0, *data;

	MPI_Pack_size(s->counts[i], type, MPI_COMM_SELF, &size);
	data = need(size);
	for (int k = 0; k < size / (int)sizeof(int); k++)
		data[k] = c->seed + 1000003 * from + 7919 * to + k;
	MPI_Unpack(data, size, &position, block_at(s, mem, i), s->counts[i], type, MPI_COMM_SELF);
	free(data);
}

/* Units of the block from one rank to another: the same for all, or not. */
static int units_of(const struct call *c, uint32_t most, bool even, int from, int to)
{
	uint32_t state = c->seed + (even ? 0 : 97 * from + 89 * to + 1);

	return draw(&state, most);
}

static bool even(enum call_kind k)
{
	return k == BCAST || k == ALLGATHER || k == GATHER || k == SCATTER || k == ALLTOALL;
}

/* Who gets something, and how many blocks each rank sends and gets. */
static bool at_root(const struct call *c)
{
	return c->rank == c->root;
}

static int blocks_sent(const struct call *c)
{
	switch (c->kind) {
	case SCATTER:
	case SCATTERV:
		return at_root(c) ? c->size : 0;
	case ALLTOALL:
	case ALLTOALLV:
	case ALLTOALLW:
		return c->size;
	case BCAST:
		return 0;
	default:
		return 1;
	}
}

static int blocks_got(const struct call *c)
{
	switch (c->kind) {
	case GATHER:
	case GATHERV:
		return at_root(c) ? c->size : 0;
	case BCAST:
	case SCATTER:
	case SCATTERV:
		return 1;
	default:
		return c->size;
	}
}

/* The ends of a block, for the lengths and the data. */
static void ends(const struct call *c, bool sent, int i, int *from, int *to)
{
	bool all = c->kind >= ALLTOALL, scatter = c->kind == SCATTER || c->kind == SCATTERV;

	if (c->kind == BCAST) {
		*from = c->root;
		*to = 0;
	} else if (sent) {
		*from = c->rank;
		*to = all || scatter ? i : 0;
	} else {
		*from = scatter ? c->root : i;
		*to = all || scatter ? c->rank : 0;
	}
}

static void make_side(struct call *c, struct side *s, bool sent, int n, uint32_t most,
		      uint32_t *state)
{
	bool v = c->kind == ALLGATHERV || c->kind == GATHERV || c->kind == SCATTERV ||
		 c->kind == ALLTOALLV || c->kind == ALLTOALLW;
	int *units = need((n + 1) * sizeof(int)), from, to;

	for (int i = 0; i < n; i++) {
		ends(c, sent, i, &from, &to);
		/* in place, what is sent to a rank is as long as what comes from it */
		if (c->in_place && c->kind >= ALLTOALL && from > to)
			units[i] = units_of(c, most, even(c->kind), to, from);
		else
			units[i] = units_of(c, most, even(c->kind), from, to);
	}
	if (n)
		side_make(s, n, units, v && n > 1, c->kind == ALLTOALLW, state);
	for (int i = 0; sent && i < n; i++) {
		ends(c, true, i, &from, &to);
		side_put(c, s, s->mem, i, from, to);
	}
	free(units);
}

/* Whether MPI_IN_PLACE stands for what this rank sends, or for what it gets. */
static bool send_in_place(const struct call *c)
{
	bool gather = c->kind == GATHER || c->kind == GATHERV;

	return c->in_place && c->kind != SCATTER && c->kind != SCATTERV && (!gather || at_root(c));
}

static bool recv_in_place(const struct call *c)
{
	return c->in_place && (c->kind == SCATTER || c->kind == SCATTERV) && at_root(c);
}

void move_make(struct call *c, uint32_t *state)
{
	uint32_t most = draw(state, 8) ? 20 : 700, own = *state + 31 * c->rank;
	int from, to;

	if (!send_in_place(c))
		make_side(c, &c->send, true, blocks_sent(c), most, &own);
	if (!recv_in_place(c))
		make_side(c, &c->recv, false, blocks_got(c), most, &own);
	for (int i = 0; i < c->recv.n; i++) {
		bool mine = c->kind >= ALLTOALL || i == c->rank;

		ends(c, false, i, &from, &to);
		if (c->kind == BCAST && at_root(c))
			side_put(c, &c->recv, c->recv.mem, i, from, to);
		else if (send_in_place(c) && mine && c->kind >= ALLTOALL)
			side_put(c, &c->recv, c->recv.mem, i, c->rank, i);
		else if (send_in_place(c) && mine)
			side_put(c, &c->recv, c->recv.mem, i, from, to);
	}
	if (!c->recv.n)
		return;
	c->result = c->recv.mem;
	c->result_bytes = c->recv.bytes;
	c->want = need(c->recv.bytes);
	memcpy(c->want, c->recv.mem, c->recv.bytes);
	for (int i = 0; i < c->recv.n; i++) {
		ends(c, false, i, &from, &to);
		side_put(c, &c->recv, c->want, i, from, to);
	}
}

#define ANY(Name, iname, ...)								\
	(how == BLOCKING ? MPI_##Name(__VA_ARGS__, c->comm) :				\
	 how == NON_BLOCKING ? MPI_##iname(__VA_ARGS__, c->comm, &c->request) :		\
			       MPI_##Name##_init(__VA_ARGS__, c->comm, MPI_INFO_NULL, &c->request))

/* Counts and so on that are not significant are NULL or 0. */
void move_start(struct call *c, enum call_how how)
{
	struct side *s = &c->send, *r = &c->recv;
	void *sbuf = send_in_place(c) ? MPI_IN_PLACE : s->mem ? s->mem + MARGIN : NULL;
	void *rbuf = recv_in_place(c) ? MPI_IN_PLACE : r->mem ? r->mem + MARGIN : NULL;
	int sn = s->n ? s->counts[0] : 0, rn = r->n ? r->counts[0] : 0;
	MPI_Datatype st = s->n ? s->type : MPI_INT, rt = r->n ? r->type : MPI_INT;

	switch (c->kind) {
	case BCAST:
		ANY(Bcast, Ibcast, rbuf, rn, rt, c->root);
		break;
	case ALLGATHER:
		ANY(Allgather, Iallgather, sbuf, sn, st, rbuf, rn, rt);
		break;
	case ALLGATHERV:
		ANY(Allgatherv, Iallgatherv, sbuf, sn, st, rbuf, r->counts, r->displs, rt);
		break;
	case GATHER:
		ANY(Gather, Igather, sbuf, sn, st, rbuf, rn, rt, c->root);
		break;
	case GATHERV:
		ANY(Gatherv, Igatherv, sbuf, sn, st, rbuf, r->counts, r->displs, rt, c->root);
		break;
	case SCATTER:
		ANY(Scatter, Iscatter, sbuf, sn, st, rbuf, rn, rt, c->root);
		break;
	case SCATTERV:
		ANY(Scatterv, Iscatterv, sbuf, s->counts, s->displs, st, rbuf, rn, rt, c->root);
		break;
	case ALLTOALL:
		ANY(Alltoall, Ialltoall, sbuf, sn, st, rbuf, rn, rt);
		break;
	case ALLTOALLV:
		ANY(Alltoallv, Ialltoallv, sbuf, s->counts, s->displs, st, rbuf, r->counts, r->displs, rt);
		break;
	default:
		ANY(Alltoallw, Ialltoallw, sbuf, s->counts, s->displs, s->types, rbuf, r->counts, r->displs,
		     r->types);
	}
}

static void side_free(struct side *s)
{
	free(s->counts);
	free(s->displs);
	free(s->types);
	free(s->mem);
}

bool move_check(struct call *c)
{
	size_t at = 0;

	while (at < c->recv.bytes && c->recv.mem[at] == c->want[at])
		at++;
	if (at < c->recv.bytes)
		printf("rank %d of %d: %s%s, seed %u: byte %zu of %zu is wrong\n", c->rank, c->size,
		       kind_name(c->kind), c->in_place ? " in place" : "", c->seed, at,
		       c->recv.bytes);
	at = c->recv.bytes - at;
	side_free(&c->send);
	side_free(&c->recv);
	return !at;
}
