// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Turns of a slot: channels that its ops do not use cost them nothing, and serve the right op for whatever arrives.
 */
#include <pthread.h>

#include "host_env.h"
#include "made_paths.h"

#include "core/engine/chan.h"

#define RANKS		4
#define CHANNELS	4
#define DEPTH		2
#define TURNS		100000

static struct tor_node node;
static struct tor_comm comm;
static struct tor_op op;
static struct tor_chan chan[CHANNELS];
static struct made_paths path;
static u32 epoch[RANKS];
static struct tor_ctx ctx;
static u8 bytes[4];
static struct tor_mem data = { .data = bytes, .len = sizeof(bytes) };
static struct tor_mem temp = { .data = bytes, .len = sizeof(bytes) };

static int setup(void **state)
{
	static const u32 side = RANKS;
	struct tor_torus torus;
	u32 i;

	(void)state;
	host_reset();
	memset(&comm, 0, sizeof(comm));
	memset(&op, 0, sizeof(op));
	memset(&ctx, 0, sizeof(ctx));
	assert_int_equal(tor_torus_init(&torus, 1, &side, 2), 0);
	assert_int_equal(tor_node_init(&node, &torus, 1, 0), 0);
	node.checksum_payload = false;
	comm.node = &node;
	comm.tag = 77;
	comm.ranks = RANKS;
	comm.unit = 1024;
	comm.depth = DEPTH;
	comm.channels = CHANNELS;
	comm.path = made_paths(&path);
	comm.epoch = epoch;
	op.comm = &comm;
	for (i = 0; i < CHANNELS; i++)
		tor_chan_init(&chan[i], &op, i, 1);
	ctx.now = 1000;
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < CHANNELS; i++)
		tor_chan_destroy(&chan[i]);
	tor_node_destroy(&node);
	host_check_idle();
	host_forget_sent();
	return 0;
}

/* Return which channels were visited when op @seq began: it is an allreduce of one channel. */
static u32 begin(u32 seq)
{
	struct tor_call call = {
		.torus = &node.torus,
		.ranks = RANKS,
		.collective = TORCOLL_ALLREDUCE,
		.algorithm = TORCOLL_TREE,
		.type = TORCOLL_I32,
		.redop = TORCOLL_SUM,
		.count = 1,
	};
	const char *why = "";
	u32 i, visited;

	assert_int_equal(tor_op_begin(&op, seq, &call, &why), 0);
	assert_int_equal(op.plan.shape.channels, 1);
	op.data = &data;
	op.temp = &temp;
	visited = tor_turn_begin(&op);
	for (i = 0; i < CHANNELS; i++)
		if (visited & BIT(i))
			tor_chan_start(&ctx, &chan[i]);
	return visited;
}

/* The same of its end. */
static u32 end(void)
{
	u32 i, visited;

	tor_chan_abort(&ctx, &chan[0]);
	visited = tor_turn_end(&op);
	for (i = 0; i < CHANNELS; i++)
		if (visited & BIT(i))
			tor_chan_recycle(&ctx, &chan[i]);
	return visited;
}

static u32 turn(u32 seq)
{
	u32 visited = begin(seq);

	return visited | end();
}

/* A frame of op @seq on channel @i, from rank 1. */
static void frame(u32 i, u32 seq, u32 digest)
{
	struct tor_hdr h = {
		.where.channel = i,
		.op = seq,
		.digest = digest,
		.length = sizeof(bytes),
		.stamp = 1,
	};
	struct tor_bytes payload = { bytes, sizeof(bytes) };

	ctx = (struct tor_ctx){ .now = ctx.now };
	host_forget_sent();
	tor_chan_data(&ctx, &chan[i], 1, &h, &payload, 1);
}

static enum torcoll_ack_state answer(void)
{
	enum tor_counter why;
	struct tor_ack ack;

	assert_int_equal(host.nsent, 1);
	assert_true(tor_wire_ack(host.sent[0].bytes, 0, &ack, &why));
	return ack.state;
}

static void tor_turn_begin__visits_what_is_used(void **state)
{
	(void)state;
	assert_int_equal(turn(1), BIT(0));
	assert_int_equal(turn(3), BIT(0));
	assert_int_equal(begin(5), BIT(0));
	assert_int_equal(chan[2].seq, 1);
	tor_chan_follow(&ctx, &chan[2]);
	assert_int_equal(chan[2].seq, 5);
	assert_int_equal(chan[2].state, TOR_CHAN_CLOSED);
	assert_int_equal(end(), BIT(0) | BIT(2));
	tor_chan_follow(&ctx, &chan[3]);
	assert_int_equal(chan[3].seq, 7);
	assert_int_equal(chan[3].state, TOR_CHAN_IDLE);
	/* neither keeps anything: they are visited once more at most */
	turn(7);
	assert_int_equal(turn(9), BIT(0));
}

/* Channels that serve earlier ops know what was called in the one before. */
static void tor_chan_follow__repeats_and_mismatches(void **state)
{
	u32 digest;

	(void)state;
	turn(1);
	digest = op.digest;
	turn(3);
	turn(5);
	assert_int_equal(begin(7), BIT(0));
	frame(1, 5, digest);
	assert_int_equal(answer(), TORCOLL_ACK_DONE);
	frame(1, 7, digest);
	assert_int_equal(answer(), TORCOLL_ACK_DONE);
	frame(1, 9, digest);
	assert_int_equal(answer(), TORCOLL_ACK_NOT_READY);
	assert_false(tor_comm_failed(&comm));
	frame(2, 5, digest + 1);
	assert_true(tor_comm_failed(&comm));
	assert_int_equal(comm.error, -EPROTO);
	assert_int_equal(comm.error_op, 5);
}

static void tor_chan_follow__compares_what_came_early(void **state)
{
	(void)state;
	turn(1);
	turn(3);
	frame(3, 5, op.digest + 1);
	assert_false(tor_comm_failed(&comm));
	assert_int_equal(begin(5), BIT(0) | BIT(3));
	assert_true(tor_comm_failed(&comm));
	assert_int_equal(comm.error_op, 5);
}

/* What was kept for a turn is dropped with it, and for as long its channel is visited. */
static void tor_turn_end__drops_what_came_early(void **state)
{
	(void)state;
	turn(1);
	frame(3, 3, op.digest);
	assert_int_equal(chan[3].nearly, 1);
	assert_int_equal(begin(3), BIT(0) | BIT(3));
	/* the next one's come before this channel is visited */
	tor_chan_abort(&ctx, &chan[0]);
	assert_int_equal(tor_turn_end(&op), BIT(0) | BIT(3));
	frame(3, 5, op.digest);
	tor_chan_recycle(&ctx, &chan[3]);
	tor_chan_recycle(&ctx, &chan[0]);
	assert_int_equal(chan[3].seq, 5);
	assert_int_equal(chan[3].nearly, 1);
	assert_int_equal(turn(5), BIT(0) | BIT(3));
	assert_int_equal(chan[3].nearly, 0);
	assert_int_equal(turn(7), BIT(0));
}

static void tor_turn_end__invites_those_who_wait(void **state)
{
	(void)state;
	turn(1);
	frame(2, 7, op.digest);
	assert_int_equal(answer(), TORCOLL_ACK_NOT_READY);
	host_forget_sent();
	assert_int_equal(turn(3), BIT(0) | BIT(2));
	assert_int_equal(chan[2].nwaiting, 1);
	begin(5);
	ctx = (struct tor_ctx){ .now = ctx.now };
	host_forget_sent();
	assert_int_equal(end(), BIT(0) | BIT(2));
	assert_int_equal(answer(), TORCOLL_ACK_OK);
	assert_int_equal(chan[2].nwaiting, 0);
	assert_int_equal(turn(7), BIT(0));
}

static void tor_turn__wraps_around(void **state)
{
	u32 seq = 1, i;

	(void)state;
	comm.depth = 1;
	atomic_set(&op.turn.number, ~0U - 3);
	for (i = 0; i < CHANNELS; i++)
		chan[i].turn = ~0U - 3;
	for (; seq < 5; seq++) {
		begin(seq);
		assert_int_equal(chan[0].seq, seq);
		end();
		assert_int_equal(chan[0].seq, seq + 1);
		assert_int_equal(chan[0].past, op.digest);
		assert_int_equal(tor_chan_past_call(&chan[0])->count, op.stated.count);
	}
	tor_chan_follow(&ctx, &chan[1]);
	assert_int_equal(chan[1].seq, seq);
}

/* With one slot there are twice as many numbers of ops as of turns, which have two each. */
static void tor_turn__more_than_numbers(void **state)
{
	u32 far = 1U << 31;

	(void)state;
	comm.depth = 1;
	turn(1);
	tor_chan_follow(&ctx, &chan[2]);
	assert_int_equal(chan[2].seq, 2);
	turn(2);
	/* as many more as there are numbers, which the channel that is used has followed */
	chan[0].seq = 3 + far;
	turn(3 + far);
	assert_int_equal(begin(4 + far), BIT(0));
	assert_int_equal(chan[0].seq, 4 + far);
	tor_chan_follow(&ctx, &chan[1]);
	assert_int_equal(chan[1].seq, 4 + far);
	tor_chan_follow(&ctx, &chan[2]);
	assert_int_equal(chan[2].seq, 4 + far);
	end();
}

/* --- frames and turns at the same time --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int over, wrong, closed, idle;

static u32 digest_of(u32 seq)
{
	return seq | 1U << 31;
}

/* Frames that arrive on channel 1: what they read of the op is that of the op which the channel serves, all the time. */
static void *arrive(void *arg)
{
	struct tor_chan *c = &chan[1];
	struct tor_ctx mine = { .now = 1000 };
	u32 i;

	(void)arg;
	while (!atomic_load(&over)) {
		pthread_mutex_lock(&lock);
		tor_chan_follow(&mine, c);
		for (i = 0; i < 20; i++) {
			if (c->state == TOR_CHAN_CLOSED &&
			    READ_ONCE(op.digest) != digest_of(c->seq))
				atomic_fetch_add(&wrong, 1);
			if (c->past && c->past != digest_of(c->seq - DEPTH))
				atomic_fetch_add(&wrong, 1);
		}
		atomic_fetch_add(c->state == TOR_CHAN_CLOSED ? &closed : &idle, 1);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void visit(u32 visited, void (*fn)(struct tor_ctx *ctx, struct tor_chan *chan))
{
	if (!(visited & BIT(1)))
		return;
	pthread_mutex_lock(&lock);
	fn(&ctx, &chan[1]);
	pthread_mutex_unlock(&lock);
}

/* What is told of a call, without a lock, is that call as a whole, or nothing. */
static void *ask(void *arg)
{
	struct tor_wire_call call;
	u32 seq;

	(void)arg;
	while (!atomic_load(&over)) {
		seq = READ_ONCE(op.seq) - DEPTH * (atomic_load(&idle) % 3);
		if (!tor_turn_call(&op, seq, &call)) {
			atomic_fetch_add(&idle, 1);
			continue;
		}
		if (call.count != seq || call.rank != seq || call.root != seq)
			atomic_fetch_add(&wrong, 1);
		atomic_fetch_add(&closed, 1);
	}
	return NULL;
}

static void state_call(u32 n)
{
	WRITE_ONCE(op.stated.count, n);
	WRITE_ONCE(op.stated.rank, n);
	WRITE_ONCE(op.stated.root, n);
}

static void tor_turn_call__beside_turns(void **state)
{
	pthread_t thread;
	u32 i, seq;

	(void)state;
	atomic_store(&over, 0);
	atomic_store(&wrong, 0);
	atomic_store(&closed, 0);
	atomic_store(&idle, 0);
	op.plan.shape.channels = 1;
	op.digest = 1;
	assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
	for (i = 0, seq = 1; i < 10 * TURNS || !atomic_load(&closed) || !atomic_load(&idle); i++, seq += DEPTH) {
		WRITE_ONCE(op.seq, seq);
		state_call(seq);
		tor_turn_begin(&op);
		tor_turn_end(&op);
		state_call(0);
	}
	atomic_store(&over, 1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&wrong), 0);
}

/* The op that runs and the one before it; not one that is being begun, nor what others have followed. */
static void tor_turn_call__of_the_last_two(void **state)
{
	struct tor_wire_call call;
	const char *why;

	(void)state;
	assert_false(tor_turn_call(&op, 0, &call));
	begin(1);
	assert_true(tor_turn_call(&op, 1, &call));
	assert_int_equal(call.collective, op.stated.collective);
	end();
	assert_true(tor_turn_call(&op, 1, &call));
	assert_int_equal(tor_op_begin(&op, 3, &op.call, &why), 0);
	assert_false(tor_turn_call(&op, 3, &call));
	assert_true(tor_turn_call(&op, 1, &call));
	tor_turn_begin(&op);
	assert_true(tor_turn_call(&op, 1, &call));
	assert_true(tor_turn_call(&op, 3, &call));
	end();
	begin(5);
	assert_false(tor_turn_call(&op, 1, &call));
	assert_true(tor_turn_call(&op, 3, &call));
	assert_true(tor_turn_call(&op, 5, &call));
}

static void tor_turn__beside_frames(void **state)
{
	pthread_t thread;
	u32 i, seq;

	(void)state;
	op.plan.shape.channels = 1;
	assert_int_equal(pthread_create(&thread, NULL, arrive, NULL), 0);
	for (i = 0, seq = 1; i < TURNS || !atomic_load(&closed) || !atomic_load(&idle); i++, seq += DEPTH) {
		WRITE_ONCE(op.seq, seq);
		WRITE_ONCE(op.digest, digest_of(seq));
		visit(tor_turn_begin(&op), tor_chan_start);
		visit(tor_turn_end(&op), tor_chan_recycle);
		/* the slot is free for another call */
		WRITE_ONCE(op.digest, 1);
	}
	atomic_store(&over, 1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&wrong), 0);
	tor_chan_follow(&ctx, &chan[1]);
	assert_int_equal(chan[1].seq, seq);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tor_turn_begin__visits_what_is_used),
		TEST(tor_chan_follow__repeats_and_mismatches),
		TEST(tor_chan_follow__compares_what_came_early),
		TEST(tor_turn_end__drops_what_came_early),
		TEST(tor_turn_end__invites_those_who_wait),
		TEST(tor_turn__wraps_around),
		TEST(tor_turn__more_than_numbers),
		TEST(tor_turn_call__of_the_last_two),
		TEST(tor_turn__beside_frames),
		TEST(tor_turn_call__beside_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
