// SPDX-License-Identifier: GPL-2.0
/*
 * What ports are for. See roles.h.
 *
 * Cables that lead where the torus has one determine the roles of their ports.
 * A cable that does not is moved, if one of its ends is at a host that misses a
 * cable: this end stays. One for which no place is missing is beside another
 * one, or else spare. What is missing then gets ports that have no role.
 */
#include "core/link/cable.h"
#include "roles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t roles_port(const struct roles *r, uint32_t node, uint32_t port)
{
	const struct graph *g = r->w->g;
	uint32_t host = r->w->place.who[node], i;

	if (host == GRAPH_NONE)
		return GRAPH_NONE;
	for (i = 0; i < g->host[host].nports; i++)
		if (r->role[g->host[host].port + i] == port)
			return g->host[host].port + i;
	return GRAPH_NONE;
}

/* Return a port of @host with that use and no role that leads to @to, or any. */
static uint32_t find_port(const struct roles *r, uint32_t host, enum graph_use use, uint32_t to)
{
	const struct graph *g = r->w->g;
	uint32_t i;

	for (i = g->host[host].port; i < g->host[host].port + g->host[host].nports; i++) {
		const struct graph_port *p = &g->port[i];

		if (r->role[i] == ROLE_NONE && p->use == use &&
		    (to == GRAPH_NONE || g->port[p->to].host == to))
			return i;
	}
	return GRAPH_NONE;
}

/* Give roles to the ports of a cable of the torus, if there is one. */
static bool fit_cable(struct roles *r, uint32_t node, uint32_t port)
{
	const struct place *p = &r->w->place;
	uint32_t a = p->who[node], b = p->who[tor_torus_neighbour(&p->t, node, port)];
	uint32_t end;

	if (a == GRAPH_NONE && b == GRAPH_NONE)
		return true;
	if (a == GRAPH_NONE) {
		end = find_port(r, b, GRAPH_SILENT, GRAPH_NONE);
		port = tor_torus_peer_port(&r->w->place.t, port);
	} else {
		end = find_port(r, a, b == GRAPH_NONE ? GRAPH_SILENT : GRAPH_CABLE, b);
	}
	if (end == GRAPH_NONE)
		return false;
	r->role[end] = port;
	if (a != GRAPH_NONE && b != GRAPH_NONE)
		r->role[r->w->g->port[end].to] = tor_torus_peer_port(&r->w->place.t, port);
	return true;
}

/* Return whether a cable is there whose first end this is: of two ends, one. */
static bool leads(const struct tor_torus *t, uint32_t node, uint32_t port)
{
	if (!tor_torus_has_port(t, node, port))
		return false;
	if (t->kind[tor_port_dim(t, port)] == TORCOLL_KIND_MESH)
		return node < tor_torus_neighbour(t, node, port);
	return tor_port_way(t, port) == TOR_PLUS;
}

static void fit_cables(struct roles *r)
{
	const struct tor_torus *t = &r->w->place.t;
	uint32_t node, port;

	for (node = 0; node < t->nodes; node++)
		for (port = 0; port < t->ports; port++)
			if (leads(t, node, port) && !fit_cable(r, node, port))
				r->missing[r->nmissing++] = (struct role_link){
					node, port, GRAPH_NONE, GRAPH_NONE, false,
				};
}

/* ---- cables to be moved ---- */

/* Return how many ports of @host have the role @role. */
static uint32_t count_role(const struct roles *r, uint32_t host, uint32_t role)
{
	const struct graph_host *h = &r->w->g->host[host];
	uint32_t i, n = 0;

	for (i = 0; i < h->nports; i++)
		n += r->role[h->port + i] == role;
	return n;
}

/* Return the role of a cable that this port's cable is beside, or ROLE_NONE. */
static uint32_t role_beside(const struct roles *r, uint32_t port)
{
	const struct place *p = &r->w->place;
	uint32_t to = r->w->g->port[port].to, host = r->w->g->port[port].host;
	uint32_t node, role, n;

	for (node = 0; node < p->t.nodes && p->who[node] != host; node++)
		;
	for (role = 0; node < p->t.nodes && role < p->t.ports; role++) {
		if (!tor_torus_has_port(&p->t, node, role) ||
		    p->who[tor_torus_neighbour(&p->t, node, role)] != r->w->g->port[to].host)
			continue;
		n = count_role(r, host, role);
		if (n && n < TOR_LINK_CABLES)
			return role;
	}
	return ROLE_NONE;
}

/* Give the ports of a cable the roles of one that it is beside, if there is one. */
static bool fit_beside(struct roles *r, uint32_t port)
{
	uint32_t role = role_beside(r, port);

	if (role == ROLE_NONE)
		return false;
	r->role[port] = role;
	r->role[r->w->g->port[port].to] = tor_torus_peer_port(&r->w->place.t, role);
	return true;
}

/* Return a port of @host whose cable has no place, not even beside another one. */
static uint32_t lost_port(const struct roles *r, uint32_t host)
{
	const struct graph *g = r->w->g;
	uint32_t i;

	for (i = g->host[host].port; i < g->host[host].port + g->host[host].nports; i++)
		if (r->role[i] == ROLE_NONE && g->port[i].use == GRAPH_CABLE &&
		    role_beside(r, i) == ROLE_NONE)
			return i;
	return GRAPH_NONE;
}

/*
 * Return a port without a role that is best to be used: at first, if a cable is
 * to be moved (@cable), that of another one that has to be moved as well; at
 * last one of a cable.
 */
static uint32_t free_port(const struct roles *r, uint32_t host, bool cable)
{
	static const enum graph_use use[] = {
		GRAPH_DARK, GRAPH_SILENT, GRAPH_SWITCH, GRAPH_CABLE,
	};
	uint32_t port = cable ? lost_port(r, host) : GRAPH_NONE;
	uint32_t i;

	for (i = 0; port == GRAPH_NONE && i < sizeof(use) / sizeof(*use); i++)
		port = find_port(r, host, use[i], GRAPH_NONE);
	return port;
}

/* Return the other end of a missing link, GRAPH_NONE if @host has none of it. */
static uint32_t other_end(const struct roles *r, const struct role_link *l, uint32_t host)
{
	const struct place *p = &r->w->place;
	uint32_t a = p->who[l->node], b = p->who[tor_torus_neighbour(&p->t, l->node, l->port)];

	return a == host ? b : b == host ? a : GRAPH_NONE;
}

/*
 * How good a move is: to a port that a wrong cable leaves, any, one of a cable
 * that could stay beside another, or none.
 */
static int move_worth(const struct roles *r, uint32_t to)
{
	if (to == GRAPH_NONE)
		return 1;
	if (r->w->g->port[to].use != GRAPH_CABLE)
		return 3;
	return role_beside(r, to) == ROLE_NONE ? 4 : 2;
}

/* Find the best move of the cable's end @from; replace @best if it is better. */
static void consider(const struct roles *r, uint32_t keep, uint32_t from, struct role_move *best,
		     struct role_link **link, int *worth)
{
	uint32_t i;

	if (r->role[keep] != ROLE_NONE)
		return;
	for (i = 0; i < r->nmissing; i++) {
		struct role_link *l = &r->missing[i];
		uint32_t host = l->moved ? GRAPH_NONE :
				other_end(r, l, r->w->g->port[keep].host), to;

		if (host == GRAPH_NONE)
			continue;
		to = free_port(r, host, true);
		if (move_worth(r, to) <= *worth)
			continue;
		*worth = move_worth(r, to);
		*best = (struct role_move){ keep, from, to, host, GRAPH_NONE };
		*link = l;
	}
}

static void give_role(struct roles *r, uint32_t port, const struct role_link *l)
{
	bool plus = r->w->g->port[port].host == r->w->place.who[l->node];

	r->role[port] = plus ? l->port : tor_torus_peer_port(&r->w->place.t, l->port);
}

static void move_cable(struct roles *r, uint32_t port)
{
	uint32_t other = r->w->g->port[port].to;
	struct role_link *link = NULL;
	struct role_move best;
	int worth = 0;

	consider(r, port, other, &best, &link, &worth);
	consider(r, other, port, &best, &link, &worth);
	if (!link) {
		if (!fit_beside(r, port))
			r->spare[r->nspares++] = port;
		return;
	}
	link->moved = true;
	give_role(r, best.keep, link);
	if (best.to != GRAPH_NONE)
		give_role(r, best.to, link);
	r->move[r->nmoves++] = best;
}

/* Move those of the cables that are beside another one, or that are not. */
static void move_wrong(struct roles *r, bool *wrong, bool beside)
{
	uint32_t i;

	for (i = 0; i < r->w->g->nports; i++) {
		if (!wrong[i] || (role_beside(r, i) != ROLE_NONE) != beside)
			continue;
		wrong[i] = false;
		move_cable(r, i);
	}
}

/*
 * Whether the cable is in its place is to be asked before any is moved. What
 * is beside another one stays there, if others suffice.
 */
static int move_cables(struct roles *r)
{
	const struct graph *g = r->w->g;
	bool *wrong = calloc(g->nports + 1, sizeof(*wrong));
	uint32_t i, j;

	if (!wrong)
		return -ENOMEM;
	for (i = 0; i < g->nports; i++)
		wrong[i] = g->port[i].use == GRAPH_CABLE && r->role[i] == ROLE_NONE &&
			   g->port[i].to > i;
	move_wrong(r, wrong, false);
	move_wrong(r, wrong, true);
	/* beside one that is there by now, or that was one of too many */
	move_wrong(r, wrong, false);
	for (i = 0; i < r->nmoves; i++)
		for (j = 0; j < r->nmoves; j++)
			if (r->move[i].to == r->move[j].from && r->move[i].from == r->move[j].to)
				r->move[i].swap = j;
	free(wrong);
	return 0;
}

/* ---- cables to be connected ---- */

static void connect_missing(struct roles *r)
{
	const struct place *p = &r->w->place;
	uint32_t i;

	for (i = 0; i < r->nmissing; i++) {
		struct role_link *l = &r->missing[i];
		uint32_t a = p->who[l->node];
		uint32_t b = p->who[tor_torus_neighbour(&p->t, l->node, l->port)];

		if (l->moved)
			continue;
		if (a != GRAPH_NONE)
			l->from = free_port(r, a, false);
		if (l->from != GRAPH_NONE)
			give_role(r, l->from, l);
		if (b != GRAPH_NONE)
			l->to = free_port(r, b, false);
		if (l->to != GRAPH_NONE)
			give_role(r, l->to, l);
	}
}

/* Cables that were moved are not missing any more. */
static void drop_moved(struct roles *r)
{
	uint32_t n = 0, i;

	for (i = 0; i < r->nmissing; i++)
		if (!r->missing[i].moved)
			r->missing[n++] = r->missing[i];
	r->nmissing = n;
}

int roles_find(struct roles *r, const struct wiring *w)
{
	const struct graph *g = w->g;
	int err;

	*r = (struct roles){ .w = w };
	r->role = malloc(g->nports + 1);
	r->spare = calloc(g->nports + 1, sizeof(*r->spare));
	r->move = calloc(g->nports + 1, sizeof(*r->move));
	r->missing = calloc(w->place.who ? place_edges(&w->place.t, 0) + 1 : 1,
			    sizeof(*r->missing));
	if (!r->role || !r->spare || !r->move || !r->missing)
		return -ENOMEM;
	memset(r->role, ROLE_NONE, g->nports + 1);
	if (!w->place.who)
		return 0;
	fit_cables(r);
	err = move_cables(r);
	drop_moved(r);
	connect_missing(r);
	return err;
}

void roles_free(struct roles *r)
{
	free(r->role);
	free(r->spare);
	free(r->move);
	free(r->missing);
}
