// SPDX-License-Identifier: GPL-2.0
/* The nodes of ranks, as TORCOLL_MEMBERS lists them. See members.h. */
#include "members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Linux allows so much for a variable with its name and end, with pages of 4 KiB. */
#define VARIABLE_MAX	(32 * 4096)
#define TEXT_MAX	(VARIABLE_MAX - sizeof("TORCOLL_MEMBERS="))

static void put_plain(FILE *to, const uint32_t *node, uint32_t ranks)
{
	uint32_t i;

	for (i = 0; i < ranks; i++)
		fprintf(to, i ? ",%u" : "%u", node[i]);
}

/* Return how many ranks in a row are on the node of the first. */
static uint32_t ranks_there(const uint32_t *node, uint32_t ranks)
{
	uint32_t n = 1;

	while (n < ranks && node[n] == node[0])
		n++;
	return n;
}

/* Nodes in their order that have as many ranks each: "0-3*2". */
static void put_runs(FILE *to, const uint32_t *node, uint32_t ranks)
{
	uint32_t at = 0;

	while (at < ranks) {
		uint32_t first = node[at], last = first;
		uint32_t times = ranks_there(node + at, ranks - at);

		fprintf(to, at ? ",%u" : "%u", first);
		at += times;
		while (at < ranks && node[at] == last + 1 &&
		       ranks_there(node + at, ranks - at) == times) {
			at += times;
			last++;
		}
		if (last != first)
			fprintf(to, "-%u", last);
		if (times > 1)
			fprintf(to, "*%u", times);
	}
}

/* Return what is written, or NULL with errno. */
static char *text_of(void (*put)(FILE *to, const uint32_t *node, uint32_t ranks),
		     const uint32_t *node, uint32_t ranks)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	int err = ENOMEM;

	if (to) {
		put(to, node, ranks);
		if (!ferror(to))
			err = 0;
		if (fclose(to))
			err = ENOMEM;
	}
	if (!err && len > TEXT_MAX)
		err = E2BIG;
	if (!err)
		return text;
	free(text);
	errno = err;
	return NULL;
}

char *members_text(const uint32_t *node, uint32_t ranks)
{
	char *text = text_of(put_plain, node, ranks);

	return text || errno != E2BIG ? text : text_of(put_runs, node, ranks);
}
