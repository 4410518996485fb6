// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of plans. See tables.h.
 */
#include "op/tables.h"

#include <linux/slab.h>

#include "core/choose/auto.h"

int tor_tables_init(struct tor_group *group, const struct tor_rates *rates, const char **why)
{
	struct tor_chooser *chooser = kvzalloc(sizeof(*chooser), GFP_KERNEL_ACCOUNT);
	int err;

	if (!chooser)
		return -ENOMEM;
	err = tor_group_charge(group, sizeof(*chooser), why);
	if (err) {
		kvfree(chooser);
		return err;
	}
	tor_chooser_init(chooser, &group->fabric->node.torus, group->comm.member,
			 group->comm.ranks, rates);
	group->comm.chooser = chooser;
	/* an heir gets its own late: pairs with tor_tables_memory() */
	smp_store_release(&group->chooser, chooser);
	return 0;
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

/* Return the tables of a group with the same ranks, or NULL. */
static const struct tor_chooser *tables_alike(const struct tor_group *group, u32 collective)
{
	const struct tor_group *other;

	list_for_each_entry(other, &group->fabric->tables, tables)
		if (other != group && tor_auto_is_prepared(other->chooser, collective) &&
		    tor_chooser_is_like(group->chooser, other->chooser))
			return other->chooser;
	return NULL;
}

/* Make or copy them. Context: tables_lock. */
static int tables_prepare(struct tor_group *group, u32 collective)
{
	const struct tor_chooser *from = tables_alike(group, collective);

	if (from)
		return tor_auto_copy(group->chooser, from, collective);
	return tor_auto_prepare(group->chooser, collective);
}

/* Keep new tables, if the user may have that much. Context: tables_lock. */
static int tables_charge(struct tor_group *group, u32 collective, u64 bytes, const char **why)
{
	int err = tor_group_charge(group, bytes, why);

	if (err)
		tor_auto_forget(group->chooser, collective);
	else if (list_empty(&group->tables))
		list_add(&group->tables, &group->fabric->tables);
	return err;
}

int tor_tables_make(struct tor_group *group, u32 collective, const char **why)
{
	struct tor_chooser *chooser = group->chooser;
	u64 before;
	int err;

	if (tor_auto_is_prepared(chooser, collective))
		return 0;
	mutex_lock(&group->fabric->tables_lock);
	before = tor_chooser_memory(chooser);
	err = tables_prepare(group, collective);
	if (err)
		*why = "there is no memory for the tables of plans";
	else if (tor_chooser_memory(chooser) != before)
		err = tables_charge(group, collective, tor_chooser_memory(chooser) - before, why);
	mutex_unlock(&group->fabric->tables_lock);
	return err;
}

u64 tor_tables_memory(const struct tor_group *group)
{
	/* pairs with tor_tables_init() */
	const struct tor_chooser *chooser = smp_load_acquire(&group->chooser);

	return chooser ? tor_chooser_memory(chooser) : 0;
}
