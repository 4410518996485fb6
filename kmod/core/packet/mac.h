/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MAC addresses of network devices: 02:74:TT:NN:NN:NN, locally administered. T
 * is the lowest byte of the fabric's tag, N the node. Every node knows the
 * addresses of all others without asking. As numbers, they have the first byte
 * on the wire in bits 40 to 47.
 */
#ifndef _TOR_CORE_MAC_H
#define _TOR_CORE_MAC_H

#include "core/link/node.h"

#define TOR_NO_NODE	(~0U)

/* The address of @node in the fabric of @tag. Context: any. */
static inline u64 tor_packet_mac(u32 tag, u32 node)
{
	return 0x0274ULL << 32 | (u64)(tag & 0xff) << 24 | node;
}

/*
 * The node whose address @mac is in the fabric of @node; TOR_NO_NODE: it is no
 * such address. Context: any.
 */
static inline u32 tor_packet_node(const struct tor_node *node, u64 mac)
{
	u32 index = mac & 0xffffff;

	if (index >= node->torus.nodes || mac != tor_packet_mac(node->tag, index))
		return TOR_NO_NODE;
	return index;
}

static_assert(TOR_MAX_NODES <= 1U << 24);

#endif
