/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Plans: who sends which part of the vector to whom, when.
 *
 * A plan is one rank's view of an op's schedule. It has channels; each channel owns a slice of the
 * vector (no two channels share an element of any buffer) and runs rounds 0, 1, 2, ... on its own.
 * A round is a sequence of pieces, each a contiguous range that goes from a rank to a rank, or
 * stays here (src == dst). The iterator yields every piece in which this rank takes part, as sender
 * or receiver. All pieces of a round from one rank to another form one transfer: a byte stream in
 * the order in which the pieces are yielded, and the sender's and the receiver's iterators yield
 * the pieces of a transfer in the same order.
 *
 * All pieces of a round read their sources as they stood before the round; then the copies are
 * applied, then the reductions in the order yielded, dst = dst op src. An element gets at most one
 * copy per round. Offsets and lengths count elements. A round without any piece of this rank is
 * empty here, but still counts, so that (channel, round) names the same transfer on both sides.
 *
 * Stability: the engine sends zero-copy, so what is sent must not change before it has arrived.
 * A family that is not ->alternates promises that a piece which overwrites what an earlier round sent
 * can only arrive after those sends did (the final block of an allgather that overwrites a partial
 * sum). For a family that ->alternates, the engine enters round k only when all sends of rounds up to
 * k - 2 are acknowledged, or were copied, which short ones are; within a round and its predecessor such a family never overwrites what is sent.
 *
 * Chunks: a channel waits at the end of each round, for the last frame of the slowest neighbour. Where there are several channels
 * that go the same way, on slices of their own, some have something to send meanwhile; so a round may start on those parts
 * of the vector that are complete.
 *
 * Temporaries are as long as the vector. A family whose ranks use but a part of them says which, in tor_plan.temp.
 *
 * Where the plan has an input (tor_plan_shape.input), buffer 1 is no temporary: it holds at first what data holds,
 * and nothing is written there.
 *
 * A plan is a pure function of (request, rank): no communication, no allocation, O(log p) state.
 */
#ifndef _TOR_CORE_PLAN_H
#define _TOR_CORE_PLAN_H

#include <linux/torcoll.h>

#include "core/torus.h"

#define TOR_MAX_CHANNELS	(2 * TOR_MAX_DIMS)
#define TOR_MAX_BUFS		U16_MAX		/* data and temporaries */
#define TOR_BUF_DATA		0
#define TOR_BUF_INPUT		1		/* if the plan has one */
#define TOR_COUNT_MAX		(U64_MAX >> 5)	/* elements of a vector: the bytes of two are a number of 64 bits */

enum tor_piece_op { TOR_PIECE_COPY, TOR_PIECE_REDUCE };

/* Channels that plans on a torus have at most: two chunks by each port, on up to three dimensions. */
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
 * struct tor_plan_req - what is asked for; the same on every rank
 * @torus: shape that the members lie on
 * @members: node of each rank, or NULL: rank i is node i of @torus
 * @ranks: number of ranks (torus->nodes if @members is NULL)
 * @collective: enum torcoll_collective
 * @algorithm: enum torcoll_algorithm, not AUTO
 * @root: rank, for broadcast and reduce; who sends a message
 * @peer: who receives it
 * @count: elements of the whole vector
 * @counts: elements of each rank's block, or NULL: an even split. In an alltoall: of what goes to each rank from
 *	this one, which is another list on every rank
 * @from_counts: alltoall with @counts: of what comes from each; @count is their sum
 * @param: enum torcoll_param, 0: the default
 *
 * Pointers must stay valid as long as the plan is used.
 */
struct tor_plan_req {
	const struct tor_torus *torus;
	const u32 *members;
	u32 ranks;
	u32 collective;
	u32 algorithm;
	u32 root;
	u32 peer;
	u64 count;
	const u64 *counts;
	const u64 *from_counts;
	u32 param[TORCOLL_PARAM_COUNT];
};

/* A run of elements. */
struct tor_span {
	u64 off, n;
};

/* Bounds that the engine sizes its state by, and traits. Filled by tor_plan_init(). */
struct tor_plan_shape {
	u32 channels;			/* 1 to TOR_MAX_CHANNELS */
	u32 chunks;			/* of them, that go the same way */
	u32 rounds;			/* of the longest channel */
	u32 peers;			/* ranks sent to in one round of one channel, at most */
	u32 bufs;			/* buffers used: 1 is data alone */
	bool alternates;		/* see above */
	bool input;			/* see above */
	bool agrees;			/* every element has one bracket everywhere: same float bits */
	bool sequential;		/* that of the sequential sum in the order of ranks */
};

struct tor_family;

struct tor_plan {
	struct tor_plan_req req;	/* as given, but that a barrier is an allreduce */
	const struct tor_family *ops;	/* of the algorithm */
	u32 rank;
	struct tor_plan_shape shape;
	struct tor_span temp;		/* elements of temporaries that this rank uses */
	struct tor_torus grid;		/* that the ranks form; without sides of 1 */
	bool list;			/* they form none: a ring of them */
	u64 family[48];			/* the family's own state, O(log p) */
};

/* Where the iterator stands in a round. Opaque; may be copied to return to a place. */
struct tor_cursor {
	u32 channel, round;
	u32 transfer;			/* the next one's number */
	/* of the transfer, as in struct tor_piece */
	u32 src, dst;
	u16 sbuf, dbuf;
	u8 op;
	bool open;			/* within a transfer */
	u64 family[24];			/* where the family stands in the transfer */
};

/**
 * tor_plan_init - make the plan of one rank
 * @p: to fill; no allocation, nothing to free
 * @req: the request, copied; see there for pointers
 * @rank: whose view
 * @why: on -EOPNOTSUPP and -EINVAL a static one-line reason (may be NULL)
 *
 * Return: 0; -EINVAL for an impossible request (root out of range, counts that do not sum up, a parameter out of
 * range); -EOPNOTSUPP if the algorithm does not serve it (shape, collective, reserved).
 */
int tor_plan_init(struct tor_plan *p, const struct tor_plan_req *req, u32 rank, const char **why);

/**
 * tor_plan_message - the plan of a message from one rank to another, at one of them
 * @p: to fill
 * @req: collective SEND, with root and peer
 * @rank: root or peer
 * @why: as above
 *
 * There is nothing to choose, so no algorithm has it: one transfer, or, between ranks of a node, none. What stays there is
 * brought over by tor_chan_meet().
 *
 * Return: 0; -EINVAL; -EOPNOTSUPP for an algorithm other than auto and direct, or parameters.
 */
int tor_plan_message(struct tor_plan *p, const struct tor_plan_req *req, u32 rank, const char **why);

/* Rounds of one channel; 0 where its slice is empty or there is nobody to talk to. */
u32 tor_plan_rounds(const struct tor_plan *p, u32 channel);

/**
 * tor_plan_begin - start iterating over a round
 * @p: plan
 * @channel: below p->shape.channels
 * @round: below tor_plan_rounds()
 * @c: to fill
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

/* The collectives that an algorithm serves, bit 1 << enum torcoll_collective: 0 if none (yet). */
u32 tor_algorithm_serves(u32 algorithm);

/* Names as tools accept and print them; NULL resp. -EINVAL if unknown. */
const char *tor_algorithm_name(u32 algorithm);
int tor_algorithm_parse(const char *name);
const char *tor_collective_name(u32 collective);
int tor_collective_parse(const char *name);

/* Sets of collectives. */
#define TOR_COLL(c)	(1U << TORCOLL_##c)

/* Does it combine the ranks' elements by an operator? */
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

/* Has the vector a block for each rank, that stays where it is? */
static inline bool tor_collective_has_blocks(u32 collective)
{
	return (TOR_COLL(REDUCE_SCATTER) | TOR_COLL(ALLGATHER) | TOR_COLL(GATHER) |
		TOR_COLL(SCATTER)) >> collective & 1;
}

/* Are the blocks of @ranks ranks, together, as long as the vector? */
bool tor_plan_sums_to(const u64 *counts, u32 ranks, u64 count);

/* The first element and the length of block @i of @n in an even split of @count. */
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
