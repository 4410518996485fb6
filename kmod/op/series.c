// SPDX-License-Identifier: GPL-2.0
/*
 * Series. See series.h.
 */
#include "op/series.h"

#include <linux/slab.h>

#include "core/engine/pair.h"
#include "memory/buffers.h"
#include "op/endpoint.h"

u64 tor_series_memory(const struct tor_comm *comm, u32 channels)
{
	return comm->depth * (sizeof(struct tor_slot) + channels * sizeof(struct tor_lane));
}

/*
 * Return the pair number of its frames; 0 if there are none, or a node is a
 * rank.
 */
static u16 pair_of(const struct tor_series *series)
{
	const struct tor_group *group = series->group;

	return series->role ? group->kind->pair(group, series->role, series->peer) : 0;
}

static void init_slot(struct tor_series *series, u32 seq)
{
	struct tor_slot *slot = &series->slot[seq];

	slot->group = series->group;
	slot->series = series;
	slot->lane = &series->lanes[seq * series->channels];
	slot->op.comm = &series->group->comm;
	slot->op.role = series->role;
	slot->op.peer = series->peer;
	slot->op.pair = pair_of(series);
	tor_slot_init(slot);
}

int tor_series_init(struct tor_series *series, struct tor_group *group, u8 role, u32 peer)
{
	const struct tor_comm *comm = &group->comm;
	u32 i;

	series->group = group;
	series->role = role;
	series->peer = peer;
	series->channels = role ? 1 : comm->channels;
	series->next_seq = 1;
	mutex_init(&series->submit);
	series->slot = kvcalloc(comm->depth, sizeof(*series->slot), GFP_KERNEL_ACCOUNT);
	series->lanes = kvcalloc(tor_series_lanes(series), sizeof(*series->lanes),
				 GFP_KERNEL_ACCOUNT);
	if (!series->slot || !series->lanes)
		return -ENOMEM;
	for (i = 0; i < comm->depth; i++)
		init_slot(series, i);
	/* op numbers start at 1, so slot 0's first op is number depth */
	for (i = 0; i < tor_series_lanes(series); i++) {
		u32 slot = i / series->channels;

		tor_lane_init(&series->lanes[i], &series->slot[slot], i % series->channels,
			      slot ? slot : comm->depth);
	}
	return 0;
}

void tor_series_free(struct tor_series *series)
{
	u32 i;

	for (i = 0; series->slot && i < series->group->comm.depth; i++)
		if (series->slot[i].scratch)
			tor_pages_put(series->slot[i].scratch);
	kvfree(series->slot);
	kvfree(series->lanes);
}

void tor_series_free_pairs(struct tor_group *group)
{
	struct tor_series *series;
	unsigned long id;

	xa_for_each(&group->pairs, id, series) {
		tor_series_free(series);
		kfree(series);
	}
	xa_destroy(&group->pairs);
}

struct tor_series *tor_series_find(struct tor_group *group, u32 id)
{
	return id ? xa_load(&group->pairs, id) : &group->calls;
}

/* Invite a sender that has waited since before its messages had slots. */
static void series_invite(struct tor_series *series)
{
	struct tor_entry entry;
	u32 i;

	for (i = 0; i < series->group->comm.depth; i++) {
		struct tor_lane *lane = series->slot[i].lane;

		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		spin_lock(&lane->lock);
		tor_pair_invite(&entry.ctx, &lane->chan);
		spin_unlock(&lane->lock);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
	}
}

static struct tor_series *make(struct tor_group *group, u8 role, u32 peer)
{
	struct tor_series *series = kzalloc(sizeof(*series), GFP_KERNEL_ACCOUNT);
	int err;

	if (!series)
		return ERR_PTR(-ENOMEM);
	err = tor_series_init(series, group, role, peer);
	if (!err)
		err = xa_reserve(&group->pairs, tor_series_id(role, peer), GFP_KERNEL_ACCOUNT);
	if (err) {
		tor_series_free(series);
		kfree(series);
		return ERR_PTR(err);
	}
	/*
	 * a call that finds the series may begin an op, which a concurrent
	 * abort of all ops must see; a reserved entry needs no memory
	 */
	list_add_tail_rcu(&series->list, &group->series);
	xa_store(&group->pairs, tor_series_id(role, peer), series, 0);
	return series;
}

static struct tor_series *make_charged(struct tor_group *group, u8 role, u32 peer, const char **why)
{
	u64 bytes = sizeof(struct tor_series) + tor_series_memory(&group->comm, 1);
	struct tor_series *series;
	int err;

	if (test_bit(TOR_GROUP_CLOSED, &group->flags)) {
		*why = "the comm was closed meanwhile";
		return ERR_PTR(-ENOENT);
	}
	err = group->kind->reach(group, peer, why);
	if (!err)
		err = tor_group_charge(group, bytes, why);
	if (err)
		return ERR_PTR(err);
	series = make(group, role, peer);
	if (IS_ERR(series))
		tor_group_uncharge(group, bytes);
	return series;
}

struct tor_series *tor_series_get(struct tor_group *group, u8 role, u32 peer, const char **why)
{
	u32 id = tor_series_id(role, peer);
	struct tor_series *series = tor_series_find(group, id);

	if (series)
		return series;
	mutex_lock(&group->pairs_lock);
	series = tor_series_find(group, id);
	if (!series)
		series = make_charged(group, role, peer, why);
	mutex_unlock(&group->pairs_lock);
	if (IS_ERR(series) || role == TOR_ROLE_SEND)
		return series;
	/* published before the test: pairs with tor_series_missing() */
	smp_mb();
	if (test_and_clear_bit(peer, group->refused))
		series_invite(series);
	return series;
}

struct tor_series *tor_series_missing(struct tor_group *group, u32 rank)
{
	set_bit(rank, group->refused);
	/*
	 * pairs with tor_series_get(): it sees the bit, or this sees the series
	 */
	smp_mb__after_atomic();
	return tor_series_find(group, tor_series_id(TOR_ROLE_RECV, rank));
}

void tor_series_settle(struct tor_group *group)
{
	/* calls that have not seen CLOSED are finished */
	mutex_lock(&group->pairs_lock);
	mutex_unlock(&group->pairs_lock);
}
