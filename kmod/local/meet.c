// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that stay on a node. See meet.h.
 */
#include "local/meet.h"

#include "core/engine/pair.h"
#include "local/team.h"

/*
 * Return the group at the other end of a message that stays here. Context: RCU:
 * as long as the own comm is not closed, the others of its node exist.
 */
static struct tor_group *opposite_group(const struct tor_series *series)
{
	struct tor_group *group = series->group;

	if (!group->team)
		return group;
	return test_bit(TOR_GROUP_CLOSED, &group->flags) ?
	       NULL : group->team->seat[tor_team_seat(&group->team->map, series->peer)];
}

/*
 * Copy the next bytes from one end to the other, both running. Return whether
 * there are more.
 */
static bool meet_lanes(struct tor_entry *entry, struct tor_lane *lane, struct tor_lane *other)
{
	bool sends = lane->slot->series->role == TOR_ROLE_SEND;
	struct tor_lane *first = sends ? lane : other, *second = sends ? other : lane;
	bool more;

	/* always in this order */
	spin_lock(&first->lock);
	spin_lock_nested(&second->lock, SINGLE_DEPTH_NESTING);
	more = tor_chan_meet(&entry->ctx, &lane->chan, &other->chan);
	spin_unlock(&second->lock);
	spin_unlock(&first->lock);
	return more;
}

/* @lane of @group has found no other end. Context: lane->lock. */
static void meet_nobody(struct tor_entry *entry, struct tor_lane *lane,
			const struct tor_group *group, const struct tor_group *other)
{
	struct tor_chan *chan = &lane->chan;

	/*
	 * pairs with tor_group_close(): it sees the running op, or this sees
	 * CLOSED
	 */
	if (group == other || !test_bit(TOR_GROUP_CLOSED, &other->flags))
		tor_chan_hold(&entry->ctx, chan);
	else if (chan->state == TOR_CHAN_RUNNING)
		tor_comm_fail(&entry->ctx, chan->op->comm, -ECONNABORTED, other->comm.rank,
			      chan->seq);
	else
		/* the sends are done; the next one may wait for a slot of theirs, to fail in its turn */
		tor_chan_unhold(&entry->ctx, chan);
}

/*
 * Do what is possible now for one end, in any state. Return whether there is
 * more to do.
 */
static bool meet(struct tor_entry *entry, struct tor_slot *slot)
{
	const struct tor_series *series = slot->series;
	struct tor_group *group = series->group, *other = opposite_group(series);
	struct tor_series *opposite;

	if (!other)
		return false;
	opposite = tor_series_find(other, tor_series_id(tor_role_opposite(series->role),
							group->comm.rank));
	/* the same number modulo depth */
	if (opposite && meet_lanes(entry, slot->lane, opposite->slot[slot - series->slot].lane))
		return true;
	spin_lock(&slot->lane->lock);
	meet_nobody(entry, slot->lane, group, other);
	spin_unlock(&slot->lane->lock);
	return false;
}

static void meet_all(struct tor_slot *slot)
{
	struct tor_entry entry;
	bool more;

	do {
		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		more = meet(&entry, slot);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
		cond_resched();
	} while (more);
}

void tor_meet(struct tor_slot *slot)
{
	/*
	 * of two ends that start at the same time, at least one sees the other
	 */
	smp_mb();
	meet_all(slot);
}

void tor_meet_left(struct tor_team *team, struct tor_group *left)
{
	static const u8 role[] = { TOR_ROLE_SEND, TOR_ROLE_RECV };
	struct tor_series *series;
	u32 seat, i, k;

	for (seat = 0; seat < team->seats; seat++) {
		for (i = 0; team->seat[seat] != left && i < ARRAY_SIZE(role); i++) {
			series = tor_series_find(team->seat[seat],
						 tor_series_id(role[i], left->comm.rank));
			/*
			 * a rank that is calling concurrently still receives
			 * what it has left
			 */
			for (k = 0; series && k < team->depth; k++)
				meet_all(&series->slot[k]);
		}
	}
}
