/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Float kernels per instruction set, used by kmod/core/reduce/reduce.c. Objects
 * in this folder are compiled with floats and SIMD enabled, so they include no
 * kernel header and pass no float by value. They share only this header with
 * the rest.
 */
#ifndef _TOR_SIMD_SIMD_H
#define _TOR_SIMD_SIMD_H

/*
 * The type tor_reduce_fn of core/reduce/reduce.h, which defines the semantics.
 * Context: where the FPU may be used.
 */
typedef void (*tor_simd_fn)(void *dst, const void *first, const void *second, __SIZE_TYPE__ n);

struct tor_simd_type {
	tor_simd_fn sum;
	tor_simd_fn prod;
	tor_simd_fn sum_both;		/* commuting variants: see tor_reduce_commuting() */
	tor_simd_fn prod_both;
	tor_simd_fn min;
	tor_simd_fn max;
	tor_simd_fn div;
};

struct tor_simd {
	struct tor_simd_type f16;
	struct tor_simd_type bf16;
	struct tor_simd_type f32;
	struct tor_simd_type f64;
};

extern const struct tor_simd tor_simd_sse2;
extern const struct tor_simd tor_simd_avx2;
extern const struct tor_simd tor_simd_avx512;
extern const struct tor_simd tor_simd_neon;
extern const struct tor_simd tor_simd_fp16;
extern const struct tor_simd tor_simd_plain;

/* What every CPU of the architecture has. */
#if defined(__x86_64__)
#define TOR_SIMD_FIRST	tor_simd_sse2
#elif defined(__aarch64__)
#define TOR_SIMD_FIRST	tor_simd_neon
#else
#define TOR_SIMD_FIRST	tor_simd_plain
#endif

#endif
