/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Steps of operators besides reductions: an average is a sum that every rank
 * divides at its end; a pre-multiplied sum multiplies the inputs first.
 */
#ifndef _TOR_CORE_SCALE_H
#define _TOR_CORE_SCALE_H

#include "core/engine/engine.h"

/*
 * Return whether the type can represent the number of ranks, which is the
 * divisor.
 */
bool tor_scale_divides(u32 type, u32 ranks);

/**
 * tor_scale_average - divide by the number of ranks
 * @op: complete
 * @mem: holds its result
 * @bytes: of it
 *
 * Context: where the FPU can be used.
 */
void tor_scale_average(const struct tor_op *op, struct tor_mem *mem, u64 bytes);

/**
 * tor_scale_multiply - multiply by a factor
 * @op: begun
 * @mem: its input
 * @bytes: of it
 * @factor: an element
 *
 * Context: where the FPU can be used.
 */
void tor_scale_multiply(const struct tor_op *op, struct tor_mem *mem, u64 bytes, const void *factor);

#endif
