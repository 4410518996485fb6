// SPDX-License-Identifier: GPL-2.0
/*
 * Pinned user memory. See memory.h.
 */
#include "memory.h"

#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

static int pin_all(struct tor_pages *pages)
{
	unsigned long done = 0;

	while (done < pages->pages) {
		unsigned long at = (pages->addr & PAGE_MASK) + (done << PAGE_SHIFT);
		int batch = min_t(unsigned long, pages->pages - done, 1024);
		int got = pin_user_pages_fast(at, batch, FOLL_WRITE | FOLL_LONGTERM,
					      pages->page + done);

		if (got <= 0) {
			unpin_user_pages(pages->page, done);
			return got ? got : -EFAULT;
		}
		done += got;
		cond_resched();
	}
	return 0;
}

static u64 pages_spanned(u64 addr, u64 length)
{
	return DIV_ROUND_UP(offset_in_page(addr) + length, PAGE_SIZE);
}

static struct tor_pages *new_pages(u64 addr, u64 length)
{
	struct tor_pages *pages;

	if (pages_spanned(addr, length) > INT_MAX / sizeof(*pages->page))
		return NULL;
	pages = kzalloc(sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	pages->addr = addr;
	pages->length = length;
	pages->pages = pages_spanned(addr, length);
	refcount_set(&pages->uses, 1);
	pages->page = kvmalloc_array(pages->pages, sizeof(*pages->page),
				     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages->page) {
		kfree(pages);
		return NULL;
	}
	return pages;
}

struct tor_pages *tor_pages_alloc(u64 length)
{
	struct tor_pages *pages = new_pages(0, length);
	unsigned long i;

	if (!pages)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < pages->pages; i++) {
		pages->page[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!pages->page[i]) {
			pages->pages = i;
			tor_pages_put(pages);
			return ERR_PTR(-ENOMEM);
		}
		cond_resched();
	}
	return pages;
}

struct tor_pages *tor_pages_pin(u64 addr, u64 length)
{
	struct tor_pages *pages;
	u64 count;
	int err;

	if (!length || addr + length < addr || addr + length > TASK_SIZE_MAX)
		return ERR_PTR(-EFAULT);
	count = pages_spanned(addr, length);
	/* first, so that what is forbidden costs nothing */
	if (account_locked_vm(current->mm, count, true))
		return ERR_PTR(-EDQUOT);
	pages = new_pages(addr, length);
	if (!pages) {
		err = -ENOMEM;
		goto err_account;
	}
	err = pin_all(pages);
	if (err)
		goto err_pages;
	pages->mm = current->mm;
	/* the struct outlives the process; the mappings need not */
	mmgrab(pages->mm);
	return pages;
err_pages:
	kvfree(pages->page);
	kfree(pages);
err_account:
	account_locked_vm(current->mm, count, false);
	return ERR_PTR(err);
}

void tor_pages_put(struct tor_pages *pages)
{
	if (!refcount_dec_and_test(&pages->uses))
		return;
	if (pages->mm) {
		unpin_user_pages_dirty_lock(pages->page, pages->pages, true);
		account_locked_vm(pages->mm, pages->pages, false);
		mmdrop(pages->mm);
	} else {
		/* frames on their way hold references of their own */
		while (pages->pages)
			__free_page(pages->page[--pages->pages]);
	}
	kvfree(pages->page);
	kfree(pages);
}

struct page *tor_mem_page(const struct tor_mem *mem, u64 off, u32 *in_page)
{
	u64 at = offset_in_page(mem->pages->addr) + mem->off + off;

	*in_page = offset_in_page(at);
	return mem->pages->page[at >> PAGE_SHIFT];
}

void *tor_env_mem(const struct tor_mem *mem, u64 off, u32 *len)
{
	u32 in_page;
	struct page *page = tor_mem_page(mem, off, &in_page);

	*len = min_t(u32, *len, PAGE_SIZE - in_page);
	return page_address(page) + in_page;
}

void tor_mem_copy(const struct tor_mem *to, const struct tor_mem *from)
{
	u64 done = 0;

	while (done < from->len) {
		u32 run = min_t(u64, from->len - done, PAGE_SIZE);
		void *dst = tor_env_mem(to, done, &run);
		const void *src = tor_env_mem(from, done, &run);

		memcpy(dst, src, run);
		done += run;
		cond_resched();
	}
}
