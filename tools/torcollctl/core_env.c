// SPDX-License-Identifier: GPL-2.0
/* The environment for core's plans, costs and frames. See core's env.h. */
#include "core/env.h"
#include "core/host_hash.h"

#include <stdlib.h>

void *tor_env_table_alloc(size_t n)
{
	return calloc(1, n ? n : 1);
}

/* A program that is being killed does not get that far. */
bool tor_env_killed(void)
{
	return false;
}

void tor_env_table_free(void *p)
{
	free(p);
}

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	return host_crc32c(crc, p, n);
}
