// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The list of ranks' nodes: the form that old programs read as long as there is room, and one that has room for most. */
#include "host_env.h"

#include "../../tools/job/members.c"

#define RANKS	(1U << 20)

static uint32_t node[RANKS];

/* Read the list, slowly. Return the number of ranks; each is to be on its node. */
static uint32_t read_back(const char *s)
{
	uint32_t n = 0;

	for (;; s++) {
		uint32_t first = strtoul(s, (char **)&s, 10), last = first, times = 1, i;

		if (*s == '-')
			last = strtoul(s + 1, (char **)&s, 10);
		if (*s == '*')
			times = strtoul(s + 1, (char **)&s, 10);
		for (; first <= last; first++)
			for (i = 0; i < times; i++)
				assert_int_equal(node[n++], first);
		if (!*s)
			return n;
		assert_int_equal(*s, ',');
	}
}

static void lists(uint32_t ranks, const char *text)
{
	char *list = members_text(node, ranks);

	assert_non_null(list);
	assert_true(strlen(list) <= TEXT_MAX);
	if (text)
		assert_string_equal(list, text);
	assert_int_equal(read_back(list), ranks);
	free(list);
}

static void members_text__is_plain_while_there_is_room(void **state)
{
	static const uint32_t mixed[] = { 5, 5, 1, 2, 3, 1048575 };
	const uint32_t fit = (TEXT_MAX + 1) / 2;
	char *list;

	memcpy(node, mixed, sizeof(mixed));
	lists(6, "5,5,1,2,3,1048575");
	lists(1, "5");
	/* a digit and a comma each, to the last byte */
	memset(node, 0, sizeof(node));
	list = members_text(node, fit);
	assert_int_equal(strlen(list), 2 * fit - 1);
	free(list);
	assert_int_equal(fit, 65528);
	lists(fit + 1, "0*65529");
}

static void members_text__of_as_many_on_each_node(void **state)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		node[i] = i / 64;
	lists(RANKS, "0-16383*64");
	lists(RANKS - 1, "0-16382*64,16383*63");
	lists(64 * 1024, "0-1023*64");
	for (i = 0; i < RANKS; i++)
		node[i] = i;
	lists(RANKS, "0-1048575");
}

static void members_text__in_turns(void **state)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		node[i] = i % 1024;
	lists(65536, NULL);
	/* one, two, one, two */
	for (i = 0; i < RANKS; i++)
		node[i] = 2 * (i / 3) + !!(i % 3);
	lists(30000, NULL);
}

static void members_text__no_variable_is_so_long(void **state)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		node[i] = 2 * i;
	errno = 0;
	assert_null(members_text(node, RANKS));
	assert_int_equal(errno, E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_text__is_plain_while_there_is_room),
		cmocka_unit_test(members_text__of_as_many_on_each_node),
		cmocka_unit_test(members_text__in_turns),
		cmocka_unit_test(members_text__no_variable_is_so_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
