// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Names of algorithms and collectives. See plan.h. */
#include "plan.h"

static const char *const algorithm_names[TORCOLL_ALGO_COUNT] = {
	[TORCOLL_ALGO_AUTO] = "auto",
	[TORCOLL_SWING_BW] = "swing-bw",
	[TORCOLL_SWING_LAT] = "swing-lat",
	[TORCOLL_TRIVANCE_BW] = "trivance-bw",
	[TORCOLL_TRIVANCE_LAT] = "trivance-lat",
	[TORCOLL_CIRCULANT] = "circulant",
	[TORCOLL_GENERAL] = "general",
	[TORCOLL_RING] = "ring",
	[TORCOLL_HAMILTONIAN] = "hamiltonian",
	[TORCOLL_BUCKET] = "bucket",
	[TORCOLL_BIBUCKET] = "bibucket",
	[TORCOLL_RECDOUB_LAT] = "recdoub-lat",
	[TORCOLL_RECDOUB_BW] = "recdoub-bw",
	[TORCOLL_RECDOUB_BW_MIRRORED] = "recdoub-bw-mirrored",
	[TORCOLL_BRUCK_LAT] = "bruck-lat",
	[TORCOLL_BRUCK_BW] = "bruck-bw",
	[TORCOLL_WINDOW] = "window",
	[TORCOLL_FLOOD] = "flood",
	[TORCOLL_TREE] = "tree",
	[TORCOLL_MOORE] = "moore",
	[TORCOLL_ALLPORT] = "allport",
	[TORCOLL_BINE] = "bine",
};

static const char *const collective_names[TORCOLL_COLL_COUNT] = {
	[TORCOLL_ALLREDUCE] = "allreduce",
	[TORCOLL_REDUCE_SCATTER] = "reduce-scatter",
	[TORCOLL_ALLGATHER] = "allgather",
	[TORCOLL_BROADCAST] = "broadcast",
	[TORCOLL_REDUCE] = "reduce",
	[TORCOLL_BARRIER] = "barrier",
	[TORCOLL_GATHER] = "gather",
	[TORCOLL_SCATTER] = "scatter",
	[TORCOLL_ALLTOALL] = "alltoall",
	[TORCOLL_SCAN] = "scan",
	[TORCOLL_EXSCAN] = "exscan",
	[TORCOLL_HALO] = "halo",
	[TORCOLL_SEND] = "send",
	[TORCOLL_RECV] = "recv",
};

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
	return name_of(algorithm_names, TORCOLL_ALGO_COUNT, algorithm);
}

int tor_algorithm_parse(const char *name)
{
	return parse_name(algorithm_names, TORCOLL_ALGO_COUNT, name);
}

const char *tor_collective_name(u32 collective)
{
	return name_of(collective_names, TORCOLL_COLL_COUNT, collective);
}

int tor_collective_parse(const char *name)
{
	return parse_name(collective_names, TORCOLL_COLL_COUNT, name);
}
