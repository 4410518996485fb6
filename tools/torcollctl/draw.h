/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fabric as a picture: dimension 0 to the right, dimension 1 downwards; a link
 * that wraps around leaves at one edge and enters at the other. Of a mesh, links
 * of one step; below the picture, a sentence about the others. A plane for
 * each coordinate in the further dimensions; behind a node, a mark for each of
 * these: its link to the next plane. A ring with chords is drawn in rows as long
 * as its first chord: each goes on in the next one, and a chord leads down.
 *
 *	     |     :
 *	  --[0]/--1/..
 *	     |     :
 *	  ...2.....3..
 */
#ifndef _CTL_DRAW_H
#define _CTL_DRAW_H

#include "canvas.h"
#include "ctl.h"

enum link_look {
	LINK_UNSEEN,		/* not known on this node */
	LINK_GOOD,
	LINK_BUSY,
	LINK_BUSIEST,
	LINK_WARN,		/* up, with errors */
	LINK_BAD,
};

/**
 * struct drawing - what a picture shows
 * @shape: of the fabric
 * @self: node to mark, or ~0
 * @look: state of the link at a port of @node; a link has the worse of its ends
 * @node_style: style of a node, NULL: all are plain
 * @arg: for both
 */
struct drawing {
	const struct shape *shape;
	uint32_t self;
	enum link_look (*look)(void *arg, uint32_t node, uint32_t dim, uint32_t dir);
	enum style (*node_style)(void *arg, uint32_t node);
	void *arg;
};

/* Nodes of a row. */
uint32_t draw_columns(const struct shape *shape);

/* What the picture does not say by itself, for a line below it, or "". */
const char *draw_note(const struct shape *shape);

/* Number of planes, and their size in characters, with title and gap. */
uint32_t draw_planes(const struct shape *shape);
int draw_width(const struct shape *shape);
int draw_height(const struct shape *shape);

/* Draw one plane, its upper left corner at x, y. */
void draw_plane(struct canvas *c, int x, int y, const struct drawing *d, uint32_t plane);

/* A canvas with all planes, as many side by side as fit into @width. */
struct canvas *draw_all(const struct drawing *d, int width);

/*
 * Print all planes; if they are very many, the one of @self; a sentence if they
 * are far too large.
 */
void draw_torus(const struct drawing *d);

#endif
