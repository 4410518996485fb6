// SPDX-License-Identifier: MIT
/*
 * Persistent calls: arguments that are given once, for a request that is started
 * again and again. MPI lets ranks start the requests of a communicator in any
 * order, each its own, and the kernel matches the calls of a comm by their order:
 * so each request has a comm of its own, made when it is, which is when ranks may
 * wait for each other. That also tells whether the call runs in the kernel.
 */
#include "coll_torcoll.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/comms.h"

/* All that calls have as arguments; NULL is what a call has not, or what is not significant. */
struct args {
	void *buf;
	const void *sbuf;
	void *rbuf;
	int count;
	int scount;
	int rcount;
	const int *scounts;
	const int *sdispls;
	const int *rcounts;
	const int *rdispls;
	MPI_Datatype type;
	MPI_Datatype stype;
	MPI_Datatype rtype;
	const MPI_Datatype *stypes;
	const MPI_Datatype *rtypes;
	MPI_Op op;
	int root;
};

typedef int describe_fn(struct tmpi_call *call, const struct args *args);

struct coll_torcoll_again {
	struct torcoll_comm *tc;
	describe_fn *describe;
	struct args args;
	uint32_t size;
};

/* ---- calls by their arguments ---- */

/* F of each of up to nine names, between commas. */
#define EACH_1(F, a)		F(a)
#define EACH_2(F, a, ...)	F(a), EACH_1(F, __VA_ARGS__)
#define EACH_3(F, a, ...)	F(a), EACH_2(F, __VA_ARGS__)
#define EACH_4(F, a, ...)	F(a), EACH_3(F, __VA_ARGS__)
#define EACH_5(F, a, ...)	F(a), EACH_4(F, __VA_ARGS__)
#define EACH_6(F, a, ...)	F(a), EACH_5(F, __VA_ARGS__)
#define EACH_7(F, a, ...)	F(a), EACH_6(F, __VA_ARGS__)
#define EACH_8(F, a, ...)	F(a), EACH_7(F, __VA_ARGS__)
#define EACH_9(F, a, ...)	F(a), EACH_8(F, __VA_ARGS__)
#define EACH_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, each, ...)	each
#define EACH(F, ...)									\
	EACH_PICK(__VA_ARGS__, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3,	\
		  EACH_2, EACH_1, 0)(F, __VA_ARGS__)

#define LOAD(name)	args->name
#define SAVE(name)	.name = name

#define DEFINE_DESCRIBE(_name, _Name, _params, _args)					\
static int describe_##_name(struct tmpi_call *call, const struct args *args)		\
{											\
	return tmpi_describe_##_name(call, EACH(LOAD, TMPI_BARE _args));		\
}

TMPI_COLLECTIVES(DEFINE_DESCRIBE)

static int describe_barrier(struct tmpi_call *call, const struct args *args)
{
	return tmpi_barrier(call);
}

/* ---- keeping arguments ---- */

static const void *array_copy(const void *array, size_t bytes, int *err)
{
	void *copy;

	if (!array)
		return NULL;
	copy = malloc(bytes);
	if (!copy) {
		*err = -ENOMEM;
		return NULL;
	}
	return memcpy(copy, array, bytes);
}

/* Of a block of no elements MPI may have no type. Open MPI only counts who holds one. */
static void one_hold(MPI_Datatype type)
{
	if (type)
		tmpi_type_hold(&type);
}

static void one_release(MPI_Datatype type)
{
	if (type)
		tmpi_type_release(type);
}

static void types_hold(const MPI_Datatype *types, uint32_t n)
{
	for (uint32_t i = 0; types && i < n; i++)
		one_hold(types[i]);
}

static void types_release(const MPI_Datatype *types, uint32_t n)
{
	for (uint32_t i = 0; types && i < n; i++)
		one_release(types[i]);
}

/* What MPI ignores at this rank may be anything. */
static void args_drop_ignored(struct args *a, describe_fn *describe, bool at_root)
{
	bool gathers = describe == describe_gather || describe == describe_gatherv;
	bool scatters = describe == describe_scatter || describe == describe_scatterv;

	if (a->sbuf == MPI_IN_PLACE || (scatters && !at_root)) {
		a->scounts = NULL;
		a->sdispls = NULL;
		a->stype = NULL;
		a->stypes = NULL;
	}
	if (a->rbuf == MPI_IN_PLACE || (gathers && !at_root)) {
		a->rcounts = NULL;
		a->rdispls = NULL;
		a->rtype = NULL;
		a->rtypes = NULL;
	}
}

/* Copy arrays, and hold types: Open MPI does neither for these requests. */
static int args_keep(struct args *a, uint32_t n)
{
	int err = 0;

	a->scounts = array_copy(a->scounts, n * sizeof(*a->scounts), &err);
	a->sdispls = array_copy(a->sdispls, n * sizeof(*a->sdispls), &err);
	a->rcounts = array_copy(a->rcounts, n * sizeof(*a->rcounts), &err);
	a->rdispls = array_copy(a->rdispls, n * sizeof(*a->rdispls), &err);
	a->stypes = array_copy(a->stypes, n * sizeof(*a->stypes), &err);
	a->rtypes = array_copy(a->rtypes, n * sizeof(*a->rtypes), &err);
	types_hold(a->stypes, n);
	types_hold(a->rtypes, n);
	one_hold(a->type);
	one_hold(a->stype);
	one_hold(a->rtype);
	return err;
}

static void args_free(struct args *a, uint32_t n)
{
	types_release(a->stypes, n);
	types_release(a->rtypes, n);
	one_release(a->type);
	one_release(a->stype);
	one_release(a->rtype);
	free((void *)a->scounts);
	free((void *)a->sdispls);
	free((void *)a->rcounts);
	free((void *)a->rdispls);
	free((void *)a->stypes);
	free((void *)a->rtypes);
}

/* ---- requests ---- */

void coll_torcoll_again_abort(struct coll_torcoll_again *again)
{
	if (again)
		torcoll_abort(again->tc);
}

void coll_torcoll_again_free(struct coll_torcoll_again *again)
{
	if (!again)
		return;
	tmpi_close(again->tc);
	args_free(&again->args, again->size);
	free(again);
}

/* What was taken when the request was made is not left now: the arguments are the same. */
static void start(struct coll_torcoll_request *req)
{
	struct coll_torcoll_again *again = req->again;
	ompi_request_t *base = &req->super.super;
	int err;

	base->req_complete = REQUEST_PENDING;
	base->req_state = OMPI_REQUEST_ACTIVE;
	base->req_status.MPI_ERROR = MPI_SUCCESS;
	coll_torcoll_begin(req->module, &req->call);
	coll_torcoll.taken++;
	err = again->describe(&req->call, &again->args);
	tmpi_call_described(&req->call, err);
	if (!err && req->call.op.collective) {
		err = coll_torcoll_submit(req, again->tc);
		if (!err)
			return;
	}
	req->status = err;
	snprintf(req->why, sizeof(req->why), "%s", torcoll_last_error());
	coll_torcoll_complete(req);
}

static int start_all(size_t n, ompi_request_t **requests)
{
	for (size_t i = 0; i < n; i++)
		start((struct coll_torcoll_request *)requests[i]);
	return OMPI_SUCCESS;
}

/* Without its comm. NULL: no memory. */
static struct coll_torcoll_again *again_new(struct coll_torcoll_module *m, describe_fn *describe,
					    const struct args *args)
{
	struct coll_torcoll_again *again = calloc(1, sizeof(*again));

	if (!again)
		return NULL;
	again->describe = describe;
	again->args = *args;
	again->size = ompi_comm_size(m->comm);
	args_drop_ignored(&again->args, describe, ompi_comm_rank(m->comm) == args->root);
	if (args_keep(&again->args, again->size)) {
		coll_torcoll_again_free(again);
		return NULL;
	}
	return again;
}

/* The same. */
static struct coll_torcoll_request *request_new(struct coll_torcoll_module *m, describe_fn *describe,
						const struct args *args)
{
	struct coll_torcoll_again *again = again_new(m, describe, args);
	struct coll_torcoll_request *req = again ? coll_torcoll_request_new(m) : NULL;

	if (!req) {
		coll_torcoll_again_free(again);
		return NULL;
	}
	req->again = again;
	OMPI_REQUEST_INIT(&req->super.super, true);
	req->super.super.req_start = start_all;
	return req;
}

/* Whether a call is one for the kernel. It is described, and does not run. */
static bool is_taken(struct coll_torcoll_module *m, describe_fn *describe, const struct args *args)
{
	struct tmpi_call call;
	int ret;

	coll_torcoll_begin(m, &call);
	ret = describe(&call, args);
	if (ret == TMPI_LEFT)
		return false;
	tmpi_call_finish(&call, -ECANCELED);
	return true;
}

/*
 * Make a request, or return TMPI_LEFT, on all ranks. What a rank needs it has before
 * they join: if one has not, all are told.
 */
static int init(mca_coll_base_module_t *module, describe_fn *describe, const struct args *args,
		ompi_request_t **request)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	struct coll_torcoll_request *req;
	struct torcoll_comm *tc;

	if (!coll_torcoll_attached(m) || m->short_of_comms || !is_taken(m, describe, args))
		return TMPI_LEFT;
	req = request_new(m, describe, args);
	tc = coll_torcoll_join(m, req);
	if (!tc) {
		if (req)
			coll_torcoll_request_drop(req);
		/* the same on all ranks, of which one says so */
		if (m->short_of_comms && !ompi_comm_rank(m->comm))
			opal_output(coll_torcoll.output,
				    "coll:torcoll: %s: persistent calls made from now on are left to other components: not all ranks could make a comm for one (coll_torcoll_verbose 1 says why)",
				    m->comm->c_name);
		return TMPI_LEFT;
	}
	req->again->tc = tc;
	*request = &req->super.super;
	return OMPI_SUCCESS;
}

/* ---- the functions of a module ---- */

#define DEFINE_INIT(_name, _Name, _params, _args)					\
static int _name##_init(TMPI_BARE _params, struct ompi_communicator_t *comm,		\
			struct ompi_info_t *info, ompi_request_t **request,		\
			mca_coll_base_module_t *module)					\
{											\
	const struct args args = { EACH(SAVE, TMPI_BARE _args) };			\
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;		\
	int ret = init(module, describe_##_name, &args, request);			\
											\
	if (ret != TMPI_LEFT)								\
		return ret;								\
	return m->lower.coll_##_name##_init(TMPI_BARE _args, comm, info, request,	\
					    m->lower.coll_##_name##_init_module);	\
}

TMPI_COLLECTIVES(DEFINE_INIT)

static int barrier_init(struct ompi_communicator_t *comm, struct ompi_info_t *info,
			ompi_request_t **request, mca_coll_base_module_t *module)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;
	const struct args args = { 0 };
	int ret = init(module, describe_barrier, &args, request);

	if (ret != TMPI_LEFT)
		return ret;
	return m->lower.coll_barrier_init(comm, info, request, m->lower.coll_barrier_init_module);
}

#define SET(_name, _Name, _params, _args)						\
	module->coll_##_name##_init = _name##_init;

void coll_torcoll_set_persistent(mca_coll_base_module_t *module)
{
	module->coll_barrier_init = barrier_init;
	TMPI_COLLECTIVES(SET)
}
