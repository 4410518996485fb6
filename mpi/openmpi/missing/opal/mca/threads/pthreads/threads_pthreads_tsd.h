/* SPDX-License-Identifier: MIT */
/*
 * Open MPI 5's tsd.h includes this header, which Debian's libopenmpi-dev has not:
 * what threads have of their own, where they are those of POSIX.
 */
#ifndef TORCOLL_MISSING_THREADS_PTHREADS_TSD_H
#define TORCOLL_MISSING_THREADS_PTHREADS_TSD_H

#include <pthread.h>

#include "opal/constants.h"

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_key_delete(opal_tsd_key_t key)
{
	return pthread_key_delete(key) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline int opal_tsd_set(opal_tsd_key_t key, void *value)
{
	return pthread_setspecific(key, value) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline int opal_tsd_get(opal_tsd_key_t key, void **value)
{
	*value = pthread_getspecific(key);
	return OPAL_SUCCESS;
}

#endif
