// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl fabric check: what is wrong with a fabric, by surveys of all its
 * hosts.
 */
#include <stdio.h>

#include "check.h"
#include "whole.h"

#define TESTS	2

/*
 * The first survey has the counters' values before the tests. A second test is
 * made if a busy host may be the reason for what the first has found.
 */
static int check_hosts_asked(struct whole *w, struct survey **surveys, struct check **c)
{
	int ret = whole_take(w, surveys[0], false), i;

	for (i = 1; !ret && i <= TESTS; i++) {
		struct check *earlier = *c;

		ret = whole_take(w, surveys[i], true);
		*c = ret ? NULL : check_new(surveys[i], surveys[0], surveys[i - 1], w->key);
		if (*c && earlier)
			check_confirm(*c, earlier);
		check_free(earlier);
		if (!*c || !check_doubts(*c))
			break;
	}
	return ret;
}

static bool has_tests(const struct survey *s)
{
	unsigned int i, j;

	for (i = 0; i < s->nhosts; i++)
		for (j = 0; j < s->hosts[i]->nports; j++)
			if (survey_is_tested(&s->hosts[i]->ports[j]))
				return true;
	return false;
}

static int check_file(struct whole *w, struct survey *now, struct check **c)
{
	int ret = whole_take(w, now, false);

	if (ret)
		return ret;
	*c = check_new(now, NULL, NULL, w->key);
	if (!has_tests(now))
		fputs("The survey is without tests (\"survey show test\"): loss, damage, rates and round trips are not checked.\n",
		      stderr);
	return CTL_OK;
}

static int check_report(const struct whole *w, const struct check *c)
{
	struct json_object *o;

	if (!c)
		return whole_nobody(w);
	if (opt.json) {
		o = check_json(c);
		js_print(o);
		json_object_put(o);
	} else {
		check_print(c);
	}
	return check_faults(c) ? CTL_WRONG : CTL_OK;
}

int whole_check(struct args *a)
{
	struct survey *surveys[TESTS + 1];
	struct whole w = { 0 };
	struct check *c = NULL;
	int ret, i;

	while (a->argc) {
		ret = whole_word(a, &w);
		if (ret)
			return ret < 0 ? arg_end(a) : ret;
	}
	if (whole_open(&w))
		return CTL_USAGE;
	for (i = 0; i <= TESTS; i++)
		surveys[i] = survey_new();
	ret = w.file ? check_file(&w, surveys[0], &c) : check_hosts_asked(&w, surveys, &c);
	if (!ret)
		ret = check_report(&w, c);
	check_free(c);
	for (i = 0; i <= TESTS; i++)
		survey_free(surveys[i]);
	whole_close(&w);
	return ret;
}
