// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl stats --prometheus: counters and the states of ports in the text
 * format of Prometheus, version 0.0.4, for the textfile collector of its
 * node_exporter.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "stats.h"

/* What each counter counts: in the words of uapi/torcoll.yaml and docs/observing.md, which a test compares. */
static const char *const counter_help[] = {
	[TORCOLL_A_COUNTER_TX_FRAMES] = "Frames sent by this node, all types but hellos.",
	[TORCOLL_A_COUNTER_TX_BYTES] = "Payload bytes in them.",
	[TORCOLL_A_COUNTER_TX_COPIED_BYTES] = "Payload bytes copied instead of referenced.",
	[TORCOLL_A_COUNTER_TX_RETRANSMITS] = "Data frames sent again.",
	[TORCOLL_A_COUNTER_TX_TIMEOUTS] = "Retransmission timers that expired.",
	[TORCOLL_A_COUNTER_TX_PROBES] =
		"Probes of receivers that were not ready, or whose acknowledgement a call waits for.",
	[TORCOLL_A_COUNTER_TX_LOCAL_DROP] = "Frames that the queue or device refused.",
	[TORCOLL_A_COUNTER_TX_NO_MEMORY] = "Frames not built for lack of memory.",
	[TORCOLL_A_COUNTER_TX_NO_ROUTE] = "Frames without a live port.",
	[TORCOLL_A_COUNTER_TX_ACKS] = "Acknowledgement frames sent.",
	[TORCOLL_A_COUNTER_RX_FRAMES] = "Valid frames for this node, all types but hellos.",
	[TORCOLL_A_COUNTER_RX_BYTES] = "Payload bytes in data frames accepted.",
	[TORCOLL_A_COUNTER_RX_DUPLICATES] = "Data frames that had arrived before.",
	[TORCOLL_A_COUNTER_RX_EARLY] = "Data frames kept until their round or op was reached.",
	[TORCOLL_A_COUNTER_RX_NOT_READY] =
		"Data frames refused because they were too early to keep.",
	[TORCOLL_A_COUNTER_RX_DEFERRED] = "Data frames kept because the FPU was not usable.",
	[TORCOLL_A_COUNTER_RX_HELLOS] = "Valid hellos.",
	[TORCOLL_A_COUNTER_FORWARDED] = "Frames forwarded.",
	[TORCOLL_A_COUNTER_DROP_SHORT] = "Shorter than its header says.",
	[TORCOLL_A_COUNTER_DROP_VERSION] = "Unknown wire version.",
	[TORCOLL_A_COUNTER_DROP_TYPE] = "Unknown frame type.",
	[TORCOLL_A_COUNTER_DROP_FABRIC] = "Another fabric's tag.",
	[TORCOLL_A_COUNTER_DROP_HEADER_CRC] = "Header damaged.",
	[TORCOLL_A_COUNTER_DROP_PAYLOAD_CRC] = "Payload damaged.",
	[TORCOLL_A_COUNTER_DROP_HOP_LIMIT] = "Hop limit used up.",
	[TORCOLL_A_COUNTER_DROP_NODE] = "No such node.",
	[TORCOLL_A_COUNTER_DROP_EPOCH] = "Of an older incarnation.",
	[TORCOLL_A_COUNTER_DROP_COMM] = "No such comm here.",
	[TORCOLL_A_COUNTER_DROP_RANGE] =
		"Channel, round, offset, length or digest outside the plan.",
	[TORCOLL_A_COUNTER_DROP_NO_ROUTE] = "Cannot be forwarded, no live port.",
	[TORCOLL_A_COUNTER_DROP_FORWARD] =
		"Frames to forward that do not fit the next link, or that its queue or device refused.",
	[TORCOLL_A_COUNTER_DROP_NOT_OURS] = "Addressed to another host's MAC.",
	[TORCOLL_A_COUNTER_DROP_MEMORY] = "No memory to handle it.",
	[TORCOLL_A_COUNTER_DROP_LINK] =
		"Other frames than hellos on a link without carrier, miswired, or of another version, fabric or shape.",
	[TORCOLL_A_COUNTER_OPS] = "Ops completed.",
	[TORCOLL_A_COUNTER_OPS_FAILED] = "Ops ended by an error.",
	[TORCOLL_A_COUNTER_LINK_DOWNS] = "Cables of this node that went down.",
	[TORCOLL_A_COUNTER_REROUTES] = "Changes of this node's routes.",
	[TORCOLL_A_COUNTER_TX_ECHOES] = "Test frames of neighbours answered.",
	[TORCOLL_A_COUNTER_RX_LATE] =
		"Frames that softirqs left to a thread, after they had used the processor for too long.",
	[TORCOLL_A_COUNTER_DROP_AGAIN] =
		"Packets to all nodes that had come before; some while the fabric changes, many if its nodes disagree about its links.",
};

_Static_assert(ARRAY_SIZE(counter_help) == TORCOLL_A_COUNTER_MAX + 1, "a text for every counter");

/* A metric of an object, by the name of its member; @scale: divides its value. */
struct metric {
	const char *member, *name, *help;
	double scale;
};

static const struct metric port_counters[] = {
	{ "rx_frames", "torcoll_port_rx_frames_total", "Frames received, hellos included.", 0 },
	{ "tx_frames", "torcoll_port_tx_frames_total",
	  "Frames passed to the device, hellos included.", 0 },
	{ "drops", "torcoll_port_drops_total", "Received frames that were dropped.", 0 },
	{ "lost", "torcoll_port_lost_total",
	  "Frames that the neighbour sent by this cable and that did not arrive.", 0 },
	{ "damaged", "torcoll_port_damaged_total",
	  "Frames that this cable damaged: with a wrong header, or with a wrong payload and made by the neighbour itself.", 0 },
	{ "resent", "torcoll_port_resent_total",
	  "Own data frames sent again that left by this port.", 0 },
	{ "downs", "torcoll_port_downs_total", "Times that the link went down.", 0 },
};

static const struct metric port_gauges[] = {
	{ "since_ns", "torcoll_port_state_seconds", "Time since the link's state last changed.",
	  1e9 },
	{ "mtu", "torcoll_port_mtu_bytes", "MTU of the device.", 0 },
};

static const struct metric fabric_gauges[] = {
	{ "nodes", "torcoll_fabric_nodes", "Nodes of the fabric.", 0 },
	{ "reached", "torcoll_fabric_reached_nodes", "Reachable nodes, this one included.", 0 },
	{ "dead_links", "torcoll_fabric_dead_links",
	  "Ports of the fabric that are known to have no working cable.", 0 },
	{ "ports", "torcoll_fabric_ports", "Ports of this node.", 0 },
	{ "ports_up", "torcoll_fabric_ports_up", "Ports of this node whose link is up.", 0 },
	{ "comms", "torcoll_fabric_comms", "Communicators of open files on this node.", 0 },
	{ "memory", "torcoll_fabric_memory_bytes",
	  "Kernel memory that the node uses, without communicators.", 0 },
};

/* All that is printed, of one moment or nearly. */
struct metrics {
	FILE *to;
	struct json_object *fabrics, *ports, *stats;
};

static void put_head(const struct metrics *m, const char *name, const char *type, const char *help)
{
	fprintf(m->to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Print a label's value: backslash, quote and newline are escaped. */
static void put_label(const struct metrics *m, const char *name, const char *value, char before)
{
	fprintf(m->to, "%c%s=\"", before, name);
	for (; *value; value++)
		if (*value == '\n')
			fputs("\\n", m->to);
		else if (*value == '\\' || *value == '"')
			fprintf(m->to, "\\%c", *value);
		else
			fputc(*value, m->to);
	fputc('"', m->to);
}

/* Print the node of a fabric on this host, by the fabric's key. */
static void put_node(const struct metrics *m, uint64_t key)
{
	size_t i, n = json_object_array_length(m->fabrics);

	for (i = 0; i < n; i++) {
		struct json_object *fabric = json_object_array_get_idx(m->fabrics, i);

		if (js_u64(fabric, "key") == key)
			put_label(m, "node", js_str(fabric, "node"), ',');
	}
}

/* Print the labels that tell objects of this kind apart; the last brace is missing. */
static void put_labels(const struct metrics *m, struct json_object *o)
{
	const char *key = js_has(o, "key") ? "key" : "fabric";

	put_label(m, "fabric", js_str(o, key), '{');
	put_node(m, js_u64(o, key));
	if (!js_has(o, "ifname"))
		return;
	put_label(m, "dim", js_str(o, "dim"), ',');
	put_label(m, "dir", js_str(o, "dir"), ',');
	put_label(m, "device", js_str(o, "ifname"), ',');
}

static void put_value(const struct metrics *m, struct json_object *o, const char *member,
		      double scale)
{
	if (scale)
		fprintf(m->to, "} %.3f\n", js_u64(o, member) / scale);
	else
		fprintf(m->to, "} %llu\n", (unsigned long long)js_u64(o, member));
}

/* Print one metric of all objects of a kind. */
static void put_metric(const struct metrics *m, struct json_object *list,
		       const struct metric *metric, const char *type)
{
	size_t i, n = json_object_array_length(list);

	put_head(m, metric->name, type, metric->help);
	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (!js_has(o, metric->member))
			continue;
		fputs(metric->name, m->to);
		put_labels(m, o);
		put_value(m, o, metric->member, metric->scale);
	}
}

static void put_metrics(const struct metrics *m, struct json_object *list,
			const struct metric *metric, size_t n, const char *type)
{
	size_t i;

	for (i = 0; i < n; i++)
		put_metric(m, list, &metric[i], type);
}

/* Print what is 1 for each fabric: its shape, and the module's version. */
static void put_info(const struct metrics *m)
{
	size_t i, n = json_object_array_length(m->fabrics);

	put_head(m, "torcoll_fabric_info", "gauge", "1, with the fabric's shape and the module's version.");
	for (i = 0; i < n; i++) {
		struct json_object *fabric = json_object_array_get_idx(m->fabrics, i);

		fputs("torcoll_fabric_info", m->to);
		put_labels(m, fabric);
		put_label(m, "dims", fmt_dims(fabric, "sides", "kinds"), ',');
		put_label(m, "version", js_str(fabric, "version"), ',');
		fputs("} 1\n", m->to);
	}
}

/* Print all states of each port, with 1 for the present one. */
static void put_states(const struct metrics *m)
{
	size_t i, n = json_object_array_length(m->ports);
	const char *state;
	uint32_t k;

	put_head(m, "torcoll_port_state", "gauge", "1 for the state that the link is in, 0 for the others.");
	for (i = 0; i < n; i++) {
		struct json_object *port = json_object_array_get_idx(m->ports, i);

		for (k = 0; k <= TORCOLL_LINK_STATE_UP; k++) {
			state = link_state_name(k);
			fputs("torcoll_port_state", m->to);
			put_labels(m, port);
			put_label(m, "state", state, ',');
			fprintf(m->to, "} %d\n", !strcmp(js_raw(port, "state"), state));
		}
	}
}

static void put_counters(const struct metrics *m)
{
	size_t i, k, n = json_object_array_length(m->stats);

	for (i = 0; i < stats_counters; i++) {
		const struct field *f = &stats_counter[i];

		put_head(m, fmt_str("torcoll_%s_total", f->name), "counter", counter_help[f->attr]);
		for (k = 0; k < n; k++) {
			struct json_object *stats = json_object_array_get_idx(m->stats, k);

			fprintf(m->to, "torcoll_%s_total", f->name);
			put_labels(m, stats);
			put_value(m, js_get(stats, "counters"), f->name, 0);
		}
	}
}

static void put_all(const struct metrics *m)
{
	put_info(m);
	put_metrics(m, m->fabrics, fabric_gauges, ARRAY_SIZE(fabric_gauges), "gauge");
	put_states(m);
	put_metrics(m, m->ports, port_gauges, ARRAY_SIZE(port_gauges), "gauge");
	put_metrics(m, m->ports, port_counters, ARRAY_SIZE(port_counters), "counter");
	put_counters(m);
}

/* Others may read the file at any time. */
static int write_file(struct metrics *m, const char *name)
{
	char *text = NULL;
	size_t len;
	int ret;

	m->to = open_memstream(&text, &len);
	if (!m->to)
		return other_error("writing %s: %s", name, strerror(errno));
	put_all(m);
	ret = fclose(m->to) ? other_error("writing %s: %s", name, strerror(errno)) :
			      file_publish(name, text, len);
	free(text);
	return ret;
}

static int get_all(struct metrics *m)
{
	struct conn c;
	int ret = CTL_OK;

	if (conn_need(&c))
		return CTL_USAGE;
	if (view_dump(&c, &fabric_view, NULL, &m->fabrics)) {
		ret = conn_refused(&c);
		goto close;
	}
	if (view_dump(&c, &port_view, NULL, &m->ports)) {
		ret = conn_refused(&c);
		goto put_fabrics;
	}
	if (!view_dump(&c, &stats_view, NULL, &m->stats))
		goto close;
	ret = conn_refused(&c);
	json_object_put(m->ports);
put_fabrics:
	json_object_put(m->fabrics);
close:
	conn_close(&c);
	return ret;
}

int stats_prometheus(struct args *a)
{
	const char *name = arg_next(a);
	struct metrics m = { .to = stdout };
	int ret;

	if (arg_end(a))
		return CTL_USAGE;
	ret = get_all(&m);
	if (ret)
		return ret;
	if (!name)
		put_all(&m);
	else if (write_file(&m, name))
		ret = CTL_REFUSED;
	json_object_put(m.stats);
	json_object_put(m.ports);
	json_object_put(m.fabrics);
	return ret;
}
