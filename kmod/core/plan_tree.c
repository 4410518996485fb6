// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `tree`: reduce to the root, or for an allreduce to rank 0, and broadcast from there: two messages per
 * node in all, the fewest.
 *
 * On a torus every line along dimension 0 sends, from the furthest on both sides, hop by hop to the
 * root's coordinate; then every line of those along dimension 1, and so on. On other lists: a
 * binomial tree of the ranks.
 */
#include "plan_family.h"

struct tree {
	u32 depth;			/* rounds of the reduce */
};

static u32 tree_depth(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tree)->depth;
}

static int tree_init(struct tor_plan *p, const char **why)
{
	struct tree *s = tor_plan_state(p, struct tree);

	s->depth = p->list ? fls(p->req.ranks - 1) : tor_torus_diameter(&p->grid);
	p->shape.peers = 2;
	return 0;
}

static u32 tree_rounds(const struct tor_plan *p, u32 channel)
{
	return p->req.collective == TORCOLL_ALLREDUCE ? 2 * tree_depth(p) : tree_depth(p);
}

/* Reduce, round @k, to rank @root: the @i-th child, or (@i 2) the parent, as a rank. */
static bool list_peer(const struct tor_plan *p, u32 k, u32 i, u32 *rank)
{
	u32 n = p->req.ranks, v = (p->rank + n - p->req.root) % n, bit = 1U << k;

	if (v & (bit - 1) || i == 1)
		return false;
	if (i == 2) {
		*rank = (v - bit + p->req.root) % n;
		return v & bit;
	}
	*rank = (v + bit + p->req.root) % n;
	return !(v & bit) && bit < n - v;
}

static bool torus_peer(const struct tor_plan *p, u32 k, u32 i, u32 *rank)
{
	const struct tor_torus *g = &p->grid;
	u32 d, n, o, away;

	for (d = 0; k >= g->side[d] / 2; d++) {
		k -= g->side[d] / 2;
		if (tor_torus_coord(g, p->rank, d) != tor_torus_coord(g, p->req.root, d))
			return false;
	}
	n = g->side[d];
	o = (tor_torus_coord(g, p->rank, d) + n - tor_torus_coord(g, p->req.root, d)) % n;
	/* those so far away send in this round; above the root up to n/2, below it the others */
	away = n / 2 - k;
	*rank = tor_torus_shift(g, p->rank, d, i == 2 ? (o == away ? -1 : 1) : (i ? -1 : 1));
	if (i == 2)
		return o == away || (o == n - away && 2 * away != n);
	if (i == 0)
		return o + 1 == away;
	return (o ? o : n) - 1 == n - away && 2 * away != n;
}

/* Transfers: what children send, what I send to my parent; in the broadcast, the reversal. */
static bool tree_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	bool down = p->req.collective == TORCOLL_BROADCAST || c->round >= tree_depth(p);
	u32 k = c->round % tree_depth(p), peer = 0;

	if (down)
		k = tree_depth(p) - 1 - k;
	while (c->transfer < 3 && !(p->list ? list_peer(p, k, c->transfer, &peer) :
					      torus_peer(p, k, c->transfer, &peer)))
		c->transfer++;
	if (c->transfer == 3)
		return false;
	c->src = c->transfer == 2 ? p->rank : peer;
	c->dst = c->transfer == 2 ? peer : p->rank;
	if (down) {
		swap(c->src, c->dst);
		c->op = TOR_PIECE_COPY;
	}
	c->family[0] = 0;
	return true;
}

static bool tree_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	if (c->family[0]++)
		return false;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}

const struct tor_family tor_family_tree = {
	.serves = TOR_COLL(ALLREDUCE) | TOR_COLL(BROADCAST) | TOR_COLL(REDUCE),
	.any_list = true,
	.init = tree_init,
	.rounds = tree_rounds,
	.transfer = tree_transfer,
	.piece = tree_piece,
};
