// SPDX-License-Identifier: GPL-2.0
/*
 * Merging of packets. See merge.h.
 *
 * Each header is checked before its packet is merged, and that of the result is
 * checked again where all frames are: what is merged is judged as what is not.
 */
#include "packet/merge.h"

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/gro.h>

#include "core/packet/header.h"
#include "core/wire/accept.h"
#include "net/fabric.h"
#include "net/port.h"

/*
 * Return whether the frame of @len bytes at @hdr is a packet, without anything
 * behind it, for the node whose port it came by. What is cheap comes first, and
 * the CRC last: most frames at a node are none, or for others.
 */
static bool is_for_us(const struct sk_buff *skb, const void *hdr, u32 len)
{
	const struct tor_port *port;
	const struct tor_node *node;
	enum tor_counter why;
	struct tor_packet p;
	struct tor_intact in __uninitialized;

	/* a tagged frame is one of the VLAN's port, if that is one */
	if (tor_wire_hint_type(hdr) != TORCOLL_FRAME_PACKET || skb_vlan_tag_present(skb))
		return false;
	port = tor_port_of_dev(skb->dev);
	if (!port || port->type.type != skb->protocol)
		return false;
	node = &port->fabric->node;
	return tor_wire_hint_dst(hdr) == node->self &&
	       !tor_wire_check(hdr, sizeof(struct torcoll_hdr), len, &in, &why) &&
	       tor_intact_type(&in) == TORCOLL_FRAME_PACKET &&
	       tor_intact_fabric(&in) == node->tag && !tor_wire_packet(&in, &p, &why) &&
	       tor_intact_bytes(&in) == len;
}

struct sk_buff *tor_merge_receive(struct list_head *head, struct sk_buff *skb)
{
	const u32 len = sizeof(struct torcoll_hdr);
	u32 offset = skb_gro_offset(skb);
	struct sk_buff *merged = NULL;
	struct sk_buff *p;
	const void *hdr;
	int flush = 1;

	hdr = skb_gro_header(skb, offset + len, offset);
	/*
	 * a list of skbs keeps the checksums of each, which do not hold for all of
	 * them behind this header
	 */
	if (skb->dev->features & NETIF_F_GRO_FRAGLIST)
		goto out;
	/* a tap of the sender may share what tor_merge_complete() writes */
	if (!hdr || skb_cloned(skb) || !is_for_us(skb, hdr, skb_gro_len(skb)))
		goto out;
	list_for_each_entry(p, head, list)
		if (NAPI_GRO_CB(p)->same_flow && !tor_packet_alike(hdr, p->data + offset))
			NAPI_GRO_CB(p)->same_flow = 0;
	/* no device has verified checksums behind this EtherType */
	NAPI_GRO_CB(skb)->csum_cnt = 0;
	skb_gro_pull(skb, len);
	skb_gro_postpull_rcsum(skb, hdr, len);
	merged = call_gro_receive(eth_gro_receive, head, skb);
	flush = 0;
out:
	skb_gro_flush_final(skb, merged, flush);
	return merged;
}

int tor_merge_complete(struct sk_buff *skb, int offset)
{
	const u32 len = sizeof(struct torcoll_hdr);
	int err = eth_gro_complete(skb, offset + len);

	/* IPv6 has put an option into a packet of more than 64 KiB */
	tor_packet_relength(skb->data + offset, skb->len - offset - len);
	return err;
}
