// SPDX-License-Identifier: GPL-2.0
/*
 * A dump as SVG: for each round a picture of the torus, with an arrow per
 * transfer, coloured by channel. Dimension 0 goes right, dimension 1 down;
 * further dimensions are drawn as a grid of such planes. An arrow around the
 * torus leaves the picture at one edge and enters at the other.
 */
#include "dump.h"

#include <math.h>
#include <stdlib.h>

#define STEP		70		/* between nodes */
#define RADIUS		13
#define MARGIN		40
#define TITLE		28		/* above a picture */
#define WIDTH		1600		/* as many pictures side by side as fit */

static const char *const colours[] = {
	"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf",
	"#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#003f5c", "#58508d",
};

struct place {
	double x, y;
};

struct canvas {
	const struct dump *d;
	FILE *out;
	struct place size;		/* of a picture */
};

/* Return the direction of a step along dimension @d. */
static struct place step_of(const struct tor_torus *t, u32 d)
{
	struct place step = { d % 2 ? 0 : STEP, d % 2 ? STEP : 0 };
	u32 i;

	for (i = d % 2; i < d; i += 2) {
		step.x *= t->side[i] + 0.3;
		step.y *= t->side[i] + 0.3;
	}
	return step;
}

static struct place place_of(const struct canvas *c, u32 node)
{
	const struct tor_torus *t = &c->d->torus;
	struct place p = { MARGIN, MARGIN }, step;
	u32 d;

	for (d = 0; d < t->ndim; d++) {
		step = step_of(t, d);
		p.x += step.x * tor_torus_coord(t, node, d);
		p.y += step.y * tor_torus_coord(t, node, d);
	}
	return p;
}

/*
 * Return the vector from @src the shorter way to @dst, in a ring across the
 * edge if necessary.
 */
static struct place way_of(const struct canvas *c, u32 src, u32 dst)
{
	const struct tor_torus *t = &c->d->torus;
	struct place way = { 0, 0 }, step;
	u32 d;

	for (d = 0; d < t->ndim; d++) {
		s32 side = t->side[d];
		s32 by = (s32)tor_torus_coord(t, dst, d) - (s32)tor_torus_coord(t, src, d);

		if (t->kind[d] == TORCOLL_KIND_RING && 2 * by > side)
			by -= side;
		else if (t->kind[d] == TORCOLL_KIND_RING && 2 * by < -side)
			by += side;
		step = step_of(t, d);
		way.x += step.x * by;
		way.y += step.y * by;
	}
	return way;
}

static struct place size_of(const struct canvas *c)
{
	struct place p = place_of(c, c->d->torus.nodes - 1);

	return (struct place){ p.x + MARGIN, p.y + MARGIN + TITLE };
}

static void draw_nodes(const struct canvas *c)
{
	const struct dump *d = c->d;
	u32 i, node;

	for (i = 0; i < d->ranks; i++) {
		struct place p;

		node = d->members ? d->members[i] : i;
		p = place_of(c, node);
		fprintf(c->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%u\"/>", p.x, p.y, RADIUS);
		fprintf(c->out, "<text x=\"%.1f\" y=\"%.1f\">%u</text>\n", p.x, p.y + 4, i);
	}
}

/*
 * Draw a bow to the left of its direction, so that an arrow back is beside it;
 * no wider than half a step.
 */
static void draw_bow(const struct canvas *c, struct place a, struct place b, const struct dump_piece *x,
		     u64 n, bool head)
{
	double dx = b.x - a.x, dy = b.y - a.y, len = hypot(dx, dy), bow, back;
	struct place mid, end;

	/* longer ones, and those of other channels, beside shorter ones */
	bow = fmin(0.12 * len, 0.3 * STEP) + 3.0 * (x->ch % 4) + fmin(len / STEP, 6);
	mid = (struct place){ (a.x + b.x) / 2 + dy / len * bow, (a.y + b.y) / 2 - dx / len * bow };
	/* ends at the rims of the circles */
	back = hypot(b.x - mid.x, b.y - mid.y);
	end.x = b.x - (b.x - mid.x) / back * (RADIUS + 5);
	end.y = b.y - (b.y - mid.y) / back * (RADIUS + 5);
	a.x += (mid.x - a.x) / back * RADIUS;
	a.y += (mid.y - a.y) / back * RADIUS;
	fprintf(c->out, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" stroke=\"%s\" ", a.x, a.y,
		mid.x, mid.y, end.x, end.y, colours[x->ch % ARRAY_SIZE(colours)]);
	if (head)
		fprintf(c->out, "marker-end=\"url(#a%zu)\"", x->ch % ARRAY_SIZE(colours));
	fprintf(c->out, "%s>", x->op == TOR_PIECE_COPY ? " stroke-dasharray=\"5 3\"" : "");
	fprintf(c->out, "<title>channel %u: %u to %u, %llu elements</title></path>\n", x->ch,
		x->src, x->dst, (unsigned long long)n);
}

/*
 * Draw an arrow that leaves at an edge also at the opposite one: the picture is
 * clipped.
 */
static void draw_arrow(const struct canvas *c, const struct dump_piece *x, u64 n)
{
	const struct dump *d = c->d;
	u32 src = d->members ? d->members[x->src] : x->src;
	u32 dst = d->members ? d->members[x->dst] : x->dst;
	struct place a = place_of(c, src), b = place_of(c, dst), way = way_of(c, src, dst);
	struct place leave = { a.x + way.x, a.y + way.y }, enter = { b.x - way.x, b.y - way.y };

	if (hypot(way.x, way.y) < 1)
		return;
	draw_bow(c, enter, b, x, n, true);
	if (hypot(leave.x - b.x, leave.y - b.y) > 1)
		draw_bow(c, a, leave, x, n, false);
}

static bool same_transfer(const struct dump_piece *a, const struct dump_piece *b)
{
	return a->t == b->t && a->ch == b->ch && a->src == b->src && a->dst == b->dst;
}

/* Draw a round. Return the first piece of the next. */
static size_t draw_round(const struct canvas *c, size_t i)
{
	const struct dump *d = c->d;
	u32 t = d->piece[i].t;
	size_t j;
	u64 n;

	draw_nodes(c);
	for (; i < d->pieces && d->piece[i].t == t; i = j) {
		n = 0;
		for (j = i; j < d->pieces && same_transfer(&d->piece[i], &d->piece[j]); j++)
			n += d->piece[j].n;
		if (d->piece[i].src != d->piece[i].dst)
			draw_arrow(c, &d->piece[i], n);
	}
	return i;
}

/* The nodes' part of the picture is clipped separately. */
static void begin_picture(const struct canvas *c, double x, double y, u32 t)
{
	fprintf(c->out, "<svg x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\">\n", x, y,
		c->size.x, c->size.y);
	fprintf(c->out, "<rect x=\"4\" y=\"4\" width=\"%.0f\" height=\"%.0f\"/>\n", c->size.x - 8,
		c->size.y - 8);
	fprintf(c->out, "<text class=\"t\" x=\"12\" y=\"20\">round %u</text>\n", t);
	fprintf(c->out, "<svg x=\"4\" y=\"%u\" width=\"%.0f\" height=\"%.0f\" ", TITLE,
		c->size.x - 8, c->size.y - TITLE - 4);
	fprintf(c->out, "viewBox=\"4 0 %.0f %.0f\">\n", c->size.x - 8, c->size.y - TITLE - 4);
}

static u32 count_rounds(const struct dump *d)
{
	u32 rounds = 0;
	size_t i;

	for (i = 0; i < d->pieces; i++)
		rounds += !i || d->piece[i].t != d->piece[i - 1].t;
	return rounds;
}

static void draw_style(const struct canvas *c)
{
	size_t i;

	fprintf(c->out, "<style>path{fill:none;stroke-width:1.6}circle{fill:#fff;stroke:#444}");
	fprintf(c->out, "rect{fill:#fff;stroke:#ddd}text{font:11px sans-serif;text-anchor:middle}");
	fprintf(c->out, ".t{text-anchor:start;font-weight:bold}</style>\n<defs>\n");
	for (i = 0; i < ARRAY_SIZE(colours); i++) {
		fprintf(c->out, "<marker id=\"a%zu\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" ", i);
		fprintf(c->out, "markerWidth=\"5\" markerHeight=\"5\" orient=\"auto\">");
		fprintf(c->out, "<path d=\"M0 0L8 4L0 8z\" style=\"fill:%s\"/></marker>\n",
			colours[i]);
	}
	fprintf(c->out, "</defs>\n");
}

void dump_draw(const struct dump *d, FILE *out)
{
	struct canvas c = { .d = d, .out = out };
	u32 rounds = count_rounds(d), columns, k;
	size_t i = 0;

	c.size = size_of(&c);
	columns = c.size.x < WIDTH ? WIDTH / c.size.x : 1;
	columns = min(columns, rounds ? rounds : 1);
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\">\n",
		columns * c.size.x, ((rounds + columns - 1) / columns + !rounds) * c.size.y);
	fprintf(out, "<title>%s, %s</title>\n", tor_collective_name(d->collective), d->algorithm);
	fprintf(out, "<rect width=\"100%%\" height=\"100%%\" style=\"fill:#fff\"/>\n");
	draw_style(&c);
	for (k = 0; k < max_t(u32, rounds, 1); k++) {
		begin_picture(&c, k % columns * c.size.x, k / columns * c.size.y,
			      rounds ? d->piece[i].t : 0);
		if (rounds)
			i = draw_round(&c, i);
		else
			draw_nodes(&c);
		fprintf(out, "</svg></svg>\n");
	}
	fprintf(out, "</svg>\n");
}
