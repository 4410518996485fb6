// SPDX-License-Identifier: GPL-2.0
/*
 * A dump as an animated SVG: one picture, in which each round is shown for a
 * second, by CSS. An arrow is written once and used in each round that has it,
 * so that the rounds of large tori fit into a megabyte.
 */
#include "draw.h"

#include <stdlib.h>

/* The arrows that there are, in the order of compare_arrows(). */
struct arrows {
	struct message *arrow;
	size_t n;
};

static int compare_arrows(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	/* how far an arrow bows depends on its channel */
	return (int)(x->ch % 4) - (int)(y->ch % 4);
}

static void find_arrows(struct arrows *a, const struct draw *c)
{
	size_t i;

	a->arrow = dump_alloc(c->messages, sizeof(*a->arrow));
	if (c->messages)
		memcpy(a->arrow, c->message, c->messages * sizeof(*a->arrow));
	qsort(a->arrow, c->messages, sizeof(*a->arrow), compare_arrows);
	a->n = 0;
	for (i = 0; i < c->messages; i++)
		if (!a->n || compare_arrows(&a->arrow[a->n - 1], &a->arrow[i]))
			a->arrow[a->n++] = a->arrow[i];
}

static void define_arrows(const struct arrows *a, const struct draw *c)
{
	size_t i;

	fprintf(c->out, "<defs>\n");
	for (i = 0; i < a->n; i++) {
		fprintf(c->out, "<g id=\"a%zx\">", i);
		draw_arrow(c, &a->arrow[i], true);
		fprintf(c->out, "</g>\n");
	}
	fprintf(c->out, "</defs>\n");
}

static int compare_looks(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	return 2 * (int)x->colour + x->adds - 2 * (int)y->colour - y->adds;
}

/* Draw the arrows of a round, those that look alike in a group. */
static void use_arrows(const struct arrows *a, const struct draw *c, const struct draw_round *r)
{
	struct message *sorted, *found;
	size_t i, n = r->end - r->first;

	sorted = dump_alloc(n, sizeof(*sorted));
	memcpy(sorted, &c->message[r->first], n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_looks);
	for (i = 0; i < n; i++) {
		if (!i || compare_looks(&sorted[i - 1], &sorted[i]))
			fprintf(c->out, "%s<g class=\"c%u%s\">", i ? "</g>\n" : "",
				sorted[i].colour, sorted[i].adds ? "" : " s");
		found = bsearch(&sorted[i], a->arrow, a->n, sizeof(*found), compare_arrows);
		fprintf(c->out, "<use href=\"#a%zx\"/>", (size_t)(found - a->arrow));
	}
	if (n)
		fprintf(c->out, "</g>\n");
	free(sorted);
}

void draw_animated(const struct draw *c)
{
	struct arrows a;
	char style[512];
	u32 k, rounds = max(c->rounds, 1U);

	/* who wants nothing to move sees the first round */
	snprintf(style, sizeof(style),
		 ".r{visibility:hidden;animation:r %us infinite}@keyframes r{0%%{visibility:visible}"
		 "%.4f%%{visibility:hidden}100%%{visibility:hidden}}"
		 "@media(prefers-reduced-motion:reduce){.r{animation:none}.f{visibility:visible}}",
		 rounds, 100.0 / rounds);
	draw_begin(c, c->size.x, c->size.y, false, style);
	find_arrows(&a, c);
	define_arrows(&a, c);
	draw_frame(c, 0, DRAW_HEAD, NULL);
	draw_nodes(c);
	for (k = 0; k < c->rounds; k++) {
		fprintf(c->out, "<g class=\"r%s\" style=\"animation-delay:%us\">\n", k ? "" : " f",
			k);
		use_arrows(&a, c, &c->round[k]);
		fprintf(c->out, "</g>\n");
	}
	draw_frame_end(c);
	for (k = 0; k < c->rounds; k++)
		fprintf(c->out, "<text class=\"t r%s\" style=\"animation-delay:%us\" x=\"12\" y=\"%u\">"
			"round %u</text>\n", k ? "" : " f", k, DRAW_HEAD + 20, c->round[k].t);
	fprintf(c->out, "</svg>\n");
	free(a.arrow);
}
