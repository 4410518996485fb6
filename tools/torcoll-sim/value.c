// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Inputs, and the check of results: against a sequential reduction, bit for bit
 * where the order does not matter, and otherwise against the first result seen,
 * whose bits every rank and every other call with the same inputs must have.
 */
#include <stdlib.h>

#include "sim.h"

#define QUARTER		(1ULL << 62)
#define EXACT_BF16	256		/* integers up to here are exact in bf16 */

struct sim_result {
	u8 *expected;
	bool *known;			/* by element: bit for bit, where the order matters */
};

/*
 * An input is a function of (seed, group, input, rank, index), independent of
 * time.
 */
static u64 input_bits(const struct sim_group *g, u64 input, u32 rank, u64 i)
{
	u64 x = (sim.scenario.seed * 0x9e3779b97f4a7c15ULL + g->number * 64 + input) *
			0xbf58476d1ce4e5b9ULL +
		(rank + 1) * 0x94d049bb133111ebULL + i * 0xd6e8feb86659fd93ULL;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL;
	return x ^ x >> 32;
}

/*
 * Return whether results depend on the order: only for float sums of such
 * inputs.
 */
static bool order_matters(const struct sim_call *call)
{
	return call->rounds;
}

/*
 * Return a number whose sums and products are exact in any order, both zeros
 * included; or any number around 1.
 */
static double input_float(const struct sim_call *call, u32 ranks, u64 bits)
{
	s64 most = call->type == TORCOLL_F16 || call->type == TORCOLL_BF16 ?
		   max_t(s64, EXACT_BF16 / ranks, 1) : 1000;
	double v = (double)((s64)(bits % (2 * most + 1)) - most);

	if (call->redop == TORCOLL_PROD)
		return bits & 1 ? 1 : -1;
	if (order_matters(call))
		return (double)(s64)bits / (double)QUARTER;
	return v == 0 && bits & QUARTER ? -0.0 : v;
}

/* Convert an integer of at most 10 bits to half precision. */
static u16 half(float f)
{
	u32 bits, exponent;

	memcpy(&bits, &f, sizeof(bits));
	exponent = bits >> 23 & 0xff;
	if (!exponent)
		return bits >> 16;
	return (bits >> 16 & 0x8000) | (exponent - 127 + 15) << 10 | (bits >> 13 & 0x3ff);
}

static void put_value(const struct sim_call *call, u32 ranks, u64 bits, u8 *to)
{
	double f64 = input_float(call, ranks, bits);
	float f32 = f64;
	u16 f16 = half(f32);

	switch (call->type) {
	case TORCOLL_F64:
		memcpy(to, &f64, sizeof(f64));
		break;
	case TORCOLL_F32:
		memcpy(to, &f32, sizeof(f32));
		break;
	case TORCOLL_F16:
		memcpy(to, &f16, sizeof(f16));
		break;
	case TORCOLL_BF16:
		/* little endian: the upper half */
		memcpy(to, (u8 *)&f32 + 2, 2);
		break;
	default:
		memcpy(to, &bits, tor_type_size(call->type));
	}
}

static void fill(const struct sim_group *g, const struct sim_call *call, u32 rank, u8 *to,
		 u64 from, u64 n)
{
	u32 elem = tor_type_size(call->type);
	u64 i;

	for (i = from; i < from + n; i++)
		put_value(call, g->spec->ranks, input_bits(g, call->input, rank, i), to + i * elem);
}

/* Find the block of @rank: a part of the vector. */
static void block(const struct sim_group *g, const struct sim_call *call, u32 rank, u64 *off, u64 *n)
{
	u64 *counts;
	u32 i;

	*off = tor_block_start(call->count, g->spec->ranks, rank);
	*n = tor_block_len(call->count, g->spec->ranks, rank);
	if (!call->uneven)
		return;
	counts = malloc(g->spec->ranks * sizeof(*counts));
	sim_call_counts(call, g->spec->ranks, counts);
	for (i = 0, *off = 0; i < rank; i++)
		*off += counts[i];
	*n = counts[rank];
	free(counts);
}

/* Find the part of the vector that @rank contributes. */
static void own_part(const struct sim_group *g, const struct sim_call *call, u32 rank, u64 *off,
		     u64 *n)
{
	*off = 0;
	*n = call->count;
	if (call->collective == TORCOLL_ALLGATHER || call->collective == TORCOLL_GATHER)
		block(g, call, rank, off, n);
	else if ((call->collective == TORCOLL_BROADCAST || call->collective == TORCOLL_SCATTER ||
		  call->collective == TORCOLL_SEND) && rank != call->root)
		*n = 0;
}

/* Find the part that @rank receives. */
static void result_part(const struct sim_group *g, const struct sim_call *call, u32 rank, u64 *off,
			u64 *n)
{
	*off = 0;
	*n = call->count;
	if (call->collective == TORCOLL_REDUCE_SCATTER || call->collective == TORCOLL_SCATTER)
		block(g, call, rank, off, n);
	else if ((call->collective == TORCOLL_REDUCE || call->collective == TORCOLL_GATHER) &&
		 rank != call->root)
		*n = 0;
	else if (call->collective == TORCOLL_SEND && rank != call->peer)
		*n = 0;
}

void sim_value_fill(const struct sim_group *g, const struct sim_call *call, u32 rank, u8 *to)
{
	u64 off, n;

	own_part(g, call, rank, &off, &n);
	fill(g, call, rank, to, off, n);
}

static bool scans(const struct sim_call *call)
{
	return call->collective == TORCOLL_SCAN || call->collective == TORCOLL_EXSCAN;
}

static bool exchanges(const struct sim_call *call)
{
	return call->collective == TORCOLL_ALLTOALL || call->collective == TORCOLL_HALO;
}

static bool reduces(const struct sim_call *call)
{
	return scans(call) || call->collective == TORCOLL_ALLREDUCE ||
	       call->collective == TORCOLL_REDUCE || call->collective == TORCOLL_REDUCE_SCATTER;
}

bool sim_value_knows(u32 collective)
{
	static const u32 known[] = {
		TORCOLL_ALLREDUCE, TORCOLL_REDUCE_SCATTER, TORCOLL_ALLGATHER, TORCOLL_BROADCAST,
		TORCOLL_REDUCE, TORCOLL_GATHER, TORCOLL_SCATTER, TORCOLL_SCAN, TORCOLL_EXSCAN,
		TORCOLL_ALLTOALL, TORCOLL_HALO,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i] == collective)
			return true;
	return false;
}

/*
 * Reduce one rank after the other, the first @ranks of them; the kernels have
 * tests of their own.
 */
static u8 *sequential(const struct sim_group *g, const struct sim_call *call, u32 ranks)
{
	u64 bytes = call->count * tor_type_size(call->type);
	tor_reduce_fn fn = tor_reduce_kernel(call->type, call->redop);
	u8 *result = malloc(bytes + 1);
	u8 *input = malloc(bytes + 1);
	u32 rank;

	for (rank = 0; rank < ranks; rank++) {
		if (!rank || !reduces(call)) {
			sim_value_fill(g, call, rank, result);
		} else {
			sim_value_fill(g, call, rank, input);
			fn(result, result, input, call->count);
		}
	}
	free(input);
	return result;
}

static double value(const u8 *p, u32 type, u64 i)
{
	double f64;
	float f32;

	if (type == TORCOLL_F64) {
		memcpy(&f64, p + i * sizeof(f64), sizeof(f64));
		return f64;
	}
	memcpy(&f32, p + i * sizeof(f32), sizeof(f32));
	return f32;
}

/* Rounding errors are bounded in every order: every summand is at most 2. */
static bool close_enough(const struct sim_group *g, const struct sim_call *call, const u8 *a,
			 const u8 *b, u64 i)
{
	double n = g->spec->ranks;
	double bound = 2.0 * n * n * (call->type == TORCOLL_F64 ? 0x1p-52 : 0x1p-23);
	double error = value(a, call->type, i) - value(b, call->type, i);

	return error <= bound && error >= -bound;
}

static bool is_right(const struct sim_group *g, const struct sim_call *call,
		     struct sim_result *result, const u8 *got, u64 i)
{
	u32 elem = tor_type_size(call->type);

	if (order_matters(call) && !result->known[i]) {
		if (!close_enough(g, call, got, result->expected, i))
			return false;
		/* relaxed: bits may differ by rank */
		if (call->bits == TORCOLL_BITS_RELAXED)
			return true;
		memcpy(result->expected + i * elem, got + i * elem, elem);
		result->known[i] = true;
	}
	return !memcmp(got + i * elem, result->expected + i * elem, elem);
}

static void say_wrong(const struct sim_group *g, const struct sim_call *call, u32 seq, u32 rank,
		      u64 i)
{
	sim_fail("comm %u, call %u, rank %u: element %llu of %llu is wrong", g->number, seq, rank,
		 (unsigned long long)i, (unsigned long long)call->count);
}

/* Each rank has a result of its own, added up in the order of ranks. */
static void check_scan(const struct sim_group *g, const struct sim_op *op, u32 rank)
{
	const struct sim_call *call = &g->spec->call[op->call - 1];
	u32 elem = tor_type_size(call->type), ranks = rank + (call->collective == TORCOLL_SCAN);
	u8 *want = sequential(g, call, ranks);
	u64 i = 0;

	while (ranks && i < call->count && !memcmp(op->data->data + i * elem, want + i * elem, elem))
		i++;
	if (ranks && i < call->count)
		say_wrong(g, call, op->call, rank, i);
	free(want);
}

/* Find where element @i of what @rank receives is in the input of another, which it returns. */
static u32 source(const struct tor_plan *plan, u32 rank, u64 *i)
{
	u32 ranks = plan->call.ranks, blocks = 2 * plan->grid.ndim;
	u64 n = plan->call.count / (plan->call.collective == TORCOLL_HALO ? blocks : ranks);
	u32 from = *i / n;

	if (plan->call.collective == TORCOLL_ALLTOALL) {
		*i = rank * n + *i % n;
		return from;
	}
	/* what goes up comes from below */
	*i = (from ^ 1) * n + *i % n;
	return tor_torus_shift(&plan->grid, rank, from / 2, from % 2 ? 1 : -1);
}

/* Each rank gets blocks of others. */
static void check_exchange(const struct sim_group *g, const struct sim_op *op, u32 rank)
{
	const struct sim_call *call = &g->spec->call[op->call - 1];
	u32 elem = tor_type_size(call->type);
	u8 want[16];
	u64 i, at;

	for (i = 0; i < call->count; i++) {
		u32 from;

		at = i;
		from = source(&op->core.plan, rank, &at);
		put_value(call, g->spec->ranks, input_bits(g, call->input, from, at), want);
		if (!memcmp(op->data->data + i * elem, want, elem))
			continue;
		say_wrong(g, call, op->call, rank, i);
		return;
	}
}

void sim_value_check(struct sim_group *g, const struct sim_op *op, u32 rank)
{
	const struct sim_call *call = &g->spec->call[op->call - 1];
	struct sim_result *result;
	u64 off, n, i;

	/* the others' call says nothing about this result */
	if (op->rank->deeds & SIM_DID_MISMATCH)
		return;
	if (scans(call)) {
		check_scan(g, op, rank);
		return;
	}
	if (exchanges(call)) {
		check_exchange(g, op, rank);
		return;
	}
	if (!g->result)
		g->result = calloc(SIM_CALLS_MAX + 1, sizeof(*g->result));
	result = &g->result[call->input];
	if (!result->expected) {
		result->expected = sequential(g, call, g->spec->ranks);
		result->known = calloc(call->count + 1, sizeof(bool));
	}
	result_part(g, call, rank, &off, &n);
	for (i = off; i < off + n; i++) {
		if (is_right(g, call, result, op->data->data, i))
			continue;
		say_wrong(g, call, op->call, rank, i);
		return;
	}
}

void sim_values_free(struct sim_group *g)
{
	u32 i;

	for (i = 0; g->result && i <= SIM_CALLS_MAX; i++) {
		free(g->result[i].expected);
		free(g->result[i].known);
	}
	free(g->result);
	g->result = NULL;
}
