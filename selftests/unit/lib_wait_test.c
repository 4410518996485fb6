// SPDX-License-Identifier: MIT
/*
 * Waits for several things at a time: ops, or descriptors of the program.
 */
#include "lib_queue.h"

/* ---- descriptors ---- */

static uint64_t slept_ns;

static int poll_descriptor(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	slept_ns = timeout_ns;
	assert_in_range(fds[n - 1].fd, FAKE_WATCH, FAKE_WATCH + 9);
	fds[1].revents = POLLOUT;
	return 1;
}

static int poll_result(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	slept_ns = timeout_ns;
	post(posted[0], 0, 0);
	fds[n - 1].revents = POLLIN;
	return 1;
}

static int poll_signal(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	fake.on_poll = poll_result;
	return -EINTR;
}

static int poll_nothing(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	fake.now += timeout_ns;
	return 0;
}

static void fds__or_result(void **state)
{
	struct fixture *f = *state;
	struct pollfd fds[20] = { { .fd = 5, .events = POLLIN }, { .fd = 6, .events = POLLOUT } };
	struct torcoll_request req;

	start(f, &req);
	fake.on_poll = poll_descriptor;
	assert_int_equal(torcoll_wait_fds(&req, fds, 2, 0), -EAGAIN);
	assert_int_equal(slept_ns, UINT64_MAX);
	assert_int_equal(fds[0].revents, 0);
	assert_int_equal(fds[1].revents, POLLOUT);
	/* more of them than need no memory */
	assert_int_equal(torcoll_wait_fds(&req, fds, 20, fake.now + 5), -EAGAIN);
	assert_int_equal(slept_ns, 5);
	assert_int_equal(fds[1].revents, POLLOUT);
	fake.on_poll = poll_nothing;
	assert_int_equal(torcoll_wait_fds(&req, fds, 2, fake.now + 5), -EAGAIN);
	assert_int_equal(fds[1].revents, 0);
	fake.on_poll = poll_signal;
	assert_int_equal(torcoll_wait_fds(&req, fds, 2, 0), 0);
	assert_int_equal(torcoll_wait_fds(&req, fds, 2, 0), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	/* the descriptor is kept for the next wait */
	assert_int_equal(fake.watches, 1);
}

static int polls_left;

/* What is polled are the caller's alone, and not for long. */
static int poll_slices(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	assert_int_equal(fds[n - 1].fd, 5);
	assert_in_range(timeout_ns, 0, 1000000);
	fake.now += timeout_ns;
	if (!polls_left--)
		post(posted[nposted - 1], 0, 0);
	return 0;
}

static void fds__none_to_wait_with(void **state)
{
	struct fixture *f = *state;
	struct pollfd fds[20] = { { .fd = 5, .events = POLLIN } };
	struct torcoll_request req;

	start(f, &req);
	fake.watch_error = -EMFILE;
	/* it waits nevertheless, as the op goes on */
	fake.on_poll = poll_slices;
	polls_left = 7;
	assert_int_equal(torcoll_wait_fds(&req, fds, 1, fake.now + 2500000), -EAGAIN);
	assert_int_equal(polls_left, 3);
	assert_int_equal(torcoll_wait_fds(&req, fds, 1, 0), 0);
	assert_int_equal(polls_left, -1);
	for (size_t i = 1; i < ARRAY_SIZE(fds); i++)
		fds[i] = fds[0];
	start(f, &req);
	polls_left = 2;
	assert_int_equal(torcoll_wait_fds(&req, fds, 20, 0), 0);
	fake.watch_error = 0;
}

static int poll_fails(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	if (n)
		return -ENOMEM;
	/* which is a sleep instead */
	assert_in_range(timeout_ns, 0, 1000000);
	fake.now += timeout_ns;
	if (!polls_left--)
		post(posted[0], 0, 0);
	return 0;
}

static void fds__cannot_be_polled(void **state)
{
	struct fixture *f = *state;
	struct pollfd fd = { .fd = 5, .events = POLLIN };
	struct torcoll_request req;

	start(f, &req);
	fake.on_poll = poll_fails;
	polls_left = 7;
	assert_int_equal(torcoll_wait_fds(&req, &fd, 1, fake.now + 2500000), -EAGAIN);
	assert_int_equal(torcoll_wait_fds(&req, &fd, 1, 0), 0);
	assert_int_equal(polls_left, -1);
}

static void any__tells_which(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2], none = { 0 };
	struct torcoll_request *reqs[3] = { NULL, &req[0], &req[1] };
	uint32_t index;

	assert_int_equal(torcoll_wait_any(reqs, 1, 0, &index), -EINVAL);
	start(f, &req[0]);
	start(f, &req[1]);
	fake.on_poll = poll_nothing;
	assert_int_equal(torcoll_wait_any(reqs, 3, fake.now + 5, &index), -EAGAIN);
	assert_int_equal(index, ~0U);
	post(posted[1], 0, 0);
	assert_int_equal(torcoll_wait_any(reqs, 3, 0, &index), 0);
	assert_int_equal(index, 2);
	/* complete ones count, too, and need no call */
	assert_int_equal(torcoll_wait_any(&reqs[2], 1, 0, &index), 0);
	assert_int_equal(index, 0);
	reqs[2] = &none;
	assert_int_equal(torcoll_wait_any(reqs, 3, 0, &index), -EINVAL);
	assert_non_null(strstr(torcoll_last_error(), "nothing was started"));
}

static void all__first_failure(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];
	struct torcoll_request *reqs[3] = { &req[0], NULL, &req[1] };

	start(f, &req[0]);
	start(f, &req[1]);
	post(posted[1], 0, 0);
	fake_errors(TORCOLL_IOC_WAIT, -ETIMEDOUT, 0);
	assert_int_equal(torcoll_wait_all(reqs, 3, 5), -EAGAIN);
	fake.status = -EPROTO;
	assert_int_equal(torcoll_wait_all(reqs, 3, 5), -EPROTO);
	assert_int_equal(torcoll_wait_all(reqs, 3, 5), -EPROTO);
	assert_int_equal(torcoll_test(&req[1]), 0);
}

/* The sentence is of the failure that is returned, also if that was known before. */
static void all__sentence_of_the_first_failure(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];
	struct torcoll_request *reqs[2] = { &req[0], &req[1] };
	uint32_t index;

	start(f, &req[0]);
	start(f, &req[1]);
	post(posted[0], -EFAULT, 0);
	post(posted[1], -ECONNABORTED, 0);
	fake.sentence = "rank 3 was killed";
	assert_int_equal(torcoll_wait_all(reqs, 2, 0), -EFAULT);
	assert_string_equal(torcoll_last_error(), "allreduce: rank 3 was killed (EFAULT)");
	/* which says more than what is known of the request */
	assert_int_equal(torcoll_wait(&req[0]), -EFAULT);
	assert_string_equal(torcoll_last_error(), "allreduce: rank 3 was killed (EFAULT)");
	assert_int_equal(torcoll_test(&req[1]), -ECONNABORTED);
	assert_string_equal(torcoll_last_error(),
			    "allreduce: another rank left, aborted or was killed (ECONNABORTED)");
	assert_int_equal(torcoll_wait_any(reqs, 2, 0, &index), -EFAULT);
	assert_int_equal(index, 0);
	assert_string_equal(torcoll_last_error(),
			    "allreduce: memory cannot be read or written (EFAULT)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_queue(fds__or_result),
		test_queue(fds__none_to_wait_with),
		test_queue(fds__cannot_be_polled),
		test_queue(any__tells_which),
		test_queue(all__first_failure),
		test_queue(all__sentence_of_the_first_failure),
	};

	fake_features = TORCOLL_FEATURE_RING | TORCOLL_FEATURE_TRY;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
