// SPDX-License-Identifier: GPL-2.0
/*
 * The least that forwarding can be: a packet_type whose frames leave by another port, unread and unchanged. What
 * torcoll's forwarding is measured against; see bench/hop/guest.sh.
 *
 * When loaded, it connects d0m to d0p in every network namespace where d0m has the alias "hop".
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#define ETHERTYPE	0x88B6		/* IEEE 802: local experimental 2 */
#define HOPS_MAX	64

static struct hop {
	struct packet_type type;
	struct net_device *in;
	struct net_device *out;
} hops[HOPS_MAX];

static unsigned int nhops;

static int hop_rx(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		  struct net_device *orig)
{
	const struct hop *hop = container_of(type, struct hop, type);

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	skb_push(skb, ETH_HLEN);
	skb->dev = hop->out;
	dev_queue_xmit(skb);
	return NET_RX_SUCCESS;
}

static bool is_hop(const struct net_device *dev)
{
	const struct dev_ifalias *alias = rtnl_dereference(dev->ifalias);

	return alias && !strcmp(alias->ifalias, "hop");
}

static void connect(struct net *net)
{
	struct hop *hop = &hops[nhops];

	if (nhops == HOPS_MAX)
		return;
	hop->in = dev_get_by_name(net, "d0m");
	hop->out = dev_get_by_name(net, "d0p");
	if (!hop->in || !hop->out || !is_hop(hop->in)) {
		dev_put(hop->in);
		dev_put(hop->out);
		return;
	}
	hop->type.type = htons(ETHERTYPE);
	hop->type.dev = hop->in;
	hop->type.func = hop_rx;
	dev_add_pack(&hop->type);
	nhops++;
}

static int __init bare_init(void)
{
	struct net *net;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		connect(net);
	up_read(&net_rwsem);
	rtnl_unlock();
	pr_info("bare: %u hops\n", nhops);
	return nhops ? 0 : -ENODEV;
}

static void __exit bare_exit(void)
{
	while (nhops--) {
		dev_remove_pack(&hops[nhops].type);
		dev_put(hops[nhops].in);
		dev_put(hops[nhops].out);
	}
}

module_init(bare_init);
module_exit(bare_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Forwards frames unread, to measure against");
