// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `trivance-lat` (Trivance, 2026): whole slices, on both ports of a side at
 * once, in ceil(log3 n) rounds.
 *
 * Sides that are powers of three: step k adds the partial sums of the two nodes
 * 3^k away on either side. Sides take turns.
 *
 * Other sides, one after the other: by a schedule of intervals from a table. A
 * node keeps its own value and what came from either side in each round
 * separately. In round k it gets the sum of the next w nodes to its right from
 * the node d away, which holds them as parts, and likewise from its left. (The
 * distances in the paper count contributions twice on such sides.) Before a
 * node sends, it composes parts in a local step. Not every side has such a
 * schedule: see the table.
 *
 * The same intervals carry allgather, unreduced; broadcast, as the allgather of
 * one rank; and reduce, its reversal.
 */
#include "core/plan/distance/exchange.h"
#include "core/plan/neighbour/intervals.h"

/*
 * Temporaries. Parts are never sent; messages are sent in the round after they
 * are written.
 */
#define BUF_SIDE	1		/* sums of finished sides, in turn: 1 to 3 */
#define BUF_MESSAGE	4	/* to the left, to the right: 4 and 5, in the next step 6 and 7 */
#define BUF_PART	8	/* two for each step but the last: from the right, from the left */

struct trivance_lat {
	struct tor_exchange_state exchange;
	bool powers;			/* sides are powers of three, and it is an allreduce */
	u32 rounds;
};

/* Position of a round. */
struct at {
	u32 dim, phase;			/* the dimension, and dimensions before it */
	u32 n, k, steps;
	bool local;			/* parts are composed for step k */
};

static const struct trivance_lat *lat_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct trivance_lat);
}

/* --- rounds --- */

static bool lat_is_rooted(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_BROADCAST || p->call.collective == TORCOLL_REDUCE;
}

/* Rounds along a side: every step but the first of an allreduce has a local one before it. */
static u32 lat_side_rounds(const struct tor_plan *p, u32 n)
{
	return p->call.collective == TORCOLL_ALLREDUCE ? 2 * tor_log3_up(n) - 1 : tor_log3_up(n);
}

static void lat_find_round(const struct tor_plan *p, u32 round, struct at *at)
{
	u32 rounds;

	for (at->dim = 0;; at->dim++) {
		at->n = p->grid.side[at->dim];
		rounds = lat_side_rounds(p, at->n);
		if (round < rounds)
			break;
		round -= rounds;
	}
	at->phase = at->dim;
	at->steps = tor_log3_up(at->n);
	at->k = p->call.collective == TORCOLL_ALLREDUCE ? (round + 1) / 2 : round;
	at->local = p->call.collective == TORCOLL_ALLREDUCE && round % 2;
}

static int trivance_lat_init(struct tor_plan *p, const char **why)
{
	struct trivance_lat *s = tor_plan_state(p, struct trivance_lat);
	u32 d, n, steps = 0, longest = 1;

	s->powers = p->call.collective == TORCOLL_ALLREDUCE;
	for (d = 0; d < p->grid.ndim; d++) {
		n = p->grid.side[d];
		s->powers &= tor_is_power3(n);
		steps += tor_log3_up(n);
		longest = max(longest, tor_log3_up(n));
		s->rounds += lat_side_rounds(p, n);
	}
	p->shape.peers = 2;
	if (s->powers) {
		tor_exchange_init(p, steps, p->call.ranks);
		p->shape.agrees = false;
		return 0;
	}
	for (d = 0; d < p->grid.ndim; d++)
		if (!tor_has_intervals(p->grid.side[d])) {
			*why = "trivance-lat has no schedule for a side of this length";
			return -EOPNOTSUPP;
		}
	if (p->call.collective == TORCOLL_ALLREDUCE) {
		p->shape.bufs = BUF_PART + 2 * (longest - 1);
		p->shape.alternates = true;
		p->shape.agrees = tor_plan_in_pairs(p);
	}
	return 0;
}

static u32 trivance_lat_rounds(const struct tor_plan *p, u32 channel)
{
	const struct trivance_lat *s = lat_state(p);

	if (s->powers)
		return tor_exchange_rounds(p, channel);
	/*
	 * a result complete before data may be written is copied there in round
	 * 2
	 */
	return p->call.collective == TORCOLL_ALLREDUCE ? max_t(u32, 3, s->rounds) : s->rounds;
}

/* The peers if sides are powers of three. */
static bool trivance_lat_peer(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from,
			      u32 *rank)
{
	u32 step, d;

	for (step = 0;; step++)
		for (d = 0; d < p->grid.ndim; d++)
			if (tor_power3(step) < p->grid.side[d] && !k--) {
				*rank = tor_torus_shift(&p->grid, p->rank, d,
							i ? -(s64)tor_power3(step) :
							    tor_power3(step));
				return i < 2;
			}
}

/* --- allreduce by intervals --- */

static bool lat_set(const struct tor_plan *p, struct tor_cursor *c, u32 src, u32 dst, u32 sbuf,
		    u32 dbuf, u32 op)
{
	c->src = src;
	c->dst = dst;
	c->sbuf = sbuf;
	c->dbuf = dbuf;
	c->op = op;
	c->family[0] = src == dst && sbuf == dbuf;
	return true;
}

/* The buffer with the sum over the first @phases dimensions. */
static u32 lat_side_buf(const struct tor_plan *p, u32 phases)
{
	if (!phases || (phases == p->grid.ndim && lat_state(p)->rounds > 2))
		return TOR_BUF_DATA;
	return BUF_SIDE + phases % 3;
}

static u32 lat_part_buf(u32 side, u32 k)
{
	return BUF_PART + 2 * k + side;
}

/* The buffer of the message that receivers get from @side in step @k. */
static u32 lat_message_buf(const struct tor_plan *p, const struct at *at, u32 side)
{
	return at->k ? BUF_MESSAGE + 2 * (at->k % 2) + side : lat_side_buf(p, at->phase);
}

/*
 * The @i-th part of the message of this step that the receiver gets from @side:
 * those parts, own and of both sides, that are inside the window.
 */
static bool lat_message_part(const struct tor_plan *p, const struct at *at, u32 side, u32 i,
			     u32 *buf)
{
	s32 low, high, from;
	u32 j, way;

	tor_interval_window(at->n, side, at->k, &low, &high);
	if (high < low)
		return false;
	if (low <= 0 && high >= 0 && !i--) {
		*buf = lat_side_buf(p, at->phase);
		return true;
	}
	for (j = 0; j < at->k; j++)
		for (way = 0; way < 2; way++) {
			if (!tor_interval_nodes(at->n, way, j))
				continue;
			from = tor_interval_reach(at->n, way, j) + 1;
			if (way != side)
				from = 1 - from - (s32)tor_interval_nodes(at->n, way, j);
			if (from >= low && from <= high && !i--) {
				*buf = lat_part_buf(way, j);
				return true;
			}
		}
	return false;
}

/* Local: composes both messages, part by part. */
static bool lat_local_transfer(const struct tor_plan *p, struct tor_cursor *c, const struct at *at)
{
	u32 side, buf, parts, i = c->transfer;

	for (side = 0; side < 2; side++) {
		for (parts = 0; lat_message_part(p, at, side, parts, &buf); parts++)
			if (parts == i)
				return lat_set(p, c, p->rank, p->rank, buf,
					       lat_message_buf(p, at, side),
					       i ? TOR_PIECE_REDUCE : TOR_PIECE_COPY);
		i -= parts;
	}
	return false;
}

/*
 * Transfer @i: sent to the left (which comes to others from their right), sent
 * to the right, received from the right, received from the left.
 */
static bool lat_message_transfer(const struct tor_plan *p, struct tor_cursor *c,
				 const struct at *at, u32 i)
{
	bool last = at->k == at->steps - 1, mine = i < 2;
	u32 side = i % 2, d = tor_interval_distance(at->n, side, at->k), peer;

	if (!tor_interval_nodes(at->n, side, at->k))
		return false;
	peer = tor_torus_shift(&p->grid, p->rank, at->dim, (side == 0) == mine ? -(s64)d : d);
	return lat_set(p, c, mine ? p->rank : peer, mine ? peer : p->rank,
		       lat_message_buf(p, at, side),
		       last ? lat_side_buf(p, at->phase + 1) : lat_part_buf(side, at->k),
		       last ? TOR_PIECE_REDUCE : TOR_PIECE_COPY);
}

/* In the last step: adds the own value, then all parts of this rank, to the sum. */
static bool lat_sum_transfer(const struct tor_plan *p, struct tor_cursor *c, const struct at *at,
			     u32 i)
{
	u32 k = (i - 1) / 2, side = (i - 1) % 2;

	if (!i)
		return lat_set(p, c, p->rank, p->rank, lat_side_buf(p, at->phase),
			       lat_side_buf(p, at->phase + 1), TOR_PIECE_COPY);
	return tor_interval_nodes(at->n, side, k) &&
	       lat_set(p, c, p->rank, p->rank, lat_part_buf(side, k),
		       lat_side_buf(p, at->phase + 1), TOR_PIECE_REDUCE);
}

static bool lat_allreduce_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at at;
	u32 sums;

	if (c->round >= lat_state(p)->rounds)
		return c->round == 2 && !c->transfer &&
		       lat_set(p, c, p->rank, p->rank, lat_side_buf(p, p->grid.ndim), TOR_BUF_DATA,
			       TOR_PIECE_COPY);
	lat_find_round(p, c->round, &at);
	if (at.local)
		return lat_local_transfer(p, c, &at);
	sums = at.k == at.steps - 1 ? 2 * at.steps - 1 : 0;
	for (; c->transfer < sums + 4; c->transfer++)
		if (c->transfer < sums ? lat_sum_transfer(p, c, &at, c->transfer) :
					 lat_message_transfer(p, c, &at, c->transfer - sums))
			return true;
	return false;
}

/* --- allgather, broadcast, reduce --- */

/*
 * The step in which a node gets the block of the one @away to its right, and
 * from which side.
 */
static u32 lat_step(u32 n, u32 away, u32 *side)
{
	u32 k;

	*side = away > tor_interval_reach(n, 0, tor_log3_up(n));
	if (*side)
		away = n - away;
	for (k = 0; away > tor_interval_reach(n, *side, k + 1); k++)
		;
	return k;
}

/* True if @rank gets the root's vector in this round from this side. */
static bool lat_gets_root(const struct tor_plan *p, const struct at *at, u32 side, u32 rank)
{
	const struct tor_torus *g = &p->grid;
	u32 d, from, away;

	for (d = at->dim + 1; d < g->ndim; d++)
		if (tor_torus_coord(g, rank, d) != tor_torus_coord(g, p->call.root, d))
			return false;
	away = (tor_torus_coord(g, p->call.root, at->dim) + at->n -
		tor_torus_coord(g, rank, at->dim)) % at->n;
	return away && lat_step(at->n, away, &from) == at->k && from == side;
}

/*
 * Transfers: to the left, to the right, from the right, from the left; reversed
 * in a reduce.
 */
static bool lat_gather_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	bool reduce = p->call.collective == TORCOLL_REDUCE;
	u32 side, src, dst, d;
	struct at at;

	lat_find_round(p, reduce ? lat_state(p)->rounds - 1 - c->round : c->round, &at);
	for (; c->transfer < 4; c->transfer++) {
		side = c->transfer % 2;
		d = tor_interval_distance(at.n, side, at.k);
		if (!tor_interval_nodes(at.n, side, at.k))
			continue;
		src = p->rank;
		dst = p->rank;
		if (c->transfer < 2)
			dst = tor_torus_shift(&p->grid, dst, at.dim, side ? d : -(s64)d);
		else
			src = tor_torus_shift(&p->grid, src, at.dim, side ? -(s64)d : d);
		if (lat_is_rooted(p) && !lat_gets_root(p, &at, side, dst))
			continue;
		lat_set(p, c, reduce ? dst : src, reduce ? src : dst, TOR_BUF_DATA, TOR_BUF_DATA,
			reduce ? TOR_PIECE_REDUCE : TOR_PIECE_COPY);
		/* allgather: side of the blocks */
		c->family[1] = side;
		return true;
	}
	return false;
}

/*
 * The blocks of the nodes in the window and, along finished dimensions, of all
 * nodes, dimension 0 fastest.
 */
static bool lat_gather_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	u32 i = c->family[0]++, side = c->family[1], d, rank = c->dst;
	struct at at;
	s64 away;

	lat_find_round(p, c->round, &at);
	for (d = 0; d < at.dim; d++) {
		rank = tor_torus_shift(&p->grid, rank, d, i % p->grid.side[d]);
		i /= p->grid.side[d];
	}
	if (i >= tor_interval_nodes(at.n, side, at.k))
		return false;
	away = (s64)tor_interval_reach(at.n, side, at.k) + 1 + i;
	rank = tor_torus_shift(&p->grid, rank, at.dim, side ? -away : away);
	tor_piece_in_place(out, tor_plan_own(p, c->channel, rank));
	return true;
}

/* --- the family --- */

static bool trivance_lat_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	if (lat_state(p)->powers)
		return tor_exchange_transfer(p, c);
	return p->call.collective == TORCOLL_ALLREDUCE ? lat_allreduce_transfer(p, c) :
							 lat_gather_transfer(p, c);
}

static bool trivance_lat_piece(const struct tor_plan *p, struct tor_cursor *c,
			       struct tor_piece *out)
{
	return p->call.collective == TORCOLL_ALLGATHER ? lat_gather_piece(p, c, out) :
							 tor_slice_piece(p, c, out);
}

static const struct tor_exchange trivance_exchange = {
	.peer = trivance_lat_peer,
};

const struct tor_family tor_family_trivance_lat = {
	.serves = TOR_COLL(ALLREDUCE) | TOR_COLL(ALLGATHER) | TOR_COLL(BROADCAST) |
		TOR_COLL(REDUCE),
	.exchange = &trivance_exchange,
	.init = trivance_lat_init,
	.rounds = trivance_lat_rounds,
	.transfer = trivance_lat_transfer,
	.piece = trivance_lat_piece,
};
