// SPDX-License-Identifier: MIT
/* Waiting while the MPI makes progress. See wait.h. */
#include "wait.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

/* ---- threads ---- */

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

/* ---- comms ---- */

static void *join_thread(void *arg)
{
	struct tmpi_join *join = arg;
	uint64_t one = 1;

	join->err = torcoll_comm_create(join->t, &join->config, &join->comm);
	if (join->err)
		snprintf(join->why, sizeof(join->why), "%s", torcoll_last_error());
	while (write(join->done, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

static int join_wait(struct tmpi_join *join)
{
	struct pollfd fd = { .events = POLLIN };
	pthread_t thread;
	int err;

	join->done = eventfd(0, EFD_CLOEXEC);
	fd.fd = join->done;
	if (join->done < 0) {
		err = -errno;
		snprintf(join->why, sizeof(join->why), "no eventfd can be made for it: %s",
			 strerror(-err));
		return err;
	}
	err = tmpi_thread(&thread, join_thread, join);
	if (err) {
		close(join->done);
		snprintf(join->why, sizeof(join->why), "no thread can be started for it: %s",
			 strerror(err));
		return -err;
	}
	while (poll(&fd, 1, 1) <= 0)
		tmpi_progress(false);
	pthread_join(thread, NULL);
	close(join->done);
	return join->err;
}

/* Of seconds, which may be more than there are milliseconds. */
static uint64_t deadline_in(uint64_t seconds)
{
	return torcoll_deadline(seconds > UINT64_MAX / 1000 ? UINT64_MAX : 1000 * seconds);
}

void tmpi_join(struct tmpi_join *join, struct torcoll *t, const char *mpi, const uint64_t drawn[2],
	       uint64_t timeout)
{
	char secret[TORCOLL_NAME_MAX + 1];

	snprintf(join->name, sizeof(join->name), "%s-%016" PRIx64, mpi, drawn[0]);
	snprintf(secret, sizeof(secret), "%016" PRIx64, drawn[1]);
	join->t = t;
	join->config.name = join->name;
	join->config.secret = secret;
	join->config.deadline_ns = deadline_in(timeout);
	join->err = join_wait(join);
	join->config.secret = NULL;
}
