// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Frames at the ports of nodes 0 and 2 of a ring of four: the fuzzer is the two nodes between them. Whatever the two say to each
 * other goes by it, so processes there join, call, shrink and leave as they should, but for the frame that an input has it
 * change, drop, hold back, double or send another way. It says things of its own as well: what was heard before, changed,
 * and hellos, aborts and echoes of its two nodes.
 */
#include "kfuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/torcoll.h>

#include "core/wire/accept.h"
#include "packet.h"
#include "ring.h"

#define RECORD		32
#define TYPES		(TORCOLL_FRAME_PACKET + 1)
#define FRAME_MAX	(RING_MTU + 64)
#define EPOCH		0x1234567U	/* of the nodes that the fuzzer is */
#define HANDLES		4
#define ELEMENTS	(16 << 10)
#define ORDERS		8
#define AT_ONCE		256		/* frames carried from one event to the next */

struct heard {
	bool is;
	u32 len;
	u8 frame[FRAME_MAX];
};

/* What is to happen to a frame that comes by. */
struct order {
	bool open;
	u8 type;			/* modulo TYPES; 0: any */
	u8 skip;			/* of that type, before it */
	u8 what;
	u8 rest[RECORD];
};

static u32 fabric, node_epoch[RING_NODES];
static struct heard last[RING_PORTS][TYPES], held;
static int held_for;
static struct tor_record links[RING_NODES];	/* what they say of their own */
static struct order order[ORDERS];
static u32 orders;
static int is_down = -1;

/* --- saying --- */

static void alter(u8 *p, u8 how, u32 value)
{
	__be32 word;

	switch (how & 3) {
	case 0:
		memcpy(p, &value, 4);
		break;
	case 1:
		*p = value;
		break;
	case 2:
		memcpy(&word, p, 4);
		word = cpu_to_be32(be32_to_cpu(word) + (s8)value);
		memcpy(p, &word, 4);
		break;
	default:
		memset(p, value & 1 ? 0xff : 0, 4);
	}
}

static void put_checksums(u8 *p, u32 len, u8 wrong)
{
	struct torcoll_hdr *raw = (void *)p;
	u32 skip = min_t(u32, len, sizeof(*raw) + raw->acks * sizeof(struct torcoll_ack));
	u8 limit = raw->hop_limit;

	if (!(wrong & 1) && raw->type != TORCOLL_FRAME_PACKET)
		raw->payload_crc = cpu_to_be32(tor_wire_crc(p + skip, min_t(u32, len - skip, be32_to_cpu(raw->length))));
	if (wrong & 2)
		return;
	raw->hop_limit = 0;
	raw->header_crc = 0;
	raw->header_crc = cpu_to_be32(tor_wire_crc(p, skip));
	raw->hop_limit = limit;
}

/* Change a word or two of header, acks and payload; checksums are right, mostly. Return: its bytes. */
static u32 change(u8 *p, u32 len, struct fuzz_in *in)
{
	u8 how = fuzz_u8(in), at = fuzz_u8(in), wrong = fuzz_u8(in), at2 = fuzz_u8(in);
	u32 value = fuzz_u32(in), value2 = fuzz_u32(in);
	u32 skip = sizeof(struct torcoll_hdr) + ((struct torcoll_hdr *)p)->acks * sizeof(struct torcoll_ack);

	if (how & 4)
		alter(p + at * 4 % skip, how, value);
	if (how & 8 && len >= skip + 4)
		alter(p + skip + at2 * 4 % (len - skip - 3), how >> 4, value2);
	put_checksums(p, len, wrong >> 4 ? 0 : wrong & 3);
	if (wrong >> 4 == 1)
		len = wrong & 8 ? value2 % (len + 1) : min_t(u32, len + at2 % 16, FRAME_MAX);
	return len;
}

/* @p: behind room for the Ethernet header. @to: 0: who is there, 1: the group of hellos, 2: somebody else. */
static void transmit(int port, u8 *p, u32 len, u8 to)
{
	static const u8 group[ETH_ALEN] = TORCOLL_HELLO_GROUP;
	const u8 mac[ETH_ALEN] = { 2, 0, 0, 0, to == 2 ? 0x80 : 0, 0x10 + port };
	u8 *eth = p - ETH_HLEN;

	memcpy(eth, to == 1 ? group : mac, ETH_ALEN);
	memset(eth + ETH_ALEN, 0x20 + port, ETH_ALEN);
	eth[ETH_ALEN] = 2;
	eth[2 * ETH_ALEN] = TORCOLL_ETHERTYPE >> 8;
	eth[2 * ETH_ALEN + 1] = TORCOLL_ETHERTYPE & 0xff;
	/* whether the device takes it is no matter of ours */
	send(ring_packet[port], eth, ETH_HLEN + len, 0);
}

/* A frame of one of our nodes, changed. */
static void say(int port, struct fuzz_in *in, const struct tor_hdr *h, const void *payload)
{
	static u8 buf[ETH_HLEN + FRAME_MAX + 16];
	u8 *p = buf + ETH_HLEN;

	tor_wire_build(p, h, NULL);
	memcpy(p + sizeof(struct torcoll_hdr), payload, h->length);
	transmit(port, p, change(p, sizeof(struct torcoll_hdr) + h->length, in), h->type == TORCOLL_FRAME_HELLO);
}

static void header(int port, struct tor_hdr *h, u32 type)
{
	memset(h, 0, sizeof(*h));
	h->version = TORCOLL_WIRE_VERSION;
	h->type = type;
	h->hop_limit = 8;
	h->fabric = fabric;
	h->src = ring_neighbour(port);
	h->src_epoch = EPOCH;
	h->dst = 2 * ring_node(port);
	h->dst_epoch = node_epoch[ring_node(port)];
}

/* With what the other node says of its links, or with something else. */
static void say_hello(int port, struct fuzz_in *in, u8 how)
{
	const struct tor_record record[2] = {
		how & 1 ? (struct tor_record){ .node = how >> 1 & 3, .epoch = EPOCH, .seq = 1 + how, .dead = how >> 4, .frame = RING_MTU } :
			  links[!ring_node(port)],
		{ .node = ring_neighbour(ring_beyond(port)), .epoch = EPOCH, .seq = 1 + (how >> 3), .dead = how >> 6, .frame = RING_MTU },
	};
	struct tor_hello hello = {
		.version = "fuzz", .way = !(port & 1), .ndim = 1, .hears = 1, .side = { RING_SIDE }, .frame_size = RING_MTU,
		.fabric_frame = how & 8 ? RING_MTU : 0, .heard_node = 2 * ring_node(port), .heard_epoch = node_epoch[ring_node(port)],
		.interval_ms = 1000, .records = how & 4 ? 2 : !!record[0].seq,
		.more = how & 2, .name = "fuzz", .rates = how, .sent = how,
	};
	u8 payload[256] = {};
	struct tor_hdr h;

	header(port, &h, TORCOLL_FRAME_HELLO);
	h.dst = ~0U;
	h.dst_epoch = 0;
	tor_wire_put_hello(payload, &hello, record);
	h.length = tor_wire_hello_bytes(&hello);
	say(port, in, &h, payload);
}

static void say_abort(int port, struct fuzz_in *in, u8 how)
{
	const struct tor_abort abort = { .error = how & 1 ? EPROTO : ECONNABORTED, .rank = how >> 1 & 3, .node = ~0U };
	const struct heard *heard = &last[port][TORCOLL_FRAME_DATA];
	u8 payload[128] = {};
	struct tor_hdr h;

	header(port, &h, TORCOLL_FRAME_ABORT);
	if (how & 0x80)
		h.src = 2 * !ring_node(port);
	h.src_epoch = how & 0x80 ? node_epoch[!ring_node(port)] : EPOCH;
	h.comm = heard->is ? be32_to_cpu(((const struct torcoll_hdr *)heard->frame)->comm) : how;
	tor_wire_put_abort(payload, &abort);
	h.length = how & 0x40 ? 24 : tor_wire_abort_bytes();
	say(port, in, &h, payload);
}

/* An echo; something for the node behind. */
static void say_other(int port, struct fuzz_in *in, u8 how)
{
	static const u8 payload[256];
	struct tor_hdr h;

	header(port, &h, how & 2 ? TORCOLL_FRAME_ECHO : TORCOLL_FRAME_DATA);
	h.length = how;
	h.op = how;
	if (!(how & 2)) {
		h.dst = how & 1 ? 2 * !ring_node(port) : ring_neighbour(ring_beyond(port));
		h.hop_limit = 1 + how % 4;
	}
	say(port, in, &h, payload);
}

/* Some segments of a stream, one behind the other: the network device may merge them, pass them on or drop them. */
static void say_packets(int port, struct fuzz_in *in, u8 how)
{
	const u32 far = 2 * !ring_node(port);
	const u32 dst[] = { 2 * ring_node(port), 2 * ring_node(port), far, TORCOLL_NODE_ALL };
	static u32 seq, number;
	u8 payload[PACKET_HEADERS + 256];
	u32 i, len = how & 0x10 ? 256 : 64;
	struct tor_hdr h;

	header(port, &h, TORCOLL_FRAME_PACKET);
	h.dst_epoch = 0;
	h.dst = dst[how >> 2 & 3];
	h.digest = how >> 6;
	h.length = PACKET_HEADERS + len;
	for (i = 0; i <= (how & 3) * 4U; i++) {
		h.op = h.dst == TORCOLL_NODE_ALL ? ++number : 0;
		packet_write(payload, fabric, h.src, h.dst == TORCOLL_NODE_ALL ? far : h.dst, seq, len);
		seq += len;
		say(port, in, &h, payload);
	}
}

/* What was heard last of some kind goes where it should, or elsewhere, once more and changed. */
static void say_again(int port, struct fuzz_in *in, u8 how)
{
	static u8 buf[ETH_HLEN + FRAME_MAX + 16];
	const struct heard *heard = &last[port][how % TYPES];
	u8 *p = buf + ETH_HLEN;

	if (!heard->is)
		return;
	memcpy(p, heard->frame, heard->len);
	transmit(how & 0x40 ? how >> 3 & 3 : ring_beyond(port), p, change(p, heard->len, in), how >> 7 ? how >> 3 & 3 : 0);
}

/* --- hearing, and carrying on --- */

/* The next order that is about frames of @type, and this one of them. */
static struct order *order_for(u8 type)
{
	u32 i;

	for (i = 0; i < ORDERS; i++) {
		struct order *o = &order[i];

		if (!o->open || (o->type % TYPES && o->type % TYPES != type))
			continue;
		if (o->skip--)
			continue;
		o->open = false;
		return o;
	}
	return NULL;
}

static void carry(int port, u8 *p, u32 len)
{
	static u8 other[ETH_HLEN + FRAME_MAX + 16];
	struct order *o = order_for(p[1]);
	struct fuzz_in in = { .p = o ? o->rest : NULL, .left = o ? sizeof(o->rest) : 0 };
	int to = ring_beyond(port);

	switch (o ? o->what % 8 : 8) {
	case 0:		/* lost */
		return;
	case 1:		/* twice */
		transmit(to, p, len, 0);
		break;
	case 2:		/* the other way round */
		to ^= 1;
		break;
	case 3:		/* before or behind the next ones */
		memcpy(held.frame, p, len);
		held.len = len;
		held_for = 1 + o->what / 8 % 8;
		held.is = true;
		return;
	case 8:
		break;
	default:
		len = change(p, len, &in);
	}
	transmit(to, p, len, 0);
	if (!held.is || --held_for)
		return;
	held.is = false;
	memcpy(other + ETH_HLEN, held.frame, held.len);
	transmit(to, other + ETH_HLEN, held.len, 0);
}

static void hear_hello(int port, const struct tor_hdr *h, const u8 *payload)
{
	struct tor_hello hello;
	struct tor_record record;
	u32 i;

	fabric = h->fabric;
	node_epoch[ring_node(port)] = h->src_epoch;
	if (tor_wire_get_hello(payload, h->length, &hello))
		return;
	for (i = 0; i < hello.records; i++)
		if (tor_wire_record(&hello, i, RING_SIDE, &record) && record.node == h->src)
			links[ring_node(port)] = record;
}

static void hear(int port, u8 *p, u32 len)
{
	struct heard *heard;
	enum tor_counter why;
	struct tor_hdr h;

	if (tor_wire_parse(p, len, len, &h, &why) || h.type >= TYPES || len > FRAME_MAX)
		return;
	heard = &last[port][h.type];
	heard->is = true;
	heard->len = len;
	memcpy(heard->frame, p, len);
	if (h.acks)
		last[port][TORCOLL_FRAME_ACK] = *heard;
	if (h.type == TORCOLL_FRAME_HELLO)
		hear_hello(port, &h, p + tor_wire_header_bytes(&h));
	else if (h.dst == 2U * !ring_node(port))
		carry(port, p, len);
}

/* Until nobody says anything more. */
static void carry_all(void)
{
	static u8 buf[ETH_HLEN + FRAME_MAX + 16];
	int port, some = true, n = 0;
	ssize_t len;

	while (some) {
		some = false;
		for (port = 0; port < RING_PORTS; port++)
			while (n < AT_ONCE &&
			       (len = recv(ring_packet[port], buf, ETH_HLEN + FRAME_MAX, MSG_DONTWAIT)) > 0) {
				n++;
				some = true;
				if (len > ETH_HLEN)
					hear(port, buf + ETH_HLEN, len - ETH_HLEN);
			}
	}
}

/* Carry frames until @fd can be read, or for that many ms. */
static bool frames_wait(int fd, int ms)
{
	struct pollfd poll_fd[RING_PORTS + 1] = { { .fd = fd, .events = POLLIN } };
	u64 until = kfuzz_now() + ms * NSEC_PER_MSEC;
	int port, left;

	for (port = 0; port < RING_PORTS; port++)
		poll_fd[1 + port] = (struct pollfd){ .fd = ring_packet[port], .events = POLLIN };
	do {
		carry_all();
		left = max_t(s64, until - kfuzz_now(), 0) / NSEC_PER_MSEC;
		poll(poll_fd, RING_PORTS + 1, left);
	} while (!poll_fd[0].revents && left);
	return poll_fd[0].revents;
}

/* --- events --- */

static void give_order(struct fuzz_in *in, u8 where, u8 how)
{
	struct order *o = &order[orders++ % ORDERS];

	o->open = true;
	o->type = where;
	o->skip = how % 16;
	o->what = fuzz_u8(in);
	memset(o->rest, 0, sizeof(o->rest));
	memcpy(o->rest, in->p, in->left);
}

static void throw(struct fuzz_in *in)
{
	u8 what = fuzz_u8(in), where = fuzz_u8(in), how = fuzz_u8(in);
	int port = where % RING_PORTS;

	switch (what % 16) {
	case 0:
	case 1:
		say_hello(port, in, how);
		break;
	case 2:
		say_abort(port, in, how);
		break;
	case 3:
		say_other(port, in, how);
		break;
	case 4:
	case 5:
	case 6:
		say_again(port, in, how);
		break;
	case 7:
		frames_wait(-1, how % 32);
		break;
	case 8:
		if (is_down >= 0)
			break;
		is_down = port;
		ring_set_device(port, how & 1, how & 2 ? RING_MTU : 1500);
		break;
	case 9:
	case 10:
		say_packets(port, in, how);
		break;
	default:
		give_order(in, where >> 2, how);
	}
}

/* --- processes of the nodes --- */

static int fd = -1;
static struct { u32 handle, rank, ranks; } comm[HANDLES];
static u32 comms;
static u32 *memory;

/* Two processes are on node 0; 9: nobody. */
static const u32 members[][RING_SIDE] = {
	{ 0, 2, 9 }, { 2, 0, 9 }, { 0, 2, 9 }, { 2, 0, 9 }, { 0, 2, 0 }, { 2, 0, 0 }, { 0, 1, 2 }, { 0, 9, 9 },
};
static const u32 ranks_of[] = { 2, 2, 2, 2, 3, 3, 3, 1 };

static void keep_comm(u32 handle, u32 rank, u32 ranks)
{
	comm[comms % HANDLES].handle = handle;
	comm[comms % HANDLES].rank = rank;
	comm[comms++ % HANDLES].ranks = ranks;
}

static void join_comm(int w, u8 how)
{
	u32 which = how % ARRAY_SIZE(members);
	char name[] = { 'n', 'a' + which };
	struct torcoll_comm_add arg = {
		.size = sizeof(arg), .fabric = 1, .name = (uintptr_t)name, .name_len = sizeof(name),
		.members = (uintptr_t)members[which], .ranks = ranks_of[which], .rank = TORCOLL_RANK_SELF, .depth = how >> 6,
		.secret = (uintptr_t)name, .secret_len = how >> 5 & 1,
		.deadline_ns = kfuzz_now() + (how & 0x10 ? 90 : 30) * NSEC_PER_MSEC,
	};

	/* the third process has no rank in most: it would only wait */
	if (w == 2 && members[which][2] != 0)
		return;
	if (!kfuzz_ioctl(fd, TORCOLL_IOC_COMM_ADD, &arg))
		keep_comm(arg.comm, arg.rank, arg.ranks);
}

static void shrink_comm(u8 how)
{
	struct torcoll_comm_shrink arg = {
		.size = sizeof(arg), .comm = comm[(comms - 1) % HANDLES].handle,
		.deadline_ns = kfuzz_now() + (how & 0x10 ? 90 : 30) * NSEC_PER_MSEC,
	};

	if (!kfuzz_ioctl(fd, TORCOLL_IOC_COMM_SHRINK, &arg))
		keep_comm(arg.shrunk, arg.rank, arg.ranks);
}

static void call(int w, struct fuzz_in *in, u8 how)
{
	static const u16 types[] = { TORCOLL_I32, TORCOLL_F32, TORCOLL_U8, TORCOLL_I64 };
	u8 collective = fuzz_u8(in), algorithm = fuzz_u8(in), size = fuzz_u8(in), type = fuzz_u8(in), other = fuzz_u8(in);
	u32 which = (comms - 1) % HANDLES;
	struct torcoll_submit arg = {
		.size = sizeof(arg), .comm = comm[which].handle, .type = types[type % ARRAY_SIZE(types)],
		.count = 8U << size % 11, .send_addr = (uintptr_t)memory, .recv_addr = (uintptr_t)(memory + ELEMENTS),
		.flags = how & 0x80 ? 0 : TORCOLL_OP_NOWAIT,
		.deadline_ns = kfuzz_now() + (how & 0x40 ? 20 : 200) * NSEC_PER_MSEC,
	};

	arg.collective = collective & 1 ? TORCOLL_ALLREDUCE : 1 + collective / 2 % (TORCOLL_COLL_COUNT - 1);
	arg.algorithm = algorithm < 0xc0 ? 0 : algorithm % TORCOLL_ALGO_COUNT;
	/* in all events of one kind one sends, the other receives */
	if (other == w + 1)
		arg.count++;
	switch (arg.collective) {
	case TORCOLL_ALLREDUCE:
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_REDUCE:
	case TORCOLL_SCAN:
	case TORCOLL_EXSCAN:
		arg.redop = TORCOLL_SUM;
		break;
	case TORCOLL_SEND:
	case TORCOLL_RECV:
		arg.collective = (comm[which].rank ^ how) & 1 ? TORCOLL_SEND : TORCOLL_RECV;
		arg.peer = comm[which].rank ? 0 : 1;
		break;
	case TORCOLL_BARRIER:
		arg.count = 0;
		arg.type = 0;
	}
	kfuzz_ioctl(fd, TORCOLL_IOC_SUBMIT, &arg);
}

static void local(int w, struct fuzz_in *in)
{
	u8 what = fuzz_u8(in), how;
	struct torcoll_wait wait = { .size = sizeof(wait), .deadline_ns = kfuzz_now() + 20 * NSEC_PER_MSEC };
	struct torcoll_handle handle = { .size = sizeof(handle) };

	fuzz_u8(in);
	how = fuzz_u8(in);
	if (fd < 0)
		fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);
	kfuzz_need(fd >= 0, TORCOLL_DEVICE);
	wait.comm = comm[(comms - 1) % HANDLES].handle;
	handle.handle = wait.comm;
	switch (what % 16) {
	case 0:
	case 1:
		join_comm(w, how);
		break;
	case 2:
	case 3:
		wait.flags = how & 1 ? TORCOLL_WAIT_NOHANG : 0;
		kfuzz_ioctl(fd, TORCOLL_IOC_WAIT, &wait);
		break;
	case 4:
	case 5:
		shrink_comm(how);
		break;
	case 6:
		kfuzz_ioctl(fd, TORCOLL_IOC_ABORT, &handle);
		break;
	case 7:
		kfuzz_ioctl(fd, TORCOLL_IOC_COMM_DEL, &handle);
		break;
	default:
		call(w, in, how);
	}
}

static bool frames_event(int w, struct fuzz_in *in)
{
	if (w < 0)
		throw(in);
	else
		local(w, in);
	return true;
}

static void greet(void)
{
	struct fuzz_in nothing = {};
	int port;

	for (port = 0; port < RING_PORTS; port++)
		say_hello(port, &nothing, 0);
	carry_all();
}

static void frames_reset(int w)
{
	if (w >= 0) {
		if (fd >= 0)
			close(fd);
		fd = -1;
		comms = 0;
		memset(comm, 0, sizeof(comm));
		return;
	}
	/* the links are up when the next one begins, and nothing is heard yet */
	if (is_down >= 0)
		ring_set_device(is_down, true, RING_MTU);
	is_down = -1;
	memset(order, 0, sizeof(order));
	held.is = false;
	carry_all();
	greet();
	memset(last, 0, sizeof(last));
}

/* A quarter is for all processes, a quarter for some, half the fuzzer's. */
static int frames_whose(const u8 *record)
{
	static const int whose[] = { KFUZZ_ALL, KFUZZ_ALL, 0, 1, 2, -1, -1, -1 };

	return whose[record[1] >> 5];
}

static void frames_setup(int w)
{
	ring_enter(w % RING_NODES);
	memory = calloc(2 * ELEMENTS, sizeof(*memory));
	kfuzz_need(memory, "memory");
}

static void frames_init(void)
{
	u64 until;

	ring_make();
	/* what took long before is not the nodes' */
	until = kfuzz_now() + 120 * NSEC_PER_SEC;
	while ((!node_epoch[0] || !node_epoch[1]) && kfuzz_now() < until)
		frames_wait(-1, 10);
	kfuzz_need(node_epoch[0] && node_epoch[1], "the nodes say nothing");
	greet();
	greet();
}

const struct kfuzz_target kfuzz_target = {
	.record = RECORD,
	.workers = 3,
	.init = frames_init,
	.setup = frames_setup,
	.whose = frames_whose,
	.event = frames_event,
	.wait = frames_wait,
	.reset = frames_reset,
};
