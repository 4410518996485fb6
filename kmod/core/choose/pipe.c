// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The cost of pipelines. See pipe.h. */
#include "core/choose/pipe.h"

#include "core/ratio.h"

/* A round, or sums over rounds: what messages that are alike cost. */
struct pipe {
	u32 longest;			/* hops */
	u32 peak;			/* half blocks on the busiest link */
	u64 hops;			/* of the messages of all ranks */
};

/*
 * Adds that @n messages go @by further along a dimension: around a ring, those
 * of its nodes share its links evenly. See tor_tally_message() for the ways.
 */
static void pipe_add_way(struct pipe *p, const struct tor_torus *t, u32 d, u32 by, u32 n,
			 u32 *longest)
{
	u32 side = t->side[d], less = min(by, side - by), far = less, peak = 2 * less;
	u64 hops = (u64)n * less;

	if (!by || !n)
		return;
	switch (t->kind[d]) {
	case TORCOLL_KIND_LINE:
		/* from the end of the line back to its beginning */
		far = side - less;
		hops = tor_div64(2ULL * n * by * (side - by), side);
		break;
	case TORCOLL_KIND_MESH:
		far = 1;
		peak = 2;
		hops = n;
		break;
	default:
		/* half of a message goes either way round, but by a single cable */
		if (2 * by == side && (side > 2 || t->cables > 1))
			peak = less;
	}
	*longest = max(*longest, far);
	p->peak = max(p->peak, peak);
	p->hops += hops;
}

/*
 * Every rank sends to the one @skip ranks further. As in an addition, a
 * coordinate goes one further from those nodes where the ones before overflow.
 */
static struct pipe pipe_round(const struct tor_torus *t, u32 skip)
{
	u32 d, by, carry, longest;
	struct pipe p = { 0 };

	for (d = 0; d < t->ndim; d++) {
		by = tor_torus_coord(t, skip, d);
		carry = skip % t->stride[d] * (t->nodes / t->stride[d]);
		longest = 0;
		pipe_add_way(&p, t, d, by, t->nodes - carry, &longest);
		pipe_add_way(&p, t, d, (by + 1) % t->side[d], carry, &longest);
		p.longest += longest;
	}
	return p;
}

/* How many ranks further a round's messages go: those of the root do. */
static u32 pipe_skip(const struct tor_plan *plan, u32 t)
{
	u32 n = plan->call.ranks, root = plan->rank;
	struct tor_cursor c;
	struct tor_piece x;

	tor_plan_begin(plan, 0, t, &c);
	if (!tor_plan_next(plan, &c, &x))
		return 0;
	return ((x.src == root ? x.dst : x.src) + n - root) % n;
}

static void pipe_summarize(const struct tor_plan *plan, u32 blocks, u64 peaks, u64 hops,
			   struct tor_cost *cost)
{
	u64 n = plan->call.ranks, rounds = plan->shape.rounds, way;

	/* hops of a message */
	way = tor_mul_div64(hops, TOR_COST_ONE, rounds * n);
	/* every rank but the root receives each block once */
	cost->messages = tor_mul_div64(blocks * (n - 1), TOR_COST_ONE, n);
	cost->messages += mul_u64_u64_shr(cost->messages, way, 32);
	cost->sent = tor_mul_div64(n - 1, TOR_COST_ONE, n);
	cost->moved = 2 * cost->sent + mul_u64_u64_shr(cost->sent, way - TOR_COST_ONE, 32) / 4;
	cost->reduced = cost->sent;
	cost->w = tor_mul_div64(peaks, TOR_COST_ONE, 2 * blocks);
	cost->chunks = plan->shape.chunks;
}

/*
 * What the root of a ring has beside others, as long as it has blocks: a way on
 * either side. In a broadcast both go by the same link between two nodes, and on
 * a line, whose way back is that of the next rank. And on the last of lines
 * nobody else has a way back.
 */
static void pipe_add_root(const struct tor_call *call, u32 blocks, struct pipe *p, u64 *peaks,
			  struct tor_cost *cost)
{
	const struct tor_torus *t = call->torus;
	bool line;
	u32 d = 0;

	while (t->side[d] == 1)
		d++;
	line = t->kind[d] == TORCOLL_KIND_LINE;
	if (line || (t->side[d] == 2 && call->collective == TORCOLL_BROADCAST))
		*peaks += (u64)blocks * p->peak;
	d = t->ndim - 1;
	while (t->side[d] == 1)
		d--;
	if (t->kind[d] != TORCOLL_KIND_LINE || t->side[d] == 2)
		return;
	p->longest -= t->side[d] - 2;
	cost->hops += blocks * (t->side[d] - 2);
}

static bool pipe_is_one(const struct tor_call *call)
{
	return (call->collective == TORCOLL_BROADCAST || call->collective == TORCOLL_REDUCE) &&
	       (call->algorithm == TORCOLL_RING || call->algorithm == TORCOLL_CIRCULANT) &&
	       !call->members && !tor_torus_has_chords(call->torus) && call->ranks > 1;
}

int tor_pipe_cost(const struct tor_call *call, struct tor_cost *cost)
{
	u32 blocks = max(call->param[TORCOLL_PARAM_BLOCKS], 1U), alike = 1, t, i, times;
	struct tor_call whole = *call;
	u64 peaks = 0, hops = 0;
	struct tor_plan plan;
	struct pipe p;
	int err;

	if (!pipe_is_one(call))
		return -EOPNOTSUPP;
	whole.count = 2ULL * blocks;
	err = tor_plan_init(&plan, &whole, call->root, NULL);
	if (err)
		return err;
	*cost = (struct tor_cost){ .rounds = plan.shape.rounds };
	/* circulant goes by all its skips in turn */
	if (call->algorithm == TORCOLL_CIRCULANT)
		alike = fls(call->ranks - 1);
	for (i = 0; i < min(alike, cost->rounds); i++) {
		/* of a ring, the root is busy in the first rounds, or the last ones */
		t = call->collective == TORCOLL_BROADCAST ? i : cost->rounds - 1 - i;
		times = (cost->rounds - i + alike - 1) / alike;
		p = pipe_round(call->torus, pipe_skip(&plan, t));
		if (call->algorithm == TORCOLL_RING)
			pipe_add_root(call, blocks, &p, &peaks, cost);
		cost->hops += times * p.longest;
		peaks += (u64)times * p.peak;
		hops += times * p.hops;
	}
	pipe_summarize(&plan, blocks, peaks, hops, cost);
	return 0;
}
