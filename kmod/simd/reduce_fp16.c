// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for NEON with FEAT_FP16, which computes on f16 without
 * widening. The bits are the same: a float has more than twice as many of them
 * as an f16, so rounding twice is rounding once. Compile with
 * -march=armv8.2-a+fp16 -ffp-contract=off; run where the CPU has it.
 */
#include "simd/neon.h"

#define TOR_SIMD_NAME(x)	x##_fp16
#define TOR_SIMD_NUMBER_F16(mask, r)	\
	asm("fcmeq %0.8h, %1.8h, %1.8h" : "=w" (mask) : "w" (r))

#include "simd/reduce_float.h"
