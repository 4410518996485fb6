// SPDX-License-Identifier: GPL-2.0
/*
 * Watched memory. See mapping.h.
 */
#include "memory/mapping.h"

#include <linux/sched.h>

#ifdef CONFIG_MMU_NOTIFIER

static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct tor_mapping *mapping = container_of(notifier, struct tor_mapping, notifier);

	mmu_interval_set_seq(notifier, seq);
	switch (range->event) {
	case MMU_NOTIFY_PROTECTION_VMA:
	case MMU_NOTIFY_PROTECTION_PAGE:
	case MMU_NOTIFY_SOFT_DIRTY:
		break;
	default:
		/* pairs with tor_mapping_reset() */
		smp_mb();
		WRITE_ONCE(mapping->lost, true);
	}
	return true;
}

static const struct mmu_interval_notifier_ops ops = {
	.invalidate = invalidate,
};

int tor_mapping_watch(struct tor_mapping *mapping, u64 addr, u64 length)
{
	return mmu_interval_notifier_insert(&mapping->notifier, current->mm, addr, length, &ops);
}

void tor_mapping_end(struct tor_mapping *mapping)
{
	mmu_interval_notifier_remove(&mapping->notifier);
}

#endif
