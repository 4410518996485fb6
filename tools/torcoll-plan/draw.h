/* SPDX-License-Identifier: GPL-2.0 */
/* What the pictures of a dump have in common: messages, places, colours. */
#ifndef _TORCOLL_PLAN_DRAW_H
#define _TORCOLL_PLAN_DRAW_H

#include "dump.h"

#define DRAW_HUES	24		/* colours; blocks share them if there are more */
#define DRAW_WHOLE	DRAW_HUES	/* the colour of what is most of the vector */
#define DRAW_HEAD	26		/* above pictures: what it is */
#define DRAW_LEGEND	146		/* below them */

struct place {
	double x, y;
};

/* Pieces of a round between two ranks on a channel. */
struct message {
	u32 t, ch;
	u32 src, dst;
	bool adds;
	u32 colour;
	u64 n;
};

/* A round: messages @first to @end. */
struct draw_round {
	u32 t;
	size_t first, end;
};

struct draw {
	const struct dump *d;
	FILE *out;
	struct place size;		/* of a picture */
	struct message *message;
	size_t messages;
	struct draw_round *round;
	u32 rounds;
};

/*
 * An SVG with pictures of together @width x @height, its title, style and legend;
 * @shared: rounds share pictures.
 */
void draw_begin(const struct draw *c, double width, double height, bool shared,
		const char *style);

/* A frame at @x, @y, in which all else is clipped, entitled @title if it is not NULL. */
void draw_frame(const struct draw *c, double x, double y, const char *title);
void draw_frame_end(const struct draw *c);
void draw_nodes(const struct draw *c);

/*
 * The arrow of a message: twice, if it leaves at an edge and enters at the
 * opposite one. Attributes of each are those of its colour and kind, and a text,
 * unless it is @plain.
 */
void draw_arrow(const struct draw *c, const struct message *m, bool plain);

/* All rounds in one picture, one after the other. */
void draw_animated(const struct draw *c);

#endif
