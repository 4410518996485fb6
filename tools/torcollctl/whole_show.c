// SPDX-License-Identifier: GPL-2.0
/* torcollctl fabric show --all: every node and every link of a fabric. */
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "whole.h"

/* --- JSON --- */

static void add_u64(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void add_str(struct json_object *o, const char *name, const char *value)
{
	json_object_object_add(o, name, json_object_new_string(value));
}

static struct json_object *json_coord(const struct shape *shape, uint32_t node)
{
	struct json_object *coord = json_object_new_array();
	uint32_t i;

	for (i = 0; i < shape_axes(shape); i++)
		json_object_array_add(coord,
				      json_object_new_int64(shape_coord(shape, node, i)));
	return coord;
}

static void json_host(struct json_object *o, const struct survey_host *host,
		      const struct survey_node *node)
{
	add_str(o, "host", host->name);
	add_str(o, "version", host->version);
	add_str(o, "checksum", node->checksum ? "header" : "full");
	add_u64(o, "rates", node->rates);
	add_u64(o, "epoch", node->epoch);
	add_u64(o, "reached", node->reached);
	add_u64(o, "dead_links", node->dead_links);
	add_u64(o, "comms", node->comms);
	add_u64(o, "ops", node->ops);
	add_u64(o, "retransmits", node->retransmits);
}

static struct json_object *json_nodes(const struct map *m)
{
	struct json_object *nodes = json_object_new_array();
	uint32_t i;

	for (i = 0; i < m->shape.nodes; i++) {
		struct json_object *o = json_object_new_object();

		add_u64(o, "node", i);
		json_object_object_add(o, "coord", json_coord(&m->shape, i));
		json_object_object_add(o, "answers", json_object_new_boolean(!!m->host[i]));
		if (m->host[i])
			json_host(o, m->host[i], survey_node(m->host[i], m->key));
		json_object_array_add(nodes, o);
	}
	return nodes;
}

static struct json_object *json_end(const struct map *m, const struct map_link *link, int end)
{
	const struct survey_port *port = link->port[end];
	struct json_object *o = json_object_new_object();

	add_u64(o, "node", link->node[end]);
	if (m->host[link->node[end]])
		add_str(o, "host", m->host[link->node[end]]->name);
	if (!port)
		return o;
	add_str(o, "device", port->own.device);
	add_str(o, "state", link_state_name(port->state));
	add_u64(o, "since_ms", port->since_ms);
	add_u64(o, "speed", port->speed);
	add_u64(o, "mtu", port->own.mtu);
	add_u64(o, "rx_frames", port->rx_frames);
	add_u64(o, "tx_frames", port->tx_frames);
	add_u64(o, "lost", port->lost);
	add_u64(o, "damaged", port->damaged);
	add_u64(o, "resent", port->resent);
	add_u64(o, "downs", port->downs);
	return o;
}

static struct json_object *json_links(const struct map *m)
{
	struct json_object *links = json_object_new_array();
	uint32_t i;

	for (i = 0; i < m->nlinks; i++) {
		const struct map_link *link = &m->link[i];
		struct json_object *o = json_object_new_object(), *ends = json_object_new_array();

		add_u64(o, "dim", link->dim);
		json_object_object_add(o, "up", json_object_new_boolean(map_link_up(link)));
		json_object_array_add(ends, json_end(m, link, 0));
		json_object_array_add(ends, json_end(m, link, 1));
		json_object_object_add(o, "ends", ends);
		json_object_array_add(links, o);
	}
	return links;
}

/* A list, as other views print one. */
static void print_json(const struct map *m)
{
	struct json_object *list = json_object_new_array(), *o = json_object_new_object();
	uint32_t word[MAX_DIMS];

	add_u64(o, "key", m->key);
	shape_sides(&m->shape, word);
	shape_to_json(o, m->shape.ndim, word);
	add_u64(o, "cables", m->shape.cables);
	json_object_object_add(o, "nodes", json_nodes(m));
	json_object_object_add(o, "links", json_links(m));
	json_object_array_add(list, o);
	js_print(list);
	json_object_put(list);
}

/* --- text --- */

static enum link_look look_of_link(void *arg, uint32_t node, uint32_t dim, uint32_t dir)
{
	const struct map *m = arg;
	const struct survey_port *port = map_port(m, m->host[node], dim, dir);

	if (!m->host[node])
		return LINK_UNSEEN;
	return port && port->state == TORCOLL_LINK_STATE_UP ? LINK_GOOD : LINK_BAD;
}

static void print_head(const struct map *m)
{
	uint32_t i, up = 0;

	for (i = 0; i < m->nlinks; i++)
		up += map_link_up(&m->link[i]);
	printf("fabric %llu: %s of %u nodes, %u answer, %u of %u links up\n\n",
	       (unsigned long long)m->key,
	       shape_noun(&m->shape),
	       m->shape.nodes, m->answered, up, m->nlinks);
}

static void print_picture(struct map *m)
{
	uint32_t self = m->s->self ? map_index(m, m->s->self) : MAP_NOBODY;
	struct drawing d = { &m->shape, self, look_of_link, NULL, m };

	if (m->shape.nodes < 2)
		return;
	draw_torus(&d);
	printf("\n    [ ] this node   - |%s link up   x not up   . : neither end answers\n",
	       m->shape.ndim > 2 ? " /" : "");
	if (*draw_note(&m->shape))
		printf("    %s\n", draw_note(&m->shape));
	putchar('\n');
}

static void print_nodes(const struct map *m)
{
	struct table t = { 0 };
	uint32_t i;

	TABLE_ROW(&t, "NODE", "COORD", "HOST", "VERSION", "CHECKSUM", "RATES", "REACHES", "COMMS",
		  "OPS", "RESENT");
	for (i = 0; i < m->shape.nodes; i++) {
		const struct survey_host *host = m->host[i];
		const struct survey_node *node = host ? survey_node(host, m->key) : NULL;

		if (!node) {
			TABLE_ROW(&t, fmt_str("%u", i), shape_place(&m->shape, i), "no answer",
				  "", "", "", "", "", "", "");
			continue;
		}
		TABLE_ROW(&t, fmt_str("%u", i), shape_place(&m->shape, i), fmt_plain(host->name),
			  fmt_plain(host->version), node->checksum ? "header" : "full",
			  node->rates ? fmt_str("%08x", node->rates) : "default",
			  fmt_str("%u", node->reached), fmt_str("%u", node->comms),
			  fmt_str("%u", node->ops),
			  fmt_str("%llu", (unsigned long long)node->retransmits));
	}
	table_print(&t);
}

static const char *fmt_end(const struct map *m, const struct map_link *link, int end)
{
	const struct survey_host *host = m->host[link->node[end]];
	const struct survey_port *port = link->port[end];

	return fmt_str("%u %s:%s", link->node[end], host ? fmt_plain(host->name) : "no answer",
		       port ? fmt_plain(port->own.device) : "no port");
}

/* What both ends state; once if it is the same. */
static const char *fmt_both(const struct map_link *link, const char *a, const char *b)
{
	if (!link->port[0] || !link->port[1])
		return link->port[0] ? a : link->port[1] ? b : "";
	return strcmp(a, b) ? fmt_str("%s/%s", a, b) : a;
}

static const char *fmt_state(const struct map_link *link)
{
	return fmt_both(link, link->port[0] ? link_state_name(link->port[0]->state) : "",
			link->port[1] ? link_state_name(link->port[1]->state) : "");
}

static const char *fmt_since(const struct map_link *link)
{
	uint64_t ms = UINT64_MAX;
	int end;

	for (end = 0; end < 2; end++)
		if (link->port[end] && link->port[end]->since_ms < ms)
			ms = link->port[end]->since_ms;
	if (ms == UINT64_MAX)
		return "";
	if (ms < 120000)
		return fmt_str("%llu s", (unsigned long long)ms / 1000);
	if (ms < 7200000)
		return fmt_str("%llu min", (unsigned long long)ms / 60000);
	return fmt_str("%llu h", (unsigned long long)ms / 3600000);
}

static uint64_t counter_of(const struct survey_port *port, size_t at, size_t size)
{
	const char *p = (const char *)port + at;

	return size == 8 ? *(const uint64_t *)p : *(const uint32_t *)p;
}

static const char *fmt_counter(const struct map_link *link, size_t at, size_t size)
{
	const char *text[2] = { "", "" };
	int end;

	for (end = 0; end < 2; end++)
		if (link->port[end])
			text[end] = fmt_str("%llu", (unsigned long long)
					    counter_of(link->port[end], at, size));
	return fmt_both(link, text[0], text[1]);
}

#define COUNTER(_link, _member)	fmt_counter(_link, offsetof(struct survey_port, _member), \
					    sizeof(((struct survey_port *)0)->_member))

static void print_links(const struct map *m)
{
	struct table t = { 0 };
	uint32_t i;

	putchar('\n');
	TABLE_ROW(&t, "DIM", "FROM PLUS OF", "TO MINUS OF", "STATE", "SINCE", "MBIT/S", "LOST",
		  "DAMAGED", "RESENT", "DOWNS");
	for (i = 0; i < m->nlinks; i++) {
		const struct map_link *link = &m->link[i];
		char from[128], to[128], state[64];

		/* texts of fmt_str() do not outlast a whole row */
		snprintf(from, sizeof(from), "%s", fmt_end(m, link, 0));
		snprintf(to, sizeof(to), "%s", fmt_end(m, link, 1));
		snprintf(state, sizeof(state), "%s", fmt_state(link));
		TABLE_ROW(&t, fmt_str("%u", link->dim), from, to, state, fmt_since(link),
			  COUNTER(link, speed), COUNTER(link, lost), COUNTER(link, damaged),
			  COUNTER(link, resent), COUNTER(link, downs));
	}
	table_print(&t);
	printf("\na/b: at the first and at the second end; LOST and DAMAGED on the way to it\n");
}

int whole_show(struct args *a)
{
	struct whole w = { 0 };
	struct survey *s;
	struct map *m;
	int ret;

	while (a->argc) {
		ret = whole_word(a, &w);
		if (ret)
			return ret < 0 ? arg_end(a) : ret;
	}
	if (whole_open(&w))
		return CTL_USAGE;
	s = survey_new();
	ret = whole_take(&w, s, false);
	m = ret ? NULL : map_new(s, w.key, NULL);
	if (m && opt.json) {
		print_json(m);
	} else if (m) {
		print_head(m);
		print_picture(m);
		print_nodes(m);
		print_links(m);
	} else if (!ret) {
		ret = whole_nobody(&w);
	}
	map_free(m);
	survey_free(s);
	whole_close(&w);
	return ret;
}
