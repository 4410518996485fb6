/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Hellos: what a node says on its cables, and when. What it hears: link.h.
 *
 * Each cable gets a hello every interval. Changes are sent to all nodes: a node
 * whose link goes up or down changes its record (view.h) and sends a hello on
 * all cables immediately; a node that learns news from a hello does the same. At
 * most TOR_FLOODS such hellos follow one another, then TOR_FLOODS_PER_HELLO per
 * interval, and no fewer than one per TOR_FLOOD_EVERY. The last
 * TOR_FLOODS_URGENT are for news of links that went down, which does not wait
 * behind that of nodes that begin. Further news waits for
 * the next tick with one left, or for a regular hello. A damper (damper.h)
 * limits how often new neighbours are sent the whole view.
 *
 * Locking: every call here is under the node's lock (node.h).
 */
#ifndef _TOR_CORE_HELLO_H
#define _TOR_CORE_HELLO_H

#include "core/env.h"

#define TOR_HELLO_INTERVAL	(200 * NSEC_PER_MSEC)

#define TOR_FLOODS		12	/* most hellos in a row that are sent immediately */
#define TOR_FLOODS_URGENT	4	/* of these, left for news of links that went down */
#define TOR_FLOODS_PER_HELLO	8	/* replenished per hello interval, */
#define TOR_FLOOD_EVERY		(25 * NSEC_PER_MSEC)	/* or at this interval, if shorter */

/**
 * tor_hello_spread_news - pass news on, if there are any
 * @ctx: of this entry
 * @node: node
 *
 * If too many hellos were sent lately, the news waits for a tick.
 *
 * Context: bottom halves off, the node's lock held.
 * Return: true if hellos were sent on all cables.
 */
bool tor_hello_spread_news(struct tor_ctx *ctx, struct tor_node *node);

/**
 * tor_hello_tell_new - send the whole view with the next hellos
 * @node: node
 * @now: ns
 *
 * Does so if a neighbour is new and the damper allows it.
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_hello_tell_new(struct tor_node *node, u64 now);

/**
 * tor_hello_answer - answer the first hello of a neighbour
 * @ctx: of this entry
 * @node: node
 * @cable: by which it came in
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_hello_answer(struct tor_ctx *ctx, struct tor_node *node, u32 cable);

/**
 * tor_hello_tick - send what waits for a tick, and regular hellos
 * @ctx: of this entry
 * @node: node
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_hello_tick(struct tor_ctx *ctx, struct tor_node *node);

#endif
