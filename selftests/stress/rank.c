// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a rank: it joins, calls, misbehaves, leaves or goes on. See stress.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

#define MEMORY_BYTES	(2 * DEPTH * PLACE_BYTES)

uint64_t rnd(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

uint64_t in_ms(uint64_t ms)
{
	const char *slow = getenv("TORCOLL_SLOW");

	return now_ns() + ms * 1000000 * (slow ? atoi(slow) : 1);
}

uint64_t deadline(const struct rank *r)
{
	return in_ms(r->plot->shaky ? 5000 : 20000);
}

int call(const struct rank *r, unsigned long nr, void *arg)
{
	return ioctl(r->fd, nr, arg) ? -errno : 0;
}

/* ---- ends ---- */

void complain(const struct rank *r, const char *format, ...)
{
	const struct plot *p = r->plot;
	char text[512];
	va_list args;
	int n;

	n = snprintf(text, sizeof(text), "%s, seed %#llx, rank %u of %u, misdeed %d of %u%s%s: ", p->name,
		     (unsigned long long)p->seed, r->rank, p->ranks, p->misdeed, p->culprit,
		     r->ring ? ", ring" : "", r->epoch ? ", shrunk" : "");
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
	fprintf(stderr, "%s\n", text);
}

void wrong(const struct rank *r, const char *what, int err)
{
	char why[256] = "";
	struct torcoll_error e = {
		.size = sizeof(e), .len = sizeof(why) - 1, .text = (uintptr_t)why,
	};

	call(r, TORCOLL_IOC_ERROR, &e);
	complain(r, "%s: %s: %s", what, strerror(-err), why);
	_exit(1);
}

bool has_reason(const struct rank *r, int err)
{
	enum misdeed misdeed = r->plot->misdeed;
	bool mine = r->rank == r->plot->culprit;

	switch (err) {
	case -ECONNABORTED:
	case -ETIMEDOUT:
		return misdeed != NONE || r->plot->shaky;
	case -EHOSTUNREACH:
	case -EHOSTDOWN:
		/* also a result of calls at others that have timed out there */
		return r->plot->shaky;
	case -EPROTO:
		/* nor do nodes join whose rates differ at that moment */
		return misdeed == MISMATCH || (r->plot->shaky && !r->comm);
	case -ENOENT:
		return mine && (misdeed == CLOSE_COMM || misdeed == REAP);
	case -EBADF:
		return mine && misdeed == CLOSE_FILE;
	case -ECANCELED:
		return mine && misdeed == ABORT;
	default:
		return false;
	}
}

/* Go on with who is left, where nothing may fail, unless links do. */
static void survive(struct rank *r)
{
	uint32_t member[RANKS_MAX];
	struct torcoll_comm_shrink s = {
		.size = sizeof(s), .comm = r->comm, .deadline_ns = deadline(r),
		.members = (uintptr_t)member, .room = RANKS_MAX,
	};
	struct torcoll_handle old = { .size = sizeof(old), .handle = r->comm };
	struct plot *after = malloc(sizeof(*after));
	int err;

	*after = *r->plot;
	after->misdeed = NONE;
	after->shrinks = false;
	err = call(r, TORCOLL_IOC_COMM_SHRINK, &s);
	r->plot = after;
	if (err)
		leave(r, "shrink", err);
	/* with the ops that were in flight there: their memory is needed now */
	err = call(r, TORCOLL_IOC_COMM_DEL, &old);
	if (err)
		leave(r, "comm del", err);
	after->seed++;
	after->ranks = s.ranks;
	r->rank = s.rank;
	r->comm = s.shrunk;
	r->epoch++;
	if (!r->rank)
		count(&tally->shrunk);
	run_ops(r);
}

/* Whether or not it has heard of it yet. */
static bool has_closed(const struct rank *r)
{
	enum misdeed misdeed = r->plot->misdeed;

	return r->rank == r->plot->culprit &&
	       (misdeed == CLOSE_COMM || misdeed == CLOSE_FILE || misdeed == REAP);
}

void leave(struct rank *r, const char *what, int err)
{
	if (!has_reason(r, err))
		wrong(r, what, err);
	if (r->plot->shrinks && r->comm && !has_closed(r))
		survive(r);
	_exit(0);
}

/* ---- misdeeds ---- */

static void misbehave(struct rank *r)
{
	struct torcoll_handle h = { .size = sizeof(h), .handle = r->comm };
	struct torcoll_wait w = {
		.size = sizeof(w), .comm = r->comm, .flags = TORCOLL_WAIT_NOHANG,
	};

	switch (r->plot->misdeed) {
	case DIE:
		raise(SIGKILL);
		break;
	case ABORT:
		call(r, TORCOLL_IOC_ABORT, &h);
		break;
	case CLOSE_COMM:
		call(r, TORCOLL_IOC_COMM_DEL, &h);
		break;
	case CLOSE_FILE:
		close(r->fd);
		break;
	case REAP:
		while (!r->stop)
			call(r, TORCOLL_IOC_WAIT, &w);
		break;
	default:
		break;
	}
}

/* A child has the file as well, and memory that ops are using; how it ends is nobody's business. */
static void beget(uint64_t how)
{
	pid_t pid = fork();

	if (!pid && how & 1)
		raise(SIGKILL);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void pester(struct rank *r, uint64_t *state)
{
	struct torcoll_comm_info info = { .size = sizeof(info), .comm = r->comm };
	struct torcoll_wait w = {
		.size = sizeof(w), .comm = r->comm, .op = rnd(state), .flags = TORCOLL_WAIT_NOHANG,
	};
	struct torcoll_region_add add = {
		.size = sizeof(add), .flags = rnd(state) & 1 ? TORCOLL_REGION_WATCH : 0,
		.addr = (uintptr_t)r->memory, .length = PLACE_BYTES,
	};
	struct torcoll_region_alloc alloc = { .size = sizeof(alloc), .length = 1 + rnd(state) % 100000 };
	struct torcoll_handle h = { .size = sizeof(h), .handle = r->region };
	struct pollfd p = { .fd = r->fd, .events = POLLIN };

	switch (rnd(state) % 6) {
	case 0:
		call(r, TORCOLL_IOC_COMM_INFO, &info);
		break;
	case 1:
		call(r, TORCOLL_IOC_WAIT, &w);
		break;
	case 2:
		if (call(r, TORCOLL_IOC_REGION_ADD, &add))
			break;
		h.handle = add.region;
		call(r, TORCOLL_IOC_REGION_DEL, &h);
		break;
	case 3:
		if (call(r, TORCOLL_IOC_REGION_ALLOC, &alloc))
			break;
		h.handle = alloc.region;
		call(r, TORCOLL_IOC_REGION_DEL, &h);
		break;
	case 4:
		if (rnd(state) % 16 == 0)
			beget(rnd(state));
		break;
	default:
		poll(&p, 1, rnd(state) % 3);
	}
}

/* Calls that change nothing, from another thread; and, at some time, the misdeed. */
static void *nuisance(void *arg)
{
	struct rank *r = arg;
	uint64_t state = r->seed ^ 1;
	uint32_t when = rnd(&state) % 40;
	uint32_t i;

	for (i = 0; !r->stop; i++) {
		if (i == when && r->rank == r->plot->culprit)
			misbehave(r);
		pester(r, &state);
		usleep(rnd(&state) % 3000);
	}
	return NULL;
}

/* ---- the beginning ---- */

static void enter_node(uint32_t node)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/tor-%u", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		_exit(1);
	}
	close(fd);
}

static void open_device(struct rank *r)
{
	struct torcoll_info info = { .size = sizeof(info) };
	int err;

	r->fd = open("/dev/torcoll", O_RDWR | O_CLOEXEC);
	if (r->fd < 0)
		wrong(r, "/dev/torcoll", -errno);
	err = call(r, TORCOLL_IOC_INFO, &info);
	if (err)
		wrong(r, "info", err);
	r->algorithms = info.algorithms;
	r->features = info.features;
}

static void *map(struct rank *r, const char *what, uint64_t bytes, bool of_file, uint64_t offset)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       of_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, of_file ? r->fd : -1, offset);

	if (p == MAP_FAILED)
		wrong(r, what, -errno);
	return p;
}

static void get_memory(struct rank *r)
{
	struct torcoll_region_alloc alloc = { .size = sizeof(alloc), .length = MEMORY_BYTES };
	struct torcoll_region_add add = { .size = sizeof(add), .length = MEMORY_BYTES };
	int err;

	r->kind = rnd(&r->seed) % MEMORIES;
	if (r->kind == ALLOCATED) {
		err = call(r, TORCOLL_IOC_REGION_ALLOC, &alloc);
		if (err)
			wrong(r, "region alloc", err);
		r->memory = map(r, "mmap of a region", alloc.bytes, true, alloc.offset);
		r->region = alloc.region;
		return;
	}
	r->memory = map(r, "mmap", MEMORY_BYTES, false, 0);
	add.addr = (uintptr_t)r->memory;
	if (r->kind == WATCHED && r->features & TORCOLL_FEATURE_WATCH)
		add.flags = TORCOLL_REGION_WATCH;
	err = call(r, TORCOLL_IOC_REGION_ADD, &add);
	if (err)
		wrong(r, "region add", err);
	r->region = add.region;
}

static void get_ring(struct rank *r)
{
	int err;

	r->layout = (struct torcoll_ring_setup){
		.size = sizeof(r->layout), .entries = 4 * DEPTH, .eventfd = -1,
	};
	err = call(r, TORCOLL_IOC_RING_SETUP, &r->layout);
	if (err)
		wrong(r, "ring setup", err);
	r->ring = map(r, "mmap of the ring", r->layout.bytes, true, TORCOLL_MMAP_RING);
}

/* Who is alone on its node need not say which rank it is. */
static void join(struct rank *r)
{
	const struct plot *plot = r->plot;
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = plot->key, .name = (uintptr_t)plot->name,
		.name_len = strlen(plot->name), .secret = (uintptr_t)"stress", .secret_len = 6,
		.members = (uintptr_t)plot->member, .ranks = plot->ranks,
		.rank = plot->shared || rnd(&r->seed) & 1 ? r->rank : TORCOLL_RANK_SELF,
		.depth = 2 * DEPTH, .deadline_ns = deadline(r),
	};
	int err;

	/* if one has given up, the others wait in vain */
	if (plot->misdeed == LATE)
		add.deadline_ns = r->rank == plot->culprit ? now_ns() + rnd(&r->seed) % 5000000 :
							     in_ms(1000);
	err = call(r, TORCOLL_IOC_COMM_ADD, &add);
	if (err)
		leave(r, "comm add", err);
	if (add.rank != r->rank) {
		complain(r, "is rank %u", add.rank);
		_exit(1);
	}
	r->comm = add.comm;
}

void rank_main(const struct plot *plot, uint32_t rank)
{
	struct rank r = { .plot = plot, .rank = rank, .seed = plot->seed * 31 + rank };
	pthread_t thread;

	r.threads = 1 + rnd(&r.seed) % THREADS_MAX;
	enter_node(plot->member[rank]);
	open_device(&r);
	get_memory(&r);
	if (rnd(&r.seed) % 3 == 0)
		get_ring(&r);
	join(&r);
	if (pthread_create(&thread, NULL, nuisance, &r))
		wrong(&r, "pthread_create", -EAGAIN);
	run_ops(&r);
	r.stop = true;
	pthread_join(thread, NULL);
	/* one way or the other of going */
	if (rnd(&r.seed) & 1)
		close(r.fd);
	_exit(0);
}
