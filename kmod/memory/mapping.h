/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watched mappings: whether a region's memory is still mapped in its process.
 * Pinned pages do not change, but munmap(), madvise(MADV_DONTNEED) and similar
 * calls put other pages, or none, at their addresses; the kernel's MMU
 * notifiers report that. A caller that keeps regions of memory managed by
 * others, as the library does, learns of it when an op is submitted.
 *
 * Fork and changes of protection do not count: the pages stay the parent's,
 * because they were pinned as exclusive ones. But both split a huge page, fork
 * since it is pinned, mprotect() if it changes a part of it; and a split is
 * reported as if the pages went (MMU_NOTIFY_CLEAR). To tell would take another
 * look at each page, while ops use the region: it counts as lost.
 */
#ifndef _TOR_MAPPING_H
#define _TOR_MAPPING_H

#include <linux/mmu_notifier.h>

#ifdef CONFIG_MMU_NOTIFIER

/**
 * struct tor_mapping - a watched range of addresses
 * @lost: other pages may be there; only tor_mapping_reset() clears it
 */
struct tor_mapping {
	struct mmu_interval_notifier notifier;
	bool lost;
};

/*
 * Watch the caller's memory. Context: process, may sleep. Return 0 or a
 * negative errno.
 */
int tor_mapping_watch(struct tor_mapping *mapping, u64 addr, u64 length);

/* Context: process, may sleep. */
void tor_mapping_end(struct tor_mapping *mapping);

static inline bool tor_mapping_lost(const struct tor_mapping *mapping)
{
	return READ_ONCE(mapping->lost);
}

/*
 * Start again, before pages are pinned. A change that has begun before either
 * has ended when this returns, or sets @lost afterwards: invalidate() has a
 * barrier between its number, for which mmu_interval_read_begin() waits, and
 * @lost. Context: process, may sleep.
 */
static inline void tor_mapping_reset(struct tor_mapping *mapping)
{
	/* before the number is read: pairs with invalidate() */
	smp_store_mb(mapping->lost, false);
	mmu_interval_read_begin(&mapping->notifier);
}

#else

struct tor_mapping {
};

static inline int tor_mapping_watch(struct tor_mapping *mapping, u64 addr, u64 length)
{
	return -EOPNOTSUPP;
}

static inline void tor_mapping_end(struct tor_mapping *mapping)
{
}

static inline bool tor_mapping_lost(const struct tor_mapping *mapping)
{
	return false;
}

static inline void tor_mapping_reset(struct tor_mapping *mapping)
{
}

#endif
#endif
