/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoints: what a group does in its own way, by what it stands for. Callers
 * go through group->kind and do not ask which it is:
 *
 *	lone	a rank that has its node for itself: a process's comm, and what
 *		frames are about (lone.c)
 *	seat	a rank that shares its node: a process's comm, whose calls
 *		become one call of its nodes (local/endpoint.c)
 *	nodes	what frames are about where nodes have several ranks: no process
 *		has it (local/endpoint.c)
 *
 * group->kind is set before anybody else knows the group, and stays: it is read
 * without a lock, in any context.
 *
 * What is called for every op or frame costs a lone rank no indirect call:
 * INDIRECT_CALL_1() compares with the function of lone groups, which is likely,
 * and calls that directly.
 */
#ifndef _TOR_ENDPOINT_H
#define _TOR_ENDPOINT_H

#include <linux/indirect_call_wrapper.h>

#include "op/group.h"

struct torcoll_submit;

/**
 * struct tor_endpoint_ops - see above
 *
 * What never happens to a kind, it has no function for.
 *
 * @on_wire: frames and dumps find such a group by its tag, in the fabric's
 *	table: it has lanes for collectives, epochs and paths. Others are found
 *	by one that is
 * @unshrinkable: why it cannot be shrunk, or NULL
 *
 * @enlist: the group is to join: whom it belongs to, and who pays. Context:
 *	process. Return: 0 or a negative errno, with @why
 * @installed: its tag is agreed upon: frames may come when it is in the table,
 *	next; @joined: its join is over, in whatever way. Context: fabric->lock
 *
 * @plan: what @slot is to do, of which the descriptor was checked: fills
 *	slot->op as far as is known. Return: 0 or a negative errno, with @why
 * @start: the op of @slot, planned, with its buffers, begins, now or when
 *	others have called it. Return: 0, or a negative errno with a sentence
 *	and nothing changed. Context of both: process, series->submit held
 * @done: the op of @slot is over, see tor_slot_done(); @retired: nothing of it
 *	is outstanding, see tor_slot_retired(). Context of both: BH off, RCU
 *
 * @rank: the @i-th of the ranks here that have groups of their own, whose
 *	messages are in the frames of this one; NULL: there are no more.
 *	Context: RCU, or a reference
 * @of_rank: what has the messages of @rank here, a user's. Context as above
 * @whose: the same, of a frame: @rank is the other node, out: the rank there;
 *	@pair stands in place of a round, and @sends says whether the message is
 *	sent from here. NULL: there are no such ranks. No function: it is the
 *	group's own. Context: RCU
 * @pair: what stands in such frames between its rank and @peer; @reach: can
 *	that be said? Return: 0 or -EOPNOTSUPP, with @why
 * @missed: another node is at op @op of @lane: tell it if that will not be
 *	called here, by who has left. Called when any of TOR_GROUP_MISSED is
 *	set. Context: BH off, RCU, @lane->lock
 * @is_vague: its comm has failed with -ETIMEDOUT: may it be another rank of the
 *	same node that is late, and not the one that is named?
 *
 * @waiting: the op in place @i, below comm.depth, if it waits for calls of
 *	ranks here: a slot of a rank that has called it, or NULL. It may be over
 *	when it is looked at. Of what is on the wire. Context: RCU
 * @uncalled: of the group of such a slot: a rank that has not called op @seq,
 *	from place *@i on, which goes on; TOR_NO_RANK: there are no more.
 *	Context: RCU
 *
 * @failed: its comm has: what fails with it. Once. Context: process, no lock
 * @left: its process has left it: it is CLOSED, and none of its ops runs.
 *	Consumes the reference of the process. Context: process, no lock
 * @is_needed: does anybody here or elsewhere still depend on it? Of what is on
 *	the wire. Context: process
 * @stop: it was unlinked a grace period ago, its lanes and works are stopped:
 *	stop the rest. Context: process
 * @release: it is being freed: drop references. Context: process
 */
struct tor_endpoint_ops {
	bool on_wire;
	const char *unshrinkable;

	int (*enlist)(struct tor_group *group, const struct tor_group_config *cfg,
		      const char **why);
	void (*installed)(struct tor_group *group);
	void (*joined)(struct tor_group *group);

	int (*plan)(struct tor_slot *slot, const struct tor_plan_req *req,
		    const struct torcoll_submit *desc, const char **why);
	int (*start)(struct tor_session *session, struct tor_slot *slot, enum tor_slot_way way);
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

/* Where a kind has nothing to do, or stands for no other. */
void tor_endpoint_nothing(struct tor_group *group);
struct tor_group *tor_endpoint_no_rank(const struct tor_group *group, u32 i);

/* The process of a comm has left, see @missed. */
void tor_endpoint_missed(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
			 u32 op);

#endif
