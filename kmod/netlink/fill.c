// SPDX-License-Identifier: GPL-2.0
/* Netlink attributes of each kind of object. See netlink/fill.h. */
#include "netlink/fill.h"

#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>
#include <net/netlink.h>

#include "op/call.h"
#include "core/counter.h"
#include "op/endpoint.h"
#include "op/op.h"
#include "net/port.h"
#include "op/slot.h"
#include "core/version.h"

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

static u32 running_ops(const struct tor_group *group)
{
	const struct tor_series *series;
	u32 n = 0;
	u32 i;

	tor_group_each_series(group, series)
		for (i = 0; i < group->comm.depth; i++)
			n += tor_slot_runs(&series->slot[i]);
	return n;
}

/* Count the ops of local ranks that are not ops of the nodes: messages. */
static u32 running_messages(const struct tor_group *group)
{
	const struct tor_series *series;
	const struct tor_group *rank;
	u32 i, k, n = 0;

	for (k = 0; (rank = group->kind->rank(group, k)); k++)
		tor_group_each_series(rank, series)
			for (i = 0; series->role && i < rank->comm.depth; i++)
				n += tor_slot_runs(&series->slot[i]);
	return n;
}

void tor_totals(struct tor_fabric *fabric, struct tor_totals *t)
{
	const struct tor_group *group;
	u32 i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < TOR_MAX_PORTS; i++) {
		t->ports += !!rtnl_dereference(fabric->port[i]);
		t->up += READ_ONCE(fabric->node.link[i].state) == TOR_LINK_UP;
	}
	t->memory = tor_fabric_memory(&fabric->node.torus) + t->ports * sizeof(struct tor_port);
	rcu_read_lock();
	t->reached = rcu_dereference(fabric->routes)->reached;
	hash_for_each_rcu(fabric->group, i, group, hash) {
		t->groups++;
		t->comms += !!READ_ONCE(group->session);
		t->ops += running_ops(group) + running_messages(group);
		t->comm_memory += tor_group_memory(group);
	}
	rcu_read_unlock();
}

int tor_fill_fabric(struct sk_buff *msg, struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	struct tor_totals t;

	tor_totals(fabric, &t);
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
	       nla_put_u32(msg, TORCOLL_A_FABRIC_VIEW, READ_ONCE(node->view.digest)) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_RATES, READ_ONCE(node->rates)) ?
		       -EMSGSIZE : 0;
}

int tor_fill_node(struct sk_buff *msg, struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	struct tor_totals t;

	tor_totals(fabric, &t);
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

/* How the neighbour differs from this node, in what hellos say of that. */
static int fill_neighbour(struct sk_buff *msg, const struct tor_node *node,
			  const struct tor_link *link)
{
	return (link->peer_unsummed == node->checksum_payload &&
		nla_put_u32(msg, TORCOLL_A_PORT_HEARD_CHECKSUM, link->peer_unsummed ?
			    TORCOLL_CHECKSUM_HEADER : TORCOLL_CHECKSUM_FULL)) ||
	       nla_put(msg, TORCOLL_A_PORT_HEARD_SIDES, link->peer_ndim * sizeof(u32),
		       link->peer_side) ||
	       (link->peer_frame_size &&
		nla_put_u32(msg, TORCOLL_A_PORT_HEARD_MTU, link->peer_frame_size)) ||
	       (link->peer_more &&
		(nla_put_string(msg, TORCOLL_A_PORT_HEARD_NAME, link->peer_name) ||
		 nla_put_u32(msg, TORCOLL_A_PORT_HEARD_RATES, link->peer_rates) ||
		 nla_put_u32(msg, TORCOLL_A_PORT_HEARD_CABLES, link->peer_cables))) ?
		       -EMSGSIZE : 0;
}

static int fill_heard(struct sk_buff *msg, const struct tor_port *port,
		      const struct tor_link *link)
{
	u8 mac[ETH_ALEN];

	if (link->peer_wire && nla_put_u32(msg, TORCOLL_A_PORT_HEARD_WIRE, link->peer_wire))
		return -EMSGSIZE;
	if (link->peer_tag && nla_put_u32(msg, TORCOLL_A_PORT_HEARD_TAG, link->peer_tag))
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
	       nla_put_string(msg, TORCOLL_A_PORT_HEARD_VERSION, link->peer_version) ||
	       nla_put_u32(msg, TORCOLL_A_PORT_HEARD_ORDER, link->peer_big_endian ?
			   TORCOLL_BYTE_ORDER_BIG : TORCOLL_BYTE_ORDER_LITTLE) ||
	       fill_neighbour(msg, &port->fabric->node, link) ? -EMSGSIZE : 0;
}

/* What the counters of a port say of its cable. */
static int fill_counts(struct sk_buff *msg, const struct tor_port *port,
		       const struct tor_link *link, u64 lost)
{
	return put_u64(msg, TORCOLL_A_PORT_TX_FRAMES, atomic64_read(&port->tx_frames)) ||
	       put_u64(msg, TORCOLL_A_PORT_RX_FRAMES, atomic64_read(&port->rx_frames)) ||
	       put_u64(msg, TORCOLL_A_PORT_DROPS, atomic64_read(&port->drops)) ||
	       put_u64(msg, TORCOLL_A_PORT_LOST, lost) ||
	       put_u64(msg, TORCOLL_A_PORT_DAMAGED, atomic64_read(&link->damaged)) ||
	       put_u64(msg, TORCOLL_A_PORT_RESENT, atomic64_read(&port->resent)) ? -EMSGSIZE : 0;
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
	const struct tor_node *node = &fabric->node;
	struct tor_link link;
	const char *reason;
	u64 lost;

	spin_lock_bh(&fabric->lock);
	link = node->link[index];
	reason = port ? tor_port_reason(port) : NULL;
	lost = port ? port->loss.lost : 0;
	spin_unlock_bh(&fabric->lock);
	if (put_u64(msg, TORCOLL_A_PORT_FABRIC, node->key) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_DIM, tor_port_dim(index)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_DIR, tor_port_dir(index)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_STATE, link.state) ||
	    (reason && nla_put_string(msg, TORCOLL_A_PORT_REASON, reason)) ||
	    nla_put_u32(msg, TORCOLL_A_PORT_NEIGHBOUR,
			tor_torus_neighbour(&node->torus, node->self, index)) ||
	    put_u64(msg, TORCOLL_A_PORT_DOWNS, link.downs) ||
	    put_u64(msg, TORCOLL_A_PORT_SINCE_NS, ktime_get_ns() - link.since))
		return -EMSGSIZE;
	if (!port)
		return 0;
	return fill_device(msg, port) || fill_counts(msg, port, &link, lost) ||
	       fill_heard(msg, port, &link) ? -EMSGSIZE : 0;
}

static u32 comm_state(const struct tor_group *group)
{
	if (tor_comm_failed(&group->comm))
		return TORCOLL_COMM_STATE_FAILED;
	if (!test_bit(TOR_GROUP_JOINED, &group->flags))
		return TORCOLL_COMM_STATE_JOINING;
	return READ_ONCE(group->session) ? TORCOLL_COMM_STATE_UP : TORCOLL_COMM_STATE_CLOSED;
}

static int fill_mismatch(struct sk_buff *msg, const struct tor_comm *comm)
{
	char text[TOR_EXPLANATION_MAX];

	tor_call_explain(comm, text, sizeof(text));
	return nla_put_string(msg, TORCOLL_A_COMM_ERROR_TEXT, text);
}

static int fill_comm_error(struct sk_buff *msg, const struct tor_comm *comm)
{
	int error = tor_comm_failed(comm) ? comm->error : 0;

	if (!error)
		return 0;
	return nla_put_u32(msg, TORCOLL_A_COMM_ERROR, -error) ||
	       (comm->error_rank != TOR_NO_RANK &&
		nla_put_u32(msg, TORCOLL_A_COMM_ERROR_RANK, comm->error_rank)) ||
	       (comm->error_node != ~0U &&
		nla_put_u32(msg, TORCOLL_A_COMM_ERROR_NODE, comm->error_node)) ||
	       (comm->error_op &&
		nla_put_u32(msg, TORCOLL_A_COMM_ERROR_OP, comm->error_op)) ||
	       (error == -EPROTO && fill_mismatch(msg, comm)) ? -EMSGSIZE : 0;
}

int tor_fill_comm(struct sk_buff *msg, const struct tor_group *group)
{
	const struct tor_comm *comm = &group->comm;

	return put_u64(msg, TORCOLL_A_COMM_FABRIC, comm->node->key) ||
	       nla_put_string(msg, TORCOLL_A_COMM_NAME, group->name) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_TAG, comm->tag) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_GENERATION, comm->generation) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANK, tor_comm_first(comm, comm->rank)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANKS, tor_comm_users(comm)) ||
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

/* The first ranks, each once. */
struct ranks {
	u32 n;
	u32 rank[RANKS_TOLD];
};

static void ranks_add(struct ranks *ranks, u32 rank)
{
	u32 i;

	for (i = 0; i < ranks->n; i++)
		if (ranks->rank[i] == rank)
			return;
	if (ranks->n < RANKS_TOLD)
		ranks->rank[ranks->n++] = rank;
}

static int put_ranks(struct sk_buff *msg, int attr, const struct ranks *ranks)
{
	u32 i;

	for (i = 0; i < ranks->n; i++)
		if (nla_put_u32(msg, attr, ranks->rank[i]))
			return -EMSGSIZE;
	return 0;
}

static int fill_channel(struct sk_buff *msg, struct tor_lane *lane)
{
	const struct tor_comm *comm = &lane->slot->group->comm;
	struct ranks waits = {}, unacked = {};
	const struct tor_chan *chan = &lane->chan;
	enum tor_chan_state state;
	const struct tor_rx *rx;
	const struct tor_tx *tx;
	u32 round, rounds, pair = chan->op->pair;
	struct nlattr *nest;

	spin_lock_bh(&lane->lock);
	state = chan->state;
	round = chan->round;
	rounds = chan->rounds;
	if (tor_op_stays(chan->op) && state == TOR_CHAN_RUNNING)
		ranks_add(&waits, chan->op->peer);
	list_for_each_entry(rx, &chan->rx, list)
		if (rx->round == round && !tor_rx_done(rx))
			ranks_add(&waits, tor_comm_first(comm, rx->rank));
	list_for_each_entry(tx, &chan->tx, list)
		ranks_add(&unacked, tor_comm_first(comm, tx->rank));
	spin_unlock_bh(&lane->lock);

	nest = nla_nest_start(msg, TORCOLL_A_OP_CHANNEL);
	if (!nest || nla_put_u32(msg, TORCOLL_A_CHANNEL_INDEX, chan->index) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_STATE, state) ||
	    /*
	     * a message's number has another meaning: see tor_endpoint_ops.pair
	     */
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_ROUND, round - min(round, pair)) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_ROUNDS, rounds - min(rounds, pair)) ||
	    put_ranks(msg, TORCOLL_A_CHANNEL_WAITS_FOR, &waits) ||
	    put_ranks(msg, TORCOLL_A_CHANNEL_UNACKED, &unacked))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static u32 op_state(const struct tor_slot *slot)
{
	switch (tor_slot_state(slot)) {
	case TOR_SLOT_RUNNING:
		return TORCOLL_OP_STATE_RUNNING;
	case TOR_SLOT_DONE:
	case TOR_SLOT_TAKEN:
		return TORCOLL_OP_STATE_DONE;
	default:
		return TORCOLL_OP_STATE_DRAINING;
	}
}

/* The visible state of an op. */
struct shown {
	u32 seq;
	u32 collective;
	u32 type;
	u32 redop;
	u32 algorithm;
	u64 count;
	u32 channels;
	int status;
	u64 submitted;
};

static struct shown fill_look_at(const struct tor_slot *slot)
{
	const struct tor_op *op = &slot->op;

	return (struct shown){
		.seq = op->seq,
		.collective = op->call.collective,
		.type = op->call.type,
		.redop = op->call.redop,
		.algorithm = op->plan.call.algorithm,
		.count = op->plan.call.count,
		.channels = READ_ONCE(op->plan.shape.channels),
		.status = slot->status,
		.submitted = slot->submitted,
	};
}

/* Fill in everything except channels. */
static int fill_shown(struct sk_buff *msg, const struct tor_slot *slot, const struct shown *shown)
{
	const struct tor_group *group = slot->group;
	const struct shown op = *shown;
	u32 state = op_state(slot);

	return put_u64(msg, TORCOLL_A_OP_FABRIC, group->comm.node->key) ||
	       nla_put_u32(msg, TORCOLL_A_OP_COMM, group->comm.tag) ||
	       nla_put_string(msg, TORCOLL_A_OP_NAME, group->name) ||
	       nla_put_u32(msg, TORCOLL_A_OP_SEQ, op.seq) ||
	       nla_put_u32(msg, TORCOLL_A_OP_COLLECTIVE, op.collective) ||
	       nla_put_u32(msg, TORCOLL_A_OP_TYPE, op.type) ||
	       nla_put_u32(msg, TORCOLL_A_OP_REDOP, op.redop) ||
	       nla_put_u32(msg, TORCOLL_A_OP_ALGORITHM, op.algorithm) ||
	       (slot->series->role && nla_put_u32(msg, TORCOLL_A_OP_PEER, slot->series->peer)) ||
	       put_u64(msg, TORCOLL_A_OP_COUNT, op.count) ||
	       nla_put_u32(msg, TORCOLL_A_OP_STATE, state) ||
	       (state != TORCOLL_OP_STATE_RUNNING && op.status &&
		nla_put_u32(msg, TORCOLL_A_OP_ERROR, -op.status)) ||
	       put_u64(msg, TORCOLL_A_OP_AGE_NS, ktime_get_ns() - op.submitted) ? -EMSGSIZE : 0;
}

int tor_fill_op(struct sk_buff *msg, struct tor_slot *slot)
{
	struct shown op;
	u32 channels, i;

	/*
	 * the next op may be in preparation: then this is a mixture of both,
	 * and must not be trusted
	 */
	op = data_race(fill_look_at(slot));
	if (fill_shown(msg, slot, &op))
		return -EMSGSIZE;
	channels = min(op.channels, slot->series->channels);
	for (i = 0; i < channels; i++)
		if (fill_channel(msg, &slot->lane[i]))
			return -EMSGSIZE;
	return 0;
}

int tor_fill_waiting(struct sk_buff *msg, const struct tor_slot *slot)
{
	const struct tor_group *group = slot->group;
	struct ranks waits = {};
	struct nlattr *nest;
	struct shown op;
	u32 rank, i = 0;

	/* as above */
	op = data_race(fill_look_at(slot));
	while ((rank = group->kind->uncalled(group, op.seq, &i)) != TOR_NO_RANK)
		ranks_add(&waits, rank);
	if (fill_shown(msg, slot, &op))
		return -EMSGSIZE;
	nest = nla_nest_start(msg, TORCOLL_A_OP_CHANNEL);
	if (!nest || nla_put_u32(msg, TORCOLL_A_CHANNEL_INDEX, 0) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_STATE, TOR_CHAN_IDLE) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_ROUND, 0) ||
	    nla_put_u32(msg, TORCOLL_A_CHANNEL_ROUNDS, 0) ||
	    put_ranks(msg, TORCOLL_A_CHANNEL_WAITS_FOR, &waits))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

int tor_fill_stats(struct sk_buff *msg, const struct tor_fabric *fabric)
{
	u64 value[TOR_C_COUNT];
	struct nlattr *nest;
	u32 i;

	/* the attributes are in the order of enum tor_counter, after the pad */
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

int tor_fill_tune(struct sk_buff *msg, const struct tor_fabric *fabric)
{
	const struct tor_rates *r = &fabric->rates;

	if (put_u64(msg, TORCOLL_A_TUNE_FABRIC, fabric->node.key) ||
	    put_u64(msg, TORCOLL_A_TUNE_ROUND_PS, r->e) ||
	    put_u64(msg, TORCOLL_A_TUNE_HOP_PS, r->f) ||
	    put_u64(msg, TORCOLL_A_TUNE_MESSAGE_PS, r->message) ||
	    put_u64(msg, TORCOLL_A_TUNE_LINK_FS, r->link) ||
	    put_u64(msg, TORCOLL_A_TUNE_BYTE_FS, r->byte) ||
	    put_u64(msg, TORCOLL_A_TUNE_OP_PS, r->op))
		return -EMSGSIZE;
	return 0;
}

int tor_fill_observed(struct sk_buff *msg, const struct tor_fabric *fabric,
		      const struct tor_observed *o)
{
	if (put_u64(msg, TORCOLL_A_OBSERVED_FABRIC, fabric->node.key) ||
	    nla_put_u32(msg, TORCOLL_A_OBSERVED_COLLECTIVE, o->collective) ||
	    nla_put_u32(msg, TORCOLL_A_OBSERVED_ALGORITHM, o->algorithm) ||
	    nla_put_u32(msg, TORCOLL_A_OBSERVED_SIZE_CLASS, o->size_class) ||
	    put_u64(msg, TORCOLL_A_OBSERVED_COUNT, o->count) ||
	    put_u64(msg, TORCOLL_A_OBSERVED_TOTAL_BYTES, o->bytes) ||
	    put_u64(msg, TORCOLL_A_OBSERVED_TOTAL_NS, o->ns) ||
	    put_u64(msg, TORCOLL_A_OBSERVED_BEST_NS, o->best))
		return -EMSGSIZE;
	return 0;
}
