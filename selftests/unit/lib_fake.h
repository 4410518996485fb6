/* SPDX-License-Identifier: MIT */
/*
 * libtorcoll in front of a fake device. The library's files are part of the test that includes
 * this, but for the system calls, which the fake replaces. The fake answers as told: a queue of
 * errors per ioctl (0 once it is empty), a status, a sentence.
 */
#ifndef _LIB_FAKE_H
#define _LIB_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/algo.c"
#include "../../lib/batch.c"
#include "../../lib/collective.c"
#include "../../lib/rooted.c"
#include "../../lib/exchange.c"
#include "../../lib/function.c"
#include "../../lib/comm.c"
#include "../../lib/comm_env.c"
#include "../../lib/context.c"
#include "../../lib/debug.c"
#include "../../lib/error.c"
#include "../../lib/fabrics.c"
#include "../../lib/launcher.c"
#include "../../lib/layout.c"
#include "../../lib/message.c"
#include "../../lib/names.c"
#include "../../lib/op.c"
#include "../../lib/place.c"
#include "../../lib/queue.c"
#include "../../lib/refusal.c"
#include "../../lib/region.c"
#include "../../lib/ring.c"
#include "../../lib/wait.c"
#include "../../lib/watch.c"

#define FAKE_FD		1000
#define FAKE_WATCH	2000		/* and those after it */
#define FAKE_RANK	2
#define FAKE_RANKS	4
#define QUEUE		4
#define FAKE_RING	4		/* entries of its ring */
#define FAKE_PLACES	(FAKE_RING - 1)	/* those that the library uses for ops */

/* What happens to one kind of ioctl: errors to give, in order, and what was asked last. */
struct fake_call {
	int errors[QUEUE];
	unsigned int calls;
};

static struct fake {
	struct fake_call call[0x40];
	int open_error;
	int opened;
	uint32_t abi_version;
	const char *sentence;
	bool forgets;			/* it, at the next call, as the module does */
	int32_t status;
	uint32_t error_rank;
	uint64_t started_on_eintr;	/* the op handle that a submit leaves whose wait has ended */
	uint32_t next_handle;
	uint64_t now;
	uint64_t busy, join_busy;	/* so far; that calls which make a comm take */
	struct torcoll_region_add region;
	unsigned int regions;		/* that were added and not released */
	bool regions_used;		/* by ops: none is released */
	struct torcoll_comm_add comm;
	struct torcoll_comm_shrink shrink;
	uint32_t members[32];
	char name[TORCOLL_NAME_MAX + 1];
	char secret[TORCOLL_NAME_MAX + 1];
	struct torcoll_submit submit;
	struct torcoll_wait wait, diverted;	/* the latter: to the ring */
	struct torcoll_handle handle;
	uint64_t features;
	struct {
		struct torcoll_ring head;
		struct torcoll_completion entry[FAKE_RING];
	} ring;
	uint64_t post_on_wait;		/* what is posted while a call waits */
	bool runs;			/* no op is complete for who does not wait */
	int32_t eventfd;
	char memory[4096];		/* of its region, of which there is one at a time */
	uint64_t memory_offset;
	bool ring_mapped, memory_mapped, no_map;
	uint32_t batch_room;		/* ops that batches start before one is refused */
	struct torcoll_sys_fabric fabric[2];
	int fabrics;			/* number of these, or an error */
	const uint32_t *gathered;	/* what an allgather of FAKE_RANKS numbers gives */
	uint32_t slots;			/* ops that find a slot */
	void (*on_submit)(const struct torcoll_submit *s); /* does the op */
	void (*on_comm_del)(void);
	int (*on_poll)(struct pollfd *fds, uint32_t n, uint64_t timeout_ns);
	int watches, watch_error;	/* open ones */
	unsigned int clears;
	bool threads;			/* the process has others */
	void (*on_wait)(void);		/* what these do while a call waits */
} fake;

static struct fake_call *fake_call(unsigned long request)
{
	return &fake.call[_IOC_NR(request)];
}

int torcoll_sys_open(const char *path)
{
	assert_string_equal(path, "/dev/torcoll");
	if (fake.open_error)
		return fake.open_error;
	fake.opened++;
	return FAKE_FD;
}

void torcoll_sys_close(int fd)
{
	if (fd >= FAKE_WATCH) {
		fake.watches--;
		return;
	}
	assert_int_equal(fd, FAKE_FD);
	fake.opened--;
}

int torcoll_sys_watch(int fd)
{
	assert_int_equal(fd, FAKE_FD);
	return fake.watch_error ? fake.watch_error : FAKE_WATCH + fake.watches++;
}

void torcoll_sys_watch_clear(int watch)
{
	assert_in_range(watch, FAKE_WATCH, FAKE_WATCH + fake.watches - 1);
	fake.clears++;
}

int torcoll_sys_poll(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	for (uint32_t i = 0; i < n; i++)
		fds[i].revents = 0;
	assert_non_null(fake.on_poll);
	return fake.on_poll(fds, n, timeout_ns);
}

uint64_t torcoll_sys_now_ns(void)
{
	return fake.now;
}

uint64_t torcoll_sys_busy_ns(void)
{
	return fake.busy;
}

bool torcoll_sys_is_alone(void)
{
	return !fake.threads;
}

int torcoll_sys_fabrics(struct torcoll_sys_fabric *fabric, uint32_t room)
{
	for (int i = 0; i < fake.fabrics; i++)
		fabric[i] = fake.fabric[i];
	return fake.fabrics;
}

void *torcoll_sys_mmap(int fd, size_t bytes, uint64_t offset)
{
	bool ring = offset == TORCOLL_MMAP_RING;
	bool *mapped = ring ? &fake.ring_mapped : &fake.memory_mapped;

	assert_int_equal(fd, FAKE_FD);
	assert_int_equal(bytes, ring ? sizeof(fake.ring) : sizeof(fake.memory));
	assert_int_equal(offset, ring ? TORCOLL_MMAP_RING : fake.memory_offset);
	assert_false(*mapped);
	if (fake.no_map)
		return NULL;
	*mapped = true;
	return ring ? (void *)&fake.ring : fake.memory;
}

void torcoll_sys_munmap(void *p, size_t bytes)
{
	bool ring = p == &fake.ring;
	bool *mapped = ring ? &fake.ring_mapped : &fake.memory_mapped;

	assert_true(ring || p == fake.memory);
	assert_int_equal(bytes, ring ? sizeof(fake.ring) : sizeof(fake.memory));
	assert_true(*mapped);
	*mapped = false;
}

static void fake_ring_setup(struct torcoll_ring_setup *setup)
{
	assert_int_equal(setup->size, sizeof(*setup));
	assert_int_equal(setup->flags, 0);
	fake.eventfd = setup->eventfd;
	setup->entries = FAKE_RING;
	setup->bytes = sizeof(fake.ring);
	setup->entries_offset = sizeof(fake.ring.head);
	setup->entry_size = sizeof(fake.ring.entry[0]);
}

static void fake_region_alloc(struct torcoll_region_alloc *alloc)
{
	assert_int_equal(alloc->size, sizeof(*alloc));
	alloc->region = fake.next_handle++;
	alloc->bytes = sizeof(fake.memory);
	alloc->offset = (uint64_t)alloc->region << 32;
	fake.memory_offset = alloc->offset;
	fake.regions++;
}

static void fake_info(struct torcoll_info *info)
{
	assert_int_equal(info->size, sizeof(*info));
	info->abi_version = fake.abi_version;
	info->features = fake.features;
	snprintf(info->version, sizeof(info->version), "0.1.0");
}

static void fake_error(struct torcoll_error *e)
{
	assert_int_equal(e->size, sizeof(*e));
	snprintf((char *)(uintptr_t)e->text, e->len, "%s", fake.sentence);
	e->len = strlen(fake.sentence);
}

static void fake_comm_add(struct torcoll_comm_add *add)
{
	assert_int_equal(add->size, sizeof(*add));
	assert_int_equal(add->comm, 0);
	fake.comm = *add;
	memset(fake.name, 0, sizeof(fake.name));
	memset(fake.secret, 0, sizeof(fake.secret));
	memcpy(fake.name, (void *)(uintptr_t)add->name, add->name_len);
	if (add->secret_len)
		memcpy(fake.secret, (void *)(uintptr_t)add->secret, add->secret_len);
	if (add->members)
		memcpy(fake.members, (void *)(uintptr_t)add->members, add->ranks * sizeof(uint32_t));
	add->comm = fake.next_handle++;
}

static void fake_comm_info(struct torcoll_comm_info *info)
{
	assert_int_equal(info->size, sizeof(*info));
	info->rank = FAKE_RANK;
	info->ranks = fake.comm.ranks ? fake.comm.ranks : FAKE_RANKS;
}

static void fake_comm_shrink(struct torcoll_comm_shrink *shrink)
{
	assert_int_equal(shrink->size, sizeof(*shrink));
	assert_int_equal(shrink->shrunk, 0);
	fake.shrink = *shrink;
	shrink->shrunk = fake.next_handle++;
	shrink->rank = FAKE_RANK - 1;
	shrink->ranks = FAKE_RANKS - 1;
	assert_int_equal(shrink->room, FAKE_RANKS);
	for (uint32_t i = 0; i < shrink->ranks; i++)
		((uint32_t *)(uintptr_t)shrink->members)[i] = 10 + i;
}

static void fake_submit(struct torcoll_submit *s)
{
	assert_int_equal(s->size, sizeof(*s));
	assert_int_equal(s->op, 0);
	fake.submit = *s;
	s->op = fake.next_handle++;
	s->status = fake.status;
	if (fake.gathered && s->collective == TORCOLL_ALLGATHER)
		memcpy((void *)(uintptr_t)s->recv_addr, fake.gathered,
		       s->count * sizeof(*fake.gathered));
	if (fake.on_submit)
		fake.on_submit(s);
}

/* Return whether an op with TORCOLL_OP_TRY finds a slot; it takes one. */
static bool fake_slot(const struct torcoll_submit *s)
{
	if (!(s->flags & TORCOLL_OP_TRY))
		return true;
	if (!fake.slots)
		return false;
	fake.slots--;
	return true;
}

/* Starts as many as fake.batch_room says, also when it ends with an error. */
static void fake_batch(struct torcoll_batch *b)
{
	struct torcoll_submit *s = (struct torcoll_submit *)(uintptr_t)b->descs;

	assert_int_equal(b->size, sizeof(*b));
	assert_int_equal(b->desc_size, sizeof(*s));
	for (; b->started < b->count && fake.batch_room && fake_slot(&s[b->started]);
	     b->started++, fake.batch_room--)
		fake_submit(&s[b->started]);
}

static void fake_wait(struct torcoll_wait *w)
{
	assert_int_equal(w->size, sizeof(*w));
	fake.wait = *w;
	w->status = fake.status;
	w->error_rank = fake.error_rank;
}

static void fake_serve(unsigned long request, void *arg)
{
	switch (request) {
	case TORCOLL_IOC_INFO:
		return fake_info(arg);
	case TORCOLL_IOC_ERROR:
		return fake_error(arg);
	case TORCOLL_IOC_REGION_ALLOC:
		return fake_region_alloc(arg);
	case TORCOLL_IOC_RING_SETUP:
		return fake_ring_setup(arg);
	case TORCOLL_IOC_REGION_ADD:
		fake.region = *(struct torcoll_region_add *)arg;
		((struct torcoll_region_add *)arg)->region = fake.next_handle++;
		fake.regions++;
		return;
	case TORCOLL_IOC_COMM_ADD:
		return fake_comm_add(arg);
	case TORCOLL_IOC_COMM_SHRINK:
		return fake_comm_shrink(arg);
	case TORCOLL_IOC_COMM_INFO:
		return fake_comm_info(arg);
	case TORCOLL_IOC_SUBMIT:
		return fake_submit(arg);
	case TORCOLL_IOC_WAIT:
		return fake_wait(arg);
	case TORCOLL_IOC_COMM_DEL:
		if (fake.on_comm_del)
			fake.on_comm_del();
		break;
	case TORCOLL_IOC_REGION_DEL:
		fake.regions--;
		break;
	}
	fake.handle = *(struct torcoll_handle *)arg;
	assert_int_equal(fake.handle.size, sizeof(fake.handle));
}

/* As the module does it: a submit whose wait ends has either not begun, or leaves its handle. */
static void fake_interrupt(unsigned long request, void *arg)
{
	if (request == TORCOLL_IOC_SUBMIT) {
		fake.submit = *(struct torcoll_submit *)arg;
		((struct torcoll_submit *)arg)->op = fake.started_on_eintr;
	}
}

int torcoll_sys_ioctl(int fd, unsigned long request, void *arg)
{
	struct fake_call *c = fake_call(request);
	int err = c->calls < QUEUE ? c->errors[c->calls] : 0;

	assert_int_equal(fd, FAKE_FD);
	assert_int_equal(_IOC_TYPE(request), TORCOLL_IOC_MAGIC);
	if (fake.forgets && !err && request != TORCOLL_IOC_ERROR)
		fake.sentence = "";
	c->calls++;
	if (request == TORCOLL_IOC_COMM_ADD || request == TORCOLL_IOC_COMM_SHRINK)
		fake.busy += fake.join_busy;
	if (request == TORCOLL_IOC_WAIT &&
	    ((struct torcoll_wait *)arg)->flags & TORCOLL_WAIT_RING)
		fake.diverted = *(struct torcoll_wait *)arg;
	if (request == TORCOLL_IOC_WAIT && fake.on_wait)
		fake.on_wait();
	if (request == TORCOLL_IOC_WAIT && fake.post_on_wait) {
		fake.ring.entry[fake.ring.head.tail++ % FAKE_RING].user_data = fake.post_on_wait;
		fake.post_on_wait = 0;
	}
	if (!err && request == TORCOLL_IOC_SUBMIT && !fake_slot(arg))
		return -EBUSY;
	if (!err && request == TORCOLL_IOC_WAIT && fake.runs &&
	    ((struct torcoll_wait *)arg)->flags & TORCOLL_WAIT_NOHANG)
		return -EAGAIN;
	if (request == TORCOLL_IOC_REGION_DEL && fake.regions_used)
		return -EBUSY;
	if (request == TORCOLL_IOC_BATCH) {
		fake_batch(arg);
		if (!err && ((struct torcoll_batch *)arg)->started < ((struct torcoll_batch *)arg)->count &&
		    !fake.slots)
			return -EBUSY;
	} else if (err == -EINTR || err == -ETIMEDOUT) {
		fake_interrupt(request, arg);
	} else if (!err) {
		fake_serve(request, arg);
	}
	return err;
}

static void fake_errors(unsigned long request, int first, int second)
{
	struct fake_call *c = fake_call(request);

	*c = (struct fake_call){ .errors = { first, second } };
}

static unsigned int fake_calls(unsigned long request)
{
	return fake_call(request)->calls;
}

static const char *const variables[] = {
	"TORCOLL_FABRIC", "TORCOLL_COMM", "TORCOLL_SECRET", "TORCOLL_RANK", "TORCOLL_SIZE",
	"TORCOLL_MEMBERS", "TORCOLL_TIMEOUT", "TORCOLL_SPIN", "TORCOLL_CACHE",
	/* of launchers */
	"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
	"OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
	"PMI_RANK", "PMI_SIZE", "PMI_JOBID", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PBS_JOBID",
	"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
	"SLURM_TASKS_PER_NODE", "SLURM_STEP_TASKS_PER_NODE", "SLURM_JOB_ID", "SLURM_STEP_ID",
};

struct fixture {
	struct torcoll *t;
	struct torcoll_comm *comm;
};

/* Of the modules that tests see. */
static uint64_t fake_features;

static void fake_reset(void)
{
	fake = (struct fake){
		.abi_version = TORCOLL_ABI_VERSION,
		.features = fake_features,
		.sentence = "",
		.next_handle = 1,
		.error_rank = ~0U,
		.batch_room = UINT32_MAX,
		.slots = UINT32_MAX,
		.fabrics = -ENOENT,
	};
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
}

static int __attribute__((__unused__)) setup_closed(void **state)
{
	fake_reset();
	return 0;
}

static int setup(void **state)
{
	static struct fixture f;
	struct torcoll_comm_config config = { .fabric = 7, .name = "job" };

	fake_reset();
	assert_int_equal(torcoll_open(&f.t), 0);
	assert_int_equal(torcoll_comm_create(f.t, &config, &f.comm), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	torcoll_close(f->t);
	assert_int_equal(fake.opened, 0);
	/* a child may keep the file open, with which the others would go */
	assert_true(!fake.regions || fake.regions_used);
	assert_int_equal(fake.watches, 0);
	assert_false(fake.ring_mapped);
	assert_false(fake.memory_mapped);
	return 0;
}

#define test_open(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)
#define test_closed(f)	cmocka_unit_test_setup(f, setup_closed)

#endif
