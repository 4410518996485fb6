// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `ring` for a scan: along the ranks in their order, each rank adds its own
 * vector and passes the sum on, block by block, so that all ranks are busy. The
 * result is the sequential sum.
 *
 * In a scan a rank sends a block in the round after it arrived. An exclusive
 * scan keeps the own vector, and the sum that includes it, in a temporary,
 * because its result is what arrived. The addition takes a round in between.
 */
#include "core/plan/family.h"

#define BUF_SUM		1		/* exscan: the sum up to this rank, inclusive */

struct chain {
	u32 blocks;
	u32 stride;			/* rounds from rank to rank */
};

/* The block in transfer. Kept in the cursor. */
struct at {
	u32 block;
	bool all;			/* the whole vector instead */
	bool done;
};

static const struct chain *chain_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct chain);
}

static bool chain_is_exclusive(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_EXSCAN;
}

static int chain_init(struct tor_plan *p, const char **why)
{
	struct chain *s = tor_plan_state(p, struct chain);

	if (p->call.param[TORCOLL_PARAM_CHANNELS] > 1) {
		*why = "ring scans in one channel";
		return -EINVAL;
	}
	s->blocks = p->call.param[TORCOLL_PARAM_BLOCKS];
	/* a few pages each, at most 64 */
	if (!s->blocks)
		s->blocks = clamp_t(u64, tor_div64(p->call.count, 4096), 1, 64);
	if (s->blocks > U16_MAX) {
		*why = "the number of blocks exceeds 65535";
		return -EINVAL;
	}
	s->stride = chain_is_exclusive(p) ? 2 : 1;
	p->shape.bufs = chain_is_exclusive(p) ? 2 : 1;
	p->shape.sequential = true;
	return 0;
}

static u32 chain_rounds(const struct tor_plan *p, u32 channel)
{
	const struct chain *s = chain_state(p);

	return s->stride * (p->call.ranks - 1 + s->blocks - 1);
}

/* True if rank @rank sends a block in this round. Sets at->block. */
static bool chain_sends(const struct tor_plan *p, const struct tor_cursor *c, u32 rank,
			struct at *at)
{
	const struct chain *s = chain_state(p);
	/* an exclusive scan sends in odd rounds */
	u32 first = rank * s->stride + s->stride - 1;

	if (rank + 1 >= p->call.ranks || c->round < first || (c->round - first) % s->stride)
		return false;
	at->block = (c->round - first) / s->stride;
	return at->block < s->blocks;
}

/*
 * Exclusive: round 0 copies the own vector to the temporary. Before a block is
 * sent, what arrived is added to it.
 */
static bool chain_adds(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	struct tor_cursor next = { .round = c->round + 1 };

	if (!chain_is_exclusive(p))
		return false;
	c->src = p->rank;
	c->dst = p->rank;
	at->all = !c->round;
	if (at->all)
		c->op = TOR_PIECE_COPY;
	return at->all || (p->rank && c->round % 2 == 0 && chain_sends(p, &next, p->rank, at));
}

/* Transfers: local, sent, received. */
static bool chain_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 from;

	at->all = false;
	at->done = false;
	for (; c->transfer < 3; c->transfer++) {
		if (!c->transfer) {
			if (chain_adds(p, c, at))
				return true;
			continue;
		}
		if (c->transfer == 2 && !p->rank)
			return false;
		from = c->transfer == 1 ? p->rank : p->rank - 1;
		c->src = from;
		c->dst = from + 1;
		c->op = chain_is_exclusive(p) ? TOR_PIECE_COPY : TOR_PIECE_REDUCE;
		if (chain_sends(p, c, from, at))
			return true;
	}
	return false;
}

static bool chain_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u64 count = p->call.count;
	u32 blocks = chain_state(p)->blocks;

	if (at->done)
		return false;
	at->done = true;
	if (chain_is_exclusive(p) && c->src == c->dst)
		out->dbuf = BUF_SUM;
	else if (chain_is_exclusive(p))
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
