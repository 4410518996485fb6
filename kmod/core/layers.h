/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Layers of a ring with chords: its nodes by their distance from node 0. The
 * graph looks the same from every node, so the distance of two nodes is that of
 * their difference from node 0, and a layer contains with each node also its
 * negative.
 *
 * A layer is a set of bits. The next one is the layer moved by all steps, in
 * both directions, without the nodes that are nearer: some operations on words
 * for each port. Nothing is allocated.
 */
#ifndef _TOR_CORE_LAYERS_H
#define _TOR_CORE_LAYERS_H

#include "core/torus.h"

#define TOR_LAYER_WORDS	(TOR_CHORD_NODES / 64)

/**
 * struct tor_layers - a walk over layers
 * @t: shape, a ring with chords
 * @words: of a set, tor_layer_words()
 * @hops: distance of the nodes of the layer
 * @at: the layer
 * @before: the layer one hop nearer; empty at first
 * @seen: both, and all that are nearer
 */
struct tor_layers {
	const struct tor_torus *t;
	u32 words;
	u32 hops;
	u64 at[TOR_LAYER_WORDS];
	u64 before[TOR_LAYER_WORDS];
	u64 seen[TOR_LAYER_WORDS];
};

/**
 * tor_layers_begin - start with the layer of node 0
 * @l: filled in
 * @t: shape, a ring with chords; must stay valid
 *
 * Context: any; all functions here are pure.
 */
void tor_layers_begin(struct tor_layers *l, const struct tor_torus *t);

/**
 * tor_layers_next - go on to the next layer
 * @l: walk
 *
 * Return: false if there are no nodes further away: the layer is empty.
 */
bool tor_layers_next(struct tor_layers *l);

static inline u32 tor_layer_words(const struct tor_torus *t)
{
	return (t->side[0] + 63) / 64;
}

/* Add the nodes that @port leads to from those of @from to @to. */
void tor_layer_add_moved(const struct tor_torus *t, u64 *to, const u64 *from, u32 port);

static inline bool tor_layer_has(const u64 *layer, u32 node)
{
	return layer[node / 64] >> node % 64 & 1;
}

/* The node that a port of @node leads away from, on the ring of @t: node minus step. */
static inline u32 tor_layers_back(const struct tor_torus *t, u32 node, u32 port)
{
	u32 n = t->side[0], step = t->step[port / 2];

	node += port % 2 ? step : n - step;
	return node < n ? node : node - n;
}

/*
 * Ports by which a shortest path from node 0 to @node, of the layer, begins. As
 * steps may be taken in any order, it may also end by each of them.
 */
u32 tor_layers_ports(const struct tor_layers *l, u32 node);

/* The same for any node of @t, its distance from node 0, and the largest distance. */
u32 tor_layers_first_ports(const struct tor_torus *t, u32 node);
u32 tor_layers_hops(const struct tor_torus *t, u32 node);
u32 tor_layers_depth(const struct tor_torus *t);

#endif
