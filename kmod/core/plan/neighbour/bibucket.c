// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `bibucket`: the bucket algorithm (reduce-scatter and allgather along one
 * dimension after the other) with every block reduced from both sides at once.
 *
 * Along a side of n, the block of coordinate b is collected by the node at b.
 * Partial sums come to it one cable per round from the nodes up to floor(n/2)
 * away on either side; those of the furthest nodes start first. That takes
 * floor(n/2) rounds instead of the n-1 of a bucket in one direction, for the
 * same bytes. If n is even, the opposite node is equally far on both sides: it
 * sends the first half of its block up and the second half down. The allgather
 * is the reversal.
 *
 * Each of the D channels starts in a different dimension, so that on equal
 * sides all channels work in different dimensions at any time. On unequal sides
 * they are not synchronised: each proceeds as soon as it can.
 *
 * Order of blocks in an allreduce: by the coordinates in the order of the
 * channel's dimensions, so that every transfer is one range.
 */
#include "core/plan/family.h"

struct bibucket {
	u32 half;			/* rounds of the reduce-scatter */
};

/* Position of a round. Kept in the cursor. */
struct at {
	u32 dim;
	u32 phase;	/* dimensions finished before, in the order of the reduce-scatter */
	u32 distance;			/* from the owner of the block */
	u32 gather;
	u32 coord;			/* along dim, of the blocks in the transfer */
	u32 part;			/* of the blocks: 0 first half, 1 second half, 2 all */
	u32 blocks;			/* in the transfer */
	u32 next;			/* next block */
};

static u32 bibucket_dim(const struct tor_plan *p, u32 channel, u32 phase)
{
	return (tor_plan_way(p, channel) + phase) % p->grid.ndim;
}

static int bibucket_init(struct tor_plan *p, const char **why)
{
	struct bibucket *s = tor_plan_state(p, struct bibucket);
	u32 d;

	p->shape.channels = tor_plan_channels(p, p->grid.ndim, p->grid.ndim);
	if (!p->shape.channels) {
		*why = "bibucket has as many channels, in each chunk, as sides longer than 1, four per dimension and 12 in all at most";
		return -EINVAL;
	}
	p->shape.peers = 2;
	for (d = 0; d < p->grid.ndim; d++)
		s->half += p->grid.side[d] / 2;
	return 0;
}

static u32 bibucket_rounds(const struct tor_plan *p, u32 channel)
{
	return tor_plan_fold_rounds(p, tor_plan_state_const(p, struct bibucket)->half);
}

static void bibucket_find_round(const struct tor_plan *p, const struct tor_cursor *c, struct at *at)
{
	bool gather;
	u32 k = tor_plan_fold(p, c->round, tor_plan_state_const(p, struct bibucket)->half, &gather);

	at->gather = gather;
	at->phase = 0;
	at->dim = bibucket_dim(p, c->channel, 0);
	while (k >= p->grid.side[at->dim] / 2) {
		k -= p->grid.side[at->dim] / 2;
		at->dim = bibucket_dim(p, c->channel, ++at->phase);
	}
	at->distance = p->grid.side[at->dim] / 2 - k;
}

/* Blocks of one coordinate along at->dim when at->phase dimensions are finished. */
static u32 bibucket_count_blocks(const struct tor_plan *p, u32 channel, const struct at *at)
{
	u32 i, n = 1;

	for (i = at->phase + 1; i < p->grid.ndim; i++)
		n *= p->grid.side[bibucket_dim(p, channel, i)];
	return n;
}

/*
 * In the reduce-scatter a node at u sends to its upper neighbour (and,
 * mirrored, to its lower one) the blocks of the node that is at->distance away.
 * Transfers: sent up, sent down, received from below, received from above.
 */
static bool bibucket_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 n, sender, way = c->transfer % 2;
	s64 sign = way ? -1 : 1;
	bool mine;

	if (!c->transfer)
		bibucket_find_round(p, c, at);
	n = p->grid.side[at->dim];
	if (c->transfer >= 4)
		return false;
	mine = (c->transfer < 2) != at->gather;
	/* the sender in the reduce-scatter */
	sender = mine ? p->rank : tor_torus_shift(&p->grid, p->rank, at->dim, -sign);
	c->src = sender;
	c->dst = tor_torus_shift(&p->grid, sender, at->dim, sign);
	if (at->gather) {
		swap(c->src, c->dst);
		c->op = TOR_PIECE_COPY;
	}
	at->coord = tor_torus_coord(&p->grid, tor_torus_shift(&p->grid, sender, at->dim,
							      sign * at->distance), at->dim);
	at->part = 2 * at->distance == n ? way : 2;
	at->next = 0;
	at->blocks = bibucket_count_blocks(p, c->channel, at);
	if (n == 2) {
		/* up and down are the same neighbour: one transfer */
		at->part = 2;
		if (way)
			at->blocks = 0;
	}
	return true;
}

/* The range of blocks in an allreduce. */
static struct tor_span bibucket_block_range(const struct tor_plan *p, u32 channel,
					    const struct at *at)
{
	u32 i, first = 0;

	for (i = 0; i < at->phase; i++) {
		u32 d = bibucket_dim(p, channel, i);

		first = first * p->grid.side[d] + tor_torus_coord(&p->grid, p->rank, d);
	}
	first = first * p->grid.side[at->dim] + at->coord;
	return tor_plan_blocks(p, channel, first * at->blocks, at->blocks);
}

/*
 * The @i-th rank whose block is transferred: free in the dimensions that are
 * not yet done.
 */
static u32 bibucket_block_rank(const struct tor_plan *p, u32 channel, const struct at *at, u32 i)
{
	const struct tor_torus *g = &p->grid;
	u32 d, rank = p->rank;

	rank += (at->coord - tor_torus_coord(g, rank, at->dim)) * g->stride[at->dim];
	for (d = 0; d < g->ndim; d++) {
		if ((d + g->ndim - tor_plan_way(p, channel)) % g->ndim <= at->phase)
			continue;
		rank += (i % g->side[d] - tor_torus_coord(g, rank, d)) * g->stride[d];
		i /= g->side[d];
	}
	return rank;
}

static bool bibucket_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	struct tor_span s;

	if (at->next >= at->blocks)
		return false;
	if (p->call.collective == TORCOLL_ALLREDUCE) {
		s = bibucket_block_range(p, c->channel, at);
		at->next = at->blocks;
	} else {
		s = tor_plan_own(p, c->channel, bibucket_block_rank(p, c->channel, at, at->next++));
	}
	tor_piece_in_place(out, at->part == 2 ? s : tor_span_half(s, at->part));
	return true;
}

const struct tor_family tor_family_bibucket = {
	.serves = TOR_COLL_BW,
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS),
	.init = bibucket_init,
	.rounds = bibucket_rounds,
	.transfer = bibucket_transfer,
	.piece = bibucket_piece,
};
