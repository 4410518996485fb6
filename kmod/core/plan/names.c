// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Names of algorithms and collectives, and their lookup. See plan.h. */
#include "core/names.h"
#include "core/plan/plan.h"

static const char *name_of(const char *const *names, u32 count, u32 i)
{
	return i < count ? names[i] : NULL;
}

static int parse_name(const char *const *names, u32 count, const char *name)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -EINVAL;
}

const char *tor_algorithm_name(u32 algorithm)
{
	return name_of(tor_algorithm_names, TORCOLL_ALGO_COUNT, algorithm);
}

int tor_algorithm_parse(const char *name)
{
	return parse_name(tor_algorithm_names, TORCOLL_ALGO_COUNT, name);
}

const char *tor_collective_name(u32 collective)
{
	return collective ? name_of(tor_collective_names, TORCOLL_COLL_COUNT, collective) : NULL;
}

int tor_collective_parse(const char *name)
{
	int collective = parse_name(tor_collective_names, TORCOLL_COLL_COUNT, name);

	return collective == TORCOLL_COLL_NONE ? -EINVAL : collective;
}
