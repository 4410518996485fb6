/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Frames of surveys, as linux/torcoll_survey.h defines them: their headers and
 * the order of their records. Records stay big-endian, since hosts pass most of
 * them on unread; buffers need no alignment. All functions are pure. Context:
 * any.
 */
#ifndef _TOR_CORE_FRAME_H
#define _TOR_CORE_FRAME_H

#include <linux/torcoll_survey.h>

#include "core/env.h"

/*
 * The most bytes behind the MAC header of a frame other than of a test. Reports
 * that are made here have TOR_SURVEY_REPORT at most: encapsulated cables take
 * less than 1500.
 */
#define TOR_SURVEY_FRAME_MAX	1500
#define TOR_SURVEY_REPORT	1400

/* The fewest bytes that a device must take: a host and one of its ports. */
#define TOR_SURVEY_FRAME_MIN	384

#define TOR_SURVEY_HOP_LIMIT	255
#define TOR_SURVEY_PARTS	64	/* the most frames of one report */

/*
 * struct torcoll_survey in host byte order. @records: behind the header in the
 * frame that was read; tor_survey_build() ignores it.
 */
struct tor_survey_frame {
	u8 type;
	u8 hop_limit;
	u8 flags;
	u64 survey;
	u32 round;
	u32 length;
	u64 host;
	u64 stamp;
	const void *records;
};

/* struct torcoll_survey_train in host byte order. */
struct tor_survey_train {
	u32 train;
	u32 frames;
};

/* A record, of @length bytes. */
struct tor_survey_record {
	u16 kind;
	u16 length;
	const void *body;
};

/**
 * tor_survey_read - check and read a received frame
 * @p: the frame behind the MAC header
 * @len: bytes there; Ethernet may have padded it
 * @f: filled in; valid if 0 is returned. Its records are complete, and the
 *	first one is that which the type of the frame asks for
 *
 * Return: 0; -EBADMSG: damaged; -EINVAL: no host of this version sends it.
 */
int tor_survey_read(const void *p, u32 len, struct tor_survey_frame *f);

/* Whether frames of that type test a cable. */
static inline bool tor_survey_is_test(u8 type)
{
	return type >= TORCOLL_SURVEY_TRAIN;
}

/**
 * tor_survey_next - read the first record of some
 * @p: the records
 * @len: bytes of them
 * @r: filled in
 *
 * Return: the bytes that it takes, or 0 if there is none: the rest is too short.
 */
u32 tor_survey_next(const void *p, u32 len, struct tor_survey_record *r);

/*
 * Whether the records are those of a report: all complete, the first of a host,
 * none shorter than its kind; @host: that host.
 */
bool tor_survey_is_report(const void *p, u32 len, u64 host);

/* Copy the end in the first record of an ask that was read. */
void tor_survey_get_end(const struct tor_survey_frame *f, struct torcoll_survey_end *end);

/* Read what trains and marks that were read begin with; write it. */
void tor_survey_get_train(const struct tor_survey_frame *f, struct tor_survey_train *train);
void tor_survey_put_train(void *buf, const struct tor_survey_train *train);

/*
 * Append a record to @buf, which has room for it. @length: a multiple of 4.
 * Return the bytes written.
 */
u32 tor_survey_put(void *buf, u16 kind, const void *body, u16 length);

/* Return how many bytes of whole records fit into @room. */
u32 tor_survey_fit(const void *p, u32 len, u32 room);

/**
 * tor_survey_build - write the header of a frame
 * @buf: room for it, followed by @f->length bytes that are there already
 * @f: its fields
 */
void tor_survey_build(void *buf, const struct tor_survey_frame *f);

#endif
