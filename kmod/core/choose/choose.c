// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Offers of plans, and tables of the fastest ones. See choose.h. */
#include "core/choose/choose.h"

#include "core/choose/pipe.h"
#include "core/ratio.h"
#include "core/reduce/reduce.h"

#define BLOCK_SETS	9		/* numbers of blocks of a pipeline: 1, 2, 4, ... 256 */
#define VARIANTS	4		/* of trivance-bw */

/* Steps of walks, of 10 to 25 ns: for all plans that serve a request, and for one of them. */
#define OFFERS_STEPS	(1ULL << 26)
#define OFFER_STEPS	(1ULL << 24)

static_assert(TORCOLL_ALGO_COUNT <= 32);

/* --- parameters --- */

static bool choose_is_rooted(const struct tor_call *call)
{
	return call->collective == TORCOLL_BROADCAST || call->collective == TORCOLL_REDUCE;
}

static bool choose_is_scan(const struct tor_call *call)
{
	return call->collective == TORCOLL_SCAN || call->collective == TORCOLL_EXSCAN;
}

/* All channels, or one: fewer messages, but idle links. */
static bool offer_set_channels(struct tor_call *call, u32 i)
{
	call->param[TORCOLL_PARAM_CHANNELS] = i;
	return i < 2;
}

/*
 * Two or four chunks: two or four times the messages, but links and processors
 * wait less for each other.
 */
static bool offer_set_chunks(struct tor_call *call, u32 i)
{
	call->param[TORCOLL_PARAM_CHUNKS] = 2 << i;
	return i < 2;
}

static bool offer_set_channels_or_chunks(struct tor_call *call, u32 i)
{
	return i < 2 ? offer_set_channels(call, i) : offer_set_chunks(call, i - 2);
}

static bool offer_set_blocks(struct tor_call *call, u32 i)
{
	call->param[TORCOLL_PARAM_BLOCKS] = 1U << i;
	return i < BLOCK_SETS;
}

/*
 * Distances for few bytes on tori of 1, 2, 3 dimensions, and for few hops; the
 * first one in chunks as well.
 */
static bool offer_set_variant(struct tor_call *call, u32 i)
{
	call->param[TORCOLL_PARAM_VARIANT] = i < 2 * VARIANTS ? 1 + i / 2 : 1;
	return i < 2 * VARIANTS ? offer_set_channels(call, i % 2) :
				  offer_set_chunks(call, i - 2 * VARIANTS);
}

static bool offer_set_r(struct tor_call *call, u32 i)
{
	/* 0 means the default, which is r = 0 */
	call->param[TORCOLL_PARAM_R] = 1 + i;
	if (call->collective != TORCOLL_ALLREDUCE)
		return !i;
	return i <= fls(call->ranks - 1);
}

bool tor_offer_params(struct tor_call *call, u32 i)
{
	memset(call->param, 0, sizeof(call->param));
	switch (call->algorithm) {
	case TORCOLL_SWING_BW:
	case TORCOLL_BUCKET:
	case TORCOLL_HAMILTONIAN:
	case TORCOLL_RECDOUB_BW:
	case TORCOLL_RECDOUB_BW_MIRRORED:
	case TORCOLL_BRUCK_BW:
	case TORCOLL_WINDOW:
		return offer_set_channels(call, i);
	case TORCOLL_BIBUCKET:
		return offer_set_channels_or_chunks(call, i);
	case TORCOLL_SWING_LAT:
		/* one is the default */
		call->param[TORCOLL_PARAM_CHANNELS] = i ? 2 * call->torus->axes : 1;
		return i < 2;
	case TORCOLL_LAYERS:
		return !i || offer_set_chunks(call, i - 1);
	case TORCOLL_TRIVANCE_BW:
		return offer_set_variant(call, i);
	case TORCOLL_GENERAL:
		return offer_set_r(call, i);
	case TORCOLL_RING:
		return choose_is_rooted(call) || choose_is_scan(call) ? offer_set_blocks(call, i) :
								      offer_set_channels(call, i);
	case TORCOLL_CIRCULANT:
		return choose_is_rooted(call) ? offer_set_blocks(call, i) : !i;
	default:
		return !i;
	}
}

/* --- offers --- */

/*
 * Other ranks may have a part that is an element longer, but must decide the
 * same.
 */
static u64 offer_temps(const struct tor_plan *plan)
{
	u32 temps = plan->shape.bufs - plan->shape.vectors;

	if (plan->shape.input)
		return 0;
	return tor_mul_div64(temps * plan->temp.n, TOR_COST_ONE, plan->call.count);
}

/* True if so many temporaries of a vector are at most TOR_TEMPS_MAX. */
static bool offer_fits(u64 temps, u64 bytes)
{
	return !temps || bytes <= tor_div64(TOR_TEMPS_MAX * TOR_COST_ONE, temps);
}

bool tor_offer_beats(const struct tor_offer *a, const struct tor_offer *b,
		     const struct tor_rates *rates, u64 bytes)
{
	bool fits = offer_fits(a->temps, bytes);

	if (fits != offer_fits(b->temps, bytes))
		return fits;
	if (!fits && a->temps != b->temps)
		return a->temps < b->temps;
	return tor_line_at(tor_cost_line(&a->cost, rates), bytes) <
	       tor_line_at(tor_cost_line(&b->cost, rates), bytes);
}

/* Fill @offer with a plan that serves the request, but for its cost. */
static int offer_make(struct tor_offer *offer, const struct tor_call *call)
{
	struct tor_plan plan;
	int err = tor_plan_init(&plan, call, 0, NULL);

	if (err)
		return err;
	/* a frame has 16 bits for the round */
	if (plan.shape.rounds > U16_MAX)
		return -EOPNOTSUPP;
	*offer = (struct tor_offer){
		.algorithm = call->algorithm,
		.agrees = plan.shape.agrees,
		.sequential = plan.shape.sequential,
		.temps = offer_temps(&plan),
	};
	memcpy(offer->param, call->param, sizeof(offer->param));
	return 0;
}

/*
 * Collects all plans that serve the request in @offer. Without @offer it only
 * counts them. Returns their number.
 */
static u32 offers_collect(const struct tor_call *given, struct tor_offer *offer)
{
	struct tor_call call = *given;
	struct tor_offer one;
	u32 i, n = 0;

	/* a vector without empty parts */
	call.count = 2ULL * TOR_MAX_CHANNELS * call.ranks;
	for (call.algorithm = TORCOLL_ALGO_AUTO + 1; call.algorithm < TORCOLL_ALGO_COUNT;
	     call.algorithm++) {
		if (!(tor_algorithm_serves(call.algorithm) & (1U << call.collective)))
			continue;
		for (i = 0; tor_offer_params(&call, i); i++)
			n += !offer_make(offer ? &offer[n] : &one, &call);
	}
	return n;
}

/* A cost that is known has chunks: of some plans it takes too long to find out. */
static bool offer_has_cost(const struct tor_offer *offer)
{
	return offer->cost.chunks;
}

/*
 * Algorithms that serve most shapes, and well: their costs are found first, and
 * may take half of all steps instead of a quarter. Without them `auto` would
 * take what is several times slower.
 */
#define OFFERS_FIRST	(1U << TORCOLL_TREE | 1U << TORCOLL_BIBUCKET | 1U << TORCOLL_RING | \
			 1U << TORCOLL_CIRCULANT)

static bool offer_is_first(const struct tor_offer *offer)
{
	return OFFERS_FIRST >> offer->algorithm & 1;
}

/* Finds the cost of a plan, in at most @most steps. Adds them to *@steps. */
static int offer_walk(struct tor_offer *offer, const struct tor_call *given, u64 most, u64 *steps)
{
	struct tor_call call = *given;
	struct tor_tally t;
	int err = -E2BIG;

	call.algorithm = offer->algorithm;
	memcpy(call.param, offer->param, sizeof(call.param));
	most = min_t(u64, most, offer_is_first(offer) ? 2 * OFFER_STEPS : OFFER_STEPS);
	if (most && tor_cost_is_quick(&call)) {
		tor_tally_init(&t, call.torus);
		err = tor_cost_walk(&t, &call, NULL, most, &offer->cost, NULL);
		*steps += t.steps;
		tor_tally_free(&t);
	}
	if (err && err != -ENOMEM && err != -EINTR)
		err = tor_pipe_cost(&call, &offer->cost);
	return err;
}

/*
 * The pass in which the cost of the @i-th parameters of an algorithm is found.
 * Rooted ones are fast for long vectors as a ring in many blocks, the last of
 * its parameters; of others those that come first use all channels, or one.
 */
static u32 offer_pass(const struct tor_offer *offer, u32 i, bool rooted)
{
	if (rooted)
		return offer->algorithm == TORCOLL_RING ? i : i + BLOCK_SETS;
	return offer_is_first(offer) ? i : i + 2;
}

/*
 * Finds costs: of the first parameters of each algorithm, then of the second
 * ones, and so on, as the steps may not be enough for all.
 */
static int offers_walk(struct tor_offers *o, const struct tor_call *call, u64 most)
{
	bool more = true, rooted = choose_is_rooted(call);
	u32 pass, turn, k, first;
	int err;

	for (pass = 0; more; pass++) {
		more = false;
		for (k = 0, first = 0; k < o->n; k++) {
			if (o->offer[k].algorithm != o->offer[first].algorithm)
				first = k;
			turn = offer_pass(&o->offer[k], k - first, rooted);
			more |= turn > pass;
			if (turn != pass)
				continue;
			err = offer_walk(&o->offer[k], call, most - min(most, o->steps), &o->steps);
			if (err == -ENOMEM || err == -EINTR)
				return err;
		}
	}
	return 0;
}

static void offers_drop_unknown(struct tor_offers *o)
{
	u32 k, n = 0;

	for (k = 0; k < o->n; k++)
		if (offer_has_cost(&o->offer[k]))
			o->offer[n++] = o->offer[k];
	o->n = n;
}

int tor_offers_make_within(struct tor_offers *o, const struct tor_call *call, u64 steps)
{
	int err;

	*o = (struct tor_offers){ 0 };
	if (call->ranks < 2)
		return 0;
	o->n = offers_collect(call, NULL);
	if (!o->n)
		return 0;
	o->offer = tor_env_table_alloc(o->n * sizeof(*o->offer));
	if (!o->offer) {
		o->n = 0;
		return -ENOMEM;
	}
	offers_collect(call, o->offer);
	err = offers_walk(o, call, steps);
	if (err)
		tor_offers_free(o);
	else
		offers_drop_unknown(o);
	return err;
}

int tor_offers_make(struct tor_offers *o, const struct tor_call *call)
{
	return tor_offers_make_within(o, call, OFFERS_STEPS);
}

void tor_offers_free(struct tor_offers *o)
{
	tor_env_table_free(o->offer);
	*o = (struct tor_offers){ 0 };
}

/* --- tables --- */

/* True if @a is below @b at size 0, or equal there and flatter. */
static bool table_starts_below(struct tor_line a, struct tor_line b)
{
	return a.start != b.start ? a.start < b.start : a.slope < b.slope;
}

/* Bytes up to which @a, which starts lower, is not above @b; ~0: for all sizes. */
static u64 table_crossing(struct tor_line a, struct tor_line b)
{
	u64 steeper;

	if (b.slope >= a.slope)
		return ~0ULL;
	steeper = a.slope - b.slope;
	/* beyond the longest vector, and would overflow below */
	if (tor_div64(b.start - a.start, steeper) >= ~0ULL >> 16)
		return ~0ULL;
	return tor_mul_div64(b.start - a.start, 1 << 16, steeper);
}

/*
 * The offer whose line first falls below that of @from, if any, and the size
 * where it does. Of several, the flattest.
 */
static const struct tor_offer *table_next_offer(const struct tor_offers *o,
						const struct tor_rates *rates,
						const struct tor_offer *from,
						enum tor_level level, u32 algorithms, u64 *upto)
{
	const struct tor_offer *next = NULL;
	struct tor_line line, best = { 0 }, at = { 0 };
	u64 x;
	u32 i;

	if (from)
		at = tor_cost_line(&from->cost, rates);
	*upto = ~0ULL;
	for (i = 0; i < o->n; i++) {
		if (!(algorithms & (1U << o->offer[i].algorithm)) ||
		    !tor_offer_meets(&o->offer[i], level))
			continue;
		line = tor_cost_line(&o->offer[i].cost, rates);
		if (!from) {
			if (next && !table_starts_below(line, best))
				continue;
		} else {
			/* offers that start lower came before */
			if (line.start < at.start || line.slope >= at.slope)
				continue;
			x = table_crossing(at, line);
			if (x > *upto || (x == *upto && next && line.slope >= best.slope))
				continue;
			*upto = x;
		}
		next = &o->offer[i];
		best = line;
	}
	return next;
}

void tor_table_make(struct tor_table *table, const struct tor_offers *o,
		    const struct tor_rates *rates, enum tor_level level, u32 algorithms)
{
	const struct tor_offer *offer;
	struct tor_choice *choice;
	u64 upto;

	table->n = 0;
	offer = table_next_offer(o, rates, NULL, level, algorithms, &upto);
	while (offer && table->n < TOR_TABLE_ROOM) {
		choice = &table->choice[table->n++];
		choice->temps = offer->temps;
		choice->algorithm = offer->algorithm;
		memcpy(choice->param, offer->param, sizeof(choice->param));
		offer = table_next_offer(o, rates, offer, level, algorithms, &upto);
		choice->upto = upto;
	}
	if (table->n)
		table->choice[table->n - 1].upto = ~0ULL;
}

const struct tor_choice *tor_table_find(const struct tor_table *table, u64 bytes)
{
	u32 i;

	for (i = 0; i < table->n; i++)
		if (bytes <= table->choice[i].upto)
			return &table->choice[i];
	return NULL;
}

/* --- choosers --- */

void tor_chooser_init(struct tor_chooser *c, const struct tor_torus *torus, const u32 *members,
		      u32 ranks, const struct tor_rates *rates)
{
	c->torus = torus;
	c->members = members;
	c->ranks = ranks;
	c->rates = *rates;
}

void tor_chooser_free(struct tor_chooser *c)
{
	u32 i;

	for (i = 0; i < TOR_CHOSEN_COLLECTIVES; i++)
		tor_chooser_forget(c, i);
}

/* Make the tables from offers, which @c owns from then on. */
static void chooser_take(struct tor_chooser *c, u32 collective, const struct tor_offers *o)
{
	enum tor_level level;

	for (level = 0; level < TOR_LEVELS; level++)
		tor_table_make(&c->table[collective][level], o, &c->rates, level,
			       TOR_ALGO_MASK_ALL);
	c->offers[collective].offer = o->offer;
	/* tor_chooser_memory() reads it at any time */
	WRITE_ONCE(c->offers[collective].n, o->n);
	c->made[collective] = true;
	c->changes++;
}

int tor_chooser_make(struct tor_chooser *c, u32 collective)
{
	struct tor_call call = {
		.torus = c->torus,
		.members = c->members,
		.ranks = c->ranks,
		.collective = collective,
	};
	struct tor_placement placed;
	struct tor_offers o;
	int err;

	if (tor_chooser_ready(c, collective))
		return 0;
	/* once, instead of in each plan that is walked */
	if (c->members && tor_placement_find(&placed, &call))
		call.placed = &placed;
	err = tor_offers_make(&o, &call);
	if (!err)
		chooser_take(c, collective, &o);
	return err;
}

bool tor_chooser_is_like(const struct tor_chooser *c, const struct tor_chooser *other)
{
	if (c->torus != other->torus || c->ranks != other->ranks || !c->members != !other->members)
		return false;
	return !c->members || !memcmp(c->members, other->members, c->ranks * sizeof(*c->members));
}

int tor_chooser_copy(struct tor_chooser *c, const struct tor_chooser *from, u32 collective)
{
	struct tor_offers o = { .n = from->offers[collective].n };

	if (o.n) {
		o.offer = tor_env_table_alloc(o.n * sizeof(*o.offer));
		if (!o.offer)
			return -ENOMEM;
		memcpy(o.offer, from->offers[collective].offer, o.n * sizeof(*o.offer));
	}
	chooser_take(c, collective, &o);
	return 0;
}

void tor_chooser_forget(struct tor_chooser *c, u32 collective)
{
	if (collective >= TOR_CHOSEN_COLLECTIVES)
		return;
	tor_env_table_free(c->offers[collective].offer);
	c->offers[collective].offer = NULL;
	WRITE_ONCE(c->offers[collective].n, 0);
	c->made[collective] = false;
	c->changes++;
}

u64 tor_chooser_memory(const struct tor_chooser *c)
{
	u64 bytes = sizeof(*c);
	u32 i;

	for (i = 0; i < TOR_CHOSEN_COLLECTIVES; i++)
		bytes += (u64)READ_ONCE(c->offers[i].n) * sizeof(*c->offers[i].offer);
	return bytes;
}

/* The best offer for one size, with some algorithms excluded. */
static const struct tor_offer *choose_best(const struct tor_offers *o,
					   const struct tor_rates *rates, enum tor_level level,
					   u32 algorithms, u64 bytes)
{
	const struct tor_offer *best = NULL;
	u32 i;

	for (i = 0; i < o->n; i++) {
		if (!(algorithms & (1U << o->offer[i].algorithm)) ||
		    !tor_offer_meets(&o->offer[i], level))
			continue;
		if (!best || tor_offer_beats(&o->offer[i], best, rates, bytes))
			best = &o->offer[i];
	}
	return best;
}

bool tor_choose(const struct tor_chooser *c, u32 collective, enum tor_level level, u32 excluded,
		u64 bytes, struct tor_choice *choice)
{
	const struct tor_choice *found;
	const struct tor_offer *offer;

	if (collective >= TOR_CHOSEN_COLLECTIVES)
		return false;
	found = excluded ? NULL : tor_table_find(&c->table[collective][level], bytes);
	if (found && offer_fits(found->temps, bytes)) {
		*choice = *found;
		return true;
	}
	offer = choose_best(&c->offers[collective], &c->rates, level, ~excluded, bytes);
	if (!offer)
		return false;
	choice->upto = bytes;
	choice->temps = offer->temps;
	choice->algorithm = offer->algorithm;
	memcpy(choice->param, offer->param, sizeof(choice->param));
	return true;
}

bool tor_chooser_offers(const struct tor_chooser *c, u32 collective, u32 algorithm)
{
	u32 i;

	for (i = 0; i < c->offers[collective].n; i++)
		if (c->offers[collective].offer[i].algorithm == algorithm)
			return true;
	return false;
}

enum tor_level tor_level_of(u32 collective, u32 type, u32 redop, u32 bits)
{
	bool reduces = collective == TORCOLL_ALLREDUCE || collective == TORCOLL_REDUCE_SCATTER ||
		       collective == TORCOLL_REDUCE;

	if (!reduces || tor_reduce_exact(type, redop))
		return TOR_LEVEL_ANY;
	if (bits == TORCOLL_BITS_ORDERED)
		return TOR_LEVEL_SEQUENTIAL;
	return bits == TORCOLL_BITS_RELAXED ? TOR_LEVEL_ANY : TOR_LEVEL_AGREES;
}
