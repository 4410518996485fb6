// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What plans promise about float bits, on 2,000 random vectors and some that are made for trouble: plans that agree give
 * the same bits on every rank, sequential ones those of the sum in the order of ranks, wherever an element lies and
 * however long the vector is. What is said not to agree does not: else it would be refused for nothing.
 */
#include "host_env.h"

#include <math.h>
#include <stdlib.h>

#include "../../tools/torcoll-plan/dump.h"

#include "core/plan/family.h"

#define ELEMENTS	2016
#define CRAFTED		16		/* the first ones, and then one of NaNs */

/* A reduction in numbers. */
struct exec {
	struct tor_call call;
	struct dump d;
	float *value;			/* [buffer][rank][element] */
	float *input;			/* [rank][element] */
	struct tor_plan_shape shape;
};

static float *at(struct exec *x, u32 buf, u32 rank, u64 off)
{
	return &x->value[((u64)buf * x->d.ranks + rank) * x->d.count + off];
}

static float random_float(u64 *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return ldexpf((s32)(*seed >> 40), -12 - (int)(*seed >> 33 & 7));
}

/* Sums that show every change of order: what cancels, what is rounded away, what is hardly there, and zeros. */
static float crafted_float(u32 rank, u32 i)
{
	static const float pattern[CRAFTED][4] = {
		{ 0x1p24f, 1, -0x1p24f, 1 }, { 1, 0x1p24f, 1, -0x1p24f }, { 0x1p100f, 1, -0x1p100f, -1 },
		{ 1, 0x1p-24f, 0x1p-24f, 0x1p-24f }, { 0x1p-24f, 0x1p-24f, 1, 0x1.8p-24f },
		{ 0x1p-149f, 0x1p-126f, -0x1p-149f, -0x1p-126f }, { 0x1p-149f, 1, -1, 0x1p-149f },
		{ -0.0f, -0.0f, -0.0f, -0.0f }, { -0.0f, 0.0f, -0.0f, -0.0f },
		{ 0x1.fffffep127f, 0x1p103f, -0x1.fffffep127f, 0x1p103f },
		{ 0x1.fffffep127f, -0x1.fffffep127f, 0x1.fffffep127f, -0x1.fffffep127f },
		{ INFINITY, 1, -1, 0x1p100f }, { 1, -INFINITY, 1, 1 }, { 1, 3, 5, 0.1f },
		{ 0.1f, 0.2f, 0.3f, 0.4f }, { 0x1.000002p0f, -1, 0x1p-23f, -0x1.8p-23f },
	};

	return pattern[i][(rank + rank / 4) % 4];
}

/* A NaN of each rank's own; some have a number there. */
static float nan_of(u32 rank)
{
	u32 bits = 0x7fc00000 | 1U << rank % 22;
	float nan;

	if (rank % 5 == 3)
		return rank;
	memcpy(&nan, &bits, sizeof(nan));
	return nan;
}

/* As tor_reduce_kernel() adds, or tor_reduce_commuting(). */
static float add(const struct exec *x, float a, float b)
{
	u32 abits, bbits;

	if (a == a || b == b)
		return a != a ? a : b != b ? b : a + b;
	memcpy(&abits, &a, sizeof(a));
	memcpy(&bbits, &b, sizeof(b));
	abits |= x->shape.alternates ? bbits : 0;
	memcpy(&a, &abits, sizeof(a));
	return a;
}

static void set_inputs(struct exec *x, u64 seed)
{
	u64 i, n = x->d.ranks * x->d.count;
	u32 r, k;

	for (i = 0; i < n; i++)
		x->input[i] = random_float(&seed);
	for (r = 0; r < x->d.ranks; r++)
		for (k = 0; k < CRAFTED && k < x->d.count; k++)
			x->input[r * x->d.count + k] = crafted_float(r, k);
	for (r = 0; x->d.count > CRAFTED && r < x->d.ranks; r++)
		x->input[r * x->d.count + CRAFTED] = nan_of(r);
	memcpy(x->value, x->input, n * sizeof(float));
}

/* What one round reads, then copies, then reductions, in order. */
static void run_round(struct exec *x, const struct dump_piece *p, size_t pieces, float *read)
{
	float *from, *to;
	size_t i;
	u32 op;
	u64 k;

	for (from = read, i = 0; i < pieces; from += p[i++].n)
		memcpy(from, at(x, p[i].sbuf, p[i].src, p[i].soff), p[i].n * sizeof(float));
	for (op = TOR_PIECE_COPY; op <= TOR_PIECE_REDUCE; op++)
		for (from = read, i = 0; i < pieces; from += p[i++].n) {
			if (p[i].op != op)
				continue;
			to = at(x, p[i].dbuf, p[i].dst, p[i].doff);
			for (k = 0; k < p[i].n; k++)
				to[k] = op == TOR_PIECE_COPY ? from[k] : add(x, to[k], from[k]);
		}
}

static void run(struct exec *x)
{
	const struct dump *d = &x->d;
	size_t i, end, n;
	float *read;

	for (i = 0; i < d->pieces; i = end) {
		for (n = 0, end = i; end < d->pieces && d->piece[end].t == d->piece[i].t; end++)
			n += d->piece[end].n;
		read = dump_alloc(n, sizeof(float));
		run_round(x, &d->piece[i], end - i, read);
		free(read);
	}
}

static u32 count_differing(struct exec *x)
{
	u32 r, differing = 0;
	u64 k;

	for (k = 0; k < x->d.count; k++) {
		for (r = 1; r < x->d.ranks; r++)
			if (memcmp(at(x, 0, r, k), at(x, 0, 0, k), sizeof(float)))
				break;
		differing += r < x->d.ranks;
	}
	return differing;
}

/* How many ranks, from 0 on, contribute to what @rank has of element @k: 0 if that is undefined. */
static u32 contributors(const struct exec *x, u32 rank, u64 k)
{
	const struct tor_call *r = &x->call;
	struct tor_span own = tor_plan_block(r->count, r->counts, r->starts, r->ranks, rank);

	switch (r->collective) {
	case TORCOLL_SCAN:
		return rank + 1;
	case TORCOLL_EXSCAN:
		return rank;
	case TORCOLL_REDUCE:
		return rank == r->root ? r->ranks : 0;
	case TORCOLL_REDUCE_SCATTER:
		return k >= own.off && k < own.off + own.n ? r->ranks : 0;
	default:
		return r->ranks;
	}
}

/* The same bits; of several NaNs nobody promises which it is. */
static bool same(float a, float b)
{
	return (a != a && b != b) || !memcmp(&a, &b, sizeof(a));
}

static u32 count_not_sequential(struct exec *x)
{
	u32 r, rank, differing = 0;
	float sum;
	u64 k;

	for (k = 0; k < x->d.count; k++) {
		sum = x->input[k];
		for (r = 1; r <= x->d.ranks; r++) {
			for (rank = 0; rank < x->d.ranks; rank++)
				if (contributors(x, rank, k) == r)
					differing += !same(sum, *at(x, 0, rank, k));
			if (r < x->d.ranks)
				sum = add(x, sum, x->input[r * x->d.count + k]);
		}
	}
	return differing;
}

/* Whether the plan is served. */
static bool exec_init(struct exec *x, const struct tor_call *call)
{
	struct tor_plan p;

	memset(x, 0, sizeof(*x));
	if (tor_plan_init(&p, call, 0, NULL))
		return false;
	x->call = *call;
	x->shape = p.shape;
	assert_int_equal(dump_make(&x->d, call, NULL), 0);
	x->value = dump_alloc((size_t)x->d.nbufs * call->ranks * call->count, sizeof(float));
	x->input = dump_alloc(call->ranks * call->count, sizeof(float));
	return true;
}

static void exec_free(struct exec *x)
{
	dump_free(&x->d);
	free(x->value);
	free(x->input);
}

/* The bits of @call; returns how many elements differ, -1 if the plan is refused. */
static int bits_of(const struct tor_call *call)
{
	struct exec x;
	int differing;

	if (!exec_init(&x, call))
		return -1;
	set_inputs(&x, 1 + call->algorithm);
	run(&x);
	differing = call->collective == TORCOLL_ALLREDUCE ? count_differing(&x) : 0;
	if (x.shape.agrees && differing)
		fail_msg("%s on %u ranks: %d of %llu elements differ", tor_algorithm_name(call->algorithm),
			 call->ranks, differing, (unsigned long long)call->count);
	if (x.shape.sequential && count_not_sequential(&x))
		fail_msg("%s on %u ranks: not sequential", tor_algorithm_name(call->algorithm),
			 call->ranks);
	if (!x.shape.agrees && !differing && call->collective == TORCOLL_ALLREDUCE)
		fail_msg("%s on %u ranks: all agree, though it is not promised",
			 tor_algorithm_name(call->algorithm), call->ranks);
	exec_free(&x);
	return differing;
}

static const u32 sides[][4] = {
	{ 2 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 }, { 9 }, { 12 }, { 16 }, { 27 }, { 2, 2 }, { 3, 3 },
	{ 4, 4 }, { 8, 8 }, { 9, 9 }, { 5, 5 }, { 4, 3 }, { 8, 2 }, { 3, 5 }, { 2, 2, 2 }, { 3, 3, 3 },
	{ 4, 2, 2 }, { 5, 3, 2 },
};

static struct tor_call request(struct tor_torus *t, const u32 *side, u32 algorithm)
{
	u32 ndim = 0;

	while (ndim < 4 && side[ndim])
		ndim++;
	assert_int_equal(tor_torus_init(t, ndim, side, 2), 0);
	return (struct tor_call){
		.torus = t, .ranks = t->nodes, .algorithm = algorithm,
		.collective = TORCOLL_ALLREDUCE, .count = ELEMENTS,
	};
}

static void bits__every_family(void **state)
{
	struct tor_call call;
	struct tor_torus t;
	u32 i, a, served = 0;

	for (i = 0; i < ARRAY_SIZE(sides); i++)
		for (a = TORCOLL_SWING_BW; a < TORCOLL_ALGO_COUNT; a++) {
			call = request(&t, sides[i], a);
			served += bits_of(&call) >= 0;
		}
	assert_true(served > 12 * ARRAY_SIZE(sides));
}

static void bits__general(void **state)
{
	struct tor_call call;
	struct tor_torus t;
	u32 n, r, group;

	for (n = 2; n <= 20; n++)
		for (r = 0; r == 0 || 1u << (r - 1) < n; r++)
			for (group = 1; group <= 2; group++) {
				call = request(&t, (u32[]){ n, 0 }, TORCOLL_GENERAL);
				call.param[TORCOLL_PARAM_R] = r + 1;
				call.param[TORCOLL_PARAM_GROUP] = group;
				bits_of(&call);
			}
}

/* Whatever gives the sequential sum, of vectors that are cut in any way. */
static void sequential(u32 algorithm, u32 collective)
{
	static const u64 counts[] = { 1, 2, 3, 7, 13, 96, 509, 2017 };
	u64 uneven[128];
	struct tor_call call;
	struct tor_torus t;
	struct tor_plan p;
	u32 i, c, k;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		for (c = 0; c < ARRAY_SIZE(counts); c++) {
			call = request(&t, sides[i], algorithm);
			call.collective = collective;
			call.count = counts[c];
			call.root = collective == TORCOLL_REDUCE ? call.ranks / 2 : 0;
			assert_int_equal(tor_plan_init(&p, &call, 0, NULL), 0);
			assert_true(p.shape.sequential);
			assert_int_equal(bits_of(&call), 0);
		}
		if (collective != TORCOLL_REDUCE_SCATTER)
			continue;
		for (call.count = 0, k = 0; k < call.ranks; k++)
			call.count += uneven[k] = k * 7 % 5 * 11;
		call.counts = uneven;
		assert_int_equal(bits_of(&call), 0);
	}
}

static void bits__sequential(void **state)
{
	sequential(TORCOLL_FLOOD, TORCOLL_ALLREDUCE);
	sequential(TORCOLL_FLOOD, TORCOLL_REDUCE);
	sequential(TORCOLL_DIRECT, TORCOLL_ALLREDUCE);
	sequential(TORCOLL_DIRECT, TORCOLL_REDUCE_SCATTER);
	sequential(TORCOLL_DIRECT, TORCOLL_REDUCE);
	sequential(TORCOLL_RING, TORCOLL_SCAN);
	sequential(TORCOLL_RING, TORCOLL_EXSCAN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits__every_family),
		cmocka_unit_test(bits__general),
		cmocka_unit_test(bits__sequential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
