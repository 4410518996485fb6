/* SPDX-License-Identifier: MIT */
/*
 * Waiting while the MPI makes progress. Each binding implements
 * tmpi_progress().
 */
#ifndef TORCOLL_MPI_WAIT_H
#define TORCOLL_MPI_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <torcoll.h>

#include "internal.h"

/*
 * Start a thread that takes no signals, which are for the program's own threads.
 * Return as pthread_create().
 */
int tmpi_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* Let the MPI make progress, without waiting. @polling: nothing sleeps between two of these calls. */
void tmpi_progress(bool polling);

/**
 * tmpi_run - execute an op
 * @tc: comm
 * @op: as of torcoll_run()
 * @pending: the MPI may have to make progress meanwhile
 *
 * Return: as torcoll_run().
 */
int tmpi_run(struct torcoll_comm *tc, const struct torcoll_op *op, bool pending);

/**
 * struct tmpi_join - making a comm
 * @config: without name, secret and deadline: of the caller
 * @name: of the comm
 * @comm: out: the comm, or NULL
 * @err: out: as torcoll_comm_create(); @why: and its sentence
 */
struct tmpi_join {
	struct torcoll_comm_config config;
	char name[TORCOLL_NAME_MAX + 1];
	struct torcoll_comm *comm;
	int err;
	char why[TORCOLL__SENTENCE_MAX];
	/* of the thread that joins */
	struct torcoll *t;
	int done;
};

/**
 * tmpi_join - make a comm
 * @join: its config is filled in, the rest is zero
 * @t: context
 * @mpi: how names begin
 * @drawn: what the name and the secret are made of, the same on all ranks
 * @timeout: s
 *
 * Joining blocks until all ranks have called. A thread does it, since a rank
 * may need this one's progress to come that far.
 */
void tmpi_join(struct tmpi_join *join, struct torcoll *t, const char *mpi, const uint64_t drawn[2],
	       uint64_t timeout);

#endif
