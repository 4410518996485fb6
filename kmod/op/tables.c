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
	if (group->chooser)
		tor_chooser_free(group->chooser);
	kvfree(group->chooser);
}

int tor_tables_make(struct tor_group *group, u32 collective, const char **why)
{
	struct tor_chooser *chooser = group->chooser;
	u64 before;
	int err;

	if (tor_auto_is_prepared(chooser, collective))
		return 0;
	before = tor_chooser_memory(chooser);
	err = tor_auto_prepare(chooser, collective);
	if (err) {
		*why = "there is no memory for the tables of plans";
		return err;
	}
	if (tor_chooser_memory(chooser) == before)
		return 0;
	err = tor_group_charge(group, tor_chooser_memory(chooser) - before, why);
	if (err)
		tor_auto_forget(chooser, collective);
	return err;
}

u64 tor_tables_memory(const struct tor_group *group)
{
	/* pairs with tor_tables_init() */
	const struct tor_chooser *chooser = smp_load_acquire(&group->chooser);

	return chooser ? tor_chooser_memory(chooser) : 0;
}
