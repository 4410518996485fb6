// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What auto stands for. See auto.h.
 */
#include "auto.h"

/* Vectors of up to so many bytes want the fewest messages; longer ones the least bytes per cable. */
#define FEW_MESSAGES_MAX	(32 << 10)
#define CANDIDATES		2

struct candidates {
	u8 few_messages[CANDIDATES];
	u8 few_bytes[CANDIDATES];
};

/* The last one of each serves any list of nodes. */
static const struct candidates candidates[TORCOLL_COLL_COUNT] = {
	[TORCOLL_ALLREDUCE] = { { TORCOLL_TREE }, { TORCOLL_BIBUCKET, TORCOLL_RING } },
	[TORCOLL_REDUCE_SCATTER] = { { TORCOLL_CIRCULANT }, { TORCOLL_BIBUCKET, TORCOLL_RING } },
	[TORCOLL_ALLGATHER] = { { TORCOLL_CIRCULANT }, { TORCOLL_BIBUCKET, TORCOLL_RING } },
	[TORCOLL_BROADCAST] = { { TORCOLL_TREE }, { TORCOLL_CIRCULANT } },
	[TORCOLL_REDUCE] = { { TORCOLL_TREE }, { TORCOLL_CIRCULANT } },
	[TORCOLL_BARRIER] = { { TORCOLL_TREE }, { TORCOLL_TREE } },
	[TORCOLL_GATHER] = { { TORCOLL_TREE }, { TORCOLL_TREE } },
	[TORCOLL_SCATTER] = { { TORCOLL_TREE }, { TORCOLL_TREE } },
};

int tor_auto_plan(struct tor_plan *p, const struct tor_plan_req *req, u32 elem, u32 rank,
		  const char **why)
{
	const struct candidates *c = &candidates[req->collective];
	const u8 *candidate = req->count <= FEW_MESSAGES_MAX / elem ? c->few_messages : c->few_bytes;
	struct tor_plan_req named = *req;
	int err = -EOPNOTSUPP;
	u32 i;

	*why = "no algorithm serves this collective";
	for (i = 0; i < CANDIDATES && candidate[i] && err == -EOPNOTSUPP; i++) {
		named.algorithm = candidate[i];
		err = tor_plan_init(p, &named, rank, why);
	}
	return err;
}
