// SPDX-License-Identifier: GPL-2.0
/*
 * The neighbours of a halo: what the module finds in the nodes of a comm's
 * ranks. If they are a row, a plane or a block of the fabric, or all of it, that
 * is their torus; otherwise they are a ring, as where several are on a node.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/plan/plan.h"
#include "perf.h"

/* Find what ranks on these nodes form. */
static int halo_find(struct tor_torus *grid, const struct torcoll_comm_info *info,
		     const uint32_t *node, uint32_t ranks)
{
	struct tor_placement found = { 0 };
	struct tor_torus fabric;
	struct tor_call call = { .torus = &fabric, .members = node, .ranks = ranks };

	if (tor_torus_init(&fabric, info->ndim, info->side, 1) ||
	    !tor_placement_find(&found, &call))
		return -EINVAL;
	if (!found.ndim) {
		found.ndim = 1;
		found.extent[0] = ranks;
	}
	return tor_torus_init(grid, found.ndim, found.extent, 1);
}

int halo_init(struct perf *p)
{
	uint32_t *node = calloc(p->size, sizeof(*node));
	struct torcoll_comm_info info;
	int err;

	p->grid = malloc(sizeof(*p->grid));
	err = node && p->grid ? torcoll_comm_info(p->comm, &info) : -ENOMEM;
	for (uint32_t i = 0; !err && i < p->size; i++)
		node[i] = torcoll_comm_node(p->comm, i);
	if (!err)
		err = halo_find(p->grid, &info, node, p->size);
	free(node);
	return err;
}

void halo_exit(struct perf *p)
{
	free(p->grid);
	p->grid = NULL;
}

uint32_t halo_ways(const struct perf *p)
{
	return 2 * p->grid->ndim;
}

uint32_t halo_neighbour(const struct perf *p, uint32_t way)
{
	return tor_torus_shift(p->grid, p->rank, way / 2, way % 2 ? 1 : -1);
}
