// SPDX-License-Identifier: GPL-2.0
/*
 * Sentences about ports: why a link is not up, and how the other side differs
 * from this one where both must agree. Each names both values, and what to do.
 */
#include <stdio.h>
#include <string.h>

#include "ctl.h"

/* A port, the others of this node, and its fabric as this node has it. */
struct subject {
	struct json_object *port, *ports, *fabric;
};

/* Begin a line about the port. */
static void say_port(const struct subject *s)
{
	printf("    dim %s %s (%s): ", js_str(s->port, "dim"), js_str(s->port, "dir"),
	       js_str(s->port, "ifname"));
}

/* "node 3 (rack1)", as far as it is known */
static const char *heard_node(const struct subject *s)
{
	const char *name = js_str(s->port, "heard_name");

	return *name ? fmt_str("node %s (%s)", js_str(s->port, "heard_node"), name) :
		       fmt_str("node %s", js_str(s->port, "heard_node"));
}

/* The direction of the other end of a cable of a dimension. */
static const char *opposite(const struct subject *s, const char *dim, const char *dir)
{
	uint64_t d = js_u64(s->port, dim);
	struct shape shape;

	if (!shape_from_json(s->fabric, &shape) ||
	    shape_find_port(&shape, d, dir_parse(js_str(s->port, dir))) == MAX_PORTS)
		return "?";
	return dir_name(shape_back(&shape, d, dir_parse(js_str(s->port, dir))));
}

/*
 * Return the port of this node that the cable heard by @s belongs to, if any.
 */
static struct json_object *belongs_to(const struct subject *s)
{
	size_t i, n = json_object_array_length(s->ports);

	for (i = 0; i < n; i++) {
		struct json_object *p = json_object_array_get_idx(s->ports, i);

		if (js_u64(p, "fabric") == js_u64(s->port, "fabric") &&
		    js_u64(p, "neighbour") == js_u64(s->port, "heard_node") &&
		    js_u64(p, "dim") == js_u64(s->port, "heard_dim") &&
		    !strcmp(js_str(p, "dir"), opposite(s, "heard_dim", "heard_dir")))
			return p;
	}
	return NULL;
}

/* Say where a wrong cable should lead, and where it should be plugged in. */
static void say_wiring(const struct subject *s)
{
	struct json_object *right = belongs_to(s);

	printf("%s's port dim %s %s is heard, node %s's port dim %s %s belongs here: ", heard_node(s),
	       js_str(s->port, "heard_dim"), js_str(s->port, "heard_dir"),
	       js_str(s->port, "neighbour"), js_str(s->port, "dim"),
	       opposite(s, "dim", "dir"));
	if (right)
		printf("move the cable to dim %s %s (%s), or correct the node numbers\n",
		       js_str(right, "dim"), js_str(right, "dir"), js_str(right, "ifname"));
	else if (js_u64(s->port, "heard_node") == js_u64(s->port, "neighbour"))
		puts("move its plug there to that port, or correct that node's devices in the file");
	else
		puts("move the cable to another node, or correct the node numbers");
}

/* The other side belongs to another fabric, or has another shape of this one. */
static void say_fabric(const struct subject *s)
{
	if (js_has(s->port, "heard_tag"))
		printf("the other side belongs to another fabric (tag 0x%08x, here 0x%08x): give both nodes the same key, or move the cable\n",
		       (uint32_t)js_u64(s->port, "heard_tag"), (uint32_t)js_u64(s->fabric, "tag"));
	else if (strcmp(fmt_dims(s->port, "heard_sides", "heard_kinds"),
			fmt_dims(s->fabric, "sides", "kinds")))
		printf("%s has the shape %s, this node %s: apply the same file on both\n",
		       heard_node(s), fmt_dims(s->port, "heard_sides", "heard_kinds"),
		       fmt_dims(s->fabric, "sides", "kinds"));
	else
		printf("%s has cables %s, this node cables %s: apply the same file on both\n",
		       heard_node(s), js_str(s->port, "heard_cables"), js_str(s->fabric, "cables"));
}

static void say_down(const struct subject *s)
{
	const char *state = js_str(s->port, "state");

	say_port(s);
	if (!strcmp(state, "miswired")) {
		say_wiring(s);
		return;
	}
	if (!strcmp(state, "fabric") && s->fabric) {
		say_fabric(s);
		return;
	}
	fputs(js_has(s->port, "reason") ? js_str(s->port, "reason") : state, stdout);
	if (js_has(s->port, "heard_wire"))
		printf("; it speaks version %s", js_str(s->port, "heard_wire"));
	if (js_has(s->port, "heard_node"))
		printf("; heard: %s", heard_node(s));
	putchar('\n');
}

/*
 * Say that the neighbour's byte order differs: the link works, but no comm can
 * include both hosts.
 */
static void say_order(const struct subject *s)
{
	static const char *const orders[] = { "little", "big" };
	/* of this host's kernel, and so of all comms here */
	const char *own = orders[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__];
	const char *heard = js_str(s->port, "heard_order");

	if (!js_has(s->port, "heard_order") || !strcmp(heard, own))
		return;
	say_port(s);
	printf("the neighbour's byte order is %s-endian, this host's %s-endian: put them in different communicators, frames of others pass\n",
	       heard, own);
}

/* The same is true of one whose frames are protected in another way. */
static void say_checksum(const struct subject *s)
{
	const char *heard = js_str(s->port, "heard_checksum");

	if (!js_has(s->port, "heard_checksum"))
		return;
	say_port(s);
	printf("the neighbour's checksum is \"%s\", this node's \"%s\": they form no communicator; apply the same file on both\n",
	       heard, strcmp(heard, "full") ? "full" : "header");
}

static const char *rates_name(uint32_t hash)
{
	return hash ? fmt_str("0x%08x", hash) : "the default";
}

/* A difference that costs nothing but surprise: all take those of rank 0. */
static void say_rates(const struct subject *s)
{
	uint32_t heard = js_u64(s->port, "heard_rates"), own = js_u64(s->fabric, "rates");

	if (!js_has(s->port, "heard_rates") || !s->fabric || heard == own)
		return;
	say_port(s);
	printf("the rates of %s are %s, this node's %s: communicators take those of their rank 0; apply the same file on both\n",
	       heard_node(s), rates_name(heard), rates_name(own));
}

static void say_mtu(const struct subject *s)
{
	if (!js_has(s->port, "heard_mtu") || js_u64(s->port, "heard_mtu") == js_u64(s->port, "mtu"))
		return;
	say_port(s);
	printf("the MTU is %s here and %s at %s: frames have the smaller size; set both to the same\n",
	       js_str(s->port, "mtu"), js_str(s->port, "heard_mtu"), heard_node(s));
}

static void say_version(const struct subject *s)
{
	const char *heard = js_str(s->port, "heard_version"), *own = js_str(s->fabric, "version");

	if (!*heard || !s->fabric || !strcmp(heard, own))
		return;
	say_port(s);
	printf("the module of %s is version %s, this node's %s: install the same on both\n",
	       heard_node(s), heard, own);
}

static void say_copies(const struct subject *s)
{
	if (!js_has(s->port, "copies"))
		return;
	say_port(s);
	puts(js_str(s->port, "copies"));
}

static struct json_object *find_fabric(struct json_object *fabrics, struct json_object *port)
{
	size_t i, n = fabrics ? json_object_array_length(fabrics) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *fabric = json_object_array_get_idx(fabrics, i);

		if (js_u64(fabric, "key") == js_u64(port, "fabric"))
			return fabric;
	}
	return NULL;
}

/* Return whether a node of this fabric is heard there, so that it can be compared. */
static bool is_comparable(struct json_object *port)
{
	const char *state = js_str(port, "state");

	return js_has(port, "heard_node") && strcmp(state, "fabric") && strcmp(state, "miswired");
}

static void say_all(const struct subject *s)
{
	if (strcmp(js_str(s->port, "state"), "up"))
		say_down(s);
	say_copies(s);
	if (!is_comparable(s->port))
		return;
	say_order(s);
	say_checksum(s);
	say_rates(s);
	say_mtu(s);
	say_version(s);
}

void port_print_reasons(struct json_object *ports)
{
	size_t i, n = json_object_array_length(ports);
	struct json_object *fabrics = NULL;
	struct conn c;

	/* this node's side of what is compared */
	if (n && !conn_need(&c)) {
		if (view_dump(&c, &fabric_view, NULL, &fabrics))
			conn_refused(&c);
		conn_close(&c);
	}
	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);
		struct subject s = { port, ports, find_fabric(fabrics, port) };

		say_all(&s);
	}
	json_object_put(fabrics);
}
