// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl qualify all: every host tests its cables at once, at the request of
 * a survey, and this one prints a table of all cables, the worst first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "gather.h"
#include "judged.h"
#include "qualify.h"

#define TAKES	3	/* surveys at most, while a cable looks slow */

/* --- nodes that have not answered --- */

static uint64_t count_nodes(const struct survey_node *node)
{
	uint64_t nodes = node->ndim ? 1 : 0;
	uint32_t i;

	for (i = 0; i < node->ndim; i++)
		nodes *= tor_side_length(node->side[i]);
	return nodes;
}

/* Return how many hosts have answered that are nodes of that fabric. */
static unsigned int count_answers(const struct survey *s, uint64_t key)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->nhosts; i++)
		n += survey_node(s->hosts[i], key) != NULL;
	return n;
}

/*
 * Print how many nodes of each of this host's fabrics have answered. Return
 * whether all have.
 */
static bool report_nodes(const struct survey *s)
{
	const struct survey_host *host = s->self ? s->self : s->nhosts ? s->hosts[0] : NULL;
	bool all = true;
	unsigned int i;

	for (i = 0; host && i < host->nnodes; i++) {
		uint64_t nodes = count_nodes(&host->nodes[i]);
		unsigned int answers = count_answers(s, host->nodes[i].key);

		if (answers >= nodes)
			continue;
		all = false;
		fprintf(stderr, "Only %u of %llu nodes of fabric %llu have answered: no cable leads to the others, they are off, or their module is not loaded.\n",
			answers, (unsigned long long)nodes, (unsigned long long)host->nodes[i].key);
	}
	return all;
}

/* --- JSON --- */

static void add_u64(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static struct json_object *end_json(const struct survey_port *port, const char *name)
{
	const struct survey_node *node = port ? survey_node(port->owner, port->key) : NULL;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(name));
	if (!port)
		return o;
	json_object_object_add(o, "host", json_object_new_string(port->owner->name));
	json_object_object_add(o, "ifname", json_object_new_string(port->own.device));
	if (!(port->flags & TORCOLL_SURVEY_MEMBER))
		return o;
	add_u64(o, "fabric", port->key);
	if (node)
		add_u64(o, "node", node->node);
	add_u64(o, "dim", port->dim);
	json_object_object_add(o, "dir", json_object_new_string(dir_name(port->dir)));
	json_object_object_add(o, "state", json_object_new_string(link_state_name(port->state)));
	return o;
}

static struct json_object *way_json(const struct verdict_way *way)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "sent", way->sent);
	add_u64(o, "lost", way->lost);
	add_u64(o, "damaged", way->damaged);
	if (way->bps)
		add_u64(o, "bps", way->bps);
	if (way->usual_bps)
		add_u64(o, "usual_bps", way->usual_bps);
	return o;
}

static struct json_object *judged_json(const struct judged *j)
{
	struct json_object *o = json_object_new_object();
	const struct verdict_cable *c = &j->cable;

	json_object_object_add(o, "from", end_json(j->end[0], j->name[0]));
	json_object_object_add(o, "to", end_json(j->end[1], j->name[1]));
	json_object_object_add(o, "there", way_json(&c->way[0]));
	json_object_object_add(o, "back", way_json(&c->way[1]));
	if (c->rtt_ns)
		add_u64(o, "rtt_median_ns", c->rtt_ns);
	if (c->usual_rtt_ns)
		add_u64(o, "usual_rtt_ns", c->usual_rtt_ns);
	verdict_add_json(o, &j->verdict);
	return o;
}

static void print_json(const struct judgement *j)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < j->n; i++)
		json_object_array_add(list, judged_json(&j->cable[i]));
	js_print(list);
	json_object_put(list);
}

/* --- text --- */

static const char *cell_rate(const struct verdict_way *way)
{
	char rate[32];

	return way->bps ? fmt_str("%s", verdict_rate(rate, way->bps)) : "-";
}

static const char *cell_count(const struct verdict_way *way, uint64_t count)
{
	char share[32];

	if (!way->sent)
		return "-";
	return count ? fmt_str("%llu (%s)", (unsigned long long)count,
			       verdict_share(share, count, way->sent)) : "0";
}

static void print_table(const struct judgement *j)
{
	struct table t = { 0 };
	size_t i;

	TABLE_ROW(&t, "VERDICT", "FROM", "TO", "RATE", "BACK", "LOST", "BACK", "DAMAGED", "BACK",
		  "ROUND TRIP");
	for (i = 0; i < j->n; i++) {
		const struct judged *cable = &j->cable[i];
		const struct verdict_way *there = &cable->cable.way[0], *back = &cable->cable.way[1];

		TABLE_ROW(&t, verdict_words[cable->verdict.word], cable->name[0], cable->name[1],
			  cell_rate(there), cell_rate(back), cell_count(there, there->lost),
			  cell_count(back, back->lost), cell_count(there, there->damaged),
			  cell_count(back, back->damaged),
			  cable->cable.rtt_ns ? fmt_ns(cable->cable.rtt_ns) : "-");
	}
	table_print(&t);
}

static void print_text(const struct judgement *j)
{
	size_t i;

	print_table(j);
	for (i = 0; i < j->n && j->cable[i].verdict.word != VERDICT_GOOD; i++) {
		printf("%s - %s: %s\n", j->cable[i].name[0], j->cable[i].name[1],
		       verdict_words[j->cable[i].verdict.word]);
		verdict_print(&j->cable[i].verdict);
	}
	printf("%zu %s: %zu good, %zu slow, %zu BAD\n", j->n, j->n == 1 ? "cable" : "cables",
	       judgement_count(j, VERDICT_GOOD), judgement_count(j, VERDICT_SLOW),
	       judgement_count(j, VERDICT_BAD));
	if (j->host_limit)
		printf("Half of the cables reach no more than %u %% of their devices' link speed: the hosts are the limit, or the devices' speed is virtual.\n",
		       j->host_limit);
	fflush(stdout);
}

/* --- taking --- */

/* Return whether a cable may look better when measured again. */
static bool looks_slow(const struct survey *s)
{
	struct judgement j;
	bool slow = false;
	size_t i;

	if (judgement_make(&j, s))
		return false;
	for (i = 0; i < j.n; i++)
		slow |= j.cable[i].verdict.slow;
	judgement_free(&j);
	return slow;
}

/*
 * Take a survey, and others as long as a cable looks slow: hosts are busy for a
 * moment, and all of them share the processors of one in a virtual torus.
 */
static int take_surveys(struct survey **s)
{
	unsigned int i;
	struct conn c;
	int err;

	if (conn_need(&c))
		return CTL_USAGE;
	err = survey_take(*s, &c, true, true);
	for (i = 1; !err && i < TAKES && looks_slow(*s); i++) {
		struct survey *earlier = *s;

		*s = survey_new();
		err = survey_take(*s, &c, true, true);
		gather_tests(*s, earlier);
		survey_free(earlier);
	}
	if (err)
		err = conn_refused(&c);
	conn_close(&c);
	return err;
}

static int judge_survey(const struct survey *s)
{
	struct judgement j;
	int ret = CTL_OK;

	if (judgement_make(&j, s)) {
		other_error("out of memory");
		return CTL_REFUSED;
	}
	if (!judgement_is_tested(&j)) {
		other_error("no cable was tested: %s", j.n ?
			    "the survey is one without tests; \"torcollctl -j survey show test\" makes one with them" :
			    "no port of a fabric and no cable to another host was found");
		ret = CTL_REFUSED;
	} else {
		if (opt.json)
			print_json(&j);
		else
			print_text(&j);
		if (!report_nodes(s) || judgement_count(&j, VERDICT_BAD))
			ret = CTL_REFUSED;
	}
	judgement_free(&j);
	return ret;
}

int qualify_all(const char *file)
{
	struct survey *s = survey_new();
	int ret = file ? survey_load(s, file) : take_surveys(&s);

	if (!ret) {
		survey_say_rest(s);
		ret = judge_survey(s);
	}
	survey_free(s);
	return ret;
}
