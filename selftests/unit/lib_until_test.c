// SPDX-License-Identifier: MIT
/*
 * Calls that start an op and wait for it, or make a comm: what becomes of the op, and of others, when the wait ends
 * before it.
 */
#include "lib_queue.h"

#define OP	77

static const struct torcoll_op barrier = { .collective = TORCOLL_BARRIER };

/* The module starts the op, whose wait ends; then it is to be posted to the ring: @answer. */
static int run_late(struct fixture *f, struct torcoll_request *req, int answer)
{
	fake.started_on_eintr = OP;
	fake_errors(TORCOLL_IOC_SUBMIT, -ETIMEDOUT, 0);
	fake_errors(TORCOLL_IOC_WAIT, answer, 0);
	return torcoll_run_until(f->comm, &barrier, req, 6);
}

static void late__completes_to_the_ring(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	assert_int_equal(run_late(f, &req, -EAGAIN), -EAGAIN);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_WAIT | TORCOLL_OP_TRY);
	assert_int_equal(fake.submit.wait_ns, 6);
	assert_int_equal(fake.diverted.op, OP);
	assert_int_equal(fake.diverted.comm, f->comm->handle);
	assert_int_equal(fake.diverted.flags, TORCOLL_WAIT_NOHANG | TORCOLL_WAIT_RING);
	/* as one that was started: no call */
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	post(fake.diverted.user_data, 0, 0);
	assert_int_equal(torcoll_test(&req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
}

/* A signal ends the first wait, and the time the second. */
static void late__after_a_signal(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake.started_on_eintr = OP;
	fake_errors(TORCOLL_IOC_SUBMIT, -EINTR, 0);
	fake_errors(TORCOLL_IOC_WAIT, -ETIMEDOUT, -EAGAIN);
	assert_int_equal(torcoll_run_until(f->comm, &barrier, &req, 6), -EAGAIN);
	assert_int_equal(fake.diverted.op, OP);
	post(fake.diverted.user_data, 0, 0);
	assert_int_equal(torcoll_test(&req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
}

static void late__is_complete_meanwhile(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake.status = -EHOSTDOWN;
	fake.sentence = "node 3 restarted";
	assert_int_equal(run_late(f, &req, 0), -EHOSTDOWN);
	assert_string_equal(torcoll_last_error(), "barrier: node 3 restarted (EHOSTDOWN)");
	/* its place in the ring serves others */
	assert_int_equal(f->t->ring->taken, 0);
}

/* What the module refuses is waited for by calls. */
static void late__ring_is_full(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	assert_int_equal(run_late(f, &req, -EBUSY), -EAGAIN);
	assert_int_equal(f->t->ring->taken, 0);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake.wait.op, OP);
	assert_int_equal(fake.wait.flags, 0);
}

/* It has the only slot: a test of what waits for that reaps it, and starts the other. */
static void late__others_are_started(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req, other;

	assert_int_equal(run_late(f, &req, -EAGAIN), -EAGAIN);
	fake.slots = 0;
	start(f, &other);
	assert_true(torcoll__is_queued(f->t));
	post(fake.diverted.user_data, 0, TORCOLL_COMPLETION_REAP);
	fake.slots = 1;
	fake.wait.flags = 0;
	assert_int_equal(torcoll_test(&other), -EAGAIN);
	assert_int_equal(fake.wait.flags, TORCOLL_WAIT_NOHANG);
	assert_false(torcoll__is_queued(f->t));
	post(posted[nposted - 1], 0, 0);
	assert_int_equal(torcoll_test(&other), 0);
	assert_int_equal(torcoll_test(&req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
}

static int no_sleep(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	return 0;
}

/* The wait for a slot ends with it, and what has none goes on as well. */
static void no_slot__ends_at_its_time(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake.slots = 0;
	fake.now = 6;
	fake.on_poll = no_sleep;
	assert_int_equal(torcoll_run_until(f->comm, &barrier, &req, 5), -EAGAIN);
	assert_true(torcoll__request_is_job(&req));
	assert_int_equal(nposted, 0);
	fake.slots = 1;
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	post(posted[0], 0, 0);
	assert_int_equal(torcoll_test(&req), 0);
}

/* ---- with other threads ---- */

static struct fixture *shared;
static struct torcoll_request others;

static void other_thread_queues(void)
{
	fake.slots = 0;
	start(shared, &others);
	fake.on_wait = NULL;
	fake.slots = 1;
}

/* A call without an end is several, between which this thread starts what others have queued. */
static void threads__starts_what_others_queue(void **state)
{
	struct fixture *f = *state;

	shared = f;
	fake.threads = true;
	fake.now = 1000;
	fake.on_wait = other_thread_queues;
	fake.on_poll = no_sleep;
	fake.started_on_eintr = OP;
	fake_errors(TORCOLL_IOC_SUBMIT, -ETIMEDOUT, 0);
	fake_errors(TORCOLL_IOC_WAIT, -ETIMEDOUT, -EAGAIN);
	assert_int_equal(torcoll_run(f->comm, &barrier), 0);
	assert_int_equal(nposted, 1);
	assert_int_equal(fake.wait.op, OP);
	post(posted[0], 0, 0);
	assert_int_equal(torcoll_test(&others), 0);
}

static void threads__call_has_an_end(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake.threads = true;
	fake.now = 1000;
	assert_int_equal(torcoll_run(f->comm, &barrier), 0);
	assert_int_equal(fake.submit.wait_ns, 1000 + CALL_NS);
	assert_int_equal(torcoll_run_until(f->comm, &barrier, &req, 1000 + CALL_NS + 1), 0);
	assert_int_equal(fake.submit.wait_ns, 1000 + CALL_NS);
	assert_int_equal(torcoll_run_until(f->comm, &barrier, &req, 1000 + CALL_NS - 1), 0);
	assert_int_equal(fake.submit.wait_ns, 1000 + CALL_NS - 1);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	/* a module that cannot end it */
	f->t->features &= ~TORCOLL_FEATURE_WAIT_NS;
	assert_int_equal(torcoll_run(f->comm, &barrier), 0);
	assert_int_equal(fake.submit.wait_ns, 0);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_RING | TORCOLL_OP_TRY);
	assert_int_equal(fake.wait.deadline_ns, 1000 + CALL_NS);
}

/* ---- calls that make a comm ---- */

static const struct torcoll_comm_config second = { .fabric = 7, .name = "second" };

/* The first of three has completed, and its slot is for the next. */
static void queue_three(struct fixture *f, struct torcoll_request *req)
{
	fake.now = 1000;
	fake.slots = 1;
	for (uint32_t i = 0; i < 3; i++)
		start(f, &req[i]);
	assert_int_equal(nposted, 1);
	post(posted[0], 0, 0);
	fake.slots = 1;
}

static void join__starts_what_waits(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];
	struct torcoll_comm *comm;

	queue_three(f, req);
	fake_errors(TORCOLL_IOC_COMM_ADD, -EINTR, 0);
	assert_int_equal(torcoll_comm_create(f->t, &second, &comm), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_ADD), 2);
	assert_int_equal(nposted, 2);
	assert_int_equal(fake.comm.wait_ns, 1000 + SLICE_NS);
}

static void join__shrink_as_well(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];
	struct torcoll_comm *heir;

	queue_three(f, req);
	fake_errors(TORCOLL_IOC_COMM_SHRINK, -EINTR, 0);
	assert_int_equal(torcoll_comm_shrink(f->comm, 0, &heir), 0);
	assert_int_equal(nposted, 2);
	assert_int_equal(fake.shrink.wait_ns, 1000 + SLICE_NS);
}

/* A call that is busy for longer than a slice, with a long list of members, would never sleep. */
static void join__sleeps_as_long_as_it_is_busy(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];
	struct torcoll_comm *comm;

	queue_three(f, req);
	fake.join_busy = SLICE_NS;
	fake_errors(TORCOLL_IOC_COMM_ADD, -EINTR, 0);
	assert_int_equal(torcoll_comm_create(f->t, &second, &comm), 0);
	assert_int_equal(fake.comm.wait_ns, 1000 + 2 * SLICE_NS);
	fake_errors(TORCOLL_IOC_COMM_SHRINK, -EINTR, 0);
	assert_int_equal(torcoll_comm_shrink(f->comm, 0, &comm), 0);
	assert_int_equal(fake.shrink.wait_ns, 1000 + 2 * SLICE_NS);
	/* what is short is no matter */
	fake.join_busy = SLICE_NS / 2;
	fake_errors(TORCOLL_IOC_COMM_ADD, -EINTR, 0);
	assert_int_equal(torcoll_comm_create(f->t, &second, &comm), 0);
	assert_int_equal(fake.comm.wait_ns, 1000 + SLICE_NS);
}

/* Where nothing waits it is one call; other threads may queue something meanwhile. */
static void join__call_has_an_end(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	fake.now = 1000;
	assert_int_equal(torcoll_comm_create(f->t, &second, &comm), 0);
	assert_int_equal(fake.comm.wait_ns, 0);
	fake.threads = true;
	assert_int_equal(torcoll_comm_create(f->t, &second, &comm), 0);
	assert_int_equal(fake.comm.wait_ns, 1000 + CALL_NS);
	f->t->features &= ~TORCOLL_FEATURE_WAIT_NS;
	assert_int_equal(torcoll_comm_create(f->t, &second, &comm), 0);
	assert_int_equal(fake.comm.wait_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_queue(late__completes_to_the_ring),
		test_queue(late__after_a_signal),
		test_queue(late__is_complete_meanwhile),
		test_queue(late__ring_is_full),
		test_queue(late__others_are_started),
		test_queue(no_slot__ends_at_its_time),
		test_queue(threads__starts_what_others_queue),
		test_queue(threads__call_has_an_end),
		test_queue(join__starts_what_waits),
		test_queue(join__shrink_as_well),
		test_queue(join__sleeps_as_long_as_it_is_busy),
		test_queue(join__call_has_an_end),
	};

	fake_features = TORCOLL_FEATURE_RING | TORCOLL_FEATURE_TRY | TORCOLL_FEATURE_WAIT_NS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
