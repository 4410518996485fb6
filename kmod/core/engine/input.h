/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An input that is not copied into the vector before the op begins.
 *
 * In a large reduction nearly all of the vector is written before long: sums replace what a reduce-scatter keeps, the
 * allgather's blocks what it has given away. So where the caller's input may be sent as it lies, it stays there, and
 * the vector holds nothing at first. What is read is read from the one or the other, so plans know nothing of it; a sum is
 * computed of the input and what arrived, into the vector. Which of them has what is noted in grains, a bit each. A grain
 * is taken when the vector has it; where a write covers but a part of one, it is copied before. As long as blocks begin
 * where grains do, so do frames, and nothing is copied.
 *
 * The input never changes, so what was sent from it can be sent again.
 *
 * A channel's bits are written under its lock. Grains that it shares with another one are copied when the op begins,
 * and no two channels have bits in the same word.
 */
#ifndef _TOR_CORE_INPUT_H
#define _TOR_CORE_INPUT_H

#include "core/engine/engine.h"

#define TOR_INPUT_GRAIN		64	/* whole elements, of whatever type; payloads of whole frames are so long */

/*
 * Can the input of @op, which was begun, stay where it is? Not if it is to be changed first, nor if the result may be what was
 * in the vector. Each channel must have a slice of the vector, in their order.
 */
bool tor_input_may_stay(const struct tor_op *op);

/* Bytes of the bits, then. */
u64 tor_input_bytes(const struct tor_op *op);

/**
 * tor_input_begin - the input stays where it is
 * @op: begun; data is set
 * @input: of the vector's length; like data, it is the op's as long as that lasts
 * @taken: zeroed, tor_input_bytes() of them
 */
void tor_input_begin(struct tor_op *op, struct tor_mem *input, u64 *taken);

#endif
