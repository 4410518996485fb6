// SPDX-License-Identifier: GPL-2.0
/*
 * Random ops, what goes into them and what must come out. See stress.h.
 */
#include <stdio.h>
#include <string.h>

#include "stress.h"

static bool reduces(uint32_t collective)
{
	return collective == TORCOLL_ALLREDUCE || collective == TORCOLL_REDUCE_SCATTER ||
	       collective == TORCOLL_REDUCE || collective == TORCOLL_SCAN ||
	       collective == TORCOLL_EXSCAN;
}

static bool has_root(uint32_t collective)
{
	return collective == TORCOLL_BROADCAST || collective == TORCOLL_REDUCE ||
	       collective == TORCOLL_GATHER || collective == TORCOLL_SCATTER;
}

static bool has_blocks(uint32_t collective)
{
	return collective == TORCOLL_ALLGATHER || collective == TORCOLL_REDUCE_SCATTER ||
	       collective == TORCOLL_GATHER || collective == TORCOLL_SCATTER;
}

/* One of the bits of @mask, which has some. */
static uint32_t draw_bit(uint64_t *state, uint64_t mask)
{
	uint32_t n = rnd(state) % __builtin_popcountll(mask);

	while (n--)
		mask &= mask - 1;
	return __builtin_ctzll(mask);
}

static void draw_counts(struct op *op, uint64_t *state, uint32_t ranks)
{
	uint32_t left = op->count, i;

	for (i = 0; i < ranks; i++) {
		op->counts[i] = i < ranks - 1 ? rnd(state) % (left + 1) : left;
		left -= op->counts[i];
	}
}

struct op op_draw(const struct plot *plot, uint64_t algorithms, uint32_t number)
{
	static const uint32_t collectives[] = {
		TORCOLL_ALLREDUCE, TORCOLL_ALLREDUCE, TORCOLL_ALLREDUCE, TORCOLL_REDUCE_SCATTER,
		TORCOLL_ALLGATHER, TORCOLL_BROADCAST, TORCOLL_REDUCE, TORCOLL_BARRIER,
		TORCOLL_GATHER, TORCOLL_SCATTER, TORCOLL_ALLTOALL, TORCOLL_SCAN, TORCOLL_EXSCAN,
		TORCOLL_SEND, TORCOLL_SEND,
	};
	uint64_t state = plot->seed + number * 1000003;
	struct op op = { .number = number };

	op.collective = collectives[rnd(&state) % ARRAY_SIZE(collectives)];
	/* what one rank calls otherwise is to be seen */
	if (plot->misdeed == MISMATCH && number == plot->ops / 2)
		op.collective = TORCOLL_ALLREDUCE;
	if (op.collective == TORCOLL_BARRIER)
		return op;
	op.type = rnd(&state) & 1 ? TORCOLL_F32 : TORCOLL_I32;
	op.count = rnd(&state) % (rnd(&state) & 1 ? 200 : COUNT_MAX);
	op.bits = rnd(&state) % TORCOLL_BITS_COUNT;
	if (op.collective == TORCOLL_SEND) {
		op.ahead = rnd(&state) % plot->ranks;
		return op;
	}
	op.algorithm = rnd(&state) & 1 ? TORCOLL_ALGO_AUTO : draw_bit(&state, algorithms);
	if (reduces(op.collective))
		op.redop = rnd(&state) % 4 ? TORCOLL_SUM : TORCOLL_MAX;
	if (has_root(op.collective))
		op.root = rnd(&state) % plot->ranks;
	if (op.collective == TORCOLL_ALLTOALL)
		op.count -= op.count % plot->ranks;
	op.uneven = has_blocks(op.collective) && rnd(&state) % 4 == 0;
	if (op.uneven)
		draw_counts(&op, &state, plot->ranks);
	return op;
}

const char *op_text(const struct op *op)
{
	static char text[128];

	snprintf(text, sizeof(text),
		 "op %u: collective %u, algorithm %u, type %u, redop %u, bits %u, root %u, ahead %u, %u elements%s",
		 op->number, op->collective, op->algorithm, op->type, op->redop, op->bits, op->root,
		 op->ahead, op->count, op->uneven ? ", uneven" : "");
	return text;
}

/* ---- parts ---- */

static uint32_t block_start(const struct op *op, uint32_t ranks, uint32_t rank)
{
	uint32_t rest = op->count % ranks, start = 0;

	if (!op->uneven)
		return rank * (op->count / ranks) + (rank < rest ? rank : rest);
	while (rank--)
		start += op->counts[rank];
	return start;
}

static struct span own_block(const struct op *op, uint32_t ranks, uint32_t rank)
{
	uint32_t start = block_start(op, ranks, rank);

	return (struct span){ start, block_start(op, ranks, rank + 1) - start };
}

static struct span all_if(const struct op *op, bool some)
{
	return (struct span){ 0, some ? op->count : 0 };
}

struct span op_sent(const struct op *op, uint32_t ranks, uint32_t rank)
{
	switch (op->collective) {
	case TORCOLL_ALLGATHER:
	case TORCOLL_GATHER:
		return own_block(op, ranks, rank);
	case TORCOLL_BROADCAST:
	case TORCOLL_SCATTER:
		return all_if(op, rank == op->root);
	default:
		return all_if(op, true);
	}
}

struct span op_received(const struct op *op, uint32_t ranks, uint32_t rank)
{
	switch (op->collective) {
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_SCATTER:
		return own_block(op, ranks, rank);
	case TORCOLL_REDUCE:
	case TORCOLL_GATHER:
		return all_if(op, rank == op->root);
	case TORCOLL_EXSCAN:
		return all_if(op, rank > 0);
	default:
		return all_if(op, true);
	}
}

/* ---- values ---- */

/* Small: sums are exact in any order. */
static int32_t input(const struct op *op, uint32_t rank, uint32_t i)
{
	return (rank + 1) * (i % 7 + 1) + op->number % 5;
}

/* Of ranks 0 to @ranks - 1. */
static int32_t reduced(const struct op *op, uint32_t ranks, uint32_t i)
{
	int32_t sum = 0;
	uint32_t k;

	if (op->redop == TORCOLL_MAX)
		return input(op, ranks - 1, i);
	for (k = 0; k < ranks; k++)
		sum += input(op, k, i);
	return sum;
}

static uint32_t owner(const struct op *op, uint32_t ranks, uint32_t i)
{
	uint32_t rank = 0;

	while (block_start(op, ranks, rank + 1) <= i)
		rank++;
	return rank;
}

static int32_t expected(const struct op *op, uint32_t ranks, uint32_t rank, uint32_t i)
{
	uint32_t each = op->count / ranks;

	switch (op->collective) {
	case TORCOLL_SCAN:
		return reduced(op, rank + 1, i);
	case TORCOLL_EXSCAN:
		return reduced(op, rank, i);
	case TORCOLL_BROADCAST:
	case TORCOLL_SCATTER:
		return input(op, op->root, i);
	case TORCOLL_ALLGATHER:
	case TORCOLL_GATHER:
		return input(op, owner(op, ranks, i), i);
	case TORCOLL_ALLTOALL:
		return input(op, i / each, rank * each + i % each);
	case TORCOLL_SEND:
		return input(op, (rank + ranks - op->ahead) % ranks, i);
	default:
		return reduced(op, ranks, i);
	}
}

/* As an element of the op's type. */
static uint32_t element(const struct op *op, int32_t value)
{
	float f = value;
	uint32_t bits;

	if (op->type != TORCOLL_F32)
		return value;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

void op_fill(const struct op *op, uint32_t ranks, uint32_t rank, void *to)
{
	struct span span = op_sent(op, ranks, rank);
	uint32_t i, e;

	for (i = 0; i < span.count; i++) {
		e = element(op, input(op, rank, span.start + i));
		memcpy((char *)to + 4 * i, &e, sizeof(e));
	}
}

bool op_check(const struct op *op, uint32_t ranks, uint32_t rank, const void *got, char *text, uint32_t bytes)
{
	struct span span = op_received(op, ranks, rank);
	uint32_t i, e, want;

	for (i = 0; i < span.count; i++) {
		memcpy(&e, (const char *)got + 4 * i, sizeof(e));
		want = element(op, expected(op, ranks, rank, span.start + i));
		if (e == want)
			continue;
		snprintf(text, bytes, "element %u is %#x, not %#x", span.start + i, e, want);
		return false;
	}
	return true;
}
