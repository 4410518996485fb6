// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Messages between two ranks: pair.c and what the engine does about them. Ranks on a ring, beside a collective, frames
 * that are lost or arrive at once, time in steps. And the same among ranks of which two share a node: see team.h.
 */
#include "host_env.h"

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
	bool busy, done, retired;
};

/* As in kmod/series.h: collectives, or messages to or from a rank, once they were called. */
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
	u32 epoch[RANKS], seen[RANKS];
	struct tor_path path[RANKS];
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
	return role == TORCOLL_CHANNEL_SEND ? &r->to[peer] : &r->from[peer];
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
	tor_chan_recycle(&ctx, &lane->chan, slot->op.seq + DEPTH);
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

	return role == TORCOLL_CHANNEL_SEND ? tor_team_pair(here, there) : tor_team_pair(there, here);
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
	if (role != TORCOLL_CHANNEL_RECV || !r->refused[peer])
		return;
	r->refused[peer] = false;
	for (s = 0; s < DEPTH; s++)
		tor_pair_invite(&ctx, &series->slot[s].lane[0].chan);
}

static struct tor_chan *chan_of(struct rank *r, u32 from, u32 op, u32 channel)
{
	bool is_role = tor_channel_is_role(channel);
	struct series *s = series_of(r, is_role ? tor_role_opposite(channel) : 0, from);

	return s->made ? &s->slot[op % DEPTH].lane[is_role ? 0 : channel].chan : NULL;
}

/* Who it is about: a rank of node @to, and *@from, one of the node that it came from. */
static struct rank *whose(u32 to, u32 *from, u32 channel, u32 round)
{
	u32 seat;

	if (!shared)
		return &rank[to];
	assert_true(tor_channel_is_role(channel));
	assert_true(tor_team_find_pair(&map, to, *from, round, channel == TORCOLL_CHANNEL_RECV,
				       &seat, from));
	return &rank[tor_team_rank_in(&map, to, seat)];
}

static void take_ack(u32 to, u32 from, const struct tor_ack *ack)
{
	struct rank *r = whose(to, &from, ack->channel, ack->round);
	struct tor_chan *chan = chan_of(r, from, ack->op, ack->channel);

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
	r = whose(h->dst, &from, h->channel, h->round);
	chan = chan_of(r, from, h->op, h->channel);
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

static void pass(u64 ns)
{
	u64 end = ctx.now + ns;
	u32 i;

	for (; ctx.now < end; ctx.now += STEP) {
		for (i = 0; i < RANKS; i++)
			each_lane(&rank[i], run_timer);
		leave_all();
		settle();
	}
}

/* --- calls --- */

static u8 byte(u32 from, u32 to, u32 seq, u32 i)
{
	return from * 3 + to * 7 + seq * 11 + i * 13 + (i >> 8);
}

static void start(struct rank *r, struct slot *slot, u32 seq, const struct tor_plan_req *req, u32 type)
{
	const char *why = "";
	u32 c;

	assert_int_equal(tor_op_begin(&slot->op, seq, req, type,
				      slot->op.role ? 0 : TORCOLL_SUM, 0, &why), 0);
	assert_true(req->count * slot->op.elem <= BYTES);
	slot->op.data = &slot->data;
	slot->op.temp = &slot->temp;
	slot->op.deadline = deadline;
	slot->busy = true;
	slot->done = false;
	for (c = 0; c < tor_op_channels(&slot->op); c++)
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
	struct tor_plan_req req = {
		.torus = &r->comm.node->torus,
		.members = r->comm.member,
		.ranks = RANKS,
		.collective = role == TORCOLL_CHANNEL_SEND ? TORCOLL_SEND :
			      role ? TORCOLL_RECV : TORCOLL_ALLREDUCE,
		.algorithm = role ? TORCOLL_ALGO_AUTO : TORCOLL_RING,
		.root = role == TORCOLL_CHANNEL_RECV ? peer : role ? i : 0,
		.peer = role == TORCOLL_CHANNEL_SEND ? peer : i,
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
	for (k = 0; role == TORCOLL_CHANNEL_SEND && k < count * tor_type_size(type); k++)
		slot->data.data[k] = byte(i, peer, seq, k);
	start(r, slot, seq, &req, type);
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
	r->comm.seen = r->seen;
	r->comm.path = r->path;
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

/* --- cases --- */

static u32 length(u32 from, u32 to, u32 seq)
{
	static const u32 bytes[] = { 1, UNIT, 0, UNIT + 1, 20 * UNIT + 7, 100 * UNIT };

	return bytes[(from + 2 * to + seq) % ARRAY_SIZE(bytes)];
}

/* Can @i call the next message of this series, and is there one? */
static bool can_call(u32 i, u8 role, u32 peer)
{
	const struct series *s = series_of(&rank[i], role, peer);

	return !s->made || (s->next <= MESSAGES && !s->slot[s->next % DEPTH].busy);
}

/* One end of some message, chosen by chance; what was in its slot is looked at first. */
static void call_any(u64 *seed)
{
	u32 i = host_rand(seed) % RANKS, peer = host_rand(seed) % RANKS;
	u8 role = host_rand(seed) % 2 ? TORCOLL_CHANNEL_SEND : TORCOLL_CHANNEL_RECV;
	const struct series *s = series_of(&rank[i], role, peer);
	u32 from = role == TORCOLL_CHANNEL_SEND ? i : peer, to = from == i ? peer : i;
	u32 seq = s->made ? s->next : 1;

	if (!can_call(i, role, peer))
		return;
	if (role == TORCOLL_CHANNEL_RECV && seq > DEPTH)
		assert_received(&s->slot[seq % DEPTH], from, to, seq - DEPTH,
				length(from, to, seq - DEPTH));
	call(i, role, peer, length(from, to, seq), TORCOLL_U8);
}

static bool all_called(void)
{
	u32 i, k;

	for (i = 0; i < RANKS; i++)
		for (k = 0; k < RANKS; k++)
			if (rank[i].to[k].next <= MESSAGES || rank[i].from[k].next <= MESSAGES)
				return false;
	return true;
}

/* All pairs, in any order of calls, and in between an allreduce now and then. */
static void at_random(u64 seed, u64 frames_lost)
{
	u32 i, k, s, turns = 0;

	setup(NULL);
	loss = frames_lost;
	luck = seed + 1000;
	while (!all_called()) {
		call_any(&seed);
		if (++turns % 64 == 0 && !shared)
			for (i = 0; i < RANKS; i++)
				if (!rank[i].calls.slot[rank[i].calls.next % DEPTH].busy)
					call(i, 0, TOR_NO_RANK, 50, TORCOLL_I32);
		pass(host_rand(&seed) % 3 * STEP);
		assert_in_range(turns, 0, 20000);
	}
	/* an allreduce that not all have called is called by the rest */
	for (i = 0, k = 0; i < RANKS; i++)
		k = max(k, rank[i].calls.next);
	for (i = 0; i < RANKS; i++)
		while (!shared && rank[i].calls.next < k) {
			pass(STEP);
			if (!rank[i].calls.slot[rank[i].calls.next % DEPTH].busy)
				call(i, 0, TOR_NO_RANK, 50, TORCOLL_I32);
		}
	pass(20 * (u64)NSEC_PER_SEC);
	for (i = 0; i < RANKS; i++) {
		assert_false(rank[i].failed);
		for (k = 0; k < RANKS; k++)
			for (s = MESSAGES; s > MESSAGES - DEPTH; s--)
				assert_received(&rank[i].from[k].slot[s % DEPTH], k, i, s,
						length(k, i, s));
	}
	assert_int_equal(!!lost, !!frames_lost);
	teardown(NULL);
}

static void pair__any_order(void **state)
{
	u64 seed;

	for (seed = 0; seed < 6; seed++)
		at_random(seed, 0);
}

static void pair__any_order_with_loss(void **state)
{
	u64 seed;

	for (seed = 0; seed < 6; seed++)
		at_random(seed, 50);
}

static void tor_pair_refuse__then_invited_at_once(void **state)
{
	struct slot *sent[DEPTH], *received;
	u32 k;

	for (k = 0; k < DEPTH; k++)
		sent[k] = call(0, TORCOLL_CHANNEL_SEND, 2, 1000, TORCOLL_U8);
	pass(10 * (u64)NSEC_PER_SEC);
	assert_false(sent[0]->done);
	assert_true(rank[2].refused[0]);
	for (k = 0; k < DEPTH; k++) {
		received = call(2, TORCOLL_CHANNEL_RECV, 0, 1000, TORCOLL_U8);
		/* not at the next probe */
		assert_received(received, 0, 2, k + 1, 1000);
		assert_true(sent[k]->done);
	}
}

static void tor_chan_meet__in_pieces(void **state)
{
	struct slot *sent, *received;

	sent = call(1, TORCOLL_CHANNEL_SEND, 1, BYTES - 1, TORCOLL_U8);
	assert_false(sent->done);
	received = call(1, TORCOLL_CHANNEL_RECV, 1, BYTES - 1, TORCOLL_U8);
	assert_true(sent->done);
	assert_received(received, 1, 1, 1, BYTES - 1);
}

static void tor_chan_meet__without_elements(void **state)
{
	u32 k;

	/* one end is ahead by more than there are slots */
	for (k = 0; k < 3 * DEPTH; k++)
		assert_true(call(1, TORCOLL_CHANNEL_RECV, 1, 0, TORCOLL_U8)->done);
	assert_false(call(1, TORCOLL_CHANNEL_RECV, 1, 5, TORCOLL_U8)->done);
	for (k = 0; k < 3 * DEPTH; k++)
		assert_true(call(1, TORCOLL_CHANNEL_SEND, 1, 0, TORCOLL_U8)->done);
	assert_true(call(1, TORCOLL_CHANNEL_SEND, 1, 5, TORCOLL_U8)->done);
	assert_received(&rank[1].from[1].slot[(3 * DEPTH + 1) % DEPTH], 1, 1, 3 * DEPTH + 1, 5);
	assert_false(rank[1].failed);
}

static void assert_disagreed(u32 from, u32 to, u64 sent, u64 received)
{
	u32 i, k;

	for (i = 0; i < RANKS; i++) {
		const struct tor_comm *comm = tor_comm_carrier(&rank[i].comm);

		assert_true(rank[i].failed);
		assert_int_equal(rank[i].comm.error, -EPROTO);
		assert_int_equal(comm->error_op, 1);
		assert_int_equal(atomic_read(&comm->explained), TOR_EXPLAINED);
		k = comm->call[1].collective == TORCOLL_SEND;
		assert_int_equal(comm->call[k].collective, TORCOLL_SEND);
		assert_int_equal(comm->call[k].rank, from);
		assert_int_equal(comm->call[k].root, to);
		assert_int_equal(comm->call[k].count, sent);
		assert_int_equal(comm->call[!k].collective, TORCOLL_RECV);
		assert_int_equal(comm->call[!k].rank, to);
		assert_int_equal(comm->call[!k].root, from);
		assert_int_equal(comm->call[!k].count, received);
	}
}

/* Whoever calls first, however long it is, to others or to oneself, everyone is told what both called. */
static void pair__disagrees(void **state)
{
	static const u64 count[][2] = { { 5, 6 }, { 1000, 5 }, { 5, 1000 }, { 0, 5 }, { 5, 0 } };
	u32 n, first, to;

	for (n = 0; n < ARRAY_SIZE(count); n++) {
		for (first = 0; first < 2; first++) {
			for (to = 1; to < RANKS; to++) {
				setup(NULL);
				if (first)
					call(1, TORCOLL_CHANNEL_SEND, to, count[n][0], TORCOLL_U8);
				pass(2 * STEP);
				call(to, TORCOLL_CHANNEL_RECV, 1, count[n][1], TORCOLL_U8);
				pass(2 * STEP);
				if (!first)
					call(1, TORCOLL_CHANNEL_SEND, to, count[n][0], TORCOLL_U8);
				pass(3 * (u64)NSEC_PER_SEC);
				assert_disagreed(1, to, count[n][0], count[n][1]);
				teardown(NULL);
			}
		}
	}
}

/*
 * The one that has not called is named, whichever end that is, and also where it has never heard of the other; to others, the one
 * that did not wait.
 */
static void pair__late(void **state)
{
	static const u8 role[] = { TORCOLL_CHANNEL_SEND, TORCOLL_CHANNEL_RECV };
	u32 k, peer, i;

	for (k = 0; k < 2; k++) {
		for (peer = 0; peer < RANKS; peer++) {
			setup(NULL);
			deadline = ctx.now + NSEC_PER_SEC;
			call(1, role[k], peer, 1000, TORCOLL_U8);
			pass(NSEC_PER_SEC - 2 * STEP);
			assert_false(rank[1].failed);
			pass(TOR_LATE_WAIT + 4 * STEP);
			assert_int_equal(rank[1].comm.error, -ETIMEDOUT);
			assert_int_equal(rank[1].comm.error_rank, peer);
			for (i = 0; i < RANKS; i++) {
				if (i == 1)
					continue;
				assert_int_equal(rank[i].comm.error, -ECONNABORTED);
				assert_int_equal(rank[i].comm.error_rank, 1);
			}
			teardown(NULL);
		}
	}
}

/* What is not received holds up neither the other rank of the receiver's node, nor that of the sender's. */
static void pair__shares_nodes(void **state)
{
	struct slot *waits, *sent;
	u32 k;

	waits = call(0, TORCOLL_CHANNEL_SEND, 1, 100 * UNIT, TORCOLL_U8);
	for (k = 1; k <= 3 * DEPTH; k++) {
		sent = call(0, TORCOLL_CHANNEL_SEND, 3, 1000, TORCOLL_U8);
		assert_received(call(3, TORCOLL_CHANNEL_RECV, 0, 1000, TORCOLL_U8), 0, 3, k, 1000);
		assert_true(sent->done);
	}
	assert_false(waits->done);
	assert_received(call(1, TORCOLL_CHANNEL_RECV, 0, 100 * UNIT, TORCOLL_U8), 0, 1, 1, 100 * UNIT);
	pass(STEP);
	assert_true(waits->done);
}

/* Between the two of a node, whoever comes second: no frame leaves. */
static void tor_chan_meet__of_a_node(void **state)
{
	struct slot *a, *b;

	a = call(1, TORCOLL_CHANNEL_SEND, 3, BYTES - 1, TORCOLL_U8);
	assert_false(a->done);
	b = call(3, TORCOLL_CHANNEL_RECV, 1, BYTES - 1, TORCOLL_U8);
	assert_true(a->done);
	assert_received(b, 1, 3, 1, BYTES - 1);
	b = call(1, TORCOLL_CHANNEL_RECV, 3, 7, TORCOLL_U8);
	assert_false(b->done);
	a = call(3, TORCOLL_CHANNEL_SEND, 1, 7, TORCOLL_U8);
	assert_true(a->done);
	assert_received(b, 3, 1, 1, 7);
	assert_int_equal(frames, 0);
}

static void tor_plan_message__refuses(void **state)
{
	struct tor_plan_req req = {
		.torus = &at_node(0)->node.torus, .ranks = RANKS, .collective = TORCOLL_SEND, .count = 1,
	};
	const char *why;
	struct tor_plan p;

	assert_int_equal(tor_plan_message(&p, &req, 0, &why), 0);
	req.algorithm = TORCOLL_RING;
	assert_int_equal(tor_plan_message(&p, &req, 0, &why), -EOPNOTSUPP);
	req.algorithm = TORCOLL_DIRECT;
	req.param[TORCOLL_PARAM_CHANNELS] = 1;
	assert_int_equal(tor_plan_message(&p, &req, 0, &why), -EOPNOTSUPP);
	req.param[TORCOLL_PARAM_CHANNELS] = 0;
	req.peer = RANKS;
	assert_int_equal(tor_plan_message(&p, &req, 0, &why), -EINVAL);
	req.peer = 0;
	req.root = RANKS;
	assert_int_equal(tor_plan_message(&p, &req, 0, &why), -EINVAL);
}

/* Whoever sends what fits a frame goes on, as many times as there are slots. What waits for nobody fails nobody. */
static void tor_chan_hold__short_ones(void **state)
{
	struct slot *sent[DEPTH], *longer;
	u32 k;

	deadline = ctx.now + NSEC_PER_SEC;
	for (k = 0; k < DEPTH; k++) {
		sent[k] = call(1, TORCOLL_CHANNEL_SEND, 3, UNIT - k, TORCOLL_U8);
		assert_true(sent[k]->done);
		assert_true(sent[k]->busy);
		/* its memory is the caller's again */
		memset(sent[k]->data.data, 0xff, UNIT);
	}
	pass(2 * (u64)NSEC_PER_SEC);
	assert_false(rank[1].failed);
	deadline = 0;
	for (k = 0; k < DEPTH; k++) {
		assert_received(call(3, TORCOLL_CHANNEL_RECV, 1, UNIT - k, TORCOLL_U8), 1, 3, k + 1,
				UNIT - k);
		assert_false(sent[k]->busy);
	}
	longer = call(1, TORCOLL_CHANNEL_SEND, 3, UNIT + 1, TORCOLL_U8);
	assert_false(longer->done);
	assert_int_equal(atomic_read(&rank[1].comm.kept), 0);
	assert_int_equal(frames, 0);
}

/* Who has no room for it waits. */
static void tor_chan_hold__no_room(void **state)
{
	struct slot *sent;

	atomic_set(&rank[1].comm.kept, TOR_KEPT_HIGH + 1);
	sent = call(1, TORCOLL_CHANNEL_SEND, 1, 10, TORCOLL_U8);
	assert_false(sent->done);
	atomic_set(&rank[1].comm.kept, 0);
	assert_received(call(1, TORCOLL_CHANNEL_RECV, 1, 10, TORCOLL_U8), 1, 1, 1, 10);
	assert_true(sent->done);
}

static int setup_shared(void **state)
{
	shared = true;
	return setup(state);
}

/* The tests that set up by themselves. */
static int share(void **state)
{
	shared = true;
	return 0;
}

static int unshare(void **state)
{
	shared = false;
	return 0;
}

static int teardown_shared(void **state)
{
	teardown(state);
	return unshare(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair__any_order),
		cmocka_unit_test(pair__any_order_with_loss),
		cmocka_unit_test_setup_teardown(tor_pair_refuse__then_invited_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_meet__in_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_meet__without_elements, setup, teardown),
		cmocka_unit_test(pair__disagrees),
		cmocka_unit_test(pair__late),
		cmocka_unit_test_setup_teardown(tor_plan_message__refuses, setup, teardown),
	}, of_teams[] = {
		cmocka_unit_test_setup_teardown(pair__any_order, share, unshare),
		cmocka_unit_test_setup_teardown(pair__any_order_with_loss, share, unshare),
		cmocka_unit_test_setup_teardown(pair__disagrees, share, unshare),
		cmocka_unit_test_setup_teardown(pair__late, share, unshare),
		cmocka_unit_test_setup_teardown(pair__shares_nodes, setup_shared, teardown_shared),
		cmocka_unit_test_setup_teardown(tor_chan_meet__of_a_node, setup_shared, teardown_shared),
		cmocka_unit_test_setup_teardown(tor_chan_hold__short_ones, setup_shared, teardown_shared),
		cmocka_unit_test_setup_teardown(tor_chan_hold__no_room, setup_shared, teardown_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ||
	       cmocka_run_group_tests(of_teams, NULL, NULL);
}
