// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Segments of TCP. See packet.h. */
#include "packet.h"

#include <string.h>

#include "core/packet/mac.h"

static void put(u8 *p, u32 bytes, u64 value)
{
	while (bytes--) {
		p[bytes] = value;
		value >>= 8;
	}
}

static u32 sum(const u8 *p, u32 len, u32 from)
{
	for (; len; p += 2, len -= 2)
		from += p[0] << 8 | p[1];
	return from;
}

static u16 folded(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

void packet_write(u8 *p, u32 tag, u32 src, u32 dst, u32 seq, u32 payload)
{
	u8 *ip = p + 14, *tcp = p + 34;

	memset(p, 0, PACKET_HEADERS);
	memset(p + PACKET_HEADERS, 0x5a, payload);
	put(p, 6, tor_packet_mac(tag, dst));
	put(p + 6, 6, tor_packet_mac(tag, src));
	put(p + 12, 2, 0x0800);

	put(ip, 4, 0x45000000 | (40 + payload));
	put(ip + 4, 4, 0x4000);			/* may not be cut */
	put(ip + 8, 2, 64 << 8 | 6);
	put(ip + 12, 4, 0x0a070001 + src);
	put(ip + 16, 4, 0x0a070001 + dst);
	put(ip + 10, 2, folded(sum(ip, 20, 0)));

	put(tcp, 4, 5001U << 16 | 5001);
	put(tcp + 4, 4, seq);
	put(tcp + 8, 4, 1);
	put(tcp + 12, 4, 0x5010ffff);		/* no options, an ack */
	put(tcp + 16, 2, folded(sum(ip + 12, 28 + payload, 6 + 20 + payload)));
}
