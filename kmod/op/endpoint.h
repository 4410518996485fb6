/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoints: the behaviour of a group that depends on what it represents.
 * Callers use group->kind and do not distinguish the kinds:
 *
 *	lone	a rank that is alone on its node: the comm of a process, which
 *		frames address directly (lone.c)
 *	seat	a rank that shares its node: the comm of a process, whose calls
 *		become one call of its nodes (local/seat.c)
 *	nodes	the comm of nodes with several ranks, which frames address; no
 *		process has it (local/seat.c)
 *
 * group->kind is set before any other context knows the group, and never
 * changes: it is read without a lock, in any context.
 *
 * Functions that are called for every op or frame cost a lone rank no indirect
 * call: INDIRECT_CALL_1() compares with the function of lone groups, the likely
 * one, and calls it directly.
 */
#ifndef _TOR_ENDPOINT_H
#define _TOR_ENDPOINT_H

#include <linux/indirect_call_wrapper.h>

#include "op/group.h"

/**
 * struct tor_endpoint_ops - operations of an endpoint, see above
 *
 * Functions that are never called for a kind are NULL in it.
 *
 * @on_wire: frames and dumps find such a group by its tag in the fabric's
 *	table: it has lanes for collectives, epochs and paths. Other groups are
 *	found by way of one that is on the wire
 * @unshrinkable: why it cannot be shrunk, or NULL
 *
 * @enlist: the group is about to join: set its owner and who pays. Context:
 *	process. Return: 0 or a negative errno, with @why
 * @await: of the comm of a process: as tor_group_await(). Context: process
 * @installed: its tag is agreed; frames may come as soon as it is in the table,
 *	which is the next step. Context: fabric->lock
 * @joined: its join is over, successful or not. Context: fabric->lock
 *
 * @plan: plan @call in @slot: fill in slot->op as far as it is known yet.
 *	Return: 0 or a negative errno, with @why. Context: process,
 *	series->submit held
 * @start: start the op of @slot, planned, with its buffers, now or when other
 *	ranks here have called it. Return: 0, or a negative errno with a
 *	sentence and nothing changed. Context as for @plan
 * @done: the op of @slot is over, see tor_slot_done(). Context: BH off, RCU
 * @retired: nothing of the op is outstanding, see tor_slot_retired(). Context:
 *	BH off, RCU
 *
 * @rank: return the @i-th of the local ranks that have groups of their own and
 *	whose messages are in the frames of this one; NULL: there are no more.
 *	Context: RCU, or a reference
 * @of_rank: return the group that has the messages of the user's @rank here.
 *	Context as for @rank
 * @whose: of a frame's message: return the local rank's group. @rank: in: the
 *	other node, out: the rank there; @pair: from the frame; @sends: the
 *	sender is here. NULL: there are no such ranks. No function: the
 *	message is the group's own. Context: RCU
 * @pair: return the number by which frames of a message between its rank and
 *	@peer name them both, see tor_team_pair()
 * @reach: check that there is such a number. Return: 0 or -EOPNOTSUPP, with
 *	@why
 * @missed: another node is at op @op of @lane: if a rank that has left here will
 *	never call it, fail the comm, naming that rank. Called when any of
 *	TOR_GROUP_MISSED is set. Context: BH off, RCU, @lane->lock
 * @is_vague: its comm has failed with -ETIMEDOUT: return whether the late rank
 *	may be another one of the same node than the one reported
 *
 * @waiting: return a slot of a rank that has called the op in place @i, below
 *	comm.depth, if the op waits for calls of ranks here, or NULL. The op may
 *	be over when the slot is read. For groups on the wire. Context: RCU
 * @uncalled: of the group of such a slot: return a rank that has not called op
 *	@seq, from place *@i on, which is advanced; TOR_NO_RANK: there are no
 *	more. Context: RCU
 *
 * @failed: its comm has failed: make everything fail that depends on it. Called
 *	once. Context: process, no lock
 * @left: its process has left it: it is CLOSED, and none of its ops runs.
 *	Consumes the reference of the process. Context: process, no lock
 * @is_needed: return whether a local or remote rank still depends on it. For
 *	groups on the wire. Context: process
 * @stop: it was unlinked a grace period ago, and its lanes and works are
 *	stopped: stop everything else. Context: process
 * @release: it is being freed: drop references. Context: process
 */
struct tor_endpoint_ops {
	bool on_wire;
	const char *unshrinkable;

	int (*enlist)(struct tor_group *group, const struct tor_group_config *cfg,
		      const char **why);
	int (*await)(struct tor_group *group, struct tor_group_config *cfg, u32 *missing,
		     const char **why);
	void (*installed)(struct tor_group *group);
	void (*joined)(struct tor_group *group);

	int (*plan)(struct tor_slot *slot, const struct tor_call *call, const char **why);
	int (*start)(struct tor_session *session, struct tor_slot *slot, enum tor_slot_dest dest);
	void (*done)(struct tor_slot *slot, int status, u32 error_rank);
	void (*retired)(struct tor_slot *slot);

	struct tor_group *(*rank)(const struct tor_group *group, u32 i);
	struct tor_group *(*of_rank)(struct tor_group *group, u32 rank);
	struct tor_group *(*whose)(struct tor_group *group, u32 *rank, u32 pair, bool sends);
	u16 (*pair)(const struct tor_group *group, u8 role, u32 peer);
	int (*reach)(const struct tor_group *group, u32 peer, const char **why);
	void (*missed)(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
		       u32 op);
	bool (*is_vague)(const struct tor_group *group);

	struct tor_slot *(*waiting)(const struct tor_group *group, u32 i);
	u32 (*uncalled)(const struct tor_group *group, u32 seq, u32 *i);

	void (*failed)(struct tor_group *group);
	void (*left)(struct tor_group *group);
	bool (*is_needed)(const struct tor_group *group);
	void (*stop)(struct tor_group *group);
	void (*release)(struct tor_group *group);
};

extern const struct tor_endpoint_ops tor_lone_ops;

/* The @await of a lone rank. */
int tor_lone_await(struct tor_group *group, struct tor_group_config *cfg, u32 *missing,
		   const char **why);

/* For kinds that have nothing to do, or represent no other rank. */
void tor_endpoint_nothing(struct tor_group *group);
struct tor_group *tor_endpoint_no_rank(const struct tor_group *group, u32 i);

/* Handle an op that a process which has left will not call, see @missed. */
void tor_endpoint_missed(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
			 u32 op);

#endif
