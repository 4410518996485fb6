// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Folds: all nodes of a comm, of 1 to 3 ranks each, run their moves around the nodes' call, which is
 * done here by its definition; then every rank must have what its call's definition says. Ranks of a node follow one
 * another, or go round the nodes, or are anywhere. Sums that depend on their order show that the order is kept where it
 * counts. Where the nodes' call is a plan in the vectors of all ranks, that plan is executed.
 */
#include "host_env.h"

#include "core/local/fold.h"

#define NODES	5
#define SEATS	3
#define RANKS	(NODES * SEATS)
#define COUNT	60		/* of a vector, about */
#define PIECES	(8 * RANKS)	/* of all nodes in a round */
#define ROOM	(RANKS * COUNT + 64)	/* for all contributions */

struct vectors {
	u64 data[ROOM], input[ROOM];
};

static struct vectors vector[RANKS], own[NODES], before[RANKS];
static struct tor_call call[RANKS];
static u64 counts[RANKS][RANKS], from_counts[RANKS][RANKS];
static u32 map_words[TOR_TEAM_MAP_WORDS(RANKS)], member[RANKS];
static struct tor_team_map map;
static struct tor_torus torus;
static struct tor_fold fold[NODES];
static const struct tor_call *called[NODES][SEATS];
static u64 words[NODES][TOR_FOLD_WORDS(NODES, SEATS)];
static u64 seed;
static bool ordered, chains;

static u32 below(u32 n)
{
	return host_rand(&seed) % n;
}

/*
 * Where order counts, one that shows it. Summands go to the sum before them, or it comes to them: there the two may be
 * swapped.
 */
static u64 combine(u64 a, u64 b)
{
	if (ordered && chains)
		return 31 * (a + b);
	return ordered ? 31 * a + b : a + b;
}

/* Ranks of each node follow one another; or each has one, then the next; or they are shuffled. */
enum order { BY_SLOT, BY_NODE, SHUFFLED, ORDERS };

/* Return: the number of ranks. */
static u32 place_ranks(u32 nodes, enum order order)
{
	u32 node, seat, rank, ranks = 0, seats[NODES];

	for (node = 0; node < nodes; node++)
		seats[node] = 1 + below(SEATS);
	if (order == BY_NODE) {
		for (seat = 0; seat < SEATS; seat++)
			for (node = 0; node < nodes; node++)
				if (seat < seats[node])
					member[ranks++] = 2 * node + 1;
		return ranks;
	}
	for (node = 0; node < nodes; node++)
		for (seat = 0; seat < seats[node]; seat++)
			member[ranks++] = 2 * node + 1;
	for (rank = ranks; order == SHUFFLED && rank > 1; rank--) {
		seat = below(rank);
		swap(member[rank - 1], member[seat]);
	}
	return ranks;
}

static void make_map(u32 ranks)
{
	tor_team_map_make(&map, member, ranks, map_words);
}

static void make_team(enum order order)
{
	make_map(place_ranks(1 + below(NODES), order));
}

static struct tor_span block_of(u32 rank)
{
	const struct tor_call *r = &call[0];
	u64 off = 0;
	u32 i;

	if (!r->counts)
		return (struct tor_span){ tor_block_start(r->count, r->ranks, rank),
					  tor_block_len(r->count, r->ranks, rank) };
	for (i = 0; i < rank; i++)
		off += r->counts[i];
	return (struct tor_span){ off, r->counts[rank] };
}

/* Elements from a rank to another in an alltoall, and where the block of @j begins among those of @list. */
static u64 goes(u32 from, u32 to)
{
	return call[from].counts ? counts[from][to] : call[from].count / map.ranks;
}

static u64 sent_at(u32 from, u32 to)
{
	u64 off = 0;

	while (to--)
		off += goes(from, to);
	return off;
}

static u64 received_at(u32 to, u32 from)
{
	u64 off = 0;

	while (from--)
		off += goes(from, to);
	return off;
}

static void make_request(u32 collective, bool lists)
{
	u64 count = below(3) ? below(COUNT) : 0;
	u32 i, k, root = tor_collective_has_root(collective) ? below(map.ranks) : 0;

	if (collective == TORCOLL_ALLTOALL)
		count = map.ranks * below(COUNT / RANKS + 1);
	if (collective == TORCOLL_HALO)
		count &= ~1ULL;
	for (i = 0; i < map.ranks; i++) {
		call[i] = (struct tor_call){
			.ranks = map.ranks, .collective = collective, .root = root, .count = count,
		};
		for (k = 0; k < map.ranks; k++)
			counts[i][k] = below(4) ? below(COUNT / RANKS + 1) : 0;
	}
	if (!lists)
		return;
	for (i = 0; i < map.ranks; i++) {
		call[i].counts = counts[collective == TORCOLL_ALLTOALL ? i : 0];
		call[i].count = 0;
		for (k = 0; k < map.ranks; k++) {
			from_counts[i][k] = counts[k][i];
			call[i].count += collective == TORCOLL_ALLTOALL ? counts[k][i] : counts[0][k];
		}
		call[i].from_counts = collective == TORCOLL_ALLTOALL ? from_counts[i] : NULL;
	}
}

/* Everyone's own input in its place, and anything elsewhere. */
static void fill_vectors(void)
{
	u32 i, k;

	for (i = 0; i < map.ranks; i++)
		for (k = 0; k < ROOM; k++) {
			vector[i].data[k] = 1000000 * (i + 1) + k;
			vector[i].input[k] = 7000000 * (i + 1) + k;
		}
	memcpy(before, vector, sizeof(before));
	memset(own, 0x55, sizeof(own));
}

static u64 *at(u32 node, u32 seat, bool input)
{
	struct vectors *v = seat == TOR_FOLD_OWN ? &own[node] : &vector[tor_team_rank_in(&map, node, seat)];

	return input ? v->input : v->data;
}

static void run(u32 node, const struct tor_move *m)
{
	const u64 *from = at(node, m->from, m->from_input) + m->soff;
	u64 *to = at(node, m->to, m->to_input) + m->doff;
	u64 k;

	assert_true(m->n && m->soff + m->n <= ROOM && m->doff + m->n <= ROOM);
	assert_true(m->from == TOR_FOLD_OWN || m->from < fold[node].seats);
	assert_true(m->to == TOR_FOLD_OWN || m->to < fold[node].seats);
	if (m->to == TOR_FOLD_OWN)
		assert_true(m->doff + m->n <= (m->to_input ? fold[node].input : fold[node].own));
	if (m->from == TOR_FOLD_OWN)
		assert_true(m->soff + m->n <= fold[node].own);
	/* a seat's input is only read */
	assert_true(m->to == TOR_FOLD_OWN || !m->to_input);
	/* and so is all that a scatter's root has */
	assert_true(call[0].collective != TORCOLL_SCATTER || m->to == TOR_FOLD_OWN ||
		    tor_team_rank_in(&map, node, m->to) != call[0].root);
	for (k = 0; k < m->n; k++)
		to[k] = m->reduce ? combine(to[k], from[k]) : from[k];
}

/* Plans ask for the blocks of many nodes in a round, and would add up all before each of them. */
static void check_starts(const u64 *list, const u64 *starts)
{
	u64 sum = 0;
	u32 i;

	assert_int_equal(!list, !starts);
	for (i = 0; list && i < map.nodes; sum += list[i++])
		assert_int_equal(starts[i], sum);
}

static void fold_all(void)
{
	const char *why;
	u32 node, seat;

	for (node = 0; node < map.nodes; node++) {
		struct tor_fold *f = &fold[node];
		struct tor_fold_cursor c = {};
		struct tor_move m;

		*f = (struct tor_fold){
			.map = &map, .node = node, .seats = tor_team_seats(&map, node),
			.called = called[node],
		};
		for (seat = 0; seat < f->seats; seat++)
			called[node][seat] = &call[tor_team_rank_in(&map, node, seat)];
		assert_int_equal(tor_fold_check(f, called[node][below(f->seats)], ordered, chains,
						&torus, member, words[node], &why), 0);
		assert_int_equal(f->call.ranks, map.nodes);
		/* what costs a vector more */
		assert_true(!map.in_order || f->kind != TOR_FOLD_BLOCKS);
		tor_fold_init(f);
		while (tor_fold_before(f, &c, &m))
			run(node, &m);
		if (f->call.counts && f->call.collective != TORCOLL_ALLTOALL)
			assert_true(tor_plan_sums_to(f->call.counts, map.nodes, f->call.count));
		check_starts(f->call.counts, f->call.starts);
		check_starts(f->call.from_counts, f->call.from_starts);
	}
}

/* The vector that the nodes' call works in. */
static u64 *data_of(u32 node)
{
	const struct tor_fold *f = &fold[node];

	return f->has_own ? own[node].data : at(node, f->leader, false);
}

static void copy_block(u32 from, u32 to, u64 off, u64 n)
{
	if (from != to)
		memcpy(data_of(to) + off, data_of(from) + off, n * sizeof(u64));
}

static void nodes_exchange(void)
{
	static u64 sent[NODES], got[NODES];
	u32 i, k;

	memset(sent, 0, sizeof(sent));
	for (k = 0; k < map.nodes; k++) {
		got[k] = 0;
		for (i = 0; i < map.nodes; i++) {
			u64 n = fold[i].call.counts[k];

			assert_int_equal(n, fold[k].call.from_counts[i]);
			memcpy(own[k].data + got[k], own[i].input + sent[i], n * sizeof(u64));
			got[k] += n;
			sent[i] += n;
		}
		assert_int_equal(got[k], fold[k].call.count);
	}
}

/* --- a plan in the vectors of all ranks --- */

static u64 kept[NODES][SEATS][COUNT];

static u64 *buffer_of(const struct tor_plan *p, u32 node, u32 buf)
{
	assert_true(buf < p[node].shape.bufs);
	return buf < p[node].shape.vectors ? at(node, buf, false) :
					     kept[node][buf - p[node].shape.vectors];
}

static void run_plan_round(const struct tor_plan *p, u32 round)
{
	static u64 read[PIECES][COUNT];
	static struct tor_piece piece[PIECES];
	struct tor_cursor c;
	u32 node, i, op, n = 0;
	u64 k, *to;

	for (node = 0; node < map.nodes; node++) {
		tor_plan_begin(&p[node], 0, round, &c);
		while (tor_plan_next(&p[node], &c, &piece[n])) {
			if (piece[n].dst != node)
				continue;
			memcpy(read[n], buffer_of(p, piece[n].src, piece[n].sbuf) + piece[n].soff,
			       piece[n].n * sizeof(u64));
			assert_true(++n < PIECES);
		}
	}
	for (op = TOR_PIECE_COPY; op <= TOR_PIECE_REDUCE; op++)
		for (i = 0; i < n; i++) {
			to = buffer_of(p, piece[i].dst, piece[i].dbuf) + piece[i].doff;
			for (k = 0; piece[i].op == op && k < piece[i].n; k++)
				to[k] = op == TOR_PIECE_COPY ? read[i][k] : combine(to[k], read[i][k]);
		}
}

static void nodes_plan(void)
{
	static struct tor_plan plan[NODES];
	u32 node, round, side = 2 * NODES;

	tor_torus_init(&torus, 1, &side, 1);
	for (node = 0; node < map.nodes; node++) {
		assert_false(fold[node].has_own);
		assert_int_equal(tor_plan_init(&plan[node], &fold[node].call, node, NULL), 0);
	}
	for (round = 0; round < plan[0].shape.rounds; round++)
		run_plan_round(plan, round);
}

/* By definition; a vector that has no result is spoiled. */
static void nodes_call(void)
{
	static u64 total[ROOM];
	const struct tor_call *r = &fold[0].call;
	u64 off = 0, k;
	u32 i, j;

	if (r->team) {
		nodes_plan();
		return;
	}
	switch (r->collective) {
	case TORCOLL_ALLTOALL:
		nodes_exchange();
		return;
	case TORCOLL_ALLREDUCE:
	case TORCOLL_REDUCE:
	case TORCOLL_REDUCE_SCATTER:
		assert_true(!ordered || map.nodes == 1);
		memcpy(total, data_of(0), sizeof(total));
		for (i = 1; i < map.nodes; i++)
			for (k = 0; k < r->count; k++)
				total[k] = combine(total[k], data_of(i)[k]);
		for (i = 0; i < map.nodes; i++)
			memset(data_of(i), 0x77, r->count * sizeof(u64));
		for (i = 0; i < map.nodes; i++) {
			u64 n = r->collective == TORCOLL_REDUCE_SCATTER ? r->counts[i] : r->count;

			if (r->collective != TORCOLL_REDUCE || i == r->root)
				memcpy(data_of(i) + off, total + off, n * sizeof(u64));
			off += r->collective == TORCOLL_REDUCE_SCATTER ? n : 0;
		}
		return;
	case TORCOLL_EXSCAN:
		memset(total, 0, sizeof(total));
		for (i = 0; i < map.nodes && fold[i].has_own; i++)
			for (k = 0; k < r->count; k++) {
				u64 x = data_of(i)[k];

				data_of(i)[k] = i ? total[k] : 0x7777;
				total[k] = i ? combine(total[k], x) : x;
			}
		return;
	case TORCOLL_BROADCAST:
		for (i = 0; i < map.nodes; i++)
			copy_block(r->root, i, 0, r->count);
		return;
	}
	for (i = 0; i < map.nodes && r->collective != TORCOLL_BARRIER; off += r->counts[i++])
		for (j = 0; j < map.nodes; j++)
			if (r->collective == TORCOLL_SCATTER && j == r->root)
				copy_block(j, i, off, r->counts[i]);
			else if (r->collective == TORCOLL_ALLGATHER || (r->collective == TORCOLL_GATHER && j == r->root))
				copy_block(i, j, off, r->counts[i]);
}

static u64 sum_of(u32 ranks, u64 k)
{
	u64 sum = before[0].data[k];
	u32 i;

	for (i = 1; i < ranks; i++)
		sum = combine(sum, before[i].data[k]);
	return sum;
}

static void check_span(u32 rank, struct tor_span span, const u64 *is, const char *what)
{
	u64 k;

	for (k = 0; k < span.n; k++)
		if (vector[rank].data[span.off + k] != is[k])
			fail_msg("%s, ordered %u: rank %u of %u on %u nodes%s, element %u", what, ordered,
				 rank, map.ranks, map.nodes, map.in_order ? "" : " in another order",
				 (u32)(span.off + k));
}

static void check_rank(u32 rank)
{
	static u64 want[ROOM];
	const struct tor_call *r = &call[rank];
	const char *name = tor_collective_name(r->collective);
	u32 root = r->root, i, ranks = map.ranks;
	struct tor_span span = { 0, r->count };
	u64 k;

	switch (r->collective) {
	case TORCOLL_REDUCE:
		if (rank != root)
			return;
		/* fall through */
	case TORCOLL_ALLREDUCE:
	case TORCOLL_REDUCE_SCATTER:
		for (k = 0; k < r->count; k++)
			want[k] = sum_of(ranks, k);
		if (r->collective == TORCOLL_REDUCE_SCATTER)
			span = block_of(rank);
		break;
	case TORCOLL_SCAN:
	case TORCOLL_EXSCAN:
		if (r->collective == TORCOLL_EXSCAN && !rank)
			return;
		for (k = 0; k < r->count; k++)
			want[k] = sum_of(rank + (r->collective == TORCOLL_SCAN), k);
		break;
	case TORCOLL_BROADCAST:
		memcpy(want, before[root].data, sizeof(want));
		break;
	case TORCOLL_SCATTER:
		memcpy(want, before[root].data, sizeof(want));
		span = block_of(rank);
		break;
	case TORCOLL_GATHER:
		if (rank != root)
			return;
		/* fall through */
	case TORCOLL_ALLGATHER:
		for (i = 0; i < ranks; i++)
			memcpy(want + block_of(i).off, before[i].data + block_of(i).off,
			       block_of(i).n * sizeof(u64));
		break;
	case TORCOLL_ALLTOALL:
		for (i = 0; i < ranks; i++)
			memcpy(want + received_at(rank, i), before[i].input + sent_at(i, rank),
			       goes(i, rank) * sizeof(u64));
		break;
	case TORCOLL_HALO:
		memcpy(want, before[(rank + ranks - 1) % ranks].input + r->count / 2, r->count / 2 * sizeof(u64));
		memcpy(want + r->count / 2, before[(rank + 1) % ranks].input, r->count / 2 * sizeof(u64));
		break;
	default:
		return;
	}
	check_span(rank, span, want + span.off, name);
	assert_memory_equal(vector[rank].input, before[rank].input, sizeof(before[rank].input));
}

static void check_once(u32 collective, bool lists)
{
	struct tor_fold_cursor c;
	struct tor_move m;
	u32 i;

	make_team(below(ORDERS));
	make_request(collective, lists);
	fill_vectors();
	fold_all();
	nodes_call();
	for (i = 0; i < map.nodes; i++) {
		memset(&c, 0, sizeof(c));
		while (tor_fold_after(&fold[i], &c, &m))
			run(i, &m);
	}
	for (i = 0; i < map.ranks; i++)
		check_rank(i);
}

static void check_many(u32 collective, bool lists)
{
	u32 i;

	for (i = 0; i < 300; i++)
		check_once(collective, lists);
}

/* In their order, by either way to keep it. */
static void check_order(u32 collective, bool lists)
{
	ordered = true;
	check_many(collective, lists);
	chains = true;
	check_many(collective, lists);
	ordered = false;
	if (collective == TORCOLL_SCAN || collective == TORCOLL_EXSCAN)
		check_many(collective, lists);
	chains = false;
}

static void tor_fold__every_collective(void **state)
{
	u32 collective;

	ordered = false;
	for (collective = TORCOLL_ALLREDUCE; collective < TORCOLL_SEND; collective++)
		check_many(collective, false);
}

static void tor_fold__lists_of_counts(void **state)
{
	static const u32 with_blocks[] = {
		TORCOLL_REDUCE_SCATTER, TORCOLL_ALLGATHER, TORCOLL_GATHER, TORCOLL_SCATTER, TORCOLL_ALLTOALL,
	};
	u32 i;

	ordered = false;
	for (i = 0; i < ARRAY_SIZE(with_blocks); i++)
		check_many(with_blocks[i], true);
}

static void tor_fold__the_order_of_ranks(void **state)
{
	static const u32 reduce[] = {
		TORCOLL_ALLREDUCE, TORCOLL_REDUCE, TORCOLL_REDUCE_SCATTER, TORCOLL_SCAN, TORCOLL_EXSCAN,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(reduce); i++)
		check_order(reduce[i], false);
	check_order(TORCOLL_REDUCE_SCATTER, true);
}

/* One rank sends another as much more as it sends a third less: sums do not tell. */
static void tor_fold_lengths__pairs_must_agree(void **state)
{
	static const u32 on[] = { 1, 3, 3, 5, 5, 5 };
	u32 seat[2], i, k;

	ordered = false;
	memcpy(member, on, sizeof(on));
	make_map(6);
	make_request(TORCOLL_ALLTOALL, true);
	for (i = 0; i < 6; i++)
		for (k = 0; k < 6; k++) {
			counts[i][k] = 3;
			from_counts[i][k] = 3;
		}
	for (i = 0; i < 6; i++)
		call[i].count = 18;
	fold_all();
	for (i = 0; i < 3; i++)
		assert_true(tor_fold_agrees(&fold[i], &seat[0], &seat[1]));
	counts[1][3] = 1;
	counts[1][5] = 5;
	counts[4][3] = 2;
	counts[4][4] = 4;
	for (i = 0; i < 3; i++)
		tor_fold_init(&fold[i]);
	for (i = 0; i < 3; i++)
		for (k = 0; k < 3; k++) {
			bool same = tor_fold_lengths(&fold[i])[k] == tor_fold_lengths(&fold[k])[3 + i];

			assert_int_equal(fold[i].call.counts[k], fold[k].call.from_counts[i]);
			assert_true(i == k || same == (i != 1 || k != 2));
		}
	assert_true(tor_fold_agrees(&fold[0], &seat[0], &seat[1]));
	assert_true(tor_fold_agrees(&fold[1], &seat[0], &seat[1]));
	assert_false(tor_fold_agrees(&fold[2], &seat[0], &seat[1]));
	assert_int_equal(seat[0], 1);
	assert_int_equal(seat[1], 0);
}

static int check_refused(u32 collective, u64 count, const u64 *list, const u64 *from)
{
	struct tor_fold f = { .map = &map, .seats = tor_team_seats(&map, 0), .called = called[0] };
	struct tor_call r = {
		.ranks = map.ranks, .collective = collective, .count = count, .counts = list, .from_counts = from,
	};
	const char *why = NULL;
	int err = tor_fold_check(&f, &r, ordered, false, &torus, member, words[0], &why);

	assert_int_equal(!err, !why);
	return err;
}

static void tor_fold_check__what_cannot_be(void **state)
{
	static const u64 list[] = { 1, 2, 3 };
	static const u32 on[] = { 4, 4, 6 };

	memcpy(member, on, sizeof(on));
	make_map(3);
	ordered = false;
	assert_int_equal(check_refused(TORCOLL_ALLTOALL, 7, NULL, NULL), -EINVAL);
	assert_int_equal(check_refused(TORCOLL_ALLTOALL, 6, list, list), 0);
	assert_int_equal(check_refused(TORCOLL_ALLTOALL, 7, list, list), -EINVAL);
	assert_int_equal(check_refused(TORCOLL_HALO, 7, NULL, NULL), -EINVAL);
	assert_int_equal(check_refused(TORCOLL_HALO, 6, NULL, NULL), 0);
	assert_int_equal(check_refused(TORCOLL_ALLGATHER, 5, list, NULL), -EINVAL);
	assert_int_equal(check_refused(TORCOLL_ALLGATHER, 6, list, NULL), 0);
	assert_int_equal(check_refused(TORCOLL_ALLREDUCE, 1ULL << 58, NULL, NULL), 0);
	ordered = true;
	assert_int_equal(check_refused(TORCOLL_ALLREDUCE, 1ULL << 58, NULL, NULL), -EINVAL);
	assert_int_equal(check_refused(TORCOLL_ALLREDUCE, 1ULL << 56, NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_fold__every_collective),
		cmocka_unit_test(tor_fold__lists_of_counts),
		cmocka_unit_test(tor_fold__the_order_of_ranks),
		cmocka_unit_test(tor_fold_lengths__pairs_must_agree),
		cmocka_unit_test(tor_fold_check__what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
