// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that netlink must refuse, by bare messages, so that no tool checks them first. For bad.sh:
 * wants the namespaces of a 2x2 torus, says KTAP. All go to node 0, whose fabric has key 1 and ports in
 * dimension 0 (plus) and 1 (plus); what is refused must leave it as it was.
 */
#include "bad_netlink.h"

#include <net/if.h>
#include <sys/syscall.h>

#include <linux/capability.h>

#define ATTRS_MAX	8

/* --- the table --- */

/**
 * struct row - a request and what becomes of it
 * @base: good request to begin with
 * @without: attribute that is left out of it, 0: none
 * @type, @size, @value: attribute that is added, or stands in for that of the good request; 0: none
 * @want: errno
 */
struct row {
	const char *name;
	const struct base *base;
	unsigned int without;
	unsigned int type;
	size_t size;
	const void *value;
	bool unprivileged;
	int want;
};

struct attr {
	unsigned int type;
	size_t size;
	const void *value;
};

/* @undo: makes it undone, if it was done; 0: nothing to undo */
struct base {
	const char *name;
	unsigned int cmd;
	unsigned int flags;
	const struct base *undo;
	struct attr attr[ATTRS_MAX];
};

#define SET_U32(...)	.size = sizeof((uint32_t []) { __VA_ARGS__ }), .value = (const uint32_t []) { __VA_ARGS__ }
#define SET_U64(_value)	.size = 8, .value = &(const uint64_t) { _value }
#define SET_BYTES(_n)	.size = (_n), .value = zeros
#define SET_AT(_p)	.size = 4, .value = (_p)

static const char zeros[64];

static uint32_t d0p, lo;

static const struct base fabric_del = {
	"fabric_del", TORCOLL_CMD_FABRIC_DEL, 0, NULL, { { .type = TORCOLL_A_FABRIC_KEY, SET_U64(3) } },
};

static const struct base fabric_new = {
	"fabric_new", TORCOLL_CMD_FABRIC_NEW, 0, &fabric_del, {
		{ .type = TORCOLL_A_FABRIC_KEY, SET_U64(3) },
		{ .type = TORCOLL_A_FABRIC_SIDES, SET_U32(4, 3) },
		{ .type = TORCOLL_A_FABRIC_NODE, SET_U32(5) },
	},
};

/* Is there while the table runs, and has no ports. */
static const struct base second_new = {
	"second_new", TORCOLL_CMD_FABRIC_NEW, 0, NULL, {
		{ .type = TORCOLL_A_FABRIC_KEY, SET_U64(2) },
		{ .type = TORCOLL_A_FABRIC_SIDES, SET_U32(4, 3) },
		{ .type = TORCOLL_A_FABRIC_NODE, SET_U32(5) },
	},
};

static const struct base second_del = {
	"second_del", TORCOLL_CMD_FABRIC_DEL, 0, NULL, { { .type = TORCOLL_A_FABRIC_KEY, SET_U64(2) } },
};

static const struct base port_del = {
	"port_del", TORCOLL_CMD_PORT_DEL, 0, NULL, {
		{ .type = TORCOLL_A_PORT_FABRIC, SET_U64(2) },
		{ .type = TORCOLL_A_PORT_DIM, SET_U32(0) },
		{ .type = TORCOLL_A_PORT_DIR, SET_U32(0) },
	},
};

static const struct base port_new = {
	"port_new", TORCOLL_CMD_PORT_NEW, 0, &port_del, {
		{ .type = TORCOLL_A_PORT_FABRIC, SET_U64(2) },
		{ .type = TORCOLL_A_PORT_DIM, SET_U32(0) },
		{ .type = TORCOLL_A_PORT_DIR, SET_U32(0) },
		{ .type = TORCOLL_A_PORT_IFINDEX, SET_AT(&d0p) },
	},
};

static const struct base port_get = {
	"port_get", TORCOLL_CMD_PORT_GET, 0, NULL, {
		{ .type = TORCOLL_A_PORT_FABRIC, SET_U64(1) },
		{ .type = TORCOLL_A_PORT_DIM, SET_U32(0) },
		{ .type = TORCOLL_A_PORT_DIR, SET_U32(0) },
	},
};

static const struct base stats_get = {
	"stats_get", TORCOLL_CMD_STATS_GET, 0, NULL, { { .type = TORCOLL_A_STATS_FABRIC, SET_U64(1) } },
};

static const struct base node_dump = {
	"node_dump", TORCOLL_CMD_NODE_GET, NLM_F_DUMP, NULL, {},
};

static const struct base unknown_cmd = {
	"unknown_command", 200, 0, NULL, {},
};

#define ROW(_base, _name, _want, ...)	\
	{ .base = &(_base), .name = (_name), .want = (_want), __VA_ARGS__ }
#define WITHOUT(_attr)		.without = TORCOLL_A_##_attr
/* in place of the good one, and beside it */
#define WITH(_attr, _set, ...)	\
	.without = TORCOLL_A_##_attr, .type = TORCOLL_A_##_attr, SET_##_set(__VA_ARGS__)
#define TWICE(_attr, _set, ...)	.type = TORCOLL_A_##_attr, SET_##_set(__VA_ARGS__)
#define TYPE(_type, _set, ...)	.type = (_type), SET_##_set(__VA_ARGS__)

static const struct row rows[] = {
	ROW(fabric_new, "as_it_should_be", 0),
	ROW(fabric_new, "unprivileged", EPERM, .unprivileged = true),
	ROW(fabric_new, "no_key", EINVAL, WITHOUT(FABRIC_KEY)),
	ROW(fabric_new, "no_sides", EINVAL, WITHOUT(FABRIC_SIDES)),
	ROW(fabric_new, "no_node", EINVAL, WITHOUT(FABRIC_NODE)),
	ROW(fabric_new, "key_of_1_byte", EINVAL, WITH(FABRIC_KEY, BYTES, 1)),
	ROW(fabric_new, "key_of_4_bytes", EINVAL, WITH(FABRIC_KEY, BYTES, 4)),
	ROW(fabric_new, "key_of_9_bytes", EINVAL, WITH(FABRIC_KEY, BYTES, 9)),
	ROW(fabric_new, "key_empty", EINVAL, WITH(FABRIC_KEY, BYTES, 0)),
	ROW(fabric_new, "key_taken", EEXIST, WITH(FABRIC_KEY, U64, 1)),
	ROW(fabric_new, "key_twice_last_counts", EEXIST, TWICE(FABRIC_KEY, U64, 1)),
	ROW(fabric_new, "sides_empty", EINVAL, WITH(FABRIC_SIDES, BYTES, 0)),
	ROW(fabric_new, "sides_odd", EINVAL, WITH(FABRIC_SIDES, BYTES, 6)),
	ROW(fabric_new, "sides_0", EINVAL, WITH(FABRIC_SIDES, U32, 0, 3)),
	ROW(fabric_new, "sides_7", EINVAL, WITH(FABRIC_SIDES, U32, 1, 1, 1, 1, 1, 2, 3)),
	ROW(fabric_new, "sides_2^32-1", EINVAL, WITH(FABRIC_SIDES, U32, ~0U, ~0U)),
	ROW(fabric_new, "sides_wrap", EINVAL, WITH(FABRIC_SIDES, U32, 1U << 16, 1U << 16, 1U << 16)),
	ROW(fabric_new, "kinds_empty", EINVAL, TWICE(FABRIC_KINDS, BYTES, 0)),
	ROW(fabric_new, "kinds_odd", EINVAL, TWICE(FABRIC_KINDS, BYTES, 6)),
	ROW(fabric_new, "kinds_too_few", EINVAL, TWICE(FABRIC_KINDS, U32, 1)),
	ROW(fabric_new, "kinds_too_many", EINVAL, TWICE(FABRIC_KINDS, U32, 0, 0, 0, 0, 0, 0, 0)),
	ROW(fabric_new, "kind_3", EINVAL, TWICE(FABRIC_KINDS, U32, 0, 3)),
	ROW(fabric_new, "kind_of_a_side", EINVAL, WITH(FABRIC_SIDES, U32, 4, 1U << 18 | 3)),
	ROW(fabric_new, "line_and_mesh", 0, TWICE(FABRIC_KINDS, U32, 1, 2)),
	ROW(fabric_new, "ring_of_511", 0, WITH(FABRIC_SIDES, U32, 511)),
	ROW(fabric_new, "ring_of_512", EOPNOTSUPP, WITH(FABRIC_SIDES, U32, 512)),
	ROW(fabric_new, "sides_too_far_apart", EOPNOTSUPP, WITH(FABRIC_SIDES, U32, 300, 300)),
	ROW(fabric_new, "sides_twice_last_counts", EINVAL, TWICE(FABRIC_SIDES, U32, 2, 2)),
	ROW(fabric_new, "node_outside", EINVAL, WITH(FABRIC_NODE, U32, 12)),
	ROW(fabric_new, "node_2^32-1", EINVAL, WITH(FABRIC_NODE, U32, ~0U)),
	ROW(fabric_new, "node_of_2_bytes", EINVAL, WITH(FABRIC_NODE, BYTES, 2)),
	ROW(fabric_new, "coord_too_few", EINVAL, TWICE(FABRIC_COORD, U32, 1)),
	ROW(fabric_new, "coord_too_many", EINVAL, TWICE(FABRIC_COORD, U32, 1, 1, 0)),
	ROW(fabric_new, "coord_outside", EINVAL, TWICE(FABRIC_COORD, U32, 1, 3)),
	ROW(fabric_new, "coord_2^32-1", EINVAL, TWICE(FABRIC_COORD, U32, ~0U, ~0U)),
	ROW(fabric_new, "coord_disagrees", EINVAL, TWICE(FABRIC_COORD, U32, 1, 2)),
	ROW(fabric_new, "coord_agrees", 0, TWICE(FABRIC_COORD, U32, 1, 1)),
	ROW(fabric_new, "cables_0", ERANGE, TWICE(FABRIC_CABLES, U32, 0)),
	ROW(fabric_new, "cables_3", ERANGE, TWICE(FABRIC_CABLES, U32, 3)),
	ROW(fabric_new, "ethertype_0", EINVAL, TWICE(FABRIC_ETHERTYPE, U32, 0)),
	ROW(fabric_new, "ethertype_0x5ff", EINVAL, TWICE(FABRIC_ETHERTYPE, U32, 0x5ff)),
	ROW(fabric_new, "ethertype_of_ip", EINVAL, TWICE(FABRIC_ETHERTYPE, U32, 0x0800)),
	ROW(fabric_new, "ethertype_of_macsec", EINVAL, TWICE(FABRIC_ETHERTYPE, U32, 0x88e5)),
	ROW(fabric_new, "ethertype_of_17_bits", EINVAL, TWICE(FABRIC_ETHERTYPE, U32, 0x188b5)),
	ROW(fabric_new, "hello_9ms", ERANGE, TWICE(FABRIC_HELLO_MS, U32, 9)),
	ROW(fabric_new, "hello_10001ms", ERANGE, TWICE(FABRIC_HELLO_MS, U32, 10001)),
	ROW(fabric_new, "checksum_2", ERANGE, TWICE(FABRIC_CHECKSUM, U32, 2)),
	ROW(fabric_new, "frame_of_383", ERANGE, TWICE(FABRIC_FRAME_SIZE, U32, 383)),
	ROW(fabric_new, "frame_of_65536", EINVAL, TWICE(FABRIC_FRAME_SIZE, U32, 65536)),
	ROW(fabric_new, "only_read_attribute", EINVAL, TWICE(FABRIC_TAG, U32, 1)),
	ROW(fabric_new, "unknown_attribute", EINVAL, TYPE(1000, BYTES, 4)),
	ROW(fabric_new, "attribute_0", EINVAL, TYPE(0, BYTES, 4)),
	ROW(fabric_new, "nested_key", EINVAL, TYPE(TORCOLL_A_FABRIC_KEY | NLA_F_NESTED, BYTES, 8)),
	ROW(fabric_del, "no_such", ENOENT, WITH(FABRIC_KEY, U64, 99)),
	ROW(fabric_del, "no_key", EINVAL, WITHOUT(FABRIC_KEY)),
	ROW(fabric_del, "unprivileged", EPERM, .unprivileged = true),
	ROW(port_new, "used_by_another_fabric", EBUSY),
	ROW(port_new, "device_taken", EBUSY, WITH(PORT_FABRIC, U64, 1)),
	ROW(port_new, "cable_4", ERANGE, TWICE(PORT_CABLE, U32, 4)),
	ROW(port_new, "cable_of_8_bytes", EINVAL, TWICE(PORT_CABLE, BYTES, 8)),
	ROW(port_new, "unprivileged", EPERM, .unprivileged = true),
	ROW(port_new, "no_fabric", EINVAL, WITHOUT(PORT_FABRIC)),
	ROW(port_new, "no_such_fabric", ENOENT, WITH(PORT_FABRIC, U64, 99)),
	ROW(port_new, "no_dim", EINVAL, WITHOUT(PORT_DIM)),
	ROW(port_new, "no_dir", EINVAL, WITHOUT(PORT_DIR)),
	ROW(port_new, "no_device", EINVAL, WITHOUT(PORT_IFINDEX)),
	ROW(port_new, "dim_6", ERANGE, WITH(PORT_DIM, U32, 6)),
	ROW(port_new, "dim_without_side", EINVAL, WITH(PORT_DIM, U32, 2)),
	ROW(port_new, "dim_of_8_bytes", EINVAL, WITH(PORT_DIM, BYTES, 8)),
	ROW(port_new, "dir_14", ERANGE, WITH(PORT_DIR, U32, 14)),
	ROW(port_new, "dir_of_a_mesh", EINVAL, WITH(PORT_DIR, U32, 2)),
	ROW(port_new, "device_0", ERANGE, WITH(PORT_IFINDEX, U32, 0)),
	ROW(port_new, "device_2^31", ENODEV, WITH(PORT_IFINDEX, U32, 1U << 31)),
	ROW(port_new, "device_9999", ENODEV, WITH(PORT_IFINDEX, U32, 9999)),
	ROW(port_new, "not_ethernet", EINVAL, WITH(PORT_IFINDEX, AT, &lo)),
	ROW(port_new, "only_read_attribute", EINVAL, TWICE(PORT_MTU, U32, 9000)),
	ROW(port_new, "unknown_attribute", EINVAL, TYPE(999, BYTES, 0)),
	ROW(port_del, "no_port_there", ENOENT),
	ROW(port_del, "device_is_no_port", ENOENT, TWICE(PORT_IFINDEX, AT, &lo)),
	ROW(port_del, "unprivileged", EPERM, .unprivileged = true),
	ROW(port_get, "as_it_should_be", 0),
	ROW(port_get, "no_port_there", ENOENT, WITH(PORT_DIR, U32, 1)),
	ROW(port_get, "dim_6", ERANGE, WITH(PORT_DIM, U32, 6)),
	ROW(stats_get, "as_it_should_be", 0),
	ROW(stats_get, "no_such_fabric", ENOENT, WITH(STATS_FABRIC, U64, 99)),
	ROW(stats_get, "no_fabric", EINVAL, WITHOUT(STATS_FABRIC)),
	ROW(stats_get, "unknown_attribute", EINVAL, TYPE(77, BYTES, 4)),
	ROW(node_dump, "as_it_should_be", 0),
	ROW(node_dump, "unknown_attribute", EINVAL, TYPE(77, BYTES, 4)),
	ROW(unknown_cmd, "it", EOPNOTSUPP),
};

/* Drop or take back all capabilities that count. */
static void set_privileged(bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	need(!syscall(SYS_capget, &header, data), "no capabilities to see");
	data[0].effective = on ? data[0].permitted : 0;
	data[1].effective = on ? data[1].permitted : 0;
	need(!syscall(SYS_capset, &header, data), "capabilities stay");
}

/* A request without attribute @without; the caller may add another. */
static void compose(struct message *msg, const struct base *base, unsigned int without)
{
	const struct attr *attr;

	begin(msg, family, base->cmd);
	msg->nl.nlmsg_flags |= base->flags;
	for (attr = base->attr; attr->type; attr++)
		if (attr->type != without)
			add(msg, attr->type, attr->value, attr->size);
}

static void must(const struct base *base)
{
	static char answer[8192] __attribute__((aligned(8)));
	struct message msg;

	compose(&msg, base, 0);
	need(!ask(&msg, answer, sizeof(answer)), "%s is refused", base->name);
}

static void run(const struct row *row)
{
	static char answer[16384] __attribute__((aligned(8)));
	const struct base *base = row->base;
	struct message msg;
	int got;

	compose(&msg, base, row->without);
	if (row->value)
		add(&msg, row->type, row->value, row->size);
	if (row->unprivileged)
		set_privileged(false);
	got = ask(&msg, answer, sizeof(answer));
	if (row->unprivileged)
		set_privileged(true);
	if (got != row->want)
		printf("# %s: got %s, wanted %s\n", row->name, strerror(got), strerror(row->want));
	result(got == row->want, "%s__%s", base->name, row->name);
	if (!got && base->undo)
		must(base->undo);
}

/* Messages that end where they should not. */
static void run_cut(void)
{
	static char answer[8192] __attribute__((aligned(8)));
	struct message msg;
	unsigned int i;

	begin(&msg, family, TORCOLL_CMD_FABRIC_NEW);
	add(&msg, TORCOLL_A_FABRIC_KEY, zeros, 8);
	((struct nlattr *)msg.attrs)->nla_len = 200;
	result(ask(&msg, answer, sizeof(answer)) == EINVAL, "cut__attribute_beyond_the_end");
	begin(&msg, family, TORCOLL_CMD_FABRIC_NEW);
	add(&msg, TORCOLL_A_FABRIC_KEY, zeros, 8);
	((struct nlattr *)msg.attrs)->nla_len = 3;
	result(ask(&msg, answer, sizeof(answer)) == EINVAL, "cut__attribute_shorter_than_its_head");
	for (i = NLMSG_HDRLEN; i < NLMSG_HDRLEN + GENL_HDRLEN; i++) {
		begin(&msg, family, TORCOLL_CMD_FABRIC_NEW);
		msg.nl.nlmsg_len = i;
		result(ask(&msg, answer, sizeof(answer)) == EINVAL, "cut__head_of_%u_bytes", i);
	}
}

int main(void)
{
	unsigned int i;

	open_netlink(0);
	d0p = if_nametoindex("d0p");
	lo = if_nametoindex("lo");
	need(d0p && lo, "no devices");
	must(&second_new);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		run(&rows[i]);
	run_cut();
	must(&second_del);
	return finish();
}
