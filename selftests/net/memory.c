// SPDX-License-Identifier: GPL-2.0
/*
 * Each kind of memory that ops can work in: plain, registered, huge pages, a file's, the module's; and the library's
 * cache of what it has registered itself, while the program unmaps, discards, replaces and forks. For memory.sh: a
 * rank of the comm that the environment describes, with a row of KTAP for each kind at rank 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <torcoll.h>

#define COUNT	(64U << 10)
#define BYTES	(COUNT * sizeof(int32_t))

static struct torcoll *t;
static struct torcoll_comm *comm;
static unsigned int cases, failed;

/* All ranks try the same, and agree on how it went. */
static void result(bool good, const char *name)
{
	int32_t all = good;

	if (torcoll_allreduce(comm, &all, &all, 1, TORCOLL_I32, TORCOLL_MIN)) {
		fprintf(stderr, "%s: %s\n", name, torcoll_last_error());
		exit(1);
	}
	if (!good)
		fprintf(stderr, "rank %u: not %s: %s\n", torcoll_comm_rank(comm), name,
			torcoll_last_error());
	failed += !all;
	cases++;
	if (!torcoll_comm_rank(comm))
		printf("%sok %u %s\n", all ? "" : "not ", cases, name);
}

static void *map(int flags)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return p;
}

/* The sum over the ranks of vectors that are others each time. */
static bool sum_is_right(int32_t *x)
{
	static unsigned int times;
	int32_t size = torcoll_comm_size(comm), rank = torcoll_comm_rank(comm);
	unsigned int i;

	times++;
	for (i = 0; i < COUNT; i++)
		x[i] = i * times + rank;
	if (torcoll_allreduce(comm, x, x, COUNT, TORCOLL_I32, TORCOLL_SUM))
		return false;
	for (i = 0; i < COUNT; i++)
		if (x[i] != (int32_t)(size * i * times + size * (size - 1) / 2))
			return false;
	return true;
}

static void try_registered(void)
{
	void *p = map(MAP_PRIVATE | MAP_ANONYMOUS);
	bool good = !torcoll_register(t, p, BYTES) && sum_is_right(p) && sum_is_right(p);

	result(good && !torcoll_unregister(t, p), "registered");
	munmap(p, BYTES);
}

/* Where there are none, ordinary pages are as good. */
static void try_huge(void)
{
	size_t huge = 2 << 20;
	char *p = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = (char *)(((uintptr_t)p + huge - 1) & -huge);

	madvise(at, huge, MADV_HUGEPAGE);
	result(!torcoll_register(t, at, huge) && sum_is_right((int32_t *)(at + sysconf(_SC_PAGESIZE))) &&
	       sum_is_right((int32_t *)(at + huge - BYTES)) && !torcoll_unregister(t, at), "huge_pages");
	munmap(p, 2 * huge);
}

/* Pages of a huge page, some next to each other and some in another order. */
static void try_shuffled(void)
{
	size_t huge = 2 << 20, page = sysconf(_SC_PAGESIZE), i;
	char *p = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = (char *)(((uintptr_t)p + huge - 1) & -huge);
	char *to = map(MAP_PRIVATE | MAP_ANONYMOUS);
	bool good = true;

	madvise(at, huge, MADV_HUGEPAGE);
	memset(at, 1, huge);
	for (i = 0; i < BYTES / page; i++)
		good &= mremap(at + (i ^ (i >> 2 & 1)) * page, page, page,
			       MREMAP_MAYMOVE | MREMAP_FIXED, to + i * page) == to + i * page;
	result(good && sum_is_right((int32_t *)to) && !torcoll_register(t, to, BYTES) &&
	       sum_is_right((int32_t *)to) && !torcoll_unregister(t, to), "huge_pages__shuffled");
	munmap(to, BYTES);
	munmap(p, 2 * huge);
}

/* Shared memory can be pinned; of a file on a disk that is refused, or works. */
static void try_shared(void)
{
	int fd = memfd_create("torcoll", MFD_CLOEXEC);
	void *p;

	if (fd < 0 || ftruncate(fd, BYTES))
		exit(1);
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	result(p != MAP_FAILED && sum_is_right(p) && sum_is_right(p), "shared");
	munmap(p, BYTES);
	close(fd);
}

static void try_allocated(void)
{
	int32_t *p, *q;
	bool good;

	good = !torcoll_alloc(t, BYTES, (void **)&p) && !torcoll_alloc(t, BYTES + 1, (void **)&q) &&
	       !p[0] && !p[COUNT - 1] && sum_is_right(p) && sum_is_right(q) && sum_is_right(p);
	result(good, "allocated");
	result(!torcoll_allreduce(comm, p, q, COUNT, TORCOLL_I32, TORCOLL_MAX) &&
	       q[7] == p[7], "allocated__from_one_to_another");
	result(!torcoll_free(t, p) && torcoll_free(t, p) == -ENOENT && !torcoll_free(t, q),
	       "allocated__freed");
}

/* Who only gives something needs no right to write it: short and long, pages of its own and of a file. */
static bool is_broadcast_from(const int32_t *from, uint32_t count)
{
	int32_t *x = malloc(BYTES);
	bool root = !torcoll_comm_rank(comm), good;

	memset(x, 0xff, BYTES);
	good = !torcoll_broadcast(comm, root ? (void *)from : x, count, TORCOLL_I32, 0) &&
	       (root || !memcmp(x, from, count * sizeof(*x)));
	free(x);
	return good;
}

/* The root keeps its own block where it is. */
static bool is_scattered_from(const int32_t *from, uint32_t count)
{
	uint32_t rank = torcoll_comm_rank(comm), each = count / torcoll_comm_size(comm);
	const int32_t *block = from + rank * each;
	int32_t *x = malloc(BYTES);
	bool good;

	memset(x, 0xff, BYTES);
	good = !torcoll_scatter(comm, rank ? NULL : from, rank ? x : (void *)block, count,
				TORCOLL_I32, 0) &&
	       (!rank || !memcmp(x, block, each * sizeof(*x)));
	free(x);
	return good;
}

static void try_read_only(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int32_t *own = map(MAP_PRIVATE | MAP_ANONYMOUS);
	const int32_t *file = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	uint32_t i;

	for (i = 0; i < COUNT; i++)
		own[i] = 3 * i;
	mprotect(own, BYTES, PROT_READ);
	result(is_broadcast_from(own, 2), "read_only__broadcast_of_few");
	result(is_broadcast_from(own, COUNT), "read_only__broadcast");
	result(file != MAP_FAILED && is_broadcast_from(file, COUNT), "read_only__broadcast_of_a_file");
	result(is_broadcast_from(own, COUNT), "read_only__broadcast_once_more");
	result(is_scattered_from(own, 8), "read_only__scatter_of_few_in_place");
	result(is_scattered_from(own, COUNT), "read_only__scatter_in_place");
	result(file != MAP_FAILED && is_scattered_from(file, COUNT),
	       "read_only__scatter_of_a_file_in_place");
	munmap(own, BYTES);
	munmap((void *)file, BYTES);
	close(fd);
}

/* --- the cache --- */

static void try_cached(void)
{
	result(sum_is_right(map(MAP_PRIVATE | MAP_ANONYMOUS)), "cached");
}

/* Other memory at the address of some that was used: again and again. */
static void try_unmapped(void)
{
	void *p = map(MAP_PRIVATE | MAP_ANONYMOUS), *q;
	bool good = true;
	int i;

	for (i = 0; i < 5; i++) {
		good &= sum_is_right(p) && sum_is_right(p);
		munmap(p, BYTES);
		q = mmap(p, BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		good &= q == p;
	}
	result(good, "cached__unmapped");
	munmap(p, BYTES);
}

static void try_replaced(void)
{
	void *p = map(MAP_PRIVATE | MAP_ANONYMOUS), *q = map(MAP_PRIVATE | MAP_ANONYMOUS);
	bool good = sum_is_right(p) && sum_is_right(q);

	good &= mmap(p, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0) == p && sum_is_right(p);
	result(good, "cached__mapped_over");
	/* what was elsewhere before comes here */
	good = sum_is_right(q) &&
	       mremap(q, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, p) == p && sum_is_right(p);
	result(good, "cached__moved");
	munmap(p, BYTES);
}

/* A page in the middle, as an allocator gives it back. */
static void try_discarded(void)
{
	char *p = map(MAP_PRIVATE | MAP_ANONYMOUS);
	bool good = sum_is_right((int32_t *)p);

	madvise(p + BYTES / 2, sysconf(_SC_PAGESIZE), MADV_DONTNEED);
	good &= sum_is_right((int32_t *)p) && sum_is_right((int32_t *)p);
	result(good, "cached__discarded");
	munmap(p, BYTES);
}

/* Which pages are the parent's is settled at the fork: those that it has registered. */
static void try_forked(void)
{
	int32_t *p = map(MAP_PRIVATE | MAP_ANONYMOUS);
	bool good = sum_is_right(p);
	int gate[2], status;
	char byte;
	pid_t pid;

	if (pipe(gate))
		exit(1);
	pid = fork();
	if (!pid) {
		close(gate[1]);
		memset(p, 0x55, BYTES);
		/* alive while the parent goes on, so that pages are shared as long as can be */
		_exit(read(gate[0], &byte, 1) != 0 || p[3] != 0x55555555);
	}
	close(gate[0]);
	good &= sum_is_right(p) && sum_is_right(p);
	close(gate[1]);
	good &= waitpid(pid, &status, 0) == pid && !status && sum_is_right(p);
	result(good, "cached__forked");
	munmap(p, BYTES);
}

/* Memory of the heap, that comes and goes at whatever places. */
static void try_heap(void)
{
	int32_t *p;
	bool good = true;
	int i;

	for (i = 0; i < 20 && good; i++) {
		p = malloc(BYTES + i * 5000);
		good = p && sum_is_right(p) && sum_is_right(p + i * 1000);
		free(p);
	}
	result(good, "cached__heap");
}

/* While an op runs, memory that it does not use comes and goes. */
static void try_async(void)
{
	struct torcoll_request req;
	int32_t *p = map(MAP_PRIVATE | MAP_ANONYMOUS), *q = map(MAP_PRIVATE | MAP_ANONYMOUS);
	bool good = sum_is_right(q);
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		p[i] = 1;
	good &= !torcoll_iallreduce(comm, p, p, COUNT, TORCOLL_I32, TORCOLL_SUM, &req);
	munmap(q, BYTES);
	good &= !torcoll_wait(&req) && p[COUNT - 1] == (int32_t)torcoll_comm_size(comm);
	result(good, "cached__others_unmapped_meanwhile");
	munmap(p, BYTES);
}

int main(void)
{
	if (torcoll_open(&t) || torcoll_comm_from_env(t, &comm)) {
		fprintf(stderr, "%s\n", torcoll_last_error());
		return 1;
	}
	try_registered();
	try_huge();
	try_shuffled();
	try_shared();
	try_allocated();
	try_read_only();
	try_cached();
	try_unmapped();
	try_replaced();
	try_discarded();
	try_forked();
	try_heap();
	try_async();
	if (!torcoll_comm_rank(comm))
		printf("1..%u\n", cases);
	torcoll_close(t);
	return !!failed;
}
