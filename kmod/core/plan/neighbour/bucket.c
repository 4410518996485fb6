// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `bucket`: rings along one dimension after the other (Jain and Sabharwal 2010;
 * the baseline of the Swing paper, section 2.3.4). Along a side of n, a block
 * starts at the node behind its owner and travels round to the owner in n - 1
 * hops, summing up. 2D channels: one starts in each dimension and direction.
 */
#include "core/plan/neighbour/lines.h"

static u32 bucket_steps(const struct tor_plan *p, u32 dim)
{
	return p->grid.side[dim] - 1;
}

static u32 bucket_peers(const struct tor_plan *p, u32 dim)
{
	return 1;
}

/* The coordinate @by steps further in the channel's direction. */
static u32 bucket_ahead(const struct tor_side *l, u32 x, u32 by)
{
	return (l->mirrored ? x + l->n - by : x + by) % l->n;
}

static bool bucket_peer(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y)
{
	*y = bucket_ahead(l, x, from ? l->n - 1 : 1);
	return i == 0;
}

static u32 bucket_size(const struct tor_side *l, const struct tor_set *set)
{
	return set->given ? 1 : l->n - set->step;
}

/*
 * Step s sends the block of the coordinate s + 1 behind. The blocks of later
 * steps and the own block stay.
 */
static bool bucket_nth(const struct tor_side *l, struct tor_set *set, u32 i)
{
	set->coord = bucket_ahead(l, set->from, l->n - 1 - set->step - i);
	return true;
}

static u32 bucket_radix(const struct tor_plan *p, u32 dim)
{
	return p->grid.side[dim];
}

static u32 bucket_digit(const struct tor_side *l, u32 step, u32 from, u32 to)
{
	return bucket_ahead(l, from, l->n - 1 - step);
}

static const struct tor_lines bucket_lines = {
	.mirrors = true,
	.in_turn = true,
	.steps = bucket_steps,
	.peers = bucket_peers,
	.peer = bucket_peer,
	.size = bucket_size,
	.nth = bucket_nth,
	.radix = bucket_radix,
	.digit = bucket_digit,
};

const struct tor_family tor_family_bucket = {
	TOR_LINES_FAMILY(bucket_lines),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS),
};
