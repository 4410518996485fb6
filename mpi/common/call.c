// SPDX-License-Identifier: MIT
/* What calls have in common, and those that reduce: see call.h. */
#include "call.h"

#include <errno.h>
#include <stdlib.h>

void tmpi_call_init(struct tmpi_call *call, uint32_t rank, uint32_t size)
{
	*call = (struct tmpi_call){ .rank = rank, .size = size };
}

/* What fails here is memory, or the MPI. */
static void call_failed(struct tmpi_call *call, int err, const char *unable)
{
	call->why = err == -ENOMEM ? "out of memory" : unable;
}

void tmpi_call_described(struct tmpi_call *call, int err)
{
	if (err)
		call_failed(call, err, "the MPI cannot pack the data");
}

int tmpi_call_finish(struct tmpi_call *call, int status)
{
	if (!status) {
		status = tmpi_flat_unpack(&call->out);
		if (status)
			call_failed(call, status, "the MPI cannot unpack the result");
	}
	tmpi_flat_free(&call->in);
	tmpi_flat_free(&call->out);
	free(call->counts);
	free(call->aside);
	return status;
}

int tmpi_barrier(struct tmpi_call *call)
{
	call->op.collective = TORCOLL_BARRIER;
	return 0;
}

/* Of one vector on each rank: allreduce, reduce, scan, exscan. */
int tmpi_reduce(struct tmpi_call *call, enum torcoll_collective collective, const void *send,
		void *recv, int count, const struct tmpi_reduction *r, uint32_t root)
{
	if (!count)
		return 0;
	call->op.collective = collective;
	call->op.type = r->type;
	call->op.redop = r->redop;
	call->op.root = root;
	call->op.count = (uint64_t)count * r->elements;
	call->op.send = send ? send : recv;
	call->op.recv = recv;
	if (collective == TORCOLL_REDUCE && call->rank != root)
		call->op.recv = NULL;
	return 0;
}

/* The sum of the counts; the op has them if the blocks differ. */
static int reduce_scatter_counts(struct tmpi_call *call, const int *counts, int count,
				 uint32_t elements)
{
	if (!counts) {
		call->op.count = (uint64_t)count * elements * call->size;
		return 0;
	}
	call->counts = calloc(call->size, sizeof(*call->counts));
	if (!call->counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < call->size; i++) {
		call->counts[i] = (uint64_t)counts[i] * elements;
		call->op.count += call->counts[i];
	}
	call->op.counts = call->counts;
	return 0;
}

/* In place, MPI's result is at the beginning of the vector. */
int tmpi_reduce_scatter(struct tmpi_call *call, const void *send, void *recv, const int *counts,
			int count, const struct tmpi_reduction *r)
{
	int err = reduce_scatter_counts(call, counts, count, r->elements);

	if (err || !call->op.count)
		return err;
	call->op.collective = TORCOLL_REDUCE_SCATTER;
	call->op.type = r->type;
	call->op.redop = r->redop;
	call->op.flags = send ? 0 : TORCOLL_OP_AT_START;
	call->op.send = send ? send : recv;
	call->op.recv = recv;
	return 0;
}
