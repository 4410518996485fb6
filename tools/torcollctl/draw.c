// SPDX-License-Identifier: GPL-2.0
/* A fabric as a picture, on a canvas. */
#include <stdio.h>
#include <string.h>

#include "draw.h"

#define DRAW_MAX	40	/* nodes along a side that fit on a screen */
#define DRAW_PLANES	32	/* planes that anybody looks at */
#define DRAW_COLUMNS	80

/* One plane being drawn. */
struct picture {
	struct canvas *c;
	const struct drawing *d;
	int x, y;		/* of the upper left corner, below the title */
	uint32_t base;		/* node in the upper left corner */
	int digits;		/* of an index */
	int marks;		/* behind a node */
};

static const enum style look_styles[] = {
	[LINK_UNSEEN] = STYLE_FAINT,
	[LINK_GOOD] = STYLE_GOOD,
	[LINK_BUSY] = STYLE_BUSY,
	[LINK_BUSIEST] = STYLE_BUSIEST,
	[LINK_WARN] = STYLE_WARN,
	[LINK_BAD] = STYLE_BAD,
};

/* A row of a ring with chords is a chord long: what the ends of one are joined with is below it. */
uint32_t draw_columns(const struct shape *shape)
{
	return shape_has_chords(shape) ? shape->step[1] : shape->side[0];
}

static int rows_of(const struct shape *shape)
{
	uint32_t columns = draw_columns(shape);

	if (shape_has_chords(shape))
		return (shape->nodes + columns - 1) / columns;
	return shape->ndim > 1 ? shape->side[1] : 1;
}

static int marks_of(const struct shape *shape)
{
	return shape->ndim > 2 ? shape->ndim - 2 : 0;
}

static int digits_of(const struct shape *shape)
{
	return snprintf(NULL, 0, "%u", shape->nodes - 1);
}

/*
 * Find the link of a node to the next one, or (@back) the one before: in a mesh
 * that of one step. False: there is none.
 */
static bool find_link(const struct shape *shape, uint32_t node, uint32_t dim, bool back,
		      uint32_t *dir)
{
	uint32_t port = shape_find_port(shape, dim, back ? TOR_MINUS : TOR_PLUS);

	if (port == MAX_PORTS || !shape_has_port(shape, node, dim, back ? TOR_MINUS : TOR_PLUS))
		return false;
	*dir = shape_port(shape, port).dir;
	/* a mesh of 2 has one cable */
	return shape->kind[dim] != TORCOLL_KIND_MESH || shape->side[dim] > 2 ||
	       shape_coord(shape, node, dim) == back;
}

/* Whether links enter from above and leave below. */
static bool wraps_down(const struct shape *shape)
{
	uint32_t dir;

	return find_link(shape, 0, 1, true, &dir);
}

/* Width of a node with the link to its right. */
static int pitch_of(const struct shape *shape)
{
	return digits_of(shape) + marks_of(shape) + 5;
}

static uint32_t plane_nodes(const struct shape *shape)
{
	return draw_columns(shape) * rows_of(shape);
}

uint32_t draw_planes(const struct shape *shape)
{
	return shape_has_chords(shape) ? 1 : shape->nodes / plane_nodes(shape);
}

int draw_width(const struct shape *shape)
{
	return 5 + draw_columns(shape) * pitch_of(shape);
}

int draw_height(const struct shape *shape)
{
	int title = shape_axes(shape) > 2;

	return title + 2 * rows_of(shape) - 1 + 2 * wraps_down(shape);
}

static uint32_t node_at(const struct picture *p, uint32_t x, uint32_t y)
{
	return p->base + x + y * draw_columns(p->d->shape);
}

/* A link has the worse state of its two ends. */
static enum link_look look_at(const struct drawing *d, uint32_t node, uint32_t dim, uint32_t dir)
{
	enum link_look here = d->look(d->arg, node, dim, dir);
	enum link_look there = d->look(d->arg, shape_neighbour(d->shape, node, dim, dir), dim,
				       shape_back(d->shape, dim, dir));

	return here > there ? here : there;
}

/* Column of node @x of a row. */
static int column_of(const struct picture *p, uint32_t x)
{
	return p->x + 5 + x * pitch_of(p->d->shape);
}

static void draw_link_right(const struct picture *p, int at, int y, uint32_t node, bool back)
{
	static const char *const text[] = { "...", "---", "===", "###", "-!-", "-x-" };
	enum link_look look;
	uint32_t dir;

	if (!find_link(p->d->shape, node, 0, back, &dir))
		return;
	look = look_at(p->d, node, 0, dir);
	canvas_put(p->c, at, y, look_styles[look], "%s", text[look]);
}

/*
 * Draw the links below the row @row, or for -1 those that enter from above.
 */
static void draw_links_down(const struct picture *p, int row)
{
	static const char text[] = ":||#!x";
	uint32_t dir, x;

	for (x = 0; x < draw_columns(p->d->shape); x++) {
		uint32_t node = node_at(p, x, row < 0 ? 0 : row);
		enum link_look look;

		/* nothing wraps around; or the last row of a ring with chords is short */
		if (node >= p->d->shape->nodes || !find_link(p->d->shape, node, 1, row < 0, &dir))
			continue;
		look = look_at(p->d, node, 1, dir);
		canvas_put(p->c, column_of(p, x) + p->digits, p->y + 2 * row + 1 + wraps_down(p->d->shape),
			   look_styles[look], "%c", text[look]);
	}
}

/* The links to the next planes: a mark for each dimension. */
static void draw_marks(const struct picture *p, int x, int y, uint32_t node)
{
	static const char text[] = ".//#!x";
	int i;

	for (i = 0; i < p->marks; i++) {
		enum link_look look;
		uint32_t dir;

		if (!find_link(p->d->shape, node, i + 2, false, &dir))
			continue;
		look = look_at(p->d, node, i + 2, dir);
		canvas_put(p->c, x + i, y, look_styles[look], "%c", text[look]);
	}
}

static void draw_row(const struct picture *p, uint32_t row)
{
	int y = p->y + 2 * row + wraps_down(p->d->shape);
	uint32_t x;

	draw_link_right(p, p->x + 2, y, node_at(p, 0, row), true);
	for (x = 0; x < draw_columns(p->d->shape); x++) {
		uint32_t node = node_at(p, x, row);

		if (node >= p->d->shape->nodes)
			break;
		bool self = node == p->d->self;
		enum style style = p->d->node_style ? p->d->node_style(p->d->arg, node) :
						      STYLE_PLAIN;
		int at = canvas_put(p->c, column_of(p, x), y, style, "%c%*u%c", self ? '[' : ' ',
				    p->digits, node, self ? ']' : ' ');

		draw_marks(p, at, y, node);
		draw_link_right(p, at + p->marks, y, node, false);
	}
}

static void draw_title(const struct picture *p)
{
	const struct shape *shape = p->d->shape;
	int x = canvas_put(p->c, p->x + 2, p->y - 1, STYLE_TITLE, "plane");
	uint32_t i;

	for (i = 2; i < shape_axes(shape); i++)
		x = canvas_put(p->c, x, p->y - 1, STYLE_TITLE, "%c%u", i > 2 ? ',' : ' ',
			       shape_coord(shape, p->base, i));
}

void draw_plane(struct canvas *c, int x, int y, const struct drawing *d, uint32_t plane)
{
	int title = shape_axes(d->shape) > 2;
	struct picture p = {
		.c = c, .d = d, .x = x, .y = y + title,
		.base = plane * plane_nodes(d->shape),
		.digits = digits_of(d->shape),
		.marks = marks_of(d->shape),
	};
	int row;

	if (title)
		draw_title(&p);
	draw_links_down(&p, -1);
	for (row = 0; row < rows_of(d->shape); row++) {
		draw_row(&p, row);
		draw_links_down(&p, row);
	}
}

struct canvas *draw_all(const struct drawing *d, int width)
{
	int w = draw_width(d->shape) + 2, h = draw_height(d->shape) + 1;
	int planes = draw_planes(d->shape);
	int across = width / w < 1 ? 1 : width / w;
	struct canvas *c;
	int i;

	if (across > planes)
		across = planes;
	c = canvas_new(across * w, (planes + across - 1) / across * h - 1);
	for (i = 0; i < planes; i++)
		draw_plane(c, i % across * w, i / across * h, d, i);
	return c;
}

const char *draw_note(const struct shape *shape)
{
	if (!shape_has_chords(shape))
		return shape->ndim > 2 ? "/ behind a node: its link to the next plane" : "";
	return fmt_str("each row goes on in the next; %u further is below%s", shape->step[1],
		       shape->ndim > 2 ? "; / behind a node: its other chords" : "");
}

/* Those of a mesh between nodes that do not stand next to each other. */
static void print_chords(const struct drawing *d, uint32_t dim)
{
	uint32_t n[LINK_BAD + 1] = { 0 }, all = 0, node, step;

	for (step = 2; step + 1 < d->shape->side[dim]; step++)
		for (node = 0; node < d->shape->nodes; node++) {
			if (!shape_leads(d->shape, node, dim, TOR_DIR_STEPS + step))
				continue;
			n[look_at(d, node, dim, TOR_DIR_STEPS + step)]++;
			all++;
		}
	if (!all)
		return;
	printf("\n    dim %u joins each node with each: %u more links, %u up, %u not up", dim, all,
	       all - n[LINK_BAD] - n[LINK_UNSEEN], n[LINK_BAD]);
	if (n[LINK_UNSEEN])
		printf(", %u not seen from here", n[LINK_UNSEEN]);
	putchar('\n');
}

void draw_torus(const struct drawing *d)
{
	const struct shape *shape = d->shape;
	struct canvas *c;
	uint32_t i;

	if (draw_columns(shape) > DRAW_MAX || rows_of(shape) > DRAW_MAX) {
		printf("    (too large for a picture)\n");
		return;
	}
	if (draw_planes(shape) <= DRAW_PLANES) {
		c = draw_all(d, DRAW_COLUMNS);
	} else {
		c = canvas_new(draw_width(shape), draw_height(shape));
		draw_plane(c, 0, 0, d, d->self == ~0U ? 0 : d->self / plane_nodes(shape));
	}
	canvas_print(c, stdout, false);
	canvas_free(c);
	for (i = 0; i < shape->ndim; i++)
		if (shape->kind[i] == TORCOLL_KIND_MESH)
			print_chords(d, i);
}
