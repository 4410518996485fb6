// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for AVX2 with F16C and FMA. Compile with -mavx2 -mf16c
 * -ffp-contract=off; run where the CPU has all three and the OS saves their
 * registers.
 */
#include "simd/x86.h"

#define TOR_SIMD_NAME(x)	x##_avx2
#define TOR_SIMD_BYTES		32
#define TOR_SIMD_DO(op, form, a, b)	\
	asm("v" #op TOR_X86_##form " %1, %0, %0" : "+x" (a) : "xm" (b))
#define TOR_SIMD_LESS_ONE(rest, one)	asm("vpsubusw %1, %0, %0" : "+x" (rest) : "x" (one))

/* 0: round to nearest, ties to even */
#define TOR_SIMD_WIDEN(f, h)	asm("vcvtph2ps %1, %0" : "=x" (f) : "xm" (h))
#define TOR_SIMD_NARROW(h, f)	asm("vcvtps2ph $0, %1, %0" : "=x" (h) : "x" (f))

/* odd words from u, even words from l */
#define TOR_SIMD_JOIN_WORDS(r, u, l)	\
	asm("vpblendw $0xaa, %1, %2, %0" : "=x" (r) : "x" (u), "x" (l))

/* a = one * a + b; of several NaNs the result is a */
#define TOR_SIMD_MULTIPLY_ADD(a, one, b)	\
	asm("vfmadd213ps %1, %2, %0" : "+x" (a) : "x" (b), "x" (one))

#include "simd/reduce_float.h"
