// SPDX-License-Identifier: MIT
/*
 * A function for each collective, blocking and not.
 */
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

/* ---- by blocks ---- */

static struct torcoll_op blocks_op(enum torcoll_collective collective, const void *send, void *recv,
				   uint64_t count, enum torcoll_type type)
{
	return (struct torcoll_op){
		.collective = collective,
		.type = type,
		.count = count,
		.send = send,
		.recv = recv,
	};
}

/* The vector that blocks of these lengths make up. */
static int set_counts(const struct torcoll_comm *comm, struct torcoll_op *op,
		      const uint64_t *counts)
{
	if (!counts)
		return torcoll__fail(-EINVAL, "%s: counts are NULL",
				     torcoll_collective_name(op->collective));
	op->counts = counts;
	op->count = 0;
	for (uint32_t i = 0; i < comm->size; i++)
		if (__builtin_add_overflow(op->count, counts[i], &op->count))
			return torcoll__fail(-EINVAL, "%s: the counts' sum overflows",
					     torcoll_collective_name(op->collective));
	return 0;
}

int torcoll_reduce_scatter(struct torcoll_comm *comm, const void *send, void *recv,
			   uint64_t count, enum torcoll_type type, enum torcoll_redop redop)
{
	struct torcoll_op op = blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, count, type);

	op.redop = redop;
	return torcoll_run(comm, &op);
}

int torcoll_ireduce_scatter(struct torcoll_comm *comm, const void *send, void *recv,
			    uint64_t count, enum torcoll_type type, enum torcoll_redop redop,
			    struct torcoll_request *req)
{
	struct torcoll_op op = blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, count, type);

	op.redop = redop;
	return torcoll_submit(comm, &op, req);
}

int torcoll_reduce_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
			    const uint64_t *counts, enum torcoll_type type,
			    enum torcoll_redop redop)
{
	struct torcoll_op op = blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, 0, type);
	int err = set_counts(comm, &op, counts);

	op.redop = redop;
	return err ? err : torcoll_run(comm, &op);
}

int torcoll_ireduce_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
			     const uint64_t *counts, enum torcoll_type type,
			     enum torcoll_redop redop, struct torcoll_request *req)
{
	struct torcoll_op op = blocks_op(TORCOLL_REDUCE_SCATTER, send, recv, 0, type);
	int err;

	req->state = 0;
	err = set_counts(comm, &op, counts);
	op.redop = redop;
	return err ? err : torcoll_submit(comm, &op, req);
}

int torcoll_allgather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type)
{
	struct torcoll_op op = blocks_op(TORCOLL_ALLGATHER, send, recv, count, type);

	return torcoll_run(comm, &op);
}

int torcoll_iallgather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		       enum torcoll_type type, struct torcoll_request *req)
{
	struct torcoll_op op = blocks_op(TORCOLL_ALLGATHER, send, recv, count, type);

	return torcoll_submit(comm, &op, req);
}

int torcoll_allgatherv(struct torcoll_comm *comm, const void *send, void *recv,
		       const uint64_t *counts, enum torcoll_type type)
{
	struct torcoll_op op = blocks_op(TORCOLL_ALLGATHER, send, recv, 0, type);
	int err = set_counts(comm, &op, counts);

	return err ? err : torcoll_run(comm, &op);
}

int torcoll_iallgatherv(struct torcoll_comm *comm, const void *send, void *recv,
			const uint64_t *counts, enum torcoll_type type,
			struct torcoll_request *req)
{
	struct torcoll_op op = blocks_op(TORCOLL_ALLGATHER, send, recv, 0, type);
	int err;

	req->state = 0;
	err = set_counts(comm, &op, counts);
	return err ? err : torcoll_submit(comm, &op, req);
}

/* ---- from and to a root ---- */

static struct torcoll_op broadcast_op(void *buf, uint64_t count, enum torcoll_type type,
				      uint32_t root)
{
	return (struct torcoll_op){
		.collective = TORCOLL_BROADCAST,
		.type = type,
		.root = root,
		.count = count,
		.send = buf,
		.recv = buf,
	};
}

int torcoll_broadcast(struct torcoll_comm *comm, void *buf, uint64_t count, enum torcoll_type type,
		      uint32_t root)
{
	struct torcoll_op op = broadcast_op(buf, count, type, root);

	return torcoll_run(comm, &op);
}

int torcoll_ibroadcast(struct torcoll_comm *comm, void *buf, uint64_t count,
		       enum torcoll_type type, uint32_t root, struct torcoll_request *req)
{
	struct torcoll_op op = broadcast_op(buf, count, type, root);

	return torcoll_submit(comm, &op, req);
}

static struct torcoll_op reduce_op(const void *send, void *recv, uint64_t count,
				   enum torcoll_type type, enum torcoll_redop redop, uint32_t root)
{
	return (struct torcoll_op){
		.collective = TORCOLL_REDUCE,
		.type = type,
		.redop = redop,
		.root = root,
		.count = count,
		.send = send,
		.recv = recv,
	};
}

int torcoll_reduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		   enum torcoll_type type, enum torcoll_redop redop, uint32_t root)
{
	struct torcoll_op op = reduce_op(send, recv, count, type, redop, root);

	return torcoll_run(comm, &op);
}

int torcoll_ireduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, enum torcoll_redop redop, uint32_t root,
		    struct torcoll_request *req)
{
	struct torcoll_op op = reduce_op(send, recv, count, type, redop, root);

	return torcoll_submit(comm, &op, req);
}
