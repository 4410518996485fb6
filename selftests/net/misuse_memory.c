// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of watched memory while a program changes its mappings: pages that go while they are registered, huge
 * pages that are split. For misuse.sh: wants the namespaces of a 2x2 torus, says KTAP.
 */
#include "misuse.h"

#include <sys/wait.h>

/* --- memory that does not stay --- */

#define DISCARDED	(16U << 20)	/* bytes: pinning them takes longer than a discard */

static bool stop;

static void *discard(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		madvise((char *)arg + DISCARDED - 65536, 65536, MADV_DONTNEED);
	return NULL;
}

/* What is replaced each time that it is pinned is no region that nobody can use. */
static void try_discarded(void)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .flags = TORCOLL_REGION_WATCH, .length = DISCARDED,
	};
	struct torcoll_handle del = { .size = sizeof(del) };
	uint64_t end = now_ns() + 20 * NS_PER_S;
	int fd = open_on(0), err;
	pthread_t thread;
	void *p;

	if (!watches(fd)) {
		result(true, "discarded # SKIP this kernel has no MMU notifiers");
		close(fd);
		return;
	}
	p = mmap(NULL, DISCARDED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(p != MAP_FAILED, "no memory");
	add.addr = (uintptr_t)p;
	need(!pthread_create(&thread, NULL, discard, p), "no thread");
	do {
		err = call(fd, TORCOLL_IOC_REGION_ADD, &add);
		del.handle = add.region;
	} while (!err && !call(fd, TORCOLL_IOC_REGION_DEL, &del) && now_ns() < end);
	result(err == ESTALE && strstr(sentence(fd), "meanwhile"),
	       "discarded__while_it_is_registered");
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	result(!call(fd, TORCOLL_IOC_REGION_ADD, &add), "discarded__registered_in_the_end");
	munmap(p, DISCARDED);
	close(fd);
}

/* --- huge pages --- */

#define HUGE_BYTES	(2U << 20)

/* A split does not change the memory; whether the module takes it for a change is its affair. */
static bool split_is_harmless(int32_t *p, uint32_t region, const char *how)
{
	int32_t status = 0;
	int err;

	memset(p, 0, BYTES);
	err = begin(region, p, p);
	printf("# %s: %s\n", how, strerror(err));
	if (err && err != ESTALE)
		return false;
	if (err)
		err = begin(0, p, p);
	return !err && !begin_sum(rank, 1, COUNT) && !wait_for(0, &status) && !status &&
	       !wait_for(1, &status) && !status && p[9] == 1009 && p[COUNT - 1] == COUNT - 1 + 1000;
}

static uint32_t watch_huge(char *p)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .flags = TORCOLL_REGION_WATCH, .addr = (uintptr_t)p,
		.length = HUGE_BYTES,
	};

	need(!call(rank[0].fd, TORCOLL_IOC_REGION_ADD, &add), "region: %s", sentence(rank[0].fd));
	return add.region;
}

static void try_split(void)
{
	char *p, *at;
	uint32_t region;
	pid_t pid;

	open_both(4, "split");
	if (!watches(rank[0].fd)) {
		result(true, "huge # SKIP this kernel has no MMU notifiers");
		close_both();
		return;
	}
	p = mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(p != MAP_FAILED, "no memory");
	at = (char *)(((uintptr_t)p + HUGE_BYTES - 1) & -(uintptr_t)HUGE_BYTES);
	madvise(at, HUGE_BYTES, MADV_HUGEPAGE);
	memset(at, 1, HUGE_BYTES);
	region = watch_huge(at);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		memset(at, 0x77, HUGE_BYTES);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	result(split_is_harmless((int32_t *)at, region, "fork"), "huge__forked");
	madvise(at, HUGE_BYTES, MADV_DONTNEED);
	memset(at, 1, HUGE_BYTES);
	region = watch_huge(at);
	mprotect(at + BYTES, 65536, PROT_READ);
	result(split_is_harmless((int32_t *)at, region, "mprotect"), "huge__protected_in_part");
	munmap(p, 2 * HUGE_BYTES);
	close_both();
}

int main(void)
{
	try_discarded();
	try_split();
	return finish();
}
