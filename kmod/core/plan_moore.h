/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The boxes of nodes that moore's messages are sums of, and their parts. See plan_moore.c. */
#ifndef _TOR_CORE_PLAN_MOORE_H
#define _TOR_CORE_PLAN_MOORE_H

#include "plan_exchange.h"
#include "plan_intervals.h"

#define TOR_MOORE_STEPS	13		/* 3^13 is more than TOR_MAX_NODES */
#define TOR_MOORE_CUT_STEPS	4		/* of sides in the table; others are never cut */

struct tor_moore {
	struct tor_exchange_state exchange;	/* if all sides are powers of three */
	bool powers;
	u8 rounds;
	u8 k;				/* steps of the longest side */
	u8 steps[TOR_MAX_DIMS];
	/* bit x + k: atoms x and x + 1 are in different groups */
	u8 cuts[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];
	u8 groups[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];
	u8 comes[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS];	/* from which sides, as bits */
	s8 window[TOR_MAX_DIMS][TOR_MOORE_CUT_STEPS][2][2];	/* by side: atoms, first and last */
	u16 part[TOR_MOORE_STEPS + 1];	/* buffer of the first part of each step; then those of messages */
	u16 messages;			/* buffers of one step's messages: two sets of them take turns */
};

/* Where the walk over a transfer's pieces stands. Kept in the cursor. */
struct tor_moore_at {
	u32 next;			/* message of the pattern */
	u32 pattern;			/* of the messages */
	u8 digit[TOR_MAX_DIMS];		/* its digits to base 3: 0 all, 1 from the right, 2 left */
	bool valid;			/* there are such messages */
	u8 k, j;			/* step; of the part */
	bool begun, entered;		/* the parts; those of step j */
	s8 low[TOR_MAX_DIMS];		/* the box */
	s8 high[TOR_MAX_DIMS];
	u16 slots[TOR_MAX_DIMS];	/* of step j that are inside of it, as bits */
	u8 slot[TOR_MAX_DIMS];		/* those of the row: of all dimensions but the first */
	u16 rest;			/* of the first: those that are still to come */
	u16 base;			/* the buffer of the row's first part */
	u16 buf;			/* of the message */
};

/* Is the side along @d not yet finished in step @k? */
bool tor_moore_active(const struct tor_plan *p, u32 d, u32 k);

/* Find what there is to know about a side, of which steps are known. */
void tor_moore_init_side(struct tor_plan *p, u32 d);

/* Slots of a dimension in step @k: groups of atoms, then directions from which something comes. */
u32 tor_moore_slots(const struct tor_plan *p, u32 d, u32 k);

/* Set a pattern and its digits: is there a message of it in step at->k? */
bool tor_moore_set_pattern(const struct tor_plan *p, struct tor_moore_at *at, u32 pattern);

/**
 * tor_moore_message - a message of at->pattern in step at->k
 * @p: plan
 * @at: out: its box, as its sender sees it
 * @i: its number
 * @place: out: its place among all messages of the step, and where it is received among all parts
 *
 * Return: false if there are not so many.
 */
bool tor_moore_message(const struct tor_plan *p, struct tor_moore_at *at, u32 i, u32 *place);

/* A box of all nodes. */
void tor_moore_all(const struct tor_plan *p, struct tor_moore_at *at);

/* The buffer of the next part, of steps before at->k, inside the box: data, then temporaries. */
bool tor_moore_part(const struct tor_plan *p, struct tor_moore_at *at, u32 *buf);

#endif
