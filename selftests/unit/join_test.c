// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Creating a comm: members that agree, disagree, are missing, and messages that get lost. */
#include "join_members.h"

static void tor_join_start__everyone_comes(void **state)
{
	u32 i;

	/* in any order, rank 0 in the middle */
	for (i = 0; i < NODES; i++)
		call_as((i + 3) % NODES, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

/* Calls that came before rank 0's are not waited for again; but for those that came too long before it. */
static void tor_join_start__rank_0_is_last(void **state)
{
	u32 late, i;

	for (late = 0; late < 2; late++) {
		setup(NULL);
		for (i = 1; i < NODES; i++)
			call_as(i, NODES, NULL, "secret");
		/* without a repetition */
		ctx.now += TOR_EARLY_KEPT - 1 + late;
		call_as(0, NODES, NULL, "secret");
		assert_int_equal(member[0].done, !late);
		pass(NSEC_PER_SEC);
		assert_all_joined(NODES, NULL);
	}
}

/* What came early is judged as if it came now. */
static void tor_join_start__early_calls_that_do_not_fit(void **state)
{
	static const u32 one[] = { 0, 1, 2 }, other[] = { 0, 2, 1 };

	call_as(1, 3, one, "guess");
	call_as(0, 3, one, "secret");
	settle();
	assert_true(member[1].done);
	assert_int_equal(member[1].join.a.error, -EACCES);
	assert_false(member[0].done);

	setup(NULL);
	call_as(1, 3, one, "secret");
	call_as(1, 3, other, "secret");
	call_as(0, 3, one, "secret");
	pass(NSEC_PER_SEC);
	assert_int_equal(member[0].join.a.error, -EPROTO);
	assert_int_equal(member[1].join.a.error, -EPROTO);
	assert_int_equal(member[2].join.a.error, -EPROTO);
}

/* Who gave up before rank 0 came is missing. */
static void tor_join_start__an_early_caller_gave_up(void **state)
{
	u32 i;

	for (i = 1; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	tor_join_cancel(&ctx, &member[2].join, -EINTR);
	settle();
	call_as(0, NODES, NULL, "secret");
	assert_false(member[0].done);
	assert_int_equal(member[0].join.a.missing, 2);
	tor_join_cancel(&ctx, &member[0].join, -ETIMEDOUT);
	settle();
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
	tag = member[0].join.a.tag;
	for (i = 0; i < NODES; i++) {
		memset(&member[i].join, 0, sizeof(member[i].join));
		memset(member[i].seen, 0, sizeof(member[i].seen));
		member[i].done = false;
	}
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
	assert_int_not_equal(member[0].join.a.tag, tag);
}

static void tor_join_start__twice_on_a_node(void **state)
{
	struct tor_join second = { .a.node = &member[1].node, .rank = 1, .a.ranks = NODES };

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
	assert_int_equal(member[4].join.a.error, -EACCES);
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
	assert_int_equal(member[0].join.a.error, -EPROTO);
	assert_int_equal(member[1].join.a.error, -EPROTO);
	assert_int_equal(member[2].join.a.error, -EPROTO);
	assert_int_equal(member[0].join.fault.cause, TORCOLL_CAUSE_MEMBERS);
	assert_int_equal(member[0].join.fault.node, 2);
}

/* All choose plans by rank 0's rates, whatever their own are. */
static void tor_join_rx__rates_are_those_of_rank_0(void **state)
{
	const struct tor_rates rates = { 1, 2, 3, 4, 5, 6 };
	u32 i;

	member[0].join.rates = rates;
	for (i = 1; i < NODES; i++) {
		member[i].join.rates = tor_rates_default;
		member[i].join.rates.byte += i;
	}
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
	for (i = 0; i < NODES; i++) {
		assert_memory_equal(&member[i].join.rates, &rates, sizeof(rates));
		assert_memory_equal(&member[i].agreed, &rates, sizeof(rates));
	}
}

/* Every rank was refused, and knows that it is for rank @rank on node @node. */
static void assert_all_blame(u32 ranks, u8 cause, u32 rank, u8 flags)
{
	u32 i;

	for (i = 0; i < ranks; i++) {
		const struct tor_join *join = &member[i].join;

		assert_true(member[i].done);
		assert_int_equal(join->a.error, -EPROTO);
		assert_int_equal(join->fault.cause, cause);
		assert_int_equal(join->fault.rank, rank);
		assert_int_equal(join->fault.node, rank);
		assert_int_equal(join->fault.flags, flags);
		assert_string_equal(join->fault.name, "a host");
	}
}

/* Payloads travel as they lie in memory: such ranks would sum garbage. */
static void tor_join_rx__another_byte_order(void **state)
{
	u8 own = member[0].node.big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0;
	u32 i;

	host.name = "a host";
	member[2].node.big_endian = !member[2].node.big_endian;
	for (i = 0; i < 3; i++)
		call_as(i, 3, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_blame(3, TORCOLL_CAUSE_ORDER, 2, own ^ TORCOLL_FLAG_BIG_ENDIAN);
}

/* Who expects checksums drops what comes from who sends none: no op of such ranks would ever end. */
static void tor_join_rx__another_checksum(void **state)
{
	u8 own = member[0].node.big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0;
	u32 i, odd;

	/* the last to call, one in the middle, and one before rank 0 */
	for (odd = 1; odd < NODES; odd++) {
		setup(NULL);
		host.name = "a host";
		member[odd].node.checksum_payload = false;
		for (i = 0; i < NODES; i++)
			call_as((i + 3) % NODES, NODES, NULL, "secret");
		pass(NSEC_PER_SEC);
		assert_all_blame(NODES, TORCOLL_CAUSE_CHECKSUM, odd, own | TORCOLL_FLAG_UNSUMMED);
	}
	setup(NULL);
	for (i = 0; i < NODES; i++)
		member[i].node.checksum_payload = false;
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

/* A rank that calls when rank 0's call is over already does not wait for its deadline. */
static void tor_join_rx__refused_to_those_that_come_later(void **state)
{
	u32 i;

	host.name = "a host";
	member[1].node.checksum_payload = false;
	call_as(0, NODES, NULL, "secret");
	call_as(1, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_true(member[0].done);
	for (i = 2; i < 4; i++) {
		call_as(i, NODES, NULL, "secret");
		pass(NSEC_PER_SEC);
		assert_int_equal(member[i].join.fault.node, 1);
	}
	/* not with another secret, nor for ever */
	pass(TOR_REFUSAL_KEPT);
	call_as(4, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_false(member[4].done);
	tor_join_cancel(&ctx, &member[4].join, -EINTR);
}

/* Who has been refused and calls again waits for rank 0, which calls again as well. */
static void tor_join_rx__next_attempt_is_not_refused(void **state)
{
	u32 i;

	member[1].node.checksum_payload = false;
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	member[1].node.checksum_payload = true;
	for (i = NODES; i-- > 0;) {
		assert_int_equal(member[i].join.a.error, -EPROTO);
		call_again(i);
		pass(NSEC_PER_SEC);
	}
	assert_all_joined(NODES, NULL);
}

/* One that never came to the first attempt may come to the next one before all others, but not before rank 0. */
static void tor_join_rx__forgotten_when_rank_0_calls(void **state)
{
	u32 i;

	member[1].node.checksum_payload = false;
	call_as(0, NODES, NULL, "secret");
	call_as(1, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	member[1].node.checksum_payload = true;
	call_again(0);
	for (i = 2; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	call_again(1);
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

static void tor_join_cancel__missing_member_is_named(void **state)
{
	call_as(1, NODES, NULL, "secret");
	assert_int_equal(member[1].join.a.missing, 0);
	call_as(0, NODES, NULL, "secret");
	call_as(2, NODES, NULL, "secret");
	call_as(4, NODES, NULL, "secret");
	pass(2 * (u64)NSEC_PER_SEC);
	assert_int_equal(member[0].join.a.missing, 3);
	assert_int_equal(member[1].join.a.missing, 3);
	assert_int_equal(member[4].join.a.missing, 3);
	/* the deadline of rank 0 */
	tor_join_cancel(&ctx, &member[0].join, -ETIMEDOUT);
	settle();
	assert_int_equal(member[0].join.a.error, -ETIMEDOUT);
	assert_int_equal(member[1].join.a.error, -ETIMEDOUT);
	assert_int_equal(member[2].join.a.error, -ETIMEDOUT);
	assert_int_equal(member[4].join.a.error, -ETIMEDOUT);
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
	assert_int_equal(member[0].join.a.missing, 3);
	pass(NSEC_PER_SEC);
	assert_int_equal(member[4].join.a.missing, 3);
	/* it comes at last: now those that gave up are missing */
	call_as(3, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_false(member[0].done);
	assert_int_equal(member[0].join.a.missing, 1);
	tor_join_cancel(&ctx, &member[0].join, -ETIMEDOUT);
	settle();
	assert_int_equal(member[4].join.a.error, -ETIMEDOUT);
}

/* All have called, and one of them has died since: it accepts nothing. */
static void tor_join_cancel__who_called_and_died_is_missing(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		call_as(i, NODES, NULL, "secret");
	deaf = 4;
	call_as(4, NODES, NULL, "secret");
	pass(2 * (u64)NSEC_PER_SEC);
	assert_int_equal(member[0].join.a.missing, 4);
	/* not the one that was awaited before */
	assert_int_equal(member[1].join.a.missing, 4);
	tor_join_cancel(&ctx, &member[0].join, -ETIMEDOUT);
	settle();
	for (i = 1; i < 4; i++) {
		assert_int_equal(member[i].join.a.error, -ETIMEDOUT);
		assert_int_equal(member[i].join.a.missing, 4);
	}
	tor_join_cancel(&ctx, &member[4].join, -EINTR);
}

static void tor_join_cancel__a_member_may_go_and_come_back(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		call_as(i, NODES, NULL, "secret");
	tor_join_cancel(&ctx, &member[2].join, -EINTR);
	settle();
	assert_int_equal(member[2].join.a.error, -EINTR);
	assert_false(member[0].done);
	call_as(4, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	assert_false(member[0].done);
	assert_int_equal(member[0].join.a.missing, 2);
	call_again(2);
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

static void tor_join_cancel__rank_0_gives_up(void **state)
{
	call_as(0, NODES, NULL, "secret");
	call_as(1, NODES, NULL, "secret");
	tor_join_cancel(&ctx, &member[0].join, -EINTR);
	settle();
	assert_int_equal(member[0].join.a.error, -EINTR);
	assert_int_equal(member[1].join.a.error, -ECONNABORTED);
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
		assert_int_equal(member[i].join.a.error, i == 2 ? -ENOMEM : -ECONNABORTED);
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

/* As long as rank 0 has not called, nobody answers: members call at growing intervals. */
static void tor_join_timer__calls_back_off(void **state)
{
	u32 sent;

	call_as(1, NODES, NULL, "secret");
	pass(NSEC_PER_SEC);
	sent = host.nsent;
	pass(10 * (u64)NSEC_PER_SEC);
	sent = host.nsent - sent;
	assert_in_range(sent, 10 * (u64)NSEC_PER_SEC / TOR_AGREE_REPEAT_MAX,
			10 * (u64)NSEC_PER_SEC / (2 * TOR_AGREE_REPEAT));
	tor_join_cancel(&ctx, &member[1].join, -EINTR);
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
	u8 body[sizeof(struct torcoll_comm_msg) + sizeof(struct torcoll_comm_terms)];
	struct tor_comm_msg got;

	tor_wire_put_comm(body, msg, NULL);
	if (!tor_wire_get_comm(body, tor_wire_comm_bytes(msg), &got))
		tor_join_rx(&ctx, &member[node].node, h, &got, known);
}

/* @rank calls rank 0 as a module from before there were terms does. */
static void call_without_terms(u32 rank, u32 frame_bytes)
{
	struct tor_hdr h = { .src = rank, .src_epoch = 5 };
	struct tor_comm_msg msg = {
		.step = TORCOLL_COMM_JOIN, .rank = rank, .ranks = NODES, .frame_bytes = frame_bytes, .nonce = 6,
		.name = member[0].join.name, .proof = member[0].join.proof,
		.members = member[0].join.members,
	};

	bring(0, &h, &msg, false);
	/* its answer is not for who stands for it here */
	delivered++;
}

/* Such a module is little-endian, has checksums and the default rates, or names other members. */
static void tor_join_rx__a_call_without_terms(void **state)
{
	struct tor_rates tuned = tor_rates_default;
	u32 i;

	tuned.byte++;
	for (i = 0; i < 4; i++) {
		static const u8 cause[] = { TORCOLL_CAUSE_UNKNOWN, TORCOLL_CAUSE_NO_TERMS,
					    TORCOLL_CAUSE_CHECKSUM, TORCOLL_CAUSE_ORDER };

		setup(NULL);
		member[0].join.rates = i == 1 ? tuned : tor_rates_default;
		member[0].node.checksum_payload = member[1].node.checksum_payload = i != 2;
		member[0].node.big_endian = member[1].node.big_endian = i == 3;
		call_as(0, NODES, NULL, "secret");
		call_as(1, NODES, NULL, "secret");
		call_without_terms(2, 1344);
		pass(NSEC_PER_SEC);
		assert_int_equal(member[0].join.fault.cause, cause[i]);
		assert_int_equal(member[0].done, i != 0);
		if (!i) {
			assert_int_equal(member[0].join.a.missing, 3);
			tor_join_cancel(&ctx, &member[0].join, -EINTR);
			settle();
			continue;
		}
		assert_int_equal(member[0].join.a.error, -EPROTO);
		assert_int_equal(member[1].join.fault.node, 2);
	}
}

/* Such a module knows multiples of 64 only, so no others are agreed on, whoever offers the least. */
static void tor_join_rx__a_coarse_unit(void **state)
{
	u32 i, k;

	for (k = 0; k < 2; k++) {
		u32 unit = k ? 1024 : tor_wire_unit_coarse(1436 - 60 * (NODES - 2));

		setup(NULL);
		/* whose module answers here is not the one that calls */
		deaf = NODES - 1;
		member[0].join.rates = tor_rates_default;
		for (i = 0; i < NODES - 1; i++) {
			member[i].node.checksum_payload = true;
			call_as(i, NODES, NULL, "secret");
		}
		call_without_terms(NODES - 1, k ? 1024 : 8832);
		pass(NSEC_PER_SEC);
		for (i = 0; i < NODES - 1; i++) {
			assert_int_equal(member[i].join.a.state, TOR_AGREE_ACCEPTING);
			assert_int_equal(member[i].join.a.unit, unit);
		}
		for (i = 0; i < NODES - 1; i++)
			tor_join_cancel(&ctx, &member[i].join, -EINTR);
		settle();
	}
}

/* What rank 0 of such a module says: it has the default rates, and has not compared anything. */
static void tor_join_rx__an_answer_without_terms(void **state)
{
	struct tor_hdr h = { .src = 0, .src_epoch = 5 };
	u32 i;

	for (i = 0; i < 2; i++) {
		struct tor_comm_msg msg = {
			.step = TORCOLL_COMM_READY, .rank = 1, .ranks = 2, .frame_bytes = 1024, .tag = 7,
			.epochs = 2,
		};
		u8 body[sizeof(struct torcoll_comm_msg) + 2 * sizeof(__be32)];
		struct tor_comm_msg got;
		u32 word[2];

		setup(NULL);
		member[1].node.big_endian = false;
		member[1].node.checksum_payload = !i;
		call_as(1, 2, NULL, "secret");
		msg.name = member[1].join.name;
		msg.nonce = member[1].join.nonce;
		word[0] = 5;
		word[1] = member[1].node.epoch;
		tor_wire_put_comm(body, &msg, word);
		assert_int_equal(tor_wire_get_comm(body, sizeof(body), &got), 0);
		tor_join_rx(&ctx, &member[1].node, &h, &got, false);
		assert_int_equal(member[1].join.a.error, i ? -EPROTO : 0);
		assert_int_equal(member[1].installed, i ? 0 : 7);
		if (!i)
			assert_memory_equal(&member[1].agreed, &tor_rates_default, sizeof(struct tor_rates));
		tor_join_cancel(&ctx, &member[1].join, -EINTR);
	}
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
		assert_int_equal(-member[1].join.a.error, may_end_a_join(error) ? error : EPROTO);
		assert_int_equal(member[1].join.a.missing, TOR_NO_RANK);
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
		assert_int_equal(member[0].join.a.error, errors[i]);
		assert_int_equal(member[1].join.a.error,
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
		msg.has_terms = i & 1;
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
		msg.has_terms = i & 1;
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

#define JOIN_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOIN_TEST(tor_join_start__everyone_comes),
		JOIN_TEST(tor_join_start__rank_0_is_last),
		JOIN_TEST(tor_join_start__early_calls_that_do_not_fit),
		JOIN_TEST(tor_join_start__an_early_caller_gave_up),
		JOIN_TEST(tor_join_start__alone),
		JOIN_TEST(tor_join_start__some_nodes_in_any_order),
		JOIN_TEST(tor_join_start__again_makes_another_tag),
		JOIN_TEST(tor_join_start__twice_on_a_node),
		JOIN_TEST(tor_join_rx__wrong_secret_hurts_only_who_has_it),
		JOIN_TEST(tor_join_rx__different_lists_fail_everywhere),
		JOIN_TEST(tor_join_rx__rates_are_those_of_rank_0),
		JOIN_TEST(tor_join_rx__another_byte_order),
		JOIN_TEST(tor_join_rx__another_checksum),
		JOIN_TEST(tor_join_rx__a_call_without_terms),
		JOIN_TEST(tor_join_rx__a_coarse_unit),
		JOIN_TEST(tor_join_rx__an_answer_without_terms),
		JOIN_TEST(tor_join_rx__refused_to_those_that_come_later),
		JOIN_TEST(tor_join_rx__next_attempt_is_not_refused),
		JOIN_TEST(tor_join_rx__forgotten_when_rank_0_calls),
		JOIN_TEST(tor_join_cancel__missing_member_is_named),
		JOIN_TEST(tor_join_cancel__who_gave_up_is_not_missing),
		JOIN_TEST(tor_join_cancel__who_called_and_died_is_missing),
		JOIN_TEST(tor_join_cancel__a_member_may_go_and_come_back),
		JOIN_TEST(tor_join_cancel__rank_0_gives_up),
		JOIN_TEST(tor_join_rx__refuse_by_any_error),
		JOIN_TEST(tor_join_cancel__told_as_what_it_is_to_others),
		JOIN_TEST(tor_join_rx__install_fails_at_one),
		JOIN_TEST(tor_join_timer__repeats_until_heard),
		JOIN_TEST(tor_join_timer__calls_back_off),
		JOIN_TEST(tor_join_timer__quiet_when_done),
		JOIN_TEST(tor_join_rx__random_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
