// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `direct`: everything goes straight from whoever has it to whoever wants it, over as many hops as that takes.
 *
 * Reductions have a block for each rank, its owner. Ranks exchange their contributions to the blocks unreduced,
 * so that an owner has them all and adds them up in the order of ranks: the sequential sum. What
 * was reduced then goes to all, or to the root. So an element crosses the fabric twice at most, and what is kept
 * unreduced is, in all, as long as the vector.
 *
 * An alltoall sends from its input (see plan.h), which is not written, straight to the result.
 *
 * In a round a rank exchanges with a few others, at the same distances behind and ahead: nobody is sent to
 * by many at once, except the root of a gather.
 */
#include "core/plan/family.h"

#define PEERS	8			/* ranks sent to in a round */

enum phase { SPREAD, SUM, COLLECT };

/* Where a round is, and what is left of a transfer. Kept in the cursor. */
struct at {
	enum phase phase;
	u32 step;			/* of the phase */
	u32 next, end;			/* contributions of these ranks are added up; or one piece */
};

static bool reduces(const struct tor_plan *p)
{
	return tor_collective_reduces(p->req.collective);
}

/* Rounds in which everyone exchanges with everyone. */
static u32 steps(const struct tor_plan *p)
{
	return (p->req.ranks - 1 + PEERS - 1) / PEERS;
}

static bool has_phase(const struct tor_plan *p, enum phase phase)
{
	u32 sets[] = {
		[SPREAD] = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(REDUCE) |
			   TOR_COLL(SCATTER) | TOR_COLL(ALLTOALL),
		[SUM] = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(REDUCE),
		[COLLECT] = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE) | TOR_COLL(ALLGATHER) |
			    TOR_COLL(GATHER),
	};

	return sets[phase] >> p->req.collective & 1;
}

static u32 phase_rounds(const struct tor_plan *p, enum phase phase)
{
	if (!has_phase(p, phase))
		return 0;
	return phase == SUM ? 1 : steps(p);
}

static int direct_init(struct tor_plan *p, const char **why)
{
	const struct tor_plan_req *r = &p->req;

	p->shape.peers = min_t(u32, PEERS, r->ranks - 1);
	if (r->collective == TORCOLL_ALLTOALL) {
		if (!r->from_counts && tor_div64(r->count, r->ranks) * r->ranks != r->count) {
			*why = "an alltoall has as many elements for each rank";
			return -EINVAL;
		}
		p->shape.input = true;
		p->shape.bufs = 2;
	}
	if (!reduces(p))
		return 0;
	if (r->ranks >= TOR_MAX_BUFS) {
		*why = "direct keeps every rank's contribution: too many ranks for that";
		return -EOPNOTSUPP;
	}
	p->shape.bufs = 1 + r->ranks;
	p->shape.sequential = true;
	p->temp = tor_plan_own(p, 0, p->rank);
	return 0;
}

static u32 direct_rounds(const struct tor_plan *p, u32 channel)
{
	return phase_rounds(p, SPREAD) + phase_rounds(p, SUM) + phase_rounds(p, COLLECT);
}

static void find_round(const struct tor_plan *p, u32 round, struct at *at)
{
	at->phase = SPREAD;
	while (round >= phase_rounds(p, at->phase))
		round -= phase_rounds(p, at->phase++);
	at->step = round;
}

/* Does anything go from @src to @dst? */
static bool goes(const struct tor_plan *p, enum phase phase, u32 src, u32 dst)
{
	if (p->req.collective == TORCOLL_SCATTER)
		return src == p->req.root;
	if (p->req.collective == TORCOLL_GATHER || p->req.collective == TORCOLL_REDUCE)
		return phase != COLLECT || dst == p->req.root;
	return true;
}

/* Local: contributions are added up; or my own one joins the others, my own block the result. */
static bool local_transfer(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	c->src = p->rank;
	c->dst = p->rank;
	at->next = 0;
	at->end = 1;
	if (at->phase == SUM) {
		at->end = p->req.ranks;
		return true;
	}
	c->op = TOR_PIECE_COPY;
	return at->phase == SPREAD && !at->step && p->req.collective != TORCOLL_SCATTER;
}

/* Transfers: the local one, then what goes to the next ranks, and what comes from those as far behind. */
static bool direct_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 n = p->req.ranks, away;

	find_round(p, c->round, at);
	if (!c->transfer) {
		if (local_transfer(p, c, at))
			return true;
		c->transfer++;
	}
	c->op = TOR_PIECE_COPY;
	at->next = 0;
	at->end = 1;
	for (; at->phase != SUM && c->transfer <= 2 * PEERS; c->transfer++) {
		away = 1 + at->step * PEERS + (c->transfer - 1) / 2;
		if (away >= n)
			return false;
		c->src = c->transfer % 2 ? p->rank : (p->rank + n - away) % n;
		c->dst = (c->src + away) % n;
		if (goes(p, at->phase, c->src, c->dst))
			return true;
	}
	return false;
}

/* Where what goes from a rank to another lies at both, and how long it is. */
static void exchange_piece(const struct tor_plan *p, const struct tor_cursor *c,
			   struct tor_piece *out)
{
	const struct tor_plan_req *r = &p->req;
	struct tor_span from = tor_plan_own(p, 0, c->dst), to = tor_plan_own(p, 0, c->src);

	/* lengths that are one rank's own business: it knows its end only */
	if (r->from_counts) {
		from = tor_plan_block(r->count, r->counts, r->ranks, c->dst);
		to = tor_plan_block(r->count, r->from_counts, r->ranks, c->src);
		if (c->src != p->rank)
			from = (struct tor_span){ 0, to.n };
		if (c->dst != p->rank)
			to = (struct tor_span){ 0, from.n };
	}
	out->sbuf = TOR_BUF_INPUT;
	out->soff = from.off;
	out->doff = to.off;
	out->n = from.n;
}

static bool direct_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 rank = at->next++;

	if (rank >= at->end)
		return false;
	if (p->req.collective == TORCOLL_ALLTOALL) {
		exchange_piece(p, c, out);
		return true;
	}
	if (at->phase == SUM) {
		out->sbuf = 1 + rank;
		out->op = rank ? TOR_PIECE_REDUCE : TOR_PIECE_COPY;
	} else if (at->phase == SPREAD && reduces(p)) {
		out->dbuf = 1 + c->src;
	}
	tor_piece_in_place(out, tor_plan_own(p, 0, at->phase == COLLECT ? c->src : c->dst));
	return true;
}

const struct tor_family tor_family_direct = {
	.serves = TOR_COLL_BW | TOR_COLL(REDUCE) | TOR_COLL(GATHER) | TOR_COLL(SCATTER) |
		  TOR_COLL(ALLTOALL),
	.any_list = true,
	.init = direct_init,
	.rounds = direct_rounds,
	.transfer = direct_transfer,
	.piece = direct_piece,
};
