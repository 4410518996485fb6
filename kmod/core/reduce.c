// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reduction kernels: the integers', and which kernel serves what. See reduce.h.
 *
 * Integer kernels are plain C, as they must run where the FPU may not be used. Operands have no
 * alignment, so elements travel by memcpy(), which compiles to a load or a store. Sums are computed
 * unsigned, so that they wrap.
 */
#include "reduce.h"

#include "../simd/simd.h"

#define INTEGER_KERNEL(name, type, expression)				\
static void name(void *dst, const void *src, size_t n)			\
{									\
	const char *s = src;						\
	char *d = dst;							\
	type a, b;							\
									\
	for (; n; n--, d += sizeof(a), s += sizeof(a)) {		\
		memcpy(&a, d, sizeof(a));				\
		memcpy(&b, s, sizeof(b));				\
		a = (expression);					\
		memcpy(d, &a, sizeof(a));				\
	}								\
}

#define SUM	(a + b)
#define LESSER	(b < a ? b : a)
#define GREATER	(b > a ? b : a)

INTEGER_KERNEL(sum_8, u8, SUM)
INTEGER_KERNEL(sum_16, u16, SUM)
INTEGER_KERNEL(sum_32, u32, SUM)
INTEGER_KERNEL(sum_64, u64, SUM)

INTEGER_KERNEL(min_s8, s8, LESSER)
INTEGER_KERNEL(min_s16, s16, LESSER)
INTEGER_KERNEL(min_s32, s32, LESSER)
INTEGER_KERNEL(min_s64, s64, LESSER)
INTEGER_KERNEL(min_u8, u8, LESSER)
INTEGER_KERNEL(min_u16, u16, LESSER)
INTEGER_KERNEL(min_u32, u32, LESSER)
INTEGER_KERNEL(min_u64, u64, LESSER)

INTEGER_KERNEL(max_s8, s8, GREATER)
INTEGER_KERNEL(max_s16, s16, GREATER)
INTEGER_KERNEL(max_s32, s32, GREATER)
INTEGER_KERNEL(max_s64, s64, GREATER)
INTEGER_KERNEL(max_u8, u8, GREATER)
INTEGER_KERNEL(max_u16, u16, GREATER)
INTEGER_KERNEL(max_u32, u32, GREATER)
INTEGER_KERNEL(max_u64, u64, GREATER)

#define INTEGER_ROW(bits, type) {					\
	[TORCOLL_SUM] = sum_##bits,					\
	[TORCOLL_MIN] = min_##type,					\
	[TORCOLL_MAX] = max_##type,					\
}

static const tor_reduce_fn integer_kernels[TORCOLL_TYPE_COUNT][TORCOLL_REDOP_COUNT] = {
	[TORCOLL_I8] = INTEGER_ROW(8, s8),
	[TORCOLL_I16] = INTEGER_ROW(16, s16),
	[TORCOLL_I32] = INTEGER_ROW(32, s32),
	[TORCOLL_I64] = INTEGER_ROW(64, s64),
	[TORCOLL_U8] = INTEGER_ROW(8, u8),
	[TORCOLL_U16] = INTEGER_ROW(16, u16),
	[TORCOLL_U32] = INTEGER_ROW(32, u32),
	[TORCOLL_U64] = INTEGER_ROW(64, u64),
};

static const struct tor_simd *float_kernels = &tor_simd_sse2;

static const u8 type_sizes[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_I8] = 1,
	[TORCOLL_I16] = 2,
	[TORCOLL_I32] = 4,
	[TORCOLL_I64] = 8,
	[TORCOLL_U8] = 1,
	[TORCOLL_U16] = 2,
	[TORCOLL_U32] = 4,
	[TORCOLL_U64] = 8,
	[TORCOLL_F16] = 2,
	[TORCOLL_BF16] = 2,
	[TORCOLL_F32] = 4,
	[TORCOLL_F64] = 8,
	[TORCOLL_FLOAT_INT] = 8,
	[TORCOLL_DOUBLE_INT] = 16,	/* 12 and padding */
	[TORCOLL_LONG_INT] = 16,	/* 12 and padding */
	[TORCOLL_2INT] = 8,
	[TORCOLL_SHORT_INT] = 8,	/* 2, padding, 4 */
};

u32 tor_type_size(u32 type)
{
	return type < TORCOLL_TYPE_COUNT ? type_sizes[type] : 0;
}

bool tor_type_is_float(u32 type)
{
	switch (type) {
	case TORCOLL_F16:
	case TORCOLL_BF16:
	case TORCOLL_F32:
	case TORCOLL_F64:
	case TORCOLL_FLOAT_INT:
	case TORCOLL_DOUBLE_INT:
		return true;
	default:
		return false;
	}
}

static tor_reduce_fn float_kernel(const struct tor_simd_type *kernels, u32 redop)
{
	switch (redop) {
	case TORCOLL_SUM:
		return kernels->sum;
	case TORCOLL_MIN:
		return kernels->min;
	case TORCOLL_MAX:
		return kernels->max;
	default:
		return NULL;
	}
}

tor_reduce_fn tor_reduce_kernel(u32 type, u32 redop)
{
	if (type >= TORCOLL_TYPE_COUNT || redop >= TORCOLL_REDOP_COUNT)
		return NULL;
	switch (type) {
	case TORCOLL_F32:
		return float_kernel(&float_kernels->f32, redop);
	case TORCOLL_F64:
		return float_kernel(&float_kernels->f64, redop);
	default:
		return integer_kernels[type][redop];
	}
}

void tor_reduce_init(bool avx2)
{
	float_kernels = avx2 ? &tor_simd_avx2 : &tor_simd_sse2;
}
