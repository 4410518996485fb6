/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The shape of a fabric: sides, coordinates, neighbours, distances.
 *
 * A node's index is c0 + d0 * (c1 + d1 * (...)). A side of 1 has no cables. A
 * side of 2 has one cable or two between its two nodes. With one, only the port
 * (dim, PLUS) of coordinate 0 and the port (dim, MINUS) of coordinate 1 exist;
 * with two, also the cable from PLUS of 1 to MINUS of 0.
 */
#ifndef _TOR_CORE_TORUS_H
#define _TOR_CORE_TORUS_H

#include "core/env.h"

#define TOR_MAX_DIMS	6
#define TOR_MAX_PORTS	(2 * TOR_MAX_DIMS)
#define TOR_MAX_NODES	(1U << 20)

enum tor_dir { TOR_PLUS, TOR_MINUS };

struct tor_torus {
	u8 ndim;
	u8 cables;			/* between the two nodes of a side of 2: 1 or 2 */
	u32 nodes;
	u32 side[TOR_MAX_DIMS];
	u32 stride[TOR_MAX_DIMS];	/* index distance of a step in each dimension */
};

/* A port is numbered 2 * dim + dir. */
static inline u32 tor_port(u32 dim, enum tor_dir dir)
{
	return 2 * dim + dir;
}

static inline u32 tor_port_dim(u32 port)
{
	return port / 2;
}

static inline enum tor_dir tor_port_dir(u32 port)
{
	return port % 2 ? TOR_MINUS : TOR_PLUS;
}

/**
 * tor_torus_init - set up a shape
 * @t: filled in
 * @ndim: 1 to TOR_MAX_DIMS
 * @side: @ndim sides, each at least 1
 * @cables: 1 or 2, on sides of 2
 *
 * Context: any; all functions here are pure.
 * Return: 0, or -EINVAL if a value is out of range or there are more than
 * TOR_MAX_NODES nodes.
 */
int tor_torus_init(struct tor_torus *t, u32 ndim, const u32 *side, u32 cables);

static inline u32 tor_torus_coord(const struct tor_torus *t, u32 node, u32 dim)
{
	return node / t->stride[dim] % t->side[dim];
}

/**
 * tor_torus_shift - the node @by steps from @node along @dim
 * @t: shape
 * @node: index
 * @dim: dimension
 * @by: steps, of either sign and any size
 */
u32 tor_torus_shift(const struct tor_torus *t, u32 node, u32 dim, s64 by);

/* True if @node has a cable at @port. */
bool tor_torus_has_port(const struct tor_torus *t, u32 node, u32 port);

/* The node at the other end of @port's cable, and the port there: see tor_port(). */
u32 tor_torus_neighbour(const struct tor_torus *t, u32 node, u32 port);
static inline u32 tor_torus_peer_port(u32 port)
{
	return port ^ 1;
}

/* Hops on a shortest path. */
u32 tor_torus_distance(const struct tor_torus *t, u32 a, u32 b);

/*
 * True if there are two shortest paths that differ in more than the order of
 * dimensions, so that frames take both.
 */
bool tor_torus_ties(const struct tor_torus *t, u32 a, u32 b);
u32 tor_torus_diameter(const struct tor_torus *t);

#endif
