// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory of frames that came early: bounded by the comm, by who pays for it, and by what there is.
 */
#include "host_env.h"

#include "core/engine/chan.h"

#define LEN	1000

struct fixture {
	struct tor_comm comm;
	struct tor_op op;
	struct tor_chan chan;
	struct tor_kept *kept[TOR_KEPT_MAX / LEN + 1];
	u32 n;
};

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));

	host_reset();
	f->op.comm = &f->comm;
	f->chan.op = &f->op;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	while (f->n)
		tor_chan_kept_put(&f->chan, f->kept[--f->n]);
	assert_int_equal(atomic_read(&f->comm.kept), 0);
	host_check_idle();
	test_free(f);
	return 0;
}

/* Until no more can be kept: how many. */
static u32 keep_all(struct fixture *f)
{
	u32 before = f->n;

	while ((f->kept[f->n] = tor_chan_kept_get(&f->chan, LEN)))
		f->n++;
	return f->n - before;
}

static void tor_chan_kept_get__up_to_the_comms_bound(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(keep_all(f), TOR_KEPT_MAX / tor_kept_size(LEN));
	assert_int_equal(atomic_read(&f->comm.kept), f->n * tor_kept_size(LEN));
	assert_int_equal(host.kept, f->n * tor_kept_size(LEN));
	tor_chan_kept_put(&f->chan, f->kept[--f->n]);
	assert_int_equal(keep_all(f), 1);
}

static void tor_chan_kept_get__up_to_what_is_paid_for(void **state)
{
	struct fixture *f = *state;

	host.keep_most = 3 * tor_kept_size(LEN);
	assert_int_equal(keep_all(f), 3);
	assert_int_equal(atomic_read(&f->comm.kept), host.keep_most);
	tor_chan_kept_put(&f->chan, f->kept[--f->n]);
	assert_int_equal(keep_all(f), 1);
}

static void tor_chan_kept_get__no_memory_is_not_paid_for(void **state)
{
	struct fixture *f = *state;

	host.fail_after = 2;
	assert_int_equal(keep_all(f), 2);
	assert_int_equal(host.kept, 2 * tor_kept_size(LEN));
	assert_int_equal(atomic_read(&f->comm.kept), host.kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tor_chan_kept_get__up_to_the_comms_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_kept_get__up_to_what_is_paid_for, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_chan_kept_get__no_memory_is_not_paid_for, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
