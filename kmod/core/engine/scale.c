// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Averages and pre-multiplied sums. See scale.h. */
#include "core/engine/scale.h"

#include "core/transfer/stream.h"

#define PATTERN		512		/* bytes of the second operand, used repeatedly */
#define PIECES		8		/* patterns at a time before others may run */

/* Return the significant bits of a float type. */
static u32 precision(u32 type)
{
	switch (type) {
	case TORCOLL_F16:
		return 11;
	case TORCOLL_BF16:
		return 8;
	case TORCOLL_F32:
		return 24;
	default:
		return 53;
	}
}

bool tor_scale_divides(u32 type, u32 ranks)
{
	u32 bits = 8 * tor_type_size(type);

	if (!tor_reduce_quotient(type))
		return false;
	if (type == TORCOLL_F16 && ranks > 65504)
		return false;
	if (tor_type_is_float(type))
		return ranks >> (ffs(ranks) - 1) < 1ULL << precision(type);
	if (type <= TORCOLL_I64)
		bits--;
	return bits >= 32 || ranks < 1U << bits;
}

/* Return the bits of a float with the value @n, at least 1, which is exact. */
static u64 float_bits(u32 exponent_bits, u32 fraction_bits, u32 n)
{
	u32 exponent = fls(n) - 1;
	u64 bias = (1ULL << (exponent_bits - 1)) - 1;
	u64 fraction = exponent > fraction_bits ? n >> (exponent - fraction_bits) :
						  (u64)n << (fraction_bits - exponent);

	return (bias + exponent) << fraction_bits | (fraction & ((1ULL << fraction_bits) - 1));
}

/*
 * Write the number @n, which the type can represent, as an element. Computed in
 * integers: the FPU is not usable here.
 */
static void make_number(u32 type, u32 n, void *to)
{
	union {
		u8 b;
		u16 h;
		u32 w;
		u64 d;
	} x = { .d = 0 };
	u32 size = tor_type_size(type);

	if (type == TORCOLL_F64)
		x.d = float_bits(11, 52, n);
	else if (type == TORCOLL_F32)
		x.w = float_bits(8, 23, n);
	else if (type == TORCOLL_BF16)
		x.h = float_bits(8, 7, n);
	else if (type == TORCOLL_F16)
		x.h = float_bits(5, 10, n);
	else if (size == 1)
		x.b = n;
	else if (size == 2)
		x.h = n;
	else if (size == 4)
		x.w = n;
	else
		x.d = n;
	memcpy(to, &x, size);
}

/* Apply @fn to all elements with the same second operand. */
static void scale_all(const struct tor_op *op, struct tor_mem *mem, u64 bytes, const void *element,
		      tor_reduce_fn fn)
{
	struct tor_bytes pieces[PIECES];
	bool fpu = tor_type_is_float(op->call.type);
	u8 pattern[PATTERN];
	struct tor_stream s;
	u64 off, len;
	u32 i, k;

	for (i = 0; i + op->elem <= sizeof(pattern); i += op->elem)
		memcpy(pattern + i, element, op->elem);
	for (k = 0; k < PIECES; k++)
		pieces[k] = (struct tor_bytes){ pattern, i };
	for (off = 0; off < bytes; off += len) {
		len = min_t(u64, bytes - off, (u64)PIECES * i);
		if (fpu && !tor_env_fpu_begin()) {
			tor_assert(false);
			return;
		}
		tor_stream_init(&s, pieces, PIECES);
		tor_stream_reduce(&s, mem, off, tor_div64(len, op->elem), op->elem, fn);
		if (fpu)
			tor_env_fpu_end();
	}
}

void tor_scale_average(const struct tor_op *op, struct tor_mem *mem, u64 bytes)
{
	u8 ranks[sizeof(u64)];

	make_number(op->call.type, op->comm->ranks, ranks);
	scale_all(op, mem, bytes, ranks, tor_reduce_quotient(op->call.type));
}

void tor_scale_multiply(const struct tor_op *op, struct tor_mem *mem, u64 bytes, const void *factor)
{
	scale_all(op, mem, bytes, factor, tor_reduce_kernel(op->call.type, TORCOLL_PROD));
}
