/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Folds: how a call of all ranks becomes a call of all nodes.
 *
 * Every rank has a vector as if it were alone on its node: of count elements,
 * with its own input at its place, and at the end its result (see plan.h).
 * Before the nodes' call, moves bring the contributions of a node's ranks into
 * the vector in which their node works. After it, other moves bring the results
 * to all ranks. A move is a run of elements, copied or reduced.
 *
 * What the nodes call, and in which vector:
 *
 *	most collectives    the same one, by nodes: a node's block consists of those
 *	                    of its ranks. In the vector of one of its seats, the
 *	                    leader: the seat of the root if the root has the data,
 *	                    else the first. Where the blocks of a node are not
 *	                    adjacent: in a vector of the node, with blocks by nodes
 *	scan, exscan        an exscan of the nodes' totals, in a vector of the node:
 *	                    what precedes its ranks. Only if the ranks of each node
 *	                    are consecutive
 *	a reduction whose   an allgather, a gather, or an alltoall of contributions,
 *	order matters       which every node that needs a result then adds up in the
 *	                    order of ranks. Only if there are several nodes
 *	the same, of long   the same one, in the vectors of all seats: the sum goes
 *	vectors             from rank to rank (see plan/neighbour/chain.c). Not a
 *	                    reduce-scatter
 *	alltoall, halo      an alltoall between two vectors of the node. What stays
 *	                    on the node is moved at once
 *
 * A halo is that of a ring of the ranks: several ranks on a node form no torus
 * that matches the cables.
 *
 * The nodes' call depends on nothing that only one node knows, except the
 * counts of an alltoall.
 */
#ifndef _TOR_CORE_FOLD_H
#define _TOR_CORE_FOLD_H

#include "core/plan/plan.h"
#include "core/seats.h"

enum tor_fold_kind {
	TOR_FOLD_SHARED,
	TOR_FOLD_BLOCKS,
	TOR_FOLD_SCAN,
	TOR_FOLD_ORDERED,
	TOR_FOLD_CHAIN,
	TOR_FOLD_EXCHANGE,
	TOR_FOLD_HALO,
};

/**
 * struct tor_fold - one node's view of a call
 * @map: seats of all ranks
 * @node: own number among nodes; @seats: ranks on it
 * @called: calls of its ranks, by seat; they differ only in the counts of an
 *	alltoall
 * @kind: kind of fold
 * @call: the nodes' call
 * @leader: seat in whose vector the nodes' call works; unused with @has_own; in
 *	a chain, that which has the result of an allreduce
 * @has_own: the nodes' call works in a vector of the node
 * @own: elements of that vector; @input: elements of its input
 * @blocks: elements of the blocks of the node's ranks, if contributions to them
 *	are exchanged
 * @words: memory for lists of counts, and for positions of moves
 */
struct tor_fold {
	const struct tor_team_map *map;
	u32 node;
	u32 seats;
	const struct tor_call **called;
	enum tor_fold_kind kind;
	struct tor_call call;
	u32 leader;
	bool has_own;
	u64 own;
	u64 input;
	u64 blocks;
	u64 *words;
};

/*
 * Words of memory that a fold may need: two lists of counts, two of lengths,
 * positions, and where the blocks of both counts begin.
 */
#define TOR_FOLD_WORDS(nodes, seats)	(7 * (nodes) + (seats))

/*
 * Source and target of a move: a seat's vector, or that of the node; or their
 * input.
 */
#define TOR_FOLD_OWN	(~0U)

struct tor_move {
	u32 from, to;			/* seat, or TOR_FOLD_OWN */
	bool from_input, to_input;	/* its input instead */
	bool reduce;			/* to = to op from; else a copy */
	u64 soff, doff, n;		/* elements; n > 0 */
};

/* Position in a list of moves. Opaque; starts from zero. */
struct tor_fold_cursor {
	u32 i, j;
	u32 rank;		/* rank, and @off: start of its block */
	u64 off, at;
};

/**
 * tor_fold_check - check a call of nodes with several ranks
 * @f: map, node and seats are set; filled in as far as it depends on no other
 *	rank of the node
 * @called: call of one rank
 * @ordered: its reduction must be the sequential sum
 * @chains: what needs the order of ranks passes sums on from rank to rank, see
 *	tor_auto_chains()
 * @torus: shape of the fabric
 * @member: its node for each node of the map
 * @words: TOR_FOLD_WORDS(), valid as long as the fold
 * @why: out: static reason of a refusal
 *
 * @f->call can then be tried on a plan; only the counts of an alltoall are
 *	missing. Every rank that makes the same call gets the same answer.
 *
 * Context: any; no lock but those that protect @f.
 * Return: 0, or -EINVAL.
 */
int tor_fold_check(struct tor_fold *f, const struct tor_call *called, bool ordered,
		   bool chains, const struct tor_torus *torus, const u32 *member, u64 *words, const char **why);

/*
 * Complete @f->call once all ranks of the node have made the checked call and
 * @f->called is set.
 */
void tor_fold_init(struct tor_fold *f);

/**
 * tor_fold_lengths - lengths on which two nodes must agree in an alltoall,
 * besides their total
 * @f: complete
 *
 * Return: hashes of what each rank here sends to each rank of another node, by
 * node, followed by those of what they receive; NULL if there is nothing to
 * agree on.
 */
const u64 *tor_fold_lengths(const struct tor_fold *f);

/*
 * True if all pairs of ranks of this node agree on the lengths between them.
 * Otherwise @sender and @receiver are set to two seats that do not.
 */
bool tor_fold_agrees(const struct tor_fold *f, u32 *sender, u32 *receiver);

/*
 * The next move before, or after, the nodes' call. Return: false if there is
 * none left.
 */
bool tor_fold_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);
bool tor_fold_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);

#endif
