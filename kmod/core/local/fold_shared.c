// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Folds of collectives that are the same by nodes: in a seat's vector or, if
 * the blocks of a node are not adjacent there, in one with blocks by nodes. See
 * fold_moves.h.
 */
#include "core/local/fold_moves.h"

/* --- in a seat's vector --- */

bool tor_fold_shared_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u32 collective = tor_fold_called(f)->collective;

	m->reduce = tor_collective_reduces(collective);
	if (!m->reduce && collective != TORCOLL_ALLGATHER && collective != TORCOLL_GATHER)
		return false;
	if (c->i == f->leader)
		c->i++;
	if (c->i >= f->seats)
		return false;
	m->from = c->i++;
	m->to = f->leader;
	tor_fold_in_place(m, m->reduce ? tor_fold_whole(f) :
					 tor_fold_block(f, c, tor_fold_rank(f, m->from)));
	return true;
}

/* The part of its node's result that seat @seat receives. */
static struct tor_span shared_result(const struct tor_fold *f, struct tor_fold_cursor *c, u32 seat)
{
	const struct tor_call *r = tor_fold_called(f);
	u32 rank = tor_fold_rank(f, seat);

	switch (r->collective) {
	case TORCOLL_ALLREDUCE:
	case TORCOLL_BROADCAST:
	case TORCOLL_ALLGATHER:
		return tor_fold_whole(f);
	case TORCOLL_REDUCE:
		return rank == r->root ? tor_fold_whole(f) : (struct tor_span){};
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_SCATTER:
		return tor_fold_block(f, c, rank);
	default:
		return (struct tor_span){};
	}
}

bool tor_fold_shared_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	if (c->i == f->leader)
		c->i++;
	if (c->i >= f->seats)
		return false;
	m->from = f->leader;
	m->to = c->i++;
	tor_fold_in_place(m, shared_result(f, c, m->to));
	return true;
}

/* --- with blocks by nodes --- */

static void blocks_turn(struct tor_move *m)
{
	swap(m->from, m->to);
	swap(m->soff, m->doff);
}

/* All blocks, from the leader's vector. */
static bool blocks_pack(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	struct tor_fold_run run;

	if (!c->rank)
		tor_fold_begin(f, tor_fold_counts(f));
	if (!tor_fold_next_run(f, c, &run))
		return false;
	*m = (struct tor_move){
		.from = f->leader, .to = TOR_FOLD_OWN,
		.soff = run.off, .doff = run.place, .n = run.n,
	};
	return true;
}

/* All blocks, to the leader's vector. */
static bool blocks_unpack(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	bool more = blocks_pack(f, c, m);

	blocks_turn(m);
	return more;
}

/* The block of each seat, from its own vector. */
static bool blocks_pack_own(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u64 *at = &tor_fold_at_node(f)[f->node];
	struct tor_span span;

	if (!c->i)
		tor_fold_begin(f, tor_fold_counts(f));
	if (c->i == f->seats)
		return false;
	m->from = c->i++;
	m->to = TOR_FOLD_OWN;
	span = tor_fold_block(f, c, tor_fold_rank(f, m->from));
	m->soff = span.off;
	m->doff = *at;
	m->n = span.n;
	*at += span.n;
	return true;
}

/*
 * Not to a scatter's root: its block is there, in memory that may not be
 * writable.
 */
static bool blocks_unpack_own(const struct tor_fold *f, struct tor_fold_cursor *c,
			      struct tor_move *m)
{
	const struct tor_call *r = tor_fold_called(f);
	bool more = blocks_pack_own(f, c, m);

	blocks_turn(m);
	if (more && r->collective == TORCOLL_SCATTER && tor_fold_rank(f, m->to) == r->root)
		m->n = 0;
	return more;
}

bool tor_fold_blocks_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	switch (tor_fold_called(f)->collective) {
	case TORCOLL_REDUCE_SCATTER:
		return tor_fold_shared_before(f, c, m) || blocks_pack(f, c, m);
	case TORCOLL_SCATTER:
		return tor_fold_is_here(f, tor_fold_called(f)->root) && blocks_pack(f, c, m);
	default:
		return blocks_pack_own(f, c, m);
	}
}

bool tor_fold_blocks_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	switch (tor_fold_called(f)->collective) {
	case TORCOLL_ALLGATHER:
		return blocks_unpack(f, c, m) || tor_fold_shared_after(f, c, m);
	case TORCOLL_GATHER:
		return tor_fold_is_here(f, tor_fold_called(f)->root) && blocks_unpack(f, c, m);
	default:
		return blocks_unpack_own(f, c, m);
	}
}
