// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl env: the variables of libtorcoll, and the origin of their values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "launcher.h"

static const char help[] =
	"Usage: torcollctl env show\n"
	"\n"
	"Variables that programs with libtorcoll read, as a program that is started here\n"
	"would find them, and where their values come from: the environment, a launcher\n"
	"(openmpi, mpich, slurm), or by default.\n";

static const struct variable {
	const char *name;
	const char *value;	/* the default */
	const char *meaning;
} variables[] = {
	{ "TORCOLL_FABRIC", "the only one", "key of the fabric" },
	{ "TORCOLL_COMM", "world", "name of the comm" },
	{ "TORCOLL_SECRET", "none", "the comm's secret" },
	{ "TORCOLL_RANK", "the one on this node", "rank of the process" },
	{ "TORCOLL_SIZE", "all nodes", "number of ranks" },
	{ "TORCOLL_MEMBERS", "nodes in order", "the node of each rank" },
	{ "TORCOLL_ALGO", "any", "algorithms that auto may take" },
	{ "TORCOLL_TIMEOUT", "120", "seconds until joining is given up" },
	{ "TORCOLL_SPIN", "0", "microseconds that a wait looks before it sleeps" },
	{ "TORCOLL_CACHE", "1024", "MiB of large buffers that stay registered" },
	{ "TORCOLL_DEBUG", "quiet", "what is said on stderr: quiet, warn, info, trace" },
};

/* An empty value counts as not set. */
static const char *set_value(const struct variable *v)
{
	const char *s = getenv(v->name);

	if (!s || !*s)
		return NULL;
	return strcmp(v->name, "TORCOLL_SECRET") ? s : "(hidden)";
}

/**
 * struct launched - what a launcher of others says in place of a variable
 * @launcher: it; its origin is NULL if none has started this process
 * @rank, @size: as text
 * @placed: variables of torcoll say where ranks are
 */
static struct launched {
	struct torcoll__launcher launcher;
	char rank[12];
	char size[12];
	bool placed;
} launched;

static bool is_set(const char *name)
{
	const char *s = getenv(name);

	return s && *s;
}

/* Return 0, or CTL_REFUSED after printing the reason. */
static int read_launcher(void)
{
	const char *wrong;

	launched.placed = is_set("TORCOLL_RANK") || is_set("TORCOLL_SIZE") ||
			  is_set("TORCOLL_MEMBERS");
	if (torcoll__launcher_read(&launched.launcher, &wrong) < 0) {
		usage_error("%s=%s is not what %s sets for the ranks of a job", wrong,
			    is_set(wrong) ? getenv(wrong) : "", launched.launcher.name);
		return CTL_REFUSED;
	}
	snprintf(launched.rank, sizeof(launched.rank), "%u", launched.launcher.rank);
	snprintf(launched.size, sizeof(launched.size), "%u", launched.launcher.size);
	return 0;
}

/* Return what the launcher says in place of a variable, or NULL. */
static const char *launched_value(const struct variable *v)
{
	if (!launched.launcher.origin)
		return NULL;
	if (!strcmp(v->name, "TORCOLL_COMM"))
		return launched.launcher.comm;
	if (!strcmp(v->name, "TORCOLL_RANK"))
		return launched.rank;
	if (launched.placed)
		return NULL;
	if (!strcmp(v->name, "TORCOLL_SIZE"))
		return launched.size;
	return strcmp(v->name, "TORCOLL_MEMBERS") ? NULL : "as ranks tell";
}

static const char *origin(const struct variable *v)
{
	if (set_value(v))
		return "environment";
	return launched_value(v) ? launched.launcher.origin : "default";
}

static const char *value(const struct variable *v)
{
	const char *s = set_value(v);

	if (!s)
		s = launched_value(v);
	return s ? s : v->value;
}

static void print_json(void)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++) {
		const struct variable *v = &variables[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "name", json_object_new_string(v->name));
		json_object_object_add(o, "value", json_object_new_string(value(v)));
		json_object_object_add(o, "origin", json_object_new_string(origin(v)));
		json_object_object_add(o, "meaning", json_object_new_string(v->meaning));
		json_object_array_add(list, o);
	}
	js_print(list);
	json_object_put(list);
}

static void print_table(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++) {
		const struct variable *v = &variables[i];

		printf("%-16s %-22s %-12s %s\n", v->name, fmt_plain(value(v)), origin(v),
		       v->meaning);
	}
}

static int env_show(struct args *a)
{
	if (arg_end(a))
		return CTL_USAGE;
	if (read_launcher())
		return CTL_REFUSED;
	if (opt.json)
		print_json();
	else
		print_table();
	return CTL_OK;
}

static const struct command commands[] = {
	{ "show", env_show },
};

int env_main(struct args *a)
{
	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
