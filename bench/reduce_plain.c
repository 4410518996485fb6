// SPDX-License-Identifier: MIT
/*
 * The rival of the reduction kernels. See bench/reduce.c.
 */
#include "reduce_plain.h"

void plain_sum_f32(void *dst, const void *first, const void *second, size_t n)
{
	const float *f = first, *s = second;
	float *d = dst;

	for (size_t i = 0; i < n; i++)
		d[i] = f[i] + s[i];
}
