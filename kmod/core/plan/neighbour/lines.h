/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Families that work along one side of the torus at a time: in each round every
 * line of nodes along a dimension takes one step of a reduce-scatter over the
 * coordinates of that line, or of its reversal.
 *
 * A rank's live set holds the blocks that it still has to handle: the product,
 * over the dimensions, of the coordinates that it still has to handle there. A
 * family defines how a line of n nodes does it: steps, peers, live sets, and
 * which coordinates a step gives to which peer. It is valid if each coordinate
 * that leaves a live set is given to one peer whose live set keeps it, and the
 * last live set is the coordinate itself.
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

/*
 * Coordinates along a side: the live set of @from before @step, or those that
 * @from gives to @to in it.
 */
struct tor_set {
	u32 from, to;
	u32 next;			/* candidate */
	u32 coord;			/* the last coordinate found */
	u32 step;
	u8 part;			/* of its blocks: 0 first half, 1 second half, 2 all */
	bool given;
};

/**
 * struct tor_lines - the schedule of a line
 * @mirrors: there are two channels per dimension; the second has directions
 *	mirrored
 * @in_turn: a dimension is finished before the next begins; else they take
 *	turns step by step
 * @setup: optional: prepare p->family (behind struct tor_lines_state) for a
 *	dimension; 0 or an error
 * @steps: number of steps of the reduce-scatter along a dimension
 * @peers: most peers of a coordinate in a step
 * @peer: the @i-th coordinate to which @x gives (@from: which gives to @x) in
 *	@step; all different; false if there are no more
 * @size: candidates for a set
 * @nth: candidate @i of a set, as its coord and part (preset to all); false if
 *	it is not in the set, or came before
 * @radix: parts into which a step divides the blocks, the same in all
 *	dimensions (in_turn: all steps together: the number of nodes), if
 *	there is an order of blocks in which transfers are single ranges;
 *	else 0
 * @digit: the part that @from gives to @to in @step
 * @code: optional, with a radix of 2 in each step: the digits of @x to itself, a
 *	bit each, that of step 0 lowest
 * @moves: optional, for schedules in which some coordinates give all they have
 *	in step 0 and get their own blocks in the last step: true if @step is
 *	that last step
 * @live: with @moves: true if coordinate @y is in the live set of @x before
 *	@step
 *
 * All members are pure functions: no locks, any context.
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
	u32 (*code)(const struct tor_side *l, u32 x);
	bool (*moves)(const struct tor_side *l, u32 step);
	bool (*live)(const struct tor_side *l, u32 step, u32 x, u32 y);
};

/* State of all these families. The state of a family itself follows it. */
struct tor_lines_state {
	u32 half;			/* rounds of the reduce-scatter */
	bool ranges;			/* transfers are single ranges */
	u32 least;			/* fewest steps of a dimension */
	u32 steps[TOR_MAX_DIMS];
	u32 radix;			/* of all dimensions, if ranges */
	u32 pos[TOR_MAX_CHANNELS];	/* of this rank's block, if ranges */
};

/* Position of a round of the reduce-scatter. */
struct tor_lines_step {
	u32 dim;
	u32 step;			/* of the side */
	u32 place;			/* of the dimension in the rotation of the channel */
};

/**
 * tor_lines_find_step - dimension and step of a round
 * @p: plan
 * @channel: its number
 * @k: round of the reduce-scatter
 * @at: filled in
 */
void tor_lines_find_step(const struct tor_plan *p, u32 channel, u32 k, struct tor_lines_step *at);

/**
 * tor_lines_before - steps that a dimension has taken before a round
 * @p: plan
 * @channel: its number
 * @at: position of the round
 * @d: dimension
 *
 * Return: the number of steps.
 */
u32 tor_lines_before(const struct tor_plan *p, u32 channel, const struct tor_lines_step *at, u32 d);

/* Members of struct tor_family. */
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
