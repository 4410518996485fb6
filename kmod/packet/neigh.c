// SPDX-License-Identifier: GPL-2.0
/*
 * Requests for the MAC addresses of nodes, answered by the device. See neigh.h.
 *
 * Every node would answer the same: the address follows from the number of the
 * node, and that from the IP address. No request has to cross a cable, and hosts
 * need no time to find each other, however many there are.
 *
 * An IPv6 host says with its address whether it is a router, and no one else knows
 * that: who is told otherwise forgets all routes by it. Routers are known by their
 * link-local addresses, so a request for one goes to the node that has it, alone.
 */
#include "packet/neigh.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/ipv6.h>
#include <net/arp.h>
#include <net/ip6_checksum.h>
#include <net/ndisc.h>

#include "core/packet/mac.h"
#include "net/fabric.h"
#include "packet/device.h"

/* An address in a request is that of no node, or of this one: others may know more. */
#define NOT_OURS	TOR_NO_NODE

/* Return the other node that has the IPv4 address, or NOT_OURS. Context: RCU. */
static u32 node_of4(const struct tor_packet_dev *packet, __be32 address)
{
	const struct tor_packet_prefix *prefix = rcu_dereference(packet->prefix);
	const struct tor_node *self = &packet->fabric->node;
	u32 node;

	if (!prefix || !prefix->len4)
		return NOT_OURS;
	node = be32_to_cpu(address) - prefix->base4;
	return node < self->torus.nodes && node != self->self ? node : NOT_OURS;
}

/* Return the node that has the address by the prefix, or NOT_OURS. */
static u32 node_of_prefix6(const struct tor_packet_prefix *prefix, const struct in6_addr *address,
			   u32 nodes)
{
	struct in6_addr want;
	u32 node;

	if (!prefix || !prefix->len6)
		return NOT_OURS;
	node = be32_to_cpu(address->s6_addr32[3]) - be32_to_cpu(prefix->base6.s6_addr32[3]);
	if (node >= nodes)
		return NOT_OURS;
	want = tor_packet_address6(prefix, node);
	return ipv6_addr_equal(&want, address) ? node : NOT_OURS;
}

/* Return the node whose MAC address is the interface identifier, or NOT_OURS. */
static u32 node_of_eui64(const struct tor_node *self, const struct in6_addr *address)
{
	const u8 *eui = &address->s6_addr[8];
	const u8 mac[ETH_ALEN] = { eui[0] ^ 2, eui[1], eui[2], eui[5], eui[6], eui[7] };

	if (eui[3] != 0xff || eui[4] != 0xfe)
		return NOT_OURS;
	return tor_packet_node(self, ether_addr_to_u64(mac));
}

/* Return the other node that has the IPv6 address, or NOT_OURS. Context: RCU. */
static u32 node_of6(const struct tor_packet_dev *packet, const struct in6_addr *address)
{
	const struct tor_node *self = &packet->fabric->node;
	u32 node = node_of_prefix6(rcu_dereference(packet->prefix), address, self->torus.nodes);

	if (node == NOT_OURS)
		node = node_of_eui64(self, address);
	return node != self->self ? node : NOT_OURS;
}

/* --- answers --- */

static void mac_of(const struct tor_packet_dev *packet, u32 node, u8 mac[ETH_ALEN])
{
	u64_to_ether_addr(tor_packet_mac(packet->fabric->node.tag, node), mac);
}

static struct sk_buff *arp_reply(const struct tor_packet_dev *packet, const u8 *asker,
				 __be32 asker_ip, u32 node, __be32 ip)
{
	u8 mac[ETH_ALEN];

	mac_of(packet, node, mac);
	return arp_create(ARPOP_REPLY, ETH_P_ARP, asker_ip, packet->dev, ip, asker, mac, asker);
}

/* A neighbour advertisement with the option of the target's address. */
struct advertisement {
	struct ethhdr eth;
	struct ipv6hdr ip;
	struct icmp6hdr icmp;
	struct in6_addr target;
	u8 option[2];
	u8 mac[ETH_ALEN];
} __packed __aligned(2);

#define ADVERTISEMENT_BYTES \
	(sizeof(struct advertisement) - offsetof(struct advertisement, icmp))

/*
 * Fill in the answer to @asker. Who asks whether the target is in use has no
 * address yet, "::": that answer is for all.
 */
static void fill_advertisement(struct advertisement *na, const struct in6_addr *asker,
			       const struct in6_addr *target)
{
	bool solicited = !ipv6_addr_any(asker);

	na->eth.h_proto = htons(ETH_P_IPV6);
	na->ip.version = 6;
	na->ip.payload_len = htons(ADVERTISEMENT_BYTES);
	na->ip.nexthdr = IPPROTO_ICMPV6;
	na->ip.hop_limit = 255;
	na->ip.saddr = *target;
	na->ip.daddr = solicited ? *asker : in6addr_linklocal_allnodes;
	na->icmp.icmp6_type = NDISC_NEIGHBOUR_ADVERTISEMENT;
	na->icmp.icmp6_solicited = solicited;
	na->icmp.icmp6_override = 1;
	na->target = *target;
	na->option[0] = ND_OPT_TARGET_LL_ADDR;
	na->option[1] = 1;	/* times 8 bytes */
	if (!solicited)
		ipv6_eth_mc_map(&na->ip.daddr, na->eth.h_dest);
	na->icmp.icmp6_cksum = csum_ipv6_magic(&na->ip.saddr, &na->ip.daddr, ADVERTISEMENT_BYTES,
					       IPPROTO_ICMPV6,
					       csum_partial(&na->icmp, ADVERTISEMENT_BYTES, 0));
}

static struct sk_buff *nd_reply(const struct tor_packet_dev *packet, const u8 *asker,
				const struct in6_addr *asker_ip, u32 node,
				const struct in6_addr *ip)
{
	struct sk_buff *skb = netdev_alloc_skb_ip_align(packet->dev, sizeof(struct advertisement));
	struct advertisement *na;

	if (!skb)
		return NULL;
	na = skb_put_zero(skb, sizeof(*na));
	mac_of(packet, node, na->mac);
	ether_addr_copy(na->eth.h_source, na->mac);
	ether_addr_copy(na->eth.h_dest, asker);
	fill_advertisement(na, asker_ip, ip);
	return skb;
}

/* --- requests --- */

/* ARP of IPv4 on Ethernet, behind its header. */
struct request4 {
	struct arphdr head;
	u8 asker[ETH_ALEN];
	__be32 asker_ip;
	u8 none[ETH_ALEN];
	__be32 ip;
} __packed __aligned(2);

static bool is_request4(const struct request4 *r)
{
	return r->head.ar_hrd == htons(ARPHRD_ETHER) && r->head.ar_pro == htons(ETH_P_IP) &&
	       r->head.ar_hln == ETH_ALEN && r->head.ar_pln == sizeof(r->ip) &&
	       r->head.ar_op == htons(ARPOP_REQUEST) && is_valid_ether_addr(r->asker);
}

/* A neighbour solicitation; its options tell nothing that is needed. */
struct request6 {
	struct ipv6hdr ip;
	struct nd_msg nd;
} __packed __aligned(2);

static bool is_request6(const struct request6 *r)
{
	return r->ip.version == 6 && r->ip.nexthdr == IPPROTO_ICMPV6 && r->ip.hop_limit == 255 &&
	       r->nd.icmph.icmp6_type == NDISC_NEIGHBOUR_SOLICITATION && !r->nd.icmph.icmp6_code &&
	       ntohs(r->ip.payload_len) >= sizeof(r->nd);
}

/* Return the packet's @len bytes behind its MAC header, or NULL. */
static const void *behind_mac(struct sk_buff *skb, u32 len)
{
	return pskb_may_pull(skb, ETH_HLEN + len) ? skb->data + ETH_HLEN : NULL;
}

static const u8 *eth_source(const struct sk_buff *skb)
{
	return ((const struct ethhdr *)skb->data)->h_source;
}

static bool is_link_local(const struct in6_addr *address)
{
	return ipv6_addr_type(address) & IPV6_ADDR_LINKLOCAL;
}

/* Return whether frames reach a node. Context: RCU. */
static bool is_reached(struct tor_packet_dev *packet, u32 node)
{
	if (tor_routes_reach(rcu_dereference(packet->fabric->routes), node))
		return true;
	tor_packet_count(packet, TOR_P_TX_NO_ROUTE);
	return false;
}

/* Receive an answer as if it had come from the node; NULL: no memory. Consumes @reply. */
static void reply_receive(struct tor_packet_dev *packet, struct sk_buff *reply)
{
	if (!reply) {
		tor_packet_count(packet, TOR_P_TX_NO_MEMORY);
		return;
	}
	tor_packet_count(packet, TOR_P_TX_ANSWERED);
	reply->protocol = eth_type_trans(reply, packet->dev);
	skb_reset_network_header(reply);
	reply->ip_summed = CHECKSUM_UNNECESSARY;
	netif_rx(reply);
}

static bool answer4(struct tor_packet_dev *packet, struct sk_buff *skb)
{
	const struct request4 *r = behind_mac(skb, sizeof(*r));
	u32 node;

	if (!r || !is_request4(r))
		return false;
	node = node_of4(packet, r->ip);
	if (node == NOT_OURS)
		return false;
	if (is_reached(packet, node))
		reply_receive(packet, arp_reply(packet, r->asker, r->asker_ip, node, r->ip));
	return true;
}

/* Return the solicitation that an IPv6 packet is, or NULL. */
static const struct request6 *solicitation(struct sk_buff *skb)
{
	const struct request6 *r = behind_mac(skb, sizeof(*r));

	if (!r || !is_request6(r) || !is_valid_ether_addr(eth_source(skb)))
		return NULL;
	return r;
}

static bool answer6(struct tor_packet_dev *packet, struct sk_buff *skb)
{
	const struct request6 *r = solicitation(skb);
	u32 node;

	if (!r)
		return false;
	node = node_of6(packet, &r->nd.target);
	if (node == NOT_OURS)
		return false;
	if (!is_reached(packet, node))
		return true;
	if (is_link_local(&r->nd.target))
		return false;
	reply_receive(packet, nd_reply(packet, eth_source(skb), &r->ip.saddr, node,
				       &r->nd.target));
	return true;
}

u32 tor_neigh_asked(const struct tor_packet_dev *packet, struct sk_buff *skb)
{
	const struct request6 *r = NULL;
	u32 node;

	if (((const struct ethhdr *)skb->data)->h_proto == htons(ETH_P_IPV6))
		r = solicitation(skb);
	if (!r || !is_link_local(&r->nd.target))
		return TORCOLL_NODE_ALL;
	node = node_of6(packet, &r->nd.target);
	return node == NOT_OURS ? TORCOLL_NODE_ALL : node;
}

bool tor_neigh_answer(struct tor_packet_dev *packet, struct sk_buff *skb)
{
	bool answered = false;

	switch (((const struct ethhdr *)skb->data)->h_proto) {
	case htons(ETH_P_ARP):
		answered = answer4(packet, skb);
		break;
	case htons(ETH_P_IPV6):
		answered = answer6(packet, skb);
		break;
	}
	if (answered)
		consume_skb(skb);
	return answered;
}
