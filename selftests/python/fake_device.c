// SPDX-License-Identifier: GPL-2.0
/*
 * A device behind the whole library, for the tests of the Python package: a shared library of libtorcoll's files, whose
 * system calls are these. It says what it was called with, completes ops when told to, and fails as told.
 *
 * With TORCOLL_FEATURE_RING it has a completion ring, by which the library can queue ops; all results are to be reaped.
 *
 * Its comms have the ranks that they are joined with, or fake.ranks in a row, of which ops are. A completed op fills its result with fake.fill; that of an
 * allgather or gather of equal blocks is this rank's block, as if all had sent the same.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/sys.h"
#include "../../lib/torcoll.h"
#include "fake_device.h"

#define OPS		4096
#define RANKS_MAX	64
#define CALLS		0x40
#define RING		1024		/* entries; tests have fewer ops at a time */

struct op {
	uint64_t handle;		/* 0: free */
	struct torcoll_submit s;
	bool done;
	int status;
};

/* What tests set, and read. */
static struct {
	uint32_t rank, ranks, depth, fill;
	uint32_t error_rank;
	int status;			/* of ops that complete */
	int open_error;
	bool hold;			/* ops complete when told to */
	bool hold_joins;
	bool wait_completes;		/* ops that are held: when a thread waits for them */
	bool in_fabric;			/* the host, as programs are told */
	uint64_t fabric;		/* its key */
	uint64_t features;
	char sentence[256];
	int fail[CALLS];		/* the next call of this number gives that */
	uint32_t calls[CALLS];
	struct torcoll_submit last;
	uint64_t counts[2][RANKS_MAX];	/* of the last op */
	uint64_t scalar;
	uint64_t sum;			/* of the bytes that the last completed op sent */
	struct torcoll_comm_add joined;
	char name[TORCOLL_NAME_MAX + 1], secret[TORCOLL_NAME_MAX + 1];
	uint32_t members[RANKS_MAX];
	uint64_t region_length;
	int comms;			/* open ones */
	int contexts;
	int regions;
} fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct op ops[OPS];
static struct { uint32_t rank, ranks; } shapes[256];	/* of comms, by the end of their handle */
static uint64_t handles;
static int event = -1;
static struct {
	struct torcoll_ring head;
	struct torcoll_completion entry[RING];
} *ring;				/* of the context that has mapped it last */

void *fake_state(void)
{
	return &fake;
}

void fake_reset(void)
{
	pthread_condattr_t attr;
	int contexts = fake.contexts;

	memset(&fake, 0, sizeof(fake));
	memset(ops, 0, sizeof(ops));
	fake.rank = 1;
	fake.ranks = 4;
	fake.depth = 8;
	fake.fill = 0x2a;
	fake.error_rank = ~0U;
	fake.fabric = 1;
	fake.contexts = contexts;
	fake.features = TORCOLL_FEATURE_PLAIN_POINTERS | TORCOLL_FEATURE_POLL |
			TORCOLL_FEATURE_SHRINK | TORCOLL_FEATURE_ALLOC;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
}

/* ---- ops ---- */

static uint64_t own_count(const struct torcoll_submit *s)
{
	if (s->counts)
		return fake.counts[0][fake.rank];
	return s->count / fake.ranks + (fake.rank < s->count % fake.ranks);
}

static uint64_t sent_count(const struct torcoll_submit *s)
{
	switch (s->collective) {
	case TORCOLL_ALLGATHER:
	case TORCOLL_GATHER:
		return own_count(s);
	case TORCOLL_SCATTER:
	case TORCOLL_BROADCAST:
		return s->root == fake.rank ? s->count : 0;
	case TORCOLL_RECV:
	case TORCOLL_BARRIER:
		return 0;
	default:
		return s->count;
	}
}

static uint64_t received_count(const struct torcoll_submit *s)
{
	switch (s->collective) {
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_SCATTER:
		return own_count(s);
	case TORCOLL_REDUCE:
	case TORCOLL_GATHER:
		return s->root == fake.rank ? s->count : 0;
	case TORCOLL_SEND:
	case TORCOLL_BARRIER:
		return 0;
	default:
		return s->count;
	}
}

static void fill(const struct torcoll_submit *s)
{
	uint64_t size = torcoll_type_size(s->type), bytes = received_count(s) * size;
	unsigned char *to = (unsigned char *)(uintptr_t)s->recv_addr;
	const unsigned char *from = (const unsigned char *)(uintptr_t)s->send_addr;
	uint64_t own = own_count(s) * size;

	fake.sum = 0;
	for (uint64_t i = 0; i < sent_count(s) * size; i++)
		fake.sum += from[i];
	if ((s->collective == TORCOLL_ALLGATHER || s->collective == TORCOLL_GATHER) &&
	    !s->counts && bytes && bytes == own * fake.ranks)
		for (uint32_t r = 0; r < fake.ranks; r++)
			memmove(to + r * own, from, own);
	else if (bytes)
		memset(to, fake.fill, bytes);
}

static void post(const struct op *op)
{
	uint32_t tail = ring->head.tail;

	ring->entry[tail % RING] = (struct torcoll_completion){
		.op = op->handle,
		.user_data = op->s.user_data,
		.comm = op->s.comm,
		.status = op->status,
		.error_rank = op->status ? fake.error_rank : ~0U,
		.flags = TORCOLL_COMPLETION_REAP,
	};
	__atomic_store_n(&ring->head.tail, tail + 1, __ATOMIC_RELEASE);
}

/* Context: lock held. */
static void complete(struct op *op, int status)
{
	op->status = status;
	if (!op->status)
		fill(&op->s);
	op->done = true;
	if (op->s.flags & TORCOLL_OP_RING && ring)
		post(op);
	if (eventfd_write(event, 1))
		abort();
	pthread_cond_broadcast(&changed);
}

unsigned int fake_complete(unsigned int n)
{
	unsigned int done = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < OPS && done < n; i++) {
		if (!ops[i].handle || ops[i].done)
			continue;
		complete(&ops[i], fake.status);
		done++;
	}
	pthread_mutex_unlock(&lock);
	return done;
}

/* How many ops were not reaped. */
unsigned int fake_running(void)
{
	unsigned int n = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < OPS; i++)
		n += !!ops[i].handle;
	pthread_mutex_unlock(&lock);
	return n;
}

static struct op *op_find(uint64_t handle)
{
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].handle == handle)
			return &ops[i];
	return NULL;
}

static void reap(struct op *op)
{
	eventfd_t value;

	op->handle = 0;
	if (eventfd_read(event, &value))
		abort();
}

static void remember(const struct torcoll_submit *s)
{
	const uint64_t *from[2] = { (void *)(uintptr_t)s->counts, (void *)(uintptr_t)s->recv_counts };

	fake.last = *s;
	for (int i = 0; i < 2; i++)
		if (from[i])
			memcpy(fake.counts[i], from[i], fake.ranks * sizeof(uint64_t));
	fake.scalar = 0;
	if (s->scalar)
		memcpy(&fake.scalar, (void *)(uintptr_t)s->scalar, torcoll_type_size(s->type));
}

/* Context: lock held. */
static int submit(struct torcoll_submit *s)
{
	unsigned int running = 0;
	struct op *op;

	for (size_t i = 0; i < OPS; i++)
		running += !!ops[i].handle;
	if (running >= fake.depth)
		return -EBUSY;
	remember(s);
	op = op_find(0);
	op->handle = s->op = ++handles;
	op->s = *s;
	op->done = false;
	s->chosen = s->algorithm ? s->algorithm : TORCOLL_BIBUCKET;
	if (s->flags & TORCOLL_OP_WAIT || !fake.hold)
		complete(op, fake.status);
	if (s->flags & TORCOLL_OP_WAIT) {
		s->status = op->status;
		reap(op);
	}
	return 0;
}

static int batch(struct torcoll_batch *b)
{
	struct torcoll_submit *s = (void *)(uintptr_t)b->descs;
	int err = 0;

	for (b->started = 0; !err && b->started < b->count; b->started += !err)
		err = submit(&s[b->started]);
	return err;
}

/* Context: lock held, and released while this waits. */
static int op_wait(struct torcoll_wait *w)
{
	struct timespec until = { w->deadline_ns / 1000000000, w->deadline_ns % 1000000000 };
	struct op *op = op_find(w->op);

	while (op && !op->done) {
		if (w->flags & TORCOLL_WAIT_NOHANG)
			return -EAGAIN;
		if (fake.wait_completes)
			complete(op, fake.status);
		else if (!w->deadline_ns)
			pthread_cond_wait(&changed, &lock);
		else if (pthread_cond_timedwait(&changed, &lock, &until))
			return -ETIMEDOUT;
		op = op_find(w->op);
	}
	if (!op)
		return -ENOENT;
	w->status = op->status;
	w->error_rank = op->status ? fake.error_rank : ~0U;
	reap(op);
	return 0;
}

/* ---- comms ---- */

static int comm_add(struct torcoll_comm_add *add)
{
	while (fake.hold_joins)
		pthread_cond_wait(&changed, &lock);
	fake.joined = *add;
	snprintf(fake.name, sizeof(fake.name), "%.*s", (int)add->name_len, (char *)(uintptr_t)add->name);
	snprintf(fake.secret, sizeof(fake.secret), "%.*s", (int)add->secret_len,
		 (char *)(uintptr_t)add->secret);
	if (add->members && add->ranks <= RANKS_MAX)
		memcpy(fake.members, (void *)(uintptr_t)add->members, add->ranks * sizeof(uint32_t));
	add->rank = add->rank == TORCOLL_RANK_SELF ? fake.rank : add->rank;
	add->comm = ++handles;
	shapes[add->comm % 256].rank = add->rank;
	shapes[add->comm % 256].ranks = add->members ? add->ranks : fake.ranks;
	add->missing = ~0U;
	fake.comms++;
	return 0;
}

void fake_let_join(void)
{
	pthread_mutex_lock(&lock);
	fake.hold_joins = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int comm_shrink(struct torcoll_comm_shrink *shrink)
{
	uint32_t *members = (void *)(uintptr_t)shrink->members;

	shrink->shrunk = ++handles;
	shrink->rank = fake.rank;
	shrink->ranks = shapes[shrink->comm % 256].ranks - 1;
	shapes[shrink->shrunk % 256].rank = shrink->rank;
	shapes[shrink->shrunk % 256].ranks = shrink->ranks;
	for (uint32_t i = 0; i < shrink->ranks; i++)
		members[i] = i;
	fake.comms++;
	return 0;
}

static int comm_info(struct torcoll_comm_info *info)
{
	info->rank = shapes[info->comm % 256].rank;
	info->ranks = shapes[info->comm % 256].ranks;
	info->node = fake.rank;
	info->generation = 1;
	info->ndim = 1;
	info->side[0] = fake.ranks;
	info->frame_bytes = 8832;
	info->error = fake.status;
	info->error_rank = fake.error_rank;
	return 0;
}

static int comm_abort(const struct torcoll_handle *h, int status)
{
	for (size_t i = 0; i < OPS; i++) {
		if (!ops[i].handle || ops[i].done || ops[i].s.comm != h->handle)
			continue;
		complete(&ops[i], status);
	}
	return 0;
}

static int comm_del(const struct torcoll_handle *h)
{
	fake.comms--;
	comm_abort(h, -ECANCELED);
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].handle && ops[i].s.comm == h->handle)
			reap(&ops[i]);
	return 0;
}

/* ---- calls ---- */

static int describe(struct torcoll_info *info)
{
	info->abi_version = TORCOLL_ABI_VERSION;
	info->max_channels = 8;
	info->features = fake.features;
	info->collectives = (1ULL << TORCOLL_COLL_COUNT) - 2;
	info->types = (1ULL << TORCOLL_TYPE_COUNT) - 2;
	info->redops = (1ULL << TORCOLL_REDOP_COUNT) - 2;
	info->algorithms = (1ULL << TORCOLL_ALGO_COUNT) - 2;
	snprintf(info->version, sizeof(info->version), "fake");
	return 0;
}

static int say(struct torcoll_error *e)
{
	snprintf((char *)(uintptr_t)e->text, e->len, "%s", fake.sentence);
	return 0;
}

static int region_add(struct torcoll_region_add *add)
{
	fake.region_length = add->length;
	add->region = ++handles;
	fake.regions++;
	return 0;
}

/* As the module: not while an op uses it, whose result was not fetched. */
static int region_del(const struct torcoll_handle *h)
{
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].handle && (ops[i].s.send_region == h->handle || ops[i].s.recv_region == h->handle))
			return -EBUSY;
	fake.regions--;
	return 0;
}

static int region_alloc(struct torcoll_region_alloc *alloc)
{
	alloc->region = ++handles;
	alloc->bytes = (alloc->length + 4095) & ~4095ULL;
	alloc->offset = 1 << 20;
	fake.regions++;
	return 0;
}

static int ring_setup(struct torcoll_ring_setup *setup)
{
	setup->entries = RING;
	setup->bytes = sizeof(*ring);
	setup->entries_offset = sizeof(ring->head);
	setup->entry_size = sizeof(ring->entry[0]);
	return 0;
}

/* Context: lock held. */
static int call(unsigned long request, void *arg)
{
	switch (request) {
	case TORCOLL_IOC_INFO:
		return describe(arg);
	case TORCOLL_IOC_ERROR:
		return say(arg);
	case TORCOLL_IOC_RING_SETUP:
		return ring_setup(arg);
	case TORCOLL_IOC_REGION_ADD:
		return region_add(arg);
	case TORCOLL_IOC_REGION_ALLOC:
		return region_alloc(arg);
	case TORCOLL_IOC_REGION_DEL:
		return region_del(arg);
	case TORCOLL_IOC_COMM_ADD:
		return comm_add(arg);
	case TORCOLL_IOC_COMM_DEL:
		return comm_del(arg);
	case TORCOLL_IOC_COMM_INFO:
		return comm_info(arg);
	case TORCOLL_IOC_COMM_SHRINK:
		return comm_shrink(arg);
	case TORCOLL_IOC_SUBMIT:
		return submit(arg);
	case TORCOLL_IOC_WAIT:
		return op_wait(arg);
	case TORCOLL_IOC_ABORT:
		return comm_abort(arg, -ECANCELED);
	case TORCOLL_IOC_BATCH:
		return batch(arg);
	default:
		return -ENOTTY;
	}
}

int torcoll_sys_ioctl(int fd, unsigned long request, void *arg)
{
	unsigned int nr = request & 0xff;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (nr < CALLS) {
		fake.calls[nr]++;
		err = fake.fail[nr];
		fake.fail[nr] = 0;
	}
	if (!err)
		err = call(request, arg);
	pthread_mutex_unlock(&lock);
	return err;
}

int torcoll_sys_open(const char *path)
{
	if (fake.open_error)
		return fake.open_error;
	event = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	fake.contexts++;
	return event;
}

void torcoll_sys_close(int fd)
{
	fake.contexts--;
	close(fd);
}

/* The one that its comms are of, with a node for each rank. */
int torcoll_sys_fabrics(struct torcoll_sys_fabric *fabric, uint32_t room)
{
	if (!fake.in_fabric)
		return -ENOENT;
	if (room)
		*fabric = (struct torcoll_sys_fabric){
			.key = fake.fabric,
			.node = fake.rank,
			.nodes = fake.ranks,
			.ndim = 1,
			.side = { fake.ranks },
		};
	return 1;
}

void *torcoll_sys_mmap(int fd, size_t bytes, uint64_t offset)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (offset == TORCOLL_MMAP_RING)
		ring = p;
	return p;
}

void torcoll_sys_munmap(void *p, size_t bytes)
{
	if (p == ring)
		ring = NULL;
	munmap(p, bytes);
}
