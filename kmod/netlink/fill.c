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

/* What the local ranks of a comm have: see add_ranks(). */
struct comm_sums {
	u32 running;
	u32 kept;
	u64 memory;
};

/*
 * Add up a comm's group, and those of ranks that share the node: these keep what
 * is early of their messages. Calls are those of the ranks, not the ops of nodes
 * that these become, as messages do not.
 */
static struct comm_sums add_ranks(const struct tor_group *group)
{
	struct comm_sums sums = {
		.running = group->kind->rank(group, 0) ? 0 : READ_ONCE(group->running),
		.kept = atomic_read(&group->comm.kept),
		.memory = tor_group_memory(group),
	};
	const struct tor_group *rank;
	u32 k;

	rcu_read_lock();
	/* ranks stay for a grace period after DEAD; none calls any more */
	if (!test_bit(TOR_GROUP_DEAD, &group->flags)) {
		for (k = 0; (rank = group->kind->rank(group, k)); k++) {
			sums.running += READ_ONCE(rank->running);
			sums.kept += atomic_read(&rank->comm.kept);
			sums.memory += tor_group_memory(rank);
		}
	}
	rcu_read_unlock();
	return sums;
}

/*
 * Of a comm whose making is over: return whether it was agreed on, and its process
 * has not closed it. It may not have it yet: if its call ended early, the next one
 * gets it, but the other ranks count on this one.
 */
static bool is_open(const struct tor_group *group)
{
	return !group->join.a.error && !group->shrink.a.error &&
	       !test_bit(TOR_GROUP_CLOSED, &group->flags);
}

static u32 comm_state(const struct tor_group *group)
{
	if (tor_comm_failed(&group->comm))
		return TORCOLL_COMM_STATE_FAILED;
	if (!test_bit_acquire(TOR_GROUP_JOINED, &group->flags))
		return TORCOLL_COMM_STATE_JOINING;
	return is_open(group) ? TORCOLL_COMM_STATE_UP : TORCOLL_COMM_STATE_CLOSED;
}

void tor_totals(struct tor_fabric *fabric, struct tor_totals *t)
{
	const struct tor_group *group;
	struct comm_sums sums;
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
		sums = add_ranks(group);
		t->groups++;
		t->comms += test_bit_acquire(TOR_GROUP_JOINED, &group->flags) && is_open(group);
		t->ops += sums.running;
		t->comm_memory += sums.memory;
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

/*
 * A comm that is being joined: return a rank that has not come, as far as it is
 * known here. Heirs are made otherwise: what is missing there is a rank of another
 * comm.
 */
static u32 missing_rank(const struct tor_group *group)
{
	if (group->shrink.from)
		return TOR_NO_RANK;
	return tor_comm_first(&group->comm, READ_ONCE(group->join.a.missing));
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

static int fill_comm(struct sk_buff *msg, const struct tor_group *group, u32 missing)
{
	const struct tor_comm *comm = &group->comm;
	struct comm_sums sums = add_ranks(group);
	u32 state = comm_state(group);

	return nl_put_u64(msg, TORCOLL_A_COMM_FABRIC, comm->node->key) ||
	       nla_put_string(msg, TORCOLL_A_COMM_NAME, group->name) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_TAG, comm->tag) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_GENERATION, comm->generation) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANK, tor_comm_first(comm, comm->rank)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RANKS, tor_comm_user_ranks(comm)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_STATE, state) ||
	       fill_comm_error(msg, comm) ||
	       (state == TORCOLL_COMM_STATE_JOINING && missing != TOR_NO_RANK &&
		nla_put_u32(msg, TORCOLL_A_COMM_MISSING, missing)) ||
	       nl_put_u64(msg, TORCOLL_A_COMM_OPS, atomic64_read(&group->ops)) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_RUNNING, sums.running) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_DEPTH, comm->depth) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_FRAME_BYTES, comm->unit) ||
	       nla_put_u32(msg, TORCOLL_A_COMM_KEPT_BYTES, sums.kept) ?
		       -EMSGSIZE : 0;
}

int tor_fill_comm(struct sk_buff *msg, const struct tor_group *group)
{
	return fill_comm(msg, group, missing_rank(group));
}

int tor_fill_seat(struct sk_buff *msg, const struct tor_group *seat, u32 missing)
{
	return fill_comm(msg, seat, missing);
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
