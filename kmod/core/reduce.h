/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reduction kernels: datatype x operator.
 *
 * Integers wrap in two's complement. Floats: sums are rounded once per step (no contraction, no
 * reassociation). min and max of floats: if exactly one operand is NaN the result is that NaN, if both are, the first's
 * (dst's) bits; -0 is less than +0. So the same operands give the same bits, scalar or SIMD.
 */
#ifndef _TOR_CORE_REDUCE_H
#define _TOR_CORE_REDUCE_H

#include <linux/torcoll.h>

#include "env.h"

/**
 * typedef tor_reduce_fn - dst[i] = dst[i] op src[i]
 * @dst: any alignment
 * @src: any alignment; may not overlap @dst
 * @n: elements
 *
 * Float kernels run between tor_env_fpu_begin() and tor_env_fpu_end().
 */
typedef void (*tor_reduce_fn)(void *dst, const void *src, size_t n);

/* Size of an element in bytes, 0 if the type is unknown. */
u32 tor_type_size(u32 type);

/* Does arithmetic on this type need the FPU? Then it is also not associative. */
bool tor_type_is_float(u32 type);

/* The kernel for (type, redop), or NULL if not served. The fastest on this CPU. */
tor_reduce_fn tor_reduce_kernel(u32 type, u32 redop);

/**
 * tor_reduce_init - choose among the variants of the float kernels
 * @avx2: the CPU and its OS have AVX2
 *
 * Call once before the first tor_reduce_kernel().
 */
void tor_reduce_init(bool avx2);

#endif
