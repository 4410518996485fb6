/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Surveys of tori in which nothing is wrong, for tests to break. */
#ifndef _SURVEY_TORUS_H
#define _SURVEY_TORUS_H

#include "../../tools/torcollctl/ctl.h"
#include "../../tools/torcollctl/survey.h"
#include "../../tools/torcollctl/survey.c"

#define TORUS_KEY	1

static struct survey_port *torus_port(const struct survey *s, unsigned int host, const char *device)
{
	struct survey_port *port = survey_device(s->hosts[host], device);

	assert_non_null(port);
	return port;
}

/* A cable that works, between two ports; of NULL, none. */
static void torus_cable(struct survey_port *p, struct survey_port *q)
{
	if (p)
		p->other = q;
	if (q)
		q->other = p;
}

/* Pull the plug out of a port. */
static void torus_pull(struct survey_port *p)
{
	struct survey_port *q = p->other;

	torus_cable(p, NULL);
	if (q)
		torus_cable(q, NULL);
}

static void torus_add_port(struct survey_host *host, const struct shape *shape, uint32_t node,
			   uint32_t dim, uint32_t dir)
{
	struct survey_port *port = &host->ports[host->nports++];

	*port = (struct survey_port){
		.owner = host,
		.own = { .host = host->id, .mtu = 9000, .fabric = 77 },
		.flags = TORCOLL_SURVEY_UP | TORCOLL_SURVEY_CARRIER | TORCOLL_SURVEY_MEMBER |
			 TORCOLL_SURVEY_TESTED,
		.state = TORCOLL_LINK_STATE_UP,
		.dim = dim, .dir = dir, .key = TORUS_KEY, .speed = 10000,
		.expected = shape_neighbour(shape, node, dim, dir),
		.since_ms = 3600000, .rx_frames = 1000000, .tx_frames = 1000000,
		.pings = 100, .pongs = 100, .pinged = 100, .rtt_min_ns = 50000,
		.rtt_median_ns = 80000, .rate = 9000, .train = 64, .trains = 64,
	};
	port->heard = port->expected;
	snprintf(port->own.device, sizeof(port->own.device), "d%u%c", dim, dir ? 'm' : 'p');
}

static struct survey_host *torus_host(const struct shape *shape, uint32_t node)
{
	struct survey_host *host = calloc(1, sizeof(*host));
	uint32_t i;

	host->id = 1000 + node;
	snprintf(host->name, sizeof(host->name), "c%u", node);
	strcpy(host->version, "1.0");
	host->nodes = calloc(1, sizeof(*host->nodes));
	host->nnodes = 1;
	host->nodes[0] = (struct survey_node){
		.key = TORUS_KEY, .tag = 77, .node = node, .epoch = 1, .ndim = shape->ndim,
		.cables = shape->cables, .hello_ms = 200, .reached = shape->nodes,
		.ethertype = 0x88b5,
	};
	memcpy(host->nodes[0].side, shape->side, sizeof(shape->side));
	host->ports = calloc(MAX_PORTS, sizeof(*host->ports));
	for (i = 0; i < MAX_PORTS; i++)
		if (shape_has_port(shape, node, i / 2, i % 2))
			torus_add_port(host, shape, node, i / 2, i % 2);
	return host;
}

/* Hosts are numbered as their nodes. */
static struct survey *torus_survey(const char *dims)
{
	struct survey *s = calloc(1, sizeof(*s));
	struct shape shape = { 0 };
	uint32_t i, j;

	assert_int_equal(shape_parse(dims, &shape), 0);
	s->hosts = calloc(shape.nodes, sizeof(*s->hosts));
	s->nhosts = shape.nodes;
	for (i = 0; i < shape.nodes; i++)
		s->hosts[i] = torus_host(&shape, i);
	grow_slots(s);
	for (i = 0; i < shape.nodes; i++) {
		for (j = 0; j < s->hosts[i]->nports; j++) {
			struct survey_port *p = &s->hosts[i]->ports[j];
			char device[8];

			snprintf(device, sizeof(device), "d%u%c", p->dim, p->dir ? 'p' : 'm');
			p->other = torus_port(s, p->expected, device);
			p->peer = p->other->own;
		}
	}
	s->self = s->hosts[0];
	return s;
}

static void torus_host_free(struct survey_host *host)
{
	free(host->nodes);
	free(host->ports);
	free(host);
}

/* The host of that node does not answer. */
static void torus_kill(struct survey *s, uint32_t node)
{
	unsigned int i, at = 0;

	while (s->hosts[at]->id != 1000 + node)
		at++;
	for (i = 0; i < s->hosts[at]->nports; i++)
		torus_pull(&s->hosts[at]->ports[i]);
	torus_host_free(s->hosts[at]);
	s->nhosts--;
	memmove(&s->hosts[at], &s->hosts[at + 1], (s->nhosts - at) * sizeof(*s->hosts));
	s->nslots = 0;
	grow_slots(s);
}

static void torus_free(struct survey *s)
{
	while (s->nhosts)
		torus_host_free(s->hosts[--s->nhosts]);
	free(s->hosts);
	free(s->slot);
	free(s);
}

#endif
