// SPDX-License-Identifier: GPL-2.0
/*
 * Which cases are tried: such as have pairs of properties that were not met so far. See conformance.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conformance.h"

#define CANDIDATES	16		/* of which the best is taken */
#define TRIES		100		/* until a pair counts as impossible */
#define SIDE		32		/* of a table: more than any enumeration here has */

/* Pairs that every sample is to meet. */
static const struct table {
	enum axis axis[2];
	const char *name;
} tables[] = {
	{ { AXIS_COLLECTIVE, AXIS_TYPE }, "(collective, type)" },
	{ { AXIS_TYPE, AXIS_REDOP }, "(type, operator)" },
	{ { AXIS_ALGORITHM, AXIS_COLLECTIVE }, "(family, collective)" },
	{ { AXIS_COLLECTIVE, AXIS_SIZE }, "(collective, size class)" },
	{ { AXIS_ALGORITHM, AXIS_BITS }, "(family, bit level)" },
	{ { AXIS_COLLECTIVE, AXIS_WAY }, "(collective, way of calling)" },
};

static const char *const size_names[] = {
	[SIZE_ZERO] = "0",
	[SIZE_ONE] = "1",
	[SIZE_TWO] = "2",
	[SIZE_PRIME] = "prime",
	[SIZE_FRAME] = "frame",
	[SIZE_PAGE] = "page",
	[SIZE_THOUSANDS] = "thousands",
	[SIZE_LARGE] = "large",
};

static const char *const bits_names[] = {
	"default", "agree", "ordered", "relaxed", "ordered-and-rounded",
};

static const char *const way_names[] = { "run", "started", "prepared", "batch" };

struct coverage {
	bool all;
	uint32_t drawn;
	uint32_t met[AXES][AXES][SIDE][SIDE];
	bool exists[AXES][AXES][SIDE][SIDE];	/* as far as is known: see possible() */
};

static uint32_t root_class(const struct test_case *t, const struct world *w)
{
	if (!has_root(t->op.collective))
		return ROOT_NONE;
	if (!t->op.root)
		return ROOT_FIRST;
	return t->op.root == w->info.ranks - 1 ? ROOT_LAST : ROOT_OTHER;
}

static uint32_t value_of(const struct test_case *t, const struct world *w, enum axis axis)
{
	switch (axis) {
	case AXIS_COLLECTIVE:
		return t->op.collective;
	case AXIS_TYPE:
		return t->op.type;
	case AXIS_REDOP:
		return t->op.redop;
	case AXIS_ALGORITHM:
		return t->op.algorithm;
	case AXIS_SIZE:
		return t->size;
	case AXIS_BITS:
		return t->inexact ? BITS_ROUNDED : t->op.bits;
	case AXIS_ROOT:
		return root_class(t, w);
	case AXIS_PLACE:
		return t->in_place;
	case AXIS_UNEVEN:
		return t->uneven;
	case AXIS_REGISTERED:
		return t->registered;
	case AXIS_WAY:
		return t->way;
	default:
		return t->offset;
	}
}

/* Levels of bits mean nothing where nothing is rounded. */
static bool counts(const struct test_case *t, enum axis a, enum axis b)
{
	return (a != AXIS_BITS && b != AXIS_BITS) || (reduces(t->op.collective) && rounds(&t->op));
}

/* Is the pair one of those that are to be met? */
static bool is_wanted(const struct coverage *c, enum axis a, enum axis b)
{
	if (c->all)
		return a < b;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (tables[i].axis[0] == a && tables[i].axis[1] == b)
			return true;
	return false;
}

/* Refused cases prove nothing about results. */
static uint32_t novelty(const struct coverage *c, const struct world *w, const struct test_case *t)
{
	uint32_t n = 0;

	for (int a = 0; a < AXES && t->expect == SERVED; a++)
		for (int b = 0; b < AXES; b++)
			n += is_wanted(c, a, b) && counts(t, a, b) &&
			     !c->met[a][b][value_of(t, w, a)][value_of(t, w, b)];
	return n;
}

static void note(struct coverage *c, const struct world *w, const struct test_case *t)
{
	for (int a = 0; a < AXES && t->expect == SERVED; a++) {
		for (int b = 0; b < AXES; b++) {
			uint32_t x = value_of(t, w, a), y = value_of(t, w, b);

			if (!counts(t, a, b))
				continue;
			c->met[a][b][x][y]++;
			/* where it was given up too soon */
			c->exists[a][b][x][y] |= c->all && a < b;
		}
	}
}

static bool fulfils(const struct world *w, const struct test_case *t, const struct wish *wish)
{
	return t->expect == SERVED && counts(t, wish->axis[0], wish->axis[1]) &&
	       value_of(t, w, wish->axis[0]) == wish->value[0] &&
	       value_of(t, w, wish->axis[1]) == wish->value[1];
}

/* ---- what there is ---- */

static bool algorithm_serves(const struct world *w, uint32_t algorithm, uint32_t collective,
			     uint32_t type, uint32_t bits)
{
	struct torcoll_op op = {
		.collective = collective, .algorithm = algorithm, .type = type,
		.redop = TORCOLL_SUM, .count = 1000,
		.bits = bits == BITS_ROUNDED ? TORCOLL_BITS_ORDERED : bits,
	};

	return w->algorithms & 1ULL << algorithm && w->collectives & 1ULL << collective &&
	       ask_plans(w, &op) == SERVED;
}

static bool algorithm_keeps(const struct world *w, uint32_t algorithm, uint32_t bits)
{
	for (uint32_t c = 0; bits <= BITS_ROUNDED && c < TORCOLL_COLL_COUNT; c++)
		if (reduces(c) && algorithm_serves(w, algorithm, c, TORCOLL_F32, bits))
			return true;
	return false;
}

/* Do values @x and @y of a table's axes go together? */
static bool exists(const struct world *w, const struct table *table, uint32_t x, uint32_t y)
{
	bool barrier = x == TORCOLL_BARRIER;

	if (table->axis[0] == AXIS_TYPE)
		return w->types & 1ULL << x && w->redops & 1ULL << y && type_has_redop(x, y);
	if (table->axis[0] == AXIS_ALGORITHM)
		return table->axis[1] == AXIS_BITS ? algorithm_keeps(w, x, y) :
						     algorithm_serves(w, x, y, TORCOLL_I32, 0);
	if (!(w->collectives & 1ULL << x))
		return false;
	if (table->axis[1] == AXIS_TYPE)
		return !barrier && w->types & 1ULL << y;
	if (table->axis[1] == AXIS_WAY)
		return y < (barrier || is_message(x) ? 1 : WAYS);
	return y < (barrier ? 1 : SIZE_CLASSES);
}

static uint64_t values_of(const struct world *w, enum axis axis)
{
	switch (axis) {
	case AXIS_COLLECTIVE:
		return w->collectives;
	case AXIS_TYPE:
		return w->types;
	case AXIS_REDOP:
		return w->redops | 1;
	case AXIS_ALGORITHM:
		return w->algorithms;
	case AXIS_SIZE:
		return (1 << SIZE_CLASSES) - 1;
	case AXIS_BITS:
		return (1 << (BITS_ROUNDED + 1)) - 1;
	case AXIS_ROOT:
		return (1 << (ROOT_OTHER + 1)) - 1;
	case AXIS_WAY:
		return (1 << WAYS) - 1;
	case AXIS_OFFSET:
		return (1 << OFFSETS) - 1;
	default:
		return 3;
	}
}

struct coverage *coverage_new(const struct world *w, bool all)
{
	struct coverage *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->all = all;
	for (int a = 0; all && a < AXES; a++)
		for (int b = a + 1; b < AXES; b++)
			for (int i = 0; i < SIDE * SIDE; i++)
				c->exists[a][b][i / SIDE][i % SIDE] =
					values_of(w, a) >> (i / SIDE) & values_of(w, b) >> (i % SIDE) & 1;
	for (size_t i = 0; !all && i < ARRAY_SIZE(tables); i++)
		for (int k = 0; k < SIDE * SIDE; k++)
			c->exists[tables[i].axis[0]][tables[i].axis[1]][k / SIDE][k % SIDE] =
				exists(w, &tables[i], k / SIDE, k % SIDE);
	return c;
}

/* ---- drawing ---- */

/* One of the pairs, beginning with these axes, that were not met, each as likely; false: there is none. */
static bool draw_from(const struct coverage *c, uint64_t *state, uint64_t axes, struct wish *wish)
{
	uint32_t found = 0;

	for (int a = 0; a < AXES; a++)
		for (int b = 0; b < AXES; b++)
			for (int i = 0; axes >> a & 1 && is_wanted(c, a, b) && i < SIDE * SIDE; i++)
				if (c->exists[a][b][i / SIDE][i % SIDE] &&
				    !c->met[a][b][i / SIDE][i % SIDE] && !(draw(state) % ++found))
					*wish = (struct wish){ { a, b }, { i / SIDE, i % SIDE } };
	return found;
}

/* What a family serves is often served on one shape only, and the rest on all: families first, mostly. */
static bool draw_wish(const struct coverage *c, uint64_t *state, struct wish *wish)
{
	return (draw(state) % 4 && draw_from(c, state, 1 << AXIS_ALGORITHM, wish)) ||
	       draw_from(c, state, ~0ULL, wish);
}

/* A case that fulfils the wish; false, where that was tried often: there is none. */
static bool fulfil(const struct world *w, uint64_t *state, const struct wish *wish, struct test_case *t)
{
	for (int i = 0; i < TRIES; i++) {
		case_draw(w, state, wish, t);
		if (fulfils(w, t, wish))
			return true;
	}
	return false;
}

/* What the tables of a sample say is possible, is. */
static void give_up(struct coverage *c, const struct wish *wish)
{
	if (c->all)
		c->exists[wish->axis[0]][wish->axis[1]][wish->value[0]][wish->value[1]] = false;
}

/* A case with a pair that is wanted, or any. */
static void draw_candidate(const struct world *w, struct coverage *c, uint64_t *state, bool wanted,
			   struct test_case *t)
{
	struct wish wish;

	if (!wanted || !draw_wish(c, state, &wish))
		case_draw(w, state, NULL, t);
	else if (!fulfil(w, state, &wish, t))
		give_up(c, &wish);
}

void coverage_draw(const struct world *w, struct coverage *c, uint64_t *state, struct test_case *t)
{
	struct test_case candidate;
	uint32_t candidates = CANDIDATES;

	/* now and then whatever comes: refusals must be met as well; and one for a pair that is rare */
	if (c->drawn % 16 == 0)
		candidates = 0;
	else if (c->drawn % 4 == 0)
		candidates = 1;
	c->drawn++;
	case_draw(w, state, NULL, t);
	for (uint32_t i = 1; i <= candidates; i++) {
		draw_candidate(w, c, state, i % 2, &candidate);
		if (novelty(c, w, &candidate) > novelty(c, w, t))
			*t = candidate;
	}
	case_moved(t);
	note(c, w, t);
}

/* ---- telling ---- */

static void add_up(const struct coverage *c, enum axis a, enum axis b, uint32_t *met, uint32_t *all)
{
	for (int i = 0; i < SIDE * SIDE; i++) {
		*all += c->exists[a][b][i / SIDE][i % SIDE];
		*met += c->exists[a][b][i / SIDE][i % SIDE] && c->met[a][b][i / SIDE][i % SIDE];
	}
}

bool coverage_is_complete(const struct coverage *c)
{
	uint32_t met = 0, all = 0;

	for (int a = 0; a < AXES; a++)
		for (int b = 0; b < AXES; b++)
			if (is_wanted(c, a, b))
				add_up(c, a, b, &met, &all);
	return met == all;
}

void coverage_print(const struct coverage *c)
{
	uint32_t met, all;

	for (size_t i = 0; !c->all && i < ARRAY_SIZE(tables); i++) {
		met = 0;
		all = 0;
		add_up(c, tables[i].axis[0], tables[i].axis[1], &met, &all);
		printf("# %s: %u of %u pairs\n", tables[i].name, met, all);
	}
	if (!c->all)
		return;
	met = 0;
	all = 0;
	for (int a = 0; a < AXES; a++)
		for (int b = a + 1; b < AXES; b++)
			add_up(c, a, b, &met, &all);
	printf("# (any property, any other): %u of %u pairs\n", met, all);
}

static const char *value_name(enum axis axis, uint32_t value)
{
	switch (axis) {
	case AXIS_COLLECTIVE:
		return torcoll_collective_name(value);
	case AXIS_TYPE:
		return torcoll_type_name(value);
	case AXIS_REDOP:
		return torcoll_redop_name(value);
	case AXIS_ALGORITHM:
		return torcoll_algorithm_name(value);
	case AXIS_SIZE:
		return size_names[value];
	case AXIS_WAY:
		return way_names[value];
	default:
		return bits_names[value];
	}
}

static void print_shape(const struct world *w)
{
	for (uint32_t d = 0; d < w->info.ndim; d++)
		printf("%s%u", d ? "x" : "", w->info.side[d]);
}

/* Of one shape: a family that serves anything there was met with any of it. */
static void print_family(const struct coverage *c, const struct world *w, uint32_t algorithm)
{
	uint32_t met = 0;
	bool any = false;

	for (int b = 0; b < SIDE; b++) {
		any |= c->exists[AXIS_ALGORITHM][AXIS_COLLECTIVE][algorithm][b];
		met += c->met[AXIS_ALGORITHM][AXIS_COLLECTIVE][algorithm][b];
	}
	if (!any)
		return;
	printf("pair (family, shape): %s ", torcoll_algorithm_name(algorithm));
	print_shape(w);
	printf(": %u\n", met);
}

void coverage_list(const struct coverage *c, const struct world *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		enum axis a = tables[i].axis[0], b = tables[i].axis[1];

		for (uint32_t k = 0; k < SIDE * SIDE; k++)
			if (c->exists[a][b][k / SIDE][k % SIDE])
				printf("pair %s: %s %s: %u\n", tables[i].name,
				       value_name(a, k / SIDE), value_name(b, k % SIDE),
				       c->met[a][b][k / SIDE][k % SIDE]);
	}
	for (uint32_t a = 0; a < SIDE; a++)
		print_family(c, w, a);
}
