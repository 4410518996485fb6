// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Inputs of fuzzers. See fuzz.h.
 */
#include "fuzz.h"

void fuzz_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

u8 fuzz_u8(struct fuzz_in *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

u16 fuzz_u16(struct fuzz_in *in)
{
	u8 low = fuzz_u8(in);

	return low | fuzz_u8(in) << 8;
}

u32 fuzz_u32(struct fuzz_in *in)
{
	u16 low = fuzz_u16(in);

	return low | (u32)fuzz_u16(in) << 16;
}

u64 fuzz_u64(struct fuzz_in *in)
{
	u32 low = fuzz_u32(in);

	return low | (u64)fuzz_u32(in) << 32;
}

u32 fuzz_below(struct fuzz_in *in, u32 n)
{
	return n > 256 ? fuzz_u32(in) % n : fuzz_u8(in) % n;
}

void fuzz_torus(struct fuzz_in *in, struct tor_torus *torus)
{
	static const u8 shapes[][3] = {
		{ 2 }, { 3 }, { 4 }, { 5 }, { 8 }, { 9 }, { 2, 2 }, { 3, 3 }, { 4, 2 }, { 4, 4 }, { 5, 5 },
		{ 2, 3, 2 }, { 1 }, { 7 }, { 6, 3 }, { 2, 2, 2 }, { 12 },
	};
	const u8 *shape = shapes[fuzz_below(in, ARRAY_SIZE(shapes))];
	u32 side[3];
	u32 n;

	for (n = 0; n < 3 && shape[n]; n++)
		side[n] = shape[n];
	must(!tor_torus_init(torus, n, side, 1 + fuzz_below(in, 2)));
}

/* Make room for, or remove, bytes at @at. */
static size_t resize(u8 *data, size_t size, size_t at, size_t from, size_t to)
{
	memmove(data + at + to, data + at + from, size - at - from);
	return size - from + to;
}

size_t fuzz_mutate_records(u8 *data, size_t size, size_t max, unsigned int seed, size_t head,
			   size_t record)
{
	u64 state = seed;
	size_t n = size > head ? (size - head) / record : 0;
	u8 *a, *b, tmp[256];
	size_t i;

	must(record <= sizeof(tmp));
	if (!n || host_rand(&state) % 16 == 0)
		return LLVMFuzzerMutate(data, size, max);
	size = head + n * record;
	a = data + head + host_rand(&state) % n * record;
	b = data + head + host_rand(&state) % n * record;
	switch (host_rand(&state) % 8) {
	case 0:		/* again, somewhere */
	case 1:
		if (size + record > max)
			break;
		memcpy(tmp, a, record);
		size = resize(data, size, b - data, 0, record);
		memcpy(b, tmp, record);
		break;
	case 2:
		if (n > 1)
			size = resize(data, size, a - data, record, 0);
		break;
	case 3:
		memcpy(tmp, a, record);
		memcpy(a, b, record);
		memcpy(b, tmp, record);
		break;
	case 4:		/* one member of another */
		i = host_rand(&state) % record;
		a[i] = b[i];
		break;
	case 5:		/* a new one */
		if (size + record > max)
			break;
		host_fill(tmp, record, &state);
		size = resize(data, size, b - data, 0, record);
		memcpy(b, tmp, record);
		break;
	case 6:
		if (head)
			LLVMFuzzerMutate(data, head, head);
		break;
	default:
		LLVMFuzzerMutate(a, record, record);
	}
	return size;
}
