// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl stats: counters.
 */
#include <stdio.h>
#include <string.h>

#include "stats.h"

static const char help[] =
	"Usage: torcollctl [-a] stats [KEY]\n"
	"       torcollctl stats --prometheus [FILE]\n"
	"\n"
	"-a            also counters that are zero\n"
	"--prometheus  those of all fabrics and ports, in the text format of Prometheus;\n"
	"              FILE is replaced at once, when it is complete\n";

#define COUNTER(_attr, _name)	FIELD(TORCOLL_A_COUNTER_##_attr, FIELD_U64, _name)

const struct field stats_counter[] = {
	COUNTER(TX_FRAMES, "tx_frames"),
	COUNTER(TX_BYTES, "tx_bytes"),
	COUNTER(TX_COPIED_BYTES, "tx_copied_bytes"),
	COUNTER(TX_RETRANSMITS, "tx_retransmits"),
	COUNTER(TX_TIMEOUTS, "tx_timeouts"),
	COUNTER(TX_PROBES, "tx_probes"),
	COUNTER(TX_LOCAL_DROP, "tx_local_drop"),
	COUNTER(TX_NO_MEMORY, "tx_no_memory"),
	COUNTER(TX_NO_ROUTE, "tx_no_route"),
	COUNTER(TX_ACKS, "tx_acks"),
	COUNTER(RX_FRAMES, "rx_frames"),
	COUNTER(RX_BYTES, "rx_bytes"),
	COUNTER(RX_DUPLICATES, "rx_duplicates"),
	COUNTER(RX_EARLY, "rx_early"),
	COUNTER(RX_NOT_READY, "rx_not_ready"),
	COUNTER(RX_DEFERRED, "rx_deferred"),
	COUNTER(RX_HELLOS, "rx_hellos"),
	COUNTER(FORWARDED, "forwarded"),
	COUNTER(DROP_SHORT, "drop_short"),
	COUNTER(DROP_VERSION, "drop_version"),
	COUNTER(DROP_TYPE, "drop_type"),
	COUNTER(DROP_FABRIC, "drop_fabric"),
	COUNTER(DROP_HEADER_CRC, "drop_header_crc"),
	COUNTER(DROP_PAYLOAD_CRC, "drop_payload_crc"),
	COUNTER(DROP_HOP_LIMIT, "drop_hop_limit"),
	COUNTER(DROP_NODE, "drop_node"),
	COUNTER(DROP_EPOCH, "drop_epoch"),
	COUNTER(DROP_COMM, "drop_comm"),
	COUNTER(DROP_RANGE, "drop_range"),
	COUNTER(DROP_NO_ROUTE, "drop_no_route"),
	COUNTER(DROP_FORWARD, "drop_forward"),
	COUNTER(DROP_NOT_OURS, "drop_not_ours"),
	COUNTER(DROP_MEMORY, "drop_memory"),
	COUNTER(DROP_LINK, "drop_link"),
	COUNTER(OPS, "ops"),
	COUNTER(OPS_FAILED, "ops_failed"),
	COUNTER(LINK_DOWNS, "link_downs"),
	COUNTER(REROUTES, "reroutes"),
	COUNTER(TX_ECHOES, "tx_echoes"),
	COUNTER(RX_LATE, "rx_late"),
	COUNTER(DROP_AGAIN, "drop_again"),
};

const size_t stats_counters = ARRAY_SIZE(stats_counter);

_Static_assert(ARRAY_SIZE(stats_counter) == TORCOLL_A_COUNTER_MAX - TORCOLL_A_COUNTER_PAD,
	       "a name for every counter");

static const struct field fields[] = {
	FIELD(TORCOLL_A_STATS_FABRIC, FIELD_U64, "fabric"),
	FIELD_OF(TORCOLL_A_STATS_COUNTERS, FIELD_NEST, "counters", stats_counter),
};

const struct view stats_view = {
	TORCOLL_CMD_STATS_GET, TORCOLL_A_STATS_FABRIC, fields, ARRAY_SIZE(fields)
};

static void print_counters(struct json_object *counters)
{
	bool any = false;
	size_t i;

	for (i = 0; counters && i < stats_counters; i++) {
		const char *name = stats_counter[i].name;

		if (!js_has(counters, name) || (!opt.all && !js_u64(counters, name)))
			continue;
		printf("    %-16s %12s\n", name, js_str(counters, name));
		any = true;
	}
	if (!any)
		printf("    nothing counted yet\n");
}

static void print_stats(struct json_object *list)
{
	size_t i, n = json_object_array_length(list);

	if (!n)
		fputs("This network namespace belongs to no fabric: \"torcollctl fabric add\" makes it a node of one.\n", stderr);
	for (i = 0; i < n; i++) {
		struct json_object *stats = json_object_array_get_idx(list, i);

		printf("fabric %s\n", js_str(stats, "fabric"));
		print_counters(js_get(stats, "counters"));
	}
}

int stats_main(struct args *a)
{
	if (a->argc && !strcmp(a->argv[0], "help")) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (a->argc && !strcmp(a->argv[0], "--prometheus")) {
		arg_next(a);
		return stats_prometheus(a);
	}
	if (a->argc && (*a->argv[0] < '0' || *a->argv[0] > '9'))
		arg_is(a, "show");
	if (arg_is(a, "-a"))
		opt.all = true;
	return view_show(a, &stats_view, print_stats);
}
