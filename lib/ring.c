// SPDX-License-Identifier: MIT
/*
 * The completion ring: ops that were started complete without a system call.
 *
 * Each of them has a cell in the library, and the module's entry contains its
 * number; entries never contain addresses of the caller. An entry stays in the
 * ring until its result is fetched, so that torcoll_fd() polls readable as long
 * as there is one. The ring is made for the first op that is started. Without a
 * ring (an older module, a limit), or when it is full, results are fetched by
 * system calls.
 *
 * Locking: ring->lock protects all of it, and is a leaf.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define RING_ENTRIES	1024

struct cell {
	const struct torcoll_comm *comm;	/* NULL: free */
	uint32_t generation;			/* of its use */
	uint32_t next;				/* next free one */
	bool done;
	struct torcoll_completion completion;
};

struct torcoll__ring {
	pthread_mutex_t lock;
	bool tried;
	int eventfd;
	struct torcoll_ring *shared;		/* NULL: there is none */
	size_t bytes;
	const char *entry;
	uint32_t entry_size;
	uint32_t entries;
	uint32_t taken;				/* ops that will be posted or were */
	uint32_t seen;				/* entries assigned to cells */
	uint32_t head;				/* entries whose results were fetched */
	struct cell *cells;			/* one per entry */
	uint32_t free;				/* the first free one */
};

struct torcoll__ring *torcoll__ring_alloc(void)
{
	struct torcoll__ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	pthread_mutex_init(&ring->lock, NULL);
	ring->eventfd = -1;
	return ring;
}

/* A child of fork() has a copy of this memory, but not of the mapping. */
void torcoll__ring_free(struct torcoll__ring *ring, bool forked)
{
	if (ring->shared && !forked)
		torcoll_sys_munmap(ring->shared, ring->bytes);
	free(ring->cells);
	pthread_mutex_destroy(&ring->lock);
	free(ring);
}

static int ring_map(struct torcoll *t, struct torcoll__ring *ring)
{
	struct torcoll_ring_setup setup = {
		.size = sizeof(setup),
		.entries = RING_ENTRIES,
		.eventfd = ring->eventfd,
	};
	void *shared;
	int err;

	err = torcoll__ioctl(t, TORCOLL_IOC_RING_SETUP, &setup);
	if (err)
		return err;
	ring->cells = calloc(setup.entries, sizeof(*ring->cells));
	if (!ring->cells)
		return -ENOMEM;
	shared = torcoll_sys_mmap(t->fd, setup.bytes, TORCOLL_MMAP_RING);
	if (!shared)
		return -ENOMEM;
	for (uint32_t i = 0; i < setup.entries; i++)
		ring->cells[i].next = i + 1;
	ring->shared = shared;
	ring->bytes = setup.bytes;
	ring->entry = (char *)shared + setup.entries_offset;
	ring->entry_size = setup.entry_size;
	ring->entries = setup.entries;
	return 0;
}

/* Context: lock held. */
static void ring_setup(struct torcoll *t, struct torcoll__ring *ring)
{
	int err;

	if (ring->tried || !(t->features & TORCOLL_FEATURE_RING))
		return;
	ring->tried = true;
	err = ring_map(t, ring);
	if (err)
		torcoll__debug(TORCOLL__WARN, "no completion ring: %s", torcoll_strerror(err));
}

int torcoll_eventfd(struct torcoll *t, int fd)
{
	struct torcoll__ring *ring = t->ring;
	int err = 0;

	if (!(t->features & TORCOLL_FEATURE_RING))
		return torcoll__fail(-EOPNOTSUPP, "eventfd: the module has no completion rings");
	if (fd < 0)
		return torcoll__fail(-EINVAL, "eventfd: %d is not an eventfd", fd);
	pthread_mutex_lock(&ring->lock);
	if (ring->tried) {
		err = torcoll__fail(-EBUSY, "eventfd: an op was started already");
	} else {
		ring->eventfd = fd;
		err = ring_map(t, ring);
		if (err)
			err = torcoll__refused(t, err, "eventfd");
		ring->tried = !err;
		ring->eventfd = -1;
	}
	pthread_mutex_unlock(&ring->lock);
	return err;
}

/*
 * Return the cell of an entry, or NULL if its result was fetched or its comm
 * closed.
 */
static struct cell *cell_find(struct torcoll__ring *ring, uint64_t id)
{
	uint32_t i = (uint32_t)id - 1;

	if (i >= ring->entries || !ring->cells[i].comm ||
	    ring->cells[i].generation != (uint32_t)(id >> 32))
		return NULL;
	return &ring->cells[i];
}

static void cell_free(struct torcoll__ring *ring, struct cell *cell)
{
	cell->comm = NULL;
	cell->next = ring->free;
	ring->free = cell - ring->cells;
}

static struct torcoll_completion entry_at(const struct torcoll__ring *ring, uint32_t i)
{
	struct torcoll_completion entry;

	memcpy(&entry, ring->entry + (size_t)(i & (ring->entries - 1)) * ring->entry_size,
	       sizeof(entry));
	return entry;
}

/* Release entries whose results were fetched, up to the first that was not. */
static void ring_advance(struct torcoll__ring *ring)
{
	uint32_t head = ring->head;

	while (head != ring->seen && !cell_find(ring, entry_at(ring, head).user_data))
		head++;
	if (head == ring->head)
		return;
	ring->head = head;
	__atomic_store_n(&ring->shared->head, head, __ATOMIC_RELEASE);
}

static void ring_look(struct torcoll__ring *ring)
{
	uint32_t tail = __atomic_load_n(&ring->shared->tail, __ATOMIC_ACQUIRE);

	while (ring->seen != tail) {
		struct torcoll_completion entry = entry_at(ring, ring->seen++);
		struct cell *cell = cell_find(ring, entry.user_data);

		if (!cell)
			continue;
		cell->completion = entry;
		cell->done = true;
	}
}

uint64_t torcoll__ring_take(const struct torcoll_comm *comm)
{
	struct torcoll__ring *ring = comm->t->ring;
	struct cell *cell;
	uint64_t id = 0;

	pthread_mutex_lock(&ring->lock);
	ring_setup(comm->t, ring);
	if (ring->shared && ring->free < ring->entries && ring->taken - ring->head < ring->entries) {
		cell = &ring->cells[ring->free];
		ring->free = cell->next;
		ring->taken++;
		cell->comm = comm;
		cell->generation++;
		cell->done = false;
		id = (uint64_t)cell->generation << 32 | (cell - ring->cells + 1);
	}
	pthread_mutex_unlock(&ring->lock);
	return id;
}

void torcoll__ring_give_back(struct torcoll *t, uint64_t id)
{
	struct torcoll__ring *ring = t->ring;

	if (!id)
		return;
	pthread_mutex_lock(&ring->lock);
	ring->taken--;
	cell_free(ring, cell_find(ring, id));
	pthread_mutex_unlock(&ring->lock);
}

bool torcoll__ring_fetch(struct torcoll *t, uint64_t id, struct torcoll_completion *completion)
{
	struct torcoll__ring *ring = t->ring;
	struct cell *cell;
	bool done;

	pthread_mutex_lock(&ring->lock);
	ring_look(ring);
	cell = cell_find(ring, id);
	done = cell && cell->done;
	if (done) {
		*completion = cell->completion;
		cell_free(ring, cell);
		ring_advance(ring);
	}
	pthread_mutex_unlock(&ring->lock);
	return done;
}

void torcoll__ring_forget(struct torcoll *t, uint64_t id)
{
	struct torcoll__ring *ring = t->ring;
	struct cell *cell;

	pthread_mutex_lock(&ring->lock);
	cell = cell_find(ring, id);
	if (cell)
		cell_free(ring, cell);
	ring_look(ring);
	ring_advance(ring);
	pthread_mutex_unlock(&ring->lock);
}

void torcoll__ring_forget_comm(const struct torcoll_comm *comm)
{
	struct torcoll__ring *ring = comm->t->ring;

	pthread_mutex_lock(&ring->lock);
	for (uint32_t i = 0; i < ring->entries; i++)
		if (ring->cells[i].comm == comm)
			cell_free(ring, &ring->cells[i]);
	if (ring->shared) {
		ring_look(ring);
		ring_advance(ring);
	}
	pthread_mutex_unlock(&ring->lock);
}
