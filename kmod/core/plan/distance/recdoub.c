// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `recdoub-bw`: recursive halving and doubling (Thakur, Rabenseifner and Gropp
 * 2005), along each dimension: in step s the coordinates that differ in bit s
 * exchange halves.
 *
 * `recdoub-bw-mirrored`: with D more channels in which coordinate a plays the
 * part of -a, so that the other ports work as well, like Swing.
 *
 * Sides that are not powers of two are folded: the coordinates from the largest
 * power of two m on first give all they have to the one m below, which does
 * their part. In the last step these return to them their own blocks.
 */
#include "core/plan/neighbour/lines.h"

/* Coordinates that take part in the doubling: the largest power of two. */
static u32 recdoub_core(u32 n)
{
	return 1U << (fls(n) - 1);
}

static bool recdoub_folds(u32 n)
{
	return n != recdoub_core(n);
}

static u32 recdoub_steps(const struct tor_plan *p, u32 dim)
{
	u32 n = p->grid.side[dim];

	return fls(n) - 1 + (recdoub_folds(n) ? 2 : 0);
}

static u32 recdoub_peers(const struct tor_plan *p, u32 dim)
{
	return 1;
}

/* The part that a coordinate plays, and the coordinate that plays a part. */
static u32 recdoub_part(const struct tor_side *l, u32 x)
{
	return l->mirrored && x ? l->n - x : x;
}

static bool recdoub_peer(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y)
{
	u32 m = recdoub_core(l->n), z = recdoub_part(l, x);
	bool up;

	if (i)
		return false;
	if (!recdoub_folds(l->n)) {
		*y = recdoub_part(l, z ^ (1U << step));
		return true;
	}
	if (step > 0 && step < l->steps - 1) {
		*y = recdoub_part(l, z ^ (1U << (step - 1)));
		return z < m;
	}
	/* those from m on give in the first step, and receive in the last */
	up = (step == 0) == from;
	*y = recdoub_part(l, up ? z + m : z - m);
	return up ? z + m < l->n : z >= m;
}

static u32 recdoub_size(const struct tor_side *l, const struct tor_set *set)
{
	return l->n;
}

/*
 * True if the blocks of part @w are in the live set of part @z before @step: if
 * they agree in as many bits as steps were taken. The live set includes the
 * blocks of the folded coordinate until the last step.
 */
static bool recdoub_part_live(const struct tor_side *l, u32 z, u32 w, u32 step)
{
	u32 m = recdoub_core(l->n), bits = step;

	if (recdoub_folds(l->n)) {
		if (z >= m)
			return !step || (step == l->steps && z == w);
		if (step == l->steps)
			return z == w;
		bits = step ? step - 1 : 0;
	}
	return !((z ^ w) & (m - 1) & ((1U << bits) - 1));
}

static bool recdoub_nth(const struct tor_side *l, struct tor_set *set, u32 i)
{
	u32 w = recdoub_part(l, i), x = recdoub_part(l, set->from), y = recdoub_part(l, set->to);

	set->coord = i;
	if (!set->given)
		return recdoub_part_live(l, x, w, set->step);
	return recdoub_part_live(l, x, w, set->step) && recdoub_part_live(l, y, w, set->step + 1) &&
	       !recdoub_part_live(l, x, w, set->step + 1);
}

static u32 recdoub_radix(const struct tor_plan *p, u32 dim)
{
	return recdoub_folds(p->grid.side[dim]) ? 0 : 2;
}

static u32 recdoub_digit(const struct tor_side *l, u32 step, u32 from, u32 to)
{
	return recdoub_part(l, to) >> step & 1;
}

static u32 recdoub_code(const struct tor_side *l, u32 x)
{
	return recdoub_part(l, x);
}

/*
 * In the last step of a folded side, coordinates that gave everything receive
 * their own blocks.
 */
static bool recdoub_moves(const struct tor_side *l, u32 step)
{
	return recdoub_folds(l->n) && step == l->steps - 1;
}

static bool recdoub_live(const struct tor_side *l, u32 step, u32 x, u32 y)
{
	return recdoub_part_live(l, recdoub_part(l, x), recdoub_part(l, y), step);
}

#define RECDOUB_LINES				\
	.steps = recdoub_steps,			\
	.peers = recdoub_peers,			\
	.peer = recdoub_peer,			\
	.size = recdoub_size,			\
	.nth = recdoub_nth,			\
	.radix = recdoub_radix,			\
	.digit = recdoub_digit,			\
	.code = recdoub_code,			\
	.moves = recdoub_moves,			\
	.live = recdoub_live

static const struct tor_lines recdoub_lines = {
	RECDOUB_LINES,
};

const struct tor_family tor_family_recdoub_bw = {
	TOR_LINES_FAMILY(recdoub_lines),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS),
	.any_list = true,
};

static int recdoub_mirrored_setup(struct tor_plan *p, u32 dim, const char **why)
{
	if (!recdoub_folds(p->grid.side[dim]))
		return 0;
	*why = "recdoub-bw-mirrored requires sides that are powers of two";
	return -EOPNOTSUPP;
}

static const struct tor_lines mirrored_lines = {
	RECDOUB_LINES,
	.mirrors = true,
	.setup = recdoub_mirrored_setup,
};

const struct tor_family tor_family_recdoub_bw_mirrored = {
	TOR_LINES_FAMILY(mirrored_lines),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS),
};
