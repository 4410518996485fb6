// SPDX-License-Identifier: GPL-2.0
/* torcollctl discover as JSON. */
#include <string.h>

#include "ctl.h"
#include "discover.h"

static const char *const kind_names[] = { "none", "ring", "torus", "line", "grid", "mesh", "chords" };

static const char *const use_names[] = {
	"cable", "loop", "silent", "outside", "switch", "dark",
};

static void add_u64(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void add_text(struct json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, json_object_new_string(text));
}

static struct json_object *sides_json(const struct tor_torus *t)
{
	struct json_object *list = json_object_new_array();
	uint32_t d;

	for (d = 0; d < t->ndim; d++)
		json_object_array_add(list, json_object_new_uint64(tor_side_nodes(tor_torus_side(t, d))));
	return list;
}

static struct json_object *shape_json(const struct wiring *w)
{
	struct json_object *o = json_object_new_object(), *also, *dims, *open;
	char text[HOST_SHAPE_TEXT];
	uint32_t side[TOR_MAX_DIMS], i;

	add_text(o, "kind", kind_names[w->kind]);
	if (w->kind == WIRING_NONE)
		return o;
	for (i = 0; i < w->place.t.ndim; i++)
		side[i] = tor_torus_side(&w->place.t, i);
	shape_to_json(o, w->place.t.ndim, side);
	add_u64(o, "cables", w->place.t.cables);
	add_u64(o, "nodes", w->place.t.nodes);
	add_u64(o, "fits", wiring_fits(w));
	open = json_object_new_array();
	for (i = 0; i < w->place.t.ndim; i++)
		json_object_array_add(open, json_object_new_boolean(w->place.open >> i & 1));
	json_object_object_add(o, "open", open);
	/* sides alone do not tell a torus from a ring with chords */
	also = json_object_new_array();
	dims = json_object_new_array();
	for (i = 0; i < w->nalso; i++) {
		json_object_array_add(also, sides_json(&w->also[i]));
		json_object_array_add(dims, json_object_new_string(
				      host_torus_print(text, &w->also[i])));
	}
	json_object_object_add(o, "also", also);
	json_object_object_add(o, "also_dims", dims);
	return o;
}

static struct json_object *port_json(const struct discovery *d, uint32_t port)
{
	const struct graph_port *p = &d->graph->port[port];
	const uint8_t *m = p->port->own.mac;
	struct json_object *o = json_object_new_object(), *other;
	const struct tor_torus *t = &d->wiring.place.t;
	uint8_t role = d->roles.role[port];

	add_text(o, "device", p->port->own.device);
	add_text(o, "mac", fmt_str("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
				   m[5]));
	add_u64(o, "mtu", p->port->own.mtu);
	add_u64(o, "speed", p->port->speed);
	add_text(o, "use", use_names[p->use]);
	if (role != ROLE_NONE) {
		add_u64(o, "dim", tor_port_dim(t, role));
		add_text(o, "dir", dir_name(tor_port_dir(t, role)));
	}
	if (p->to != GRAPH_NONE) {
		const struct survey_port *to = d->graph->port[p->to].port;

		other = json_object_new_object();
		add_text(other, "host", to->owner->name);
		add_text(other, "device", to->own.device);
		json_object_object_add(o, "other", other);
	}
	return o;
}

static struct json_object *host_json(const struct discovery *d, uint32_t host)
{
	const struct graph_host *h = &d->graph->host[host];
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	uint32_t i;

	add_text(o, "name", h->host->name);
	add_text(o, "id", fmt_str("%016llx", (unsigned long long)h->host->id));
	if (d->wiring.place.who)
		add_u64(o, "node", d->wiring.node[host]);
	for (i = h->port; i < h->port + h->nports; i++)
		json_object_array_add(list, port_json(d, i));
	json_object_object_add(o, "ports", list);
	return o;
}

static struct json_object *faults_json(const struct discovery *d, bool notes)
{
	struct json_object *list = json_object_new_array();
	uint32_t i, k;

	for (i = 0; i < d->faults.n; i++) {
		const struct fault *f = &d->faults.list[i];
		struct json_object *o, *where;

		if (f->note != notes)
			continue;
		o = json_object_new_object();
		where = json_object_new_array();
		for (k = 0; k < f->nports; k++)
			json_object_array_add(where, json_object_new_string(
					      discovery_port(d, f->port[k])));
		add_text(o, "kind", f->kind);
		json_object_object_add(o, "where", where);
		add_text(o, "sentence", f->text);
		if (f->advice)
			add_text(o, "advice", f->advice);
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *discovery_json(const struct discovery *d)
{
	struct json_object *o = json_object_new_object(), *hosts = json_object_new_array();
	uint32_t i;

	json_object_object_add(o, "ok", json_object_new_boolean(d->fits));
	json_object_object_add(o, "shape", shape_json(&d->wiring));
	for (i = 0; i < d->graph->nhosts; i++)
		json_object_array_add(hosts, host_json(d, i));
	json_object_object_add(o, "hosts", hosts);
	json_object_object_add(o, "problems", faults_json(d, false));
	json_object_object_add(o, "notes", faults_json(d, true));
	return o;
}
