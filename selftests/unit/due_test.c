// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Acknowledgements that wait for company: none is lost, none is said twice, none waits for ever. And the timers of
 * lanes, which have nothing to do with them.
 */
#include "host_env.h"
#include "made_paths.h"

#include "core/engine/chan.h"

#define RANKS	(MADE_GROUPS * TOR_PATH_GROUP)

static struct tor_node node;
static struct tor_comm comm;
static struct tor_op op;
static struct tor_chan chan[2];
static struct made_paths path;
static u32 epoch[RANKS];
static struct tor_ctx ctx;

static int setup(void **state)
{
	u32 side = RANKS;

	(void)state;
	host_reset();
	memset(&node, 0, sizeof(node));
	memset(&comm, 0, sizeof(comm));
	memset(chan, 0, sizeof(chan));
	assert_int_equal(tor_torus_init(&node.torus, 1, &side, 1), 0);
	comm.node = &node;
	comm.tag = 77;
	comm.ranks = RANKS;
	comm.unit = 1024;
	comm.depth = 8;
	comm.path = made_paths(&path);
	comm.epoch = epoch;
	op.comm = &comm;
	tor_chan_init(&chan[0], &op, 0, 5);
	tor_chan_init(&chan[1], &op, 1, 5);
	ctx.now = 1000;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	host_check_idle();
	return 0;
}

/* Let the timer expire, if it was requested for now. */
static void visit(void)
{
	if (!host.pay_when || host.pay_when > ctx.now)
		return;
	assert_ptr_equal(host.pay_comm, &comm);
	host.pay_when = 0;
	tor_comm_pay(&ctx, &comm);
}

/* Let time pass, and the timer expire when it should. */
static void pass(u64 ns)
{
	u64 end = ctx.now + ns;

	while (host.pay_when && host.pay_when <= end) {
		ctx.now = host.pay_when;
		visit();
	}
	ctx.now = end;
}

/* The acknowledgements of sent frame @i: (op, channel, round) each, and all said to be done. */
static u32 acks_of(u32 i, struct tor_ack *acks)
{
	const struct torcoll_hdr *h = (const void *)host.sent[i].bytes;
	enum tor_counter why;
	u32 k;

	for (k = 0; k < h->acks; k++) {
		assert_true(tor_wire_ack(host.sent[i].bytes, k, &acks[k], &why));
		assert_int_equal(acks[k].comm, 77);
		assert_int_equal(acks[k].state, TORCOLL_ACK_DONE);
	}
	return h->acks;
}

static void tor_chan_owe__waits_and_is_taken_along(void **state)
{
	struct tor_ack acks[8];

	(void)state;
	tor_chan_owe(&ctx, &chan[1], 2, 0x89abcdef, 0x1234);
	assert_int_equal(host.nsent, 0);
	assert_int_equal(tor_comm_take_due(&comm, 1, acks, TOR_DUE_WORDS), 0);
	assert_int_equal(tor_comm_take_due(&comm, 2, acks, TOR_DUE_WORDS), 1);
	assert_int_equal(acks[0].op, 0x89abcdef);
	assert_int_equal(acks[0].where.channel, 1);
	assert_int_equal(acks[0].where.round, 0x1234);
	assert_int_equal(acks[0].state, TORCOLL_ACK_DONE);
	/* and once only, also when time is up */
	assert_int_equal(tor_comm_take_due(&comm, 2, acks, TOR_DUE_WORDS), 0);
	pass(10 * TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 0);
	assert_int_equal(host.pay_when, 0);
}

/* Of a message, its role and pair are owed. */
static void tor_chan_owe__a_message(void **state)
{
	struct tor_ack acks[8];

	(void)state;
	chan[0].op->role = TOR_ROLE_RECV;
	chan[0].op->pair = 0xfedc;
	tor_chan_owe(&ctx, &chan[0], 2, 0x89abcdef, 0);
	chan[0].op->role = TOR_ROLE_NONE;
	chan[0].op->pair = 0;
	assert_int_equal(tor_comm_take_due(&comm, 2, acks, TOR_DUE_WORDS), 1);
	assert_int_equal(acks[0].op, 0x89abcdef);
	assert_int_equal(acks[0].where.role, TOR_ROLE_RECV);
	assert_int_equal(acks[0].where.pair, 0xfedc);
	assert_int_equal(acks[0].where.round, 0);
}

static void tor_comm_pay__sends_what_found_no_company(void **state)
{
	struct tor_ack acks[8];

	(void)state;
	tor_chan_owe(&ctx, &chan[0], 1, 5, 0);
	tor_chan_owe(&ctx, &chan[0], 3, 5, 7);
	assert_true(host.pay_when == ctx.now + TOR_ACK_DELAY);
	pass(TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 0);
	pass(TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 2);
	assert_int_equal(acks_of(0, acks), 1);
	assert_int_equal(acks[0].op, 5);
	assert_int_equal(acks[0].where.round, 0);
	assert_int_equal(host.sent[0].dst, 1);
	assert_int_equal(acks_of(1, acks), 1);
	assert_int_equal(acks[0].where.round, 7);
	assert_int_equal(host.sent[1].dst, 3);
	/* nothing is owed: no timer */
	assert_int_equal(host.pay_when, 0);
}

/* No room for another one: all of them leave, in one frame. */
static void tor_chan_owe__full(void **state)
{
	struct tor_ack acks[8];
	u32 i;

	(void)state;
	for (i = 0; i <= TOR_DUE_WORDS; i++) {
		assert_int_equal(host.nsent, 0);
		tor_chan_owe(&ctx, &chan[i % 2], 1, 5 + i, 0);
	}
	assert_int_equal(host.nsent, 1);
	assert_int_equal(acks_of(0, acks), TOR_DUE_WORDS + 1);
	assert_int_equal(acks[0].op + acks[1].op + acks[2].op, 5 + 6 + 7);
	pass(10 * TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 1);
}

/* An answer leaves for that rank: what is owed to it goes along, as nobody knows what leaves next. */
static void tor_chan_send_ack__takes_along_what_is_owed(void **state)
{
	struct tor_ack acks[8];
	u32 i, k;

	(void)state;
	for (i = 0; i < TOR_DUE_WORDS; i++)
		tor_chan_owe(&ctx, &chan[0], 1, 5 + i, 0);
	tor_chan_send_ack(&ctx, &chan[0], 2, 16, 0, NULL, TORCOLL_ACK_DONE, 0);
	tor_chan_send_ack(&ctx, &chan[0], 1, 16, 0, NULL, TORCOLL_ACK_DONE, 0);
	assert_int_equal(host.nsent, 2);
	assert_int_equal(acks_of(0, acks), 1);
	assert_int_equal(acks_of(1, acks), 1 + TOR_DUE_WORDS);
	assert_int_equal(acks[0].op, 16);
	for (k = 0; k < TOR_DUE_WORDS; k++)
		assert_int_equal(acks[1 + k].op, 5 + k);
	pass(10 * TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 2);
}

/* There are notes for so many ranks; to others it leaves at once. To each it leaves once. */
static void tor_chan_owe__to_more_ranks_than_notes(void **state)
{
	u32 i, k, sent[RANKS] = { 0 };
	struct tor_ack acks[8];

	(void)state;
	for (k = 0; k < 2; k++)
		for (i = 1; i < RANKS; i++)
			tor_chan_owe(&ctx, &chan[0], i, 2 * i + k, 0);
	/* those of two ranks whose notes have the same place: RANKS are twice as many */
	assert_in_range(host.nsent, RANKS - 1 - TOR_NOTES, 2 * (RANKS - 1 - TOR_NOTES));
	pass(2 * TOR_ACK_DELAY);
	assert_int_equal(host.pay_when, 0);
	for (i = 0; i < host.nsent; i++) {
		for (k = acks_of(i, acks); k--;)
			assert_int_equal(acks[k].op / 2, host.sent[i].dst);
		sent[host.sent[i].dst] += acks_of(i, acks);
	}
	for (i = 1; i < RANKS; i++)
		assert_int_equal(sent[i], 2);
}

/* A few ranks at distances of powers of two, as those of most plans, have places of their own. */
static void tor_chan_owe__to_ranks_far_apart(void **state)
{
	u32 i;

	(void)state;
	for (i = 1; i < RANKS; i *= 2)
		tor_chan_owe(&ctx, &chan[0], i, 1, 0);
	tor_chan_owe(&ctx, &chan[0], RANKS - 1, 1, 0);
	assert_int_equal(host.nsent, 0);
}

/* Each has its time: that one was owed long ago is no reason to send another. */
static void tor_comm_pay__leaves_what_is_not_due(void **state)
{
	u64 first;

	(void)state;
	tor_chan_owe(&ctx, &chan[0], 1, 5, 0);
	first = ctx.now;
	pass(TOR_ACK_DELAY);
	tor_chan_owe(&ctx, &chan[0], 2, 5, 0);
	pass(TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(host.sent[0].dst, 1);
	assert_true(host.pay_when == first + 3 * TOR_ACK_DELAY);
	pass(TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 2);
	assert_int_equal(host.sent[1].dst, 2);
	assert_int_equal(host.pay_when, 0);
}

/* Ops follow each other: what one owes leaves with the next, and no frame for it alone. */
static void tor_comm_pay__sends_nothing_while_frames_leave(void **state)
{
	struct tor_ack acks[8];
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++) {
		tor_chan_owe(&ctx, &chan[0], 1, i, 0);
		pass(TOR_ACK_DELAY / 2);
		assert_int_equal(tor_comm_take_due(&comm, 1, acks, TOR_DUE_WORDS), 1);
		assert_int_equal(acks[0].op, i);
	}
	assert_int_equal(host.nsent, 0);
}

/* The frame that took them along did not leave: they are owed again. */
static void tor_comm_put_due__sent_when_time_is_up(void **state)
{
	struct tor_ack acks[8];

	(void)state;
	tor_chan_owe(&ctx, &chan[0], 1, 5, 3);
	assert_int_equal(tor_comm_take_due(&comm, 1, acks, TOR_DUE_WORDS), 1);
	pass(TOR_ACK_DELAY);
	assert_int_equal(host.pay_when, 0);
	tor_comm_put_due(&ctx, &comm, 1, acks, 1);
	pass(2 * TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(acks_of(0, acks), 1);
	assert_int_equal(acks[0].op, 5);
	assert_int_equal(acks[0].where.round, 3);
}

/* The same where another rank has the place of its note, or others have its words: it leaves at once, and is not lost. */
static void tor_comm_put_due__where_others_are(void **state)
{
	struct tor_ack acks[8];
	u32 i, k, sent = 0;

	(void)state;
	for (i = 2; i < RANKS; i++) {
		tor_chan_owe(&ctx, &chan[0], 1, 5, 0);
		assert_int_equal(tor_comm_take_due(&comm, 1, acks, TOR_DUE_WORDS), 1);
		pass(TOR_ACK_DELAY);
		assert_int_equal(host.pay_when, 0);
		tor_chan_owe(&ctx, &chan[0], i, 6, 0);
		tor_comm_put_due(&ctx, &comm, 1, acks, 1);
		pass(2 * TOR_ACK_DELAY);
	}
	for (k = 0; k <= TOR_DUE_WORDS; k++) {
		tor_chan_owe(&ctx, &chan[0], 1, 7 + k, 0);
		if (!k)
			tor_comm_take_due(&comm, 1, acks, TOR_DUE_WORDS);
	}
	tor_comm_put_due(&ctx, &comm, 1, acks, 1);
	pass(2 * TOR_ACK_DELAY);
	for (i = 0; i < host.nsent; i++)
		if (host.sent[i].dst == 1)
			sent += acks_of(i, acks);
	assert_int_equal(sent, RANKS - 2 + 1 + TOR_DUE_WORDS);
}

/* The comm failed: nobody is told anything any more. */
static void tor_comm_pay__failed_comm_owes_nothing(void **state)
{
	(void)state;
	tor_chan_owe(&ctx, &chan[0], 1, 5, 0);
	atomic_set(&comm.failed, 1);
	pass(10 * TOR_ACK_DELAY);
	assert_int_equal(host.nsent, 0);
	assert_int_equal(host.pay_when, 0);
}

/* The timer of a lane that has ended its op is left alone; the next op starts no other that is later. */
static void tor_chan_arm__leaves_a_timer_that_comes_too_soon(void **state)
{
	(void)state;
	chan[0].state = TOR_CHAN_RUNNING;
	chan[0].nudge = 5000;
	tor_chan_arm(&chan[0]);
	assert_true(host.timer_when == 5000);
	host.timer_when = 0;
	chan[0].state = TOR_CHAN_IDLE;
	tor_chan_arm(&chan[0]);
	chan[0].state = TOR_CHAN_RUNNING;
	chan[0].nudge = 6000;
	tor_chan_arm(&chan[0]);
	assert_int_equal(host.timer_when, 0);
	chan[0].nudge = 4000;
	tor_chan_arm(&chan[0]);
	assert_true(host.timer_when == 4000);
	/* once it has come, for nothing, only what waits starts it */
	ctx.now = 4000;
	chan[0].state = TOR_CHAN_IDLE;
	host.timer_when = 0;
	tor_chan_timer(&ctx, &chan[0]);
	assert_int_equal(host.timer_when, 0);
	chan[0].state = TOR_CHAN_RUNNING;
	chan[0].nudge = 6000;
	tor_chan_arm(&chan[0]);
	assert_true(host.timer_when == 6000);
	chan[0].state = TOR_CHAN_IDLE;
}

#define CASE(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(tor_chan_owe__waits_and_is_taken_along),
		CASE(tor_chan_owe__a_message),
		CASE(tor_chan_owe__full),
		CASE(tor_chan_send_ack__takes_along_what_is_owed),
		CASE(tor_chan_owe__to_more_ranks_than_notes),
		CASE(tor_chan_owe__to_ranks_far_apart),
		CASE(tor_comm_put_due__sent_when_time_is_up),
		CASE(tor_comm_put_due__where_others_are),
		CASE(tor_comm_pay__sends_what_found_no_company),
		CASE(tor_comm_pay__leaves_what_is_not_due),
		CASE(tor_comm_pay__sends_nothing_while_frames_leave),
		CASE(tor_comm_pay__failed_comm_owes_nothing),
		CASE(tor_chan_arm__leaves_a_timer_that_comes_too_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
