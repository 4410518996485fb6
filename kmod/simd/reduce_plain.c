// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels by the compiler alone, for programs on other architectures.
 * Compile with -ffp-contract=off.
 */
#define TOR_SIMD_NAME(x)	x##_plain
#define TOR_SIMD_BYTES		16
#define TOR_SIMD_OWN_NANS	1

#define TOR_PLAIN_add(a, b)	((a) + (b))
#define TOR_PLAIN_mul(a, b)	((a) * (b))
#define TOR_PLAIN_div(a, b)	((a) / (b))
#define TOR_SIMD_DO(op, form, a, b)	\
	((a) = (__typeof__(((struct form *)0)->v))TOR_PLAIN_##op(a, b))

#include "simd/reduce_float.h"
