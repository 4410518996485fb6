// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Verdicts on cables, at the boundaries of what is good, slow and bad. */
#include "host_env.h"

#include "../../tools/torcollctl/verdict.c"

#define MB	1000000ULL
#define GB	1000000000ULL

/* A good cable, like its siblings, at its link speed. */
static struct verdict_cable good(void)
{
	return (struct verdict_cable){
		.way = {
			{ .to = "node 5", .sent = 100000, .bps = 9 * GB, .usual_bps = 9 * GB },
			{ .to = "this node", .sent = 100000 },
		},
		.link_bps = 10 * GB,
		.rtt_ns = 300000,
		.usual_rtt_ns = 300000,
	};
}

static struct verdict judged(struct verdict_cable c)
{
	struct verdict v;

	verdict_judge(&v, &c);
	/* what is not good has a reason and an advice, and what is good has none */
	assert_int_equal(v.word != VERDICT_GOOD, v.reasons != 0);
	assert_int_equal(v.word != VERDICT_GOOD, v.advice != NULL);
	assert_in_range(v.share, 0, MILLION);
	return v;
}

static void has_reason(const struct verdict *v, enum verdict_word word, const char *reason)
{
	unsigned int i;

	assert_int_equal(v->word, word);
	for (i = 0; i < v->reasons; i++)
		if (strstr(v->reason[i], reason))
			return;
	fail_msg("no reason says \"%s\", but \"%s\"", reason, v->reason[0]);
}

static void verdict_judge__good(void **state)
{
	struct verdict_cable c = good();

	(void)state;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
	/* nothing to compare it with */
	c.way[0].usual_bps = c.link_bps = c.usual_rtt_ns = 0;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
	/* better than the others */
	c = good();
	c.way[0].usual_bps = MB;
	c.usual_rtt_ns = 20000000;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
}

static void verdict_judge__down(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.down = "the link is no-carrier";
	c.way[0].lost = 5;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "no-carrier");
	assert_int_equal(v.reasons, 1);
	assert_int_equal(v.share, MILLION);
}

static void verdict_judge__silent(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.silent = true;
	c.way[0].bps = 0;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "no test frame to node 5 was answered");
}

static void verdict_judge__lost(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.way[0].lost = 10;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
	c.way[0].lost = 11;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "11 of 100000 frames to node 5 were lost (0.0110 %)");
	assert_ptr_equal(v.advice, advice_lost);
	c.way[0].lost = 0;
	c.way[1].lost = 3000;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "3000 of 100000 frames to this node were lost (3.0 %)");
	assert_int_equal(v.share, 30000);
	assert_false(v.slow);
}

static void verdict_judge__damaged(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.way[1].damaged = 1;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "1 of 100000 frames to this node arrived damaged");
	/* the cable is to blame for what is lost as well */
	c.way[1].lost = 1000;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "were lost");
	assert_int_equal(v.reasons, 2);
	assert_ptr_equal(v.advice, advice_cable);
	/* counted, though no frame of the test came */
	c = good();
	c.way[1].sent = 0;
	c.way[1].damaged = 4;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "4 frames to this node arrived damaged");
}

static void verdict_judge__slower_than_siblings(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.link_bps = 0;
	c.way[0].bps = 6300 * MB;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
	c.way[0].bps = 6299 * MB;
	v = judged(c);
	has_reason(&v, VERDICT_SLOW, "6.30 Gb/s to node 5, 70 % of its siblings' 9.00 Gb/s (median)");
	assert_true(v.slow);
	c.way[0].bps = 2700 * MB;
	assert_int_equal(judged(c).word, VERDICT_SLOW);
	c.way[0].bps = 2699 * MB;
	assert_int_equal(judged(c).word, VERDICT_BAD);
	/* a thousand times slower */
	c.way[0].bps = 9 * MB;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "9.0 Mb/s to node 5, 0.1 % of its siblings' 9.00 Gb/s");
	/* the other direction */
	c = good();
	c.way[1].bps = 1 * GB;
	c.way[1].usual_bps = 9 * GB;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "to this node");
}

static void verdict_judge__slower_than_the_link(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.way[0].bps = 7000 * MB;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
	c.way[0].bps = c.way[0].usual_bps = 6999 * MB;
	v = judged(c);
	has_reason(&v, VERDICT_SLOW, "7.00 Gb/s to node 5, 70 % of the device's link speed, 10.00 Gb/s; its siblings are as slow");
	/* a host does not get faster by another measurement */
	assert_false(v.slow);
	c.way[0].bps = 100 * MB;
	c.way[0].usual_bps = 0;
	assert_int_equal(judged(c).word, VERDICT_SLOW);
	c.way[0].bps = 99 * MB;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "of the device's link speed");
	assert_null(strstr(v.reason[0], "siblings"));
}

/* Negotiated, or meant, to be slower than the others. */
static void verdict_judge__slow_link(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.link_bps = 1 * GB;
	c.way[0].bps = 940 * MB;
	v = judged(c);
	has_reason(&v, VERDICT_SLOW, "all that its link speed allows, 1.00 Gb/s");
	c.link_bps = 10 * MB;
	c.way[0].bps = 9 * MB;
	assert_int_equal(judged(c).word, VERDICT_BAD);
}

static void verdict_judge__round_trip(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	/* five times, and 1 ms more */
	c.rtt_ns = 1500000;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
	c.rtt_ns = 1500001;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "a round trip takes 1.5 ms, 5 times its siblings' 0.300 ms");
	assert_true(v.slow);
	c.usual_rtt_ns = 20000;
	c.rtt_ns = 1019999;
	assert_int_equal(judged(c).word, VERDICT_GOOD);
	c.rtt_ns = 1020000;
	assert_int_equal(judged(c).word, VERDICT_BAD);
}

/* A delay limits the rate of a test that waits for answers: one reason is enough. */
static void verdict_judge__round_trip_explains_rate(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.rtt_ns = 20000000;
	c.most_bps = 220 * MB;
	c.way[0].bps = 200 * MB;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "a round trip takes 20.0 ms");
	assert_int_equal(v.reasons, 1);
	c.way[0].bps = 20 * MB;
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "20.0 Mb/s to node 5, 9.1 % of its siblings' 220.0 Mb/s");
}

static void verdict_judge__device_errors(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;

	(void)state;
	c.errors = "3 collisions";
	v = judged(c);
	has_reason(&v, VERDICT_BAD, "the device counted 3 collisions");
}

static void verdict_judge__all_at_once(void **state)
{
	struct verdict_cable c = good();
	struct verdict v;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		c.way[i].lost = 5000;
		c.way[i].damaged = 100;
		c.way[i].bps = 1 * MB;
		c.way[i].usual_bps = 9 * GB;
	}
	c.rtt_ns = 90 * MB;
	c.errors = "3 collisions";
	v = judged(c);
	assert_int_equal(v.reasons, VERDICT_REASONS);
	/* the advice is that of the worst: a rate of nearly nothing */
	assert_ptr_equal(v.advice, advice_rate);
}

static void verdict_compare__worst_first(void **state)
{
	struct verdict bad = { .word = VERDICT_BAD, .share = 10 }, worse = { .word = VERDICT_BAD, .share = 20 };
	struct verdict slow = { .word = VERDICT_SLOW, .share = 500000 }, fine = { .word = VERDICT_GOOD };

	(void)state;
	assert_true(verdict_compare(&worse, &bad) < 0);
	assert_true(verdict_compare(&bad, &worse) > 0);
	assert_true(verdict_compare(&bad, &slow) < 0);
	assert_true(verdict_compare(&slow, &fine) < 0);
	assert_int_equal(verdict_compare(&bad, &bad), 0);
}

static void verdict_median__of_known(void **state)
{
	uint64_t none[] = { 0, 0 }, odd[] = { 9, 0, 1, 5 }, even[] = { 4, 3, 2, 1 };

	(void)state;
	assert_int_equal(verdict_median(none, 0, true), 0);
	assert_int_equal(verdict_median(none, 2, true), 0);
	assert_int_equal(verdict_median(odd, 4, true), 5);
	assert_int_equal(verdict_median(odd, 4, false), 5);
	assert_int_equal(verdict_median(even, 4, true), 3);
	assert_int_equal(verdict_median(even, 4, false), 2);
}

/* As of the others alone, for all small lists and each pair or single one of them. */
static void verdict_median_but__as_of_others(void **state)
{
	uint32_t code;

	(void)state;
	for (code = 0; code < 4 * 4 * 4 * 4 * 4; code++) {
		uint64_t all[5], others[5], own[2];
		uint32_t i, a, b, n;

		for (i = 0; i < 5; i++)
			all[i] = code >> 2 * i & 3;
		verdict_sort(all, 5);
		for (a = 0; a < 5; a++) {
			for (b = a; b < 5; b++) {
				for (i = n = 0; i < 5; i++)
					if (i != a && i != b)
						others[n++] = all[i];
				own[0] = all[a];
				own[1] = all[b];
				assert_int_equal(verdict_median_but(all, 5, own, 5 - n, true),
						 verdict_median(others, n, true));
				assert_int_equal(verdict_median_but(all, 5, own, 5 - n, false),
						 verdict_median(others, n, false));
			}
		}
	}
}

static void verdict_is_measure__of_siblings(void **state)
{
	struct verdict_cable c = good();

	(void)state;
	c.way[0].bps = 1;
	c.way[0].lost = 10;
	assert_true(verdict_is_measure(&c));
	c.way[0].lost = 11;
	assert_false(verdict_is_measure(&c));
	c = good();
	c.way[1].damaged = 1;
	assert_false(verdict_is_measure(&c));
	c = good();
	c.silent = true;
	assert_false(verdict_is_measure(&c));
	c = good();
	c.down = "down";
	assert_false(verdict_is_measure(&c));
}

static void verdict_share__texts(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(verdict_share(text, 0, 10), "0.0 %");
	assert_string_equal(verdict_share(text, 0, 0), "0.0 %");
	assert_string_equal(verdict_share(text, 1, 100000), "0.0010 %");
	assert_string_equal(verdict_share(text, 1, 100), "1.0 %");
	assert_string_equal(verdict_share(text, 1, 3), "33 %");
	assert_string_equal(verdict_rate(text, 999999), "1000.0 kb/s");
	assert_string_equal(verdict_rate(text, 2500000000), "2.50 Gb/s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdict_judge__good),
		cmocka_unit_test(verdict_judge__down),
		cmocka_unit_test(verdict_judge__silent),
		cmocka_unit_test(verdict_judge__lost),
		cmocka_unit_test(verdict_judge__damaged),
		cmocka_unit_test(verdict_judge__slower_than_siblings),
		cmocka_unit_test(verdict_judge__slower_than_the_link),
		cmocka_unit_test(verdict_judge__slow_link),
		cmocka_unit_test(verdict_judge__round_trip),
		cmocka_unit_test(verdict_judge__round_trip_explains_rate),
		cmocka_unit_test(verdict_judge__device_errors),
		cmocka_unit_test(verdict_judge__all_at_once),
		cmocka_unit_test(verdict_compare__worst_first),
		cmocka_unit_test(verdict_median__of_known),
		cmocka_unit_test(verdict_median_but__as_of_others),
		cmocka_unit_test(verdict_is_measure__of_siblings),
		cmocka_unit_test(verdict_share__texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
