/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* CRC32C and SipHash for implementations of env.h on the host. Not part of core. */
#ifndef _TOR_CORE_HOST_HASH_H
#define _TOR_CORE_HOST_HASH_H

#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "core/env.h"

#define HOST_CRC32C_POLYNOMIAL	0x82f63b78	/* Castagnoli, reflected */

static inline u32 host_crc32c_table(u32 crc, const void *p, size_t n)
{
	static u32 table[256];
	const u8 *b = p;
	u32 i, k, c;

	if (!table[1]) {
		/* from the top: once table[1] is set, the table is complete */
		for (i = 256; i-- > 0;) {
			for (c = i, k = 0; k < 8; k++)
				c = c & 1 ? c >> 1 ^ HOST_CRC32C_POLYNOMIAL : c >> 1;
			table[i] = c;
		}
	}
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *b++) & 0xff];
	return crc;
}

#ifdef __x86_64__
static inline __attribute__((__target__("sse4.2"))) u32
host_crc32c_sse42(u32 crc, const void *p, size_t n)
{
	const u8 *b = p;
	u64 word, wide = crc;

	for (; n >= sizeof(word); n -= sizeof(word), b += sizeof(word)) {
		memcpy(&word, b, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	for (crc = wide; n; n--)
		crc = __builtin_ia32_crc32qi(crc, *b++);
	return crc;
}
#elif defined(__aarch64__)
static inline __attribute__((__target__("+crc"))) u32
host_crc32c_arm64(u32 crc, const void *p, size_t n)
{
	const u8 *b = p;
	u64 word;

	for (; n >= sizeof(word); n -= sizeof(word), b += sizeof(word)) {
		memcpy(&word, b, sizeof(word));
		crc = __builtin_aarch64_crc32cx(crc, word);
	}
	while (n--)
		crc = __builtin_aarch64_crc32cb(crc, *b++);
	return crc;
}
#endif

/* Implements tor_env_crc32c(). */
static inline u32 host_crc32c(u32 crc, const void *p, size_t n)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return host_crc32c_sse42(crc, p, n);
#elif defined(__aarch64__)
	if (getauxval(AT_HWCAP) & HWCAP_CRC32)
		return host_crc32c_arm64(crc, p, n);
#endif
	return host_crc32c_table(crc, p, n);
}

static inline u64 host_rotl64(u64 x, u32 by)
{
	return x << by | x >> (64 - by);
}

static inline void host_sip_rounds(u64 v[4], u32 n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = host_rotl64(v[1], 13) ^ v[0];
		v[0] = host_rotl64(v[0], 32);
		v[2] += v[3];
		v[3] = host_rotl64(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = host_rotl64(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = host_rotl64(v[1], 17) ^ v[2];
		v[2] = host_rotl64(v[2], 32);
	}
}

/* SipHash-2-4. With @k1 0 it implements tor_env_hash(). */
static inline u64 host_siphash(const void *p, size_t n, u64 k0, u64 k1)
{
	u64 v[4] = {
		k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
		k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL,
	};
	u64 word, length = (u64)n << 56;
	const u8 *b = p;
	bool last;

	do {
		last = n < sizeof(word);
		word = 0;
		memcpy(&word, b, last ? n : sizeof(word));
		word = le64toh(word);
		if (last)
			word |= length;
		v[3] ^= word;
		host_sip_rounds(v, 2);
		v[0] ^= word;
		n -= sizeof(word);
		b += sizeof(word);
	} while (!last);
	v[2] ^= 0xff;
	host_sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
