// SPDX-License-Identifier: MIT
/* The functions of a module that gather data at a rank, and scatter it from there. */
#include "functions.h"

/* What is not significant at a rank is not looked at: a block of it has the same bytes on all. */
static int gather_call(struct tmpi_call *call, const void *sbuf, int scount,
		       struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
		       struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, call->size, rcount, rdtype);
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &recv : &send;

	if (coll_torcoll_aside(call->size * tmpi_block_bytes(any, 0)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_gather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv, root);
}

COLL_TORCOLL_DEFINE(gather,
	(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
	 struct ompi_datatype_t *rdtype, int root),
	(sbuf, scount, sdtype, rbuf, rcount, rdtype, root))

static int scatter_call(struct tmpi_call *call, const void *sbuf, int scount,
			struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
			struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, call->size, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, 1, rcount, rdtype);
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &send : &recv;

	if (coll_torcoll_aside(call->size * tmpi_block_bytes(any, 0)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_scatter(call, &send, rbuf == MPI_IN_PLACE ? NULL : &recv, root);
}

COLL_TORCOLL_DEFINE(scatter,
	(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
	 struct ompi_datatype_t *rdtype, int root),
	(sbuf, scount, sdtype, rbuf, rcount, rdtype, root))

static int gatherv_call(struct tmpi_call *call, const void *sbuf, int scount,
			struct ompi_datatype_t *sdtype, void *rbuf, const int *rcounts,
			const int *rdisps, struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, rdtype);

	return tmpi_gatherv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv, root);
}

COLL_TORCOLL_DEFINE(gatherv,
	(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
	 const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype, int root),
	(sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype, root))

static int scatterv_call(struct tmpi_call *call, const void *sbuf, const int *scounts,
			 const int *sdisps, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
			 struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks_at(sbuf, call->size, scounts, sdisps, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, 1, rcount, rdtype);

	return tmpi_scatterv(call, &send, rbuf == MPI_IN_PLACE ? NULL : &recv, root);
}

COLL_TORCOLL_DEFINE(scatterv,
	(const void *sbuf, const int *scounts, const int *sdisps, struct ompi_datatype_t *sdtype,
	 void *rbuf, int rcount, struct ompi_datatype_t *rdtype, int root),
	(sbuf, scounts, sdisps, sdtype, rbuf, rcount, rdtype, root))

void coll_torcoll_set_rooted(mca_coll_base_module_t *module)
{
	module->coll_gather = gather;
	module->coll_igather = igather;
	module->coll_scatter = scatter;
	module->coll_iscatter = iscatter;
	module->coll_gatherv = gatherv;
	module->coll_igatherv = igatherv;
	module->coll_scatterv = scatterv;
	module->coll_iscatterv = iscatterv;
}
