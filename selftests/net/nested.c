// SPDX-License-Identifier: GPL-2.0
/*
 * Super frames whose inner frame has torcoll's EtherType again, by a user namespace's packet socket: the kernel cuts
 * what a user sends by the header of the innermost frame, and looks for that by calling itself. For bad.sh: wants a
 * fabric somewhere on this kernel, says KTAP.
 */
#include "badframes_wire.h"

#include <stddef.h>

#include <linux/virtio_net.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>

#define LEVEL	(ETH_HLEN + sizeof(struct torcoll_hdr))
/* as many as 64 KiB hold */
#define DEEP	820
#define SEGMENT	500

/* What the frame of the outermost level carries at last: bytes of TCP over IPv4. */
static size_t fill_innermost(unsigned char *p, size_t room)
{
	struct iphdr *ip = (void *)(p + ETH_HLEN);
	struct tcphdr *tcp = (void *)(ip + 1);
	size_t len = room < 4 * SEGMENT ? room : 4 * SEGMENT;

	p[12] = ETH_P_IP >> 8;
	*ip = (struct iphdr){
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_TCP,
		.tot_len = htons(len - ETH_HLEN), .saddr = htonl(INADDR_LOOPBACK), .daddr = htonl(INADDR_LOOPBACK),
	};
	tcp->doff = 5;
	return len;
}

/* Return: bytes of a frame at @frame with so many of torcoll's headers. */
static size_t fill(unsigned char *frame, size_t room, unsigned int levels)
{
	size_t len = levels * LEVEL;
	unsigned int i;

	memset(frame, 0, room);
	len += fill_innermost(frame + len, room - len);
	for (i = 0; i < levels; i++) {
		unsigned char *p = frame + i * LEVEL;
		struct torcoll_hdr *hdr = (void *)(p + ETH_HLEN);

		p[12] = TORCOLL_ETHERTYPE >> 8;
		p[13] = TORCOLL_ETHERTYPE & 0xff;
		*hdr = (struct torcoll_hdr){
			.version = TORCOLL_WIRE_VERSION,
			.type = TORCOLL_FRAME_PACKET,
			.hop_limit = 9,
			.src = htobe32(1),
			.src_epoch = htobe32(1),
			.length = htobe32(len - (i + 1) * LEVEL),
		};
		set_header_crc(p, 0);
	}
	return len;
}

/* Send one by the loopback device. Return 0 or the errno. */
static int send_nested(int fd, unsigned int levels)
{
	static unsigned char buf[sizeof(struct virtio_net_hdr) + 65000];
	struct virtio_net_hdr *hdr = (void *)buf;
	size_t len = fill((void *)(hdr + 1), sizeof(buf) - sizeof(*hdr), levels);

	*hdr = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.gso_size = SEGMENT,
		.csum_start = levels * LEVEL + ETH_HLEN + sizeof(struct iphdr),
		.csum_offset = offsetof(struct tcphdr, check),
	};
	return send(fd, buf, sizeof(*hdr) + len, 0) < 0 ? errno : 0;
}

/* A packet socket of the loopback device of a new user namespace's own network. */
static int open_lo(void)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	const int on = 1;
	int fd;

	need(!unshare(CLONE_NEWUSER | CLONE_NEWNET), "no user namespace");
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	need(fd >= 0 && !setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)), "no packet socket");
	need(!ioctl(fd, SIOCSIFFLAGS, &req), "lo stays down");
	at.sll_ifindex = if_nametoindex("lo");
	need(!bind(fd, (struct sockaddr *)&at, sizeof(at)), "no address of lo");
	return fd;
}

/* Return whether it is cut or, if @levels is more than one, refused where it would be. */
static bool is_right(int fd, unsigned int levels)
{
	int err = send_nested(fd, levels);

	printf("# %u levels: %s\n", levels, strerror(err));
	return levels > 1 ? err == ENOMEM : !err;
}

int main(void)
{
	int fd = open_lo();

	result(is_right(fd, 1), "one_level__is_cut");
	result(is_right(fd, 2), "two_levels__are_refused");
	result(is_right(fd, DEEP), "all_levels__are_refused");
	return finish();
}
