// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Creating a comm: members that agree, disagree, are missing, and messages that get lost. */
#include "host_env.h"

#include "join.h"

#define NODES	5

static struct tor_ctx ctx;

/* A node, its call, and what became of it. */
static struct member {
	struct tor_node node;
	struct tor_join join;
	u8 seen[NODES];
	u32 nonce[NODES];
	u32 epoch[NODES];
	u32 installed;			/* tag */
	bool done;
	bool ended;			/* the tag is known to the node after the join */
} member[NODES];

static int install_error;		/* what installing gives at rank 2 */
static u32 delivered;			/* frames of host.sent that were handed on */
static u32 loss;			/* one in so many messages is lost; 0: none */
static u32 deaf;			/* a node that hears nothing */
static u64 seed;

int tor_env_join_install(struct tor_ctx *c, struct tor_join *join)
{
	struct member *m = container_of(join, struct member, join);

	assert_int_not_equal(join->tag, 0);
	if (install_error && join->rank == 2)
		return install_error;
	m->installed = join->tag;
	return 0;
}

void tor_env_join_done(struct tor_ctx *c, struct tor_join *join)
{
	struct member *m = container_of(join, struct member, join);

	assert_false(m->done);
	m->done = true;
	m->ended = !join->error;
}

static void hand_on(const struct host_frame *f)
{
	enum tor_counter why;
	struct tor_comm_msg msg;
	struct tor_hdr h;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	assert_int_equal(h.type, TORCOLL_FRAME_COMM);
	assert_true(h.dst < NODES);
	if (h.dst == deaf)
		return;
	assert_int_equal(tor_wire_get_comm(f->bytes + 64, h.length, &msg), 0);
	tor_join_rx(&ctx, &member[h.dst].node, &h, &msg,
		    member[h.dst].ended && member[h.dst].installed == msg.tag);
}

/* Until nothing is under way. */
static void settle(void)
{
	struct host_frame f;

	while (delivered < host.nsent) {
		f = host.sent[delivered++];
		if (!loss || host_rand(&seed) % loss)
			hand_on(&f);
	}
}

/* Let time pass in steps, with all the repetitions. */
static void pass(u64 ns)
{
	u64 end = ctx.now + ns;
	u32 i;

	for (; ctx.now < end; ctx.now += 10 * NSEC_PER_MSEC) {
		for (i = 0; i < NODES; i++)
			tor_join_timer(&ctx, &member[i].node);
		settle();
	}
}

static void call_as(u32 rank, u32 ranks, const u32 *nodes, const char *secret)
{
	struct member *m = &member[nodes ? nodes[rank] : rank];

	m->join.node = &m->node;
	m->join.rank = rank;
	m->join.ranks = ranks;
	m->join.member = nodes;
	m->join.unit = 1344 - 64 * rank;
	m->join.epoch = m->epoch;
	m->join.seen = m->seen;
	m->join.seen_nonce = m->nonce;
	tor_join_prepare(&m->join, "name", 4, secret, strlen(secret));
	assert_int_equal(tor_join_start(&ctx, &m->join), 0);
	settle();
}

static int setup(void **state)
{
	static const u32 side[] = { NODES };
	struct tor_torus t;
	u32 i;

	/* some tests begin again */
	for (i = 0; i < NODES; i++)
		tor_node_destroy(&member[i].node);
	host_reset();
	memset(member, 0, sizeof(member));
	tor_torus_init(&t, 1, side, 1);
	for (i = 0; i < NODES; i++)
		tor_node_init(&member[i].node, &t, 1, i);
	ctx.now = NSEC_PER_SEC;
	delivered = 0;
	install_error = 0;
	loss = 0;
	deaf = NODES;
	seed = 12;
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		tor_node_destroy(&member[i].node);
	host_check_idle();
	host_forget_sent();
	for (i = 0; i < NODES; i++)
		if (!list_empty(&member[i].node.joins))
			return -1;
	return 0;
}

static void cancel_unheard(u32 node)
{
	tor_join_cancel(&ctx, &member[node].join, -EINTR);
	delivered = host.nsent;
}

static void call_again(u32 node)
{
	memset(&member[node].join, 0, sizeof(member[node].join));
	memset(member[node].seen, 0, sizeof(member[node].seen));
	member[node].done = false;
	call_as(node, NODES, NULL, "secret");
}

static void assert_all_joined(u32 ranks, const u32 *nodes)
{
	u32 i, tag = member[nodes ? nodes[0] : 0].join.tag;

	for (i = 0; i < ranks; i++) {
		const struct member *m = &member[nodes ? nodes[i] : i];

		assert_true(m->done);
		assert_int_equal(m->join.error, 0);
		assert_int_equal(m->installed, tag);
		assert_int_equal(m->join.tag, tag);
		/* the smallest that was offered */
		assert_int_equal(m->join.unit, 1344 - 64 * (ranks - 1));
	}
}

static void tor_join_start__everyone_comes(void **state)
{
	u32 i;

	/* in any order, rank 0 in the middle */
	for (i = 0; i < NODES; i++)
		call_as((i + 3) % NODES, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

static void tor_join_start__alone(void **state)
{
	call_as(0, 1, NULL, "");
	assert_all_joined(1, NULL);
	assert_int_equal(host.nsent, 0);
}

static void tor_join_start__some_nodes_in_any_order(void **state)
{
	static const u32 nodes[] = { 4, 1, 3 };
	u32 i;

	for (i = 0; i < 3; i++)
		call_as(i, 3, nodes, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(3, nodes);
	assert_false(member[0].done || member[2].done);
}

static void tor_join_start__again_makes_another_tag(void **state)
{
	u32 i, tag;

	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	tag = member[0].join.tag;
	for (i = 0; i < NODES; i++) {
		memset(&member[i].join, 0, sizeof(member[i].join));
		memset(member[i].seen, 0, sizeof(member[i].seen));
		member[i].done = false;
	}
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
	assert_int_not_equal(member[0].join.tag, tag);
}

static void tor_join_start__twice_on_a_node(void **state)
{
	struct tor_join second = { .node = &member[1].node, .rank = 1, .ranks = NODES };

	call_as(1, NODES, NULL, "secret");
	tor_join_prepare(&second, "name", 4, "secret", 6);
	assert_int_equal(tor_join_start(&ctx, &second), -EEXIST);
	tor_join_cancel(&ctx, &member[1].join, -EINTR);
}

static void tor_join_rx__wrong_secret_hurts_only_who_has_it(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		call_as(i, NODES, NULL, "secret");
	call_as(4, NODES, NULL, "guess");
	assert_true(member[4].done);
	assert_int_equal(member[4].join.error, -EACCES);
	assert_false(member[0].done || member[1].done);
	/* the right one can still come */
	memset(&member[4].join, 0, sizeof(member[4].join));
	member[4].done = false;
	call_as(4, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

static void tor_join_rx__different_lists_fail_everywhere(void **state)
{
	static const u32 one[] = { 0, 1, 2 }, other[] = { 0, 2, 1 };

	call_as(0, 3, one, "secret");
	call_as(1, 3, one, "secret");
	/* node 1 is rank 1 to some and rank 2 to others */
	call_as(1, 3, other, "secret");
	pass(NSEC_PER_SEC);
	assert_int_equal(member[0].join.error, -EPROTO);
	assert_int_equal(member[1].join.error, -EPROTO);
	assert_int_equal(member[2].join.error, -EPROTO);
}

/* Whoever would choose other plans must not come in. */
static void tor_join_rx__different_tuning_fails_everywhere(void **state)
{
	struct tor_rates rates = tor_rates_default;
	u32 i;

	member[0].join.tuning = tor_join_tuning(&rates);
	member[1].join.tuning = tor_join_tuning(&rates);
	rates.byte++;
	member[2].join.tuning = tor_join_tuning(&rates);
	for (i = 0; i < 3; i++)
		call_as(i, 3, NULL, "secret");
	pass(NSEC_PER_SEC);
	for (i = 0; i < 3; i++)
		assert_int_equal(member[i].join.error, -EPROTO);
}

/* Payloads travel as they lie in memory: such ranks would sum garbage. */
static void tor_join_byte_order__must_be_the_same(void **state)
{
	u64 tuning = tor_join_tuning(&tor_rates_default);
	u32 i;

	assert_true(tor_join_byte_order(tuning, false) == tuning);
	assert_true(tor_join_byte_order(0, true));
	setup(NULL);
	/* the last to call: who calls behind a refusal waits for the next attempt */
	for (i = 0; i < 3; i++) {
		member[i].join.tuning = tor_join_byte_order(tuning, i == 2);
		call_as(i, 3, NULL, "secret");
	}
	pass(NSEC_PER_SEC);
	for (i = 0; i < 3; i++)
		assert_int_equal(member[i].join.error, -EPROTO);
	setup(NULL);
	for (i = 0; i < NODES; i++) {
		member[i].join.tuning = tor_join_byte_order(tuning, true);
		call_as(i, NODES, NULL, "secret");
	}
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

static void tor_join_cancel__missing_member_is_named(void **state)
{
	call_as(1, NODES, NULL, "secret");
	assert_int_equal(member[1].join.missing, 0);
	call_as(0, NODES, NULL, "secret");
	call_as(2, NODES, NULL, "secret");
	call_as(4, NODES, NULL, "secret");
	pass(2 * (u64)NSEC_PER_SEC);
	assert_int_equal(member[0].join.missing, 3);
	assert_int_equal(member[1].join.missing, 3);
	assert_int_equal(member[4].join.missing, 3);
	/* the deadline of rank 0 */
	tor_join_cancel(&ctx, &member[0].join, -ETIMEDOUT);
	settle();
	assert_int_equal(member[0].join.error, -ETIMEDOUT);
	assert_int_equal(member[1].join.error, -ETIMEDOUT);
	assert_int_equal(member[2].join.error, -ETIMEDOUT);
	assert_int_equal(member[4].join.error, -ETIMEDOUT);
}

/* All have the same deadline, and one after the other gives up: the one that never came is to blame. */
static void tor_join_cancel__who_gave_up_is_not_missing(void **state)
{
	call_as(0, NODES, NULL, "secret");
	call_as(1, NODES, NULL, "secret");
	call_as(2, NODES, NULL, "secret");
	call_as(4, NODES, NULL, "secret");
	pass(2 * (u64)NSEC_PER_SEC);
	tor_join_cancel(&ctx, &member[1].join, -ETIMEDOUT);
	tor_join_cancel(&ctx, &member[2].join, -ETIMEDOUT);
	settle();
	assert_int_equal(member[0].join.missing, 3);
	pass(NSEC_PER_SEC);
	assert_int_equal(member[4].join.missing, 3);
	/* it comes at last: now those that gave up are missing */
	call_as(3, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_false(member[0].done);
	assert_int_equal(member[0].join.missing, 1);
	tor_join_cancel(&ctx, &member[0].join, -ETIMEDOUT);
	settle();
	assert_int_equal(member[4].join.error, -ETIMEDOUT);
}

static void tor_join_cancel__a_member_may_go_and_come_back(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		call_as(i, NODES, NULL, "secret");
	tor_join_cancel(&ctx, &member[2].join, -EINTR);
	settle();
	assert_int_equal(member[2].join.error, -EINTR);
	assert_false(member[0].done);
	call_as(4, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_false(member[0].done);
	assert_int_equal(member[0].join.missing, 2);
	call_again(2);
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

static void tor_join_cancel__interrupted_rank_0(void **state)
{
	call_as(0, NODES, NULL, "secret");
	call_as(1, NODES, NULL, "secret");
	tor_join_cancel(&ctx, &member[0].join, -EINTR);
	settle();
	assert_int_equal(member[0].join.error, -EINTR);
	assert_int_equal(member[1].join.error, -ECONNABORTED);
}

/* Rank 0 takes it for there, and asks it: then it says again that it is not. */
static void tor_join_rx__leave_was_lost(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		call_as(i, NODES, NULL, "secret");
	cancel_unheard(2);
	call_as(4, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	for (i = 0; i < NODES; i++) {
		assert_true(member[i].done);
		assert_int_equal(member[i].join.error, i == 2 ? -EINTR : -ECONNABORTED);
	}
	assert_int_equal(member[1].join.missing, 2);
}

/* Who has accepted does not wait for a rank 0 that gave up, nor for one that has called again. */
static void tor_join_rx__refuse_was_lost(void **state)
{
	u32 i;

	deaf = 4;
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	cancel_unheard(0);
	deaf = NODES;
	call_again(0);
	pass(2 * (u64)NSEC_PER_SEC);
	for (i = 1; i < 4; i++) {
		assert_true(member[i].done);
		assert_int_equal(member[i].join.error, -ECONNABORTED);
		call_again(i);
	}
	pass(2 * (u64)NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

static void tor_join_rx__install_fails_at_one(void **state)
{
	u32 i;

	install_error = -ENOMEM;
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(2 * (u64)NSEC_PER_SEC);
	for (i = 0; i < NODES; i++) {
		assert_true(member[i].done);
		assert_int_equal(member[i].join.error, i == 2 ? -ENOMEM : -ECONNABORTED);
	}
}

/* Every message may be lost, also the last one. In entries of one frame as well. */
static void tor_join_timer__repeats_until_heard(void **state)
{
	u32 i, k;

	for (k = 0; k < 300; k++) {
		setup(NULL);
		if (k & 1)
			host.budget = (struct tor_budget){ .bytes = 1, .frames = 1 };
		seed = k;
		loss = 2 + k % 5;
		for (i = 0; i < NODES; i++)
			call_as((i + k) % NODES, NODES, NULL, "secret");
		pass(60 * (u64)NSEC_PER_SEC);
		assert_all_joined(NODES, NULL);
	}
}

static void tor_join_timer__quiet_when_done(void **state)
{
	u32 i, sent;

	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	sent = host.nsent;
	pass(10 * (u64)NSEC_PER_SEC);
	assert_int_equal(host.nsent, sent);
	for (i = 0; i < NODES; i++)
		assert_int_equal(tor_join_timer(&ctx, &member[i].node), 0);
}

/* @msg comes to a node, as it would by a cable. */
static void bring(u32 node, const struct tor_hdr *h, const struct tor_comm_msg *msg, bool known)
{
	u8 body[sizeof(struct torcoll_comm_msg)];
	struct tor_comm_msg got;

	tor_wire_put_comm(body, msg, NULL);
	if (!tor_wire_get_comm(body, sizeof(body), &got))
		tor_join_rx(&ctx, &member[node].node, h, &got, known);
}

static bool may_end_a_join(u32 error)
{
	return error == EACCES || error == EPROTO || error == ECONNABORTED || error == ETIMEDOUT;
}

/* EINTR would have the caller try for ever, EAGAIN and what lies above 512 mean something to kernels alone. */
static void tor_join_rx__refuse_by_any_error(void **state)
{
	u32 error;

	for (error = 0; error < 4096; error++) {
		struct tor_comm_msg msg = {
			.step = TORCOLL_COMM_REFUSE, .rank = 1, .ranks = NODES, .error = error,
			.missing = ~0U,
		};
		struct tor_hdr h = { .src = 0 };

		setup(NULL);
		call_as(1, NODES, NULL, "secret");
		msg.name = member[1].join.name;
		msg.nonce = member[1].join.nonce;
		bring(1, &h, &msg, false);
		assert_true(member[1].done);
		assert_int_equal(-member[1].join.error, may_end_a_join(error) ? error : EPROTO);
		assert_int_equal(member[1].join.missing, TOR_NO_RANK);
	}
}

/* What rank 0 gives up for is told as what others can make something of. */
static void tor_join_cancel__told_as_what_it_is_to_others(void **state)
{
	static const int errors[] = { -EINTR, -ENOMEM, -EEXIST, -ETIMEDOUT };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		setup(NULL);
		call_as(0, NODES, NULL, "secret");
		call_as(1, NODES, NULL, "secret");
		tor_join_cancel(&ctx, &member[0].join, errors[i]);
		settle();
		assert_int_equal(member[0].join.error, errors[i]);
		assert_int_equal(member[1].join.error,
				 errors[i] == -ETIMEDOUT ? -ETIMEDOUT : -ECONNABORTED);
	}
}

/* Nonsense from a neighbour ends nobody's call that it does not know the name of, and crashes nothing. */
static void tor_join_rx__random_messages(void **state)
{
	struct tor_comm_msg msg;
	struct tor_hdr h = { .version = 1, .type = TORCOLL_FRAME_COMM };
	u32 i;

	call_as(0, NODES, NULL, "secret");
	call_as(1, NODES, NULL, "secret");
	for (i = 0; i < 100000; i++) {
		host_fill(&msg, sizeof(msg), &seed);
		msg.step = 1 + msg.step % TORCOLL_COMM_LEAVE;
		msg.epochs = 0;
		msg.error %= 5000;
		msg.rank %= NODES + 2;
		msg.ranks = NODES;
		msg.frame_bytes = msg.frame_bytes % 64 * TOR_WIRE_UNIT_ALIGN;
		h.src = msg.nonce % NODES;
		h.dst = i % 2;
		bring(i % 2, &h, &msg, i % 3 == 0);
	}
	delivered = host.nsent;
	assert_false(member[0].done || member[1].done);
	/* and from one that does know it */
	for (i = 0; i < 100000; i++) {
		host_fill(&msg, sizeof(msg), &seed);
		msg.step = 1 + msg.step % TORCOLL_COMM_LEAVE;
		msg.epochs = 0;
		msg.error %= 5000;
		msg.name = member[0].join.name;
		if (i % 3)
			msg.proof = member[0].join.proof;
		if (i % 5)
			msg.members = member[0].join.members;
		msg.rank %= NODES + 2;
		msg.ranks = NODES;
		msg.frame_bytes = msg.frame_bytes % 64 * TOR_WIRE_UNIT_ALIGN;
		if (i % 7)
			msg.nonce = member[1].join.nonce;
		h.src = msg.missing % NODES;
		if (member[0].done) {
			setup(NULL);
			call_as(0, NODES, NULL, "secret");
			call_as(1, NODES, NULL, "secret");
		}
		if (!member[1].done || i % 2 == 0)
			bring(i % 2, &h, &msg, false);
		if (member[1].done) {
			setup(NULL);
			seed = i;
			call_as(0, NODES, NULL, "secret");
			call_as(1, NODES, NULL, "secret");
		}
		delivered = host.nsent;
	}
	if (!member[0].done)
		tor_join_cancel(&ctx, &member[0].join, -EINTR);
	if (!member[1].done)
		tor_join_cancel(&ctx, &member[1].join, -EINTR);
}

/* Rank 0 of many, whose others are only heard. */
#define MANY	200
#define CROWD	(1 << 18)

static struct crowd {
	struct member m;
	u8 seen[CROWD];
	u32 nonce[CROWD];
	u32 epoch[CROWD];
} crowd;

static void crowd_begin(u32 ranks)
{
	const u32 side[] = { 2, ranks / 2 };
	struct tor_torus t;

	memset(&crowd, 0, sizeof(crowd));
	assert_int_equal(tor_torus_init(&t, 2, side, 1), 0);
	assert_int_equal(tor_node_init(&crowd.m.node, &t, 1, 0), 0);
	crowd.m.join = (struct tor_join){ .node = &crowd.m.node, .ranks = ranks, .unit = 1344,
					  .epoch = crowd.epoch, .seen = crowd.seen,
					  .seen_nonce = crowd.nonce };
	tor_join_prepare(&crowd.m.join, "name", 4, "secret", 6);
	assert_int_equal(tor_join_start(&ctx, &crowd.m.join), 0);
}

/* Return: frames that this entry sent. */
static u32 crowd_hears(u32 rank, u8 step)
{
	struct tor_hdr h = { .src = rank, .src_epoch = 1 };
	struct tor_comm_msg msg = {
		.step = step, .name = crowd.m.join.name, .proof = crowd.m.join.proof,
		.members = crowd.m.join.members, .nonce = rank, .rank = rank,
		.ranks = crowd.m.join.ranks,
		.tag = crowd.m.join.tag, .frame_bytes = 1344,
	};
	u32 before = host.nsent;

	tor_join_rx(&ctx, &crowd.m.node, &h, &msg, false);
	return host.nsent - before;
}

/* Let the timer work for @ns, entries of @most frames. Return: frames. */
static u32 crowd_pass(u64 ns, u32 most)
{
	u64 end = ctx.now + ns, when;
	u32 before = host.nsent, sent;

	for (;;) {
		when = tor_join_due(&crowd.m.node);
		if (!when || when > end)
			break;
		ctx.now = max(ctx.now, when);
		sent = host.nsent;
		tor_join_timer(&ctx, &crowd.m.node);
		assert_in_range(host.nsent - sent, 0, most);
	}
	ctx.now = end;
	return host.nsent - before;
}

static void crowd_joins(u32 budget)
{
	u32 most = budget ?: TOR_BUDGET.frames;
	const u32 once = (MANY - 1) * DIV_ROUND_UP(MANY, TOR_JOIN_EPOCHS);
	u64 pass = (u64)once / most * TOR_JOIN_PACE;
	u32 rank, sent;

	host.budget = (struct tor_budget){ .bytes = 1, .frames = budget };
	if (!budget)
		host.budget = TOR_BUDGET;
	crowd_begin(MANY);
	for (rank = 1; rank < MANY; rank++)
		assert_in_range(crowd_hears(rank, TORCOLL_COMM_JOIN), 0, most);
	assert_int_equal(crowd.m.join.state, TOR_JOIN_ACCEPTING);
	/* all of it, one portion behind the other; then again, but ever more seldom */
	crowd_pass(pass, most);
	assert_in_range(host.nsent, once, once + MANY);
	sent = crowd_pass(NSEC_PER_SEC + 10 * pass, most);
	assert_in_range(sent, 8 * once, ((NSEC_PER_SEC + 10 * pass) / (MANY * TOR_JOIN_PER_RANK) + 3) * once);
	for (rank = 1; rank < MANY; rank++)
		assert_in_range(crowd_hears(rank, TORCOLL_COMM_ACCEPT), 0, most);
	sent = crowd_pass(NSEC_PER_SEC, most);
	assert_in_range(sent, MANY - 1 - most, MANY - 1);
	assert_true(crowd.m.done);
	assert_int_equal(crowd.m.join.error, 0);
	tor_node_destroy(&crowd.m.node);
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
	tor_join_cancel(&ctx, &crowd.m.join, -ETIMEDOUT);
	assert_int_equal(host.nsent - before, TOR_BUDGET.frames);
	assert_false(crowd.m.done);
	/* whoever comes meanwhile is told, and nothing changes the verdict */
	assert_int_equal(crowd_hears(MANY - 1, TORCOLL_COMM_JOIN), 1);
	tor_join_cancel(&ctx, &crowd.m.join, -EINTR);
	crowd_pass(NSEC_PER_SEC, TOR_BUDGET.frames);
	assert_true(crowd.m.done);
	assert_int_equal(crowd.m.join.error, -ETIMEDOUT);
	assert_int_equal(host.nsent - before, MANY - 1);
	tor_node_destroy(&crowd.m.node);
}

/*
 * Each message of very many ranks is heard in a time that does not depend on how many there are: if it walked over all
 * of them, this test would take hours.
 */
static void tor_join_rx__no_walk_over_ranks_per_message(void **state)
{
	u32 rank;

	(void)state;
	crowd_begin(CROWD);
	for (rank = 1; rank < CROWD; rank++) {
		crowd_hears(rank, TORCOLL_COMM_JOIN);
		host_forget_sent();
		assert_int_equal(crowd.m.join.missing, rank + 1 < CROWD ? rank + 1 : TOR_NO_RANK);
	}
	assert_int_equal(crowd.m.join.state, TOR_JOIN_ACCEPTING);
	for (rank = CROWD - 1; rank; rank--) {
		assert_int_equal(crowd.m.join.state, TOR_JOIN_ACCEPTING);
		crowd_hears(rank, TORCOLL_COMM_ACCEPT);
		host_forget_sent();
	}
	assert_int_equal(crowd.m.join.state, TOR_JOIN_GOING);
	tor_join_cancel(&ctx, &crowd.m.join, -EINTR);
	assert_true(crowd.m.done);
	tor_node_destroy(&crowd.m.node);
}

/* The same for a member, who is told in pieces who all the others are. */
static void tor_join_rx__no_walk_over_ranks_per_piece(void **state)
{
	__be32 word[2] = { cpu_to_be32(7), cpu_to_be32(8) };
	struct tor_hdr h = { .src = 0, .src_epoch = 1 };
	struct tor_comm_msg msg = { .step = TORCOLL_COMM_READY, .tag = 5, .frame_bytes = 1344,
				    .epochs = 1, .epoch = word };
	u32 rank;

	(void)state;
	crowd_begin(CROWD);
	tor_join_cancel(&ctx, &crowd.m.join, -EINTR);
	crowd_pass(60 * NSEC_PER_SEC, TOR_BUDGET.frames);
	crowd.m.done = false;
	crowd.m.join.rank = 1;
	assert_int_equal(tor_join_start(&ctx, &crowd.m.join), 0);
	msg.name = crowd.m.join.name;
	msg.nonce = crowd.m.join.nonce;
	msg.ranks = CROWD;
	for (rank = CROWD - 1; rank < CROWD; rank--) {
		assert_int_equal(crowd.m.join.state, TOR_JOIN_CALLING);
		msg.missing = rank;
		word[0] = cpu_to_be32(rank == 1 ? crowd.m.node.epoch : 7);
		tor_join_rx(&ctx, &crowd.m.node, &h, &msg, false);
	}
	assert_int_equal(crowd.m.join.state, TOR_JOIN_ACCEPTING);
	tor_join_cancel(&ctx, &crowd.m.join, -EINTR);
	tor_node_destroy(&crowd.m.node);
}

#define JOIN_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOIN_TEST(tor_join_start__everyone_comes),
		JOIN_TEST(tor_join_start__alone),
		JOIN_TEST(tor_join_start__some_nodes_in_any_order),
		JOIN_TEST(tor_join_start__again_makes_another_tag),
		JOIN_TEST(tor_join_start__twice_on_a_node),
		JOIN_TEST(tor_join_rx__wrong_secret_hurts_only_who_has_it),
		JOIN_TEST(tor_join_rx__different_lists_fail_everywhere),
		JOIN_TEST(tor_join_rx__different_tuning_fails_everywhere),
		JOIN_TEST(tor_join_byte_order__must_be_the_same),
		JOIN_TEST(tor_join_cancel__missing_member_is_named),
		JOIN_TEST(tor_join_cancel__who_gave_up_is_not_missing),
		JOIN_TEST(tor_join_cancel__a_member_may_go_and_come_back),
		JOIN_TEST(tor_join_cancel__interrupted_rank_0),
		JOIN_TEST(tor_join_rx__leave_was_lost),
		JOIN_TEST(tor_join_rx__refuse_was_lost),
		JOIN_TEST(tor_join_rx__refuse_by_any_error),
		JOIN_TEST(tor_join_cancel__told_as_what_it_is_to_others),
		JOIN_TEST(tor_join_rx__install_fails_at_one),
		JOIN_TEST(tor_join_timer__repeats_until_heard),
		JOIN_TEST(tor_join_timer__quiet_when_done),
		JOIN_TEST(tor_join_timer__many_are_told_in_portions),
		JOIN_TEST(tor_join_cancel__many_are_told_in_portions),
		JOIN_TEST(tor_join_rx__no_walk_over_ranks_per_message),
		JOIN_TEST(tor_join_rx__no_walk_over_ranks_per_piece),
		JOIN_TEST(tor_join_rx__random_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
