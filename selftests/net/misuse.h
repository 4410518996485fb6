/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What misuse and misuse_threads share: two ranks of a comm, their memory, ops of either.
 */
#ifndef SELFTESTS_MISUSE_H
#define SELFTESTS_MISUSE_H

#include "bad.h"

#include <sys/mman.h>

#define COUNT	65536
#define BYTES	(COUNT * sizeof(int32_t))

static struct rank rank[2];

static inline void *map_bytes(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "no memory");
	return p;
}

static inline void *map(void)
{
	return map_bytes(BYTES);
}

static inline void open_both(unsigned int depth, const char *name)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = map();
	}
	make_comm(rank, 2, depth, name);
}

static inline void close_both(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		close(rank[i].fd);
		munmap(rank[i].memory, BYTES);
	}
}

static inline uint32_t add_region(int fd, void *p)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)p, .length = BYTES,
	};

	need(!call(fd, TORCOLL_IOC_REGION_ADD, &add), "region: %s", sentence(fd));
	return add.region;
}

/* An allreduce of rank 0, with separate buffers where it is given some. */
static inline int begin_count(uint32_t in_region, void *send, void *recv, unsigned int count)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit), .comm = rank[0].comm, .collective = TORCOLL_ALLREDUCE,
		.type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = count, .send_region = in_region,
		.recv_region = in_region, .send_addr = (uintptr_t)send,
		.recv_addr = (uintptr_t)recv, .deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	int err = call(rank[0].fd, TORCOLL_IOC_SUBMIT, &submit);

	rank[0].op = submit.op;
	return err;
}

static inline int begin(uint32_t in_region, void *send, void *recv)
{
	return begin_count(in_region, send, recv, COUNT);
}

static inline int wait_for(unsigned int self, int32_t *status)
{
	struct torcoll_wait wait = {
		.size = sizeof(wait), .comm = rank[self].comm, .op = rank[self].op,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	int err = call(rank[self].fd, TORCOLL_IOC_WAIT, &wait);

	*status = wait.status;
	return err;
}

/* Of a process or a thread. */
static inline void wait_asleep(pid_t pid)
{
	char path[64], text[256] = "";
	int i;

	/* in a call that sleeps; or long enough */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (i = 0; i < 1000 && !strstr(text, ") S "); i++) {
		FILE *f = fopen(path, "re");

		usleep(1000);
		if (!f || !fgets(text, sizeof(text), f))
			text[0] = '\0';
		if (f)
			fclose(f);
	}
}

#endif
