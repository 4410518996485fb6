// SPDX-License-Identifier: MIT
/*
 * Ops: their descriptions, and how they are started.
 *
 * A blocking op is one ioctl (TORCOLL_OP_WAIT). If a signal interrupts it, the
 * module either has not started the op (its handle is 0: submit again) or
 * continues it (wait for the handle).
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

/* Later ones are none for the kernel's timers, whose times are signed. */
#define DEADLINE_MAX	INT64_MAX

uint64_t torcoll_deadline(uint64_t ms)
{
	uint64_t ns;

	if (__builtin_mul_overflow(ms, 1000000, &ns) ||
	    __builtin_add_overflow(ns, torcoll_sys_now_ns(), &ns) || ns > DEADLINE_MAX)
		return DEADLINE_MAX;
	return ns;
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
	case TORCOLL_EXSCAN:
		return recv && !comm->rank ? 0 : op->count;
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

/* The same of an op that was described. */
static uint64_t desc_bytes(const struct torcoll_comm *comm, const struct torcoll_submit *s,
			   bool recv)
{
	const struct torcoll_op op = {
		.collective = s->collective,
		.type = s->type,
		.root = s->root,
		.count = s->count,
		.counts = (const uint64_t *)(uintptr_t)s->counts,
		.send = (const void *)(uintptr_t)s->send_addr,
		.recv = (void *)(uintptr_t)s->recv_addr,
	};

	return torcoll__op_bytes(comm, &op, recv);
}

static bool region_retry(const struct torcoll_comm *comm, int err, struct torcoll_submit *s)
{
	return torcoll__region_retry(comm->t, err, s, desc_bytes(comm, s, false),
				     desc_bytes(comm, s, true));
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

#define OP_FLAGS	(TORCOLL_OP_NOWAIT | TORCOLL_OP_AT_START | TORCOLL_OP_COUNTS_AT_ROOT)

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
	if (op->flags & ~OP_FLAGS)
		return torcoll__fail(-EINVAL, "%s: unknown flags 0x%x", torcoll__op_name(op->collective),
				     op->flags & ~OP_FLAGS);
	for (size_t i = 0; i < ARRAY_SIZE(op->reserved); i++)
		if (op->reserved[i])
			return torcoll__fail(-EINVAL, "%s: a reserved member is not 0",
					     torcoll__op_name(op->collective));
	/* a later step that finds no slot would leave the other ranks waiting in it */
	if (op->flags & TORCOLL_OP_NOWAIT && torcoll__op_has_steps(op))
		return torcoll__fail(-EINVAL, "%s: TORCOLL_OP_NOWAIT goes with no displacements, function, AT_START or COUNTS_AT_ROOT",
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
		       struct torcoll_submit *s)
{
	uint32_t flags = op->flags & TORCOLL_OP_NOWAIT;

	/* ops that find no slot wait in the library */
	if (!flags && comm->t->features & TORCOLL_FEATURE_TRY)
		flags = TORCOLL_OP_TRY;
	*s = (struct torcoll_submit){
		.size = sizeof(*s),
		.flags = flags,
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
		op_marshal(comm, op, s);
	return err;
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
		.state = TORCOLL__REQ_PENDING,
		.error_rank = ~0U,
		.collective = s->collective,
		.chosen = s->chosen,
		.looked = torcoll__ring_tail(comm->t) - 1,
		.ring = s->user_data,
	};
	if (s->user_data && !(s->flags & TORCOLL_OP_RING))
		torcoll__ring_started(comm, s->user_data, s->op);
}

/*
 * Have the op posted to the ring, if there is a place. Its result is found in any
 * case, since it may be in the way of ops that wait for its slot. False: no memory.
 */
static bool ring_begin(const struct torcoll_comm *comm, struct torcoll_submit *s)
{
	bool posted;

	s->user_data = torcoll__ring_take(comm, &posted);
	if (!s->user_data)
		return false;
	if (posted)
		s->flags |= TORCOLL_OP_RING;
	return true;
}

/* Refuse an op for that, which the module has not. */
static int ring_refused(void)
{
	torcoll__reason_give("");
	return -ENOMEM;
}

/* The op was not started. */
static void ring_undo(const struct torcoll_comm *comm, struct torcoll_submit *s)
{
	torcoll__ring_give_back(comm->t, s->user_data);
	s->flags &= ~TORCOLL_OP_RING;
	s->user_data = 0;
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
	struct torcoll *t = comms[0]->t;
	uint32_t ready = 0;
	int err = 0;

	*done = 0;
	torcoll__reason_drop();
	while (ready < n && ring_begin(comms[ready], &s[ready]))
		ready++;
	if (ready)
		do {
			err = batch_call(t, s, ready, done);
		} while (err && *done < ready &&
			 (region_retry(comms[*done], err, &s[*done]) ||
			  torcoll__refusal_retry(comms[*done], err, &s[*done])));
	if (!err && ready < n)
		err = ring_refused();
	if (err && (err != -EBUSY || !(s[*done].flags & TORCOLL_OP_TRY)))
		torcoll__refused(t, err,
				 *done < n ? torcoll__op_name(s[*done].collective) : "batch");
	for (uint32_t i = 0; i < *done; i++) {
		trace(comms[i], &s[i]);
		request_start(&reqs[i], comms[i], &s[i]);
	}
	for (uint32_t i = *done; i < ready; i++)
		ring_undo(comms[i], &s[i]);
	/* other threads' ops may have found no place meanwhile */
	if (*done < ready)
		torcoll__ring_pass(t);
	return err;
}

/*
 * Submit an op. A refused op has not begun, nor has one that a signal
 * interrupted before it got a handle: try again.
 */
static int submit_call(const struct torcoll_comm *comm, struct torcoll_submit *s)
{
	struct torcoll *t = comm->t;
	int err;

	/* an earlier call may have succeeded when it was tried again */
	torcoll__reason_drop();
	do {
		err = torcoll_sys_ioctl(t->fd, TORCOLL_IOC_SUBMIT, s);
	} while (err && !s->op && (err == -EINTR || region_retry(comm, err, s) ||
				   torcoll__refusal_retry(comm, err, s)));
	return err;
}

int torcoll__op_start(struct torcoll_comm *comm, struct torcoll_submit *s,
		      struct torcoll_request *req)
{
	int err;

	if (!ring_begin(comm, s))
		return ring_refused();
	err = submit_call(comm, s);
	if (err && err != -EINTR) {
		ring_undo(comm, s);
		return err;
	}
	trace(comm, s);
	request_start(req, comm, s);
	return 0;
}

bool torcoll__may_wait(const struct torcoll_comm *comm, uint32_t flags)
{
	if (flags & TORCOLL_OP_NOWAIT)
		return false;
	/* of an older module, only those behind others: they wait in it for a slot */
	return torcoll__is_queued(comm->t) || comm->t->features & TORCOLL_FEATURE_TRY;
}

int torcoll__overtakes(uint32_t collective)
{
	return torcoll__fail(-EBUSY, "%s: earlier ops wait for a slot", torcoll__op_name(collective));
}

/* Return whether the op must not overtake others of its series. */
static bool op_waits(const struct torcoll_comm *comm, const struct torcoll_submit *s)
{
	return torcoll__is_queued(comm->t) && torcoll__job_is_behind(comm, s);
}

/* @awaited: as in torcoll__job_submit_op() */
static int op_submit(struct torcoll_comm *comm, const struct torcoll_op *op, bool awaited,
		     struct torcoll_request *req)
{
	struct torcoll_submit s;
	int err;

	err = torcoll__check(comm->t, torcoll__op_name(op->collective));
	if (!err)
		err = op_check(op);
	if (err)
		return err;
	if (torcoll__op_has_steps(op))
		return torcoll__steps_submit(comm, op, awaited, req);
	op_marshal(comm, op, &s);
	if (op_waits(comm, &s))
		return op->flags & TORCOLL_OP_NOWAIT ? torcoll__overtakes(op->collective) :
						       torcoll__job_submit_op(comm, op, awaited, req);
	err = torcoll__op_start(comm, &s, req);
	if (err == -EBUSY && s.flags & TORCOLL_OP_TRY)
		return torcoll__job_submit_op(comm, op, awaited, req);
	return err ? torcoll__refused(comm->t, err, torcoll__op_name(op->collective)) : 0;
}

static int submit(struct torcoll_comm *comm, const struct torcoll_op *op, bool awaited,
		  struct torcoll_request *req)
{
	int err;

	req->state = 0;
	err = op_submit(comm, op, awaited, req);
	if (err)
		torcoll__refusal_tell(comm, op, err);
	return err;
}

int torcoll_submit(struct torcoll_comm *comm, const struct torcoll_op *op,
		   struct torcoll_request *req)
{
	return submit(comm, op, false, req);
}

/* Submit, then wait: what a call of the module cannot do at once. */
static int run_in_two(struct torcoll_comm *comm, const struct torcoll_op *op,
		      struct torcoll_request *req, uint64_t deadline_ns)
{
	int err = submit(comm, op, true, req);

	if (err)
		return err;
	err = torcoll_wait_until(req, deadline_ns);
	if (req->state == TORCOLL__REQ_JOB)
		torcoll__job_leave(torcoll__job_of(req));
	return err;
}

/* Whether a call of the module can submit and wait until then; 0: without an end. */
static bool runs_in_one(const struct torcoll *t, const struct torcoll_op *op, uint64_t end_ns)
{
	/* only a separate wait spins, and starts ops of the queue */
	return !t->spin_ns && !torcoll__is_queued(t) && !torcoll__op_has_steps(op) &&
	       (!end_ns || t->features & TORCOLL_FEATURE_WAIT_NS);
}

/* Whether the op goes on, though the call has ended: by a signal, or as it was time. */
static bool runs_on(const struct torcoll_submit *s, int err)
{
	return s->op && (err == -EINTR || err == -ETIMEDOUT);
}

/*
 * Wait on for such an op, unless it is @late already. One that the caller has to
 * wait for has a cell of the ring, for the queue to find its result.
 */
static int run_on(struct torcoll_request *req, bool late, uint64_t deadline_ns)
{
	int err = late ? -EAGAIN : torcoll_wait_until(req, deadline_ns);

	return err == -EAGAIN ? torcoll__request_divert(req) : err;
}

int torcoll_run_until(struct torcoll_comm *comm, const struct torcoll_op *op,
		      struct torcoll_request *req, uint64_t deadline_ns)
{
	uint64_t end_ns = torcoll__call_end(deadline_ns);
	struct torcoll_submit s;
	int err;

	if (!runs_in_one(comm->t, op, end_ns))
		return run_in_two(comm, op, req, deadline_ns);
	req->state = 0;
	err = torcoll__check(comm->t, torcoll__op_name(op->collective));
	if (!err)
		err = op_check(op);
	if (err) {
		torcoll__refusal_tell(comm, op, err);
		return err;
	}
	op_marshal(comm, op, &s);
	s.flags |= TORCOLL_OP_WAIT;
	s.wait_ns = end_ns;
	err = submit_call(comm, &s);
	if (err == -EBUSY && s.flags & TORCOLL_OP_TRY)
		return run_in_two(comm, op, req, deadline_ns);
	if (!err || runs_on(&s, err))
		trace(comm, &s);
	if (runs_on(&s, err)) {
		request_start(req, comm, &s);
		return run_on(req, err == -ETIMEDOUT && end_ns == deadline_ns, deadline_ns);
	}
	if (!err)
		err = s.status;
	return err ? torcoll__refused(comm->t, err, torcoll__op_name(op->collective)) : 0;
}

int torcoll_run(struct torcoll_comm *comm, const struct torcoll_op *op)
{
	struct torcoll_request req;

	return torcoll_run_until(comm, op, &req, 0);
}
