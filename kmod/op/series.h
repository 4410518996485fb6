/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series: ops that a comm numbers one after the other, with the slots that these are in. The collectives of a comm are
 * one series; messages to each rank are another, and messages from it.
 *
 * Those of messages are made when a process first sends there, or receives from there: no other node knows of that. They
 * stay as long as the comm, and the comm's user pays for them. Until then frames of such a message find nothing: see
 * tor_series_missing().
 *
 * Locking: group->pairs_lock is held while one is made. Once it is in group->pairs and in the list it stays there until
 * group_free(), so frames and dumps look for it under RCU, and calls by their reference of the group.
 */
#ifndef _TOR_SERIES_H
#define _TOR_SERIES_H

#include <linux/mutex.h>
#include <linux/rculist.h>

#include "op/group.h"

/* All of a group's series, that of the collectives first. Context: RCU, or a reference. */
#define tor_group_each_series(group, series) \
	list_for_each_entry_rcu(series, &(group)->series, list, true)

/* The op slots of a series are numbers modulo comm.depth. */
static inline struct tor_slot *tor_series_slot(const struct tor_series *series, u32 seq)
{
	return &series->slot[seq & (series->group->comm.depth - 1)];
}

static inline u32 tor_series_lanes(const struct tor_series *series)
{
	return series->group->comm.depth * series->channels;
}

/* Of handles: 0 the collectives, else one for each rank and role. */
static inline u32 tor_series_id(u8 role, u32 peer)
{
	return role ? 1 + 2 * peer + (role == TORCOLL_CHANNEL_RECV) : 0;
}

/* Bytes of slots and lanes. */
u64 tor_series_memory(const struct tor_comm *comm, u32 channels);

/**
 * tor_series_init - a series without ops, and list it
 * @series: zeroed, in a group with depth
 * @group: group
 * @role: 0: collectives; else TORCOLL_CHANNEL_SEND or _RECV, with @peer
 *
 * Return: 0 or -ENOMEM; tor_series_free() in either case.
 */
int tor_series_init(struct tor_series *series, struct tor_group *group, u8 role, u32 peer);
void tor_series_free(struct tor_series *series);

/* Free all that a group has for messages. */
void tor_series_free_pairs(struct tor_group *group);

/* The series of @id, or NULL. Context: RCU, or a reference. */
struct tor_series *tor_series_find(struct tor_group *group, u32 id);

/**
 * tor_series_get - the series of messages to or from a rank, made if there is none
 * @group: referenced by the caller
 * @role: TORCOLL_CHANNEL_SEND or _RECV
 * @peer: rank
 * @why: out: static sentence for a refusal, or unchanged
 *
 * Context: process. Return: the series, or ERR_PTR(-EDQUOT, -ENOMEM; -EOPNOTSUPP: too many ranks on a node; -ENOENT: the
 * comm was closed).
 */
struct tor_series *tor_series_get(struct tor_group *group, u8 role, u32 peer, const char **why);

/* A message from @rank found no series. Return: one that was made meanwhile, or NULL: @rank is invited when there is one. */
struct tor_series *tor_series_missing(struct tor_group *group, u32 rank);

/* No series is made any more: those that there are, are all. Context: process; the group is CLOSED or was never joined. */
void tor_series_settle(struct tor_group *group);

#endif
