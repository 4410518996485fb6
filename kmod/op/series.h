/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series: ops that a comm numbers consecutively, with their slots. The
 * collectives of a comm are one series. Messages to each rank are one, messages
 * from each rank another.
 *
 * A series of messages is made when a process first sends to or receives from a
 * rank; no other node knows of it. It stays as long as the comm, and the comm's
 * user pays for it. Until then frames of such a message find nothing: see
 * tor_series_missing().
 *
 * Locking: group->pairs_lock is held while one is made. Once it is in
 * group->pairs and in the list it stays there until group_free(), so frames and
 * dumps look for it under RCU, and calls by their reference to the group.
 */
#ifndef _TOR_SERIES_H
#define _TOR_SERIES_H

#include <linux/mutex.h>
#include <linux/rculist.h>

#include "op/group.h"

/*
 * Iterate over all series of a group, collectives first. Context: RCU, or a
 * reference.
 */
#define tor_group_each_series(group, series) \
	list_for_each_entry_rcu(series, &(group)->series, list, true)

/* Return the slot of op @seq: numbers modulo comm.depth. */
static inline struct tor_slot *tor_series_slot(const struct tor_series *series, u32 seq)
{
	return &series->slot[seq & (series->group->comm.depth - 1)];
}

static inline u32 tor_series_lanes(const struct tor_series *series)
{
	return series->group->comm.depth * series->channels;
}

/*
 * Return whether no slot of a series of messages is in use. A group may have
 * very many of them.
 */
static inline bool tor_series_is_free(const struct tor_series *series)
{
	return series->role && !READ_ONCE(series->results);
}

/* Return the part of handles: 0 for collectives, else one per rank and role. */
static inline u32 tor_series_id(u8 role, u32 peer)
{
	return role ? 1 + 2 * peer + (role == TOR_ROLE_RECV) : 0;
}

/* Return the bytes of slots and lanes. */
u64 tor_series_memory(const struct tor_comm *comm, u32 channels);

/**
 * tor_series_init - initialise a series without ops, and list it
 * @series: zeroed, in a group with depth
 * @group: group
 * @role: 0: collectives; else TOR_ROLE_SEND or TOR_ROLE_RECV, with @peer
 * @peer: rank
 *
 * Return: 0 or -ENOMEM; tor_series_free() in either case.
 */
int tor_series_init(struct tor_series *series, struct tor_group *group, u8 role, u32 peer);
void tor_series_free(struct tor_series *series);

/* Free all series of messages of a group. */
void tor_series_free_pairs(struct tor_group *group);

/* Return the series of @id, or NULL. Context: RCU, or a reference. */
struct tor_series *tor_series_find(struct tor_group *group, u32 id);

/**
 * tor_series_get - find or make the series of messages to or from a rank
 * @group: referenced by the caller
 * @role: TOR_ROLE_SEND or TOR_ROLE_RECV
 * @peer: rank
 * @why: out: static sentence for a refusal, or unchanged
 *
 * Context: process.
 * Return: the series, or ERR_PTR(-EDQUOT, -ENOMEM; -EOPNOTSUPP: too many ranks
 * on a node; -ENOENT: the comm was closed).
 */
struct tor_series *tor_series_get(struct tor_group *group, u8 role, u32 peer, const char **why);

/*
 * Handle a message from @rank without a series. Return one that was made
 * meanwhile, or NULL: @rank is invited when there is one.
 */
struct tor_series *tor_series_missing(struct tor_group *group, u32 rank);

/*
 * Wait until no call can make a series any more. Context: process; the group is
 * CLOSED or was never joined.
 */
void tor_series_settle(struct tor_group *group);

#endif
