// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl qualify: measure cables. The neighbour's module answers test
 * frames with short frames; first one at a time, then as many as the cable
 * takes. What is lost, damaged, and counted by the device meanwhile, and how
 * the cable compares with its siblings, makes the verdict (verdict.h).
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "qualify.h"
#include "subject.h"

#define SECONDS		5
#define SECONDS_MOST	86400

static const char help[] =
	"Usage: torcollctl qualify [dev NAME] [seconds N] [window N]\n"
	"       torcollctl qualify all [from FILE]\n"
	"\n"
	"all       every host tests its cables, for a moment; a table of all cables\n"
	"from      what \"torcollctl -j survey show test\" has written\n"
	"dev       the port to test; without it all ports of this node, one after another\n"
	"seconds   for how long under load, 5 s\n"
	"window    frames under way at a time under load, 64\n"
	"\n"
	"Exit status: 0 if no cable is BAD and, of all, no node is missing; else 2.\n";

struct plan {
	uint32_t ifindex;	/* of the port to test, 0: all */
	struct subject_plan how;
};

static void progress(const char *what, const struct subject *s, size_t i, size_t n)
{
	if (isatty(STDERR_FILENO) && n > 1)
		fprintf(stderr, "%s %s, %zu of %zu ...\n", what, js_str(s->port, "ifname"), i + 1, n);
}

static struct json_object *find_fabric(struct json_object *fabrics, uint64_t key)
{
	size_t i;

	for (i = 0; i < json_object_array_length(fabrics); i++)
		if (js_u64(json_object_array_get_idx(fabrics, i), "key") == key)
			return json_object_array_get_idx(fabrics, i);
	return NULL;
}

/* Return the number of subjects, which are to be tested. */
static size_t find_subjects(struct json_object *fabrics, struct json_object *ports,
			    const struct plan *plan, struct subject *subjects)
{
	size_t i, n = 0;

	for (i = 0; i < json_object_array_length(ports); i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);
		struct json_object *fabric = find_fabric(fabrics, js_u64(port, "fabric"));

		if (!fabric || (plan->ifindex && js_u64(port, "ifindex") != plan->ifindex))
			continue;
		subject_init(&subjects[n++], fabric, port);
	}
	return n;
}

static void show_subjects(const struct subject *subjects, size_t n, const struct subject_plan *plan)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < n; i++) {
		if (opt.json)
			json_object_array_add(list, subject_json(&subjects[i], plan));
		else
			subject_print(&subjects[i], plan);
	}
	if (opt.json)
		js_print(list);
	json_object_put(list);
}

/*
 * Measure, and judge. What is slow is measured again: the host may have been
 * busy for a moment. Return an exit code.
 */
static int test_subjects(struct conn *route, struct subject *subjects, size_t n,
			 const struct subject_plan *plan)
{
	int ret = CTL_OK;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!subject_is_up(&subjects[i]))
			continue;
		progress("testing", &subjects[i], i, n);
		if (subject_measure(&subjects[i], route, plan))
			return CTL_REFUSED;
	}
	for (i = 0; i < n; i++) {
		subject_judge(&subjects[i], subjects, n, plan);
		if (!subjects[i].verdict.slow)
			continue;
		progress("testing again", &subjects[i], i, n);
		if (subject_measure(&subjects[i], route, plan))
			return CTL_REFUSED;
	}
	for (i = 0; i < n; i++) {
		subject_judge(&subjects[i], subjects, n, plan);
		if (subjects[i].verdict.word == VERDICT_BAD)
			ret = CTL_REFUSED;
	}
	show_subjects(subjects, n, plan);
	return ret;
}

static int test_ports(struct conn *c, struct conn *route, const struct plan *plan)
{
	struct json_object *fabrics = NULL, *ports = NULL;
	struct subject *subjects = NULL;
	int ret = CTL_REFUSED;
	size_t i, n = 0;

	if (view_dump(c, &fabric_view, NULL, &fabrics) || view_dump(c, &port_view, NULL, &ports)) {
		conn_refused(c);
		goto out;
	}
	subjects = calloc(json_object_array_length(ports) + 1, sizeof(*subjects));
	if (!subjects) {
		other_error("out of memory");
		goto out;
	}
	n = find_subjects(fabrics, ports, plan, subjects);
	if (n)
		ret = test_subjects(route, subjects, n, &plan->how);
	else
		other_error("%s", plan->ifindex ?
			    "dev: that device is no port: \"torcollctl port show\" lists those of this node" :
			    "this node has no port: add one with \"torcollctl port add\"");
out:
	for (i = 0; i < n; i++)
		subject_free(&subjects[i]);
	free(subjects);
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
			err = arg_u32(a, "seconds", &plan->how.seconds);
		} else if (arg_is(a, "window")) {
			err = arg_u32(a, "window", &plan->how.window);
		} else {
			/* "dev" may be omitted, as in iproute2 */
			if (!arg_is(a, "dev") && !arg_once("dev"))
				return arg_end(a);
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
	if (!plan->how.seconds || plan->how.seconds > SECONDS_MOST)
		return usage_error("seconds: 1 to %u s", SECONDS_MOST);
	if (!plan->how.window || plan->how.window > CABLE_WINDOW)
		return usage_error("window: 1 to %u frames", CABLE_WINDOW);
	return 0;
}

static int qualify_ports(const struct plan *plan)
{
	struct conn c, route;
	int ret;

	if (conn_need(&c))
		return CTL_USAGE;
	if (conn_open_route(&route)) {
		ret = conn_refused(&route);
	} else {
		ret = test_ports(&c, &route, plan);
		conn_close(&route);
	}
	conn_close(&c);
	return ret;
}

/* Parse what stands behind "all". */
static int parse_all(struct args *a, const char **file)
{
	if (!arg_is(a, "from"))
		return arg_end(a);
	*file = arg_need(a, "the survey's file");
	return *file ? arg_end(a) : CTL_USAGE;
}

int qualify_main(struct args *a)
{
	struct plan plan = { .how = { .seconds = SECONDS, .window = CABLE_WINDOW } };
	const char *file = NULL;

	if (a->argc == 1 && (!strcmp(a->argv[0], "help") || !strcmp(a->argv[0], "-h") ||
			     !strcmp(a->argv[0], "--help"))) {
		fputs(help, stdout);
		return CTL_OK;
	}
	/* a whole word: "a" may be a device; as the last word it was an option */
	if (a->argc && (!strcmp(a->argv[0], "all") || !strcmp(a->argv[0], "--all"))) {
		arg_next(a);
		opt.all = true;
	}
	if (opt.all)
		return parse_all(a, &file) ? CTL_USAGE : qualify_all(file);
	return parse_plan(a, &plan) ? CTL_USAGE : qualify_ports(&plan);
}
