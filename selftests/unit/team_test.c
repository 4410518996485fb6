// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Which ranks share a node, and whose message a frame is about.
 */
#include "host_env.h"
#include "core/seats.h"

#define RANKS	20

static u32 member[RANKS], words[TOR_TEAM_MAP_WORDS(TOR_TEAM_PAIR_SEATS + RANKS)];
static u64 seed;

/* As the header says, for any list. */
static void tor_team_map_make__by_definition(void **state)
{
	struct tor_team_map map;
	u32 i, k, rank, ranks, nodes, on[RANKS], seen[RANKS];

	for (i = 0; i < 1000; i++) {
		ranks = 1 + host_rand(&seed) % RANKS;
		for (rank = 0; rank < ranks; rank++)
			member[rank] = on[rank] = 3 + host_rand(&seed) % (1 + i % RANKS);
		tor_team_map_make(&map, member, ranks, words);
		assert_int_equal(map.ranks, ranks);
		memset(seen, 0, sizeof(seen));
		for (nodes = 0, rank = 0; rank < ranks; rank++) {
			k = tor_team_node(&map, rank);
			/* nodes are numbered as they come, seats as well */
			assert_true(k <= nodes && k < map.nodes);
			nodes += k == nodes;
			assert_int_equal(member[k], on[rank]);
			assert_int_equal(tor_team_seat(&map, rank), seen[k]++);
			assert_int_equal(tor_team_rank_in(&map, k, tor_team_seat(&map, rank)), rank);
			assert_int_equal(map.rank[tor_team_place(&map, rank)], rank);
		}
		assert_int_equal(map.nodes, nodes);
		assert_int_equal(map.first[nodes], ranks);
		for (k = 0; k < nodes; k++)
			assert_int_equal(tor_team_seats(&map, k), seen[k]);
	}
}

static void tor_team_map_make__order(void **state)
{
	static const u32 in[] = { 3, 3, 1, 9, 9 }, apart[] = { 3, 1, 3, 9, 1 };
	static const u32 nodes[] = { 3, 1, 9 }, places[] = { 0, 2, 1, 4, 3 };
	struct tor_team_map map;

	memcpy(member, in, sizeof(in));
	tor_team_map_make(&map, member, 5, words);
	assert_true(map.in_order);
	assert_memory_equal(member, nodes, sizeof(nodes));
	memcpy(member, apart, sizeof(apart));
	tor_team_map_make(&map, member, 5, words);
	assert_false(map.in_order);
	assert_memory_equal(member, nodes, sizeof(nodes));
	assert_memory_equal(map.rank, places, sizeof(places));
}

/* Both ends find each other by what one of them has put into a frame. */
static void tor_team_find_pair__of_all(void **state)
{
	static u32 on[4 + TOR_TEAM_PAIR_SEATS] = { 7, 4, 9, 4, 4, 9 };
	u32 from, to, seat, peer;
	struct tor_team_map map;

	for (from = 6; from < ARRAY_SIZE(on); from++)
		on[from] = 9;
	tor_team_map_make(&map, on, ARRAY_SIZE(on), words);
	assert_int_equal(tor_team_seats(&map, 2), TOR_TEAM_PAIR_SEATS);
	for (from = 0; from < map.ranks; from++) {
		for (to = 0; to < map.ranks; to++) {
			u32 a = tor_team_node(&map, from), b = tor_team_node(&map, to);
			u16 pair = tor_team_pair(tor_team_seat(&map, from), tor_team_seat(&map, to));

			assert_true(tor_team_find_pair(&map, a, b, pair, true, &seat, &peer));
			assert_int_equal(tor_team_rank_in(&map, a, seat), from);
			assert_int_equal(peer, to);
			assert_true(tor_team_find_pair(&map, b, a, pair, false, &seat, &peer));
			assert_int_equal(tor_team_rank_in(&map, b, seat), to);
			assert_int_equal(peer, from);
		}
	}
}

/* What a frame says may be anything. */
static void tor_team_find_pair__none_such(void **state)
{
	u32 on[] = { 0, 5, 5, 5 }, seat, peer, pair, found = 0;
	struct tor_team_map map;

	tor_team_map_make(&map, on, ARRAY_SIZE(on), words);
	for (pair = 0; pair <= U16_MAX; pair++) {
		if (!tor_team_find_pair(&map, 0, 1, pair, true, &seat, &peer))
			continue;
		assert_int_equal(seat, 0);
		assert_in_range(peer, 1, 3);
		found++;
	}
	assert_int_equal(found, 3);
	assert_false(tor_team_find_pair(&map, 1, 0, tor_team_pair(3, 0), true, &seat, &peer));
	assert_false(tor_team_find_pair(&map, 1, 0, tor_team_pair(0, 1), true, &seat, &peer));
	assert_false(tor_team_find_pair(&map, 1, 0, tor_team_pair(1, 0), false, &seat, &peer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_team_map_make__by_definition),
		cmocka_unit_test(tor_team_map_make__order),
		cmocka_unit_test(tor_team_find_pair__of_all),
		cmocka_unit_test(tor_team_find_pair__none_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
