// SPDX-License-Identifier: MIT
/* Choosing a fabric. See fabric.h. */
#include "fabric.h"

#include <number.h>

bool tmpi_fabric_parse(const char *text, struct tmpi_fabric *wanted)
{
	const char *end;
	uint64_t key;

	if (!text || !*text)
		return true;
	if (!torcoll__parse_number(text, UINT64_MAX, &key, &end) || *end)
		return false;
	*wanted = (struct tmpi_fabric){ .named = true, .key = key };
	return true;
}

const struct torcoll_fabric *tmpi_fabric_pick(const struct tmpi_fabric *wanted,
					      const struct torcoll_fabric *list, int room, int n)
{
	for (int i = 0; i < n && i < room; i++)
		if (wanted->named ? list[i].key == wanted->key : n == 1)
			return &list[i];
	return NULL;
}
