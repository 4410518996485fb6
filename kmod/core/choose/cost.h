/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cost of a plan on its torus, counted by walking through it, and its time
 * by a model of the fabric: a fixed time per call, for each message on the
 * critical path, for each further hop, for each byte on the busiest link, and
 * for each message and each byte that a node handles.
 *
 * A cost is that of a vector that all blocks and channels divide evenly, in
 * fractions of the vector. It therefore holds for every size, and the time is
 * linear in the size. Channels and ranks are assumed to be in step: the longest
 * way of each round counts, and the busiest link. selftests/host/both.known lists
 * what that is off by, beside simulated frames.
 *
 * The walk exploits symmetry: a plan that looks the same from every node of a
 * torus is walked from one of them only.
 */
#ifndef _TOR_CORE_COST_H
#define _TOR_CORE_COST_H

#include "core/choose/tally.h"
#include "core/plan/plan.h"

#define TOR_COST_ONE	(1ULL << 32)	/* the whole vector; one message */

/**
 * struct tor_cost - cost of a plan
 * @rounds: rounds with messages (S)
 * @hops: sum over rounds of the longest way (H)
 * @w: sum over rounds of the busiest link's share of the vector, in
 *	1/TOR_COST_ONE (W), like all that follow:
 * @messages: messages that the node of a rank handles: sent, received or
 *	forwarded; mean over ranks
 * @sent: share of the vector that a rank sends; mean
 * @moved: share that its node sends or receives, plus a quarter of what it
 *	forwards; mean
 * @reduced: share that a rank reduces or copies, including local moves; mean
 * @chunks: chunks that follow one another: links and processors work on
 *	different ones
 */
struct tor_cost {
	u32 rounds;
	u32 hops;
	u64 w;
	u64 messages;
	u64 sent;
	u64 moved;
	u64 reduced;
	u64 chunks;
};

/**
 * struct tor_rates - speed of a fabric
 * @op: ps per op regardless of its plan: to submit it, and to wake those who
 *	wait. It does not affect the choice. Without it the fixed time of
 *	short ops would be attributed to their rounds, and plans of many
 *	rounds would look slower than they are
 * @e: ps for a message to a neighbour, from its submission until it is reduced
 * @f: ps for each further hop
 * @link: fs for a byte on a link
 * @message: ps that each message costs a node that handles it
 * @byte: fs that each byte costs a node that sends or receives it; a forwarded
 *	byte, which is neither summed nor copied, is assumed to cost a
 *	quarter
 */
struct tor_rates {
	u64 op;
	u64 e;
	u64 f;
	u64 link;
	u64 message;
	u64 byte;
};

/* Defaults for want of measurements. */
extern const struct tor_rates tor_rates_default;

/* The parts of a time, ps. */
struct tor_time {
	u64 op;
	u64 rounds;
	u64 hops;
	u64 link;
	u64 messages;
	u64 bytes;
};

/* Time as a function of the size of the vector: ps, and ps per 65536 bytes. */
struct tor_line {
	u64 start;
	u64 slope;
};

/**
 * tor_cost_plan - compute the cost of a plan
 * @call: the request; its count and counts do not matter, parameters whose
 *	default depends on the count must be set
 * @cost: filled in
 * @why: as tor_plan_init()
 *
 * Context: may sleep to allocate; no lock. Takes long unless
 * tor_cost_is_quick().
 * Return: 0, -ENOMEM, -EINTR if the process is being killed, or an error of
 * tor_plan_init().
 */
int tor_cost_plan(const struct tor_call *call, struct tor_cost *cost, const char **why);

#define TOR_WALK_ANY	(~0ULL)

/**
 * tor_cost_walk - the same with a tally of the caller
 * @t: tally, fresh: another route may be set
 * @call: as for tor_cost_plan()
 * @least: least period of the route by dimension, or NULL; the sides: every
 *	rank is walked
 * @most: steps of the tally beyond which the walk is given up, TOR_WALK_ANY: none
 * @cost: filled in
 * @why: as tor_plan_init()
 *
 * Steps depend on the arguments alone: on every rank a walk is given up, or not.
 *
 * Context: as tor_cost_plan().
 * Return: as tor_cost_plan(); -E2BIG: it takes more than @most steps.
 */
int tor_cost_walk(struct tor_tally *t, const struct tor_call *call, const u32 *least, u64 most,
		  struct tor_cost *cost, const char **why);

/**
 * tor_cost_is_quick - will tor_cost_plan() finish within some ms
 * @call: the request; its count does not matter. Members without @call->placed
 *	are taken for a list that forms no block
 *
 * A plan for many ranks that looks different from each of them takes longer.
 *
 * Return: true if it will.
 */
bool tor_cost_is_quick(const struct tor_call *call);

/* The time of a cost for a vector of @bytes, in parts. */
void tor_cost_parts(const struct tor_cost *cost, const struct tor_rates *rates, u64 bytes,
		    struct tor_time *time);

/* The sum of the parts, as a line. */
struct tor_line tor_cost_line(const struct tor_cost *cost, const struct tor_rates *rates);

static inline u64 tor_line_at(struct tor_line line, u64 bytes)
{
	return line.start + mul_u64_u64_shr(bytes, line.slope, 16);
}

#endif
