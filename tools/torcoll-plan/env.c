// SPDX-License-Identifier: GPL-2.0
/*
 * The environment for plans and their costs: memory. See env.h. torcollctl uses
 * it too.
 */
#include "core/env.h"

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
