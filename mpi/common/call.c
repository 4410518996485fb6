// SPDX-License-Identifier: MIT
/* What calls have in common, and those that reduce: see call.h. */
#include "call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tmpi_call_init(struct tmpi_call *call, uint32_t rank, uint32_t size)
{
	*call = (struct tmpi_call){ .rank = rank, .size = size };
}

int tmpi_call_finish(struct tmpi_call *call, int status)
{
	if (!status)
		status = tmpi_flat_unpack(&call->out);
	if (!status && call->copy_to)
		memcpy(call->copy_to, call->aside, call->copy_bytes);
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

/* Memory for a result that is dropped, or copied to @to later. */
static int call_set_aside(struct tmpi_call *call, void *to, uint64_t bytes)
{
	call->aside = malloc(bytes);
	call->copy_to = to;
	call->copy_bytes = bytes;
	call->op.recv = call->aside;
	return call->aside ? 0 : -ENOMEM;
}

/* Of one vector on each rank: allreduce, reduce, scan, exscan. */
int tmpi_reduce(struct tmpi_call *call, enum torcoll_collective collective, const void *send,
		void *recv, int count, const struct tmpi_reduction *r, uint32_t root)
{
	uint64_t elements = (uint64_t)count * r->elements;

	if (!count)
		return 0;
	call->op.collective = collective;
	call->op.type = r->type;
	call->op.redop = r->redop;
	call->op.root = root;
	call->op.count = elements;
	call->op.send = send ? send : recv;
	call->op.recv = recv;
	if (collective == TORCOLL_REDUCE && call->rank != root)
		call->op.recv = NULL;
	/* the first rank's result is not defined, nor is its buffer */
	if (collective == TORCOLL_EXSCAN && !call->rank)
		return call_set_aside(call, NULL, elements * torcoll_type_size(r->type));
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

/*
 * In place, MPI's result is at the beginning of the vector and the rest is as
 * it was: the op writes it to memory of its own.
 */
int tmpi_reduce_scatter(struct tmpi_call *call, const void *send, void *recv, const int *counts,
			int count, const struct tmpi_reduction *r)
{
	uint64_t own = counts ? counts[call->rank] : count;
	int err = reduce_scatter_counts(call, counts, count, r->elements);

	if (err || !call->op.count)
		return err;
	call->op.collective = TORCOLL_REDUCE_SCATTER;
	call->op.type = r->type;
	call->op.redop = r->redop;
	call->op.send = send ? send : recv;
	call->op.recv = own ? recv : tmpi_nothing;
	if (send || !own)
		return 0;
	return call_set_aside(call, recv, own * r->elements * torcoll_type_size(r->type));
}
