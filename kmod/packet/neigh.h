/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests for the MAC addresses of nodes: a node's address follows from its
 * number, so that the device answers most of them by itself.
 */
#ifndef _TOR_PACKET_NEIGH_H
#define _TOR_PACKET_NEIGH_H

#include <linux/types.h>

struct sk_buff;
struct tor_packet_dev;

/**
 * tor_neigh_answer - answer a request for the address of a node
 * @packet: device by which it leaves
 * @skb: a packet, its MAC header at skb->data; it may be shared, and is not
 *	changed but for making headers linear
 *
 * These are ARP requests and neighbour solicitations, also those that ask
 * whether an address is in use, for addresses of the device's prefixes and for
 * IPv6 addresses whose interface identifier is that of a node's MAC address,
 * other than this node's. The answer comes in by the device. About a node that
 * cannot be reached there is none: who asks finds out as on an Ethernet. A node's
 * link-local address is answered by that node: see tor_neigh_asked().
 *
 * Context: softirq or process, bottom halves off, RCU.
 * Return: true: @skb is consumed; false: it is to be sent as any other.
 */
bool tor_neigh_answer(struct tor_packet_dev *packet, struct sk_buff *skb);

/**
 * tor_neigh_asked - find out who alone has to get a packet to a group
 * @packet: device by which it leaves
 * @skb: as of tor_neigh_answer(), to no node's MAC address
 *
 * Context: as of tor_neigh_answer().
 * Return: the node whose link-local address is asked for, or TORCOLL_NODE_ALL.
 */
u32 tor_neigh_asked(const struct tor_packet_dev *packet, struct sk_buff *skb);

#endif
