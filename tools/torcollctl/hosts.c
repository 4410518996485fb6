// SPDX-License-Identifier: GPL-2.0
/* Names of a fabric's nodes in the form of hosts(5), and their place in a file. Pure. */
#include <stdio.h>
#include <string.h>

#include "hosts.h"

#define MARK_SIZE	80

/* "lab0-tor.example.org lab0-tor" */
static void print_names(FILE *out, const char *name, const char *suffix)
{
	int label = strcspn(name, ".");

	fprintf(out, "%.*s%s%s", label, name, suffix, name + label);
	if (name[label])
		fprintf(out, " %.*s%s", label, name, suffix);
}

void hosts_print(FILE *out, const struct conf *conf)
{
	char text[PREFIX_TEXT_SIZE];
	size_t family, i;

	for (family = 0; family < IP_FAMILIES; family++) {
		const struct prefix *prefix = &conf->ip.prefix[family];

		for (i = 0; prefix->len && i < conf->nodes; i++) {
			fprintf(out, "%s\t", prefix_address_text(prefix, conf->node[i].index, text));
			print_names(out, conf->node[i].name, conf->suffix);
			fputc('\n', out);
		}
	}
}

/* --- their place in a file --- */

struct part {
	const char *text;
	size_t len;
};

static void mark(char text[MARK_SIZE], const struct conf *conf, const char *which)
{
	snprintf(text, MARK_SIZE, "# %s of the nodes of torcoll's fabric %llu\n", which,
		 (unsigned long long)conf->fabric.key);
}

/* Take a line, with its end, from the front. */
static struct part next_line(struct part *rest)
{
	const char *end = memchr(rest->text, '\n', rest->len);
	struct part line = { rest->text, end ? (size_t)(end - rest->text) + 1 : rest->len };

	rest->text += line.len;
	rest->len -= line.len;
	return line;
}

static bool is_line(const struct part *line, const char *text)
{
	return line->len == strlen(text) && !memcmp(line->text, text, line->len);
}

/*
 * Find the lines of the fabric, from the last "begin" before an "end", so that
 * lines of others are never taken for some. Return where they begin and end,
 * both the end of the text if there are none.
 */
static struct part find_block(const struct conf *conf, const char *text, size_t len)
{
	struct part rest = { text, len }, found = { text + len, 0 };
	char begin[MARK_SIZE], end[MARK_SIZE];
	const char *from = NULL;

	mark(begin, conf, "begin");
	mark(end, conf, "end");
	while (rest.len && !found.len) {
		struct part line = next_line(&rest);

		if (is_line(&line, begin))
			from = line.text;
		else if (from && is_line(&line, end))
			found = (struct part){ from, rest.text - from };
	}
	return found;
}

static void print_block(FILE *out, const struct conf *conf)
{
	char text[MARK_SIZE];

	mark(text, conf, "begin");
	fputs(text, out);
	hosts_print(out, conf);
	mark(text, conf, "end");
	fputs(text, out);
}

void hosts_merge(FILE *out, const struct conf *conf, const char *text, size_t len, bool remove)
{
	struct part old = find_block(conf, text, len);
	size_t before = old.text - text;

	fwrite(text, 1, before, out);
	if (!remove) {
		if (before && text[before - 1] != '\n')
			fputc('\n', out);
		print_block(out, conf);
	}
	fwrite(old.text + old.len, 1, len - before - old.len, out);
}
