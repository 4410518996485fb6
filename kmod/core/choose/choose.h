/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which plan is fastest, by the model of cost.h.
 *
 * Offers are all the plans that serve a request: every algorithm, with each of the values of its
 * parameters that may pay. A plan's time is a line over the vector's size, so what is fastest for all
 * sizes is the lower envelope of the offers' lines: a table of a few choices, each up to some size.
 */
#ifndef _TOR_CORE_CHOOSE_H
#define _TOR_CORE_CHOOSE_H

#include "core/choose/cost.h"

#define TOR_TABLE_ROOM		24	/* choices in a table; further ones would win next to nothing */
#define TOR_ALGO_MASK_ALL	(~0U)

/* A plan that serves a request. */
struct tor_offer {
	u32 algorithm;
	u32 param[TORCOLL_PARAM_COUNT];
	bool agrees;			/* as of struct tor_plan_shape */
	bool sequential;
	u32 bufs;
	struct tor_cost cost;
};

struct tor_offers {
	struct tor_offer *offer;
	u32 n;
};

/* What is fastest for vectors of up to @upto bytes, where the choice before ends. */
struct tor_choice {
	u64 upto;
	u32 algorithm;
	u32 param[TORCOLL_PARAM_COUNT];
};

struct tor_table {
	u32 n;				/* 0: nothing serves the request */
	struct tor_choice choice[TOR_TABLE_ROOM];
};

/* What a result must be, of the plans' traits. */
enum tor_level { TOR_LEVEL_ANY, TOR_LEVEL_AGREES, TOR_LEVEL_SEQUENTIAL, TOR_LEVELS };

/**
 * tor_offers_make - all plans that serve a request, and what they cost
 * @o: to fill; free it with tor_offers_free()
 * @req: the request without an algorithm, and without parameters
 *
 * Plans whose walk would take long, because they look different from every one of many ranks, are left
 * out: see tor_cost_is_quick().
 *
 * Return: 0 or -ENOMEM.
 */
int tor_offers_make(struct tor_offers *o, const struct tor_plan_req *req);
void tor_offers_free(struct tor_offers *o);

/**
 * tor_offer_params - an algorithm's parameters, one set after the other
 * @req: the request with its algorithm; its parameters are set
 * @i: number of the set, from 0
 *
 * Return: whether there is such a set.
 */
bool tor_offer_params(struct tor_plan_req *req, u32 i);

/* May an offer be used at this level? */
static inline bool tor_offer_meets(const struct tor_offer *offer, enum tor_level level)
{
	return level == TOR_LEVEL_ANY || (level == TOR_LEVEL_AGREES ? offer->agrees :
								      offer->sequential);
}

/**
 * tor_table_make - the fastest offer for every size
 * @table: to fill
 * @o: offers
 * @rates: of the fabric
 * @level: what the result must be
 * @algorithms: those that may be used, a bit 1 << enum torcoll_algorithm each
 */
void tor_table_make(struct tor_table *table, const struct tor_offers *o,
		    const struct tor_rates *rates, enum tor_level level, u32 algorithms);

/* The choice for a size, or NULL if the table is empty. */
const struct tor_choice *tor_table_find(const struct tor_table *table, u64 bytes);

#define TOR_CHOSEN_COLLECTIVES	6	/* TORCOLL_ALLREDUCE to TORCOLL_REDUCE, and none */

/*
 * What a comm chooses by. Of allocated memory, it is large. A collective's tables are made when they are first
 * asked for: walking through all plans takes milliseconds, and few programs call everything.
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
 * tor_chooser_init - what the tables of a comm are to be made of
 * @c: zeroed; free it with tor_chooser_free()
 * @torus: the fabric's shape; it must stay
 * @members: as of struct tor_plan_req; they must stay
 * @ranks: likewise
 * @rates: of the fabric; all ranks must have the same, since each chooses by itself
 */
void tor_chooser_init(struct tor_chooser *c, const struct tor_torus *torus, const u32 *members,
		      u32 ranks, const struct tor_rates *rates);
void tor_chooser_free(struct tor_chooser *c);

/**
 * tor_chooser_make - make the tables of a collective, unless they are there
 * @c: chooser
 * @collective: enum torcoll_collective; for those that no tables cover nothing is made
 *
 * Context: may wait for memory; one at a time.
 * Return: 0, or -ENOMEM and nothing was made.
 */
int tor_chooser_make(struct tor_chooser *c, u32 collective);

/* The collective's tables are not wanted: its user may not have so much memory. */
void tor_chooser_forget(struct tor_chooser *c, u32 collective);

/* Bytes that it takes up, now; tables may be under way. */
u64 tor_chooser_memory(const struct tor_chooser *c);

/**
 * tor_choose - what is fastest for a request
 * @c: chooser
 * @collective: enum torcoll_collective
 * @level: what the result must be
 * @excluded: algorithms that are not wanted, a bit 1 << enum torcoll_algorithm each
 * @bytes: of the vector
 * @choice: to fill: algorithm and parameters
 *
 * Return: false if nothing serves the request.
 */
bool tor_choose(const struct tor_chooser *c, u32 collective, enum tor_level level, u32 excluded,
		u64 bytes, struct tor_choice *choice);

/* Have tables been made, if there are any for this? */
static inline bool tor_chooser_ready(const struct tor_chooser *c, u32 collective)
{
	return collective >= TOR_CHOSEN_COLLECTIVES || c->made[collective];
}

/* Whoever keeps what was chosen finds out whether it would be chosen again. */
static inline u32 tor_chooser_changes(const struct tor_chooser *c)
{
	return c ? c->changes : 0;
}

/* Is there any plan whose cost is known? Not so with a single rank, and with long lists of nodes. */
static inline bool tor_chooser_knows(const struct tor_chooser *c, u32 collective)
{
	return collective < TOR_CHOSEN_COLLECTIVES && c->offers[collective].n;
}

/* The level at which the bits of an op's results agree as asked for; see enum torcoll_bits. */
enum tor_level tor_level_of(u32 collective, u32 type, u32 redop, u32 bits);

#endif
