/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reduction kernels: datatype x operator.
 *
 * Integers wrap in two's complement; logical operators give 0 or 1. Floats:
 * sums and products are rounded once per step (no contraction, no
 * reassociation), f16 and bf16 after a step in f32; denormals are kept. If
 * exactly one operand is NaN, the result is that NaN, quiet; if both are, it is
 * the first one, quiet; if there is no result, as of inf - inf, it is the
 * negative quiet NaN without payload. Minima and maxima of floats: a single NaN
 * is the result, the bits of two NaNs are or'ed; -0 is less than +0. So the
 * same operands give the same bits, scalar or SIMD, on every architecture.
 * Pairs: see reduce_pair.h.
 *
 * An average is reduced as a sum, and so is a sum of multiples: see scale.h for
 * the scaling after and before.
 */
#ifndef _TOR_CORE_REDUCE_H
#define _TOR_CORE_REDUCE_H

#include <linux/torcoll.h>

#include "core/env.h"

/**
 * typedef tor_reduce_fn - dst[i] = first[i] op second[i]
 * @dst: any alignment
 * @first: any alignment; @dst, or no part of it
 * @second: any alignment; no part of @dst
 * @n: elements
 *
 * Float kernels run between tor_env_fpu_begin() and tor_env_fpu_end().
 */
typedef void (*tor_reduce_fn)(void *dst, const void *first, const void *second, size_t n);

/* Size of an element in bytes, 0 if the type is unknown. */
u32 tor_type_size(u32 type);

/* True if arithmetic on this type needs the FPU. */
bool tor_type_is_float(u32 type);

/* True if the result of many operands is independent of order and bracketing. */
bool tor_reduce_exact(u32 type, u32 redop);

/*
 * The kernel for (type, redop) in the variant in use on this CPU, or NULL if
 * not served. Context: any.
 */
tor_reduce_fn tor_reduce_kernel(u32 type, u32 redop);

/*
 * The same for plans in which two ranks reduce the same two operands, each its
 * own with the other's, and need the same bits: of two NaNs, the result has the
 * bits of both, or'ed. Slower for sums and products.
 */
tor_reduce_fn tor_reduce_commuting(u32 type, u32 redop);

/*
 * dst[i] = first[i] / second[i], with a divisor other than 0; integers are
 * truncated towards 0. NULL for pairs.
 */
tor_reduce_fn tor_reduce_quotient(u32 type);

/*
 * Instruction sets with float kernels; kmod/simd/ says what each needs of a
 * CPU. Every CPU of the architecture has the first one.
 */
enum tor_isa {
#if defined(__x86_64__)
	TOR_ISA_SSE2,
	TOR_ISA_AVX2,		/* and F16C and FMA */
	TOR_ISA_AVX512,		/* F, BW, DQ and VL */
#elif defined(__aarch64__)
	TOR_ISA_NEON,
	TOR_ISA_FP16,		/* FEAT_FP16 */
#else
	TOR_ISA_PLAIN,		/* programs only */
#endif
	TOR_ISA_COUNT
};

/*
 * Use the float kernels of @isa, which this CPU must support. To be called
 * before the first tor_reduce_kernel(), without concurrent users.
 */
void tor_reduce_init(enum tor_isa isa);

/* The same for one float type. */
void tor_reduce_use(u32 type, enum tor_isa isa);

#endif
