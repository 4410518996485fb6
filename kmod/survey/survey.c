// SPDX-License-Identifier: GPL-2.0
/*
 * Surveys: frames that come in, asks that are passed on, namespaces and their
 * devices. See survey.h.
 */
#include "survey/survey.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/netns/generic.h>
#include <net/rtnetlink.h>

#include "core/survey/test.h"
#include "net/net.h"
#include "net/port.h"
#include "netlink/netlink.h"
#include "packet/device.h"

static unsigned int survey_id __read_mostly;

static const u8 survey_group[ETH_ALEN] = TORCOLL_SURVEY_GROUP;

static struct tor_survey *survey_of(const struct net *net)
{
	return net_generic(net, survey_id);
}

/* --- devices --- */

/* Its kind is known by its name only. */
static bool is_ipvlan(const struct net_device *dev)
{
	const struct rtnl_link_ops *ops = READ_ONCE(dev->rtnl_link_ops);

	return ops && (!strcmp(ops->kind, "ipvlan") || !strcmp(ops->kind, "ipvtap"));
}

/* On top of another one, and what comes to a group comes to both. */
static bool is_beside(const struct net_device *dev)
{
	return netif_is_macvlan(dev) || is_ipvlan(dev);
}

/* On top of another one, with frames of its own by the same cable. */
static bool is_within(const struct net_device *dev)
{
	return is_vlan_dev(dev) || netif_is_macsec(dev);
}

/* The port beside @dev, or NULL: of several the first. Context: RCU. */
static struct net_device *port_beside(struct net_device *dev)
{
	struct net_device *upper;
	struct list_head *iter;

	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		if (is_beside(upper) && tor_port_of_dev(upper))
			return upper;
	return NULL;
}

static int take_first(struct net_device *dev, struct netdev_nested_priv *priv)
{
	priv->data = dev;
	return 1;
}

/* The device beside which @dev is, which has one only. Context: RCU. */
static struct net_device *beside_of(struct net_device *dev)
{
	struct netdev_nested_priv priv = {};

	netdev_walk_all_lower_dev_rcu(dev, take_first, &priv);
	return priv.data;
}

static int is_neighbour(struct net_device *dev, struct netdev_nested_priv *priv)
{
	return net_eq(dev_net(dev), dev_net(priv->data));
}

static int is_port_on_top(struct net_device *dev, struct netdev_nested_priv *priv)
{
	return is_neighbour(dev, priv) && (is_within(dev) || is_beside(dev)) &&
	       tor_port_of_dev(dev);
}

/*
 * A device, and those beside it, would each hear all that are at the other end:
 * one of them is the end of the cable, in whatever namespace it is.
 */
static bool has_cable(struct net_device *dev)
{
	struct net_device *lower = is_beside(dev) ? beside_of(dev) : NULL;

	if (lower)
		return tor_port_of_dev(dev) && !tor_port_of_dev(lower) && port_beside(lower) == dev;
	return tor_port_of_dev(dev) || !port_beside(dev);
}

/*
 * Of devices within each other those are ends that are ports, and the lowest one
 * of this namespace, which knows of no other one's devices.
 */
static bool is_end(const struct net_device *dev)
{
	/* the walks change nothing */
	struct net_device *at = (struct net_device *)dev;
	struct netdev_nested_priv priv = { .data = at };
	bool is;

	rcu_read_lock();
	is = has_cable(at) && (tor_port_of_dev(dev) || !is_within(dev) ||
			       !netdev_walk_all_lower_dev_rcu(at, is_neighbour, &priv));
	rcu_read_unlock();
	return is;
}

bool tor_survey_asks(struct net_device *dev)
{
	struct netdev_nested_priv priv = { .data = dev };
	bool asks;

	rcu_read_lock();
	asks = tor_port_of_dev(dev) || !netdev_walk_all_upper_dev_rcu(dev, is_port_on_top, &priv);
	rcu_read_unlock();
	return asks;
}

bool tor_survey_shows(const struct net_device *dev)
{
	return dev->type == ARPHRD_ETHER && !(dev->flags & IFF_LOOPBACK) &&
	       !netif_is_bridge_master(dev) && !netif_is_lag_master(dev) &&
	       !netif_is_bridge_port(dev) && !netif_is_lag_port(dev) &&
	       !tor_packet_carries(dev) && is_end(dev);
}

bool tor_survey_usable(struct net_device *dev)
{
	return tor_survey_shows(dev) && dev->flags & IFF_UP && netif_carrier_ok(dev) &&
	       READ_ONCE(dev->mtu) >= TOR_SURVEY_FRAME_MIN;
}

void tor_survey_each(const struct tor_survey *survey,
		     bool (*fn)(struct net_device *dev, void *arg), void *arg)
{
	const struct tor_fabric *fabric;
	struct net_device *dev;
	u32 i;

	list_for_each_entry_rcu(fabric, &tor_net(survey->net)->fabrics, list) {
		for (i = 0; i < TOR_MAX_CABLES; i++) {
			const struct tor_port *port = rcu_dereference(fabric->port[i]);

			if (port && tor_survey_shows(port->dev) && !fn(port->dev, arg))
				return;
		}
	}
	for_each_netdev_rcu(survey->net, dev)
		if (tor_survey_shows(dev) && !tor_port_of_dev(dev) && !fn(dev, arg))
			return;
}

/* --- frames that leave --- */

struct sk_buff *tor_survey_skb(struct net_device *dev, const struct tor_survey_frame *f,
			       const void *records, gfp_t gfp)
{
	u32 len = sizeof(struct torcoll_survey) + f->length;
	/* once: a bridge at the other end of a veth may change it */
	u32 headroom = LL_RESERVED_SPACE(dev);
	struct sk_buff *skb;
	u8 *p;

	skb = alloc_skb(headroom + len + READ_ONCE(dev->needed_tailroom), gfp);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_reset_network_header(skb);
	p = skb_put(skb, len);
	if (records)
		memcpy(p + sizeof(struct torcoll_survey), records, f->length);
	else
		memset(p + sizeof(struct torcoll_survey), 0, f->length);
	tor_survey_build(p, f);
	skb->dev = dev;
	skb->protocol = htons(TORCOLL_SURVEY_ETHERTYPE);
	if (dev_hard_header(skb, dev, TORCOLL_SURVEY_ETHERTYPE, survey_group, dev->dev_addr, len) < 0) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

void tor_survey_send(struct net_device *dev, const struct tor_survey_frame *f, const void *records)
{
	struct sk_buff *skb;

	if (sizeof(struct torcoll_survey) + f->length > READ_ONCE(dev->mtu))
		return;
	skb = tor_survey_skb(dev, f, records, GFP_ATOMIC);
	if (skb)
		dev_queue_xmit(skb);
}

/**
 * struct asking - an ask that leaves by all devices
 * @survey: of the namespace
 * @f: the ask
 * @flags: of it, by whatever device
 * @asked: by so many devices so far
 */
struct asking {
	struct tor_survey *survey;
	struct tor_survey_frame f;
	u8 flags;
	u32 asked;
};

static bool is_sure(const struct asking *a, const struct net_device *dev)
{
	bool sure;

	spin_lock_bh(&a->survey->lock);
	sure = tor_survey_sure(&a->survey->surveys, ktime_get_ns(), a->f.survey, dev->ifindex);
	spin_unlock_bh(&a->survey->lock);
	return sure;
}

/* Ask by a device, if that is possible. Context: RCU. */
static bool ask_device(struct net_device *dev, void *arg)
{
	struct asking *a = arg;
	struct torcoll_survey_end end = {
		.host = cpu_to_be64(a->survey->surveys.host),
		.mtu = cpu_to_be32(READ_ONCE(dev->mtu)),
	};
	u8 record[sizeof(struct torcoll_survey_record) + sizeof(end)];
	const struct tor_port *port = tor_port_of_dev(dev);

	if (a->asked == TOR_SURVEY_CABLES)
		return false;
	if (!tor_survey_usable(dev) || !tor_survey_asks(dev))
		return true;
	memcpy(end.mac, dev->dev_addr, ETH_ALEN);
	strscpy_pad(end.device, dev->name, sizeof(end.device));
	if (port)
		end.fabric = cpu_to_be32(port->fabric->node.tag);
	a->f.flags = a->flags | (is_sure(a, dev) ? TORCOLL_SURVEY_SURE : 0);
	a->f.length = tor_survey_put(record, TORCOLL_SURVEY_END, &end, sizeof(end));
	tor_survey_send(dev, &a->f, record);
	a->asked++;
	return true;
}

/*
 * Ask by all devices, the one by which an ask came in included: the other side
 * learns what is at its end. Context: RCU.
 */
static void ask_all(struct tor_survey *survey, u64 id, u32 round, u8 flags, u8 hop_limit)
{
	struct asking a = {
		.survey = survey,
		.flags = flags,
		.f = {
			.type = TORCOLL_SURVEY_ASK,
			.hop_limit = hop_limit,
			.survey = id,
			.round = round,
			.host = survey->surveys.host,
		},
	};

	tor_survey_each(survey, ask_device, &a);
}

/* A round has begun: the report follows, and a test if it is wanted. */
static void survey_schedule(struct tor_survey *survey)
{
	schedule_delayed_work(&survey->report_work, nsecs_to_jiffies(TOR_SURVEY_DELAY));
	if (tor_test_wanted(&survey->surveys, ktime_get_ns()))
		schedule_delayed_work(&survey->test_work, nsecs_to_jiffies(TOR_TEST_DELAY));
}

int tor_survey_start(struct net *net, u64 id, u32 round, bool test, u32 socket)
{
	struct tor_survey *survey = survey_of(net);
	int err;

	spin_lock_bh(&survey->lock);
	err = tor_survey_begin(&survey->surveys, ktime_get_ns(), id, round, test, socket);
	if (!err)
		survey_schedule(survey);
	spin_unlock_bh(&survey->lock);
	if (err)
		return err;
	rcu_read_lock();
	ask_all(survey, id, round, test ? TORCOLL_SURVEY_TEST : 0, TOR_SURVEY_HOP_LIMIT);
	rcu_read_unlock();
	return 0;
}

/* --- frames that come in --- */

static void rx_ask(struct tor_survey *survey, struct net_device *dev,
		   const struct tor_survey_frame *f)
{
	bool is_new;

	spin_lock(&survey->lock);
	is_new = tor_survey_heard(&survey->surveys, ktime_get_ns(), dev->ifindex, f);
	if (is_new)
		survey_schedule(survey);
	spin_unlock(&survey->lock);
	if (is_new && f->hop_limit > 1)
		ask_all(survey, f->survey, f->round, f->flags & TORCOLL_SURVEY_TEST,
			f->hop_limit - 1);
}

static void rx_report(struct tor_survey *survey, struct net_device *dev, struct tor_survey_frame *f)
{
	const struct tor_survey_known *way;
	u32 parent = 0, socket = 0;

	spin_lock(&survey->lock);
	way = tor_survey_way(&survey->surveys, ktime_get_ns(), f->survey, dev->ifindex);
	if (way) {
		parent = way->parent;
		socket = way->socket;
	}
	spin_unlock(&survey->lock);
	if (socket) {
		tor_netlink_survey_report(survey->net, socket, f->survey, f->records, f->length,
					  false, GFP_ATOMIC);
		return;
	}
	dev = parent ? dev_get_by_index_rcu(survey->net, parent) : NULL;
	if (!dev || !tor_survey_usable(dev) || --f->hop_limit == 0)
		return;
	tor_survey_send(dev, f, f->records);
}

static void rx_test(struct tor_survey *survey, struct net_device *dev,
		    const struct tor_survey_frame *f, u32 len)
{
	struct tor_survey_frame answer = *f;

	spin_lock(&survey->lock);
	tor_test_heard(&survey->surveys, ktime_get_ns(), dev->ifindex, f, len);
	spin_unlock(&survey->lock);
	if (f->type == TORCOLL_SURVEY_PING)
		answer.type = TORCOLL_SURVEY_PONG;
	else if (f->type == TORCOLL_SURVEY_MARK)
		answer.type = TORCOLL_SURVEY_MARKED;
	else
		return;
	/* one answer per frame: the rate is bounded by that of the cable */
	answer.host = survey->surveys.host;
	answer.length = 0;
	tor_survey_send(dev, &answer, NULL);
}

static enum skb_drop_reason rx_frame(struct tor_survey *survey, struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	struct tor_survey_frame f;
	int err;

	err = tor_survey_read(skb->data, skb->len, &f);
	if (err == -EBADMSG) {
		spin_lock(&survey->lock);
		tor_test_damaged(&survey->surveys, dev->ifindex);
		spin_unlock(&survey->lock);
		return SKB_DROP_REASON_SKB_CSUM;
	}
	if (err)
		return SKB_DROP_REASON_UNHANDLED_PROTO;
	if (f.type == TORCOLL_SURVEY_ASK)
		rx_ask(survey, dev, &f);
	else if (f.type == TORCOLL_SURVEY_REPORT)
		rx_report(survey, dev, &f);
	else
		rx_test(survey, dev, &f, skb->len);
	return SKB_NOT_DROPPED_YET;
}

/*
 * A frame of surveys came in by any device. Context: softirq, RCU. A bridge
 * passes frames of this group to the port that they came by, and a device on top
 * of another one may hear what comes to that, so the device is checked. Frames
 * of a VLAN for which there is no device are marked as those of another host.
 */
static int survey_rx(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		     struct net_device *orig_dev)
{
	enum skb_drop_reason why = SKB_DROP_REASON_NOT_SPECIFIED;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (skb->pkt_type != PACKET_MULTICAST ||
	    !ether_addr_equal(eth_hdr(skb)->h_dest, survey_group) || !tor_survey_usable(dev))
		goto drop;
	why = SKB_DROP_REASON_PKT_TOO_BIG;
	if (skb_is_gso(skb) || skb->len > TOR_TRIAL_FRAME_MAX)
		goto drop;
	why = SKB_DROP_REASON_NOMEM;
	if (skb_linearize(skb))
		goto drop;
	why = rx_frame(survey_of(dev_net(dev)), skb);
	if (why == SKB_NOT_DROPPED_YET) {
		consume_skb(skb);
		return NET_RX_SUCCESS;
	}
drop:
	kfree_skb_reason(skb, why);
	return NET_RX_DROP;
}

static struct packet_type survey_type = {
	.type = htons(TORCOLL_SURVEY_ETHERTYPE),
	.func = survey_rx,
};

/* --- namespaces --- */

static int survey_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct tor_survey *survey = survey_of(dev_net(dev));

	if (dev->type != ARPHRD_ETHER)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_REGISTER:
		/* without the address the device hears no survey, which is no reason to refuse it */
		if (dev_mc_add(dev, survey_group))
			netdev_warn(dev, "torcoll: surveys are not heard: no memory for their group address\n");
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		WRITE_ONCE(survey->speeds_old, true);
		break;
	case NETDEV_UNREGISTER:
		dev_mc_del(dev, survey_group);
		spin_lock_bh(&survey->lock);
		tor_survey_gone(&survey->surveys, dev->ifindex);
		spin_unlock_bh(&survey->lock);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block survey_netdev_notifier = {
	.notifier_call = survey_netdev_event,
};

/* A socket was closed; another one may get its number. */
static int survey_netlink_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct netlink_notify *notify = ptr;
	struct tor_survey *survey;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	survey = survey_of(notify->net);
	spin_lock_bh(&survey->lock);
	tor_survey_closed(&survey->surveys, notify->portid);
	spin_unlock_bh(&survey->lock);
	return NOTIFY_DONE;
}

static struct notifier_block survey_netlink_notifier = {
	.notifier_call = survey_netlink_event,
};

static int __net_init survey_net_init(struct net *net)
{
	struct tor_survey *survey = survey_of(net);
	u64 host;

	do {
		host = get_random_u64();
	} while (!host);
	survey->net = net;
	survey->speeds_old = true;
	spin_lock_init(&survey->lock);
	tor_surveys_init(&survey->surveys, host);
	INIT_DELAYED_WORK(&survey->report_work, tor_survey_report_work);
	INIT_DELAYED_WORK(&survey->test_work, tor_survey_test_work);
	return 0;
}

static void __net_exit survey_net_exit(struct net *net)
{
	struct tor_survey *survey = survey_of(net);

	cancel_delayed_work_sync(&survey->report_work);
	cancel_delayed_work_sync(&survey->test_work);
	tor_surveys_destroy(&survey->surveys);
}

static struct pernet_operations survey_net_ops = {
	.init = survey_net_init,
	.exit = survey_net_exit,
	.id = &survey_id,
	.size = sizeof(struct tor_survey),
};

int tor_survey_init(void)
{
	int err;

	err = register_pernet_subsys(&survey_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&survey_netdev_notifier);
	if (err)
		goto err_net;
	err = netlink_register_notifier(&survey_netlink_notifier);
	if (err)
		goto err_netdev;
	dev_add_pack(&survey_type);
	return 0;

err_netdev:
	unregister_netdevice_notifier(&survey_netdev_notifier);
err_net:
	unregister_pernet_subsys(&survey_net_ops);
	return err;
}

/* Unregistering replays NETDEV_UNREGISTER: the group addresses go. */
void tor_survey_exit(void)
{
	dev_remove_pack(&survey_type);
	netlink_unregister_notifier(&survey_netlink_notifier);
	unregister_netdevice_notifier(&survey_netdev_notifier);
	unregister_pernet_subsys(&survey_net_ops);
}
