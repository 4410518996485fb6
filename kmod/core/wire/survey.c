// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames of surveys: checks, reading, writing. See survey.h. */
#include "core/wire/survey.h"

#define SURVEY_SIZE(type, size) \
	static_assert(sizeof(struct torcoll_survey ## type) == (size))
#define SURVEY_AT(type, member, offset) \
	static_assert(offsetof(struct torcoll_survey ## type, member) == (offset))

SURVEY_SIZE(, 40);
SURVEY_AT(, crc, 4);
SURVEY_AT(, survey, 8);
SURVEY_AT(, round, 16);
SURVEY_AT(, length, 20);
SURVEY_AT(, host, 24);
SURVEY_AT(, stamp, 32);

SURVEY_SIZE(_record, 4);

SURVEY_SIZE(_end, 40);
SURVEY_AT(_end, mac, 8);
SURVEY_AT(_end, device, 16);
SURVEY_AT(_end, mtu, 32);
SURVEY_AT(_end, fabric, 36);

SURVEY_SIZE(_host, 96);
SURVEY_AT(_host, name, 8);
SURVEY_AT(_host, version, 72);
SURVEY_AT(_host, round, 88);
SURVEY_AT(_host, part, 92);
SURVEY_AT(_host, parts, 94);

SURVEY_SIZE(_node, 88);
SURVEY_AT(_node, tag, 8);
SURVEY_AT(_node, side, 20);
SURVEY_AT(_node, cables, 44);
SURVEY_AT(_node, view, 72);
SURVEY_AT(_node, ethertype, 76);
SURVEY_AT(_node, retransmits, 80);

SURVEY_SIZE(_port, 200);
SURVEY_AT(_port, peer, 40);
SURVEY_AT(_port, flags, 80);
SURVEY_AT(_port, state, 82);
SURVEY_AT(_port, key, 88);
SURVEY_AT(_port, speed, 96);
SURVEY_AT(_port, rx_frames, 120);
SURVEY_AT(_port, pings, 160);
SURVEY_AT(_port, tested_ms, 196);

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
	if (f->type < TORCOLL_SURVEY_ASK || f->type > TORCOLL_SURVEY_PONG)
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
