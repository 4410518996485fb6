// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Positions of blocks in vectors by ranks and by nodes. See fold_moves.h. */
#include "core/local/fold_moves.h"

#include "core/plan/family.h"

u64 tor_fold_block_len(const struct tor_fold *f, u32 rank)
{
	const struct tor_call *r = tor_fold_called(f);

	return r->counts ? r->counts[rank] : tor_block_len(r->count, r->ranks, rank);
}

struct tor_span tor_fold_block(const struct tor_fold *f, struct tor_fold_cursor *c, u32 rank)
{
	const struct tor_call *r = tor_fold_called(f);

	if (!r->counts)
		return tor_plan_block(r->count, NULL, NULL, r->ranks, rank);
	while (c->rank < rank)
		c->off += r->counts[c->rank++];
	return (struct tor_span){ c->off, r->counts[rank] };
}

void tor_fold_begin(const struct tor_fold *f, const u64 *counts)
{
	u64 *at = tor_fold_at_node(f);
	u32 node;

	at[0] = 0;
	for (node = 1; node < f->map->nodes; node++)
		at[node] = at[node - 1] + counts[node - 1];
}

bool tor_fold_next_run(const struct tor_fold *f, struct tor_fold_cursor *c,
		       struct tor_fold_run *run)
{
	const struct tor_team_map *map = f->map;
	u32 node;

	if (c->rank == map->ranks)
		return false;
	node = map->node[c->rank];
	run->off = c->off;
	run->place = tor_fold_at_node(f)[node];
	do
		c->off += tor_fold_block_len(f, c->rank++);
	while (c->rank < map->ranks && map->node[c->rank] == node);
	run->n = c->off - run->off;
	tor_fold_at_node(f)[node] += run->n;
	return true;
}

void tor_fold_count_blocks(const struct tor_fold *f, u64 *counts)
{
	const struct tor_call *r = tor_fold_called(f);
	u64 q = tor_div64(r->count, r->ranks), more = r->count - q * r->ranks;
	u32 rank;

	memset(counts, 0, f->map->nodes * sizeof(*counts));
	for (rank = 0; rank < r->ranks; rank++)
		counts[f->map->node[rank]] += r->counts ? r->counts[rank] : q + (rank < more);
}
