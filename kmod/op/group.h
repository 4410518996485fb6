/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups: comms as this node sees them. Core's comm, its op slots with a lane per channel (lock,
 * timer, core's channel), and the life around them.
 *
 * A group is created by a call of a process, known by its tag from the moment that all members have come, and
 * closed by the process or with its file. It then lingers: peers may still have to send again
 * what we acknowledged in vain, or not have called yet for what we sent them. tor_group_end() finally takes it apart.
 *
 * References (@refs): the session's handle, each call that works on it, the queued fail_work. The
 * receive path, timers and dumps need none: they run under RCU. Each group has a reference of its fabric.
 */
#ifndef _TOR_GROUP_H
#define _TOR_GROUP_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/choose/choose.h"
#include "core/engine/engine.h"
#include "net/fabric.h"
#include "net/frame.h"
#include "core/agree/join.h"
#include "memory/memory.h"
#include "core/agree/shrink.h"
#include "memory/spare.h"

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

/* Of the result of a slot's op; how one leads to another: slot.h. */
enum tor_slot_state {
	TOR_SLOT_FREE,		/* there is none, nor will there be */
	TOR_SLOT_RUNNING,	/* the op has none yet */
	TOR_SLOT_DONE,		/* it waits for a thread that asks for it; memory is held */
	TOR_SLOT_TAKEN,		/* one has, and brings it to where it belongs */
};

/* How the result of an op gets to its process. */
enum tor_slot_way {
	TOR_WAY_NOBODY,		/* the op is the nodes': its results are their seats' */
	TOR_WAY_ASKED,		/* a thread asks for it, once there is one */
	TOR_WAY_AWAITED,	/* the thread that submits waits for it */
	TOR_WAY_RING,		/* it goes into the session's ring */
};

/* Places in tor_slot.pages. */
enum { TOR_PAGES_RECV, TOR_PAGES_SEND, TOR_PAGES_VECTOR, TOR_PAGES_TEMP, TOR_PAGES_COUNT };

/**
 * struct tor_slot - place of one op
 * @op: core's
 * @series: that it belongs to
 * @lane: series->channels of them
 * @work: goes on with what is too much for a softirq
 * @state, @way, @waiters: of the result, see slot.h; the last are threads that wait for this very op
 * @open: core is not done with it
 * @status: of the op, once it does not run any more
 * @done: when it was over, jiffies
 * @data: the plan's vector; @temp: its temporaries
 * @input: what the vector is to hold at first, if that stays where it is; @taken: with it, @taken_bytes of bits, see input.h
 * @result: where the result will be, in the caller's memory, or, if that is copied, in ours
 * @copy_from: where in the vector it is when the op is done, if not there
 * @copy_to: the caller's address, in @mm, to which it is copied at last; without @mm, it is not
 * @scratch: memory for short ops, once there was one; the first @scratch_used bytes are taken
 * @pages: what they and the send buffer lie in, a use each
 * @own: which of these are ours, by bit; @pinned: some of these are pinned for the op alone
 * @charged: the user is, with this op and its counts
 * @counts: lengths of the ranks' blocks, or NULL
 */
struct tor_slot {
	struct tor_op op;
	struct tor_group *group;
	struct tor_series *series;
	struct tor_slot *next_retired;
	struct tor_lane *lane;
	struct work_struct work;
	enum tor_slot_state state;
	enum tor_slot_way way;
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
	u64 *counts;
	struct tor_pages *pages[TOR_PAGES_COUNT];
};

/* Bits of tor_group.flags. */
enum tor_group_flag {
	TOR_GROUP_JOINED,	/* the join, or the agreement to shrink, is over */
	TOR_GROUP_HASHED,
	TOR_GROUP_TOLD,		/* failed because another rank said so */
	TOR_GROUP_SHRUNK,	/* it has an heir */
	TOR_GROUP_CLOSED,	/* the process has left; no op starts any more */
	TOR_GROUP_LEFT,		/* one of the processes that share it has: see seat_left() */
	TOR_GROUP_DEAD,		/* being taken apart: start no timer */
	TOR_GROUP_ENDED,
	TOR_GROUP_COUNTED,	/* as one of the user's comms */
	TOR_GROUP_LINGERS,	/* closed; linger_work, which has the session's reference, will end it */
};

/* With any of these, ops will not be called here: tor_endpoint_ops.missed. */
#define TOR_GROUP_MISSED	(BIT(TOR_GROUP_CLOSED) | BIT(TOR_GROUP_LEFT))

/**
 * struct tor_series - ops that are numbered one after the other; see series.h
 * @list: in group->series
 * @role: what these messages are here, TORCOLL_CHANNEL_SEND or _RECV; 0: collectives
 * @peer: with whom
 * @channels: of a slot
 * @submit: serialises submissions: next_seq
 * @slot: group->comm.depth of them; @lanes: and all their lanes
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
};

/**
 * struct tor_lane_cursor - where a walk over lanes is that is gone on with later
 * @groups: that are done with: the group itself, ranks of its team
 * @series: of the next one, or NULL: its first; @lanes: of it that are done with
 */
struct tor_lane_cursor {
	u32 groups;
	u32 lanes;
	struct tor_series *series;
};

/**
 * struct tor_group - a comm of a process, or of all ranks on a node together: see endpoint.h
 * @kind: what it does in its own way
 * @user: who pays, with @charged bytes of kernel memory
 * @watch: what route_work has seen of it in the look number @looking; @rerouting: lanes from @lanes on must be told that
 *	links went down before; @looked: number of the last one that is through
 * @team, @seat, @nodes: of kmod/local alone: the team, and a rank's place in it with the nodes' group, referenced
 * @join, @shrink: how it began, one of them
 * @results: lock of what becomes of results, see slot.h
 * @seekers: threads that wait for any op; @anybodys: ops that they may get, now or later
 * @failed_at: jiffies, 0: not (yet)
 * @calls: the collectives; @pairs: messages, by tor_series_id(); @series: all of them
 * @pairs_lock: see series.h
 * @refused: ranks, by bit, whose messages came when there were no slots for them
 * @room: length of @member and @order, which comm points to, and of its other arrays; the ranks of the comm that its
 *	lineage began with
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
	u32 looking;
	u32 looked;
	struct list_head ending;	/* with others that are taken apart together */
	refcount_t refs;
	unsigned long flags;
	char name[TORCOLL_NAME_MAX + 1];
	struct tor_chooser *chooser;	/* what auto takes */
	struct tor_team *team;
	u32 seat;
	struct tor_group *nodes;
	struct tor_join join;
	struct tor_shrink shrink;
	u32 room;
	u32 *member;
	u32 *order;
	wait_queue_head_t wait;
	struct tor_session *session;	/* to wake its poll; NULL once closed; RCU */
	u32 bits;			/* enum torcoll_bits of ops that name none */
	u32 handle;			/* there */
	spinlock_t results;
	u32 seekers;
	u32 anybodys;
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
};

/*
 * What somebody sleeps for may hold now. Mostly nobody does. Looking for sleepers is a full barrier: whoever is about to sleep has
 * queued before he looks at what was written before this, or else is seen here.
 */
static inline void tor_group_wake(struct tor_group *group)
{
	if (wq_has_sleeper(&group->wait))
		wake_up_all(&group->wait);
}

static inline struct tor_group *tor_group_of(struct tor_comm *comm)
{
	return container_of(comm, struct tor_group, comm);
}

/* The one whose frames are those of @group, once it is joined. */
static inline struct tor_group *tor_group_carrier(struct tor_group *group)
{
	return tor_group_of(tor_comm_carrier(&group->comm));
}

/**
 * struct tor_group_config - what a process asks for; see struct torcoll_comm_add
 * @member: kvmalloc'd, taken over; NULL: all nodes
 * @team: of the nodes' group: its team
 * @vague: out: who is missing, is perhaps another one on that node
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
	struct tor_team *team;
	bool vague;
};

/**
 * tor_group_create - join a comm; blocks
 * @fabric: node, referenced by the caller; its user count was raised for this, and is lowered again on error
 * @cfg: checked here
 * @missing: out: with -ETIMEDOUT, a rank that did not come, or TOR_NO_RANK
 * @why: out: static sentence for a refusal, or NULL
 *
 * Context: process. Return: a group with one reference, or an ERR_PTR.
 */
struct tor_group *tor_group_create(struct tor_fabric *fabric, struct tor_group_config *cfg,
				   u32 *missing, const char **why);

/**
 * tor_group_shrink - make a comm of the ranks that live; blocks until all of them have called
 * @from: the comm; fails if it has not yet
 * @depth: ops in flight, 0: as @from
 * @deadline: ns, or 0
 * @missing: out: with -ETIMEDOUT, a rank of @from that did not call, or TOR_NO_RANK
 * @why: out: static sentence for a refusal, or unchanged
 *
 * Context: process. Return: a group with one reference and one user of its fabric, or an ERR_PTR.
 */
struct tor_group *tor_group_shrink(struct tor_group *from, u32 depth, u64 deadline, u32 *missing,
				   const char **why);

/**
 * tor_group_new - a group without memory for ranks and ops
 * @fabric: node
 * @kind: of endpoint
 * @user: who pays
 * @name: of the comm
 * @depth: ops in flight, 0: the default
 *
 * Context: process. Return: the group, or ERR_PTR(-ENOMEM).
 */
struct tor_group *tor_group_new(struct tor_fabric *fabric, const struct tor_endpoint_ops *kind,
				struct tor_user *user, const char *name, u32 depth);

/* Count it as one of the user's comms; @why: static sentence for a limit that was reached. Return: 0 or -EDQUOT. */
int tor_group_count(struct tor_group *group, const char **why);

/**
 * tor_group_begin - begin to join a comm
 * @fabric: node, which stays at least as long as the group
 * @kind: of endpoint
 * @cfg: checked here
 * @why: out: static sentence for a refusal
 *
 * When it is over, with group->join.a.error, TOR_GROUP_JOINED is set; until then tor_group_cancel() ends it, perhaps a
 * while later. Then tor_group_end(), or tor_group_close().
 *
 * Context: process. Return: the group or an ERR_PTR.
 */
struct tor_group *tor_group_begin(struct tor_fabric *fabric, const struct tor_endpoint_ops *kind,
				  struct tor_group_config *cfg, const char **why);

/*
 * Give a join up for @error. Many ranks are told in portions, 100 ms for 65,536 of them: TOR_GROUP_JOINED is set behind that.
 * Return: the join's error; 0: it is too late, all have agreed.
 */
int tor_group_cancel(struct tor_group *group, int error);

/* What an error of a join means, or NULL. */
const char *tor_join_sentence(int err);

/* Memory that a group needs for comm.ranks ranks. Return: 0, -EDQUOT or -ENOMEM. */
int tor_group_alloc(struct tor_group *group, const char **why);

/* Charge the user of a group with more kernel memory, until the group is freed. Return: 0 or -EDQUOT. */
int tor_group_charge(struct tor_group *group, u64 bytes, const char **why);
void tor_group_uncharge(struct tor_group *group, u64 bytes);

/* Take it apart, drop a reference. Context: process. */
void tor_group_end(struct tor_group *group);

/* The same of a group that no process has got, by a work item and once its join is over. */
void tor_group_end_later(struct tor_group *group);

/*
 * The process is done with it: ops that run are aborted, their memory is unpinned before this returns, but for results that
 * other threads have just asked for; what is left lingers, and inherits the session's reference.
 */
void tor_group_close(struct tor_group *group);

/* No process has it any more: it ends when it is not needed, with that reference, or with its fabric. */
void tor_group_linger(struct tor_group *group);

/* Fail the comm and wait until no op of it touches memory. Context: process. */
void tor_group_abort(struct tor_group *group, int error);

void tor_group_put(struct tor_group *group);

/*
 * Work that is over before the fabric or the module goes; at @when (ns) or a bit later. Ops depend on it: it waits for no grace
 * period; an ending may. Context: any.
 */
void tor_group_queue(struct work_struct *work);
void tor_group_queue_at(struct delayed_work *work, u64 when);
void tor_group_queue_ending(struct work_struct *work);

int tor_group_init(void);
void tor_group_exit(void);

/* Fail all comms of a fabric that processes have, and wait until others have been told once. Context: process. */
void tor_group_fail_all(struct tor_fabric *fabric, int error);

/* Take all groups of a fabric apart that only linger. Context: process. */
void tor_group_end_all(struct tor_fabric *fabric);

/* Bytes of kernel memory that it takes, about. */
u64 tor_group_memory(const struct tor_group *group);

/* Context: RCU. */
struct tor_group *tor_group_find(struct tor_fabric *fabric, u32 tag);

/* --- deliver.c --- */

/* From the receive path; see core/engine.h. Context: softirq, RCU. */
void tor_group_data(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
		    const struct tor_bytes *payload, u32 pieces);
void tor_group_acks(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
		    const void *frame);
void tor_group_abort_rx(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
			const void *p);
void tor_group_dropped(struct tor_entry *entry, struct tor_fabric *fabric,
		       const struct tor_hdr *h);

/* --- lane.c --- */

/* The lane of channel @index of @slot, which serves op @seq. */
void tor_lane_init(struct tor_lane *lane, struct tor_slot *slot, u32 index, u32 seq);

/* The same of a slot, once. */
void tor_slot_init(struct tor_slot *slot);

/*
 * Lanes of @slot have too much to do for an entry: do that, portion by portion, with whatever waits for the processor between.
 * It may serve another op by now. Context: process.
 */
void tor_slot_work(struct tor_slot *slot);

/* Of all lanes, abort what runs; and cancel timers and works, after which nothing runs there. Context: process. */
void tor_lanes_abort(struct tor_group *group);
void tor_lanes_stop(struct tor_group *group);

/* Is there something that another rank has not got yet? Context: process. */
bool tor_group_owes(const struct tor_group *group);

/**
 * tor_group_rerouted - links went down: see tor_chan_rerouted()
 * @group: of the fabric's table, found there anew for each portion
 * @at: where the walk over its lanes is; zeroed at first
 *
 * A portion of them, behind which RCU may be left. What @at points to is there as long as the group is found: series stay until
 * group_free(), ranks of a team until their nodes' group was unhashed and a grace period has passed.
 *
 * Context: process, RCU, no lock held. Return: was that all?
 */
bool tor_group_rerouted(struct tor_group *group, struct tor_lane_cursor *at);

/* Give slots that core is done with their next numbers. Context: BH off, RCU, no lock held. */
void tor_slots_recycle(struct tor_entry *entry);

#endif
