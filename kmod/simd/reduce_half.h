/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels of the 16-bit floats, part of reduce_float.h. Sums and products are
 * computed in f32 and rounded to nearest, ties to even, once per step. Minima
 * and maxima are computed on integers only: apart from its sign, the bits of a
 * float are ordered like numbers.
 *
 * The elements after the last whole vector are padded to one more vector, so
 * there is a single way of computing.
 */
#ifdef __CHECKER__
/* sparse knows vectors, but not this builtin */
#define __builtin_convertvector(v, type)	((type)(v))
#endif

typedef unsigned short TOR_SIMD_NAME(half_vec) __attribute__((__vector_size__(TOR_SIMD_BYTES / 2)));
typedef unsigned int TOR_SIMD_NAME(bits_vec) __attribute__((__vector_size__(TOR_SIMD_BYTES)));
typedef float TOR_SIMD_NAME(wide_vec) __attribute__((__vector_size__(TOR_SIMD_BYTES)));
typedef int TOR_SIMD_NAME(int_vec) __attribute__((__vector_size__(TOR_SIMD_BYTES)));
typedef short TOR_SIMD_NAME(key_vec) __attribute__((__vector_size__(TOR_SIMD_BYTES)));

#define HALF_VEC	TOR_SIMD_NAME(half_vec)
#define BITS_VEC	TOR_SIMD_NAME(bits_vec)
#define INT_VEC		TOR_SIMD_NAME(int_vec)
#define WIDE_VEC	TOR_SIMD_NAME(wide_vec)
#define KEY_VEC		TOR_SIMD_NAME(key_vec)

#pragma pack(push, 1)
struct one_half {
	short v;
} TOR_SIMD_MAY_ALIAS;

struct vec_half {
	HALF_VEC v;
} TOR_SIMD_MAY_ALIAS;

struct vec_bits {
	BITS_VEC v;
} TOR_SIMD_MAY_ALIAS;

struct vec_key {
	KEY_VEC v;
} TOR_SIMD_MAY_ALIAS;
#pragma pack(pop)

#define TOR_SIMD_SELECT(mask, a, b)	(((a) & (BITS_VEC)(mask)) | ((b) & ~(BITS_VEC)(mask)))

#ifdef TOR_SIMD_WIDEN
static inline WIDE_VEC TOR_SIMD_NAME(widen_f16)(HALF_VEC h)
{
	WIDE_VEC f;

	TOR_SIMD_WIDEN(f, h);
	return f;
}

static inline HALF_VEC TOR_SIMD_NAME(narrow_f16)(WIDE_VEC f)
{
	HALF_VEC h;

	TOR_SIMD_NARROW(h, f);
	return h;
}
#else
/*
 * Exponents: 5 bits biased by 15 become 8 bits biased by 127, so 112 is added;
 * all ones stay all ones.
 */
static inline WIDE_VEC TOR_SIMD_NAME(widen_f16)(HALF_VEC h)
{
	BITS_VEC x = __builtin_convertvector(h, BITS_VEC);
	BITS_VEC sign = (x & 0x8000) << 16;
	BITS_VEC rest = (x & 0x7fff) << 13;
	BITS_VEC normal = rest + (112U << 23);
	BITS_VEC special = rest + (224U << 23);
	/*
	 * without a leading one: as the fraction of 2^-14, which is then
	 * subtracted exactly
	 */
	BITS_VEC one = rest + (113U << 23);
	WIDE_VEC small = (WIDE_VEC)one - (WIDE_VEC)(rest - rest + (113U << 23));

	normal = TOR_SIMD_SELECT((INT_VEC)rest >= (0x7c00 << 13), special, normal);
	normal = TOR_SIMD_SELECT((INT_VEC)rest < (0x400 << 13), (BITS_VEC)small, normal);
	return (WIDE_VEC)(normal | sign);
}

static inline HALF_VEC TOR_SIMD_NAME(narrow_f16)(WIDE_VEC f)
{
	BITS_VEC x = (BITS_VEC)f;
	BITS_VEC sign = (x >> 16) & 0x8000;
	BITS_VEC a = x & 0x7fffffff;
	BITS_VEC normal = (a - (112U << 23) + 0xfff + ((a >> 13) & 1)) >> 13;
	BITS_VEC nan = 0x7e00 | ((a >> 13) & 0x3ff);
	/*
	 * below 2^-14: the FPU rounds it when it is added to 0.5, whose last
	 * place is 2^-24
	 */
	BITS_VEC half = a - a + 0x3f000000;
	BITS_VEC small = (BITS_VEC)((WIDE_VEC)a + (WIDE_VEC)half) - half;
	BITS_VEC r;

	r = TOR_SIMD_SELECT((INT_VEC)a >= 0x47800000, a - a + 0x7c00, normal);
	r = TOR_SIMD_SELECT((INT_VEC)a > 0x7f800000, nan, r);
	r = TOR_SIMD_SELECT((INT_VEC)a < 0x38800000, small, r);
	return __builtin_convertvector(r | sign, HALF_VEC);
}
#endif

/*
 * a op b. A multiplication by one with addition, rounded once, is an addition.
 * AMD processors execute it in the multiplier units, while their adder units
 * are busy with conversions and shifts.
 */
static inline WIDE_VEC TOR_SIMD_NAME(add)(WIDE_VEC a, WIDE_VEC b)
{
	WIDE_VEC r = a;

#ifdef TOR_SIMD_MULTIPLY_ADD
	BITS_VEC x = (BITS_VEC)a;

	TOR_SIMD_MULTIPLY_ADD(r, (WIDE_VEC)(x - x + 0x3f800000), b);
#else
	TOR_SIMD_DO(add, vec_f32, r, b);
#endif
	TOR_SIMD_MEND(vec, 32, r, a, b);
	return r;
}

static inline WIDE_VEC TOR_SIMD_NAME(mul)(WIDE_VEC a, WIDE_VEC b)
{
	WIDE_VEC r = a;

	TOR_SIMD_DO(mul, vec_f32, r, b);
	TOR_SIMD_MEND(vec, 32, r, a, b);
	return r;
}

static inline WIDE_VEC TOR_SIMD_NAME(div)(WIDE_VEC a, WIDE_VEC b)
{
	WIDE_VEC r = a;

	TOR_SIMD_DO(div, vec_f32, r, b);
	TOR_SIMD_MEND(vec, 32, r, a, b);
	return r;
}

/* As TOR_SIMD_BOTH_STEP. */
static inline WIDE_VEC TOR_SIMD_NAME(add_both)(WIDE_VEC a, WIDE_VEC b)
{
	return (WIDE_VEC)((BITS_VEC)TOR_SIMD_NAME(add)(a, b) | (BITS_VEC)TOR_SIMD_NAME(add)(b, a));
}

static inline WIDE_VEC TOR_SIMD_NAME(mul_both)(WIDE_VEC a, WIDE_VEC b)
{
	return (WIDE_VEC)((BITS_VEC)TOR_SIMD_NAME(mul)(a, b) | (BITS_VEC)TOR_SIMD_NAME(mul)(b, a));
}

#define TOR_SIMD_F16_STEP(op)								\
static inline void									\
TOR_SIMD_NAME(op##_step_f16)(char *d, const char *f, const char *s)			\
{											\
	WIDE_VEC a = TOR_SIMD_NAME(widen_f16)(((const struct vec_half *)f)->v);		\
	WIDE_VEC b = TOR_SIMD_NAME(widen_f16)(((const struct vec_half *)s)->v);		\
											\
	a = TOR_SIMD_NAME(op)(a, b);							\
	((struct vec_half *)d)->v = TOR_SIMD_NAME(narrow_f16)(a);			\
}

/*
 * A word holds two bf16: the upper one is a float when the lower one is masked
 * out, the lower one when it is shifted up. No data moves between lanes. Which
 * of the two is the first in memory does not matter.
 *
 * The two results are rounded and joined here, in two ways, depending on what
 * the instruction set is good at. A NaN stays the same: it is quiet, and either
 * one of the operands or the default one, so its lower half is 0.
 */
#ifdef TOR_SIMD_TERNARY
/*
 * After adding half a unit, truncation is right except for ties, whose result
 * must be even: the last bit is cleared where x + 0x17fff has it set as well,
 * which is the case in ties only.
 */
static inline BITS_VEC TOR_SIMD_NAME(round_word)(BITS_VEC x)
{
	BITS_VEC one = x - x + 0x10000;
	BITS_VEC r = x + 0x8000;

	TOR_SIMD_TERNARY(TOR_SIMD_AND_NOT_AND, r, x + 0x17fff, one);
	return r;
}

static inline KEY_VEC TOR_SIMD_NAME(round_bf16)(WIDE_VEC upper, WIDE_VEC lower)
{
	BITS_VEC u = TOR_SIMD_NAME(round_word)((BITS_VEC)upper);
	BITS_VEC r = TOR_SIMD_NAME(round_word)((BITS_VEC)lower) >> 16;

	TOR_SIMD_TERNARY(TOR_SIMD_OR_AND, r, u, r - r + 0xffff0000);
	return (KEY_VEC)r;
}
#else
/* The upper words of @u and the lower words of @l. */
static inline KEY_VEC TOR_SIMD_NAME(join_words)(BITS_VEC u, BITS_VEC l)
{
#ifdef TOR_SIMD_JOIN_WORDS
	KEY_VEC r;

	TOR_SIMD_JOIN_WORDS(r, u, l);
	return r;
#else
	return (KEY_VEC)((u & 0xffff0000) | (l & 0xffff));
#endif
}

/*
 * Both at once, in 16 bits: the upper halves are the truncated results, the
 * lower halves decide whether they are rounded up. They are if the first bit of
 * the lower half is set, except in a tie, 0x8000, where they are if the result
 * is odd. So 1 is subtracted from the lower halves of even results, saturating
 * at 0, after which that bit alone decides.
 */
static inline KEY_VEC TOR_SIMD_NAME(round_bf16)(WIDE_VEC upper, WIDE_VEC lower)
{
	BITS_VEC u = (BITS_VEC)upper, l = (BITS_VEC)lower;
	KEY_VEC cut = TOR_SIMD_NAME(join_words)(u, l >> 16);
	KEY_VEC rest = TOR_SIMD_NAME(join_words)(u << 16, l);
	KEY_VEC even = ~cut & 1;

#ifdef TOR_SIMD_LESS_ONE
	TOR_SIMD_LESS_ONE(rest, even);
#else
	rest -= even & (rest != 0);
#endif
	return cut - (rest >> 15);
}
#endif

#define TOR_SIMD_BF16_STEP(op)								\
static inline void									\
TOR_SIMD_NAME(op##_step_bf16)(char *d, const char *f, const char *s)			\
{											\
	BITS_VEC to = ((const struct vec_bits *)f)->v;					\
	BITS_VEC from = ((const struct vec_bits *)s)->v;				\
	WIDE_VEC a = (WIDE_VEC)(to & 0xffff0000);					\
	WIDE_VEC b = (WIDE_VEC)(from & 0xffff0000);					\
	WIDE_VEC c = (WIDE_VEC)(to << 16);						\
	WIDE_VEC e = (WIDE_VEC)(from << 16);						\
											\
	a = TOR_SIMD_NAME(op)(a, b);							\
	c = TOR_SIMD_NAME(op)(c, e);							\
	((struct vec_key *)d)->v = TOR_SIMD_NAME(round_bf16)(a, c);			\
}

/*
 * Takes the second where it precedes the first or is the only NaN; two NaNs are
 * or'ed. As 16-bit numbers, -0 precedes +0.
 */
#define TOR_SIMD_KEY(x)		((x) ^ (((x) >> 15) & 0x7fff))
#define TOR_SIMD_HALF_PICK(type, name, before, infinity)				\
static inline void								\
TOR_SIMD_NAME(name##_step_##type)(char *d, const char *f, const char *s)		\
{											\
	KEY_VEC a = ((const struct vec_key *)f)->v;					\
	KEY_VEC b = ((const struct vec_key *)s)->v;					\
	KEY_VEC nan_a = (a & 0x7fff) > (infinity);					\
	KEY_VEC nan_b = (b & 0x7fff) > (infinity);					\
	KEY_VEC take = ((TOR_SIMD_KEY(b) before TOR_SIMD_KEY(a)) | nan_b) & ~nan_a;	\
											\
	((struct vec_key *)d)->v = (b & (take | (nan_a & nan_b))) | (a & ~take);	\
}

#define TOR_SIMD_HALF_KERNEL(name, step, bytes)						\
static void TOR_SIMD_NAME(name)(void *dst, const void *first, const void *second,	\
				__SIZE_TYPE__ n)					\
{											\
	struct one_half from[(bytes) / 2], to[(bytes) / 2];				\
	const char *f = first, *s = second;						\
	char *d = dst;									\
	__SIZE_TYPE__ i;								\
											\
	_Pragma("GCC unroll 4")								\
	for (; n >= (bytes) / 2; n -= (bytes) / 2) {					\
		TOR_SIMD_NAME(step)(d, f, s);						\
		d += (bytes);								\
		f += (bytes);								\
		s += (bytes);								\
	}										\
	if (n) {									\
		for (i = 0; i < (bytes) / 2; i++) {					\
			from[i].v = i < n ? ((const struct one_half *)s)[i].v : 0;	\
			to[i].v = i < n ? ((const struct one_half *)f)[i].v : 0;	\
		}									\
		TOR_SIMD_NAME(step)((char *)to, (const char *)to, (const char *)from);	\
		for (i = 0; i < n; i++)							\
			((struct one_half *)d)[i].v = to[i].v;				\
	}										\
}

TOR_SIMD_F16_STEP(add)
TOR_SIMD_F16_STEP(mul)
TOR_SIMD_F16_STEP(add_both)
TOR_SIMD_F16_STEP(mul_both)
TOR_SIMD_F16_STEP(div)
TOR_SIMD_BF16_STEP(add)
TOR_SIMD_BF16_STEP(mul)
TOR_SIMD_BF16_STEP(add_both)
TOR_SIMD_BF16_STEP(mul_both)
TOR_SIMD_BF16_STEP(div)
TOR_SIMD_HALF_PICK(f16, min, <, 0x7c00)
TOR_SIMD_HALF_PICK(f16, max, >, 0x7c00)
TOR_SIMD_HALF_PICK(bf16, min, <, 0x7f80)
TOR_SIMD_HALF_PICK(bf16, max, >, 0x7f80)

TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(sum_f16), add_step_f16, TOR_SIMD_BYTES / 2)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(prod_f16), mul_step_f16, TOR_SIMD_BYTES / 2)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(sum_both_f16), add_both_step_f16, TOR_SIMD_BYTES / 2)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(prod_both_f16), mul_both_step_f16, TOR_SIMD_BYTES / 2)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(div_f16), div_step_f16, TOR_SIMD_BYTES / 2)
TOR_SIMD_HALF_KERNEL(min_f16, min_step_f16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(max_f16, max_step_f16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(sum_bf16), add_step_bf16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(prod_bf16), mul_step_bf16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(sum_both_bf16), add_both_step_bf16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(prod_both_bf16), mul_both_step_bf16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(TOR_SIMD_CAREFUL(div_bf16), div_step_bf16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(min_bf16, min_step_bf16, TOR_SIMD_BYTES)
TOR_SIMD_HALF_KERNEL(max_bf16, max_step_bf16, TOR_SIMD_BYTES)
