// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Which ranks share a node. See team.h.
 */
#include "team.h"

u32 tor_team_fold(u32 *member, u32 ranks, u32 *first)
{
	u32 rank, nodes = 0;

	for (rank = 0; rank < ranks; rank++) {
		if (nodes && member[nodes - 1] == member[rank])
			continue;
		first[nodes] = rank;
		member[nodes++] = member[rank];
	}
	first[nodes] = ranks;
	return nodes;
}

u32 tor_team_node(const struct tor_team_map *map, u32 rank)
{
	u32 lo = 0, hi = map->nodes - 1;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (rank < map->first[mid + 1])
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}
