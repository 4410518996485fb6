/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which group frames this node has seen. Each is delivered and relayed when it
 * comes for the first time, and dropped after that: so it crosses each link at
 * most once in either direction, whatever the nodes think of the tree
 * (link/tree.h), and no storm is possible.
 *
 * Numbers are compared within an incarnation of their source. Two of these are
 * remembered: the present one, and the one before, of which frames may still be
 * on their way. A frame of a third, from wherever it comes, takes the place of
 * the one that was not heard last.
 */
#ifndef _TOR_CORE_SEEN_H
#define _TOR_CORE_SEEN_H

#include "core/link/tree.h"

/**
 * struct tor_seen_window - the group frames of an incarnation of a node
 * @epoch: incarnation, 0: none
 * @top: highest number
 * @mask: bit i: number @top - i was seen
 */
struct tor_seen_window {
	u32 epoch;
	u32 top;
	u64 mask;
};

#define TOR_SEEN_WINDOW	64	/* bits of the mask */

/* @window[0] was heard last. */
struct tor_seen_source {
	struct tor_seen_window window[2];
};

/**
 * struct tor_seen - the group frames of all nodes
 * @nodes: of the fabric
 * @source: by node
 */
struct tor_seen {
	u32 nodes;
	struct tor_seen_source source[];
};

/* Return a table to free with tor_env_table_free(), or NULL. Context: may sleep. */
struct tor_seen *tor_seen_alloc(u32 nodes);

/**
 * tor_seen_first - note a group frame
 * @seen: table
 * @src: its source, below @seen->nodes
 * @epoch: its incarnation, not 0
 * @number: of the frame
 *
 * Context: any; the caller lets in one frame of a source at a time.
 * Return: false if it has come before, or is TOR_SEEN_WINDOW or more numbers
 * late, so that nobody knows: drop it.
 */
bool tor_seen_first(struct tor_seen *seen, u32 src, u32 epoch, u32 number);

/**
 * tor_packet_group_ports - the ports by which a group frame leaves
 * @tree: the own part of the tree
 * @live: bit per usable port
 * @from: port on which it came in, TOR_NO_PORT if it starts here
 *
 * Context: any.
 * Return: bit per port, each of which gets a copy.
 */
static inline u16 tor_packet_group_ports(const struct tor_tree *tree, u32 live, u32 from)
{
	u16 ports = tree->ports & live;

	return from == TOR_NO_PORT ? ports : ports & ~(1U << from);
}

#endif
