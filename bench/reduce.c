// SPDX-License-Identifier: MIT
/*
 * How fast the reduction kernels are on this CPU: every type and operator, 4 KiB to 1 MiB, natively, beside what a compiler
 * makes of a plain loop for this very CPU, and beside memcpy().
 *
 * Prints GB/s of the vector that is reduced into. Compile bench/reduce_plain.c with -O3 -march=native.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "names.h"
#include "reduce.h"
#include "reduce_plain.h"

#define MOST		(1 << 20)
#define SECONDS		0.02
#define REPETITIONS	5

static char dst[MOST] __attribute__((aligned(64)));
static char src[MOST] __attribute__((aligned(64)));

static const char *const isas[TOR_ISA_COUNT] = {
	[TOR_ISA_SSE2] = "SSE2", [TOR_ISA_AVX2] = "AVX2", [TOR_ISA_AVX512] = "AVX-512",
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" : : : "memory");
}

/* GB/s, the best of some repetitions: whatever disturbs makes it less. */
static double rate(tor_reduce_fn fn, size_t bytes, size_t elem)
{
	double best = 0;

	for (int r = 0; r < REPETITIONS; r++) {
		double start = now(), took;
		unsigned long n = 0;

		do {
			for (int i = 0; i < 8; i++)
				fn(dst, src, bytes / elem);
			n += 8;
			took = now() - start;
		} while (took < SECONDS);
		if (n * (double)bytes / took > best)
			best = n * (double)bytes / took;
	}
	return best / 1e9;
}

static int has_isa(enum tor_isa isa)
{
	switch (isa) {
	case TOR_ISA_SSE2:
		return 1;
	case TOR_ISA_AVX2:
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
	default:
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
	}
}

static void print_row(const char *type, const char *redop, const char *how, tor_reduce_fn fn, size_t elem)
{
	printf("%-11s %-7s %-8s", type, redop, how);
	for (size_t bytes = 4096; bytes <= MOST; bytes *= 16)
		printf(" %9.2f", rate(fn, bytes, elem));
	printf("\n");
	fflush(stdout);
}

int main(void)
{
	printf("%-11s %-7s %-8s %9s %9s %9s   GB/s\n", "type", "op", "how", "4 KiB", "64 KiB", "1 MiB");
	print_row("bytes", "memcpy", "libc", copy, 1);
	print_row("f32", "sum", "plain", plain_sum_f32, 4);
	for (u32 type = 0; type < TORCOLL_TYPE_COUNT; type++) {
		for (u32 redop = 0; redop < TORCOLL_REDOP_COUNT; redop++) {
			for (u32 isa = 0; isa < TOR_ISA_COUNT; isa++) {
				if (!has_isa(isa) || (isa && !tor_type_is_float(type)))
					continue;
				tor_reduce_init(isa);
				if (tor_reduce_kernel(type, redop))
					print_row(tor_type_names[type], tor_redop_names[redop],
						  tor_type_is_float(type) ? isas[isa] : "scalar",
						  tor_reduce_kernel(type, redop), tor_type_size(type));
			}
		}
	}
	return 0;
}
