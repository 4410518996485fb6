// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Surveys: any frames by any devices at any time, most of them with a right checksum. What is read, means what
 * it says, and what a host remembers and sends stays within its limits.
 *
 * An input is a list of frames of RECORD bytes: a head, and what the frame begins with.
 */
#include "fuzz.h"

#include "core/survey/test.h"

#define RECORD	256

static struct tor_surveys s;
static u64 now;

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_records(data, size, max, seed, 0, RECORD);
}

/* Make a frame of this version with a right CRC, as whoever wants to do harm would. */
static void mend(u8 *frame, u32 len)
{
	struct torcoll_survey raw;
	u32 crc;

	memcpy(&raw, frame, sizeof(raw));
	raw.version = TORCOLL_SURVEY_VERSION;
	raw.hop_limit = 0;
	raw.crc = 0;
	if (be32_to_cpu(raw.length) > len - sizeof(raw))
		raw.length = cpu_to_be32(len - sizeof(raw));
	crc = tor_env_crc32c(~0U, &raw, sizeof(raw));
	crc = ~tor_env_crc32c(crc, frame + sizeof(raw), be32_to_cpu(raw.length));
	raw.hop_limit = frame[offsetof(struct torcoll_survey, hop_limit)];
	raw.crc = cpu_to_be32(crc);
	memcpy(frame, &raw, sizeof(raw));
}

static void check_records(const struct tor_survey_frame *f)
{
	struct tor_survey_record r;
	u32 at = 0, bytes, first = 0;

	while ((bytes = tor_survey_next((const u8 *)f->records + at, f->length - at, &r))) {
		if (!at)
			first = r.kind;
		at += bytes;
	}
	must(at == f->length);
	must(first == (f->type == TORCOLL_SURVEY_ASK ? TORCOLL_SURVEY_END : TORCOLL_SURVEY_HOST));
	must(tor_survey_fit(f->records, f->length, U32_MAX) == f->length);
	must(tor_survey_is_report(f->records, f->length, f->host) == (f->type == TORCOLL_SURVEY_REPORT));
}

/* Built again from what was read, it is the same. */
static void check_frame(const u8 *frame, const struct tor_survey_frame *f)
{
	u32 len = sizeof(struct torcoll_survey) + f->length;
	u8 *again = malloc(len);

	memcpy(again, frame, len);
	memset(again, 0, sizeof(struct torcoll_survey));
	tor_survey_build(again, f);
	must(!memcmp(again, frame, len));
	free(again);
	must(f->host);
	if (!tor_survey_is_test(f->type))
		check_records(f);
}

static void check_state(u32 ifindex)
{
	struct torcoll_survey_port port = {};
	struct tor_survey_known taken;
	struct tor_test_step step;
	u32 i, cables = 0;

	for (i = 0; i < TOR_SURVEY_CABLES; i++) {
		if (!s.cable[i])
			continue;
		must(cables == i);
		cables++;
		if (s.cable[i]->trial)
			must(s.cable[i]->trial->returned <= s.cable[i]->trial->sent &&
			     s.cable[i]->trial->sent <= TOR_TRIAL_PINGS);
	}
	tor_survey_describe(&s, now, ifindex, &port);
	must(be32_to_cpu(port.train) <= be32_to_cpu(port.trains));
	must(be32_to_cpu(port.trains) <= TOR_TRAINS_MAX * TOR_TRAIN_FRAMES_MAX);
	must(be32_to_cpu(port.rtt_min_ns) <= be32_to_cpu(port.rtt_median_ns));
	while (tor_survey_take_due(&s, now, &taken))
		must(taken.due && taken.due <= now);
	tor_test_next(&s, now, &step);
	must(step.devices <= cables);
	must(step.action != TOR_TEST_SEND_PINGS || step.first + step.count <= TOR_TRIAL_PINGS);
}

static void receive(u32 ifindex, const u8 *frame, u32 len)
{
	const struct tor_survey_known *way;
	struct tor_survey_frame f;

	if (tor_survey_read(frame, len, &f)) {
		tor_test_damaged(&s, ifindex);
		return;
	}
	check_frame(frame, &f);
	if (f.type == TORCOLL_SURVEY_ASK) {
		tor_survey_heard(&s, now, ifindex, &f);
	} else if (f.type == TORCOLL_SURVEY_REPORT) {
		way = tor_survey_way(&s, now, f.survey, ifindex);
		must(!way || (way->id == f.survey && way->parent != ifindex &&
			      (way->parent || way->socket)));
	} else {
		tor_test_heard(&s, now, ifindex, &f, len);
	}
}

/* What is not a frame: time, own asks, sockets and devices that go. */
static void event(struct fuzz_in *in)
{
	switch (fuzz_below(in, 4)) {
	case 0:
		now += fuzz_u32(in) * 4ULL;
		break;
	case 1:
		tor_survey_begin(&s, now, fuzz_below(in, 20), fuzz_u8(in), fuzz_u8(in) & 1,
				 1 + fuzz_below(in, 2));
		break;
	case 2:
		tor_survey_closed(&s, 1 + fuzz_below(in, 2));
		break;
	case 3:
		tor_survey_gone(&s, 1 + fuzz_below(in, 80));
	}
}

static void one(struct fuzz_in *in)
{
	u8 what = fuzz_u8(in), ifindex = 1 + fuzz_below(in, 80);
	u32 len = in->left, more = what & 2 ? fuzz_u16(in) % 2048 : 0;
	u8 *frame = calloc(1, len + more);

	now += fuzz_u16(in) * 1024ULL;
	if (!(what & 0xfc)) {
		event(in);
	} else {
		len = in->left;
		memcpy(frame, in->p, len);
		if (what & 1 && len + more >= sizeof(struct torcoll_survey))
			mend(frame, len + more);
		receive(ifindex, frame, len + more);
	}
	free(frame);
	check_state(ifindex);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	host_reset();
	memset(&s, 0, sizeof(s));
	tor_surveys_init(&s, 77);
	now = NSEC_PER_SEC;
	while (size) {
		struct fuzz_in in = { data, min_t(size_t, size, RECORD) };

		data += in.left;
		size -= in.left;
		one(&in);
	}
	tor_surveys_destroy(&s);
	must(!host.outstanding);
	return 0;
}
