// SPDX-License-Identifier: MIT
/* Numbers in the environment: see env.h. */
#include "env.h"

#include <number.h>
#include <stdlib.h>

bool preload_env_number(const char *name, uint64_t *value)
{
	const char *text = getenv(name), *end;
	uint64_t n;

	if (!text || !*text)
		return true;
	if (!torcoll__parse_number(text, UINT64_MAX, &n, &end) || *end)
		return false;
	*value = n;
	return true;
}
