// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The algorithm `auto`. See auto.h. */
#include "core/choose/auto.h"

/*
 * Up to this many bytes, the fewest messages win; beyond, the fewest bytes per
 * cable.
 */
#define FEW_MESSAGES_MAX	(32 << 10)
#define CANDIDATES		3

struct candidates {
	u8 few_messages[CANDIDATES];
	u8 few_bytes[CANDIDATES];
};

/*
 * The last one of each serves any list of nodes; `ring` has more rounds than
 * frames can number where there are very many. All give the same bits on every
 * rank.
 */
static const struct candidates plain[TORCOLL_COLL_COUNT] = {
	[TORCOLL_ALLREDUCE] = { { TORCOLL_TREE, TORCOLL_RING },
				{ TORCOLL_BIBUCKET, TORCOLL_RING, TORCOLL_CIRCULANT } },
	[TORCOLL_REDUCE_SCATTER] = { { TORCOLL_CIRCULANT, TORCOLL_RING },
				     { TORCOLL_BIBUCKET, TORCOLL_RING, TORCOLL_CIRCULANT } },
	[TORCOLL_ALLGATHER] = { { TORCOLL_CIRCULANT, TORCOLL_RING },
				{ TORCOLL_BIBUCKET, TORCOLL_RING, TORCOLL_CIRCULANT } },
	[TORCOLL_BROADCAST] = { { TORCOLL_TREE, TORCOLL_CIRCULANT },
				{ TORCOLL_CIRCULANT, TORCOLL_TREE } },
	[TORCOLL_REDUCE] = { { TORCOLL_TREE, TORCOLL_CIRCULANT },
			     { TORCOLL_CIRCULANT, TORCOLL_TREE } },
	[TORCOLL_ALLTOALL] = { { TORCOLL_DIRECT }, { TORCOLL_DIRECT } },
	[TORCOLL_SCAN] = { { TORCOLL_RING }, { TORCOLL_RING } },
	[TORCOLL_EXSCAN] = { { TORCOLL_RING }, { TORCOLL_RING } },
	[TORCOLL_HALO] = { { TORCOLL_DIRECT }, { TORCOLL_DIRECT } },
	[TORCOLL_GATHER] = { { TORCOLL_TREE, TORCOLL_DIRECT }, { TORCOLL_TREE, TORCOLL_DIRECT } },
	[TORCOLL_SCATTER] = { { TORCOLL_TREE, TORCOLL_DIRECT }, { TORCOLL_TREE, TORCOLL_DIRECT } },
};

/* Algorithms that give the sequential sum. */
static const struct candidates sequential[TORCOLL_COLL_COUNT] = {
	[TORCOLL_ALLREDUCE] = { { TORCOLL_FLOOD, TORCOLL_DIRECT },
				{ TORCOLL_DIRECT, TORCOLL_FLOOD } },
	[TORCOLL_REDUCE_SCATTER] = { { TORCOLL_DIRECT }, { TORCOLL_DIRECT } },
	[TORCOLL_REDUCE] = { { TORCOLL_FLOOD, TORCOLL_DIRECT },
			     { TORCOLL_DIRECT, TORCOLL_FLOOD } },
	[TORCOLL_SCAN] = { { TORCOLL_RING }, { TORCOLL_RING } },
	[TORCOLL_EXSCAN] = { { TORCOLL_RING }, { TORCOLL_RING } },
};

static bool auto_choose_plainly(const struct tor_call *call, u32 collective, enum tor_level level,
				u32 excluded, u64 bytes, struct tor_choice *choice)
{
	bool ordered = level == TOR_LEVEL_SEQUENTIAL;
	const struct candidates *c = ordered ? &sequential[collective] : &plain[collective];
	u64 most = FEW_MESSAGES_MAX;
	const u8 *candidate;
	u32 i;

	/* flood keeps the vectors of all ranks, direct a part of each */
	if (ordered)
		most = min_t(u64, most, TOR_TEMPS_MAX / call->ranks);
	candidate = bytes <= most ? c->few_messages : c->few_bytes;
	*choice = (struct tor_choice){ 0 };
	for (i = 0; i < CANDIDATES && candidate[i] && !choice->algorithm; i++)
		if (!(excluded & 1U << candidate[i]))
			choice->algorithm = candidate[i];
	return choice->algorithm;
}

/*
 * By tables as far as they go: what takes long to walk is not in them, and may
 * be all that is left.
 */
static bool auto_choose(const struct tor_chooser *tables, const struct tor_call *call,
			u32 collective, enum tor_level level, u32 excluded, u64 bytes,
			struct tor_choice *choice)
{
	if (tables && tor_choose(tables, collective, level, excluded, bytes, choice))
		return true;
	return auto_choose_plainly(call, collective, level, excluded, bytes, choice);
}

/*
 * Keeps the caller's parameters. The plan refuses a parameter that the
 * algorithm does not have.
 */
static void auto_apply(const struct tor_choice *choice, struct tor_call *call,
		       const struct tor_call *given)
{
	u32 i;

	call->algorithm = choice->algorithm;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		call->param[i] = given->param[i] ? given->param[i] : choice->param[i];
	call->param[TORCOLL_PARAM_EXCLUDE] = 0;
}

/* See tor_op_begin(). */
u32 tor_auto_planned_as(u32 collective)
{
	return collective == TORCOLL_BARRIER ? TORCOLL_ALLREDUCE : collective;
}

int tor_auto_prepare(struct tor_chooser *chooser, u32 collective)
{
	return tor_chooser_make(chooser, tor_auto_planned_as(collective));
}

int tor_auto_copy(struct tor_chooser *chooser, const struct tor_chooser *from, u32 collective)
{
	return tor_chooser_copy(chooser, from, tor_auto_planned_as(collective));
}

bool tor_auto_is_prepared(const struct tor_chooser *chooser, u32 collective)
{
	return tor_chooser_ready(chooser, tor_auto_planned_as(collective));
}

void tor_auto_forget(struct tor_chooser *chooser, u32 collective)
{
	tor_chooser_forget(chooser, tor_auto_planned_as(collective));
}

/*
 * Of the plans that keep the order of ranks only `direct` suits long vectors.
 * Tables leave it out where it takes long to walk.
 */
static bool auto_lacks_direct(const struct tor_chooser *chooser, u32 collective,
			      enum tor_level level)
{
	return level == TOR_LEVEL_SEQUENTIAL &&
	       !tor_chooser_offers(chooser, collective, TORCOLL_DIRECT);
}

int tor_auto_plan(struct tor_plan *p, const struct tor_chooser *chooser,
		  const struct tor_call *call, enum tor_level level, u32 elem, u32 rank,
		  const char **why)
{
	u32 collective = tor_auto_planned_as(call->collective);
	bool known = chooser && tor_chooser_knows(chooser, collective) &&
		     !auto_lacks_direct(chooser, collective, level);
	u32 excluded = call->param[TORCOLL_PARAM_EXCLUDE];
	struct tor_call named = *call;
	struct tor_choice choice;
	int err = -EOPNOTSUPP;

	/* a fixed choice instead would differ from that of the other ranks */
	if (chooser && !tor_chooser_ready(chooser, collective)) {
		*why = "the tables of plans are missing";
		return -ENOMEM;
	}
	*why = "no permitted algorithm supports this call";
	/* the choice ignores root and counts, so its plan may refuse them */
	while (err == -EOPNOTSUPP) {
		if (!auto_choose(known ? chooser : NULL, call, collective, level, excluded,
				 call->count * elem, &choice))
			break;
		auto_apply(&choice, &named, call);
		err = tor_plan_init(p, &named, rank, why);
		if (!err && p->shape.rounds > U16_MAX) {
			*why = "the plan has more rounds than frames can number";
			err = -EOPNOTSUPP;
		}
		excluded |= 1U << choice.algorithm;
	}
	return err;
}

/* --- the order of ranks --- */

/* Both ways, as far as the choice depends on it. */
struct way {
	u64 rounds;
	u64 messages;			/* that a node sends and receives */
	u64 bytes;			/* that it receives and adds up */
};

static struct way way_of_chain(const struct tor_team_map *team, const struct tor_call *call,
			       u64 bytes)
{
	u32 stride = call->collective == TORCOLL_EXSCAN ? 2 : 1, blocks = tor_chain_blocks(call);
	u32 seats = (team->ranks + team->nodes - 1) / team->nodes;
	/* of a block, from the first rank to the last one, and of blocks */
	u64 steps = (u64)team->ranks - 1 + blocks - 1;
	u64 on = call->collective == TORCOLL_ALLREDUCE ? team->nodes - 1 : 1;

	return (struct way){
		.rounds = stride * steps + on,
		.messages = 2ULL * seats * blocks,
		.bytes = (steps + on) * seats * tor_div64(bytes, blocks),
	};
}

static struct way way_of_gathering(const struct tor_team_map *team, u64 bytes)
{
	u32 steps = fls(team->nodes - 1);

	return (struct way){
		.rounds = steps, .messages = 2 * steps, .bytes = team->ranks * bytes,
	};
}

static u64 way_time(const struct way *way, const struct tor_rates *rates)
{
	/* a byte is received, and added to another one */
	return way->rounds * rates->e + way->messages * rates->message +
	       tor_div64(way->bytes * (rates->link + 2 * rates->byte), 1000);
}

bool tor_auto_chains(const struct tor_rates *rates, const struct tor_team_map *team,
		     const struct tor_call *call, u32 elem)
{
	struct way chain, gathering;
	u32 i;

	if (call->algorithm != TORCOLL_ALGO_AUTO && call->algorithm != TORCOLL_RING)
		return false;
	if (call->param[TORCOLL_PARAM_EXCLUDE] & 1U << TORCOLL_RING)
		return false;
	chain = way_of_chain(team, call, 0);
	if (chain.rounds > U16_MAX)
		return false;
	if (call->algorithm == TORCOLL_RING)
		return true;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		if (call->param[i] && i != TORCOLL_PARAM_EXCLUDE && i != TORCOLL_PARAM_BLOCKS)
			return false;
	if (call->count > tor_div64(TOR_GATHERED_MAX, team->ranks * elem))
		return true;
	chain = way_of_chain(team, call, call->count * elem);
	gathering = way_of_gathering(team, call->count * elem);
	return way_time(&chain, rates) < way_time(&gathering, rates);
}
