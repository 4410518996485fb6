// SPDX-License-Identifier: GPL-2.0
/*
 * Refusals. A call that is refused has no op, so the other ranks would wait for
 * it until their deadlines. A caller that will not repeat it has the comm fail
 * instead: they get the call, its rank and the reason. See refusal.h.
 */
#include "op/refusal.h"

#include "core/engine/desc.h"
#include "core/wire/accept.h"
#include "op/endpoint.h"

/* Describe the call; one with a value out of its range is unknown. */
static struct tor_wire_call refused_call(const struct tor_group *group,
					 const struct torcoll_submit *desc)
{
	struct tor_wire_call call = { .rank = tor_comm_first(&group->comm, group->comm.rank) };

	if (desc->collective >= TORCOLL_COLL_COUNT || desc->type >= TORCOLL_TYPE_COUNT ||
	    desc->redop >= TORCOLL_REDOP_COUNT || desc->bits >= TORCOLL_BITS_COUNT ||
	    desc->algorithm >= TORCOLL_ALGO_COUNT)
		return call;
	call.collective = desc->collective;
	call.algorithm = desc->algorithm;
	call.type = desc->type;
	call.redop = desc->redop;
	call.bits = desc->bits;
	call.count = desc->count;
	call.root = tor_desc_role(desc) ? desc->peer : desc->root;
	return call;
}

/* The number that the op would have had, if another thread did not take it. */
static u32 refused_number(const struct tor_group *group, const struct torcoll_submit *desc)
{
	return tor_desc_role(desc) ? 0 : READ_ONCE(group->calls.next_seq);
}

void tor_refusal_tell(struct tor_group *group, const struct torcoll_submit *desc, int err)
{
	struct tor_wire_call call = refused_call(group, desc);
	struct tor_entry entry;

	if (!(desc->flags & TORCOLL_OP_TELL) || !tor_wire_refusal(-err))
		return;
	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_fail_refusal(&entry.ctx, &group->comm, refused_number(group, desc), &call, -err);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}
