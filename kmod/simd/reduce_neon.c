// SPDX-License-Identifier: GPL-2.0
/*
 * Float kernels for NEON, which every arm64 CPU that runs Linux has. Compile
 * with -ffp-contract=off.
 */
#include "simd/neon.h"

#define TOR_SIMD_NAME(x)	x##_neon

#include "simd/reduce_float.h"
