/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Ranks on a ring that send each other messages beside a collective: their series of ops as the kernel has them, frames that are
 * lost or arrive at once, time in steps. And the same among ranks of which two share a node: see seats.h.
 */
#ifndef _PAIR_RANKS_H
#define _PAIR_RANKS_H

#include "core/engine/pair.h"
#include "host_env.h"
#include "made_paths.h"

#define RANKS		4
#define DEPTH		2
#define CHANNELS	2
#define UNIT		256
#define STEP		(5 * NSEC_PER_MSEC)
#define BYTES		(300 << 10)	/* more than is brought over to oneself at a time, twice */
#define MESSAGES	6		/* of each pair */

struct lane {
	struct tor_chan chan;
	u64 when;
};

struct slot {
	struct tor_op op;
	struct lane lane[CHANNELS];
	struct tor_mem data, temp;
	u32 visited;		/* channels of the turn that begins or ends */
	bool busy, done, retired;
};

/* As in kmod/op/series.h: collectives, or messages to or from a rank, once they were called. */
struct series {
	bool made;
	u32 channels;
	u32 next;
	struct slot slot[DEPTH];
};

static struct rank {
	struct tor_node node;
	struct tor_comm comm;
	struct series calls, to[RANKS], from[RANKS];
	u32 epoch[RANKS];
	struct made_paths path;
	u64 pays;
	bool refused[RANKS];
	bool failed, told;
} rank[RANKS];

/* Ranks 1 and 3 share node 1: what nodes have of the comm is in @node. */
#define NODES		3

static const u32 member[RANKS] = { 0, 1, 2, 1 };
static struct tor_team_map map;
static struct rank node[NODES];
static bool shared;

static struct tor_ctx ctx;
static u32 delivered, lost, frames;
static u64 loss;			/* of 1000 frames */
static u64 luck, deadline;

/* --- surroundings --- */

void tor_env_chan_timer(struct tor_chan *chan, u64 when)
{
	container_of(chan, struct lane, chan)->when = when;
}

void tor_env_comm_timer(struct tor_comm *comm, u64 when)
{
	container_of(comm, struct rank, comm)->pays = when;
}

void tor_env_op_done(struct tor_ctx *c, struct tor_op *op)
{
	container_of(op, struct slot, op)->done = true;
}

void tor_env_op_retired(struct tor_ctx *c, struct tor_op *op)
{
	container_of(op, struct slot, op)->retired = true;
}

void tor_env_comm_failed(struct tor_ctx *c, struct tor_comm *comm)
{
	container_of(comm, struct rank, comm)->failed = true;
}

/* By what node @i has, that is where frames leave and arrive. */
static struct rank *at_node(u32 i)
{
	return shared ? &node[i] : &rank[i];
}

static struct series *series_of(struct rank *r, u8 role, u32 peer)
{
	if (!role)
		return &r->calls;
	return role == TOR_ROLE_SEND ? &r->to[peer] : &r->from[peer];
}

const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 own, u8 role, u32 peer, u32 seq)
{
	struct rank *r = shared ? &rank[own] : container_of(comm, struct rank, comm);
	struct series *s = series_of(r, role, peer);

	return s->made ? &s->slot[seq % DEPTH].op : NULL;
}

/* --- ranks --- */

typedef void (*lane_fn)(struct rank *r, struct slot *slot, struct lane *lane);

static void each_lane(struct rank *r, lane_fn fn)
{
	u32 k, s, c;

	for (k = 0; k < 1 + 2 * RANKS; k++) {
		struct series *series = !k ? &r->calls : k % 2 ? &r->to[k / 2] : &r->from[k / 2 - 1];

		for (s = 0; series->made && s < DEPTH; s++)
			for (c = 0; c < series->channels; c++)
				fn(r, &series->slot[s], &series->slot[s].lane[c]);
	}
}

static void abort_lane(struct rank *r, struct slot *slot, struct lane *lane)
{
	tor_chan_abort(&ctx, &lane->chan);
}

static void recycle_lane(struct rank *r, struct slot *slot, struct lane *lane)
{
	if (!slot->retired)
		return;
	if (!lane->chan.index)
		slot->visited = tor_turn_end(&slot->op);
	if (slot->visited & 1U << lane->chan.index)
		tor_chan_recycle(&ctx, &lane->chan);
	if (lane->chan.index + 1 == tor_op_channels(&slot->op)) {
		slot->retired = false;
		slot->busy = false;
	}
}

/* Node @i has failed: so do its ranks, and others hear of it. */
static void leave_node(u32 i)
{
	struct rank *n = at_node(i);
	u32 k;

	if (!n->failed || n->told)
		return;
	n->told = true;
	for (k = 0; shared && k < RANKS; k++)
		if (member[k] == i)
			tor_comm_inherit(&ctx, &rank[k].comm, &n->comm, n->comm.error,
					 n->comm.error_rank);
	for (k = 0; k < n->comm.ranks; k++)
		tor_comm_send_abort(&ctx, &n->comm, k);
}

/* What has to be done without a channel's lock. */
static void leave_all(void)
{
	u32 i;

	ctx = (struct tor_ctx){ .now = ctx.now };
	for (i = 0; shared && i < RANKS; i++)
		if (rank[i].failed)
			tor_comm_fail_nodes(&ctx, rank[i].comm.nodes, &rank[i].comm);
	for (i = 0; i < (shared ? NODES : RANKS); i++)
		leave_node(i);
	for (i = 0; i < RANKS; i++)
		each_lane(&rank[i], rank[i].failed ? abort_lane : recycle_lane);
}

static u16 pair_of(u32 own, u8 role, u32 peer)
{
	u32 here = tor_team_seat(&map, own), there = tor_team_seat(&map, peer);

	return role == TOR_ROLE_SEND ? tor_team_pair(here, there) : tor_team_pair(there, here);
}

static void begin_series(struct rank *r, u8 role, u32 peer)
{
	struct series *series = series_of(r, role, peer);
	u32 s, c;

	series->made = true;
	series->channels = role ? 1 : CHANNELS;
	series->next = 1;
	for (s = 0; s < DEPTH; s++) {
		struct slot *slot = &series->slot[s];

		slot->op.comm = &r->comm;
		slot->op.role = role;
		slot->op.peer = peer;
		slot->op.pair = shared ? pair_of(r->comm.rank, role, peer) : 0;
		slot->data.data = calloc(1, BYTES);
		slot->temp.data = calloc(8, BYTES);
		slot->data.len = BYTES;
		slot->temp.len = 8 * BYTES;
		for (c = 0; c < series->channels; c++)
			tor_chan_init(&slot->lane[c].chan, &slot->op, c, s ? s : DEPTH);
	}
	if (role != TOR_ROLE_RECV || !r->refused[peer])
		return;
	r->refused[peer] = false;
	for (s = 0; s < DEPTH; s++)
		tor_pair_invite(&ctx, &series->slot[s].lane[0].chan);
}

static struct tor_chan *chan_of(struct rank *r, u32 from, u32 op, const struct tor_where *where)
{
	struct series *s = series_of(r, where->role ? tor_role_opposite(where->role) : 0, from);

	return s->made ? &s->slot[op % DEPTH].lane[where->channel].chan : NULL;
}

/* Who it is about: a rank of node @to, and *@from, one of the node that it came from. */
static struct rank *whose(u32 to, u32 *from, const struct tor_where *where)
{
	u32 seat;

	if (!shared)
		return &rank[to];
	assert_int_not_equal(where->role, TOR_ROLE_NONE);
	assert_true(tor_team_find_pair(&map, to, *from, where->pair, where->role == TOR_ROLE_RECV,
				       &seat, from));
	return &rank[tor_team_rank_in(&map, to, seat)];
}

static void take_ack(u32 to, u32 from, const struct tor_ack *ack)
{
	struct rank *r = whose(to, &from, &ack->where);
	struct tor_chan *chan = chan_of(r, from, ack->op, &ack->where);

	if (chan)
		tor_chan_ack(&ctx, chan, from, ack);
	else
		tor_pair_absent(&ctx, &r->comm, from, ack);
}

static void take_data(const struct tor_hdr *h, const struct tor_bytes *payload)
{
	struct rank *n = at_node(h->dst), *r;
	struct tor_chan *chan;
	u32 from = h->src;

	if (tor_comm_failed(&n->comm)) {
		tor_comm_send_abort(&ctx, &n->comm, from);
		return;
	}
	r = whose(h->dst, &from, &h->where);
	chan = chan_of(r, from, h->op, &h->where);
	if (chan) {
		tor_chan_data(&ctx, chan, from, h, payload, 1);
	} else {
		r->refused[from] = true;
		tor_pair_refuse(&ctx, &r->comm, from, h);
	}
}

static void deliver(const struct host_frame *f)
{
	enum tor_counter why;
	struct tor_bytes payload;
	struct tor_ack ack;
	struct tor_hdr h;
	u32 i;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	/* what stays on a node takes no cable */
	assert_int_not_equal(h.src, h.dst);
	frames++;
	if (host_rand(&luck) % 1000 < loss) {
		lost++;
		return;
	}
	ctx.answered = false;
	for (i = 0; i < h.acks; i++) {
		assert_true(tor_wire_ack(f->bytes, i, &ack, &why));
		take_ack(h.dst, h.src, &ack);
	}
	payload.p = f->bytes + tor_wire_header_bytes(&h);
	payload.len = h.length;
	if (h.type == TORCOLL_FRAME_DATA)
		take_data(&h, &payload);
	else if (h.type == TORCOLL_FRAME_ABORT)
		tor_comm_abort_rx(&ctx, &at_node(h.dst)->comm, h.src, payload.p, payload.len);
	leave_all();
}

static void settle(void)
{
	while (delivered < host.nsent) {
		struct host_frame f = host.sent[delivered++];

		deliver(&f);
	}
	host_forget_sent();
	delivered = 0;
}

static void run_timer(struct rank *r, struct slot *slot, struct lane *lane)
{
	if (!lane->when || lane->when > ctx.now)
		return;
	lane->when = 0;
	tor_chan_timer(&ctx, &lane->chan);
}

static void run_pay(struct rank *r)
{
	if (!r->pays || r->pays > ctx.now)
		return;
	r->pays = 0;
	tor_comm_pay(&ctx, &r->comm);
}

static void pass(u64 ns)
{
	u64 end = ctx.now + ns;
	u32 i;

	for (; ctx.now < end; ctx.now += STEP) {
		for (i = 0; i < RANKS; i++) {
			each_lane(&rank[i], run_timer);
			run_pay(&rank[i]);
		}
		for (i = 0; i < NODES; i++)
			run_pay(&node[i]);
		leave_all();
		settle();
	}
}

/* --- calls --- */

static u8 byte(u32 from, u32 to, u32 seq, u32 i)
{
	return from * 3 + to * 7 + seq * 11 + i * 13 + (i >> 8);
}

static void start(struct rank *r, struct slot *slot, u32 seq, const struct tor_call *called)
{
	const char *why = "";
	u32 c;

	assert_int_equal(tor_op_begin(&slot->op, seq, called, &why), 0);
	assert_true(called->count * slot->op.elem <= BYTES);
	slot->op.data = &slot->data;
	slot->op.temp = &slot->temp;
	slot->op.deadline = deadline;
	slot->busy = true;
	slot->done = false;
	slot->visited = tor_turn_begin(&slot->op);
	for (c = 0; c < tor_op_channels(&slot->op); c++)
		if (slot->visited & 1U << c)
			tor_chan_start(&ctx, &slot->lane[c].chan);
}

static void meet(struct rank *r, struct slot *slot, u32 seq)
{
	struct series *other = series_of(&rank[slot->op.peer], tor_role_opposite(slot->op.role),
					 r->comm.rank);
	u32 pieces = 1;

	while (other->made &&
	       tor_chan_meet(&ctx, &slot->lane[0].chan, &other->slot[seq % DEPTH].lane[0].chan))
		pieces++;
	assert_in_range(pieces, 1, DIV_ROUND_UP(BYTES, TOR_BUDGET.bytes));
	tor_chan_hold(&ctx, &slot->lane[0].chan);
}

static struct slot *call(u32 i, u8 role, u32 peer, u64 count, u32 type)
{
	struct rank *r = &rank[i];
	struct series *series = series_of(r, role, peer);
	struct tor_call called = {
		.torus = &r->comm.node->torus,
		.members = r->comm.member,
		.ranks = RANKS,
		.collective = role == TOR_ROLE_SEND ? TORCOLL_SEND :
			      role ? TORCOLL_RECV : TORCOLL_ALLREDUCE,
		.algorithm = role ? TORCOLL_ALGO_AUTO : TORCOLL_RING,
		.type = type,
		.redop = role ? TORCOLL_REDOP_NONE : TORCOLL_SUM,
		.root = role == TOR_ROLE_RECV ? peer : role ? i : 0,
		.peer = role == TOR_ROLE_SEND ? peer : i,
		.count = count,
	};
	struct slot *slot;
	u32 seq, k;

	if (!series->made)
		begin_series(r, role, peer);
	seq = series->next++;
	slot = &series->slot[seq % DEPTH];
	assert_false(slot->busy);
	memset(slot->data.data, 0, BYTES);
	for (k = 0; role == TOR_ROLE_SEND && k < count * tor_type_size(type); k++)
		slot->data.data[k] = byte(i, peer, seq, k);
	start(r, slot, seq, &called);
	if (tor_op_stays(&slot->op))
		meet(r, slot, seq);
	leave_all();
	settle();
	return slot;
}

static void assert_received(const struct slot *slot, u32 from, u32 to, u32 seq, u32 bytes)
{
	u32 k;

	assert_true(slot->done);
	for (k = 0; k < bytes; k++)
		assert_int_equal(slot->data.data[k], byte(from, to, seq, k));
	assert_int_equal(slot->data.data[bytes], 0);
}

/* --- fixture --- */

static void begin_comm(struct rank *r, u32 ranks, u32 i)
{
	r->comm.tag = 9;
	r->comm.ranks = ranks;
	r->comm.rank = i;
	r->comm.unit = UNIT;
	r->comm.depth = DEPTH;
	r->comm.channels = CHANNELS;
	r->comm.epoch = r->epoch;
	r->comm.path = made_paths(&r->path);
	r->comm.error_rank = TOR_NO_RANK;
}

static void begin_node(struct rank *r, const struct tor_torus *t, u32 i)
{
	tor_node_init(&r->node, t, 1, i);
	r->node.checksum_payload = true;
	r->comm.node = &r->node;
}

static void begin_shared(const struct tor_torus *t)
{
	static u32 words[TOR_TEAM_MAP_WORDS(RANKS)];
	u32 on[RANKS], i;

	memcpy(on, member, sizeof(on));
	tor_team_map_make(&map, on, RANKS, words);
	for (i = 0; i < NODES; i++) {
		begin_node(&node[i], t, i);
		begin_comm(&node[i], NODES, i);
		node[i].comm.team = &map;
		node[i].comm.speaker = tor_team_rank_in(&map, i, 0);
	}
	for (i = 0; i < RANKS; i++) {
		begin_comm(&rank[i], RANKS, i);
		rank[i].comm.nodes = &node[member[i]].comm;
		rank[i].comm.node = &node[member[i]].node;
		rank[i].comm.member = member;
		rank[i].comm.channels = 0;
		rank[i].comm.epoch = NULL;
		rank[i].comm.path = NULL;
	}
}

static int setup(void **state)
{
	static const u32 side[] = { RANKS };
	struct tor_torus t;
	u32 i;

	host_reset();
	memset(rank, 0, sizeof(rank));
	memset(node, 0, sizeof(node));
	delivered = 0;
	frames = 0;
	loss = 0;
	lost = 0;
	luck = 1;
	deadline = 0;
	ctx.now = NSEC_PER_SEC;
	tor_torus_init(&t, 1, side, 1);
	if (shared)
		begin_shared(&t);
	for (i = 0; !shared && i < RANKS; i++) {
		begin_node(&rank[i], &t, i);
		begin_comm(&rank[i], RANKS, i);
		begin_series(&rank[i], 0, TOR_NO_RANK);
	}
	return 0;
}

static void end_lane(struct rank *r, struct slot *slot, struct lane *lane)
{
	tor_chan_destroy(&lane->chan);
	if (lane->chan.index)
		return;
	free(slot->data.data);
	free(slot->temp.data);
}

static int teardown(void **state)
{
	u32 i;

	for (i = 0; i < RANKS; i++)
		each_lane(&rank[i], end_lane);
	for (i = 0; i < (shared ? NODES : RANKS); i++)
		tor_node_destroy(&at_node(i)->node);
	host_check_idle();
	host_forget_sent();
	return 0;
}

#endif
