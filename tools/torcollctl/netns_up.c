// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl netns up: make namespaces, cables, fabric and ports, and wait
 * until all links are up. On failure everything made so far is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/link/cable.h"
#include "netns.h"
#include "tune.h"

#define KEY_DEFAULT	1
#define MTU_DEFAULT	9000
#define WAIT_DEFAULT	20	/* seconds; links need two hellos, slow machines more */
#define POLL_NS		20000000
#define COMPLAINTS	16	/* links named if they do not come up */

/**
 * struct up - a torus under construction
 * @spec: the fabric; its node is set for each
 * @cables: of each link
 * @netns: of each node, or -1
 * @conn: connection in each node
 * @made: namespaces that exist, from node 0
 * @home: the original namespace
 */
struct up {
	const char *prefix;
	struct fabric_spec spec;
	uint32_t cables;
	uint32_t mtu;
	uint32_t wait;
	bool no_fabric;
	int *netns;
	struct conn *conn;
	uint32_t made;
	int home;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

static int refuse(const char *what, int err)
{
	if (err == -EPERM)
		other_error("%s: not permitted: a virtual torus needs root: use sudo", what);
	else
		other_error("%s: %s", what, strerror(-err));
	return CTL_REFUSED;
}

static int check_interrupted(void)
{
	if (!interrupted)
		return 0;
	other_error("interrupted");
	return 128 + interrupted;
}

static int parse_one(struct args *a, struct up *up)
{
	const char *word;

	if (arg_is(a, "mtu"))
		return arg_u32(a, "mtu", &up->mtu);
	if (arg_is(a, "key"))
		return arg_u64(a, "key", &up->spec.key);
	if (arg_is(a, "per-link"))
		return arg_u32(a, "per-link", &up->cables);
	if (arg_is(a, "wait"))
		return arg_u32(a, "wait", &up->wait);
	if (arg_is(a, "--no-fabric")) {
		up->no_fabric = true;
		return 0;
	}
	if (arg_is(a, "prefix") || arg_is(a, "--prefix")) {
		word = arg_need(a, "prefix");
		if (!word || netns_check_prefix(word))
			return CTL_USAGE;
		up->prefix = word;
		return 0;
	}
	return fabric_option(a, &up->spec);
}

static int parse(struct args *a, struct up *up)
{
	const char *dims = arg_need(a, "the shape, such as 4x4,");

	if (!dims || netns_check_prefix(up->prefix))
		return CTL_USAGE;
	while (a->argc) {
		int err = parse_one(a, up);

		if (err)
			return err < 0 ? arg_end(a) : CTL_USAGE;
	}
	if (up->spec.shape.cables > 2)
		return usage_error("cables: 1 or 2");
	if (!up->cables || up->cables > TOR_LINK_CABLES)
		return usage_error("per-link: 1 to %d", TOR_LINK_CABLES);
	return shape_parse(dims, &up->spec.shape);
}

static int make_nodes(struct up *up)
{
	uint32_t n;
	int err;

	err = netns_prepare();
	if (err)
		return refuse("/run/netns", err);
	for (n = 0; n < up->spec.shape.nodes; n++) {
		const char *name = netns_name(up->prefix, n);

		if (check_interrupted())
			return 128 + interrupted;
		err = netns_create(name);
		if (err)
			return refuse(name, err);
		up->made++;
		/* programs there may use the loopback device */
		wire_up("lo");
		up->netns[n] = netns_open(name);
		if (up->netns[n] < 0)
			return refuse(name, -errno);
	}
	return 0;
}

/* "d0p": dimension 0, plus; "d0p2": its second cable; "d0s2": in a mesh, two steps up. */
static const char *device_name(struct shape_port port, uint32_t cable)
{
	const char *more = cable ? fmt_str("%s%u", port.dir > TOR_MINUS ? "c" : "", cable + 1) : "";

	if (port.dir > TOR_MINUS)
		return fmt_str("d%us%u%s", port.dim, port.dir - TOR_DIR_STEPS, more);
	return fmt_str("d%u%c%s", port.dim, port.dir ? 'm' : 'p', more);
}

static int make_wire(struct up *up, struct conn *route, uint32_t node, struct shape_port port,
		     uint32_t cable)
{
	const struct shape *shape = &up->spec.shape;
	uint32_t peer = shape_neighbour(shape, node, port.dim, port.dir);
	struct shape_port back = { port.dim, shape_back(shape, port.dim, port.dir) };
	struct wire_end a = { up->netns[node], device_name(port, cable) };
	struct wire_end b = { up->netns[peer], device_name(back, cable) };

	if (!wire_veth(route, &a, &b, up->mtu))
		return 0;
	other_error("cable from %s %s to %s %s, with mtu %u: %s", netns_name(up->prefix, node),
		    a.name, netns_name(up->prefix, peer), b.name, up->mtu, route->text);
	return CTL_REFUSED;
}

/* Return the number of a link's cables; 0: the shape has no such link. */
static uint32_t wires(const struct up *up, uint32_t node, struct shape_port port)
{
	return shape_has_port(&up->spec.shape, node, port.dim, port.dir) ? up->cables : 0;
}

static int make_wires(struct up *up)
{
	const struct shape *shape = &up->spec.shape;
	struct conn route;
	uint32_t n, i, cable;
	int ret = 0;

	if (conn_open_route(&route))
		return conn_refused(&route);
	for (n = 0; !ret && n < shape->nodes; n++) {
		ret = check_interrupted();
		for (i = 0; !ret && i < shape_ports(shape); i++) {
			struct shape_port port = shape_port(shape, i);

			for (cable = 0; !ret && shape_leads(shape, n, port.dim, port.dir) &&
					cable < up->cables; cable++)
				ret = make_wire(up, &route, n, port, cable);
		}
	}
	conn_close(&route);
	return ret;
}

/* Set devices up: cables are made with the other end down. */
static int switch_on(struct up *up)
{
	const struct shape *shape = &up->spec.shape;
	uint32_t n, i, cable;
	int err = 0;

	for (n = 0; !err && n < shape->nodes; n++) {
		if (netns_enter(up->netns[n]))
			err = -errno;
		for (i = 0; !err && i < shape_ports(shape); i++) {
			struct shape_port port = shape_port(shape, i);

			if (shape_leads(shape, n, port.dim, port.dir))
				continue;
			for (cable = 0; !err && cable < wires(up, n, port); cable++)
				err = wire_up(device_name(port, cable));
		}
	}
	return err ? refuse(netns_name(up->prefix, n - 1), err) : 0;
}

static int refused_at(const struct up *up, uint32_t node, const char *what)
{
	other_error("%s: %s: %s", netns_name(up->prefix, node), what, up->conn[node].text);
	return CTL_REFUSED;
}

/*
 * Rates of nodes that share this machine's processors: the work of each node
 * delays the others, so messages and bytes cost as many times more as there are
 * nodes per processor; cables of memory have no length, and the wait for a
 * neighbour is the neighbour's work.
 */
static struct tor_rates shared_rates(uint32_t nodes)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct tor_rates rates = tor_rates_default;

	rates.e = rates.message;
	rates.f = 0;
	rates.link = 0;
	if (processors > 0 && nodes > processors) {
		rates.message = rates.message * nodes / processors;
		rates.byte = rates.byte * nodes / processors;
	}
	return rates;
}

/* Other nodes see this one by the name "node" and its number. */
static int name_node(struct up *up, uint32_t node)
{
	struct conn *c = &up->conn[node];

	if (netns_enter(up->netns[node]))
		return refuse(netns_name(up->prefix, node), -errno);
	if (conn_open(c))
		return conn_refused(c);
	return host_name_set(c, fmt_str("node%u", node)) ? refused_at(up, node, "host name") : 0;
}

/* Also without a fabric, if there is a module that could tell. */
static int name_nodes(struct up *up)
{
	struct conn c;
	uint32_t n;
	int ret = 0;

	if (up->no_fabric && conn_open(&c))
		return 0;
	if (up->no_fabric)
		conn_close(&c);
	for (n = 0; !ret && n < up->spec.shape.nodes; n++)
		ret = name_node(up, n);
	return ret;
}

static int add_ports(struct up *up, uint32_t node, struct shape_port port)
{
	uint32_t cable;

	for (cable = 0; cable < wires(up, node, port); cable++) {
		const char *dev = device_name(port, cable);

		if (port_new(&up->conn[node], up->spec.key, port.dim, port.dir,
			     if_nametoindex(dev)))
			return refused_at(up, node, fmt_str("port add %s", dev));
	}
	return 0;
}

static int configure_node(struct up *up, uint32_t node)
{
	const struct tor_rates rates = shared_rates(up->spec.shape.nodes);
	const struct shape *shape = &up->spec.shape;
	struct conn *c = &up->conn[node];
	uint32_t i;
	int ret = 0;

	if (netns_enter(up->netns[node]))
		return refuse(netns_name(up->prefix, node), -errno);
	up->spec.node = node;
	if (fabric_new(c, &up->spec))
		return refused_at(up, node, "fabric add");
	if (rates_set(c, up->spec.key, &rates))
		return refused_at(up, node, "tune set");
	for (i = 0; !ret && i < shape_ports(shape); i++)
		ret = add_ports(up, node, shape_port(shape, i));
	return ret;
}

static int configure(struct up *up)
{
	uint32_t n;
	int ret = 0;

	for (n = 0; !ret && n < up->spec.shape.nodes; n++) {
		ret = check_interrupted();
		if (!ret)
			ret = configure_node(up, n);
	}
	return ret;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static bool ports_are_up(struct json_object *ports)
{
	size_t i, n = json_object_array_length(ports);

	for (i = 0; i < n; i++)
		if (strcmp(js_str(json_object_array_get_idx(ports, i), "state"), "up"))
			return false;
	return true;
}

/*
 * Return whether the node knows of no dead link: news of others' links arrive
 * after its own links are up.
 */
static bool knows_no_dead_link(struct json_object *fabrics)
{
	return json_object_array_length(fabrics) == 1 &&
	       !js_u64(json_object_array_get_idx(fabrics, 0), "dead_links");
}

static bool view_is(struct up *up, uint32_t node, const struct view *view, bool (*is)(struct json_object *list))
{
	struct json_object *list;
	bool ok;

	if (view_dump(&up->conn[node], view, NULL, &list))
		return false;
	ok = is(list);
	json_object_put(list);
	return ok;
}

static bool node_is_up(struct up *up, uint32_t node)
{
	return view_is(up, node, &port_view, ports_are_up) &&
	       view_is(up, node, &fabric_view, knows_no_dead_link);
}

/* Count one of @left complaints. Return whether another one may follow. */
static bool complain_more(uint32_t *left)
{
	if (*left && !--*left)
		fputs("    and more\n", stderr);
	return *left;
}

/* Print the ports that are not up. */
static void complain_ports(struct up *up, uint32_t node, uint32_t *left)
{
	struct json_object *ports;
	size_t i, n;

	if (view_dump(&up->conn[node], &port_view, NULL, &ports)) {
		refused_at(up, node, "port show");
		return;
	}
	n = json_object_array_length(ports);
	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);

		if (!strcmp(js_str(port, "state"), "up"))
			continue;
		if (!complain_more(left))
			break;
		fprintf(stderr, "    %s %s: %s: %s\n", netns_name(up->prefix, node),
			js_str(port, "ifname"), js_str(port, "state"), js_str(port, "reason"));
	}
	json_object_put(ports);
}

/* Print that a node's own links are up, but it has no news of others yet. */
static void complain_news(struct up *up, uint32_t node, uint32_t *left)
{
	struct json_object *fabrics, *fabric;
	uint64_t dead;

	if (view_dump(&up->conn[node], &fabric_view, NULL, &fabrics)) {
		refused_at(up, node, "fabric show");
		return;
	}
	fabric = json_object_array_get_idx(fabrics, 0);
	dead = fabric ? js_u64(fabric, "dead_links") : 0;
	if (dead && complain_more(left))
		fprintf(stderr, "    %s: takes %" PRIu64 " links of the fabric to be dead\n",
			netns_name(up->prefix, node), dead);
	json_object_put(fabrics);
}

static void complain_node(struct up *up, uint32_t node, uint32_t *left)
{
	complain_ports(up, node, left);
	complain_news(up, node, left);
}

static int complain(struct up *up, uint32_t from)
{
	uint32_t left = COMPLAINTS + 1;
	uint32_t n;

	other_error("not all links are up after %u s:", up->wait);
	for (n = from; left && n < up->spec.shape.nodes; n++)
		complain_node(up, n, &left);
	return CTL_REFUSED;
}

/* Wait for links; a node that was up once is not checked again. */
static int wait_links(struct up *up)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t end = now_ns() + up->wait * 1000000000ULL;
	uint32_t n = 0;

	while (n < up->spec.shape.nodes) {
		if (node_is_up(up, n)) {
			n++;
			continue;
		}
		if (check_interrupted())
			return 128 + interrupted;
		if (now_ns() >= end)
			return complain(up, n);
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Raise the limit: two files per node. */
static void raise_file_limit(uint32_t nodes)
{
	struct rlimit limit;
	rlim_t want = 2 * (rlim_t)nodes + 64;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
		return;
	limit.rlim_cur = want;
	if (limit.rlim_max < want)
		limit.rlim_max = want;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int build(struct up *up)
{
	int ret;

	ret = make_nodes(up);
	if (!ret && netns_enter(up->home))
		ret = refuse("the former network namespace", -errno);
	if (!ret)
		ret = make_wires(up);
	if (!ret)
		ret = switch_on(up);
	if (!ret)
		ret = name_nodes(up);
	if (ret || up->no_fabric)
		return ret;
	ret = configure(up);
	if (!ret)
		ret = wait_links(up);
	return ret;
}

static int check_free(const struct up *up)
{
	uint32_t *node;
	uint32_t n = netns_list(up->prefix, &node);

	free(node);
	if (!n)
		return 0;
	return usage_error("there are %u namespaces %s-* already: torcollctl netns down%s%s", n,
			   up->prefix, strcmp(up->prefix, netns_prefix()) ? " prefix " : "",
			   strcmp(up->prefix, netns_prefix()) ? up->prefix : "");
}

/* Check that the module is loaded before anything is made. */
static int check_module(const struct up *up)
{
	struct conn c;

	if (up->no_fabric)
		return 0;
	if (conn_need(&c))
		return CTL_USAGE;
	conn_close(&c);
	return 0;
}

static void clean_up(struct up *up, bool failed)
{
	uint32_t n;

	for (n = 0; n < up->made; n++) {
		if (up->conn[n].sk)
			conn_close(&up->conn[n]);
		if (up->netns[n] >= 0)
			close(up->netns[n]);
		if (failed)
			netns_remove(netns_name(up->prefix, n));
	}
	netns_enter(up->home);
	close(up->home);
	free(up->netns);
	free(up->conn);
}

int netns_up(struct args *a)
{
	struct sigaction catch = { .sa_handler = on_signal }, old[3];
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct up up = { .cables = 1, .mtu = MTU_DEFAULT, .wait = WAIT_DEFAULT, .prefix = netns_prefix() };
	size_t i;
	int ret;

	up.spec.key = KEY_DEFAULT;
	if (parse(a, &up) || check_free(&up) || check_module(&up))
		return CTL_USAGE;
	raise_file_limit(up.spec.shape.nodes);
	up.netns = malloc(up.spec.shape.nodes * sizeof(*up.netns));
	up.conn = calloc(up.spec.shape.nodes, sizeof(*up.conn));
	up.home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (!up.netns || !up.conn || up.home < 0)
		return refuse("netns up", -errno);
	memset(up.netns, -1, up.spec.shape.nodes * sizeof(*up.netns));
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &catch, &old[i]);
	ret = build(&up);
	clean_up(&up, ret);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	return ret;
}
