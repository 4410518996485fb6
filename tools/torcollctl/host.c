// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl host: the name by which neighbours, and those who ask for a survey,
 * see this host.
 */
#include <netlink/attr.h>
#include <stdio.h>
#include <string.h>

#include "linux/torcoll_wire.h"

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl host show\n"
	"       torcollctl host name NAME | default\n"
	"\n"
	"name      by which other hosts see this one, in this network namespace, until\n"
	"          the module is unloaded; default: the system's (hostname)\n";

static const struct field fields[] = {
	FIELD(TORCOLL_A_HOST_NAME, FIELD_STRING, "name"),
};

static const struct view host_view = {
	TORCOLL_CMD_NAME_GET, 0, fields, ARRAY_SIZE(fields)
};

int host_name_set(struct conn *c, const char *name)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_NAME_SET, 0);

	if (msg && name)
		nla_put_string(msg, TORCOLL_A_HOST_NAME, name);
	return conn_call(c, msg, NULL, NULL);
}

static void take_name(struct nlmsghdr *nlh, void *arg)
{
	struct json_object **host = arg;

	if (!*host)
		*host = view_parse(&host_view, nlh);
}

static int host_get(struct conn *c, struct json_object **host)
{
	*host = NULL;
	return conn_call(c, conn_request(c, TORCOLL_CMD_NAME_GET, 0), take_name, host);
}

int host_name_get(struct conn *c, char *name, size_t size)
{
	struct json_object *host;
	int err = host_get(c, &host);

	if (!err)
		snprintf(name, size, "%s", js_raw(host, "name"));
	json_object_put(host);
	return err;
}

static int host_show(struct args *a)
{
	struct json_object *host = NULL;
	struct conn c;
	int ret = CTL_OK;

	if (arg_end(a) || conn_need(&c))
		return CTL_USAGE;
	if (host_get(&c, &host))
		ret = conn_refused(&c);
	else if (opt.json)
		js_print(host);
	else
		printf("%s\n", js_str(host, "name"));
	json_object_put(host);
	conn_close(&c);
	return ret;
}

static int host_name(struct args *a)
{
	const char *name = arg_need(a, "the name");
	struct conn c;
	int ret = CTL_OK;

	if (!name || arg_end(a))
		return CTL_USAGE;
	if (strlen(name) > TORCOLL_HOST_NAME)
		return usage_error("name: \"%s\" is longer than %d characters", name, TORCOLL_HOST_NAME);
	if (conn_need(&c))
		return CTL_USAGE;
	if (host_name_set(&c, strcmp(name, "default") ? name : NULL))
		ret = conn_refused(&c);
	conn_close(&c);
	return ret;
}

int host_main(struct args *a)
{
	static const struct command commands[] = {
		{ "show", host_show },
		{ "name", host_name },
	};

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
