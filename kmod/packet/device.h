/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network device of a fabric, a link of kind "torcoll": by it the hosts of
 * the fabric reach each other as on one Ethernet, whose frames ("packets") take
 * the ways of the fabric.
 *
 * Lifetime
 *
 * A fabric has one device at most, fabric->packet, which belongs to the
 * namespace it was created in or has been moved to; its fabric and ports stay
 * in theirs. It goes when it is deleted, with its own namespace, with its
 * fabric, or with the module: always by link_ops.dellink, under RTNL, which
 * clears fabric->packet first. Then the kernel stops its queues, waits for all
 * readers of RCU, and calls ndo_uninit: neither ndo_start_xmit nor
 * tor_packet_rx() is running any more, and none begins. What is left of its
 * packets in the queues of ports does not refer to it.
 *
 * Locking: RTNL for all changes; tor_packet_xmit() and tor_packet_rx() take no
 * lock but that of fdb.h, a leaf.
 */
#ifndef _TOR_PACKET_DEVICE_H
#define _TOR_PACKET_DEVICE_H

#include <linux/if_vlan.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/torcoll_wire.h>
#include <net/gro_cells.h>

#include "core/wire/accept.h"
#include "packet/fdb.h"

struct tor_fabric;
struct tor_port;

/*
 * What the MTU of the device is smaller than a fabric's frame: torcoll's header,
 * and the inner MAC header with one VLAN tag.
 */
#define TOR_PACKET_OVERHEAD	(sizeof(struct torcoll_hdr) + VLAN_ETH_HLEN)

/**
 * struct tor_packet_prefix - which addresses are those of nodes
 * @base4, @len4: IPv4, host order; length 0: none
 * @base6, @len6: IPv6, length 0: none
 *
 * Node n has the address base + n.
 */
struct tor_packet_prefix {
	u32 base4;
	u8 len4;
	u8 len6;
	struct in6_addr base6;
	struct rcu_head rcu;
};

/* The IPv6 address of @node. Context: any. */
static inline struct in6_addr tor_packet_address6(const struct tor_packet_prefix *prefix, u32 node)
{
	struct in6_addr address;
	__be64 part[2];
	u64 low;

	memcpy(part, &prefix->base6, sizeof(part));
	low = be64_to_cpu(part[1]) + node;
	if (low < node)
		be64_add_cpu(&part[0], 1);
	part[1] = cpu_to_be64(low);
	memcpy(&address, part, sizeof(part));
	return address;
}

/* What "ethtool -S" shows, by the names in ethtool.c. */
enum tor_packet_stat {
	TOR_P_TX_GROUP,			/* broadcast, multicast and unknown addresses */
	TOR_P_TX_UNKNOWN,		/* of these: unknown addresses */
	TOR_P_TX_ANSWERED,		/* requests for a node's address, answered by neigh.c */
	TOR_P_TX_NO_ROUTE,
	TOR_P_TX_NO_MEMORY,
	TOR_P_TX_REFUSED,		/* by a port's queue or device */
	TOR_P_TX_SHORT,			/* no MAC header */
	TOR_P_RX_GROUP,
	TOR_P_RX_SOURCE,		/* the inner source is another node's, or no host's */
	TOR_P_RX_NO_MEMORY,
	TOR_P_STATS
};

struct tor_packet_stats {
	u64 value[TOR_P_STATS];
};

/**
 * struct tor_packet_dev - the private part of the net_device
 * @fabric: referenced while the device is registered
 * @cells: GRO of received packets
 * @fdb: foreign addresses
 * @prefix: NULL: none; replaced as a whole: RTNL, RCU
 * @stats: per CPU
 * @mtu: that was asked for, 0: none was; RTNL
 * @following: tor_packet_follow() is changing the MTU; RTNL
 */
struct tor_packet_dev {
	struct net_device *dev;
	struct tor_fabric *fabric;
	struct gro_cells cells;
	struct tor_fdb fdb;
	struct tor_packet_prefix __rcu *prefix;
	struct tor_packet_stats __percpu *stats;
	u32 mtu;
	bool following;
};

/* Context: BH. */
static inline void tor_packet_count(struct tor_packet_dev *packet, enum tor_packet_stat what)
{
	this_cpu_inc(packet->stats->value[what]);
}

/**
 * tor_packet_setup - fill in a new net_device
 * @dev: with room for struct tor_packet_dev
 *
 * Context: RTNL.
 */
void tor_packet_setup(struct net_device *dev);

/*
 * Adapt carrier, MTU and headroom of the fabric's device, if there is one, to
 * its ports and links, and to the frames that all nodes accept. Context: RTNL.
 */
void tor_packet_follow(struct tor_fabric *fabric);

/*
 * Return whether @dev is such a device of any fabric, or on top of one: no cable
 * that a port could use or a survey could find. Context: any.
 */
bool tor_packet_carries(const struct net_device *dev);

/*
 * Delete the fabric's device, if there is one: the caller ends that with
 * unregister_netdevice_many(@kill), which waits, for several at once. Context: RTNL.
 */
void tor_packet_del(struct tor_fabric *fabric, struct list_head *kill);

/* ndo_features_check, ndo_select_queue and ndo_start_xmit; in transmit.c. */
netdev_features_t tor_packet_features(struct sk_buff *skb, struct net_device *dev,
				      netdev_features_t features);
u16 tor_packet_select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev);
netdev_tx_t tor_packet_xmit(struct sk_buff *skb, struct net_device *dev);

/**
 * tor_packet_rx - receive a packet for this node; in receive.c
 * @port: that it came in by
 * @skb: not shared, torcoll's header linear at skb->data; consumed
 * @in: its header, which is plausible: to this node or to all, from another one
 *	of the fabric
 *
 * Without a device it is dropped. Context: softirq, RCU.
 */
void tor_packet_rx(struct tor_port *port, struct sk_buff *skb, const struct tor_intact *in);

extern const struct ethtool_ops tor_packet_ethtool_ops;

/*
 * Register the kind of links; in link.c. tor_packet_exit() deletes all devices.
 * Context: process.
 */
int tor_packet_init(void);
void tor_packet_exit(void);

#endif
