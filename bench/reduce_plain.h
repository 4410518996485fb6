/* SPDX-License-Identifier: MIT */
#ifndef BENCH_REDUCE_PLAIN_H
#define BENCH_REDUCE_PLAIN_H

#include <stddef.h>

/* The loop that everyone would write; for -O3 -march=native. */
void plain_sum_f32(void *dst, const void *first, const void *second, size_t n);

#endif
