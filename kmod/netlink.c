// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family, as uapi/torcoll.yaml describes it. Handlers run under the family's
 * mutex; those that configure, and all that read ports, take RTNL besides.
 */
#include "netlink.h"

#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include <tor/dump_attrs.h>

#include "counter.h"
#include "group.h"
#include "main.h"
#include "netlink_gen.h"
#include "op.h"
#include "port.h"
#include "version.h"

static struct genl_family family;

/* the first question loads an installed module */
MODULE_ALIAS_GENL_FAMILY(TORCOLL_GENL_NAME);

/* --- requests --- */

/* A sentence that is known only at run time; it must be static. */
static int refuse(struct genl_info *info, int err, const char *why, const struct nlattr *attr)
{
	if (why)
		info->extack->_msg = why;
	if (attr)
		NL_SET_BAD_ATTR(info->extack, attr);
	return err;
}

/* The fabric that attribute @attr names. Context: RTNL. */
static struct tor_fabric *find_fabric(struct sk_buff *skb, struct genl_info *info, u32 attr,
				      int *err)
{
	struct tor_fabric *fabric;

	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		*err = refuse(info, -EINVAL, "the fabric's key is missing", NULL);
		return NULL;
	}
	fabric = tor_fabric_find(tor_net(genl_info_net(info)), nla_get_u64(info->attrs[attr]));
	if (!fabric)
		*err = refuse(info, -ENOENT, "this namespace has no fabric of that key",
			      info->attrs[attr]);
	return fabric;
}

static u32 get_u32(struct genl_info *info, u32 attr)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : 0;
}

/* An attribute that is an array of up to TOR_MAX_DIMS numbers. Return: how many, 0 if it is none. */
static u32 get_numbers(const struct nlattr *attr, u32 *number)
{
	u32 len = attr ? nla_len(attr) : 0;

	if (len % sizeof(u32) || len > TOR_MAX_DIMS * sizeof(u32))
		return 0;
	nla_memcpy(number, attr, len);
	return len / sizeof(u32);
}

/* The node's index, given as such, by coordinates, or both ways. */
static int get_self(struct genl_info *info, struct tor_fabric_config *cfg)
{
	const struct nlattr *coord = info->attrs[TORCOLL_A_FABRIC_COORD];
	const struct nlattr *node = info->attrs[TORCOLL_A_FABRIC_NODE];
	u32 c[TOR_MAX_DIMS];
	u64 index = 0;
	u32 dim;

	if (!node && !coord)
		return refuse(info, -EINVAL, "which node is this? Give its index or coordinates",
			      NULL);
	if (node)
		cfg->self = nla_get_u32(node);
	if (!coord)
		return 0;
	if (get_numbers(coord, c) != cfg->ndim)
		return refuse(info, -EINVAL, "not as many coordinates as sides", coord);
	for (dim = cfg->ndim; dim-- > 0;) {
		if (c[dim] >= cfg->side[dim])
			return refuse(info, -EINVAL, "a coordinate lies outside its side", coord);
		index = index * cfg->side[dim] + c[dim];
		if (index >= TOR_MAX_NODES)
			return refuse(info, -EINVAL, "the fabric has too many nodes",
				      info->attrs[TORCOLL_A_FABRIC_SIDES]);
	}
	if (node && index != cfg->self)
		return refuse(info, -EINVAL, "index and coordinates disagree", coord);
	cfg->self = index;
	return 0;
}

int torcoll_nl_fabric_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *sides = info->attrs[TORCOLL_A_FABRIC_SIDES];
	const struct nlattr *bad = NULL;
	struct tor_fabric_config cfg = {};
	struct tor_fabric *fabric;
	const char *why = NULL;
	u32 attr = 0;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_FABRIC_KEY) ||
	    GENL_REQ_ATTR_CHECK(info, TORCOLL_A_FABRIC_SIDES))
		return refuse(info, -EINVAL, "a fabric needs a key and sides", NULL);
	cfg.key = nla_get_u64(info->attrs[TORCOLL_A_FABRIC_KEY]);
	cfg.ndim = get_numbers(sides, cfg.side);
	if (!cfg.ndim)
		return refuse(info, -EINVAL, "sides are 1 to 6 numbers of 32 bits", sides);
	err = get_self(info, &cfg);
	if (err)
		return err;
	cfg.cables = info->attrs[TORCOLL_A_FABRIC_CABLES] ?
		     get_u32(info, TORCOLL_A_FABRIC_CABLES) : 1;
	if (info->attrs[TORCOLL_A_FABRIC_ETHERTYPE]) {
		cfg.ethertype = get_u32(info, TORCOLL_A_FABRIC_ETHERTYPE);
		if (!cfg.ethertype)
			return refuse(info, -EINVAL, "an ethertype lies between 0x0600 and 0xffff",
				      info->attrs[TORCOLL_A_FABRIC_ETHERTYPE]);
	}
	cfg.hello_ms = get_u32(info, TORCOLL_A_FABRIC_HELLO_MS);
	cfg.frame_size = get_u32(info, TORCOLL_A_FABRIC_FRAME_SIZE);
	cfg.checksum_header_only = get_u32(info, TORCOLL_A_FABRIC_CHECKSUM) ==
				   TORCOLL_CHECKSUM_HEADER;
	rtnl_lock();
	fabric = tor_fabric_add(tor_net(genl_info_net(info)), &cfg, &why, &attr);
	if (IS_ERR(fabric)) {
		bad = attr ? info->attrs[attr] : NULL;
		err = refuse(info, PTR_ERR(fabric), why, bad);
	}
	rtnl_unlock();
	return err;
}

int torcoll_nl_fabric_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_FABRIC_KEY, &err);
	if (fabric)
		err = tor_fabric_del(fabric);
	rtnl_unlock();
	if (err == -EBUSY)
		return refuse(info, err, "a process has a comm on this fabric",
			      info->attrs[TORCOLL_A_FABRIC_KEY]);
	return err;
}

/* Port number and fabric of a request that names a place. Context: RTNL. */
static struct tor_fabric *find_place(struct sk_buff *skb, struct genl_info *info, u32 *index,
				     int *err)
{
	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_PORT_DIM) ||
	    GENL_REQ_ATTR_CHECK(info, TORCOLL_A_PORT_DIR)) {
		*err = refuse(info, -EINVAL, "a port is named by dimension and direction", NULL);
		return NULL;
	}
	*index = tor_port(get_u32(info, TORCOLL_A_PORT_DIM), get_u32(info, TORCOLL_A_PORT_DIR) ?
			  TOR_MINUS : TOR_PLUS);
	return find_fabric(skb, info, TORCOLL_A_PORT_FABRIC, err);
}

/* A port of a request, named by place or by device. Context: RTNL. */
static struct tor_port *find_port(struct sk_buff *skb, struct genl_info *info, int *err)
{
	const struct nlattr *ifindex = info->attrs[TORCOLL_A_PORT_IFINDEX];
	struct tor_port *port = NULL;
	struct tor_fabric *fabric;
	u32 i;

	if (!ifindex) {
		fabric = find_place(skb, info, &i, err);
		if (fabric)
			port = rtnl_dereference(fabric->port[i]);
		if (fabric && !port)
			*err = refuse(info, -ENOENT, "there is no port there",
				      info->attrs[TORCOLL_A_PORT_DIM]);
		return port;
	}
	fabric = find_fabric(skb, info, TORCOLL_A_PORT_FABRIC, err);
	for (i = 0; fabric && i < TOR_MAX_PORTS; i++) {
		port = rtnl_dereference(fabric->port[i]);
		if (port && port->dev->ifindex == nla_get_u32(ifindex))
			return port;
	}
	if (fabric)
		*err = refuse(info, -ENOENT, "that device is no port of the fabric", ifindex);
	return NULL;
}

int torcoll_nl_port_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *ifindex = info->attrs[TORCOLL_A_PORT_IFINDEX];
	struct tor_fabric *fabric;
	struct net_device *dev;
	const char *why = NULL;
	u32 index, attr = 0;
	int err = 0;

	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_PORT_IFINDEX))
		return refuse(info, -EINVAL, "a port needs a device", NULL);
	rtnl_lock();
	fabric = find_place(skb, info, &index, &err);
	if (!fabric)
		goto out;
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(ifindex));
	if (!dev) {
		err = refuse(info, -ENODEV, "no such device in this namespace", ifindex);
		goto out;
	}
	err = tor_port_add(fabric, index, dev, &why, &attr);
	if (err)
		err = refuse(info, err, why, attr ? info->attrs[attr] : NULL);
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
		tor_port_del(port->fabric, port->index);
	rtnl_unlock();
	return err;
}

/* --- what is told; all of these return 0 or -EMSGSIZE --- */

static int put_u64(struct sk_buff *msg, int attr, u64 value)
{
	/* the pad attribute is number 1 in every set */
	return nla_put_u64_64bit(msg, attr, value, TORCOLL_A_FABRIC_PAD);
}

static int put_coord(struct sk_buff *msg, int attr, const struct tor_node *node)
{
	u32 coord[TOR_MAX_DIMS];
	u32 dim;

	for (dim = 0; dim < node->torus.ndim; dim++)
		coord[dim] = tor_torus_coord(&node->torus, node->self, dim);
	return nla_put(msg, attr, node->torus.ndim * sizeof(u32), coord);
}

/* What a fabric's ports and comms add up to. Context: RTNL. */
struct totals {
	u32 ports, up, comms, groups, ops, reached;
	u64 memory;		/* without comms */
	u64 comm_memory;
};

static u32 running_ops(const struct tor_group *group)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < group->comm.depth; i++)
		n += test_bit(TOR_SLOT_BUSY, &group->slot[i].flags);
	return n;
}

static void add_up(struct tor_fabric *fabric, struct totals *t)
{
	const struct tor_group *group;
	u32 i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < TOR_MAX_PORTS; i++) {
		t->ports += !!rtnl_dereference(fabric->port[i]);
		t->up += READ_ONCE(fabric->node.link[i].state) == TOR_LINK_UP;
	}
	t->memory = sizeof(*fabric) + t->ports * sizeof(struct tor_port) +
		    sizeof(struct tor_counters) * num_possible_cpus() +
		    tor_routes_bytes(&fabric->node.torus) +
		    fabric->node.torus.nodes * sizeof(struct tor_view_entry);
	rcu_read_lock();
	t->reached = rcu_dereference(fabric->routes)->reached;
	hash_for_each_rcu(fabric->group, i, group, hash) {
		t->groups++;
		t->comms += !!READ_ONCE(group->session);
		t->ops += running_ops(group);
		t->comm_memory += tor_group_memory(group);
	}
	rcu_read_unlock();
}

static int fill_fabric(struct sk_buff *msg, struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	struct totals t;

	add_up(fabric, &t);
	return put_u64(msg, TORCOLL_A_FABRIC_KEY, node->key) ||
	       nla_put(msg, TORCOLL_A_FABRIC_SIDES, node->torus.ndim * sizeof(u32),
		       node->torus.side) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_CABLES, node->torus.cables) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_NODE, node->self) ||
	       put_coord(msg, TORCOLL_A_FABRIC_COORD, node) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_ETHERTYPE, fabric->ethertype) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_HELLO_MS, node->hello_ns / NSEC_PER_MSEC) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_CHECKSUM, node->checksum_payload ?
			   TORCOLL_CHECKSUM_FULL : TORCOLL_CHECKSUM_HEADER) ||
	       (fabric->frame_size &&
		nla_put_u32(msg, TORCOLL_A_FABRIC_FRAME_SIZE, fabric->frame_size)) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_TAG, node->tag) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_NODES, node->torus.nodes) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_EPOCH, node->epoch) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_PORTS, t.ports) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_PORTS_UP, t.up) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_COMMS, t.comms) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_FRAME_BYTES, tor_fabric_unit(fabric)) ||
	       put_u64(msg, TORCOLL_A_FABRIC_MEMORY, t.memory) ||
	       nla_put_string(msg, TORCOLL_A_FABRIC_VERSION, TOR_VERSION) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_DEAD_LINKS, READ_ONCE(node->view.dead)) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_REACHED, t.reached) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_VIEW, READ_ONCE(node->view.digest)) ?
		       -EMSGSIZE : 0;
}

static int fill_node(struct sk_buff *msg, struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	struct totals t;

	add_up(fabric, &t);
	return put_u64(msg, TORCOLL_A_NODE_FABRIC, node->key) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_INDEX, node->self) ||
	       put_coord(msg, TORCOLL_A_NODE_COORD, node) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_EPOCH, node->epoch) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_FRAME_BYTES, tor_fabric_unit(fabric)) ||
	       put_u64(msg, TORCOLL_A_NODE_MEMORY, t.memory + t.comm_memory) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_COMMS, t.groups) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_OPS, t.ops) ||
	       nla_put_string(msg, TORCOLL_A_NODE_VERSION, TOR_VERSION) ? -EMSGSIZE : 0;
}

static int fill_heard(struct sk_buff *msg, const struct tor_port *port,
		      const struct tor_link *link)
{
	u8 mac[ETH_ALEN];

	if (link->peer_wire && nla_put_u32(msg, TORCOLL_A_PORT_HEARD_WIRE, link->peer_wire))
		return -EMSGSIZE;
	if (!link->heard || link->peer_node == ~0U)
		return 0;
	u64_to_ether_addr(READ_ONCE(port->heard), mac);
	return nla_put_u32(msg, TORCOLL_A_PORT_HEARD_NODE, link->peer_node) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_DIM, tor_port_dim(link->peer_port)) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_DIR, tor_port_dir(link->peer_port)) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_EPOCH, link->peer_epoch) ||
	       put_u64(msg, TORCOLL_A_PORT_HEARD_AGO_NS, ktime_get_ns() - link->heard) ||
	       nla_put(msg, TORCOLL_A_PORT_HEARD_MAC, ETH_ALEN, mac) ||
	       nla_put_string(msg, TORCOLL_A_PORT_HEARD_VERSION, link->peer_version) ?
		       -EMSGSIZE : 0;
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
	       nla_put_u32(msg, TORCOLL_A_PORT_FRAME_BYTES, tor_wire_unit(dev->mtu)) ||
	       put_u64(msg, TORCOLL_A_PORT_TX_FRAMES, atomic64_read(&port->tx_frames)) ||
	       put_u64(msg, TORCOLL_A_PORT_RX_FRAMES, atomic64_read(&port->rx_frames)) ||
	       put_u64(msg, TORCOLL_A_PORT_DROPS, atomic64_read(&port->drops)) ? -EMSGSIZE : 0;
}

/* A port, or the place where one was. */
static int fill_port(struct sk_buff *msg, struct tor_fabric *fabric, u32 index)
{
	const struct tor_port *port = rtnl_dereference(fabric->port[index]);
	const struct tor_node *node = &fabric->node;
	struct tor_link link;
	const char *reason;

	spin_lock_bh(&fabric->lock);
	link = node->link[index];
	reason = port ? tor_port_reason(port) : NULL;
	spin_unlock_bh(&fabric->lock);
	if (put_u64(msg, TORCOLL_A_PORT_FABRIC, node->key) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_DIM, tor_port_dim(index)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_DIR, tor_port_dir(index)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_STATE, link.state) ||
	    (reason && nla_put_string(msg, TORCOLL_A_PORT_REASON, reason)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_NEIGHBOUR,
			tor_torus_neighbour(&node->torus, node->self, index)))
		return -EMSGSIZE;
	if (!port)
		return 0;
	return fill_device(msg, port) || fill_heard(msg, port, &link) ? -EMSGSIZE : 0;
}

static u32 comm_state(const struct tor_group *group)
{
	if (atomic_read(&group->comm.failed))
		return TORCOLL_COMM_STATE_FAILED;
	if (!test_bit(TOR_GROUP_JOINED, &group->flags))
		return TORCOLL_COMM_STATE_JOINING;
	return READ_ONCE(group->session) ? TORCOLL_COMM_STATE_UP : TORCOLL_COMM_STATE_CLOSED;
}

static int fill_comm_error(struct sk_buff *msg, const struct tor_comm *comm)
{
	int error = READ_ONCE(comm->error);

	if (!error)
		return 0;
	return nla_put_u32(msg, TORCOLL_A_COMM_ERROR, -error) ||
	       (comm->error_rank != TOR_NO_RANK &&
		nla_put_u32(msg, TORCOLL_A_COMM_ERROR_RANK, comm->error_rank)) ||
	       (comm->error_node != ~0U &&
		nla_put_u32(msg, TORCOLL_A_COMM_ERROR_NODE, comm->error_node)) ||
	       (comm->error_op &&
		nla_put_u32(msg, TORCOLL_A_COMM_ERROR_OP, comm->error_op)) ? -EMSGSIZE : 0;
}

static int fill_comm(struct sk_buff *msg, const struct tor_group *group)
{
	const struct tor_comm *comm = &group->comm;

	return put_u64(msg, TORCOLL_A_COMM_FABRIC, comm->node->key) ||
	       nla_put_string(msg, TORCOLL_A_COMM_NAME, group->name) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_TAG, comm->tag) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_GENERATION, comm->generation) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANK, comm->rank) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANKS, comm->ranks) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_STATE, comm_state(group)) ||
	       fill_comm_error(msg, comm) ||
	       put_u64(msg, TORCOLL_A_COMM_OPS, atomic64_read(&group->ops)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RUNNING, running_ops(group)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_DEPTH, comm->depth) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_FRAME_BYTES, comm->unit) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_KEPT_BYTES, atomic_read(&comm->kept)) ?
		       -EMSGSIZE : 0;
}

#define RANKS_TOLD	16

static int put_ranks(struct sk_buff *msg, int attr, const u32 *rank, u32 n)
{
	while (n--)
		if (nla_put_u32(msg, attr, *rank++))
			return -EMSGSIZE;
	return 0;
}

static int fill_channel(struct sk_buff *msg, struct tor_lane *lane)
{
	u32 waits[RANKS_TOLD], unacked[RANKS_TOLD], nwaits = 0, nunacked = 0;
	const struct tor_chan *chan = &lane->chan;
	enum tor_chan_state state;
	const struct tor_rx *rx;
	const struct tor_tx *tx;
	struct nlattr *nest;
	u32 round, rounds;

	spin_lock_bh(&lane->lock);
	state = chan->state;
	round = chan->round;
	rounds = chan->rounds;
	list_for_each_entry(rx, &chan->rx, list)
		if (rx->round == round && !tor_rx_done(rx) && nwaits < RANKS_TOLD)
			waits[nwaits++] = rx->rank;
	list_for_each_entry(tx, &chan->tx, list)
		if (nunacked < RANKS_TOLD)
			unacked[nunacked++] = tx->rank;
	spin_unlock_bh(&lane->lock);

	nest = nla_nest_start(msg, TORCOLL_A_OP_CHANNEL);
	if (!nest || nla_put_u32(msg, TORCOLL_A_CHANNEL_INDEX, chan->index) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_STATE, state) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_ROUND, round) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_ROUNDS, rounds) ||
	    put_ranks(msg, TORCOLL_A_CHANNEL_WAITS_FOR, waits, nwaits) ||
	    put_ranks(msg, TORCOLL_A_CHANNEL_UNACKED, unacked, nunacked))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static u32 op_state(const struct tor_slot *slot)
{
	if (test_bit(TOR_SLOT_BUSY, &slot->flags))
		return TORCOLL_OP_STATE_RUNNING;
	return test_bit(TOR_SLOT_UNREAPED, &slot->flags) ? TORCOLL_OP_STATE_DONE :
							   TORCOLL_OP_STATE_DRAINING;
}

static int fill_op(struct sk_buff *msg, const struct tor_group *group, struct tor_slot *slot)
{
	const struct tor_op *op = &slot->op;
	const struct tor_plan_req *req = &op->plan.req;
	u32 state = op_state(slot);
	u32 channels, i;

	if (put_u64(msg, TORCOLL_A_OP_FABRIC, group->comm.node->key) ||
	    nla_put_u32(msg, TORCOLL_A_OP_COMM, group->comm.tag) ||
	    nla_put_string(msg, TORCOLL_A_OP_NAME, group->name) ||
	    nla_put_u32(msg, TORCOLL_A_OP_SEQ, op->seq) ||
	    nla_put_u32(msg, TORCOLL_A_OP_COLLECTIVE, req->collective) ||
	    nla_put_u32(msg, TORCOLL_A_OP_TYPE, op->type) ||
	    nla_put_u32(msg, TORCOLL_A_OP_REDOP, op->redop) ||
	    nla_put_u32(msg, TORCOLL_A_OP_ALGORITHM, req->algorithm) ||
	    put_u64(msg, TORCOLL_A_OP_COUNT, req->count) ||
	    nla_put_u32(msg, TORCOLL_A_OP_STATE, state) ||
	    (state != TORCOLL_OP_STATE_RUNNING && slot->status &&
	     nla_put_u32(msg, TORCOLL_A_OP_ERROR, -slot->status)) ||
	    put_u64(msg, TORCOLL_A_OP_AGE_NS, ktime_get_ns() - slot->submitted))
		return -EMSGSIZE;
	/* the slot's next op may be being prepared: its plan is not to be trusted */
	channels = min(READ_ONCE(op->plan.shape.channels), group->comm.channels);
	for (i = 0; i < channels; i++)
		if (fill_channel(msg, &slot->lane[i]))
			return -EMSGSIZE;
	return 0;
}

static int fill_stats(struct sk_buff *msg, const struct tor_fabric *fabric)
{
	u64 value[TOR_C_COUNT];
	struct nlattr *nest;
	u32 i;

	/* the attributes stand in the order of enum tor_counter, behind the pad */
	static_assert(TORCOLL_A_COUNTER_MAX == TORCOLL_A_COUNTER_TX_FRAMES + TOR_C_COUNT - 1);
	tor_fabric_counters(fabric, value);
	if (put_u64(msg, TORCOLL_A_STATS_FABRIC, fabric->node.key))
		return -EMSGSIZE;
	nest = nla_nest_start(msg, TORCOLL_A_STATS_COUNTERS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < TOR_C_COUNT; i++)
		if (put_u64(msg, TORCOLL_A_COUNTER_TX_FRAMES + i, value[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* --- replies to one question --- */

/* A message with the family's header; what @fill puts is sent, or its error returned. */
#define reply(_info, _cmd, _fill)							\
({											\
	struct sk_buff *__msg = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);			\
	void *__hdr = __msg ? genlmsg_put_reply(__msg, _info, &family, 0, _cmd) : NULL;	\
	struct sk_buff *msg = __msg;							\
	int __err = __hdr ? (_fill) : -ENOMEM;						\
											\
	if (__err) {									\
		nlmsg_free(__msg);							\
	} else {									\
		genlmsg_end(__msg, __hdr);						\
		__err = genlmsg_reply(__msg, _info);					\
	}										\
	__err;										\
})

int torcoll_nl_fabric_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_FABRIC_KEY, &err);
	if (fabric)
		err = reply(info, TORCOLL_CMD_FABRIC_GET, fill_fabric(msg, fabric));
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
		err = reply(info, TORCOLL_CMD_PORT_GET, fill_port(msg, port->fabric, port->index));
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
		err = reply(info, TORCOLL_CMD_NODE_GET, fill_node(msg, fabric));
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
		err = reply(info, TORCOLL_CMD_STATS_GET, fill_stats(msg, fabric));
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
			err = reply(info, TORCOLL_CMD_COMM_GET, fill_comm(msg, group));
			tor_group_put(group);
		} else {
			err = refuse(info, -ENOENT, "no comm has that tag",
				     info->attrs[TORCOLL_A_COMM_TAG]);
		}
	}
	rtnl_unlock();
	return err;
}

/* The slot of an op that is not forgotten. */
static struct tor_slot *find_op(struct tor_group *group, u32 seq)
{
	struct tor_slot *slot = tor_group_slot(group, seq);

	return READ_ONCE(slot->flags) && slot->op.seq == seq ? slot : NULL;
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
		err = refuse(info, -ENOENT, "no comm has that tag", info->attrs[TORCOLL_A_OP_COMM]);
		goto out;
	}
	slot = find_op(group, get_u32(info, TORCOLL_A_OP_SEQ));
	if (slot)
		err = reply(info, TORCOLL_CMD_OP_GET, fill_op(msg, group, slot));
	else
		err = refuse(info, -ENOENT, "no such op is known any more",
			     info->attrs[TORCOLL_A_OP_SEQ]);
	tor_group_put(group);
out:
	rtnl_unlock();
	return err;
}

/* --- dumps --- */

/*
 * A dump walks everything there is in one fixed order and counts; cb->args[0] is how many have been told. What
 * comes or goes meanwhile changes the namespace's sequence, and the reader is told so.
 */
struct walk {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	u8 cmd;
	long at;
};

/* Is this one to be told now? Then begins its message. */
static void *walk_begin(struct walk *w)
{
	void *hdr;

	if (w->at++ < w->cb->args[0])
		return NULL;
	hdr = genlmsg_put(w->skb, NETLINK_CB(w->cb->skb).portid, w->cb->nlh->nlmsg_seq, &family,
			  NLM_F_MULTI, w->cmd);
	if (!hdr)
		return ERR_PTR(-EMSGSIZE);
	genl_dump_check_consistent(w->cb, hdr);
	return hdr;
}

static int walk_end(struct walk *w, void *hdr, int err)
{
	if (err) {
		genlmsg_cancel(w->skb, hdr);
		return err;
	}
	genlmsg_end(w->skb, hdr);
	w->cb->args[0] = w->at;
	return 0;
}

static int walk_ports(struct walk *w, struct tor_fabric *fabric)
{
	u32 i;

	for (i = 0; i < TOR_MAX_PORTS; i++) {
		void *hdr;
		int err;

		if (!rtnl_dereference(fabric->port[i]))
			continue;
		hdr = walk_begin(w);
		if (!hdr)
			continue;
		err = IS_ERR(hdr) ? PTR_ERR(hdr) : walk_end(w, hdr, fill_port(w->skb, fabric, i));
		if (err)
			return err;
	}
	return 0;
}

static int walk_ops(struct walk *w, struct tor_group *group)
{
	u32 i;

	for (i = 0; i < group->comm.depth; i++) {
		struct tor_slot *slot = &group->slot[i];
		void *hdr;
		int err;

		if (!READ_ONCE(slot->flags))
			continue;
		hdr = walk_begin(w);
		if (!hdr)
			continue;
		err = IS_ERR(hdr) ? PTR_ERR(hdr) : walk_end(w, hdr, fill_op(w->skb, group, slot));
		if (err)
			return err;
	}
	return 0;
}

/* Comms, or the ops of comms. */
static int walk_groups(struct walk *w, struct tor_fabric *fabric)
{
	struct tor_group *group;
	int err = 0;
	u32 bucket;

	rcu_read_lock();
	hash_for_each_rcu(fabric->group, bucket, group, hash) {
		void *hdr;

		if (w->cmd == TORCOLL_CMD_OP_GET) {
			err = walk_ops(w, group);
		} else {
			hdr = walk_begin(w);
			if (IS_ERR(hdr))
				err = PTR_ERR(hdr);
			else if (hdr)
				err = walk_end(w, hdr, fill_comm(w->skb, group));
		}
		if (err)
			break;
	}
	rcu_read_unlock();
	return err;
}

static int walk_fabric(struct walk *w, struct tor_fabric *fabric)
{
	void *hdr;

	switch (w->cmd) {
	case TORCOLL_CMD_PORT_GET:
		return walk_ports(w, fabric);
	case TORCOLL_CMD_COMM_GET:
	case TORCOLL_CMD_OP_GET:
		return walk_groups(w, fabric);
	}
	hdr = walk_begin(w);
	if (!hdr)
		return 0;
	if (IS_ERR(hdr))
		return PTR_ERR(hdr);
	if (w->cmd == TORCOLL_CMD_STATS_GET)
		return walk_end(w, hdr, fill_stats(w->skb, fabric));
	if (w->cmd == TORCOLL_CMD_NODE_GET)
		return walk_end(w, hdr, fill_node(w->skb, fabric));
	return walk_end(w, hdr, fill_fabric(w->skb, fabric));
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, u32 key_attr)
{
	struct nlattr **attrs = tor_dump_attrs(cb);
	struct nlattr *key = attrs ? attrs[key_attr] : NULL;
	struct walk w = { .skb = skb, .cb = cb, .cmd = cmd };
	struct tor_net *tn = tor_net(sock_net(cb->skb->sk));
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	cb->seq = tn->sequence;
	list_for_each_entry(fabric, &tn->fabrics, list) {
		if (key && nla_get_u64(key) != fabric->node.key)
			continue;
		err = walk_fabric(&w, fabric);
		if (err)
			break;
	}
	rtnl_unlock();
	/* a message that does not fit behind others goes into the next; one that fits nowhere is an error */
	return skb->len ? skb->len : err;
}

int torcoll_nl_fabric_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_FABRIC_GET, TORCOLL_A_FABRIC_KEY);
}

int torcoll_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_PORT_GET, TORCOLL_A_PORT_FABRIC);
}

int torcoll_nl_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_NODE_GET, TORCOLL_A_NODE_FABRIC);
}

int torcoll_nl_comm_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_COMM_GET, TORCOLL_A_COMM_FABRIC);
}

int torcoll_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_OP_GET, TORCOLL_A_OP_FABRIC);
}

int torcoll_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_STATS_GET, TORCOLL_A_STATS_FABRIC);
}

/* --- notifications --- */

/* A message with the family's header; what @fill puts is sent to those who listen. */
#define notify(_net, _cmd, _fill)							\
do {											\
	struct net *__net = (_net);							\
	struct sk_buff *msg;								\
	void *__hdr;									\
											\
	if (!genl_has_listeners(&family, __net, TORCOLL_NLGRP_EVENTS))			\
		break;									\
	msg = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);					\
	__hdr = msg ? genlmsg_put(msg, 0, 0, &family, 0, _cmd) : NULL;			\
	if (!__hdr || (_fill)) {							\
		nlmsg_free(msg);							\
		break;									\
	}										\
	genlmsg_end(msg, __hdr);							\
	genlmsg_multicast_netns(&family, __net, msg, 0, TORCOLL_NLGRP_EVENTS, GFP_KERNEL); \
} while (0)

void tor_netlink_notify_fabric(struct tor_fabric *fabric, bool added)
{
	notify(fabric->tn->net, added ? TORCOLL_CMD_FABRIC_NTF : TORCOLL_CMD_FABRIC_DEL_NTF,
	       fill_fabric(msg, fabric));
}

void tor_netlink_notify_port(struct tor_fabric *fabric, u32 port)
{
	bool there = rtnl_dereference(fabric->port[port]);

	notify(fabric->tn->net, there ? TORCOLL_CMD_PORT_NTF : TORCOLL_CMD_PORT_DEL_NTF,
	       fill_port(msg, fabric, port));
}

void tor_netlink_notify_comm(struct tor_group *group, bool gone)
{
	notify(group->fabric->tn->net, gone ? TORCOLL_CMD_COMM_DEL_NTF : TORCOLL_CMD_COMM_NTF,
	       fill_comm(msg, group));
}

static const struct genl_multicast_group groups[] = {
	[TORCOLL_NLGRP_EVENTS] = { .name = TORCOLL_MCGRP_EVENTS },
};

static struct genl_family family __ro_after_init = {
	.name = TORCOLL_GENL_NAME,
	.version = TORCOLL_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = torcoll_nl_ops,
	.n_ops = ARRAY_SIZE(torcoll_nl_ops),
	.resv_start_op = __TORCOLL_CMD_MAX,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int __init tor_netlink_init(void)
{
	return genl_register_family(&family);
}

void tor_netlink_exit(void)
{
	genl_unregister_family(&family);
}
