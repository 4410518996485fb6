// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plans along closed cycles of ranks.
 *
 * `ring`: the ranks in the order of the list, one channel per direction.
 * Reduce-scatter: a block starts behind its owner and travels once round,
 * summing up; allgather: the reversal. Broadcast: the vector in blocks, one
 * after the other, from the root along both halves of the ring; reduce: the
 * reversal.
 *
 * `hamiltonian`: two edge-disjoint cycles through all nodes of a 2D torus, each
 * in both directions (Swing paper, section 2.3.3). With r rows of c nodes, r =
 * c * k and gcd(r, c - 1) = 1: the first cycle takes c - 1 steps along a row,
 * then one to the next row; the other takes c - 1 steps along a column, then
 * one to the next column. In row i the first cycle skips the cable between
 * columns -i - 1 and -i, which is the one that the second needs.
 */
#include "core/plan/family.h"

#define RING_BLOCKS	8		/* of a broadcast, unless asked for */
#define CHANNELS	4		/* of two cycles */

/*
 * Place of this rank on a channel's cycle, and its neighbours in the channel's
 * direction.
 */
struct place {
	u32 own;
	u32 before, after;		/* ranks */
};

struct cycle {
	u32 r, c;			/* rows, columns; r = 0: the order of ranks */
	u32 row_dim;			/* the dimension in which the row number counts */
	u32 inverse;			/* of c - 1 modulo r */
	u32 blocks;			/* of a broadcast or reduce */
	struct place place[CHANNELS];
};

static const struct cycle *cycle_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct cycle);
}

/* --- places on a cycle --- */

static u32 cycle_mul_mod(u32 a, u32 b, u32 n)
{
	u64 x = (u64)a * b;

	return x - tor_div64(x, n) * n;
}

/* The place of a rank on its channel's cycle. */
static u32 cycle_place(const struct tor_plan *p, u32 channel, u32 rank)
{
	const struct cycle *s = cycle_state(p);
	u32 row, col, step;

	if (!s->r)
		return rank;
	row = tor_torus_coord(&p->grid, rank, s->row_dim);
	col = tor_torus_coord(&p->grid, rank, 1 - s->row_dim);
	step = (row + col) % s->c;
	if (channel / 2 == 0)
		return row * s->c + step;
	return cycle_mul_mod((row + s->r - step % s->r) % s->r, s->inverse, s->r) * s->c + step;
}

static u32 cycle_rank(const struct tor_plan *p, u32 channel, u32 place)
{
	const struct cycle *s = cycle_state(p);
	u32 row, col, turn, step;

	if (!s->r)
		return place;
	turn = place / s->c;
	step = place % s->c;
	if (channel / 2 == 0) {
		row = turn;
		col = (step + s->c - turn % s->c) % s->c;
	} else {
		row = (cycle_mul_mod(turn, s->c - 1, s->r) + step) % s->r;
		col = turn % s->c;
	}
	return row * p->grid.stride[s->row_dim] + col * p->grid.stride[1 - s->row_dim];
}

/* The place @by further in the channel's direction. */
static u32 cycle_ahead(const struct tor_plan *p, u32 channel, u32 place, u32 by)
{
	u32 n = p->call.ranks;

	return (channel % 2 ? place + n - by : place + by) % n;
}

static void cycle_find_places(struct tor_plan *p)
{
	struct cycle *s = tor_plan_state(p, struct cycle);
	u32 ch, own;

	for (ch = 0; ch < p->shape.channels; ch++) {
		own = cycle_place(p, ch, p->rank);
		s->place[ch] = (struct place){
			.own = own,
			.before = cycle_rank(p, ch, cycle_ahead(p, ch, own, p->call.ranks - 1)),
			.after = cycle_rank(p, ch, cycle_ahead(p, ch, own, 1)),
		};
	}
}

/* --- reduce-scatter and allgather --- */

static bool cycle_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	const struct place *at = &cycle_state(p)->place[c->channel];
	u32 n = p->call.ranks, step, by;
	bool gather;

	if (c->transfer > 1)
		return false;
	step = tor_plan_fold(p, c->round, n - 1, &gather);
	/* 0: sent in the reduce-scatter, 1: received */
	c->src = c->transfer ? at->before : p->rank;
	c->dst = c->transfer ? p->rank : at->after;
	/*
	 * the sender, this rank or the one before, sends the block this far
	 * ahead of it
	 */
	by = n - 1 - step;
	if (c->transfer)
		by = by ? by - 1 : n - 1;
	c->family[0] = cycle_ahead(p, c->channel, at->own, by);
	c->family[1] = 0;
	if (gather) {
		swap(c->src, c->dst);
		c->op = TOR_PIECE_COPY;
	}
	return true;
}

static bool cycle_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	if (c->family[1]++)
		return false;
	tor_piece_in_place(out, tor_plan_own(p, c->channel,
					     cycle_rank(p, c->channel, c->family[0])));
	return true;
}

static u32 cycle_rounds(const struct tor_plan *p, u32 channel)
{
	return tor_plan_fold_rounds(p, p->call.ranks - 1);
}

/* --- ring: broadcast and reduce --- */

/* Ranks above the root; the others are reached downwards. */
static u32 pipe_upper(const struct tor_plan *p)
{
	return p->call.ranks / 2;
}

static u32 pipe_rounds(const struct tor_plan *p)
{
	return pipe_upper(p) + cycle_state(p)->blocks - 1;
}

/*
 * Peers in a broadcast, as offsets from the root: the sender to this rank (@i
 * 0), the receivers upwards (1) and downwards (2).
 */
static bool pipe_peer(const struct tor_plan *p, u32 i, u32 o, u32 *peer)
{
	u32 n = p->call.ranks, up = pipe_upper(p);

	if (i == 0) {
		*peer = o <= up ? o - 1 : (o + 1) % n;
		return o > 0;
	}
	*peer = i == 1 ? o + 1 : (o + n - 1) % n;
	return i == 1 ? o < up : *peer > up && (o == 0 || o > up);
}

/*
 * Round t of a broadcast brings block t - d + 1 to the ranks at distance d from
 * the root.
 */
static bool pipe_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	u32 n = p->call.ranks, o = (p->rank + n - p->call.root) % n, peer = 0, t, d;
	bool down = p->call.collective == TORCOLL_BROADCAST, sends = false;

	t = down ? c->round : pipe_rounds(p) - 1 - c->round;
	d = o > pipe_upper(p) ? n - o : o;
	for (; c->transfer < 3; c->transfer++) {
		sends = c->transfer > 0;
		if (pipe_peer(p, c->transfer, o, &peer) && t + !sends >= d &&
		    t + !sends - d < cycle_state(p)->blocks)
			break;
	}
	if (c->transfer == 3)
		return false;
	c->src = p->rank;
	c->dst = (peer + p->call.root) % n;
	if (sends != down)
		swap(c->src, c->dst);
	c->op = down ? TOR_PIECE_COPY : TOR_PIECE_REDUCE;
	c->family[0] = t + !sends - d;
	c->family[1] = 0;
	return true;
}

static bool pipe_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	u32 blocks = cycle_state(p)->blocks;

	if (c->family[1]++)
		return false;
	tor_piece_in_place(out, (struct tor_span){
		tor_block_start(p->call.count, blocks, c->family[0]),
		tor_block_len(p->call.count, blocks, c->family[0]),
	});
	return true;
}

/* --- families --- */

static bool ring_is_pipe(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_BROADCAST || p->call.collective == TORCOLL_REDUCE;
}

static int ring_init(struct tor_plan *p, const char **why)
{
	struct cycle *s = tor_plan_state(p, struct cycle);
	u32 blocks = p->call.param[TORCOLL_PARAM_BLOCKS];

	if (ring_is_pipe(p)) {
		s->blocks = min_t(u64, blocks ? blocks : RING_BLOCKS, p->call.count);
		p->shape.peers = 2;
		if (p->call.param[TORCOLL_PARAM_CHANNELS] <= 1)
			return 0;
		*why = "ring broadcasts and reduces in one channel";
		return -EINVAL;
	}
	p->shape.channels = tor_plan_channels(p, 2, 2);
	if (p->shape.channels && !blocks) {
		cycle_find_places(p);
		return 0;
	}
	*why = blocks ? "only broadcast and reduce have blocks" : "ring has at most two channels";
	return -EINVAL;
}

static u32 ring_rounds(const struct tor_plan *p, u32 channel)
{
	return ring_is_pipe(p) ? pipe_rounds(p) : cycle_rounds(p, channel);
}

static bool ring_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	return ring_is_pipe(p) ? pipe_transfer(p, c) : cycle_transfer(p, c);
}

static bool ring_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	return ring_is_pipe(p) ? pipe_piece(p, c, out) : cycle_piece(p, c, out);
}

const struct tor_family tor_family_ring = {
	.serves = TOR_COLL_BW | TOR_COLL(BROADCAST) | TOR_COLL(REDUCE),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(BLOCKS),
	.any_list = true,
	.init = ring_init,
	.rounds = ring_rounds,
	.transfer = ring_transfer,
	.piece = ring_piece,
};

/* The inverse of @a modulo @n, or 0 if there is none. */
static u32 cycle_invert(u32 a, u32 n)
{
	s64 x = 0, y = 1, r = n, q = a % n, t, k;

	while (q) {
		k = (u32)r / (u32)q;
		t = r - k * q;
		r = q;
		q = t;
		t = x - k * y;
		x = y;
		y = t;
	}
	return r == 1 ? (u32)(x < 0 ? x + n : x) : 0;
}

static int hamiltonian_init(struct tor_plan *p, const char **why)
{
	struct cycle *s = tor_plan_state(p, struct cycle);
	u32 d;

	p->shape.channels = tor_plan_channels(p, CHANNELS, CHANNELS);
	if (!p->shape.channels) {
		*why = "hamiltonian has at most four channels";
		return -EINVAL;
	}
	for (d = 0; p->grid.ndim == 2 && d < 2; d++) {
		u32 r = p->grid.side[d], c = p->grid.side[1 - d];

		if (r % c || !cycle_invert(c - 1, r))
			continue;
		s->r = r;
		s->c = c;
		s->row_dim = d;
		s->inverse = cycle_invert(c - 1, r);
		cycle_find_places(p);
		return 0;
	}
	*why = "hamiltonian requires a 2D torus with sides r = c * k and gcd(r, c - 1) = 1";
	return -EOPNOTSUPP;
}

const struct tor_family tor_family_hamiltonian = {
	.serves = TOR_COLL_BW,
	.params = TOR_PARAM(CHANNELS),
	.init = hamiltonian_init,
	.rounds = cycle_rounds,
	.transfer = cycle_transfer,
	.piece = cycle_piece,
};
