// SPDX-License-Identifier: GPL-2.0
/*
 * A dump as SVG: for each round a picture of the torus, with an arrow per
 * message, coloured by the block that it carries. Consecutive rounds with the
 * same arrows share a picture. Dimension 0 goes right, dimension 1 down; further
 * dimensions are drawn as a grid of such planes. An arrow around the torus
 * leaves the picture at one edge and enters at the other.
 */
#include "draw.h"

#include "core/host_shape.h"

#include <math.h>
#include <stdlib.h>

#define STEP		70		/* between nodes */
#define RADIUS		13
#define MARGIN		40
#define TITLE		28		/* above a picture */
#define WIDTH		1600		/* as many pictures side by side as fit */
#define LEAST_WIDTH	460		/* of the legend */

/* --- messages --- */

static u32 block_of(const struct dump *d, u64 element)
{
	u32 low = 0, high = d->ranks, middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (dump_block_start(d, middle) <= element)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static u32 colour_of_block(const struct dump *d, u32 block)
{
	return (u64)block * DRAW_HUES / d->ranks;
}

static bool same_message(const struct dump_piece *a, const struct dump_piece *b)
{
	return a->t == b->t && a->ch == b->ch && a->src == b->src && a->dst == b->dst;
}

static void add_message(struct draw *c, const struct dump_piece *x, size_t pieces)
{
	struct message *m = &c->message[c->messages];
	size_t i;

	*m = (struct message){ .t = x->t, .ch = x->ch, .src = x->src, .dst = x->dst };
	for (i = 0; i < pieces; i++) {
		m->n += x[i].n;
		m->adds |= x[i].op == TOR_PIECE_REDUCE;
	}
	m->colour = 2 * m->n > c->d->count ? DRAW_WHOLE :
					     colour_of_block(c->d, block_of(c->d, x->soff));
	if (!c->rounds || c->round[c->rounds - 1].t != m->t)
		c->round[c->rounds++] = (struct draw_round){ .t = m->t, .first = c->messages };
	/* what a rank moves locally is a round, but no arrow */
	c->messages += m->src != m->dst;
	c->round[c->rounds - 1].end = c->messages;
}

static void find_messages(struct draw *c)
{
	const struct dump *d = c->d;
	size_t i, end;

	c->message = dump_alloc(d->pieces + 1, sizeof(*c->message));
	c->round = dump_alloc(d->pieces + 1, sizeof(*c->round));
	for (i = 0; i < d->pieces; i = end) {
		for (end = i + 1; end < d->pieces && same_message(&d->piece[i], &d->piece[end]); end++)
			;
		add_message(c, &d->piece[i], end - i);
	}
}

/* Return whether two rounds have the same arrows, whatever these carry. */
static bool same_arrows(const struct draw *c, u32 a, u32 b)
{
	const struct message *m = &c->message[c->round[a].first];
	const struct message *o = &c->message[c->round[b].first];
	size_t i, n = c->round[a].end - c->round[a].first;

	if (c->round[b].end - c->round[b].first != n)
		return false;
	for (i = 0; i < n; i++)
		if (m[i].ch != o[i].ch || m[i].src != o[i].src || m[i].dst != o[i].dst ||
		    m[i].adds != o[i].adds)
			return false;
	return true;
}

/* --- places --- */

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

/* A ring with chords is drawn as one, node 0 at its top. */
static double radius_of(const struct tor_torus *t)
{
	return max_t(double, 1.2 * STEP, t->nodes * STEP * 0.7 / (2 * M_PI));
}

static struct place place_on_ring(const struct tor_torus *t, u32 node)
{
	double radius = radius_of(t), angle = 2 * M_PI * node / t->nodes;

	return (struct place){ MARGIN + radius * (1 + sin(angle)), MARGIN + radius * (1 - cos(angle)) };
}

static struct place place_of(const struct draw *c, u32 node)
{
	const struct tor_torus *t = &c->d->torus;
	struct place p = { MARGIN, MARGIN }, step;
	u32 d;

	if (tor_torus_has_chords(t))
		return place_on_ring(t, node);
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
static struct place way_of(const struct draw *c, u32 src, u32 dst)
{
	const struct tor_torus *t = &c->d->torus;
	struct place way = { 0, 0 }, step;
	u32 d;

	if (tor_torus_has_chords(t)) {
		way = place_on_ring(t, dst);
		step = place_on_ring(t, src);
		return (struct place){ way.x - step.x, way.y - step.y };
	}
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

static struct place size_of(const struct draw *c)
{
	struct place p = place_of(c, c->d->torus.nodes - 1);

	if (tor_torus_has_chords(&c->d->torus))
		p.x = p.y = MARGIN + 2 * radius_of(&c->d->torus);
	return (struct place){ p.x + MARGIN, p.y + MARGIN + TITLE };
}

static u32 node_of(const struct dump *d, u32 rank)
{
	return d->members ? d->members[rank] : rank;
}

/* --- nodes and arrows --- */

void draw_nodes(const struct draw *c)
{
	const struct dump *d = c->d;
	struct place p;
	u32 i;

	for (i = 0; i < d->ranks; i++) {
		p = place_of(c, node_of(d, i));
		fprintf(c->out, "<circle class=\"n%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%u\"/>",
			colour_of_block(d, i), p.x, p.y, RADIUS);
		fprintf(c->out, "<text x=\"%.1f\" y=\"%.1f\">%u</text>\n", p.x, p.y + 4, i);
	}
}

/*
 * Draw a bow to the left of its direction, so that an arrow back is beside it;
 * no wider than half a step.
 */
static void draw_bow(const struct draw *c, struct place a, struct place b, const struct message *m,
		     bool head, bool plain)
{
	double dx = b.x - a.x, dy = b.y - a.y, len = hypot(dx, dy), bow, back;
	struct place mid, end;

	/* longer ones, and those of other channels, beside shorter ones */
	bow = fmin(0.12 * len, 0.3 * STEP) + 3.0 * (m->ch % 4) + fmin(len / STEP, 6);
	mid = (struct place){ (a.x + b.x) / 2 + dy / len * bow, (a.y + b.y) / 2 - dx / len * bow };
	/* ends at the rims of the circles */
	back = hypot(b.x - mid.x, b.y - mid.y);
	end.x = b.x - (b.x - mid.x) / back * (RADIUS + 5);
	end.y = b.y - (b.y - mid.y) / back * (RADIUS + 5);
	a.x += (mid.x - a.x) / back * RADIUS;
	a.y += (mid.y - a.y) / back * RADIUS;
	fprintf(c->out, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"", a.x, a.y, mid.x, mid.y,
		end.x, end.y);
	if (!plain)
		fprintf(c->out, " class=\"c%u%s%s\"", m->colour, m->adds ? "" : " s",
			head ? "" : " o");
	else if (!head)
		fprintf(c->out, " class=\"o\"");
	if (plain)
		fprintf(c->out, "/>");
	else
		fprintf(c->out, "><title>channel %u: %u to %u, %llu elements</title></path>\n",
			m->ch, m->src, m->dst, (unsigned long long)m->n);
}

void draw_arrow(const struct draw *c, const struct message *m, bool plain)
{
	u32 src = node_of(c->d, m->src), dst = node_of(c->d, m->dst);
	struct place a = place_of(c, src), b = place_of(c, dst), way = way_of(c, src, dst);
	struct place leave = { a.x + way.x, a.y + way.y }, enter = { b.x - way.x, b.y - way.y };

	/* between ranks of a node */
	if (hypot(way.x, way.y) < 1)
		return;
	draw_bow(c, enter, b, m, true, plain);
	if (hypot(leave.x - b.x, leave.y - b.y) > 1)
		draw_bow(c, a, leave, m, false, plain);
}

/* --- around them --- */

void draw_frame(const struct draw *c, double x, double y, const char *title)
{
	fprintf(c->out, "<svg x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\">\n", x, y,
		c->size.x, c->size.y);
	fprintf(c->out, "<rect x=\"4\" y=\"4\" width=\"%.0f\" height=\"%.0f\"/>\n", c->size.x - 8,
		c->size.y - 8);
	if (title)
		fprintf(c->out, "<text class=\"t\" x=\"12\" y=\"20\">%s</text>\n", title);
	/* the nodes' part is clipped separately */
	fprintf(c->out, "<svg x=\"4\" y=\"%u\" width=\"%.0f\" height=\"%.0f\" ", TITLE,
		c->size.x - 8, c->size.y - TITLE - 4);
	fprintf(c->out, "viewBox=\"4 0 %.0f %.0f\">\n", c->size.x - 8, c->size.y - TITLE - 4);
}

void draw_frame_end(const struct draw *c)
{
	fprintf(c->out, "</svg></svg>\n");
}

/* A class for each colour, of arrows with their heads and of nodes. */
static void draw_colour(const struct draw *c, u32 i)
{
	char colour[32];

	if (i == DRAW_WHOLE)
		snprintf(colour, sizeof(colour), "#444");
	else
		snprintf(colour, sizeof(colour), "hsl(%u,75%%,42%%)", i * 360 / DRAW_HUES);
	fprintf(c->out, "<style>.c%u{stroke:%s;marker-end:url(#m%u)}", i, colour, i);
	fprintf(c->out, ".n%u{fill:hsl(%u,70%%,85%%)}</style>\n", i, i * 360 / DRAW_HUES);
	fprintf(c->out, "<marker id=\"m%u\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" ", i);
	fprintf(c->out, "markerWidth=\"5\" markerHeight=\"5\" orient=\"auto\">");
	fprintf(c->out, "<path d=\"M0 0L8 4L0 8z\" style=\"fill:%s;stroke:none\"/></marker>\n",
		colour);
}

static void draw_style(const struct draw *c, const char *style)
{
	u32 i;

	fprintf(c->out, "<defs><style>path{fill:none;stroke-width:1.6}circle{stroke:#444}");
	fprintf(c->out, "rect{fill:#fff;stroke:#ddd}text{font:11px sans-serif;text-anchor:middle}");
	fprintf(c->out, ".t{text-anchor:start;font-weight:bold}.l{text-anchor:start;font-size:12px}");
	fprintf(c->out, ".s{stroke-dasharray:5 3}%s</style>\n", style);
	for (i = 0; i <= DRAW_WHOLE; i++)
		draw_colour(c, i);
	/* behind those of colours, which it overrides */
	fprintf(c->out, "<style>.o{marker-end:none}</style></defs>\n");
}

static void draw_legend(const struct draw *c, double y, bool shared)
{
	static const char *const line[] = {
		"added to what the receiver has",
		"stored by the receiver",
		"An arrow has the colour of the block that it carries, the first of several;",
		"a node has that of its own block. Dark: most of the vector.",
		"Arrows that leave the picture enter it at the opposite edge.",
		"Rounds that share a picture have the same arrows; what these carry is",
		"that of the first.",
	};
	u32 i;

	for (i = 0; i < (shared ? 7 : 5); i++, y += 18) {
		if (i < 2)
			fprintf(c->out, "<path class=\"c%u%s\" d=\"M12 %.0fH42\"/>\n", DRAW_WHOLE,
				i ? " s" : "", y);
		fprintf(c->out, "<text class=\"l\" x=\"%u\" y=\"%.0f\">%s</text>\n", i < 2 ? 56 : 12,
			y + 4, line[i]);
	}
}

void draw_begin(const struct draw *c, double width, double height, bool shared,
		const char *style)
{
	const struct dump *d = c->d;
	char name[128 + HOST_SHAPE_TEXT], shape[HOST_SHAPE_TEXT];

	snprintf(name, sizeof(name), "%s by %s on %s", tor_collective_name(d->collective),
		 d->algorithm, host_torus_print(shape, &d->torus));
	width = fmax(width, LEAST_WIDTH);
	fprintf(c->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\">\n",
		width, height + DRAW_HEAD + DRAW_LEGEND);
	fprintf(c->out, "<title>%s</title>\n", name);
	fprintf(c->out, "<rect width=\"100%%\" height=\"100%%\" style=\"fill:#fff\"/>\n");
	draw_style(c, style);
	fprintf(c->out, "<text class=\"t\" x=\"12\" y=\"20\">%s: %u round%s, %llu elements</text>\n",
		name, c->rounds, c->rounds == 1 ? "" : "s", (unsigned long long)d->count);
	draw_legend(c, height + DRAW_HEAD + 16, shared);
}

/* --- a picture for each round --- */

/* Draw the rounds from @from to before @to, which have the same arrows. */
static void draw_rounds(const struct draw *c, u32 from, u32 to, double x, double y)
{
	char title[64] = "round 0";
	size_t i;

	if (to - from > 1)
		snprintf(title, sizeof(title), "rounds %u to %u", c->round[from].t,
			 c->round[to - 1].t);
	else if (c->rounds)
		snprintf(title, sizeof(title), "round %u", c->round[from].t);
	draw_frame(c, x, y, title);
	draw_nodes(c);
	for (i = c->rounds ? c->round[from].first : 0; c->rounds && i < c->round[from].end; i++)
		draw_arrow(c, &c->message[i], false);
	draw_frame_end(c);
}

/* Return the first round behind those that have the arrows of @from. */
static u32 fold(const struct draw *c, u32 from)
{
	u32 to = from + 1;

	while (to < c->rounds && same_arrows(c, from, to))
		to++;
	return to;
}

static void draw_still(const struct draw *c)
{
	u32 pictures = 0, columns, from, k;

	for (from = 0; from < c->rounds; from = fold(c, from))
		pictures++;
	pictures = max(pictures, 1U);
	columns = min(max_t(u32, WIDTH / c->size.x, 1), pictures);
	draw_begin(c, columns * c->size.x, (pictures + columns - 1) / columns * c->size.y,
		   pictures < c->rounds, "");
	for (k = 0, from = 0; k < pictures; k++) {
		u32 to = fold(c, from);

		draw_rounds(c, from, to, k % columns * c->size.x,
			    DRAW_HEAD + k / columns * c->size.y);
		from = to;
	}
	fprintf(c->out, "</svg>\n");
}

void dump_draw(const struct dump *d, bool animated, FILE *out)
{
	struct draw c = { .d = d, .out = out };

	c.size = size_of(&c);
	find_messages(&c);
	if (animated)
		draw_animated(&c);
	else
		draw_still(&c);
	free(c.message);
	free(c.round);
}
