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

#endif
