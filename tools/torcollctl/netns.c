// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl netns: namespaces as nodes. Their names, creation and removal, and
 * the commands that need only that.
 */
#include "draw.h"
#include "netns.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/job.h"

static const char help[] =
	"Usage: torcollctl netns up AxBx... [cables 1|2] [per-link CABLES] [mtu BYTES]\n"
	"                        [prefix NAME] [key KEY] [ethertype NUMBER] [hello TIME]\n"
	"                        [checksum full|header] [frame BYTES] [wait SECONDS]\n"
	"                        [--no-fabric]\n"
	"       torcollctl netns down [prefix NAME]\n"
	"       torcollctl netns show [prefix NAME]\n"
	"       torcollctl netns exec [prefix NAME] NODE COMMAND...\n"
	"       torcollctl netns run [-n NODES] [--ppn N,...] [--by-node] [--secret S]\n"
	"                        [--only RANK] [--no-prefix] [prefix NAME] COMMAND...\n"
	"\n"
	"A torus of network namespaces NAME-0, NAME-1, ... (tor-0, ...) joined by veth\n"
	"pairs; in each of them the devices d0p, d0m, d1p, ... are the cables along\n"
	"dimension 0, 1, ..., plus and minus, in a mesh d0s1, d0s2, ... by steps; with\n"
	"several per link, d0p2 to d0p4 are the others of d0p, d0s2c2 that of d0s2.\n"
	"\n"
	"up        makes it, with the fabric configured, and waits until all links are\n"
	"          up; --no-fabric: only the wires\n"
	"exec      one command in one node's namespace\n"
	"run       a command once per node, rank i on node i, with TORCOLL_FABRIC,\n"
	"          TORCOLL_COMM, TORCOLL_SECRET, TORCOLL_RANK and TORCOLL_SIZE set; exit\n"
	"          status: the worst of them\n";

const char *netns_prefix(void)
{
	const char *prefix = getenv("TORCOLL_PREFIX");

	return prefix && *prefix ? prefix : "tor";
}

int netns_check_prefix(const char *prefix)
{
	size_t n = strlen(prefix);

	if (!n || n > NETNS_NAME_MAX - 12 || *prefix == '.' || *prefix == '-' ||
	    strspn(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != n)
		return usage_error("prefix: \"%s\" is not up to %d letters, digits and ._-", prefix,
				   NETNS_NAME_MAX - 12);
	return 0;
}

const char *netns_name(const char *prefix, uint32_t node)
{
	return fmt_str("%s-%u", prefix, node);
}

static const char *path_of(const char *name)
{
	return fmt_str(NETNS_DIR "/%s", name);
}

int netns_open(const char *name)
{
	return open(path_of(name), O_RDONLY | O_CLOEXEC);
}

int netns_enter(int fd)
{
	return setns(fd, CLONE_NEWNET);
}

int netns_home(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	/* some can leave a namespace and cannot enter it */
	if (home < 0 || !netns_enter(home))
		return home;
	close(home);
	return -1;
}

/* Other mount namespaces must see mounts and unmounts there. */
int netns_prepare(void)
{
	bool bound = false;

	if (mkdir(NETNS_DIR, 0755) && errno != EEXIST)
		return -errno;
	while (mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL)) {
		if (errno != EINVAL || bound)
			return -errno;
		if (mount(NETNS_DIR, NETNS_DIR, "none", MS_BIND | MS_REC, NULL))
			return -errno;
		bound = true;
	}
	return 0;
}

/* Switch IPv6 off: only torcoll must send frames on the cables. */
static void silence_ipv6(void)
{
	static const char *const files[] = {
		"/proc/sys/net/ipv6/conf/all/disable_ipv6",
		"/proc/sys/net/ipv6/conf/default/disable_ipv6",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		int fd = open(files[i], O_WRONLY | O_CLOEXEC);

		/* a kernel without IPv6 has no such file, and needs none */
		if (fd >= 0 && write(fd, "1", 1) != 1)
			fprintf(stderr, "Warning: %s: %s\n", files[i], strerror(errno));
		if (fd >= 0)
			close(fd);
	}
}

int netns_create(const char *name)
{
	const char *path = path_of(name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0);
	int err;

	if (fd < 0)
		return -errno;
	close(fd);
	if (unshare(CLONE_NEWNET) || mount("/proc/self/ns/net", path, "none", MS_BIND, NULL)) {
		err = -errno;
		unlink(path);
		return err;
	}
	silence_ipv6();
	return 0;
}

int netns_remove(const char *name)
{
	const char *path = path_of(name);

	umount2(path, MNT_DETACH);
	if (!unlink(path))
		return CTL_OK;
	other_error("%s: %s", path, strerror(errno));
	return CTL_REFUSED;
}

/* Take "prefix NAME" if it is next. Return 0, or CTL_USAGE. */
static int take_prefix(struct args *a, const char **prefix)
{
	*prefix = netns_prefix();
	if (a->argc && (!strcmp(a->argv[0], "prefix") || !strcmp(a->argv[0], "--prefix"))) {
		arg_next(a);
		*prefix = arg_need(a, "prefix");
	}
	return *prefix ? netns_check_prefix(*prefix) : CTL_USAGE;
}

static int netns_down(struct args *a)
{
	const char *prefix;
	uint32_t *node;
	int ret = CTL_OK;
	uint32_t i, n;

	if (take_prefix(a, &prefix) || arg_end(a))
		return CTL_USAGE;
	n = netns_list(prefix, &node);
	for (i = 0; i < n; i++)
		ret |= netns_remove(netns_name(prefix, node[i]));
	free(node);
	return ret;
}

/* Become a command in a namespace; return an exit code if that fails. */
static int exec_in(const char *name, int fd, char **argv)
{
	int err;

	if (netns_enter(fd)) {
		other_error("network namespace %s: %s", name, strerror(errno));
		return CTL_REFUSED;
	}
	execvp(argv[0], argv);
	err = errno;
	other_error("%s: %s", argv[0], strerror(err));
	return err == ENOENT ? 127 : 126;
}

/* The same in a process of its own: other commands follow. Return its exit code. */
static int exec_apart(const char *name, int fd, char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(exec_in(name, fd, argv));
	if (pid < 0) {
		other_error("%s: %s", argv[0], strerror(errno));
		return CTL_REFUSED;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CTL_REFUSED;
	return job_code(status);
}

static int netns_exec(struct args *a)
{
	const char *prefix, *word, *name;
	uint32_t node;
	int fd, ret;

	if (take_prefix(a, &prefix))
		return CTL_USAGE;
	word = arg_need(a, "the node");
	if (!word)
		return CTL_USAGE;
	name = word;
	/* names of nodes have a dash: a prefix may begin with a digit */
	if (isdigit(*word) && !strchr(word, '-')) {
		if (parse_u32(word, "node", &node))
			return CTL_USAGE;
		name = netns_name(prefix, node);
	}
	if (!a->argc)
		return usage_error("the command is missing");
	fd = netns_open(name);
	if (fd < 0)
		return other_error("there is no network namespace %s: \"torcollctl netns show\" lists the nodes", name);
	fflush(stdout);
	ret = (opt.batch ? exec_apart : exec_in)(name, fd, a->argv);
	close(fd);
	return ret;
}

/* Add the state of this namespace's first fabric and its ports. */
static void look_around(struct json_object *node)
{
	struct json_object *fabrics, *ports;
	struct conn c;

	if (conn_open(&c))
		return;
	if (!view_dump(&c, &fabric_view, NULL, &fabrics)) {
		if (json_object_array_length(fabrics))
			json_object_object_add(node, "fabric",
				json_object_get(json_object_array_get_idx(fabrics, 0)));
		json_object_put(fabrics);
	}
	if (!view_dump(&c, &port_view, NULL, &ports))
		json_object_object_add(node, "ports", ports);
	conn_close(&c);
}

/* Add what is to be seen in a namespace, for whoever may enter it. */
static void look_into(struct json_object *node)
{
	int fd = netns_open(js_raw(node, "netns"));
	int home = fd < 0 ? -1 : netns_home();

	if (home >= 0 && !netns_enter(fd)) {
		look_around(node);
		netns_enter(home);
	}
	if (home >= 0)
		close(home);
	if (fd >= 0)
		close(fd);
}

/* Return a port of a link, one that is up if there is one; NULL: it has none. */
static struct json_object *port_of(struct json_object *node, uint32_t dim, uint32_t dir)
{
	struct json_object *ports = js_get(node, "ports"), *found = NULL;
	size_t i, n = ports ? json_object_array_length(ports) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);

		if (js_u64(port, "dim") != dim || strcmp(js_str(port, "dir"), dir_name(dir)))
			continue;
		if (!found || strcmp(js_str(found, "state"), "up"))
			found = port;
	}
	return found;
}

static enum link_look look_of_any(void *arg, uint32_t node, uint32_t dim, uint32_t dir)
{
	struct json_object *list = arg;
	struct json_object *port;

	if (node >= json_object_array_length(list))
		return LINK_UNSEEN;
	port = port_of(json_object_array_get_idx(list, node), dim, dir);
	if (!port)
		return LINK_BAD;
	return !strcmp(js_str(port, "state"), "up") ? LINK_GOOD : LINK_BAD;
}

/* Draw the whole torus: the state of all nodes is known here. */
static void draw_nodes(struct json_object *list)
{
	size_t n = json_object_array_length(list);
	struct json_object *fabric;
	struct shape shape;
	struct drawing d = { &shape, ~0U, look_of_any, NULL, list };

	fabric = n ? js_get(json_object_array_get_idx(list, 0), "fabric") : NULL;
	if (!fabric || !shape_from_json(fabric, &shape) || shape.nodes != n)
		return;
	putchar('\n');
	draw_torus(&d);
	printf("\n    - | link up   x not up   %s\n", draw_note(&shape));
}

static void print_nodes(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);
	struct table t = { 0 };

	if (!n) {
		fputs("There is no virtual torus: make one, as with \"torcollctl netns up 4x4\".\n", stderr);
		return;
	}
	TABLE_ROW(&t, "NAMESPACE", "FABRIC", "NODE", "COORD", "UP", "PORTS");
	for (i = 0; i < n; i++) {
		struct json_object *node = json_object_array_get_idx(list, i);
		struct json_object *fabric = js_get(node, "fabric");

		if (fabric)
			TABLE_ROW(&t, js_str(node, "netns"), js_str(fabric, "key"),
				  js_str(fabric, "node"), fmt_list(js_get(fabric, "coord")),
				  js_str(fabric, "ports_up"), js_str(fabric, "ports"));
		else
			TABLE_ROW(&t, js_str(node, "netns"), "", "", "", "", "");
	}
	table_print(&t);
	draw_nodes(list);
}

static int netns_show(struct args *a)
{
	struct json_object *list;
	const char *prefix;
	uint32_t *node;
	uint32_t i, n;

	if (take_prefix(a, &prefix) || arg_end(a))
		return CTL_USAGE;
	list = json_object_new_array();
	n = netns_list(prefix, &node);
	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "netns",
				       json_object_new_string(netns_name(prefix, node[i])));
		look_into(o);
		json_object_array_add(list, o);
	}
	if (opt.json)
		js_print(list);
	else
		print_nodes(list);
	json_object_put(list);
	free(node);
	return CTL_OK;
}

int netns_main(struct args *a)
{
	static const struct command commands[] = {
		{ "show", netns_show }, { "list", netns_show }, { "up", netns_up },
		{ "down", netns_down }, { "exec", netns_exec }, { "run", netns_run },
	};

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
