// SPDX-License-Identifier: GPL-2.0
/*
 * Which cases are tried: random ones, preferring what was not met so far. See conformance.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#include "conformance.h"

#define CANDIDATES	16		/* of which the best is taken */
#define SIDE		32		/* of a table: more than any enumeration here has */
#define LARGE_WORK	(24 << 20)	/* elements times ranks of the largest size */

enum table { COLLECTIVE_TYPE, TYPE_REDOP, ALGORITHM_COLLECTIVE, COLLECTIVE_SIZE, TABLES };

static const char *const table_names[] = {
	[COLLECTIVE_TYPE] = "(collective, type)",
	[TYPE_REDOP] = "(type, operator)",
	[ALGORITHM_COLLECTIVE] = "(family, collective)",
	[COLLECTIVE_SIZE] = "(collective, size class)",
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

struct coverage {
	uint32_t met[TABLES][SIDE][SIDE];
	bool exists[TABLES][SIDE][SIDE];
};

/* ---- what the module serves, as it is documented: torcoll.h, and the plans ---- */

bool reduces(uint32_t collective)
{
	return collective == TORCOLL_ALLREDUCE || collective == TORCOLL_REDUCE_SCATTER ||
	       collective == TORCOLL_REDUCE || collective == TORCOLL_SCAN ||
	       collective == TORCOLL_EXSCAN;
}

bool has_root(uint32_t collective)
{
	return collective == TORCOLL_BROADCAST || collective == TORCOLL_REDUCE ||
	       collective == TORCOLL_GATHER || collective == TORCOLL_SCATTER;
}

bool has_blocks(uint32_t collective)
{
	return collective == TORCOLL_ALLGATHER || collective == TORCOLL_REDUCE_SCATTER ||
	       collective == TORCOLL_GATHER || collective == TORCOLL_SCATTER;
}

bool is_message(uint32_t collective)
{
	return collective == TORCOLL_SEND || collective == TORCOLL_RECV;
}

static bool type_has_redop(uint32_t type, uint32_t redop)
{
	if (type >= TORCOLL_FLOAT_INT)
		return redop == TORCOLL_MINLOC || redop == TORCOLL_MAXLOC;
	if ((redop >= TORCOLL_SUM && redop <= TORCOLL_AVG) || redop == TORCOLL_PREMULSUM)
		return true;
	return type <= TORCOLL_U64 && redop >= TORCOLL_BAND && redop <= TORCOLL_LXOR;
}

/* Does the bits' order of reduction show? */
static bool rounds(const struct torcoll_op *op)
{
	return op->type >= TORCOLL_F16 && op->type <= TORCOLL_F64 &&
	       op->redop != TORCOLL_MIN && op->redop != TORCOLL_MAX;
}

/* What the plans say of a request: torcoll must serve it if they do. */
static enum refusal ask_plans(const struct world *w, const struct torcoll_op *op)
{
	struct tor_plan_req req = {
		.ranks = w->info.ranks,
		.collective = op->collective,
		.algorithm = op->algorithm,
		.root = op->root,
		/* a barrier's is an allreduce's of one byte */
		.count = op->collective == TORCOLL_BARRIER ? 1 : op->count,
		.counts = op->counts,
		.from_counts = op->recv_counts,
	};
	static struct tor_plan plan;
	static struct tor_torus torus;

	if (is_message(op->collective))
		return op->algorithm == TORCOLL_ALGO_AUTO || op->algorithm == TORCOLL_DIRECT ?
		       SERVED : REFUSED;
	if (op->redop == TORCOLL_AVG &&
	    (op->collective == TORCOLL_SCAN || op->collective == TORCOLL_EXSCAN))
		return REFUSED;
	if (op->algorithm == TORCOLL_ALGO_AUTO)
		return SERVED;
	if (tor_torus_init(&torus, w->info.ndim, w->info.side, 1))
		return REFUSED;
	req.torus = &torus;
	if (tor_plan_init(&plan, &req, w->info.rank, NULL))
		return REFUSED;
	if (!reduces(op->collective) || !rounds(op))
		return SERVED;
	if (op->bits == TORCOLL_BITS_ORDERED && !plan.shape.sequential)
		return REFUSED;
	if (op->collective == TORCOLL_ALLREDUCE && op->bits != TORCOLL_BITS_RELAXED && !plan.shape.agrees)
		return REFUSED;
	return SERVED;
}

/* ---- drawing ---- */

/* One of the set bits of @mask. */
static uint32_t draw_bit(uint64_t *state, uint64_t mask)
{
	uint32_t n = draw(state) % __builtin_popcountll(mask);

	while (n--)
		mask &= mask - 1;
	return __builtin_ctzll(mask);
}

static uint64_t draw_count(const struct world *w, uint64_t *state, enum size_class size, size_t elem)
{
	static const uint16_t primes[] = { 3, 5, 7, 11, 13, 17, 31, 61, 127, 251, 509, 1021 };
	uint64_t r = draw(state), unit = w->info.frame_bytes / elem, page = 4096 / elem;
	uint64_t most = LARGE_WORK / w->info.ranks;

	switch (size) {
	case SIZE_ZERO:
		return 0;
	case SIZE_ONE:
		return 1;
	case SIZE_TWO:
		return 2;
	case SIZE_PRIME:
		return primes[r % ARRAY_SIZE(primes)];
	case SIZE_FRAME:
		return unit * (1 + (r >> 8) % 4) + r % 3 - 1;
	case SIZE_PAGE:
		return page * (1 + (r >> 8) % 4) + r % 3 - 1;
	case SIZE_THOUSANDS:
		return 1000 + r % 20000;
	default:
		if (most > (1 << 20) + 1)
			most = (1 << 20) + 1;
		return r % 4 ? 20000 + (r >> 8) % 100000 : most;
	}
}

static enum size_class draw_size(uint64_t *state)
{
	uint32_t r = draw(state) % 64;

	/* large ones take long: one in 32 */
	return r < 2 ? SIZE_LARGE : r % SIZE_LARGE;
}

/* Blocks of all lengths, a third of them empty, or one rank has everything. */
static void draw_counts(const struct world *w, uint64_t *state, struct test_case *t)
{
	uint32_t ranks = w->info.ranks, last = draw(state) % ranks;
	bool one = draw(state) % 8 == 0;
	uint64_t left = t->op.count;

	for (uint32_t r = 0; r < ranks; r++) {
		t->counts[r] = one || draw(state) % 3 == 0 ? 0 : draw(state) % (2 * t->op.count / ranks + 1);
		if (t->counts[r] > left)
			t->counts[r] = left;
		left -= t->counts[r];
	}
	t->counts[last] += left;
}

uint64_t pair_count(const struct test_case *t, uint32_t from, uint32_t to)
{
	uint64_t h = hash(t->seed ^ hash(from * 4099 + to));

	return h % 3 ? (h >> 8) % (t->pair_count + 1) : 0;
}

/*
 * An alltoall's or halo's vector has as many elements for each rank or neighbour; in an uneven one every pair has a
 * number of its own, and the whole then is what this rank gets.
 */
static void make_exchange(const struct world *w, struct test_case *t)
{
	uint32_t ranks = w->info.ranks, ways = halo_ways(w);

	if (t->op.collective == TORCOLL_HALO) {
		t->op.count -= t->op.count % ways;
		return;
	}
	t->op.count -= t->op.count % ranks;
	if (!t->uneven)
		return;
	t->pair_count = t->op.count / ranks;
	for (uint32_t r = 0; r < ranks; r++) {
		t->counts[r] = pair_count(t, w->info.rank, r);
		t->recv_counts[r] = pair_count(t, r, w->info.rank);
	}
	t->op.count = block_start(0, t->recv_counts, ranks, ranks);
}

/* A barrier has no elements. */
static void make_barrier(struct test_case *t)
{
	t->op.type = TORCOLL_TYPE_NONE;
	t->op.count = 0;
	t->size = SIZE_ZERO;
}

/* Again when @t has moved: its op refers to itself. */
static void point_to_counts(struct test_case *t)
{
	t->op.counts = t->uneven ? t->counts : NULL;
	t->op.recv_counts = t->uneven && t->op.collective == TORCOLL_ALLTOALL ? t->recv_counts : NULL;
}

static void draw_candidate(const struct world *w, uint64_t *state, struct test_case *t)
{
	static const uint32_t shifts[] = { 0, 0, 1, 4, 8, 17, 64 };

	memset(t, 0, sizeof(*t));
	t->seed = draw(state);
	t->op.collective = draw_bit(state, w->collectives);
	t->op.type = draw_bit(state, w->types);
	do
		t->op.redop = draw_bit(state, w->redops);
	while (!type_has_redop(t->op.type, t->op.redop));
	if (!reduces(t->op.collective))
		t->op.redop = TORCOLL_REDOP_NONE;
	t->op.algorithm = draw_bit(state, w->algorithms);
	t->op.bits = draw(state) % TORCOLL_BITS_COUNT;
	t->inexact = draw(state) % 4 == 0;
	if (has_root(t->op.collective))
		t->op.root = draw(state) % w->info.ranks;
	if (is_message(t->op.collective))
		t->ahead = draw(state) % w->info.ranks;
	/* whose sums are rounded: only where it is known in which order */
	if (!rounds(&t->op) || !reduces(t->op.collective) || t->op.bits != TORCOLL_BITS_ORDERED ||
	    t->op.redop == TORCOLL_PROD || t->op.type < TORCOLL_F32)
		t->inexact = false;
	t->size = draw_size(state);
	t->op.count = draw_count(w, state, t->size, torcoll_type_size(t->op.type));
	if (t->op.collective == TORCOLL_BARRIER)
		make_barrier(t);
	t->uneven = has_blocks(t->op.collective) && draw(state) & 1;
	if (t->uneven)
		draw_counts(w, state, t);
	if (t->op.collective == TORCOLL_ALLTOALL || t->op.collective == TORCOLL_HALO) {
		t->uneven = t->op.collective == TORCOLL_ALLTOALL && draw(state) & 1;
		make_exchange(w, t);
	}
	t->registered = draw(state) & 1;
	t->misalign = shifts[draw(state) % ARRAY_SIZE(shifts)];
	t->in_place = draw(state) & 1 && !is_message(t->op.collective);
	point_to_counts(t);
	t->expect = ask_plans(w, &t->op);
}

/* ---- coverage ---- */

struct place {
	uint32_t a, b;
};

static struct place place_of(const struct test_case *t, enum table table)
{
	switch (table) {
	case COLLECTIVE_TYPE:
		return (struct place){ t->op.collective, t->op.type };
	case TYPE_REDOP:
		return (struct place){ t->op.type, t->op.redop };
	case ALGORITHM_COLLECTIVE:
		return (struct place){ t->op.algorithm, t->op.collective };
	default:
		return (struct place){ t->op.collective, t->size };
	}
}

/* Refused cases prove nothing about results. */
static uint32_t novelty(const struct coverage *c, const struct test_case *t)
{
	uint32_t n = 0;

	for (int i = 0; i < TABLES && t->expect == SERVED; i++) {
		struct place p = place_of(t, i);

		n += !c->met[i][p.a][p.b];
	}
	return n;
}

static bool algorithm_serves(const struct world *w, uint32_t algorithm, uint32_t collective)
{
	struct torcoll_op op = {
		.collective = collective, .algorithm = algorithm, .type = TORCOLL_I32,
		.redop = TORCOLL_SUM, .count = 1000,
	};

	return w->algorithms & 1ULL << algorithm && ask_plans(w, &op) == SERVED;
}

struct coverage *coverage_new(const struct world *w)
{
	struct coverage *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	for (uint32_t a = 0; a < SIDE; a++) {
		for (uint32_t b = 0; b < SIDE; b++) {
			bool served = w->collectives & 1ULL << a;
			bool barrier = a == TORCOLL_BARRIER;

			c->exists[COLLECTIVE_TYPE][a][b] = served && !barrier && w->types & 1ULL << b;
			c->exists[TYPE_REDOP][a][b] = w->types & 1ULL << a && w->redops & 1ULL << b &&
						      type_has_redop(a, b);
			c->exists[ALGORITHM_COLLECTIVE][a][b] = w->collectives & 1ULL << b &&
								algorithm_serves(w, a, b);
			c->exists[COLLECTIVE_SIZE][a][b] = served && b < (barrier ? 1 : SIZE_CLASSES);
		}
	}
	return c;
}

void case_draw(const struct world *w, struct coverage *c, uint64_t *state, struct test_case *t)
{
	struct test_case candidate;

	draw_candidate(w, state, t);
	for (int i = 1; i < CANDIDATES; i++) {
		draw_candidate(w, state, &candidate);
		if (novelty(c, &candidate) > novelty(c, t))
			*t = candidate;
	}
	point_to_counts(t);
	for (int i = 0; i < TABLES && t->expect == SERVED; i++) {
		struct place p = place_of(t, i);

		c->met[i][p.a][p.b]++;
	}
}

void coverage_print(const struct coverage *c)
{
	for (int i = 0; i < TABLES; i++) {
		uint32_t met = 0, all = 0;

		for (int a = 0; a < SIDE; a++) {
			for (int b = 0; b < SIDE; b++) {
				all += c->exists[i][a][b];
				met += c->exists[i][a][b] && c->met[i][a][b];
			}
		}
		printf("# %s: %u of %u pairs\n", table_names[i], met, all);
	}
}

static void print_pair(const struct coverage *c, enum table of, uint32_t a, uint32_t b)
{
	const char *first, *second;

	switch (of) {
	case COLLECTIVE_TYPE:
		first = torcoll_collective_name(a);
		second = torcoll_type_name(b);
		break;
	case TYPE_REDOP:
		first = torcoll_type_name(a);
		second = torcoll_redop_name(b);
		break;
	case ALGORITHM_COLLECTIVE:
		first = torcoll_algorithm_name(a);
		second = torcoll_collective_name(b);
		break;
	default:
		first = torcoll_collective_name(a);
		second = size_names[b];
	}
	printf("pair %s: %s %s: %u\n", table_names[of], first, second, c->met[of][a][b]);
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
	bool exists = false;

	for (int b = 0; b < SIDE; b++) {
		exists |= c->exists[ALGORITHM_COLLECTIVE][algorithm][b];
		met += c->met[ALGORITHM_COLLECTIVE][algorithm][b];
	}
	if (!exists)
		return;
	printf("pair (family, shape): %s ", torcoll_algorithm_name(algorithm));
	print_shape(w);
	printf(": %u\n", met);
}

void coverage_list(const struct coverage *c, const struct world *w)
{
	for (int i = 0; i < TABLES; i++)
		for (int a = 0; a < SIDE; a++)
			for (int b = 0; b < SIDE; b++)
				if (c->exists[i][a][b])
					print_pair(c, i, a, b);
	for (uint32_t a = 0; a < SIDE; a++)
		print_family(c, w, a);
}

static const char *const bits_names[TORCOLL_BITS_COUNT] = {
	"", ", agree", ", ordered", ", relaxed",
};

const char *case_text(const struct test_case *t)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s %s %s %llu elements, %s, root %u, to %u ahead, %s%s%s%s%s, offset %u",
		 torcoll_collective_name(t->op.collective), torcoll_type_name(t->op.type),
		 torcoll_redop_name(t->op.redop), (unsigned long long)t->op.count,
		 torcoll_algorithm_name(t->op.algorithm), t->op.root, t->ahead,
		 t->in_place ? "in place" : "out of place", t->uneven ? ", uneven" : "",
		 bits_names[t->op.bits],
		 t->inexact ? ", rounded" : "", t->registered ? ", registered" : "", t->misalign);
	return text;
}
