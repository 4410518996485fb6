// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The cost of plans. See cost.h. */
#include "core/choose/cost.h"

#include "core/ratio.h"

/*
 * Symmetries of families. A family without an entry is assumed to differ at
 * every node.
 *
 * ALIKE: the same after any shift. EVEN_ODD: after shifts by two along even
 * sides. XOR: after flipping bits of ranks; messages go along one dimension,
 * and those across 2^s repeat after 2^(s+1). RANKS: after a shift of rank
 * numbers, which along the last dimension is a shift of nodes. TURNS: after
 * shifts of rows by the number of columns. LINES: one dimension after the
 * other, on the lines through the root's coordinates in the dimensions before;
 * the same after any shift along the dimensions that follow.
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
	[TORCOLL_LAYERS] = ALIKE,
	[TORCOLL_DIRECT] = RANKS,
};

#define QUICK_RANKS	1024		/* most ranks to walk one by one */
#define QUICK_LIST	64		/* the same for a list, but for plans that serve any */
#define QUICK_LOADS	(1 << 16)	/* ports of all nodes, whose load each plan of members counts */
#define QUICK_STEPS	(1 << 20)	/* most hops of messages to follow, or layers to look at */
#define STEPS_PLAN	4		/* of a tally, to make the plan of another rank */
#define COST_SHARES	(1 << 10)	/* parts into which chords divide a block, or finer */

struct walk {
	struct tor_tally *t;
	struct tor_call call;
	const u32 *least;
	u64 most;			/* steps of the tally */
	enum symmetry symmetry;
	struct tor_plan plan;		/* of one rank after the other */
	u64 reduced;			/* elements, by all ranks */
	u64 round_reduced;
};

static bool cost_is_rooted(const struct tor_call *call)
{
	return call->collective == TORCOLL_BROADCAST || call->collective == TORCOLL_REDUCE;
}

static bool cost_all_powers_of_two(const struct tor_torus *t)
{
	return !(t->nodes & (t->nodes - 1));
}

static enum symmetry cost_symmetry(const struct tor_call *call)
{
	enum symmetry s = symmetries[call->algorithm];

	/*
	 * in a gather or scatter messages grow towards the root: no two nodes
	 * of a line are alike
	 */
	if (call->members || call->collective > TORCOLL_REDUCE ||
	    (cost_is_rooted(call) && s != LINES))
		return NONE;
	/* the tree of a ring with chords has no lines */
	if (s == LINES && tor_torus_has_chords(call->torus))
		return NONE;
	if (call->algorithm == TORCOLL_GENERAL && cost_all_powers_of_two(call->torus) &&
	    call->param[TORCOLL_PARAM_GROUP] != 1)
		return XOR;
	return s == XOR && !cost_all_powers_of_two(call->torus) ? NONE : s;
}

static u32 walk_node(const struct walk *w, u32 rank)
{
	return w->call.members ? w->call.members[rank] : rank;
}

/* --- periods --- */

static u32 cost_common_multiple(u32 a, u32 b)
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
static u32 walk_first_peer(const struct walk *w, u32 ch, u32 t)
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

/*
 * XOR: true if a channel works along @dim in round @t, as seen by rank 0; sets
 * the distance.
 */
static bool walk_goes_along(const struct walk *w, u32 ch, u32 t, u32 dim, u32 *way)
{
	u32 to = tor_torus_coord(w->call.torus, walk_first_peer(w, ch, t), dim);

	*way = min(to, w->call.torus->side[dim] - to);
	return *way;
}

static u32 walk_xor_period(const struct walk *w, u32 dim, u32 t)
{
	u32 ch, way, period = 1;

	for (ch = 0; ch < w->plan.shape.channels; ch++)
		if (walk_goes_along(w, ch, t, dim, &way))
			period = max(period, 2 * way);
	return period;
}

/*
 * True if links look the same from every node along @dim. Not on a line, which
 * has ends, nor with a single cable, which goes up from one node and down from
 * the other.
 */
static bool cost_wraps(const struct tor_torus *torus, u32 dim)
{
	return torus->kind[dim] != TORCOLL_KIND_LINE &&
	       !(torus->kind[dim] == TORCOLL_KIND_RING && torus->side[dim] == 2 && torus->cables == 1);
}

/* LINES: the dimension of round @t. */
static u32 walk_line_dim(const struct walk *w, u32 t)
{
	const struct tor_torus *torus = w->call.torus;
	bool down = w->call.collective == TORCOLL_BROADCAST;
	u32 d, depth = 0;

	for (d = 0; d < torus->ndim; d++)
		depth += torus->side[d] / 2;
	down |= t >= depth;
	t %= depth;
	if (down)
		t = depth - 1 - t;
	for (d = 0; t >= torus->side[d] / 2; d++)
		t -= torus->side[d] / 2;
	return d;
}

/* True if this is the last dimension with more than one node. */
static bool cost_is_last_dim(const struct tor_torus *torus, u32 dim)
{
	while (++dim < torus->ndim)
		if (torus->side[dim] > 1)
			return false;
	return true;
}

static u32 cost_shortest_side(const struct tor_torus *torus)
{
	u32 d, side = torus->nodes;

	for (d = 0; d < torus->ndim; d++)
		if (torus->side[d] > 1)
			side = min(side, torus->side[d]);
	return side;
}

/*
 * The period along @dim of a part of round @t; @part: its dimension, see
 * walk_by_dim().
 */
static u32 walk_period(const struct walk *w, u32 dim, u32 part, u32 t)
{
	const struct tor_torus *torus = w->call.torus;
	u32 side = torus->side[dim];

	switch (w->symmetry) {
	case ALIKE:
		return 1;
	case EVEN_ODD:
		return side % 2 ? side : 2;
	case XOR:
		return dim == part ? walk_xor_period(w, dim, t) : 1;
	case RANKS:
		return cost_is_last_dim(torus, dim) ? 1 : side;
	case TURNS:
		/* of two sides one is a multiple of the other */
		return side > 1 ? cost_shortest_side(torus) : 1;
	case LINES:
		return dim > walk_line_dim(w, t) ? 1 : side;
	default:
		return side;
	}
}

static void walk_find_periods(const struct walk *w, u32 part, u32 t, u32 *period)
{
	const struct tor_torus *torus = w->call.torus;
	u32 d;

	for (d = 0; d < torus->ndim; d++) {
		period[d] = walk_period(w, d, part, t);
		if (w->least)
			period[d] = cost_common_multiple(period[d], w->least[d]);
		if (!cost_wraps(torus, d))
			period[d] = torus->side[d];
	}
}

/* Rounds from @t on with the same cost: on a cycle, the rest of its half. */
static u32 walk_count_alike(const struct walk *w, u32 t)
{
	u32 half = w->call.ranks - 1, rounds = w->plan.shape.rounds;
	const u32 cyclic = TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(ALLGATHER);
	bool cycle = w->call.algorithm == TORCOLL_RING || w->call.algorithm == TORCOLL_HAMILTONIAN;

	if (!cycle || !(cyclic >> w->call.collective & 1))
		return 1;
	return min(rounds, t < half ? half : 2 * half) - t;
}

/* --- the walk --- */

static int walk_take_place(struct walk *w, u32 rank, const char **why)
{
	if (w->plan.rank == rank)
		return 0;
	w->t->steps += STEPS_PLAN;
	return tor_plan_init(&w->plan, &w->call, rank, why);
}

/*
 * Counts what a rank sends and reduces in a round of a channel. The pieces of a
 * message are consecutive.
 */
static void walk_round(struct walk *w, u32 ch, u32 t, u32 alike)
{
	u32 rank = w->plan.rank, to = rank;
	struct tor_cursor c;
	struct tor_piece x;
	u64 n = 0;

	tor_plan_begin(&w->plan, ch, t, &c);
	while (tor_plan_next(&w->plan, &c, &x)) {
		w->t->steps++;
		if (x.dst == rank)
			w->round_reduced += x.n * alike;
		if (x.src != rank || x.dst == rank)
			continue;
		if (n && to != x.dst) {
			tor_tally_message(w->t, walk_node(w, rank), walk_node(w, to), n);
			n = 0;
		}
		to = x.dst;
		n += x.n;
	}
	if (n)
		tor_tally_message(w->t, walk_node(w, rank), walk_node(w, to), n);
}

/* The @i-th representative rank. */
static u32 walk_representative(const struct walk *w, u32 i)
{
	const struct tor_torus *torus = w->call.torus;
	u32 d, rank = 0;

	if (w->call.members)
		return i;
	for (d = 0; d < torus->ndim; d++) {
		rank += i % w->t->period[d] * torus->stride[d];
		i /= w->t->period[d];
	}
	return rank;
}

/* LINES: true if the rank is not on the lines of this round. */
static bool walk_is_idle(const struct walk *w, u32 rank, u32 t)
{
	const struct tor_torus *torus = w->call.torus;
	u32 d;

	for (d = 0; w->symmetry == LINES && d < walk_line_dim(w, t); d++)
		if (tor_torus_coord(torus, rank, d) != tor_torus_coord(torus, w->call.root, d))
			return true;
	return false;
}

static int walk_rank(struct walk *w, u32 rank, u32 channels, u32 t, u32 alike, const char **why)
{
	u32 ch;
	int err;

	if (walk_is_idle(w, rank, t))
		return 0;
	err = walk_take_place(w, rank, why);
	for (ch = 0; !err && ch < w->plan.shape.channels; ch++)
		if (channels & (1U << ch) && t < tor_plan_rounds(&w->plan, ch))
			walk_round(w, ch, t, alike);
	return err;
}

/* Whether to go on with the @i-th rank of a part of a round. */
static int walk_goes_on(struct walk *w, u32 i, const char **why)
{
	tor_env_walked(i);
	if (!(i % TOR_WALK) && tor_env_killed())
		return -EINTR;
	if (++w->t->steps <= w->most)
		return 0;
	if (why)
		*why = "the plan takes too long to walk";
	return -E2BIG;
}

/* Walks a part of a round: some of the channels. */
static int walk_part(struct walk *w, u32 part, u32 channels, u32 t, const char **why)
{
	u32 period[TOR_MAX_DIMS], i, count;
	int err;

	walk_find_periods(w, part, t, period);
	err = tor_tally_part(w->t, period);
	if (err)
		return err;
	count = w->call.members ? w->call.ranks : w->t->classes;
	for (i = 0; i < count && !err; i++) {
		err = walk_goes_on(w, i, why);
		if (!err)
			err = walk_rank(w, walk_representative(w, i), channels, t,
					w->call.ranks / count, why);
	}
	return err;
}

/*
 * XOR: channels that work along different dimensions share no links, but repeat
 * after different periods.
 */
static int walk_by_dim(struct walk *w, u32 t, const char **why)
{
	u32 d, ch, way, channels;
	int err = 0;

	for (d = 0; d < w->call.torus->ndim && !err; d++) {
		channels = 0;
		/* periods as seen by rank 0 */
		err = walk_take_place(w, 0, why);
		for (ch = 0; !err && ch < w->plan.shape.channels; ch++)
			if (walk_goes_along(w, ch, t, d, &way))
				channels |= 1U << ch;
		if (!err && channels)
			err = walk_part(w, d, channels, t, why);
	}
	return err;
}

/*
 * Walks round @t for all rounds that are alike. Returns their number, or an
 * error.
 */
static int walk_rounds(struct walk *w, u32 t, const char **why)
{
	u32 times = walk_count_alike(w, t);
	int err;

	tor_tally_begin(w->t);
	w->round_reduced = 0;
	err = w->symmetry == XOR ? walk_by_dim(w, t, why) : walk_part(w, 0, ~0U, t, why);
	tor_tally_end(w->t, times);
	w->reduced += w->round_reduced * times;
	return err ? err : (int)times;
}

/* Sets a count that blocks, halves of blocks and channels divide. */
static int walk_set_count(struct walk *w, const char **why)
{
	u32 blocks = max(w->call.param[TORCOLL_PARAM_BLOCKS], 1U);
	int err;

	w->call.counts = NULL;
	w->call.count = 2ULL * TOR_MAX_CHANNELS * w->call.ranks;
	err = tor_plan_init(&w->plan, &w->call, 0, why);
	if (err)
		return err;
	w->call.count = 2ULL * w->call.ranks * w->plan.shape.channels * blocks;
	/* ports share blocks by any fractions */
	if (w->plan.chords)
		w->call.count *= COST_SHARES;
	return tor_plan_init(&w->plan, &w->call, 0, why);
}

static u64 cost_fraction(u64 n, u64 of)
{
	return tor_mul_div64(n, TOR_COST_ONE, of);
}

static void walk_summarize(const struct walk *w, struct tor_cost *cost)
{
	u64 count = w->call.count, all = count * w->call.ranks;
	const struct tor_tally *t = w->t;

	*cost = (struct tor_cost){
		.rounds = t->rounds,
		.hops = t->hops,
		.w = cost_fraction(t->w, 2 * count),
		.messages = cost_fraction(t->messages, 2ULL * w->call.ranks),
		.sent = cost_fraction(t->sent, all),
		.moved = cost_fraction(t->moved, TOR_TALLY_WHOLE * all),
		.reduced = cost_fraction(w->reduced, all),
		.chunks = w->plan.shape.chunks,
	};
}

int tor_cost_walk(struct tor_tally *t, const struct tor_call *call, const u32 *least, u64 most,
		  struct tor_cost *cost, const char **why)
{
	struct walk w = { .t = t, .call = *call, .least = least, .most = most };
	int times;
	u32 k;

	w.symmetry = cost_symmetry(call);
	times = walk_set_count(&w, why);
	if (times)
		return times;
	for (k = 0; k < w.plan.shape.rounds; k += times) {
		times = walk_rounds(&w, k, why);
		if (times < 0)
			return times;
	}
	walk_summarize(&w, cost);
	return 0;
}

int tor_cost_plan(const struct tor_call *call, struct tor_cost *cost, const char **why)
{
	struct tor_tally t;
	int err;

	tor_tally_init(&t, call->torus);
	err = tor_cost_walk(&t, call, NULL, TOR_WALK_ANY, cost, why);
	tor_tally_free(&t);
	return err;
}

/* The most representatives of a symmetry. */
static u32 cost_places(const struct tor_torus *torus, enum symmetry s)
{
	u32 d, places = 1;

	/* a place repeats along the last dimension only, and in a line nowhere */
	if (s == RANKS && torus->kind[torus->ndim - 1] == TORCOLL_KIND_LINE)
		return torus->nodes;
	for (d = 0; d < torus->ndim; d++) {
		if (torus->kind[d] == TORCOLL_KIND_LINE)
			places *= torus->side[d];
		else if (s == EVEN_ODD)
			places *= torus->side[d] % 2 ? torus->side[d] : 2;
	}
	return places;
}

/* The ranks from which a plan of RANKS or none is walked: see walk_period(). */
static u64 cost_ranks(const struct tor_call *call, enum symmetry s)
{
	const struct tor_torus *t = call->torus;

	if (s == NONE || t->kind[t->ndim - 1] == TORCOLL_KIND_LINE)
		return call->ranks;
	return t->nodes / t->side[t->ndim - 1];
}

/*
 * Some plans are long to walk from each rank: all send to all, or each round of
 * a ring with chords is looked up in its layers.
 */
static bool cost_is_long(const struct tor_call *call, enum symmetry s)
{
	u64 reach = tor_torus_diameter(call->torus);

	switch (call->algorithm) {
	case TORCOLL_DIRECT:
		return call->collective <= TORCOLL_REDUCE &&
		       cost_ranks(call, s) * call->ranks * reach > QUICK_STEPS;
	case TORCOLL_FLOOD:
	case TORCOLL_TREE:
	case TORCOLL_LAYERS:
		return s == NONE && tor_torus_has_chords(call->torus) &&
		       call->ranks * reach * reach > QUICK_STEPS;
	default:
		return false;
	}
}

/* True for members that form no block of the torus, as far as is known. */
static bool cost_is_list(const struct tor_call *call)
{
	return call->members && !(call->placed && call->placed->ndim);
}

bool tor_cost_is_quick(const struct tor_call *call)
{
	enum symmetry s = cost_symmetry(call);

	if (cost_is_long(call, s))
		return false;
	if (call->members && (u64)call->torus->nodes * call->torus->ports > QUICK_LOADS)
		return false;
	if (call->ranks <= (cost_is_list(call) ? QUICK_LIST : QUICK_RANKS))
		return true;
	/* blocks are adjacent in messages */
	if (call->members && call->ranks <= QUICK_RANKS)
		return call->algorithm == TORCOLL_TREE || call->algorithm == TORCOLL_RING ||
		       call->algorithm == TORCOLL_GENERAL || call->algorithm == TORCOLL_CIRCULANT;
	return s != NONE && cost_places(call->torus, s) <= QUICK_RANKS;
}

/* --- time --- */

static u64 cost_share(u64 fraction, u64 of)
{
	return mul_u64_u64_shr(fraction, of, 32);
}

/* ps per 65536 bytes of the vector, if that fraction of it takes @fs per byte. */
static u64 cost_slope(u64 fraction, u64 fs)
{
	return tor_div64(cost_share(fraction, fs << 16), 1000);
}

/*
 * Time of bytes on links and in nodes, ps per 65536 bytes of the vector. A
 * frame that waits for its link occupies no processor: with several chunks, the
 * quicker of the two has meanwhile finished all of them but one.
 */
static void cost_slopes(const struct tor_cost *cost, const struct tor_rates *rates, u64 *link,
			u64 *byte)
{
	u64 *quicker;

	*link = cost_slope(cost->w, rates->link);
	*byte = cost_slope(cost->moved, rates->byte);
	quicker = *link < *byte ? link : byte;
	*quicker = tor_div64(*quicker, cost->chunks);
}

void tor_cost_parts(const struct tor_cost *cost, const struct tor_rates *rates, u64 bytes,
		    struct tor_time *time)
{
	u64 link, byte;

	cost_slopes(cost, rates, &link, &byte);
	*time = (struct tor_time){
		.op = rates->op,
		.rounds = cost->rounds * rates->e,
		.hops = (cost->hops - cost->rounds) * rates->f,
		.link = mul_u64_u64_shr(bytes, link, 16),
		.messages = cost_share(cost->messages, rates->message),
		.bytes = mul_u64_u64_shr(bytes, byte, 16),
	};
}

struct tor_line tor_cost_line(const struct tor_cost *cost, const struct tor_rates *rates)
{
	u64 link, byte;

	cost_slopes(cost, rates, &link, &byte);
	return (struct tor_line){
		.start = rates->op + cost->rounds * rates->e +
			(cost->hops - cost->rounds) * rates->f + cost_share(cost->messages,
									    rates->message),
		.slope = link + byte,
	};
}

/*
 * Hosts with 25 Gb/s cables. e: two softirqs, an interrupt, a reduction from
 * cold memory. f: forwarding a frame. byte: checksums and reductions at some
 * GB/s. `torcollctl tune` measures better values, and op, which is left to it.
 */
const struct tor_rates tor_rates_default = {
	.e = 12000000,
	.f = 5000000,
	.link = 320000,
	.message = 1000000,
	.byte = 60000,
};
