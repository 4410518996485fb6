// SPDX-License-Identifier: GPL-2.0
/* Netlink attributes of a port, its cable and its neighbour. See fill.h. */
#include "netlink/fill.h"

#include <linux/etherdevice.h>
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>

#include "net/port.h"
#include "netlink/put.h"

/* The shape of the neighbour's fabric. */
static int fill_shape(struct sk_buff *msg, const struct tor_cable *cable)
{
	u32 side[TOR_MAX_DIMS], kind[TOR_MAX_DIMS], dim, others = 0;
	u32 bytes = cable->peer_ndim * sizeof(u32);

	for (dim = 0; dim < cable->peer_ndim; dim++) {
		side[dim] = tor_side_nodes(cable->peer_side[dim]);
		kind[dim] = tor_side_kind(cable->peer_side[dim]);
		others |= kind[dim];
	}
	return nla_put(msg, TORCOLL_A_PORT_HEARD_SIDES, bytes, side) ||
	       (others && nla_put(msg, TORCOLL_A_PORT_HEARD_KINDS, bytes, kind)) ? -EMSGSIZE : 0;
}

/* How the neighbour differs from this node, in what hellos say of that. */
static int fill_neighbour(struct sk_buff *msg, const struct tor_node *node,
			  const struct tor_cable *cable)
{
	return (cable->peer_unsummed == node->checksum_payload &&
		nla_put_u32(msg, TORCOLL_A_PORT_HEARD_CHECKSUM, cable->peer_unsummed ?
			    TORCOLL_CHECKSUM_HEADER : TORCOLL_CHECKSUM_FULL)) ||
	       fill_shape(msg, cable) ||
	       (cable->peer_frame_size &&
		nla_put_u32(msg, TORCOLL_A_PORT_HEARD_MTU, cable->peer_frame_size)) ||
	       (cable->peer_more &&
		(nla_put_string(msg, TORCOLL_A_PORT_HEARD_NAME, cable->peer_name) ||
		 nla_put_u32(msg, TORCOLL_A_PORT_HEARD_RATES, cable->peer_rates) ||
		 nla_put_u32(msg, TORCOLL_A_PORT_HEARD_CABLES, cable->peer_cables))) ?
		       -EMSGSIZE : 0;
}

static int fill_heard(struct sk_buff *msg, const struct tor_port *port,
		      const struct tor_cable *cable)
{
	u8 mac[ETH_ALEN];

	if (cable->peer_wire && nla_put_u32(msg, TORCOLL_A_PORT_HEARD_WIRE, cable->peer_wire))
		return -EMSGSIZE;
	if (cable->peer_tag && nla_put_u32(msg, TORCOLL_A_PORT_HEARD_TAG, cable->peer_tag))
		return -EMSGSIZE;
	if (!cable->heard || cable->peer_node == ~0U)
		return 0;
	u64_to_ether_addr(READ_ONCE(port->heard), mac);
	return nla_put_u32(msg, TORCOLL_A_PORT_HEARD_NODE, cable->peer_node) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_DIM, cable->peer_dim) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_DIR, cable->peer_dir) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_EPOCH, cable->peer_epoch) ||
	       nl_put_u64(msg, TORCOLL_A_PORT_HEARD_AGO_NS, ktime_get_ns() - cable->heard) ||
	       nla_put(msg, TORCOLL_A_PORT_HEARD_MAC, ETH_ALEN, mac) ||
	       nla_put_string(msg, TORCOLL_A_PORT_HEARD_VERSION, cable->peer_version) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_ORDER, cable->peer_big_endian ?
			   TORCOLL_BYTE_ORDER_BIG : TORCOLL_BYTE_ORDER_LITTLE) ||
	       fill_neighbour(msg, &port->fabric->node, cable) ? -EMSGSIZE : 0;
}

/* What the counters of a port say of its cable. */
static int fill_counts(struct sk_buff *msg, const struct tor_port *port,
		       const struct tor_cable *cable, u64 lost)
{
	return nl_put_u64(msg, TORCOLL_A_PORT_TX_FRAMES, atomic64_read(&port->tx_frames)) ||
	       nl_put_u64(msg, TORCOLL_A_PORT_RX_FRAMES, atomic64_read(&port->rx_frames)) ||
	       nl_put_u64(msg, TORCOLL_A_PORT_DROPS, atomic64_read(&port->drops)) ||
	       nl_put_u64(msg, TORCOLL_A_PORT_LOST, lost) ||
	       nl_put_u64(msg, TORCOLL_A_PORT_DAMAGED, atomic64_read(&cable->damaged)) ||
	       nl_put_u64(msg, TORCOLL_A_PORT_RESENT, atomic64_read(&port->resent)) ? -EMSGSIZE : 0;
}

static int fill_device(struct sk_buff *msg, const struct tor_port *port)
{
	const char *copies = tor_port_copies(port);
	const struct net_device *dev = port->dev;

	return (copies && nla_put_string(msg, TORCOLL_A_PORT_COPIES, copies)) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_IFINDEX, dev->ifindex) ||
	       nla_put_string(msg, TORCOLL_A_PORT_IFNAME, dev->name) ||
	       nla_put(msg, TORCOLL_A_PORT_MAC, ETH_ALEN, dev->dev_addr) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_MTU, dev->mtu) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_FRAME_BYTES, tor_wire_unit(dev->mtu)) ?
		       -EMSGSIZE : 0;
}

/* Fill in a port, or its place if it is gone. */
int tor_fill_port(struct sk_buff *msg, struct tor_fabric *fabric, u32 index)
{
	const struct tor_port *port = rtnl_dereference(fabric->port[index]);
	const u32 link = tor_cable_link(index);
	const struct tor_node *node = &fabric->node;
	struct tor_cable cable;
	const char *reason;
	u64 lost;

	spin_lock_bh(&fabric->lock);
	cable = node->cable[index];
	reason = port ? tor_port_reason(port) : NULL;
	lost = port ? port->loss.lost : 0;
	spin_unlock_bh(&fabric->lock);
	if (nl_put_u64(msg, TORCOLL_A_PORT_FABRIC, node->key) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_DIM, tor_port_dim(&node->torus, link)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_DIR, tor_port_dir(&node->torus, link)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_CABLE, tor_cable_place(index)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_STATE, cable.state) ||
	    (reason && nla_put_string(msg, TORCOLL_A_PORT_REASON, reason)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_NEIGHBOUR,
			tor_torus_neighbour(&node->torus, node->self, link)) ||
	    nl_put_u64(msg, TORCOLL_A_PORT_DOWNS, cable.downs) ||
	    nl_put_u64(msg, TORCOLL_A_PORT_SINCE_NS, ktime_get_ns() - cable.since))
		return -EMSGSIZE;
	if (!port)
		return 0;
	return fill_device(msg, port) || fill_counts(msg, port, &cable, lost) ||
	       fill_heard(msg, port, &cable) ? -EMSGSIZE : 0;
}
