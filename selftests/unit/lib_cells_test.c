// SPDX-License-Identifier: MIT
/*
 * Ops for which the completion ring has no place, as it is full, or as there is none: they start, what waits for their
 * slots finds their results, and their owners get these.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

static bool no_memory;

static void *try_realloc(void *p, size_t bytes)
{
	return no_memory ? NULL : realloc(p, bytes);
}

#define realloc(p, bytes)	try_realloc(p, bytes)
#include "lib_queue.h"

#define DEADLINE	(1ULL << 40)

static const struct torcoll_op barrier = { .collective = TORCOLL_BARRIER };

/* Ops that have all places of the ring. */
static void fill(struct fixture *f, struct torcoll_request *req)
{
	for (uint32_t i = 0; i < FAKE_PLACES; i++)
		start(f, &req[i]);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_RING | TORCOLL_OP_TRY);
}

/* An op without a place, and one behind it, which waits for its slot. */
static void start_two(struct fixture *f, struct torcoll_request *req)
{
	fake.runs = true;
	start(f, &req[0]);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_TRY);
	fake.slots = 0;
	start(f, &req[1]);
	assert_true(torcoll__is_queued(f->t));
	fake_errors(TORCOLL_IOC_WAIT, 0, 0);
	fake.now += PUSH_NS;
}

/* The first is complete. */
static void end_first(void)
{
	fake.runs = false;
	fake.slots = 1;
}

/* ---- a full ring ---- */

static void full__calls_block_in_one(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], until;

	fill(f, req);
	for (int threads = 0; threads < 2; threads++) {
		fake.threads = threads;
		fake_errors(TORCOLL_IOC_SUBMIT, 0, 0);
		assert_int_equal(torcoll_run(f->comm, &barrier), 0);
		assert_int_equal(fake.submit.flags, TORCOLL_OP_WAIT | TORCOLL_OP_TRY);
		assert_int_equal(torcoll_run_until(f->comm, &barrier, &until, DEADLINE), 0);
		assert_int_equal(fake.submit.flags, TORCOLL_OP_WAIT | TORCOLL_OP_TRY);
		assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
	}
}

/* Such a call that ends before its op: others find the result as well. */
static void full__goes_on(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], until, other;

	fill(f, req);
	fake.runs = true;
	fake.started_on_eintr = 77;
	fake_errors(TORCOLL_IOC_SUBMIT, -ETIMEDOUT, 0);
	assert_int_equal(torcoll_run_until(f->comm, &barrier, &until, 6), -EAGAIN);
	assert_int_equal(fake.wait.op, 0);
	fake.slots = 0;
	start(f, &other);
	end_first();
	torcoll__push(f->t, true);
	assert_false(torcoll__is_queued(f->t));
	fake_errors(TORCOLL_IOC_WAIT, 0, 0);
	assert_int_equal(torcoll_test(&until), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
}

static void full__ops_start(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], more[2];
	uint32_t started;

	fill(f, req);
	assert_int_equal(torcoll_isend(f->comm, &x, 1, TORCOLL_I32, 1, &more[0]), 0);
	assert_int_equal(nposted, FAKE_PLACES + 1);
	assert_false(torcoll__is_queued(f->t));
	assert_int_equal(torcoll_wait(&more[0]), 0);
	assert_int_equal(torcoll_submit_many(f->comm, (struct torcoll_op[]){ barrier, barrier }, 2,
					     more, &started), 0);
	assert_int_equal(nposted, FAKE_PLACES + 3);
	assert_false(torcoll__is_queued(f->t));
	assert_int_equal(torcoll_test(&more[1]), 0);
	assert_int_equal(torcoll_test(&more[0]), 0);
}

static void full__others_are_started(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], two[2];

	fill(f, req);
	start_two(f, two);
	assert_int_equal(torcoll_test(&two[1]), -EAGAIN);
	assert_true(torcoll__is_queued(f->t));
	end_first();
	torcoll__push(f->t, true);
	assert_false(torcoll__is_queued(f->t));
	assert_int_equal(nposted, FAKE_PLACES + 2);
	/* its owner learns it without a call; until then the file polls readable */
	torcoll__ring_reap(f->t);
	assert_int_not_equal(fake.ring.head.head, fake.ring.head.tail);
	fake_errors(TORCOLL_IOC_WAIT, 0, 0);
	assert_int_equal(torcoll_test(&two[0]), 0);
	assert_int_equal(torcoll_test(&two[1]), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	assert_int_equal(fake.ring.head.head, fake.ring.head.tail);
}

/*
 * A thread in poll() is woken once, and may look while a result is fetched from the module. That it finds the ring
 * readable leaves room for the op that has the last place, and that the module does not have yet.
 */
static bool hidden, overfull;

static void poll_meanwhile(void)
{
	hidden |= fake.ring.head.head == fake.ring.head.tail;
	overfull |= FAKE_PLACES - fake.ring.head.head > FAKE_RING;
}

static void full__polls_readable_throughout(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], two[2];

	fill(f, req);
	start_two(f, two);
	end_first();
	assert_int_equal(fake.ring.head.head, fake.ring.head.tail);
	fake.on_wait = poll_meanwhile;
	torcoll__push(f->t, true);
	assert_false(hidden);
	assert_false(overfull);
	assert_int_not_equal(fake.ring.head.head, fake.ring.head.tail);
	fake.on_wait = NULL;
	assert_int_equal(torcoll_test(&two[0]), 0);
	assert_int_equal(torcoll_test(&two[1]), 0);
	assert_int_equal(fake.ring.head.head, fake.ring.head.tail);
}

/* What was complete before anything waited. */
static void full__is_asked_for_at_once(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], two[2];

	fill(f, req);
	start(f, &two[0]);
	fake.slots = 0;
	fake.on_wait = end_first;
	start(f, &two[1]);
	assert_int_equal(nposted, FAKE_PLACES + 2);
	assert_false(torcoll__is_queued(f->t));
}

/* The same while ops of another comm wait, for which that was not asked for. */
static void full__is_asked_for_as_its_comm_waits(void **state)
{
	struct fixture *f = *state;
	const struct torcoll_comm_config config = { .fabric = 7, .name = "other" };
	struct torcoll_request req[FAKE_PLACES], two[2], behind[2];
	struct torcoll_comm *comm;

	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	fill(f, req);
	start(f, &two[0]);
	fake.slots = 0;
	assert_int_equal(torcoll_submit(comm, &barrier, &behind[0]), 0);
	assert_int_equal(torcoll_submit(comm, &barrier, &behind[1]), 0);
	assert_int_equal(nposted, FAKE_PLACES + 1);
	fake.on_wait = end_first;
	start(f, &two[1]);
	assert_int_equal(nposted, FAKE_PLACES + 2);
}

static struct fixture *shared;
static struct torcoll_request others;

static void other_thread_queues(const struct torcoll_submit *s)
{
	note(s);
	fake.on_submit = note;
	fake.slots = 0;
	start(shared, &others);
	fake.slots = 1;
}

/* Who looked before its handle was known is told by the slot that becomes free. */
static void full__completes_as_it_starts(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], r;

	fill(f, req);
	shared = f;
	fake.on_submit = other_thread_queues;
	start(f, &r);
	assert_true(torcoll__is_queued(f->t));
	assert_int_equal(fake.wait.op, r.op);
	assert_int_equal(torcoll_test(&r), 0);
}

/* A place that becomes free is for those without one. */
static void full__gets_a_place_later(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], r;

	fill(f, req);
	fake.runs = true;
	start(f, &r);
	assert_int_equal(torcoll_test(&r), -EAGAIN);
	assert_int_equal(fake.diverted.op, 0);
	post(posted[0], 0, 0);
	assert_int_equal(torcoll_test(&req[0]), 0);
	assert_int_equal(fake.diverted.op, r.op);
	fake_errors(TORCOLL_IOC_WAIT, 0, 0);
	assert_int_equal(torcoll_test(&r), -EAGAIN);
	post(fake.diverted.user_data, 0, 0);
	assert_int_equal(torcoll_test(&r), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	for (uint32_t i = 1; i < FAKE_PLACES; i++)
		post(posted[i], 0, 0);
	for (uint32_t i = 1; i < FAKE_PLACES; i++)
		assert_int_equal(torcoll_test(&req[i]), 0);
	/* none is lost */
	nposted = 0;
	fill(f, req);
}

static void other_thread_starts(const struct torcoll_submit *s)
{
	note(s);
	fake.on_submit = note;
	start(shared, &others);
}

/* So is one of a batch that was refused, which another thread has found taken meanwhile. */
static void full__gets_a_place_of_a_refused_batch(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES];
	struct torcoll_op op[FAKE_PLACES];
	uint32_t started;

	for (uint32_t i = 0; i < FAKE_PLACES; i++) {
		op[i] = barrier;
		op[i].flags = TORCOLL_OP_NOWAIT;
	}
	fake.runs = true;
	fake.batch_room = 1;
	shared = f;
	fake.on_submit = other_thread_starts;
	fake_errors(TORCOLL_IOC_BATCH, -EBUSY, 0);
	assert_int_equal(torcoll_submit_many(f->comm, op, FAKE_PLACES, req, &started), -EBUSY);
	assert_int_equal(started, 1);
	assert_int_equal(fake.diverted.op, others.op);
	post(fake.diverted.user_data, 0, 0);
	assert_int_equal(torcoll_test(&others), 0);
}

/* Ops of a comm of which none waits for a slot are in nobody's way. */
static void full__only_what_is_in_the_way_is_asked_for(void **state)
{
	struct fixture *f = *state;
	const struct torcoll_comm_config config = { .fabric = 7, .name = "other" };
	struct torcoll_request req[FAKE_PLACES], two[2], other[8];
	struct torcoll_comm *comm;

	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	fill(f, req);
	fake.runs = true;
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_int_equal(torcoll_submit(comm, &barrier, &other[i]), 0);
	start_two(f, two);
	torcoll__push(f->t, true);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	end_first();
	torcoll__push(f->t, true);
	assert_false(torcoll__is_queued(f->t));
	/* the second one of the two, too, as it starts */
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 3);
}

static void take_long(void)
{
	fake.now += 2 * PUSH_NS;
}

/* To ask for many takes half of the time at most; what is left is asked for soon. */
static void full__asks_for_many_less_often(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], two[2];

	fill(f, req);
	start_two(f, two);
	fake.on_wait = take_long;
	assert_false(torcoll__push(f->t, true));
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	fake.now += 2 * PUSH_NS - 1;
	assert_true(torcoll__push(f->t, true));
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
	fake.now++;
	assert_false(torcoll__push(f->t, true));
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Return how long it takes until these have completed, in the order in which they get places. */
static uint64_t complete(struct fixture *f, struct torcoll_request *req, uint64_t *id, uint32_t n)
{
	uint64_t ns;

	fake.on_submit = NULL;
	fake.runs = true;
	for (uint32_t i = 0; i < n; i++) {
		start(f, &req[i]);
		id[i] = req[i].ring;
	}
	ns = cpu_ns();
	for (uint32_t i = 0; i < n; i++) {
		post(id[i], 0, 0);
		assert_int_equal(torcoll_test(&req[i]), 0);
	}
	ns = cpu_ns() - ns;
	assert_int_equal(fake.ring.head.head, fake.ring.head.tail);
	return ns;
}

static uint64_t complete_in_new_context(uint32_t n)
{
	struct torcoll_request *req = calloc(n, sizeof(*req));
	uint64_t *id = calloc(n, sizeof(*id)), ns;
	void *state;

	assert_non_null(req);
	assert_non_null(id);
	assert_int_equal(setup_queue(&state), 0);
	ns = complete(state, req, id, n);
	teardown(&state);
	free(req);
	free(id);
	return ns;
}

static void full__each_of_many_costs_the_same(void **state)
{
	const uint32_t many = 8000;
	bool same = false;

	(void)state;
	/* other programs may have slowed down one of them */
	for (int tries = 0; tries < 5 && !same; tries++) {
		uint64_t once = complete_in_new_context(many);

		same = complete_in_new_context(2 * many) < 3 * once;
	}
	assert_true(same);
}

/* A failure has its reason, though another thread was told it. */
static void full__failure_has_its_reason(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], two[2];

	fill(f, req);
	start_two(f, two);
	end_first();
	fake.status = -EHOSTDOWN;
	fake.error_rank = 3;
	fake.sentence = "node 3 restarted";
	torcoll__push(f->t, true);
	fake.sentence = "something else";
	assert_int_equal(torcoll_test(&two[0]), -EHOSTDOWN);
	assert_string_equal(torcoll_last_error(), "allreduce: node 3 restarted (EHOSTDOWN)");
	assert_int_equal(torcoll_request_error_rank(&two[0]), 3);
	/* it is not said of others */
	fake.slots = 1;
	start(f, &two[0]);
	assert_int_equal(torcoll_test(&two[0]), -EHOSTDOWN);
	assert_string_equal(torcoll_last_error(), "allreduce: something else (EHOSTDOWN)");
}

static void fail_first(void)
{
	fake.on_wait = NULL;
	fake.sentence = "node 3 restarted";
	post(posted[1], 0, 0);
}

/* The one that waits for it asks for another op then, which gets a place. */
static void full__failure_has_its_reason_when_others_are_asked_for(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], r;

	fill(f, req);
	fake.runs = true;
	start(f, &r);
	fake.forgets = true;
	fake.status = -EHOSTDOWN;
	fake.on_wait = fail_first;
	assert_int_equal(torcoll_wait(&req[0]), -EHOSTDOWN);
	assert_int_equal(fake.diverted.op, r.op);
	assert_string_equal(torcoll_last_error(), "allreduce: node 3 restarted (EHOSTDOWN)");
	/* it is not said of others */
	fake.on_wait = NULL;
	assert_int_equal(torcoll_wait(&req[2]), -EHOSTDOWN);
	assert_string_equal(torcoll_last_error(),
			    "allreduce: a rank's host died or restarted (EHOSTDOWN)");
}

static void fetch_meanwhile(void)
{
	fake.on_wait = NULL;
	fake.slots = 0;
	start(shared, &others);
	fake_errors(TORCOLL_IOC_WAIT, -ENOENT, 0);
}

/* A thread waits in a call while another one fetches the result. */
static void full__is_fetched_while_it_waits(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[FAKE_PLACES], r;

	fill(f, req);
	start(f, &r);
	shared = f;
	fake.on_wait = fetch_meanwhile;
	assert_int_equal(torcoll_wait(&r), 0);
}

/* ---- no ring ---- */

/* Those of a comm wait for each other in the library, as with a ring. */
static void none__others_are_started(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request two[2];

	fake_errors(TORCOLL_IOC_RING_SETUP, -EDQUOT, 0);
	start_two(f, two);
	assert_int_equal(torcoll_test(&two[1]), -EAGAIN);
	assert_int_equal(nposted, 1);
	end_first();
	torcoll__push(f->t, true);
	assert_int_equal(nposted, 2);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_TRY);
	assert_int_equal(torcoll_test(&two[0]), 0);
	assert_int_equal(torcoll_test(&two[1]), 0);
}

static void add(const void *in, void *inout, uint64_t n, void *arg)
{
}

/* A step waits for a slot where it keeps nobody from looking. */
static void none__steps_do_not_block(void **state)
{
	struct fixture *f = *state;
	const struct torcoll_function function = { .reduce = add, .element = sizeof(x) };
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .count = 1, .send = &x, .recv = &y,
		.function = &function,
	};
	struct torcoll_request req;

	fake_errors(TORCOLL_IOC_RING_SETUP, -EDQUOT, 0);
	fake.slots = 0;
	assert_int_equal(torcoll_submit(f->comm, &op, &req), 0);
	assert_int_equal(nposted, 0);
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 0);
}

/* ---- no memory for a cell ---- */

static int submit_one(struct fixture *f, struct torcoll_request *req)
{
	int err;

	no_memory = true;
	err = torcoll_submit(f->comm, &barrier, req);
	no_memory = false;
	return err;
}

static int submit_two(struct fixture *f, struct torcoll_request *req)
{
	uint32_t started;
	int err;

	no_memory = true;
	err = torcoll_submit_many(f->comm, (struct torcoll_op[]){ barrier, barrier }, 2, req,
				  &started);
	no_memory = false;
	assert_int_equal(started, nposted);
	return err;
}

/* The module does not know of such an op, on which other ranks count. */
static void no_memory__is_told(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];

	f->t->features |= TORCOLL_FEATURE_TELL;
	f->comm->flags = TORCOLL_COMM_TELL;
	for (int many = 0; many < 2; many++) {
		fake_errors(TORCOLL_IOC_ABORT, 0, 0);
		assert_int_equal(many ? submit_two(f, req) : submit_one(f, req), -ENOMEM);
		assert_string_equal(torcoll_last_error(), "barrier: out of memory (ENOMEM)");
		assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
	}
	assert_int_equal(nposted, 0);
}

/* Only one more op gets a cell. */
static void leave_one_cell(struct fixture *f)
{
	struct torcoll_request req;
	struct torcoll__ring *ring = f->t->ring;

	start(f, &req);
	assert_int_equal(torcoll_wait(&req), 0);
	nposted = 0;
	ring->cells[ring->free].next = ring->room;
}

static void no_memory__first_ops_start(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];

	leave_one_cell(f);
	assert_int_equal(submit_two(f, req), -ENOMEM);
	assert_string_equal(torcoll_last_error(), "barrier: out of memory (ENOMEM)");
	assert_int_equal(nposted, 1);
	assert_int_equal(torcoll_wait(&req[0]), 0);
}

/* A refusal of an earlier op has its own reason. */
static void no_memory__is_not_the_reason_of_others(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[2];

	leave_one_cell(f);
	fake.batch_room = 0;
	fake_errors(TORCOLL_IOC_BATCH, -EDQUOT, 0);
	fake.sentence = "too many pages";
	assert_int_equal(submit_two(f, req), -EDQUOT);
	assert_string_equal(torcoll_last_error(), "barrier: too many pages (EDQUOT)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_queue(full__calls_block_in_one),
		test_queue(full__goes_on),
		test_queue(full__ops_start),
		test_queue(full__others_are_started),
		test_queue(full__polls_readable_throughout),
		test_queue(full__is_asked_for_at_once),
		test_queue(full__is_asked_for_as_its_comm_waits),
		test_queue(full__completes_as_it_starts),
		test_queue(full__gets_a_place_later),
		test_queue(full__gets_a_place_of_a_refused_batch),
		test_queue(full__only_what_is_in_the_way_is_asked_for),
		test_queue(full__asks_for_many_less_often),
		cmocka_unit_test(full__each_of_many_costs_the_same),
		test_queue(full__failure_has_its_reason),
		test_queue(full__failure_has_its_reason_when_others_are_asked_for),
		test_queue(full__is_fetched_while_it_waits),
		test_queue(none__others_are_started),
		test_queue(none__steps_do_not_block),
		test_queue(no_memory__is_told),
		test_queue(no_memory__first_ops_start),
		test_queue(no_memory__is_not_the_reason_of_others),
	};

	fake_features = TORCOLL_FEATURE_RING | TORCOLL_FEATURE_TRY | TORCOLL_FEATURE_WAIT_NS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
