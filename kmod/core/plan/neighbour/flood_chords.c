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

#define FLOOD_CHORDS_CHOSEN	64	/* ranks up to which ports are left out */
#define FLOOD_CHORDS_ROUNDS	(FLOOD_CHORDS_CHOSEN / 4)	/* of as many, in steps of 1 and 2 */
#define FLOOD_CHORDS_KEPT	40	/* messages; 64+10 has 18 */

/*
 * @depth: rounds until all have all
 * @chosen: ports are left out; else all are used
 * @kept: what each message brings is in @brings, and need not be found again
 * @ports: used in each round
 * @first: the first of the round's messages in @brings
 * @brings: as @has of struct at, by message: those of a round by their ports
 */
struct flood {
	u32 depth;
	bool chosen;
	bool kept;
	u8 ports[FLOOD_CHORDS_ROUNDS];
	u8 first[FLOOD_CHORDS_ROUNDS];
	u64 brings[FLOOD_CHORDS_KEPT];
};

/*
 * Position in a transfer: the contributions that it brings. Kept in the cursor.
 *
 * @has: ranks before the receiver, by their distance round the ring; those that
 *	were yielded are removed
 * @next: word of @has; of local transfers: rank
 */
struct at {
	u64 has[TOR_LAYER_WORDS];
	u32 next;
};

static const struct flood *flood_chords_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct flood);
}

static bool flood_chords_reduces(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_ALLREDUCE;
}

static u32 flood_chords_all_ports(const struct tor_torus *t)
{
	return (1U << t->ports) - 1;
}

static u32 flood_chords_ports(const struct tor_plan *p, u32 round)
{
	const struct flood *s = flood_chords_state(p);

	return s->chosen ? s->ports[round] : flood_chords_all_ports(p->call.torus);
}

/* --- what is known --- */

/* Add to what a rank has what those behind some ports have. */
static void flood_chords_learn(const struct tor_torus *t, u64 *has, u32 ports)
{
	u64 before[TOR_LAYER_WORDS];
	u32 port;

	memcpy(before, has, tor_layer_words(t) * sizeof(*has));
	for (port = 0; port < t->ports; port++)
		if (ports >> port & 1)
			tor_layer_add_moved(t, has, before, port);
}

/* What a rank has before @round. */
static void flood_chords_know(const struct tor_plan *p, u64 *has, u32 round)
{
	const struct tor_torus *t = p->call.torus;
	u32 i;

	memset(has, 0, tor_layer_words(t) * sizeof(*has));
	has[0] = 1;
	for (i = 0; i < round; i++)
		flood_chords_learn(t, has, flood_chords_ports(p, i));
}

/* Do all have all with some ports in a round, and all ports in those that follow? */
static bool flood_chords_suffice(const struct tor_torus *t, u64 known, u32 ports, u32 follow)
{
	flood_chords_learn(t, &known, ports);
	while (follow--)
		flood_chords_learn(t, &known, flood_chords_all_ports(t));
	return known == ~0ULL >> (64 - t->nodes);
}

static void flood_chords_choose_ports(const struct tor_torus *t, struct flood *s)
{
	u64 known = 1;
	u32 round, port, ports;

	for (round = 0; round < s->depth; round++) {
		ports = flood_chords_all_ports(t);
		for (port = 0; port < t->ports; port++)
			if (flood_chords_suffice(t, known, ports & ~(1U << port),
						 s->depth - round - 1))
				ports &= ~(1U << port);
		s->ports[round] = ports;
		flood_chords_learn(t, &known, ports);
	}
}

/* Find what comes in by @port and by no lower one. */
static void flood_chords_find(const struct tor_plan *p, u64 *has, u32 round, u32 port)
{
	const struct tor_torus *t = p->call.torus;
	u64 known[TOR_LAYER_WORDS], lower[TOR_LAYER_WORDS];
	u32 words = tor_layer_words(t), i;

	flood_chords_know(p, known, round);
	memcpy(lower, known, words * sizeof(*lower));
	flood_chords_learn(t, lower, flood_chords_ports(p, round) & ((1U << port) - 1));
	memset(has, 0, words * sizeof(*has));
	tor_layer_add_moved(t, has, known, port);
	for (i = 0; i < words; i++)
		has[i] &= ~lower[i];
}

/* The place of a message in what is kept. */
static u32 flood_chords_place(const struct flood *s, u32 round, u32 port)
{
	return s->first[round] + hweight8(s->ports[round] & ((1U << port) - 1));
}

static void flood_chords_keep(struct tor_plan *p, struct flood *s)
{
	u32 round, port, messages = 0;

	for (round = 0; round < s->depth; round++) {
		s->first[round] = messages;
		messages += hweight8(s->ports[round]);
	}
	if (messages > FLOOD_CHORDS_KEPT)
		return;
	for (round = 0; round < s->depth; round++)
		for (port = 0; port < p->call.torus->ports; port++)
			if (s->ports[round] >> port & 1)
				flood_chords_find(p, &s->brings[flood_chords_place(s, round, port)],
						  round, port);
	s->kept = true;
}

static void flood_chords_at(const struct tor_plan *p, struct at *at, u32 round, u32 port)
{
	const struct flood *s = flood_chords_state(p);

	at->next = 0;
	if (s->kept)
		at->has[0] = s->brings[flood_chords_place(s, round, port)];
	else
		flood_chords_find(p, at->has, round, port);
}

/* --- the plan --- */

static int flood_chords_init(struct tor_plan *p, const char **why)
{
	struct flood *s = tor_plan_state(p, struct flood);

	static_assert(2 * (1 + TOR_MAX_CHORDS) <= 8);
	s->depth = tor_torus_diameter(p->call.torus);
	s->chosen = p->call.ranks <= FLOOD_CHORDS_CHOSEN && s->depth <= FLOOD_CHORDS_ROUNDS;
	if (s->chosen) {
		flood_chords_choose_ports(p->call.torus, s);
		flood_chords_keep(p, s);
	}
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
	u32 ports, port;

	static_assert(sizeof(struct at) <= sizeof(c->family));
	if (!c->transfer && flood_chords_stay(p, c))
		return true;
	c->transfer = max(c->transfer, 1U);
	if (c->round >= flood_chords_state(p)->depth)
		return false;
	ports = flood_chords_ports(p, c->round);
	while (c->transfer <= 2 * t->ports && !(ports >> (c->transfer - 1) / 2 & 1))
		c->transfer++;
	if (c->transfer > 2 * t->ports)
		return false;
	port = (c->transfer - 1) / 2;
	c->dst = c->transfer % 2 ? p->rank : tor_layers_back(t, p->rank, port ^ 1);
	c->src = tor_layers_back(t, c->dst, port);
	c->op = TOR_PIECE_COPY;
	flood_chords_at(p, (struct at *)c->family, c->round, port);
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
	u32 n = p->call.ranks, words = tor_layer_words(p->call.torus), before;

	while (at->next < words) {
		if (!at->has[at->next]) {
			at->next++;
			continue;
		}
		before = 64 * at->next + __ffs64(at->has[at->next]);
		at->has[at->next] &= at->has[at->next] - 1;
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
