// SPDX-License-Identifier: GPL-2.0
/*
 * Frames for other nodes: the same skb leaves by another port. See forward.h.
 *
 * In a large torus most frames that a host handles are not its own: what forwarding does not need (the time, fields in
 * host order, an entry into core) it does not pay for.
 */
#include "net/forward.h"

#include "net/frame.h"
#include "net/xmit.h"

/* The way out, or why there is none. */
static struct tor_port *way_out(struct tor_port *in, const struct sk_buff *skb,
				const struct tor_intact *h, enum tor_counter *why)
{
	struct tor_fabric *fabric = in->fabric;
	struct tor_port *out = tor_xmit_port(fabric, tor_intact_dst(h), tor_intact_tie(h),
					     in->index);

	*why = TOR_C_DROP_NO_ROUTE;
	if (!out)
		return NULL;
	*why = TOR_C_DROP_FORWARD;
	return tor_xmit_fits(fabric, out, skb) ? out : NULL;
}

/* What of @skb tells of its way here, and would mislead on its way on. */
static void forget_reception(struct sk_buff *skb)
{
	skb_reset_network_header(skb);
	skb->ip_summed = CHECKSUM_NONE;
	skb->pkt_type = PACKET_OUTGOING;
	/* fq takes a receive time for a departure in the far future */
	skb_clear_tstamp(skb);
	memset(skb->cb, 0, sizeof(skb->cb));
}

void tor_forward(struct tor_port *in, struct sk_buff *skb, const struct tor_intact *h)
{
	struct tor_fabric *fabric = in->fabric;
	enum tor_counter why;
	struct tor_port *out;
	int ret;

	out = way_out(in, skb, h, &why);
	if (!out)
		goto drop;
	/* a tap may share the header that is about to change */
	why = TOR_C_DROP_MEMORY;
	if (skb_cow_head(skb, LL_RESERVED_SPACE(out->dev)))
		goto drop;
	why = TOR_C_DROP_HOP_LIMIT;
	if (!tor_wire_hop(skb->data))
		goto drop;
	forget_reception(skb);
	why = TOR_C_DROP_NO_ROUTE;
	if (!tor_xmit_header(skb, out, READ_ONCE(out->neighbour)))
		goto drop;
	atomic64_inc(&out->tx_frames);
	tor_env_count(&fabric->node, TOR_C_FORWARDED, 1);
	/* a macro that looks at its argument twice: not around the call */
	ret = tor_xmit(skb);
	if (net_xmit_eval(ret))
		tor_port_drop(in, TOR_C_DROP_FORWARD);
	return;
drop:
	kfree_skb_reason(skb, tor_port_drop(in, why));
}
