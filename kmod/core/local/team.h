/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which ranks share a node.
 *
 * Frames go between nodes, so the engine's comm has one member per node. Where a node has several ranks, these are its
 * team: they fold what they call into one call of their node, see fold.h. Each rank has a seat in its node's team.
 *
 * Nodes are numbered in the order of their first ranks, seats in that of their ranks. A rank's place is its position in the list
 * of all seats, node by node. Where ranks of a node follow one another in the list of members, that is the rank itself;
 * then a node's blocks are one block, and what a scan has before a node is all that is before its first rank.
 */
#ifndef _TOR_CORE_TEAM_H
#define _TOR_CORE_TEAM_H

#include "core/env.h"

/**
 * struct tor_team_map - who sits where
 * @ranks: of the comm
 * @nodes: that it is on
 * @in_order: places are ranks
 * @first: the place of each node's first seat, and behind the last one @ranks
 * @rank: by place
 * @node: by rank: the number of its node; @seat: and its seat there
 */
struct tor_team_map {
	u32 ranks;
	u32 nodes;
	bool in_order;
	const u32 *first;
	const u32 *rank;
	const u32 *node;
	const u32 *seat;
};

/* Words of memory that a map needs. */
#define TOR_TEAM_MAP_WORDS(ranks)	(4 * (ranks) + 1)

/**
 * tor_team_map_make - find out which ranks share a node
 * @map: out
 * @member: node of each rank; out: of the fabric, each node that there is, by its number in the map
 * @ranks: how many
 * @words: TOR_TEAM_MAP_WORDS(@ranks) of them, to stay as long as the map
 */
void tor_team_map_make(struct tor_team_map *map, u32 *member, u32 ranks, u32 *words);

/* How many ranks a node has. */
static inline u32 tor_team_seats(const struct tor_team_map *map, u32 node)
{
	return map->first[node + 1] - map->first[node];
}

/* Where a rank sits, and who has that seat. */
static inline u32 tor_team_node(const struct tor_team_map *map, u32 rank)
{
	return map->node[rank];
}

static inline u32 tor_team_seat(const struct tor_team_map *map, u32 rank)
{
	return map->seat[rank];
}

static inline u32 tor_team_rank_in(const struct tor_team_map *map, u32 node, u32 seat)
{
	return map->rank[map->first[node] + seat];
}

/* The place of a rank. */
static inline u32 tor_team_place(const struct tor_team_map *map, u32 rank)
{
	return map->first[tor_team_node(map, rank)] + tor_team_seat(map, rank);
}

#define TOR_TEAM_PAIR_SEATS	256	/* of a node can send messages to other nodes */

/*
 * Whose message a frame between two nodes is about: the seats of sender and receiver, in place of a round's number, of which a
 * message has but one.
 */
static inline u16 tor_team_pair(u32 sender, u32 receiver)
{
	return sender << 8 | receiver;
}

/**
 * tor_team_find_pair - whose message is it?
 * @map: map
 * @here, @there: our node, and the other one
 * @pair: tor_team_pair()
 * @sends: the message's sender is here
 * @seat: out: whose it is here
 * @peer: out: and there, the rank
 *
 * Return: false if there are no such seats.
 */
bool tor_team_find_pair(const struct tor_team_map *map, u32 here, u32 there, u16 pair, bool sends,
			u32 *seat, u32 *peer);

#endif
