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
	comm.ranks = ranks;
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
	tor_comm_abort_rx(&ctx, &comm, 3, body, sizeof(body));
	assert_int_equal(comm.error, -EIO);
	/* a rank that is none: whoever says it */
	assert_int_equal(comm.error_rank, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tor_comm_rank__of_every_node, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_comm_admit__members_in_one_incarnation, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tor_comm_fail__first_one_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_comm_abort_rx__any_content_is_safe, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
