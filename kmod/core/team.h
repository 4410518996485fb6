/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which ranks share a node.
 *
 * Frames go between nodes, so the engine's comm has one member per node. Where a node has several ranks, these are its
 * team: they fold what they call into one call of their node, see fold.h. Each rank has a seat in its node's team.
 *
 * Ranks of a node follow one another. So a node's blocks are one block, what a scan has before a node is all that
 * is before its first rank, and who sits where is told by one number per node.
 */
#ifndef _TOR_CORE_TEAM_H
#define _TOR_CORE_TEAM_H

#include "env.h"

/**
 * struct tor_team_map - who sits where
 * @ranks: of the comm
 * @nodes: that it is on, numbered in the order of their ranks
 * @first: the first rank of each node, and behind the last one @ranks
 */
struct tor_team_map {
	u32 ranks;
	u32 nodes;
	const u32 *first;
};

/**
 * tor_team_fold - find out which ranks share a node
 * @member: node of each rank; then of each run of ranks on one
 * @ranks: how many
 * @first: out: where each run begins, and behind the last one @ranks; room for @ranks + 1
 *
 * Return: the number of runs. A node that has more than one of them is found among @member more than once.
 */
u32 tor_team_fold(u32 *member, u32 ranks, u32 *first);

/* The place of a rank's node among nodes. */
u32 tor_team_node(const struct tor_team_map *map, u32 rank);

/* How many ranks a node has. */
static inline u32 tor_team_seats(const struct tor_team_map *map, u32 node)
{
	return map->first[node + 1] - map->first[node];
}

/* The seat of a rank on its node, and who has a seat there. */
u32 tor_team_seat(const struct tor_team_map *map, u32 rank);

static inline u32 tor_team_rank_in(const struct tor_team_map *map, u32 node, u32 seat)
{
	return map->first[node] + seat;
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
