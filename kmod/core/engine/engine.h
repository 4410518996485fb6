/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine: executes plans, drives transfers and reductions.
 *
 * A comm has a fixed number of op slots. Op number s uses slot s % depth, so
 * that the slot of a frame is computed and nothing is allocated per op. A slot
 * has one channel for every channel that a plan on this comm can have. Each
 * channel is a state machine of its own:
 *
 *	IDLE      not submitted here; early frames are kept
 *	RUNNING   executes rounds
 *	COMPLETE  its part of the result is complete, and it no longer uses
 *	          the op's memory
 *	CLOSED    everything that was sent is acknowledged
 *
 *	from		to		by
 *	IDLE		RUNNING		tor_chan_start()
 *	IDLE		CLOSED		tor_chan_follow(): the plan does not use it
 *	RUNNING		COMPLETE	chan_settle(), after its last round
 *	COMPLETE	CLOSED		chan_settle(), at the last acknowledgement
 *	RUNNING		CLOSED		tor_chan_abort(); COMPLETE likewise
 *	CLOSED		IDLE		tor_chan_follow(), for the next op
 *
 * The op is done when all its channels are COMPLETE. Its slot is no longer open
 * when all are CLOSED.
 *
 * Messages between two ranks are ops too. Each pair of sender and receiver
 * numbers them separately and has slots of its own with one channel each. Both
 * ranks count their calls for the pair: nothing is negotiated before the first
 * message, and a message waits neither for a collective nor for a message of
 * another pair, which includes the opposite direction. Frames of a message
 * state the role of their source and the pair instead of channel and round.
 * Tag, paths and failure are those of the comm. See pair.c.
 *
 * Serialisation: the environment calls every tor_chan_ function with that
 * channel's lock held and bottom halves off. Channels share only op->busy and
 * op->open (atomic), the slot's turn (see turn.c), the comm's paths (hints), its
 * count of kept bytes (atomic) and its error (set once by compare and exchange).
 */
#ifndef _TOR_CORE_ENGINE_H
#define _TOR_CORE_ENGINE_H

#include "core/choose/choose.h"
#include "core/engine/turn.h"
#include "core/env.h"
#include "core/link/node.h"
#include "core/plan/plan.h"
#include "core/reduce/reduce.h"
#include "core/seats.h"
#include "core/transfer/xfer.h"
#include "core/wire/wire.h"

/* bytes of early frames per comm above which senders are told to wait */
#define TOR_KEPT_HIGH		(1 << 20)
/* limit that includes frames in flight by then */
#define TOR_KEPT_MAX		(4 << 20)
/* transfers of later rounds of which a channel takes early frames */
#define TOR_EARLY_MAX		4096
/* ranks to which a comm can owe acknowledgements */
#define TOR_NOTES		32
/* ops between two whose round trips are measured */
#define TOR_MEASURE_EVERY	16
/* turns of all slots whose frames ask at once, after one had to ask again */
#define TOR_EAGER_TURNS		64
#define TOR_EAGER_MOST		256	/* if that happens again and again */
#define TOR_WAITING_MAX		8		/* waiting senders that a channel remembers */
#define TOR_FORGET_AHEAD	64		/* others: this many times depth and ranks ahead */
#define TOR_EMPTY_MAX		64	/* rounds that can be remembered as empty */
/* ranges per frame that are sent without a copy */
#define TOR_FRAME_RANGES	16
#define TOR_RETRY		(NSEC_PER_MSEC / 10)	/* FPU or memory was unavailable */
/* silence before a channel asks its senders */
#define TOR_NUDGE		(1 * (s64)NSEC_PER_SEC)
/* for answers to the question who is late */
#define TOR_LATE_WAIT		(50 * NSEC_PER_MSEC)
/* between two batches of tor_budget.frames questions */
#define TOR_LATE_PACE		(100 * NSEC_PER_USEC)
/*
 * times that a failure is sent to all, in case frames are lost, and at most so
 * often with those after links went down, by which they may have been lost
 */
#define TOR_TELLINGS		3
#define TOR_TELLINGS_MOST	8
#define TOR_TELL_AGAIN		(50 * NSEC_PER_MSEC)
#define TOR_NO_RANK		(~0U)
#define TOR_WATCH_GRACE		(400 * NSEC_PER_MSEC)	/* see tor_comm_watch() */

/* Whether it is known what the two ranks that disagree have called. */
enum tor_explained {
	TOR_EXPLAINED_HALF,		/* one of the two calls, with -EPROTO */
	TOR_EXPLAINING,			/* the other call is being written */
	TOR_EXPLAINED,
};

/**
 * struct tor_comm - the core's part of a communicator
 *
 * If nodes have several ranks of a comm (see core/seats.h), the ranks of this struct
 * are its nodes, wherever frames are sent. Failure reports, local and sent,
 * always name ranks of users, which @team translates.
 *
 * @node: its node
 * @tag: in every frame of it
 * @lineage: shared with the comm that it was shrunk from
 * @ranks: number of ranks
 * @rank: own rank
 * @unit: payload bytes per frame, the same on all ranks; see tor_op_unit()
 * @depth: op slots
 * @channels: channels per slot
 * @member: node of each rank, or NULL: rank i is node i
 * @order: ranks sorted by node; only with @member
 * @placed: what @member forms, if @is_placed; set by the first op that needs it,
 *	with the lock of those that begin ops
 * @team: placement of ranks on nodes, or NULL: one rank per node
 * @nodes: in the comm of one of a node's ranks: the comm of its nodes, whose
 *	frames carry its messages, by tor_comm_place(); has the epochs and
 *	paths, and fails when ranks have called different operations
 * @speaker: with @team, the own rank that is reported to others by default
 * @chooser: tables of AUTO, see auto.h, or NULL
 * @epoch: of each rank's node, as agreed when the comm was created: see
 *	tor_comm_agreed()
 * @births: of this node's view when the agreement about the comm began
 * @joined: its creation is complete here; until then the comm waits for an
 *	unreachable rank as for one that has not called
 * @lost_since: when ranks were found unreachable, or their nodes restarted, of
 *	which some are away ever since, ns; 0: all are there
 * @away: bit per rank: it is one of those ever since
 * @path: by rank, in groups; NULL: a group that no frame was sent to yet
 * @path_groups: number of groups that were made
 * @nobody: used by all ranks for which there was no memory; its @due is not
 * @note: ranks to which acknowledgements may be owed, plus 1; 0: none. See due.c
 * @indebted: bit per note that is to be visited; while it is not 0,
 *	tor_comm_pay() will be called
 * @eager: ops whose frames are not patient yet, as a call had to wait for one whose
 *	were; below 0: ops since then; a hint, as @eager_ops
 * @eager_ops: how many of them there were; 0: that was long ago
 * @kept: bytes in early frames
 * @claimed: set by the first failure
 * @failed: set when that failure is written
 * @error: of the failure: negative errno
 * @error_rank, @error_node: its cause, or ~0
 * @refusal: with -ECONNABORTED: positive errno of a call that the cause was
 *	refused, or 0
 * @digest: with -EPROTO: digests of the two calls that differ
 * @call: those calls, as far as known; with @refusal, the first is that call
 * @explained: enum tor_explained
 * @known: bit per call that was known when the comm failed
 */
struct tor_comm {
	struct tor_node *node;
	u32 tag;
	u32 generation;
	u64 lineage;
	u32 ranks;
	u32 rank;
	u32 unit;
	u32 depth;
	u32 channels;
	const u32 *member;
	const u32 *order;
	bool is_placed;
	struct tor_placement placed;
	const struct tor_team_map *team;
	struct tor_comm *nodes;
	u32 speaker;
	const struct tor_chooser *chooser;
	const u32 *epoch;
	u64 births;
	bool joined;
	u64 lost_since;
	u32 *away;
	struct tor_path **path;
	atomic_t path_groups;
	struct tor_path nobody;
	atomic_t note[TOR_NOTES];
	atomic64_t indebted;
	s32 eager;
	u32 eager_ops;
	atomic_t kept;
	atomic_t claimed;
	atomic_t failed;
	int error;
	u32 error_rank;
	u32 error_node;
	u32 error_op;
	u32 refusal;
	u32 digest[2];
	struct tor_wire_call call[2];
	atomic_t explained;
	u32 known;
};

/* Words of @away. */
static inline u32 tor_comm_away_words(u32 ranks)
{
	return ranks / 32 + 1;
}

/**
 * struct tor_begun - what an op's plan and digest depend on besides its call
 * @valid: the next op of the slot may use both if its call is the same; this
 *	one has no counts
 * @chooser: tables that AUTO used, at change number @changes
 * @digest: of the call and of AUTO's choice
 */
struct tor_begun {
	bool valid;
	u32 changes;
	u32 digest;
	const struct tor_chooser *chooser;
};

/**
 * struct tor_op - state that the channels of a collective call or message share
 * @role: enum tor_role, TOR_ROLE_NONE in a slot for collectives
 * @peer: of a message
 * @pair: of a message, what its frames name its ranks by: tor_team_pair()
 * @seq: number of the op in its comm that is running here
 * @call: the call; its counts are valid while the op runs
 * @stated: what other ranks are told of it if they have called something else
 * @plan: kept until a different call is made here
 * @plans: number of plans made so far
 * @begun: input of @plan
 * @data: the plan's vector
 * @vector: if the plan has several, all of them, the first one is @data
 * @temp: its temporaries, contiguous, tor_op_temp_bytes(); or its input; NULL
 *	if it has neither
 * @input: initial contents of @data; NULL: @data holds them
 * @taken: with @input: the parts that @data holds, see input.h
 * @deadline: ns, or 0
 * @late: after the deadline, the first rank found not to have called, or
 *	TOR_NO_RANK
 * @own_lengths: only the ends of a transfer know its length: see
 *	tor_op_transfer_digest()
 * @lengths: with @own_lengths: hashes of a transfer's parts, first per
 *	receiving rank, then per sending rank; NULL: transfers have one part
 * @ordered: reductions must keep the plan's order (they are not associative)
 * @busy: channels of the plan that are not COMPLETE
 * @open: channels of the plan that are not CLOSED
 * @aborted: an error stopped a channel
 * @turn: this use of the slot
 */
struct tor_op {
	struct tor_comm *comm;
	u8 role;
	u16 pair;
	u32 peer;
	u32 seq;
	u32 digest;
	struct tor_call call;
	struct tor_wire_call stated;
	struct tor_begun begun;
	u64 plans;
	struct tor_plan plan;
	struct tor_mem *data;
	struct tor_mem *const *vector;
	struct tor_mem *temp;
	struct tor_mem *input;
	u64 *taken;
	u32 elem;
	tor_reduce_fn reduce;
	u64 deadline;
	u32 late;
	bool is_float;
	bool own_lengths;
	const u64 *lengths;
	bool ordered;
	bool aborted;
	atomic_t busy;
	atomic_t open;
	struct tor_turn turn;
};

/*
 * Payload bytes per frame of an op: no element is in two frames. Frames state
 * their index times the comm's unit, which the receiver knows before its call.
 */
static inline u32 tor_op_unit(const struct tor_op *op)
{
	return op->comm->unit & ~(op->elem - 1);
}

/*
 * The digest in the frames of a transfer to or from @rank. It includes the
 * length if only the two ends of the transfer know it.
 */
u32 tor_op_transfer_digest(const struct tor_op *op, u32 rank, bool sends, u64 bytes);

/*
 * Bytes of the plan's temporaries; 0 if it has none or has an input in their
 * place; ~0 if the number overflows.
 */
u64 tor_op_temp_bytes(const struct tor_op *op);

enum tor_chan_state { TOR_CHAN_IDLE, TOR_CHAN_RUNNING, TOR_CHAN_COMPLETE, TOR_CHAN_CLOSED };

/**
 * struct tor_waiting - a sender that was told not ready
 * @rank: the sender
 * @round, @op: of its transfer
 */
struct tor_waiting {
	u32 rank;
	u32 round;
	u32 op;
};

/**
 * struct tor_chan - one channel of one op slot
 * @seq: the op that it currently serves
 * @turn: the number of its turn in this slot
 * @marked: it is among op->turn.marked
 * @met: received bytes of a message that stays on the node
 * @held: a copy of such a message, if its sender does not wait for the receiver
 * @past: digest of the previous op, 0: there was none
 * @past_own_lengths: the frames of that op had other digests
 * @round: current round
 * @entered: the transfers of @round are set up
 * @hurried: somebody waits for the slot
 * @empty: bit per round known to send and receive nothing here, in plan number
 *	@plans of the op
 * @script: what the channel does in that plan, or NULL; @step: of it is next
 * @rx: struct tor_rx of the current round, once it is being entered
 * @early: @nearly of them with early frames, of rounds not entered
 * @tx: struct tor_tx of all rounds, not yet wholly acknowledged, in the order
 *	of rounds: @nopen of them
 * @spare_rx, @spare_tx: records to reuse
 * @nrx, @ntx: records of its own, with these
 * @early_own: those of @nrx that are in @early
 * @crcs: checksums of received data that may be sent on, or NULL
 * @local: local pieces of the round that are too long for one entry, or NULL
 * @works: tor_chan_work() was requested; it continues local pieces, kept frames
 *	or sending
 * @retry: when to retry an unavailable resource, ns; 0: nothing to retry
 * @nudge: when to ask the senders of missing frames, ns; see engine.c
 * @give_up: after the deadline, when the first @asked ranks have been asked
 *	whether they have called: when to ask more or fail, ns
 * @timed: time of the last timer, ns; no timer is requested before it, or its
 *	softirq would do work that was left for a later one
 * @armed: time last passed to tor_env_chan_timer(), 0: since then its call came
 * @waiting: senders that were told not ready
 * @forgotten: bit per rank, modulo 64, of those for which there was no place in @waiting
 * @forgotten_op: the last op of theirs
 */
struct tor_chan {
	struct tor_op *op;
	u32 index;
	u32 seq;
	u32 turn;
	bool marked;
	bool past_own_lengths;
	u32 past;
	enum tor_chan_state state;
	u32 round;
	u32 rounds;
	u64 plans;
	u64 empty;
	struct tor_script *script;
	u32 step;
	bool entered;
	bool works;
	bool hurried;
	struct tor_crcs *crcs;
	struct tor_local *local;
	struct list_head rx;
	struct list_head early;
	u32 nearly;
	struct list_head tx;
	u32 nopen;
	struct tor_rx *spare_rx;
	struct tor_tx *spare_tx;
	u32 nrx;
	u32 ntx;
	u32 early_own;
	u64 retry;
	u64 nudge;
	u64 give_up;
	u32 asked;
	u64 timed;
	u64 armed;
	u64 met;
	struct tor_kept *held;
	u32 nwaiting;
	struct tor_waiting waiting[TOR_WAITING_MAX];
	u64 forgotten;
	u32 forgotten_op;
};

/* Return the node of a rank. */
static inline u32 tor_comm_node(const struct tor_comm *comm, u32 rank)
{
	return comm->member ? comm->member[rank] : rank;
}

u32 tor_comm_rank(const struct tor_comm *comm, u32 node);

/* Return a rank as users count them: the first rank of the node of @rank. */
static inline u32 tor_comm_first(const struct tor_comm *comm, u32 rank)
{
	return comm->team && rank < comm->ranks ? tor_team_rank_in(comm->team, rank, 0) : rank;
}

/* Return the number of ranks as users count them. */
static inline u32 tor_comm_user_ranks(const struct tor_comm *comm)
{
	return comm->team ? comm->team->ranks : comm->ranks;
}

/* Return the comm whose frames carry those of @comm. */
static inline struct tor_comm *tor_comm_carrier(struct tor_comm *comm)
{
	return comm->nodes ? comm->nodes : comm;
}

static inline u32 tor_comm_place(const struct tor_comm *comm, u32 rank)
{
	return comm->nodes ? tor_team_node(comm->nodes->team, rank) : rank;
}

#define TOR_PATH_GROUP	16

/* Return how many groups of paths a comm may have. */
static inline u32 tor_path_groups(u32 ranks)
{
	return (ranks + TOR_PATH_GROUP - 1) / TOR_PATH_GROUP;
}

/* Return the path to a rank, or NULL if none was made. */
static inline struct tor_path *tor_comm_known_path(struct tor_comm *comm, u32 rank)
{
	u32 place = tor_comm_place(comm, rank);
	struct tor_path *group = READ_ONCE(tor_comm_carrier(comm)->path[place / TOR_PATH_GROUP]);

	return group ? &group[place % TOR_PATH_GROUP] : NULL;
}

/*
 * --- path.c ---
 *
 * Make the path to the rank at @place, if the comm has none; without memory,
 * return comm->nobody. Context: any. Free all when nobody uses the comm.
 */
struct tor_path *tor_comm_path_make(struct tor_comm *comm, u32 place);
void tor_comm_paths_free(struct tor_comm *comm);

/*
 * Return how long the slowest answer to frames of the comm takes, by its round
 * trips, us; 0: there were none. Context: process.
 */
u32 tor_comm_slowest(const struct tor_comm *comm);

/* Return the path to a rank; it is made if there was none. */
static inline struct tor_path *tor_comm_path(struct tor_comm *comm, u32 rank)
{
	return tor_comm_known_path(comm, rank) ?:
	       tor_comm_path_make(tor_comm_carrier(comm), tor_comm_place(comm, rank));
}

/*
 * Return the epoch that was agreed for the node of @place. The list may be replaced
 * by an equal one: RCU.
 */
static inline u32 tor_comm_agreed(const struct tor_comm *comm, u32 place)
{
	const u32 *epoch = READ_ONCE(comm->epoch);

	return READ_ONCE(epoch[place]);
}

static inline u32 tor_comm_epoch(struct tor_comm *comm, u32 rank)
{
	return tor_comm_agreed(tor_comm_carrier(comm), tor_comm_place(comm, rank));
}

/*
 * A reader that sees the failure also sees its cause: comm_fail() wrote it
 * before.
 */
static inline bool tor_comm_failed(const struct tor_comm *comm)
{
	return atomic_read_acquire(&comm->failed);
}

/*
 * After a failure: return whether the @i-th of the two calls that differ may be
 * read.
 */
static inline bool tor_comm_knows(const struct tor_comm *comm, u32 i)
{
	return comm->known & BIT(i) || atomic_read_acquire(&comm->explained) == TOR_EXPLAINED;
}

/**
 * tor_comm_admit - check that a frame is from a current incarnation of a member
 * @comm: named by the frame's tag
 * @h: header
 * @rank: out: the sender's rank
 * @why: out, on refusal: counter to increment
 *
 * Return: true if it is.
 */
bool tor_comm_admit(struct tor_comm *comm, const struct tor_hdr *h, u32 *rank,
		    enum tor_counter *why);

/**
 * tor_comm_fail - make the comm fail
 * @ctx: entry
 * @comm: comm
 * @error: negative errno for local callers; only the first failure counts
 * @rank: its cause, or TOR_NO_RANK
 * @op: number of the op concerned, or 0
 */
void tor_comm_fail(struct tor_ctx *ctx, struct tor_comm *comm, int error, u32 rank, u32 op);

/* The same, with @rank as users count them. */
void tor_comm_fail_user_rank(struct tor_ctx *ctx, struct tor_comm *comm, int error, u32 rank,
			     u32 op);

/*
 * Make the comm of the team's @nodes fail as a rank's own @comm has; others are
 * told of that failure.
 */
void tor_comm_fail_nodes(struct tor_ctx *ctx, struct tor_comm *nodes, const struct tor_comm *comm);

/*
 * The opposite direction: make @comm fail as its @nodes has, but with @error,
 * caused by @rank.
 */
void tor_comm_inherit(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_comm *nodes,
		      int error, u32 rank);

/**
 * tor_comm_mismatch - make the comm fail because @rank called another operation
 * @ctx: entry
 * @comm: comm
 * @op: number of the op
 * @here: the local call
 * @digest: of @here
 * @rank: the rank whose call differs
 * @theirs: digest of its call
 */
void tor_comm_mismatch(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
		       const struct tor_wire_call *here, u32 digest, u32 rank, u32 theirs);

/* The same if both calls were made on this node. */
void tor_comm_mismatch_here(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
			    const struct tor_wire_call *const call[2], const u32 digest[2]);

/**
 * tor_comm_fail_refusal - make the comm fail because a call was refused here
 * @ctx: entry
 * @comm: comm
 * @op: number of the op that the call would have been
 * @call: the call, with the rank that made it, as users count them
 * @error: positive, one that tor_wire_refusal() accepts
 *
 * The other ranks learn at once what they would wait for in vain.
 */
void tor_comm_fail_refusal(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
			   const struct tor_wire_call *call, u32 error);

/*
 * Send owed acknowledgements that no frame has carried for as long as from one
 * call to the next. To be called when tor_env_comm_timer() requests it, without
 * any lock.
 */
void tor_comm_pay(struct tor_ctx *ctx, struct tor_comm *comm);

/* Tell one rank that this comm failed, and why. */
void tor_comm_send_abort(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank);

/*
 * Answer @h, which is data or acknowledgements of a comm @tag that @node does
 * not have: the rank that sent it waits for one that has left.
 */
void tor_comm_answer_gone(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
			  u32 tag);

/*
 * Return the @i-th of comm->ranks to be told in repetition @round. Each rank
 * begins elsewhere, because a busy port accepts only the first few frames of a
 * burst.
 */
u32 tor_comm_to_tell(const struct tor_comm *comm, u32 round, u32 i);

/*
 * Handle an abort from @rank with payload @p, @len in linear memory. If this
 * rank's call is missing in the report of a mismatch, it sends that call to all
 * ranks.
 */
void tor_comm_abort_rx(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const void *p,
		       u32 len);

/**
 * struct tor_watch - one pass over the ranks of a comm; all zero: at its begin
 * @rank: next rank
 * @lost: an unreachable rank, or one whose node restarted
 * @restarted: there is one of the latter
 * @others: there are ranks that became unreachable after @lost_since of the comm
 * @error: error for @lost; 0: there is none
 * @when: at the end: when to repeat the pass in any case, ns; 0: not until the
 *	view changes
 */
struct tor_watch {
	u32 rank;
	u32 lost;
	bool restarted;
	bool others;
	int error;
	u64 when;
};

/**
 * tor_comm_watch - check that all ranks are reachable and have not restarted
 * @ctx: entry
 * @comm: installed
 * @routes: current routes; NULL: there are none yet, so unreachable ranks are
 *	not reported
 * @pass: this pass
 *
 * Fails the comm with -EHOSTDOWN if a node restarted or if all its neighbours
 * have lost it; with -EHOSTUNREACH if there is no way to it and the comm is
 * joined. To be called when the comm is installed, when it is joined, and
 * whenever node->view has changed, with the node's lock held.
 *
 * Return: true at the end of the pass. If false, call it again with the same
 * @pass.
 */
bool tor_comm_watch(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_routes *routes,
		    struct tor_watch *pass);

/* Return how long a rank may be unreachable without consequence, ns. */
u64 tor_watch_grace(const struct tor_node *node);

/*
 * The agreement about the comm begins: nodes that restart from now on are not those
 * that agree. Context: the node's lock.
 */
static inline void tor_comm_note_births(struct tor_comm *comm)
{
	comm->births = comm->node->view.births;
}

/* Return whether the node of @rank restarted since the agreement about the comm began. */
bool tor_comm_restarted(const struct tor_comm *comm, u32 rank);

/* Return the digest of a call, never 0. */
u32 tor_op_digest(const struct tor_call *call);

/**
 * tor_op_begin - prepare a free slot for an op
 * @op: slot; comm is set
 * @seq: number, seq % depth is the slot's
 * @call: copied, pointers stay the caller's and must outlive the op. Of a
 *	message: SEND or RECV, with root (its sender) and peer (its receiver);
 *	@op->role must match. An algorithm of AUTO is chosen, see op->plan.call.
 *	A barrier always has the count, type and operator of an allreduce of one
 *	byte
 * @why: out: static reason of a refusal
 *
 * The caller then sets data, vector (if plan.shape.vectors exceeds 1), temp
 * (tor_op_temp_bytes()) and deadline, calls tor_input_begin() if required, and
 * calls tor_turn_begin(), and tor_chan_start() on the channels that this returns:
 * first on those that the plan does not have (plan.shape.channels on), since the op
 * can finish and its slot serve another op as soon as all others are started.
 *
 * Return: 0, or a negative errno with nothing relevant changed.
 */
int tor_op_begin(struct tor_op *op, u32 seq, const struct tor_call *call, const char **why);

/**
 * tor_op_describe - prepare a free slot for an op that another op executes
 * @op: slot of a comm of one rank in a team; comm is set
 * @seq, @call, @why: as above
 *
 * Like tor_op_begin(), but without a plan: op->plan.call is the call. The op
 * of the nodes executes it: see fold.h.
 *
 * Return: 0, or -EOPNOTSUPP.
 */
int tor_op_describe(struct tor_op *op, u32 seq, const struct tor_call *call, const char **why);

/*
 * Make @op, begun, the op of the nodes that executes @called, a call of the
 * first rank here: mismatches report @called.
 */
void tor_op_stand_for(struct tor_op *op, const struct tor_op *called);

/* Return whether it is a message between ranks of this node, or to oneself. */
static inline bool tor_op_stays(const struct tor_op *op)
{
	return op->role && tor_comm_node(op->comm, op->peer) == op->comm->node->self;
}

/* Return the number of channels of an op's slot. */
static inline u32 tor_op_channels(const struct tor_op *op)
{
	return op->role ? 1 : op->comm->channels;
}

void tor_chan_init(struct tor_chan *chan, struct tor_op *op, u32 index, u32 seq);

/* Return the bytes that a channel may keep of its plan, from the second op on. */
u32 tor_chan_script_bytes(void);

/* Free everything the channel holds, records included; ends its use. */
void tor_chan_destroy(struct tor_chan *chan);

/* Start a channel of an op that was begun, after tor_turn_begin(). */
void tor_chan_start(struct tor_ctx *ctx, struct tor_chan *chan);

/**
 * tor_chan_data - handle a data frame
 * @ctx: entry
 * @chan: slot h->op % depth, channel h->where.channel, of the comm that admitted it
 * @rank: sender
 * @h: header
 * @payload: h->length bytes, in pieces; the memory may change concurrently
 * @pieces: number of them
 */
void tor_chan_data(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		   const struct tor_bytes *payload, u32 pieces);

/* Handle an acknowledgement from @rank for one transfer. */
void tor_chan_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_ack *ack);

/*
 * Somebody has waited for the slot for TOR_HURRY, or cannot wait: do not leave
 * acknowledgements to chance. Once per op is enough.
 */
void tor_chan_hurry(struct tor_chan *chan);

/* Handle the timer that was requested by tor_env_chan_timer(). */
void tor_chan_timer(struct tor_ctx *ctx, struct tor_chan *chan);

/**
 * tor_chan_work - continue work that exceeded the budget of one entry
 * @ctx: a fresh entry
 * @chan: of an op that is running or was aborted meanwhile
 *
 * To be called from a process: after tor_chan_start(), or when
 * tor_env_chan_work() requests it. Between calls locks are dropped.
 *
 * Return: true if it must be called again.
 */
bool tor_chan_work(struct tor_ctx *ctx, struct tor_chan *chan);

/*
 * Links went down somewhere and routes lead around them: resend soon the data
 * in flight on the old ones.
 */
void tor_chan_rerouted(struct tor_ctx *ctx, struct tor_chan *chan);

/* The own queue refused data frame @h to @rank. */
void tor_chan_dropped(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
		      const struct tor_hdr *h);

/* The comm failed: drop everything, complete with the comm's error. */
void tor_chan_abort(struct tor_ctx *ctx, struct tor_chan *chan);

/* Serve the next op of the slot from now on, after tor_turn_end(). */
void tor_chan_recycle(struct tor_ctx *ctx, struct tor_chan *chan);

#endif
