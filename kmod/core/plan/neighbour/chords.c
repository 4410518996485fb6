// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Messages on a ring with chords, by layers of distance. See chords.h. */
#include "core/plan/neighbour/chords.h"

#define SETS	(1 << TOR_CHORD_STEPS)
#define UNIT	12	/* parts of a node: 1 to TOR_CHORD_STEPS divide it */

/*
 * What is left to distribute.
 *
 * @demand: by set of steps: parts of all nodes that these lead to, and no
 *	others
 * @room: by step
 */
struct balance {
	u32 steps;
	u32 demand[SETS];
	u32 room[TOR_CHORD_STEPS];
};

/* --- layers --- */

static u32 chords_words(const struct tor_plan *p)
{
	return p->call.ranks / 2 / 64 + 1;
}

void tor_chords_init(struct tor_plan *p)
{
	struct tor_chords *s = tor_plan_state(p, struct tor_chords);
	struct tor_layers l;

	s->cached = chords_words(p) == 1;
	tor_layers_begin(&l, p->call.torus);
	do {
		if (l.hops < TOR_CHORD_CACHED)
			s->layer[l.hops] = l.at[0];
		else
			s->cached = false;
	} while (tor_layers_next(&l));
	s->depth = l.hops - 1;
}

static bool chords_has(const struct tor_plan *p, const u64 *layer, u32 node)
{
	return tor_layer_has(layer, min(node, p->call.ranks - node));
}

/* Ports by which a node of the layer comes in. */
static u32 chords_ports(const struct tor_plan *p, const struct tor_chord_at *at, u32 node)
{
	const struct tor_torus *t = p->call.torus;
	u32 port, ports = 0;

	for (port = 0; port < t->ports; port++)
		if (chords_has(p, at->before, tor_layers_back(t, node, port)))
			ports |= 1U << port;
	return ports;
}

/* The steps of a set of ports. */
static u32 chords_steps(u32 ports)
{
	u32 set = 0, i;

	for (i = 0; i < TOR_CHORD_STEPS; i++)
		if (ports >> 2 * i & 3)
			set |= 1U << i;
	return set;
}

static void chords_find_layer(const struct tor_plan *p, struct tor_chord_at *at, u32 hops)
{
	const struct tor_chords *s = tor_plan_state_const(p, struct tor_chords);
	struct tor_layers l;

	if (s->cached) {
		at->at[0] = s->layer[hops];
		at->before[0] = s->layer[hops - 1];
		return;
	}
	tor_layers_begin(&l, p->call.torus);
	while (l.hops < hops)
		tor_layers_next(&l);
	memcpy(at->at, l.at, chords_words(p) * sizeof(*l.at));
	memcpy(at->before, l.before, chords_words(p) * sizeof(*l.before));
}

/* --- shares --- */

/* Parts that lead to steps of @set only. */
static u32 balance_inside(const struct balance *b, u32 set)
{
	u32 i, sum = 0;

	for (i = 1; i < 1U << b->steps; i++)
		if (!(i & ~set))
			sum += b->demand[i];
	return sum;
}

static u32 balance_room(const struct balance *b, u32 set)
{
	u32 i, sum = 0;

	for (i = 0; i < b->steps; i++)
		if (set >> i & 1)
			sum += b->room[i];
	return sum;
}

static u32 balance_size(u32 set)
{
	u32 n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/* Give all steps the same room, as little as is enough: Hall's condition for each set. */
static void balance_make_room(struct balance *b)
{
	u32 set, i, most = 0;

	for (set = 1; set < 1U << b->steps; set++)
		most = max(most, balance_inside(b, set) / balance_size(set));
	for (i = 0; i < b->steps; i++)
		b->room[i] = most;
}

/* Parts of @set that @step can take, so that the others still find room. */
static u32 balance_most(const struct balance *b, u32 set, u32 step)
{
	u32 most = b->demand[set], other;

	for (other = 1; other < 1U << b->steps; other++)
		if (other >> step & 1 && set & ~other)
			most = min(most, balance_room(b, other) - balance_inside(b, other));
	return most;
}

static void balance_count(struct balance *b, const struct tor_plan *p,
			  const struct tor_chord_at *at)
{
	u32 n = p->call.ranks, node;

	memset(b, 0, sizeof(*b));
	b->steps = p->call.torus->ndim;
	for (node = 1; 2 * node <= n; node++)
		if (chords_has(p, at->at, node))
			b->demand[chords_steps(chords_ports(p, at, node))] +=
				2 * node == n ? UNIT : 2 * UNIT;
}

/*
 * Find the share of every set that goes to @step. Each set fills its steps in
 * turn, as far as that leaves room for the others: at the end nothing is left.
 */
static void chords_find_shares(const struct tor_plan *p, struct tor_chord_at *at, u32 step)
{
	u32 set, i, all, before, taken, others;
	struct balance b;

	balance_count(&b, p, at);
	balance_make_room(&b);
	for (set = 1; set < 1U << b.steps; set++) {
		all = b.demand[set];
		for (i = 0, before = 0; i < b.steps && all; i++, before += taken) {
			taken = set >> i & 1 ? balance_most(&b, set, i) : 0;
			b.demand[set] -= taken;
			b.room[i] -= taken;
			if (i != step || !taken)
				continue;
			others = (set >> (i + 1) << i) | (set & ((1U << i) - 1));
			at->from[others] = before * TOR_CHORD_SHARE / all;
			at->to[others] = (before + taken) * TOR_CHORD_SHARE / all;
		}
	}
}

void tor_chords_begin(const struct tor_plan *p, struct tor_chord_at *at, u32 hops, u32 port)
{
	memset(at, 0, sizeof(*at));
	at->port = port;
	at->next = 1;
	chords_find_layer(p, at, hops);
	chords_find_shares(p, at, port / 2);
}

bool tor_chords_next(const struct tor_plan *p, struct tor_chord_at *at, u32 *offset, u16 *share)
{
	u32 ports, set, others, step = at->port / 2, half;

	for (; at->next < p->call.ranks; at->next++) {
		if (!chords_has(p, at->at, at->next))
			continue;
		ports = chords_ports(p, at, at->next);
		if (!(ports >> at->port & 1))
			continue;
		set = chords_steps(ports);
		others = (set >> (step + 1) << step) | (set & ((1U << step) - 1));
		share[0] = at->from[others];
		share[1] = at->to[others];
		/* half upwards, half downwards */
		half = (share[0] + share[1]) / 2;
		if ((ports >> 2 * step & 3) == 3)
			share[at->port % 2 ? 0 : 1] = half;
		if (share[0] == share[1])
			continue;
		*offset = at->next++;
		return true;
	}
	return false;
}
