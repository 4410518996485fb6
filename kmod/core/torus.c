// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The shape of a fabric. See torus.h. */
#include "core/torus.h"

int tor_torus_init(struct tor_torus *t, u32 ndim, const u32 *side, u32 cables)
{
	u64 nodes = 1;
	u32 d;

	memset(t, 0, sizeof(*t));
	if (ndim < 1 || ndim > TOR_MAX_DIMS || cables < 1 || cables > 2)
		return -EINVAL;
	for (d = 0; d < ndim; d++) {
		if (side[d] < 1 || side[d] > TOR_MAX_NODES)
			return -EINVAL;
		t->side[d] = side[d];
		t->stride[d] = nodes;
		nodes *= side[d];
		if (nodes > TOR_MAX_NODES)
			return -EINVAL;
	}
	t->ndim = ndim;
	t->cables = cables;
	t->nodes = nodes;
	return 0;
}

u32 tor_torus_shift(const struct tor_torus *t, u32 node, u32 dim, s64 by)
{
	u32 n = t->side[dim];
	u32 c = tor_torus_coord(t, node, dim);
	u64 back = by < 0 ? -(u64)by : 0;
	u32 steps;

	/* by modulo n, without signed division, which 32-bit kernels lack */
	if (back) {
		back -= tor_div64(back, n) * n;
		steps = back ? n - back : 0;
	} else {
		steps = by - tor_div64(by, n) * n;
	}
	return node - c * t->stride[dim] + (c + steps) % n * t->stride[dim];
}

bool tor_torus_has_port(const struct tor_torus *t, u32 node, u32 port)
{
	u32 dim = tor_port_dim(port);

	if (dim >= t->ndim || t->side[dim] == 1)
		return false;
	if (t->side[dim] > 2 || t->cables == 2)
		return true;
	/* one cable: from PLUS of coordinate 0 to MINUS of coordinate 1 */
	return (tor_torus_coord(t, node, dim) == 0) == (tor_port_dir(port) == TOR_PLUS);
}

u32 tor_torus_neighbour(const struct tor_torus *t, u32 node, u32 port)
{
	return tor_torus_shift(t, node, tor_port_dim(port),
			       tor_port_dir(port) == TOR_PLUS ? 1 : -1);
}

/* Steps from @a to @b in one dimension, upwards. */
static u32 torus_steps_up(const struct tor_torus *t, u32 a, u32 b, u32 dim)
{
	u32 n = t->side[dim];

	return (tor_torus_coord(t, b, dim) + n - tor_torus_coord(t, a, dim)) % n;
}

u32 tor_torus_distance(const struct tor_torus *t, u32 a, u32 b)
{
	u32 d, hops = 0;

	for (d = 0; d < t->ndim; d++) {
		u32 up = torus_steps_up(t, a, b, d);

		hops += min(up, t->side[d] - up);
	}
	return hops;
}

bool tor_torus_ties(const struct tor_torus *t, u32 a, u32 b)
{
	u32 d;

	for (d = 0; d < t->ndim; d++)
		if (torus_steps_up(t, a, b, d) * 2 == t->side[d] &&
		    (t->side[d] > 2 || t->cables == 2))
			return true;
	return false;
}

u32 tor_torus_diameter(const struct tor_torus *t)
{
	u32 d, hops = 0;

	for (d = 0; d < t->ndim; d++)
		hops += t->side[d] / 2;
	return hops;
}
