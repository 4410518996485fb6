// SPDX-License-Identifier: GPL-2.0
/* torcollctl monitor: events as they occur. */
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl [-j] monitor [fabric] [port] [comm]\n"
	"\n"
	"Prints a line for every change, until it is interrupted; of all objects unless some are named.\n";

struct event {
	uint8_t cmd;
	const char *object, *event;
	const struct view *view;
};

static const struct event events[] = {
	{ TORCOLL_CMD_FABRIC_NTF, "fabric", "new", &fabric_view },
	{ TORCOLL_CMD_FABRIC_DEL_NTF, "fabric", "deleted", &fabric_view },
	{ TORCOLL_CMD_PORT_NTF, "port", "changed", &port_view },
	{ TORCOLL_CMD_PORT_DEL_NTF, "port", "deleted", &port_view },
	{ TORCOLL_CMD_COMM_NTF, "comm", "changed", &comm_view },
	{ TORCOLL_CMD_COMM_DEL_NTF, "comm", "deleted", &comm_view },
};

struct wanted {
	bool any, fabric, port, comm;
};

static bool is_wanted(const struct wanted *w, const struct view *view)
{
	return !w->any || (w->fabric && view == &fabric_view) || (w->port && view == &port_view) ||
	       (w->comm && view == &comm_view);
}

static void print_details(const struct view *view, struct json_object *o)
{
	if (view == &fabric_view) {
		printf(" %s %s node %s", js_str(o, "key"), fmt_dims(js_get(o, "sides")),
		       js_str(o, "node"));
	} else if (view == &port_view) {
		printf(" %s dim %s %s dev %s %s", js_str(o, "fabric"), js_str(o, "dim"),
		       js_str(o, "dir"), js_str(o, "ifname"), js_str(o, "state"));
		if (js_has(o, "reason"))
			printf(": %s", js_str(o, "reason"));
	} else {
		printf(" %s of fabric %s rank %s of %s %s", js_str(o, "name"), js_str(o, "fabric"),
		       js_str(o, "rank"), js_str(o, "ranks"), js_str(o, "state"));
		if (js_has(o, "error"))
			printf(": %s", strerror(js_u64(o, "error")));
	}
}

static void print_event(const struct event *event, struct json_object *o)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	printf("%02d:%02d:%02d.%03ld %s %s", tm.tm_hour, tm.tm_min, tm.tm_sec,
	       now.tv_nsec / 1000000, event->object, event->event);
	print_details(event->view, o);
	putchar('\n');
	fflush(stdout);
}

static void tell(const struct event *event, struct nlmsghdr *nlh)
{
	struct json_object *o = view_parse(event->view, nlh);
	struct json_object *line;

	if (opt.json) {
		line = json_object_new_object();
		json_object_object_add(line, "object", json_object_new_string(event->object));
		json_object_object_add(line, "event", json_object_new_string(event->event));
		json_object_object_add(line, event->object, o);
		js_print(line);
		json_object_put(line);
		return;
	}
	print_event(event, o);
	json_object_put(o);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const struct wanted *w = arg;
	uint8_t cmd = genlmsg_hdr(nlh)->cmd;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].cmd == cmd && is_wanted(w, events[i].view))
			tell(&events[i], nlh);
	return NL_OK;
}

static int parse_wanted(struct args *a, struct wanted *w)
{
	while (a->argc) {
		if (arg_is(a, "fabric"))
			w->fabric = true;
		else if (arg_is(a, "port"))
			w->port = true;
		else if (arg_is(a, "comm"))
			w->comm = true;
		else if (!arg_is(a, "all"))
			return arg_end(a);
		w->any = w->fabric || w->port || w->comm;
	}
	return 0;
}

int monitor_main(struct args *a)
{
	struct wanted w = { 0 };
	struct conn c;
	int group, err;

	if (a->argc && !strcmp(a->argv[0], "help")) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (parse_wanted(a, &w) || conn_need(&c))
		return CTL_USAGE;
	group = genl_ctrl_resolve_grp(c.sk, TORCOLL_GENL_NAME, TORCOLL_MCGRP_EVENTS);
	err = group < 0 ? group : nl_socket_add_membership(c.sk, group);
	if (!err) {
		nl_socket_disable_seq_check(c.sk);
		nl_socket_modify_cb(c.sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, &w);
		/* lost events are reported */
		while ((err = nl_recvmsgs_default(c.sk)) >= 0 || err == -NLE_NOMEM)
			if (err == -NLE_NOMEM)
				fputs("Events were lost.\n", stderr);
	}
	other_error("monitor: %s", nl_geterror(err));
	conn_close(&c);
	return CTL_REFUSED;
}
