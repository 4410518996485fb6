// SPDX-License-Identifier: MIT
/*
 * A flood of frames of one kind into a port, and how long it takes until all have gone as far as they go.
 *
 *	flood torcoll|bare|ip DEVICE NEXT-MAC DESTINATION BYTES COUNT
 *
 * DESTINATION is a node, for ip the last byte of 10.9.0.x; BYTES the frame's length without the MAC header. Prints
 * nanoseconds for each frame. On one processor, as under -icount, a frame has gone all its way when sending it
 * returns: forwarding is done in the softirq behind the system call.
 *
 * torcoll frames are aborts of a comm that nobody has: nobody answers those.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "../profile/mark.h"
#include "core/host_hash.h"
#include "core/wire/wire.h"

#define BARE	0x88B6

static unsigned char frame[ETH_HLEN + 9000];

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	return host_crc32c(crc, p, n);
}

static int help(void)
{
	fputs("usage: flood torcoll|bare|ip DEVICE NEXT-MAC DESTINATION BYTES COUNT\n", stderr);
	return 2;
}

static void make_torcoll(unsigned int dst, unsigned int bytes, unsigned int tag)
{
	struct tor_hdr h = {
		.version = TORCOLL_WIRE_VERSION,
		.type = TORCOLL_FRAME_ABORT,
		.hop_limit = 255,
		.fabric = tag,
		.dst = dst,
		.comm = 0x12345678,
		.length = bytes - sizeof(struct torcoll_hdr),
	};

	h.payload_crc = tor_wire_crc(frame + ETH_HLEN + sizeof(struct torcoll_hdr), h.length);
	tor_wire_build(frame + ETH_HLEN, &h, NULL);
}

static unsigned short ip_sum(const unsigned char *p)
{
	unsigned int sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void make_ip(unsigned int dst, unsigned int bytes)
{
	unsigned char *p = frame + ETH_HLEN;
	unsigned short sum;

	memset(p, 0, 20);
	p[0] = 0x45;
	p[2] = bytes >> 8;
	p[3] = bytes;
	p[8] = 64;
	p[9] = 253;
	memcpy(p + 12, (unsigned char[]){ 10, 9, 0, 200, 10, 9, 0, dst }, 8);
	sum = ip_sum(p);
	p[10] = sum >> 8;
	p[11] = sum;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int mac(const char *text, unsigned char *to)
{
	return sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", to, to + 1, to + 2, to + 3, to + 4,
		      to + 5) == 6 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	unsigned int dst, bytes, type;
	double begin;
	long count;
	int fd;

	if (argc < 7 || mac(argv[3], frame))
		return help();
	to.sll_ifindex = if_nametoindex(argv[2]);
	dst = strtoul(argv[4], NULL, 0);
	bytes = strtoul(argv[5], NULL, 0);
	count = strtol(argv[6], NULL, 0);
	if (!to.sll_ifindex || bytes < 64 || bytes > 9000 || count < 1)
		return help();
	if (!strcmp(argv[1], "torcoll")) {
		type = TORCOLL_ETHERTYPE;
		/* the fabric's tag is what torcoll puts into its hellos */
		make_torcoll(dst, bytes, argc > 7 ? strtoul(argv[7], NULL, 0) : 0);
	} else if (!strcmp(argv[1], "ip")) {
		type = ETH_P_IP;
		make_ip(dst, bytes);
	} else if (!strcmp(argv[1], "bare")) {
		type = BARE;
	} else {
		return help();
	}
	frame[12] = type >> 8;
	frame[13] = type;
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0) {
		perror("flood: socket");
		return 1;
	}
	profile_begin();
	begin = now();
	for (long i = 0; i < count; i++) {
		if (sendto(fd, frame, ETH_HLEN + bytes, 0, (struct sockaddr *)&to, sizeof(to)) < 0) {
			perror("flood: send");
			return 1;
		}
	}
	profile_end();
	printf("%.1f\n", (now() - begin) / count);
	return 0;
}
