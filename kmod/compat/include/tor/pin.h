/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels from 6.5 on refuse to pin pages of a file with writeback for
 * long-term writing: a write by way of the pin, at any time, would bypass the
 * file system, which has cleaned the page. Headers do not show whether a kernel
 * does that; so the module checks it in any case.
 */
#ifndef _TOR_COMPAT_PIN_H
#define _TOR_COMPAT_PIN_H

#include <linux/backing-dev.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

/*
 * Return whether a page that was just pinned, longterm and writable, may stay
 * pinned; pages of private mappings are anonymous by now.
 */
static inline bool tor_pin_may_stay(struct page *page)
{
	struct folio *folio = page_folio(page);
	struct address_space *mapping;
	bool may;

	if (folio_test_anon(folio) || folio_test_hugetlb(folio))
		return true;
	rcu_read_lock();
	/* truncated, so that it is never written back */
	mapping = folio_mapping(folio);
	may = !mapping || !mapping->host || !mapping_can_writeback(mapping);
	rcu_read_unlock();
	return may;
}

#endif
