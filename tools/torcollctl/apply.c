// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl apply: make this host as the file of a fabric says, and nothing
 * else. What runs is compared with the file; what agrees is not touched, so
 * that jobs go on, and a second time nothing is asked of the kernel but what
 * runs.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply.h"
#include "conf_load.h"
#include "hosts.h"
#include "lock.h"

#define FILES	"/etc/torcoll/*.conf"

static const char help[] =
	"Usage: torcollctl apply FILE [as NAME] [force] [remove] [--dry-run]\n"
	"       torcollctl apply --device NAME\n"
	"\n"
	"FILE       of the fabric, torcoll.conf(5); - is standard input\n"
	"as         the section [node NAME], instead of that of this host's name\n"
	"force      also if processes have communicators on a fabric that must be made\n"
	"           anew\n"
	"remove     leave the fabric\n"
	"--dry-run  only print what would be done\n"
	"--device   add a device that has come (back) to the fabrics that run, if a file\n"
	"           " FILES " names it\n";

static int begin(struct apply *ap)
{
	ap->commands = json_object_new_array();
	if (conn_open_route(&ap->route))
		return conn_refused(&ap->route);
	return running_get(&ap->c, &ap->route, ap->conf.fabric.key, &ap->now);
}

static void end(struct apply *ap)
{
	running_free(&ap->now);
	json_object_put(ap->commands);
	conn_close(&ap->route);
	conn_close(&ap->c);
}

static void print_json(struct apply *ap)
{
	struct json_object *o = json_object_new_object();
	struct json_object *missing = json_object_new_array();
	size_t i;

	json_object_object_add(o, "changes",
			       json_object_new_int64(json_object_array_length(ap->commands)));
	json_object_object_add(o, "commands", json_object_get(ap->commands));
	for (i = 0; i < ap->changes.lost; i++) {
		const struct conf_port *port = ap->changes.missing[i].port;
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "dim", json_object_new_int64(port->dim));
		json_object_object_add(one, "dir",
				       json_object_new_string(dir_name(port->dir)));
		json_object_object_add(one, "device", json_object_new_string(port->device));
		json_object_array_add(missing, one);
	}
	json_object_object_add(o, "missing", missing);
	js_print(o);
	json_object_put(o);
}

static void complain_missing(struct apply *ap)
{
	size_t i;

	for (i = 0; i < ap->changes.lost; i++) {
		const struct missing *missing = &ap->changes.missing[i];
		char name[HOST_PORT_TEXT];

		other_error("%s:%u: port %s: %s: %s", ap->file, missing->port->line,
			    host_port_print(name, missing->port->dim, missing->port->dir),
			    missing->port->device, missing->why);
		if (!ap->ret)
			ap->ret = CTL_WRONG;
	}
}

/* Find out whether the file with the names of nodes has to change. Return an exit code. */
static int look_at_names(struct apply *ap)
{
	int ret = *ap->conf.hosts ?
		  hosts_update(&ap->conf, ap->conf.hosts, ap->remove, true) : 0;

	ap->now.names_stale = ret > 0;
	return ret < 0 ? CTL_REFUSED : CTL_OK;
}

/* A fabric that must be made anew takes its communicators with it. */
static int check_comms(const struct apply *ap)
{
	const struct conf_node *node = &ap->conf.node[ap->node];
	char text[160];

	if (!ap->now.comms || ap->force ||
	    !change_fabric_differs(&ap->now, &ap->conf.fabric, node->index, text, sizeof(text)))
		return CTL_OK;
	other_error("%s: fabric %llu must be made anew (%s), and processes have %u communicators on it: end them first, or say force, and they get ENETDOWN",
		    ap->file, (unsigned long long)ap->conf.fabric.key, text, ap->now.comms);
	return CTL_REFUSED;
}

static int apply_file(struct apply *ap)
{
	size_t i;

	ap->ret = check_comms(ap);
	if (!ap->ret)
		ap->ret = look_at_names(ap);
	if (ap->ret)
		return ap->ret;
	changes_find(&ap->changes, &ap->conf, ap->node, &ap->now);
	for (i = 0; i < ap->changes.n; i++)
		if (!apply_change(ap, &ap->changes.list[i]))
			break;
	/* whoever stops this fabric has to know that it runs */
	if (ap->ret && i == ap->changes.n)
		ap->ret = CTL_PARTLY;
	complain_missing(ap);
	if (opt.json)
		print_json(ap);
	return ap->ret;
}

static int remove_fabric(struct apply *ap)
{
	const struct change fabric = { .kind = CHANGE_FABRIC_DEL };
	const struct change names = { .kind = CHANGE_NAMES };

	ap->ret = look_at_names(ap);
	/* while the fabric runs, its nodes keep their names */
	if ((!ap->now.exists || apply_change(ap, &fabric)) && ap->now.names_stale)
		apply_change(ap, &names);
	if (opt.json)
		print_json(ap);
	return ap->ret;
}

/* Without the module there is no fabric to leave, but what else is of it is in files. */
static int remove_rest(struct apply *ap)
{
	int ret;

	ap->commands = json_object_new_array();
	ret = remove_fabric(ap);
	json_object_put(ap->commands);
	return ret;
}

/* "lab0, lab1, ..." */
static const char *names_of(const struct conf *conf)
{
	const char *list = conf->nodes ? conf->node[0].name : "none";
	size_t i;

	for (i = 1; i < conf->nodes && i < 16; i++)
		list = fmt_str("%s, %s", list, conf->node[i].name);
	return i < conf->nodes ? fmt_str("%s, ...", list) : list;
}

static int find_node(struct apply *ap)
{
	char host[CONF_NAME_SIZE] = "";
	long node;

	if (!ap->as && host_name_get(&ap->c, host, sizeof(host)))
		return other_error("the name of this host: %s", ap->c.text);
	node = conf_node_of(&ap->conf, ap->as ? ap->as : host);
	if (node < 0) {
		other_error("%s: no section [node %s]%s; sections of nodes: %s", ap->file,
			    ap->as ? ap->as : host, ap->as ? "" : ", this host's name",
			    names_of(&ap->conf));
		return ap->as ? CTL_USAGE : CTL_NOT_YET;
	}
	ap->node = node;
	return CTL_OK;
}

static int with_file(struct apply *ap)
{
	int ret = conn_open(&ap->c);

	if (ret == -ENOENT && ap->remove)
		return remove_rest(ap);
	if (ret)
		return other_error("%s", ap->c.text);
	ret = begin(ap);
	if (!ret && !ap->remove)
		ret = find_node(ap);
	if (!ret)
		ret = ap->remove ? remove_fabric(ap) : apply_file(ap);
	end(ap);
	return ret;
}

/* --- a device that has come --- */

/* Return whether a link has a port whose device the file does not name. */
static bool is_taken(const struct apply *ap, uint32_t port)
{
	size_t i;

	for (i = 0; i < ap->changes.n; i++)
		if (ap->changes.list[i].kind == CHANGE_PORT_DEL &&
		    ap->changes.list[i].port == port)
			return true;
	return false;
}

/* The device is to be a port whose place is free. */
static bool is_for_device(const struct apply *ap, const struct change *change, const char *name)
{
	size_t i;

	if (!change->device || strcmp(change->device->name, name) ||
	    change->kind == CHANGE_PORT_DEL)
		return false;
	if (change->kind == CHANGE_PORT_ADD)
		return !is_taken(ap, change->port);
	for (i = 0; i < ap->changes.n; i++) {
		const struct change *other = &ap->changes.list[i];

		if (other->kind == CHANGE_PORT_ADD && other->device == change->device)
			return !is_taken(ap, other->port);
	}
	return false;
}

/*
 * Which section is this host's follows from the node that it is, not from its
 * name: udev may run commands where the name is that of another time.
 */
static int add_device(struct apply *ap, const char *name)
{
	char text[160];
	long node;
	size_t i;

	node = ap->now.exists ? conf_node_at(&ap->conf, ap->now.node) : -1;
	if (node < 0)
		return CTL_OK;
	ap->node = node;
	changes_find(&ap->changes, &ap->conf, node, &ap->now);
	if (change_fabric_differs(&ap->now, &ap->conf.fabric, ap->now.node, text, sizeof(text)))
		return other_error("%s: not applied yet, so %s stays as it is: %s", ap->file, name,
				   text);
	for (i = 0; i < ap->changes.n; i++)
		if (is_for_device(ap, &ap->changes.list[i], name))
			apply_change(ap, &ap->changes.list[i]);
	return ap->ret;
}

static int add_device_of(const char *file, const char *name)
{
	struct apply ap = { .file = file };
	int ret = conf_load(&ap.conf, file);

	if (ret)
		return ret;
	ret = conn_open(&ap.c);
	if (!ret) {
		ret = begin(&ap);
		if (!ret)
			ret = add_device(&ap, name);
		end(&ap);
	} else {
		/* without the module no fabric runs */
		ret = ret == -ENOENT ? CTL_OK : other_error("%s", ap.c.text);
	}
	conf_free(&ap.conf);
	return ret;
}

static int add_device_of_any(const glob_t *files, const char *name)
{
	int ret = CTL_OK, one;
	size_t i;

	for (i = 0; i < files->gl_pathc; i++) {
		one = add_device_of(files->gl_pathv[i], name);
		ret = one > ret ? one : ret;
	}
	return ret;
}

static int apply_device(struct args *a)
{
	const char *name = arg_need(a, "the device");
	glob_t files;
	int ret, lock;

	if (!name || arg_end(a))
		return CTL_USAGE;
	if (glob(FILES, 0, NULL, &files))
		return CTL_OK;
	ret = lock_take(&lock);
	if (!ret) {
		ret = add_device_of_any(&files, name);
		lock_drop(lock);
	}
	globfree(&files);
	return ret;
}

static int parse_words(struct args *a, struct apply *ap)
{
	while (a->argc) {
		if (arg_is(a, "as")) {
			ap->as = arg_need(a, "the section's name");
			if (!ap->as)
				return CTL_USAGE;
		} else if (arg_is(a, "force")) {
			ap->force = true;
		} else if (arg_is(a, "remove")) {
			ap->remove = true;
		} else if (arg_is(a, "dry-run") || arg_is(a, "--dry-run")) {
			ap->dry = true;
		} else {
			return arg_end(a);
		}
	}
	return CTL_OK;
}

/* What is not a file may keep a reader waiting; what is not there is for conf_load() to say. */
static bool is_piped(const char *file)
{
	struct stat st;

	return !strcmp(file, "-") || (!stat(file, &st) && !S_ISREG(st.st_mode));
}

/*
 * Of several commands the one that reads the file last makes the host as it is.
 * But what is still to come from a pipe keeps no other command waiting.
 */
static int run(struct apply *ap)
{
	bool piped = is_piped(ap->file);
	int lock = -1, ret = CTL_OK;

	if (!ap->dry && !piped)
		ret = lock_take(&lock);
	if (ret)
		return ret;
	ret = conf_load(&ap->conf, ap->file);
	if (ret)
		goto drop;
	if (!ap->dry && piped)
		ret = lock_take(&lock);
	if (!ret)
		ret = with_file(ap);
	conf_free(&ap->conf);
drop:
	lock_drop(lock);
	return ret;
}

int apply_main(struct args *a)
{
	struct apply ap = { .file = arg_next(a) };

	if (!ap.file || !strcmp(ap.file, "help") || !strcmp(ap.file, "--help") ||
	    !strcmp(ap.file, "-h")) {
		fputs(help, ap.file ? stdout : stderr);
		return ap.file ? CTL_OK : CTL_USAGE;
	}
	if (!strcmp(ap.file, "--device"))
		return apply_device(a);
	if (parse_words(a, &ap))
		return CTL_USAGE;
	return run(&ap);
}
