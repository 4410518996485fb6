// SPDX-License-Identifier: GPL-2.0
/*
 * Relaying of packets. See relay.h.
 *
 * As of other frames, only the hop limit changes, and what has been left to a
 * device stays left to one: segmentation and checksums.
 */
#include "packet/relay.h"

#include "core/packet/seen.h"
#include "net/entry.h"
#include "net/xmit.h"
#include "packet/device.h"
#include "packet/expired.h"
#include "packet/outq.h"

/*
 * Clear fields of @skb that describe its reception. A checksum that is still to
 * be computed is another matter.
 */
static void forget_reception(struct sk_buff *skb, u32 flow)
{
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		skb->ip_summed = CHECKSUM_NONE;
	skb->pkt_type = PACKET_OUTGOING;
	/* devices with several queues spread flows by that */
	skb_set_hash(skb, flow, PKT_HASH_TYPE_L4);
	/* fq would take a receive time for a departure in the far future */
	skb_clear_tstamp(skb);
}

/* Send a packet of another node by @out. Consumes @skb. */
static void relay_by(struct tor_port *in, struct tor_port *out, struct sk_buff *skb, u32 flow)
{
	forget_reception(skb, flow);
	if (tor_outq_xmit(out, skb, TOR_OUTQ_TRANSIT))
		tor_port_drop(in, TOR_C_DROP_FORWARD);
	else
		tor_fabric_count(in->fabric, TOR_C_FORWARDED, 1);
}

static void relay_unicast(struct tor_port *in, struct sk_buff *skb, const struct tor_intact *h,
			  const struct tor_packet *p)
{
	struct tor_fabric *fabric = in->fabric;
	struct tor_port *out = NULL;
	enum tor_counter why;
	u32 link;

	link = tor_routes_spread(&fabric->node.torus, rcu_dereference(fabric->routes), p->dst,
				 p->flow, READ_ONCE(fabric->node.live), in->link);
	if (unlikely(link == TOR_NO_PORT) && tor_reroute_may_turn(fabric))
		link = tor_routes_spread(&fabric->node.torus, rcu_dereference(fabric->routes),
					 p->dst, p->flow, READ_ONCE(fabric->node.live), TOR_NO_PORT);
	if (link != TOR_NO_PORT)
		out = tor_xmit_flow_port(fabric, link, p->flow);
	why = TOR_C_DROP_NO_ROUTE;
	if (!out)
		goto drop;
	/* a tap may share the header that is about to change */
	why = TOR_C_DROP_MEMORY;
	if (skb_cow_head(skb, LL_RESERVED_SPACE(out->dev)))
		goto drop;
	if (!tor_wire_hop(skb->data)) {
		tor_packet_expired(in, skb, h);
		return;
	}
	relay_by(in, out, skb, p->flow);
	return;
drop:
	kfree_skb_reason(skb, tor_port_drop(in, why));
}

/* Send a copy of @skb by @link. */
static void relay_copy(struct tor_port *in, u32 link, struct sk_buff *skb, u32 flow)
{
	struct tor_port *out = tor_xmit_flow_port(in->fabric, link, flow);
	struct sk_buff *copy;

	if (!out)
		return;
	copy = pskb_copy(skb, GFP_ATOMIC);
	if (copy && !skb_cow_head(copy, LL_RESERVED_SPACE(out->dev))) {
		relay_by(in, out, copy, flow);
		return;
	}
	kfree_skb(copy);
	tor_port_drop(in, TOR_C_DROP_MEMORY);
}

/* Return whether a packet to all has not come before. */
static bool is_new(struct tor_fabric *fabric, const struct tor_packet *p)
{
	bool first;

	spin_lock(&fabric->seen_lock);
	first = tor_seen_first(fabric->seen, p->src, p->src_epoch, p->number);
	spin_unlock(&fabric->seen_lock);
	return first;
}

/* The hop limit ends a packet to all silently: nobody has asked for the way. */
static void relay_group(struct tor_port *in, struct sk_buff *skb, const struct tor_intact *h,
			const struct tor_packet *p)
{
	struct tor_fabric *fabric = in->fabric;
	struct tor_tree tree = { .ports = READ_ONCE(fabric->tree.ports) };
	enum tor_counter why;
	u32 ports;

	why = TOR_C_DROP_AGAIN;
	if (!is_new(fabric, p))
		goto drop;
	why = TOR_C_DROP_MEMORY;
	if (skb_cow_head(skb, 0))
		goto drop;
	ports = tor_packet_group_ports(&tree, READ_ONCE(fabric->node.live), in->link);
	/* the device's sum is of the header as it came */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	if (tor_wire_hop(skb->data))
		for (; ports; ports &= ports - 1)
			relay_copy(in, __ffs(ports), skb, p->flow);
	tor_packet_rx(in, skb, h);
	return;
drop:
	kfree_skb_reason(skb, tor_port_drop(in, why));
}

void tor_packet_relay(struct tor_port *in, struct sk_buff *skb, const struct tor_intact *h)
{
	enum tor_counter why;
	struct tor_packet p;

	if (tor_wire_packet(h, &p, &why))
		kfree_skb_reason(skb, tor_port_drop(in, why));
	else if (p.dst == TORCOLL_NODE_ALL)
		relay_group(in, skb, h, &p);
	else
		relay_unicast(in, skb, h, &p);
}
