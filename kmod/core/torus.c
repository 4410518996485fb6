// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The shape of a fabric. See torus.h. */
#include "core/torus.h"

#include "core/layers.h"

/* True if @dim may be a chord of the dimensions before. */
static bool torus_has_room_for_chord(const struct tor_torus *t, u32 dim, u32 step)
{
	return dim && dim <= TOR_MAX_CHORDS && t->kind[0] == TORCOLL_KIND_RING &&
	       (dim == 1 || t->kind[1] == TORCOLL_KIND_CHORD) && t->side[0] <= TOR_CHORD_NODES &&
	       step > t->step[dim - 1] && 2 * step < t->side[0];
}

/* Set up dimension @dim; those before are. False: there cannot be such a one. */
static bool torus_add_side(struct tor_torus *t, u32 dim, u32 side)
{
	t->kind[dim] = tor_side_kind(side);
	t->side[dim] = tor_side_length(side);
	t->step[dim] = 1;
	if (t->kind[dim] != TORCOLL_KIND_CHORD) {
		t->axes = dim + 1;
		/* nothing follows chords */
		return !dim || t->kind[dim - 1] != TORCOLL_KIND_CHORD;
	}
	t->step[dim] = tor_side_nodes(side);
	return torus_has_room_for_chord(t, dim, t->step[dim]);
}

int tor_torus_init(struct tor_torus *t, u32 ndim, const u32 *side, u32 cables)
{
	u64 nodes = 1;
	u32 d, ports = 0;

	memset(t, 0, sizeof(*t));
	if (ndim < 1 || ndim > TOR_MAX_DIMS || cables < 1 || cables > 2)
		return -EINVAL;
	for (d = 0; d < ndim; d++) {
		if (!tor_side_is_valid(side[d]) || tor_side_ways(side[d]) > TOR_MAX_PORTS - ports)
			return -EINVAL;
		if (!torus_add_side(t, d, side[d]))
			return -EINVAL;
		t->stride[d] = nodes;
		nodes *= t->side[d];
		if (nodes > TOR_MAX_NODES)
			return -EINVAL;
		t->first[d] = ports;
		ports += tor_side_ways(side[d]);
		memset(t->dim + t->first[d], d, ports - t->first[d]);
	}
	t->ports = ports;
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

bool tor_torus_same_sides(const struct tor_torus *t, u32 ndim, const u32 *side)
{
	u32 d;

	if (ndim != t->ndim)
		return false;
	for (d = 0; d < ndim; d++)
		if (side[d] != tor_torus_side(t, d))
			return false;
	return true;
}

bool tor_torus_has_port(const struct tor_torus *t, u32 node, u32 port)
{
	u32 dim, coord;
	bool up;

	if (port >= t->ports)
		return false;
	dim = tor_port_dim(t, port);
	if (t->kind[dim] == TORCOLL_KIND_MESH || t->kind[dim] == TORCOLL_KIND_CHORD)
		return true;
	if (t->side[dim] == 1)
		return false;
	up = tor_port_way(t, port) == TOR_PLUS;
	coord = tor_torus_coord(t, node, dim);
	if (t->kind[dim] == TORCOLL_KIND_LINE)
		return coord != (up ? t->side[dim] - 1 : 0);
	if (t->side[dim] > 2 || t->cables == 2)
		return true;
	/* one cable: from PLUS of coordinate 0 to MINUS of coordinate 1 */
	return (coord == 0) == up;
}

u32 tor_torus_neighbour(const struct tor_torus *t, u32 node, u32 port)
{
	u32 dim = tor_port_dim(t, port), way = tor_port_way(t, port);
	s64 step = t->step[dim];

	if (t->kind[dim] == TORCOLL_KIND_MESH)
		return tor_torus_shift(t, node, dim, way + 1);
	if (t->kind[dim] == TORCOLL_KIND_CHORD)
		dim = 0;
	return tor_torus_shift(t, node, dim, way == TOR_PLUS ? step : -step);
}

u32 tor_torus_peer_port(const struct tor_torus *t, u32 port)
{
	u32 dim = tor_port_dim(t, port), way = tor_port_way(t, port);

	/* there and back are as many steps as the side has nodes */
	if (t->kind[dim] == TORCOLL_KIND_MESH)
		return tor_torus_port(t, dim, t->side[dim] - 2 - way);
	return tor_torus_port(t, dim, way ^ 1);
}

u32 tor_port_find(const struct tor_torus *t, u32 dim, u32 dir)
{
	u32 ways, way = dir;

	if (dim >= t->ndim)
		return t->ports;
	ways = tor_torus_ways(t, dim);
	if (t->kind[dim] == TORCOLL_KIND_MESH && dir != TOR_PLUS)
		way = dir == TOR_MINUS ? ways - 1 : dir - TOR_DIR_STEPS - 1;
	return way < ways ? tor_torus_port(t, dim, way) : t->ports;
}

/* Steps from @a to @b in one dimension, upwards. */
static u32 torus_steps_up(const struct tor_torus *t, u32 a, u32 b, u32 dim)
{
	u32 n = t->side[dim];

	return (tor_torus_coord(t, b, dim) + n - tor_torus_coord(t, a, dim)) % n;
}

static u32 torus_hops(const struct tor_torus *t, u32 a, u32 b, u32 dim)
{
	u32 from = tor_torus_coord(t, a, dim), to = tor_torus_coord(t, b, dim), up;

	switch (t->kind[dim]) {
	case TORCOLL_KIND_LINE:
		return from < to ? to - from : from - to;
	case TORCOLL_KIND_MESH:
		return from != to;
	default:
		up = torus_steps_up(t, a, b, dim);
		return min(up, t->side[dim] - up);
	}
}

u32 tor_torus_distance(const struct tor_torus *t, u32 a, u32 b)
{
	u32 d, hops = 0;

	if (tor_torus_has_chords(t))
		return tor_layers_hops(t, torus_steps_up(t, a, b, 0));
	for (d = 0; d < t->ndim; d++)
		hops += torus_hops(t, a, b, d);
	return hops;
}

bool tor_torus_ties(const struct tor_torus *t, u32 a, u32 b)
{
	u32 d, ports;

	if (tor_torus_has_chords(t)) {
		ports = tor_layers_first_ports(t, torus_steps_up(t, a, b, 0));
		return ports & (ports - 1);
	}
	for (d = 0; d < t->ndim; d++)
		if (t->kind[d] == TORCOLL_KIND_RING &&
		    torus_steps_up(t, a, b, d) * 2 == t->side[d] &&
		    (t->side[d] > 2 || t->cables == 2))
			return true;
	return false;
}

u32 tor_torus_diameter(const struct tor_torus *t)
{
	u32 d, hops = 0;

	if (tor_torus_has_chords(t))
		return tor_layers_depth(t);
	for (d = 0; d < t->ndim; d++) {
		switch (t->kind[d]) {
		case TORCOLL_KIND_LINE:
			hops += t->side[d] - 1;
			break;
		case TORCOLL_KIND_MESH:
			hops += t->side[d] > 1;
			break;
		default:
			hops += t->side[d] / 2;
		}
	}
	return hops;
}
