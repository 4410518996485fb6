// SPDX-License-Identifier: GPL-2.0
/* Verdicts as output: lines of text, and members of JSON. See verdict.h. */
#include <stdio.h>

#include "ctl.h"
#include "verdict.h"

void verdict_add_json(struct json_object *o, const struct verdict *v)
{
	static const char *const names[] = {
		[VERDICT_GOOD] = "good",
		[VERDICT_SLOW] = "slow",
		[VERDICT_BAD] = "bad",
	};
	struct json_object *reasons = json_object_new_array();
	unsigned int i;

	for (i = 0; i < v->reasons; i++)
		json_object_array_add(reasons, json_object_new_string(v->reason[i]));
	json_object_object_add(o, "verdict", json_object_new_string(names[v->word]));
	json_object_object_add(o, "good", json_object_new_boolean(v->word == VERDICT_GOOD));
	json_object_object_add(o, "reasons", reasons);
	if (v->advice)
		json_object_object_add(o, "advice", json_object_new_string(v->advice));
}

void verdict_print(const struct verdict *v)
{
	unsigned int i;

	for (i = 0; i < v->reasons; i++)
		printf("    %-12s%s\n", i ? "" : "why", fmt_plain(v->reason[i]));
	if (v->advice)
		printf("    %-12s%s\n", "advice", v->advice);
}
