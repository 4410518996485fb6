// SPDX-License-Identifier: GPL-2.0
/* torcollctl fabric: become a node of a fabric, leave it, show it. */
#include <math.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "draw.h"
#include "ip.h"
#include "whole.h"

static const char help[] =
	"Usage: torcollctl fabric check [KEY] [from FILE]\n"
	"       torcollctl fabric show all [KEY] [from FILE]\n"
	"       torcollctl fabric show [KEY]\n"
	"       torcollctl fabric add KEY dims AxBx... node N | coord X,Y,...\n"
	"                         [cables 1|2] [ethertype NUMBER] [hello TIME]\n"
	"                         [checksum full|header] [frame BYTES]\n"
	"       torcollctl fabric del KEY [force]\n"
	"       torcollctl fabric KEY ip on [name NAME] [prefix ADDRESS/BITS]\n"
	"                         [prefix6 ADDRESS/BITS]\n"
	"       torcollctl fabric KEY ip off\n"
	"       torcollctl fabric KEY ip show\n"
	"\n"
	"check     tests all hosts and cables for some seconds, and prints what is wrong\n"
	"          and what to do; exit status 3 if anything is\n"
	"all       every node and link, asked of all hosts; or --all\n"
	"from      a survey of \"torcollctl -j survey show test\" instead\n"
	"KEY       the fabric's number, the same on all nodes\n"
	"dims      its sides, dimension 0 first: rings, unless :line or :mesh follows,\n"
	"          such as 3:line for an open chain, 4:mesh for each host joined with\n"
	"          each; or a ring with chords: 16+4, each host also joined with that 4\n"
	"          further\n"
	"node      index of this node, c0 + d0 * (c1 + d1 * ...); or its coordinates\n"
	"cables    between the two nodes of a ring of 2 (1)\n"
	"ethertype of its frames (0x88b5)\n"
	"hello     time between hellos, such as 200ms or 1s (200ms)\n"
	"checksum  what frames protect (full)\n"
	"frame     largest frame, whatever the ports take\n"
	"ip on     the network device by which all hosts are reached as on one Ethernet\n"
	"name      of that device (tor0, or the next that is free)\n"
	"prefix    network of which every node has an address, such as 10.7.0.0/24:\n"
	"          node 0 has the first one, or ADDRESS itself if it has more than BITS\n"
	"\n"
	"\"torcollctl apply\" does what add, del and ip on do, as the file of the fabric\n"
	"says.\n";

static const char *const checksum_names[] = { "full", "header" };

static const struct field fields[] = {
	FIELD(TORCOLL_A_FABRIC_KEY, FIELD_U64, "key"),
	FIELD(TORCOLL_A_FABRIC_SIDES, FIELD_U32S, "sides"),
	FIELD_OF(TORCOLL_A_FABRIC_KINDS, FIELD_U32S, "kinds", host_kind_names),
	FIELD(TORCOLL_A_FABRIC_CABLES, FIELD_U32, "cables"),
	FIELD(TORCOLL_A_FABRIC_NODES, FIELD_U32, "nodes"),
	FIELD(TORCOLL_A_FABRIC_NODE, FIELD_U32, "node"),
	FIELD(TORCOLL_A_FABRIC_COORD, FIELD_U32S, "coord"),
	FIELD(TORCOLL_A_FABRIC_ETHERTYPE, FIELD_U32, "ethertype"),
	FIELD(TORCOLL_A_FABRIC_HELLO_MS, FIELD_U32, "hello_ms"),
	FIELD_OF(TORCOLL_A_FABRIC_CHECKSUM, FIELD_NAME, "checksum", checksum_names),
	FIELD(TORCOLL_A_FABRIC_FRAME_SIZE, FIELD_U32, "frame_size"),
	FIELD(TORCOLL_A_FABRIC_FRAME_BYTES, FIELD_U32, "frame_bytes"),
	FIELD(TORCOLL_A_FABRIC_TAG, FIELD_U32, "tag"),
	FIELD(TORCOLL_A_FABRIC_EPOCH, FIELD_U32, "epoch"),
	FIELD(TORCOLL_A_FABRIC_PORTS, FIELD_U32, "ports"),
	FIELD(TORCOLL_A_FABRIC_PORTS_UP, FIELD_U32, "ports_up"),
	FIELD(TORCOLL_A_FABRIC_COMMS, FIELD_U32, "comms"),
	FIELD(TORCOLL_A_FABRIC_MEMORY, FIELD_U64, "memory"),
	FIELD(TORCOLL_A_FABRIC_VERSION, FIELD_STRING, "version"),
	FIELD(TORCOLL_A_FABRIC_DEAD_LINKS, FIELD_U32, "dead_links"),
	FIELD(TORCOLL_A_FABRIC_REACHED, FIELD_U32, "reached"),
	FIELD(TORCOLL_A_FABRIC_VIEW, FIELD_U32, "view"),
	FIELD(TORCOLL_A_FABRIC_RATES, FIELD_U32, "rates"),
};

const struct view fabric_view = {
	TORCOLL_CMD_FABRIC_GET, TORCOLL_A_FABRIC_KEY, fields, ARRAY_SIZE(fields)
};

/* Parse "200ms", "1s"; without a unit milliseconds. */
static int parse_ms(const char *s, uint32_t *ms)
{
	char *end;
	double value = strtod(s, &end);

	if (end == s || !isfinite(value) || value < 0)
		return usage_error("hello: \"%s\" is not a time like 200ms", s);
	if (!strcmp(end, "s"))
		value *= 1000;
	else if (*end && strcmp(end, "ms"))
		return usage_error("hello: \"%s\" is not a time like 200ms", s);
	if (value < 1 || value > UINT32_MAX)
		return usage_error("hello: %s is less than 1ms or far too long", s);
	*ms = value;
	return 0;
}

static int option_checksum(struct args *a, struct fabric_spec *spec)
{
	const char *word = arg_need(a, "checksum");
	int i;

	if (!word)
		return CTL_USAGE;
	i = word_find(word, checksum_names, ARRAY_SIZE(checksum_names), sizeof(*checksum_names),
		      "kind of checksum (full or header)");
	spec->checksum_header = i == TORCOLL_CHECKSUM_HEADER;
	return i < 0 ? CTL_USAGE : 0;
}

/* Take a number, of which 0 stands for none given. */
static int option_u32(struct args *a, const char *what, uint32_t *value)
{
	int err = arg_u32(a, what, value);

	if (!err && !*value)
		err = usage_error("%s: 0 is too small; without that word it has its default", what);
	return err;
}

int fabric_option(struct args *a, struct fabric_spec *spec)
{
	const char *word;

	if (arg_is(a, "cables"))
		return option_u32(a, "cables", &spec->shape.cables);
	if (arg_is(a, "ethertype"))
		return option_u32(a, "ethertype", &spec->ethertype);
	if (arg_is(a, "frame"))
		return option_u32(a, "frame", &spec->frame_size);
	if (arg_is(a, "checksum"))
		return option_checksum(a, spec);
	if (arg_is(a, "hello")) {
		word = arg_need(a, "hello");
		return word ? parse_ms(word, &spec->hello_ms) : CTL_USAGE;
	}
	return -1;
}

int fabric_new(struct conn *c, const struct fabric_spec *spec)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_FABRIC_NEW, 0);
	uint32_t side[MAX_DIMS], kind[MAX_DIMS], i;
	bool others = false;

	shape_sides(&spec->shape, side);
	for (i = 0; i < spec->shape.ndim; i++) {
		side[i] = tor_side_nodes(side[i]);
		kind[i] = spec->shape.kind[i];
		others |= kind[i] != TORCOLL_KIND_RING;
	}
	if (msg) {
		nla_put_u64(msg, TORCOLL_A_FABRIC_KEY, spec->key);
		nla_put(msg, TORCOLL_A_FABRIC_SIDES, 4 * spec->shape.ndim, side);
		if (others)
			nla_put(msg, TORCOLL_A_FABRIC_KINDS, 4 * spec->shape.ndim, kind);
		nla_put_u32(msg, TORCOLL_A_FABRIC_CABLES, spec->shape.cables);
		nla_put_u32(msg, TORCOLL_A_FABRIC_NODE, spec->node);
		if (spec->ethertype)
			nla_put_u32(msg, TORCOLL_A_FABRIC_ETHERTYPE, spec->ethertype);
		if (spec->hello_ms)
			nla_put_u32(msg, TORCOLL_A_FABRIC_HELLO_MS, spec->hello_ms);
		if (spec->checksum_header)
			nla_put_u32(msg, TORCOLL_A_FABRIC_CHECKSUM, TORCOLL_CHECKSUM_HEADER);
		if (spec->frame_size)
			nla_put_u32(msg, TORCOLL_A_FABRIC_FRAME_SIZE, spec->frame_size);
	}
	return conn_call(c, msg, NULL, NULL);
}

int fabric_delete(struct conn *c, uint64_t key, bool force)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_FABRIC_DEL, 0);

	if (msg) {
		nla_put_u64(msg, TORCOLL_A_FABRIC_KEY, key);
		if (force)
			nla_put_flag(msg, TORCOLL_A_FABRIC_FORCE);
	}
	return conn_call(c, msg, NULL, NULL);
}

/*
 * Options come in any order, so coordinates are parsed when the sides are
 * known.
 */
static int parse_add(struct args *a, struct fabric_spec *spec)
{
	const char *dims = NULL, *coord = NULL;
	bool node = false;
	int err;

	if (arg_u64(a, "the fabric's key", &spec->key))
		return CTL_USAGE;
	while (a->argc) {
		if (arg_is(a, "dims")) {
			dims = arg_need(a, "dims");
			err = dims ? 0 : CTL_USAGE;
		} else if (arg_is(a, "node")) {
			node = true;
			err = arg_u32(a, "node", &spec->node);
		} else if (arg_is(a, "coord")) {
			coord = arg_need(a, "coord");
			err = coord ? 0 : CTL_USAGE;
		} else {
			err = fabric_option(a, spec);
			if (err < 0)
				return arg_end(a);
		}
		if (err)
			return CTL_USAGE;
	}
	if (!dims)
		return usage_error("dims is missing: the sides, such as \"dims 4x4\"");
	if (node == !!coord)
		return usage_error("either node or coord says which node this is");
	if (shape_parse(dims, &spec->shape))
		return CTL_USAGE;
	return coord ? shape_parse_coord(&spec->shape, coord, &spec->node) : 0;
}

static int fabric_add(struct args *a)
{
	struct fabric_spec spec = { 0 };
	struct conn c;
	int ret = CTL_OK;

	if (parse_add(a, &spec) || conn_need(&c))
		return CTL_USAGE;
	if (fabric_new(&c, &spec))
		ret = conn_refused(&c);
	conn_close(&c);
	return ret;
}

static int fabric_del(struct args *a)
{
	struct conn c;
	uint64_t key;
	bool force;
	int ret = CTL_OK;

	if (arg_u64(a, "the fabric's key", &key))
		return CTL_USAGE;
	force = arg_is(a, "force");
	if (arg_end(a) || conn_need(&c))
		return CTL_USAGE;
	if (fabric_delete(&c, key, force))
		ret = conn_refused(&c);
	conn_close(&c);
	return ret;
}

/* Link states known to one node: those of its own links. */
struct seen {
	const struct shape *shape;
	uint32_t node;
	enum link_look look[MAX_PORTS + 1];
};

static enum link_look look_of_own(void *arg, uint32_t node, uint32_t dim, uint32_t dir)
{
	const struct seen *seen = arg;

	return node == seen->node ? seen->look[shape_find_port(seen->shape, dim, dir)] :
				    LINK_UNSEEN;
}

static void see_ports(struct seen *seen, struct json_object *fabric, struct json_object *ports)
{
	size_t i, n = json_object_array_length(ports);

	for (i = 0; i < MAX_PORTS; i++)
		seen->look[i] = LINK_BAD;
	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);
		uint32_t at = shape_find_port(seen->shape, js_u64(port, "dim"),
					      dir_parse(js_str(port, "dir")));

		if (js_u64(port, "fabric") == js_u64(fabric, "key") &&
		    !strcmp(js_str(port, "state"), "up"))
			seen->look[at] = LINK_GOOD;
	}
}

/*
 * Return the number of ports that the shape has here, with or without a device.
 */
static uint32_t places(struct json_object *fabric)
{
	uint32_t node = js_u64(fabric, "node");
	struct shape shape;
	uint32_t i, n = 0;

	if (!shape_from_json(fabric, &shape))
		return 0;
	for (i = 0; i < shape_ports(&shape); i++) {
		struct shape_port port = shape_port(&shape, i);

		n += shape_has_port(&shape, node, port.dim, port.dir);
	}
	return n;
}

static void print_fabric(struct json_object *fabric)
{
	const char *size = js_u64(fabric, "frame_bytes") ?
			   fmt_str("%llu bytes a frame",
				   (unsigned long long)js_u64(fabric, "frame_bytes")) :
			   "no port yet";
	struct shape shape;

	printf("fabric %llu: %s of %llu nodes, here node %llu",
	       (unsigned long long)js_u64(fabric, "key"),
	       shape_from_json(fabric, &shape) ? shape_noun(&shape) : "?",
	       (unsigned long long)js_u64(fabric, "nodes"),
	       (unsigned long long)js_u64(fabric, "node"));
	if (js_has(fabric, "coord"))
		printf(" (%s)", fmt_list(js_get(fabric, "coord")));
	printf(", %llu of %u ports up\n", (unsigned long long)js_u64(fabric, "ports_up"),
	       places(fabric));
	printf("    ethertype 0x%04llx, hello %llu ms, checksum %s, %s\n",
	       (unsigned long long)js_u64(fabric, "ethertype"),
	       (unsigned long long)js_u64(fabric, "hello_ms"), js_str(fabric, "checksum"), size);
}

/* Return this node's ports as a list for port_print_reasons(). */
static struct json_object *ports_of(struct json_object *ports, uint64_t key)
{
	struct json_object *own = json_object_new_array();
	size_t i, n = json_object_array_length(ports);

	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);

		if (js_u64(port, "fabric") == key)
			json_object_array_add(own, json_object_get(port));
	}
	return own;
}

static void draw_fabric(struct json_object *fabric, struct json_object *ports)
{
	struct json_object *own = ports_of(ports, js_u64(fabric, "key"));
	struct shape shape;
	struct seen seen = { .shape = &shape, .node = js_u64(fabric, "node") };
	struct drawing d = { &shape, seen.node, look_of_own, NULL, &seen };

	if (shape_from_json(fabric, &shape) && shape.nodes > 1) {
		see_ports(&seen, fabric, ports);
		putchar('\n');
		draw_torus(&d);
		printf("\n    [%u] this node   - |%s link up   x not up   . : not seen from here\n",
		       seen.node, shape.ndim > 2 ? " /" : "");
		if (*draw_note(&shape))
			printf("    %s\n", draw_note(&shape));
	}
	port_print_reasons(own);
	json_object_put(own);
}

static void print_fabrics(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);
	struct json_object *ports;
	struct conn c;

	if (!n) {
		fputs("This network namespace belongs to no fabric.\n", stderr);
		return;
	}
	if (conn_need(&c))
		return;
	if (view_dump(&c, &port_view, NULL, &ports)) {
		conn_refused(&c);
		ports = json_object_new_array();
	}
	for (i = 0; i < n; i++) {
		struct json_object *fabric = json_object_array_get_idx(list, i);

		if (i)
			putchar('\n');
		print_fabric(fabric);
		draw_fabric(fabric, ports);
	}
	json_object_put(ports);
	conn_close(&c);
}

/* Take the word "all" where it stands first; -a and --all mean the same. */
static bool takes_all(struct args *a)
{
	bool option = a->argc && (!strcmp(a->argv[0], "--all") || !strcmp(a->argv[0], "-a"));

	if (option)
		arg_next(a);
	return arg_is(a, "all") || option || opt.all;
}

static int fabric_show(struct args *a)
{
	if (takes_all(a))
		return whole_show(a);
	return view_show(a, &fabric_view, print_fabrics);
}

/* "fabric KEY ip ..." */
static int fabric_of_key(struct args *a)
{
	uint64_t key;

	if (arg_u64(a, "the fabric's key", &key))
		return CTL_USAGE;
	if (!arg_is(a, "ip"))
		return usage_error("\"ip\" is expected behind a fabric's key");
	return ip_main(a, key);
}

int fabric_main(struct args *a)
{
	static const struct command commands[] = {
		{ "show", fabric_show }, { "list", fabric_show },
		{ "add", fabric_add }, { "del", fabric_del }, { "delete", fabric_del },
		{ "check", whole_check },
	};

	if (a->argc && *a->argv[0] >= '0' && *a->argv[0] <= '9')
		return fabric_of_key(a);
	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
