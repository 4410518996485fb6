/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine: walks plans, drives transfers and reductions.
 *
 * A comm has a fixed number of op slots; op number s uses slot s % depth, so that a frame finds its
 * place by arithmetic and nothing is allocated per op. A slot has a channel for every channel
 * that a plan on this comm can have, and each channel is a state machine of its own:
 *
 *	IDLE      not submitted here; early frames are kept
 *	RUNNING   walking through the rounds
 *	COMPLETE  its part of the result is there and the op's memory is no longer needed
 *	CLOSED    everything that was sent is acknowledged
 *
 * The op is done when all its channels are COMPLETE, and its slot is free when all are CLOSED.
 *
 * Messages between two ranks are ops as well, numbered for each pair of sender and receiver by itself, in slots of their
 * own with one channel each. The two count what they call for that pair: nothing is agreed upon before the first message,
 * and neither a collective nor a message of another pair, be it the way back, is waited for. Frames tell them from
 * collectives by their channel: TORCOLL_CHANNEL_SEND where the message's sender sends the frame, TORCOLL_CHANNEL_RECV
 * where its receiver does. All else is the comm's: its tag, paths, failure. See pair.c.
 *
 * Serialisation: the surroundings call every tor_chan_ function with that channel's lock held and
 * bottom halves off. Channels share only op->busy and op->open (atomic), the comm's paths (hints),
 * its count of kept bytes (atomic) and its error (set once by compare and exchange).
 */
#ifndef _TOR_CORE_ENGINE_H
#define _TOR_CORE_ENGINE_H

#include "core/choose/choose.h"
#include "core/env.h"
#include "core/link/node.h"
#include "core/plan/plan.h"
#include "core/reduce/reduce.h"
#include "core/local/team.h"
#include "core/wire/wire.h"
#include "core/transfer/xfer.h"

#define TOR_KEPT_HIGH		(1 << 20)	/* bytes of early frames per comm: beyond, senders are to wait */
#define TOR_KEPT_MAX		(4 << 20)	/* what is on its way then is kept as well, up to here */
#define TOR_DUE_MAX		8		/* acknowledgements that a channel owes */
#define TOR_MEASURE_EVERY	16		/* ops: their round trips are measured */
#define TOR_TOLD_MAX		8		/* senders remembered that were told to wait */
#define TOR_EMPTY_MAX		64	/* rounds of which it is remembered that they are empty */
#define TOR_FRAME_RANGES	16		/* ranges per frame that are sent without a copy */
#define TOR_RETRY		(NSEC_PER_MSEC / 10)	/* FPU or memory was not to be had */
#define TOR_NUDGE		(1 * (s64)NSEC_PER_SEC)	/* how long nothing may come before we ask */
#define TOR_LATE_WAIT		(50 * NSEC_PER_MSEC)	/* for answers to who is late */
#define TOR_LATE_PACE		(100 * NSEC_PER_USEC)	/* from one tor_budget.frames of questions to the next */
#define TOR_TELLINGS		3		/* of a failure, to everyone, in case frames are lost */
#define TOR_TELL_AGAIN		(50 * NSEC_PER_MSEC)
#define TOR_NO_RANK		(~0U)
#define TOR_WATCH_GRACE		(400 * NSEC_PER_MSEC)	/* see tor_comm_watch() */

/* Is it known what the two ranks that disagree have called? */
enum tor_explained {
	TOR_EXPLAINED_HALF,		/* of one of them, with -EPROTO */
	TOR_EXPLAINING,			/* the other one's is being written down */
	TOR_EXPLAINED,
};

/**
 * struct tor_comm - core's part of a communicator
 *
 * Where nodes have several ranks of a comm (see team.h), those of this struct are its nodes, as everywhere where frames are
 * sent. What is said of a failure, here and to others, is about the ranks of users in any case: by @team.
 *
 * @node: where it is
 * @tag: in every frame of it
 * @lineage: what it has in common with the comm that it was shrunk from
 * @ranks: number of ranks
 * @rank: own rank
 * @unit: payload bytes per frame, the same on all ranks
 * @depth: op slots
 * @channels: channels per slot
 * @member: node of each rank, or NULL: rank i is node i
 * @order: ranks sorted by node; only with @member
 * @team: who sits where, or NULL: one rank per node
 * @nodes: of one of a node's ranks: the comm of its nodes, whose frames its messages are in, by tor_comm_place(); epochs and paths
 *	are there, and it fails when ranks have called different things
 * @speaker: with @team, the own rank that others are told of, if it is not known better
 * @chooser: what auto goes by, see auto.h, or NULL
 * @epoch: of each rank's node, as agreed when the comm was created
 * @seen: what this node's view said of it then, of the first @watched ranks
 * @joined: its creation is over here; before that, who cannot be reached is waited for like who has not called
 * @lost_since: when a rank was first found out of reach, ns; 0: all can be reached
 * @path: by rank
 * @kept: bytes in early frames
 * @claimed: set by the first failure; @failed: set when that is written down
 * @error: then, the negative errno; @error_rank and @error_node: who caused it, or ~0
 * @digest: with -EPROTO: of what two ranks called that differ; @call: what that is, as far as is known
 * @explained: enum tor_explained
 * @known: bits of the calls that were known when the comm failed
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
	const struct tor_team_map *team;
	struct tor_comm *nodes;
	u32 speaker;
	const struct tor_chooser *chooser;
	u32 *epoch;
	u32 *seen;
	u32 watched;
	bool joined;
	u64 lost_since;
	struct tor_path *path;
	atomic_t kept;
	atomic_t claimed;
	atomic_t failed;
	int error;
	u32 error_rank;
	u32 error_node;
	u32 error_op;
	u32 digest[2];
	struct tor_call call[2];
	atomic_t explained;
	u32 known;
};

/**
 * struct tor_begun - what an op's plan and digest were made of
 * @valid: they may serve the next op of the slot, if that calls the same
 * @called: the request, as it is carried out; counts are NULL then
 * @type, @redop, @bits: likewise
 * @chooser: what auto went by, after so many @changes
 * @digest: of all of that, and of what auto chose
 */
struct tor_begun {
	bool valid;
	u32 type;
	u32 redop;
	u32 bits;
	u32 changes;
	u32 digest;
	const struct tor_chooser *chooser;
	struct tor_plan_req called;
};

/**
 * struct tor_op - one collective call, or message, as far as its channels share it
 * @role: of a slot for messages: what they are here, TORCOLL_CHANNEL_SEND or _RECV; 0: collectives. @peer: with whom;
 *	@pair: what the number of the message's only round is, see tor_team_pair()
 * @seq: number of the op in its comm that is running here
 * @collective: enum torcoll_collective
 * @call: what was called; @past: before that, in this slot
 * @plan: made when something else was called here last, @plans of them so far; @begun: what of
 * @data: the plan's vector
 * @temp: its temporaries, one behind the other: tor_op_temp_bytes(); or its input; NULL if it has neither
 * @input: what @data is to hold at first; NULL: it does. @taken: of which it does, see input.h
 * @deadline: ns, or 0; @late: when it has passed, the first rank found not to have called, or TOR_NO_RANK
 * @own_lengths: how long a transfer is, only its ends know: see tor_op_transfer_digest(); @lengths: and what it
 *	consists of, by hashes of what goes to each rank, then of what comes; NULL: of one part
 * @ordered: reductions must keep the plan's order (they are not associative)
 * @busy: channels of the plan that are not COMPLETE; @open: that are not CLOSED
 * @aborted: some channel was stopped by an error
 */
struct tor_op {
	struct tor_comm *comm;
	u8 role;
	u16 pair;
	u32 peer;
	u32 seq;
	u32 digest;
	u32 collective;
	struct tor_call call;
	struct tor_call past;
	struct tor_begun begun;
	u64 plans;
	struct tor_plan plan;
	struct tor_mem *data;
	struct tor_mem *temp;
	struct tor_mem *input;
	u64 *taken;
	u32 type;
	u32 redop;
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
};

/*
 * What a transfer's frames say that was called, to or from @rank. Where only the two ends of a transfer know how long it is, that
 * is in it.
 */
u32 tor_op_transfer_digest(const struct tor_op *op, u32 rank, bool sends, u64 bytes);

/* Bytes of the plan's temporaries; 0: none, or an input in their place. ~0: too many to count. */
u64 tor_op_temp_bytes(const struct tor_op *op);

enum tor_chan_state { TOR_CHAN_IDLE, TOR_CHAN_RUNNING, TOR_CHAN_COMPLETE, TOR_CHAN_CLOSED };

/**
 * struct tor_chan - one channel of one op slot
 * @seq: the op that it serves now
 * @met: bytes of a message that stays on the node that have been received
 * @held: all of one, where its sender does not wait for the receiver to call
 * @past: digest of the op before, 0: there was none; @past_own_lengths: its frames had others
 * @round: current round; @entered: its transfers are set up
 * @empty: by bit, rounds in which nothing is sent or received here, as far as that is known of plan number @plans of the op
 * @rx: struct tor_rx of the current round, and early ones of later rounds
 * @tx: struct tor_tx of all rounds, not yet wholly acknowledged
 * @spare_rx, @spare_tx: records to reuse
 * @crcs: checksums of what was received and may be sent on, or NULL
 * @local: pieces of the round that stay here, and are too long for one entry, or NULL; @works: tor_chan_work() was asked for, and
 *	goes on with these, with frames that were kept, or with sending
 * @retry: when to try again what could not be had, ns; 0: nothing
 * @nudge: when to ask those whose frames are missing, ns; see engine.c
 * @give_up: the deadline has passed, the first @asked ranks were asked whether they have called; when to ask more or fail, ns
 * @timed: when the timer came last, ns; it is not asked for before that, or its softirq would go on with what was left for another
 * @armed: what was last asked of tor_env_chan_timer()
 * @due: acknowledgements owed, of this op or earlier ones, each until a time in ns; @due_at: the first of these
 * @told: senders that were told not ready
 */
struct tor_chan {
	struct tor_op *op;
	u32 index;
	u32 seq;
	u32 past;
	bool past_own_lengths;
	enum tor_chan_state state;
	u32 round;
	u32 rounds;
	u64 plans;
	u64 empty;
	bool entered;
	bool works;
	struct tor_crcs *crcs;
	struct tor_local *local;
	struct list_head rx;
	struct list_head tx;
	struct list_head spare_rx;
	struct list_head spare_tx;
	u64 retry;
	u64 nudge;
	u64 give_up;
	u32 asked;
	u64 timed;
	u64 armed;
	u64 due_at;
	u32 ndue;
	struct {
		u32 rank;
		u64 due;
		u64 until;
	} due[TOR_DUE_MAX];
	u64 met;
	struct tor_kept *held;
	u32 ntold;
	struct {
		u32 rank;
		u32 round;
		u32 op;
	} told[TOR_TOLD_MAX];
};

/* The node of a rank, and the rank on a node or TOR_NO_RANK. */
static inline u32 tor_comm_node(const struct tor_comm *comm, u32 rank)
{
	return comm->member ? comm->member[rank] : rank;
}

u32 tor_comm_rank(const struct tor_comm *comm, u32 node);

/* The rank that users know: of a node with several, the first. */
static inline u32 tor_comm_first(const struct tor_comm *comm, u32 rank)
{
	return comm->team && rank < comm->ranks ? tor_team_rank_in(comm->team, rank, 0) : rank;
}

/* How many ranks there are, as users count them. */
static inline u32 tor_comm_users(const struct tor_comm *comm)
{
	return comm->team ? comm->team->ranks : comm->ranks;
}

/* Whose frames are those of @comm, and what a rank's node is called there. */
static inline struct tor_comm *tor_comm_carrier(struct tor_comm *comm)
{
	return comm->nodes ? comm->nodes : comm;
}

static inline u32 tor_comm_place(const struct tor_comm *comm, u32 rank)
{
	return comm->nodes ? tor_team_node(comm->nodes->team, rank) : rank;
}

static inline struct tor_path *tor_comm_path(struct tor_comm *comm, u32 rank)
{
	return &tor_comm_carrier(comm)->path[tor_comm_place(comm, rank)];
}

static inline u32 tor_comm_epoch(struct tor_comm *comm, u32 rank)
{
	return READ_ONCE(tor_comm_carrier(comm)->epoch[tor_comm_place(comm, rank)]);
}

/* Whoever sees the failure sees its cause, which fail() has written before. */
static inline bool tor_comm_failed(const struct tor_comm *comm)
{
	return atomic_read_acquire(&comm->failed);
}

/* After that: may the @i-th of the two calls that differ be read? */
static inline bool tor_comm_knows(const struct tor_comm *comm, u32 i)
{
	return comm->known & BIT(i) || atomic_read_acquire(&comm->explained) == TOR_EXPLAINED;
}

/**
 * tor_comm_admit - is a frame from a member, in its present incarnation?
 * @comm: named by the frame's tag
 * @h: header
 * @rank: out: the sender's rank
 * @why: out, on refusal: what to count
 */
bool tor_comm_admit(struct tor_comm *comm, const struct tor_hdr *h, u32 *rank,
		    enum tor_counter *why);

/**
 * tor_comm_fail - the comm is over
 * @ctx: entry
 * @comm: comm
 * @error: negative errno that callers here get; only the first failure counts
 * @rank: who caused it, or TOR_NO_RANK
 * @op: at which op, or 0
 */
void tor_comm_fail(struct tor_ctx *ctx, struct tor_comm *comm, int error, u32 rank, u32 op);

/* The same, for a @rank that is a user's. */
void tor_comm_fail_by(struct tor_ctx *ctx, struct tor_comm *comm, int error, u32 rank, u32 op);

/* A rank's own comm has failed, as that of its team's @nodes is to: what others are told. */
void tor_comm_fail_nodes(struct tor_ctx *ctx, struct tor_comm *nodes, const struct tor_comm *comm);

/* The other way round: @comm fails as its @nodes' has, but with @error, by @rank. */
void tor_comm_inherit(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_comm *nodes,
		      int error, u32 rank);

/**
 * tor_comm_mismatch - @rank is at another op than we are: the comm is over
 * @ctx: entry
 * @comm: comm
 * @op: number of the op
 * @here: what was called here; @digest: of it
 * @rank: who called something else; @theirs: digest of that
 */
void tor_comm_mismatch(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
		       const struct tor_call *here, u32 digest, u32 rank, u32 theirs);

/* The same, where both calls were made here. */
void tor_comm_mismatch_here(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
			    const struct tor_call *const call[2], const u32 digest[2]);

/* Tell one rank that, and why, this comm failed. */
void tor_comm_send_abort(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank);

/*
 * Answer @h, data or acknowledgements of a comm @tag that @node does not have: the rank that sent it waits for one
 * that has left.
 */
void tor_comm_refuse(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h, u32 tag);

/*
 * Who is the @i-th of comm->ranks to be told so in telling @round. Each begins elsewhere: a busy port takes only the
 * first few frames of a burst.
 */
u32 tor_comm_told(const struct tor_comm *comm, u32 round, u32 i);

/*
 * An abort from @rank; @p, @len: its payload, in linear memory. If a mismatch is to be explained with what this rank
 * called, it tells everyone.
 */
void tor_comm_abort_rx(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const void *p,
		       u32 len);

/**
 * struct tor_watch - one pass over the ranks of a comm; all zero: it begins
 * @rank: where it has come to
 * @lost: a rank that there is no way to; @error: the error for that, 0: there is none
 * @when: at the end: when to look again whatever happens, ns; 0: not until the view changes
 */
struct tor_watch {
	u32 rank;
	u32 lost;
	int error;
	u64 when;
};

/**
 * tor_comm_watch - can all ranks be reached, and are they still who they were?
 * @ctx: entry
 * @comm: installed
 * @routes: by what is known now; NULL: there are none yet, so nothing is said of ranks that cannot be reached
 * @pass: this one
 *
 * Fails the comm with -EHOSTDOWN if a node restarted, or if all its neighbours have lost it; with -EHOSTUNREACH if
 * there is no way to it, and the comm is joined. Call it once the comm is installed, once it is joined, and whenever
 * node->view has changed, with the node's lock held.
 *
 * Return: are these all ranks? If not, call it again with the same @pass.
 */
bool tor_comm_watch(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_routes *routes,
		    struct tor_watch *pass);

/* How long a rank may be out of reach before that counts, ns. */
u64 tor_watch_grace(const struct tor_node *node);

/* Has the node of @rank begun a new life since the comm was created? */
bool tor_comm_restarted(const struct tor_comm *comm, u32 rank);

/* The digest of what was called, never 0. */
u32 tor_op_digest(const struct tor_plan_req *req, u32 type, u32 redop, u32 bits);

/**
 * tor_op_begin - prepare a free slot for an op
 * @op: slot; comm is set
 * @seq: number, seq % depth is the slot's
 * @req: request; copied, pointers stay the caller's and must outlive the op. Of a message: SEND, or RECV, with root, who
 *	sends it, and peer, who receives it, and @op->role accordingly
 * @type, @redop, @bits: enum torcoll_*; an algorithm of AUTO is chosen, see op->plan.req. A barrier's count, type
 *	and operator are those of an allreduce of one byte, whatever is given
 * @why: out: static reason of a refusal
 *
 * The caller then sets data, temp (plan.shape.bufs - 1 temporaries) and deadline, perhaps calls tor_input_begin(), and
 * calls tor_chan_start() on each channel: first on those that the plan does not have (plan.shape.channels on), since the op can be
 * over, and its slot serve another, as soon as all others were started.
 *
 * Return: 0, or a negative errno with nothing changed that matters.
 */
int tor_op_begin(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		 u32 bits, const char **why);

/**
 * tor_op_describe - prepare a free slot for an op whose plan is another's
 * @op: slot of a comm of one rank in a team; comm is set
 * @seq, @req, @type, @redop, @bits, @why: as above
 *
 * All is as by tor_op_begin(), but there is no plan: op->plan.req has what was called. What carries it out is the op of
 * the nodes: see fold.h.
 *
 * Return: 0, or -EOPNOTSUPP.
 */
int tor_op_describe(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		    u32 bits, const char **why);

/* @op, begun, is that of the nodes for what @called describes, by the first rank here: mismatches are about that. */
void tor_op_stand_for(struct tor_op *op, const struct tor_op *called);

/* Is it a message between ranks of this node, or to oneself? */
static inline bool tor_op_stays(const struct tor_op *op)
{
	return op->role && tor_comm_node(op->comm, op->peer) == op->comm->node->self;
}

/* Channels of an op's slot. */
static inline u32 tor_op_channels(const struct tor_op *op)
{
	return op->role ? 1 : op->comm->channels;
}

void tor_chan_init(struct tor_chan *chan, struct tor_op *op, u32 index, u32 seq);

/* Free all that the channel holds, records included; the channel is not used afterwards. */
void tor_chan_destroy(struct tor_chan *chan);

/* The op was begun: run. */
void tor_chan_start(struct tor_ctx *ctx, struct tor_chan *chan);

/**
 * tor_chan_data - a data frame
 * @ctx: entry
 * @chan: slot h->op % depth, channel h->channel, of the comm that admitted it
 * @rank: sender
 * @h: header
 * @payload: h->length bytes, in pieces; may be memory that changes under our hands
 * @pieces: number of them
 */
void tor_chan_data(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_hdr *h,
		   const struct tor_bytes *payload, u32 pieces);

/* @rank says of one transfer what it has. */
void tor_chan_ack(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, const struct tor_ack *ack);

/* The time asked for by tor_env_chan_timer() has come. */
void tor_chan_timer(struct tor_ctx *ctx, struct tor_chan *chan);

/**
 * tor_chan_work - go on with what was too much for one entry
 * @ctx: a fresh entry
 * @chan: of an op that runs or, if it was aborted meanwhile, ran
 *
 * To be called from a process: after tor_chan_start(), or when tor_env_chan_work() asks for it. Between calls locks are dropped.
 *
 * Return: call it again?
 */
bool tor_chan_work(struct tor_ctx *ctx, struct tor_chan *chan);

/* Links went down somewhere, routes lead around them: what was under way there is sent again soon. */
void tor_chan_rerouted(struct tor_ctx *ctx, struct tor_chan *chan);

/* The own queue refused data frame @h to @rank. */
void tor_chan_dropped(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank,
		      const struct tor_hdr *h);

/* The comm failed: give everything up, complete with the comm's error. */
void tor_chan_abort(struct tor_ctx *ctx, struct tor_chan *chan);

/* The slot is free (tor_env_op_retired()): serve op @seq from now on. */
void tor_chan_recycle(struct tor_ctx *ctx, struct tor_chan *chan, u32 seq);

/* The role that our end of a message has, if the other's is @role. */
static inline u8 tor_role_opposite(u8 role)
{
	return role == TORCOLL_CHANNEL_SEND ? TORCOLL_CHANNEL_RECV : TORCOLL_CHANNEL_SEND;
}

static inline bool tor_channel_is_role(u32 channel)
{
	return channel == TORCOLL_CHANNEL_SEND || channel == TORCOLL_CHANNEL_RECV;
}

/**
 * tor_pair_refuse - a message has come from a rank that nothing was ever received from
 * @ctx: entry
 * @comm: comm
 * @rank: sender
 * @h: data frame with TORCOLL_CHANNEL_SEND
 *
 * There are no slots yet that could keep it. When there are, tor_pair_invite() has what was refused come again.
 */
void tor_pair_refuse(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const struct tor_hdr *h);

/* Slots for messages from @chan's peer were made: its sender may go on, if it was refused before. For each channel. */
void tor_pair_invite(struct tor_ctx *ctx, struct tor_chan *chan);

/* @ack is about a message of a pair that has no slots: whoever asks whether it was called here hears that it was not. */
void tor_pair_absent(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const struct tor_ack *ack);

/**
 * tor_chan_meet - bring over a message between ranks of a node, or to oneself
 * @ctx: entry
 * @chan: of one end of the message
 * @other: the channel, at the other end, of the slot of the same number
 *
 * Both channels are locked. To be called after the start of either end, again and again as long as it returns true;
 * between calls locks may be dropped.
 *
 * Return: is there more to do?
 */
bool tor_chan_meet(struct tor_ctx *ctx, struct tor_chan *chan, struct tor_chan *other);

/*
 * @chan is of a message that stays on the node, and has just met nobody. As with one to another node, its sender does not wait for
 * the receiver, if it is short and there is room to keep it.
 */
void tor_chan_hold(struct tor_ctx *ctx, struct tor_chan *chan);

#endif
