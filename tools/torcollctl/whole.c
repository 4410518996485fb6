// SPDX-License-Identifier: GPL-2.0
/* Words and surveys of the commands that look at a whole fabric. */
#include "whole.h"

int whole_word(struct args *a, struct whole *w)
{
	if (arg_is(a, "from")) {
		w->file = arg_need(a, "the survey's file");
		return w->file ? 0 : CTL_USAGE;
	}
	if (w->has_key || !a->argc || *a->argv[0] < '0' || *a->argv[0] > '9')
		return -1;
	w->has_key = true;
	return arg_u64(a, "the fabric's key", &w->key);
}

int whole_open(struct whole *w)
{
	return w->file ? CTL_OK : conn_need(&w->conn);
}

void whole_close(struct whole *w)
{
	if (!w->file)
		conn_close(&w->conn);
}

int whole_take(struct whole *w, struct survey *s, bool test)
{
	int ret;

	if (w->file)
		ret = survey_load(s, w->file);
	else
		ret = survey_take(s, &w->conn, test, !w->quiet) ? conn_refused(&w->conn) : CTL_OK;
	if (!ret && !w->quiet && !w->told) {
		survey_say_rest(s);
		w->told = true;
	}
	if (ret || w->has_key)
		return ret;
	w->has_key = true;
	return map_key(s, &w->key);
}

int whole_nobody(const struct whole *w)
{
	return other_error("key: no host that answers is in fabric %llu", (unsigned long long)w->key);
}
