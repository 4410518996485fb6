/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups: this node's representation of comms. Core's comm, its op slots with a
 * lane per channel (lock, timer, core's channel), and its lifecycle.
 *
 * A call of a process creates a group. The tag identifies it from the moment
 * that all members have come. The process, or the end of its file, closes it.
 * It then lingers: peers may still need answers because acknowledgements were
 * lost, or may not yet have called an op for which data was sent to them.
 * Finally tor_group_end() takes it apart.
 *
 * References (@refs): the session's handle, each call that works on it, the
 * queued fail_work. The receive path, timers and dumps need none: they run
 * under RCU. Each group has a reference to its fabric.
 */
#ifndef _TOR_GROUP_H
#define _TOR_GROUP_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/agree/join.h"
#include "core/agree/shrink.h"
#include "core/choose/choose.h"
#include "core/engine/engine.h"
#include "memory/memory.h"
#include "memory/spare.h"
#include "net/entry.h"
#include "net/fabric.h"

#define TOR_DEPTH_DEFAULT	8
#define TOR_DEPTH_MAX		64
#define TOR_LINGER		(3 * HZ)

struct tor_endpoint_ops;
struct tor_session;
struct tor_team;

/**
 * struct tor_lane - a channel of a slot
 * @lock: around every tor_chan_ function; see fabric.h
 */
struct tor_lane {
	spinlock_t lock;
	struct hrtimer timer;
	struct tor_chan chan;
	struct tor_slot *slot;
};

/* State of a slot's result; for transitions see slot.h. */
enum tor_slot_state {
	TOR_SLOT_FREE,		/* no op */
	TOR_SLOT_RUNNING,	/* the op has no result yet */
	TOR_SLOT_DONE,		/* waits for a thread to ask for it; memory is held */
	TOR_SLOT_TAKEN,		/* a thread is bringing it to its destination */
};

/* Destination of an op's result. */
enum tor_slot_dest {
	TOR_DEST_NOBODY,	/* an op of nodes: its results belong to their seats */
	TOR_DEST_ASKED,		/* any thread that asks for it */
	TOR_DEST_AWAITED,	/* the submitting thread, which waits for it */
	TOR_DEST_RING,		/* the session's ring */
};

/* Places in tor_slot.pages. */
enum { TOR_PAGES_RECV, TOR_PAGES_SEND, TOR_PAGES_VECTOR, TOR_PAGES_TEMP, TOR_PAGES_COUNT };

/**
 * struct tor_slot - place of one op
 * @op: core's
 * @series: the series it belongs to
 * @lane: series->channels of them
 * @work: continues work that is too much for a softirq
 * @state: of the result, see slot.h
 * @dest: destination of the result
 * @waiters: threads that wait for this very op
 * @open: core still uses it
 * @status: of the op, once it no longer runs
 * @done: when it was over, jiffies
 * @data: the plan's vector
 * @temp: its temporaries
 * @input: initial contents of the vector, if they stay in place
 * @taken: with @input: bitmap, see input.h
 * @taken_bytes: bytes of @taken
 * @result: place of the result, in the caller's memory, or in the kernel's if
 *	it is copied
 * @copy_from: place of the result in the vector when the op is done, if not
 *	@result
 * @copy_to: the caller's address, in @mm, to which it is finally copied; no
 *	copy without @mm
 * @scratch: memory for short ops, kept after the first
 * @scratch_used: bytes of @scratch in use
 * @pages: pages of these and of the send buffer, one use each
 * @own: bit per entry of @pages that the kernel allocated
 * @pinned: some of @pages are pinned for this op alone
 * @charged: the user is, with this op
 * @multiplies: the vector has to be multiplied by @factor
 * @counts: lengths of the ranks' blocks, or NULL; the user is charged for
 *	@counts_bytes
 */
struct tor_slot {
	struct tor_op op;
	struct tor_group *group;
	struct tor_series *series;
	struct tor_slot *next_retired;
	struct tor_lane *lane;
	struct work_struct work;
	enum tor_slot_state state;
	enum tor_slot_dest dest;
	u32 waiters;
	bool open;
	int status;
	u32 error_rank;
	unsigned long done;
	u64 user_data;
	u64 submitted;
	struct tor_mem data, temp, input, result, copy_from;
	u64 *taken;
	u64 taken_bytes;
	u64 copy_to;
	struct mm_struct *mm;
	struct tor_pages *scratch;
	u32 scratch_used;
	u32 own;
	bool pinned;
	bool charged;
	bool multiplies;
	u8 factor[sizeof(u64)];
	u64 *counts;
	u64 counts_bytes;
	struct tor_pages *pages[TOR_PAGES_COUNT];
};

/* Bits of tor_group.flags. */
enum tor_group_flag {
	TOR_GROUP_JOINED,	/* the join, or the agreement to shrink, is over */
	TOR_GROUP_ANNOUNCED,	/* listeners were told of the comm: also of its end */
	TOR_GROUP_HASHED,
	TOR_GROUP_TOLD,		/* failed because another rank reported a failure */
	TOR_GROUP_SHRUNK,	/* it has an heir */
	TOR_GROUP_CLOSED,	/* the process has left; no further op starts */
	TOR_GROUP_LEFT,		/* a process of those that share it has left: see seat_left() */
	TOR_GROUP_DEAD,		/* being taken apart: start no timer */
	TOR_GROUP_ENDED,
	TOR_GROUP_COUNTED,	/* as one of the user's comms */
	/*
	 * closed; linger_work, which has the session's reference, will end it
	 */
	TOR_GROUP_LINGERS,
};

/* With any of these, ops may not be called here: tor_endpoint_ops.missed. */
#define TOR_GROUP_MISSED	(BIT(TOR_GROUP_CLOSED) | BIT(TOR_GROUP_LEFT))

/**
 * struct tor_series - ops that are numbered consecutively; see series.h
 * @list: in group->series
 * @role: of messages here, TOR_ROLE_SEND or TOR_ROLE_RECV; 0: collectives
 * @peer: of messages
 * @channels: per slot
 * @submit: serialises submissions: next_seq
 * @slot: group->comm.depth of them
 * @lanes: all lanes of the slots
 * @results: of messages: slots that are not free; group->results
 * @opens: of messages: slots that core still uses
 */
struct tor_series {
	struct tor_group *group;
	struct list_head list;
	u8 role;
	u32 peer;
	u32 channels;
	struct mutex submit;
	u32 next_seq;
	struct tor_slot *slot;
	struct tor_lane *lanes;
	u32 results;
	atomic_t opens;
};

/**
 * struct tor_lane_cursor - position of an interrupted walk over lanes
 * @groups: groups that are done: the group itself, then ranks of its team
 * @series: of the next lane, or NULL: the first one
 * @lanes: lanes of @series that are done
 */
struct tor_lane_cursor {
	u32 groups;
	u32 lanes;
	struct tor_series *series;
};

/**
 * struct tor_group - the comm of a process or of nodes, see endpoint.h
 * @kind: operations of its endpoint
 * @user: pays for @charged bytes of kernel memory
 * @watch: state of route_work's walk number @walking
 * @rerouting: lanes from @lanes on must still be told that links went down
 * @walked: number of the last complete walk
 * @team, @seat, @nodes: for kmod/local only: the team, a rank's place in it,
 *	and the nodes' group, referenced
 * @join, @shrink: its creation; one of them is in use
 * @wait: threads that wait for a result, or for the group's creation or end
 * @submitters: threads that wait for a slot, or for another one that submits:
 *	what these wait for changes with each op, behind its result
 * @results: lock of the states of results, see slot.h
 * @any_waiters: threads that wait for any op
 * @unclaimed: ops whose results these may take, now or later
 * @running: ops that run; dumps must not walk over all slots for that
 * @scratches: slots with scratch memory
 * @ops: calls that have ended, of all local ranks: counted at the carrier
 * @failed_at: jiffies, 0: it has not failed
 * @calls: the collectives
 * @pairs: messages, by tor_series_id()
 * @series: all series
 * @pairs_lock: see series.h
 * @refused: bit per rank whose messages came when there were no slots for them
 * @pay_timer: of a carrier, see tor_comm_pay(); DEAD keeps it from starting
 * @room: length of @member and @order, which comm points to, and of its other
 *	arrays; the ranks of the comm that began the lineage
 */
struct tor_group {
	struct tor_comm comm;
	const struct tor_endpoint_ops *kind;
	struct tor_fabric *fabric;
	struct tor_user *user;
	atomic64_t charged;
	struct hlist_node hash;
	struct tor_watch watch;
	struct tor_lane_cursor lanes;
	bool rerouting;
	u32 walking;
	u32 walked;
	struct list_head ending;	/* with others that are taken apart together */
	refcount_t refs;
	unsigned long flags;
	char name[TORCOLL_NAME_MAX + 1];
	struct tor_epochs *epochs;	/* of comm.epoch, on the wire; see op/epochs.h */
	struct tor_chooser *chooser;	/* tables of AUTO */
	struct list_head tables;	/* of groups that have some; fabric->tables_lock */
	u32 has_tables;			/* bit per collective: made, others may copy them; that lock */
	struct tor_team *team;
	u32 seat;
	struct tor_group *nodes;
	struct tor_join join;
	struct tor_shrink shrink;
	u32 room;
	u32 *member;
	u32 *order;
	wait_queue_head_t wait;
	wait_queue_head_t submitters;
	struct tor_session *session;	/* to wake its poll; NULL once closed; RCU */
	u32 bits;			/* enum torcoll_bits of ops that name none */
	u32 handle;			/* in the session */
	struct list_head pending;	/* in the session while its call is interrupted */
	u64 call;			/* hash of that call's values */
	u32 asked;			/* the rank that it named, or TORCOLL_RANK_SELF */
	u64 asked_name;			/* hash of its name */
	spinlock_t results;
	u32 any_waiters;
	u32 unclaimed;
	u32 running;
	atomic_t scratches;
	atomic64_t ops;
	struct delayed_work fail_work;
	unsigned long failed_at;
	u32 fail_rounds;
	struct delayed_work linger_work;
	struct tor_series calls;
	struct list_head series;
	struct xarray pairs;
	struct mutex pairs_lock;
	unsigned long *refused;
	struct tor_spares spares;
	struct hrtimer pay_timer;
};

/*
 * Wake up sleepers of the group after a condition has changed. Mostly there are
 * none. The check for sleepers is a full barrier: a task about to sleep has
 * queued before it reads what was written before this call, or else is seen
 * here.
 */
static inline void tor_group_wake_submitters(struct tor_group *group)
{
	if (wq_has_sleeper(&group->submitters))
		wake_up_all(&group->submitters);
}

static inline void tor_group_wake(struct tor_group *group)
{
	if (wq_has_sleeper(&group->wait))
		wake_up_all(&group->wait);
	tor_group_wake_submitters(group);
}

static inline struct tor_group *tor_group_of(struct tor_comm *comm)
{
	return container_of(comm, struct tor_group, comm);
}

/* Return the group whose frames carry those of @group, once it is joined. */
static inline struct tor_group *tor_group_carrier(struct tor_group *group)
{
	return tor_group_of(tor_comm_carrier(&group->comm));
}

/* The longest sentence of tor_join_explain(). */
#define TOR_JOIN_TEXT	256

/**
 * struct tor_group_config - request of a process; see struct torcoll_comm_add
 * @member: kvmalloc'd, taken over; NULL: all nodes
 * @pause: while awaiting: end then as if a signal came; 0: never
 * @team: of the nodes' group: its team
 * @give_up: while awaiting: do not wait, give up with this error; or 0
 * @goes_on: out, of a wait that ended: what was begun goes on, without a caller
 * @vague: out: the missing rank may be another one of its node
 * @text: for a sentence that is not static
 */
struct tor_group_config {
	struct tor_user *user;
	const char *name;
	u32 name_len;
	const void *secret;
	u32 secret_len;
	u32 *member;
	u32 ranks;
	u32 rank;
	u32 depth;
	u32 bits;
	u64 deadline;
	u64 pause;
	int give_up;
	struct tor_team *team;
	bool goes_on;
	bool vague;
	char text[TOR_JOIN_TEXT];
};

/**
 * tor_group_join - begin to join a comm for a process
 * @fabric: node, referenced by the caller; its user count was raised for this,
 *	and is lowered again on error
 * @cfg: checked here
 * @why: out: sentence for a refusal, static or in @cfg->text, or NULL
 *
 * Context: process.
 * Return: a group with one reference, for tor_group_await(), or an ERR_PTR.
 */
struct tor_group *tor_group_join(struct tor_fabric *fabric, struct tor_group_config *cfg,
				 const char **why);

/**
 * tor_group_shrink - begin to make a comm of the living ranks
 * @from: the comm; fails if it has not yet. It must stay until
 *	tor_group_await() says that this is over
 * @depth: ops in flight, 0: as @from
 * @why: out: static sentence for a refusal, or unchanged
 *
 * Context: process.
 * Return: a group with one reference and one user of its fabric, for
 * tor_group_await(), or an ERR_PTR.
 */
struct tor_group *tor_group_shrink(struct tor_group *from, u32 depth, const char **why);

/**
 * tor_group_await - wait until what a process has begun is over; blocks
 * @group: from tor_group_join() or tor_group_shrink()
 * @cfg: deadline or give_up
 * @missing: out: with -ETIMEDOUT, a rank that did not come, or TOR_NO_RANK; of
 *	an heir, its rank in the comm that is shrunk
 * @why: out: sentence for a failure, static or in @cfg->text, or unchanged
 *
 * Context: process.
 * Return: 0: the process has the comm. An error with @cfg->goes_on: a signal came
 * or it was @cfg->pause (-EINTR), or the deadline passed (-ETIMEDOUT) when this
 * rank had promised the others to be in an heir: call this again. Any other error:
 * the agreement has failed, or was given up, and the group is gone; of these,
 * -EAGAIN: that to shrink broke, begin again.
 */
int tor_group_await(struct tor_group *group, struct tor_group_config *cfg, u32 *missing,
		    const char **why);

/**
 * tor_group_new - allocate a group without memory for ranks and ops
 * @fabric: node
 * @kind: of endpoint
 * @user: pays
 * @name: of the comm
 * @depth: ops in flight, 0: the default
 *
 * Context: process.
 * Return: the group, or ERR_PTR(-ENOMEM).
 */
struct tor_group *tor_group_new(struct tor_fabric *fabric, const struct tor_endpoint_ops *kind,
				struct tor_user *user, const char *name, u32 depth);

/*
 * Count the group as one of the user's comms; @why: static sentence for a limit
 * that was reached. Return 0 or -EDQUOT.
 */
int tor_group_count(struct tor_group *group, const char **why);

/**
 * tor_group_begin - begin to join a comm
 * @fabric: node, which stays at least as long as the group
 * @kind: of endpoint
 * @cfg: checked here
 * @why: out: static sentence for a refusal
 *
 * At the end of the join, with its result in group->join.a.error,
 * TOR_GROUP_JOINED is set. tor_group_cancel() ends the join earlier, possibly
 * with a delay. Then call tor_group_end() or tor_group_close().
 *
 * Context: process.
 * Return: the group or an ERR_PTR.
 */
struct tor_group *tor_group_begin(struct tor_fabric *fabric, const struct tor_endpoint_ops *kind,
				  struct tor_group_config *cfg, const char **why);

/*
 * Give up a join for @error. Many ranks are told in portions, which takes 100
 * ms for 65,536 of them; TOR_GROUP_JOINED is set afterwards. @had_failed: out:
 * it had failed before. Return the join's error; 0: it is too late, all have
 * agreed.
 */
int tor_group_cancel(struct tor_group *group, int error, bool *had_failed);

/* Return the sentence for an error of a join, or NULL. */
const char *tor_join_sentence(int err);

/*
 * Return the sentence for the error by which the join of @group has ended, or
 * NULL. It names the rank at fault if there is one. It is static or in @text,
 * of TOR_JOIN_TEXT bytes.
 */
const char *tor_join_explain(const struct tor_group *group, int err, char *text);

/*
 * Allocate the memory that a group needs for comm.ranks ranks. Return 0,
 * -EDQUOT or -ENOMEM.
 */
int tor_group_alloc(struct tor_group *group, const char **why);

/*
 * An agreement about @group is over: share its epochs with other groups if they
 * are equal. The group stays charged for those of its ranks, since it may outlive
 * the others. Context: process, once.
 */
void tor_group_share_epochs(struct tor_group *group);

/*
 * Charge the user of a group for kernel memory until the group is freed. Return
 * 0 or -EDQUOT.
 */
int tor_group_charge(struct tor_group *group, u64 bytes, const char **why);
void tor_group_uncharge(struct tor_group *group, u64 bytes);

/* Take the group apart and drop a reference. Context: process. */
void tor_group_end(struct tor_group *group);

/*
 * The same for a group that no process has, from a work item after its join is
 * over.
 */
void tor_group_end_later(struct tor_group *group);

/*
 * The process closes the group: running ops are aborted, and their memory is
 * unpinned before this returns, except for results that other threads have just
 * asked for. The group lingers and takes over the session's reference.
 */
void tor_group_close(struct tor_group *group);

/*
 * No process has the group any more: end it when it is not needed, or with its
 * fabric. Takes over the reference.
 */
void tor_group_linger(struct tor_group *group);

/* Fail the comm and wait until no op of it touches memory. Context: process. */
void tor_group_abort(struct tor_group *group, int error);

void tor_group_put(struct tor_group *group);

/*
 * Queue work that is finished before the fabric or the module goes; at @when
 * (ns) or a little later. Ops depend on it, so it must not wait for a grace
 * period; the ending of a group and the release of a fabric may. Context: any.
 */
void tor_group_queue(struct work_struct *work);
void tor_group_queue_at(struct delayed_work *work, u64 when);
void tor_group_queue_ending(struct work_struct *work);
void tor_group_queue_release(struct work_struct *work);

int tor_group_init(void);
void tor_group_exit(void);

/*
 * Fail all comms of a fabric that processes have, and wait until others have
 * been told once. Context: process.
 */
void tor_group_fail_all(struct tor_fabric *fabric, int error);

/* Take apart all groups of a fabric that only linger. Context: process. */
void tor_group_end_all(struct tor_fabric *fabric);

/* Return the approximate bytes of kernel memory of a group. */
u64 tor_group_memory(const struct tor_group *group);

/* Find a group by its tag. Context: RCU. */
struct tor_group *tor_group_find(struct tor_fabric *fabric, u32 tag);

/* --- lane.c --- */

/* Initialise the lane of channel @index of @slot, which serves op @seq. */
void tor_lane_init(struct tor_lane *lane, struct tor_slot *slot, u32 index, u32 seq);

/* Initialise the timer of a group, once. */
void tor_pay_timer_init(struct tor_group *group);

/* Initialise a slot, once. */
void tor_slot_init(struct tor_slot *slot);

/*
 * Continue lanes of @slot that exceeded the budget of an entry, portion by
 * portion, and let other tasks run in between. The slot may serve another op by
 * now. Context: process.
 */
void tor_slot_work(struct tor_slot *slot);

/*
 * A call waits for @slot, which may wait for acknowledgements that others take
 * their time for: see tor_chan_hurry(). Context: process.
 */
void tor_slot_hurry(struct tor_slot *slot);

/*
 * Abort running channels of all lanes; cancel timers and works, after which
 * nothing runs there. Context: process.
 */
void tor_lanes_abort(struct tor_group *group);
void tor_lanes_stop(struct tor_group *group);

/*
 * Return whether there is data that another rank has not received yet. Context:
 * process.
 */
bool tor_group_owes(const struct tor_group *group);

/**
 * tor_group_tell_again - tell the other ranks once more that the comm has failed
 * @group: of the fabric's table
 *
 * To be called when links have gone down and routes avoid them: what told the
 * others before may have been lost there. Does nothing if the comm has not failed,
 * was told of it by another rank, or has told the others TOR_TELLINGS_MOST times.
 *
 * Context: RCU.
 */
void tor_group_tell_again(struct tor_group *group);

/**
 * tor_group_rerouted - tell channels that links went down: tor_chan_rerouted()
 * @group: of the fabric's table, found there anew for each portion
 * @at: position of the walk over its lanes; zeroed at first
 *
 * Handles a portion of the lanes, after which RCU may be left. The pointers in
 * @at are valid as long as the group is found: series stay until group_free(),
 * ranks of a team until a grace period after their nodes' group was unhashed.
 *
 * Context: process, RCU, no lock held.
 * Return: true at the end of the walk.
 */
bool tor_group_rerouted(struct tor_group *group, struct tor_lane_cursor *at);

/*
 * Assign the next numbers to slots that core no longer uses. Context: BH off,
 * RCU, no lock held.
 */
void tor_slots_recycle(struct tor_entry *entry);

#endif
