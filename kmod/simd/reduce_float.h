/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The float kernels, written once for all instruction sets. The including file
 * defines
 *
 *	TOR_SIMD_NAME(x)	x with the suffix of the variant
 *	TOR_SIMD_BYTES		bytes of a vector
 *	TOR_SIMD_DO(op, form, a, b)
 *				a = a op b, op being add, mul or div, and form
 *				vec_f32, one_f32, vec_f64 or one_f64
 *	TOR_SIMD_OWN_NANS	1 where NaNs differ from those of x86, or 0
 *
 * possibly TOR_SIMD_SWIFT: see reduce_swift.h; and, for reduce_half.h, those of
 * these for which it has instructions: TOR_SIMD_WIDEN(f, h), TOR_SIMD_NARROW(h, f),
 * TOR_SIMD_MULTIPLY_ADD(a, one, b), TOR_SIMD_JOIN_WORDS(r, u, l),
 * TOR_SIMD_TERNARY(table, a, b, c), TOR_SIMD_LESS_ONE(rest, one).
 *
 * Which NaN is the result is defined as x86 has it: of two NaN operands the
 * first one, quiet; of none the default one, which is negative. On x86, sums
 * and products need asm for it: the compiler, for which addition commutes, may
 * swap the operands in one variant and not in another. Others prefer signalling
 * NaNs, or have a positive default: results that are NaN are replaced. Comparisons and selections are exact, so they are left to
 * the compiler.
 *
 * Flags: -ffp-contract=off and those of the instruction set (-msse2, -mavx2);
 * in the kernel those that forbid floats are removed.
 */
#include "simd/simd.h"

#define TOR_SIMD_MAY_ALIAS	__attribute__((__may_alias__))
#define TOR_SIMD_VECTOR		__attribute__((__vector_size__(TOR_SIMD_BYTES)))

/* Memory as vectors and as elements, values and their bits, at any address. */
#pragma pack(push, 1)
struct vec_f32 {
	float v TOR_SIMD_VECTOR;
} TOR_SIMD_MAY_ALIAS;

struct vec_i32 {
	int v TOR_SIMD_VECTOR;
} TOR_SIMD_MAY_ALIAS;

struct vec_f64 {
	double v TOR_SIMD_VECTOR;
} TOR_SIMD_MAY_ALIAS;

struct vec_i64 {
	long long v TOR_SIMD_VECTOR;
} TOR_SIMD_MAY_ALIAS;

struct one_f32 {
	float v;
} TOR_SIMD_MAY_ALIAS;

struct one_i32 {
	int v;
} TOR_SIMD_MAY_ALIAS;

struct one_f64 {
	double v;
} TOR_SIMD_MAY_ALIAS;

struct one_i64 {
	long long v;
} TOR_SIMD_MAY_ALIAS;
#pragma pack(pop)

/*
 * A comparison of vectors gives masks of -1 and 0, one of scalars gives 1 and
 * 0, of which this makes a mask.
 */
#define TOR_SIMD_MASK_vec(x)	(x)
#define TOR_SIMD_MASK_one(x)	(-(x))

/* Of a NaN, and of the default one all bits that are set: minus the former. */
#define TOR_SIMD_QUIET_32	0x00400000
#define TOR_SIMD_QUIET_64	0x0008000000000000LL

/* Replaces the NaNs in @r, which is @a op @b, with those of x86. */
#define TOR_SIMD_MEND(form, width, r, a, b)						\
do {											\
	if (TOR_SIMD_OWN_NANS) {							\
		struct form##_i##width *to = (void *)&(r);				\
		__typeof__(to->v) abits = ((struct form##_i##width *)&(a))->v;		\
		__typeof__(to->v) bbits = ((struct form##_i##width *)&(b))->v;		\
		__typeof__(to->v) nan_a = TOR_SIMD_MASK_##form((a) != (a));		\
		__typeof__(to->v) nan_b = TOR_SIMD_MASK_##form((b) != (b)) & ~nan_a;	\
		__typeof__(to->v) made = TOR_SIMD_MASK_##form((r) != (r)) & ~nan_a & ~nan_b; \
											\
		to->v &= ~(nan_a | nan_b | made);					\
		to->v |= nan_a & (abits | TOR_SIMD_QUIET_##width);			\
		to->v |= nan_b & (bbits | TOR_SIMD_QUIET_##width);			\
		to->v |= made & -TOR_SIMD_QUIET_##width;				\
	}										\
} while (0)

#define TOR_SIMD_DO_STEP(form, width, op)						\
do {											\
	struct form##_f##width *dp = (void *)d;						\
	const struct form##_f##width *fp = (const void *)f;				\
	const struct form##_f##width *sp = (const void *)s;				\
	__typeof__(dp->v) a = fp->v, r = a;						\
											\
	TOR_SIMD_DO(op, form##_f##width, r, sp->v);					\
	TOR_SIMD_MEND(form, width, r, a, sp->v);					\
	dp->v = r;									\
} while (0)

/* Computes a op b and b op a, which differ only for two NaNs, and or's them. */
#define TOR_SIMD_BOTH_STEP(form, width, op)						\
do {											\
	const struct form##_f##width *fp = (const void *)f;				\
	const struct form##_f##width *sp = (const void *)s;				\
	struct form##_i##width *db = (void *)d;						\
	__typeof__(((struct form##_f##width *)0)->v) a = fp->v, b = sp->v;		\
	__typeof__(a) ab = a, ba = b;							\
											\
	TOR_SIMD_DO(op, form##_f##width, ab, b);					\
	TOR_SIMD_MEND(form, width, ab, a, b);						\
	TOR_SIMD_DO(op, form##_f##width, ba, a);					\
	TOR_SIMD_MEND(form, width, ba, b, a);						\
	db->v = ((struct form##_i##width *)&ab)->v | ((struct form##_i##width *)&ba)->v; \
} while (0)

/*
 * Takes the second value where it is strictly on the wanted side or the only
 * NaN, else the first. Where both are equal, their sign bits are joined: only
 * zeros can be equal but different. Two NaNs are or'ed.
 */
#define TOR_SIMD_PICK_STEP(form, width, before, join)					\
do {											\
	const struct form##_f##width *fp = (const void *)f;				\
	const struct form##_f##width *sp = (const void *)s;				\
	struct form##_i##width *db = (void *)d;						\
	__typeof__(((struct form##_f##width *)0)->v) a = fp->v;				\
	__typeof__(a) b = sp->v;							\
	__typeof__(db->v) abits = ((struct form##_i##width *)&a)->v;			\
	__typeof__(db->v) bbits = ((struct form##_i##width *)&b)->v;			\
	__typeof__(db->v) take = TOR_SIMD_MASK_##form(((b before a) | (b != b)) & (a == a)); \
	__typeof__(db->v) equal = TOR_SIMD_MASK_##form(a == b);				\
	__typeof__(db->v) nans = TOR_SIMD_MASK_##form((a != a) & (b != b));		\
											\
	db->v = (bbits & (take | nans)) | (join(abits, bbits, equal) & ~take);		\
} while (0)

#define TOR_SIMD_JOIN_MIN(a, b, equal)	((a) | ((b) & (equal)))
#define TOR_SIMD_JOIN_MAX(a, b, equal)	((a) & ((b) | ~(equal)))

/* A kernel: whole vectors by @vector, the remaining elements by @single. */
#define TOR_SIMD_KERNEL(name, size, vector, single)					\
static void TOR_SIMD_NAME(name)(void *dst, const void *first, const void *second,	\
				__SIZE_TYPE__ n)					\
{											\
	const char *f = first, *s = second;						\
	char *d = dst;									\
											\
	_Pragma("GCC unroll 4")								\
	for (; n >= TOR_SIMD_BYTES / (size); n -= TOR_SIMD_BYTES / (size)) {		\
		vector;									\
		d += TOR_SIMD_BYTES;							\
		f += TOR_SIMD_BYTES;							\
		s += TOR_SIMD_BYTES;							\
	}										\
	for (; n; n--) {								\
		single;									\
		d += (size);								\
		f += (size);								\
		s += (size);								\
	}										\
}

/* Kernels of sums, products and quotients have this name. */
#ifdef TOR_SIMD_SWIFT
#define TOR_SIMD_CAREFUL(name)	careful_##name
#else
#define TOR_SIMD_CAREFUL(name)	name
#endif

#define TOR_SIMD_DO_KERNEL(name, width, step, op)					\
TOR_SIMD_KERNEL(TOR_SIMD_CAREFUL(name), (width) / 8, step(vec, width, op), step(one, width, op))

#define TOR_SIMD_PICK_KERNEL(name, width, before, join)					\
TOR_SIMD_KERNEL(name, (width) / 8, TOR_SIMD_PICK_STEP(vec, width, before, join),	\
		TOR_SIMD_PICK_STEP(one, width, before, join))

TOR_SIMD_DO_KERNEL(sum_f32, 32, TOR_SIMD_DO_STEP, add)
TOR_SIMD_DO_KERNEL(sum_f64, 64, TOR_SIMD_DO_STEP, add)
TOR_SIMD_DO_KERNEL(prod_f32, 32, TOR_SIMD_DO_STEP, mul)
TOR_SIMD_DO_KERNEL(prod_f64, 64, TOR_SIMD_DO_STEP, mul)
TOR_SIMD_DO_KERNEL(sum_both_f32, 32, TOR_SIMD_BOTH_STEP, add)
TOR_SIMD_DO_KERNEL(sum_both_f64, 64, TOR_SIMD_BOTH_STEP, add)
TOR_SIMD_DO_KERNEL(prod_both_f32, 32, TOR_SIMD_BOTH_STEP, mul)
TOR_SIMD_DO_KERNEL(prod_both_f64, 64, TOR_SIMD_BOTH_STEP, mul)
TOR_SIMD_DO_KERNEL(div_f32, 32, TOR_SIMD_DO_STEP, div)
TOR_SIMD_DO_KERNEL(div_f64, 64, TOR_SIMD_DO_STEP, div)
TOR_SIMD_PICK_KERNEL(min_f32, 32, <, TOR_SIMD_JOIN_MIN)
TOR_SIMD_PICK_KERNEL(max_f32, 32, >, TOR_SIMD_JOIN_MAX)
TOR_SIMD_PICK_KERNEL(min_f64, 64, <, TOR_SIMD_JOIN_MIN)
TOR_SIMD_PICK_KERNEL(max_f64, 64, >, TOR_SIMD_JOIN_MAX)

#include "simd/reduce_half.h"
#ifdef TOR_SIMD_SWIFT
#include "simd/reduce_swift.h"
#endif

#define TOR_SIMD_TYPE(type) {								\
	.sum = TOR_SIMD_NAME(sum_##type),						\
	.prod = TOR_SIMD_NAME(prod_##type),						\
	.sum_both = TOR_SIMD_NAME(sum_both_##type),					\
	.prod_both = TOR_SIMD_NAME(prod_both_##type),					\
	.min = TOR_SIMD_NAME(min_##type),						\
	.max = TOR_SIMD_NAME(max_##type),						\
	.div = TOR_SIMD_NAME(div_##type),						\
}

const struct tor_simd TOR_SIMD_NAME(tor_simd) = {
	.f16 = TOR_SIMD_TYPE(f16),
	.bf16 = TOR_SIMD_TYPE(bf16),
	.f32 = TOR_SIMD_TYPE(f32),
	.f64 = TOR_SIMD_TYPE(f64),
};
