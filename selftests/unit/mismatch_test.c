// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Ranks that call different things: whatever these are, nobody waits for ever, and nobody takes the one for the
 * other. And ranks that call late. Four ranks on a ring, frames that arrive at once, time in steps.
 */
#include "host_env.h"
#include "made_paths.h"

#define RANKS		4
#define DEPTH		2
#define CHANNELS	2
#define UNIT		256
#define STEP		(5 * NSEC_PER_MSEC)

struct lane {
	struct tor_chan chan;
	u64 when;
};

struct slot {
	struct tor_op op;
	struct lane lane[CHANNELS];
	struct tor_mem data, temp;
	u64 counts[2][RANKS];		/* alltoallv: what goes, and what comes */
	bool done, retired;
};

static struct rank {
	struct tor_node node;
	struct tor_comm comm;
	struct slot slot[DEPTH];
	u32 epoch[RANKS];
	struct made_paths path;
	u64 pays;
	bool failed, told;
} rank[RANKS];

static struct tor_ctx ctx;
static u32 delivered;
static u64 bytes_max;
static u64 deadline;			/* of all ops, 0: none */

struct called {
	u32 collective;
	u32 root;
	u64 count;
	u32 redop;
	u32 type;
	bool uneven;			/* an alltoall in which every pair has a length of its own */
	bool mute;			/* it sends nothing to others, whatever they expect */
};

/* Elements from @from to @to in an uneven alltoall: some send each other nothing. */
static u64 pair_count(u32 from, u32 to)
{
	return (from * 3 + to * 5) % 7 * 40;
}

static u64 count_of(const struct called *what, u32 i)
{
	u64 sum = 0;
	u32 k;

	if (!what->uneven)
		return what->count;
	for (k = 0; k < RANKS; k++)
		sum += pair_count(k, i);
	return sum;
}

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

const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 rank, u8 role, u32 peer, u32 seq)
{
	return &container_of(comm, struct rank, comm)->slot[seq % DEPTH].op;
}

/* What has to be done without a channel's lock. */
static void leave(struct rank *r)
{
	u32 s, c, i, visited;

	ctx = (struct tor_ctx){ .now = ctx.now };
	if (r->failed && !r->told) {
		r->told = true;
		for (s = 0; s < DEPTH; s++)
			for (c = 0; c < CHANNELS; c++)
				tor_chan_abort(&ctx, &r->slot[s].lane[c].chan);
		for (i = 0; i < RANKS; i++)
			tor_comm_send_abort(&ctx, &r->comm, i);
	}
	for (s = 0; s < DEPTH; s++) {
		if (!r->slot[s].retired || r->failed)
			continue;
		r->slot[s].retired = false;
		visited = tor_turn_end(&r->slot[s].op);
		for (c = 0; c < CHANNELS; c++)
			if (visited & 1U << c)
				tor_chan_recycle(&ctx, &r->slot[s].lane[c].chan);
	}
}

static struct tor_chan *chan_of(struct rank *r, u32 op, u32 channel)
{
	assert_in_range(channel, 0, CHANNELS - 1);
	return &r->slot[op % DEPTH].lane[channel].chan;
}

static void deliver(const struct host_frame *f)
{
	enum tor_counter why;
	struct tor_bytes payload;
	struct tor_ack ack;
	struct rank *r;
	struct tor_hdr h;
	u32 i;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	r = &rank[h.dst];
	ctx.answered = false;
	for (i = 0; i < h.acks; i++) {
		assert_true(tor_wire_ack(f->bytes, i, &ack, &why));
		tor_chan_ack(&ctx, chan_of(r, ack.op, ack.where.channel), h.src, &ack);
	}
	payload.p = f->bytes + tor_wire_header_bytes(&h);
	payload.len = h.length;
	if (h.type == TORCOLL_FRAME_DATA)
		tor_chan_data(&ctx, chan_of(r, h.op, h.where.channel), h.src, &h, &payload, 1);
	else if (h.type == TORCOLL_FRAME_ABORT)
		tor_comm_abort_rx(&ctx, &r->comm, h.src, payload.p, payload.len);
	leave(r);
}

static void settle(void)
{
	while (delivered < host.nsent) {
		struct host_frame f = host.sent[delivered++];

		deliver(&f);
	}
}

static void pass(u64 ns)
{
	u64 end = ctx.now + ns;
	u32 i, s, c;

	for (; ctx.now < end; ctx.now += STEP) {
		for (i = 0; i < RANKS; i++) {
			for (s = 0; s < DEPTH; s++) {
				for (c = 0; c < CHANNELS; c++) {
					struct lane *lane = &rank[i].slot[s].lane[c];

					if (!lane->when || lane->when > ctx.now)
						continue;
					lane->when = 0;
					tor_chan_timer(&ctx, &lane->chan);
					leave(&rank[i]);
				}
			}
			if (rank[i].pays && rank[i].pays <= ctx.now) {
				rank[i].pays = 0;
				tor_comm_pay(&ctx, &rank[i].comm);
				leave(&rank[i]);
			}
		}
		settle();
	}
}

static u32 algorithm_of(u32 collective)
{
	switch (collective) {
	case TORCOLL_BROADCAST:
	case TORCOLL_REDUCE:
		return TORCOLL_TREE;
	case TORCOLL_ALLTOALL:
	case TORCOLL_HALO:
		return TORCOLL_DIRECT;
	default:
		return TORCOLL_RING;
	}
}

static void call(u32 i, u32 seq, const struct called *what)
{
	struct rank *r = &rank[i];
	struct slot *slot = &r->slot[seq % DEPTH];
	struct tor_call call = {
		.torus = &r->node.torus,
		.ranks = RANKS,
		.collective = what->collective,
		.algorithm = algorithm_of(what->collective),
		.type = what->type,
		.redop = what->redop,
		.root = what->root,
		.count = count_of(what, i),
	};
	const char *why;
	u32 c, k, visited;

	for (k = 0; k < RANKS; k++) {
		slot->counts[0][k] = what->mute && k != i ? 0 : pair_count(i, k);
		slot->counts[1][k] = pair_count(k, i);
	}
	if (what->uneven) {
		call.counts = slot->counts[0];
		call.from_counts = slot->counts[1];
	}
	assert_int_equal(tor_op_begin(&slot->op, seq, &call, &why), 0);
	assert_true(call.count * slot->op.elem <= bytes_max);
	slot->op.data = &slot->data;
	slot->op.temp = &slot->temp;
	slot->op.deadline = deadline;
	slot->done = false;
	visited = tor_turn_begin(&slot->op);
	for (c = 0; c < CHANNELS; c++)
		if (visited & 1U << c)
			tor_chan_start(&ctx, &slot->lane[c].chan);
	leave(r);
	settle();
}

/* --- fixture --- */

static void begin_rank(u32 i, const struct tor_torus *t)
{
	struct rank *r = &rank[i];
	u32 s, c;

	tor_node_init(&r->node, t, 1, i);
	r->comm.node = &r->node;
	r->comm.tag = 9;
	r->comm.ranks = RANKS;
	r->comm.rank = i;
	r->comm.unit = UNIT;
	r->comm.depth = DEPTH;
	r->comm.channels = CHANNELS;
	r->comm.epoch = r->epoch;
	r->comm.path = made_paths(&r->path);
	r->comm.error_rank = TOR_NO_RANK;
	for (s = 0; s < DEPTH; s++) {
		struct slot *slot = &r->slot[s];

		slot->op.comm = &r->comm;
		slot->data.data = calloc(1, bytes_max);
		slot->temp.data = calloc(8, bytes_max);
		slot->data.len = bytes_max;
		slot->temp.len = 8 * bytes_max;
		for (c = 0; c < CHANNELS; c++)
			tor_chan_init(&slot->lane[c].chan, &slot->op, c, s ? s : DEPTH);
	}
}

static int setup(void **state)
{
	static const u32 side[] = { RANKS };
	struct tor_torus t;
	u32 i;

	host_reset();
	memset(rank, 0, sizeof(rank));
	bytes_max = 8192;
	delivered = 0;
	deadline = 0;
	ctx.now = NSEC_PER_SEC;
	tor_torus_init(&t, 1, side, 1);
	for (i = 0; i < RANKS; i++)
		begin_rank(i, &t);
	return 0;
}

static int teardown(void **state)
{
	u32 i, s, c;

	for (i = 0; i < RANKS; i++) {
		for (s = 0; s < DEPTH; s++) {
			for (c = 0; c < CHANNELS; c++)
				tor_chan_destroy(&rank[i].slot[s].lane[c].chan);
			free(rank[i].slot[s].data.data);
			free(rank[i].slot[s].temp.data);
		}
		tor_node_destroy(&rank[i].node);
	}
	host_check_idle();
	host_forget_sent();
	return 0;
}

/* --- cases --- */

static const struct called calls[] = {
	{ TORCOLL_ALLREDUCE, 0, 100, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_ALLREDUCE, 0, 100, TORCOLL_MAX, TORCOLL_I32 },
	{ TORCOLL_ALLREDUCE, 0, 101, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_ALLREDUCE, 0, 1000, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_ALLREDUCE, 0, 100, TORCOLL_SUM, TORCOLL_I64 },
	{ TORCOLL_ALLREDUCE, 0, 0, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_REDUCE_SCATTER, 0, 100, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_ALLGATHER, 0, 100, 0, TORCOLL_I32 },
	{ TORCOLL_BROADCAST, 0, 100, 0, TORCOLL_I32 },
	{ TORCOLL_BROADCAST, 3, 100, 0, TORCOLL_I32 },
	{ TORCOLL_BROADCAST, 0, 0, 0, TORCOLL_I32 },
	{ TORCOLL_REDUCE, 0, 100, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_REDUCE, 2, 100, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_REDUCE, 0, 0, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_SCAN, 0, 100, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_EXSCAN, 0, 100, TORCOLL_SUM, TORCOLL_I32 },
	{ TORCOLL_HALO, 0, 100, 0, TORCOLL_I32 },
	{ TORCOLL_ALLTOALL, 0, 100, 0, TORCOLL_I32 },
	{ TORCOLL_ALLTOALL, 0, 0, 0, TORCOLL_I32, .uneven = true },
};

static bool is_call(const struct tor_wire_call *said, u32 by, const struct called *what)
{
	return said->rank == by && said->collective == what->collective &&
	       said->count == count_of(what, by) && said->type == what->type &&
	       said->redop == what->redop && said->root == what->root;
}

/* Rank @odd calls @other, all others @most: the first op, or behind one that all call. */
static void disagree(const struct called *most, const struct called *other, u32 odd, bool second)
{
	u32 i, seq = 1 + second;

	setup(NULL);
	for (i = 0; second && i < RANKS; i++)
		call(i, 1, &calls[0]);
	pass(100 * NSEC_PER_MSEC);
	for (i = 0; second && i < RANKS; i++)
		assert_true(rank[i].slot[1].done && !rank[i].failed);
	for (i = 0; i < RANKS; i++)
		call(i, seq, i == odd ? other : most);
	pass(3 * (u64)NSEC_PER_SEC);
	for (i = 0; i < RANKS; i++) {
		const struct tor_comm *comm = &rank[i].comm;
		u32 k = comm->call[1].rank == odd;

		assert_true(rank[i].failed);
		assert_int_equal(comm->error, -EPROTO);
		assert_int_equal(comm->error_op, seq);
		assert_int_equal(atomic_read(&comm->explained), TOR_EXPLAINED);
		assert_true(is_call(&comm->call[k], odd, other));
		assert_true(is_call(&comm->call[!k], comm->call[!k].rank, most));
	}
	teardown(NULL);
}

static bool is_empty(const struct called *what)
{
	return !what->count && !what->uneven;
}

static void tor_comm_mismatch__any_two_calls(void **state)
{
	u32 a, b, odd, second;

	for (a = 0; a < ARRAY_SIZE(calls); a++) {
		for (b = 0; b < ARRAY_SIZE(calls); b++) {
			/* calls without an element send nothing: nobody can know */
			if (a == b || (is_empty(&calls[a]) && is_empty(&calls[b])))
				continue;
			for (odd = 0; odd < RANKS; odd++)
				for (second = 0; second < 2; second++)
					disagree(&calls[a], &calls[b], odd, second);
		}
	}
}

/* Of what it sends to another rank only these two know the length: nothing comes of what others wait for. */
static void tor_chan_ack__nothing_is_sent(void **state)
{
	static const struct called uneven = { TORCOLL_ALLTOALL, 0, 0, 0, TORCOLL_I32, .uneven = true };
	static const struct called mute = { TORCOLL_ALLTOALL, 0, 0, 0, TORCOLL_I32, .uneven = true, .mute = true };
	u32 odd, second;

	for (odd = 0; odd < RANKS; odd++)
		for (second = 0; second < 2; second++)
			disagree(&uneven, &mute, odd, second);
}

/*
 * The others called something that sends nothing, so long ago that they have forgotten it; and when the question comes
 * late, after all.
 */
static void tor_chan_ack__of_an_op_that_is_forgotten(void **state)
{
	static const struct called nothing = { TORCOLL_BROADCAST, 0, 0, 0, TORCOLL_I32 };
	u32 i, odd, turn;

	for (odd = 0; odd < RANKS; odd++) {
		setup(NULL);
		for (turn = 0; turn < 3; turn++)
			for (i = 0; i < RANKS; i++)
				if (i != odd)
					call(i, 1 + turn * DEPTH, &nothing);
		call(odd, 1, &calls[0]);
		pass(3 * (u64)NSEC_PER_SEC);
		for (i = 0; i < RANKS; i++) {
			assert_true(rank[i].failed);
			assert_int_equal(rank[i].comm.error, -EPROTO);
			assert_int_equal(rank[i].comm.error_op, 1);
		}
		teardown(NULL);
	}
}

/* All call the same, twice as often as there are slots, and @last after all others: nobody takes that for two things. */
static void agree(const struct called *what, u32 last)
{
	u32 i, seq;

	setup(NULL);
	for (seq = 1; seq <= 2 * DEPTH; seq++) {
		for (i = 1; i <= RANKS; i++)
			call((last + i) % RANKS, seq, what);
		pass(50 * NSEC_PER_MSEC);
		for (i = 0; i < RANKS; i++)
			assert_true(rank[i].slot[seq % DEPTH].done && !rank[i].failed);
	}
	teardown(NULL);
}

static void tor_comm_mismatch__not_of_equal_calls(void **state)
{
	u32 i, last;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		for (last = 0; last < RANKS; last++)
			agree(&calls[i], last);
}

/* All but @odd call, once or after an op of all. Whoever gives up names it, though few wait for it themselves. */
static void late(const struct called *what, u32 odd, bool second)
{
	u32 i, gave_up = 0, seq = 1 + second;

	setup(NULL);
	for (i = 0; second && i < RANKS; i++)
		call(i, 1, &calls[0]);
	pass(100 * NSEC_PER_MSEC);
	deadline = ctx.now + NSEC_PER_SEC;
	for (i = 0; i < RANKS; i++)
		if (i != odd)
			call(i, seq, what);
	pass(NSEC_PER_SEC - 2 * STEP);
	for (i = 0; i < RANKS; i++)
		assert_false(rank[i].failed);
	pass(TOR_LATE_WAIT + 4 * STEP);
	for (i = 0; i < RANKS; i++) {
		assert_true(rank[i].failed || rank[i].slot[seq % DEPTH].done);
		if (rank[i].comm.error != -ETIMEDOUT)
			continue;
		assert_int_equal(rank[i].comm.error_rank, odd);
		gave_up++;
	}
	assert_in_range(gave_up, 1, RANKS - 1);
	teardown(NULL);
}

static void tor_chan_timer__names_who_is_late(void **state)
{
	u32 odd, second;

	for (odd = 0; odd < RANKS; odd++)
		for (second = 0; second < 2; second++)
			late(&calls[0], odd, second);
	/* who passes the result on is late, not the leaf that waits for it; and the root that all wait for */
	late(&calls[8], 0, false);
	late(&calls[11], 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_comm_mismatch__any_two_calls),
		cmocka_unit_test(tor_comm_mismatch__not_of_equal_calls),
		cmocka_unit_test(tor_chan_ack__nothing_is_sent),
		cmocka_unit_test(tor_chan_ack__of_an_op_that_is_forgotten),
		cmocka_unit_test(tor_chan_timer__names_who_is_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
