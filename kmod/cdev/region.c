// SPDX-License-Identifier: GPL-2.0
/*
 * Regions. See region.h.
 */
#include "cdev/region.h"

#include <linux/mm.h>
#include <linux/uaccess.h>

#include <linux/torcoll.h>

#include "cdev/session.h"
#include "memory/memory.h"

/* Offset of a kernel region for mmap(): its handle, shifted by this. */
#define MMAP_REGION_SHIFT	32

struct tor_pages *tor_session_region(struct tor_session *session, u32 handle, u64 addr,
				     u64 length)
{
	struct tor_pages *pages;
	int err = 0;

	addr = untagged_addr(addr);
	mutex_lock(&session->lock);
	pages = idr_find(&session->regions, handle);
	if (!pages)
		err = -ENOENT;
	else if (pages->mapping && tor_mapping_lost(pages->mapping))
		err = -ESTALE;
	else if (!READ_ONCE(pages->addr) || addr < pages->addr || length > pages->length ||
		 addr - pages->addr > pages->length - length)
		err = -EFAULT;
	else
		refcount_inc(&pages->uses);
	mutex_unlock(&session->lock);
	if (err == -ENOENT)
		return ERR_PTR(tor_refuse(session, err, "no region has handle %u", handle));
	if (err == -ESTALE)
		return ERR_PTR(tor_refuse(session, err,
					  "the memory of region %u was unmapped or replaced", handle));
	if (err)
		return ERR_PTR(tor_refuse(session, err,
					  "%llu bytes at %#llx are not inside region %u", length,
					  addr, handle));
	return pages;
}

struct tor_pages *tor_session_pin(struct tor_session *session, u64 addr, u64 length, bool watch)
{
	const char *why = "cannot pin it for writing";
	struct tor_pages *pages = tor_pages_pin(session->user, addr, length, watch, &why);

	if (IS_ERR(pages))
		tor_refuse(session, PTR_ERR(pages), "%llu bytes at %#llx: %s", length, addr, why);
	return pages;
}

static int publish_region(struct tor_session *session, struct tor_pages *pages, u32 *region)
{
	int id;

	mutex_lock(&session->lock);
	id = idr_alloc(&session->regions, pages, 1, 0, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&session->lock);
	if (id < 0) {
		tor_pages_put(pages);
		return id;
	}
	*region = id;
	return 0;
}

int tor_region_add(struct tor_session *session, struct torcoll_region_add *add)
{
	struct tor_pages *pages;

	if (add->flags & ~TORCOLL_REGION_FLAGS || add->__reserved)
		return tor_refuse(session, -EINVAL, "unknown flags %#x, or a reserved member",
				  add->flags);
	if (!add->length)
		return tor_refuse(session, -EINVAL, "the length of the region is 0");
	if (add->flags & TORCOLL_REGION_WATCH && !IS_ENABLED(CONFIG_MMU_NOTIFIER))
		return tor_refuse(session, -EOPNOTSUPP,
				  "this kernel has no MMU notifiers, so regions cannot be watched");
	pages = tor_session_pin(session, add->addr, add->length,
				add->flags & TORCOLL_REGION_WATCH);
	if (IS_ERR(pages))
		return PTR_ERR(pages);
	return publish_region(session, pages, &add->region);
}

int tor_region_alloc(struct tor_session *session, struct torcoll_region_alloc *alloc)
{
	struct tor_pages *pages;
	int err;

	if (alloc->flags || alloc->__reserved)
		return tor_refuse(session, -EINVAL, "a reserved member is not zero");
	if (!alloc->length)
		return tor_refuse(session, -EINVAL, "the length of the region is 0");
	pages = tor_pages_alloc(session->user, alloc->length, __GFP_ZERO);
	if (pages == ERR_PTR(-EDQUOT))
		return tor_refuse(session, -EDQUOT, "%llu bytes: %s", alloc->length,
				  tor_limit_sentence(TOR_LIMIT_KERNEL));
	if (IS_ERR(pages))
		return tor_refuse(session, PTR_ERR(pages), "no memory for %llu bytes", alloc->length);
	alloc->bytes = (u64)pages->pages << PAGE_SHIFT;
	err = publish_region(session, pages, &alloc->region);
	alloc->offset = (u64)alloc->region << MMAP_REGION_SHIFT;
	return err;
}

int tor_region_del(struct tor_session *session, u32 handle)
{
	struct tor_pages *pages;
	int err = 0;

	mutex_lock(&session->lock);
	pages = idr_find(&session->regions, handle);
	if (!pages)
		err = -ENOENT;
	else if (refcount_read(&pages->uses) > 1)
		err = -EBUSY;
	else
		idr_remove(&session->regions, handle);
	mutex_unlock(&session->lock);
	if (err == -ENOENT)
		return tor_refuse(session, err, "no region has handle %u", handle);
	if (err)
		return tor_refuse(session, err, "an op uses region %u", handle);
	tor_pages_put(pages);
	return 0;
}

int tor_region_mmap(struct tor_session *session, u64 offset, struct vm_area_struct *vma)
{
	struct tor_pages *pages = NULL;
	int err;

	mutex_lock(&session->lock);
	if (!(offset & (BIT_ULL(MMAP_REGION_SHIFT) - 1)))
		pages = idr_find(&session->regions, offset >> MMAP_REGION_SHIFT);
	/*
	 * a user's own memory cannot be mapped, nor can its last use end here,
	 * under the lock of its mappings
	 */
	if (pages && pages->mm)
		pages = NULL;
	if (pages)
		refcount_inc(&pages->uses);
	mutex_unlock(&session->lock);
	if (!pages)
		return -EINVAL;
	err = tor_pages_mmap(pages, vma);
	tor_pages_put(pages);
	return err;
}
