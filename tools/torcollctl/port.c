// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl port: bind netdevs to directions of the torus, and show their
 * links.
 */
#include <errno.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl port add KEY dim D dir plus|minus dev NAME\n"
	"       torcollctl port del KEY dim D dir plus|minus\n"
	"       torcollctl port del dev NAME\n"
	"       torcollctl port show [KEY]\n"
	"\n"
	"dim       dimension, from 0\n"
	"dir       plus: towards higher coordinates; minus: towards lower ones\n";

static const char *const state_names[] = {
	[TORCOLL_LINK_STATE_ABSENT] = "absent",
	[TORCOLL_LINK_STATE_NO_CARRIER] = "no-carrier",
	[TORCOLL_LINK_STATE_WAITING] = "waiting",
	[TORCOLL_LINK_STATE_VERSION] = "version",
	[TORCOLL_LINK_STATE_FABRIC] = "fabric",
	[TORCOLL_LINK_STATE_MISWIRED] = "miswired",
	[TORCOLL_LINK_STATE_ONE_WAY] = "one-way",
	[TORCOLL_LINK_STATE_TOO_SMALL] = "too-small",
	[TORCOLL_LINK_STATE_FLAPPING] = "flapping",
	[TORCOLL_LINK_STATE_UP] = "up",
};

const char *link_state_name(uint32_t state)
{
	if (state < ARRAY_SIZE(state_names) && state_names[state])
		return state_names[state];
	return fmt_str("?%u", state);
}

static const char *const order_names[] = {
	[TORCOLL_BYTE_ORDER_LITTLE] = "little",
	[TORCOLL_BYTE_ORDER_BIG] = "big",
};

static const char *const checksum_names[] = {
	[TORCOLL_CHECKSUM_FULL] = "full",
	[TORCOLL_CHECKSUM_HEADER] = "header",
};

static const struct field fields[] = {
	FIELD(TORCOLL_A_PORT_FABRIC, FIELD_U64, "fabric"),
	FIELD(TORCOLL_A_PORT_DIM, FIELD_U32, "dim"),
	FIELD(TORCOLL_A_PORT_DIR, FIELD_DIR, "dir"),
	FIELD(TORCOLL_A_PORT_IFINDEX, FIELD_U32, "ifindex"),
	FIELD(TORCOLL_A_PORT_IFNAME, FIELD_STRING, "ifname"),
	FIELD_OF(TORCOLL_A_PORT_STATE, FIELD_NAME, "state", state_names),
	FIELD(TORCOLL_A_PORT_REASON, FIELD_STRING, "reason"),
	FIELD(TORCOLL_A_PORT_NEIGHBOUR, FIELD_U32, "neighbour"),
	FIELD(TORCOLL_A_PORT_HEARD_NODE, FIELD_U32, "heard_node"),
	FIELD(TORCOLL_A_PORT_HEARD_DIM, FIELD_U32, "heard_dim"),
	FIELD(TORCOLL_A_PORT_HEARD_DIR, FIELD_DIR, "heard_dir"),
	FIELD(TORCOLL_A_PORT_HEARD_EPOCH, FIELD_U32, "heard_epoch"),
	FIELD(TORCOLL_A_PORT_HEARD_WIRE, FIELD_U32, "heard_wire"),
	FIELD(TORCOLL_A_PORT_HEARD_VERSION, FIELD_STRING, "heard_version"),
	FIELD_OF(TORCOLL_A_PORT_HEARD_ORDER, FIELD_NAME, "heard_order", order_names),
	FIELD_OF(TORCOLL_A_PORT_HEARD_CHECKSUM, FIELD_NAME, "heard_checksum", checksum_names),
	FIELD(TORCOLL_A_PORT_HEARD_AGO_NS, FIELD_U64, "heard_ago_ns"),
	FIELD(TORCOLL_A_PORT_MAC, FIELD_MAC, "mac"),
	FIELD(TORCOLL_A_PORT_HEARD_MAC, FIELD_MAC, "heard_mac"),
	FIELD(TORCOLL_A_PORT_MTU, FIELD_U32, "mtu"),
	FIELD(TORCOLL_A_PORT_FRAME_BYTES, FIELD_U32, "frame_bytes"),
	FIELD(TORCOLL_A_PORT_COPIES, FIELD_STRING, "copies"),
	FIELD(TORCOLL_A_PORT_RX_FRAMES, FIELD_U64, "rx_frames"),
	FIELD(TORCOLL_A_PORT_TX_FRAMES, FIELD_U64, "tx_frames"),
	FIELD(TORCOLL_A_PORT_DROPS, FIELD_U64, "drops"),
};

const struct view port_view = {
	TORCOLL_CMD_PORT_GET, TORCOLL_A_PORT_FABRIC, fields, ARRAY_SIZE(fields)
};

/* The identification of a port in a request. */
struct place {
	uint64_t key;
	uint32_t dim, dir, ifindex;
	bool has_key, has_dim, has_dir;
};

int port_new(struct conn *c, uint64_t key, uint32_t dim, uint32_t dir, uint32_t ifindex)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_PORT_NEW, 0);

	if (msg) {
		nla_put_u64(msg, TORCOLL_A_PORT_FABRIC, key);
		nla_put_u32(msg, TORCOLL_A_PORT_DIM, dim);
		nla_put_u32(msg, TORCOLL_A_PORT_DIR, dir);
		nla_put_u32(msg, TORCOLL_A_PORT_IFINDEX, ifindex);
	}
	return conn_call(c, msg, NULL, NULL);
}

static int parse_dir(struct args *a, uint32_t *dir)
{
	const char *word = arg_need(a, "dir");
	int i;

	if (!word)
		return CTL_USAGE;
	if (!strcmp(word, "+"))
		word = "plus";
	if (!strcmp(word, "-"))
		word = "minus";
	i = word_find(word, dir_names, ARRAY_SIZE(dir_names), sizeof(*dir_names),
		      "direction (plus or minus)");
	*dir = i;
	return i < 0 ? CTL_USAGE : 0;
}

static int parse_dev(struct args *a, uint32_t *ifindex)
{
	const char *name = arg_need(a, "dev");

	if (!name)
		return CTL_USAGE;
	*ifindex = if_nametoindex(name);
	if (!*ifindex)
		return usage_error("dev: no device \"%s\" in this network namespace", name);
	return 0;
}

static int parse_place(struct args *a, struct place *p)
{
	int err = 0;

	if (a->argc && *a->argv[0] >= '0' && *a->argv[0] <= '9') {
		p->has_key = true;
		err = arg_u64(a, "the fabric's key", &p->key);
	}
	while (!err && a->argc) {
		if (!strcmp(a->argv[0], "d") || !strcmp(a->argv[0], "di"))
			return usage_error("\"%s\" may be dim or dir", a->argv[0]);
		if (arg_is(a, "dim")) {
			p->has_dim = true;
			err = arg_u32(a, "dim", &p->dim);
		} else if (arg_is(a, "dir")) {
			p->has_dir = true;
			err = parse_dir(a, &p->dir);
		} else if (arg_is(a, "dev")) {
			err = parse_dev(a, &p->ifindex);
		} else {
			err = arg_end(a);
		}
	}
	return err;
}

static int port_add(struct args *a)
{
	struct place p = { 0 };
	struct conn c;
	int ret = CTL_OK;

	if (parse_place(a, &p))
		return CTL_USAGE;
	if (!p.has_key || !p.has_dim || !p.has_dir || !p.ifindex)
		return usage_error("%s is missing", !p.has_key ? "the fabric's key" :
				   !p.has_dim ? "dim" : !p.has_dir ? "dir" : "dev");
	if (conn_need(&c))
		return CTL_USAGE;
	if (port_new(&c, p.key, p.dim, p.dir, p.ifindex))
		ret = conn_refused(&c);
	conn_close(&c);
	return ret;
}

/*
 * Find the fabric whose port a device is. Return 0, or CTL_REFUSED after
 * printing that it is not a port.
 */
static int find_key(struct conn *c, struct place *p)
{
	struct json_object *ports;
	size_t i, n;

	if (view_dump(c, &port_view, NULL, &ports))
		return conn_refused(c);
	n = json_object_array_length(ports);
	for (i = 0; i < n && !p->has_key; i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);

		p->has_key = js_u64(port, "ifindex") == p->ifindex;
		p->key = js_u64(port, "fabric");
	}
	json_object_put(ports);
	if (p->has_key)
		return 0;
	usage_error("dev: that device is no port");
	return CTL_REFUSED;
}

static int port_del(struct args *a)
{
	struct place p = { 0 };
	struct nl_msg *msg;
	struct conn c;
	int ret = CTL_OK;

	if (parse_place(a, &p))
		return CTL_USAGE;
	if (!p.ifindex && !(p.has_key && p.has_dim && p.has_dir))
		return usage_error("a port is named by key, dim and dir, or by dev");
	if (conn_need(&c))
		return CTL_USAGE;
	if (!p.has_key && find_key(&c, &p)) {
		conn_close(&c);
		return CTL_REFUSED;
	}
	msg = conn_request(&c, TORCOLL_CMD_PORT_DEL, 0);
	if (msg)
		nla_put_u64(msg, TORCOLL_A_PORT_FABRIC, p.key);
	if (msg && p.has_dim)
		nla_put_u32(msg, TORCOLL_A_PORT_DIM, p.dim);
	if (msg && p.has_dir)
		nla_put_u32(msg, TORCOLL_A_PORT_DIR, p.dir);
	if (msg && p.ifindex)
		nla_put_u32(msg, TORCOLL_A_PORT_IFINDEX, p.ifindex);
	if (conn_call(&c, msg, NULL, NULL))
		ret = conn_refused(&c);
	conn_close(&c);
	return ret;
}

static bool is_up(struct json_object *port)
{
	return !strcmp(js_str(port, "state"), "up");
}

static void print_heard(struct json_object *port)
{
	if (js_has(port, "heard_wire"))
		printf("; it speaks version %llu", (unsigned long long)js_u64(port, "heard_wire"));
	if (js_has(port, "heard_node"))
		printf("; heard: node %llu", (unsigned long long)js_u64(port, "heard_node"));
	if (js_has(port, "heard_dim"))
		printf(", dim %llu %s", (unsigned long long)js_u64(port, "heard_dim"),
		       js_str(port, "heard_dir"));
	if (js_has(port, "heard_version") && *js_str(port, "heard_version"))
		printf(", module %s", js_str(port, "heard_version"));
}

static const char *opposite(const char *dir)
{
	return strcmp(dir, "plus") ? "plus" : "minus";
}

/*
 * Return the port of this node that the cable heard by @port belongs to, if
 * any.
 */
static struct json_object *belongs_to(struct json_object *ports, struct json_object *port)
{
	size_t i, n = json_object_array_length(ports);

	for (i = 0; i < n; i++) {
		struct json_object *p = json_object_array_get_idx(ports, i);

		if (js_u64(p, "fabric") == js_u64(port, "fabric") &&
		    js_u64(p, "neighbour") == js_u64(port, "heard_node") &&
		    js_u64(p, "dim") == js_u64(port, "heard_dim") &&
		    !strcmp(js_str(p, "dir"), opposite(js_str(port, "heard_dir"))))
			return p;
	}
	return NULL;
}

/* Print where a wrong cable should lead, and where it should be plugged in. */
static void print_wiring(struct json_object *ports, struct json_object *port)
{
	struct json_object *right;

	if (strcmp(js_str(port, "state"), "miswired"))
		return;
	printf("; expected: node %s, dim %s %s", js_str(port, "neighbour"), js_str(port, "dim"),
	       opposite(js_str(port, "dir")));
	right = belongs_to(ports, port);
	if (right)
		printf("; that cable belongs to dim %s %s (%s)", js_str(right, "dim"),
		       js_str(right, "dir"), js_str(right, "ifname"));
	else
		printf("; that cable belongs to no port of this node");
}

/* Return the byte order of this host's kernel, and so of all comms here. */
static const char *own_order(void)
{
	return order_names[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__];
}

/*
 * Print the neighbour's byte order if it differs: the link works, but no comm
 * can include both hosts.
 */
static void print_order(struct json_object *port)
{
	const char *heard = js_str(port, "heard_order");

	if (!js_has(port, "heard_order") || !strcmp(heard, own_order()))
		return;
	printf("    dim %s %s (%s): the neighbour's byte order is %s-endian, this host's %s-endian: put them in "
	       "different communicators, frames of others pass\n", js_str(port, "dim"), js_str(port, "dir"),
	       js_str(port, "ifname"), heard, own_order());
}

/* The same is true of one whose frames are protected in another way. */
static void print_checksum(struct json_object *port)
{
	const char *heard = js_str(port, "heard_checksum");

	if (!js_has(port, "heard_checksum"))
		return;
	printf("    dim %s %s (%s): the neighbour's checksum is \"%s\", this node's \"%s\": make the fabric anew with the "
	       "same on both, they form no communicator\n", js_str(port, "dim"), js_str(port, "dir"),
	       js_str(port, "ifname"), heard,
	       checksum_names[!strcmp(heard, checksum_names[TORCOLL_CHECKSUM_FULL])]);
}

void port_print_reasons(struct json_object *ports)
{
	size_t i, n = json_object_array_length(ports);

	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);

		if (!is_up(port)) {
			printf("    dim %llu %s (%s): %s", (unsigned long long)js_u64(port, "dim"),
			       js_str(port, "dir"), js_str(port, "ifname"),
			       js_has(port, "reason") ? js_str(port, "reason") :
							js_str(port, "state"));
			print_heard(port);
			print_wiring(ports, port);
			putchar('\n');
		}
		if (js_has(port, "copies"))
			printf("    dim %llu %s (%s): %s\n",
			       (unsigned long long)js_u64(port, "dim"), js_str(port, "dir"),
			       js_str(port, "ifname"), js_str(port, "copies"));
		print_order(port);
		print_checksum(port);
	}
}

static void print_ports(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);
	struct table t = { 0 };

	if (!n) {
		fputs("There is no port.\n", stderr);
		return;
	}
	TABLE_ROW(&t, "FABRIC", "DIM", "DIR", "DEV", "STATE", "NEIGHBOUR", "MTU", "FRAME", "RX",
		  "TX", "MAC");
	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(list, i);

		TABLE_ROW(&t, js_str(port, "fabric"), js_str(port, "dim"), js_str(port, "dir"),
			  js_str(port, "ifname"), js_str(port, "state"), js_str(port, "neighbour"),
			  js_str(port, "mtu"), js_str(port, "frame_bytes"),
			  js_str(port, "rx_frames"), js_str(port, "tx_frames"),
			  js_str(port, "mac"));
	}
	table_print(&t);
	port_print_reasons(list);
}

static int port_show(struct args *a)
{
	return view_show(a, &port_view, print_ports);
}

int port_main(struct args *a)
{
	static const struct command commands[] = {
		{ "show", port_show }, { "list", port_show },
		{ "add", port_add }, { "del", port_del }, { "delete", port_del },
	};

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
