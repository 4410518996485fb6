// SPDX-License-Identifier: MIT
/* The functions of a module that copy data from a rank to all, and gather it on all. */
#include "coll_torcoll.h"

static int bcast_call(struct coll_torcoll_module *m, struct tmpi_call *call, void *buf, int count,
		      struct ompi_datatype_t *dtype, int root)
{
	struct tmpi_blocks data = coll_torcoll_blocks(buf, 1, count, dtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&data, 1)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_bcast(call, &data, root);
}

static int allgather_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			  int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
			  struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, call->size, rcount, rdtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&recv, call->size)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_allgather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

static int allgatherv_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			   int scount, struct ompi_datatype_t *sdtype, void *rbuf,
			   const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, 1, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, rdtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&recv, call->size)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_allgather(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

static int alltoall_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			 int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
			 struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks(sbuf, call->size, scount, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks(rbuf, call->size, rcount, rdtype);

	if (coll_torcoll_aside(tmpi_blocks_bytes(&recv, call->size)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_alltoall(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

static int alltoallv_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			  const int *scounts, const int *sdisps, struct ompi_datatype_t *sdtype,
			  void *rbuf, const int *rcounts, const int *rdisps,
			  struct ompi_datatype_t *rdtype)
{
	struct tmpi_blocks send = coll_torcoll_blocks_at(sbuf, call->size, scounts, sdisps, sdtype);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, rdtype);

	return tmpi_alltoallv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

/* With a type for each block, and displacements in bytes. */
static int alltoallw_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			  const int *scounts, const int *sdisps,
			  struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts,
			  const int *rdisps, struct ompi_datatype_t *const *rdtypes)
{
	struct tmpi_blocks send = coll_torcoll_blocks_at(sbuf, call->size, scounts, sdisps, NULL);
	struct tmpi_blocks recv = coll_torcoll_blocks_at(rbuf, call->size, rcounts, rdisps, NULL);

	send.types = (const void *const *)sdtypes;
	recv.types = (const void *const *)rdtypes;
	return tmpi_alltoallv(call, sbuf == MPI_IN_PLACE ? NULL : &send, &recv);
}

static int bcast(void *buf, int count, struct ompi_datatype_t *dtype, int root,
		 struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = bcast_call(m, &call, buf, count, dtype, root);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_bcast(buf, count, dtype, root, comm,
					   m->lower.coll_bcast_module);
	return coll_torcoll_run(m, &call, ret);
}

static int ibcast(void *buf, int count, struct ompi_datatype_t *dtype, int root,
		  struct ompi_communicator_t *comm, ompi_request_t **request,
		  mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = bcast_call(m, &req->call, buf, count, dtype, root);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_ibcast(buf, count, dtype, root, comm, request,
				    m->lower.coll_ibcast_module);
}

static int allgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		     int rcount, struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
		     mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = allgather_call(m, &call, sbuf, scount, sdtype, rbuf, rcount, rdtype);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_allgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
					       m->lower.coll_allgather_module);
	return coll_torcoll_run(m, &call, ret);
}

static int iallgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		      int rcount, struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
		      ompi_request_t **request, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = allgather_call(m, &req->call, sbuf, scount, sdtype, rbuf, rcount, rdtype);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_iallgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, request,
					m->lower.coll_iallgather_module);
}

static int allgatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		      const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype,
		      struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = allgatherv_call(m, &call, sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_allgatherv(sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype,
						comm, m->lower.coll_allgatherv_module);
	return coll_torcoll_run(m, &call, ret);
}

static int iallgatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		       const int *rcounts, const int *rdisps, struct ompi_datatype_t *rdtype,
		       struct ompi_communicator_t *comm, ompi_request_t **request,
		       mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = allgatherv_call(m, &req->call, sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_iallgatherv(sbuf, scount, sdtype, rbuf, rcounts, rdisps, rdtype, comm,
					 request, m->lower.coll_iallgatherv_module);
}

static int alltoall(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		    int rcount, struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
		    mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = alltoall_call(m, &call, sbuf, scount, sdtype, rbuf, rcount, rdtype);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_alltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
					      m->lower.coll_alltoall_module);
	return coll_torcoll_run(m, &call, ret);
}

static int ialltoall(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf,
		     int rcount, struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
		     ompi_request_t **request, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = alltoall_call(m, &req->call, sbuf, scount, sdtype, rbuf, rcount, rdtype);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_ialltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, request,
				       m->lower.coll_ialltoall_module);
}

static int alltoallv(const void *sbuf, const int *scounts, const int *sdisps,
		     struct ompi_datatype_t *sdtype, void *rbuf, const int *rcounts,
		     const int *rdisps, struct ompi_datatype_t *rdtype,
		     struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = alltoallv_call(m, &call, sbuf, scounts, sdisps, sdtype, rbuf, rcounts, rdisps,
			     rdtype);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_alltoallv(sbuf, scounts, sdisps, sdtype, rbuf, rcounts, rdisps,
					       rdtype, comm, m->lower.coll_alltoallv_module);
	return coll_torcoll_run(m, &call, ret);
}

static int ialltoallv(const void *sbuf, const int *scounts, const int *sdisps,
		      struct ompi_datatype_t *sdtype, void *rbuf, const int *rcounts,
		      const int *rdisps, struct ompi_datatype_t *rdtype,
		      struct ompi_communicator_t *comm, ompi_request_t **request,
		      mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = alltoallv_call(m, &req->call, sbuf, scounts, sdisps, sdtype, rbuf, rcounts, rdisps,
			     rdtype);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_ialltoallv(sbuf, scounts, sdisps, sdtype, rbuf, rcounts, rdisps,
					rdtype, comm, request, m->lower.coll_ialltoallv_module);
}

static int alltoallw(const void *sbuf, const int *scounts, const int *sdisps,
		     struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts,
		     const int *rdisps, struct ompi_datatype_t *const *rdtypes,
		     struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = alltoallw_call(m, &call, sbuf, scounts, sdisps, sdtypes, rbuf, rcounts, rdisps,
			     rdtypes);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_alltoallw(sbuf, scounts, sdisps, sdtypes, rbuf, rcounts,
					       rdisps, rdtypes, comm,
					       m->lower.coll_alltoallw_module);
	return coll_torcoll_run(m, &call, ret);
}

static int ialltoallw(const void *sbuf, const int *scounts, const int *sdisps,
		      struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts,
		      const int *rdisps, struct ompi_datatype_t *const *rdtypes,
		      struct ompi_communicator_t *comm, ompi_request_t **request,
		      mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = alltoallw_call(m, &req->call, sbuf, scounts, sdisps, sdtypes, rbuf, rcounts, rdisps,
			     rdtypes);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_ialltoallw(sbuf, scounts, sdisps, sdtypes, rbuf, rcounts, rdisps,
					rdtypes, comm, request, m->lower.coll_ialltoallw_module);
}

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
