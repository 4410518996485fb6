// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Circulant schedules: Table 1 of the paper, the four conditions of section 2, the bounds on calls and
 * violations, for all p to an argument (default: 700) and samples of larger ones.
 */
#include "host_env.h"

#include "plan_circulant.h"

static u32 all_to = 700;

struct schedule {
	s8 recv[24], send[24];
};

static struct schedule *schedules(struct tor_circulant *c, u32 p)
{
	struct schedule *s = calloc(p, sizeof(*s));
	u32 r;

	tor_circulant_init(c, p);
	for (r = 0; r < p; r++) {
		assert_true(tor_circulant_recv(c, r, s[r].recv) + 1 <= max(1u, c->q));
		assert_true(tor_circulant_send(c, r, s[r].send) <= 4);
	}
	return s;
}

/* The round in which the first block comes. */
static s32 base_of(const struct tor_circulant *c, const s8 *recv)
{
	s32 b = c->q;
	u32 k;

	for (k = 0; k < c->q; k++)
		if (recv[k] >= 0)
			b = recv[k];
	return b;
}

static void check_rank(const struct tor_circulant *c, const struct schedule *s, u32 r)
{
	u32 k, i, to, from, seen = 0;
	s32 b = base_of(c, s[r].recv), block;

	for (k = 0; k < c->q; k++) {
		to = (r + c->skip[k]) % c->p;
		from = (r + c->p - c->skip[k]) % c->p;
		/* 1, 2: both ends agree, but for what would go to the root */
		if (to)
			assert_int_equal(s[r].send[k], s[to].recv[k]);
		if (r)
			assert_int_equal(s[r].recv[k], s[from].send[k]);
		/* 3: over q rounds all of -1 .. -q, with b in place of b - q */
		block = s[r].recv[k];
		seen |= 1u << (block >= 0 ? block : block + (s32)c->q);
		assert_true(block < 0 || (r && block == b));
		/* 4: what is sent came before, or q rounds earlier, or is the base block */
		block = s[r].send[k];
		if (!r || !to || (k == 0 && block == b - (s32)c->q))
			continue;
		for (i = 0; i < k && s[r].recv[i] != block; i++)
			;
		assert_true(i < k || block == b - (s32)c->q);
	}
	assert_int_equal(seen, (1u << c->q) - 1);
}

static void check(u32 p)
{
	struct tor_circulant c;
	struct schedule *s = schedules(&c, p);
	u32 r;

	for (r = 0; r < p; r++)
		check_rank(&c, s, r);
	free(s);
}

static void circulant__table_1(void **state)
{
	static const s8 table[5][17] = {
		{ -4, 0, -5, -4, -3, -5, -2, -5, -4, -3, -1, -5, -4, -3, -5, -2, -5 },
		{ -5, -4, 1, -5, -4, -3, -3, -2, -5, -4, -3, -1, -5, -4, -3, -3, -2 },
		{ -2, -2, -2, 2, 0, -4, -4, -3, -2, -2, -4, -3, -1, -1, -4, -4, -3 },
		{ -1, -3, -3, -2, -2, 3, 0, 1, 2, -5, -2, -2, -2, -2, -1, -1, -1 },
		{ -3, -1, -1, -1, -1, -1, -1, -1, -1, 4, 0, 1, 2, 0, 3, 0, 1 },
	};
	struct tor_circulant c;
	struct schedule *s = schedules(&c, 17);
	u32 k, r;

	for (k = 0; k < 5; k++)
		for (r = 0; r < 17; r++)
			assert_int_equal(s[r].recv[k], table[k][r]);
	free(s);
}

static void circulant__all_small(void **state)
{
	u32 p;

	for (p = 2; p <= all_to; p++)
		check(p);
}

static void circulant__larger(void **state)
{
	static const u32 larger[] = { 1023, 1024, 1025, 4097, 9999, 65535, 65536, 65537 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(larger); i++)
		check(larger[i]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(circulant__table_1),
		cmocka_unit_test(circulant__all_small),
		cmocka_unit_test(circulant__larger),
	};

	if (argc > 1)
		all_to = atoi(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
