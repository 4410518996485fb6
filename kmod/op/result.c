// SPDX-License-Identifier: GPL-2.0
/*
 * Results. See result.h.
 */
#include "op/result.h"

#include <linux/cpumask.h>
#include <linux/sched/signal.h>
#include <linux/torcoll.h>

#include "cdev/ring.h"
#include "cdev/session.h"
#include "memory/buffers.h"
#include "op/call.h"
#include "op/endpoint.h"
#include "op/op.h"
#include "op/slot.h"

/* --- the error of a failed comm --- */

/* How long to wait for another rank's call: its abort is on the way. */
#define EXPLAIN_WAIT	(HZ / 10)

static bool explain_time_over(const struct tor_group *group)
{
	unsigned long since = READ_ONCE(group->failed_at);

	return since && time_after(jiffies, since + EXPLAIN_WAIT);
}

/*
 * Set the sentence of a failed comm. Its name is arbitrary text: characters
 * that control a terminal are shown as \x1b and the like.
 */
static int __printf(3, 4) has_failed(struct tor_session *session, const struct tor_group *group,
				     const char *fmt, ...)
{
	struct va_format why = { .fmt = fmt };
	va_list args;
	int err;

	va_start(args, fmt);
	why.va = &args;
	err = tor_refuse(session, group->comm.error, "the comm %*pEhp has failed%pV",
			 (int)strlen(group->name), group->name, &why);
	va_end(args);
	return err;
}

/* Describe the different calls of the ranks. */
static int result_mismatch(struct tor_session *session, struct tor_group *group)
{
	/* reports from the wire reach the group of the nodes */
	struct tor_group *told = tor_group_carrier(group);
	const struct tor_comm *comm = &told->comm;
	char text[TOR_EXPLANATION_MAX];

	wait_event_timeout(told->wait,
			   atomic_read_acquire(&comm->explained) == TOR_EXPLAINED ||
			   explain_time_over(told), EXPLAIN_WAIT);
	tor_call_explain(comm, text, sizeof(text));
	return has_failed(session, group, ": %s", text);
}

/* Describe the call that was refused on its own node. */
static int result_refusal(struct tor_session *session, struct tor_group *group)
{
	const struct tor_comm *told = &tor_group_carrier(group)->comm;
	char text[TOR_EXPLANATION_MAX];

	tor_call_explain_refusal(told, text, sizeof(text));
	return has_failed(session, group, ": rank %u (node %u) was refused %s", told->error_rank,
			  told->error_node, text);
}

/* Return whether the comm failed because of a refused call. */
static bool is_refusal(struct tor_group *group)
{
	const struct tor_comm *told = &tor_group_carrier(group)->comm;

	return tor_comm_failed(told) && told->refusal;
}

int tor_group_explain(struct tor_session *session, struct tor_group *group)
{
	const struct tor_comm *comm = &group->comm;

	if (comm->error_rank == TOR_NO_RANK)
		return has_failed(session, group, "%s", "");
	if (comm->error == -ENETDOWN)
		return has_failed(session, group, ": its fabric was deleted by %*pEhp (process %d)",
				  (int)strlen(group->fabric->killer), group->fabric->killer,
				  group->fabric->killer_pid);
	if (comm->error == -EPROTO)
		return result_mismatch(session, group);
	if (comm->error == -ECONNABORTED && is_refusal(group))
		return result_refusal(session, group);
	if (comm->error == -ETIMEDOUT && group->kind->is_vague(group))
		return has_failed(session, group, ": rank %u (node %u), or another rank there, has not called",
				  comm->error_rank, comm->error_node);
	if (comm->error == -EHOSTDOWN)
		return has_failed(session, group, ": rank %u (node %u) is down, or has restarted",
				  comm->error_rank, comm->error_node);
	if (comm->error == -EHOSTUNREACH)
		return has_failed(session, group, ": no live cables lead to rank %u (node %u)",
				  comm->error_rank, comm->error_node);
	return has_failed(session, group, ": caused by rank %u (node %u)", comm->error_rank,
			  comm->error_node);
}

/* --- waiting --- */

/* Bring a result that was taken to the caller. */
static void result_fetch(struct tor_session *session, struct tor_group *group,
			 struct tor_slot *slot, struct torcoll_wait *wait)
{
	int failed = slot->status;

	wait->op = tor_op_handle(slot);
	wait->status = failed;
	wait->error_rank = slot->error_rank;
	wait->user_data = slot->user_data;
	if (!failed)
		wait->status = tor_buffers_result(session, slot);
	tor_slot_free(slot);
	if (failed)
		tor_group_explain(session, group);
}

/* Try to take a result and fetch it. */
static int result_take(struct tor_session *session, struct tor_group *group,
		       struct torcoll_wait *wait)
{
	struct tor_slot *slot = tor_slot_take(group, wait->op);

	if (slot == ERR_PTR(-EAGAIN))
		return -EAGAIN;
	if (IS_ERR(slot))
		return tor_refuse(session, PTR_ERR(slot), "no such op is waiting to be reaped");
	result_fetch(session, group, slot, wait);
	return 0;
}

/*
 * Take a result and fetch it; or have the ring get it, when it is there: -EAGAIN.
 */
static int result_divert(struct tor_session *session, struct tor_group *group,
			 struct torcoll_wait *wait)
{
	/* a ring is never removed; pairs with set_ring() in ioctl.c */
	struct tor_ring *ring = smp_load_acquire(&session->ring);
	int err;

	if (!ring)
		return tor_refuse(session, -EINVAL, "the file has no completion ring");
	do {
		err = result_take(session, group, wait);
		if (err != -EAGAIN)
			return err;
		if (!tor_ring_take(ring))
			return tor_refuse(session, -EBUSY, "the completion ring is full");
		err = tor_slot_divert(group, wait->op, wait->user_data);
		if (err)
			tor_ring_give_back(ring);
	} while (err == -ENOENT);
	return err ? tor_refuse(session, err, "the op completes to the ring, or to a thread") : -EAGAIN;
}

/* Number of processes on the machine that poll for results without sleeping. */
static atomic_t spinners;

#define SPIN_MAX	NSEC_PER_SEC

/*
 * Poll for a result for a while before sleeping, which saves a wake-up. Not if
 * there are more pollers than processors: they would only keep each other and
 * ksoftirqd from working.
 */
static struct tor_slot *result_spin(struct tor_group *group, const struct torcoll_wait *wait)
{
	struct tor_slot *slot = ERR_PTR(-EAGAIN);
	u64 end = ktime_get_ns() + wait->spin_ns;

	if (wait->deadline_ns)
		end = min(end, wait->deadline_ns);
	if (atomic_inc_return(&spinners) <= num_online_cpus())
		while ((slot = tor_slot_take(group, wait->op)) == ERR_PTR(-EAGAIN) &&
		       !signal_pending(current) && ktime_get_ns() < end) {
			cpu_relax();
			cond_resched();
		}
	atomic_dec(&spinners);
	return slot;
}

static int wait_and_take(struct tor_session *session, struct tor_group *group,
			 struct torcoll_wait *wait)
{
	struct tor_slot *slot = ERR_PTR(-EAGAIN);
	int err = 0;

	if (wait->spin_ns)
		slot = result_spin(group, wait);
	if (slot == ERR_PTR(-EAGAIN))
		err = tor_wait_until(&group->wait,
				     (slot = tor_slot_take(group, wait->op)) != ERR_PTR(-EAGAIN),
				     wait->deadline_ns);
	if (err)
		return tor_refuse(session, err, "the op is still running");
	if (IS_ERR(slot))
		return tor_refuse(session, PTR_ERR(slot), "no such op is waiting to be reaped");
	result_fetch(session, group, slot, wait);
	return 0;
}

int tor_op_wait_counted(struct tor_session *session, struct tor_group *group,
			struct torcoll_wait *wait)
{
	u64 op = wait->op;
	int err = wait_and_take(session, group, wait);

	if (err)
		tor_slot_unawait(group, op);
	return err;
}

static int wait_for_one(struct tor_session *session, struct tor_group *group,
			struct torcoll_wait *wait)
{
	return tor_slot_await(group, wait->op) ? tor_op_wait_counted(session, group, wait) :
						 result_take(session, group, wait);
}

static int wait_for_any(struct tor_session *session, struct tor_group *group,
			struct torcoll_wait *wait)
{
	int err;

	tor_slot_await_any(group, true);
	err = wait_and_take(session, group, wait);
	tor_slot_await_any(group, false);
	return err;
}

int tor_op_wait(struct tor_session *session, struct tor_group *group, struct torcoll_wait *wait)
{
	if (wait->spin_ns > SPIN_MAX)
		return tor_refuse(session, -EINVAL, "the spin time exceeds one second");
	if (wait->flags & TORCOLL_WAIT_RING) {
		if (!(wait->flags & TORCOLL_WAIT_NOHANG) || !wait->op)
			return tor_refuse(session, -EINVAL,
					  "the ring gets one op, with TORCOLL_WAIT_NOHANG");
		return result_divert(session, group, wait);
	}
	if (wait->flags & TORCOLL_WAIT_NOHANG)
		return result_take(session, group, wait);
	return wait->op ? wait_for_one(session, group, wait) : wait_for_any(session, group, wait);
}
