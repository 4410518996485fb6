// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reduction kernels against a slow reference: every type and operator, every length to 4096
 * elements, any alignment, at a guard page; floats bit for bit, in every variant.
 */
#include "host_env.h"

#include "reduce.h"

#define LENGTH	4096
#define ELEM	8			/* of the largest type here */

static const u32 redops[] = { TORCOLL_SUM, TORCOLL_MIN, TORCOLL_MAX };

typedef void (*reference_fn)(void *dst, const void *src, u32 redop);

/* One element, for types that the compiler knows; sums wrap. */
#define REFERENCE_INTEGER(type)							\
static void reference_##type(void *dst, const void *src, u32 redop)		\
{										\
	type a, b;								\
										\
	memcpy(&a, dst, sizeof(a));						\
	memcpy(&b, src, sizeof(b));						\
	if (redop == TORCOLL_SUM)						\
		a = (type)((u64)a + (u64)b);					\
	else if (redop == TORCOLL_MIN ? b < a : b > a)				\
		a = b;								\
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

/*
 * Floats by their bits, as reduce.h has it. What it leaves open for sums is what x86 does: the first
 * NaN, quiet; opposite infinities give the negative NaN without payload.
 */
#define REFERENCE_FLOAT(name, type, bits, quiet, nothing)			\
static void reference_##name(void *dst, const void *src, u32 redop)		\
{										\
	bits abits, bbits;							\
	type a, b;								\
										\
	memcpy(&a, dst, sizeof(a));						\
	memcpy(&b, src, sizeof(b));						\
	memcpy(&abits, dst, sizeof(a));						\
	memcpy(&bbits, src, sizeof(b));						\
	if (a != a) {								\
		if (redop == TORCOLL_SUM)					\
			abits |= (quiet);					\
	} else if (b != b) {							\
		abits = redop == TORCOLL_SUM ? bbits | (quiet) : bbits;		\
	} else if (redop == TORCOLL_SUM) {					\
		a += b;								\
		memcpy(&abits, &a, sizeof(a));					\
		if (a != a)							\
			abits = (nothing);					\
	} else if (a == b) {							\
		abits = redop == TORCOLL_MIN ? abits | bbits : abits & bbits;	\
	} else if (redop == TORCOLL_MIN ? b < a : b > a) {			\
		abits = bbits;							\
	}									\
	memcpy(dst, &abits, sizeof(a));						\
}

REFERENCE_FLOAT(f32, float, u32, 1U << 22, 0xffc00000)
REFERENCE_FLOAT(f64, double, u64, 1ULL << 51, 0xfff8000000000000)

static const struct {
	u32 type;
	u32 elem;
	reference_fn reference;
} types[] = {
	{ TORCOLL_I8, 1, reference_s8 },
	{ TORCOLL_I16, 2, reference_s16 },
	{ TORCOLL_I32, 4, reference_s32 },
	{ TORCOLL_I64, 8, reference_s64 },
	{ TORCOLL_U8, 1, reference_u8 },
	{ TORCOLL_U16, 2, reference_u16 },
	{ TORCOLL_U32, 4, reference_u32 },
	{ TORCOLL_U64, 8, reference_u64 },
	{ TORCOLL_F32, 4, reference_f32 },
	{ TORCOLL_F64, 8, reference_f64 },
};

/* Variants of the float kernels on this CPU: tor_reduce_init()'s argument. */
static u32 variants(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return 2;
	print_message("no AVX2 here: SSE2 alone is tested\n");
#endif
	return 1;
}

static u8 src[LENGTH * ELEM], dst[LENGTH * ELEM], want[LENGTH * ELEM];

static void expect(reference_fn reference, u32 redop, u32 elem, u32 n)
{
	u32 i;

	memcpy(want, dst, (size_t)n * elem);
	for (i = 0; i < n; i++)
		reference(want + i * elem, src + i * elem, redop);
}

/* Run @fn on the first @n elements, at the end of @to and @from; see what it did, and did not. */
static void run(tor_reduce_fn fn, u32 n, u32 elem, u8 *to, u8 *from)
{
	size_t bytes = (size_t)n * elem;

	memset(to - 32, 0x5a, 32);
	memcpy(to, dst, bytes);
	memcpy(from, src, bytes);
	fn(to, from, n);
	assert_memory_equal(to, want, bytes);
	assert_memory_equal(from, src, bytes);
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
	u32 t, o, v, nv = variants();
	u64 seed = 2;

	(void)state;
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (o = 0; o < ARRAY_SIZE(redops); o++) {
			host_fill(src, sizeof(src), &seed);
			host_fill(dst, sizeof(dst), &seed);
			expect(types[t].reference, redops[o], types[t].elem, LENGTH);
			for (v = 0; v < (tor_type_is_float(types[t].type) ? nv : 1); v++) {
				tor_reduce_init(v);
				every_length(tor_reduce_kernel(types[t].type, redops[o]),
					     types[t].elem);
			}
		}
	}
}

/* Around the loops' edges, every pair of alignments. */
static void tor_reduce_kernel__every_alignment(void **state)
{
	u8 to[64 + 70 * ELEM + 32], from[64 + 70 * ELEM + 32];
	u32 t, o, v, n, a, b;
	u64 seed = 3;

	(void)state;
	host_fill(src, sizeof(src), &seed);
	host_fill(dst, sizeof(dst), &seed);
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (o = 0; o < ARRAY_SIZE(redops); o++) {
			expect(types[t].reference, redops[o], types[t].elem, 70);
			for (v = 0; v < 32 * 32; v++) {
				a = v % 32;
				b = v / 32;
				n = (a * 7 + b * 13) % 70;
				tor_reduce_init(variants() > 1 && v % 2);
				run(tor_reduce_kernel(types[t].type, redops[o]), n, types[t].elem,
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

static_assert(ARRAY_SIZE(special_f32) == ARRAY_SIZE(special_f64));

/* NaNs, zeros of both signs, infinities, denormals: every pair, in every lane. */
static void tor_reduce_kernel__special_floats(void **state)
{
	const u32 k = ARRAY_SIZE(special_f32);
	u32 to[2 * ARRAY_SIZE(special_f64) * ARRAY_SIZE(special_f64) + 48];
	u32 from[ARRAY_SIZE(to)];
	u32 i, o, v, t, shift, elem;

	(void)state;
	for (t = 0; t < 2; t++) {
		elem = t ? 8 : 4;
		for (i = 0; i < k * k; i++) {
			memcpy(dst + i * elem, t ? (void *)&special_f64[i % k] :
						   (void *)&special_f32[i % k], elem);
			memcpy(src + i * elem, t ? (void *)&special_f64[i / k] :
						   (void *)&special_f32[i / k], elem);
		}
		for (o = 0; o < ARRAY_SIZE(redops); o++) {
			expect(t ? reference_f64 : reference_f32, redops[o], elem, k * k);
			for (v = 0; v < variants(); v++) {
				tor_reduce_init(v);
				/* also as what vectors leave over */
				for (shift = 0; shift < 40; shift++)
					run(tor_reduce_kernel(t ? TORCOLL_F64 : TORCOLL_F32,
							      redops[o]),
					    k * k - shift, elem, (u8 *)to + 33, (u8 *)from + 1);
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
	for (v = 0; v < variants(); v++) {
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
			f64(sum, term, N);
			f32(sum32, term32, N);
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
	assert_true(tor_type_is_float(TORCOLL_DOUBLE_INT));
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
		cmocka_unit_test(tor_reduce_kernel__exact_sums),
		cmocka_unit_test(tor_reduce_kernel__refuses_the_rest),
		cmocka_unit_test(tor_type_size__c_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
