// SPDX-License-Identifier: GPL-2.0
/*
 * The backlog of a port. See backlog.h.
 *
 * The kernel's softirqs continue for ten rounds, or some ticks, unless a task
 * that must run interrupts them, and every received frame is checksummed. A
 * softirq that has run for long only queues frames here, which is cheap, and a
 * work item receives them: other tasks get the processor in between.
 */
#include <tor/kcov.h>

#include "net/backlog.h"
#include "net/port.h"
#include "net/receive.h"
#include "op/group.h"

/*
 * Frames between two reschedule points: of the largest size, about what an
 * entry into core may move.
 */
#define BATCH	8

static struct sk_buff *backlog_next(struct tor_backlog *backlog)
{
	struct sk_buff *skb;

	spin_lock(&backlog->frames.lock);
	skb = backlog->closed ? NULL : __skb_dequeue(&backlog->frames);
	/* all previous frames have been received */
	if (!skb)
		WRITE_ONCE(backlog->busy, false);
	spin_unlock(&backlog->frames.lock);
	return skb;
}

/* Receive a batch. Return whether there are more frames. */
static bool backlog_receive_some(struct tor_port *port)
{
	struct sk_buff *skb;
	u32 n = 0;

	local_bh_disable();
	rcu_read_lock();
	do {
		skb = backlog_next(&port->backlog);
		if (skb)
			tor_frame_late(port->fabric, skb);
	} while (skb && ++n < BATCH && !need_resched());
	rcu_read_unlock();
	local_bh_enable();
	return skb;
}

/*
 * Return the handle of the fuzzer that the first frame is from, if any: see
 * cover_begin() in receive.c.
 */
static TOR_KCOV_HANDLE kcov_handle(struct tor_backlog *backlog)
{
	TOR_KCOV_HANDLE handle;
	struct sk_buff *skb;

	memset(&handle, 0, sizeof(handle));
	spin_lock_bh(&backlog->frames.lock);
	skb = skb_peek(&backlog->frames);
	if (skb)
		handle = skb_get_kcov_handle(skb);
	spin_unlock_bh(&backlog->frames.lock);
	return handle;
}

static void backlog_work(struct work_struct *work)
{
	struct tor_port *port = container_of(work, struct tor_port, backlog.work);
	bool more;

	do {
		/* this may allocate, and so sleep */
		if (IS_ENABLED(CONFIG_KCOV))
			kcov_remote_start_common(kcov_handle(&port->backlog));
		more = backlog_receive_some(port);
		if (IS_ENABLED(CONFIG_KCOV))
			kcov_remote_stop();
		cond_resched();
	} while (more);
}

void tor_backlog_init(struct tor_backlog *backlog)
{
	skb_queue_head_init(&backlog->frames);
	INIT_WORK(&backlog->work, backlog_work);
}

bool tor_backlog_add(struct tor_backlog *backlog, struct sk_buff *skb)
{
	bool added;

	spin_lock(&backlog->frames.lock);
	added = !backlog->closed && skb_queue_len(&backlog->frames) < TOR_BACKLOG_MAX;
	if (added) {
		__skb_queue_tail(&backlog->frames, skb);
		if (!backlog->busy)
			tor_group_queue(&backlog->work);
		WRITE_ONCE(backlog->busy, true);
	}
	spin_unlock(&backlog->frames.lock);
	return added;
}

void tor_backlog_close(struct tor_backlog *backlog)
{
	spin_lock_bh(&backlog->frames.lock);
	backlog->closed = true;
	spin_unlock_bh(&backlog->frames.lock);
	/* nothing queues it any more */
	cancel_work_sync(&backlog->work);
	skb_queue_purge(&backlog->frames);
}
