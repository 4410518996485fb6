// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Networks between the nodes. The torus is core's own. Others have links that a
 * torus does not have, and other routes; plans are not aware of them.
 *
 * HammingMesh (Hoefler et al. 2022): boards of a x a nodes in a mesh. The outer
 * ports of all boards in a row of nodes lead to switches of that row, and
 * likewise those of columns. A way through them counts as several hops of a
 * board, one link up and one down.
 *
 * HyperX, as in the Swing paper: every node has a link to each node of its row
 * and of its column. One hop for each dimension.
 *
 * Switch: every node has one port to a switch that joins all; one hop from any
 * node to any other.
 */
#include "model.h"

#include "core/host_shape.h"

#include <stdlib.h>

/*
 * For the routes: the board's side, hops of the way to another board, and the
 * chain that messages are added to, or NULL. One model runs at a time.
 */
static u32 board, crossing;
static struct model_chain *chain;

static s32 step(enum tor_dir dir)
{
	return dir == TOR_PLUS ? 1 : -1;
}

static u32 link_up(const struct tor_tally *t, u32 dim, enum tor_dir dir)
{
	return tor_torus_port(t->torus, dim, dir);
}

static u32 link_down(const struct tor_tally *t, u32 dim, enum tor_dir dir)
{
	return t->torus->ports + tor_torus_port(t->torus, dim, dir);
}

/*
 * Return the nodes between coordinate @x and the edge of its board on side
 * @dir.
 */
static u32 to_edge(u32 x, enum tor_dir dir)
{
	return dir == TOR_PLUS ? board - 1 - x % board : x % board;
}

/* Leave the board on side @out, enter the other's on side @in. */
static u32 cross_switch(struct tor_tally *t, u32 node, u32 dst, u32 d, enum tor_dir out,
			enum tor_dir in, u64 n, u32 share)
{
	u32 away = to_edge(tor_torus_coord(t->torus, node, d), out);
	u32 inside = to_edge(tor_torus_coord(t->torus, dst, d), in), edge;
	s64 by = tor_torus_coord(t->torus, dst, d) + (in == TOR_PLUS ? inside : -(s64)inside);

	edge = tor_torus_shift(t->torus, node, d, by - tor_torus_coord(t->torus, node, d));
	tor_tally_cross(t, node, d, step(out), away + 1, n, share, link_up(t, d, out));
	tor_tally_cross(t, edge, d, 1, 1, n, 0, link_down(t, d, in));
	/* from the edge inwards */
	tor_tally_cross(t, edge, d, -step(in), inside, n, share,
			link_up(t, d, in == TOR_PLUS ? TOR_MINUS : TOR_PLUS));
	return away + crossing + inside;
}

/*
 * Use the nearer edge of both boards; at equal distance, half of the data each
 * way.
 */
static u32 route_boards(struct tor_tally *t, u32 node, u32 dst, u32 d, u64 n)
{
	u32 x = tor_torus_coord(t->torus, node, d), y = tor_torus_coord(t->torus, dst, d);
	s32 out = to_edge(x, TOR_PLUS) - to_edge(x, TOR_MINUS);
	s32 in = to_edge(y, TOR_PLUS) - to_edge(y, TOR_MINUS);

	if (out && in)
		return cross_switch(t, node, dst, d, out < 0 ? TOR_PLUS : TOR_MINUS,
				    in < 0 ? TOR_PLUS : TOR_MINUS, 2 * n, 2);
	cross_switch(t, node, dst, d, out > 0 ? TOR_MINUS : TOR_PLUS, in > 0 ? TOR_MINUS : TOR_PLUS,
		     n, 1);
	return cross_switch(t, node, dst, d, out < 0 ? TOR_PLUS : TOR_MINUS,
			    in < 0 ? TOR_PLUS : TOR_MINUS, n, 1);
}

static u32 route_all_boards(struct tor_tally *t, u32 src, u32 dst, u64 n)
{
	u32 d, x, y, hops = 0, node = src, next;

	for (d = 0; d < t->torus->ndim; d++) {
		x = tor_torus_coord(t->torus, node, d);
		y = tor_torus_coord(t->torus, dst, d);
		next = node + (y - x) * t->torus->stride[d];
		if (x / board != y / board)
			hops += route_boards(t, node, next, d, n);
		else if (x != y)
			hops += x < y ? y - x : x - y;
		if (x / board == y / board && x != y)
			tor_tally_cross(t, node, d, x < y ? 1 : -1,
					x < y ? y - x : x - y, 2 * n, 2,
					link_up(t, d, x < y ? TOR_PLUS : TOR_MINUS));
		node = next;
	}
	return hops;
}

static u32 route_hammingmesh(struct tor_tally *t, u32 src, u32 dst, u64 n)
{
	u32 hops = route_all_boards(t, src, dst, n);

	if (chain)
		model_chain_add(chain, t, src, dst, hops);
	return hops;
}

/* Links by how far up the row they lead, those of dimension 0 first. */
static u32 route_hyperx(struct tor_tally *t, u32 src, u32 dst, u64 n)
{
	const struct tor_torus *torus = t->torus;
	u32 d, up, hops = 0, first = 0;

	for (d = 0; d < torus->ndim; first += torus->side[d++] - 1) {
		up = (tor_torus_coord(torus, dst, d) + torus->side[d] -
		      tor_torus_coord(torus, src, d)) % torus->side[d];
		if (!up)
			continue;
		src = tor_tally_cross(t, src, d, up, 1, 2 * n, 2, first + up - 1);
		hops++;
	}
	return hops;
}

static u32 links_hyperx(const struct tor_torus *torus)
{
	u32 d, links = 0;

	for (d = 0; d < torus->ndim; d++)
		links += torus->side[d] - 1;
	return links;
}

static u32 route_switch(struct tor_tally *t, u32 src, u32 dst, u64 n)
{
	tor_tally_cross(t, src, 0, 1, 1, 2 * n, 2, 0);
	tor_tally_cross(t, dst, 0, 1, 1, 2 * n, 0, 1);
	return 1;
}

bool model_fabric_init(struct model_fabric *fabric, const char *dims, enum model_topology topology,
		       u32 board)
{
	static const char *const prefix[] = { "", "hx", "hyperx-", "switch-" };
	u32 side[TOR_MAX_DIMS], ndim = host_shape_parse(dims, side), d;

	if (tor_torus_init(&fabric->torus, ndim, side, 2))
		return false;
	for (d = 0; topology != MODEL_TORUS && d < ndim; d++)
		if (fabric->torus.kind[d] != TORCOLL_KIND_RING)
			return false;
	for (d = 0; topology == MODEL_HAMMINGMESH && d < ndim; d++)
		if (!board || side[d] % board)
			return false;
	fabric->topology = topology;
	fabric->board = board;
	if (topology == MODEL_HAMMINGMESH)
		snprintf(fabric->name, sizeof(fabric->name), "hx%u-%s", board, dims);
	else
		snprintf(fabric->name, sizeof(fabric->name), "%s%s", prefix[topology], dims);
	return true;
}

double model_ports(const struct model_fabric *fabric)
{
	u32 d, dims = 0;

	if (fabric->topology == MODEL_SWITCH)
		return 1;
	for (d = 0; d < fabric->torus.ndim; d++)
		dims += fabric->torus.side[d] > 1;
	return 2 * dims;
}

/*
 * Find the longest chain of messages of a plan, in hops. Channels do not wait
 * for each other, and on equal sides are alike: where a plan can do with one,
 * its chain is found.
 */
static int find_chain(const struct model_run *run, const struct tor_call *call, const u32 *least,
		      u32 *hops)
{
	struct tor_call one = *call;
	struct model_chain c;
	struct tor_cost cost;
	struct tor_plan plan;
	struct tor_tally t;
	int err;

	one.param[TORCOLL_PARAM_CHANNELS] = 1;
	one.count = 2ULL * one.ranks;
	if (tor_plan_init(&plan, &one, 0, NULL))
		one = *call;
	tor_tally_init(&t, &run->fabric.torus);
	t.route = route_hammingmesh;
	t.links = 4 * run->fabric.torus.ndim;
	model_chain_begin(&c, &run->fabric.torus);
	chain = &c;
	err = tor_cost_walk(&t, &one, least, TOR_WALK_ANY, &cost, NULL);
	*hops = model_chain_end(&c, &t);
	chain = NULL;
	tor_tally_free(&t);
	return err;
}

int model_cost(const struct model_run *run, const struct tor_call *call, struct tor_cost *cost,
	       const char **why)
{
	const struct model_fabric *fabric = &run->fabric;
	u32 least[TOR_MAX_DIMS], d;
	struct tor_tally t;
	int err;

	tor_tally_init(&t, &fabric->torus);
	for (d = 0; d < fabric->torus.ndim; d++)
		least[d] = fabric->topology == MODEL_HAMMINGMESH ? fabric->board : 1;
	if (fabric->topology == MODEL_HAMMINGMESH) {
		board = fabric->board;
		crossing = run->profile.crossing;
		t.route = route_hammingmesh;
		t.links = 4 * fabric->torus.ndim;
	} else if (fabric->topology == MODEL_HYPERX) {
		t.route = route_hyperx;
		t.links = links_hyperx(&fabric->torus);
	} else if (fabric->topology == MODEL_SWITCH) {
		t.route = route_switch;
	}
	err = tor_cost_walk(&t, call, least, TOR_WALK_ANY, cost, why);
	tor_tally_free(&t);
	if (!err && fabric->topology == MODEL_HAMMINGMESH)
		err = find_chain(run, call, least, &cost->hops);
	return err;
}
