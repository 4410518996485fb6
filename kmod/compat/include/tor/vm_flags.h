/* SPDX-License-Identifier: GPL-2.0 */
/* The flags of a mapping were a member to be set by anyone. */
#ifndef _TOR_COMPAT_VM_FLAGS_H
#define _TOR_COMPAT_VM_FLAGS_H

#include <linux/mm.h>
#include <tor/has.h>

static inline void tor_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef TOR_HAS_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

#endif
