// SPDX-License-Identifier: MIT
/*
 * Batches: many ops by one system call; and prepared ops: described once,
 * started many times, with checked arguments and registered buffers.
 */
#include <stdlib.h>
#include <string.h>

#include "job.h"

struct torcoll_prepared {
	struct torcoll_comm *comm;
	struct torcoll_submit desc;
	uint64_t *counts;		/* what is sent, followed by what is received */
	uint64_t scalar;
	uint32_t held[2];		/* regions of the buffers, or 0 */
};

/* Memory that a batch needs per op. */
struct batch {
	struct torcoll_comm **comm;
	struct torcoll_submit *desc;
};

static int batch_check(uint32_t n, struct torcoll_request *reqs, uint32_t *started)
{
	if (started)
		*started = 0;
	if (!n || n > TORCOLL_BATCH_MAX)
		return torcoll__fail(-EINVAL, "%u ops in a batch, which takes 1 to %u", n,
				     TORCOLL_BATCH_MAX);
	/* those that will not be started */
	for (uint32_t i = 0; i < n; i++)
		reqs[i].state = 0;
	return 0;
}

static int batch_alloc(struct batch *b, uint32_t n)
{
	b->comm = calloc(n, sizeof(*b->comm));
	b->desc = calloc(n, sizeof(*b->desc));
	if (b->comm && b->desc)
		return 0;
	return torcoll__fail(-ENOMEM, "batch of %u ops: out of memory", n);
}

static void batch_free(struct batch *b)
{
	free(b->comm);
	free(b->desc);
}

/*
 * Start ops one by one, from @from on: those that wait for a slot, or take
 * steps. @started: where it ended.
 */
static int submit_singly(struct torcoll_comm *comm, const struct torcoll_op *ops, uint32_t from,
			 uint32_t n, struct torcoll_request *reqs, uint32_t *started)
{
	int err = 0;

	for (*started = from; *started < n; ++*started) {
		err = torcoll_submit(comm, &ops[*started], &reqs[*started]);
		if (err)
			break;
	}
	return err;
}

/* Start ops in one call, as many as find a slot. */
static int submit_together(struct torcoll_comm *comm, const struct torcoll_op *ops, uint32_t n,
			   struct torcoll_request *reqs, uint32_t *done)
{
	struct batch b = { 0 };
	int err, refused = 0;
	uint32_t ready;

	err = batch_alloc(&b, n);
	/* as with single calls, the ops before an invalid one are started */
	for (ready = 0; !err && ready < n; ready++) {
		b.comm[ready] = comm;
		refused = torcoll__op_describe(comm, &ops[ready], &b.desc[ready]);
		if (refused)
			break;
	}
	if (!err && ready)
		err = torcoll__batch(b.comm, b.desc, ready, reqs, done);
	if (!err)
		err = refused;
	/* of some the module does not know */
	if (err && *done < n)
		torcoll__refusal_tell(comm, &ops[*done], err);
	batch_free(&b);
	return err;
}

/* Return the number of ops, from the first on, that one call can start. */
static uint32_t count_together(const struct torcoll_comm *comm, const struct torcoll_op *ops,
			       uint32_t n)
{
	uint32_t i = 0;

	if (torcoll__is_queued(comm->t))
		return 0;
	while (i < n && !torcoll__op_has_steps(&ops[i]))
		i++;
	return i;
}

int torcoll_submit_many(struct torcoll_comm *comm, const struct torcoll_op *ops, uint32_t n,
			struct torcoll_request *reqs, uint32_t *started)
{
	uint32_t together, done = 0;
	int err;

	err = batch_check(n, reqs, started);
	if (!err)
		err = torcoll__check(comm->t, "batch");
	if (err)
		return err;
	together = count_together(comm, ops, n);
	if (together)
		err = submit_together(comm, ops, together, reqs, &done);
	if ((!err && together < n) || (err == -EBUSY && torcoll__may_wait(comm, ops[done].flags)))
		err = submit_singly(comm, ops, done, n, reqs, &done);
	if (started)
		*started = done;
	return err;
}

/* ---- prepared ops ---- */

static int counts_keep(struct torcoll_prepared *p, const struct torcoll_op *op)
{
	size_t n = p->comm->size;

	if (!op->counts && !op->recv_counts)
		return 0;
	p->counts = calloc(2 * n, sizeof(*p->counts));
	if (!p->counts)
		return torcoll__fail(-ENOMEM, "preparing an op: out of memory");
	if (op->counts) {
		memcpy(p->counts, op->counts, n * sizeof(*p->counts));
		p->desc.counts = torcoll__u64(p->counts);
	}
	if (op->recv_counts) {
		memcpy(p->counts + n, op->recv_counts, n * sizeof(*p->counts));
		p->desc.recv_counts = torcoll__u64(p->counts + n);
	}
	return 0;
}

/*
 * Elements that can be multiplied have at most 8 bytes; others are refused at
 * the start.
 */
static void scalar_keep(struct torcoll_prepared *p, const struct torcoll_op *op)
{
	size_t size = torcoll_type_size(op->type);

	if (!op->scalar || size > sizeof(p->scalar))
		return;
	memcpy(&p->scalar, op->scalar, size);
	p->desc.scalar = torcoll__u64(&p->scalar);
}

/* Buffers up to here the module copies rather than pins, so that limits are no matter. */
#define COPIED_BYTES	4096

/*
 * Return whether an op can do without the registration that was refused: of
 * memory of which a part is registered, or that can only be read, or so little
 * that each start copies it. What else is wrong with it, a start is told.
 */
static bool is_dispensable(int err, uint64_t bytes, bool recv)
{
	return err == -EEXIST || (err == -EFAULT && !recv) || bytes <= COPIED_BYTES;
}

/* In place, a root only sends what it would get from itself. */
static bool is_written(const struct torcoll_comm *comm, const struct torcoll_op *op)
{
	uint64_t at = torcoll__u64(op->recv) - torcoll__u64(op->send);

	return (op->collective != TORCOLL_BROADCAST && op->collective != TORCOLL_SCATTER) ||
	       comm->rank != op->root || at >= torcoll__op_bytes(comm, op, false);
}

/* Register a buffer for a prepared op, if that is possible; else each start pins it. */
static int buffer_hold(struct torcoll_prepared *p, const struct torcoll_op *op, bool recv,
		       uint32_t *region)
{
	uint64_t bytes = torcoll__op_bytes(p->comm, op, recv);
	char kept[TORCOLL__SENTENCE_MAX];
	int err;

	*region = 0;
	if (!bytes)
		return 0;
	torcoll__sentence_keep(kept);
	err = torcoll__region_hold(p->comm->t, recv ? op->recv : op->send, bytes, region);
	if (!err || !is_dispensable(err, bytes, recv && is_written(p->comm, op)))
		return err;
	/* nothing has failed that the program called */
	torcoll__sentence_say(kept);
	return 0;
}

/* In place, the longer of two buffers at one address holds the other. */
static int buffers_hold(struct torcoll_prepared *p, const struct torcoll_op *op)
{
	bool recv_first = torcoll__op_bytes(p->comm, op, true) >
			  torcoll__op_bytes(p->comm, op, false);
	int err;

	err = buffer_hold(p, op, recv_first, &p->held[0]);
	if (!err)
		err = buffer_hold(p, op, !recv_first, &p->held[1]);
	p->desc.send_region = p->held[recv_first];
	p->desc.recv_region = p->held[!recv_first];
	return err;
}

int torcoll_prepare(struct torcoll_comm *comm, const struct torcoll_op *op,
		    struct torcoll_prepared **out)
{
	struct torcoll_prepared *p;
	int err;

	err = torcoll__check(comm->t, "preparing an op");
	if (err)
		return err;
	if (op->deadline_ns)
		return torcoll__fail(-EINVAL, "preparing an op: a deadline is of one start");
	p = calloc(1, sizeof(*p));
	if (!p)
		return torcoll__fail(-ENOMEM, "preparing an op: out of memory");
	p->comm = comm;
	err = torcoll__op_describe(comm, op, &p->desc);
	if (!err && torcoll__op_has_steps(op))
		err = torcoll__fail(-EOPNOTSUPP, "preparing an op: not with displacements, a function, counts at the root or a result at the start");
	if (!err)
		err = counts_keep(p, op);
	if (!err)
		err = buffers_hold(p, op);
	if (err) {
		torcoll_prepared_free(p);
		return err;
	}
	scalar_keep(p, op);
	*out = p;
	return 0;
}

int torcoll_start(struct torcoll_prepared *p, struct torcoll_request *req)
{
	return torcoll_start_many(&p, 1, req, NULL);
}

/* Start prepared ops in one call, as many as find a slot. */
static int start_together(struct torcoll_prepared *const *p, uint32_t n,
			  struct torcoll_request *reqs, uint32_t *done)
{
	struct batch b = { 0 };
	int err = batch_alloc(&b, n);

	for (uint32_t i = 0; !err && i < n; i++) {
		b.comm[i] = p[i]->comm;
		b.desc[i] = p[i]->desc;
	}
	if (!err)
		err = torcoll__batch(b.comm, b.desc, n, reqs, done);
	batch_free(&b);
	return err;
}

/* Start an op that waits for nothing, while others wait for slots. */
static int start_nowait(const struct torcoll_prepared *p, struct torcoll_request *req)
{
	struct torcoll_submit desc = p->desc;
	int err;

	if (torcoll__job_is_behind(p->comm, &desc))
		return torcoll__overtakes(desc.collective);
	err = torcoll__op_start(p->comm, &desc, req);
	return err ? torcoll__refused(p->comm->t, err, torcoll__op_name(desc.collective)) : 0;
}

/* Put the others behind those that wait for slots. */
static int start_later(struct torcoll_prepared *const *p, uint32_t n, struct torcoll_request *reqs,
		       uint32_t *done)
{
	int err = 0;

	for (; !err && *done < n; *done += !err) {
		const struct torcoll_prepared *next = p[*done];

		if (torcoll__may_wait(next->comm, next->desc.flags))
			err = torcoll__job_submit_desc(next->comm, &next->desc, &reqs[*done]);
		else
			err = start_nowait(next, &reqs[*done]);
	}
	return err;
}

/* Tell of a refusal, of which the library may be the only one to know. */
static void start_refused(const struct torcoll_prepared *p, int err)
{
	const struct torcoll_op op = {
		.collective = p->desc.collective,
		.type = p->desc.type,
		.redop = p->desc.redop,
		.count = p->desc.count,
	};

	torcoll__refusal_tell(p->comm, &op, err);
}

int torcoll_start_many(struct torcoll_prepared *const *p, uint32_t n, struct torcoll_request *reqs,
		       uint32_t *started)
{
	uint32_t i, done = 0;
	bool queued;
	int err;

	err = batch_check(n, reqs, started);
	if (err)
		return err;
	for (i = 1; i < n; i++)
		if (p[i]->comm->t != p[0]->comm->t)
			return torcoll__fail(-EINVAL, "start: prepared ops of several contexts");
	err = torcoll__check(p[0]->comm->t, "batch");
	if (err)
		return err;
	queued = torcoll__is_queued(p[0]->comm->t);
	if (!queued)
		err = start_together(p, n, reqs, &done);
	if (queued || (err == -EBUSY && torcoll__may_wait(p[done]->comm, p[done]->desc.flags)))
		err = start_later(p, n, reqs, &done);
	if (err && done < n)
		start_refused(p[done], err);
	if (started)
		*started = done;
	return err;
}

void torcoll_prepared_free(struct torcoll_prepared *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(p->held); i++)
		if (p->held[i] && !torcoll__is_forked(p->comm->t))
			torcoll__region_release(p->comm->t, p->held[i]);
	free(p->counts);
	free(p);
}
