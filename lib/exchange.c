// SPDX-License-Identifier: MIT
/*
 * Exchanges between ranks, and scans.
 */
#include "internal.h"

int torcoll_alltoall(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		     enum torcoll_type type)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_ALLTOALL, send, recv, count, type);

	return torcoll_run(comm, &op);
}

int torcoll_ialltoall(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type, struct torcoll_request *req)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_ALLTOALL, send, recv, count, type);

	return torcoll_submit(comm, &op, req);
}

static int alltoallv_op(struct torcoll_comm *comm, const void *send, const uint64_t *send_counts,
			void *recv, const uint64_t *recv_counts, enum torcoll_type type,
			struct torcoll_op *op)
{
	int err;

	*op = torcoll__blocks_op(TORCOLL_ALLTOALL, send, recv, 0, type);
	err = torcoll__set_counts(comm, op, send_counts);
	if (!err)
		err = torcoll__set_counts(comm, op, recv_counts);
	op->counts = send_counts;
	op->recv_counts = recv_counts;
	return err;
}

int torcoll_alltoallv(struct torcoll_comm *comm, const void *send, const uint64_t *send_counts,
		      void *recv, const uint64_t *recv_counts, enum torcoll_type type)
{
	struct torcoll_op op;
	int err = alltoallv_op(comm, send, send_counts, recv, recv_counts, type, &op);

	return err ? err : torcoll_run(comm, &op);
}

int torcoll_ialltoallv(struct torcoll_comm *comm, const void *send, const uint64_t *send_counts,
		       void *recv, const uint64_t *recv_counts, enum torcoll_type type,
		       struct torcoll_request *req)
{
	struct torcoll_op op;
	int err;

	req->state = 0;
	err = alltoallv_op(comm, send, send_counts, recv, recv_counts, type, &op);
	return err ? err : torcoll_submit(comm, &op, req);
}

int torcoll_halo(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		 enum torcoll_type type)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_HALO, send, recv, count, type);

	return torcoll_run(comm, &op);
}

int torcoll_ihalo(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		  enum torcoll_type type, struct torcoll_request *req)
{
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_HALO, send, recv, count, type);

	return torcoll_submit(comm, &op, req);
}

/* ---- scans ---- */

static struct torcoll_op scan_op(enum torcoll_collective collective, const void *send, void *recv,
				 uint64_t count, enum torcoll_type type, enum torcoll_redop redop)
{
	struct torcoll_op op = torcoll__blocks_op(collective, send, recv, count, type);

	op.redop = redop;
	return op;
}

int torcoll_scan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		 enum torcoll_type type, enum torcoll_redop redop)
{
	struct torcoll_op op = scan_op(TORCOLL_SCAN, send, recv, count, type, redop);

	return torcoll_run(comm, &op);
}

int torcoll_iscan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		  enum torcoll_type type, enum torcoll_redop redop, struct torcoll_request *req)
{
	struct torcoll_op op = scan_op(TORCOLL_SCAN, send, recv, count, type, redop);

	return torcoll_submit(comm, &op, req);
}

int torcoll_exscan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		   enum torcoll_type type, enum torcoll_redop redop)
{
	struct torcoll_op op = scan_op(TORCOLL_EXSCAN, send, recv, count, type, redop);

	return torcoll_run(comm, &op);
}

int torcoll_iexscan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, enum torcoll_redop redop, struct torcoll_request *req)
{
	struct torcoll_op op = scan_op(TORCOLL_EXSCAN, send, recv, count, type, redop);

	return torcoll_submit(comm, &op, req);
}
