// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames of surveys: written and read, with every field at its limits. */
#include "host_env.h"

#include "survey_frames.h"

static struct tor_survey_frame report_frame(void)
{
	return (struct tor_survey_frame){
		.type = TORCOLL_SURVEY_REPORT, .hop_limit = 255, .survey = 9, .round = 1, .host = HOST,
	};
}

/* Write a report of a host, @ports of its ports, and a record of no known kind. */
static u32 put_report(struct tor_survey_frame *f, u16 part, u16 parts, u32 ports)
{
	struct torcoll_survey_host host = {
		.host = cpu_to_be64(f->host), .name = "a", .part = cpu_to_be16(part),
		.parts = cpu_to_be16(parts),
	};
	struct torcoll_survey_port port = { .own.device = "d0p" };
	u8 *records = frame + sizeof(struct torcoll_survey);

	f->length = tor_survey_put(records, TORCOLL_SURVEY_HOST, &host, sizeof(host));
	f->length += tor_survey_put(records + f->length, 99, "1234", 4);
	while (ports--)
		f->length += tor_survey_put(records + f->length, TORCOLL_SURVEY_PORT, &port,
					    sizeof(port));
	tor_survey_build(frame, f);
	return sizeof(struct torcoll_survey) + f->length;
}

/* Read a copy whose end ASan watches, and which is not aligned. */
static int read_frame(u32 len, struct tor_survey_frame *f)
{
	u8 *p = malloc(len + 1);
	int err;

	memcpy(p + 1, frame, len);
	err = tor_survey_read(p + 1, len, f);
	free(p);
	return err;
}

static void tor_survey_read__reads_what_was_built(void **state)
{
	struct tor_survey_frame f = ask_frame(0x3132333435363738, 0x41424344, HOST), got;
	struct torcoll_survey_end end;
	u32 len;

	f.stamp = 0x5152535455565758;
	len = put_ask(&f, 1);
	assert_int_equal(tor_survey_read(frame, len, &got), 0);
	assert_int_equal(got.type, f.type);
	assert_int_equal(got.hop_limit, f.hop_limit);
	assert_int_equal(got.flags, f.flags);
	assert_true(got.survey == f.survey);
	assert_int_equal(got.round, f.round);
	assert_int_equal(got.length, f.length);
	assert_true(got.host == f.host);
	assert_true(got.stamp == f.stamp);
	tor_survey_get_end(&got, &end);
	assert_true(be64_to_cpu(end.host) == HOST);
	assert_string_equal((char *)end.device, "d0p");
	assert_int_equal(be32_to_cpu(end.mtu), 9000);
}

/* Written down once, by hand. */
static void tor_survey_build__is_big_endian(void **state)
{
	static const u8 golden[40] = {
		1, 4, 1, 0, 0, 0, 0, 0, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
		0x41, 0x42, 0x43, 0x44, 0, 0, 0, 0, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
	};
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_PING, .hop_limit = 1, .survey = 0x3132333435363738,
		.round = 0x41424344, .host = HOST, .stamp = 0x5152535455565758,
	};

	tor_survey_build(frame, &f);
	memset(frame + 4, 0, 4);
	assert_memory_equal(frame, golden, sizeof(golden));
}

static void tor_survey_read__every_length(void **state)
{
	struct tor_survey_frame f = report_frame(), got;
	u32 len = put_report(&f, 0, 1, 2), i;

	for (i = 0; i < len; i++)
		assert_int_equal(read_frame(i, &got), i < sizeof(struct torcoll_survey) ? -EINVAL : -EBADMSG);
	/* Ethernet pads frames */
	for (; i < len + 20; i++)
		assert_int_equal(read_frame(i, &got), 0);
}

static void tor_survey_read__every_bit(void **state)
{
	struct tor_survey_frame f = ask_frame(1, 1, HOST), got;
	u32 len = put_ask(&f, 1), bit;

	for (bit = 0; bit < len * 8; bit++) {
		frame[bit / 8] ^= 1 << bit % 8;
		/* the hop limit changes on its way */
		if (bit / 8 == 2)
			assert_int_equal(read_frame(len, &got), 0);
		else
			assert_int_not_equal(read_frame(len, &got), 0);
		frame[bit / 8] ^= 1 << bit % 8;
	}
}

enum base { ASK, REPORT, PING, MARK };

/* Write a frame of that kind with right contents; return its bytes. */
static u32 put_base(enum base base)
{
	struct tor_survey_frame f = base == REPORT ? report_frame() : ask_frame(1, 1, HOST);

	if (base == ASK)
		return put_ask(&f, 1);
	if (base == REPORT)
		return put_report(&f, 0, 2, 1);
	f.type = base == PING ? TORCOLL_SURVEY_PING : TORCOLL_SURVEY_MARK;
	f.length = 44;
	memset(frame + sizeof(struct torcoll_survey), 0, f.length);
	tor_survey_build(frame, &f);
	return sizeof(struct torcoll_survey) + f.length;
}

/* Make the CRC of a changed frame right. */
static void resum(u32 len)
{
	struct torcoll_survey *raw = (struct torcoll_survey *)frame;
	u32 crc, length = be32_to_cpu(raw->length);
	u8 hops = raw->hop_limit;

	raw->hop_limit = 0;
	raw->crc = 0;
	crc = tor_env_crc32c(~0U, frame, sizeof(*raw) + min_t(u32, length, len - sizeof(*raw)));
	raw->crc = cpu_to_be32(~crc);
	raw->hop_limit = hops;
}

/**
 * struct row - a field, and values that are accepted or not, as docs/wire.md has it
 * @at: bytes in front of it
 * @sum: the CRC is made right
 */
struct row {
	const char *field, *text;
	enum base base;
	u32 at, size;
	bool sum;
	u64 good[4], bad[6];
	u32 ngood, nbad;
};

#define AT_survey		0
#define AT_survey_record	sizeof(struct torcoll_survey)
#define AT_survey_end		(AT_survey_record + sizeof(struct torcoll_survey_record))
#define AT_survey_host		AT_survey_end

#define COUNT(...)	(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64))
#define GOOD(...)	.good = { __VA_ARGS__ }, .ngood = COUNT(__VA_ARGS__)
#define BAD(...)	.bad = { __VA_ARGS__ }, .nbad = COUNT(__VA_ARGS__)
#define ROW(_struct, _member, _text, _base, _good, _bad)			\
	{ .field = #_struct "." #_member, .text = _text, .base = _base,		\
	  .at = AT_##_struct + offsetof(struct torcoll_##_struct, _member),	\
	  .size = sizeof(((struct torcoll_##_struct *)0)->_member),		\
	  .sum = offsetof(struct torcoll_##_struct, _member) != 4 || AT_##_struct, _good, _bad }

static const struct row rows[] = {
	ROW(survey, version, "1", ASK, GOOD(1), BAD(0, 2, 255)),
	ROW(survey, type, "1 to 7", ASK, GOOD(1), BAD(0, 2, 8, 255)),
	ROW(survey, type, "1 to 7", REPORT, GOOD(2), BAD(0, 1, 8, 255)),
	ROW(survey, type, "1 to 7", PING, GOOD(3, 4, 5, 6), BAD(0, 1, 2, 8, 255)),
	ROW(survey, hop_limit, "not 0 in asks and reports", ASK, GOOD(1, 255), BAD(0)),
	ROW(survey, hop_limit, "not 0 in asks and reports", REPORT, GOOD(1, 255), BAD(0)),
	ROW(survey, hop_limit, "not 0 in asks and reports", PING, GOOD(0, 255), BAD()),
	ROW(survey, crc, "that of header and records", ASK, .ngood = 0, BAD(0, 1, U32_MAX)),
	ROW(survey, length, "no more than are there, 1460 at most in asks and reports, 8 at least in trains and marks", ASK,
	    GOOD(44), BAD(0, 43, 45, 1461, 1U << 31, U32_MAX)),
	ROW(survey, length, "no more than are there, 1460 at most in asks and reports, 8 at least in trains and marks", PING,
	    GOOD(0, 43, 44), BAD(48, 1U << 31, U32_MAX - 39, U32_MAX)),
	ROW(survey, length, "no more than are there, 1460 at most in asks and reports, 8 at least in trains and marks", MARK,
	    GOOD(8, 44), BAD(0, 7, 45)),
	ROW(survey, host, "not 0, in asks and reports that of the first record", ASK,
	    GOOD(HOST), BAD(0, HOST + 1)),
	ROW(survey, host, "not 0, in asks and reports that of the first record", REPORT,
	    GOOD(HOST), BAD(0, HOST + 1)),
	ROW(survey, host, "not 0, in asks and reports that of the first record", PING,
	    GOOD(1, U64_MAX), BAD(0)),
	ROW(survey_record, kind, "first 1 in asks, 2 in reports", ASK, GOOD(1), BAD(0, 2, 5, U16_MAX)),
	ROW(survey_record, kind, "first 1 in asks, 2 in reports", REPORT, GOOD(2), BAD(0, 1, 5, U16_MAX)),
	ROW(survey_record, length, "multiples of 4, from what the kind has to what is there", ASK,
	    GOOD(40), BAD(0, 36, 39, 41, 44, 0xfffc)),
	ROW(survey_record, length, "multiples of 4, from what the kind has to what is there", REPORT,
	    GOOD(96, 96 + 8), BAD(0, 92, 95, 97, 500, U16_MAX)),
	ROW(survey_end, host, "in asks that of the frame", ASK, GOOD(HOST), BAD(0, HOST - 1, U64_MAX)),
	ROW(survey_host, host, "that of the frame", REPORT, GOOD(HOST), BAD(0, HOST - 1, U64_MAX)),
	ROW(survey_host, part, "below `parts`", REPORT, GOOD(0, 1), BAD(2, U16_MAX)),
	ROW(survey_host, parts, "1 to 64", REPORT, GOOD(1, 2, 64), BAD(0, 65, U16_MAX)),
};

static int read_with(const struct row *row, u64 value)
{
	u32 len = put_base(row->base), i;
	struct tor_survey_frame got;

	for (i = 0; i < row->size; i++)
		frame[row->at + i] = value >> 8 * (row->size - 1 - i);
	if (row->sum)
		resum(len);
	return read_frame(len, &got);
}

static void tor_survey_read__fields_at_their_limits(void **state)
{
	const struct row *row;
	u32 i;

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		for (i = 0; i < row->ngood; i++)
			if (read_with(row, row->good[i]))
				fail_msg("%s: %llu is refused", row->field,
					 (unsigned long long)row->good[i]);
		for (i = 0; i < row->nbad; i++)
			if (!read_with(row, row->bad[i]))
				fail_msg("%s: %llu is accepted", row->field,
					 (unsigned long long)row->bad[i]);
	}
}

static void set_length(u32 at, u16 length)
{
	frame[at + 2] = length >> 8;
	frame[at + 3] = length;
}

/* A last record that is complete, but not as long as its kind, or not of whole words. */
static void tor_survey_read__last_record(void **state)
{
	static const struct { u16 kind, length; int err; } rows[] = {
		{ TORCOLL_SURVEY_PORT, 200, 0 }, { TORCOLL_SURVEY_PORT, 196, -EINVAL },
		{ TORCOLL_SURVEY_PORT, 204, 0 }, { TORCOLL_SURVEY_PORT, 0, -EINVAL },
		{ TORCOLL_SURVEY_NODE, 88, 0 }, { TORCOLL_SURVEY_NODE, 84, -EINVAL },
		{ TORCOLL_SURVEY_END, 40, 0 }, { TORCOLL_SURVEY_END, 36, -EINVAL },
		{ TORCOLL_SURVEY_HOST, 92, -EINVAL }, { 99, 0, 0 }, { 99, 4, 0 },
		{ 99, 1, -EINVAL }, { 99, 3, -EINVAL }, { 99, 5, -EINVAL }, { 99, 6, -EINVAL },
	};
	struct tor_survey_frame f = report_frame(), got;
	u8 zeros[256] = { 0 };
	u32 len, i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		len = put_report(&f, 0, 1, 1);
		f.length += tor_survey_put(frame + len, rows[i].kind, zeros, rows[i].length);
		tor_survey_build(frame, &f);
		assert_int_equal(read_frame(sizeof(struct torcoll_survey) + f.length, &got), rows[i].err);
	}
}

static void tor_survey_read__size(void **state)
{
	struct tor_survey_frame f = report_frame(), got;
	u32 len = put_report(&f, 0, 1, 6);

	assert_true(len <= TOR_SURVEY_REPORT);
	f.length += tor_survey_put(frame + len, 99, frame, TOR_SURVEY_FRAME_MAX - len - 4);
	tor_survey_build(frame, &f);
	assert_int_equal(read_frame(TOR_SURVEY_FRAME_MAX, &got), 0);
	set_length(len, TOR_SURVEY_FRAME_MAX - len);
	f.length += 4;
	tor_survey_build(frame, &f);
	assert_int_equal(read_frame(TOR_SURVEY_FRAME_MAX + 4, &got), -EINVAL);
}

static void tor_survey_fit__cuts_between_records(void **state)
{
	struct torcoll_survey_port port = { 0 };
	u8 records[3 * 204];
	u32 len = 0, i;

	for (i = 0; i < 3; i++)
		len += tor_survey_put(records + len, TORCOLL_SURVEY_PORT, &port, sizeof(port));
	assert_int_equal(tor_survey_fit(records, len, 203), 0);
	assert_int_equal(tor_survey_fit(records, len, 204), 204);
	assert_int_equal(tor_survey_fit(records, len, 611), 408);
	assert_int_equal(tor_survey_fit(records, len, 10000), 612);
	assert_int_equal(tor_survey_fit(records, 0, 10000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_survey_read__reads_what_was_built),
		cmocka_unit_test(tor_survey_build__is_big_endian),
		cmocka_unit_test(tor_survey_read__every_length),
		cmocka_unit_test(tor_survey_read__every_bit),
		cmocka_unit_test(tor_survey_read__fields_at_their_limits),
		cmocka_unit_test(tor_survey_read__last_record),
		cmocka_unit_test(tor_survey_read__size),
		cmocka_unit_test(tor_survey_fit__cuts_between_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
