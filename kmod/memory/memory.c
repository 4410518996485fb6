// SPDX-License-Identifier: GPL-2.0
/*
 * Pinned user memory. See memory.h.
 */
#include "memory/memory.h"

#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <tor/pin.h>
#include <tor/vm_flags.h>

/* Pages that are freed before others may run. */
#define PORTION	256

static void pages_unpin(struct tor_pages *pages, unsigned long count, bool dirty)
{
	unsigned long i, n;

	for (i = 0; i < count; i += n) {
		n = min_t(unsigned long, count - i, PORTION);
		unpin_user_pages_dirty_lock(pages->page + i, n, dirty);
		cond_resched();
	}
}

static void free_some(struct tor_pages *pages, unsigned long count)
{
	unsigned long i;

	/* frames in flight hold references of their own */
	for (i = 0; i < count; i++) {
		__free_page(pages->page[i]);
		if (i % PORTION == PORTION - 1)
			cond_resched();
	}
}

static bool pages_may_stay(struct page **page, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		if (!tor_pin_may_stay(page[i]))
			return false;
	return true;
}

/*
 * What cannot be pinned is copied, if it is read only: memory of a file on a DAX
 * filesystem is refused with -EOPNOTSUPP, that of devices with others.
 */
static int pin_error(int err)
{
	return err == -ENOMEM || err == -EINTR ? err : -EFAULT;
}

/*
 * Note behind which of the pages [@first, @end) and the one before them the next
 * is that of the same folio. Usually, but not always, they are mapped in their
 * order; what is in front of a tail page belongs to the same folio. None is split
 * while it is pinned.
 */
static void note_runs(struct tor_pages *pages, unsigned long first, unsigned long end)
{
	struct page *const *page = pages->page;
	unsigned long i;

	for (i = first ?: 1; i < end; i++)
		__assign_bit(i - 1, pages->follows,
			     page[i] == page[i - 1] + 1 && PageTail(page[i]));
}

static int pin_all(struct tor_pages *pages)
{
	unsigned long done = 0;

	while (done < pages->pages) {
		unsigned long at = (pages->addr & PAGE_MASK) + (done << PAGE_SHIFT);
		int batch = min_t(unsigned long, pages->pages - done, PORTION);
		int got = pin_user_pages_fast(at, batch, FOLL_WRITE | FOLL_LONGTERM,
					      pages->page + done);

		if (got <= 0) {
			pages_unpin(pages, done, false);
			return pin_error(got);
		}
		done += got;
		if (!pages_may_stay(pages->page + done - got, got)) {
			pages_unpin(pages, done, false);
			return -EFAULT;
		}
		note_runs(pages, done - got, done);
		cond_resched();
	}
	return 0;
}

static u64 pages_spanned(u64 addr, u64 length)
{
	return DIV_ROUND_UP(offset_in_page(addr) + length, PAGE_SIZE);
}

static struct tor_pages *new_pages(struct tor_user *user, u64 addr, u64 length)
{
	u64 count = pages_spanned(addr, length);
	u64 longs = BITS_TO_LONGS(count);
	struct tor_pages *pages;

	if (count > INT_MAX / sizeof(*pages->page))
		return NULL;
	pages = kzalloc(sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	pages->addr = addr;
	pages->length = length;
	pages->pages = count;
	refcount_set(&pages->uses, 1);
	refcount_set(&pages->holds, 1);
	pages->page = kvmalloc(count * sizeof(*pages->page) + longs * sizeof(*pages->follows),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages->page) {
		kfree(pages);
		return NULL;
	}
	pages->follows = (unsigned long *)(pages->page + count);
	bitmap_zero(pages->follows, count);
	pages->user = tor_user_get(user);
	return pages;
}

static void free_pages_struct(struct tor_pages *pages)
{
	tor_user_put(pages->user);
	kvfree(pages->page);
	kfree(pages);
}

/*
 * Allocate pages. The user determines the number, so a lack of memory is an
 * error, and must not make the kernel kill processes.
 */
static int pages_alloc_all(struct tor_pages *pages, gfp_t flags)
{
	unsigned long i;

	flags |= GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL;
	for (i = 0; i < pages->pages; i++) {
		pages->page[i] = alloc_page(flags);
		if (!pages->page[i]) {
			free_some(pages, i);
			return -ENOMEM;
		}
		if (i % PORTION == PORTION - 1 && fatal_signal_pending(current)) {
			free_some(pages, i + 1);
			return -EINTR;
		}
		cond_resched();
	}
	return 0;
}

struct tor_pages *tor_pages_alloc(struct tor_user *user, u64 length, gfp_t flags)
{
	struct tor_pages *pages;
	u64 bytes;
	int err;

	if (length > S64_MAX - PAGE_SIZE)
		return ERR_PTR(-ENOMEM);
	bytes = PAGE_ALIGN(length);
	err = tor_user_charge(user, TOR_LIMIT_KERNEL, bytes);
	if (err)
		return ERR_PTR(err);
	err = -ENOMEM;
	pages = new_pages(user, 0, length);
	if (!pages)
		goto err_user;
	err = pages_alloc_all(pages, flags);
	if (err)
		goto err_pages;
	return pages;
err_pages:
	free_pages_struct(pages);
err_user:
	tor_user_uncharge(user, TOR_LIMIT_KERNEL, bytes);
	return ERR_PTR(err);
}

/* Pinning may itself move or copy pages: then they are pinned again. */
#define PIN_TRIES	3

static int pin_watched(struct tor_pages *pages, const char **why)
{
	int tries, err;

	for (tries = 0; tries < PIN_TRIES; tries++) {
		tor_mapping_reset(pages->mapping);
		err = pin_all(pages);
		if (err || !tor_mapping_lost(pages->mapping))
			return err;
		pages_unpin(pages, pages->pages, false);
	}
	*why = "it was unmapped or replaced meanwhile";
	return -ESTALE;
}

static int watch_and_pin(struct tor_pages *pages, const char **why)
{
	int err;

	pages->mapping = kzalloc(sizeof(*pages->mapping), GFP_KERNEL_ACCOUNT);
	if (!pages->mapping)
		return -ENOMEM;
	err = tor_mapping_watch(pages->mapping, pages->addr & PAGE_MASK,
				pages->pages << PAGE_SHIFT);
	if (err)
		goto err_free;
	err = pin_watched(pages, why);
	if (!err)
		return 0;
	tor_mapping_end(pages->mapping);
err_free:
	kfree(pages->mapping);
	pages->mapping = NULL;
	return err;
}

/* Charge both the user and the process for @count pages. */
static int charge_pinned(struct tor_user *user, u64 count, const char **why)
{
	int err;

	err = tor_user_charge(user, TOR_LIMIT_PINNED, count << PAGE_SHIFT);
	if (err) {
		*why = tor_limit_sentence(TOR_LIMIT_PINNED);
		return err;
	}
	if (!account_locked_vm(current->mm, count, true))
		return 0;
	tor_user_uncharge(user, TOR_LIMIT_PINNED, count << PAGE_SHIFT);
	*why = "RLIMIT_MEMLOCK does not allow it: raise ulimit -l, LimitMEMLOCK= of a service";
	return -EDQUOT;
}

static void uncharge_pinned(struct tor_user *user, struct mm_struct *mm, u64 count)
{
	account_locked_vm(mm, count, false);
	tor_user_uncharge(user, TOR_LIMIT_PINNED, count << PAGE_SHIFT);
}

struct tor_pages *tor_pages_pin(struct tor_user *user, u64 addr, u64 length, bool watch,
				const char **why)
{
	struct tor_pages *pages;
	u64 count;
	int err;

	addr = untagged_addr(addr);
	if (!length || addr + length < addr || addr + length > TASK_SIZE_MAX)
		return ERR_PTR(-EFAULT);
	count = pages_spanned(addr, length);
	/* first, so that a forbidden request costs nothing */
	err = charge_pinned(user, count, why);
	if (err)
		return ERR_PTR(err);
	pages = new_pages(user, addr, length);
	if (!pages) {
		err = -ENOMEM;
		goto err_account;
	}
	err = watch ? watch_and_pin(pages, why) : pin_all(pages);
	if (err)
		goto err_pages;
	pages->mm = current->mm;
	/* the struct outlives the process; the mappings need not */
	mmgrab(pages->mm);
	return pages;
err_pages:
	free_pages_struct(pages);
err_account:
	uncharge_pinned(user, current->mm, count);
	return ERR_PTR(err);
}

/* Free pages that are neither used nor mapped any more, and their charge. */
static void pages_release(struct tor_pages *pages)
{
	if (!refcount_dec_and_test(&pages->holds))
		return;
	if (pages->mapping) {
		tor_mapping_end(pages->mapping);
		kfree(pages->mapping);
	}
	if (pages->mm) {
		pages_unpin(pages, pages->pages, true);
		uncharge_pinned(pages->user, pages->mm, pages->pages);
		mmdrop(pages->mm);
	} else {
		free_some(pages, pages->pages);
		tor_user_uncharge(pages->user, TOR_LIMIT_KERNEL, pages->pages << PAGE_SHIFT);
	}
	free_pages_struct(pages);
}

void tor_pages_put(struct tor_pages *pages)
{
	if (refcount_dec_and_test(&pages->uses))
		pages_release(pages);
}

/* --- kernel pages in a process's mappings --- */

/* A mapping is split or moved. */
static void vma_open(struct vm_area_struct *vma)
{
	struct tor_pages *pages = vma->vm_private_data;

	refcount_inc(&pages->holds);
}

static void vma_close(struct vm_area_struct *vma)
{
	pages_release(vma->vm_private_data);
}

static const struct vm_operations_struct vma_ops = {
	.open = vma_open,
	.close = vma_close,
};

int tor_pages_mmap(struct tor_pages *pages, struct vm_area_struct *vma)
{
	unsigned long i;
	int err = 0;

	if (pages->mm || !(vma->vm_flags & VM_SHARED) ||
	    vma->vm_end - vma->vm_start != pages->pages << PAGE_SHIFT)
		return -EINVAL;
	if (xchg(&pages->mapped, true))
		return -EBUSY;
	/* a child's would keep the file */
	tor_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND);
	for (i = 0; i < pages->pages && !err; i++) {
		err = vm_insert_page(vma, vma->vm_start + (i << PAGE_SHIFT), pages->page[i]);
		cond_resched();
	}
	if (err) {
		WRITE_ONCE(pages->mapped, false);
		return err;
	}
	refcount_inc(&pages->holds);
	vma->vm_private_data = pages;
	vma->vm_ops = &vma_ops;
	/* ops may use it from now on: this address never changes again */
	WRITE_ONCE(pages->addr, vma->vm_start);
	return 0;
}

/* Return how many bytes from @at on, at most @most, are behind each other in one folio. */
static inline u32 run_from(const struct tor_pages *pages, u64 at, u32 most)
{
	unsigned long first = at >> PAGE_SHIFT, last;
	u32 run = PAGE_SIZE - offset_in_page(at);

	if (run >= most || !test_bit(first, pages->follows))
		return min(run, most);
	last = min_t(u64, first + DIV_ROUND_UP(most - run, PAGE_SIZE), pages->pages);
	last = find_next_zero_bit(pages->follows, last, first + 1);
	return min_t(u64, run + ((u64)(last - first) << PAGE_SHIFT), most);
}

struct page *tor_mem_run(const struct tor_mem *mem, u64 off, u32 *in_page, u32 *len)
{
	u64 at = offset_in_page(mem->pages->addr) + mem->off + off;

	*in_page = offset_in_page(at);
	*len = run_from(mem->pages, at, *len);
	return mem->pages->page[at >> PAGE_SHIFT];
}

void *tor_env_mem(const struct tor_mem *mem, u64 off, u32 *len)
{
	u32 in_page;
	struct page *page = tor_mem_run(mem, off, &in_page, len);

	return page_address(page) + in_page;
}

void tor_mem_copy(const struct tor_mem *to, const struct tor_mem *from)
{
	u64 done = 0;

	while (done < from->len) {
		u32 run = min_t(u64, from->len - done, PAGE_SIZE);
		void *dst = tor_env_mem(to, done, &run);
		const void *src = tor_env_mem(from, done, &run);

		tor_env_copy(dst, src, run);
		done += run;
		cond_resched();
	}
}

int tor_mem_from_user(const struct tor_mem *to, const void __user *from)
{
	u64 done = 0;

	while (done < to->len) {
		u32 run = min_t(u64, to->len - done, PAGE_SIZE);
		void *dst = tor_env_mem(to, done, &run);

		if (copy_from_user(dst, from + done, run))
			return -EFAULT;
		done += run;
		cond_resched();
	}
	return 0;
}

int tor_mem_to_user(void __user *to, const struct tor_mem *from)
{
	u64 done = 0;

	while (done < from->len) {
		u32 run = min_t(u64, from->len - done, PAGE_SIZE);
		const void *src = tor_env_mem(from, done, &run);

		if (copy_to_user(to + done, src, run))
			return -EFAULT;
		done += run;
		cond_resched();
	}
	return 0;
}
