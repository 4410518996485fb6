// SPDX-License-Identifier: GPL-2.0
/*
 * What is promised about the bits of float results: bits VECTORS FILE [ALGORITHM]. For net/bits.sh, one process per rank.
 *
 * Every algorithm reduces the same crafted and random vectors, at levels agree and ordered, or relaxed if it serves neither.
 * All that comes out is summed up: but for relaxed, the sums of all ranks must be one, and all must be the same again
 * when all of it is called once more, and when a cable was cut in between, which the script does: rank 0 says "cut", and
 * goes on when there is FILE. What is ordered must be the sequential sum, whole and in two pieces of any length. Rank 0
 * says "right ALGORITHM LEVEL" of each.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>
#include <unistd.h>

#include "rank.h"

#define COUNT_MAX	6000
#define BATCH		8	/* vectors, and as many ops in flight */
#define PASSES		3	/* as it comes; again; after the cut */

static const enum torcoll_type types[] = { TORCOLL_F32, TORCOLL_F64, TORCOLL_F16, TORCOLL_BF16 };
static const char *const level_names[TORCOLL_BITS_COUNT] = {
	[TORCOLL_BITS_AGREE] = "agree", [TORCOLL_BITS_ORDERED] = "ordered", [TORCOLL_BITS_RELAXED] = "relaxed",
};

/* What sums cancel, overflow and get lost in; each rank begins elsewhere in it. */
static const double crafted[] = {
	1e30, 1, -1e30, 1e-30, 65504, -65504, 1.0 / 3, -0.0, 0.0, 0x1p-24, -0x1p-24, 0x1p-149, 0x1p-1074,
	3e38, 3e38, -3e38, 1e308, 1e308, -1e308, 2049, 0.5, 1 + 0x1p-10, -1 - 0x1p-23, 257, 1e9 + 7, -1e9,
	/* the last ones, for some vectors only */
	__builtin_inf(), -__builtin_inf(), __builtin_nan(""),
};

/* SplitMix64. */
static uint64_t hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Eight bytes at a time. */
static uint64_t checksum(uint64_t sum, const unsigned char *p, size_t bytes)
{
	for (; bytes; bytes -= bytes < 8 ? bytes : 8, p += 8) {
		uint64_t word = 0;

		memcpy(&word, p, bytes < 8 ? bytes : 8);
		sum = hash(sum ^ word);
	}
	return sum;
}

/* ---- numbers: what is in memory, from and to a double ---- */

static uint16_t to_bf16(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	/* what makes a NaN one must not be cut off */
	if (v != v)
		return bits >> 16 | 0x40;
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static void put(enum torcoll_type type, double v, void *to)
{
	_Float16 half = v;
	uint16_t bits = to_bf16(v);
	float single = v;

	switch (type) {
	case TORCOLL_F16:
		memcpy(to, &half, sizeof(half));
		break;
	case TORCOLL_BF16:
		memcpy(to, &bits, sizeof(bits));
		break;
	case TORCOLL_F32:
		memcpy(to, &single, sizeof(single));
		break;
	default:
		memcpy(to, &v, sizeof(v));
	}
}

static double get(enum torcoll_type type, const void *from)
{
	_Float16 half;
	uint32_t bits;
	uint16_t high;
	float single;
	double v;

	switch (type) {
	case TORCOLL_F16:
		memcpy(&half, from, sizeof(half));
		return half;
	case TORCOLL_BF16:
		memcpy(&high, from, sizeof(high));
		bits = (uint32_t)high << 16;
		memcpy(&single, &bits, sizeof(single));
		return single;
	case TORCOLL_F32:
		memcpy(&single, from, sizeof(single));
		return single;
	default:
		memcpy(&v, from, sizeof(v));
		return v;
	}
}

/* A step of a sum, rounded once: 16 bits by way of f32. */
static double add(enum torcoll_type type, double a, double b)
{
	unsigned char sum[8];

	if (type == TORCOLL_F64)
		return a + b;
	put(type, (float)a + (float)b, sum);
	return get(type, sum);
}

/* ---- vectors ---- */

struct vector {
	enum torcoll_type type;
	uint32_t number, count, split;
	bool crafted;
};

static struct vector vector(uint32_t number)
{
	struct vector v = { .type = types[number % ARRAY_SIZE(types)], .number = number };
	uint64_t h = hash(number);

	v.crafted = number < 4 * ARRAY_SIZE(types);
	v.count = 1 + h % 90;
	/* now and then one of several frames in each channel */
	if (number % 100 == 99)
		v.count = 1 + h % COUNT_MAX;
	v.split = hash(h) % (v.count + 1);
	return v;
}

static double element(const struct vector *v, uint32_t of, uint32_t i)
{
	uint64_t h = hash(hash(v->number * 64ULL + of) + i);
	int exponent = (int)(h % 24) - 12;
	double d;

	if (v->crafted) {
		/* two in three without what swallows all else */
		uint32_t n = ARRAY_SIZE(crafted) - (i % 3 ? 3 : 0);

		d = crafted[(i + of * 7 + v->number) % n];
	} else {
		d = (double)(int64_t)h / 0x1p63;
		d = exponent < 0 ? d / (1 << -exponent) : d * (1 << exponent);
	}
	return d;
}

static void fill(const struct vector *v, unsigned char *to)
{
	size_t bytes = torcoll_type_size(v->type);

	for (uint32_t i = 0; i < v->count; i++)
		put(v->type, element(v, rank, i), to + i * bytes);
}

/* Element @i of the sum in the order of ranks. */
static double sequential(const struct vector *v, uint32_t i)
{
	unsigned char bits[8];
	double sum = 0;

	for (uint32_t r = 0; r < ranks; r++) {
		put(v->type, element(v, r, i), bits);
		sum = r ? add(v->type, sum, get(v->type, bits)) : get(v->type, bits);
	}
	return sum;
}

/* ---- calls ---- */

/* What is called for every vector. */
struct call {
	uint32_t algorithm;
	enum torcoll_bits bits;
	uint64_t sum, before;	/* over all that came out, in this pass and in the last */
};

static struct call calls[2 * TORCOLL_ALGO_COUNT];
static uint32_t n_calls;

static struct torcoll_op reduction(const struct call *call, enum torcoll_type type, const void *in, void *out,
				   uint32_t count)
{
	return (struct torcoll_op){
		.collective = TORCOLL_ALLREDUCE, .algorithm = call->algorithm, .bits = call->bits, .type = type,
		.redop = TORCOLL_SUM, .count = count, .send = in, .recv = out,
	};
}

/* Is it served? Then it is one of them. */
static bool add_call(uint32_t algorithm, enum torcoll_bits bits)
{
	struct call call = { .algorithm = algorithm, .bits = bits };
	float one = 1, all;
	struct torcoll_op op = reduction(&call, TORCOLL_F32, &one, &all, 1);
	int err = torcoll_run(world, &op);

	if (err && err != -EOPNOTSUPP)
		die("%s", torcoll_last_error());
	if (!err)
		calls[n_calls++] = call;
	return !err;
}

static void add_calls(const char *algorithm)
{
	for (uint32_t a = TORCOLL_ALGO_AUTO; a < TORCOLL_ALGO_COUNT; a++) {
		if (algorithm && strcmp(torcoll_algorithm_name(a), algorithm))
			continue;
		if (!add_call(a, TORCOLL_BITS_AGREE))
			add_call(a, TORCOLL_BITS_RELAXED);
		add_call(a, TORCOLL_BITS_ORDERED);
	}
}

/*
 * Has this process round towards zero and lose denormals, or not. The module adds up in its system calls, and in softirqs
 * that interrupt it: that must not be how the sums of all are rounded.
 */
static void compute_oddly(bool oddly)
{
#if defined(__x86_64__)
	uint32_t mode = oddly ? 0xffc0 : 0x1f80;

	__asm__ volatile("ldmxcsr %0" : : "m" (mode));
#elif defined(__aarch64__)
	uint64_t mode = oddly ? 7 << 22 : 0;

	__asm__ volatile("msr fpcr, %0" : : "r" (mode));
#endif
}

static void reduce_many(const struct torcoll_op *ops, uint32_t n)
{
	struct torcoll_request req[BATCH];
	uint32_t i;

	compute_oddly(true);
	if (torcoll_submit_many(world, ops, n, req, NULL))
		die("%s", torcoll_last_error());
	for (i = 0; i < n; i++)
		if (torcoll_wait(&req[i]))
			die("%s", torcoll_last_error());
	compute_oddly(false);
}

/* ---- batches ---- */

static struct vector vectors[BATCH];
static unsigned char in[BATCH][8 * COUNT_MAX], out[BATCH][8 * COUNT_MAX], want[BATCH][8 * COUNT_MAX];
static bool is_nan[BATCH][COUNT_MAX];

/* Vectors @first to @first + @n - 1, and their sums in the order of ranks. */
static void fill_batch(uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct vector *v = &vectors[i];
		size_t bytes;

		*v = vector(first + i);
		bytes = torcoll_type_size(v->type);
		fill(v, in[i]);
		for (uint32_t k = 0; k < v->count; k++) {
			double sum = sequential(v, k);

			put(v->type, sum, want[i] + k * bytes);
			is_nan[i][k] = sum != sum;
		}
	}
}

static void check_ordered(const struct call *call, uint32_t i)
{
	const struct vector *v = &vectors[i];
	size_t bytes = torcoll_type_size(v->type);

	if (!memcmp(out[i], want[i], v->count * bytes))
		return;
	for (uint32_t k = 0; k < v->count; k++) {
		const unsigned char *got = out[i] + k * bytes;
		double sum = get(v->type, got);

		/* of which NaN nothing is promised but that all have it */
		if ((is_nan[i][k] && sum != sum) || !memcmp(got, want[i] + k * bytes, bytes))
			continue;
		die("%s: element %u of vector %u is %.17g, in order it is %.17g",
		    torcoll_algorithm_name(call->algorithm), k, v->number, sum,
		    get(v->type, want[i] + k * bytes));
	}
}

/* The batch by one call, and what is ordered in two pieces: the same bytes. */
static void run_batch(struct call *call, uint32_t n)
{
	bool ordered = call->bits == TORCOLL_BITS_ORDERED;
	struct torcoll_op ops[BATCH];

	for (uint32_t piece = 0; piece < (ordered ? 3 : 1); piece++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct vector *v = &vectors[i];
			uint32_t from = piece == 2 ? v->split : 0, to = piece == 1 ? v->split : v->count;
			size_t bytes = torcoll_type_size(v->type);

			memset(out[i] + from * bytes, 0xa5, (to - from) * bytes);
			ops[i] = reduction(call, v->type, in[i] + from * bytes, out[i] + from * bytes, to - from);
		}
		reduce_many(ops, n);
		if (piece == 1)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			call->sum = checksum(call->sum, out[i], vectors[i].count * torcoll_type_size(vectors[i].type));
			if (ordered)
				check_ordered(call, i);
		}
	}
}

/* Have all ranks this number? */
static bool same_everywhere(uint64_t x)
{
	uint64_t mine[2] = { x, ~x }, most[2];

	if (torcoll_allreduce(world, mine, most, 2, TORCOLL_U64, TORCOLL_MAX))
		die("%s", torcoll_last_error());
	return most[0] == ~most[1];
}

static void run_pass(uint32_t count)
{
	for (uint32_t c = 0; c < n_calls; c++)
		calls[c].sum = 0;
	for (uint32_t first = 0; first < count; first += BATCH) {
		uint32_t n = count - first < BATCH ? count - first : BATCH;

		fill_batch(first, n);
		for (uint32_t c = 0; c < n_calls; c++)
			run_batch(&calls[c], n);
	}
}

static void check_pass(int pass)
{
	for (uint32_t c = 0; c < n_calls; c++) {
		struct call *call = &calls[c];
		const char *name = torcoll_algorithm_name(call->algorithm);

		if (call->bits != TORCOLL_BITS_RELAXED && !same_everywhere(call->sum))
			die("%s, %s: ranks have other bits", name, level_names[call->bits]);
		if (pass && call->sum != call->before)
			die("%s, %s: other bits than before", name, level_names[call->bits]);
		call->before = call->sum;
		if (!rank && pass == PASSES - 1)
			printf("right %s %s\n", name, level_names[call->bits]);
	}
}

static void wait_for_cut(const char *file)
{
	if (!rank) {
		printf("cut\n");
		fflush(stdout);
		while (access(file, F_OK))
			usleep(10000);
	}
	if (torcoll_barrier(world))
		die("%s", torcoll_last_error());
}

int main(int argc, char **argv)
{
	uint32_t count = argc == 3 || argc == 4 ? atoi(argv[1]) : 0;

	if (!count) {
		fprintf(stderr, "usage: bits VECTORS FILE [ALGORITHM]\n");
		return 2;
	}
	if (!join_world())
		return 1;
	add_calls(argv[3]);
	for (int pass = 0; pass < PASSES; pass++) {
		if (pass == PASSES - 1)
			wait_for_cut(argv[2]);
		run_pass(count);
		check_pass(pass);
	}
	return 0;
}
