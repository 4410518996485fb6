// SPDX-License-Identifier: GPL-2.0
/*
 * CRC32C by tables. See crc_table.h. The kernel exports its own up to 6.14 only;
 * later, its library takes the instruction wherever there is one.
 */
#include "crc_table.h"

#include <linux/cache.h>
#include <linux/string.h>

#define POLYNOMIAL	0x82f63b78	/* Castagnoli, reflected */

/* Effect on the sum of a byte with as many bytes of its word behind it. */
static u32 table[sizeof(u64)][256] __ro_after_init;

void tor_crc_table_init(void)
{
	u32 byte, bit, behind;

	for (byte = 0; byte < 256; byte++) {
		u32 sum = byte;

		for (bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
		table[0][byte] = sum;
	}
	for (behind = 1; behind < sizeof(u64); behind++)
		for (byte = 0; byte < 256; byte++) {
			u32 sum = table[behind - 1][byte];

			table[behind][byte] = sum >> 8 ^ table[0][sum & 0xff];
		}
}

static u32 add_word(u64 word)
{
	return table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^ table[5][word >> 16 & 0xff] ^
	       table[4][word >> 24 & 0xff] ^ table[3][word >> 32 & 0xff] ^
	       table[2][word >> 40 & 0xff] ^ table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
}

u32 tor_crc_table(u32 crc, const void *p, size_t n)
{
	const u8 *at = p;
	__le64 word;

	for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		crc = add_word(le64_to_cpu(word) ^ crc);
	}
	for (; n; n--, at++)
		crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
	return crc;
}
