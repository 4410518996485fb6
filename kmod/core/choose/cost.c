// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What plans cost. See cost.h. */
#include "core/choose/cost.h"

/*
 * How a family looks from other nodes. What is not said here is taken to differ everywhere.
 *
 * ALIKE: the same after any shift. EVEN_ODD: after shifts by two along even sides. XOR: after
 * flipping bits of ranks; messages go along one dimension, and those across 2^s repeat after 2^(s+1).
 * RANKS: after a shift of rank numbers, which along the last dimension is one of nodes. TURNS: after shifts
 * of rows by as many as there are columns. LINES: one dimension after the other, on the lines through the
 * root's coordinates of those before; the same after any shift along those to come.
 */
enum symmetry { NONE, ALIKE, EVEN_ODD, XOR, RANKS, TURNS, LINES };

static const u8 symmetries[TORCOLL_ALGO_COUNT] = {
	[TORCOLL_SWING_BW] = EVEN_ODD,
	[TORCOLL_SWING_LAT] = EVEN_ODD,
	[TORCOLL_TRIVANCE_BW] = ALIKE,
	[TORCOLL_TRIVANCE_LAT] = ALIKE,
	[TORCOLL_CIRCULANT] = RANKS,
	[TORCOLL_GENERAL] = RANKS,
	[TORCOLL_RING] = RANKS,
	[TORCOLL_HAMILTONIAN] = TURNS,
	[TORCOLL_BUCKET] = ALIKE,
	[TORCOLL_BIBUCKET] = ALIKE,
	[TORCOLL_RECDOUB_LAT] = XOR,
	[TORCOLL_RECDOUB_BW] = XOR,
	[TORCOLL_RECDOUB_BW_MIRRORED] = XOR,
	[TORCOLL_BRUCK_LAT] = ALIKE,
	[TORCOLL_BRUCK_BW] = ALIKE,
	[TORCOLL_WINDOW] = ALIKE,
	[TORCOLL_FLOOD] = ALIKE,
	[TORCOLL_TREE] = LINES,
	[TORCOLL_MOORE] = ALIKE,
	[TORCOLL_ALLPORT] = ALIKE,
};

#define QUICK_RANKS	1024		/* that can be walked through one by one */
#define QUICK_LIST	64		/* by any plan, whose ranks may be a torus of their own */

struct walk {
	struct tor_tally *t;
	struct tor_plan_req req;
	const u32 *least;
	enum symmetry symmetry;
	struct tor_plan plan;		/* of one rank after the other */
	u64 reduced;			/* elements, by all ranks */
	u64 round_reduced;
};

static bool is_rooted(const struct tor_plan_req *req)
{
	return req->collective == TORCOLL_BROADCAST || req->collective == TORCOLL_REDUCE;
}

static bool all_powers_of_two(const struct tor_torus *t)
{
	return !(t->nodes & (t->nodes - 1));
}

static enum symmetry symmetry_of(const struct tor_plan_req *req)
{
	enum symmetry s = symmetries[req->algorithm];

	/* in a gather or scatter messages grow towards the root: no two nodes of a line are alike */
	if (req->members || (is_rooted(req) && s != LINES) || req->collective > TORCOLL_REDUCE)
		return NONE;
	if (req->algorithm == TORCOLL_GENERAL && all_powers_of_two(req->torus) &&
	    req->param[TORCOLL_PARAM_GROUP] != 1)
		return XOR;
	return s == XOR && !all_powers_of_two(req->torus) ? NONE : s;
}

static u32 node_of(const struct walk *w, u32 rank)
{
	return w->req.members ? w->req.members[rank] : rank;
}

/* --- periods --- */

static u32 common_multiple(u32 a, u32 b)
{
	u32 x = a, y = b, rest;

	while (y) {
		rest = x % y;
		x = y;
		y = rest;
	}
	return a / x * b;
}

/* The peer of rank 0's first message in a round of a channel; 0: none. */
static u32 first_peer(const struct walk *w, u32 ch, u32 t)
{
	struct tor_cursor c;
	struct tor_piece x;

	if (t >= tor_plan_rounds(&w->plan, ch))
		return 0;
	tor_plan_begin(&w->plan, ch, t, &c);
	while (tor_plan_next(&w->plan, &c, &x))
		if (x.src != x.dst)
			return x.src ? x.src : x.dst;
	return 0;
}

/* XOR: does a channel work along @dim in round @t? Rank 0 tells, and how far. */
static bool goes_along(const struct walk *w, u32 ch, u32 t, u32 dim, u32 *way)
{
	u32 to = tor_torus_coord(w->req.torus, first_peer(w, ch, t), dim);

	*way = min(to, w->req.torus->side[dim] - to);
	return *way;
}

static u32 xor_period(const struct walk *w, u32 dim, u32 t)
{
	u32 ch, way, period = 1;

	for (ch = 0; ch < w->plan.shape.channels; ch++)
		if (goes_along(w, ch, t, dim, &way))
			period = max(period, 2 * way);
	return period;
}

/* LINES: the dimension whose turn it is in round @t. */
static u32 line_dim(const struct walk *w, u32 t)
{
	const struct tor_torus *torus = w->req.torus;
	u32 d, depth = tor_torus_diameter(torus);
	bool down = w->req.collective == TORCOLL_BROADCAST || t >= depth;

	t %= depth;
	if (down)
		t = depth - 1 - t;
	for (d = 0; t >= torus->side[d] / 2; d++)
		t -= torus->side[d] / 2;
	return d;
}

/* Is this the last dimension with more than one node? */
static bool is_last(const struct tor_torus *torus, u32 dim)
{
	while (++dim < torus->ndim)
		if (torus->side[dim] > 1)
			return false;
	return true;
}

static u32 shortest_side(const struct tor_torus *torus)
{
	u32 d, side = torus->nodes;

	for (d = 0; d < torus->ndim; d++)
		if (torus->side[d] > 1)
			side = min(side, torus->side[d]);
	return side;
}

/* @dim of those of the part: see walk_by_dim(). */
static u32 plan_period(const struct walk *w, u32 dim, u32 part, u32 t)
{
	const struct tor_torus *torus = w->req.torus;
	u32 side = torus->side[dim];

	switch (w->symmetry) {
	case ALIKE:
		return 1;
	case EVEN_ODD:
		return side % 2 ? side : 2;
	case XOR:
		return dim == part ? xor_period(w, dim, t) : 1;
	case RANKS:
		return is_last(torus, dim) ? 1 : side;
	case TURNS:
		/* of two sides one is a multiple of the other */
		return side > 1 ? shortest_side(torus) : 1;
	case LINES:
		return dim > line_dim(w, t) ? 1 : side;
	default:
		return side;
	}
}

static void find_periods(const struct walk *w, u32 part, u32 t, u32 *period)
{
	const struct tor_torus *torus = w->req.torus;
	u32 d;

	for (d = 0; d < torus->ndim; d++) {
		period[d] = plan_period(w, d, part, t);
		if (w->least)
			period[d] = common_multiple(period[d], w->least[d]);
		/* the one cable goes up from one and down from the other */
		if (torus->side[d] == 2 && torus->cables == 1)
			period[d] = 2;
	}
}

/* Rounds from @t on that cost the same, those of a cycle: as many as there are. */
static u32 count_alike(const struct walk *w, u32 t)
{
	u32 half = w->req.ranks - 1, rounds = w->plan.shape.rounds;
	const u32 cyclic = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(ALLGATHER);
	bool cycle = w->req.algorithm == TORCOLL_RING || w->req.algorithm == TORCOLL_HAMILTONIAN;

	if (!cycle || !(cyclic >> w->req.collective & 1))
		return 1;
	return min(rounds, t < half ? half : 2 * half) - t;
}

/* --- the walk --- */

static int take_place(struct walk *w, u32 rank, const char **why)
{
	return w->plan.rank == rank ? 0 : tor_plan_init(&w->plan, &w->req, rank, why);
}

/* What a rank sends and reduces in a round of a channel. Pieces of a message follow each other. */
static void walk_round(struct walk *w, u32 ch, u32 t, u32 alike)
{
	u32 rank = w->plan.rank, to = rank;
	struct tor_cursor c;
	struct tor_piece x;
	u64 n = 0;

	tor_plan_begin(&w->plan, ch, t, &c);
	while (tor_plan_next(&w->plan, &c, &x)) {
		if (x.dst == rank)
			w->round_reduced += x.n * alike;
		if (x.src != rank || x.dst == rank)
			continue;
		if (n && to != x.dst) {
			tor_tally_message(w->t, node_of(w, rank), node_of(w, to), n);
			n = 0;
		}
		to = x.dst;
		n += x.n;
	}
	if (n)
		tor_tally_message(w->t, node_of(w, rank), node_of(w, to), n);
}

/* The @i-th of the ranks that stand for all. */
static u32 representative(const struct walk *w, u32 i)
{
	const struct tor_torus *torus = w->req.torus;
	u32 d, rank = 0;

	if (w->req.members)
		return i;
	for (d = 0; d < torus->ndim; d++) {
		rank += i % w->t->period[d] * torus->stride[d];
		i /= w->t->period[d];
	}
	return rank;
}

/* LINES: ranks beside the lines do nothing in this round. */
static bool is_idle(const struct walk *w, u32 rank, u32 t)
{
	const struct tor_torus *torus = w->req.torus;
	u32 d;

	for (d = 0; w->symmetry == LINES && d < line_dim(w, t); d++)
		if (tor_torus_coord(torus, rank, d) != tor_torus_coord(torus, w->req.root, d))
			return true;
	return false;
}

static int walk_rank(struct walk *w, u32 rank, u32 channels, u32 t, u32 alike, const char **why)
{
	u32 ch;
	int err;

	if (is_idle(w, rank, t))
		return 0;
	err = take_place(w, rank, why);
	for (ch = 0; !err && ch < w->plan.shape.channels; ch++)
		if (channels & (1U << ch) && t < tor_plan_rounds(&w->plan, ch))
			walk_round(w, ch, t, alike);
	return err;
}

/* A part of a round: some of the channels. */
static int walk_part(struct walk *w, u32 part, u32 channels, u32 t, const char **why)
{
	u32 period[TOR_MAX_DIMS], i, count;
	int err;

	find_periods(w, part, t, period);
	err = tor_tally_part(w->t, period);
	if (err)
		return err;
	count = w->req.members ? w->req.ranks : w->t->classes;
	for (i = 0; i < count && !err; i++)
		err = walk_rank(w, representative(w, i), channels, t, w->req.ranks / count, why);
	return err;
}

/* XOR: channels that work along different dimensions share no links, but repeat after different periods. */
static int walk_by_dim(struct walk *w, u32 t, const char **why)
{
	u32 d, ch, way, channels;
	int err = 0;

	for (d = 0; d < w->req.torus->ndim && !err; d++) {
		channels = 0;
		/* periods are those that rank 0 sees */
		err = take_place(w, 0, why);
		for (ch = 0; !err && ch < w->plan.shape.channels; ch++)
			if (goes_along(w, ch, t, d, &way))
				channels |= 1U << ch;
		if (!err && channels)
			err = walk_part(w, d, channels, t, why);
	}
	return err;
}

/* The round @t and those that are alike: their number, or an error. */
static int walk_rounds(struct walk *w, u32 t, const char **why)
{
	u32 times = count_alike(w, t);
	int err;

	tor_tally_begin(w->t);
	w->round_reduced = 0;
	err = w->symmetry == XOR ? walk_by_dim(w, t, why) : walk_part(w, 0, ~0U, t, why);
	tor_tally_end(w->t, times);
	w->reduced += w->round_reduced * times;
	return err ? err : (int)times;
}

/* A count that blocks, halves of blocks and channels divide. */
static int set_count(struct walk *w, const char **why)
{
	u32 blocks = max(w->req.param[TORCOLL_PARAM_BLOCKS], 1U);
	int err;

	w->req.counts = NULL;
	w->req.count = 2ULL * TOR_MAX_CHANNELS * w->req.ranks;
	err = tor_plan_init(&w->plan, &w->req, 0, why);
	if (err)
		return err;
	w->req.count = 2ULL * w->req.ranks * w->plan.shape.channels * blocks;
	return tor_plan_init(&w->plan, &w->req, 0, why);
}

static u64 fraction(u64 n, u64 of)
{
	return tor_mul_div64(n, TOR_COST_ONE, of);
}

static void summarize(const struct walk *w, struct tor_cost *cost)
{
	u64 count = w->req.count, all = count * w->req.ranks;
	const struct tor_tally *t = w->t;

	*cost = (struct tor_cost){
		.rounds = t->rounds,
		.hops = t->hops,
		.w = fraction(t->w, 2 * count),
		.messages = fraction(t->messages, 2ULL * w->req.ranks),
		.sent = fraction(t->sent, all),
		.moved = fraction(t->moved, TOR_TALLY_WHOLE * all),
		.reduced = fraction(w->reduced, all),
		.chunks = w->plan.shape.chunks,
	};
}

int tor_cost_walk(struct tor_tally *t, const struct tor_plan_req *req, const u32 *least,
		  struct tor_cost *cost, const char **why)
{
	struct walk w = { .t = t, .req = *req, .least = least };
	int times;
	u32 k;

	w.symmetry = symmetry_of(req);
	times = set_count(&w, why);
	if (times)
		return times;
	for (k = 0; k < w.plan.shape.rounds; k += times) {
		times = walk_rounds(&w, k, why);
		if (times < 0)
			return times;
	}
	summarize(&w, cost);
	return 0;
}

int tor_cost_plan(const struct tor_plan_req *req, struct tor_cost *cost, const char **why)
{
	struct tor_tally t;
	int err;

	tor_tally_init(&t, req->torus);
	err = tor_cost_walk(&t, req, NULL, cost, why);
	tor_tally_free(&t);
	return err;
}

bool tor_cost_is_quick(const struct tor_plan_req *req)
{
	const struct tor_torus *torus = req->torus;
	u32 d, places = 1;

	if (req->ranks <= (req->members ? QUICK_LIST : QUICK_RANKS))
		return true;
	/* blocks lie together in messages */
	if (req->members && req->ranks <= QUICK_RANKS)
		return req->algorithm == TORCOLL_TREE || req->algorithm == TORCOLL_RING ||
		       req->algorithm == TORCOLL_GENERAL || req->algorithm == TORCOLL_CIRCULANT;
	switch (symmetry_of(req)) {
	case NONE:
		return false;
	case EVEN_ODD:
		for (d = 0; d < torus->ndim; d++)
			places *= torus->side[d] % 2 ? torus->side[d] : 2;
		return places <= QUICK_RANKS;
	default:
		return true;
	}
}

/* --- time --- */

static u64 share(u64 fraction, u64 of)
{
	return mul_u64_u64_shr(fraction, of, 32);
}

/* ps per 65536 bytes of the vector, of which that fraction takes @fs per byte. */
static u64 slope_of(u64 fraction, u64 fs)
{
	return tor_div64(share(fraction, fs << 16), 1000);
}

/*
 * What bytes take on links and in nodes, ps per 65536 bytes of the vector. A frame that waits for its link keeps no processor
 * busy: with several chunks, whichever of the two is quicker has done its work for all but one of them meanwhile.
 */
static void slopes_of(const struct tor_cost *cost, const struct tor_rates *rates, u64 *link, u64 *byte)
{
	u64 *quicker;

	*link = slope_of(cost->w, rates->link);
	*byte = slope_of(cost->moved, rates->byte);
	quicker = *link < *byte ? link : byte;
	*quicker = tor_div64(*quicker, cost->chunks);
}

void tor_cost_parts(const struct tor_cost *cost, const struct tor_rates *rates, u64 bytes,
		    struct tor_time *time)
{
	u64 link, byte;

	slopes_of(cost, rates, &link, &byte);
	*time = (struct tor_time){
		.op = rates->op,
		.rounds = cost->rounds * rates->e,
		.hops = (cost->hops - cost->rounds) * rates->f,
		.link = mul_u64_u64_shr(bytes, link, 16),
		.messages = share(cost->messages, rates->message),
		.bytes = mul_u64_u64_shr(bytes, byte, 16),
	};
}

struct tor_line tor_cost_line(const struct tor_cost *cost, const struct tor_rates *rates)
{
	u64 link, byte;

	slopes_of(cost, rates, &link, &byte);
	return (struct tor_line){
		.start = rates->op + cost->rounds * rates->e + (cost->hops - cost->rounds) * rates->f +
			 share(cost->messages, rates->message),
		.slope = link + byte,
	};
}

/*
 * Hosts with 25 Gb/s cables: softirqs here and there, an interrupt, a reduction from cold memory; passing
 * a frame on; checksums and reductions at some GB/s. What `torcollctl tune` finds is better. What a call takes whatever its
 * plan is left to that.
 */
const struct tor_rates tor_rates_default = {
	.e = 12000000,
	.f = 5000000,
	.link = 320000,
	.message = 1000000,
	.byte = 60000,
};
