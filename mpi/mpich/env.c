// SPDX-License-Identifier: MIT
/* Numbers in the environment: see env.h. */
#include "env.h"

#include <number.h>
#include <stdlib.h>

/* Whether the text is a number that is not below the least one; which it is. */
static bool parse(const char *text, uint64_t least, uint64_t *value)
{
	const char *end;
	uint64_t n;

	if (!torcoll__parse_number(text, UINT64_MAX, &n, &end) || *end || n < least)
		return false;
	*value = n;
	return true;
}

static bool env_read(const char *name, uint64_t least, uint64_t *value)
{
	const char *text = getenv(name);

	return !text || !*text || parse(text, least, value);
}

bool preload_env_number(const char *name, uint64_t *value)
{
	return env_read(name, 0, value);
}

bool preload_env_key(const char *name, uint64_t *key)
{
	return env_read(name, 1, key);
}
