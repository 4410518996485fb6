/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Links: what their cables (cable.h) are together. A link is dead when all its
 * cables are down; other nodes do not hear of less. What is sent to neighbours,
 * and how changes get to all nodes: hello.h.
 *
 * A node that begins has no link yet, and most of them are up a round trip
 * later. It does not tell others that the rest is dead before
 * TOR_HELLO_MISSES intervals have passed, the time after which a silent
 * neighbour counts as gone: otherwise the start of a fabric without faults would
 * be news of many cuts and mends of each link, and nodes that have heard
 * different parts of it would send frames in circles. Its own routes avoid such
 * links from the beginning.
 *
 * Context, unless stated otherwise: bottom halves off, the node's lock (node.h)
 * held.
 */
#ifndef _TOR_CORE_LINK_H
#define _TOR_CORE_LINK_H

#include "core/link/cable.h"

/* Ticks per hello interval, which is the resolution of silence. */
#define TOR_HELLO_TICKS		4
#define TOR_TICK_MAX		(100 * NSEC_PER_MSEC)	/* the longest between two */

/**
 * struct tor_link - a link, as senders see it: read without lock, so by READ_ONCE
 * @takes: bytes behind the MAC header that all its live cables take
 * @up: bit k: its cable k is up
 */
struct tor_link {
	u32 takes;
	u8 up;
};

/* Bit per link of @node that should be there and of which no cable is up. */
u16 tor_link_dead(const struct tor_node *node);

/* Set up the links of a new node: no cable is up, all are awaited. */
void tor_link_init(struct tor_node *node);

/*
 * True once packets may be sent: a link is up, and others know those that are
 * not. Context: any; takes no lock.
 */
bool tor_link_is_ready(const struct tor_node *node);

/*
 * Number of links' ends that are dead as far as @node knows, those that it
 * awaits included. Context: any; takes no lock.
 */
u32 tor_link_count_dead(const struct tor_node *node);

/*
 * Copy what @node knows of the dead links of nodes @first to @first + @n - 1, for
 * tor_routes_build(), to @dead, which has an entry for each node. Context: the
 * node's lock.
 */
void tor_link_copy_dead(const struct tor_node *node, u16 *dead, u32 first, u32 n);

/*
 * Work out what the link at @port takes, and whether it is up, from the states of
 * its cables. What it takes stays while none of them is up.
 */
void tor_link_sum(struct tor_node *node, u32 port);

/* Change the record of the own links, if they have changed: it is news. */
void tor_link_say(struct tor_ctx *ctx, struct tor_node *node);

/**
 * tor_link_too_small - a frame is too large for the link on its route
 * @ctx: of this entry
 * @node: node
 * @port: number of the link
 * @len: bytes of the frame behind the MAC header
 *
 * Its cables that do not take the frame count as down from now on.
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_too_small(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 len);

/**
 * tor_link_tick - periodic work: give up silent neighbours, send hellos
 * @ctx: of this entry
 * @node: node
 *
 * To be called every tor_link_tick_ns().
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node);
u64 tor_link_tick_ns(const struct tor_node *node);

#endif
