/* SPDX-License-Identifier: MIT */
/* Open MPI 5's threads.h includes this header, which Debian's libopenmpi-dev has not. */
#ifndef TORCOLL_MISSING_THREADS_PTHREADS_THREADS_H
#define TORCOLL_MISSING_THREADS_PTHREADS_THREADS_H

#include <sched.h>

static inline void opal_thread_yield(void)
{
	sched_yield();
}

#endif
