// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a channel does in its rounds, kept: the script yields what the plan does, and is dropped with the plan.
 */
#include "host_env.h"

#include "core/engine/chan.h"

struct fixture {
	struct tor_torus torus;
	struct tor_op op;
	struct tor_chan chan;
};

static void plan(struct fixture *f, u32 algorithm, u32 rank)
{
	const u32 sides[] = { 4, 4 };
	struct tor_call call = {
		.torus = &f->torus,
		.ranks = 16,
		.collective = TORCOLL_ALLREDUCE,
		.algorithm = algorithm,
		.type = TORCOLL_F32,
		.count = 1000,
	};
	const char *why;

	tor_torus_init(&f->torus, 2, sides, 2);
	assert_int_equal(tor_plan_init(&f->op.plan, &call, rank, &why), 0);
	f->op.plans++;
}

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));

	host_reset();
	f->chan.op = &f->op;
	plan(f, TORCOLL_TREE, 1);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tor_env_free(f->chan.script);
	host_check_idle();
	test_free(f);
	return 0;
}

static void assert_same_piece(const struct tor_piece *a, const struct tor_piece *b)
{
	assert_int_equal(a->src, b->src);
	assert_int_equal(a->dst, b->dst);
	assert_int_equal(a->sbuf, b->sbuf);
	assert_int_equal(a->dbuf, b->dbuf);
	assert_int_equal(a->soff, b->soff);
	assert_int_equal(a->doff, b->doff);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->op, b->op);
}

/* The current round, from the plan; the script, if it is whole, must yield the same. Return: pieces. */
static u32 run_round(struct fixture *f, bool enters)
{
	struct tor_chan *chan = &f->chan;
	bool whole = tor_script_is_whole(chan);
	struct tor_piece piece;
	struct tor_cursor c;
	u32 n = 0, i = 0;

	tor_plan_begin(&f->op.plan, 0, chan->round, &c);
	for (; tor_plan_next(&f->op.plan, &c, &piece); n++) {
		if (!whole) {
			tor_script_note(chan, &piece);
		} else {
			const struct tor_piece *next = tor_script_next(chan, &i);

			assert_non_null(next);
			assert_same_piece(next, &piece);
		}
	}
	if (whole)
		assert_null(tor_script_next(chan, &i));
	else
		tor_script_round(chan, enters);
	return n;
}

/* An op of the present plan, of whose rounds the first time fails: memory is short. Return: pieces. */
static u32 run(struct fixture *f, bool same, bool ends)
{
	u32 rounds = tor_plan_rounds(&f->op.plan, 0), n = 0;

	tor_script_start(&f->chan, same);
	for (f->chan.round = 0; f->chan.round < rounds; f->chan.round++) {
		run_round(f, false);
		n += run_round(f, true);
		if (!ends)
			return n;
	}
	tor_script_end(&f->chan);
	return n;
}

static void tor_script__from_the_third_run_on(void **state)
{
	struct fixture *f = *state;

	assert_true(run(f, false, true));
	assert_null(f->chan.script);
	run(f, true, true);
	assert_true(tor_script_is_whole(&f->chan));
	run(f, true, true);
	run(f, true, true);
	assert_true(tor_script_is_whole(&f->chan));
}

static void tor_script__another_plan(void **state)
{
	struct fixture *f = *state;

	run(f, false, true);
	run(f, true, true);
	plan(f, TORCOLL_TREE, 6);
	run(f, false, true);
	assert_false(tor_script_is_whole(&f->chan));
	run(f, true, true);
	assert_true(tor_script_is_whole(&f->chan));
	run(f, true, true);
}

static void tor_script__of_an_op_that_failed(void **state)
{
	struct fixture *f = *state;

	run(f, false, true);
	run(f, true, false);
	assert_false(tor_script_is_whole(&f->chan));
	run(f, true, true);
	assert_true(tor_script_is_whole(&f->chan));
	run(f, true, true);
}

static void tor_script__too_long(void **state)
{
	struct fixture *f = *state;
	u32 i;

	plan(f, TORCOLL_BUCKET, 1);
	assert_true(run(f, false, true) > TOR_SCRIPT_MAX);
	for (i = 0; i < 3; i++) {
		run(f, true, true);
		assert_false(tor_script_is_whole(&f->chan));
	}
	/* another plan may be short enough */
	plan(f, TORCOLL_TREE, 1);
	run(f, false, true);
	run(f, true, true);
	assert_true(tor_script_is_whole(&f->chan));
}

static void tor_script__without_memory(void **state)
{
	struct fixture *f = *state;

	run(f, false, true);
	host.fail_after = 0;
	run(f, true, true);
	assert_null(f->chan.script);
	host.fail_after = ~0U;
	run(f, true, true);
	assert_true(tor_script_is_whole(&f->chan));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tor_script__from_the_third_run_on, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_script__another_plan, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_script__of_an_op_that_failed, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_script__too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_script__without_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
