// SPDX-License-Identifier: GPL-2.0
/* The flags of a mapping are set by a function. */
#include <linux/mm.h>

static void __maybe_unused has(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTCOPY);
}
