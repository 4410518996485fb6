// SPDX-License-Identifier: MIT
/*
 * Non-blocking calls. The kernel runs them; to MPICH they are generalised
 * requests, which it asks while it waits for them or tests them.
 *
 * The library queues those for which the kernel has no room, and starts them
 * when others are tested. A rank may be in a call of MPICH meanwhile that tests
 * none of them: while the library has one of them, a thread does. How many are
 * active does not tell: what is complete at this rank may be not over at others,
 * and has a place in the kernel until it is.
 */
#include "preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/wait.h"
#include "internal.h"

#define HELP_NS		1000000

struct preload_request {
	struct preload_request *next, **prev;	/* of active ones */
	struct preload_comm *c;
	struct tmpi_call call;
	struct torcoll_request req;
	MPI_Request handle;
	bool done;				/* @status is known */
	bool finished;				/* and MPICH knows */
	int status;
	char why[TORCOLL__SENTENCE_MAX];	/* of @status, which another thread may see */
	int error;				/* of MPI */
};

/* Under preload.lock. */
static pthread_t helper;
static bool helper_is_joinable;
static const struct preload_request *asked;	/* what MPICH has polled last */

/* Context: preload.lock. */
static void request_look(struct preload_request *r)
{
	if (r->done)
		return;
	r->status = torcoll_test(&r->req);
	r->done = r->status != -EAGAIN;
	if (r->done && r->status)
		snprintf(r->why, sizeof(r->why), "%s", torcoll_last_error());
}

/* Return whether the library has the op, or a part of it, to start. Context: preload.lock. */
static bool request_needs_help(const struct preload_request *r)
{
	return !r->done && r->req.state == TORCOLL__REQ_JOB;
}

static void *help(void *arg)
{
	const struct timespec pause = { .tv_nsec = HELP_NS };
	bool needed;

	do {
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&preload.lock);
		needed = false;
		for (struct preload_request *r = preload.active; r; r = r->next) {
			request_look(r);
			needed |= request_needs_help(r);
		}
		if (!needed)
			preload.helped = false;
		pthread_mutex_unlock(&preload.lock);
	} while (needed);
	return NULL;
}

/* Context: preload.lock. */
static void helper_start(void)
{
	int err;

	if (preload.helped)
		return;
	/* one that has ended: it takes the lock no more */
	if (helper_is_joinable)
		pthread_join(helper, NULL);
	err = tmpi_thread(&helper, help, NULL);
	helper_is_joinable = !err;
	preload.helped = !err;
	if (err)
		preload_say("a call that does not block starts when it is waited for, not before: no thread: %s",
			    strerror(err));
}

static void request_activate(struct preload_request *r)
{
	pthread_mutex_lock(&preload.lock);
	r->next = preload.active;
	r->prev = &preload.active;
	if (r->next)
		r->next->prev = &r->next;
	preload.active = r;
	preload.nactive++;
	if (request_needs_help(r))
		helper_start();
	pthread_mutex_unlock(&preload.lock);
}

/* Context: preload.lock. */
static void request_deactivate(struct preload_request *r)
{
	*r->prev = r->next;
	if (r->next)
		r->next->prev = r->prev;
	preload.nactive--;
}

/* The call that a request is of, until MPICH has been told of its end. Context: preload.lock. */
static struct preload_request *request_find(MPI_Request handle)
{
	struct preload_request *r = preload.active;

	while (r && r->handle != handle)
		r = r->next;
	return r;
}

/* The call is over: put its result to its place, and tell MPICH. */
static void request_finish(struct preload_request *r)
{
	int err = tmpi_call_finish(&r->call, r->status);

	if (err)
		r->error = preload_failed(r->c, &r->call, err, r->why);
	r->finished = true;
	PMPI_Grequest_complete(r->handle);
}

/*
 * MPI_Wait of a request does nothing but poll it: MPICH makes progress here, or
 * not at all. What is polled again and again is waited for.
 */
static int request_poll(void *extra, MPI_Status *status)
{
	struct preload_request *r = extra;
	bool done, again;

	if (r->finished)
		return MPI_SUCCESS;
	pthread_mutex_lock(&preload.lock);
	request_look(r);
	done = r->done && r->prev;
	if (done) {
		request_deactivate(r);
		r->prev = NULL;
	}
	again = asked == r;
	asked = done ? NULL : r;
	pthread_mutex_unlock(&preload.lock);
	if (done)
		request_finish(r);
	else
		tmpi_progress(again);
	return MPI_SUCCESS;
}

/*
 * MPICH does not poll a request that is asked for its status alone, so this does
 * before it: of MPI_Request_get_status, to look at the request.
 */
void preload_request_poll(MPI_Request handle)
{
	struct preload_request *r;

	pthread_mutex_lock(&preload.lock);
	r = request_find(handle);
	pthread_mutex_unlock(&preload.lock);
	if (r)
		request_poll(r, MPI_STATUS_IGNORE);
}

int preload_request_refuse(MPI_Request handle)
{
	MPI_Comm comm = MPI_COMM_NULL;
	struct preload_request *r;

	pthread_mutex_lock(&preload.lock);
	r = request_find(handle);
	if (r)
		comm = r->c->comm;
	pthread_mutex_unlock(&preload.lock);
	if (!r)
		return MPI_SUCCESS;
	/* which the program may have freed */
	if (comm != MPI_COMM_NULL)
		PMPI_Comm_call_errhandler(comm, MPI_ERR_REQUEST);
	return MPI_ERR_REQUEST;
}

/* MPICH waits for requests of this kind alone. */
static int request_wait(int n, void **extra, double timeout, MPI_Status *status)
{
	for (int i = 0; i < n; i++) {
		struct preload_request *r = extra[i];

		while (!r->finished)
			request_poll(r, status);
	}
	return MPI_SUCCESS;
}

static int request_query(void *extra, MPI_Status *status)
{
	struct preload_request *r = extra;

	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return r->error;
}

static void request_drop(struct preload_request *r)
{
	preload_comm_put(r->c);
	free(r);
}

static int request_free(void *extra)
{
	request_drop(extra);
	return MPI_SUCCESS;
}

static int request_cancel(void *extra, int complete)
{
	return MPI_SUCCESS;
}

/*
 * With MPICH's request, while nothing runs that would go on without one. NULL: this
 * rank has no memory for it.
 */
static struct preload_request *request_new(struct preload_comm *c, const struct tmpi_call *call)
{
	struct preload_request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	__atomic_add_fetch(&c->users, 1, __ATOMIC_RELAXED);
	r->c = c;
	r->call = *call;
	if (PMPIX_Grequest_start(request_query, request_free, request_cancel, request_poll,
				 request_wait, r, &r->handle) == MPI_SUCCESS)
		return r;
	request_drop(r);
	return NULL;
}

/* Nothing was started with it: MPICH drops it. */
static void request_undo(struct preload_request *r)
{
	MPI_Request handle = r->handle;

	r->finished = true;
	PMPI_Grequest_complete(handle);
	PMPI_Wait(&handle, MPI_STATUS_IGNORE);
}

/* The other ranks may have begun the call. An error code of MPI, of which the communicator has been told. */
static int start_failed(struct preload_comm *c, struct tmpi_call *call, int err,
			MPI_Request *request)
{
	err = tmpi_call_finish(call, err);
	err = preload_failed(c, call, err, torcoll_last_error());
	*request = MPI_REQUEST_NULL;
	PMPI_Comm_call_errhandler(c->comm, err);
	return err;
}

int preload_start(struct preload_comm *c, struct tmpi_call *call, int err, MPI_Request *request)
{
	struct preload_request *r;

	__atomic_add_fetch(&preload.taken, 1, __ATOMIC_RELAXED);
	r = err ? NULL : request_new(c, call);
	if (!err && !r)
		err = -ENOMEM;
	tmpi_call_described(call, err);
	if (!err && call->op.collective) {
		err = torcoll_submit(c->tc, &r->call.op, &r->req);
		if (err)
			request_undo(r);
	}
	if (err)
		return start_failed(c, call, err, request);
	*request = r->handle;
	if (r->call.op.collective)
		request_activate(r);
	else
		request_finish(r);
	return preload_started(MPI_SUCCESS);
}

void preload_request_end(void)
{
	bool joinable;

	pthread_mutex_lock(&preload.lock);
	joinable = helper_is_joinable;
	helper_is_joinable = false;
	pthread_mutex_unlock(&preload.lock);
	if (joinable)
		pthread_join(helper, NULL);
}
