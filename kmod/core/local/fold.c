// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Folds. See fold.h.
 */
#include "core/local/fold_moves.h"

static u32 fold_nodes_collective(const struct tor_fold *f, u32 collective)
{
	switch (f->kind) {
	case TOR_FOLD_SCAN:
		return TORCOLL_EXSCAN;
	case TOR_FOLD_ORDERED:
		if (collective == TORCOLL_REDUCE)
			return TORCOLL_GATHER;
		return collective == TORCOLL_REDUCE_SCATTER ? TORCOLL_ALLTOALL : TORCOLL_ALLGATHER;
	case TOR_FOLD_EXCHANGE:
	case TOR_FOLD_HALO:
		return TORCOLL_ALLTOALL;
	default:
		return collective;
	}
}

static enum tor_fold_kind fold_kind(const struct tor_team_map *map, u32 collective, bool ordered,
				    bool chains)
{
	bool scans = collective == TORCOLL_SCAN || collective == TORCOLL_EXSCAN;

	if (collective == TORCOLL_ALLTOALL)
		return TOR_FOLD_EXCHANGE;
	if (collective == TORCOLL_HALO)
		return TOR_FOLD_HALO;
	if (scans ? ordered || !map->in_order : ordered && map->nodes > 1) {
		if (chains && collective != TORCOLL_REDUCE_SCATTER)
			return TOR_FOLD_CHAIN;
		return TOR_FOLD_ORDERED;
	}
	if (scans)
		return TOR_FOLD_SCAN;
	return map->in_order || !tor_collective_has_blocks(collective) ? TOR_FOLD_SHARED :
									 TOR_FOLD_BLOCKS;
}

static const char *fold_check_request(const struct tor_call *r, enum tor_fold_kind kind)
{
	const u64 *counts = r->from_counts ? r->from_counts : r->counts;

	if (counts && !tor_plan_sums_to(counts, r->ranks, r->count))
		return "counts do not sum up to count";
	if (r->root >= r->ranks)
		return "root is not a rank";
	if (r->collective == TORCOLL_ALLTOALL && !counts &&
	    tor_div64(r->count, r->ranks) * r->ranks != r->count)
		return "the count of an alltoall must be a multiple of the number of ranks";
	if (r->collective == TORCOLL_HALO && r->count % 2)
		return "the count of a halo must be a multiple of the number of neighbours";
	if (kind == TOR_FOLD_ORDERED && r->count > tor_div64(TOR_COUNT_MAX, r->ranks))
		return "the contributions of all ranks are too long";
	return NULL;
}

/* --- the nodes' call --- */

/*
 * The counts are complete. Each round of a plan asks for the blocks of many
 * nodes: it must not add up all that are before each of them.
 */
static void fold_use_counts(struct tor_fold *f)
{
	f->call.counts = tor_fold_counts(f);
	f->call.starts = tor_fold_starts(f);
	tor_plan_starts(f->call.counts, f->map->nodes, tor_fold_starts(f));
}

/* Each node receives the contributions of all ranks to its own blocks. */
static void fold_count_contributions(struct tor_fold *f)
{
	u64 *counts = tor_fold_counts(f);
	u32 node;

	tor_fold_count_blocks(f, counts);
	f->blocks = counts[f->node];
	for (node = 0; node < f->map->nodes; node++) {
		counts[node] *= f->seats;
		tor_fold_from_counts(f)[node] = tor_team_seats(f->map, node) * f->blocks;
	}
}

/* Lengths between nodes, in an alltoall of nodes. */
static void fold_fill_exchanged(struct tor_fold *f)
{
	u32 node;

	memset(f->words, 0, 2 * f->map->nodes * sizeof(*f->words));
	if (f->kind == TOR_FOLD_HALO)
		tor_fold_halo_count(f);
	else if (f->kind == TOR_FOLD_EXCHANGE)
		tor_fold_exchange_count(f);
	else
		fold_count_contributions(f);
	f->own = 0;
	f->input = 0;
	for (node = 0; node < f->map->nodes; node++) {
		f->input += tor_fold_counts(f)[node];
		f->own += tor_fold_from_counts(f)[node];
	}
	f->call.count = f->own;
	fold_use_counts(f);
	f->call.from_counts = tor_fold_from_counts(f);
	f->call.from_starts = tor_fold_from_starts(f);
	tor_plan_starts(f->call.from_counts, f->map->nodes, tor_fold_from_starts(f));
}

static void fold_fill_blocks(struct tor_fold *f)
{
	u64 *counts = tor_fold_counts(f);
	u32 node;

	if (f->kind == TOR_FOLD_ORDERED)
		for (node = 0; node < f->map->nodes; node++)
			counts[node] = tor_team_seats(f->map, node) * tor_fold_called(f)->count;
	else
		tor_fold_count_blocks(f, counts);
	fold_use_counts(f);
}

/*
 * The seat whose vector the node uses: the root's, if it has the data or
 * receives it in place. A chain brings results to the last one.
 */
static u32 fold_find_leader(const struct tor_fold *f, const struct tor_call *r)
{
	bool rooted = r->collective == TORCOLL_BROADCAST || r->collective == TORCOLL_GATHER ||
		      r->collective == TORCOLL_SCATTER;

	if (f->kind == TOR_FOLD_CHAIN)
		return f->seats - 1;
	return rooted && tor_fold_is_here(f, r->root) ? f->map->seat[r->root] : 0;
}

/*
 * Return the nodes' reduction, if any: steps of each rank before and after are
 * not included.
 */
static u32 fold_nodes_redop(const struct tor_call *call)
{
	if (!tor_collective_reduces(call->collective))
		return TORCOLL_REDOP_NONE;
	return call->redop == TORCOLL_AVG || call->redop == TORCOLL_PREMULSUM ? TORCOLL_SUM :
										call->redop;
}

/* A chain goes through all ranks. */
static void fold_fill_chain(struct tor_fold *f, const struct tor_call *r)
{
	f->call.team = f->map;
	f->call.root = r->root;
	f->call.algorithm = TORCOLL_RING;
	f->call.param[TORCOLL_PARAM_EXCLUDE] = 0;
}

/* The nodes' call, without counts. */
static void fold_fill_request(struct tor_fold *f, const struct tor_call *r,
			      const struct tor_torus *torus, const u32 *member)
{
	f->call = *r;
	f->call.torus = torus;
	f->call.members = member;
	f->call.ranks = f->map->nodes;
	f->call.collective = fold_nodes_collective(f, r->collective);
	f->call.redop = fold_nodes_redop(&f->call);
	f->call.root = tor_collective_has_root(f->call.collective) ? f->map->node[r->root] : 0;
	f->call.counts = NULL;
	f->call.from_counts = NULL;
	f->call.starts = NULL;
	f->call.from_starts = NULL;
	if (f->kind == TOR_FOLD_CHAIN)
		fold_fill_chain(f, r);
}

/* The counts as far as known before all ranks have called. */
static void fold_fill_counts(struct tor_fold *f)
{
	const struct tor_call *r = tor_fold_called(f);

	f->own = r->count;
	f->input = 0;
	if (f->kind == TOR_FOLD_EXCHANGE || f->kind == TOR_FOLD_HALO) {
		/* the lengths of the other ranks of the node are not known yet */
		f->call.count = 0;
	} else if (f->call.collective == TORCOLL_ALLTOALL) {
		fold_fill_exchanged(f);
	} else {
		if (f->kind == TOR_FOLD_ORDERED)
			f->own = r->ranks * r->count;
		f->call.count = f->own;
		if (tor_collective_has_blocks(f->call.collective))
			fold_fill_blocks(f);
	}
}

int tor_fold_check(struct tor_fold *f, const struct tor_call *r, bool ordered, bool chains,
		   const struct tor_torus *torus, const u32 *member, u64 *words, const char **why)
{
	const struct tor_call **all = f->called;
	const char *bad;

	f->kind = fold_kind(f->map, r->collective, ordered, chains);
	bad = fold_check_request(r, f->kind);
	if (bad) {
		*why = bad;
		return -EINVAL;
	}
	f->words = words;
	f->leader = fold_find_leader(f, r);
	f->has_own = f->kind != TOR_FOLD_SHARED && f->kind != TOR_FOLD_CHAIN &&
		     (f->kind != TOR_FOLD_SCAN || f->map->nodes > 1);
	fold_fill_request(f, r, torus, member);
	f->called = &r;
	fold_fill_counts(f);
	f->called = all;
	return 0;
}

void tor_fold_init(struct tor_fold *f)
{
	if (f->kind == TOR_FOLD_EXCHANGE || f->kind == TOR_FOLD_HALO)
		fold_fill_exchanged(f);
}

const u64 *tor_fold_lengths(const struct tor_fold *f)
{
	return f->kind == TOR_FOLD_EXCHANGE ? tor_fold_hashes(f) : NULL;
}

/* --- moves --- */

static bool fold_move_before(const struct tor_fold *f, struct tor_fold_cursor *c,
			     struct tor_move *m)
{
	memset(m, 0, sizeof(*m));
	switch (f->kind) {
	case TOR_FOLD_SHARED:
		return tor_fold_shared_before(f, c, m);
	case TOR_FOLD_BLOCKS:
		return tor_fold_blocks_before(f, c, m);
	case TOR_FOLD_SCAN:
		return tor_fold_scan_before(f, c, m);
	case TOR_FOLD_ORDERED:
		return tor_fold_ordered_before(f, c, m);
	case TOR_FOLD_CHAIN:
		return false;
	case TOR_FOLD_EXCHANGE:
		return tor_fold_exchange_before(f, c, m);
	case TOR_FOLD_HALO:
		return tor_fold_halo_before(f, c, m);
	}
	return false;
}

static bool fold_move_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	memset(m, 0, sizeof(*m));
	switch (f->kind) {
	case TOR_FOLD_SHARED:
		return tor_fold_shared_after(f, c, m);
	case TOR_FOLD_BLOCKS:
		return tor_fold_blocks_after(f, c, m);
	case TOR_FOLD_SCAN:
		return tor_fold_scan_after(f, c, m);
	case TOR_FOLD_ORDERED:
		return tor_fold_ordered_after(f, c, m);
	case TOR_FOLD_CHAIN:
		return tor_fold_chain_after(f, c, m);
	case TOR_FOLD_EXCHANGE:
		return tor_fold_exchange_after(f, c, m);
	case TOR_FOLD_HALO:
		return tor_fold_halo_after(f, c, m);
	}
	return false;
}

bool tor_fold_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	while (fold_move_before(f, c, m))
		if (m->n)
			return true;
	return false;
}

bool tor_fold_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	while (fold_move_after(f, c, m))
		if (m->n)
			return true;
	return false;
}
