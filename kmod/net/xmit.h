/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmission of own and forwarded frames: choice of the port, MAC header, and
 * a direct call of the driver where the queueing layer has nothing to do. All
 * of it under RCU with bottom halves off.
 */
#ifndef _TOR_XMIT_H
#define _TOR_XMIT_H

#include <linux/etherdevice.h>
#include <linux/pkt_sched.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "net/port.h"
#include "net/reroute.h"

/*
 * Return the port of several by which a frame of @bytes is at the other end
 * first, or NULL; @up: bit per cable of @link that is up.
 */
struct tor_port *tor_xmit_choose(struct tor_fabric *fabric, u32 link, u32 up, u32 bytes);

/*
 * Return the port by which a frame of @bytes for @dst leaves, or NULL; @from: the
 * number of the link that it came in by, or TOR_NO_PORT.
 */
static inline struct tor_port *tor_xmit_port(struct tor_fabric *fabric, u32 dst, u32 tie, u32 from,
					     u32 bytes)
{
	const struct tor_routes *routes = rcu_dereference(fabric->routes);
	/* before the link's state: see tor_link_sum() */
	u32 live = smp_load_acquire(&fabric->node.live);
	u32 link = tor_routes_port(&fabric->node.torus, routes, dst, tie, live, from);
	u32 up;

	if (link == TOR_NO_PORT)
		return NULL;
	/* before the port's neighbour: see tor_link_sum() */
	up = smp_load_acquire(&fabric->node.link[link].up);
	if (likely(up == 1))
		return rcu_dereference(fabric->port[link]);
	return tor_xmit_choose(fabric, link, up, bytes);
}

/*
 * Return the port by which a packet of @flow leaves by @link, or NULL. All of a
 * flow leave by the same cable, in their order.
 */
static inline struct tor_port *tor_xmit_flow_port(struct tor_fabric *fabric, u32 link, u32 flow)
{
	/* before the port's neighbour: see tor_link_sum() */
	u32 up = smp_load_acquire(&fabric->node.link[link].up);

	if (likely(up == 1))
		return rcu_dereference(fabric->port[link]);
	if (!up)
		return NULL;
	return rcu_dereference(fabric->port[tor_cable(link,
			       tor_routes_cable(rcu_dereference(fabric->routes), flow, up))]);
}

/* Charge a frame to a port with others beside it: see tor_xmit_charge(). */
void tor_xmit_count(struct tor_port *port, struct sk_buff *skb);

/*
 * Shorter frames, such as acknowledgements, occupy memory out of proportion to
 * their time on the cable.
 */
#define TOR_XMIT_LONG	256
/* a hash like any other, if not that of the data frames, which is the kernel's */
#define TOR_XMIT_ACK_FLOW	0x5eed0ac5

/*
 * A frame leaves by a port that was chosen. If its link has others, what each of
 * their devices holds decides about the next frame.
 */
static inline void tor_xmit_charge(struct tor_port *port, struct sk_buff *skb)
{
	if (unlikely(READ_ONCE(port->several) && skb->len >= TOR_XMIT_LONG))
		tor_xmit_count(port, skb);
}

/*
 * Return whether both ends of all cables of the link accept @skb, still without
 * MAC header. If not, the frame goes another way or is dropped.
 */
static inline bool tor_xmit_fits(struct tor_fabric *fabric, const struct tor_port *port,
				 const struct sk_buff *skb)
{
	if (likely(skb->len <= READ_ONCE(fabric->node.link[port->link].takes)))
		return true;
	tor_reroute_too_small(fabric, port->link, skb->len);
	return false;
}

/*
 * Put the MAC header before @skb, which has LL_RESERVED_SPACE() of room. False:
 * the device refuses.
 */
static inline bool tor_xmit_header(struct sk_buff *skb, const struct tor_port *port, u64 mac)
{
	struct net_device *dev = port->dev;
	/* the address in its first bytes on machines of either byte order */
	__be64 dst = cpu_to_be64(mac << 16);
	struct ethhdr *eth;

	skb->dev = dev;
	skb->protocol = port->type.type;
	if (unlikely(dev->header_ops->create != eth_header))
		return dev_hard_header(skb, dev, ntohs(skb->protocol), &dst, dev->dev_addr,
				       skb->len) >= 0;
	eth = __skb_push(skb, ETH_HLEN);
	memcpy(eth->h_dest, &dst, ETH_ALEN);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	eth->h_proto = skb->protocol;
	return true;
}

/*
 * Let the kernel choose one of several queues by the hash that @skb was given: it
 * would take that of the reception if it is noted, or the network device's for it.
 */
static inline void tor_xmit_by_hash(struct sk_buff *skb)
{
	skb_set_queue_mapping(skb, 0);
}

/*
 * An acknowledgement is short, and a window waits for it at the other end: it
 * leaves ahead of the data that is queued, whole windows of it. Otherwise the
 * two directions of a cable would take turns. Queueing disciplines with bands
 * look at the priority; for those that serve flows in turn, and where a device
 * has several queues, acknowledgements are a flow of their own.
 */
static inline void tor_xmit_ahead(struct sk_buff *skb)
{
	skb->priority = TC_PRIO_CONTROL;
	skb_set_hash(skb, TOR_XMIT_ACK_FLOW, PKT_HASH_TYPE_L4);
	tor_xmit_by_hash(skb);
}

/*
 * Return whether @dev is one of a pair within this kernel, such as veth, without
 * a queue: what it sends is at its peer at once, and unchanged. If a bridge or
 * the like takes it there, it may go anywhere; so it may by a filter that redirects,
 * which is not looked for: packets without a checksum are lost then at some cards.
 */
static inline bool tor_xmit_is_pair(struct net_device *dev)
{
	const struct net_device *peer;

	if (!dev->netdev_ops->ndo_get_peer_dev ||
	    rcu_dereference_bh(netdev_get_tx_queue(dev, 0)->qdisc)->enqueue)
		return false;
	peer = dev->netdev_ops->ndo_get_peer_dev(dev);
	return peer && !rcu_access_pointer(peer->rx_handler);
}

/*
 * Return whether skb->dev brings a super frame unchanged to the other end of the
 * cable. Adapters do not: they would look for IP behind the MAC header.
 */
static inline bool tor_xmit_takes_super(const struct sk_buff *skb)
{
	return skb_gso_ok((struct sk_buff *)skb, skb->dev->features) &&
	       skb->len <= READ_ONCE(skb->dev->gso_max_size) && tor_xmit_is_pair(skb->dev);
}

/**
 * tor_xmit - pass a frame to skb->dev
 * @skb: with its MAC header; consumed
 *
 * Return: as dev_queue_xmit(), to be passed to net_xmit_eval().
 */
int tor_xmit(struct sk_buff *skb);

/* To be called before the first frame. Context: process. */
void tor_xmit_init(void);

#endif
