// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl limit: the limits of every user, and the users' present charges.
 */
#include <stdio.h>
#include <string.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl limit show\n"
	"       torcollctl limit set [comms N] [ops N] [pinned BYTES] [kernel BYTES]\n"
	"                            [fabrics N] [tables BYTES] [hellos N]\n"
	"\n"
	"For each user, over all its processes and all network namespaces:\n"
	"comms     communicators that are open\n"
	"ops       operations that were not waited for yet\n"
	"pinned    memory that is pinned\n"
	"kernel    kernel memory that all these take\n"
	"fabrics   that the user has added, the memory of their tables, and the hellos\n"
	"          per second of their ports\n"
	"\n"
	"N and BYTES as 512, 16K, 2M, 1G (of 1024), or none. Who opened the device, or\n"
	"added the fabric, with CAP_SYS_RESOURCE has no limits.\n";

static const struct field fields[] = {
	FIELD(TORCOLL_A_LIMIT_USER, FIELD_U32, "user"),
	FIELD(TORCOLL_A_LIMIT_UNLIMITED, FIELD_U32, "unlimited"),
	FIELD(TORCOLL_A_LIMIT_COMMS, FIELD_U64, "comms"),
	FIELD(TORCOLL_A_LIMIT_OPS, FIELD_U64, "ops"),
	FIELD(TORCOLL_A_LIMIT_PINNED, FIELD_U64, "pinned"),
	FIELD(TORCOLL_A_LIMIT_KERNEL, FIELD_U64, "kernel"),
	FIELD(TORCOLL_A_LIMIT_FABRICS, FIELD_U64, "fabrics"),
	FIELD(TORCOLL_A_LIMIT_TABLES, FIELD_U64, "tables"),
	FIELD(TORCOLL_A_LIMIT_HELLOS, FIELD_U64, "hellos"),
};

static const struct view limit_view = {
	TORCOLL_CMD_LIMIT_GET, 0, fields, ARRAY_SIZE(fields)
};

static const struct limit {
	const char *name;
	uint16_t attr;
	bool bytes;
} limits[LIMITS] = {
	{ "comms", TORCOLL_A_LIMIT_COMMS, false },
	{ "ops", TORCOLL_A_LIMIT_OPS, false },
	{ "pinned", TORCOLL_A_LIMIT_PINNED, true },
	{ "kernel", TORCOLL_A_LIMIT_KERNEL, true },
	{ "fabrics", TORCOLL_A_LIMIT_FABRICS, false },
	{ "tables", TORCOLL_A_LIMIT_TABLES, true },
	{ "hellos", TORCOLL_A_LIMIT_HELLOS, false },
};

static const char *amount(struct json_object *o, const struct limit *limit)
{
	uint64_t n = js_u64(o, limit->name);

	if (n >= LIMIT_NONE)
		return "none";
	return limit->bytes ? fmt_bytes(n) : js_str(o, limit->name);
}

static const char *who(struct json_object *o)
{
	if (!js_has(o, "user"))
		return "each user may have";
	return fmt_str("user %s%s has", js_str(o, "user"), js_u64(o, "unlimited") ? " (unlimited)" : "");
}

static void print_limits(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);
	struct table t = { 0 };

	TABLE_ROW(&t, "", "comms", "ops", "pinned", "kernel", "fabrics", "tables", "hellos/s");
	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		TABLE_ROW(&t, who(o), amount(o, &limits[0]), amount(o, &limits[1]),
			  amount(o, &limits[2]), amount(o, &limits[3]), amount(o, &limits[4]),
			  amount(o, &limits[5]), amount(o, &limits[6]));
	}
	table_print(&t);
}

int limits_get(struct conn *c, uint64_t value[LIMITS])
{
	struct json_object *list;
	int err = view_dump(c, &limit_view, NULL, &list);
	size_t i;

	if (err)
		return err;
	/* the limits come first, then what each user has */
	for (i = 0; i < LIMITS; i++) {
		value[i] = js_u64(json_object_array_get_idx(list, 0), limits[i].name);
		if (value[i] >= LIMIT_NONE)
			value[i] = UINT64_MAX;
	}
	json_object_put(list);
	return 0;
}

int limits_set(struct conn *c, const uint64_t value[LIMITS], uint32_t which)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_LIMIT_SET, 0);
	size_t i;

	for (i = 0; msg && i < LIMITS; i++)
		if (which & 1U << i)
			nla_put_u64(msg, limits[i].attr, value[i]);
	return conn_call(c, msg, NULL, NULL);
}

const char *limit_word(size_t i, uint64_t value)
{
	return fmt_str("%s %s", limits[i].name, value == UINT64_MAX ? "none" :
		       fmt_str("%llu", (unsigned long long)value));
}

static int limit_show(struct args *a)
{
	struct json_object *list;
	struct conn c;
	int ret = CTL_OK;

	if (arg_end(a) || conn_need(&c))
		return CTL_USAGE;
	if (view_dump(&c, &limit_view, NULL, &list)) {
		ret = conn_refused(&c);
	} else {
		if (opt.json)
			js_print(list);
		else
			print_limits(list);
		json_object_put(list);
	}
	conn_close(&c);
	return ret;
}

static int parse_limit(struct args *a, const struct limit *limit, struct nl_msg *msg)
{
	const char *word = arg_need(a, limit->name);
	uint64_t n = UINT64_MAX;

	if (!word)
		return CTL_USAGE;
	if (strcmp(word, "none") && !parse_amount(word, &n))
		return usage_error("%s: \"%s\" is no amount: give one such as 512, 16K, 2M, 1G, or none", limit->name,
				   word);
	nla_put_u64(msg, limit->attr, n);
	return CTL_OK;
}

static int limit_set(struct args *a)
{
	struct nl_msg *msg;
	const char *word;
	struct conn c;
	int ret = CTL_OK;

	if (!a->argc)
		return usage_error("a limit is missing, as in \"limit set comms 100\"");
	if (conn_need(&c))
		return CTL_USAGE;
	msg = conn_request(&c, TORCOLL_CMD_LIMIT_SET, 0);
	while (msg && !ret && (word = arg_next(a))) {
		int i = word_find(word, limits, ARRAY_SIZE(limits), sizeof(limits[0]), "limit");

		if (i < 0)
			ret = CTL_USAGE;
		else
			ret = arg_once(limits[i].name) ? parse_limit(a, &limits[i], msg) : arg_end(a);
	}
	if (ret)
		nlmsg_free(msg);
	else if (conn_call(&c, msg, NULL, NULL))
		ret = conn_refused(&c);
	conn_close(&c);
	return ret;
}

int limit_main(struct args *a)
{
	static const struct command commands[] = {
		{ "show", limit_show }, { "list", limit_show }, { "set", limit_set },
	};

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
