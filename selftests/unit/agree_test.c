// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What a chief tells, in portions, while ranks answer. */
#include "host_env.h"

#include "core/agree/agree.h"

#define RANKS	4
#define ENTRIES	300		/* several messages for each rank */

static bool accepted[RANKS];
static u32 first_told[RANKS];	/* entry with which each rank's list began */

static bool concerns(const struct tor_agree *a, u32 rank)
{
	(void)a;
	return !accepted[rank];
}

static void say(struct tor_ctx *ctx, const struct tor_agree *a, u32 rank, u32 first)
{
	(void)ctx;
	(void)a;
	if (first_told[rank] == TOR_NO_RANK)
		first_told[rank] = first;
}

/* A rank accepts in the middle of its list, which a message before this one made it do: the next one hears all of its own. */
static void tor_agree_tell__each_list_from_its_beginning(void **state)
{
	static const struct tor_agree_policy policy = { .concerns = concerns, .say = say, .words = 1 };
	struct tor_agree a = {
		.policy = &policy, .told = RANKS, .ranks = ENTRIES, .unit = 1400,
		.seldom = NSEC_PER_SEC, .interval = TOR_AGREE_REPEAT,
	};
	struct tor_ctx ctx = { .now = NSEC_PER_SEC };
	u32 i, left = 5;

	(void)state;
	memset(first_told, ~0, sizeof(first_told));
	tor_agree_tell_all(&ctx, &a, TOR_AGREE_ACCEPTING, &left);
	assert_int_equal(a.turn, 1);
	assert_int_not_equal(a.part, 0);
	accepted[1] = true;
	left = 64;
	tor_agree_tell(&ctx, &a, &left);
	assert_false(tor_agree_is_telling(&a));
	for (i = 0; i < RANKS; i++)
		assert_int_equal(first_told[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_agree_tell__each_list_from_its_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
