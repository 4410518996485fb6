// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for SSE2, which every x86-64 CPU has. Compile with -msse2 -ffp-contract=off.
 */
#include "simd/x86.h"

#define TOR_SIMD_NAME(x)	x##_sse2
#define TOR_SIMD_BYTES		16
#define TOR_SIMD_DO(op, form, a, b)	\
	asm(#op TOR_X86_##form " %1, %0" : "+x" (a) : "x" (b))
#define TOR_SIMD_LESS_ONE(rest, one)	asm("psubusw %1, %0" : "+x" (rest) : "x" (one))

#include "simd/reduce_float.h"
