// SPDX-License-Identifier: GPL-2.0
/*
 * Forwarding: a frame for another node leaves by another port in the same skb.
 * See forward.h.
 *
 * In a large torus a host forwards most of the frames that it handles.
 * Forwarding therefore avoids all costs that it does not need: the time, fields
 * in host order, an entry into core. It has no budget: the kernel's poll limits
 * how many frames come in at once, the hop limit how often one is forwarded, and
 * a port at which packets wait takes TOR_OUTQ_MAX frames.
 */
#include "net/forward.h"

#include "net/entry.h"
#include "net/send.h"
#include "net/xmit.h"

/* Return the port by which a frame leaves, or NULL with the reason. */
static struct tor_port *way_out(struct tor_port *in, const struct sk_buff *skb,
				const struct tor_intact *h, enum tor_counter *why)
{
	struct tor_fabric *fabric = in->fabric;
	struct tor_port *out = tor_xmit_port(fabric, tor_intact_dst(h), tor_intact_tie(h),
					     in->link, skb->len);

	*why = TOR_C_DROP_NO_ROUTE;
	if (unlikely(!out) && tor_reroute_may_turn(fabric))
		out = tor_xmit_port(fabric, tor_intact_dst(h), tor_intact_tie(h), TOR_NO_PORT,
				    skb->len);
	if (!out)
		return NULL;
	*why = TOR_C_DROP_FORWARD;
	return tor_xmit_fits(fabric, out, skb) ? out : NULL;
}

/* Clear fields of @skb that describe its reception and must not be sent on. */
static void forget_reception(struct sk_buff *skb)
{
	skb_reset_network_header(skb);
	skb->ip_summed = CHECKSUM_NONE;
	skb->pkt_type = PACKET_OUTGOING;
	/* fq would take a receive time for a departure in the far future */
	skb_clear_tstamp(skb);
	memset(skb->cb, 0, sizeof(skb->cb));
}

/*
 * Packets wait at the port of a frame, which may have to wait, too. Return
 * whether it was left to the queue.
 */
static bool forward_later(struct tor_port *in, struct tor_port *out, struct sk_buff *skb)
{
	int ret;

	*tor_frame_cb(skb) = (struct tor_frame_cb){ .port = out, .in = in->cable };
	ret = tor_outq_frame(&out->outq, skb);
	if (ret == -EAGAIN) {
		memset(skb->cb, 0, sizeof(skb->cb));
		return false;
	}
	/* one that waits is counted when it leaves: tor_send_frame() */
	if (ret)
		kfree_skb_reason(skb, tor_port_drop(in, TOR_C_DROP_FORWARD));
	return true;
}

void tor_forward(struct tor_port *in, struct sk_buff *skb, const struct tor_intact *h)
{
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
	if (tor_intact_type(h) == TORCOLL_FRAME_ACK)
		tor_xmit_ahead(skb);
	why = TOR_C_DROP_NO_ROUTE;
	if (!tor_xmit_header(skb, out, READ_ONCE(out->neighbour)))
		goto drop;
	tor_xmit_charge(out, skb);
	if (unlikely(tor_outq_is_busy(&out->outq)) && forward_later(in, out, skb))
		return;
	atomic64_inc(&out->tx_frames);
	/* the macro evaluates its argument twice: not around the call */
	ret = tor_xmit(skb);
	if (net_xmit_eval(ret)) {
		atomic64_inc(&out->refused);
		tor_port_drop(in, TOR_C_DROP_FORWARD);
	} else {
		tor_fabric_count(in->fabric, TOR_C_FORWARDED, 1);
	}
	return;
drop:
	kfree_skb_reason(skb, tor_port_drop(in, why));
}
