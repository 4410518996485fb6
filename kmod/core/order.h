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
 * @may_sleep: yield the processor now and then
 *
 * Context: may sleep if @may_sleep, then without locks but mutexes; else any.
 */
void tor_order_sort(u32 *order, const u32 *member, u32 ranks, bool may_sleep);

#endif
