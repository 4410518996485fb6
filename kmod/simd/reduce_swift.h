/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums, products and quotients where NaNs must be replaced, part of
 * reduce_float.h. Replacing costs three times as much as adding, and almost
 * never is there one: so four vectors are computed at a time, and only if one
 * of the results is not a number, the careful kernel computes them again. It
 * also computes what is left after the last four.
 *
 * A step computes a vector of results from memory, in registers, and returns a
 * mask with all bits set if all of them are numbers.
 */
typedef long long TOR_SIMD_NAME(mask_vec) __attribute__((__vector_size__(TOR_SIMD_BYTES)));

#define MASK_VEC	TOR_SIMD_NAME(mask_vec)

#pragma pack(push, 1)
struct vec_mask {
	MASK_VEC v;
} TOR_SIMD_MAY_ALIAS;
#pragma pack(pop)

#define TOR_SIMD_SWIFT_STEP(name, type, op)						\
static inline MASK_VEC									\
TOR_SIMD_NAME(swift_##name)(MASK_VEC *r, const char *f, const char *s)			\
{											\
	__typeof__(((struct type *)0)->v) a = ((const struct type *)f)->v;		\
											\
	TOR_SIMD_DO(op, type, a, ((const struct type *)s)->v);				\
	*r = (MASK_VEC)a;								\
	return (MASK_VEC)(a == a);							\
}

/* Two bf16 in a word: see reduce_half.h. */
#define TOR_SIMD_SWIFT_BF16_STEP(name, op)						\
static inline MASK_VEC									\
TOR_SIMD_NAME(swift_##name)(MASK_VEC *r, const char *f, const char *s)			\
{											\
	BITS_VEC first = ((const struct vec_bits *)f)->v;				\
	BITS_VEC second = ((const struct vec_bits *)s)->v;				\
	WIDE_VEC u = (WIDE_VEC)(first & 0xffff0000);					\
	WIDE_VEC l = (WIDE_VEC)(first << 16);						\
											\
	TOR_SIMD_DO(op, vec_f32, u, (WIDE_VEC)(second & 0xffff0000));			\
	TOR_SIMD_DO(op, vec_f32, l, (WIDE_VEC)(second << 16));				\
	*r = (MASK_VEC)TOR_SIMD_NAME(round_bf16)(u, l);					\
	return (MASK_VEC)((u == u) & (l == l));						\
}

#ifdef TOR_SIMD_NUMBER_F16
#define TOR_SIMD_SWIFT_F16_STEP(name, op)						\
static inline MASK_VEC									\
TOR_SIMD_NAME(swift_##name)(MASK_VEC *r, const char *f, const char *s)			\
{											\
	MASK_VEC a = ((const struct vec_mask *)f)->v, number;				\
											\
	TOR_SIMD_DO(op, vec_f16, a, ((const struct vec_mask *)s)->v);			\
	TOR_SIMD_NUMBER_F16(number, a);							\
	*r = a;										\
	return number;									\
}
#else
static inline WIDE_VEC TOR_SIMD_NAME(widen_at)(const char *at)
{
	return TOR_SIMD_NAME(widen_f16)(((const struct vec_half *)at)->v);
}

#define TOR_SIMD_SWIFT_F16_STEP(name, op)						\
static inline MASK_VEC									\
TOR_SIMD_NAME(swift_##name)(MASK_VEC *r, const char *f, const char *s)			\
{											\
	WIDE_VEC a = TOR_SIMD_NAME(widen_at)(f);					\
	WIDE_VEC b = TOR_SIMD_NAME(widen_at)(f + TOR_SIMD_BYTES / 2);			\
											\
	TOR_SIMD_DO(op, vec_f32, a, TOR_SIMD_NAME(widen_at)(s));			\
	TOR_SIMD_DO(op, vec_f32, b, TOR_SIMD_NAME(widen_at)(s + TOR_SIMD_BYTES / 2));	\
	*r = (MASK_VEC){ (long long)TOR_SIMD_NAME(narrow_f16)(a),			\
			 (long long)TOR_SIMD_NAME(narrow_f16)(b) };			\
	return (MASK_VEC)((a == a) & (b == b));						\
}
#endif

#define TOR_SIMD_SWIFT_KERNEL(name, step, size)						\
static void TOR_SIMD_NAME(name)(void *dst, const void *first, const void *second,	\
				__SIZE_TYPE__ n)					\
{											\
	const __SIZE_TYPE__ bytes = TOR_SIMD_BYTES, four = 4 * bytes / (size);		\
	const char *f = first, *s = second;						\
	char *d = dst;									\
											\
	for (; n >= four; n -= four) {							\
		MASK_VEC r0, r1, r2, r3, number;					\
											\
		number = TOR_SIMD_NAME(swift_##step)(&r0, f, s);			\
		number &= TOR_SIMD_NAME(swift_##step)(&r1, f + bytes, s + bytes);	\
		number &= TOR_SIMD_NAME(swift_##step)(&r2, f + 2 * bytes, s + 2 * bytes); \
		number &= TOR_SIMD_NAME(swift_##step)(&r3, f + 3 * bytes, s + 3 * bytes); \
		if (__builtin_expect((number[0] & number[1]) != -1, 0)) {		\
			TOR_SIMD_NAME(careful_##name)(d, f, s, four);			\
		} else {								\
			((struct vec_mask *)d)->v = r0;					\
			((struct vec_mask *)(d + bytes))->v = r1;			\
			((struct vec_mask *)(d + 2 * bytes))->v = r2;			\
			((struct vec_mask *)(d + 3 * bytes))->v = r3;			\
		}									\
		d += 4 * bytes;								\
		f += 4 * bytes;								\
		s += 4 * bytes;								\
	}										\
	if (n)										\
		TOR_SIMD_NAME(careful_##name)(d, f, s, n);				\
}

TOR_SIMD_SWIFT_STEP(add_f32, vec_f32, add)
TOR_SIMD_SWIFT_STEP(mul_f32, vec_f32, mul)
TOR_SIMD_SWIFT_STEP(div_f32, vec_f32, div)
TOR_SIMD_SWIFT_STEP(add_f64, vec_f64, add)
TOR_SIMD_SWIFT_STEP(mul_f64, vec_f64, mul)
TOR_SIMD_SWIFT_STEP(div_f64, vec_f64, div)
TOR_SIMD_SWIFT_BF16_STEP(add_bf16, add)
TOR_SIMD_SWIFT_BF16_STEP(mul_bf16, mul)
TOR_SIMD_SWIFT_BF16_STEP(div_bf16, div)
TOR_SIMD_SWIFT_F16_STEP(add_f16, add)
TOR_SIMD_SWIFT_F16_STEP(mul_f16, mul)
TOR_SIMD_SWIFT_F16_STEP(div_f16, div)

/* Commuting variants differ in NaNs alone. */
TOR_SIMD_SWIFT_KERNEL(sum_f16, add_f16, 2)
TOR_SIMD_SWIFT_KERNEL(prod_f16, mul_f16, 2)
TOR_SIMD_SWIFT_KERNEL(sum_both_f16, add_f16, 2)
TOR_SIMD_SWIFT_KERNEL(prod_both_f16, mul_f16, 2)
TOR_SIMD_SWIFT_KERNEL(div_f16, div_f16, 2)
TOR_SIMD_SWIFT_KERNEL(sum_bf16, add_bf16, 2)
TOR_SIMD_SWIFT_KERNEL(prod_bf16, mul_bf16, 2)
TOR_SIMD_SWIFT_KERNEL(sum_both_bf16, add_bf16, 2)
TOR_SIMD_SWIFT_KERNEL(prod_both_bf16, mul_bf16, 2)
TOR_SIMD_SWIFT_KERNEL(div_bf16, div_bf16, 2)
TOR_SIMD_SWIFT_KERNEL(sum_f32, add_f32, 4)
TOR_SIMD_SWIFT_KERNEL(prod_f32, mul_f32, 4)
TOR_SIMD_SWIFT_KERNEL(sum_both_f32, add_f32, 4)
TOR_SIMD_SWIFT_KERNEL(prod_both_f32, mul_f32, 4)
TOR_SIMD_SWIFT_KERNEL(div_f32, div_f32, 4)
TOR_SIMD_SWIFT_KERNEL(sum_f64, add_f64, 8)
TOR_SIMD_SWIFT_KERNEL(prod_f64, mul_f64, 8)
TOR_SIMD_SWIFT_KERNEL(sum_both_f64, add_f64, 8)
TOR_SIMD_SWIFT_KERNEL(prod_both_f64, mul_f64, 8)
TOR_SIMD_SWIFT_KERNEL(div_f64, div_f64, 8)
