// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Allreduces by exchange of whole slices: rounds and buffers. */
#include "core/plan/distance/exchange.h"

static const struct tor_exchange_state *state_of(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_exchange_state);
}

static bool folds(const struct tor_plan *p)
{
	return state_of(p)->folded < p->req.ranks;
}

/* Rounds from the first exchange to the one that writes data. */
static u32 core_rounds(const struct tor_plan *p)
{
	return max_t(u32, 3, state_of(p)->exchanges);
}

/**
 * tor_exchange_init - see plan/distance/exchange.h
 * @p: plan
 * @exchanges: at least 1
 * @core: ranks that take part
 */
void tor_exchange_init(struct tor_plan *p, u32 exchanges, u32 core)
{
	struct tor_exchange_state *s = tor_plan_state(p, struct tor_exchange_state);

	s->exchanges = exchanges;
	s->folded = core;
	p->shape.alternates = true;
	p->shape.bufs = 1 + min_t(u32, 3, exchanges < 3 ? exchanges : exchanges - 1);
}

/**
 * tor_exchange_rounds - as struct tor_family
 * @p: plan
 * @channel: its number
 */
u32 tor_exchange_rounds(const struct tor_plan *p, u32 channel)
{
	return core_rounds(p) + (folds(p) ? 2 : 0);
}

/* The buffer that exchange @k writes, and the next one reads. */
static u32 buf_of(const struct tor_plan *p, s32 k)
{
	u32 exchanges = state_of(p)->exchanges;

	return k < 0 || (k >= 2 && k == (s32)exchanges - 1) ? TOR_BUF_DATA : 1 + k % 3;
}

static bool set_transfer(struct tor_cursor *c, u32 src, u32 dst, u32 op)
{
	c->src = src;
	c->dst = dst;
	c->op = op;
	c->family[0] = 0;
	return true;
}

/* Those that do not take part give all they have to one that does, and get the result in the end. */
static bool fold_transfer(const struct tor_plan *p, struct tor_cursor *c, bool back)
{
	u32 core = state_of(p)->folded, low = p->rank, high = p->rank;

	if (c->transfer)
		return false;
	if (p->rank >= core)
		low -= core;
	else
		high += core;
	if (high >= p->req.ranks)
		return false;
	return back ? set_transfer(c, low, high, TOR_PIECE_COPY) :
		      set_transfer(c, high, low, TOR_PIECE_REDUCE);
}

static bool exchange_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 k)
{
	const struct tor_exchange *ops = p->ops->exchange;
	u32 peer, i;
	bool from;

	c->sbuf = buf_of(p, (s32)k - 1);
	c->dbuf = buf_of(p, k);
	if (!c->transfer)
		return set_transfer(c, p->rank, p->rank, TOR_PIECE_COPY);
	for (;; c->transfer++) {
		i = (c->transfer - 1) / 2;
		from = (c->transfer - 1) % 2;
		if (ops->peer(p, c->channel, k, i, from, &peer))
			break;
		if (!ops->peer(p, c->channel, k, i + from, !from, &peer))
			return false;
	}
	return set_transfer(c, from ? peer : p->rank, from ? p->rank : peer, TOR_PIECE_REDUCE);
}

/**
 * tor_exchange_transfer - as struct tor_family
 * @p: plan
 * @c: cursor
 */
bool tor_exchange_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	u32 k = c->round, exchanges = state_of(p)->exchanges;

	if (folds(p)) {
		if (k == 0)
			return fold_transfer(p, c, false);
		if (k == core_rounds(p) + 1)
			return fold_transfer(p, c, true);
		k--;
	}
	if (p->rank >= state_of(p)->folded)
		return false;
	if (k < exchanges)
		return exchange_transfer(p, c, k);
	/* one or two exchanges: data may be written in round 2 at the earliest */
	if (k < 2 || c->transfer)
		return false;
	c->sbuf = buf_of(p, exchanges - 1);
	return set_transfer(c, p->rank, p->rank, TOR_PIECE_COPY);
}

/**
 * tor_slice_piece - the piece of a transfer of the channel's whole slice
 * @p: plan
 * @c: cursor, with family[0] zero at first
 * @out: piece
 */
bool tor_slice_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	if (c->family[0]++)
		return false;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}
