/* SPDX-License-Identifier: GPL-2.0 */
/* A rectangle of characters in styles: for files, terminals, and tests. */
#ifndef _CTL_CANVAS_H
#define _CTL_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

enum style {
	STYLE_PLAIN,
	STYLE_TITLE,		/* headings */
	STYLE_FAINT,		/* what is not known */
	STYLE_GOOD,
	STYLE_BUSY,
	STYLE_BUSIEST,
	STYLE_WARN,
	STYLE_BAD,
	STYLES,
};

struct canvas_cell {
	char c;
	unsigned char style;
};

struct canvas {
	int width, height;
	struct canvas_cell *cell;	/* rows of width */
};

/* Filled with blanks; ends the program if there is no memory. */
struct canvas *canvas_new(int width, int height);
void canvas_free(struct canvas *c);

/*
 * Write text from a place on; what does not fit on the canvas is left out.
 * Return the column behind the text.
 */
int canvas_put(struct canvas *c, int x, int y, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Copy the part of @from that begins at @from_x, @from_y into a rectangle. */
void canvas_copy(struct canvas *c, int x, int y, int width, int height, const struct canvas *from,
		 int from_x, int from_y);

/* Parameter of the control sequence (ECMA-48 SGR) that begins a style. */
const char *canvas_sgr(enum style style);

/* Print without blanks at the ends of lines; styles only with @colour. */
void canvas_print(const struct canvas *c, FILE *file, bool colour);

#endif
