// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink attributes of fabrics, nodes and comms, of counters, rates and
 * observations. See fill.h; ports are in fill_port.c, ops in fill_op.c.
 */
#include "netlink/fill.h"

#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>

#include "core/version.h"
#include "net/port.h"
#include "netlink/put.h"
#include "op/call.h"
#include "op/endpoint.h"
#include "op/slot.h"

static int put_coord(struct sk_buff *msg, int attr, const struct tor_node *node)
{
	u32 coord[TOR_MAX_DIMS];
	u32 dim;

	for (dim = 0; dim < node->torus.axes; dim++)
		coord[dim] = tor_torus_coord(&node->torus, node->self, dim);
	return nla_put(msg, attr, node->torus.axes * sizeof(u32), coord);
}

/*
 * Return how many calls of local ranks run: of ranks that share the node their
 * own, not the ops of nodes that these become, as messages do not.
 */
static u32 running_calls(const struct tor_group *group)
{
	const struct tor_group *rank;
	u32 k, n = 0;

	rcu_read_lock();
	/* ranks stay for a grace period after DEAD; none calls any more */
	if (!test_bit(TOR_GROUP_DEAD, &group->flags))
		for (k = 0; (rank = group->kind->rank(group, k)); k++)
			n += READ_ONCE(rank->running);
	rcu_read_unlock();
	return group->kind->rank(group, 0) ? n : READ_ONCE(group->running);
}

void tor_totals(struct tor_fabric *fabric, struct tor_totals *t)
{
	const struct tor_group *group;
	u32 i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < TOR_MAX_CABLES; i++) {
		t->ports += !!rcu_access_pointer(fabric->port[i]);
		t->up += READ_ONCE(fabric->node.cable[i].state) == TOR_CABLE_UP;
	}
	t->memory = tor_fabric_memory(&fabric->node.torus) + t->ports * sizeof(struct tor_port);
	rcu_read_lock();
	t->reached = rcu_dereference(fabric->routes)->reached;
	hash_for_each_rcu(fabric->group, i, group, hash) {
		t->groups++;
		t->comms += !!READ_ONCE(group->session);
		t->ops += running_calls(group);
		t->comm_memory += tor_group_memory(group);
	}
	rcu_read_unlock();
}

/* Kinds are absent if all are rings. */
static int put_sides(struct sk_buff *msg, const struct tor_torus *t)
{
	u32 side[TOR_MAX_DIMS], kind[TOR_MAX_DIMS], dim, others = 0;
	const int bytes = t->ndim * sizeof(u32);

	for (dim = 0; dim < t->ndim; dim++) {
		side[dim] = tor_side_nodes(tor_torus_side(t, dim));
		kind[dim] = t->kind[dim];
		others |= kind[dim];
	}
	return nla_put(msg, TORCOLL_A_FABRIC_SIDES, bytes, side) ||
	       (others && nla_put(msg, TORCOLL_A_FABRIC_KINDS, bytes, kind)) ? -EMSGSIZE : 0;
}

int tor_fill_fabric(struct sk_buff *msg, struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	struct tor_totals t;

	tor_totals(fabric, &t);
	return nl_put_u64(msg, TORCOLL_A_FABRIC_KEY, node->key) ||
	       put_sides(msg, &node->torus) ||
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
	       nl_put_u64(msg, TORCOLL_A_FABRIC_MEMORY, t.memory) ||
	       nla_put_string(msg, TORCOLL_A_FABRIC_VERSION, TOR_VERSION) ||
	       nla_put_u32(msg, TORCOLL_A_FABRIC_DEAD_LINKS, tor_link_count_dead(node)) ||
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
	return nl_put_u64(msg, TORCOLL_A_NODE_FABRIC, node->key) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_INDEX, node->self) ||
	       put_coord(msg, TORCOLL_A_NODE_COORD, node) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_EPOCH, node->epoch) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_FRAME_BYTES, tor_fabric_unit(fabric)) ||
	       nl_put_u64(msg, TORCOLL_A_NODE_MEMORY, t.memory + t.comm_memory) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_COMMS, t.groups) ||
	       nla_put_u32(msg, TORCOLL_A_NODE_OPS, t.ops) ||
	       nla_put_string(msg, TORCOLL_A_NODE_VERSION, TOR_VERSION) ? -EMSGSIZE : 0;
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

	return nl_put_u64(msg, TORCOLL_A_COMM_FABRIC, comm->node->key) ||
	       nla_put_string(msg, TORCOLL_A_COMM_NAME, group->name) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_TAG, comm->tag) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_GENERATION, comm->generation) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANK, tor_comm_first(comm, comm->rank)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANKS, tor_comm_user_ranks(comm)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_STATE, comm_state(group)) ||
	       fill_comm_error(msg, comm) ||
	       nl_put_u64(msg, TORCOLL_A_COMM_OPS, atomic64_read(&group->ops)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RUNNING, running_calls(group)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_DEPTH, comm->depth) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_FRAME_BYTES, comm->unit) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_KEPT_BYTES, atomic_read(&comm->kept)) ?
		       -EMSGSIZE : 0;
}

int tor_fill_stats(struct sk_buff *msg, const struct tor_fabric *fabric)
{
	u64 value[TOR_C_COUNT];
	struct nlattr *nest;
	u32 i;

	/* the attributes are in the order of enum tor_counter, after the pad */
	static_assert(TORCOLL_A_COUNTER_MAX == TORCOLL_A_COUNTER_TX_FRAMES + TOR_C_COUNT - 1);
	tor_fabric_counters(fabric, value);
	if (nl_put_u64(msg, TORCOLL_A_STATS_FABRIC, fabric->node.key))
		return -EMSGSIZE;
	nest = nla_nest_start(msg, TORCOLL_A_STATS_COUNTERS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < TOR_C_COUNT; i++)
		if (nl_put_u64(msg, TORCOLL_A_COUNTER_TX_FRAMES + i, value[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

int tor_fill_tune(struct sk_buff *msg, const struct tor_fabric *fabric)
{
	const struct tor_rates *r = &fabric->rates;

	if (nl_put_u64(msg, TORCOLL_A_TUNE_FABRIC, fabric->node.key) ||
	    nl_put_u64(msg, TORCOLL_A_TUNE_ROUND_PS, r->e) ||
	    nl_put_u64(msg, TORCOLL_A_TUNE_HOP_PS, r->f) ||
	    nl_put_u64(msg, TORCOLL_A_TUNE_MESSAGE_PS, r->message) ||
	    nl_put_u64(msg, TORCOLL_A_TUNE_LINK_FS, r->link) ||
	    nl_put_u64(msg, TORCOLL_A_TUNE_BYTE_FS, r->byte) ||
	    nl_put_u64(msg, TORCOLL_A_TUNE_OP_PS, r->op))
		return -EMSGSIZE;
	return 0;
}

int tor_fill_observed(struct sk_buff *msg, const struct tor_fabric *fabric,
		      const struct tor_observed *o)
{
	if (nl_put_u64(msg, TORCOLL_A_OBSERVED_FABRIC, fabric->node.key) ||
	    nla_put_u32(msg, TORCOLL_A_OBSERVED_COLLECTIVE, o->collective) ||
	    nla_put_u32(msg, TORCOLL_A_OBSERVED_ALGORITHM, o->algorithm) ||
	    nla_put_u32(msg, TORCOLL_A_OBSERVED_SIZE_CLASS, o->size_class) ||
	    nl_put_u64(msg, TORCOLL_A_OBSERVED_COUNT, o->count) ||
	    nl_put_u64(msg, TORCOLL_A_OBSERVED_TOTAL_BYTES, o->bytes) ||
	    nl_put_u64(msg, TORCOLL_A_OBSERVED_TOTAL_NS, o->ns) ||
	    nl_put_u64(msg, TORCOLL_A_OBSERVED_BEST_NS, o->best))
		return -EMSGSIZE;
	return 0;
}
