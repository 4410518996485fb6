/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages on a ring with chords, by layers of distance. In round t every rank
 * gets what the ranks t hops away have, each from neighbours that are one hop
 * nearer to its owner and have had it for a round: the breadth-first schedule
 * of Zhao et al. (arXiv 2202.03356).
 *
 * What comes from far may come in by several ports. It is divided among them so
 * that the busiest port of the layer gets as little as possible. The graph
 * looks the same upwards and downwards, so both ports of a step get the same,
 * and only the steps have to be balanced: a flow from the sets of steps by
 * which a node may be reached to single steps. All nodes with the same set are
 * divided alike, and the division follows from the number of nodes for each
 * set: a few dozen operations, no search.
 */
#ifndef _TOR_CORE_PLAN_CHORDS_H
#define _TOR_CORE_PLAN_CHORDS_H

#include "core/layers.h"
#include "core/plan/family.h"

/* Half a layer: nodes 0 to half of the ring. The other half is its mirror image. */
#define TOR_CHORD_WORDS		(TOR_CHORD_NODES / 2 / 64 + 1)
#define TOR_CHORD_STEPS		(1 + TOR_MAX_CHORDS)
#define TOR_CHORD_SHARE		(1U << 15)	/* all of a block */
#define TOR_CHORD_CACHED	40

/*
 * State of families that go by layers.
 *
 * @depth: number of layers
 * @cached: layers are in @layer, rather than found again for each transfer
 */
struct tor_chords {
	u32 depth;
	bool cached;
	u64 layer[TOR_CHORD_CACHED];
};

/*
 * Position in a transfer: what comes in by a port from a layer. Kept in the
 * cursor.
 *
 * @at: the layer, as seen from the receiver
 * @before: the layer one hop nearer
 * @from, @to: share that comes in by the step of the port, by the set of the
 *	other steps by which it might
 * @next: candidate
 */
struct tor_chord_at {
	u64 at[TOR_CHORD_WORDS];
	u64 before[TOR_CHORD_WORDS];
	u16 from[1 << TOR_MAX_CHORDS];
	u16 to[1 << TOR_MAX_CHORDS];
	u16 next;
	u8 port;
};

/**
 * tor_chords_init - find the layers
 * @p: plan with chords; its state is a struct tor_chords
 */
void tor_chords_init(struct tor_plan *p);

static inline u32 tor_chords_depth(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct tor_chords)->depth;
}

/**
 * tor_chords_begin - start with what comes in by a port
 * @p: plan, after tor_chords_init()
 * @at: filled in
 * @hops: distance of the owners, 1 to the depth
 * @port: by which it comes in: from the rank that the opposite port leads to
 */
void tor_chords_begin(const struct tor_plan *p, struct tor_chord_at *at, u32 hops, u32 port);

/**
 * tor_chords_next - the next owner
 * @p: plan
 * @at: position, advanced
 * @offset: out: how many ranks before the receiver it is
 * @share: out: first and last part that comes in, in 1/TOR_CHORD_SHARE
 *
 * Return: false if there are no more.
 */
bool tor_chords_next(const struct tor_plan *p, struct tor_chord_at *at, u32 *offset, u16 *share);

/* The rank @offset before @rank. */
static inline u32 tor_chords_before(const struct tor_plan *p, u32 rank, u32 offset)
{
	return rank >= offset ? rank - offset : rank + p->call.ranks - offset;
}

/* The rank that @port leads to, and that from which it comes in. */
static inline u32 tor_chords_ahead(const struct tor_plan *p, u32 rank, u32 port)
{
	return tor_layers_back(p->call.torus, rank, port ^ 1);
}

static inline u32 tor_chords_behind(const struct tor_plan *p, u32 rank, u32 port)
{
	return tor_layers_back(p->call.torus, rank, port);
}

/* A share of a span. Those of all ports are the span. */
static inline struct tor_span tor_chords_cut(struct tor_span s, const u16 *share)
{
	u64 from = mul_u64_u64_shr(s.n, share[0], 15), to = mul_u64_u64_shr(s.n, share[1], 15);

	return (struct tor_span){ s.off + from, to - from };
}

#endif
