// SPDX-License-Identifier: MIT
/*
 * The functions of a module: two of each collective, which differ only in what
 * they are given.
 */
#include "coll_torcoll.h"

#define COLL_TORCOLL_DEFINE(_name, _Name, _params, _args)				\
static int _name(TMPI_BARE _params, struct ompi_communicator_t *comm,			\
		 mca_coll_base_module_t *module)					\
{											\
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;		\
	struct tmpi_call call;								\
	int ret = TMPI_LEFT;								\
											\
	if (coll_torcoll_attached(m)) {							\
		coll_torcoll_begin(m, &call);						\
		ret = tmpi_describe_##_name(&call, TMPI_BARE _args);			\
	}										\
	if (ret != TMPI_LEFT)								\
		return coll_torcoll_run(m, &call, ret);					\
	return m->lower.coll_##_name(TMPI_BARE _args, comm,				\
				     m->lower.coll_##_name##_module);			\
}											\
											\
static int i##_name(TMPI_BARE _params, struct ompi_communicator_t *comm,		\
		    ompi_request_t **request, mca_coll_base_module_t *module)		\
{											\
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;		\
	struct tmpi_call call;								\
	int ret = TMPI_LEFT;								\
											\
	if (coll_torcoll_may_start(m)) {						\
		coll_torcoll_begin(m, &call);						\
		ret = tmpi_describe_##_name(&call, TMPI_BARE _args);			\
	}										\
	if (ret != TMPI_LEFT)								\
		return coll_torcoll_start(m, &call, ret, request);			\
	return m->lower.coll_i##_name(TMPI_BARE _args, comm, request,			\
				      m->lower.coll_i##_name##_module);			\
}

TMPI_COLLECTIVES(COLL_TORCOLL_DEFINE)

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
	struct tmpi_call call;

	if (!coll_torcoll_may_start(m))
		return m->lower.coll_ibarrier(comm, request, m->lower.coll_ibarrier_module);
	coll_torcoll_begin(m, &call);
	return coll_torcoll_start(m, &call, tmpi_barrier(&call), request);
}

/*
 * Open MPI makes communicators by iallreduces of their parent, for MPI_Comm_idup
 * from opal_progress(), so at a place among the program's calls that differs from
 * rank to rank; and the kernel matches calls by their order. What could be one of
 * these is left, the program's own as well, since nothing tells them apart; so
 * these are not counted.
 */
static int iallreduce_or_leave(const void *sbuf, void *rbuf, int count, MPI_Datatype type,
			       MPI_Op op, struct ompi_communicator_t *comm,
			       ompi_request_t **request, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;

	if (count != 1 || type != MPI_INT || (op != MPI_MAX && op != MPI_MIN))
		return iallreduce(sbuf, rbuf, count, type, op, comm, request, module);
	return m->lower.coll_iallreduce(sbuf, rbuf, count, type, op, comm, request,
					m->lower.coll_iallreduce_module);
}

#define SET(_name, _Name, _params, _args)						\
	module->coll_##_name = _name;							\
	module->coll_i##_name = i##_name;

void coll_torcoll_set_functions(mca_coll_base_module_t *module)
{
	module->coll_barrier = barrier;
	module->coll_ibarrier = ibarrier;
	TMPI_COLLECTIVES(SET)
	module->coll_iallreduce = iallreduce_or_leave;
}
