// SPDX-License-Identifier: MIT
/* Functions of MPI that copy data from a rank to all, and gather it on all. */
#include "describe.h"
#include "type.h"

/* Whether counts and types are valid. @in_place: the program sends what it receives. */
static bool counts_valid(const struct tmpi_blocks *send, const struct tmpi_blocks *recv,
			 bool in_place)
{
	return tmpi_blocks_valid(recv) && (in_place || tmpi_blocks_valid(send));
}

int tmpi_describe_bcast(struct tmpi_call *call, void *buf, int count, MPI_Datatype type, int root)
{
	struct tmpi_blocks data = tmpi_blocks(buf, 1, count, type);

	if (!tmpi_root_valid(call, root) || !tmpi_blocks_valid(&data))
		return TMPI_LEFT;
	if (tmpi_aside(tmpi_blocks_bytes(&data, 1)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_bcast(call, &data, root);
}

int tmpi_describe_allgather(struct tmpi_call *call, const void *sbuf, int scount,
			    MPI_Datatype stype, void *rbuf, int rcount, MPI_Datatype rtype)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, 1, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, call->size, rcount, rtype);

	if (!counts_valid(&send, &recv, sbuf == MPI_IN_PLACE))
		return TMPI_LEFT;
	if (tmpi_aside(tmpi_blocks_bytes(&recv, call->size)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_allgather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

int tmpi_describe_allgatherv(struct tmpi_call *call, const void *sbuf, int scount,
			     MPI_Datatype stype, void *rbuf, const int *rcounts, const int *rdispls,
			     MPI_Datatype rtype)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, 1, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks_at(rbuf, call->size, rcounts, rdispls, rtype);

	if (!counts_valid(&send, &recv, sbuf == MPI_IN_PLACE))
		return TMPI_LEFT;
	if (tmpi_aside(tmpi_blocks_bytes(&recv, call->size)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_allgather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

int tmpi_describe_alltoall(struct tmpi_call *call, const void *sbuf, int scount, MPI_Datatype stype,
			   void *rbuf, int rcount, MPI_Datatype rtype)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, call->size, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, call->size, rcount, rtype);

	if (!counts_valid(&send, &recv, sbuf == MPI_IN_PLACE))
		return TMPI_LEFT;
	if (tmpi_aside(tmpi_blocks_bytes(&recv, call->size)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_alltoall(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

int tmpi_describe_alltoallv(struct tmpi_call *call, const void *sbuf, const int *scounts,
			    const int *sdispls, MPI_Datatype stype, void *rbuf, const int *rcounts,
			    const int *rdispls, MPI_Datatype rtype)
{
	struct tmpi_blocks send = tmpi_blocks_at(sbuf, call->size, scounts, sdispls, stype);
	struct tmpi_blocks recv = tmpi_blocks_at(rbuf, call->size, rcounts, rdispls, rtype);

	if (!counts_valid(&send, &recv, sbuf == MPI_IN_PLACE))
		return TMPI_LEFT;
	return tmpi_alltoallv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

/* With a type for each block, and displacements in bytes. */
int tmpi_describe_alltoallw(struct tmpi_call *call, const void *sbuf, const int *scounts,
			    const int *sdispls, const MPI_Datatype *stypes, void *rbuf,
			    const int *rcounts, const int *rdispls, const MPI_Datatype *rtypes)
{
	struct tmpi_blocks send = tmpi_blocks_at(sbuf, call->size, scounts, sdispls,
							MPI_DATATYPE_NULL);
	struct tmpi_blocks recv = tmpi_blocks_at(rbuf, call->size, rcounts, rdispls,
							MPI_DATATYPE_NULL);

	send.types = stypes;
	recv.types = rtypes;
	if (!counts_valid(&send, &recv, sbuf == MPI_IN_PLACE))
		return TMPI_LEFT;
	return tmpi_alltoallv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}
