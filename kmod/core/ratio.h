/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Multiplication and division of 64 bits, exactly. The kernel's function for it
 * rounds on some architectures before 6.12, and from what it returns all nodes
 * must choose the same algorithm.
 */
#ifndef _TOR_CORE_RATIO_H
#define _TOR_CORE_RATIO_H

#include "core/env.h"

/* a * b / d, which must fit into 64 bits. */
static inline u64 tor_mul_div64(u64 a, u64 b, u64 d)
{
	u64 high = mul_u64_u64_shr(a, b, 64), low = a * b;
	bool carry;
	u32 i;

	if (!high)
		return tor_div64(low, d);
	/* quotient bits move in where those of the dividend have moved up */
	for (i = 0; i < 64; i++) {
		carry = high >> 63;
		high = high << 1 | low >> 63;
		low <<= 1;
		if (carry || high >= d) {
			high -= d;
			low |= 1;
		}
	}
	return low;
}

#endif
