// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `tree`: reduce to the root, or in an allreduce to rank 0, and broadcast from
 * there: two messages per node in total, the minimum.
 *
 * On a torus every line along dimension 0 sends, from the furthest nodes on
 * both sides, hop by hop to the root's coordinate; then every line of those
 * along dimension 1, and so on. On other lists: a binomial tree of the ranks.
 *
 * A gather takes the same way, with the blocks of all ranks behind the sender
 * instead of a sum; a scatter takes the way of a broadcast, with the blocks of
 * all ranks behind the receiver.
 */
#include "core/plan/family.h"

struct tree {
	u32 depth;			/* rounds of the reduce */
	u32 lines;			/* torus: dimensions in which this rank takes part */
	u32 up[TOR_MAX_DIMS];		/* steps upwards from the root's coordinate */
};

static u32 tree_depth(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tree)->depth;
}

/*
 * A rank takes no part in the dimensions after the first one in which it
 * differs from the root: what it had is with another rank then.
 */
static void tree_find_lines(const struct tor_plan *p, struct tree *s)
{
	const struct tor_torus *g = &p->grid;
	u32 d, n;

	s->depth = tor_torus_diameter(g);
	for (d = 0; d < g->ndim; d++) {
		n = g->side[d];
		s->up[d] = tor_torus_coord(g, p->rank, d) + n - tor_torus_coord(g, p->call.root, d);
		s->up[d] -= s->up[d] < n ? 0 : n;
		if (s->lines == d && (!d || !s->up[d - 1]))
			s->lines++;
	}
}

static int tree_init(struct tor_plan *p, const char **why)
{
	struct tree *s = tor_plan_state(p, struct tree);

	p->shape.peers = 2;
	if (p->list)
		s->depth = fls(p->call.ranks - 1);
	else
		tree_find_lines(p, s);
	return 0;
}

static u32 tree_rounds(const struct tor_plan *p, u32 channel)
{
	return p->call.collective == TORCOLL_ALLREDUCE ? 2 * tree_depth(p) : tree_depth(p);
}

/*
 * Peers in round @k of the reduce: the @i-th child, or (@i 2) the parent, as a
 * rank.
 */
static bool tree_list_peer(const struct tor_plan *p, u32 k, u32 i, u32 *rank)
{
	u32 n = p->call.ranks, v = (p->rank + n - p->call.root) % n, bit = 1U << k;

	if (v & (bit - 1) || i == 1)
		return false;
	if (i == 2) {
		*rank = (v - bit + p->call.root) % n;
		return v & bit;
	}
	*rank = (v + bit + p->call.root) % n;
	return !(v & bit) && bit < n - v;
}

static bool tree_torus_peer(const struct tor_plan *p, u32 k, u32 i, u32 *rank)
{
	const struct tree *s = tor_plan_state_const(p, struct tree);
	const struct tor_torus *g = &p->grid;
	u32 d, n, up, away;
	bool any;

	for (d = 0; k >= g->side[d] / 2; d++)
		k -= g->side[d] / 2;
	if (d >= s->lines)
		return false;
	n = g->side[d];
	up = s->up[d];
	/*
	 * nodes this far away send in this round: above the root up to n/2,
	 * below it the others
	 */
	away = n / 2 - k;
	if (i == 0)
		any = up + 1 == away;
	else if (i == 1)
		any = (up ? up : n) - 1 == n - away && 2 * away != n;
	else
		any = up == away || (up == n - away && 2 * away != n);
	if (any)
		*rank = tor_torus_shift(g, p->rank, d, i == 0 || (i == 2 && up != away) ? 1 : -1);
	return any;
}

/* --- gather and scatter: whose blocks a child stands for --- */

/*
 * Position of the walk over these blocks, in runs of neighbouring ranks. Kept
 * in the cursor.
 */
struct at {
	u32 next, end;	/* lists: ranks relative to the root; torus: offsets from its coordinate */
	u32 child;
	u32 dim;
};

static bool tree_gathers(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_GATHER || p->call.collective == TORCOLL_SCATTER;
}

/*
 * Ranks behind a child in round @k of the reduce: a subtree of ranks, or the
 * line from the child outwards.
 */
static void tree_find_behind(const struct tor_plan *p, struct at *at, u32 k)
{
	const struct tor_torus *g = &p->grid;
	u32 n = p->call.ranks, o;

	if (p->list) {
		at->next = (at->child + n - p->call.root) % n;
		at->end = at->next + min(1U << k, n - at->next);
		return;
	}
	for (at->dim = 0; k >= g->side[at->dim] / 2; at->dim++)
		k -= g->side[at->dim] / 2;
	n = g->side[at->dim];
	o = (tor_torus_coord(g, at->child, at->dim) + n -
	     tor_torus_coord(g, p->call.root, at->dim)) % n;
	at->next = o <= n / 2 ? o : n / 2 + 1;
	at->end = o <= n / 2 ? n / 2 + 1 : o + 1;
}

/* The blocks of the next run of consecutive ranks. */
static struct tor_span tree_next_blocks(const struct tor_plan *p, struct at *at)
{
	u32 first, count, stride;
	struct tor_span s, last;

	if (p->list) {
		first = (at->next + p->call.root) % p->call.ranks;
		count = min(at->end - at->next, p->call.ranks - first);
		at->next += count;
	} else {
		/* all nodes that differ from it only in previous dimensions */
		stride = p->grid.stride[at->dim];
		first = tor_torus_shift(&p->grid, p->call.root, at->dim, at->next++);
		first = at->child + (tor_torus_coord(&p->grid, first, at->dim) -
				     tor_torus_coord(&p->grid, at->child, at->dim)) * stride;
		first -= first % stride;
		count = stride;
	}
	s = tor_plan_own(p, 0, first);
	last = tor_plan_own(p, 0, first + count - 1);
	return (struct tor_span){ s.off, last.off + last.n - s.off };
}

/* Transfers: from the children, to the parent; reversed in a broadcast. */
static bool tree_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	bool down = p->call.collective == TORCOLL_BROADCAST ||
		    p->call.collective == TORCOLL_SCATTER || c->round >= tree_depth(p);
	struct at *at = (struct at *)c->family;
	u32 k = c->round % tree_depth(p), peer = 0;

	if (down)
		k = tree_depth(p) - 1 - k;
	while (c->transfer < 3 && !(p->list ? tree_list_peer(p, k, c->transfer, &peer) :
					      tree_torus_peer(p, k, c->transfer, &peer)))
		c->transfer++;
	if (c->transfer == 3)
		return false;
	c->src = c->transfer == 2 ? p->rank : peer;
	c->dst = c->transfer == 2 ? peer : p->rank;
	at->child = c->src;
	if (down)
		swap(c->src, c->dst);
	if (down || tree_gathers(p))
		c->op = TOR_PIECE_COPY;
	at->next = 0;
	at->end = 1;
	if (tree_gathers(p))
		tree_find_behind(p, at, k);
	return true;
}

static bool tree_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;

	if (at->next >= at->end)
		return false;
	if (tree_gathers(p)) {
		tor_piece_in_place(out, tree_next_blocks(p, at));
		return true;
	}
	at->next++;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}

const struct tor_family tor_family_tree = {
	.serves = TOR_COLL(ALLREDUCE) | TOR_COLL(BROADCAST) | TOR_COLL(REDUCE) |
		  TOR_COLL(GATHER) | TOR_COLL(SCATTER),
	.any_list = true,
	.chords = &tor_family_tree_chords,
	.init = tree_init,
	.rounds = tree_rounds,
	.transfer = tree_transfer,
	.piece = tree_piece,
};
