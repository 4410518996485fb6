// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for AVX2 and F16C, which comes with it. Compile with -mavx2 -mf16c -ffp-contract=off;
 * run where the CPU has both and the OS keeps their registers.
 */
#define TOR_SIMD_NAME(x)	x##_avx2
#define TOR_SIMD_BYTES		32
#define TOR_SIMD_DO(op, a, b)	asm("v" op " %1, %0, %0" : "+x" (a) : "x" (b))

/* 0: to the nearest, ties to even */
#define TOR_SIMD_WIDEN(f, h)	asm("vcvtph2ps %1, %0" : "=x" (f) : "xm" (h))
#define TOR_SIMD_NARROW(h, f)	asm("vcvtps2ph $0, %1, %0" : "=x" (h) : "x" (f))

#include "reduce_float.h"
