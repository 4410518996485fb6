/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Folds: how a call of all ranks becomes a call of all nodes.
 *
 * Every rank has a vector, as if it were alone on its node: of count elements, its own input in its place, and at the
 * end its result (see plan.h). Before the nodes' call, moves bring what the ranks of a node contribute into the
 * vector that their node works in; after it, others bring results to all. A move is a run of elements, copied or reduced.
 *
 * What the nodes call, and in which vector:
 *
 *	most collectives    the same one, by nodes: a node's block is those of its ranks. In the vector of one of its
 *	                    seats, the leader: that of the root where the root has the data, else the first one.
 *	                    Where the blocks of a node are apart there: in a vector of its own, with blocks by nodes
 *	scan, exscan        an exscan of the nodes' totals, in a vector of the node's own: what comes before its ranks.
 *	                    Only where ranks of a node follow one another
 *	a reduction whose   an allgather, a gather, or an alltoall of contributions, which every node that needs a
 *	order counts        result then adds up in the order of ranks. Only where there are several nodes
 *	alltoall, halo      an alltoall, between two vectors of the node's own. What stays on the node is moved at once
 *
 * A halo is that of a ring of the ranks: where several are on a node, they form no torus that cables know.
 *
 * The nodes' call depends on nothing that only one node knows, but for an alltoall's counts.
 */
#ifndef _TOR_CORE_FOLD_H
#define _TOR_CORE_FOLD_H

#include "core/plan/plan.h"
#include "core/local/team.h"

enum tor_fold_kind {
	TOR_FOLD_SHARED,
	TOR_FOLD_BLOCKS,
	TOR_FOLD_SCAN,
	TOR_FOLD_ORDERED,
	TOR_FOLD_EXCHANGE,
	TOR_FOLD_HALO,
};

/**
 * struct tor_fold - one node's view of a call
 * @map: who sits where
 * @node: own place among nodes; @seats: ranks there
 * @called: what each of them has called; they differ in an alltoall's counts alone
 * @req: what the nodes call
 * @leader: seat whose vector that works in; with @own: none
 * @own: elements of the node's own vector; @input: and of its input
 * @has_own: they are what the nodes' call works in
 * @blocks: elements of the blocks of the node's ranks, where contributions to them are exchanged
 * @words: memory for lists of counts, and for how far moves have come
 */
struct tor_fold {
	const struct tor_team_map *map;
	u32 node;
	u32 seats;
	const struct tor_plan_req **called;
	enum tor_fold_kind kind;
	struct tor_plan_req req;
	u32 leader;
	bool has_own;
	u64 own;
	u64 input;
	u64 blocks;
	u64 *words;
};

/* Words of memory that a fold may need: two lists of counts, two of lengths, and places. */
#define TOR_FOLD_WORDS(nodes, seats)	(5 * (nodes) + (seats))

/* What a move reads and writes: a seat's vector, or the node's own; or their input. */
#define TOR_FOLD_OWN	(~0U)

struct tor_move {
	u32 from, to;			/* seat, or TOR_FOLD_OWN */
	bool from_input, to_input;	/* its input instead */
	bool reduce;			/* to = to op from; else a copy */
	u64 soff, doff, n;		/* elements; n > 0 */
};

/* Where a list of moves stands. Opaque; starts from zero. */
struct tor_fold_cursor {
	u32 i, j;
	u32 rank;		/* ... and @off: where its block begins */
	u64 off, at;
};

/**
 * tor_fold_check - can this be called by nodes with several ranks?
 * @f: map, node and seats are set; filled for what depends on no other rank of the node
 * @called: by one rank
 * @ordered: its reduction must be the sequential sum
 * @torus, @member: of the nodes
 * @words: TOR_FOLD_WORDS(), to stay as long as the fold
 * @why: out: static reason of a refusal
 *
 * What is in f->req then can be tried on a plan; only an alltoall's counts are missing. Every rank that calls the same gets
 * the same answer.
 *
 * Return: 0, or -EINVAL.
 */
int tor_fold_check(struct tor_fold *f, const struct tor_plan_req *called, bool ordered,
		   const struct tor_torus *torus, const u32 *member, u64 *words, const char **why);

/* All ranks of the node have called what was checked, and @f->called is set: complete @f->req. */
void tor_fold_init(struct tor_fold *f);

/**
 * tor_fold_lengths - what two nodes must agree on in an alltoall, besides how much goes between them
 * @f: complete
 *
 * Return: hashes of what goes from each rank here to each one on another node, by node, and behind them of what comes; NULL if
 * there is nothing to agree on.
 */
const u64 *tor_fold_lengths(const struct tor_fold *f);

/* Do all pairs of ranks of this node agree on what goes between them? If not, two seats that do not. */
bool tor_fold_agrees(const struct tor_fold *f, u32 *sender, u32 *receiver);

/* The next move before the nodes' call, or after it. Return: false: there is none left. */
bool tor_fold_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);
bool tor_fold_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);

#endif
