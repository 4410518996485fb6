// SPDX-License-Identifier: MIT
/* The functions of a module that copy data from a rank to all, and gather it on all. */
#include "functions.h"

static int bcast_call(struct tmpi_call *call, void *buf, int count, struct ompi_datatype_t *dtype,
		      int root)
{
	struct tmpi_blocks data = coll_torcoll_blocks(buf, 1, count, dtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&data, 1)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_bcast(call, &data, root);
}

COLL_TORCOLL_DEFINE(bcast,
	(void *buf, int count, struct ompi_datatype_t *dtype, int root),
	(buf, count, dtype, root))

static int allgather_call(struct tmpi_call *call, const void *sbuf, int scount,
			  struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
			  struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, call->size, rcount, rdtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&recv, call->size)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_allgather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

COLL_TORCOLL_DEFINE(allgather,
	(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
	 struct ompi_datatype_t *rdtype),
	(sbuf, scount, sdtype, rbuf, rcount, rdtype))

static int allgatherv_call(struct tmpi_call *call, const void *sbuf, int scount,
			   struct ompi_datatype_t *sdtype, void *rbuf, const int *rcounts,
			   const int *rdisps, struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, rdtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&recv, call->size)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_allgather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

COLL_TORCOLL_DEFINE(allgatherv,
	(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
	 const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype),
	(sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype))

static int alltoall_call(struct tmpi_call *call, const void *sbuf, int scount,
			 struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
			 struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, call->size, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, call->size, rcount, rdtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&recv, call->size)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_alltoall(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

COLL_TORCOLL_DEFINE(alltoall,
	(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
	 struct ompi_datatype_t *rdtype),
	(sbuf, scount, sdtype, rbuf, rcount, rdtype))

static int alltoallv_call(struct tmpi_call *call, const void *sbuf, const int *scounts,
			  const int *sdisps, struct ompi_datatype_t *sdtype, void *rbuf,
			  const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks_at(sbuf, call->size, scounts, sdisps, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, rdtype);

	return tmpi_alltoallv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

COLL_TORCOLL_DEFINE(alltoallv,
	(const void *sbuf, const int *scounts, const int *sdisps, struct ompi_datatype_t *sdtype,
	 void *rbuf, const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype),
	(sbuf, scounts, sdisps, sdtype, rbuf, rcounts, rdisps, rdtype))

/* With a type for each block, and displacements in bytes. */
static int alltoallw_call(struct tmpi_call *call, const void *sbuf, const int *scounts,
			  const int *sdisps, struct ompi_datatype_t *const *sdtypes, void *rbuf,
			  const int *rcounts, const int *rdisps,
			  struct ompi_datatype_t *const *rdtypes)
{
	struct tmpi_blocks send = coll_torcoll_blocks_at(sbuf, call->size, scounts, sdisps, NULL);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, NULL);

	send.types = (const void *const *)sdtypes;
	recv.types = (const void *const *)rdtypes;
	return tmpi_alltoallv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

COLL_TORCOLL_DEFINE(alltoallw,
	(const void *sbuf, const int *scounts, const int *sdisps,
	 struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts,
	 const int *rdisps, struct ompi_datatype_t *const *rdtypes),
	(sbuf, scounts, sdisps, sdtypes, rbuf, rcounts, rdisps, rdtypes))

void coll_torcoll_set_move(mca_coll_base_module_t *module)
{
	module->coll_bcast = bcast;
	module->coll_ibcast = ibcast;
	module->coll_allgather = allgather;
	module->coll_iallgather = iallgather;
	module->coll_allgatherv = allgatherv;
	module->coll_iallgatherv = iallgatherv;
	module->coll_alltoall = alltoall;
	module->coll_ialltoall = ialltoall;
	module->coll_alltoallv = alltoallv;
	module->coll_ialltoallv = ialltoallv;
	module->coll_alltoallw = alltoallw;
	module->coll_ialltoallw = ialltoallw;
}
