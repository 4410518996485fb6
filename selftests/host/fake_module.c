// SPDX-License-Identifier: MIT
/*
 * The module, as far as a preloaded library can be it: for tests of what lies above it, on a host
 * that has no module. Ranks are processes; TORCOLL_FAKE names a file that they share, which must be
 * fresh (empty) for each run. Ops are done when submitted. A rank must be given to the comm.
 *
 * TORCOLL_FAKE_FAULT=N spoils the last element of every result of at least N bytes on rank 1.
 * TORCOLL_FAKE_PARAMS=1 has the parameters of each call that gives any printed on stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/torcoll.h>

#define RANKS_MAX	64
#define SLOT		(16UL << 20)

/* All zero at first. */
struct shared {
	atomic_uint arrived;
	atomic_uint turn;
	struct torcoll_submit submit[RANKS_MAX];
	uint8_t slot[RANKS_MAX][SLOT];
};

static struct shared *shared;
static int device = -1;
static uint32_t rank, ranks;
static uint64_t ops;
static int32_t statuses[16];
static const char *sentence = "";

static void barrier(void)
{
	unsigned int turn = atomic_load(&shared->turn);

	if (atomic_fetch_add(&shared->arrived, 1) + 1 == ranks) {
		atomic_store(&shared->arrived, 0);
		atomic_fetch_add(&shared->turn, 1);
		return;
	}
	while (atomic_load(&shared->turn) == turn)
		sched_yield();
}

/* Compiled with -fwrapv: sums wrap. */
#define COMBINE(redop, a, b)							\
	((redop) == TORCOLL_SUM ? (a) + (b) :					\
	 ((redop) == TORCOLL_MIN) == ((a) < (b)) ? (a) : (b))

#define REDUCE(type)								\
	for (uint64_t i = 0; i < s->count; i++) {				\
		type v, w;							\
										\
		memcpy(&v, shared->slot[0] + i * sizeof(v), sizeof(v));		\
		for (uint32_t r = 1; r < ranks; r++) {				\
			memcpy(&w, shared->slot[r] + i * sizeof(w), sizeof(w));	\
			v = COMBINE(s->redop, v, w);			\
		}								\
		memcpy(out + i * sizeof(v), &v, sizeof(v));			\
	}

static void reduce(const struct torcoll_submit *s)
{
	uint8_t *out = (uint8_t *)(uintptr_t)s->recv_addr;

	switch (s->type) {
	case TORCOLL_I32:
		REDUCE(int32_t)
		break;
	case TORCOLL_I64:
		REDUCE(int64_t)
		break;
	case TORCOLL_F32:
		REDUCE(float)
		break;
	default:
		REDUCE(double)
		break;
	}
}

static int agree(void)
{
	for (uint32_t r = 1; r < ranks; r++) {
		const struct torcoll_submit *a = &shared->submit[0], *b = &shared->submit[r];

		if (a->count != b->count || a->type != b->type || a->redop != b->redop) {
			sentence = "the ranks disagree";
			return -EPROTO;
		}
	}
	return 0;
}

static void tell_params(const struct torcoll_submit *s)
{
	bool any = false;

	for (int i = 0; i < TORCOLL_PARAM_COUNT; i++)
		any |= s->param[i];
	if (!any || !getenv("TORCOLL_FAKE_PARAMS"))
		return;
	fputs("params", stderr);
	for (int i = 0; i < TORCOLL_PARAM_COUNT; i++)
		fprintf(stderr, " %u", s->param[i]);
	fputc('\n', stderr);
}

static int submit(struct torcoll_submit *s)
{
	size_t element = s->type == TORCOLL_I32 || s->type == TORCOLL_F32 ? 4 : 8;
	const char *fault = getenv("TORCOLL_FAKE_FAULT");
	size_t bytes = s->count * element;

	if (bytes > SLOT)
		return -EINVAL;
	tell_params(s);
	shared->submit[rank] = *s;
	memcpy(shared->slot[rank], (void *)(uintptr_t)s->send_addr, bytes);
	barrier();
	s->status = agree();
	if (!s->status)
		reduce(s);
	if (fault && rank == 1 && bytes >= strtoull(fault, NULL, 0))
		((uint8_t *)(uintptr_t)s->recv_addr)[bytes - 1] ^= 1;
	barrier();
	s->op = ++ops;
	statuses[s->op % 16] = s->status;
	return 0;
}

static int comm_add(struct torcoll_comm_add *c)
{
	if (!c->ranks || c->rank >= c->ranks || c->ranks > RANKS_MAX) {
		sentence = "the fake needs TORCOLL_RANK and TORCOLL_SIZE";
		return -EINVAL;
	}
	rank = c->rank;
	ranks = c->ranks;
	c->comm = 1;
	barrier();
	return 0;
}

static int serve(unsigned long request, void *arg)
{
	struct torcoll_info *info = arg;
	struct torcoll_error *error = arg;
	struct torcoll_comm_info *comm = arg;
	struct torcoll_wait *wait = arg;

	switch (request) {
	case TORCOLL_IOC_INFO:
		info->abi_version = TORCOLL_ABI_VERSION;
		return 0;
	case TORCOLL_IOC_ERROR:
		snprintf((char *)(uintptr_t)error->text, error->len, "%s", sentence);
		return 0;
	case TORCOLL_IOC_COMM_ADD:
		return comm_add(arg);
	case TORCOLL_IOC_COMM_INFO:
		comm->rank = rank;
		comm->ranks = ranks;
		return 0;
	case TORCOLL_IOC_SUBMIT:
		return submit(arg);
	case TORCOLL_IOC_WAIT:
		wait->status = statuses[wait->op % 16];
		return 0;
	case TORCOLL_IOC_REGION_ADD:
		((struct torcoll_region_add *)arg)->region = 1;
		return 0;
	default:
		return 0;
	}
}

static int open_device(void)
{
	const char *path = getenv("TORCOLL_FAKE");
	int (*real)(const char *path, int flags, ...) = dlsym(RTLD_NEXT, "open");

	if (!path || !real)
		abort();
	device = real(path, O_RDWR);
	if (device < 0 || ftruncate(device, sizeof(*shared)))
		abort();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
	if (shared == MAP_FAILED)
		abort();
	return device;
}

int open(const char *path, int flags, ...)
{
	int (*real)(const char *path, int flags, ...) = dlsym(RTLD_NEXT, "open");
	va_list args;
	int mode;

	if (!strcmp(path, TORCOLL_DEVICE))
		return open_device();
	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	return real(path, flags, mode);
}

/* What the library calls, which is compiled with offsets of 64 bits. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int fd, unsigned long request, ...) = dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;
	int err;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd != device)
		return real(fd, request, arg);
	err = serve(request, arg);
	errno = -err;
	return err ? -1 : 0;
}
