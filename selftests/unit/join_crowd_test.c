// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Creating a comm of many ranks, of which one is looked at, and the others are only heard. */
#include "host_env.h"

#include "core/agree/join.h"

#define MANY	200
#define CROWD	(1 << 18)

static struct tor_ctx ctx;

static struct crowd {
	struct tor_node node;
	struct tor_join join;
	bool done;
	u8 seen[CROWD];
	u32 nonce[CROWD];
	u32 epoch[CROWD];
} crowd;

int tor_env_join_install(struct tor_ctx *c, struct tor_join *join)
{
	return 0;
}

void tor_env_join_done(struct tor_ctx *c, struct tor_join *join)
{
	assert_false(crowd.done);
	crowd.done = true;
}

static int setup(void **state)
{
	host_reset();
	ctx.now = NSEC_PER_SEC;
	return 0;
}

static int teardown(void **state)
{
	host_check_idle();
	host_forget_sent();
	return 0;
}

static void crowd_begin(u32 ranks)
{
	const u32 side[] = { 2, ranks / 2 };
	struct tor_torus t;

	memset(&crowd, 0, sizeof(crowd));
	assert_int_equal(tor_torus_init(&t, 2, side, 1), 0);
	assert_int_equal(tor_node_init(&crowd.node, &t, 1, 0), 0);
	crowd.join = (struct tor_join){ .a.node = &crowd.node, .a.ranks = ranks, .a.unit = 1344,
					  .a.epoch = crowd.epoch, .seen = crowd.seen,
					  .seen_nonce = crowd.nonce };
	tor_join_prepare(&crowd.join, "name", 4, "secret", 6);
	assert_int_equal(tor_join_start(&ctx, &crowd.join), 0);
}

/* Return: frames that this entry sent. */
static u32 crowd_hears(u32 rank, u8 step)
{
	struct tor_hdr h = { .src = rank, .src_epoch = 1 };
	struct tor_comm_msg msg = {
		.step = step, .name = crowd.join.name, .proof = crowd.join.proof,
		.members = crowd.join.members, .nonce = rank, .rank = rank,
		.ranks = crowd.join.a.ranks,
		.tag = crowd.join.a.tag, .frame_bytes = 1344, .has_terms = true,
		.terms.flags = crowd.node.big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0,
	};
	u32 before = host.nsent;

	tor_join_rx(&ctx, &crowd.node, &h, &msg, false);
	return host.nsent - before;
}

/* Let the timer work for @ns, entries of @most frames. Return: frames. */
static u32 crowd_pass(u64 ns, u32 most)
{
	u64 end = ctx.now + ns, when;
	u32 before = host.nsent, sent;

	for (;;) {
		when = tor_join_due(&crowd.node);
		if (!when || when > end)
			break;
		ctx.now = max(ctx.now, when);
		sent = host.nsent;
		tor_join_timer(&ctx, &crowd.node);
		assert_in_range(host.nsent - sent, 0, most);
	}
	ctx.now = end;
	return host.nsent - before;
}

static void crowd_joins(u32 budget)
{
	u32 most = budget ?: TOR_BUDGET.frames;
	const u32 once = (MANY - 1) * DIV_ROUND_UP(MANY, TOR_AGREE_WORDS);
	u64 pass = (u64)once / most * TOR_AGREE_PACE;
	u32 rank, sent;

	host.budget = (struct tor_budget){ .bytes = 1, .frames = budget };
	if (!budget)
		host.budget = TOR_BUDGET;
	crowd_begin(MANY);
	for (rank = 1; rank < MANY; rank++)
		assert_in_range(crowd_hears(rank, TORCOLL_COMM_JOIN), 0, most);
	assert_int_equal(crowd.join.a.state, TOR_AGREE_ACCEPTING);
	/* all of it, one portion behind the other; then again, but ever more seldom */
	crowd_pass(pass, most);
	assert_in_range(host.nsent, once, once + MANY);
	sent = crowd_pass(NSEC_PER_SEC + 10 * pass, most);
	assert_in_range(sent, 8 * once, ((NSEC_PER_SEC + 10 * pass) / (MANY * TOR_JOIN_PER_RANK) + 3) * once);
	for (rank = 1; rank < MANY; rank++)
		assert_in_range(crowd_hears(rank, TORCOLL_COMM_ACCEPT), 0, most);
	sent = crowd_pass(NSEC_PER_SEC, most);
	assert_in_range(sent, MANY - 1 - most, MANY - 1);
	assert_true(crowd.done);
	assert_int_equal(crowd.join.a.error, 0);
	tor_node_destroy(&crowd.node);
	host_forget_sent();
}

static void tor_join_timer__many_are_told_in_portions(void **state)
{
	crowd_joins(0);
	crowd_joins(1);
}

static void tor_join_cancel__many_are_told_in_portions(void **state)
{
	u32 rank, before;

	crowd_begin(MANY);
	for (rank = 1; rank < MANY - 1; rank++)
		crowd_hears(rank, TORCOLL_COMM_JOIN);
	before = host.nsent;
	tor_join_cancel(&ctx, &crowd.join, -ETIMEDOUT);
	assert_int_equal(host.nsent - before, TOR_BUDGET.frames);
	assert_false(crowd.done);
	/* whoever comes meanwhile is told, and nothing changes the verdict */
	assert_int_equal(crowd_hears(MANY - 1, TORCOLL_COMM_JOIN), 1);
	tor_join_cancel(&ctx, &crowd.join, -EINTR);
	crowd_pass(NSEC_PER_SEC, TOR_BUDGET.frames);
	assert_true(crowd.done);
	assert_int_equal(crowd.join.a.error, -ETIMEDOUT);
	assert_int_equal(host.nsent - before, MANY - 1);
	tor_node_destroy(&crowd.node);
}

/*
 * Each message of very many ranks is heard in a time that does not depend on how many there are: if it walked over all
 * of them, this test would take hours.
 */
static void tor_join_rx__no_walk_over_ranks_per_message(void **state)
{
	u32 rank;

	crowd_begin(CROWD);
	for (rank = 1; rank < CROWD; rank++) {
		crowd_hears(rank, TORCOLL_COMM_JOIN);
		host_forget_sent();
		assert_int_equal(crowd.join.a.missing, rank + 1 < CROWD ? rank + 1 : 1);
	}
	assert_int_equal(crowd.join.a.state, TOR_AGREE_ACCEPTING);
	for (rank = CROWD - 1; rank; rank--) {
		assert_int_equal(crowd.join.a.state, TOR_AGREE_ACCEPTING);
		crowd_hears(rank, TORCOLL_COMM_ACCEPT);
		host_forget_sent();
	}
	assert_int_equal(crowd.join.a.state, TOR_AGREE_GOING);
	tor_join_cancel(&ctx, &crowd.join, -EINTR);
	assert_true(crowd.done);
	tor_node_destroy(&crowd.node);
}

/* The same for a member, who is told in pieces who all the others are. */
static void tor_join_rx__no_walk_over_ranks_per_piece(void **state)
{
	__be32 word[2] = { cpu_to_be32(7), cpu_to_be32(8) };
	struct tor_hdr h = { .src = 0, .src_epoch = 1 };
	struct tor_comm_msg msg = { .step = TORCOLL_COMM_READY, .tag = 5, .frame_bytes = 1344,
				    .epochs = 1, .epoch = word };
	u32 rank;

	crowd_begin(CROWD);
	tor_join_cancel(&ctx, &crowd.join, -EINTR);
	crowd_pass(60 * NSEC_PER_SEC, TOR_BUDGET.frames);
	crowd.done = false;
	crowd.join.rank = 1;
	assert_int_equal(tor_join_start(&ctx, &crowd.join), 0);
	msg.name = crowd.join.name;
	msg.nonce = crowd.join.nonce;
	msg.ranks = CROWD;
	msg.terms.flags = crowd.node.big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0;
	for (rank = CROWD - 1; rank < CROWD; rank--) {
		assert_int_equal(crowd.join.a.state, TOR_AGREE_CALLING);
		msg.missing = rank;
		word[0] = cpu_to_be32(rank == 1 ? crowd.node.epoch : 7);
		tor_join_rx(&ctx, &crowd.node, &h, &msg, false);
	}
	assert_int_equal(crowd.join.a.state, TOR_AGREE_ACCEPTING);
	tor_join_cancel(&ctx, &crowd.join, -EINTR);
	tor_node_destroy(&crowd.node);
}

#define CROWD_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CROWD_TEST(tor_join_timer__many_are_told_in_portions),
		CROWD_TEST(tor_join_cancel__many_are_told_in_portions),
		CROWD_TEST(tor_join_rx__no_walk_over_ranks_per_message),
		CROWD_TEST(tor_join_rx__no_walk_over_ranks_per_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
