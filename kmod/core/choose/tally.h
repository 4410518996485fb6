/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Load of the messages of successive rounds on the links and nodes of a fabric.
 *
 * Dimension 0 is routed first: along a ring the shorter way round, an exact tie
 * half each way; a line has one way, a mesh one hop. In a ring with chords the
 * steps are taken in the order of ports, half of a message in the opposite
 * order. Everything is counted in integers: because of ties, elements and
 * messages on links and nodes are counted in halves.
 *
 * Where the messages of a round are the same after a shift by period[d] along
 * each dimension, one message per period is enough: nodes whose coordinates are
 * congruent modulo the periods form a class.
 */
#ifndef _TOR_CORE_TALLY_H
#define _TOR_CORE_TALLY_H

#include "core/torus.h"

#define TOR_TALLY_WHOLE	4		/* unit of tor_tally.moved: quarters of elements */

/**
 * struct tor_tally - loads, and sums over rounds
 * @torus: shape
 * @links: per node; the first are those that leave by a port, numbered like
 *	ports
 * @route: routes a message: calls tor_tally_cross() for each link, returns the
 *	hops
 * @period: of the messages of the part along each dimension; 1 to the side
 * @classes: product of the periods
 * @room: classes for which memory is allocated
 * @load: of the part: half elements by class and link
 * @handled: of the part: half messages by class, sent, received or forwarded
 * @first: ring with chords: by node, ports by which a shortest path from node 0
 *	begins
 * @peak: largest load of the round
 * @longest: most hops in the round
 * @any: the round has a message
 * @round_messages, @round_sent, @round_moved: as below, of the round
 * @rounds: rounds with messages
 * @hops: sum over rounds of the most hops
 * @w: half elements: sum over rounds of the load of the busiest link
 * @messages: half messages handled by all nodes
 * @sent: elements sent by all nodes
 * @moved: quarters of elements: 8 for one sent from node to node, 4 at either
 *	end, plus 1 for each node that forwards it
 * @steps: work so far, of some 10 ns each: for callers that limit it
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
	u16 *first;
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
	u64 steps;
};

/**
 * tor_tally_init - set up a tally without load
 * @t: filled in; free with tor_tally_free()
 * @torus: shape
 *
 * Another route, and more links for it, may be set afterwards, before the first
 * round.
 */
void tor_tally_init(struct tor_tally *t, const struct tor_torus *torus);
void tor_tally_free(struct tor_tally *t);

/* Start a round. */
void tor_tally_begin(struct tor_tally *t);

/**
 * tor_tally_part - start a part of a round
 * @t: tally
 * @period: of its messages by dimension, or NULL: each node is a class of its
 *	own
 *
 * Messages of the part share no link with those of other parts. A round has at
 * least one part.
 *
 * Context: may sleep to allocate.
 * Return: 0 or -ENOMEM.
 */
int tor_tally_part(struct tor_tally *t, const u32 *period);

/**
 * tor_tally_message - count a message of the round
 * @t: tally
 * @src: node
 * @dst: another node
 * @n: elements
 *
 * Stands for the messages of all nodes of the class of @src.
 */
void tor_tally_message(struct tor_tally *t, u32 src, u32 dst, u64 n);

/**
 * tor_tally_end - finish a round
 * @t: tally
 * @times: number of rounds that are alike
 */
void tor_tally_end(struct tor_tally *t, u32 times);

/**
 * tor_tally_cross - count a message, or half of one, on the links of a line
 * @t: tally
 * @node: where the first link begins
 * @dim: dimension of the line
 * @step: of each link, along the dimension
 * @hops: number of links
 * @n: half elements
 * @share: half messages
 * @link: link of the nodes: a port, or as the route defines it
 *
 * Return: the node where the last link ends.
 */
u32 tor_tally_cross(struct tor_tally *t, u32 node, u32 dim, s32 step, u32 hops, u64 n, u32 share,
		    u32 link);

/* The class of a node. */
u32 tor_tally_class(const struct tor_tally *t, u32 node);

#endif
