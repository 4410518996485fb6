// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames of surveys: checks, reading, writing. See frame.h. */
#include "core/survey/frame.h"

#define WIRE_SIZE(type, size) \
	static_assert(sizeof(struct type) == (size))
#define WIRE_AT(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset))

WIRE_SIZE(torcoll_survey, 40);
WIRE_AT(torcoll_survey, version, 0);
WIRE_AT(torcoll_survey, type, 1);
WIRE_AT(torcoll_survey, hop_limit, 2);
WIRE_AT(torcoll_survey, flags, 3);
WIRE_AT(torcoll_survey, crc, 4);
WIRE_AT(torcoll_survey, survey, 8);
WIRE_AT(torcoll_survey, round, 16);
WIRE_AT(torcoll_survey, length, 20);
WIRE_AT(torcoll_survey, host, 24);
WIRE_AT(torcoll_survey, stamp, 32);

WIRE_SIZE(torcoll_survey_train, 8);
WIRE_AT(torcoll_survey_train, train, 0);
WIRE_AT(torcoll_survey_train, frames, 4);

WIRE_SIZE(torcoll_survey_record, 4);
WIRE_AT(torcoll_survey_record, kind, 0);
WIRE_AT(torcoll_survey_record, length, 2);

WIRE_SIZE(torcoll_survey_end, 40);
WIRE_AT(torcoll_survey_end, host, 0);
WIRE_AT(torcoll_survey_end, mac, 8);
WIRE_AT(torcoll_survey_end, __reserved, 14);
WIRE_AT(torcoll_survey_end, device, 16);
WIRE_AT(torcoll_survey_end, mtu, 32);
WIRE_AT(torcoll_survey_end, fabric, 36);

WIRE_SIZE(torcoll_survey_host, 96);
WIRE_AT(torcoll_survey_host, host, 0);
WIRE_AT(torcoll_survey_host, name, 8);
WIRE_AT(torcoll_survey_host, version, 72);
WIRE_AT(torcoll_survey_host, round, 88);
WIRE_AT(torcoll_survey_host, part, 92);
WIRE_AT(torcoll_survey_host, parts, 94);

WIRE_SIZE(torcoll_survey_node, 88);
WIRE_AT(torcoll_survey_node, key, 0);
WIRE_AT(torcoll_survey_node, tag, 8);
WIRE_AT(torcoll_survey_node, node, 12);
WIRE_AT(torcoll_survey_node, epoch, 16);
WIRE_AT(torcoll_survey_node, side, 20);
WIRE_AT(torcoll_survey_node, cables, 44);
WIRE_AT(torcoll_survey_node, hello_ms, 48);
WIRE_AT(torcoll_survey_node, rates, 52);
WIRE_AT(torcoll_survey_node, comms, 56);
WIRE_AT(torcoll_survey_node, ops, 60);
WIRE_AT(torcoll_survey_node, reached, 64);
WIRE_AT(torcoll_survey_node, dead_links, 68);
WIRE_AT(torcoll_survey_node, view, 72);
WIRE_AT(torcoll_survey_node, ethertype, 76);
WIRE_AT(torcoll_survey_node, checksum, 78);
WIRE_AT(torcoll_survey_node, byte_order, 79);
WIRE_AT(torcoll_survey_node, retransmits, 80);

WIRE_SIZE(torcoll_survey_port, 200);
WIRE_AT(torcoll_survey_port, own, 0);
WIRE_AT(torcoll_survey_port, peer, 40);
WIRE_AT(torcoll_survey_port, flags, 80);
WIRE_AT(torcoll_survey_port, state, 82);
WIRE_AT(torcoll_survey_port, dim, 83);
WIRE_AT(torcoll_survey_port, dir, 84);
WIRE_AT(torcoll_survey_port, __reserved, 85);
WIRE_AT(torcoll_survey_port, key, 88);
WIRE_AT(torcoll_survey_port, speed, 96);
WIRE_AT(torcoll_survey_port, expected, 100);
WIRE_AT(torcoll_survey_port, heard, 104);
WIRE_AT(torcoll_survey_port, heard_tag, 108);
WIRE_AT(torcoll_survey_port, since_ms, 112);
WIRE_AT(torcoll_survey_port, downs, 116);
WIRE_AT(torcoll_survey_port, rx_frames, 120);
WIRE_AT(torcoll_survey_port, tx_frames, 128);
WIRE_AT(torcoll_survey_port, lost, 136);
WIRE_AT(torcoll_survey_port, damaged, 144);
WIRE_AT(torcoll_survey_port, resent, 152);
WIRE_AT(torcoll_survey_port, pings, 160);
WIRE_AT(torcoll_survey_port, pongs, 164);
WIRE_AT(torcoll_survey_port, pinged, 168);
WIRE_AT(torcoll_survey_port, rtt_min_ns, 172);
WIRE_AT(torcoll_survey_port, rtt_median_ns, 176);
WIRE_AT(torcoll_survey_port, rate, 180);
WIRE_AT(torcoll_survey_port, train, 184);
WIRE_AT(torcoll_survey_port, trains, 188);
WIRE_AT(torcoll_survey_port, bad, 192);
WIRE_AT(torcoll_survey_port, tested_ms, 196);

WIRE_SIZE(torcoll_survey_rest, 8);
WIRE_AT(torcoll_survey_rest, nodes, 0);
WIRE_AT(torcoll_survey_rest, ports, 4);

/* a host and a port fit into the smallest frame */
static_assert(sizeof(struct torcoll_survey) + 2 * sizeof(struct torcoll_survey_record) +
	      sizeof(struct torcoll_survey_host) + sizeof(struct torcoll_survey_port) <=
	      TOR_SURVEY_FRAME_MIN);

/* The CRC of the header @raw and of the records behind it. */
static u32 survey_crc(const struct torcoll_survey *raw, const void *records, u32 length)
{
	struct torcoll_survey fixed = *raw;
	u32 crc;

	fixed.hop_limit = 0;
	fixed.crc = 0;
	crc = tor_env_crc32c(~0U, &fixed, sizeof(fixed));
	return ~tor_env_crc32c(crc, records, length);
}

u32 tor_survey_next(const void *p, u32 len, struct tor_survey_record *r)
{
	struct torcoll_survey_record raw;
	u32 bytes;

	if (len < sizeof(raw))
		return 0;
	memcpy(&raw, p, sizeof(raw));
	r->kind = be16_to_cpu(raw.kind);
	r->length = be16_to_cpu(raw.length);
	r->body = (const u8 *)p + sizeof(raw);
	bytes = sizeof(raw) + r->length;
	return r->length % 4 || bytes > len ? 0 : bytes;
}

/* Return the bytes that a record of a known kind has at least. */
static u32 survey_least(u16 kind)
{
	switch (kind) {
	case TORCOLL_SURVEY_END:
		return sizeof(struct torcoll_survey_end);
	case TORCOLL_SURVEY_HOST:
		return sizeof(struct torcoll_survey_host);
	case TORCOLL_SURVEY_NODE:
		return sizeof(struct torcoll_survey_node);
	case TORCOLL_SURVEY_PORT:
		return sizeof(struct torcoll_survey_port);
	case TORCOLL_SURVEY_REST:
		return sizeof(struct torcoll_survey_rest);
	default:
		return 0;
	}
}

/* Whether all records are complete, and the first one is of kind @first. */
static bool survey_records_ok(const void *p, u32 len, u16 first)
{
	struct tor_survey_record r;
	u32 at, bytes;

	for (at = 0; at < len; at += bytes) {
		bytes = tor_survey_next((const u8 *)p + at, len - at, &r);
		if (!bytes || r.length < survey_least(r.kind) || (!at && r.kind != first))
			return false;
	}
	return at;
}

bool tor_survey_is_report(const void *p, u32 len, u64 host)
{
	struct torcoll_survey_host first;

	if (!survey_records_ok(p, len, TORCOLL_SURVEY_HOST))
		return false;
	memcpy(&first, (const u8 *)p + sizeof(struct torcoll_survey_record), sizeof(first));
	return be64_to_cpu(first.host) == host && be16_to_cpu(first.part) < be16_to_cpu(first.parts) &&
	       be16_to_cpu(first.parts) <= TOR_SURVEY_PARTS;
}

void tor_survey_get_end(const struct tor_survey_frame *f, struct torcoll_survey_end *end)
{
	memcpy(end, (const u8 *)f->records + sizeof(struct torcoll_survey_record), sizeof(*end));
}

void tor_survey_get_train(const struct tor_survey_frame *f, struct tor_survey_train *train)
{
	struct torcoll_survey_train raw;

	memcpy(&raw, f->records, sizeof(raw));
	train->train = be32_to_cpu(raw.train);
	train->frames = be32_to_cpu(raw.frames);
}

void tor_survey_put_train(void *buf, const struct tor_survey_train *train)
{
	struct torcoll_survey_train raw = {
		.train = cpu_to_be32(train->train),
		.frames = cpu_to_be32(train->frames),
	};

	memcpy(buf, &raw, sizeof(raw));
}

static bool survey_is_ask(const struct tor_survey_frame *f)
{
	struct torcoll_survey_end end;

	if (!survey_records_ok(f->records, f->length, TORCOLL_SURVEY_END))
		return false;
	tor_survey_get_end(f, &end);
	return be64_to_cpu(end.host) == f->host;
}

/* Whether a host sends such a frame. */
static bool survey_is_sane(const struct tor_survey_frame *f)
{
	if (!f->host)
		return false;
	if (f->type == TORCOLL_SURVEY_TRAIN || f->type == TORCOLL_SURVEY_MARK)
		return f->length >= sizeof(struct torcoll_survey_train);
	if (tor_survey_is_test(f->type))
		return true;
	if (!f->hop_limit || f->length > TOR_SURVEY_FRAME_MAX - sizeof(struct torcoll_survey))
		return false;
	if (f->type == TORCOLL_SURVEY_ASK)
		return survey_is_ask(f);
	return tor_survey_is_report(f->records, f->length, f->host);
}

int tor_survey_read(const void *p, u32 len, struct tor_survey_frame *f)
{
	struct torcoll_survey raw;

	if (len < sizeof(raw))
		return -EINVAL;
	memcpy(&raw, p, sizeof(raw));
	/* another version may compute its CRC differently */
	if (raw.version != TORCOLL_SURVEY_VERSION)
		return -EINVAL;
	*f = (struct tor_survey_frame){
		.type = raw.type,
		.hop_limit = raw.hop_limit,
		.flags = raw.flags,
		.survey = be64_to_cpu(raw.survey),
		.round = be32_to_cpu(raw.round),
		.length = be32_to_cpu(raw.length),
		.host = be64_to_cpu(raw.host),
		.stamp = be64_to_cpu(raw.stamp),
		.records = (const u8 *)p + sizeof(raw),
	};
	if (f->length > len - sizeof(raw) ||
	    survey_crc(&raw, f->records, f->length) != be32_to_cpu(raw.crc))
		return -EBADMSG;
	if (f->type < TORCOLL_SURVEY_ASK || f->type > TORCOLL_SURVEY_MARKED)
		return -EINVAL;
	return survey_is_sane(f) ? 0 : -EINVAL;
}

u32 tor_survey_put(void *buf, u16 kind, const void *body, u16 length)
{
	struct torcoll_survey_record raw = {
		.kind = cpu_to_be16(kind),
		.length = cpu_to_be16(length),
	};

	memcpy(buf, &raw, sizeof(raw));
	memcpy((u8 *)buf + sizeof(raw), body, length);
	return sizeof(raw) + length;
}

u32 tor_survey_fit(const void *p, u32 len, u32 room)
{
	struct tor_survey_record r;
	u32 at = 0;
	u32 bytes;

	while ((bytes = tor_survey_next((const u8 *)p + at, len - at, &r)) && at + bytes <= room)
		at += bytes;
	return at;
}

void tor_survey_build(void *buf, const struct tor_survey_frame *f)
{
	struct torcoll_survey raw = {
		.version = TORCOLL_SURVEY_VERSION,
		.type = f->type,
		.hop_limit = f->hop_limit,
		.flags = f->flags,
		.survey = cpu_to_be64(f->survey),
		.round = cpu_to_be32(f->round),
		.length = cpu_to_be32(f->length),
		.host = cpu_to_be64(f->host),
		.stamp = cpu_to_be64(f->stamp),
	};

	raw.crc = cpu_to_be32(survey_crc(&raw, (u8 *)buf + sizeof(raw), f->length));
	memcpy(buf, &raw, sizeof(raw));
}
