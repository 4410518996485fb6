// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `flood`: contributions are passed on unreduced between neighbours only, in
 * both directions, one dimension after the other. After as many rounds as the
 * diameter of the torus every node has all of them and adds them up in the
 * order of ranks: the sequential sum, the same bits on all ranks. For vectors
 * so short that those of all ranks fit into a few frames.
 *
 * Along a side, round t passes the contribution of the node t behind one node
 * further. Everything that the previous dimensions collected travels as one. If
 * n is even, the opposite node is equally far in both directions: the last
 * round brings its first half from below and its second half from above.
 *
 * The same without the sum is an allgather; with the root's vector alone, a
 * broadcast. In a reduce, contributions take the shorter way to the root; the
 * opposite node sends one half each way.
 *
 * Each rank's contribution has a temporary of its own that is written once.
 * Data is sent only in round 0, and may be written two rounds later.
 */
#include "core/plan/family.h"

/* Position of a round, and the contents of a transfer. Kept in the cursor. */
struct at {
	u32 dim, t;			/* round t of the dimension */
	u32 first, end;			/* ranks whose contributions are sent: [first, end) */
	u32 part;			/* of each: 0 first half, 1 second half, 2 all */
};

static bool flood_reduces(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_ALLREDUCE || p->call.collective == TORCOLL_REDUCE;
}

/* Number of hops that vectors travel. Cached, because every piece needs it. */
struct flood {
	u32 passes;
};

static u32 flood_passes(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct flood)->passes;
}

static int flood_init(struct tor_plan *p, const char **why)
{
	p->shape.peers = 2;
	tor_plan_state(p, struct flood)->passes = tor_torus_diameter(&p->grid);
	if (!flood_reduces(p))
		return 0;
	if (p->call.ranks >= TOR_MAX_BUFS) {
		*why = "flood keeps every rank's vector: too many ranks for that";
		return -EOPNOTSUPP;
	}
	p->shape.bufs = 1 + p->call.ranks;
	p->shape.sequential = true;
	p->shape.alternates = p->call.collective == TORCOLL_ALLREDUCE;
	return 0;
}

static u32 flood_buf(u32 rank)
{
	return 1 + rank;
}

/* The round in which contributions are added up. */
static u32 flood_sum_round(const struct tor_plan *p)
{
	u32 passes = flood_passes(p);

	return p->call.collective == TORCOLL_ALLREDUCE ? max_t(u32, passes, 2) : passes;
}

static u32 flood_rounds(const struct tor_plan *p, u32 channel)
{
	return flood_reduces(p) ? flood_sum_round(p) + 1 : flood_passes(p);
}

/* True if two ranks have the same coordinates in dimensions @from to below @end. */
static bool flood_aligned(const struct tor_plan *p, u32 a, u32 b, u32 from, u32 end)
{
	u32 d;

	for (d = from; d < end; d++)
		if (tor_torus_coord(&p->grid, a, d) != tor_torus_coord(&p->grid, b, d))
			return false;
	return true;
}

/*
 * True if the contribution of coordinate @y goes on upwards (or @down) in this
 * round, in the line of this rank. Sets at->part.
 */
static bool flood_goes(const struct tor_plan *p, struct at *at, u32 y, bool down)
{
	u32 n = p->grid.side[at->dim], far = at->t + 1, root;

	if (p->call.collective == TORCOLL_BROADCAST &&
	    (y != tor_torus_coord(&p->grid, p->call.root, at->dim) ||
	     !flood_aligned(p, p->rank, p->call.root, at->dim + 1, p->grid.ndim)))
		return false;
	if (p->call.collective == TORCOLL_REDUCE) {
		if (!flood_aligned(p, p->rank, p->call.root, 0, at->dim))
			return false;
		root = tor_torus_coord(&p->grid, p->call.root, at->dim);
		/* it goes as far as the root, unless the other way is shorter */
		far = (down ? y + n - root : root + n - y) % n;
		if (at->t >= far || 2 * far > n)
			return false;
	}
	at->part = 2 * far == n ? down : 2;
	/* both neighbours are one node: everything goes upwards */
	if (n == 2)
		at->part = 2;
	return n > 2 || !down;
}

static void flood_find_round(const struct tor_plan *p, u32 k, struct at *at)
{
	for (at->dim = 0; k >= p->grid.side[at->dim] / 2; at->dim++)
		k -= p->grid.side[at->dim] / 2;
	at->t = k;
}

/* Transfers: sent up, sent down, received from below, received from above. */
static bool flood_pass_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 i)
{
	struct at *at = (struct at *)c->family;
	const struct tor_torus *g = &p->grid;
	bool down = i % 2, mine = i < 2;
	s64 ahead = down ? -1 : 1;
	u32 stride, from;

	c->src = mine ? p->rank : tor_torus_shift(g, p->rank, at->dim, -ahead);
	c->dst = tor_torus_shift(g, c->src, at->dim, ahead);
	from = tor_torus_shift(g, c->src, at->dim, -ahead * (s64)at->t);
	if (!flood_goes(p, at, tor_torus_coord(g, from, at->dim), down))
		return false;
	/* all ranks that differ from it only in previous dimensions */
	stride = g->stride[at->dim];
	at->first = from - from % stride;
	at->end = at->first + stride;
	c->op = TOR_PIECE_COPY;
	return true;
}

/* Local: moves the own contribution, so that data may be written later. */
static bool flood_keep_own(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;

	if (c->round || !flood_reduces(p) ||
	    (p->call.collective == TORCOLL_REDUCE && p->rank != p->call.root))
		return false;
	c->src = p->rank;
	c->dst = p->rank;
	c->op = TOR_PIECE_COPY;
	at->first = p->rank;
	at->end = p->rank + 1;
	at->part = 2;
	return true;
}

/* Local: sums all contributions, in order, into data. */
static bool flood_sum_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;

	if (c->transfer || (p->call.collective == TORCOLL_REDUCE && p->rank != p->call.root))
		return false;
	c->src = p->rank;
	c->dst = p->rank;
	at->first = 0;
	at->end = p->call.ranks;
	at->part = 2;
	return true;
}

static bool flood_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	if (flood_reduces(p) && c->round == flood_sum_round(p))
		return flood_sum_transfer(p, c);
	if (c->round >= flood_passes(p))
		return false;
	flood_find_round(p, c->round, (struct at *)c->family);
	for (; c->transfer < 5; c->transfer++)
		if (c->transfer ? flood_pass_transfer(p, c, c->transfer - 1) : flood_keep_own(p, c))
			return true;
	return false;
}

/*
 * One rank's contribution. Each has a buffer of its own; this rank's is in data
 * at first.
 */
static bool flood_vector_piece(const struct tor_plan *p, struct tor_cursor *c,
			       struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	struct tor_span s = tor_plan_slice(p, c->channel);
	bool sums = c->round == flood_sum_round(p);
	u32 rank = at->first++;

	if (rank >= at->end)
		return false;
	/* in a reduce only the sum at the root reads the own buffer */
	out->sbuf = flood_buf(rank);
	if (rank == c->src && !sums && (!c->round || p->call.collective == TORCOLL_REDUCE))
		out->sbuf = TOR_BUF_DATA;
	out->dbuf = sums ? TOR_BUF_DATA : flood_buf(rank);
	out->op = sums && rank ? TOR_PIECE_REDUCE : TOR_PIECE_COPY;
	tor_piece_in_place(out, at->part == 2 ? s : tor_span_half(s, at->part));
	return true;
}

/*
 * An allgather sends the blocks of these ranks, which are adjacent; a broadcast
 * the whole vector.
 */
static bool flood_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	struct tor_span s, last;

	if (flood_reduces(p))
		return flood_vector_piece(p, c, out);
	if (at->first == at->end)
		return false;
	s = tor_plan_slice(p, c->channel);
	if (p->call.collective == TORCOLL_ALLGATHER) {
		s = tor_plan_own(p, c->channel, at->first);
		last = tor_plan_own(p, c->channel, at->end - 1);
		s.n = last.off + last.n - s.off;
	}
	at->first = at->end;
	tor_piece_in_place(out, at->part == 2 ? s : tor_span_half(s, at->part));
	return true;
}

const struct tor_family tor_family_flood = {
	.serves = TOR_COLL(ALLREDUCE) | TOR_COLL(ALLGATHER) | TOR_COLL(BROADCAST) |
		TOR_COLL(REDUCE),
	.any_list = true,
	.chords = &tor_family_flood_chords,
	.init = flood_init,
	.rounds = flood_rounds,
	.transfer = flood_transfer,
	.piece = flood_piece,
};
