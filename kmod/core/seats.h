/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Teams: the ranks that share a node.
 *
 * Frames travel between nodes, so a comm of the engine has one member per node.
 * If a node has several ranks, these are its team: they fold their calls into
 * one call of their node, see fold.h. Each rank has a seat in the team of its
 * node.
 *
 * Nodes are numbered in the order of their first ranks, seats in the order of
 * their ranks. A rank's place is its position in the list of all seats, node by
 * node. If the ranks of each node are consecutive in the list of members,
 * places equal ranks. Then the blocks of a node are one block, and what
 * precedes a node in a scan is what precedes its first rank.
 */
#ifndef _TOR_CORE_SEATS_H
#define _TOR_CORE_SEATS_H

#include "core/env.h"

/**
 * struct tor_team_map - seats of all ranks
 * @ranks: of the comm
 * @nodes: number of nodes with ranks
 * @in_order: places equal ranks
 * @first: place of the first seat of each node, followed by @ranks
 * @rank: by place
 * @node: by rank: number of its node; @seat: its seat there
 * @seat: see @node
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
 * tor_team_map_make - build the map of a comm
 * @map: out
 * @member: node of each rank; out: the fabric's node for each number of a node
 *	in the map
 * @ranks: number of ranks
 * @words: TOR_TEAM_MAP_WORDS(@ranks) of them, valid as long as the map
 *
 * Context: may sleep; holds no lock but mutexes.
 */
void tor_team_map_make(struct tor_team_map *map, u32 *member, u32 ranks, u32 *words);

/* Number of ranks on a node. */
static inline u32 tor_team_seats(const struct tor_team_map *map, u32 node)
{
	return map->first[node + 1] - map->first[node];
}

/* The node and seat of a rank, and the rank of a seat. */
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

/* seats of a node that can exchange messages with other nodes */
#define TOR_TEAM_PAIR_SEATS	256

/*
 * Identifies the message of a frame between two nodes: the seats of sender and
 * receiver, in place of the number of a round, since a message has only one.
 */
static inline u16 tor_team_pair(u32 sender, u32 receiver)
{
	return sender << 8 | receiver;
}

/**
 * tor_team_find_pair - find the ranks of a message
 * @map: map
 * @here: this node
 * @there: the other node
 * @pair: tor_team_pair()
 * @sends: the sender of the message is here
 * @seat: out: seat of the rank here
 * @peer: out: the rank there
 *
 * Context: any.
 * Return: false if there are no such seats.
 */
bool tor_team_find_pair(const struct tor_team_map *map, u32 here, u32 there, u16 pair, bool sends,
			u32 *seat, u32 *peer);

#endif
