// SPDX-License-Identifier: GPL-2.0
/* Words of the command line: parsing, abbreviations, numbers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define KEYWORDS_MOST	32	/* of a command, which has a dozen at most */

/* The object whose command is executed, and whether its help would help. */
static const char *help_object;
static bool help_wanted;

/* Keywords that this command line has had, and the first one that it has had twice. */
static const char *keyword[KEYWORDS_MOST];
static size_t keywords;
static const char *repeated;

void args_begin(void)
{
	help_object = NULL;
	help_wanted = false;
	keywords = 0;
	repeated = NULL;
}

void args_hint(void)
{
	if (!help_wanted)
		return;
	if (help_object)
		fprintf(stderr, "\"torcollctl %s help\" tells more.\n", help_object);
	else
		fputs("\"torcollctl help\" tells more.\n", stderr);
}

static void args_complain(const char *fmt, va_list ap)
{
	const char *text = fmt_vstr(fmt, ap);

	fflush(stdout);
	fprintf(stderr, "Error: %s\n", fmt_plain(text));
}

int usage_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	args_complain(fmt, ap);
	va_end(ap);
	help_wanted = true;
	return CTL_USAGE;
}

int other_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	args_complain(fmt, ap);
	va_end(ap);
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

bool arg_once(const char *word)
{
	size_t i;

	for (i = 0; !repeated && i < keywords; i++)
		if (!strcmp(keyword[i], word))
			repeated = word;
	if (!repeated && keywords < KEYWORDS_MOST)
		keyword[keywords++] = word;
	return !repeated;
}

bool arg_is(struct args *a, const char *word)
{
	if (!a->argc || !*a->argv[0] || strncmp(a->argv[0], word, strlen(a->argv[0])))
		return false;
	/* "--prefix" is "prefix" */
	if (!arg_once(word + strspn(word, "-")))
		return false;
	arg_next(a);
	return true;
}

int arg_end(const struct args *a)
{
	if (repeated)
		return usage_error("\"%s\" is given twice", repeated);
	return a->argc ? usage_error("\"%s\" is not expected here", a->argv[0]) : CTL_OK;
}

/* Aliases of a command, as "list" of "show", are one and the same. */
static bool never_same(const void *a, const void *b)
{
	return false;
}

static bool same_command(const void *a, const void *b)
{
	return ((const struct command *)a)->run == ((const struct command *)b)->run;
}

/* As word_find(); a word may abbreviate several names if they are the same. */
static int find(const char *word, const void *names, size_t n, size_t size, const char *what,
		bool (*same)(const void *a, const void *b))
{
	size_t len = strlen(word);
	const void *found = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		const void *entry = (const char *)names + i * size;
		const char *name = *(const char *const *)entry;

		if (!strcmp(word, name))
			return i;
		if (!len || strncmp(word, name, len))
			continue;
		if (found && !same(found, entry)) {
			usage_error("\"%s\" may be %s or %s", word, *(const char *const *)found, name);
			return -1;
		}
		found = found ? found : entry;
	}
	if (!found)
		usage_error("\"%s\" is no %s", word, what);
	return found ? (int)(((const char *)found - (const char *)names) / size) : -1;
}

int word_find(const char *word, const void *names, size_t n, size_t size, const char *what)
{
	return find(word, names, n, size, what, never_same);
}

int command_run(struct args *a, const struct command *commands, size_t n, int fallback,
		const char *help)
{
	const char *word = arg_next(a);
	int i = fallback, first = 0;

	if (word && (!strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help"))) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (word)
		i = find(word, commands, n, sizeof(*commands), help_object ? "command" : "object",
			 same_command);
	else if (i < 0)
		fputs(help, stderr);
	if (i < 0)
		return CTL_USAGE;
	/* an alias stands behind its command */
	while (!same_command(&commands[first], &commands[i]))
		first++;
	if (!help_object)
		help_object = commands[first].name;
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
