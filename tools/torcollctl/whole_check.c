// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl fabric check: what is wrong with a fabric, by surveys of all its
 * hosts.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "gather.h"
#include "whole.h"

/* Test frames per port that make chance small: at 1 % one run in 20,000 loses none. */
#define FRAMES	1000
#define TESTS	2

/* What takes a second look: a busy host may look like a bad cable once. */
static bool is_of_cable(const struct finding *f)
{
	static const char *const rules[] = { "slow", "delay", "loss" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (!strcmp(f->rule, rules[i]))
			return true;
	return false;
}

static bool needs_more(const struct survey *s, const struct check *c, uint64_t key)
{
	uint32_t i;

	if (gather_frames(s, key) < FRAMES)
		return true;
	for (i = 0; i < c->nfindings; i++)
		if (is_of_cable(&c->finding[i]))
			return true;
	return false;
}

/* The first survey has the counters' values before the tests. */
static int check_hosts_asked(struct whole *w, struct survey **now, struct survey **before,
			     struct check **c)
{
	struct survey *more;
	int ret, tests;

	ret = whole_take(w, *before, false);
	for (tests = 0; !ret && tests < TESTS; tests++) {
		more = survey_new();
		ret = whole_take(w, more, true);
		gather_tests(more, *now);
		survey_free(*now);
		*now = more;
		check_free(*c);
		*c = ret ? NULL : check_new(*now, *before, w->key);
		if (!*c || !needs_more(*now, *c, w->key))
			break;
	}
	return ret;
}

static int check_file(struct whole *w, struct survey *now, struct check **c)
{
	int ret = whole_take(w, now, false);

	if (ret)
		return ret;
	*c = check_new(now, NULL, w->key);
	if (gather_frames(now, w->key) == UINT32_MAX)
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
	struct survey *now, *before;
	struct whole w = { 0 };
	struct check *c = NULL;
	int ret;

	while (a->argc) {
		ret = whole_word(a, &w);
		if (ret)
			return ret < 0 ? arg_end(a) : ret;
	}
	if (whole_open(&w))
		return CTL_USAGE;
	now = survey_new();
	before = survey_new();
	ret = w.file ? check_file(&w, now, &c) : check_hosts_asked(&w, &now, &before, &c);
	if (!ret)
		ret = check_report(&w, c);
	check_free(c);
	survey_free(now);
	survey_free(before);
	whole_close(&w);
	return ret;
}
