// SPDX-License-Identifier: GPL-2.0
/*
 * Slots. See slot.h.
 */
#include "op/slot.h"

#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/torcoll.h>

#include "cdev/ring.h"
#include "cdev/session.h"
#include "memory/buffers.h"
#include "op/op.h"
#include "trace.h"

/* How long another thread of the process may take to ask for a result. */
#define PATIENCE	HZ

bool tor_group_busy(const struct tor_group *group)
{
	const struct tor_series *series;
	u32 i;

	tor_group_each_series(group, series)
		for (i = 0; i < group->comm.depth; i++)
			if (tor_slot_runs(&series->slot[i]))
				return true;
	return false;
}

bool tor_group_has_results(const struct tor_group *group)
{
	const struct tor_series *series;
	u32 i;

	tor_group_each_series(group, series)
		for (i = 0; !tor_series_is_free(series) && i < group->comm.depth; i++)
			if (tor_slot_is_unclaimed(&series->slot[i]))
				return true;
	return false;
}

/* --- transitions --- */

/*
 * Return whether a waiter for any op may take this one. Context:
 * group->results.
 */
static bool counts_as_unclaimed(const struct tor_slot *slot)
{
	return slot->dest != TOR_DEST_NOBODY && !slot->waiters &&
	       (slot->state == TOR_SLOT_RUNNING || slot->state == TOR_SLOT_DONE);
}

/*
 * Count what dumps must not walk over all slots for; @state is next. Context:
 * group->results.
 */
static void count_slots(const struct tor_slot *slot, enum tor_slot_state state)
{
	int running = (state == TOR_SLOT_RUNNING) - (slot->state == TOR_SLOT_RUNNING);
	int results = (state != TOR_SLOT_FREE) - (slot->state != TOR_SLOT_FREE);
	struct tor_series *series = slot->series;
	struct tor_group *group = slot->group;

	WRITE_ONCE(group->running, group->running + running);
	if (!series->role)
		return;
	WRITE_ONCE(series->results, series->results + results);
}

/* Set state and waiters; keeps the group's counts right. Context: group->results. */
static void slot_step(struct tor_slot *slot, enum tor_slot_state state, u32 waiters)
{
	struct tor_group *group = slot->group;

	lockdep_assert_held(&group->results);
	group->unclaimed -= counts_as_unclaimed(slot);
	count_slots(slot, state);
	WRITE_ONCE(slot->waiters, waiters);
	/* with all writes before */
	smp_store_release(&slot->state, state);
	group->unclaimed += counts_as_unclaimed(slot);
}

void tor_slot_run(struct tor_slot *slot, enum tor_slot_dest dest)
{
	struct tor_group *group = slot->group;

	slot->submitted = ktime_get_ns();
	slot->status = 0;
	spin_lock_bh(&group->results);
	slot->dest = dest;
	WRITE_ONCE(slot->open, true);
	if (slot->series->role)
		atomic_inc(&slot->series->opens);
	slot_step(slot, TOR_SLOT_RUNNING, dest == TOR_DEST_AWAITED);
	spin_unlock_bh(&group->results);
}

/*
 * Return whether a thread must ask for the result. A ring entry suffices if
 * nothing else is to be done, such as reading a sentence. Closing lets go of
 * regions: the last reference, which must not be put here, may be this op's.
 */
static bool needs_thread(const struct tor_slot *slot)
{
	/* what tor_slot_divert() makes of it meanwhile, a thread can ask for as well */
	enum tor_slot_dest dest = READ_ONCE(slot->dest);

	if (dest == TOR_DEST_RING)
		return slot->status || tor_buffers_need_process(slot) ||
		       test_bit(TOR_GROUP_CLOSED, &slot->group->flags);
	return dest != TOR_DEST_NOBODY;
}

/*
 * Post the result to the ring, unless the comm was closed just as the op began:
 * take_back() in op.c tells by slot->dest that nothing was posted. Context:
 * group->results, RCU.
 */
static void slot_post(struct tor_slot *slot, bool reap)
{
	struct tor_group *group = slot->group;
	struct tor_session *session = READ_ONCE(group->session);
	struct torcoll_completion completion = {
		.op = tor_op_handle(slot),
		.user_data = slot->user_data,
		.comm = group->handle,
		.status = slot->status,
		.error_rank = slot->error_rank,
		.flags = reap ? TORCOLL_COMPLETION_REAP : 0,
	};

	if (!session)
		return;
	tor_ring_post(session->ring, &completion);
	slot->dest = TOR_DEST_ASKED;
}

/*
 * Count and trace the end of a rank's call. An op of nodes is none: those of its
 * seats are.
 */
static void call_ends(const struct tor_slot *slot, int status)
{
	const struct tor_op *op = &slot->op;

	if (READ_ONCE(slot->dest) == TOR_DEST_NOBODY)
		return;
	atomic64_inc(&tor_group_carrier(slot->group)->ops);
	tor_env_count(op->comm->node, status ? TOR_C_OPS_FAILED : TOR_C_OPS, 1);
	trace_torcoll_op_done(op, op->plan.call.count * op->elem, status);
}

void tor_slot_done(struct tor_slot *slot, int status, u32 error_rank)
{
	struct tor_group *group = slot->group;
	bool asked;

	call_ends(slot, status);
	slot->status = status;
	slot->error_rank = error_rank;
	slot->done = jiffies;
	asked = needs_thread(slot);
	if (!asked)
		tor_buffers_put(slot);
	spin_lock(&group->results);
	/*
	 * a thread that sees an entry can ask for it, and one that is told that
	 * there is no such op sees the entry
	 */
	if (asked)
		slot_step(slot, TOR_SLOT_DONE, slot->waiters);
	if (slot->dest == TOR_DEST_RING)
		slot_post(slot, asked);
	if (!asked)
		slot_step(slot, TOR_SLOT_FREE, 0);
	spin_unlock(&group->results);
	tor_group_wake(group);
	tor_session_wake(READ_ONCE(group->session), EPOLLIN | EPOLLRDNORM);
}

/*
 * Wake up those that wait for a slot, in a call or by polling. Whoever waits for
 * a result sleeps on: slots of earlier ops become free meanwhile.
 */
static void wake_submitters(struct tor_group *group)
{
	tor_group_wake_submitters(group);
	rcu_read_lock();
	tor_session_wake(READ_ONCE(group->session), EPOLLOUT | EPOLLWRNORM);
	rcu_read_unlock();
}

void tor_slot_retired(struct tor_slot *slot)
{
	/* core's writes to it before a submitter sees it free */
	smp_store_release(&slot->open, false);
	if (slot->series->role)
		atomic_dec(&slot->series->opens);
	wake_submitters(slot->group);
}

void tor_slot_free(struct tor_slot *slot)
{
	struct tor_group *group = slot->group;

	tor_buffers_put(slot);
	spin_lock_bh(&group->results);
	WARN_ON_ONCE(slot->state != TOR_SLOT_TAKEN);
	slot_step(slot, TOR_SLOT_FREE, 0);
	spin_unlock_bh(&group->results);
	wake_submitters(group);
}

/* --- search --- */

struct tor_slot *tor_slot_find(struct tor_group *group, u64 handle)
{
	u32 id = handle >> 32;
	struct tor_series *series = id ? tor_series_find(group, id - 1) : NULL;

	return series ? tor_series_slot(series, (u32)handle) : NULL;
}

/*
 * Return the oldest op of a series that any waiter can take now, or NULL. The
 * result may be gone when it is accessed.
 */
static struct tor_slot *first_of_series(const struct tor_series *series)
{
	struct tor_slot *slot, *first = NULL;
	u32 i;

	for (i = 0; i < series->group->comm.depth; i++) {
		slot = &series->slot[i];
		if (tor_slot_is_unclaimed(slot) &&
		    (!first || (s32)(tor_slot_seq(slot) - tor_slot_seq(first)) < 0))
			first = slot;
	}
	return first;
}

static struct tor_slot *first_of_all(struct tor_group *group)
{
	struct tor_slot *slot, *first = NULL;
	struct tor_series *series;

	tor_group_each_series(group, series) {
		slot = tor_series_is_free(series) ? NULL : first_of_series(series);
		if (slot && (!first ||
			     READ_ONCE(slot->submitted) < READ_ONCE(first->submitted)))
			first = slot;
	}
	return first;
}

static struct tor_slot *take_any(struct tor_group *group)
{
	struct tor_slot *slot;
	bool taken, gone;
	int err;

	/*
	 * searched without the lock, since there may be many; then checked
	 * under it
	 */
	do {
		slot = first_of_all(group);
		spin_lock_bh(&group->results);
		taken = slot && tor_slot_is_unclaimed(slot);
		gone = slot && !taken;
		if (taken)
			slot_step(slot, TOR_SLOT_TAKEN, 0);
		err = group->unclaimed ? -EAGAIN : -ENOENT;
		spin_unlock_bh(&group->results);
	} while (gone);
	return taken ? slot : ERR_PTR(err);
}

static struct tor_slot *take_this(struct tor_group *group, u64 handle)
{
	struct tor_slot *slot = tor_slot_find(group, handle);
	int err = -ENOENT;

	if (!slot)
		return ERR_PTR(-ENOENT);
	if (tor_slot_runs(slot) && tor_slot_seq(slot) == (u32)handle)
		return ERR_PTR(-EAGAIN);
	spin_lock_bh(&group->results);
	if (tor_slot_seq(slot) == (u32)handle) {
		if (slot->state == TOR_SLOT_RUNNING)
			err = -EAGAIN;
		if (slot->state == TOR_SLOT_DONE) {
			err = 0;
			slot_step(slot, TOR_SLOT_TAKEN, 0);
		}
	}
	spin_unlock_bh(&group->results);
	return err ? ERR_PTR(err) : slot;
}

struct tor_slot *tor_slot_take(struct tor_group *group, u64 handle)
{
	return handle ? take_this(group, handle) : take_any(group);
}

int tor_slot_divert(struct tor_group *group, u64 handle, u64 user_data)
{
	struct tor_slot *slot = tor_slot_find(group, handle);
	int err = -ENOENT;

	if (!slot)
		return err;
	spin_lock_bh(&group->results);
	if (tor_slot_seq(slot) == (u32)handle && slot->state == TOR_SLOT_RUNNING) {
		err = slot->dest == TOR_DEST_RING || slot->waiters ? -EINVAL : 0;
		if (!err) {
			slot->user_data = user_data;
			WRITE_ONCE(slot->dest, TOR_DEST_RING);
		}
	}
	spin_unlock_bh(&group->results);
	return err;
}

void tor_slot_release(struct tor_slot *slot)
{
	struct tor_group *group = slot->group;
	bool taken;

	spin_lock_bh(&group->results);
	taken = slot->state == TOR_SLOT_DONE;
	if (taken)
		slot_step(slot, TOR_SLOT_TAKEN, 0);
	spin_unlock_bh(&group->results);
	if (taken)
		tor_slot_free(slot);
}

void tor_slot_release_all(struct tor_group *group)
{
	struct tor_series *series;
	u32 i;

	/*
	 * running ops end later, and then with the group; taken ones with the
	 * thread that has them
	 */
	tor_group_each_series(group, series)
		for (i = 0; i < group->comm.depth; i++)
			if (tor_slot_state(&series->slot[i]) == TOR_SLOT_DONE)
				tor_slot_release(&series->slot[i]);
	tor_group_wake(group);
}

/* --- waiters --- */

/*
 * Count a thread more or less that waits for this very op. Return the op's state
 * if it is RUNNING or DONE, else FREE: there is no such op.
 */
static enum tor_slot_state count_waiter(struct tor_group *group, u64 handle, int change)
{
	struct tor_slot *slot = tor_slot_find(group, handle);
	enum tor_slot_state state = TOR_SLOT_FREE;

	if (!slot)
		return state;
	spin_lock_bh(&group->results);
	if (tor_slot_seq(slot) == (u32)handle &&
	    (slot->state == TOR_SLOT_RUNNING || slot->state == TOR_SLOT_DONE)) {
		state = slot->state;
		slot_step(slot, state, slot->waiters + change);
	}
	spin_unlock_bh(&group->results);
	return state;
}

bool tor_slot_await(struct tor_group *group, u64 handle)
{
	return count_waiter(group, handle, 1) != TOR_SLOT_FREE;
}

void tor_slot_unawait(struct tor_group *group, u64 handle)
{
	/* it is over, and available to any waiter now; else nothing has changed */
	if (count_waiter(group, handle, -1) != TOR_SLOT_DONE)
		return;
	tor_group_wake(group);
	rcu_read_lock();
	tor_session_wake(READ_ONCE(group->session), EPOLLIN | EPOLLRDNORM);
	rcu_read_unlock();
}

void tor_slot_await_any(struct tor_group *group, bool seeks)
{
	spin_lock_bh(&group->results);
	group->any_waiters += seeks ? 1 : -1;
	spin_unlock_bh(&group->results);
	/* the remaining result may be in the way of a submission */
	if (!seeks)
		tor_group_wake_submitters(group);
}

bool tor_slot_is_in_the_way(struct tor_slot *slot)
{
	struct tor_group *group = slot->group;
	bool alone, late;

	spin_lock_bh(&group->results);
	alone = tor_slot_is_unclaimed(slot) && !group->any_waiters;
	late = time_after(jiffies, slot->done + PATIENCE);
	spin_unlock_bh(&group->results);
	return alone && (late || get_nr_threads(current) == 1);
}
