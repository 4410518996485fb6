// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Teams: the ranks that share a node. See seats.h. */
#include "core/seats.h"

#include "core/order.h"

/* The first rank on the node of each rank. @order: scratch. */
static void team_find_heads(u32 *head, const u32 *member, u32 ranks, u32 *order)
{
	u32 i, from, least;

	tor_order_sort(order, member, ranks);
	for (from = 0; from < ranks; from = i) {
		least = order[from];
		for (i = from; i < ranks && member[order[i]] == member[order[from]]; i++) {
			tor_env_walked(i);
			least = min(least, order[i]);
		}
		for (i = from; i < ranks && member[order[i]] == member[order[from]]; i++) {
			tor_env_walked(i);
			head[order[i]] = least;
		}
	}
}

/* Replaces heads by numbers of nodes. Returns the number of nodes. */
static u32 team_number_nodes(u32 *node, u32 *member, u32 ranks)
{
	u32 rank, nodes = 0;

	for (rank = 0; rank < ranks; rank++) {
		tor_env_walked(rank);
		if (node[rank] != rank) {
			node[rank] = node[node[rank]];
			continue;
		}
		member[nodes] = member[rank];
		node[rank] = nodes++;
	}
	return nodes;
}

void tor_team_map_make(struct tor_team_map *map, u32 *member, u32 ranks, u32 *words)
{
	u32 *node = words, *seat = node + ranks, *list = seat + ranks, *first = list + ranks;
	u32 i, seats, place = 0, rank;

	*map = (struct tor_team_map){
		.ranks = ranks, .in_order = true,
		.first = first, .rank = list, .node = node, .seat = seat,
	};
	team_find_heads(node, member, ranks, list);
	map->nodes = team_number_nodes(node, member, ranks);
	memset(first, 0, map->nodes * sizeof(*first));
	for (rank = 0; rank < ranks; rank++) {
		tor_env_walked(rank);
		seat[rank] = first[node[rank]]++;
	}
	for (i = 0; i < map->nodes; i++) {
		tor_env_walked(i);
		seats = first[i];
		first[i] = place;
		place += seats;
	}
	first[map->nodes] = ranks;
	for (rank = 0; rank < ranks; rank++) {
		tor_env_walked(rank);
		place = tor_team_place(map, rank);
		list[place] = rank;
		map->in_order = map->in_order && place == rank;
	}
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
