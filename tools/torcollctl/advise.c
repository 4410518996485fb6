// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl advise: how to wire so many hosts with so many ports each, by what
 * an allreduce takes. See wirings.h for what is compared.
 */
#include <stdio.h>
#include <string.h>

#include "core/link/route.h"
#include "ctl.h"
#include "wirings.h"

static const char help[] =
	"Usage: torcollctl advise HOSTS PORTS [dims AxBx...] [list]\n"
	"\n"
	"Compares the ways to wire so many hosts that have so many ports each for it:\n"
	"rings, tori, full meshes, and rings with chords, by the time of an allreduce\n"
	"of 8 B, 4 KiB, 256 KiB and 4 MiB on cables of 25 Gb/s. The first is best over\n"
	"all four. Asks nothing of this host, which need not have torcoll.\n"
	"\n"
	"dims   this one only, such as 16+4\n"
	"list   the cables of the first, or of dims, to print and to cross off\n";

struct request {
	uint32_t hosts, ports;
	struct shape dims;
	bool list;
};

static int advise_parse(struct args *a, struct request *q)
{
	const char *word;

	if (arg_u32(a, "the number of hosts", &q->hosts) ||
	    arg_u32(a, "the number of ports of a host", &q->ports))
		return CTL_USAGE;
	while (a->argc) {
		if (arg_is(a, "dims")) {
			word = arg_need(a, "the shape, such as 16+4,");
			if (!word || shape_parse(word, &q->dims))
				return CTL_USAGE;
		} else if (arg_is(a, "list")) {
			q->list = true;
		} else {
			return arg_end(a);
		}
	}
	if (q->hosts < 2 || q->hosts > WIRINGS_HOSTS)
		return usage_error("advise: 2 to %u hosts", WIRINGS_HOSTS);
	if (q->dims.ndim && q->dims.nodes != q->hosts)
		return usage_error("advise: %s has %u hosts, not %u", shape_dims(&q->dims),
				   q->dims.nodes, q->hosts);
	return CTL_OK;
}

/* ---- the comparison ---- */

static const char *dims_text(const struct tor_torus *t)
{
	char text[HOST_SHAPE_TEXT];

	return fmt_str("%s", host_torus_print(text, t));
}

static const char *time_text(const struct wirings_one *w, uint32_t i)
{
	return fmt_ns(w->ps[i] / 1000);
}

static void print_table(const struct wirings *w)
{
	struct table t = { 0 };
	uint32_t i;

	TABLE_ROW(&t, "DIMS", "PORTS", "CABLES", "HOPS", "8 B", "4 KiB", "256 KiB", "4 MiB");
	for (i = 0; i < w->n; i++)
		TABLE_ROW(&t, dims_text(&w->list[i].t), fmt_str("%u", w->list[i].ports),
			  fmt_str("%u", w->list[i].cables), fmt_str("%u", w->list[i].hops),
			  time_text(&w->list[i], 0), time_text(&w->list[i], 1),
			  time_text(&w->list[i], 2), time_text(&w->list[i], 3));
	table_print(&t);
}

static void add_number(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void print_json(const struct wirings *w)
{
	struct json_object *list = json_object_new_array(), *o, *times;
	uint32_t i, k;

	for (i = 0; i < w->n; i++) {
		o = json_object_new_object();
		json_object_object_add(o, "dims",
				       json_object_new_string(dims_text(&w->list[i].t)));
		add_number(o, "ports", w->list[i].ports);
		add_number(o, "cables", w->list[i].cables);
		add_number(o, "hops", w->list[i].hops);
		times = json_object_new_object();
		for (k = 0; k < WIRINGS_SIZES; k++)
			add_number(times, fmt_str("%u", wirings_sizes[k]), w->list[i].ps[k] / 1000);
		json_object_object_add(o, "allreduce_ns", times);
		json_object_array_add(list, o);
	}
	js_print(list);
	json_object_put(list);
}

/* ---- the cables ---- */

/* Return whether a cable is there whose first end this is: of two ends, one. */
static bool leads(const struct tor_torus *t, uint32_t node, uint32_t port)
{
	if (!tor_torus_has_port(t, node, port))
		return false;
	if (t->kind[tor_port_dim(t, port)] == TORCOLL_KIND_MESH)
		return node < tor_torus_neighbour(t, node, port);
	return tor_port_way(t, port) == TOR_PLUS;
}

static const char *port_text(const struct tor_torus *t, uint32_t port)
{
	char text[HOST_PORT_TEXT];

	return fmt_str("%s", host_port_print(text, tor_port_dim(t, port), tor_port_dir(t, port)));
}

static struct json_object *end_json(const struct tor_torus *t, uint32_t node, uint32_t port)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "node", node);
	json_object_object_add(o, "port", json_object_new_string(port_text(t, port)));
	return o;
}

/* Call @fn for each cable, by dimensions: a colour of cables for each is of use. */
static void each_cable(const struct tor_torus *t,
		       void (*fn)(void *arg, const struct tor_torus *t, uint32_t node, uint32_t port),
		       void *arg)
{
	uint32_t node, port, dim;

	for (dim = 0; dim < t->ndim; dim++)
		for (node = 0; node < t->nodes; node++)
			for (port = 0; port < t->ports; port++)
				if (tor_port_dim(t, port) == dim && leads(t, node, port))
					fn(arg, t, node, port);
}

static void cable_json(void *arg, const struct tor_torus *t, uint32_t node, uint32_t port)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "from", end_json(t, node, port));
	json_object_object_add(o, "to", end_json(t, tor_torus_neighbour(t, node, port),
						 tor_torus_peer_port(t, port)));
	json_object_array_add(arg, o);
}

static void cable_row(void *arg, const struct tor_torus *t, uint32_t node, uint32_t port)
{
	TABLE_ROW(arg, "[ ]", fmt_str("%u", node), port_text(t, port),
		  fmt_str("%u", tor_torus_neighbour(t, node, port)),
		  port_text(t, tor_torus_peer_port(t, port)));
}

static void print_cables(const struct tor_torus *t)
{
	struct json_object *list;
	struct table rows = { 0 };

	if (opt.json) {
		list = json_object_new_array();
		each_cable(t, cable_json, list);
		js_print(list);
		json_object_put(list);
		return;
	}
	printf("Cables of %s:\n\n", dims_text(t));
	TABLE_ROW(&rows, "", "NODE", "PORT", "NODE", "PORT");
	each_cable(t, cable_row, &rows);
	table_print(&rows);
}

/* Say why there is no wiring. @side: of q->dims */
static int complain(const struct request *q, const uint32_t *side)
{
	const char *dims = shape_dims(&q->dims);
	struct tor_torus t;

	if (!q->dims.ndim)
		return usage_error("advise: %u hosts cannot be wired with %u ports each and at most %u hops",
				   q->hosts, q->ports, TOR_HOP_LIMIT);
	if (!tor_torus_init(&t, q->dims.ndim, side, 1) && wirings_ports(&t) > q->ports)
		return usage_error("advise: %s needs %u ports at each host, not %u", dims,
				   wirings_ports(&t), q->ports);
	return usage_error("advise: hosts of %s are more than %u hops apart", dims, TOR_HOP_LIMIT);
}

int advise_main(struct args *a)
{
	struct request q = { 0 };
	struct wirings w = { 0 };
	uint32_t side[MAX_DIMS];
	int ret;

	if (a->argc && (!strcmp(a->argv[0], "help") || !strcmp(a->argv[0], "-h") ||
			!strcmp(a->argv[0], "--help"))) {
		fputs(help, stdout);
		return CTL_OK;
	}
	ret = advise_parse(a, &q);
	if (ret)
		return ret;
	shape_sides(&q.dims, side);
	ret = wirings_find(&w, q.hosts, q.ports, q.dims.ndim, side);
	if (!ret && !w.n)
		ret = complain(&q, side);
	else if (ret)
		ret = other_error("no memory");
	else if (q.list)
		print_cables(&w.list[0].t);
	else if (opt.json)
		print_json(&w);
	else
		print_table(&w);
	wirings_free(&w);
	return ret;
}
