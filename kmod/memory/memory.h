/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of ops: pinned pages of users, and kernel pages for other needs of a
 * plan.
 */
#ifndef _TOR_MEMORY_H
#define _TOR_MEMORY_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/refcount.h>

#include "cdev/user.h"
#include "core/env.h"
#include "memory/mapping.h"

struct tor_spares;

/**
 * struct tor_pages - a range of memory, a user's or the kernel's
 * @addr: user address of the first byte; 0: not mapped yet, and @mapped is
 *	raised by the context that maps it
 * @length: bytes
 * @page: the pages, @pages of them; the first byte is @addr % PAGE_SIZE into
 *	the first
 * @follows: a bit per page, behind these: the next one is that of the same folio
 * @user: charged for them
 * @mm: charged as well (mm_struct only, not its mappings); NULL: kernel pages
 * @mapping: tells whether other pages are at @addr by now, or NULL
 * @uses: ops that refer to it, and the region's handle
 * @holds: mappings of kernel pages in a process, and one for all uses: the
 *	pages are charged until the last of them is gone
 * @spare_of, @spare_since, @in_comm, @in_all, @in_user: of pages that no op uses, see
 *	spare.h
 */
struct tor_pages {
	u64 addr;
	u64 length;
	bool mapped;
	unsigned long pages;
	struct page **page;
	unsigned long *follows;
	struct tor_user *user;
	struct mm_struct *mm;
	struct tor_mapping *mapping;
	refcount_t uses;
	refcount_t holds;
	struct tor_spares *spare_of;
	unsigned long spare_since;
	struct list_head in_comm;
	struct list_head in_all;
	struct list_head in_user;
};

/* An op's buffer: bytes [off, off + len) of @pages. */
struct tor_mem {
	struct tor_pages *pages;
	u64 off;
	u64 len;
};

/**
 * tor_pages_pin - pin the caller's memory for reading and writing
 * @user: pays, besides the caller's RLIMIT_MEMLOCK
 * @addr: user address
 * @length: bytes, not 0
 * @watch: whether to watch if they stay mapped
 * @why: out: static sentence for a limit that was reached, or for memory that
 *	other threads replace again and again, or unchanged
 *
 * Memory that is only sent is pinned writable too: Linux 6.1 would otherwise
 * show a stale zero page. Memory shared with a file on a disk returns -EFAULT.
 *
 * Context: process, may sleep.
 * Return: the pages, or ERR_PTR(-EFAULT, -EDQUOT, -ENOMEM, -EINVAL); if watched
 * also -ESTALE.
 */
struct tor_pages *tor_pages_pin(struct tor_user *user, u64 addr, u64 length, bool watch,
				const char **why);

/**
 * tor_pages_alloc - allocate pages, charged to the caller's memory cgroup
 * @user: pays
 * @length: bytes, not 0
 * @flags: additional GFP flags
 *
 * Context: process, may sleep.
 * Return: the pages, with one use, or ERR_PTR(-EDQUOT, -ENOMEM).
 */
struct tor_pages *tor_pages_alloc(struct tor_user *user, u64 length, gfp_t flags);

/*
 * Map kernel pages into the caller; they stay, and stay charged, while any of
 * them is mapped. Context: mmap. Return 0 or a negative errno.
 */
int tor_pages_mmap(struct tor_pages *pages, struct vm_area_struct *vma);

/*
 * Drop one use; the last one unpins or frees. Context: process, may sleep; any
 * context if it is not the last one.
 */
void tor_pages_put(struct tor_pages *pages);

/*
 * Return the page of a byte and the offset in it. @len: in: bytes wanted; out: as
 * many of them as are behind each other in the page's folio, at least 1, which a
 * reference to the page keeps.
 */
struct page *tor_mem_run(const struct tor_mem *mem, u64 off, u32 *in_page, u32 *len);

/* Copy all of @from to @to, which is as long. Context: process. */
void tor_mem_copy(const struct tor_mem *to, const struct tor_mem *from);

/*
 * Copy from and to the calling process, @to or @from as a whole. Context:
 * process. Return 0 or -EFAULT.
 */
int tor_mem_from_user(const struct tor_mem *to, const void __user *from);
int tor_mem_to_user(void __user *to, const struct tor_mem *from);

#endif
