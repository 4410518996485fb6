// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plans that work along one side at a time: rounds, products of sets, orders of
 * blocks.
 */
#include "core/plan/neighbour/lines.h"

struct at {
	struct tor_lines_step now;
	bool gather;
	bool started;
	/* if ranges: first block that the round divides, blocks per transfer */
	u32 first, blocks;
	/* else */
	struct tor_set set[TOR_MAX_DIMS];
};

static const struct tor_lines *lines_ops(const struct tor_plan *p)
{
	return p->ops->lines;
}

static const struct tor_lines_state *lines_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_lines_state);
}

static struct tor_side lines_side(const struct tor_plan *p, u32 channel, u32 dim)
{
	return (struct tor_side){
		.p = p,
		.dim = dim,
		.n = p->grid.side[dim],
		.steps = lines_state(p)->steps[dim],
		.mirrored = tor_plan_way(p, channel) >= p->grid.ndim,
	};
}

/*
 * @d modulo the number of dimensions, without a division: @d is not far beyond
 * it.
 */
static u32 lines_wrap_dim(const struct tor_plan *p, u32 d)
{
	while (d >= p->grid.ndim)
		d -= p->grid.ndim;
	return d;
}

/* The dimension at place @i of a channel's rotation. */
static u32 lines_dim(const struct tor_plan *p, u32 channel, u32 i)
{
	return lines_wrap_dim(p, tor_plan_way(p, channel) + i);
}

/* --- rounds --- */

static void lines_find_step_in_turn(const struct tor_plan *p, u32 channel, u32 k,
				    struct tor_lines_step *at)
{
	const struct tor_lines_state *s = lines_state(p);

	at->place = 0;
	at->dim = lines_dim(p, channel, 0);
	while (k >= s->steps[at->dim]) {
		k -= s->steps[at->dim];
		at->dim = lines_dim(p, channel, ++at->place);
	}
	at->step = k;
}

void tor_lines_find_step(const struct tor_plan *p, u32 channel, u32 k, struct tor_lines_step *at)
{
	const struct tor_lines_state *s = lines_state(p);
	u32 i, d;

	if (lines_ops(p)->in_turn) {
		lines_find_step_in_turn(p, channel, k, at);
		return;
	}
	/* all dimensions have these steps */
	at->step = min(k / p->grid.ndim, s->least);
	k -= at->step * p->grid.ndim;
	for (;; at->step++) {
		for (i = 0; i < p->grid.ndim; i++) {
			d = lines_dim(p, channel, i);
			if (at->step < s->steps[d] && !k--) {
				at->dim = d;
				at->place = i;
				return;
			}
		}
	}
}

u32 tor_lines_before(const struct tor_plan *p, u32 channel, const struct tor_lines_step *at, u32 d)
{
	u32 place = lines_wrap_dim(p, d + p->grid.ndim - lines_dim(p, channel, 0));
	u32 steps = lines_state(p)->steps[d];

	if (lines_ops(p)->in_turn)
		return place < at->place ? steps : 0;
	return min(steps, place < at->place ? at->step + 1 : at->step);
}

/* --- orders of blocks --- */

/* The blocks that round @k of the reduce-scatter divides, and into how many. */
static void lines_find_range(const struct tor_plan *p, u32 channel, u32 k, struct at *at)
{
	const struct tor_lines_state *s = lines_state(p);
	u32 i, radix = s->radix;

	at->blocks = 1;
	if (lines_ops(p)->in_turn) {
		radix = p->grid.side[at->now.dim];
		for (i = at->now.place + 1; i < p->grid.ndim; i++)
			at->blocks *= p->grid.side[lines_dim(p, channel, i)];
	} else {
		while (++k < s->half)
			at->blocks *= radix;
	}
	at->first = s->pos[channel] - s->pos[channel] % (at->blocks * radix);
}

/*
 * The place of this rank's block in the order, of which each step of a side
 * has one bit. A plan is made for each call: this takes a few instructions per
 * bit, whatever the family.
 */
static u32 lines_find_coded_pos(const struct tor_plan *p, u32 channel)
{
	const struct tor_lines_state *s = lines_state(p);
	u32 code[TOR_MAX_DIMS], steps[TOR_MAX_DIMS], i, d, k, pos = 0, most = 0;

	for (i = 0; i < p->grid.ndim; i++) {
		struct tor_side l;

		d = lines_dim(p, channel, i);
		l = lines_side(p, channel, d);
		code[i] = lines_ops(p)->code(&l, tor_torus_coord(&p->grid, p->rank, d));
		steps[i] = s->steps[d];
		most = max(most, s->steps[d]);
	}
	/* all dimensions have the first steps */
	for (k = 0; k < s->least; k++)
		for (i = 0; i < p->grid.ndim; i++)
			pos = pos << 1 | (code[i] >> k & 1);
	for (; k < most; k++)
		for (i = 0; i < p->grid.ndim; i++)
			if (k < steps[i])
				pos = pos << 1 | (code[i] >> k & 1);
	return pos;
}

/* The place of this rank's block in the order. */
static u32 lines_find_pos(const struct tor_plan *p, u32 channel)
{
	struct tor_lines_step at;
	u32 k, pos = 0, x;

	if (lines_ops(p)->in_turn) {
		for (k = 0; k < p->grid.ndim; k++) {
			u32 d = lines_dim(p, channel, k);

			pos = pos * p->grid.side[d] + tor_torus_coord(&p->grid, p->rank, d);
		}
		return pos;
	}
	if (lines_ops(p)->code)
		return lines_find_coded_pos(p, channel);
	for (k = 0; k < lines_state(p)->half; k++) {
		struct tor_side l;

		tor_lines_find_step(p, channel, k, &at);
		l = lines_side(p, channel, at.dim);
		x = tor_torus_coord(&p->grid, p->rank, at.dim);
		pos = pos * lines_state(p)->radix + lines_ops(p)->digit(&l, at.step, x, x);
	}
	return pos;
}

/**
 * tor_lines_init - member init of struct tor_family
 * @p: plan
 * @why: reason for an error
 *
 * Return: 0; -EINVAL for too many channels; an error of tor_lines.setup.
 */
int tor_lines_init(struct tor_plan *p, const char **why)
{
	struct tor_lines_state *s = tor_plan_state(p, struct tor_lines_state);
	const struct tor_lines *lines = lines_ops(p);
	u32 d, ch, most = p->grid.ndim * (lines->mirrors ? 2 : 1);
	int err;

	p->shape.channels = tor_plan_channels(p, most, most);
	if (!p->shape.channels) {
		*why = "more channels than the algorithm has on this torus";
		return -EINVAL;
	}
	s->ranges = p->call.collective == TORCOLL_ALLREDUCE;
	s->least = U32_MAX;
	for (d = 0; d < p->grid.ndim; d++) {
		err = lines->setup ? lines->setup(p, d, why) : 0;
		if (err)
			return err;
		s->steps[d] = lines->steps(p, d);
		s->half += s->steps[d];
		s->least = min(s->least, s->steps[d]);
		s->radix = lines->radix(p, d);
		if (!s->radix)
			s->ranges = false;
		p->shape.peers = max(p->shape.peers, lines->peers(p, d));
	}
	for (ch = 0; s->ranges && ch < p->shape.channels; ch++)
		s->pos[ch] = lines_find_pos(p, ch);
	return 0;
}

/**
 * tor_lines_rounds - member rounds of struct tor_family
 * @p: plan
 * @channel: its number
 *
 * Return: the number of rounds.
 */
u32 tor_lines_rounds(const struct tor_plan *p, u32 channel)
{
	return tor_plan_fold_rounds(p, lines_state(p)->half);
}

/* --- sets --- */

static bool lines_set_step(const struct tor_plan *p, u32 channel, struct at *at, u32 d)
{
	struct tor_side l = lines_side(p, channel, d);
	struct tor_set *set = &at->set[d];
	u32 size = lines_ops(p)->size(&l, set);

	set->part = 2;
	while (set->next < size)
		if (lines_ops(p)->nth(&l, set, set->next++))
			return true;
	return false;
}

/*
 * Walks over the product of the sets, dimension 0 fastest. To start, every set
 * must have an element. To go on, the first set with another element takes it,
 * and those before restart.
 */
static bool lines_product_step(const struct tor_plan *p, u32 channel, struct at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		bool found = lines_set_step(p, channel, at, d);

		if (found == at->started)
			return found;
		if (!found) {
			at->set[d].next = 0;
			lines_set_step(p, channel, at, d);
		}
	}
	if (at->started)
		return false;
	at->started = true;
	return true;
}

/* --- transfers --- */

static void lines_find_round(const struct tor_plan *p, const struct tor_cursor *c, struct at *at)
{
	u32 d, k = tor_plan_fold(p, c->round, lines_state(p)->half, &at->gather);

	tor_lines_find_step(p, c->channel, k, &at->now);
	if (lines_state(p)->ranges) {
		lines_find_range(p, c->channel, k, at);
		return;
	}
	for (d = 0; d < p->grid.ndim; d++) {
		at->set[d] = (struct tor_set){
			.from = tor_torus_coord(&p->grid, p->rank, d),
			.step = tor_lines_before(p, c->channel, &at->now, d),
		};
	}
}

/**
 * tor_lines_transfer - member transfer of struct tor_family
 * @p: plan
 * @c: cursor
 *
 * Return: false if there are no more transfers in the round.
 */
bool tor_lines_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	struct tor_side l;
	u32 x, y, d;
	bool from;

	if (!c->transfer)
		lines_find_round(p, c, at);
	l = lines_side(p, c->channel, at->now.dim);
	x = tor_torus_coord(&p->grid, p->rank, at->now.dim);
	/* to peer i and from peer i in turn; one kind may end before the other */
	for (;; c->transfer++) {
		from = c->transfer % 2;
		if (lines_ops(p)->peer(&l, at->now.step, x, c->transfer / 2, from, &y))
			break;
		if (!lines_ops(p)->peer(&l, at->now.step, x, c->transfer / 2 + from, !from, &y))
			return false;
	}
	at->set[at->now.dim] = (struct tor_set){
		.from = from ? y : x, .to = from ? x : y, .step = at->now.step, .given = true,
	};
	c->src = c->dst = p->rank;
	*(from ? &c->src : &c->dst) += (y - x) * p->grid.stride[at->now.dim];
	if (at->gather)
		swap(c->src, c->dst);
	if (at->gather || (lines_ops(p)->moves && lines_ops(p)->moves(&l, at->now.step)))
		c->op = TOR_PIECE_COPY;
	at->started = false;
	for (d = 0; !lines_state(p)->ranges && d < p->grid.ndim; d++)
		at->set[d].next = 0;
	return true;
}

static bool lines_range_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	const struct tor_set *set = &at->set[at->now.dim];
	struct tor_side l = lines_side(p, c->channel, at->now.dim);
	u32 digit;

	if (at->started)
		return false;
	at->started = true;
	digit = lines_ops(p)->digit(&l, at->now.step, set->from, set->to);
	tor_piece_in_place(out, tor_plan_blocks(p, c->channel, at->first + digit * at->blocks,
						at->blocks));
	return true;
}

/*
 * In the last step of an allgather the coordinates that gave everything in the
 * first step receive everything. Blocks that they have received since, and may
 * have sent, are not sent to them again.
 */
static bool lines_came_before(const struct tor_plan *p, const struct tor_cursor *c,
			      const struct at *at)
{
	struct tor_side l = lines_side(p, c->channel, at->now.dim);
	struct tor_lines_step back = {
		.dim = at->now.dim, .place = at->now.place, .step = l.steps - 1,
	};
	const struct tor_lines *lines = lines_ops(p);
	u32 d;

	if (!at->gather || at->now.step || !lines->moves || !lines->moves(&l, back.step) ||
	    at->set[at->now.dim].coord != at->set[at->now.dim].from)
		return false;
	for (d = 0; d < p->grid.ndim; d++) {
		l = lines_side(p, c->channel, d);
		if (d != at->now.dim && !lines->live(&l, tor_lines_before(p, c->channel, &back, d),
						     at->set[d].from, at->set[d].coord))
			return false;
	}
	return true;
}

/**
 * tor_lines_piece - member piece of struct tor_family
 * @p: plan
 * @c: cursor
 * @out: piece
 *
 * Return: false if there are no more pieces in the transfer.
 */
bool tor_lines_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 d, rank = 0, part = 2;
	struct tor_span s;

	if (lines_state(p)->ranges)
		return lines_range_piece(p, c, out);
	do {
		if (!lines_product_step(p, c->channel, at))
			return false;
	} while (lines_came_before(p, c, at));
	for (d = 0; d < p->grid.ndim; d++) {
		rank += at->set[d].coord * p->grid.stride[d];
		part = min_t(u32, part, at->set[d].part);
	}
	s = tor_plan_own(p, c->channel, rank);
	tor_piece_in_place(out, part == 2 ? s : tor_span_half(s, part));
	return true;
}
