// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames: every field, every reason to drop, every length, every bit. */
#include "host_env.h"

#include "core/host_hash.h"

#define FABRIC	0x01020304
#define PAYLOAD	256

static u8 frame[TOR_WIRE_HEADER_MAX + PAYLOAD];

static const struct tor_hdr header = {
	.version = TORCOLL_WIRE_VERSION,
	.type = TORCOLL_FRAME_DATA,
	.hop_limit = 17,
	.acks = 2,
	.fabric = FABRIC,
	.src = 0x11121314,
	.dst = 0x21222324,
	.src_epoch = 0x31323334,
	.dst_epoch = 0x41424344,
	.comm = 0x51525354,
	.op = 0x61626364,
	.digest = 0x71727374,
	.where = { .channel = 0x81, .round = 0x9192 },
	.flags = TORCOLL_FLAG_ACK | TORCOLL_FLAG_RETRANSMIT,
	.offset = 0xa1a2a3a4a5a6a7a8,
	.length = PAYLOAD,
	.stamp = 0xc1c2c3c4,
	.payload_crc = 0xd1d2d3d4,
};

static const struct tor_ack acks[2] = {
	{
		.comm = 0x01112131,
		.op = 0x41516171,
		.where = { .channel = 0x81, .round = 0x92a2 },
		.state = TORCOLL_ACK_NOT_READY,
		.base = 0xb3c3d3e3,
		.mask = 0x0414243444546474,
		.stamp = 0x8595a5b5,
	},
	{ .comm = 1, .op = 2, .where = { .channel = 3, .round = 4 }, .base = 5, .mask = 6, .stamp = 7 },
};

static u32 build(const struct tor_hdr *h)
{
	struct tor_ack many[TORCOLL_WIRE_ACKS_MAX] = { acks[0], acks[1] };

	memset(frame, 0x5a, sizeof(frame));
	tor_wire_build(frame, h, many);
	return tor_wire_header_bytes(h) + h->length;
}

static void expect_drop(u32 len, u32 frame_len, enum tor_counter expected)
{
	enum tor_counter why = TOR_C_COUNT;
	struct tor_hdr h;
	u8 *p = malloc(len + 1);	/* ASan watches its end */

	memcpy(p + 1, frame, len);
	assert_int_equal(tor_wire_parse(p + 1, len, frame_len, &h, &why), -EBADMSG);
	assert_string_equal(tor_counter_name(why), tor_counter_name(expected));
	free(p);
}

static void assert_hdr_equal(const struct tor_hdr *a, const struct tor_hdr *b)
{
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->hop_limit, b->hop_limit);
	assert_int_equal(a->acks, b->acks);
	assert_int_equal(a->fabric, b->fabric);
	assert_int_equal(a->src, b->src);
	assert_int_equal(a->dst, b->dst);
	assert_int_equal(a->src_epoch, b->src_epoch);
	assert_int_equal(a->dst_epoch, b->dst_epoch);
	assert_int_equal(a->comm, b->comm);
	assert_int_equal(a->op, b->op);
	assert_int_equal(a->digest, b->digest);
	assert_memory_equal(&a->where, &b->where, sizeof(a->where));
	assert_int_equal(a->flags, b->flags);
	assert_true(a->offset == b->offset);
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->stamp, b->stamp);
	assert_int_equal(a->payload_crc, b->payload_crc);
}

static void assert_ack_equal(const struct tor_ack *a, const struct tor_ack *b)
{
	assert_int_equal(a->comm, b->comm);
	assert_int_equal(a->op, b->op);
	assert_memory_equal(&a->where, &b->where, sizeof(a->where));
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->base, b->base);
	assert_true(a->mask == b->mask);
	assert_int_equal(a->stamp, b->stamp);
}

static void tor_wire_parse__reads_what_was_built(void **state)
{
	u32 len = build(&header);
	enum tor_counter why;
	struct tor_hdr h;
	struct tor_ack a;
	u32 i;

	(void)state;
	assert_int_equal(tor_wire_parse(frame, len, len, &h, &why), 0);
	assert_hdr_equal(&h, &header);
	for (i = 0; i < 2; i++) {
		assert_true(tor_wire_ack(frame, i, &a, &why));
		assert_ack_equal(&a, &acks[i]);
	}
}

/* Messages have reserved channels on the wire, and their pair in the field of the round. */
static void tor_wire_build__messages(void **state)
{
	static const u8 channel[] = { [TOR_ROLE_SEND] = 0xfe, [TOR_ROLE_RECV] = 0xff };
	struct tor_ack ack = { .comm = 1, .state = TORCOLL_ACK_OK }, read;
	struct tor_hdr h = header, got;
	enum tor_counter why;
	u32 len;
	u8 role;

	(void)state;
	h.acks = 1;
	len = tor_wire_header_bytes(&h) + PAYLOAD;
	for (role = TOR_ROLE_SEND; role <= TOR_ROLE_RECV; role++) {
		ack.where = (struct tor_where){ .role = role, .pair = 0x1234 };
		h.where = (struct tor_where){ .role = TOR_ROLE_SEND, .pair = 0x4321 };
		tor_wire_build(frame, &h, &ack);
		assert_int_equal(frame[36], 0xfe);
		assert_int_equal(frame[sizeof(struct torcoll_hdr) + 8], channel[role]);
		assert_int_equal(tor_wire_parse(frame, len, len, &got, &why), 0);
		assert_memory_equal(&got.where, &h.where, sizeof(h.where));
		assert_true(tor_wire_ack(frame, 0, &read, &why));
		assert_memory_equal(&read.where, &ack.where, sizeof(ack.where));
	}
	/* the receiver of a message sends no data */
	h.where.role = TOR_ROLE_RECV;
	tor_wire_build(frame, &h, &ack);
	expect_drop(len, len, TOR_C_DROP_RANGE);
}

/* The bytes of a frame are a contract: written down once, by hand. */
static void tor_wire_build__is_big_endian(void **state)
{
	static const u8 golden[60] = {
		2, 2, 17, 2, 0x01, 0x02, 0x03, 0x04,
		0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
		0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44,
		0x51, 0x52, 0x53, 0x54, 0x61, 0x62, 0x63, 0x64,
		0x71, 0x72, 0x73, 0x74, 0x81, 0x03, 0x91, 0x92,
		0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
		0x00, 0x00, 0x01, 0x00, 0xc1, 0xc2, 0xc3, 0xc4,
		0xd1, 0xd2, 0xd3, 0xd4,
	};
	static const u8 golden_ack[32] = {
		0x01, 0x11, 0x21, 0x31, 0x41, 0x51, 0x61, 0x71,
		0x81, 0x01, 0x92, 0xa2, 0xb3, 0xc3, 0xd3, 0xe3,
		0x04, 0x14, 0x24, 0x34, 0x44, 0x54, 0x64, 0x74,
		0x85, 0x95, 0xa5, 0xb5, 0, 0, 0, 0,
	};

	(void)state;
	build(&header);
	assert_memory_equal(frame, golden, sizeof(golden));
	assert_memory_equal(frame + 64, golden_ack, sizeof(golden_ack));
	/* nothing behind the acks is written */
	assert_int_equal(frame[tor_wire_header_bytes(&header)], 0x5a);
}

static void tor_wire_parse__any_alignment(void **state)
{
	u8 at[sizeof(frame) + 8];
	enum tor_counter why;
	struct tor_hdr h;
	u32 i, len;

	(void)state;
	len = build(&header);
	for (i = 0; i < 8; i++) {
		memcpy(at + i, frame, len);
		assert_int_equal(tor_wire_parse(at + i, len, len, &h, &why), 0);
		assert_hdr_equal(&h, &header);
	}
}

/* Only the header is linear, and Ethernet pads what is shorter than 60 bytes. */
static void tor_wire_parse__header_alone_and_padding(void **state)
{
	struct tor_hdr h = header, got;
	enum tor_counter why;
	u32 len = build(&h);

	(void)state;
	assert_int_equal(tor_wire_parse(frame, tor_wire_header_bytes(&h), len, &got, &why), 0);
	assert_int_equal(tor_wire_parse(frame, tor_wire_header_bytes(&h), len + 46, &got, &why),
			 0);
	h.type = TORCOLL_FRAME_ACK;
	h.length = 0;
	len = build(&h);
	assert_int_equal(tor_wire_parse(frame, len, len, &got, &why), 0);
}

static void tor_wire_parse__every_truncation(void **state)
{
	struct tor_hdr h = header;
	u32 n, len, full;

	(void)state;
	for (h.acks = 0; h.acks <= TORCOLL_WIRE_ACKS_MAX; h.acks++) {
		full = build(&h);
		for (len = 0; len < tor_wire_header_bytes(&h); len++)
			expect_drop(len, full, TOR_C_DROP_SHORT);
		for (n = tor_wire_header_bytes(&h); n < full; n++)
			expect_drop(tor_wire_header_bytes(&h), n, TOR_C_DROP_SHORT);
	}
}

static void tor_wire_parse__version(void **state)
{
	struct tor_hdr h = header;
	u32 v;

	(void)state;
	for (v = 0; v < 256; v++) {
		if (v == TORCOLL_WIRE_VERSION)
			continue;
		h.version = v;
		expect_drop(sizeof(frame), build(&h), TOR_C_DROP_VERSION);
	}
}

static void tor_wire_parse__type(void **state)
{
	struct tor_hdr h = header, got;
	enum tor_counter why;
	u32 t, len;

	(void)state;
	for (t = 0; t < 256; t++) {
		h.type = t;
		len = build(&h);
		if (t >= TORCOLL_FRAME_HELLO && t <= TORCOLL_FRAME_PACKET)
			assert_int_equal(tor_wire_parse(frame, len, len, &got, &why), 0);
		else
			expect_drop(len, len, TOR_C_DROP_TYPE);
	}
}

static void tor_wire_parse__too_many_acks(void **state)
{
	u8 big[64 + 255 * 32] = { 0 };
	struct tor_hdr h = header;
	enum tor_counter why;
	u32 n;

	(void)state;
	build(&h);
	for (n = TORCOLL_WIRE_ACKS_MAX + 1; n < 256; n++) {
		memcpy(big, frame, sizeof(frame));
		big[3] = n;
		assert_int_equal(tor_wire_parse(big, sizeof(big), sizeof(big), &h, &why),
				 -EBADMSG);
		assert_int_equal(why, TOR_C_DROP_HEADER_CRC);
	}
}

static void tor_wire_parse__absurd_length(void **state)
{
	static const u32 lengths[] = { PAYLOAD + 1, 0x7fffffff, 0x80000000, 0xffffffff,
				       0xffffffff - 127 };
	struct tor_hdr h = header;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		h.length = lengths[i];
		build(&h);
		expect_drop(tor_wire_header_bytes(&h), tor_wire_header_bytes(&h) + PAYLOAD,
			    TOR_C_DROP_SHORT);
	}
}

/* All but the hop limit, which forwarders change, is covered. */
static void tor_wire_parse__every_flipped_bit(void **state)
{
	enum tor_counter why;
	struct tor_hdr h;
	u32 len, bit;

	(void)state;
	len = build(&header);
	for (bit = 0; bit < tor_wire_header_bytes(&header) * 8; bit++) {
		frame[bit / 8] ^= 1 << bit % 8;
		if (bit / 8 == 0)
			expect_drop(len, len, TOR_C_DROP_VERSION);
		else if (bit / 8 == 2)
			assert_int_equal(tor_wire_parse(frame, len, len, &h, &why), 0);
		else if (bit / 8 == 3 && frame[3] <= TORCOLL_WIRE_ACKS_MAX)
			/* another number of acks: not the right bytes, or not there */
			assert_int_equal(tor_wire_parse(frame, len, len, &h, &why), -EBADMSG);
		else
			expect_drop(len, len, TOR_C_DROP_HEADER_CRC);
		frame[bit / 8] ^= 1 << bit % 8;
	}
	assert_int_equal(tor_wire_parse(frame, len, len, &h, &why), 0);
}

static void tor_wire_parse__random_bytes(void **state)
{
	enum tor_counter why;
	struct tor_hdr h;
	u64 seed = 1;
	u32 i, len;
	u8 *p;

	(void)state;
	for (i = 0; i < 50000; i++) {
		len = host_rand(&seed) % sizeof(frame);
		p = malloc(len);
		host_fill(p, len, &seed);
		if (len && i % 2)
			p[0] = TORCOLL_WIRE_VERSION;
		if (len > 3 && i % 4 > 1)
			p[3] %= TORCOLL_WIRE_ACKS_MAX;
		assert_int_equal(tor_wire_parse(p, len, len + host_rand(&seed) % 64, &h, &why),
				 -EBADMSG);
		assert_non_null(tor_counter_name(why));
		free(p);
	}
}

static void tor_wire_hop__counts_down(void **state)
{
	enum tor_counter why;
	struct tor_hdr h;
	u32 len = build(&header);
	u32 i;

	(void)state;
	for (i = header.hop_limit; i > 1; i--) {
		assert_true(tor_wire_hop(frame));
		assert_int_equal(tor_wire_parse(frame, len, len, &h, &why), 0);
		assert_int_equal(h.hop_limit, i - 1);
	}
	assert_false(tor_wire_hop(frame));
	frame[2] = 0;
	assert_false(tor_wire_hop(frame));
}

static void tor_wire_unit__leaves_room(void **state)
{
	u32 size, unit;

	(void)state;
	assert_int_equal(tor_wire_unit(1500), 1344);
	assert_int_equal(tor_wire_unit(9000), 8832);
	for (size = 0; size < 10000; size++) {
		unit = tor_wire_unit(size);
		if (size < 128 + 256) {
			assert_int_equal(unit, 0);
			continue;
		}
		assert_true(unit >= 256 && unit % 64 == 0);
		assert_true(unit + 128 <= size && size < unit + 128 + 64);
	}
}

static void tor_wire_crc__known_and_in_pieces(void **state)
{
	static const char check[] = "123456789";
	struct tor_bytes parts[] = { { check, 4 }, { check + 4, 0 }, { check + 4, 5 } };

	(void)state;
	assert_int_equal(tor_wire_crc(check, 9), 0xe3069283);
	assert_int_equal(tor_wire_crc_bytes(parts, 3), 0xe3069283);
	assert_int_equal(tor_wire_crc(check, 0), 0);
	assert_int_equal(~host_crc32c_table(~0U, check, 9), 0xe3069283);
}

/* The reference vectors of the SipHash paper: key and message 00 01 02 ... */
static void host_siphash__known(void **state)
{
	u8 in[15];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(in); i++)
		in[i] = i;
	assert_true(host_siphash(in, 15, 0x0706050403020100, 0x0f0e0d0c0b0a0908) ==
		    0xa129ca6149be45e5);
	assert_true(host_siphash(in, 0, 0x0706050403020100, 0x0f0e0d0c0b0a0908) ==
		    0x726fdb47dd0e0e31);
}

static void tor_wire_get_hello__reads_what_was_put(void **state)
{
	struct tor_hello h = {
		.version = "1.2.3-long-enough", .dim = 1, .dir = 1, .ndim = 3, .hears = 1,
		.side = { 4, 5, 6 }, .frame_size = 9000, .fabric_frame = 1500,
		.heard_node = 7, .heard_epoch = 0xdeadbeef, .interval_ms = 200, .view = 12,
		.more = true, .name = "a host's name of exactly 64 bytes, which nothing but its end end",
		.rates = 0x12345678, .sent = 0x9abcdef0, .cables = 2,
	};
	struct tor_record record[TORCOLL_HELLO_RECORDS_MAX], r;
	u8 buf[TOR_WIRE_HELLO_MAX];
	struct tor_hello got;
	u32 i, n, len, fixed;

	(void)state;
	memset(record, 0, sizeof(record));
	assert_int_equal(strlen(h.name), TORCOLL_HOST_NAME);
	for (n = 0; n <= TORCOLL_HELLO_RECORDS_MAX; n++) {
		h.records = n;
		for (i = 0; i < n; i++)
			record[i] = (struct tor_record){ i * 0x01010101, i * 0x01020304, i * 3,
							 i * 0x0102, i * 0x0304 };
		memset(buf, 0, sizeof(buf));
		memset(&got, 0, sizeof(got));
		tor_wire_put_hello(buf, &h, record);
		len = tor_wire_hello_bytes(&h);
		assert_int_equal(tor_wire_get_hello(buf, len, &got), 0);
		/* cut to the field, and terminated */
		assert_string_equal(got.version, "1.2.3-long-enoug");
		memcpy(got.version, h.version, sizeof(h.version));
		for (i = 0; i < n; i++) {
			tor_wire_record(&got, i, ~0U, &r);
			assert_memory_equal(&r, &record[i], sizeof(r));
		}
		got.record = NULL;
		assert_memory_equal(&got, &h, sizeof(h));
		fixed = len - sizeof(struct torcoll_hello_more);
		for (i = 0; i < fixed; i++)
			assert_int_equal(tor_wire_get_hello(buf, i, &got), -EBADMSG);
		/* from a module that does not send more, or not all of it */
		for (; i < len; i++) {
			assert_int_equal(tor_wire_get_hello(buf, i, &got), 0);
			assert_false(got.more);
			assert_string_equal(got.name, "");
			assert_int_equal(got.rates, 0);
			assert_int_equal(got.sent, 0);
		}
	}
}

/* What a module of 0.9 sends is as long as it was, and so it is read. */
static void tor_wire_put_hello__without_more(void **state)
{
	const struct tor_hello h = { .ndim = 1, .side = { 4 }, .name = "not sent" };
	u8 buf[TOR_WIRE_HELLO_MAX] = { 0 };
	struct tor_hello got;

	(void)state;
	tor_wire_put_hello(buf, &h, NULL);
	assert_int_equal(tor_wire_hello_bytes(&h), 72);
	assert_int_equal(buf[72], 0);
	assert_int_equal(tor_wire_get_hello(buf, 72, &got), 0);
	assert_false(got.more);
}

static void tor_wire_record__refuses_nonsense(void **state)
{
	static const struct { struct tor_record record; bool good; } cases[] = {
		{ { 1, 2, 3, 0, 0 }, true },
		{ { 1, ~0U, ~0U, 0xf, U16_MAX }, true },
		{ { 1, 2, 3, 0, TOR_WIRE_FRAME_MIN }, true },
		{ { 1, 2, 3, 0, TOR_WIRE_FRAME_MIN - 1 }, false },
		{ { 1, 2, 3, 0, 1 }, false },
		{ { 1, 2, 3, 0x10, 0 }, false },
		{ { 1, 2, 3, 0x8000, 0 }, false },
		{ { 1, 0, 3, 0, 0 }, false },
		{ { 1, 2, 0, 0, 0 }, false },
	};
	struct tor_hello h = { .ndim = 2, .side = { 2, 2 }, .records = 1 }, got;
	struct tor_record r;
	u8 buf[128];
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		tor_wire_put_hello(buf, &h, &cases[i].record);
		assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), 0);
		assert_int_equal(tor_wire_record(&got, 0, 4, &r), cases[i].good);
	}
	/* and the size of its own frames */
	for (i = 1; i < 1000; i++) {
		h.frame_size = i;
		tor_wire_put_hello(buf, &h, &cases[0].record);
		assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got),
				 i < TOR_WIRE_FRAME_MIN ? -EBADMSG : 0);
	}
}

static void tor_wire_get_hello__refuses_nonsense(void **state)
{
	struct tor_hello h = { .ndim = 2, .dim = 1, .side = { 2, 2 } }, got;
	u8 buf[512] = { 0 };

	(void)state;
	tor_wire_put_hello(buf, &h, NULL);
	assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), 0);
	buf[71] = TORCOLL_HELLO_RECORDS_MAX + 1;
	assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), -EBADMSG);
	buf[68] = 0x40;		/* times 16 overflows */
	assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), -EBADMSG);
	h.dim = 2;
	tor_wire_put_hello(buf, &h, NULL);
	assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), -EBADMSG);
	h.ndim = 7;
	tor_wire_put_hello(buf, &h, NULL);
	assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), -EBADMSG);
	h = (struct tor_hello){ .ndim = 1, .side = { 2 }, .dir = 2 };
	tor_wire_put_hello(buf, &h, NULL);
	assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), -EBADMSG);
	h = (struct tor_hello){ .ndim = 1, .side = { 2 }, .hears = 2 };
	tor_wire_put_hello(buf, &h, NULL);
	assert_int_equal(tor_wire_get_hello(buf, sizeof(buf), &got), -EBADMSG);
}

static void tor_wire_get_abort__reads_what_was_put(void **state)
{
	struct tor_abort a = { .error = EPROTO, .rank = 3, .node = 4, .op = 5,
			       .digest = { 6, 7 },
			       .call = { { .count = 1ULL << 40, .rank = 3, .collective = 1 } } }, got;
	u8 buf[sizeof(struct torcoll_abort)];
	u32 i;

	(void)state;
	tor_wire_put_abort(buf, &a);
	assert_int_equal(tor_wire_get_abort(buf, sizeof(buf), &got), 0);
	/* there is padding behind the last member */
	assert_memory_equal(&got, &a, offsetof(struct tor_abort, refusal));
	assert_int_equal(got.refusal, 0);
	for (i = 0; i < sizeof(buf); i++)
		assert_int_equal(tor_wire_get_abort(buf, i, &got), -EBADMSG);
	a.error = 0;
	tor_wire_put_abort(buf, &a);
	assert_int_equal(tor_wire_get_abort(buf, sizeof(buf), &got), -EBADMSG);
	a.error = 4096;
	tor_wire_put_abort(buf, &a);
	assert_int_equal(tor_wire_get_abort(buf, sizeof(buf), &got), -EBADMSG);
}

/* A refusal comes with its call, but only one that a node may report, and only with ECONNABORTED. */
static void tor_wire_get_abort__refusals(void **state)
{
	struct tor_abort a = { .error = ECONNABORTED, .rank = 3, .refusal = EFAULT,
			       .call = { { .count = 77, .rank = 3, .collective = 1, .type = 3 },
					 { .count = 5, .rank = 1, .collective = 2, .type = 3 } } }, got;
	u8 buf[sizeof(struct torcoll_abort)];

	(void)state;
	tor_wire_put_abort(buf, &a);
	assert_int_equal(tor_wire_get_abort(buf, sizeof(buf), &got), 0);
	assert_int_equal(got.refusal, EFAULT);
	assert_int_equal(got.digest[0], 0);
	assert_int_equal(got.call[0].count, 77);
	assert_int_equal(got.call[1].collective, 0);
	a.refusal = EINTR;
	tor_wire_put_abort(buf, &a);
	assert_int_equal(tor_wire_get_abort(buf, sizeof(buf), &got), 0);
	assert_int_equal(got.refusal, 0);
	assert_int_equal(got.call[0].collective, 0);
	a = (struct tor_abort){ .error = EPROTO, .digest = { EFAULT } };
	tor_wire_put_abort(buf, &a);
	assert_int_equal(tor_wire_get_abort(buf, sizeof(buf), &got), 0);
	assert_int_equal(got.refusal, 0);
	assert_int_equal(got.digest[0], EFAULT);
}

static void tor_wire_get_comm__reads_what_was_put(void **state)
{
	struct tor_comm_msg m = {
		.step = TORCOLL_COMM_REFUSE, .error = EACCES, .name = 0x1122334455667788,
		.proof = 0x2233445566778899, .members = 0x33445566778899aa, .nonce = 1, .rank = 2,
		.ranks = 4, .missing = 5, .tag = 6, .generation = 7, .frame_bytes = 8,
		.epochs = 3, .has_terms = true,
		.terms = {
			.flags = TORCOLL_FLAG_UNSUMMED, .cause = TORCOLL_CAUSE_CHECKSUM, .refusal = 10,
			.rank = 11, .node = 12, .rate = { 1, 2, 3, 4, 5, 0x5566778899aabbcc },
			.name = "node12",
		},
	};
	const u32 epochs[3] = { 0x01020304, ~0U, 9 };
	u32 i, fixed = tor_wire_epochs_bytes(3), len = tor_wire_comm_bytes(&m);
	struct tor_comm_msg got;
	u8 buf[256];

	(void)state;
	tor_wire_put_comm(buf, &m, epochs);
	assert_int_equal(tor_wire_get_comm(buf, len, &got), 0);
	assert_int_equal(got.step, m.step);
	assert_int_equal(got.error, m.error);
	assert_true(got.name == m.name);
	assert_true(got.proof == m.proof);
	assert_true(got.members == m.members);
	assert_int_equal(got.nonce, 1);
	assert_int_equal(got.rank, 2);
	assert_int_equal(got.ranks, 4);
	assert_int_equal(got.missing, 5);
	assert_int_equal(got.tag, 6);
	assert_int_equal(got.generation, 7);
	assert_int_equal(got.frame_bytes, 8);
	assert_int_equal(got.epochs, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(tor_wire_epoch(&got, i), epochs[i]);
	assert_true(got.has_terms);
	/* not at once: compilers leave padding as it is, or not */
	assert_int_equal(got.terms.flags, m.terms.flags);
	assert_int_equal(got.terms.cause, m.terms.cause);
	assert_int_equal(got.terms.refusal, m.terms.refusal);
	assert_int_equal(got.terms.rank, m.terms.rank);
	assert_int_equal(got.terms.node, m.terms.node);
	assert_memory_equal(got.terms.rate, m.terms.rate, sizeof(m.terms.rate));
	assert_string_equal(got.terms.name, m.terms.name);
	for (i = 0; i < fixed; i++)
		assert_int_equal(tor_wire_get_comm(buf, i, &got), -EBADMSG);
	for (; i < len; i++) {
		assert_int_equal(tor_wire_get_comm(buf, i, &got), 0);
		assert_false(got.has_terms);
		assert_string_equal(got.terms.name, "");
	}
	/* a cause of a later version, and a name that would move a cursor */
	buf[fixed + 1] = TORCOLL_CAUSE_END;
	buf[fixed + 64] = 0x1b;
	assert_int_equal(tor_wire_get_comm(buf, len, &got), 0);
	assert_int_equal(got.terms.cause, TORCOLL_CAUSE_UNKNOWN);
	assert_string_equal(got.terms.name, "?ode12");
}

static void tor_wire_get_comm__refuses_nonsense(void **state)
{
	struct tor_comm_msg m = {
		.step = TORCOLL_COMM_JOIN, .rank = 1, .ranks = 2, .frame_bytes = TOR_WIRE_UNIT_MIN,
	}, got;
	u8 buf[128] = { 0 };

	(void)state;
	tor_wire_put_comm(buf, &m, NULL);
	assert_int_equal(tor_wire_get_comm(buf, 64, &got), 0);
	buf[60] = 0x40;		/* times 16 overflows */
	assert_int_equal(tor_wire_get_comm(buf, 64, &got), -EBADMSG);
	m.step = 0;
	tor_wire_put_comm(buf, &m, NULL);
	assert_int_equal(tor_wire_get_comm(buf, 64, &got), -EBADMSG);
	m.step = TORCOLL_COMM_STEP_END;
	tor_wire_put_comm(buf, &m, NULL);
	assert_int_equal(tor_wire_get_comm(buf, 64, &got), -EBADMSG);
	m = (struct tor_comm_msg){ .step = TORCOLL_COMM_REFUSE, .rank = 1, .ranks = 2, .error = 4096 };
	tor_wire_put_comm(buf, &m, NULL);
	assert_int_equal(tor_wire_get_comm(buf, 64, &got), -EBADMSG);
}

static void tor_counter_name__all_and_none(void **state)
{
	u32 i, k;

	(void)state;
	for (i = 0; i < TOR_C_COUNT; i++) {
		assert_non_null(tor_counter_name(i));
		for (k = 0; k < i; k++)
			assert_string_not_equal(tor_counter_name(i), tor_counter_name(k));
	}
	assert_null(tor_counter_name(TOR_C_COUNT));
	assert_null(tor_counter_name(-1));
	assert_string_equal(tor_counter_name(TOR_C_DROP_HEADER_CRC), "drop_header_crc");
}

/* Of a transfer's frames about half go each way, whatever their size, and never many in a row go one way. */
static void tor_wire_tie__half_each_way(void **state)
{
	static const u32 units[] = { 64, 128, 1408, 1472, 4032, 8832, 8896, 9216, 16384, 32768, 65472 };
	u32 i, k, ones, run, way, last;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		ones = 0;
		run = 0;
		last = 2;
		for (k = 0; k < 256; k++) {
			way = tor_wire_tie((u64)k * units[i], 0);
			assert_true(way <= 1);
			assert_int_equal(tor_wire_tie((u64)k * units[i], 1), !way);
			ones += way;
			run = way == last ? run + 1 : 1;
			last = way;
			assert_true(run <= 16);
		}
		assert_in_range(ones, 128 - 40, 128 + 40);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_wire_parse__reads_what_was_built),
		cmocka_unit_test(tor_wire_build__messages),
		cmocka_unit_test(tor_wire_build__is_big_endian),
		cmocka_unit_test(tor_wire_parse__any_alignment),
		cmocka_unit_test(tor_wire_parse__header_alone_and_padding),
		cmocka_unit_test(tor_wire_parse__every_truncation),
		cmocka_unit_test(tor_wire_parse__version),
		cmocka_unit_test(tor_wire_parse__type),
		cmocka_unit_test(tor_wire_parse__too_many_acks),
		cmocka_unit_test(tor_wire_parse__absurd_length),
		cmocka_unit_test(tor_wire_parse__every_flipped_bit),
		cmocka_unit_test(tor_wire_parse__random_bytes),
		cmocka_unit_test(tor_wire_hop__counts_down),
		cmocka_unit_test(tor_wire_unit__leaves_room),
		cmocka_unit_test(tor_wire_crc__known_and_in_pieces),
		cmocka_unit_test(host_siphash__known),
		cmocka_unit_test(tor_wire_get_hello__reads_what_was_put),
		cmocka_unit_test(tor_wire_put_hello__without_more),
		cmocka_unit_test(tor_wire_get_hello__refuses_nonsense),
		cmocka_unit_test(tor_wire_record__refuses_nonsense),
		cmocka_unit_test(tor_wire_get_abort__reads_what_was_put),
		cmocka_unit_test(tor_wire_get_abort__refusals),
		cmocka_unit_test(tor_wire_tie__half_each_way),
		cmocka_unit_test(tor_wire_get_comm__reads_what_was_put),
		cmocka_unit_test(tor_wire_get_comm__refuses_nonsense),
		cmocka_unit_test(tor_counter_name__all_and_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
