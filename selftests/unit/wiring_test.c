// SPDX-License-Identifier: GPL-2.0
/* The shape that hosts and cables form: found under every order of hosts and devices, and with faults. */
#include "host_env.h"
#include "made_survey.h"

#include "../../tools/torcollctl/graph.c"
#include "../../tools/torcollctl/place.c"
#include "../../tools/torcollctl/place_cost.c"
#include "../../tools/torcollctl/place_grow.c"
#include "../../tools/torcollctl/wiring.c"

static u64 seed;

#define CHORD(n)	TORCOLL_SIDE(n, TORCOLL_KIND_CHORD)

struct wanted {
	u32 ndim, side[TOR_MAX_DIMS], cables;
};

/* As they are found: the sides in order, and with as few of them as possible. */
static const struct wanted shapes[] = {
	{ 1, { 2 }, 1 }, { 1, { 2 }, 2 }, { 1, { 3 }, 1 }, { 1, { 4 }, 1 }, { 1, { 5 }, 1 },
	{ 1, { 6 }, 1 }, { 1, { 7 }, 1 }, { 1, { 8 }, 1 }, { 1, { 9 }, 1 }, { 1, { 64 }, 1 },
	{ 2, { 2, 2 }, 2 }, { 2, { 2, 3 }, 1 }, { 2, { 2, 4 }, 1 }, { 2, { 3, 3 }, 1 },
	{ 2, { 3, 5 }, 1 }, { 2, { 4, 4 }, 1 }, { 2, { 2, 8 }, 1 }, { 2, { 2, 5 }, 2 },
	{ 2, { 4, 8 }, 1 }, { 2, { 8, 8 }, 1 }, { 2, { 16, 16 }, 1 },
	{ 3, { 2, 2, 2 }, 2 }, { 3, { 2, 3, 4 }, 2 }, { 3, { 3, 3, 3 }, 1 },
	{ 4, { 3, 3, 3, 3 }, 1 },
	{ 2, { 6, CHORD(2) }, 1 }, { 2, { 8, CHORD(2) }, 1 }, { 2, { 8, CHORD(3) }, 1 },
	{ 2, { 16, CHORD(4) }, 1 }, { 2, { 25, CHORD(7) }, 1 }, { 2, { 32, CHORD(7) }, 1 },
	{ 2, { 64, CHORD(10) }, 1 },
};

static struct tor_torus t;

static struct survey *fabric(u32 ndim, const u32 *side, u32 cables)
{
	assert_int_equal(tor_torus_init(&t, ndim, side, cables), 0);
	return made_torus(&t, &seed);
}

static void find(struct wiring *w, const struct survey *s)
{
	struct graph *g = graph_new(s);

	assert_non_null(g);
	assert_int_equal(wiring_find(w, g, NULL), 0);
}

static void drop(struct wiring *w, struct survey *s)
{
	graph_free((struct graph *)w->g);
	wiring_free(w);
	made_free(s);
}

static void assert_shape(const struct wiring *w, u32 ndim, const u32 *side, u32 cables)
{
	assert_int_not_equal(w->kind, WIRING_NONE);
	assert_int_equal(w->place.t.ndim, ndim);
	assert_true(tor_torus_same_sides(&w->place.t, ndim, side));
	assert_int_equal(w->place.t.cables, cables);
}

/* Every cable of the torus joins the hosts at its ends. */
static void assert_fits(const struct wiring *w)
{
	u32 node, port;

	assert_int_equal(w->place.cost, 0);
	for (node = 0; node < w->place.t.nodes; node++) {
		assert_int_equal(w->node[w->place.who[node]], node);
		for (port = 0; port < w->place.t.ports; port++)
			if (tor_torus_has_port(&w->place.t, node, port))
				assert_true(graph_cables(w->g, w->place.who[node],
					w->place.who[tor_torus_neighbour(&w->place.t, node, port)]));
	}
}

static void wiring__exact(void **state)
{
	u32 i, again;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		for (again = 0; again < 3; again++) {
			struct survey *s = fabric(shapes[i].ndim, shapes[i].side, shapes[i].cables);
			struct wiring w;

			find(&w, s);
			assert_shape(&w, shapes[i].ndim, shapes[i].side, shapes[i].cables);
			assert_fits(&w);
			drop(&w, s);
		}
	}
}

/* The first host is node 0, and its peers come in their order. */
static void wiring__in_order(void **state)
{
	static const u32 side[] = { 5, 5 };
	u32 again;

	for (again = 0; again < 5; again++) {
		struct survey *s = fabric(2, side, 1);
		struct wiring w;
		const u32 *who;

		find(&w, s);
		who = w.place.who;
		assert_int_equal(who[0], 0);
		assert_int_equal(who[1], w.g->host[0].peer[0].host);
		assert_true(who[1] < who[4]);
		assert_true(who[5] < who[20]);
		drop(&w, s);
	}
}

static void wiring__hypercube_has_fewer_dimensions(void **state)
{
	static const u32 cube[] = { 2, 2, 2, 2 }, torus[] = { 4, 4 };
	struct survey *s = fabric(4, cube, 1);
	struct wiring w;
	u32 i;

	find(&w, s);
	assert_shape(&w, 2, torus, 1);
	assert_fits(&w);
	assert_int_equal(w.kind, WIRING_TORUS);
	for (i = 0; i < w.nalso && w.also[i].ndim != 4; i++)
		;
	assert_true(i < w.nalso);
	drop(&w, s);
}

static void wiring__as_wanted(void **state)
{
	static const u32 cube[] = { 2, 2, 2 }, ring[] = { 9 };
	struct survey *s = fabric(3, cube, 1);
	struct graph *g = graph_new(s);
	struct tor_torus want;
	struct wiring w;

	assert_int_equal(wiring_find(&w, g, &t), 0);
	assert_shape(&w, 3, cube, 1);
	assert_fits(&w);
	wiring_free(&w);
	/* even if that fits badly */
	assert_int_equal(tor_torus_init(&want, 1, ring, 1), 0);
	assert_int_equal(wiring_find(&w, g, &want), 0);
	assert_shape(&w, 1, ring, 1);
	assert_int_equal(w.place.absent, 1);
	drop(&w, s);
}

static void wiring__one_cable_missing(void **state)
{
	u32 i;

	for (i = 2; i < ARRAY_SIZE(shapes); i++) {
		struct survey *s = fabric(shapes[i].ndim, shapes[i].side, shapes[i].cables);
		struct wiring w;

		made_cut(made_any(s, &seed));
		find(&w, s);
		assert_shape(&w, shapes[i].ndim, shapes[i].side, shapes[i].cables);
		assert_int_equal(w.place.missing, t.ndim > 1);
		assert_int_equal(w.place.surplus, 0);
		assert_int_equal(w.kind, tor_torus_has_chords(&t) ? WIRING_CHORDS :
				 t.ndim > 1 ? WIRING_TORUS : WIRING_LINE);
		drop(&w, s);
	}
}

/* Exchange the ends of two cables between four hosts none of which has a cable to another of them but by these. */
static void cross(struct survey *s)
{
	struct survey_port *p, *q;

	do {
		p = made_any(s, &seed);
		q = made_any(s, &seed);
	} while (p->owner == q->owner || p->owner == q->other->owner ||
		 p->other->owner == q->owner || p->other->owner == q->other->owner);
	made_cross(p, q);
}

static void wiring__two_cables_crossed(void **state)
{
	u32 i;

	for (i = 14; i < ARRAY_SIZE(shapes); i++) {
		struct survey *s = fabric(shapes[i].ndim, shapes[i].side, shapes[i].cables);
		struct wiring w;

		/* a small ring with chords is as near to a torus: see weight() in wiring.c */
		if (tor_side_kind(shapes[i].side[1]) == TORCOLL_KIND_CHORD && shapes[i].side[0] < 25) {
			made_free(s);
			continue;
		}
		cross(s);
		find(&w, s);
		assert_shape(&w, shapes[i].ndim, shapes[i].side, shapes[i].cables);
		assert_in_range(w.place.missing, 0, 2);
		assert_int_equal(w.place.missing, w.place.surplus);
		drop(&w, s);
	}
}

static void wiring__one_host_absent(void **state)
{
	u32 i;

	for (i = 3; i < ARRAY_SIZE(shapes); i++) {
		struct survey *s = fabric(shapes[i].ndim, shapes[i].side, shapes[i].cables);
		struct wiring w;

		made_absent(s, host_rand(&seed) % s->nhosts);
		find(&w, s);
		assert_shape(&w, shapes[i].ndim, shapes[i].side, shapes[i].cables);
		assert_int_equal(w.place.absent, 1);
		assert_int_equal(w.place.missing, 0);
		assert_int_equal(w.place.surplus, 0);
		drop(&w, s);
	}
}

/* A tenth of the cables is wrong: the shape is still found, and most cables fit. */
static void wiring__many_faults(void **state)
{
	static const u32 sides[][3] = { { 4, 4 }, { 8, 8 }, { 5, 7 }, { 3, 3, 3 }, { 16, 16 } };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		u32 ndim = sides[i][2] ? 3 : 2;
		struct survey *s = fabric(ndim, sides[i], 1);
		u32 edges = place_edges(&t, 0), faults = edges / 30;
		struct wiring w;

		for (k = 0; k < faults; k++) {
			made_cut(made_any(s, &seed));
			cross(s);
		}
		find(&w, s);
		assert_shape(&w, ndim, sides[i], 1);
		assert_in_range(wiring_fits(&w), edges - 3 * faults, edges);
		drop(&w, s);
	}
}

/* A device by which all hosts are in the office's network is no fault. */
static void wiring__office_network(void **state)
{
	static const u32 side[] = { 4 };
	struct survey *s = fabric(1, side, 1);
	struct wiring w;
	u32 i;

	for (i = 0; i < 4; i++) {
		struct survey_host *h = s->hosts[i];
		struct survey_port *ports = calloc(3, sizeof(*ports));
		u32 k;

		memcpy(ports, h->ports, 2 * sizeof(*ports));
		for (k = 0; k < 2; k++)
			ports[k].other->other = &ports[k];
		ports[2] = ports[0];
		ports[2].other = NULL;
		strcpy(ports[2].own.device, "lan0");
		free(h->ports);
		h->ports = ports;
		h->nports = 3;
	}
	find(&w, s);
	assert_shape(&w, 1, side, 1);
	assert_fits(&w);
	drop(&w, s);
}

/* Take out the cables that wrap around along a dimension. */
static void open_dim(struct survey *s, struct wiring *w, u32 dim)
{
	u32 node, i;

	for (node = 0; node < t.nodes; node++) {
		u32 to = tor_torus_neighbour(&t, node, tor_torus_port(&t, dim, TOR_PLUS));
		struct survey_host *a = s->hosts[w->place.who[node]];

		if (tor_torus_coord(&t, node, dim) != t.side[dim] - 1)
			continue;
		for (i = 0; i < a->nports; i++)
			if (a->ports[i].other &&
			    a->ports[i].other->owner == s->hosts[w->place.who[to]])
				made_cut(&a->ports[i]);
	}
}

static void wiring__grid(void **state)
{
	static const u32 sides[][2] = { { 3, 3 }, { 3, 4 }, { 4, 4 }, { 5, 7 }, { 8, 8 } };
	u32 i, both;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		for (both = 0; both < 2; both++) {
			struct survey *s = fabric(2, sides[i], 1);
			struct wiring w;

			find(&w, s);
			open_dim(s, &w, 1);
			if (both)
				open_dim(s, &w, 0);
			graph_free((struct graph *)w.g);
			wiring_free(&w);
			find(&w, s);
			assert_shape(&w, 2, sides[i], 1);
			assert_int_equal(w.kind, WIRING_GRID);
			assert_int_equal(__builtin_popcount(w.place.open), 1 + both);
			assert_int_equal(w.place.missing, 0);
			assert_int_equal(w.place.surplus, 0);
			drop(&w, s);
		}
	}
}

static void wiring__mesh(void **state)
{
	struct survey *s = calloc(1, sizeof(*s));
	static const u32 side[] = { TORCOLL_SIDE(5, TORCOLL_KIND_MESH) };
	struct wiring w;
	u32 a, b;

	for (a = 0; a < 5; a++)
		made_host(s, "h", 4);
	for (a = 0; a < 5; a++)
		for (b = 0; b < a; b++)
			made_cable(&s->hosts[a]->ports[b], &s->hosts[b]->ports[a - 1]);
	find(&w, s);
	assert_int_equal(w.kind, WIRING_MESH);
	assert_shape(&w, 1, side, 1);
	assert_int_equal(w.place.missing, 0);
	drop(&w, s);
}

/* A line and a ring are no symmetry of each other, though they are as long. */
static void wiring__line_and_ring_of_one_length(void **state)
{
	static const u32 side[] = { TORCOLL_SIDE(4, TORCOLL_KIND_LINE), 4 };
	struct survey *s = calloc(1, sizeof(*s));
	struct tor_torus want;
	struct wiring w;
	char name[8];
	u32 h;

	for (h = 0; h < 16; h++) {
		snprintf(name, sizeof(name), "h%02u", h);
		made_host(s, name, 4);
	}
	for (h = 0; h < 16; h++) {
		made_cable(&s->hosts[h]->ports[0], &s->hosts[h / 4 * 4 + (h + 1) % 4]->ports[1]);
		if (h < 12)
			made_cable(&s->hosts[h]->ports[2], &s->hosts[h + 4]->ports[3]);
	}
	assert_int_equal(tor_torus_init(&want, 2, side, 1), 0);
	assert_int_equal(wiring_find(&w, graph_new(s), &want), 0);
	assert_int_equal(w.place.cost, 0);
	drop(&w, s);
}

/* A star is no torus. */
static void wiring__none(void **state)
{
	struct survey *s = calloc(1, sizeof(*s));
	struct wiring w;
	u32 i;

	made_host(s, "hub", 8);
	for (i = 0; i < 8; i++) {
		made_host(s, "h", 1);
		made_cable(&s->hosts[0]->ports[i], &s->hosts[i + 1]->ports[0]);
	}
	find(&w, s);
	assert_int_equal(w.kind, WIRING_NONE);
	drop(&w, s);
}

static void wiring__alone(void **state)
{
	struct survey *s = calloc(1, sizeof(*s));
	struct wiring w;

	made_host(s, "h", 1);
	find(&w, s);
	assert_int_equal(w.kind, WIRING_NONE);
	drop(&w, s);
}

static int seeded(void **state)
{
	seed = 25;
	return 0;
}

#define TEST(f)	cmocka_unit_test_setup(f, seeded)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wiring__exact),
		TEST(wiring__in_order),
		TEST(wiring__hypercube_has_fewer_dimensions),
		TEST(wiring__as_wanted),
		TEST(wiring__one_cable_missing),
		TEST(wiring__two_cables_crossed),
		TEST(wiring__one_host_absent),
		TEST(wiring__many_faults),
		TEST(wiring__office_network),
		TEST(wiring__grid),
		TEST(wiring__mesh),
		TEST(wiring__line_and_ring_of_one_length),
		TEST(wiring__none),
		TEST(wiring__alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
