// SPDX-License-Identifier: MIT
/*
 * How libtorcoll reads the completion ring: what it finds there without a call, in whatever order it is asked for,
 * and what it must not believe.
 */
#include "lib_fake.h"

#include <sys/wait.h>

static int32_t x, y;

static uint64_t start(struct torcoll_comm *comm, struct torcoll_request *req)
{
	assert_int_equal(torcoll_iallreduce(comm, &x, &y, 1, TORCOLL_I32, TORCOLL_SUM, req), 0);
	return fake.submit.flags & TORCOLL_OP_RING ? fake.submit.user_data : 0;
}

/* As the module does it: the entry, then the tail. */
static void post(uint64_t id, int32_t status, uint32_t flags)
{
	fake.ring.entry[fake.ring.head.tail % FAKE_RING] = (struct torcoll_completion){
		.user_data = id, .status = status, .error_rank = status ? 3 : ~0U, .flags = flags,
	};
	fake.ring.head.tail++;
}

static void ring__takes_no_call(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	uint64_t id = start(f->comm, &req);

	assert_true(id);
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	post(id, 0, 0);
	assert_int_equal(torcoll_test(&req), 0);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	assert_int_equal(fake.ring.head.head, 1);
}

/* The file polls readable while a result waits to be fetched, so the head stops before it. */
static void head__stops_at_what_was_not_fetched(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];
	uint64_t first = start(f->comm, &req[0]), second = start(f->comm, &req[1]);

	post(first, 0, 0);
	post(second, 0, 0);
	assert_int_equal(torcoll_test(&req[1]), 0);
	assert_int_equal(fake.ring.head.head, 1);
	assert_int_equal(torcoll_test(&req[0]), 0);
	assert_int_equal(fake.ring.head.head, 2);
}

static void reap__fetches_the_result(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	uint64_t id = start(f->comm, &req);

	fake.status = -ECONNABORTED;
	fake.error_rank = 3;
	post(id, -ECONNABORTED, TORCOLL_COMPLETION_REAP);
	assert_int_equal(torcoll_test(&req), -ECONNABORTED);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	assert_int_equal(fake.wait.flags, 0);
	assert_int_equal(torcoll_request_error_rank(&req), 3);
}

static void full__waits_by_calls(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES + 2];
	uint64_t id[FAKE_PLACES];

	for (uint32_t i = 0; i < FAKE_PLACES; i++) {
		id[i] = start(f->comm, &req[i]);
		assert_true(id[i]);
	}
	assert_false(start(f->comm, &req[FAKE_PLACES]));
	assert_int_equal(torcoll_wait(&req[FAKE_PLACES]), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	/* a place is free again only when its entry is read */
	post(id[0], 0, 0);
	assert_int_equal(torcoll_test(&req[0]), 0);
	assert_true(start(f->comm, &req[0]));
}

/* Many times round the ring. */
static void ring__wraps(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	for (uint32_t i = 0; i < 5 * FAKE_RING; i++) {
		uint64_t id = start(f->comm, &req);

		assert_true(id);
		post(id, 0, 0);
		assert_int_equal(torcoll_test(&req), 0);
	}
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	assert_int_equal(fake.ring.head.head, 5 * FAKE_RING);
}

static void refused__gives_its_place_back(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	for (uint32_t i = 0; i < 3 * FAKE_RING; i++) {
		fake_errors(TORCOLL_IOC_SUBMIT, -EBUSY, 0);
		assert_int_equal(torcoll_iallreduce(f->comm, &x, &y, 1, TORCOLL_I32, TORCOLL_SUM,
						    &req), -EBUSY);
	}
	assert_true(start(f->comm, &req));
}

static void batch__gives_back_what_did_not_start(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op[3] = {};
	struct torcoll_request req[3];
	uint32_t started;

	for (uint32_t i = 0; i < 3; i++)
		op[i] = (struct torcoll_op){ .collective = TORCOLL_BARRIER };
	for (uint32_t i = 0; i < 3; i++) {
		fake_errors(TORCOLL_IOC_BATCH, -EBUSY, 0);
		fake.batch_room = 1;
		assert_int_equal(torcoll_submit_many(f->comm, op, 3, req, &started), -EBUSY);
		assert_int_equal(started, 1);
		post(fake.submit.user_data, 0, 0);
		assert_int_equal(torcoll_test(&req[0]), 0);
	}
	fake.batch_room = UINT32_MAX;
	assert_true(start(f->comm, &req[0]));
}

/* An entry of a comm that was closed meanwhile is nobody's, though its cell may be in use again. */
static void closed__entries_are_nobodys(void **state)
{
	struct torcoll_comm_config config = { .fabric = 7, .name = "second" };
	struct fixture *f = *state;
	struct torcoll_request req;
	struct torcoll_comm *comm;
	uint64_t stale, id;

	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	stale = start(comm, &req);
	torcoll_comm_close(comm);
	id = start(f->comm, &req);
	assert_int_equal((uint32_t)id, (uint32_t)stale);
	post(stale, -ECANCELED, 0);
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	post(id, 0, 0);
	assert_int_equal(torcoll_test(&req), 0);
	assert_int_equal(fake.ring.head.head, 2);
}

/* The op ended between a look at the ring and the call: the module does not know it any more. */
static void wait__looks_again(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	uint64_t id = start(f->comm, &req);

	fake_errors(TORCOLL_IOC_WAIT, -ENOENT, 0);
	assert_int_equal(torcoll_wait(&req), -ENOENT);
	fake_errors(TORCOLL_IOC_WAIT, -EINTR, -ENOENT);
	fake.post_on_wait = id;
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
}

static const struct torcoll *closing;

static void assert_no_cells(void)
{
	for (uint32_t i = 0; i < closing->ring->top; i++)
		assert_null(closing->ring->cells[i].comm);
}

/* Once the handle is free another comm may get it, and its ops must not be taken for those of this one. */
static void closed__before_the_handle_goes(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];
	uint64_t id = start(f->comm, &req[0]);

	start(f->comm, &req[1]);
	post(id, 0, TORCOLL_COMPLETION_REAP);
	closing = f->t;
	fake.on_comm_del = assert_no_cells;
	torcoll_comm_close(f->comm);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 1);
	/* nor does its entry keep the file readable */
	assert_int_equal(fake.ring.head.head, fake.ring.head.tail);
	fake.on_comm_del = NULL;
}

/* A call that waits gets the result itself: the entry that comes as well is no other op's. */
static void wait__gets_the_result_itself(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req, next;
	uint64_t id = start(f->comm, &req);

	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	start(f->comm, &next);
	post(id, 0, TORCOLL_COMPLETION_REAP);
	assert_int_equal(torcoll_test(&next), -EAGAIN);
	assert_int_equal(torcoll_wait(&next), 0);
}

static void spin__is_asked_for(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	start(f->comm, &req);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake.wait.spin_ns, 0);
	f->t->spin_ns = 50000;
	start(f->comm, &req);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake.wait.spin_ns, 50000);
}

static void spin__by_environment(void **state)
{
	struct torcoll *t;

	setenv("TORCOLL_SPIN", "50", 1);
	assert_int_equal(torcoll_open(&t), 0);
	assert_int_equal(t->spin_ns, 50000);
	torcoll_close(t);
	setenv("TORCOLL_SPIN", "1000001", 1);
	assert_int_equal(torcoll_open(&t), -EINVAL);
	setenv("TORCOLL_SPIN", "-1", 1);
	assert_int_equal(torcoll_open(&t), -EINVAL);
	setenv("TORCOLL_SPIN", "5ms", 1);
	assert_int_equal(torcoll_open(&t), -EINVAL);
	assert_non_null(strstr(torcoll_last_error(), "TORCOLL_SPIN=5ms"));
	unsetenv("TORCOLL_SPIN");
}

static void eventfd__before_ops(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	assert_int_equal(torcoll_eventfd(f->t, -1), -EINVAL);
	fake_errors(TORCOLL_IOC_RING_SETUP, -EBADF, 0);
	assert_int_equal(torcoll_eventfd(f->t, 5), -EBADF);
	assert_int_equal(torcoll_eventfd(f->t, 6), 0);
	assert_int_equal(fake.eventfd, 6);
	assert_true(start(f->comm, &req));
	assert_int_equal(torcoll_eventfd(f->t, 6), -EBUSY);
}

/* A ring that could not be mapped is there all the same, and there is no second one. */
static void eventfd__is_mapped_later(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake.no_map = true;
	assert_int_equal(torcoll_eventfd(f->t, 5), -ENOMEM);
	fake.no_map = false;
	fake_errors(TORCOLL_IOC_RING_SETUP, -EBUSY, -EBUSY);
	assert_int_equal(torcoll_eventfd(f->t, 6), -EBUSY);
	assert_string_equal(torcoll_last_error(), "eventfd: the ring has the one of a former call (EBUSY)");
	assert_int_equal(torcoll_eventfd(f->t, 5), 0);
	assert_true(start(f->comm, &req));
}

static void eventfd__mapped_for_an_op(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake.no_map = true;
	assert_int_equal(torcoll_eventfd(f->t, 5), -ENOMEM);
	fake.no_map = false;
	assert_true(start(f->comm, &req));
	assert_int_equal(fake_calls(TORCOLL_IOC_RING_SETUP), 1);
}

/* A module without rings is asked for none; one that makes none is asked once. */
static void none__waits_by_calls(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	f->t->features = 0;
	assert_false(start(f->comm, &req));
	assert_int_equal(fake_calls(TORCOLL_IOC_RING_SETUP), 0);
	assert_int_equal(torcoll_eventfd(f->t, 5), -EOPNOTSUPP);
	f->t->features = TORCOLL_FEATURE_RING;
	fake_errors(TORCOLL_IOC_RING_SETUP, -EDQUOT, 0);
	assert_false(start(f->comm, &req));
	assert_false(start(f->comm, &req));
	assert_int_equal(fake_calls(TORCOLL_IOC_RING_SETUP), 1);
	assert_int_equal(torcoll_wait(&req), 0);
}

/* A child has the memory of its parent, but neither ops nor ring: nothing of it is touched. */
static void child__is_refused(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	int status;
	pid_t pid;

	start(f->comm, &req);
	pid = fork();
	if (!pid) {
		bool good = torcoll_test(&req) == -EPERM && torcoll_wait(&req) == -EPERM &&
			    torcoll_barrier(f->comm) == -EPERM &&
			    torcoll_register(f->t, &x, sizeof(x)) == -EPERM &&
			    strstr(torcoll_last_error(), "parent") && fake.ring_mapped;

		torcoll_close(f->t);
		_exit(!good || !fake.ring_mapped);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/*
 * In a child: what is the parent's in the module stays, and no lock is waited for. Return whether that is so, with the
 * number of the test that failed otherwise.
 */
static int child_leaves(struct fixture *f, struct torcoll_prepared *prepared,
			const struct torcoll_request *queued)
{
	const unsigned long calls[] = {
		TORCOLL_IOC_COMM_DEL, TORCOLL_IOC_REGION_DEL, TORCOLL_IOC_ABORT, TORCOLL_IOC_COMM_SHRINK,
		TORCOLL_IOC_COMM_INFO,
	};
	struct torcoll_prepared *other;
	struct torcoll_op op = { .collective = TORCOLL_BARRIER };
	struct torcoll_comm_info comm_info;
	struct torcoll_comm *heir;
	struct torcoll_info info;

	alarm(60);
	if (torcoll_abort(f->comm) != -EPERM || torcoll_comm_shrink(f->comm, 0, &heir) != -EPERM ||
	    torcoll_unregister(f->t, &x) != -EPERM || torcoll_eventfd(f->t, 1) != -EPERM ||
	    torcoll_prepare(f->comm, &op, &other) != -EPERM ||
	    torcoll_comm_info(f->comm, &comm_info) != -EPERM || torcoll_info(f->t, &info) != -EPERM ||
	    torcoll_request_algorithm(queued) != TORCOLL_ALGO_AUTO)
		return 1;
	torcoll_prepared_free(prepared);
	torcoll_comm_close(f->comm);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (fake_calls(calls[i]))
			return 2;
	if (f->t->comms || f->t->jobs || f->t->lanes)
		return 3;
	torcoll_close(f->t);
	return fake.opened ? 4 : 0;
}

static void child__leaves_what_is_its_parents(void **state)
{
	struct fixture *f = *state;
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.count = 1, .send = &x, .recv = &x,
	};
	struct torcoll_prepared *prepared;
	struct torcoll_request req[2];
	int status;
	pid_t pid;

	assert_int_equal(torcoll_prepare(f->comm, &op, &prepared), 0);
	fake_errors(TORCOLL_IOC_COMM_INFO, 0, 0);
	f->t->features |= TORCOLL_FEATURE_TRY;
	fake.slots = 1;
	start(f->comm, &req[0]);
	/* this one is queued; another thread is in the library */
	start(f->comm, &req[1]);
	pthread_rwlock_wrlock(&f->t->lock);
	pthread_mutex_lock(&f->t->queue);
	pthread_mutex_lock(&f->t->ring->lock);
	pid = fork();
	if (!pid)
		_exit(child_leaves(f, prepared, &req[1]));
	pthread_mutex_unlock(&f->t->ring->lock);
	pthread_mutex_unlock(&f->t->queue);
	pthread_rwlock_unlock(&f->t->lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	torcoll_prepared_free(prepared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_open(ring__takes_no_call),
		test_open(ring__wraps),
		test_open(head__stops_at_what_was_not_fetched),
		test_open(reap__fetches_the_result),
		test_open(full__waits_by_calls),
		test_open(refused__gives_its_place_back),
		test_open(batch__gives_back_what_did_not_start),
		test_open(closed__entries_are_nobodys),
		test_open(closed__before_the_handle_goes),
		test_open(wait__looks_again),
		test_open(wait__gets_the_result_itself),
		test_open(spin__is_asked_for),
		test_closed(spin__by_environment),
		test_open(eventfd__before_ops),
		test_open(eventfd__is_mapped_later),
		test_open(eventfd__mapped_for_an_op),
		test_open(none__waits_by_calls),
		test_open(child__is_refused),
		test_open(child__leaves_what_is_its_parents),
	};

	fake_features = TORCOLL_FEATURE_RING | TORCOLL_FEATURE_SPIN;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
