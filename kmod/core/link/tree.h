/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The spanning tree on which group frames of the network device reach all
 * nodes, by one copy for each of its links.
 *
 * All nodes compute the same tree from the same view: its root is the lowest
 * reachable node, and a node's parent is the neighbour one hop nearer to the
 * root that its lowest such port leads to. While views differ, the trees do not
 * fit together, and the links may form a loop or leave nodes out:
 * packet/seen.h ends a loop, and nothing repairs what was left out.
 *
 * Two nodes are up to twice the depth of the tree apart on it. Frames that would
 * need more hops than TOR_HOP_LIMIT do not arrive; a ring has more than 256
 * nodes then.
 */
#ifndef _TOR_CORE_TREE_H
#define _TOR_CORE_TREE_H

#include "core/link/route.h"

/**
 * struct tor_tree - a node's part of the tree
 * @root: lowest node that this one reaches
 * @ports: bit per port whose link is in the tree
 */
struct tor_tree {
	u32 root;
	u16 ports;
};

/**
 * tor_tree_build - find the own links of the tree
 * @tree: filled in, unless there is no memory
 * @t: shape
 * @self: this node
 * @routes: its routes, by the same @dead
 * @dead: dead ports of each node, as from tor_view_copy_dead(); NULL: none
 *
 * Context: may sleep. Arithmetic if all nodes are reached and no link is dead,
 * else as long as a search for routes.
 * Return: 0, or -ENOMEM.
 */
int tor_tree_build(struct tor_tree *tree, const struct tor_torus *t, u32 self,
		   const struct tor_routes *routes, const u16 *dead);

#endif
