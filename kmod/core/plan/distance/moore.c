// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `moore`: an allreduce with the whole box of neighbours at once,
 * trivance-lat's step along every side in the same round: 3^D summands in a
 * round, the fewest rounds.
 *
 * Sides that are powers of three: round k adds the partial sums of all nodes at
 * offsets -3^k, 0 and 3^k along every side.
 *
 * Other sides: by trivance-lat's intervals. A node at step k knows a box of
 * nodes, cut along each side into atoms: its own coordinate, and what came from
 * either side in each step, numbered -k .. k from left to right. A neighbour
 * lies aside in some dimensions. In these it sends the atom of the step of that
 * side. In the other dimensions it sends everything known before, either as one
 * sum or, where a message of a later step must contain only part of it, as
 * several sums, one per group of atoms that no such message separates. These
 * sums are the parts that are kept: one for each slot (group or direction) of
 * every dimension, except those that are groups in all dimensions. A message is
 * composed of all parts inside a box, in a local step before it is sent.
 *
 * Shorter sides are finished first; after that everything is one group.
 */
#include "core/plan/distance/moore.h"

static const struct tor_moore *moore_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_moore);
}

/* --- rounds --- */

/* Step k is sent in round 2k and composed in the round before. */
static u32 moore_sending_rounds(const struct tor_moore *s)
{
	return 2 * s->k - 1;
}

static u32 moore_message_buf(const struct tor_plan *p, u32 k, u32 place)
{
	const struct tor_moore *s = moore_state(p);

	return k ? s->part[s->k - 1] + k % 2 * s->messages + place : TOR_BUF_DATA;
}

static bool moore_is_last(const struct tor_plan *p, u32 k)
{
	return k + 1U == moore_state(p)->k;
}

/* The result: data, but not before round 2. */
static u32 moore_result_buf(const struct tor_plan *p)
{
	return moore_state(p)->k > 1 ? TOR_BUF_DATA : 1;
}

static struct tor_moore_at *moore_at(struct tor_cursor *c)
{
	static_assert(sizeof(struct tor_moore_at) <= sizeof(c->family));
	return (struct tor_moore_at *)c->family;
}

static bool moore_set(struct tor_cursor *c, u32 src, u32 dst, u32 op)
{
	c->src = src;
	c->dst = dst;
	c->op = op;
	return true;
}

/* Local: composes the messages, pattern by pattern. */
static bool moore_compose_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct tor_moore_at *at = moore_at(c);

	if (!(c->transfer && tor_moore_next_message(p, at)) && !tor_moore_next_pattern(p, at))
		return false;
	c->dbuf = moore_message_buf(p, at->k, at->place);
	tor_moore_begin_box(p, at);
	return moore_set(c, p->rank, p->rank, TOR_PIECE_COPY);
}

/*
 * The node that lies aside as the pattern says; @back: the node for which this
 * one does.
 */
static u32 moore_find_peer(const struct tor_plan *p, const struct tor_moore_at *at, bool back)
{
	const struct tor_moore *s = moore_state(p);
	u32 d, n, x, peer = p->rank;

	for (d = 0; d < p->grid.ndim; d++) {
		if (!at->digit[d])
			continue;
		n = p->grid.side[d];
		x = s->coord[d];
		x += tor_moore_distance(p, d, at->digit[d] - 1, at->k, back);
		x -= x < n ? 0 : n;
		peer += (x - s->coord[d]) * p->grid.stride[d];
	}
	return peer;
}

/* For each pattern: sent, received. */
static bool moore_message_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct tor_moore_at *at = moore_at(c);
	bool last = moore_is_last(p, at->k), get = c->transfer % 2 == 0;
	u32 peer;

	/* received messages have the places of sent ones; who skips has not passed all of them */
	tor_moore_restart(p, at);
	at->valid = true;
	if (!get && !tor_moore_next_pattern(p, at))
		return false;
	peer = moore_find_peer(p, at, !get);
	c->sbuf = moore_message_buf(p, at->k, 0);
	c->dbuf = last ? moore_result_buf(p) : moore_state(p)->part[at->k];
	return moore_set(c, get ? peer : p->rank, get ? p->rank : peer,
			 last ? TOR_PIECE_REDUCE : TOR_PIECE_COPY);
}

/* Local, in the last step: sums all parts of this rank. */
static bool moore_sum_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct tor_moore_at *at = moore_at(c);

	c->dbuf = moore_result_buf(p);
	tor_moore_begin_all(at);
	if (c->dbuf != TOR_BUF_DATA)
		return moore_set(c, p->rank, p->rank, TOR_PIECE_COPY);
	/* the own value is there already */
	at->rest = 0;
	return moore_set(c, p->rank, p->rank, TOR_PIECE_REDUCE);
}

/* Local: copies a result that was complete before data may be written. */
static bool moore_result_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	if (c->round != 2 || c->transfer)
		return false;
	tor_moore_begin_one(moore_at(c), moore_result_buf(p));
	return moore_set(c, p->rank, p->rank, TOR_PIECE_COPY);
}

static bool moore_intervals_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct tor_moore_at *at = moore_at(c);

	if (c->round >= moore_sending_rounds(moore_state(p)))
		return moore_result_transfer(p, c);
	if (!c->transfer)
		tor_moore_begin_step(p, at, (c->round + 1) / 2);
	if (c->round % 2)
		return moore_compose_transfer(p, c);
	if (!c->transfer && moore_is_last(p, at->k))
		return moore_sum_transfer(p, c);
	/* place 0 belongs to the sum */
	c->transfer = max_t(u32, c->transfer, 1);
	return moore_message_transfer(p, c);
}

/* --- pieces --- */

/*
 * Sent: one message after the other. The first step has only data to send; the
 * last step adds everything in one place.
 */
static noinline bool moore_message_piece(const struct tor_plan *p, struct tor_cursor *c,
					 struct tor_piece *out)
{
	struct tor_moore_at *at = moore_at(c);

	if (!at->valid)
		return false;
	if (at->k)
		out->sbuf += at->place;
	if (!moore_is_last(p, at->k))
		out->dbuf += at->place;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	tor_moore_next_message(p, at);
	return true;
}

/* Local: one part after the other. */
static bool moore_intervals_piece(const struct tor_plan *p, struct tor_cursor *c,
				  struct tor_piece *out)
{
	if (c->src != c->dst)
		return moore_message_piece(p, c, out);
	if (!tor_moore_part(p, moore_at(c), &out->sbuf))
		return false;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	c->op = TOR_PIECE_REDUCE;
	return true;
}

/* --- powers of three --- */

/*
 * Number of peers in a round: 3 offsets for each side that is not yet finished,
 * without the node itself.
 */
static u32 moore_offsets(const struct tor_plan *p, u32 k)
{
	u32 d, n = 1;

	for (d = 0; d < p->grid.ndim; d++)
		if (tor_moore_active(p, d, k))
			n *= 3;
	return n - 1;
}

static bool moore_powers_peer(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from,
			      u32 *rank)
{
	u32 d, digit, rest = i + 1;
	s64 by;

	*rank = p->rank;
	if (i >= moore_offsets(p, k))
		return false;
	for (d = 0; d < p->grid.ndim; d++) {
		if (!tor_moore_active(p, d, k))
			continue;
		digit = rest % 3;
		rest /= 3;
		by = digit == 1 ? tor_power3(k) : -(s64)tor_power3(k);
		if (digit)
			*rank = tor_torus_shift(&p->grid, *rank, d, from ? -by : by);
	}
	return true;
}

/* --- the family --- */

/*
 * Assigns buffers: parts of all steps but the last, which is added to the
 * result, and messages.
 */
static int moore_find_bufs(struct tor_plan *p, const char **why)
{
	struct tor_moore *s = tor_plan_state(p, struct tor_moore);
	u64 slots, next = 1, messages = 0;
	u32 d, k;

	for (k = 0; k < s->k; k++) {
		s->part[k] = next;
		for (slots = 1, d = 0; d < p->grid.ndim; d++)
			slots *= tor_moore_slots(p, d, k);
		messages = k ? max(messages, slots) : 0;
		next += k < s->k - 1u ? slots : 0;
		if (next + 2 * messages >= TOR_MAX_BUFS) {
			*why = "moore would need too many temporaries on this torus";
			return -EOPNOTSUPP;
		}
	}
	s->messages = messages;
	/* a single step: the result, which is copied to data later */
	p->shape.bufs = s->k > 1 ? next + 2 * messages : 2;
	return 0;
}

static u32 moore_intervals_rounds(const struct tor_plan *p, u32 channel)
{
	return moore_state(p)->rounds;
}

static const struct tor_family intervals = {
	.rounds = moore_intervals_rounds,
	.transfer = moore_intervals_transfer,
	.piece = moore_intervals_piece,
};

static int moore_intervals_init(struct tor_plan *p, const char **why)
{
	struct tor_moore *s = tor_plan_state(p, struct tor_moore);
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		if (!tor_has_intervals(p->grid.side[d])) {
			*why = "moore has no schedule for a side of this length";
			return -EOPNOTSUPP;
		}
		s->coord[d] = tor_torus_coord(&p->grid, p->rank, d);
		tor_moore_init_side(p, d);
	}
	p->ops = &intervals;
	p->shape.alternates = true;
	/* a + b is b + a, but bracketing differs between ranks */
	p->shape.agrees = p->call.ranks == 2;
	p->shape.peers = min_t(u32, tor_power3(p->grid.ndim) - 1, p->call.ranks - 1);
	s->rounds = max_t(u32, 3, moore_sending_rounds(s));
	return moore_find_bufs(p, why);
}

static int moore_init(struct tor_plan *p, const char **why)
{
	struct tor_moore *s = tor_plan_state(p, struct tor_moore);
	bool powers = true;
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		s->steps[d] = tor_log3_up(p->grid.side[d]);
		s->k = max(s->k, s->steps[d]);
		powers &= tor_is_power3(p->grid.side[d]);
	}
	if (!powers)
		return moore_intervals_init(p, why);
	tor_exchange_init(p, s->k, p->call.ranks);
	p->shape.peers = moore_offsets(p, 0);
	p->shape.agrees = false;
	return 0;
}

static const struct tor_exchange moore_exchange = {
	.peer = moore_powers_peer,
};

const struct tor_family tor_family_moore = {
	.serves = TOR_COLL(ALLREDUCE),
	.init = moore_init,
	TOR_EXCHANGE_FAMILY(moore_exchange),
};
