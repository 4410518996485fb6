// SPDX-License-Identifier: MIT
/*
 * Ops: start, wait, test.
 *
 * A blocking op is one ioctl (TORCOLL_OP_WAIT). If a signal interrupts it, the
 * module either has not started the op (its handle is 0: submit again) or
 * continues it (wait for the handle).
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { REQ_PENDING = 0x70656e64, REQ_DONE = 0x646f6e65 };

uint64_t torcoll_deadline(uint64_t ms)
{
	return torcoll_sys_now_ns() + ms * 1000000;
}

static uint64_t block_count(const struct torcoll_comm *comm, const struct torcoll_op *op)
{
	if (op->counts)
		return op->counts[comm->rank];
	return op->count / comm->size + (comm->rank < op->count % comm->size);
}

/* For an alltoall, whose lengths differ by rank. */
static uint64_t sent_count(const struct torcoll_comm *comm, const struct torcoll_op *op)
{
	uint64_t sum = 0;

	if (!op->counts)
		return op->count;
	for (uint32_t i = 0; i < comm->size; i++)
		sum += op->counts[i];
	return sum;
}

/*
 * Return the number of elements that the op reads at send, or writes at recv,
 * on this rank. In place, the longer of the two contains the other.
 */
static uint64_t buffer_count(const struct torcoll_comm *comm, const struct torcoll_op *op,
			     bool recv)
{
	switch (op->collective) {
	case TORCOLL_REDUCE_SCATTER:
		return recv ? block_count(comm, op) : op->count;
	case TORCOLL_ALLGATHER:
		return recv ? op->count : block_count(comm, op);
	case TORCOLL_SCATTER:
		if (recv)
			return block_count(comm, op);
		return comm->rank == op->root ? op->count : 0;
	case TORCOLL_GATHER:
		if (!recv)
			return block_count(comm, op);
		return comm->rank == op->root ? op->count : 0;
	case TORCOLL_BROADCAST:
		return recv || comm->rank == op->root ? op->count : 0;
	case TORCOLL_REDUCE:
		return !recv || comm->rank == op->root ? op->count : 0;
	case TORCOLL_ALLTOALL:
		return recv ? op->count : sent_count(comm, op);
	case TORCOLL_SEND:
		return recv ? 0 : op->count;
	case TORCOLL_RECV:
		return recv ? op->count : 0;
	default:
		return op->count;
	}
}

uint64_t torcoll__op_bytes(const struct torcoll_comm *comm, const struct torcoll_op *op, bool recv)
{
	uint64_t bytes;

	if (!(recv ? op->recv : op->send) ||
	    __builtin_mul_overflow(buffer_count(comm, op, recv), torcoll_type_size(op->type), &bytes))
		return 0;
	return bytes;
}

static uint32_t buffer_region(const struct torcoll_comm *comm, const struct torcoll_op *op,
			      bool recv)
{
	return torcoll__region_find(comm->t, recv ? op->recv : op->send,
				    torcoll__op_bytes(comm, op, recv));
}

const char *torcoll__op_name(uint32_t collective)
{
	const char *name = torcoll_collective_name(collective);

	return name ? name : "op";
}

static int op_check(const struct torcoll_op *op)
{
	/*
	 * these are 16-bit fields: a larger value must not turn into another
	 * one
	 */
	if ((uint32_t)op->collective > UINT16_MAX || (uint32_t)op->type > UINT16_MAX ||
	    (uint32_t)op->redop > UINT16_MAX || (uint32_t)op->algorithm > UINT16_MAX)
		return torcoll__fail(-EINVAL,
				     "%s: the collective, type, operator or algorithm is none of the known ones",
				     torcoll__op_name(op->collective));
	if (op->flags & ~TORCOLL_OP_NOWAIT)
		return torcoll__fail(-EINVAL, "%s: unknown flags 0x%x", torcoll__op_name(op->collective),
				     op->flags & ~TORCOLL_OP_NOWAIT);
	for (size_t i = 0; i < ARRAY_SIZE(op->reserved); i++)
		if (op->reserved[i])
			return torcoll__fail(-EINVAL, "%s: a reserved member is not 0",
					     torcoll__op_name(op->collective));
	return 0;
}

/* In place, the shorter of two buffers lies in the region of the longer. */
static void set_regions(const struct torcoll_comm *comm, const struct torcoll_op *op,
			struct torcoll_submit *s)
{
	bool recv_first = torcoll__op_bytes(comm, op, true) > torcoll__op_bytes(comm, op, false);

	if (recv_first)
		s->recv_region = buffer_region(comm, op, true);
	s->send_region = buffer_region(comm, op, false);
	if (!recv_first)
		s->recv_region = buffer_region(comm, op, true);
}

/* Fill in the ioctl's struct from the caller's. */
static void op_marshal(const struct torcoll_comm *comm, const struct torcoll_op *op,
		       uint32_t flags, struct torcoll_submit *s)
{
	*s = (struct torcoll_submit){
		.size = sizeof(*s),
		.flags = op->flags | flags,
		.comm = comm->handle,
		.collective = op->collective,
		.algorithm = op->algorithm,
		.type = op->type,
		.redop = op->redop,
		.bits = op->bits,
		.root = op->root,
		.peer = op->peer,
		.count = op->count,
		.counts = torcoll__u64(op->counts),
		.recv_counts = torcoll__u64(op->recv_counts),
		.send_addr = torcoll__u64(op->send),
		.recv_addr = torcoll__u64(op->recv),
		.scalar = torcoll__u64(op->scalar),
		.deadline_ns = op->deadline_ns,
	};
	set_regions(comm, op, s);
	memcpy(s->param, op->param, sizeof(s->param));
	if (op->algorithm == TORCOLL_ALGO_AUTO && !op->param[TORCOLL_PARAM_EXCLUDE] &&
	    (uint32_t)op->collective < TORCOLL_COLL_COUNT)
		s->param[TORCOLL_PARAM_EXCLUDE] = comm->exclude[op->collective];
}

int torcoll__op_describe(const struct torcoll_comm *comm, const struct torcoll_op *op,
			 struct torcoll_submit *s)
{
	int err = op_check(op);

	if (!err)
		op_marshal(comm, op, 0, s);
	return err;
}

static int request_done(struct torcoll_request *req, int32_t status, uint32_t error_rank)
{
	req->status = status;
	req->error_rank = error_rank;
	req->state = REQ_DONE;
	if (req->status)
		torcoll__refused(req->comm->t, req->status, torcoll__op_name(req->collective));
	return req->status;
}

/*
 * Wait by a system call. A module without spinning gets the struct without it.
 */
static int request_wait_call(const struct torcoll_request *req, uint32_t flags,
			     uint64_t deadline_ns, struct torcoll_wait *w)
{
	struct torcoll *t = req->comm->t;
	int err;

	do {
		*w = (struct torcoll_wait){
			.size = sizeof(*w),
			.flags = flags,
			.comm = req->comm->handle,
			.op = req->op,
			.deadline_ns = deadline_ns,
			.error_rank = ~0U,
			.spin_ns = t->features & TORCOLL_FEATURE_SPIN ? t->spin_ns : 0,
		};
		err = torcoll_sys_ioctl(t->fd, TORCOLL_IOC_WAIT, w);
	} while (err == -EINTR);
	return err == -ETIMEDOUT && deadline_ns ? -EAGAIN : err;
}

/* Look for the completion in the ring; -EAGAIN: it is not there. */
static int request_fetch(struct torcoll_request *req)
{
	struct torcoll_completion completion;
	struct torcoll_wait w;
	int err;

	if (!torcoll__ring_fetch(req->comm->t, req->ring, &completion))
		return -EAGAIN;
	req->ring = 0;
	if (!(completion.flags & TORCOLL_COMPLETION_REAP))
		return request_done(req, completion.status, completion.error_rank);
	err = request_wait_call(req, 0, 0, &w);
	if (err)
		return torcoll__refused(req->comm->t, err, "wait");
	return request_done(req, w.status, w.error_rank);
}

/* Wait according to flags and deadline; on completion fill in *@req. */
static int request_wait(struct torcoll_request *req, uint32_t flags, uint64_t deadline_ns)
{
	struct torcoll *t = req->comm->t;
	struct torcoll_wait w;
	int err, fetched;

	if (req->ring) {
		err = request_fetch(req);
		if (err != -EAGAIN || flags & TORCOLL_WAIT_NOHANG)
			return err;
	}
	err = request_wait_call(req, flags, deadline_ns, &w);
	if (err == -EAGAIN)
		return err;
	if (err == -ENOENT && req->ring) {
		/* it may have been posted to the ring meanwhile */
		fetched = request_fetch(req);
		if (fetched != -EAGAIN)
			return fetched;
	}
	if (err)
		return torcoll__refused(t, err, "wait");
	if (req->ring)
		torcoll__ring_forget(t, req->ring);
	req->ring = 0;
	return request_done(req, w.status, w.error_rank);
}

static int wait_checked(struct torcoll_request *req, uint32_t flags, uint64_t deadline_ns)
{
	int err;

	switch (req->state) {
	case REQ_DONE:
		return req->status;
	case REQ_PENDING:
		err = torcoll__check(req->comm->t, "wait");
		return err ? err : request_wait(req, flags, deadline_ns);
	default:
		return torcoll__fail(-EINVAL, "wait: nothing was started with this request");
	}
}

static void trace(const struct torcoll_comm *comm, const struct torcoll_submit *s)
{
	const char *type = torcoll_type_name(s->type), *redop = torcoll_redop_name(s->redop);
	const char *algorithm = torcoll_algorithm_name(s->chosen);

	if (torcoll__debugs(TORCOLL__TRACE))
		torcoll__debug(TORCOLL__TRACE, "comm %s: op %u: %s of %llu %s %s: %s", comm->name,
			       (uint32_t)s->op, torcoll__op_name(s->collective),
			       (unsigned long long)s->count, type ? type : "elements",
			       redop ? redop : "", algorithm ? algorithm : "?");
}

static void request_start(struct torcoll_request *req, struct torcoll_comm *comm,
			  const struct torcoll_submit *s)
{
	*req = (struct torcoll_request){
		.comm = comm,
		.op = s->op,
		.state = REQ_PENDING,
		.error_rank = ~0U,
		.collective = s->collective,
		.chosen = s->chosen,
		.ring = s->flags & TORCOLL_OP_RING ? s->user_data : 0,
	};
}

/* Have the op posted to the ring if there is room. */
static void ring_begin(const struct torcoll_comm *comm, struct torcoll_submit *s)
{
	s->user_data = torcoll__ring_take(comm);
	if (s->user_data)
		s->flags |= TORCOLL_OP_RING;
}

/* Call for all ops, and continue after a signal. */
static int batch_call(struct torcoll *t, struct torcoll_submit *s, uint32_t n, uint32_t *done)
{
	struct torcoll_batch batch;
	int err;

	do {
		batch = (struct torcoll_batch){
			.size = sizeof(batch),
			.descs = torcoll__u64(s + *done),
			.desc_size = sizeof(*s),
			.count = n - *done,
		};
		err = torcoll_sys_ioctl(t->fd, TORCOLL_IOC_BATCH, &batch);
		*done += batch.started;
	} while (err == -EINTR);
	return err;
}

int torcoll__batch(struct torcoll_comm *const *comms, struct torcoll_submit *s, uint32_t n,
		   struct torcoll_request *reqs, uint32_t *done)
{
	int err;

	*done = 0;
	err = torcoll__check(comms[0]->t, "batch");
	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++)
		ring_begin(comms[i], &s[i]);
	do {
		err = batch_call(comms[0]->t, s, n, done);
	} while (err && *done < n && torcoll__region_retry(comms[0]->t, err, &s[*done]));
	if (err)
		torcoll__refused(comms[0]->t, err,
				 *done < n ? torcoll__op_name(s[*done].collective) : "batch");
	for (uint32_t i = 0; i < *done; i++) {
		trace(comms[i], &s[i]);
		request_start(&reqs[i], comms[i], &s[i]);
	}
	for (uint32_t i = *done; i < n; i++)
		torcoll__ring_give_back(comms[i]->t, s[i].user_data);
	return err;
}

/*
 * Submit an op. A refused op has not begun, nor has one that a signal
 * interrupted before it got a handle: try again.
 */
static int submit_call(struct torcoll *t, struct torcoll_submit *s)
{
	int err;

	do {
		err = torcoll_sys_ioctl(t->fd, TORCOLL_IOC_SUBMIT, s);
	} while (!s->op && (err == -EINTR || (err && torcoll__region_retry(t, err, s))));
	return err;
}

int torcoll_submit(struct torcoll_comm *comm, const struct torcoll_op *op,
		   struct torcoll_request *req)
{
	struct torcoll_submit s;
	int err;

	req->state = 0;
	err = torcoll__check(comm->t, torcoll__op_name(op->collective));
	if (!err)
		err = op_check(op);
	if (err)
		return err;
	op_marshal(comm, op, 0, &s);
	ring_begin(comm, &s);
	err = submit_call(comm->t, &s);
	if (err && err != -EINTR) {
		torcoll__ring_give_back(comm->t, s.user_data);
		return torcoll__refused(comm->t, err, torcoll__op_name(op->collective));
	}
	trace(comm, &s);
	request_start(req, comm, &s);
	return 0;
}

int torcoll_run(struct torcoll_comm *comm, const struct torcoll_op *op)
{
	struct torcoll_request req;
	struct torcoll_submit s;
	int err;

	/* only a separate wait spins */
	if (comm->t->spin_ns) {
		err = torcoll_submit(comm, op, &req);
		return err ? err : torcoll_wait(&req);
	}
	err = torcoll__check(comm->t, torcoll__op_name(op->collective));
	if (!err)
		err = op_check(op);
	if (err)
		return err;
	op_marshal(comm, op, TORCOLL_OP_WAIT, &s);
	err = submit_call(comm->t, &s);
	if (!err || err == -EINTR)
		trace(comm, &s);
	if (err == -EINTR) {
		request_start(&req, comm, &s);
		return request_wait(&req, 0, 0);
	}
	if (!err)
		err = s.status;
	return err ? torcoll__refused(comm->t, err, torcoll__op_name(op->collective)) : 0;
}

int torcoll_wait(struct torcoll_request *req)
{
	return wait_checked(req, 0, 0);
}

int torcoll_wait_until(struct torcoll_request *req, uint64_t deadline_ns)
{
	return wait_checked(req, 0, deadline_ns);
}

int torcoll_test(struct torcoll_request *req)
{
	return wait_checked(req, TORCOLL_WAIT_NOHANG, 0);
}

enum torcoll_algorithm torcoll_request_algorithm(const struct torcoll_request *req)
{
	return req->state == REQ_PENDING || req->state == REQ_DONE ? req->chosen :
								     TORCOLL_ALGO_AUTO;
}

uint32_t torcoll_request_error_rank(const struct torcoll_request *req)
{
	return req->state == REQ_DONE && req->status ? req->error_rank : ~0U;
}
