// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A root that is ahead of thousands of ranks: rank 0 of a line, in a scatter whose blocks fit a frame each, by `direct`, which
 * sends each rank its own. The others are late.
 */
#include "host_env.h"
#include "core/engine/chan.h"

#define RANKS		4096
#define UNIT		8896
#define BLOCK		16		/* elements */
#define AHEAD		1032		/* transfers that may be open, with those of a round */

struct fixture {
	struct tor_node node;
	struct tor_comm comm;
	struct tor_op op;
	struct tor_chan chan;
	struct tor_mem data, temp;
	struct tor_ctx ctx;
	u32 sent[RANKS];		/* frames to each */
	u32 asked;			/* of them, with a request for an acknowledgement */
	u32 last[RANKS], nlast;		/* ranks that frames since the last look were for */
};

static void begin_op(struct fixture *f)
{
	struct tor_call call = {
		.torus = &f->node.torus,
		.ranks = RANKS,
		.collective = TORCOLL_SCATTER,
		.algorithm = TORCOLL_DIRECT,
		.type = TORCOLL_F32,
		.count = RANKS * BLOCK,
	};
	const char *why = "";

	assert_int_equal(tor_op_begin(&f->op, 1, &call, &why), 0);
	f->op.data = &f->data;
	f->op.temp = &f->temp;
}

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));
	static const u32 side = RANKS;
	struct tor_torus torus;
	u32 bytes = RANKS * BLOCK * sizeof(float), rank;

	host_reset();
	assert_int_equal(tor_torus_init(&torus, 1, &side, 2), 0);
	assert_int_equal(tor_node_init(&f->node, &torus, 1, 0), 0);
	f->comm.node = &f->node;
	f->comm.ranks = RANKS;
	f->comm.tag = 77;
	f->comm.unit = UNIT;
	f->comm.depth = 8;
	f->comm.channels = 1;
	f->comm.epoch = test_calloc(RANKS, sizeof(u32));
	f->comm.path = test_calloc(tor_path_groups(RANKS), sizeof(*f->comm.path));
	f->op.comm = &f->comm;
	f->data = (struct tor_mem){ .data = test_calloc(1, bytes), .len = bytes };
	tor_chan_init(&f->chan, &f->op, 0, 1);
	begin_op(f);
	/* where round trips are known, nobody hurries to answer unless asked to */
	for (rank = 0; rank < RANKS; rank++)
		tor_comm_path(&f->comm, rank)->srtt = 1000;
	f->ctx.now = NSEC_PER_SEC;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tor_chan_destroy(&f->chan);
	tor_comm_paths_free(&f->comm);
	tor_node_destroy(&f->node);
	host_check_idle();
	host_forget_sent();
	test_free((void *)f->comm.epoch);
	test_free(f->comm.path);
	test_free(f->data.data);
	test_free(f);
	return 0;
}

static u32 open_transfers(const struct fixture *f)
{
	const struct tor_tx *tx;
	u32 n = 0;

	list_for_each_entry(tx, &f->chan.tx, list)
		n++;
	return n;
}

/* Who the frames since the last look were for. */
static void look(struct fixture *f)
{
	enum tor_counter why;
	struct tor_hdr h;
	u32 i;

	f->nlast = 0;
	for (i = 0; i < host.nsent; i++) {
		const struct host_frame *frame = &host.sent[i];

		assert_int_equal(tor_wire_parse(frame->bytes, frame->len, frame->len, &h, &why), 0);
		assert_int_equal(h.type, TORCOLL_FRAME_DATA);
		f->sent[h.dst]++;
		f->asked += !!(h.flags & TORCOLL_FLAG_ACK);
		if (f->nlast < RANKS)
			f->last[f->nlast++] = h.dst;
	}
	host_forget_sent();
}

/* The next entry, some time later. */
static void enter(struct fixture *f, u64 ns)
{
	f->ctx = (struct tor_ctx){ .now = f->ctx.now + ns };
}

/* All that is put off. */
static void work(struct fixture *f)
{
	while (f->chan.works) {
		enter(f, 1000);
		tor_chan_work(&f->ctx, &f->chan);
	}
}

static void start(struct fixture *f)
{
	host_start(&f->ctx, &f->chan);
	work(f);
	look(f);
}

static void answer(struct fixture *f, u32 rank, enum torcoll_ack_state state)
{
	struct tor_ack ack = {
		.comm = 77, .op = 1, .state = state, .base = state == TORCOLL_ACK_OK,
		/* eight ranks a round, from the next one on */
		.where.round = (rank - 1) / 8,
	};

	enter(f, 1000);
	tor_chan_ack(&f->ctx, &f->chan, rank, &ack);
	work(f);
}

/* Each acknowledgement and each timer looks at all that is open. */
static void tor_chan_enter__not_too_far_ahead(void **state)
{
	struct fixture *f = *state;

	start(f);
	assert_in_range(open_transfers(f), AHEAD / 2, AHEAD);
	assert_int_equal(f->chan.state, TOR_CHAN_RUNNING);
	/* it waits for answers, not for the time */
	assert_true(host.timer_when > f->ctx.now + NSEC_PER_MSEC);
}

/* They are asked now and then, each by itself: timers, and the frames of each, are as many as those that are open. */
static void tor_chan_timer__late_ranks_cost_little(void **state)
{
	struct fixture *f = *state;
	u32 timers = 0, i, n;
	u64 end;

	start(f);
	n = f->nlast;
	for (i = 0; i < n; i++)
		answer(f, f->last[i], TORCOLL_ACK_NOT_READY);
	end = f->ctx.now + 2 * (u64)NSEC_PER_SEC;
	for (; host.timer_when && host.timer_when < end; timers++) {
		enter(f, max(host.timer_when, f->ctx.now + 1000) - f->ctx.now);
		host.timer_when = 0;
		tor_chan_timer(&f->ctx, &f->chan);
		work(f);
	}
	look(f);
	assert_in_range(timers, 1, 8 * AHEAD);
	assert_in_range(open_transfers(f), AHEAD / 2, AHEAD);
}

/* As they answer, it goes on, until each has its own, once. Those that it waits for are asked to answer at once. */
static void tor_chan_ack__goes_on(void **state)
{
	struct fixture *f = *state;
	u32 i, n, rank, rounds = 0;

	start(f);
	for (; f->nlast; rounds++) {
		u32 last[RANKS];

		n = f->nlast;
		memcpy(last, f->last, sizeof(last));
		for (i = 0; i < n; i++)
			answer(f, last[i], TORCOLL_ACK_OK);
		look(f);
	}
	for (rank = 1; rank < RANKS; rank++)
		assert_int_equal(f->sent[rank], 1);
	assert_int_equal(f->chan.state, TOR_CHAN_CLOSED);
	assert_in_range(f->asked, RANKS - AHEAD, RANKS);
	assert_in_range(rounds, RANKS / AHEAD, RANKS / AHEAD + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(tor_chan_enter__not_too_far_ahead),
		TEST(tor_chan_timer__late_ranks_cost_little),
		TEST(tor_chan_ack__goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
