// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Names of the counters. See counter.h.
 */
#include "core/counter.h"

static const char *const counter_names[] = {
	[TOR_C_TX_FRAMES] = "tx_frames",
	[TOR_C_TX_BYTES] = "tx_bytes",
	[TOR_C_TX_COPIED_BYTES] = "tx_copied_bytes",
	[TOR_C_TX_RETRANSMITS] = "tx_retransmits",
	[TOR_C_TX_TIMEOUTS] = "tx_timeouts",
	[TOR_C_TX_PROBES] = "tx_probes",
	[TOR_C_TX_LOCAL_DROP] = "tx_local_drop",
	[TOR_C_TX_NO_MEMORY] = "tx_no_memory",
	[TOR_C_TX_NO_ROUTE] = "tx_no_route",
	[TOR_C_TX_ACKS] = "tx_acks",
	[TOR_C_RX_FRAMES] = "rx_frames",
	[TOR_C_RX_BYTES] = "rx_bytes",
	[TOR_C_RX_DUPLICATES] = "rx_duplicates",
	[TOR_C_RX_EARLY] = "rx_early",
	[TOR_C_RX_NOT_READY] = "rx_not_ready",
	[TOR_C_RX_DEFERRED] = "rx_deferred",
	[TOR_C_RX_HELLOS] = "rx_hellos",
	[TOR_C_FORWARDED] = "forwarded",
	[TOR_C_DROP_SHORT] = "drop_short",
	[TOR_C_DROP_VERSION] = "drop_version",
	[TOR_C_DROP_TYPE] = "drop_type",
	[TOR_C_DROP_FABRIC] = "drop_fabric",
	[TOR_C_DROP_HEADER_CRC] = "drop_header_crc",
	[TOR_C_DROP_PAYLOAD_CRC] = "drop_payload_crc",
	[TOR_C_DROP_HOP_LIMIT] = "drop_hop_limit",
	[TOR_C_DROP_NODE] = "drop_node",
	[TOR_C_DROP_EPOCH] = "drop_epoch",
	[TOR_C_DROP_COMM] = "drop_comm",
	[TOR_C_DROP_RANGE] = "drop_range",
	[TOR_C_DROP_NO_ROUTE] = "drop_no_route",
	[TOR_C_DROP_FORWARD] = "drop_forward",
	[TOR_C_DROP_NOT_OURS] = "drop_not_ours",
	[TOR_C_DROP_MEMORY] = "drop_memory",
	[TOR_C_DROP_LINK] = "drop_link",
	[TOR_C_OPS] = "ops",
	[TOR_C_OPS_FAILED] = "ops_failed",
	[TOR_C_LINK_DOWNS] = "link_downs",
	[TOR_C_REROUTES] = "reroutes",
	[TOR_C_TX_ECHOES] = "tx_echoes",
	[TOR_C_RX_LATE] = "rx_late",
	[TOR_C_DROP_AGAIN] = "drop_again",
};

static_assert(ARRAY_SIZE(counter_names) == TOR_C_COUNT);

const char *tor_counter_name(enum tor_counter what)
{
	return (u32)what < TOR_C_COUNT ? counter_names[what] : NULL;
}
