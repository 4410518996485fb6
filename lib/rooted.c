// SPDX-License-Identifier: MIT
/* Functions of the collectives with a root, blocking and non-blocking. */
#include "internal.h"

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

/* ---- gather ---- */

static struct torcoll_op gather_op(const void *send, void *recv, uint64_t count,
				   enum torcoll_type type, uint32_t root)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_GATHER, send, recv, count, type);

	op.root = root;
	return op;
}

int torcoll_gather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		   enum torcoll_type type, uint32_t root)
{
	struct torcoll_op op = gather_op(send, recv, count, type, root);

	return torcoll_run(comm, &op);
}

int torcoll_igather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, uint32_t root, struct torcoll_request *req)
{
	struct torcoll_op op = gather_op(send, recv, count, type, root);

	return torcoll_submit(comm, &op, req);
}

int torcoll_gatherv(struct torcoll_comm *comm, const void *send, void *recv,
		    const uint64_t *counts, enum torcoll_type type, uint32_t root)
{
	struct torcoll_op op = gather_op(send, recv, 0, type, root);
	int err = torcoll__set_counts(comm, &op, counts);

	return err ? err : torcoll_run(comm, &op);
}

int torcoll_igatherv(struct torcoll_comm *comm, const void *send, void *recv,
		     const uint64_t *counts, enum torcoll_type type, uint32_t root,
		     struct torcoll_request *req)
{
	struct torcoll_op op = gather_op(send, recv, 0, type, root);
	int err;

	req->state = 0;
	err = torcoll__set_counts(comm, &op, counts);
	return err ? err : torcoll_submit(comm, &op, req);
}

/* ---- scatter ---- */

static struct torcoll_op scatter_op(const void *send, void *recv, uint64_t count,
				    enum torcoll_type type, uint32_t root)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_SCATTER, send, recv, count, type);

	op.root = root;
	return op;
}

int torcoll_scatter(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, uint32_t root)
{
	struct torcoll_op op = scatter_op(send, recv, count, type, root);

	return torcoll_run(comm, &op);
}

int torcoll_iscatter(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		     enum torcoll_type type, uint32_t root, struct torcoll_request *req)
{
	struct torcoll_op op = scatter_op(send, recv, count, type, root);

	return torcoll_submit(comm, &op, req);
}

int torcoll_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
		     const uint64_t *counts, enum torcoll_type type, uint32_t root)
{
	struct torcoll_op op = scatter_op(send, recv, 0, type, root);
	int err = torcoll__set_counts(comm, &op, counts);

	return err ? err : torcoll_run(comm, &op);
}

int torcoll_iscatterv(struct torcoll_comm *comm, const void *send, void *recv,
		      const uint64_t *counts, enum torcoll_type type, uint32_t root,
		      struct torcoll_request *req)
{
	struct torcoll_op op = scatter_op(send, recv, 0, type, root);
	int err;

	req->state = 0;
	err = torcoll__set_counts(comm, &op, counts);
	return err ? err : torcoll_submit(comm, &op, req);
}
