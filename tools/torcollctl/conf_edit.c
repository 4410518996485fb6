// SPDX-License-Identifier: GPL-2.0
/* The file of a fabric: changing the rates, and nothing else, in its text. */
#include <string.h>

#include "conf.h"

/* Take a line, its newline included. Return its length. */
static size_t next_line(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end ? (size_t)(end - text) + 1 : len;
}

/* Return where the line's text begins. */
static size_t skip_space(const char *line, size_t len)
{
	size_t at = 0;

	while (at < len && (line[at] == ' ' || line[at] == '\t'))
		at++;
	return at;
}

/* Return whether the line is the header "[NAME]". */
static bool is_header(const char *line, size_t len, const char *name)
{
	size_t at = skip_space(line, len);

	if (at == len || line[at] != '[')
		return false;
	at++;
	at += skip_space(line + at, len - at);
	if (len - at <= strlen(name) || memcmp(line + at, name, strlen(name)))
		return false;
	at += strlen(name);
	at += skip_space(line + at, len - at);
	return at < len && line[at] == ']';
}

/* Return whether the line is neither empty nor a comment only. */
static bool says_something(const char *line, size_t len)
{
	size_t at = skip_space(line, len);

	return at < len && !strchr("#\r\n", line[at]);
}

bool conf_is_fabric(const char *text, size_t len)
{
	size_t n;

	for (; len; text += n, len -= n) {
		n = next_line(text, len);
		if (is_header(text, n, "fabric"))
			return true;
	}
	return false;
}

void conf_with_rates(FILE *out, const char *text, size_t len, const uint64_t rate[CONF_RATES])
{
	bool inside = false, done = false, newline = true;
	size_t n;

	for (; len; text += n, len -= n) {
		n = next_line(text, len);
		if (text[skip_space(text, n - 1)] == '[')
			inside = is_header(text, n, "rates");
		if (inside && says_something(text, n)) {
			if (!done)
				conf_print_rates(out, rate);
			done = true;
			newline = true;
			continue;
		}
		fwrite(text, 1, n, out);
		newline = text[n - 1] == '\n';
	}
	if (!done) {
		fputs(newline ? "\n" : "\n\n", out);
		conf_print_rates(out, rate);
	}
}
