// SPDX-License-Identifier: GPL-2.0
/* Entries into core: begin, end, and frames that they discard. See entry.h. */
#include "net/entry.h"

#include <linux/ktime.h>

#include "net/port.h"
#include "net/send.h"
#include "op/group.h"
#include "trace.h"

/**
 * struct streak - a period of softirqs without a pause. Ranks and neighbours on one processor
 * raise each other's softirqs, since each frame has an answer, and the kernel
 * continues for ten rounds or some ticks, even if it has interrupted a task of
 * higher priority. With PREEMPT_RT such a task interrupts the softirq instead:
 * nothing is late, and bottom halves that are off would not protect a variable
 * of a processor.
 *
 * @task: interrupted by all of it, only for comparison
 * @begun: ns
 * @last: the latest entry, ns
 */
struct streak {
	const struct task_struct *task;
	u64 begun;
	u64 last;
};

#define STREAK_PAUSE	(100 * NSEC_PER_USEC)
#define STREAK_MAX	(500 * NSEC_PER_USEC)

static DEFINE_PER_CPU(struct streak, streaks);

/*
 * Return whether other tasks must run: only softirqs that enter core have had
 * the processor for long.
 */
static bool is_long_streak(u64 now)
{
	struct streak *s;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return false;
	s = this_cpu_ptr(&streaks);
	if (s->task != current || now - s->last > STREAK_PAUSE || !in_serving_softirq() ||
	    (is_idle_task(current) && !need_resched())) {
		s->task = current;
		s->begun = now;
	}
	s->last = now;
	return now - s->begun > STREAK_MAX;
}

void tor_entry_begin(struct tor_entry *entry)
{
	entry->ctx = (struct tor_ctx){ .now = ktime_get_ns() };
	entry->late = is_long_streak(entry->ctx.now);
	/* a process sends the frames: it waits for its turn */
	if (entry->late)
		entry->ctx.sent = TOR_BUDGET.frames;
	entry->works = false;
	entry->port = NULL;
	entry->direct = false;
	entry->drop = SKB_NOT_DROPPED_YET;
	__skb_queue_head_init(&entry->frames);
	entry->retired = NULL;
}

void tor_entry_end(struct tor_entry *entry)
{
	for (;;) {
		tor_send_queued(entry);
		if (!entry->retired)
			return;
		/* may make waiting senders continue */
		tor_slots_recycle(entry);
	}
}

/*
 * Return the drop reason for the kernel's own tools. Own reasons require an
 * entry in the kernel's list of subsystems, so it is the nearest of the common
 * ones, or none; the tracepoint torcoll_drop has the exact counter.
 */
static enum skb_drop_reason drop_reason(enum tor_counter why)
{
	switch (why) {
	case TOR_C_DROP_SHORT:
		return SKB_DROP_REASON_PKT_TOO_SMALL;
	case TOR_C_DROP_VERSION:
	case TOR_C_DROP_TYPE:
		return SKB_DROP_REASON_UNHANDLED_PROTO;
	case TOR_C_DROP_HEADER_CRC:
	case TOR_C_DROP_PAYLOAD_CRC:
		return SKB_DROP_REASON_SKB_CSUM;
	case TOR_C_DROP_FABRIC:
	case TOR_C_DROP_NOT_OURS:
		return SKB_DROP_REASON_OTHERHOST;
	case TOR_C_DROP_COMM:
		return SKB_DROP_REASON_NO_SOCKET;
	case TOR_C_DROP_NO_ROUTE:
		return SKB_DROP_REASON_IP_OUTNOROUTES;
	case TOR_C_DROP_FORWARD:
		return SKB_DROP_REASON_PKT_TOO_BIG;
	case TOR_C_DROP_MEMORY:
		return SKB_DROP_REASON_NOMEM;
	case TOR_C_DROP_LINK:
		return SKB_DROP_REASON_DEV_READY;
	default:
		return SKB_DROP_REASON_NOT_SPECIFIED;
	}
}

enum skb_drop_reason tor_port_drop(struct tor_port *port, enum tor_counter why)
{
	tor_fabric_count(port->fabric, why, 1);
	trace_torcoll_drop(&port->fabric->node, port->cable, why);
	atomic64_inc(&port->drops);
	if (why == TOR_C_DROP_FABRIC)
		atomic64_inc(&port->others);
	return drop_reason(why);
}

void tor_entry_drop(struct tor_entry *entry, enum tor_counter why)
{
	if (why == TOR_C_DROP_PAYLOAD_CRC && entry->direct)
		tor_cable_damaged(&entry->port->fabric->node, entry->port->cable);
	entry->drop = tor_port_drop(entry->port, why);
}

void tor_env_drop(struct tor_ctx *ctx, struct tor_node *node, enum tor_counter why)
{
	struct tor_entry *entry = container_of(ctx, struct tor_entry, ctx);

	if (entry->port) {
		tor_entry_drop(entry, why);
		return;
	}
	/* a frame that was kept and is evaluated later */
	tor_env_count(node, why, 1);
	trace_torcoll_drop(node, ~0U, why);
}
