/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What calls are tried on, as fail_nth.h has it: a file with a region and a comm, in memory of one vector. Each call
 * returns 0 or a negative errno; what is named undo and redo must succeed.
 */
#ifndef SELFTESTS_SUBJECT_H
#define SELFTESTS_SUBJECT_H

#include <linux/torcoll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "fail_nth.h"

#define PATIENCE	120		/* s, for what other ranks must take part in */

struct subject {
	int fd;
	uint64_t key;
	const uint32_t *members;	/* the nodes of ranks */
	uint32_t ranks;
	uint32_t rank;
	uint32_t region;
	uint32_t comm;
	char *memory;
	size_t bytes;
	uint16_t collective;
	uint16_t algorithm;
	uint64_t count;
	uint32_t flags;			/* TORCOLL_OP_* */
	bool registered;
	int32_t factor;			/* of a sum whose contributions are multiplied first, or 0 */
};

static inline void must(int err, const char *what)
{
	if (!err)
		return;
	errno = -err;
	die(what);
}

static inline uint64_t in_seconds(int s)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec + s) * 1000000000ULL + t.tv_nsec;
}

static inline int call(struct subject *s, unsigned long nr, void *arg)
{
	return ioctl(s->fd, nr, arg) ? -errno : 0;
}

static inline void get_memory(struct subject *s, size_t bytes)
{
	s->bytes = bytes;
	s->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED)
		die("mmap");
	memset(s->memory, 0, bytes);
}

static inline int open_device(void *arg)
{
	struct subject *s = arg;

	s->fd = open("/dev/torcoll", O_RDWR | O_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

static inline int add_region_flags(struct subject *s, uint32_t flags)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .flags = flags, .addr = (uintptr_t)s->memory,
		.length = s->bytes,
	};
	int err = call(s, TORCOLL_IOC_REGION_ADD, &add);

	s->region = add.region;
	return err;
}

static inline int add_region(void *arg)
{
	return add_region_flags(arg, 0);
}

static inline int add_comm(void *arg)
{
	struct subject *s = arg;
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = s->key, .name = (uintptr_t)"faults",
		.name_len = 6, .secret = (uintptr_t)"secret", .secret_len = 6,
		.members = (uintptr_t)s->members, .ranks = s->ranks, .rank = s->rank,
		.deadline_ns = in_seconds(PATIENCE),
	};
	int err = call(s, TORCOLL_IOC_COMM_ADD, &add);

	s->comm = add.comm;
	return err;
}

static inline int del_comm(void *arg)
{
	struct subject *s = arg;
	struct torcoll_handle h = { .size = sizeof(h), .handle = s->comm };

	return call(s, TORCOLL_IOC_COMM_DEL, &h);
}

/* The comm becomes one of those that live: all. */
static inline int shrink_comm(void *arg)
{
	struct subject *s = arg;
	struct torcoll_comm_shrink shrink = {
		.size = sizeof(shrink), .comm = s->comm, .deadline_ns = in_seconds(PATIENCE),
	};
	int err = call(s, TORCOLL_IOC_COMM_SHRINK, &shrink);

	if (err)
		return err;
	must(del_comm(s), "comm del");
	s->comm = shrink.shrunk;
	if (shrink.ranks == s->ranks)
		return 0;
	fprintf(stderr, "of %u ranks %u were left\n", s->ranks, shrink.ranks);
	exit(1);
}

static inline struct torcoll_submit op_of(const struct subject *s)
{
	bool reduces = s->collective == TORCOLL_ALLREDUCE;
	bool sends = s->collective != TORCOLL_RECV, receives = s->collective != TORCOLL_SEND;

	return (struct torcoll_submit) {
		.size = sizeof(struct torcoll_submit), .flags = s->flags, .comm = s->comm,
		.collective = s->collective, .algorithm = s->algorithm, .type = TORCOLL_I32,
		.redop = !reduces ? 0 : s->factor ? TORCOLL_PREMULSUM : TORCOLL_SUM,
		.scalar = s->factor ? (uintptr_t)&s->factor : 0, .bits = TORCOLL_BITS_AGREE, .count = s->count,
		.peer = reduces || !sends ? 0 : s->ranks - 1,
		.send_addr = sends ? (uintptr_t)s->memory : 0,
		.recv_addr = receives ? (uintptr_t)s->memory : 0,
		.send_region = sends && s->registered ? s->region : 0,
		.recv_region = receives && s->registered ? s->region : 0,
	};
}

static inline int submit(void *arg)
{
	struct torcoll_submit op = op_of(arg);

	return call(arg, TORCOLL_IOC_SUBMIT, &op);
}

/* Any op of the comm. */
static inline int wait_for_op(void *arg)
{
	struct subject *s = arg;
	struct torcoll_wait w = {
		.size = sizeof(w), .comm = s->comm, .deadline_ns = in_seconds(PATIENCE),
	};
	int err = call(s, TORCOLL_IOC_WAIT, &w);

	return err ? err : w.status;
}

static inline void undo_comm(void *arg)
{
	must(del_comm(arg), "comm del");
}

static inline void undo_submit(void *arg)
{
	must(wait_for_op(arg), "wait");
}

static inline void redo_submit(void *arg)
{
	must(submit(arg), "submit");
}

#endif
