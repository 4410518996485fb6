/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Regions: memory with a handle in a session, pinned from the process, or
 * allocated by the kernel and mapped there.
 */
#ifndef _TOR_REGION_H
#define _TOR_REGION_H

#include <linux/types.h>

struct tor_session;
struct torcoll_region_add;
struct torcoll_region_alloc;
struct vm_area_struct;

/*
 * The calls, see linux/torcoll.h. Context: process. Return 0 or a negative
 * errno, with a sentence.
 */
int tor_region_add(struct tor_session *session, struct torcoll_region_add *add);
int tor_region_alloc(struct tor_session *session, struct torcoll_region_alloc *alloc);
int tor_region_del(struct tor_session *session, u32 handle);

/* Map the kernel region at @offset of the file. Context: mmap. */
int tor_region_mmap(struct tor_session *session, u64 offset, struct vm_area_struct *vma);

#endif
