// SPDX-License-Identifier: MIT
/* The functions of a module that reduce, and the barrier. */
#include "coll_torcoll.h"

static const void *in_place(const void *sbuf)
{
	return sbuf == MPI_IN_PLACE ? NULL : sbuf;
}

/* Of one vector on each rank. */
static int vector_call(struct tmpi_call *call, enum torcoll_collective collective, const void *sbuf,
		       void *rbuf, int count, struct ompi_datatype_t *dtype, struct ompi_op_t *op,
		       int root)
{
	struct tmpi_reduction r;

	if (!coll_torcoll_reduction(dtype, op, &r))
		return coll_torcoll_leave(COLL_TORCOLL_OPERATOR);
	if (coll_torcoll_aside(count * tmpi_type_size(dtype)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_reduce(call, collective, in_place(sbuf), rbuf, count, &r, root);
}

static int allreduce_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
			  void *rbuf, int count, struct ompi_datatype_t *dtype,
			  struct ompi_op_t *op)
{
	return vector_call(call, TORCOLL_ALLREDUCE, sbuf, rbuf, count, dtype, op, 0);
}

static int reduce_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
		       void *rbuf, int count, struct ompi_datatype_t *dtype, struct ompi_op_t *op,
		       int root)
{
	return vector_call(call, TORCOLL_REDUCE, sbuf, rbuf, count, dtype, op, root);
}

static int scan_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
		     void *rbuf, int count, struct ompi_datatype_t *dtype, struct ompi_op_t *op)
{
	return vector_call(call, TORCOLL_SCAN, sbuf, rbuf, count, dtype, op, 0);
}

static int exscan_call(struct coll_torcoll_module *m, struct tmpi_call *call, const void *sbuf,
		       void *rbuf, int count, struct ompi_datatype_t *dtype, struct ompi_op_t *op)
{
	return vector_call(call, TORCOLL_EXSCAN, sbuf, rbuf, count, dtype, op, 0);
}

static int reduce_scatter_call(struct coll_torcoll_module *m, struct tmpi_call *call,
			       const void *sbuf, void *rbuf, const int *rcounts,
			       struct ompi_datatype_t *dtype, struct ompi_op_t *op)
{
	struct tmpi_reduction r;
	uint64_t count = 0;

	if (!coll_torcoll_reduction(dtype, op, &r))
		return coll_torcoll_leave(COLL_TORCOLL_OPERATOR);
	for (uint32_t i = 0; i < call->size; i++)
		count += rcounts[i];
	if (coll_torcoll_aside(count * tmpi_type_size(dtype)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_reduce_scatter(call, in_place(sbuf), rbuf, rcounts, 0, &r);
}

static int reduce_scatter_block_call(struct coll_torcoll_module *m, struct tmpi_call *call,
				     const void *sbuf, void *rbuf, int rcount,
				     struct ompi_datatype_t *dtype, struct ompi_op_t *op)
{
	struct tmpi_reduction r;

	if (!coll_torcoll_reduction(dtype, op, &r))
		return coll_torcoll_leave(COLL_TORCOLL_OPERATOR);
	if (coll_torcoll_aside((uint64_t)rcount * call->size * tmpi_type_size(dtype)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_reduce_scatter(call, in_place(sbuf), rbuf, NULL, rcount, &r);
}

static int barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;

	coll_torcoll_begin(m, &call);
	return coll_torcoll_run(m, &call, tmpi_barrier(&call));
}

static int ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request,
		    mca_coll_base_module_t *module)
{
	struct coll_torcoll_request *req;

	req = coll_torcoll_request_new((struct coll_torcoll_module *)module);
	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	return coll_torcoll_start(req, tmpi_barrier(&req->call), request);
}

static int allreduce(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		     struct ompi_op_t *op, struct ompi_communicator_t *comm,
		     mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = allreduce_call(m, &call, sbuf, rbuf, count, dtype, op);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_allreduce(sbuf, rbuf, count, dtype, op, comm,
					       m->lower.coll_allreduce_module);
	return coll_torcoll_run(m, &call, ret);
}

static int iallreduce(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		      struct ompi_op_t *op, struct ompi_communicator_t *comm,
		      ompi_request_t **request, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = allreduce_call(m, &req->call, sbuf, rbuf, count, dtype, op);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_iallreduce(sbuf, rbuf, count, dtype, op, comm, request,
					m->lower.coll_iallreduce_module);
}

static int reduce(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		  struct ompi_op_t *op, int root, struct ompi_communicator_t *comm,
		  mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = reduce_call(m, &call, sbuf, rbuf, count, dtype, op, root);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_reduce(sbuf, rbuf, count, dtype, op, root, comm,
					    m->lower.coll_reduce_module);
	return coll_torcoll_run(m, &call, ret);
}

static int ireduce(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		   struct ompi_op_t *op, int root, struct ompi_communicator_t *comm,
		   ompi_request_t **request, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = reduce_call(m, &req->call, sbuf, rbuf, count, dtype, op, root);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_ireduce(sbuf, rbuf, count, dtype, op, root, comm, request,
				     m->lower.coll_ireduce_module);
}

static int scan(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		struct ompi_op_t *op, struct ompi_communicator_t *comm,
		mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = scan_call(m, &call, sbuf, rbuf, count, dtype, op);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_scan(sbuf, rbuf, count, dtype, op, comm,
					  m->lower.coll_scan_module);
	return coll_torcoll_run(m, &call, ret);
}

static int iscan(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		 struct ompi_op_t *op, struct ompi_communicator_t *comm, ompi_request_t **request,
		 mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = scan_call(m, &req->call, sbuf, rbuf, count, dtype, op);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_iscan(sbuf, rbuf, count, dtype, op, comm, request,
				   m->lower.coll_iscan_module);
}

static int exscan(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		  struct ompi_op_t *op, struct ompi_communicator_t *comm,
		  mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = exscan_call(m, &call, sbuf, rbuf, count, dtype, op);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_exscan(sbuf, rbuf, count, dtype, op, comm,
					    m->lower.coll_exscan_module);
	return coll_torcoll_run(m, &call, ret);
}

static int iexscan(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
		   struct ompi_op_t *op, struct ompi_communicator_t *comm, ompi_request_t **request,
		   mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = exscan_call(m, &req->call, sbuf, rbuf, count, dtype, op);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_iexscan(sbuf, rbuf, count, dtype, op, comm, request,
				     m->lower.coll_iexscan_module);
}

static int reduce_scatter(const void *sbuf, void *rbuf, const int *rcounts,
			  struct ompi_datatype_t *dtype, struct ompi_op_t *op,
			  struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = reduce_scatter_call(m, &call, sbuf, rbuf, rcounts, dtype, op);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_reduce_scatter(sbuf, rbuf, rcounts, dtype, op, comm,
						    m->lower.coll_reduce_scatter_module);
	return coll_torcoll_run(m, &call, ret);
}

static int ireduce_scatter(const void *sbuf, void *rbuf, const int *rcounts,
			   struct ompi_datatype_t *dtype, struct ompi_op_t *op,
			   struct ompi_communicator_t *comm, ompi_request_t **request,
			   mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = reduce_scatter_call(m, &req->call, sbuf, rbuf, rcounts, dtype, op);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_ireduce_scatter(sbuf, rbuf, rcounts, dtype, op, comm, request,
					     m->lower.coll_ireduce_scatter_module);
}

static int reduce_scatter_block(const void *sbuf, void *rbuf, int rcount,
				struct ompi_datatype_t *dtype, struct ompi_op_t *op,
				struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = reduce_scatter_block_call(m, &call, sbuf, rbuf, rcount, dtype, op);
	if (ret == COLL_TORCOLL_LOWER)
		return m->lower.coll_reduce_scatter_block(sbuf, rbuf, rcount, dtype, op, comm,
							  m->lower.coll_reduce_scatter_block_module);
	return coll_torcoll_run(m, &call, ret);
}

static int ireduce_scatter_block(const void *sbuf, void *rbuf, int rcount,
				 struct ompi_datatype_t *dtype, struct ompi_op_t *op,
				 struct ompi_communicator_t *comm, ompi_request_t **request,
				 mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);
	int ret;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = reduce_scatter_block_call(m, &req->call, sbuf, rbuf, rcount, dtype, op);
	if (ret != COLL_TORCOLL_LOWER)
		return coll_torcoll_start(req, ret, request);
	coll_torcoll_request_drop(req);
	return m->lower.coll_ireduce_scatter_block(sbuf, rbuf, rcount, dtype, op, comm, request,
						   m->lower.coll_ireduce_scatter_block_module);
}

void coll_torcoll_set_reduce(mca_coll_base_module_t *module)
{
	module->coll_barrier = barrier;
	module->coll_ibarrier = ibarrier;
	module->coll_allreduce = allreduce;
	module->coll_iallreduce = iallreduce;
	module->coll_reduce = reduce;
	module->coll_ireduce = ireduce;
	module->coll_scan = scan;
	module->coll_iscan = iscan;
	module->coll_exscan = exscan;
	module->coll_iexscan = iexscan;
	module->coll_reduce_scatter = reduce_scatter;
	module->coll_ireduce_scatter = ireduce_scatter;
	module->coll_reduce_scatter_block = reduce_scatter_block;
	module->coll_ireduce_scatter_block = ireduce_scatter_block;
}
