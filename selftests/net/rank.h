/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs share that are one rank of a test, started by torcollctl netns run: who they are, and how they say
 * what they see.
 */
#ifndef SELFTESTS_RANK_H
#define SELFTESTS_RANK_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <torcoll.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static struct torcoll *t;
static struct torcoll_comm *world;
static uint32_t rank, ranks;

static inline void vsay(const char *format, va_list args)
{
	printf("rank %u: ", rank);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
}

static inline void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
	exit(1);
}

/* Say why not. */
static inline int worked(int err)
{
	if (err)
		say("%s", torcoll_last_error());
	return !err;
}

/* Join the comm that the launcher made. */
static inline int join_world(void)
{
	if (!worked(torcoll_open(&t)) || !worked(torcoll_comm_from_env(t, &world)))
		return 0;
	rank = torcoll_comm_rank(world);
	ranks = torcoll_comm_size(world);
	return 1;
}

/* Run a case on all ranks; rank 0 names it if all found it right. Return how many did not. */
static inline uint32_t failed_on(const char *name, int (*right)(void))
{
	uint32_t wrong = !right(), all;

	if (!worked(torcoll_allreduce(world, &wrong, &all, 1, TORCOLL_U32, TORCOLL_SUM)))
		exit(1);
	if (!rank && !all)
		say("right %s", name);
	return all;
}

#endif
