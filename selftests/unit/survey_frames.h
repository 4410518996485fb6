/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Frames of surveys for tests, in a buffer. */
#ifndef _SURVEY_FRAMES_H
#define _SURVEY_FRAMES_H

#include "core/survey/frame.h"

#define HOST	0x1112131415161718ULL

static u8 frame[TOR_SURVEY_FRAME_MAX + 64];

static struct tor_survey_frame ask_frame(u64 survey, u32 round, u64 host)
{
	return (struct tor_survey_frame){
		.type = TORCOLL_SURVEY_ASK, .hop_limit = 7, .flags = TORCOLL_SURVEY_TEST,
		.survey = survey, .round = round, .host = host,
	};
}

/* Write an ask of the end @mac; return its bytes. */
static u32 put_ask(struct tor_survey_frame *f, u8 mac)
{
	struct torcoll_survey_end end = {
		.host = cpu_to_be64(f->host), .mac = { 2, 0, 0, 0, 0, mac }, .device = "d0p",
		.mtu = cpu_to_be32(9000), .fabric = cpu_to_be32(5),
	};

	f->length = tor_survey_put(frame + sizeof(struct torcoll_survey), TORCOLL_SURVEY_END, &end,
				   sizeof(end));
	tor_survey_build(frame, f);
	return sizeof(struct torcoll_survey) + f->length;
}

#endif
