/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Teams: the ranks of a comm on this node, if nodes have several. Each rank has
 * a group of its own, its process's: with slots, results and errors, but
 * without lanes for collectives. One more group, the nodes', is the one that frames address. It
 * has no process, and the team starts its ops: the n-th when every seat has
 * called its n-th. The last caller folds the others' vectors into the node's
 * (core/local/fold.h) and starts it; when it is over, the results are copied to all.
 *
 * A team begins with the first process that asks for its comm. The nodes' group
 * starts to join when all seats are taken; if a rank gives up during the join,
 * the others wait for the seat to be taken again. If any node of a comm has
 * several ranks, every node has a team, even for one rank.
 *
 * Failure goes both ways: a failure of a rank's comm makes the nodes' fail,
 * which tells the other nodes and makes the rest of the team fail. A rank that
 * leaves without failure is missed only at an op that it has not called.
 *
 * Messages between ranks are their own ops, in series of the seats' groups,
 * with the nodes' tag, epochs and paths: frames find them by seats, see
 * tor_team_pair(). Messages that stay on the node are copied there, see meet.h.
 * A rank that has left still answers for its messages, until the nodes' group
 * is taken apart.
 *
 * References: @refs counts the groups of the seats and the nodes' group. Once
 * complete, the team holds a reference to each seat's group, until the nodes'
 * group is taken apart, which is after the last seat has left. Each seat's
 * group holds one to the nodes' group.
 *
 * Locking: teams_lock (in team.c) around everything until all have joined, but
 * not while the nodes' group of a failed attempt is ended (@ending); never with
 * RTNL: what dumps see has a lock of its own, waiting_lock; team->lock (as
 * teams_lock a mutex) around the begin of ops, and failure; series->submit of a
 * seat outside it, spinlocks inside. An op that has begun
 * belongs to the last caller, then to the softirqs, then to @work. team->seat[]
 * does not change once the comm is joined.
 */
#ifndef _TOR_TEAM_H
#define _TOR_TEAM_H

#include <linux/rwsem.h>

#include "core/local/fold.h"
#include "op/endpoint.h"

/*
 * Results up to this total number of bytes are copied to the seats in softirq;
 * more would delay frames.
 */
#define TOR_TEAM_SOFT	4096
#define TOR_TEAM_SOFT_SEATS 16

/**
 * struct tor_team_op - an op number modulo depth
 * @slot: of the nodes' group
 * @seq: number
 * @arrived: number of seats that have called it; 0 after a failure, too
 * @begun: all have, and the op no longer belongs to the seats
 * @open: the nodes' slot is not retired, or results are not copied to all
 * @called: by seat
 * @vector: of the seats, if the nodes' call works in all of them
 * @odd: seats that do not agree
 * @words: see tor_fold.words
 * @work: copies the results
 */
struct tor_team_op {
	struct tor_team *team;
	struct tor_slot *slot;
	u32 seq;
	u32 arrived;
	bool begun;
	atomic_t open;
	struct tor_fold fold;
	const struct tor_call **called;
	struct tor_mem **vector;
	u32 odd[2];
	u64 *words;
	struct work_struct work;
};

/**
 * struct tor_team - see above
 * @list: of teams that are not complete; waiting_lock in team.c
 * @here, @absent: for dumps: the group of a rank that waits for @absent, another
 *	of this node, or NULL; that lock
 * @charged: bytes that @user is charged for
 * @name, @proof: identify the ranks that belong here
 * @map: placement of ranks
 * @map_words: memory of @map
 * @member: the nodes
 * @node: own place among nodes
 * @seats: number of local ranks
 * @seat: their groups, NULL: free
 * @came: the seat was taken before
 * @called: the last op that each seat has called
 * @nodes: their group, NULL until all seats are taken
 * @ending: one of the seats is ending that group, and the others wait for it
 * @over: its join is over
 * @sealed: its join succeeded
 * @error: its error
 * @text: a sentence about it, or ""
 * @lock: of what follows; before it may come @tables, which covers the making of
 *	the nodes' tables: that takes up to seconds, and is awaited killably
 * @starting: held by those that start an op of the nodes, after @lock
 * @failed: the nodes' comm has failed, and all seats know
 * @left: number of seats that have left
 * @late: for deadlines of ops that wait for other local ranks
 * @op: @depth of them
 * @requests: memory of op[].called
 * @vectors: memory of op[].vector
 * @trial, @words: to test a call before it has effects
 */
struct tor_team {
	refcount_t refs;
	struct list_head list;
	struct tor_group *here;
	u32 absent;
	struct tor_fabric *fabric;
	struct tor_user *user;
	u64 charged;
	u64 name;
	u64 proof;
	struct tor_team_map map;
	u32 *map_words;
	u32 *member;
	u32 node;
	u32 seats;
	u32 depth;
	wait_queue_head_t wait;
	struct tor_group **seat;
	bool *came;
	u32 *called;
	struct tor_group *nodes;
	bool ending;
	bool over;
	bool sealed;
	int error;
	u32 missing;
	char text[TOR_JOIN_TEXT];
	struct mutex lock;
	struct mutex tables;
	struct rw_semaphore starting;
	bool failed;
	u32 left;
	struct delayed_work late;
	struct tor_team_op *op;
	const struct tor_call **requests;
	struct tor_mem **vectors;
	struct tor_op trial;
	u64 *words;
};

/* Return the user's rank of a seat. */
static inline u32 tor_team_rank(const struct tor_team *team, u32 seat)
{
	return tor_team_rank_in(&team->map, team->node, seat);
}

/* Return whether @rank is one of several ranks on another node. */
static inline bool tor_team_is_one_of_several(const struct tor_team *team, u32 rank)
{
	const struct tor_team_map *map = &team->map;
	u32 node;

	if (rank >= map->ranks)
		return false;
	node = tor_team_node(map, rank);
	return node != team->node && tor_team_seats(map, node) > 1;
}

static inline struct tor_team_op *tor_team_op_at(struct tor_team *team, u32 seq)
{
	return &team->op[seq & (team->depth - 1)];
}

/* --- team.c --- */

/**
 * tor_team_join - begin to join a comm with several ranks on a node
 * @fabric, @cfg, @why: as tor_group_join()
 *
 * Context: process.
 * Return: the group of a seat, or an ERR_PTR.
 */
struct tor_group *tor_team_join(struct tor_fabric *fabric, struct tor_group_config *cfg,
				const char **why);

/* Wait until that is over, see tor_group_await(). */
int tor_team_await(struct tor_group *group, struct tor_group_config *cfg, u32 *missing,
		   const char **why);

/*
 * Tie the nodes' group to its team, with the team's map, and charge it. @why:
 * of a refusal. Return 0 or -EDQUOT.
 */
int tor_team_hold(struct tor_team *team, struct tor_group *nodes, const char **why);

/*
 * The nodes' tag is agreed: frames may come. The join is over. Context:
 * fabric->lock.
 */
void tor_team_installed(struct tor_group *nodes);
void tor_team_joined(struct tor_team *team);

void tor_team_put(struct tor_team *team);

/*
 * The fabric is dead: end the waiting of local ranks for others. Context:
 * process.
 */
void tor_team_fabric_down(struct tor_fabric *fabric);

/**
 * tor_team_each_waiting - call @fn for teams that wait for ranks of this node
 * @fabric: theirs
 * @fn: gets @arg, the group of a rank that is here, and the first that is not;
 *	another result than 0 ends the walk
 *
 * Context: process; @fn may not sleep.
 * Return: the last result of @fn, or 0.
 */
int tor_team_each_waiting(const struct tor_fabric *fabric,
			  int (*fn)(void *arg, const struct tor_group *seat, u32 missing), void *arg);

/* --- seat.c --- */

extern const struct tor_endpoint_ops tor_seat_ops, tor_nodes_ops;

/*
 * The nodes' comm has failed: make those of the seats fail. Only the first call
 * has an effect. Context: process.
 */
void tor_team_failed(struct tor_group *nodes);

/* --- team_op.c --- */

/*
 * Allocate the ops of a team, whose depth is known by now. Return 0 or -ENOMEM.
 */
int tor_team_op_alloc(struct tor_team *team);
void tor_team_op_free(struct tor_team *team);
u64 tor_team_op_memory(const struct tor_team *team);

/* Assign the ops to @nodes. */
void tor_team_op_init(struct tor_team *team, struct tor_group *nodes);

/*
 * Plan the next collective of a seat, if the nodes support it. See
 * tor_endpoint_ops.plan.
 */
int tor_team_plan(struct tor_slot *slot, const struct tor_call *call, const char **why);

/**
 * tor_team_submit - submit a seat's op; the last call begins the nodes' op
 * @session: for sentences, and pays for the node's own vectors
 * @slot: planned, with its buffers
 * @dest: destination of its result
 *
 * Context: process, series->submit held.
 * Return: 0, or -EDQUOT, -ENOMEM with a sentence and nothing changed.
 */
int tor_team_submit(struct tor_session *session, struct tor_slot *slot, enum tor_slot_dest dest);

/*
 * The nodes' op of @slot is over; nothing of it is outstanding. See
 * tor_endpoint_ops.done and .retired.
 */
void tor_team_op_done(struct tor_slot *slot, int status, u32 error_rank);
void tor_team_op_retired(struct tor_slot *slot);

/* Return whether a seat has called op @seq. */
static inline bool tor_team_has_called(const struct tor_team *team, u32 seat, u32 seq)
{
	return (s32)(READ_ONCE(team->called[seat]) - seq) >= 0;
}

/*
 * The comms of all seats have failed: make ops fail that not all have called.
 * Context: process, team->lock.
 */
void tor_team_op_fail_all(struct tor_team *team);

/*
 * A seat has left: make ops fail that it has not called. Context: process,
 * team->lock.
 */
void tor_team_op_miss(struct tor_team *team);

/*
 * Wait until no op of the team runs any more; the nodes' group is dead.
 * Context: process.
 */
void tor_team_op_stop(struct tor_team *team);

#endif
