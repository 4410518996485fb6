// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `direct`: all data goes directly from the rank that has it to the rank that
 * needs it, over as many hops as that takes.
 *
 * Reductions have a block for each rank, its owner. Ranks send their
 * contributions to a block unreduced to its owner, which adds them up in the
 * order of ranks: the sequential sum. The result then goes to all ranks, or to
 * the root. So an element crosses the fabric at most twice, and the unreduced
 * contributions that a rank keeps are together as long as the vector.
 *
 * An alltoall sends from its input (see plan.h), which is not written, directly
 * to the result.
 *
 * In each round a rank exchanges with a few others at the same distances behind
 * and ahead, so that no rank receives from many at once, except the root of a
 * gather.
 */
#include "core/plan/family.h"

#define PEERS	8			/* ranks sent to in a round */

enum phase { SPREAD, SUM, COLLECT };

/* Position of a round, and what is left of a transfer. Kept in the cursor. */
struct at {
	enum phase phase;
	u32 step;			/* of the phase */
	u32 next, end;	/* ranks whose contributions are added up; or 0, 1: one piece */
};

static bool direct_reduces(const struct tor_plan *p)
{
	return tor_collective_reduces(p->call.collective);
}

/* Rounds in which all ranks exchange with all ranks. */
static u32 direct_steps(const struct tor_plan *p)
{
	return (p->call.ranks - 1 + PEERS - 1) / PEERS;
}

static bool direct_has_phase(const struct tor_plan *p, enum phase phase)
{
	u32 sets[] = {
		[SPREAD] = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(REDUCE) |
			   TOR_COLL(SCATTER) | TOR_COLL(ALLTOALL),
		[SUM] = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(REDUCE),
		[COLLECT] = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE) | TOR_COLL(ALLGATHER) |
			    TOR_COLL(GATHER),
	};

	return sets[phase] >> p->call.collective & 1;
}

static u32 direct_phase_rounds(const struct tor_plan *p, enum phase phase)
{
	if (!direct_has_phase(p, phase))
		return 0;
	return phase == SUM ? 1 : direct_steps(p);
}

static int direct_init(struct tor_plan *p, const char **why)
{
	const struct tor_call *r = &p->call;

	p->shape.peers = min_t(u32, PEERS, r->ranks - 1);
	if (r->collective == TORCOLL_ALLTOALL) {
		if (!r->from_counts && tor_div64(r->count, r->ranks) * r->ranks != r->count) {
			*why = "the count of an alltoall must be a multiple of the number of ranks";
			return -EINVAL;
		}
		p->shape.input = true;
		p->shape.bufs = 2;
	}
	if (!direct_reduces(p))
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
	return direct_phase_rounds(p, SPREAD) + direct_phase_rounds(p, SUM) +
	       direct_phase_rounds(p, COLLECT);
}

static void direct_find_round(const struct tor_plan *p, u32 round, struct at *at)
{
	at->phase = SPREAD;
	while (round >= direct_phase_rounds(p, at->phase))
		round -= direct_phase_rounds(p, at->phase++);
	at->step = round;
}

/* True if there is a transfer from @src to @dst. */
static bool direct_goes(const struct tor_plan *p, enum phase phase, u32 src, u32 dst)
{
	if (p->call.collective == TORCOLL_SCATTER)
		return src == p->call.root;
	if (p->call.collective == TORCOLL_GATHER || p->call.collective == TORCOLL_REDUCE)
		return phase != COLLECT || dst == p->call.root;
	return true;
}

/*
 * Local: adds up contributions; or copies this rank's contribution to the
 * others' buffers, or its own block to the result.
 */
static bool direct_local_transfer(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	c->src = p->rank;
	c->dst = p->rank;
	at->next = 0;
	at->end = 1;
	if (at->phase == SUM) {
		at->end = p->call.ranks;
		return true;
	}
	c->op = TOR_PIECE_COPY;
	return at->phase == SPREAD && !at->step && p->call.collective != TORCOLL_SCATTER;
}

/*
 * Transfers: the local one, then in turn those to the next ranks and those from
 * the ranks as far behind.
 */
static bool direct_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 n = p->call.ranks, away;

	direct_find_round(p, c->round, at);
	if (!c->transfer) {
		if (direct_local_transfer(p, c, at))
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
		if (direct_goes(p, at->phase, c->src, c->dst))
			return true;
	}
	return false;
}

/* Place of a transfer of an alltoall at both ends, and its length. */
static void direct_exchange_piece(const struct tor_plan *p, const struct tor_cursor *c,
				  struct tor_piece *out)
{
	const struct tor_call *r = &p->call;
	struct tor_span from = tor_plan_own(p, 0, c->dst), to = tor_plan_own(p, 0, c->src);

	/* each rank knows only its own lengths, so only its own end */
	if (r->from_counts) {
		from = tor_plan_block(r->count, r->counts, r->starts, r->ranks, c->dst);
		to = tor_plan_block(r->count, r->from_counts, r->from_starts, r->ranks, c->src);
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
	if (p->call.collective == TORCOLL_ALLTOALL) {
		direct_exchange_piece(p, c, out);
		return true;
	}
	if (at->phase == SUM) {
		out->sbuf = 1 + rank;
		out->op = rank ? TOR_PIECE_REDUCE : TOR_PIECE_COPY;
	} else if (at->phase == SPREAD && direct_reduces(p)) {
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
