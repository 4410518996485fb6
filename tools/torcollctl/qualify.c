// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl qualify: measure cables. The neighbour's module answers test
 * frames with short frames; first one at a time, then as many as the cable
 * takes. Lost frames and errors that the devices count meanwhile are reported.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cable.h"
#include "ctl.h"

#define SECONDS		5
#define SECONDS_MOST	86400
#define REST_FRAMES	200		/* one after the other */
#define REST_BYTES	128
#define REST_NS		2000000000ULL
#define HEADER_BYTES	64

static const char help[] =
	"Usage: torcollctl qualify [dev NAME] [seconds N] [window N]\n"
	"\n"
	"dev       the port to test; without it all that are up, one after another\n"
	"seconds   for how long under load, 5\n"
	"window    frames under way at a time under load, 64\n"
	"\n"
	"Exit status: 0 if nothing was lost and no device counted an error; else 2.\n";

struct plan {
	uint32_t ifindex;
	uint32_t seconds;
	uint32_t window;
};

/* --- error counters of devices --- */

#define ERROR(_name)	{ #_name, offsetof(struct rtnl_link_stats64, _name) }

static const struct {
	const char *name;
	size_t at;
} errors[] = {
	ERROR(rx_errors), ERROR(tx_errors), ERROR(rx_dropped), ERROR(tx_dropped),
	ERROR(rx_crc_errors), ERROR(rx_frame_errors), ERROR(rx_length_errors),
	ERROR(rx_fifo_errors), ERROR(rx_missed_errors), ERROR(rx_over_errors),
	ERROR(tx_carrier_errors), ERROR(tx_fifo_errors), ERROR(tx_aborted_errors), ERROR(collisions),
};

static uint64_t error_of(const struct rtnl_link_stats64 *stats, size_t i)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + errors[i].at, sizeof(value));
	return value;
}

static void on_link(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *attr = nlmsg_find_attr(nlh, sizeof(struct ifinfomsg), IFLA_STATS64);

	if (attr)
		nla_memcpy(arg, attr, sizeof(struct rtnl_link_stats64));
}

static int read_stats(struct conn *route, uint32_t ifindex, struct rtnl_link_stats64 *stats)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, 0);

	memset(stats, 0, sizeof(*stats));
	if (msg && nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return conn_call(route, msg, on_link, stats);
}

/* --- results --- */

static void add_u64(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static uint32_t percentile(const struct cable_result *r, unsigned int percent)
{
	return r->rtts ? r->rtt[(r->rtts - 1) * percent / 100] : 0;
}

static struct json_object *result_json(const struct cable_result *r)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "sent", r->sent);
	add_u64(o, "arrived", r->arrived);
	add_u64(o, "answered", r->answered);
	add_u64(o, "late", r->late);
	add_u64(o, "missed", r->missed);
	add_u64(o, "ns", r->ns);
	add_u64(o, "bps", r->ns ? r->bytes * 8e9 / r->ns : 0);
	if (r->rtts) {
		add_u64(o, "rtt_min_ns", percentile(r, 0));
		add_u64(o, "rtt_median_ns", percentile(r, 50));
		add_u64(o, "rtt_99_ns", percentile(r, 99));
		add_u64(o, "rtt_max_ns", percentile(r, 100));
	}
	return o;
}

static bool is_good(struct json_object *o)
{
	struct json_object *rest = js_get(o, "rest"), *load = js_get(o, "load");

	return js_u64(rest, "answered") == js_u64(rest, "sent") && js_u64(rest, "sent") &&
	       js_u64(load, "answered") + js_u64(load, "missed") >= js_u64(load, "sent") &&
	       js_u64(load, "sent") && !json_object_object_length(js_get(o, "errors"));
}

static void print_times(const char *what, struct json_object *r)
{
	printf("    %-12s", what);
	if (js_has(r, "rtt_min_ns"))
		printf("%s there and back (%s to %s, 99 %% within %s); ",
		       fmt_ns(js_u64(r, "rtt_median_ns")), fmt_ns(js_u64(r, "rtt_min_ns")),
		       fmt_ns(js_u64(r, "rtt_max_ns")), fmt_ns(js_u64(r, "rtt_99_ns")));
	printf("%s of %s answered\n", js_str(r, "answered"), js_str(r, "sent"));
}

static void print_loss(struct json_object *r)
{
	uint64_t sent = js_u64(r, "sent"), arrived = js_u64(r, "arrived");
	uint64_t answered = js_u64(r, "answered");

	printf("    %-12s", "lost");
	if (!answered && sent)
		printf("everything: the neighbour's module may be older than this program\n");
	else if (answered == sent)
		printf("nothing\n");
	else
		printf("%llu frames on the way there, %llu answers on the way back\n",
		       (unsigned long long)(sent > arrived ? sent - arrived : 0),
		       (unsigned long long)(arrived > answered ? arrived - answered : 0));
}

static void print_errors(struct json_object *counts)
{
	printf("    %-12s", "errors");
	if (!json_object_object_length(counts))
		printf("none");
	json_object_object_foreach(counts, name, value)
		printf("%s %s  ", fmt_plain(name), json_object_get_string(value));
	putchar('\n');
}

static void print_result(struct json_object *o)
{
	struct json_object *load = js_get(o, "load");

	printf("%s: dim %s %s, to node %s: %s\n", js_str(o, "ifname"), js_str(o, "dim"),
	       js_str(o, "dir"), js_str(o, "neighbour"), is_good(o) ? "good" : "BAD");
	print_times("at rest", js_get(o, "rest"));
	print_times("under load", load);
	printf("    %-12s%.3f Gb/s for %s, in frames of %s bytes, %s under way\n", "rate",
	       js_u64(load, "bps") / 1e9, fmt_ns(js_u64(load, "ns")), js_str(o, "frame_bytes"),
	       js_str(o, "window"));
	print_loss(load);
	print_errors(js_get(o, "errors"));
	fflush(stdout);
}

/* --- testing --- */

/* Return 0, or -EINVAL: the kernel reported none. */
static int parse_mac(const char *text, uint8_t *mac)
{
	return sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2], &mac[3],
		      &mac[4], &mac[5]) == 6 ? 0 : -EINVAL;
}

static struct json_object *find_fabric(struct json_object *fabrics, uint64_t key)
{
	size_t i;

	for (i = 0; i < json_object_array_length(fabrics); i++)
		if (js_u64(json_object_array_get_idx(fabrics, i), "key") == key)
			return json_object_array_get_idx(fabrics, i);
	return NULL;
}

static int failed(struct json_object *port, const char *why)
{
	fprintf(stderr, "Error: %s: %s\n", js_str(port, "ifname"), why);
	return CTL_REFUSED;
}

/* Run both phases, with results in @o. */
static int run_phases(struct cable *cable, const struct plan *plan, uint32_t bytes,
		      struct json_object *o)
{
	struct cable_result rest, load;
	int err = cable_test(cable, REST_BYTES, 1, REST_FRAMES, REST_NS, &rest);

	json_object_object_add(o, "rest", result_json(&rest));
	free(rest.rtt);
	if (err)
		return err;
	err = cable_test(cable, bytes, plan->window, 0, plan->seconds * 1000000000ULL, &load);
	json_object_object_add(o, "load", result_json(&load));
	free(load.rtt);
	return err;
}

static struct json_object *describe(struct json_object *port, const struct plan *plan, uint32_t bytes)
{
	static const char *const same[] = { "fabric", "dim", "dir", "ifname", "neighbour" };
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(same); i++)
		json_object_object_add(o, same[i], json_object_get(js_get(port, same[i])));
	add_u64(o, "frame_bytes", bytes);
	add_u64(o, "window", plan->window);
	return o;
}

static void add_errors(struct json_object *o, const struct rtnl_link_stats64 *before,
		       const struct rtnl_link_stats64 *after)
{
	struct json_object *counts = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (error_of(after, i) > error_of(before, i))
			add_u64(counts, errors[i].name, error_of(after, i) - error_of(before, i));
	json_object_object_add(o, "errors", counts);
}

static int test_port(struct conn *route, struct json_object *fabric, struct json_object *port,
		     const struct plan *plan, struct json_object *results)
{
	struct cable_spec spec = {
		.ifindex = js_u64(port, "ifindex"),
		.ethertype = js_u64(fabric, "ethertype"),
		.tag = js_u64(fabric, "tag"),
		.self = js_u64(fabric, "node"),
		.neighbour = js_u64(port, "neighbour"),
	};
	uint32_t bytes = HEADER_BYTES + js_u64(port, "frame_bytes");
	struct rtnl_link_stats64 before, after;
	struct json_object *o;
	struct cable *cable;
	int err;

	if (parse_mac(js_str(port, "mac"), spec.self_mac) ||
	    parse_mac(js_str(port, "heard_mac"), spec.neighbour_mac))
		return failed(port, "the neighbour's address is not known");
	cable = cable_open(&spec);
	if (!cable)
		return failed(port, errno == EPERM ? "not permitted: needs CAP_NET_RAW" : strerror(errno));
	if (read_stats(route, spec.ifindex, &before)) {
		cable_close(cable);
		return conn_refused(route);
	}
	o = describe(port, plan, bytes);
	err = run_phases(cable, plan, bytes, o);
	cable_close(cable);
	if (!err && read_stats(route, spec.ifindex, &after))
		err = -EIO;
	if (err) {
		json_object_put(o);
		return failed(port, strerror(-err));
	}
	add_errors(o, &before, &after);
	json_object_object_add(o, "good", json_object_new_boolean(is_good(o)));
	if (!opt.json)
		print_result(o);
	json_object_array_add(results, o);
	return is_good(o) ? CTL_OK : CTL_REFUSED;
}

/*
 * Return whether to test this port. Prints a message if it was named and is not
 * up.
 */
static bool is_wanted(struct json_object *port, const struct plan *plan, int *ret)
{
	bool up = !strcmp(js_str(port, "state"), "up");

	if (plan->ifindex && js_u64(port, "ifindex") != plan->ifindex)
		return false;
	if (plan->ifindex && !up)
		*ret = failed(port, fmt_str("the link is not up, but %s", js_str(port, "state")));
	return up;
}

static int test_ports(struct conn *c, struct conn *route, const struct plan *plan)
{
	struct json_object *fabrics = NULL, *ports = NULL, *results = json_object_new_array();
	int ret = CTL_OK;
	size_t i, tested = 0;

	if (view_dump(c, &fabric_view, NULL, &fabrics) || view_dump(c, &port_view, NULL, &ports)) {
		ret = conn_refused(c);
		goto out;
	}
	for (i = 0; i < json_object_array_length(ports); i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);
		struct json_object *fabric = find_fabric(fabrics, js_u64(port, "fabric"));

		if (!fabric || !is_wanted(port, plan, &ret))
			continue;
		tested++;
		if (test_port(route, fabric, port, plan, results))
			ret = CTL_REFUSED;
	}
	if (opt.json)
		js_print(results);
	if (!tested && !ret) {
		fprintf(stderr, "Error: %s\n", plan->ifindex ? "dev: that device is no port" :
							       "there is no port that is up");
		ret = CTL_REFUSED;
	}
out:
	json_object_put(results);
	json_object_put(ports);
	json_object_put(fabrics);
	return ret;
}

static int parse_plan(struct args *a, struct plan *plan)
{
	const char *name;
	int err = 0;

	while (!err && a->argc) {
		if (arg_is(a, "seconds")) {
			err = arg_u32(a, "seconds", &plan->seconds);
		} else if (arg_is(a, "window")) {
			err = arg_u32(a, "window", &plan->window);
		} else {
			/* "dev" may be omitted, as in iproute2 */
			arg_is(a, "dev");
			name = arg_need(a, "dev");
			if (!name)
				return CTL_USAGE;
			plan->ifindex = if_nametoindex(name);
			if (!plan->ifindex)
				return usage_error("dev: no device \"%s\" in this network namespace", name);
		}
	}
	if (err)
		return err;
	if (!plan->seconds || plan->seconds > SECONDS_MOST)
		return usage_error("seconds: 1 to %u", SECONDS_MOST);
	if (!plan->window || plan->window > CABLE_WINDOW)
		return usage_error("window: 1 to %u", CABLE_WINDOW);
	return 0;
}

int qualify_main(struct args *a)
{
	struct plan plan = { .seconds = SECONDS, .window = CABLE_WINDOW };
	struct conn c, route;
	int ret;

	if (a->argc == 1 && (!strcmp(a->argv[0], "help") || !strcmp(a->argv[0], "--help"))) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (parse_plan(a, &plan) || conn_need(&c))
		return CTL_USAGE;
	if (conn_open_route(&route)) {
		ret = conn_refused(&route);
	} else {
		ret = test_ports(&c, &route, &plan);
		conn_close(&route);
	}
	conn_close(&c);
	return ret;
}
