/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a plan costs on its torus, counted by walking through it, and how long it takes by a model of the
 * fabric: so much for being called at all, for each message on the way to the result, for each further hop, each byte on
 * the busiest link, each message and each byte that a node has to do with.
 *
 * A cost is that of a vector that all blocks and channels divide evenly, as fractions of the vector:
 * so it holds for every size, and the time is linear in the size. Channels are taken to be in step.
 *
 * The walk makes use of symmetry: a plan that is the same seen from every node of a torus is walked
 * through by one of them.
 */
#ifndef _TOR_CORE_COST_H
#define _TOR_CORE_COST_H

#include "core/plan/plan.h"
#include "core/choose/tally.h"

#define TOR_COST_ONE	(1ULL << 32)	/* the whole vector; one message */

/**
 * struct tor_cost - of a plan
 * @rounds: with messages (S)
 * @hops: sum over rounds of the longest way (H)
 * @w: sum over rounds of the busiest link's share of the vector, in 1/TOR_COST_ONE (W), and so on:
 * @messages: that a rank's node handles, sent, received or passed on; mean over ranks
 * @sent: share of the vector that a rank sends; mean
 * @moved: share that its node sends or receives, and a quarter of what it passes on; mean
 * @reduced: share that it reduces or copies, what it moves locally as well; mean
 * @chunks: that go one behind the other: links and processors are busy with different ones
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
 * struct tor_rates - how fast a fabric is
 * @op: ps for an op whatever its plan: to submit it, and to wake those who wait. It decides nothing, but without it what
 *	short ops take would be laid to their rounds, and plans of many rounds taken for slower than they are
 * @e: ps for a message to a neighbour, from its submission until it is reduced
 * @f: ps for each further hop
 * @link: fs for a byte on a link
 * @message: ps that each message costs a node that handles it
 * @byte: fs that each byte costs a node that sends or receives it; a byte passed on, which nobody sums or copies,
 *	is taken to cost a quarter
 */
struct tor_rates {
	u64 op;
	u64 e;
	u64 f;
	u64 link;
	u64 message;
	u64 byte;
};

/* A guess for want of measurements. */
extern const struct tor_rates tor_rates_default;

/* What a time consists of, ps. */
struct tor_time {
	u64 op;
	u64 rounds;
	u64 hops;
	u64 link;
	u64 messages;
	u64 bytes;
};

/* A time as a function of the vector's size: ps, and ps per 65536 bytes. */
struct tor_line {
	u64 start;
	u64 slope;
};

/**
 * tor_cost_plan - count what a plan costs
 * @req: the request; its count and counts do not matter, parameters that have a preset depending on the
 *	count must be given
 * @cost: to fill
 * @why: as tor_plan_init()
 *
 * Return: 0, -ENOMEM, or an error of tor_plan_init().
 */
int tor_cost_plan(const struct tor_plan_req *req, struct tor_cost *cost, const char **why);

/**
 * tor_cost_walk - the same with a tally of the caller's
 * @t: tally, fresh: another route may be set
 * @req: as above
 * @least: least period by dimension that the route has, or NULL; the sides: every rank is walked through
 * @cost: to fill
 * @why: as above
 *
 * Return: as above.
 */
int tor_cost_walk(struct tor_tally *t, const struct tor_plan_req *req, const u32 *least,
		  struct tor_cost *cost, const char **why);

/*
 * Will tor_cost_plan() be done soon, within some ms? Not so where a plan for many ranks looks different
 * from each. All that matters of the request is as above.
 */
bool tor_cost_is_quick(const struct tor_plan_req *req);

/* The time that a cost means, in parts. */
void tor_cost_parts(const struct tor_cost *cost, const struct tor_rates *rates, u64 bytes,
		    struct tor_time *time);

/* The sum of them, as a line. */
struct tor_line tor_cost_line(const struct tor_cost *cost, const struct tor_rates *rates);

static inline u64 tor_line_at(struct tor_line line, u64 bytes)
{
	return line.start + mul_u64_u64_shr(bytes, line.slope, 16);
}

#endif
