// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels by the compiler alone, for programs on other architectures.
 * Compile with -ffp-contract=off.
 */
#define TOR_SIMD_NAME(x)	x##_plain
#define TOR_SIMD_BYTES		16
#define TOR_SIMD_OWN_NANS

#define TOR_PLAIN_add		+
#define TOR_PLAIN_mul		*
#define TOR_PLAIN_div		/
#define TOR_SIMD_DO(op, form, a, b)	((a) = (a) TOR_PLAIN_##op (b))

#include "simd/reduce_float.h"
