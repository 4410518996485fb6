// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Paths of a comm of very many ranks: those that are used take memory. And what there is without memory for them. */
#include "host_env.h"

#include <stdlib.h>

#include "core/engine/chan.h"

#define RANKS		16384
#define SIDE		128
#define BYTES_MAX	(32 << 10)

static u32 epoch[RANKS];
static struct tor_node node;
static struct tor_comm comm;
static struct tor_op op;
static struct tor_chan chan;
static struct tor_ctx ctx;

static int setup(void **state)
{
	u32 side[] = { SIDE, SIDE };

	(void)state;
	host_reset();
	memset(&node, 0, sizeof(node));
	memset(&comm, 0, sizeof(comm));
	memset(&chan, 0, sizeof(chan));
	assert_int_equal(tor_torus_init(&node.torus, 2, side, 1), 0);
	comm.node = &node;
	comm.ranks = RANKS;
	comm.unit = 1024;
	comm.depth = 8;
	comm.epoch = epoch;
	comm.path = calloc(tor_path_groups(RANKS), sizeof(*comm.path));
	op.comm = &comm;
	tor_chan_init(&chan, &op, 0, 5);
	ctx.now = 1000;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tor_comm_paths_free(&comm);
	free(comm.path);
	host_check_idle();
	return 0;
}

static u64 bytes_of_paths(void)
{
	return tor_path_groups(RANKS) * sizeof(*comm.path) +
	       (u64)atomic_read(&comm.path_groups) * TOR_PATH_GROUP * sizeof(struct tor_path);
}

/* All ranks that an allreduce exchanges frames with. */
static void use(u32 algorithm)
{
	struct tor_call call = {
		.torus = &node.torus, .ranks = RANKS, .collective = TORCOLL_ALLREDUCE,
		.algorithm = algorithm, .count = RANKS,
	};
	struct tor_cursor c;
	struct tor_plan plan;
	struct tor_piece x;
	u32 ch, t;

	assert_int_equal(tor_plan_init(&plan, &call, 0, NULL), 0);
	for (ch = 0; ch < plan.shape.channels; ch++)
		for (t = 0; t < tor_plan_rounds(&plan, ch); t++) {
			tor_plan_begin(&plan, ch, t, &c);
			while (tor_plan_next(&plan, &c, &x))
				if (x.src != x.dst)
					assert_non_null(tor_comm_path(&comm, x.src ? x.src : x.dst));
		}
}

static void tor_comm_path__few_of_many(void **state)
{
	static const u32 algorithms[] = {
		TORCOLL_TREE, TORCOLL_BIBUCKET, TORCOLL_BUCKET, TORCOLL_SWING_BW, TORCOLL_RECDOUB_BW,
		TORCOLL_TRIVANCE_BW,
	};
	u32 i;

	(void)state;
	assert_null(tor_comm_known_path(&comm, 77));
	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		use(algorithms[i]);
	assert_true(atomic_read(&comm.path_groups) > 8);
	assert_true(bytes_of_paths() <= BYTES_MAX);
}

static void tor_comm_path__stays(void **state)
{
	struct tor_path *path = tor_comm_path(&comm, RANKS - 1);

	(void)state;
	assert_int_equal(atomic_read(&comm.path_groups), 1);
	assert_ptr_equal(tor_comm_path(&comm, RANKS - 1), path);
	assert_ptr_equal(tor_comm_known_path(&comm, RANKS - 1), path);
	assert_ptr_equal(tor_comm_path(&comm, RANKS - 2), path - 1);
	assert_int_equal(atomic_read(&comm.path_groups), 1);
	/* another channel has made it meanwhile */
	assert_ptr_equal(tor_comm_path_make(&comm, RANKS - 1), path);
	assert_int_equal(atomic_read(&comm.path_groups), 1);
}

/* What is owed to one rank must not go to another: it is sent at once. */
static void tor_comm_path__no_memory(void **state)
{
	struct tor_ack acks[TOR_DUE_WORDS];

	(void)state;
	host.fail_after = 0;
	assert_ptr_equal(tor_comm_path(&comm, 5), &comm.nobody);
	assert_ptr_equal(tor_comm_path(&comm, 6), &comm.nobody);
	tor_chan_owe(&ctx, &chan, 5, 1, 0);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(tor_comm_take_due(&comm, 6, acks, TOR_DUE_WORDS), 0);
	host.fail_after = ~0U;
	tor_chan_owe(&ctx, &chan, 5, 2, 0);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(tor_comm_take_due(&comm, 5, acks, TOR_DUE_WORDS), 1);
}

#define CASE(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(tor_comm_path__few_of_many),
		CASE(tor_comm_path__stays),
		CASE(tor_comm_path__no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
