// SPDX-License-Identifier: MIT
/* Functions of MPI that gather data at a rank, and scatter it from there. */
#include "describe.h"
#include "type.h"

/* What is not significant at a rank is not looked at: a block of it has the same bytes on all. */
int tmpi_describe_gather(struct tmpi_call *call, const void *sbuf, int scount, MPI_Datatype stype,
			 void *rbuf, int rcount, MPI_Datatype rtype, int root)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, 1, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, call->size, rcount, rtype);
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &recv : &send;

	if (tmpi_aside(call->size * tmpi_block_bytes(any, 0)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_gather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv, root);
}

int tmpi_describe_scatter(struct tmpi_call *call, const void *sbuf, int scount, MPI_Datatype stype,
			  void *rbuf, int rcount, MPI_Datatype rtype, int root)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, call->size, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, 1, rcount, rtype);
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &send : &recv;

	if (tmpi_aside(call->size * tmpi_block_bytes(any, 0)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_scatter(call, &send, rbuf == MPI_IN_PLACE ? NULL : &recv, root);
}

int tmpi_describe_gatherv(struct tmpi_call *call, const void *sbuf, int scount, MPI_Datatype stype,
			  void *rbuf, const int *rcounts, const int *rdispls, MPI_Datatype rtype,
			  int root)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, 1, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks_at(rbuf, call->size, rcounts, rdispls, rtype);

	return tmpi_gatherv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv, root);
}

int tmpi_describe_scatterv(struct tmpi_call *call, const void *sbuf, const int *scounts,
			   const int *sdispls, MPI_Datatype stype, void *rbuf, int rcount,
			   MPI_Datatype rtype, int root)
{
	struct tmpi_blocks send = tmpi_blocks_at(sbuf, call->size, scounts, sdispls, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, 1, rcount, rtype);

	return tmpi_scatterv(call, &send, rbuf == MPI_IN_PLACE ? NULL : &recv, root);
}
