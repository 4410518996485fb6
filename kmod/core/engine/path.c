// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Paths to other ranks. A rank exchanges frames with few of many, so paths are
 * made in groups of neighbouring ranks, when the first frame leaves for one of
 * them. Channels do that under locks of their own, so they may meet here.
 */
#include "core/engine/engine.h"

struct tor_path *tor_comm_path_make(struct tor_comm *comm, u32 place)
{
	struct tor_path **group = &comm->path[place / TOR_PATH_GROUP], *made, *other;

	made = tor_env_alloc(TOR_PATH_GROUP * sizeof(*made));
	if (!made)
		return &comm->nobody;
	other = cmpxchg(group, NULL, made);
	if (other) {
		tor_env_free(made);
		made = other;
	} else {
		atomic_add_return(1, &comm->path_groups);
	}
	return &made[place % TOR_PATH_GROUP];
}

u32 tor_comm_slowest(const struct tor_comm *comm)
{
	u32 i, k, slowest = 0;

	for (i = 0; comm->path && i < tor_path_groups(comm->ranks); i++) {
		const struct tor_path *group = READ_ONCE(comm->path[i]);

		tor_env_walked(i);
		for (k = 0; group && k < TOR_PATH_GROUP; k++)
			slowest = max(slowest, READ_ONCE(group[k].srtt) +
					       4 * READ_ONCE(group[k].rttvar));
	}
	return slowest;
}

void tor_comm_paths_free(struct tor_comm *comm)
{
	u32 i;

	for (i = 0; comm->path && i < tor_path_groups(comm->ranks); i++)
		tor_env_free(comm->path[i]);
}
