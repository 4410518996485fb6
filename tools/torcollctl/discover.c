// SPDX-License-Identifier: GPL-2.0
/* torcollctl discover: the wiring of all hosts that cables reach. */
#include "discover.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"

#define KEY_DEFAULT	1

static const char help[] =
	"Usage: torcollctl discover [show] [dims AxBx...] [key KEY] [from FILE]\n"
	"                           [write FILE]\n"
	"\n"
	"Finds out which ring (also with chords), torus or full mesh the hosts form that\n"
	"cables reach, and what is missing or crossed. The module has to be loaded on\n"
	"them; nothing else has to be configured.\n"
	"\n"
	"dims    what they are to form, such as 4x4, or 3:line for an open chain;\n"
	"        otherwise the shape in which most cables fit\n"
	"key     of the fabric that is proposed, 1 unless given\n"
	"from    a survey's file: torcollctl -j survey show >FILE\n"
	"write   the file for all hosts, for \"torcollctl apply\"; KEY.conf if FILE is a\n"
	"        folder\n"
	"\n"
	"Exit status 3: something is wrong with the wiring.\n";

struct request {
	struct shape dims;
	uint64_t key;
	const char *from, *write;
};

static int discover_parse(struct args *a, struct request *q)
{
	const char *word;

	while (a->argc) {
		if (arg_is(a, "dims")) {
			word = arg_need(a, "the shape, such as 4x4,");
			if (!word || shape_parse(word, &q->dims))
				return CTL_USAGE;
		} else if (arg_is(a, "key")) {
			if (arg_u64(a, "key", &q->key))
				return CTL_USAGE;
		} else if (arg_is(a, "from")) {
			q->from = arg_need(a, "the survey's file");
			if (!q->from)
				return CTL_USAGE;
		} else if (arg_is(a, "write")) {
			q->write = arg_need(a, "the file to write");
			if (!q->write)
				return CTL_USAGE;
		} else {
			return arg_end(a);
		}
	}
	return CTL_OK;
}

static int check_hosts(const struct survey *s, const struct request *q)
{
	if (!s->nhosts)
		return other_error("the survey has no host");
	if (s->nhosts > GRAPH_MAX_HOSTS)
		return other_error("%u hosts answered, which are more than %u", s->nhosts,
				   GRAPH_MAX_HOSTS);
	if (q->dims.ndim && q->dims.nodes < s->nhosts)
		return usage_error("dims: that has %u nodes, but %u hosts answered", q->dims.nodes,
				   s->nhosts);
	if (q->dims.ndim && q->dims.nodes > 2 * s->nhosts)
		return usage_error("dims: that has %u nodes, but only %u hosts answered",
				   q->dims.nodes, s->nhosts);
	return CTL_OK;
}

static void discover_survey_is(struct discovery *d, const struct survey *s, const struct request *q)
{
	uint32_t side[MAX_DIMS];
	struct tor_torus want;

	d->key = q->key;
	d->graph = graph_new(s);
	shape_sides(&q->dims, side);
	if (q->dims.ndim)
		tor_torus_init(&want, q->dims.ndim, side, 1);
	if (!d->graph || wiring_find(&d->wiring, d->graph, q->dims.ndim ? &want : NULL) ||
	    roles_find(&d->roles, &d->wiring) || faults_find(&d->faults, &d->roles))
		err(CTL_REFUSED, "discover");
	d->fits = d->wiring.kind != WIRING_NONE && !d->faults.problems;
}

static int discover_result(const struct discovery *d, const char *file)
{
	int ret = CTL_OK;

	if (opt.json) {
		struct json_object *o = discovery_json(d);

		js_print(o);
		json_object_put(o);
	} else if (file) {
		discovery_print(d);
	} else {
		discovery_print_all(d);
	}
	if (file)
		ret = discovery_write(d, file);
	return ret ? ret : d->fits ? CTL_OK : CTL_WRONG;
}

static int discover_show(struct args *a)
{
	struct request q = { .key = KEY_DEFAULT };
	struct discovery d = { 0 };
	struct survey *s;
	int ret;

	ret = discover_parse(a, &q);
	if (ret)
		return ret;
	s = survey_new();
	ret = survey_get(s, q.from, false);
	if (!ret)
		ret = check_hosts(s, &q);
	if (!ret) {
		discover_survey_is(&d, s, &q);
		ret = discover_result(&d, q.write);
		faults_free(&d.faults);
		roles_free(&d.roles);
		wiring_free(&d.wiring);
		graph_free(d.graph);
	}
	survey_free(s);
	return ret;
}

int discover_main(struct args *a)
{
	if (a->argc && (!strcmp(a->argv[0], "help") || !strcmp(a->argv[0], "-h") ||
			!strcmp(a->argv[0], "--help"))) {
		fputs(help, stdout);
		return CTL_OK;
	}
	arg_is(a, "show");
	return discover_show(a);
}
