// SPDX-License-Identifier: GPL-2.0
/*
 * The endpoints of nodes with several ranks: seats and their nodes' group,
 * their failure, relations and end. See op/endpoint.h and team.h.
 *
 * A seat's group is found by way of the nodes' group, never by a tag. The team
 * has a reference to it from when the comm is joined until the nodes' group was
 * unhashed and a grace period has passed (nodes_stop()); team->seat[] does not
 * change in between. A context that has found the nodes' group under RCU, or
 * is starting an op of the nodes (team->starting), may therefore access all seats
 * without a lock; so may a call that holds its seat, for as long as the others
 * wait for it.
 */
#include "local/team.h"

#include <linux/torcoll.h>

#include "local/meet.h"
#include "op/op.h"
#include "op/slot.h"

/* --- the beginning --- */

static int nodes_enlist(struct tor_group *group, const struct tor_group_config *cfg,
			const char **why)
{
	return tor_team_hold(cfg->team, group, why);
}

static void nodes_joined(struct tor_group *group)
{
	lockdep_assert_held(&group->fabric->lock);
	tor_team_joined(group->team);
}

/* --- calls --- */

/* Messages are planned separately. */
static int seat_plan(struct tor_slot *slot, const struct tor_call *call, const char **why)
{
	return slot->series->role ? tor_op_plan(slot, call, why) :
				    tor_team_plan(slot, call, why);
}

static int seat_start(struct tor_session *session, struct tor_slot *slot, enum tor_slot_dest dest)
{
	return slot->series->role ? tor_op_launch(session, slot, dest) :
				    tor_team_submit(session, slot, dest);
}

/* --- failure --- */

/* Return whether a deadline of an op of this seat has passed. */
static bool seat_is_impatient(const struct tor_group *seat, u64 now)
{
	const struct tor_slot *slot;
	u32 i;

	for (i = 0; i < seat->comm.depth; i++) {
		slot = &seat->calls.slot[i];
		if (tor_slot_runs(slot) && slot->op.deadline && slot->op.deadline <= now)
			return true;
	}
	return false;
}

/* Return the local rank whose deadline made the nodes' comm fail. */
static u32 impatient_rank(const struct tor_team *team, u64 now)
{
	u32 seat = 0;

	while (seat + 1 < team->seats && !seat_is_impatient(team->seat[seat], now))
		seat++;
	return tor_team_rank(team, seat);
}

/*
 * Make a seat fail as the nodes' comm has, except that a deadline concerns only
 * the rank that set it.
 */
static void seat_fail(struct tor_team *team, struct tor_group *seat, u32 speaker)
{
	struct tor_comm *nodes = &team->nodes->comm;
	bool elsewhere = nodes->error == -ETIMEDOUT && !seat_is_impatient(seat, ktime_get_ns()) &&
			 seat->comm.rank != speaker;
	struct tor_entry entry;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_inherit(&entry.ctx, &seat->comm, nodes, elsewhere ? -ECONNABORTED : nodes->error,
			 elsewhere ? speaker : nodes->error_rank);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

void tor_team_failed(struct tor_group *nodes)
{
	struct tor_team *team = nodes->team;
	u32 seat, speaker;

	/* before that no seat is a process's comm: see team_begin_nodes() */
	if (!READ_ONCE(team->nodes))
		return;
	mutex_lock(&team->lock);
	if (!team->failed) {
		speaker = impatient_rank(team, ktime_get_ns());
		WRITE_ONCE(team->nodes->comm.speaker, speaker);
		for (seat = 0; seat < team->seats; seat++)
			seat_fail(team, team->seat[seat], speaker);
		team->failed = true;
		tor_team_op_fail_all(team);
	}
	mutex_unlock(&team->lock);
}

/* A rank's comm has failed: make the nodes' comm fail. */
static void seat_failed(struct tor_group *group)
{
	struct tor_entry entry;

	/* before that no seat is a process's comm */
	if (!READ_ONCE(group->team->nodes))
		return;
	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_fail_nodes(&entry.ctx, &group->team->nodes->comm, &group->comm);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

static bool seat_is_vague(const struct tor_group *group)
{
	/* a deadline of one of its own messages fails the rank's comm itself */
	return READ_ONCE(group->nodes->comm.error) == -ETIMEDOUT &&
	       tor_team_is_one_of_several(group->team, group->comm.error_rank);
}

/* --- messages --- */

static struct tor_group *nodes_rank(const struct tor_group *group, u32 i)
{
	const struct tor_team *team = group->team;

	return i < team->seats ? team->seat[i] : NULL;
}

static struct tor_group *team_of_rank(struct tor_group *group, u32 rank)
{
	const struct tor_team *team = group->team;

	return team->seat[tor_team_seat(&team->map, rank)];
}

static struct tor_group *nodes_whose(struct tor_group *group, u32 *rank, u32 pair, bool sends)
{
	const struct tor_team *team = group->team;
	u32 seat;

	return tor_team_find_pair(&team->map, team->node, *rank, pair, sends, &seat, rank) ?
	       team->seat[seat] : NULL;
}

static u16 seat_pair(const struct tor_group *group, u8 role, u32 peer)
{
	u32 other = tor_team_seat(&group->team->map, peer);

	return role == TOR_ROLE_SEND ? tor_team_pair(group->seat, other) :
					      tor_team_pair(other, group->seat);
}

/* Ranks of the same node send each other no frames. */
static int seat_reach(const struct tor_group *group, u32 peer, const char **why)
{
	const struct tor_team *team = group->team;

	if (tor_team_node(&team->map, peer) == team->node ||
	    (group->seat < TOR_TEAM_PAIR_SEATS &&
	     tor_team_seat(&team->map, peer) < TOR_TEAM_PAIR_SEATS))
		return 0;
	*why = "messages between nodes are for the first 256 ranks of each";
	return -EOPNOTSUPP;
}

/* --- views --- */

static struct tor_slot *nodes_waiting(const struct tor_group *group, u32 i)
{
	const struct tor_team *team = group->team;
	const struct tor_team_op *op = &team->op[i];
	u32 seat = 0;

	if (!READ_ONCE(op->arrived) || READ_ONCE(op->begun))
		return NULL;
	while (seat < team->seats && !tor_team_has_called(team, seat, READ_ONCE(op->seq)))
		seat++;
	return seat < team->seats ? &team->seat[seat]->calls.slot[i] : NULL;
}

static u32 seat_uncalled(const struct tor_group *group, u32 seq, u32 *i)
{
	const struct tor_team *team = group->team;

	while (*i < team->seats && tor_team_has_called(team, *i, seq))
		++*i;
	return *i < team->seats ? tor_team_rank(team, (*i)++) : TOR_NO_RANK;
}

/* --- the end --- */

/*
 * Return whether a rank that has left has data that another has not received
 * yet.
 */
static bool seats_owe(const struct tor_team *team)
{
	u32 seat;

	for (seat = 0; team->sealed && seat < team->seats; seat++)
		if (tor_group_owes(team->seat[seat]))
			return true;
	return false;
}

/*
 * A seat's process leaves. After the last one the nodes' group lingers, and the
 * seats end with it.
 */
static void seat_left(struct tor_group *group)
{
	struct tor_team *team = group->team;
	bool last;

	/*
	 * If it leaves without failure, this has no effect, or the nodes have learnt
	 * of the failure: the end of the group would cancel this work.
	 */
	flush_delayed_work(&group->fail_work);
	mutex_lock(&team->lock);
	last = ++team->left == team->seats;
	/* its CLOSED was set before: see nodes_missed() */
	set_bit(TOR_GROUP_LEFT, &team->nodes->flags);
	if (!last) {
		tor_team_op_miss(team);
		tor_meet_left(team, group);
	}
	mutex_unlock(&team->lock);
	if (last)
		tor_group_close(team->nodes);
	tor_group_put(group);
}

/*
 * Handle a collective that other nodes have called: its op cannot begin if a
 * seat has left without calling it.
 */
static void nodes_missed(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
			 u32 op)
{
	const struct tor_team *team = group->team;
	u32 seat;

	lockdep_assert_held(&lane->lock);
	for (seat = 0; seat < team->seats; seat++)
		if (test_bit(TOR_GROUP_CLOSED, &team->seat[seat]->flags) &&
		    (s32)(op - READ_ONCE(team->called[seat])) > 0)
			tor_comm_fail_user_rank(&entry->ctx, &group->comm, -ECONNABORTED,
					 tor_team_rank(team, seat), op);
}

/*
 * Return whether a seat is referenced by others than the team. A call in
 * progress on a closed one still accesses the others and the nodes' group. Once
 * all have left, the number only falls.
 */
static bool seats_in_use(const struct tor_team *team)
{
	u32 seat;

	for (seat = 0; team->sealed && seat < team->seats; seat++)
		if (refcount_read(&team->seat[seat]->refs) > 1)
			return true;
	return false;
}

static bool nodes_is_needed(const struct tor_group *group)
{
	const struct tor_team *team = group->team;
	bool owes = tor_group_owes(group) || seats_owe(team);

	return (owes && !tor_comm_failed(&group->comm)) || seats_in_use(team);
}

/*
 * Stop the seats. No frame finds the nodes' group any more, nor the seats,
 * which end with it.
 */
static void nodes_stop(struct tor_group *group)
{
	struct tor_team *team = group->team;
	u32 seat;

	tor_team_op_stop(team);
	if (team->sealed) {
		/*
		 * A call on a closed comm may still make it fail, and then the
		 * nodes': that no longer concerns the seats. If it has been, the
		 * nodes' work was cancelled that would end its op, or has no effect
		 * from here on, and the call waits for that: see take_back() in op.c.
		 */
		mutex_lock(&team->lock);
		if (!team->failed) {
			team->failed = true;
			tor_team_op_fail_all(team);
		}
		mutex_unlock(&team->lock);
		/*
		 * No op begins from here on. One that has may not have started: its
		 * end is that of a call which holds its own seat only, so that its
		 * work must be over when that returns.
		 */
		down_write(&team->starting);
		up_write(&team->starting);
		tor_team_op_stop(team);
	}
	for (seat = 0; seat < team->seats; seat++) {
		if (!team->seat[seat])
			continue;
		/* it accesses the nodes' comm */
		flush_delayed_work(&team->seat[seat]->fail_work);
		if (team->sealed)
			tor_group_end(team->seat[seat]);
	}
}

static void nodes_release(struct tor_group *group)
{
	tor_team_put(group->team);
}

static void seat_release(struct tor_group *group)
{
	/* it has none if the comm was not joined */
	if (group->nodes)
		tor_group_put(group->nodes);
	tor_team_put(group->team);
}

/* Collectives become ops of the nodes, messages are in frames of the nodes. */
const struct tor_endpoint_ops tor_seat_ops = {
	.await		= tor_team_await,
	.unshrinkable	= "a comm with several ranks on a node cannot be shrunk",
	.plan		= seat_plan,
	.start		= seat_start,
	.done		= tor_slot_done,
	.retired	= tor_slot_retired,
	.rank		= tor_endpoint_no_rank,
	.of_rank	= team_of_rank,
	.pair		= seat_pair,
	.reach		= seat_reach,
	.missed		= tor_endpoint_missed,
	.is_vague	= seat_is_vague,
	.uncalled	= seat_uncalled,
	.failed		= seat_failed,
	.left		= seat_left,
	.stop		= tor_endpoint_nothing,
	.release	= seat_release,
};

/* No process calls any op of it. */
const struct tor_endpoint_ops tor_nodes_ops = {
	.on_wire	= true,
	.enlist		= nodes_enlist,
	.installed	= tor_team_installed,
	.joined		= nodes_joined,
	.done		= tor_team_op_done,
	.retired	= tor_team_op_retired,
	.rank		= nodes_rank,
	.of_rank	= team_of_rank,
	.whose		= nodes_whose,
	.missed		= nodes_missed,
	.waiting	= nodes_waiting,
	.failed		= tor_team_failed,
	.left		= tor_group_linger,
	.is_needed	= nodes_is_needed,
	.stop		= nodes_stop,
	.release	= nodes_release,
};
