// SPDX-License-Identifier: MIT
/*
 * MPI's functions of collectives: two of each, which differ only in what they
 * are given. Fortran's call them as well.
 */
#include "preload.h"

#define DEFINE(_name, _Name, _params, _args)						\
int MPI_##_Name(TMPI_BARE _params, MPI_Comm comm)					\
{											\
	struct preload_comm *c = preload_attached(comm);				\
	struct tmpi_call call;								\
	int ret = TMPI_LEFT;								\
											\
	if (c) {									\
		tmpi_call_init(&call, c->rank, c->size);				\
		ret = tmpi_describe_##_name(&call, TMPI_BARE _args);			\
	}										\
	if (ret != TMPI_LEFT)								\
		return preload_run(c, &call, ret);					\
	return PMPI_##_Name(TMPI_BARE _args, comm);					\
}

#define DEFINE_I(_name, _Name, _params, _args)						\
int MPI_I##_name(TMPI_BARE _params, MPI_Comm comm, MPI_Request *request)		\
{											\
	struct preload_comm *c = preload_may_start(comm);				\
	struct tmpi_call call;								\
	int ret = TMPI_LEFT;								\
											\
	if (c) {									\
		tmpi_call_init(&call, c->rank, c->size);				\
		ret = tmpi_describe_##_name(&call, TMPI_BARE _args);			\
	}										\
	if (ret != TMPI_LEFT)								\
		return preload_start(c, &call, ret, request);				\
	return preload_started(PMPI_I##_name(TMPI_BARE _args, comm, request));		\
}

TMPI_COLLECTIVES(DEFINE)
TMPI_COLLECTIVES(DEFINE_I)

int MPI_Barrier(MPI_Comm comm)
{
	struct preload_comm *c = preload_attached(comm);
	struct tmpi_call call;

	if (!c)
		return PMPI_Barrier(comm);
	tmpi_call_init(&call, c->rank, c->size);
	return preload_run(c, &call, tmpi_barrier(&call));
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
	struct preload_comm *c = preload_may_start(comm);
	struct tmpi_call call;

	if (!c)
		return preload_started(PMPI_Ibarrier(comm, request));
	tmpi_call_init(&call, c->rank, c->size);
	return preload_start(c, &call, tmpi_barrier(&call), request);
}
