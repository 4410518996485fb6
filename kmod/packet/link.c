// SPDX-License-Identifier: GPL-2.0
/*
 * The device as rtnetlink creates, changes, shows and deletes it: attributes are
 * those of linux/torcoll_netdev.h. See device.h for its lifetime.
 */
#include <linux/etherdevice.h>
#include <linux/inet.h>
#include <linux/torcoll_netdev.h>
#include <net/ipv6.h>
#include <net/rtnetlink.h>
#include <tor/newlink.h>

#include "core/packet/mac.h"
#include "net/fabric.h"
#include "net/net.h"
#include "packet/device.h"

static const struct nla_policy link_policy[IFLA_TORCOLL_MAX + 1] = {
	[IFLA_TORCOLL_FABRIC] = { .type = NLA_U64 },
	[IFLA_TORCOLL_NODE] = { .type = NLA_REJECT, .reject_message =
				"the node's number is the fabric's: it cannot be set" },
	[IFLA_TORCOLL_PREFIX4] = NLA_POLICY_EXACT_LEN(sizeof(struct torcoll_prefix4)),
	[IFLA_TORCOLL_PREFIX6] = NLA_POLICY_EXACT_LEN(sizeof(struct torcoll_prefix6)),
};

static int link_validate(struct nlattr *tb[], struct nlattr *data[], struct netlink_ext_ack *extack)
{
	if (tb[IFLA_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "the address follows from the node's number: it cannot be set");
		return -EINVAL;
	}
	return 0;
}

/* --- prefixes --- */

/*
 * Read an IPv4 prefix, which has an address of a host for each of @nodes nodes;
 * the first of a network and the last are none.
 */
static int prefix4_read(struct tor_packet_prefix *prefix, const struct nlattr *attr, u32 nodes,
			struct netlink_ext_ack *extack)
{
	const struct torcoll_prefix4 *p = nla_data(attr);
	u32 hosts, first;

	if (memchr_inv(p->__reserved, 0, sizeof(p->__reserved))) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "the reserved bytes of a prefix are 0");
		return -EINVAL;
	}
	prefix->len4 = p->len;
	prefix->base4 = be32_to_cpu(p->base);
	if (!p->len)
		return 0;
	if (p->len > 30) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "an IPv4 prefix of nodes has 30 bits at most");
		return -EINVAL;
	}
	if (ipv4_is_zeronet(p->base) || ipv4_is_loopback(p->base) || ipv4_is_multicast(p->base) ||
	    prefix->base4 >= 0xf0000000) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "nodes cannot have addresses of that prefix");
		return -EINVAL;
	}
	hosts = ~0U >> p->len;
	first = prefix->base4 & hosts;
	if (!first || hosts - first < nodes) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "the prefix has not an address for each node from that one on");
		return -ERANGE;
	}
	return 0;
}

/* The same for IPv6, where the first address of a network is that of its routers. */
static int prefix6_read(struct tor_packet_prefix *prefix, const struct nlattr *attr, u32 nodes,
			struct netlink_ext_ack *extack)
{
	const struct torcoll_prefix6 *p = nla_data(attr);
	struct in6_addr first, last;

	if (memchr_inv(p->__reserved, 0, sizeof(p->__reserved))) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "the reserved bytes of a prefix are 0");
		return -EINVAL;
	}
	prefix->len6 = p->len;
	memcpy(&prefix->base6, p->base, sizeof(p->base));
	if (!p->len)
		return 0;
	if (p->len > 126) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "an IPv6 prefix of nodes has 126 bits at most");
		return -EINVAL;
	}
	if (!(ipv6_addr_type(&prefix->base6) & IPV6_ADDR_UNICAST) ||
	    ipv6_addr_type(&prefix->base6) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_LOOPBACK)) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "nodes cannot have addresses of that prefix");
		return -EINVAL;
	}
	ipv6_addr_prefix(&first, &prefix->base6, p->len);
	last = tor_packet_address6(prefix, nodes - 1);
	if (ipv6_addr_equal(&first, &prefix->base6) ||
	    !ipv6_prefix_equal(&first, &last, p->len)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "the prefix has not an address for each node from that one on");
		return -ERANGE;
	}
	return 0;
}

/*
 * Read the prefixes that are given; those of @old stay as they are. Return what
 * to replace it by, NULL: nothing, or an ERR_PTR.
 */
static struct tor_packet_prefix *prefixes_read(const struct tor_packet_prefix *old,
					       struct nlattr *data[], u32 nodes,
					       struct netlink_ext_ack *extack)
{
	struct tor_packet_prefix *new;
	int err = 0;

	if (!data || (!data[IFLA_TORCOLL_PREFIX4] && !data[IFLA_TORCOLL_PREFIX6]))
		return NULL;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return ERR_PTR(-ENOMEM);
	if (old) {
		new->base4 = old->base4;
		new->len4 = old->len4;
		new->base6 = old->base6;
		new->len6 = old->len6;
	}
	if (data[IFLA_TORCOLL_PREFIX4])
		err = prefix4_read(new, data[IFLA_TORCOLL_PREFIX4], nodes, extack);
	if (!err && data[IFLA_TORCOLL_PREFIX6])
		err = prefix6_read(new, data[IFLA_TORCOLL_PREFIX6], nodes, extack);
	if (!err)
		return new;
	kfree(new);
	return ERR_PTR(err);
}

/* --- create, change, delete --- */

/* Find the fabric that is named, or the only one. */
static struct tor_fabric *link_fabric(struct net *net, struct nlattr *data[],
				      struct netlink_ext_ack *extack)
{
	struct tor_net *tn = tor_net(net);
	struct tor_fabric *fabric;

	if (data && data[IFLA_TORCOLL_FABRIC]) {
		fabric = tor_fabric_find(tn, nla_get_u64(data[IFLA_TORCOLL_FABRIC]));
		if (fabric)
			return fabric;
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_TORCOLL_FABRIC],
				    "there is no fabric of that key in this namespace");
		return ERR_PTR(-ENOENT);
	}
	if (list_empty(&tn->fabrics)) {
		NL_SET_ERR_MSG(extack, "there is no fabric in this namespace: add it first");
		return ERR_PTR(-ENOENT);
	}
	if (!list_is_singular(&tn->fabrics)) {
		NL_SET_ERR_MSG(extack, "this namespace has several fabrics: name one by its key");
		return ERR_PTR(-EINVAL);
	}
	return list_first_entry(&tn->fabrics, struct tor_fabric, list);
}

/* A queue per link, and the address of the node. */
static int link_prepare(struct net_device *dev, struct nlattr *tb[], struct netlink_ext_ack *extack)
{
	struct tor_packet_dev *packet = netdev_priv(dev);
	const struct tor_node *node = &packet->fabric->node;
	u32 ports = node->torus.ports;
	u8 mac[ETH_ALEN];

	if (dev->num_tx_queues < ports) {
		NL_SET_ERR_MSG(extack, "the device needs a transmit queue for each direction");
		return -EINVAL;
	}
	u64_to_ether_addr(tor_packet_mac(node->tag, node->self), mac);
	eth_hw_addr_set(dev, mac);
	dev->addr_assign_type = NET_ADDR_PERM;
	if (tb[IFLA_MTU])
		packet->mtu = dev->mtu;
	netif_carrier_off(dev);
	return netif_set_real_num_tx_queues(dev, ports);
}

static int tor_newlink(struct net *net, struct net_device *dev, struct nlattr *tb[],
		       struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct tor_packet_dev *packet = netdev_priv(dev);
	struct tor_fabric *fabric = link_fabric(net, data, extack);
	struct tor_packet_prefix *prefix;
	int err;

	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	if (rtnl_dereference(fabric->packet)) {
		NL_SET_ERR_MSG(extack,
			       "the fabric has a network device already, maybe in another network namespace");
		return -EEXIST;
	}
	packet->fabric = fabric;
	err = link_prepare(dev, tb, extack);
	if (err)
		return err;
	prefix = prefixes_read(NULL, data, fabric->node.torus.nodes, extack);
	if (IS_ERR(prefix))
		return PTR_ERR(prefix);
	err = register_netdevice(dev);
	if (err) {
		if (err == -EDQUOT && extack)
			extack->_msg = tor_limit_sentence(TOR_LIMIT_TABLES);
		kfree(prefix);
		return err;
	}
	rcu_assign_pointer(packet->prefix, prefix);
	rcu_assign_pointer(fabric->packet, packet);
	tor_packet_follow(fabric);
	return 0;
}

static int link_change(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
		       struct netlink_ext_ack *extack)
{
	struct tor_packet_dev *packet = netdev_priv(dev);
	struct tor_packet_prefix *old = rtnl_dereference(packet->prefix);
	struct tor_packet_prefix *new;

	if (data && data[IFLA_TORCOLL_FABRIC] &&
	    nla_get_u64(data[IFLA_TORCOLL_FABRIC]) != packet->fabric->node.key) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_TORCOLL_FABRIC],
				    "a device stays with its fabric: delete it and add another");
		return -EINVAL;
	}
	new = prefixes_read(old, data, packet->fabric->node.torus.nodes, extack);
	if (IS_ERR_OR_NULL(new))
		return PTR_ERR_OR_ZERO(new);
	rcu_assign_pointer(packet->prefix, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

static void link_del(struct net_device *dev, struct list_head *head)
{
	struct tor_packet_dev *packet = netdev_priv(dev);

	RCU_INIT_POINTER(packet->fabric->packet, NULL);
	unregister_netdevice_queue(dev, head);
}

void tor_packet_del(struct tor_fabric *fabric, struct list_head *kill)
{
	struct tor_packet_dev *packet = rtnl_dereference(fabric->packet);

	if (packet)
		link_del(packet->dev, kill);
}

/* --- show --- */

static size_t link_size(const struct net_device *dev)
{
	return nla_total_size_64bit(sizeof(u64)) + nla_total_size(sizeof(u32)) +
	       nla_total_size(sizeof(struct torcoll_prefix4)) +
	       nla_total_size(sizeof(struct torcoll_prefix6));
}

static int link_fill_prefixes(struct sk_buff *skb, const struct tor_packet_prefix *prefix)
{
	struct torcoll_prefix4 p4 = {};
	struct torcoll_prefix6 p6 = {};

	if (!prefix)
		return 0;
	p4.base = cpu_to_be32(prefix->base4);
	p4.len = prefix->len4;
	memcpy(p6.base, &prefix->base6, sizeof(p6.base));
	p6.len = prefix->len6;
	if (p4.len && nla_put(skb, IFLA_TORCOLL_PREFIX4, sizeof(p4), &p4))
		return -EMSGSIZE;
	if (p6.len && nla_put(skb, IFLA_TORCOLL_PREFIX6, sizeof(p6), &p6))
		return -EMSGSIZE;
	return 0;
}

static int link_fill(struct sk_buff *skb, const struct net_device *dev)
{
	const struct tor_packet_dev *packet = netdev_priv(dev);
	const struct tor_node *node = &packet->fabric->node;

	if (nla_put_u64_64bit(skb, IFLA_TORCOLL_FABRIC, node->key, IFLA_TORCOLL_PAD) ||
	    nla_put_u32(skb, IFLA_TORCOLL_NODE, node->self))
		return -EMSGSIZE;
	return link_fill_prefixes(skb, rtnl_dereference(packet->prefix));
}

/* The namespace of the fabric and its ports. */
static struct net *link_net(const struct net_device *dev)
{
	const struct tor_packet_dev *packet = netdev_priv(dev);

	return packet->fabric->tn->net;
}

/* By number of the link: one whose devices are full stops no other. */
static unsigned int link_queues(void)
{
	return TOR_MAX_PORTS;
}

static struct rtnl_link_ops link_ops __read_mostly = {
	.kind = TORCOLL_NETDEV_KIND,
	.priv_size = sizeof(struct tor_packet_dev),
	.maxtype = IFLA_TORCOLL_MAX,
	.policy = link_policy,
	.setup = tor_packet_setup,
	.validate = link_validate,
	.get_num_tx_queues = link_queues,
	.newlink = tor_compat_newlink,
	.changelink = link_change,
	.dellink = link_del,
	.get_size = link_size,
	.fill_info = link_fill,
	.get_link_net = link_net,
};

MODULE_ALIAS_RTNL_LINK(TORCOLL_NETDEV_KIND);

int tor_packet_init(void)
{
	return rtnl_link_register(&link_ops);
}

void tor_packet_exit(void)
{
	rtnl_link_unregister(&link_ops);
}
