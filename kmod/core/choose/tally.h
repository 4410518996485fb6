/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the messages of one round after the other load on a fabric's links and nodes.
 *
 * Dimension 0 is routed first, the shorter way round, an exact tie half each way. All is counted in integers:
 * elements and messages on links and nodes in halves, because of ties.
 *
 * Where the messages of a round are the same after a shift by period[d] along each dimension, one
 * message per period is enough: nodes whose coordinates are the same modulo the periods are one class.
 */
#ifndef _TOR_CORE_TALLY_H
#define _TOR_CORE_TALLY_H

#include "core/torus.h"

#define TOR_TALLY_WHOLE	4		/* quarters, in which what is moved is counted */

/**
 * struct tor_tally - loads, and sums over rounds
 * @torus: shape
 * @links: per node; the first are those that leave by a port, numbered as ports
 * @route: how a message goes: calls tor_tally_cross() for each link; returns its hops
 * @period: of the part's messages along each dimension; 1 to the side
 * @classes: product of the periods
 * @room: classes that there is memory for
 * @load: of the part: half elements by class and link
 * @handled: likewise: half messages by class, sent, received or passed on
 * @peak: the largest load of the round
 * @longest: most hops in the round
 * @any: had it a message?
 * @round_messages, @round_sent, @round_moved: as below, of the round
 * @rounds: with messages
 * @hops: sum over rounds of the most hops
 * @w: half elements: sum over rounds of the busiest link's
 * @messages: half messages handled by all nodes
 * @sent: elements sent by all nodes
 * @moved: quarters of elements: 8 for one on its way from node to node, sent here and received there, and one
 *	more for each node that passes it on
 */
struct tor_tally {
	const struct tor_torus *torus;
	u32 links;
	u32 (*route)(struct tor_tally *t, u32 src, u32 dst, u64 n);
	u32 period[TOR_MAX_DIMS];
	u32 classes;
	u32 room;
	u64 *load;
	u64 *handled;
	u64 peak;
	u32 longest;
	bool any;
	u64 round_messages;
	u64 round_sent;
	u64 round_moved;
	u32 rounds;
	u32 hops;
	u64 w;
	u64 messages;
	u64 sent;
	u64 moved;
};

/**
 * tor_tally_init - nothing is loaded yet
 * @t: to fill; free it with tor_tally_free()
 * @torus: shape
 *
 * Another route, and more links for it, may be set afterwards, before the first round.
 */
void tor_tally_init(struct tor_tally *t, const struct tor_torus *torus);
void tor_tally_free(struct tor_tally *t);

/* A round begins. */
void tor_tally_begin(struct tor_tally *t);

/**
 * tor_tally_part - messages of the round that follow share no link with those before
 * @t: tally
 * @period: of them by dimension, or NULL: each node is a class of its own
 *
 * A round is of one part at least.
 *
 * Return: 0 or -ENOMEM.
 */
int tor_tally_part(struct tor_tally *t, const u32 *period);

/**
 * tor_tally_message - a message of the round
 * @t: tally
 * @src: node
 * @dst: another node
 * @n: elements
 *
 * Stands for those from all nodes of @src's class.
 */
void tor_tally_message(struct tor_tally *t, u32 src, u32 dst, u64 n);

/**
 * tor_tally_end - the round is complete
 * @t: tally
 * @times: so many rounds are alike
 */
void tor_tally_end(struct tor_tally *t, u32 times);

/**
 * tor_tally_cross - a message, or half of one, crosses links of a line
 * @t: tally
 * @node: where the first one begins
 * @dim: along which it goes
 * @dir: direction
 * @hops: number of links
 * @n: half elements
 * @share: half messages
 * @link: which of the nodes' links: a port, or what the route means by it
 *
 * Return: the node where the last one ends.
 */
u32 tor_tally_cross(struct tor_tally *t, u32 node, u32 dim, enum tor_dir dir, u32 hops, u64 n,
		    u32 share, u32 link);

/* The class of a node. */
u32 tor_tally_class(const struct tor_tally *t, u32 node);

#endif
