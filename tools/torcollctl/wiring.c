// SPDX-License-Identifier: GPL-2.0
/*
 * The shape that hosts and cables form. See wiring.h.
 *
 * Every torus with as many nodes as there are hosts, or with a few more, if
 * ports hear nobody, is a candidate. The one in which most cables fit is taken.
 */
#include "wiring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MESH_HOSTS	4	/* three hosts are a ring */
#define CHORD_HOSTS	128	/* chords of more are not looked for, */
#define CHORD_WEIGHT	4
#define CHORD_ABSENT	1	/* nor with more that do not answer */

struct candidate {
	struct tor_torus t;
	uint32_t open;
	uint32_t least;
};

struct candidates {
	const struct graph *g;
	struct candidate *list;
	uint32_t n;
	bool lines;		/* grids are candidates, too */
	bool no_memory;
};

/* ---- candidates ---- */

static void add_candidate(struct candidates *c, const struct tor_torus *t, uint32_t open)
{
	struct candidate *list = realloc(c->list, (c->n + 1) * sizeof(*list));

	if (!list) {
		c->no_memory = true;
		return;
	}
	list[c->n++] = (struct candidate){ *t, open, place_least(c->g, t, open) };
	c->list = list;
}

/* Return whether lines along these dimensions are possible, and differ. */
static bool may_be_open(const struct tor_torus *t, uint32_t open)
{
	uint32_t d;

	for (d = 0; d < t->ndim; d++) {
		if (!(open >> d & 1))
			continue;
		if (t->side[d] == 2)
			return false;
		/* of dimensions that are alike, the last ones */
		if (d + 1 < t->ndim && t->side[d] == t->side[d + 1] && !(open >> (d + 1) & 1))
			return false;
	}
	return true;
}

static void add_torus(struct candidates *c, uint32_t ndim, const u32 *side, uint32_t cables)
{
	struct tor_torus t;
	uint32_t open;

	if (tor_torus_init(&t, ndim, side, cables))
		return;
	add_candidate(c, &t, 0);
	for (open = 1; c->lines && !tor_torus_has_chords(&t) && t.nodes == c->g->nhosts && open < 1U << ndim; open++)
		if (may_be_open(&t, open))
			add_candidate(c, &t, open);
}

/* Add a shape, with each number of cables that makes a difference. */
static void add_shape(struct candidates *c, uint32_t ndim, const u32 *side)
{
	uint32_t d;

	add_torus(c, ndim, side, 1);
	for (d = 0; d < ndim; d++) {
		if (side[d] == 2) {
			add_torus(c, ndim, side, 2);
			return;
		}
	}
}

/* Add all shapes whose sides, from the @ndim-th on, have the product @nodes. */
static void add_sides(struct candidates *c, uint32_t ndim, u32 *side, uint32_t nodes)
{
	uint32_t n;

	if (ndim == TOR_MAX_DIMS)
		return;
	for (n = ndim ? side[ndim - 1] : 2; n * n <= nodes; n++) {
		if (nodes % n)
			continue;
		side[ndim] = n;
		add_sides(c, ndim + 1, side, nodes / n);
	}
	side[ndim] = nodes;
	add_shape(c, ndim + 1, side);
}

/*
 * Add rings with chords of one step. Those of more are found only when they are
 * wanted: there are too many.
 */
static void add_chords(struct candidates *c, uint32_t nodes)
{
	u32 side[] = { nodes, 0 }, step;

	for (step = 2; nodes <= CHORD_HOSTS && 2 * step < nodes; step++) {
		side[1] = TORCOLL_SIDE(step, TORCOLL_KIND_CHORD);
		add_torus(c, 2, side, 1);
	}
}

/* Hosts that do not answer leave at least one silent port each. */
static uint32_t most_absent(const struct graph *g)
{
	return min(g->silent, g->nhosts / 4 + 1);
}

static uint32_t spread(const struct tor_torus *t)
{
	return t->side[t->ndim - 1] - t->side[0];
}

/* By what they cost at least; the simpler one of two that are alike first. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->least != y->least)
		return x->least < y->least ? -1 : 1;
	if (x->t.nodes != y->t.nodes)
		return x->t.nodes < y->t.nodes ? -1 : 1;
	if (x->t.ndim != y->t.ndim)
		return x->t.ndim < y->t.ndim ? -1 : 1;
	if (x->t.cables != y->t.cables)
		return x->t.cables < y->t.cables ? -1 : 1;
	if (x->open != y->open)
		return x->open < y->open ? -1 : 1;
	return (spread(&x->t) > spread(&y->t)) - (spread(&x->t) < spread(&y->t));
}

/* ---- the best of them ---- */

/*
 * What a placement costs, for comparing. There are many rings with chords, and a
 * torus with a few faults is nearly one of them: each fault counts CHORD_WEIGHT
 * times.
 */
static uint32_t weight(const struct place *p)
{
	return tor_torus_has_chords(&p->t) ? CHORD_WEIGHT * p->cost : p->cost;
}

/* Return whether @a is better than @b, which was found before. */
static bool is_better(const struct place *a, const struct place *b)
{
	if (weight(a) != weight(b))
		return weight(a) < weight(b);
	if (a->surplus != b->surplus)
		return a->surplus < b->surplus;
	if (a->absent != b->absent)
		return a->absent < b->absent;
	if (a->t.ndim != b->t.ndim)
		return a->t.ndim < b->t.ndim;
	return a->missing < b->missing;
}

static bool same_sides(const struct tor_torus *a, const struct tor_torus *b)
{
	return a->ndim == b->ndim && !memcmp(a->side, b->side, a->ndim * sizeof(*a->side)) &&
	       !memcmp(a->kind, b->kind, a->ndim * sizeof(*a->kind)) &&
	       !memcmp(a->step, b->step, a->ndim * sizeof(*a->step));
}

static bool is_as_good(const struct place *a, const struct place *b)
{
	return weight(a) == weight(b) && a->surplus == b->surplus && a->absent == b->absent;
}

static void add_also(struct wiring *w, const struct tor_torus *t)
{
	uint32_t i;

	for (i = 0; i < w->nalso; i++)
		if (same_sides(&w->also[i], t))
			return;
	if (w->nalso < WIRING_ALSO)
		w->also[w->nalso++] = *t;
}

/* The shape that was chosen is no other one. */
static void drop_chosen(struct wiring *w)
{
	uint32_t n = 0, i;

	for (i = 0; i < w->nalso; i++)
		if (!same_sides(&w->also[i], &w->place.t))
			w->also[n++] = w->also[i];
	w->nalso = n;
}

/* Take over @p if it is better; remember that another one is as good. */
static void take_place(struct wiring *w, struct place *p)
{
	struct place *old = &w->place;
	bool first = !old->who, better = first || is_better(p, old);

	if (!first && is_as_good(p, old))
		add_also(w, better ? &old->t : &p->t);
	else if (better)
		w->nalso = 0;
	if (better) {
		free(old->who);
		*old = *p;
	} else {
		free(p->who);
	}
}

/* What a placement of @t may cost: no more than @most, and than the best one so far. */
static uint32_t limit_for(const struct wiring *w, const struct tor_torus *t, uint32_t most)
{
	uint32_t best;

	if (!w->place.who)
		return most;
	best = weight(&w->place);
	return min(most, tor_torus_has_chords(t) ? best / CHORD_WEIGHT : best);
}

static int try_candidates(struct wiring *w, const struct candidates *c, uint32_t most)
{
	uint32_t i;

	for (i = 0; i < c->n && c->list[i].least <= most; i++) {
		const struct tor_torus *t = &c->list[i].t;
		struct place p;
		int err;

		if (c->list[i].least > limit_for(w, t, most))
			continue;
		err = place_search(&p, w->g, t, c->list[i].open, limit_for(w, t, most));
		if (err == -ENOMEM)
			return err;
		if (!err)
			take_place(w, &p);
	}
	return 0;
}

static bool is_mesh(const struct graph *g)
{
	uint32_t i;

	if (g->nhosts < MESH_HOSTS)
		return false;
	for (i = 0; i < g->nhosts; i++)
		if (g->host[i].npeers != g->nhosts - 1)
			return false;
	return true;
}

/* The most that a placement may cost to be a shape. */
static uint32_t cost_limit(const struct graph *g, bool any)
{
	return any ? 4 * (g->ncables + g->nports + g->nhosts) + 64 : g->ncables / 3 + g->silent + 4;
}

static void add_want(struct candidates *c, const struct tor_torus *want)
{
	u32 side[TOR_MAX_DIMS] = { 0 }, d;

	for (d = 0; d < want->ndim; d++)
		side[d] = tor_torus_side(want, d);
	add_shape(c, want->ndim, side);
}

/* As many hosts as a node has ports can be taken as a mesh, others as a ring. */
static u32 mesh_side(const struct graph *g)
{
	return TORCOLL_SIDE(g->nhosts, g->nhosts <= TOR_MAX_PORTS + 1 ? TORCOLL_KIND_MESH :
									TORCOLL_KIND_RING);
}

static int find_place(struct wiring *w, const struct tor_torus *want)
{
	const u32 all[] = { mesh_side(w->g) };
	struct candidates c = { .g = w->g, .lines = !want };
	bool mesh = is_mesh(w->g);
	u32 side[TOR_MAX_DIMS];
	uint32_t absent;
	int err;

	if (want)
		add_want(&c, want);
	else if (mesh)
		add_shape(&c, 1, all);
	else
		for (absent = w->g->nhosts == 1; absent <= most_absent(w->g); absent++) {
			add_sides(&c, 0, side, w->g->nhosts + absent);
			if (absent <= CHORD_ABSENT)
				add_chords(&c, w->g->nhosts + absent);
		}
	if (c.n)
		qsort(c.list, c.n, sizeof(*c.list), compare_candidates);
	err = c.no_memory ? -ENOMEM : try_candidates(w, &c, cost_limit(w->g, want || mesh));
	free(c.list);
	drop_chosen(w);
	if (mesh)
		w->kind = WIRING_MESH;
	return err;
}

static bool is_line(const struct place *p, uint32_t dim)
{
	return p->open >> dim & 1 || p->t.kind[dim] == TORCOLL_KIND_LINE;
}

static enum wiring_kind kind_of(const struct place *p)
{
	bool line = false;
	uint32_t d;

	if (p->t.ndim == 1 && p->t.kind[0] == TORCOLL_KIND_MESH)
		return WIRING_MESH;
	for (d = 0; d < p->t.ndim; d++)
		line |= is_line(p, d) || p->t.kind[d] == TORCOLL_KIND_MESH;
	if (tor_torus_has_chords(&p->t))
		return WIRING_CHORDS;
	if (p->t.ndim == 1)
		return line ? WIRING_LINE : WIRING_RING;
	return line ? WIRING_GRID : WIRING_TORUS;
}

/* ---- symmetries ---- */

/* How new coordinates come from old ones. */
struct symmetry {
	const struct wiring *w;
	uint32_t origin;			/* old node of the first host */
	uint32_t from[TOR_MAX_DIMS];		/* old dimension */
	bool back[TOR_MAX_DIMS];		/* it runs the other way */
	uint32_t *best;				/* old node of each new one */
};

static uint32_t old_node(const struct symmetry *s, uint32_t node)
{
	const struct tor_torus *t = &s->w->place.t;
	uint32_t old = 0, d;

	for (d = 0; d < t->ndim; d++) {
		uint32_t from = s->from[d], side = t->side[d];
		uint32_t c = tor_torus_coord(t, node, d);
		/* a line begins at one of its ends */
		uint32_t base = is_line(&s->w->place, from) ? (s->back[d] ? side - 1 : 0) :
				tor_torus_coord(t, s->origin, from);

		old += (base + (s->back[d] ? side - c : c)) % side * t->stride[from];
	}
	return old;
}

/* Keep the symmetry if it gives the first nodes to the first hosts. */
static void symmetry_judge(struct symmetry *s)
{
	const struct place *p = &s->w->place;
	uint32_t node, old;

	for (node = 0; node < p->t.nodes; node++) {
		old = old_node(s, node);
		if (p->who[old] > p->who[s->best[node]])
			return;
		if (p->who[old] < p->who[s->best[node]])
			break;
	}
	for (node = 0; node < p->t.nodes; node++)
		s->best[node] = old_node(s, node);
}

/* Try all symmetries for the dimensions from @dim on. */
static void symmetry_each(struct symmetry *s, uint32_t dim)
{
	const struct tor_torus *t = &s->w->place.t;
	uint32_t from, d;

	if (dim == t->ndim) {
		symmetry_judge(s);
		return;
	}
	for (from = 0; from < t->ndim; from++) {
		for (d = 0; d < dim && s->from[d] != from; d++)
			;
		/* chords have no coordinates */
		if (t->kind[dim] == TORCOLL_KIND_CHORD && (from != dim || s->back[dim]))
			continue;
		if (d < dim || t->side[from] != t->side[dim] || t->kind[from] != t->kind[dim] ||
		    (s->w->place.open >> from & 1) != (s->w->place.open >> dim & 1))
			continue;
		s->from[dim] = from;
		s->back[dim] = false;
		symmetry_each(s, dim + 1);
		s->back[dim] = true;
		symmetry_each(s, dim + 1);
	}
}

static uint32_t first_host(const struct place *p)
{
	uint32_t node = 0;

	while (p->who[node])
		node++;
	return node;
}

/* Renumber the nodes so that hosts have them in their order, if possible. */
static int put_in_order(struct wiring *w)
{
	struct place *p = &w->place;
	struct symmetry s = { .w = w, .origin = first_host(p) };
	uint32_t *who = calloc(p->t.nodes, sizeof(*who));
	uint32_t d, n;

	s.best = calloc(p->t.nodes, sizeof(*s.best));
	if (!who || !s.best) {
		free(who);
		free(s.best);
		return -ENOMEM;
	}
	for (d = 0; d < p->t.ndim; d++)
		s.from[d] = d;
	for (n = 0; n < p->t.nodes; n++)
		s.best[n] = old_node(&s, n);
	symmetry_each(&s, 0);
	for (n = 0; n < p->t.nodes; n++) {
		who[n] = p->who[s.best[n]];
		if (who[n] != GRAPH_NONE)
			w->node[who[n]] = n;
	}
	free(p->who);
	free(s.best);
	p->who = who;
	return 0;
}

int wiring_find(struct wiring *w, const struct graph *g, const struct tor_torus *want)
{
	int err;

	*w = (struct wiring){ .g = g, .node = calloc(g->nhosts, sizeof(*w->node)) };
	if (!w->node)
		return -ENOMEM;
	err = find_place(w, want);
	if (err || !w->place.who)
		return err;
	if (w->kind != WIRING_MESH)
		w->kind = kind_of(&w->place);
	return put_in_order(w);
}

void wiring_free(struct wiring *w)
{
	free(w->place.who);
	free(w->node);
}

uint32_t wiring_fits(const struct wiring *w)
{
	return w->g->ncables - w->place.surplus;
}
