/* SPDX-License-Identifier: GPL-2.0 */
/* Since 6.3 the flags of a mapping are set by a function. */
#ifndef _TOR_COMPAT_VM_FLAGS_H
#define _TOR_COMPAT_VM_FLAGS_H

#include <linux/mm.h>
#include <linux/version.h>

static inline void tor_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

#endif
