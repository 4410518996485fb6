// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Allreduces by exchange of whole slices: rounds and buffers. */
#include "core/plan/distance/exchange.h"

static const struct tor_exchange_state *exchange_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_exchange_state);
}

static bool exchange_folds(const struct tor_plan *p)
{
	return exchange_state(p)->folded < p->call.ranks;
}

/* Rounds from the first exchange to the one that writes data. */
static u32 exchange_core_rounds(const struct tor_plan *p)
{
	return max_t(u32, 3, exchange_state(p)->exchanges);
}

void tor_exchange_init(struct tor_plan *p, u32 exchanges, u32 core)
{
	struct tor_exchange_state *s = tor_plan_state(p, struct tor_exchange_state);

	s->exchanges = exchanges;
	s->folded = core;
	p->shape.alternates = true;
	p->shape.bufs = 1 + min_t(u32, 3, exchanges < 3 ? exchanges : exchanges - 1);
}

/**
 * tor_exchange_rounds - member rounds of struct tor_family
 * @p: plan
 * @channel: its number
 *
 * Return: the number of rounds.
 */
u32 tor_exchange_rounds(const struct tor_plan *p, u32 channel)
{
	return exchange_core_rounds(p) + (exchange_folds(p) ? 2 : 0);
}

/* The buffer that exchange @k writes and the next one reads. */
static u32 exchange_buf(const struct tor_plan *p, s32 k)
{
	u32 exchanges = exchange_state(p)->exchanges;

	return k < 0 || (k >= 2 && k == (s32)exchanges - 1) ? TOR_BUF_DATA : 1 + k % 3;
}

static bool exchange_set(struct tor_cursor *c, u32 src, u32 dst, u32 op)
{
	c->src = src;
	c->dst = dst;
	c->op = op;
	c->family[0] = 0;
	return true;
}

/*
 * Ranks that do not take part give all they have to one that does, and receive
 * the result in the end.
 */
static bool exchange_fold_transfer(const struct tor_plan *p, struct tor_cursor *c, bool back)
{
	u32 core = exchange_state(p)->folded, low = p->rank, high = p->rank;

	if (c->transfer)
		return false;
	if (p->rank >= core)
		low -= core;
	else
		high += core;
	if (high >= p->call.ranks)
		return false;
	return back ? exchange_set(c, low, high, TOR_PIECE_COPY) :
		      exchange_set(c, high, low, TOR_PIECE_REDUCE);
}

static bool exchange_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 k)
{
	const struct tor_exchange *ops = p->ops->exchange;
	u32 peer, i;
	bool from;

	c->sbuf = exchange_buf(p, (s32)k - 1);
	c->dbuf = exchange_buf(p, k);
	if (!c->transfer)
		return exchange_set(c, p->rank, p->rank, TOR_PIECE_COPY);
	for (;; c->transfer++) {
		i = (c->transfer - 1) / 2;
		from = (c->transfer - 1) % 2;
		if (ops->peer(p, c->channel, k, i, from, &peer))
			break;
		if (!ops->peer(p, c->channel, k, i + from, !from, &peer))
			return false;
	}
	return exchange_set(c, from ? peer : p->rank, from ? p->rank : peer, TOR_PIECE_REDUCE);
}

/**
 * tor_exchange_transfer - member transfer of struct tor_family
 * @p: plan
 * @c: cursor
 *
 * Return: false if there are no more transfers in the round.
 */
bool tor_exchange_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	u32 k = c->round, exchanges = exchange_state(p)->exchanges;

	if (exchange_folds(p)) {
		if (k == 0)
			return exchange_fold_transfer(p, c, false);
		if (k == exchange_core_rounds(p) + 1)
			return exchange_fold_transfer(p, c, true);
		k--;
	}
	if (p->rank >= exchange_state(p)->folded)
		return false;
	if (k < exchanges)
		return exchange_transfer(p, c, k);
	/* one or two exchanges: data may be written in round 2 at the earliest */
	if (k < 2 || c->transfer)
		return false;
	c->sbuf = exchange_buf(p, exchanges - 1);
	return exchange_set(c, p->rank, p->rank, TOR_PIECE_COPY);
}

/**
 * tor_slice_piece - member piece of struct tor_family: the channel's whole
 * slice
 * @p: plan
 * @c: cursor, with family[0] zero at first
 * @out: piece
 *
 * Return: false after the first piece.
 */
bool tor_slice_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	if (c->family[0]++)
		return false;
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}
