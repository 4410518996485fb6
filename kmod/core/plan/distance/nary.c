// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Allreduces whose partial sums grow to many times their size in a round. The
 * node at x adds the sums of the nodes at x - o for all offsets o of that
 * round, chosen such that every node is the sum of one offset (or none) per
 * round in exactly one way.
 *
 * `bruck-lat`: along a side of 3^K, offsets 3^k and 2 * 3^k. Sides take turns,
 * step by step.
 *
 * `allport`: for tori that are tiled by the plus shape of a node and its 2D
 * neighbours, q = 2D + 1. The first round adds the neighbours. What remains is
 * the lattice of the centres of the shapes, those x with sum w_i x_i = 0 modulo
 * q, where the shortest side has weight 1 and the others 2 .. D: the multiples
 * of q along the shortest side, and of e_i - w_i e_shortest for each other one.
 * For each of these, rounds add digits -D..D to base q.
 */
#include "core/plan/distance/exchange.h"

static u32 nary_log(u32 n, u32 base)
{
	u32 k;

	for (k = 0; n > 1; k++)
		n /= base;
	return k;
}

static u32 nary_power(u32 base, u32 k)
{
	u32 x = 1;

	while (k--)
		x *= base;
	return x;
}

/* True if all sides are powers of @base. */
static bool nary_all_powers(const struct tor_plan *p, u32 base)
{
	u32 d, n;

	for (d = 0; d < p->grid.ndim; d++) {
		n = p->grid.side[d];
		if (nary_power(base, nary_log(n, base)) != n)
			return false;
	}
	return true;
}

/* Move @by along @dim, or (@from) back. */
static u32 nary_move(const struct tor_plan *p, u32 rank, u32 dim, s64 by, bool from)
{
	return tor_torus_shift(&p->grid, rank, dim, from ? -by : by);
}

/* --- bruck-lat --- */

static int bruck_lat_init(struct tor_plan *p, const char **why)
{
	u32 d, rounds = 0;

	if (!nary_all_powers(p, 3)) {
		*why = "bruck-lat requires sides that are powers of three";
		return -EOPNOTSUPP;
	}
	for (d = 0; d < p->grid.ndim; d++)
		rounds += nary_log(p->grid.side[d], 3);
	tor_exchange_init(p, rounds, p->call.ranks);
	p->shape.peers = 2;
	p->shape.agrees = false;
	return 0;
}

/* The side whose turn it is in round @k, and its power of three. */
static u32 bruck_lat_find_side(const struct tor_plan *p, u32 k, u32 *dim)
{
	u32 step;

	for (step = 0;; step++)
		for (*dim = 0; *dim < p->grid.ndim; ++*dim)
			if (nary_power(3, step) < p->grid.side[*dim] && !k--)
				return nary_power(3, step);
}

static bool bruck_lat_peer(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from,
			   u32 *rank)
{
	u32 dim, unit = bruck_lat_find_side(p, k, &dim);

	*rank = nary_move(p, p->rank, dim, (i + 1) * unit, from);
	return i < 2;
}

static const struct tor_exchange bruck_exchange = {
	.peer = bruck_lat_peer,
};

const struct tor_family tor_family_bruck_lat = {
	TOR_EXCHANGE_FAMILY(bruck_exchange),
	.serves = TOR_COLL(ALLREDUCE),
	.init = bruck_lat_init,
};

/* --- allport --- */

static int allport_init(struct tor_plan *p, const char **why)
{
	u32 d, q = 2 * p->grid.ndim + 1, rounds = 0;

	for (d = 0; d < p->grid.ndim; d++) {
		rounds += nary_log(p->grid.side[d], q);
		if (p->grid.side[d] < q || !nary_all_powers(p, q)) {
			*why = "allport requires sides that are powers of (2 * dimensions + 1)";
			return -EOPNOTSUPP;
		}
	}
	tor_exchange_init(p, rounds, p->call.ranks);
	p->shape.peers = 2 * p->grid.ndim;
	p->shape.agrees = false;
	return 0;
}

/*
 * The shortest side, which the steps of the other sides refer to: multiples on
 * all others must be multiples on it.
 */
static u32 allport_shortest(const struct tor_plan *p)
{
	u32 d, least = 0;

	for (d = 1; d < p->grid.ndim; d++)
		if (p->grid.side[d] < p->grid.side[least])
			least = d;
	return least;
}

/* The side and the place of the digit of round @k, after the first round. */
static void allport_find_digit(const struct tor_plan *p, u32 k, u32 *dim, u32 *place)
{
	u32 q = 2 * p->grid.ndim + 1;

	for (*place = 0;; ++*place)
		for (*dim = 0; *dim < p->grid.ndim; ++*dim)
			/*
			 * the first round did the first digit of the shortest
			 * side
			 */
			if ((*dim != allport_shortest(p) || *place) &&
			    *place < nary_log(p->grid.side[*dim], q) && !--k)
				return;
}

static bool allport_peer(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from, u32 *rank)
{
	u32 dim, place, base = allport_shortest(p);
	s64 by = i / 2 + 1;

	*rank = p->rank;
	if (i >= 2 * p->grid.ndim)
		return false;
	if (k == 0) {
		*rank = nary_move(p, p->rank, i / 2, i % 2 ? -1 : 1, from);
		return true;
	}
	allport_find_digit(p, k, &dim, &place);
	by *= nary_power(2 * p->grid.ndim + 1, place);
	if (i % 2)
		by = -by;
	*rank = nary_move(p, p->rank, dim, by, from);
	if (dim != base)
		*rank = nary_move(p, *rank, base, -by * (s64)(dim < base ? dim + 2 : dim + 1),
				  from);
	return true;
}

static const struct tor_exchange allport_exchange = {
	.peer = allport_peer,
};

const struct tor_family tor_family_allport = {
	TOR_EXCHANGE_FAMILY(allport_exchange),
	.serves = TOR_COLL(ALLREDUCE),
	.init = allport_init,
};
