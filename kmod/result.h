/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Results of ops: they stay until somebody asks for them, be it that the comm has failed.
 */
#ifndef _TOR_RESULT_H
#define _TOR_RESULT_H

#include "series.h"

struct torcoll_wait;

static inline bool tor_slot_has_result(const struct tor_slot *slot)
{
	/* one look: the bits may change between two */
	unsigned long flags = READ_ONCE(slot->flags);

	return flags & BIT(TOR_SLOT_UNREAPED) && !(flags & BIT(TOR_SLOT_BUSY));
}

/* Nobody waits for this very op: whoever wants any may have its result. */
static inline bool tor_slot_is_left_alone(const struct tor_slot *slot)
{
	const unsigned long owned = BIT(TOR_SLOT_BUSY) | BIT(TOR_SLOT_AWAITED);
	unsigned long flags = READ_ONCE(slot->flags);

	return flags & BIT(TOR_SLOT_UNREAPED) && !(flags & owned);
}

/* Is any op without a result? Is any result waiting for somebody to ask for it? */
bool tor_group_busy(const struct tor_group *group);
bool tor_group_has_results(const struct tor_group *group);

/* Give back the memory of an op that is not busy, unless somebody has reaped it; of all. Context: process. */
void tor_op_release(struct tor_slot *slot);
void tor_op_release_all(struct tor_group *group);

/* Wait for and reap an op, or any. Return: 0 with ->status, or a negative errno. */
int tor_op_wait(struct tor_session *session, struct tor_group *group, struct torcoll_wait *wait);

/* A thread that waited for this very op, which is counted, waits no longer. */
void tor_op_leave_alone(struct tor_group *group, u64 op);

/* A sentence about what the comm, which has failed, has failed with. Context: process. Return: that. */
int tor_group_explain(struct tor_session *session, struct tor_group *group);

#endif
