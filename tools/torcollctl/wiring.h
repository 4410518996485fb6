/* SPDX-License-Identifier: GPL-2.0 */
/* The shape that hosts and cables form, and the node that each host is. */
#ifndef _CTL_WRONG_H
#define _CTL_WRONG_H

#include "graph.h"
#include "place.h"

#define WIRING_ALSO	4

enum wiring_kind {
	WIRING_NONE,	/* no shape that torcoll knows is near */
	WIRING_RING,
	WIRING_TORUS,
	WIRING_LINE,	/* a ring without one cable; taken as a line if that was wanted */
	WIRING_GRID,	/* a torus whose rings are lines, in some dimensions; likewise */
	WIRING_MESH,	/* a cable between any two hosts */
	WIRING_CHORDS,	/* a ring with chords */
};

/**
 * struct wiring - hosts as nodes of a torus
 * @g: the graph
 * @kind: what the cables form, but for faults
 * @place: of the hosts; not valid for WIRING_NONE
 * @node: of each host
 * @also: further shapes that fit as well; @nalso of them
 */
struct wiring {
	const struct graph *g;
	enum wiring_kind kind;
	struct place place;
	uint32_t *node;
	struct tor_torus also[WIRING_ALSO];
	uint32_t nalso;
};

/**
 * wiring_find - recognise a shape
 * @w: filled in; to be freed whatever the result
 * @g: hosts; must outlive @w
 * @want: the sides that the fabric must have, or NULL: the best is chosen, of
 *	several that are as good the one with the fewest dimensions
 *
 * The same survey gives the same result: the first host is node 0 unless lines
 * begin elsewhere, and nodes that are the same but for a symmetry go to hosts in
 * their order.
 *
 * Return: 0 or -ENOMEM.
 */
int wiring_find(struct wiring *w, const struct graph *g, const struct tor_torus *want);
void wiring_free(struct wiring *w);

/* The cables of the torus between two nodes that the graph has, too. */
uint32_t wiring_fits(const struct wiring *w);

#endif
