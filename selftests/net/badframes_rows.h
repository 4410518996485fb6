/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of badframes: what is wrong with each frame, and which counter says so.
 */
#ifndef SELFTESTS_BADFRAMES_ROWS_H
#define SELFTESTS_BADFRAMES_ROWS_H

#include "bad.h"
#include "member.h"

#include <linux/torcoll_netlink.h>
#include <linux/torcoll_wire.h>

/* What was learnt of the running op and of the nodes. */
static uint64_t fabric, comm, op, digest, channel, round_no, unit;
static uint64_t epoch[NODES];
static uint64_t op_before, op_after, channels = 8;	/* four per dimension */

#define HDR(_member, _value)		SET(torcoll_hdr, _member, _value)
#define HDR_FROM(_member, _variable)	FROM(torcoll_hdr, _member, _variable)

enum wrong {
	HEADER_CRC = 1,
	PAYLOAD_CRC = 2,
	OTHER_MAC = 4,
	TO_ALL = 16,
	TO_HELLOS = 32,
	TO_GROUP = 64,
	UNIT = 8,		/* the payload is a whole unit, and @payload more */
};

struct row {
	const char *name;
	unsigned int counter;	/* that moves */
	unsigned int by;	/* so much, if not 1 */
	unsigned int type;
	unsigned int acks;	/* bodies before the payload */
	unsigned int payload;	/* bytes */
	int more;		/* bytes that are sent beyond (or short of) the frame's end */
	unsigned int wrong;
	struct member hdr[4];
	struct member body[5];	/* of the first ack, or what the payload begins with */
};

#define DATA(_name, _counter, ...)						\
	{ .name = "data__" _name, .counter = TORCOLL_A_COUNTER_##_counter, .type = TORCOLL_FRAME_DATA, __VA_ARGS__ }
#define ACK(_name, _counter, ...)						\
	{ .name = "ack__" _name, .counter = TORCOLL_A_COUNTER_##_counter, .type = TORCOLL_FRAME_ACK, __VA_ARGS__ }
#define ABORT(_name, _counter, ...)						\
	{ .name = "abort__" _name, .counter = TORCOLL_A_COUNTER_##_counter, .type = TORCOLL_FRAME_ABORT, __VA_ARGS__ }
#define COMM(_name, _counter, ...)						\
	{ .name = "comm__" _name, .counter = TORCOLL_A_COUNTER_##_counter, .type = TORCOLL_FRAME_COMM, __VA_ARGS__ }
#define HELLO(_name, _counter, ...)						\
	{ .name = "hello__" _name, .counter = TORCOLL_A_COUNTER_##_counter, .type = TORCOLL_FRAME_HELLO, __VA_ARGS__ }

#define ECHO(_name, _counter, ...)						\
	{ .name = "echo__" _name, .counter = TORCOLL_A_COUNTER_##_counter, .type = TORCOLL_FRAME_ECHO, __VA_ARGS__ }

/* To a node, unless the row says more. */
#define PACKET(_name, _counter, _number, ...)					\
	{ .name = "packet__" _name, .counter = TORCOLL_A_COUNTER_##_counter, .type = TORCOLL_FRAME_PACKET, \
	  .hdr = { HDR(op, _number), __VA_ARGS__ }, .payload = 60 }

#define HEADER		((int)sizeof(struct torcoll_hdr))
#define ABORT_BYTES	sizeof(struct torcoll_abort)
#define COMM_BYTES	sizeof(struct torcoll_comm_msg)
#define HELLO_BYTES	sizeof(struct torcoll_hello)

static const struct row rows[] = {
	/* what any frame can have wrong */
	DATA("empty", DROP_SHORT, .more = -HEADER),
	DATA("one_byte", DROP_SHORT, .more = 1 - HEADER),
	DATA("header_cut", DROP_SHORT, .more = -1),
	DATA("no_payload_of_100", DROP_SHORT, .hdr = { HDR(length, 100) }),
	DATA("payload_cut", DROP_SHORT, .payload = 1000, .more = -1),
	DATA("length_2^31", DROP_SHORT, .payload = 1000, .hdr = { HDR(length, 1U << 31) }),
	DATA("length_2^32-1", DROP_SHORT, .payload = 1000, .hdr = { HDR(length, ~0U) }),
	DATA("version_0", DROP_VERSION, .payload = 64, .hdr = { HDR(version, 0) }),
	DATA("version_before", DROP_VERSION, .payload = 64, .hdr = { HDR(version, TORCOLL_WIRE_VERSION - 1) }),
	DATA("version_after", DROP_VERSION, .payload = 64, .hdr = { HDR(version, TORCOLL_WIRE_VERSION + 1) }),
	DATA("version_255", DROP_VERSION, .payload = 64, .hdr = { HDR(version, 255) }),
	DATA("type_0", DROP_TYPE, .payload = 64, .hdr = { HDR(type, 0) }),
	DATA("type_8", DROP_TYPE, .payload = 64, .hdr = { HDR(type, 8) }),
	DATA("type_255", DROP_TYPE, .payload = 64, .hdr = { HDR(type, 255) }),
	DATA("header_crc", DROP_HEADER_CRC, .payload = 64, .wrong = HEADER_CRC),
	DATA("other_fabric", DROP_FABRIC, .payload = 64, .hdr = { HDR(fabric, 0x12345678) }),
	DATA("fabric_0", DROP_FABRIC, .payload = 64, .hdr = { HDR(fabric, 0) }),
	DATA("other_mac", DROP_NOT_OURS, .payload = 64, .wrong = OTHER_MAC),
	DATA("to_all", DROP_NOT_OURS, .payload = 64, .wrong = TO_ALL),
	DATA("to_the_hellos_group", DROP_NOT_OURS, .payload = 64, .wrong = TO_HELLOS),
	DATA("to_another_group", DROP_NOT_OURS, .payload = 64, .wrong = TO_GROUP),
	DATA("forward_to_all", DROP_NOT_OURS, .payload = 64, .wrong = TO_ALL,
	     .hdr = { HDR(dst, 2) }),
	DATA("forward_to_the_hellos_group", DROP_NOT_OURS, .payload = 64, .wrong = TO_HELLOS,
	     .hdr = { HDR(dst, 2) }),
	HELLO("to_all", DROP_NOT_OURS, .payload = HELLO_BYTES, .wrong = TO_ALL),
	DATA("src_out_of_range", DROP_NODE, .payload = 64, .hdr = { HDR(src, NODES) }),
	DATA("src_2^32-1", DROP_NODE, .payload = 64, .hdr = { HDR(src, ~0U) }),
	DATA("src_is_receiver", DROP_NODE, .payload = 64, .hdr = { HDR(src, 0) }),
	DATA("dst_out_of_range", DROP_NODE, .payload = 64, .hdr = { HDR(dst, NODES) }),
	DATA("dst_2^32-1", DROP_NODE, .payload = 64, .hdr = { HDR(dst, ~0U) }),
	DATA("old_dst_epoch", DROP_EPOCH, .payload = 64, .hdr = { HDR(dst_epoch, 1) }),
	DATA("old_src_epoch", DROP_EPOCH, .payload = 64, .hdr = { HDR(src_epoch, 1) }),
	DATA("src_epoch_0", DROP_EPOCH, .payload = 64, .hdr = { HDR(src_epoch, 0) }),
	DATA("unknown_comm", DROP_COMM, .payload = 64, .hdr = { HDR(comm, 0x12345678) }),
	DATA("comm_0", DROP_COMM, .payload = 64, .hdr = { HDR(comm, 0) }),
	DATA("longer_than_said", DROP_COMM, .payload = 64, .more = 1000,
	     .hdr = { HDR(comm, 0x12345678) }),

	/* what is passed on */
	DATA("forward_hop_limit_0", DROP_HOP_LIMIT, .payload = 64,
	     .hdr = { HDR(dst, 2), HDR(hop_limit, 0) }),
	DATA("forward_hop_limit_1", DROP_HOP_LIMIT, .payload = 64,
	     .hdr = { HDR(dst, 2), HDR(hop_limit, 1) }),
	DATA("forward_hop_limit_2", FORWARDED, .payload = 64,
	     .hdr = { HDR(dst, 2), HDR(hop_limit, 2), HDR(comm, 0x12345678) }),
	DATA("forward_payload_crc", FORWARDED, .payload = 64, .wrong = PAYLOAD_CRC,
	     .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) }),
	DATA("forward_with_a_tail", FORWARDED, .payload = 64, .more = 1000,
	     .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) }),
	DATA("forward_whence_it_came", FORWARDED, .payload = 64,
	     .hdr = { HDR(dst, 3), HDR(comm, 0x12345678) }),
	DATA("forward_header_crc", DROP_HEADER_CRC, .payload = 64, .wrong = HEADER_CRC,
	     .hdr = { HDR(dst, 2) }),
	ABORT("forward_short", FORWARDED, .payload = 1,
	      .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) }),

	/* data for the op that is running */
	DATA("no_payload", DROP_RANGE),
	DATA("no_channel", DROP_RANGE, .payload = 64, .hdr = { HDR_FROM(channel, channels) }),
	DATA("channel_255", DROP_RANGE, .payload = 64, .hdr = { HDR(channel, 255) }),
	DATA("message_of_no_pair", DROP_RANGE, .payload = 64, .hdr = { HDR(channel, 254), HDR(round, 1) }),
	DATA("round_65535", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(round, 65535) }),
	DATA("round_100", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(round, 100) }),
	DATA("offset_no_multiple", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(offset, 1) }),
	DATA("offset_2^63", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(offset, 1UL << 63) }),
	DATA("offset_2^64-1", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(offset, ~0UL) }),
	DATA("offset_behind_the_end", DROP_RANGE, .wrong = UNIT,
	     .hdr = { HDR(offset, 8896 * 1000) }),
	DATA("offset_of_frame_2^32", DROP_RANGE, .wrong = UNIT,
	     .hdr = { HDR(offset, 8896UL << 32) }),
	DATA("too_short", DROP_RANGE, .payload = 64),
	DATA("too_long", DROP_RANGE, .payload = 1, .wrong = UNIT),
	DATA("digest_0", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(digest, 0) }),
	DATA("payload_crc", DROP_PAYLOAD_CRC, .wrong = UNIT | PAYLOAD_CRC),
	DATA("from_a_rank_that_sends_nothing", DROP_RANGE, .wrong = UNIT,
	     .hdr = { HDR(src, 3), HDR_FROM(src_epoch, epoch[3]) }),
	DATA("op_before", RX_DUPLICATES, .wrong = UNIT, .hdr = { HDR_FROM(op, op_before) }),
	DATA("op_after", RX_NOT_READY, .wrong = UNIT, .hdr = { HDR_FROM(op, op_after) }),

	/* acknowledgements */
	ACK("none", RX_FRAMES),
	ACK("33", DROP_HEADER_CRC, .acks = 33),
	ACK("255", DROP_HEADER_CRC, .hdr = { HDR(acks, 255) }),
	ACK("32_cut", DROP_SHORT, .acks = 32, .more = -1),
	ACK("32_not_there", DROP_SHORT, .hdr = { HDR(acks, 32) }),
	ACK("unknown_comm", DROP_COMM, .acks = 1, .body = { SET(torcoll_ack, comm, 0x12345678) }),
	ACK("32_of_no_comm", DROP_COMM, .by = 32, .acks = 32),
	ACK("old_src_epoch", DROP_EPOCH, .acks = 1, .hdr = { HDR(src_epoch, 1) },
	    .body = { FROM(torcoll_ack, comm, comm) }),
	ACK("no_channel", RX_FRAMES, .acks = 1,
	    .body = { FROM(torcoll_ack, comm, comm), FROM(torcoll_ack, op, op),
		      SET(torcoll_ack, channel, 255) }),
	ACK("no_round", RX_FRAMES, .acks = 1,
	    .body = { FROM(torcoll_ack, comm, comm), FROM(torcoll_ack, op, op),
		      SET(torcoll_ack, round, 65535) }),
	ACK("no_state", DROP_RANGE, .acks = 1,
	    .body = { FROM(torcoll_ack, comm, comm), FROM(torcoll_ack, op, op),
		      SET(torcoll_ack, state, 5) }),
	ACK("op_after", RX_FRAMES, .acks = 1,
	    .body = { FROM(torcoll_ack, comm, comm), FROM(torcoll_ack, op, op_after),
		      SET(torcoll_ack, base, ~0U) }),
	DATA("ack_of_no_comm_no_data", DROP_COMM, .by = 2, .acks = 1, .payload = 64,
	     .hdr = { HDR(comm, 0x12345678) }),

	/* aborts; none may end the comm */
	ABORT("unknown_comm", DROP_COMM, .payload = ABORT_BYTES, .hdr = { HDR(comm, 0x12345678) },
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("payload_crc", DROP_PAYLOAD_CRC, .payload = ABORT_BYTES, .wrong = PAYLOAD_CRC,
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("old_src_epoch", DROP_EPOCH, .payload = ABORT_BYTES, .hdr = { HDR(src_epoch, 1) },
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("payload_short", DROP_SHORT, .payload = ABORT_BYTES - 1,
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("payload_none", DROP_SHORT),
	ABORT("error_0", DROP_SHORT, .payload = ABORT_BYTES),
	ABORT("error_4096", DROP_SHORT, .payload = ABORT_BYTES,
	      .body = { SET(torcoll_abort, error, 4096) }),
	ABORT("error_2^31", DROP_SHORT, .payload = ABORT_BYTES,
	      .body = { SET(torcoll_abort, error, 1U << 31) }),

	/* comms being created */
	COMM("payload_none", DROP_SHORT),
	COMM("payload_short", DROP_SHORT, .payload = COMM_BYTES - 1),
	COMM("payload_crc", DROP_PAYLOAD_CRC, .payload = COMM_BYTES, .wrong = PAYLOAD_CRC,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_JOIN) }),
	COMM("step_0", DROP_SHORT, .payload = COMM_BYTES),
	COMM("step_255", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, 255) }),
	COMM("error_2^32-1", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_REFUSE),
		       SET(torcoll_comm_msg, error, ~0U) }),
	COMM("epochs_not_there", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_READY),
		       SET(torcoll_comm_msg, epochs, 1) }),
	COMM("epochs_2^30", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_READY),
		       SET(torcoll_comm_msg, epochs, 1U << 30) }),
	COMM("join_of_no_comm", RX_FRAMES, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_JOIN),
		       SET(torcoll_comm_msg, name, 0x1234),
		       SET(torcoll_comm_msg, rank, 1), SET(torcoll_comm_msg, ranks, 2),
		       SET(torcoll_comm_msg, frame_bytes, 256) }),
	COMM("join_of_rank_0", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_JOIN),
		       SET(torcoll_comm_msg, ranks, 2), SET(torcoll_comm_msg, frame_bytes, 256) }),
	COMM("join_of_no_frames", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_JOIN),
		       SET(torcoll_comm_msg, rank, 1), SET(torcoll_comm_msg, ranks, 2) }),
	COMM("leave_of_no_comm", RX_FRAMES, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_LEAVE),
		       SET(torcoll_comm_msg, rank, 1), SET(torcoll_comm_msg, ranks, 2) }),
	COMM("leave_of_no_rank", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_LEAVE),
		       SET(torcoll_comm_msg, rank, ~0U), SET(torcoll_comm_msg, ranks, 2) }),
	COMM("refuse_of_no_comm", RX_FRAMES, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_REFUSE),
		       SET(torcoll_comm_msg, error, EACCES),
		       SET(torcoll_comm_msg, rank, 1), SET(torcoll_comm_msg, ranks, 2) }),
	COMM("accept_of_no_comm", RX_FRAMES, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_ACCEPT),
		       SET(torcoll_comm_msg, tag, 0x12345678),
		       SET(torcoll_comm_msg, rank, 1), SET(torcoll_comm_msg, ranks, 2) }),
	COMM("accept_of_tag_0", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_ACCEPT),
		       SET(torcoll_comm_msg, rank, 1), SET(torcoll_comm_msg, ranks, 2) }),
	COMM("accept_long_ago", TX_FRAMES, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_ACCEPT),
		       FROM(torcoll_comm_msg, tag, comm),
		       SET(torcoll_comm_msg, rank, 1), SET(torcoll_comm_msg, ranks, 2) }),
	COMM("shrink_ready_of_no_frames", DROP_SHORT, .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_SHRINK_READY),
		       SET(torcoll_comm_msg, tag, 0x12345678), SET(torcoll_comm_msg, ranks, 2) }),

	/* tests of the cable: only the neighbour's whole ones are answered */
	ECHO("good", TX_ECHOES, .payload = 64),
	ECHO("src_epoch_0", TX_ECHOES, .payload = 64, .hdr = { HDR(src_epoch, 0) }),
	ECHO("empty", TX_ECHOES),
	ECHO("payload_crc", DROP_PAYLOAD_CRC, .payload = 64, .wrong = PAYLOAD_CRC),
	ECHO("payload_cut", DROP_SHORT, .payload = 64, .more = -1),
	ECHO("not_the_neighbour", DROP_NODE, .payload = 64, .hdr = { HDR(src, 3) }),
	ECHO("old_dst_epoch", DROP_EPOCH, .payload = 64, .hdr = { HDR(dst_epoch, 1) }),
	PACKET("of_no_epoch", DROP_EPOCH, 0, HDR(src_epoch, 0)),
	PACKET("of_no_node", DROP_NODE, 0, HDR(src, 4)),
	PACKET("of_this_node", DROP_NODE, 0, HDR(src, 0)),
	PACKET("to_no_node", DROP_NODE, 0, HDR(dst, 4)),
	PACKET("to_a_node_with_a_number", DROP_RANGE, 1),
	PACKET("to_another_node_with_a_number", DROP_RANGE, 1, HDR(dst, 3)),
	PACKET("to_all_without_a_number", DROP_RANGE, 0, HDR(dst, TORCOLL_NODE_ALL)),
	{ .name = "packet__short", .counter = TORCOLL_A_COUNTER_DROP_RANGE, .type = TORCOLL_FRAME_PACKET,
	  .hdr = { HDR(op, 0) }, .payload = TORCOLL_PACKET_MIN - 1 },
	{ .name = "packet__with_an_ack", .counter = TORCOLL_A_COUNTER_DROP_RANGE, .acks = 1,
	  .type = TORCOLL_FRAME_PACKET, .hdr = { HDR(op, 0) }, .payload = 60 },
	PACKET("to_another_node", FORWARDED, 0, HDR(dst, 2)),
	PACKET("to_another_node_at_its_hop_limit", DROP_HOP_LIMIT, 0, HDR(dst, 2), HDR(hop_limit, 1)),
	PACKET("to_all", FORWARDED, 5, HDR(dst, TORCOLL_NODE_ALL)),
	PACKET("to_all_again", DROP_AGAIN, 5, HDR(dst, TORCOLL_NODE_ALL)),
	PACKET("to_all_next", FORWARDED, 100, HDR(dst, TORCOLL_NODE_ALL)),
	PACKET("to_all_too_late", DROP_AGAIN, 36, HDR(dst, TORCOLL_NODE_ALL)),
	ECHO("answer", RX_FRAMES, .payload = 64, .hdr = { HDR(flags, TORCOLL_FLAG_REPLY) }),

	/* hellos that must not be believed */
	HELLO("payload_none", DROP_SHORT),
	HELLO("payload_short", DROP_SHORT, .payload = HELLO_BYTES - 1),
	HELLO("payload_crc", DROP_PAYLOAD_CRC, .payload = HELLO_BYTES, .wrong = PAYLOAD_CRC),
	HELLO("other_fabric", DROP_FABRIC, .payload = HELLO_BYTES, .hdr = { HDR(fabric, 1) }),
	HELLO("src_epoch_0", DROP_EPOCH, .payload = HELLO_BYTES, .hdr = { HDR(src_epoch, 0) },
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2) }),
	HELLO("no_dims", DROP_SHORT, .payload = HELLO_BYTES),
	HELLO("side_0", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2) }),
	HELLO("side_beyond_dims", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2),
			SET(torcoll_hello, side[2], 2) }),
	HELLO("7_dims", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 7) }),
	HELLO("dim_of_none", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2),
			SET(torcoll_hello, dim, 2) }),
	HELLO("dir_2", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2),
			SET(torcoll_hello, way, 2) }),
	HELLO("hears_2", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2),
			SET(torcoll_hello, hears, 2) }),
	HELLO("records_not_there", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2),
			SET(torcoll_hello, records, 1) }),
	HELLO("65_records", DROP_SHORT, .payload = HELLO_BYTES + 65 * 16,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2),
			SET(torcoll_hello, records, 65) }),
	HELLO("2^30_records", DROP_SHORT, .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, side[0], 2), SET(torcoll_hello, side[1], 2),
			SET(torcoll_hello, records, 1U << 30) }),
};

#endif
