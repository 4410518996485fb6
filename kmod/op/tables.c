// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of plans. See tables.h.
 */
#include "op/tables.h"

#include <linux/slab.h>

#include "core/choose/auto.h"

int tor_tables_alloc(struct tor_group *group, const char **why)
{
	int err = tor_group_charge(group, sizeof(*group->chooser), why);

	if (err)
		return err;
	group->chooser = kvzalloc(sizeof(*group->chooser), GFP_KERNEL_ACCOUNT);
	return group->chooser ? 0 : -ENOMEM;
}

void tor_tables_init(struct tor_group *group, const struct tor_rates *rates)
{
	tor_chooser_init(group->chooser, &group->fabric->node.torus, group->comm.member,
			 group->comm.ranks, rates);
	group->comm.chooser = group->chooser;
}

void tor_tables_free(struct tor_group *group)
{
	mutex_lock(&group->fabric->tables_lock);
	list_del_init(&group->tables);
	mutex_unlock(&group->fabric->tables_lock);
	if (group->chooser)
		tor_chooser_free(group->chooser);
	kvfree(group->chooser);
}

/* Return the tables of a group with the same ranks, or NULL. Context: tables_lock. */
static const struct tor_chooser *tables_alike(const struct tor_group *group, u32 collective)
{
	const struct tor_group *other;

	list_for_each_entry(other, &group->fabric->tables, tables) {
		/* lists of ranks have up to 4 MiB */
		cond_resched();
		if (other != group && (other->has_tables & BIT(collective)) &&
		    tor_chooser_is_like(group->chooser, other->chooser))
			return other->chooser;
	}
	return NULL;
}

/* Copy them from another group. Return 0, -ENOENT if none has them, -ENOMEM or -EINTR. */
static int tables_copy(struct tor_group *group, u32 collective)
{
	const struct tor_chooser *from;
	int err;

	err = mutex_lock_killable(&group->fabric->tables_lock);
	if (err)
		return err;
	from = tables_alike(group, collective);
	err = from ? tor_auto_copy(group->chooser, from, collective) : -ENOENT;
	mutex_unlock(&group->fabric->tables_lock);
	return err;
}

/* Let others copy them; what is published does not change any more. */
static void tables_publish(struct tor_group *group, u32 collective)
{
	mutex_lock(&group->fabric->tables_lock);
	/* the tables before the bit: pairs with tor_tables_are_made() */
	smp_store_release(&group->has_tables, group->has_tables | BIT(collective));
	if (list_empty(&group->tables))
		list_add(&group->tables, &group->fabric->tables);
	mutex_unlock(&group->fabric->tables_lock);
}

int tor_tables_make(struct tor_group *group, u32 collective, const char **why)
{
	struct tor_chooser *chooser = group->chooser;
	u64 before;
	int err;

	/* those that look for tables ask for those of an allreduce, not of a barrier */
	collective = tor_auto_planned_as(collective);
	if (tor_auto_is_prepared(chooser, collective))
		return 0;
	before = tor_chooser_memory(chooser);
	err = tables_copy(group, collective);
	if (err == -ENOENT)
		err = tor_auto_prepare(chooser, collective);
	if (err) {
		*why = err == -EINTR ? "interrupted" : "there is no memory for the tables of plans";
		return err;
	}
	err = tor_group_charge(group, tor_chooser_memory(chooser) - before, why);
	if (err)
		tor_auto_forget(chooser, collective);
	else
		tables_publish(group, collective);
	return err;
}

bool tor_tables_are_made(const struct tor_group *group, u32 collective)
{
	collective = tor_auto_planned_as(collective);
	if (collective >= TOR_CHOSEN_COLLECTIVES)
		return true;
	/* pairs with tables_publish() */
	return smp_load_acquire(&group->has_tables) & BIT(collective);
}
