/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the state of an op's result, from the start of the op until its memory
 * is released. The types are in group.h.
 *
 *	from	to	by
 *	FREE	RUNNING	tor_slot_run(): the submitting thread, with
 *			series->submit held
 *	RUNNING	DONE	tor_slot_done(): the op is over, and a thread must ask
 *			for its result
 *	RUNNING	FREE	tor_slot_done(): no thread has to: the ring has
 *			all of it, or it was an op of nodes, whose results
 *			belong to their seats
 *	DONE	TAKEN	tor_slot_take(): the thread that asks
 *			tor_slot_release(): the one that closes the comm, or
 *			that submitted the op while it was closed
 *			group_free(), of what nobody took
 *	TAKEN	FREE	tor_slot_free(): the same thread, when it has brought
 *			the result to its destination
 *
 * The memory of an op is released on the way to FREE, without a lock. No other
 * context touches it while the result is TAKEN, so the thread may sleep, and
 * delays only users of this slot.
 *
 * The slot serves the next op only when it is not open: core no longer uses it,
 * or for a seat, its node's op is retired. Netlink calls a slot that is FREE and
 * open DRAINING.
 *
 * Locking: state, dest, waiters, and the group's unclaimed and any_waiters change
 * under group->results (a spinlock, bottom halves off; inside lanes' locks,
 * ring->lock inside it). A state may be read without it: RUNNING and DONE are
 * hints then, FREE is exact for the holder of series->submit.
 */
#ifndef _TOR_SLOT_H
#define _TOR_SLOT_H

#include "op/series.h"

static inline enum tor_slot_state tor_slot_state(const struct tor_slot *slot)
{
	/* with all writes before */
	return smp_load_acquire(&slot->state);
}

static inline bool tor_slot_runs(const struct tor_slot *slot)
{
	return tor_slot_state(slot) == TOR_SLOT_RUNNING;
}

/* Return whether the slot holds anything of an op. */
static inline bool tor_slot_in_use(const struct tor_slot *slot)
{
	/* core's accesses, before it is used again */
	return smp_load_acquire(&slot->open) || tor_slot_state(slot) != TOR_SLOT_FREE;
}

/*
 * Return whether there is a result and no thread waits for this very op: a
 * waiter for any op may take it.
 */
static inline bool tor_slot_is_unclaimed(const struct tor_slot *slot)
{
	return tor_slot_state(slot) == TOR_SLOT_DONE && !READ_ONCE(slot->waiters);
}

/*
 * Read the number of the op; the slot may be given to the next op concurrently.
 */
static inline u32 tor_slot_seq(const struct tor_slot *slot)
{
	return READ_ONCE(slot->op.seq);
}

/*
 * Return the slot that an op of this handle has or had, or NULL. Context: RCU,
 * or a reference.
 */
struct tor_slot *tor_slot_find(struct tor_group *group, u64 handle);

/*
 * Begin an op in @slot. Context: process, series->submit held; for an op of
 * nodes, the thread that starts it.
 */
void tor_slot_run(struct tor_slot *slot, enum tor_slot_dest dest);

/*
 * End the op of @slot: its result is there, or it has failed with @status,
 * caused by @error_rank. The process may take both, and the slot's memory, from
 * now on.
 * Context: BH off, RCU.
 */
void tor_slot_done(struct tor_slot *slot, int status, u32 error_rank);

/* Core no longer uses @slot. Context: any. */
void tor_slot_retired(struct tor_slot *slot);

/**
 * tor_slot_take - take a result
 * @group: referenced by the caller
 * @handle: of an op, or 0: the oldest that no thread waits for by its handle
 *
 * Context: process.
 * Return: the slot, to be passed to tor_slot_free(), or ERR_PTR(-EAGAIN): there
 * is no result yet; ERR_PTR(-ENOENT): there will be none.
 */
struct tor_slot *tor_slot_take(struct tor_group *group, u64 handle);

/**
 * tor_slot_divert - have the result of a running op posted to the session's ring
 * @group: referenced by the caller
 * @handle: of the op
 * @user_data: of the entry, for which the caller has a reservation
 *
 * Context: process.
 * Return: 0, -ENOENT: it does not run, or -EINVAL: it will be posted already, or
 * a thread waits for it.
 */
int tor_slot_divert(struct tor_group *group, u64 handle, u64 user_data);

/* Release a TAKEN op's memory, then its slot. Context: process. */
void tor_slot_free(struct tor_slot *slot);

/* Take and free the result in @slot. Context: process. */
void tor_slot_release(struct tor_slot *slot);

/* The same for all results of a group. Context: process. */
void tor_slot_release_all(struct tor_group *group);

/*
 * Reserve the op for threads that wait for it by its handle, until it is over.
 * False: there is no such op.
 */
bool tor_slot_await(struct tor_group *group, u64 handle);

/* A thread that was counted as waiting for this very op no longer waits. */
void tor_slot_unawait(struct tor_group *group, u64 handle);

/* A thread begins or ceases to wait for any op. */
void tor_slot_await_any(struct tor_group *group, bool seeks);

/*
 * Return whether the result in @slot stays because no thread asks for it, so
 * that waiting for the slot is useless. Another thread of the caller's process
 * may be about to ask, but only for a limited time.
 */
bool tor_slot_is_in_the_way(struct tor_slot *slot);

/* Return whether any op has no result yet. */
bool tor_group_busy(const struct tor_group *group);

/* Return whether any op has a result that waits to be asked for. */
bool tor_group_has_results(const struct tor_group *group);

#endif
