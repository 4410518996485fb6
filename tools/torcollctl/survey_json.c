// SPDX-License-Identifier: GPL-2.0
/*
 * Surveys as JSON: written and read. Numbers of hosts are text of 16 hex
 * digits, since many programs keep 53 bits of a number only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "survey.h"

/* A member of a struct that is a number in JSON under the same name. */
struct number {
	const char *name;
	size_t at, size;
};

#define NUMBER(_type, _member) \
	{ #_member, offsetof(struct _type, _member), sizeof(((struct _type *)0)->_member) }

static const struct number node_numbers[] = {
	NUMBER(survey_node, key), NUMBER(survey_node, tag), NUMBER(survey_node, node),
	NUMBER(survey_node, epoch), NUMBER(survey_node, cables), NUMBER(survey_node, hello_ms),
	NUMBER(survey_node, rates), NUMBER(survey_node, comms), NUMBER(survey_node, ops),
	NUMBER(survey_node, reached), NUMBER(survey_node, dead_links), NUMBER(survey_node, view),
	NUMBER(survey_node, ethertype), NUMBER(survey_node, checksum),
	NUMBER(survey_node, byte_order), NUMBER(survey_node, retransmits),
};

static const struct number member_numbers[] = {
	NUMBER(survey_port, dim), NUMBER(survey_port, key), NUMBER(survey_port, expected),
	NUMBER(survey_port, heard_tag), NUMBER(survey_port, since_ms), NUMBER(survey_port, downs),
	NUMBER(survey_port, rx_frames), NUMBER(survey_port, tx_frames), NUMBER(survey_port, lost),
	NUMBER(survey_port, damaged), NUMBER(survey_port, resent),
};

static const struct number test_numbers[] = {
	NUMBER(survey_port, pings), NUMBER(survey_port, pongs), NUMBER(survey_port, pinged),
	NUMBER(survey_port, rtt_min_ns), NUMBER(survey_port, rtt_median_ns),
	NUMBER(survey_port, rate), NUMBER(survey_port, train), NUMBER(survey_port, trains),
	NUMBER(survey_port, bad), NUMBER(survey_port, tested_ms),
};

static const struct {
	const char *name;
	uint16_t flag;
} port_flags[] = {
	{ "up", TORCOLL_SURVEY_UP },
	{ "carrier", TORCOLL_SURVEY_CARRIER },
	{ "many", TORCOLL_SURVEY_MANY },
};

/* --- writing --- */

static uint64_t get_number(const void *from, const struct number *number)
{
	const char *p = (const char *)from + number->at;

	switch (number->size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	case 4:
		return *(const uint32_t *)p;
	}
	return *(const uint64_t *)p;
}

static void add_number(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void add_numbers(struct json_object *o, const void *from, const struct number *numbers,
			size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		add_number(o, numbers[i].name, get_number(from, &numbers[i]));
}

static void add_text(struct json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, json_object_new_string(text));
}

/* A member that is there if it is true. */
static void add_flag(struct json_object *o, const char *name, bool value)
{
	if (value)
		json_object_object_add(o, name, json_object_new_boolean(true));
}

static void add_id(struct json_object *o, const char *name, uint64_t id)
{
	add_text(o, name, fmt_str("%016llx", (unsigned long long)id));
}

static void add_end(struct json_object *o, const struct survey_end *end)
{
	const uint8_t *m = end->mac;

	add_text(o, "device", end->device);
	add_text(o, "mac", fmt_str("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
				   m[5]));
	add_number(o, "mtu", end->mtu);
	if (end->fabric)
		add_number(o, "fabric", end->fabric);
}

static struct json_object *json_member(const struct survey_port *port)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "state", link_state_name(port->state));
	add_text(o, "dir", dir_name(port->dir));
	add_numbers(o, port, member_numbers, ARRAY_SIZE(member_numbers));
	if (port->heard != UINT32_MAX)
		add_number(o, "heard", port->heard);
	return o;
}

static struct json_object *json_port(const struct survey_port *port)
{
	struct json_object *o = json_object_new_object();
	struct json_object *part;
	size_t i;

	add_end(o, &port->own);
	add_number(o, "speed", port->speed);
	for (i = 0; i < ARRAY_SIZE(port_flags); i++)
		json_object_object_add(o, port_flags[i].name,
				       json_object_new_boolean(port->flags & port_flags[i].flag));
	if (port->peer.host) {
		part = json_object_new_object();
		add_id(part, "host", port->peer.host);
		add_end(part, &port->peer);
		json_object_object_add(o, "peer", part);
	}
	if (port->flags & TORCOLL_SURVEY_MEMBER)
		json_object_object_add(o, "member", json_member(port));
	if (port->flags & TORCOLL_SURVEY_TESTED) {
		part = json_object_new_object();
		add_numbers(part, port, test_numbers, ARRAY_SIZE(test_numbers));
		json_object_object_add(o, "test", part);
	}
	return o;
}

static struct json_object *json_node(const struct survey_node *node)
{
	struct json_object *o = json_object_new_object();

	add_numbers(o, node, node_numbers, ARRAY_SIZE(node_numbers));
	shape_to_json(o, node->ndim, node->side);
	return o;
}

static struct json_object *json_host(const struct survey_host *host)
{
	struct json_object *o = json_object_new_object();
	struct json_object *nodes = json_object_new_array();
	struct json_object *ports = json_object_new_array();
	unsigned int i;

	add_id(o, "id", host->id);
	add_text(o, "name", host->name);
	add_text(o, "version", host->version);
	for (i = 0; i < host->nnodes; i++)
		json_object_array_add(nodes, json_node(&host->nodes[i]));
	json_object_object_add(o, "nodes", nodes);
	for (i = 0; i < host->nports; i++)
		json_object_array_add(ports, json_port(&host->ports[i]));
	json_object_object_add(o, "ports", ports);
	if (host->rest)
		add_number(o, "left_out", host->rest);
	add_flag(o, "overfull", host->overfull);
	return o;
}

struct json_object *survey_json(const struct survey *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *hosts = json_object_new_array();
	unsigned int i;

	if (s->self)
		add_id(o, "self", s->self->id);
	for (i = 0; i < s->nhosts; i++)
		json_object_array_add(hosts, json_host(s->hosts[i]));
	json_object_object_add(o, "hosts", hosts);
	add_flag(o, "overfull", s->overfull);
	return o;
}

/* --- reading --- */

static void set_number(void *to, const struct number *number, uint64_t value)
{
	char *p = (char *)to + number->at;

	switch (number->size) {
	case 1:
		*(uint8_t *)p = value;
		break;
	case 2:
		*(uint16_t *)p = value;
		break;
	case 4:
		*(uint32_t *)p = value;
		break;
	default:
		*(uint64_t *)p = value;
	}
}

static void read_numbers(void *to, struct json_object *o, const struct number *numbers, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		set_number(to, &numbers[i], js_u64(o, numbers[i].name));
}

static bool read_flag(struct json_object *o, const char *name)
{
	return json_object_get_boolean(js_get(o, name));
}

static uint64_t read_id(struct json_object *o, const char *name)
{
	return strtoull(js_raw(o, name), NULL, 16);
}

static void read_text(char *to, size_t size, struct json_object *o, const char *name)
{
	snprintf(to, size, "%s", js_str(o, name));
}

static void read_end(struct survey_end *end, struct json_object *o)
{
	uint8_t *m = end->mac;

	read_text(end->device, sizeof(end->device), o, "device");
	if (sscanf(js_raw(o, "mac"), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &m[0], &m[1], &m[2], &m[3],
		   &m[4], &m[5]) != 6)
		memset(m, 0, sizeof(end->mac));
	end->mtu = js_u64(o, "mtu");
	end->fabric = js_u64(o, "fabric");
}

static void read_member(struct survey_port *port, struct json_object *o)
{
	const char *state = js_raw(o, "state");

	port->flags |= TORCOLL_SURVEY_MEMBER;
	for (port->state = 0; port->state < UINT8_MAX; port->state++)
		if (!strcmp(link_state_name(port->state), state))
			break;
	port->dir = dir_parse(js_raw(o, "dir"));
	read_numbers(port, o, member_numbers, ARRAY_SIZE(member_numbers));
	if (js_has(o, "heard"))
		port->heard = js_u64(o, "heard");
}

static void read_port(struct survey_host *host, struct json_object *o)
{
	struct survey_port *port = survey_add_port(host, js_str(o, "device"));
	struct json_object *part;
	size_t i;

	if (!port)
		return;
	read_end(&port->own, o);
	port->speed = js_u64(o, "speed");
	for (i = 0; i < ARRAY_SIZE(port_flags); i++)
		if (read_flag(o, port_flags[i].name))
			port->flags |= port_flags[i].flag;
	part = js_get(o, "peer");
	if (part) {
		port->peer.host = read_id(part, "host");
		read_end(&port->peer, part);
	}
	part = js_get(o, "member");
	if (part)
		read_member(port, part);
	part = js_get(o, "test");
	if (part) {
		port->flags |= TORCOLL_SURVEY_TESTED;
		read_numbers(port, part, test_numbers, ARRAY_SIZE(test_numbers));
	}
}

static void read_node(struct survey_host *host, struct json_object *o)
{
	struct survey_node *node = survey_add_node(host, js_u64(o, "key"));

	if (!node)
		return;
	read_numbers(node, o, node_numbers, ARRAY_SIZE(node_numbers));
	node->ndim = shape_words(o, "sides", "kinds", node->side);
}

static void read_host(struct survey *s, struct json_object *o)
{
	struct survey_host *host = survey_add_host(s, read_id(o, "id"));
	size_t i;

	if (!host)
		return;
	host->rest = js_u64(o, "left_out");
	host->overfull = read_flag(o, "overfull");
	read_text(host->name, sizeof(host->name), o, "name");
	read_text(host->version, sizeof(host->version), o, "version");
	for (i = 0; i < js_length(o, "nodes"); i++)
		read_node(host, json_object_array_get_idx(js_get(o, "nodes"), i));
	for (i = 0; i < js_length(o, "ports"); i++)
		read_port(host, json_object_array_get_idx(js_get(o, "ports"), i));
}

int survey_load(struct survey *s, const char *file)
{
	struct json_object *o;
	size_t i;

	if (access(file, R_OK))
		return other_error("%s: %s", file, strerror(errno));
	o = json_object_from_file(file);
	if (!o)
		return other_error("%s: no JSON: \"torcollctl -j survey show\" writes it", file);
	if (!json_object_is_type(js_get(o, "hosts"), json_type_array)) {
		json_object_put(o);
		return other_error("%s: no survey: \"torcollctl -j survey show\" writes one", file);
	}
	s->overfull = read_flag(o, "overfull");
	for (i = 0; i < js_length(o, "hosts"); i++)
		read_host(s, json_object_array_get_idx(js_get(o, "hosts"), i));
	if (js_has(o, "self"))
		s->self = survey_find(s, read_id(o, "self"));
	json_object_put(o);
	survey_link(s);
	return CTL_OK;
}
