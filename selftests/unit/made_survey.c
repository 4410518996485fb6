// SPDX-License-Identifier: GPL-2.0
/* Surveys that exist in memory only. See made_survey.h. */
#include "host_env.h"
#include "made_survey.h"

#define CARRIER	(TORCOLL_SURVEY_UP | TORCOLL_SURVEY_CARRIER)
#define MTU	9000
#define SPEED	10000

struct survey_host *made_host(struct survey *s, const char *name, unsigned int ports)
{
	struct survey_host *h = calloc(1, sizeof(*h));
	unsigned int i;

	s->hosts = realloc(s->hosts, (s->nhosts + 1) * sizeof(*s->hosts));
	s->hosts[s->nhosts++] = h;
	h->id = s->nhosts;
	snprintf(h->name, sizeof(h->name), "%s", name);
	h->nports = ports;
	h->ports = calloc(ports, sizeof(*h->ports));
	for (i = 0; i < ports; i++) {
		struct survey_port *p = &h->ports[i];

		p->owner = h;
		p->own = (struct survey_end){ .host = h->id, .mtu = MTU };
		p->own.mac[0] = 2;
		p->own.mac[4] = s->nhosts;
		p->own.mac[5] = i;
		snprintf(p->own.device, sizeof(p->own.device), "eth%u", i);
		p->flags = TORCOLL_SURVEY_UP;
		p->speed = SPEED;
	}
	return h;
}

void made_cable(struct survey_port *a, struct survey_port *b)
{
	a->other = b;
	b->other = a;
	a->peer = b->own;
	b->peer = a->own;
	a->flags |= CARRIER;
	b->flags |= CARRIER;
}

static void no_carrier(struct survey_port *p)
{
	p->other = NULL;
	p->peer = (struct survey_end){ 0 };
	p->flags &= ~TORCOLL_SURVEY_CARRIER;
}

void made_cut(struct survey_port *p)
{
	no_carrier(p->other);
	no_carrier(p);
}

void made_cross(struct survey_port *p, struct survey_port *q)
{
	struct survey_port *p_other = p->other, *q_other = q->other;

	made_cable(p, q_other);
	made_cable(q, p_other);
}

void made_absent(struct survey *s, unsigned int host)
{
	struct survey_host *h = s->hosts[host];
	unsigned int i;

	for (i = 0; i < h->nports; i++) {
		struct survey_port *other = h->ports[i].other;

		if (other) {
			other->other = NULL;
			other->peer = (struct survey_end){ 0 };
		}
	}
	free(h->ports);
	free(h);
	s->nhosts--;
	memmove(&s->hosts[host], &s->hosts[host + 1], (s->nhosts - host) * sizeof(*s->hosts));
}

struct survey_port *made_any(const struct survey *s, u64 *seed)
{
	struct survey_port *p;

	do {
		struct survey_host *h = s->hosts[host_rand(seed) % s->nhosts];

		p = &h->ports[host_rand(seed) % h->nports];
	} while (!p->other);
	return p;
}

static void shuffle(u32 *list, u32 n, u64 *seed)
{
	u32 i;

	for (i = 0; i < n; i++)
		list[i] = i;
	for (; n > 1; n--) {
		u32 k = host_rand(seed) % n, other = list[k];

		list[k] = list[n - 1];
		list[n - 1] = other;
	}
}

static u32 ports_of(const struct tor_torus *t, u32 node)
{
	u32 n = 0, port;

	for (port = 0; port < t->ports; port++)
		n += tor_torus_has_port(t, node, port);
	return n;
}

struct survey *made_torus(const struct tor_torus *t, u64 *seed)
{
	struct survey *s = calloc(1, sizeof(*s));
	u32 *host = calloc(t->nodes, sizeof(*host));
	u32 (*device)[TOR_MAX_PORTS] = calloc(t->nodes, sizeof(*device));
	u32 node, port;

	shuffle(host, t->nodes, seed);
	for (node = 0; node < t->nodes; node++) {
		char name[8];
		u32 order[TOR_MAX_PORTS], n = 0, ports = ports_of(t, node);

		snprintf(name, sizeof(name), "h%03u", node % 1000);
		made_host(s, name, ports);
		shuffle(order, ports, seed);
		for (port = 0; port < t->ports; port++)
			if (tor_torus_has_port(t, node, port))
				device[node][port] = order[n++];
	}
	for (node = 0; node < t->nodes; node++) {
		for (port = 0; port < t->ports; port++) {
			u32 to = tor_torus_neighbour(t, node, port);
			u32 back = tor_torus_peer_port(t, port);

			if (tor_torus_has_port(t, node, port) && node < to)
				made_cable(&s->hosts[host[node]]->ports[device[node][port]],
					   &s->hosts[host[to]]->ports[device[to][back]]);
		}
	}
	free(host);
	free(device);
	return s;
}

void made_free(struct survey *s)
{
	unsigned int i;

	for (i = 0; i < s->nhosts; i++) {
		free(s->hosts[i]->ports);
		free(s->hosts[i]);
	}
	free(s->hosts);
	free(s);
}
