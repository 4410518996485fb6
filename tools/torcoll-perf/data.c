// SPDX-License-Identifier: GPL-2.0
/*
 * Inputs whose results are known without the ranks' computation, and exact also
 * in floating point, in any order.
 *
 * Element i of rank r is scale(i) * weight(r + i mod ranks): scales and weights
 * are random small integers (the scale of floats in eighths), so a sum is
 * scale(i) * (sum of all weights), and the minimum scale(i) * (smallest or
 * largest weight), which every rank has in turn. Integers use the whole range
 * of their type for sums, which wrap.
 */
#include <stdlib.h>
#include <string.h>

#include "perf.h"

/* Weights of all ranks, with their sum and extremes. */
static struct {
	uint32_t ranks;
	uint8_t *small;			/* 1 to 255 */
	uint64_t *wide;
	uint64_t small_sum;
	uint64_t wide_sum;
	uint8_t min;
	uint8_t max;
} weights;

/* SplitMix64's finalizer: a random number for every x. */
static inline uint64_t hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

int data_init(uint32_t ranks)
{
	weights.ranks = ranks;
	weights.small = malloc(ranks);
	weights.wide = malloc(ranks * sizeof(*weights.wide));
	if (!weights.small || !weights.wide)
		return -1;
	weights.min = 255;
	for (uint32_t r = 0; r < ranks; r++) {
		uint64_t h = hash(~(uint64_t)r);

		weights.small[r] = 1 + h % 255;
		weights.wide[r] = h | 1;
		weights.small_sum += weights.small[r];
		weights.wide_sum += weights.wide[r];
		if (weights.small[r] < weights.min)
			weights.min = weights.small[r];
		if (weights.small[r] > weights.max)
			weights.max = weights.small[r];
	}
	return 0;
}

void data_exit(void)
{
	free(weights.small);
	free(weights.wide);
}

/* Return a random number from -max to max, but not 0. */
static inline int64_t scale(uint64_t i, uint32_t max)
{
	uint64_t h = hash(i);
	int64_t s = 1 + (h >> 1) % max;

	return h & 1 ? -s : s;
}

static inline int64_t extreme(int64_t s, enum torcoll_redop redop)
{
	return (s > 0) == (redop == TORCOLL_MAX) ? s * weights.max : s * weights.min;
}

#define PASTE_(a, b)	a##_##b
#define PASTE(a, b)	PASTE_(a, b)
#define F(what)		PASTE(NAME, what)

/* Extremes are of small products: SMALL_MAX * 255 fits the type. */
#define NAME		i32
#define TYPE		int32_t
#define FORMAT		"%d"
#define SMALL_MAX	(1 << 22)
#include "data_type.h"

#define NAME		i64
#define TYPE		int64_t
#define FORMAT		"%ld"
#define SMALL_MAX	(1 << 30)
#include "data_type.h"

/*
 * SMALL_MAX * 255, and SUM_MAX * (the sum of all weights), fit the significand.
 */
#define NAME		f32
#define TYPE		float
#define FORMAT		"%.9g"
#define SMALL_MAX	((1 << 16) - 1)
#define SUM_MAX		15
#include "data_type.h"

#define NAME		f64
#define TYPE		double
#define FORMAT		"%.17g"
#define SMALL_MAX	(1 << 30)
#define SUM_MAX		(1 << 20)
#include "data_type.h"

static const struct data_type {
	void (*fill)(const struct result *r, uint32_t rank, struct part range, uint8_t *buf);
	void (*fill_inexact)(uint32_t rank, struct part range, uint8_t *buf);
	uint64_t (*check)(const struct result *r, struct part range, const uint8_t *buf, char *first,
			  size_t first_bytes);
	uint64_t (*check_first)(const struct result *r, uint32_t ranks, struct part range,
				const uint8_t *buf, char *first, size_t first_bytes);
	uint64_t (*check_input)(const struct result *r, uint32_t rank, struct part range,
				const uint8_t *buf);
} data_types[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_I32] = { i32_fill, i32_fill_inexact, i32_check,
			  i32_check_first, i32_check_input },
	[TORCOLL_I64] = { i64_fill, i64_fill_inexact, i64_check,
			  i64_check_first, i64_check_input },
	[TORCOLL_F32] = { f32_fill, f32_fill_inexact, f32_check,
			  f32_check_first, f32_check_input },
	[TORCOLL_F64] = { f64_fill, f64_fill_inexact, f64_check,
			  f64_check_first, f64_check_input },
};

bool data_knows(enum torcoll_type type, enum torcoll_redop redop)
{
	return (size_t)type < ARRAY_SIZE(data_types) && data_types[type].fill &&
	       (redop == TORCOLL_SUM || redop == TORCOLL_MIN || redop == TORCOLL_MAX);
}

/* Fill in a part of rank @rank's vector. */
void data_fill(const struct result *r, uint32_t rank, struct part range, uint8_t *buf)
{
	data_types[r->type].fill(r, rank, range, buf);
}

/*
 * Fill in values whose sum is rounded: its bits depend on the order of
 * additions.
 */
void data_fill_inexact(const struct result *r, uint32_t rank, struct part range, uint8_t *buf)
{
	data_types[r->type].fill_inexact(rank, range, buf);
}

/*
 * Return the number of wrong elements in a part of the result; @first describes
 * the first.
 */
uint64_t data_check(const struct result *r, struct part range, const uint8_t *buf, char *first,
		    size_t first_bytes)
{
	return data_types[r->type].check(r, range, buf, first, first_bytes);
}

/* The same for the result of the first @ranks ranks. */
uint64_t data_check_first(const struct result *r, uint32_t ranks, struct part range,
			  const uint8_t *buf, char *first, size_t first_bytes)
{
	return data_types[r->type].check_first(r, ranks, range, buf, first, first_bytes);
}

/* Return how many elements of data_fill() have changed. */
uint64_t data_check_input(const struct result *r, uint32_t rank, struct part range,
			  const uint8_t *buf)
{
	return data_types[r->type].check_input(r, rank, range, buf);
}

/* Hash bytes by FNV-1a. */
uint64_t data_checksum(const uint8_t *buf, uint64_t bytes)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	for (uint64_t i = 0; i < bytes; i++)
		sum = (sum ^ buf[i]) * 0x100000001b3ULL;
	return sum;
}
