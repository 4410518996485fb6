// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reduction kernels of pairs. See reduce_pair.h.
 */
#include "core/reduce/reduce_pair.h"

/* The layout of these structs in C on x86-64. */
struct float_int {
	u32 value;
	s32 index;
};

struct double_int {
	u64 value;
	s32 index;
	u32 padding;
};

struct long_int {
	s64 value;
	s32 index;
	u32 padding;
};

struct two_int {
	s32 value;
	s32 index;
};

struct short_int {
	s16 value;
	u16 padding;
	s32 index;
};

/* A number in the order of the values: floats by their bits, with one zero. */
static s64 key_float(u32 bits)
{
	s32 magnitude = bits & (U32_MAX >> 1);

	return bits >> 31 ? -(s64)magnitude : magnitude;
}

static s64 key_double(u64 bits)
{
	s64 magnitude = bits & (U64_MAX >> 1);

	return bits >> 63 ? -magnitude : magnitude;
}

static bool nan_float(u32 bits)
{
	return (bits & (U32_MAX >> 1)) > 0x7f800000;
}

static bool nan_double(u64 bits)
{
	return (bits & (U64_MAX >> 1)) > 0x7ff0000000000000ULL;
}

static s64 key_integer(s64 value)
{
	return value;
}

static bool nan_integer(s64 value)
{
	return false;
}

/* Selects the first or the second: @before says which of two keys wins. */
#define PAIR_KERNEL(name, type, key, nan, before)			\
static void name(void *dst, const void *first, const void *second, size_t n)	\
{									\
	const char *f = first, *s = second;				\
	char *d = dst;							\
	struct type a, b;						\
									\
	for (; n; n--, d += sizeof(a), f += sizeof(a), s += sizeof(a)) {	\
		bool nan_a, nan_b, take;				\
									\
		memcpy(&a, f, sizeof(a));				\
		memcpy(&b, s, sizeof(b));				\
		nan_a = nan(a.value);					\
		nan_b = nan(b.value);					\
		if (nan_a != nan_b)					\
			take = nan_b;					\
		else if (!nan_a && key(a.value) != key(b.value))	\
			take = key(b.value) before key(a.value);	\
		else if (a.index != b.index)				\
			take = b.index < a.index;			\
		else							\
			take = b.value < a.value;			\
		memcpy(d, take ? &b : &a, sizeof(a));			\
	}								\
}

PAIR_KERNEL(min_float_int, float_int, key_float, nan_float, <)
PAIR_KERNEL(max_float_int, float_int, key_float, nan_float, >)
PAIR_KERNEL(min_double_int, double_int, key_double, nan_double, <)
PAIR_KERNEL(max_double_int, double_int, key_double, nan_double, >)
PAIR_KERNEL(min_long_int, long_int, key_integer, nan_integer, <)
PAIR_KERNEL(max_long_int, long_int, key_integer, nan_integer, >)
PAIR_KERNEL(min_two_int, two_int, key_integer, nan_integer, <)
PAIR_KERNEL(max_two_int, two_int, key_integer, nan_integer, >)
PAIR_KERNEL(min_short_int, short_int, key_integer, nan_integer, <)
PAIR_KERNEL(max_short_int, short_int, key_integer, nan_integer, >)

static const struct {
	tor_reduce_fn minloc;
	tor_reduce_fn maxloc;
} pair_kernels[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_FLOAT_INT] = { min_float_int, max_float_int },
	[TORCOLL_DOUBLE_INT] = { min_double_int, max_double_int },
	[TORCOLL_LONG_INT] = { min_long_int, max_long_int },
	[TORCOLL_2INT] = { min_two_int, max_two_int },
	[TORCOLL_SHORT_INT] = { min_short_int, max_short_int },
};

tor_reduce_fn tor_reduce_pair_kernel(u32 type, u32 redop)
{
	if (type >= TORCOLL_TYPE_COUNT)
		return NULL;
	switch (redop) {
	case TORCOLL_MINLOC:
		return pair_kernels[type].minloc;
	case TORCOLL_MAXLOC:
		return pair_kernels[type].maxloc;
	default:
		return NULL;
	}
}
