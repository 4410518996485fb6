/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Inside folds: the moves of each kind, and where ranks and their blocks are. See fold.h.
 *
 * A vector has its ranks' blocks in the order of ranks. One of the node's own may have them in the order of places, so
 * that those of a node are one block; they are the same where ranks of each node follow one another.
 */
#ifndef _TOR_CORE_FOLD_MOVES_H
#define _TOR_CORE_FOLD_MOVES_H

#include "core/local/fold.h"

/* --- who --- */

/* What all seats have called, but for their counts in an alltoall. */
static inline const struct tor_plan_req *tor_fold_called(const struct tor_fold *f)
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

/* Elements that the nodes' call has for each node, or that go there; and that come from there. */
static inline u64 *tor_fold_counts(const struct tor_fold *f)
{
	return f->words;
}

static inline u64 *tor_fold_from_counts(const struct tor_fold *f)
{
	return f->words + f->map->nodes;
}

/* Hashes of what goes to each node, rank by rank, and then of what comes. */
static inline u64 *tor_fold_hashes(const struct tor_fold *f)
{
	return f->words + 2 * f->map->nodes;
}

/* How far moves have come in what the node's own vector has for each node; and in each seat's. */
static inline u64 *tor_fold_at_node(const struct tor_fold *f)
{
	return f->words + 4 * f->map->nodes;
}

static inline u64 *tor_fold_at_seat(const struct tor_fold *f)
{
	return f->words + 5 * f->map->nodes;
}

/* --- where: fold_blocks.c --- */

/* A run of elements in two vectors: @off in one by ranks, @place in one by nodes. */
struct tor_fold_run {
	u64 off, place, n;
};

static inline struct tor_span tor_fold_whole(const struct tor_fold *f)
{
	return (struct tor_span){ 0, tor_fold_called(f)->count };
}

/* At one place of two vectors. */
static inline void tor_fold_in_place(struct tor_move *m, struct tor_span span)
{
	m->soff = span.off;
	m->doff = span.off;
	m->n = span.n;
}

/* How long a rank's block is. */
u64 tor_fold_block_len(const struct tor_fold *f, u32 rank);

/* A rank's block in a vector by ranks. Of one cursor, ranks must not become less. */
struct tor_span tor_fold_block(const struct tor_fold *f, struct tor_fold_cursor *c, u32 rank);

/* What @counts has for each node begins behind that of the one before. */
void tor_fold_begin(const struct tor_fold *f, const u64 *counts);

/* After tor_fold_begin(): the next blocks in the order of ranks, as many as are on one node. false: there are no more. */
bool tor_fold_next_run(const struct tor_fold *f, struct tor_fold_cursor *c,
		       struct tor_fold_run *run);

/* Sum up the blocks of each node's ranks to @counts. */
void tor_fold_count_blocks(const struct tor_fold *f, u64 *counts);

/* --- moves of each kind, see tor_fold_before() and tor_fold_after(): m is zero; n may be 0 --- */

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

/* fold_exchange.c; and what goes to each node, and comes from it: added to the counts */
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
