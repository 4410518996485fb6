/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The boxes of nodes that messages of moore sum up, and their parts. See
 * plan/distance/moore.c.
 */
#ifndef _TOR_CORE_PLAN_MOORE_H
#define _TOR_CORE_PLAN_MOORE_H

#include "core/plan/distance/exchange.h"
#include "core/plan/neighbour/intervals.h"

#define TOR_MOORE_STEPS	13		/* 3^13 is more than TOR_MAX_NODES */
#define TOR_MOORE_CUT_STEPS	4		/* of sides in the table; others are never cut */
#define TOR_MOORE_ROWS		28	/* 5 slots in step 1, 7 in step 2, and 3 in step 3 */

struct tor_moore {
	struct tor_exchange_state exchange;	/* if all sides are powers of three */
	u8 rounds;
	u8 k;				/* steps of the longest side */
	u32 coord[TOR_MAX_DIMS];	/* this rank's */
	u8 distance[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS][2];	/* of the peers, by side */
	u8 steps[TOR_MAX_DIMS];
	u8 groups[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];
	u8 slots[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];	/* groups, then directions */
	/* sides from which something comes, as bits */
	u8 comes[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];
	/*
	 * as bits: slots with this node's own atom; by tor_moore_row(), slots
	 * of earlier steps that are inside
	 */
	u8 own[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];
	u8 inside[TOR_MAX_DIMS][TOR_MOORE_ROWS];
	/* buffer of the first part of each step; after the last, of messages */
	u16 part[TOR_MOORE_STEPS + 1];
	u16 messages;	/* buffers for the messages of a step; two sets take turns */
};

/* Position of the walk over the pieces of a transfer. Kept in the cursor. */
struct tor_moore_at {
	u16 place;			/* of the message among all of its step */
	u16 unit[TOR_MAX_DIMS];		/* added to it per slot of each dimension */
	u8 digit[TOR_MAX_DIMS];	/* of its pattern: 0 all, 1 from the right, 2 from the left */
	u8 group[TOR_MAX_DIMS];		/* where the digit is 0 */
	u8 groups[TOR_MAX_DIMS];	/* of the step */
	u8 comes[TOR_MAX_DIMS];		/* of the step: sides from which something comes, as bits */
	bool valid;			/* the message exists */
	u8 k, j;			/* step; step of the part */
	bool entered;			/* the walk is inside the parts of step j */
	bool all;			/* the box covers everything */
	u8 row[TOR_MAX_DIMS];		/* otherwise: of tor_moore.inside */
	u8 inside[TOR_MAX_DIMS];	/* slots of step j that are inside, as bits */
	u8 slot[TOR_MAX_DIMS];		/* of the plane: in all dimensions but the first two */
	u16 part_unit[TOR_MAX_DIMS];	/* added to a part's number per slot in step j */
	u16 base;			/* buffer of the first part of the plane */
	/*
	 * parts of a plane that are inside, as bits; aside: without those that
	 * are groups in both dimensions
	 */
	u64 plane, aside;
	u64 rest;			/* parts not yet visited */
};

/*
 * Row in tor_moore.inside of a slot of step @k: one word for each of the @k
 * steps before.
 */
static inline u32 tor_moore_row(u32 k, u32 slot)
{
	return (k > 1 ? 5 : 0) + (k > 2 ? 2 * 7 : 0) + slot * k;
}

/* True if the side along @d is not yet finished in step @k. */
bool tor_moore_active(const struct tor_plan *p, u32 d, u32 k);

/* Fills in the state of a side whose steps are known. */
void tor_moore_init_side(struct tor_plan *p, u32 d);

/*
 * Slots of a dimension in step @k: groups of atoms, then directions from which
 * something comes.
 */
u32 tor_moore_slots(const struct tor_plan *p, u32 d, u32 k);

/*
 * Distance, counted upwards, to the node that sends what comes from @side in
 * step @k; @back: to the node that receives it from this one.
 */
u32 tor_moore_distance(const struct tor_plan *p, u32 d, u32 side, u32 k, bool back);

/* Start a step, before its first message. */
void tor_moore_begin_step(const struct tor_plan *p, struct tor_moore_at *at, u32 k);

/*
 * Advance to the first message of the next pattern of the step. Returns false
 * after the last.
 */
bool tor_moore_next_pattern(const struct tor_plan *p, struct tor_moore_at *at);

/* Go back to the first message of the pattern, which may have been left before its last. */
void tor_moore_restart(const struct tor_plan *p, struct tor_moore_at *at);

/* Advance to the next message of the pattern. Returns false after the last. */
bool tor_moore_next_message(const struct tor_plan *p, struct tor_moore_at *at);

/*
 * Start the walk over the parts, of steps before at->k, inside the box of the
 * message as its sender sees it; or over the parts of all nodes.
 */
void tor_moore_begin_box(const struct tor_plan *p, struct tor_moore_at *at);
void tor_moore_begin_all(struct tor_moore_at *at);

/* Start the walk over a single part. */
static inline void tor_moore_begin_one(struct tor_moore_at *at, u32 buf)
{
	at->k = 0;
	at->j = 0;
	at->entered = false;
	at->base = buf;
	at->rest = 1;
}

/* Advance to the next plane of parts. Returns false after the last. */
bool tor_moore_next_plane(const struct tor_plan *p, struct tor_moore_at *at);

/*
 * The buffer of the next part: data, then temporaries. Returns false after the
 * last.
 */
static inline bool tor_moore_part(const struct tor_plan *p, struct tor_moore_at *at, u16 *buf)
{
	if (!at->rest && !tor_moore_next_plane(p, at))
		return false;
	*buf = at->base + __ffs64(at->rest);
	at->rest &= at->rest - 1;
	return true;
}

#endif
