// SPDX-License-Identifier: GPL-2.0
/*
 * Packets for this node: from torcoll's frame to an inner frame that the network
 * device receives. See device.h.
 */
#include <linux/etherdevice.h>

#include "core/packet/mac.h"
#include "net/entry.h"
#include "net/fabric.h"
#include "net/port.h"
#include "packet/device.h"

/*
 * Return whether a packet of node @src may have this inner source, and remember
 * foreign ones. The address of a node is only sent by that node: what a loop of
 * bridges or a liar sends with it must not turn others' packets away.
 */
static bool source_is_right(struct tor_packet_dev *packet, const u8 *source, u32 src)
{
	u64 mac = ether_addr_to_u64(source);
	u32 node;

	if (!is_valid_ether_addr(source))
		return false;
	node = tor_packet_node(&packet->fabric->node, mac);
	if (node != TOR_NO_NODE)
		return node == src;
	tor_fdb_learn(&packet->fdb, mac, src);
	return true;
}

/*
 * Take off torcoll's header and what else the way here has left in the skb; the
 * inner MAC header is at skb->data then. False: no memory.
 */
static bool unpack(struct sk_buff *skb, const struct net_device *dev)
{
	const u32 len = sizeof(struct torcoll_hdr);

	if (!pskb_may_pull(skb, len + ETH_HLEN))
		return false;
	/* no device has verified checksums behind this EtherType */
	if (skb->ip_summed == CHECKSUM_UNNECESSARY)
		skb->ip_summed = CHECKSUM_NONE;
	skb_pull_rcsum(skb, len);
	__vlan_hwaccel_clear_tag(skb);
	skb_clear_hash_if_not_l4(skb);
	skb_set_queue_mapping(skb, 0);
	skb_scrub_packet(skb, !net_eq(dev_net(skb->dev), dev_net(dev)));
	return true;
}

/* Drop a packet that this host's device does not get. */
static void refuse(struct tor_port *port, struct sk_buff *skb, const struct tor_packet *p)
{
	if (p->dst == TORCOLL_NODE_ALL)
		consume_skb(skb);
	else
		kfree_skb_reason(skb, tor_port_drop(port, TOR_C_DROP_TYPE));
}

/* Pass an inner frame to the device. Consumes @skb, whose MAC header is at skb->data. */
static void deliver(struct tor_packet_dev *packet, struct sk_buff *skb)
{
	struct net_device *dev = packet->dev;

	dev_sw_netstats_rx_add(dev, skb->len);
	skb->protocol = eth_type_trans(skb, dev);
	skb_postpull_rcsum(skb, eth_hdr(skb), ETH_HLEN);
	skb_reset_network_header(skb);
	gro_cells_receive(&packet->cells, skb);
}

void tor_packet_rx(struct tor_port *port, struct sk_buff *skb, const struct tor_intact *in)
{
	struct tor_packet_dev *packet = rcu_dereference(port->fabric->packet);
	enum tor_packet_stat stat;
	enum tor_counter why;
	struct tor_packet p;

	if (tor_wire_packet(in, &p, &why)) {
		kfree_skb_reason(skb, tor_port_drop(port, why));
		return;
	}
	if (!packet) {
		refuse(port, skb, &p);
		return;
	}
	stat = TOR_P_RX_NO_MEMORY;
	if (!unpack(skb, packet->dev))
		goto drop;
	stat = TOR_P_RX_SOURCE;
	if (!source_is_right(packet, ((struct ethhdr *)skb->data)->h_source, p.src))
		goto drop;
	if (p.dst == TORCOLL_NODE_ALL)
		tor_packet_count(packet, TOR_P_RX_GROUP);
	deliver(packet, skb);
	return;
drop:
	tor_packet_count(packet, stat);
	dev_core_stats_rx_dropped_inc(packet->dev);
	kfree_skb(skb);
}
