// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Folds. See fold.h.
 */
#include "fold.h"

#include "plan_family.h"

static const struct tor_plan_req *called(const struct tor_fold *f)
{
	return f->called[0];
}

static u32 rank_of(const struct tor_fold *f, u32 seat)
{
	return f->map->first[f->node] + seat;
}

/* The seat of a rank of ours, or one that there is not. */
static u32 seat_of(const struct tor_fold *f, u32 rank)
{
	return rank - f->map->first[f->node];
}

static bool is_here(const struct tor_fold *f, u32 rank)
{
	return seat_of(f, rank) < f->seats;
}

static struct tor_span whole(const struct tor_fold *f)
{
	return (struct tor_span){ 0, called(f)->count };
}

static struct tor_span block(const struct tor_fold *f, u32 rank)
{
	const struct tor_plan_req *r = called(f);

	return tor_plan_block(r->count, r->counts, r->ranks, rank);
}

/* The blocks of a node's ranks. */
static struct tor_span node_block(const struct tor_fold *f, u32 node)
{
	struct tor_span span = block(f, f->map->first[node]);
	struct tor_span last = block(f, f->map->first[node + 1] - 1);

	span.n = last.off + last.n - span.off;
	return span;
}

/* At one place of two vectors. */
static void in_place(struct tor_move *m, struct tor_span span)
{
	m->soff = span.off;
	m->doff = span.off;
	m->n = span.n;
}

static u32 nodes_collective(const struct tor_fold *f)
{
	u32 collective = called(f)->collective;

	switch (f->kind) {
	case TOR_FOLD_SCAN:
		return TORCOLL_EXSCAN;
	case TOR_FOLD_ORDERED:
		if (collective == TORCOLL_REDUCE)
			return TORCOLL_GATHER;
		return collective == TORCOLL_REDUCE_SCATTER ? TORCOLL_ALLTOALL : TORCOLL_ALLGATHER;
	case TOR_FOLD_EXCHANGE:
	case TOR_FOLD_HALO:
		return TORCOLL_ALLTOALL;
	default:
		return collective;
	}
}

static enum tor_fold_kind kind_of(u32 collective, bool ordered, u32 nodes)
{
	bool scans = collective == TORCOLL_SCAN || collective == TORCOLL_EXSCAN;

	if (collective == TORCOLL_ALLTOALL)
		return TOR_FOLD_EXCHANGE;
	if (collective == TORCOLL_HALO)
		return TOR_FOLD_HALO;
	if (ordered && (nodes > 1 || scans))
		return TOR_FOLD_ORDERED;
	return scans ? TOR_FOLD_SCAN : TOR_FOLD_SHARED;
}

static const char *check_request(const struct tor_plan_req *r, bool ordered)
{
	const u64 *counts = r->from_counts ? r->from_counts : r->counts;

	if (counts && !tor_plan_sums_to(counts, r->ranks, r->count))
		return "counts do not sum up to count";
	if (r->collective == TORCOLL_ALLTOALL && !counts &&
	    tor_div64(r->count, r->ranks) * r->ranks != r->count)
		return "an alltoall has as many elements for each rank";
	if (r->collective == TORCOLL_HALO && r->count % 2)
		return "a halo has as many elements for each neighbour";
	if (ordered && r->count > tor_div64(U64_MAX >> 5, r->ranks))
		return "the contributions of all ranks are too long";
	return NULL;
}

/* --- what the nodes call --- */

static u64 *counts_of(const struct tor_fold *f)
{
	return f->words;
}

static u64 *from_counts_of(const struct tor_fold *f)
{
	return f->words + f->map->nodes;
}

/* Hashes of what goes to each node, rank by rank, and then of what comes. */
static u64 *lengths_of(const struct tor_fold *f)
{
	return f->words + 2 * f->map->nodes;
}

static u64 *places(const struct tor_fold *f)
{
	return f->words + 4 * f->map->nodes;
}

/* Elements that a seat sends to a rank in an alltoall, and receives from it. */
static u64 sends(const struct tor_fold *f, u32 seat, u32 rank)
{
	const struct tor_plan_req *r = f->called[seat];

	return r->counts ? r->counts[rank] : tor_div64(r->count, r->ranks);
}

static u64 receives(const struct tor_fold *f, u32 seat, u32 rank)
{
	const struct tor_plan_req *r = f->called[seat];

	return r->counts ? r->from_counts[rank] : tor_div64(r->count, r->ranks);
}

static u64 sends_to_node(const struct tor_fold *f, u32 seat, u32 node)
{
	u64 n = 0;
	u32 rank;

	for (rank = f->map->first[node]; rank < f->map->first[node + 1]; rank++)
		n += sends(f, seat, rank);
	return n;
}

static u64 receives_from_node(const struct tor_fold *f, u32 seat, u32 node)
{
	u64 n = 0;
	u32 rank;

	for (rank = f->map->first[node]; rank < f->map->first[node + 1]; rank++)
		n += receives(f, seat, rank);
	return n;
}

/* The nodes before and behind ours on the ring of ranks. */
static u32 node_down(const struct tor_fold *f)
{
	return f->node ? f->node - 1 : f->map->nodes - 1;
}

static u32 node_up(const struct tor_fold *f)
{
	return f->node + 1 < f->map->nodes ? f->node + 1 : 0;
}

static void count_halo(struct tor_fold *f)
{
	u64 half = called(f)->count / 2;

	counts_of(f)[node_down(f)] += half;
	counts_of(f)[node_up(f)] += half;
	from_counts_of(f)[node_down(f)] += half;
	from_counts_of(f)[node_up(f)] += half;
}

/* Not against anybody's will: who makes mistakes finds out. A step of SplitMix64. */
static u64 mix(u64 hash, u64 length)
{
	hash = (hash ^ length) + 0x9e3779b97f4a7c15ULL;
	hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
	return hash ^ (hash >> 27);
}

/* Sender by sender, and receiver by receiver: the same at both ends. */
static void hash_lengths(struct tor_fold *f, u32 node)
{
	u64 *to = &lengths_of(f)[node], *from = &lengths_of(f)[f->map->nodes + node];
	u32 seat, rank;

	*to = 0;
	*from = 0;
	for (seat = 0; seat < f->seats; seat++)
		for (rank = f->map->first[node]; rank < f->map->first[node + 1]; rank++)
			*to = mix(*to, sends(f, seat, rank));
	for (rank = f->map->first[node]; rank < f->map->first[node + 1]; rank++)
		for (seat = 0; seat < f->seats; seat++)
			*from = mix(*from, receives(f, seat, rank));
}

static void count_exchange(struct tor_fold *f, u32 node)
{
	u32 seat;

	for (seat = 0; seat < f->seats; seat++) {
		counts_of(f)[node] += sends_to_node(f, seat, node);
		from_counts_of(f)[node] += receives_from_node(f, seat, node);
	}
	hash_lengths(f, node);
}

/* Between which nodes how much goes, in an alltoall of theirs. */
static void fill_exchanged(struct tor_fold *f)
{
	u32 node;

	memset(f->words, 0, 2 * f->map->nodes * sizeof(*f->words));
	f->own = 0;
	f->input = 0;
	if (f->kind == TOR_FOLD_HALO && f->map->nodes > 1)
		count_halo(f);
	for (node = 0; node < f->map->nodes; node++) {
		if (f->kind == TOR_FOLD_EXCHANGE && node != f->node)
			count_exchange(f, node);
		if (f->kind == TOR_FOLD_ORDERED) {
			counts_of(f)[node] = f->seats * node_block(f, node).n;
			from_counts_of(f)[node] = tor_team_seats(f->map, node) *
						  node_block(f, f->node).n;
		}
		f->input += counts_of(f)[node];
		f->own += from_counts_of(f)[node];
	}
	f->req.count = f->own;
	f->req.counts = counts_of(f);
	f->req.from_counts = from_counts_of(f);
}

static void fill_blocks(struct tor_fold *f)
{
	u32 node;

	for (node = 0; node < f->map->nodes; node++)
		counts_of(f)[node] = f->kind == TOR_FOLD_ORDERED ?
				     tor_team_seats(f->map, node) * called(f)->count :
				     node_block(f, node).n;
	f->req.counts = counts_of(f);
}

/* Whose vector is the node's: the root's, where that has the data, or is to have it as it comes. */
static u32 find_leader(const struct tor_fold *f)
{
	u32 collective = called(f)->collective, root = called(f)->root;
	bool rooted = collective == TORCOLL_BROADCAST || collective == TORCOLL_GATHER ||
		      collective == TORCOLL_SCATTER;

	return rooted && is_here(f, root) ? seat_of(f, root) : 0;
}

int tor_fold_check(struct tor_fold *f, const struct tor_plan_req *r, bool ordered,
		   const struct tor_torus *torus, const u32 *member, u64 *words, const char **why)
{
	const char *bad = check_request(r, ordered);
	const struct tor_plan_req **all = f->called;

	if (bad) {
		*why = bad;
		return -EINVAL;
	}
	f->called = &r;
	f->words = words;
	f->kind = kind_of(r->collective, ordered, f->map->nodes);
	f->leader = find_leader(f);
	f->has_own = f->kind != TOR_FOLD_SHARED && (f->kind != TOR_FOLD_SCAN || f->map->nodes > 1);
	f->own = r->count;
	f->input = 0;
	f->req = *r;
	f->req.torus = torus;
	f->req.members = member;
	f->req.ranks = f->map->nodes;
	f->req.root = tor_team_node(f->map, r->root);
	f->req.collective = nodes_collective(f);
	f->req.counts = NULL;
	f->req.from_counts = NULL;
	if (!tor_collective_has_root(f->req.collective))
		f->req.root = 0;
	if (f->kind == TOR_FOLD_EXCHANGE || f->kind == TOR_FOLD_HALO)
		/* what the others of the node send is not known yet */
		f->req.count = 0;
	else if (f->req.collective == TORCOLL_ALLTOALL)
		fill_exchanged(f);
	else if (tor_collective_has_blocks(f->req.collective))
		fill_blocks(f);
	if (f->kind == TOR_FOLD_ORDERED && f->req.collective != TORCOLL_ALLTOALL) {
		f->own = r->ranks * r->count;
		f->req.count = f->own;
	}
	f->called = all;
	return 0;
}

void tor_fold_init(struct tor_fold *f)
{
	if (f->kind == TOR_FOLD_EXCHANGE || f->kind == TOR_FOLD_HALO)
		fill_exchanged(f);
}

const u64 *tor_fold_lengths(const struct tor_fold *f)
{
	return f->kind == TOR_FOLD_EXCHANGE ? lengths_of(f) : NULL;
}

bool tor_fold_agrees(const struct tor_fold *f, u32 *sender, u32 *receiver)
{
	u32 a, b;

	for (a = 0; f->kind == TOR_FOLD_EXCHANGE && a < f->seats; a++) {
		for (b = 0; b < f->seats; b++) {
			if (sends(f, a, rank_of(f, b)) == receives(f, b, rank_of(f, a)))
				continue;
			*sender = a;
			*receiver = b;
			return false;
		}
	}
	return true;
}

/* --- in a seat's vector --- */

static bool shared_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u32 collective = called(f)->collective;

	m->reduce = tor_collective_reduces(collective);
	if (!m->reduce && collective != TORCOLL_ALLGATHER && collective != TORCOLL_GATHER)
		return false;
	if (c->i == f->leader)
		c->i++;
	if (c->i >= f->seats)
		return false;
	m->from = c->i++;
	m->to = f->leader;
	in_place(m, m->reduce ? whole(f) : block(f, rank_of(f, m->from)));
	return true;
}

/* What seat @seat has to get of its node's result. */
static struct tor_span shared_result(const struct tor_fold *f, u32 seat)
{
	const struct tor_plan_req *r = called(f);

	switch (r->collective) {
	case TORCOLL_ALLREDUCE:
	case TORCOLL_BROADCAST:
	case TORCOLL_ALLGATHER:
		return whole(f);
	case TORCOLL_REDUCE:
		return rank_of(f, seat) == r->root ? whole(f) : (struct tor_span){};
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_SCATTER:
		return block(f, rank_of(f, seat));
	default:
		return (struct tor_span){};
	}
}

static bool shared_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	if (c->i == f->leader)
		c->i++;
	if (c->i >= f->seats)
		return false;
	m->from = f->leader;
	m->to = c->i++;
	in_place(m, shared_result(f, m->to));
	return true;
}

/* --- scans --- */

/*
 * Each seat reduces what is before it into its own, and the last one has the node's total. Of an exclusive scan
 * each then takes what the one before it has.
 */
static bool scan_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	bool excludes = called(f)->collective == TORCOLL_EXSCAN;
	u32 total = f->seats - 1, step = c->i++;

	in_place(m, whole(f));
	if (step < total) {
		m->from = step;
		m->to = step + 1;
		m->reduce = true;
		return true;
	}
	step -= total;
	if (f->has_own && !step) {
		m->from = total;
		m->to = TOR_FOLD_OWN;
		return true;
	}
	step -= f->has_own;
	if (!excludes || step >= total)
		return false;
	m->to = total - step;
	m->from = m->to - 1;
	return true;
}

/* What is before the node comes to all. */
static bool scan_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	if (!f->node || c->i >= f->seats)
		return false;
	m->from = TOR_FOLD_OWN;
	m->to = c->i++;
	m->reduce = m->to || called(f)->collective == TORCOLL_SCAN;
	in_place(m, whole(f));
	return true;
}

/* --- sequential sums --- */

/* Contributions of the seats to what each node adds up, or to everything. */
static bool ordered_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	if (c->i == f->seats) {
		c->i = 0;
		c->j++;
	}
	if (c->j >= (f->req.collective == TORCOLL_ALLTOALL ? f->map->nodes : 1))
		return false;
	m->from = c->i++;
	m->to = TOR_FOLD_OWN;
	if (f->req.collective != TORCOLL_ALLTOALL) {
		m->doff = rank_of(f, m->from) * called(f)->count;
		m->n = called(f)->count;
		return true;
	}
	in_place(m, node_block(f, c->j));
	m->to_input = true;
	m->doff = c->off;
	c->off += m->n;
	return true;
}

/* How many ranks' sum a seat is to have, from rank 0 on. */
static u32 summands(const struct tor_fold *f, u32 seat)
{
	switch (called(f)->collective) {
	case TORCOLL_SCAN:
		return rank_of(f, seat) + 1;
	case TORCOLL_EXSCAN:
		return rank_of(f, seat);
	case TORCOLL_REDUCE:
		return rank_of(f, seat) == called(f)->root ? f->map->ranks : 0;
	default:
		return f->map->ranks;
	}
}

/* The sum that the seat before has is the beginning of this one's. */
static u32 begun(const struct tor_fold *f, u32 seat)
{
	if (!seat || f->req.collective != TORCOLL_ALLGATHER)
		return 0;
	return summands(f, seat - 1);
}

/* What @rank has contributed to the sum of seat @m->to. */
static void contribution(const struct tor_fold *f, u32 rank, struct tor_move *m)
{
	struct tor_span span = block(f, rank_of(f, m->to));

	m->from = TOR_FOLD_OWN;
	m->reduce = rank;
	if (f->req.collective == TORCOLL_ALLTOALL) {
		in_place(m, span);
		m->soff = rank * node_block(f, f->node).n + span.off - node_block(f, f->node).off;
	} else {
		in_place(m, whole(f));
		m->soff = rank * called(f)->count;
	}
}

static bool ordered_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	/* c->i: the seat, c->j: ranks in its sum so far */
	while (c->i < f->seats && c->j == summands(f, c->i)) {
		c->i++;
		c->j = 0;
	}
	if (c->i == f->seats)
		return false;
	m->to = c->i;
	if (!c->j && begun(f, c->i)) {
		m->from = c->i - 1;
		in_place(m, whole(f));
		c->j = begun(f, c->i);
	} else {
		contribution(f, c->j++, m);
	}
	return true;
}

/* --- alltoall --- */

/* Where the block of @rank begins in what a seat of ours receives. */
static u64 place_of(const struct tor_fold *f, u32 seat, u32 rank)
{
	u64 off = 0;
	u32 i;

	for (i = 0; i < rank; i++)
		off += receives(f, seat, i);
	return off;
}

/* A seat's input for our own ranks goes to them: block by block, the @c->k-th. */
static void exchange_here(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	m->to = c->k++;
	m->n = sends(f, m->from, rank_of(f, m->to));
	m->doff = place_of(f, m->to, rank_of(f, m->from));
}

/* To another node goes what all its ranks get from one seat, then from the next. */
static void exchange_there(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	m->to = TOR_FOLD_OWN;
	m->to_input = true;
	m->n = sends_to_node(f, m->from, c->j);
	m->doff = places(f)[c->j];
	places(f)[c->j] += m->n;
}

static bool exchange_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u32 node;

	if (!c->i && !c->j && !c->k) {
		places(f)[0] = 0;
		for (node = 1; node < f->map->nodes; node++)
			places(f)[node] = places(f)[node - 1] + counts_of(f)[node - 1];
	}
	if (c->j == f->map->nodes) {
		c->i++;
		c->j = 0;
		c->off = 0;
	}
	if (c->i == f->seats)
		return false;
	m->from = c->i;
	m->from_input = true;
	if (c->j == f->node)
		exchange_here(f, c, m);
	else
		exchange_there(f, c, m);
	m->soff = c->off;
	c->off += m->n;
	if (c->j != f->node || c->k == f->seats) {
		c->k = 0;
		c->j++;
	}
	return true;
}

/* What came is, node by node and rank by rank, blocks for our seats. */
static bool exchange_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	if (!c->i && !c->j)
		memset(places(f), 0, f->seats * sizeof(*f->words));
	if (c->j == f->seats) {
		c->i++;
		c->j = 0;
	}
	if (c->i == f->map->ranks)
		return false;
	m->from = TOR_FOLD_OWN;
	m->to = c->j++;
	m->soff = c->off;
	m->doff = places(f)[m->to];
	m->n = receives(f, m->to, c->i);
	places(f)[m->to] += m->n;
	if (is_here(f, c->i))
		m->n = 0;
	c->off += m->n;
	return true;
}

/* --- halo --- */

/* Two blocks each: the one that goes down, or came from there, and the one for up. */
enum { DOWN, UP };

/* Where in the node's own vectors the block that goes to the next node is, or comes from there. */
static u64 halo_place(const struct tor_fold *f, u32 way)
{
	bool down_first = node_down(f) <= node_up(f);

	return (way == DOWN) == down_first ? 0 : called(f)->count / 2;
}

static bool halo_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u64 half = called(f)->count / 2;
	u32 seat = c->i / 2, way = c->i % 2;
	bool leaves = way == DOWN ? !seat : seat == f->seats - 1;

	if (seat == f->seats)
		return false;
	c->i++;
	m->from = seat;
	m->from_input = true;
	m->soff = way * half;
	m->n = half;
	if (leaves && f->map->nodes > 1) {
		m->to = TOR_FOLD_OWN;
		m->to_input = true;
		m->doff = halo_place(f, way);
		return true;
	}
	m->to = (way == DOWN ? seat + f->seats - 1 : seat + 1) % f->seats;
	m->doff = (way ^ 1) * half;
	return true;
}

static bool halo_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	u32 way = c->i++;

	if (f->map->nodes == 1 || way > UP)
		return false;
	m->from = TOR_FOLD_OWN;
	/* with one neighbour: what it sends down comes first, and is from above */
	m->soff = halo_place(f, f->map->nodes == 2 ? way ^ 1 : way);
	m->to = way == DOWN ? 0 : f->seats - 1;
	m->doff = way * (called(f)->count / 2);
	m->n = called(f)->count / 2;
	return true;
}

/* --- */

static bool next(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m, bool after)
{
	memset(m, 0, sizeof(*m));
	switch (f->kind) {
	case TOR_FOLD_SHARED:
		return after ? shared_after(f, c, m) : shared_before(f, c, m);
	case TOR_FOLD_SCAN:
		return after ? scan_after(f, c, m) : scan_before(f, c, m);
	case TOR_FOLD_ORDERED:
		return after ? ordered_after(f, c, m) : ordered_before(f, c, m);
	case TOR_FOLD_EXCHANGE:
		return after ? exchange_after(f, c, m) : exchange_before(f, c, m);
	case TOR_FOLD_HALO:
		return after ? halo_after(f, c, m) : halo_before(f, c, m);
	}
	return false;
}

bool tor_fold_before(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	while (next(f, c, m, false))
		if (m->n)
			return true;
	return false;
}

bool tor_fold_after(const struct tor_fold *f, struct tor_fold_cursor *c, struct tor_move *m)
{
	while (next(f, c, m, true))
		if (m->n)
			return true;
	return false;
}
