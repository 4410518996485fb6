// SPDX-License-Identifier: GPL-2.0
/*
 * Results. See result.h.
 */
#include "result.h"

#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/torcoll.h>

#include "buffers.h"
#include "call.h"
#include "op.h"
#include "session.h"
#include "team.h"

bool tor_group_busy(const struct tor_group *group)
{
	const struct tor_series *series;
	u32 i;

	tor_group_each_series(group, series)
		for (i = 0; i < group->comm.depth; i++)
			if (test_bit(TOR_SLOT_BUSY, &series->slot[i].flags))
				return true;
	return false;
}

bool tor_group_has_results(const struct tor_group *group)
{
	const struct tor_series *series;
	u32 i;

	tor_group_each_series(group, series)
		for (i = 0; i < group->comm.depth; i++)
			if (tor_slot_is_left_alone(&series->slot[i]))
				return true;
	return false;
}

/* At once: a slot is the next op's when it has no bit, and one that only is not awaited is in the way of that. */
static void clear_result(struct tor_slot *slot)
{
	set_mask_bits(&slot->flags, BIT(TOR_SLOT_UNREAPED) | BIT(TOR_SLOT_AWAITED), 0UL);
}

static void release(struct tor_slot *slot)
{
	if (!tor_slot_has_result(slot))
		return;
	/* the memory goes back before the slot does */
	tor_buffers_put(slot);
	clear_result(slot);
}

void tor_op_release(struct tor_slot *slot)
{
	mutex_lock(&slot->group->reap);
	release(slot);
	mutex_unlock(&slot->group->reap);
}

void tor_op_release_all(struct tor_group *group)
{
	struct tor_series *series;
	u32 i;

	/* not against a thread that reaps; what is BUSY ends later, and then with the group */
	mutex_lock(&group->reap);
	tor_group_each_series(group, series)
		for (i = 0; i < group->comm.depth; i++)
			release(&series->slot[i]);
	mutex_unlock(&group->reap);
	wake_up_all(&group->wait);
}

/* --- what a comm has failed with --- */

/* How long to wait for what another rank called: its abort is under way. */
#define EXPLAIN_WAIT	(HZ / 10)

static bool explain_time_over(const struct tor_group *group)
{
	unsigned long since = READ_ONCE(group->failed_at);

	return since && time_after(jiffies, since + EXPLAIN_WAIT);
}

/* Ranks have called different things: say which. */
static int mismatch(struct tor_session *session, struct tor_group *group)
{
	/* what is said of it on the wire, the nodes hear */
	struct tor_group *told = group->team ? group->team->nodes : group;
	const struct tor_comm *comm = &told->comm;
	char text[TOR_EXPLANATION_MAX];

	wait_event_timeout(told->wait,
			   atomic_read_acquire(&comm->explained) == TOR_EXPLAINED ||
			   explain_time_over(told), EXPLAIN_WAIT);
	tor_call_explain(comm, text, sizeof(text));
	return tor_refuse(session, -EPROTO, "the comm %s has failed: %s", group->name, text);
}

int tor_group_explain(struct tor_session *session, struct tor_group *group)
{
	const struct tor_comm *comm = &group->comm;

	if (comm->error_rank == TOR_NO_RANK)
		return tor_refuse(session, comm->error, "the comm %s has failed", group->name);
	if (comm->error == -EPROTO)
		return mismatch(session, group);
	if (comm->error == -ETIMEDOUT && tor_team_is_vague(group))
		return tor_refuse(session, comm->error,
				  "the comm %s has failed: rank %u (node %u), or another rank there, has not called",
				  group->name, comm->error_rank, comm->error_node);
	if (comm->error == -EHOSTDOWN)
		return tor_refuse(session, comm->error,
				  "the comm %s has failed: rank %u (node %u) is down, or has restarted",
				  group->name, comm->error_rank, comm->error_node);
	if (comm->error == -EHOSTUNREACH)
		return tor_refuse(session, comm->error,
				  "the comm %s has failed: no live cables lead to rank %u (node %u)",
				  group->name, comm->error_rank, comm->error_node);
	return tor_refuse(session, comm->error, "the comm %s has failed: caused by rank %u (node %u)",
			  group->name, comm->error_rank, comm->error_node);
}

/* --- finding --- */

/* The slot that an op of this handle has or had, or NULL. */
static struct tor_slot *slot_of(struct tor_group *group, u64 handle)
{
	u64 id = handle >> 32;
	struct tor_series *series = id && id <= U32_MAX ? tor_series_find(group, id - 1) : NULL;

	return series ? tor_series_slot(series, (u32)handle) : NULL;
}

/* The slot may be given to the next op meanwhile. */
static u32 seq_of(const struct tor_slot *slot)
{
	return READ_ONCE(slot->op.seq);
}

/*
 * Does the op wait to be reaped? Then it keeps its slot. Results that are on their way to the ring do not: they need nobody
 * to reap them. Context: group->reap.
 */
static bool is_unreaped(const struct tor_slot *slot, u64 op)
{
	const unsigned long ways = BIT(TOR_SLOT_UNREAPED) | BIT(TOR_SLOT_RING);

	/* its bits before its number: pairs with tor_op_mark() */
	return slot && (smp_load_acquire(&slot->flags) & ways) == BIT(TOR_SLOT_UNREAPED) &&
	       seq_of(slot) == (u32)op;
}

/* From now on the op is ours, or anybody's who waits for the same. False: there is no such op. */
static bool await(struct tor_group *group, u64 op)
{
	struct tor_slot *slot = slot_of(group, op);
	bool found;

	mutex_lock(&group->reap);
	found = is_unreaped(slot, op);
	if (found) {
		slot->waiters++;
		set_bit(TOR_SLOT_AWAITED, &slot->flags);
	}
	mutex_unlock(&group->reap);
	return found;
}

void tor_op_leave_alone(struct tor_group *group, u64 op)
{
	struct tor_slot *slot = slot_of(group, op);

	mutex_lock(&group->reap);
	if (is_unreaped(slot, op) && !--slot->waiters)
		clear_bit(TOR_SLOT_AWAITED, &slot->flags);
	mutex_unlock(&group->reap);
	/* it may be done, and anybody's now */
	wake_up_all(&group->wait);
	rcu_read_lock();
	tor_session_wake(READ_ONCE(group->session), EPOLLIN | EPOLLRDNORM);
	rcu_read_unlock();
}

/* The oldest of a series' ops that anybody can reap now, or NULL. */
static struct tor_slot *first_result(const struct tor_series *series)
{
	struct tor_slot *slot, *first = NULL;
	u32 i;

	for (i = 0; i < series->group->comm.depth; i++) {
		slot = &series->slot[i];
		if (tor_slot_is_left_alone(slot) && (!first || (s32)(seq_of(slot) - seq_of(first)) < 0))
			first = slot;
	}
	return first;
}

/* The slot of an op that can be reaped now, or NULL. */
static struct tor_slot *find_result(struct tor_group *group, u64 handle)
{
	struct tor_slot *slot, *first = NULL;
	struct tor_series *series;

	if (handle) {
		slot = slot_of(group, handle);
		return slot && tor_slot_has_result(slot) && seq_of(slot) == (u32)handle ? slot : NULL;
	}
	tor_group_each_series(group, series) {
		slot = first_result(series);
		if (slot && (!first || slot->submitted < first->submitted))
			first = slot;
	}
	return first;
}

static bool is_for_anybody(const struct tor_slot *slot)
{
	unsigned long flags = READ_ONCE(slot->flags);

	return flags & BIT(TOR_SLOT_UNREAPED) && !(flags & BIT(TOR_SLOT_AWAITED));
}

/* Is there anything that could be waited for? */
static bool is_pending(struct tor_group *group, u64 handle)
{
	struct tor_series *series;
	struct tor_slot *slot;
	u32 i;

	if (handle) {
		slot = slot_of(group, handle);
		return slot && seq_of(slot) == (u32)handle &&
		       test_bit(TOR_SLOT_UNREAPED, &slot->flags);
	}
	tor_group_each_series(group, series)
		for (i = 0; i < group->comm.depth; i++)
			if (is_for_anybody(&series->slot[i]))
				return true;
	return false;
}

/* --- waiting --- */

static int reap(struct tor_session *session, struct tor_group *group, struct tor_slot *slot,
		struct torcoll_wait *wait)
{
	u64 op = tor_op_handle(slot);
	int status, failed;

	/* after BUSY was seen clear: pairs with tor_env_op_done() */
	smp_rmb();
	failed = slot->status;
	status = failed;
	wait->error_rank = slot->error_rank;
	wait->user_data = slot->user_data;
	if (!failed)
		status = tor_buffers_result(session, slot);
	tor_buffers_put(slot);
	clear_result(slot);
	wake_up_all(&group->wait);
	wait->op = op;
	wait->status = status;
	if (failed)
		tor_group_explain(session, group);
	return 0;
}

/* Processes that look for results without sleeping, on all of the machine. */
static atomic_t spinners;

#define SPIN_MAX	NSEC_PER_SEC

/*
 * Look for a result for a while, before sleeping: that saves a wake-up. Not where more do that than there are
 * processors, which would only keep each other, and ksoftirqd, from working.
 */
static void spin(struct tor_group *group, const struct torcoll_wait *wait)
{
	u64 end = ktime_get_ns() + wait->spin_ns;

	if (wait->deadline_ns)
		end = min(end, wait->deadline_ns);
	if (atomic_inc_return(&spinners) <= num_online_cpus())
		while (!find_result(group, wait->op) && is_pending(group, wait->op) &&
		       !signal_pending(current) && ktime_get_ns() < end) {
			cpu_relax();
			cond_resched();
		}
	atomic_dec(&spinners);
}

/* The result of the op, or of any. Return: -EAGAIN: there is none now. */
static int take(struct tor_session *session, struct tor_group *group, struct torcoll_wait *wait)
{
	struct tor_slot *slot;
	int err;

	/* several threads may wait for any op: one of them gets each */
	mutex_lock(&group->reap);
	slot = find_result(group, wait->op);
	err = slot ? reap(session, group, slot, wait) : -EAGAIN;
	mutex_unlock(&group->reap);
	return err;
}

static int wait_and_take(struct tor_session *session, struct tor_group *group,
			 struct torcoll_wait *wait)
{
	int err;

	do {
		if (!is_pending(group, wait->op))
			return tor_refuse(session, -ENOENT, "no such op is waiting to be reaped");
		if (wait->spin_ns)
			spin(group, wait);
		err = tor_wait_until(&group->wait,
				     find_result(group, wait->op) || !is_pending(group, wait->op),
				     wait->deadline_ns);
		if (err)
			return tor_refuse(session, err, "the op is still running");
		err = take(session, group, wait);
	} while (err == -EAGAIN);
	return err;
}

static int wait_for_one(struct tor_session *session, struct tor_group *group,
			struct torcoll_wait *wait)
{
	u64 op = wait->op;
	bool counted = await(group, op);
	int err = wait_and_take(session, group, wait);

	if (err && counted)
		tor_op_leave_alone(group, op);
	return err;
}

static int wait_for_any(struct tor_session *session, struct tor_group *group,
			struct torcoll_wait *wait)
{
	int err;

	atomic_inc(&group->seekers);
	err = wait_and_take(session, group, wait);
	/* what we leave may be in somebody's way: pairs with is_in_the_way() */
	smp_mb__before_atomic();
	atomic_dec(&group->seekers);
	wake_up_all(&group->wait);
	return err;
}

int tor_op_wait(struct tor_session *session, struct tor_group *group, struct torcoll_wait *wait)
{
	if (wait->spin_ns > SPIN_MAX)
		return tor_refuse(session, -EINVAL, "looking for a result for more than a second");
	if (!(wait->flags & TORCOLL_WAIT_NOHANG))
		return wait->op ? wait_for_one(session, group, wait) :
				  wait_for_any(session, group, wait);
	if (!is_pending(group, wait->op))
		return tor_refuse(session, -ENOENT, "no such op is waiting to be reaped");
	return find_result(group, wait->op) ? take(session, group, wait) : -EAGAIN;
}
