/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The shape of a fabric: sides, coordinates, neighbours, distances.
 *
 * A node's index is c0 + d0 * (c1 + d1 * (...)). Along a dimension the nodes
 * form a ring, an open line or a full mesh, in which each is joined with each.
 * A side of 1 has no cables. A ring of 2 has one cable or two between its two
 * nodes. With one, only the port (dim, PLUS) of coordinate 0 and the port (dim,
 * MINUS) of coordinate 1 exist; with two, also the cable from PLUS of 1 to
 * MINUS of 0. A line has no cable from its last node to its first, whatever the
 * number of cables of rings of 2.
 *
 * A ring may have chords: cables from each node to those so many nodes further
 * and back (a circulant graph). Each step is a dimension of its own behind the
 * ring, of side 1: chords join nodes of the ring and add none. The step of the
 * ring is 1, those of chords ascend from 2 and stay below half of the nodes, so
 * that no two cables join the same nodes. The ring is the only other dimension.
 *
 * The ways out of a node along a dimension are numbered. In rings, lines and
 * chords way 0 is up, 1 is down. Way w of a mesh leads w + 1 steps up, modulo the side, so
 * the last way leads one step down. Ports count the ways of all dimensions; in
 * a fabric without meshes a port is 2 * dim + dir.
 */
#ifndef _TOR_CORE_TORUS_H
#define _TOR_CORE_TORUS_H

#include <linux/torcoll.h>

#include "core/env.h"

#define TOR_MAX_DIMS	6
#define TOR_MAX_PORTS	(2 * TOR_MAX_DIMS)
#define TOR_MAX_NODES	(1U << 20)
#define TOR_MAX_CHORDS	3		/* steps of chords */
#define TOR_CHORD_NODES	1024		/* most nodes of a ring with chords: see layers.h */

enum tor_dir { TOR_PLUS, TOR_MINUS };	/* ways of all but meshes */

struct tor_torus {
	u8 ndim;
	u8 axes;			/* dimensions with coordinates: without chords */
	u8 cables;			/* between the two nodes of a ring of 2: 1 or 2 */
	u8 ports;			/* ways of all dimensions */
	u8 kind[TOR_MAX_DIMS];		/* enum torcoll_kind */
	u8 first[TOR_MAX_DIMS];		/* the port of way 0 */
	u8 dim[TOR_MAX_PORTS];		/* by port */
	u32 nodes;
	u32 side[TOR_MAX_DIMS];
	u32 stride[TOR_MAX_DIMS];	/* index distance of a step in each dimension */
	u32 step[TOR_MAX_DIMS];		/* nodes that way 0 leads on: 1, or that of a chord */
};

/* A side in one word, as in configuration, hellos and surveys: see TORCOLL_SIDE(). */
static inline u32 tor_side_nodes(u32 side)
{
	return side & TORCOLL_SIDE_NODES;
}

static inline u32 tor_side_kind(u32 side)
{
	return side >> TORCOLL_SIDE_KIND_SHIFT;
}

/* Nodes along a dimension of that side: chords, whose word has their step, add none. */
static inline u32 tor_side_length(u32 side)
{
	return tor_side_kind(side) == TORCOLL_KIND_CHORD ? 1 : tor_side_nodes(side);
}

static inline bool tor_side_is_valid(u32 side)
{
	return tor_side_nodes(side) && tor_side_kind(side) < TORCOLL_KIND_COUNT;
}

/* Ways along a dimension of that side. */
static inline u32 tor_side_ways(u32 side)
{
	return tor_side_kind(side) == TORCOLL_KIND_MESH ? tor_side_nodes(side) - 1 : 2;
}

/**
 * tor_torus_init - set up a shape
 * @t: filled in
 * @ndim: 1 to TOR_MAX_DIMS
 * @side: @ndim sides, each with its kind: TORCOLL_SIDE(); a number of nodes is
 *	a ring; of chords, their step
 * @cables: 1 or 2, in rings of 2
 *
 * Context: any; all functions here are pure.
 * Return: 0, or -EINVAL if a value is out of range, there are more than
 * TOR_MAX_NODES nodes, the ways of all dimensions exceed TOR_MAX_PORTS, or
 * chords are not as described above.
 */
int tor_torus_init(struct tor_torus *t, u32 ndim, const u32 *side, u32 cables);

/* The side of a dimension with its kind. */
static inline u32 tor_torus_side(const struct tor_torus *t, u32 dim)
{
	u32 n = t->kind[dim] == TORCOLL_KIND_CHORD ? t->step[dim] : t->side[dim];

	return TORCOLL_SIDE(n, t->kind[dim]);
}

static inline bool tor_torus_has_chords(const struct tor_torus *t)
{
	return t->axes < t->ndim;
}

/* True if both have the same sides of the same kinds; cables are not compared. */
bool tor_torus_same_sides(const struct tor_torus *t, u32 ndim, const u32 *side);

/* Ways out of a node along @dim, with or without a cable. */
static inline u32 tor_torus_ways(const struct tor_torus *t, u32 dim)
{
	return tor_side_ways(tor_torus_side(t, dim));
}

/* The port of a way; @way is below tor_torus_ways(). */
static inline u32 tor_torus_port(const struct tor_torus *t, u32 dim, u32 way)
{
	return t->first[dim] + way;
}

/* The dimension and the way of a port of the torus. */
static inline u32 tor_port_dim(const struct tor_torus *t, u32 port)
{
	return t->dim[port];
}

static inline u32 tor_port_way(const struct tor_torus *t, u32 port)
{
	return port - t->first[t->dim[port]];
}

/*
 * Ways as others name them, regardless of the side: TOR_PLUS and TOR_MINUS, and
 * in meshes TOR_DIR_STEPS plus the steps upwards.
 */
#define TOR_DIR_STEPS	1

static inline u32 tor_side_dir(u32 side, u32 way)
{
	return tor_side_kind(side) == TORCOLL_KIND_MESH ? TOR_DIR_STEPS + way + 1 : way;
}

static inline u32 tor_port_dir(const struct tor_torus *t, u32 port)
{
	u32 dim = tor_port_dim(t, port);

	return tor_side_dir(tor_torus_side(t, dim), tor_port_way(t, port));
}

/*
 * The port of that name; in a mesh TOR_PLUS is the first way, TOR_MINUS the
 * last. Return: t->ports: there is none.
 */
u32 tor_port_find(const struct tor_torus *t, u32 dim, u32 dir);

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

/* The node at the other end of @port's cable, and the port there. */
u32 tor_torus_neighbour(const struct tor_torus *t, u32 node, u32 port);
u32 tor_torus_peer_port(const struct tor_torus *t, u32 port);

/* Hops on a shortest path. */
u32 tor_torus_distance(const struct tor_torus *t, u32 a, u32 b);

/*
 * True if there are two shortest paths that differ in more than the order of
 * dimensions, so that frames take both. With chords: two that begin by different
 * ports.
 */
bool tor_torus_ties(const struct tor_torus *t, u32 a, u32 b);
u32 tor_torus_diameter(const struct tor_torus *t);

#endif
