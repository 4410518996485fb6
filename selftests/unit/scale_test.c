// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Averages and sums of multiples: every type, ranks up to more than a type can count, at any address, in
 * memory that is split anywhere; against the compiler's arithmetic, in every instruction set.
 */
#include <math.h>

#include "host_env.h"

#include "core/engine/scale.h"
#include "core/reduce/host_isa.h"

#define N	777

/* f16 by arithmetic, since not all compilers know it: numbers, and of the other way integers below 2048. */
static double double_of_f16(u16 bits)
{
	u32 exponent = bits >> 10 & 31, fraction = bits & 1023;
	double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

	return bits >> 15 ? -size : size;
}

static u16 f16_of_integer(int v)
{
	u32 size = abs(v), exponent = fls(size);

	return size ? (v < 0 ? 0x8000 : 0) + ((exponent + 13) << 10) + (size << 11 >> exponent) : 0;
}

/* An element of a type, as a number; and the other way. */
static double load(u32 type, const u8 *p)
{
	float f;
	double d;
	u16 h;
	u32 w;

	switch (type) {
	case TORCOLL_F16:
		memcpy(&h, p, 2);
		return double_of_f16(h);
	case TORCOLL_BF16:
		memcpy(&h, p, 2);
		w = (u32)h << 16;
		memcpy(&f, &w, 4);
		return f;
	case TORCOLL_F32:
		memcpy(&f, p, 4);
		return f;
	default:
		memcpy(&d, p, 8);
		return d;
	}
}

static u64 load_integer(u32 type, const u8 *p)
{
	u32 bits = 8 * tor_type_size(type);
	u64 x;
	u32 w;
	u16 h;

	switch (bits) {
	case 8:
		x = *p;
		break;
	case 16:
		memcpy(&h, p, sizeof(h));
		x = h;
		break;
	case 32:
		memcpy(&w, p, sizeof(w));
		x = w;
		break;
	default:
		memcpy(&x, p, sizeof(x));
	}
	return type <= TORCOLL_I64 && bits < 64 && x >> (bits - 1) ? x | ~0ULL << bits : x;
}

/* What x / n must be, of a float type: rounded once, in f32 for the short ones, and then once more. */
static bool is_quotient(u32 type, double is, double x, u32 n)
{
	double exact;

	if (type == TORCOLL_F64)
		return is == x / n;
	exact = (float)x / (float)n;
	if (type == TORCOLL_F32)
		return is == exact;
	/* half a unit in the last place, of normal numbers */
	return fabs(is - exact) <= fabs(exact) * (type == TORCOLL_F16 ? 0x1p-11 : 0x1p-8) + 0x1p-25;
}

static void check_quotients(u32 type, const u8 *before, const u8 *after, u32 n)
{
	u32 size = tor_type_size(type), i;
	u64 is, x;

	for (i = 0; i < N * size; i += size) {
		if (tor_type_is_float(type)) {
			assert_true(is_quotient(type, load(type, after + i), load(type, before + i), n));
			continue;
		}
		is = load_integer(type, after + i);
		x = load_integer(type, before + i);
		assert_int_equal(is, type <= TORCOLL_I64 ? (u64)((s64)x / (s64)n) : x / n);
	}
}

/* Random elements; floats are small normal numbers. */
static void fill(u32 type, u8 *to, u64 *seed)
{
	u32 size = tor_type_size(type), i;

	host_fill(to, N * size, seed);
	for (i = 0; tor_type_is_float(type) && i < N * size; i += size) {
		double d = (s32)(host_rand(seed) % 2001) - 1000;
		u16 h = f16_of_integer(d);
		float f = d;
		u32 w;

		memcpy(&w, &f, 4);
		if (type == TORCOLL_BF16)
			h = w >> 16;
		if (type == TORCOLL_F16 || type == TORCOLL_BF16)
			memcpy(to + i, &h, 2);
		else if (type == TORCOLL_F32)
			memcpy(to + i, &f, 4);
		else
			memcpy(to + i, &d, 8);
	}
}

static void average(u32 type, u32 ranks, u32 run, u64 *seed)
{
	u8 before[N * 8], memory[N * 8 + 16];
	struct tor_comm comm = { .ranks = ranks };
	struct tor_op op = { .comm = &comm, .call.type = type, .elem = tor_type_size(type) };
	struct tor_mem mem = { .data = memory + ranks % 8, .len = N * op.elem, .run = run, .phase = ranks };

	memset(memory, 0xa5, sizeof(memory));
	fill(type, before, seed);
	memcpy(mem.data, before, mem.len);
	tor_scale_average(&op, &mem, mem.len);
	check_quotients(type, before, mem.data, ranks);
	assert_int_equal(mem.data[mem.len], 0xa5);
	assert_int_equal(host.fpu_sections, 0);
}

static void tor_scale_average__every_type(void **state)
{
	static const u32 ranks[] = { 1, 2, 3, 7, 16, 100, 127, 200, 255, 256, 300, 1000, 2048, 4097, 65504 };
	u32 type, i, served = 0;
	u64 seed = 1;

	(void)state;
	for (type = TORCOLL_I8; type <= TORCOLL_F64; type++)
		for (i = 0; i < ARRAY_SIZE(ranks); i++) {
			if (!tor_scale_divides(type, ranks[i]))
				continue;
			average(type, ranks[i], 0, &seed);
			average(type, ranks[i], 3, &seed);
			average(type, ranks[i], 4096, &seed);
			served++;
		}
	assert_true(served > 120);
}

static void tor_scale_divides__what_the_type_can_count(void **state)
{
	static const struct {
		u32 type, most, next;	/* the first number that it cannot hold, and a larger one that it can; or 0 */
	} types[] = {
		{ TORCOLL_I8, 128, 0 }, { TORCOLL_U8, 256, 0 }, { TORCOLL_I16, 1 << 15, 0 },
		{ TORCOLL_U16, 1 << 16, 0 }, { TORCOLL_I32, 1U << 31, 0 }, { TORCOLL_BF16, 257, 258 },
		{ TORCOLL_F16, 2049, 2050 }, { TORCOLL_F32, (1 << 24) + 1, (1 << 24) + 2 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		assert_true(tor_scale_divides(types[i].type, 1));
		assert_true(tor_scale_divides(types[i].type, types[i].most - 1));
		assert_false(tor_scale_divides(types[i].type, types[i].most));
		if (types[i].next)
			assert_true(tor_scale_divides(types[i].type, types[i].next));
	}
	assert_false(tor_scale_divides(TORCOLL_F16, 65536));
	assert_true(tor_scale_divides(TORCOLL_U64, ~0U));
	assert_true(tor_scale_divides(TORCOLL_F64, ~0U));
	assert_false(tor_scale_divides(TORCOLL_2INT, 2));
	assert_false(tor_scale_divides(TORCOLL_TYPE_NONE, 2));
}

/* The product of each element and the factor, as the kernel for products has it. */
static void tor_scale_multiply__every_type(void **state)
{
	u8 before[N * 8], factors[N * 8], memory[N * 8];
	struct tor_comm comm = { .ranks = 3 };
	u32 type, i;
	u64 seed = 7;

	(void)state;
	for (type = TORCOLL_I8; type <= TORCOLL_F64; type++) {
		struct tor_op op = { .comm = &comm, .call.type = type, .elem = tor_type_size(type) };
		struct tor_mem mem = { .data = memory, .len = N * op.elem, .run = 5 };

		fill(type, before, &seed);
		memcpy(memory, before, mem.len);
		for (i = 0; i < N; i++)
			memcpy(factors + i * op.elem, before + 3 * op.elem, op.elem);
		tor_scale_multiply(&op, &mem, mem.len, factors);
		tor_reduce_kernel(type, TORCOLL_PROD)(before, before, factors, N);
		assert_memory_equal(memory, before, mem.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_scale_average__every_type),
		cmocka_unit_test(tor_scale_divides__what_the_type_can_count),
		cmocka_unit_test(tor_scale_multiply__every_type),
	};
	int failed = 0;
	u32 isa;

	for (isa = 0; isa < TOR_ISA_COUNT; isa++) {
		if (!host_has_isa(isa))
			continue;
		tor_reduce_init(isa);
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
