// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of this node: from an inner frame that the stack sends by the network
 * device to torcoll's frames on the queues of ports. See device.h.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dst.h>

#include "core/packet/header.h"
#include "core/packet/mac.h"
#include "core/packet/seen.h"
#include "net/fabric.h"
#include "net/net.h"
#include "net/port.h"
#include "net/reroute.h"
#include "net/xmit.h"
#include "packet/device.h"
#include "packet/neigh.h"
#include "packet/outq.h"

/**
 * struct route - where a packet goes
 * @dst: node, or TORCOLL_NODE_ALL
 * @flow: hash of its flow
 * @ports: bit per link that gets a copy; 0: no way leads there
 */
struct route {
	u32 dst;
	u32 flow;
	u32 ports;
};

/*
 * Return the node with the MAC address @dest, TORCOLL_NODE_ALL for groups and
 * addresses that nobody has heard of.
 */
static u32 node_of(struct tor_packet_dev *packet, const u8 *dest)
{
	u64 mac = ether_addr_to_u64(dest);
	u32 node;

	if (is_multicast_ether_addr(dest))
		return TORCOLL_NODE_ALL;
	node = tor_packet_node(&packet->fabric->node, mac);
	if (node == TOR_NO_NODE)
		node = tor_fdb_find(&packet->fdb, mac);
	return node == TOR_NO_NODE ? TORCOLL_NODE_ALL : node;
}

/*
 * Packets to all nodes are told apart by their number: each segment needs one of
 * its own, so the stack cuts them first.
 */
netdev_features_t tor_packet_features(struct sk_buff *skb, struct net_device *dev,
				      netdev_features_t features)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;

	if (skb_is_gso(skb) && skb_headlen(skb) >= ETH_HLEN) {
		rcu_read_lock();
		if (node_of(netdev_priv(dev), eth->h_dest) == TORCOLL_NODE_ALL)
			features &= ~NETIF_F_GSO_MASK;
		rcu_read_unlock();
	}
	return passthru_features_check(skb, dev, features);
}

/*
 * Find the way of a packet whose MAC header is linear at skb->data. All of a flow
 * take the same way. Context: RCU.
 */
static struct route find_route(struct tor_packet_dev *packet, struct sk_buff *skb)
{
	struct tor_fabric *fabric = packet->fabric;
	struct tor_tree tree = { .ports = READ_ONCE(fabric->tree.ports) };
	u32 live = READ_ONCE(fabric->node.live);
	struct route route = {};
	u32 port;

	route.dst = node_of(packet, ((struct ethhdr *)skb->data)->h_dest);
	if (route.dst == TORCOLL_NODE_ALL)
		route.dst = tor_neigh_asked(packet, skb);
	if (route.dst == TORCOLL_NODE_ALL) {
		route.ports = tor_packet_group_ports(&tree, live, TOR_NO_PORT);
		return route;
	}
	route.flow = skb_get_hash(skb);
	port = tor_routes_spread(&fabric->node.torus, rcu_dereference(fabric->routes), route.dst,
				 route.flow, live, TOR_NO_PORT);
	if (port != TOR_NO_PORT)
		route.ports = 1U << port;
	return route;
}

u16 tor_packet_select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev)
{
	struct tor_packet_dev *packet = netdev_priv(dev);
	const struct tor_port *port = NULL;
	struct route route;
	u16 queue;

	/* tor_packet_xmit() drops it */
	if (unlikely(skb_headlen(skb) < ETH_HLEN))
		return 0;
	rcu_read_lock();
	route = find_route(packet, skb);
	if (route.ports)
		port = tor_xmit_flow_port(packet->fabric, __ffs(route.ports), route.flow);
	queue = port ? port->link : 0;
	rcu_read_unlock();
	return queue;
}

/*
 * Return how many hops a packet may take. That of unicast IP is its TTL, so that
 * traceroute shows the nodes on the way: the TTL itself does not change, as on
 * one Ethernet.
 */
static u8 hops_of(const struct sk_buff *skb, u32 dst)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip4;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} buf;

	if (dst == TORCOLL_NODE_ALL)
		return TOR_HOP_LIMIT;
	switch (eth->h_proto) {
	case htons(ETH_P_IP):
		ip4 = skb_header_pointer(skb, ETH_HLEN, sizeof(*ip4), &buf.ip4);
		return ip4 ? max_t(u8, ip4->ttl, 1) : TOR_HOP_LIMIT;
	case htons(ETH_P_IPV6):
		ip6 = skb_header_pointer(skb, ETH_HLEN, sizeof(*ip6), &buf.ip6);
		return ip6 ? max_t(u8, ip6->hop_limit, 1) : TOR_HOP_LIMIT;
	default:
		return TOR_HOP_LIMIT;
	}
}

/*
 * Put torcoll's header before a packet, and forget what only this host's stack
 * knows of it. False: no memory.
 */
static bool pack(struct tor_packet_dev *packet, struct sk_buff *skb, const struct route *route)
{
	struct tor_node *node = &packet->fabric->node;
	u8 hops = hops_of(skb, route->dst);
	u32 number = 0;
	u32 len = skb->len;

	if (skb_cow_head(skb, packet->dev->needed_headroom))
		return false;
	if (route->dst == TORCOLL_NODE_ALL)
		number = tor_packet_number(node);
	skb_scrub_packet(skb, !net_eq(dev_net(packet->dev), packet->fabric->tn->net));
	skb_clear_tstamp(skb);
	tor_packet_header(node, __skb_push(skb, sizeof(struct torcoll_hdr)), route->dst, route->flow,
			  number, hops, len);
	skb_reset_network_header(skb);
	return true;
}

/* Send a packet of @flow, with torcoll's header, by a link. Consumes @skb. */
static int send(struct tor_packet_dev *packet, struct sk_buff *skb, u32 link, u32 flow)
{
	struct tor_port *port = tor_xmit_flow_port(packet->fabric, link, flow);

	if (!port || skb_cow_head(skb, LL_RESERVED_SPACE(port->dev))) {
		kfree_skb(skb);
		return -ENOBUFS;
	}
	return tor_outq_xmit(port, skb, TOR_OUTQ_OWN);
}

/*
 * Send a packet by all of a route's links, a copy of its headers by all but the last.
 * Consumes @skb. Return whether one took it.
 */
static bool send_all(struct tor_packet_dev *packet, struct sk_buff *skb, const struct route *route)
{
	u32 ports = route->ports;
	bool sent = false;

	while (ports & (ports - 1)) {
		struct sk_buff *copy = pskb_copy(skb, GFP_ATOMIC);

		if (copy)
			sent |= !send(packet, copy, __ffs(ports), route->flow);
		else
			tor_packet_count(packet, TOR_P_TX_NO_MEMORY);
		ports &= ports - 1;
	}
	return !send(packet, skb, __ffs(ports), route->flow) || sent;
}

static void count_group(struct tor_packet_dev *packet, const struct sk_buff *skb)
{
	tor_packet_count(packet, TOR_P_TX_GROUP);
	if (!is_multicast_ether_addr(((const struct ethhdr *)skb->data)->h_dest))
		tor_packet_count(packet, TOR_P_TX_UNKNOWN);
}

/* Drop a packet that was not sent. */
static void drop(struct tor_packet_dev *packet, struct sk_buff *skb, enum tor_packet_stat why)
{
	tor_packet_count(packet, why);
	dev_core_stats_tx_dropped_inc(packet->dev);
	kfree_skb(skb);
}

/* Tell the sender of a packet that no way leads to its destination. */
static void no_route(struct tor_packet_dev *packet, struct sk_buff *skb)
{
	DEV_STATS_INC(packet->dev, tx_carrier_errors);
	/* IP takes it for its own */
	memset(skb->cb, 0, sizeof(skb->cb));
	dst_link_failure(skb);
	drop(packet, skb, TOR_P_TX_NO_ROUTE);
}

static void xmit(struct tor_packet_dev *packet, struct sk_buff *skb)
{
	u32 len = skb->len;
	struct route route;

	if (!pskb_may_pull(skb, ETH_HLEN)) {
		drop(packet, skb, TOR_P_TX_SHORT);
		return;
	}
	if (tor_neigh_answer(packet, skb))
		return;
	route = find_route(packet, skb);
	/* an address that was forgotten since tor_packet_features() leads nowhere */
	if (!route.ports || (route.dst == TORCOLL_NODE_ALL && skb_is_gso(skb))) {
		no_route(packet, skb);
		return;
	}
	if (route.dst == TORCOLL_NODE_ALL)
		count_group(packet, skb);
	/* while its owner is the sender: a port's device would tell the port */
	skb_tx_timestamp(skb);
	if (!pack(packet, skb, &route)) {
		drop(packet, skb, TOR_P_TX_NO_MEMORY);
		return;
	}
	if (send_all(packet, skb, &route)) {
		dev_sw_netstats_tx_add(packet->dev, 1, len);
		return;
	}
	tor_packet_count(packet, TOR_P_TX_REFUSED);
	dev_core_stats_tx_dropped_inc(packet->dev);
}

netdev_tx_t tor_packet_xmit(struct sk_buff *skb, struct net_device *dev)
{
	rcu_read_lock();
	xmit(netdev_priv(dev), skb);
	rcu_read_unlock();
	return NETDEV_TX_OK;
}
