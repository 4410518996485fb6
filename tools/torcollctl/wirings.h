/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wirings of a number of hosts: products of rings and full meshes, and of rings
 * with chords those whose nodes are closest, compared by the model by which
 * `auto` chooses.
 */
#ifndef _CTL_WIRINGS_H
#define _CTL_WIRINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/torus.h"

#define WIRINGS_HOSTS	1024
#define WIRINGS_SIZES	4

extern const uint32_t wirings_sizes[WIRINGS_SIZES];	/* bytes of a vector */

/**
 * struct wirings_one - a wiring
 * @t: its shape
 * @ports: of a host that has the most
 * @cables: in all
 * @hops: between the nodes that are furthest apart
 * @ps: time of an allreduce of each size
 * @loss: how many times as long as on the best for a size, mean over sizes
 */
struct wirings_one {
	struct tor_torus t;
	uint32_t ports, cables, hops;
	uint64_t ps[WIRINGS_SIZES];
	double loss;
};

struct wirings {
	struct wirings_one *list;	/* the best first */
	uint32_t n;
};

/**
 * wirings_find - compare wirings
 * @w: zeroed; to be freed whatever the result
 * @hosts: 2 to WIRINGS_HOSTS
 * @ports: of a host, at most
 * @ndim: number of sides if only that shape is wanted, or 0
 * @side: these sides
 *
 * Return: 0 or -ENOMEM.
 */
int wirings_find(struct wirings *w, uint32_t hosts, uint32_t ports, uint32_t ndim,
		 const uint32_t *side);
void wirings_free(struct wirings *w);

/* The ports that hosts of that shape need: those of the node with most. */
uint32_t wirings_ports(const struct tor_torus *t);

#endif
