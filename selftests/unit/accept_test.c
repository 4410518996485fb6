// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The column "accepted" of docs/wire.md, field by field: its edges, and what lies just beyond them. Each row begins with the
 * text of that column; host/docs sees that there is one for each field that does not accept all, and none that says otherwise.
 */
#include <linux/torcoll.h>

#include "host_env.h"
#include "core/torus.h"

#define UNIT		256	/* payload that the members agreed on */
#define NODES		4
#define PAYLOAD_AT	sizeof(struct torcoll_hdr)
#define VALUES		6

/* Frames of which all fields are accepted. */
enum base {
	DATA,
	FORWARDED,		/* the same, to be passed on */
	AS_IS,			/* the same, not signed again */
	ACK,
	HELLO,
	ABORT,
	JOIN,
	READY,
	ACCEPT,
	GO,
	LEAVE,
	CALL,
	SHRINK_READY,
	SHRINK_ACCEPT,
	SHRINK_GO,
	PACKET,
	PACKET_TO_ALL,
};

static const u8 step_of[] = {
	[JOIN] = TORCOLL_COMM_JOIN,
	[READY] = TORCOLL_COMM_READY,
	[ACCEPT] = TORCOLL_COMM_ACCEPT,
	[GO] = TORCOLL_COMM_GO,
	[LEAVE] = TORCOLL_COMM_LEAVE,
	[CALL] = TORCOLL_COMM_SHRINK_CALL,
	[SHRINK_READY] = TORCOLL_COMM_SHRINK_READY,
	[SHRINK_ACCEPT] = TORCOLL_COMM_SHRINK_ACCEPT,
	[SHRINK_GO] = TORCOLL_COMM_SHRINK_GO,
};

struct row {
	const char *field, *text;
	enum base base;
	u32 at, size;
	u32 ngood, nbad;
	u64 good[VALUES], bad[VALUES];
};

/* Where structs lie in their frames. */
#define AT_hdr		0
#define AT_ack		PAYLOAD_AT
#define AT_hello	PAYLOAD_AT
#define AT_link_record	(PAYLOAD_AT + sizeof(struct torcoll_hello))
#define AT_abort	PAYLOAD_AT
#define AT_call		(PAYLOAD_AT + offsetof(struct torcoll_abort, call))
#define AT_comm_msg	PAYLOAD_AT
#define AT_comm_terms	(PAYLOAD_AT + sizeof(struct torcoll_comm_msg) + 2 * sizeof(__be32))

#define COUNT(...)	(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64))
#define GOOD(...)	.good = { __VA_ARGS__ }, .ngood = COUNT(__VA_ARGS__)
#define BAD(...)	.bad = { __VA_ARGS__ }, .nbad = COUNT(__VA_ARGS__)
#define ROW(_struct, _member, _text, _base, _good, _bad)			\
	{ .field = #_struct "." #_member, .text = _text, .base = _base,		\
	  .at = AT_##_struct + offsetof(struct torcoll_##_struct, _member),	\
	  .size = sizeof(((struct torcoll_##_struct *)0)->_member), _good, _bad }

static const struct row rows[] = {
	ROW(hdr, version, "2", DATA, GOOD(2), BAD(0, 1, 3, 255)),
	ROW(hdr, type, "1 to 7", ACK, GOOD(1, 7), BAD(0, 8, 255)),
	ROW(hdr, hop_limit, "any, to be forwarded 2 and more", DATA, GOOD(0, 1, 2, 255), BAD()),
	ROW(hdr, hop_limit, "any, to be forwarded 2 and more", FORWARDED, GOOD(2, 255), BAD(0, 1)),
	ROW(hdr, acks, "0 to 32, in packets 0", ACK, GOOD(0, 1, 32), BAD(33, 255)),
	ROW(hdr, acks, "0 to 32, in packets 0", PACKET, GOOD(0), BAD(1, 32, 33)),
	ROW(hdr, src_epoch, "not 0", DATA, GOOD(1, U32_MAX), BAD(0)),
	ROW(hdr, src_epoch, "not 0", HELLO, GOOD(1, U32_MAX), BAD(0)),
	ROW(hdr, src_epoch, "not 0", PACKET, GOOD(1, U32_MAX), BAD(0)),
	ROW(hdr, op, "any, in packets to all not 0, in others 0", DATA, GOOD(0, U32_MAX), BAD()),
	ROW(hdr, op, "any, in packets to all not 0, in others 0", PACKET, GOOD(0), BAD(1, U32_MAX)),
	ROW(hdr, op, "any, in packets to all not 0, in others 0", PACKET_TO_ALL,
	    GOOD(1, U32_MAX), BAD(0)),
	ROW(hdr, comm, "not 0 in data and aborts", DATA, GOOD(1, U32_MAX), BAD(0)),
	ROW(hdr, comm, "not 0 in data and aborts", ABORT, GOOD(1, U32_MAX), BAD(0)),
	ROW(hdr, comm, "not 0 in data and aborts", ACK, GOOD(0, 1, U32_MAX), BAD()),
	ROW(hdr, digest, "not 0 in data", DATA, GOOD(1, U32_MAX), BAD(0)),
	ROW(hdr, digest, "not 0 in data", ACK, GOOD(0, 1, U32_MAX), BAD()),
	ROW(hdr, channel, "0 to 254 in data", DATA, GOOD(0, 254), BAD(255)),
	ROW(hdr, channel, "0 to 254 in data", ACK, GOOD(0, 255), BAD()),
	ROW(hdr, offset, "in data multiples of the agreed payload, by less than 2^32", DATA,
	    GOOD(0, UNIT, U32_MAX * (u64)UNIT), BAD(1, UNIT - 1, UNIT + 1, (1ULL << 32) * UNIT, U64_MAX)),
	ROW(hdr, length, "what is there, in data 1 to the agreed payload, in packets 14 and more", DATA,
	    GOOD(1, UNIT), BAD(0, UNIT + 1, 1U << 31, U32_MAX)),
	ROW(hdr, length, "what is there, in data 1 to the agreed payload, in packets 14 and more", LEAVE,
	    GOOD(sizeof(struct torcoll_comm_msg)),
	    BAD(0, sizeof(struct torcoll_comm_msg) - 1, sizeof(struct torcoll_comm_msg) + 1)),
	ROW(hdr, length, "what is there, in data 1 to the agreed payload, in packets 14 and more", PACKET,
	    GOOD(TORCOLL_PACKET_MIN, 64), BAD(0, TORCOLL_PACKET_MIN - 1, 65, U32_MAX)),
	ROW(hdr, header_crc, "that of the header", AS_IS, BAD(0, 1, U32_MAX), .ngood = 0),

	ROW(ack, comm, "not 0", ACK, GOOD(1, U32_MAX), BAD(0)),
	ROW(ack, state, "0 to 4", ACK, GOOD(0, 4), BAD(5, 255)),

	ROW(hello, dim, "below `ndim`", HELLO, GOOD(0, 1), BAD(2, 255)),
	ROW(hello, way, "0, 1, in a mesh below the side - 1", HELLO, GOOD(0, 1), BAD(2, 255)),
	ROW(hello, ndim, "1 to 6, as many as there are sides", HELLO, GOOD(2), BAD(0, 1, 3, 7, 255)),
	ROW(hello, hears, "0, 1", HELLO, GOOD(0, 1), BAD(2, 255)),
	ROW(hello, side[0], "nodes not 0, kind 0 to 3, beyond `ndim` 0, at most 12 ports", HELLO,
	    GOOD(1, TORCOLL_SIDE_NODES, TORCOLL_SIDE(3, TORCOLL_KIND_LINE), TORCOLL_SIDE(11, TORCOLL_KIND_MESH),
		 TORCOLL_SIDE(4, TORCOLL_KIND_CHORD)),
	    BAD(0, TORCOLL_SIDE(0, TORCOLL_KIND_LINE), TORCOLL_SIDE(12, TORCOLL_KIND_MESH),
		TORCOLL_SIDE(4, TORCOLL_KIND_COUNT), U32_MAX)),
	ROW(hello, side[1], "nodes not 0, kind 0 to 3, beyond `ndim` 0, at most 12 ports", HELLO,
	    GOOD(1, TORCOLL_SIDE_NODES, TORCOLL_SIDE(3, TORCOLL_KIND_LINE), TORCOLL_SIDE(11, TORCOLL_KIND_MESH),
		 TORCOLL_SIDE(4, TORCOLL_KIND_CHORD)),
	    BAD(0, TORCOLL_SIDE(0, TORCOLL_KIND_MESH), TORCOLL_SIDE(2, TORCOLL_KIND_MESH),
		TORCOLL_SIDE(4, TORCOLL_KIND_COUNT), U32_MAX)),
	ROW(hello, side[2], "nodes not 0, kind 0 to 3, beyond `ndim` 0, at most 12 ports", HELLO, GOOD(0), BAD(1, U32_MAX)),
	ROW(hello, side[5], "nodes not 0, kind 0 to 3, beyond `ndim` 0, at most 12 ports", HELLO, GOOD(0), BAD(1, U32_MAX)),
	ROW(hello, frame_size, "0, 384 and more", HELLO, GOOD(0, 384, U32_MAX), BAD(1, 383)),
	ROW(hello, records, "0 to 64, no more than are there", HELLO, GOOD(0, 64), BAD(65, 1U << 28, U32_MAX)),

	ROW(link_record, node, "a node of the fabric", HELLO, GOOD(0, NODES - 1), BAD(NODES, U32_MAX)),
	ROW(link_record, epoch, "not 0", HELLO, GOOD(1, U32_MAX), BAD(0)),
	ROW(link_record, seq, "not 0", HELLO, GOOD(1, U32_MAX), BAD(0)),
	ROW(link_record, dead, "bits below the number of ports", HELLO, GOOD(0, 1, 0xf), BAD(0x10, 0x8000, U16_MAX)),
	ROW(link_record, frame, "0, 384 and more", HELLO, GOOD(0, 384, U16_MAX), BAD(1, 383)),

	ROW(abort, error, "1 to 4095", ABORT, GOOD(1, 4095), BAD(0, 4096, U32_MAX)),
	ROW(call, collective, "a known one", ABORT, GOOD(1, TORCOLL_COLL_COUNT - 1), BAD(TORCOLL_COLL_COUNT, 255)),
	ROW(call, type, "a known one", ABORT, GOOD(0, TORCOLL_TYPE_COUNT - 1), BAD(TORCOLL_TYPE_COUNT, 255)),
	ROW(call, redop, "a known one", ABORT, GOOD(0, TORCOLL_REDOP_COUNT - 1), BAD(TORCOLL_REDOP_COUNT, 255)),
	ROW(call, bits, "a known one", ABORT, GOOD(0, TORCOLL_BITS_COUNT - 1), BAD(TORCOLL_BITS_COUNT, 255)),
	ROW(call, algorithm, "a known one", ABORT,
	    GOOD(0, TORCOLL_ALGO_COUNT - 1), BAD(TORCOLL_ALGO_COUNT, U16_MAX)),

	ROW(comm_msg, step, "1 to 14", GO, GOOD(1, 14), BAD(0, 15, 255)),
	ROW(comm_msg, error, "0 to 4095", LEAVE, GOOD(0, 4095), BAD(4096, U32_MAX)),
	ROW(comm_msg, rank, "joining 1 to `ranks` - 1", JOIN, GOOD(1, 3), BAD(0, 4, U32_MAX)),
	ROW(comm_msg, rank, "joining 1 to `ranks` - 1", LEAVE, GOOD(1, 3), BAD(0, 4, U32_MAX)),
	ROW(comm_msg, rank, "joining 1 to `ranks` - 1", CALL, GOOD(0, U32_MAX), BAD()),
	ROW(comm_msg, ranks, "joining 2 to 2^20, ready of shrinking 1 to 2^20", JOIN,
	    GOOD(2, TOR_MAX_NODES), BAD(0, 1, TOR_MAX_NODES + 1, U32_MAX)),
	ROW(comm_msg, ranks, "joining 2 to 2^20, ready of shrinking 1 to 2^20", SHRINK_READY,
	    GOOD(3, TOR_MAX_NODES), BAD(0, 2, TOR_MAX_NODES + 1, U32_MAX)),
	ROW(comm_msg, ranks, "joining 2 to 2^20, ready of shrinking 1 to 2^20", CALL, GOOD(0, U32_MAX), BAD()),
	ROW(comm_msg, missing, "ready up to `ranks`", READY, GOOD(0, 2), BAD(3, 4, 5, U32_MAX)),
	ROW(comm_msg, missing, "ready up to `ranks`", SHRINK_READY, GOOD(0, 3), BAD(4, 5, U32_MAX)),
	ROW(comm_msg, missing, "ready up to `ranks`", LEAVE, GOOD(0, U32_MAX), BAD()),
	ROW(comm_msg, tag, "ready, accept, go not 0", READY, GOOD(1, U32_MAX), BAD(0)),
	ROW(comm_msg, tag, "ready, accept, go not 0", ACCEPT, GOOD(1, U32_MAX), BAD(0)),
	ROW(comm_msg, tag, "ready, accept, go not 0", GO, GOOD(1, U32_MAX), BAD(0)),
	ROW(comm_msg, tag, "ready, accept, go not 0", SHRINK_READY, GOOD(1, U32_MAX), BAD(0)),
	ROW(comm_msg, tag, "ready, accept, go not 0", SHRINK_ACCEPT, GOOD(1, U32_MAX), BAD(0)),
	ROW(comm_msg, tag, "ready, accept, go not 0", SHRINK_GO, GOOD(1, U32_MAX), BAD(0)),
	ROW(comm_msg, tag, "ready, accept, go not 0", LEAVE, GOOD(0, U32_MAX), BAD()),
	ROW(comm_msg, frame_bytes, "join, ready, call, accept of shrinking multiples of 64 from 256 on", JOIN,
	    GOOD(256, 320, U32_MAX - 63), BAD(0, 192, 255, 257, U32_MAX)),
	ROW(comm_msg, frame_bytes, "join, ready, call, accept of shrinking multiples of 64 from 256 on", READY,
	    GOOD(256, 320, U32_MAX - 63), BAD(0, 192, 255, 257, U32_MAX)),
	ROW(comm_msg, frame_bytes, "join, ready, call, accept of shrinking multiples of 64 from 256 on", CALL,
	    GOOD(256, 320, U32_MAX - 63), BAD(0, 192, 255, 257, U32_MAX)),
	ROW(comm_msg, frame_bytes, "join, ready, call, accept of shrinking multiples of 64 from 256 on", SHRINK_READY,
	    GOOD(256, 320, U32_MAX - 63), BAD(0, 192, 255, 257, U32_MAX)),
	ROW(comm_msg, frame_bytes, "join, ready, call, accept of shrinking multiples of 64 from 256 on", SHRINK_ACCEPT,
	    GOOD(256, 320, U32_MAX - 63), BAD(0, 192, 255, 257, U32_MAX)),
	ROW(comm_msg, frame_bytes, "join, ready, call, accept of shrinking multiples of 64 from 256 on", ACCEPT,
	    GOOD(0, 1, U32_MAX), BAD()),
	ROW(comm_msg, epochs, "no more than are there, and than `ranks` - `missing`, shrinking pairs", READY,
	    GOOD(0, 2), BAD(3, 1U << 30, U32_MAX)),
	ROW(comm_msg, epochs, "no more than are there, and than `ranks` - `missing`, shrinking pairs", SHRINK_READY,
	    GOOD(0, 2), BAD(1, 3, 4, 1U << 30)),

	ROW(comm_terms, payload, "join, ready 0, or a multiple of 4 that is `frame_bytes` when rounded down to one of 64", READY,
	    GOOD(0, UNIT, UNIT + 4, UNIT + 60), BAD(4, UNIT - 4, UNIT + 2, UNIT + 64, U16_MAX)),
	ROW(comm_terms, rates[0], "ready up to 10^13, the last two up to 10^10", READY,
	    GOOD(0, 10000000000000), BAD(10000000000001, U64_MAX)),
	ROW(comm_terms, rates[3], "ready up to 10^13, the last two up to 10^10", READY,
	    GOOD(0, 10000000000000), BAD(10000000000001, U64_MAX)),
	ROW(comm_terms, rates[4], "ready up to 10^13, the last two up to 10^10", READY,
	    GOOD(0, 10000000000), BAD(10000000001, U64_MAX)),
	ROW(comm_terms, rates[5], "ready up to 10^13, the last two up to 10^10", READY,
	    GOOD(0, 10000000000), BAD(10000000001, U64_MAX)),
};

static u8 frame[PAYLOAD_AT + 255 * sizeof(struct torcoll_ack)];

static u32 build_hello(u8 *p)
{
	struct tor_record record[TORCOLL_HELLO_RECORDS_MAX];
	struct tor_hello hello = {
		.version = "1.2.3", .dim = 1, .way = 1, .ndim = 2, .hears = 1, .side = { 2, 2 },
		.frame_size = 9000, .heard_node = 1, .heard_epoch = 2, .records = ARRAY_SIZE(record),
		.more = true, .name = "a.b",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(record); i++)
		record[i] = (struct tor_record){ i % NODES, 2, 3, 0, 9000 };
	tor_wire_put_hello(p, &hello, record);
	return tor_wire_hello_bytes(&hello);
}

static u32 build_abort(u8 *p)
{
	const struct tor_wire_call call = { .count = 1, .collective = TORCOLL_ALLREDUCE };
	struct tor_abort abort = { .error = EPROTO, .call = { call, call } };

	tor_wire_put_abort(p, &abort);
	return tor_wire_abort_bytes();
}

static u32 build_comm(u8 *p, enum base base)
{
	/* terms that begin in them are valid, too */
	const u32 word[2] = { 1 << 16, 2 << 16 };
	bool ready = base == READY || base == SHRINK_READY;
	struct tor_comm_msg msg = {
		.step = step_of[base], .rank = 1, .ranks = 4, .missing = ready ? 2 : 0, .tag = 5,
		.frame_bytes = UNIT, .epochs = ready ? 2 : 0,
		.has_terms = base == JOIN || base == READY,
	};

	tor_wire_put_comm(p, &msg, word);
	return tor_wire_comm_bytes(&msg);
}

/* Return: its bytes. */
static u32 build(enum base base)
{
	const struct tor_ack ack = { .comm = 3 };
	struct tor_ack acks[TORCOLL_WIRE_ACKS_MAX];
	u8 *payload = frame + PAYLOAD_AT;
	struct tor_hdr h = {
		.version = TORCOLL_WIRE_VERSION, .type = TORCOLL_FRAME_DATA, .hop_limit = 17, .src = 1,
		.src_epoch = 2, .comm = 3, .op = 4, .digest = 5, .length = UNIT,
	};
	u32 i;

	memset(frame, 0, sizeof(frame));
	if (base == ACK) {
		h.type = TORCOLL_FRAME_ACK;
		h.length = 0;
		for (i = 0; i < ARRAY_SIZE(acks); i++)
			acks[i] = ack;
		h.acks = ARRAY_SIZE(acks);
	} else if (base == HELLO) {
		h.type = TORCOLL_FRAME_HELLO;
		h.length = build_hello(payload);
	} else if (base == ABORT) {
		h.type = TORCOLL_FRAME_ABORT;
		h.length = build_abort(payload);
	} else if (base == PACKET || base == PACKET_TO_ALL) {
		h.type = TORCOLL_FRAME_PACKET;
		h.dst = base == PACKET ? 2 : TORCOLL_NODE_ALL;
		h.op = base == PACKET ? 0 : 7;
		h.length = 64;
	} else if (base >= JOIN) {
		h.type = TORCOLL_FRAME_COMM;
		h.length = build_comm(payload, base);
	}
	tor_wire_build(frame, &h, base == ACK ? acks : NULL);
	/* more than what may be said to be there is */
	if (base == ACK)
		return sizeof(frame);
	return tor_wire_header_bytes(&h) + h.length + (base == DATA ? 64 : 0);
}

static void set(const struct row *row, u64 value)
{
	__be64 wire = cpu_to_be64(value << (64 - 8 * row->size));

	memcpy(frame + row->at, &wire, row->size);
}

/* As whoever says such a thing would. */
static void sign(void)
{
	struct torcoll_hdr raw;

	memcpy(&raw, frame, sizeof(raw));
	raw.header_crc = cpu_to_be32(tor_wire_header_crc(&raw, frame + sizeof(raw),
							 raw.acks * sizeof(struct torcoll_ack)));
	memcpy(frame, &raw, sizeof(raw));
}

static bool accepts_hello(u32 len)
{
	struct tor_record record;
	struct tor_hello hello;
	u32 i;

	if (tor_wire_get_hello(frame + PAYLOAD_AT, len, &hello))
		return false;
	for (i = 0; i < hello.records; i++)
		if (!tor_wire_record(&hello, i, NODES, &record))
			return false;
	return true;
}

static bool accepts_payload(enum base base, const struct tor_hdr *h)
{
	struct tor_comm_msg msg;
	struct tor_abort abort;

	switch (base) {
	case DATA:
		return tor_wire_fits(h, UNIT);
	case HELLO:
		return accepts_hello(h->length);
	case ABORT:
		return !tor_wire_get_abort(frame + PAYLOAD_AT, h->length, &abort) &&
		       !abort.call[0].collective == !abort.call[1].collective;
	default:
		return base < JOIN || !tor_wire_get_comm(frame + PAYLOAD_AT, h->length, &msg);
	}
}

static bool accepts_packet(u32 len)
{
	struct tor_packet packet;
	enum tor_counter why;
	struct tor_intact in;

	if (!tor_wire_check(frame, len, len, &in, &why) && !tor_wire_packet(&in, &packet, &why))
		return true;
	assert_true(why < TOR_C_COUNT);
	return false;
}

static bool accepts(enum base base, u32 len)
{
	enum tor_counter why;
	struct tor_ack ack;
	struct tor_hdr h;
	u32 i;

	if (base == FORWARDED)
		return tor_wire_hop(frame);
	if (base == PACKET || base == PACKET_TO_ALL)
		return accepts_packet(len);
	if (tor_wire_parse(frame, len, len, &h, &why)) {
		assert_true(why < TOR_C_COUNT);
		return false;
	}
	for (i = 0; i < h.acks; i++)
		if (!tor_wire_ack(frame, i, &ack, &why))
			return false;
	return accepts_payload(base, &h);
}

static bool accepts_value(const struct row *row, u64 value)
{
	u32 len = build(row->base);

	set(row, value);
	if (row->base != AS_IS)
		sign();
	return accepts(row->base, len);
}

static void accept__all_that_is_right(void **state)
{
	enum base base;

	(void)state;
	for (base = DATA; base <= PACKET_TO_ALL; base++)
		assert_true(accepts(base, build(base)));
}

static void accept__edges_of_every_field(void **state)
{
	u32 i, k, wrong = 0;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		for (k = 0; k < row->ngood + row->nbad; k++) {
			bool good = k < row->ngood;
			u64 value = good ? row->good[k] : row->bad[k - row->ngood];

			if (accepts_value(row, value) == good)
				continue;
			print_message("%s is %llu: %s, but accepted is \"%s\"\n", row->field,
				      (unsigned long long)value, good ? "refused" : "accepted",
				      row->text);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* What is shown to eyes has nothing in it that would move a cursor. */
static void tor_wire_get_hello__text_is_printable(void **state)
{
	struct tor_hello hello;
	u32 c, len = build(HELLO);

	(void)state;
	for (c = 0; c < 256; c++) {
		frame[PAYLOAD_AT] = c;
		assert_int_equal(tor_wire_get_hello(frame + PAYLOAD_AT, len - PAYLOAD_AT, &hello), 0);
		if (!c)
			assert_string_equal(hello.version, "");
		else
			assert_int_equal(hello.version[0], c >= 0x20 && c < 0x7f ? c : '?');
		assert_string_equal(hello.version + 1, c ? ".2.3" : "");
	}
	/* and ends, though the text does not */
	memset(frame + PAYLOAD_AT, 0x1b, TORCOLL_HELLO_VERSION);
	assert_int_equal(tor_wire_get_hello(frame + PAYLOAD_AT, len - PAYLOAD_AT, &hello), 0);
	assert_string_equal(hello.version, "????????????????");
}

static void tor_wire_get_hello__name_is_printable(void **state)
{
	u32 c, len = build(HELLO) - PAYLOAD_AT;
	u8 *name = frame + PAYLOAD_AT + len - sizeof(struct torcoll_hello_more);
	struct tor_hello hello;

	(void)state;
	for (c = 0; c < 256; c++) {
		name[1] = c;
		assert_int_equal(tor_wire_get_hello(frame + PAYLOAD_AT, len, &hello), 0);
		if (!c)
			assert_string_equal(hello.name, "a");
		else
			assert_int_equal(hello.name[1], c >= 0x20 && c < 0x7f ? c : '?');
		assert_string_equal(hello.name + 2, c ? "b" : "");
	}
	memset(name, 0x1b, TORCOLL_HOST_NAME);
	assert_int_equal(tor_wire_get_hello(frame + PAYLOAD_AT, len, &hello), 0);
	assert_int_equal(strlen(hello.name), TORCOLL_HOST_NAME);
	assert_int_equal(strspn(hello.name, "?"), TORCOLL_HOST_NAME);
}

/* What is kept of an own frame in place of its header says which transfer it was. */
static void tor_wire_noted__names_the_transfer(void **state)
{
	u32 len = build(DATA);
	struct tor_wire_note note;
	struct tor_hdr h, noted;
	enum tor_counter why;

	(void)state;
	assert_int_equal(tor_wire_parse(frame, len, len, &h, &why), 0);
	note = tor_wire_note(frame);
	noted = tor_wire_noted(&note);
	assert_int_equal(noted.dst, h.dst);
	assert_int_equal(noted.comm, h.comm);
	assert_int_equal(noted.op, h.op);
	assert_int_equal(noted.where.channel, h.where.channel);
	assert_int_equal(noted.where.round, h.where.round);
	assert_int_equal(noted.offset, h.offset);
	assert_int_not_equal(noted.comm, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accept__all_that_is_right),
		cmocka_unit_test(accept__edges_of_every_field),
		cmocka_unit_test(tor_wire_get_hello__text_is_printable),
		cmocka_unit_test(tor_wire_get_hello__name_is_printable),
		cmocka_unit_test(tor_wire_noted__names_the_transfer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
