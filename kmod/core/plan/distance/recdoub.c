// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `recdoub-bw`: recursive halving and doubling (Thakur, Rabenseifner and Gropp 2005), along each
 * dimension: in step s the coordinates that differ in bit s exchange halves.
 *
 * `recdoub-bw-mirrored`: with D more channels in which coordinate a plays the part of -a, so that the
 * other ports work as well, as Swing does it.
 *
 * Sides that are no powers of two are folded: the coordinates from the largest power of two m on first
 * give all they have to the one m below, which does their part; in the last step these give them
 * their own blocks.
 */
#include "core/plan/neighbour/lines.h"

/* Coordinates that take part in the doubling: the largest power of two. */
static u32 core_of(u32 n)
{
	return 1U << (fls(n) - 1);
}

static bool folds(u32 n)
{
	return n != core_of(n);
}

static u32 recdoub_steps(const struct tor_plan *p, u32 dim)
{
	u32 n = p->grid.side[dim];

	return fls(n) - 1 + (folds(n) ? 2 : 0);
}

static u32 recdoub_peers(const struct tor_plan *p, u32 dim)
{
	return 1;
}

/* The part that a coordinate plays, and the other way round. */
static u32 part_of(const struct tor_side *l, u32 x)
{
	return l->mirrored && x ? l->n - x : x;
}

static bool recdoub_peer(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y)
{
	u32 m = core_of(l->n), z = part_of(l, x);
	bool up;

	if (i)
		return false;
	if (!folds(l->n)) {
		*y = part_of(l, z ^ (1U << step));
		return true;
	}
	if (step > 0 && step < l->steps - 1) {
		*y = part_of(l, z ^ (1U << (step - 1)));
		return z < m;
	}
	/* those from m on give at first, and get at last */
	up = (step == 0) == from;
	*y = part_of(l, up ? z + m : z - m);
	return up ? z + m < l->n : z >= m;
}

static u32 recdoub_size(const struct tor_side *l, const struct tor_set *set)
{
	return l->n;
}

/*
 * Does the one who plays @z have to do with the blocks of @w before @step? If they agree in as many
 * bits as steps were taken; that is, those of the one that it stands for, too, until the last step.
 */
static bool live(const struct tor_side *l, u32 z, u32 w, u32 step)
{
	u32 m = core_of(l->n), bits = step;

	if (folds(l->n)) {
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
	u32 w = part_of(l, i), x = part_of(l, set->from), y = part_of(l, set->to);

	set->coord = i;
	if (!set->given)
		return live(l, x, w, set->step);
	return live(l, x, w, set->step) && live(l, y, w, set->step + 1) &&
	       !live(l, x, w, set->step + 1);
}

static u32 recdoub_radix(const struct tor_plan *p, u32 dim)
{
	return folds(p->grid.side[dim]) ? 0 : 2;
}

static u32 recdoub_digit(const struct tor_side *l, u32 step, u32 from, u32 to)
{
	return part_of(l, to) >> step & 1;
}

/* In the last step of a folded side, those who gave all get their own blocks. */
static bool recdoub_moves(const struct tor_side *l, u32 step)
{
	return folds(l->n) && step == l->steps - 1;
}

static bool recdoub_live(const struct tor_side *l, u32 step, u32 x, u32 y)
{
	return live(l, part_of(l, x), part_of(l, y), step);
}

#define RECDOUB_LINES				\
	.steps = recdoub_steps,			\
	.peers = recdoub_peers,			\
	.peer = recdoub_peer,			\
	.size = recdoub_size,			\
	.nth = recdoub_nth,			\
	.radix = recdoub_radix,			\
	.digit = recdoub_digit,			\
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

static int mirrored_setup(struct tor_plan *p, u32 dim, const char **why)
{
	if (!folds(p->grid.side[dim]))
		return 0;
	*why = "recdoub-bw-mirrored serves sides that are powers of two";
	return -EOPNOTSUPP;
}

static const struct tor_lines mirrored_lines = {
	RECDOUB_LINES,
	.mirrors = true,
	.setup = mirrored_setup,
};

const struct tor_family tor_family_recdoub_bw_mirrored = {
	TOR_LINES_FAMILY(mirrored_lines),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(CHUNKS),
};
