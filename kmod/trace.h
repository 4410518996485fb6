/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints, named as in the documents; for bpftrace and trace-cmd. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM torcoll

#if !defined(_TOR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TOR_TRACE_H

#include <linux/tracepoint.h>

#include "core/counter.h"
#include "core/engine/engine.h"

/*
 * In all events, @port is the number of the cable (core/link/cable.h): if its
 * link has one, that of the link.
 */

/*
 * An own frame left for the queue of a port; @again: sent before, and not
 * acknowledged.
 */
TRACE_EVENT(torcoll_tx,
	TP_PROTO(const struct tor_node *node, u32 port, const struct tor_frame *frame, u32 len),
	TP_ARGS(node, port, frame, len),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, node)
		__field(u32, port)
		__field(u32, dst)
		__field(u32, len)
		__field(u8, again)
	),
	TP_fast_assign(
		__entry->key = node->key;
		__entry->node = node->self;
		__entry->port = port;
		__entry->dst = frame->dst;
		__entry->len = len;
		__entry->again = tor_wire_is_again(frame->hdr);
	),
	TP_printk("key=%llu node=%u port=%u dst=%d len=%u again=%u", __entry->key, __entry->node,
		  __entry->port, (int)__entry->dst, __entry->len, __entry->again)
);

/* A valid frame for this node came in. */
TRACE_EVENT(torcoll_rx,
	TP_PROTO(const struct tor_node *node, u32 port, const struct tor_hdr *h),
	TP_ARGS(node, port, h),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, node)
		__field(u32, port)
		__field(u32, src)
		__field(u32, comm)
		__field(u32, op)
		__field(u64, offset)
		__field(u32, length)
		__field(u16, round)
		__field(u8, type)
		__field(u8, channel)
	),
	TP_fast_assign(
		__entry->key = node->key;
		__entry->node = node->self;
		__entry->port = port;
		__entry->src = h->src;
		__entry->comm = h->comm;
		__entry->op = h->op;
		__entry->offset = h->offset;
		__entry->length = h->length;
		__entry->round = tor_where_round(&h->where);
		__entry->type = h->type;
		__entry->channel = tor_where_channel(&h->where);
	),
	TP_printk("key=%llu node=%u port=%u type=%u src=%u comm=%08x op=%u ch=%u round=%u offset=%llu len=%u",
		  __entry->key, __entry->node, __entry->port, __entry->type, __entry->src,
		  __entry->comm, __entry->op, __entry->channel, __entry->round, __entry->offset,
		  __entry->length)
);

/* A frame was discarded; @reason is an enum tor_counter. */
TRACE_EVENT(torcoll_drop,
	TP_PROTO(const struct tor_node *node, u32 port, u32 reason),
	TP_ARGS(node, port, reason),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, node)
		__field(u32, port)
		__field(u32, reason)
		__string(name, tor_counter_name(reason))
	),
	TP_fast_assign(
		__entry->key = node->key;
		__entry->node = node->self;
		__entry->port = port;
		__entry->reason = reason;
		tor_assign_str(name, tor_counter_name(reason));
	),
	TP_printk("key=%llu node=%u port=%u reason=%s", __entry->key, __entry->node,
		  __entry->port, __get_str(name))
);

DECLARE_EVENT_CLASS(torcoll_op,
	TP_PROTO(const struct tor_op *op, u64 bytes, int status),
	TP_ARGS(op, bytes, status),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, node)
		__field(u32, comm)
		__field(u32, rank)
		__field(u32, op)
		__field(u64, bytes)
		__field(int, status)
		__field(u32, collective)
		__field(int, peer)
	),
	TP_fast_assign(
		__entry->key = op->comm->node->key;
		__entry->node = op->comm->node->self;
		__entry->comm = op->comm->tag;
		__entry->rank = op->comm->rank;
		__entry->op = op->seq;
		__entry->bytes = bytes;
		__entry->status = status;
		__entry->collective = op->call.collective;
		/* messages of each pair are numbered separately */
		__entry->peer = op->role ? op->peer : -1;
	),
	TP_printk("key=%llu node=%u comm=%08x rank=%u op=%u bytes=%llu status=%d collective=%u peer=%d",
		  __entry->key, __entry->node, __entry->comm, __entry->rank, __entry->op,
		  __entry->bytes, __entry->status, __entry->collective, __entry->peer)
);

/* An op was submitted; its result is there (or an error). */
DEFINE_EVENT(torcoll_op, torcoll_op_submit,
	TP_PROTO(const struct tor_op *op, u64 bytes, int status),
	TP_ARGS(op, bytes, status)
);

DEFINE_EVENT(torcoll_op, torcoll_op_done,
	TP_PROTO(const struct tor_op *op, u64 bytes, int status),
	TP_ARGS(op, bytes, status)
);

/* A cable changed its state. */
TRACE_EVENT(torcoll_link,
	TP_PROTO(const struct tor_node *node, u32 port),
	TP_ARGS(node, port),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, node)
		__field(u32, port)
		__field(u32, state)
		__string(name, tor_cable_state_name(node->cable[port].state))
	),
	TP_fast_assign(
		__entry->key = node->key;
		__entry->node = node->self;
		__entry->port = port;
		__entry->state = node->cable[port].state;
		tor_assign_str(name, tor_cable_state_name(node->cable[port].state));
	),
	TP_printk("key=%llu node=%u port=%u state=%s", __entry->key, __entry->node,
		  __entry->port, __get_str(name))
);

/* The routes changed; @reached: number of reachable nodes. */
TRACE_EVENT(torcoll_reroute,
	TP_PROTO(const struct tor_node *node, u32 reached),
	TP_ARGS(node, reached),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, node)
		__field(u32, dead)
		__field(u32, reached)
	),
	TP_fast_assign(
		__entry->key = node->key;
		__entry->node = node->self;
		__entry->dead = tor_link_count_dead(node);
		__entry->reached = reached;
	),
	TP_printk("key=%llu node=%u dead=%u reached=%u", __entry->key, __entry->node,
		  __entry->dead, __entry->reached)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
