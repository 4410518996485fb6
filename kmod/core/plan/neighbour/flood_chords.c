// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `flood` on a ring with chords: in each round every rank passes all that it has
 * on by some of its ports, unreduced; after as many rounds as the diameter it
 * has the contributions of all ranks and adds them up in their order. See
 * flood.c, which also serves a reduce here, on the ring.
 *
 * All ranks use the same ports in a round, so what they have looks the same from
 * each: a set of ranks before the own one. For short vectors messages count, not
 * bytes: of the ports of all rounds, in their order, those are left out without
 * which the sets still become complete. On 16+4, 7 messages of each rank remain
 * of 12.
 *
 * What could come by several ports comes by the lowest one, once.
 */
#include "core/layers.h"
#include "core/plan/family.h"

#define FLOOD_CHORDS_ROUNDS	(TOR_CHORD_NODES / 4 + 1)	/* those of steps of 1 and 2 */
#define FLOOD_CHORDS_CHOSEN	64	/* ranks up to which ports are left out */

/*
 * @depth: rounds until all have all
 * @ports: used in each of them
 */
struct flood {
	u32 depth;
	u8 ports[FLOOD_CHORDS_ROUNDS];
};

/* A set of ranks before a rank, by their distance round the ring. */
struct known {
	u64 has[TOR_LAYER_WORDS];
};

/* Position in a transfer: the contributions that it brings. Kept in the cursor. */
struct at {
	u64 has[TOR_LAYER_WORDS];
	u32 next;			/* candidate; of local transfers: rank */
};

static const struct flood *flood_chords_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct flood);
}

static bool flood_chords_reduces(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_ALLREDUCE;
}

/* --- what is known --- */

static void flood_chords_learn(const struct tor_torus *t, struct known *k, u32 ports)
{
	struct known before = *k;
	u32 port;

	for (port = 0; port < t->ports; port++)
		if (ports >> port & 1)
			tor_layer_add_moved(t, k->has, before.has, port);
}

/* What a rank has before @round. */
static void flood_chords_know(const struct tor_torus *t, const struct flood *s, struct known *k,
			      u32 round)
{
	u32 i;

	memset(k, 0, sizeof(*k));
	k->has[0] = 1;
	for (i = 0; i < round; i++)
		flood_chords_learn(t, k, s->ports[i]);
}

static bool flood_chords_is_whole(const struct tor_torus *t, const struct flood *s)
{
	struct known k;
	u32 node = 0;

	flood_chords_know(t, s, &k, s->depth);
	while (node < t->nodes && tor_layer_has(k.has, node))
		node++;
	return node == t->nodes;
}

static void flood_chords_choose_ports(const struct tor_torus *t, struct flood *s)
{
	u32 round, port;

	s->depth = tor_torus_diameter(t);
	memset(s->ports, (1U << t->ports) - 1, s->depth);
	for (round = 0; t->nodes <= FLOOD_CHORDS_CHOSEN && round < s->depth; round++)
		for (port = 0; port < t->ports; port++) {
			s->ports[round] ^= 1U << port;
			if (!flood_chords_is_whole(t, s))
				s->ports[round] ^= 1U << port;
		}
}

/* Find what comes in by @port and by no lower one. */
static void flood_chords_find(const struct tor_plan *p, struct at *at, u32 round, u32 port)
{
	const struct flood *s = flood_chords_state(p);
	const struct tor_torus *t = p->call.torus;
	struct known known, lower;
	u32 i;

	flood_chords_know(t, s, &known, round);
	lower = known;
	flood_chords_learn(t, &lower, s->ports[round] & ((1U << port) - 1));
	memset(at, 0, sizeof(*at));
	tor_layer_add_moved(t, at->has, known.has, port);
	for (i = 0; i < tor_layer_words(t); i++)
		at->has[i] &= ~lower.has[i];
	at->next = 1;
}

/* --- the plan --- */

static int flood_chords_init(struct tor_plan *p, const char **why)
{
	static_assert(2 * (1 + TOR_MAX_CHORDS) <= 8);
	flood_chords_choose_ports(p->call.torus, tor_plan_state(p, struct flood));
	p->shape.peers = p->call.torus->ports;
	if (!flood_chords_reduces(p))
		return 0;
	/* a ring with chords has fewer nodes than there are buffers */
	p->shape.bufs = 1 + p->call.ranks;
	p->shape.sequential = true;
	p->shape.alternates = true;
	return 0;
}

/* The round in which contributions are added up: data was sent in round 0. */
static u32 flood_chords_sum_round(const struct tor_plan *p)
{
	return max(flood_chords_state(p)->depth, 2U);
}

static u32 flood_chords_rounds(const struct tor_plan *p, u32 channel)
{
	return flood_chords_reduces(p) ? flood_chords_sum_round(p) + 1 :
					 flood_chords_state(p)->depth;
}

/* Local: keeps the own contribution, or adds up all. */
static bool flood_chords_stay(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;

	if (!flood_chords_reduces(p) || (c->round && c->round != flood_chords_sum_round(p)))
		return false;
	c->src = p->rank;
	c->dst = p->rank;
	at->next = 0;
	return true;
}

/*
 * Transfers: what stays; then for each port: from the rank behind it, to that
 * ahead.
 */
static bool flood_chords_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	const struct tor_torus *t = p->call.torus;
	u32 port;

	static_assert(sizeof(struct at) <= sizeof(c->family));
	if (!c->transfer && flood_chords_stay(p, c))
		return true;
	c->transfer = max(c->transfer, 1U);
	if (c->round >= flood_chords_state(p)->depth)
		return false;
	while (c->transfer <= 2 * t->ports &&
	       !(flood_chords_state(p)->ports[c->round] >> (c->transfer - 1) / 2 & 1))
		c->transfer++;
	if (c->transfer > 2 * t->ports)
		return false;
	port = (c->transfer - 1) / 2;
	c->dst = c->transfer % 2 ? p->rank : tor_layers_back(t, p->rank, port ^ 1);
	c->src = tor_layers_back(t, c->dst, port);
	c->op = TOR_PIECE_COPY;
	flood_chords_find(p, (struct at *)c->family, c->round, port);
	return true;
}

static u32 flood_chords_buf(u32 rank)
{
	return 1 + rank;
}

static bool flood_chords_stay_piece(const struct tor_plan *p, struct tor_cursor *c,
				    struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 rank = at->next++;

	if (!c->round) {
		if (rank)
			return false;
		out->dbuf = flood_chords_buf(p->rank);
		out->op = TOR_PIECE_COPY;
	} else {
		if (rank == p->call.ranks)
			return false;
		out->sbuf = flood_chords_buf(rank);
		out->op = rank ? TOR_PIECE_REDUCE : TOR_PIECE_COPY;
	}
	tor_piece_in_place(out, tor_plan_slice(p, c->channel));
	return true;
}

/* The next rank whose contribution the transfer brings. */
static bool flood_chords_next(const struct tor_plan *p, struct tor_cursor *c, u32 *rank)
{
	struct at *at = (struct at *)c->family;
	u32 n = p->call.ranks;

	while (at->next < n) {
		u32 before = at->next++;

		if (!tor_layer_has(at->has, before))
			continue;
		*rank = c->dst >= before ? c->dst - before : c->dst + n - before;
		if (p->call.collective != TORCOLL_BROADCAST || *rank == p->call.root)
			return true;
	}
	return false;
}

/* A contribution, of which each rank has a buffer; the own one is in data at first. */
static bool flood_chords_piece(const struct tor_plan *p, struct tor_cursor *c,
			       struct tor_piece *out)
{
	u32 rank;

	if (c->src == c->dst)
		return flood_chords_stay_piece(p, c, out);
	if (!flood_chords_next(p, c, &rank))
		return false;
	if (flood_chords_reduces(p)) {
		out->sbuf = c->round ? flood_chords_buf(rank) : TOR_BUF_DATA;
		out->dbuf = flood_chords_buf(rank);
	}
	tor_piece_in_place(out, p->call.collective == TORCOLL_ALLGATHER ?
			   tor_plan_own(p, c->channel, rank) : tor_plan_slice(p, c->channel));
	return true;
}

const struct tor_family tor_family_flood_chords = {
	.serves = TOR_COLL(ALLREDUCE) | TOR_COLL(ALLGATHER) | TOR_COLL(BROADCAST),
	.init = flood_chords_init,
	.rounds = flood_chords_rounds,
	.transfer = flood_chords_transfer,
	.piece = flood_chords_piece,
};
