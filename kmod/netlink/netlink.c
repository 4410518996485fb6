// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family, as described in uapi/torcoll.yaml: requests,
 * single answers, and notifications. Attributes are in netlink/fill*.c, dumps in
 * netlink/dump.c, requests about rates in netlink/tune.c, about limits in
 * netlink/limit.c, about the host in netlink/host.c, about surveys in
 * netlink/survey.c. Handlers run concurrently; those that configure, and all
 * that read ports, take RTNL.
 */
#include "netlink/netlink.h"

#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>
#include <net/genetlink.h>

#include "main.h"
#include "net/net.h"
#include "net/port.h"
#include "netlink/fill.h"
#include "netlink/gen.h"
#include "netlink/request.h"
#include "op/group.h"
#include "op/slot.h"

/* the first request loads an installed module */
MODULE_ALIAS_GENL_FAMILY(TORCOLL_GENL_NAME);

/* --- requests --- */

/*
 * Read an attribute that is an array of up to TOR_MAX_DIMS numbers. Return
 * their number, 0 if it is none.
 */
static u32 get_numbers(const struct nlattr *attr, u32 *number)
{
	u32 len = attr ? nla_len(attr) : 0;

	if (len % sizeof(u32) || len > TOR_MAX_DIMS * sizeof(u32))
		return 0;
	nla_memcpy(number, attr, len);
	return len / sizeof(u32);
}

/* Add kinds, if they are given, to the sides. */
static int get_kinds(struct genl_info *info, struct tor_fabric_config *cfg)
{
	const struct nlattr *kinds = info->attrs[TORCOLL_A_FABRIC_KINDS];
	u32 kind[TOR_MAX_DIMS], dim;

	for (dim = 0; dim < cfg->ndim; dim++)
		if (cfg->side[dim] > TORCOLL_SIDE_NODES)
			return nl_refuse(info, -EINVAL, "a side has at most 262143 nodes",
					 info->attrs[TORCOLL_A_FABRIC_SIDES]);
	if (!kinds)
		return 0;
	if (get_numbers(kinds, kind) != cfg->ndim)
		return nl_refuse(info, -EINVAL, "the number of kinds is not that of the sides", kinds);
	for (dim = 0; dim < cfg->ndim; dim++) {
		if (kind[dim] >= TORCOLL_KIND_COUNT)
			return nl_refuse(info, -EINVAL,
					 "a kind is 0 for a ring, 1 for a line, 2 for a mesh, 3 for a chord",
					 kinds);
		cfg->side[dim] = TORCOLL_SIDE(cfg->side[dim], kind[dim]);
	}
	return 0;
}

/* Read the node's index, given as such, by coordinates, or both. */
static int get_self(struct genl_info *info, struct tor_fabric_config *cfg)
{
	const struct nlattr *coord = info->attrs[TORCOLL_A_FABRIC_COORD];
	const struct nlattr *node = info->attrs[TORCOLL_A_FABRIC_NODE];
	u32 c[TOR_MAX_DIMS], axes = cfg->ndim;
	u64 index = 0;
	u32 dim, side;

	if (!node && !coord)
		return nl_refuse(info, -EINVAL,
				 "the node is missing: give its index or coordinates", NULL);
	if (node)
		cfg->self = nla_get_u32(node);
	if (!coord)
		return 0;
	while (axes > 1 && tor_side_kind(cfg->side[axes - 1]) == TORCOLL_KIND_CHORD)
		axes--;
	if (get_numbers(coord, c) != axes)
		return nl_refuse(info, -EINVAL,
				 "the number of coordinates is not that of the sides", coord);
	for (dim = axes; dim-- > 0;) {
		side = tor_side_nodes(cfg->side[dim]);
		if (c[dim] >= side)
			return nl_refuse(info, -EINVAL, "a coordinate exceeds its side",
					 coord);
		index = index * side + c[dim];
		if (index >= TOR_MAX_NODES)
			return nl_refuse(info, -EINVAL, "the fabric has too many nodes",
					 info->attrs[TORCOLL_A_FABRIC_SIDES]);
	}
	if (node && index != cfg->self)
		return nl_refuse(info, -EINVAL, "index and coordinates disagree", coord);
	cfg->self = index;
	return 0;
}

int torcoll_nl_fabric_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *sides = info->attrs[TORCOLL_A_FABRIC_SIDES];
	struct tor_fabric_config cfg = {};
	const char *why = NULL;
	u32 attr = 0;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_FABRIC_KEY) ||
	    GENL_REQ_ATTR_CHECK(info, TORCOLL_A_FABRIC_SIDES))
		return nl_refuse(info, -EINVAL, "a fabric needs a key and sides", NULL);
	cfg.key = nla_get_u64(info->attrs[TORCOLL_A_FABRIC_KEY]);
	cfg.ndim = get_numbers(sides, cfg.side);
	if (!cfg.ndim)
		return nl_refuse(info, -EINVAL, "sides are 1 to 6 numbers of 32 bits", sides);
	err = get_kinds(info, &cfg);
	if (!err)
		err = get_self(info, &cfg);
	if (err)
		return err;
	cfg.cables = info->attrs[TORCOLL_A_FABRIC_CABLES] ?
		     get_u32(info, TORCOLL_A_FABRIC_CABLES) : 1;
	if (info->attrs[TORCOLL_A_FABRIC_ETHERTYPE]) {
		cfg.ethertype = get_u32(info, TORCOLL_A_FABRIC_ETHERTYPE);
		if (!cfg.ethertype)
			return nl_refuse(info, -EINVAL,
					 "an ethertype lies between 0x0600 and 0xffff",
					 info->attrs[TORCOLL_A_FABRIC_ETHERTYPE]);
	}
	cfg.hello_ms = get_u32(info, TORCOLL_A_FABRIC_HELLO_MS);
	cfg.frame_size = get_u32(info, TORCOLL_A_FABRIC_FRAME_SIZE);
	cfg.checksum_header_only = get_u32(info, TORCOLL_A_FABRIC_CHECKSUM) ==
				   TORCOLL_CHECKSUM_HEADER;
	err = tor_fabric_add(tor_net(genl_info_net(info)), &cfg, &why, &attr);
	return err ? nl_refuse(info, err, why, attr ? info->attrs[attr] : NULL) : 0;
}

static const char being_deleted[] = "the fabric is being deleted";

static int del_fabric(struct sk_buff *skb, struct genl_info *info)
{
	const char *why = "a process has a comm on this fabric: \"force\" ends it";
	struct tor_fabric *fabric;
	LIST_HEAD(kill);
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_FABRIC_KEY, &err);
	if (fabric && tor_fabric_is_dead(fabric))
		why = being_deleted;
	if (fabric)
		err = tor_fabric_del(fabric, false, &kill);
	unregister_netdevice_many(&kill);
	rtnl_unlock();
	if (err == -EBUSY)
		return nl_refuse(info, err, why, info->attrs[TORCOLL_A_FABRIC_KEY]);
	return err;
}

/* Make everything on the fabric fail before RTNL is taken, since that waits. */
static int force_fabric(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	LIST_HEAD(kill);
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_FABRIC_KEY, &err);
	if (fabric)
		tor_fabric_get(fabric);
	rtnl_unlock();
	if (!fabric)
		return err;
	err = tor_fabric_fail(fabric);
	if (err) {
		err = nl_refuse(info, err, being_deleted,
				info->attrs[TORCOLL_A_FABRIC_KEY]);
	} else {
		rtnl_lock();
		err = tor_fabric_del(fabric, true, &kill);
		unregister_netdevice_many(&kill);
		rtnl_unlock();
	}
	tor_fabric_put(fabric);
	return err;
}

int torcoll_nl_fabric_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return info->attrs[TORCOLL_A_FABRIC_FORCE] ? force_fabric(skb, info) : del_fabric(skb, info);
}

/*
 * Find link and fabric of a request that names a place. Context: RTNL.
 */
static struct tor_fabric *find_place(struct sk_buff *skb, struct genl_info *info, u32 *link,
				     int *err)
{
	struct tor_fabric *fabric;
	u32 dim;

	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_PORT_DIM) ||
	    GENL_REQ_ATTR_CHECK(info, TORCOLL_A_PORT_DIR)) {
		*err = nl_refuse(info, -EINVAL, "a port is named by dimension and direction", NULL);
		return NULL;
	}
	fabric = find_fabric(skb, info, TORCOLL_A_PORT_FABRIC, err);
	if (!fabric)
		return NULL;
	dim = get_u32(info, TORCOLL_A_PORT_DIM);
	*link = tor_port_find(&fabric->node.torus, dim, get_u32(info, TORCOLL_A_PORT_DIR));
	if (*link < fabric->node.torus.ports)
		return fabric;
	if (dim < fabric->node.torus.ndim)
		*err = nl_refuse(info, -EINVAL, "the dimension has no such direction",
				 info->attrs[TORCOLL_A_PORT_DIR]);
	else
		*err = nl_refuse(info, -EINVAL, "the fabric has no such dimension",
				 info->attrs[TORCOLL_A_PORT_DIM]);
	return NULL;
}

/* Find the port of a link that a request names. Context: RTNL. */
static struct tor_port *find_port_of_link(struct tor_fabric *fabric, struct genl_info *info,
					  u32 link, int *err)
{
	const struct nlattr *cable = info->attrs[TORCOLL_A_PORT_CABLE];
	struct tor_port *port, *found = NULL;
	u32 k;

	for (k = 0; link < TOR_MAX_PORTS && k < TOR_LINK_CABLES; k++) {
		port = rtnl_dereference(fabric->port[tor_cable(link, k)]);
		if (!port || (cable && k != nla_get_u32(cable)))
			continue;
		if (found) {
			*err = nl_refuse(info, -EINVAL, "there are several ports there: name the device",
					 info->attrs[TORCOLL_A_PORT_DIM]);
			return NULL;
		}
		found = port;
	}
	if (!found)
		*err = nl_refuse(info, -ENOENT, "there is no port there",
				 cable ? cable : info->attrs[TORCOLL_A_PORT_DIM]);
	return found;
}

/* Find the port of a request, named by place or by device. Context: RTNL. */
static struct tor_port *find_port(struct sk_buff *skb, struct genl_info *info, int *err)
{
	const struct nlattr *ifindex = info->attrs[TORCOLL_A_PORT_IFINDEX];
	struct tor_fabric *fabric;
	struct tor_port *port;
	u32 i;

	if (!ifindex) {
		fabric = find_place(skb, info, &i, err);
		return fabric ? find_port_of_link(fabric, info, i, err) : NULL;
	}
	fabric = find_fabric(skb, info, TORCOLL_A_PORT_FABRIC, err);
	for (i = 0; fabric && i < TOR_MAX_CABLES; i++) {
		port = rtnl_dereference(fabric->port[i]);
		if (port && port->dev->ifindex == nla_get_u32(ifindex))
			return port;
	}
	if (fabric)
		*err = nl_refuse(info, -ENOENT, "the device is not a port of the fabric", ifindex);
	return NULL;
}

int torcoll_nl_port_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *ifindex = info->attrs[TORCOLL_A_PORT_IFINDEX];
	const struct nlattr *cable = info->attrs[TORCOLL_A_PORT_CABLE];
	struct tor_fabric *fabric;
	struct net_device *dev;
	const char *why = NULL;
	u32 link, attr = 0;
	int err = 0;

	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_PORT_IFINDEX))
		return nl_refuse(info, -EINVAL, "a port needs a device", NULL);
	rtnl_lock();
	fabric = find_place(skb, info, &link, &err);
	if (!fabric)
		goto out;
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(ifindex));
	if (!dev) {
		err = nl_refuse(info, -ENODEV, "no such device in this namespace", ifindex);
		goto out;
	}
	err = tor_port_add(fabric, link, cable ? nla_get_u32(cable) : TOR_ANY_CABLE, dev, &why,
			   &attr);
	if (err)
		err = nl_refuse(info, err, why, attr ? info->attrs[attr] : NULL);
out:
	rtnl_unlock();
	return err;
}

int torcoll_nl_port_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_port *port;
	int err = 0;

	rtnl_lock();
	port = find_port(skb, info, &err);
	if (port)
		tor_port_del(port->fabric, port->cable);
	rtnl_unlock();
	return err;
}

/* --- single answers --- */

int torcoll_nl_fabric_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_FABRIC_KEY, &err);
	if (fabric)
		err = reply(info, TORCOLL_CMD_FABRIC_GET, tor_fill_fabric(msg, fabric));
	rtnl_unlock();
	return err;
}

int torcoll_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_port *port;
	int err = 0;

	rtnl_lock();
	port = find_port(skb, info, &err);
	if (port)
		err = reply(info, TORCOLL_CMD_PORT_GET, tor_fill_port(msg, port->fabric, port->cable));
	rtnl_unlock();
	return err;
}

int torcoll_nl_node_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_NODE_FABRIC, &err);
	if (fabric)
		err = reply(info, TORCOLL_CMD_NODE_GET, tor_fill_node(msg, fabric));
	rtnl_unlock();
	return err;
}

int torcoll_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_STATS_FABRIC, &err);
	if (fabric)
		err = reply(info, TORCOLL_CMD_STATS_GET, tor_fill_stats(msg, fabric));
	rtnl_unlock();
	return err;
}

int torcoll_nl_comm_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	struct tor_group *group;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_COMM_FABRIC, &err);
	if (fabric) {
		rcu_read_lock();
		group = tor_group_find(fabric, get_u32(info, TORCOLL_A_COMM_TAG));
		if (group)
			refcount_inc(&group->refs);
		rcu_read_unlock();
		if (group) {
			err = reply(info, TORCOLL_CMD_COMM_GET, tor_fill_comm(msg, group));
			tor_group_put(group);
		} else {
			err = nl_refuse(info, -ENOENT, "no comm has that tag",
					info->attrs[TORCOLL_A_COMM_TAG]);
		}
	}
	rtnl_unlock();
	return err;
}

/* Return the slot of an op that is still known. */
static struct tor_slot *find_op(struct tor_group *group, u32 seq)
{
	struct tor_slot *slot = tor_series_slot(&group->calls, seq);

	return tor_slot_in_use(slot) && slot->op.seq == seq ? slot : NULL;
}

int torcoll_nl_op_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	struct tor_group *group;
	struct tor_slot *slot;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_OP_FABRIC, &err);
	if (!fabric)
		goto out;
	rcu_read_lock();
	group = tor_group_find(fabric, get_u32(info, TORCOLL_A_OP_COMM));
	if (group)
		refcount_inc(&group->refs);
	rcu_read_unlock();
	if (!group) {
		err = nl_refuse(info, -ENOENT, "no comm has that tag",
				info->attrs[TORCOLL_A_OP_COMM]);
		goto out;
	}
	slot = find_op(group, get_u32(info, TORCOLL_A_OP_SEQ));
	if (slot)
		err = reply(info, TORCOLL_CMD_OP_GET, tor_fill_op(msg, slot));
	else
		err = nl_refuse(info, -ENOENT, "the op has ended, or never began",
				info->attrs[TORCOLL_A_OP_SEQ]);
	tor_group_put(group);
out:
	rtnl_unlock();
	return err;
}

/* --- notifications --- */

/*
 * Send a message with the family's header that @fill fills in to all listeners.
 */
#define notify(_net, _cmd, _fill)							\
do {											\
	struct net *__net = (_net);							\
	struct sk_buff *msg;								\
	void *__hdr;									\
											\
	if (!genl_has_listeners(&tor_netlink_family, __net, TORCOLL_NLGRP_EVENTS))			\
		break;									\
	msg = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);					\
	__hdr = msg ? genlmsg_put(msg, 0, 0, &tor_netlink_family, 0, _cmd) : NULL;			\
	if (!__hdr || (_fill)) {							\
		nlmsg_free(msg);							\
		break;									\
	}										\
	genlmsg_end(msg, __hdr);							\
	genlmsg_multicast_netns(&tor_netlink_family, __net, msg, 0, TORCOLL_NLGRP_EVENTS, GFP_KERNEL); \
} while (0)

void tor_netlink_notify_fabric(struct tor_fabric *fabric, bool added)
{
	notify(fabric->tn->net, added ? TORCOLL_CMD_FABRIC_NTF : TORCOLL_CMD_FABRIC_DEL_NTF,
	       tor_fill_fabric(msg, fabric));
}

void tor_netlink_notify_port(struct tor_fabric *fabric, u32 cable)
{
	bool there = rtnl_dereference(fabric->port[cable]);

	notify(fabric->tn->net, there ? TORCOLL_CMD_PORT_NTF : TORCOLL_CMD_PORT_DEL_NTF,
	       tor_fill_port(msg, fabric, cable));
}

void tor_netlink_notify_comm(struct tor_group *group, bool gone)
{
	notify(group->fabric->tn->net, gone ? TORCOLL_CMD_COMM_DEL_NTF : TORCOLL_CMD_COMM_NTF,
	       tor_fill_comm(msg, group));
}

static const struct genl_multicast_group groups[] = {
	[TORCOLL_NLGRP_EVENTS] = { .name = TORCOLL_MCGRP_EVENTS },
};

struct genl_family tor_netlink_family __ro_after_init = {
	.name = TORCOLL_GENL_NAME,
	.version = TORCOLL_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = torcoll_nl_ops,
	.n_ops = ARRAY_SIZE(torcoll_nl_ops),
	.parallel_ops = true,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int __init tor_netlink_init(void)
{
	return genl_register_family(&tor_netlink_family);
}

void tor_netlink_exit(void)
{
	genl_unregister_family(&tor_netlink_family);
}
