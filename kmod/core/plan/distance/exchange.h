/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Families that allreduce the whole slice in every round: each rank sends its
 * partial sum to some peers and adds what some peers send. Few rounds, many
 * bytes.
 *
 * A partial sum must not change while it is being sent, so every round writes
 * another buffer: a local copy of the old sum, to which those of the peers are
 * added. Round k reads what round k - 1 wrote (at first data). Three
 * temporaries take turns, so that a buffer is written two rounds after it was
 * last sent. The last round writes data, but not before round 2.
 */
#ifndef _TOR_CORE_PLAN_EXCHANGE_H
#define _TOR_CORE_PLAN_EXCHANGE_H

#include "core/plan/family.h"

/**
 * struct tor_exchange - the peers of a family
 * @peer: the @i-th rank to which this one sends in exchange @k, or (@from)
 *	which sends to it; false if there are no more; all different. The
 *	order is that of the reductions. A pure function: no locks, any
 *	context.
 */
struct tor_exchange {
	bool (*peer)(const struct tor_plan *p, u32 channel, u32 k, u32 i, bool from, u32 *rank);
};

/* State of all these families. The state of a family itself follows it. */
struct tor_exchange_state {
	u32 exchanges;
	u32 folded;			/* ranks from here on give all, then receive the result */
};

/**
 * tor_exchange_init - set up rounds, buffers and traits
 * @p: plan; p->shape.channels and peers are set by the caller
 * @exchanges: at least 1
 * @core: ranks that take part; the others are folded onto the first ones
 */
void tor_exchange_init(struct tor_plan *p, u32 exchanges, u32 core);

/* Members of struct tor_family. */
u32 tor_exchange_rounds(const struct tor_plan *p, u32 channel);
bool tor_exchange_transfer(const struct tor_plan *p, struct tor_cursor *c);
bool tor_slice_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out);

#define TOR_EXCHANGE_FAMILY(ops)					\
	.exchange = &(ops),						\
	.rounds = tor_exchange_rounds,					\
	.transfer = tor_exchange_transfer,				\
	.piece = tor_slice_piece

#endif
