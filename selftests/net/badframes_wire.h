/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cable between nodes 0 and 1, for badframes: its end at node 1, where what is thrown comes to node 0, and what either sends
 * is heard; and the CRCs of frames.
 */
#ifndef SELFTESTS_BADFRAMES_WIRE_H
#define SELFTESTS_BADFRAMES_WIRE_H

#include "bad.h"

#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/torcoll_wire.h>

#define DEVICE		"d0m"		/* of node 1, towards node 0 */
#define FRAME_MAX	9014

static unsigned char node1[ETH_ALEN];
static int packet;

static inline uint32_t crc32c(uint32_t crc, const void *p, size_t n)
{
	static uint32_t table[256];
	const unsigned char *byte = p;
	unsigned int i, k;

	for (i = 0; !table[1] && i < 256; i++) {
		uint32_t c = i;

		for (k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78 : 0);
		/* entry 1 says that all are there: last */
		table[i] = i == 1 ? 0 : c;
		if (i == 255)
			table[1] = 0xf26b8303;
	}
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *byte++) & 0xff];
	return crc;
}

static inline void set_header_crc(unsigned char *frame, unsigned int acks)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	unsigned char limit = hdr->hop_limit;

	hdr->hop_limit = 0;
	hdr->header_crc = 0;
	hdr->header_crc = htobe32(~crc32c(~0U, hdr, sizeof(*hdr) + acks * sizeof(struct torcoll_ack)));
	hdr->hop_limit = limit;
}

static inline void open_packet(void)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
	};
	socklen_t len = sizeof(at);

	enter_node(1);
	packet = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	need(packet >= 0, "no packet socket");
	at.sll_ifindex = if_nametoindex(DEVICE);
	need(at.sll_ifindex && !bind(packet, (struct sockaddr *)&at, sizeof(at)), "no %s", DEVICE);
	need(!getsockname(packet, (struct sockaddr *)&at, &len), "no address of %s", DEVICE);
	memcpy(node1, at.sll_addr, ETH_ALEN);
}

/* Has such a frame come since forget_heard()? */
static inline bool was_heard(unsigned int type, uint32_t src, uint32_t dst)
{
	unsigned char frame[FRAME_MAX];
	const struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	bool heard = false;
	ssize_t len;

	while ((len = recv(packet, frame, sizeof(frame), MSG_DONTWAIT)) >= 0)
		heard |= len >= (ssize_t)(ETH_HLEN + sizeof(*hdr)) &&
			 hdr->version == TORCOLL_WIRE_VERSION && hdr->type == type &&
			 be32toh(hdr->src) == src && be32toh(hdr->dst) == dst;
	return heard;
}

/* Wait for a frame of a type, from node @src to node @dst, on the cable between nodes 0 and 1. */
static inline const struct torcoll_hdr *hear(unsigned int type, uint32_t src, uint32_t dst,
					     unsigned char *frame)
{
	const struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	struct pollfd wait = { .fd = packet, .events = POLLIN };
	uint64_t end = now_ns() + 20 * NS_PER_S;
	ssize_t len;

	while (now_ns() < end) {
		if (poll(&wait, 1, 1000) <= 0)
			continue;
		len = recv(packet, frame, FRAME_MAX, MSG_DONTWAIT);
		if (len < (ssize_t)(ETH_HLEN + sizeof(*hdr)) || hdr->version != TORCOLL_WIRE_VERSION)
			continue;
		if (hdr->type == type && be32toh(hdr->src) == src && be32toh(hdr->dst) == dst)
			return hdr;
	}
	need(false, "node %u never sent a frame of type %u to %u", src, type, dst);
	return NULL;
}

static inline void forget_heard(void)
{
	unsigned char frame[64];

	while (recv(packet, frame, sizeof(frame), MSG_DONTWAIT) >= 0)
		;
}

static inline bool throw(const unsigned char *frame, size_t len)
{
	/* a full queue is no matter of ours */
	while (send(packet, frame, len, 0) < 0)
		if (errno != ENOBUFS)
			return false;
	return true;
}

#endif
