// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Acknowledgements that wait for company: none is lost, none is said twice, none waits for ever.
 */
#include "host_env.h"
#include "made_paths.h"

#include "core/engine/chan.h"

#define RANKS	(TOR_DUE_MAX / TOR_DUE_WORDS + 2)

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
	tor_chan_pay(&ctx, &chan[1]);
	assert_int_equal(host.nsent, 0);
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

static void tor_chan_pay__sends_what_found_no_company(void **state)
{
	struct tor_ack acks[8];

	(void)state;
	tor_chan_owe(&ctx, &chan[0], 1, 5, 0);
	tor_chan_owe(&ctx, &chan[0], 3, 5, 7);
	tor_chan_arm(&chan[0]);
	assert_true(host.timer_when == ctx.now + TOR_ACK_DELAY);
	ctx.now += TOR_ACK_DELAY;
	tor_chan_timer(&ctx, &chan[0]);
	assert_int_equal(host.nsent, 2);
	assert_int_equal(acks_of(0, acks), 1);
	assert_int_equal(host.sent[0].dst, 1);
	assert_int_equal(acks_of(1, acks), 1);
	assert_int_equal(acks[0].where.round, 7);
	assert_int_equal(host.sent[1].dst, 3);
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
	tor_chan_pay(&ctx, &chan[0]);
	tor_chan_pay(&ctx, &chan[1]);
	assert_int_equal(host.nsent, 1);
}

/* A channel remembers only so many; what it cannot remember leaves at once, but not because of what has found company. */
static void tor_chan_owe__more_than_a_channel_remembers(void **state)
{
	struct tor_ack acks[8];
	u32 i;

	(void)state;
	for (i = 0; i < TOR_DUE_MAX + 5; i++) {
		tor_chan_owe(&ctx, &chan[0], 1, i, 0);
		assert_int_equal(tor_comm_take_due(&comm, 1, acks, TOR_DUE_WORDS), 1);
	}
	assert_int_equal(host.nsent, 0);
	for (i = 0; i < TOR_DUE_MAX; i++)
		tor_chan_owe(&ctx, &chan[0], i / TOR_DUE_WORDS, i, 0);
	assert_int_equal(host.nsent, 0);
	tor_chan_owe(&ctx, &chan[0], RANKS - 1, i, 0);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(host.sent[0].dst, RANKS - 1);
	assert_int_equal(acks_of(0, acks), 1);
	ctx.now += TOR_ACK_DELAY;
	tor_chan_pay(&ctx, &chan[0]);
	/* to each rank those that are owed to it, together */
	assert_int_equal(host.nsent, 1 + TOR_DUE_MAX / TOR_DUE_WORDS);
}

/* Each has its time: that one was owed long ago is no reason to send another. */
static void tor_chan_pay__leaves_what_is_not_due(void **state)
{
	u64 first;

	(void)state;
	tor_chan_owe(&ctx, &chan[0], 1, 5, 0);
	first = ctx.now + TOR_ACK_DELAY;
	ctx.now += TOR_ACK_DELAY / 2;
	tor_chan_owe(&ctx, &chan[0], 2, 5, 0);
	tor_chan_arm(&chan[0]);
	assert_true(host.timer_when == first);
	ctx.now = first;
	tor_chan_timer(&ctx, &chan[0]);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(host.sent[0].dst, 1);
	assert_true(host.timer_when == first + TOR_ACK_DELAY / 2);
	ctx.now = host.timer_when;
	tor_chan_timer(&ctx, &chan[0]);
	assert_int_equal(host.nsent, 2);
	assert_int_equal(host.sent[1].dst, 2);
	assert_int_equal(chan[0].due_at, 0);
}

/* The comm failed: nobody is told anything any more. */
static void tor_chan_abort__forgets_what_is_owed(void **state)
{
	(void)state;
	tor_chan_owe(&ctx, &chan[0], 1, 5, 0);
	tor_chan_abort(&ctx, &chan[0]);
	tor_chan_pay(&ctx, &chan[0]);
	assert_int_equal(host.nsent, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tor_chan_owe__waits_and_is_taken_along, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_owe__a_message, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_pay__sends_what_found_no_company, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_owe__full, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_owe__more_than_a_channel_remembers, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_pay__leaves_what_is_not_due, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_abort__forgets_what_is_owed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
