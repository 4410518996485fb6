// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl op: collective calls and messages in progress, and the ranks that
 * they wait for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "core/names.h"

static const char help[] =
	"Usage: torcollctl op show [KEY]\n"
	"\n"
	"Calls of collectives and messages that this node has begun and not finished:\n"
	"for how long, and the ranks whose data, or acknowledgement, each one waits for.\n";

static const char *const state_names[] = {
	[TORCOLL_OP_STATE_RUNNING] = "running",
	[TORCOLL_OP_STATE_DONE] = "done",
	[TORCOLL_OP_STATE_DRAINING] = "draining",
};

static const char *const chan_state_names[] = {
	[TORCOLL_CHAN_STATE_IDLE] = "idle",
	[TORCOLL_CHAN_STATE_RUNNING] = "running",
	[TORCOLL_CHAN_STATE_COMPLETE] = "complete",
	[TORCOLL_CHAN_STATE_CLOSED] = "closed",
};

static const struct field channel_fields[] = {
	FIELD(TORCOLL_A_CHANNEL_INDEX, FIELD_U32, "index"),
	FIELD_OF(TORCOLL_A_CHANNEL_STATE, FIELD_NAME, "state", chan_state_names),
	FIELD(TORCOLL_A_CHANNEL_ROUND, FIELD_U32, "round"),
	FIELD(TORCOLL_A_CHANNEL_ROUNDS, FIELD_U32, "rounds"),
	FIELD(TORCOLL_A_CHANNEL_WAITS_FOR, FIELD_LIST_U32, "waits_for"),
	FIELD(TORCOLL_A_CHANNEL_UNACKED, FIELD_LIST_U32, "unacked"),
};

static const struct field fields[] = {
	FIELD(TORCOLL_A_OP_FABRIC, FIELD_U64, "fabric"),
	FIELD(TORCOLL_A_OP_COMM, FIELD_U32, "comm"),
	FIELD(TORCOLL_A_OP_NAME, FIELD_STRING, "name"),
	FIELD(TORCOLL_A_OP_SEQ, FIELD_U32, "seq"),
	FIELD_OF(TORCOLL_A_OP_COLLECTIVE, FIELD_NAME, "collective", tor_collective_names),
	FIELD_OF(TORCOLL_A_OP_TYPE, FIELD_NAME, "type", tor_type_names),
	FIELD_OF(TORCOLL_A_OP_REDOP, FIELD_NAME, "redop", tor_redop_names),
	FIELD_OF(TORCOLL_A_OP_ALGORITHM, FIELD_NAME, "algorithm", tor_algorithm_names),
	FIELD(TORCOLL_A_OP_ROOT, FIELD_U32, "root"),
	FIELD(TORCOLL_A_OP_PEER, FIELD_U32, "peer"),
	FIELD(TORCOLL_A_OP_COUNT, FIELD_U64, "count"),
	FIELD_OF(TORCOLL_A_OP_STATE, FIELD_NAME, "state", state_names),
	FIELD(TORCOLL_A_OP_ERROR, FIELD_U32, "error"),
	FIELD(TORCOLL_A_OP_AGE_NS, FIELD_U64, "age_ns"),
	FIELD_OF(TORCOLL_A_OP_CHANNEL, FIELD_LIST, "channels", channel_fields),
};

const struct view op_view = {
	TORCOLL_CMD_OP_GET, TORCOLL_A_OP_FABRIC, fields, ARRAY_SIZE(fields)
};

static bool array_has(struct json_object *array, int64_t value)
{
	size_t i, n = json_object_array_length(array);

	for (i = 0; i < n; i++)
		if (json_object_get_int64(json_object_array_get_idx(array, i)) == value)
			return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = json_object_get_int64(*(struct json_object *const *)a);
	int64_t y = json_object_get_int64(*(struct json_object *const *)b);

	return (x > y) - (x < y);
}

/* Return the ranks in @name of all channels, each once. */
static struct json_object *ranks_of(struct json_object *op, const char *name)
{
	struct json_object *ranks = json_object_new_array();
	struct json_object *channels = js_get(op, "channels");
	size_t i, j, n = channels ? json_object_array_length(channels) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *one = js_get(json_object_array_get_idx(channels, i), name);
		size_t m = one ? json_object_array_length(one) : 0;

		for (j = 0; j < m; j++) {
			struct json_object *rank = json_object_array_get_idx(one, j);

			if (!array_has(ranks, json_object_get_int64(rank)))
				json_object_array_add(ranks, json_object_get(rank));
		}
	}
	json_object_array_sort(ranks, by_number);
	return ranks;
}

static void print_ranks(struct json_object *op, const char *name, const char *what)
{
	struct json_object *ranks = ranks_of(op, name);

	if (json_object_array_length(ranks))
		printf("    %s %s\n", what, fmt_list(ranks));
	json_object_put(ranks);
}

static void print_channels(struct json_object *op)
{
	struct json_object *channels = js_get(op, "channels");
	size_t i, n = channels ? json_object_array_length(channels) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *ch = json_object_array_get_idx(channels, i);

		printf("    channel %s: %s, round %s of %s", js_str(ch, "index"),
		       js_str(ch, "state"), js_str(ch, "round"), js_str(ch, "rounds"));
		if (js_has(ch, "waits_for"))
			printf(", waits for %s", fmt_list(js_get(ch, "waits_for")));
		if (js_has(ch, "unacked"))
			printf(", unacknowledged by %s", fmt_list(js_get(ch, "unacked")));
		putchar('\n');
	}
}

static void print_op(struct json_object *op)
{
	printf("op %s of comm %s: %s", js_str(op, "seq"), js_str(op, "name"),
	       js_str(op, "collective"));
	if (js_has(op, "type"))
		printf(" %s", js_str(op, "type"));
	if (js_has(op, "redop"))
		printf(" %s", js_str(op, "redop"));
	printf(" count %s", js_str(op, "count"));
	if (js_has(op, "root"))
		printf(" root %s", js_str(op, "root"));
	if (js_has(op, "peer"))
		printf(" %s %s", strcmp(js_str(op, "collective"), "send") ? "from" : "to",
		       js_str(op, "peer"));
	printf(" by %s, %s for %s\n", js_str(op, "algorithm"),
	       js_has(op, "state") ? js_str(op, "state") : "running",
	       fmt_ns(js_u64(op, "age_ns")));
	if (js_has(op, "error"))
		printf("    failed: %s\n", strerror(js_u64(op, "error")));
	print_ranks(op, "waits_for", "waits for data of ranks");
	print_ranks(op, "unacked", "not yet acknowledged by ranks");
	print_channels(op);
}

static void print_ops(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);

	if (!n)
		fputs("No op is under way.\n", stderr);
	for (i = 0; i < n; i++)
		print_op(json_object_array_get_idx(list, i));
}

static int op_show(struct args *a)
{
	return view_show(a, &op_view, print_ops);
}

int op_main(struct args *a)
{
	static const struct command commands[] = { { "show", op_show }, { "list", op_show } };

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
