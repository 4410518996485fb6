// SPDX-License-Identifier: GPL-2.0
/*
 * Frames to drivers. See xmit.h.
 *
 * For a device without a queue, such as veth, what lies between dev_queue_xmit() and the driver is a third of what a
 * forwarded frame costs: it looks for queues, taps, egress filters, offloads that the device lacks, and finds
 * none. Here that is asked in a dozen loads, and if so the driver is called at once. Whatever is not plain goes the
 * usual way: a queue (also the kernel's default: it is the host's other traffic that waits there), a tap, a filter, a
 * device on top of another one, where the kernel counts how deep it is, several queues, one of which would have to be
 * chosen, and frames that the device cannot send as they are.
 */
#include "xmit.h"

#include <linux/if_vlan.h>
#include <net/dst.h>
#include <net/sch_generic.h>
#include <tor/egress.h>

/* Would dev_queue_xmit() do no more than lock the queue and call the driver? */
static bool is_plain(const struct sk_buff *skb, struct net_device *dev, const struct netdev_queue *txq)
{
	if (rcu_dereference_bh(txq->qdisc)->enqueue || dev->real_num_tx_queues != 1 ||
	    !(dev->flags & IFF_UP) || !list_empty(&dev->adj_list.lower))
		return false;
	if (skb_is_nonlinear(skb) && (!(dev->features & NETIF_F_SG) || skb_has_frag_list(skb)))
		return false;
	return !skb_is_gso(skb) && !skb_vlan_tag_present(skb) && !tor_egress_watched(dev) &&
	       !dev_nit_active(dev);
}

int tor_xmit(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	struct netdev_queue *txq = netdev_get_tx_queue(dev, 0);
	int ret = NETDEV_TX_BUSY;

	if (unlikely(!is_plain(skb, dev, txq)))
		return dev_queue_xmit(skb);
	skb_reset_mac_header(skb);
	skb_set_queue_mapping(skb, 0);
	skb_dst_drop(skb);
	HARD_TX_LOCK(dev, txq, smp_processor_id());
	if (likely(!netif_xmit_frozen_or_stopped(txq)))
		ret = netdev_start_xmit(skb, dev, txq, false);
	HARD_TX_UNLOCK(dev, txq);
	if (likely(dev_xmit_complete(ret)))
		return ret;
	/* without a queue there is nowhere to wait */
	kfree_skb(skb);
	return -ENETDOWN;
}
