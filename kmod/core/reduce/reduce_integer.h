/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernels of one integer type: reduce.c includes this once per type, with
 * TYPE defined.
 *
 * Plain C, because they must run where the FPU may not be used. Operands have
 * no alignment, so elements are accessed by memcpy(), which compiles to a load
 * or a store.
 */
#define PASTE_AGAIN(a, b)	a##_##b
#define PASTE(a, b)		PASTE_AGAIN(a, b)

#define INTEGER_KERNEL(name, expression)				\
static void PASTE(name, TYPE)(void *dst, const void *first,		\
			      const void *second, size_t n)		\
{									\
	const char *f = first, *s = second;				\
	char *d = dst;							\
	TYPE a, b;							\
									\
	for (; n; n--, d += sizeof(a), f += sizeof(a), s += sizeof(a)) {	\
		memcpy(&a, f, sizeof(a));				\
		memcpy(&b, s, sizeof(b));				\
		a = (expression);					\
		memcpy(d, &a, sizeof(a));				\
	}								\
}

/* in unsigned 64 bits, where overflow wraps */
INTEGER_KERNEL(sum, (u64)a + (u64)b)
INTEGER_KERNEL(prod, (u64)a * (u64)b)
/* the divisor is a number of ranks: neither 0 nor -1 */
INTEGER_KERNEL(quotient, a / b)
INTEGER_KERNEL(min, b < a ? b : a)
INTEGER_KERNEL(max, b > a ? b : a)
INTEGER_KERNEL(band, a & b)
INTEGER_KERNEL(bor, a | b)
INTEGER_KERNEL(bxor, a ^ b)
INTEGER_KERNEL(land, a && b)
INTEGER_KERNEL(lor, a || b)
INTEGER_KERNEL(lxor, !a != !b)

static const tor_reduce_fn PASTE(kernels, TYPE)[TORCOLL_REDOP_COUNT] = {
	[TORCOLL_SUM] = PASTE(sum, TYPE),
	[TORCOLL_PROD] = PASTE(prod, TYPE),
	[TORCOLL_AVG] = PASTE(sum, TYPE),
	[TORCOLL_PREMULSUM] = PASTE(sum, TYPE),
	[TORCOLL_MIN] = PASTE(min, TYPE),
	[TORCOLL_MAX] = PASTE(max, TYPE),
	[TORCOLL_BAND] = PASTE(band, TYPE),
	[TORCOLL_BOR] = PASTE(bor, TYPE),
	[TORCOLL_BXOR] = PASTE(bxor, TYPE),
	[TORCOLL_LAND] = PASTE(land, TYPE),
	[TORCOLL_LOR] = PASTE(lor, TYPE),
	[TORCOLL_LXOR] = PASTE(lxor, TYPE),
};

#undef INTEGER_KERNEL
#undef PASTE
#undef PASTE_AGAIN
#undef TYPE
