// SPDX-License-Identifier: MIT
/*
 * The completion ring: ops that were started complete without a system call.
 *
 * Each of them has a cell in the library, and the module's entry contains its
 * number; entries never contain addresses of the caller. What an entry says is
 * kept in the cell until the result is fetched, so the ring limits the ops in
 * flight, but not the results that wait to be fetched. While there is such a
 * result, the last entry stays in the ring, so that torcoll_fd() polls readable.
 *
 * A result that the program has to reap occupies a slot of its comm until then.
 * While ops wait for slots, this file reaps results as soon as it sees them.
 *
 * An op that is both started and waited for by one call is not posted, unless the
 * call ends before it (torcoll__request_divert()): then it goes on as the others.
 *
 * The ring is made for the first op that is started. Without a ring (an older
 * module, a limit), results are fetched by system calls.
 *
 * Locking: ring->lock protects all of it, and is a leaf. taken, head and entries
 * are read without it as hints.
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
	struct torcoll_ring_setup made;		/* bytes 0: it was not, so far */
	struct torcoll_ring *shared;		/* NULL: there is none */
	const char *entry;
	uint32_t entries;
	uint32_t taken;				/* ops that will be posted or were */
	uint32_t seen;				/* entries assigned to cells */
	uint32_t head;				/* entries released to the module */
	uint32_t ready;				/* results in cells */
	struct cell *cells;			/* of ops in flight, and of results */
	uint32_t room;				/* number of cells */
	uint32_t free;				/* the first free one, room: none */
	uint32_t top;				/* those from here on were never used */
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
		torcoll_sys_munmap(ring->shared, ring->made.bytes);
	free(ring->cells);
	pthread_mutex_destroy(&ring->lock);
	free(ring);
}

/* Add @more cells, all of which are free. False: no memory. */
static bool cells_grow(struct torcoll__ring *ring, uint32_t more)
{
	struct cell *cells = realloc(ring->cells, (ring->room + (size_t)more) * sizeof(*cells));

	if (!cells)
		return false;
	memset(&cells[ring->room], 0, more * sizeof(*cells));
	for (uint32_t i = ring->room; i < ring->room + more; i++)
		cells[i].next = i + 1;
	ring->cells = cells;
	ring->room += more;
	return true;
}

/* A file gets one ring, which stays if it cannot be mapped. */
static int ring_make(struct torcoll *t, struct torcoll__ring *ring)
{
	struct torcoll_ring_setup setup = {
		.size = sizeof(setup),
		.entries = RING_ENTRIES,
		.eventfd = ring->eventfd,
	};
	int err;

	if (ring->made.bytes)
		return 0;
	err = torcoll__ioctl(t, TORCOLL_IOC_RING_SETUP, &setup);
	if (!err)
		ring->made = setup;
	return err;
}

static int ring_map(struct torcoll *t, struct torcoll__ring *ring)
{
	int err = ring_make(t, ring);
	void *shared;

	if (err)
		return err;
	if (!ring->room && !cells_grow(ring, ring->made.entries))
		return -ENOMEM;
	shared = torcoll_sys_mmap(t->fd, ring->made.bytes, TORCOLL_MMAP_RING);
	if (!shared)
		return -ENOMEM;
	ring->shared = shared;
	ring->entry = (char *)shared + ring->made.entries_offset;
	__atomic_store_n(&ring->entries, ring->made.entries, __ATOMIC_RELAXED);
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
	int err = torcoll__check(t, "eventfd");

	if (err)
		return err;
	if (!(t->features & TORCOLL_FEATURE_RING))
		return torcoll__fail(-EOPNOTSUPP, "eventfd: the module has no completion rings");
	if (fd < 0)
		return torcoll__fail(-EINVAL, "eventfd: %d is not an eventfd", fd);
	pthread_mutex_lock(&ring->lock);
	if (ring->tried) {
		err = torcoll__fail(-EBUSY, "eventfd: an op was started already");
	} else if (ring->made.bytes && ring->made.eventfd != fd) {
		err = torcoll__fail(-EBUSY, "eventfd: the ring has the one of a former call");
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

	if (i >= ring->room || !ring->cells[i].comm ||
	    ring->cells[i].generation != (uint32_t)(id >> 32))
		return NULL;
	return &ring->cells[i];
}

static void cell_free(struct torcoll__ring *ring, struct cell *cell)
{
	ring->ready -= cell->done;
	cell->done = false;
	cell->comm = NULL;
	cell->next = ring->free;
	ring->free = cell - ring->cells;
}

static struct torcoll_completion entry_at(const struct torcoll__ring *ring, uint32_t i)
{
	struct torcoll_completion entry;

	memcpy(&entry, ring->entry + (size_t)(i & (ring->entries - 1)) * ring->made.entry_size,
	       sizeof(entry));
	return entry;
}

/*
 * Release the entries that were seen; but the last one stays while there is a
 * result to fetch.
 */
static void ring_advance(struct torcoll__ring *ring)
{
	uint32_t head = ring->seen - !!ring->ready;

	if (head == ring->head)
		return;
	__atomic_store_n(&ring->head, head, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->shared->head, head, __ATOMIC_RELEASE);
}

/*
 * Reap the result in a cell, so that its slot can serve the next op. Results of
 * failed ops stay: no op of such a comm waits for a slot.
 */
static void cell_reap(struct cell *cell)
{
	struct torcoll_wait w = {
		.size = sizeof(w),
		.flags = TORCOLL_WAIT_NOHANG,
		.comm = cell->comm->handle,
		.op = cell->completion.op,
	};

	if (!(cell->completion.flags & TORCOLL_COMPLETION_REAP) || cell->completion.status ||
	    torcoll__ioctl(cell->comm->t, TORCOLL_IOC_WAIT, &w))
		return;
	cell->completion.flags = 0;
	cell->completion.status = w.status;
	cell->completion.error_rank = w.error_rank;
}

/* Assign new entries to their cells. */
static void ring_look(struct torcoll__ring *ring)
{
	uint32_t tail = __atomic_load_n(&ring->shared->tail, __ATOMIC_ACQUIRE);

	if (ring->seen == tail)
		return;
	while (ring->seen != tail) {
		struct torcoll_completion entry = entry_at(ring, ring->seen++);
		struct cell *cell = cell_find(ring, entry.user_data);

		if (!cell || cell->done)
			continue;
		cell->completion = entry;
		cell->done = true;
		ring->ready++;
		if (torcoll__is_queued(cell->comm->t))
			cell_reap(cell);
	}
	ring_advance(ring);
}

uint32_t torcoll__ring_tail(const struct torcoll *t)
{
	const struct torcoll_ring *shared = __atomic_load_n(&t->ring->shared, __ATOMIC_RELAXED);

	return shared ? __atomic_load_n(&shared->tail, __ATOMIC_RELAXED) : 0;
}

void torcoll__ring_reap(struct torcoll *t)
{
	struct torcoll__ring *ring = t->ring;

	pthread_mutex_lock(&ring->lock);
	if (ring->shared)
		ring_look(ring);
	for (uint32_t i = 0; ring->ready && i < ring->top; i++)
		if (ring->cells[i].comm && ring->cells[i].done)
			cell_reap(&ring->cells[i]);
	pthread_mutex_unlock(&ring->lock);
}

bool torcoll__ring_is_there(struct torcoll *t)
{
	struct torcoll__ring *ring = t->ring;
	bool there;

	pthread_mutex_lock(&ring->lock);
	there = ring->shared;
	pthread_mutex_unlock(&ring->lock);
	return there;
}

/* Others than those that hold the lock read it as a hint. */
static void count_taken(struct torcoll__ring *ring, int change)
{
	__atomic_store_n(&ring->taken, ring->taken + change, __ATOMIC_RELAXED);
}

bool torcoll__ring_is_crowded(const struct torcoll *t)
{
	const struct torcoll__ring *ring = t->ring;
	uint32_t taken = __atomic_load_n(&ring->taken, __ATOMIC_RELAXED);

	return taken - __atomic_load_n(&ring->head, __ATOMIC_RELAXED) >
	       __atomic_load_n(&ring->entries, __ATOMIC_RELAXED) / 2;
}

/* Return whether the ring has room for one more op, and a cell. */
static bool ring_has_room(struct torcoll__ring *ring)
{
	ring_look(ring);
	return ring->taken - ring->head < ring->entries &&
	       (ring->free < ring->room || cells_grow(ring, ring->room));
}

bool torcoll__ring_take(const struct torcoll_comm *comm, uint64_t *id)
{
	struct torcoll__ring *ring = comm->t->ring;
	struct cell *cell;
	bool there, room = false;

	*id = 0;
	pthread_mutex_lock(&ring->lock);
	ring_setup(comm->t, ring);
	there = ring->shared;
	if (there)
		room = ring_has_room(ring);
	if (room) {
		cell = &ring->cells[ring->free];
		ring->free = cell->next;
		count_taken(ring, 1);
		cell->comm = comm;
		cell->generation++;
		if (ring->top <= cell - ring->cells)
			ring->top = cell - ring->cells + 1;
		*id = (uint64_t)cell->generation << 32 | (cell - ring->cells + 1);
	}
	pthread_mutex_unlock(&ring->lock);
	return room || !there;
}

void torcoll__ring_give_back(struct torcoll *t, uint64_t id)
{
	struct torcoll__ring *ring = t->ring;

	if (!id)
		return;
	pthread_mutex_lock(&ring->lock);
	count_taken(ring, -1);
	cell_free(ring, cell_find(ring, id));
	pthread_mutex_unlock(&ring->lock);
}

bool torcoll__ring_fetch(struct torcoll *t, uint64_t id, uint32_t *looked,
			 struct torcoll_completion *completion)
{
	struct torcoll__ring *ring = t->ring;
	struct cell *cell;
	bool done;

	/* whatever becomes known comes by an entry */
	if (__atomic_load_n(&ring->shared->tail, __ATOMIC_RELAXED) == *looked)
		return false;
	pthread_mutex_lock(&ring->lock);
	ring_look(ring);
	cell = cell_find(ring, id);
	done = cell && cell->done;
	if (done) {
		*completion = cell->completion;
		cell_free(ring, cell);
		if (!ring->ready)
			ring_advance(ring);
	} else {
		*looked = ring->seen;
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
	for (uint32_t i = 0; i < ring->top; i++)
		if (ring->cells[i].comm == comm)
			cell_free(ring, &ring->cells[i]);
	pthread_mutex_unlock(&ring->lock);
}

void torcoll__ring_pass(struct torcoll *t)
{
	struct torcoll__ring *ring = t->ring;

	pthread_mutex_lock(&ring->lock);
	if (ring->shared) {
		ring_look(ring);
		ring_advance(ring);
	}
	pthread_mutex_unlock(&ring->lock);
}
