// SPDX-License-Identifier: GPL-2.0
/* torcollctl comm: the communicators of this node. */
#include <stdio.h>
#include <string.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl comm show [KEY]\n"
	"\n"
	"Communicators that processes here have joined or are joining: their state, the\n"
	"rank that is missing, or the rank and node that made them fail.\n";

static const char *const state_names[] = {
	[TORCOLL_COMM_STATE_JOINING] = "joining",
	[TORCOLL_COMM_STATE_UP] = "up",
	[TORCOLL_COMM_STATE_FAILED] = "failed",
	[TORCOLL_COMM_STATE_CLOSED] = "closed",
};

static const struct field fields[] = {
	FIELD(TORCOLL_A_COMM_FABRIC, FIELD_U64, "fabric"),
	FIELD(TORCOLL_A_COMM_NAME, FIELD_STRING, "name"),
	FIELD(TORCOLL_A_COMM_TAG, FIELD_U32, "tag"),
	FIELD(TORCOLL_A_COMM_GENERATION, FIELD_U32, "generation"),
	FIELD(TORCOLL_A_COMM_RANK, FIELD_U32, "rank"),
	FIELD(TORCOLL_A_COMM_RANKS, FIELD_U32, "ranks"),
	FIELD_OF(TORCOLL_A_COMM_STATE, FIELD_NAME, "state", state_names),
	FIELD(TORCOLL_A_COMM_ERROR, FIELD_U32, "error"),
	FIELD(TORCOLL_A_COMM_ERROR_RANK, FIELD_U32, "error_rank"),
	FIELD(TORCOLL_A_COMM_ERROR_NODE, FIELD_U32, "error_node"),
	FIELD(TORCOLL_A_COMM_ERROR_OP, FIELD_U32, "error_op"),
	FIELD(TORCOLL_A_COMM_ERROR_TEXT, FIELD_STRING, "error_text"),
	FIELD(TORCOLL_A_COMM_MISSING, FIELD_U32, "missing"),
	FIELD(TORCOLL_A_COMM_OPS, FIELD_U64, "ops"),
	FIELD(TORCOLL_A_COMM_RUNNING, FIELD_U32, "running"),
	FIELD(TORCOLL_A_COMM_DEPTH, FIELD_U32, "depth"),
	FIELD(TORCOLL_A_COMM_FRAME_BYTES, FIELD_U32, "frame_bytes"),
	FIELD(TORCOLL_A_COMM_KEPT_BYTES, FIELD_U32, "kept_bytes"),
};

const struct view comm_view = {
	TORCOLL_CMD_COMM_GET, TORCOLL_A_COMM_FABRIC, fields, ARRAY_SIZE(fields)
};

static void print_error(struct json_object *comm)
{
	if (!js_has(comm, "error"))
		return;
	printf("    failed: %s", strerror(js_u64(comm, "error")));
	if (js_has(comm, "error_op"))
		printf(", op %s", js_str(comm, "error_op"));
	if (js_has(comm, "error_rank"))
		printf(", caused by rank %s", js_str(comm, "error_rank"));
	if (js_has(comm, "error_node"))
		printf(" on node %s", js_str(comm, "error_node"));
	putchar('\n');
	if (js_has(comm, "error_text"))
		printf("        %s\n", js_str(comm, "error_text"));
}

static void print_comm(struct json_object *comm)
{
	printf("comm %s of fabric %s: rank %s of %s, %s", js_str(comm, "name"),
	       js_str(comm, "fabric"), js_str(comm, "rank"), js_str(comm, "ranks"),
	       js_str(comm, "state"));
	if (js_has(comm, "missing"))
		printf(", waits for rank %s", js_str(comm, "missing"));
	printf("\n    tag %08llx, %s ops done, %s running of at most %s, %s bytes a frame",
	       (unsigned long long)js_u64(comm, "tag"), js_str(comm, "ops"),
	       js_str(comm, "running"), js_str(comm, "depth"), js_str(comm, "frame_bytes"));
	if (js_u64(comm, "kept_bytes"))
		printf(", %s came early", fmt_bytes(js_u64(comm, "kept_bytes")));
	putchar('\n');
	print_error(comm);
}

static void print_comms(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);

	if (!n)
		fputs("There is no communicator: no process of this network namespace has joined one.\n", stderr);
	for (i = 0; i < n; i++)
		print_comm(json_object_array_get_idx(list, i));
}

static int comm_show(struct args *a)
{
	return view_show(a, &comm_view, print_comms);
}

int comm_main(struct args *a)
{
	static const struct command commands[] = { { "show", comm_show }, { "list", comm_show } };

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
