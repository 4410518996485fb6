// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl monitor: events as they occur. The kernel also notifies of changes
 * that no line shows, and of several changes at once after the last of them: a
 * line that says of an object what the last one has said is left out.
 *
 * A module that is unloaded takes the group of its listeners along: the kernel's
 * own family tells when that goes and comes. That may be among the events that a
 * slow reader loses.
 */
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl [-j] monitor [fabric] [port] [comm]\n"
	"\n"
	"Prints a line for every change, until it is interrupted; of all objects unless\n"
	"some are named. A change that leaves all that the line says as it was is not\n"
	"printed, with -j neither. If the module is unloaded, it waits for it.\n";

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
	struct conn c;			/* that hears of it */
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

static void tell_object(const struct event *event, struct json_object *said, struct json_object *o)
{
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
}

static void tell(const struct event *event, struct json_object *said, struct nlmsghdr *nlh)
{
	struct json_object *o = view_parse(event->view, nlh);

	tell_object(event, said, o);
	json_object_put(o);
}

static void note(const struct event *event, struct json_object *said, struct json_object *o)
{
	json_object_object_add(said, name_of(event, o),
			       json_object_new_string(details_of(event->view, o)));
}

/*
 * Note the present state of all objects, so that the next line about each is
 * about a change; and nothing of others, which are gone. If @is_told, tell what
 * of it is new. A failure only costs a line that says nothing new.
 */
static void take_present(struct wanted *w, bool is_told)
{
	struct json_object *present, *list, *o;
	struct conn c;
	size_t i, k, n;

	if (conn_open(&c))
		return;
	present = json_object_new_object();
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (!strcmp(events[i].event, "deleted") ||
		    view_dump(&c, events[i].view, NULL, &list))
			continue;
		n = json_object_array_length(list);
		for (k = 0; k < n; k++) {
			o = json_object_array_get_idx(list, k);
			note(&events[i], present, o);
			if (is_told && is_wanted(w, events[i].view))
				tell_object(&events[i], w->said, o);
		}
		json_object_put(list);
	}
	conn_close(&c);
	json_object_put(w->said);
	w->said = present;
}

static int not_joined(struct wanted *w, int err, const char *why)
{
	snprintf(w->c.text, sizeof(w->c.text), "%s", why);
	return err;
}

/*
 * Join a group, which another socket finds: what this one hears meanwhile is for
 * its own loop. Return 0; -ENOENT: there is no such group; or another error, with
 * its reason in w->c.text.
 */
static int join(struct wanted *w, const char *family, const char *name)
{
	struct conn c;
	int err = conn_open(&c), group;

	if (err)
		return not_joined(w, err, c.text);
	group = genl_ctrl_resolve_grp(c.sk, family, name);
	conn_close(&c);
	if (group < 0)
		return not_joined(w, group == -NLE_OBJ_NOTFOUND ? -ENOENT : -EIO, nl_geterror(group));
	err = nl_socket_add_membership(w->c.sk, group);
	return err ? not_joined(w, -EIO, nl_geterror(err)) : 0;
}

static void module_went(struct wanted *w)
{
	json_object_put(w->said);
	w->said = json_object_new_object();
	fputs("The module was unloaded.\n", stderr);
}

/* What it has got since it was loaded, no event of it is still to come. */
static void module_came(struct wanted *w)
{
	if (join(w, TORCOLL_GENL_NAME, TORCOLL_MCGRP_EVENTS)) {
		other_error("monitor: the module is loaded, but its events: %s", w->c.text);
		return;
	}
	fputs("The module is loaded.\n", stderr);
	take_present(w, true);
}

/* A family of generic netlink has come or gone. */
static void on_family(struct wanted *w, struct genlmsghdr *hdr)
{
	struct nlattr *name = nla_find(genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0),
				       CTRL_ATTR_FAMILY_NAME);

	if (!name || nla_strcmp(name, TORCOLL_GENL_NAME))
		return;
	if (hdr->cmd == CTRL_CMD_DELFAMILY)
		module_went(w);
	else if (hdr->cmd == CTRL_CMD_NEWFAMILY)
		module_came(w);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct wanted *w = arg;
	uint8_t cmd = genlmsg_hdr(nlh)->cmd;
	size_t i;

	if (nlh->nlmsg_type == GENL_ID_CTRL) {
		on_family(w, genlmsg_hdr(nlh));
		return NL_OK;
	}
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].cmd == cmd && is_wanted(w, events[i].view))
			tell(&events[i], w->said, nlh);
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

static bool is_more(const struct wanted *w)
{
	struct pollfd fd = { .fd = nl_socket_get_fd(w->c.sk), .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/* The module may have gone among them, or have come again. */
static void after_lost_events(struct wanted *w)
{
	int err = join(w, TORCOLL_GENL_NAME, TORCOLL_MCGRP_EVENTS);

	if (err == -ENOENT) {
		module_went(w);
		return;
	}
	/* it is there, as far as is known, and was joined before */
	if (err)
		other_error("monitor: %s", w->c.text);
	take_present(w, true);
}

/*
 * Return the error that ended it: lost events do not, and are reported. From the
 * first one that is lost until what came before them has been read, the kernel
 * drops all, and says so once.
 */
static int listen_for_ever(struct wanted *w)
{
	bool lost = false;
	int err;

	nl_socket_disable_seq_check(w->c.sk);
	nl_socket_modify_cb(w->c.sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, w);
	while ((err = nl_recvmsgs_default(w->c.sk)) >= 0 || err == -NLE_NOMEM) {
		if (err == -NLE_NOMEM) {
			fputs("Events were lost.\n", stderr);
			lost = true;
		}
		if (lost && !is_more(w)) {
			after_lost_events(w);
			lost = false;
		}
	}
	return err;
}

int monitor_main(struct args *a)
{
	struct wanted w = { 0 };
	int err;

	if (a->argc && !strcmp(a->argv[0], "help")) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (parse_wanted(a, &w) || conn_need(&w.c))
		return CTL_USAGE;
	err = join(&w, "nlctrl", "notify");
	if (!err)
		err = join(&w, TORCOLL_GENL_NAME, TORCOLL_MCGRP_EVENTS);
	if (!err) {
		w.said = json_object_new_object();
		take_present(&w, false);
		other_error("monitor: %s", nl_geterror(listen_for_ever(&w)));
		json_object_put(w.said);
	} else {
		other_error("monitor: %s", w.c.text);
	}
	conn_close(&w.c);
	return CTL_REFUSED;
}
