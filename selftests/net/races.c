// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of a rank that submit and wait for results at a time, in every way there is, and what of one must not be in
 * another's way. For misuse.sh: wants the namespaces of a 2x2 torus, says KTAP.
 */
#include "bad.h"

#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define COUNT	4096
#define SHORT	16		/* elements that are copied, not pinned */
#define BYTES	(COUNT * sizeof(int32_t))

static struct rank rank[2];

static void *map(void)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "no memory");
	return p;
}

static void open_both(unsigned int depth, const char *name)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = map();
	}
	make_comm(rank, 2, depth, name);
}

static void close_both(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		close(rank[i].fd);
		munmap(rank[i].memory, BYTES);
	}
}

static int submit(unsigned int self, unsigned int flags, void *memory, unsigned int count,
		  uint64_t *op)
{
	struct torcoll_submit s = {
		.size = sizeof(s), .comm = rank[self].comm, .flags = flags,
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_MAX,
		.count = count, .send_addr = (uintptr_t)memory, .recv_addr = (uintptr_t)memory,
		.deadline_ns = now_ns() + 100 * NS_PER_S,
	};
	int err = call(rank[self].fd, TORCOLL_IOC_SUBMIT, &s);

	*op = s.op;
	return err ? err : -s.status;
}

static int wait_for(unsigned int self, unsigned int flags, uint64_t op)
{
	struct torcoll_wait wait = {
		.size = sizeof(wait), .comm = rank[self].comm, .flags = flags, .op = op,
		.deadline_ns = flags & TORCOLL_WAIT_NOHANG ? 0 : now_ns() + 100 * NS_PER_S,
	};
	int err = call(rank[self].fd, TORCOLL_IOC_WAIT, &wait);

	return err ? err : -wait.status;
}

static void abort_comm(void)
{
	struct torcoll_handle handle = { .size = sizeof(handle), .handle = rank[0].comm };

	call(rank[0].fd, TORCOLL_IOC_ABORT, &handle);
}

/* The other rank calls the same, as often, one by one. */
struct partner {
	pthread_t thread;
	unsigned int calls, count;
};

static void *call_same(void *arg)
{
	struct partner *p = arg;
	unsigned int i;
	uint64_t op;

	for (i = 0; i < p->calls; i++)
		if (submit(1, TORCOLL_OP_WAIT, rank[1].memory, p->count, &op))
			break;
	return NULL;
}

static void begin_partner(struct partner *p, unsigned int calls, unsigned int count)
{
	p->calls = calls;
	p->count = count;
	need(!pthread_create(&p->thread, NULL, call_same, p), "no thread");
}

/* --- what is in the ring can be asked for --- */

#define WATCHERS	200	/* of the eventfd, who keep the module for a while as it posts */
#define POSTED		50

struct ring {
	struct torcoll_ring *shared;
	struct torcoll_ring_setup setup;
};

static void make_ring(struct ring *ring, int eventfd)
{
	ring->setup = (struct torcoll_ring_setup){
		.size = sizeof(ring->setup), .entries = 4, .eventfd = eventfd,
	};
	need(!call(rank[0].fd, TORCOLL_IOC_RING_SETUP, &ring->setup), "ring: %s", sentence(rank[0].fd));
	ring->shared = mmap(NULL, ring->setup.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rank[0].fd,
			    TORCOLL_MMAP_RING);
	need(ring->shared != MAP_FAILED, "ring");
}

/* Look without a system call until there is an entry. */
static const struct torcoll_completion *next_entry(struct ring *ring)
{
	uint32_t head = ring->shared->head;
	uint64_t end = now_ns() + 100 * NS_PER_S;

	while (__atomic_load_n(&ring->shared->tail, __ATOMIC_ACQUIRE) == head)
		need(now_ns() < end, "no entry");
	return (void *)((char *)ring->shared + ring->setup.entries_offset +
			(head & (ring->setup.entries - 1)) * ring->setup.entry_size);
}

static void try_ring(void)
{
	int event = eventfd(0, EFD_CLOEXEC), watcher[WATCHERS];
	const struct torcoll_completion *entry;
	struct epoll_event in = { .events = EPOLLIN };
	struct partner partner;
	struct ring ring;
	unsigned int i;
	bool good = true;
	uint64_t op;

	open_both(2, "ring");
	for (i = 0; i < WATCHERS; i++) {
		watcher[i] = epoll_create1(EPOLL_CLOEXEC);
		need(watcher[i] >= 0 && !epoll_ctl(watcher[i], EPOLL_CTL_ADD, event, &in), "epoll");
	}
	make_ring(&ring, event);
	begin_partner(&partner, POSTED, COUNT);
	for (i = 0; i < POSTED && good; i++) {
		need(!submit(0, TORCOLL_OP_RING, rank[0].memory, COUNT, &op), "op: %s",
		     sentence(rank[0].fd));
		entry = next_entry(&ring);
		need(entry->op == op && entry->flags & TORCOLL_COMPLETION_REAP, "the entry");
		good = !wait_for(0, TORCOLL_WAIT_NOHANG, op);
		__atomic_store_n(&ring.shared->head, i + 1, __ATOMIC_RELEASE);
	}
	result(good, "ring__entry_to_reap_is_found");
	munmap(ring.shared, ring.setup.bytes);
	close_both();
	pthread_join(partner.thread, NULL);
	for (i = 0; i < WATCHERS; i++)
		close(watcher[i]);
	close(event);
}

/* --- any op --- */

#define SEEKERS		3
#define SOUGHT		60

static void *seek(void *arg)
{
	unsigned int i;
	void *p = map();
	uint64_t op;
	int err = 0;

	for (i = 0; i < SOUGHT && !err; i++) {
		err = submit(0, 0, p, SHORT, &op);
		if (err)
			printf("# submit %u: %s: %s\n", i, strerror(err), sentence(rank[0].fd));
		else
			err = wait_for(0, 0, 0);
	}
	if (err)
		printf("# call %u: %s\n", i, strerror(err));
	*(bool *)arg = !err;
	return NULL;
}

/* Each submits one and waits for any: there is one for each of them at any time, whatever slots they are in. */
static void try_any(void)
{
	pthread_t thread[SEEKERS];
	bool good[SEEKERS], all = true;
	struct partner partner;
	unsigned int i;

	open_both(4, "any");
	begin_partner(&partner, SEEKERS * SOUGHT, SHORT);
	for (i = 0; i < SEEKERS; i++)
		need(!pthread_create(&thread[i], NULL, seek, &good[i]), "no thread");
	for (i = 0; i < SEEKERS; i++) {
		pthread_join(thread[i], NULL);
		all &= good[i];
	}
	result(all, "any__there_is_one_for_each");
	if (!all)
		abort_comm();
	pthread_join(partner.thread, NULL);
	close_both();
}

/* --- a result that is about to be asked for --- */

struct late {
	uint64_t op;
	unsigned int us;
	int err;
};

/* Submits, and waits some time later, as a program does that has something else to do meanwhile. */
static void *wait_late(void *arg)
{
	struct late *l = arg;

	usleep(l->us);
	l->err = wait_for(0, 0, l->op);
	return NULL;
}

static void try_gap(void)
{
	struct late l = { .us = 100000 };
	struct partner partner;
	pthread_t thread;
	uint64_t op;
	int err;

	open_both(1, "gap");
	begin_partner(&partner, 2, SHORT);
	need(!submit(0, 0, rank[0].memory, SHORT, &l.op), "op: %s", sentence(rank[0].fd));
	need(!pthread_create(&thread, NULL, wait_late, &l), "no thread");
	err = submit(0, TORCOLL_OP_WAIT, rank[0].memory, SHORT, &op);
	if (err)
		printf("# %s: %s\n", strerror(err), sentence(rank[0].fd));
	result(!err, "gap__slot_of_a_thread_that_waits_later");
	pthread_join(thread, NULL);
	result(!l.err, "gap__its_result_is_its_own");
	if (err)
		abort_comm();
	pthread_join(partner.thread, NULL);
	close_both();
}

/* Where nobody is about to ask for it, that is said. */
static void try_left(void)
{
	struct partner partner;
	uint64_t op, begun;
	int err;

	open_both(1, "left");
	begin_partner(&partner, 1, SHORT);
	need(!submit(0, 0, rank[0].memory, SHORT, &op), "op: %s", sentence(rank[0].fd));
	begun = now_ns();
	err = submit(0, 0, rank[0].memory, SHORT, &op);
	result(err == EBUSY && strstr(sentence(rank[0].fd), "wait to be reaped"),
	       "left__nobody_asks_is_told");
	result(now_ns() - begun < 50 * NS_PER_S, "left__nobody_asks_is_told_soon");
	pthread_join(partner.thread, NULL);
	close_both();
}

/* --- who used the file last --- */

#define HEIRS	60

/* Processes that use nothing and end with an error: one of them may be where their grandparent was in the kernel's memory. */
static void be_born_and_die(void)
{
	int gate[2], i;
	char byte;

	need(!pipe(gate), "pipe");
	for (i = 0; i < HEIRS; i++) {
		pid_t pid = fork();

		need(pid >= 0, "fork");
		if (pid)
			continue;
		close(gate[1]);
		_exit(!read(gate[0], &byte, 1));
	}
	close(gate[0]);
	close(gate[1]);
	while (wait(NULL) > 0)
		;
}

static void join_self(unsigned int self)
{
	static const uint32_t members[] = { 0, 1 };
	struct joiner j = {
		.fd = open_on(self), .name = "heirs", .members = members, .ranks = 2, .depth = 2,
		.deadline_ns = now_ns() + 60 * NS_PER_S,
	};

	join(&j);
	need(!j.err, "comm: %s: %s", strerror(j.err), sentence(j.fd));
	rank[self].fd = j.fd;
	rank[self].comm = j.comm;
	rank[self].memory = map();
}

/* Rank 0: its child has the file when it has closed it, and has ended. */
static void live_and_die(int said)
{
	int gone[2];
	uint64_t op;
	char byte;

	need(!pipe(gone), "pipe");
	join_self(0);
	if (fork()) {
		close(rank[0].fd);
		_exit(0);
	}
	close(gone[1]);
	need(!read(gone[0], &byte, 1), "the parent");
	be_born_and_die();
	byte = submit(0, TORCOLL_OP_WAIT, rank[0].memory, SHORT, &op);
	need(write(said, &byte, 1) == 1, "pipe");
	_exit(0);
}

static void try_heirs(void)
{
	struct partner partner;
	cpu_set_t all, one;
	char byte = 1;
	int said[2];
	pid_t pid;

	/* memory is used again where it was given back */
	need(!sched_getaffinity(0, sizeof(all), &all), "affinity");
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	need(!sched_setaffinity(0, sizeof(one), &one) && !pipe(said), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(said[0]);
		live_and_die(said[1]);
	}
	close(said[1]);
	join_self(1);
	begin_partner(&partner, 1, SHORT);
	result(read(said[0], &byte, 1) == 1 && !byte, "heirs__only_who_used_it_ends_it");
	pthread_join(partner.thread, NULL);
	waitpid(pid, NULL, 0);
	sched_setaffinity(0, sizeof(all), &all);
	close(said[0]);
	close(rank[1].fd);
	munmap(rank[1].memory, BYTES);
}

/* --- a result that cannot be written for now --- */

static void *wait_short(void *arg)
{
	return (void *)(intptr_t)wait_for(0, 0, *(uint64_t *)arg);
}

static int faults_of(void *p)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)p, .len = BYTES },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		return -1;
	need(!ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &reg), "userfaultfd");
	return fd;
}

static void resolve(int fd, void *p)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)p, .len = sysconf(_SC_PAGESIZE) },
	};

	need(!ioctl(fd, UFFDIO_ZEROPAGE, &zero), "userfaultfd");
}

/* While a thread is kept from writing its result, others get theirs. */
static void try_fault(void)
{
	void *p = map(), *err;
	struct uffd_msg msg;
	pthread_t thread;
	uint64_t op[2];
	int fd;

	open_both(4, "fault");
	need(!submit(0, 0, p, SHORT, &op[0]) && !submit(0, 0, rank[0].memory, SHORT, &op[1]), "ops");
	need(!madvise(p, BYTES, MADV_DONTNEED), "madvise");
	fd = faults_of(p);
	if (fd < 0) {
		result(true, "fault__others_get_theirs # SKIP no userfaultfd");
		goto out;
	}
	need(!pthread_create(&thread, NULL, wait_short, &op[0]), "no thread");
	need(!submit(1, TORCOLL_OP_WAIT, rank[1].memory, SHORT, &op[0]), "rank 1");
	need(read(fd, &msg, sizeof(msg)) == sizeof(msg) && msg.event == UFFD_EVENT_PAGEFAULT,
	     "a fault");
	need(!submit(1, TORCOLL_OP_WAIT, rank[1].memory, SHORT, &op[0]), "rank 1");
	/* for a thread that hangs, there is no deadline */
	alarm(60);
	result(!wait_for(0, 0, op[1]), "fault__others_get_theirs");
	alarm(0);
	resolve(fd, p);
	pthread_join(thread, &err);
	result(!err, "fault__goes_on_in_the_end");
	close(fd);
out:
	munmap(p, BYTES);
	close_both();
}

int main(void)
{
	try_ring();
	try_any();
	try_gap();
	try_left();
	try_heirs();
	try_fault();
	return finish();
}
