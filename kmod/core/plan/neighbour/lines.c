// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Plans that work along one side at a time: rounds, products of sets, orders of blocks. */
#include "core/plan/neighbour/lines.h"

struct at {
	struct tor_lines_step now;
	bool gather;
	bool started;
	/* if ranges: what the round divides, and how much of it a transfer is */
	u32 first, blocks;
	/* else */
	struct tor_set set[TOR_MAX_DIMS];
};

static const struct tor_lines *lines_of(const struct tor_plan *p)
{
	return p->ops->lines;
}

static const struct tor_lines_state *state_of(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_lines_state);
}

static struct tor_side side_of(const struct tor_plan *p, u32 channel, u32 dim)
{
	return (struct tor_side){
		.p = p,
		.dim = dim,
		.n = p->grid.side[dim],
		.steps = state_of(p)->steps[dim],
		.mirrored = tor_plan_way(p, channel) >= p->grid.ndim,
	};
}

/* Modulo the number of dimensions, of something not far beyond it: without a division. */
static u32 wrap_dim(const struct tor_plan *p, u32 d)
{
	while (d >= p->grid.ndim)
		d -= p->grid.ndim;
	return d;
}

/* The dimension at the @i-th place of a channel's rotation. */
static u32 channel_dim(const struct tor_plan *p, u32 channel, u32 i)
{
	return wrap_dim(p, tor_plan_way(p, channel) + i);
}

/* --- rounds --- */

static void find_step_in_turn(const struct tor_plan *p, u32 channel, u32 k,
			      struct tor_lines_step *at)
{
	const struct tor_lines_state *s = state_of(p);

	at->place = 0;
	at->dim = channel_dim(p, channel, 0);
	while (k >= s->steps[at->dim]) {
		k -= s->steps[at->dim];
		at->dim = channel_dim(p, channel, ++at->place);
	}
	at->step = k;
}

/**
 * tor_lines_find_step - see plan/neighbour/lines.h
 * @p: plan
 * @channel: its number
 * @k: round
 * @at: to fill
 */
void tor_lines_find_step(const struct tor_plan *p, u32 channel, u32 k, struct tor_lines_step *at)
{
	const struct tor_lines_state *s = state_of(p);
	u32 i, d;

	if (lines_of(p)->in_turn) {
		find_step_in_turn(p, channel, k, at);
		return;
	}
	/* all dimensions have these */
	at->step = min(k / p->grid.ndim, s->least);
	k -= at->step * p->grid.ndim;
	for (;; at->step++) {
		for (i = 0; i < p->grid.ndim; i++) {
			d = channel_dim(p, channel, i);
			if (at->step < s->steps[d] && !k--) {
				at->dim = d;
				at->place = i;
				return;
			}
		}
	}
}

/**
 * tor_lines_before - see plan/neighbour/lines.h
 * @p: plan
 * @channel: its number
 * @at: where the round stands
 * @d: dimension
 */
u32 tor_lines_before(const struct tor_plan *p, u32 channel, const struct tor_lines_step *at, u32 d)
{
	u32 place = wrap_dim(p, d + p->grid.ndim - channel_dim(p, channel, 0));
	u32 steps = state_of(p)->steps[d];

	if (lines_of(p)->in_turn)
		return place < at->place ? steps : 0;
	return min(steps, place < at->place ? at->step + 1 : at->step);
}

/* --- orders of blocks --- */

/* Which blocks round @k of the reduce-scatter divides, and into how many. */
static void find_range(const struct tor_plan *p, u32 channel, u32 k, struct at *at)
{
	const struct tor_lines_state *s = state_of(p);
	u32 i, radix = s->radix;

	at->blocks = 1;
	if (lines_of(p)->in_turn) {
		radix = p->grid.side[at->now.dim];
		for (i = at->now.place + 1; i < p->grid.ndim; i++)
			at->blocks *= p->grid.side[channel_dim(p, channel, i)];
	} else {
		while (++k < s->half)
			at->blocks *= radix;
	}
	at->first = s->pos[channel] - s->pos[channel] % (at->blocks * radix);
}

/* The place of this rank's block. */
static u32 find_pos(const struct tor_plan *p, u32 channel)
{
	struct tor_lines_step at;
	u32 k, pos = 0, x;

	if (lines_of(p)->in_turn) {
		for (k = 0; k < p->grid.ndim; k++) {
			u32 d = channel_dim(p, channel, k);

			pos = pos * p->grid.side[d] + tor_torus_coord(&p->grid, p->rank, d);
		}
		return pos;
	}
	for (k = 0; k < state_of(p)->half; k++) {
		struct tor_side l;

		tor_lines_find_step(p, channel, k, &at);
		l = side_of(p, channel, at.dim);
		x = tor_torus_coord(&p->grid, p->rank, at.dim);
		pos = pos * state_of(p)->radix + lines_of(p)->digit(&l, at.step, x, x);
	}
	return pos;
}

/**
 * tor_lines_init - as struct tor_family
 * @p: plan
 * @why: a reason
 */
int tor_lines_init(struct tor_plan *p, const char **why)
{
	struct tor_lines_state *s = tor_plan_state(p, struct tor_lines_state);
	const struct tor_lines *lines = lines_of(p);
	u32 d, ch, most = p->grid.ndim * (lines->mirrors ? 2 : 1);
	int err;

	p->shape.channels = tor_plan_channels(p, most, most);
	if (!p->shape.channels) {
		*why = "more channels than the algorithm has on this torus";
		return -EINVAL;
	}
	s->ranges = p->req.collective == TORCOLL_ALLREDUCE;
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
		s->pos[ch] = find_pos(p, ch);
	return 0;
}

/**
 * tor_lines_rounds - as struct tor_family
 * @p: plan
 * @channel: its number
 */
u32 tor_lines_rounds(const struct tor_plan *p, u32 channel)
{
	return tor_plan_fold_rounds(p, state_of(p)->half);
}

/* --- sets --- */

static bool set_step(const struct tor_plan *p, u32 channel, struct at *at, u32 d)
{
	struct tor_side l = side_of(p, channel, d);
	struct tor_set *set = &at->set[d];
	u32 size = lines_of(p)->size(&l, set);

	set->part = 2;
	while (set->next < size)
		if (lines_of(p)->nth(&l, set, set->next++))
			return true;
	return false;
}

/*
 * Walk over the product of the sets, dimension 0 fastest. To start, every set must have an element;
 * to go on, the first that has another takes it, those before start again.
 */
static bool product_step(const struct tor_plan *p, u32 channel, struct at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		bool found = set_step(p, channel, at, d);

		if (found == at->started)
			return found;
		if (!found) {
			at->set[d].next = 0;
			set_step(p, channel, at, d);
		}
	}
	if (at->started)
		return false;
	at->started = true;
	return true;
}

/* --- transfers --- */

static void find_round(const struct tor_plan *p, const struct tor_cursor *c, struct at *at)
{
	u32 d, k = tor_plan_fold(p, c->round, state_of(p)->half, &at->gather);

	tor_lines_find_step(p, c->channel, k, &at->now);
	if (state_of(p)->ranges) {
		find_range(p, c->channel, k, at);
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
 * tor_lines_transfer - as struct tor_family
 * @p: plan
 * @c: cursor
 */
bool tor_lines_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	struct tor_side l;
	u32 x, y, d;
	bool from;

	if (!c->transfer)
		find_round(p, c, at);
	l = side_of(p, c->channel, at->now.dim);
	x = tor_torus_coord(&p->grid, p->rank, at->now.dim);
	/* to the i-th peer, from the i-th peer, in turn; one kind may end before the other */
	for (;; c->transfer++) {
		from = c->transfer % 2;
		if (lines_of(p)->peer(&l, at->now.step, x, c->transfer / 2, from, &y))
			break;
		if (!lines_of(p)->peer(&l, at->now.step, x, c->transfer / 2 + from, !from, &y))
			return false;
	}
	at->set[at->now.dim] = (struct tor_set){
		.from = from ? y : x, .to = from ? x : y, .step = at->now.step, .given = true,
	};
	c->src = c->dst = p->rank;
	*(from ? &c->src : &c->dst) += (y - x) * p->grid.stride[at->now.dim];
	if (at->gather)
		swap(c->src, c->dst);
	if (at->gather || (lines_of(p)->moves && lines_of(p)->moves(&l, at->now.step)))
		c->op = TOR_PIECE_COPY;
	at->started = false;
	for (d = 0; !state_of(p)->ranges && d < p->grid.ndim; d++)
		at->set[d].next = 0;
	return true;
}

static bool range_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	const struct tor_set *set = &at->set[at->now.dim];
	struct tor_side l = side_of(p, c->channel, at->now.dim);
	u32 digit;

	if (at->started)
		return false;
	at->started = true;
	digit = lines_of(p)->digit(&l, at->now.step, set->from, set->to);
	tor_piece_in_place(out, tor_plan_blocks(p, c->channel, at->first + digit * at->blocks,
						at->blocks));
	return true;
}

/*
 * In the last step of an allgather those who gave all they had in the first step get all. What they
 * have had of it since, and perhaps have sent, is not sent to them again.
 */
static bool came_before(const struct tor_plan *p, const struct tor_cursor *c, const struct at *at)
{
	struct tor_side l = side_of(p, c->channel, at->now.dim);
	struct tor_lines_step back = {
		.dim = at->now.dim, .place = at->now.place, .step = l.steps - 1,
	};
	const struct tor_lines *lines = lines_of(p);
	u32 d;

	if (!at->gather || at->now.step || !lines->moves || !lines->moves(&l, back.step) ||
	    at->set[at->now.dim].coord != at->set[at->now.dim].from)
		return false;
	for (d = 0; d < p->grid.ndim; d++) {
		l = side_of(p, c->channel, d);
		if (d != at->now.dim && !lines->live(&l, tor_lines_before(p, c->channel, &back, d),
						     at->set[d].from, at->set[d].coord))
			return false;
	}
	return true;
}

/**
 * tor_lines_piece - as struct tor_family
 * @p: plan
 * @c: cursor
 * @out: piece
 */
bool tor_lines_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 d, rank = 0, part = 2;
	struct tor_span s;

	if (state_of(p)->ranges)
		return range_piece(p, c, out);
	do {
		if (!product_step(p, c->channel, at))
			return false;
	} while (came_before(p, c, at));
	for (d = 0; d < p->grid.ndim; d++) {
		rank += at->set[d].coord * p->grid.stride[d];
		part = min_t(u32, part, at->set[d].part);
	}
	s = tor_plan_own(p, c->channel, rank);
	tor_piece_in_place(out, part == 2 ? s : tor_span_half(s, part));
	return true;
}
