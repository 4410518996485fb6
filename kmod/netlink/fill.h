/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that put the attributes of an object into a message.
 *
 * Those return 0, or -EMSGSIZE if they do not fit. Context: RTNL; for comms and
 * ops, RCU or a reference; for comms that are being joined, also fabric->lock.
 */
#ifndef _TOR_NETLINK_FILL_H
#define _TOR_NETLINK_FILL_H

#include <linux/skbuff.h>

#include "net/fabric.h"

struct tor_change;
struct tor_group;
struct tor_slot;

/* Sums over a fabric's ports and comms. */
struct tor_totals {
	u32 ports, up, comms, groups, ops, reached;
	u64 memory;		/* without comms */
	u64 comm_memory;
};

void tor_totals(struct tor_fabric *fabric, struct tor_totals *t);

int tor_fill_fabric(struct sk_buff *msg, struct tor_fabric *fabric);
int tor_fill_node(struct sk_buff *msg, struct tor_fabric *fabric);
/* Fill in a port, or its place if it is gone. */
int tor_fill_port(struct sk_buff *msg, struct tor_fabric *fabric, u32 index);
int tor_fill_comm(struct sk_buff *msg, const struct tor_group *group);
/*
 * Fill in a comm that waits for rank @missing of this node, as rank @seat of it
 * sees it.
 */
int tor_fill_seat(struct sk_buff *msg, const struct tor_group *seat, u32 missing);
int tor_fill_op(struct sk_buff *msg, struct tor_slot *slot);
/*
 * Fill in an op that ranks of this node have not called, except the one of
 * @slot; as if its channel waited for them.
 */
int tor_fill_waiting(struct sk_buff *msg, const struct tor_slot *slot);
int tor_fill_stats(struct sk_buff *msg, const struct tor_fabric *fabric);
int tor_fill_tune(struct sk_buff *msg, const struct tor_fabric *fabric);
int tor_fill_observed(struct sk_buff *msg, const struct tor_fabric *fabric,
		      const struct tor_observed *o);
/* Fill in change @seq of a fabric's links; in netlink/log.c. */
int tor_fill_change(struct sk_buff *msg, const struct tor_fabric *fabric, u64 seq,
		    const struct tor_change *change);

#endif
