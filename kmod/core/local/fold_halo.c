// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Folds of a halo, on the ring of ranks. Each rank has two blocks: the one sent
 * down, or received from there, and the one for up. The data between two nodes
 * is in the order of the edges of the ring, which both know: an edge is below a
 * rank and above the one before it. See fold_moves.h.
 */
#include "core/local/fold_moves.h"

enum { DOWN, UP };

struct side {
	u32 seat, way;
};

/*
 * The sides of the node's ranks, in the order of edges: the one below rank 0 is
 * the last.
 */
static bool fold_halo_next_side(const struct tor_fold *f, struct tor_fold_cursor *c,
				struct side *side)
{
	u32 i = c->i, sides = 2 * f->seats;

	if (i == sides)
		return false;
	c->i++;
	if (!f->node)
		i = (i + 1) % sides;
	*side = (struct side){ i / 2, i % 2 };
	return true;
}

static u32 fold_halo_neighbour(const struct tor_fold *f, struct side side)
{
	u32 rank = tor_fold_rank(f, side.seat), ranks = f->map->ranks;

	if (side.way == DOWN)
		return (rank ? rank : ranks) - 1;
	return rank + 1 < ranks ? rank + 1 : 0;
}

void tor_fold_halo_count(struct tor_fold *f)
{
	u64 half = tor_fold_called(f)->count / 2;
	struct tor_fold_cursor c = {};
	struct side side;

	while (fold_halo_next_side(f, &c, &side)) {
		u32 node = f->map->node[fold_halo_neighbour(f, side)];

		if (node == f->node)
			continue;
		tor_fold_counts(f)[node] += half;
		tor_fold_from_counts(f)[node] += half;
	}
}

/* The position of the next block for a node, or from it, in the node's vectors. */
static u64 fold_halo_next_place(const struct tor_fold *f, u32 node, u64 n)
{
	u64 place = tor_fold_at_node(f)[node];

	tor_fold_at_node(f)[node] += n;
	return place;
}

bool tor_fold_halo_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u64 half = tor_fold_called(f)->count / 2;
	struct side side;
	u32 rank;

	if (!c->i)
		tor_fold_begin(f, tor_fold_counts(f));
	if (!fold_halo_next_side(f, c, &side))
		return false;
	rank = fold_halo_neighbour(f, side);
	m->from = side.seat;
	m->from_input = true;
	m->soff = side.way * half;
	m->n = half;
	if (tor_fold_is_here(f, rank)) {
		m->to = f->map->seat[rank];
		m->doff = (side.way ^ 1) * half;
	} else {
		m->to = TOR_FOLD_OWN;
		m->to_input = true;
		m->doff = fold_halo_next_place(f, f->map->node[rank], half);
	}
	return true;
}

bool tor_fold_halo_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u64 half = tor_fold_called(f)->count / 2;
	struct side side;
	u32 rank;

	if (!c->i)
		tor_fold_begin(f, tor_fold_from_counts(f));
	if (!fold_halo_next_side(f, c, &side))
		return false;
	rank = fold_halo_neighbour(f, side);
	if (tor_fold_is_here(f, rank))
		return true;
	m->from = TOR_FOLD_OWN;
	m->soff = fold_halo_next_place(f, f->map->node[rank], half);
	m->to = side.seat;
	m->doff = side.way * half;
	m->n = half;
	return true;
}
