// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for AVX-512. Compile with -mavx512f -mavx512bw -mavx512dq
 * -mavx512vl -ffp-contract=off; run where the CPU has these and the OS saves
 * their registers.
 */
#include "simd/x86.h"

#define TOR_SIMD_NAME(x)	x##_avx512
#define TOR_SIMD_BYTES		64
#define TOR_SIMD_DO(op, form, a, b)	\
	asm("v" #op TOR_X86_##form " %1, %0, %0" : "+v" (a) : "vm" (b))
#define TOR_SIMD_WIDEN(f, h)	asm("vcvtph2ps %1, %0" : "=v" (f) : "vm" (h))
#define TOR_SIMD_NARROW(h, f)	asm("vcvtps2ph $0, %1, %0" : "=v" (h) : "v" (f))

/* a = the function of the bits of a, b and c that table defines */
#define TOR_SIMD_TERNARY(table, a, b, c)	\
	asm("vpternlogd %3, %2, %1, %0" : "+v" (a) : "v" (b), "v" (c), "i" (table))
#define TOR_SIMD_AND_NOT_AND	0x70		/* a & ~(b & c) */
#define TOR_SIMD_OR_AND		0xf8		/* a | (b & c) */

#include "simd/reduce_float.h"
