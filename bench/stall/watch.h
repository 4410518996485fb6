/* SPDX-License-Identifier: MIT */
/*
 * A thread that finds out how long a processor does nothing else: first in its queue (SCHED_FIFO), it asks to be woken every
 * 100 us and looks at the clock when it is. What it is late by, others have had the processor, with no way to take it from
 * them. After the first time that is longer than STALL_TRACE microseconds nothing more is traced.
 */
#ifndef BENCH_STALL_WATCH_H
#define BENCH_STALL_WATCH_H

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PERIOD	100000		/* ns */

static _Atomic uint64_t worst;
static _Atomic bool watched;		/* what happens now is part of a call */
static uint64_t traced = UINT64_MAX;	/* ns */
static int tracing_on = -1;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void stop_trace(void)
{
	if (write(tracing_on, "0", 1) != 1)
		perror("tracing_on");
	close(tracing_on);
	traced = UINT64_MAX;
}

static void *watch(void *unused)
{
	uint64_t next = now();

	for (;;) {
		struct timespec at;
		uint64_t late;

		next += PERIOD;
		at = (struct timespec){ next / 1000000000, next % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		late = now() - next;
		if (late > traced && atomic_load(&watched))
			stop_trace();
		if (late > atomic_load(&worst))
			atomic_store(&worst, late);
		/* what was missed is missed */
		if (late > PERIOD)
			next += late;
	}
	return unused;
}

static void begin_to_watch(void)
{
	const struct sched_param first = { .sched_priority = 50 };
	pthread_attr_t attr;
	const char *us = getenv("STALL_TRACE");
	pthread_t thread;

	if (us) {
		traced = strtoull(us, NULL, 0) * 1000;
		tracing_on = open("/sys/kernel/tracing/tracing_on", O_WRONLY | O_CLOEXEC);
	}
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &first);
	if (pthread_create(&thread, &attr, watch, NULL)) {
		fprintf(stderr, "no thread of the real-time class\n");
		exit(1);
	}
}

static inline void watch_on(void)
{
	atomic_store(&worst, 0);
	atomic_store(&watched, true);
}

static inline void watch_off(void)
{
	atomic_store(&watched, false);
}

/* Microseconds, since watch_on(). */
static inline double watch_worst(void)
{
	return atomic_load(&worst) / 1e3;
}

#endif
