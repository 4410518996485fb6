// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that reduce, with every type and operator of MPI, and operators of our
 * own. What must come out is computed by MPI_Reduce_local(), which asks nobody.
 */
#include "calls.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* i: integers, b: bits, l: truth, f: floats, c: complex, p: pairs, m: maps */
struct type {
	MPI_Datatype mpi;
	const char *kinds;
	void (*set)(void *p, int i, int v, int at);
};

#define SET(name, type)	\
static void set_##name(void *p, int i, int v, int at) { ((type *)p)[i] = v; }
#define SET_PAIR(name, type)	\
static void set_##name(void *p, int i, int v, int at) \
{ \
	struct { type value; int at; } *pair = p; \
	pair[i].value = v; \
	pair[i].at = at; \
}

SET(char, signed char)
SET(uchar, unsigned char)
SET(short, short)
SET(ushort, unsigned short)
SET(int, int)
SET(uint, unsigned int)
SET(long, long)
SET(ulong, unsigned long)
SET(bool, _Bool)
SET(float, float)
SET(double, double)
SET(ldouble, long double)
SET_PAIR(float_int, float)
SET_PAIR(double_int, double)
SET_PAIR(long_int, long)
SET_PAIR(int_int, int)
SET_PAIR(short_int, short)
SET_PAIR(ldouble_int, long double)

static void set_complex(void *p, int i, int v, int at)
{
	((float complex *)p)[i] = v - I * (v / 3);
}

static void set_dcomplex(void *p, int i, int v, int at)
{
	((double complex *)p)[i] = v + I * (v / 3);
}

static void set_map(void *p, int i, int v, int at)
{
	unsigned char *map = (unsigned char *)p + 2 * i;

	map[0] = 1 + v;
	map[1] = v * 3 + at;
}

static struct type types[] = {
	{ MPI_SIGNED_CHAR, "ibl", set_char }, { MPI_UNSIGNED_CHAR, "ibl", set_uchar },
	{ MPI_SHORT, "ibl", set_short }, { MPI_UNSIGNED_SHORT, "ibl", set_ushort },
	{ MPI_INT, "ibl", set_int }, { MPI_UNSIGNED, "ibl", set_uint },
	{ MPI_LONG, "ibl", set_long }, { MPI_UNSIGNED_LONG, "ibl", set_ulong },
	{ MPI_LONG_LONG, "ibl", set_long }, { MPI_UINT64_T, "ibl", set_ulong },
	{ MPI_INT32_T, "ibl", set_int }, { MPI_BYTE, "b", set_uchar },
	{ MPI_C_BOOL, "l", set_bool }, { MPI_FLOAT, "f", set_float },
	{ MPI_DOUBLE, "f", set_double }, { MPI_LONG_DOUBLE, "f", set_ldouble },
	{ MPI_C_FLOAT_COMPLEX, "c", set_complex }, { MPI_C_DOUBLE_COMPLEX, "c", set_dcomplex },
	{ MPI_FLOAT_INT, "p", set_float_int }, { MPI_DOUBLE_INT, "p", set_double_int },
	{ MPI_LONG_INT, "p", set_long_int }, { MPI_2INT, "p", set_int_int },
	{ MPI_SHORT_INT, "p", set_short_int }, { MPI_LONG_DOUBLE_INT, "p", set_ldouble_int },
	{ MPI_AINT, "i", set_long }, { MPI_DATATYPE_NULL, "m", set_map },
};

/* Kinds of types that an operator takes. */
static struct op {
	MPI_Op mpi;
	const char *kinds;
} ops[] = {
	{ MPI_SUM, "ifc" }, { MPI_PROD, "ifc" }, { MPI_MIN, "if" }, { MPI_MAX, "if" },
	{ MPI_LAND, "l" }, { MPI_LOR, "l" }, { MPI_LXOR, "l" }, { MPI_BAND, "b" },
	{ MPI_BOR, "b" }, { MPI_BXOR, "b" }, { MPI_MINLOC, "p" }, { MPI_MAXLOC, "p" },
	{ MPI_OP_NULL, "m" },
};

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static struct type *map_type = &types[COUNT(types) - 1];
static struct op *map_op = &ops[COUNT(ops) - 1];

/* Not commutative: (a, b) is the map of x to ax + b, modulo 251. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
	unsigned char (*first)[2] = in, (*then)[2] = inout;

	for (int i = 0; i < *n; i++) {
		then[i][1] = (then[i][0] * first[i][1] + then[i][1]) % 251;
		then[i][0] = then[i][0] * first[i][0] % 251;
	}
}

void reduction_init(void)
{
	MPI_Type_contiguous(2, MPI_UNSIGNED_CHAR, &map_type->mpi);
	MPI_Type_commit(&map_type->mpi);
	MPI_Op_create(compose, 0, &map_op->mpi);
}

void reduction_end(void)
{
	MPI_Type_free(&map_type->mpi);
	MPI_Op_free(&map_op->mpi);
}

/* Values are small: sums of floats are exact, in any order. */
static void set_vector(const struct call *c, const struct type *t, void *p, int rank, int count)
{
	uint32_t state = c->seed + 7 * rank;

	for (int i = 0; i < count; i++)
		t->set(p, i, draw(&state, c->op == MPI_PROD ? 3 : 20), rank);
}

static size_t bytes_of(MPI_Datatype type, int count)
{
	MPI_Aint lb, extent;

	MPI_Type_get_extent(type, &lb, &extent);
	return count * extent;
}

static int total(const struct call *c)
{
	int n = 0;

	for (int i = 0; i < c->size; i++)
		n += c->counts ? c->counts[i] : c->count;
	return c->kind == REDUCE_SCATTER || c->kind == REDUCE_SCATTER_BLOCK ? n : c->count;
}

/* Number of elements of this rank's result, and which they are of the whole. */
static int result(const struct call *c, int *first)
{
	*first = 0;
	switch (c->kind) {
	case REDUCE:
		return c->rank == c->root ? c->count : 0;
	case EXSCAN:
		return c->rank ? c->count : 0;
	case REDUCE_SCATTER_BLOCK:
		*first = c->rank * c->count;
		return c->count;
	case REDUCE_SCATTER:
		for (int i = 0; i < c->rank; i++)
			*first += c->counts[i];
		return c->counts[c->rank];
	default:
		return c->count;
	}
}

static int packed(const struct call *c, const void *p, int first, int n, char *to)
{
	int size, position = 0;

	MPI_Pack_size(n, c->type, MPI_COMM_SELF, &size);
	MPI_Pack((const char *)p + bytes_of(c->type, first), n, c->type, to, size, &position,
		 MPI_COMM_SELF);
	return position;
}

/* The reduction of all vectors, or those of the ranks up to this one. */
static void set_want(struct call *c, const struct type *t)
{
	int n = total(c), last = c->size - 1, first, own = result(c, &first);
	void *all = need(bytes_of(c->type, n)), *one = need(bytes_of(c->type, n));

	c->want = need(bytes_of(c->type, own));
	if (c->kind == SCAN)
		last = c->rank;
	if (c->kind == EXSCAN)
		last = c->rank - 1;
	if (last >= 0)
		set_vector(c, t, all, last, n);
	for (int r = last - 1; r >= 0; r--) {
		set_vector(c, t, one, r, n);
		MPI_Reduce_local(one, all, n, c->type, c->op);
	}
	if (own)
		packed(c, all, first, own, c->want);
	free(all);
	free(one);
}

static void draw_pair(struct call *c, const struct type **t, uint32_t *state)
{
	const struct op *o;

	do {
		*t = &types[draw(state, COUNT(types))];
		o = &ops[draw(state, COUNT(ops))];
	} while (!strpbrk((*t)->kinds, o->kinds));
	c->type = (*t)->mpi;
	c->op = o->mpi;
}

void reduction_make(struct call *c, uint32_t *state)
{
	const struct type *t;
	int n;

	draw_pair(c, &t, state);
	c->count = draw(state, draw(state, 8) ? 40 : 3000);
	if (c->kind == REDUCE_SCATTER) {
		c->counts = need(c->size * sizeof(int));
		for (int i = 0; i < c->size; i++)
			c->counts[i] = draw(state, 3) ? draw(state, 50) : 0;
	}
	n = total(c);
	c->in = need(bytes_of(c->type, n));
	c->out = need(bytes_of(c->type, n));
	c->result = c->out;
	c->result_bytes = bytes_of(c->type, n);
	set_vector(c, t, c->in, c->rank, n);
	if (c->in_place)
		memcpy(c->out, c->in, bytes_of(c->type, n));
	set_want(c, t);
}

#define ANY(Name, iname, ...)								\
	(how == BLOCKING ? MPI_##Name(__VA_ARGS__, c->comm) :				\
	 how == NON_BLOCKING ? MPI_##iname(__VA_ARGS__, c->comm, &c->request) :		\
			       MPI_##Name##_init(__VA_ARGS__, c->comm, MPI_INFO_NULL, &c->request))

void reduction_start(struct call *c, enum call_how how)
{
	bool in_place = c->in_place && (c->kind != REDUCE || c->rank == c->root);
	void *in = in_place ? MPI_IN_PLACE : c->in, *out = c->out;

	switch (c->kind) {
	case ALLREDUCE:
		ANY(Allreduce, Iallreduce, in, out, c->count, c->type, c->op);
		break;
	case REDUCE:
		out = c->rank == c->root ? out : NULL;
		ANY(Reduce, Ireduce, in, out, c->count, c->type, c->op, c->root);
		break;
	case SCAN:
		ANY(Scan, Iscan, in, out, c->count, c->type, c->op);
		break;
	case EXSCAN:
		ANY(Exscan, Iexscan, in, out, c->count, c->type, c->op);
		break;
	case REDUCE_SCATTER:
		ANY(Reduce_scatter, Ireduce_scatter, in, out, c->counts, c->type, c->op);
		break;
	default:
		ANY(Reduce_scatter_block, Ireduce_scatter_block, in, out, c->count, c->type,
		     c->op);
	}
}

bool reduction_check(struct call *c)
{
	int first, n = result(c, &first), size;
	char *got = need(bytes_of(c->type, n)), name[MPI_MAX_OBJECT_NAME];
	bool right = true;

	if (n) {
		size = packed(c, c->out, 0, n, got);
		right = !memcmp(got, c->want, size);
	}
	if (!right) {
		MPI_Type_get_name(c->type, name, &first);
		printf("rank %d of %d: %s%s of %d %s by operator %d, seed %u, is wrong\n", c->rank,
		       c->size, kind_name(c->kind), c->in_place ? " in place" : "", c->count, name,
		       MPI_Op_c2f(c->op), c->seed);
	}
	free(got);
	free(c->in);
	free(c->out);
	free(c->counts);
	return right;
}
