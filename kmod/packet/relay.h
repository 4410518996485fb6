/* SPDX-License-Identifier: GPL-2.0 */
/* Relaying of packets, the frames of the network device. See relay.c. */
#ifndef _TOR_PACKET_RELAY_H
#define _TOR_PACKET_RELAY_H

#include "core/wire/accept.h"
#include "net/port.h"

/**
 * tor_packet_relay - handle a packet that is not for this node alone
 * @in: port that it came in by
 * @skb: not shared, torcoll's header linear at skb->data; consumed
 * @h: its header, which is plausible: from another node of the fabric, to a
 *	third one or to TORCOLL_NODE_ALL
 *
 * A packet to one node goes on to it. One to all goes on by all other links of
 * the tree, and to the own network device, the first time that it comes.
 * Context: softirq, RCU.
 */
void tor_packet_relay(struct tor_port *in, struct sk_buff *skb, const struct tor_intact *h);

#endif
