// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink attributes of an op, its channels, and the ranks that they wait for.
 * See fill.h.
 */
#include "netlink/fill.h"

#include <linux/ktime.h>
#include <linux/torcoll_netlink.h>

#include "netlink/put.h"
#include "op/endpoint.h"
#include "op/slot.h"

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
		if (!tor_rx_done(rx))
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

	return nl_put_u64(msg, TORCOLL_A_OP_FABRIC, group->comm.node->key) ||
	       nla_put_u32(msg, TORCOLL_A_OP_COMM, group->comm.tag) ||
	       nla_put_string(msg, TORCOLL_A_OP_NAME, group->name) ||
	       nla_put_u32(msg, TORCOLL_A_OP_SEQ, op.seq) ||
	       nla_put_u32(msg, TORCOLL_A_OP_COLLECTIVE, op.collective) ||
	       nla_put_u32(msg, TORCOLL_A_OP_TYPE, op.type) ||
	       nla_put_u32(msg, TORCOLL_A_OP_REDOP, op.redop) ||
	       nla_put_u32(msg, TORCOLL_A_OP_ALGORITHM, op.algorithm) ||
	       (slot->series->role && nla_put_u32(msg, TORCOLL_A_OP_PEER, slot->series->peer)) ||
	       nl_put_u64(msg, TORCOLL_A_OP_COUNT, op.count) ||
	       nla_put_u32(msg, TORCOLL_A_OP_STATE, state) ||
	       (state != TORCOLL_OP_STATE_RUNNING && op.status &&
		nla_put_u32(msg, TORCOLL_A_OP_ERROR, -op.status)) ||
	       nl_put_u64(msg, TORCOLL_A_OP_AGE_NS, ktime_get_ns() - op.submitted) ? -EMSGSIZE : 0;
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
