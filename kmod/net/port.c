// SPDX-License-Identifier: GPL-2.0
/* Ports: bind netdevs and follow their state. See port.h. */
#include "net/port.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_macvlan.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/torcoll_netlink.h>

#include "core/wire/wire.h"
#include "net/net.h"
#include "net/receive.h"
#include "net/send.h"
#include "op/group.h"
#include "packet/device.h"
#include "packet/held.h"

/* the end of both sentences about it */
#define MTU_LEAST ": torcoll's frames take " __stringify(TOR_WIRE_FRAME_MIN) " bytes at least"


struct tor_port *tor_port_of_dev(const struct net_device *dev)
{
	struct tor_net *tn = tor_net(dev_net(dev));
	struct tor_fabric *fabric;
	u32 i;

	list_for_each_entry_rcu(fabric, &tn->fabrics, list, lockdep_rtnl_is_held()) {
		for (i = 0; i < TOR_MAX_CABLES; i++) {
			struct tor_port *port = rcu_dereference_rtnl(fabric->port[i]);

			if (port && port->dev == dev)
				return port;
		}
	}
	return NULL;
}

/* A macvlan in mode passthru takes all frames for one address. */
static bool is_passthru(const struct net_device *upper)
{
	return netif_is_macvlan(upper) &&
	       ((const struct macvlan_dev *)netdev_priv(upper))->mode == MACVLAN_MODE_PASSTHRU;
}

/*
 * A bridge or bond above takes the frames before any packet_type sees them. A
 * VRF takes what IP has received; other macvlans and MACsec, which are no
 * masters, take frames of their own.
 */
static bool is_enslaved(struct net_device *dev)
{
	const struct net_device *master = netdev_master_upper_dev_get(dev);
	bool taken = master && !netif_is_l3_master(master);
	struct net_device *upper;
	struct list_head *iter;

	rcu_read_lock();
	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		taken |= is_passthru(upper);
	rcu_read_unlock();
	return taken;
}

/* What is below such a device has other hosts at its other end, or is a cable of its own. */
static bool is_bundle(const struct net_device *dev)
{
	return netif_is_bridge_master(dev) || netif_is_lag_master(dev);
}

/* Update the cable to the present state of the device. */
static void port_follow(struct tor_port *port)
{
	struct tor_fabric *fabric = port->fabric;
	struct net_device *dev = port->dev;
	struct tor_entry entry;
	bool usable;

	ASSERT_RTNL();
	WRITE_ONCE(port->upper, is_enslaved(dev));
	usable = netif_running(dev) && netif_carrier_ok(dev) && !port->upper &&
		 tor_wire_unit(dev->mtu);
	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	if (usable) {
		tor_cable_open(&entry.ctx, &fabric->node, port->cable, dev->mtu);
	} else {
		tor_loss_stop(&port->loss);
		/* another cable may be plugged in */
		port->gauge = (struct tor_gauge){};
		tor_cable_close(&entry.ctx, &fabric->node, port->cable, false);
	}
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

static int check_device(struct net_device *dev, const char **why)
{
	if (dev->type != ARPHRD_ETHER || dev->flags & IFF_LOOPBACK) {
		*why = "not an Ethernet device";
		return -EINVAL;
	}
	if (tor_port_of_dev(dev)) {
		*why = "the device is a port already, of this fabric or of another that \"port show\" names";
		return -EBUSY;
	}
	if (is_enslaved(dev)) {
		*why = "the device belongs to a bridge, bond or the like, which takes its frames: release it; a dimension and direction may have several devices";
		return -EBUSY;
	}
	if (is_bundle(dev)) {
		*why = "the device is a bridge, bond or team: add the devices below it instead; a dimension and direction may have several of them";
		return -EINVAL;
	}
	if (tor_packet_carries(dev)) {
		*why = "the device is a fabric's own, or on top of one: its packets would come back to it";
		return -EINVAL;
	}
	if (!tor_wire_unit(dev->mtu)) {
		*why = "the device's MTU is too small" MTU_LEAST;
		return -EINVAL;
	}
	return 0;
}

/* Find the place of a new port: see tor_port_add(). */
static int find_place(struct tor_fabric *fabric, u32 link, u32 rank, u32 *cable, const char **why,
		      u32 *attr)
{
	u32 k = rank == TOR_ANY_CABLE ? 0 : rank;

	*attr = TORCOLL_A_PORT_DIM;
	if (link >= TOR_MAX_PORTS ||
	    !tor_torus_has_port(&fabric->node.torus, fabric->node.self, link)) {
		*why = "the fabric's shape has no cable there";
		return -EINVAL;
	}
	while (rank == TOR_ANY_CABLE && k < TOR_LINK_CABLES &&
	       rtnl_dereference(fabric->port[tor_cable(link, k)]))
		k++;
	if (k >= TOR_LINK_CABLES) {
		*why = "that dimension and direction has 4 ports already, which is the most";
		return -EEXIST;
	}
	*cable = tor_cable(link, k);
	if (!rtnl_dereference(fabric->port[*cable]))
		return 0;
	*attr = TORCOLL_A_PORT_CABLE;
	*why = "that cable of the dimension and direction has a port already";
	return -EEXIST;
}

/*
 * Return where the count of a new port's frames begins: behind those of all
 * cables of its link. Its neighbour may have heard any of them, and must not
 * take this count for the continuation of that one, nor the first hello, which
 * counts itself, for one that was overtaken. Context: RTNL.
 */
static u32 first_count(struct tor_fabric *fabric, u32 link)
{
	u32 k, sent, least = 0;

	rcu_read_lock();
	for (k = 0; k < TOR_LINK_CABLES; k++) {
		sent = tor_env_cable_sent(&fabric->node, tor_cable(link, k));
		if (!k || (s32)(sent - least) < 0)
			least = sent;
	}
	rcu_read_unlock();
	return least - TOR_LOSS_OVERTAKEN - 2;
}

/* The number of a link's ports has changed. */
static void count_beside(struct tor_fabric *fabric, u32 link)
{
	struct tor_port *port;
	u32 k, n = 0;

	for (k = 0; k < TOR_LINK_CABLES; k++)
		n += !!rtnl_dereference(fabric->port[tor_cable(link, k)]);
	for (k = 0; k < TOR_LINK_CABLES; k++) {
		port = rtnl_dereference(fabric->port[tor_cable(link, k)]);
		if (port)
			WRITE_ONCE(port->several, n > 1);
	}
}

/* Set up the queue of a new port, and what counts the frames that its device holds. */
static int port_init_queues(struct tor_port *port)
{
	int err = tor_outq_init(&port->outq);

	if (err)
		return err;
	port->queued = tor_held_open(NULL);
	if (port->queued)
		return 0;
	tor_outq_destroy(&port->outq);
	return -ENOMEM;
}

static void port_destroy_queues(struct tor_port *port)
{
	tor_held_put(port->queued);
	tor_outq_destroy(&port->outq);
}

int tor_port_add(struct tor_fabric *fabric, u32 link, u32 rank, struct net_device *dev,
		 const char **why, u32 *attr)
{
	struct tor_port *port;
	u32 cable;
	int err;

	ASSERT_RTNL();
	err = find_place(fabric, link, rank, &cable, why, attr);
	if (err)
		return err;
	*attr = TORCOLL_A_PORT_IFINDEX;
	err = check_device(dev, why);
	if (err)
		return err;
	err = tor_fabric_port_added(fabric, why);
	if (err)
		return err;
	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port) {
		tor_fabric_port_gone(fabric);
		return -ENOMEM;
	}
	port->fabric = fabric;
	port->dev = dev;
	port->cable = cable;
	port->link = link;
	err = port_init_queues(port);
	if (err)
		goto err_free;
	err = dev_mc_add(dev, tor_hello_group);
	if (err) {
		*why = "the device refuses the group address of hellos";
		goto err_queues;
	}
	/* for the queue's tasklet, which no reader's section holds up: until port_free() */
	tor_fabric_get(fabric);
	netdev_hold(dev, &port->tracker, GFP_KERNEL);
	tor_backlog_init(&port->backlog);
	port->type.type = htons(fabric->ethertype);
	port->type.dev = dev;
	port->type.func = tor_frame_rx;
	port->type.list_func = tor_frame_rx_list;
	fabric->sent[cable] = first_count(fabric, link);
	rcu_assign_pointer(fabric->port[cable], port);
	count_beside(fabric, link);
	tor_fabric_touch(fabric);
	dev_add_pack(&port->type);
	port_follow(port);
	return 0;

err_queues:
	port_destroy_queues(port);
err_free:
	tor_fabric_port_gone(fabric);
	kfree(port);
	return err;
}

static void port_free(struct work_struct *work)
{
	struct tor_port *port = container_of(work, struct tor_port, free_work);

	port_destroy_queues(port);
	netdev_put(port->dev, &port->tracker);
	tor_fabric_put(port->fabric);
	kfree(port);
}

/* No reader has the port any more. To end the rest needs a process. */
static void port_free_rcu(struct rcu_head *rcu)
{
	struct tor_port *port = container_of(rcu, struct tor_port, rcu);

	INIT_WORK(&port->free_work, port_free);
	tor_group_queue(&port->free_work);
}

/*
 * Remove a port. Frames that are being received may continue with the port, and
 * so may senders that found it: it stays for a grace period, which nothing
 * waits for here. News that come by it no longer concern the link, see
 * tor_port_is_current().
 */
void tor_port_del(struct tor_fabric *fabric, u32 cable)
{
	struct tor_port *port = rtnl_dereference(fabric->port[cable]);
	struct tor_entry entry;

	if (!port)
		return;
	__dev_remove_pack(&port->type);
	tor_backlog_close(&port->backlog);
	tor_fabric_port_gone(fabric);
	tor_fabric_touch(fabric);
	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	/* the log of links names its device */
	tor_cable_close(&entry.ctx, &fabric->node, cable, true);
	fabric->sent[cable] = tor_env_cable_sent(&fabric->node, cable);
	RCU_INIT_POINTER(fabric->port[cable], NULL);
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
	count_beside(fabric, port->link);
	tor_outq_close(port);
	dev_mc_del(port->dev, tor_hello_group);
	call_rcu(&port->rcu, port_free_rcu);
}

u32 tor_env_cable_sent(const struct tor_node *node, u32 cable)
{
	const struct tor_fabric *fabric = container_of(node, struct tor_fabric, node);
	const struct tor_port *port = rcu_dereference(fabric->port[cable]);

	if (!port)
		return fabric->sent[cable];
	return fabric->sent[cable] + atomic64_read(&port->tx_frames) - atomic64_read(&port->refused);
}

const char *tor_port_copies(const struct tor_port *port)
{
	/* it advertises SG, and then copies what it encrypts */
	if (netif_is_macsec(port->dev))
		return "the device encrypts (macsec): frames are copied";
	if (!(READ_ONCE(port->dev->features) & NETIF_F_SG))
		return "the device cannot gather (sg off): frames are copied";
	return NULL;
}

const char *tor_port_reason(const struct tor_port *port)
{
	const struct tor_cable *cable = &port->fabric->node.cable[port->cable];
	const struct net_device *dev = port->dev;

	switch (cable->state) {
	case TOR_CABLE_ABSENT:
	case TOR_CABLE_UP:
	case TOR_CABLE_STATES:
		return NULL;
	case TOR_CABLE_NO_CARRIER:
		if (READ_ONCE(port->upper))
			return "enslaved to a bridge, bond or the like, which takes its frames";
		if (!netif_running(dev))
			return "the device is down";
		if (!netif_carrier_ok(dev))
			return "no carrier: the cable is out, or the other side is down";
		return "the MTU is too small" MTU_LEAST;
	case TOR_CABLE_WAITING:
		return "nothing heard: the other side may not be configured";
	case TOR_CABLE_VERSION:
		return "the other side has another version of the protocol";
	case TOR_CABLE_FABRIC:
		return cable->peer_tag ? "the other side belongs to another fabric" :
					"the other side has another shape of the fabric";
	case TOR_CABLE_MISWIRED:
		return "another port than expected is at the other end of the cable";
	case TOR_CABLE_TOO_SMALL:
		return "the MTU here or on the other side is smaller than frames that are in use";
	case TOR_CABLE_ONE_WAY:
		return "heard, but the other side does not hear us (yet)";
	case TOR_CABLE_FLAPPING:
		return "went up and down too often: it will be used again if it stays up";
	}
	return NULL;
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct tor_port *port = tor_port_of_dev(dev);

	if (!port)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_PRE_TYPE_CHANGE:
		/* to one without the MAC header that frames have */
		return NOTIFY_BAD;
	case NETDEV_UNREGISTER:
		tor_port_del(port->fabric, port->cable);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_CHANGEUPPER:
		port_follow(port);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

int tor_port_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

/* Unregistering replays NETDEV_UNREGISTER for every device: all ports go. */
void tor_port_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	/* afterwards all works that free them are queued */
	rcu_barrier();
}
