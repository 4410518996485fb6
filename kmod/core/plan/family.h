/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface that a family of plans implements, and what families share:
 * slices of channels, blocks of ranks, the grid that the ranks form. Only files
 * of plan/ include this header.
 *
 * For each (channel, round) a family numbers the transfers in which this rank
 * takes part, and the pieces of each transfer. The pieces of a transfer must
 * follow from (channel, round, src, dst) alone, so that both ends find the same
 * ones. plan.c drops empty pieces.
 */
#ifndef _TOR_CORE_PLAN_FAMILY_H
#define _TOR_CORE_PLAN_FAMILY_H

#include "core/plan/plan.h"

#define TOR_PARAM(p)	(1U << TORCOLL_PARAM_##p)

struct tor_exchange;
struct tor_lines;

/* A reduce-scatter, its reversal the allgather, or both in turn. */
#define TOR_COLL_BW	(TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(ALLGATHER))

/**
 * struct tor_family - the implementation of an algorithm
 * @serves: collectives, a set of TOR_COLL()
 * @params: parameters that the algorithm has, a set of TOR_PARAM()
 * @any_list: serves any ordered list of nodes, not only tori
 * @chords: optional: what serves its collectives instead if the ranks are all
 *	nodes of a ring with chords, in order
 * @lines: schedule along one side, for families that work along sides
 * @exchange: peers, for families that exchange whole slices
 * @init: fill p->family and p->shape (preset to one channel, one peer, data
 *	alone, agreeing); 0, or an error and @why. There are at least two
 *	ranks and a count.
 * @rounds: number of rounds of a channel
 * @transfer: set src, dst and op (preset: reduce, data to data) of transfer
 *	c->transfer of this round, and the state that @piece needs; false if
 *	there are no more
 * @piece: set soff, doff and n of the next piece of the transfer; false if
 *	there are no more
 *
 * All members are pure functions of the plan and the cursor: no locks, any
 * context.
 */
struct tor_family {
	u32 serves;
	u32 params;
	bool any_list;
	const struct tor_family *chords;
	const struct tor_lines *lines;
	const struct tor_exchange *exchange;
	int (*init)(struct tor_plan *p, const char **why);
	u32 (*rounds)(const struct tor_plan *p, u32 channel);
	bool (*transfer)(const struct tor_plan *p, struct tor_cursor *c);
	bool (*piece)(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out);
};

extern const struct tor_family tor_family_swing_bw;
extern const struct tor_family tor_family_bucket;
extern const struct tor_family tor_family_bibucket;
extern const struct tor_family tor_family_trivance_lat;
extern const struct tor_family tor_family_window;
extern const struct tor_family tor_family_general;
extern const struct tor_family tor_family_circulant;
extern const struct tor_family tor_family_flood;
extern const struct tor_family tor_family_flood_chords;
extern const struct tor_family tor_family_layers;
extern const struct tor_family tor_family_tree;
extern const struct tor_family tor_family_tree_chords;
extern const struct tor_family tor_family_hamiltonian;
extern const struct tor_family tor_family_ring;
extern const struct tor_family tor_family_allport;
extern const struct tor_family tor_family_moore;
extern const struct tor_family tor_family_bruck_lat;
extern const struct tor_family tor_family_recdoub_lat;
extern const struct tor_family tor_family_swing_lat;
extern const struct tor_family tor_family_bruck_bw;
extern const struct tor_family tor_family_trivance_bw;
extern const struct tor_family tor_family_recdoub_bw;
extern const struct tor_family tor_family_recdoub_bw_mirrored;
extern const struct tor_family tor_family_direct;
extern const struct tor_family tor_family_chain;
extern const struct tor_family tor_family_chain_team;
extern const struct tor_family tor_family_halo;

/* See plan.c. */
struct tor_span tor_plan_block(u64 count, const u64 *counts, const u64 *starts, u32 ranks,
			       u32 rank);
struct tor_span tor_plan_share(const struct tor_plan *p, u32 channel);
struct tor_span tor_plan_blocks(const struct tor_plan *p, u32 channel, u32 first, u32 blocks);
struct tor_span tor_plan_own(const struct tor_plan *p, u32 channel, u32 rank);

/*
 * A channel's part of the vector of a collective without blocks. A single
 * channel needs no divisions.
 */
static inline struct tor_span tor_plan_slice(const struct tor_plan *p, u32 channel)
{
	return p->shape.channels == 1 ? (struct tor_span){ 0, p->call.count } :
					tor_plan_share(p, channel);
}

/* The first (@half 0) or the second half of a span. */
static inline struct tor_span tor_span_half(struct tor_span s, u32 half)
{
	u64 first = s.n / 2;

	return half ? (struct tor_span){ s.off + first, s.n - first } :
		      (struct tor_span){ s.off, first };
}

/* A piece that stays at its place in the vector. */
static inline void tor_piece_in_place(struct tor_piece *out, struct tor_span s)
{
	out->soff = s.off;
	out->doff = s.off;
	out->n = s.n;
}

/*
 * Number of channels: the ways requested, or @preset, times the chunks. 0 if
 * more ways than @most are requested, or more channels than a plan can have.
 */
static inline u32 tor_plan_channels(const struct tor_plan *p, u32 preset, u32 most)
{
	u32 wanted = p->call.param[TORCOLL_PARAM_CHANNELS];
	u32 channels = (wanted ?: preset) * p->shape.chunks;

	return wanted <= most && channels <= tor_plan_most_channels(p->call.torus) ? channels : 0;
}

/* The way of a channel: all chunks of a slice take the same one. */
static inline u32 tor_plan_way(const struct tor_plan *p, u32 channel)
{
	return p->shape.chunks == 1 ? channel : channel / p->shape.chunks;
}

/*
 * True if all sides are so short that each sum has two summands, whose order
 * does not matter.
 */
static inline bool tor_plan_in_pairs(const struct tor_plan *p)
{
	u32 d;

	for (d = 0; d < p->grid.ndim; d++)
		if (p->grid.side[d] > 2)
			return false;
	return true;
}

/* The state of a family, in p->family and c->family. */
#define tor_plan_state(p, type) ({					\
	static_assert(sizeof(type) <= sizeof((p)->family));		\
	(type *)(p)->family;						\
})
#define tor_plan_state_const(p, type) ({				\
	static_assert(sizeof(type) <= sizeof((p)->family));		\
	(const type *)(p)->family;					\
})

/* A plan reduce-scatters, allgathers, or first does the one and then the other. */
static inline bool tor_plan_scatters(const struct tor_plan *p)
{
	return p->call.collective != TORCOLL_ALLGATHER;
}

static inline bool tor_plan_gathers(const struct tor_plan *p)
{
	return p->call.collective != TORCOLL_REDUCE_SCATTER;
}

/**
 * tor_plan_fold - map a round to a round of the reduce-scatter
 * @p: plan of a collective in TOR_COLL_BW
 * @round: of the channel
 * @half: rounds of the reduce-scatter
 * @gather: out: true if @round is one of the allgather, whose transfers are
 *	reversed
 *
 * Return: the round of the reduce-scatter that @round is or reverses.
 */
static inline u32 tor_plan_fold(const struct tor_plan *p, u32 round, u32 half, bool *gather)
{
	*gather = !tor_plan_scatters(p) || round >= half;
	if (tor_plan_scatters(p) && !*gather)
		return round;
	return half - 1 - (tor_plan_scatters(p) ? round - half : round);
}

/* Rounds of a channel, from the rounds @half of its reduce-scatter. */
static inline u32 tor_plan_fold_rounds(const struct tor_plan *p, u32 half)
{
	return p->call.collective == TORCOLL_ALLREDUCE ? 2 * half : half;
}

#endif
