// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Folds of an alltoall. The part for another node has the elements of the first
 * seat for each rank there, in the order of their seats; then those of the next
 * seat. See fold_moves.h.
 */
#include "core/local/fold_moves.h"

/* Elements that a seat sends to a rank, and receives from it. */
static u64 fold_exchange_sends(const struct tor_fold *f, u32 seat, u32 rank)
{
	const struct tor_call *r = f->called[seat];

	return r->counts ? r->counts[rank] : tor_div64(r->count, r->ranks);
}

static u64 fold_exchange_receives(const struct tor_fold *f, u32 seat, u32 rank)
{
	const struct tor_call *r = f->called[seat];

	return r->counts ? r->from_counts[rank] : tor_div64(r->count, r->ranks);
}

/* Elements that a seat receives from ranks @from to below @to. */
static u64 fold_exchange_receives_from(const struct tor_fold *f, u32 seat, u32 from, u32 to)
{
	const struct tor_call *r = f->called[seat];
	u64 n = 0;

	if (!r->counts)
		return (to - from) * tor_div64(r->count, r->ranks);
	while (from < to)
		n += r->from_counts[from++];
	return n;
}

/* --- between nodes --- */

/* A hash against mistakes, not against attacks. A step of SplitMix64. */
static u64 fold_exchange_mix(u64 hash, u64 length)
{
	hash = (hash ^ length) + 0x9e3779b97f4a7c15ULL;
	hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
	return hash ^ (hash >> 27);
}

/*
 * Hashes are computed sender by sender, and receiver by receiver: the same at
 * both ends.
 */
static void fold_exchange_count_sent(struct tor_fold *f, u32 node, u32 *steps)
{
	u64 n, hash = 0, sum = 0;
	u32 seat, theirs;

	for (seat = 0; seat < f->seats; seat++) {
		for (theirs = 0; theirs < tor_team_seats(f->map, node); theirs++) {
			tor_env_walked((*steps)++);
			n = fold_exchange_sends(f, seat, tor_team_rank_in(f->map, node, theirs));
			sum += n;
			hash = fold_exchange_mix(hash, n);
		}
	}
	tor_fold_counts(f)[node] = sum;
	tor_fold_hashes(f)[node] = hash;
}

static void fold_exchange_count_received(struct tor_fold *f, u32 node, u32 *steps)
{
	u64 n, hash = 0, sum = 0;
	u32 seat, theirs;

	for (theirs = 0; theirs < tor_team_seats(f->map, node); theirs++) {
		for (seat = 0; seat < f->seats; seat++) {
			tor_env_walked((*steps)++);
			n = fold_exchange_receives(f, seat, tor_team_rank_in(f->map, node, theirs));
			sum += n;
			hash = fold_exchange_mix(hash, n);
		}
	}
	tor_fold_from_counts(f)[node] = sum;
	tor_fold_hashes(f)[f->map->nodes + node] = hash;
}

void tor_fold_exchange_count(struct tor_fold *f)
{
	u32 node, steps = 0;

	for (node = 0; node < f->map->nodes; node++) {
		if (node == f->node)
			continue;
		fold_exchange_count_sent(f, node, &steps);
		fold_exchange_count_received(f, node, &steps);
	}
}

bool tor_fold_agrees(const struct tor_fold *f, u32 *sender, u32 *receiver)
{
	u32 a, b;

	for (a = 0; f->kind == TOR_FOLD_EXCHANGE && a < f->seats; a++) {
		for (b = 0; b < f->seats; b++) {
			if (fold_exchange_sends(f, a, tor_fold_rank(f, b)) ==
			    fold_exchange_receives(f, b, tor_fold_rank(f, a)))
				continue;
			*sender = a;
			*receiver = b;
			return false;
		}
	}
	return true;
}

/* --- moves --- */

/*
 * The vectors of seats are filled from one rank of this node to the next: the
 * place of seat 0's rank first.
 */
static void fold_exchange_begin(const struct tor_fold *f)
{
	u32 seat;

	tor_fold_begin(f, tor_fold_counts(f));
	for (seat = 0; seat < f->seats; seat++)
		tor_fold_at_seat(f)[seat] = fold_exchange_receives_from(f, seat, 0,
									tor_fold_rank(f, 0));
}

/* Moves what a seat sends to a rank on this node; c->rank is that rank. */
static void fold_exchange_move_here(const struct tor_fold *f, const struct tor_fold_cursor *c,
				    struct tor_move *m)
{
	u64 *at;

	m->to = f->map->seat[c->rank];
	m->n = fold_exchange_sends(f, m->from, c->rank);
	at = &tor_fold_at_seat(f)[m->to];
	m->doff = *at;
	if (m->from + 1 < f->seats)
		*at += fold_exchange_receives_from(f, m->to, tor_fold_rank(f, m->from),
						   tor_fold_rank(f, m->from + 1));
}

/*
 * Moves what it sends to consecutive ranks on another node; c->rank becomes the
 * last of these.
 */
static void fold_exchange_move_there(const struct tor_fold *f, struct tor_fold_cursor *c,
				     struct tor_move *m)
{
	const struct tor_team_map *map = f->map;
	u32 node = map->node[c->rank];

	m->to = TOR_FOLD_OWN;
	m->to_input = true;
	m->n = fold_exchange_sends(f, m->from, c->rank);
	while (c->rank + 1 < map->ranks && map->node[c->rank + 1] == node)
		m->n += fold_exchange_sends(f, m->from, ++c->rank);
	m->doff = tor_fold_at_node(f)[node];
	tor_fold_at_node(f)[node] += m->n;
}

/* c->i: the sending seat. */
bool tor_fold_exchange_before(const struct tor_fold *f, struct tor_fold_cursor *c,
			      struct tor_move *m)
{
	if (!c->i && !c->rank)
		fold_exchange_begin(f);
	if (c->rank == f->map->ranks) {
		c->i++;
		c->rank = 0;
		c->off = 0;
	}
	if (c->i == f->seats)
		return false;
	m->from = c->i;
	m->from_input = true;
	m->soff = c->off;
	if (tor_fold_is_here(f, c->rank))
		fold_exchange_move_here(f, c, m);
	else
		fold_exchange_move_there(f, c, m);
	c->rank++;
	c->off += m->n;
	return true;
}

/* Rank by rank of other nodes, the blocks for the seats here, c->i. */
bool tor_fold_exchange_after(const struct tor_fold *f, struct tor_fold_cursor *c,
			     struct tor_move *m)
{
	u64 *at_node, *at_seat;

	if (!c->i && !c->rank) {
		tor_fold_begin(f, tor_fold_from_counts(f));
		memset(tor_fold_at_seat(f), 0, f->seats * sizeof(*f->words));
	}
	if (c->i == f->seats) {
		c->rank++;
		c->i = 0;
	}
	if (c->rank == f->map->ranks)
		return false;
	m->from = TOR_FOLD_OWN;
	m->to = c->i++;
	m->n = fold_exchange_receives(f, m->to, c->rank);
	at_node = &tor_fold_at_node(f)[f->map->node[c->rank]];
	at_seat = &tor_fold_at_seat(f)[m->to];
	m->soff = *at_node;
	m->doff = *at_seat;
	*at_seat += m->n;
	if (tor_fold_is_here(f, c->rank))
		m->n = 0;
	*at_node += m->n;
	return true;
}
