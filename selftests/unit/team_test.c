// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Which ranks share a node, and whose message a frame is about.
 */
#include "host_env.h"
#include "core/team.h"

static void tor_team_fold__runs(void **state)
{
	u32 member[] = { 5, 5, 2, 7, 7, 7 }, first[ARRAY_SIZE(member) + 1];
	const struct tor_team_map map = { 6, 3, first };
	static const u32 seat[] = { 0, 1, 0, 0, 1, 2 }, node[] = { 0, 0, 1, 2, 2, 2 };
	u32 rank;

	assert_int_equal(tor_team_fold(member, 6, first), 3);
	assert_int_equal(member[0], 5);
	assert_int_equal(member[1], 2);
	assert_int_equal(member[2], 7);
	assert_int_equal(first[3], 6);
	for (rank = 0; rank < 6; rank++) {
		assert_int_equal(tor_team_node(&map, rank), node[rank]);
		assert_int_equal(tor_team_seat(&map, rank), seat[rank]);
		assert_int_equal(tor_team_rank_in(&map, node[rank], seat[rank]), rank);
	}
}

/* Both ends find each other by what one of them has put into a frame. */
static void tor_team_find_pair__of_all(void **state)
{
	static const u32 first[] = { 0, 1, 4, 4 + TOR_TEAM_PAIR_SEATS };
	const struct tor_team_map map = { 4 + TOR_TEAM_PAIR_SEATS, 3, first };
	u32 from, to, seat, peer;

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
	static const u32 first[] = { 0, 1, 4 };
	const struct tor_team_map map = { 4, 2, first };
	u32 seat, peer, pair, found = 0;

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
		cmocka_unit_test(tor_team_fold__runs),
		cmocka_unit_test(tor_team_find_pair__of_all),
		cmocka_unit_test(tor_team_find_pair__none_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
