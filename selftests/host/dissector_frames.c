// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A capture of frames as core encodes them, good ones and bad ones, to stdout: what the dissector is tested
 * with. The order is that of the table at the end; dissector.sh knows it. With a number: so many frames, each one
 * of those with some bytes changed and its end cut off or not.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host_env.h"
#include "core/survey/frame.h"
#include "core/wire/wire.h"

#define ETHER_BYTES	14

struct frame {
	u8 bytes[2048];
	u32 len;		/* of header, acks and payload */
	bool survey;
};

static struct tor_hdr header(u8 type, u32 dst)
{
	return (struct tor_hdr){
		.version = TORCOLL_WIRE_VERSION,
		.type = type,
		.hop_limit = 255,
		.fabric = 0xfab00001,
		.src = 5,
		.dst = dst,
		.src_epoch = 0xe0000005,
	};
}

static void finish(struct frame *f, struct tor_hdr *h, const struct tor_ack *acks,
		   const void *payload)
{
	h->payload_crc = tor_wire_crc(payload, h->length);
	tor_wire_build(f->bytes, h, acks);
	f->len = tor_wire_header_bytes(h);
	memcpy(f->bytes + f->len, payload, h->length);
	f->len += h->length;
}

/* The header is that of @f, changed: sign it again. */
static void sign(struct frame *f, struct tor_hdr *h)
{
	u8 rest[sizeof(f->bytes)];
	u32 n = f->len - sizeof(struct torcoll_hdr);

	memcpy(rest, f->bytes + sizeof(struct torcoll_hdr), n);
	tor_wire_build(f->bytes, h, NULL);
	memcpy(f->bytes + sizeof(struct torcoll_hdr), rest, n);
}

static struct tor_hdr hello(struct frame *f)
{
	struct tor_hello body = {
		.version = "1.2.3", .dim = 1, .way = 1, .ndim = 2, .hears = 1, .side = { 4, TORCOLL_SIDE(8, TORCOLL_KIND_LINE) },
		.frame_size = 9000, .fabric_frame = 1500, .heard_node = 9, .heard_epoch = 0xe0000009,
		.interval_ms = 200, .view = 77, .records = 2, .more = true, .name = "host5",
		.rates = 0x4a7e5, .sent = 4000000001U, .cables = 2,
	};
	static const struct tor_record record[] = {
		{ 3, 0xe0000003, 7, 0x0002, 9000 }, { 12, 0xe000000c, 1, 0x000f, 0 },
	};
	struct tor_hdr h = header(TORCOLL_FRAME_HELLO, ~0U);
	u8 payload[512];

	h.hop_limit = 1;
	h.length = tor_wire_hello_bytes(&body);
	tor_wire_put_hello(payload, &body, record);
	finish(f, &h, NULL, payload);
	return h;
}

/* The same data frame, with @acks acknowledgements. */
static struct tor_hdr data(struct frame *f, u32 acks)
{
	const struct tor_ack ack[] = {
		{
			.comm = 0xc0ffee00,
			.op = 12,
			.where = { .channel = 2, .round = 3 },
			.state = TORCOLL_ACK_OK,
			.base = 40,
			.mask = 0x8000000000000001ULL,
			.stamp = 123456,
		},
		{
			.comm = 0xc0ffee00,
			.op = 13,
			.where = { .channel = 1 },
			.state = TORCOLL_ACK_NOT_READY,
			.stamp = 123457,
		},
	};
	struct tor_hdr h = header(TORCOLL_FRAME_DATA, 9);
	u8 payload[256];
	u32 i;

	for (i = 0; i < sizeof(payload); i++)
		payload[i] = i * 7;
	h.acks = acks;
	h.dst_epoch = 0xe0000009;
	h.comm = 0xc0ffee00;
	h.op = 12;
	h.digest = 0xd16e57;
	h.where.channel = 3;
	h.flags = TORCOLL_FLAG_ACK | TORCOLL_FLAG_RETRANSMIT | TORCOLL_FLAG_WHOLE;
	h.where.round = 300;
	h.offset = 0x100000100ULL;
	h.length = sizeof(payload);
	h.stamp = 4000000000U;
	finish(f, &h, ack, payload);
	return h;
}

static void data_plain(struct frame *f)
{
	data(f, 0);
}

static void data_two_acks(struct frame *f)
{
	data(f, 2);
}

static void hello_good(struct frame *f)
{
	hello(f);
}

static void ack_done(struct frame *f)
{
	const struct tor_ack ack = {
		.comm = 0xc0ffee00,
		.op = 11,
		.where = { .round = 5 },
		.state = TORCOLL_ACK_DONE,
		.stamp = 99,
	};
	struct tor_hdr h = header(TORCOLL_FRAME_ACK, 9);

	h.acks = 1;
	h.comm = 0xc0ffee00;
	finish(f, &h, &ack, "");
}

static void abort_protocol(struct frame *f)
{
	const struct tor_abort body = {
		71, 3, 7, 12, { 0xaaaa, 0xbbbb },
		{ { 100, 2, 1, 5, 11, 1, 3, 17 }, { .rank = 3 } },
	};
	struct tor_hdr h = header(TORCOLL_FRAME_ABORT, 9);
	u8 payload[sizeof(struct torcoll_abort)];

	h.comm = 0xc0ffee00;
	h.length = sizeof(payload);
	tor_wire_put_abort(payload, &body);
	finish(f, &h, NULL, payload);
}

static struct tor_hdr comm(struct frame *f, u8 step, u32 epochs)
{
	const struct tor_comm_msg body = {
		.step = step, .error = step == TORCOLL_COMM_REFUSE ? 13 : 0, .name = 0x1111, .proof = 0x2222,
		.members = 0x3333, .nonce = 0x4444, .rank = 2, .ranks = 3, .missing = ~0U, .tag = 0x5555,
		.generation = 6, .frame_bytes = 8832, .epochs = epochs,
		.has_terms = step != TORCOLL_COMM_JOIN,
		.terms = {
			.flags = TORCOLL_FLAG_UNSUMMED, .cause = TORCOLL_CAUSE_CHECKSUM, .payload = 8834, .refusal = 0x7777,
			.rank = 1, .node = 12, .rate = { 1, 2, 3, 4, 5, 6 }, .name = "host12",
		},
	};
	static const u32 epoch[] = { 0xe1, 0xe2, 0xe3 };
	struct tor_hdr h = header(TORCOLL_FRAME_COMM, 9);
	u8 payload[512];

	h.length = tor_wire_comm_bytes(&body);
	tor_wire_put_comm(payload, &body, epoch);
	finish(f, &h, NULL, payload);
	return h;
}

static void comm_ready(struct frame *f)
{
	comm(f, TORCOLL_COMM_READY, 3);
}

static void comm_refuse(struct frame *f)
{
	comm(f, TORCOLL_COMM_REFUSE, 0);
}

/* A forwarder has been there: the CRC does not notice. */
static void data_hopped(struct frame *f)
{
	data(f, 0);
	tor_wire_hop(f->bytes);
}

/* Ethernet pads short frames. */
static void ack_padded(struct frame *f)
{
	ack_done(f);
	f->len += 6;
}

static void data_no_payload_crc(struct frame *f)
{
	struct tor_hdr h = data(f, 0);

	h.payload_crc = 0;
	sign(f, &h);
}

static void bad_version(struct frame *f)
{
	struct tor_hdr h = data(f, 0);

	h.version = 3;
	sign(f, &h);
}

static void bad_type(struct frame *f)
{
	struct tor_hdr h = data(f, 0);

	h.type = 9;
	sign(f, &h);
}

static void bad_acks(struct frame *f)
{
	data(f, 0);
	f->bytes[offsetof(struct torcoll_hdr, acks)] = TORCOLL_WIRE_ACKS_MAX + 1;
}

static void bad_acks_short(struct frame *f)
{
	ack_done(f);
	f->bytes[offsetof(struct torcoll_hdr, acks)] = 2;
}

static void bad_header_crc(struct frame *f)
{
	data(f, 0);
	f->bytes[offsetof(struct torcoll_hdr, op)] ^= 1;
}

static void bad_ack_crc(struct frame *f)
{
	data(f, 2);
	f->bytes[sizeof(struct torcoll_hdr) + sizeof(struct torcoll_ack)] ^= 1;
}

static void bad_payload_crc(struct frame *f)
{
	data(f, 2);
	f->bytes[f->len - 1] ^= 1;
}

static void bad_length(struct frame *f)
{
	data(f, 0);
	f->len--;
}

static void bad_header_short(struct frame *f)
{
	data(f, 0);
	f->len = sizeof(struct torcoll_hdr) - 1;
}

static void bad_hop_limit(struct frame *f)
{
	data(f, 0);
	f->bytes[offsetof(struct torcoll_hdr, hop_limit)] = 0;
}

static void bad_data(struct frame *f)
{
	struct tor_hdr h = data(f, 0);

	h.flags = 0x80;
	h.digest = 0;
	h.length = 0;
	h.payload_crc = 0;
	sign(f, &h);
	f->len = sizeof(struct torcoll_hdr);
}

/* Of a fabric with "checksum header". */
static void hello_unsummed(struct frame *f)
{
	struct tor_hdr h = hello(f);

	h.flags = TORCOLL_FLAG_UNSUMMED | TORCOLL_FLAG_BIG_ENDIAN;
	sign(f, &h);
}

static void bad_hello_dst(struct frame *f)
{
	struct tor_hdr h = hello(f);

	h.dst = 3;
	sign(f, &h);
}

/* Change one byte of the payload and make both CRCs fit. */
static void spoil(struct frame *f, struct tor_hdr *h, u32 at, u8 value)
{
	u8 *payload = f->bytes + sizeof(struct torcoll_hdr);

	payload[at] = value;
	h->payload_crc = tor_wire_crc(payload, h->length);
	sign(f, h);
}

static void bad_hello_ndim(struct frame *f)
{
	struct tor_hdr h = hello(f);

	spoil(f, &h, offsetof(struct torcoll_hello, ndim), 7);
}

static void bad_hello_records(struct frame *f)
{
	struct tor_hdr h = hello(f);

	spoil(f, &h, offsetof(struct torcoll_hello, records) + 3, 7);
}

static void bad_comm_step(struct frame *f)
{
	struct tor_hdr h = comm(f, TORCOLL_COMM_JOIN, 0);

	spoil(f, &h, offsetof(struct torcoll_comm_msg, step), 15);
}

static void bad_comm_reserved(struct frame *f)
{
	struct tor_hdr h = comm(f, TORCOLL_COMM_JOIN, 0);

	spoil(f, &h, offsetof(struct torcoll_comm_msg, __reserved), 1);
}

static void bad_abort_short(struct frame *f)
{
	struct tor_hdr h = header(TORCOLL_FRAME_ABORT, 9);

	h.length = 10;
	finish(f, &h, NULL, "0123456789");
}

static void echo_answer(struct frame *f)
{
	struct tor_hdr h = header(TORCOLL_FRAME_ECHO, 9);

	h.hop_limit = 1;
	h.op = 41;
	h.flags = TORCOLL_FLAG_REPLY;
	h.offset = 1 + 12;
	finish(f, &h, NULL, "");
}

/* An Ethernet frame between network devices: IPv4 with UDP, or an ARP request. */
static void packet(struct frame *f, u32 dst, u32 number)
{
	static const u8 udp[] = {
		0x02, 0x74, 0x01, 0, 0, 9, 0x02, 0x74, 0x01, 0, 0, 5, 0x08, 0x00,
		0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 7, 0, 6, 10, 7, 0, 10,
		0x12, 0x34, 0xc0, 0x01, 0, 12, 0, 0, 1, 2, 3, 4,
	};
	static const u8 arp[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x74, 0x01, 0, 0, 5, 0x08, 0x06,
		0, 1, 0x08, 0x00, 6, 4, 0, 1, 0x02, 0x74, 0x01, 0, 0, 5, 10, 7, 0, 6,
		0, 0, 0, 0, 0, 0, 10, 7, 0, 99,
	};
	struct tor_hdr h = header(TORCOLL_FRAME_PACKET, dst);
	const u8 *inner = number ? arp : udp;

	h.hop_limit = number ? 255 : 64;
	h.op = number;
	h.digest = 0xf10f10f1;
	h.length = number ? sizeof(arp) : sizeof(udp);
	tor_wire_build(f->bytes, &h, NULL);
	memcpy(f->bytes + sizeof(struct torcoll_hdr), inner, h.length);
	f->len = sizeof(struct torcoll_hdr) + h.length;
}

static void packet_to_node(struct frame *f)
{
	packet(f, 9, 0);
}

static void packet_to_all(struct frame *f)
{
	packet(f, TORCOLL_NODE_ALL, 7);
}

static void bad_packet_number(struct frame *f)
{
	packet(f, 9, 7);
}

static void bad_packet_short(struct frame *f)
{
	struct tor_hdr h = header(TORCOLL_FRAME_PACKET, 9);

	h.length = TORCOLL_PACKET_MIN - 1;
	finish(f, &h, NULL, "0123456789abc");
}

static void put(const void *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n)
		exit(1);
}

/* Sign the records that are there. */
static void survey_finish(struct frame *f, u8 type, u32 length)
{
	struct tor_survey_frame header = {
		.type = type, .hop_limit = 254, .flags = TORCOLL_SURVEY_TEST, .survey = 0x1122334455667788,
		.round = 3, .length = length, .host = 0xa1a2a3a4a5a6a7a8, .stamp = 7,
	};

	tor_survey_build(f->bytes, &header);
	f->len = sizeof(struct torcoll_survey) + length;
	f->survey = true;
}

static struct torcoll_survey_end survey_end(void)
{
	return (struct torcoll_survey_end){
		.host = cpu_to_be64(0xa1a2a3a4a5a6a7a8), .mac = { 2, 0, 0, 0, 0, 5 },
		.device = "enp1", .mtu = cpu_to_be32(9000), .fabric = cpu_to_be32(0xfab),
	};
}

static void survey_ask(struct frame *f)
{
	struct torcoll_survey_end end = survey_end();

	survey_finish(f, TORCOLL_SURVEY_ASK,
		      tor_survey_put(f->bytes + sizeof(struct torcoll_survey), TORCOLL_SURVEY_END,
				     &end, sizeof(end)));
}

static void survey_report(struct frame *f)
{
	struct torcoll_survey_host host = {
		.host = survey_end().host, .name = "host5", .version = "1.2.3", .round = cpu_to_be32(3),
		.part = cpu_to_be16(1), .parts = cpu_to_be16(2),
	};
	struct torcoll_survey_node node = {
		.key = cpu_to_be64(1), .side = { cpu_to_be32(4), cpu_to_be32(8) }, .byte_order = 1,
	};
	struct torcoll_survey_port port = {
		.own = survey_end(), .flags = cpu_to_be16(3), .dir = 1, .tested_ms = cpu_to_be32(77),
	};
	struct torcoll_survey_rest rest = { .nodes = cpu_to_be32(2), .ports = cpu_to_be32(40) };
	u8 *at = f->bytes + sizeof(struct torcoll_survey);
	u32 len;

	len = tor_survey_put(at, TORCOLL_SURVEY_HOST, &host, sizeof(host));
	len += tor_survey_put(at + len, TORCOLL_SURVEY_NODE, &node, sizeof(node));
	len += tor_survey_put(at + len, TORCOLL_SURVEY_PORT, &port, sizeof(port));
	len += tor_survey_put(at + len, TORCOLL_SURVEY_REST, &rest, sizeof(rest));
	survey_finish(f, TORCOLL_SURVEY_REPORT, len);
}

static void survey_damaged(struct frame *f)
{
	survey_ask(f);
	f->bytes[50] ^= 1;
}

static void survey_mark(struct frame *f)
{
	tor_survey_put_train(f->bytes + sizeof(struct torcoll_survey),
			     &(struct tor_survey_train){ .train = 8, .frames = 64 });
	survey_finish(f, TORCOLL_SURVEY_MARK, sizeof(struct torcoll_survey_train));
}

static void write_frame(u32 number, const struct frame *f)
{
	static const u8 group[] = TORCOLL_HELLO_GROUP;
	const struct { u32 sec, usec, captured, len; } record = {
		.sec = number, .captured = ETHER_BYTES + f->len, .len = ETHER_BYTES + f->len,
	};
	u16 type = f->survey ? TORCOLL_SURVEY_ETHERTYPE : TORCOLL_ETHERTYPE;
	u8 ether[ETHER_BYTES] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 5, type >> 8, type & 0xff };

	if (f->bytes[offsetof(struct torcoll_hdr, type)] == TORCOLL_FRAME_HELLO)
		memcpy(ether, group, sizeof(group));
	put(&record, sizeof(record));
	put(ether, sizeof(ether));
	put(f->bytes, f->len);
}

/* Some bytes anywhere, but those that lead to the fields behind them more often. */
static void damage(struct frame *f, u64 *seed)
{
	u32 n = host_rand(seed) % 8;

	while (n--)
		f->bytes[host_rand(seed) % (host_rand(seed) % 2 ? 64 : f->len)] = host_rand(seed);
	f->bytes[0] = f->survey ? TORCOLL_SURVEY_VERSION : TORCOLL_WIRE_VERSION;
	if (host_rand(seed) % 4 == 0)
		f->len = host_rand(seed) % (f->len + 1);
}

int main(int argc, char **argv)
{
	static void (*const make[])(struct frame *f) = {
		hello_good, data_plain, data_two_acks, ack_done, abort_protocol, comm_ready, comm_refuse,
		data_hopped, ack_padded, data_no_payload_crc,
		bad_version, bad_type, bad_acks, bad_acks_short, bad_header_crc, bad_ack_crc,
		bad_payload_crc, bad_length, bad_header_short, bad_hop_limit, bad_data, bad_hello_dst,
		bad_hello_ndim, bad_hello_records, bad_comm_step, bad_comm_reserved, bad_abort_short,
		echo_answer, survey_ask, survey_report, survey_damaged, survey_mark,
		packet_to_node, packet_to_all, bad_packet_number, bad_packet_short,
		hello_unsummed,
	};
	/* of libpcap: magic, version 2.4, snapshot length, Ethernet */
	const struct { u32 magic; u16 major, minor; u32 zone, figures, snaplen, type; } head = {
		0xa1b2c3d4, 2, 4, 0, 0, 65535, 1,
	};
	u32 frames = argc > 1 ? strtoul(argv[1], NULL, 10) : ARRAY_SIZE(make);
	u64 seed = 1;
	u32 i;

	put(&head, sizeof(head));
	for (i = 0; i < frames; i++) {
		struct frame f = {};

		make[i % ARRAY_SIZE(make)](&f);
		if (argc > 1)
			damage(&f, &seed);
		write_frame(i, &f);
	}
	return fflush(stdout) ? 1 : 0;
}
