/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion rings: memory that the module shares with a process, in which the
 * process finds the results of its ops without a system call. See struct
 * torcoll_ring.
 *
 * The module writes entries and the tail, the process the head. Values read
 * from there are not trusted: the module keeps its own copy of the tail, and
 * the head only says how much room there is. A process that writes a wrong head
 * overwrites results of its own.
 *
 * Every op that will be posted has an entry reserved from its submission on, so
 * that posting cannot fail.
 *
 * Locking: ring->lock is a leaf, and taken under lanes' locks, with BH off.
 */
#ifndef _TOR_RING_H
#define _TOR_RING_H

#include <linux/mm_types.h>
#include <linux/spinlock.h>
#include <linux/torcoll.h>

#include "cdev/user.h"

struct eventfd_ctx;

/**
 * struct tor_ring - a completion ring
 * @user: charged for its memory
 * @shared: the memory, @bytes of it
 * @entries: a power of two
 * @taken: entries reserved for ops so far
 * @tail: entries written so far
 * @eventfd: signalled with each, or NULL
 */
struct tor_ring {
	struct tor_user *user;
	struct torcoll_ring *shared;
	size_t bytes;
	u32 entries;
	spinlock_t lock;
	u32 taken;
	u32 tail;
	struct eventfd_ctx *eventfd;
	struct rcu_head rcu;
};

/**
 * tor_ring_new - make a ring
 * @user: pays
 * @entries: minimum, 1 to TORCOLL_RING_MAX
 * @eventfd: file descriptor, or -1
 *
 * Context: process.
 * Return: the ring, or ERR_PTR(-EDQUOT, -ENOMEM, or the error of the
 * descriptor).
 */
struct tor_ring *tor_ring_new(struct tor_user *user, u32 entries, int eventfd);

/* Free a ring after a grace period. Context: process. */
void tor_ring_free(struct tor_ring *ring);

/*
 * Reserve an entry for an op. Return whether there was one. Context: process.
 */
bool tor_ring_take(struct tor_ring *ring);

/* Release the reservation of an op that was not started. */
void tor_ring_give_back(struct tor_ring *ring);

/* Post the completion of an op. Context: BH off, RCU. */
void tor_ring_post(struct tor_ring *ring, const struct torcoll_completion *completion);

/* Return whether there are entries that the process has not consumed. */
bool tor_ring_readable(const struct tor_ring *ring);

int tor_ring_mmap(struct tor_ring *ring, struct vm_area_struct *vma);

#endif
