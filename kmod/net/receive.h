/* SPDX-License-Identifier: GPL-2.0 */
/* Reception of frames, from a device to core. See receive.c. */
#ifndef _TOR_RECEIVE_H
#define _TOR_RECEIVE_H

#include "net/entry.h"

struct tor_group;

/*
 * Receive a frame from a backlog, admitted when it arrived; skb->cb begins with
 * the number of its cable, a u32. Consumes @skb. Context: process, BH, RCU.
 */
void tor_frame_late(struct tor_fabric *fabric, struct sk_buff *skb);

/* Functions of a port's struct packet_type. Context: softirq, RCU. */
int tor_frame_rx(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		 struct net_device *orig);
void tor_frame_rx_list(struct list_head *list, struct packet_type *type, struct net_device *orig);

/*
 * Find the group of a frame, if its sender is a member; @tag: of its comm. NULL:
 * the frame, or this part of it, was dropped. Context: BH, RCU.
 */
struct tor_group *tor_frame_group(struct tor_entry *entry, const struct tor_hdr *h, u32 tag,
				  u32 *rank);

/*
 * Describe the payload as up to MAX_SKB_FRAGS + 1 pieces of memory. Return their
 * number, 0 if it is not accessible.
 */
u32 tor_frame_payload(struct sk_buff *skb, const struct tor_hdr *h, struct tor_bytes *piece);

/*
 * The queue of a port refused an own data frame, of which @h holds what a
 * tor_wire_note does: its channel sends it again. Context: BH, RCU, no lock
 * held.
 */
void tor_frame_refused(struct tor_entry *entry, struct tor_fabric *fabric,
		       const struct tor_hdr *h);

/*
 * Receive a frame of another type than data and acknowledgements, which came by @port for this node; in
 * control.c. Does not consume @skb. Context: BH, RCU, no lock held.
 */
void tor_control_rx(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		    const struct tor_hdr *h);

#endif
