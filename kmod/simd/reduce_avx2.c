// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for AVX2. Compile with -mavx2 -ffp-contract=off; run where the CPU and its OS have
 * AVX2.
 */
#define TOR_SIMD_NAME(x)	x##_avx2
#define TOR_SIMD_BYTES		32
#define TOR_SIMD_ADD(op, a, b)	asm("v" op " %1, %0, %0" : "+x" (a) : "x" (b))

#include "reduce_float.h"
