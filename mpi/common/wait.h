/* SPDX-License-Identifier: MIT */
/*
 * Waiting while the MPI makes progress. Each binding implements
 * tmpi_progress().
 */
#ifndef TORCOLL_MPI_WAIT_H
#define TORCOLL_MPI_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <torcoll.h>

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

#endif
