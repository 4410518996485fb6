// SPDX-License-Identifier: GPL-2.0
/*
 * Transmission of frames to drivers. See xmit.h.
 *
 * With a device without a queue, such as veth, the code between
 * dev_queue_xmit() and the driver takes a third of the time of a forwarded
 * frame: it looks for queues, taps, egress filters, offloads that the device
 * lacks, and finds none. Here a dozen loads check that, and the driver is then
 * called directly. All other cases use dev_queue_xmit(): a queue (also the
 * kernel's default: the host's other traffic waits there), a tap, a filter, a
 * trace of sent frames, a device on top of another one, several queues, one of
 * which would have to be chosen, and frames that the device cannot send
 * unchanged.
 *
 * A tunnel is on top of another device without being listed so. The kernel
 * counts the nesting of such drivers' calls, and so does this file:
 * dev_queue_xmit() ends the loop of two tunnels through each other.
 */
#include "net/xmit.h"

#include <linux/if_vlan.h>
#include <linux/tracepoint.h>
#include <net/dst.h>
#include <net/sch_generic.h>
#include <tor/egress.h>

#include "packet/held.h"

/*
 * The kernel's tracepoints of the transmit path. A module cannot trigger these
 * events, so dev_queue_xmit() is used while one is enabled. They belong to the
 * kernel and stay.
 */
static const char * const event[] = { "net_dev_queue", "net_dev_start_xmit", "net_dev_xmit" };
static struct tracepoint none;
static struct tracepoint *traced[ARRAY_SIZE(event)] __read_mostly = { &none, &none, &none };

static void look_for_event(struct tracepoint *tp, void *priv)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(event); i++)
		if (!strcmp(tp->name, event[i]))
			traced[i] = tp;
}

void tor_xmit_init(void)
{
	if (IS_ENABLED(CONFIG_TRACEPOINTS))
		for_each_kernel_tracepoint(look_for_event, NULL);
}

/*
 * Test for registered functions: the static key is not exported for this, and
 * costs more to read.
 */
static bool is_traced(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(event); i++)
		if (rcu_access_pointer(traced[i]->funcs))
			return true;
	return false;
}

/*
 * Return what the device can do with @skb. veth's function accepts all, so that
 * the checks that precede it are left out.
 */
static netdev_features_t features_for(struct sk_buff *skb, const struct net_device *dev)
{
	const struct net_device_ops *ops = dev->netdev_ops;

	if (likely(!skb->encapsulation && (!ops->ndo_features_check ||
					   ops->ndo_features_check == passthru_features_check)))
		return dev->features;
	return netif_skb_features(skb);
}

/* Return whether the device takes @skb with its fragments. */
static bool takes_pieces(struct sk_buff *skb, const struct net_device *dev)
{
	return !skb_has_frag_list(skb) && features_for(skb, dev) & NETIF_F_SG;
}

/*
 * Return whether the device takes a packet whose segments, or whose checksum,
 * are left to it.
 */
static bool leaves_as_is(struct sk_buff *skb, const struct net_device *dev)
{
	if (skb_is_gso(skb) && !tor_xmit_takes_super(skb))
		return false;
	return skb->ip_summed != CHECKSUM_PARTIAL || features_for(skb, dev) & NETIF_F_HW_CSUM;
}

/*
 * Return whether dev_queue_xmit() would only lock the queue and call the
 * driver.
 */
static bool is_plain(struct sk_buff *skb, struct net_device *dev, const struct netdev_queue *txq)
{
	if (rcu_dereference_bh(txq->qdisc)->enqueue || dev->real_num_tx_queues != 1 ||
	    !(dev->flags & IFF_UP) || !list_empty(&dev->adj_list.lower))
		return false;
	if (skb_is_nonlinear(skb) && !takes_pieces(skb, dev))
		return false;
	/*
	 * this is inside its driver: the lock below would wait for itself; with
	 * PREEMPT_RT it may also be a task that this one has interrupted
	 */
	if (READ_ONCE(txq->xmit_lock_owner) == smp_processor_id() || dev_xmit_recursion())
		return false;
	if (unlikely(skb_is_gso(skb) || skb->ip_summed == CHECKSUM_PARTIAL) &&
	    !leaves_as_is(skb, dev))
		return false;
	return !skb_vlan_tag_present(skb) && !tor_egress_watched(dev) && !dev_nit_active(dev) &&
	       !is_traced();
}

/*
 * If all are alike, the last one is taken again, whose data this processor has
 * at hand.
 */
struct tor_port *tor_xmit_choose(struct tor_fabric *fabric, u32 link, u32 up, u32 bytes)
{
	struct tor_gauge *gauge[TOR_LINK_CABLES] = { NULL };
	struct tor_port *port[TOR_LINK_CABLES];
	u32 held[TOR_LINK_CABLES] = { 0 };
	u32 k, last = READ_ONCE(fabric->last[link]);

	for (k = 0; k < TOR_LINK_CABLES; k++) {
		port[k] = rcu_dereference(fabric->port[tor_cable(link, k)]);
		if (!port[k] || !(up >> k & 1))
			continue;
		gauge[k] = &port[k]->gauge;
		held[k] = tor_held(port[k]->queued);
	}
	k = tor_gauge_pick(gauge, held, last, SKB_TRUESIZE(bytes), ktime_get_ns());
	if (k == TOR_LINK_CABLES)
		return NULL;
	if (k != last)
		WRITE_ONCE(fabric->last[link], k);
	return port[k];
}

void tor_xmit_count(struct tor_port *port, struct sk_buff *skb)
{
	tor_gauge_take(&port->gauge, ktime_get_ns(), atomic64_read(&port->got),
		       tor_held(port->queued));
	atomic64_add(skb->truesize, &port->got);
	tor_held_charge(port->queued, skb);
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
	dev_xmit_recursion_inc();
	if (likely(!netif_xmit_frozen_or_stopped(txq)))
		ret = netdev_start_xmit(skb, dev, txq, false);
	dev_xmit_recursion_dec();
	HARD_TX_UNLOCK(dev, txq);
	if (likely(dev_xmit_complete(ret)))
		return ret;
	/* without a queue there is nowhere to wait */
	kfree_skb_reason(skb, SKB_DROP_REASON_FULL_RING);
	return -ENETDOWN;
}
