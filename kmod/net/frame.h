/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames: between skbs and core. See frame.c.
 */
#ifndef _TOR_FRAME_H
#define _TOR_FRAME_H

#include "net/fabric.h"

struct tor_port;
struct tor_slot;

/**
 * struct tor_entry - one entry into core, and what came of it
 * @ctx: what core sees
 * @late: softirqs have had the processor for long: what can be left to a process is
 * @works: whoever entered calls tor_chan_work() by himself
 * @port: that the frame at hand came in by, or NULL
 * @drop: why that frame, or a part of it, was thrown away; of use to none but the kernel's tools
 * @frames: to be sent when all locks are dropped
 * @retired: op slots that core is done with, linked by ->next_retired
 *
 * Begin, take a lock, call core, drop it, any number of times; end. All of it inside one
 * rcu_read_lock() section with bottom halves off.
 */
struct tor_entry {
	struct tor_ctx ctx;
	bool late;
	bool works;
	struct tor_port *port;
	enum skb_drop_reason drop;
	struct sk_buff_head frames;
	struct tor_slot *retired;
};

void tor_entry_begin(struct tor_entry *entry);
void tor_entry_end(struct tor_entry *entry);

/*
 * A frame that came in by @port is thrown away: count and trace it. The skb stays the caller's, who frees it for the reason
 * returned.
 */
enum skb_drop_reason tor_port_drop(struct tor_port *port, enum tor_counter why);

/* The same of the frame at hand, or of a part of it, which came in by entry->port. Its skb is freed by whoever entered. */
void tor_entry_drop(struct tor_entry *entry, enum tor_counter why);

/* One of a port's backlog. Consumes @skb. Context: process, BH, RCU. */
void tor_frame_late(struct tor_port *port, struct sk_buff *skb);

/* struct packet_type's functions of a port. Context: softirq, RCU. */
int tor_frame_rx(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		 struct net_device *orig);
void tor_frame_rx_list(struct list_head *list, struct packet_type *type, struct net_device *orig);

#endif
