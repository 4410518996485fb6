// SPDX-License-Identifier: GPL-2.0
/* What ethtool shows of the network device. */
#include <linux/ethtool.h>

#include "core/version.h"
#include "net/fabric.h"
#include "packet/device.h"

static const char stat_name[TOR_P_STATS][ETH_GSTRING_LEN] = {
	[TOR_P_TX_GROUP] = "tx_group",
	[TOR_P_TX_UNKNOWN] = "tx_unknown_address",
	[TOR_P_TX_ANSWERED] = "tx_answered_here",
	[TOR_P_TX_NO_ROUTE] = "tx_no_route",
	[TOR_P_TX_NO_MEMORY] = "tx_no_memory",
	[TOR_P_TX_REFUSED] = "tx_refused_by_port",
	[TOR_P_TX_SHORT] = "tx_too_short",
	[TOR_P_RX_GROUP] = "rx_group",
	[TOR_P_RX_SOURCE] = "rx_wrong_source",
	[TOR_P_RX_NO_MEMORY] = "rx_no_memory",
};

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	const struct tor_packet_dev *packet = netdev_priv(dev);
	const struct tor_node *node = &packet->fabric->node;

	strscpy(info->driver, "torcoll", sizeof(info->driver));
	strscpy(info->version, TOR_VERSION, sizeof(info->version));
	snprintf(info->bus_info, sizeof(info->bus_info), "node %u of %u", node->self,
		 node->torus.nodes);
}

static int get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? TOR_P_STATS : -EOPNOTSUPP;
}

static void get_strings(struct net_device *dev, u32 set, u8 *data)
{
	if (set == ETH_SS_STATS)
		memcpy(data, stat_name, sizeof(stat_name));
}

static void get_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	const struct tor_packet_dev *packet = netdev_priv(dev);
	int cpu, i;

	memset(data, 0, TOR_P_STATS * sizeof(*data));
	for_each_possible_cpu(cpu) {
		const struct tor_packet_stats *s = per_cpu_ptr(packet->stats, cpu);

		for (i = 0; i < TOR_P_STATS; i++)
			data[i] += READ_ONCE(s->value[i]);
	}
}

const struct ethtool_ops tor_packet_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_stats,
	.get_ts_info = ethtool_op_get_ts_info,
};
