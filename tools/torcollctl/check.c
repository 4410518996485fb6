// SPDX-License-Identifier: GPL-2.0
/* What is wrong with a fabric: the list of findings, and who has found what. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void *check_memory(void *p)
{
	if (!p)
		err(CTL_REFUSED, "no memory to check the fabric");
	return p;
}

struct finding *check_say(struct check *c, const char *rule, const char *what, const char *remedy)
{
	struct finding *f;

	c->finding = check_memory(realloc(c->finding, (c->nfindings + 1) * sizeof(*f)));
	f = &c->finding[c->nfindings++];
	*f = (struct finding){
		.rule = rule,
		.what = check_memory(strdup(what)),
		.remedy = check_memory(strdup(remedy)),
		.node = MAP_NOBODY,
	};
	return f;
}

void check_say_cable(struct check *c, const char *rule, struct survey_port *p,
		     struct survey_port *q, const char *what, const char *remedy)
{
	struct finding *f = check_say(c, rule, what, remedy);

	f->port[0] = p;
	f->port[1] = q;
	check_explain(c, p, EXPLAINED);
	check_explain(c, q, EXPLAINED);
}

const char *check_host(const struct check *c, const struct survey_host *host)
{
	uint32_t node = map_index(c->m, host);

	if (node == MAP_NOBODY)
		return fmt_plain(host->name);
	return fmt_str("%s (node %u)", fmt_plain(host->name), node);
}

const char *check_port(const struct check *c, const struct survey_port *port)
{
	uint32_t node = map_index(c->m, port->owner);
	const char *name = fmt_plain(port->owner->name), *device = fmt_plain(port->own.device);

	if (node == MAP_NOBODY)
		return fmt_str("%s:%s", name, device);
	return fmt_str("%s:%s (node %u)", name, device, node);
}

static uint8_t *explained_at(const struct check *c, const struct survey_port *port)
{
	unsigned int at = survey_place(c->now, port->owner);

	return at < c->now->nhosts ? &c->explained[c->first[at] + (port - port->owner->ports)] : NULL;
}

bool check_is_explained(const struct check *c, const struct survey_port *port, enum explained what)
{
	const uint8_t *e = explained_at(c, port);

	return e && (*e & what) == what;
}

void check_explain(struct check *c, const struct survey_port *port, enum explained what)
{
	uint8_t *e = port ? explained_at(c, port) : NULL;

	if (e)
		*e |= what;
}

struct survey_port *check_other(const struct check *c, const struct survey_port *port)
{
	uint32_t node = map_index(c->m, port->owner);

	if (port->other)
		return port->other;
	if (node == MAP_NOBODY || !check_is_member(c, port) ||
	    !shape_has_port(&c->m->shape, node, port->dim, port->dir))
		return NULL;
	return map_partner_of(c->m, node, port);
}

void check_explain_host(struct check *c, const struct survey_host *host, enum explained what)
{
	unsigned int i;

	for (i = 0; i < host->nports; i++) {
		check_explain(c, &host->ports[i], what);
		check_explain(c, check_other(c, &host->ports[i]), what);
	}
}

bool check_is_member(const struct check *c, const struct survey_port *port)
{
	return port->flags & TORCOLL_SURVEY_MEMBER && port->key == c->m->key;
}

static const struct survey_port *port_in(const struct survey *s, const struct survey_port *port)
{
	const struct survey_host *host = s ? survey_find(s, port->owner->id) : NULL;

	return host ? survey_device(host, port->own.device) : NULL;
}

const struct survey_port *check_before(const struct check *c, const struct survey_port *port)
{
	return port_in(c->before, port);
}

const struct survey_port *check_last(const struct check *c, const struct survey_port *port)
{
	return port_in(c->last, port);
}

static void check_begin(struct check *c)
{
	uint32_t i, ports = 0;

	c->first = check_memory(calloc(c->now->nhosts + 1, sizeof(*c->first)));
	for (i = 0; i < c->now->nhosts; i++) {
		c->first[i] = ports;
		ports += c->now->hosts[i]->nports;
	}
	c->explained = check_memory(calloc(ports + 1, 1));
}

struct check *check_new(const struct survey *now, const struct survey *before,
			const struct survey *last, uint64_t key)
{
	struct map *m = map_new(now, key, NULL);
	struct check *c;

	if (!m)
		return NULL;
	c = check_memory(calloc(1, sizeof(*c)));
	c->now = now;
	c->before = before;
	c->last = last;
	c->m = m;
	check_begin(c);
	check_hosts(c);
	check_wiring(c);
	check_settings(c);
	check_links(c);
	check_cables(c);
	check_reach(c);
	return c;
}

static void finding_free(struct finding *f)
{
	free(f->what);
	free(f->remedy);
}

void check_free(struct check *c)
{
	uint32_t i;

	if (!c)
		return;
	for (i = 0; i < c->nfindings; i++)
		finding_free(&c->finding[i]);
	free(c->finding);
	free(c->explained);
	free(c->first);
	map_free(c->m);
	free(c);
}

uint32_t check_doubts(const struct check *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->nfindings; i++)
		n += c->finding[i].doubtful;
	return n;
}

static bool same_port(const struct survey_port *a, const struct survey_port *b)
{
	if (!a || !b)
		return a == b;
	return a->owner->id == b->owner->id && !strcmp(a->own.device, b->own.device);
}

static bool same_finding(const struct finding *a, const struct finding *b)
{
	return !strcmp(a->rule, b->rule) && same_port(a->port[0], b->port[0]) &&
	       same_port(a->port[1], b->port[1]);
}

static const struct finding *find_same(const struct check *c, const struct finding *f)
{
	uint32_t i;

	for (i = 0; i < c->nfindings; i++)
		if (same_finding(&c->finding[i], f))
			return &c->finding[i];
	return NULL;
}

static bool has_end(const struct finding *f, const struct survey_port *port)
{
	return port && (same_port(f->port[0], port) || same_port(f->port[1], port));
}

static bool same_way(const struct finding *a, const struct finding *b)
{
	return same_port(a->port[0], b->port[0]) && same_port(a->port[1], b->port[1]);
}

/* A round trip goes both ways. */
static bool has_no_way(const struct finding *f)
{
	return !strcmp(f->rule, "delay");
}

/* Return whether the other check doubts the same cable, by another rule. */
static bool is_doubted(const struct check *c, const struct finding *f)
{
	uint32_t i;

	for (i = 0; i < c->nfindings; i++) {
		const struct finding *other = &c->finding[i];

		if (other->doubtful && strcmp(other->rule, f->rule) &&
		    (same_way(other, f) || ((has_no_way(other) || has_no_way(f)) &&
		     has_end(other, f->port[0]) && has_end(other, f->port[1]))))
			return true;
	}
	return false;
}

/* Ports are those of a survey: in another one they are found by their names. */
static const struct survey_port *port_now(const struct check *c, const struct survey_port *port)
{
	const struct survey_host *host = survey_find(c->now, port->owner->id);

	return host ? survey_device(host, port->own.device) : NULL;
}

static void add_damage(struct check *c, const struct finding *f)
{
	const struct survey_port *from = port_now(c, f->port[0]), *to = port_now(c, f->port[1]);
	struct finding *copy;

	if (!from || !to)
		return;
	copy = check_say(c, f->rule, f->what, f->remedy);
	copy->port[0] = from;
	copy->port[1] = to;
}

void check_confirm(struct check *c, const struct check *earlier)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->nfindings; i++) {
		struct finding *f = &c->finding[i];

		if (f->doubtful && !find_same(earlier, f) && !is_doubted(earlier, f))
			finding_free(f);
		else
			c->finding[n++] = *f;
	}
	c->nfindings = n;
	for (i = 0; i < earlier->nfindings; i++) {
		const struct finding *f = &earlier->finding[i];

		if (!strcmp(f->rule, "damage") && !find_same(c, f))
			add_damage(c, f);
	}
}

uint32_t check_faults(const struct check *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->nfindings; i++)
		n += !c->finding[i].hint;
	return n;
}

static struct json_object *json_end(const struct check *c, const struct survey_port *port)
{
	struct json_object *end = json_object_new_object();
	uint32_t node = map_index(c->m, port->owner);

	json_object_object_add(end, "host", json_object_new_string(port->owner->name));
	json_object_object_add(end, "device", json_object_new_string(port->own.device));
	if (node != MAP_NOBODY)
		json_object_object_add(end, "node", json_object_new_int64(node));
	return end;
}

static struct json_object *json_finding(const struct check *c, const struct finding *f)
{
	struct json_object *o = json_object_new_object(), *ends;
	int i;

	json_object_object_add(o, "rule", json_object_new_string(f->rule));
	json_object_object_add(o, "hint", json_object_new_boolean(f->hint));
	if (f->host)
		json_object_object_add(o, "host", json_object_new_string(f->host->name));
	if (f->node != MAP_NOBODY)
		json_object_object_add(o, "node", json_object_new_int64(f->node));
	ends = json_object_new_array();
	for (i = 0; i < 2; i++)
		if (f->port[i])
			json_object_array_add(ends, json_end(c, f->port[i]));
	json_object_object_add(o, "ends", ends);
	json_object_object_add(o, "what", json_object_new_string(f->what));
	json_object_object_add(o, "do", json_object_new_string(f->remedy));
	return o;
}

struct json_object *check_json(const struct check *c)
{
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < c->nfindings; i++)
		json_object_array_add(list, json_finding(c, &c->finding[i]));
	return list;
}

void check_print(const struct check *c)
{
	uint32_t i;

	for (i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];

		printf("%s%s: %s\n", f->hint ? "hint: " : "", f->what, f->remedy);
	}
}
