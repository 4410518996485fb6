// SPDX-License-Identifier: MIT
/*
 * Ops beyond the depth of a comm: they wait in the library, in order, and start from whichever call comes by.
 */
#include "lib_queue.h"

static void full__waits_in_order(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[6];

	fake.slots = 2;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		start(f, &req[i]);
	assert_int_equal(nposted, 2);
	assert_int_equal(torcoll_request_algorithm(&req[5]), TORCOLL_ALGO_AUTO);
	for (uint32_t i = 0; i < ARRAY_SIZE(req); i++) {
		post(posted[i], 0, 0);
		fake.slots++;
		fake.now += PUSH_NS;
		assert_int_equal(torcoll_test(&req[i]), 0);
		assert_int_equal(nposted, i + 3 > ARRAY_SIZE(req) ? ARRAY_SIZE(req) : i + 3);
	}
	assert_false(torcoll__is_queued(f->t));
	assert_null(f->t->lanes);
	assert_null(f->t->jobs);
}

/* More results than the ring has entries stay until they are asked for, the last one first. */
static void results__exceed_the_ring(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3 * FAKE_RING];

	fake.slots = 1;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		start(f, &req[i]);
	for (uint32_t i = 0; i < ARRAY_SIZE(req); i++) {
		assert_int_equal(nposted, i + 1);
		post(posted[i], 0, 0);
		fake.slots++;
		fake.now += PUSH_NS;
		if (i + 1 < ARRAY_SIZE(req))
			assert_int_equal(torcoll_test(&req[ARRAY_SIZE(req) - 1]), -EAGAIN);
	}
	for (uint32_t i = ARRAY_SIZE(req); i-- > 0; ) {
		/* the file polls readable until the last of them is fetched */
		torcoll__ring_reap(f->t);
		assert_int_not_equal(fake.ring.head.head, fake.ring.head.tail);
		assert_int_equal(torcoll_test(&req[i]), 0);
	}
	assert_int_equal(fake.ring.head.head, fake.ring.head.tail);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
}

/* A result that must be reaped occupies a slot: reaped as soon as others wait. */
static void results__are_reaped_for_others(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];

	fake.slots = 2;
	start(f, &req[0]);
	start(f, &req[1]);
	post(posted[0], 0, TORCOLL_COMPLETION_REAP);
	assert_int_equal(torcoll_test(&req[1]), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	start(f, &req[2]);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	assert_int_equal(fake.wait.flags, TORCOLL_WAIT_NOHANG);
	/* and those that come while they wait */
	post(posted[1], 0, TORCOLL_COMPLETION_REAP);
	assert_int_equal(torcoll_test(&req[0]), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
	assert_int_equal(torcoll_test(&req[1]), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
}

/* The second frees a slot while the thread sleeps, and the third, which started then, completes. */
static int poll_step(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	static const int32_t status[] = { 0, 0, -ECONNABORTED };

	assert_int_equal(timeout_ns, UINT64_MAX);
	assert_int_equal(n, 1);
	assert_in_range(fds[0].fd, FAKE_WATCH, FAKE_WATCH + 9);
	post(posted[nposted - 1], status[nposted - 1], 0);
	fake.slots++;
	fds[0].revents = POLLIN;
	return 1;
}

static void wait__starts_others(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];

	fake.slots = 1;
	fake.on_poll = poll_step;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		start(f, &req[i]);
	fake.status = -ECONNABORTED;
	fake.sentence = "rank 3 was killed";
	assert_int_equal(torcoll_wait(&req[1]), 0);
	assert_int_equal(nposted, 3);
	assert_int_equal(torcoll_wait(&req[0]), 0);
	/* nothing waits any more: by a call */
	fake_errors(TORCOLL_IOC_WAIT, 0, 0);
	assert_int_equal(torcoll_wait(&req[2]), -ECONNABORTED);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	assert_string_equal(torcoll_last_error(), "allreduce: rank 3 was killed (ECONNABORTED)");
}

static struct fixture *shared;
static struct torcoll_request others;

static void other_thread_queues(void)
{
	start(shared, &others);
	fake.on_wait = NULL;
}

/* What another thread has queued since this one began to wait is started by it, too. */
static void wait__starts_what_others_queue(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	shared = f;
	fake.threads = true;
	fake.slots = 1;
	fake.on_wait = other_thread_queues;
	fake.on_poll = poll_step;
	start(f, &req);
	fake_errors(TORCOLL_IOC_WAIT, -ETIMEDOUT, 0);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(nposted, 2);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	assert_int_equal(torcoll_wait(&others), 0);
}

static void time_passes(void)
{
	fake.now += CALL_NS;
}

/* A wait that others could make longer is one of several calls, of which the first spins. */
static void wait__in_slices(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	f->t->features |= TORCOLL_FEATURE_SPIN;
	f->t->spin_ns = 7;
	fake.threads = true;
	fake.on_wait = time_passes;
	start(f, &req);
	fake_errors(TORCOLL_IOC_WAIT, -ETIMEDOUT, -ETIMEDOUT);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 3);
	assert_int_equal(fake.wait.deadline_ns, 3 * CALL_NS);
	assert_int_equal(fake.wait.spin_ns, 0);
	/* the caller's deadline ends it */
	start(f, &req);
	fake_errors(TORCOLL_IOC_WAIT, -ETIMEDOUT, -ETIMEDOUT);
	assert_int_equal(torcoll_wait_until(&req, fake.now + CALL_NS + 50), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
	assert_int_equal(torcoll_wait_until(&req, 1000), 0);
	assert_int_equal(fake.wait.deadline_ns, 1000);
	assert_int_equal(fake.wait.spin_ns, 7);
}

static void run__waits_behind(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	fake.slots = 1;
	start(f, &req);
	fake.on_poll = poll_step;
	assert_int_equal(torcoll_allreduce(f->comm, &x, &y, 1, TORCOLL_I32, TORCOLL_SUM), 0);
	assert_int_equal(nposted, 2);
	assert_int_equal(torcoll_test(&req), 0);
	/* the fast way is one call */
	fake_errors(TORCOLL_IOC_SUBMIT, 0, 0);
	fake.slots = 1;
	assert_int_equal(torcoll_allreduce(f->comm, &x, &y, 1, TORCOLL_I32, TORCOLL_SUM), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_WAIT | TORCOLL_OP_TRY);
}

/* A message that waits costs no calls for those to other ranks that wait, too. */
static void messages__to_many_ranks_wait(void **state)
{
	struct fixture *f = *state;
	static struct torcoll_request req[2][100];
	uint32_t n = ARRAY_SIZE(req[0]);

	fake.slots = 0;
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(torcoll_isend(f->comm, &x, 1, TORCOLL_I32, i, &req[0][i]), 0);
	assert_in_range(fake_calls(TORCOLL_IOC_SUBMIT), n, 2 * n);
	fake_errors(TORCOLL_IOC_SUBMIT, 0, 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(torcoll_isend(f->comm, &x, 1, TORCOLL_I32, i, &req[1][i]), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 0);
	/* nor are they looked at by each test */
	assert_int_equal(torcoll_test(&req[0][0]), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 0);
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[0][0]), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), n);
}

static uint64_t push_costs_ns;

static void time_passes_by_submission(const struct torcoll_submit *s)
{
	fake.now += push_costs_ns;
}

/* Where a push takes long, as much time passes before the next. */
static void push__half_of_the_time(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[4];

	fake.slots = 1;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		start(f, &req[i]);
	push_costs_ns = 5 * PUSH_NS;
	fake.on_submit = time_passes_by_submission;
	fake.now += PUSH_NS;
	fake.slots = 1;
	assert_int_equal(torcoll_test(&req[3]), -EAGAIN);
	assert_int_equal(f->t->queued, 2);
	fake.slots = 1;
	fake.now += 4 * PUSH_NS;
	assert_int_equal(torcoll_test(&req[3]), -EAGAIN);
	assert_int_equal(f->t->queued, 2);
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[3]), -EAGAIN);
	assert_int_equal(f->t->queued, 1);
}

static void nowait__does_not_overtake(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y, .flags = TORCOLL_OP_NOWAIT,
	};
	struct torcoll_request req[3];

	fake.slots = 1;
	start(f, &req[0]);
	start(f, &req[1]);
	fake.slots = 5;
	assert_int_equal(torcoll_submit(f->comm, &op, &req[2]), -EBUSY);
	assert_string_equal(torcoll_last_error(), "allreduce: earlier ops wait for a slot (EBUSY)");
	/* messages are another series */
	assert_int_equal(torcoll_isend(f->comm, &x, 1, TORCOLL_I32, 1, &req[2]), 0);
	assert_int_equal(nposted, 2);
	assert_int_equal(fake.submit.collective, TORCOLL_SEND);
}

/* What another comm waits for keeps nobody from a slot of this one. */
static void start__nowait_of_another_comm(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm_config config = { .fabric = 7, .name = "other" };
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y, .flags = TORCOLL_OP_NOWAIT,
	};
	struct torcoll_prepared *p[3];
	struct torcoll_request req[5];
	struct torcoll_comm *other;
	uint32_t started;

	assert_int_equal(torcoll_comm_create(f->t, &config, &other), 0);
	assert_int_equal(torcoll_prepare(other, &op, &p[0]), 0);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p[2]), 0);
	p[1] = p[0];
	fake.slots = 1;
	start(f, &req[0]);
	start(f, &req[1]);
	assert_int_equal(torcoll_start_many(p, 3, &req[2], &started), -EBUSY);
	assert_string_equal(torcoll_last_error(), "allreduce: earlier ops wait for a slot (EBUSY)");
	assert_int_equal(started, 2);
	assert_int_equal(nposted, 3);
	assert_int_equal(fake.submit.comm, other->handle);
	fake_errors(TORCOLL_IOC_SUBMIT, -EBUSY, 0);
	fake.sentence = "8 ops are in flight";
	assert_int_equal(torcoll_start(p[0], &req[4]), -EBUSY);
	assert_string_equal(torcoll_last_error(), "allreduce: 8 ops are in flight (EBUSY)");
	torcoll_prepared_free(p[0]);
	torcoll_prepared_free(p[2]);
}

/* Time passes while a thread sleeps, and nothing else happens. */
static int poll_time(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	assert_int_not_equal(timeout_ns, UINT64_MAX);
	fake.now += timeout_ns;
	return 0;
}

/*
 * An op that gets no slot until its deadline, nor for the time that the module may take to name who
 * is missing, fails, and with it the comm: its peers have other ops by that number.
 */
static void deadline__passes_in_the_queue(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y,
	};
	struct torcoll_request req;

	fake.now = 1000;
	fake.slots = 1;
	fake.on_poll = poll_time;
	start(f, &req);
	op.deadline_ns = fake.now + 500000000;
	assert_int_equal(torcoll_run(f->comm, &op), -ETIMEDOUT);
	assert_string_equal(torcoll_last_error(),
			    "allreduce: no slot became free before its deadline (ETIMEDOUT)");
	assert_int_equal(fake.now, 1000 + 500000000 + LATE_NS);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
	assert_false(torcoll__is_queued(f->t));
	assert_null(f->t->lanes);
}

/* One that waits behind another has its own; who waits shorter wakes up earlier. */
static void deadline__passes_behind_others(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y,
	};
	struct torcoll_request req[2], late[2];

	fake.slots = 1;
	fake.on_poll = poll_time;
	start(f, &req[0]);
	op.deadline_ns = 9000;
	assert_int_equal(torcoll_submit(f->comm, &op, &late[1]), 0);
	start(f, &req[1]);
	op.deadline_ns = 5000;
	assert_int_equal(torcoll_submit(f->comm, &op, &late[0]), 0);
	assert_int_equal(torcoll_wait_until(&late[0], LATE_NS + 4000), -EAGAIN);
	assert_int_equal(fake.now, LATE_NS + 4000);
	assert_int_equal(torcoll_wait(&late[0]), -ETIMEDOUT);
	assert_int_equal(fake.now, LATE_NS + 5000);
	assert_int_equal(f->t->queued, 2);
	assert_int_equal(torcoll_wait(&late[1]), -ETIMEDOUT);
	assert_int_equal(fake.now, LATE_NS + 9000);
	/* what is behind them stays behind what is before them */
	fake.slots = 1;
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[1]), -EAGAIN);
	assert_int_equal(nposted, 2);
	assert_null(f->t->lanes);
}

/* It passes while a step runs, whose successor finds no slot. */
static void deadline__passes_between_steps(void **state)
{
	struct fixture *f = *state;
	const struct torcoll_op op = {
		.collective = TORCOLL_GATHER, .type = TORCOLL_I32, .count = 0, .root = 1, .send = &x,
		.flags = TORCOLL_OP_COUNTS_AT_ROOT, .deadline_ns = 5000,
	};
	struct torcoll_request req;

	fake.slots = 1;
	assert_int_equal(torcoll_submit(f->comm, &op, &req), 0);
	fake.now = LATE_NS + 6000;
	torcoll__push(f->t, true);
	assert_int_equal(f->t->queued, 1);
	post(posted[0], 0, 0);
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req), -ETIMEDOUT);
	assert_string_equal(torcoll_last_error(),
			    "gather: no slot became free before its deadline (ETIMEDOUT)");
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
}

#define DEADLINE_NS	1000000000ULL
#define ASKS_NS		50000000	/* how long the module asks who has not called */

/* The module ends what it has: aborted, or late. */
static int poll_module(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	uint64_t end = DEADLINE_NS + ASKS_NS;

	if (fake_calls(TORCOLL_IOC_ABORT)) {
		post(posted[0], -ECANCELED, 0);
	} else if (timeout_ns > end - fake.now) {
		fake.now = end;
		post(posted[0], -ETIMEDOUT, 0);
	} else {
		fake.now += timeout_ns;
	}
	return 0;
}

/* What waits behind an op does not end it before the module can say who is missing. */
static void deadline__module_names_the_missing(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y, .deadline_ns = DEADLINE_NS,
	};
	struct torcoll_request req[2];

	fake.now = 1000;
	fake.slots = 1;
	fake.on_poll = poll_module;
	assert_int_equal(torcoll_submit(f->comm, &op, &req[0]), 0);
	/* as with a time for each op */
	op.deadline_ns += 5000;
	assert_int_equal(torcoll_submit(f->comm, &op, &req[1]), 0);
	assert_int_equal(torcoll_wait(&req[0]), -ETIMEDOUT);
	assert_int_equal(torcoll_request_error_rank(&req[0]), 3);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 0);
}

static struct torcoll *looked_at;

static void reduce_too_long(const void *in, void *inout, uint64_t count, void *arg)
{
	fake.now = LATE_NS + 6000;
	fake.slots = 0;
	/* another thread */
	torcoll__push(looked_at, true);
}

/* It passes while the operator runs, and another thread finds nothing that is late. */
static void deadline__passes_in_the_operator(void **state)
{
	static char vector[200000];
	struct fixture *f = *state;
	const struct torcoll_function fn = { .reduce = reduce_too_long };
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I8, .count = sizeof(vector),
		.send = vector, .recv = vector, .function = &fn, .deadline_ns = 5000,
	};
	struct torcoll_request req;

	looked_at = f->t;
	assert_int_equal(torcoll_submit(f->comm, &op, &req), 0);
	post(posted[0], 0, 0);
	torcoll__push(f->t, true);
	assert_int_equal(fake.now, LATE_NS + 6000);
	/* a wait would sleep for ever */
	assert_false(torcoll__is_queued(f->t) && !torcoll__queue_late(f->t));
	assert_int_equal(torcoll_test(&req), -ETIMEDOUT);
}

/* An abort waits for the ops that run: there is one for all that are late. */
static void deadline__aborts_once(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y, .deadline_ns = 5000,
	};
	struct torcoll_request req[4];

	fake.slots = 1;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		assert_int_equal(torcoll_submit(f->comm, &op, &req[i]), 0);
	fake.now = LATE_NS + 6000;
	for (size_t i = 1; i < ARRAY_SIZE(req); i++)
		assert_int_equal(torcoll_test(&req[i]), -ETIMEDOUT);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
	assert_null(f->t->lanes);
}

/* A deadline so late that nothing is later is none. */
static void deadline__at_the_end_of_time(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y, .deadline_ns = UINT64_MAX,
	};
	struct torcoll_request req[2];

	fake.slots = 1;
	for (size_t i = 0; i < ARRAY_SIZE(req); i++)
		assert_int_equal(torcoll_submit(f->comm, &op, &req[i]), 0);
	fake.now = LATE_NS;
	assert_int_equal(torcoll_test(&req[1]), -EAGAIN);
	assert_int_equal(torcoll__queue_late(f->t), 0);
}

/* Lists and factor are the caller's again when the call returns. */
static void lists__are_copied(void **state)
{
	struct fixture *f = *state;
	uint64_t counts[FAKE_RANKS] = { 1, 2, 3, 4 };
	int32_t all[10], block[3] = { 0 };
	struct torcoll_request first, req;

	fake.slots = 1;
	start(f, &first);
	assert_int_equal(torcoll_iallgatherv(f->comm, block, all, counts, TORCOLL_I32, &req), 0);
	assert_int_equal(nposted, 1);
	memset(counts, 0xff, sizeof(counts));
	fake.slots = 1;
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	assert_int_equal(fake.submit.count, 10);
	assert_int_equal(((uint64_t *)(uintptr_t)fake.submit.counts)[3], 4);
}

static void batch__rest_waits(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &x, .recv = &y,
	};
	const struct torcoll_op ops[3] = { op, op, op };
	struct torcoll_prepared *p, *ps[3];
	struct torcoll_request req[6];
	uint32_t started;

	fake.slots = 2;
	assert_int_equal(torcoll_submit_many(f->comm, ops, 3, req, &started), 0);
	assert_int_equal(started, 3);
	assert_int_equal(nposted, 2);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ps); i++)
		ps[i] = p;
	assert_int_equal(torcoll_start_many(ps, 3, &req[3], &started), 0);
	assert_int_equal(started, 3);
	assert_int_equal(nposted, 2);
	for (uint32_t i = 0; i < ARRAY_SIZE(req); i++) {
		post(posted[i], 0, 0);
		fake.slots++;
		fake.now += PUSH_NS;
		assert_int_equal(torcoll_test(&req[i]), 0);
	}
	assert_int_equal(nposted, 6);
	torcoll_prepared_free(p);
}

/* What waits in the library uses its memory, as what runs. */
static void memory__of_what_waits_is_busy(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];
	int32_t reg[2];
	void *p;

	f->t->features |= TORCOLL_FEATURE_ALLOC;
	assert_int_equal(torcoll_alloc(f->t, sizeof(x), &p), 0);
	assert_int_equal(torcoll_register(f->t, reg, sizeof(reg)), 0);
	fake.slots = 0;
	assert_int_equal(torcoll_isend(f->comm, p, 1, TORCOLL_I32, 1, &req[0]), 0);
	assert_int_equal(torcoll_irecv(f->comm, &reg[1], 1, TORCOLL_I32, 1, &req[1]), 0);
	assert_int_equal(f->t->queued, 2);
	assert_int_equal(torcoll_free(f->t, p), -EBUSY);
	assert_non_null(strstr(torcoll_last_error(), "an op that waits for a slot uses the memory at "));
	assert_int_equal(torcoll_unregister(f->t, reg), -EBUSY);
	fake.slots = 2;
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[0]), -EAGAIN);
	assert_int_equal(nposted, 2);
	/* from now on the module knows of it */
	assert_int_equal(torcoll_free(f->t, p), 0);
	assert_int_equal(torcoll_unregister(f->t, reg), 0);
}

/* Displacements may be all that tells where it is. */
static void memory__at_displacements_is_busy(void **state)
{
	struct fixture *f = *state;
	uint64_t counts[FAKE_RANKS] = { 1, 1, 1, 1 }, at[FAKE_RANKS];
	const struct torcoll_displs d = { .recv = at };
	int32_t block = 0;
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLGATHER, .type = TORCOLL_I32, .count = FAKE_RANKS,
		.counts = counts, .send = &block, .displs = &d,
	};
	struct torcoll_request req;
	void *p;

	f->t->features |= TORCOLL_FEATURE_ALLOC;
	assert_int_equal(torcoll_alloc(f->t, 4096, &p), 0);
	for (uint32_t i = 0; i < FAKE_RANKS; i++)
		at[i] = (uintptr_t)p / sizeof(block) + 2 * i;
	fake.slots = 0;
	assert_int_equal(torcoll_submit(f->comm, &op, &req), 0);
	assert_int_equal(torcoll_free(f->t, p), -EBUSY);
}

/* What waits goes with its comm. */
static void close__drops_what_waits(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm_config config = { .fabric = 7, .name = "other" };
	struct torcoll_request req[5];
	struct torcoll_comm *other;

	assert_int_equal(torcoll_comm_create(f->t, &config, &other), 0);
	fake.slots = 2;
	start(f, &req[0]);
	assert_int_equal(torcoll_ibarrier(other, &req[1]), 0);
	start(f, &req[2]);
	assert_int_equal(torcoll_ibarrier(other, &req[3]), 0);
	assert_int_equal(torcoll_ibarrier(other, &req[4]), 0);
	torcoll_comm_close(other);
	assert_int_equal(f->t->queued, 1);
	fake.slots = 9;
	fake.now += PUSH_NS;
	assert_int_equal(torcoll_test(&req[0]), -EAGAIN);
	assert_int_equal(nposted, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_queue(full__waits_in_order),
		test_queue(results__exceed_the_ring),
		test_queue(results__are_reaped_for_others),
		test_queue(wait__starts_others),
		test_queue(wait__starts_what_others_queue),
		test_queue(wait__in_slices),
		test_queue(run__waits_behind),
		test_queue(messages__to_many_ranks_wait),
		test_queue(push__half_of_the_time),
		test_queue(nowait__does_not_overtake),
		test_queue(start__nowait_of_another_comm),
		test_queue(deadline__passes_in_the_queue),
		test_queue(deadline__passes_behind_others),
		test_queue(deadline__passes_between_steps),
		test_queue(deadline__module_names_the_missing),
		test_queue(deadline__passes_in_the_operator),
		test_queue(deadline__aborts_once),
		test_queue(deadline__at_the_end_of_time),
		test_queue(lists__are_copied),
		test_queue(batch__rest_waits),
		test_queue(memory__of_what_waits_is_busy),
		test_queue(memory__at_displacements_is_busy),
		test_queue(close__drops_what_waits),
	};

	fake_features = TORCOLL_FEATURE_RING | TORCOLL_FEATURE_TRY;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
