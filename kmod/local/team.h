/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Teams: the ranks of a comm that are on this node, where nodes have several. Each is a group of its own, its process's:
 * with slots, results and errors, but without lanes. One more group, the nodes', is what frames are about; it has
 * no process, and the team starts its ops: the n-th when every seat has called its n-th. Whoever calls last folds the
 * others' vectors into the node's (core/fold.h) and starts it; when it is over, results are brought to all.
 *
 * A team begins with the first process that asks for its comm. The nodes' group is begun when all seats are taken; if
 * one gives up while it joins, the others wait for the seat to be taken again. A comm in which any node has several ranks
 * has a team on each, be it of one.
 *
 * Failure goes both ways: what fails a rank's comm fails the nodes', which tells the other nodes and fails the rest
 * of the team. Who leaves in peace is missed only at an op that it has not called.
 *
 * Messages between ranks are their own ops, in series of the seats' groups, by the nodes' tag, epochs and paths: frames find
 * them by seats, see tor_team_pair(). What stays on the node is brought over there, see meet.h. A rank that has left
 * still answers for its messages, until the nodes' group is taken apart.
 *
 * References (@refs): the groups, those of seats and the nodes'. The team has one of each seat's group, from when it is
 * complete until the nodes' group is taken apart, which is after the last seat has left; each of them has one of that.
 *
 * Locking: teams_lock (in team.c) around everything until all have joined, RTNL inside, but not while the nodes' group of a
 * failed attempt is ended (@ending); team->lock (both mutexes) around the ops that begin, and failure; series->submit of a seat
 * outside it, spinlocks inside. What has begun is the last caller's, then the softirqs', then @work's. team->seat[] does not
 * change once the comm is joined.
 */
#ifndef _TOR_TEAM_H
#define _TOR_TEAM_H

#include "core/local/fold.h"
#include "op/endpoint.h"

/* Results up to so many bytes in all are brought to the seats in softirq; more would keep frames waiting. */
#define TOR_TEAM_SOFT	4096
#define TOR_TEAM_SOFT_SEATS 16

/**
 * struct tor_team_op - an op number modulo depth
 * @slot: of the nodes' group
 * @seq: number; @arrived: how many seats have called it; @begun: all have, and it is not theirs any more
 * @open: the nodes' slot is not retired, or results are not brought to all
 * @called: by seat
 * @odd: seats that do not agree
 * @words: the fold's
 * @work: brings the results
 */
struct tor_team_op {
	struct tor_team *team;
	struct tor_slot *slot;
	u32 seq;
	u32 arrived;
	bool begun;
	atomic_t open;
	struct tor_fold fold;
	const struct tor_plan_req **called;
	u32 odd[2];
	u64 *words;
	struct work_struct work;
};

/**
 * struct tor_team - see above
 * @list: of those that are not complete
 * @charged: @user is with so much
 * @name, @proof: what tells who belongs here
 * @map: who sits where; @map_words: its memory; @member: the nodes
 * @node: own place among nodes; @seats: ranks there
 * @seat: their groups, NULL: free; @came: it was taken before; @called: the last op that each has called
 * @nodes: their group, NULL until all seats are taken
 * @ending: that group is being ended by one of the seats, and the others wait for that
 * @over: its join is, in whatever way; @sealed: in a good one; @error: or not
 * @failed: the nodes' comm has, and all seats know
 * @left: seats that have
 * @late: for deadlines of those that wait for others here
 * @op: @depth of them; @requests: memory of theirs
 * @trial, @words: to try a call, before anything of it is done
 */
struct tor_team {
	refcount_t refs;
	struct list_head list;
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
	struct mutex lock;
	bool failed;
	u32 left;
	struct delayed_work late;
	struct tor_team_op *op;
	const struct tor_plan_req **requests;
	struct tor_op trial;
	u64 *words;
};

/* The user's rank that sits there. */
static inline u32 tor_team_rank(const struct tor_team *team, u32 seat)
{
	return tor_team_rank_in(&team->map, team->node, seat);
}

/* Is it one of several, on another node? */
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
 * tor_team_join - join a comm of which several ranks are on one node; blocks
 * @fabric, @cfg, @missing, @why: as tor_group_create()
 *
 * Context: process. Return: the group of a seat, or an ERR_PTR.
 */
struct tor_group *tor_team_join(struct tor_fabric *fabric, struct tor_group_config *cfg,
				u32 *missing, const char **why);

/* The nodes' group holds its team, has its map, and pays for it. @why: of a refusal. Return: 0 or -EDQUOT. */
int tor_team_hold(struct tor_team *team, struct tor_group *nodes, const char **why);

/* The nodes' tag is agreed upon: frames may come. The join is over. Context: fabric->lock. */
void tor_team_installed(struct tor_group *nodes);
void tor_team_joined(struct tor_team *team);

void tor_team_put(struct tor_team *team);

/* The fabric is dead: who waits on this node for others waits no longer. Context: process. */
void tor_team_fabric_down(struct tor_fabric *fabric);

/* --- endpoint.c --- */

extern const struct tor_endpoint_ops tor_seat_ops, tor_nodes_ops;

/*
 * The nodes' comm has failed: so do those of the seats. Only the first call
 * does anything. Context: process.
 */
void tor_team_failed(struct tor_group *nodes);

/* --- team_op.c --- */

/* Room for the ops of a team, whose depth is known by now. Return: 0 or -ENOMEM. */
int tor_team_op_alloc(struct tor_team *team);
void tor_team_op_free(struct tor_team *team);
u64 tor_team_op_memory(const struct tor_team *team);

/* They are those of @nodes. */
void tor_team_op_init(struct tor_team *team, struct tor_group *nodes);

/*
 * A seat calls its next collective: what it calls, if its nodes would serve
 * that. See tor_endpoint_ops.plan.
 */
int tor_team_plan(struct tor_slot *slot, const struct tor_plan_req *req,
		  const struct torcoll_submit *desc, const char **why);

/**
 * tor_team_submit - then it waits for the other seats' calls; the last one begins the nodes' op
 * @session: for sentences, and who pays for the node's own vectors
 * @slot: planned, with its buffers
 * @way: that its result takes
 *
 * Context: process, series->submit held. Return: 0, or -EDQUOT, -ENOMEM with a sentence and nothing changed.
 */
int tor_team_submit(struct tor_session *session, struct tor_slot *slot, enum tor_slot_way way);

/*
 * The nodes' op of @slot is over, and then: nothing of it is outstanding. See
 * tor_endpoint_ops.done and .retired.
 */
void tor_team_op_done(struct tor_slot *slot, int status, u32 error_rank);
void tor_team_op_retired(struct tor_slot *slot);

/* Has a seat called op @seq? */
static inline bool tor_team_has_called(const struct tor_team *team, u32 seat, u32 seq)
{
	return (s32)(READ_ONCE(team->called[seat]) - seq) >= 0;
}

/* The comms of all seats have failed: so do ops that not all have called. Context: process, team->lock. */
void tor_team_op_fail_all(struct tor_team *team);

/* A seat has left: is it missed? Context: process, team->lock. */
void tor_team_op_miss(struct tor_team *team);

/* Nothing of the team's ops runs any more when this returns; the nodes' group is dead. Context: process. */
void tor_team_op_stop(struct tor_team *team);

#endif
