// SPDX-License-Identifier: GPL-2.0
/*
 * Rules about hosts: of another shape, without the fabric, of a wrong number,
 * dead, with ports missing. Which node a host should be is what its neighbours'
 * ports say: each votes for the node that it expects at the other end of its
 * cable.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define LIST_PORTS	4	/* named in a sentence */

/* What the neighbours of a host say. */
struct votes {
	uint32_t all, own;
	uint32_t best, node;	/* most votes, and for which node */
};

/* Return the node that the port at the other end expects, or MAP_NOBODY. */
static uint32_t node_expected(const struct check *c, const struct survey_port *port)
{
	const struct survey_port *q = port->other;
	uint32_t node;

	if (!q || !check_is_member(c, q))
		return MAP_NOBODY;
	node = map_index(c->m, q->owner);
	if (node == MAP_NOBODY || !shape_has_port(&c->m->shape, node, q->dim, q->dir))
		return MAP_NOBODY;
	return shape_neighbour(&c->m->shape, node, q->dim, q->dir);
}

static uint32_t votes_for(const struct check *c, const struct survey_host *host, uint32_t node)
{
	uint32_t n = 0;
	unsigned int i;

	for (i = 0; i < host->nports; i++)
		n += node_expected(c, &host->ports[i]) == node;
	return n;
}

static struct votes votes_of(const struct check *c, const struct survey_host *host)
{
	struct votes v = { .node = MAP_NOBODY };
	unsigned int i;

	v.own = votes_for(c, host, map_index(c->m, host));
	for (i = 0; i < host->nports; i++) {
		uint32_t node = node_expected(c, &host->ports[i]), n;

		if (node == MAP_NOBODY)
			continue;
		v.all++;
		n = votes_for(c, host, node);
		if (n > v.best) {
			v.best = n;
			v.node = node;
		}
	}
	return v;
}

static const char *fmt_shape(const struct shape *shape)
{
	return fmt_str("%s%s", shape_dims(shape), shape->cables == 2 ? " cables 2" : "");
}

/* To make a host the node that it should be: by the fabric's file, or by hand. */
static const char *fmt_remedy(const struct check *c, const struct survey_host *host, uint32_t node)
{
	return fmt_str("on %s: torcollctl apply FILE, with index = %u for it (by hand: fabric add %llu dims %s node %u)",
		       fmt_plain(host->name), node, (unsigned long long)c->m->key,
		       fmt_shape(&c->m->shape), node);
}

static void say_shape(struct check *c, const struct survey_host *host,
		      const struct survey_node *node, uint32_t place)
{
	const char *name = check_host(c, host);
	struct shape own;
	struct finding *f;

	f = check_say(c, "shape",
		      fmt_str("%s has dims %s, most hosts %s", name,
			      shape_from_sides(node->side, node->cables, &own) ? fmt_shape(&own) :
										  "of no torus",
			      fmt_shape(&c->m->shape)),
		      fmt_remedy(c, host, place));
	f->host = host;
	f->node = place;
}

static void say_elsewhere(struct check *c, const struct survey_host *host, uint32_t place)
{
	const char *name = fmt_plain(host->name), *where = "in no fabric";
	struct finding *f;

	if (host->nnodes)
		where = fmt_str("in fabric %llu", (unsigned long long)host->nodes[0].key);
	f = check_say(c, host->nnodes ? "key" : "unconfigured",
		      fmt_str("%s is %s, but its cables say node %u of fabric %llu", name, where, place,
			      (unsigned long long)c->m->key),
		      fmt_remedy(c, host, place));
	f->host = host;
	f->node = place;
}

/* @place: MAP_NOBODY if @stated is no node of that shape, and the cables do not say which it is */
static void say_number(struct check *c, const struct survey_host *host, uint32_t stated,
		       uint32_t place)
{
	const char *name = fmt_plain(host->name);
	struct finding *f;

	if (place == MAP_NOBODY)
		f = check_say(c, "node",
			      fmt_str("%s says that it is node %u, but %s has nodes 0 to %u", name,
				      stated, shape_dims(&c->m->shape), c->m->shape.nodes - 1),
			      fmt_str("on %s: torcollctl apply FILE, with an index of its own for it",
				      name));
	else
		f = check_say(c, "node",
			      fmt_str("%s says that it is node %u, its cables say node %u", name,
				      stated, place),
			      fmt_remedy(c, host, place));
	f->host = host;
	f->node = place;
}

/*
 * Judge one host. Return the node that it is to count as from now on, or
 * MAP_NOBODY.
 */
static uint32_t judge_host(struct check *c, const struct survey_host *host)
{
	const struct survey_node *node = survey_node(host, c->m->key);
	uint32_t stated = map_index(c->m, host);
	struct votes v = votes_of(c, host);

	if (stated != MAP_NOBODY) {
		if (v.own || v.best < 2 || 2 * v.best <= v.all)
			return stated;
		say_number(c, host, stated, v.node);
		check_explain_host(c, host, EXPLAINED);
		return v.node;
	}
	/* nobody expects a node there: not a part of this fabric */
	if (v.node == MAP_NOBODY && !node)
		return MAP_NOBODY;
	if (node && map_has_shape(node, &c->m->shape))
		say_number(c, host, node->node, v.node);
	else if (node)
		say_shape(c, host, node, v.node == MAP_NOBODY ? node->node : v.node);
	else
		say_elsewhere(c, host, v.node);
	check_explain_host(c, host, EXPLAINED);
	return v.node;
}

/* From here on the hosts are those nodes that their cables say. */
static void judge_hosts(struct check *c)
{
	uint32_t *index = calloc(c->now->nhosts + 1, sizeof(*index));
	struct map *m;
	uint32_t i;

	if (!index)
		err(CTL_REFUSED, "no memory to check the fabric");
	for (i = 0; i < c->now->nhosts; i++)
		index[i] = judge_host(c, c->now->hosts[i]);
	m = map_new(c->now, c->m->key, index);
	free(index);
	map_free(c->m);
	c->m = m;
}

static void rule_duplicate(struct check *c)
{
	uint32_t i;

	for (i = 0; i < c->now->nhosts; i++) {
		const struct survey_host *host = c->now->hosts[i], *first;
		struct finding *f;

		if (c->m->index[i] == MAP_NOBODY)
			continue;
		first = c->m->host[c->m->index[i]];
		if (first == host)
			continue;
		f = check_say(c, "node", fmt_str("%s and %s are both node %u",
						 fmt_plain(first->name), fmt_plain(host->name),
						 c->m->index[i]),
			      "on one of them: torcollctl apply FILE, with an index of its own");
		f->host = host;
		f->node = c->m->index[i];
		check_explain_host(c, host, EXPLAINED);
		check_explain_host(c, first, EXPLAINED);
	}
}

/* The ports of a node's neighbours that should lead to it, and hear nobody. */
struct bereft {
	struct survey_port *port[MAX_PORTS];
	uint32_t n, neighbours, carriers, off;
	uint32_t without;	/* neighbours that have no such port */
};

static void bereft_of(const struct check *c, uint32_t node, struct bereft *b)
{
	uint32_t i;

	memset(b, 0, sizeof(*b));
	for (i = 0; i < shape_ports(&c->m->shape); i++) {
		struct shape_port at = shape_port(&c->m->shape, i);
		struct survey_port *port;

		if (!shape_has_port(&c->m->shape, node, at.dim, at.dir))
			continue;
		if (!c->m->host[shape_neighbour(&c->m->shape, node, at.dim, at.dir)])
			continue;
		b->neighbours++;
		port = map_partner(c->m, node, at.dim, at.dir);
		b->without += !port;
		if (!port || port->other)
			continue;
		b->port[b->n++] = port;
		b->carriers += !!(port->flags & TORCOLL_SURVEY_CARRIER);
		b->off += !(port->flags & TORCOLL_SURVEY_UP);
	}
}

static const char *fmt_bereft(const struct check *c, const struct bereft *b)
{
	const char *text = "";
	uint32_t i;

	for (i = 0; i < b->n && i < LIST_PORTS; i++)
		text = fmt_str("%s%s%s:%s", text, i ? ", " : "", fmt_plain(b->port[i]->owner->name),
			       fmt_plain(b->port[i]->own.device));
	if (b->n > LIST_PORTS)
		text = fmt_str("%s and %u more", text, b->n - LIST_PORTS);
	return text;
}

static const char *bereft_state(const struct bereft *b)
{
	if (b->off == b->n)
		return "are switched off";
	return b->carriers ? "hear nothing" : "have no carrier";
}

static const char *bereft_remedy(const struct bereft *b)
{
	if (b->n && b->off == b->n)
		return "ip link set DEV up for these, then check again";
	return b->carriers ? "is its kernel running, and torcoll loaded? modprobe torcoll there" :
			     "is that host on, and are its cables plugged in?";
}

static void say_dead(struct check *c, uint32_t node, const struct bereft *b)
{
	const char *place = shape_place(&c->m->shape, node), *what;
	struct finding *f;
	uint32_t i;

	if (b->n)
		what = fmt_str("node %u (%s) does not answer; its neighbours' %s %s", node, place,
			       fmt_bereft(c, b), bereft_state(b));
	else
		what = fmt_str("node %u (%s) does not answer; its neighbours have no port for it",
			       node, place);
	f = check_say(c, "dead", what, bereft_remedy(b));
	f->node = node;
	for (i = 0; i < b->n; i++)
		check_explain(c, b->port[i], EXPLAINED);
}

static void rule_dead(struct check *c)
{
	uint32_t hidden = 0, node;

	for (node = 0; node < c->m->shape.nodes; node++) {
		struct bereft b;

		if (c->m->host[node])
			continue;
		bereft_of(c, node, &b);
		if (b.n || b.without)
			say_dead(c, node, &b);
		else
			hidden += !b.neighbours;
	}
	if (hidden)
		check_say(c, "dead", fmt_str("%u more nodes do not answer, nor does any of their neighbours",
					     hidden),
			  "repair what is named here first, then check again");
}

/* The device of a host that the cable for this place ends at, or NULL if that is not known. */
static const char *device_for(const struct check *c, const struct survey_host *host, uint32_t node,
			      uint32_t dim, uint32_t dir)
{
	const struct survey_port *partner = map_partner(c->m, node, dim, dir);

	if (partner && partner->other && partner->other->owner == host)
		return fmt_plain(partner->other->own.device);
	return NULL;
}

static void missing_at(struct check *c, const struct survey_host *host, uint32_t node, uint32_t dim,
		       uint32_t dir)
{
	struct survey_port *partner = map_partner(c->m, node, dim, dir);
	const char *device = device_for(c, host, node, dim, dir);
	struct finding *f;

	/* hosts do not report devices that a bridge or bond has taken */
	f = check_say(c, "port", fmt_str("%s has no port for dim %u %s", check_host(c, host), dim,
					 dir_name(dir)),
		      fmt_str("there: torcollctl apply FILE (by hand: port add %llu dim %u dir %s dev %s)%s",
			      (unsigned long long)c->m->key, dim, dir_name(dir),
			      device ? device : "NAME",
			      device ? "" : "; if port show has it, take its device out of the bridge or bond: ip link set NAME nomaster"));
	f->host = host;
	f->node = node;
	check_explain(c, partner, EXPLAINED);
	if (partner)
		check_explain(c, partner->other, EXPLAINED);
}

static void missing_of(struct check *c, const struct survey_host *host, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < shape_ports(&c->m->shape); i++) {
		struct shape_port at = shape_port(&c->m->shape, i);

		if (shape_has_port(&c->m->shape, node, at.dim, at.dir) &&
		    c->m->host[shape_neighbour(&c->m->shape, node, at.dim, at.dir)] &&
		    !map_port(c->m, host, at.dim, at.dir))
			missing_at(c, host, node, at.dim, at.dir);
	}
}

static void rule_missing(struct check *c)
{
	uint32_t i;

	for (i = 0; i < c->now->nhosts; i++) {
		const struct survey_host *host = c->now->hosts[i];
		const struct survey_node *node = survey_node(host, c->m->key);

		/* of others, that are named already, the ports are of no use */
		if (c->m->index[i] != MAP_NOBODY && node && node->node == c->m->index[i] &&
		    c->m->host[node->node] == host && map_has_shape(node, &c->m->shape))
			missing_of(c, host, node->node);
	}
}

void check_hosts(struct check *c)
{
	judge_hosts(c);
	rule_duplicate(c);
	rule_dead(c);
	rule_missing(c);
}
