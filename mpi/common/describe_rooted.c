// SPDX-License-Identifier: MIT
/* Functions of MPI that gather data at a rank, and scatter it from there. */
#include "describe.h"
#include "type.h"

/*
 * Whether MPI allows a call, by what is significant at this rank. @all: the blocks
 * at the root; @own: the block here, NULL if in place, which only the root may.
 */
static bool rooted_valid(const struct tmpi_call *call, const struct tmpi_blocks *all,
			 const struct tmpi_blocks *own, int root)
{
	bool at_root = call->rank == (uint32_t)root;

	if (!tmpi_root_valid(call, root) || (at_root && !tmpi_blocks_valid(all)))
		return false;
	return own ? tmpi_blocks_valid(own) : at_root;
}

/* What is not significant at a rank is not looked at: a block of it has the same bytes on all. */
int tmpi_describe_gather(struct tmpi_call *call, const void *sbuf, int scount, MPI_Datatype stype,
			 void *rbuf, int rcount, MPI_Datatype rtype, int root)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, 1, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, call->size, rcount, rtype);
	const struct tmpi_blocks *own = sbuf == MPI_IN_PLACE ? NULL : &send;
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &recv : &send;

	if (!rooted_valid(call, &recv, own, root))
		return TMPI_LEFT;
	if (tmpi_aside(call->size * tmpi_block_bytes(any, 0)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_gather(call, own, &recv, root);
}

int tmpi_describe_scatter(struct tmpi_call *call, const void *sbuf, int scount, MPI_Datatype stype,
			  void *rbuf, int rcount, MPI_Datatype rtype, int root)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, call->size, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, 1, rcount, rtype);
	const struct tmpi_blocks *own = rbuf == MPI_IN_PLACE ? NULL : &recv;
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &send : &recv;

	if (!rooted_valid(call, &send, own, root))
		return TMPI_LEFT;
	if (tmpi_aside(call->size * tmpi_block_bytes(any, 0)))
		return tmpi_leave(TMPI_SIZE);
	return tmpi_scatter(call, &send, own, root);
}

int tmpi_describe_gatherv(struct tmpi_call *call, const void *sbuf, int scount, MPI_Datatype stype,
			  void *rbuf, const int *rcounts, const int *rdispls, MPI_Datatype rtype,
			  int root)
{
	struct tmpi_blocks send = tmpi_blocks(sbuf, 1, scount, stype);
	struct tmpi_blocks recv = tmpi_blocks_at(rbuf, call->size, rcounts, rdispls, rtype);
	const struct tmpi_blocks *own = sbuf == MPI_IN_PLACE ? NULL : &send;

	if (!rooted_valid(call, &recv, own, root))
		return TMPI_LEFT;
	return tmpi_gatherv(call, own, &recv, root);
}

int tmpi_describe_scatterv(struct tmpi_call *call, const void *sbuf, const int *scounts,
			   const int *sdispls, MPI_Datatype stype, void *rbuf, int rcount,
			   MPI_Datatype rtype, int root)
{
	struct tmpi_blocks send = tmpi_blocks_at(sbuf, call->size, scounts, sdispls, stype);
	struct tmpi_blocks recv = tmpi_blocks(rbuf, 1, rcount, rtype);
	const struct tmpi_blocks *own = rbuf == MPI_IN_PLACE ? NULL : &recv;

	if (!rooted_valid(call, &send, own, root))
		return TMPI_LEFT;
	return tmpi_scatterv(call, &send, own, root);
}
