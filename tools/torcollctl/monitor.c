// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl monitor: events as they occur. The kernel also notifies of changes
 * that no line shows, and of several changes at once after the last of them: a
 * line that says of an object what the last one has said is left out.
 */
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
	"Prints a line for every change, until it is interrupted; of all objects unless\n"
	"some are named. A change that leaves all that the line says as it was is not\n"
	"printed, with -j neither.\n";

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
	struct json_object *said;	/* by object: what its last line said */
};

static bool is_wanted(const struct wanted *w, const struct view *view)
{
	return !w->any || (w->fabric && view == &fabric_view) || (w->port && view == &port_view) ||
	       (w->comm && view == &comm_view);
}

/* What identifies an object, in all of its events. */
static const char *name_of(const struct event *event, struct json_object *o)
{
	if (event->view == &fabric_view)
		return fmt_str("fabric %s", js_raw(o, "key"));
	if (event->view == &port_view)
		return fmt_str("port %s dim %s %s cable %s", js_raw(o, "fabric"), js_raw(o, "dim"),
			       js_raw(o, "dir"), js_raw(o, "cable"));
	return fmt_str("comm %s of fabric %s rank %s", js_raw(o, "tag"), js_raw(o, "fabric"),
		       js_raw(o, "rank"));
}

static const char *details_of(const struct view *view, struct json_object *o)
{
	const char *why = "", *which;

	if (view == &fabric_view)
		return fmt_str("%s %s node %s: %s of %s nodes reached, %s ends of links down",
			       js_str(o, "key"), fmt_dims(o, "sides", "kinds"), js_str(o, "node"),
			       js_str(o, "reached"), js_str(o, "nodes"), js_str(o, "dead_links"));
	if (view == &port_view) {
		if (js_has(o, "reason"))
			why = fmt_str(": %s", js_str(o, "reason"));
		/* of one that is gone the device is not known */
		which = js_has(o, "ifname") ? fmt_str("dev %s", js_str(o, "ifname")) :
					      fmt_str("cable %s", js_str(o, "cable"));
		return fmt_str("%s dim %s %s %s %s%s", js_str(o, "fabric"), js_str(o, "dim"),
			       js_str(o, "dir"), which, js_str(o, "state"), why);
	}
	if (js_has(o, "error"))
		why = fmt_str(": %s", strerror(js_u64(o, "error")));
	return fmt_str("%s of fabric %s rank %s of %s %s%s", js_str(o, "name"), js_str(o, "fabric"),
		       js_str(o, "rank"), js_str(o, "ranks"), js_str(o, "state"), why);
}

static void print_event(const struct event *event, const char *what, const char *details)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	printf("%02d:%02d:%02d.%03ld %s %s %s\n", tm.tm_hour, tm.tm_min, tm.tm_sec,
	       now.tv_nsec / 1000000, event->object, what, details);
	fflush(stdout);
}

static void print_json(const struct event *event, const char *what, struct json_object *o)
{
	struct json_object *line = json_object_new_object();

	json_object_object_add(line, "object", json_object_new_string(event->object));
	json_object_object_add(line, "event", json_object_new_string(what));
	json_object_object_add(line, event->object, json_object_get(o));
	js_print(line);
	json_object_put(line);
}

static void tell(const struct event *event, struct json_object *said, struct nlmsghdr *nlh)
{
	struct json_object *o = view_parse(event->view, nlh);
	const char *name = name_of(event, o);
	const char *details = details_of(event->view, o);
	const char *what = event->event;

	bool news = strcmp(js_raw(said, name), details);

	if (!strcmp(what, "deleted")) {
		json_object_object_del(said, name);
		news = true;
	} else {
		/* the kernel has one notification for a new fabric and a changed one */
		if (js_has(said, name))
			what = "changed";
		json_object_object_add(said, name, json_object_new_string(details));
	}
	if (news && opt.json)
		print_json(event, what, o);
	else if (news)
		print_event(event, what, details);
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
			tell(&events[i], w->said, nlh);
	return NL_OK;
}

/*
 * Note the present state of all objects, so that the first line about each is
 * about a change. A failure only costs a line that says nothing new.
 */
static void note_present(struct json_object *said)
{
	struct json_object *list, *o;
	struct conn c;
	size_t i, k, n;

	if (conn_open(&c))
		return;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (!strcmp(events[i].event, "deleted") ||
		    view_dump(&c, events[i].view, NULL, &list))
			continue;
		n = json_object_array_length(list);
		for (k = 0; k < n; k++) {
			o = json_object_array_get_idx(list, k);
			json_object_object_add(said, name_of(&events[i], o),
					       json_object_new_string(details_of(events[i].view,
										 o)));
		}
		json_object_put(list);
	}
	conn_close(&c);
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
		w.said = json_object_new_object();
		note_present(w.said);
		nl_socket_disable_seq_check(c.sk);
		nl_socket_modify_cb(c.sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, &w);
		/* lost events are reported */
		while ((err = nl_recvmsgs_default(c.sk)) >= 0 || err == -NLE_NOMEM)
			if (err == -NLE_NOMEM)
				fputs("Events were lost.\n", stderr);
		json_object_put(w.said);
	}
	other_error("monitor: %s", nl_geterror(err));
	conn_close(&c);
	return CTL_REFUSED;
}
