/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port: one netdev, which is this node's end of a cable of a link, that is of
 * a (dimension, direction).
 */
#ifndef _TOR_PORT_H
#define _TOR_PORT_H

#include "core/link/gauge.h"
#include "core/link/loss.h"
#include "net/backlog.h"
#include "net/fabric.h"
#include "packet/outq.h"

/**
 * struct tor_port - a netdev in use
 * @cable: number of its cable, see tor_cable(), and its place in fabric->port[]
 * @link: number of the link, see tor_torus_port()
 * @type: receiver; works beside macsec and taps, unlike an rx_handler
 * @neighbour: MAC of the neighbour in the lower 48 bits, from its hellos
 * @heard: MAC of the last hello, from any sender
 * @backlog: frames for this node that softirqs have left to a process
 * @outq: packets that wait to leave
 * @several: the link has other ports, too: frames are charged, see xmit.h
 * @queued: owner of the frames of collectives in the device, if they are charged
 * @got: bytes of memory of them, in all
 * @gauge: how fast they leave
 * @loss: frames that the neighbour sent and that did not arrive;
 *	fabric->lock
 * @tx_frames, @rx_frames: hellos included
 * @refused: of @tx_frames, those that the queue or the device did not take
 * @drops: received frames that were discarded
 * @others: received frames that the neighbour's port has not counted: tests by
 *	torcollctl, other fabrics
 * @resent: own data frames sent again
 */
struct tor_port {
	struct packet_type type;
	struct tor_fabric *fabric;
	struct net_device *dev;
	netdevice_tracker tracker;
	u32 cable;
	u32 link;
	u64 neighbour;
	u64 heard;
	struct tor_backlog backlog;
	struct tor_outq outq;
	bool several;
	struct sock *queued;
	atomic64_t got;
	struct tor_gauge gauge;
	struct tor_loss loss;
	bool upper;			/* enslaved: a bridge or bond takes its frames */
	atomic64_t tx_frames;
	atomic64_t refused;
	atomic64_t rx_frames;
	atomic64_t drops;
	atomic64_t others;
	atomic64_t resent;
	struct rcu_head rcu;
	struct work_struct free_work;
};

#define TOR_ANY_CABLE	(~0U)

/**
 * tor_port_add - use a netdev
 * @fabric: owner of the port
 * @link: number of the link, see tor_torus_port()
 * @rank: which cable of the link, below TOR_LINK_CABLES; TOR_ANY_CABLE: the
 *	first free one
 * @dev: device; referenced until the port goes
 * @why: out: static sentence for a refusal
 * @attr: out: the netlink attribute at fault, if there is one
 *
 * Context: RTNL.
 * Return: 0 or a negative errno.
 */
int tor_port_add(struct tor_fabric *fabric, u32 link, u32 rank, struct net_device *dev,
		 const char **why, u32 *attr);

/*
 * Return whether the port is still the one in its place: if not, its device is
 * being removed. Context: fabric->lock.
 */
static inline bool tor_port_is_current(const struct tor_port *port)
{
	return rcu_access_pointer(port->fabric->port[port->cable]) == port;
}

/* Return the port that uses a device, or NULL. Context: RTNL or RCU. */
struct tor_port *tor_port_of_dev(const struct net_device *dev);

/* Context: RTNL. */
void tor_port_del(struct tor_fabric *fabric, u32 cable);

/*
 * Return how many frames @skb stands for at both ends of a cable: a super frame
 * is counted as its segments, since it may leave as such, and be merged again.
 */
static inline u32 tor_port_frames(const struct sk_buff *skb)
{
	return likely(!skb_is_gso(skb)) ? 1 : max_t(u32, skb_shinfo(skb)->gso_segs, 1);
}

/*
 * Return the received frames that the neighbour's hellos count. Context: any.
 */
static inline u64 tor_port_received(const struct tor_port *port)
{
	return atomic64_read(&port->rx_frames) - atomic64_read(&port->others);
}

/*
 * Return why frames of this port are copied before they leave, or NULL if they
 * are not.
 */
const char *tor_port_copies(const struct tor_port *port);

/* Return a sentence why a link is not up, or NULL. Context: fabric->lock. */
const char *tor_port_reason(const struct tor_port *port);

int tor_port_init(void);
void tor_port_exit(void);

#endif
