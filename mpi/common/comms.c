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

/*
 * Comms that are open, how many there were when this process was refused one, how
 * many ranks that was to have, as memory is limited too, why, and when to ask again
 * all the same: others of the user may have closed theirs, or the limit been raised.
 * A refusal costs the others up to a timeout, so that they spend a twentieth of their
 * time at most.
 */
static uint32_t open_comms, too_many = UINT32_MAX, too_large;
static enum tmpi_able refusal;
static uint64_t again_ns;

#define AGAIN_TIMEOUTS	20
#define AGAIN_MIN_S	300

static uint64_t milliseconds(uint64_t seconds)
{
	return seconds > UINT64_MAX / 1000 ? UINT64_MAX : 1000 * seconds;
}

static void note_refusal(int err, uint32_t ranks, uint64_t timeout)
{
	uint64_t pause = timeout > UINT64_MAX / AGAIN_TIMEOUTS ? UINT64_MAX : AGAIN_TIMEOUTS * timeout;

	if (pause < AGAIN_MIN_S)
		pause = AGAIN_MIN_S;
	__atomic_store_n(&refusal, tmpi_able(err), __ATOMIC_RELAXED);
	__atomic_store_n(&again_ns, torcoll_deadline(milliseconds(pause)), __ATOMIC_RELAXED);
	__atomic_store_n(&too_large, ranks, __ATOMIC_RELAXED);
	__atomic_store_n(&too_many, __atomic_load_n(&open_comms, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* What was given to as many ranks when as many were too many shows that there is room again. */
static void note_success(uint32_t ranks)
{
	uint32_t open = __atomic_fetch_add(&open_comms, 1, __ATOMIC_RELAXED);

	if (open >= __atomic_load_n(&too_many, __ATOMIC_RELAXED) &&
	    ranks >= __atomic_load_n(&too_large, __ATOMIC_RELAXED))
		__atomic_store_n(&too_many, UINT32_MAX, __ATOMIC_RELAXED);
}

/*
 * Whether a join failed of something that other ranks are the cause of, or hear of:
 * the errors of a comm's creation that go by frames. This rank can join others.
 */
static bool is_of_others(int err)
{
	switch (err) {
	case -EACCES:
	case -ECONNABORTED:
	case -EPROTO:
	case -ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

static void note_join(int err, uint32_t ranks, uint64_t timeout)
{
	if (!err)
		note_success(ranks);
	else if (!is_of_others(err))
		note_refusal(err, ranks, timeout);
}

enum tmpi_able tmpi_may_ask(uint32_t ranks)
{
	if (ranks < __atomic_load_n(&too_large, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&open_comms, __ATOMIC_RELAXED) <
		    __atomic_load_n(&too_many, __ATOMIC_RELAXED) ||
	    torcoll_deadline(0) >= __atomic_load_n(&again_ns, __ATOMIC_RELAXED))
		return TMPI_ABLE;
	return __atomic_load_n(&refusal, __ATOMIC_RELAXED);
}

void tmpi_close(struct torcoll_comm *comm)
{
	if (!comm)
		return;
	torcoll_comm_close(comm);
	__atomic_sub_fetch(&open_comms, 1, __ATOMIC_RELAXED);
}

/* Parked until the ranks have agreed, whatever takes how long. */
static void *join_thread(void *arg)
{
	struct tmpi_join *join = arg;
	uint64_t one = 1;

	while (sem_wait(&join->go))
		;
	if (!join->t)
		return NULL;
	join->err = torcoll_comm_create(join->t, &join->config, &join->comm);
	if (join->err)
		snprintf(join->why, sizeof(join->why), "%s", torcoll_last_error());
	while (write(join->done, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

static bool prepare_fails(struct tmpi_join *join, int err, const char *what)
{
	join->err = -err;
	snprintf(join->why, sizeof(join->why), "%s for its join: %s", what, strerror(err));
	return false;
}

bool tmpi_join_prepare(struct tmpi_join *join)
{
	int err;

	join->done = eventfd(0, EFD_CLOEXEC);
	if (join->done < 0)
		return prepare_fails(join, errno, "no eventfd can be made");
	sem_init(&join->go, 0, 0);
	err = tmpi_thread(&join->thread, join_thread, join);
	if (err) {
		close(join->done);
		return prepare_fails(join, err, "no thread can be started");
	}
	join->prepared = true;
	return true;
}

/* The thread is about to end. */
static void join_end(struct tmpi_join *join)
{
	pthread_join(join->thread, NULL);
	sem_destroy(&join->go);
	close(join->done);
	join->prepared = false;
}

void tmpi_join_drop(struct tmpi_join *join)
{
	if (!join->prepared)
		return;
	sem_post(&join->go);
	join_end(join);
}

static void join_wait(struct tmpi_join *join)
{
	struct pollfd fd = { .fd = join->done, .events = POLLIN };

	sem_post(&join->go);
	while (poll(&fd, 1, 1) <= 0)
		tmpi_progress(false);
	join_end(join);
}

/* None: 0. */
static uint64_t deadline_in(uint64_t seconds)
{
	return seconds ? torcoll_deadline(milliseconds(seconds)) : 0;
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
	join_wait(join);
	join->config.secret = NULL;
	note_join(join->err, join->config.size, timeout);
}
