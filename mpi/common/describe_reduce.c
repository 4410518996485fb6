// SPDX-License-Identifier: MIT
/* Functions of MPI that reduce. See describe.h. */
#include "describe.h"
#include "type.h"

static const void *in_place(const void *sbuf)
{
	return sbuf == MPI_IN_PLACE ? NULL : sbuf;
}

/* Of one vector on each rank. */
static int vector_call(struct tmpi_call *call, enum torcoll_collective collective, const void *sbuf,
		       void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root)
{
	struct tmpi_reduction r;

	if (count < 0)
		return TMPI_LEFT;
	if (!tmpi_reduction(type, op, &r))
		return tmpi_leave(TMPI_OPERATOR);
	if (tmpi_aside(count * tmpi_type_size(type)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_reduce(call, collective, in_place(sbuf), rbuf, count, &r, root);
}

int tmpi_describe_allreduce(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
			    MPI_Datatype type, MPI_Op op)
{
	return vector_call(call, TORCOLL_ALLREDUCE, sbuf, rbuf, count, type, op, 0);
}

int tmpi_describe_reduce(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
			 MPI_Datatype type, MPI_Op op, int root)
{
	if (!tmpi_root_valid(call, root) || (sbuf == MPI_IN_PLACE && call->rank != (uint32_t)root))
		return TMPI_LEFT;
	return vector_call(call, TORCOLL_REDUCE, sbuf, rbuf, count, type, op, root);
}

int tmpi_describe_scan(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
		       MPI_Datatype type, MPI_Op op)
{
	return vector_call(call, TORCOLL_SCAN, sbuf, rbuf, count, type, op, 0);
}

int tmpi_describe_exscan(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
			 MPI_Datatype type, MPI_Op op)
{
	return vector_call(call, TORCOLL_EXSCAN, sbuf, rbuf, count, type, op, 0);
}

int tmpi_describe_reduce_scatter(struct tmpi_call *call, const void *sbuf, void *rbuf,
				 const int *rcounts, MPI_Datatype type, MPI_Op op)
{
	struct tmpi_reduction r;
	uint64_t count = 0;

	for (uint32_t i = 0; i < call->size; i++) {
		if (rcounts[i] < 0)
			return TMPI_LEFT;
		count += rcounts[i];
	}
	if (!tmpi_reduction(type, op, &r))
		return tmpi_leave(TMPI_OPERATOR);
	if (tmpi_aside(count * tmpi_type_size(type)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_reduce_scatter(call, in_place(sbuf), rbuf, rcounts, 0, &r);
}

int tmpi_describe_reduce_scatter_block(struct tmpi_call *call, const void *sbuf, void *rbuf,
				       int rcount, MPI_Datatype type, MPI_Op op)
{
	struct tmpi_reduction r;

	if (rcount < 0)
		return TMPI_LEFT;
	if (!tmpi_reduction(type, op, &r))
		return tmpi_leave(TMPI_OPERATOR);
	if (tmpi_aside((uint64_t)rcount * call->size * tmpi_type_size(type)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_reduce_scatter(call, in_place(sbuf), rbuf, NULL, rcount, &r);
}
