/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a family of plans implements, and what families share: slices of channels, blocks of ranks,
 * the grid that the ranks form. Only plan*.c include this.
 *
 * A family numbers, for each (channel, round), the transfers that this rank takes part in, and the
 * pieces of each. What the pieces of a transfer are must follow from (channel, round, src, dst)
 * alone, so that both ends find the same; plan.c drops empty pieces.
 */
#ifndef _TOR_CORE_PLAN_FAMILY_H
#define _TOR_CORE_PLAN_FAMILY_H

#include "core/plan/plan.h"

#define TOR_PARAM(p)	(1U << TORCOLL_PARAM_##p)

struct tor_exchange;
struct tor_lines;

/* One of the halves of a reduce-scatter that is followed by its reversal. */
#define TOR_COLL_BW	(TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE_SCATTER) | TOR_COLL(ALLGATHER))

/**
 * struct tor_family - how an algorithm is planned
 * @serves: collectives, a set of TOR_COLL()
 * @params: parameters that it has, a set of TOR_PARAM()
 * @any_list: serves any ordered list of nodes, not only tori
 * @lines: how it works along a side, if that is what it does
 * @exchange: or with whom it exchanges whole slices
 * @init: fill p->family and p->shape (preset to one channel, one peer, data alone, agreeing); 0 or
 *	an error and @why. There are at least two ranks, and a count.
 * @rounds: of a channel
 * @transfer: set src, dst and op (preset: reduce, data to data) of transfer c->transfer of this
 *	round, and whatever @piece needs; false if there are no more
 * @piece: set soff, doff and n of the transfer's next piece; false if there are no more
 */
struct tor_family {
	u32 serves;
	u32 params;
	bool any_list;
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
extern const struct tor_family tor_family_tree;
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
extern const struct tor_family tor_family_halo;

/* See plan.c. */
struct tor_span tor_plan_block(u64 count, const u64 *counts, u32 ranks, u32 rank);
struct tor_span tor_plan_share(const struct tor_plan *p, u32 channel);
struct tor_span tor_plan_blocks(const struct tor_plan *p, u32 channel, u32 first, u32 blocks);
struct tor_span tor_plan_own(const struct tor_plan *p, u32 channel, u32 rank);

/* A channel's part of the vector of a collective without blocks; one that is alone needs no divisions. */
static inline struct tor_span tor_plan_slice(const struct tor_plan *p, u32 channel)
{
	return p->shape.channels == 1 ? (struct tor_span){ 0, p->req.count } :
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
 * Channels: as many ways as are asked for, or @preset, times chunks; 0 if of ways more than @most are wanted, or of
 * channels more than there can be.
 */
static inline u32 tor_plan_channels(const struct tor_plan *p, u32 preset, u32 most)
{
	u32 wanted = p->req.param[TORCOLL_PARAM_CHANNELS];
	u32 channels = (wanted ?: preset) * p->shape.chunks;

	return wanted <= most && channels <= tor_plan_most_channels(p->req.torus) ? channels : 0;
}

/* How a channel goes: that of the chunks of a slice is one. */
static inline u32 tor_plan_way(const struct tor_plan *p, u32 channel)
{
	return p->shape.chunks == 1 ? channel : channel / p->shape.chunks;
}

/* Are all sides so short that each sum has two summands, whose order does not matter? */
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

/* Does the plan reduce-scatter, allgather, or first the one and then the other? */
static inline bool tor_plan_scatters(const struct tor_plan *p)
{
	return p->req.collective != TORCOLL_ALLGATHER;
}

static inline bool tor_plan_gathers(const struct tor_plan *p)
{
	return p->req.collective != TORCOLL_REDUCE_SCATTER;
}

/**
 * tor_plan_fold - a round of a reduce-scatter, or of its reversal, the allgather
 * @p: plan of a collective in TOR_COLL_BW
 * @round: of the channel
 * @half: rounds of the reduce-scatter
 * @gather: out: is this round of the allgather, where transfers go backwards?
 *
 * Return: the round of the reduce-scatter that it is or reverses.
 */
static inline u32 tor_plan_fold(const struct tor_plan *p, u32 round, u32 half, bool *gather)
{
	*gather = !tor_plan_scatters(p) || round >= half;
	if (tor_plan_scatters(p) && !*gather)
		return round;
	return half - 1 - (tor_plan_scatters(p) ? round - half : round);
}

static inline u32 tor_plan_fold_rounds(const struct tor_plan *p, u32 half)
{
	return p->req.collective == TORCOLL_ALLREDUCE ? 2 * half : half;
}

#endif
