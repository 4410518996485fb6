// SPDX-License-Identifier: GPL-2.0
/*
 * Random cases, and what torcoll should make of them. See conformance.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan.h"

#include "conformance.h"

#define DRAWS		100		/* until something fits, at most */
#define LARGE_WORK	(24 << 20)	/* elements times ranks of the largest size */

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

bool type_has_redop(uint32_t type, uint32_t redop)
{
	if (type >= TORCOLL_FLOAT_INT)
		return redop == TORCOLL_MINLOC || redop == TORCOLL_MAXLOC;
	if ((redop >= TORCOLL_SUM && redop <= TORCOLL_AVG) || redop == TORCOLL_PREMULSUM)
		return true;
	return type <= TORCOLL_U64 && redop >= TORCOLL_BAND && redop <= TORCOLL_LXOR;
}

/* Does the bits' order of reduction show? */
bool rounds(const struct torcoll_op *op)
{
	return op->type >= TORCOLL_F16 && op->type <= TORCOLL_F64 &&
	       op->redop != TORCOLL_MIN && op->redop != TORCOLL_MAX;
}

/* Several ranks are on one node: what do the nodes then call? False: that is nothing that can be called. */
static bool fold(const struct world *w, const struct tor_torus *torus, bool ordered,
		 struct tor_call *call)
{
	static uint64_t words[TOR_FOLD_WORDS(RANKS_MAX, RANKS_MAX)];
	struct tor_fold f = {
		.map = &w->map,
		.node = w->node,
		.seats = tor_team_seats(&w->map, w->node),
	};
	const struct tor_call called = *call;
	/* as tor_auto_chains() has it for an algorithm that is named */
	bool chains = call->algorithm == TORCOLL_RING;
	const char *why;

	if (tor_fold_check(&f, &called, ordered, chains, torus, w->member, words, &why))
		return false;
	*call = f.call;
	return true;
}

/* What the plans say of a request: torcoll must serve it if they do. */
enum refusal ask_plans(const struct world *w, const struct torcoll_op *op)
{
	struct tor_call call = {
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
	call.torus = &torus;
	if (w->shared && !fold(w, &torus, reduces(op->collective) && rounds(op) &&
			       op->bits == TORCOLL_BITS_ORDERED, &call))
		return REFUSED;
	if (tor_plan_init(&plan, &call, w->shared ? w->node : w->info.rank, NULL))
		return REFUSED;
	if (!reduces(call.collective) || !rounds(op))
		return SERVED;
	if (op->bits == TORCOLL_BITS_ORDERED && !plan.shape.sequential)
		return REFUSED;
	if (call.collective == TORCOLL_ALLREDUCE && op->bits != TORCOLL_BITS_RELAXED && !plan.shape.agrees)
		return REFUSED;
	return SERVED;
}

/* ---- drawing ---- */

static const uint32_t offsets[OFFSETS] = { 0, 1, 4, 8, 17, 64 };

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

void case_moved(struct test_case *t)
{
	t->op.counts = t->uneven ? t->counts : NULL;
	t->op.recv_counts = t->uneven && t->op.collective == TORCOLL_ALLTOALL ? t->recv_counts : NULL;
}

/* The value of @axis that is wished for, or the one @drawn. */
static uint32_t pick(const struct wish *wish, enum axis axis, uint32_t drawn)
{
	for (int i = 0; wish && i < 2; i++)
		if (wish->axis[i] == axis)
			return wish->value[i];
	return drawn;
}

/* What is called. Wishes that contradict each other are not fulfilled. */
static void draw_call(const struct world *w, uint64_t *state, const struct wish *wish, struct test_case *t)
{
	struct torcoll_op *op = &t->op;
	uint32_t bits, tries = 0;
	bool reduced;

	bits = pick(wish, AXIS_BITS, draw(state) % TORCOLL_BITS_COUNT);
	t->inexact = bits == BITS_ROUNDED || draw(state) % 4 == 0;
	op->bits = bits == BITS_ROUNDED ? TORCOLL_BITS_ORDERED : bits;
	reduced = bits == BITS_ROUNDED || pick(wish, AXIS_REDOP, TORCOLL_REDOP_NONE);
	do
		op->collective = pick(wish, AXIS_COLLECTIVE, draw_bit(state, w->collectives));
	while (reduced && !reduces(op->collective) && tries++ < DRAWS);
	op->type = draw_bit(state, w->types);
	if (bits == BITS_ROUNDED)
		op->type = draw(state) & 1 ? TORCOLL_F32 : TORCOLL_F64;
	op->type = pick(wish, AXIS_TYPE, op->type);
	do
		op->redop = pick(wish, AXIS_REDOP, draw_bit(state, w->redops));
	while (!type_has_redop(op->type, op->redop) && tries++ < 2 * DRAWS);
	if (!reduces(op->collective))
		op->redop = TORCOLL_REDOP_NONE;
	op->algorithm = pick(wish, AXIS_ALGORITHM, draw_bit(state, w->algorithms));
	t->size = pick(wish, AXIS_SIZE, draw_size(state));
}

/* Of a rooted collective: the first rank, the last, or any. */
static uint32_t draw_root(const struct world *w, uint64_t *state, const struct wish *wish)
{
	uint32_t ranks = w->info.ranks;

	switch (pick(wish, AXIS_ROOT, draw(state) % 4 + ROOT_FIRST)) {
	case ROOT_FIRST:
		return 0;
	case ROOT_LAST:
		return ranks - 1;
	default:
		return draw(state) % ranks;
	}
}

void case_draw(const struct world *w, uint64_t *state, const struct wish *wish, struct test_case *t)
{
	memset(t, 0, sizeof(*t));
	t->seed = draw(state);
	draw_call(w, state, wish, t);
	if (has_root(t->op.collective))
		t->op.root = draw_root(w, state, wish);
	if (is_message(t->op.collective))
		t->ahead = draw(state) % w->info.ranks;
	/* whose sums are rounded: only where it is known in which order */
	if (!rounds(&t->op) || !reduces(t->op.collective) || t->op.bits != TORCOLL_BITS_ORDERED ||
	    t->op.redop == TORCOLL_PROD || t->op.type < TORCOLL_F32)
		t->inexact = false;
	t->op.count = draw_count(w, state, t->size, torcoll_type_size(t->op.type));
	if (t->op.collective == TORCOLL_BARRIER)
		make_barrier(t);
	t->uneven = has_blocks(t->op.collective) && pick(wish, AXIS_UNEVEN, draw(state) & 1);
	if (t->uneven)
		draw_counts(w, state, t);
	if (t->op.collective == TORCOLL_ALLTOALL || t->op.collective == TORCOLL_HALO) {
		t->uneven = t->op.collective == TORCOLL_ALLTOALL &&
			    pick(wish, AXIS_UNEVEN, draw(state) & 1);
		make_exchange(w, t);
	}
	t->registered = pick(wish, AXIS_REGISTERED, draw(state) & 1);
	/* half of them at the beginning of a page */
	t->offset = pick(wish, AXIS_OFFSET, draw(state) & 1 ? draw(state) % OFFSETS : 0);
	t->misalign = offsets[t->offset];
	t->in_place = pick(wish, AXIS_PLACE, draw(state) & 1) && !is_message(t->op.collective);
	t->way = pick(wish, AXIS_WAY, hash(t->seed) % WAYS);
	if (t->op.collective == TORCOLL_BARRIER || is_message(t->op.collective))
		t->way = WAY_RUN;
	case_moved(t);
	t->expect = type_has_redop(t->op.type, t->op.redop) || !reduces(t->op.collective) ?
		    ask_plans(w, &t->op) : REFUSED;
}

/* ---- words ---- */

static const char *const way_names[WAYS] = { "", ", started", ", prepared", ", in a batch" };

static const char *const bits_names[TORCOLL_BITS_COUNT] = {
	"", ", agree", ", ordered", ", relaxed",
};

const char *case_text(const struct test_case *t)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s %s %s %llu elements, %s, root %u, to %u ahead, %s%s%s%s%s%s, offset %u",
		 torcoll_collective_name(t->op.collective), torcoll_type_name(t->op.type),
		 torcoll_redop_name(t->op.redop), (unsigned long long)t->op.count,
		 torcoll_algorithm_name(t->op.algorithm), t->op.root, t->ahead,
		 t->in_place ? "in place" : "out of place", t->uneven ? ", uneven" : "",
		 bits_names[t->op.bits],
		 t->inexact ? ", rounded" : "", t->registered ? ", registered" : "", way_names[t->way], t->misalign);
	return text;
}
