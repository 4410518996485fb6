// SPDX-License-Identifier: MIT
/*
 * Ops beyond the depth of a comm that the module refuses when they start: whose refusal that is, and whether
 * the comm fails.
 */
#include "lib_queue.h"

static void refused__says_so_at_the_wait(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];

	fake.slots = 1;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		start(f, &req[i]);
	torcoll__fail(-EINVAL, "something else");
	fake_errors(TORCOLL_IOC_SUBMIT, -EHOSTDOWN, -EHOSTDOWN);
	fake.sentence = "node 3 is down";
	fake.slots = 2;
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[0]), -EAGAIN);
	assert_string_equal(torcoll_last_error(), "something else (EINVAL)");
	fake.sentence = "nothing";
	assert_int_equal(torcoll_test(&req[2]), -EHOSTDOWN);
	assert_string_equal(torcoll_last_error(), "allreduce: node 3 is down (EHOSTDOWN)");
	assert_int_equal(torcoll_wait(&req[1]), -EHOSTDOWN);
	assert_int_equal(torcoll_test(&req[1]), -EHOSTDOWN);
}

/*
 * Who has submitted an op has given it a number, which the next one would get: the comm fails, once,
 * with the reason if the module can tell.
 */
static void refused__fails_the_comm(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[4];

	fake.slots = 1;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		start(f, &req[i]);
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, -ECONNABORTED);
	fake.sentence = "RLIMIT_MEMLOCK";
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[1]), -EDQUOT);
	assert_string_equal(torcoll_last_error(), "allreduce: RLIMIT_MEMLOCK (EDQUOT)");
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
	assert_int_equal(fake.handle.handle, f->comm->handle);
	assert_int_equal(torcoll_test(&req[2]), -ECONNABORTED);
	assert_int_equal(nposted, 1);
}

static void refused__is_told(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];

	f->t->features |= TORCOLL_FEATURE_TELL;
	fake.slots = 1;
	start(f, &req[0]);
	start(f, &req[1]);
	fake_errors(TORCOLL_IOC_SUBMIT, -EFAULT, -EBUSY);
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[1]), -EAGAIN);
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	fake.slots = 1;
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[1]), -EAGAIN);
	assert_int_equal(nposted, 2);
	assert_true(fake.submit.flags & TORCOLL_OP_TELL);
}

/* A refusal that comes before the call returns is the call's: it may be repeated. */
static void refused__at_once(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake_errors(TORCOLL_IOC_SUBMIT, -EBUSY, -EDQUOT);
	fake.sentence = "RLIMIT_MEMLOCK";
	assert_int_equal(torcoll_iallreduce(f->comm, &x, &y, 1, TORCOLL_I32, TORCOLL_SUM, &req), -EDQUOT);
	assert_string_equal(torcoll_last_error(), "allreduce: RLIMIT_MEMLOCK (EDQUOT)");
	assert_int_equal(torcoll_wait(&req), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 0);
	assert_false(torcoll__is_queued(f->t));
	assert_null(f->t->jobs);
	assert_null(f->t->lanes);
	start(f, &req);
	assert_int_equal(nposted, 1);
}

/* So is one that comes as the call starts what waits before it. */
static void refused__at_once_behind_others(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];

	fake.slots = 0;
	start(f, &req[0]);
	fake.slots = 2;
	fake.now += PUSH_NS;
	fake_errors(TORCOLL_IOC_SUBMIT, 0, -EDQUOT);
	fake.sentence = "RLIMIT_MEMLOCK";
	assert_int_equal(torcoll_iallreduce(f->comm, &x, &y, 1, TORCOLL_I32, TORCOLL_SUM, &req[1]), -EDQUOT);
	assert_string_equal(torcoll_last_error(), "allreduce: RLIMIT_MEMLOCK (EDQUOT)");
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 0);
	assert_false(f->comm->failed);
	assert_int_equal(nposted, 1);
	assert_false(torcoll__is_queued(f->t));
	assert_null(f->t->lanes);
	start(f, &req[1]);
	assert_int_equal(nposted, 2);
}

static int slot_becomes_free(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	(void)fds;
	(void)n;
	(void)timeout_ns;
	fake.slots = 1;
	fake.now += PUSH_NS;
	fake_errors(TORCOLL_IOC_SUBMIT, -EOPNOTSUPP, 0);
	return 0;
}

/* One for which a call has waited is that call's, as if there had been a slot at once. */
static void refused__while_the_call_waits(void **state)
{
	struct fixture *f = *state;
	const uint64_t displs[FAKE_RANKS] = { 3, 2, 1, 0 };
	const struct torcoll_op ops[] = {
		{ .collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		  .send = &x, .recv = &y },
		{ .collective = TORCOLL_ALLGATHER, .type = TORCOLL_I32, .count = FAKE_RANKS,
		  .send = &x, .recv = (int32_t[FAKE_RANKS]){}, .displs = &(struct torcoll_displs){ .recv = displs } },
	};

	f->t->features |= TORCOLL_FEATURE_TELL;
	fake.on_poll = slot_becomes_free;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		fake.slots = 0;
		fake.sentence = "swing-lat: not with 3 ranks";
		assert_int_equal(torcoll_run(f->comm, &ops[i]), -EOPNOTSUPP);
		assert_non_null(strstr(torcoll_last_error(), "not with 3 ranks (EOPNOTSUPP)"));
		assert_false(fake.submit.flags & TORCOLL_OP_TELL);
		assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 0);
		assert_false(f->comm->failed);
		assert_false(torcoll__is_queued(f->t));
		assert_null(f->t->jobs);
	}
}

static int no_event(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	(void)fds;
	(void)n;
	fake.now += timeout_ns;
	return 0;
}

/* But if the call has returned meanwhile, others may count on the op. */
static void refused__after_the_call(void **state)
{
	struct fixture *f = *state;
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y,
	};
	struct torcoll_request req;

	f->t->features |= TORCOLL_FEATURE_TELL;
	fake.slots = 0;
	fake.on_poll = no_event;
	assert_int_equal(torcoll_run_until(f->comm, &op, &req, fake.now + 1), -EAGAIN);
	slot_becomes_free(NULL, 0, 0);
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
	assert_true(fake.submit.flags & TORCOLL_OP_TELL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_queue(refused__says_so_at_the_wait),
		test_queue(refused__fails_the_comm),
		test_queue(refused__is_told),
		test_queue(refused__at_once),
		test_queue(refused__at_once_behind_others),
		test_queue(refused__while_the_call_waits),
		test_queue(refused__after_the_call),
	};

	fake_features = TORCOLL_FEATURE_RING | TORCOLL_FEATURE_TRY;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
