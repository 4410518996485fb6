// SPDX-License-Identifier: GPL-2.0
/* Words of the command line: parsing, abbreviations, numbers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

int usage_error(const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = fmt_vstr(fmt, ap);
	va_end(ap);
	fflush(stdout);
	fprintf(stderr, "Error: %s\n", fmt_plain(text));
	return CTL_USAGE;
}

char *arg_next(struct args *a)
{
	if (!a->argc)
		return NULL;
	a->argc--;
	return *a->argv++;
}

char *arg_need(struct args *a, const char *what)
{
	char *word = arg_next(a);

	if (!word)
		usage_error("%s is missing", what);
	return word;
}

bool arg_is(struct args *a, const char *word)
{
	if (!a->argc || !*a->argv[0] || strncmp(a->argv[0], word, strlen(a->argv[0])))
		return false;
	arg_next(a);
	return true;
}

int arg_end(const struct args *a)
{
	return a->argc ? usage_error("\"%s\" is not expected here", a->argv[0]) : CTL_OK;
}

int word_find(const char *word, const void *names, size_t n, size_t size, const char *what)
{
	size_t len = strlen(word);
	int found = -1;
	size_t i;

	for (i = 0; i < n; i++) {
		const char *name = *(const char *const *)((const char *)names + i * size);

		if (!strcmp(word, name))
			return i;
		if (len && !strncmp(word, name, len)) {
			if (found >= 0) {
				usage_error("\"%s\" may be %s or %s", word,
					    *(const char *const *)((const char *)names +
								   found * size), name);
				return -1;
			}
			found = i;
		}
	}
	if (found < 0)
		usage_error("\"%s\" is no %s", word, what);
	return found;
}

int command_run(struct args *a, const struct command *commands, size_t n, int fallback,
		const char *help)
{
	const char *word = arg_next(a);
	int i = fallback;

	if (word && (!strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help"))) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (word)
		i = word_find(word, commands, n, sizeof(*commands), "command");
	if (i < 0) {
		fputs(help, stderr);
		return CTL_USAGE;
	}
	return commands[i].run(a);
}

int parse_u64(const char *s, const char *what, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(s, &end, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	if (*s < '0' || *s > '9' || *end)
		return usage_error("%s: \"%s\" is not a whole number", what, s);
	if (errno || *value > max)
		return usage_error("%s: %s is more than %llu", what, s, (unsigned long long)max);
	return 0;
}

int parse_u32(const char *s, const char *what, uint32_t *value)
{
	uint64_t wide;

	if (parse_u64(s, what, UINT32_MAX, &wide))
		return CTL_USAGE;
	*value = wide;
	return 0;
}

int arg_u64(struct args *a, const char *what, uint64_t *value)
{
	const char *s = arg_need(a, what);

	return s ? parse_u64(s, what, UINT64_MAX, value) : CTL_USAGE;
}

int arg_u32(struct args *a, const char *what, uint32_t *value)
{
	const char *s = arg_need(a, what);

	return s ? parse_u32(s, what, value) : CTL_USAGE;
}
