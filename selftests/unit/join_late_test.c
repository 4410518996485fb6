// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Creating a comm while messages are lost, cross each other, or come when the join that they are of is over. */
#include "join_members.h"

static void cancel_unheard(u32 node)
{
	tor_join_cancel(&ctx, &member[node].join, -EINTR);
	delivered = host.nsent;
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
		assert_int_equal(member[i].join.a.error, i == 2 ? -EINTR : -ECONNABORTED);
	}
	assert_int_equal(member[1].join.a.missing, 2);
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
		assert_int_equal(member[i].join.a.error, -ECONNABORTED);
		call_again(i);
	}
	pass(2 * (u64)NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

/* A rank restarts when all but one have accepted: that one cannot know, and nobody has the comm. */
static void tor_join_rx__comm_failed_before_all_have_it(void **state)
{
	u32 i;

	deaf = 4;
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	assert_true(member[0].installed && !member[4].installed);
	member[0].failed = true;
	deaf = NODES;
	pass(2 * (u64)NSEC_PER_SEC);
	for (i = 0; i < NODES; i++) {
		assert_true(member[i].done);
		assert_int_equal(member[i].join.a.error, -ECONNABORTED);
	}
}

/* That others have the comm says the same: rank 0 may be dead by now. */
static void tor_join_complete__go_was_lost(void **state)
{
	u64 lineage;
	u32 i;

	deaf = 3;
	deaf_to = TORCOLL_COMM_GO;
	for (i = 0; i < NODES; i++)
		call_as(i, NODES, NULL, "secret");
	assert_true(member[1].done);
	assert_false(member[3].done);
	lineage = tor_join_lineage(&member[1].join);
	tor_join_complete(&ctx, &member[3].node, lineage + 1);
	assert_false(member[3].done);
	tor_join_complete(&ctx, &member[3].node, lineage);
	assert_all_joined(NODES, NULL);
}

/* Nor does it concern a call that nobody has accepted. */
static void tor_join_complete__not_accepted(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		call_as(i, NODES, NULL, "secret");
	for (i = 0; i < 4; i++) {
		tor_join_complete(&ctx, &member[i].node, tor_join_lineage(&member[i].join));
		assert_false(member[i].done);
		tor_join_cancel(&ctx, &member[i].join, -EINTR);
	}
}

/* A call that was repeated before its refusal came is none of the next join: that would not find its caller. */
static void tor_join_rx__a_call_crosses_its_refusal(void **state)
{
	u32 i;

	for (i = 0; i < NODES - 1; i++)
		call_as(i, NODES, NULL, "secret");
	ctx.now += TOR_AGREE_REPEAT_MAX;
	tor_join_cancel(&ctx, &member[0].join, -EINTR);
	tor_join_timer(&ctx, &member[1].node);
	settle();
	assert_int_equal(member[1].join.a.error, -ECONNABORTED);

	for (i = 2; i < NODES - 1; i++)
		call_again(i);
	call_as(NODES - 1, NODES, NULL, "secret");
	call_again(0);
	assert_false(member[0].done);
	assert_int_equal(member[0].join.a.missing, 1);
	call_again(1);
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

/* The first call of a node that was sent since, as it came. */
static struct host_frame call_of(u32 node, u32 since)
{
	enum tor_counter why;
	struct tor_hdr h;

	for (; since < host.nsent; since++) {
		const struct host_frame *f = &host.sent[since];

		assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
		if (h.src == node && h.dst == 0)
			return *f;
	}
	fail();
	return (struct host_frame){ 0 };
}

/* A call was repeated, and overtaken: no join takes it, before or after it has its member's next one. */
static void tor_join_rx__a_call_comes_late(void **state)
{
	struct host_frame late;
	u32 i, before;

	for (before = 0; before < 2; before++) {
		setup(NULL);
		for (i = 0; i < NODES; i++)
			call_as(i, NODES, NULL, "secret");
		late = call_of(1, 0);
		assert_all_joined(NODES, NULL);
		for (i = 2; i < NODES; i++)
			call_again(i);
		if (before)
			hand_on(&late);
		call_again(0);
		assert_false(member[0].done);
		assert_int_equal(member[0].join.a.missing, 1);
		deaf = 1;
		call_again(1);
		if (!before)
			hand_on(&late);
		settle();
		deaf = NODES;
		pass(NSEC_PER_SEC);
		assert_all_joined(NODES, NULL);
	}
}

/* The same of one that has given up. */
static void tor_join_rx__a_call_comes_after_its_end(void **state)
{
	struct host_frame late;
	u32 i;

	call_as(1, NODES, NULL, "secret");
	late = call_of(1, 0);
	tor_join_cancel(&ctx, &member[1].join, -EINTR);
	settle();
	hand_on(&late);
	for (i = 0; i < NODES; i++)
		if (i != 1)
			call_as(i, NODES, NULL, "secret");
	assert_false(member[0].done);
	assert_int_equal(member[0].join.a.missing, 1);
	call_again(1);
	pass(NSEC_PER_SEC);
	assert_all_joined(NODES, NULL);
}

#define JOIN_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOIN_TEST(tor_join_rx__leave_was_lost),
		JOIN_TEST(tor_join_rx__refuse_was_lost),
		JOIN_TEST(tor_join_rx__comm_failed_before_all_have_it),
		JOIN_TEST(tor_join_complete__go_was_lost),
		JOIN_TEST(tor_join_complete__not_accepted),
		JOIN_TEST(tor_join_rx__a_call_crosses_its_refusal),
		JOIN_TEST(tor_join_rx__a_call_comes_late),
		JOIN_TEST(tor_join_rx__a_call_comes_after_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
