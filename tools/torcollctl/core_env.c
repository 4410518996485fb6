// SPDX-License-Identifier: GPL-2.0
/* What plans and their costs ask of their surroundings. See core's env.h. */
#include "env.h"

#include <stdlib.h>

void *tor_env_alloc(size_t n)
{
	return calloc(1, n ? n : 1);
}

void tor_env_free(void *p)
{
	free(p);
}
