// SPDX-License-Identifier: GPL-2.0
/* The nodes of a virtual torus, by the files that iproute2 keeps of namespaces. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "netns_list.h"

/* Return the node of a file name, or -1. */
static int64_t node_of_name(const char *prefix, const char *name)
{
	size_t n = strlen(prefix);
	uint64_t node;
	char *end;

	if (strncmp(name, prefix, n) || name[n] != '-' || !isdigit(name[n + 1]))
		return -1;
	name += n + 1;
	if (*name == '0' && name[1])
		return -1;
	node = strtoull(name, &end, 10);
	return *end || node > UINT32_MAX ? -1 : (int64_t)node;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

uint32_t netns_list(const char *prefix, uint32_t **node)
{
	DIR *dir = opendir(NETNS_DIR);
	struct dirent *entry;
	uint32_t n = 0;

	*node = NULL;
	while (dir && (entry = readdir(dir))) {
		int64_t found = node_of_name(prefix, entry->d_name);
		uint32_t *more;

		if (found < 0)
			continue;
		more = realloc(*node, (n + 1) * sizeof(**node));
		if (!more)
			break;
		*node = more;
		more[n++] = found;
	}
	if (dir)
		closedir(dir);
	if (n)
		qsort(*node, n, sizeof(**node), by_value);
	return n;
}
