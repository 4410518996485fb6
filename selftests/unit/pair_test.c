// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Messages between two ranks: pair.c and what the engine does about them. */
#include "pair_ranks.h"

static u32 length(u32 from, u32 to, u32 seq)
{
	static const u32 bytes[] = { 1, UNIT, 0, UNIT + 1, 20 * UNIT + 7, 100 * UNIT };

	return bytes[(from + 2 * to + seq) % ARRAY_SIZE(bytes)];
}

/* Can @i call the next message of this series, and is there one? */
static bool can_call(u32 i, u8 role, u32 peer)
{
	const struct series *s = series_of(&rank[i], role, peer);

	return !s->made || (s->next <= MESSAGES && !s->slot[s->next % DEPTH].busy);
}

/* One end of some message, chosen by chance; what was in its slot is looked at first. */
static void call_any(u64 *seed)
{
	u32 i = host_rand(seed) % RANKS, peer = host_rand(seed) % RANKS;
	u8 role = host_rand(seed) % 2 ? TOR_ROLE_SEND : TOR_ROLE_RECV;
	const struct series *s = series_of(&rank[i], role, peer);
	u32 from = role == TOR_ROLE_SEND ? i : peer, to = from == i ? peer : i;
	u32 seq = s->made ? s->next : 1;

	if (!can_call(i, role, peer))
		return;
	if (role == TOR_ROLE_RECV && seq > DEPTH)
		assert_received(&s->slot[seq % DEPTH], from, to, seq - DEPTH,
				length(from, to, seq - DEPTH));
	call(i, role, peer, length(from, to, seq), TORCOLL_U8);
}

static bool all_called(void)
{
	u32 i, k;

	for (i = 0; i < RANKS; i++)
		for (k = 0; k < RANKS; k++)
			if (rank[i].to[k].next <= MESSAGES || rank[i].from[k].next <= MESSAGES)
				return false;
	return true;
}

/* All pairs, in any order of calls, and in between an allreduce now and then. */
static void at_random(u64 seed, u64 frames_lost)
{
	u32 i, k, s, turns = 0;

	setup(NULL);
	loss = frames_lost;
	luck = seed + 1000;
	while (!all_called()) {
		call_any(&seed);
		if (++turns % 64 == 0 && !shared)
			for (i = 0; i < RANKS; i++)
				if (!rank[i].calls.slot[rank[i].calls.next % DEPTH].busy)
					call(i, 0, TOR_NO_RANK, 50, TORCOLL_I32);
		pass(host_rand(&seed) % 3 * STEP);
		assert_in_range(turns, 0, 20000);
	}
	/* an allreduce that not all have called is called by the rest */
	for (i = 0, k = 0; i < RANKS; i++)
		k = max(k, rank[i].calls.next);
	for (i = 0; i < RANKS; i++)
		while (!shared && rank[i].calls.next < k) {
			pass(STEP);
			if (!rank[i].calls.slot[rank[i].calls.next % DEPTH].busy)
				call(i, 0, TOR_NO_RANK, 50, TORCOLL_I32);
		}
	pass(20 * (u64)NSEC_PER_SEC);
	for (i = 0; i < RANKS; i++) {
		assert_false(rank[i].failed);
		for (k = 0; k < RANKS; k++)
			for (s = MESSAGES; s > MESSAGES - DEPTH; s--)
				assert_received(&rank[i].from[k].slot[s % DEPTH], k, i, s,
						length(k, i, s));
	}
	assert_int_equal(!!lost, !!frames_lost);
	teardown(NULL);
}

static void pair__any_order(void **state)
{
	u64 seed;

	for (seed = 0; seed < 6; seed++)
		at_random(seed, 0);
}

static void pair__any_order_with_loss(void **state)
{
	u64 seed;

	for (seed = 0; seed < 6; seed++)
		at_random(seed, 50);
}

static void tor_pair_refuse__then_invited_at_once(void **state)
{
	struct slot *sent[DEPTH], *received;
	u32 k;

	for (k = 0; k < DEPTH; k++)
		sent[k] = call(0, TOR_ROLE_SEND, 2, 1000, TORCOLL_U8);
	pass(10 * (u64)NSEC_PER_SEC);
	assert_false(sent[0]->done);
	assert_true(rank[2].refused[0]);
	for (k = 0; k < DEPTH; k++) {
		received = call(2, TOR_ROLE_RECV, 0, 1000, TORCOLL_U8);
		/* not at the next probe */
		assert_received(received, 0, 2, k + 1, 1000);
		assert_true(sent[k]->done);
	}
}

static void tor_chan_meet__in_pieces(void **state)
{
	struct slot *sent, *received;

	sent = call(1, TOR_ROLE_SEND, 1, BYTES - 1, TORCOLL_U8);
	assert_false(sent->done);
	received = call(1, TOR_ROLE_RECV, 1, BYTES - 1, TORCOLL_U8);
	assert_true(sent->done);
	assert_received(received, 1, 1, 1, BYTES - 1);
}

static void tor_chan_meet__without_elements(void **state)
{
	u32 k;

	/* one end is ahead by more than there are slots */
	for (k = 0; k < 3 * DEPTH; k++)
		assert_true(call(1, TOR_ROLE_RECV, 1, 0, TORCOLL_U8)->done);
	assert_false(call(1, TOR_ROLE_RECV, 1, 5, TORCOLL_U8)->done);
	for (k = 0; k < 3 * DEPTH; k++)
		assert_true(call(1, TOR_ROLE_SEND, 1, 0, TORCOLL_U8)->done);
	assert_true(call(1, TOR_ROLE_SEND, 1, 5, TORCOLL_U8)->done);
	assert_received(&rank[1].from[1].slot[(3 * DEPTH + 1) % DEPTH], 1, 1, 3 * DEPTH + 1, 5);
	assert_false(rank[1].failed);
}

static void assert_disagreed(u32 from, u32 to, u64 sent, u64 received)
{
	u32 i, k;

	for (i = 0; i < RANKS; i++) {
		const struct tor_comm *comm = tor_comm_carrier(&rank[i].comm);

		assert_true(rank[i].failed);
		assert_int_equal(rank[i].comm.error, -EPROTO);
		assert_int_equal(comm->error_op, 1);
		assert_int_equal(atomic_read(&comm->explained), TOR_EXPLAINED);
		k = comm->call[1].collective == TORCOLL_SEND;
		assert_int_equal(comm->call[k].collective, TORCOLL_SEND);
		assert_int_equal(comm->call[k].rank, from);
		assert_int_equal(comm->call[k].root, to);
		assert_int_equal(comm->call[k].count, sent);
		assert_int_equal(comm->call[!k].collective, TORCOLL_RECV);
		assert_int_equal(comm->call[!k].rank, to);
		assert_int_equal(comm->call[!k].root, from);
		assert_int_equal(comm->call[!k].count, received);
	}
}

/* What tor_op_begin() makes of a message of rank 1 to itself. */
static u32 digest_to_self(u64 count)
{
	struct tor_call c = {
		.ranks = RANKS, .collective = TORCOLL_SEND, .algorithm = TORCOLL_DIRECT,
		.type = TORCOLL_U8, .root = 1, .count = count,
	};

	return tor_op_digest(&c);
}

/* Digests have 32 bits: whoever wants to read behind the sender's data finds two calls with the same one. */
static void tor_chan_meet__equal_digests(void **state)
{
	struct slot *received;

	assert_int_equal(digest_to_self(5920), digest_to_self(21789));
	call(1, TOR_ROLE_SEND, 1, 5920, TORCOLL_U8);
	received = call(1, TOR_ROLE_RECV, 1, 21789, TORCOLL_U8);
	assert_true(rank[1].failed);
	assert_int_equal(rank[1].comm.error, -EPROTO);
	assert_int_equal(received->lane[0].chan.met, 0);
}

/* Whoever calls first, however long it is, to others or to oneself, everyone is told what both called. */
static void pair__disagrees(void **state)
{
	static const u64 count[][2] = { { 5, 6 }, { 1000, 5 }, { 5, 1000 }, { 0, 5 }, { 5, 0 } };
	u32 n, first, to;

	for (n = 0; n < ARRAY_SIZE(count); n++) {
		for (first = 0; first < 2; first++) {
			for (to = 1; to < RANKS; to++) {
				setup(NULL);
				if (first)
					call(1, TOR_ROLE_SEND, to, count[n][0], TORCOLL_U8);
				pass(2 * STEP);
				call(to, TOR_ROLE_RECV, 1, count[n][1], TORCOLL_U8);
				pass(2 * STEP);
				if (!first)
					call(1, TOR_ROLE_SEND, to, count[n][0], TORCOLL_U8);
				pass(3 * (u64)NSEC_PER_SEC);
				assert_disagreed(1, to, count[n][0], count[n][1]);
				teardown(NULL);
			}
		}
	}
}

/*
 * The one that has not called is named, whichever end that is, and also where it has never heard of the other; to others, the one
 * that did not wait.
 */
static void pair__late(void **state)
{
	static const u8 role[] = { TOR_ROLE_SEND, TOR_ROLE_RECV };
	u32 k, peer, i;

	for (k = 0; k < 2; k++) {
		for (peer = 0; peer < RANKS; peer++) {
			setup(NULL);
			deadline = ctx.now + NSEC_PER_SEC;
			call(1, role[k], peer, 1000, TORCOLL_U8);
			pass(NSEC_PER_SEC - 2 * STEP);
			assert_false(rank[1].failed);
			pass(TOR_LATE_WAIT + 4 * STEP);
			assert_int_equal(rank[1].comm.error, -ETIMEDOUT);
			assert_int_equal(rank[1].comm.error_rank, peer);
			for (i = 0; i < RANKS; i++) {
				if (i == 1)
					continue;
				assert_int_equal(rank[i].comm.error, -ECONNABORTED);
				assert_int_equal(rank[i].comm.error_rank, 1);
			}
			teardown(NULL);
		}
	}
}

/* What is not received holds up neither the other rank of the receiver's node, nor that of the sender's. */
static void pair__shares_nodes(void **state)
{
	struct slot *waits, *sent;
	u32 k;

	waits = call(0, TOR_ROLE_SEND, 1, 100 * UNIT, TORCOLL_U8);
	for (k = 1; k <= 3 * DEPTH; k++) {
		sent = call(0, TOR_ROLE_SEND, 3, 1000, TORCOLL_U8);
		assert_received(call(3, TOR_ROLE_RECV, 0, 1000, TORCOLL_U8), 0, 3, k, 1000);
		assert_true(sent->done);
	}
	assert_false(waits->done);
	assert_received(call(1, TOR_ROLE_RECV, 0, 100 * UNIT, TORCOLL_U8), 0, 1, 1, 100 * UNIT);
	pass(STEP);
	assert_true(waits->done);
}

/* Between the two of a node, whoever comes second: no frame leaves. */
static void tor_chan_meet__of_a_node(void **state)
{
	struct slot *a, *b;

	a = call(1, TOR_ROLE_SEND, 3, BYTES - 1, TORCOLL_U8);
	assert_false(a->done);
	b = call(3, TOR_ROLE_RECV, 1, BYTES - 1, TORCOLL_U8);
	assert_true(a->done);
	assert_received(b, 1, 3, 1, BYTES - 1);
	b = call(1, TOR_ROLE_RECV, 3, 7, TORCOLL_U8);
	assert_false(b->done);
	a = call(3, TOR_ROLE_SEND, 1, 7, TORCOLL_U8);
	assert_true(a->done);
	assert_received(b, 3, 1, 1, 7);
	assert_int_equal(frames, 0);
}

static void tor_plan_message__refuses(void **state)
{
	struct tor_call called = {
		.torus = &at_node(0)->node.torus, .ranks = RANKS, .collective = TORCOLL_SEND, .count = 1,
	};
	const char *why;
	struct tor_plan p;

	assert_int_equal(tor_plan_message(&p, &called, 0, &why), 0);
	called.algorithm = TORCOLL_RING;
	assert_int_equal(tor_plan_message(&p, &called, 0, &why), -EOPNOTSUPP);
	called.algorithm = TORCOLL_DIRECT;
	called.param[TORCOLL_PARAM_CHANNELS] = 1;
	assert_int_equal(tor_plan_message(&p, &called, 0, &why), -EOPNOTSUPP);
	called.param[TORCOLL_PARAM_CHANNELS] = 0;
	called.peer = RANKS;
	assert_int_equal(tor_plan_message(&p, &called, 0, &why), -EINVAL);
	called.peer = 0;
	called.root = RANKS;
	assert_int_equal(tor_plan_message(&p, &called, 0, &why), -EINVAL);
}

/* Whoever sends what fits a frame goes on, as many times as there are slots. What waits for nobody fails nobody. */
static void tor_chan_hold__short_ones(void **state)
{
	struct slot *sent[DEPTH], *longer;
	u32 k;

	deadline = ctx.now + NSEC_PER_SEC;
	for (k = 0; k < DEPTH; k++) {
		sent[k] = call(1, TOR_ROLE_SEND, 3, UNIT - k, TORCOLL_U8);
		assert_true(sent[k]->done);
		assert_true(sent[k]->busy);
		/* its memory is the caller's again */
		memset(sent[k]->data.data, 0xff, UNIT);
	}
	pass(2 * (u64)NSEC_PER_SEC);
	assert_false(rank[1].failed);
	deadline = 0;
	for (k = 0; k < DEPTH; k++) {
		assert_received(call(3, TOR_ROLE_RECV, 1, UNIT - k, TORCOLL_U8), 1, 3, k + 1,
				UNIT - k);
		assert_false(sent[k]->busy);
	}
	longer = call(1, TOR_ROLE_SEND, 3, UNIT + 1, TORCOLL_U8);
	assert_false(longer->done);
	assert_int_equal(atomic_read(&rank[1].comm.kept), 0);
	assert_int_equal(frames, 0);
}

/* Its receiver has left: nobody waits for the slots of what was sent to it. */
static void tor_chan_unhold__frees_the_slots(void **state)
{
	struct slot *sent[DEPTH], *waits;
	u32 k;

	for (k = 0; k < DEPTH; k++)
		sent[k] = call(1, TOR_ROLE_SEND, 3, 10, TORCOLL_U8);
	assert_int_not_equal(atomic_read(&rank[1].comm.kept), 0);
	for (k = 0; k < DEPTH; k++) {
		tor_chan_unhold(&ctx, &sent[k]->lane[0].chan);
		leave_all();
		assert_false(sent[k]->busy);
	}
	assert_int_equal(atomic_read(&rank[1].comm.kept), 0);
	assert_false(rank[1].failed);
	/* what is not done, or not begun, stays as it is */
	waits = call(1, TOR_ROLE_SEND, 3, UNIT + 1, TORCOLL_U8);
	for (k = 0; k < DEPTH; k++)
		tor_chan_unhold(&ctx, &sent[k]->lane[0].chan);
	assert_true(waits->busy);
	assert_false(waits->done);
}

/* Who has no room for it waits. */
static void tor_chan_hold__no_room(void **state)
{
	struct slot *sent;

	atomic_set(&rank[1].comm.kept, TOR_KEPT_HIGH + 1);
	sent = call(1, TOR_ROLE_SEND, 1, 10, TORCOLL_U8);
	assert_false(sent->done);
	atomic_set(&rank[1].comm.kept, 0);
	assert_received(call(1, TOR_ROLE_RECV, 1, 10, TORCOLL_U8), 1, 1, 1, 10);
	assert_true(sent->done);
}

static int setup_shared(void **state)
{
	shared = true;
	return setup(state);
}

/* The tests that set up by themselves. */
static int share(void **state)
{
	shared = true;
	return 0;
}

static int unshare(void **state)
{
	shared = false;
	return 0;
}

static int teardown_shared(void **state)
{
	teardown(state);
	return unshare(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair__any_order),
		cmocka_unit_test(pair__any_order_with_loss),
		cmocka_unit_test_setup_teardown(tor_pair_refuse__then_invited_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_meet__in_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_meet__without_elements, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_meet__equal_digests, setup, teardown),
		cmocka_unit_test(pair__disagrees),
		cmocka_unit_test(pair__late),
		cmocka_unit_test_setup_teardown(tor_plan_message__refuses, setup, teardown),
	}, of_teams[] = {
		cmocka_unit_test_setup_teardown(pair__any_order, share, unshare),
		cmocka_unit_test_setup_teardown(pair__any_order_with_loss, share, unshare),
		cmocka_unit_test_setup_teardown(pair__disagrees, share, unshare),
		cmocka_unit_test_setup_teardown(pair__late, share, unshare),
		cmocka_unit_test_setup_teardown(pair__shares_nodes, setup_shared, teardown_shared),
		cmocka_unit_test_setup_teardown(tor_chan_meet__of_a_node, setup_shared, teardown_shared),
		cmocka_unit_test_setup_teardown(tor_chan_hold__short_ones, setup_shared, teardown_shared),
		cmocka_unit_test_setup_teardown(tor_chan_unhold__frees_the_slots, setup_shared, teardown_shared),
		cmocka_unit_test_setup_teardown(tor_chan_hold__no_room, setup_shared, teardown_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ||
	       cmocka_run_group_tests(of_teams, NULL, NULL);
}
