/* SPDX-License-Identifier: MIT */
/*
 * Calls of MPI as ops of libtorcoll. Data that is only moved is moved as bytes,
 * whatever its type, since ranks may describe the same bytes by different types.
 *
 * A call is described by one of the functions below, which fills in its op;
 * the op runs; and tmpi_call_finish() puts the result to its place. A call of
 * which all ranks know that it moves nothing has no op. What a rank passes as
 * MPI_IN_PLACE is NULL here.
 */
#ifndef TORCOLL_MPI_CALL_H
#define TORCOLL_MPI_CALL_H

#include <stdbool.h>
#include <torcoll.h>

#include "blocks.h"

/**
 * struct tmpi_call - a call
 * @rank: of the caller
 * @size: number of ranks
 * @op: to run; its collective is TORCOLL_COLL_NONE if there is nothing to do
 * @in: what the op reads, if packed
 * @out: what the op writes, if it is to be unpacked
 * @counts: arrays of the op, to free
 * @aside: memory for a block that is not wanted
 * @why: the call failed here, not its op: why
 */
struct tmpi_call {
	uint32_t rank;
	uint32_t size;
	struct torcoll_op op;
	struct tmpi_flat in;
	struct tmpi_flat out;
	uint64_t *counts;
	void *aside;
	const char *why;
};

/* The operator and the element's type of a reduction. */
struct tmpi_reduction {
	enum torcoll_type type;
	enum torcoll_redop redop;
	uint32_t elements;	/* of that type in one of MPI's */
};

/* Return whether a root is a rank, as the functions below require. */
static inline bool tmpi_root_valid(const struct tmpi_call *call, int root)
{
	return root >= 0 && (uint32_t)root < call->size;
}

void tmpi_call_init(struct tmpi_call *call, uint32_t rank, uint32_t size);

/*
 * These return 0, or a negative errno, to be told to tmpi_call_described(). Call
 * tmpi_call_finish() in any case.
 */
int tmpi_barrier(struct tmpi_call *call);
int tmpi_bcast(struct tmpi_call *call, const struct tmpi_blocks *data, uint32_t root);
int tmpi_reduce(struct tmpi_call *call, enum torcoll_collective collective, const void *send,
		void *recv, int count, const struct tmpi_reduction *r, uint32_t root);
int tmpi_reduce_scatter(struct tmpi_call *call, const void *send, void *recv, const int *counts,
			int count, const struct tmpi_reduction *r);
int tmpi_allgather(struct tmpi_call *call, const struct tmpi_blocks *send,
		   const struct tmpi_blocks *recv);
int tmpi_gather(struct tmpi_call *call, const struct tmpi_blocks *send,
		const struct tmpi_blocks *recv, uint32_t root);
int tmpi_gatherv(struct tmpi_call *call, const struct tmpi_blocks *send,
		 const struct tmpi_blocks *recv, uint32_t root);
int tmpi_scatter(struct tmpi_call *call, const struct tmpi_blocks *send,
		 const struct tmpi_blocks *recv, uint32_t root);
int tmpi_scatterv(struct tmpi_call *call, const struct tmpi_blocks *send,
		  const struct tmpi_blocks *recv, uint32_t root);
int tmpi_alltoall(struct tmpi_call *call, const struct tmpi_blocks *send,
		  const struct tmpi_blocks *recv);
int tmpi_alltoallv(struct tmpi_call *call, const struct tmpi_blocks *send,
		   const struct tmpi_blocks *recv);

/* A call is described, or could not be: @err. */
void tmpi_call_described(struct tmpi_call *call, int err);

/*
 * Put the result of a completed op to its place, if @status is 0, and free what
 * the call has. Return @status, or why the result cannot be unpacked.
 */
int tmpi_call_finish(struct tmpi_call *call, int status);

/* Why a call failed: for a reason of its own, or as @sentence says, of its op. */
static inline const char *tmpi_call_why(const struct tmpi_call *call, const char *sentence)
{
	return call->why ? call->why : sentence;
}

#endif
