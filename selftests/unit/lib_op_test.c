// SPDX-License-Identifier: MIT
/*
 * The library's ops and names, in front of a fake device.
 */
#include "lib_fake.h"

/* ---- ops ---- */

static void torcoll_allreduce__marshals(void **state)
{
	struct fixture *f = *state;
	double send[8], recv[8];
	uint32_t region;

	region = fake.next_handle;
	assert_int_equal(torcoll_register(f->t, recv, sizeof(recv)), 0);
	assert_int_equal(torcoll_allreduce(f->comm, send, recv, 8, TORCOLL_F64, TORCOLL_MAX), 0);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_WAIT);
	assert_int_equal(fake.submit.comm, 1);
	assert_int_equal(fake.submit.collective, TORCOLL_ALLREDUCE);
	assert_int_equal(fake.submit.algorithm, TORCOLL_ALGO_AUTO);
	assert_int_equal(fake.submit.type, TORCOLL_F64);
	assert_int_equal(fake.submit.redop, TORCOLL_MAX);
	assert_int_equal(fake.submit.count, 8);
	assert_int_equal(fake.submit.send_addr, (uintptr_t)send);
	assert_int_equal(fake.submit.recv_addr, (uintptr_t)recv);
	assert_int_equal(fake.submit.send_region, 0);
	assert_int_equal(fake.submit.recv_region, region);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);

	/* Beyond the region's end: not registered. */
	assert_int_equal(torcoll_allreduce(f->comm, send, recv + 1, 8, TORCOLL_F64, TORCOLL_MAX), 0);
	assert_int_equal(fake.submit.recv_region, 0);
	/* So many that their bytes are not to be counted: the module shall refuse it. */
	assert_int_equal(torcoll_allreduce(f->comm, recv, recv, 1ULL << 61, TORCOLL_F64,
					   TORCOLL_MAX), 0);
	assert_int_equal(fake.submit.recv_region, 0);
	assert_true(fake.submit.count == 1ULL << 61);
}

static void torcoll_run__marshals_all(void **state)
{
	struct fixture *f = *state;
	const uint64_t counts[FAKE_RANKS] = { 1, 2, 3, 4 };
	short send[10], recv[3], scalar;
	struct torcoll_op op = {
		.collective = TORCOLL_REDUCE_SCATTER,
		.type = TORCOLL_I16,
		.redop = TORCOLL_PREMULSUM,
		.algorithm = TORCOLL_RING,
		.bits = TORCOLL_BITS_ORDERED,
		.flags = TORCOLL_OP_NOWAIT,
		.root = 3,
		.peer = 1,
		.count = 10,
		.counts = counts,
		.send = send,
		.recv = recv,
		.scalar = &scalar,
		.param = { 1, 2, 3, 4, 5, 6, 7, 8 },
		.deadline_ns = 1234,
	};

	assert_int_equal(torcoll_register(f->t, recv, sizeof(recv)), 0);
	assert_int_equal(torcoll_run(f->comm, &op), 0);
	assert_int_equal(fake.submit.collective, TORCOLL_REDUCE_SCATTER);
	assert_int_equal(fake.submit.algorithm, TORCOLL_RING);
	assert_int_equal(fake.submit.type, TORCOLL_I16);
	assert_int_equal(fake.submit.redop, TORCOLL_PREMULSUM);
	assert_int_equal(fake.submit.bits, TORCOLL_BITS_ORDERED);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_NOWAIT | TORCOLL_OP_WAIT);
	assert_int_equal(fake.submit.root, 3);
	assert_int_equal(fake.submit.peer, 1);
	assert_int_equal(fake.submit.counts, (uintptr_t)counts);
	assert_int_equal(fake.submit.scalar, (uintptr_t)&scalar);
	assert_memory_equal(fake.submit.param, op.param, sizeof(op.param));
	assert_int_equal(fake.submit.deadline_ns, 1234);
	/* The block of rank 2 has 3 elements, and so has its buffer. */
	assert_int_not_equal(fake.submit.recv_region, 0);
}

static void torcoll_reduce_scatter__marshals(void **state)
{
	struct fixture *f = *state;
	const uint64_t counts[FAKE_RANKS] = { 1, 2, 3, 4 };
	const uint64_t huge[FAKE_RANKS] = { UINT64_MAX, 1 };
	int send[10] = { 0 }, recv[3];

	assert_int_equal(torcoll_reduce_scatter(f->comm, send, recv, 10, TORCOLL_I32, TORCOLL_MIN),
			 0);
	assert_int_equal(fake.submit.collective, TORCOLL_REDUCE_SCATTER);
	assert_int_equal(fake.submit.redop, TORCOLL_MIN);
	assert_int_equal(fake.submit.count, 10);
	assert_int_equal(fake.submit.counts, 0);
	assert_int_equal(torcoll_reduce_scatterv(f->comm, send, recv, counts, TORCOLL_I32,
						 TORCOLL_SUM), 0);
	assert_int_equal(fake.submit.count, 10);
	assert_int_equal(fake.submit.counts, (uintptr_t)counts);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
	assert_int_equal(torcoll_reduce_scatterv(f->comm, send, recv, huge, TORCOLL_I32,
						 TORCOLL_SUM), -EINVAL);
	assert_int_equal(torcoll_reduce_scatterv(f->comm, send, recv, NULL, TORCOLL_I32,
						 TORCOLL_SUM), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
}

static void torcoll_allgather__marshals(void **state)
{
	struct fixture *f = *state;
	const uint64_t counts[FAKE_RANKS] = { 0, 2, 3, 0 };
	int send[3] = { 0 }, recv[5];

	assert_int_equal(torcoll_allgather(f->comm, send, recv, 5, TORCOLL_I32), 0);
	assert_int_equal(fake.submit.collective, TORCOLL_ALLGATHER);
	assert_int_equal(fake.submit.redop, TORCOLL_REDOP_NONE);
	assert_int_equal(fake.submit.count, 5);
	assert_int_equal(torcoll_allgatherv(f->comm, send, recv, counts, TORCOLL_I32), 0);
	assert_int_equal(fake.submit.count, 5);
	assert_int_equal(fake.submit.counts, (uintptr_t)counts);
}

static void torcoll_reduce__marshals(void **state)
{
	struct fixture *f = *state;
	uint32_t region = fake.next_handle;
	int send[5] = { 0 }, recv[5] = { 0 };

	assert_int_equal(torcoll_register(f->t, recv, sizeof(recv)), 0);
	assert_int_equal(torcoll_reduce(f->comm, send, recv, 5, TORCOLL_I32, TORCOLL_SUM, 2), 0);
	assert_int_equal(fake.submit.collective, TORCOLL_REDUCE);
	assert_int_equal(fake.submit.root, 2);
	assert_int_equal(fake.submit.recv_region, region);
	assert_int_equal(torcoll_reduce(f->comm, send, NULL, 5, TORCOLL_I32, TORCOLL_SUM, 1), 0);
	assert_int_equal(fake.submit.recv_region, 0);
	assert_int_equal(torcoll_broadcast(f->comm, recv, 5, TORCOLL_I32, 1), 0);
	assert_int_equal(fake.submit.collective, TORCOLL_BROADCAST);
	assert_int_equal(fake.submit.root, 1);
	assert_int_equal(fake.submit.send_addr, (uintptr_t)recv);
	assert_int_equal(fake.submit.recv_region, region);
}

static void torcoll_run__checks(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = { .collective = TORCOLL_ALLREDUCE, .flags = TORCOLL_OP_WAIT };

	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	op.flags = 0;
	op.type = 0x10000 + TORCOLL_F32;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	op.type = TORCOLL_F32;
	op.reserved[0] = 1;
	assert_int_equal(torcoll_run(f->comm, &op), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 0);
}

static void torcoll_run__interrupted_before_start(void **state)
{
	struct fixture *f = *state;
	int x = 0;

	fake_errors(TORCOLL_IOC_SUBMIT, -EINTR, -EINTR);
	assert_int_equal(torcoll_allreduce(f->comm, &x, &x, 1, TORCOLL_I32, TORCOLL_SUM), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 3);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
}

static void torcoll_run__interrupted_while_running(void **state)
{
	struct fixture *f = *state;
	int x = 0;

	fake_errors(TORCOLL_IOC_SUBMIT, -EINTR, 0);
	fake_errors(TORCOLL_IOC_WAIT, -EINTR, -EINTR);
	fake.started_on_eintr = 77;
	fake.status = -EHOSTDOWN;
	fake.sentence = "node 3 restarted";
	assert_int_equal(torcoll_allreduce(f->comm, &x, &x, 1, TORCOLL_I32, TORCOLL_SUM), -EHOSTDOWN);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 3);
	assert_int_equal(fake.wait.op, 77);
	assert_int_equal(fake.wait.deadline_ns, 0);
	assert_string_equal(torcoll_last_error(), "allreduce: node 3 restarted (EHOSTDOWN)");
}

static void torcoll_run_until__in_one_call(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = { .collective = TORCOLL_BARRIER };
	struct torcoll_request req;

	f->t->features |= TORCOLL_FEATURE_WAIT_NS;
	assert_int_equal(torcoll_run_until(f->comm, &op, &req, 5), 0);
	assert_int_equal(fake.submit.flags, TORCOLL_OP_WAIT);
	assert_int_equal(fake.submit.wait_ns, 5);
	/* started, and not complete then */
	fake.started_on_eintr = 77;
	fake_errors(TORCOLL_IOC_SUBMIT, -ETIMEDOUT, 0);
	assert_int_equal(torcoll_run_until(f->comm, &op, &req, 6), -EAGAIN);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake.wait.op, 77);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
}

static void torcoll_run_until__interrupted(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = { .collective = TORCOLL_BARRIER };
	struct torcoll_request req;

	f->t->features |= TORCOLL_FEATURE_WAIT_NS;
	fake.started_on_eintr = 77;
	fake_errors(TORCOLL_IOC_SUBMIT, -EINTR, 0);
	assert_int_equal(torcoll_run_until(f->comm, &op, &req, 5), 0);
	assert_int_equal(fake.wait.op, 77);
	assert_int_equal(fake.wait.deadline_ns, 5);
}

/* The op's own deadline has passed before it was started. */
static void torcoll_run_until__is_not_started(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = { .collective = TORCOLL_BARRIER };
	struct torcoll_request req;

	f->t->features |= TORCOLL_FEATURE_WAIT_NS;
	fake_errors(TORCOLL_IOC_SUBMIT, -ETIMEDOUT, 0);
	assert_int_equal(torcoll_run_until(f->comm, &op, &req, 5), -ETIMEDOUT);
	assert_int_equal(torcoll_wait(&req), -EINVAL);
}

static void torcoll_run_until__older_module(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = { .collective = TORCOLL_BARRIER };
	struct torcoll_request req;

	assert_int_equal(torcoll_run_until(f->comm, &op, &req, 5), 0);
	assert_int_equal(fake.submit.flags, 0);
	assert_int_equal(fake.submit.wait_ns, 0);
	assert_int_equal(fake.wait.deadline_ns, 5);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 1);
}

static void torcoll_iallreduce__then_wait(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	uint32_t op = fake.next_handle;
	int x = 0;

	assert_int_equal(torcoll_iallreduce(f->comm, &x, &x, 1, TORCOLL_I32, TORCOLL_MIN, &req), 0);
	assert_int_equal(fake.submit.flags, 0);
	fake_errors(TORCOLL_IOC_WAIT, -EAGAIN, 0);
	assert_int_equal(torcoll_test(&req), -EAGAIN);
	fake.status = -ECONNABORTED;
	fake.error_rank = 3;
	assert_int_equal(torcoll_request_error_rank(&req), ~0U);
	assert_int_equal(torcoll_test(&req), -ECONNABORTED);
	assert_int_equal(fake.wait.flags, TORCOLL_WAIT_NOHANG);
	assert_int_equal(fake.wait.op, op);
	assert_int_equal(fake.wait.comm, 1);
	/* The module has forgotten it, the request has not. */
	assert_int_equal(torcoll_wait(&req), -ECONNABORTED);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 2);
	assert_int_equal(torcoll_request_error_rank(&req), 3);
}

static void torcoll_wait_until__patience_ends(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	int x = 0;

	assert_int_equal(torcoll_iallreduce(f->comm, &x, &x, 1, TORCOLL_I32, TORCOLL_MIN, &req), 0);
	fake_errors(TORCOLL_IOC_WAIT, -EINTR, -ETIMEDOUT);
	assert_int_equal(torcoll_wait_until(&req, 5), -EAGAIN);
	/* The op's own deadline is another matter. */
	fake.status = -ETIMEDOUT;
	assert_int_equal(torcoll_wait_until(&req, 5), -ETIMEDOUT);
	assert_int_equal(fake.wait.deadline_ns, 5);
}

static void torcoll_wait__nothing_started(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req = { 0 };
	int x = 0;

	assert_int_equal(torcoll_wait(&req), -EINVAL);
	fake_errors(TORCOLL_IOC_SUBMIT, -EBUSY, 0);
	assert_int_equal(torcoll_iallreduce(f->comm, &x, &x, 1, TORCOLL_I32, TORCOLL_MIN, &req),
			 -EBUSY);
	assert_int_equal(torcoll_wait(&req), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_WAIT), 0);
}

static void torcoll_submit__interrupted(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	int x = 0;

	fake_errors(TORCOLL_IOC_SUBMIT, -EINTR, 0);
	assert_int_equal(torcoll_iallreduce(f->comm, &x, &x, 1, TORCOLL_I32, TORCOLL_MIN, &req), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
	assert_int_equal(torcoll_wait(&req), 0);
}

static struct torcoll_op small_op(int *x)
{
	return (struct torcoll_op){
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.count = 1, .send = x, .recv = x,
	};
}

static void torcoll_submit_many__one_call(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];
	struct torcoll_op ops[3];
	uint32_t started;
	int x = 0;

	for (size_t i = 0; i < 3; i++)
		ops[i] = small_op(&x);
	assert_int_equal(torcoll_submit_many(f->comm, ops, 3, req, &started), 0);
	assert_int_equal(started, 3);
	assert_int_equal(fake_calls(TORCOLL_IOC_BATCH), 1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(torcoll_wait(&req[i]), 0);
	assert_int_equal(torcoll_submit_many(f->comm, ops, 3, req, NULL), 0);
}

static void torcoll_submit_many__ends_at_the_first_refused(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];
	struct torcoll_op ops[3];
	uint32_t started;
	int x = 0;

	for (size_t i = 0; i < 3; i++)
		ops[i] = small_op(&x);
	fake.batch_room = 2;
	fake.sentence = "8 ops are in flight";
	fake_errors(TORCOLL_IOC_BATCH, -EBUSY, 0);
	assert_int_equal(torcoll_submit_many(f->comm, ops, 3, req, &started), -EBUSY);
	assert_string_equal(torcoll_last_error(), "allreduce: 8 ops are in flight (EBUSY)");
	assert_int_equal(started, 2);
	assert_int_equal(torcoll_wait(&req[1]), 0);
	assert_int_equal(torcoll_wait(&req[2]), -EINVAL);
	/* what the library refuses lets those before it run as well */
	fake.batch_room = UINT32_MAX;
	ops[1].flags = ~0U;
	assert_int_equal(torcoll_submit_many(f->comm, ops, 3, req, &started), -EINVAL);
	assert_int_equal(started, 1);
	assert_int_equal(torcoll_wait(&req[0]), 0);
	ops[0].flags = ~0U;
	assert_int_equal(torcoll_submit_many(f->comm, ops, 3, req, &started), -EINVAL);
	assert_int_equal(started, 0);
	assert_int_equal(torcoll_submit_many(f->comm, ops, 0, req, &started), -EINVAL);
	assert_int_equal(torcoll_submit_many(f->comm, ops, TORCOLL_BATCH_MAX + 1, NULL, &started),
			 -EINVAL);
}

static void torcoll_submit_many__interrupted_goes_on(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req[3];
	struct torcoll_op ops[3];
	uint32_t started;
	int x = 0;

	for (size_t i = 0; i < 3; i++)
		ops[i] = small_op(&x);
	fake.batch_room = 2;
	fake_errors(TORCOLL_IOC_BATCH, -EINTR, -EBUSY);
	assert_int_equal(torcoll_submit_many(f->comm, ops, 3, req, &started), -EBUSY);
	assert_int_equal(started, 2);
	assert_int_equal(fake_calls(TORCOLL_IOC_BATCH), 2);
}

static void torcoll_prepare__registers_once(void **state)
{
	struct fixture *f = *state;
	struct torcoll_prepared *p, *other;
	struct torcoll_request req;
	struct torcoll_op op;
	uint32_t region;
	int x[4] = { 0 };

	op = small_op(x);
	op.count = 4;
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	/* one vector, in place */
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 1);
	assert_true(fake.region.addr == (uintptr_t)x && fake.region.length == sizeof(x));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(torcoll_start(p, &req), 0);
		assert_int_equal(torcoll_wait(&req), 0);
	}
	region = fake.submit.send_region;
	assert_int_not_equal(region, 0);
	assert_int_equal(fake.submit.recv_region, region);
	assert_int_equal(torcoll_prepare(f->comm, &op, &other), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 1);
	/* what only prepared ops registered is not the caller's to unregister */
	assert_int_equal(torcoll_unregister(f->t, x), -ENOENT);
	torcoll_prepared_free(p);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_DEL), 0);
	torcoll_prepared_free(other);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_DEL), 1);
	assert_int_equal(fake.handle.handle, region);
	torcoll_prepared_free(NULL);
}

/*
 * It was freed while an op of it runs: its region is not watched, so another buffer at that
 * address must not be taken for it. The module gets it back at the next occasion.
 */
static void torcoll_prepare__region_in_use_is_given_up(void **state)
{
	struct fixture *f = *state;
	static char buffer[64];
	struct torcoll_prepared *p;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I8, .redop = TORCOLL_SUM,
		.count = sizeof(buffer), .send = buffer, .recv = buffer,
	};

	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	fake.regions_used = true;
	torcoll_prepared_free(p);
	assert_int_equal(fake.regions, 1);
	assert_int_equal(torcoll_allreduce(f->comm, buffer, buffer, sizeof(buffer), TORCOLL_I8,
					   TORCOLL_SUM), 0);
	assert_int_equal(fake.submit.recv_region, 0);
	fake.regions_used = false;
	assert_int_equal(torcoll_register(f->t, buffer, sizeof(buffer)), 0);
	assert_int_equal(fake.regions, 1);
	assert_int_equal(torcoll_unregister(f->t, buffer), 0);
	assert_int_equal(fake.regions, 0);
}

static void torcoll_prepare__in_registered_memory(void **state)
{
	struct fixture *f = *state;
	struct torcoll_prepared *p, *partly;
	struct torcoll_request req;
	struct torcoll_op op;
	int x[8] = { 0 };

	assert_int_equal(torcoll_register(f->t, x, 4 * sizeof(*x)), 0);
	op = small_op(x);
	op.count = 4;
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 1);
	assert_int_equal(torcoll_unregister(f->t, x), -EBUSY);
	/* registered in part: pinned by each start */
	op.count = 8;
	assert_int_equal(torcoll_prepare(f->comm, &op, &partly), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 1);
	assert_int_equal(torcoll_start(partly, &req), 0);
	assert_int_equal(fake.submit.send_region, 0);
	torcoll_prepared_free(partly);
	torcoll_prepared_free(p);
	assert_int_equal(torcoll_unregister(f->t, x), 0);
}

static void torcoll_prepare__keeps_what_it_was_told(void **state)
{
	struct fixture *f = *state;
	uint64_t counts[] = { 1, 0, 2, 1 };
	struct torcoll_prepared *p;
	struct torcoll_request req;
	int x[4] = { 0 };
	struct torcoll_op op = {
		.collective = TORCOLL_ALLGATHER, .type = TORCOLL_I32, .count = 4,
		.counts = counts, .send = x + 1, .recv = x,
	};

	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	counts[2] = 77;
	op.type = TORCOLL_F64;
	assert_int_equal(torcoll_start(p, &req), 0);
	assert_int_equal(((uint64_t *)(uintptr_t)fake.submit.counts)[2], 2);
	assert_int_equal(fake.submit.type, TORCOLL_I32);
	torcoll_prepared_free(p);
}

static void torcoll_prepare__keeps_counts_of_both_ways_and_the_factor(void **state)
{
	struct fixture *f = *state;
	uint64_t counts[] = { 1, 0, 2, 1 }, recv_counts[] = { 0, 3, 1, 0 };
	struct torcoll_prepared *p;
	struct torcoll_request req;
	int x[4] = { 0 }, y[4] = { 0 }, factor = 5;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLTOALL, .type = TORCOLL_I32, .count = 4, .send = x, .recv = y,
		.counts = counts, .recv_counts = recv_counts, .scalar = &factor,
	};

	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	memset(counts, 0xff, sizeof(counts));
	memset(recv_counts, 0xff, sizeof(recv_counts));
	factor = 0;
	assert_int_equal(torcoll_start(p, &req), 0);
	assert_int_equal(((uint64_t *)(uintptr_t)fake.submit.counts)[2], 2);
	assert_int_equal(((uint64_t *)(uintptr_t)fake.submit.recv_counts)[1], 3);
	assert_int_equal(*(int *)(uintptr_t)fake.submit.scalar, 5);
	torcoll_prepared_free(p);
}

static void torcoll_prepare__refuses(void **state)
{
	struct fixture *f = *state;
	struct torcoll_prepared *p;
	struct torcoll_op op;
	static int x[2000];

	op = small_op(x);
	op.deadline_ns = 5;
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), -EINVAL);
	op.deadline_ns = 0;
	op.flags = ~0U;
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), -EINVAL);
	op.flags = 0;
	op.count = ARRAY_SIZE(x);
	fake_errors(TORCOLL_IOC_REGION_ADD, -EDQUOT, 0);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), -EDQUOT);
	/* what is written to must be writable */
	fake_errors(TORCOLL_IOC_REGION_ADD, -EFAULT, -EFAULT);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), -EFAULT);
}

/* What the plain call takes can be prepared: memory that can only be read, and little of it. */
static void torcoll_prepare__what_cannot_be_registered(void **state)
{
	struct fixture *f = *state;
	static const int in[2000];
	struct torcoll_op op = {
		.collective = TORCOLL_SEND, .type = TORCOLL_I32, .count = ARRAY_SIZE(in), .send = in,
		.peer = 1,
	};
	struct torcoll_prepared *p;
	struct torcoll_request req;
	int x = 0;

	torcoll__fail(-EINVAL, "something else");
	fake_errors(TORCOLL_IOC_REGION_ADD, -EFAULT, 0);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	assert_string_equal(torcoll_last_error(), "something else (EINVAL)");
	assert_int_equal(torcoll_start(p, &req), 0);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake.submit.send_region, 0);
	torcoll_prepared_free(p);

	/* a root in place only sends */
	op = (struct torcoll_op){
		.collective = TORCOLL_BROADCAST, .type = TORCOLL_I32, .count = ARRAY_SIZE(in),
		.root = FAKE_RANK, .send = in, .recv = (void *)in,
	};
	fake_errors(TORCOLL_IOC_REGION_ADD, -EFAULT, -EFAULT);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	torcoll_prepared_free(p);
	op.collective = TORCOLL_SCATTER;
	op.recv = (void *)&in[FAKE_RANK * ARRAY_SIZE(in) / FAKE_RANKS];
	op.count = ARRAY_SIZE(in);
	fake_errors(TORCOLL_IOC_REGION_ADD, -EFAULT, -EFAULT);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	torcoll_prepared_free(p);
	op.root = 1;
	op.count = FAKE_RANKS * ARRAY_SIZE(in);
	fake_errors(TORCOLL_IOC_REGION_ADD, -EFAULT, 0);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), -EFAULT);

	op = small_op(&x);
	fake_errors(TORCOLL_IOC_REGION_ADD, -EDQUOT, -EDQUOT);
	assert_int_equal(torcoll_prepare(f->comm, &op, &p), 0);
	assert_int_equal(torcoll_start(p, &req), 0);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake.submit.recv_region, 0);
	torcoll_prepared_free(p);
}

static void torcoll_deadline__from_now(void **state)
{
	fake.now = 5;
	assert_true(torcoll_deadline(2000) == 2000000005);
}

/* A time that does not come, not one that is over. */
static void torcoll_deadline__far_away(void **state)
{
	static const uint64_t ms[] = { UINT64_MAX, UINT64_MAX / 1000000 + 1, INT64_MAX / 1000000 };

	fake.now = 1000000;
	for (size_t i = 0; i < ARRAY_SIZE(ms); i++)
		assert_true(torcoll_deadline(ms[i]) == INT64_MAX);
	assert_true(torcoll_deadline(INT64_MAX / 1000000 - 1) <= INT64_MAX);
}

/* ---- names ---- */

static void names__both_ways(void **state)
{
	for (int i = 0; i < TORCOLL_TYPE_COUNT; i++) {
		assert_int_equal(torcoll_type_by_name(torcoll_type_name(i)), i);
		assert_int_equal(!torcoll_type_size(i), i == TORCOLL_TYPE_NONE);
	}
	for (int i = 0; i < TORCOLL_REDOP_COUNT; i++)
		assert_int_equal(torcoll_redop_by_name(torcoll_redop_name(i)), i);
	for (int i = 0; i < TORCOLL_COLL_COUNT; i++)
		assert_int_equal(torcoll_collective_by_name(torcoll_collective_name(i)), i);
	for (int i = 0; i < TORCOLL_ALGO_COUNT; i++)
		assert_int_equal(torcoll_algorithm_by_name(torcoll_algorithm_name(i)), i);
	assert_null(torcoll_type_name(TORCOLL_TYPE_COUNT));
	assert_int_equal(torcoll_type_size(TORCOLL_TYPE_COUNT), 0);
	assert_int_equal(torcoll_algorithm_by_name("swing"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_open(torcoll_allreduce__marshals),
		test_open(torcoll_run__marshals_all),
		test_open(torcoll_reduce_scatter__marshals),
		test_open(torcoll_allgather__marshals),
		test_open(torcoll_reduce__marshals),
		test_open(torcoll_run__checks),
		test_open(torcoll_run__interrupted_before_start),
		test_open(torcoll_run__interrupted_while_running),
		test_open(torcoll_run_until__in_one_call),
		test_open(torcoll_run_until__interrupted),
		test_open(torcoll_run_until__is_not_started),
		test_open(torcoll_run_until__older_module),
		test_open(torcoll_iallreduce__then_wait),
		test_open(torcoll_wait_until__patience_ends),
		test_open(torcoll_wait__nothing_started),
		test_open(torcoll_submit__interrupted),
		test_open(torcoll_submit_many__one_call),
		test_open(torcoll_submit_many__ends_at_the_first_refused),
		test_open(torcoll_submit_many__interrupted_goes_on),
		test_open(torcoll_prepare__registers_once),
		test_open(torcoll_prepare__region_in_use_is_given_up),
		test_open(torcoll_prepare__in_registered_memory),
		test_open(torcoll_prepare__keeps_what_it_was_told),
		test_open(torcoll_prepare__keeps_counts_of_both_ways_and_the_factor),
		test_open(torcoll_prepare__refuses),
		test_open(torcoll_prepare__what_cannot_be_registered),
		test_closed(torcoll_deadline__from_now),
		test_closed(torcoll_deadline__far_away),
		test_closed(names__both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
