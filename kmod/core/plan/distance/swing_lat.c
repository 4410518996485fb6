// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `swing-lat`: Swing's peers (see plan/distance/swing.c), the whole slice in
 * every round. De Sensi et al., section 3.1.2. Sides must be powers of two: on
 * others contributions would count twice.
 *
 * The same pattern carries broadcast: every node that has the data sends it to
 * its peer in every round; and, reversed, reduce. On a torus, k bits tell which
 * nodes a node can reach in the rounds from k on (see swing_digit()), so a rank
 * finds the one round in which it is reached by following the path from the
 * root.
 */
#include "core/plan/distance/exchange.h"
#include "core/plan/distance/swing.h"

struct swing_lat {
	struct tor_exchange_state exchange;
	/* round in which a broadcast reaches this rank, plus 1; root: 0 */
	u8 reached[TOR_MAX_CHANNELS];
};

/*
 * Dimension and step of round @k: dimensions take turns; finished ones are
 * skipped.
 */
static void swing_lat_find_step(const struct tor_plan *p, u32 channel, u32 k, u32 *dim, u32 *step)
{
	u32 i;

	for (*step = 0;; ++*step) {
		for (i = 0; i < p->grid.ndim; i++) {
			*dim = (channel + i) % p->grid.ndim;
			if (2U << *step <= p->grid.side[*dim] && !k--)
				return;
		}
	}
}

static u32 swing_lat_peer_of(const struct tor_plan *p, u32 channel, u32 k, u32 rank)
{
	u32 dim, step, x, y;

	swing_lat_find_step(p, channel, k, &dim, &step);
	x = tor_torus_coord(&p->grid, rank, dim);
	y = tor_swing_peer(p->grid.side[dim], x, step, channel >= p->grid.ndim);
	return rank + (y - x) * p->grid.stride[dim];
}

/*
 * True if the path to @to, which is at @at in round @k, leaves @at in that
 * round.
 */
static bool swing_lat_parts(const struct tor_plan *p, u32 channel, u32 k, u32 at, u32 to)
{
	bool mirrored = channel >= p->grid.ndim;
	u32 dim, step, n;

	swing_lat_find_step(p, channel, k, &dim, &step);
	n = p->grid.side[dim];
	return tor_swing_half(n, tor_torus_coord(&p->grid, at, dim), step, mirrored) !=
	       tor_swing_half(n, tor_torus_coord(&p->grid, to, dim), step, mirrored);
}

static u32 swing_lat_find_reached(const struct tor_plan *p, u32 channel, u32 rounds)
{
	u32 k, at = p->call.root, reached = 0;

	for (k = 0; k < rounds; k++)
		if (swing_lat_parts(p, channel, k, at, p->rank)) {
			at = swing_lat_peer_of(p, channel, k, at);
			reached = k + 1;
		}
	return reached;
}

static int swing_lat_init(struct tor_plan *p, const char **why)
{
	struct swing_lat *s = tor_plan_state(p, struct swing_lat);
	u32 d, n, ch, rounds = 0;
	bool small = true;

	p->shape.channels = tor_plan_channels(p, 1, 2 * p->grid.ndim);
	if (!p->shape.channels) {
		*why = "swing has at most two channels per side longer than 1";
		return -EINVAL;
	}
	for (d = 0; d < p->grid.ndim; d++) {
		n = p->grid.side[d];
		if (n & (n - 1)) {
			*why = "swing-lat requires sides that are powers of two";
			return -EOPNOTSUPP;
		}
		rounds += fls(n) - 1;
		small &= n <= 4;
	}
	if (p->call.collective == TORCOLL_ALLREDUCE) {
		tor_exchange_init(p, rounds, p->call.ranks);
		p->shape.agrees = small;
		return 0;
	}
	s->exchange.exchanges = rounds;
	for (ch = 0; ch < p->shape.channels; ch++)
		s->reached[ch] = swing_lat_find_reached(p, ch, rounds);
	return 0;
}

static u32 swing_lat_rounds(const struct tor_plan *p, u32 channel)
{
	if (p->call.collective == TORCOLL_ALLREDUCE)
		return tor_exchange_rounds(p, channel);
	return tor_plan_state_const(p, struct swing_lat)->exchange.exchanges;
}

static bool swing_lat_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	const struct swing_lat *s = tor_plan_state_const(p, struct swing_lat);
	u32 k = c->round, reached = s->reached[c->channel];
	bool down = p->call.collective == TORCOLL_BROADCAST;

	if (p->call.collective == TORCOLL_ALLREDUCE)
		return tor_exchange_transfer(p, c);
	if (!down)
		k = s->exchange.exchanges - 1 - k;
	if (c->transfer || k + 1 < reached)
		return false;
	c->src = p->rank;
	c->dst = swing_lat_peer_of(p, c->channel, k, p->rank);
	if ((k + 1 == reached) == down)
		swap(c->src, c->dst);
	c->op = down ? TOR_PIECE_COPY : TOR_PIECE_REDUCE;
	c->family[0] = 0;
	return true;
}

static bool swing_lat_peer(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from,
			   u32 *rank)
{
	*rank = swing_lat_peer_of(p, channel, k, p->rank);
	return i == 0;
}

static const struct tor_exchange swing_exchange = {
	.peer = swing_lat_peer,
};

const struct tor_family tor_family_swing_lat = {
	.serves = TOR_COLL(ALLREDUCE) | TOR_COLL(BROADCAST) | TOR_COLL(REDUCE),
	.params = TOR_PARAM(CHANNELS),
	.exchange = &swing_exchange,
	.init = swing_lat_init,
	.rounds = swing_lat_rounds,
	.transfer = swing_lat_transfer,
	.piece = tor_slice_piece,
};
