/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port's backlog: frames for this node that softirqs have left to a process, because they have had the processor for long.
 */
#ifndef _TOR_BACKLOG_H
#define _TOR_BACKLOG_H

#include <linux/skbuff.h>
#include <linux/workqueue.h>

struct tor_port;

/* As many frames as the kernel's own backlog of a processor has by default: windows keep far below. */
#define TOR_BACKLOG_MAX		1000

/**
 * struct tor_backlog - frames in the order in which they came
 * @frames: and the lock of all that follows
 * @busy: a process is at it, or is about to be: what comes now comes after these
 * @closed: the port goes
 */
struct tor_backlog {
	struct sk_buff_head frames;
	struct work_struct work;
	bool busy;
	bool closed;
};

void tor_backlog_init(struct tor_backlog *backlog);

/* Must a frame be left to the process, not to overtake what is there? Context: any. */
static inline bool tor_backlog_is_busy(const struct tor_backlog *backlog)
{
	return READ_ONCE(backlog->busy);
}

/**
 * tor_backlog_add - leave a frame to a process
 * @skb: checked, for this node; consumed if it was added
 *
 * Context: BH, RCU. Return: false: it is full, or closed.
 */
bool tor_backlog_add(struct tor_backlog *backlog, struct sk_buff *skb);

/*
 * Throw away what is there, and let nothing in any more. Context: process; waits for the few frames, at most, that a process is
 * receiving at the moment.
 */
void tor_backlog_close(struct tor_backlog *backlog);

#endif
