// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `layers`: on a ring with chords, between neighbours only, in as many rounds
 * as the diameter. An allgather brings the blocks of the ranks one hop away,
 * then of those two hops away, and so on, divided among the ports: see
 * chords.h. A reduce-scatter is the same backwards: partial sums of a block,
 * from the ranks that are furthest from its owner, add up on the way to it. An
 * allreduce is both in turn.
 *
 * Each part of a block goes along a tree with its owner at the root.
 */
#include "core/plan/neighbour/chords.h"

static int layers_init(struct tor_plan *p, const char **why)
{
	if (!p->chords) {
		*why = "layers serves all nodes of a ring with chords, in their order";
		return -EOPNOTSUPP;
	}
	p->shape.channels = tor_plan_channels(p, 1, 1);
	if (!p->shape.channels) {
		*why = "layers has a single channel, times the chunks: these are too many";
		return -EINVAL;
	}
	tor_chords_init(p);
	p->shape.peers = p->call.torus->ports;
	return 0;
}

static u32 layers_rounds(const struct tor_plan *p, u32 channel)
{
	return tor_plan_fold_rounds(p, tor_chords_depth(p));
}

/* Transfers, for each port: with the rank behind it, with that ahead. */
static bool layers_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct tor_chord_at *at = (struct tor_chord_at *)c->family;
	u32 port = c->transfer / 2, k, near, far;
	bool gather;

	static_assert(sizeof(*at) <= sizeof(c->family));
	if (port >= p->call.torus->ports)
		return false;
	k = tor_plan_fold(p, c->round, tor_chords_depth(p), &gather);
	/* one is nearer to the owners of the blocks than the other */
	far = c->transfer % 2 ? tor_chords_ahead(p, p->rank, port) : p->rank;
	near = tor_chords_behind(p, far, port);
	c->src = gather ? near : far;
	c->dst = gather ? far : near;
	if (gather)
		c->op = TOR_PIECE_COPY;
	tor_chords_begin(p, at, tor_chords_depth(p) - k, port);
	return true;
}

static bool layers_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct tor_chord_at *at = (struct tor_chord_at *)c->family;
	u32 far = c->op == TOR_PIECE_COPY ? c->dst : c->src, offset;
	struct tor_span own;
	u16 share[2];

	if (!tor_chords_next(p, at, &offset, share))
		return false;
	own = tor_plan_own(p, c->channel, tor_chords_before(p, far, offset));
	tor_piece_in_place(out, tor_chords_cut(own, share));
	return true;
}

const struct tor_family tor_family_layers = {
	.serves = TOR_COLL_BW,
	.params = TOR_PARAM(CHUNKS),
	.init = layers_init,
	.rounds = layers_rounds,
	.transfer = layers_transfer,
	.piece = layers_piece,
};
