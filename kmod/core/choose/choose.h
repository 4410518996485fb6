/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The choice of the fastest plan, by the model of cost.h.
 *
 * Offers are all plans that serve a request: every algorithm, with each value
 * of its parameters that may pay. The time of a plan is a linear function of
 * the size of the vector, so the fastest plan for each size is given by the
 * lower envelope of the lines of all offers: a table of a few choices, each
 * valid up to some size.
 */
#ifndef _TOR_CORE_CHOOSE_H
#define _TOR_CORE_CHOOSE_H

#include "core/choose/cost.h"

#define TOR_TABLE_ROOM		24	/* choices in a table; more would gain next to nothing */
#define TOR_ALGO_MASK_ALL	(~0U)

/*
 * Bytes of temporaries of a rank up to which the fastest plan is taken, whatever
 * it needs. Beyond, a plan within them goes before faster ones: those that keep
 * the vectors of all ranks are the fastest until they need hundreds of MiB.
 */
#define TOR_TEMPS_MAX		(16 << 20)

/* A plan that serves a request. */
struct tor_offer {
	u32 algorithm;
	u32 param[TORCOLL_PARAM_COUNT];
	bool agrees;			/* see struct tor_plan_shape */
	bool sequential;
	u64 temps;			/* temporaries of rank 0: of the vector, in 1/TOR_COST_ONE */
	struct tor_cost cost;
};

struct tor_offers {
	struct tor_offer *offer;
	u32 n;
	u64 steps;			/* of the walks that found their costs */
};

/*
 * The fastest plan for vectors of up to @upto bytes, from where the choice
 * before ends.
 */
struct tor_choice {
	u64 upto;
	u64 temps;			/* see struct tor_offer */
	u32 algorithm;
	u32 param[TORCOLL_PARAM_COUNT];
};

struct tor_table {
	u32 n;				/* 0: nothing serves the request */
	struct tor_choice choice[TOR_TABLE_ROOM];
};

/* Requirement on a result, in terms of the traits of plans. */
enum tor_level { TOR_LEVEL_ANY, TOR_LEVEL_AGREES, TOR_LEVEL_SEQUENTIAL, TOR_LEVELS };

/**
 * tor_offers_make - collect all plans that serve a request, and their costs
 * @o: filled in; free with tor_offers_free()
 * @call: the request without an algorithm and without parameters
 *
 * Plans whose walk would take long, because they look different from every one
 * of many ranks, are left out: see tor_cost_is_quick(). So are those that are
 * left when all walks together take seconds: the same ones on every rank, since
 * steps are counted, not time.
 *
 * Context: may sleep to allocate; no lock.
 * Return: 0, -ENOMEM, or -EINTR: the process is being killed.
 */
int tor_offers_make(struct tor_offers *o, const struct tor_call *call);

/* The same by about that many steps of walks at most, see struct tor_tally. */
int tor_offers_make_within(struct tor_offers *o, const struct tor_call *call, u64 steps);
void tor_offers_free(struct tor_offers *o);

/**
 * tor_offer_params - enumerate the sets of parameters worth considering
 * @call: the request with its algorithm; its parameters are set
 * @i: number of the set, from 0
 *
 * Return: false if there is no such set.
 */
bool tor_offer_params(struct tor_call *call, u32 i);

/* True if an offer may be used at this level. */
static inline bool tor_offer_meets(const struct tor_offer *offer, enum tor_level level)
{
	return level == TOR_LEVEL_ANY || (level == TOR_LEVEL_AGREES ? offer->agrees :
								      offer->sequential);
}

/**
 * tor_offer_beats - compare offers, both of which may be used
 * @a: an offer
 * @b: another one
 * @rates: of the fabric
 * @bytes: of the vector
 *
 * Context: any.
 * Return: true if @a is to be taken before @b: it is faster, but see
 * TOR_TEMPS_MAX. Of two beyond that, the one with fewer temporaries.
 */
bool tor_offer_beats(const struct tor_offer *a, const struct tor_offer *b,
		     const struct tor_rates *rates, u64 bytes);

/**
 * tor_table_make - find the fastest offer for every size
 * @table: filled in
 * @o: offers
 * @rates: of the fabric
 * @level: requirement on the result
 * @algorithms: those that may be used, a bit 1 << enum torcoll_algorithm each
 *
 * Context: any.
 */
void tor_table_make(struct tor_table *table, const struct tor_offers *o,
		    const struct tor_rates *rates, enum tor_level level, u32 algorithms);

/* The choice for a size, or NULL if the table is empty. */
const struct tor_choice *tor_table_find(const struct tor_table *table, u64 bytes);

#define TOR_CHOSEN_COLLECTIVES	6	/* TORCOLL_COLL_NONE to TORCOLL_REDUCE */

/*
 * The tables by which a comm chooses. Large: allocate it. The tables of a
 * collective are made on first use: walking all plans takes milliseconds and more, and
 * few programs call every collective.
 */
struct tor_chooser {
	const struct tor_torus *torus;
	const u32 *members;
	u32 ranks;
	struct tor_rates rates;
	bool made[TOR_CHOSEN_COLLECTIVES];
	u32 changes;			/* how often tables were made, or given up */
	struct tor_offers offers[TOR_CHOSEN_COLLECTIVES];
	struct tor_table table[TOR_CHOSEN_COLLECTIVES][TOR_LEVELS];
};

/**
 * tor_chooser_init - set up the inputs of the tables of a comm
 * @c: zeroed; free with tor_chooser_free()
 * @torus: shape of the fabric; must stay valid
 * @members: see struct tor_call; must stay valid
 * @ranks: see struct tor_call
 * @rates: of the fabric; must be the same on all ranks, since each chooses for
 *	itself
 */
void tor_chooser_init(struct tor_chooser *c, const struct tor_torus *torus, const u32 *members,
		      u32 ranks, const struct tor_rates *rates);
void tor_chooser_free(struct tor_chooser *c);

/* Change the rates. Context: before the first tables are made. */
static inline void tor_chooser_set_rates(struct tor_chooser *c, const struct tor_rates *rates)
{
	c->rates = *rates;
}

/**
 * tor_chooser_make - make the tables of a collective, unless they exist
 * @c: chooser
 * @collective: enum torcoll_collective; nothing is made for those without
 *	tables
 *
 * Context: may sleep to allocate; calls must be serialised.
 * Return: 0; or -ENOMEM, or -EINTR if the process is being killed, and nothing
 * was made.
 */
int tor_chooser_make(struct tor_chooser *c, u32 collective);

/* True if the plans that serve one cost the same on the other: whatever the rates. */
bool tor_chooser_is_like(const struct tor_chooser *c, const struct tor_chooser *other);

/**
 * tor_chooser_copy - make the tables of a collective without walking its plans
 * @c: chooser without them
 * @from: one like it, see tor_chooser_is_like(), that has them
 * @collective: enum torcoll_collective, one that has tables
 *
 * Context, return: as tor_chooser_make(); @from must not change meanwhile.
 */
int tor_chooser_copy(struct tor_chooser *c, const struct tor_chooser *from, u32 collective);

/*
 * Frees the tables of a collective, for example because they exceed the memory
 * limit of the user. Context: as tor_chooser_make().
 */
void tor_chooser_forget(struct tor_chooser *c, u32 collective);

/* Bytes currently allocated. Context: any, also while tables are being made. */
u64 tor_chooser_memory(const struct tor_chooser *c);

/**
 * tor_choose - choose the plan for a request: see tor_offer_beats()
 * @c: chooser
 * @collective: enum torcoll_collective
 * @level: requirement on the result
 * @excluded: algorithms not to use, a bit 1 << enum torcoll_algorithm each
 * @bytes: of the vector
 * @choice: filled in: algorithm and parameters
 *
 * Context: any; @c must not change meanwhile.
 * Return: false if nothing serves the request.
 */
bool tor_choose(const struct tor_chooser *c, u32 collective, enum tor_level level, u32 excluded,
		u64 bytes, struct tor_choice *choice);

/* True if the tables have a plan by that algorithm. Context: as tor_choose(). */
bool tor_chooser_offers(const struct tor_chooser *c, u32 collective, u32 algorithm);

/* True if the tables have been made, or there are none for the collective. */
static inline bool tor_chooser_ready(const struct tor_chooser *c, u32 collective)
{
	return collective >= TOR_CHOSEN_COLLECTIVES || c->made[collective];
}

/*
 * Counts changes of the tables: a caller that keeps a choice compares it to find
 * out whether the same would be chosen again.
 */
static inline u32 tor_chooser_changes(const struct tor_chooser *c)
{
	return c ? c->changes : 0;
}

/*
 * True if the cost of any plan is known. Not the case with a single rank, or
 * with long lists of nodes.
 */
static inline bool tor_chooser_knows(const struct tor_chooser *c, u32 collective)
{
	return collective < TOR_CHOSEN_COLLECTIVES && c->offers[collective].n;
}

/*
 * The level at which the bits of results agree as requested; see enum
 * torcoll_bits.
 */
enum tor_level tor_level_of(u32 collective, u32 type, u32 redop, u32 bits);

#endif
