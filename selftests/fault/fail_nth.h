/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets the n-th allocation of a call fail, for n = 1, 2, 3, ... until the call needs no more of them. Every call must
 * either succeed nevertheless or be refused for want of memory, and then have changed nothing: the next attempt
 * finds what this one found. For kernels with fault injection; which allocations count is set by the filters in
 * debugfs, see faults.sh.
 */
#ifndef SELFTESTS_FAIL_NTH_H
#define SELFTESTS_FAIL_NTH_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define TRIES_MAX	5000

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline int open_fail_nth(pid_t pid, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), pid ? "/proc/%d/fail-nth" : "/proc/thread-self/fail-nth", pid);
	fd = open(path, flags);
	if (fd < 0)
		die(path);
	return fd;
}

static inline void set_fail_nth(unsigned int n)
{
	int fd = open_fail_nth(0, O_WRONLY);

	if (dprintf(fd, "%u", n) < 0)
		die("fail-nth");
	close(fd);
}

/* Was it reached? */
static inline bool has_failed(pid_t pid)
{
	char text[32] = "";
	int fd = open_fail_nth(pid, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) <= 0)
		die("fail-nth");
	close(fd);
	return !atoi(text);
}

/**
 * sweep - try a call until nothing is left to fail in it
 * @name: of it
 * @call: returns 0 or a negative errno
 * @undo: after each success but the last
 * @arg: theirs
 *
 * Memory is the only reason for refusals, and what they say, unless @any other word for it will do.
 *
 * Return: how many allocations failed.
 */
static inline unsigned int sweep_words(const char *name, int (*call)(void *arg), void (*undo)(void *arg),
				       void *arg, bool any)
{
	unsigned int n, refused = 0;
	bool failed;
	int err;

	for (n = 1; n < TRIES_MAX; n++) {
		set_fail_nth(n);
		err = call(arg);
		failed = has_failed(0);
		set_fail_nth(0);
		if (!failed && !err) {
			printf("%s: %u allocations failed in turn, %u times it was refused\n", name,
			       n - 1, refused);
			return n - 1;
		}
		if (err && (!failed || (err != -ENOMEM && !any))) {
			fprintf(stderr, "%s: allocation %u %s, and the call said: %s\n", name, n,
				failed ? "failed" : "was not reached", strerror(-err));
			exit(1);
		}
		refused += !!err;
		if (!err && undo)
			undo(arg);
	}
	fprintf(stderr, "%s: no end of allocations\n", name);
	exit(1);
}

/* The same of a call that may do without memory. */
static inline unsigned int sweep_maybe(const char *name, int (*call)(void *arg), void (*undo)(void *arg),
				       void *arg)
{
	return sweep_words(name, call, undo, arg, false);
}

/* Of one that needs some: where nothing failed, nothing was tried. */
static inline void sweep_needed(const char *name, unsigned int failed)
{
	if (failed)
		return;
	fprintf(stderr, "%s: no allocation has failed, though it needs some\n", name);
	exit(1);
}

static inline void sweep(const char *name, int (*call)(void *arg), void (*undo)(void *arg), void *arg)
{
	sweep_needed(name, sweep_maybe(name, call, undo, arg));
}

#endif
