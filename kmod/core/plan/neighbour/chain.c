// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `ring` for a scan: from rank to rank, in their order, each adds its own and passes the sum on; block by block, so that
 * all are at work. What comes out is the sequential sum.
 *
 * In a scan a rank sends block b in the round after it came. An exclusive one keeps its own vector, and the sum with it,
 * in a temporary, since the vector is what came: it takes a round in between to add.
 */
#include "core/plan/family.h"

#define BUF_SUM		1		/* exscan: the sum up to here, my own included */

struct chain {
	u32 blocks;
	u32 stride;			/* rounds from rank to rank */
};

/* The block that goes. Kept in the cursor. */
struct at {
	u32 block;
	bool all;			/* instead */
	bool done;
};

static const struct chain *state_of(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct chain);
}

static bool exclusive(const struct tor_plan *p)
{
	return p->req.collective == TORCOLL_EXSCAN;
}

static int chain_init(struct tor_plan *p, const char **why)
{
	struct chain *s = tor_plan_state(p, struct chain);

	if (p->req.param[TORCOLL_PARAM_CHANNELS] > 1) {
		*why = "ring scans in one channel";
		return -EINVAL;
	}
	s->blocks = p->req.param[TORCOLL_PARAM_BLOCKS];
	/* of a few pages, not too many */
	if (!s->blocks)
		s->blocks = clamp_t(u64, tor_div64(p->req.count, 4096), 1, 64);
	if (s->blocks > U16_MAX) {
		*why = "more blocks than rounds can be counted";
		return -EINVAL;
	}
	s->stride = exclusive(p) ? 2 : 1;
	p->shape.bufs = exclusive(p) ? 2 : 1;
	p->shape.sequential = true;
	return 0;
}

static u32 chain_rounds(const struct tor_plan *p, u32 channel)
{
	const struct chain *s = state_of(p);

	return s->stride * (p->req.ranks - 1 + s->blocks - 1);
}

/* Does rank @rank send a block in this round? Then sets at->block. */
static bool sends(const struct tor_plan *p, const struct tor_cursor *c, u32 rank, struct at *at)
{
	const struct chain *s = state_of(p);
	/* an exclusive scan sends in odd rounds */
	u32 first = rank * s->stride + s->stride - 1;

	if (rank + 1 >= p->req.ranks || c->round < first || (c->round - first) % s->stride)
		return false;
	at->block = (c->round - first) / s->stride;
	return at->block < s->blocks;
}

/* Exclusive: at first the own vector goes aside; before a block is sent, what came is added to it. */
static bool adds(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	struct tor_cursor next = { .round = c->round + 1 };

	if (!exclusive(p))
		return false;
	c->src = p->rank;
	c->dst = p->rank;
	at->all = !c->round;
	if (at->all)
		c->op = TOR_PIECE_COPY;
	return at->all || (p->rank && c->round % 2 == 0 && sends(p, &next, p->rank, at));
}

/* Transfers: the local one, what I send, what comes. */
static bool chain_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 from;

	at->all = false;
	at->done = false;
	for (; c->transfer < 3; c->transfer++) {
		if (!c->transfer) {
			if (adds(p, c, at))
				return true;
			continue;
		}
		if (c->transfer == 2 && !p->rank)
			return false;
		from = c->transfer == 1 ? p->rank : p->rank - 1;
		c->src = from;
		c->dst = from + 1;
		c->op = exclusive(p) ? TOR_PIECE_COPY : TOR_PIECE_REDUCE;
		if (sends(p, c, from, at))
			return true;
	}
	return false;
}

static bool chain_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u64 count = p->req.count;
	u32 blocks = state_of(p)->blocks;

	if (at->done)
		return false;
	at->done = true;
	if (exclusive(p) && c->src == c->dst)
		out->dbuf = BUF_SUM;
	else if (exclusive(p))
		out->sbuf = BUF_SUM;
	tor_piece_in_place(out, at->all ? (struct tor_span){ 0, count } : (struct tor_span){
		tor_block_start(count, blocks, at->block), tor_block_len(count, blocks, at->block)
	});
	return true;
}

const struct tor_family tor_family_chain = {
	.serves = TOR_COLL(SCAN) | TOR_COLL(EXSCAN),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(BLOCKS),
	.any_list = true,
	.init = chain_init,
	.rounds = chain_rounds,
	.transfer = chain_transfer,
	.piece = chain_piece,
};
