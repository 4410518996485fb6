// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Who belongs to a comm, and what its failure says: comm.c.
 */
#include "host_env.h"

#define NODES	40

static u32 member[NODES], order[NODES], epoch[NODES];
static struct tor_comm comm;
static struct tor_node node;

/* Members are every @step-th node, the last one first. */
static void begin(u32 ranks, u32 step)
{
	u32 i;

	memset(&comm, 0, sizeof(comm));
	memset(epoch, 0, sizeof(epoch));
	comm.node = &node;
	comm.tag = 77;
	comm.ranks = ranks;
	comm.depth = 8;
	comm.member = member;
	comm.order = order;
	comm.epoch = epoch;
	comm.error_rank = TOR_NO_RANK;
	for (i = 0; i < ranks; i++) {
		epoch[i] = 5;
		member[i] = (ranks - 1 - i) * step;
		order[i] = ranks - 1 - i;
	}
}

static int setup(void **state)
{
	static const u32 side[] = { NODES };
	struct tor_torus t;

	(void)state;
	host_reset();
	return tor_torus_init(&t, 1, side, 1) || tor_node_init(&node, &t, 1, 0);
}

static int teardown(void **state)
{
	(void)state;
	tor_node_destroy(&node);
	host_forget_sent();
	host_check_idle();
	return 0;
}

static void tor_comm_rank__of_every_node(void **state)
{
	u32 ranks, step, n;

	(void)state;
	for (step = 1; step <= 3; step++) {
		for (ranks = 1; ranks * step <= NODES; ranks++) {
			begin(ranks, step);
			for (n = 0; n < NODES; n++) {
				u32 rank = tor_comm_rank(&comm, n);

				if (n % step || n / step >= ranks)
					assert_int_equal(rank, TOR_NO_RANK);
				else
					assert_int_equal(tor_comm_node(&comm, rank), n);
			}
		}
	}
}

static void tor_comm_admit__members_in_one_incarnation(void **state)
{
	struct tor_hdr h = { .src_epoch = 5 };
	enum tor_counter why;
	u32 rank;

	(void)state;
	begin(10, 3);
	comm.rank = tor_comm_rank(&comm, 0);
	h.src = 6;
	assert_true(tor_comm_admit(&comm, &h, &rank, &why));
	assert_int_equal(member[rank], 6);
	/* restarted since */
	h.src_epoch = 6;
	assert_false(tor_comm_admit(&comm, &h, &rank, &why));
	assert_int_equal(why, TOR_C_DROP_EPOCH);
	/* no member, and ourselves */
	h.src = 7;
	assert_false(tor_comm_admit(&comm, &h, &rank, &why));
	assert_int_equal(why, TOR_C_DROP_COMM);
	h.src = 0;
	assert_false(tor_comm_admit(&comm, &h, &rank, &why));
	assert_int_equal(why, TOR_C_DROP_COMM);
}

static void tor_comm_fail__first_one_counts(void **state)
{
	struct tor_ctx ctx = { .now = 1 };

	(void)state;
	begin(4, 2);
	tor_comm_fail(&ctx, &comm, -EPROTO, 1, 9);
	tor_comm_fail(&ctx, &comm, -ECANCELED, 2, 10);
	assert_int_equal(host.comms_failed, 1);
	assert_int_equal(comm.error, -EPROTO);
	assert_int_equal(comm.error_rank, 1);
	assert_int_equal(comm.error_node, member[1]);
	assert_int_equal(comm.error_op, 9);
}

/* The others are told of the call, by its rank and the reason; the first failure counts. */
static void tor_comm_refused__all_is_told(void **state)
{
	const struct tor_wire_call call = { .rank = 1, .collective = TORCOLL_ALLREDUCE, .count = 77,
					    .type = TORCOLL_I32, .redop = TORCOLL_SUM };
	struct tor_ctx ctx = { .now = 1 };
	u8 body[sizeof(struct torcoll_abort)];

	(void)state;
	begin(4, 2);
	comm.rank = 1;
	tor_comm_fail_refusal(&ctx, &comm, 9, &call, EFAULT);
	tor_comm_fail_refusal(&ctx, &comm, 9, &call, ENOMEM);
	assert_int_equal(comm.error, -ECONNABORTED);
	assert_int_equal(comm.error_rank, 1);
	assert_int_equal(comm.error_node, member[1]);
	assert_int_equal(comm.refusal, EFAULT);
	assert_true(tor_comm_knows(&comm, 0));
	assert_false(tor_comm_knows(&comm, 1));

	/* another rank gets it in the same words */
	tor_comm_send_abort(&ctx, &comm, 2);
	assert_int_equal(host.nsent, 1);
	memcpy(body, host.sent[0].bytes + sizeof(struct torcoll_hdr), sizeof(body));
	begin(4, 2);
	tor_comm_abort_rx(&ctx, &comm, 2, body, sizeof(body));
	assert_int_equal(comm.error, -ECONNABORTED);
	assert_int_equal(comm.error_rank, 1);
	assert_int_equal(comm.refusal, EFAULT);
	assert_int_equal(comm.call[0].count, 77);
	/* a rank that merely leaves refuses nothing */
	begin(4, 2);
	tor_comm_fail(&ctx, &comm, -ECONNABORTED, 1, 9);
	assert_int_equal(comm.refusal, 0);
}

static void tor_comm_abort_rx__any_content_is_safe(void **state)
{
	struct tor_abort abort = { .error = EIO, .rank = 1 << 20 };
	u8 body[sizeof(struct torcoll_abort)];
	struct tor_ctx ctx = { .now = 1 };
	u32 len;

	(void)state;
	begin(4, 2);
	tor_wire_put_abort(body, &abort);
	for (len = 0; len < sizeof(body); len++)
		tor_comm_abort_rx(&ctx, &comm, 3, body, len);
	assert_int_equal(host.comms_failed, 0);
	assert_int_equal(host.counters[TOR_C_DROP_SHORT], sizeof(body));
	tor_comm_abort_rx(&ctx, &comm, 3, body, sizeof(body));
	assert_int_equal(comm.error, -EPROTO);
	/* a rank that is none: whoever says it */
	assert_int_equal(comm.error_rank, 3);
}

/* EINTR would have callers try again for ever, and what lies above 512 is the kernel's own. */
static void tor_comm_abort_rx__by_any_error(void **state)
{
	u8 body[sizeof(struct torcoll_abort)];
	struct tor_ctx ctx = { .now = 1 };
	u32 error;

	(void)state;
	for (error = 1; error < 4096; error++) {
		struct tor_abort abort = { .error = error, .rank = 2, .digest = { 1, 2 },
					   .call = { { .collective = 1 }, { .collective = 2 } } };
		bool said = error == EPROTO || error == ECONNABORTED || error == EHOSTDOWN ||
			    error == EHOSTUNREACH;

		begin(4, 2);
		tor_wire_put_abort(body, &abort);
		tor_comm_abort_rx(&ctx, &comm, 3, body, sizeof(body));
		assert_int_equal(-comm.error, said ? error : EPROTO);
		/* only of ranks that disagree has anyone called what stands there */
		assert_int_equal(comm.known, error == EPROTO ? 3 : 0);
		assert_int_equal(comm.digest[0], error == EPROTO);
	}
}

/* Messages of @from, as they were sent to all, come to @to. */
static void hand_on(struct tor_comm *from, struct tor_comm *to)
{
	struct tor_ctx ctx = { .now = 1 };
	const struct host_frame *f;

	host_forget_sent();
	tor_comm_send_abort(&ctx, from, to->rank);
	assert_int_equal(host.nsent, 1);
	f = &host.sent[0];
	assert_int_equal(f->len, sizeof(struct torcoll_hdr) + sizeof(struct torcoll_abort));
	tor_comm_abort_rx(&ctx, to, from->rank, f->bytes + sizeof(struct torcoll_hdr),
			  sizeof(struct torcoll_abort));
}

/* Whoever floods a node with frames of comms that it does not know, makes it say little. */
static void tor_comm_refuse__strangers_at_a_rate(void **state)
{
	struct tor_hdr h = { .src = 3, .src_epoch = 5, .comm = 77 };
	struct tor_ctx ctx = { .now = NSEC_PER_SEC };
	u32 i;

	(void)state;
	host_forget_sent();
	for (i = 0; i < 10000; i++)
		tor_comm_answer_gone(&ctx, &node, &h, 77);
	assert_int_equal(host.nsent, TOR_ANSWERS_AT_ONCE);
	for (i = 0; i < 10000; i++) {
		ctx.now += 100 * NSEC_PER_USEC;
		tor_comm_answer_gone(&ctx, &node, &h, 77);
	}
	assert_in_range(host.nsent - TOR_ANSWERS_AT_ONCE, 1999, 2001);
	/* after some silence, as at first */
	ctx.now += NSEC_PER_SEC;
	host_forget_sent();
	for (i = 0; i < 10000; i++)
		tor_comm_answer_gone(&ctx, &node, &h, 77);
	assert_int_equal(host.nsent, TOR_ANSWERS_AT_ONCE);
}

static void tor_comm_told__everyone_and_nobody_always_last(void **state)
{
	u32 ranks, round, i, last = 0;

	for (ranks = 3; ranks < 40; ranks++) {
		struct tor_comm c = { .ranks = ranks, .rank = ranks / 2 };
		u64 lasts = 0;

		for (round = 0; round < TOR_TELLINGS; round++) {
			u64 told = 0;

			for (i = 0; i < ranks; i++) {
				last = tor_comm_to_tell(&c, round, i);
				told |= 1ULL << last;
			}
			assert_true(told == (1ULL << ranks) - 1);
			assert_false(lasts >> last & 1);
			lasts |= 1ULL << last;
		}
	}
}

/* Rank 3's node does not know the comm any more: whoever waits for it learns that from the answer to what it sent. */
static void tor_comm_refuse__the_rank_that_left(void **state)
{
	const struct host_frame *f;
	struct tor_ctx ctx = { .now = 1 };
	enum tor_counter why;
	struct tor_node there = node;
	struct tor_hdr h, reply;

	begin(8, 1);
	h.src = node.self;
	h.src_epoch = node.epoch;
	there.self = tor_comm_node(&comm, 3);
	host_forget_sent();
	tor_comm_answer_gone(&ctx, &there, &h, comm.tag);
	assert_int_equal(host.nsent, 1);
	f = &host.sent[0];
	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &reply, &why), 0);
	assert_int_equal(reply.type, TORCOLL_FRAME_ABORT);
	assert_int_equal(reply.dst, comm.node->self);
	assert_int_equal(reply.dst_epoch, comm.node->epoch);
	assert_int_equal(reply.comm, comm.tag);
	tor_comm_abort_rx(&ctx, &comm, 3, f->bytes + sizeof(struct torcoll_hdr), reply.length);
	assert_int_equal(comm.error, -ECONNABORTED);
	assert_int_equal(comm.error_rank, 3);
	assert_int_equal(comm.error_node, tor_comm_node(&comm, 3));
	/* that node tells no other rank, so this one does */
	assert_int_equal(host.comms_told, 0);
	host_forget_sent();
	tor_comm_send_abort(&ctx, &comm, 2);
	f = &host.sent[0];
	tor_comm_abort_rx(&ctx, &comm, 3, f->bytes + sizeof(struct torcoll_hdr), reply.length);
	assert_int_equal(host.comms_told, 1);
}

static struct tor_comm side[4];
static struct tor_op op_of_2;

const struct tor_op *tor_env_comm_op(struct tor_comm *c, u32 rank, u8 role, u32 peer, u32 seq)
{
	return c == &side[2] && op_of_2.seq ? &op_of_2 : NULL;
}

/* Rank 1 finds that rank 2 has called something else; rank 3 hears of it. In the end all know both calls. */
static void mismatch(bool past)
{
	const struct tor_wire_call one = { .count = 100, .rank = 1, .collective = TORCOLL_ALLREDUCE,
					   .type = TORCOLL_F32, .redop = TORCOLL_SUM };
	const struct tor_wire_call other = { .count = 200, .rank = 2, .collective = TORCOLL_BROADCAST,
					     .type = TORCOLL_I8, .root = 3 };
	struct tor_ctx ctx = { .now = 1 };
	u32 i;

	begin(4, 2);
	for (i = 0; i < 4; i++) {
		side[i] = comm;
		side[i].rank = i;
	}
	memset(&op_of_2, 0, sizeof(op_of_2));
	op_of_2.seq = 7;
	op_of_2.digest = 0xbbbb;
	op_of_2.stated = other;
	tor_turn_begin(&op_of_2);
	if (past) {
		tor_turn_end(&op_of_2);
		op_of_2.seq = 7 + comm.depth;
		op_of_2.stated = one;
		tor_turn_begin(&op_of_2);
	}

	tor_comm_mismatch(&ctx, &side[1], 7, &one, 0xaaaa, 2, 0xbbbb);
	assert_int_equal(atomic_read(&side[1].explained), TOR_EXPLAINED_HALF);
	hand_on(&side[1], &side[3]);
	assert_int_equal(atomic_read(&side[3].explained), TOR_EXPLAINED_HALF);
	hand_on(&side[1], &side[2]);
	hand_on(&side[2], &side[1]);
	hand_on(&side[2], &side[3]);
	for (i = 1; i < 4; i++) {
		assert_int_equal(side[i].error, -EPROTO);
		assert_int_equal(side[i].error_rank, 2);
		assert_int_equal(side[i].error_op, 7);
		assert_int_equal(atomic_read(&side[i].explained), TOR_EXPLAINED);
		assert_memory_equal(&side[i].call[0], &one, sizeof(one));
		assert_memory_equal(&side[i].call[1], &other, sizeof(other));
	}
}

static void tor_comm_mismatch__both_sides_known_everywhere(void **state)
{
	(void)state;
	mismatch(false);
	/* the op that rank 2 took for this one is over there */
	mismatch(true);
}

static void tor_comm_mismatch__found_by_both(void **state)
{
	const struct tor_wire_call one = { .count = 100, .rank = 1, .collective = TORCOLL_ALLREDUCE };
	const struct tor_wire_call other = { .count = 200, .rank = 2, .collective = TORCOLL_ALLREDUCE };
	struct tor_ctx ctx = { .now = 1 };
	u32 i;

	(void)state;
	begin(4, 2);
	for (i = 0; i < 4; i++) {
		side[i] = comm;
		side[i].rank = i;
	}
	memset(&op_of_2, 0, sizeof(op_of_2));
	tor_comm_mismatch(&ctx, &side[1], 7, &one, 0xaaaa, 2, 0xbbbb);
	tor_comm_mismatch(&ctx, &side[2], 7, &other, 0xbbbb, 1, 0xaaaa);
	hand_on(&side[1], &side[3]);
	hand_on(&side[2], &side[3]);
	hand_on(&side[1], &side[2]);
	hand_on(&side[2], &side[1]);
	for (i = 1; i < 4; i++)
		assert_int_equal(atomic_read(&side[i].explained), TOR_EXPLAINED);
	assert_memory_equal(&side[2].call[0], &other, sizeof(other));
	assert_memory_equal(&side[2].call[1], &one, sizeof(one));
	assert_memory_equal(&side[3].call[1], &other, sizeof(other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tor_comm_rank__of_every_node, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_comm_admit__members_in_one_incarnation, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tor_comm_fail__first_one_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_comm_refused__all_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_comm_refuse__the_rank_that_left, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_comm_refuse__strangers_at_a_rate, setup, teardown),
		cmocka_unit_test(tor_comm_told__everyone_and_nobody_always_last),
		cmocka_unit_test_setup_teardown(tor_comm_mismatch__both_sides_known_everywhere,
						setup, teardown),
		cmocka_unit_test_setup_teardown(tor_comm_mismatch__found_by_both, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tor_comm_abort_rx__any_content_is_safe, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tor_comm_abort_rx__by_any_error, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
