// SPDX-License-Identifier: MIT
/*
 * Non-blocking calls. The kernel runs them; opal_progress() looks for those
 * that are done. A call for which the kernel has no room waits in the queue of
 * its module, and so do all later ones of it: ops start in the order of calls.
 */
#include "coll_torcoll.h"

#include <errno.h>

#include "opal/runtime/opal_progress.h"

OBJ_CLASS_INSTANCE(coll_torcoll_request_t, ompi_request_t, NULL, NULL);

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

	if (!req)
		return NULL;
	OMPI_REQUEST_INIT(&req->super, false);
	req->super.req_state = OMPI_REQUEST_ACTIVE;
	req->super.req_type = OMPI_REQUEST_COLL;
	req->super.req_mpi_object.comm = m->comm;
	req->super.req_status.MPI_ERROR = MPI_SUCCESS;
	req->super.req_status._cancelled = 0;
	req->super.req_free = request_free;
	req->super.req_cancel = request_cancel;
	OBJ_RETAIN(m);
	req->module = m;
	req->started = false;
	coll_torcoll_begin(m, &req->call);
	return req;
}

void coll_torcoll_request_drop(struct coll_torcoll_request *req)
{
	struct coll_torcoll_module *m = req->module;

	OMPI_REQUEST_FINI(&req->super);
	OBJ_RELEASE(req);
	OBJ_RELEASE(m);
}

/* Context: lock held. Return whether the op has started, or cannot ever. */
static bool request_submit(struct coll_torcoll_request *req)
{
	int err = torcoll_submit(req->module->tc, &req->call.op, &req->req);

	if (err == -EBUSY)
		return false;
	req->started = !err;
	req->status = err ? err : -EAGAIN;
	return true;
}

/* Context: lock held. */
static void queue_append(struct coll_torcoll_module *m, struct coll_torcoll_request *req)
{
	req->next = NULL;
	if (m->first)
		m->last->next = req;
	else
		m->first = req;
	m->last = req;
	coll_torcoll.queued++;
}

/* Context: lock held. */
static void queue_advance(struct coll_torcoll_module *m)
{
	while (m->first && request_submit(m->first)) {
		m->first = m->first->next;
		coll_torcoll.queued--;
	}
}

/* Context: lock held. Return whether the op is complete. */
static bool request_test(struct coll_torcoll_request *req)
{
	if (req->started)
		req->status = torcoll_test(&req->req);
	return req->status != -EAGAIN;
}

static void request_complete(struct coll_torcoll_request *req)
{
	int err = tmpi_call_finish(&req->call, req->status);

	if (err)
		req->super.req_status.MPI_ERROR = coll_torcoll_failed(req->module, &req->call, err);
	ompi_request_complete(&req->super, true);
}

/* Move requests that are complete from the active ones to @done. */
static void collect_done(opal_list_t *done)
{
	opal_list_item_t *item, *next;

	OPAL_LIST_FOREACH_SAFE(item, next, &coll_torcoll.active, opal_list_item_t) {
		struct coll_torcoll_request *req = (struct coll_torcoll_request *)item;

		queue_advance(req->module);
		if (!request_test(req))
			continue;
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
		request_complete((struct coll_torcoll_request *)item);
		n++;
	}
	OBJ_DESTRUCT(&done);
	return n;
}

/* A call that moves nothing, or failed before it began, is complete at once. */
static int start_complete(struct coll_torcoll_request *req, int err, ompi_request_t **request)
{
	int ret = MPI_SUCCESS;

	err = tmpi_call_finish(&req->call, err);
	if (err)
		ret = coll_torcoll_failed(req->module, &req->call, err);
	coll_torcoll_request_drop(req);
	*request = ret ? MPI_REQUEST_NULL : &ompi_request_empty;
	return ret;
}

int coll_torcoll_start(struct coll_torcoll_request *req, int err, ompi_request_t **request)
{
	struct coll_torcoll_module *m = req->module;

	coll_torcoll.taken++;
	if (err || !req->call.op.collective)
		return start_complete(req, err, request);
	req->call.op.flags = TORCOLL_OP_NOWAIT;
	req->status = -EAGAIN;
	OPAL_THREAD_LOCK(&coll_torcoll.lock);
	if (!coll_torcoll.progressing)
		opal_progress_register(coll_torcoll_progress);
	coll_torcoll.progressing = true;
	if (m->first || !request_submit(req))
		queue_append(m, req);
	opal_list_append(&coll_torcoll.active, &req->super.super.super);
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
	*request = &req->super;
	return MPI_SUCCESS;
}
