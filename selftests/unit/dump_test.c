// SPDX-License-Identifier: GPL-2.0
/* torcollctl: lists from the kernel that change while they are read, over a fake connection. */
#include "host_env.h"

#include "../../tools/torcollctl/dump.c"

#define ENTRIES	3

static struct fake {
	int interrupted;	/* lists that change while they are read */
	int err;		/* what others end with */
	int calls;
} fake;

/* What has come. */
struct list {
	int requests, begun, entries;
};

int conn_call(struct conn *c, struct nl_msg *msg, void (*on_msg)(struct nlmsghdr *nlh, void *arg),
	      void *arg)
{
	struct nlmsghdr nlh = { 0 };
	int i;

	assert_ptr_equal(msg, &fake);
	for (i = 0; i < ENTRIES; i++)
		on_msg(&nlh, arg);
	return fake.calls++ < fake.interrupted ? -EAGAIN : fake.err;
}

static struct nl_msg *request(struct conn *c, void *arg)
{
	((struct list *)arg)->requests++;
	return (struct nl_msg *)&fake;
}

static void begin(void *arg)
{
	((struct list *)arg)->begun++;
	((struct list *)arg)->entries = 0;
}

static void take(struct nlmsghdr *nlh, void *arg)
{
	((struct list *)arg)->entries++;
}

static const struct dump dump = { request, begin, take };

static int get(int interrupted, int err, struct list *list)
{
	struct conn c = { 0 };

	*list = (struct list){ 0 };
	fake = (struct fake){ .interrupted = interrupted, .err = err };
	return conn_dump(&c, &dump, list);
}

static void conn_dump__of_one_moment(void **state)
{
	struct list list;
	int i;

	for (i = 0; i <= DUMP_TRIES; i++) {
		assert_int_equal(get(i, 0, &list), 0);
		assert_int_equal(fake.calls, i + 1);
		assert_int_equal(list.requests, i + 1);
		assert_int_equal(list.begun, i + 1);
		assert_int_equal(list.entries, ENTRIES);
	}
}

static void conn_dump__gives_up(void **state)
{
	struct list list;

	assert_int_equal(get(INT32_MAX, 0, &list), -EAGAIN);
	assert_int_equal(fake.calls, DUMP_TRIES + 1);
	/* what is there is as good as it gets */
	assert_int_equal(list.entries, ENTRIES);
}

static void conn_dump__other_errors_are_final(void **state)
{
	struct list list;

	assert_int_equal(get(2, -EPERM, &list), -EPERM);
	assert_int_equal(fake.calls, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conn_dump__of_one_moment),
		cmocka_unit_test(conn_dump__gives_up),
		cmocka_unit_test(conn_dump__other_errors_are_final),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
