// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl op: the collective calls that are under way, and for whom they wait.
 */
#include <linux/torcoll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl op show [KEY]\n";

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

static const char *const collective_names[TORCOLL_COLL_COUNT] = {
	[TORCOLL_COLL_NONE] = "none",
	[TORCOLL_ALLREDUCE] = "allreduce",
	[TORCOLL_REDUCE_SCATTER] = "reduce-scatter",
	[TORCOLL_ALLGATHER] = "allgather",
	[TORCOLL_BROADCAST] = "broadcast",
	[TORCOLL_REDUCE] = "reduce",
	[TORCOLL_BARRIER] = "barrier",
	[TORCOLL_GATHER] = "gather",
	[TORCOLL_SCATTER] = "scatter",
	[TORCOLL_ALLTOALL] = "alltoall",
	[TORCOLL_SCAN] = "scan",
	[TORCOLL_EXSCAN] = "exscan",
	[TORCOLL_HALO] = "halo",
	[TORCOLL_SEND] = "send",
	[TORCOLL_RECV] = "recv",
};

static const char *const type_names[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_TYPE_NONE] = "none",
	[TORCOLL_I8] = "i8",
	[TORCOLL_I16] = "i16",
	[TORCOLL_I32] = "i32",
	[TORCOLL_I64] = "i64",
	[TORCOLL_U8] = "u8",
	[TORCOLL_U16] = "u16",
	[TORCOLL_U32] = "u32",
	[TORCOLL_U64] = "u64",
	[TORCOLL_F16] = "f16",
	[TORCOLL_BF16] = "bf16",
	[TORCOLL_F32] = "f32",
	[TORCOLL_F64] = "f64",
	[TORCOLL_FLOAT_INT] = "float-int",
	[TORCOLL_DOUBLE_INT] = "double-int",
	[TORCOLL_LONG_INT] = "long-int",
	[TORCOLL_2INT] = "2int",
	[TORCOLL_SHORT_INT] = "short-int",
};

static const char *const redop_names[TORCOLL_REDOP_COUNT] = {
	[TORCOLL_REDOP_NONE] = "none",
	[TORCOLL_SUM] = "sum",
	[TORCOLL_PROD] = "prod",
	[TORCOLL_MIN] = "min",
	[TORCOLL_MAX] = "max",
	[TORCOLL_AVG] = "avg",
	[TORCOLL_BAND] = "band",
	[TORCOLL_BOR] = "bor",
	[TORCOLL_BXOR] = "bxor",
	[TORCOLL_LAND] = "land",
	[TORCOLL_LOR] = "lor",
	[TORCOLL_LXOR] = "lxor",
	[TORCOLL_MINLOC] = "minloc",
	[TORCOLL_MAXLOC] = "maxloc",
	[TORCOLL_PREMULSUM] = "premulsum",
};

static const char *const algorithm_names[TORCOLL_ALGO_COUNT] = {
	[TORCOLL_ALGO_AUTO] = "auto",
	[TORCOLL_SWING_BW] = "swing-bw",
	[TORCOLL_SWING_LAT] = "swing-lat",
	[TORCOLL_TRIVANCE_BW] = "trivance-bw",
	[TORCOLL_TRIVANCE_LAT] = "trivance-lat",
	[TORCOLL_CIRCULANT] = "circulant",
	[TORCOLL_GENERAL] = "general",
	[TORCOLL_RING] = "ring",
	[TORCOLL_HAMILTONIAN] = "hamiltonian",
	[TORCOLL_BUCKET] = "bucket",
	[TORCOLL_BIBUCKET] = "bibucket",
	[TORCOLL_RECDOUB_LAT] = "recdoub-lat",
	[TORCOLL_RECDOUB_BW] = "recdoub-bw",
	[TORCOLL_RECDOUB_BW_MIRRORED] = "recdoub-bw-mirrored",
	[TORCOLL_BRUCK_LAT] = "bruck-lat",
	[TORCOLL_BRUCK_BW] = "bruck-bw",
	[TORCOLL_WINDOW] = "window",
	[TORCOLL_FLOOD] = "flood",
	[TORCOLL_TREE] = "tree",
	[TORCOLL_MOORE] = "moore",
	[TORCOLL_ALLPORT] = "allport",
	[TORCOLL_BINE] = "bine",
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
	FIELD_OF(TORCOLL_A_OP_COLLECTIVE, FIELD_NAME, "collective", collective_names),
	FIELD_OF(TORCOLL_A_OP_TYPE, FIELD_NAME, "type", type_names),
	FIELD_OF(TORCOLL_A_OP_REDOP, FIELD_NAME, "redop", redop_names),
	FIELD_OF(TORCOLL_A_OP_ALGORITHM, FIELD_NAME, "algorithm", algorithm_names),
	FIELD(TORCOLL_A_OP_ROOT, FIELD_U32, "root"),
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

/* The ranks in @name of all channels, each once. */
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
