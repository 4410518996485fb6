/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Plans: which rank sends which part of the vector to which rank in which
 * round.
 *
 * A plan is one rank's view of the schedule of an op. It has channels. Each
 * channel owns a slice of the vector (no two channels share an element of any
 * buffer) and runs rounds 0, 1, 2, ... independently of the other channels. A
 * round is a sequence of pieces. A piece is a contiguous range that goes from
 * one rank to another, or stays on this rank (src == dst). The iterator yields
 * every piece that this rank sends or receives. All pieces of a round from one
 * rank to another form one transfer: a byte stream in the order in which the
 * pieces are yielded. The iterators of sender and receiver yield the pieces of
 * a transfer in the same order.
 *
 * All pieces of a round read their sources as they were before the round. Then
 * the copies are applied, then the reductions in the order yielded, dst = dst
 * op src. An element gets at most one copy per round. What stays on the rank is
 * executed piece by piece: none reads what one before it has written. Offsets
 * and lengths count elements. A round without any piece of this rank is empty here but still
 * counts, so that (channel, round) names the same transfer at both ends.
 *
 * Stability: the engine sends without copying, so data in flight must not
 * change before it has arrived. A family that sets no ->lag guarantees that a
 * piece which overwrites data sent in an earlier round can arrive only after
 * that data has arrived (for example, the final block of an allgather that
 * overwrites a partial sum). For a family that sets ->lag, the engine enters
 * round k only when all sends of rounds up to k - lag are acknowledged or were
 * copied, as short ones are. Within a round and the lag - 1 before it such a
 * family never overwrites data that is being sent. One that sets ->alternates
 * has a lag of 2.
 *
 * Chunks: at the end of each round a channel waits for the last frame of its
 * slowest neighbour. With several channels that take the same way, each on a
 * slice of its own, the others have data to send meanwhile. A round can
 * therefore start on those parts of the vector that are complete.
 *
 * Temporaries are as long as the vector. A family whose ranks use only a part
 * of them sets tor_plan.temp.
 *
 * If nodes have several ranks, collectives whose sums go from rank to rank are
 * planned by nodes, but in the vectors of their ranks (tor_call.team): the first
 * buffers of a node are the vectors of its seats (tor_plan_shape.vectors), the
 * first of which is data. Temporaries follow.
 *
 * If the plan has an input (tor_plan_shape.input), buffer 1 is not a temporary:
 * it initially holds the same contents as data, and is never written.
 *
 * A plan is a pure function of (request, rank): no communication, no
 * allocation, O(log p) state.
 */
#ifndef _TOR_CORE_PLAN_H
#define _TOR_CORE_PLAN_H

#include <linux/torcoll.h>

#include "core/torus.h"

struct tor_team_map;

#define TOR_MAX_CHANNELS	(2 * TOR_MAX_DIMS)
#define TOR_MAX_BUFS		U16_MAX		/* data and temporaries */
#define TOR_BUF_DATA		0
#define TOR_BUF_INPUT		1		/* if the plan has one */
/* elements of a vector; the bytes of two fit into 64 bits */
#define TOR_COUNT_MAX		(U64_MAX >> 5)

enum tor_piece_op { TOR_PIECE_COPY, TOR_PIECE_REDUCE };

/*
 * Most channels of a plan on a torus: two chunks per port, on up to three
 * dimensions.
 */
static inline u32 tor_plan_most_channels(const struct tor_torus *t)
{
	return min_t(u32, 4 * t->ndim, TOR_MAX_CHANNELS);
}

struct tor_piece {
	u32 src, dst;			/* ranks */
	u16 sbuf, dbuf;			/* TOR_BUF_DATA or a temporary */
	u8 op;				/* enum tor_piece_op */
	u64 soff, doff, n;		/* elements; n > 0 */
};

/**
 * struct tor_call - a call, as it is planned; the same on every rank
 * @torus: shape on which the members lie
 * @members: node of each rank, or NULL: rank i is node i of @torus
 * @ranks: number of ranks (torus->nodes if @members is NULL)
 * @team: the ranks above are nodes, and these are the ranks that call, among
 *	them @root; only with `ring`, see core/seats.h. Or NULL
 * @collective: enum torcoll_collective
 * @algorithm: enum torcoll_algorithm, not AUTO
 * @type: enum torcoll_type, with @redop and @bits: no plan depends on them
 * @redop: enum torcoll_redop
 * @bits: enum torcoll_bits
 * @root: rank, for broadcast and reduce; for a message, its sender
 * @peer: receiver of a message
 * @count: elements of the whole vector
 * @counts: elements of each rank's block, or NULL for an even split. In an
 *	alltoall: elements that this rank sends to each rank, a different
 *	list on every rank
 * @placed: what @members form, or NULL: they are looked at, all of them
 * @from_counts: alltoall with @counts: elements that each rank sends to this
 *	one; @count is their sum
 * @starts, @from_starts: where each block of @counts and @from_counts begins
 *	(tor_plan_starts()), or NULL: all before it are added up each time
 * @param: enum torcoll_param, 0: the default
 *
 * Pointers must stay valid as long as the plan is used.
 */
struct tor_call {
	const struct tor_torus *torus;
	const u32 *members;
	const struct tor_placement *placed;
	u32 ranks;
	const struct tor_team_map *team;
	u32 collective;
	u32 algorithm;
	u32 type;
	u32 redop;
	u32 bits;
	u32 root;
	u32 peer;
	u64 count;
	const u64 *counts;
	const u64 *from_counts;
	const u64 *starts;
	const u64 *from_starts;
	u32 param[TORCOLL_PARAM_COUNT];
};

/**
 * struct tor_placement - what a list of members forms on the torus
 * @ndim: sides of the box that they fill in order; 0: they form none
 * @extent: its sides, in the order in which ranks follow them
 */
struct tor_placement {
	u32 ndim;
	u32 extent[TOR_MAX_DIMS];
};

/**
 * tor_placement_find - find out what members form
 * @found: filled in, for the member placed of further calls
 * @call: its torus, members and ranks matter
 *
 * Takes time in proportion to the ranks. Context: any.
 *
 * Return: false if a member is not a node; @found is not valid then.
 */
bool tor_placement_find(struct tor_placement *found, const struct tor_call *call);

/* A run of elements. */
struct tor_span {
	u64 off, n;
};

/*
 * Bounds by which the engine sizes its state, and traits. Filled in by
 * tor_plan_init().
 */
struct tor_plan_shape {
	u32 channels;			/* 1 to TOR_MAX_CHANNELS */
	u32 chunks;			/* channels that take the same way */
	u32 rounds;			/* of the longest channel */
	u32 peers;			/* ranks sent to in one round of one channel, at most */
	u32 vectors;			/* buffers that are vectors: 1, or as many as seats */
	u32 bufs;			/* buffers used: 1 is data alone */
	u32 lag;			/* see above */
	bool alternates;		/* see above */
	bool input;			/* see above */
	bool agrees;	/* one bracketing per element on all ranks: same float bits */
	bool sequential;		/* bracketing of the sequential sum in the order of ranks */
};

struct tor_family;

struct tor_plan {
	struct tor_call call;	/* as given, except that a barrier becomes an allreduce */
	const struct tor_family *ops;	/* of the algorithm */
	u32 rank;
	struct tor_plan_shape shape;
	struct tor_span temp;		/* part of temporaries that this rank uses */
	struct tor_torus grid;		/* formed by the ranks; without sides of 1 */
	bool list;			/* the ranks form no grid: a ring of them */
	bool chords;			/* the ranks are all nodes of a ring with chords */
	u64 family[48];			/* the family's own state, O(log p) */
};

/* Position of the iterator in a round. Opaque; may be copied to return to it. */
struct tor_cursor {
	u32 channel, round;
	u32 transfer;			/* number of the next transfer */
	/* the current transfer, as in struct tor_piece */
	u32 src, dst;
	u16 sbuf, dbuf;
	u8 op;
	bool open;			/* inside a transfer */
	u64 family[24];			/* the family's position in the transfer */
};

/**
 * tor_plan_init - set up the plan of one rank
 * @p: filled in; no allocation, nothing to free
 * @call: the request; copied, but its pointers are kept (see struct
 *	tor_call)
 * @rank: rank whose view is planned
 * @why: set to a static one-line reason on -EOPNOTSUPP and -EINVAL (may be
 *	NULL)
 *
 * Context: any; a pure function of its arguments.
 * Return: 0; -EINVAL for an impossible request (root out of range, counts that
 * do not sum up, a parameter out of range); -EOPNOTSUPP if the algorithm does
 * not serve it (shape, collective, reserved).
 */
int tor_plan_init(struct tor_plan *p, const struct tor_call *call, u32 rank, const char **why);

/**
 * tor_plan_message - set up the plan of a message from one rank to another
 * @p: filled in
 * @call: collective SEND, with root and peer
 * @rank: root or peer
 * @why: as for tor_plan_init(), but not NULL
 *
 * There is no choice of algorithm, so no family serves it: the plan is one
 * transfer, or none between ranks of the same node. Data that stays on a node
 * is moved by tor_chan_meet().
 *
 * Context: any; a pure function of its arguments.
 * Return: 0; -EINVAL; -EOPNOTSUPP for an algorithm other than auto and direct,
 * or for parameters.
 */
int tor_plan_message(struct tor_plan *p, const struct tor_call *call, u32 rank,
		     const char **why);

/**
 * tor_plan_rounds - rounds of one channel
 * @p: plan
 * @channel: any number
 *
 * Context: any; a pure function of its arguments.
 * Return: the number; 0 if there is no such channel, its slice is empty, or the
 * plan has no other rank to exchange with.
 */
u32 tor_plan_rounds(const struct tor_plan *p, u32 channel);

/**
 * tor_plan_begin - start iterating over a round
 * @p: plan
 * @channel: below p->shape.channels
 * @round: below tor_plan_rounds()
 * @c: filled in
 */
void tor_plan_begin(const struct tor_plan *p, u32 channel, u32 round, struct tor_cursor *c);

/**
 * tor_plan_next - the next piece of the round
 * @p: plan
 * @c: cursor, advanced
 * @out: piece; valid if true is returned
 *
 * Return: true, or false at the end of the round.
 */
bool tor_plan_next(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out);

/*
 * Leave out what is left of the transfer of the last piece: the next piece is
 * one of another transfer.
 */
static inline void tor_plan_skip(struct tor_cursor *c)
{
	c->open = false;
}

/*
 * Collectives that an algorithm serves, bit 1 << enum torcoll_collective; 0 if
 * none.
 */
u32 tor_algorithm_serves(u32 algorithm);

/* Names as tools accept and print them. Return NULL resp. -EINVAL if unknown. */
const char *tor_algorithm_name(u32 algorithm);
int tor_algorithm_parse(const char *name);
const char *tor_collective_name(u32 collective);
int tor_collective_parse(const char *name);

/* The number of blocks of a call whose sums go from rank to rank. */
u32 tor_chain_blocks(const struct tor_call *call);

/* Sets of collectives. */
#define TOR_COLL(c)	(1U << TORCOLL_##c)

/* True if the collective combines elements of the ranks by an operator. */
static inline bool tor_collective_reduces(u32 collective)
{
	return (TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE) | TOR_COLL(REDUCE_SCATTER) |
		TOR_COLL(SCAN) | TOR_COLL(EXSCAN)) >> collective & 1;
}

static inline bool tor_collective_has_root(u32 collective)
{
	return (TOR_COLL(BROADCAST) | TOR_COLL(REDUCE) | TOR_COLL(GATHER) | TOR_COLL(SCATTER)) >>
	       collective & 1;
}

/* True if the vector has a block for each rank, which stays at its place. */
static inline bool tor_collective_has_blocks(u32 collective)
{
	return (TOR_COLL(REDUCE_SCATTER) | TOR_COLL(ALLGATHER) | TOR_COLL(GATHER) |
		TOR_COLL(SCATTER)) >> collective & 1;
}

/* True if the blocks of @ranks ranks together are as long as the vector. */
bool tor_plan_sums_to(const u64 *counts, u32 ranks, u64 count);

/* Fill @starts with the sum of the counts before each of @ranks. */
void tor_plan_starts(const u64 *counts, u32 ranks, u64 *starts);

/* First element and length of block @i of @n in an even split of @count. */
static inline u64 tor_block_start(u64 count, u32 n, u32 i)
{
	u64 q = tor_div64(count, n);
	u64 m = count - q * n;

	return i * q + min_t(u64, i, m);
}

static inline u64 tor_block_len(u64 count, u32 n, u32 i)
{
	u64 q = tor_div64(count, n);

	return q + (i < count - q * n);
}

#endif
