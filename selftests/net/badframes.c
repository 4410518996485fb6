// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that must be dropped, each counted for what is wrong with it. For bad.sh: wants the
 * namespaces of a 2x2 torus, says KTAP. Node 1 is the evil neighbour: what leaves its end of the cable
 * comes to node 0, whose counters are looked at.
 *
 * All goes on while an allreduce is running that only rank 0 has begun; in the end the others come, and
 * the result must be right. What is needed to be taken for a member (tags, epochs, digest) is heard on
 * the cable and asked of netlink.
 *
 *	badframes		the test
 *	badframes hold		opens a packet socket, says so, and waits to be killed
 *	badframes big-endian	says of node 1, until it is killed, that its payloads are
 */
#include "bad.h"

#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/genetlink.h>
#include <linux/if_ether.h>
#include <linux/netlink.h>
#include <linux/torcoll_netlink.h>
#include <linux/torcoll_wire.h>

#define DEVICE		"d0m"		/* of node 1, towards node 0 */
#define COUNT		65536		/* elements of the running op: several frames per transfer */
#define FRAME_MAX	9014
#define RANDOM_FRAMES	100000
#define REPLAYS		100

/* What was learnt. */
static uint64_t fabric, comm, op, digest, channel, round_no, unit;
static uint64_t epoch[NODES];
static uint64_t op_before, op_after, channels = 8;	/* four per dimension */
static unsigned char node0[ETH_ALEN], node1[ETH_ALEN];
static int packet;
static const unsigned char hello_group[ETH_ALEN] = TORCOLL_HELLO_GROUP;

/* --- the wire --- */

static uint32_t crc32c(uint32_t crc, const void *p, size_t n)
{
	static uint32_t table[256];
	const unsigned char *byte = p;
	unsigned int i, k;

	for (i = 0; !table[1] && i < 256; i++) {
		uint32_t c = i;

		for (k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78 : 0);
		/* entry 1 says that all are there: last */
		table[i] = i == 1 ? 0 : c;
		if (i == 255)
			table[1] = 0xf26b8303;
	}
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *byte++) & 0xff];
	return crc;
}

static void set_header_crc(unsigned char *frame, unsigned int acks)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	unsigned char limit = hdr->hop_limit;

	hdr->hop_limit = 0;
	hdr->header_crc = 0;
	hdr->header_crc = htobe32(~crc32c(~0U, hdr, sizeof(*hdr) + acks * sizeof(struct torcoll_ack)));
	hdr->hop_limit = limit;
}

static void open_packet(void)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
	};
	socklen_t len = sizeof(at);

	enter_node(1);
	packet = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	need(packet >= 0, "no packet socket");
	at.sll_ifindex = if_nametoindex(DEVICE);
	need(at.sll_ifindex && !bind(packet, (struct sockaddr *)&at, sizeof(at)), "no %s", DEVICE);
	need(!getsockname(packet, (struct sockaddr *)&at, &len), "no address of %s", DEVICE);
	memcpy(node1, at.sll_addr, ETH_ALEN);
}

/* Has such a frame come since forget_heard()? */
static bool was_heard(unsigned int type, uint32_t src, uint32_t dst)
{
	unsigned char frame[FRAME_MAX];
	const struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	bool heard = false;
	ssize_t len;

	while ((len = recv(packet, frame, sizeof(frame), MSG_DONTWAIT)) >= 0)
		heard |= len >= (ssize_t)(ETH_HLEN + sizeof(*hdr)) &&
			 hdr->version == TORCOLL_WIRE_VERSION && hdr->type == type &&
			 be32toh(hdr->src) == src && be32toh(hdr->dst) == dst;
	return heard;
}

/* Wait for a frame of a type, from node @src to node @dst, on the cable between nodes 0 and 1. */
static const struct torcoll_hdr *hear(unsigned int type, uint32_t src, uint32_t dst,
				      unsigned char *frame)
{
	const struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	struct pollfd wait = { .fd = packet, .events = POLLIN };
	uint64_t end = now_ns() + 20 * NS_PER_S;
	ssize_t len;

	while (now_ns() < end) {
		if (poll(&wait, 1, 1000) <= 0)
			continue;
		len = recv(packet, frame, FRAME_MAX, MSG_DONTWAIT);
		if (len < (ssize_t)(ETH_HLEN + sizeof(*hdr)) || hdr->version != TORCOLL_WIRE_VERSION)
			continue;
		if (hdr->type == type && be32toh(hdr->src) == src && be32toh(hdr->dst) == dst)
			return hdr;
	}
	need(false, "node %u never sent a frame of type %u to %u", src, type, dst);
	return NULL;
}

static void forget_heard(void)
{
	unsigned char frame[64];

	while (recv(packet, frame, sizeof(frame), MSG_DONTWAIT) >= 0)
		;
}

static bool throw(const unsigned char *frame, size_t len)
{
	/* a full queue is no matter of ours */
	while (send(packet, frame, len, 0) < 0)
		if (errno != ENOBUFS)
			return false;
	return true;
}

/* --- counters of node 0, and epochs --- */

static int netlink;

/* One attribute out of a run of them, or NULL. */
static const struct nlattr *find(const void *p, size_t len, unsigned int type)
{
	const struct nlattr *attr = p;

	while (len >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= len) {
		size_t step = NLA_ALIGN(attr->nla_len);

		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (step >= len)
			break;
		len -= step;
		attr = (const void *)((const char *)attr + step);
	}
	return NULL;
}

static uint64_t number(const struct nlattr *attr, size_t size)
{
	uint64_t value = 0;

	if (attr && attr->nla_len == NLA_HDRLEN + size)
		memcpy(&value, (const char *)attr + NLA_HDRLEN, size);
	return value;
}

/* Ask with one attribute; the answer's attributes are at @attrs, until the next question. */
static size_t ask(unsigned int family, unsigned int cmd, unsigned int type, const void *value,
		  size_t size, const void **attrs)
{
	static char answer[16384] __attribute__((aligned(8)));
	struct {
		struct nlmsghdr nl;
		struct genlmsghdr genl;
		struct nlattr attr;
		char value[32];
	} msg = {
		.nl.nlmsg_type = family,
		.nl.nlmsg_flags = NLM_F_REQUEST,
		.genl.cmd = cmd,
		.genl.version = 1,
		.attr.nla_type = type,
		.attr.nla_len = NLA_HDRLEN + size,
	};
	const struct nlmsghdr *nl = (void *)answer;
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;
	ssize_t len;

	memcpy(msg.value, value, size);
	msg.nl.nlmsg_len = head + NLA_ALIGN(msg.attr.nla_len);
	len = send(netlink, &msg, msg.nl.nlmsg_len, 0);
	need(len >= 0, "netlink does not take a question");
	len = recv(netlink, answer, sizeof(answer), 0);
	need(len >= (ssize_t)head && nl->nlmsg_type == family, "netlink does not answer");
	*attrs = answer + head;
	return len - head;
}

static unsigned int open_netlink(unsigned int node)
{
	const void *attrs;
	size_t len;

	enter_node(node);
	if (netlink)
		close(netlink);
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	need(netlink >= 0, "no netlink socket");
	len = ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TORCOLL_GENL_NAME,
		  sizeof(TORCOLL_GENL_NAME), &attrs);
	return number(find(attrs, len, CTRL_ATTR_FAMILY_ID), 2);
}

static unsigned int family;

static uint64_t counter(unsigned int which, uint64_t *drops)
{
	const uint64_t key = FABRIC;
	const struct nlattr *counters;
	const void *attrs;
	unsigned int i;
	size_t len;

	len = ask(family, TORCOLL_CMD_STATS_GET, TORCOLL_A_STATS_FABRIC, &key, sizeof(key), &attrs);
	counters = find(attrs, len, TORCOLL_A_STATS_COUNTERS);
	need(counters, "no counters");
	attrs = (const char *)counters + NLA_HDRLEN;
	len = counters->nla_len - NLA_HDRLEN;
	*drops = 0;
	for (i = TORCOLL_A_COUNTER_DROP_SHORT; i <= TORCOLL_A_COUNTER_DROP_LINK; i++)
		*drops += number(find(attrs, len, i), sizeof(*drops));
	return number(find(attrs, len, which), sizeof(*drops));
}

static void learn_epochs(void)
{
	const uint64_t key = FABRIC;
	const void *attrs;
	unsigned int i;
	size_t len;

	/* node 0 last: its counters are asked for from then on */
	for (i = NODES; i-- > 0;) {
		family = open_netlink(i);
		len = ask(family, TORCOLL_CMD_NODE_GET, TORCOLL_A_NODE_FABRIC, &key, sizeof(key),
			  &attrs);
		epoch[i] = number(find(attrs, len, TORCOLL_A_NODE_EPOCH), 4);
		need(epoch[i], "no epoch of node %u", i);
	}
}

/* --- the table --- */

/* A member, in the wire's order of bytes, and its value, or where that is found. */
struct member {
	unsigned short at, size;
	uint64_t value;
	const uint64_t *from;
};

#define SET(_struct, _member, _value)						\
	{ .at = offsetof(struct _struct, _member),				\
	  .size = sizeof(((struct _struct *)0)->_member), .value = (_value) }
#define FROM(_struct, _member, _variable)					\
	{ .at = offsetof(struct _struct, _member),				\
	  .size = sizeof(((struct _struct *)0)->_member), .from = &(_variable) }

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
	DATA("type_7", DROP_TYPE, .payload = 64, .hdr = { HDR(type, 7) }),
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
	DATA("round_65535", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(round, 65535) }),
	DATA("round_100", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(round, 100) }),
	DATA("offset_no_multiple", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(offset, 1) }),
	DATA("offset_2^63", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(offset, 1UL << 63) }),
	DATA("offset_2^64-1", DROP_RANGE, .wrong = UNIT, .hdr = { HDR(offset, ~0UL) }),
	DATA("offset_behind_the_end", DROP_RANGE, .wrong = UNIT,
	     .hdr = { HDR(offset, 8832 * 1000) }),
	DATA("offset_of_frame_2^32", DROP_RANGE, .wrong = UNIT,
	     .hdr = { HDR(offset, 8832UL << 32) }),
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
		      SET(torcoll_ack, state, 4) }),
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
			SET(torcoll_hello, dir, 2) }),
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

/* --- one row --- */

static void set_member(void *p, const struct member *m)
{
	uint64_t value = htobe64((m->from ? *m->from : m->value) << (64 - 8 * m->size));

	memcpy((char *)p + m->at, &value, m->size);
}

static void set_members(void *p, const struct member *m, unsigned int n)
{
	while (n--) {
		if (m->size)
			set_member(p, m);
		m++;
	}
}

static void fill_mac(unsigned char *frame)
{
	memcpy(frame, node0, ETH_ALEN);
	memcpy(frame + ETH_ALEN, node1, ETH_ALEN);
	frame[2 * ETH_ALEN] = TORCOLL_ETHERTYPE >> 8;
	frame[2 * ETH_ALEN + 1] = TORCOLL_ETHERTYPE & 0xff;
}

/* A header as node 1, a member of the comm, would send it to node 0. */
static void fill_header(struct torcoll_hdr *hdr, unsigned int type)
{
	*hdr = (struct torcoll_hdr){
		.version = TORCOLL_WIRE_VERSION,
		.type = type,
		.hop_limit = 255,
		.fabric = htobe32(fabric),
		.src = htobe32(1),
		.src_epoch = htobe32(epoch[1]),
		.dst_epoch = htobe32(epoch[0]),
		.comm = htobe32(comm),
		.op = htobe32(op),
		.digest = htobe32(digest),
		.channel = channel,
		.round = htobe16(round_no),
	};
}

/* Return: bytes of the frame at @frame. */
static size_t make(unsigned char *frame, const struct row *row)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	unsigned char *body = frame + ETH_HLEN + sizeof(*hdr);
	unsigned int length = row->payload + (row->wrong & UNIT ? unit : 0);
	unsigned int acks = row->acks * sizeof(struct torcoll_ack);

	memset(frame, 0, FRAME_MAX);
	fill_mac(frame);
	if (row->wrong & OTHER_MAC)
		frame[ETH_ALEN - 1] ^= 1;
	if (row->wrong & TO_ALL)
		memset(frame, 0xff, ETH_ALEN);
	if (row->wrong & TO_HELLOS)
		memcpy(frame, hello_group, ETH_ALEN);
	if (row->wrong & TO_GROUP)
		frame[0] = 3;
	fill_header(hdr, row->type);
	hdr->acks = row->acks;
	hdr->length = htobe32(length);
	set_members(body, row->body, ARRAY_SIZE(row->body));
	hdr->payload_crc = htobe32(~crc32c(~0U, body + acks, length));
	if (row->wrong & PAYLOAD_CRC)
		hdr->payload_crc ^= htobe32(1);
	set_members(hdr, row->hdr, ARRAY_SIZE(row->hdr));
	set_header_crc(frame, row->acks);
	if (row->wrong & HEADER_CRC)
		hdr->header_crc ^= htobe32(1);
	return ETH_HLEN + sizeof(*hdr) + acks + length + row->more;
}

static void try_row(const struct row *row)
{
	uint64_t end = now_ns() + 3 * NS_PER_S, before, after, drops, drops_after;
	bool is_drop = row->counter >= TORCOLL_A_COUNTER_DROP_SHORT &&
		       row->counter <= TORCOLL_A_COUNTER_DROP_LINK;
	unsigned int by = row->by ? row->by : 1;
	unsigned char frame[FRAME_MAX];
	bool good = false;

	before = counter(row->counter, &drops);
	if (!throw(frame, make(frame, row))) {
		printf("# cannot be sent: %s\n", strerror(errno));
		result(false, "%s", row->name);
		return;
	}
	do {
		after = counter(row->counter, &drops_after);
		good = after >= before + by;
	} while (!good && now_ns() < end);
	/* counted once, and for nothing else */
	if (is_drop)
		good &= after == before + by;
	good &= drops_after == drops + (is_drop ? by : 0);
	if (!good)
		printf("# counter %u: %llu, then %llu, wanted %u more; drops: %llu, then %llu\n",
		       row->counter, (unsigned long long)before, (unsigned long long)after, by,
		       (unsigned long long)drops, (unsigned long long)drops_after);
	result(good, "%s", row->name);
}

/* --- hellos that are believed until the next one --- */

static const struct lie {
	const char *name;
	bool fatal;		/* such a link goes down */
	struct member hdr, body;
} lies[] = {
	{ .name = "another_node", .fatal = true, .hdr = HDR(src, 3) },
	{ .name = "no_node", .fatal = true, .hdr = HDR(src, ~0U) },
	{ .name = "this_node_itself", .fatal = true, .hdr = HDR(src, 0) },
	{ .name = "another_port", .fatal = true, .body = SET(torcoll_hello, dim, 1) },
	{ .name = "the_wrong_direction", .fatal = true, .body = SET(torcoll_hello, dir, 0) },
	{ .name = "another_shape", .fatal = true, .body = SET(torcoll_hello, side[0], 4) },
	{ .name = "does_not_hear", .body = SET(torcoll_hello, hears, 0) },
	{ .name = "hears_another", .body = SET(torcoll_hello, heard_node, 2) },
	{ .name = "hears_an_old_epoch", .body = SET(torcoll_hello, heard_epoch, 1) },
	{ .name = "a_new_epoch", .hdr = HDR(src_epoch, 77) },
	{ .name = "no_frame_size", .body = SET(torcoll_hello, frame_size, 0) },
};

/* What becomes of a frame of no comm: is it @which that counts it, at once? */
static bool counts(unsigned int which)
{
	static const struct row row = {
		.type = TORCOLL_FRAME_DATA, .payload = 64, .hdr = { HDR(comm, 0x12345678) },
	};
	uint64_t end = now_ns() + NS_PER_S / 20, before, drops, drops_before;
	unsigned char frame[FRAME_MAX];

	before = counter(which, &drops_before);
	need(throw(frame, make(frame, &row)), "cannot send");
	do {
		if (counter(which, &drops) > before)
			return true;
	} while (drops == drops_before && now_ns() < end);
	return false;
}

/* Does the link go down? Not for long: the true neighbour is asked at once, and answers. */
static bool link_goes_down(uint64_t downs_before)
{
	uint64_t end = now_ns() + NS_PER_S / 20, drops;

	while (now_ns() < end)
		if (counter(TORCOLL_A_COUNTER_LINK_DOWNS, &drops) > downs_before)
			return true;
	return false;
}

static void try_lie(const struct lie *lie)
{
	uint64_t downs, drops;
	unsigned char frame[FRAME_MAX];
	struct torcoll_hdr *hdr;
	bool good = false;
	unsigned int i;
	uint64_t end;
	size_t len;

	/* the truth may come in between */
	for (i = 0; i < 10 && !good; i++) {
		forget_heard();
		hear(TORCOLL_FRAME_HELLO, 1, ~0U, frame);
		hdr = (void *)(frame + ETH_HLEN);
		len = be32toh(hdr->length);
		set_members(hdr, &lie->hdr, 1);
		set_members(hdr + 1, &lie->body, 1);
		hdr->payload_crc = htobe32(~crc32c(~0U, hdr + 1, len));
		set_header_crc(frame, 0);
		downs = counter(TORCOLL_A_COUNTER_LINK_DOWNS, &drops);
		need(throw(frame, ETH_HLEN + sizeof(*hdr) + len), "cannot send");
		good = lie->fatal ? link_goes_down(downs) : counts(TORCOLL_A_COUNTER_DROP_COMM);
	}
	result(good, "hello__of_%s", lie->name);
	good = false;
	for (end = now_ns() + 5 * NS_PER_S; !good && now_ns() < end;)
		good = counts(TORCOLL_A_COUNTER_DROP_COMM);
	result(good, "hello__of_%s_is_forgotten", lie->name);
}

/* The truth comes in between, but is not what was said last. */
static void say_big_endian(void)
{
	unsigned char frame[FRAME_MAX];
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);

	for (;;) {
		hear(TORCOLL_FRAME_HELLO, 1, ~0U, frame);
		if (hdr->flags & TORCOLL_FLAG_BIG_ENDIAN)
			continue;
		hdr->flags |= TORCOLL_FLAG_BIG_ENDIAN;
		set_header_crc(frame, 0);
		need(throw(frame, ETH_HLEN + sizeof(*hdr) + be32toh(hdr->length)), "cannot send");
	}
}

/* --- at random, but always in the same way --- */

static uint64_t chance(uint64_t below)
{
	static uint64_t state = 0x746f72636f6c6c;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 8) % below;
}

static void fill_random(unsigned char *p, size_t n)
{
	while (n--)
		*p++ = chance(256);
}

/*
 * A frame whose header is right as far as CRC and tags go, and whose other members are anything that does
 * not happen to be what a member of the comm may say: no op that is running, no payload whose CRC is right
 * but that of messages that create comms.
 */
static size_t make_likely(unsigned char *frame)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	unsigned int acks = chance(4) ? chance(4) : chance(40);
	unsigned int length = chance(3) ? chance(200) : chance(1400 - 32 * acks);
	unsigned char *body = frame + ETH_HLEN + sizeof(*hdr);
	unsigned int i;

	fill_random(frame, ETH_HLEN + sizeof(*hdr) + 32 * acks + length);
	fill_mac(frame);
	hdr->version = chance(20) ? TORCOLL_WIRE_VERSION : chance(256);
	hdr->type = chance(7);
	hdr->hop_limit = chance(4);
	hdr->acks = acks;
	hdr->fabric = htobe32(chance(20) ? fabric : chance(1UL << 32));
	i = chance(NODES + 1);
	hdr->src = htobe32(i);
	hdr->src_epoch = htobe32(chance(8) ? epoch[i % NODES] : chance(1UL << 32));
	i = chance(3) ? 0 : chance(NODES + 1);
	hdr->dst = htobe32(i);
	hdr->dst_epoch = htobe32(chance(8) ? epoch[i % NODES] : 0);
	hdr->comm = htobe32(chance(4) ? comm : chance(1UL << 32));
	/* far from the one that is running, before it or after */
	hdr->op = htobe32(1000 + chance(~0U - 2000));
	hdr->channel = chance(10);
	hdr->length = htobe32(chance(8) ? length : chance(1UL << 32));
	for (i = 0; i < acks; i++) {
		struct torcoll_ack *ack = (void *)(body + 32 * i);

		ack->comm = htobe32(chance(2) ? comm : chance(1UL << 32));
		ack->op = hdr->op;
		ack->channel = chance(10);
		ack->state = chance(4);
	}
	if (hdr->type == TORCOLL_FRAME_COMM) {
		body[32 * acks] = chance(9);
		hdr->payload_crc = htobe32(~crc32c(~0U, body + 32 * acks, length));
	}
	set_header_crc(frame, acks);
	return ETH_HLEN + sizeof(*hdr) + 32 * acks + length;
}

/* A good frame of no comm with some bytes changed. */
static size_t make_damaged(unsigned char *frame)
{
	static const struct row good = {
		.type = TORCOLL_FRAME_DATA, .payload = 500, .hdr = { HDR(comm, 0x12345678) },
	};
	size_t len = make(frame, &good);
	unsigned int i, n = 1 + chance(3);

	for (i = 0; i < n; i++)
		frame[ETH_HLEN + chance(len - ETH_HLEN)] ^= 1 << chance(8);
	return chance(2) ? len : ETH_HLEN + chance(len - ETH_HLEN);
}

/* Kernels that check what they do take a minute for all of them. */
static unsigned int random_frames(void)
{
	const char *slow = getenv("TORCOLL_SLOW");

	return slow && atoi(slow) > 1 ? RANDOM_FRAMES / 4 : RANDOM_FRAMES;
}

static void try_random(void)
{
	unsigned int i, frames = random_frames(), sent = 0;
	unsigned char frame[FRAME_MAX];
	uint64_t drops, drops_after;
	size_t len;

	counter(TORCOLL_A_COUNTER_DROP_SHORT, &drops);
	for (i = 0; i < frames; i++) {
		switch (chance(4)) {
		case 0:
			len = ETH_HLEN + chance(1500);
			fill_random(frame, len);
			fill_mac(frame);
			break;
		case 1:
			len = make_damaged(frame);
			break;
		default:
			len = make_likely(frame);
			break;
		}
		sent += throw(frame, len);
	}
	result(sent == frames, "random__%u_frames", frames);
	counter(TORCOLL_A_COUNTER_DROP_SHORT, &drops_after);
	printf("# of %u frames, %llu were counted as dropped\n", sent,
	       (unsigned long long)(drops_after - drops));
	result(drops_after - drops > frames / 3, "random__many_are_dropped");
}

/* A frame that node 1 really sent comes again and again, when its op is over. */
static void try_replay(struct rank *rank)
{
	const struct torcoll_hdr *hdr;
	unsigned char frame[FRAME_MAX];
	uint64_t drops, before, after;
	unsigned int i, sent = 0;
	size_t len;

	forget_heard();
	result(sum_is_right(rank, 0, NODES, COUNT), "replay__right_before");
	hdr = hear(TORCOLL_FRAME_DATA, 1, 0, frame);
	len = ETH_HLEN + sizeof(*hdr) + hdr->acks * sizeof(struct torcoll_ack) + be32toh(hdr->length);
	before = counter(TORCOLL_A_COUNTER_RX_DUPLICATES, &drops);
	for (i = 0; i < REPLAYS; i++)
		sent += throw(frame, len);
	after = counter(TORCOLL_A_COUNTER_RX_DUPLICATES, &drops);
	result(sent == REPLAYS && after - before >= REPLAYS, "replay__counted_as_duplicates");
	result(sum_is_right(rank, 0, NODES, COUNT), "replay__right_after");
}

/* --- the whole --- */

static void learn(struct rank *rank)
{
	struct torcoll_comm_info info = { .size = sizeof(info), .comm = rank[0].comm };
	const struct torcoll_hdr *hdr;
	unsigned char frame[FRAME_MAX];

	learn_epochs();
	need(!call(rank[0].fd, TORCOLL_IOC_COMM_INFO, &info), "no info");
	unit = info.frame_bytes;
	hdr = hear(TORCOLL_FRAME_HELLO, 0, ~0U, frame);
	fabric = be32toh(hdr->fabric);
	memcpy(node0, frame + ETH_ALEN, ETH_ALEN);

	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	hdr = hear(TORCOLL_FRAME_DATA, 0, 1, frame);
	comm = be32toh(hdr->comm);
	op = be32toh(hdr->op);
	op_before = op - 1;
	op_after = op + 8;
	digest = be32toh(hdr->digest);
	channel = hdr->channel;
	round_no = be16toh(hdr->round);
}

/* One that is believed: the ranks seem to disagree, the comm fails, and only that comm. */
static void try_digest(struct rank *rank)
{
	static const struct row row = {
		.type = TORCOLL_FRAME_DATA, .wrong = UNIT, .hdr = { HDR(digest, 1) },
	};
	struct torcoll_wait wait = { .size = sizeof(wait) };
	unsigned char frame[FRAME_MAX];

	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	op = be32toh(hear(TORCOLL_FRAME_DATA, 0, 1, frame)->op);
	need(throw(frame, make(frame, &row)), "cannot send");
	wait.comm = rank[0].comm;
	wait.op = rank[0].op;
	wait.deadline_ns = now_ns() + 20 * NS_PER_S;
	result(!call(rank[0].fd, TORCOLL_IOC_WAIT, &wait) && wait.status == -EPROTO &&
	       wait.error_rank == 1, "digest__ranks_disagree");
	make_comm(rank, NODES, 8, "new");
	result(sum_is_right(rank, 0, NODES, COUNT), "digest__new_comm_is_right");
}

/* A frame that is small but for what lies behind it goes on by a cable that would not take all of that. */
static void try_padded(void)
{
	static const struct row row = {
		.name = "padded__goes_on_without", .type = TORCOLL_FRAME_DATA, .more = 5000,
		.counter = TORCOLL_A_COUNTER_FORWARDED, .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) },
	};
	struct ifreq req = { .ifr_name = "d1p", .ifr_mtu = 1500 };
	int fd;

	enter_node(0);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	need(fd >= 0 && !ioctl(fd, SIOCSIFMTU, &req), "no smaller MTU: %s", strerror(errno));
	try_row(&row);
	req.ifr_mtu = 9000;
	need(!ioctl(fd, SIOCSIFMTU, &req), "no MTU as before");
	close(fd);
}

/* The more often a link went down, the longer it waits before it is used again: meanwhile data goes another way. */
static bool goes_straight_again(struct rank *rank)
{
	uint64_t end = now_ns() + 10 * NS_PER_S;
	bool straight = false;

	while (!straight && now_ns() < end) {
		forget_heard();
		need(sum_is_right(rank, 0, NODES, COUNT), "wrong sum");
		straight = was_heard(TORCOLL_FRAME_DATA, 0, 1);
	}
	return straight;
}

int main(int argc, char **argv)
{
	static int32_t memory[NODES][COUNT];
	unsigned char frame[FRAME_MAX];
	struct rank rank[NODES] = {};
	unsigned int i;

	open_packet();
	if (argc > 1 && !strcmp(argv[1], "big-endian"))
		say_big_endian();
	if (argc > 1) {
		puts("holds");
		fflush(stdout);
		pause();
		return 0;
	}
	for (i = 0; i < NODES; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = memory[i];
		/* of which each node sends to each neighbour at once */
		rank[i].algorithm = TORCOLL_BIBUCKET;
	}
	make_comm(rank, NODES, 8, "live");
	result(sum_is_right(rank, 0, NODES, COUNT), "live__right_before");
	learn(rank);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		try_row(&rows[i]);
	for (i = 0; i < ARRAY_SIZE(lies); i++)
		try_lie(&lies[i]);
	result(sum_is_right(rank, 1, NODES, COUNT), "live__running_op_is_right");
	result(goes_straight_again(rank), "live__goes_straight_again");
	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	op = be32toh(hear(TORCOLL_FRAME_DATA, 0, 1, frame)->op);
	try_random();
	result(sum_is_right(rank, 1, NODES, COUNT), "live__right_after_random_frames");
	result(sum_is_right(rank, 0, NODES, COUNT), "live__right_again");
	try_replay(rank);
	try_digest(rank);
	try_padded();
	return finish();
}
