// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reduction kernels against a slow reference: every type and operator, every length to 4096
 * elements, any alignment, at a guard page; floats bit for bit, in every variant.
 */
#include <math.h>

#include "host_env.h"

#include "core/reduce/host_isa.h"
#include "core/reduce/reduce.h"

#define LENGTH	4096
#define ELEM	16			/* of the largest type */

typedef void (*reference_fn)(void *dst, const void *src, u32 redop);

/* One element, for types that the compiler knows; sums wrap. */
#define REFERENCE_INTEGER(type)							\
static void reference_##type(void *dst, const void *src, u32 redop)		\
{										\
	type a, b;								\
										\
	memcpy(&a, dst, sizeof(a));						\
	memcpy(&b, src, sizeof(b));						\
	switch (redop) {							\
	case TORCOLL_SUM:							\
		a = (type)((u64)a + (u64)b);					\
		break;								\
	case TORCOLL_PROD:							\
		a = (type)((u64)a * (u64)b);					\
		break;								\
	case TORCOLL_MIN:							\
		a = b < a ? b : a;						\
		break;								\
	case TORCOLL_MAX:							\
		a = b > a ? b : a;						\
		break;								\
	case TORCOLL_BAND:							\
		a = a & b;							\
		break;								\
	case TORCOLL_BOR:							\
		a = a | b;							\
		break;								\
	case TORCOLL_BXOR:							\
		a = a ^ b;							\
		break;								\
	case TORCOLL_LAND:							\
		a = a && b;							\
		break;								\
	case TORCOLL_LOR:							\
		a = a || b;							\
		break;								\
	default:								\
		a = !a != !b;							\
	}									\
	memcpy(dst, &a, sizeof(a));						\
}

REFERENCE_INTEGER(s8)
REFERENCE_INTEGER(s16)
REFERENCE_INTEGER(s32)
REFERENCE_INTEGER(s64)
REFERENCE_INTEGER(u8)
REFERENCE_INTEGER(u16)
REFERENCE_INTEGER(u32)
REFERENCE_INTEGER(u64)

/* The halves by arithmetic: not all compilers know them. */
static double double_of_f16(u16 bits)
{
	u32 exponent = bits >> 10 & 31, fraction = bits & 1023;
	double v;

	if (exponent == 31)
		v = fraction ? NAN : INFINITY;
	else
		v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
	return bits >> 15 ? -v : v;
}

static double double_of_bf16(u16 bits)
{
	u32 wide = (u32)bits << 16;
	float v;

	memcpy(&v, &wide, sizeof(v));
	return v;
}

static double double_of_f32(u32 bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static double double_of_f64(u64 bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* In units of the last place, of which an exponent has 2^10: what is rounded up to more belongs to the next one. */
static u16 f16_of_float(float v)
{
	u16 sign = signbit(v) ? 0x8000 : 0;
	int exponent;

	if (fabs(v) >= 65520)
		return sign | 0x7c00;
	if (v == 0)
		return sign;
	frexp(v, &exponent);
	exponent = max(exponent - 1, -14);
	return sign | (((exponent + 14) << 10) + (int)nearbyint(ldexp(fabs(v), 10 - exponent)));
}

/* The nearer of the two neighbours, both of which a double holds exactly; the even one of a tie. */
static u16 bf16_of_float(float v)
{
	u32 bits;
	u16 below, above;
	double down, up;

	memcpy(&bits, &v, sizeof(bits));
	below = bits >> 16;
	above = below + 1;
	if (v - v != 0 || !(u16)bits)
		return below;
	down = fabs(v - double_of_bf16(below));
	/* an infinity is as far away as the next power of two */
	up = isinf(double_of_bf16(above)) ? fabs(fabs((double)v) - 0x1p128) :
					    fabs(double_of_bf16(above) - v);
	if (down != up)
		return down < up ? below : above;
	return below & 1 ? above : below;
}

static u32 f32_of_float(float v)
{
	u32 bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static u64 f64_of_double(double v)
{
	u64 bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* What is expected: of tor_reduce_commuting(), or else of tor_reduce_kernel(). */
static bool commuting;

/*
 * Floats by their bits, as reduce.h has it. Of two NaNs, sums and products have the first one's unless they commute. What
 * has no result gives what x86 does: the negative NaN without payload.
 */
#define REFERENCE_FLOAT(name, type, bits, narrow, quiet, nothing)		\
static void reference_##name(void *dst, const void *src, u32 redop)		\
{										\
	bool computes = redop == TORCOLL_SUM || redop == TORCOLL_PROD;		\
	bits abits, bbits;							\
	type a, b;								\
										\
	memcpy(&abits, dst, sizeof(abits));					\
	memcpy(&bbits, src, sizeof(bbits));					\
	a = double_of_##name(abits);						\
	b = double_of_##name(bbits);						\
	if (a != a) {								\
		abits |= b != b && (!computes || commuting) ? bbits : 0;	\
		abits |= computes ? (quiet) : 0;				\
	} else if (b != b) {							\
		abits = computes ? bbits | (quiet) : bbits;			\
	} else if (computes) {							\
		a = redop == TORCOLL_SUM ? a + b : a * b;			\
		abits = a != a ? (nothing) : narrow(a);				\
	} else if (a == b) {							\
		abits = redop == TORCOLL_MIN ? abits | bbits : abits & bbits;	\
	} else if (redop == TORCOLL_MIN ? b < a : b > a) {			\
		abits = bbits;							\
	}									\
	memcpy(dst, &abits, sizeof(abits));					\
}

REFERENCE_FLOAT(f16, float, u16, f16_of_float, 1U << 9, 0xfe00)
REFERENCE_FLOAT(bf16, float, u16, bf16_of_float, 1U << 6, 0xffc0)
REFERENCE_FLOAT(f32, float, u32, f32_of_float, 1U << 22, 0xffc00000)
REFERENCE_FLOAT(f64, double, u64, f64_of_double, 1ULL << 51, 0xfff8000000000000)

/* Pairs: the one that comes first by value, NaN before all, then by index, then by the value's bits. */
#define REFERENCE_PAIR(name, type, bits)					\
static void reference_##name(void *dst, const void *src, u32 redop)		\
{										\
	struct { type value; s32 index; } a, b;					\
	bits abits, bbits;							\
	bool take;								\
										\
	memcpy(&a, dst, sizeof(a));						\
	memcpy(&b, src, sizeof(b));						\
	memcpy(&abits, dst, sizeof(abits));					\
	memcpy(&bbits, src, sizeof(bbits));					\
	if (a.value != a.value || b.value != b.value)				\
		take = (a.value != a.value) == (b.value != b.value) ?		\
		       b.index < a.index || (b.index == a.index && bbits < abits) : \
		       b.value != b.value;					\
	else if (a.value != b.value)						\
		take = redop == TORCOLL_MINLOC ? b.value < a.value : b.value > a.value; \
	else									\
		take = b.index < a.index || (b.index == a.index && bbits < abits); \
	if (take)								\
		memcpy(dst, src, sizeof(b));					\
}

REFERENCE_PAIR(float_int, float, u32)
REFERENCE_PAIR(double_int, double, u64)
REFERENCE_PAIR(long_int, long, u64)
REFERENCE_PAIR(two_int, int, u32)
REFERENCE_PAIR(short_int, short, u16)

static const u32 integer_ops[] = {
	TORCOLL_SUM, TORCOLL_PROD, TORCOLL_MIN, TORCOLL_MAX, TORCOLL_BAND, TORCOLL_BOR,
	TORCOLL_BXOR, TORCOLL_LAND, TORCOLL_LOR, TORCOLL_LXOR, 0
};

static const u32 float_ops[] = { TORCOLL_SUM, TORCOLL_PROD, TORCOLL_MIN, TORCOLL_MAX, 0 };
static const u32 pair_ops[] = { TORCOLL_MINLOC, TORCOLL_MAXLOC, 0 };

static const struct {
	u32 type;
	u32 elem;
	reference_fn reference;
	const u32 *redops;
} types[] = {
	{ TORCOLL_I8, 1, reference_s8, integer_ops },
	{ TORCOLL_I16, 2, reference_s16, integer_ops },
	{ TORCOLL_I32, 4, reference_s32, integer_ops },
	{ TORCOLL_I64, 8, reference_s64, integer_ops },
	{ TORCOLL_U8, 1, reference_u8, integer_ops },
	{ TORCOLL_U16, 2, reference_u16, integer_ops },
	{ TORCOLL_U32, 4, reference_u32, integer_ops },
	{ TORCOLL_U64, 8, reference_u64, integer_ops },
	{ TORCOLL_F16, 2, reference_f16, float_ops },
	{ TORCOLL_BF16, 2, reference_bf16, float_ops },
	{ TORCOLL_F32, 4, reference_f32, float_ops },
	{ TORCOLL_F64, 8, reference_f64, float_ops },
	{ TORCOLL_FLOAT_INT, 8, reference_float_int, pair_ops },
	{ TORCOLL_DOUBLE_INT, 16, reference_double_int, pair_ops },
	{ TORCOLL_LONG_INT, 16, reference_long_int, pair_ops },
	{ TORCOLL_2INT, 8, reference_two_int, pair_ops },
	{ TORCOLL_SHORT_INT, 8, reference_short_int, pair_ops },
};

static u8 src[LENGTH * ELEM], dst[LENGTH * ELEM], want[LENGTH * ELEM];

static void expect(reference_fn reference, u32 redop, u32 elem, u32 n)
{
	u32 i;

	memcpy(want, dst, (size_t)n * elem);
	for (i = 0; i < n; i++)
		reference(want + i * elem, src + i * elem, redop);
}

/*
 * Run @fn on the first @n elements, at the end of @to and @from, in place and with the first operands elsewhere; see what it
 * did, and did not.
 */
static void run(tor_reduce_fn fn, u32 n, u32 elem, u8 *to, u8 *from)
{
	static u8 operands[LENGTH * ELEM + 16];
	u8 *first = operands + n % 16;
	size_t bytes = (size_t)n * elem;

	memset(to - 32, 0x5a, 32);
	memcpy(to, dst, bytes);
	memcpy(from, src, bytes);
	fn(to, to, from, n);
	assert_memory_equal(to, want, bytes);
	assert_memory_equal(from, src, bytes);
	memset(to, 0x5a, bytes);
	memcpy(first, dst, bytes);
	fn(to, first, from, n);
	assert_memory_equal(to, want, bytes);
	assert_memory_equal(first, dst, bytes);
	assert_true(to[-1] == 0x5a && memcmp(to - 32, to - 31, 31) == 0);
}

static void every_length(tor_reduce_fn fn, u32 elem)
{
	const size_t room = LENGTH * ELEM + 64;
	u8 *to = host_guarded(room), *from = host_guarded(room);
	size_t bytes;
	u32 n;

	for (n = 0; n <= LENGTH; n++) {
		bytes = (size_t)n * elem;
		/* either at its guard page, the other at a place of any alignment */
		run(fn, n, elem, to + room - bytes - (n % 2 ? n / 2 % 16 : 0),
		    from + room - bytes - (n % 2 ? 0 : n / 2 % 16));
	}
	host_guarded_free(to, room);
	host_guarded_free(from, room);
}

static void tor_reduce_kernel__every_length(void **state)
{
	const u32 *o;
	u64 seed = 2;
	u32 t, isa;

	(void)state;
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (o = types[t].redops; *o; o++) {
			host_fill(src, sizeof(src), &seed);
			host_fill(dst, sizeof(dst), &seed);
			expect(types[t].reference, *o, types[t].elem, LENGTH);
			for (isa = 0; isa < (tor_type_is_float(types[t].type) ? TOR_ISA_COUNT : 1); isa++) {
				if (!host_has_isa(isa))
					continue;
				tor_reduce_init(isa);
				every_length(tor_reduce_kernel(types[t].type, *o), types[t].elem);
			}
		}
	}
}

/* Around the loops' edges, every pair of alignments. */
static void tor_reduce_kernel__every_alignment(void **state)
{
	u8 to[64 + 70 * ELEM + 32], from[64 + 70 * ELEM + 32];
	u32 t, v, n, a, b;
	const u32 *o;
	u64 seed = 3;

	(void)state;
	host_fill(src, sizeof(src), &seed);
	host_fill(dst, sizeof(dst), &seed);
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (o = types[t].redops; *o; o++) {
			expect(types[t].reference, *o, types[t].elem, 70);
			for (v = 0; v < 32 * 32; v++) {
				a = v % 32;
				b = v / 32;
				n = (a * 7 + b * 13) % 70;
				tor_reduce_init(host_has_isa(v % TOR_ISA_COUNT) ? v % TOR_ISA_COUNT : 0);
				run(tor_reduce_kernel(types[t].type, *o), n, types[t].elem,
				    to + 32 + a, from + 32 + b);
			}
		}
	}
}

static const u32 special_f32[] = {
	0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3f800001,
	0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
	0x7fc00000, 0xffc00000, 0x7fc12345, 0xffc54321, 0x7f800001, 0xff812345,
};

static const u64 special_f64[] = {
	0, 1ULL << 63, 1, 1ULL << 63 | 1, 0x000fffffffffffff, 0x0010000000000000,
	0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001, 0x7fefffffffffffff,
	0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
	0x7ff8000000000000, 0xfff8000000000000, 0x7ff8123456789abc, 0xfff8cba987654321,
	0x7ff0000000000001, 0xfff0123456789abc,
};

static const u16 special_f16[] = {
	0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
	0x7e00, 0xfe00, 0x7e12, 0xfe54, 0x7c01, 0xfd23,
};

static const u16 special_bf16[] = {
	0, 0x8000, 1, 0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x3f81, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
	0x7fc0, 0xffc0, 0x7fd2, 0xffe4, 0x7f81, 0xffa3,
};

#define SPECIALS	ARRAY_SIZE(special_f64)

static_assert(ARRAY_SIZE(special_f32) == SPECIALS && ARRAY_SIZE(special_f16) == SPECIALS &&
	      ARRAY_SIZE(special_bf16) == SPECIALS);

static const struct {
	u32 type;
	u32 elem;
	reference_fn reference;
	const void *special;
} floats[] = {
	{ TORCOLL_F16, 2, reference_f16, special_f16 },
	{ TORCOLL_BF16, 2, reference_bf16, special_bf16 },
	{ TORCOLL_F32, 4, reference_f32, special_f32 },
	{ TORCOLL_F64, 8, reference_f64, special_f64 },
};

/* NaNs, zeros of both signs, infinities, denormals: every pair, in every lane. */
static void special_floats(tor_reduce_fn (*kernel)(u32 type, u32 redop))
{
	static u8 to[SPECIALS * SPECIALS * 8 + 96], from[sizeof(to)];
	const u32 n = SPECIALS * SPECIALS;
	u32 i, t, isa, shift;
	const u32 *o;

	for (t = 0; t < ARRAY_SIZE(floats); t++) {
		u32 elem = floats[t].elem;

		for (i = 0; i < n; i++) {
			memcpy(dst + i * elem, floats[t].special + i % SPECIALS * elem, elem);
			memcpy(src + i * elem, floats[t].special + i / SPECIALS * elem, elem);
		}
		for (o = float_ops; *o; o++) {
			expect(floats[t].reference, *o, elem, n);
			for (isa = 0; isa < TOR_ISA_COUNT; isa++) {
				if (!host_has_isa(isa))
					continue;
				tor_reduce_init(isa);
				/* also as what vectors leave over */
				for (shift = 0; shift < 70; shift++)
					run(kernel(floats[t].type, *o), n - shift, elem,
					    to + 33, from + 33);
			}
		}
	}
}

static void tor_reduce_kernel__special_floats(void **state)
{
	(void)state;
	special_floats(tor_reduce_kernel);
}

static void tor_reduce_commuting__special_floats(void **state)
{
	(void)state;
	commuting = true;
	special_floats(tor_reduce_commuting);
	commuting = false;
}

/* Two ranks may reduce the same two numbers, each its own with the other's. */
static void tor_reduce_commuting__commutes(void **state)
{
	enum { N = SPECIALS * SPECIALS };
	static u8 ab[N * 8], ba[N * 8], b[N * 8];
	u32 i, t, isa;
	const u32 *o;

	(void)state;
	for (t = 0; t < ARRAY_SIZE(floats); t++) {
		u32 elem = floats[t].elem;

		for (o = float_ops; *o; o++) {
			for (isa = 0; isa < TOR_ISA_COUNT; isa++) {
				if (!host_has_isa(isa))
					continue;
				tor_reduce_init(isa);
				for (i = 0; i < N; i++) {
					memcpy(ab + i * elem, floats[t].special + i % SPECIALS * elem, elem);
					memcpy(ba + i * elem, floats[t].special + i / SPECIALS * elem, elem);
				}
				memcpy(b, ba, sizeof(b));
				memcpy(src, ab, sizeof(ab));
				tor_reduce_commuting(floats[t].type, *o)(ab, ab, b, N);
				tor_reduce_commuting(floats[t].type, *o)(ba, ba, src, N);
				assert_memory_equal(ab, ba, N * elem);
			}
		}
	}
}

/* Every number of 16 bits with every special one. */
static void tor_reduce_kernel__every_half(void **state)
{
	enum { N = 1 << 15 };
	static u8 to[N * 2 + 64], from[N * 2 + 64];
	u32 i, t, k, isa;
	const u32 *o;

	(void)state;
	for (t = 0; t < 2; t++) {
		for (k = 0; k < 2 * SPECIALS; k++) {
			for (i = 0; i < N; i++) {
				((u16 *)dst)[i] = k & 1 ? N + i : i;
				((u16 *)src)[i] = ((const u16 *)floats[t].special)[k / 2];
			}
			for (o = float_ops; *o; o++) {
				expect(floats[t].reference, *o, 2, N);
				for (isa = 0; isa < TOR_ISA_COUNT; isa++) {
					if (!host_has_isa(isa))
						continue;
					tor_reduce_init(isa);
					run(tor_reduce_kernel(floats[t].type, *o), N, 2, to + 32,
					    from + 32);
				}
			}
		}
	}
}

/* Pairs that tie, with special values: the result does not depend on the order. */
static void tor_reduce_kernel__pairs_commute(void **state)
{
	static const u32 pairs[] = { TORCOLL_FLOAT_INT, TORCOLL_DOUBLE_INT, TORCOLL_2INT };
	u8 a[16] = { 0 }, b[16] = { 0 }, ab[16], ba[16];
	u32 t, i, j, k;

	(void)state;
	for (t = 0; t < ARRAY_SIZE(pairs); t++) {
		u32 elem = tor_type_size(pairs[t]), value = pairs[t] == TORCOLL_DOUBLE_INT ? 8 : 4;
		const u8 *special = value == 8 ? (const u8 *)special_f64 : (const u8 *)special_f32;

		for (i = 0; i < SPECIALS * SPECIALS; i++) {
			memcpy(a, special + i % SPECIALS * value, value);
			memcpy(b, special + i / SPECIALS * value, value);
			for (j = 0; j < 9; j++) {
				s32 index_a = j % 3 - 1, index_b = j / 3 - 1;

				memcpy(a + value, &index_a, 4);
				memcpy(b + value, &index_b, 4);
				for (k = 0; k < 2; k++) {
					tor_reduce_fn fn = tor_reduce_kernel(pairs[t], pair_ops[k]);

					memcpy(ab, a, elem);
					memcpy(ba, b, elem);
					fn(ab, ab, b, 1);
					fn(ba, ba, a, 1);
					assert_memory_equal(ab, ba, elem);
				}
			}
		}
	}
}

/* Small integers add up exactly in floats, in any order. */
static void tor_reduce_kernel__exact_sums(void **state)
{
	enum { N = 1000, TERMS = 64 };
	static double terms[TERMS][N], sum[N];
	static float sum32[N], term32[N];
	long exact[N] = { 0 };
	tor_reduce_fn f32, f64;
	u32 i, k, v;
	u64 seed = 4;

	(void)state;
	for (k = 0; k < TERMS; k++) {
		for (i = 0; i < N; i++) {
			terms[k][i] = (int)(host_rand(&seed) % 2001) - 1000;
			exact[i] += terms[k][i];
		}
	}
	for (v = 0; v < TOR_ISA_COUNT; v++) {
		if (!host_has_isa(v))
			continue;
		tor_reduce_init(v);
		f32 = tor_reduce_kernel(TORCOLL_F32, TORCOLL_SUM);
		f64 = tor_reduce_kernel(TORCOLL_F64, TORCOLL_SUM);
		memset(sum, 0, sizeof(sum));
		memset(sum32, 0, sizeof(sum32));
		for (k = 0; k < TERMS; k++) {
			/* a different order each time */
			double *term = terms[(k * 37 + v) % TERMS];

			for (i = 0; i < N; i++)
				term32[i] = term[i];
			f64(sum, sum, term, N);
			f32(sum32, sum32, term32, N);
		}
		for (i = 0; i < N; i++) {
			assert_true(sum[i] == exact[i]);
			assert_true(sum32[i] == exact[i]);
		}
	}
}

static void tor_reduce_kernel__refuses_the_rest(void **state)
{
	u32 t, o;

	(void)state;
	assert_null(tor_reduce_kernel(TORCOLL_TYPE_NONE, TORCOLL_SUM));
	assert_null(tor_reduce_kernel(TORCOLL_I32, TORCOLL_REDOP_NONE));
	for (t = TORCOLL_TYPE_COUNT; t < 300; t++)
		assert_null(tor_reduce_kernel(t, TORCOLL_SUM));
	for (o = TORCOLL_REDOP_COUNT; o < 300; o++)
		assert_null(tor_reduce_kernel(TORCOLL_I32, o));
	assert_null(tor_reduce_kernel(~0U, ~0U));
	assert_null(tor_reduce_kernel(TORCOLL_F32, TORCOLL_BAND));
	assert_null(tor_reduce_kernel(TORCOLL_F16, TORCOLL_MINLOC));
	assert_null(tor_reduce_kernel(TORCOLL_2INT, TORCOLL_SUM));
	/* a served type has a size, and the other way round no promise */
	for (t = 0; t < TORCOLL_TYPE_COUNT; t++)
		for (o = 0; o < TORCOLL_REDOP_COUNT; o++)
			assert_true(!tor_reduce_kernel(t, o) || tor_type_size(t));
}

static void tor_type_size__c_layout(void **state)
{
	struct { float v; int i; } f;
	struct { double v; int i; } d;
	struct { long v; int i; } l;
	struct { short v; int i; } s;

	(void)state;
	assert_int_equal(tor_type_size(TORCOLL_TYPE_NONE), 0);
	assert_int_equal(tor_type_size(TORCOLL_TYPE_COUNT), 0);
	assert_int_equal(tor_type_size(TORCOLL_I8), 1);
	assert_int_equal(tor_type_size(TORCOLL_U16), 2);
	assert_int_equal(tor_type_size(TORCOLL_F16), 2);
	assert_int_equal(tor_type_size(TORCOLL_BF16), 2);
	assert_int_equal(tor_type_size(TORCOLL_F32), 4);
	assert_int_equal(tor_type_size(TORCOLL_F64), 8);
	assert_int_equal(tor_type_size(TORCOLL_FLOAT_INT), sizeof(f));
	assert_int_equal(tor_type_size(TORCOLL_DOUBLE_INT), sizeof(d));
	assert_int_equal(tor_type_size(TORCOLL_LONG_INT), sizeof(l));
	assert_int_equal(tor_type_size(TORCOLL_2INT), 8);
	assert_int_equal(tor_type_size(TORCOLL_SHORT_INT), sizeof(s));
	assert_true(tor_type_is_float(TORCOLL_F32));
	/* chosen by their bits */
	assert_false(tor_type_is_float(TORCOLL_DOUBLE_INT));
	assert_false(tor_type_is_float(TORCOLL_I64));
	assert_false(tor_type_is_float(TORCOLL_2INT));
	assert_false(tor_type_is_float(~0U));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_reduce_kernel__every_length),
		cmocka_unit_test(tor_reduce_kernel__every_alignment),
		cmocka_unit_test(tor_reduce_kernel__special_floats),
		cmocka_unit_test(tor_reduce_commuting__special_floats),
		cmocka_unit_test(tor_reduce_commuting__commutes),
		cmocka_unit_test(tor_reduce_kernel__every_half),
		cmocka_unit_test(tor_reduce_kernel__pairs_commute),
		cmocka_unit_test(tor_reduce_kernel__exact_sums),
		cmocka_unit_test(tor_reduce_kernel__refuses_the_rest),
		cmocka_unit_test(tor_type_size__c_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
