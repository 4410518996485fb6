// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `moore`: an allreduce with the whole box of neighbours at once, trivance-lat's step along every side in
 * the same round: 3^D as many summands in a round, the fewest rounds.
 *
 * Sides that are powers of three: in round k the partial sums of all nodes at offsets -3^k, 0 and 3^k along
 * every side are added.
 *
 * Other sides: by trivance-lat's intervals. A node at step k knows a box of nodes, cut along each side
 * into atoms: its own coordinate, and what came from either side in each step, numbered -k .. k from left to
 * right. From a neighbour that lies aside in some dimensions come, in these, the step's atom of that side; in
 * the others, all that was known before, as one sum or, where a message of a later step is to have only a
 * part of it, as several, one per group of atoms that no such message parts. These sums are the parts that are
 * kept: one for each slot (group or direction) of every dimension, but for those that are groups in
 * all. A message is put together from all parts inside a box, in a local step before it is sent.
 *
 * Shorter sides are finished first: then everything is one group.
 */
#include "plan_exchange.h"
#include "plan_intervals.h"

#define MAX_STEPS	13		/* 3^13 is more than TOR_MAX_NODES */
#define TABLE_STEPS	4		/* of sides in the table; others are never cut */

struct moore {
	struct tor_exchange_state exchange;	/* if all sides are powers of three */
	bool powers;
	u8 rounds;
	u8 k;				/* steps of the longest side */
	u8 steps[TOR_MAX_DIMS];
	u8 cuts[TOR_MAX_DIMS][TABLE_STEPS];	/* bit x + k: atoms x and x + 1 are in different groups */
	u16 part[MAX_STEPS + 1];	/* buffer of the first part of each step; then those of messages */
	u16 messages;			/* buffers of one step's messages: two sets of them take turns */
};

/* Where the walk over a transfer's pieces stands. Kept in the cursor. */
struct at {
	u32 next;			/* message of the pattern */
	u32 pattern;			/* of the messages: base 3 digits, 0 all, 1 from the right, 2 left */
	u8 k, j;			/* step; of the part */
	bool begun, entered;		/* the parts; those of step j */
	s8 low[TOR_MAX_DIMS];		/* the box */
	s8 high[TOR_MAX_DIMS];
	u16 slots[TOR_MAX_DIMS];	/* of step j that are inside of it, as bits */
	u8 slot[TOR_MAX_DIMS];		/* those of the last part */
	u16 buf;			/* of the message */
};

static const struct moore *state_of(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct moore);
}

/* --- along one side --- */

static bool is_active(const struct tor_plan *p, u32 d, u32 k)
{
	return k < state_of(p)->steps[d];
}

/* Is atom @x inside of what goes to those who get it from @side in step @j? */
static bool atom_goes(u32 n, s32 x, u32 side, u32 j)
{
	u32 from = x > 0 ? 0 : 1, away = x > 0 ? x : -x;
	s32 first, last, place = 0;

	/* one without nodes does what the one before it does */
	while (away && !tor_interval_nodes(n, from, away - 1))
		away--;
	if (away)
		place = tor_interval_reach(n, from, away - 1) + 1;
	tor_interval_window(n, side, j, &first, &last);
	if (from != side)
		place = -place;
	return place >= first && place <= last;
}

/* Before step @k: which of the atoms -@k .. @k must stay apart for steps after it. */
static u32 find_cuts(u32 n, u32 k, u32 steps)
{
	u32 j, side, cuts = 0;
	s32 x;

	for (x = -(s32)k; x < (s32)k; x++)
		for (j = k + 1; j < steps; j++)
			for (side = 0; side < 2; side++)
				if (atom_goes(n, x, side, j) != atom_goes(n, x + 1, side, j))
					cuts |= 1U << (x + (s32)k);
	return cuts;
}

static u32 cuts_of(const struct tor_plan *p, u32 d, u32 k)
{
	return is_active(p, d, k) && k < TABLE_STEPS ? state_of(p)->cuts[d][k] : 0;
}

static u32 groups_of(const struct tor_plan *p, u32 d, u32 k)
{
	return 1 + hweight64(cuts_of(p, d, k));
}

/* Does something come from @side in step @k? */
static bool comes(const struct tor_plan *p, u32 d, u32 side, u32 k)
{
	return is_active(p, d, k) && tor_interval_nodes(p->grid.side[d], side, k);
}

/* Groups, then directions. */
static u32 slots_of(const struct tor_plan *p, u32 d, u32 k)
{
	return groups_of(p, d, k) + comes(p, d, 0, k) + comes(p, d, 1, k);
}

static u32 slot_of_side(const struct tor_plan *p, u32 d, u32 side, u32 k)
{
	return groups_of(p, d, k) + (side && comes(p, d, 0, k));
}

/* The atoms of a group. */
static void group_atoms(const struct tor_plan *p, u32 d, u32 k, u32 group, s8 *low, s8 *high)
{
	u32 cuts = cuts_of(p, d, k), known = min_t(u32, k, state_of(p)->steps[d]);

	*low = -(s32)known;
	for (; group; group--) {
		*low += ffs(cuts);
		cuts >>= ffs(cuts);
	}
	*high = cuts ? *low + ffs(cuts) - 1 : (s32)known;
}

/* The atoms, where it is received, of what has this slot in step @k. */
static void slot_atoms(const struct tor_plan *p, u32 d, u32 k, u32 slot, s8 *low, s8 *high)
{
	if (slot < groups_of(p, d, k)) {
		group_atoms(p, d, k, slot, low, high);
		return;
	}
	*low = k + 1;
	if (!comes(p, d, 0, k) || slot != slot_of_side(p, d, 0, k))
		*low = -*low;
	*high = *low;
}

/* The atoms that the sender puts together for those who get it from @side. */
static void window_atoms(const struct tor_plan *p, u32 d, u32 k, u32 side, s8 *low, s8 *high)
{
	s32 x, known = k;
	bool any = false;

	for (x = -known; x <= known; x++) {
		if (!atom_goes(p->grid.side[d], x, side, k))
			continue;
		*low = any ? *low : x;
		*high = x;
		any = true;
	}
}

/* --- boxes --- */

static u32 digit_of(u32 pattern, u32 d)
{
	return pattern / tor_power3(d) % 3;
}

/* Is there such a message in step @k? */
static bool is_pattern(const struct tor_plan *p, u32 pattern, u32 k)
{
	u32 d, digit;

	for (d = 0; d < p->grid.ndim; d++) {
		digit = digit_of(pattern, d);
		if (digit && !comes(p, d, digit - 1, k))
			return false;
	}
	return pattern;
}

/*
 * Message @i of a pattern: its box where it is sent, and its place among all of the step. False: there are no
 * more.
 */
static bool find_message(const struct tor_plan *p, struct at *at, u32 i, u32 *place)
{
	u32 d, digit, slot, unit = 1;

	*place = 0;
	for (d = 0; d < p->grid.ndim; d++) {
		digit = digit_of(at->pattern, d);
		if (digit) {
			slot = slot_of_side(p, d, digit - 1, at->k);
			window_atoms(p, d, at->k, digit - 1, &at->low[d], &at->high[d]);
		} else {
			slot = i % groups_of(p, d, at->k);
			i /= groups_of(p, d, at->k);
			group_atoms(p, d, at->k, slot, &at->low[d], &at->high[d]);
		}
		*place += slot * unit;
		unit *= slots_of(p, d, at->k);
	}
	return !i;
}

/* Which slots of step j are inside the box; the first ones. False: in some dimension none is. */
static bool enter_step(const struct tor_plan *p, struct at *at)
{
	u32 d, slot, n;
	s8 low, high;

	for (d = 0; d < p->grid.ndim; d++) {
		at->slots[d] = 0;
		n = slots_of(p, d, at->j);
		for (slot = 0; slot < n; slot++) {
			slot_atoms(p, d, at->j, slot, &low, &high);
			if (low >= at->low[d] && high <= at->high[d])
				at->slots[d] |= 1U << slot;
		}
		if (!at->slots[d])
			return false;
		at->slot[d] = ffs(at->slots[d]) - 1;
	}
	return true;
}

/* The next combination of slots, dimension 0 fastest. */
static bool next_slots(const struct tor_plan *p, struct at *at)
{
	u32 d, rest;

	for (d = 0; d < p->grid.ndim; d++) {
		rest = at->slots[d] & ~((2U << at->slot[d]) - 1);
		at->slot[d] = ffs(rest ? rest : at->slots[d]) - 1;
		if (rest)
			return true;
	}
	return false;
}

/* The part with these slots, by its number in step j. False: it is none, but groups in all dimensions. */
static bool is_part(const struct tor_plan *p, const struct at *at, u32 *part)
{
	u32 d, unit = 1;
	bool groups = true;

	*part = 0;
	for (d = 0; d < p->grid.ndim; d++) {
		groups &= at->slot[d] < groups_of(p, d, at->j);
		*part += at->slot[d] * unit;
		unit *= slots_of(p, d, at->j);
	}
	return !groups;
}

static bool own_inside(const struct tor_plan *p, const struct at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++)
		if (at->low[d] > 0 || at->high[d] < 0)
			return false;
	return true;
}

/* The buffer of the next part inside the box: data, then temporaries. False: there are no more. */
static bool next_part(const struct tor_plan *p, struct at *at, u32 *buf)
{
	const struct moore *s = state_of(p);

	if (!at->begun) {
		at->begun = true;
		*buf = TOR_BUF_DATA;
		if (own_inside(p, at))
			return true;
	}
	for (; at->j < at->k; at->j++, at->entered = false) {
		bool any = at->entered ? next_slots(p, at) : enter_step(p, at);

		at->entered = true;
		for (; any; any = next_slots(p, at))
			if (is_part(p, at, buf)) {
				*buf += s->part[at->j];
				return true;
			}
	}
	return false;
}

static void all_atoms(const struct tor_plan *p, struct at *at)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++) {
		at->low[d] = -(s32)MAX_STEPS;
		at->high[d] = MAX_STEPS;
	}
}

/* --- rounds --- */

/* Step k is sent in round 2k; put together in the one before. */
static u32 sending_rounds(const struct moore *s)
{
	return 2 * s->k - 1;
}

static u32 message_buf(const struct tor_plan *p, u32 k, u32 place)
{
	const struct moore *s = state_of(p);

	return k ? s->part[s->k - 1] + k % 2 * s->messages + place : TOR_BUF_DATA;
}

/* The result: data, but not before round 2. */
static u32 result_buf(const struct tor_plan *p)
{
	return state_of(p)->k > 1 ? TOR_BUF_DATA : 1;
}

static bool set(struct tor_cursor *c, u32 src, u32 dst, u32 op)
{
	struct at *at = (struct at *)c->family;

	c->src = src;
	c->dst = dst;
	c->op = op;
	at->j = 0;
	at->begun = false;
	at->entered = false;
	return true;
}

/* Local: the messages of one pattern after the other. */
static bool compose_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 most = tor_power3(p->grid.ndim), place;

	if (!c->transfer) {
		at->pattern = 0;
		at->next = 0;
	}
	for (; at->pattern < most; at->pattern++, at->next = 0)
		if (is_pattern(p, at->pattern, at->k) && find_message(p, at, at->next++, &place)) {
			at->buf = message_buf(p, at->k, place);
			return set(c, p->rank, p->rank, TOR_PIECE_COPY);
		}
	return false;
}

/* Transfers: for each pattern what I send, and what I get. */
static bool message_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 i)
{
	bool last = state_of(p)->k - 1 == ((struct at *)c->family)->k, get = i % 2;
	struct at *at = (struct at *)c->family;
	u32 d, digit, peer = p->rank;
	s64 by;

	at->pattern = i / 2 + 1;
	at->next = 0;
	for (d = 0; d < p->grid.ndim; d++) {
		digit = digit_of(at->pattern, d);
		if (!digit)
			continue;
		by = tor_interval_distance(p->grid.side[d], digit - 1, at->k);
		/* to the left what comes from the right */
		peer = tor_torus_shift(&p->grid, peer, d, (digit == 1) == get ? by : -by);
	}
	return set(c, get ? peer : p->rank, get ? p->rank : peer,
		   last ? TOR_PIECE_REDUCE : TOR_PIECE_COPY);
}

/* Local, in the last step: all parts that I have. */
static bool sum_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;

	all_atoms(p, at);
	at->buf = result_buf(p);
	at->pattern = 0;
	return set(c, p->rank, p->rank, TOR_PIECE_REDUCE);
}

static bool intervals_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	const struct moore *s = state_of(p);
	u32 most = 2 * (tor_power3(p->grid.ndim) - 1);

	if (c->round >= sending_rounds(s)) {
		/* a result that comes earlier than data may be written */
		if (c->round != 2 || c->transfer)
			return false;
		c->sbuf = result_buf(p);
		c->family[0] = 0;
		at->k = s->k;
		c->src = p->rank;
		c->dst = p->rank;
		c->op = TOR_PIECE_COPY;
		return true;
	}
	at->k = (c->round + 1) / 2;
	if (c->round % 2)
		return compose_transfer(p, c);
	if (!c->transfer && at->k == s->k - 1)
		return sum_transfer(p, c);
	/* place 0 is the sum's */
	for (c->transfer = max_t(u32, c->transfer, 1); c->transfer <= most; c->transfer++)
		if (is_pattern(p, (c->transfer - 1) / 2 + 1, at->k))
			return message_transfer(p, c, c->transfer - 1);
	return false;
}

/* --- pieces --- */

/* Of a message that is put together, or of the sum: one part after the other. */
static bool part_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	bool first = !at->begun;
	u32 buf;

	if (!next_part(p, at, &buf))
		return false;
	/* the result may have this rank's own value already */
	if (buf == at->buf && !next_part(p, at, &buf))
		return false;
	out->sbuf = buf;
	out->dbuf = at->buf;
	out->op = first && at->buf != TOR_BUF_DATA ? TOR_PIECE_COPY : TOR_PIECE_REDUCE;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}

/* Of what is sent: one message after the other. */
static bool message_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	const struct moore *s = state_of(p);
	u32 place;

	if (!find_message(p, at, at->next++, &place))
		return false;
	out->sbuf = message_buf(p, at->k, place);
	out->dbuf = at->k == s->k - 1 ? result_buf(p) : s->part[at->k] + place;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}

static bool moore_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	const struct moore *s = state_of(p);

	if (s->powers || c->round >= sending_rounds(s))
		return tor_slice_piece(p, c, out);
	return c->src == c->dst ? part_piece(p, c, out) : message_piece(p, c, out);
}

/* --- powers of three --- */

/* Offsets in a round: 3 for each side that is not yet finished, but for the node itself. */
static u32 box(const struct tor_plan *p, u32 k)
{
	u32 d, n = 1;

	for (d = 0; d < p->grid.ndim; d++)
		if (is_active(p, d, k))
			n *= 3;
	return n - 1;
}

static bool powers_peer(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from, u32 *rank)
{
	u32 d, digit, rest = i + 1;
	s64 by;

	*rank = p->rank;
	if (i >= box(p, k))
		return false;
	for (d = 0; d < p->grid.ndim; d++) {
		if (!is_active(p, d, k))
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

/* Buffers: parts of all steps but the last, which is added to the result, and messages. */
static int find_bufs(struct tor_plan *p, const char **why)
{
	struct moore *s = tor_plan_state(p, struct moore);
	u64 slots, next = 1, messages = 0;
	u32 d, k;

	for (k = 0; k < s->k; k++) {
		s->part[k] = next;
		for (slots = 1, d = 0; d < p->grid.ndim; d++)
			slots *= slots_of(p, d, k);
		messages = k ? max(messages, slots) : 0;
		next += k < s->k - 1u ? slots : 0;
		if (next + 2 * messages >= TOR_MAX_BUFS) {
			*why = "moore would need too many temporaries on this torus";
			return -EOPNOTSUPP;
		}
	}
	s->messages = messages;
	/* one step alone: the result, which is copied to data later */
	p->shape.bufs = s->k > 1 ? next + 2 * messages : 2;
	return 0;
}

static int intervals_init(struct tor_plan *p, const char **why)
{
	struct moore *s = tor_plan_state(p, struct moore);
	u32 d, k, n;

	for (d = 0; d < p->grid.ndim; d++) {
		n = p->grid.side[d];
		if (!tor_has_intervals(n)) {
			*why = "moore has no schedule for a side of this length";
			return -EOPNOTSUPP;
		}
		for (k = 0; k < s->steps[d] && k < TABLE_STEPS; k++)
			s->cuts[d][k] = find_cuts(n, k, s->steps[d]);
	}
	p->shape.alternates = true;
	/* a + b is b + a, but there are no brackets */
	p->shape.agrees = p->req.ranks == 2;
	p->shape.peers = tor_power3(p->grid.ndim) - 1;
	s->rounds = max_t(u32, 3, sending_rounds(s));
	return find_bufs(p, why);
}

static int moore_init(struct tor_plan *p, const char **why)
{
	struct moore *s = tor_plan_state(p, struct moore);
	u32 d;

	s->powers = true;
	for (d = 0; d < p->grid.ndim; d++) {
		s->steps[d] = tor_log3_up(p->grid.side[d]);
		s->k = max(s->k, s->steps[d]);
		s->powers &= tor_is_power3(p->grid.side[d]);
	}
	if (!s->powers)
		return intervals_init(p, why);
	tor_exchange_init(p, s->k, p->req.ranks);
	p->shape.peers = box(p, 0);
	p->shape.agrees = false;
	return 0;
}

static u32 moore_rounds(const struct tor_plan *p, u32 channel)
{
	return state_of(p)->powers ? tor_exchange_rounds(p, channel) : state_of(p)->rounds;
}

static bool moore_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	return state_of(p)->powers ? tor_exchange_transfer(p, c) : intervals_transfer(p, c);
}

static const struct tor_exchange moore_exchange = {
	.peer = powers_peer,
};

const struct tor_family tor_family_moore = {
	.serves = TOR_COLL(ALLREDUCE),
	.exchange = &moore_exchange,
	.init = moore_init,
	.rounds = moore_rounds,
	.transfer = moore_transfer,
	.piece = moore_piece,
};
