// SPDX-License-Identifier: GPL-2.0
/* torcollctl log: past changes of links, which the kernel keeps. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl.h"

static const char help[] =
	"Usage: torcollctl log [show] [KEY]\n"
	"\n"
	"Prints the last 256 changes of a fabric's links on this host, the oldest first.\n";

static const struct field fields[] = {
	FIELD(TORCOLL_A_LOG_FABRIC, FIELD_U64, "fabric"),
	FIELD(TORCOLL_A_LOG_SEQ, FIELD_U64, "seq"),
	FIELD(TORCOLL_A_LOG_AGO_NS, FIELD_U64, "ago_ns"),
	FIELD(TORCOLL_A_LOG_DIM, FIELD_U32, "dim"),
	FIELD(TORCOLL_A_LOG_DIR, FIELD_DIR, "dir"),
	FIELD(TORCOLL_A_LOG_IFNAME, FIELD_STRING, "ifname"),
	FIELD(TORCOLL_A_LOG_FROM, FIELD_STATE, "from"),
	FIELD(TORCOLL_A_LOG_TO, FIELD_STATE, "to"),
	FIELD(TORCOLL_A_LOG_REASON, FIELD_STRING, "reason"),
	FIELD(TORCOLL_A_LOG_HEARD_NODE, FIELD_U32, "heard_node"),
	FIELD(TORCOLL_A_LOG_HEARD_DIM, FIELD_U32, "heard_dim"),
	FIELD(TORCOLL_A_LOG_HEARD_DIR, FIELD_DIR, "heard_dir"),
};

static const struct view log_view = {
	TORCOLL_CMD_LOG_GET, TORCOLL_A_LOG_FABRIC, fields, ARRAY_SIZE(fields)
};

/*
 * Return the time of a change by the clock as it is now: the kernel says how
 * long ago it was, so the clock may have been set since.
 */
static const char *time_of(struct json_object *change, const struct timespec *now)
{
	int64_t ns = now->tv_sec * 1000000000LL + now->tv_nsec - (int64_t)js_u64(change, "ago_ns");
	time_t seconds = ns / 1000000000;
	char text[32], zone[8];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	return fmt_str("%s.%03d%.3s:%s", text, (int)(ns / 1000000 % 1000), zone, zone + 3);
}

static void add_times(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	for (i = 0; i < n; i++) {
		struct json_object *change = json_object_array_get_idx(list, i);

		json_object_object_add(change, "time",
				       json_object_new_string(time_of(change, &now)));
	}
}

static void print_change(struct json_object *change)
{
	printf("%s fabric %s dim %s %s (%s): %s -> %s", js_str(change, "time"),
	       js_str(change, "fabric"), js_str(change, "dim"), js_str(change, "dir"),
	       js_str(change, "ifname"), js_str(change, "from"), js_str(change, "to"));
	if (js_has(change, "reason"))
		printf(": %s", js_str(change, "reason"));
	if (js_has(change, "heard_node") && strcmp(js_str(change, "to"), "up"))
		printf("; heard: node %s, dim %s %s", js_str(change, "heard_node"),
		       js_str(change, "heard_dim"), js_str(change, "heard_dir"));
	putchar('\n');
}

static void print_changes(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);

	if (!n)
		fputs("No link has changed.\n", stderr);
	for (i = 0; i < n; i++)
		print_change(json_object_array_get_idx(list, i));
}

int log_main(struct args *a)
{
	struct json_object *list;
	int ret;

	if (a->argc && !strcmp(a->argv[0], "help")) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (a->argc && (*a->argv[0] < '0' || *a->argv[0] > '9'))
		arg_is(a, "show");
	ret = view_load(a, &log_view, &list);
	if (ret)
		return ret;
	add_times(list);
	if (opt.json)
		js_print(list);
	else
		print_changes(list);
	json_object_put(list);
	return CTL_OK;
}
