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
	"Usage: torcollctl port add KEY dim D dir plus|minus|+N dev NAME\n"
	"       torcollctl port del KEY dim D dir plus|minus|+N [dev NAME]\n"
	"       torcollctl port del dev NAME\n"
	"       torcollctl [-a] port show [KEY]\n"
	"\n"
	"dim       dimension, from 0\n"
	"dir       plus: towards higher coordinates; minus: towards lower ones; in a mesh\n"
	"          +1, +2, ...: to the node that many steps further up\n"
	"dev       device; up to four share a dimension and direction\n"
	"-a        also the payload bytes of a frame and the MAC address\n";

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
	FIELD(TORCOLL_A_PORT_CABLE, FIELD_U32, "cable"),
	FIELD(TORCOLL_A_PORT_IFINDEX, FIELD_U32, "ifindex"),
	FIELD(TORCOLL_A_PORT_IFNAME, FIELD_STRING, "ifname"),
	FIELD(TORCOLL_A_PORT_STATE, FIELD_STATE, "state"),
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
	FIELD(TORCOLL_A_PORT_HEARD_NAME, FIELD_STRING, "heard_name"),
	FIELD(TORCOLL_A_PORT_HEARD_RATES, FIELD_U32, "heard_rates"),
	FIELD(TORCOLL_A_PORT_HEARD_CABLES, FIELD_U32, "heard_cables"),
	FIELD(TORCOLL_A_PORT_HEARD_SIDES, FIELD_U32S, "heard_sides"),
	FIELD_OF(TORCOLL_A_PORT_HEARD_KINDS, FIELD_U32S, "heard_kinds", host_kind_names),
	FIELD(TORCOLL_A_PORT_HEARD_MTU, FIELD_U32, "heard_mtu"),
	FIELD(TORCOLL_A_PORT_HEARD_TAG, FIELD_U32, "heard_tag"),
	FIELD(TORCOLL_A_PORT_HEARD_AGO_NS, FIELD_U64, "heard_ago_ns"),
	FIELD(TORCOLL_A_PORT_MAC, FIELD_MAC, "mac"),
	FIELD(TORCOLL_A_PORT_HEARD_MAC, FIELD_MAC, "heard_mac"),
	FIELD(TORCOLL_A_PORT_MTU, FIELD_U32, "mtu"),
	FIELD(TORCOLL_A_PORT_FRAME_BYTES, FIELD_U32, "frame_bytes"),
	FIELD(TORCOLL_A_PORT_COPIES, FIELD_STRING, "copies"),
	FIELD(TORCOLL_A_PORT_RX_FRAMES, FIELD_U64, "rx_frames"),
	FIELD(TORCOLL_A_PORT_TX_FRAMES, FIELD_U64, "tx_frames"),
	FIELD(TORCOLL_A_PORT_DROPS, FIELD_U64, "drops"),
	FIELD(TORCOLL_A_PORT_LOST, FIELD_U64, "lost"),
	FIELD(TORCOLL_A_PORT_DAMAGED, FIELD_U64, "damaged"),
	FIELD(TORCOLL_A_PORT_RESENT, FIELD_U64, "resent"),
	FIELD(TORCOLL_A_PORT_DOWNS, FIELD_U64, "downs"),
	FIELD(TORCOLL_A_PORT_SINCE_NS, FIELD_U64, "since_ns"),
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

int port_delete(struct conn *c, uint64_t key, uint32_t dim, uint32_t dir, uint32_t ifindex)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_PORT_DEL, 0);

	if (msg) {
		nla_put_u64(msg, TORCOLL_A_PORT_FABRIC, key);
		nla_put_u32(msg, TORCOLL_A_PORT_DIM, dim);
		nla_put_u32(msg, TORCOLL_A_PORT_DIR, dir);
		if (ifindex)
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
		      "direction (plus or minus, or in a mesh +1, +2, ...)");
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

/* The node that belongs at the other end, and the one that is heard, if that is another. */
static const char *neighbour(struct json_object *port)
{
	if (js_has(port, "heard_tag"))
		return fmt_str("%s, heard: another fabric", js_str(port, "neighbour"));
	if (js_has(port, "heard_node") && js_u64(port, "heard_node") != js_u64(port, "neighbour"))
		return fmt_str("%s, heard: %s", js_str(port, "neighbour"), js_str(port, "heard_node"));
	return js_str(port, "neighbour");
}

static void print_ports(struct json_object *list)
{
	static const char *const heads[] = {
		"FABRIC", "DIM", "DIR", "DEV", "STATE", "SINCE", "NEIGHBOUR", "MTU", "RX", "TX",
		"LOST", "DAMAGED", "RESENT", "DOWNS", "FRAME", "MAC",
	};
	/* the last two are rarely of interest */
	size_t columns = ARRAY_SIZE(heads) - (opt.all ? 0 : 2);
	size_t i, n = json_object_array_length(list);
	struct table t = { 0 };

	if (!n) {
		fputs("There is no port.\n", stderr);
		return;
	}
	table_row(&t, columns, heads);
	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(list, i);
		const char *const cells[] = {
			js_str(port, "fabric"), js_str(port, "dim"), js_str(port, "dir"),
			js_str(port, "ifname"), js_str(port, "state"),
			fmt_age(js_u64(port, "since_ns")), neighbour(port),
			js_str(port, "mtu"), js_str(port, "rx_frames"),
			js_str(port, "tx_frames"), js_str(port, "lost"),
			js_str(port, "damaged"), js_str(port, "resent"), js_str(port, "downs"),
			js_str(port, "frame_bytes"), js_str(port, "mac"),
		};

		_Static_assert(ARRAY_SIZE(cells) == ARRAY_SIZE(heads), "a cell below each head");
		table_row(&t, columns, cells);
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
