// SPDX-License-Identifier: MIT
/* Comms, which are made while the MPI makes progress. See comms.h. */
#include "comms.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wait.h"

/* Comms that are open, and how many there were when the user could have no other one. */
static uint32_t open_comms, too_many = UINT32_MAX;

static void note_join(int err)
{
	if (!err)
		__atomic_add_fetch(&open_comms, 1, __ATOMIC_RELAXED);
	else if (err == -EDQUOT)
		__atomic_store_n(&too_many, __atomic_load_n(&open_comms, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

bool tmpi_has_room(void)
{
	return __atomic_load_n(&open_comms, __ATOMIC_RELAXED) <
	       __atomic_load_n(&too_many, __ATOMIC_RELAXED);
}

void tmpi_close(struct torcoll_comm *comm)
{
	if (!comm)
		return;
	torcoll_comm_close(comm);
	__atomic_sub_fetch(&open_comms, 1, __ATOMIC_RELAXED);
}

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

/* Of seconds, which may be more than there are milliseconds. None: 0. */
static uint64_t deadline_in(uint64_t seconds)
{
	if (!seconds)
		return 0;
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
	note_join(join->err);
}
