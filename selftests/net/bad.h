/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What badcalls and badframes share: results in KTAP, open files in the namespaces of a torus, comms
 * and allreduces by bare ioctls, so that nothing checks an argument before the module does.
 */
#ifndef SELFTESTS_BAD_H
#define SELFTESTS_BAD_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/torcoll.h>

#define FABRIC		1
#define NODES		4		/* of the torus that bad.sh makes: 2x2 */
#define NS_PER_S	1000000000ULL

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned int bad_cases, bad_failed;

static inline void __attribute__((format(printf, 2, 3))) result(bool good, const char *fmt, ...)
{
	va_list args;

	bad_failed += !good;
	printf("%sok %u ", good ? "" : "not ", ++bad_cases);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	/* what was done before a death is to be seen */
	fflush(stdout);
}

static inline int finish(void)
{
	printf("1..%u\n", bad_cases);
	return bad_failed ? 1 : 0;
}

/* What the test itself needs: without it, nothing makes sense. */
static inline void __attribute__((format(printf, 2, 3))) need(bool met, const char *fmt, ...)
{
	va_list args;

	if (met)
		return;
	printf("Bail out! ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(" (errno: %s)\n", strerror(errno));
	exit(1);
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline void enter_node(unsigned int node)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/tor-%u", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0 && !setns(fd, CLONE_NEWNET), "cannot enter %s", path);
	close(fd);
}

static inline int open_on(unsigned int node)
{
	int fd;

	enter_node(node);
	fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);
	need(fd >= 0, "cannot open %s", TORCOLL_DEVICE);
	return fd;
}

/* The errno of a call, positive, or 0. */
static inline int call(int fd, unsigned long cmd, void *arg)
{
	int err;

	do {
		err = ioctl(fd, cmd, arg) ? errno : 0;
	} while (err == EINTR);
	return err;
}

/* The sentence for the thread's last refusal; in a buffer that its next call uses again. */
static inline const char *sentence(int fd)
{
	static _Thread_local char text[512];
	struct torcoll_error error = {
		.size = sizeof(error), .len = sizeof(text), .text = (uintptr_t)text,
	};

	text[0] = '\0';
	if (call(fd, TORCOLL_IOC_ERROR, &error))
		return "TORCOLL_IOC_ERROR failed";
	return text;
}

/* Whether this kernel has MMU notifiers. */
static inline bool watches(int fd)
{
	struct torcoll_info info = { .size = sizeof(info) };

	need(!call(fd, TORCOLL_IOC_INFO, &info), "info: %s", sentence(fd));
	return info.features & TORCOLL_FEATURE_WATCH;
}

/* Something that a comm is joined with, by one of its members. */
struct joiner {
	int fd;
	const char *name, *secret;
	const uint32_t *members;
	unsigned int ranks, depth;
	uint64_t deadline_ns;
	int err;			/* out */
	uint32_t comm, rank, missing;	/* out */
	pthread_t thread;
};

static inline void *join(void *arg)
{
	struct joiner *j = arg;
	struct torcoll_comm_add add = {
		.size = sizeof(add),
		.fabric = FABRIC,
		.name = (uintptr_t)j->name,
		.name_len = strlen(j->name),
		.secret = (uintptr_t)j->secret,
		.secret_len = j->secret ? strlen(j->secret) : 0,
		.members = (uintptr_t)j->members,
		.ranks = j->ranks,
		.rank = TORCOLL_RANK_SELF,
		.depth = j->depth,
		.deadline_ns = j->deadline_ns,
	};

	j->err = call(j->fd, TORCOLL_IOC_COMM_ADD, &add);
	j->comm = add.comm;
	j->rank = add.rank;
	j->missing = add.missing;
	return NULL;
}

/* Several members at once. */
static inline void join_all(struct joiner *j, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		need(!pthread_create(&j[i].thread, NULL, join, &j[i]), "no thread");
	for (i = 0; i < n; i++)
		pthread_join(j[i].thread, NULL);
}

/* A rank of a comm, with its memory. */
struct rank {
	int fd;
	uint32_t comm;
	uint64_t op;
	int32_t *memory;
	uint32_t redop;			/* 0: TORCOLL_SUM */
	uint32_t algorithm;		/* 0: auto */
};

/* Rank 0 is on node 0, and so on. */
static inline void make_comm(struct rank *rank, unsigned int ranks, unsigned int depth,
			     const char *name)
{
	uint32_t members[NODES] = { 0, 1, 2, 3 };
	struct joiner j[NODES] = {};
	unsigned int i;

	for (i = 0; i < ranks; i++) {
		j[i].fd = rank[i].fd;
		j[i].name = name;
		j[i].members = members;
		j[i].ranks = ranks;
		j[i].depth = depth;
		j[i].deadline_ns = now_ns() + 30 * NS_PER_S;
	}
	join_all(j, ranks);
	for (i = 0; i < ranks; i++) {
		need(!j[i].err, "comm %s: rank %u: %s: %s", name, i, strerror(j[i].err),
		     sentence(rank[i].fd));
		rank[i].comm = j[i].comm;
	}
}

/* An allreduce of whole numbers; begun by one rank. */
static inline int begin_sum(struct rank *rank, unsigned int self, unsigned int count)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit),
		.comm = rank[self].comm,
		.collective = TORCOLL_ALLREDUCE,
		.algorithm = rank[self].algorithm,
		.type = TORCOLL_I32,
		.redop = rank[self].redop ? rank[self].redop : TORCOLL_SUM,
		.count = count,
		.send_addr = (uintptr_t)rank[self].memory,
		.recv_addr = (uintptr_t)rank[self].memory,
		/* slow machines look at counters for minutes in the meantime */
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	unsigned int i;
	int err;

	for (i = 0; i < count; i++)
		rank[self].memory[i] = i + 1000 * self;
	err = call(rank[self].fd, TORCOLL_IOC_SUBMIT, &submit);
	rank[self].op = submit.op;
	return err;
}

/* ... and ended: 0, or what is wrong with it, a negative errno. */
static inline int end_sum(struct rank *rank, unsigned int self, unsigned int ranks,
			  unsigned int count)
{
	struct torcoll_wait wait = {
		.size = sizeof(wait),
		.comm = rank[self].comm,
		.op = rank[self].op,
		.deadline_ns = now_ns() + 60 * NS_PER_S,
	};
	unsigned int i;
	int err;

	err = call(rank[self].fd, TORCOLL_IOC_WAIT, &wait);
	if (err || wait.status)
		return err ? -err : wait.status;
	for (i = 0; i < count; i++)
		if (rank[self].memory[i] != (int32_t)(ranks * i + 1000 * ranks * (ranks - 1) / 2))
			return -EBADMSG;
	return 0;
}

/* Ranks from @first on begin, then all end: true if it is right everywhere. */
static inline bool sum_is_right(struct rank *rank, unsigned int first, unsigned int ranks,
				unsigned int count)
{
	bool good = true;
	unsigned int i;
	int err;

	for (i = first; i < ranks; i++) {
		err = begin_sum(rank, i, count);
		if (err)
			printf("# rank %u: cannot begin: %s: %s\n", i, strerror(err),
			       sentence(rank[i].fd));
		good &= !err;
	}
	for (i = 0; i < ranks; i++) {
		err = end_sum(rank, i, ranks, count);
		if (err)
			printf("# rank %u: %s: %s\n", i, strerror(-err), sentence(rank[i].fd));
		good &= !err;
	}
	return good;
}

#endif
