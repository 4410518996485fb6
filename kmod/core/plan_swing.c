// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `swing-bw`: De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce" (NSDI
 * 2024), sections 3 and 4.
 *
 * Along a side, in step s, the node at an even coordinate talks to the one rho(s) = 1 - 2 + 4 - ...
 * further up, the one at an odd coordinate to the one as far down: 1, -1, 3, -5, 11 away. In the
 * reduce-scatter each sends the blocks that its peer keeps or passes on later, and not itself; the
 * allgather is the reversal. The 2D channels start in another dimension each, half of them with
 * the directions mirrored; a dimension that is finished is skipped.
 *
 * What can be reached in steps s and later, by an even coordinate, is (base -2 numbers) all multiples
 * of 2^(s+1) in a range, and rho(s) minus each of them: no table is needed to tell whether a block
 * goes. On sides that are no powers of two several of these fall on the same coordinate, so a block
 * is sent only if the sender cannot pass it on later itself.
 *
 * Odd sides (section 3.3): all but the last coordinate do the above on a side that is one shorter;
 * the last one exchanges its blocks with half of the others directly in each step.
 *
 * Order of blocks in an allreduce with all sides powers of two: whose bits say which half of the
 * remaining nodes a rank stays with, step by step, so that every transfer is one range.
 */
#include "plan_family.h"

struct swing {
	u32 half;			/* rounds of the reduce-scatter */
	bool ranges;			/* transfers are single ranges */
	u8 steps[TOR_MAX_DIMS];		/* per side */
	u32 pos[TOR_MAX_CHANNELS];	/* of this rank's block, if ranges */
};

/* Coordinates along one dimension whose blocks a transfer carries. */
enum set_kind {
	SET_ONE,			/* base alone */
	SET_REACH,			/* what base reaches in the steps to come */
	SET_GIVE,			/* that, without what other reaches */
};

/* A set, and where a walk over it stands. */
struct set {
	u32 base, other;
	u32 next;			/* candidate */
	u32 coord;			/* the last one found */
	u8 kind, step;
};

struct at {
	u8 dim, step;
	bool gather, mirrored;
	bool started;
	u32 next, end;			/* direct exchanges of the last coordinate of an odd side */
	struct set set[TOR_MAX_DIMS];
};

/* rho(s) of the paper: 1, -1, 3, -5, 11, ... */
static s32 rho(u32 s)
{
	s32 power = 2 << s;

	return (s % 2 ? 1 - power : 1 + power) / 3;
}

static u32 log2_up(u32 n)
{
	return n > 1 ? fls(n - 1) : 0;
}

static u32 wrap(s32 c, u32 n)
{
	c %= (s32)n;
	return c < 0 ? (u32)c + n : (u32)c;
}

/* Coordinates of a side that take part in the pattern. */
static u32 pattern_side(u32 side)
{
	return side & ~1U;
}

static s32 sign_of(u32 coord, bool mirrored)
{
	return (coord % 2 != 0) != mirrored ? -1 : 1;
}

/* --- what can be reached in steps @s and later, of @steps --- */

static s32 reach_low(u32 s, u32 steps)
{
	return -(s32)(((1U << steps) - (2U << s)) & 0x55555555);
}

static s32 reach_high(u32 s, u32 steps)
{
	return ((1U << steps) - (2U << s)) & 0xaaaaaaaa;
}

/* The @i-th of 2^(steps - s) candidates from @base; false if it repeats an earlier one. */
static bool reach_nth(u32 base, s32 sign, u32 s, u32 steps, u32 m, u32 i, u32 *coord)
{
	s32 unit = 2 << s, low = reach_low(s, steps), v;

	if (s >= steps) {
		*coord = base;
		return true;
	}
	v = low + (s32)(i / 2) * unit;
	if (m % unit == 0 && v - (s32)m >= low)
		return false;
	*coord = wrap((s32)base + sign * (i % 2 ? rho(s) - v : v), m);
	return true;
}

static bool reach_has(u32 base, s32 sign, u32 s, u32 steps, u32 m, u32 coord)
{
	u32 way = wrap(sign * ((s32)coord - (s32)base), m);
	s32 unit = 2 << s, low = reach_low(s, steps), high = reach_high(s, steps), v;

	if (s >= steps)
		return coord == base;
	for (v = low + wrap((way % 2 ? rho(s) - (s32)way : (s32)way) - low, m); v <= high; v += m)
		if (v % unit == 0)
			return true;
	return false;
}

/* --- odd sides: with whom the last coordinate exchanges in step @s --- */

static u32 turns_begin(u32 m, u32 s, u32 steps)
{
	return s >= steps ? m : m - (m >> s);
}

/* --- sets --- */

static u32 set_size(const struct set *set, u32 side, u32 steps)
{
	u32 m = pattern_side(side);

	if (set->kind == SET_ONE)
		return 1;
	if (set->kind == SET_GIVE)
		return 1U << (steps - set->step);
	if (set->base == m)
		return m + 1;
	return (1U << (steps - set->step)) + side % 2;
}

/* Candidate @i of a set, as its coord; false if it is none or comes twice. */
static bool set_nth(struct set *set, u32 side, u32 steps, bool mirrored, u32 i)
{
	u32 m = pattern_side(side), turn = turns_begin(m, set->step, steps);
	s32 sign = sign_of(set->base, mirrored);

	if (set->kind == SET_ONE) {
		set->coord = set->base;
		return true;
	}
	if (set->kind == SET_REACH && set->base == m) {
		set->coord = i;
		return i >= turn;
	}
	if (i == 1U << (steps - set->step)) {
		/* the last coordinate, if its turn is to come */
		set->coord = m;
		return set->base >= turn;
	}
	if (!reach_nth(set->base, sign, set->step, steps, m, i, &set->coord))
		return false;
	return set->kind == SET_REACH ||
	       !reach_has(set->other, sign_of(set->other, mirrored), set->step, steps, m,
			  set->coord);
}

static bool set_step(const struct tor_plan *p, struct at *at, u32 d)
{
	const struct swing *s = tor_plan_state_const(p, struct swing);
	struct set *set = &at->set[d];
	u32 size = set_size(set, p->grid.side[d], s->steps[d]);

	while (set->next < size)
		if (set_nth(set, p->grid.side[d], s->steps[d], at->mirrored, set->next++))
			return true;
	return false;
}

/*
 * Walk over the product of the sets, dimension 0 fastest. To start, every set must have an element;
 * to go on, the first that has another takes it, those before start again.
 */
static bool product_step(const struct tor_plan *p, struct at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		bool found = set_step(p, at, d);

		if (found == at->started)
			return found;
		if (!found) {
			at->set[d].next = 0;
			set_step(p, at, d);
		}
	}
	if (at->started)
		return false;
	at->started = true;
	return true;
}

/* --- rounds --- */

static u32 channel_dim(const struct tor_plan *p, u32 channel, u32 i)
{
	return (channel + i) % p->grid.ndim;
}

static bool channel_mirrored(const struct tor_plan *p, u32 channel)
{
	return channel >= p->grid.ndim;
}

/* The dimension and its step in round @k of the reduce-scatter; its place in the rotation. */
static u32 find_step(const struct tor_plan *p, u32 channel, u32 k, u32 *dim, u32 *step)
{
	const struct swing *s = tor_plan_state_const(p, struct swing);
	u32 i, d;

	for (*step = 0;; ++*step) {
		for (i = 0; i < p->grid.ndim; i++) {
			d = channel_dim(p, channel, i);
			if (*step >= s->steps[d])
				continue;
			if (!k--) {
				*dim = d;
				return i;
			}
		}
	}
}

/*
 * Which half a coordinate stays with in step @s, on a side of 2^@steps: the nodes with whom an even
 * coordinate has to do in later steps are those even ones that are the same modulo 2^(s+2), and the
 * odd ones that are rho further. In the last step the two peers remain.
 */
static u32 half_of(u32 coord, bool mirrored, u32 s, u32 steps)
{
	u32 even = coord;

	if (s == steps - 1)
		return coord & 1;
	if (coord % 2)
		even = coord - sign_of(0, mirrored) * rho(steps);
	return even >> (s + 1) & 1;
}

static u32 find_pos(const struct tor_plan *p, u32 channel)
{
	const struct swing *s = tor_plan_state_const(p, struct swing);
	bool mirrored = channel_mirrored(p, channel);
	u32 k, dim, step, pos = 0;

	for (k = 0; k < s->half; k++) {
		find_step(p, channel, k, &dim, &step);
		pos = pos * 2 + half_of(tor_torus_coord(&p->grid, p->rank, dim), mirrored, step,
					s->steps[dim]);
	}
	return pos;
}

static int swing_init(struct tor_plan *p, const char **why)
{
	struct swing *s = tor_plan_state(p, struct swing);
	u32 d, m, ch;

	p->shape.channels = tor_plan_channels(p, 2 * p->grid.ndim, 2 * p->grid.ndim);
	if (!p->shape.channels) {
		*why = "swing has at most two channels per side longer than 1";
		return -EINVAL;
	}
	s->ranges = p->req.collective == TORCOLL_ALLREDUCE;
	for (d = 0; d < p->grid.ndim; d++) {
		m = pattern_side(p->grid.side[d]);
		s->steps[d] = log2_up(m);
		s->half += s->steps[d];
		if (p->grid.side[d] != 1U << s->steps[d])
			s->ranges = false;
		/* the last coordinate's first exchange is with half of the others */
		if (p->grid.side[d] % 2)
			p->shape.peers = max_t(u32, p->shape.peers, max_t(u32, 2, m / 2));
	}
	for (ch = 0; s->ranges && ch < p->shape.channels; ch++)
		s->pos[ch] = find_pos(p, ch);
	return 0;
}

static u32 swing_rounds(const struct tor_plan *p, u32 channel)
{
	return tor_plan_fold_rounds(p, tor_plan_state_const(p, struct swing)->half);
}

static void find_round(const struct tor_plan *p, const struct tor_cursor *c, struct at *at)
{
	const struct swing *s = tor_plan_state_const(p, struct swing);
	u32 k = tor_plan_fold(p, c->round, s->half, &at->gather);
	u32 i, d, dim, step, place = find_step(p, c->channel, k, &dim, &step);

	at->dim = dim;
	at->step = step;
	at->mirrored = channel_mirrored(p, c->channel);
	for (i = 0; i < p->grid.ndim; i++) {
		d = channel_dim(p, c->channel, i);
		at->set[d] = (struct set){
			.kind = SET_REACH,
			.base = tor_torus_coord(&p->grid, p->rank, d),
			.step = min_t(u32, s->steps[d], i < place ? step + 1 : step),
		};
	}
	at->next = turns_begin(pattern_side(p->grid.side[dim]), step, s->steps[dim]);
	at->end = turns_begin(pattern_side(p->grid.side[dim]), step + 1, s->steps[dim]);
}

/* With whom I exchange in transfers 2i and 2i + 1; false: with nobody (more). */
static bool find_peer(const struct tor_plan *p, const struct at *at, u32 i, u32 x, u32 *y)
{
	u32 m = pattern_side(p->grid.side[at->dim]);

	if (x == m) {
		*y = at->next + i;
		return *y < at->end;
	}
	if (i == 0) {
		*y = wrap((s32)x + sign_of(x, at->mirrored) * rho(at->step), m);
		return true;
	}
	*y = m;
	return i == 1 && p->grid.side[at->dim] % 2 && x >= at->next && x < at->end;
}

static bool swing_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 x, y, d, m;
	bool mine;

	if (!c->transfer)
		find_round(p, c, at);
	x = tor_torus_coord(&p->grid, p->rank, at->dim);
	if (!find_peer(p, at, c->transfer / 2, x, &y))
		return false;
	c->src = p->rank;
	c->dst = p->rank + (y - x) * p->grid.stride[at->dim];
	if (c->transfer % 2)
		swap(c->src, c->dst);
	/* am I the sender in the reduce-scatter? */
	mine = (c->src == p->rank) != at->gather;
	m = pattern_side(p->grid.side[at->dim]);
	at->set[at->dim] = (struct set){
		.kind = x == m || y == m ? SET_ONE : SET_GIVE,
		.base = mine ? y : x,
		.other = mine ? x : y,
		.step = at->step + 1,
	};
	if (at->gather)
		c->op = TOR_PIECE_COPY;
	at->started = false;
	for (d = 0; d < p->grid.ndim; d++)
		at->set[d].next = 0;
	return true;
}

static bool swing_range(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	const struct swing *s = tor_plan_state_const(p, struct swing);
	struct at *at = (struct at *)c->family;
	bool gather, mine;
	u32 bits;

	if (at->started)
		return false;
	at->started = true;
	bits = s->half - 1 - tor_plan_fold(p, c->round, s->half, &gather);
	mine = (c->src == p->rank) != gather;
	tor_piece_in_place(out, tor_plan_blocks(p, c->channel,
						((s->pos[c->channel] >> bits) ^ mine) << bits,
						1U << bits));
	return true;
}

static bool swing_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 d, rank = 0;

	if (tor_plan_state_const(p, struct swing)->ranges)
		return swing_range(p, c, out);
	if (!product_step(p, at))
		return false;
	for (d = 0; d < p->grid.ndim; d++)
		rank += at->set[d].coord * p->grid.stride[d];
	tor_piece_in_place(out, tor_plan_own(p, c->channel, rank));
	return true;
}

const struct tor_family tor_family_swing_bw = {
	.serves = TOR_COLL_BW,
	.params = TOR_PARAM(CHANNELS),
	.init = swing_init,
	.rounds = swing_rounds,
	.transfer = swing_transfer,
	.piece = swing_piece,
};
