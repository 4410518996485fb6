// SPDX-License-Identifier: MIT
/*
 * The completion ring: ops that were started complete without a system call.
 *
 * Each of them has a cell in the library, and the module's entry contains its
 * number; entries never contain addresses of the caller. What an entry says is
 * kept in the cell until the result is fetched, so the ring limits the ops that
 * complete to it, but not the results that wait to be fetched. While there is such
 * a result, the last entry stays in the ring, so that torcoll_fd() polls readable.
 *
 * A result that the program has to reap occupies a slot of its comm until then.
 * While ops wait for slots, this file reaps results as soon as it sees them.
 *
 * An op for which the ring has no place has a cell without one, by which its
 * handle is known. Its owner fetches the result by calls, or finds it in the cell:
 * while ops wait for slots, this file asks for such results, too. The op gets a
 * place once there is one.
 *
 * An op that is both started and waited for by one call has no cell, unless the
 * call ends before it (torcoll__request_divert()): then it goes on as the others.
 *
 * The ring is made for the first op that is started. Where there is none (an older
 * module, a limit), no op has a place, and torcoll_fd() does not show results that
 * were fetched here.
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
	uint32_t next;				/* next free one; or of those to ask for */
	uint32_t prev;				/* of these */
	bool posted;				/* the op has a place in the ring */
	bool done;
	struct torcoll_completion completion;	/* its op, without a place: 0: not started yet */
	char *why;				/* the module's reason, if a failure was fetched */
};

struct torcoll__ring {
	pthread_mutex_t lock;
	bool tried;
	int eventfd;
	struct torcoll_ring_setup made;		/* bytes 0: it was not, so far */
	struct torcoll_ring *shared;		/* NULL: there is none */
	const char *entry;
	uint32_t entries;			/* 0: there is none */
	uint32_t places;			/* for ops; the last entry seen may stay */
	bool diverts;				/* it takes ops that run */
	uint32_t taken;				/* ops that will be posted or were */
	/* ops to ask for, without a place and a known result: number of the cell, from 1 */
	uint32_t first, last;			/* in the order in which they get places; 0: none */
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
	/* those of a child's comms */
	for (uint32_t i = 0; i < ring->top; i++)
		free(ring->cells[i].why);
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
	shared = torcoll_sys_mmap(t->fd, ring->made.bytes, TORCOLL_MMAP_RING);
	if (!shared)
		return -ENOMEM;
	ring->shared = shared;
	ring->entry = (char *)shared + ring->made.entries_offset;
	ring->entries = ring->made.entries;
	ring->places = ring->entries - 1;
	ring->diverts = t->features & TORCOLL_FEATURE_WAIT_NS;
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

static uint32_t cell_number(const struct torcoll__ring *ring, const struct cell *cell)
{
	return cell - ring->cells + 1;
}

static uint64_t cell_id(const struct torcoll__ring *ring, const struct cell *cell)
{
	return (uint64_t)cell->generation << 32 | cell_number(ring, cell);
}

/* The op of a cell without a place has got its handle. */
static void asked_add(struct torcoll__ring *ring, struct cell *cell, uint64_t op)
{
	cell->completion.op = op;
	cell->prev = ring->last;
	cell->next = 0;
	ring->last = cell_number(ring, cell);
	if (cell->prev)
		ring->cells[cell->prev - 1].next = ring->last;
	else
		ring->first = ring->last;
}

static void asked_del(struct torcoll__ring *ring, const struct cell *cell)
{
	if (cell->prev)
		ring->cells[cell->prev - 1].next = cell->next;
	else
		ring->first = cell->next;
	if (cell->next)
		ring->cells[cell->next - 1].prev = cell->prev;
	else
		ring->last = cell->prev;
}

/* Of one with a place, or a known result. */
static void cell_free(struct torcoll__ring *ring, struct cell *cell)
{
	ring->ready -= cell->done;
	free(cell->why);
	cell->why = NULL;
	cell->done = false;
	cell->comm = NULL;
	cell->next = ring->free;
	ring->free = cell - ring->cells;
}

/* Of any op. */
static void cell_drop(struct torcoll__ring *ring, struct cell *cell)
{
	if (!cell->posted && !cell->done && cell->completion.op)
		asked_del(ring, cell);
	cell_free(ring, cell);
}

static struct torcoll_completion entry_at(const struct torcoll__ring *ring, uint32_t i)
{
	struct torcoll_completion entry;

	memcpy(&entry, ring->entry + (size_t)(i & (ring->entries - 1)) * ring->made.entry_size,
	       sizeof(entry));
	return entry;
}

static void ring_set_head(struct torcoll__ring *ring, uint32_t head)
{
	if (!ring->shared || head == ring->head)
		return;
	ring->head = head;
	__atomic_store_n(&ring->shared->head, head, __ATOMIC_RELEASE);
}

/*
 * Release the entries that were seen; but the last one stays while there is a
 * result to fetch.
 */
static void ring_release(struct torcoll__ring *ring)
{
	ring_set_head(ring, ring->seen - !!ring->ready);
}

/*
 * Have the last one stay before a result is fetched: a thread in poll() is woken
 * once, and looks whether the module has the result or the ring an entry.
 */
static void ring_hold(struct torcoll__ring *ring)
{
	ring_set_head(ring, ring->seen - 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static bool ring_has_place(const struct torcoll__ring *ring)
{
	return ring->taken - ring->seen < ring->places;
}

static bool ring_can_divert(const struct torcoll__ring *ring)
{
	return ring->diverts && ring_has_place(ring);
}

/* Keep what a wait gave that was not the owner's. */
static void cell_keep(struct cell *cell, const struct torcoll_wait *w)
{
	cell->completion.flags = 0;
	cell->completion.status = w->status;
	cell->completion.error_rank = w->error_rank;
	if (w->status)
		cell->why = torcoll__reason_copy(cell->comm->t);
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
	cell_keep(cell, &w);
}

/*
 * Ask for the result of an op without a place. If it still runs, and there is a
 * place now, it gets that. What is refused, since a thread waits for the op, is
 * left to that. ring_release() is to follow.
 */
static void cell_ask(struct torcoll__ring *ring, struct cell *cell)
{
	bool divert = ring_can_divert(ring);
	struct torcoll_wait w = {
		.size = sizeof(w),
		.flags = TORCOLL_WAIT_NOHANG | (divert ? TORCOLL_WAIT_RING : 0),
		.comm = cell->comm->handle,
		.op = cell->completion.op,
		.user_data = divert ? cell_id(ring, cell) : 0,
	};
	int err;

	ring_hold(ring);
	err = torcoll__ioctl(cell->comm->t, TORCOLL_IOC_WAIT, &w);
	if (err && (err != -EAGAIN || !divert))
		return;
	asked_del(ring, cell);
	if (err) {
		cell->posted = true;
		ring->taken++;
		return;
	}
	cell_keep(cell, &w);
	cell->done = true;
	ring->ready++;
}

/*
 * Ask for ops without a place: as many as get one; or, with t->queue held, @all of
 * comms whose others wait for slots.
 */
static void cells_ask(struct torcoll__ring *ring, bool all)
{
	uint32_t next;

	for (uint32_t i = ring->first; i && (all || ring_can_divert(ring)); i = next) {
		struct cell *cell = &ring->cells[i - 1];

		next = cell->next;
		if (!all || cell->comm->lanes)
			cell_ask(ring, cell);
	}
	ring_release(ring);
}

/* Release entries, whose places are for those without one. */
static void ring_advance(struct torcoll__ring *ring)
{
	ring_release(ring);
	if (ring->first)
		cells_ask(ring, false);
}

/* Assign new entries to their cells. */
static void ring_look(struct torcoll__ring *ring)
{
	uint32_t tail = ring->shared ? __atomic_load_n(&ring->shared->tail, __ATOMIC_ACQUIRE) : 0;

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
	ring_look(ring);
	for (uint32_t i = 0; ring->ready && i < ring->top; i++)
		if (ring->cells[i].comm && ring->cells[i].done)
			cell_reap(&ring->cells[i]);
	cells_ask(ring, true);
	pthread_mutex_unlock(&ring->lock);
}

void torcoll__ring_ask(struct torcoll *t)
{
	struct torcoll__ring *ring = t->ring;

	pthread_mutex_lock(&ring->lock);
	if (ring->first)
		cells_ask(ring, true);
	pthread_mutex_unlock(&ring->lock);
}

void torcoll__ring_ask_comm(const struct torcoll_comm *comm)
{
	struct torcoll__ring *ring = comm->t->ring;
	uint32_t next;

	pthread_mutex_lock(&ring->lock);
	for (uint32_t i = ring->first; i; i = next) {
		next = ring->cells[i - 1].next;
		if (ring->cells[i - 1].comm == comm)
			cell_ask(ring, &ring->cells[i - 1]);
	}
	ring_release(ring);
	pthread_mutex_unlock(&ring->lock);
}

/* Return a cell for an op, with a place if there is one and @place; NULL: no memory. */
static struct cell *cell_take(struct torcoll__ring *ring, const struct torcoll_comm *comm,
			      bool place)
{
	struct cell *cell;

	ring_setup(comm->t, ring);
	ring_look(ring);
	if (ring->free == ring->room && !cells_grow(ring, ring->room ? ring->room : RING_ENTRIES))
		return NULL;
	cell = &ring->cells[ring->free];
	ring->free = cell->next;
	cell->comm = comm;
	cell->generation++;
	cell->completion.op = 0;
	cell->posted = place && ring_has_place(ring);
	ring->taken += cell->posted;
	if (ring->top <= cell - ring->cells)
		ring->top = cell - ring->cells + 1;
	return cell;
}

uint64_t torcoll__ring_take(const struct torcoll_comm *comm, bool *posted)
{
	struct torcoll__ring *ring = comm->t->ring;
	const struct cell *cell;
	uint64_t id = 0;

	pthread_mutex_lock(&ring->lock);
	cell = cell_take(ring, comm, true);
	if (cell) {
		*posted = cell->posted;
		id = cell_id(ring, cell);
	}
	pthread_mutex_unlock(&ring->lock);
	return id;
}

/*
 * The op of a cell without a place has got its handle. Who looked when the op
 * completed did not know that.
 */
static void cell_start(struct torcoll__ring *ring, struct cell *cell, uint64_t op)
{
	asked_add(ring, cell, op);
	if (ring_can_divert(ring) || torcoll__is_queued(cell->comm->t))
		cell_ask(ring, cell);
	ring_release(ring);
}

uint64_t torcoll__ring_adopt(const struct torcoll_comm *comm, uint64_t op)
{
	struct torcoll__ring *ring = comm->t->ring;
	struct cell *cell;
	uint64_t id = 0;

	pthread_mutex_lock(&ring->lock);
	cell = cell_take(ring, comm, false);
	if (cell) {
		cell_start(ring, cell, op);
		id = cell_id(ring, cell);
	}
	pthread_mutex_unlock(&ring->lock);
	return id;
}

void torcoll__ring_started(const struct torcoll_comm *comm, uint64_t id, uint64_t op)
{
	struct torcoll__ring *ring = comm->t->ring;

	pthread_mutex_lock(&ring->lock);
	cell_start(ring, cell_find(ring, id), op);
	pthread_mutex_unlock(&ring->lock);
}

void torcoll__ring_give_back(struct torcoll *t, uint64_t id)
{
	struct torcoll__ring *ring = t->ring;
	struct cell *cell;

	pthread_mutex_lock(&ring->lock);
	cell = cell_find(ring, id);
	ring->taken -= cell->posted;
	cell_drop(ring, cell);
	pthread_mutex_unlock(&ring->lock);
}

int torcoll__ring_fetch(struct torcoll *t, uint64_t id, uint32_t *looked,
			struct torcoll_completion *completion)
{
	struct torcoll__ring *ring = t->ring;
	struct cell *cell;
	int err = 0;

	/* whatever becomes known of an op with a place comes by an entry */
	if (torcoll__ring_tail(t) == *looked)
		return -EAGAIN;
	pthread_mutex_lock(&ring->lock);
	ring_look(ring);
	cell = cell_find(ring, id);
	if (cell && cell->done) {
		*completion = cell->completion;
		if (cell->why)
			torcoll__reason_give(cell->why);
		cell_free(ring, cell);
		if (!ring->ready)
			ring_advance(ring);
	} else if (cell && !cell->posted) {
		err = -ENODATA;
	} else {
		*looked = ring->seen;
		err = -EAGAIN;
	}
	pthread_mutex_unlock(&ring->lock);
	return err;
}

void torcoll__ring_forget(struct torcoll *t, uint64_t id)
{
	struct torcoll__ring *ring = t->ring;
	struct cell *cell;

	pthread_mutex_lock(&ring->lock);
	cell = cell_find(ring, id);
	if (cell)
		cell_drop(ring, cell);
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
			cell_drop(ring, &ring->cells[i]);
	pthread_mutex_unlock(&ring->lock);
}

void torcoll__ring_pass(struct torcoll *t)
{
	struct torcoll__ring *ring = t->ring;

	pthread_mutex_lock(&ring->lock);
	ring_look(ring);
	ring_advance(ring);
	pthread_mutex_unlock(&ring->lock);
}
