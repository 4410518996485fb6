// SPDX-License-Identifier: GPL-2.0
/*
 * Packets whose hop limit is used up: ICMP messages to their senders. See
 * expired.h.
 *
 * The kernel's IP makes them. For that the packet becomes one that the device
 * has received and that a router would send on: without torcoll's header,
 * addressed to this host, and, for IPv4, with the route that it would take.
 */
#include "packet/expired.h"

#include <linux/etherdevice.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <tor/route_input.h>

#include "core/wire/accept.h"
#include "net/entry.h"
#include "net/fabric.h"
#include "net/port.h"
#include "packet/device.h"

/* Return whether the IPv4 header at skb->data is linear and whole. */
static bool is_whole4(struct sk_buff *skb)
{
	const struct iphdr *ip;
	u32 bytes;

	if (!pskb_may_pull(skb, sizeof(*ip)))
		return false;
	ip = (const struct iphdr *)skb->data;
	bytes = 4 * ip->ihl;
	if (ip->version != 4 || bytes < sizeof(*ip) || ntohs(ip->tot_len) < bytes ||
	    !pskb_may_pull(skb, bytes))
		return false;
	ip = (const struct iphdr *)skb->data;
	return !ip_fast_csum(ip, ip->ihl);
}

static void tell4(struct sk_buff *skb)
{
	if (is_whole4(skb) && !tor_route_input(skb, (const struct iphdr *)skb->data))
		icmp_send(skb, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0);
}

static void tell6(struct sk_buff *skb)
{
	if (pskb_may_pull(skb, sizeof(struct ipv6hdr)) &&
	    ((const struct ipv6hdr *)skb->data)->version == 6)
		icmpv6_send(skb, ICMPV6_TIME_EXCEED, ICMPV6_EXC_HOPLIMIT, 0);
}

/*
 * Make a packet one that the device has received: skb->data is behind its MAC
 * header then. False: no memory, or not from one host to another.
 */
static bool take(struct sk_buff *skb, struct net_device *dev)
{
	const u32 len = sizeof(struct torcoll_hdr);

	if (!pskb_may_pull(skb, len + ETH_HLEN))
		return false;
	skb_pull_rcsum(skb, len);
	__vlan_hwaccel_clear_tag(skb);
	skb_scrub_packet(skb, !net_eq(dev_net(skb->dev), dev_net(dev)));
	skb->protocol = eth_type_trans(skb, dev);
	skb_reset_network_header(skb);
	if (is_multicast_ether_addr(eth_hdr(skb)->h_dest))
		return false;
	skb->pkt_type = PACKET_HOST;
	memset(skb->cb, 0, sizeof(skb->cb));
	return true;
}

void tor_packet_expired(struct tor_port *port, struct sk_buff *skb, const struct tor_intact *in)
{
	struct tor_packet_dev *packet = rcu_dereference(port->fabric->packet);
	enum skb_drop_reason why = tor_port_drop(port, TOR_C_DROP_HOP_LIMIT);

	if (packet && tor_intact_dst(in) != TORCOLL_NODE_ALL && netif_running(packet->dev) &&
	    take(skb, packet->dev)) {
		if (skb->protocol == htons(ETH_P_IP))
			tell4(skb);
		else if (skb->protocol == htons(ETH_P_IPV6))
			tell6(skb);
	}
	kfree_skb_reason(skb, why);
}
