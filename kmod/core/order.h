/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Ranks in the order of their nodes, to find the rank on a node and the ranks
 * that share one.
 */
#ifndef _TOR_CORE_ORDER_H
#define _TOR_CORE_ORDER_H

#include "core/env.h"

/**
 * tor_order_sort - sort ranks by node
 * @order: filled with the ranks 0 to @ranks - 1
 * @member: node of each rank
 * @ranks: number of ranks
 *
 * Context: may sleep; no locks but mutexes.
 */
void tor_order_sort(u32 *order, const u32 *member, u32 ranks);

/*
 * The same in tor_order_steps() steps, 0 first, each of some hundred ns at most, for
 * a caller that may not take as long as the whole. Context: any.
 */
u32 tor_order_steps(u32 ranks);
void tor_order_step(u32 *order, const u32 *member, u32 ranks, u32 step);

#endif
