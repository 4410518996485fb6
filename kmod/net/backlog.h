/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backlog of a port: frames for this node that softirqs have left to a
 * process, because they have used the processor for long. If a link has several
 * ports, the first one's is that of all.
 */
#ifndef _TOR_BACKLOG_H
#define _TOR_BACKLOG_H

#include <linux/skbuff.h>
#include <linux/workqueue.h>

struct tor_port;

/* As in the kernel's own backlog of a processor; windows are much smaller. */
#define TOR_BACKLOG_MAX		1000

/**
 * struct tor_backlog - frames in order of arrival
 * @frames: its lock protects the following members
 * @busy: a process handles them, or is about to: later frames must be queued
 * @closed: the port is being removed
 */
struct tor_backlog {
	struct sk_buff_head frames;
	struct work_struct work;
	bool busy;
	bool closed;
};

void tor_backlog_init(struct tor_backlog *backlog);

/*
 * Return whether a frame must be queued, so as not to overtake others. Context:
 * any.
 */
static inline bool tor_backlog_is_busy(const struct tor_backlog *backlog)
{
	return READ_ONCE(backlog->busy);
}

/**
 * tor_backlog_add - leave a frame to a process
 * @backlog: of the port
 * @skb: checked, for this node, as for tor_frame_late(); consumed if it was
 *	added
 *
 * Context: BH, RCU.
 * Return: false if it is full or closed.
 */
bool tor_backlog_add(struct tor_backlog *backlog, struct sk_buff *skb);

/*
 * Discard all frames and accept no more. Context: process; waits for the batch
 * that a process is receiving.
 */
void tor_backlog_close(struct tor_backlog *backlog);

#endif
