// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a slot keeps of the op before: its plan and digest serve the next one that calls the same, and no other. Whatever is called
 * in a slot must begin as in one that was never used.
 */
#include "host_env.h"
#include "made_paths.h"

#include "core/choose/auto.h"
#include "core/engine/chan.h"

#define RANKS	8

static const u32 side[] = { 4, 2 };
static const u32 reversed[RANKS] = { 7, 6, 5, 4, 3, 2, 1, 0 };
static struct tor_node node;
static struct tor_comm comm;
static struct tor_chooser chooser;
static struct made_paths path;
static u32 epoch[RANKS];
static u64 counts[RANKS];

static struct tor_call allreduce(void)
{
	return (struct tor_call){
		.torus = &node.torus,
		.ranks = RANKS,
		.collective = TORCOLL_ALLREDUCE,
		.count = 1000,
		.type = TORCOLL_F32,
		.redop = TORCOLL_SUM,
		.bits = TORCOLL_BITS_AGREE,
	};
}

static int begin(struct tor_op *op, u32 seq, const struct tor_call *call)
{
	const char *why;

	return tor_op_begin(op, seq, call, &why);
}

/* @op begins @call as a slot does that was never used. Return: was it planned anew? */
static bool planned(struct tor_op *op, const struct tor_call *call)
{
	struct tor_op fresh = { .comm = &comm, .role = op->role, .peer = op->peer };
	u64 plans = op->plans;

	assert_int_equal(begin(&fresh, 1, call), 0);
	assert_int_equal(begin(op, 1, call), 0);
	assert_int_equal(op->digest, fresh.digest);
	assert_memory_equal(&op->plan.shape, &fresh.plan.shape, sizeof(fresh.plan.shape));
	assert_memory_equal(&op->plan.grid, &fresh.plan.grid, sizeof(fresh.plan.grid));
	assert_memory_equal(op->plan.family, fresh.plan.family, sizeof(fresh.plan.family));
	assert_int_equal(op->plan.call.algorithm, fresh.plan.call.algorithm);
	assert_int_equal(op->plan.call.count, fresh.plan.call.count);
	assert_ptr_equal(op->plan.call.counts, fresh.plan.call.counts);
	assert_int_equal(op->plan.rank, fresh.plan.rank);
	assert_int_equal(op->stated.algorithm, fresh.stated.algorithm);
	assert_int_equal(op->elem, fresh.elem);
	assert_ptr_equal(op->reduce, fresh.reduce);
	return op->plans != plans;
}

static void tor_op_begin__same_again(void **state)
{
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce();
	u32 i;

	assert_true(planned(&op, &call));
	for (i = 0; i < 3; i++) {
		/* what the op before has left */
		op.digest++;
		op.aborted = true;
		op.input = (struct tor_mem *)&call;
		assert_false(planned(&op, &call));
		assert_false(op.aborted);
		assert_null(op.input);
	}
}

/* A change of anything that is in the request, and back. */
#define CHANGED(member, value)						\
do {									\
	struct tor_call other = allreduce();				\
									\
	assert_true(planned(&op, &call));				\
	other.member = (value);						\
	assert_true(planned(&op, &other));				\
	assert_false(planned(&op, &other));				\
	assert_true(planned(&op, &call));				\
	assert_false(planned(&op, &call));				\
	op.begun.valid = false;						\
} while (0)

static void tor_op_begin__another_call(void **state)
{
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce();

	CHANGED(count, 100000);
	CHANGED(algorithm, TORCOLL_RING);
	CHANGED(collective, TORCOLL_ALLGATHER);
	CHANGED(collective, TORCOLL_BARRIER);
	CHANGED(members, reversed);
	CHANGED(param[TORCOLL_PARAM_EXCLUDE], 1U << TORCOLL_TREE);
	CHANGED(type, TORCOLL_F64);
	CHANGED(redop, TORCOLL_MAX);
	CHANGED(bits, TORCOLL_BITS_ORDERED);
	call.collective = TORCOLL_BROADCAST;
	assert_true(planned(&op, &call));
	call.root = 3;
	assert_true(planned(&op, &call));
	assert_false(planned(&op, &call));
}

static void tor_op_begin__peer(void **state)
{
	struct tor_op op = { .comm = &comm, .role = TOR_ROLE_SEND, .peer = 2 };
	struct tor_call call = allreduce();

	call.collective = TORCOLL_SEND;
	call.redop = TORCOLL_REDOP_NONE;
	call.peer = 2;
	assert_true(planned(&op, &call));
	assert_false(planned(&op, &call));
	call.peer = 3;
	assert_true(planned(&op, &call));
}

/* The caller's lists lie in memory that may be used again. */
static void tor_op_begin__counts(void **state)
{
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce();
	u32 digest;

	call.collective = TORCOLL_ALLGATHER;
	call.redop = TORCOLL_REDOP_NONE;
	assert_true(planned(&op, &call));
	call.counts = counts;
	counts[0] = call.count;
	assert_true(planned(&op, &call));
	digest = op.digest;
	counts[0]--;
	counts[1]++;
	assert_true(planned(&op, &call));
	assert_int_not_equal(op.digest, digest);
	call.counts = NULL;
	assert_true(planned(&op, &call));
	memset(counts, 0, sizeof(counts));
}

static void tor_op_begin__other_tables(void **state)
{
	const struct tor_rates slow = { .op = 1, .e = 1, .f = 1, .link = 1000, .message = 1000, .byte = 1 };
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce();

	call.count = 1;
	assert_true(planned(&op, &call));
	tor_chooser_init(&chooser, &node.torus, NULL, RANKS, &slow);
	assert_int_equal(tor_auto_prepare(&chooser, TORCOLL_ALLREDUCE), 0);
	comm.chooser = &chooser;
	assert_true(planned(&op, &call));
	assert_false(planned(&op, &call));
	/* the same, made anew */
	tor_auto_forget(&chooser, TORCOLL_ALLREDUCE);
	assert_int_equal(tor_auto_prepare(&chooser, TORCOLL_ALLREDUCE), 0);
	assert_true(planned(&op, &call));
	/* whatever the slot has, what cannot be chosen is refused */
	tor_auto_forget(&chooser, TORCOLL_ALLREDUCE);
	assert_int_equal(begin(&op, 1, &call), -ENOMEM);
	comm.chooser = NULL;
	tor_chooser_free(&chooser);
}

static void tor_op_begin__other_rank(void **state)
{
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce();

	assert_true(planned(&op, &call));
	comm.rank = 1;
	assert_true(planned(&op, &call));
	comm.rank = 0;
}

/* What was refused, or only described, has left its traces in the slot. */
static void tor_op_begin__refused_before(void **state)
{
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce(), bad = allreduce();
	const char *why;

	assert_true(planned(&op, &call));
	bad.algorithm = TORCOLL_DIRECT;
	bad.type = TORCOLL_F64;
	bad.root = RANKS;
	assert_int_equal(begin(&op, 1, &bad), -EINVAL);
	assert_true(planned(&op, &call));
	assert_int_equal(tor_op_describe(&op, 1, &bad, &why), 0);
	assert_true(planned(&op, &call));
	/* the digest of the nodes' op is not that of its plan */
	tor_op_stand_for(&op, &(struct tor_op){ .comm = &comm, .digest = 5 });
	assert_false(planned(&op, &call));
}

/* Rounds are left out that were empty before, but none for which something has come. */
static void tor_chan_start__empty_rounds(void **state)
{
	struct tor_ctx ctx = { .now = 1 };
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce();
	struct tor_chan chan;
	struct tor_rx *rx;
	u32 first;

	assert_int_equal(begin(&op, 1, &call), 0);
	op.data = op.temp = NULL;
	tor_chan_init(&chan, &op, 0, 1);
	/* the root of a tree receives in the second round first: on its line of four nobody is next to the furthest */
	host_start(&ctx, &chan);
	first = chan.round;
	assert_true(first > 0);
	assert_int_equal(chan.empty, BIT_ULL(first) - 1);
	tor_chan_abort(&ctx, &chan);
	host_recycle(&ctx, &chan);

	/* all are, but for that one */
	chan.empty = ~BIT_ULL(2);
	assert_int_equal(begin(&op, 2, &call), 0);
	host_start(&ctx, &chan);
	assert_int_equal(chan.round, 2);
	tor_chan_abort(&ctx, &chan);
	host_recycle(&ctx, &chan);

	chan.empty = ~0ULL;
	assert_int_equal(begin(&op, 3, &call), 0);
	rx = tor_chan_early_get(&chan, 1, first);
	assert_non_null(rx);
	rx->digest = op.digest;
	host_start(&ctx, &chan);
	assert_int_equal(chan.round, first);
	tor_chan_abort(&ctx, &chan);
	host_recycle(&ctx, &chan);

	/* another plan has others */
	call.count++;
	assert_int_equal(begin(&op, 4, &call), 0);
	host_start(&ctx, &chan);
	assert_int_equal(chan.round, first);
	tor_chan_abort(&ctx, &chan);
	tor_chan_destroy(&chan);
}

/* The members of a comm are looked at in its first op; plans are those of a look at each. */
static void assert_placed(const u32 *members, u32 algorithm, bool is_box)
{
	struct tor_op op = { .comm = &comm };
	struct tor_call call = allreduce();
	struct tor_plan plan;

	comm.member = members;
	comm.is_placed = false;
	call.members = members;
	call.algorithm = algorithm;
	assert_int_equal(tor_plan_init(&plan, &call, 0, NULL), 0);
	assert_int_equal(begin(&op, 1, &call), 0);
	assert_true(comm.is_placed);
	assert_int_equal(comm.placed.ndim != 0, is_box);
	assert_memory_equal(&op.plan.grid, &plan.grid, sizeof(plan.grid));
	assert_int_equal(op.plan.list, plan.list);
	/* wrong from now on, as the next op does not look at them */
	comm.placed.ndim = 1;
	comm.placed.extent[0] = RANKS;
	call.count++;
	assert_int_equal(begin(&op, 2, &call), 0);
	assert_int_equal(op.plan.grid.ndim, 1);
	comm.member = NULL;
}

static void tor_op_begin__members_once(void **state)
{
	static const u32 scattered[RANKS] = { 7, 1, 5, 4, 3, 2, 6, 0 };

	assert_placed(reversed, TORCOLL_TREE, true);
	assert_placed(scattered, TORCOLL_TREE, false);
}

static void tor_placement_find__no_node(void **state)
{
	static const u32 members[] = { 1, RANKS };
	struct tor_call call = { .torus = &node.torus, .members = members, .ranks = 2 };
	struct tor_placement found;

	assert_false(tor_placement_find(&found, &call));
}

/* A call that began just as its comm was closed starts channels that were taken apart: it leaves nothing in them. */
static void tor_chan_start__when_all_is_over(void **state)
{
	struct tor_ctx ctx = { .now = 1 };
	struct tor_comm over = comm;
	struct tor_op op = { .comm = &over };
	struct tor_call call = allreduce();
	struct tor_chan chan;

	tor_chan_init(&chan, &op, 0, 1);
	assert_int_equal(begin(&op, 1, &call), 0);
	host_start(&ctx, &chan);
	tor_chan_abort(&ctx, &chan);
	host_recycle(&ctx, &chan);
	tor_chan_destroy(&chan);
	assert_int_equal(begin(&op, 2, &call), 0);
	tor_comm_fail(&ctx, &over, -ECONNABORTED, 0, 2);
	host_start(&ctx, &chan);
	assert_int_equal(chan.state, TOR_CHAN_CLOSED);
	assert_null(chan.script);
}

static int setup(void **state)
{
	struct tor_torus torus;

	host_reset();
	assert_int_equal(tor_torus_init(&torus, 2, side, 2), 0);
	assert_int_equal(tor_node_init(&node, &torus, 1, 0), 0);
	comm.node = &node;
	comm.ranks = RANKS;
	comm.channels = tor_plan_most_channels(&node.torus);
	comm.depth = 1;
	comm.unit = 8192;
	comm.path = made_paths(&path);
	comm.epoch = epoch;
	return 0;
}

static int teardown(void **state)
{
	tor_node_destroy(&node);
	host_check_idle();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_op_begin__same_again),
		cmocka_unit_test(tor_op_begin__another_call),
		cmocka_unit_test(tor_op_begin__members_once),
		cmocka_unit_test(tor_placement_find__no_node),
		cmocka_unit_test(tor_op_begin__peer),
		cmocka_unit_test(tor_op_begin__counts),
		cmocka_unit_test(tor_op_begin__other_tables),
		cmocka_unit_test(tor_op_begin__other_rank),
		cmocka_unit_test(tor_op_begin__refused_before),
		cmocka_unit_test(tor_chan_start__empty_rounds),
		cmocka_unit_test(tor_chan_start__when_all_is_over),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
