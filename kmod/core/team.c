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

u32 tor_team_seat(const struct tor_team_map *map, u32 rank)
{
	return rank - map->first[tor_team_node(map, rank)];
}

bool tor_team_find_pair(const struct tor_team_map *map, u32 here, u32 there, u16 pair, bool sends,
			u32 *seat, u32 *peer)
{
	u32 sender = pair >> 8, receiver = pair & 0xff;
	u32 theirs = sends ? receiver : sender;

	*seat = sends ? sender : receiver;
	if (*seat >= tor_team_seats(map, here) || theirs >= tor_team_seats(map, there))
		return false;
	*peer = tor_team_rank_in(map, there, theirs);
	return true;
}
