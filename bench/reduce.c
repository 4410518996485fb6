// SPDX-License-Identifier: MIT
/*
 * How fast the reduction kernels are on this CPU: every type and operator, 4 KiB to 1 MiB, natively, beside what a compiler
 * makes of a plain loop for this very CPU, and beside memcpy().
 *
 * Prints GB/s of the vector that is reduced into, and what the fastest kernel of each reaches beside its rivals. Compile
 * bench/reduce_plain.c with -O3 -march=native.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/reduce/host_isa.h"
#include "core/names.h"
#include "core/reduce/reduce.h"
#include "reduce_plain.h"

#define MOST		(1 << 20)
#define SECONDS		0.01
#define ROUNDS		10
#define ROWS		200
#define SIZES		3

static const size_t sizes[SIZES] = { 4 << 10, 64 << 10, 1 << 20 };

/* One kernel, and GB/s by size. */
struct row {
	const char *type, *redop, *how;
	tor_reduce_fn fn;
	size_t elem;
	double rate[SIZES];
};

static struct row rows[ROWS];
static size_t count;

static char dst[MOST] __attribute__((aligned(64)));
static char src[MOST] __attribute__((aligned(64)));

static const char *const isas[TOR_ISA_COUNT] = {
#if defined(__x86_64__)
	[TOR_ISA_SSE2] = "SSE2", [TOR_ISA_AVX2] = "AVX2", [TOR_ISA_AVX512] = "AVX-512",
#elif defined(__aarch64__)
	[TOR_ISA_NEON] = "NEON", [TOR_ISA_FP16] = "FP16",
#else
	[TOR_ISA_PLAIN] = "plain",
#endif
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void copy(void *to, const void *first, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" : : : "memory");
}

/* GB/s over a moment. */
static double rate(tor_reduce_fn fn, size_t bytes, size_t elem)
{
	double start = now(), took;
	unsigned long n = 0;

	do {
		for (int i = 0; i < 8; i++)
			fn(dst, dst, src, bytes / elem);
		n += 8;
		took = now() - start;
	} while (took < SECONDS);
	return n * (double)bytes / took / 1e9;
}

static void add_row(const char *type, const char *redop, const char *how, tor_reduce_fn fn, size_t elem)
{
	struct row row = { .type = type, .redop = redop, .how = how, .fn = fn, .elem = elem };

	assert(count < ROWS);
	rows[count++] = row;
}

static void add_rows(void)
{
	add_row("bytes", "memcpy", "libc", copy, 1);
	add_row("f32", "sum", "plain", plain_sum_f32, 4);
	for (u32 type = 0; type < TORCOLL_TYPE_COUNT; type++) {
		for (u32 redop = 0; redop < TORCOLL_REDOP_COUNT; redop++) {
			for (u32 isa = 0; isa < TOR_ISA_COUNT; isa++) {
				if (!host_has_isa(isa) || (isa && !tor_type_is_float(type)))
					continue;
				tor_reduce_init(isa);
				if (tor_reduce_kernel(type, redop))
					add_row(tor_type_names[type], tor_redop_names[redop],
						tor_type_is_float(type) ? isas[isa] : "scalar",
						tor_reduce_kernel(type, redop), tor_type_size(type));
			}
		}
	}
}

/* The best of several rounds over all of them: whatever disturbs makes it less, and disturbs all of them. */
static void measure(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < count; i++) {
			for (size_t k = 0; k < SIZES; k++) {
				double r = rate(rows[i].fn, sizes[k], rows[i].elem);

				if (r > rows[i].rate[k])
					rows[i].rate[k] = r;
			}
		}
	}
}

/* Elements per second of @type and @redop, the fastest way that is not the plain loop. */
static double fastest(const char *type, const char *redop, size_t k)
{
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];

		if (strcmp(row->type, type) || strcmp(row->redop, redop) || !strcmp(row->how, "plain"))
			continue;
		if (row->rate[k] / row->elem > most)
			most = row->rate[k] / row->elem;
	}
	return most;
}

static void print_rows(void)
{
	printf("%-11s %-9s %-8s %9s %9s %9s   GB/s\n", "type", "op", "how", "4 KiB", "64 KiB", "1 MiB");
	for (size_t i = 0; i < count; i++) {
		printf("%-11s %-9s %-8s", rows[i].type, rows[i].redop, rows[i].how);
		for (size_t k = 0; k < SIZES; k++)
			printf(" %9.2f", rows[i].rate[k]);
		printf("\n");
	}
}

/* What the fastest kernels reach of what can be reached, and the small floats of what f32 reaches. */
static void print_shares(void)
{
	static const char *const redops[] = { "sum", "prod", "min", "max" };

	printf("\n%-30s", "f32 sum, of the lower rival");
	for (size_t k = 0; k < SIZES; k++) {
		double rival = rows[0].rate[k] < rows[1].rate[k] ? rows[0].rate[k] : rows[1].rate[k];

		printf(" %8.0f%%", 100 * 4 * fastest("f32", "sum", k) / rival);
	}
	printf("\n");
	for (int bf = 0; bf < 2; bf++) {
		for (size_t o = 0; o < ARRAY_SIZE(redops); o++) {
			const char *type = bf ? "bf16" : "f16";

			printf("%4s %-4s, of f32's elements/s ", type, redops[o]);
			for (size_t k = 0; k < SIZES; k++)
				printf(" %8.0f%%", 100 * fastest(type, redops[o], k) /
				       fastest("f32", redops[o], k));
			printf("\n");
		}
	}
}

int main(void)
{
	add_rows();
	measure();
	print_rows();
	print_shares();
	return 0;
}
