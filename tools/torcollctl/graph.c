// SPDX-License-Identifier: GPL-2.0
/* The graph of a survey. See graph.h. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* Fewer hosts than that do not show a custom, unless they are all. */
#define OUTSIDE_HOSTS	3

static enum graph_use port_use(const struct survey_port *p)
{
	const uint16_t live = TORCOLL_SURVEY_UP | TORCOLL_SURVEY_CARRIER;

	if ((p->flags & live) != live)
		return GRAPH_DARK;
	if (p->flags & TORCOLL_SURVEY_MANY)
		return GRAPH_SWITCH;
	/* a cable has two ends that agree */
	if (!p->other || p->other->other != p)
		return GRAPH_SILENT;
	return p->other->owner == p->owner ? GRAPH_LOOP : GRAPH_CABLE;
}

static void add_host(struct graph *g, const struct survey_host *host)
{
	uint32_t at = g->nhosts++, i;

	g->host[at].host = host;
	g->host[at].port = g->nports;
	g->host[at].nports = host->nports;
	for (i = 0; i < host->nports; i++)
		g->port[g->nports++] = (struct graph_port){
			.port = &host->ports[i],
			.host = at,
			.to = GRAPH_NONE,
			.use = port_use(&host->ports[i]),
		};
}

/* Find the other ends; a cable into a port that is no cable's is none. */
static void join_ports(struct graph *g, const struct survey *s)
{
	uint32_t i;

	for (i = 0; i < g->nports; i++) {
		struct graph_port *p = &g->port[i];
		const struct survey_port *other = p->port->other;
		uint32_t host;

		if (p->use != GRAPH_CABLE && p->use != GRAPH_LOOP)
			continue;
		host = survey_place(s, other->owner);
		if (host == s->nhosts || port_use(other) != p->use) {
			p->use = GRAPH_SILENT;
			continue;
		}
		p->to = g->host[host].port + (other - other->owner->ports);
	}
}

/*
 * Return whether most hosts have a silent device of that name: it leads out of
 * the fabric, as that of the office's network does.
 */
static bool leads_outside(const struct graph *g, const char *device)
{
	uint32_t hosts = 0, i;

	for (i = 0; i < g->nports; i++)
		hosts += (g->port[i].use == GRAPH_SILENT || g->port[i].use == GRAPH_OUTSIDE) &&
			 !strcmp(g->port[i].port->own.device, device);
	return hosts > 1 && 2 * hosts > g->nhosts &&
	       (hosts >= OUTSIDE_HOSTS || hosts == g->nhosts);
}

static void count_silent(struct graph *g)
{
	uint32_t i;

	for (i = 0; i < g->nports; i++) {
		struct graph_port *p = &g->port[i];

		if (p->use == GRAPH_SILENT && leads_outside(g, p->port->own.device))
			p->use = GRAPH_OUTSIDE;
		if (p->use != GRAPH_SILENT)
			continue;
		g->host[p->host].silent++;
		g->silent++;
	}
}

static void count_cables(struct graph *g)
{
	uint32_t i;

	for (i = 0; i < g->nports; i++) {
		const struct graph_port *p = &g->port[i];
		uint8_t *n;

		if (p->use != GRAPH_CABLE)
			continue;
		n = &g->cables[p->host * g->nhosts + g->port[p->to].host];
		if (*n < UINT8_MAX)
			++*n;
		g->ncables += p->to > i;
	}
}

static void list_peers(struct graph *g)
{
	struct graph_peer *next = g->peers;
	uint32_t a, b;

	for (a = 0; a < g->nhosts; a++) {
		g->host[a].peer = next;
		for (b = 0; b < g->nhosts; b++)
			if (graph_cables(g, a, b))
				*next++ = (struct graph_peer){ b, graph_cables(g, a, b) };
		g->host[a].npeers = next - g->host[a].peer;
	}
}

struct graph *graph_new(const struct survey *s)
{
	struct graph *g = calloc(1, sizeof(*g));
	size_t ports = 0;
	uint32_t i;

	if (!g)
		return NULL;
	for (i = 0; i < s->nhosts; i++)
		ports += s->hosts[i]->nports;
	g->host = calloc(s->nhosts + 1, sizeof(*g->host));
	g->port = calloc(ports + 1, sizeof(*g->port));
	g->peers = calloc(ports + 1, sizeof(*g->peers));
	g->cables = calloc((size_t)s->nhosts * s->nhosts + 1, 1);
	if (!g->host || !g->port || !g->peers || !g->cables) {
		graph_free(g);
		return NULL;
	}
	for (i = 0; i < s->nhosts; i++)
		add_host(g, s->hosts[i]);
	survey_number(s);
	join_ports(g, s);
	count_silent(g);
	count_cables(g);
	list_peers(g);
	return g;
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	free(g->host);
	free(g->port);
	free(g->peers);
	free(g->cables);
	free(g);
}
