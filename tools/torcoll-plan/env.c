// SPDX-License-Identifier: GPL-2.0
/* What plans and their costs ask of their surroundings: memory. See env.h. Also torcollctl's. */
#include "core/env.h"

#include <stdlib.h>

void *tor_env_table_alloc(size_t n)
{
	return calloc(1, n ? n : 1);
}

void tor_env_table_free(void *p)
{
	free(p);
}
