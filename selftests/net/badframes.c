// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that must be dropped, each counted for what is wrong with it. For bad.sh: wants the
 * namespaces of a 2x2 torus, says KTAP. Node 1 is the evil neighbour: what leaves its end of the cable
 * comes to node 0, whose counters are looked at.
 *
 * All goes on while an allreduce is running that only rank 0 has begun; in the end the others come, and
 * the result must be right. What is needed to be taken for a member (tags, epochs, digest) is heard on
 * the cable and asked of torcollctl.
 *
 *	badframes		the test
 *	badframes hold		opens a packet socket, says so, and waits to be killed
 */
#include "bad.h"

#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/torcoll_wire.h>

#define DEVICE		"d0m"		/* of node 1, towards node 0 */
#define COUNT		65536		/* elements of the running op: several frames per transfer */
#define FRAME_MAX	9014
#define RANDOM_FRAMES	20000

/* What was learnt. */
static uint64_t fabric, comm, op, digest, channel, round_no, unit;
static uint64_t epoch[NODES];
static uint64_t op_before, op_after, channels = 4;
static unsigned char node0[ETH_ALEN], node1[ETH_ALEN];
static int packet;

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

/* Wait for a frame of a type that node 0 sends to node @dst. */
static const struct torcoll_hdr *hear(unsigned int type, uint32_t dst, unsigned char *frame)
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
		if (hdr->type == type && !hdr->src && be32toh(hdr->dst) == dst)
			return hdr;
	}
	need(false, "node 0 never sent a frame of type %u to %u", type, dst);
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

/* --- counters --- */

/* Of node 0, by torcollctl: the number behind a name, and the sum of all drops. */
static uint64_t ask(const char *command, const char *name, uint64_t *drops)
{
	static char text[65536];
	char quoted[64];
	FILE *f = popen(command, "r");
	uint64_t value = 0, sum = 0;
	const char *at;
	size_t n;

	need(f, "cannot run %s", command);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	need(!pclose(f) && n, "failed: %s", command);
	snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	at = strstr(text, quoted);
	if (at)
		value = strtoull(at + strlen(quoted) + strspn(at + strlen(quoted), ": "), NULL, 0);
	for (at = text; (at = strstr(at, "\"drop_")); at++)
		sum += strtoull(strchr(at, ':') + 1, NULL, 0);
	if (drops)
		*drops = sum;
	return value;
}

static uint64_t counter(const char *name, uint64_t *drops)
{
	return ask("torcollctl -j stats", name, drops);
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
	UNIT = 8,		/* the payload is a whole unit, and @payload more */
};

struct row {
	const char *name;
	const char *counter;	/* that moves */
	unsigned int by;	/* so much, if not 1 */
	unsigned int type;
	unsigned int acks;	/* bodies before the payload */
	unsigned int payload;	/* bytes */
	int more;		/* bytes that are sent beyond (or short of) the frame's end */
	unsigned int wrong;
	struct member hdr[4];
	struct member body[3];	/* of the first ack, or what the payload begins with */
};

#define DATA(_name, _counter, ...)						\
	{ .name = "data__" _name, .counter = (_counter), .type = TORCOLL_FRAME_DATA, __VA_ARGS__ }
#define ACK(_name, _counter, ...)						\
	{ .name = "ack__" _name, .counter = (_counter), .type = TORCOLL_FRAME_ACK, __VA_ARGS__ }
#define ABORT(_name, _counter, ...)						\
	{ .name = "abort__" _name, .counter = (_counter), .type = TORCOLL_FRAME_ABORT, __VA_ARGS__ }
#define COMM(_name, _counter, ...)						\
	{ .name = "comm__" _name, .counter = (_counter), .type = TORCOLL_FRAME_COMM, __VA_ARGS__ }
#define HELLO(_name, _counter, ...)						\
	{ .name = "hello__" _name, .counter = (_counter), .type = TORCOLL_FRAME_HELLO, __VA_ARGS__ }

#define HEADER		((int)sizeof(struct torcoll_hdr))
#define ABORT_BYTES	sizeof(struct torcoll_abort)
#define COMM_BYTES	sizeof(struct torcoll_comm_msg)
#define HELLO_BYTES	sizeof(struct torcoll_hello)

static const struct row rows[] = {
	/* what any frame can have wrong */
	DATA("empty", "drop_short", .more = -HEADER),
	DATA("one_byte", "drop_short", .more = 1 - HEADER),
	DATA("header_cut", "drop_short", .more = -1),
	DATA("no_payload_of_100", "drop_short", .hdr = { HDR(length, 100) }),
	DATA("payload_cut", "drop_short", .payload = 1000, .more = -1),
	DATA("length_2^31", "drop_short", .payload = 1000, .hdr = { HDR(length, 1U << 31) }),
	DATA("length_2^32-1", "drop_short", .payload = 1000, .hdr = { HDR(length, ~0U) }),
	DATA("version_0", "drop_version", .payload = 64, .hdr = { HDR(version, 0) }),
	DATA("version_2", "drop_version", .payload = 64, .hdr = { HDR(version, 2) }),
	DATA("version_255", "drop_version", .payload = 64, .hdr = { HDR(version, 255) }),
	DATA("type_0", "drop_type", .payload = 64, .hdr = { HDR(type, 0) }),
	DATA("type_6", "drop_type", .payload = 64, .hdr = { HDR(type, 6) }),
	DATA("type_255", "drop_type", .payload = 64, .hdr = { HDR(type, 255) }),
	DATA("header_crc", "drop_header_crc", .payload = 64, .wrong = HEADER_CRC),
	DATA("other_fabric", "drop_fabric", .payload = 64, .hdr = { HDR(fabric, 0x12345678) }),
	DATA("fabric_0", "drop_fabric", .payload = 64, .hdr = { HDR(fabric, 0) }),
	DATA("other_mac", "drop_not_ours", .payload = 64, .wrong = OTHER_MAC),
	DATA("src_out_of_range", "drop_node", .payload = 64, .hdr = { HDR(src, NODES) }),
	DATA("src_2^32-1", "drop_node", .payload = 64, .hdr = { HDR(src, ~0U) }),
	DATA("src_is_receiver", "drop_node", .payload = 64, .hdr = { HDR(src, 0) }),
	DATA("dst_out_of_range", "drop_node", .payload = 64, .hdr = { HDR(dst, NODES) }),
	DATA("dst_2^32-1", "drop_node", .payload = 64, .hdr = { HDR(dst, ~0U) }),
	DATA("old_dst_epoch", "drop_epoch", .payload = 64, .hdr = { HDR(dst_epoch, 1) }),
	DATA("old_src_epoch", "drop_epoch", .payload = 64, .hdr = { HDR(src_epoch, 1) }),
	DATA("src_epoch_0", "drop_epoch", .payload = 64, .hdr = { HDR(src_epoch, 0) }),
	DATA("unknown_comm", "drop_comm", .payload = 64, .hdr = { HDR(comm, 0x12345678) }),
	DATA("comm_0", "drop_comm", .payload = 64, .hdr = { HDR(comm, 0) }),
	DATA("longer_than_said", "drop_comm", .payload = 64, .more = 1000,
	     .hdr = { HDR(comm, 0x12345678) }),

	/* what is passed on */
	DATA("forward_hop_limit_0", "drop_hop_limit", .payload = 64,
	     .hdr = { HDR(dst, 2), HDR(hop_limit, 0) }),
	DATA("forward_hop_limit_1", "drop_hop_limit", .payload = 64,
	     .hdr = { HDR(dst, 2), HDR(hop_limit, 1) }),
	DATA("forward_hop_limit_2", "forwarded", .payload = 64,
	     .hdr = { HDR(dst, 2), HDR(hop_limit, 2), HDR(comm, 0x12345678) }),
	DATA("forward_payload_crc", "forwarded", .payload = 64, .wrong = PAYLOAD_CRC,
	     .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) }),
	DATA("forward_with_a_tail", "forwarded", .payload = 64, .more = 1000,
	     .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) }),
	DATA("forward_whence_it_came", "forwarded", .payload = 64,
	     .hdr = { HDR(dst, 3), HDR(comm, 0x12345678) }),
	DATA("forward_header_crc", "drop_header_crc", .payload = 64, .wrong = HEADER_CRC,
	     .hdr = { HDR(dst, 2) }),
	ABORT("forward_short", "forwarded", .payload = 1,
	      .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) }),

	/* data for the op that is running */
	DATA("no_payload", "drop_range"),
	DATA("no_channel", "drop_range", .payload = 64, .hdr = { HDR_FROM(channel, channels) }),
	DATA("channel_255", "drop_range", .payload = 64, .hdr = { HDR(channel, 255) }),
	DATA("round_65535", "drop_range", .wrong = UNIT, .hdr = { HDR(round, 65535) }),
	DATA("round_100", "drop_range", .wrong = UNIT, .hdr = { HDR(round, 100) }),
	DATA("offset_no_multiple", "drop_range", .wrong = UNIT, .hdr = { HDR(offset, 1) }),
	DATA("offset_2^63", "drop_range", .wrong = UNIT, .hdr = { HDR(offset, 1UL << 63) }),
	DATA("offset_2^64-1", "drop_range", .wrong = UNIT, .hdr = { HDR(offset, ~0UL) }),
	DATA("offset_behind_the_end", "drop_range", .wrong = UNIT,
	     .hdr = { HDR(offset, 8832 * 1000) }),
	DATA("offset_of_frame_2^32", "drop_range", .wrong = UNIT,
	     .hdr = { HDR(offset, 8832UL << 32) }),
	DATA("too_short", "drop_range", .payload = 64),
	DATA("too_long", "drop_range", .payload = 1, .wrong = UNIT),
	DATA("digest_0", "drop_range", .wrong = UNIT, .hdr = { HDR(digest, 0) }),
	DATA("payload_crc", "drop_payload_crc", .wrong = UNIT | PAYLOAD_CRC),
	DATA("from_a_rank_that_sends_nothing", "drop_range", .wrong = UNIT,
	     .hdr = { HDR(src, 3), HDR_FROM(src_epoch, epoch[3]) }),
	DATA("op_before", "rx_duplicates", .wrong = UNIT, .hdr = { HDR_FROM(op, op_before) }),
	DATA("op_after", "rx_not_ready", .wrong = UNIT, .hdr = { HDR_FROM(op, op_after) }),

	/* acknowledgements */
	ACK("none", "rx_frames"),
	ACK("33", "drop_header_crc", .acks = 33),
	ACK("255", "drop_header_crc", .hdr = { HDR(acks, 255) }),
	ACK("32_cut", "drop_short", .acks = 32, .more = -1),
	ACK("32_not_there", "drop_short", .hdr = { HDR(acks, 32) }),
	ACK("unknown_comm", "drop_comm", .acks = 1, .body = { SET(torcoll_ack, comm, 0x12345678) }),
	ACK("32_of_no_comm", "drop_comm", .by = 32, .acks = 32),
	ACK("old_src_epoch", "drop_epoch", .acks = 1, .hdr = { HDR(src_epoch, 1) },
	    .body = { FROM(torcoll_ack, comm, comm) }),
	ACK("no_channel", "rx_frames", .acks = 1,
	    .body = { FROM(torcoll_ack, comm, comm), FROM(torcoll_ack, op, op),
		      SET(torcoll_ack, channel, 255) }),
	ACK("no_round", "rx_frames", .acks = 1,
	    .body = { FROM(torcoll_ack, comm, comm), FROM(torcoll_ack, op, op),
		      SET(torcoll_ack, round, 65535) }),
	ACK("op_after", "rx_frames", .acks = 1,
	    .body = { FROM(torcoll_ack, comm, comm), FROM(torcoll_ack, op, op_after),
		      SET(torcoll_ack, base, ~0U) }),
	DATA("ack_of_no_comm_no_data", "drop_comm", .by = 2, .acks = 1, .payload = 64,
	     .hdr = { HDR(comm, 0x12345678) }),

	/* aborts; none may end the comm */
	ABORT("unknown_comm", "drop_comm", .payload = ABORT_BYTES, .hdr = { HDR(comm, 0x12345678) },
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("payload_crc", "drop_payload_crc", .payload = ABORT_BYTES, .wrong = PAYLOAD_CRC,
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("old_src_epoch", "drop_epoch", .payload = ABORT_BYTES, .hdr = { HDR(src_epoch, 1) },
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("payload_short", "rx_frames", .payload = ABORT_BYTES - 1,
	      .body = { SET(torcoll_abort, error, ECONNABORTED) }),
	ABORT("payload_none", "rx_frames"),
	ABORT("error_0", "rx_frames", .payload = ABORT_BYTES),
	ABORT("error_4096", "rx_frames", .payload = ABORT_BYTES,
	      .body = { SET(torcoll_abort, error, 4096) }),
	ABORT("error_2^31", "rx_frames", .payload = ABORT_BYTES,
	      .body = { SET(torcoll_abort, error, 1U << 31) }),

	/* comms being created */
	COMM("payload_none", "drop_short"),
	COMM("payload_short", "drop_short", .payload = COMM_BYTES - 1),
	COMM("payload_crc", "drop_payload_crc", .payload = COMM_BYTES, .wrong = PAYLOAD_CRC,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_JOIN) }),
	COMM("step_0", "drop_short", .payload = COMM_BYTES),
	COMM("step_255", "drop_short", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, 255) }),
	COMM("error_2^32-1", "drop_short", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_REFUSE),
		       SET(torcoll_comm_msg, error, ~0U) }),
	COMM("epochs_not_there", "drop_short", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_READY),
		       SET(torcoll_comm_msg, epochs, 1) }),
	COMM("epochs_2^30", "drop_short", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_READY),
		       SET(torcoll_comm_msg, epochs, 1U << 30) }),
	COMM("join_of_no_comm", "rx_frames", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_JOIN),
		       SET(torcoll_comm_msg, name, 0x1234) }),
	COMM("leave_of_no_comm", "rx_frames", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_LEAVE),
		       SET(torcoll_comm_msg, rank, ~0U) }),
	COMM("refuse_of_no_comm", "rx_frames", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_REFUSE),
		       SET(torcoll_comm_msg, error, EACCES) }),
	COMM("accept_of_no_comm", "rx_frames", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_ACCEPT),
		       SET(torcoll_comm_msg, tag, 0x12345678) }),
	COMM("accept_long_ago", "tx_frames", .payload = COMM_BYTES,
	     .body = { SET(torcoll_comm_msg, step, TORCOLL_COMM_ACCEPT),
		       FROM(torcoll_comm_msg, tag, comm) }),

	/* hellos that must not be believed */
	HELLO("payload_none", "drop_short"),
	HELLO("payload_short", "drop_short", .payload = HELLO_BYTES - 1),
	HELLO("payload_crc", "drop_payload_crc", .payload = HELLO_BYTES, .wrong = PAYLOAD_CRC),
	HELLO("other_fabric", "drop_fabric", .payload = HELLO_BYTES, .hdr = { HDR(fabric, 1) }),
	HELLO("no_dims", "drop_short", .payload = HELLO_BYTES),
	HELLO("7_dims", "drop_short", .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 7) }),
	HELLO("dim_of_none", "drop_short", .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, dim, 2) }),
	HELLO("dir_2", "drop_short", .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, dir, 2) }),
	HELLO("hears_2", "drop_short", .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, hears, 2) }),
	HELLO("dead_links_not_there", "drop_short", .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, ndead, 1) }),
	HELLO("65_dead_links", "drop_short", .payload = HELLO_BYTES + 65 * 4,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, ndead, 65) }),
	HELLO("2^30_dead_links", "drop_short", .payload = HELLO_BYTES,
	      .body = { SET(torcoll_hello, ndim, 2), SET(torcoll_hello, ndead, 1U << 30) }),
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
	bool is_drop = !strncmp(row->counter, "drop_", 5);
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
		printf("# %s: %llu, then %llu, wanted %u more; all drops: %llu, then %llu\n",
		       row->counter, (unsigned long long)before, (unsigned long long)after, by,
		       (unsigned long long)drops, (unsigned long long)drops_after);
	result(good, "%s", row->name);
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
	hdr->channel = chance(6);
	hdr->length = htobe32(chance(8) ? length : chance(1UL << 32));
	for (i = 0; i < acks; i++) {
		struct torcoll_ack *ack = (void *)(body + 32 * i);

		ack->comm = htobe32(chance(2) ? comm : chance(1UL << 32));
		ack->op = hdr->op;
		ack->channel = chance(6);
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

static void try_random(void)
{
	unsigned char frame[FRAME_MAX];
	uint64_t drops, drops_after;
	unsigned int i, sent = 0;
	size_t len;

	counter("drop_short", &drops);
	for (i = 0; i < RANDOM_FRAMES; i++) {
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
	result(sent == RANDOM_FRAMES, "random__%u_frames", RANDOM_FRAMES);
	counter("drop_short", &drops_after);
	printf("# of %u frames, %llu were counted as dropped\n", sent,
	       (unsigned long long)(drops_after - drops));
	result(drops_after - drops > RANDOM_FRAMES / 3, "random__many_are_dropped");
}

/* --- the whole --- */

static void learn(struct rank *rank)
{
	struct torcoll_comm_info info = { .size = sizeof(info), .comm = rank[0].comm };
	const struct torcoll_hdr *hdr;
	unsigned char frame[FRAME_MAX];
	unsigned int i;

	for (i = NODES; i-- > 0;) {
		enter_node(i);
		epoch[i] = ask("torcollctl -j node show", "epoch", NULL);
		need(epoch[i], "no epoch of node %u", i);
	}
	need(!call(rank[0].fd, TORCOLL_IOC_COMM_INFO, &info), "no info");
	unit = info.frame_bytes;
	hdr = hear(TORCOLL_FRAME_HELLO, ~0U, frame);
	fabric = be32toh(hdr->fabric);
	memcpy(node0, frame + ETH_ALEN, ETH_ALEN);

	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	hdr = hear(TORCOLL_FRAME_DATA, 1, frame);
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
	op = be32toh(hear(TORCOLL_FRAME_DATA, 1, frame)->op);
	need(throw(frame, make(frame, &row)), "cannot send");
	wait.comm = rank[0].comm;
	wait.op = rank[0].op;
	wait.deadline_ns = now_ns() + 20 * NS_PER_S;
	result(!call(rank[0].fd, TORCOLL_IOC_WAIT, &wait) && wait.status == -EPROTO &&
	       wait.error_rank == 1, "digest__ranks_disagree");
	make_comm(rank, NODES, 8, "new");
	result(sum_is_right(rank, 0, NODES, COUNT), "digest__new_comm_is_right");
}

int main(int argc, char **argv)
{
	static int32_t memory[NODES][COUNT];
	unsigned char frame[FRAME_MAX];
	struct rank rank[NODES];
	unsigned int i;

	open_packet();
	if (argc > 1) {
		puts("holds");
		fflush(stdout);
		pause();
		return 0;
	}
	for (i = 0; i < NODES; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = memory[i];
	}
	make_comm(rank, NODES, 8, "live");
	result(sum_is_right(rank, 0, NODES, COUNT), "live__right_before");
	learn(rank);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		try_row(&rows[i]);
	result(sum_is_right(rank, 1, NODES, COUNT), "live__running_op_is_right");
	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	op = be32toh(hear(TORCOLL_FRAME_DATA, 1, frame)->op);
	try_random();
	result(sum_is_right(rank, 1, NODES, COUNT), "live__right_after_random_frames");
	result(sum_is_right(rank, 0, NODES, COUNT), "live__right_again");
	try_digest(rank);
	return finish();
}
