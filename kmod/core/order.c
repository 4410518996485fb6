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

/* Each rank is put where it is by itself, then half of them are made a heap, of which the last is taken each time. */
u32 tor_order_steps(u32 ranks)
{
	return ranks + ranks / 2 + (ranks ? ranks - 1 : 0);
}

void tor_order_step(u32 *order, const u32 *member, u32 ranks, u32 step)
{
	u32 left = tor_order_steps(ranks) - step;

	if (step < ranks) {
		order[step] = step;
	} else if (left >= ranks) {
		order_sink(order, member, left - ranks, ranks);
	} else {
		swap(order[0], order[left]);
		order_sink(order, member, 0, left);
	}
}

void tor_order_sort(u32 *order, const u32 *member, u32 ranks)
{
	u32 steps = tor_order_steps(ranks), step;

	for (step = 0; step < steps; step++) {
		tor_env_walked(step);
		tor_order_step(order, member, ranks, step);
	}
}
