// SPDX-License-Identifier: GPL-2.0
/* A rectangle of characters in styles. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "canvas.h"

struct canvas *canvas_new(int width, int height)
{
	struct canvas *c = malloc(sizeof(*c));
	int i;

	if (c)
		c->cell = calloc((size_t)width * height + 1, sizeof(*c->cell));
	if (!c || !c->cell)
		err(CTL_REFUSED, "no memory for a picture");
	c->width = width;
	c->height = height;
	for (i = 0; i < width * height; i++)
		c->cell[i].c = ' ';
	return c;
}

void canvas_free(struct canvas *c)
{
	if (!c)
		return;
	free(c->cell);
	free(c);
}

static struct canvas_cell *canvas_at(const struct canvas *c, int x, int y)
{
	if (x < 0 || y < 0 || x >= c->width || y >= c->height)
		return NULL;
	return &c->cell[y * c->width + x];
}

int canvas_put(struct canvas *c, int x, int y, enum style style, const char *fmt, ...)
{
	struct canvas_cell *cell;
	const char *s;
	va_list ap;

	va_start(ap, fmt);
	s = fmt_vstr(fmt, ap);
	va_end(ap);
	for (; *s; s++, x++) {
		cell = canvas_at(c, x, y);
		if (cell)
			*cell = (struct canvas_cell){ *s, style };
	}
	return x;
}

void canvas_copy(struct canvas *c, int x, int y, int width, int height, const struct canvas *from,
		 int from_x, int from_y)
{
	int i, j;

	for (j = 0; j < height; j++) {
		for (i = 0; i < width; i++) {
			struct canvas_cell *to = canvas_at(c, x + i, y + j);
			const struct canvas_cell *cell = canvas_at(from, from_x + i, from_y + j);

			if (to && cell)
				*to = *cell;
		}
	}
}

const char *canvas_sgr(enum style style)
{
	static const char *const sgr[STYLES] = {
		[STYLE_PLAIN] = "0",
		[STYLE_TITLE] = "1",
		[STYLE_FAINT] = "2",
		[STYLE_GOOD] = "32",
		[STYLE_BUSY] = "36",
		[STYLE_BUSIEST] = "1;34",
		[STYLE_WARN] = "1;33",
		[STYLE_BAD] = "1;31",
	};

	return sgr[style];
}

static int line_end(const struct canvas *c, int y)
{
	int x = c->width;

	while (x && canvas_at(c, x - 1, y)->c == ' ')
		x--;
	return x;
}

void canvas_print(const struct canvas *c, FILE *file, bool colour)
{
	int x, y;

	for (y = 0; y < c->height; y++) {
		int style = STYLE_PLAIN, end = line_end(c, y);

		for (x = 0; x < end; x++) {
			const struct canvas_cell *cell = canvas_at(c, x, y);

			/* a sequence replaces what the one before it set */
			if (colour && cell->style != style && cell->c != ' ') {
				fprintf(file, "\033[0;%sm", canvas_sgr(cell->style));
				style = cell->style;
			}
			fputc(cell->c, file);
		}
		fputs(style == STYLE_PLAIN ? "\n" : "\033[0m\n", file);
	}
}
