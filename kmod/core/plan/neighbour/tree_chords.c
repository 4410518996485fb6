// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `tree` on a ring with chords: every rank is the child of a neighbour that is
 * one hop nearer to the root, of several that by the lowest port. The furthest
 * ranks send first; after as many rounds as the diameter the root has the sum.
 * See tree.c, which also serves a gather and a scatter here, on the ring.
 */
#include "core/layers.h"
#include "core/plan/family.h"

/*
 * @depth: rounds of the reduce
 * @hops: from the root
 * @parent: port by which the parent reaches this rank
 * @children: ports that lead to children
 */
struct tree {
	u32 depth;
	u32 hops;
	u32 parent;
	u32 children;
};

static u32 tree_chords_lowest(u32 ports)
{
	return __ffs64(ports);
}

static int tree_chords_init(struct tor_plan *p, const char **why)
{
	struct tree *s = tor_plan_state(p, struct tree);
	const struct tor_torus *t = p->call.torus;
	u32 self = (p->rank + p->call.ranks - p->call.root) % p->call.ranks, port, child;
	struct tor_layers l;

	tor_layers_begin(&l, t);
	while (!tor_layer_has(l.at, self))
		tor_layers_next(&l);
	s->hops = l.hops;
	if (s->hops)
		s->parent = tree_chords_lowest(tor_layers_ports(&l, self));
	while (tor_layers_next(&l)) {
		for (port = 0; port < t->ports && l.hops == s->hops + 1; port++) {
			child = tor_layers_back(t, self, port ^ 1);
			if (tor_layer_has(l.at, child) &&
			    tree_chords_lowest(tor_layers_ports(&l, child)) == port)
				s->children |= 1U << port;
		}
	}
	s->depth = l.hops - 1;
	p->shape.peers = t->ports;
	return 0;
}

static u32 tree_chords_rounds(const struct tor_plan *p, u32 channel)
{
	u32 depth = tor_plan_state_const(p, struct tree)->depth;

	return p->call.collective == TORCOLL_ALLREDUCE ? 2 * depth : depth;
}

/* Transfers: from the children, to the parent; reversed in a broadcast. */
static bool tree_chords_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	const struct tree *s = tor_plan_state_const(p, struct tree);
	const struct tor_torus *t = p->call.torus;
	bool down = p->call.collective == TORCOLL_BROADCAST || c->round >= s->depth;
	u32 k = c->round % s->depth, hops = down ? k + 1 : s->depth - k;

	/* ranks this far away send */
	if (s->hops + 1 == hops)
		while (c->transfer < t->ports && !(s->children >> c->transfer & 1))
			c->transfer++;
	else
		c->transfer = max_t(u32, c->transfer, t->ports);
	if (c->transfer > t->ports || (c->transfer == t->ports && s->hops != hops))
		return false;
	if (c->transfer < t->ports) {
		c->src = tor_layers_back(t, p->rank, c->transfer ^ 1);
		c->dst = p->rank;
	} else {
		c->src = p->rank;
		c->dst = tor_layers_back(t, p->rank, s->parent);
	}
	if (down) {
		swap(c->src, c->dst);
		c->op = TOR_PIECE_COPY;
	}
	c->family[0] = 0;
	return true;
}

static bool tree_chords_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	if (c->family[0]++)
		return false;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}

const struct tor_family tor_family_tree_chords = {
	.serves = TOR_COLL(ALLREDUCE) | TOR_COLL(BROADCAST) | TOR_COLL(REDUCE),
	.init = tree_chords_init,
	.rounds = tree_chords_rounds,
	.transfer = tree_chords_transfer,
	.piece = tree_chords_piece,
};
