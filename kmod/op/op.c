// SPDX-License-Identifier: GPL-2.0
/*
 * Ops. See op.h.
 */
#include "op/op.h"

#include <linux/compat.h>
#include <linux/torcoll.h>

#include "cdev/ring.h"
#include "cdev/session.h"
#include "core/engine/desc.h"
#include "core/names.h"
#include "local/meet.h"
#include "memory/buffers.h"
#include "op/endpoint.h"
#include "op/refusal.h"
#include "op/result.h"
#include "op/slot.h"
#include "op/tables.h"
#include "trace.h"

u64 tor_op_collectives(void)
{
	u64 bits = 0;
	u32 i;

	for (i = TORCOLL_ALGO_AUTO + 1; i < TORCOLL_ALGO_COUNT; i++)
		bits |= tor_algorithm_serves(i);
	return bits | BIT_ULL(TORCOLL_SEND) | BIT_ULL(TORCOLL_RECV);
}

u64 tor_op_types(void)
{
	u64 bits = 0;
	u32 type, redop;

	for (type = 0; type < TORCOLL_TYPE_COUNT; type++)
		for (redop = 0; redop < TORCOLL_REDOP_COUNT; redop++)
			if (tor_reduce_kernel(type, redop))
				bits |= BIT_ULL(type);
	return bits;
}

u64 tor_op_redops(void)
{
	u64 bits = 0;
	u32 type, redop;

	for (redop = 0; redop < TORCOLL_REDOP_COUNT; redop++)
		for (type = 0; type < TORCOLL_TYPE_COUNT; type++)
			if (tor_reduce_kernel(type, redop))
				bits |= BIT_ULL(redop);
	return bits;
}

u64 tor_op_algorithms(void)
{
	u64 bits = BIT_ULL(TORCOLL_ALGO_AUTO);
	u32 i;

	for (i = TORCOLL_ALGO_AUTO + 1; i < TORCOLL_ALGO_COUNT; i++)
		if (tor_algorithm_serves(i))
			bits |= BIT_ULL(i);
	return bits;
}

/*
 * Return whether elements of this type have another layout for the caller:
 * MPI's pairs have that of C, which differs for a 32-bit process.
 */
static bool is_another_there(u32 type)
{
	return in_compat_syscall() &&
	       (type == TORCOLL_LONG_INT ||
		(type == TORCOLL_DOUBLE_INT && IS_ENABLED(CONFIG_COMPAT_FOR_U64_ALIGNMENT)));
}

static int check_desc(struct tor_session *session, const struct tor_group *group,
		      const struct torcoll_submit *desc)
{
	/* a ring is never removed; pairs with set_ring() in ioctl.c */
	bool ring = smp_load_acquire(&session->ring);
	char why[TOR_DESC_TEXT] __uninitialized;
	int err = tor_desc_check(desc, group->comm.ranks, ring, why);

	if (err)
		return tor_refuse(session, err, "%s", why);
	if (is_another_there(desc->type))
		return tor_refuse(session, -EOPNOTSUPP, "%s has another size in programs of 32 bits",
				  tor_type_names[desc->type]);
	return 0;
}

/* Inlined for lone ranks: every op passes here. */
static __always_inline int op_plan(struct tor_slot *slot, const struct tor_call *call,
				   const char **why)
{
	int err = 0;

	lockdep_assert_held(&slot->series->submit);
	if (!slot->op.role && call->algorithm == TORCOLL_ALGO_AUTO)
		err = tor_tables_make(slot->group, call->collective, why);
	return err ? err : tor_op_begin(&slot->op, slot->series->next_seq, call, why);
}

int tor_op_plan(struct tor_slot *slot, const struct tor_call *call, const char **why)
{
	return op_plan(slot, call, why);
}

/*
 * Prepare the op. Takes over @counts, which tor_buffers_counts() made.
 */
static int op_begin_slot(struct tor_session *session, struct tor_slot *slot,
			 const struct torcoll_submit *desc, u64 *counts)
{
	const struct tor_endpoint_ops *kind = slot->group->kind;
	struct tor_comm *comm = slot->op.comm;
	struct tor_call call = {
		.torus = &comm->node->torus,
		.members = comm->member,
		.ranks = comm->ranks,
		.collective = desc->collective,
		.algorithm = desc->algorithm,
		.type = desc->type,
		.redop = desc->redop,
		.bits = desc->bits ? desc->bits : slot->group->bits,
		.root = desc->root,
		.count = desc->count,
		.counts = counts,
		.starts = counts ? counts + comm->ranks : NULL,
		.from_counts = desc->recv_counts ? counts + 2 * comm->ranks : NULL,
		.from_starts = desc->recv_counts ? counts + 3 * comm->ranks : NULL,
	};
	const char *why = "the plan cannot be made";
	int err;

	if (slot->op.role) {
		call.root = slot->op.role == TOR_ROLE_SEND ? comm->rank : desc->peer;
		call.peer = slot->op.role == TOR_ROLE_SEND ? desc->peer : comm->rank;
	}
	tor_buffers_keep_counts(slot, desc, counts);
	memcpy(call.param, desc->param, sizeof(call.param));
	if (likely(kind->plan == tor_op_plan))
		err = op_plan(slot, &call, &why);
	else
		err = kind->plan(slot, &call, &why);
	if (err)
		return tor_refuse(session, err, "%s: %s", tor_algorithm_name(call.algorithm), why);
	err = tor_buffers_get(session, slot, desc);
	if (err)
		return err;
	slot->op.data = &slot->data;
	slot->op.temp = &slot->temp;
	slot->op.deadline = desc->deadline_ns;
	slot->user_data = desc->user_data;
	return 0;
}

void tor_op_mark(struct tor_slot *slot, enum tor_slot_dest dest)
{
	struct tor_group *group = slot->group;
	struct tor_entry entry __uninitialized;

	/*
	 * only this thread uses the slot until its lanes start, each under its
	 * lock
	 */
	tor_slot_run(slot, dest);
	/*
	 * pairs with tor_group_close(): it sees the running op, or this sees
	 * CLOSED
	 */
	smp_mb();
	if (test_bit(TOR_GROUP_CLOSED, &group->flags)) {
		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		tor_comm_fail(&entry.ctx, &group->comm, -ECONNABORTED, group->comm.rank,
			      slot->op.seq);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
	}
	if (dest != TOR_DEST_NOBODY)
		trace_torcoll_op_submit(&slot->op, slot->op.plan.call.count * slot->op.elem, 0);
}

/*
 * Start @lanes, a bit for each, in one entry. Return whether a process must
 * continue with any of them.
 */
static bool start_lanes(struct tor_slot *slot, struct tor_entry *entry, unsigned long lanes)
{
	bool works = false;

	for (; lanes; lanes &= lanes - 1) {
		struct tor_lane *lane = &slot->lane[__ffs(lanes)];

		spin_lock(&lane->lock);
		tor_chan_start(&entry->ctx, &lane->chan);
		works |= lane->chan.works;
		spin_unlock(&lane->lock);
	}
	return works;
}

void tor_op_start(struct tor_slot *slot)
{
	/* checked now: the slot may serve another op when it has started */
	bool stays = tor_op_stays(&slot->op);
	u32 i, used = slot->op.plan.shape.channels;
	unsigned long visited = tor_turn_begin(&slot->op);
	struct tor_entry entry __uninitialized;
	bool works = false;

	for (i = 0; i < used; i++) {
		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		entry.works = true;
		/*
		 * unused channels start with the first one, before the op can
		 * be over
		 */
		if (!i)
			start_lanes(slot, &entry, visited & ~GENMASK(used - 1, 0));
		works |= start_lanes(slot, &entry, BIT(i));
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
		/* frames that came meanwhile were received just now */
		cond_resched();
	}
	if (works)
		tor_slot_work(slot);
	if (stays)
		tor_meet(slot);
}

static bool slot_usable(const struct tor_slot *slot)
{
	return !tor_slot_in_use(slot) || tor_comm_failed(slot->op.comm) ||
	       test_bit(TOR_GROUP_CLOSED, &slot->group->flags);
}

/* Interval of checks whether the result in a slot will be asked for. */
#define LOOK	NSEC_PER_SEC

/* Wait for a slot. Return 0 if it is usable or its result is in the way. */
static int wait_for_slot(struct tor_slot *slot, u64 deadline)
{
	u64 look, patience = TOR_HURRY;
	int err;

	for (;; patience = LOOK) {
		look = ktime_get_ns() + patience;
		if (deadline)
			look = min(look, deadline);
		err = tor_wait_until(&slot->group->submitters,
				     slot_usable(slot) || tor_slot_is_in_the_way(slot), look);
		if (err != -ETIMEDOUT || look == deadline)
			break;
		if (patience == TOR_HURRY)
			tor_slot_hurry(slot);
	}
	return err;
}

/* Wait for the slot of the next op. Context: series->submit held. */
static int get_slot(struct tor_session *session, struct tor_series *series,
		    const struct torcoll_submit *desc, struct tor_slot **out)
{
	struct tor_slot *slot = tor_series_slot(series, series->next_seq);
	struct tor_group *group = series->group;
	int err;

	*out = slot;
	if (!slot_usable(slot)) {
		if (tor_slot_is_in_the_way(slot))
			return tor_refuse(session, -EBUSY,
					  "%u results of the comm wait to be reaped", group->comm.depth);
		if (desc->flags & (TORCOLL_OP_NOWAIT | TORCOLL_OP_TRY)) {
			/* it comes again */
			tor_slot_hurry(slot);
			return tor_refuse(session, -EBUSY, "%u ops are in flight",
					  group->comm.depth);
		}
		err = wait_for_slot(slot, desc->deadline_ns);
		if (err)
			return tor_refuse(session, err, "no op slot became free");
		if (!slot_usable(slot))
			return tor_refuse(session, -EBUSY,
					  "%u results of the comm wait to be reaped", group->comm.depth);
	}
	if (tor_comm_failed(&group->comm))
		return tor_group_explain(session, group);
	if (test_bit(TOR_GROUP_CLOSED, &group->flags))
		return tor_refuse(session, -ENOENT, "the comm was closed meanwhile");
	return 0;
}

/*
 * From here on softirqs continue the op; its first frames leave with the
 * caller.
 */
int tor_op_launch(struct tor_session *session, struct tor_slot *slot, enum tor_slot_dest dest)
{
	lockdep_assert_held(&slot->series->submit);
	tor_buffers_premultiply(slot);
	tor_op_mark(slot, dest);
	tor_op_start(slot);
	return 0;
}

/*
 * Take an op back because another thread closed the comm at the same time:
 * release its memory, and its place in the ring if no result was posted there.
 * The op has failed with the comm. Who would wait for it must not: at the end of
 * that wait, before that of the op, nobody would release its memory any more.
 */
static int take_back(struct tor_session *session, struct tor_slot *slot)
{
	struct tor_group *group = slot->group;

	wait_event(group->wait, !tor_slot_runs(slot));
	tor_slot_release(slot);
	if (slot->dest == TOR_DEST_ASKED)
		return 0;
	if (slot->dest == TOR_DEST_RING)
		tor_ring_give_back(session->ring);
	return tor_refuse(session, -ENOENT, "the comm was closed meanwhile");
}

static enum tor_slot_dest dest_of(const struct torcoll_submit *desc)
{
	if (desc->flags & TORCOLL_OP_RING)
		return TOR_DEST_RING;
	return desc->flags & TORCOLL_OP_WAIT ? TOR_DEST_AWAITED : TOR_DEST_ASKED;
}

/*
 * Prepare and start the next op. Context: series->submit held. Takes over
 * @counts.
 */
static int submit_next(struct tor_session *session, struct tor_series *series,
		       struct torcoll_submit *desc, u64 *counts)
{
	enum tor_slot_dest dest = dest_of(desc);
	bool in_ring = dest == TOR_DEST_RING;
	struct tor_slot *slot;
	int err;

	err = get_slot(session, series, desc, &slot);
	if (!err && in_ring && !tor_ring_take(session->ring))
		err = tor_refuse(session, -EBUSY, "the completion ring is full");
	if (err) {
		tor_buffers_drop_counts(series->group, desc, counts);
		return err;
	}
	err = op_begin_slot(session, slot, desc, counts);
	if (!err) {
		desc->chosen = slot->op.stated.algorithm;
		desc->op = tor_op_handle(slot);
		err = INDIRECT_CALL_1(slot->group->kind->start, tor_op_launch, session, slot, dest);
	}
	if (err) {
		desc->op = 0;
		tor_buffers_put(slot);
		if (in_ring)
			tor_ring_give_back(session->ring);
		return err;
	}
	series->next_seq++;
	if (!test_bit(TOR_GROUP_CLOSED, &slot->group->flags))
		return 0;
	err = take_back(session, slot);
	if (err)
		desc->op = 0;
	return err;
}

/* Lock the series for submission, at the latest at the deadline. */
static int lock_submit(struct tor_session *session, struct tor_series *series,
		       const struct torcoll_submit *desc)
{
	int err;

	if (desc->flags & TORCOLL_OP_NOWAIT)
		return mutex_trylock(&series->submit) ? 0 :
		       tor_refuse(session, -EBUSY, "another thread is submitting");
	err = tor_wait_until(&series->group->submitters, mutex_trylock(&series->submit),
			     desc->deadline_ns);
	return err ? tor_refuse(session, err, "another thread was submitting") : 0;
}

static void unlock_submit(struct tor_series *series)
{
	mutex_unlock(&series->submit);
	tor_group_wake_submitters(series->group);
}

/* Return the series that numbers ops of this kind. */
static struct tor_series *get_series(struct tor_session *session, struct tor_group *group,
				     const struct torcoll_submit *desc)
{
	const char *why = "no memory for messages between the two";
	struct tor_series *series;

	if (!tor_desc_role(desc))
		return &group->calls;
	series = tor_series_get(group, tor_desc_role(desc), desc->peer, &why);
	if (IS_ERR(series))
		tor_refuse(session, PTR_ERR(series), "%s", why);
	return series;
}

static int op_submit(struct tor_session *session, struct tor_group *group,
		     struct torcoll_submit *desc)
{
	struct tor_series *series;
	u64 *counts;
	int err;

	desc->op = 0;
	err = check_desc(session, group, desc);
	if (err)
		return err;
	series = get_series(session, group, desc);
	if (IS_ERR(series))
		return PTR_ERR(series);
	err = tor_buffers_counts(session, group, desc, &counts);
	if (err)
		return err;
	err = lock_submit(session, series, desc);
	if (err) {
		tor_buffers_drop_counts(group, desc, counts);
		return err;
	}
	err = submit_next(session, series, desc, counts);
	unlock_submit(series);
	return err;
}

int tor_op_submit(struct tor_session *session, struct tor_group *group,
		  struct torcoll_submit *desc)
{
	/* at the op's own deadline it fails, which ends the wait */
	struct torcoll_wait wait = { .size = sizeof(wait), .deadline_ns = desc->wait_ns };
	int err;

	err = op_submit(session, group, desc);
	if (err) {
		tor_refusal_tell(group, desc, err);
		return err;
	}
	if (!(desc->flags & TORCOLL_OP_WAIT))
		return 0;
	wait.op = desc->op;
	err = tor_op_wait_counted(session, group, &wait);
	desc->status = wait.status;
	return err;
}
