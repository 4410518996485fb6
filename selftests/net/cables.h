/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listening on all cables of a torus of two dimensions, in the namespaces that
 * torcollctl netns up makes: every frame with a packet of the network device, once
 * for each cable that it crosses.
 */
#ifndef SELFTESTS_CABLES_H
#define SELFTESTS_CABLES_H

#include "bad.h"

#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/torcoll_wire.h>

#define CABLES_NODES	64
#define CABLES_PORTS	4
#define CABLES_FRAME	9014
#define CABLES_NAMES	{ "d0p", "d0m", "d1p", "d1m" }

struct cables {
	unsigned int side[2];
	unsigned int nodes;
	int fd[CABLES_NODES * CABLES_PORTS];
};

/* What a frame begins with: more of it is not looked at. */
#define CABLES_SNAP	512

/*
 * A frame that came to port @port of node @node. @len: of the whole frame without
 * the MAC header; no more than CABLES_SNAP bytes of it can be read
 */
typedef void (*cables_fn)(unsigned int node, unsigned int port, const struct torcoll_hdr *hdr,
			  size_t len, void *arg);

/* A socket on a device of the namespace that the caller is in, for one EtherType or ETH_P_ALL. */
static inline int packet_socket(const char *dev, unsigned int type)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(type) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	const int bytes = 32 << 20;

	at.sll_ifindex = if_nametoindex(dev);
	need(fd >= 0 && at.sll_ifindex && !bind(fd, (struct sockaddr *)&at, sizeof(at)),
	     "no packet socket on %s", dev);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	return fd;
}

/* What it has not taken, since the last question. */
static inline unsigned int packet_drops(int fd)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	need(!getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len), "no statistics");
	return stats.tp_drops;
}

static inline void cables_open(struct cables *cables, unsigned int width, unsigned int height)
{
	static const char *const names[] = CABLES_NAMES;
	unsigned int i;

	cables->side[0] = width;
	cables->side[1] = height;
	cables->nodes = width * height;
	need(width > 2 && height > 2 && cables->nodes <= CABLES_NODES, "sides of 3 and more");
	for (i = 0; i < cables->nodes * CABLES_PORTS; i++) {
		if (i % CABLES_PORTS == 0)
			enter_node(i / CABLES_PORTS);
		cables->fd[i] = packet_socket(names[i % CABLES_PORTS], TORCOLL_ETHERTYPE);
	}
}

/* All that has come since. Return: frames that the sockets had no room for. */
static inline unsigned int cables_read(struct cables *cables, cables_fn fn, void *arg)
{
	static unsigned char frame[ETH_HLEN + CABLES_SNAP];
	const struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	unsigned int i, drops = 0;
	ssize_t len;

	for (i = 0; i < cables->nodes * CABLES_PORTS; i++) {
		while ((len = recv(cables->fd[i], frame, sizeof(frame), MSG_DONTWAIT | MSG_TRUNC)) >= 0)
			if (len >= (ssize_t)(ETH_HLEN + sizeof(*hdr)) && hdr->type == TORCOLL_FRAME_PACKET)
				fn(i / CABLES_PORTS, i % CABLES_PORTS, hdr, len - ETH_HLEN, arg);
		drops += packet_drops(cables->fd[i]);
	}
	return drops;
}

/*
 * The cable of that port, as a number: of the node at whose end it leads towards
 * plus, and the dimension.
 */
static inline unsigned int cables_number(const struct cables *cables, unsigned int node,
					 unsigned int port)
{
	unsigned int dim = port / 2, stride = dim ? cables->side[0] : 1;
	unsigned int side = cables->side[dim], c = node / stride % side;

	if (port % 2)
		node = node - c * stride + (c + side - 1) % side * stride;
	return node * 2 + dim;
}

#endif
