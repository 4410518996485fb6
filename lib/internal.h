/* SPDX-License-Identifier: MIT */
/*
 * What the library's files share.
 *
 * Locking: torcoll.lock guards the table of regions and the list of comms. Looking up a region
 * takes it shared, everything else exclusively. It is never held across an op, but is across
 * registration, which is rare: so an op may wait while memory is pinned. A comm does not change
 * after its creation, but for a counter, and its choice of algorithms, which is the caller's to serialise
 * with ops.
 */
#ifndef TORCOLL_INTERNAL_H
#define TORCOLL_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>

#include "sys.h"
#include "torcoll.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __printf(f, a)	__attribute__((__format__(printf, f, a)))

struct torcoll_region {
	uintptr_t addr;
	size_t length;
	uint32_t handle;
	uint32_t holds;		/* by prepared ops */
	bool automatic;		/* for them alone: goes with the last of them */
	bool cached;		/* for any op that comes by: watched, goes when others need the room */
	bool allocated;		/* the module's memory */
	uint64_t used;		/* when an op last asked for it, in lookups */
};

struct torcoll {
	int fd;
	pthread_rwlock_t lock;
	struct torcoll_region *regions;	/* sorted by address, disjoint */
	size_t nregions;
	size_t room;			/* allocated entries of regions */
	struct torcoll_comm *comms;
	struct torcoll__ring *ring;
	uint64_t features;		/* TORCOLL_FEATURE_* */
	uint64_t spin_ns;		/* TORCOLL_SPIN */
	uint64_t cache_bytes;		/* TORCOLL_CACHE: at most so many are registered for ops that come by */
	uint64_t cached_bytes;		/* and so many are */
	uint64_t lookups;
	uint32_t leftover[16];		/* regions that were given up while ops used them */
	uint32_t leftovers;
	unsigned int forks;		/* of the process, when it was opened */
};

struct torcoll_comm {
	struct torcoll *t;
	struct torcoll_comm *next;
	uint32_t handle;
	uint32_t rank;
	uint32_t size;
	/* what it was joined with, for groups made from it */
	uint64_t fabric;
	char *name;
	char *secret;			/* NULL: none */
	uint32_t *members;		/* the node of each rank */
	uint32_t depth;
	enum torcoll_bits bits;
	uint32_t groups;		/* calls that made groups; changes */
	uint32_t exclude[TORCOLL_COLL_COUNT];	/* what auto must not take */
};

/* Free what the library knows of a comm; the module's comm is another matter. */
void torcoll__comm_free(struct torcoll_comm *comm);

/* An ioctl that is called again whenever a signal interrupts it. */
int torcoll__ioctl(struct torcoll *t, unsigned long request, void *arg);

/* Set the thread's sentence to the text, with the name of @err behind it. Return: @err. */
__printf(2, 3)
int torcoll__fail(int err, const char *fmt, ...);

/* The same for what the module refused, or an op's failure: @what failed, and the module says why. */
int torcoll__refused(struct torcoll *t, int err, const char *what);

/* Put what @text says into @exclude, TORCOLL_COLL_COUNT masks. Return: 0 or -EINVAL. */
int torcoll__algo_parse(uint32_t *exclude, const char *text);

/* How much TORCOLL_DEBUG wants to hear: failures, comms, every op. */
enum torcoll__level {
	TORCOLL__QUIET,
	TORCOLL__WARN,
	TORCOLL__INFO,
	TORCOLL__TRACE,
};

bool torcoll__debugs(enum torcoll__level at);

/* A line on stderr, if that level is wanted. */
__printf(2, 3)
void torcoll__debug(enum torcoll__level at, const char *fmt, ...);

/*
 * The region that all of (@addr, @length) lies in, registered now if that is worth it; or 0: the op is to pin the
 * memory itself.
 */
uint32_t torcoll__region_find(struct torcoll *t, const void *addr, uint64_t length);

/*
 * An op was refused, perhaps since a cached region was unmapped, has gone meanwhile, or takes what the op may
 * have. Return: whether it is to be submitted once more, without cached regions or after one was given up.
 */
bool torcoll__region_retry(struct torcoll *t, int err, struct torcoll_submit *s);

/* Unmap the module's memory, which keeps the file open. */
void torcoll__region_unmap_all(struct torcoll *t);

/*
 * The region that all of (@addr, @length) lies in, held until it is released: registered for that if there is none.
 * -EEXIST: a part of it is registered.
 */
int torcoll__region_hold(struct torcoll *t, const void *addr, uint64_t length, uint32_t *region);
void torcoll__region_release(struct torcoll *t, uint32_t region);

/* ---- context.c ---- */

/* -EPERM with a sentence in a child of the process that opened the context. */
int torcoll__check(const struct torcoll *t, const char *what);

/* ---- comm_env.c ---- */

/* Read variable @name, at most @max, into @value, which keeps its value if the variable is not set. */
int torcoll__env_number(const char *name, uint64_t max, uint64_t *value);

/* ---- ring.c ---- */

struct torcoll__ring;

struct torcoll__ring *torcoll__ring_alloc(void);
void torcoll__ring_free(struct torcoll__ring *ring, bool forked);

/* A name for an op that is to be posted to the ring; 0: it is to be waited for instead. */
uint64_t torcoll__ring_take(const struct torcoll_comm *comm);

/* It was not started after all; @id may be 0. */
void torcoll__ring_give_back(struct torcoll *t, uint64_t id);

/* Is it done? Then this is how, and the name is no more. Takes no system call. */
bool torcoll__ring_fetch(struct torcoll *t, uint64_t id, struct torcoll_completion *completion);

/* Its result is known otherwise; or nobody will ask, about all ops of a comm. */
void torcoll__ring_forget(struct torcoll *t, uint64_t id);
void torcoll__ring_forget_comm(const struct torcoll_comm *comm);

/* ---- op.c ---- */

/* The collective's name, for sentences. Never NULL. */
const char *torcoll__op_name(uint32_t collective);

/* Bytes that an op reads at send, or writes at recv, on this rank. */
uint64_t torcoll__op_bytes(const struct torcoll_comm *comm, const struct torcoll_op *op, bool recv);

/* Check an op, and fill in the module's struct. Return: 0 or a negative errno with a sentence. */
int torcoll__op_describe(const struct torcoll_comm *comm, const struct torcoll_op *op,
			 struct torcoll_submit *s);

/* Start @n ops of comms of one context. @done tells how many run; their requests are ready. */
int torcoll__batch(struct torcoll_comm *const *comms, struct torcoll_submit *s, uint32_t n,
		   struct torcoll_request *reqs, uint32_t *done);

static inline uint64_t torcoll__u64(const void *p)
{
	return (uintptr_t)p;
}

/* collective.c: an op on a vector of blocks; and the vector that blocks of these lengths make up */
struct torcoll_op torcoll__blocks_op(enum torcoll_collective collective, const void *send,
				     void *recv, uint64_t count, enum torcoll_type type);
int torcoll__set_counts(const struct torcoll_comm *comm, struct torcoll_op *op,
			const uint64_t *counts);

#endif
