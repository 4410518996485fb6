/* SPDX-License-Identifier: MIT */
/*
 * The two functions of a collective: all of them differ only in what they are
 * given. NAME_call() describes the call, or says that it is for the lower
 * component.
 */
#ifndef COLL_TORCOLL_FUNCTIONS_H
#define COLL_TORCOLL_FUNCTIONS_H

#include "coll_torcoll.h"

#define COLL_TORCOLL_BARE(...)	__VA_ARGS__

/* Define NAME() and iNAME(); parameters and arguments in parentheses, as those of NAME_call(). */
#define COLL_TORCOLL_DEFINE(_name, _params, _args)						\
static int _name(COLL_TORCOLL_BARE _params, struct ompi_communicator_t *comm,			\
		 mca_coll_base_module_t *module)						\
{												\
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;			\
	struct tmpi_call call;									\
	int ret;										\
												\
	ret = COLL_TORCOLL_LOWER;								\
	if (coll_torcoll_attached(m)) {								\
		coll_torcoll_begin(m, &call);							\
		ret = _name##_call(&call, COLL_TORCOLL_BARE _args);				\
	}											\
	if (ret != COLL_TORCOLL_LOWER)								\
		return coll_torcoll_run(m, &call, ret);						\
	return m->lower.coll_##_name(COLL_TORCOLL_BARE _args, comm,				\
				     m->lower.coll_##_name##_module);				\
}												\
												\
static int i##_name(COLL_TORCOLL_BARE _params, struct ompi_communicator_t *comm,		\
		    ompi_request_t **request, mca_coll_base_module_t *module)			\
{												\
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;			\
	struct coll_torcoll_request *req;							\
	int ret;										\
												\
	if (coll_torcoll_may_start(m)) {							\
		req = coll_torcoll_request_new(m);						\
		if (!req)									\
			return OMPI_ERR_OUT_OF_RESOURCE;					\
		ret = _name##_call(&req->call, COLL_TORCOLL_BARE _args);			\
		if (ret != COLL_TORCOLL_LOWER)							\
			return coll_torcoll_start(req, ret, request);				\
		coll_torcoll_request_drop(req);							\
	}											\
	return m->lower.coll_i##_name(COLL_TORCOLL_BARE _args, comm, request,			\
				      m->lower.coll_i##_name##_module);				\
}

#endif
