// SPDX-License-Identifier: MIT
/* The functions of a module that reduce, and the barrier. */
#include "functions.h"

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

static int allreduce_call(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
			  struct ompi_datatype_t *dtype, struct ompi_op_t *op)
{
	return vector_call(call, TORCOLL_ALLREDUCE, sbuf, rbuf, count, dtype, op, 0);
}

COLL_TORCOLL_DEFINE(allreduce,
	(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
	 struct ompi_op_t *op),
	(sbuf, rbuf, count, dtype, op))

static int reduce_call(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
		       struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root)
{
	return vector_call(call, TORCOLL_REDUCE, sbuf, rbuf, count, dtype, op, root);
}

COLL_TORCOLL_DEFINE(reduce,
	(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
	 struct ompi_op_t *op, int root),
	(sbuf, rbuf, count, dtype, op, root))

static int scan_call(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
		     struct ompi_datatype_t *dtype, struct ompi_op_t *op)
{
	return vector_call(call, TORCOLL_SCAN, sbuf, rbuf, count, dtype, op, 0);
}

COLL_TORCOLL_DEFINE(scan,
	(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
	 struct ompi_op_t *op),
	(sbuf, rbuf, count, dtype, op))

static int exscan_call(struct tmpi_call *call, const void *sbuf, void *rbuf, int count,
		       struct ompi_datatype_t *dtype, struct ompi_op_t *op)
{
	return vector_call(call, TORCOLL_EXSCAN, sbuf, rbuf, count, dtype, op, 0);
}

COLL_TORCOLL_DEFINE(exscan,
	(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
	 struct ompi_op_t *op),
	(sbuf, rbuf, count, dtype, op))

static int reduce_scatter_call(struct tmpi_call *call, const void *sbuf, void *rbuf,
			       const int *rcounts, struct ompi_datatype_t *dtype,
			       struct ompi_op_t *op)
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

COLL_TORCOLL_DEFINE(reduce_scatter,
	(const void *sbuf, void *rbuf, const int *rcounts, struct ompi_datatype_t *dtype,
	 struct ompi_op_t *op),
	(sbuf, rbuf, rcounts, dtype, op))

static int reduce_scatter_block_call(struct tmpi_call *call, const void *sbuf, void *rbuf,
				     int rcount, struct ompi_datatype_t *dtype,
				     struct ompi_op_t *op)
{
	struct tmpi_reduction r;

	if (!coll_torcoll_reduction(dtype, op, &r))
		return coll_torcoll_leave(COLL_TORCOLL_OPERATOR);
	if (coll_torcoll_aside((uint64_t)rcount * call->size * tmpi_type_size(dtype)))
		return coll_torcoll_leave(COLL_TORCOLL_SIZE);
	return tmpi_reduce_scatter(call, in_place(sbuf), rbuf, NULL, rcount, &r);
}

COLL_TORCOLL_DEFINE(reduce_scatter_block,
	(const void *sbuf, void *rbuf, int rcount, struct ompi_datatype_t *dtype,
	 struct ompi_op_t *op),
	(sbuf, rbuf, rcount, dtype, op))

static int barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct tmpi_call call;

	if (!coll_torcoll_attached(m))
		return m->lower.coll_barrier(comm, m->lower.coll_barrier_module);
	coll_torcoll_begin(m, &call);
	return coll_torcoll_run(m, &call, tmpi_barrier(&call));
}

static int ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request,
		    mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req;

	if (!coll_torcoll_may_start(m))
		return m->lower.coll_ibarrier(comm, request, m->lower.coll_ibarrier_module);
	req = coll_torcoll_request_new(m);
	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	return coll_torcoll_start(req, tmpi_barrier(&req->call), request);
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
