// SPDX-License-Identifier: MIT
/*
 * Requests. The kernel runs the calls; opal_progress() looks for those that are
 * done. The library queues those for which the kernel has no room.
 */
#include "coll_torcoll.h"

#include <errno.h>
#include <stdio.h>

#include "opal/runtime/opal_progress.h"

#include "../common/comms.h"

OBJ_CLASS_INSTANCE(coll_torcoll_request_t, ompi_coll_base_nbc_request_t, NULL, NULL);

static int request_free(ompi_request_t **request)
{
	struct coll_torcoll_request *req = (struct coll_torcoll_request *)*request;

	if (!REQUEST_COMPLETE(*request))
		return MPI_ERR_REQUEST;
	coll_torcoll_request_drop(req);
	*request = MPI_REQUEST_NULL;
	return OMPI_SUCCESS;
}

static int request_cancel(ompi_request_t *request, int flag)
{
	return MPI_ERR_REQUEST;
}

struct coll_torcoll_request *coll_torcoll_request_new(struct coll_torcoll_module *m)
{
	struct coll_torcoll_request *req = OBJ_NEW(coll_torcoll_request_t);
	ompi_request_t *base;

	if (!req)
		return NULL;
	base = &req->super.super;
	OMPI_REQUEST_INIT(base, false);
	base->req_state = OMPI_REQUEST_ACTIVE;
	base->req_type = OMPI_REQUEST_COLL;
	base->req_mpi_object.comm = m->comm;
	base->req_status.MPI_ERROR = MPI_SUCCESS;
	base->req_status._cancelled = 0;
	base->req_free = request_free;
	base->req_cancel = request_cancel;
	/* a program may free the communicator meanwhile; failures name it */
	OBJ_RETAIN(m->comm);
	OBJ_RETAIN(m);
	req->module = m;
	req->again = NULL;
	coll_torcoll_begin(m, &req->call);
	return req;
}

/*
 * Whether Open MPI is going to look for the error handler of a communicator that
 * has no other user: the program has freed it, and then waited for a call on it.
 */
static bool comm_is_needed(const struct coll_torcoll_request *req)
{
	const opal_object_t *comm = (const opal_object_t *)req->module->comm;

	return COLL_TORCOLL_TELLS_COMM && req->super.super.req_status.MPI_ERROR &&
	       comm->obj_reference_count == 1;
}

void coll_torcoll_request_drop(struct coll_torcoll_request *req)
{
	struct coll_torcoll_module *m = req->module;
	struct ompi_communicator_t *comm = m->comm;
	bool needed = comm_is_needed(req);

	OMPI_REQUEST_FINI(&req->super.super);
	coll_torcoll_again_free(req->again);
	OBJ_RELEASE(req);
	/* MPI_Finalize frees it, as nobody says when it has been told; its comm goes now: comms are few */
	if (needed) {
		tmpi_close(m->tc);
		m->tc = NULL;
	} else {
		OBJ_RELEASE(comm);
	}
	OBJ_RELEASE(m);
}

void coll_torcoll_complete(struct coll_torcoll_request *req)
{
	int err = tmpi_call_finish(&req->call, req->status);

	if (err) {
		req->super.super.req_status.MPI_ERROR =
			coll_torcoll_failed(req->module, &req->call, err, req->why);
		coll_torcoll_again_abort(req->again);
	}
	ompi_request_complete(&req->super.super, true);
}

/* Move requests that are complete from the active ones to @done. */
static void collect_done(opal_list_t *done)
{
	opal_list_item_t *item, *next;

	OPAL_LIST_FOREACH_SAFE(item, next, &coll_torcoll.active, opal_list_item_t) {
		struct coll_torcoll_request *req = (struct coll_torcoll_request *)item;

		req->status = torcoll_test(&req->req);
		if (req->status == -EAGAIN)
			continue;
		if (req->status)
			snprintf(req->why, sizeof(req->why), "%s", torcoll_last_error());
		opal_list_remove_item(&coll_torcoll.active, item);
		opal_list_append(done, item);
	}
}

int coll_torcoll_progress(void)
{
	opal_list_item_t *item;
	opal_list_t done;
	int n = 0;

	if (opal_list_is_empty(&coll_torcoll.active) || OPAL_THREAD_TRYLOCK(&coll_torcoll.lock))
		return 0;
	OBJ_CONSTRUCT(&done, opal_list_t);
	collect_done(&done);
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
	/* completing may call MPI */
	while ((item = opal_list_remove_first(&done))) {
		coll_torcoll_complete((struct coll_torcoll_request *)item);
		n++;
	}
	OBJ_DESTRUCT(&done);
	return n;
}

/* The other ranks may have begun the call, for which there is no request here. */
static int start_refuse(struct coll_torcoll_module *m, struct tmpi_call *call,
			ompi_request_t **request)
{
	tmpi_call_described(call, -ENOMEM);
	tmpi_call_finish(call, -ENOMEM);
	*request = MPI_REQUEST_NULL;
	return coll_torcoll_failed(m, call, -ENOMEM, NULL);
}

/* A call that moves nothing, or failed before it began, is complete at once. */
static int start_complete(struct coll_torcoll_request *req, int err, ompi_request_t **request)
{
	int ret = MPI_SUCCESS;

	err = tmpi_call_finish(&req->call, err);
	if (err)
		ret = coll_torcoll_failed(req->module, &req->call, err, torcoll_last_error());
	coll_torcoll_request_drop(req);
	*request = ret ? MPI_REQUEST_NULL : &ompi_request_empty;
	return ret;
}

int coll_torcoll_submit(struct coll_torcoll_request *req, struct torcoll_comm *tc)
{
	int err = torcoll_submit(tc, &req->call.op, &req->req);

	if (err)
		return err;
	OPAL_THREAD_LOCK(&coll_torcoll.lock);
	if (!coll_torcoll.progressing)
		opal_progress_register(coll_torcoll_progress);
	coll_torcoll.progressing = true;
	opal_list_append(&coll_torcoll.active, (opal_list_item_t *)req);
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
	return 0;
}

int coll_torcoll_start(struct coll_torcoll_module *m, struct tmpi_call *call, int err,
		       ompi_request_t **request)
{
	struct coll_torcoll_request *req = coll_torcoll_request_new(m);

	coll_torcoll.taken++;
	if (!req)
		return start_refuse(m, call, request);
	req->call = *call;
	tmpi_call_described(&req->call, err);
	if (!err && req->call.op.collective)
		err = coll_torcoll_submit(req, req->module->tc);
	if (err || !req->call.op.collective)
		return start_complete(req, err, request);
	*request = &req->super.super;
	return MPI_SUCCESS;
}
