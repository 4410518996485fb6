/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the state of an op's result, from when the op is begun until its memory was given back.
 *
 *	from	to	who
 *	FREE	RUNNING	tor_slot_run(): the thread that submits, with series->submit held
 *	RUNNING	DONE	tor_slot_done(): the op is over, and a thread is to ask for its result
 *	RUNNING	FREE	tor_slot_done(): nobody has to: all of it is in the ring, or the op was the nodes', whose results are
 *			their seats'
 *	DONE	TAKEN	tor_slot_take(): the thread that asked, or the one that closes the comm
 *	TAKEN	FREE	tor_slot_free(): the same thread, when it has brought the result to where it belongs
 *
 * Memory of an op is given back on the way to FREE, without a lock. Nobody else touches it while the result is TAKEN, so
 * what that thread does may sleep as long as it must, and holds up nobody but who needs this slot.
 *
 * Whether the slot serves the next op depends on core as well: it is done with it when the slot is not open any more.
 *
 * Locking: state, way, waiters, and the group's anybodys and seekers change under group->results (a spinlock, bottom halves
 * off; inside lanes' locks, ring->lock inside it). A state may be looked at without it: RUNNING and DONE are hints then, FREE
 * is true for who holds series->submit.
 */
#ifndef _TOR_SLOT_H
#define _TOR_SLOT_H

#include "op/series.h"

static inline enum tor_slot_state tor_slot_state(const struct tor_slot *slot)
{
	/* with what led there */
	return smp_load_acquire(&slot->state);
}

static inline bool tor_slot_runs(const struct tor_slot *slot)
{
	return tor_slot_state(slot) == TOR_SLOT_RUNNING;
}

/* Is there anything of an op in it? */
static inline bool tor_slot_in_use(const struct tor_slot *slot)
{
	/* what core did there, before it is used again */
	return smp_load_acquire(&slot->open) || tor_slot_state(slot) != TOR_SLOT_FREE;
}

/* There is a result, and nobody waits for this very op: whoever wants any may have it. */
static inline bool tor_slot_is_left_alone(const struct tor_slot *slot)
{
	return tor_slot_state(slot) == TOR_SLOT_DONE && !READ_ONCE(slot->waiters);
}

/* The slot may be given to the next op meanwhile. */
static inline u32 tor_slot_seq(const struct tor_slot *slot)
{
	return READ_ONCE(slot->op.seq);
}

/* The slot that an op of this handle has or had, or NULL. Context: RCU, or a reference. */
struct tor_slot *tor_slot_find(struct tor_group *group, u64 handle);

/* An op begins in @slot. Context: process, series->submit held; or, of the nodes, the thread that starts it. */
void tor_slot_run(struct tor_slot *slot, enum tor_slot_way way);

/*
 * The op of @slot is over: its result is there, or it has failed with @status, caused by @error_rank. The process
 * may have both, and the slot's memory, from now on. Context: BH off, RCU.
 */
void tor_slot_done(struct tor_slot *slot, int status, u32 error_rank);

/* Core is done with @slot. Context: any. */
void tor_slot_retired(struct tor_slot *slot);

/**
 * tor_slot_take - get a result
 * @group: referenced by the caller
 * @handle: of an op, or 0: of any that nobody waits for by its handle, the first that was called
 *
 * Context: process. Return: the slot, which the caller gives to tor_slot_free(), or ERR_PTR(-EAGAIN): there is none yet;
 * ERR_PTR(-ENOENT): nor will there be.
 */
struct tor_slot *tor_slot_take(struct tor_group *group, u64 handle);

/* Give back the op's memory, then its slot. Context: process; it was TAKEN. */
void tor_slot_free(struct tor_slot *slot);

/* Take and free the result that is in @slot, if one is; of all. Context: process. */
void tor_slot_release(struct tor_slot *slot);
void tor_slot_release_all(struct tor_group *group);

/* From now on the op is ours, or anybody's who waits for the same, until it is over. False: there is no such op. */
bool tor_slot_await(struct tor_group *group, u64 handle);

/* A thread that waited for this very op, and is counted, waits no longer. */
void tor_slot_leave_alone(struct tor_group *group, u64 handle);

/* A thread begins, or ceases, to wait for any op. */
void tor_slot_seek(struct tor_group *group, bool seeks);

/*
 * Does the result in @slot stay until somebody asks for it, which nobody does? Then there is no use in waiting for the slot.
 * Another thread of the caller's process may be about to, but not for long.
 */
bool tor_slot_is_in_the_way(struct tor_slot *slot);

/* Has any op no result yet? Has any a result that waits for somebody to ask for it? */
bool tor_group_busy(const struct tor_group *group);
bool tor_group_has_results(const struct tor_group *group);

#endif
