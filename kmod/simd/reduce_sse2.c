// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for SSE2, which every x86-64 CPU has. Compile with -msse2 -ffp-contract=off.
 */
#define TOR_SIMD_NAME(x)	x##_sse2
#define TOR_SIMD_BYTES		16
#define TOR_SIMD_DO(op, a, b)	asm(op " %1, %0" : "+x" (a) : "x" (b))

#include "simd/reduce_float.h"
