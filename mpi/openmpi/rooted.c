// SPDX-License-Identifier: MIT
/* The functions of a module that gather data at a rank, and scatter it from there. */
#include "coll_torcoll.h"

/* What is not significant at a rank is not looked at: a block of it has the same bytes on all. */
static int gather_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
		       int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
		       struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, call->size, rcount, rdtype);
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &recv : &send;

	if (coll_torcoll_aside(call->size * tmpi_block_bytes(any, 0)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_gather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv, root);
}

static int scatter_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
			struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, call->size, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, 1, rcount, rdtype);
	const struct tmpi_blocks *any = call->rank == (uint32_t)root ? &send : &recv;

	if (coll_torcoll_aside(call->size * tmpi_block_bytes(any, 0)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_scatter(call, &send, rbuf == MPI_IN_PLACE ? NULL : &recv, root);
}

static int gatherv_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			int scount, struct ompi_datatype_t *sdtype, void *rbuf, const int *rcounts,
			const int *rdisps, struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, rdtype);

	return tmpi_gatherv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv, root);
}

static int scatterv_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			 const int *scounts, const int *sdisps, struct ompi_datatype_t *sdtype,
			 void *rbuf, int rcount, struct ompi_datatype_t *rdtype, int root)
{
	struct tmpi_blocks send = coll_torcoll_blocks_at(sbuf, call->size, scounts, sdisps, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, 1, rcount, rdtype);

	return tmpi_scatterv(call, &send, rbuf == MPI_IN_PLACE ? NULL : &recv, root);
}

static int gather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		  int rcount, struct ompi_datatype_t *rdtype, int root,
		  struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = gather_call(m, &call, sbuf, scount, sdtype, rbuf, rcount, rdtype, root);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_gather(sbuf, scount, sdtype, rbuf, rcount, rdtype, root, comm,
					    m->lower.coll_gather_module);
	return coll_torcoll_run(m, &call, ret);
}

static int igather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		   int rcount, struct ompi_datatype_t *rdtype, int root,
		   struct ompi_communicator_t *comm, ompi_request_t **request,
		   mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = gather_call(m, &req->call, sbuf, scount, sdtype, rbuf, rcount, rdtype, root);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_igather(sbuf, scount, sdtype, rbuf, rcount, rdtype, root, comm,
				     request, m->lower.coll_igather_module);
}

static int scatter(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		   int rcount, struct ompi_datatype_t *rdtype, int root,
		   struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = scatter_call(m, &call, sbuf, scount, sdtype, rbuf, rcount, rdtype, root);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_scatter(sbuf, scount, sdtype, rbuf, rcount, rdtype, root, comm,
					     m->lower.coll_scatter_module);
	return coll_torcoll_run(m, &call, ret);
}

static int iscatter(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		    int rcount, struct ompi_datatype_t *rdtype, int root,
		    struct ompi_communicator_t *comm, ompi_request_t **request,
		    mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = scatter_call(m, &req->call, sbuf, scount, sdtype, rbuf, rcount, rdtype, root);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_iscatter(sbuf, scount, sdtype, rbuf, rcount, rdtype, root, comm,
				      request, m->lower.coll_iscatter_module);
}

static int gatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		   const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype, int root,
		   struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = gatherv_call(m, &call, sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype, root);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_gatherv(sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype,
					     root, comm, m->lower.coll_gatherv_module);
	return coll_torcoll_run(m, &call, ret);
}

static int igatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		    const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype, int root,
		    struct ompi_communicator_t *comm, ompi_request_t **request,
		    mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = gatherv_call(m, &req->call, sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype,
			   root);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_igatherv(sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype, root,
				      comm, request, m->lower.coll_igatherv_module);
}

static int scatterv(const void *sbuf, const int *scounts, const int *sdisps,
		    struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
		    struct ompi_datatype_t *rdtype, int root, struct ompi_communicator_t *comm,
		    mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = scatterv_call(m, &call, sbuf, scounts, sdisps, sdtype, rbuf, rcount, rdtype, root);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_scatterv(sbuf, scounts, sdisps, sdtype, rbuf, rcount, rdtype,
					      root, comm, m->lower.coll_scatterv_module);
	return coll_torcoll_run(m, &call, ret);
}

static int iscatterv(const void *sbuf, const int *scounts, const int *sdisps,
		     struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
		     struct ompi_datatype_t *rdtype, int root, struct ompi_communicator_t *comm,
		     ompi_request_t **request, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = scatterv_call(m, &req->call, sbuf, scounts, sdisps, sdtype, rbuf, rcount, rdtype,
			    root);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_iscatterv(sbuf, scounts, sdisps, sdtype, rbuf, rcount, rdtype, root,
				       comm, request, m->lower.coll_iscatterv_module);
}

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
