/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Ranks in the order of their nodes: to find the rank on a node, and the ranks that share one.
 */
#ifndef _TOR_CORE_ORDER_H
#define _TOR_CORE_ORDER_H

#include "core/env.h"

/* Fill @order with the ranks 0 to @ranks - 1, sorted by @member, the node of each. @may_sleep: for others now and then. */
void tor_order_sort(u32 *order, const u32 *member, u32 ranks, bool may_sleep);

#endif
