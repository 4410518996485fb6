/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since 6.5 pages of a file that is written back cannot be pinned for long and for writing: whoever writes to them by the pin,
 * at any time, does so behind the file system's back, which has cleaned them. Before, that has to be asked.
 */
#ifndef _TOR_COMPAT_PIN_H
#define _TOR_COMPAT_PIN_H

#include <linux/backing-dev.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)

static inline bool tor_pin_may_stay(struct page *page)
{
	return true;
}

#else

/* Of a page that was just pinned, longterm and writable: those of private mappings are anonymous by now. */
static inline bool tor_pin_may_stay(struct page *page)
{
	struct address_space *mapping;
	bool may;

	if (PageAnon(page) || PageHuge(page))
		return true;
	rcu_read_lock();
	/* gone: truncated, so that nobody writes it back */
	mapping = page_mapping(page);
	may = !mapping || !mapping->host || !mapping_can_writeback(mapping);
	rcu_read_unlock();
	return may;
}

#endif
#endif
