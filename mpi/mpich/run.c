// SPDX-License-Identifier: MIT
/* Running a call and waiting for it, and failures. */
#include "preload.h"

#include <errno.h>
#include <sched.h>

#include "../common/wait.h"

/* A request that is never complete: what is tested makes progress. */
static MPI_Request progress = MPI_REQUEST_NULL;

int tmpi_leave(enum tmpi_why why)
{
	__atomic_add_fetch(&preload.left[why], 1, __ATOMIC_RELAXED);
	return TMPI_LEFT;
}

bool tmpi_aside(uint64_t bytes)
{
	return bytes < preload.min_bytes || (preload.max_bytes && bytes > preload.max_bytes);
}

static int progress_query(void *extra, MPI_Status *status)
{
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	return MPI_SUCCESS;
}

static int progress_free(void *extra)
{
	return MPI_SUCCESS;
}

static int progress_cancel(void *extra, int complete)
{
	return MPI_SUCCESS;
}

int preload_progress_begin(void)
{
	return PMPI_Grequest_start(progress_query, progress_free, progress_cancel, NULL, &progress);
}

void tmpi_progress(bool polling)
{
	int flag;

	PMPI_Test(&progress, &flag, MPI_STATUS_IGNORE);
	/* ranks that share a processor */
	if (polling)
		sched_yield();
}

void preload_progress_end(void)
{
	PMPI_Grequest_complete(progress);
	PMPI_Wait(&progress, MPI_STATUS_IGNORE);
}

int preload_failed(struct preload_comm *c, const struct tmpi_call *call, int err,
		   const char *sentence)
{
	const char *name = torcoll_collective_name(call->op.collective);

	if (!__atomic_exchange_n(&c->failed, true, __ATOMIC_RELAXED))
		preload_say("%s on %s: %s", name ? name : "collective", c->name,
			    tmpi_call_why(call, sentence));
	/* the others wait for this rank, unless it was they who failed */
	torcoll_abort(c->tc);
	return err == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

int preload_run(struct preload_comm *c, struct tmpi_call *call, int err)
{
	__atomic_add_fetch(&preload.taken, 1, __ATOMIC_RELAXED);
	tmpi_call_described(call, err);
	if (!err && call->op.collective)
		err = tmpi_run(c->tc, &call->op, preload_pending());
	err = tmpi_call_finish(call, err);
	if (!err)
		return MPI_SUCCESS;
	err = preload_failed(c, call, err, torcoll_last_error());
	PMPI_Comm_call_errhandler(c->comm, err);
	return err;
}
