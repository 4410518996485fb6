/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion rings: memory that the module shares with a process, in which it finds its ops' results without a system
 * call. See struct torcoll_ring.
 *
 * The module writes entries and the tail, the process the head. Nothing that is read from there is trusted: the tail
 * is our own copy, and the head only says how much room there is. A process that lies about it overwrites results
 * of its own.
 *
 * Every op that is to be posted has a place from its submission on, so that posting cannot fail.
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
 * @user: charged with its memory
 * @shared: the memory, @bytes of it
 * @entries: a power of two
 * @taken: places that were ever given to ops
 * @tail: entries that were ever written
 * @eventfd: raised with each, or NULL
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
 * @user: who pays
 * @entries: at least so many, 1 to TORCOLL_RING_MAX
 * @eventfd: file descriptor, or -1
 *
 * Context: process. Return: the ring, or ERR_PTR(-EDQUOT, -ENOMEM, or what is wrong with the descriptor).
 */
struct tor_ring *tor_ring_new(struct tor_user *user, u32 entries, int eventfd);

/* Free a ring after a grace period. Context: process. */
void tor_ring_free(struct tor_ring *ring);

/* A place for an op. Return: whether there was one. Context: process. */
bool tor_ring_take(struct tor_ring *ring);

/* The op was not started after all. */
void tor_ring_give_back(struct tor_ring *ring);

/* An op is done. Context: BH off, RCU. */
void tor_ring_post(struct tor_ring *ring, const struct torcoll_completion *completion);

/* Has the process not seen all entries yet? */
bool tor_ring_readable(const struct tor_ring *ring);

int tor_ring_mmap(struct tor_ring *ring, struct vm_area_struct *vma);

#endif
