// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What one entry into core does at most. One rank of four on a ring, in an alltoall whose blocks are longer than a budget, unless
 * a case says otherwise: entry by entry, the bytes that have changed and the frames that were sent are counted.
 */
#include "host_env.h"
#include "made_paths.h"
#include "core/engine/chan.h"

#define RANKS		4
#define UNIT		1024
#define BLOCK		(200 << 10)	/* bytes, of i32; all frames of one can be kept */
#define BYTES		(RANKS * BLOCK)

struct fixture {
	struct tor_node node;
	struct tor_comm comm;
	struct tor_op op;
	struct tor_chan chan;
	struct tor_mem data, temp;
	u32 epoch[RANKS];
	struct made_paths path;
	u8 *before;
	struct tor_ctx ctx;
};

static void begin_op(struct fixture *f, u8 collective, u8 algorithm)
{
	struct tor_call call = {
		.torus = &f->node.torus,
		.ranks = RANKS,
		.collective = collective,
		.algorithm = algorithm,
		.type = TORCOLL_I32,
		.count = BYTES / sizeof(u32),
	};
	const char *why = "";

	assert_int_equal(tor_op_begin(&f->op, 1, &call, &why), 0);
	f->op.data = &f->data;
	f->op.temp = &f->temp;
}

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));
	static const u32 side = RANKS;
	struct tor_torus torus;
	u64 seed = 1;

	host_reset();
	assert_int_equal(tor_torus_init(&torus, 1, &side, 2), 0);
	assert_int_equal(tor_node_init(&f->node, &torus, 1, 0), 0);
	f->node.checksum_payload = false;
	f->comm.node = &f->node;
	f->comm.ranks = RANKS;
	f->comm.tag = 77;
	f->comm.unit = UNIT;
	f->comm.depth = 1;
	f->comm.channels = 1;
	f->comm.epoch = f->epoch;
	f->comm.path = made_paths(&f->path);
	f->op.comm = &f->comm;
	f->data = (struct tor_mem){ .data = test_calloc(1, BYTES), .len = BYTES };
	f->temp = (struct tor_mem){ .data = test_malloc(BYTES), .len = BYTES };
	f->before = test_calloc(1, BYTES);
	host_fill(f->temp.data, BYTES, &seed);
	tor_chan_init(&f->chan, &f->op, 0, 1);
	begin_op(f, TORCOLL_ALLTOALL, TORCOLL_DIRECT);
	f->ctx.now = NSEC_PER_SEC;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tor_chan_destroy(&f->chan);
	tor_node_destroy(&f->node);
	assert_int_equal(atomic_read(&f->comm.kept), 0);
	host_check_idle();
	host_forget_sent();
	test_free(f->data.data);
	test_free(f->temp.data);
	test_free(f->before);
	test_free(f);
	return 0;
}

/* The next entry. Return: how many bytes the one before has changed, at least. */
static u32 enter(struct fixture *f)
{
	u32 i, changed = 0;

	for (i = 0; i < BYTES; i++)
		changed += f->data.data[i] != f->before[i];
	memcpy(f->before, f->data.data, BYTES);
	host_forget_sent();
	f->ctx = (struct tor_ctx){ .now = f->ctx.now + 1000 };
	return changed;
}

/* All that is put off, and none of it in one entry. Return: entries that it took. */
static u32 work(struct fixture *f)
{
	u32 n = 0;
	bool more;

	do {
		more = tor_chan_work(&f->ctx, &f->chan);
		assert_in_range(enter(f), 0, tor_env_budget().bytes + sizeof(u32) - 1);
		n++;
	} while (more);
	return n;
}

static void tor_chan_start__leaves_long_pieces_to_a_process(void **state)
{
	struct fixture *f = *state;

	host_start(&f->ctx, &f->chan);
	assert_int_equal(host.works_asked, 1);
	assert_int_equal(host.nsent, 0);
	assert_int_equal(enter(f), 0);
	/* nobody else does it */
	tor_chan_timer(&f->ctx, &f->chan);
	assert_int_equal(enter(f), 0);
	assert_int_equal(work(f), DIV_ROUND_UP(BLOCK, TOR_BUDGET.bytes));
	assert_memory_equal(f->data.data, f->temp.data, BLOCK);
	assert_false(tor_chan_work(&f->ctx, &f->chan));
}

static void tor_chan_work__does_an_element_at_least(void **state)
{
	struct fixture *f = *state;

	host.budget = (struct tor_budget){ 1, 64 };
	host_start(&f->ctx, &f->chan);
	assert_true(tor_chan_work(&f->ctx, &f->chan));
	assert_in_range(enter(f), 1, sizeof(u32));
	host.budget.bytes = 4096 + 1;
	assert_int_equal(work(f), DIV_ROUND_UP(BLOCK - sizeof(u32), 4096));
	assert_memory_equal(f->data.data, f->temp.data, BLOCK);
}

static void tor_chan_work__is_not_needed_for_what_is_short(void **state)
{
	struct fixture *f = *state;

	host.budget = (struct tor_budget){ BLOCK, 64 };
	host_start(&f->ctx, &f->chan);
	assert_int_equal(host.works_asked, 0);
	assert_memory_equal(f->data.data, f->temp.data, BLOCK);
}

static void tor_chan_work__nothing_is_done_twice_without_memory(void **state)
{
	struct fixture *f = *state;

	host_start(&f->ctx, &f->chan);
	assert_true(f->chan.works);
	/* the records of transfers cannot be had when all is done */
	host.fail_after = 0;
	work(f);
	assert_false(f->chan.entered);
	memset(f->data.data, 0xaa, BLOCK);
	host.fail_after = ~0U;
	f->ctx.now += TOR_RETRY;
	tor_chan_timer(&f->ctx, &f->chan);
	assert_true(f->chan.entered);
	assert_int_equal(f->data.data[0], 0xaa);
	assert_int_equal(f->data.data[BLOCK - 1], 0xaa);
}

static void tor_chan_abort__ends_what_was_put_off(void **state)
{
	struct fixture *f = *state;

	host_start(&f->ctx, &f->chan);
	assert_true(tor_chan_work(&f->ctx, &f->chan));
	tor_comm_fail(&f->ctx, &f->comm, -ECANCELED, 0, 1);
	tor_chan_abort(&f->ctx, &f->chan);
	enter(f);
	assert_false(tor_chan_work(&f->ctx, &f->chan));
	assert_int_equal(enter(f), 0);
}

static void receive(struct fixture *f, u32 from, u32 index)
{
	u8 payload[UNIT];
	struct tor_bytes bytes = { payload, UNIT };
	struct tor_hdr h = {
		.op = 1,
		.digest = f->op.digest,
		.offset = index * UNIT,
		.length = UNIT,
		.stamp = 1,
	};

	memset(payload, 1 + index % 255, UNIT);
	tor_chan_data(&f->ctx, &f->chan, from, &h, &bytes, 1);
}

static void tor_chan_release__some_kept_frames_at_a_time(void **state)
{
	u32 i, index = 0, entries = 0;
	struct fixture *f = *state;
	bool more;

	for (i = 0; i < BLOCK / UNIT; i++) {
		receive(f, 1, i);
		assert_int_equal(enter(f), 0);
	}
	assert_int_equal(host.counters[TOR_C_RX_EARLY], BLOCK / UNIT);
	host_start(&f->ctx, &f->chan);
	enter(f);
	do {
		more = tor_chan_work(&f->ctx, &f->chan);
		/* of the own block and of frames */
		assert_in_range(enter(f), 0, TOR_BUDGET.bytes + UNIT);
		entries++;
		/* meanwhile others come, and are taken */
		if (f->chan.entered && index < BLOCK / UNIT) {
			receive(f, 2, index++);
			assert_int_equal(enter(f), UNIT);
		}
	} while (more);
	assert_in_range(entries, 2 * BLOCK / TOR_BUDGET.bytes, 2 * BLOCK / TOR_BUDGET.bytes + 2);
	for (i = 0; i < BLOCK; i++)
		assert_int_equal(f->data.data[BLOCK + i], 1 + i / UNIT % 255);
}

/* Three transfers, each with a first window of eight frames. */
static void tor_chan_push__some_frames_at_a_time(void **state)
{
	struct fixture *f = *state;
	u32 sent, n = 0, entries = 0;
	bool more;

	host.budget = (struct tor_budget){ BLOCK, 5 };
	host_start(&f->ctx, &f->chan);
	do {
		more = f->chan.works;
		sent = host.nsent;
		assert_in_range(sent, more ? 5 : 0, 5);
		n += sent;
		entries++;
		/* by a process, which others can have the processor from: a timer would come before them */
		assert_true(!more || host.timer_when > f->ctx.now);
		enter(f);
		if (more)
			tor_chan_work(&f->ctx, &f->chan);
	} while (more);
	assert_int_equal(n, (RANKS - 1) * TOR_WINDOW_FIRST);
	assert_in_range(entries, 5, 6);
	assert_int_equal(host.counters[TOR_C_TX_RETRANSMITS], 0);
}

/* The first of the frames sent, acknowledged: as others would. Return: its round. */
static u32 acknowledge(struct fixture *f, const struct host_frame *frame)
{
	struct tor_ack ack = { .comm = 77, .op = f->chan.seq, .state = TORCOLL_ACK_OK };
	enum tor_counter why;
	struct tor_hdr h;

	assert_int_equal(tor_wire_parse(frame->bytes, frame->len, frame->len, &h, &why), 0);
	assert_int_equal(h.type, TORCOLL_FRAME_DATA);
	ack.where.round = h.where.round;
	ack.base = h.offset / UNIT + 1;
	ack.stamp = h.stamp;
	tor_chan_ack(&f->ctx, &f->chan, h.dst, &ack);
	return h.where.round;
}

/* The root of a broadcast only sends: no frame of a round leaves before all of the one before. */
static void tor_chan_round_done__who_only_sends_does_not_run_ahead(void **state)
{
	struct fixture *f = *state;
	u32 round, last = 0, n;

	begin_op(f, TORCOLL_BROADCAST, TORCOLL_CIRCULANT);
	assert_in_range(tor_plan_rounds(&f->op.plan, 0), 3, 1000);
	host_start(&f->ctx, &f->chan);
	for (n = 0; n < host.nsent; n++) {
		round = acknowledge(f, &host.sent[n]);
		assert_in_range(round, last, tor_plan_rounds(&f->op.plan, 0) - 1);
		last = round;
		f->ctx = (struct tor_ctx){ .now = f->ctx.now + 1000 };
		tor_chan_work(&f->ctx, &f->chan);
	}
	assert_int_equal(last, tor_plan_rounds(&f->op.plan, 0) - 1);
	assert_in_range(n, BYTES / UNIT, RANKS * BYTES / UNIT);
	assert_int_equal(f->chan.state, TOR_CHAN_CLOSED);
}

static void begin_scan(struct fixture *f)
{
	struct tor_call call = {
		.torus = &f->node.torus,
		.ranks = RANKS,
		.collective = TORCOLL_EXSCAN,
		.algorithm = TORCOLL_RING,
		.type = TORCOLL_I32,
		.redop = TORCOLL_SUM,
		.count = 1,
	};
	const char *why = "";

	assert_int_equal(tor_op_begin(&f->op, 1, &call, &why), 0);
}

/* Rank 0 of an exclusive scan has its block to send in the second of six rounds, and nothing to do in the others. */
static void tor_chan_run__some_rounds_at_a_time(void **state)
{
	u32 round, entries = 1, acknowledged = 0;
	struct fixture *f = *state;

	host.budget = (struct tor_budget){ BLOCK, 64, 1 };
	begin_scan(f);
	assert_int_equal(tor_plan_rounds(&f->op.plan, 0), 6);
	host_start(&f->ctx, &f->chan);
	assert_int_equal(host.works_asked, 1);
	for (round = 0; f->chan.state == TOR_CHAN_RUNNING; entries++) {
		assert_in_range(f->chan.round, round, round + 1);
		round = f->chan.round;
		f->ctx = (struct tor_ctx){ .now = f->ctx.now + 1000 };
		if (f->chan.works)
			tor_chan_work(&f->ctx, &f->chan);
		else
			acknowledge(f, &host.sent[acknowledged++]);
	}
	assert_in_range(entries, 6, 8);
}

/* A frame of 4 bytes of the op, early but for the round that is entered. Return: how many senders were refused. */
static u32 receive_of(struct fixture *f, u32 rank, u32 round, u16 flags)
{
	u32 before = host.counters[TOR_C_RX_NOT_READY];
	u8 payload[4] = { 0 };
	struct tor_bytes bytes = { payload, sizeof(payload) };
	struct tor_hdr h = {
		.op = 1,
		.digest = f->op.digest,
		.where.round = round,
		.length = sizeof(payload),
		.stamp = 1,
		.flags = flags,
	};

	tor_chan_data(&f->ctx, &f->chan, rank, &h, &bytes, 1);
	return host.counters[TOR_C_RX_NOT_READY] - before;
}

static bool waits(const struct fixture *f, u32 rank, u32 round)
{
	u32 i;

	for (i = 0; i < f->chan.nwaiting; i++)
		if (f->chan.waiting[i].rank == rank && f->chan.waiting[i].round == round)
			return true;
	return false;
}

/* Whoever is wanted first must not be forgotten for those of later rounds. */
static void tor_chan_data__the_nearest_round_waits(void **state)
{
	struct fixture *f = *state;
	u32 i;

	atomic_set(&f->comm.kept, TOR_KEPT_MAX);
	for (i = 0; i < TOR_WAITING_MAX; i++)
		assert_int_equal(receive_of(f, 1, 8 + i, 0), 1);
	assert_int_equal(receive_of(f, 2, 20, 0), 1);
	assert_false(waits(f, 2, 20));
	assert_int_equal(receive_of(f, 2, 0, 0), 1);
	assert_true(waits(f, 2, 0));
	assert_true(waits(f, 1, 8));
	atomic_set(&f->comm.kept, 0);
}

/* Whoever has nothing more to send needs no place. */
static void tor_chan_data__whole_transfers_do_not_wait(void **state)
{
	struct fixture *f = *state;
	u32 i;

	atomic_set(&f->comm.kept, TOR_KEPT_HIGH);
	for (i = 0; i < TOR_WAITING_MAX; i++)
		assert_int_equal(receive_of(f, 1, i, TORCOLL_FLAG_WHOLE), 0);
	assert_int_equal(f->chan.nwaiting, 0);
	atomic_sub(TOR_KEPT_HIGH, &f->comm.kept);
}

/* Early frames of thousands of rounds: each that is entered looks at all of them. */
static void tor_chan_run__early_frames_count(void **state)
{
	struct fixture *f = *state;
	u32 i, entries = 1, acknowledged = 0;

	begin_scan(f);
	for (i = 0; i < TOR_EARLY_MAX; i++)
		receive_of(f, 1, 1000 + i, 0);
	assert_int_equal(f->chan.nearly, TOR_EARLY_MAX);
	assert_int_equal(host.counters[TOR_C_RX_NOT_READY], 0);
	/* no more are kept */
	receive_of(f, 1, 1000 + i, 0);
	assert_int_equal(f->chan.nearly, TOR_EARLY_MAX);
	assert_int_equal(host.counters[TOR_C_RX_NOT_READY], 1);
	host_forget_sent();
	host_start(&f->ctx, &f->chan);
	assert_int_equal(host.works_asked, 1);
	for (; f->chan.state == TOR_CHAN_RUNNING; entries++) {
		f->ctx = (struct tor_ctx){ .now = f->ctx.now + 1000 };
		if (f->chan.works)
			tor_chan_work(&f->ctx, &f->chan);
		else
			acknowledge(f, &host.sent[acknowledged++]);
	}
	assert_in_range(entries, 2, 4);
}

/* Who waits for an op that comes soon is remembered rather than who is far ahead. */
static void tor_chan_data__the_nearest_wait(void **state)
{
	struct fixture *f = *state;
	u8 payload[4] = { 0 };
	struct tor_bytes bytes = { payload, sizeof(payload) };
	struct tor_hdr h = { .op = 1 + (1 << 30), .digest = 1, .length = sizeof(payload), .stamp = 1 };
	u32 i;

	for (i = 0; i < 2 * TOR_WAITING_MAX; i++) {
		h.where.round = i;
		tor_chan_data(&f->ctx, &f->chan, 1, &h, &bytes, 1);
	}
	assert_int_equal(f->chan.nwaiting, TOR_WAITING_MAX);
	h.op = 2;
	tor_chan_data(&f->ctx, &f->chan, 2, &h, &bytes, 1);
	assert_int_equal(f->chan.nwaiting, TOR_WAITING_MAX);
	host_forget_sent();
	host_recycle(&f->ctx, &f->chan);
	assert_int_equal(f->chan.nwaiting, TOR_WAITING_MAX - 1);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(host.sent[0].dst, 2);
}

/* Begin op @seq, of which this rank is the root. */
static void begin(struct fixture *f, u32 seq, u32 collective, u32 algorithm, u64 count)
{
	struct tor_call call = {
		.torus = &f->node.torus,
		.ranks = RANKS,
		.collective = collective,
		.algorithm = algorithm,
		.type = TORCOLL_I32,
		.count = count,
	};
	const char *why = "";

	assert_int_equal(tor_op_begin(&f->op, seq, &call, &why), 0);
	host_forget_sent();
	host_start(&f->ctx, &f->chan);
}

/* From all others. Return: how many acknowledgements leave as it begins. */
static u32 begin_gather(struct fixture *f, u32 seq)
{
	begin(f, seq, TORCOLL_GATHER, TORCOLL_DIRECT, RANKS);
	return host.nsent;
}

/* Who was told to wait and could not be remembered is invited as the round begins, and not in ops after that. */
static void tor_chan_run__who_was_forgotten_is_invited(void **state)
{
	struct fixture *f = *state;
	u8 payload[4] = { 0 };
	struct tor_bytes bytes = { payload, sizeof(payload) };
	struct tor_hdr h = { .op = 2, .digest = 1, .length = sizeof(payload), .stamp = 1 };
	u32 i;

	for (i = 0; i < TOR_WAITING_MAX; i++) {
		h.where.round = 8 + i;
		tor_chan_data(&f->ctx, &f->chan, 1, &h, &bytes, 1);
	}
	h.where.round = 20;
	tor_chan_data(&f->ctx, &f->chan, 2, &h, &bytes, 1);
	/* takes the place of another, of rank 1 */
	h.where.round = 0;
	tor_chan_data(&f->ctx, &f->chan, 3, &h, &bytes, 1);
	host_recycle(&f->ctx, &f->chan);
	assert_int_equal(f->chan.nwaiting, 0);
	assert_int_equal(begin_gather(f, 2), 2);
	assert_int_equal(host.sent[0].dst + host.sent[1].dst, 1 + 2);
	h.digest = f->op.digest;
	for (i = 1; i < RANKS; i++)
		tor_chan_data(&f->ctx, &f->chan, i, &h, &bytes, 1);
	assert_int_equal(f->chan.state, TOR_CHAN_CLOSED);
	host_recycle(&f->ctx, &f->chan);
	assert_int_equal(begin_gather(f, 3), 0);
	tor_chan_abort(&f->ctx, &f->chan);
}

/* Return: of the frames that leave, how many ask for an acknowledgement. */
static u32 begin_broadcast(struct fixture *f, u32 seq)
{
	enum tor_counter reason;
	struct tor_hdr h;
	u32 i, n = 0;

	/* an entry of its own */
	f->ctx = (struct tor_ctx){ .now = f->ctx.now };
	begin(f, seq, TORCOLL_BROADCAST, TORCOLL_TREE, 1);
	for (i = 0; i < host.nsent; i++) {
		assert_int_equal(tor_wire_parse(host.sent[i].bytes, host.sent[i].len, host.sent[i].len, &h, &reason), 0);
		n += !!(h.flags & TORCOLL_FLAG_ACK);
	}
	return n;
}

static void end_broadcast(struct fixture *f)
{
	u32 i, n = host.nsent;

	for (i = 0; i < n; i++)
		acknowledge(f, &host.sent[i]);
	assert_int_equal(f->chan.state, TOR_CHAN_CLOSED);
	host_recycle(&f->ctx, &f->chan);
}

/* An op whose call is waited for until it asks again. */
static void stall(struct fixture *f, u32 seq)
{
	u32 n, before = host.counters[TOR_C_TX_PROBES];

	assert_int_equal(begin_broadcast(f, seq), 0);
	n = host.nsent;
	tor_chan_hurry(&f->chan);
	f->ctx = (struct tor_ctx){ .now = f->ctx.now + 2 * TOR_HURRY };
	tor_chan_timer(&f->ctx, &f->chan);
	assert_int_equal(host.counters[TOR_C_TX_PROBES], before + n);
	end_broadcast(f);
}

/* Ops from @seq on. Return how many there are of which all frames ask at once. */
static u32 count_eager(struct fixture *f, u32 *seq)
{
	u32 i;

	for (i = 0; begin_broadcast(f, *seq) == host.nsent; *seq += 3, i++)
		end_broadcast(f);
	end_broadcast(f);
	*seq += 3;
	/* some ask in any case */
	*seq += *seq % TOR_MEASURE_EVERY ? 0 : 3;
	return i;
}

/*
 * Where nobody answered until asked, as a call waited for the slot, the next ops ask at once, whatever their slots, but
 * not for ever: longer if that happens again soon.
 */
static void tor_chan_hurry__the_next_ops_ask(void **state)
{
	struct fixture *f = *state;
	u32 i, few, seq = 1;

	f->comm.depth = 3;
	few = TOR_EAGER_TURNS * f->comm.depth;
	for (i = 1; i < RANKS; i++)
		tor_comm_path(&f->comm, i)->srtt = 100;
	assert_int_equal(begin_broadcast(f, seq), 0);
	assert_in_range(host.nsent, 2, 3);
	/* answered in time */
	tor_chan_hurry(&f->chan);
	end_broadcast(f);
	stall(f, seq += 3);
	seq += 3;
	assert_in_range(count_eager(f, &seq), few - 1, few);
	stall(f, seq);
	seq += 3;
	assert_in_range(count_eager(f, &seq), 4 * few - 1, 4 * few);
	for (i = 0; i < 4 * few; i++, seq += 3) {
		begin_broadcast(f, seq);
		end_broadcast(f);
	}
	seq += seq % TOR_MEASURE_EVERY ? 0 : 3;
	stall(f, seq);
	seq += 3;
	assert_in_range(count_eager(f, &seq), few - 1, few);
}

/* Channels count and set without a lock: what is left if both do at once. */
static void tor_comm_count_op__a_race_does_not_last(void **state)
{
	struct fixture *f = *state;
	u32 i, n = 0, seq = 1;

	f->comm.depth = 3;
	for (i = 1; i < RANKS; i++)
		tor_comm_path(&f->comm, i)->srtt = 100;
	f->comm.eager = 4 * TOR_EAGER_TURNS * 3;
	f->comm.eager_ops = 0;
	for (i = 0; i < 20000; i++, seq += 3) {
		bool all = begin_broadcast(f, seq) == host.nsent;

		n += all && i >= 19000;
		end_broadcast(f);
	}
	assert_in_range(n, 0, 100);
}

/* A frame that asks several times is answered once. */
static void tor_chan_ack__one_answer(void **state)
{
	struct fixture *f = *state;
	struct tor_ack ack = { .comm = 77, .op = 5, .digest = 1, .state = TORCOLL_ACK_OK };
	u32 i;

	for (i = 0; i < 32; i++)
		tor_chan_ack(&f->ctx, &f->chan, 1, &ack);
	assert_int_equal(host.nsent, 1);
	/* the next frame */
	f->ctx.answered = false;
	tor_chan_ack(&f->ctx, &f->chan, 1, &ack);
	assert_int_equal(host.nsent, 2);
	f->ctx.answered = false;
	tor_comm_fail(&f->ctx, &f->comm, -ECANCELED, 0, 1);
	for (i = 0; i < 32; i++)
		tor_chan_ack(&f->ctx, &f->chan, 1, &ack);
	assert_int_equal(host.nsent, 3);
}

/* Who is late is asked of so many ranks at a time, and all have as long to answer. */
static void tor_chan_timer__asks_some_ranks_at_a_time(void **state)
{
	struct fixture *f = *state;
	u64 acks, last = 0;

	host.budget = (struct tor_budget){ BLOCK, 1 };
	f->op.deadline = f->ctx.now + NSEC_PER_MSEC;
	host_start(&f->ctx, &f->chan);
	f->ctx.now = f->op.deadline;
	while (!atomic_read(&f->comm.failed)) {
		acks = host.counters[TOR_C_TX_ACKS];
		tor_chan_timer(&f->ctx, &f->chan);
		assert_in_range(host.counters[TOR_C_TX_ACKS] - acks, 0, 1);
		if (host.counters[TOR_C_TX_ACKS] > acks)
			last = f->ctx.now;
		enter(f);
		f->ctx.now = max(f->ctx.now, f->chan.give_up);
	}
	assert_int_equal(host.counters[TOR_C_TX_ACKS], RANKS - 1);
	assert_int_equal(f->comm.error, -ETIMEDOUT);
	assert_true(last && f->ctx.now >= last + TOR_LATE_WAIT);
}

/* Of a round with very many peers, most records are the user's; the others are enough to go on. */
static void tor_chan_tx_get__charged_beyond_some(void **state)
{
	const u32 most = 40, unpaid = 16, before = host.outstanding;
	struct fixture *f = *state;
	struct tor_tx *tx, *next;
	u32 i;

	for (i = 0; i < most; i++)
		assert_non_null(tor_chan_tx_get(&f->chan));
	assert_in_range(host.kept, (most - unpaid) * sizeof(*tx), (most - unpaid) * 1024);
	host.keep_most = host.kept;
	assert_null(tor_chan_tx_get(&f->chan));
	list_for_each_entry_safe(tx, next, &f->chan.tx, list)
		tor_chan_tx_put(&f->chan, tx);
	assert_int_equal(host.kept, 0);
	assert_in_range(host.outstanding, before, before + unpaid);
	host.keep_most = 0;
	for (i = 0; i < unpaid; i++)
		assert_non_null(tor_chan_tx_get(&f->chan));
	assert_null(tor_chan_tx_get(&f->chan));
	host.keep_most = U64_MAX;
}

static void tor_chan_rx_get__charged_beyond_some(void **state)
{
	const u32 most = 40, unpaid = 16, before = host.outstanding;
	struct fixture *f = *state;
	struct tor_rx *rx, *next;
	u32 i;

	assert_in_range(f->op.plan.shape.peers, 1, unpaid);
	for (i = 0; i < most; i++)
		assert_non_null(tor_chan_rx_get(&f->chan, 1));
	assert_in_range(host.kept, (most - unpaid) * sizeof(*rx), (most - unpaid) * 1024);
	host.keep_most = host.kept;
	assert_null(tor_chan_rx_get(&f->chan, 1));
	list_for_each_entry_safe(rx, next, &f->chan.rx, list) {
		rx->frames = 1;
		tor_chan_rx_put(&f->chan, rx);
	}
	host.keep_most = U64_MAX;
	assert_int_equal(host.kept, 0);
	assert_in_range(host.outstanding, before, before + unpaid);
}

/* Early frames do not take the records that the present round needs at the limit. */
static void tor_chan_start__early_frames_leave_records(void **state)
{
	struct fixture *f = *state;
	u32 round, i;

	for (round = 1; round <= 16; round++)
		assert_int_equal(receive_of(f, 1, round, TORCOLL_FLAG_WHOLE), 0);
	host.keep_most = host.kept;
	host.budget = (struct tor_budget){ BLOCK, 64 };
	host_start(&f->ctx, &f->chan);
	for (i = 0; i < 100 && !f->chan.entered; i++) {
		f->ctx = (struct tor_ctx){ .now = f->ctx.now + TOR_RETRY };
		tor_chan_timer(&f->ctx, &f->chan);
	}
	host.keep_most = U64_MAX;
	assert_true(f->chan.entered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(tor_chan_start__leaves_long_pieces_to_a_process),
		TEST(tor_chan_work__does_an_element_at_least),
		TEST(tor_chan_work__is_not_needed_for_what_is_short),
		TEST(tor_chan_work__nothing_is_done_twice_without_memory),
		TEST(tor_chan_abort__ends_what_was_put_off),
		TEST(tor_chan_release__some_kept_frames_at_a_time),
		TEST(tor_chan_push__some_frames_at_a_time),
		TEST(tor_chan_round_done__who_only_sends_does_not_run_ahead),
		TEST(tor_chan_run__some_rounds_at_a_time),
		TEST(tor_chan_run__early_frames_count),
		TEST(tor_chan_data__the_nearest_wait),
		TEST(tor_chan_run__who_was_forgotten_is_invited),
		TEST(tor_chan_hurry__the_next_ops_ask),
		TEST(tor_comm_count_op__a_race_does_not_last),
		TEST(tor_chan_data__the_nearest_round_waits),
		TEST(tor_chan_data__whole_transfers_do_not_wait),
		TEST(tor_chan_ack__one_answer),
		TEST(tor_chan_timer__asks_some_ranks_at_a_time),
		TEST(tor_chan_tx_get__charged_beyond_some),
		TEST(tor_chan_rx_get__charged_beyond_some),
		TEST(tor_chan_start__early_frames_leave_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
