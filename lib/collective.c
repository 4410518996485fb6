// SPDX-License-Identifier: MIT
/* Functions of the collectives without a root, blocking and non-blocking. */
#include "internal.h"

static struct torcoll_op allreduce_op(const void *send, void *recv, uint64_t count,
				      enum torcoll_type type, enum torcoll_redop redop)
{
	return (struct torcoll_op){
		.collective = TORCOLL_ALLREDUCE,
		.type = type,
		.redop = redop,
		.count = count,
		.send = send,
		.recv = recv,
	};
}

int torcoll_allreduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type, enum torcoll_redop redop)
{
	struct torcoll_op op = allreduce_op(send, recv, count, type, redop);

	return torcoll_run(comm, &op);
}

int torcoll_iallreduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		       enum torcoll_type type, enum torcoll_redop redop,
		       struct torcoll_request *req)
{
	struct torcoll_op op = allreduce_op(send, recv, count, type, redop);

	return torcoll_submit(comm, &op, req);
}

/* ---- collectives with blocks ---- */

struct torcoll_op torcoll__blocks_op(enum torcoll_collective collective, const void *send,
				     void *recv, uint64_t count, enum torcoll_type type)
{
	return (struct torcoll_op){
		.collective = collective,
		.type = type,
		.count = count,
		.send = send,
		.recv = recv,
	};
}

static int counts_refuse(struct torcoll_comm *comm, const struct torcoll_op *op, const char *why)
{
	torcoll__refusal_tell(comm, op, -EINVAL);
	return torcoll__fail(-EINVAL, "%s: %s", torcoll_collective_name(op->collective), why);
}

int torcoll__set_counts(struct torcoll_comm *comm, struct torcoll_op *op, const uint64_t *counts)
{
	int err = torcoll__check(comm->t, torcoll__op_name(op->collective));

	/* before others are told of a refusal */
	if (err)
		return err;
	if (!counts)
		return counts_refuse(comm, op, "counts are NULL");
	op->counts = counts;
	op->count = 0;
	for (uint32_t i = 0; i < comm->size; i++)
		if (__builtin_add_overflow(op->count, counts[i], &op->count))
			return counts_refuse(comm, op, "the counts' sum overflows");
	return 0;
}

int torcoll_reduce_scatter(struct torcoll_comm *comm, const void *send, void *recv,
			   uint64_t count, enum torcoll_type type, enum torcoll_redop redop)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, count, type);

	op.redop = redop;
	return torcoll_run(comm, &op);
}

int torcoll_ireduce_scatter(struct torcoll_comm *comm, const void *send, void *recv,
			    uint64_t count, enum torcoll_type type, enum torcoll_redop redop,
			    struct torcoll_request *req)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, count, type);

	op.redop = redop;
	return torcoll_submit(comm, &op, req);
}

int torcoll_reduce_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
			    const uint64_t *counts, enum torcoll_type type,
			    enum torcoll_redop redop)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, 0, type);
	int err = torcoll__set_counts(comm, &op, counts);

	op.redop = redop;
	return err ? err : torcoll_run(comm, &op);
}

int torcoll_ireduce_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
			     const uint64_t *counts, enum torcoll_type type,
			     enum torcoll_redop redop, struct torcoll_request *req)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, 0, type);
	int err;

	req->state = 0;
	err = torcoll__set_counts(comm, &op, counts);
	op.redop = redop;
	return err ? err : torcoll_submit(comm, &op, req);
}

int torcoll_allgather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_ALLGATHER, send, recv, count, type);

	return torcoll_run(comm, &op);
}

int torcoll_iallgather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		       enum torcoll_type type, struct torcoll_request *req)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_ALLGATHER, send, recv, count, type);

	return torcoll_submit(comm, &op, req);
}

int torcoll_allgatherv(struct torcoll_comm *comm, const void *send, void *recv,
		       const uint64_t *counts, enum torcoll_type type)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_ALLGATHER, send, recv, 0, type);
	int err = torcoll__set_counts(comm, &op, counts);

	return err ? err : torcoll_run(comm, &op);
}

int torcoll_iallgatherv(struct torcoll_comm *comm, const void *send, void *recv,
			const uint64_t *counts, enum torcoll_type type,
			struct torcoll_request *req)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_ALLGATHER, send, recv, 0, type);
	int err;

	req->state = 0;
	err = torcoll__set_counts(comm, &op, counts);
	return err ? err : torcoll_submit(comm, &op, req);
}

/* ---- collectives without elements ---- */

int torcoll_barrier(struct torcoll_comm *comm)
{
	struct torcoll_op op = { .collective = TORCOLL_BARRIER };

	return torcoll_run(comm, &op);
}

int torcoll_ibarrier(struct torcoll_comm *comm, struct torcoll_request *req)
{
	struct torcoll_op op = { .collective = TORCOLL_BARRIER };

	return torcoll_submit(comm, &op, req);
}
