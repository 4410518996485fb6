/* SPDX-License-Identifier: MIT */
/*
 * Open MPI 5's mutex.h and condition.h include this header, which Debian's
 * libopenmpi-dev has not: what a mutex and a condition are where threads are
 * those of POSIX. It is looked for after all others.
 */
#ifndef TORCOLL_MISSING_THREADS_PTHREADS_MUTEX_H
#define TORCOLL_MISSING_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#include "opal_config.h"

#include "opal/class/opal_object.h"
#include "opal/constants.h"

/* A mutex of a library for debugging has more members, which nobody here has seen. */
#if OPAL_ENABLE_DEBUG
#error this Open MPI is built for debugging: take this header from its source
#endif

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER	PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER	PTHREAD_COND_INITIALIZER

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *mutex,
						  bool recursive)
{
	pthread_mutexattr_t attr;
	int err;

	if (pthread_mutexattr_init(&attr))
		return OPAL_ERR_IN_ERRNO;
	if (recursive)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	err = pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return err ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *mutex)
{
	pthread_mutex_destroy(mutex);
}

static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *mutex)
{
	return pthread_mutex_trylock(mutex) != 0;
}

static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
}

static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *cond)
{
	return pthread_cond_init(cond, NULL) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline void opal_thread_internal_cond_wait(opal_thread_internal_cond_t *cond,
						  opal_thread_internal_mutex_t *mutex)
{
	pthread_cond_wait(cond, mutex);
}

static inline void opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t *cond)
{
	pthread_cond_broadcast(cond);
}

static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *cond)
{
	pthread_cond_signal(cond);
}

static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *cond)
{
	pthread_cond_destroy(cond);
}

#endif
