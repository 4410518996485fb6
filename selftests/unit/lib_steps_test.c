// SPDX-License-Identifier: MIT
/*
 * Ops that the library makes of ops of the module: layouts, counts at the root, operators of the program; and refusals
 * of which the other ranks are told. The rank is 2 of 4.
 */
#include <sched.h>

#include "lib_fake.h"

static void post(uint64_t id)
{
	fake.ring.entry[fake.ring.head.tail++ % FAKE_RING] = (struct torcoll_completion){
		.user_data = id, .error_rank = ~0U,
	};
}

/* An allgather whose block i is 10 i, 10 i + 1 and so on; done at once. */
static void do_allgather(const struct torcoll_submit *s)
{
	const uint64_t *counts = (const uint64_t *)(uintptr_t)s->counts;
	int32_t *to = (int32_t *)(uintptr_t)s->recv_addr;

	assert_int_equal(s->collective, TORCOLL_ALLGATHER);
	for (int32_t i = 0; i < FAKE_RANKS; i++)
		for (uint64_t k = 0; k < counts[i]; k++)
			*to++ = 10 * i + k;
	post(s->user_data);
}

static void displs__are_unpacked(void **state)
{
	struct fixture *f = *state;
	const uint64_t counts[FAKE_RANKS] = { 1, 0, 2, 3 }, displs[FAKE_RANKS] = { 8, 0, 1, 4 };
	const struct torcoll_displs d = { .recv = displs };
	int32_t block[2] = { 20, 21 }, all[10];
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLGATHER, .type = TORCOLL_I32, .count = 6, .counts = counts,
		.send = block, .recv = all, .displs = &d,
	};
	const int32_t expected[10] = { -1, 20, 21, -1, 30, 31, 32, -1, 0, -1 };

	memset(all, 0xff, sizeof(all));
	fake.on_submit = do_allgather;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_memory_equal(all, expected, sizeof(all));
	assert_true(fake.submit.recv_addr != (uintptr_t)all);
}

static void do_nothing(const struct torcoll_submit *s)
{
	post(s->user_data);
}

/* Members that the op has no use for are the module's to refuse: they are copied like others. */
static void displs__beside_all_other_members(void **state)
{
	struct fixture *f = *state;
	const uint64_t counts[FAKE_RANKS] = { 1, 1, 1, 1 }, displs[FAKE_RANKS] = { 6, 4, 2, 0 };
	const struct torcoll_displs d = { .send = displs, .recv = displs };
	int32_t from[8] = { 0 }, to[8], scalar = 1;
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLTOALL, .type = TORCOLL_I32, .count = FAKE_RANKS,
		.counts = counts, .recv_counts = counts, .send = from, .recv = to, .displs = &d,
		.scalar = &scalar,
	};

	fake.on_submit = do_nothing;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_true(fake.submit.scalar && fake.submit.scalar != (uintptr_t)&scalar);
	fake_errors(TORCOLL_IOC_SUBMIT, -EINVAL, 0);
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
}

/* Blocks that follow each other stay where they are, wherever that is. */
static void displs__packed_ones_cost_nothing(void **state)
{
	struct fixture *f = *state;
	const uint64_t counts[FAKE_RANKS] = { 1, 0, 2, 3 }, displs[FAKE_RANKS] = { 2, 77, 3, 5 };
	const struct torcoll_displs d = { .recv = displs };
	int32_t all[10] = { 0 };
	struct torcoll_op op = {
		.collective = TORCOLL_ALLGATHER, .type = TORCOLL_I32, .count = 6, .counts = counts,
		.send = all + 3, .recv = all, .displs = &d,
	};

	fake.on_submit = do_allgather;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_int_equal(fake.submit.recv_addr, (uintptr_t)(all + 2));
	assert_int_equal(all[7], 32);
	op.flags = TORCOLL_OP_NOWAIT;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	assert_non_null(strstr(torcoll_last_error(), "NOWAIT goes with no displacements"));
	op.flags = 0;
	op.collective = TORCOLL_ALLREDUCE;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	assert_string_equal(torcoll_last_error(), "allreduce: it has no displacements (EINVAL)");
}

static uint64_t told_counts[FAKE_RANKS];
static uint32_t submits;

/* The root's counts come by a broadcast. */
static void do_two_steps(const struct torcoll_submit *s)
{
	if (!submits++) {
		assert_int_equal(s->collective, TORCOLL_BROADCAST);
		assert_int_equal(s->count, FAKE_RANKS);
		assert_int_equal(s->type, TORCOLL_U64);
		memcpy((void *)(uintptr_t)s->recv_addr, told_counts, sizeof(told_counts));
	} else {
		assert_int_equal(s->collective, TORCOLL_GATHER);
		assert_int_equal(s->count, 10);
		assert_memory_equal((void *)(uintptr_t)s->counts, told_counts, sizeof(told_counts));
	}
	assert_int_equal(s->root, 1);
	post(s->user_data);
}

/* This rank's part of a gather whose root alone has the counts. */
static struct torcoll_op gather_of(const int32_t *block)
{
	return (struct torcoll_op){
		.collective = TORCOLL_GATHER, .type = TORCOLL_I32, .count = 3, .root = 1, .send = block,
		.flags = TORCOLL_OP_COUNTS_AT_ROOT,
	};
}

static void counts__come_from_the_root(void **state)
{
	struct fixture *f = *state;
	int32_t block[3] = { 0 };
	struct torcoll_op op = gather_of(block);

	for (uint32_t i = 0; i < FAKE_RANKS; i++)
		told_counts[i] = i + 1;
	submits = 0;
	fake.on_submit = do_two_steps;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_int_equal(submits, 2);
	/* the root expects other lengths: all are told, and the message says what */
	op.count = 4;
	submits = 0;
	assert_int_equal(torcoll_run(f->comm, &op), -EPROTO);
	assert_int_equal(submits, 1);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
	assert_string_equal(torcoll_last_error(), "gather: rank 2 has 4 elements, and root 1 gives it 3 (EPROTO)");
	op.collective = TORCOLL_ALLGATHER;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	op.collective = TORCOLL_GATHER;
	op.root = FAKE_RANK;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	assert_string_equal(torcoll_last_error(), "gather: the root gives no counts (EINVAL)");
}

/* Once others have one step of the op, a refusal of the next cannot be repeated: they are told. */
static void steps__refused_later_fail_the_comm(void **state)
{
	struct fixture *f = *state;
	int32_t block[3] = { 0 };
	const struct torcoll_op op = gather_of(block);
	struct torcoll_request req;

	for (uint32_t i = 0; i < FAKE_RANKS; i++)
		told_counts[i] = i + 1;
	submits = 0;
	fake.on_submit = do_two_steps;
	fake_errors(TORCOLL_IOC_SUBMIT, 0, -EDQUOT);
	assert_int_equal(torcoll_submit(f->comm, &op, &req), 0);
	/* told with the reason, by the second call */
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 3);
	assert_true(fake.submit.flags & TORCOLL_OP_TELL);
	assert_int_equal(torcoll_test(&req), 0);

	submits = 0;
	f->t->features &= ~(uint64_t)TORCOLL_FEATURE_TELL;
	fake_errors(TORCOLL_IOC_SUBMIT, 0, -EDQUOT);
	fake.sentence = "RLIMIT_MEMLOCK";
	assert_int_equal(torcoll_submit(f->comm, &op, &req), 0);
	assert_int_equal(torcoll_test(&req), -EDQUOT);
	assert_string_equal(torcoll_last_error(), "gather: RLIMIT_MEMLOCK (EDQUOT)");
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
}

static void do_first_step(const struct torcoll_submit *s)
{
	if (!submits)
		do_two_steps(s);
}

/* The library may be what refuses it. */
static void steps__described_wrong_fail_the_comm(void **state)
{
	struct fixture *f = *state;
	int32_t block[3] = { 0 };
	const struct torcoll_op op = gather_of(block);
	struct torcoll_request req;

	for (uint32_t i = 0; i < FAKE_RANKS; i++)
		told_counts[i] = UINT64_MAX;
	submits = 0;
	fake.on_submit = do_first_step;
	assert_int_equal(torcoll_submit(f->comm, &op, &req), 0);
	assert_int_equal(torcoll_test(&req), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
	assert_true(fake.submit.flags & TORCOLL_OP_TELL && fake.submit.flags & ~TORCOLL_OP_FLAGS);
}

static void steps__refused_at_once(void **state)
{
	struct fixture *f = *state;
	const struct torcoll_op op = {
		.collective = TORCOLL_GATHER, .type = TORCOLL_I32, .count = 3, .root = 1,
		.send = told_counts, .flags = TORCOLL_OP_COUNTS_AT_ROOT,
	};
	struct torcoll_op ops[2] = { op, op };
	struct torcoll_request req[2];
	uint32_t started;

	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	fake.sentence = "RLIMIT_MEMLOCK";
	assert_int_equal(torcoll_submit_many(f->comm, ops, 2, req, &started), -EDQUOT);
	assert_string_equal(torcoll_last_error(), "gather: RLIMIT_MEMLOCK (EDQUOT)");
	assert_int_equal(started, 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 0);
}

/* Ops that come later wait until the last step has started: they are later on all ranks. */
static void steps__keep_the_order(void **state)
{
	struct fixture *f = *state;
	int32_t block[3] = { 0 };
	const struct torcoll_op op = gather_of(block);
	struct torcoll_request req[2];
	uint64_t first;

	for (uint32_t i = 0; i < FAKE_RANKS; i++)
		told_counts[i] = i + 1;
	assert_int_equal(torcoll_submit(f->comm, &op, &req[0]), 0);
	first = fake.submit.user_data;
	memcpy((void *)(uintptr_t)fake.submit.recv_addr, told_counts, sizeof(told_counts));
	assert_int_equal(torcoll_ibarrier(f->comm, &req[1]), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
	post(first);
	assert_int_equal(torcoll_test(&req[1]), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 3);
	assert_int_equal(fake.submit.collective, TORCOLL_BARRIER);
	post(fake.submit.user_data);
	assert_int_equal(torcoll_test(&req[1]), 0);
	assert_int_equal(torcoll_test(&req[0]), -EAGAIN);
}

/* So they do with a module that cannot say that there is no slot: there they wait in the module. */
static void steps__keep_the_order_of_an_older_module(void **state)
{
	struct fixture *f = *state;

	f->t->features &= ~(uint64_t)TORCOLL_FEATURE_TRY;
	steps__keep_the_order(state);
}

static void do_scatter(const struct torcoll_submit *s)
{
	int32_t *to = (int32_t *)(uintptr_t)s->recv_addr;

	assert_int_equal(s->collective, TORCOLL_REDUCE_SCATTER);
	to[0] = 50;
	to[1] = 51;
	post(s->user_data);
}

static void start__gets_the_result(void **state)
{
	struct fixture *f = *state;
	int32_t v[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	const int32_t expected[9] = { 50, 51, 3, 4, 5, 6, 7, 8, 9 };
	struct torcoll_op op = {
		.collective = TORCOLL_REDUCE_SCATTER, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.count = 9, .send = v, .recv = v, .flags = TORCOLL_OP_AT_START,
	};

	fake.on_submit = do_scatter;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_memory_equal(v, expected, sizeof(v));
	op.recv = v + 1;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
}

/* a op b = 10 a + b: it shows the order. */
static void digits(const void *in, void *inout, uint64_t count, void *arg)
{
	const int32_t *a = in;
	int32_t *b = inout, scale;

	assert_ptr_equal(arg, &submits);
	for (uint64_t i = 0; i < count; i++) {
		for (scale = 10; scale <= b[i]; scale *= 10)
			;
		b[i] += scale * a[i];
	}
}

static void do_bytes(const struct torcoll_submit *s)
{
	int32_t *to = (int32_t *)(uintptr_t)s->recv_addr;

	assert_int_equal(s->type, TORCOLL_U8);
	assert_int_equal(s->count, FAKE_RANKS * 2 * sizeof(int32_t));
	for (int32_t i = 0; i < FAKE_RANKS; i++) {
		to[2 * i] = i + 1;
		to[2 * i + 1] = i + 5;
	}
	post(s->user_data);
}

static void function__in_the_order_of_ranks(void **state)
{
	struct fixture *f = *state;
	struct torcoll_function fn = { digits, &submits, 0 };
	const uint64_t counts[FAKE_RANKS] = { 1, 1, 1, 0 };
	int32_t in[2] = { 3, 7 }, out[2];
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .count = 2, .send = in, .recv = out,
		.function = &fn,
	};

	fake.on_submit = do_bytes;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_int_equal(out[0], 1234);
	assert_int_equal(out[1], 5678);
	op.collective = TORCOLL_EXSCAN;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_int_equal(out[0], 12);
	op.collective = TORCOLL_SCAN;
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_int_equal(out[1], 567);

	op.redop = TORCOLL_SUM;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	op.redop = 0;
	fn.element = 4;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	fn.element = 0;
	op.collective = TORCOLL_BROADCAST;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	assert_string_equal(torcoll_last_error(), "broadcast: it does not reduce (EINVAL)");
	op.collective = TORCOLL_ALLREDUCE;
	op.counts = counts;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	assert_string_equal(torcoll_last_error(), "allreduce: it takes no counts (EINVAL)");
	op.collective = TORCOLL_REDUCE_SCATTER;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	assert_string_equal(torcoll_last_error(),
			    "reduce-scatter: the counts add up to 3, the vector has 2 elements (EINVAL)");
	op.counts = NULL;
	op.count = 1ULL << 62;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	fn.reduce = NULL;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
}

/* ---- operators, while other threads go on ---- */

static struct fixture *shared;
static uint32_t reductions;
static pthread_t closer;

/* Longer than what is reduced in one step. */
static char vector[200000];

static void start_long(struct torcoll_comm *comm, void (*reduce)(const void *, void *, uint64_t, void *),
		       struct torcoll_request *req)
{
	const struct torcoll_function fn = { .reduce = reduce };
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I8, .count = sizeof(vector),
		.send = vector, .recv = vector, .function = &fn,
	};

	reductions = 0;
	assert_int_equal(torcoll_submit(comm, &op, req), 0);
	assert_int_equal(fake.submit.collective, TORCOLL_ALLTOALL);
	post(fake.submit.user_data);
	fake.now += PUSH_NS;
}

/* What another thread does: it finds the queue, and nothing to do in it. */
static void queue_is_free(const void *in, void *inout, uint64_t count, void *arg)
{
	struct torcoll *t = shared->t;

	reductions++;
	assert_int_equal(pthread_mutex_trylock(&t->queue), 0);
	assert_true(torcoll__queue_uses(t, (uintptr_t)vector, 1));
	pthread_mutex_unlock(&t->queue);
	/* it is to look again soon */
	assert_true(torcoll__push(t, true));
}

static void function__without_the_queue(void **state)
{
	struct torcoll_request req;

	shared = *state;
	start_long(shared->comm, queue_is_free, &req);
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	assert_int_equal(reductions, FAKE_RANKS - 1);
	assert_int_equal(fake.submit.collective, TORCOLL_ALLGATHER);
	post(fake.submit.user_data);
	assert_int_equal(torcoll_test(&req), 0);
}

static void *close_comm(void *arg)
{
	torcoll_comm_close(arg);
	return NULL;
}

static bool comm_is_listed(struct torcoll *t, const struct torcoll_comm *comm)
{
	bool listed;

	pthread_rwlock_rdlock(&t->lock);
	listed = t->comms == comm;
	pthread_rwlock_unlock(&t->lock);
	return listed;
}

static void comm_is_closed(const void *in, void *inout, uint64_t count, void *arg)
{
	struct torcoll_comm *comm = shared->comm;

	if (reductions++)
		return;
	assert_int_equal(pthread_create(&closer, NULL, close_comm, comm), 0);
	/* which waits once it has left the list */
	while (comm_is_listed(shared->t, comm))
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 0);
}

/* A thread that waits for an op of another comm may be what advances one of a comm that is closed. */
static void function__while_the_comm_is_closed(void **state)
{
	struct torcoll_comm_config config = { .fabric = 7, .name = "other" };
	struct torcoll_comm *other;
	struct torcoll_request req, gone;

	shared = *state;
	other = shared->comm;
	assert_int_equal(torcoll_ibarrier(other, &req), 0);
	assert_int_equal(torcoll_comm_create(shared->t, &config, &shared->comm), 0);
	start_long(shared->comm, comm_is_closed, &gone);
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	pthread_join(closer, NULL);
	assert_int_equal(reductions, FAKE_RANKS - 1);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 1);
	assert_null(shared->t->jobs);
	assert_null(shared->t->lanes);
	shared->comm = other;
}

/* ---- refusals ---- */

static void refusal__is_told_at_the_second_call(void **state)
{
	struct fixture *f = *state;
	int32_t v = 0;

	fake_errors(TORCOLL_IOC_SUBMIT, -EFAULT, -EFAULT);
	assert_int_equal(torcoll_allreduce(f->comm, &v, &v, 1, TORCOLL_I32, TORCOLL_SUM), -EFAULT);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);

	f->comm->flags = TORCOLL_COMM_TELL;
	fake_errors(TORCOLL_IOC_SUBMIT, -EFAULT, 0);
	assert_int_equal(torcoll_allreduce(f->comm, &v, &v, 1, TORCOLL_I32, TORCOLL_SUM), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
	assert_true(fake.submit.flags & TORCOLL_OP_TELL);
	/* one of the library */
	fake_errors(TORCOLL_IOC_SUBMIT, 0, 0);
	assert_int_equal(torcoll_allreduce(f->comm, &v, &v, 1, 0x10000, TORCOLL_SUM), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
	assert_true(fake.submit.flags & TORCOLL_OP_TELL && fake.submit.flags & ~TORCOLL_OP_FLAGS);
}

static void refusal__of_a_prepared_op_is_told(void **state)
{
	struct fixture *f = *state;
	int32_t v = 0;
	const struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 1,
		.send = &v, .recv = &v,
	};
	struct torcoll_prepared *p;
	struct torcoll_request req;

	f->comm->flags = TORCOLL_COMM_TELL;
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	/* whoever had no memory */
	fake.batch_room = 0;
	fake_errors(TORCOLL_IOC_BATCH, -ENOMEM, -ENOMEM);
	assert_int_equal(torcoll_start(p, &req), -ENOMEM);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 1);
	torcoll_prepared_free(p);
}

/* The comm is the parent's, whatever a child calls. */
static void refusal__is_not_told_by_a_child(void **state)
{
	struct fixture *f = *state;
	uint64_t counts[FAKE_RANKS] = { UINT64_MAX, 1 };
	int32_t v = 0;

	f->comm->flags = TORCOLL_COMM_TELL;
	forks++;
	fake_errors(TORCOLL_IOC_SUBMIT, 0, 0);
	assert_int_equal(torcoll_allgatherv(f->comm, &v, &v, NULL, TORCOLL_I32), -EPERM);
	assert_int_equal(torcoll_allgatherv(f->comm, &v, &v, counts, TORCOLL_I32), -EPERM);
	assert_int_equal(torcoll_allreduce(f->comm, &v, &v, 1, 0x10000, TORCOLL_SUM), -EPERM);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_ABORT), 0);
	forks--;
	assert_int_equal(torcoll_allgatherv(f->comm, &v, &v, NULL, TORCOLL_I32), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
}

/* The module writes until the comm is gone. */
static void write_late(void)
{
	memset((void *)(uintptr_t)fake.submit.recv_addr, 0xff, sizeof(uint64_t));
}

static void start_steps(struct fixture *f, struct torcoll_request *req)
{
	const struct torcoll_op op = {
		.collective = TORCOLL_GATHER, .type = TORCOLL_I32, .count = 3, .root = 1,
		.send = told_counts, .flags = TORCOLL_OP_COUNTS_AT_ROOT,
	};

	assert_int_equal(torcoll_submit(f->comm, &op, req), 0);
	assert_int_equal(fake.submit.collective, TORCOLL_BROADCAST);
	fake.on_comm_del = write_late;
}

static void close__before_memory_goes(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;

	start_steps(f, &req);
	torcoll_comm_close(f->comm);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 1);
}

/* The file may be a child's as well: what ends ops is not that it is closed here. */
static void close__of_the_context_too(void **state)
{
	struct fixture *f;
	struct torcoll_request req;

	assert_int_equal(setup((void **)&f), 0);
	start_steps(f, &req);
	torcoll_close(f->t);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_open(displs__are_unpacked),
		test_open(displs__packed_ones_cost_nothing),
		test_open(displs__beside_all_other_members),
		test_open(counts__come_from_the_root),
		test_open(steps__refused_later_fail_the_comm),
		test_open(steps__described_wrong_fail_the_comm),
		test_open(steps__refused_at_once),
		test_open(steps__keep_the_order),
		test_open(steps__keep_the_order_of_an_older_module),
		test_open(start__gets_the_result),
		test_open(function__in_the_order_of_ranks),
		test_open(function__without_the_queue),
		test_open(function__while_the_comm_is_closed),
		test_open(refusal__is_told_at_the_second_call),
		test_open(refusal__of_a_prepared_op_is_told),
		test_open(refusal__is_not_told_by_a_child),
		test_open(close__before_memory_goes),
		test_closed(close__of_the_context_too),
	};

	fake_features = TORCOLL_FEATURE_RING | TORCOLL_FEATURE_TRY | TORCOLL_FEATURE_TELL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
