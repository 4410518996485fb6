/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The boxes of nodes that moore's messages are sums of, and their parts. See plan/distance/moore.c. */
#ifndef _TOR_CORE_PLAN_MOORE_H
#define _TOR_CORE_PLAN_MOORE_H

#include "core/plan/distance/exchange.h"
#include "core/plan/neighbour/intervals.h"

#define TOR_MOORE_STEPS	13		/* 3^13 is more than TOR_MAX_NODES */
#define TOR_MOORE_CUT_STEPS	4		/* of sides in the table; others are never cut */
#define TOR_MOORE_ROWS		28		/* 5 slots in step 1, 7 in step 2, and 3 in step 3 */

struct tor_moore {
	struct tor_exchange_state exchange;	/* if all sides are powers of three */
	u8 rounds;
	u8 k;				/* steps of the longest side */
	u32 coord[TOR_MAX_DIMS];	/* this rank's */
	u8 distance[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS][2];	/* of the peers, by side */
	u8 steps[TOR_MAX_DIMS];
	u8 groups[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];
	u8 slots[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];	/* groups, then directions */
	u8 comes[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];	/* from which sides, as bits */
	/* as bits: slots with this node's own atom; by tor_moore_row(), slots of earlier steps that are inside */
	u8 own[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];
	u8 inside[TOR_MAX_DIMS][TOR_MOORE_ROWS];
	u16 part[TOR_MOORE_STEPS + 1];	/* buffer of the first part of each step; then those of messages */
	u16 messages;			/* buffers of one step's messages: two sets of them take turns */
};

/* Where the walk over a transfer's pieces stands. Kept in the cursor. */
struct tor_moore_at {
	u16 place;			/* of the message among all of its step */
	u16 unit[TOR_MAX_DIMS];		/* what a slot of each dimension adds to it */
	u8 digit[TOR_MAX_DIMS];		/* of its pattern: 0 all, 1 from the right, 2 left */
	u8 group[TOR_MAX_DIMS];		/* where the digit is 0 */
	u8 groups[TOR_MAX_DIMS];	/* of the step */
	u8 comes[TOR_MAX_DIMS];		/* likewise */
	bool valid;			/* there is such a message */
	u8 k, j;			/* step; of the part */
	bool entered;			/* the parts of step j */
	bool all;			/* the box that is put together has everything */
	u8 row[TOR_MAX_DIMS];		/* of tor_moore.inside, else */
	u8 inside[TOR_MAX_DIMS];	/* slots of step j that are inside, as bits */
	u8 slot[TOR_MAX_DIMS];		/* those of the plane: of all dimensions but the first two */
	u16 part_unit[TOR_MAX_DIMS];	/* what a slot adds to a part's number in step j */
	u16 base;			/* the buffer of the plane's first part */
	/* parts of a plane that are inside, as bits; without those that are groups in both dimensions */
	u64 plane, aside;
	u64 rest;			/* those that are still to come */
};

/* Where in tor_moore.inside a slot of step @k has a word for each of the @k steps before. */
static inline u32 tor_moore_row(u32 k, u32 slot)
{
	return (k > 1 ? 5 : 0) + (k > 2 ? 2 * 7 : 0) + slot * k;
}

/* Is the side along @d not yet finished in step @k? */
bool tor_moore_active(const struct tor_plan *p, u32 d, u32 k);

/* Find what there is to know about a side, of which steps are known. */
void tor_moore_init_side(struct tor_plan *p, u32 d);

/* Slots of a dimension in step @k: groups of atoms, then directions from which something comes. */
u32 tor_moore_slots(const struct tor_plan *p, u32 d, u32 k);

/* To the node from which comes what comes from @side in step @k, upwards; @back: to whom I do so. */
u32 tor_moore_distance(const struct tor_plan *p, u32 d, u32 side, u32 k, bool back);

/* Before all messages of a step. */
void tor_moore_begin_step(const struct tor_plan *p, struct tor_moore_at *at, u32 k);

/* To the first message of the step's next pattern. */
bool tor_moore_next_pattern(const struct tor_plan *p, struct tor_moore_at *at);

/* To the next message of the pattern. */
bool tor_moore_next_message(const struct tor_plan *p, struct tor_moore_at *at);

/* Begin the parts, of steps before at->k, inside the message's box, as its sender sees it; or of all nodes. */
void tor_moore_begin_box(const struct tor_plan *p, struct tor_moore_at *at);
void tor_moore_begin_all(struct tor_moore_at *at);

/* Begin a single part. */
static inline void tor_moore_begin_one(struct tor_moore_at *at, u32 buf)
{
	at->k = 0;
	at->j = 0;
	at->entered = false;
	at->base = buf;
	at->rest = 1;
}

/* To the next plane of parts. */
bool tor_moore_next_plane(const struct tor_plan *p, struct tor_moore_at *at);

/* The buffer of the next part: data, then temporaries. False: there are no more. */
static inline bool tor_moore_part(const struct tor_plan *p, struct tor_moore_at *at, u16 *buf)
{
	if (!at->rest && !tor_moore_next_plane(p, at))
		return false;
	*buf = at->base + __ffs64(at->rest);
	at->rest &= at->rest - 1;
	return true;
}

#endif
