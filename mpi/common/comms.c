// SPDX-License-Identifier: MIT
/* Comms, which are made while the MPI makes progress. See comms.h. */
#include "comms.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wait.h"

/*
 * A refusal of a comm: one of as many ranks or more is not asked for while as many
 * are open or more. Until it is time to ask all the same: others of the user may have
 * closed theirs, or the limit been raised. A refusal costs the others up to a timeout,
 * so that they spend a twentieth of their time at most.
 */
struct refusal {
	int err;			/* 0: none */
	uint32_t open;
	uint32_t ranks;
	bool of_ports;			/* which one within a node does without */
	uint64_t again_ns;
	char why[TORCOLL__SENTENCE_MAX];
};

/*
 * Of several limits, none of which says anything of another: one of many ranks takes
 * too much memory, one of few is one too many.
 */
static struct refusal refusals[4];
static uint32_t open_comms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define AGAIN_TIMEOUTS	20
#define AGAIN_MIN_S	300

static uint64_t milliseconds(uint64_t seconds)
{
	return seconds > UINT64_MAX / 1000 ? UINT64_MAX : 1000 * seconds;
}

static uint64_t again_in(uint64_t timeout)
{
	uint64_t pause = timeout > UINT64_MAX / AGAIN_TIMEOUTS ? UINT64_MAX : AGAIN_TIMEOUTS * timeout;

	return torcoll_deadline(milliseconds(pause < AGAIN_MIN_S ? AGAIN_MIN_S : pause));
}

/* Whether a smaller comm, or one of fewer, may be given. What else is missing, each needs. */
static bool is_of_size(int err)
{
	return err == -EDQUOT || err == -ENOMEM;
}

/* Whether all ranks are on one node, as far as is known. */
static bool is_within(const struct torcoll_comm_config *config)
{
	for (uint32_t i = 0; config->members && i < config->size; i++)
		if (config->members[i] != config->members[0])
			return false;
	return config->members;
}

/* Whether it says the same of a comm of so many ranks, while so many are open. */
static bool covers(const struct refusal *r, uint32_t open, uint32_t ranks, bool within)
{
	return r->err && open >= r->open && ranks >= r->ranks && !(r->of_ports && within);
}

/* Return where to note one: in the place of what it covers, or of the oldest. */
static struct refusal *place_of(const struct refusal *new)
{
	struct refusal *place = &refusals[0];

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct refusal *r = &refusals[i];

		if (!r->err || covers(new, r->open, r->ranks, !r->of_ports))
			return r;
		if (r->again_ns < place->again_ns)
			place = r;
	}
	return place;
}

/*
 * @open: before the join. Other threads may have made comms since, or closed some: it
 * was refused while there were as many as the larger of both, or fewer. Context: lock held.
 */
static void note_refusal(const struct tmpi_join *join, uint32_t open, uint64_t timeout)
{
	bool of_size = is_of_size(join->err);
	struct refusal new = {
		.err = join->err,
		.open = !of_size ? 0 : open > open_comms ? open : open_comms,
		.ranks = of_size ? join->config.size : 0,
		.of_ports = join->err == -EHOSTUNREACH,
		.again_ns = again_in(timeout),
	};

	strcpy(new.why, join->why);
	*place_of(&new) = new;
}

/* What was given to as many ranks when as many were too many shows that there is room again. */
static void note_success(const struct torcoll_comm_config *config)
{
	bool within = is_within(config);

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		if (covers(&refusals[i], open_comms, config->size, within))
			refusals[i].err = 0;
	open_comms++;
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

static void note_join(const struct tmpi_join *join, uint32_t open, uint64_t timeout)
{
	pthread_mutex_lock(&lock);
	if (!join->err)
		note_success(&join->config);
	else if (!is_of_others(join->err))
		note_refusal(join, open, timeout);
	pthread_mutex_unlock(&lock);
}

static uint32_t count_open(void)
{
	uint32_t open;

	pthread_mutex_lock(&lock);
	open = open_comms;
	pthread_mutex_unlock(&lock);
	return open;
}

/* Context: lock held. */
static void say_refusal(const struct refusal *r, struct tmpi_join *join)
{
	static const char before[] = "this rank was refused a comm before, and would be again: ";

	join->err = r->err;
	snprintf(join->why, sizeof(join->why), "%s%.*s", before,
		 (int)(sizeof(join->why) - sizeof(before)), r->why);
}

enum tmpi_able tmpi_may_ask(uint32_t ranks, struct tmpi_join *join)
{
	enum tmpi_able able = TMPI_ABLE;
	bool within = is_within(&join->config);

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *r = &refusals[i];

		if (!covers(r, open_comms, ranks, within) ||
		    torcoll_deadline(0) >= r->again_ns || tmpi_able(r->err) <= able)
			continue;
		able = tmpi_able(r->err);
		say_refusal(r, join);
	}
	pthread_mutex_unlock(&lock);
	return able;
}

void tmpi_close(struct torcoll_comm *comm)
{
	if (!comm)
		return;
	torcoll_comm_close(comm);
	pthread_mutex_lock(&lock);
	open_comms--;
	pthread_mutex_unlock(&lock);
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
	uint32_t open;

	snprintf(join->name, sizeof(join->name), "%s-%016" PRIx64, mpi, drawn[0]);
	snprintf(secret, sizeof(secret), "%016" PRIx64, drawn[1]);
	join->t = t;
	join->config.name = join->name;
	join->config.secret = secret;
	join->config.deadline_ns = deadline_in(timeout);
	open = count_open();
	join_wait(join);
	join->config.secret = NULL;
	note_join(join, open, timeout);
}
