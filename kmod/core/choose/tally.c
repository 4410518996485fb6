// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Loads of links and nodes, round by round. See tally.h. */
#include "core/choose/tally.h"

#include "core/layers.h"

#define CLEARED		32		/* loads, in the time of a step */

u32 tor_tally_class(const struct tor_tally *t, u32 node)
{
	u32 d, class = 0;

	for (d = t->torus->ndim; d-- > 0;)
		class = class * t->period[d] + tor_torus_coord(t->torus, node, d) % t->period[d];
	return class;
}

static void tally_add_load(struct tor_tally *t, u32 class, u32 link, u64 n)
{
	u64 *load = &t->load[class * t->links + link];

	*load += n;
	t->peak = max(t->peak, *load);
}

u32 tor_tally_cross(struct tor_tally *t, u32 node, u32 dim, s32 step, u32 hops, u64 n, u32 share,
		    u32 link)
{
	u32 m = t->period[dim], i, times, class, at = node;

	t->steps += min(hops, m);
	/* a way of many periods crosses the links of a class several times */
	for (i = 0; i < min(hops, m); i++) {
		times = (hops - i + m - 1) / m;
		class = tor_tally_class(t, at);
		tally_add_load(t, class, link, n * times);
		/* sender and forwarders; tor_tally_message() counts the receiver */
		t->handled[class] += share * times;
		at = tor_torus_shift(t->torus, at, dim, step);
	}
	return tor_torus_shift(t->torus, node, dim, (s64)hops * step);
}

/* Crosses @hops links by @way of a ring or line, with @halves of a message of @n elements. */
static u32 tally_go(struct tor_tally *t, u32 node, u32 d, enum tor_dir way, u32 hops, u64 n,
		    u32 halves)
{
	return tor_tally_cross(t, node, d, way == TOR_PLUS ? 1 : -1, hops, halves * n, halves,
			       tor_torus_port(t->torus, d, way));
}

static u32 tally_route_ring(struct tor_tally *t, u32 *node, u32 d, u32 up, u64 n)
{
	const struct tor_torus *torus = t->torus;
	u32 side = torus->side[d], hops = min(up, side - up);
	enum tor_dir way = 2 * up > side ? TOR_MINUS : TOR_PLUS;

	/* one cable on a side of 2: up from 0, down from 1 */
	if (side == 2 && torus->cables == 1)
		way = tor_torus_coord(torus, *node, d) ? TOR_MINUS : TOR_PLUS;
	else if (2 * up == side) {
		tally_go(t, *node, d, TOR_MINUS, hops, n, 1);
		*node = tally_go(t, *node, d, TOR_PLUS, hops, n, 1);
		return hops;
	}
	*node = tally_go(t, *node, d, way, hops, n, 2);
	return hops;
}

/* Routes along one dimension. Returns the hops and, in @node, the end. */
static u32 tally_route_side(struct tor_tally *t, u32 *node, u32 dst, u32 d, u64 n)
{
	const struct tor_torus *torus = t->torus;
	u32 from = tor_torus_coord(torus, *node, d), to = tor_torus_coord(torus, dst, d);
	u32 up = (to + torus->side[d] - from) % torus->side[d], hops;

	if (!up)
		return 0;
	switch (torus->kind[d]) {
	case TORCOLL_KIND_LINE:
		hops = from < to ? up : from - to;
		*node = tally_go(t, *node, d, from < to ? TOR_PLUS : TOR_MINUS, hops, n, 2);
		return hops;
	case TORCOLL_KIND_MESH:
		*node = tor_tally_cross(t, *node, d, up, 1, 2 * n, 2,
					tor_torus_port(torus, d, up - 1));
		return 1;
	default:
		return tally_route_ring(t, node, d, up, n);
	}
}

/*
 * Goes the ways of tor_routes_port() in a ring with chords: to the neighbour by
 * the lowest port that leads nearer, or by the highest.
 */
static u32 tally_go_chords(struct tor_tally *t, u32 src, u32 dst, bool highest, u64 n, u32 halves)
{
	const struct tor_torus *torus = t->torus;
	u32 side = torus->side[0], hops, ports, port, step;

	for (hops = 0; src != dst; hops++) {
		ports = t->first[(dst + side - src) % side];
		while (highest && ports & (ports - 1))
			ports &= ports - 1;
		port = __ffs64(ports);
		step = torus->step[tor_port_dim(torus, port)];
		src = tor_tally_cross(t, src, 0, tor_port_way(torus, port) == TOR_PLUS ? (s32)step :
				      -(s32)step, 1, halves * n, halves, port);
	}
	return hops;
}

static u32 tally_route_chords(struct tor_tally *t, u32 src, u32 dst, u64 n)
{
	u32 ports = t->first[(dst + t->torus->side[0] - src) % t->torus->side[0]];

	if (!(ports & (ports - 1)))
		return tally_go_chords(t, src, dst, false, n, 2);
	tally_go_chords(t, src, dst, false, n, 1);
	return tally_go_chords(t, src, dst, true, n, 1);
}

static void tally_find_first_ports(struct tor_tally *t)
{
	struct tor_layers l;
	u32 node;

	tor_layers_begin(&l, t->torus);
	while (tor_layers_next(&l))
		for (node = 1; node < t->torus->nodes; node++)
			if (tor_layer_has(l.at, node))
				t->first[node] = tor_layers_ports(&l, node);
}

static u32 tally_route_torus(struct tor_tally *t, u32 src, u32 dst, u64 n)
{
	u32 d, hops = 0;

	for (d = 0; d < t->torus->ndim; d++)
		hops += tally_route_side(t, &src, dst, d, n);
	return hops;
}

void tor_tally_init(struct tor_tally *t, const struct tor_torus *torus)
{
	*t = (struct tor_tally){
		.torus = torus,
		.links = torus->ports,
		.route = tor_torus_has_chords(torus) ? tally_route_chords : tally_route_torus,
	};
}

void tor_tally_free(struct tor_tally *t)
{
	tor_env_table_free(t->load);
	tor_env_table_free(t->handled);
	tor_env_table_free(t->first);
	t->load = NULL;
	t->handled = NULL;
	t->first = NULL;
	t->room = 0;
}

static int tally_make_room(struct tor_tally *t)
{
	if (t->classes <= t->room)
		return 0;
	tor_tally_free(t);
	t->load = tor_env_table_alloc((size_t)t->classes * t->links * sizeof(*t->load));
	t->handled = tor_env_table_alloc((size_t)t->classes * sizeof(*t->handled));
	if (tor_torus_has_chords(t->torus))
		t->first = tor_env_table_alloc(t->torus->nodes * sizeof(*t->first));
	if (!t->load || !t->handled || (tor_torus_has_chords(t->torus) && !t->first)) {
		tor_tally_free(t);
		return -ENOMEM;
	}
	if (t->first)
		tally_find_first_ports(t);
	t->room = t->classes;
	return 0;
}

void tor_tally_begin(struct tor_tally *t)
{
	t->peak = 0;
	t->longest = 0;
	t->any = false;
	t->round_messages = 0;
	t->round_sent = 0;
	t->round_moved = 0;
}

int tor_tally_part(struct tor_tally *t, const u32 *period)
{
	u32 d;
	int err;

	t->classes = 1;
	for (d = 0; d < t->torus->ndim; d++) {
		t->period[d] = period ? period[d] : t->torus->side[d];
		t->classes *= t->period[d];
	}
	err = tally_make_room(t);
	if (err)
		return err;
	t->steps += (u64)t->classes * t->links / CLEARED;
	memset(t->load, 0, (size_t)t->classes * t->links * sizeof(*t->load));
	memset(t->handled, 0, (size_t)t->classes * sizeof(*t->handled));
	return 0;
}

void tor_tally_message(struct tor_tally *t, u32 src, u32 dst, u64 n)
{
	u32 hops = t->route(t, src, dst, n), alike = t->torus->nodes / t->classes;

	t->handled[tor_tally_class(t, dst)] += 2;
	t->longest = max(t->longest, hops);
	t->any = true;
	t->round_messages += 2ULL * (hops + 1) * alike;
	t->round_sent += n * alike;
	t->round_moved += n * alike * (2 * TOR_TALLY_WHOLE + hops - 1);
}

void tor_tally_end(struct tor_tally *t, u32 times)
{
	t->messages += t->round_messages * times;
	t->rounds += t->any ? times : 0;
	t->hops += t->longest * times;
	t->w += t->peak * times;
	t->sent += t->round_sent * times;
	t->moved += t->round_moved * times;
}
