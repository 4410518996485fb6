// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Selection of kernels, and the integer kernels. See reduce.h. */
#include "core/reduce/reduce.h"

#include "core/reduce/reduce_pair.h"
#include "simd/simd.h"

#define TYPE s8
#include "core/reduce/reduce_integer.h"
#define TYPE s16
#include "core/reduce/reduce_integer.h"
#define TYPE s32
#include "core/reduce/reduce_integer.h"
#define TYPE s64
#include "core/reduce/reduce_integer.h"
#define TYPE u8
#include "core/reduce/reduce_integer.h"
#define TYPE u16
#include "core/reduce/reduce_integer.h"
#define TYPE u32
#include "core/reduce/reduce_integer.h"
#define TYPE u64
#include "core/reduce/reduce_integer.h"

static const tor_reduce_fn *const integer_kernels[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_I8] = kernels_s8,
	[TORCOLL_I16] = kernels_s16,
	[TORCOLL_I32] = kernels_s32,
	[TORCOLL_I64] = kernels_s64,
	[TORCOLL_U8] = kernels_u8,
	[TORCOLL_U16] = kernels_u16,
	[TORCOLL_U32] = kernels_u32,
	[TORCOLL_U64] = kernels_u64,
};

static const struct tor_simd *const simd[TOR_ISA_COUNT] = {
#if defined(__x86_64__)
	[TOR_ISA_SSE2] = &tor_simd_sse2,
	[TOR_ISA_AVX2] = &tor_simd_avx2,
	[TOR_ISA_AVX512] = &tor_simd_avx512,
#elif defined(__aarch64__)
	[TOR_ISA_NEON] = &tor_simd_neon,
	[TOR_ISA_FP16] = &tor_simd_fp16,
#else
	[TOR_ISA_PLAIN] = &tor_simd_plain,
#endif
};

static const struct tor_simd_type *float_kernels[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_F16] = &TOR_SIMD_FIRST.f16,
	[TORCOLL_BF16] = &TOR_SIMD_FIRST.bf16,
	[TORCOLL_F32] = &TOR_SIMD_FIRST.f32,
	[TORCOLL_F64] = &TOR_SIMD_FIRST.f64,
};

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
	return type == TORCOLL_F16 || type == TORCOLL_BF16 || type == TORCOLL_F32 ||
	       type == TORCOLL_F64;
}

bool tor_reduce_exact(u32 type, u32 redop)
{
	return !tor_type_is_float(type) || redop == TORCOLL_MIN || redop == TORCOLL_MAX;
}

static tor_reduce_fn reduce_float_kernel(const struct tor_simd_type *kernels, u32 redop)
{
	switch (redop) {
	case TORCOLL_SUM:
	case TORCOLL_AVG:
	case TORCOLL_PREMULSUM:
		return kernels->sum;
	case TORCOLL_PROD:
		return kernels->prod;
	case TORCOLL_MIN:
		return kernels->min;
	case TORCOLL_MAX:
		return kernels->max;
	default:
		return NULL;
	}
}

static const struct tor_simd_type *reduce_float_kernels(u32 type)
{
	return type < TORCOLL_TYPE_COUNT ? float_kernels[type] : NULL;
}

static const tor_reduce_fn integer_quotients[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_I8] = quotient_s8,
	[TORCOLL_I16] = quotient_s16,
	[TORCOLL_I32] = quotient_s32,
	[TORCOLL_I64] = quotient_s64,
	[TORCOLL_U8] = quotient_u8,
	[TORCOLL_U16] = quotient_u16,
	[TORCOLL_U32] = quotient_u32,
	[TORCOLL_U64] = quotient_u64,
};

tor_reduce_fn tor_reduce_quotient(u32 type)
{
	const struct tor_simd_type *kernels = reduce_float_kernels(type);

	if (kernels)
		return kernels->div;
	return type < TORCOLL_TYPE_COUNT ? integer_quotients[type] : NULL;
}

tor_reduce_fn tor_reduce_kernel(u32 type, u32 redop)
{
	if (type >= TORCOLL_TYPE_COUNT || redop >= TORCOLL_REDOP_COUNT)
		return NULL;
	if (reduce_float_kernels(type))
		return reduce_float_kernel(reduce_float_kernels(type), redop);
	switch (type) {
	case TORCOLL_FLOAT_INT:
	case TORCOLL_DOUBLE_INT:
	case TORCOLL_LONG_INT:
	case TORCOLL_2INT:
	case TORCOLL_SHORT_INT:
		return tor_reduce_pair_kernel(type, redop);
	default:
		return integer_kernels[type] ? integer_kernels[type][redop] : NULL;
	}
}

tor_reduce_fn tor_reduce_commuting(u32 type, u32 redop)
{
	tor_reduce_fn fn = tor_reduce_kernel(type, redop);
	const struct tor_simd_type *kernels = reduce_float_kernels(type);

	if (kernels && fn == kernels->sum)
		return kernels->sum_both;
	if (kernels && fn == kernels->prod)
		return kernels->prod_both;
	return fn;
}

void tor_reduce_use(u32 type, enum tor_isa isa)
{
	switch (type) {
	case TORCOLL_F16:
		float_kernels[type] = &simd[isa]->f16;
		break;
	case TORCOLL_BF16:
		float_kernels[type] = &simd[isa]->bf16;
		break;
	case TORCOLL_F32:
		float_kernels[type] = &simd[isa]->f32;
		break;
	case TORCOLL_F64:
		float_kernels[type] = &simd[isa]->f64;
		break;
	}
}

void tor_reduce_init(enum tor_isa isa)
{
	u32 type;

	for (type = 0; type < TORCOLL_TYPE_COUNT; type++)
		tor_reduce_use(type, isa);
}
