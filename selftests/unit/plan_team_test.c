// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plans of nodes with several ranks, whose sums go from rank to rank: right, by what torcoll-plan knows; the same
 * pieces at both ends; nothing in flight overwritten; and a few blocks of memory, whatever the number of ranks.
 */
#include "host_env.h"
#include "plan_rules.h"

#include <stdlib.h>

#include "core/choose/auto.h"
#include "core/seats.h"

#define SIDE	3
#define NODES	(SIDE * SIDE)
#define RANKS	24
#define PIECES	(4 * RANKS)	/* of a node in a round */

static const u32 collectives[] = { TORCOLL_SCAN, TORCOLL_EXSCAN, TORCOLL_ALLREDUCE, TORCOLL_REDUCE };

static u64 seed = 1;
static struct tor_torus torus;
static u32 member[RANKS], words[TOR_TEAM_MAP_WORDS(RANKS)], node_of[RANKS];
static struct tor_team_map map;
static struct tor_plan plan[NODES];

static u32 below(u32 n)
{
	return host_rand(&seed) % n;
}

/* Some ranks, on some nodes, in any order. */
static struct tor_call random_call(u32 collective)
{
	u32 side[] = { SIDE, SIDE }, nodes = 1 + below(NODES), i;
	struct tor_call call = {
		.torus = &torus, .members = member, .ranks = 2 + below(RANKS - 1),
		.collective = collective, .algorithm = TORCOLL_RING,
		.count = 1 + below(below(2) ? 60 : 8),
	};

	tor_torus_init(&torus, 2, side, 1);
	for (i = 0; i < call.ranks; i++)
		member[i] = below(nodes);
	if (collective == TORCOLL_REDUCE)
		call.root = below(call.ranks);
	call.param[TORCOLL_PARAM_BLOCKS] = below(20);
	return call;
}

/* The plans of all nodes. */
static struct tor_call make_plans(const struct tor_call *call)
{
	struct tor_call by_nodes = *call;
	u32 node;

	memcpy(node_of, member, sizeof(member));
	tor_team_map_make(&map, node_of, call->ranks, words);
	by_nodes.members = node_of;
	by_nodes.ranks = map.nodes;
	by_nodes.team = &map;
	for (node = 0; node < map.nodes; node++)
		assert_int_equal(tor_plan_init(&plan[node], &by_nodes, node, NULL), 0);
	return by_nodes;
}

/* What node @at yields of the transfer from @src to @dst. */
static u32 pieces_of(u32 at, u32 round, u32 src, u32 dst, struct tor_piece *piece)
{
	const struct tor_plan *p = &plan[at];
	struct tor_cursor c;
	struct tor_piece x;
	u32 n = 0;

	tor_plan_begin(p, 0, round, &c);
	while (tor_plan_next(p, &c, &x)) {
		assert_true(x.src == at || x.dst == at);
		if (x.dst == at)
			assert_true(x.dbuf < p->shape.bufs && x.doff + x.n <= (x.dbuf < p->shape.vectors ?
				    p->call.count : p->temp.n));
		if (x.src != src || x.dst != dst)
			continue;
		assert_true(n < PIECES);
		memset(&piece[n], 0, sizeof(*piece));
		piece[n].src = x.src;
		piece[n].dst = x.dst;
		piece[n].sbuf = x.sbuf;
		piece[n].dbuf = x.dbuf;
		piece[n].op = x.op;
		piece[n].soff = x.soff;
		piece[n].doff = x.doff;
		piece[n++].n = x.n;
	}
	return n;
}

/* What stays on the node is done piece by piece, copies first. */
static void check_local(u32 node, u32 round)
{
	static struct tor_piece piece[PIECES];
	u32 n = pieces_of(node, round, node, node, piece), i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++) {
			const struct tor_piece *first = &piece[i], *then = &piece[k];

			if (first->op > then->op || (first->op == then->op && i >= k) ||
			    first->dbuf != then->sbuf)
				continue;
			assert_true(first->doff + first->n <= then->soff ||
				    then->soff + then->n <= first->doff);
		}
}

static void check_ends(u32 round)
{
	static struct tor_piece sent[PIECES], got[PIECES];
	u32 src, dst, n, peers;

	for (src = 0; src < map.nodes; src++) {
		for (peers = 0, dst = 0; dst < map.nodes; dst++) {
			n = pieces_of(src, round, src, dst, sent);
			peers += n && dst != src;
			assert_int_equal(pieces_of(dst, round, src, dst, got), n);
			assert_memory_equal(sent, got, n * sizeof(*sent));
		}
		assert_true(peers <= plan[src].shape.peers);
		check_local(src, round);
	}
}

static void check_call(const struct tor_call *call)
{
	const struct tor_plan_shape *shape = &plan[0].shape;
	const char *why = NULL;
	struct dump_error e;
	struct dump d = {};
	u32 node, round;

	make_plans(call);
	for (node = 0; node < map.nodes; node++) {
		assert_int_equal(plan[node].shape.vectors, tor_team_seats(&map, node));
		assert_int_equal(plan[node].shape.rounds, shape->rounds);
		assert_true(plan[node].shape.sequential);
	}
	for (round = 0; round < shape->rounds; round++)
		check_ends(round);
	if (map.nodes == call->ranks)
		return;
	assert_int_equal(dump_make(&d, call, &why), 0);
	if (!dump_check(&d, &e) || !plan_stable(&d, shape->lag, &e))
		fail_msg("%s, %u ranks on %u nodes, %llu elements, %u blocks: %s",
			 tor_collective_name(call->collective), call->ranks, map.nodes,
			 (unsigned long long)call->count, call->param[TORCOLL_PARAM_BLOCKS], e.text);
	dump_free(&d);
}

static void plan_team__right(void **state)
{
	struct tor_call call;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(collectives); i++)
		for (k = 0; k < 400; k++) {
			call = random_call(collectives[i]);
			check_call(&call);
		}
}

static void plan_team__refuses(void **state)
{
	struct tor_call call = random_call(TORCOLL_REDUCE), by_nodes = make_plans(&call), other;
	const char *why = NULL;
	struct tor_plan p;

	other = by_nodes;
	other.root = map.ranks;
	assert_int_equal(tor_plan_init(&p, &other, 0, &why), -EINVAL);
	other = by_nodes;
	other.algorithm = TORCOLL_TREE;
	assert_int_equal(tor_plan_init(&p, &other, 0, &why), -EOPNOTSUPP);
	other = by_nodes;
	other.root = 0;
	other.collective = TORCOLL_ALLGATHER;
	assert_int_equal(tor_plan_init(&p, &other, 0, &why), -EOPNOTSUPP);
	other = by_nodes;
	other.param[TORCOLL_PARAM_CHANNELS] = 2;
	assert_int_equal(tor_plan_init(&p, &other, 0, &why), -EINVAL);
}

/* --- memory --- */

#define MANY		45
#define LONG		559240		/* doubles */

static u32 many_words[TOR_TEAM_MAP_WORDS(MANY)], many_member[MANY];

static struct tor_call many(u32 collective, u64 count)
{
	struct tor_call call = {
		.torus = &torus, .ranks = MANY, .collective = collective, .count = count,
		.algorithm = TORCOLL_ALGO_AUTO,
	};
	u32 side[] = { 4, 4 }, i;

	tor_torus_init(&torus, 2, side, 1);
	for (i = 0; i < MANY; i++)
		many_member[i] = i % 16;
	tor_team_map_make(&map, many_member, MANY, many_words);
	return call;
}

/* What a node takes for an exscan of 4.5 MB on each of 45 ranks: not 201 MB, but some blocks for each of its ranks. */
static void plan_team__memory(void **state)
{
	struct tor_call call = many(TORCOLL_EXSCAN, LONG);
	u32 seats = tor_team_seats(&map, 0);
	u64 bytes;

	call.algorithm = TORCOLL_RING;
	call.members = many_member;
	call.ranks = map.nodes;
	call.team = &map;
	assert_int_equal(tor_plan_init(&plan[0], &call, 0, NULL), 0);
	bytes = plan[0].temp.n * sizeof(u64) * (plan[0].shape.bufs - plan[0].shape.vectors);
	assert_int_equal(seats, 3);
	assert_true(bytes <= seats * (5 * LONG * sizeof(u64) / 64));
	assert_true(bytes < 1 << 20);
	call.collective = TORCOLL_SCAN;
	assert_int_equal(tor_plan_init(&plan[0], &call, 0, NULL), 0);
	assert_int_equal(plan[0].shape.bufs, plan[0].shape.vectors);
}

static bool chains(const struct tor_call *call)
{
	return tor_auto_chains(&tor_rates_default, &map, call, sizeof(u64));
}

static void auto_chains__long_vectors(void **state)
{
	struct tor_call call = many(TORCOLL_EXSCAN, 1);
	struct tor_rates free_rounds = { .link = 320000, .byte = 60000 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(collectives); i++) {
		call = many(collectives[i], 1);
		assert_false(chains(&call));
		call.count = 1000;
		assert_false(chains(&call));
		call.count = LONG;
		assert_true(chains(&call));
		/* however fast: too much to gather */
		call.count = TOR_GATHERED_MAX / MANY / sizeof(u64) + 1;
		assert_true(chains(&call));
	}
	/* where only bytes cost time, a chain has fewer */
	call = many(TORCOLL_SCAN, 1000);
	call.param[TORCOLL_PARAM_BLOCKS] = MANY;
	assert_false(chains(&call));
	assert_true(tor_auto_chains(&free_rounds, &map, &call, sizeof(u64)));
}

static void auto_chains__what_was_asked_for(void **state)
{
	struct tor_call call = many(TORCOLL_SCAN, 1);

	call.algorithm = TORCOLL_RING;
	assert_true(chains(&call));
	call.count = LONG;
	call.algorithm = TORCOLL_CIRCULANT;
	assert_false(chains(&call));
	call.algorithm = TORCOLL_ALGO_AUTO;
	assert_true(chains(&call));
	call.param[TORCOLL_PARAM_EXCLUDE] = 1U << TORCOLL_TREE;
	assert_true(chains(&call));
	call.param[TORCOLL_PARAM_EXCLUDE] = 1U << TORCOLL_RING;
	assert_false(chains(&call));
	call.param[TORCOLL_PARAM_EXCLUDE] = 0;
	call.param[TORCOLL_PARAM_CHUNKS] = 2;
	assert_false(chains(&call));
	call.param[TORCOLL_PARAM_CHUNKS] = 0;
	/* more rounds than a frame can count */
	call.param[TORCOLL_PARAM_BLOCKS] = U16_MAX;
	assert_false(chains(&call));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_team__right),
		cmocka_unit_test(plan_team__refuses),
		cmocka_unit_test(plan_team__memory),
		cmocka_unit_test(auto_chains__long_vectors),
		cmocka_unit_test(auto_chains__what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
