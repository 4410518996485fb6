// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Headers of packets. See header.h. */
#include "core/packet/header.h"

u32 tor_packet_number(struct tor_node *node)
{
	u32 number;

	do {
		number = atomic_add_return(1, &node->packets);
	} while (unlikely(!number));
	return number;
}

void tor_packet_header(const struct tor_node *node, void *buf, u32 dst, u32 flow, u32 number,
		       u8 hop_limit, u32 length)
{
	struct tor_hdr h;

	tor_node_header(node, &h, TORCOLL_FRAME_PACKET, dst);
	h.hop_limit = hop_limit;
	h.digest = flow;
	h.op = number;
	h.length = length;
	tor_wire_build(buf, &h, NULL);
}

void tor_packet_relength(void *hdr, u32 length)
{
	tor_wire_relength(hdr, length);
}

bool tor_packet_alike(const void *a, const void *b)
{
	const size_t length = offsetof(struct torcoll_hdr, length);
	const size_t stamp = offsetof(struct torcoll_hdr, stamp);
	const size_t crc = offsetof(struct torcoll_hdr, header_crc);

	return !memcmp(a, b, length) && !memcmp(a + stamp, b + stamp, crc - stamp);
}
