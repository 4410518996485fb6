// SPDX-License-Identifier: GPL-2.0
/* torcollctl node: this namespace's place in its fabrics. */
#include <stdio.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl node show [KEY]\n"
	"\n"
	"This network namespace's place in its fabrics, and the memory that the module\n"
	"uses for it.\n";

static const struct field fields[] = {
	FIELD(TORCOLL_A_NODE_FABRIC, FIELD_U64, "fabric"),
	FIELD(TORCOLL_A_NODE_INDEX, FIELD_U32, "index"),
	FIELD(TORCOLL_A_NODE_COORD, FIELD_U32S, "coord"),
	FIELD(TORCOLL_A_NODE_EPOCH, FIELD_U32, "epoch"),
	FIELD(TORCOLL_A_NODE_FRAME_BYTES, FIELD_U32, "frame_bytes"),
	FIELD(TORCOLL_A_NODE_MEMORY, FIELD_U64, "memory"),
	FIELD(TORCOLL_A_NODE_PINNED, FIELD_U64, "pinned"),
	FIELD(TORCOLL_A_NODE_COMMS, FIELD_U32, "comms"),
	FIELD(TORCOLL_A_NODE_OPS, FIELD_U32, "ops"),
	FIELD(TORCOLL_A_NODE_VERSION, FIELD_STRING, "version"),
};

const struct view node_view = {
	TORCOLL_CMD_NODE_GET, TORCOLL_A_NODE_FABRIC, fields, ARRAY_SIZE(fields)
};

static void print_node(struct json_object *node)
{
	printf("node %s (%s) of fabric %s, epoch %s\n", js_str(node, "index"),
	       fmt_list(js_get(node, "coord")), js_str(node, "fabric"), js_str(node, "epoch"));
	printf("    %s bytes a frame, %s comms, %s ops running\n", js_str(node, "frame_bytes"),
	       js_str(node, "comms"), js_str(node, "ops"));
	printf("    memory %s", fmt_bytes(js_u64(node, "memory")));
	if (js_has(node, "pinned"))
		printf(", pinned %s", fmt_bytes(js_u64(node, "pinned")));
	if (js_has(node, "version"))
		printf(", module %s", js_str(node, "version"));
	putchar('\n');
}

static void print_nodes(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);

	if (!n)
		fputs("This network namespace belongs to no fabric: \"torcollctl fabric add\" makes it a node of one.\n", stderr);
	for (i = 0; i < n; i++)
		print_node(json_object_array_get_idx(list, i));
}

static int node_show(struct args *a)
{
	return view_show(a, &node_view, print_nodes);
}

int node_main(struct args *a)
{
	static const struct command commands[] = { { "show", node_show }, { "list", node_show } };

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
