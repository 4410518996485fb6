// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Descriptors: the last number that is right and the first that is not, what each collective takes and has no use for, and
 * the sentences. Everything between is the fuzzer's.
 */
#include "host_env.h"

#include "core/engine/desc.h"
#include "core/engine/parts.h"

#define RANKS	6

static struct torcoll_submit desc;
static char why[TOR_DESC_TEXT];

static bool is_good(void)
{
	why[0] = '\0';
	return !tor_desc_check(&desc, RANKS, true, why);
}

static void set(u32 collective)
{
	desc = (struct torcoll_submit) {
		.collective = collective, .type = TORCOLL_F32, .count = 10,
		.redop = tor_collective_reduces(collective) ? TORCOLL_SUM : 0,
	};
	if (collective == TORCOLL_BARRIER) {
		desc.type = 0;
		desc.count = 0;
	}
}

/* A member takes @last, and refuses what comes behind it in these words. */
#define check_last(member, last, words)				\
	do {							\
		desc.member = (last);				\
		assert_true(is_good());				\
		desc.member = (last) + 1;			\
		assert_false(is_good());			\
		assert_string_equal(why, words);		\
		desc.member = 0;				\
	} while (0)

static void tor_desc_check__every_collective(void **state)
{
	u32 c;

	(void)state;
	for (c = 1; c < TORCOLL_COLL_COUNT; c++) {
		set(c);
		assert_true(is_good());
	}
	set(TORCOLL_COLL_COUNT);
	assert_false(is_good());
	assert_non_null(strstr(why, "unknown collective"));
	set(0);
	assert_false(is_good());
}

static void tor_desc_check__last_numbers(void **state)
{
	char text[TOR_DESC_TEXT];

	(void)state;
	set(TORCOLL_REDUCE);
	check_last(root, RANKS - 1, "root 6 of 6 ranks");
	check_last(count, TOR_COUNT_MAX, "576460752303423488 elements are too many");
	check_last(param[TORCOLL_PARAM_R], U16_MAX, "parameter 1 is out of range");
	snprintf(text, sizeof(text), "unknown algorithm %u", TORCOLL_ALGO_COUNT);
	check_last(algorithm, TORCOLL_ALGO_COUNT - 1, text);
	snprintf(text, sizeof(text), "unknown bit level %u", TORCOLL_BITS_COUNT);
	check_last(bits, TORCOLL_BITS_COUNT - 1, text);
	snprintf(text, sizeof(text), "unknown operator %u", TORCOLL_REDOP_COUNT);
	check_last(redop, TORCOLL_REDOP_COUNT - 1, text);
	desc.redop = TORCOLL_SUM;
	snprintf(text, sizeof(text), "unknown type %u", TORCOLL_TYPE_COUNT);
	check_last(type, TORCOLL_TYPE_COUNT - 1, text);
	set(TORCOLL_SEND);
	check_last(peer, RANKS - 1, "peer 6 of 6 ranks");
	/* bits, not a number */
	set(TORCOLL_ALLREDUCE);
	desc.param[TORCOLL_PARAM_EXCLUDE] = U32_MAX;
	assert_true(is_good());
}

static void tor_desc_check__flags(void **state)
{
	(void)state;
	set(TORCOLL_ALLREDUCE);
	desc.flags = TORCOLL_OP_RING | TORCOLL_OP_NOWAIT;
	assert_true(is_good());
	desc.flags = TORCOLL_OP_RING | TORCOLL_OP_TRY;
	assert_true(is_good());
	assert_int_equal(tor_desc_check(&desc, RANKS, false, why), -EINVAL);
	assert_string_equal(why, "the file has no completion ring");
	desc.flags = TORCOLL_OP_RING | TORCOLL_OP_WAIT;
	assert_false(is_good());
	desc.flags = TORCOLL_OP_WAIT | TORCOLL_OP_NOWAIT;
	assert_true(is_good());
	desc.wait_ns = 1;
	assert_true(is_good());
	desc.flags = TORCOLL_OP_NOWAIT;
	assert_false(is_good());
	assert_string_equal(why, "the end of a wait without TORCOLL_OP_WAIT");
	desc.wait_ns = 0;
	desc.flags = TORCOLL_OP_FLAGS + 1;
	assert_false(is_good());
	assert_string_equal(why, "unknown flags 0x20");
}

/* A member must be 0 in a collective, which these words say. */
#define check_unused(coll, member, words)			\
	do {							\
		set(coll);					\
		desc.member = 1;				\
		assert_false(is_good());			\
		assert_string_equal(why, words);		\
	} while (0)

static void tor_desc_check__what_is_not_used(void **state)
{
	(void)state;
	check_unused(TORCOLL_ALLREDUCE, root, "allreduce has no root");
	check_unused(TORCOLL_ALLREDUCE, counts, "allreduce has no counts");
	check_unused(TORCOLL_ALLREDUCE, recv_counts, "allreduce has no receive counts");
	check_unused(TORCOLL_ALLREDUCE, peer, "an unused member is not zero");
	check_unused(TORCOLL_ALLREDUCE, scalar, "an unused member is not zero");
	check_unused(TORCOLL_ALLGATHER, redop, "allgather has no operator");
	check_unused(TORCOLL_BARRIER, count, "barrier has no elements");
	check_unused(TORCOLL_BARRIER, type, "barrier has no elements");
	check_unused(TORCOLL_ALLTOALL, counts, "send counts or receive counts are missing");
	check_unused(TORCOLL_ALLTOALL, recv_counts, "send counts or receive counts are missing");
	desc.counts = 1;
	assert_true(is_good());
	set(TORCOLL_SCATTER);
	desc.counts = 1;
	assert_true(is_good());
	set(TORCOLL_ALLREDUCE);
	desc.redop = TORCOLL_PREMULSUM;
	desc.scalar = 1;
	assert_true(is_good());
}

static void tor_desc_counts_fit__last_sum(void **state)
{
	u64 counts[] = { 5, 0, TOR_COUNT_MAX - 5, 0 };

	(void)state;
	assert_true(tor_desc_counts_fit(counts, 4));
	counts[3] = 1;
	assert_false(tor_desc_counts_fit(counts, 4));
	counts[3] = U64_MAX;
	assert_false(tor_desc_counts_fit(counts, 4));
	assert_true(tor_desc_counts_fit(counts, 3));
}

static void tor_parts_overlap__by_a_byte(void **state)
{
	(void)state;
	assert_false(tor_parts_overlap(100, 10, 110, 10));
	assert_true(tor_parts_overlap(100, 11, 110, 10));
	assert_true(tor_parts_overlap(110, 10, 100, 11));
	assert_true(tor_parts_overlap(100, 30, 110, 10));
	assert_false(tor_parts_overlap(105, 0, 100, 10));
	assert_false(tor_parts_overlap(100, 10, 105, 0));
}

static void tor_parts_in_place__the_own_block(void **state)
{
	const struct tor_part whole = { .len = 60 }, block = { .off = 20, .len = 10 }, none = {};

	(void)state;
	assert_true(tor_parts_in_place(1000, &whole, 1020, &block));
	assert_true(tor_parts_in_place(1020, &block, 1000, &whole));
	assert_false(tor_parts_in_place(1000, &whole, 1000, &block));
	assert_false(tor_parts_in_place(1000, &whole, 1000, &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_desc_check__every_collective),
		cmocka_unit_test(tor_desc_check__last_numbers),
		cmocka_unit_test(tor_desc_check__flags),
		cmocka_unit_test(tor_desc_check__what_is_not_used),
		cmocka_unit_test(tor_desc_counts_fit__last_sum),
		cmocka_unit_test(tor_parts_overlap__by_a_byte),
		cmocka_unit_test(tor_parts_in_place__the_own_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
