// SPDX-License-Identifier: GPL-2.0
/*
 * A torus as text: dimension 0 to the right, dimension 1 downwards; a link that
 * wraps around leaves at one edge and enters at the other.
 *
 *	     |     :
 *	  --[0]---1...
 *	     |     :
 *	  ...2....3...
 */
#include <stdio.h>
#include <string.h>

#include "ctl.h"

#define DRAW_MAX	40	/* nodes along a side that fit on a screen */

struct picture {
	const struct shape *shape;
	uint32_t self;
	uint32_t base;		/* node in the upper left corner */
	int width;		/* digits of an index */
	enum link_look (*look)(void *arg, uint32_t node, uint32_t dim, uint32_t dir);
	void *arg;
};

static uint32_t rows_of(const struct shape *shape)
{
	return shape->ndim > 1 ? shape->side[1] : 1;
}

static uint32_t node_at(const struct picture *p, uint32_t x, uint32_t y)
{
	return p->base + x + y * p->shape->side[0];
}

/* A link has the worse state of its two ends. */
static char link_char(const struct picture *p, uint32_t node, uint32_t dim, uint32_t dir,
		      const char *chars)
{
	enum link_look here, there;

	if (!shape_has_port(p->shape, node, dim, dir))
		return ' ';
	here = p->look(p->arg, node, dim, dir);
	there = p->look(p->arg, shape_neighbour(p->shape, node, dim, dir), dim, !dir);
	return chars[here > there ? here : there];
}

/*
 * Draw the links below the row @y, or for y = -1 those that enter from above.
 */
static void draw_links_down(const struct picture *p, int y)
{
	uint32_t x;

	/* nothing wraps around */
	if (!shape_has_port(p->shape, node_at(p, 0, y < 0 ? 0 : y), 1, y < 0))
		return;
	fputs("  ", stdout);
	for (x = 0; x < p->shape->side[0]; x++) {
		char c = y < 0 ? link_char(p, node_at(p, x, 0), 1, 1, ":|x") :
				 link_char(p, node_at(p, x, y), 1, 0, ":|x");

		printf("%*c", x ? p->width + 5 : p->width + 4, c);
	}
	putchar('\n');
}

static void draw_link_right(const struct picture *p, uint32_t node, uint32_t dir)
{
	char c = link_char(p, node, 0, dir, ".-x");

	if (c == 'x')
		fputs("-x-", stdout);
	else
		printf("%c%c%c", c, c, c);
}

static void draw_row(const struct picture *p, uint32_t y)
{
	uint32_t x;

	fputs("  ", stdout);
	draw_link_right(p, node_at(p, 0, y), 1);
	for (x = 0; x < p->shape->side[0]; x++) {
		uint32_t node = node_at(p, x, y);
		bool self = node == p->self;

		printf("%c%*u%c", self ? '[' : ' ', p->width, node, self ? ']' : ' ');
		draw_link_right(p, node, 0);
	}
	putchar('\n');
}

void draw_torus(const struct shape *shape, uint32_t self,
		enum link_look (*look)(void *arg, uint32_t node, uint32_t dim, uint32_t dir),
		void *arg)
{
	struct picture p = { shape, self, 0, 1, look, arg };
	uint32_t plane = shape->side[0] * rows_of(shape);
	uint32_t n, y;

	if (shape->side[0] > DRAW_MAX || rows_of(shape) > DRAW_MAX)
		return;
	if (self != ~0U)
		p.base = self - self % plane;
	for (n = p.base + plane - 1; n >= 10; n /= 10)
		p.width++;
	if (shape->ndim > 1)
		draw_links_down(&p, -1);
	for (y = 0; y < rows_of(shape); y++) {
		draw_row(&p, y);
		if (shape->ndim > 1)
			draw_links_down(&p, y);
	}
}
