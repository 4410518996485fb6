/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sessions: open files of /dev/torcoll, with the regions and comms of a
 * process.
 */
#ifndef _TOR_SESSION_H
#define _TOR_SESSION_H

#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "op/group.h"

#define TOR_TEXT_MAX	256

/*
 * How many threads of a file have a sentence at a time. A thread reads its own
 * just after a refusal; of so many that have not, the first one loses its own.
 */
#define TOR_SENTENCES	16

/**
 * struct tor_sentences - for each thread, why its last call was refused
 * @thread: whose, referenced, or NULL
 * @text: its sentence
 * @threads: that have one
 * @order: a later refusal has a greater one
 * @last: the greatest
 */
struct tor_sentences {
	struct pid *thread[TOR_SENTENCES];
	u32 threads;
	char text[TOR_SENTENCES][TOR_TEXT_MAX];
	u64 order[TOR_SENTENCES];
	u64 last;
};

/**
 * struct tor_session - an open file
 * @net: the opener's namespace, held
 * @user: the opener, who pays for all of it
 * @owning: held while the owner changes, or the handles of one that has ended
 *	are released: those of the next one are not among them
 * @lock: handles, pending calls and sentences; inside @owning
 * @owner: the process that used it last, referenced; its end fails the comms, or
 *	leaves them if it exits with 0
 * @pending: groups that are being made while their calls are interrupted, see
 *	pending.h
 * @ended: that process has exited; other processes that have the file get no
 *	comm that they joined before, but own what they make from then on
 * @poll: woken when an op is done
 * @ring: completion ring; NULL until there is one
 */
struct tor_session {
	struct net *net;
	struct tor_user *user;
	struct mutex owning;
	struct mutex lock;
	struct idr regions;
	struct idr groups;
	struct list_head pending;
	struct pid *owner;
	bool ended;
	wait_queue_head_t poll;
	struct tor_ring *ring;
	struct rcu_head rcu;
	struct tor_sentences said;
};

/*
 * Make the caller's process the owner, whose end is also that of the comms.
 * Context: process.
 */
void tor_session_use(struct tor_session *session);

/*
 * Wake up pollers after an event of a comm; @session may be NULL. Context: RCU.
 */
void tor_session_wake(struct tor_session *session, __poll_t what);

/*
 * Store a sentence of the calling thread for TORCOLL_IOC_ERROR. Return @err.
 * Context: process, in the call that is refused.
 */
int __printf(3, 4) tor_refuse(struct tor_session *session, int err, const char *fmt, ...);

/* Clear the calling thread's sentence at the begin of a call. */
void tor_refuse_nothing(struct tor_session *session);

/* Copy the calling thread's sentence, which is empty if it has none. */
void tor_session_sentence(struct tor_session *session, char text[TOR_TEXT_MAX]);

/**
 * tor_session_region - find memory by handle
 * @session: session
 * @handle: region, not 0
 * @addr: user address of the buffer
 * @length: bytes
 *
 * Return: its pages, with one more use, or an ERR_PTR with a sentence.
 */
struct tor_pages *tor_session_region(struct tor_session *session, u32 handle, u64 addr,
				     u64 length);

/*
 * Pin the caller's memory, and watch it if requested. Return an ERR_PTR with a
 * sentence on failure.
 */
struct tor_pages *tor_session_pin(struct tor_session *session, u64 addr, u64 length, bool watch);

/*
 * Sleep until @condition holds or @deadline (CLOCK_MONOTONIC ns, 0: none)
 * passes. Return 0, -ETIMEDOUT or -EINTR.
 */
#define tor_wait_until(queue, condition, deadline)					\
({											\
	u64 __deadline = min_t(u64, deadline, KTIME_MAX);				\
	u64 __now = __deadline ? ktime_get_ns() : 0;					\
	int __err = 0;									\
											\
	if (!__deadline)								\
		__err = wait_event_interruptible(*(queue), condition);			\
	else if (__deadline > __now)							\
		__err = wait_event_interruptible_hrtimeout(*(queue), condition,		\
							   ns_to_ktime(__deadline - __now)); \
	else if (!(condition))								\
		__err = -ETIME;								\
	__err == -ETIME ? -ETIMEDOUT : __err == -ERESTARTSYS ? -EINTR : __err;		\
})

/* The same, and as if a signal came at @pause (0: never). */
#define tor_wait_until_pause(queue, condition, deadline, pause)				\
({											\
	bool __pauses = (pause) && (!(deadline) || (pause) < (deadline));		\
	int __ended = tor_wait_until(queue, condition, __pauses ? (pause) : (deadline));	\
											\
	__pauses && __ended == -ETIMEDOUT ? -EINTR : __ended;				\
})

/*
 * Return whether a signal ended tor_wait_until(), and the process will call
 * again: it was not killed.
 */
static inline bool tor_wait_was_interrupted(int err)
{
	return err == -EINTR && !fatal_signal_pending(current);
}

#endif
