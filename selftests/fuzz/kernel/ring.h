/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Nodes 0 and 2 of a ring of four, each in a namespace of its own, whose cables end at packet sockets: nodes 1 and 3 are whoever
 * has these. The MAC address of a node's port is 02:00:00:00:00:1P.
 */
#ifndef _KFUZZ_RING_H
#define _KFUZZ_RING_H

#include "host_env.h"

#define RING_SIDE	4
#define RING_NODES	2
#define RING_PORTS	4		/* of node 0 towards 1 and 3, of node 2 towards 3 and 1 */
#define RING_MTU	9000

/* The other end of each port's cable, where nothing waits. */
extern int ring_packet[RING_PORTS];

/* The first or the second of the nodes that there are. */
static inline int ring_node(int port)
{
	return port / 2;
}

/* The other port of the node that the fuzzer is behind @port, and that node. */
static inline int ring_beyond(int port)
{
	return RING_PORTS - 1 - port;
}

static inline u32 ring_neighbour(int port)
{
	return port == 0 || port == 3 ? 1 : 3;
}

/* Once, in the initial namespace. */
void ring_make(void);

/* From here on the caller is a process of that node. */
void ring_enter(int node);

/* Plug a port's cable in or out, by its device, which takes frames of @mtu bytes. */
void ring_set_device(int port, bool up, int mtu);

#endif
