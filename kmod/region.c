// SPDX-License-Identifier: GPL-2.0
/*
 * Regions. See region.h.
 */
#include "region.h"

#include <linux/torcoll.h>

#include "memory.h"
#include "session.h"

struct tor_pages *tor_session_region(struct tor_session *session, u32 handle, u64 addr,
				     u64 length)
{
	struct tor_pages *pages;
	int err = 0;

	mutex_lock(&session->lock);
	pages = idr_find(&session->regions, handle);
	if (!pages)
		err = -ENOENT;
	else if (addr < pages->addr || length > pages->length ||
		 addr - pages->addr > pages->length - length)
		err = -EFAULT;
	else
		refcount_inc(&pages->uses);
	mutex_unlock(&session->lock);
	if (err == -ENOENT)
		return ERR_PTR(tor_refuse(session, err, "no region has handle %u", handle));
	if (err)
		return ERR_PTR(tor_refuse(session, err,
					  "%llu bytes at %#llx are not inside region %u", length,
					  addr, handle));
	return pages;
}

struct tor_pages *tor_session_pin(struct tor_session *session, u64 addr, u64 length)
{
	const char *why = "cannot pin it for writing";
	struct tor_pages *pages = tor_pages_pin(session->user, addr, length, &why);

	if (IS_ERR(pages))
		tor_refuse(session, PTR_ERR(pages), "%llu bytes at %#llx: %s", length, addr, why);
	return pages;
}

int tor_region_add(struct tor_session *session, struct torcoll_region_add *add)
{
	struct tor_pages *pages;
	int id;

	if (add->flags || add->__reserved)
		return tor_refuse(session, -EINVAL, "a reserved member is not zero");
	if (!add->length)
		return tor_refuse(session, -EINVAL, "a region of no bytes");
	pages = tor_session_pin(session, add->addr, add->length);
	if (IS_ERR(pages))
		return PTR_ERR(pages);
	mutex_lock(&session->lock);
	id = idr_alloc(&session->regions, pages, 1, 0, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&session->lock);
	if (id < 0) {
		tor_pages_put(pages);
		return id;
	}
	add->region = id;
	return 0;
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
