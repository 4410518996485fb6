// SPDX-License-Identifier: GPL-2.0
/*
 * The net_device itself: its properties, and how they follow those of the
 * fabric. See device.h.
 */
#include "packet/device.h"

#include <linux/etherdevice.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <tor/lltx.h>
#include <tor/netdev_lock.h>

#include "core/packet/mac.h"
#include "net/fabric.h"
#include "net/port.h"

/*
 * Packets cross the fabric as the stack made them, in pages and with the
 * checksum left to the device: ends on veth never compute it, and for others
 * the queue of the port does. Packets that GRO made a list of come cut: the
 * kernel cuts such a list by writing headers in front of each member's own, and
 * members have no room for those of a fabric. SCTP's bundles are such lists,
 * too, and do not say how long their members are.
 */
#define DEVICE_FEATURES \
	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | \
	 (NETIF_F_GSO_SOFTWARE & ~(NETIF_F_GSO_FRAGLIST | NETIF_F_GSO_SCTP)) | \
	 NETIF_F_HIGHDMA)

/* What the user pays for it; the net_device itself is charged by the kernel. */
#define DEVICE_MEMORY \
	(sizeof(struct tor_packet_stats) * num_possible_cpus() + TOR_FDB_MEMORY)

/* The MTU before anything is known of the fabric's frames. */
#define DEVICE_MTU	(ETH_DATA_LEN - TOR_PACKET_OVERHEAD)

static int device_init(struct net_device *dev)
{
	struct tor_packet_dev *packet = netdev_priv(dev);
	int err;

	err = tor_user_charge(packet->fabric->user, TOR_LIMIT_TABLES, DEVICE_MEMORY);
	if (err)
		return err;
	err = -ENOMEM;
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		goto err_charge;
	packet->stats = alloc_percpu_gfp(struct tor_packet_stats, GFP_KERNEL_ACCOUNT);
	if (!packet->stats)
		goto err_tstats;
	err = gro_cells_init(&packet->cells, dev);
	if (err)
		goto err_stats;
	tor_fdb_init(&packet->fdb);
	/* the locks of the queues of ports' devices are taken inside its own */
	netdev_lockdep_set_classes(dev);
	tor_fabric_get(packet->fabric);
	return 0;

err_stats:
	free_percpu(packet->stats);
err_tstats:
	free_percpu(dev->tstats);
err_charge:
	tor_user_uncharge(packet->fabric->user, TOR_LIMIT_TABLES, DEVICE_MEMORY);
	return err;
}

/* Undo device_init(); see "Lifetime". */
static void device_uninit(struct net_device *dev)
{
	struct tor_packet_dev *packet = netdev_priv(dev);

	tor_fdb_destroy(&packet->fdb);
	gro_cells_destroy(&packet->cells);
	free_percpu(packet->stats);
	free_percpu(dev->tstats);
	/* its readers are those of the device */
	kfree(rcu_dereference_protected(packet->prefix, true));
	tor_user_uncharge(packet->fabric->user, TOR_LIMIT_TABLES, DEVICE_MEMORY);
	tor_fabric_put(packet->fabric);
}

/*
 * The kernel has compared it with the limits. The largest that is possible means
 * to follow the fabric's. It is also what a change goes back to that something on
 * top of the device refused: then it may be larger than what is possible now.
 */
static int device_change_mtu(struct net_device *dev, int mtu)
{
	struct tor_packet_dev *packet = netdev_priv(dev);

	if (!packet->following)
		packet->mtu = mtu >= dev->max_mtu ? 0 : mtu;
	WRITE_ONCE(dev->mtu, mtu);
	return 0;
}

/* All packets to this node are received anyway; without this there are no lists. */
static void device_set_rx_mode(struct net_device *dev)
{
}

static const struct net_device_ops device_ops = {
	.ndo_init = device_init,
	.ndo_uninit = device_uninit,
	.ndo_start_xmit = tor_packet_xmit,
	.ndo_select_queue = tor_packet_select_queue,
	.ndo_change_mtu = device_change_mtu,
	.ndo_set_rx_mode = device_set_rx_mode,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_stats64 = dev_get_tstats64,
	.ndo_features_check = tor_packet_features,
	.ndo_fdb_dump = tor_fdb_dump,
};

static const struct device_type device_type = {
	.name = "torcoll",
};

static int is_packet_device(struct net_device *dev, struct netdev_nested_priv *priv)
{
	return dev->netdev_ops == &device_ops;
}

bool tor_packet_carries(const struct net_device *dev)
{
	/* the walk changes nothing */
	struct net_device *top = (struct net_device *)dev;
	struct netdev_nested_priv priv = {};
	bool carries;

	rcu_read_lock();
	carries = is_packet_device(top, &priv) ||
		  netdev_walk_all_lower_dev_rcu(top, is_packet_device, &priv);
	rcu_read_unlock();
	return carries;
}

void tor_packet_setup(struct net_device *dev)
{
	struct tor_packet_dev *packet = netdev_priv(dev);

	packet->dev = dev;
	ether_setup(dev);
	SET_NETDEV_DEVTYPE(dev, &device_type);
	dev->netdev_ops = &device_ops;
	dev->ethtool_ops = &tor_packet_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	/* netpoll sends with interrupts off, within any lock: not for those taken here */
	dev->priv_flags |= IFF_UNICAST_FLT | IFF_DISABLE_NETPOLL;
	tor_lltx(dev);
	/* tor_packet_xmit() tells it if there is no route */
	netif_keep_dst(dev);
	dev->features |= DEVICE_FEATURES;
	dev->hw_features |= DEVICE_FEATURES;
	dev->vlan_features |= DEVICE_FEATURES;
	dev->needed_headroom = sizeof(struct torcoll_hdr) + ETH_HLEN;
	dev->mtu = DEVICE_MTU;
	dev->max_mtu = U16_MAX - TOR_PACKET_OVERHEAD;
}

/* The room that torcoll's header and the headers of all ports' devices need. */
static u32 headroom_needed(struct tor_fabric *fabric)
{
	u32 room = ETH_HLEN;
	u32 i;

	for (i = 0; i < TOR_MAX_CABLES; i++) {
		const struct tor_port *port = rtnl_dereference(fabric->port[i]);

		if (port)
			room = max_t(u32, room, LL_RESERVED_SPACE(port->dev));
	}
	return sizeof(struct torcoll_hdr) + room;
}

/* What was asked for remains wanted while the fabric does not carry it. */
static void follow_mtu(struct tor_packet_dev *packet)
{
	struct net_device *dev = packet->dev;
	u32 frame = tor_fabric_frame(packet->fabric);
	u32 max, mtu;

	/* without a port nothing is known */
	if (!frame)
		return;
	max = frame - TOR_PACKET_OVERHEAD;
	WRITE_ONCE(dev->max_mtu, max);
	mtu = packet->mtu ? min(packet->mtu, max) : max;
	if (mtu < IPV6_MIN_MTU && dev->mtu >= IPV6_MIN_MTU)
		netdev_warn_once(dev, "the MTU becomes %u, as that of a port in the fabric is small: IPv6 takes %u, and gives up its addresses; with larger ones everywhere, torcollctl apply sets them again\n",
			    mtu, IPV6_MIN_MTU);
	packet->following = true;
	/* whoever refuses it by a notifier loses what is longer */
	if (dev_set_mtu(dev, mtu))
		netdev_warn_once(dev, "something on top of it refuses an MTU of %u, which is that of its fabric's frames: longer packets are lost\n",
				 max);
	packet->following = false;
}

void tor_packet_follow(struct tor_fabric *fabric)
{
	struct tor_packet_dev *packet = rtnl_dereference(fabric->packet);

	if (!packet)
		return;
	WRITE_ONCE(packet->dev->needed_headroom, headroom_needed(fabric));
	follow_mtu(packet);
	if (tor_link_is_ready(&fabric->node))
		netif_carrier_on(packet->dev);
	else
		netif_carrier_off(packet->dev);
}
