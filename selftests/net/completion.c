// SPDX-License-Identifier: GPL-2.0
/*
 * How ops end: by the ring, with and without what only a process can do; eventfd, epoll, spinning; and a process
 * that writes nonsense into the ring. For completion.sh: wants the namespaces of a 2x2 torus, says KTAP.
 *
 *	completion		all cases
 *	completion compute	as a rank of the comm that the environment describes: an allreduce that is started,
 *				and found to be done while computing
 */
#include "bad.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <torcoll.h>

#define COUNT	4096
#define ENTRIES	8

struct ring {
	struct torcoll_ring *shared;
	size_t bytes;
	struct torcoll_completion *entry;
	uint32_t entries;
	int eventfd;
};

static int32_t memory[2][COUNT] __attribute__((aligned(65536)));
static struct rank rank[2];
static uint32_t region;

static int ring_setup(int fd, uint32_t entries, int event, struct torcoll_ring_setup *setup)
{
	*setup = (struct torcoll_ring_setup){
		.size = sizeof(*setup), .entries = entries, .eventfd = event,
	};
	return call(fd, TORCOLL_IOC_RING_SETUP, setup);
}

static void ring_open(int fd, struct ring *ring)
{
	struct torcoll_ring_setup setup;
	int err;

	ring->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	need(ring->eventfd >= 0, "no eventfd");
	err = ring_setup(fd, ENTRIES - 1, ring->eventfd, &setup);
	need(!err, "ring: %s: %s", strerror(err), sentence(fd));
	result(setup.entries == ENTRIES && setup.entry_size == sizeof(struct torcoll_completion) &&
	       setup.bytes >= setup.entries_offset + ENTRIES * setup.entry_size, "ring__setup");
	ring->shared = mmap(NULL, setup.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    TORCOLL_MMAP_RING);
	need(ring->shared != MAP_FAILED, "no mapping");
	ring->bytes = setup.bytes;
	ring->entry = (void *)((char *)ring->shared + setup.entries_offset);
	ring->entries = setup.entries;
}

static uint32_t ring_tail(const struct ring *ring)
{
	return __atomic_load_n(&ring->shared->tail, __ATOMIC_ACQUIRE);
}

/* Without a call: whether an entry has come. */
static bool ring_comes(const struct ring *ring, uint32_t tail)
{
	uint64_t end = now_ns() + 60 * NS_PER_S;

	while ((int32_t)(ring_tail(ring) - tail) < 0)
		if (now_ns() > end)
			return false;
	return true;
}

/* Of the last op, and the first that is not read. */
static const struct torcoll_completion *ring_last(const struct ring *ring)
{
	return &ring->entry[(ring_tail(ring) - 1) & (ring->entries - 1)];
}

static void ring_read_all(const struct ring *ring)
{
	__atomic_store_n(&ring->shared->head, ring_tail(ring), __ATOMIC_RELEASE);
}

/* An allreduce of rank 0. */
static int start_with(uint32_t flags, uint32_t in_region, uint64_t user_data)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit),
		.flags = flags | TORCOLL_OP_NOWAIT,
		.comm = rank[0].comm,
		.collective = TORCOLL_ALLREDUCE,
		.type = TORCOLL_I32,
		.redop = rank[0].redop ? rank[0].redop : TORCOLL_SUM,
		.count = COUNT,
		.send_region = in_region,
		.recv_region = in_region,
		.send_addr = (uintptr_t)memory[0],
		.recv_addr = (uintptr_t)memory[0],
		.user_data = user_data,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	unsigned int i;
	int err;

	for (i = 0; i < COUNT; i++)
		memory[0][i] = i;
	do {
		/* the one before may still answer for lost acknowledgements */
		err = call(rank[0].fd, TORCOLL_IOC_SUBMIT, &submit);
	} while (err == EBUSY && !strstr(sentence(rank[0].fd), "ring"));
	rank[0].op = submit.op;
	return err;
}

/* The same, with its result in the ring. */
static int start(uint32_t in_region, uint64_t user_data)
{
	return start_with(TORCOLL_OP_RING, in_region, user_data);
}

static int reap_with(uint32_t flags, uint64_t user_data)
{
	struct torcoll_wait wait = {
		.size = sizeof(wait), .comm = rank[0].comm, .op = rank[0].op,
		.flags = flags | TORCOLL_WAIT_NOHANG, .user_data = user_data,
	};

	return call(rank[0].fd, TORCOLL_IOC_WAIT, &wait);
}

static int reap_nohang(void)
{
	return reap_with(0, 0);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

/* Whether the file polls as one for which nothing has happened, whatever is asked. */
static bool is_quiet(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return !poll(&p, 1, 0);
}

static void other_rank(void)
{
	int err = begin_sum(rank, 1, COUNT);

	need(!err, "rank 1: %s: %s", strerror(err), sentence(rank[1].fd));
	err = end_sum(rank, 1, 2, COUNT);
	need(!err, "rank 1: %s: %s", strerror(-err), sentence(rank[1].fd));
}

static bool sum_is_there(void)
{
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		if (memory[0][i] != (int32_t)(2 * i + 1000))
			return false;
	return true;
}

static void try_refused(int fd)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct torcoll_ring_setup setup;
	void *p;

	result(start(0, 1) == EINVAL && strstr(sentence(fd), "no completion ring"),
	       "op__without_a_ring");
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, TORCOLL_MMAP_RING);
	result(p == MAP_FAILED && errno == EINVAL, "mmap__without_a_ring");
	result(ring_setup(fd, 1, fd, &setup) == EINVAL, "ring__eventfd_is_none");
	result(ring_setup(fd, 1, 12345, &setup) == EBADF, "ring__eventfd_is_closed");
}

static void try_mappings(int fd, const struct ring *ring)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct torcoll_ring_setup setup;
	void *p;

	result(ring_setup(fd, 1, -1, &setup) == EBUSY, "ring__twice");
	p = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, TORCOLL_MMAP_RING);
	result(p == MAP_FAILED && errno == EINVAL, "mmap__private");
	p = mmap(NULL, ring->bytes + page, PROT_READ, MAP_SHARED, fd, TORCOLL_MMAP_RING);
	result(p == MAP_FAILED && errno == EINVAL, "mmap__too_long");
	p = mmap(NULL, ring->bytes, PROT_READ, MAP_SHARED, fd, TORCOLL_MMAP_RING + page);
	result(p == MAP_FAILED && errno == EINVAL, "mmap__elsewhere");
}

/* In registered memory, all is done when the entry is there. */
static void try_registered(int fd, const struct ring *ring)
{
	struct pollfd event = { .fd = ring->eventfd, .events = POLLIN };
	const struct torcoll_completion *c;
	uint64_t raised = 0;

	need(!start(region, 77), "op: %s", sentence(fd));
	result(!readable(fd), "registered__not_readable_yet");
	other_rank();
	result(ring_comes(ring, 1), "registered__comes");
	c = ring_last(ring);
	result(c->op == rank[0].op && c->user_data == 77 && c->comm == rank[0].comm && !c->status &&
	       c->error_rank == ~0U && !c->flags, "registered__entry");
	result(sum_is_there(), "registered__result");
	/* the entry is there a moment before */
	while (reap_nohang() == EAGAIN)
		;
	result(reap_nohang() == ENOENT, "registered__is_reaped");
	result(readable(fd), "registered__readable");
	result(poll(&event, 1, 60000) == 1 &&
	       read(ring->eventfd, &raised, sizeof(raised)) == sizeof(raised) && raised == 1,
	       "registered__eventfd");
	ring_read_all(ring);
	result(!readable(fd), "registered__read");
}

/* Pages that are pinned for the op are unpinned by a process. */
static void try_pinned(int fd, const struct ring *ring)
{
	uint32_t tail = ring_tail(ring);

	need(!start(0, 78), "op: %s", sentence(fd));
	other_rank();
	result(ring_comes(ring, tail + 1) && ring_last(ring)->user_data == 78 &&
	       ring_last(ring)->flags == TORCOLL_COMPLETION_REAP, "pinned__entry");
	result(!end_sum(rank, 0, 2, COUNT), "pinned__reaped_by_a_call");
	ring_read_all(ring);
}

/* What is divided at the end is divided by a process. */
static void try_average(int fd, const struct ring *ring)
{
	struct torcoll_wait wait = { .size = sizeof(wait) };
	uint32_t tail = ring_tail(ring);
	unsigned int i, self, wrong = 0;

	rank[0].redop = rank[1].redop = TORCOLL_AVG;
	need(!start(region, 79), "op: %s", sentence(fd));
	need(!begin_sum(rank, 1, COUNT), "rank 1: %s", sentence(rank[1].fd));
	result(ring_comes(ring, tail + 1) && ring_last(ring)->user_data == 79 &&
	       ring_last(ring)->flags == TORCOLL_COMPLETION_REAP, "average__entry");
	for (self = 0; self < 2; self++) {
		wait.comm = rank[self].comm;
		wait.op = rank[self].op;
		wrong += call(rank[self].fd, TORCOLL_IOC_WAIT, &wait) || wait.status;
		for (i = 0; i < COUNT; i++)
			wrong += memory[self][i] != (int32_t)(i + 500);
	}
	result(!wrong, "average__result");
	rank[0].redop = rank[1].redop = 0;
	ring_read_all(ring);
}

/* The ring gets an op that was started without, once it is told to. */
static void try_diverted(int fd, const struct ring *ring)
{
	const uint32_t regions[] = { region, 0 };
	uint32_t tail = ring_tail(ring);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned int i, wrong = 0;

	for (i = 0; i < 2; i++) {
		need(!start_with(0, regions[i], 1), "op: %s", sentence(fd));
		result(reap_with(TORCOLL_WAIT_RING, 90 + i) == EAGAIN, "diverted__%u_runs", i);
		wrong += reap_with(TORCOLL_WAIT_RING, 92) != EINVAL ||
			 !strstr(sentence(fd), "completes to the ring");
		other_rank();
		result(ring_comes(ring, ++tail) && ring_last(ring)->user_data == 90 + i &&
		       ring_last(ring)->op == rank[0].op && !ring_last(ring)->status &&
		       ring_last(ring)->flags == (i ? TORCOLL_COMPLETION_REAP : 0),
		       "diverted__%u_comes", i);
		wrong += i ? end_sum(rank, 0, 2, COUNT) : !sum_is_there();
		wrong += reap_nohang() == 0;
		ring_read_all(ring);
	}
	result(!wrong, "diverted__once");
	/* one that is complete already */
	need(!start_with(0, region, 1), "op: %s", sentence(fd));
	other_rank();
	need(poll(&p, 1, 60000) == 1, "no result");
	result(!reap_with(TORCOLL_WAIT_RING, 93) && sum_is_there() && ring_tail(ring) == tail,
	       "diverted__is_complete");
}

static void try_full(int fd, const struct ring *ring)
{
	uint32_t tail = ring_tail(ring);
	unsigned int i;

	for (i = 0; i < ENTRIES; i++) {
		need(!start(region, i), "op: %s", sentence(fd));
		other_rank();
	}
	result(start(region, i) == EBUSY && strstr(sentence(fd), "ring is full"), "full__refused");
	result(ring_comes(ring, tail + ENTRIES), "full__all_came");
	need(!start_with(0, region, 0), "op: %s", sentence(fd));
	result(reap_with(TORCOLL_WAIT_RING, i) == EBUSY && strstr(sentence(fd), "ring is full"),
	       "full__not_diverted");
	other_rank();
	result(!end_sum(rank, 0, 2, COUNT), "full__not_diverted_ends");
	__atomic_store_n(&ring->shared->head, tail + 1, __ATOMIC_RELEASE);
	result(!start(region, i), "full__one_was_read");
	other_rank();
	result(ring_comes(ring, tail + ENTRIES + 1) && ring_last(ring)->user_data == ENTRIES,
	       "full__goes_on");
	ring_read_all(ring);
}

/* Whatever the process writes there: only its own entries suffer. */
static void try_nonsense(int fd, const struct ring *ring)
{
	uint32_t tail = ring_tail(ring), head, n;
	unsigned int i, refused = 0;
	uint64_t end;

	srand(1);
	for (i = 0, n = tail; i < 64; i++) {
		head = i % 4 ? (uint32_t)rand() * 2654435761U : n - i % 3;
		memset(ring->shared, rand(), ring->bytes);
		__atomic_store_n(&ring->shared->head, head, __ATOMIC_RELEASE);
		if (start(region, i)) {
			refused++;
			continue;
		}
		n++;
		other_rank();
	}
	result(refused && n != tail, "nonsense__some_are_refused");
	__atomic_store_n(&ring->shared->head, n, __ATOMIC_RELEASE);
	need(!start(region, 99), "op: %s", sentence(fd));
	other_rank();
	/* before it comes, the tail is nonsense as well */
	end = now_ns() + 60 * NS_PER_S;
	while (ring_tail(ring) != n + 1 && now_ns() < end)
		;
	result(ring_tail(ring) == n + 1 &&
	       ring_last(ring)->user_data == 99 && sum_is_there(), "nonsense__goes_on");
	ring_read_all(ring);
}

static void try_epoll(int fd, const struct ring *ring)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	uint32_t tail = ring_tail(ring);
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	need(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "no epoll");
	need(!start(region, 1), "op: %s", sentence(fd));
	result(!epoll_wait(epoll, &event, 1, 10), "epoll__nothing_yet");
	other_rank();
	result(epoll_wait(epoll, &event, 1, 60000) == 1 && event.data.fd == fd &&
	       event.events & EPOLLIN && ring_tail(ring) == tail + 1, "epoll__wakes");
	ring_read_all(ring);
	result(!epoll_wait(epoll, &event, 1, 10), "epoll__level_falls");
	close(epoll);
}

/* Its parent's ring is not there in a child, whose exit ends nothing. */
static void try_fork(void)
{
	char line[256];
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		FILE *maps = fopen("/proc/self/maps", "re");
		bool found = !maps;

		while (maps && fgets(line, sizeof(line), maps))
			found |= !!strstr(line, TORCOLL_DEVICE);
		_exit(found);
	}
	result(waitpid(pid, &status, 0) == pid && !status, "fork__child_has_no_ring");
}

static void try_failed(int fd, const struct ring *ring)
{
	struct torcoll_handle handle = { .size = sizeof(handle), .handle = rank[0].comm };
	struct torcoll_wait wait = { .size = sizeof(wait), .comm = rank[0].comm };
	uint32_t tail = ring_tail(ring);

	need(!start(region, 5), "op: %s", sentence(fd));
	need(!call(fd, TORCOLL_IOC_ABORT, &handle), "abort: %s", sentence(fd));
	result(ring_comes(ring, tail + 1) && ring_last(ring)->status == -ECANCELED &&
	       ring_last(ring)->flags == TORCOLL_COMPLETION_REAP, "failed__entry");
	wait.op = ring_last(ring)->op;
	ring_read_all(ring);
	need(!call(fd, TORCOLL_IOC_WAIT, &wait), "reap: %s", sentence(fd));
	/* others of the file's comms go on: who waits for their ops must be able to sleep */
	result(is_quiet(fd), "failed__is_no_event_once_reaped");
	/* and another, whose comm goes while it runs */
	make_comm(rank, 2, 8, "next");
	tail = ring_tail(ring);
	need(!start(region, 6), "op: %s", sentence(fd));
	handle.handle = rank[0].comm;
	need(!call(fd, TORCOLL_IOC_COMM_DEL, &handle), "close: %s", sentence(fd));
	result(ring_tail(ring) == tail + 1 && ring_last(ring)->status == -ECONNABORTED &&
	       ring_last(ring)->user_data == 6, "closed__entry");
	ring_read_all(ring);
}

/* A wait that looks for a while does not sleep. Others may need the processors just then, so several times. */
static void try_spin(void)
{
	struct torcoll_wait wait = { .size = sizeof(wait), .comm = rank[0].comm };
	struct rusage before, after;
	unsigned int tries;

	for (tries = 0; tries < 50; tries++) {
		need(!begin_sum(rank, 1, COUNT) && !begin_sum(rank, 0, COUNT), "ops");
		wait.op = rank[0].op;
		wait.spin_ns = NS_PER_S;
		getrusage(RUSAGE_THREAD, &before);
		need(!call(rank[0].fd, TORCOLL_IOC_WAIT, &wait) && !wait.status, "wait");
		getrusage(RUSAGE_THREAD, &after);
		need(!end_sum(rank, 1, 2, COUNT), "rank 1");
		if (before.ru_nvcsw == after.ru_nvcsw)
			break;
	}
	result(tries < 50, "spin__does_not_sleep");
	need(!begin_sum(rank, 0, COUNT), "op");
	wait.op = rank[0].op;
	wait.deadline_ns = now_ns() + NS_PER_S / 20;
	result(call(rank[0].fd, TORCOLL_IOC_WAIT, &wait) == ETIMEDOUT && now_ns() >= wait.deadline_ns,
	       "spin__ends_at_the_deadline");
	wait.deadline_ns = 0;
	wait.spin_ns = NS_PER_S / 100;
	other_rank();
	result(!call(rank[0].fd, TORCOLL_IOC_WAIT, &wait) && !wait.status, "spin__then_sleeps");
}

static int all(void)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)memory[0], .length = sizeof(memory[0]),
	};
	struct ring ring;
	unsigned int i;
	int fd;

	for (i = 0; i < 2; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = memory[i];
	}
	fd = rank[0].fd;
	need(!call(fd, TORCOLL_IOC_REGION_ADD, &add), "region: %s", sentence(fd));
	region = add.region;
	make_comm(rank, 2, 8, "live");
	try_refused(fd);
	ring_open(fd, &ring);
	try_mappings(fd, &ring);
	try_registered(fd, &ring);
	try_pinned(fd, &ring);
	try_average(fd, &ring);
	try_diverted(fd, &ring);
	try_full(fd, &ring);
	try_nonsense(fd, &ring);
	try_epoll(fd, &ring);
	try_fork();
	try_spin();
	try_failed(fd, &ring);
	return finish();
}

/* --- with the library, while computing --- */

#define BIG	(1U << 20)	/* elements: 4 MiB */

static int compute(void)
{
	static int32_t x[BIG];
	struct torcoll *t;
	struct torcoll_comm *comm;
	struct torcoll_request req;
	unsigned long looks = 0;
	volatile double sum = 0;
	unsigned int i;
	int err;

	for (i = 0; i < BIG; i++)
		x[i] = i;
	if (torcoll_open(&t) || torcoll_register(t, x, sizeof(x)) || torcoll_comm_from_env(t, &comm))
		goto failed;
	/* once before, so that no code and no ring has to be fetched from anywhere */
	if (torcoll_iallreduce(comm, x, x, 1, TORCOLL_I32, TORCOLL_MAX, &req))
		goto failed;
	while ((err = torcoll_test(&req)) == -EAGAIN)
		;
	if (err || torcoll_barrier(comm) ||
	    torcoll_iallreduce(comm, x, x, BIG, TORCOLL_I32, TORCOLL_SUM, &req))
		goto failed;
	while ((err = torcoll_test(&req)) == -EAGAIN) {
		for (i = 0; i < 10000; i++)
			sum = sum + i;
		looks++;
	}
	if (err)
		goto failed;
	for (i = 0; i < BIG; i++)
		if (x[i] != (int32_t)(i * torcoll_comm_size(comm)))
			return 1;
	printf("pid %d looked %lu times\n", getpid(), looks);
	torcoll_close(t);
	return 0;
failed:
	fprintf(stderr, "%s\n", torcoll_last_error());
	return 1;
}

int main(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "compute") ? compute() : all();
}
