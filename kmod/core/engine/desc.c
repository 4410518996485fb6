// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Descriptors. See desc.h.
 */
#include "core/engine/desc.h"

#include "core/wire/wire.h"

#define refuse(why, ...)	(snprintf(why, TOR_DESC_TEXT, __VA_ARGS__), -EINVAL)

u8 tor_desc_role(const struct torcoll_submit *desc)
{
	switch (desc->collective) {
	case TORCOLL_SEND:
		return TOR_ROLE_SEND;
	case TORCOLL_RECV:
		return TOR_ROLE_RECV;
	default:
		return 0;
	}
}

static int check_flags(const struct torcoll_submit *desc, bool ring, char *why)
{
	if (desc->flags & ~TORCOLL_OP_FLAGS)
		return refuse(why, "unknown flags %#x", desc->flags);
	if (desc->wait_ns && !(desc->flags & TORCOLL_OP_WAIT))
		return refuse(why, "the end of a wait without TORCOLL_OP_WAIT");
	if (!(desc->flags & TORCOLL_OP_RING))
		return 0;
	if (desc->flags & TORCOLL_OP_WAIT)
		return refuse(why, "an op that is waited for cannot post to the ring");
	return ring ? 0 : refuse(why, "the file has no completion ring");
}

static int check_numbers(const struct torcoll_submit *desc, u32 ranks, char *why)
{
	u32 i;

	if ((!desc->type && desc->collective != TORCOLL_BARRIER) ||
	    desc->type >= TORCOLL_TYPE_COUNT)
		return refuse(why, "unknown type %u", desc->type);
	if (desc->redop >= TORCOLL_REDOP_COUNT ||
	    (!desc->redop && tor_collective_reduces(desc->collective)))
		return refuse(why, "unknown operator %u", desc->redop);
	if (desc->algorithm >= TORCOLL_ALGO_COUNT)
		return refuse(why, "unknown algorithm %u", desc->algorithm);
	if (desc->bits >= TORCOLL_BITS_COUNT)
		return refuse(why, "unknown bit level %u", desc->bits);
	if (desc->root >= ranks)
		return refuse(why, "root %u of %u ranks", desc->root, ranks);
	if (desc->peer >= ranks)
		return refuse(why, "peer %u of %u ranks", desc->peer, ranks);
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		if (desc->param[i] > U16_MAX && i != TORCOLL_PARAM_EXCLUDE)
			return refuse(why, "parameter %u is out of range", i);
	if (desc->count > TOR_COUNT_MAX)
		return refuse(why, "%llu elements are too many", desc->count);
	return 0;
}

/* Check that fields a collective does not use are 0. */
static int check_unused(const struct torcoll_submit *desc, char *why)
{
	const char *name = tor_collective_name(desc->collective);

	if ((desc->peer && !tor_desc_role(desc)) ||
	    (desc->scalar && desc->redop != TORCOLL_PREMULSUM))
		return refuse(why, "an unused member is not zero");
	if (desc->collective == TORCOLL_BARRIER && (desc->count || desc->type))
		return refuse(why, "%s has no elements", name);
	if (desc->redop && !tor_collective_reduces(desc->collective))
		return refuse(why, "%s has no operator", name);
	if (desc->root && !tor_collective_has_root(desc->collective))
		return refuse(why, "%s has no root", name);
	if (desc->collective == TORCOLL_ALLTOALL)
		return !desc->counts == !desc->recv_counts ? 0 :
		       refuse(why, "send counts or receive counts are missing");
	if (desc->recv_counts)
		return refuse(why, "%s has no receive counts", name);
	if (desc->counts && !tor_collective_has_blocks(desc->collective))
		return refuse(why, "%s has no counts", name);
	return 0;
}

int tor_desc_check(const struct torcoll_submit *desc, u32 ranks, bool ring, char *why)
{
	int err = check_flags(desc, ring, why);

	if (err)
		return err;
	if (!desc->collective || desc->collective >= TORCOLL_COLL_COUNT)
		return refuse(why, "unknown collective %u", desc->collective);
	err = check_numbers(desc, ranks, why);
	return err ? err : check_unused(desc, why);
}

bool tor_desc_counts_fit(const u64 *counts, u32 ranks)
{
	u64 left = TOR_COUNT_MAX;
	u32 i;

	for (i = 0; i < ranks; i++) {
		if (counts[i] > left)
			return false;
		left -= counts[i];
	}
	return true;
}
