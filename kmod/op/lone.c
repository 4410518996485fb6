// SPDX-License-Identifier: GPL-2.0
/*
 * A rank that has its node for itself: its group is both what its process calls and what frames are about. See endpoint.h.
 */
#include "op/endpoint.h"
#include "op/op.h"
#include "op/slot.h"

void tor_endpoint_nothing(struct tor_group *group)
{
}

static int enlist(struct tor_group *group, const struct tor_group_config *cfg, const char **why)
{
	return tor_group_count(group, why);
}

/*
 * Ops may be done here before others have called: what was sent to them waits, and is sent again, for as long as they
 * live and do not leave. If they do, the comm fails.
 */
static bool is_needed(const struct tor_group *group)
{
	return tor_group_owes(group) && !tor_comm_failed(&group->comm);
}

const struct tor_endpoint_ops tor_lone_ops = {
	.on_wire	= true,
	.enlist		= enlist,
	.installed	= tor_endpoint_nothing,
	.joined		= tor_endpoint_nothing,
	.plan		= tor_op_plan,
	.start		= tor_op_launch,
	.done		= tor_slot_done,
	.retired	= tor_slot_retired,
	.failed		= tor_endpoint_nothing,
	.left		= tor_group_linger,
	.is_needed	= is_needed,
	.stop		= tor_endpoint_nothing,
	.release	= tor_endpoint_nothing,
};
