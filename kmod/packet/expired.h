/* SPDX-License-Identifier: GPL-2.0 */
/* Packets whose hop limit is used up, of which traceroute wants to hear. */
#ifndef _TOR_PACKET_EXPIRED_H
#define _TOR_PACKET_EXPIRED_H

struct sk_buff;
struct tor_intact;
struct tor_port;

/**
 * tor_packet_expired - tell the sender of a packet that it came no further
 * @port: that it came in by
 * @skb: with torcoll's header linear at skb->data; consumed
 * @in: its header
 *
 * The kernel's IP sends the message, "time exceeded", by the fabric's device
 * from an address of this node, as its limits and rules allow: none about
 * errors, fragments, or other packets than unicast ones. Without the device, or
 * without an address, the packet is only dropped, and counted in any case.
 *
 * Context: softirq, RCU, no locks.
 */
void tor_packet_expired(struct tor_port *port, struct sk_buff *skb, const struct tor_intact *in);

#endif
