// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Payload streams: pieces and memory that split anywhere, with the same result as in one piece. */
#include "host_env.h"

#include "core/transfer/stream.h"

#define BYTES	3000
#define PIECES	600

static u8 payload[BYTES];
static u8 memory[BYTES + 64], want[BYTES + 64];
static struct tor_bytes pieces[PIECES];
static u32 npieces;

/* Cut the payload into pieces of 0 to @most bytes, each in an allocation of its own for ASan. */
static void cut(u32 most, u64 *seed)
{
	u32 off, len;
	u8 *p;

	for (npieces = 0, off = 0; off < BYTES; off += len) {
		len = min_t(u32, host_rand(seed) % (most + 1), BYTES - off);
		if (npieces == PIECES - 1)
			len = BYTES - off;
		p = malloc(len);
		memcpy(p, payload + off, len);
		pieces[npieces++] = (struct tor_bytes){ p, len };
	}
}

static void uncut(void)
{
	u32 i;

	for (i = 0; i < npieces; i++)
		free((void *)pieces[i].p);
	npieces = 0;
}

static struct tor_mem splits(u64 *seed)
{
	struct tor_mem mem = { .data = memory, .len = sizeof(memory) };

	switch (host_rand(seed) % 4) {
	case 0:
		break;
	case 1:
		mem.run = 1 + host_rand(seed) % 40;
		mem.phase = host_rand(seed);
		break;
	case 2:
		mem.run = 4096;
		mem.phase = host_rand(seed) % BYTES;
		break;
	default:
		mem.odds = 1 + host_rand(seed) % 100;
		mem.seed = host_rand(seed);
	}
	return mem;
}

static void tor_stream_copy__any_split(void **state)
{
	struct tor_stream s;
	struct tor_mem mem;
	u32 i, off, skip, len;
	u64 seed = 5;

	(void)state;
	for (i = 0; i < 2000; i++) {
		host_fill(payload, sizeof(payload), &seed);
		host_fill(memory, sizeof(memory), &seed);
		memcpy(want, memory, sizeof(want));
		cut(1 + host_rand(&seed) % 1500, &seed);
		mem = splits(&seed);
		skip = host_rand(&seed) % BYTES;
		len = host_rand(&seed) % (BYTES - skip + 1);
		off = host_rand(&seed) % 64;
		memcpy(want + off, payload + skip, len);

		tor_stream_init(&s, pieces, npieces);
		tor_stream_skip(&s, skip);
		tor_stream_copy(&s, &mem, off, len);
		assert_memory_equal(memory, want, sizeof(want));
		uncut();
	}
}

/* Several steps on one stream, as a frame with several ranges takes them. */
static void tor_stream_reduce__any_split(void **state)
{
	static const u32 kinds[] = { TORCOLL_I8, TORCOLL_U16, TORCOLL_I32, TORCOLL_I64,
				     TORCOLL_F32, TORCOLL_F64 };
	u32 i, off, skip, n, elem, type;
	struct tor_stream s;
	struct tor_mem mem;
	tor_reduce_fn fn;
	u64 seed = 6;

	(void)state;
	for (i = 0; i < 3000; i++) {
		host_fill(payload, sizeof(payload), &seed);
		host_fill(memory, sizeof(memory), &seed);
		memcpy(want, memory, sizeof(want));
		cut(1 + host_rand(&seed) % 1500, &seed);
		mem = splits(&seed);
		type = kinds[i % ARRAY_SIZE(kinds)];
		elem = tor_type_size(type);
		fn = tor_reduce_kernel(type, TORCOLL_SUM);
		off = host_rand(&seed) % 64;

		tor_stream_init(&s, pieces, npieces);
		for (skip = 0; BYTES - skip >= elem; skip += n * elem, off += n * elem) {
			n = 1 + host_rand(&seed) % ((BYTES - skip) / elem);
			fn(want + off, want + off, payload + skip, n);
			tor_stream_reduce(&s, &mem, off, n, elem, fn);
		}
		assert_memory_equal(memory, want, sizeof(want));
		uncut();
	}
}

/* An element of 12 bytes: sizes need not be powers of two. */
static void sum_three(void *dst, const void *first, const void *second, size_t n)
{
	const u8 *f = first, *s = second;
	u8 *d = dst;

	for (n *= 12; n--;)
		*d++ = *f++ + *s++;
}

static void tor_stream_reduce__odd_element(void **state)
{
	struct tor_stream s;
	struct tor_mem mem;
	u64 seed = 7;
	u32 i;

	(void)state;
	for (i = 0; i < 500; i++) {
		host_fill(payload, sizeof(payload), &seed);
		host_fill(memory, sizeof(memory), &seed);
		memcpy(want, memory, sizeof(want));
		sum_three(want + 5, want + 5, payload, BYTES / 12);
		cut(1 + host_rand(&seed) % 60, &seed);
		mem = splits(&seed);
		tor_stream_init(&s, pieces, npieces);
		tor_stream_reduce(&s, &mem, 5, BYTES / 12, 12, sum_three);
		assert_memory_equal(memory, want, sizeof(want));
		uncut();
	}
}

static void tor_stream_crc__takes_nothing(void **state)
{
	struct tor_stream s;
	u32 i, skip, len;
	u8 buf[BYTES];
	u64 seed = 8;

	(void)state;
	for (i = 0; i < 1000; i++) {
		host_fill(payload, sizeof(payload), &seed);
		cut(1 + host_rand(&seed) % 1500, &seed);
		skip = host_rand(&seed) % BYTES;
		len = host_rand(&seed) % (BYTES - skip + 1);
		tor_stream_init(&s, pieces, npieces);
		tor_stream_skip(&s, skip);
		assert_int_equal(tor_stream_crc(&s, len), tor_wire_crc(payload + skip, len));
		tor_stream_read(&s, buf, len);
		assert_memory_equal(buf, payload + skip, len);
		uncut();
	}
}

static void tor_stream_init__empty(void **state)
{
	struct tor_bytes none[2] = { { NULL, 0 }, { NULL, 0 } };
	struct tor_mem mem = { .data = memory, .len = 1 };
	struct tor_stream s;

	(void)state;
	tor_stream_init(&s, none, 2);
	tor_stream_skip(&s, 0);
	tor_stream_copy(&s, &mem, 1, 0);
	tor_stream_reduce(&s, &mem, 1, 0, 4, tor_reduce_kernel(TORCOLL_I32, TORCOLL_SUM));
	assert_int_equal(tor_stream_crc(&s, 0), 0);
	tor_stream_init(&s, NULL, 0);
	tor_stream_skip(&s, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_stream_copy__any_split),
		cmocka_unit_test(tor_stream_reduce__any_split),
		cmocka_unit_test(tor_stream_reduce__odd_element),
		cmocka_unit_test(tor_stream_crc__takes_nothing),
		cmocka_unit_test(tor_stream_init__empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
