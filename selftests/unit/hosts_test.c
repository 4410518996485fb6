// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Names of nodes in a hosts file: which, where, and that all other lines stay as they are. */
#include <stdlib.h>
#include <string.h>

#include "host_env.h"

#include "../../tools/torcollctl/amount.c"
#include "../../tools/torcollctl/conf.c"
#include "../../tools/torcollctl/conf_check.c"
#include "../../tools/torcollctl/conf_name.c"
#include "../../tools/torcollctl/conf_value.c"
#include "../../tools/torcollctl/hosts.c"
#include "../../tools/torcollctl/prefix.c"

#define NODES	"[node a]\nindex = 0\n[node b.example.org]\nindex = 2\n"
#define BEGIN	"# begin of the nodes of torcoll's fabric 1\n"
#define END	"# end of the nodes of torcoll's fabric 1\n"
#define OURS	BEGIN "10.7.0.1\ta\n10.7.0.3\tb.example.org b\n" END
#define OTHERS	"127.0.0.1\tlocalhost\n# mine\n10.0.0.1 a\n"

static void setup(struct conf *conf, const char *settings)
{
	char text[512], error[256];

	snprintf(text, sizeof(text), "[fabric]\nkey = 1\ndims = 4\n%s" NODES, settings);
	if (conf_parse(conf, "-", text, strlen(text), error, sizeof(error)))
		fail_msg("%s", error);
}

static void prints(const char *settings, const char *want)
{
	char *got = NULL;
	struct conf conf;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	assert_non_null(out);
	setup(&conf, settings);
	hosts_print(out, &conf);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
	conf_free(&conf);
}

/* @text becomes @want, and that stays. */
static void merges(const char *text, bool remove, const char *want)
{
	char *once = NULL, *twice = NULL;
	struct conf conf;
	size_t size;
	FILE *out;

	setup(&conf, "ip = 10.7.0.0/24\n");
	out = open_memstream(&once, &size);
	assert_non_null(out);
	hosts_merge(out, &conf, text, strlen(text), remove);
	fclose(out);
	assert_string_equal(once, want);
	out = open_memstream(&twice, &size);
	assert_non_null(out);
	hosts_merge(out, &conf, once, strlen(once), remove);
	fclose(out);
	assert_string_equal(twice, want);
	free(once);
	free(twice);
	conf_free(&conf);
}

static void print__names(void **state)
{
	prints("", "");
	prints("ip-device = tor0\n", "");
	prints("ip = 10.7.0.0/24\n", "10.7.0.1\ta\n10.7.0.3\tb.example.org b\n");
	prints("ip6 = fd00:7::/64\nhost-suffix = -tor\n",
	       "fd00:7::1\ta-tor\nfd00:7::3\tb-tor.example.org b-tor\n");
	prints("ip = 10.7.0.9/24\nip6 = fd00:7::/64\n",
	       "10.7.0.9\ta\n10.7.0.11\tb.example.org b\n"
	       "fd00:7::1\ta\nfd00:7::3\tb.example.org b\n");
}

static void merge__adds(void **state)
{
	merges("", false, OURS);
	merges(OTHERS, false, OTHERS OURS);
	merges("127.0.0.1 localhost", false, "127.0.0.1 localhost\n" OURS);
}

static void merge__replaces(void **state)
{
	merges("x\n" BEGIN "10.7.0.1\told\n" END "y", false, "x\n" OURS "y");
	merges(BEGIN END OTHERS, false, OURS OTHERS);
	/* another fabric's stay */
	merges("# begin of the nodes of torcoll's fabric 11\nz\n"
	       "# end of the nodes of torcoll's fabric 11\n", false,
	       "# begin of the nodes of torcoll's fabric 11\nz\n"
	       "# end of the nodes of torcoll's fabric 11\n" OURS);
}

/* Halves of what was there take no lines of others with them. */
static void merge__broken(void **state)
{
	merges(BEGIN OTHERS, false, BEGIN OTHERS OURS);
	merges(END OTHERS, false, END OTHERS OURS);
	merges(BEGIN OTHERS BEGIN "10.7.0.1\told\n" END, false, BEGIN OTHERS OURS);
}

static void merge__removes(void **state)
{
	merges(OTHERS OURS "y\n", true, OTHERS "y\n");
	merges(OTHERS, true, OTHERS);
	merges("no end of line", true, "no end of line");
	merges(BEGIN OTHERS, true, BEGIN OTHERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(print__names), cmocka_unit_test(merge__adds),
		cmocka_unit_test(merge__replaces), cmocka_unit_test(merge__broken),
		cmocka_unit_test(merge__removes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
