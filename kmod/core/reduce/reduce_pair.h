/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * minloc and maxloc on MPI's pairs of a value and an int (MPI 4.0, section
 * 6.9.4): the pair with the lesser (greater) value, of equal ones the one with
 * the lesser index.
 *
 * The result is one of the operands, by an order that is total except for the
 * padding of pairs: a NaN precedes every number, for both operators; -0 equals
 * +0. So the result does not depend on the order of the operands. Floats are
 * compared by their bits: no FPU.
 */
#ifndef _TOR_CORE_REDUCE_PAIR_H
#define _TOR_CORE_REDUCE_PAIR_H

#include "core/reduce/reduce.h"

/* The kernel for a pair type, or NULL if @redop is neither minloc nor maxloc. */
tor_reduce_fn tor_reduce_pair_kernel(u32 type, u32 redop);

#endif
