// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: the channels of core, each with a lock and a timer, core's callbacks
 * about their ops, and the timer of their group. See group.h.
 */
#include <tor/hrtimer.h>

#include "op/endpoint.h"
#include "op/slot.h"

/* per portion of a walk under RCU: each lane may send */
#define LANES_AT_ONCE	16

#define SLACK_MAX	(4 * NSEC_PER_MSEC)	/* of timers */

/* --- timers --- */

static struct tor_lane *lane_of(struct tor_chan *chan)
{
	return container_of(chan, struct tor_lane, chan);
}

/*
 * Start a timer. It may expire later by what timer wheels take: those that are
 * close to each other then share an interrupt.
 */
static void timer_start(struct hrtimer *timer, u64 when)
{
	s64 left = when - ktime_get_ns();

	hrtimer_start_range_ns(timer, ns_to_ktime(when),
			       left > 0 ? min_t(u64, left / 8, SLACK_MAX) : 0,
			       HRTIMER_MODE_ABS_SOFT);
}

void tor_env_chan_timer(struct tor_chan *chan, u64 when)
{
	struct tor_lane *lane = lane_of(chan);

	lockdep_assert_held(&lane->lock);
	if (!test_bit(TOR_GROUP_DEAD, &lane->slot->group->flags))
		timer_start(&lane->timer, when);
}

static enum hrtimer_restart lane_timer(struct hrtimer *timer)
{
	struct tor_lane *lane = container_of(timer, struct tor_lane, timer);
	struct tor_entry entry __uninitialized;

	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&lane->lock);
	tor_chan_timer(&entry.ctx, &lane->chan);
	spin_unlock(&lane->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

void tor_env_comm_timer(struct tor_comm *comm, u64 when)
{
	struct tor_group *group = tor_group_of(comm);

	if (!test_bit(TOR_GROUP_DEAD, &group->flags))
		timer_start(&group->pay_timer, when);
}

static enum hrtimer_restart pay_timer(struct hrtimer *timer)
{
	struct tor_group *group = container_of(timer, struct tor_group, pay_timer);
	struct tor_entry entry __uninitialized;

	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_pay(&entry.ctx, &group->comm);
	tor_entry_end(&entry);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

void tor_pay_timer_init(struct tor_group *group)
{
	hrtimer_setup(&group->pay_timer, pay_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

/* --- long work --- */

/* A process that moves to another processor leaves its softirqs behind. */
static bool softirq_waits(void)
{
	bool waits;

	preempt_disable();
	waits = local_softirq_pending();
	preempt_enable();
	return waits;
}

/*
 * Receive before continuing. If tasks wait for the processor, a softirq leaves
 * after one round. Frames that processes send meanwhile would accumulate,
 * hundreds of them between ranks on one host, until one softirq received all of
 * them. The number of rounds is limited to that of a softirq: others may send
 * without pause.
 */
static void receive_first(void)
{
	u32 rounds;

	for (rounds = 0; rounds < 10 && softirq_waits(); rounds++) {
		local_bh_disable();
		local_bh_enable();
		cond_resched();
	}
}

static bool lane_work(struct tor_lane *lane)
{
	struct tor_entry entry __uninitialized;
	bool more;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	entry.works = true;
	spin_lock(&lane->lock);
	more = tor_chan_work(&entry.ctx, &lane->chan);
	spin_unlock(&lane->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
	cond_resched();
	if (more)
		receive_first();
	return more;
}

void tor_slot_work(struct tor_slot *slot)
{
	bool more;
	u32 i;

	do {
		more = false;
		for (i = 0; i < slot->series->channels; i++)
			more |= lane_work(&slot->lane[i]);
	} while (more);
}

void tor_slot_hurry(struct tor_slot *slot)
{
	struct tor_group *carrier = tor_group_carrier(slot->group);
	u32 i;

	/* the slot of a seat is in use for as long as that of its node */
	if (!slot->series->role)
		slot = &carrier->calls.slot[slot - slot->series->slot];
	for (i = 0; i < slot->series->channels; i++) {
		struct tor_lane *lane = &slot->lane[i];

		spin_lock_bh(&lane->lock);
		tor_chan_hurry(&lane->chan);
		spin_unlock_bh(&lane->lock);
	}
}

static void slot_work(struct work_struct *work)
{
	tor_slot_work(container_of(work, struct tor_slot, work));
}

void tor_env_chan_work(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_slot *slot = lane_of(chan)->slot;

	if (!container_of(ctx, struct tor_entry, ctx)->works &&
	    !test_bit(TOR_GROUP_DEAD, &slot->group->flags))
		tor_group_queue(&slot->work);
}

void tor_slot_init(struct tor_slot *slot)
{
	INIT_WORK(&slot->work, slot_work);
}

void tor_lane_init(struct tor_lane *lane, struct tor_slot *slot, u32 index, u32 seq)
{
	spin_lock_init(&lane->lock);
	hrtimer_setup(&lane->timer, lane_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	lane->slot = slot;
	tor_chan_init(&lane->chan, &slot->op, index, seq);
}

/* --- completion --- */

void tor_env_op_done(struct tor_ctx *ctx, struct tor_op *op)
{
	struct tor_slot *slot = container_of(op, struct tor_slot, op);
	struct tor_group *group = slot->group;
	struct tor_comm *comm = &group->comm;
	int status = op->aborted ? READ_ONCE(comm->error) : 0;
	u32 error_rank = op->aborted ? comm->error_rank : TOR_NO_RANK;

	if (!op->aborted)
		tor_observe(&group->fabric->observed, op->call.collective,
			    op->plan.call.algorithm, op->plan.call.count * op->elem,
			    /* this entry may have begun before the op */
			    ctx->now > slot->submitted ? ctx->now - slot->submitted : 0);
	INDIRECT_CALL_1(group->kind->done, tor_slot_done, slot, status, error_rank);
}

void tor_env_op_retired(struct tor_ctx *ctx, struct tor_op *op)
{
	struct tor_entry *entry = container_of(ctx, struct tor_entry, ctx);
	struct tor_slot *slot = container_of(op, struct tor_slot, op);

	slot->next_retired = entry->retired;
	entry->retired = slot;
}

void tor_slots_recycle(struct tor_entry *entry)
{
	struct tor_slot *slot = entry->retired;
	unsigned long visited = tor_turn_end(&slot->op);

	entry->retired = slot->next_retired;
	for (; visited; visited &= visited - 1) {
		struct tor_lane *lane = &slot->lane[__ffs(visited)];

		spin_lock(&lane->lock);
		tor_chan_recycle(&entry->ctx, &lane->chan);
		spin_unlock(&lane->lock);
	}
	/* the lanes serve the next number */
	INDIRECT_CALL_1(slot->group->kind->retired, tor_slot_retired, slot);
}

/* --- all lanes of a group --- */

/*
 * Return the group at the cursor: the group itself, then the ranks of its team.
 */
static struct tor_group *group_at(struct tor_group *group, const struct tor_lane_cursor *at)
{
	return at->groups ? group->kind->rank(group, at->groups - 1) : group;
}

/* Return the next lane of the walk, or NULL. Context: RCU. */
static struct tor_lane *next_lane(struct tor_group *group, struct tor_lane_cursor *at)
{
	struct tor_group *of;

	for (; (of = group_at(group, at)); at->groups++) {
		if (!at->series)
			at->series = list_first_or_null_rcu(&of->series, struct tor_series, list);
		while (at->series) {
			if (at->lanes < tor_series_lanes(at->series))
				return &at->series->lanes[at->lanes++];
			at->lanes = 0;
			at->series = list_next_or_null_rcu(&of->series, &at->series->list,
							   struct tor_series, list);
		}
	}
	return NULL;
}

bool tor_group_rerouted(struct tor_group *group, struct tor_lane_cursor *at)
{
	struct tor_entry entry __uninitialized;
	struct tor_lane *lane;
	u32 i;

	for (i = 0; i < LANES_AT_ONCE; i++) {
		lane = next_lane(group, at);
		if (!lane)
			return true;
		local_bh_disable();
		tor_entry_begin(&entry);
		spin_lock(&lane->lock);
		tor_chan_rerouted(&entry.ctx, &lane->chan);
		spin_unlock(&lane->lock);
		tor_entry_end(&entry);
		local_bh_enable();
	}
	return false;
}

static void abort_all(struct tor_series *series)
{
	struct tor_entry entry __uninitialized;
	u32 i;

	for (i = 0; i < tor_series_lanes(series); i++) {
		struct tor_lane *lane = &series->lanes[i];

		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		spin_lock(&lane->lock);
		tor_chan_abort(&entry.ctx, &lane->chan);
		spin_unlock(&lane->lock);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
		cond_resched();
	}
}

void tor_lanes_abort(struct tor_group *group)
{
	struct tor_series *series;

	tor_group_each_series(group, series)
		abort_all(series);
}

void tor_lanes_stop(struct tor_group *group)
{
	struct tor_series *series;
	u32 i;

	hrtimer_cancel(&group->pay_timer);
	tor_group_each_series(group, series) {
		for (i = 0; i < tor_series_lanes(series); i++)
			hrtimer_cancel(&series->lanes[i].timer);
		for (i = 0; i < group->comm.depth; i++)
			cancel_work_sync(&series->slot[i].work);
		for (i = 0; i < tor_series_lanes(series); i++) {
			/* a call that was just starting may be taking it apart, too */
			spin_lock_bh(&series->lanes[i].lock);
			tor_chan_destroy(&series->lanes[i].chan);
			spin_unlock_bh(&series->lanes[i].lock);
		}
	}
}

/*
 * Return whether there is data that another rank has not received and still
 * can. The last local rank has left.
 */
static bool series_owes(struct tor_series *series)
{
	u32 i;

	if (tor_op_stays(&series->slot->op))
		return false;
	for (i = 0; i < tor_series_lanes(series); i++) {
		struct tor_lane *lane = &series->lanes[i];
		bool open;

		spin_lock_bh(&lane->lock);
		open = lane->chan.state == TOR_CHAN_COMPLETE;
		spin_unlock_bh(&lane->lock);
		if (open)
			return true;
	}
	return false;
}

bool tor_group_owes(const struct tor_group *group)
{
	struct tor_series *series;

	tor_group_each_series(group, series)
		if (series_owes(series))
			return true;
	return false;
}
