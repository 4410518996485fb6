// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Ranks in the order of their nodes. See order.h. */
#include "core/order.h"

/*
 * The sift-down step of heapsort: @order[@top] sinks to its place among the
 * first @n.
 */
static void order_sink(u32 *order, const u32 *member, u32 top, u32 n)
{
	u32 rank = order[top], child;

	for (; (child = 2 * top + 1) < n; top = child) {
		if (child + 1 < n && member[order[child + 1]] > member[order[child]])
			child++;
		if (member[order[child]] <= member[rank])
			break;
		order[top] = order[child];
	}
	order[top] = rank;
}

void tor_order_sort(u32 *order, const u32 *member, u32 ranks, bool may_sleep)
{
	u32 i;

	for (i = 0; i < ranks; i++)
		order[i] = i;
	for (i = ranks / 2; i--; ) {
		order_sink(order, member, i, ranks);
		if (may_sleep)
			tor_env_walked(i);
	}
	for (i = ranks; i-- > 1; ) {
		swap(order[0], order[i]);
		order_sink(order, member, 0, i);
		if (may_sleep)
			tor_env_walked(i);
	}
}
