/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Families that work along one side of the torus at a time: in each round every line of nodes along a
 * dimension takes one step of a reduce-scatter of that line's coordinates, or of its reversal.
 *
 * What a rank still has to do with is the product, over the dimensions, of the coordinates that it
 * still has to do with there: its live sets. A family says how a line of n nodes does it: steps, peers,
 * live sets, and what is given to whom. Valid if each coordinate that leaves a live set is given to
 * one peer, whose live set keeps it, and the last live set is the coordinate itself.
 */
#ifndef _TOR_CORE_PLAN_LINES_H
#define _TOR_CORE_PLAN_LINES_H

#include "core/plan/family.h"

/* One side, as a channel sees it. */
struct tor_side {
	const struct tor_plan *p;
	u32 dim;
	u32 n;				/* nodes */
	u32 steps;			/* of the reduce-scatter */
	bool mirrored;			/* directions exchanged */
};

/* Coordinates along a side: those that @from has to do with before @step, or gives to @to in it. */
struct tor_set {
	u32 from, to;
	u32 next;			/* candidate */
	u32 coord;			/* the last one found */
	u32 step;
	u8 part;			/* of its blocks: 0 first half, 1 second half, 2 all */
	bool given;
};

/**
 * struct tor_lines - how a line does it
 * @mirrors: there are two channels per dimension, of which the second has directions mirrored
 * @in_turn: a dimension is finished before the next begins; else they take turns step by step
 * @setup: optional: prepare p->family (from TOR_LINES_PRIVATE on) for a dimension; 0 or an error
 * @steps: of the reduce-scatter along a dimension
 * @peers: most peers of a coordinate in a step
 * @peer: the @i-th to whom @x gives (@from: who gives to @x) in @step; all different; false if there
 *	are no more
 * @size: candidates for a set
 * @nth: candidate @i of a set, as its coord and part (preset to all); false if it is none, or came before
 * @radix: parts into which a step divides the blocks, the same in all dimensions (in_turn: all steps together:
 *	as many as there are nodes), if orders of blocks exist that make transfers single ranges; else 0
 * @digit: which part @from gives to @to in @step
 * @moves: optional, where in step 0 some may give all they have, to get their own blocks in the last
 *	step: is this that last step?
 * @live: with @moves: has @x to do with coordinate @y before @step?
 */
struct tor_lines {
	bool mirrors;
	bool in_turn;
	int (*setup)(struct tor_plan *p, u32 dim, const char **why);
	u32 (*steps)(const struct tor_plan *p, u32 dim);
	u32 (*peers)(const struct tor_plan *p, u32 dim);
	bool (*peer)(const struct tor_side *l, u32 step, u32 x, u32 i, bool from, u32 *y);
	u32 (*size)(const struct tor_side *l, const struct tor_set *set);
	bool (*nth)(const struct tor_side *l, struct tor_set *set, u32 i);
	u32 (*radix)(const struct tor_plan *p, u32 dim);
	u32 (*digit)(const struct tor_side *l, u32 step, u32 from, u32 to);
	bool (*moves)(const struct tor_side *l, u32 step);
	bool (*live)(const struct tor_side *l, u32 step, u32 x, u32 y);
};

/* State of all these families; a family's own comes behind it. */
struct tor_lines_state {
	u32 half;			/* rounds of the reduce-scatter */
	bool ranges;			/* transfers are single ranges */
	u32 least;			/* steps, of a dimension */
	u32 steps[TOR_MAX_DIMS];
	u32 radix;			/* of all dimensions, if ranges */
	u32 pos[TOR_MAX_CHANNELS];	/* of this rank's block, if ranges */
};

/* Where a round of the reduce-scatter stands. */
struct tor_lines_step {
	u32 dim;
	u32 step;			/* of the side */
	u32 place;			/* of the dimension in the channel's rotation */
};

/* The dimension whose turn it is in round @k of the reduce-scatter, and its step. */
void tor_lines_find_step(const struct tor_plan *p, u32 channel, u32 k, struct tor_lines_step *at);

/* Steps that dimension @d has taken before that round. */
u32 tor_lines_before(const struct tor_plan *p, u32 channel, const struct tor_lines_step *at, u32 d);

int tor_lines_init(struct tor_plan *p, const char **why);
u32 tor_lines_rounds(const struct tor_plan *p, u32 channel);
bool tor_lines_transfer(const struct tor_plan *p, struct tor_cursor *c);
bool tor_lines_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out);

#define TOR_LINES_FAMILY(ops)						\
	.serves = TOR_COLL_BW,						\
	.lines = &(ops),						\
	.init = tor_lines_init,						\
	.rounds = tor_lines_rounds,					\
	.transfer = tor_lines_transfer,					\
	.piece = tor_lines_piece

#endif
