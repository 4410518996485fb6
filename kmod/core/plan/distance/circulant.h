/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Träff's broadcast schedules on circulant graphs. Each rank computes its own
 * in O(log p) time and space: "Optimal Broadcast Schedules in Logarithmic Time"
 * (2024), section 2.
 */
#ifndef _TOR_CORE_PLAN_CIRCULANT_H
#define _TOR_CORE_PLAN_CIRCULANT_H

#include "core/torus.h"

#define TOR_CIRCULANT_Q	20		/* 2^20 is TOR_MAX_NODES; larger p for tests: to 2^22 */
#define TOR_CIRCULANT_ROUNDS	(TOR_CIRCULANT_Q + 2)

/**
 * struct tor_circulant - the graph: in round k rank r sends to r + skip[k] and
 * receives from r - skip[k]
 * @p: ranks, at least 2; rank 0 is the root
 * @q: ceil(log2 p)
 * @skip: 1 = skip[0] .. skip[q] = p
 */
struct tor_circulant {
	u32 p, q;
	u32 skip[TOR_CIRCULANT_ROUNDS + 1];
};

/**
 * tor_circulant_init - set up the graph
 * @c: filled in
 * @p: ranks, 2 to 2^22
 */
void tor_circulant_init(struct tor_circulant *c, u32 p);

/**
 * tor_circulant_recv - receive schedule of a rank
 * @c: graph
 * @r: rank
 * @block: q entries: the block received in round k of the first q. Blocks are
 *	counted from -q on; those below 0 belong to the q rounds before
 *
 * Return: recursive calls taken, at most q - 1.
 */
u32 tor_circulant_recv(const struct tor_circulant *c, u32 r, s8 *block);

/**
 * tor_circulant_send - send schedule of a rank
 * @c: graph
 * @r: rank
 * @block: q entries, as for tor_circulant_recv()
 *
 * Return: entries that had to be taken from the receiver's schedule, at most 4.
 */
u32 tor_circulant_send(const struct tor_circulant *c, u32 r, s8 *block);

/**
 * struct tor_circulant_walk - a walk over all ranks in turn, in one round
 * @r: the next rank
 * @k: round
 * @start: first of the ranks that, up to the rounds after @k, behave like @r
 * @taken: skips on the greedy path to @r, as bits
 * @end: how many ranks behave like @r up to the rounds after each one
 *
 * The path of the next rank differs in the last skips only, on average in two:
 * a step takes a time that does not depend on the number of ranks.
 */
struct tor_circulant_walk {
	u32 r, k;
	u32 start;
	u32 taken;
	u32 end[TOR_CIRCULANT_ROUNDS];
};

/**
 * tor_circulant_walk_begin - begin with rank 0
 * @c: graph
 * @w: filled in
 * @k: round, below q
 */
void tor_circulant_walk_begin(const struct tor_circulant *c, struct tor_circulant_walk *w, u32 k);

/**
 * tor_circulant_walk_next - what the next rank sends
 * @c: graph
 * @w: walk; not all ranks were asked for
 *
 * Return: entry k of its send schedule, see tor_circulant_send().
 */
s8 tor_circulant_walk_next(const struct tor_circulant *c, struct tor_circulant_walk *w);

#endif
