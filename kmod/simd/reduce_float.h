/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The float kernels, written once for all x86 instruction sets. The including
 * file defines
 *
 *	TOR_SIMD_NAME(x)	x with the suffix of the variant
 *	TOR_SIMD_BYTES		bytes of a vector
 *	TOR_SIMD_DO(op, a, b)	asm: a = a op b by instruction op ("addps", ...),
 *				with a as first operand
 *
 * and, for reduce_half.h, those of these for which it has instructions:
 * TOR_SIMD_WIDEN(f, h), TOR_SIMD_NARROW(h, f), TOR_SIMD_MULTIPLY_ADD(a, one,
 * b), TOR_SIMD_JOIN_WORDS(r, u, l), TOR_SIMD_TERNARY(table, a, b, c).
 *
 * Sums and products need asm: of two NaNs x86 returns the first operand, and
 * the compiler, for which addition commutes, may swap the operands in one
 * variant and not in another. Comparisons and selections are exact, so they are
 * left to the compiler.
 *
 * Flags: -ffp-contract=off and those of the instruction set (-msse2, -mavx2);
 * in the kernel the -mno-sse family and -msoft-float are removed.
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

#define TOR_SIMD_DO_STEP(type, op)							\
do {											\
	struct type *dp = (void *)d;							\
	const struct type *fp = (const void *)f;					\
	const struct type *sp = (const void *)s;					\
	__typeof__(dp->v) a = fp->v;							\
	__typeof__(dp->v) b = sp->v;							\
											\
	TOR_SIMD_DO(op, a, b);								\
	dp->v = a;									\
} while (0)

/* Computes a op b and b op a, which differ only for two NaNs, and or's them. */
#define TOR_SIMD_BOTH_STEP(type, bits, op)						\
do {											\
	const struct type *fp = (const void *)f;					\
	const struct type *sp = (const void *)s;					\
	__typeof__(((struct type *)0)->v) a = fp->v, b = sp->v, ab = a, ba = b;		\
											\
	TOR_SIMD_DO(op, ab, b);								\
	TOR_SIMD_DO(op, ba, a);								\
	((struct bits *)d)->v = (*(struct bits *)&ab).v | (*(struct bits *)&ba).v;	\
} while (0)

/*
 * Takes the second value where it is strictly on the wanted side or the only
 * NaN, else the first. Where both are equal, their sign bits are joined: only
 * zeros can be equal but different. Two NaNs are or'ed. A comparison of vectors
 * gives masks of -1 and 0, one of scalars gives 1 and 0: @neg makes a mask of
 * it.
 */
#define TOR_SIMD_PICK_STEP(type, bits, neg, before, join)				\
do {											\
	const struct type *fp = (const void *)f;					\
	const struct type *sp = (const void *)s;					\
	struct bits *db = (void *)d;							\
	__typeof__(((struct type *)0)->v) a = fp->v;					\
	__typeof__(a) b = sp->v;							\
	__typeof__(db->v) abits = (*(struct bits *)&a).v;				\
	__typeof__(db->v) bbits = (*(struct bits *)&b).v;				\
	__typeof__(db->v) take = neg(((b before a) | (b != b)) & (a == a));		\
	__typeof__(db->v) equal = neg(a == b);						\
	__typeof__(db->v) nans = neg((a != a) & (b != b));				\
											\
	db->v = (bbits & (take | nans)) | (join(abits, bbits, equal) & ~take);		\
} while (0)

#define TOR_SIMD_VEC_MASK(x)		(x)
#define TOR_SIMD_ONE_MASK(x)		(-(x))
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

TOR_SIMD_KERNEL(sum_f32, 4, TOR_SIMD_DO_STEP(vec_f32, "addps"),
		TOR_SIMD_DO_STEP(one_f32, "addss"))
TOR_SIMD_KERNEL(sum_f64, 8, TOR_SIMD_DO_STEP(vec_f64, "addpd"),
		TOR_SIMD_DO_STEP(one_f64, "addsd"))
TOR_SIMD_KERNEL(prod_f32, 4, TOR_SIMD_DO_STEP(vec_f32, "mulps"),
		TOR_SIMD_DO_STEP(one_f32, "mulss"))
TOR_SIMD_KERNEL(prod_f64, 8, TOR_SIMD_DO_STEP(vec_f64, "mulpd"),
		TOR_SIMD_DO_STEP(one_f64, "mulsd"))
TOR_SIMD_KERNEL(sum_both_f32, 4, TOR_SIMD_BOTH_STEP(vec_f32, vec_i32, "addps"),
		TOR_SIMD_BOTH_STEP(one_f32, one_i32, "addss"))
TOR_SIMD_KERNEL(sum_both_f64, 8, TOR_SIMD_BOTH_STEP(vec_f64, vec_i64, "addpd"),
		TOR_SIMD_BOTH_STEP(one_f64, one_i64, "addsd"))
TOR_SIMD_KERNEL(prod_both_f32, 4, TOR_SIMD_BOTH_STEP(vec_f32, vec_i32, "mulps"),
		TOR_SIMD_BOTH_STEP(one_f32, one_i32, "mulss"))
TOR_SIMD_KERNEL(prod_both_f64, 8, TOR_SIMD_BOTH_STEP(vec_f64, vec_i64, "mulpd"),
		TOR_SIMD_BOTH_STEP(one_f64, one_i64, "mulsd"))
TOR_SIMD_KERNEL(div_f32, 4, TOR_SIMD_DO_STEP(vec_f32, "divps"),
		TOR_SIMD_DO_STEP(one_f32, "divss"))
TOR_SIMD_KERNEL(div_f64, 8, TOR_SIMD_DO_STEP(vec_f64, "divpd"),
		TOR_SIMD_DO_STEP(one_f64, "divsd"))
TOR_SIMD_KERNEL(min_f32, 4,
		TOR_SIMD_PICK_STEP(vec_f32, vec_i32, TOR_SIMD_VEC_MASK, <, TOR_SIMD_JOIN_MIN),
		TOR_SIMD_PICK_STEP(one_f32, one_i32, TOR_SIMD_ONE_MASK, <, TOR_SIMD_JOIN_MIN))
TOR_SIMD_KERNEL(max_f32, 4,
		TOR_SIMD_PICK_STEP(vec_f32, vec_i32, TOR_SIMD_VEC_MASK, >, TOR_SIMD_JOIN_MAX),
		TOR_SIMD_PICK_STEP(one_f32, one_i32, TOR_SIMD_ONE_MASK, >, TOR_SIMD_JOIN_MAX))
TOR_SIMD_KERNEL(min_f64, 8,
		TOR_SIMD_PICK_STEP(vec_f64, vec_i64, TOR_SIMD_VEC_MASK, <, TOR_SIMD_JOIN_MIN),
		TOR_SIMD_PICK_STEP(one_f64, one_i64, TOR_SIMD_ONE_MASK, <, TOR_SIMD_JOIN_MIN))
TOR_SIMD_KERNEL(max_f64, 8,
		TOR_SIMD_PICK_STEP(vec_f64, vec_i64, TOR_SIMD_VEC_MASK, >, TOR_SIMD_JOIN_MAX),
		TOR_SIMD_PICK_STEP(one_f64, one_i64, TOR_SIMD_ONE_MASK, >, TOR_SIMD_JOIN_MAX))

#include "simd/reduce_half.h"

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
