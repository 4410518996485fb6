// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Folds of reductions whose order matters: scans, and sequential sums. See
 * fold_moves.h.
 */
#include "core/local/fold_moves.h"

/* --- scans --- */

/*
 * Each seat adds the sum of the seats before it to its own, so the last one has
 * the node's total. In an exclusive scan each then takes the sum of the seat
 * before it.
 */
bool tor_fold_scan_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	bool excludes = tor_fold_called(f)->collective == TORCOLL_EXSCAN;
	u32 total = f->seats - 1, step = c->i++;

	tor_fold_in_place(m, tor_fold_whole(f));
	if (step < total) {
		m->from = step;
		m->to = step + 1;
		m->reduce = true;
		return true;
	}
	step -= total;
	if (f->has_own && !step) {
		m->from = total;
		m->to = TOR_FOLD_OWN;
		return true;
	}
	step -= f->has_own;
	if (!excludes || step >= total)
		return false;
	m->to = total - step;
	m->from = m->to - 1;
	return true;
}

/* Brings the sum of what precedes the node to all seats. */
bool tor_fold_scan_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	if (!f->node || c->i >= f->seats)
		return false;
	m->from = TOR_FOLD_OWN;
	m->to = c->i++;
	m->reduce = m->to || tor_fold_called(f)->collective == TORCOLL_SCAN;
	tor_fold_in_place(m, tor_fold_whole(f));
	return true;
}

/* --- sequential sums --- */

/*
 * True if each node receives the contributions to its own blocks; else it
 * receives everything.
 */
static bool ordered_by_blocks(const struct tor_fold *f)
{
	return f->call.collective == TORCOLL_ALLTOALL;
}

/* Seat by seat, its contributions to what each node adds up. */
static bool ordered_contribute_blocks(const struct tor_fold *f, struct tor_fold_cursor *c,
				      struct tor_move *m)
{
	struct tor_fold_run run;

	if (!c->i && !c->rank)
		tor_fold_begin(f, tor_fold_counts(f));
	if (c->i < f->seats && !tor_fold_next_run(f, c, &run)) {
		c->i++;
		c->rank = 0;
		c->off = 0;
		tor_fold_next_run(f, c, &run);
	}
	if (c->i == f->seats)
		return false;
	m->from = c->i;
	m->to = TOR_FOLD_OWN;
	m->to_input = true;
	m->soff = run.off;
	m->doff = run.place;
	m->n = run.n;
	return true;
}

bool tor_fold_ordered_before(const struct tor_fold *f, struct tor_fold_cursor *c,
			     struct tor_move *m)
{
	u64 count = tor_fold_called(f)->count;

	if (ordered_by_blocks(f))
		return ordered_contribute_blocks(f, c, m);
	if (c->i == f->seats)
		return false;
	m->from = c->i++;
	m->to = TOR_FOLD_OWN;
	m->doff = (f->map->first[f->node] + m->from) * count;
	m->n = count;
	return true;
}

/* Number of ranks, from rank 0 on, in the sum of a seat. */
static u32 ordered_summands(const struct tor_fold *f, u32 seat)
{
	u32 rank = tor_fold_rank(f, seat);

	switch (tor_fold_called(f)->collective) {
	case TORCOLL_SCAN:
		return rank + 1;
	case TORCOLL_EXSCAN:
		return rank;
	case TORCOLL_REDUCE:
		return rank == tor_fold_called(f)->root ? f->map->ranks : 0;
	default:
		return f->map->ranks;
	}
}

/*
 * Number of ranks in the sum of the seat before, with which this one's begins;
 * 0 if it does not.
 */
static u32 ordered_begun(const struct tor_fold *f, u32 seat)
{
	if (!seat || f->call.collective != TORCOLL_ALLGATHER)
		return 0;
	return ordered_summands(f, seat - 1);
}

/*
 * The contribution of @rank to the sum of seat @m->to. c->at: start of that
 * seat's block among those of the node.
 */
static void ordered_contribution(const struct tor_fold *f, struct tor_fold_cursor *c, u32 rank,
				 struct tor_move *m)
{
	u32 place = tor_team_place(f->map, rank);

	m->from = TOR_FOLD_OWN;
	m->reduce = rank;
	if (ordered_by_blocks(f)) {
		tor_fold_in_place(m, tor_fold_block(f, c, tor_fold_rank(f, m->to)));
		m->soff = place * f->blocks + c->at;
	} else {
		tor_fold_in_place(m, tor_fold_whole(f));
		m->soff = place * m->n;
	}
}

bool tor_fold_ordered_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	/* c->i: the seat, c->j: ranks in its sum so far */
	while (c->i < f->seats && c->j == ordered_summands(f, c->i)) {
		c->at += tor_fold_block_len(f, tor_fold_rank(f, c->i));
		c->i++;
		c->j = 0;
	}
	if (c->i == f->seats)
		return false;
	m->to = c->i;
	if (!c->j && ordered_begun(f, c->i)) {
		m->from = c->i - 1;
		tor_fold_in_place(m, tor_fold_whole(f));
		c->j = ordered_begun(f, c->i);
	} else {
		ordered_contribution(f, c, c->j++, m);
	}
	return true;
}

/* --- sums that went from rank to rank --- */

/* An allreduce brought its result to one seat, a scan to all, a reduce to the root's. */
bool tor_fold_chain_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	if (tor_fold_called(f)->collective != TORCOLL_ALLREDUCE || c->i == f->leader)
		return false;
	m->from = f->leader;
	m->to = c->i++;
	tor_fold_in_place(m, tor_fold_whole(f));
	return true;
}
