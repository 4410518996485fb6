// SPDX-License-Identifier: GPL-2.0
/*
 * Lone ranks: a rank that is alone on its node. Its process calls the same
 * group that frames address. See endpoint.h.
 */
#include "op/endpoint.h"
#include "op/op.h"
#include "op/slot.h"

void tor_endpoint_nothing(struct tor_group *group)
{
}

struct tor_group *tor_endpoint_no_rank(const struct tor_group *group, u32 i)
{
	return NULL;
}

void tor_endpoint_missed(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
			 u32 op)
{
	lockdep_assert_held(&lane->lock);
	if (lane->chan.state == TOR_CHAN_IDLE && (s32)(op - lane->chan.seq) >= 0)
		tor_comm_fail(&entry->ctx, &group->comm, -ECONNABORTED, group->comm.rank, op);
}

static struct tor_group *lone_of_rank(struct tor_group *group, u32 rank)
{
	return group;
}

/* Return the pair number: the node is the rank. */
static u16 lone_pair(const struct tor_group *group, u8 role, u32 peer)
{
	return 0;
}

static int reach(const struct tor_group *group, u32 peer, const char **why)
{
	return 0;
}

static bool is_vague(const struct tor_group *group)
{
	return false;
}

static struct tor_slot *waiting(const struct tor_group *group, u32 i)
{
	return NULL;
}

static int enlist(struct tor_group *group, const struct tor_group_config *cfg, const char **why)
{
	return tor_group_count(group, why);
}

/*
 * Return whether other ranks still depend on the group. Ops may be done here
 * before others have called: data sent to them waits and is resent as long as
 * they live and do not leave. If they leave, the comm fails.
 */
static bool lone_is_needed(const struct tor_group *group)
{
	return tor_group_owes(group) && !tor_comm_failed(&group->comm);
}

const struct tor_endpoint_ops tor_lone_ops = {
	.on_wire	= true,
	.enlist		= enlist,
	.await		= tor_lone_await,
	.installed	= tor_endpoint_nothing,
	.joined		= tor_endpoint_nothing,
	.plan		= tor_op_plan,
	.start		= tor_op_launch,
	.done		= tor_slot_done,
	.retired	= tor_slot_retired,
	.rank		= tor_endpoint_no_rank,
	.of_rank	= lone_of_rank,
	.pair		= lone_pair,
	.reach		= reach,
	.missed		= tor_endpoint_missed,
	.is_vague	= is_vague,
	.waiting	= waiting,
	.failed		= tor_endpoint_nothing,
	.left		= tor_group_linger,
	.is_needed	= lone_is_needed,
	.stop		= tor_endpoint_nothing,
	.release	= tor_endpoint_nothing,
};
