/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since 6.5 the kernel refuses to pin pages of a file with writeback for
 * long-term writing: a write by way of the pin, at any time, would bypass the
 * file system, which has cleaned the page. Before 6.5 the module must check
 * that.
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

/*
 * Return whether a page that was just pinned, longterm and writable, may stay
 * pinned; pages of private mappings are anonymous by now.
 */
static inline bool tor_pin_may_stay(struct page *page)
{
	struct address_space *mapping;
	bool may;

	if (PageAnon(page) || PageHuge(page))
		return true;
	rcu_read_lock();
	/* truncated, so that it is never written back */
	mapping = page_mapping(page);
	may = !mapping || !mapping->host || !mapping_can_writeback(mapping);
	rcu_read_unlock();
	return may;
}

#endif
#endif
