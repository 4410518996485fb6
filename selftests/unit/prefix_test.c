// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Prefixes of addresses: what is one, which address a node has, and for how many nodes there are some. */
#include <string.h>
#include <sys/socket.h>

#include "host_env.h"

#include "../../tools/torcollctl/prefix.c"

static struct prefix parsed(int family, const char *text)
{
	const char *why = "";
	struct prefix p;

	if (!prefix_parse(&p, family, text, &why))
		fail_msg("%s %s", text, why);
	return p;
}

static void refused(int family, const char *text, const char *want)
{
	const char *why = "taken";
	struct prefix p;

	assert_false(prefix_parse(&p, family, text, &why));
	if (strncmp(why, want, strlen(want)))
		fail_msg("%s: \"%s\" instead of \"%s\"", text, why, want);
}

/* The address of a node. */
static void has(int family, const char *text, uint32_t node, const char *want)
{
	struct prefix p = parsed(family, text);
	char got[PREFIX_TEXT_SIZE];

	assert_string_equal(prefix_address_text(&p, node, got), want);
}

/* What is read is written again, in its shortest form. */
static void shown(int family, const char *text, const char *want)
{
	struct prefix p = parsed(family, text), again;
	char got[PREFIX_TEXT_SIZE];

	assert_string_equal(prefix_text(&p, got), want);
	again = parsed(family, got);
	assert_true(prefix_equal(&p, &again));
}

/* A prefix has addresses for so many nodes, and none for one more. */
static void holds(int family, const char *text, uint32_t most)
{
	struct prefix p = parsed(family, text);

	assert_true(prefix_holds(&p, most));
	assert_false(prefix_holds(&p, most + 1));
}

static void prefix__addresses(void **state)
{
	has(AF_INET, "10.7.0.0/24", 0, "10.7.0.1");
	has(AF_INET, "10.7.0.0/24", 15, "10.7.0.16");
	has(AF_INET, "10.7.0.100/24", 0, "10.7.0.100");
	has(AF_INET, "10.7.0.0/16", 255, "10.7.1.0");
	has(AF_INET, "10.255.255.254/8", 0, "10.255.255.254");
	has(AF_INET6, "fd00:7::/64", 0, "fd00:7::1");
	has(AF_INET6, "fd00:7::/64", 15, "fd00:7::10");
	has(AF_INET6, "fd00:7::ffff/64", 1, "fd00:7::1:0");
	has(AF_INET6, "fd00::ffff:ffff:ffff:ffff/32", 1, "fd00:0:0:1::");
}

static void prefix__text(void **state)
{
	shown(AF_INET, "10.7.0.0/24", "10.7.0.0/24");
	shown(AF_INET, "10.7.0.1/24", "10.7.0.0/24");
	shown(AF_INET, "10.7.0.2/24", "10.7.0.2/24");
	shown(AF_INET, "10.7.1.1/16", "10.7.1.1/16");
	shown(AF_INET6, "fd00:7::/64", "fd00:7::/64");
	shown(AF_INET6, "FD00:7:0:0::9/64", "fd00:7::9/64");
	shown(AF_INET6, "2001:db8:1:2:3:4:5:6/126", "2001:db8:1:2:3:4:5:6/126");
}

static void prefix__holds(void **state)
{
	struct prefix p;

	holds(AF_INET, "10.7.0.0/24", 254);
	holds(AF_INET, "10.7.0.100/24", 155);
	holds(AF_INET, "10.7.0.0/30", 2);
	holds(AF_INET, "10.7.0.0/16", 65534);
	holds(AF_INET6, "fd00:7::/120", 255);
	p = parsed(AF_INET6, "fd00:7::/64");
	assert_true(prefix_holds(&p, UINT32_MAX));
	/* beyond the last address there is */
	p = (struct prefix){ AF_INET6, 1, { [0 ... 15] = 0xff } };
	assert_true(prefix_holds(&p, 1));
	assert_false(prefix_holds(&p, 2));
}

static void prefix__refused(void **state)
{
	static const char *const v4[] = {
		"", "/", "10.7.0.0", "10.7.0.0/", "10.7.0.0/0", "10.7.0.0/31", "10.7.0.0/024",
		"10.7.0/24", "10.7.0.0/24x", "10.7.0.256/24", "fd00:7::/64", "10.7.0.0/+4",
		"1111111111111111111111111111111111111111111111111111/4", "10.7.0.0/4294967300",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(v4); i++)
		refused(AF_INET, v4[i], "is no IPv4 prefix such as 10.7.0.0/24");
	refused(AF_INET6, "10.7.0.0/24", "is no IPv6 prefix such as fd00:7::/64");
	refused(AF_INET6, "fd00:7::/127", "is no IPv6 prefix");
	refused(AF_INET, "127.0.0.0/8", "belongs to the host itself");
	refused(AF_INET, "0.0.0.0/8", "belongs to the host itself");
	refused(AF_INET, "224.0.0.0/8", "is multicast");
	refused(AF_INET6, "ff02::/64", "is multicast");
	refused(AF_INET6, "fe80::/64", "is link-local");
	refused(AF_INET6, "febf::/64", "is link-local");
	refused(AF_INET6, "::/64", "is reserved");
}

static void prefix__equal(void **state)
{
	struct prefix a = parsed(AF_INET, "10.7.0.0/24"), b = parsed(AF_INET, "10.7.0.1/24");
	struct prefix none = { .family = AF_INET }, other = { .family = AF_INET6 };

	assert_true(prefix_equal(&a, &b));
	assert_true(prefix_equal(&none, &other));
	assert_false(prefix_equal(&a, &none));
	b = parsed(AF_INET, "10.7.0.1/25");
	assert_false(prefix_equal(&a, &b));
	b = parsed(AF_INET, "10.7.0.2/24");
	assert_false(prefix_equal(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefix__addresses), cmocka_unit_test(prefix__text),
		cmocka_unit_test(prefix__holds), cmocka_unit_test(prefix__refused),
		cmocka_unit_test(prefix__equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
