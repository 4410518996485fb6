// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Frames at the ports of node 0 of a ring of four: the fuzzer is both of its neighbours. It hears what the node says, and its frames are
 * mostly the right answers to that, with a member or two changed: so it finds its way into comms, ops and shrinking.
 * Meanwhile two processes on the node join, call, shrink and leave.
 */
#include "kfuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/torcoll.h>

#include "accept.h"
#include "cost.h"
#include "join.h"

#define RECORD		32
#define SIDE		4
#define PORTS		2
#define STEPS		TORCOLL_COMM_STEP_END
#define TYPES		(TORCOLL_FRAME_ECHO + 1)
#define FRAME_MAX	2048
#define EPOCH		0x1234567U	/* of the nodes that the fuzzer is */
#define TAG		0x70ca11edU	/* of comms that it makes */
#define HANDLES		4
#define ELEMENTS	1024
#define MEMBERS_KEY	0x6d656d6265727300ULL

/* Header and payload of something heard. */
struct heard {
	bool is;
	struct tor_hdr h;
	struct tor_ack ack;
	u32 acks;
	u8 payload[FRAME_MAX];
};

static int packet[PORTS], device[PORTS];
static u8 node_mac[PORTS][ETH_ALEN];
static struct heard last[PORTS][TYPES];
static struct heard step[PORTS][STEPS];
static u32 fabric, node_epoch, last_tag;

/* Node 0 is rank 1 of some, rank 0 of others. */
static const u32 members[][SIDE] = {
	{ 1, 0 }, { 0, 1 }, { 3, 0, 1 }, { 0, 3, 1 }, { 1, 2, 0, 3 }, { 0, 1, 2, 3 }, { 1, 0, 3, 2 }, { 2, 0 },
};
static const u32 ranks_of[] = { 2, 2, 3, 3, 4, 4, 4, 2 };

/* --- what is heard --- */

static void keep(int port, const u8 *p, size_t len)
{
	struct heard *heard, now = { .is = true };
	enum tor_counter why;
	u32 skip;

	if (tor_wire_parse(p, len, len, &now.h, &why) || now.h.type >= TYPES)
		return;
	if (now.h.src)
		return;
	fabric = now.h.fabric;
	node_epoch = now.h.src_epoch;
	skip = tor_wire_header_bytes(&now.h);
	if (now.h.acks && tor_wire_ack(p, now.h.acks - 1, &now.ack, &why))
		now.acks = now.h.acks;
	if (now.h.length > sizeof(now.payload))
		return;
	memcpy(now.payload, p + skip, now.h.length);
	heard = &last[port][now.h.type];
	*heard = now;
	if (now.h.acks)
		last[port][TORCOLL_FRAME_ACK] = now;
	if (now.h.comm)
		last_tag = now.h.comm;
	if (now.h.type == TORCOLL_FRAME_COMM && now.payload[0] < STEPS)
		step[port][now.payload[0]] = now;
}

static void listen_to_node(void)
{
	u8 frame[FRAME_MAX];
	ssize_t len;
	int port;

	for (port = 0; port < PORTS; port++)
		while ((len = recv(packet[port], frame, sizeof(frame), MSG_DONTWAIT)) > 0)
			if (len > ETH_HLEN)
				keep(port, frame + ETH_HLEN, len - ETH_HLEN);
}

/* --- what is said --- */

/* A frame as it should be, then a member or two of header and payload changed; checksums are right, mostly. */
static void say(int port, struct fuzz_in *in, struct tor_hdr *h, const struct tor_ack *ack, const void *payload)
{
	u8 how = fuzz_u8(in), at = fuzz_u8(in), wrong = fuzz_u8(in), at2 = fuzz_u8(in);
	u64 value = fuzz_u64(in);
	u8 buf[FRAME_MAX + ETH_HLEN] = {}, *p = buf + ETH_HLEN;
	struct torcoll_hdr *raw = (void *)p;
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = device[port], .sll_halen = ETH_ALEN };
	u32 skip, len;
	u8 limit;

	h->length = min_t(u32, h->length, 1400);
	tor_wire_build(p, h, ack);
	skip = tor_wire_header_bytes(h);
	memcpy(p + skip, payload, h->length);
	len = skip + h->length;
	if (how & 1)
		memcpy(p + at % len / 4 * 4, &value, how & 2 ? 4 : 1);
	if (how & 4 && h->length)
		memcpy(p + skip + at2 % h->length / 4 * 4, (u8 *)&value + 4, how & 8 ? 4 : 1);
	if (!(wrong & 1) || !(wrong & 0x70))
		raw->payload_crc = cpu_to_be32(tor_wire_crc(p + skip, h->length));
	if (!(wrong & 2) || !(wrong & 0x70)) {
		limit = raw->hop_limit;
		raw->hop_limit = 0;
		raw->header_crc = 0;
		raw->header_crc = cpu_to_be32(tor_wire_crc(p, skip));
		raw->hop_limit = limit;
	}
	if (wrong & 4 && wrong & 8)
		len = wrong & 0x80 ? at2 % (len + 1) : len + at2 % 16;
	memcpy(buf, node_mac[port], ETH_ALEN);
	memset(buf + ETH_ALEN, 2 + port, ETH_ALEN);
	buf[ETH_ALEN] = 2;
	buf[2 * ETH_ALEN] = TORCOLL_ETHERTYPE >> 8;
	buf[2 * ETH_ALEN + 1] = TORCOLL_ETHERTYPE & 0xff;
	/* whether the device takes it is no matter of ours */
	sendto(packet[port], buf, ETH_HLEN + len, 0, (struct sockaddr *)&to, sizeof(to));
	listen_to_node();
}

static u32 neighbour(int port)
{
	return port ? SIDE - 1 : 1;
}

static void header(int port, struct tor_hdr *h, u32 type, u32 src)
{
	memset(h, 0, sizeof(*h));
	h->version = TORCOLL_WIRE_VERSION;
	h->type = type;
	h->hop_limit = 8;
	h->fabric = fabric;
	h->src = src ? src : neighbour(port);
	h->src_epoch = EPOCH;
	h->dst_epoch = node_epoch;
}

static void say_hello(int port, struct fuzz_in *in, u8 how)
{
	const struct tor_record record[2] = {
		{ .node = 1 + how % 3, .epoch = EPOCH, .seq = 1 + how, .dead = how >> 4, .frame = 1500 },
		{ .node = how & 1 ? 0 : 2, .epoch = how & 1 ? node_epoch : EPOCH, .seq = how, .dead = how >> 6, .frame = 1500 },
	};
	struct tor_hello hello = {
		.version = "fuzz", .dir = !port, .ndim = 1, .hears = 1, .side = { SIDE }, .frame_size = 1500,
		.fabric_frame = how & 8 ? 1500 : 0, .heard_epoch = node_epoch, .interval_ms = 1000, .records = how >> 2 & 1 ? 2 : 0,
	};
	u8 payload[256] = {};
	struct tor_hdr h;

	header(port, &h, TORCOLL_FRAME_HELLO, 0);
	h.dst = ~0U;
	h.dst_epoch = 0;
	tor_wire_put_hello(payload, &hello, record);
	h.length = tor_wire_hello_bytes(&hello);
	say(port, in, &h, NULL, payload);
}

/* To a comm message that was heard: what rank 0, or a member, says then. */
static void answer_comm(int port, struct fuzz_in *in, u8 how)
{
	static const u8 next[STEPS][2] = {
		[TORCOLL_COMM_JOIN] = { TORCOLL_COMM_READY, TORCOLL_COMM_WAIT },
		[TORCOLL_COMM_READY] = { TORCOLL_COMM_ACCEPT, TORCOLL_COMM_LEAVE },
		[TORCOLL_COMM_ACCEPT] = { TORCOLL_COMM_GO, TORCOLL_COMM_REFUSE },
		[TORCOLL_COMM_WAIT] = { TORCOLL_COMM_JOIN, TORCOLL_COMM_LEAVE },
		[TORCOLL_COMM_GO] = { TORCOLL_COMM_ACCEPT, TORCOLL_COMM_READY },
		[TORCOLL_COMM_SHRINK_CALL] = { TORCOLL_COMM_SHRINK_CALL, TORCOLL_COMM_SHRINK_READY },
		[TORCOLL_COMM_SHRINK_WAIT] = { TORCOLL_COMM_SHRINK_CALL, TORCOLL_COMM_SHRINK_LEFT },
		[TORCOLL_COMM_SHRINK_READY] = { TORCOLL_COMM_SHRINK_ACCEPT, TORCOLL_COMM_SHRINK_OUT },
		[TORCOLL_COMM_SHRINK_ACCEPT] = { TORCOLL_COMM_SHRINK_GO, TORCOLL_COMM_SHRINK_READY },
		[TORCOLL_COMM_SHRINK_GO] = { TORCOLL_COMM_SHRINK_ACCEPT, TORCOLL_COMM_SHRINK_LEFT },
		[TORCOLL_COMM_SHRINK_LEFT] = { TORCOLL_COMM_SHRINK_CALL, TORCOLL_COMM_SHRINK_OUT },
	};
	const struct heard *heard = how & 0x40 ? &step[port][how % STEPS] : &last[port][TORCOLL_FRAME_COMM];
	u32 epochs[2 * SIDE], n = 0, i, to;
	struct tor_comm_msg msg;
	u8 payload[256] = {};
	struct tor_hdr h;

	if (!heard->is || tor_wire_get_comm(heard->payload, heard->h.length, &msg))
		return;
	to = next[msg.step][how >> 7];
	if (!to)
		to = how % STEPS;
	header(port, &h, TORCOLL_FRAME_COMM, heard->h.dst);
	if (to == TORCOLL_COMM_READY)
		for (n = 0; n < msg.ranks && n < SIDE; n++)
			epochs[n] = n == msg.rank ? node_epoch : EPOCH;
	if (to == TORCOLL_COMM_SHRINK_READY)
		for (i = 0; i < 2; i++) {
			epochs[n++] = i ? 0 : heard->h.dst;
			epochs[n++] = i ? node_epoch : EPOCH;
		}
	if (!msg.tag || to == TORCOLL_COMM_READY || to == TORCOLL_COMM_SHRINK_READY)
		msg.tag = TAG + (how >> 4 & 3);
	if (to == TORCOLL_COMM_REFUSE)
		msg.error = EPROTO;
	msg.step = to;
	msg.generation += to == TORCOLL_COMM_READY;
	msg.missing = 0;
	msg.epochs = n;
	if (!tor_wire_unit_ok(msg.frame_bytes))
		msg.frame_bytes = 512;
	last_tag = msg.tag;
	tor_wire_put_comm(payload, &msg, epochs);
	h.length = tor_wire_comm_bytes(n);
	say(port, in, &h, NULL, payload);
}

/* A member calls node 0, which is rank 0: by a name that its processes use, too. */
static void call_rank0(int port, struct fuzz_in *in, u8 how)
{
	u32 which = 1 + how % 3 * 2, i;
	u64 list = MEMBERS_KEY ^ tor_join_tuning(&tor_rates_default);
	struct tor_comm_msg msg = {
		.step = how & 0x80 ? TORCOLL_COMM_ACCEPT : TORCOLL_COMM_JOIN, .nonce = 77, .ranks = ranks_of[which],
		.frame_bytes = 512, .tag = how & 0x80 ? last_tag : 0,
	};
	char name[] = { 'n', 'a' + which };
	u8 payload[128] = {};
	struct tor_hdr h;

	for (i = 0; i < msg.ranks; i++) {
		__be32 word = cpu_to_be32(members[which][i]);

		list = tor_env_hash(&word, sizeof(word), list);
	}
	msg.name = tor_join_name(name, sizeof(name));
	msg.proof = tor_join_proof(NULL, 0, msg.name);
	msg.members = list;
	msg.rank = 1 + (how >> 4) % (msg.ranks - 1);
	header(port, &h, TORCOLL_FRAME_COMM, members[which][msg.rank]);
	tor_wire_put_comm(payload, &msg, NULL);
	h.length = tor_wire_comm_bytes(0);
	say(port, in, &h, NULL, payload);
}

/* Data that was heard comes back as the neighbour's own, or is acknowledged, or both. */
static void answer_data(int port, struct fuzz_in *in, u8 how)
{
	const struct heard *heard = &last[port][TORCOLL_FRAME_DATA];
	struct tor_ack ack;
	struct tor_hdr h;

	if (!heard->is)
		return;
	ack = (struct tor_ack){
		.comm = heard->h.comm, .op = heard->h.op, .channel = heard->h.channel, .round = heard->h.round,
		.state = how % 5, .base = how & 8, .mask = how >> 4, .stamp = heard->h.stamp,
		.digest = how & 0x40 ? heard->h.digest : 0,
	};
	if (ack.channel >= TORCOLL_CHANNEL_SEND)
		ack.channel ^= 1;
	if (how % 4 != 1) {
		h = heard->h;
		header(port, &h, TORCOLL_FRAME_DATA, heard->h.dst);
		h.comm = heard->h.comm;
		h.op = heard->h.op;
		h.digest = heard->h.digest;
		h.channel = heard->h.channel;
		h.round = heard->h.round + (how >> 4 & 3) % 3;
		h.offset = heard->h.offset;
		h.length = heard->h.length;
		h.stamp = heard->h.stamp;
		h.flags = how & 0x80 ? heard->h.flags : 0;
		h.acks = how % 4 == 2;
	} else {
		header(port, &h, TORCOLL_FRAME_ACK, heard->h.dst);
		h.acks = 1;
	}
	say(port, in, &h, &ack, heard->payload);
}

/* To an ack: the data that it asks for, of a message or a collective; or the ack itself. */
static void answer_ack(int port, struct fuzz_in *in, u8 how)
{
	static const u8 payload[512];
	const struct heard *heard = &last[port][TORCOLL_FRAME_ACK];
	struct tor_ack ack = heard->ack;
	struct tor_hdr h;

	if (!heard->is)
		return;
	header(port, &h, how & 1 ? TORCOLL_FRAME_DATA : TORCOLL_FRAME_ACK, heard->h.dst);
	if (how & 1) {
		h.comm = ack.comm;
		h.op = ack.op;
		h.digest = ack.digest ? ack.digest : last[port][TORCOLL_FRAME_DATA].h.digest;
		h.channel = ack.channel >= TORCOLL_CHANNEL_SEND ? ack.channel ^ 1 : ack.channel;
		h.round = ack.round + (how >> 6);
		h.length = 64 << (how >> 1 & 3);
		h.offset = (u64)(ack.base + (how >> 3 & 7)) * 512;
	} else {
		h.acks = 1;
		ack.state = how >> 1 & 3;
		ack.round += how >> 6;
	}
	say(port, in, &h, &ack, payload);
}

static void say_abort(int port, struct fuzz_in *in, u8 how)
{
	const struct tor_abort abort = { .error = how & 1 ? EPROTO : ECONNABORTED, .rank = how >> 1 & 3, .node = ~0U };
	u8 payload[128] = {};
	struct tor_hdr h;

	header(port, &h, TORCOLL_FRAME_ABORT, how & 0x80 ? 2 : 0);
	h.comm = last_tag;
	tor_wire_put_abort(payload, &abort);
	h.length = how & 0x40 ? 24 : tor_wire_abort_bytes();
	say(port, in, &h, NULL, payload);
}

/* An echo; something for the node behind; something of no known kind. */
static void say_other(int port, struct fuzz_in *in, u8 how)
{
	static const u8 payload[256];
	struct tor_hdr h;

	header(port, &h, how & 2 ? TORCOLL_FRAME_ECHO : TORCOLL_FRAME_DATA, 0);
	h.length = how;
	h.op = how;
	h.comm = last_tag;
	if (!(how & 2)) {
		h.dst = 2 + (how & 1) * !port;
		h.dst_epoch = EPOCH;
		h.hop_limit = 1 + how % 4;
	}
	say(port, in, &h, NULL, payload);
}

/* What was heard, once more, as it was or by the other port. */
static void repeat(int port, struct fuzz_in *in, u8 how)
{
	const struct heard *heard = &last[port][how % TYPES];
	struct tor_hdr h = heard->h;

	if (!heard->is)
		return;
	h.src = neighbour(port ^ (how >> 7));
	h.src_epoch = EPOCH;
	h.dst = how & 0x40 ? heard->h.dst : 0;
	h.dst_epoch = 0;
	h.acks = !!h.acks;
	say(port ^ (how >> 7), in, &h, &heard->ack, heard->payload);
}

static void throw(struct fuzz_in *in)
{
	u8 what = fuzz_u8(in), where = fuzz_u8(in), how = fuzz_u8(in);
	int port = where & 1;

	listen_to_node();
	switch (what % 16) {
	case 0:
	case 1:
		say_hello(port, in, how);
		break;
	case 2:
	case 3:
	case 4:
		answer_comm(port, in, how);
		break;
	case 5:
		call_rank0(port, in, how);
		break;
	case 6:
	case 7:
	case 8:
	case 9:
		answer_data(port, in, how);
		break;
	case 10:
	case 11:
		answer_ack(port, in, how);
		break;
	case 12:
		say_abort(port, in, how);
		break;
	case 13:
		say_other(port, in, how);
		break;
	case 14:
		repeat(port, in, how);
		break;
	default:
		/* until the node says something again */
		usleep(where * 100);
		listen_to_node();
	}
}

/* --- processes of the node --- */

static int fd = -1;
static u32 comm[HANDLES], comms;
static u32 *memory;

static void join_comm(u8 how)
{
	u32 which = how % ARRAY_SIZE(members);
	char name[] = { 'n', 'a' + which };
	struct torcoll_comm_add arg = {
		.size = sizeof(arg), .fabric = 1, .name = (uintptr_t)name, .name_len = sizeof(name),
		.members = (uintptr_t)members[which], .ranks = ranks_of[which], .rank = TORCOLL_RANK_SELF, .depth = how >> 6,
		.deadline_ns = kfuzz_now() + 60 * NSEC_PER_MSEC,
	};

	if (!kfuzz_ioctl(fd, TORCOLL_IOC_COMM_ADD, &arg))
		comm[comms++ % HANDLES] = arg.comm;
}

static void call(struct fuzz_in *in, u8 how)
{
	u8 collective = fuzz_u8(in), algorithm = fuzz_u8(in), size = fuzz_u8(in);
	struct torcoll_submit arg = {
		.size = sizeof(arg), .comm = comm[(comms - 1) % HANDLES], .type = TORCOLL_I32,
		.count = 8U << size % 8, .send_addr = (uintptr_t)memory, .recv_addr = (uintptr_t)(memory + ELEMENTS),
		.flags = TORCOLL_OP_NOWAIT, .deadline_ns = kfuzz_now() + 200 * NSEC_PER_MSEC,
	};

	arg.collective = collective & 1 ? TORCOLL_ALLREDUCE : 1 + collective / 2 % (TORCOLL_COLL_COUNT - 1);
	arg.algorithm = algorithm < 0x80 ? 0 : algorithm % TORCOLL_ALGO_COUNT;
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
		arg.peer = how & 3;
		break;
	case TORCOLL_BARRIER:
		arg.count = 0;
		arg.type = 0;
	}
	kfuzz_ioctl(fd, TORCOLL_IOC_SUBMIT, &arg);
}

static void local(struct fuzz_in *in)
{
	u8 what = fuzz_u8(in), how;
	struct torcoll_wait wait = { .size = sizeof(wait), .deadline_ns = kfuzz_now() + 20 * NSEC_PER_MSEC };
	struct torcoll_comm_shrink shrink = { .size = sizeof(shrink), .deadline_ns = kfuzz_now() + 100 * NSEC_PER_MSEC };
	struct torcoll_handle handle = { .size = sizeof(handle) };

	fuzz_u8(in);
	how = fuzz_u8(in);
	if (fd < 0)
		fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);
	kfuzz_need(fd >= 0, TORCOLL_DEVICE);
	wait.comm = comm[(comms - 1) % HANDLES];
	shrink.comm = wait.comm;
	handle.handle = wait.comm;
	switch (what % 8) {
	case 0:
	case 1:
		join_comm(how);
		break;
	case 2:
		wait.flags = how & 1 ? TORCOLL_WAIT_NOHANG : 0;
		kfuzz_ioctl(fd, TORCOLL_IOC_WAIT, &wait);
		break;
	case 3:
		if (!kfuzz_ioctl(fd, TORCOLL_IOC_COMM_SHRINK, &shrink))
			comm[comms++ % HANDLES] = shrink.shrunk;
		break;
	case 4:
		kfuzz_ioctl(fd, how & 1 ? TORCOLL_IOC_ABORT : TORCOLL_IOC_COMM_DEL, &handle);
		break;
	default:
		call(in, how);
	}
}

static bool frames_event(int w, struct fuzz_in *in)
{
	if (w < 0)
		throw(in);
	else
		local(in);
	return true;
}

static void greet(void)
{
	struct fuzz_in nothing = {};
	int port;

	for (port = 0; port < PORTS; port++)
		say_hello(port, &nothing, 0);
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
	greet();
	greet();
	memset(last, 0, sizeof(last));
	memset(step, 0, sizeof(step));
	last_tag = 0;
}

/* A quarter is the processes' */
static int frames_whose(const u8 *record)
{
	return record[1] >= 0xe0 ? 1 : record[1] >= 0xb0 ? 0 : -1;
}

static void frames_setup(int w)
{
	memory = calloc(2 * ELEMENTS, sizeof(*memory));
	kfuzz_need(memory, "memory");
}

static void frames_init(void)
{
	static const char *const ours[] = { "q0", "q1" };
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = cpu_to_be16(ETH_P_ALL) };
	u64 until = kfuzz_now() + 60 * NSEC_PER_SEC;
	int port;

	kfuzz_need(!unshare(CLONE_NEWNET), "unshare");
	kfuzz_sh("sysctl -q net.ipv6.conf.default.disable_ipv6=1;"
		 "ip link add p0 address 02:00:00:00:00:10 type veth peer name q0 &&"
		 "ip link add p1 address 02:00:00:00:00:11 type veth peer name q1 &&"
		 "for d in p0 q0 p1 q1; do ip link set $d up || exit; done;"
		 "build/static/torcollctl fabric add 1 dims 4 node 0 hello 1s &&"
		 "build/static/torcollctl port add 1 dim 0 dir plus dev p0 &&"
		 "build/static/torcollctl port add 1 dim 0 dir minus dev p1");
	for (port = 0; port < PORTS; port++) {
		memcpy(node_mac[port], (u8 []){ 2, 0, 0, 0, 0, 0x10 + port }, ETH_ALEN);
		device[port] = at.sll_ifindex = if_nametoindex(ours[port]);
		packet[port] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, cpu_to_be16(ETH_P_ALL));
		kfuzz_need(packet[port] >= 0 && !bind(packet[port], (struct sockaddr *)&at, sizeof(at)), ours[port]);
	}
	while (!node_epoch && kfuzz_now() < until) {
		usleep(10000);
		listen_to_node();
	}
	kfuzz_need(node_epoch, "the node says nothing");
	greet();
	greet();
}

const struct kfuzz_target kfuzz_target = {
	.record = RECORD,
	.workers = 2,
	.init = frames_init,
	.setup = frames_setup,
	.whose = frames_whose,
	.event = frames_event,
	.reset = frames_reset,
};
