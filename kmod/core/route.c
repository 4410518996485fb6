// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Dimension-ordered shortest routes. See route.h.
 */
#include "route.h"

u32 tor_route_port(const struct tor_torus *t, u32 self, u32 dst, u32 tie)
{
	u32 dim;

	if (dst >= t->nodes)
		return TOR_NO_PORT;
	for (dim = 0; dim < t->ndim; dim++) {
		u32 side = t->side[dim];
		u32 from = tor_torus_coord(t, self, dim);
		u32 to = tor_torus_coord(t, dst, dim);
		u32 ahead = to >= from ? to - from : to + side - from;

		if (!ahead)
			continue;
		/* a side of 2 with one cable: the only port */
		if (side == 2 && t->cables == 1)
			return tor_port(dim, from ? TOR_MINUS : TOR_PLUS);
		if (2 * ahead == side)
			return tor_port(dim, tie & 1 ? TOR_MINUS : TOR_PLUS);
		return tor_port(dim, 2 * ahead < side ? TOR_PLUS : TOR_MINUS);
	}
	return TOR_NO_PORT;
}
