/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Paths of a comm, made before any frame is sent, so that a test has no memory to free. */
#ifndef _MADE_PATHS_H
#define _MADE_PATHS_H

#include "core/engine/engine.h"

#define MADE_GROUPS	4

struct made_paths {
	struct tor_path *group[MADE_GROUPS];
	struct tor_path path[MADE_GROUPS][TOR_PATH_GROUP];
};

static inline struct tor_path **made_paths(struct made_paths *made)
{
	u32 i;

	memset(made, 0, sizeof(*made));
	for (i = 0; i < MADE_GROUPS; i++)
		made->group[i] = made->path[i];
	return made->group;
}

#endif
