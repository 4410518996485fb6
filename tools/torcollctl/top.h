/* SPDX-License-Identifier: GPL-2.0 */
/* One frame of torcollctl top, without a terminal. */
#ifndef _CTL_TOP_H
#define _CTL_TOP_H

#include "canvas.h"
#include "map.h"

#define TOP_WIDTH	80
#define TOP_HEIGHT	24

/**
 * struct top - what a frame shows
 * @now: latest survey
 * @before: the one before it, NULL: no rates yet
 * @seconds: between them
 * @key: of the fabric
 * @ops, @comms: dumps of this host's ops and comms, NULL: not known
 * @clock: time of day, for the title
 * @note: said in the last line instead of the keys, or NULL
 * @x, @y: what of the picture is in its upper left corner; corrected if it is
 *	beyond the picture
 */
struct top {
	const struct survey *now, *before;
	double seconds;
	uint64_t key;
	struct json_object *ops, *comms;
	const char *clock, *note;
	int x, y;
};

/*
 * Return a canvas of that size, to be freed; NULL: no host is in the fabric.
 */
struct canvas *top_frame(struct top *top, int width, int height);

#endif
