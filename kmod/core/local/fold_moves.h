/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Internals of folds: the moves of each kind, and the positions of ranks and
 * their blocks. See fold.h.
 *
 * A vector has the blocks of its ranks in the order of ranks. A vector of the
 * node may have them in the order of places, so that those of a node are one
 * block. The two orders are the same if the ranks of each node are consecutive.
 */
#ifndef _TOR_CORE_FOLD_MOVES_H
#define _TOR_CORE_FOLD_MOVES_H

#include "core/local/fold.h"

/* --- ranks --- */

/* The call of all seats, except for their counts in an alltoall. */
static inline const struct tor_call *tor_fold_called(const struct tor_fold *f)
{
	return f->called[0];
}

static inline u32 tor_fold_rank(const struct tor_fold *f, u32 seat)
{
	return tor_team_rank_in(f->map, f->node, seat);
}

static inline bool tor_fold_is_here(const struct tor_fold *f, u32 rank)
{
	return f->map->node[rank] == f->node;
}

/* --- memory: see TOR_FOLD_WORDS() --- */

/*
 * Elements of each node in the nodes' call, or sent there; then elements
 * received from there.
 */
static inline u64 *tor_fold_counts(const struct tor_fold *f)
{
	return f->words;
}

static inline u64 *tor_fold_from_counts(const struct tor_fold *f)
{
	return f->words + f->map->nodes;
}

/* Hashes of what is sent to each node, rank by rank, then of what is received. */
static inline u64 *tor_fold_hashes(const struct tor_fold *f)
{
	return f->words + 2 * f->map->nodes;
}

/*
 * Positions of moves in the part for each node of the node's vector, and in
 * each seat's vector.
 */
static inline u64 *tor_fold_at_node(const struct tor_fold *f)
{
	return f->words + 4 * f->map->nodes;
}

static inline u64 *tor_fold_at_seat(const struct tor_fold *f)
{
	return f->words + 7 * f->map->nodes;
}

/* Where each block of the counts begins in the nodes' vector, or input. */
static inline u64 *tor_fold_starts(const struct tor_fold *f)
{
	return f->words + 5 * f->map->nodes;
}

static inline u64 *tor_fold_from_starts(const struct tor_fold *f)
{
	return f->words + 6 * f->map->nodes;
}

/* --- positions: fold_blocks.c --- */

/*
 * A run of elements in two vectors: at @off in one by ranks, at @place in one
 * by nodes.
 */
struct tor_fold_run {
	u64 off, place, n;
};

static inline struct tor_span tor_fold_whole(const struct tor_fold *f)
{
	return (struct tor_span){ 0, tor_fold_called(f)->count };
}

/* The same span of two vectors. */
static inline void tor_fold_in_place(struct tor_move *m, struct tor_span span)
{
	m->soff = span.off;
	m->doff = span.off;
	m->n = span.n;
}

/* Elements of a rank's block. */
u64 tor_fold_block_len(const struct tor_fold *f, u32 rank);

/* A rank's block in a vector by ranks. With one cursor, ranks must not decrease. */
struct tor_span tor_fold_block(const struct tor_fold *f, struct tor_fold_cursor *c, u32 rank);

/*
 * Set the position for each node behind the parts of the nodes before it, whose
 * lengths are @counts.
 */
void tor_fold_begin(const struct tor_fold *f, const u64 *counts);

/*
 * After tor_fold_begin(): the next blocks in the order of ranks that are on the
 * same node. Return: false if there are no more.
 */
bool tor_fold_next_run(const struct tor_fold *f, struct tor_fold_cursor *c,
		       struct tor_fold_run *run);

/* Sum up the blocks of the ranks of each node in @counts. */
void tor_fold_count_blocks(const struct tor_fold *f, u64 *counts);

/*
 * --- moves of each kind, see tor_fold_before() and tor_fold_after(): m is
 * zeroed; n may be 0 ---
 */

/* fold_shared.c */
bool tor_fold_shared_before(const struct tor_fold *f, struct tor_fold_cursor *c,
			    struct tor_move *m);
bool tor_fold_shared_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);
bool tor_fold_blocks_before(const struct tor_fold *f, struct tor_fold_cursor *c,
			    struct tor_move *m);
bool tor_fold_blocks_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);

/* fold_sum.c */
bool tor_fold_scan_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);
bool tor_fold_scan_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);
bool tor_fold_ordered_before(const struct tor_fold *f, struct tor_fold_cursor *c,
			     struct tor_move *m);
bool tor_fold_ordered_after(const struct tor_fold *f, struct tor_fold_cursor *c,
			    struct tor_move *m);
bool tor_fold_chain_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);

/* fold_exchange.c; *_count() adds what each node is sent and sends to the counts */
void tor_fold_exchange_count(struct tor_fold *f);
bool tor_fold_exchange_before(const struct tor_fold *f, struct tor_fold_cursor *c,
			      struct tor_move *m);
bool tor_fold_exchange_after(const struct tor_fold *f, struct tor_fold_cursor *c,
			     struct tor_move *m);

/* fold_halo.c */
void tor_fold_halo_count(struct tor_fold *f);
bool tor_fold_halo_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);
bool tor_fold_halo_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m);

#endif
