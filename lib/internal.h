/* SPDX-License-Identifier: MIT */
/*
 * Internals that the library's files share.
 *
 * Locking: torcoll.lock protects the table of regions and the list of comms.
 * Looking up a region takes it shared, everything else exclusively. It is never
 * held across an op, but is held across registration, which is rare: an op may
 * therefore wait while memory is pinned. A comm does not change after its
 * creation, except for a counter and its choice of algorithms, which the caller
 * serialises with ops. torcoll.queue protects ops that wait for a slot, and is
 * held while one is started, but not while the next step of one is described: see
 * job.h. torcoll.lock is inside it.
 */
#ifndef TORCOLL_INTERNAL_H
#define TORCOLL_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "number.h"
#include "request.h"
#include "sys.h"
#include "torcoll.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __printf(f, a)	__attribute__((__format__(printf, f, a)))

struct torcoll_region {
	uintptr_t addr;
	size_t length;
	uint32_t handle;
	uint32_t holds;		/* by prepared ops */
	bool automatic;		/* for prepared ops only: goes with the last of them */
	bool cached;		/* for any op: watched, goes when others need the room */
	bool allocated;		/* allocated by the module */
	uint64_t used;		/* last use by an op, in lookups */
};

struct torcoll {
	int fd;
	pthread_rwlock_t lock;
	struct torcoll_region *regions;	/* sorted by address, disjoint */
	size_t nregions;
	uint32_t *leftover;		/* regions that were released while ops used them */
	size_t leftovers;
	size_t room;			/* allocated entries of regions, and of leftover */
	struct torcoll_comm *comms;
	struct torcoll__ring *ring;
	uint64_t features;		/* TORCOLL_FEATURE_* */
	uint64_t spin_ns;		/* TORCOLL_SPIN */
	uint64_t cache_bytes;		/* TORCOLL_CACHE: limit of cached regions */
	uint64_t cached_bytes;		/* bytes of cached regions */
	uint64_t lookups;
	unsigned int forks;		/* of the process, when the context was opened */
	/* queue.c */
	pthread_mutex_t queue;		/* lanes, jobs and watches */
	pthread_cond_t advanced;	/* a job is no longer ADVANCING */
	struct torcoll__lane *lanes;	/* that are not empty */
	struct torcoll__job *jobs;	/* all */
	uint32_t queued;		/* jobs in lanes */
	uint64_t pushed_ns;		/* when the lanes were looked at last, */
	uint64_t push_ns;		/* how long that took, */
	uint32_t pushed_tail;		/* and what the ring had then */
	uint64_t asked_ns;		/* when results were last asked for, */
	uint64_t ask_ns;		/* and how long it took, if long */
	int watches[4];			/* watch.c: spare ones */
	uint32_t nwatches;
};

struct torcoll_comm {
	struct torcoll *t;
	struct torcoll_comm *next;
	uint32_t handle;
	uint32_t rank;
	uint32_t size;
	uint32_t room;			/* for members; heirs have as much as the first comm */
	/* config of the join, for groups made from the comm */
	uint64_t fabric;
	char *name;
	char *secret;			/* NULL: none */
	uint32_t *members;		/* node of each rank */
	uint32_t depth;
	enum torcoll_bits bits;
	uint64_t flags;			/* TORCOLL_COMM_* */
	uint32_t groups;		/* calls that made groups; changes */
	bool failed;			/* by an op of the queue, whose lock protects this */
	uint32_t lanes;			/* and this: series of ops that wait for slots */
	uint32_t exclude[TORCOLL_COLL_COUNT];	/* algorithms that auto must not choose */
};

/* Free the library's memory of a comm; the module's comm is not affected. */
void torcoll__comm_free(struct torcoll_comm *comm);

/* Call an ioctl, and repeat it whenever a signal interrupts it. */
int torcoll__ioctl(struct torcoll *t, unsigned long request, void *arg);

/*
 * Set the thread's sentence to the text, followed by the name of @err. Return
 * @err.
 */
__printf(2, 3)
int torcoll__fail(int err, const char *fmt, ...);

/*
 * The same for an error of @what that was told before, when it may have been told
 * with the reason: a sentence like that stays.
 */
int torcoll__fail_again(int err, const char *what);

/*
 * The same for a refusal by the module or a failed op: @what failed, followed
 * by the module's reason.
 */
int torcoll__refused(struct torcoll *t, int err, const char *what);

/*
 * Keep the module's reason for the refusal of this thread's last call, which the
 * next call forgets, for torcoll__refused(); or drop it, since the refusal is
 * not the caller's.
 */
void torcoll__reason_keep(struct torcoll *t);
void torcoll__reason_drop(void);

/*
 * Of a failure that is told by another thread, or later: return the module's reason,
 * to be freed, NULL: no memory; have torcoll__refused() say that, whatever the
 * module has to say by then.
 */
char *torcoll__reason_copy(struct torcoll *t);
void torcoll__reason_give(const char *why);

/*
 * Sentences about the op of another thread: keep the own one before what may
 * fail, then take the new one, which is to be freed and may be NULL, and have
 * the own one back. The thread that waits for the op says it.
 */
#define TORCOLL__SENTENCE_MAX	768

void torcoll__sentence_keep(char *kept);
char *torcoll__sentence_swap(const char *kept);
void torcoll__sentence_say(const char *text);

/*
 * Parse @text into @exclude, TORCOLL_COLL_COUNT masks. Return 0, or -EINVAL with
 * a sentence that names the wrong word; @what: of what the text is the value.
 */
int torcoll__algo_parse(uint32_t *exclude, const char *what, const char *text);

/* Levels of TORCOLL_DEBUG: failures, comms, every op. */
enum torcoll__level {
	TORCOLL__QUIET,
	TORCOLL__WARN,
	TORCOLL__INFO,
	TORCOLL__TRACE,
};

bool torcoll__debugs(enum torcoll__level at);

/* Print a line on stderr if that level is enabled. */
__printf(2, 3)
void torcoll__debug(enum torcoll__level at, const char *fmt, ...);

/*
 * Return the region that contains all of (@addr, @length), registered now if
 * that is useful; or 0: the op pins the memory itself.
 */
uint32_t torcoll__region_find(struct torcoll *t, const void *addr, uint64_t length);

/*
 * Handle the refusal of an op. The cause may be a cached region that was
 * unmapped, is gone, or uses up the op's limits. @sent, @received: bytes that the
 * op uses of its buffers. Return whether to submit it again, without cached
 * regions or after one was released.
 */
bool torcoll__region_retry(struct torcoll *t, int err, struct torcoll_submit *s, uint64_t sent,
			   uint64_t received);

/* Release all regions, at the end of the context, and unmap the module's memory. */
void torcoll__region_del_all(struct torcoll *t);

/*
 * Return the region that contains all of (@addr, @length), held until it is
 * released; registered for that if there is none. -EEXIST: a part of it is
 * registered.
 */
int torcoll__region_hold(struct torcoll *t, const void *addr, uint64_t length, uint32_t *region);
void torcoll__region_release(struct torcoll *t, uint32_t region);

/* ---- context.c ---- */

/*
 * Return whether this is a child of the process that opened the context. It
 * must not change what the module has, since the file is its parent's, nor take
 * a lock, which may be held for ever.
 */
bool torcoll__is_forked(const struct torcoll *t);

/* Return -EPERM with a sentence in such a child. */
int torcoll__check(const struct torcoll *t, const char *what);

/* ---- comm_env.c ---- */

/*
 * Read variable @name, at most @max, into @value, which is unchanged if the
 * variable is not set.
 */
int torcoll__env_number(const char *name, uint64_t max, uint64_t *value);

/* ---- place.c ---- */

struct torcoll__launcher;

/**
 * torcoll__place - join the comm of a launcher's job
 * @t: context
 * @config: without rank and members
 * @launcher: the process's place in the job
 * @fabric: the fabric, and this node in it
 * @comm: out: its ranks are those of the launcher
 *
 * Return: 0 or a negative errno with a sentence.
 */
int torcoll__place(struct torcoll *t, const struct torcoll_comm_config *config,
		   const struct torcoll__launcher *launcher,
		   const struct torcoll_sys_fabric *fabric, struct torcoll_comm **comm);

/* ---- ring.c ---- */

struct torcoll__ring;

struct torcoll__ring *torcoll__ring_alloc(void);
void torcoll__ring_free(struct torcoll__ring *ring, bool forked);

/*
 * Return an id for an op; 0: no memory. @posted: it has a place in the ring. Of
 * one without, the library has to be told the handle that it gets.
 */
uint64_t torcoll__ring_take(const struct torcoll_comm *comm, bool *posted);
void torcoll__ring_started(const struct torcoll_comm *comm, uint64_t id, uint64_t op);

/* The same for an op that runs, and gets a place if that is possible. */
uint64_t torcoll__ring_adopt(const struct torcoll_comm *comm, uint64_t op);

/* Return the number of entries that the module has posted. */
uint32_t torcoll__ring_tail(const struct torcoll *t);

/* Release the id of an op that was not started. */
void torcoll__ring_give_back(struct torcoll *t, uint64_t id);

/*
 * If the op is done, return 0 with its completion, and release the id. -EAGAIN: it
 * is not, as far as is known; -ENODATA: nor does the ring tell, as it has no place.
 * @looked: number of entries at the last look, or one less than there were at the
 * start: without new ones this costs nothing of an op with a place.
 */
int torcoll__ring_fetch(struct torcoll *t, uint64_t id, uint32_t *looked,
			struct torcoll_completion *completion);

/*
 * Reap all results, since ops wait for the slots that they occupy. Those that the
 * ring shows are reaped from then on; for others the module has to be asked: for
 * those of comms that have lanes, or of one that gets its first. Context: t->queue.
 */
void torcoll__ring_reap(struct torcoll *t);
void torcoll__ring_ask(struct torcoll *t);
void torcoll__ring_ask_comm(const struct torcoll_comm *comm);

/*
 * Drop the completion of an op whose result is known otherwise; of all ops of a
 * comm, whose handle may then go.
 */
void torcoll__ring_forget(struct torcoll *t, uint64_t id);
void torcoll__ring_forget_comm(const struct torcoll_comm *comm);

/*
 * Release entries that are nobody's, so that they do not keep the file readable, and
 * offer free places to ops without one.
 */
void torcoll__ring_pass(struct torcoll *t);

/* ---- op.c ---- */

/* Return the collective's name, for sentences; never NULL. */
const char *torcoll__op_name(uint32_t collective);

/*
 * Return the bytes that an op reads at send, or writes at recv, on this rank.
 */
uint64_t torcoll__op_bytes(const struct torcoll_comm *comm, const struct torcoll_op *op, bool recv);

/*
 * Check an op, and fill in the module's struct. Return 0 or a negative errno
 * with a sentence.
 */
int torcoll__op_describe(const struct torcoll_comm *comm, const struct torcoll_op *op,
			 struct torcoll_submit *s);

/*
 * Start a described op. -EBUSY with TORCOLL_OP_TRY: there is no slot for it.
 * Sets no sentence.
 */
int torcoll__op_start(struct torcoll_comm *comm, struct torcoll_submit *s,
		      struct torcoll_request *req);

/*
 * Start @n ops of comms of one context. @done: number of ops that run; their
 * requests are ready. -EBUSY, without a sentence: the next one has to wait for
 * a slot.
 */
int torcoll__batch(struct torcoll_comm *const *comms, struct torcoll_submit *s, uint32_t n,
		   struct torcoll_request *reqs, uint32_t *done);

/* Return whether ops of a comm, with these flags, wait in the queue if there is no slot. */
bool torcoll__may_wait(const struct torcoll_comm *comm, uint32_t flags);

/* Refuse an op that does not wait, since others do. Return -EBUSY. */
int torcoll__overtakes(uint32_t collective);

/* ---- refusal.c ---- */

/*
 * Handle the refusal of a call for good. Return whether to make it once more, so
 * that the module tells the other ranks.
 */
bool torcoll__refusal_retry(const struct torcoll_comm *comm, int err, struct torcoll_submit *s);

/* The same of an op that other ranks count on: they are told, whatever the comm's flags. */
bool torcoll__refusal_told(const struct torcoll_comm *comm, int err, struct torcoll_submit *s);

/*
 * Tell the other ranks of a refusal by the library, by failing the comm: of a
 * call, if the comm's flags say so; of an op that they count on. Change no
 * sentence.
 */
void torcoll__refusal_tell(struct torcoll_comm *comm, const struct torcoll_op *op, int err);
void torcoll__refusal_fail(struct torcoll_comm *comm, const struct torcoll_op *op, int err);

/* ---- wait.c ---- */

/*
 * Look whether a started op is complete, without a sentence. Return 0, with the
 * request done, or -EAGAIN, or the refusal of the wait.
 */
int torcoll__request_look(struct torcoll_request *req);

/*
 * Return when a call that waits until then must end, since other threads may
 * have queued ops; 0: never.
 */
uint64_t torcoll__call_end(uint64_t deadline_ns);

/*
 * The same of a call that makes a comm, and ends early if the module can: sooner
 * if ops wait, since it does not see when they can start; but not before it has
 * slept as long as the last one was busy, 0: there was none.
 */
uint64_t torcoll__join_end(const struct torcoll *t, uint64_t busy_ns);

/*
 * Have an op, which was started by a call that waited for it, posted to the ring,
 * as one that nobody waits for. Return -EAGAIN; or, if it is complete, what the
 * caller gets.
 */
int torcoll__request_divert(struct torcoll_request *req);

/* ---- queue.c ---- */

/*
 * Return whether an op that the module does not have has a buffer that begins
 * there. Context: t->queue.
 */
bool torcoll__queue_uses(const struct torcoll *t, uint64_t addr, uint64_t length);

/* ---- watch.c ---- */

/*
 * Get a descriptor that polls readable after an event of the context: a result,
 * a free slot, a failure. Return it or a negative errno.
 */
int torcoll__watch_get(struct torcoll *t);
void torcoll__watch_put(struct torcoll *t, int watch);
void torcoll__watch_close_all(struct torcoll *t);

/* Return whether ops wait for slots. */
static inline bool torcoll__is_queued(const struct torcoll *t)
{
	return __atomic_load_n(&t->queued, __ATOMIC_RELAXED);
}

/*
 * Return the role that, with the peer, names the series of messages of an op; 0:
 * it is a collective.
 */
static inline uint32_t torcoll__role(const struct torcoll_submit *s)
{
	return s->collective == TORCOLL_SEND || s->collective == TORCOLL_RECV ? s->collective : 0;
}

static inline uint64_t torcoll__u64(const void *p)
{
	return (uintptr_t)p;
}

/*
 * collective.c: make an op on a vector of blocks; set the vector that blocks of
 * these lengths form
 */
struct torcoll_op torcoll__blocks_op(enum torcoll_collective collective, const void *send,
				     void *recv, uint64_t count, enum torcoll_type type);
int torcoll__set_counts(struct torcoll_comm *comm, struct torcoll_op *op, const uint64_t *counts);

#endif
