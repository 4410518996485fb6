// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `recdoub-lat`: recursive doubling, the whole slice in every round. On a torus
 * of powers of two, step s of every dimension in turn. On any other list, over
 * the ranks, with those from the largest power of two on folded onto the first
 * ones.
 */
#include "core/plan/distance/exchange.h"

static bool recdoub_lat_all_powers(const struct tor_plan *p)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++)
		if (p->grid.side[d] & (p->grid.side[d] - 1))
			return false;
	return true;
}

static int recdoub_lat_init(struct tor_plan *p, const char **why)
{
	u32 steps = fls(p->call.ranks) - 1;

	tor_exchange_init(p, steps, 1U << steps);
	return 0;
}

/* Step @k of the dimensions in turn, as the bit in which ranks differ. */
static u32 recdoub_lat_torus_bit(const struct tor_plan *p, u32 k)
{
	u32 step, d;

	for (step = 0;; step++)
		for (d = 0; d < p->grid.ndim; d++)
			if (2U << step <= p->grid.side[d] && !k--)
				return p->grid.stride[d] << step;
}

static bool recdoub_lat_peer(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from,
			     u32 *rank)
{
	/*
	 * strides are powers of two too, so a bit of a coordinate is a bit of
	 * the rank
	 */
	*rank = p->rank ^ (recdoub_lat_all_powers(p) ? recdoub_lat_torus_bit(p, k) : 1U << k);
	return i == 0;
}

static const struct tor_exchange recdoub_exchange = {
	.peer = recdoub_lat_peer,
};

const struct tor_family tor_family_recdoub_lat = {
	TOR_EXCHANGE_FAMILY(recdoub_exchange),
	.serves = TOR_COLL(ALLREDUCE),
	.any_list = true,
	.init = recdoub_lat_init,
};
