// SPDX-License-Identifier: GPL-2.0
/*
 * Super frames and how they are cut. See segment.h.
 *
 * The kernel finds the functions that cut and merge skbs by their EtherType,
 * which each fabric chooses: there is one struct packet_offload for each that is
 * in use. It knows nothing of fabrics, and cuts what any other program sends with
 * that type by the same rules. How packets are merged: merge.h.
 */
#include "packet/segment.h"

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/gro.h>
#include <tor/gso.h>

#include "core/packet/header.h"
#include "core/wire/accept.h"
#include "packet/merge.h"

/* An EtherType in use. */
struct segment_type {
	struct packet_offload offload;
	struct list_head list;
	u32 refs;
};

static LIST_HEAD(segment_types);
static DEFINE_MUTEX(segment_lock);	/* leaf; of the list */

/*
 * Return whether there is a packet's header at @skb->data, linear: all that has
 * this EtherType comes here, from whatever program.
 */
static bool is_packet(struct sk_buff *skb)
{
	enum tor_counter why;
	struct tor_packet p;
	struct tor_intact in;

	return pskb_may_pull(skb, sizeof(struct torcoll_hdr) + ETH_HLEN) &&
	       !tor_wire_check(skb->data, skb_headlen(skb), skb->len, &in, &why) &&
	       tor_intact_type(&in) == TORCOLL_FRAME_PACKET && !tor_wire_packet(&in, &p, &why);
}

/*
 * Cut @skb, which begins with torcoll's header; the MAC header of the port's
 * device is before that. Each segment gets both, the former with its own length.
 * Context: RCU. Return: the list of segments, NULL or an ERR_PTR.
 */
static struct sk_buff *segment(struct sk_buff *skb, netdev_features_t features)
{
	const u32 len = sizeof(struct torcoll_hdr);
	u16 mac_offset = skb->mac_header;
	__be16 protocol = skb->protocol;
	u32 mac_len = skb->mac_len;
	struct sk_buff *segs, *seg;
	const void *hdr = NULL;
	u32 outer, length = 0;

	skb_reset_network_header(skb);
	outer = skb_mac_header_len(skb);
	/*
	 * only outermost: a packet has no other one in it, and what any user sends
	 * could be nested until this stack is full
	 */
	if (skb_tnl_header_len(skb) || !is_packet(skb))
		return ERR_PTR(-EINVAL);
	__skb_pull(skb, len);
	skb_reset_mac_header(skb);
	skb->mac_len = ETH_HLEN;
	skb->protocol = htons(ETH_P_TEB);
	/* whoever cuts is no pair's end, and adapters look for IP behind the MAC header */
	segs = skb_mac_gso_segment(skb, features & NETIF_F_SG);
	if (IS_ERR_OR_NULL(segs)) {
		skb_gso_error_unwind(skb, protocol, len, mac_offset, mac_len);
		return segs;
	}
	for (seg = segs; seg; seg = seg->next) {
		u32 inner = seg->len;

		__skb_push(seg, len);
		/* all but the last are equally long */
		if (inner == length)
			memcpy(seg->data, hdr, len);
		else
			tor_packet_relength(seg->data, inner);
		length = inner;
		hdr = seg->data;
		__skb_push(seg, outer);
		seg->protocol = protocol;
		skb_reset_mac_header(seg);
		skb_set_network_header(seg, outer);
		seg->mac_len = mac_len;
	}
	return segs;
}

static struct segment_type *segment_find(__be16 type)
{
	struct segment_type *s;

	list_for_each_entry(s, &segment_types, list)
		if (s->offload.type == type)
			return s;
	return NULL;
}

int tor_segment_get(u16 ethertype)
{
	struct segment_type *s;
	int err = 0;

	mutex_lock(&segment_lock);
	s = segment_find(htons(ethertype));
	if (s) {
		s->refs++;
		goto unlock;
	}
	err = -ENOMEM;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		goto unlock;
	s->offload.type = htons(ethertype);
	/* behind those of the kernel: none of theirs is taken over */
	s->offload.priority = U16_MAX;
	s->offload.callbacks.gso_segment = segment;
	s->offload.callbacks.gro_receive = tor_merge_receive;
	s->offload.callbacks.gro_complete = tor_merge_complete;
	s->refs = 1;
	list_add(&s->list, &segment_types);
	dev_add_offload(&s->offload);
	err = 0;
unlock:
	mutex_unlock(&segment_lock);
	return err;
}

void tor_segment_put(u16 ethertype)
{
	struct segment_type *s;

	mutex_lock(&segment_lock);
	s = segment_find(htons(ethertype));
	if (--s->refs)
		s = NULL;
	else
		list_del(&s->list);
	mutex_unlock(&segment_lock);
	if (!s)
		return;
	/*
	 * not under the lock: both wait for readers. A poll of a device that has
	 * merged packets looks for the offload at its end; without ports no other
	 * one begins. With gro_flush_timeout, packets may be held for longer than
	 * a poll: they are dropped, with a warning of the kernel's
	 */
	synchronize_net();
	dev_remove_offload(&s->offload);
	kfree(s);
}
