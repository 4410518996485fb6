// SPDX-License-Identifier: GPL-2.0
/*
 * What every rank puts in, and what must come out, computed element by element and without anything of
 * torcoll. See conformance.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance.h"

#define INTEGER		1
#define FLOAT		2
#define PASTE_(a, b)	a##_##b
#define PASTE(a, b)	PASTE_(a, b)
#define F(what)		PASTE(NAME, what)

#define SAME(v)		(v)

#define NAME		i8
#define TYPE		int8_t
#define BITS		int8_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		i16
#define TYPE		int16_t
#define BITS		int16_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		i32
#define TYPE		int32_t
#define BITS		int32_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		i64
#define TYPE		int64_t
#define BITS		int64_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		u8
#define TYPE		uint8_t
#define BITS		uint8_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		u16
#define TYPE		uint16_t
#define BITS		uint16_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		u32
#define TYPE		uint32_t
#define BITS		uint32_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		u64
#define TYPE		uint64_t
#define BITS		uint64_t
#define KIND		INTEGER
#define STORE		SAME
#include "value_type.h"

#define NAME		f32
#define TYPE		float
#define BITS		float
#define KIND		FLOAT
#define STORE		SAME
#include "value_type.h"

#define NAME		f64
#define TYPE		double
#define BITS		double
#define KIND		FLOAT
#define STORE		SAME
#include "value_type.h"

/* Sums and products here are exact in 16 bits; an average is rounded, to the nearest. */
static uint16_t f16_bits(float v)
{
	_Float16 h = v;
	uint16_t bits;

	memcpy(&bits, &h, sizeof(bits));
	return bits;
}

static uint16_t bf16_bits(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#define NAME		f16
#define TYPE		float
#define BITS		uint16_t
#define KIND		FLOAT
#define STORE		f16_bits
#include "value_type.h"

#define NAME		bf16
#define TYPE		float
#define BITS		uint16_t
#define KIND		FLOAT
#define STORE		bf16_bits
#include "value_type.h"

/* Pairs: few values, so that many tie, and an index that says who has it. */
#define PAIR(name, type)								\
struct name##_pair {									\
	type value;									\
	int index;									\
};											\
											\
static void name##_put(const struct test_case *t, uint32_t rank, uint64_t i, void *to)	\
{											\
	uint64_t h = hash(t->seed ^ hash(i * 65537 + rank));				\
	struct name##_pair p;								\
											\
	memset(&p, 0, sizeof(p));							\
	p.value = (type)((int)(h % 5) - 2);						\
	p.index = (int)((h >> 32) % 1000) * 64 + (int)rank;				\
	memcpy(to, &p, sizeof(p));							\
}											\
											\
static void name##_reduce(const struct test_case *t, uint32_t ranks, uint64_t i, void *to) \
{											\
	struct name##_pair best, p;							\
	bool before;									\
											\
	name##_put(t, 0, i, &best);							\
	for (uint32_t r = 1; r < ranks; r++) {						\
		name##_put(t, r, i, &p);						\
		before = t->op.redop == TORCOLL_MINLOC ? p.value < best.value :		\
							 p.value > best.value;		\
		if (before || (p.value == best.value && p.index < best.index))		\
			memcpy(&best, &p, sizeof(p));					\
	}										\
	memcpy(to, &best, sizeof(best));						\
}

PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(two_int, int)
PAIR(short_int, short)

static const struct {
	void (*put)(const struct test_case *t, uint32_t rank, uint64_t i, void *to);
	void (*reduce)(const struct test_case *t, uint32_t ranks, uint64_t i, void *to);
	void (*factor)(const struct test_case *t, uint32_t rank, void *to);
} value_types[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_I8] = { i8_put, i8_reduce, i8_factor },
	[TORCOLL_I16] = { i16_put, i16_reduce, i16_factor },
	[TORCOLL_I32] = { i32_put, i32_reduce, i32_factor },
	[TORCOLL_I64] = { i64_put, i64_reduce, i64_factor },
	[TORCOLL_U8] = { u8_put, u8_reduce, u8_factor },
	[TORCOLL_U16] = { u16_put, u16_reduce, u16_factor },
	[TORCOLL_U32] = { u32_put, u32_reduce, u32_factor },
	[TORCOLL_U64] = { u64_put, u64_reduce, u64_factor },
	[TORCOLL_F16] = { f16_put, f16_reduce, f16_factor },
	[TORCOLL_BF16] = { bf16_put, bf16_reduce, bf16_factor },
	[TORCOLL_F32] = { f32_put, f32_reduce, f32_factor },
	[TORCOLL_F64] = { f64_put, f64_reduce, f64_factor },
	[TORCOLL_FLOAT_INT] = { float_int_put, float_int_reduce },
	[TORCOLL_DOUBLE_INT] = { double_int_put, double_int_reduce },
	[TORCOLL_LONG_INT] = { long_int_put, long_int_reduce },
	[TORCOLL_2INT] = { two_int_put, two_int_reduce },
	[TORCOLL_SHORT_INT] = { short_int_put, short_int_reduce },
};

uint64_t block_start(uint64_t count, const uint64_t *counts, uint32_t ranks, uint32_t rank)
{
	uint64_t q = count / ranks, m = count % ranks, start = 0;

	if (!counts)
		return rank * q + (rank < m ? rank : m);
	while (rank)
		start += counts[--rank];
	return start;
}

struct part part_own(const struct test_case *t, uint32_t ranks, uint32_t rank)
{
	uint64_t start = block_start(t->op.count, t->op.counts, ranks, rank);

	return (struct part){
		start, block_start(t->op.count, t->op.counts, ranks, rank + 1) - start
	};
}

struct part part_sent(const struct test_case *t, uint32_t ranks, uint32_t rank)
{
	switch (t->op.collective) {
	case TORCOLL_ALLGATHER:
	case TORCOLL_GATHER:
		return part_own(t, ranks, rank);
	case TORCOLL_BROADCAST:
	case TORCOLL_SCATTER:
		return (struct part){ 0, rank == t->op.root ? t->op.count : 0 };
	case TORCOLL_ALLTOALL:
		return (struct part){ 0, t->uneven ? block_start(0, t->op.counts, ranks, ranks) :
						     t->op.count };
	default:
		return (struct part){ 0, t->op.count };
	}
}

struct part part_received(const struct test_case *t, uint32_t ranks, uint32_t rank)
{
	switch (t->op.collective) {
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_SCATTER:
		return part_own(t, ranks, rank);
	case TORCOLL_REDUCE:
	case TORCOLL_GATHER:
		return (struct part){ 0, rank == t->op.root ? t->op.count : 0 };
	case TORCOLL_EXSCAN:
		return (struct part){ 0, rank ? t->op.count : 0 };
	default:
		return (struct part){ 0, t->op.count };
	}
}

void values_fill(const struct test_case *t, uint32_t rank, struct part part, void *buf)
{
	size_t elem = torcoll_type_size(t->op.type);

	for (uint64_t i = 0; i < part.count; i++)
		value_types[t->op.type].put(t, rank, part.start + i, (char *)buf + i * elem);
}

void values_factor(const struct test_case *t, uint32_t rank, void *to)
{
	if (t->op.redop == TORCOLL_PREMULSUM)
		value_types[t->op.type].factor(t, rank, to);
}

/* Whose block element @i is in. */
static uint32_t owner(const uint64_t *counts, uint64_t count, uint32_t ranks, uint64_t i)
{
	uint64_t q = count / ranks, m = count % ranks;
	uint32_t rank = 0;

	if (!counts)
		return i < m * (q + 1) ? i / (q + 1) : m + (i - m * (q + 1)) / q;
	while (i >= counts[rank])
		i -= counts[rank++];
	return rank;
}

uint32_t halo_ways(const struct world *w)
{
	uint32_t ways = 0;

	/* a ring of ranks */
	if (w->shared)
		return 2;
	for (uint32_t d = 0; d < w->info.ndim; d++)
		ways += w->info.side[d] > 1 ? 2 : 0;
	return ways ? ways : 2;
}

uint32_t halo_neighbour(const struct world *w, uint32_t way)
{
	uint32_t stride = 1, side, at;

	if (w->shared)
		return (w->info.rank + (way ? 1 : w->info.ranks - 1)) % w->info.ranks;
	for (uint32_t d = 0; d < w->info.ndim; stride *= w->info.side[d++]) {
		side = w->info.side[d];
		if (side == 1)
			continue;
		at = w->info.rank / stride % side;
		if (way == 0)
			return w->info.rank + (at ? -stride : (side - 1) * stride);
		if (way == 1)
			return w->info.rank + (at < side - 1 ? stride : -(side - 1) * stride);
		way -= 2;
	}
	return w->info.rank;
}

/* Where in the vector of the rank that sent it element @i of what this one got was. */
static uint64_t exchanged(const struct test_case *t, const struct world *w, uint64_t i, uint32_t *from)
{
	uint64_t n = t->op.count / (t->op.collective == TORCOLL_HALO ? halo_ways(w) : w->info.ranks);
	uint32_t me = w->info.rank;
	uint64_t at = 0;

	if (t->op.collective == TORCOLL_HALO) {
		*from = halo_neighbour(w, i / n);
		return (i / n ^ 1) * n + i % n;
	}
	*from = owner(t->op.recv_counts, t->op.count, w->info.ranks, i);
	if (!t->uneven)
		return me * n + i % n;
	for (uint32_t r = 0; r < me; r++)
		at += pair_count(t, *from, r);
	return at + i - block_start(0, t->recv_counts, w->info.ranks, *from);
}

static void expected(const struct test_case *t, const struct world *w, uint64_t i, void *to)
{
	uint32_t from = t->op.root, ranks = w->info.ranks;

	switch (t->op.collective) {
	case TORCOLL_SCAN:
		value_types[t->op.type].reduce(t, w->info.rank + 1, i, to);
		return;
	case TORCOLL_EXSCAN:
		value_types[t->op.type].reduce(t, w->info.rank, i, to);
		return;
	case TORCOLL_ALLREDUCE:
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_REDUCE:
		value_types[t->op.type].reduce(t, ranks, i, to);
		return;
	case TORCOLL_ALLTOALL:
	case TORCOLL_HALO:
		i = exchanged(t, w, i, &from);
		break;
	case TORCOLL_SEND:
	case TORCOLL_RECV:
		from = (w->info.rank + ranks - t->ahead) % ranks;
		break;
	case TORCOLL_ALLGATHER:
	case TORCOLL_GATHER:
		from = owner(t->op.counts, t->op.count, ranks, i);
		break;
	default:
		break;
	}
	value_types[t->op.type].put(t, from, i, to);
}

static void print_bytes(char *to, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", p[n - 1 - i]);
}

uint64_t values_check(const struct test_case *t, const struct world *w, struct part got, uint64_t first,
		      uint64_t step, const void *buf, char *text, size_t text_bytes)
{
	size_t elem = torcoll_type_size(t->op.type);
	char is[40], should[40];
	uint64_t wrong = 0;
	unsigned char want[16];

	for (uint64_t i = first; i < got.count; i += step) {
		const unsigned char *p = (const unsigned char *)buf + i * elem;

		expected(t, w, got.start + i, want);
		if (!memcmp(p, want, elem))
			continue;
		if (!wrong++) {
			print_bytes(is, p, elem);
			print_bytes(should, want, elem);
			snprintf(text, text_bytes, "element %llu is 0x%s, should be 0x%s",
				 (unsigned long long)(got.start + i), is, should);
		}
	}
	return wrong;
}
