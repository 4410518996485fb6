/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An input that is not copied into the vector before the op begins.
 *
 * A large reduction overwrites nearly all of the vector early: sums replace the
 * blocks that a reduce-scatter keeps, the allgather's blocks those that were
 * sent away. If the caller's input may be sent from its place, it therefore
 * stays there, and the vector is empty at first. Reads go to the one or the
 * other, so plans are not aware of it; a sum is computed from the input and the
 * received data into the vector. A bit per grain records which of them holds
 * the data. A grain is taken when the vector holds it; if a write covers only a
 * part of a grain, the grain is copied first. As long as blocks begin at
 * grains, frames do too, and nothing is copied.
 *
 * The input never changes, so data sent from it can be sent again.
 *
 * A channel's bits are written under its lock. Grains that two channels share
 * are copied when the op begins, and no two channels have bits in the same
 * word.
 */
#ifndef _TOR_CORE_INPUT_H
#define _TOR_CORE_INPUT_H

#include "core/engine/engine.h"

/* whole elements of every type; frames have this granularity */
#define TOR_INPUT_GRAIN		64

/*
 * Return whether the input of @op, which was begun, can stay in place. It
 * cannot if it is changed first, or if the result may be the previous contents
 * of the vector. Each channel must have a slice of the vector, in ascending
 * order.
 */
bool tor_input_may_stay(const struct tor_op *op);

/* Return the bytes of the bitmap for this. */
u64 tor_input_bytes(const struct tor_op *op);

/**
 * tor_input_begin - leave the input in place
 * @op: begun; data is set
 * @input: as long as the vector; like data, it belongs to the op while it lasts
 * @taken: zeroed, tor_input_bytes() of them
 */
void tor_input_begin(struct tor_op *op, struct tor_mem *input, u64 *taken);

#endif
