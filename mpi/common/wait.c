// SPDX-License-Identifier: MIT
/* Waiting while the MPI makes progress. See wait.h. */
#include "wait.h"

#include <errno.h>
#include <signal.h>

/* How long a wait sleeps before it lets the MPI make progress, though nothing seems to need it. */
#define SLICE_MIN_MS	1
#define SLICE_MAX_MS	16

/*
 * Sleep in the kernel while only this op is to be waited for. What is pending
 * is not all that may need progress, such as data that did not fit into a socket
 * yet: so no sleep is long.
 */
int tmpi_run(struct torcoll_comm *tc, const struct torcoll_op *op, bool pending)
{
	unsigned int slice = SLICE_MIN_MS;
	struct torcoll_request req;
	int err;

	err = pending ? torcoll_submit(tc, op, &req) :
			torcoll_run_until(tc, op, &req, torcoll_deadline(slice));
	if (pending && !err)
		err = torcoll_test(&req);
	while (err == -EAGAIN) {
		tmpi_progress(pending);
		if (slice < SLICE_MAX_MS)
			slice *= 2;
		err = pending ? torcoll_test(&req) :
				torcoll_wait_until(&req, torcoll_deadline(slice));
	}
	return err;
}

int tmpi_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, kept;
	int err;

	sigfillset(&all);
	/* a thread has the mask of the one that starts it */
	pthread_sigmask(SIG_SETMASK, &all, &kept);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	return err;
}
